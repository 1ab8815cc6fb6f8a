"""Answer what is asked first about agreement: each reviewer against the rest, drift, and two rounds compared."""

from pathlib import Path
from typing import Any

import pandas as pd

from analysis import agreement
from analysis.document import json_values
from analysis.tables import counted_labels
from labeler.errors import InputError, sentence
from labeler.formats import tables
from labeler.formats.source import Source
from labeler.service.plan import item_batches
from labeler.service.results import exchange
from labeler.store import Database

MIN_ITEMS = 2


def labels_of_study(db: Database) -> pd.DataFrame:
    """Return the first labels of a study, without excluded and calibration items."""
    answers = exchange.all_answers(db)
    return counted_labels(answers[~answers["item"].isin(item_batches.not_counted(db))])


def labels_of_file(path: Path) -> pd.DataFrame:
    """Return the first labels in a CSV file that `labeler labels --export` wrote; raise InputError if it is invalid."""
    try:
        return counted_labels(tables.read_table(Source(str(path), path), tables.LABEL_COLUMNS).reset_index(drop=True))
    except ValueError as error:
        raise InputError(f"{path}: {sentence(error)}") from None


def questions(labels: pd.DataFrame, other: pd.DataFrame | None = None) -> dict[str, Any]:
    """Return all answers as values for JSON; `other` are the labels of an earlier study or round.

    Raises InputError if the labels have no item with two labels.
    """
    if (labels.groupby("item").size() >= MIN_ITEMS).sum() == 0:
        raise InputError("No item has two first labels, so there is no agreement yet.")
    placed = _placed(labels)
    found: dict[str, Any] = {
        "against_the_rest": json_values(agreement.against_rest(labels)),
        "pairs": json_values(agreement.pair_equality(labels)),
        "drift": [] if placed is None else json_values(agreement.reviewer_drift(placed)),
    }
    if other is not None:
        found["difference"] = json_values(agreement.compare_agreement(other, labels))
    return found


def _placed(labels: pd.DataFrame) -> pd.DataFrame | None:
    """Return the labels with their order, by position or by time; None if neither is known."""
    for column in ("position", "created_utc"):
        if column in labels and labels[column].notna().any():
            return labels.assign(position=labels[column])
    return None
