"""Find out from the times of runs how two versions were measured, and whether a shared noise explains a change."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from analysis.benchmark import RECORDED, TIME, Run
from analysis.runs import Floats
from analysis.two_samples import t_tail

BY_TURNS, IN_BLOCKS, SESSIONS, UNKNOWN = DESIGNS = ("by turns", "in blocks", "sessions", "unknown")
STEP = f"{RECORDED}step"  # the position of a run in a measurement plan
APART = 10  # a gap of more median gaps than this separates two sessions
LEVEL = 0.05
SHARED = 0.3  # share of the variation from run to run that all benchmarks have in common
FEW_BENCHMARKS, FEW_RUNS = 3, 5
HALF = 0.5
MOVED_WITH = 0.25  # if the rest of a suite moved by this part of a change, the change can be the machine's

_ZONE = re.compile(r"(?<=\d)(?:([+-])(\d\d):?(\d\d)|Z)$")  # of a time in ISO 8601

Groups = NDArray[np.intp]


@dataclass(frozen=True)
class RunDesign:
    """How the runs of two versions were measured."""

    kind: str = UNKNOWN  # one of `DESIGNS`
    is_mixed: bool = False  # whether the order is between blocks and turns, and is treated as blocks
    # The group of each run of the baseline and of the candidate. For sessions, a group is a session of one side. For
    # all other designs, it is a stratum that has runs of both sides.
    groups: tuple[Groups, Groups] | None = None

    @property
    def n_sessions(self) -> int | None:
        """Return the number of sessions of the side that has fewer sessions; None for all other designs."""
        if self.kind != SESSIONS or self.groups is None:
            return None
        return min(len(np.unique(side)) for side in self.groups)


def times_of(runs: Sequence[Run]) -> Floats | None:
    """Return the time or position of each run as a number; return None if it is unknown for a run."""
    for condition in (TIME, STEP):
        texts = [run.conditions.get(condition, "") for run in runs]
        if all(texts):
            times = [_number(text) for text in texts]
            return None if None in times else np.array(times, dtype=np.float64)
    return None


@lru_cache(maxsize=100_000)
def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        pass
    zone = _ZONE.search(text)
    try:
        time = np.datetime64(text[: zone.start()] if zone else text, "us")
    except ValueError:
        return None
    if np.isnat(time):
        return None
    offset = int(f"{zone[1]}1") * (3600 * int(zone[2]) + 60 * int(zone[3])) if zone and zone[1] else 0
    return float(time.astype(np.int64)) / 1e6 - offset


def design_of(baseline: Floats | None, candidate: Floats | None) -> RunDesign:
    """Return the design of two sets of runs with these times, at least one on each side.

    Examples
    --------
    >>> design_of(np.array([0.0, 2.0, 4.0]), np.array([1.0, 3.0, 5.0])).kind
    'by turns'
    >>> design_of(np.array([0.0, 1.0, 2.0]), np.array([3.0, 4.0, 5.0])).kind
    'in blocks'
    """
    if baseline is None or candidate is None:
        return RunDesign()
    times = np.concatenate([baseline, candidate])
    if times.min() == times.max():
        return RunDesign()
    is_candidate = np.arange(len(times)) >= len(baseline)
    order = np.lexsort((is_candidate, times))
    groups = np.empty(len(times), dtype=np.intp)
    groups[order] = _sessions(times[order])
    sides = groups[~is_candidate], groups[is_candidate]
    of_both = np.intersect1d(*sides)
    if not len(of_both) and min(len(np.unique(side)) for side in sides) > 1:
        return RunDesign(SESSIONS, groups=sides)
    n, n_changes = min(len(baseline), len(candidate)), int((np.diff(is_candidate[order]) != 0).sum())
    strata = sides if len(of_both) > 1 else None
    if n_changes >= max(n / 2, 3) and not _is_earlier(times, is_candidate):
        return RunDesign(BY_TURNS, groups=strata)
    return RunDesign(IN_BLOCKS, is_mixed=n_changes > 2, groups=strata)


def _sessions(ascending: Floats) -> Groups:
    """Number the groups of times that are separated by unusually long gaps."""
    gaps = np.diff(ascending)
    usual = float(np.median(gaps[gaps > 0]))
    return np.concatenate([[0], np.cumsum(gaps > APART * usual)])


def _is_earlier(times: Floats, is_candidate: NDArray[np.bool_]) -> bool:
    """Return whether one side was measured earlier as a whole, by the rank-sum test."""
    from analysis.two_samples import MANN_WHITNEY, p_values

    p = p_values(times[~is_candidate][None], times[is_candidate][None], MANN_WHITNEY)
    return bool(p[0] < LEVEL)


@dataclass(frozen=True)
class SharedNoise:
    """What the benchmarks of a suite have in common."""

    share: float | None = None  # share of the variation from run to run that all benchmarks have in common
    correlation: float | None = None  # of run i of the baseline with run i of the candidate, pooled over the suite
    has_trend: bool = False  # whether the runs of a side become slower or faster with time
    n_benchmarks: int = 0
    n_runs: int = 0  # of the smaller side
    shift: float | None = None  # median of the natural logarithms of the ratios, if the whole suite moved

    @property
    def why(self) -> str:
        """Return why a change that was measured in blocks can come from the machine; return "" if it cannot."""
        if self.shift is not None:
            about = f"{100 * np.expm1(self.shift):+.1f} %".replace("-", "−")
            return (
                f"most of the {self.n_benchmarks} benchmarks moved together (the median by {about}), as a change of "
                "the machine would do"
            )
        if self.share is not None and self.share > SHARED:
            return f"{100 * self.share:.0f} % of the variation from run to run is common to all benchmarks"
        if self.has_trend:
            return "the runs of a version change with time"
        if self.n_benchmarks < FEW_BENCHMARKS:
            return "with fewer than three benchmarks, a change of the machine cannot be excluded"
        if self.n_runs < FEW_RUNS:
            return "with fewer than five runs of each version, a change of the machine cannot be excluded"
        return ""


def shared_noise(sides: Sequence[tuple[Floats, Floats]]) -> SharedNoise:
    """Compute what the benchmarks of a suite have in common, from one number per run.

    Each side has the runs of one version in order of time, and a slower machine gives higher numbers. Benchmarks with
    values that are not positive, and benchmarks with an unusual number of runs, are left out.
    """
    usable = [pair for pair in sides if min(map(len, pair)) > 1 and min(side.min() for side in pair) > 0]
    if not usable:
        return SharedNoise(n_benchmarks=len(sides))
    shapes = [(len(old), len(new)) for old, new in usable]
    shape = max(dict.fromkeys(shapes), key=shapes.count)
    usable = [pair for pair, size in zip(usable, shapes, strict=True) if size == shape]
    logs = [np.log(np.array([pair[side] for pair in usable])) for side in (0, 1)]
    residuals = [side - side.mean(axis=1, keepdims=True) for side in logs]
    shifts = logs[1].mean(axis=1) - logs[0].mean(axis=1)
    return SharedNoise(
        share=_common_share(residuals),
        correlation=_correlation(*residuals) if shape[0] == shape[1] else None,
        has_trend=_has_trend(residuals),
        n_benchmarks=len(sides),
        n_runs=min(shape),
        shift=moved(shifts),
    )


def moved(shifts: Floats) -> float | None:
    """Return the median of the logarithms of ratios if a suite moved as a whole, and None if it did not.

    A t test on all benchmarks, or on all but the fifth at each end, must show a common shift, and the median must be at
    least half of the mean, so that a few benchmarks that changed much do not count as the suite.
    """
    n, ascending = len(shifts), np.sort(shifts)
    if n < FEW_BENCHMARKS:
        return None
    centre = float(np.median(shifts))
    for n_cut in {0, n // 5}:
        inner = ascending[n_cut : n - n_cut]
        spread = float(np.clip(ascending, inner[0], inner[-1]).std(ddof=1)) * n / len(inner)
        mean = float(inner.mean())
        is_shift = t_tail(mean / spread * sqrt(n) * len(inner) / n, len(inner) - 1) < LEVEL if spread else mean != 0
        if is_shift and centre / mean >= HALF:
            return centre
    return None


def _common_share(residuals: Sequence[Floats]) -> float | None:
    """Return the mean correlation of two benchmarks over the runs of a side; None for a single benchmark."""
    both = np.concatenate(residuals, axis=1)
    norm = np.sqrt((both**2).sum(axis=1, keepdims=True))
    units = (both / np.where(norm > 0, norm, 1))[norm[:, 0] > 0]
    k = len(units)
    if k < 2:
        return None
    return round(float(((units.sum(axis=0) ** 2).sum() - k) / (k * (k - 1))), 3)


def _correlation(old: Floats, new: Floats) -> float | None:
    norms = np.sqrt((old**2).sum(axis=1) * (new**2).sum(axis=1))
    varied = norms > 0
    return round(float(((old * new).sum(axis=1)[varied] / norms[varied]).mean()), 3) if varied.any() else None


def _has_trend(residuals: Sequence[Floats]) -> bool:
    """Return whether the mean of all benchmarks rises or falls within a side, at a level of 5 % for both sides."""
    for side in residuals:
        norm = side.std(axis=1, keepdims=True)
        common = (side / np.where(norm > 0, norm, 1)).mean(axis=0)
        n = len(common)
        places = np.arange(n) - (n - 1) / 2
        norms = sqrt(float((common**2).sum() * (places**2).sum()))
        if n < 4 or not norms:
            continue
        r = min(abs(float(common @ places)) / norms, 1 - 1e-12)
        if t_tail(r * sqrt((n - 2) / (1 - r * r)), n - 2) < LEVEL / 2:
            return True
    return False


def stands_alone(low: float, high: float, others: Sequence[float], limit: float) -> bool:
    """Return whether a change is too large for a change of the machine, and the rest of the suite did not move with it.

    `low` and `high` are the interval of the ratio candidate / baseline, `others` the ratios of the other benchmarks,
    and `limit` the share that the whole interval must exceed.
    """
    if not (low > 1 + limit or 0 < high < 1 / (1 + limit)):
        return False
    if not others:
        return True
    change = log(low if low > 1 else high)
    rest = float(np.median(np.log(others)))
    return rest / change < MOVED_WITH
