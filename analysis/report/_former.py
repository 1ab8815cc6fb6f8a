"""Compare with reports on own categories that a former version made, which had a layout of their own."""

from collections.abc import Mapping
from typing import Any

from analysis.document import json_values
from analysis.report._agreement import TITLES
from analysis.report._report import Report


def is_former(stored: Mapping[str, Any]) -> bool:
    """Return whether a report on own categories has the layout of the former version."""
    return {"question", "coefficients", "classifiers", "parameters", "notes"} <= set(stored)


def recomputed_as(stored: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Return the numbers of a report as JSON values, in the layout of the stored report that they are compared with.

    The intervals of the correlation of classifiers are left as they are stored: their random numbers differ now.
    """
    values: dict[str, Any] = json_values(report)
    if not is_former(stored) or report.by_category is None:
        return values
    agreement, decided, by_category = values["agreement"], values["consensus"], values["by_category"]
    retests = {row["rater"]: row for row in agreement["retest"]}
    none = {"value": None, "se": None, "low": None, "high": None, "reason": "no hidden retest"}
    parameters = {**values["parameters"], "show_rejected": False}
    coefficients = [{"name": title, "weights": "", "value": _estimate(agreement[name])} for name, title in TITLES]
    return {
        "definitions": values["definitions"],
        **{name: values[name] for name in ("study", "question", "plan", "hashes", "versions", "notes")},
        "parameters": {name: parameters.get(name, value) for name, value in stored["parameters"].items()},
        "level": parameters["level"],
        "seed": parameters["resampling"]["seed"],
        "n_draws": parameters["resampling"]["n_bootstrap"],
        "n_items": decided["n_items"],
        "n_labels": agreement["n_labels"],
        "n_items_with_two_labels": agreement["n_items_with_two_labels"],
        "n_agreed": decided["agreed"],
        "n_split": decided["split"],
        "n_adjudicated": decided["majority"]["adjudicated"],
        "percent": agreement["percent"],
        "coefficients": [*coefficients, *by_category["weighted"]],
        "categories": [{name: row[name] for name in row if name != "kappa"} for row in values["categories"]],
        "pairs": [
            {name: pair[name] for name in ("a", "b", "n", "agree", "percent", "cohen_kappa")}
            for pair in agreement["pairs"]
        ],
        "reviewers": [
            {**row, "n_retests": retests.get(row["reviewer"], {"n": 0})["n"],
             "retest": retests.get(row["reviewer"], {"percent": none})["percent"]}
            for row in by_category["reviewers"]
        ],
        "truth": {name: by_category["truth"][name] for name in ("identified", "words", "prevalence", "errors")},
        "classifiers": [
            {"classifier": name, **row, "result": _without_draws(row["result"], name, stored)}
            for name, row in by_category["classifiers"].items()
        ],
        "comparisons": by_category["comparisons"],
    }  # fmt: skip


def _estimate(kappa: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in kappa.items() if not name.startswith("band_")}


def _without_draws(result: Mapping[str, Any], name: str, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a classifier with the stored interval of its correlation."""
    known: Mapping[str, Any] = next(
        (row["result"]["mcc"] for row in stored["classifiers"] if row["classifier"] == name), {}
    )
    drawn = {end: known[end] for end in ("se", "low", "high") if end in known}
    return {**result, "mcc": {**result["mcc"], **drawn}}
