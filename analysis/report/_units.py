"""Whether the numbers of a report count items or applications: the only place that decides it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from analysis.document import counted
from analysis.statistics.intervals import ENOUGH_GROUPS, LEAST_GROUPS, Estimate, Groups

BY_APPLICATION, BY_BOTH, BY_ITEM = "applications", "items and applications", "items"
SIGN_FLIPS = (
    "With five applications or more, the test flips the signs of whole applications; with fewer than ten, the p value "
    "of single items counts if it is larger. Intervals of differences assume independent items and are not corrected."
)


@dataclass(frozen=True)
class Units:
    """The units that intervals and tests count, because the items of one application are alike.

    With ten applications or more, they count applications. With five to nine, a claim needs both: an interval holds the
    one that counts items and the one that counts applications, and of two tests, the larger p counts. With fewer, they
    count items, and the report says so.
    """

    by: str
    n_applications: int  # of the items with two labels; 0 if no application is known

    @property
    def words(self) -> str:
        """Say in one sentence what intervals and tests count."""
        if self.by == BY_APPLICATION:
            return f"Intervals and tests count the {self.n_applications} applications, whose items are alike."
        n = counted(self.n_applications, "application")
        if self.by == BY_BOTH:
            return (
                f"There are only {n}, so an interval holds the one that counts items and the one that counts "
                "applications, and a test must find the same both ways."
            )
        if self.n_applications:
            return f"Intervals and tests count items one by one, because there {_verb(self.n_applications)} only {n}."
        return "Intervals and tests count items one by one, because the applications of the items are unknown."


def _verb(n: int) -> str:
    return "is" if n == 1 else "are"


def applications_of(*tables: pd.DataFrame) -> dict[object, object]:
    """Return the application of each item that has one; a later table counts more."""
    names: dict[object, object] = {}
    for rows in tables:
        if "application" in rows:
            names |= dict(zip(rows["item"].to_numpy(object), rows["application"].to_numpy(object), strict=True))
    return {item: application for item, application in names.items() if isinstance(application, str) and application}


def units_of(items: Iterable[object], applications: Mapping[object, object]) -> Units:
    """Decide on the units from the items with two labels; `applications`: item -> application."""
    known = [applications[item] for item in items if item in applications]
    n = len(set(known))
    by = BY_APPLICATION if n >= ENOUGH_GROUPS else BY_BOTH if n >= LEAST_GROUPS else BY_ITEM
    return Units(by, n)


def groups_of_items(items: "pd.Index[Any]", applications: Mapping[object, object], units: Units) -> "pd.Series | None":
    """Return the application of each item, or the item itself if it has none; None if items are counted one by one."""
    if units.by == BY_ITEM:
        return None
    return pd.Series([applications.get(item, ("item", item)) for item in items], index=items, dtype=object)


def estimate_by(units: Units, estimate: Callable[..., Estimate], groups: Groups | None) -> Estimate:
    """Return an estimate with the interval that counts; `estimate(groups=...)` computes it, without groups from items.

    Functions that test related items need no such choice: with five to nine groups, they return the larger p.
    """
    found = estimate(groups=groups)
    if units.by != BY_BOTH:
        return found
    plain = estimate(groups=None)
    if plain.low is None or plain.high is None or found.low is None or found.high is None:
        return found if found.low is None else plain
    low, high = min(plain.low, found.low), max(plain.high, found.high)
    return replace(plain if plain.low < found.low else found, low=low, high=high)
