"""A verdict from a classifier of another package, checked and made of plain values, so that it can be kept anywhere."""

import math
from typing import Any

import numpy as np

from analysis.categories import CATEGORIES
from analysis.classifiers import Verdict
from analysis.runs import Floats, Runs


def checked(name: str, given: object, shared: Runs) -> Verdict:
    """The verdict as one of the classifier `name` on these runs.

    Parameters
    ----------
    name : str
        Under which the classifier is registered; what the verdict calls itself does not count.
    given : object
        What the classifier returned.
    shared : Runs
        What it was given.

    Returns
    -------
    Verdict
        Of plain numbers, tuples and arrays.

    Raises
    ------
    TypeError, ValueError
        If it is no verdict, or holds what cannot be one: another category, a number that is not finite, clusters or
        pairs of another number of runs.
    """
    if not isinstance(given, Verdict):
        raise TypeError(f"gave {type(given).__name__}, not a Verdict")
    if given.verdict not in (*CATEGORIES, None):
        raise ValueError(f"gave the verdict {given.verdict!r}, which is not one of: {', '.join(CATEGORIES)}")
    n_pairs = shared.k * (shared.k - 1) // 2
    return Verdict(
        name,
        given.verdict,
        score=_optional(given.score, "score"),
        threshold=_optional(given.threshold, "threshold"),
        reason=str(given.reason or "it gave no verdict and no reason") if given.verdict is None else None,
        means={str(measure): _number(value, f"mean {measure}") for measure, value in given.means.items()},
        clusters=tuple(map(int, _sized(list(given.clusters), shared.k, "clusters") if given.clusters else ())),
        pairs={str(measure): _array(values, (n_pairs,), f"pairs {measure}") for measure, values in given.pairs.items()},
        linkage=None if given.linkage is None else _array(given.linkage, (shared.k - 1, 4), "linkage"),
        n_runs=shared.k,
        n_iterations=shared.n,
    )


def _number(value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"gave the {what} {value!r}, which is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"gave the {what} {number}, which is not finite")
    return number


def _optional(value: Any, what: str) -> float | None:
    return None if value is None else _number(value, what)


def _array(values: Any, shape: tuple[int, ...], what: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"gave {what} of shape {array.shape}, or not all finite; expected finite numbers, {shape}")
    return array


def _sized(values: list[Any], n: int, what: str) -> list[Any]:
    if len(values) != n:
        raise ValueError(f"gave {len(values)} {what} for {n} runs")
    return values
