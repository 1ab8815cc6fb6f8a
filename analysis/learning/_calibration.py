"""Measure how well predicted probabilities are calibrated: reliability curve and Brier score."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.bootstrap import N_DRAWS, bootstrap
from analysis.intervals import Estimate, wilson
from analysis.learning._logistic import Bools, Floats
from analysis.results import Result

MAX_BINS, PER_BIN = 10, 20


@dataclass(frozen=True, repr=False)
class Bin(Result):
    """A group of items with similar predicted probabilities."""

    n: int
    probability: float  # mean probability of dissimilar
    share: Estimate  # share of dissimilar items, with Wilson's interval


@dataclass(frozen=True, repr=False)
class Calibration(Result):
    """Calibration of the predicted probability that an item is dissimilar.

    Attributes
    ----------
    bins : tuple of Bin
        Groups with equal numbers of items, in order of probability.
    brier : Estimate
        Mean squared error of the probabilities in [0, 1]; 0 is best. The interval comes from resampled applications.
    reliability, resolution, uncertainty, within_bins : float
        brier = reliability - resolution + uncertainty + within_bins [1]_. Reliability is the mean squared distance of
        the curve from the diagonal (0 is best). Resolution is how much the shares of the bins differ. Uncertainty is
        the score if only the overall share is known. within_bins is the loss from binning.
    reference : float
        Brier score of the prediction that is the share of dissimilar items for each item. It is equal to the
        uncertainty.

    References
    ----------
    .. [1] Stephenson, Coelho, Jolliffe (2008), Weather and Forecasting 23:752-757, doi:10.1175/2007WAF2006116.1
    """

    bins: tuple[Bin, ...]
    brier: Estimate
    reliability: float
    resolution: float
    uncertainty: float
    within_bins: float

    @property
    def reference(self) -> float:
        """Return the Brier score if the prediction for each item is the share of dissimilar items."""
        return self.uncertainty


def calibration(
    dissimilar: Bools,
    probability: Floats,
    group: NDArray[np.intp],
    *,
    rng: np.random.Generator,
    n_draws: int = N_DRAWS,
    level: float = 0.95,
) -> Calibration:
    """Compare predicted probabilities with the categories of the items.

    Raises ValueError if there are no items, or a probability is not within [0, 1].

    Parameters
    ----------
    dissimilar : ndarray of bool, shape (n,)
    probability : ndarray of float, shape (n,)
        Probability of dissimilar, from models that were not fitted on these items.
    group : ndarray of int, shape (n,)
        Number of each item's application.

    Examples
    --------
    >>> result = calibration(np.array([True, False]), np.array([0.75, 0.25]), np.array([0, 1]),
    ...                      rng=np.random.default_rng(1))
    >>> result.brier.value, result.uncertainty
    (0.0625, 0.25)
    """
    n = len(probability)
    if not n or not ((probability >= 0) & (probability <= 1)).all():
        raise ValueError("probability must be at least one number, and all numbers must be within [0, 1]")
    y, share = dissimilar.astype(np.float64), float(dissimilar.mean())
    parts = np.array_split(np.argsort(probability, kind="stable"), max(1, min(MAX_BINS, n // PER_BIN)))
    bins = [Bin(len(part), float(probability[part].mean()), wilson(int(y[part].sum()), len(part), level))
            for part in parts]  # fmt: skip
    size = np.array([len(part) for part in parts]) / n
    mean, seen = (np.array([values[part].mean() for part in parts]) for values in (probability, y))
    squared = (probability - y) ** 2
    brier = bootstrap(
        lambda weights: weights @ squared / weights.sum(axis=1), n, rng=rng, n_draws=n_draws, level=level, groups=group
    )
    reliability, resolution = float(size @ (mean - seen) ** 2), float(size @ (seen - share) ** 2)
    uncertainty = share * (1 - share)
    within = float(squared.mean()) - (reliability - resolution + uncertainty)
    return Calibration(tuple(bins), brier, reliability, resolution, uncertainty, within)
