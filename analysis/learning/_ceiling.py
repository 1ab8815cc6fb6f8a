"""Compute the best performance that wrong labels allow, from the labels that reviewers changed in retests."""

from collections.abc import Callable
from dataclasses import dataclass

from analysis.intervals import Estimate, wilson
from analysis.results import Result

LEAST_RETESTS = 20  # with fewer retests, the share of wrong labels is too uncertain to be printed


@dataclass(frozen=True, repr=False)
class Ceiling(Result):
    """The best results that a perfect classifier can reach on labels of which some are wrong."""

    n_retests: int
    n_changed: int
    error: Estimate  # probability that a label of the target is wrong
    accuracy: Estimate
    auc: Estimate


def ceiling(n_changed: int, n_retests: int, share: float, *, n_agreeing: int = 1, level: float = 0.95) -> Ceiling:
    """Return the highest accuracy and area under the ROC curve that labels with errors allow.

    If the errors of two labels of the same reviewer on an item are independent, the share f of changed labels is
    2 e (1 - e), so a label is wrong with the probability e = (1 - sqrt(1 - 2 f)) / 2. Raises ValueError if a number is
    out of range.

    Parameters
    ----------
    n_changed, n_retests : int
        Number of retests in which the label changed, and number of all retests.
    share : float
        Share of dissimilar among the labels of the target, in [0, 1].
    n_agreeing : int
        Number of independent equal labels that an item of the target has: 1 if single labels are the target, 2 for
        items with two equal labels, which are wrong with the probability e^2 / (e^2 + (1 - e)^2).
    level : float
        Confidence level; all intervals follow from Wilson's interval of the share of changed labels.

    Returns
    -------
    Ceiling
        Undefined with fewer than 20 retests.

    Examples
    --------
    >>> found = ceiling(36, 200, 0.5)
    >>> round(found.error.value, 3), round(found.accuracy.value, 3), round(found.auc.value, 3)
    (0.1, 0.9, 0.9)
    """
    if not 0 <= n_changed <= n_retests or not 0 <= share <= 1:
        raise ValueError(f"n_changed must be within 0..n_retests and share within [0, 1], got {n_changed} of "
                         f"{n_retests} and {share}")  # fmt: skip
    if n_retests < LEAST_RETESTS:
        none = Estimate(None, reason=f"fewer than {LEAST_RETESTS} retests ({n_retests})")
        return Ceiling(n_retests, n_changed, none, none, none)
    changed = wilson(n_changed, n_retests, level)

    def error(f: float) -> float:
        e = (1 - max(1 - 2 * f, 0.0) ** 0.5) / 2
        return float(e**n_agreeing / (e**n_agreeing + (1 - e) ** n_agreeing))

    def auc(f: float) -> float:
        e = error(f)
        if e >= 0.5 or share in (0, 1):
            return 0.5
        p = min(max((share - e) / (1 - 2 * e), 0.0), 1.0)  # true share of dissimilar items
        a, b = e * (1 - p) / share, e * p / (1 - share)
        return 0.5 + 0.5 * max(1 - a - b, 0.0)

    return Ceiling(
        n_retests, n_changed, _mapped(changed, error), _mapped(changed, lambda f: 1 - error(f)), _mapped(changed, auc)
    )


def _mapped(share: Estimate, to: Callable[[float], float]) -> Estimate:
    value, *ends = (to(x) for x in share.ends or ())
    return Estimate(value, low=min(ends), high=max(ends))
