"""Test whether benchmarks have changed: compare candidate and baseline with one number per run.

Functions import all packages except numpy only when they are called, so that commands start fast.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import inf, log10

import numpy as np
from numpy.typing import ArrayLike

from analysis.benchmark import FASTER, HIGHER, LOWER, SLOWER
from analysis.intervals import Estimate
from analysis.multiple import holm
from analysis.two_samples import COMBINED, TESTS, Floats, p_values, ratio_of_means, ratios

NOT_SHOWN = "no significant change"
TIMES = ("s", "ms", "us", "µs", "ns", "min", "h")


@dataclass(frozen=True)
class Pair:
    """The numbers of a benchmark in the baseline and in the candidate, in the same unit.

    Attributes
    ----------
    name : str
    baseline, candidate : array_like of float, shape (n_runs,)
        One finite number per run, in the same unit.
    unit : str
        Unit of the numbers; "" if unknown.
    better : str
        "lower" or "higher"; "" if unknown. For a unit of time, "" means "lower".
    family : hashable
        Holm's correction is applied within each family. Use one family for the main unit of all benchmarks, and another
        family for each further unit (bytes, allocations).
    reason : str or None
        Why baseline and candidate cannot be compared, if already known.
    """

    name: str
    baseline: ArrayLike
    candidate: ArrayLike
    unit: str = ""
    better: str = ""
    family: Hashable = None
    reason: str | None = None


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
    verdict : str or None
        "slower" or "faster" for a time, a rate, or a number without a unit whose better direction is known; "higher" or
        "lower" for other numbers; "no significant change"; None if the pair was not tested.
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
    """

    name: str
    n_baseline: int
    n_candidate: int
    ratio: Estimate
    p: float | None = None
    p_holm: float | None = None
    verdict: str | None = None
    worse: bool | None = None
    is_finding: bool = False
    inconclusive: bool = False
    words: str = ""
    reason: str | None = None
    family: Hashable = None

    @property
    def has_changed(self) -> bool:
        """Return whether there is a significant change, either for the better or for the worse."""
        return self.verdict not in (None, NOT_SHOWN)


def compare(
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
    >>> change = compare([Pair("parse", [10.0, 10.1, 9.9, 10.0], [11.0, 11.2, 11.1, 11.0], unit="s")])[0]
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
            estimates[i] = of_shape[at]
            ps[i] = None if raw_ps is None else float(raw_ps[at])
    families: dict[Hashable, list[int]] = defaultdict(list)
    for i, pair in enumerate(pairs):
        families[pair.family].append(i)
    corrected: dict[int, tuple[float | None, int]] = {}
    for rows in families.values():
        of_family = [ps[i] for i in rows]
        n_tests = sum(p is not None for p in of_family)
        corrected |= {i: (p_holm, n_tests) for i, p_holm in zip(rows, holm(of_family), strict=True)}
    return [
        _change(pair, *sides[i], estimates[i], ps[i], *corrected[i], (alpha, min_change, max_slowdown))
        for i, pair in enumerate(pairs)
    ]


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
) -> Change:
    alpha, min_change, max_slowdown = options
    better = pair.better or ("lower" if pair.unit in TIMES else "")
    change = Change(pair.name, len(b), len(a), ratio, p, p_holm, family=pair.family)
    if p is None or p_holm is None:
        reason = pair.reason or "baseline and candidate need at least two runs each"
        words = "" if ratio.value is None else f"not tested ({_share(ratio.value - 1, 1)} %)"
        return replace(change, inconclusive=True, reason=reason, words=words)
    rise = _rise(a, b, ratio)
    significant = p_holm <= alpha and rise != 0
    verdict = _verdict(rise, pair.unit, better) if significant else NOT_SHOWN
    worse = (rise > 0) == (better == "lower") if significant and better else None
    size = inf if ratio.value is None else abs(ratio.value - 1)
    allowed = max(min_change, max_slowdown or 0.0) if worse is not False else min_change
    is_finding = significant and size >= allowed
    why = ratio.reason if ratio.ends is None else None
    inconclusive = max_slowdown is not None and not is_finding and not _excluded(ratio, better, max_slowdown)
    if inconclusive and max_slowdown is not None:
        change_to_exclude = f"a change{' for the worse' if better else ''} of more than {_percent(max_slowdown)}"
        why = f"{len(b)} and {len(a)} runs do not exclude {change_to_exclude}"
    few = f" after correction for {n_tests} benchmarks" if p <= alpha < p_holm else ""
    small = f", not above the limit of {_percent(allowed)}" if significant and not is_finding else ""
    words = f"{verdict}{few}{_in_words(ratio, alpha, a, b, pair.unit)}{small}"
    return replace(
        change, verdict=verdict, worse=worse, is_finding=is_finding, inconclusive=inconclusive, words=words,
        reason=why,
    )  # fmt: skip


def _rise(a: Floats, b: Floats, ratio: Estimate) -> float:
    """Return a positive number if the candidate's numbers are higher, and a negative number if they are lower."""
    if ratio.value is not None and ratio.value != 1:
        return ratio.value - 1
    return float(a.mean() - b.mean())


def _verdict(rise: float, unit: str, better: str) -> str:
    is_speed = unit in TIMES or "/s" in unit or unit.startswith("op") or not unit
    if is_speed and better:
        return SLOWER if (rise > 0) == (better == "lower") else FASTER
    return HIGHER if rise > 0 else LOWER


def _excluded(ratio: Estimate, better: str, limit: float) -> bool:
    """Return whether the interval excludes a change for the worse of more than the limit."""
    if ratio.low is None or ratio.high is None:
        return False
    return (better == "higher" or ratio.high <= 1 + limit) and (better == "lower" or ratio.low >= 1 - limit)


def _in_words(ratio: Estimate, alpha: float, a: Floats, b: Floats, unit: str) -> str:
    if ratio.value is None:
        return f" (from {b.mean():.3g} to {a.mean():.3g}{f' {unit}' if unit else ''})"
    change, interval = change_and_interval(ratio)
    return f" ({change}, {_percent(1 - alpha)} CI {interval})" if interval else f" ({change})"


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
    percent = round(100 * share, digits)
    if abs(percent) >= 1e6:
        return f"{'+' if percent > 0 else '−'}more than 1000000"
    return f"{percent:+.{digits}f}".replace("-", "−") if percent else f"{0:.{digits}f}"


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"
