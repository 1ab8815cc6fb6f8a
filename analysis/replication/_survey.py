"""Check claims about measurements, study the effect of choices, and compare with an external criterion."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from statistics import fmean

import numpy as np

from analysis import schemes
from analysis.benchmark import natural
from analysis.categories import DISSIMILAR, SIMILAR
from analysis.classifiers import CLASSIFIERS
from analysis.document import counted, listed, number, percent
from analysis.document import interval as interval_in_words
from analysis.evaluation import auc
from analysis.intervals import Estimate, wilson
from analysis.replication._claims import (
    BY_CONSTRUCTION,
    DIFFERS,
    NOT_APPLICABLE,
    REPRODUCED,
    UNKNOWN,
    Claim,
)
from analysis.replication._measured import (
    LINKAGES,
    N_LAST,
    OF_HEURISTIC,
    READINGS,
    SAME,
    Measured,
    usual_threshold,
)

N_BENCHMARKS, N_RUNS, N_ITERATIONS = 586, 10, 3000
APPLICATIONS = frozenset({
    "HdrHistogram/HdrHistogram", "JCTools/JCTools", "ReactiveX/RxJava", "RoaringBitmap/RoaringBitmap",
    "apache/arrow", "apache/camel", "apache/hive", "apache/kafka", "apache/logging-log4j2", "apache/tinkerpop",
    "cantaloupe-project/cantaloupe", "crate/crate", "eclipse/eclipse-collections", "eclipse/jetty.project",
    "eclipse/rdf4j", "eclipse-vertx/vert.x", "h2oai/h2o-3", "hazelcast/hazelcast", "imglib/imglib2", "jdbi/jdbi",
    "jgrapht/jgrapht", "netty/netty", "openzipkin/zipkin", "prestodb/presto", "prometheus/client_java",
    "protostuff/protostuff", "r2dbc/r2dbc-h2", "raphw/byte-buddy", "yellowstonegames/SquidLib", "zalando/logbook",
})  # fmt: skip
FOCUS, N_OF_FOCUS, FOCUS_NUMBER = (
    "HdrHistogram/HdrHistogram",
    20,
    17,
)  # example application of the paper, and number of its benchmark B17
PUBLISHED_SHARES = {"same": (75, 324), "heuristic": (255, 324), "heuristic-printed": (255, 324)}
TITLES = {"heuristic": "the heuristic", "heuristic-printed": "the heuristic as printed", "same": "SAME"}
THETAS = (0.10, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50)
CUTS = (0.10, 0.15, 0.20, 0.25, 0.30, 0.50)
FINE_THETAS = tuple(round(step / 100, 2) for step in range(0, 101, 2))
NOT_ALL = 0.1  # share of exceptions that “almost all” allows, rounded up to a whole benchmark
ALPHA = 0.05
INCONSISTENT, STEADY = "inconsistent", "steady state"
FIGURE_1_SEED = 1
LEVEL_OF = {"m1": "M1", "m2": "M2", "m3": "M3", "m3_with_mean": "M3 with the mean", "m4": "M4", "m5": "M5"}
ASSUMPTION = (
    "The test treats the 324 agreed items of the paper and these benchmarks as two independent random samples from one "
    "population. Both come from the same 586 benchmarks, so they overlap, which makes the test conservative. Agreed "
    "items may also be easier to judge than the others."
)


@dataclass(frozen=True)
class Scope:
    """The size and the origin of a set of benchmarks.

    Attributes
    ----------
    n, n_applications : int
        Number of benchmarks and of their applications.
    n_of_shape : int
        Number of benchmarks with ten runs of 3000 iterations each.
    is_paper : bool
        Whether the benchmarks belong to the paper's data set, that is, whether all applications are among its 30
        applications.
    is_complete : bool
        Whether all 586 benchmarks are present.
    left_out : tuple of str
        Benchmarks of other applications, which are not counted if the paper's benchmarks are present.
    without : mapping of str to int
        Classifier -> number of benchmarks that it cannot judge.
    """

    n: int
    n_applications: int
    n_of_shape: int
    is_paper: bool
    is_complete: bool
    left_out: tuple[str, ...]
    without: Mapping[str, int]


@dataclass(frozen=True)
class Share:
    """The share of benchmarks that a classifier calls dissimilar, here and in the paper.

    Attributes
    ----------
    classifier : str
    n_dissimilar, n : int
    share : Estimate
        With Wilson's interval.
    paper : tuple of int
        Number of agreed items that the classifier calls dissimilar in the paper, and number of agreed items.
    p : float or None
        P-value of Fisher's exact test of the two shares; None if the benchmarks are from another data set.
    """

    classifier: str
    n_dissimilar: int
    n: int
    share: Estimate
    paper: tuple[int, int]
    p: float | None


@dataclass(frozen=True)
class Joint:
    """The numbers of benchmarks that both, only one, or neither of two classifiers calls dissimilar."""

    a: str
    b: str
    both: int
    only_a: int
    only_b: int
    neither: int

    @property
    def n(self) -> int:
        """Return the number of benchmarks that both classifiers could judge."""
        return self.both + self.only_a + self.only_b + self.neither

    @property
    def n_differ(self) -> int:
        """Return the number of benchmarks on which the two verdicts differ."""
        return self.only_a + self.only_b


@dataclass(frozen=True)
class AtThreshold:
    """The number of benchmarks that each classifier (or each linkage of SAME) calls dissimilar at one threshold."""

    threshold: float
    n_dissimilar: Mapping[str, int]


@dataclass(frozen=True)
class SteadyState:
    """Comparison of a classifier with the classes that another method assigned.

    Attributes
    ----------
    classifier : str
    inconsistent, steady : Estimate
        Share of benchmarks in the class that the classifier calls dissimilar.
    n_inconsistent, n_steady, dissimilar_inconsistent, dissimilar_steady : int
    chi2, p, v : float or None
        Chi-squared statistic without correction, p-value, and Cramér's V; None if a row or column is empty.
    auc : Estimate
        How well the score separates inconsistent benchmarks from steady-state benchmarks.
    """

    classifier: str
    inconsistent: Estimate
    steady: Estimate
    n_inconsistent: int
    n_steady: int
    dissimilar_inconsistent: int
    dissimilar_steady: int
    chi2: float | None
    p: float | None
    v: float | None
    auc: Estimate


@dataclass(frozen=True)
class ApplicationMeans:
    """The mean of each measure over the benchmarks of one application."""

    application: str
    n: int
    means: Mapping[str, float]

    @property
    def overall(self) -> float:
        """Return the mean of the five measures of the heuristic."""
        return _mean_of(self.means, OF_HEURISTIC["heuristic"])


@dataclass(frozen=True)
class Replication:
    """The result of checking the paper's claims on a set of benchmarks.

    Attributes
    ----------
    scope : Scope
    claims : tuple of Claim
        In the order of the paper.
    shares : tuple of Share
    joint : tuple of Joint
        The heuristic compared with the heuristic as printed, and each of them compared with SAME.
    thetas, fine_thetas, cuts : tuple of AtThreshold
    steady_state : tuple of SteadyState
        Empty if the classes are unknown.
    n_without_class : int
        Number of benchmarks without a class.
    applications : tuple of ApplicationMeans
        The application with the largest mean of the five measures comes first.
    benchmarks : tuple of Measured
        Sorted by name.
    numbers : mapping of str to str
        Benchmark of the paper's example application -> B1 to B20; empty if some of the 20 are missing.
    drawn : str or None
        The benchmark in Figure 4; Figure 3 shows its application.
    notes : tuple of str
        Remarks about the labels and files for the reader.
    """

    scope: Scope
    claims: tuple[Claim, ...]
    shares: tuple[Share, ...]
    joint: tuple[Joint, ...]
    thetas: tuple[AtThreshold, ...]
    fine_thetas: tuple[AtThreshold, ...]
    cuts: tuple[AtThreshold, ...]
    steady_state: tuple[SteadyState, ...]
    n_without_class: int
    applications: tuple[ApplicationMeans, ...]
    benchmarks: tuple[Measured, ...]
    numbers: Mapping[str, str]
    drawn: str | None
    notes: tuple[str, ...] = ()

    @property
    def n_judged(self) -> int:
        """Return the number of benchmarks that the heuristic can judge."""
        return sum(bool(benchmark.means) for benchmark in self.benchmarks)

    @property
    def focus(self) -> str | None:
        """Return the application in Figure 3; None if there is no such application."""
        return next((benchmark.application for benchmark in self.benchmarks if benchmark.name == self.drawn), None)


def survey(
    measured: Sequence[Measured],
    *,
    of_labels: Sequence[Claim] = (),
    classes: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> Replication:
    """Check every claim of the paper against measurements.

    Parameters
    ----------
    measured : sequence of Measured
        Results of `measure`; their order does not matter.
    of_labels : sequence of Claim
        Claims about labels (`claims_of_labels`), which are sorted among the other claims.
    classes : mapping of str to str, optional
        Benchmark -> "inconsistent" or "steady state", according to another method; other classes are ignored.
    notes : sequence of str

    Raises
    ------
    ValueError
        If there is no benchmark, or two have the same name.
    """
    if not measured:
        raise ValueError("there is no benchmark to measure")
    ordered = sorted(measured, key=lambda benchmark: benchmark.name)
    names = [benchmark.name for benchmark in ordered]
    doubled = next((a for a, b in pairwise(names) if a == b), None)
    if doubled is not None:
        raise ValueError(f"two benchmarks are called {doubled!r}")
    of_paper = [benchmark for benchmark in ordered if benchmark.application in APPLICATIONS]
    benchmarks = tuple(of_paper or ordered)
    scope = _scope(
        benchmarks, [benchmark.name for benchmark in ordered if of_paper and benchmark.application not in APPLICATIONS]
    )
    applications = _by_application(benchmarks)
    numbers = _numbers(benchmarks)
    drawn = _drawn(benchmarks, applications, numbers)
    shares = tuple(_share(benchmarks, name, scope) for name in READINGS)
    survey_of = _Claims(scope, benchmarks, applications, numbers, shares)
    return Replication(
        scope,
        tuple(survey_of.in_order(of_labels)),
        shares,
        tuple(_joint(benchmarks, a, b) for a, b in (("heuristic", "heuristic-printed"), *_BESIDE_SAME)),
        _thetas(benchmarks, THETAS),
        _thetas(benchmarks, FINE_THETAS),
        tuple(AtThreshold(cut, {linkage: _n_above(benchmarks, linkage, cut) for linkage in LINKAGES}) for cut in CUTS),
        tuple(_steady_state(benchmarks, name, classes) for name in READINGS) if classes is not None else (),
        sum(benchmark.name not in classes for benchmark in benchmarks) if classes is not None else 0,
        tuple(applications),
        benchmarks,
        numbers,
        drawn,
        tuple(notes),
    )


_BESIDE_SAME = (("heuristic", SAME), ("heuristic-printed", SAME))


def _scope(benchmarks: Sequence[Measured], left_out: Sequence[str]) -> Scope:
    is_paper = benchmarks[0].application in APPLICATIONS
    return Scope(
        n=len(benchmarks),
        n_applications=len({benchmark.application for benchmark in benchmarks}),
        n_of_shape=sum(
            benchmark.n_runs == N_RUNS and benchmark.n_iterations == (N_ITERATIONS, N_ITERATIONS)
            for benchmark in benchmarks
        ),
        is_paper=is_paper,
        is_complete=is_paper and len(benchmarks) == N_BENCHMARKS,
        left_out=tuple(left_out),
        without={name: n for name in READINGS if (n := sum(name in benchmark.reasons for benchmark in benchmarks))},
    )


def _by_application(benchmarks: Sequence[Measured]) -> list[ApplicationMeans]:
    groups: dict[str, list[Measured]] = {}
    for benchmark in benchmarks:
        if benchmark.means:
            groups.setdefault(benchmark.application, []).append(benchmark)
    rows = [
        ApplicationMeans(
            name, len(group), {key: fmean(benchmark.means[key] for benchmark in group) for key in group[0].means}
        )
        for name, group in groups.items()
    ]
    return sorted(rows, key=lambda row: (-row.overall, row.application))


def _numbers(benchmarks: Sequence[Measured]) -> dict[str, str]:
    """Number the benchmarks of the example application B1 to B20 in alphabetical order.

    The alphabetical order is an assumption. Return an empty dict unless all 20 benchmarks are present.
    """
    names = [benchmark.name for benchmark in benchmarks if benchmark.application == FOCUS]
    if len(names) != N_OF_FOCUS:
        return {}
    return {name: f"B{at}" for at, name in enumerate(sorted(names), start=1)}


def _drawn(
    benchmarks: Sequence[Measured], applications: Sequence[ApplicationMeans], numbers: Mapping[str, str]
) -> str | None:
    """Return the benchmark to draw in Figure 4, which is B17 if it is present.

    Otherwise, return the most dissimilar benchmark of the example application, or of the most dissimilar application.
    """
    for name, text in numbers.items():
        if text == f"B{FOCUS_NUMBER}":
            return name
    if not applications:
        return None
    focus = FOCUS if any(row.application == FOCUS for row in applications) else applications[0].application
    group = [benchmark for benchmark in benchmarks if benchmark.application == focus and benchmark.means]
    return max(group, key=lambda benchmark: (_mean_of(benchmark.means, OF_HEURISTIC["heuristic"]), benchmark.name)).name


def _mean_of(means: Mapping[str, float], names: Sequence[str]) -> float:
    return fmean(means[name] for name in names)


def _scores(benchmarks: Sequence[Measured], classifier: str) -> list[float]:
    return [score for benchmark in benchmarks if (score := benchmark.score(classifier)) is not None]


def _share(benchmarks: Sequence[Measured], classifier: str, scope: Scope) -> Share:
    scores = _scores(benchmarks, classifier)
    n_dissimilar = sum(score > usual_threshold(classifier) for score in scores)
    paper = PUBLISHED_SHARES[classifier]
    p = None
    if scope.is_paper and scores:
        from scipy.stats import fisher_exact  # imported here because the import is slow

        table = [[n_dissimilar, len(scores) - n_dissimilar], [paper[0], paper[1] - paper[0]]]
        p = float(fisher_exact(np.array(table)).pvalue)
    return Share(classifier, n_dissimilar, len(scores), wilson(n_dissimilar, len(scores)), paper, p)


def _joint(benchmarks: Sequence[Measured], a: str, b: str) -> Joint:
    pairs = [(benchmark.is_dissimilar(a), benchmark.is_dissimilar(b)) for benchmark in benchmarks]
    cells = [pairs.count(cell) for cell in ((True, True), (True, False), (False, True), (False, False))]
    return Joint(a, b, *cells)


def _thetas(benchmarks: Sequence[Measured], thetas: Sequence[float]) -> tuple[AtThreshold, ...]:
    scores = {name: np.array(_scores(benchmarks, name)) for name in OF_HEURISTIC}
    return tuple(
        AtThreshold(theta, {name: int((of_one > theta).sum()) for name, of_one in scores.items()}) for theta in thetas
    )


def _n_above(benchmarks: Sequence[Measured], linkage: str, cut: float) -> int:
    return sum(benchmark.heights[linkage] > cut for benchmark in benchmarks if benchmark.heights)


def _steady_state(benchmarks: Sequence[Measured], classifier: str, classes: Mapping[str, str]) -> SteadyState:
    threshold = usual_threshold(classifier)
    scores = {
        wanted: [
            score
            for benchmark in benchmarks
            if classes.get(benchmark.name) == wanted and (score := benchmark.score(classifier)) is not None
        ]
        for wanted in (INCONSISTENT, STEADY)
    }
    n = {wanted: len(of_class) for wanted, of_class in scores.items()}
    above = {wanted: sum(score > threshold for score in of_class) for wanted, of_class in scores.items()}
    chi2 = p = v = None
    table = np.array([[above[wanted], n[wanted] - above[wanted]] for wanted in (INCONSISTENT, STEADY)])
    if table.sum(axis=0).all() and table.sum(axis=1).all():
        from scipy.stats import chi2_contingency  # imported here because the import is slow

        test = chi2_contingency(table, correction=False)
        chi2, p = float(test.statistic), float(test.pvalue)
        v = float(np.sqrt(chi2 / table.sum()))
    truth = [DISSIMILAR] * n[INCONSISTENT] + [SIMILAR] * n[STEADY]
    return SteadyState(
        classifier,
        wilson(above[INCONSISTENT], n[INCONSISTENT]),
        wilson(above[STEADY], n[STEADY]),
        n[INCONSISTENT],
        n[STEADY],
        above[INCONSISTENT],
        above[STEADY],
        chi2,
        p,
        v,
        auc(truth, [*scores[INCONSISTENT], *scores[STEADY]]),
    )


@dataclass(frozen=True)
class _Claims:
    """Checks of the claims about the measurements."""

    scope: Scope
    benchmarks: Sequence[Measured]
    applications: Sequence[ApplicationMeans]
    numbers: Mapping[str, str]
    shares: Sequence[Share]

    def in_order(self, of_labels: Sequence[Claim]) -> Iterator[Claim]:
        """Yield all claims, including the claims about labels, in the order of the paper's sections."""
        labels = (self._of_labels(claim) for claim in of_labels)
        claims = [*self._data(), *self._measures(), *self._example(), *self._verdicts(), *labels]
        return iter(sorted(claims, key=lambda claim: natural(claim.where)))

    def _of_labels(self, claim: Claim) -> Claim:
        """Adjust the outcome of a claim about labels.

        If the measurements are not those of the paper, the claim is not applicable. If missing benchmarks can explain a
        difference from the paper, the outcome is unknown.
        """
        if claim.outcome == BY_CONSTRUCTION or claim.is_contradiction:
            return claim
        if not self.scope.is_paper:
            return replace(claim, outcome=NOT_APPLICABLE, why=OTHER_DATA)
        if claim.outcome == DIFFERS and claim.where.startswith(("4.2", "4.3")) and not self.scope.is_complete:
            why = f"Only {self.scope.n} of the {N_BENCHMARKS} benchmarks are present, so only these have verdicts."
            return replace(claim, outcome=UNKNOWN, why=why)
        return claim

    @property
    def judged(self) -> list[Measured]:
        return [benchmark for benchmark in self.benchmarks if benchmark.means]

    def _claim(self, where: str, claim: str, paper: str, ours: str, agrees: bool, why: str = "") -> Claim:
        """Build a claim about the paper's data; for other data, the claim contains our number but is not applicable."""
        if not self.scope.is_paper:
            return Claim(where, claim, paper, ours, NOT_APPLICABLE, OTHER_DATA)
        return Claim(where, claim, paper, ours, REPRODUCED if agrees else DIFFERS, why)

    def _data(self) -> Iterator[Claim]:
        scope = self.scope
        claim, paper = "Size of the data set", f"{N_BENCHMARKS} benchmarks"
        if not scope.is_paper:
            yield Claim("1, 2.1", claim, paper, counted(scope.n, "benchmark"), NOT_APPLICABLE, OTHER_DATA)
        elif scope.is_complete:
            yield Claim("1, 2.1", claim, paper, paper, REPRODUCED)
        else:
            why = f"Only {scope.n} of the {N_BENCHMARKS} benchmarks are present. Shares are compared as samples."
            yield Claim("1, 2.1", claim, paper, f"{scope.n} of {N_BENCHMARKS} benchmarks", UNKNOWN, why)
        n_applications, of_paper = scope.n_applications, len(APPLICATIONS)
        if scope.is_paper and not scope.is_complete and n_applications < of_paper:
            yield Claim("1, 2.1", "Applications", str(of_paper), f"{n_applications} of {of_paper}", UNKNOWN,
                        "Only part of the data set is present.")  # fmt: skip
        else:
            yield self._claim("1, 2.1", "Applications", str(of_paper), str(n_applications), n_applications == of_paper)
        ours = f"{scope.n_of_shape} of {counted(scope.n, 'benchmark')}"
        yield self._claim("2.1", f"{N_RUNS} runs of {N_ITERATIONS} iterations each", "all benchmarks", ours,
                          scope.n_of_shape == scope.n, "" if scope.n_of_shape == scope.n else
                          f"Other runs: {counted(scope.n - scope.n_of_shape, 'benchmark')}.")  # fmt: skip

    def _measures(self) -> Iterator[Claim]:
        if not self.judged:
            yield Claim("3", "The five measures", "of all benchmarks", "–", NOT_APPLICABLE, self._nothing_judged())
            return
        names = (*OF_HEURISTIC["heuristic"][:3], "m3_with_mean", "m4", "m5")
        ends = {
            name: (
                min(benchmark.lowest[name] for benchmark in self.judged),
                max(benchmark.highest[name] for benchmark in self.judged),
            )
            for name in names
        }
        n_pairs = sum(benchmark.n_pairs for benchmark in self.judged)
        ours = "; ".join(f"{LEVEL_OF[name]} {low:.2f} to {high:.2f}" for name, (low, high) in ends.items())
        agrees = all(low >= 0 and high <= 1 for low, high in ends.values())
        yield Claim("3.1", "M1 to M5 lie in [0, 1]", "[0, 1]", ours, REPRODUCED if agrees else DIFFERS,
                    f"Smallest and largest value over {n_pairs} pairs of runs.")  # fmt: skip
        yield from self._figure_1()
        pairs = sorted({benchmark.n_pairs for benchmark in self.judged})
        ours = f"{' or '.join(map(str, pairs)) if len(pairs) < 4 else f'{pairs[0]} to {pairs[-1]}'} × 5"
        yield Claim("3.2", "A matrix of pairs × measures; dissimilar if three of the five means are above 0.25",
                    "45 × 5", ours, BY_CONSTRUCTION, "This is the definition of the classifier.")  # fmt: skip
        yield from self._throughout("m2", "M2 is high throughout all applications", high=True)
        yield from self._throughout("m4", "M4 is low for all applications", high=False)
        yield from self._throughout("m5", "M5 is low for all applications", high=False)

    def _figure_1(self) -> Iterator[Claim]:
        pairs = schemes.figure_1_signals(rng=np.random.default_rng(FIGURE_1_SEED))
        claim = "Figure 1: offsets and double frequency are dissimilar, noise is similar"
        for classifier, reading in (("heuristic-printed", "M3 as printed"), ("heuristic", "M3 without the mean")):
            verdicts = {name: CLASSIFIERS[classifier](list(pair)) for name, pair in pairs.items()}
            wrong = [name for name, verdict in verdicts.items() if (verdict.verdict == SIMILAR) != (name == "noise")]
            theta = usual_threshold(classifier)
            detail = ", ".join(
                f"{name}: {sum(mean > theta for mean in verdict.means.values())} of 5"
                for name, verdict in verdicts.items()
            )
            why = "We generated signals around zero, because the paper's signals are not published. "
            why += (
                "Figure 1 suggests that M3 keeps the mean, but the shares in section 4.3 suggest that M3 removes it."
                if wrong
                else "For these signals, M3 with the mean gives the verdicts that Figure 1 shows."
            )
            ours = f"{reading}: {len(pairs) - len(wrong)} of {len(pairs)} as described ({detail})"
            yield Claim("3.2, Figure 1", claim, "4 of 4 pairs", ours, DIFFERS if wrong else REPRODUCED, why)

    def _throughout(self, measure: str, claim: str, *, high: bool) -> Iterator[Claim]:
        """Yield the claim that the mean of a measure is above (or not above) 0.25 for all applications."""
        theta = usual_threshold("heuristic")
        means = [row.means[measure] for row in self.applications]
        n_above = sum(mean > theta for mean in means)
        ours = f"means {min(means):.2f} to {max(means):.2f}; above {theta:g} in {n_above} of {len(means)} applications"
        agrees = n_above == (len(means) if high else 0)
        why = "We read “high” as above the threshold of the classifier, 0.25, and “low” as not above it."
        if not agrees:
            n_against = len(means) - n_above if high else n_above
            why += f" {LEVEL_OF[measure]} is {'not ' if high else ''}above 0.25 in {counted(n_against, 'application')}."
        yield self._claim("3.3, Figure 2", claim, "all applications", ours, agrees, why)

    def _example(self) -> Iterator[Claim]:
        """Yield the claims of Figures 3 and 4, about HdrHistogram and its benchmark B17."""
        where, group = "3.3, Figure 3", [benchmark for benchmark in self.judged if benchmark.application == FOCUS]
        name = FOCUS.partition("/")[0]
        if not group:
            outcome = UNKNOWN if self.scope.is_paper else NOT_APPLICABLE
            why = f"No benchmark of {name} is present."
            for place, claim, paper in (
                ("3.3, Figure 2", f"{name} is the most dissimilar application", "first of 30"),
                (where, f"M1 to M4 are high for almost all benchmarks of {name}", "almost all of 20"),
                (where, f"B{FOCUS_NUMBER} is the most dissimilar benchmark of {name}", "first of 20"),
                ("3.3, Figure 4", "The last 500 measurements of all runs differ; waves", "shown for B17"),
            ):
                yield Claim(place, claim, paper, "–", outcome, why)
            return
        ranks = [row.application for row in self.applications]
        rank, mean = ranks.index(FOCUS) + 1, self.applications[ranks.index(FOCUS)].overall
        why = "We rank applications by the mean of the five measures over their benchmarks."
        if rank > 1:
            first = self.applications[0]
            why += f" {first.application} has {number(first.overall, 2)}."
        yield self._claim("3.3, Figure 2", f"{name} is the most dissimilar application",
                          f"first of {len(APPLICATIONS)}",
                          f"place {rank} of {len(ranks)} (mean {number(mean, 2)})", rank == 1, why)  # fmt: skip
        yield self._almost_all(where, name, group)
        yield from self._most_dissimilar(where, name, group)

    def _almost_all(self, where: str, name: str, group: Sequence[Measured]) -> Claim:
        theta = usual_threshold("heuristic")
        n_high = {
            key: sum(benchmark.means[key] > theta for benchmark in group)
            for key in ("m1", "m2", "m3", "m3_with_mean", "m4")
        }
        few = [LEVEL_OF[key] for key, n in n_high.items() if n < len(group) - ceil(NOT_ALL * len(group))]
        ours = f"of {len(group)}: " + ", ".join(f"{LEVEL_OF[key]} {n}" for key, n in n_high.items())
        why = f"Number of benchmarks above {theta:g}. We read “almost all” as all except one in ten, rounded up."
        if few:
            why += f" The claim does not hold for {listed(few, 5)}."
        if len(group) != N_OF_FOCUS:
            why = f"Only {len(group)} of its {N_OF_FOCUS} benchmarks are present. {why}"
        claim = f"M1 to M4 are high for almost all benchmarks of {name}"
        return self._claim(where, claim, f"almost all of {N_OF_FOCUS}", ours, not few, why)

    def _most_dissimilar(self, where: str, name: str, group: Sequence[Measured]) -> Iterator[Claim]:
        claim, paper = f"B{FOCUS_NUMBER} is the most dissimilar benchmark of {name}", f"first of {N_OF_FOCUS}"
        last = f"The last {N_LAST} measurements of all runs differ"
        waves = "Wave patterns in all runs"
        if not self.numbers:
            why = (
                f"We assume that B1 to B{N_OF_FOCUS} are in alphabetical order. This needs all {N_OF_FOCUS} "
                f"benchmarks; only {len(group)} are present."
            )
            yield Claim(where, claim, paper, "–", UNKNOWN, why)
            yield Claim("3.3, Figure 4", last, "shown for B17", "–", UNKNOWN, why)
            yield Claim("3.3, Figure 4", waves, "shown for B17", "–", UNKNOWN, why)
            return
        b17 = next(benchmark for benchmark in group if self.numbers[benchmark.name] == f"B{FOCUS_NUMBER}")
        places = []
        for names in (OF_HEURISTIC["heuristic"][:4], OF_HEURISTIC["heuristic"]):
            own = _mean_of(b17.means, names)
            places.append(1 + sum(_mean_of(benchmark.means, names) > own for benchmark in group))
        ours = f"place {places[0]} of {len(group)} by the mean of M1 to M4, place {places[1]} by all five"
        why = f"We assume that the order is alphabetical, so that B{FOCUS_NUMBER} is {b17.benchmark}."
        yield self._claim(where, claim, paper, ours, places[0] == 1, why)
        n_differ = b17.n_last_differ
        if n_differ is None:
            yield Claim("3.3, Figure 4", last, "shown for B17", "–", UNKNOWN, "The runs of B17 are too short.")
        else:
            yield self._claim(
                "3.3, Figure 4", last, "shown for B17", f"{n_differ} of {b17.n_pairs} pairs of runs differ in B17",
                n_differ == b17.n_pairs, f"Pairs with M5 above {usual_threshold('heuristic'):g} in these measurements.",
            )  # fmt: skip
        yield Claim("3.3, Figure 4", waves, "shown for B17", "shown in Figure 4", UNKNOWN,
                    "The paper does not define a wave. Waves are not clearly visible in B17.")  # fmt: skip

    def _verdicts(self) -> Iterator[Claim]:
        for share in self.shares:
            n_paper, of_paper = share.paper
            paper = f"{percent(n_paper / of_paper)} ({n_paper} of {of_paper} agreed items)"
            where = "4.2" if share.classifier == SAME else "4.3"
            claim = f"Share that {TITLES[share.classifier]} calls dissimilar"
            if share.share.value is None:
                yield Claim(where, claim, paper, "–", NOT_APPLICABLE, self._nothing_judged())
                continue
            ours = f"{percent(share.share.value)} ({share.n_dissimilar} of {share.n}; {interval_in_words(share.share)})"
            agrees = share.p is None or share.p >= ALPHA
            why = "" if share.p is None else f"Fisher's exact test of the two shares: p = {share.p:.2g}."
            if not agrees and share.classifier == "heuristic-printed" and self._fits("heuristic"):
                why += " The paper's share agrees with M3 without the mean."
            yield self._claim(where, claim, paper, ours, agrees, why)
        yield self._theta()

    def _fits(self, classifier: str) -> bool:
        return any(share.classifier == classifier and (share.p or 0) >= ALPHA for share in self.shares)

    def _theta(self) -> Claim:
        claim = "θ can be set individually; a lower θ is risk-averse"
        scores = _scores(self.benchmarks, "heuristic")
        if not scores:
            return Claim("4.4", claim, "no number", "–", NOT_APPLICABLE, self._nothing_judged())
        ours = ", ".join(
            f"{percent(sum(score > theta for score in scores) / len(scores))} at {theta:.2f}"
            for theta in (0.10, 0.25, 0.50)
        )
        return Claim("4.4", claim, "no number", f"dissimilar: {ours}", BY_CONSTRUCTION,
                     "A lower θ can only change a verdict from similar to dissimilar.")  # fmt: skip

    def _nothing_judged(self) -> str:
        reasons = sorted({reason for benchmark in self.benchmarks for reason in benchmark.reasons.values()})
        return f"The classifiers cannot judge any benchmark: {listed(reasons)}."


OTHER_DATA = "These are not the measurements of the paper, so the number in the paper cannot be checked."
