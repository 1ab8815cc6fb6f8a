"""Compare the claims of the paper about its measurements with our results.

No claim is reproduced or differs where the benchmarks that are present cannot show it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np

from analysis.categories import DISSIMILAR, SIMILAR
from analysis.document import counted, interval as interval_in_words, listed, number, percent
from analysis.methods.replication._claims import (
    BY_CONSTRUCTION,
    CONSISTENT,
    DIFFERS,
    MISPRINT,
    NOT_APPLICABLE,
    REPRODUCED,
    UNKNOWN,
    Claim,
    joined,
)
from analysis.methods.replication._counts import (
    ALPHA,
    APPLICATIONS,
    FOCUS_NUMBER,
    LEVEL_OF,
    MARGIN,
    N_BENCHMARKS,
    N_ITERATIONS,
    N_OF_FOCUS,
    N_RUNS,
    STEADY,
    THETAS,
    TITLES,
    ApplicationMeans,
    DissimilarShare,
    LabelScope,
    Scope,
    mean_of,
    scores_of,
)
from analysis.methods.replication._measured import (
    FOCUS,
    N_LAST,
    OF_HEURISTIC,
    SAME,
    WITHOUT_SLOW,
    Measured,
    usual_threshold,
)
from analysis.runs import schemes
from analysis.runs.benchmark import natural
from analysis.runs.classifiers import CLASSIFIERS
from analysis.runs.dissimilarity import MEASURES
from analysis.runs.runs import Runs
from analysis.runs.steady import QUICK_CLASSES

BASES = (0, 1, 2, 3, 5, 10)  # numbers that are added to all signals of Figure 1
FIGURE_1_SEED = 1
NOT_ALL = 0.1  # share of exceptions that “almost all” allows, rounded up to a whole benchmark
SHIFTS = (1, 10, 50)  # iterations by which a signal is shifted, for M2
OTHER_DATA = "These are not the measurements of the paper, so the number in the paper cannot be checked."
RECOGNISED = (
    "The data set is recognised by its applications and its number of benchmarks. Its measurements are not compared "
    "with the published files."
)
NO_STEADY_STATE = "no steady state"


@dataclass(frozen=True)
class Checks:
    """Checks of the claims about the measurements."""

    scope: Scope
    benchmarks: Sequence[Measured]
    applications: Sequence[ApplicationMeans]
    numbers: Mapping[str, str]
    shares: Sequence[DissimilarShare]
    labels: LabelScope | None = None  # what the labels cover; None if they were generated from the paper's counts
    classes: Mapping[str, str] | None = None
    revisions: Sequence[str] | None = None  # repositories in the file of revisions; None if there is no such file
    judged: list[Measured] = field(init=False)

    def __post_init__(self) -> None:
        """Find the benchmarks that the heuristic can judge."""
        object.__setattr__(self, "judged", [benchmark for benchmark in self.benchmarks if benchmark.means])

    def in_order(self, of_labels: Sequence[Claim]) -> Iterator[Claim]:
        """Yield all claims, including the claims about labels, in the order of the paper's sections."""
        labels = (self._of_labels(claim) for claim in of_labels)
        claims = [*self._data(), *self._measures(), *self._example(), *self._verdicts(), *self._of_people(), *labels]
        return iter(sorted(claims, key=lambda claim: natural(claim.where)))

    @property
    def is_whole(self) -> bool:
        """Return whether all benchmarks of the paper are present, and the heuristic can judge all of them."""
        return self.scope.is_complete and len(self.judged) == self.scope.n

    @property
    def _only(self) -> str:
        n = len(self.judged)
        if self.scope.n >= N_BENCHMARKS and not self.scope.is_complete:
            return self.scope.why_not_of_paper
        return f"Only {n} of the {N_BENCHMARKS} benchmarks {'is' if n == 1 else 'are'} present and can be judged."

    def _of_labels(self, claim: Claim) -> Claim:
        """Adjust the outcome of a claim about labels, if it cannot be known whether these are the labels of the paper.

        If the measurements are not those of the paper, the claim is not applicable.
        """
        if self.labels is None or claim.outcome == MISPRINT:
            return claim
        if not self.scope.is_paper:
            return replace(claim, outcome=NOT_APPLICABLE, why=OTHER_DATA)
        if claim.outcome not in (REPRODUCED, DIFFERS):
            return claim
        if reason := self.labels.why_unknown(self.scope.n):
            return replace(claim, outcome=UNKNOWN, why=joined(reason, claim.why))
        if claim.where.startswith(("4.2", "4.3")) and not self.is_whole:
            return replace(claim, outcome=UNKNOWN, why=f"{self._only} The other labelled items have no verdict.")
        return claim

    def _claim(
        self, where: str, claim: str, paper: str, ours: str, agrees: bool, why: str = "", *, is_refuted: bool = False
    ) -> Claim:
        """Build a claim about all benchmarks of the paper.

        With a part of them, the outcome is unknown, unless the benchmarks that are present already refute the claim.
        """
        if not self.scope.is_paper:
            return Claim(where, claim, paper, ours, NOT_APPLICABLE, OTHER_DATA)
        if self.is_whole:
            return Claim(where, claim, paper, ours, REPRODUCED if agrees else DIFFERS, why)
        if is_refuted:
            return Claim(where, claim, paper, ours, DIFFERS, why)
        return Claim(where, claim, paper, ours, UNKNOWN, joined(self._only, why))

    def _data(self) -> Iterator[Claim]:
        scope = self.scope
        claim, paper = "Size of the data set", f"{N_BENCHMARKS} benchmarks"
        if not scope.is_paper:
            yield Claim("1, 2.1", claim, paper, counted(scope.n, "benchmark"), NOT_APPLICABLE, OTHER_DATA)
        elif scope.is_complete:
            yield Claim("1, 2.1", claim, paper, paper, REPRODUCED, RECOGNISED)
        else:
            why = f"Only {scope.n} of the {N_BENCHMARKS} benchmarks are present. Shares are compared as samples."
            why = scope.why_not_of_paper if scope.n >= N_BENCHMARKS else why
            yield Claim("1, 2.1", claim, paper, f"{scope.n} of {N_BENCHMARKS} benchmarks", UNKNOWN, why)
        n_applications, of_paper = scope.n_applications, len(APPLICATIONS)
        ours = str(n_applications) if scope.is_complete else f"{n_applications} of {of_paper}"
        if not scope.is_paper:
            ours = str(n_applications)
        yield self._claim("1, 2.1", "Applications", str(of_paper), ours, n_applications == of_paper)
        n_other = scope.n - scope.n_of_shape
        ours = f"{scope.n_of_shape} of {counted(scope.n, 'benchmark')}"
        why = "" if not n_other else f"Other runs: {counted(n_other, 'benchmark')}. A copy of the files may be damaged."
        yield self._claim("2.1", f"{N_RUNS} runs of {N_ITERATIONS} iterations each", "all benchmarks", ours,
                          not n_other, why, is_refuted=n_other > 0)  # fmt: skip
        yield from self._facts()

    def _facts(self) -> Iterator[Claim]:
        n = sum(benchmark.n_runs * benchmark.n_iterations[0] for benchmark in self.benchmarks)
        unknown = UNKNOWN if self.scope.is_paper else NOT_APPLICABLE
        yield Claim("1", "Number of measured invocations", "9 billion", f"{n / 1e6:.1f} million iterations", unknown,
                    "The files have the time of each iteration, but not how many invocations it had.")  # fmt: skip
        claim, paper = "Revisions of the applications", f"{len(APPLICATIONS)} git revisions"
        if self.revisions is None:
            yield Claim("2.1", claim, paper, "–", unknown, "The folder has no file benchmarks_revision.csv.")
        else:
            missing = sorted(APPLICATIONS - set(self.revisions))
            same = not missing and len(self.revisions) == len(APPLICATIONS)
            why = "" if same else f"Without a row: {listed(missing) or 'none'}."
            ours = f"{counted(len(self.revisions), 'row')} in benchmarks_revision.csv"
            outcome = (REPRODUCED if same else DIFFERS) if self.scope.is_paper else NOT_APPLICABLE
            yield Claim("2.1", claim, paper, ours, outcome, why)
        yield self._without_steady_state()

    def _without_steady_state(self) -> Claim:
        where, claim, paper = "2.4", "Runs without a steady state make a benchmark dissimilar", "no number"
        unknown = UNKNOWN if self.scope.is_paper else NOT_APPLICABLE
        classes = self.classes or {each.name: each.steady for each in self.benchmarks if each.steady}
        if not classes:
            why = "This needs the class of each benchmark: --classes FILE, or --warmup auto."
            return Claim(where, claim, paper, "–", unknown, why)
        parts = []
        for kind in ("inconsistent", NO_STEADY_STATE, STEADY):
            verdicts = [
                benchmark.is_dissimilar("heuristic")
                for benchmark in self.benchmarks
                if classes.get(benchmark.name) == kind
            ]
            if verdicts:
                parts.append(f"{kind}: the heuristic calls {sum(map(bool, verdicts))} of {len(verdicts)} dissimilar")
        source = "come from a method" if self.classes else "come from the quick rule of labeler steady"
        why = f"The claim is about the judgement of people. The classes {source}, not from people."
        if not self.classes:
            why += f" {QUICK_CLASSES}"
        return Claim(where, claim, paper, "; ".join(parts), unknown, why)

    def _measures(self) -> Iterator[Claim]:
        yield self._figure_1()
        yield self._shift()
        yield Claim("3.2", "Algorithm 1: the inner loop over pairs", "tests i", "we test j", MISPRINT,
                    "The printed inner loop tests i where only j can be meant; otherwise it does not end.")  # fmt: skip
        if not self.judged:
            yield Claim("3", "The five measures", "of all benchmarks", "–", NOT_APPLICABLE, self._nothing_judged())
            return
        yield from self._ranges()
        pairs = sorted({benchmark.n_pairs for benchmark in self.judged})
        ours = f"{' or '.join(map(str, pairs)) if len(pairs) < 4 else f'{pairs[0]} to {pairs[-1]}'} × 5"
        yield Claim("3.2", "A matrix of pairs × measures; dissimilar if three of the five means are above 0.25",
                    "45 × 5", ours, BY_CONSTRUCTION, "This is the definition of the classifier.")  # fmt: skip
        yield from self._pairwise()
        yield from self._throughout("m2", "M2 is high throughout all applications", high=True)
        yield from self._throughout("m4", "M4 is low for all applications", high=False)
        yield from self._throughout("m5", "M5 is low for all applications", high=False)

    def _ranges(self) -> Iterator[Claim]:
        n_pairs = sum(benchmark.n_pairs for benchmark in self.judged)
        n_above = sum(benchmark.n_above_1 for benchmark in self.judged)
        n_with = sum(benchmark.n_above_1 > 0 for benchmark in self.judged)
        highest = max((benchmark.highest_m2 or 0.0 for benchmark in self.judged), default=0.0)
        ours = f"M2 above 1 for {n_above} of {n_pairs} pairs ({counted(n_with, 'benchmark')}), up to {highest:.3f}"
        why = "By the formula of the paper, M2 can exceed 1. We limit it to [0, 1]."
        yield self._claim("3.1", "M1 to M5 lie in [0, 1]", "[0, 1]", ours, n_above == 0, why, is_refuted=n_above > 0)
        lowest = [benchmark.lowest_m4_printed for benchmark in self.judged]
        n_below = sum(value is not None and value < 0 for value in lowest)
        smallest = min((value for value in lowest if value is not None), default=0.0)
        lowest_text = f"{smallest:.3g}".replace("-", "−")
        ours = f"below 0 for {n_below} of {counted(len(self.judged), 'benchmark')}, down to {lowest_text}"
        why = (
            "With the printed sum (“+”) of the two norms, M4 depends on the unit, and does not lie in [0, 1] for all "
            "data. We multiply the norms, as the cosine does."
        )
        yield Claim("3.1", "M4 with the formula as printed", "[0, 1]", ours,
                    MISPRINT if self.scope.is_paper else NOT_APPLICABLE, why)  # fmt: skip

    def _pairwise(self) -> Iterator[Claim]:
        known = [
            (b.n_differ > b.n_pairs / 2, b.is_dissimilar("heuristic")) for b in self.judged if b.n_differ is not None
        ]
        n_other = sum(by_pairs != by_means for by_pairs, by_means in known)
        ours = f"{n_other} of {counted(len(known), 'verdict')} differ"
        why = (
            "Two runs are dissimilar if three of the five measures are above 0.25. The paper does not say how verdicts "
            "on pairs give a verdict on a benchmark; here, more than half of the pairs are dissimilar."
        )
        yield Claim("3.2", "The rule for pairs instead of the rule for means", "no number", ours,
                    UNKNOWN if self.scope.is_paper else NOT_APPLICABLE, why)  # fmt: skip

    def _figure_1(self) -> Claim:
        """Count how many pairs of Figure 1 come out as described, for signals around several levels."""
        pairs = schemes.figure_1_signals(rng=np.random.default_rng(FIGURE_1_SEED))
        n_right = [
            sum(
                (CLASSIFIERS["heuristic-printed"]([x + base, y + base]).verdict == SIMILAR) == (name == "noise")
                for name, (x, y) in pairs.items()
            )
            for base in BASES
        ]
        ours = (
            f"with {' / '.join(map(str, BASES))} added to all signals: {' / '.join(map(str, n_right))} of "
            f"{len(pairs)} as described (M3 as printed)"
        )
        why = (
            "The paper's signals are not published, so these signals are ours. The result depends on their level, so "
            "it shows nothing about M3."
        )
        claim = "Figure 1: offsets and double frequency are dissimilar, noise is similar"
        return Claim("3.2, Figure 1", claim, "4 of 4 pairs", ours, UNKNOWN, why)

    def _shift(self) -> Claim:
        pairs = schemes.figure_1_signals(rng=np.random.default_rng(FIGURE_1_SEED))
        noisy = pairs["noise"][1]
        values = [float(MEASURES["m2"].of_pairs(Runs([noisy, np.roll(noisy, shift)]))[0]) for shift in (0, *SHIFTS)]
        ours = ", ".join(f"{value:.2f}" for value in values)
        why = "The paper gives no number. The signal is ours: the noisy signal of Figure 1 and the same signal shifted."
        name = "M2 of a run and the same run shifted in time"
        return Claim("3.1", name, "no number", f"{ours} (shift by 0, {', '.join(map(str, SHIFTS))} of 300 iterations)",
                     UNKNOWN, why)  # fmt: skip

    def _throughout(self, measure: str, claim: str, *, high: bool) -> Iterator[Claim]:
        """Yield the claim that the mean of a measure is above (or not above) 0.25 for all applications."""
        theta = usual_threshold("heuristic")
        means = [row.means[measure] for row in self.applications]
        n_above = sum(mean > theta for mean in means)
        n_against = len(means) - n_above if high else n_above
        ours = f"means {min(means):.2f} to {max(means):.2f}; above {theta:g} in {n_above} of {len(means)} applications"
        why = "We read “high” as above the threshold of the classifier, 0.25, and “low” as not above it."
        if n_against:
            why += f" {LEVEL_OF[measure]} is {'not ' if high else ''}above 0.25 in {counted(n_against, 'application')}."
        surely = self.scope.has_all_applications and any(
            self._is_surely(row.application, measure, theta, above=not high) for row in self.applications
        )
        if surely and not self.is_whole:
            why += " For at least one application, the benchmarks here are enough to show this (t test, Bonferroni)."
        yield self._claim("3.3, Figure 2", claim, "all applications", ours, not n_against, why, is_refuted=surely)

    def _is_surely(self, application: str, measure: str, theta: float, *, above: bool) -> bool:
        """Return whether the benchmarks that are present show that the mean of the application is above theta."""
        values = [b.means[measure] for b in self.judged if b.application == application]
        if len(values) < 3 or min(values) == max(values):
            return False
        from scipy.stats import ttest_1samp  # imported here because the import is slow

        test = ttest_1samp(values, theta, alternative="greater" if above else "less")
        return float(test.pvalue) < ALPHA / len(APPLICATIONS)

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
        why = "Figures, tables and text of this page rank by the mean of M1 to M5."
        if rank > 1:
            first = self.applications[0]
            why += f" {first.application} has {number(first.overall, 2)}."
        yield self._claim("3.3, Figure 2", f"{name} is the most dissimilar application",
                          f"first of {len(APPLICATIONS)}",
                          f"place {rank} of {len(ranks)} (mean {number(mean, 2)})", rank == 1, why)  # fmt: skip
        yield self._almost_all(where, name, group)
        yield from self._most_dissimilar(where, name, group)

    def _almost_all(self, where: str, name: str, group: Sequence[Measured]) -> Claim:
        theta, allowed = usual_threshold("heuristic"), ceil(NOT_ALL * N_OF_FOCUS)
        n_high = {key: sum(b.means[key] > theta for b in group) for key in ("m1", "m2", "m3", "m3_with_mean", "m4")}
        few = [LEVEL_OF[key] for key, n in n_high.items() if len(group) - n > allowed]
        ours = f"of {len(group)}: " + ", ".join(f"{LEVEL_OF[key]} {n}" for key, n in n_high.items())
        why = f"Number of benchmarks above {theta:g}. We read “almost all” as all except {allowed} of {N_OF_FOCUS}."
        if few:
            why += f" The claim does not hold for {listed(few, 5)}."
        claim, paper = f"M1 to M4 are high for almost all benchmarks of {name}", f"almost all of {N_OF_FOCUS}"
        if len(group) != N_OF_FOCUS and not few and self.scope.is_paper:
            why = f"There are {len(group)} benchmarks of {name}, and the paper has {N_OF_FOCUS}. {why}"
            return Claim(where, claim, paper, ours, UNKNOWN, why)
        return self._claim(where, claim, paper, ours, not few, why, is_refuted=bool(few))

    def _most_dissimilar(self, where: str, name: str, group: Sequence[Measured]) -> Iterator[Claim]:
        claim, paper = f"B{FOCUS_NUMBER} is the most dissimilar benchmark of {name}", f"first of {N_OF_FOCUS}"
        last = f"The last {N_LAST} measurements of all runs differ"
        waves = "Some runs (1, 7) show a wave pattern, and others (8) none or a very weak one"
        b17 = next((b for b in group if self.numbers.get(b.name) == f"B{FOCUS_NUMBER}"), None)
        if b17 is None:
            why = (
                f"We assume that B1 to B{N_OF_FOCUS} are in alphabetical order. This needs exactly {N_OF_FOCUS} "
                f"benchmarks; here there are {len(group)}."
            )
            yield Claim(where, claim, paper, "–", UNKNOWN, why)
            yield Claim("3.3, Figure 4", last, "shown for B17", "–", UNKNOWN, why)
            yield Claim("3.3, Figure 4", waves, "shown for B17", "–", UNKNOWN, why)
            return
        yield self._place_of_b17(where, claim, paper, b17, group)
        assumed = f"We assume that B{FOCUS_NUMBER} is {b17.benchmark}, by alphabetical order."
        if b17.n_last_differ is None:
            yield Claim("3.3, Figure 4", last, "shown for B17", "–", UNKNOWN, "The runs of B17 are too short.")
        else:
            why = (
                f"Two runs differ if three of the five measures are above 0.25, the rule of the paper. M5 alone calls "
                f"{b17.n_last_differ_m5} of {b17.n_pairs} pairs different. {assumed}"
            )
            all_differ = b17.n_last_differ == b17.n_pairs
            ours = f"{b17.n_last_differ} of {b17.n_pairs} pairs of runs differ"
            yield Claim("3.3, Figure 4", last, "shown for B17", ours, REPRODUCED if all_differ else UNKNOWN, why)
        yield self._waves(waves, b17)

    def _place_of_b17(self, where: str, claim: str, paper: str, b17: Measured, group: Sequence[Measured]) -> Claim:
        places = []
        for names in (OF_HEURISTIC["heuristic"][:4], OF_HEURISTIC["heuristic"]):
            own = mean_of(b17.means, names)
            places.append(1 + sum(mean_of(benchmark.means, names) > own for benchmark in group))
        names = OF_HEURISTIC["heuristic"][:4]
        margin = mean_of(b17.means, names) - max(
            mean_of(b.means, names) for b in group if b.name != b17.name
        )  # negative if another benchmark is first
        ours = (
            f"place {places[0]} of {len(group)} by the mean of M1 to M4 (margin {number(margin, 4)}), place "
            f"{places[1]} by all five"
        )
        why = (
            f"This rests on two assumptions: that the order is alphabetical, so that B{FOCUS_NUMBER} is "
            f"{b17.benchmark}, and that the paper ranks by M1 to M4."
        )
        return Claim(where, claim, paper, ours, CONSISTENT if places[0] == 1 else UNKNOWN, why)

    def _waves(self, claim: str, b17: Measured) -> Claim:
        if not b17.waves:
            return Claim("3.3, Figure 4", claim, "shown for B17", "–", UNKNOWN, "The runs of B17 are too short.")
        visible = [at for at, wave in enumerate(b17.waves, start=1) if wave.is_visible]
        shares = ", ".join(f"run {at} {wave.share:.2f}" for at, wave in enumerate(b17.waves, start=1))
        n = counted(len(b17.waves), "run")
        ours = f"a wave in {len(visible)} of {n}; share of the variance of the ranks: {shares}"
        as_described = {1, 7} <= set(visible) and 8 not in visible
        why = (
            "The paper does not define a wave. We compare the share that periods of 50 to 500 iterations have in the "
            f"variance of the ranks, {WITHOUT_SLOW}, with the same run in shuffled blocks. This share is larger than "
            "that in the variance of the iterations. We assume that the file has the runs in the order of the paper."
        )
        outcome = CONSISTENT if as_described else UNKNOWN
        return Claim("3.3, Figure 4", claim, "shown for B17", ours, outcome, why)

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
            if not self.scope.is_paper:
                yield Claim(where, claim, paper, ours, NOT_APPLICABLE, OTHER_DATA)
                continue
            outcome, why = self._of_share(share)
            yield Claim(where, claim, paper, ours, outcome, why)
        yield self._theta()
        yield self._best_theta()

    def _of_share(self, share: DissimilarShare) -> tuple[str, str]:
        """Decide by two one-sided tests whether a share equals the paper's within 5 percentage points."""
        paper = share.paper[0] / share.paper[1]
        ours, low, high = share.share.value or 0.0, share.share.low or 0.0, share.share.high or 0.0
        margin = f"{100 * MARGIN:g} percentage points"
        test = f"Fisher's exact test of the two shares: p = {share.p:.2g}."
        if not self.scope.is_complete and (self.scope.n >= N_BENCHMARKS or not self.scope.has_all_applications):
            n = counted(self.scope.n_applications, "application")
            no_sample = f"Benchmarks of {n} are not a sample of the {len(APPLICATIONS)} applications of the paper."
            return UNKNOWN, self.scope.why_not_of_paper if self.scope.has_all_applications else no_sample
        if paper - MARGIN <= low and high <= paper + MARGIN:
            return REPRODUCED, f"The 95 % interval is within {margin} of the paper's share. {test}"
        if share.p is not None and share.p < ALPHA and abs(ours - paper) > MARGIN:
            return DIFFERS, f"The difference is above {margin}. {test}"
        return UNKNOWN, (
            f"This cannot be known from {counted(share.n, 'benchmark')}: the 95 % interval is not within {margin} of "
            f"the paper's share, and the shares do not clearly differ. {test}"
        )

    def _theta(self) -> Claim:
        claim = "θ can be set individually; a lower θ is risk-averse"
        scores = scores_of(self.benchmarks, "heuristic")
        if not scores:
            return Claim("4.4", claim, "no number", "–", NOT_APPLICABLE, self._nothing_judged())
        return Claim("4.4", claim, "no number", f"dissimilar: {_shares_at(scores, (0.10, 0.25, 0.50))}",
                     BY_CONSTRUCTION, "A lower θ can only change a verdict from similar to dissimilar.")  # fmt: skip

    def _best_theta(self) -> Claim:
        """Check that no other threshold agrees better with the agreed items, which needs the reviewers' labels."""
        where, claim, paper = "3.2, footnote 3", "θ = 0.25 worked best", "0.25"
        scores = scores_of(self.benchmarks, "heuristic")
        unknown = UNKNOWN if self.scope.is_paper else NOT_APPLICABLE
        if not scores:
            return Claim(where, claim, paper, "–", NOT_APPLICABLE, self._nothing_judged())
        agreed = self.labels.agreed if self.labels else {}
        judged = [(b.score("heuristic") or 0.0, agreed[b.name] == DISSIMILAR) for b in self.judged if b.name in agreed]
        if len({label for _, label in judged}) < 2:
            why = "This needs the labels of the reviewers on these benchmarks."
            return Claim(where, claim, paper, f"dissimilar: {_shares_at(scores, (0.20, 0.25, 0.30))}", unknown, why)
        accuracy = {theta: _balanced_accuracy(judged, theta) for theta in THETAS}
        shares = ", ".join(f"{percent(value)} at {theta:.2f}" for theta, value in accuracy.items())
        ours = f"balanced accuracy: {shares}"
        assert self.labels is not None  # noqa: S101 - `agreed` has items
        why = f"From {counted(len(judged), 'agreed item')}. The paper does not say what “best” is measured by."
        best = accuracy[0.25] == max(accuracy.values())
        decides = self.scope.is_paper and self.is_whole and not self.labels.why_unknown(self.scope.n)
        return Claim(where, claim, paper, ours, CONSISTENT if decides and best else unknown, why)

    def _of_people(self) -> Iterator[Claim]:
        unknown = UNKNOWN if self.scope.is_paper else NOT_APPLICABLE
        design = "Four reviewers, six pairs, six random parts, blind to each other"
        yield Claim("4.1", design, "six pairs", "–", unknown,
                    "Labels do not show how the parts were drawn, or what reviewers saw of each other.")  # fmt: skip
        lowest = "R1 and R4 (35 % in Table 1)"
        yield Claim("4.1", "Pair with the lowest agreement (text)", "R1 and R2", lowest, MISPRINT,
                    "The text says that the first and the second reviewer agree least; Table 1 of the paper has the "
                    "lowest agreement for R1 and R4.")  # fmt: skip

    def _nothing_judged(self) -> str:
        reasons = sorted({reason for benchmark in self.benchmarks for reason in benchmark.reasons.values()})
        return f"The classifiers cannot judge any benchmark: {listed(reasons)}."


def _shares_at(scores: Sequence[float], thetas: Sequence[float]) -> str:
    return ", ".join(
        f"{percent(sum(score > theta for score in scores) / len(scores))} at {theta:.2f}" for theta in thetas
    )


def _balanced_accuracy(judged: Sequence[tuple[float, bool]], theta: float) -> float:
    shares = [np.mean([(score > theta) == label for score, label in judged if label is kind]) for kind in (True, False)]
    return float(np.mean(shares))
