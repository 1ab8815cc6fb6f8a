"""Pictures of one series of points: one value or several values at each position, and a line.

A panel of this kind shows a history (positions are versions) or one run (positions are iterations). Positions start at
0. All values are in the data, so that a reviewer can point at each position; only series of more than 200,000 points
are shortened to the lowest and the highest value of consecutive positions.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from analysis.arrays import Series
from labeler.studies.model import Protocol
from labeler.studies.screen import binning
from labeler.studies.screen.blinding import Shift, Variation
from labeler.studies.screen.thumbnails import DARK, DOT, FRAME, GAP, INK

VERSION = 1
MAX_POINTS = 200_000
MARK = "#b35806"
N_COLUMNS, N_ROWS = 5, 2  # a small picture is as large as this many panels of a small picture of runs


def payload(
    values: Series,
    at: Sequence[int] | None,
    n: int,
    middles: Series,
    axes: Mapping[str, binning.Limits],
    unit: str,
    protocol: Protocol,
) -> dict[str, Any]:
    """Return the data of a panel of points.

    `at` has the position of each value, None if value i is at position i. `n` is the number of positions. `middles`
    are the heights of the line, each in the middle of an equal part of the positions.
    """
    return {
        "version": VERSION,
        "rule": protocol.axis_rule,
        "min_span": protocol.min_span,
        "unit": unit,
        "n": n,
        "median": float(np.median(values)),
        "axes": {view: list(limits) for view, limits in axes.items()},
        "values": _packed(values),
        "at": None if at is None else _packed(np.asarray(at, dtype=float)),
        "middles": _packed(middles),
    }


def shortened(values: Series) -> tuple[Series, list[int] | None]:
    """Return the values to draw and their positions: all, or the lowest and highest of consecutive positions."""
    if len(values) <= MAX_POINTS:
        return values, None
    starts = binning.starts_of(len(values), MAX_POINTS // 2)
    ends = np.stack([np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)], axis=1)
    return ends.ravel(), np.repeat(starts, 2).tolist()


def varied(payload: Mapping[str, Any], _runs: Sequence[Series], variation: Variation) -> dict[str, Any]:
    """Return the payload with values that are shifted by less than the eye can see; positions stay as they are."""
    shift = Shift(payload, variation.seed)
    offset, factor = shift.scale
    with np.errstate(over="ignore"):
        moved = {
            name: _packed((shift(binning.unpacked(payload[name])) - offset) / factor) for name in ("values", "middles")
        }
    return {
        **payload,
        **moved,
        "scale": [offset, factor],
        "median": float(shift(np.array(payload["median"]))),
        "axes": {view: shift(np.array(limits)).tolist() for view, limits in payload["axes"].items()},
    }


def panels(payload: Mapping[str, Any], **_sides: Any) -> list[dict[str, Any]]:
    """Return one panel."""
    return [{"kind": "points", **payload}]


def thumbnail(
    payload: Mapping[str, Any],
    *,
    label: str,
    panel: tuple[int, int] = (34, 26),
    height: int | None = None,
    marks: Iterable[int] = (),
) -> str:
    """Draw the points and their line very small, by the same axis as on the labelling screen, with marks."""
    width = N_COLUMNS * (panel[0] + GAP) - GAP
    height = height or N_ROWS * (panel[1] + GAP) - GAP
    low, high = payload["axes"][payload["rule"]]
    n, line = payload["n"], binning.series_of(payload, payload, "middles")

    def place(share: float, value: float) -> str:
        y = (1 - (value - low) / (high - low)) * height
        return f"{share * width:.1f} {min(max(y, 0.0), height):.1f}"

    values = binning.series_of(payload, payload, "values").tolist()
    at = range(len(values)) if payload["at"] is None else binning.unpacked(payload["at"]).tolist()
    every = max(1, len(values) // (4 * width))  # more dots would only cover each other
    dots = "".join(f"M{place((i + 0.5) / n, v)}h1" for i, v in list(zip(at, values, strict=True))[::every])
    path = "M" + "L".join(place((i + 0.5) / len(line), value) for i, value in enumerate(line.tolist()))
    lines = "".join(f"M{(mark + 0.5) / n * width:.1f} 0V{height}" for mark in marks)
    marked = f'<path d="{lines}" stroke="{MARK}" stroke-width="1.5"/>' if lines else ""
    size = f"{width + 1}", f"{height + 1}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(label)}" width="{size[0]}" '
        f'height="{size[1]}" viewBox="-0.5 -0.5 {size[0]} {size[1]}">{DARK}'
        f'<path d="{dots}" stroke="{DOT}" stroke-opacity="0.6"/>'
        f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="1.3"/>'
        f'{marked}<rect width="{width}" height="{height}" fill="none" stroke="{FRAME}"/></svg>'
    )


def chart(payload: Mapping[str, Any], *, rule: str | None = None) -> Any:
    """Return a chart of the points and their line."""
    from labeler.studies.screen import charts

    values = binning.series_of(payload, payload, "values")
    at = np.arange(len(values)) if payload["at"] is None else binning.unpacked(payload["at"])
    return charts.points(payload, values, at, binning.series_of(payload, payload, "middles"), rule=rule)


def _packed(values: Series) -> str:
    return binning.packed_rows(values[np.newaxis])[0]
