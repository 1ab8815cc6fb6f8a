"""A check of result files, as for a build: are the runs similar, and has anything changed against a baseline?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.benchmark import EVERY_ITERATION, SLOWER, Benchmark, Sampling, by_level
from analysis.categories import DISSIMILAR, SIMILAR
from analysis.classifiers import CLASSIFIERS, Verdict
from analysis.comparison import Change, compare
from analysis.dissimilarity import MIN_ITERATIONS
from analysis.reasons import Reasons, reasons
from analysis.runs import Runs

FALLBACK = "spread"  # judges runs of any length
NOTHING_FOUND, FOUND, NOT_TOLD = 0, 1, 2  # outcomes, as exit codes


@dataclass(frozen=True)
class Judged:
    """One benchmark with the verdict asked for, those of the other classifiers, and the reasons.

    Attributes
    ----------
    name : str
    classifier : str
        The one whose verdict counts here.
    verdict : str or None
        None if it could not judge; `reason` says why.
    reason : str or None
        Also says why another classifier took the place of the one asked for.
    verdicts : mapping of str to str or None
        By all classifiers.
    reasons : Reasons
    """

    name: str
    classifier: str
    verdict: str | None
    reason: str | None
    verdicts: Mapping[str, str | None]
    reasons: Reasons


@dataclass(frozen=True)
class Check:
    """The outcome.

    Attributes
    ----------
    benchmarks : tuple of Judged
    changes : tuple of Change
        Against the baseline; empty without one.
    only_in_candidate, only_in_baseline : tuple of str
        Benchmarks that could not be compared.
    parameters : mapping
    outcome : int
        0 similar, or nothing changed; 1 dissimilar, or changed; 2 nothing could be judged.
    """

    benchmarks: tuple[Judged, ...]
    changes: tuple[Change, ...]
    only_in_candidate: tuple[str, ...]
    only_in_baseline: tuple[str, ...]
    parameters: Mapping[str, Any]
    outcome: int


def check(
    benchmarks: Sequence[Benchmark],
    baseline: Sequence[Benchmark] | None = None,
    *,
    classifier: str = "heuristic",
    only_slower: bool = False,
    sampling: Sampling = EVERY_ITERATION,
    alpha: float = 0.05,
) -> Check:
    """Judge every benchmark, and compare it with the baseline where there is one.

    Parameters
    ----------
    benchmarks : sequence of Benchmark
    baseline : sequence of Benchmark, optional
        With a baseline the outcome is whether anything has changed; verdicts are then information.
    classifier : str
        A name in `CLASSIFIERS`. Runs too short for it are judged by `spread`, and the result says so.
    only_slower : bool
        With a baseline: whether only what has become slower counts.
    sampling : Sampling
    alpha : float

    Raises
    ------
    ValueError
        If there is no such classifier, or a run is all warm-up.
    """
    if classifier not in CLASSIFIERS:
        raise ValueError(f"there is no classifier {classifier!r}; known are {', '.join(CLASSIFIERS)}")
    levels = [one for benchmark in benchmarks for one in by_level(benchmark)]
    judged = tuple(_judged(benchmark, classifier, sampling) for benchmark in levels)
    before = {(one.application, one.name): one for old in baseline or () for one in by_level(old)}
    after = {(one.application, one.name): one for one in levels}
    changes = compare([(before[key], after[key]) for key in after if key in before], sampling=sampling, alpha=alpha)
    return Check(
        judged,
        tuple(changes),
        tuple(one.name for key, one in after.items() if baseline is not None and key not in before),
        tuple(one.name for key, one in before.items() if key not in after),
        {
            "classifier": classifier,
            "warmup": sampling.warmup,
            "aggregate": sampling.aggregate,
            "alpha": alpha,
            "against_a_baseline": baseline is not None,
            "only_slower": only_slower,
        },
        _outcome([one.verdict for one in judged]) if baseline is None else _outcome_of_changes(changes, only_slower),
    )


def _judged(benchmark: Benchmark, wanted: str, sampling: Sampling) -> Judged:
    found = _verdicts(benchmark, sampling.warmup)
    chosen, reason = found[wanted], found[wanted].reason
    if chosen.verdict is None and 0 < chosen.n_iterations < CLASSIFIERS[wanted].min_iterations:
        chosen = found[FALLBACK]
        reason = f"Runs of fewer than {MIN_ITERATIONS} iterations: judged by {FALLBACK} instead of {wanted}."
        reason += f" It gave no verdict: {chosen.reason}." if chosen.verdict is None else ""
    verdicts = {name: one.verdict for name, one in found.items()}
    why = reasons(benchmark, sampling=sampling)
    return Judged(benchmark.name, chosen.classifier, chosen.verdict, reason, verdicts, why)


def _verdicts(benchmark: Benchmark, warmup: float) -> dict[str, Verdict]:
    """What every classifier says; the runs are shared, so that what several need is computed once."""
    try:
        shared = Runs(benchmark.runs, warmup)
    except ValueError as error:
        return {name: Verdict(name, None, reason=str(error)) for name in CLASSIFIERS}
    return {name: _verdict(name, shared, warmup) for name in CLASSIFIERS}


def _verdict(name: str, shared: Runs, warmup: float) -> Verdict:
    try:
        return CLASSIFIERS[name](shared, drop=warmup)
    except ValueError as error:  # a negative measurement, say
        return Verdict(name, None, reason=str(error), n_runs=shared.k, n_iterations=shared.n)


def _outcome(verdicts: Sequence[str | None]) -> int:
    if DISSIMILAR in verdicts:
        return FOUND
    return NOTHING_FOUND if SIMILAR in verdicts else NOT_TOLD


def _outcome_of_changes(changes: Sequence[Change], only_slower: bool) -> int:
    if any(change.has_changed and not (only_slower and change.verdict != SLOWER) for change in changes):
        return FOUND
    return NOTHING_FOUND if any(change.verdict for change in changes) else NOT_TOLD
