"""Write the README, datasheet, codebook and notebook of a published study."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2

from analysis.document import to_json
from labeler.service.handover.publishing import metadata
from labeler.service.handover.publishing.facts import SOFTWARE, DatasetFacts
from labeler.service.handover.publishing.publish_file import BLANK

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")


def escaped(text: object) -> str:
    """Return a text as one line of Markdown, in which special characters are escaped."""
    line = " ".join(str(text).split())
    return _SPECIAL.sub(r"\\\1", "".join(letter for letter in line if letter.isprintable()))


def readme(facts: DatasetFacts, files: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of README.md; `files` are the files to list, with path, meaning, rows (or "") and size."""
    return _rendered("README.md.j2", facts, files=files, citation=metadata.citation(facts.answers), software=SOFTWARE)


def datasheet(facts: DatasetFacts) -> str:
    """Return the text of datasheet.md, which answers the questions of Gebru et al. (2021)."""
    gate = facts.study.gate
    applications = sorted(set(facts.tables.items.frame["application"]) - {""})
    return _rendered(
        "datasheet.md.j2",
        facts,
        blank=BLANK,
        software=facts.software(),
        address=metadata.address_of(facts.answers),
        licence_url=metadata.licence_url(facts.answers.licence),
        licences={name: facts.answers.sources.get(name, "") for name in applications},
        gate=f"at least {100 * gate.least:g} % agreement with "
        + ("reference labels" if gate.on == "reference" else "each other")
        if gate
        else "",
    )


def codebook_md(codebook: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of codebook.md, which explains every column of the tables."""
    parts = ["# Codebook"]
    for table in codebook:
        parts.append(f"## {table['table']}\n\n{escaped(table['meaning'])}.")
        rows = ["| column | type | unit | meaning | missing |", "|---|---|---|---|---|"]
        for column in table["columns"]:
            values = "; ".join(
                f"{value}: {meaning}" if meaning else value for value, meaning in (column["values"] or {}).items()
            )
            meaning = column["meaning"] + (f". Values: {values}" if values else "")
            cells = (column["type"], column["unit"] or "", meaning, column["missing"])
            rows.append(f"| `{column['name']}` | {' | '.join(map(escaped, cells))} |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts) + "\n"


def notebook(facts: DatasetFacts) -> str:
    """Return the text of the notebook read.ipynb, which loads the tables with pandas and computes kappa.

    The notebook has no outputs.
    """
    cells = [
        ("markdown", f"# {escaped(facts.answers.title)}\n\nLoad the data with pandas and compute kappa."),
        ("code", _LOAD),
        ("markdown", "Agreement is computed from the first labels that count, at most one per reviewer and item."),
        ("code", _KAPPA),
        ("markdown", "Compare the result with kappa in the report."),
        ("code", _COMPARE),
        (
            "markdown",
            "Count the applications and items in each fold for cross-validation. No application is in two folds.",
        ),
        ("code", _FOLDS),
    ]
    content = {
        "cells": [
            {
                "cell_type": kind,
                "id": f"cell-{number}",
                "metadata": {},
                "source": text.splitlines(keepends=True),
                **({"execution_count": None, "outputs": []} if kind == "code" else {}),
            }
            for number, (kind, text) in enumerate(cells, start=1)
        ],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return to_json(content)


_LOAD = """\
import json

import pandas as pd

labels = pd.read_csv("data/labels.csv")
items = pd.read_parquet("data/items.parquet")
labels.head()"""
_KAPPA = """\
counted = labels[labels["counts"] == 1]
counts = pd.crosstab(counted["item"], counted["label"])  # items by categories
n = counts.sum(axis=1)  # number of labels per item; Fleiss' kappa for unequal numbers (Gwet 2008)
share = counts.div(n, axis=0).mean()
several = n >= 2
observed = ((counts * (counts - 1)).sum(axis=1)[several] / (n * (n - 1))[several]).mean()
expected = (share**2).sum()
kappa = (observed - expected) / (1 - expected) if several.any() and expected < 1 else None
print(f"{several.sum()} items with several labels, observed agreement {observed:.4f}, kappa {kappa}")"""
_COMPARE = """\
with open("report/report.json", encoding="utf-8") as file:
    reported = json.load(file)["agreement"]["fleiss_kappa"]["value"]
assert (kappa is None) == (reported is None)
assert kappa is None or abs(kappa - reported) < 1e-9
print(f"reported {reported}")"""
_FOLDS = """\
items.groupby("fold_by_application")[["application", "item"]].nunique()"""


def _rendered(name: str, facts: DatasetFacts, **values: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("labeler.service.handover.publishing"),
        autoescape=False,  # noqa: S701 - Markdown: every text from outside goes through `md`
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = escaped
    text = environment.get_template(name).render(facts=facts, answers=facts.answers, **values)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"
