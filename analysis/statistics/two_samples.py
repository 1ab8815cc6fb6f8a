"""Compare two samples of one number per run: run tests for many pairs at once, and compute ratios.

Functions import all packages except numpy only when they are called, so that commands start fast.
"""

from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from math import comb, inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import Floats, median
from analysis.statistics.intervals import Estimate, checked_level

COMBINED, WELCH, MANN_WHITNEY = TESTS = ("combined", "welch", "mann-whitney")
NO_VARIATION = "no variation"
NO_END = "the baseline varies so much that the interval has no limit"
TOO_VARIABLE = "the runs are too few or vary too much for an interval"

EXACT_RUNS = 50  # with fewer values, the rank-sum test is exact if there are no ties
EXACT_TIED = 400  # maximum number of pairs of runs for the exact test with ties
FURTHEST = 40.0  # range of natural logarithms of the ratio in which the limits of an interval are searched
HALVINGS = 28
DECIMALS = 13  # in the search for an interval, values that are equal to so many decimals count as equal
ROWS_AT_ONCE = 2048  # tests that are computed together, so that memory does not grow with their number
AT_ONCE = 500_000  # maximum number of array elements when pairs of runs are compared
MAX_PAIRS = 4_000_000  # with more pairs of runs, the median of the ratios is that of a random sample of pairs
SEED = 0


def p_values(x: ArrayLike, y: ArrayLike, test: str = COMBINED, *, ties: bool = True) -> Floats:
    """Compute the two-sided p of many pairs of samples that have the same sizes.

    - "welch" compares means without assuming equal variances [1]_.
    - "mann-whitney" compares ranks [2]_. For small samples it is exact, even with ties; for large samples it uses a
      corrected normal approximation.
    - "combined" takes the smaller p of both tests, and corrects p for this choice.

    The correction uses the correlation rho that the two test statistics have if nothing has changed. rho is the
    correlation between the pooled values and their ranks. The corrected p is the probability that at least one test
    gives a p as small as the smaller p. It is computed from a bivariate normal distribution with this correlation. The
    rank test can reach only some values of p, and the correction takes this into account. If the samples are too small
    for the rank test, Welch's test therefore decides alone.

    Welch's p is multiplied by 0.85 / rho^4, a weight chosen by simulation. This lowers the influence of Welch's test if
    the pooled values are not normal. If the sides have different sizes, the larger p of Welch's and Student's test
    replaces Welch's p. The reason is that Welch's test rejects too often if one side has very few runs.

    `x` and `y`: finite values; at least two in each row; `ties`: whether to use the exact distribution of ranks with
    ties; the distribution without ties is faster. If neither sample varies, p is 1 if the values are equal, and
    otherwise 0 ("mann-whitney" gives the p of the rank test).

    References
    ----------
    .. [1] Welch (1947), Biometrika 34:28-35, doi:10.1093/biomet/34.1-2.28
    .. [2] Mann, Whitney (1947), Ann. Math. Stat. 18:50-60, doi:10.1214/aoms/1177730491
    """
    return _p_values(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64), test, ties=ties)


def _p_values(a: Floats, b: Floats, test: str, *, ties: bool = True) -> Floats:
    """Compute `p_values`; if `ties` is False, use the exact distribution of ranks without ties, which is faster."""
    if len(a) > ROWS_AT_ONCE:
        starts = range(0, len(a), ROWS_AT_ONCE)
        rows = [slice(start, start + ROWS_AT_ONCE) for start in starts]
        return np.concatenate([_p_values(a[some], b[some], test, ties=ties) for some in rows])
    _, exponent = np.frexp(np.maximum(np.abs(a).max(1), np.abs(b).max(1)))
    a, b = np.ldexp(a, -exponent[:, None]), np.ldexp(b, -exponent[:, None])  # exact, and avoids overflow of squares
    if test == WELCH:
        return _welch(a, b)
    pooled = np.sort(np.concatenate([a, b], axis=1), axis=1)
    p_ranks, reachable = _rank_sum(a, b, pooled, ties=ties)
    if test == MANN_WHITNEY:
        return p_ranks
    rho = _correlation_with_ranks(pooled)
    weight = 0.85 / rho**4
    p_means = _welch(a, b)
    if a.shape[1] != b.shape[1]:
        p_means = np.maximum(p_means, _student(a, b))
    smaller = np.minimum(p_ranks, weight * p_means)
    return _either(np.minimum(1, smaller / weight), reachable(smaller), rho)


def ratio_of_means(x: ArrayLike, y: ArrayLike, level: float = 0.95) -> Estimate:
    """Compute mean(x) / mean(y) of two independent samples with Fieller's interval [1]_.

    The interval contains 1 if Welch's test does not reject at 1 - level, and does not contain 1 otherwise. The interval
    and the test use the same degrees of freedom.

    `x` and `y` (shape (n_values,)). The result is undefined if a sample is empty or the mean of `y` is not positive.
    There is no interval if a sample has fewer than two values, or if `y` varies so much that the interval is unbounded.
    If neither sample varies, the interval has width 0.

    References
    ----------
    .. [1] Fieller (1954), J. R. Stat. Soc. B 16:175-185, doi:10.1111/j.2517-6161.1954.tb00159.x
    """
    from scipy import special

    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if not min(len(a), len(b)):
        return Estimate(None, reason="no values")
    ma, mb = float(a.mean()), float(b.mean())
    if not mb > 0:
        return Estimate(None, reason="the mean of the baseline is not positive")
    if min(len(a), len(b)) < 2:
        return Estimate(ma / mb, reason="an interval needs at least two runs")
    va, vb = (0.0 if s.min() == s.max() else float(s.var(ddof=1)) / len(s) for s in (a / mb, b / mb))
    ratio = ma / mb
    if va + vb == 0:
        return Estimate(ratio, 0.0, ratio, ratio, NO_VARIATION)
    df = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    t2 = float(special.stdtrit(df, (1 + checked_level(level)) / 2)) ** 2
    leading = 1 - t2 * vb
    if leading <= 0:
        return Estimate(ratio, reason=NO_END)
    root = float(np.sqrt(max(0.0, ratio**2 - leading * (ratio**2 - t2 * va))))
    se = float(np.sqrt(va + ratio**2 * vb))
    return Estimate(ratio, se, (ratio - root) / leading, (ratio + root) / leading)


def _student(a: Floats, b: Floats) -> Floats:
    """Compute the two-sided p of Student's t test; the values must vary."""
    from scipy import special

    n_a, n_b = a.shape[1], b.shape[1]
    squares = sum(((s - s.mean(1, keepdims=True)) ** 2).sum(1) for s in (a, b))
    se = np.sqrt(squares / (n_a + n_b - 2) * (1 / n_a + 1 / n_b))
    difference = np.abs(a.mean(1) - b.mean(1))
    t = np.divide(difference, se, out=np.full(len(a), inf), where=se > 0)
    p: Floats = 2 * special.stdtr(n_a + n_b - 2, -t)
    return p


def _welch(a: Floats, b: Floats) -> Floats:
    from scipy import special

    # The variance of a constant sample is 0, but rounding of the mean can leave more.
    va, vb = (np.where(s.min(1) == s.max(1), 0.0, s.var(1, ddof=1) / s.shape[1]) for s in (a, b))
    total = va + vb
    some = np.where(total > 0, total, 1.0)
    df = 1 / np.maximum((va / some) ** 2 / (a.shape[1] - 1) + (vb / some) ** 2 / (b.shape[1] - 1), 1e-9)
    t = (a.mean(1) - b.mean(1)) / np.sqrt(some)
    p: Floats = np.where(total > 0, 2 * special.stdtr(df, -np.abs(t)), np.where(a[:, 0] == b[:, 0], 1.0, 0.0))
    return p


def _rank_sum(a: Floats, b: Floats, pooled: Floats, *, ties: bool) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Return p of the rank-sum test, and a function that gives the attainable p values.

    The function takes a level and returns the largest p at or below this level that the test can reach, or 0.
    """
    from scipy import special

    n_a, n_b = a.shape[1], b.shape[1]
    distance = _distance(a, b)
    tied = (pooled[:, 1:] == pooled[:, :-1]).any(1) & ties
    largest = n_a * n_b
    exact = (tied & (largest <= EXACT_TIED)) | (~tied & (max(n_a, n_b) < EXACT_RUNS))
    p = np.ones(len(a))
    tails: list[tuple[NDArray[np.intp], Floats]] = []
    patterns: dict[bytes, list[int]] = defaultdict(list)
    for row in np.flatnonzero(exact & tied):
        patterns[(pooled[row, 1:] == pooled[row, :-1]).tobytes()].append(int(row))
    groups = [np.flatnonzero(exact & ~tied), *map(np.array, patterns.values())]
    for rows in groups:
        if len(rows):
            first = pooled[rows[0]]
            is_tie = (first[1:] == first[:-1]) & ties
            tail = _tail(min(n_a, n_b), is_tie.tobytes())
            p[rows] = tail[distance[rows]]
            tails.append((rows, tail))
    rest = np.flatnonzero(~exact)
    if len(rest):
        n = n_a + n_b
        variance = largest * np.array([(n + 1) / 12 - _ties(pooled[row]) / (12 * n * (n - 1)) for row in rest])
        z = np.maximum(distance[rest] - 1, 0) / 2 / np.sqrt(np.maximum(variance, 1e-300))
        p[rest] = np.where(variance > 0, 2 * special.ndtr(-z), 1.0)

    def reachable(level: Floats) -> Floats:
        levels = level.copy()
        for rows, tail in tails:
            rising = np.append(tail[::-1], inf)
            at = np.searchsorted(rising, level[rows] * (1 + 1e-9), side="right")
            levels[rows] = np.where(at > 0, rising[at - 1], 0.0)
        return np.minimum(levels, 1.0)

    return p, reachable


def _distance(a: Floats, b: Floats) -> NDArray[np.int64]:
    """Return twice the distance between the Mann-Whitney U and its centre, an integer from 0 to n_a n_b."""
    pairs = a.shape[1] * b.shape[1]
    distances = np.empty(len(a), dtype=np.int64)
    if pairs > AT_ONCE:  # needs memory for the runs only, and not for all pairs
        for row, (some_a, some_b) in enumerate(zip(a, np.sort(b, axis=1), strict=True)):
            below = np.searchsorted(some_b, some_a, "left").sum(dtype=np.int64)
            above = pairs - np.searchsorted(some_b, some_a, "right").sum(dtype=np.int64)
            distances[row] = abs(below - above)
        return distances
    step = max(1, AT_ONCE // pairs)
    for start in range(0, len(a), step):
        some_a, some_b = a[start : start + step, :, None], b[start : start + step, None, :]
        above = (some_a > some_b).sum((1, 2), dtype=np.int64) - (some_a < some_b).sum((1, 2), dtype=np.int64)
        distances[start : start + step] = np.abs(above)
    return distances


@lru_cache(maxsize=20_000)
def _tail(n: int, is_tie: bytes) -> Floats:
    """Compute P(distance >= d) for d = 0, 1, ... if each choice of n runs is equally likely; exact even with ties.

    `is_tie` has one byte for each value except the first, in ascending order. The byte says whether the value is equal
    to the previous value.
    """
    ranks = _doubled_ranks(np.frombuffer(is_tie, dtype=bool))
    n_all = len(ranks)
    ways = np.zeros((n + 1, int(ranks[-n:].sum()) + 1))  # [number of chosen runs, sum of their doubled ranks]
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, :-rank].copy()
    sums = np.arange(ways.shape[1])
    distances = np.abs(sums - n * (n_all + 1))
    largest = n * (n_all - n)
    counts = np.bincount(distances[ways[n] > 0], weights=ways[n][ways[n] > 0], minlength=largest + 1)
    return np.minimum(1, counts[::-1].cumsum()[::-1] / comb(n_all, n))


def _doubled_ranks(is_tie: NDArray[np.bool_]) -> NDArray[np.int64]:
    group = np.concatenate([[0], np.cumsum(~is_tie)])
    ends = np.cumsum(np.bincount(group))
    starts = np.concatenate([[0], ends[:-1]])
    ranks: NDArray[np.int64] = (starts + ends + 1)[group]
    return ranks


def _ties(ascending: Floats) -> float:
    _, sizes = np.unique(ascending, return_counts=True)
    return float((sizes.astype(np.float64) ** 3 - sizes).sum())


def _correlation_with_ranks(pooled: Floats) -> Floats:
    ranks = np.arange(pooled.shape[1]) - (pooled.shape[1] - 1) / 2
    centred = pooled - pooled.mean(1, keepdims=True)
    norm = np.sqrt((centred**2).sum(1) * (ranks**2).sum())
    varied = (pooled[:, 0] < pooled[:, -1]) & (norm > 0)
    rho: Floats = np.divide(centred @ ranks, norm, out=np.ones(len(pooled)), where=varied)
    return np.clip(rho, 0.05, 1 - 1e-9)


def _either(p: Floats, q: Floats, rho: Floats) -> Floats:
    """Compute P(|Z| >= z_p or |W| >= z_q) for two standard normal variables with correlation rho.

    z_p and z_q are the limits whose two-sided p values are p and q. The computation uses Owen's T function [1]_.

    References
    ----------
    .. [1] Owen (1956), Ann. Math. Stat. 27:1075-1090, doi:10.1214/aoms/1177728074
    """
    from scipy import special

    kept_p, kept_q = np.clip(p, 1e-300, 1 - 1e-9), np.clip(q, 1e-300, 1 - 1e-9)
    h, k = -special.ndtri(kept_p / 2), -special.ndtri(kept_q / 2)
    root = np.sqrt(1 - rho**2)
    p_both = np.zeros_like(p)
    for r in (rho, -rho):
        tails = (special.ndtr(-h) + special.ndtr(-k)) / 2
        p_both += 2 * (tails - special.owens_t(h, (k / h - r) / root) - special.owens_t(k, (h / k - r) / root))
    either = np.clip(p + q - p_both, np.maximum(p, q), np.minimum(1, p + q))
    return np.where((p <= 0) | (q <= 0), np.maximum(p, q), either)


def ratios(a: Floats, b: Floats, test: str, alpha: float, p_of_one: Floats) -> list[Estimate]:
    """Compute candidate / baseline for each row, and the interval of the ratios that the test does not reject.

    The estimate is the median of the ratios of all pairs of runs (Hodges-Lehmann [1]_). With Welch's test, the estimate
    is the ratio of means. If there are ties, the interval is widened by half a step between values. If a value is not
    positive, the result is the ratio of means with Fieller's interval.

    References
    ----------
    .. [1] Hodges, Lehmann (1963), Ann. Math. Stat. 34:598-611, doi:10.1214/aoms/1177704172
    """
    positive = (a.min(1) > 0) & (b.min(1) > 0)
    varied = (a.min(1) < a.max(1)) | (b.min(1) < b.max(1))
    rows = np.flatnonzero(positive & varied)
    estimates = [Estimate(None)] * len(a)
    for i in np.flatnonzero(~(positive & varied)):
        estimates[i] = ratio_of_means(a[i], b[i], 1 - alpha)
    if len(rows):
        inverted = _inverted(a[rows], b[rows], test, alpha, p_of_one[rows])
        for i, value, low, high in zip(rows, *(np.exp(part).tolist() for part in inverted), strict=True):
            ends = not (np.isnan(low) or np.isnan(high))
            estimates[i] = Estimate(value, None, low, high) if ends else Estimate(value, reason=TOO_VARIABLE)
    return estimates


def _inverted(a: Floats, b: Floats, test: str, alpha: float, p_of_one: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the logarithms of the estimate and of both limits; a missing limit is NaN."""
    coarse = np.zeros(len(a)) if test == WELCH else _coarseness(a, b)
    log_one = np.log(b.max(1)) - np.log(a.max(1))  # both sides are scaled, so the ratio is 1 here
    a, b = a / a.max(1, keepdims=True), b / b.max(1, keepdims=True)

    def p_at(log_ratio: Floats, rows: NDArray[np.intp]) -> Floats:
        # scale one side down, so that neither overflows; rounding keeps equal values equal
        down = np.exp(-np.minimum(np.abs(log_ratio[rows]), 700))[:, None]
        is_up = (log_ratio[rows] > 0)[:, None]
        x, y = np.where(is_up, a[rows] * down, a[rows]), np.where(is_up, b[rows], b[rows] * down)
        return _p_values(x.round(DECIMALS), y.round(DECIMALS), test, ties=False)

    every = np.arange(len(a))
    of_means = np.log(a.mean(1)) - np.log(b.mean(1))
    estimate = of_means if test == WELCH else _hodges_lehmann(np.log(a), np.log(b))
    refused = np.flatnonzero(
        p_at(estimate, every) <= alpha
    )  # the distributions differ in shape, but the means can still be equal
    estimate[refused] = of_means[refused]
    fits = np.ones(len(a), dtype=bool)
    fits[refused] = p_at(estimate, refused) > alpha if len(refused) else False
    width = np.log(a.max(1)) - np.log(a.min(1)) + np.log(b.max(1)) - np.log(b.min(1))
    n = len(a)
    sign = np.repeat([-1.0, 1.0], n)  # both limits of all rows are searched together: first the lower, then the upper
    a, b = np.concatenate([a, a]), np.concatenate([b, b])
    estimates, one, p_of_one, fits = (np.tile(part, 2) for part in (estimate, log_one, p_of_one, fits))
    beyond = sign * (one - estimates) > 0  # 1 is on this side: use its p, which also decides the verdict
    outside = np.where(beyond & (p_of_one <= alpha), one, np.nan)
    inside = np.where(beyond & (p_of_one > alpha), one, estimates)
    step = np.tile(np.maximum(width, 1e-12), 2)
    open_rows = np.flatnonzero(np.isnan(outside) & fits)
    while len(open_rows):
        trial = inside + sign * step
        rejected = p_at(trial, open_rows) <= alpha
        outside[open_rows[rejected]] = trial[open_rows[rejected]]
        open_rows = open_rows[~rejected]
        inside[open_rows], step[open_rows] = trial[open_rows], 2 * step[open_rows]
        open_rows = open_rows[step[open_rows] <= FURTHEST]
    outside[~fits] = np.nan
    rows = np.flatnonzero(~np.isnan(outside))
    for _ in range(HALVINGS if len(rows) else 0):
        middle = (inside + outside) / 2
        rejected = p_at(middle, rows) <= alpha
        outside[rows[rejected]], inside[rows[~rejected]] = middle[rows[rejected]], middle[rows[~rejected]]
    wider = inside + sign * np.tile(coarse, 2)
    crosses = (p_of_one <= alpha) & (sign * (one - inside) > 0) & (sign * (one - wider) <= 0)
    ends = np.where(np.isnan(outside), np.nan, np.where(crosses, inside, wider)) - one
    return estimate - log_one, ends[:n], ends[n:]


def _coarseness(a: Floats, b: Floats) -> Floats:
    """Return half the smallest step between the values of a row with ties, in logarithms; 0 for a row without ties.

    Ties result from coarse measurement or rounding. Without the half step, the interval would be too short, because
    ranks change only at whole steps. If most counts are equal, the interval would contain only one ratio.
    """
    steps = np.diff(np.sort(np.concatenate([a, b], axis=1), axis=1), axis=1)
    smallest = np.where(steps > 0, steps, inf).min(1)
    level = np.minimum(median(a), median(b))
    tied = (steps == 0).any(1) & np.isfinite(smallest)
    return np.where(tied, np.log1p(np.divide(smallest / 2, level, out=np.zeros(len(a)), where=tied)), 0.0)


def _hodges_lehmann(a: Floats, b: Floats) -> Floats:
    medians = np.empty(len(a))
    if a.shape[1] * b.shape[1] > MAX_PAIRS:
        rng = np.random.default_rng(SEED)
        first, second = (rng.integers(side.shape[1], size=MAX_PAIRS) for side in (a, b))
        for row, (some_a, some_b) in enumerate(zip(a, b, strict=True)):
            medians[row] = median(some_a[first] - some_b[second])
        return medians
    step = max(1, AT_ONCE // (a.shape[1] * b.shape[1]))
    for start in range(0, len(a), step):
        differences = a[start : start + step, :, None] - b[start : start + step, None, :]
        medians[start : start + step] = median(differences.reshape(len(differences), -1))
    return medians


def t_tail(t: float, df: float) -> float:
    """Return the two-sided p of Student's t."""
    from scipy import special

    return float(2 * special.stdtr(df, -abs(t)))


def by_strata(
    a: Floats, b: Floats, strata: tuple[NDArray[np.intp], NDArray[np.intp]], alpha: float
) -> tuple[float, Estimate] | None:
    """Compare positive samples within strata, by least squares of the logarithms on stratum and side.

    If each stratum has one value of each side, this is the paired t test of the log ratios. Return p and the ratio of
    geometric means with its interval; return None if no degrees of freedom remain.
    """
    from scipy import special

    names, number = np.unique(np.concatenate(strata), return_inverse=True)
    is_a = (np.arange(len(number)) < len(a)).astype(np.float64)
    logs = np.log(np.concatenate([a, b]))
    sizes = np.bincount(number)

    def within(values: Floats) -> Floats:
        centred: Floats = values - (np.bincount(number, values) / sizes)[number]
        return centred

    side, y = within(is_a), within(logs)
    squares, df = float((side**2).sum()), len(logs) - len(names) - 1
    if df < 1 or squares <= 0:
        return None
    shift = float((side * y).sum()) / squares
    se = float(np.sqrt(max(0.0, float(((y - shift * side) ** 2).sum())) / df / squares))
    ratio = float(np.exp(shift))
    if se <= 1e-13:
        p = 1.0 if abs(shift) <= 1e-13 else 0.0
        return p, Estimate(ratio, 0.0, ratio, ratio, NO_VARIATION)
    half = float(special.stdtrit(df, 1 - alpha / 2)) * se
    return t_tail(shift / se, df), Estimate(ratio, None, float(np.exp(shift - half)), float(np.exp(shift + half)))


def by_neighbours(first: Floats, second: Floats, alpha: float) -> tuple[float, Estimate] | None:
    """Compare positive samples whose measurements alternate strictly, and take a steady drift out.

    `first` are the values of the side that was measured first, in order; `second` those of the other side, which has as
    many values or one fewer. The logarithm of each value of the second side that has two neighbours is compared with
    the mean of its neighbours. These differences share neighbours, so their variance is corrected for a correlation of
    1/6 of adjacent ones. Return p and the ratio of geometric means, second / first, with its interval; return None if
    there are fewer than two differences.
    """
    from scipy import special

    a, b = np.log(first), np.log(second)
    n = min(len(a) - 1, len(b))
    if n < 2:
        return None
    differences = b[:n] - (a[:n] + a[1 : n + 1]) / 2
    shift, df = float(differences.mean()), n - 1
    square = float(differences.var(ddof=1)) / n * (1 + (n - 1) / (3 * n)) / (1 - 1 / (3 * n))
    se, ratio = float(np.sqrt(square)), float(np.exp(shift))
    if se <= 1e-13:
        p = 1.0 if abs(shift) <= 1e-13 else 0.0
        return p, Estimate(ratio, 0.0, ratio, ratio, NO_VARIATION)
    half = float(special.stdtrit(df, 1 - alpha / 2)) * se
    return t_tail(shift / se, df), Estimate(ratio, None, float(np.exp(shift - half)), float(np.exp(shift + half)))


def compared_by_turns(candidate: Floats, baseline: Floats, turns: int, alpha: float) -> tuple[float, Estimate] | None:
    """Compare runs that alternate strictly with their neighbours; return p and the ratio candidate / baseline.

    `turns` is 0 if the baseline was measured first, and 1 if the candidate was. Return None if there are too few runs.
    """
    if turns == 0:
        return by_neighbours(baseline, candidate, alpha)
    compared = by_neighbours(candidate, baseline, alpha)
    return None if compared is None else (compared[0], _reciprocal(compared[1]))


def _reciprocal(ratio: Estimate) -> Estimate:
    """Return the estimate of 1 / ratio, for a ratio that is positive."""
    value, low, high = (None if end is None else 1 / end for end in (ratio.value, ratio.high, ratio.low))
    return Estimate(value, ratio.se, low, high, ratio.reason)


def with_step(
    a: Floats, b: Floats, step: float, p: float, ratio: Estimate, alpha: float
) -> tuple[float, Estimate] | None:
    """Take into account that values are multiples of a step, if there are too few different values to see the noise.

    This is the case if a side does not vary, or if a side has at most three values and some are equal. The variance of
    each side is then at least step^2 / 12, the variance of rounding. Return None if the values need no correction.
    """
    from scipy import special

    few = min(len(a), len(b)) <= 3 and len(np.unique(np.concatenate([a, b]))) < len(a) + len(b)
    if step <= 0 or not (few or a.min() == a.max() or b.min() == b.max()):
        return None
    va, vb = (max(float(side.var(ddof=1)), step**2 / 12) / len(side) for side in (a, b))
    df = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    difference, base = float(a.mean() - b.mean()), float(b.mean())
    corrected = max(p, t_tail(difference / float(np.sqrt(va + vb)), df))
    if ratio.value is None or base <= 0:
        return corrected, ratio
    half = float(special.stdtrit(df, 1 - alpha / 2) * np.sqrt(va + vb)) + step / 2
    low, high = (difference - half) / base + 1, (difference + half) / base + 1
    if ratio.low is not None and ratio.high is not None:
        low, high = min(low, ratio.low - step / 2 / base), max(high, ratio.high + step / 2 / base)
    low, high = _in_agreement(low, high, is_significant=corrected <= alpha)
    return corrected, Estimate(ratio.value, None, low, high)


def _in_agreement(low: float, high: float, *, is_significant: bool) -> tuple[float, float]:
    """Return the interval, which contains 1 if and only if the change is not significant."""
    if is_significant and low <= 1 <= high:
        return (np.nextafter(1, 2), high) if high - 1 > 1 - low else (low, np.nextafter(1, 0))
    return low, high


def spread_p_values(a: Floats, b: Floats) -> Floats:
    """Compute p of the Brown-Forsythe test [1]_ for the relative spreads of many pairs of samples of positive values.

    p is 1 if a sample has fewer than three values, or if neither sample varies.

    References
    ----------
    .. [1] Brown, Forsythe (1974), J. Am. Stat. Assoc. 69:364-367, doi:10.1080/01621459.1974.10482955
    """
    from scipy import special

    n_a, n_b = a.shape[1], b.shape[1]
    if min(n_a, n_b) < 3:
        return np.ones(len(a))
    z = [np.abs(side - median(side)[:, None]) for side in (np.log(a), np.log(b))]
    means = [side.mean(axis=1) for side in z]
    within = sum(((side - mean[:, None]) ** 2).sum(axis=1) for side, mean in zip(z, means, strict=True))
    between = (means[0] - means[1]) ** 2 * (n_a * n_b / (n_a + n_b))
    some = within > 1e-24
    f = np.divide(between, within, out=np.where(between > 1e-24, inf, 0.0), where=some) * (n_a + n_b - 2)
    p: Floats = special.fdtrc(1, n_a + n_b - 2, f)
    return np.where(some, p, np.where(between > 1e-24, 0.0, 1.0))


def superiority(a: Floats, b: Floats) -> float:
    """Return the share of pairs of values in which the value of `a` is lower; equal values count half."""
    ascending = np.sort(b)
    above = len(b) - np.searchsorted(ascending, a, "right")
    equal = np.searchsorted(ascending, a, "right") - np.searchsorted(ascending, a, "left")
    return float((above + equal / 2).mean() / len(b))
