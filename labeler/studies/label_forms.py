"""Write and read first labels in the formats of other tools.

The formats are Label Studio, Potato, wide tables, and the R packages `rater` and `irrCAC`.

Each form has two functions. One writes a table of labels as text; the other reads the text as a tidy table (columns
item, reviewer, label, and more if the tool stores more). Forms that lose names or items can only be written.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.text import joined
from labeler.errors import Refused
from labeler.files.formats.source import Source
from labeler.files.formats.tables import as_written, read_table, write
from labeler.studies.questions import NOT_SURE

QUESTION, ITEM = "category", "item"  # names of the control and the object in Label Studio, and of the scheme in Potato
COLUMNS = ("item", "application", "reviewer", "label", "created_utc", "dwell_ms")  # columns of the labels to write
MISSING = "NA"  # R's missing value
_BESIDE = ("item", "application")  # columns of a wide table that are not reviewers
_FALSE = (False, None, 0, "", "0", "false", "False")


@dataclass(frozen=True)
class Form:
    """A form in which another tool stores labels."""

    title: str
    # labels (`COLUMNS`, one row per reviewer and item) and categories -> text
    write: Callable[[pd.DataFrame, Sequence[str]], str]
    # file and categories -> tidy label table; None if the form loses names
    read: Callable[[Source, Sequence[str]], pd.DataFrame] | None = None
    # labels and categories -> explanation of the text, in sentences
    legend: Callable[[pd.DataFrame, Sequence[str]], str] | None = None


def write_wide(labels: pd.DataFrame, _categories: Sequence[str]) -> str:
    """Write one row per item and one column per reviewer; a missing label is an empty cell."""
    return write(_pivot(labels).reset_index())


def read_wide(source: Source, _categories: Sequence[str]) -> pd.DataFrame:
    """Read the labels of a wide table; every column except item and application is a reviewer."""
    table = read_table(source, ("item",))
    reviewers = [column for column in table if column not in _BESIDE]
    if not reviewers:
        raise Refused(source.name, "there is no reviewer column besides item and application")
    rows = [
        {
            "item": row["item"], "application": row.get("application", ""), "reviewer": as_written(str(reviewer)),
            "label": row[reviewer].strip(), "line": line,
        }
        for line, row in zip(table.index, table.to_dict("records"), strict=True)
        for reviewer in reviewers
        if row[reviewer].strip() not in ("", MISSING)
    ]  # fmt: skip
    return _table(rows)


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


def read_label_studio(source: Source, categories: Sequence[str]) -> pd.DataFrame:
    """Read the annotations of a JSON export of Label Studio; a skipped task is "not sure".

    The reviewer is the name in `meta`. If `meta` has no name, the reviewer is the account, identified by its e-mail
    address up to the @, or by its number.
    """
    tasks = _json(source, source.content().decode("utf-8-sig", "replace"), "")
    if not isinstance(tasks, list):
        raise Refused(source.name, "this is not a list of tasks. Export as JSON, not as JSON-MIN")
    rows = []
    for number, task in enumerate(tasks, start=1):
        place = f"task {number}"
        if not isinstance(task, dict) or not isinstance(task.get("annotations"), list):
            raise Refused(source.name, "the task has no list of annotations. Export as JSON, not as JSON-MIN", place)
        data = task["data"] if isinstance(task.get("data"), dict) else {}
        item = data.get(ITEM)
        if not isinstance(item, str) or not item.strip():
            raise Refused(source.name, f"'data' has no text {ITEM!r} with the name of the item", place)
        for annotation in task["annotations"]:
            if not isinstance(annotation, dict):
                raise Refused(source.name, "an annotation is not an object", place)
            label, reviewer = _of_label_studio(annotation, categories, source, place)
            rows.append(
                {
                    "item": item, "application": str(data.get("application") or ""), "reviewer": reviewer,
                    "label": label, "created_utc": str(annotation.get("created_at") or ""),
                    "dwell_ms": _milliseconds(annotation.get("lead_time")), "line": number,
                }
            )  # fmt: skip
    return _table(rows)


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


def read_potato(source: Source, categories: Sequence[str]) -> pd.DataFrame:
    """Read the labels in Potato's annotated_instances.jsonl; the scheme may have any name."""
    rows = []
    for number, text in enumerate(source.content().decode("utf-8-sig", "replace").split("\n"), start=1):
        if not text.strip():
            continue
        place = f"line {number}"
        line = _json(source, text, place)
        line = line if isinstance(line, dict) else {}
        item, reviewer = line.get("instance_id", line.get("id")), line.get("user_id")
        if item is None or reviewer is None:
            raise Refused(source.name, "instance_id or user_id is missing", place)
        chosen = _chosen(line.get("label_annotations"), categories)
        if len(chosen) != 1:
            known = joined([*categories, NOT_SURE])
            raise Refused(source.name, f"{len(chosen)} of {known} are chosen. Choose exactly one", place)
        behaviour = line.get("behavioral_data")
        told: Mapping[str, Any] = behaviour if isinstance(behaviour, dict) else {}
        rows.append(
            {
                "item": str(item), "reviewer": str(reviewer), "label": chosen[0],
                "created_utc": str(told.get("timestamp") or ""), "dwell_ms": _milliseconds(told.get("time_spent")),
                "line": number,
            }
        )  # fmt: skip
    return _table(rows)


FORMS: Mapping[str, Form] = {
    "wide": Form("one row per item, one column per reviewer", write_wide, read_wide),
    "label-studio": Form("tasks of Label Studio (JSON)", write_label_studio, read_label_studio),
    "potato": Form("lines of Potato (JSON Lines)", write_potato, read_potato),
    "rater": Form("one row per label, as numbers, for R's rater", write_rater, legend=rater_legend),
    "irrcac": Form("one column per reviewer, with NA, for R's irrCAC and irr", write_irrcac),
}


def _pivot(labels: pd.DataFrame) -> pd.DataFrame:
    applications = labels.groupby("item", sort=True)["application"].first().fillna("")
    wide = labels.pivot(index="item", columns="reviewer", values="label").rename_axis(columns=None)
    taken = set(wide.columns) & set(_BESIDE)
    if taken:
        raise Refused("labels", f"a reviewer is called {min(taken)!r}, which is the name of a column in this form")
    return wide.set_index(pd.MultiIndex.from_arrays([wide.index, applications.reindex(wide.index)], names=_BESIDE))


def _numbers(names: "pd.Series[Any]") -> dict[str, int]:
    return {str(name): number for number, name in enumerate(sorted(set(names)), start=1)}


def _of_label_studio(
    annotation: Mapping[str, Any], categories: Sequence[str], source: Source, place: str
) -> tuple[str, str]:
    results = [
        result
        for result in annotation.get("result") or []
        if isinstance(result, dict) and result.get("type") == "choices" and isinstance(result.get("value"), dict)
    ]
    chosen = [choice for result in results for choice in result["value"].get("choices") or []]
    if annotation.get("was_cancelled"):
        label = NOT_SURE
    elif len(chosen) == 1:
        label = _name_of(str(chosen[0]), categories)
    else:
        raise Refused(source.name, f"an annotation has {len(chosen)} choices. It must have exactly one", place)
    named = [
        text for result in results if isinstance(result.get("meta"), dict) for text in result["meta"].get("text") or []
    ]
    return label, str(named[0]) if len(named) == 1 else _account(annotation.get("completed_by"), source, place)


def _account(completed_by: Any, source: Source, place: str) -> str:
    if isinstance(completed_by, dict):
        address = completed_by.get("email")
        if isinstance(address, str) and address.partition("@")[0]:
            return address.partition("@")[0]
        completed_by = completed_by.get("id")
    if completed_by is None:
        raise Refused(source.name, "an annotation has no reviewer: both meta and completed_by are missing", place)
    return f"user-{completed_by}"


def _chosen(annotations: Any, categories: Sequence[str]) -> list[str]:
    """Return the answers that were chosen in the schemes of a line from Potato."""
    schemes = annotations.values() if isinstance(annotations, dict) else ()
    chosen = (_name_of(label, categories) for label in _labels(schemes))
    return [label for label in chosen if label in (*categories, NOT_SURE)]


def _labels(schemes: Any) -> Iterator[str]:
    for scheme in schemes:
        for label, value in scheme.items() if isinstance(scheme, dict) else ():
            if value not in _FALSE:
                yield str(label)


def _name_of(text: str, categories: Sequence[str]) -> str:
    """Return the category or "not sure" that a text means, in whatever case; return other texts as they are."""
    names = {name.casefold(): str(name) for name in (*categories, NOT_SURE)}
    return names.get(text.strip().casefold(), text.strip().lower())


def _milliseconds(seconds: Any) -> str:
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    return str(round(1000 * seconds)) if is_number and 0 <= seconds < 2**21 else ""


def _json(source: Source, text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(source.name, f"the text is not JSON ({error})", place) from None


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return a table of texts indexed by line, like the result of `tables.read_labels`."""
    columns = list(rows[0]) if rows else ["item", "reviewer", "label", "line"]
    return pd.DataFrame(rows, columns=columns, dtype=object).set_index("line")
