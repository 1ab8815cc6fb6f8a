"""Check the verdicts of classifiers from other packages."""

import math
from typing import Any

import numpy as np

from analysis.categories import CATEGORIES
from analysis.classifiers import Verdict
from analysis.runs import Floats, Runs


def checked(name: str, result: object, shared: Runs) -> Verdict:
    """Check what a classifier from another package returned, and return it as a verdict with plain values.

    The registered name replaces the name inside the verdict. The result has only plain numbers, tuples and arrays, so
    that it can be stored. Raises TypeError, ValueError if `result` is not a verdict, or contains an unknown category, a
    number that is not finite, or clusters or pairs for another number of runs.
    """
    if not isinstance(result, Verdict):
        raise TypeError(f"the classifier returned {type(result).__name__}, not a Verdict")
    if result.verdict not in (*CATEGORIES, None):
        raise ValueError(
            f"the classifier gave the verdict {result.verdict!r}, which is not one of: {', '.join(CATEGORIES)}"
        )
    n_pairs = shared.k * (shared.k - 1) // 2
    return Verdict(
        name,
        result.verdict,
        score=_optional(result.score, "score"),
        threshold=_optional(result.threshold, "threshold"),
        reason=str(result.reason or "the classifier gave no verdict and no reason") if result.verdict is None else None,
        means={str(measure): _number(value, f"mean {measure}") for measure, value in result.means.items()},
        clusters=tuple(map(int, _sized(list(result.clusters), shared.k, "clusters") if result.clusters else ())),
        pairs={
            str(measure): _array(values, (n_pairs,), f"pairs {measure}") for measure, values in result.pairs.items()
        },
        linkage=None if result.linkage is None else _array(result.linkage, (shared.k - 1, 4), "linkage"),
        n_runs=shared.k,
        n_iterations=shared.n,
    )


def _number(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"the classifier gave the {name} {value!r}, which is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"the classifier gave the {name} {number}, which is not finite")
    return number


def _optional(value: Any, name: str) -> float | None:
    return None if value is None else _number(value, name)


def _array(values: Any, shape: tuple[int, ...], name: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(
            f"the classifier gave {name} of shape {array.shape}; {name} must have shape {shape} and only finite numbers"
        )
    return array


def _sized(values: list[Any], n: int, name: str) -> list[Any]:
    if len(values) != n:
        raise ValueError(f"the classifier gave {len(values)} {name} for {n} runs")
    return values
