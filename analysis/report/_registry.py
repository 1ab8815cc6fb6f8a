"""List all measures and classifiers with their properties, for the documentation and for reports."""

from dataclasses import fields
from typing import Any

from analysis.classifiers import CLASSIFIERS
from analysis.dissimilarity import MEASURES
from analysis.document import plain


def registry() -> dict[str, dict[str, dict[str, Any]]]:
    """Return all classifiers and measures with their properties.

    Returns
    -------
    dict
        "classifiers" and "measures": name -> properties in the registry, without functions.
    """
    return {
        "classifiers": {name: _row(classifier) for name, classifier in CLASSIFIERS.items()},
        "measures": {name: _row(measure) for name, measure in MEASURES.items()},
    }


def _row(entry: Any) -> dict[str, Any]:
    values = {field.name: getattr(entry, field.name) for field in fields(entry) if field.name != "name"}
    return {name: plain(value) for name, value in values.items() if not callable(value)}
