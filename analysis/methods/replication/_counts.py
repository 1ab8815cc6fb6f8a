"""Count what the claims are about: the scope of the measurements, verdicts, thresholds and means of applications."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from analysis.categories import DISSIMILAR, SIMILAR
from analysis.document import counted, listed
from analysis.methods.replication._claims import N_ITEMS
from analysis.methods.replication._measured import FOCUS, OF_HEURISTIC, READINGS, Measured, usual_threshold
from analysis.raters.evaluation import auc
from analysis.statistics.intervals import Estimate, wilson

N_BENCHMARKS, N_RUNS, N_ITERATIONS = 586, 10, 3000
APPLICATIONS = frozenset({
    "HdrHistogram/HdrHistogram", "JCTools/JCTools", "ReactiveX/RxJava", "RoaringBitmap/RoaringBitmap",
    "apache/arrow", "apache/camel", "apache/hive", "apache/kafka", "apache/logging-log4j2", "apache/tinkerpop",
    "cantaloupe-project/cantaloupe", "crate/crate", "eclipse/eclipse-collections", "eclipse/jetty.project",
    "eclipse/rdf4j", "eclipse-vertx/vert.x", "h2oai/h2o-3", "hazelcast/hazelcast", "imglib/imglib2", "jdbi/jdbi",
    "jgrapht/jgrapht", "netty/netty", "openzipkin/zipkin", "prestodb/presto", "prometheus/client_java",
    "protostuff/protostuff", "r2dbc/r2dbc-h2", "raphw/byte-buddy", "yellowstonegames/SquidLib", "zalando/logbook",
})  # fmt: skip
N_OF_FOCUS, FOCUS_NUMBER = 20, 17  # benchmarks of the example application, and the number of its example
PUBLISHED_SHARES = {"same": (75, 324), "heuristic": (255, 324), "heuristic-printed": (255, 324)}
TITLES = {"heuristic": "the heuristic", "heuristic-printed": "the heuristic as printed", "same": "SAME"}
THETAS = (0.10, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50)
CUTS = (0.10, 0.15, 0.20, 0.25, 0.30, 0.50)
FINE_THETAS = tuple(round(step / 100, 2) for step in range(0, 101, 2))
ALPHA = 0.05
MARGIN = 0.05  # shares that differ by less are equal
INCONSISTENT, STEADY = "inconsistent", "steady state"
LEVEL_OF = {"m1": "M1", "m2": "M2", "m3": "M3", "m3_with_mean": "M3 with the mean", "m4": "M4", "m5": "M5"}
ASSUMPTION = (
    "The test treats the 324 agreed items of the paper and these benchmarks as two independent random samples from one "
    "population. Both come from the same 586 benchmarks, so they overlap, which makes the test conservative. Agreed "
    "items may also be easier to judge than the others."
)


@dataclass(frozen=True)
class Scope:
    """The size and the origin of a set of benchmarks."""

    n: int  # number of benchmarks and of their applications
    n_applications: int
    n_of_shape: int  # number of benchmarks with ten runs of 3000 iterations each
    # Whether the benchmarks belong to the paper's data set, that is, whether all applications are among its 30
    # applications.
    is_paper: bool
    is_complete: bool  # whether all 586 benchmarks are present, 20 of them from HdrHistogram
    # Benchmarks of other applications, which are not counted if the paper's benchmarks are present.
    left_out: tuple[str, ...]
    without: Mapping[str, int]  # classifier -> number of benchmarks that it cannot judge

    @property
    def has_all_applications(self) -> bool:
        """Whether the paper's 30 applications are present; otherwise the benchmarks are not a sample of them."""
        return self.is_paper and self.n_applications == len(APPLICATIONS)

    @property
    def why_not_of_paper(self) -> str:
        """Why at least as many benchmarks as the paper has are not the paper's data set."""
        return (
            f"These are {self.n} benchmarks, but not those of the paper, which has {N_BENCHMARKS} benchmarks of "
            f"{len(APPLICATIONS)} applications, {N_OF_FOCUS} of them of {FOCUS.partition('/')[2]}."
        )


@dataclass(frozen=True)
class LabelScope:
    """What the labels of reviewers cover."""

    n_items: int  # number of labelled items, and of benchmarks here that have labels
    n_matched: int
    unmatched: tuple[str, ...] = ()  # names of items that match no benchmark
    agreed: Mapping[str, str] = field(default_factory=dict)  # benchmark -> category that its first labels agree on

    def why_unknown(self, n_benchmarks: int) -> str:
        """Return why it cannot be known whether these are the labels of the paper; return "" if they can be."""
        if not self.n_matched:
            return f"None of the {counted(self.n_items, 'name')} of items matches a benchmark{self._examples()}."
        if self.n_items != N_ITEMS:
            return f"The labels cover {counted(self.n_items, 'item')}, and the paper has {N_ITEMS}."
        if self.n_matched < n_benchmarks:
            n = n_benchmarks - self.n_matched
            has = "has" if n == 1 else "have"
            return f"{n} of the {counted(n_benchmarks, 'benchmark')} {has} no label{self._examples()}."
        return ""

    def _examples(self) -> str:
        n = len(self.unmatched)
        return f"; {counted(n, 'name')} without a benchmark, for example {listed(self.unmatched)}" if n else ""


@dataclass(frozen=True)
class DissimilarShare:
    """The share of benchmarks that a classifier calls dissimilar, here and in the paper."""

    classifier: str
    n_dissimilar: int
    n: int
    share: Estimate  # with Wilson's interval
    # Number of agreed items that the classifier calls dissimilar in the paper, and number of agreed items.
    paper: tuple[int, int]
    # P-value of Fisher's exact test of the two shares; None if the benchmarks are from another data set.
    p: float | None


@dataclass(frozen=True)
class WithoutWarmup:
    """How many benchmarks a classifier calls dissimilar with all iterations, and without the warm-up."""

    classifier: str
    n: int  # benchmarks with both verdicts
    n_dissimilar: int
    n_dissimilar_without: int
    n_changed: int  # verdicts that differ


@dataclass(frozen=True)
class Joint:
    """The numbers of benchmarks that both, only one, or neither of two classifiers calls dissimilar."""

    first: str = field(metadata={"key": "a"})
    second: str = field(metadata={"key": "b"})
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
    """Comparison of a classifier with the classes that another method assigned."""

    classifier: str
    inconsistent: Estimate  # share of benchmarks in the class that the classifier calls dissimilar
    steady: Estimate
    n_inconsistent: int
    n_steady: int
    dissimilar_inconsistent: int
    dissimilar_steady: int
    # Chi-squared statistic without correction, p-value, and Cramér's V; None if a row or column is empty.
    chi2: float | None
    p: float | None
    v: float | None
    auc: Estimate  # how well the score separates inconsistent benchmarks from steady-state benchmarks


@dataclass(frozen=True)
class ApplicationMeans:
    """The mean of each measure over the benchmarks of one application."""

    application: str
    n: int
    means: Mapping[str, float]

    @property
    def overall(self) -> float:
        """Return the mean of the five measures of the heuristic."""
        return mean_of(self.means, OF_HEURISTIC["heuristic"])


def scope_of(benchmarks: Sequence[Measured], left_out: Sequence[str]) -> Scope:
    """Describe which benchmarks there are; `left_out` names those that are not of the paper."""
    is_paper = benchmarks[0].application in APPLICATIONS
    return Scope(
        n=len(benchmarks),
        n_applications=len({benchmark.application for benchmark in benchmarks}),
        n_of_shape=sum(
            benchmark.n_runs == N_RUNS and benchmark.n_iterations == (N_ITERATIONS, N_ITERATIONS)
            for benchmark in benchmarks
        ),
        is_paper=is_paper,
        is_complete=is_paper
        and len(benchmarks) == N_BENCHMARKS
        and {benchmark.application for benchmark in benchmarks} == APPLICATIONS
        and sum(benchmark.application == FOCUS for benchmark in benchmarks) == N_OF_FOCUS,
        left_out=tuple(left_out),
        without={name: n for name in READINGS if (n := sum(name in benchmark.reasons for benchmark in benchmarks))},
    )


def means_by_application(benchmarks: Sequence[Measured]) -> list[ApplicationMeans]:
    """Return the mean measures of each application, the most dissimilar application first."""
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


def numbers_of_focus(benchmarks: Sequence[Measured]) -> dict[str, str]:
    """Number the benchmarks of the example application B1 to B20 in alphabetical order.

    The alphabetical order is an assumption. Return an empty dict unless all 20 benchmarks are present.
    """
    names = [benchmark.name for benchmark in benchmarks if benchmark.application == FOCUS]
    if len(names) != N_OF_FOCUS:
        return {}
    return {name: f"B{at}" for at, name in enumerate(sorted(names), start=1)}


def drawn_benchmark(
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
    return max(group, key=lambda benchmark: (mean_of(benchmark.means, OF_HEURISTIC["heuristic"]), benchmark.name)).name


def mean_of(means: Mapping[str, float], names: Sequence[str]) -> float:
    return fmean(means[name] for name in names)


def scores_of(benchmarks: Sequence[Measured], classifier: str) -> list[float]:
    return [score for benchmark in benchmarks if (score := benchmark.score(classifier)) is not None]


def dissimilar_share(benchmarks: Sequence[Measured], classifier: str, scope: Scope) -> DissimilarShare:
    """Count the dissimilar verdicts, and compare their share with that of the paper."""
    scores = scores_of(benchmarks, classifier)
    n_dissimilar = sum(score > usual_threshold(classifier) for score in scores)
    paper = PUBLISHED_SHARES[classifier]
    p = None
    if scope.is_paper and scores:
        from scipy.stats import fisher_exact  # imported here because the import is slow

        table = [[n_dissimilar, len(scores) - n_dissimilar], [paper[0], paper[1] - paper[0]]]
        p = float(fisher_exact(np.array(table)).pvalue)
    return DissimilarShare(classifier, n_dissimilar, len(scores), wilson(n_dissimilar, len(scores)), paper, p)


def without_warmup(benchmarks: Sequence[Measured], classifier: str) -> WithoutWarmup:
    """Compare the verdicts with those without warm-up."""
    pairs = [
        (verdict, benchmark.without_warmup[classifier])
        for benchmark in benchmarks
        if classifier in benchmark.without_warmup and (verdict := benchmark.is_dissimilar(classifier)) is not None
    ]
    return WithoutWarmup(
        classifier, len(pairs), sum(a for a, _ in pairs), sum(b for _, b in pairs), sum(a != b for a, b in pairs)
    )


def joint_verdicts(benchmarks: Sequence[Measured], a: str, b: str) -> Joint:
    """Count the verdicts of two classifiers together."""
    pairs = [(benchmark.is_dissimilar(a), benchmark.is_dissimilar(b)) for benchmark in benchmarks]
    cells = [pairs.count(cell) for cell in ((True, True), (True, False), (False, True), (False, False))]
    return Joint(a, b, *cells)


def at_thresholds(benchmarks: Sequence[Measured], thetas: Sequence[float]) -> tuple[AtThreshold, ...]:
    """Count the dissimilar verdicts at each threshold."""
    scores = {name: np.array(scores_of(benchmarks, name)) for name in OF_HEURISTIC}
    return tuple(
        AtThreshold(theta, {name: int((of_one > theta).sum()) for name, of_one in scores.items()}) for theta in thetas
    )


def n_above(benchmarks: Sequence[Measured], linkage: str, cut: float) -> int:
    """Return the number of benchmarks whose runs join above a height."""
    return sum(benchmark.heights[linkage] > cut for benchmark in benchmarks if benchmark.heights)


def steady_state(benchmarks: Sequence[Measured], classifier: str, classes: Mapping[str, str]) -> SteadyState:
    """Compare the verdicts on inconsistent benchmarks and on those that reach a steady state."""
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
