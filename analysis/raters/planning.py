"""Plan a study: compute how many items and hours it needs, which intervals to expect, and what it cannot estimate."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, comb, floor, inf, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from analysis.categories import CATEGORIES
from analysis.statistics.intervals import LEAST_GROUPS, WIDENED, Estimate, checked_level, wilson
from analysis.statistics.results import Result

LEAST_CATEGORIES = 2
CHECK_ONLY = 0.1  # an estimate with a larger expected half-width is only a rough check


@dataclass(frozen=True)
class Design:
    """The design of a study: how many items and reviewers there are, and how items are assigned to reviewers."""

    n_items: int
    n_reviewers: int
    per_item: int = 2  # number of reviewers per item outside the overlap, from 2 to `n_reviewers`
    overlap: float = 0.2  # share of items that all reviewers label, in [0, 1]
    retest: int = 20  # number of items that each reviewer labels a second time
    n_applications: int | None = None  # None if unknown

    def __post_init__(self) -> None:
        if self.n_items < 1 or self.retest < 0:
            raise ValueError(f"n_items must be >= 1 and retest >= 0, got {self.n_items} and {self.retest}")
        if not 2 <= self.per_item <= self.n_reviewers:
            raise ValueError(
                f"per_item must be within 2..n_reviewers, got {self.per_item} with {self.n_reviewers} reviewers"
            )
        if not 0 <= self.overlap <= 1:
            raise ValueError(f"overlap must be within [0, 1], got {self.overlap}")

    @property
    def n_overlap(self) -> int:
        """Return the number of overlap items. The random choice by application may change this number slightly."""
        return floor(self.overlap * self.n_items + 0.5)

    @property
    def n_ratings(self) -> dict[int, int]:
        """Return a dict from the number of ratings per item to the number of such items."""
        items = {self.per_item: self.n_items - self.n_overlap}
        items[self.n_reviewers] = items.get(self.n_reviewers, 0) + self.n_overlap
        return {r: n for r, n in items.items() if n}

    @property
    def labels_per_reviewer(self) -> float:
        """Return the mean number of labels per reviewer, including retest items."""
        return sum(r * n for r, n in self.n_ratings.items()) / self.n_reviewers + self.retest

    @property
    def items_per_pair(self) -> float:
        """Return the mean number of items that both reviewers of a pair label."""
        return sum(comb(r, 2) * n for r, n in self.n_ratings.items()) / comb(self.n_reviewers, 2)


@dataclass(frozen=True, repr=False)
class Expected(Result):
    """The results to expect from a design if assumptions hold: mean counts, and intervals around assumed values."""

    labels_per_reviewer: float
    hours_per_reviewer: float
    items_per_pair: float
    n_agreed_dissimilar: float  # number of items on which all labels are equal
    n_agreed_similar: float
    kappa: Estimate  # Fleiss' kappa and percent agreement over all items and ratings
    percent: Estimate
    pair: Estimate  # percent agreement of a pair of reviewers, and of a reviewer with their own earlier labels
    retest: Estimate
    sensitivity: Estimate  # sensitivity and specificity of a classifier on the agreed items
    specificity: Estimate


def items_for_kappa(
    half_width: float, *, kappa: float, prevalence: float | Sequence[float], level: float = 0.95
) -> int:
    """Compute how many items with two ratings give an interval of Fleiss' kappa with this half-width [1]_, [2]_.

    The number is ceil(z^2 V / w^2), where w is the half-width. For two categories, V is (1 - k) [(1 - k)(1 - 2k) +
    k(2 - k) / (2p(1 - p))]. For more, V is the variance of Gwet's linear term of an item [3]_ in the common correlation
    model: with probability k, both ratings are one draw from the shares, and otherwise two independent draws. It is
    multiplied by 1.15, as the limit of the interval is.

    Parameters
    ----------
    half_width : float
        Required half-width of the interval, > 0.
    kappa : float
        Expected kappa, in [-1, 1). The result depends strongly on kappa, so try several values.
    prevalence : float or sequence of float
        Expected share of dissimilar, in (0, 1); or the expected shares of all categories, which sum to 1.
    level : float
        Confidence level, in (0, 1).

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If an argument is out of its range, or `kappa` is impossibly low at this prevalence.

    References
    ----------
    .. [1] Bloch, Kraemer (1989), Biometrics 45:269-287, doi:10.2307/2532052
    .. [2] Donner, Eliasziw (1992), Statistics in Medicine 11:1511-1519, doi:10.1002/sim.4780111109
    .. [3] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600

    Examples
    --------
    >>> items_for_kappa(0.05, kappa=0.4, prevalence=0.3)
    1516
    >>> items_for_kappa(0.05, kappa=0.4, prevalence=[0.4, 0.3, 0.2, 0.1])
    863
    """
    shares = np.array([1 - prevalence, prevalence] if isinstance(prevalence, (int, float)) else list(prevalence))
    _check_open(half_width=half_width, level=level, **dict.fromkeys(["prevalence"], float(shares.min(initial=1))))
    if len(shares) < LEAST_CATEGORIES or abs(shares.sum() - 1) > 1e-6:
        raise ValueError(f"prevalence must be the shares of two or more categories, with sum 1, got {prevalence}")
    _check_kappa(kappa, float(shares.min()))
    both = (1 - kappa) * np.outer(shares, shares) + kappa * np.diag(shares)
    by_chance = float(np.square(shares).sum())
    own = (np.eye(len(shares)) - by_chance) / (1 - by_chance)
    apart = (shares[:, None] + shares) / 2 - by_chance
    linear = own - 2 * (1 - kappa) * apart / (1 - by_chance)
    variance = float((both * np.square(linear - kappa)).sum())
    widened = WIDENED if len(shares) > LEAST_CATEGORIES else 1.0
    return ceil(_z(level) ** 2 * widened * variance / half_width**2 - 1e-9)


def items_for_share(half_width: float, *, share: float, level: float = 0.95) -> int:
    """Compute the smallest number of items n for which the interval of a share has this half-width.

    The interval is `analysis.statistics.intervals.wilson`. The function applies to three shares. For the agreement of a
    pair, n is the number of items that both label. For test-retest agreement, n is the number of retest items. For the
    sensitivity of a classifier, n is the number of agreed dissimilar items.

    Parameters
    ----------
    half_width : float
        Required half-width of the interval, in (0, 1).
    share : float
        Expected share, in [0, 1]; 0.5 is the worst case.
    level : float
        Confidence level, in (0, 1).

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> items_for_share(0.1, share=0.9)
    37
    """
    _check_open(half_width=half_width, level=level)
    if not 0 <= share <= 1:
        raise ValueError(f"share must be within [0, 1], got {share}")
    z2, pq = _z(level) ** 2, share * (1 - share)
    # The half-width decreases with n and equals w if w^2 m^2 = z^2 (m pq + z^2 (1/4 - pq)), with m = n + z^2.
    m = (z2 * pq + sqrt((z2 * pq) ** 2 + 4 * half_width**2 * z2**2 * (0.25 - pq))) / (2 * half_width**2)
    return max(1, ceil(m - z2 - 1e-9))


def hours(n_labels: float, *, seconds: float) -> float:
    """Return how many hours labelling takes if each label takes `seconds`; raise ValueError for invalid values."""
    if not 0 <= n_labels < inf or not 0 < seconds < inf:
        raise ValueError(f"n_labels must be >= 0 and seconds > 0, got {n_labels} and {seconds}")
    return n_labels * seconds / 3600


def expected(
    design: Design,
    *,
    kappa: float = 0.1,
    prevalence: float = 0.55,
    retest_agreement: float = 0.9,
    sensitivity: float = 0.8,
    specificity: float = 0.8,
    seconds: float = 15.0,
    level: float = 0.95,
) -> Expected:
    """Compute the expected intervals of a design.

    The ratings of an item follow a beta-binomial model with intraclass correlation `kappa`. For two ratings,
    `items_for_kappa` uses the same model and gives the same half-width. Raises ValueError if an argument is out of
    range, or `kappa` is impossibly low for more than two ratings.

    `kappa` and `prevalence`: expected kappa, in [-1, 1), and expected share of dissimilar, in (0, 1). The defaults are
    close to the paper's values. `retest_agreement`, `sensitivity` and `specificity`: expected shares, in [0, 1];
    `seconds`: seconds per label, > 0; `level`: confidence level, in (0, 1). Shares have Wilson's intervals; kappa and
    percent agreement have normal intervals, of which those of more than two ratings are as much wider as in
    `fleiss_kappa`. Returns expected counts and intervals; `retest` is undefined if there are
    no retest items.
    """
    _check_open(prevalence=prevalence, level=level)
    _check_kappa(kappa, prevalence)
    pa = 1 - 2 * prevalence * (1 - prevalence) * (1 - kappa)
    n_similar, n_dissimilar = (
        float(sum(n * _patterns(r, kappa, prevalence)[x] for r, n in design.n_ratings.items())) for x in (0, -1)
    )
    of_kappa, of_percent = _expected_kappa(design, kappa, prevalence, pa, level)
    n_labels = design.labels_per_reviewer
    return Expected(
        labels_per_reviewer=n_labels,
        hours_per_reviewer=hours(n_labels, seconds=seconds),
        items_per_pair=design.items_per_pair,
        n_agreed_dissimilar=n_dissimilar,
        n_agreed_similar=n_similar,
        kappa=of_kappa,
        percent=of_percent,
        pair=_expected_share(pa, design.items_per_pair, level),
        retest=_expected_share(retest_agreement, design.retest, level),
        sensitivity=_expected_share(sensitivity, n_dissimilar, level),
        specificity=_expected_share(specificity, n_similar, level),
    )


def reviewer_groups(blocks: Iterable[Iterable[str]]) -> list[tuple[str, ...]]:
    """Group the reviewers that are connected by common items, directly or through other reviewers.

    `blocks`: the reviewers of each item, or of each block of items. Each group is sorted, and groups are sorted by
    their first name. If there is a single group, all reviewers are connected.
    """
    joined: list[set[str]] = []
    for block in blocks:
        group = set(block)
        overlapping = [other for other in joined if other & group]
        joined = [other for other in joined if not other & group] + [group.union(*overlapping)]
    return sorted(tuple(sorted(group)) for group in joined if group)


def limits(
    design: Design,
    expectation: Expected,
    *,
    blocks: Iterable[Iterable[str]] = (),
    latent_class: str | None = None,
    categories: tuple[str, str] = CATEGORIES,
) -> tuple[str, ...]:
    """List what the planned design cannot estimate.

    `expectation`: expected results of this design; `blocks`: as in `reviewer_groups`; empty if there is no plan yet;
    `latent_class`: the `words` of `analysis.raters.consensus.identifiability_of_plan` if the latent class model is not
    identified, otherwise None; `categories`: the category whose share is expected comes second. Returns one text per
    limit; empty if no limit is known.
    """
    remarks = []
    groups = reviewer_groups(blocks)
    if len(groups) > 1:
        names = " | ".join(", ".join(group) for group in groups)
        remarks.append(f"comparison of reviewers who share no items, directly or through other reviewers: {names}")
    if latent_class is not None:
        remarks.append(
            f"true prevalence and reviewers' error rates, because {latent_class.removeprefix('not identified: ')}"
        )
    for name, estimate, items in (
        ("agreement of single pairs", expectation.pair, _about(design.items_per_pair, "item", " per pair")),
        ("test-retest agreement of a reviewer", expectation.retest, _about(design.retest, "retest item")),
        (
            "sensitivity",
            expectation.sensitivity,
            _about(expectation.n_agreed_dissimilar, f"agreed {categories[1]} item"),
        ),
        ("specificity", expectation.specificity, _about(expectation.n_agreed_similar, f"agreed {categories[0]} item")),
    ):
        if estimate.half_width is None:
            remarks.append(f"{name} ({estimate.reason})")
        elif estimate.half_width > CHECK_ONLY:
            remarks.append(
                f"{name}, because the interval from {items} is ±{100 * estimate.half_width:.0f} percentage points, "
                "which is only a rough check"
            )
    if design.n_applications is not None and design.n_applications < LEAST_GROUPS:
        remarks.append(
            "similarity of items within applications, because there "
            f"{'is' if design.n_applications == 1 else 'are'} only {_about(design.n_applications, 'application')}, but "
            f"an interval needs at least {LEAST_GROUPS}"
        )
    return tuple(remarks)


def _about(n: float, noun: str, rest: str = "") -> str:
    whole = round(n)
    return f"{whole or 'less than one'} {noun if whole <= 1 else f'{noun}s'}{rest}"


def _expected_kappa(
    design: Design, kappa: float, prevalence: float, pa: float, level: float
) -> tuple[Estimate, Estimate]:
    """Compute Fleiss' kappa and percent agreement from the expected label patterns, with their standard errors."""
    pe = prevalence**2 + (1 - prevalence) ** 2
    of_kappa = of_percent = 0.0
    for r, n in design.n_ratings.items():
        x = np.arange(r + 1)  # number of dissimilar labels among r ratings
        pa_i = (x * (x - 1) + (r - x) * (r - x - 1)) / (r * (r - 1))
        pe_i = (prevalence * x + (1 - prevalence) * (r - x)) / r
        deviations = (pa_i - pa - 2 * (1 - kappa) * (pe_i - pe)) / (1 - pe)
        probability = _patterns(r, kappa, prevalence)
        of_kappa += n * float(probability @ deviations**2)
        of_percent += n * float(probability @ (pa_i - pa) ** 2)
    has_pairs_only = all(r == 2 for r, n in design.n_ratings.items() if n)
    half, n_items = _z(level) * (1.0 if has_pairs_only else sqrt(WIDENED)), design.n_items
    estimates = []
    for value, summed in ((kappa, of_kappa), (pa, of_percent)):
        se = sqrt(summed) / n_items
        estimates.append(Estimate(value, se, value - half * se, value + half * se))
    return estimates[0], estimates[1]


def _expected_share(share: float, n: float, level: float) -> Estimate:
    return wilson(share * n, n, level) if n else Estimate(None, reason="no retest items")


def _patterns(r: int, kappa: float, prevalence: float) -> NDArray[np.float64]:
    """Return the probability of each number x = 0..r of dissimilar labels among r labels.

    The distribution is beta-binomial with intraclass correlation kappa.
    """

    def rising(share: float, n: int) -> float:
        return float(np.prod([share * (1 - kappa) + i * kappa for i in range(n)]))

    whole = rising(1.0, r)
    probability = np.array(
        [comb(r, x) * rising(prevalence, x) * rising(1 - prevalence, r - x) / whole for x in range(r + 1)]
    )
    if (probability < -1e-12).any():
        raise ValueError(f"kappa cannot be {kappa} with {r} ratings at prevalence {prevalence}")
    return probability.clip(min=0.0)


def _check_open(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < 1:
            raise ValueError(f"{name} must be within (0, 1), got {value}")


def _check_kappa(kappa: float, prevalence: float) -> None:
    lowest = -min(prevalence / (1 - prevalence), (1 - prevalence) / prevalence)
    if not lowest - 1e-12 <= kappa < 1:
        raise ValueError(f"kappa must be at least {lowest:.3g} and below 1 at prevalence {prevalence:g}, got {kappa:g}")


def _z(level: float) -> float:
    return float(special.ndtri((1 + checked_level(level)) / 2))
