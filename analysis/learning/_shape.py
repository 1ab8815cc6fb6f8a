"""Compute features from the shape of each run: its level, trend, memory, tails and end, and how these differ."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MIN_ITERATIONS = 20
CLIP = (0.5, 99.5)  # percentiles of a run; values outside are set to these limits
LAGS = (1, 10, 100)
LAST, FIRST = 500, 50  # iterations at the end and at the beginning of a run
SETTLED = 0.05  # a run has settled once it stays this close to its final level
N_SMOOTH = 60  # windows of the smoothed run


@dataclass(frozen=True)
class Property:
    """A number that describes one run, computed from the logs of its measurements without outliers."""

    name: str
    title: str
    value: Callable[[Floats], float]


def _slope(values: Floats) -> float:
    """Return the slope of a straight line through the values, over the whole series."""
    n = len(values)
    place = np.arange(n) - (n - 1) / 2
    return float(n * (place @ values) / (place @ place))


def _autocorrelation(lag: int, values: Floats) -> float:
    centred = values - values.mean()
    total = float(centred @ centred)
    if len(values) <= lag or total <= 0:
        return 0.0
    return float(centred[lag:] @ centred[:-lag]) / total


def _half(values: Floats) -> Floats:
    return values[len(values) // 2 :]


def _settling(values: Floats) -> float:
    """Return the share of the run before its smoothed level stays near the final level."""
    level = float(np.median(values[-min(LAST, len(values)) :]))
    away = np.nonzero(np.abs(_smooth(values) - level) > np.log1p(SETTLED))[0]
    return float((away[-1] + 1) / N_SMOOTH) if len(away) else 0.0


def _smooth(values: Floats) -> Floats:
    """Return the medians of equal windows of a run."""
    edges = np.linspace(0, len(values), min(N_SMOOTH, len(values)) + 1).astype(int)
    return np.array([np.median(values[a:b]) for a, b in pairwise(edges)])


PROPERTIES: tuple[Property, ...] = (
    Property("level", "median", lambda v: float(np.median(v))),
    Property("level_half", "median of the second half", lambda v: float(np.median(_half(v)))),
    Property("level_last", f"median of the last {LAST} iterations", lambda v: float(np.median(v[-LAST:]))),
    Property("level_first", f"median of the first {FIRST} iterations", lambda v: float(np.median(v[:FIRST]))),
    Property("low", "5 % quantile of the second half", lambda v: float(np.quantile(_half(v), 0.05))),
    Property("high", "95 % quantile of the second half", lambda v: float(np.quantile(_half(v), 0.95))),
    Property("width", "interquartile range of the second half",
             lambda v: float(np.subtract(*np.quantile(_half(v), [0.75, 0.25])))),
    Property("slope", "slope of the second half", lambda v: _slope(_half(v))),
    *(
        Property(f"memory_{lag}", f"autocorrelation at lag {lag}", partial(_autocorrelation, lag))
        for lag in LAGS
    ),
    Property("warmup", "first tenth against the second half",
             lambda v: float(np.median(v[: max(1, len(v) // 10)]) - np.median(_half(v)))),
    Property("settling", f"last place more than {100 * SETTLED:g} % from the final level", _settling),
)  # fmt: skip


@dataclass(frozen=True)
class Summary:
    """A number that says how far the runs differ in a property."""

    name: str
    title: str
    value: Callable[[Floats], float]


def _range(values: Floats) -> float:
    return float(values.max() - values.min())


def _largest_gap(values: Floats) -> float:
    return float(np.diff(np.sort(values)).max()) if len(values) > 1 else 0.0


def _one_odd(values: Floats) -> float:
    """Return how much farther from the median the farthest run is than the second farthest, between 0 and 1."""
    distances = np.sort(np.abs(values - np.median(values)))
    return float(1 - distances[-2] / distances[-1]) if len(values) > 2 and distances[-1] > 0 else 0.0


SUMMARIES = (
    Summary("range", "range", _range),
    Summary("sd", "standard deviation", lambda v: float(v.std(ddof=1)) if len(v) > 1 else 0.0),
    Summary("gap", "largest gap", _largest_gap),
    Summary("odd", "one odd run", _one_odd),
)


def shape_names() -> Iterator[tuple[str, str]]:
    """Yield name and title of each feature of the shape."""
    for of_run in PROPERTIES:
        for summary in SUMMARIES:
            yield f"{of_run.name}_{summary.name}", f"{of_run.title}, {summary.title} over the runs"
    yield "shapes_mean", "mean distance of the runs' smoothed shapes, 1 - correlation"
    yield "shapes_farthest", "largest distance of two runs' smoothed shapes, 1 - correlation"


def can_be_shaped(runs: Sequence[Floats]) -> bool:
    """Return whether there are at least two runs, all long enough and positive."""
    return len(runs) > 1 and min(map(len, runs)) >= MIN_ITERATIONS and all((run > 0).all() for run in runs)


def shape_features(runs: Sequence[Floats]) -> Mapping[str, float] | None:
    """Return the features of the shape of the runs of a benchmark; None if a run is too short or not positive.

    `runs` (shape (n_iterations,)): at least two runs with positive measurements.
    """
    if not can_be_shaped(runs):
        return None
    logs = [np.log(run) for run in runs]
    clipped = [np.clip(log, *np.percentile(log, CLIP)) for log in logs]
    found = {}
    for of_run in PROPERTIES:
        values = np.array([of_run.value(run) for run in clipped])
        for summary in SUMMARIES:
            found[f"{of_run.name}_{summary.name}"] = summary.value(values)
    shapes = [shape - shape.mean() for shape in (_smooth(run) for run in clipped)]
    distances = [_distance(one, other) for one, other in combinations(shapes, 2)]
    return found | {"shapes_mean": float(np.mean(distances)), "shapes_farthest": float(np.max(distances))}


def _distance(one: Floats, other: Floats) -> float:
    n = min(len(one), len(other))
    size = float(np.sqrt((one[:n] @ one[:n]) * (other[:n] @ other[:n])))
    return 1.0 - float(one[:n] @ other[:n]) / size if size > 0 else 0.0
