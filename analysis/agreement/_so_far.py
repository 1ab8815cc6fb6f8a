"""Compute agreement while labelling goes on, with intervals that stay valid however often someone looks."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize, special

from analysis.agreement._coefficients import FORMULAS, Categories, fleiss_kappa, percent_agreement, rated
from analysis.agreement._likelihood import likelihood_ends, possible_rows
from analysis.categories import CATEGORIES
from analysis.intervals import Estimate, checked_level
from analysis.results import Result
from analysis.tables import Floats, count_table


@dataclass(frozen=True, repr=False)
class AgreementSoFar(Result):
    """Agreement of the items labelled so far, with intervals for repeated looks and for a single look."""

    n_items: int  # number of items with at least two labels
    # Percent agreement and Fleiss' kappa with always-valid intervals: all intervals of a study together, one after
    # each item, contain the true value with the probability `level`.
    percent: Estimate
    kappa: Estimate
    # The same with ordinary intervals, which are valid for one look at a number of items that was fixed before.
    percent_once: Estimate
    kappa_once: Estimate
    # How many times as wide the always-valid interval of kappa is; the price of looking often and stopping early.
    wider: float | None


def agreement_so_far(
    labels: pd.DataFrame, categories: Categories = CATEGORIES, *, level: float = 0.95
) -> AgreementSoFar:
    """Compute agreement with a confidence sequence: intervals that remain valid if someone looks after each item [1]_.

    Someone who looks at an ordinary 95 % interval every day, and stops when it looks good, is wrong in many more than
    5 % of studies. The always-valid intervals allow this. Percent agreement uses the beta-binomial mixture, which is
    valid for any shares in [0, 1] [2]_. Kappa uses the Dirichlet-multinomial mixture over the possible rows of labels:
    its limits are the smallest and largest kappa of all shares of rows that the mixture does not exclude. Items must
    become complete in random order.

    Raises ValueError if the label table is invalid.

    `labels`: label table of all labels so far: columns item, rater, category. Items with one label are ignored.
    `level`: probability that all intervals of a study together contain the true value.

    References
    ----------
    .. [1] Howard, Ramdas, McAuliffe, Sekhon (2021), Annals of Statistics 49:1055-1080, doi:10.1214/20-AOS1991
    .. [2] Robbins (1970), Ann. Math. Statist. 41:1397-1409, doi:10.1214/aoms/1177696786

    Examples
    --------
    >>> rows = [(i, r, "similar" if r == "b" and i % 4 == 0 else CATEGORIES[i % 2]) for i in range(80) for r in "ab"]
    >>> found = agreement_so_far(pd.DataFrame(rows, columns=["item", "rater", "category"]))
    >>> found.percent, found.percent_once
    (Estimate(1, 0.9118 to 1), Estimate(1, 0.9632 to 1: one-sided: all 80 items are unanimous))
    """
    counts = count_table(labels, categories).to_numpy(dtype=float)
    r, _ = rated(counts, None, categories, at_least=2)
    percent_once, kappa_once = percent_agreement(r, categories, level=level), fleiss_kappa(r, categories, level=level)
    if not len(r):
        return AgreementSoFar(0, percent_once, kappa_once, percent_once, kappa_once, None)
    alpha = 1 - checked_level(level)
    percent = _share(float(percent_once.value or 0.0), len(r), alpha)
    kappa = _kappa(r, kappa_once, alpha)
    wide, narrow = kappa.half_width, kappa_once.half_width
    return AgreementSoFar(len(r), percent, kappa, percent_once, kappa_once, wide / narrow if wide and narrow else None)


def _share(share: float, n: int, alpha: float) -> Estimate:
    """Return the shares p for which the uniform mixture is at most 1 / alpha times as likely as p."""
    x = share * n
    limit = special.betaln(x + 1, n - x + 1) + np.log(alpha)

    def room(p: float) -> float:
        return float(special.xlogy(x, p) + special.xlog1py(n - x, -p) - limit)

    low = 0.0 if share == 0 else optimize.brentq(room, 1e-300, share) if room(1e-300) < 0 else 0.0
    high = 1.0 if share == 1 else optimize.brentq(room, share, 1 - 1e-15) if room(1 - 1e-15) < 0 else 1.0
    return Estimate(share, low=float(low), high=float(high))


def _kappa(r: Floats, once: Estimate, alpha: float) -> Estimate:
    """Return kappa with the range over all shares of rows that the mixture does not exclude."""
    if once.value is None:
        return Estimate(None, reason=once.reason)
    rows, counts = possible_rows(r)
    sizes, n = rows.sum(axis=1), len(r)
    # The mixture has one Dirichlet distribution for each number of labels per item, because the plan fixes this number.
    mixture = 0.0
    for size in np.unique(sizes):
        of_size = counts[sizes == size]
        k, m = len(of_size), of_size.sum()
        mixture += special.gammaln(k / 2) - special.gammaln(m + k / 2)
        mixture += (special.gammaln(of_size + 0.5) - special.gammaln(0.5)).sum()
        mixture -= float(special.xlogy(of_size, of_size / m).sum()) if m else 0.0
    limit = float(-np.log(alpha) - mixture) / n

    def functional(p: Floats) -> tuple[float, Floats]:
        with np.errstate(divide="ignore", invalid="ignore"):
            value, terms = FORMULAS[fleiss_kappa](rows, n * p, np.eye(rows.shape[1]))
        return float(value), np.where(np.isfinite(terms), terms, 0.0) - float(value)

    low, high = likelihood_ends(counts, functional, limit)
    return Estimate(once.value, low=max(low, -1.0), high=min(high, 1.0))
