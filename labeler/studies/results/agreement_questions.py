"""Answer what is asked first about agreement: each reviewer against the rest, drift, and two rounds compared."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.categories import CATEGORIES, NO_CATEGORY
from analysis.document import json_values
from analysis.raters import agreement
from analysis.raters.agreement import Coefficient
from analysis.raters.tables import count_table, counted_labels
from analysis.report import Units, applications_of, estimate_by, groups_of_items, units_of
from analysis.statistics.intervals import Estimate
from analysis.text import counted
from labeler.errors import InputError, Refused, sentence
from labeler.files.formats import label_tables
from labeler.files.formats.label_tables import LabelReading
from labeler.files.formats.source import Source
from labeler.studies.labelling import label_file
from labeler.studies.preparing import assigning
from labeler.studies.store import Database, studies

MIN_ITEMS = 2


def coefficients() -> dict[str, Coefficient]:
    """Return the coefficients that can be required, by their names in options."""
    rows = agreement.COEFFICIENTS.values()
    return {row.option: row for row in rows if not row.ordered and row.needs is not agreement.Needs.TWO_RATERS}


@dataclass(frozen=True)
class RequiredAgreement:
    """Whether the lower limit of an interval of agreement reaches what is required."""

    coefficient: str  # key in `coefficients`
    required: float
    level: float
    n_items: int  # number of items with two labels or more
    n_applications: int  # that the interval counts; 0 if it counts items one by one
    estimate: Estimate
    passed: bool | None  # None if it cannot be known, because there is no interval

    @property
    def words(self) -> str:
        """Return the result as one sentence."""
        title, found = coefficients()[self.coefficient].title, self.estimate
        if found.value is None:
            return f"Not known: {title} is undefined, because {found.reason}."
        value = f"{title} is {found.value:.3f}"
        if found.low is None:
            return f"Not known: {value}, but {found.reason}."
        limits = f" to {found.high:.3f}" if found.high is not None else " or more"
        where = f" of {counted(self.n_applications, 'application')}" if self.n_applications else ""
        interval = f"{100 * self.level:g} % CI {found.low:.3f}{limits}, {counted(self.n_items, 'item')}{where}"
        outcome, verb = ("Passed", "reaches") if self.passed else ("Failed", "is below")
        return f"{outcome}: {value} ({interval}); the lower limit {verb} the required {self.required:g}."

    def json_values(self) -> dict[str, Any]:
        """Return all values for JSON."""
        values: dict[str, Any] = json_values(self)
        return values | {"words": self.words}


def check_requirement(
    labels: pd.DataFrame, coefficient: str, required: float, *, level: float = 0.95
) -> RequiredAgreement:
    """Compare the lower limit of the interval of a coefficient with what is required.

    The categories are those that occur in the labels, in alphabetical order. If there are enough applications, the
    interval counts them, as in a report. Raises InputError if a cell is unusable.
    """
    units, groups = _related(labels)
    n_items = int((labels.groupby("item")["rater"].nunique() >= MIN_ITEMS).sum())
    categories = sorted(labels["category"].unique())
    if len(categories) < MIN_ITEMS:
        reason = "only one category was used" if categories else "there are no labels"
        return RequiredAgreement(coefficient, required, level, n_items, 0, Estimate(None, reason=reason), None)
    row = coefficients()[coefficient]
    n_applications = 0
    try:
        if row.of_counts is not None and groups is not None:
            counts, n_applications = count_table(labels, categories), units.n_applications
            found = estimate_by(units, partial(row, counts, categories, level=level), groups.reindex(counts.index))
        else:
            found = row(labels, categories=categories, level=level)
    except ValueError as error:
        raise InputError(sentence(error)) from None
    passed = None if found.low is None else found.low >= required
    return RequiredAgreement(coefficient, required, level, n_items, n_applications, found, passed)


def _related(labels: pd.DataFrame) -> tuple[Units, "pd.Series | None"]:
    """Return what intervals and tests of these labels count, and the group of each item; None if they count items."""
    n_labels = labels.groupby("item", sort=False)["rater"].nunique()
    applications = applications_of(labels)
    units = units_of(n_labels.index[n_labels >= MIN_ITEMS], applications)
    return units, groups_of_items(n_labels.index, applications, units)


def labels_of_study(db: Database) -> pd.DataFrame:
    """Return the first labels of a study, without excluded and calibration items."""
    question, answers = studies.get(db).question, label_file.all_answers(db)
    counted = answers[~answers["item"].isin(assigning.not_counted(db))]
    return counted_labels(counted.assign(label=counted["label"].map(question.class_of)), question.classes)


def labels_of_file(
    path: Path,
    reading: LabelReading = label_tables.STANDARD,
    *,
    say: Callable[[str], None] = lambda _note: None,
) -> pd.DataFrame:
    """Return the first labels in a file; raise InputError if it is invalid.

    The categories are those in the file. `say` is called with what was taken as missing, joined or counted once.
    """
    read = label_tables.read_label_table(Source(str(path), path), reading, say=say)
    categories = label_tables.categories_of(read.frame["label"])
    answers = (*categories, *NO_CATEGORY)
    for at, label in read.frame["label"].items():
        if label not in answers:
            why = f"label {label!r} is not one of: {', '.join(answers)}. Correct it, or remove the row"
            raise Refused(str(path), why, f"{read.place} {at}")
    try:
        return counted_labels(read.frame.reset_index(drop=True), categories)
    except ValueError as error:
        raise InputError(f"{path}: {sentence(error)}") from None


def agreement_answers(labels: pd.DataFrame, other: pd.DataFrame | None = None) -> dict[str, Any]:
    """Return all answers as values for JSON; `other` are the labels of an earlier study or round.

    Raises InputError if the labels have no item with two labels.
    """
    if (labels.groupby("item").size() >= MIN_ITEMS).sum() == 0:
        raise InputError("No item has two first labels, so there is no agreement yet.")
    placed, used = _placed(labels), {*labels["category"], *(() if other is None else other["category"])}
    categories = CATEGORIES if used <= set(CATEGORIES) else tuple(sorted(used))
    groups = _related(labels)[1]
    of_rows = None if groups is None else groups.reindex(labels["item"]).to_numpy()
    found: dict[str, Any] = {
        "against_the_rest": json_values(agreement.against_rest(labels, categories)),
        "pairs": json_values(agreement.pair_equality(labels, categories, groups=of_rows)),
        "course": None if placed is None else json_values(agreement.course_test(placed, categories, groups=of_rows)),
    }
    if other is not None:
        found["difference"] = json_values(agreement.compare_agreement(other, labels, categories=categories))
    return found


def _placed(labels: pd.DataFrame) -> pd.DataFrame | None:
    """Return the labels with their order, by position or by time; None if neither is known."""
    for column in ("position", "created_utc"):
        if column in labels and (places := labels[column].replace("", None)).notna().any():
            return labels.assign(position=places)
    return None
