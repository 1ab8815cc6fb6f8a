"""Check whether fixed and random order lead to the same conclusion about two versions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from analysis.benchmark import in_direction
from analysis.intervals import Estimate
from analysis.order._compare import Comparison, Side
from analysis.samples import describe_change

UNDECIDED = "undecided"
SAME, AMBER, RED = "same", "amber", "red flag"


@dataclass(frozen=True)
class Conclusion:
    """The conclusions about two versions of a benchmark in fixed and in random order."""

    benchmark: str
    application: str
    baseline: str
    candidate: str
    fixed: str | None  # conclusion about the candidate; see `conclusion`
    random: str | None
    # Median of candidate / median of baseline; undefined if the baseline is <= 0 or the candidate < 0.
    ratio_fixed: Estimate
    ratio_random: Estimate
    change_fixed: str | None  # the ratios in words
    change_random: str | None
    flag: str | None  # result of `flag`
    reason: str | None  # why there is no flag


def conclusion(baseline: Estimate, candidate: Estimate, *, better: str = "lower") -> str | None:
    """Return the conclusion about the candidate from two medians.

    The medians differ if their intervals do not overlap.

    Parameters
    ----------
    better : str
        "lower" for times, "higher" for rates, "" if unknown.

    Returns
    -------
    str or None
        "faster" or "slower" ("higher" or "lower" if the better direction is unknown), or "undecided"; None if an
        interval is missing.

    Examples
    --------
    >>> conclusion(Estimate(2, low=1, high=3), Estimate(5, low=4, high=6))
    'slower'
    """
    if baseline.ends is None or candidate.ends is None:
        return None
    (_, a_low, a_high), (_, b_low, b_high) = baseline.ends, candidate.ends
    if a_low <= b_high and b_low <= a_high:
        return UNDECIDED
    return in_direction(b_high < a_low, better)


def flag(fixed: str | None, random: str | None) -> str | None:
    """Compare the conclusions from the two orders [1]_.

    Returns
    -------
    str or None
        "red flag" if the conclusions are opposite, "amber" if one of them is undecided, otherwise "same"; None if one
        of them is None.

    References
    ----------
    .. [1] Duplyakin et al. (2023), USENIX ATC '23,
       https://www.usenix.org/conference/atc23/presentation/duplyakin

    Examples
    --------
    >>> flag("faster", "slower"), flag("faster", "undecided"), flag("undecided", "undecided")
    ('red flag', 'amber', 'same')
    """
    if fixed is None or random is None:
        return None
    if fixed == random:
        return SAME
    return AMBER if UNDECIDED in (fixed, random) else RED


def count_flags(conclusions: Sequence[Conclusion]) -> dict[str, int]:
    """Count the conclusions by flag; the key "none" counts conclusions without a flag."""
    counts = {RED: 0, AMBER: 0, SAME: 0, "none": 0}
    for row in conclusions:
        counts[row.flag or "none"] += 1
    return counts


def conclusions(tests: Sequence[Comparison], pair: tuple[str, str]) -> tuple[Conclusion, ...]:
    """Return a conclusion for each benchmark that was measured with both versions in both orders."""
    return tuple(_conclusions({(test.application, test.benchmark, test.version): test for test in tests}, pair))


def _conclusions(tests: dict[tuple[str, str, str], Comparison], pair: tuple[str, str]) -> Iterator[Conclusion]:
    for (application, benchmark, version), a in tests.items():
        b = tests.get((application, benchmark, pair[1]))
        if version != pair[0] or b is None:
            continue
        fixed = conclusion(a.fixed.median, b.fixed.median, better=a.better)
        random = conclusion(a.random.median, b.random.median, better=a.better)
        ratio_fixed, ratio_random = _ratio(a.fixed, b.fixed), _ratio(a.random, b.random)
        flagged = flag(fixed, random)
        yield Conclusion(
            benchmark, application, *pair, fixed, random, ratio_fixed, ratio_random,
            change_fixed=_describe(ratio_fixed, a.better),
            change_random=_describe(ratio_random, a.better),
            flag=flagged,
            reason="too few runs for the interval of a median" if flagged is None else None,
        )  # fmt: skip


def _describe(ratio: Estimate, better: str) -> str | None:
    return None if ratio.value is None else describe_change(ratio.value, better)


def _ratio(baseline: Side, candidate: Side) -> Estimate:
    a, b = baseline.median.value, candidate.median.value
    if a is None or b is None or a <= 0:
        return Estimate(None, reason="the median of the baseline is not positive")
    if b < 0:
        return Estimate(None, reason="the median of the candidate is negative")
    return (
        Estimate(b / a)
        if isfinite(b / a)
        else Estimate(None, reason="the ratio is too large for a floating-point number")
    )
