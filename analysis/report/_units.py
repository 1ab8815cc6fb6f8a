"""Whether the numbers of a report count items or applications: the only place that decides it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.document import counted
from analysis.statistics.intervals import LEAST_GROUPS

BY_APPLICATION, BY_BOTH, BY_ITEM = "applications", "items and applications", "items"
ENOUGH_APPLICATIONS = 10  # from here on, all claims are by application


@dataclass(frozen=True)
class Units:
    """The units that intervals and tests count, because the items of one application are alike.

    With ten applications or more, they count applications. With five to nine, a claim needs both intervals. With fewer,
    they count items, and the report says so.
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
                f"Intervals count items; a statement on agreement also needs the interval by application ({n}), and "
                "tests of classifiers count applications."
            )
        if self.n_applications:
            return f"Intervals and tests count items one by one, because there {_verb(self.n_applications)} only {n}."
        return "Intervals and tests count items one by one, because the applications of the items are unknown."


def _verb(n: int) -> str:
    return "is" if n == 1 else "are"


def units_of(items: Iterable[object], applications: Mapping[object, object]) -> Units:
    """Decide on the units from the items with two labels; `applications`: item -> application."""
    known = [applications[item] for item in items if item in applications]
    n = len(set(known))
    by = BY_APPLICATION if n >= ENOUGH_APPLICATIONS else BY_BOTH if n >= LEAST_GROUPS else BY_ITEM
    return Units(by, n)


def groups_of_items(items: "pd.Index[Any]", applications: Mapping[object, object], units: Units) -> "pd.Series | None":
    """Return the application of each item, or the item itself if it has none; None if items are counted one by one."""
    if units.by == BY_ITEM:
        return None
    return pd.Series([applications.get(item, ("item", item)) for item in items], index=items, dtype=object)
