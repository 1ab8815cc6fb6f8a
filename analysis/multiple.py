"""Corrections of p-values for several tests of one question."""

from collections.abc import Sequence


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction [1]_; None stays None and counts for nothing.

    Parameters
    ----------
    p : sequence of float or None
        In [0, 1].

    Returns
    -------
    list of float or None
        In the order of `p`; reject where it is at most alpha.

    References
    ----------
    .. [1] Holm (1979), Scandinavian Journal of Statistics 6:65-70, https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    return _corrected(p, "holm")


def bonferroni(p: Sequence[float | None]) -> list[float | None]:
    """Bonferroni's correction: each p times their number, at most 1; None stays None and counts for nothing.

    Parameters
    ----------
    p : sequence of float or None
        In [0, 1].

    Returns
    -------
    list of float or None
        In the order of `p`.

    Examples
    --------
    >>> bonferroni([0.01, None, 0.75])
    [0.02, None, 1.0]
    """
    return _corrected(p, "bonferroni")


def _corrected(p: Sequence[float | None], method: str) -> list[float | None]:
    from statsmodels.stats.multitest import multipletests  # slow to import

    known = [value for value in p if value is not None]
    corrected = iter(multipletests(known, method=method)[1].tolist() if known else [])
    return [None if value is None else next(corrected) for value in p]
