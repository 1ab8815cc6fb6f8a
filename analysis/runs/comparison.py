"""Test whether benchmarks have changed: compare candidate and baseline with one number per run.

Functions import all packages except numpy only when they are called, so that commands start fast.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, log10

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import Floats
from analysis.runs.benchmark import FAILED_SHARE, FAILURES, FASTER, HIGHER, LOWER, SLOWER
from analysis.statistics.intervals import Estimate
from analysis.statistics.multiple import holm
from analysis.statistics.two_samples import (
    COMBINED,
    NO_VARIATION,
    TESTS,
    by_strata,
    compared_by_turns,
    p_values,
    ratio_of_means,
    ratios,
    spread_p_values,
    superiority,
    with_step,
)
from analysis.text import percent

NOT_SHOWN = "no significant change"
IN_SPREAD = "changed in spread, not in mean"
TIMES = ("s", "ms", "us", "µs", "ns", "min", "h")
BETTER, WORSE = "better", "worse"  # outcomes of failures, which are neither slow nor fast
NOT_CALLED = "not decided"  # a change that is not called a change
SMALL_RISE = 0.01  # with few runs, a share of failures that rises by more than this is worse
MIN_RUNS_OF_SHARES = 3
SPREAD_LEVEL = 0.01  # significance level of a changed spread for all benchmarks together
SPREAD_DOUBT = 0.05  # uncorrected p of spreads below which only Welch's test can show a change of the mean
FEW_RUNS = 5

Groups = NDArray[np.intp]


@dataclass(frozen=True)
class Pair:
    """The numbers of a benchmark in the baseline and in the candidate, in the same unit."""

    name: str
    baseline: ArrayLike  # one finite number per run, in the same unit
    candidate: ArrayLike
    unit: str = ""  # unit of the numbers; "" if unknown
    better: str = ""  # "lower" or "higher"; "" if unknown. For a unit of time, "" means "lower".
    # Holm's correction is applied within each family. Use one family for the main unit of all benchmarks, and
    # another family for each further unit (bytes, allocations).
    family: Hashable = None
    reason: str | None = None  # why baseline and candidate cannot be compared, if already known
    # The stratum of each run of baseline and candidate. If given, runs are compared within strata, by least squares.
    strata: tuple[Groups, Groups] | None = None
    # Which side was measured first (0: baseline), if the runs alternate strictly and the numbers are in order of time.
    # If given, each run of the other side is compared with its neighbours, instead of with one run of a stratum.
    turns: int | None = None
    step: float = 0.0  # the resolution of the numbers, such as 1e-9 for whole nanoseconds; 0 for exact counts
    min_change: float | None = None  # limits of this benchmark; None: the limits of the comparison
    max_slowdown: float | None = None


@dataclass(frozen=True)
class Change:
    """The result of comparing a pair.

    Attributes
    ----------
    name : str
    n_baseline, n_candidate : int
        Number of runs of the baseline and of the candidate.
    ratio : Estimate
        Candidate / baseline with a 1 - alpha confidence interval, which is not corrected for the number of benchmarks.
        The interval contains 1 if and only if p > alpha.
    p, p_holm : float or None
        The p value of the test, without and with Holm's correction within the family.
    outcome : str or None
        "slower" or "faster" for a time, a rate, or a number without a unit whose better direction is known; "worse" or
        "better" for failures; "higher" or "lower" for other numbers; "no significant change"; "not decided" if the
        change is not called one; None if the pair was not tested.
    worse : bool or None
        Whether a significant change is for the worse; None if there is no significant change, or if the better
        direction is unknown.
    is_finding : bool
        Whether the change is significant and large enough (`min_change`, `max_slowdown`).
    inconclusive : bool
        Whether the runs cannot answer the question; `reason` explains why.
    words : str
        The verdict with the change and its interval, as shares of the baseline.
    reason : str or None
    family : hashable
        The family of the pair.
    superiority : float or None
        Share of the pairs of runs in which the number of the candidate is lower; equal numbers count half.
    spread_ratio : float or None
        Relative spread of the candidate / that of the baseline (standard deviation / mean); None if the spreads do not
        differ significantly (Brown-Forsythe test, Holm's correction, level 1 %).
    weaknesses : tuple of str
        What makes this result less reliable, such as "few runs".
    is_small : bool
        Whether there is a significant change that is smaller than the limits.
    is_held_back : bool
        Whether there is a significant change that the measurements cannot attribute to the versions.
    """

    name: str
    n_baseline: int
    n_candidate: int
    ratio: Estimate
    p: float | None = None
    p_holm: float | None = None
    outcome: str | None = field(default=None, metadata={"key": "verdict"})
    worse: bool | None = None
    is_finding: bool = False
    inconclusive: bool = False
    words: str = ""
    reason: str | None = None
    family: Hashable = None
    superiority: float | None = None
    spread_ratio: float | None = None
    weaknesses: tuple[str, ...] = ()
    is_small: bool = False
    is_held_back: bool = False

    @property
    def has_changed(self) -> bool:
        """Return whether there is a significant change, either for the better or for the worse."""
        return self.outcome not in (None, NOT_SHOWN, IN_SPREAD, NOT_CALLED)


def compare_benchmarks(
    pairs: Sequence[Pair],
    *,
    test: str = COMBINED,
    alpha: float = 0.05,
    min_change: float = 0.0,
    max_slowdown: float | None = None,
) -> list[Change]:
    """Test which benchmarks have changed.

    Only runs are independent, so each run contributes one number. Iterations of different runs are never pooled.

    Parameters
    ----------
    pairs : sequence of Pair
    test : str
        A name in `TESTS`; see `p_values`.
    alpha : float
        A change is significant if Holm's corrected p [1]_ is at most alpha.
    min_change : float
        A share of the baseline, >= 0. A significant change with a smaller estimate is not a finding.
    max_slowdown : float, optional
        A share of the baseline, > 0. A significant change for the worse is a finding only if its estimate is larger. A
        pair without a finding is inconclusive unless its interval excludes a larger change for the worse (a larger
        change in any direction if the better direction is unknown).

    Returns
    -------
    list of Change
        One change per pair, in the order of the pairs. If the baseline or the candidate has fewer than two runs, there
        is no p, and the change is inconclusive.

    Raises
    ------
    ValueError
        If the test is unknown, a value is not finite, alpha is not in (0, 1), or a share is negative.

    References
    ----------
    .. [1] Holm (1979), Scandinavian Journal of Statistics 6:65-70, https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> change = compare_benchmarks([Pair("parse", [10.0, 10.1, 9.9, 10.0], [11.0, 11.2, 11.1, 11.0], unit="s")])[0]
    >>> change.words
    'slower (+10.9 %, 95 % CI +8.6 to +12.9 %)'
    """
    _check_options(test, alpha, min_change, max_slowdown)
    sides = [(_run_values(pair, pair.candidate), _run_values(pair, pair.baseline)) for pair in pairs]
    estimates: list[Estimate] = [Estimate(None, reason=pair.reason) for pair in pairs]
    ps: list[float | None] = [None] * len(pairs)
    shapes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for i, (a, b) in enumerate(sides):
        if pairs[i].reason is None:
            shapes[len(a), len(b)].append(i)
    for shape, rows in shapes.items():
        a, b = (np.array([sides[i][side] for i in rows]) for side in (0, 1))
        if min(shape) < 2:
            raw_ps = None
            of_shape = [ratio_of_means(*row, level=1 - alpha) for row in zip(a, b, strict=True)]
        else:
            raw_ps = p_values(a, b, test)
            of_shape = ratios(a, b, test, alpha, raw_ps)
        for at, i in enumerate(rows):
            estimates[i] = UNCHANGED if raw_ps is not None and _are_equal(*sides[i]) else of_shape[at]
            ps[i] = None if raw_ps is None else float(raw_ps[at])
    coarse = _refined(pairs, sides, estimates, ps, alpha)
    spreads, possible_spreads = _spreads(pairs, sides, shapes)
    families: dict[Hashable, list[int]] = defaultdict(list)
    for i, pair in enumerate(pairs):
        families[pair.family].append(i)
    corrected: dict[int, tuple[float | None, int]] = {}
    for rows in families.values():
        of_family = [ps[i] for i in rows]
        n_tests = sum(p is not None for p in of_family)
        corrected |= {i: (p_holm, n_tests) for i, p_holm in zip(rows, holm(of_family), strict=True)}
    changes = []
    for i, pair in enumerate(pairs):
        limits = (
            alpha,
            min_change if pair.min_change is None else pair.min_change,
            max_slowdown if pair.max_slowdown is None else pair.max_slowdown,
        )
        spread_ratios = spreads.get(i), possible_spreads.get(i)
        change = _change(pair, *sides[i], estimates[i], ps[i], *corrected[i], limits, spread_ratios)
        few = ("few runs",) if min(map(len, sides[i])) < FEW_RUNS else ()
        weaknesses = (*few, *(["coarse timer"] if i in coarse else ()), *(["spread differs"] if i in spreads else ()))
        changes.append(replace(change, weaknesses=weaknesses))
    return changes


UNCHANGED = Estimate(1.0, 0.0, 1.0, 1.0, NO_VARIATION)


def _are_equal(a: Floats, b: Floats) -> bool:
    """Return whether all values of both sides are equal, which is no change, also if they are 0."""
    return bool((a == a[0]).all() and (b == a[0]).all())


def _refined(
    pairs: Sequence[Pair],
    sides: Sequence[tuple[Floats, Floats]],
    estimates: list[Estimate],
    ps: list[float | None],
    alpha: float,
) -> set[int]:
    """Replace the results of pairs with strata or coarse values; return the positions of pairs with coarse values."""
    coarse = set()
    for i, (pair, (a, b)) in enumerate(zip(pairs, sides, strict=True)):
        if ps[i] is not None and _are_equal(a, b):
            continue
        if ps[i] is not None and min(a.min(), b.min()) > 0:
            compared = None
            if pair.turns is not None:
                compared = compared_by_turns(a, b, pair.turns, alpha)
            elif pair.strata is not None:
                compared = by_strata(a, b, (pair.strata[1], pair.strata[0]), alpha)
            if compared is not None:
                ps[i], estimates[i] = compared
        p = ps[i]
        if pair.step > 0 and p is not None:
            refined = with_step(a, b, pair.step, p, estimates[i], alpha)
            if refined is not None:
                ps[i], estimates[i] = refined
                coarse.add(i)
    return coarse


def _spreads(
    pairs: Sequence[Pair], sides: Sequence[tuple[Floats, Floats]], shapes: dict[tuple[int, int], list[int]]
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the ratio of the relative spreads of each pair in which they differ significantly.

    The second dict also has the pairs in which they differ only at 5 % and without Holm's correction. There a
    significant result of ranks can be due to the spreads.
    """
    ps: dict[int, float] = {}
    for shape, rows in shapes.items():
        positive = [i for i in rows if min(shape) > 1 and min(side.min() for side in sides[i]) > 0]
        if positive:
            a, b = (np.array([sides[i][side] for i in positive]) for side in (0, 1))
            ps |= dict(zip(positive, spread_p_values(a, b).tolist(), strict=True))
    families: dict[Hashable, list[int]] = defaultdict(list)
    for i in ps:
        families[pairs[i].family].append(i)
    found, possible = {}, {}
    for rows in families.values():
        for i, p in zip(rows, holm([ps[i] for i in rows]), strict=True):
            if ps[i] > SPREAD_DOUBT:
                continue
            a_spread, b_spread = (_relative_spread(side) for side in sides[i])
            if min(a_spread, b_spread) > 0:
                possible[i] = a_spread / b_spread
                if p is not None and p <= SPREAD_LEVEL:
                    found[i] = possible[i]
    return found, possible


def _relative_spread(values: Floats) -> float:
    scaled = values / values.max()  # so that squares do not overflow
    return float(scaled.std(ddof=1) / scaled.mean())


def _check_options(test: str, alpha: float, min_change: float, max_slowdown: float | None) -> None:
    if test not in TESTS:
        raise ValueError(f"test must be one of {', '.join(TESTS)}, got {test!r}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be in (0, 1), got {alpha}")
    if not 0 <= min_change < inf:
        raise ValueError(f"min_change must be a share >= 0, got {min_change}")
    if max_slowdown is not None and not 0 < max_slowdown < inf:
        raise ValueError(f"max_slowdown must be a share > 0, got {max_slowdown}")


def _run_values(pair: Pair, values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ValueError(f"benchmark {pair.name!r}: each run needs one finite number, got {values!r}")
    return array


def _change(
    pair: Pair,
    a: Floats,
    b: Floats,
    ratio: Estimate,
    p: float | None,
    p_holm: float | None,
    n_tests: int,
    options: tuple[float, float, float | None],
    spread_ratios: tuple[float | None, float | None],
) -> Change:
    alpha, min_change, max_slowdown = options
    spread_ratio, possible_spread_ratio = spread_ratios
    better = pair.better or ("lower" if pair.unit in TIMES else "")
    change = Change(pair.name, len(b), len(a), ratio, p, p_holm, family=pair.family, spread_ratio=spread_ratio)
    if len(a) and len(b):
        change = replace(change, superiority=superiority(a, b))
    if pair.unit == FAILED_SHARE and pair.reason is None and len(a) and len(b):
        return _share_change(change, a, b, alpha)
    if p is None or p_holm is None:
        reason = pair.reason or "baseline and candidate need at least two runs each"
        words = "" if ratio.value is None else f"not tested ({_share(ratio.value - 1, 1)} %)"
        return replace(change, inconclusive=True, reason=reason, words=words)
    rise = _rise(a, b, ratio)
    significant = p_holm <= alpha and rise != 0
    if significant and possible_spread_ratio is not None and _holds_one(ratio_of_means(a, b, 1 - alpha / n_tests)):
        # the ranks differ because the spreads differ
        words = f"{IN_SPREAD}{_describe(ratio, alpha, a, b, pair.unit)}"
        return replace(
            change, outcome=IN_SPREAD, words=words, inconclusive=max_slowdown is not None, reason=IN_SPREAD,
            spread_ratio=possible_spread_ratio,
        )  # fmt: skip
    verdict = _verdict(rise, pair.unit, better) if significant else NOT_SHOWN
    worse = (rise > 0) == (better == "lower") if significant and better else None
    size = inf if ratio.value is None else abs(ratio.value - 1)
    allowed = max(min_change, max_slowdown or 0.0) if worse is not False else min_change
    is_finding = significant and size >= allowed
    why = ratio.reason if ratio.ends is None else None
    inconclusive = max_slowdown is not None and not is_finding and not _excluded(ratio, better, max_slowdown)
    if inconclusive and max_slowdown is not None:
        change_to_exclude = f"a change{' for the worse' if better else ''} of more than {percent(max_slowdown, None)}"
        why = f"{len(b)} and {len(a)} runs do not exclude {change_to_exclude}"
    few = f" after correction for {n_tests} benchmarks" if p <= alpha < p_holm else ""
    small = f", not above the limit of {percent(allowed, None)}" if significant and not is_finding else ""
    words = f"{verdict}{few}{_describe(ratio, alpha, a, b, pair.unit)}{small}"
    return replace(
        change, outcome=verdict, worse=worse, is_finding=is_finding, inconclusive=inconclusive, words=words,
        reason=why, is_small=significant and not is_finding,
    )  # fmt: skip


def _share_change(change: Change, a: Floats, b: Floats, alpha: float) -> Change:
    """Judge a share of failures by its difference, because a ratio of shares says little, and there is none to 0.

    A significantly higher share is worse. With fewer than three runs on a side, a share that rose by more than one
    percentage point is worse.
    """
    rise = float(a.mean() - b.mean())
    if min(len(a), len(b)) < MIN_RUNS_OF_SHARES:
        has_changed = abs(rise) > SMALL_RISE + 1e-12
    else:
        has_changed = rise != 0 and change.p_holm is not None and change.p_holm <= alpha
    worse = rise > 0 if has_changed else None
    outcome = (WORSE if worse else BETTER) if has_changed else NOT_SHOWN
    words = f"{outcome} (from {_percent_failed(b)} to {_percent_failed(a)} failed)"
    ratio = Estimate(None, reason="a share of failures is compared by its difference")
    return replace(change, ratio=ratio, outcome=outcome, worse=worse, is_finding=has_changed, words=words)


def _percent_failed(shares: Floats) -> str:
    return f"{100 * float(shares.mean()):.3g} %"


def _holds_one(ratio: Estimate) -> bool:
    return ratio.low is None or ratio.high is None or ratio.low <= 1 <= ratio.high


def _rise(a: Floats, b: Floats, ratio: Estimate) -> float:
    """Return a positive number if the candidate's numbers are higher, and a negative number if they are lower."""
    if ratio.value is not None and ratio.value != 1:
        return ratio.value - 1
    return float(a.mean() - b.mean())


def _verdict(rise: float, unit: str, better: str) -> str:
    if unit in FAILURES:
        return WORSE if rise > 0 else BETTER
    is_rate = "/s" in unit and better == "higher"
    is_speed = unit in TIMES or is_rate or unit.startswith("op") or not unit
    if is_speed and better:
        return SLOWER if (rise > 0) == (better == "lower") else FASTER
    return HIGHER if rise > 0 else LOWER


def _excluded(ratio: Estimate, better: str, limit: float) -> bool:
    """Return whether the interval excludes a change for the worse of more than the limit."""
    if ratio.low is None or ratio.high is None:
        return False
    return (better == "higher" or ratio.high <= 1 + limit) and (better == "lower" or ratio.low >= 1 - limit)


def _describe(ratio: Estimate, alpha: float, a: Floats, b: Floats, unit: str) -> str:
    if ratio.value is None:
        return f" (from {b.mean():.3g} to {a.mean():.3g}{f' {unit}' if unit else ''})"
    change, interval = change_and_interval(ratio)
    return f" ({change}, {percent(1 - alpha, None)} CI {interval})" if interval else f" ({change})"


def change_and_interval(ratio: Estimate) -> tuple[str, str]:
    """Format the change in percent, and the limits of its interval; if there is no interval, the limits are "".

    Examples
    --------
    >>> change_and_interval(Estimate(1.05, low=1.04, high=1.0612)), change_and_interval(Estimate(1.2))
    (('+5.0 %', '+4.0 to +6.1 %'), ('+20.0 %', ''))
    """
    if ratio.value is None:
        return "", ""
    if ratio.low is None or ratio.high is None:
        return f"{_share(ratio.value - 1, 1)} %", ""
    width = 100 * (ratio.high - ratio.low)
    digits = int(np.clip(1 - np.floor(log10(width)), 0, 3)) if width > 0 else 1
    value, low, high = (_share(end - 1, digits) for end in (ratio.value, ratio.low, ratio.high))
    return f"{value} %", f"{low} to {high} %"


def _share(share: float, digits: int) -> str:
    """Format a share in percent with its sign, but without a sign for 0."""
    value = round(100 * share, digits)
    if abs(value) >= 1e6:
        return f"{'+' if value > 0 else '−'}more than 1000000"
    return f"{value:+.{digits}f}".replace("-", "−") if value else f"{0:.{digits}f}"
