"""Two reports number by number: what a report says, against what the same data give now."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

ROUNDING = 1e-15  # what is left of a sum that should be 0

# when and with what it was made may change, and what others published is not computed
NOT_COMPARED = re.compile(r"(study\.(reported_utc|chain)|versions|published)($|[.\[])")


# what reports of the form without `show_rejected` had otherwise, or not at all
OF_LATER_FORM = re.compile(
    r"parameters\.show_rejected$|reviewers_follow($|\.)|agreement\.(jackknife|if_given|confidence|time_on_task|disputed)|consensus\.latent\.|"
    r"classifiers(\.|\[).*(\.|\])(always_dissimilar|baseline|mcc|by_consensus\.latent)"
    r"($|\.)|.*\.(p_mid|p_holm|warning)$"
)


@dataclass(frozen=True)
class Difference:
    """A place in the report where two of them differ; None where one has nothing there."""

    place: str
    reported: Any
    recomputed: Any


def differences(
    reported: Mapping[str, Any], recomputed: Mapping[str, Any], *, tolerance: float = 1e-9
) -> list[Difference]:
    """Where two reports differ.

    Parameters
    ----------
    reported, recomputed : mapping
        What `summarise` returns, or the same read back from JSON.
    tolerance : float
        Numbers whose relative difference is not larger are the same: another processor may differ in the last digits.
        A number of the size of rounding errors (below 1e-15) equals 0.

    Returns
    -------
    list of Difference
        In the order of the reported numbers; time and versions are not compared. In a report of an earlier form
        (without the parameter `show_rejected`), numbers that are now computed or withheld in another way are not
        compared either: those of the latent class model, of the baseline, and corrected p-values.

    Examples
    --------
    >>> differences({"agreement": {"percent": 0.5}}, {"agreement": {"percent": 0.6}})
    [Difference(place='agreement.percent', reported=0.5, recomputed=0.6)]
    """
    ours, theirs = dict(_leaves(recomputed)), dict(_leaves(reported))
    places = [*theirs, *(place for place in ours if place not in theirs)]
    if is_of_earlier_form(reported):
        places = [place for place in places if not OF_LATER_FORM.match(place)]
    return [
        Difference(place, theirs.get(place), ours.get(place))
        for place in places
        if not NOT_COMPARED.match(place)
        and not (place in ours and place in theirs and _same(theirs[place], ours[place], tolerance))
    ]


def is_of_earlier_form(report: Mapping[str, Any]) -> bool:
    """Whether a report was written before models were marked and withheld."""
    parameters = report.get("parameters")
    return isinstance(parameters, Mapping) and "show_rejected" not in parameters


def _leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every number, text and empty collection with its place, as `agreement.pairs[0].percent.value`."""
    if isinstance(value, Mapping) and value:
        for name, entry in value.items():
            yield from _leaves(entry, _entry_place(place, str(name)))
    elif isinstance(value, (list, tuple)) and value:
        for index, entry in enumerate(value):
            yield from _leaves(entry, f"{place}[{index}]")
    else:
        yield place, value


def _entry_place(place: str, name: str) -> str:
    """The place of an entry; a name that could be taken for a place is quoted."""
    if not re.fullmatch(r"[\w -]+", name):
        return f"{place}[{json.dumps(name)}]"
    return f"{place}.{name}" if place else name


def _same(a: Any, b: Any, tolerance: float) -> bool:
    are_numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in (a, b))
    if are_numbers:
        return math.isclose(a, b, rel_tol=tolerance) or (0 in (a, b) and abs(a - b) < ROUNDING)
    if isinstance(a, (Mapping, list, tuple)) and isinstance(b, (Mapping, list, tuple)):
        return len(a) == len(b) == 0
    return type(a) is type(b) and bool(a == b)
