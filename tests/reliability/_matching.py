"""Attackers who compare transmitted data to find two plots of the same item; and the result expected by chance."""

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from scipy import stats

from labeler.studies.screen.binning import SERIES, series_of, shares_of, unpacked

Picture = Mapping[str, Any]
Sent = TypeVar("Sent")
P_CHANCE = 1e-4  # the probability of finding as many by chance alone


def as_bytes(picture: Picture) -> set[Any]:
    """Return the whole plot."""
    return {json.dumps(picture, sort_keys=True)}


def as_hashes(picture: Picture) -> set[Any]:
    """Each run, packed series and axis separately, at any place; and all runs in a fixed order."""
    runs = [json.dumps(run, sort_keys=True) for run in picture["runs"]]
    series = [run[name] for run in picture["runs"] for name in SERIES]
    return {
        *runs,
        *series,
        *as_lanes(picture),
        "".join(sorted(runs)),
        *(json.dumps(limits) for limits in picture["axes"].values()),
    }


def as_lanes(picture: Picture) -> set[Any]:
    """What each run has beyond the axis of each view."""
    return {(view, text) for run in picture["runs"] for view, text in run["beyond"].items()}


def as_values(picture: Picture) -> set[Any]:
    """Return every number in the plot, as transmitted and as drawn."""
    packed = {value for run in picture["runs"] for name in SERIES for value in unpacked(run[name]).tolist()}
    packed |= {value for run in picture["runs"] for name in SERIES for value in series_of(picture, run, name).tolist()}
    limits = {limit for pair in picture["axes"].values() for limit in pair}
    packed |= {share for run in picture["runs"] for view in run["beyond"] for share in shares_in(picture, run, view)}
    return {*packed, *limits, picture["median"], picture["n"], *(run["n"] for run in picture["runs"])}


def shares_in(picture: Picture, run: Mapping[str, Any], view: str) -> set[float]:
    """Return the shares beyond the axis that are neither nothing nor everything."""
    return set(shares_of(picture, run, view).ravel().tolist()) - {0.0, 1.0}


def as_shapes(picture: Picture) -> set[Any]:
    """What the eye sees: the quantiles of the runs to three digits of the axis, and the heights in the lanes."""
    low, high = picture["axes"][picture["rule"]]
    return {
        round((value - low) / (high - low), 3)
        for run in picture["runs"]
        for value in series_of(picture, run, "quantiles")
    } | {
        (view, round(share, 1))
        for run in picture["runs"]
        for view in picture["axes"]
        for share in shares_of(picture, run, view).ravel().tolist()
    }


def as_levels(picture: Picture) -> set[Any]:
    """Return the pooled median to four digits, as on the axis."""
    return {f"{picture['median']:.3e}"}


BY_BYTES: Mapping[str, Callable[[Picture], set[Any]]] = {"bytes": as_bytes, "hashes": as_hashes, "values": as_values}
BY_LOOKING: Mapping[str, Callable[[Picture], set[Any]]] = {"shapes": as_shapes, "levels": as_levels}


def n_found(wanted: Sequence[tuple[Sent, int]], among: Sequence[Sent], marks: Callable[[Sent], set[Any]]) -> int:
    """The number of plots that an attacker recognises: the candidate with the most, and the rarest, features in common.

    Parameters
    ----------
    wanted : sequence of (picture, place of the picture of the same item in `among`)
    among : sequence of picture
    marks : callable
        What the attacker compares.
    """
    rng = random.Random(1)
    places: dict[Any, list[int]] = defaultdict(list)  # of the candidates that have a feature
    for candidate, picture in enumerate(among):
        for mark in marks(picture):
            places[mark].append(candidate)
    hits = 0
    for picture, place in wanted:
        scores = [0.0] * len(among)
        for having in filter(None, map(places.get, marks(picture))):
            for candidate in having:
                scores[candidate] += 1 / len(having)
        best = max(scores)
        hits += rng.choice([i for i, score in enumerate(scores) if score == best]) == place
    return hits


def at_chance(hits: int, n_wanted: int, n_among: int) -> bool:
    """Return whether guessing would find as many more often than once in 10,000 times."""
    return float(stats.binom.sf(hits - 1, n_wanted, 1 / n_among)) > P_CHANCE


def in_words(found: Iterable[tuple[str, int]], n_wanted: int, n_among: int) -> str:
    """Return the number of plots that each attacker found, and the number expected by chance."""
    told = ", ".join(f"{name} {hits}" for name, hits in found)
    return f"{n_wanted} of {n_among} plots: found by {told}; by chance {n_wanted / n_among:.1f}"
