"""Correct p values for multiple tests."""

from collections.abc import Sequence

ROUNDING = 1e-9  # a p value may exceed 1 by a rounding error


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Correct p values by Holm's step-down method [1]_; a p of None stays None and does not count as a test.

    Parameters
    ----------
    p : sequence of float or None
        In [0, 1].

    Returns
    -------
    list of float or None
        Corrected values in the order of `p`. Reject a hypothesis if its corrected value is at most alpha.

    Raises
    ------
    ValueError
        If a p is not within [0, 1].

    References
    ----------
    .. [1] Holm (1979), Scandinavian Journal of Statistics 6:65-70, https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    ascending = sorted((value, i) for i, value in enumerate(_checked(p)) if value is not None)
    corrected: list[float | None] = [None] * len(p)
    highest = 0.0
    for done, (value, i) in enumerate(ascending):
        highest = max(highest, min(1.0, (len(ascending) - done) * value))
        corrected[i] = highest
    return corrected


def bonferroni(p: Sequence[float | None]) -> list[float | None]:
    """Correct p values by Bonferroni's method: multiply them by the number of tests, up to 1.

    A p of None stays None and does not count as a test.

    Parameters
    ----------
    p : sequence of float or None
        In [0, 1].

    Returns
    -------
    list of float or None
        Corrected values in the order of `p`.

    Raises
    ------
    ValueError
        If a p is not within [0, 1].

    Examples
    --------
    >>> bonferroni([0.01, None, 0.75])
    [0.02, None, 1.0]
    """
    n = sum(value is not None for value in _checked(p))
    return [None if value is None else min(1.0, n * value) for value in p]


def _checked(p: Sequence[float | None]) -> Sequence[float | None]:
    """Return the p values; raise ValueError if one is not within [0, 1]."""
    for i, value in enumerate(p):
        if value is not None and not 0 <= value <= 1 + ROUNDING:
            raise ValueError(f"p[{i}] must be within [0, 1] or None, got {value}")
    return p
