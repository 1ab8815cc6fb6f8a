"""Write first labels in the formats of other tools: Label Studio, Potato, wide tables, and the R packages `rater` and
`irrCAC`. `labeler.files.formats.label_tables` reads all of them but the numbers for `rater`, which lose the names.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from labeler.errors import Refused
from labeler.files.formats.tables import write

QUESTION, ITEM = "category", "item"  # names of the control and the object in Label Studio, and of the scheme in Potato
COLUMNS = ("item", "application", "reviewer", "label", "created_utc", "dwell_ms")  # columns of the labels to write
MISSING = "NA"  # R's missing value
_BESIDE = ("item", "application")  # columns of a wide table that are not reviewers


@dataclass(frozen=True)
class Form:
    """A form in which another tool stores labels."""

    title: str
    # labels (`COLUMNS`, one row per reviewer and item) and categories -> text
    write: Callable[[pd.DataFrame, Sequence[str]], str]
    # labels and categories -> explanation of the text, in sentences
    legend: Callable[[pd.DataFrame, Sequence[str]], str] | None = None


def write_wide(labels: pd.DataFrame, _categories: Sequence[str]) -> str:
    """Write one row per item and one column per reviewer; a missing label is an empty cell."""
    return write(_pivot(labels).reset_index())


def write_irrcac(labels: pd.DataFrame, _categories: Sequence[str]) -> str:
    """Write one row per item and one column per reviewer, without applications; a missing label is NA."""
    wide = _pivot(labels).reset_index("application", drop=True)
    return write(wide.astype(object).where(wide.notna(), MISSING).reset_index())


def write_rater(labels: pd.DataFrame, categories: Sequence[str]) -> str:
    """Write the columns item, rater and rating, as whole numbers from 1; `rater_legend` explains the numbers."""
    items, reviewers = _numbers(labels["item"]), _numbers(labels["reviewer"])
    numbers = {category: number for number, category in enumerate(categories, start=1)}
    table = pd.DataFrame(
        {
            "item": labels["item"].map(items),
            "rater": labels["reviewer"].map(reviewers),
            "rating": labels["label"].map(numbers),
        }
    )
    return write(table.sort_values(["item", "rater"]))


def rater_legend(labels: pd.DataFrame, categories: Sequence[str]) -> str:
    """Return the meaning of the numbers that `write_rater` writes."""
    reviewers = ", ".join(f"{number} = {name}" for name, number in _numbers(labels["reviewer"]).items())
    ratings = ", ".join(f"{number} = {category}" for number, category in enumerate(categories, start=1))
    return f"Items are numbered by name. Raters: {reviewers}. Ratings: {ratings}."


def write_label_studio(labels: pd.DataFrame, _categories: Sequence[str]) -> str:
    """Write tasks with annotations, in the format that Label Studio imports and exports.

    The name of the reviewer is in `meta` of the annotation's result. The name is not in `completed_by`, because this
    field refers to accounts of one server, and Label Studio refuses unknown accounts.
    """
    tasks = []
    for number, (item, rows) in enumerate(labels.groupby("item", sort=True), start=1):
        annotations = []
        for row in rows.sort_values("reviewer").to_dict("records"):
            result = {
                "from_name": QUESTION, "to_name": ITEM, "type": "choices", "value": {"choices": [row["label"]]},
                "meta": {"text": [str(row["reviewer"])]},
            }  # fmt: skip
            annotation: dict[str, Any] = {"result": [result], "was_cancelled": False}
            if isinstance(row["created_utc"], str):
                annotation["created_at"] = row["created_utc"]
            if pd.notna(row["dwell_ms"]):
                annotation["lead_time"] = int(row["dwell_ms"]) / 1000
            annotations.append(annotation)
        data = {ITEM: item, "application": rows["application"].iloc[0] or ""}
        tasks.append({"id": number, "data": data, "annotations": annotations})
    return json.dumps(tasks, indent=1, ensure_ascii=False) + "\n"


def write_potato(labels: pd.DataFrame, _categories: Sequence[str]) -> str:
    """Write one line per label, like Potato's annotated_instances.jsonl, with all reviewers in one file."""
    lines = []
    for row in labels.sort_values(["reviewer", "item"]).to_dict("records"):
        behaviour: dict[str, Any] = {"time_spent": int(row["dwell_ms"]) / 1000} if pd.notna(row["dwell_ms"]) else {}
        if isinstance(row["created_utc"], str):
            behaviour |= {"timestamp": row["created_utc"]}
        line = {
            "user_id": row["reviewer"], "instance_id": row["item"], "displayed_text": row["item"],
            "label_annotations": {QUESTION: {row["label"]: "true"}}, "span_annotations": {},
            "behavioral_data": behaviour,
        }  # fmt: skip
        lines.append(json.dumps(line, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)


FORMS: Mapping[str, Form] = {
    "wide": Form("one row per item, one column per reviewer", write_wide),
    "label-studio": Form("tasks of Label Studio (JSON)", write_label_studio),
    "potato": Form("lines of Potato (JSON Lines)", write_potato),
    "rater": Form("one row per label, as numbers, for R's rater", write_rater, legend=rater_legend),
    "irrcac": Form("one column per reviewer, with NA, for R's irrCAC and irr", write_irrcac),
}


def _pivot(labels: pd.DataFrame) -> pd.DataFrame:
    applications = labels.groupby("item", sort=True)["application"].first().fillna("")
    wide = labels.pivot(index="item", columns="reviewer", values="label").rename_axis(columns=None)
    taken = set(wide.columns) & {*_BESIDE, "benchmark"}
    if taken:
        raise Refused("labels", f"a reviewer is called {min(taken)!r}, which is the name of a column in this form")
    return wide.set_index(pd.MultiIndex.from_arrays([wide.index, applications.reindex(wide.index)], names=_BESIDE))


def _numbers(names: "pd.Series[Any]") -> dict[str, int]:
    return {str(name): number for number, name in enumerate(sorted(set(names)), start=1)}
