"""Vary the pictures for reviewers, so that they cannot recognise an item by its data.

The unit does not reveal what was measured, and each assignment has a picture with different bytes.

Without these changes, reviewers could compare the data that they receive, and recognise a retest or an item of another
reviewer. Each assignment has a different order of the runs, and different boundaries of bins and windows. Its values
are shifted by less than the eye can see. A person who compares the shapes can still recognise an item, because the
shapes must not change.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import Series
from labeler.studies.screen import binning

MAX_SHIFT = 0.001  # share of the main axis, or of a larger distance from the median: 0.2 of 200 pixels
MAX_STRETCH = 0.003  # share of the number of iterations of a long run, because this number may identify an item
N_WAVES = 3
TINY = 1e-250
MAX_SHARE_SHIFT = 8 / binning.WHOLE  # maximum shift of a window's share beyond the axis: less than 0.5 of 12 pixels
SHARE_BYTES = 2  # per share of a window; with one byte, two pictures of a short run often had equal shares
LEAST_DRAWN = 1.5 / 12  # smaller shares are all drawn with the same height

_TIMES = ("s", "ms", "µs", "us", "ns", "min", "h")
_AMOUNTS = ("ops", "op", "B", "kB", "KB", "MB", "GB", "KiB", "MiB", "GiB", "bytes", "bit", "kbit", "Mbit", "Gbit")
_RATES = frozenset(f"{amount}/{time}" for amount in ("1", *_AMOUNTS) for time in _TIMES)
_PLAIN = frozenset((*_TIMES, *_AMOUNTS, "%", "Hz", "kHz", "MHz", "GHz", "W", "J", "", *_RATES))
_PER_TIME = {"s": "second", "sec": "second", "second": "second", "ms": "millisecond", "min": "minute", "h": "hour"}


@dataclass(frozen=True)
class Variation:
    """The changes that turn the picture of an item into the picture of one assignment."""

    order: tuple[int, ...]  # the run of the item that is shown in each position
    phase: float  # the width of the first bin and of the first window, in bins and windows, in [0.5, 1.5)
    seed: str  # determines the shifts of values; nobody can compute the secret of the study from this seed

    @classmethod
    def drawn(cls, secret: str, code: str, n_runs: int) -> "Variation":
        """Return the variation of the assignment with this code.

        The same secret and code give the same variation on every machine.
        """
        seed = hashlib.sha256(f"{secret} {code}".encode()).hexdigest()[:32]
        order = tuple(sorted(range(n_runs), key=lambda run: _share(seed, f"run {run}")))
        return cls(order, 0.5 + round(_share(seed, "phase"), 6), seed)

    def json_values(self) -> dict[str, Any]:
        """Return the variation as a dict, which is stored with a label."""
        return {**asdict(self), "order": list(self.order)}


def is_swapped(secret: str, code: str) -> bool:
    """Return whether the assignment with this code shows the two sides of its item in the other order.

    Each assignment draws the order anew, so a retest shows the other order half of the time.
    """
    return _share(hashlib.sha256(f"{secret} {code} sides".encode()).hexdigest()[:32], "sides") < 0.5


def neutral_unit(unit: str) -> str:
    """Return the unit to show to reviewers, which does not reveal what was measured.

    Units of time, size and rate are kept; all other units become "units".

    Examples
    --------
    >>> [neutral_unit(unit) for unit in ("s", "MB/s", "Kafka-producer records/s", "cache misses")]
    ['s', 'MB/s', 'units per second', 'units']
    """
    if unit in _PLAIN:
        return unit
    _, slash, time = unit.rpartition("/")
    per = _PER_TIME.get(time.strip()) if slash else None
    return f"units per {per}" if per else "units"


def varied(payload: Mapping[str, Any], runs: Sequence[Series], variation: Variation) -> dict[str, Any]:
    """Return the picture of an item, varied for one assignment.

    The measurements are needed because bins with other boundaries cannot be computed from the item's bins. The result
    has in addition `scale`, which is (offset, factor): a value is offset + factor * packed number. Without the scale,
    two pictures with thousands of values near one level would share many float32 values by chance. The shares in
    `beyond` are shifted slightly, because they would otherwise be the same in all pictures of an item.
    """
    shift = Shift(payload, variation.seed)
    stretch = 1 + MAX_STRETCH * _signed(variation.seed, "stretch")
    offset, factor = shift.scale
    quantiles = np.stack([binning.unpacked(payload["runs"][run]["quantiles"]) for run in variation.order])
    drawn_runs: list[dict[str, Any]] = []
    for block in binning.blocks_of([runs[run] for run in variation.order]):
        first, phase, n = len(drawn_runs), variation.phase, block.shape[1]
        series = (
            *binning.bins_of(block, phase), *binning.windows_of(block, phase), quantiles[first : first + len(block)],
        )  # fmt: skip
        with np.errstate(over="ignore"):
            shifted = (shift(np.concatenate(series, axis=1)) - offset) / factor  # one call, because calls take time
        parts = np.split(shifted, np.cumsum([values.shape[1] for values in series])[:-1], axis=1)
        beyond = {
            view: _moved(
                binning.beyond_of(block, limits, phase),
                [f"{variation.seed} {view} {first + run}" for run in range(len(block))],
            )
            for view, limits in payload["axes"].items()
        }
        shown_n = max(round(n * stretch), binning.MAX_BINS + 1) if n > binning.MAX_BINS else n
        drawn_runs += binning.packed_runs(n, shown_n, parts, beyond, SHARE_BYTES)
    return {
        **payload,
        "n": max(run["n"] for run in drawn_runs),
        "scale": [offset, factor],
        "median": float(shift(np.array(payload["median"]))),
        "axes": {rule: shift(np.array(limits)).tolist() for rule, limits in payload["axes"].items()},
        "runs": drawn_runs,
    }


def _moved(shares: NDArray[np.float64], seeds: Sequence[str]) -> NDArray[np.float64]:
    """Shift the shares of each run by less than the eye can see.

    A share of 0 stays 0, and the expected mean stays the same. Small shares are all drawn with the same height, so each
    small share is multiplied by a random factor between 0 and 2.
    """
    if not shares.any():
        return shares
    digests = (hashlib.shake_128(seed.encode()).digest(shares[0].size * SHARE_BYTES) for seed in seeds)
    noise = np.frombuffer(b"".join(digests), dtype=f"<u{SHARE_BYTES}").reshape(shares.shape)
    signed = noise / (binning.largest_code(SHARE_BYTES) / 2) - 1
    room = np.clip(1 - shares, 1 / binning.WHOLE, MAX_SHARE_SHIFT)  # no share ends at exactly 1
    shares = np.minimum(shares, 1 - room)
    moved = np.where(shares < LEAST_DRAWN, shares * (1 + signed), shares + room * signed)
    return np.where(shares > 0, np.clip(moved, 1 / binning.largest_code(SHARE_BYTES), 1), 0.0)


class Shift:
    """Shifts values by less than the eye can see and keeps their order and signs.

    Near the median, a value shifts by up to the share MAX_SHIFT of the main axis. Far from the median, a value shifts
    by up to the same share of its distance from the median.
    """

    def __init__(self, payload: Mapping[str, Any], seed: str) -> None:
        low, high = payload["axes"][payload["rule"]]
        self._middle, self._span = payload["median"], high - low
        if not TINY < self._span < 1 / TINY:
            self._span = 1.0  # no shift if a step overflows; no file format can contain such values
        self._base = _signed(seed, "base")
        waves = range(N_WAVES)
        self._sizes = [_signed(seed, f"size {wave}") for wave in waves]
        self._starts = [2 * np.pi * _share(seed, f"start {wave}") for wave in waves]
        self._speeds = [2.0 + 3 * wave for wave in waves]

        spread = self._span * 2 ** _signed(seed, "factor")
        self.scale = self._middle + spread * _signed(seed, "offset"), spread

    def __call__(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):
            at = np.arcsinh((values - self._middle) / self._span)
            waves = sum(
                size * np.sin(at * speed + start)
                for size, speed, start in zip(self._sizes, self._speeds, self._starts, strict=True)
            )
            moved = self._middle + self._span * np.sinh(at + MAX_SHIFT * (self._base + waves) / (1 + N_WAVES))
        # zeros do not change, because a logarithmic axis marks values that are not above 0
        good = np.isfinite(moved) & (np.sign(moved) == np.sign(values))
        result: NDArray[np.float64] = np.where(good, moved, values)
        return result


def _share(seed: str, name: str) -> float:
    """Return a number in [0, 1) that a hash derives from the seed.

    A random generator is not used, because a library may change its generator.
    """
    return int(hashlib.sha256(f"{seed} {name}".encode()).hexdigest()[:13], 16) / 16**13


def _signed(seed: str, name: str) -> float:
    return 2 * _share(seed, name) - 1
