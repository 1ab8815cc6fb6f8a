"""Browse and filter the items of a study; exclude items with a reason, and include them again."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from analysis.text import counted
from labeler.errors import InputError, NotAllowed
from labeler.safe_text import one_line
from labeler.studies.cache import cached, until_changed
from labeler.studies.items import drawing
from labeler.studies.model import Item, Kind
from labeler.studies.people.identity import checked_reason
from labeler.studies.plan.lifecycle import Action, require
from labeler.studies.store import Database, actions, assignments, events, items, studies, verdicts as stored_verdicts

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("item", "application", "benchmark", "runs", "iterations", "unit", "spread", "excluded")
MARK = " (classifier)"  # suffix for a classifier that has the same name as another column
SPREADS = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, math.inf)  # the values that the slider offers

MAX_SHORT, MIN_SHARED = 48, 4  # characters of a short name, and of a shared part that is left out
N_RANGES = 100_000  # number of ranges of medians cached in memory, so that a long list of items appears quickly

Catalogue: TypeAlias = "pd.DataFrame"
Limits = tuple[float, float]


@dataclass(frozen=True)
class Filter:
    """A filter for items, which keeps only items that meet all conditions."""

    text: str = ""  # words that must all occur in the item's name, benchmark or application, in upper or lower case
    applications: Sequence[str] = ()  # the applications to keep; if empty, items of all applications are kept
    # (classifier, verdict): keep only items to which this classifier gave this verdict. None keeps all items.
    verdict: tuple[str, str] | None = None
    disagreeing: bool = False  # whether to keep only items to which at least two classifiers gave different verdicts
    spread: Limits | None = None  # the smallest and largest accepted value; None accepts all values
    iterations: Limits | None = None
    with_excluded: bool = True  # whether to include excluded items


@until_changed
def catalogue(db: Database, *, verdicts: bool = False) -> Catalogue:
    """Return a table of all items, sorted by name, with the number and length of the runs and the range of medians.

    The columns are item, application, benchmark, runs, iterations (of the shortest run), unit, spread and excluded (the
    reason or None). `verdicts` adds a column with the verdicts of each classifier, in which a cell is None if the item
    has no verdict; if another column already has the name of the classifier, the suffix "(classifier)" is added. The
    column spread has the range of the medians of the runs, divided by the median of these medians; it is missing if the
    item has no measurements, or if that median is 0.
    """
    import pandas as pd  # imported here because excluding an item needs no table

    rows = [
        (i.name, i.application, i.benchmark, i.n_runs, i.n_iterations, i.unit, _range_of_medians(db, i), i.excluded_why)
        for i in items.all_items(db)
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)
    table = table.astype({"runs": int, "iterations": int, "spread": float})
    if verdicts:
        names = table["item"].tolist()
        for classifier, group in stored_verdicts.brief_table(db).dropna(subset="verdict").groupby("classifier"):
            verdict_of = dict(zip(group["item"].tolist(), group["verdict"].tolist(), strict=True))
            table[_free_column(table, str(classifier))] = pd.Series(map(verdict_of.get, names), dtype=object)
    return table


def short_names(names: Sequence[str], most: int = MAX_SHORT) -> list[str]:
    """Return long names in a form in which they differ: without the part that all share, shortened in the middle.

    Different names stay different; a name that would not is whole.

    Examples
    --------
    >>> short_names(["org.example.parsers.Json.read", "org.example.parsers.Xml.read"], 20)
    ['…Json.read', '…Xml.read']
    """
    if max(map(len, names), default=0) <= most:
        return list(names)
    first, last = min(names), max(names)  # what these two share, all names share
    n_shared = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    shared = first[:n_shared]
    cut = max((shared.rfind(sign) + 1 for sign in ".#/:$ "), default=0)
    short = [f"…{name[cut:]}" if cut > MIN_SHARED else name for name in names]
    short = [one_line(name, most) for name in short]
    is_clear = dict(Counter(dict(zip(names, short, strict=True)).values()))
    return [text if is_clear[text] == 1 else name for name, text in zip(names, short, strict=True)]


def describe_items(db: Database) -> str:
    """Return how many items the study has, as a sentence without its stop."""
    everything = items.all_items(db)
    n_applications = len({item.application for item in everything} - {""})
    n_calibration = len({row.assignment.item for row in assignments.everything(db, Kind.CALIBRATION)})
    n_excluded = sum(item.excluded_why is not None for item in everything)
    where = f" from {counted(n_applications, 'application')}" if n_applications else ""
    return ", ".join([
        counted(len(everything), "item") + where,
        *([f"{n_excluded} excluded"] if n_excluded else []),
        *([f"{n_calibration} for calibration"] if n_calibration else []),
    ])  # fmt: skip


def classifiers(table: Catalogue) -> list[str]:
    """Return the names of the columns of a catalogue that contain verdicts."""
    return [str(column) for column in table.columns[len(COLUMNS) :]]


def describe_verdicts(table: Catalogue, categories: Sequence[str]) -> list[str]:
    """Return for each row how many classifiers give each category, such as "1 · 4"."""
    verdicts = table[classifiers(table)]
    counts = [(verdicts == category).sum(axis="columns") for category in categories]
    return [" · ".join(map(str, row)) for row in zip(*counts, strict=True)]


def filtered(table: Catalogue, filters: Filter, categories: Sequence[str]) -> Catalogue:
    """Return the rows of a catalogue that meet all conditions.

    Raises InputError if an application, classifier or verdict is unknown, there are no verdicts to compare, or limits
    are in the wrong order.
    """
    _check(table, filters, categories)
    keep = table["item"].notna()  # true for every row
    for condition in _conditions(table, filters):
        keep &= condition
    return table[keep].reset_index(drop=True)


def json_rows(table: Catalogue) -> list[dict[str, Any]]:
    """Return the rows of a catalogue as dictionaries for JSON; a missing value is None."""
    import pandas as pd

    return [
        {str(column): None if pd.isna(value) else value for column, value in row.items()}
        for row in table.to_dict("records")
    ]


def describe_share(share: float) -> str:
    """Return a spread in percent as text for a slider; return "any" for an infinite spread.

    Examples
    --------
    >>> describe_share(0.005), describe_share(math.inf)
    ('0.5 %', 'any')
    """
    return "any" if share == math.inf else f"{100 * share:g} %"


@cached(key=lambda _db, item: item.data_hash, n_kept=N_RANGES)
def _range_of_medians(db: Database, item: Item) -> float | None:
    """Compute the range of the medians of an item's runs as a share of their median; return None if it is undefined.

    The medians come from the quantiles that are stored for drawing, because reading all measurements takes too long.
    """
    if not item.n_runs:
        return None
    medians = drawing.kind_of_study(db).medians(drawing.payload_of_item(db, item.item_id))
    if len(medians) < 2:
        return None
    middle = abs(np.median(medians))
    return float(np.ptp(medians) / middle) if middle else None


def _free_column(table: Catalogue, classifier: str) -> str:
    while classifier in table.columns:
        classifier += MARK
    return classifier


def _column_of(classifier: str, columns: Sequence[str]) -> str | None:
    """Return the column with the verdicts of a classifier; return None if there is no such column."""
    return next((name for name in (f"{classifier}{MARK}", classifier) if name in columns), None)


def _check(table: Catalogue, filters: Filter, categories: Sequence[str]) -> None:
    applications, available = sorted(set(table["application"])), classifiers(table)
    unknown = sorted(set(filters.applications) - set(applications))
    if unknown:
        raise InputError(
            f"This study has no application {unknown[0]!r}. It has these applications: {', '.join(applications)}."
        )
    if (filters.verdict is not None or filters.disagreeing) and not available:
        raise InputError(
            "This study has no verdicts, so items cannot be filtered by verdict. To compute verdicts: labeler verdicts"
        )
    if filters.verdict is not None:
        classifier, verdict = filters.verdict
        if _column_of(classifier, available) is None:
            raise InputError(
                f"The classifier {classifier!r} has no verdicts in this study. These classifiers have verdicts: "
                f"{', '.join(available)}."
            )
        if verdict not in categories:
            raise InputError(f"{verdict!r} is not a verdict. Choose one of: {', '.join(categories)}.")
    for name, limits in (("spread", filters.spread), ("iterations", filters.iterations)):
        if limits is not None and not limits[0] <= limits[1]:
            raise InputError(f"The limits of {name} are {limits[0]:g} and {limits[1]:g}. Give the smaller limit first.")


def _conditions(table: Catalogue, filters: Filter) -> "Iterator[pd.Series]":
    named = (table["item"] + "\n" + table["benchmark"] + "\n" + table["application"]).str.casefold()
    for word in filters.text.casefold().split():
        yield named.str.contains(word, regex=False)
    if filters.applications:
        yield table["application"].isin(filters.applications)
    if filters.verdict is not None:
        classifier, verdict = filters.verdict
        yield table[_column_of(classifier, classifiers(table))] == verdict
    if filters.disagreeing:
        yield table[classifiers(table)].nunique(axis="columns") > 1
    if filters.spread is not None:
        yield table["spread"].between(*filters.spread)
    if filters.iterations is not None:
        yield table["iterations"].between(*filters.iterations)
    if not filters.with_excluded:
        yield table["excluded"].isna()


def exclude(db: Database, name: str, why: str, *, actor: str, now: datetime) -> None:
    """Exclude an item from labelling and from all results; the labels of the item are kept.

    Raises InputError if there is no such item, or no reason. Raises NotAllowed if the item is already excluded, or the
    study is unblinded.
    """
    with events.by(db, actor, now) as deed:
        item = _changeable(db, name)
        if item.excluded_why is not None:
            raise NotAllowed(f"Item {item.name} is already excluded. Reason: {item.excluded_why}")
        items.set_excluded(db, item.item_id, checked_reason(why))
        deed.log(actions.EXCLUDE_ITEM, item=item.name, why=why.strip())


def include(db: Database, name: str, why: str, *, actor: str, now: datetime) -> None:
    """Include an excluded item again.

    Raises InputError if there is no such item, or no reason. Raises NotAllowed if the item is not excluded, or the
    study is unblinded.
    """
    with events.by(db, actor, now) as deed:
        item = _changeable(db, name)
        if item.excluded_why is None:
            raise NotAllowed(f"{item.name} is not excluded.")
        items.set_excluded(db, item.item_id, None)
        deed.log(actions.INCLUDE_ITEM, item=item.name, why=checked_reason(why))


def item_named(db: Database, name: str) -> Item:
    """Return the item with this name; raises InputError if there is no such item."""
    item = items.by_name(db, name)
    if item is None:
        raise InputError(f"There is no item {name!r} in this study. To list the items: labeler browse")
    return item


def _changeable(db: Database, name: str) -> Item:
    require(studies.get(db), Action.EXCLUDE)
    return item_named(db, name)
