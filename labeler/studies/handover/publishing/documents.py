"""Write the texts of a published study: README, datasheet and codebook, and pages that need no server."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Any

import jinja2
import numpy as np
import pandas as pd

from analysis.document import clean, percent
from analysis.report import document
from analysis.runs.classifiers import CLASSIFIERS
from labeler.studies.handover.publishing import metadata
from labeler.studies.handover.publishing.facts import SOFTWARE, DatasetFacts
from labeler.studies.handover.publishing.publish_file import BLANK
from labeler.studies.items import drawing
from labeler.studies.model import ItemRole, Kind
from labeler.studies.questions import NOT_SURE
from labeler.studies.screen import component, thumbnails
from labeler.studies.screen.kinds import kind_of
from labeler.studies.store import Database, items

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")
FOLDER = "html"
N_PRACTICE, SEED = 20, 1
PANEL = 60, 40  # one pixel per window, so that a path is short; the page shows it larger
PAGES = {"index": "Overview", "report": "Report", "items": "Items", "practice": "Practice"}
PRACTICE = f"{FOLDER}/practice.html"
MEANINGS = {
    f"{FOLDER}/index.html": "pages for a browser, without a server: start here",
    f"{FOLDER}/report.html": "the report, as a page of these",
    f"{FOLDER}/items.html": "the picture of every item with its labels and verdicts",
    PRACTICE: f"practice with {N_PRACTICE} items of the study",
}
_BODY = "<body>"


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


def _rendered(name: str, facts: DatasetFacts, **values: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("labeler.studies.handover.publishing"),
        autoescape=False,  # noqa: S701 - Markdown: every text from outside goes through `md`
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = escaped
    text = environment.get_template(name).render(facts=facts, answers=facts.answers, **values)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


@dataclass(frozen=True)
class ItemView:
    """An item on the page of all items."""

    number: int
    name: str
    application: str
    about: str  # its measurements and its role
    picture: str  # SVG, or "" without measurements
    axis: str
    labels: str
    consensus: str
    kind: str  # of its labels, a key of `KINDS`
    verdicts: tuple[str, ...]
    comments: tuple[str, ...]


KINDS = {"agreed": "people agree", "split": "people disagree", "few": "fewer than two labels"}


def pages(
    copy: Database, facts: DatasetFacts, report_html: str, *, with_pictures: bool
) -> dict[str, str | Iterator[str]]:
    """Return all pages, as path -> HTML text or its parts, which are drawn when they are written.

    `copy` is the study without names. Without `with_pictures`, there are no pictures and no practice.
    """
    rows = facts.tables.items.frame.sort_values(["application", "item"], kind="stable").to_dict("records")
    n_of_kind = Counter(_kind(row, facts.categories) for row in rows)
    practice = _practice(copy, facts) if with_pictures else []
    named = {name: title for name, title in PAGES.items() if name != "practice" or practice}
    short = document(facts.report).sections[0].blocks[0]
    of_page: dict[str, Any] = {
        "index": {"sentences": getattr(short, "items", ()), "n_practice": len(practice)},
        "items": {
            "n_items": len(rows),
            "applications": _by_application(_views(copy, facts, rows, with_pictures=with_pictures)),
            "kinds": {kind: (words, n_of_kind[kind]) for kind, words in KINDS.items() if n_of_kind[kind]},
        },
    }
    texts: dict[str, str | Iterator[str]] = {
        name: _html(f"{name}.html.j2", facts, pages=named, current=name, **values) for name, values in of_page.items()
    }
    heading = "".join(_html("navigation.html.j2", facts, pages=named, current="report"))
    texts["report"] = report_html.replace(_BODY, f"{_BODY}{heading}", 1)
    if practice:
        heading = "".join(_html("navigation.html.j2", facts, pages=named, current="practice"))
        data = _round(facts, practice)
        texts["practice"] = component.standalone(data, clean(f"Practice: {facts.answers.title}"), heading=heading)
    return {f"{FOLDER}/{name}.html": text for name, text in texts.items()}


def _by_application(views: Iterator[ItemView]) -> Iterator[tuple[str, Iterator[ItemView]]]:
    """Yield each application with its items; spellings that differ only in case are one application."""
    for _name, group in groupby(views, key=lambda view: view.application.lower()):
        members = iter(group)
        first = next(members)
        yield first.application, chain([first], members)


def _views(
    copy: Database, facts: DatasetFacts, rows: Sequence[Mapping[Any, Any]], *, with_pictures: bool
) -> Iterator[ItemView]:
    """Yield the items one after the other, so that memory holds one picture."""
    kind = drawing.kind_of_study(copy)
    labels = dict(iter(facts.tables.labels.frame.groupby("item")))
    verdicts = dict(iter(facts.tables.verdicts.groupby("item")))
    of_name = {item.name: item for item in items.all_items(copy)}
    numbered = [(number, row, of_name[row["item"]]) for number, row in enumerate(rows, start=1)]
    for number, row, item in sorted(numbered, key=lambda one: one[2].application.lower()):
        payload = drawing.payload_of_item(copy, item.item_id) if with_pictures and item.n_runs else None
        of_item = labels.get(item.name)
        yield ItemView(
            number,
            item.name,
            item.application,
            _about(row),
            "" if payload is None
            else thumbnails.always_light(
                kind.thumbnail(payload, label=clean(f"The runs of {item.name}"), panel=PANEL, height=None)
            ),
            "" if payload is None else _axis(payload),
            "" if of_item is None else _labels(of_item),
            _consensus(row),
            _kind(row, facts.categories),
            tuple(_verdicts(verdicts[item.name])) if item.name in verdicts else (),
            _comments(of_item),
        )  # fmt: skip


def _about(row: Mapping[Any, Any]) -> str:
    measured = f"{row['n_runs']} runs with at least {row['n_iterations']:,} iterations" if row["n_runs"] else ""
    role = {
        ItemRole.CALIBRATION.value: "calibration, in no result",
        ItemRole.ATTENTION.value: "source of an attention check, in no result",
        ItemRole.CHOSEN.value: "chosen, used only for learning",
        ItemRole.EXCLUDED.value: f"excluded: {row['excluded_why']}",
    }.get(row["role"], "")
    return "; ".join(text for text in (measured, role) if text)


def _axis(payload: Mapping[str, Any]) -> str:
    low, high = payload["axes"][payload["rule"]]
    middle = abs(payload.get("median", 0))
    return f"The axis spans {100 * (high - low) / middle:.2g} % of the median." if middle else ""


def _labels(rows: pd.DataFrame) -> str:
    parts = [
        f"{row['reviewer']} {row['label']}" + (" (third label)" if row["kind"] == Kind.THIRD else "")
        for row in rows[(rows["counts"] | (rows["first"] & (rows["kind"] == Kind.THIRD)))].to_dict("records")
    ]
    return ", ".join(parts)


def _consensus(row: Mapping[Any, Any]) -> str:
    for column, words in (("adjudicated", "decided by a person"), ("agreed", "agreed"), ("majority", "majority")):
        if isinstance(row[column], str):
            return f"{row[column]} ({words})"
    return "none"


def _kind(row: Mapping[Any, Any], categories: Any) -> str:
    n = sum(row[f"n_{category}"] for category in categories)
    return "agreed" if isinstance(row["agreed"], str) else "split" if n >= 2 else "few"


def _verdicts(rows: pd.DataFrame) -> Iterator[str]:
    for row in rows.sort_values("classifier").to_dict("records"):
        known = CLASSIFIERS.get(row["classifier"])
        verdict = row["verdict"] if isinstance(row["verdict"], str) else "no verdict"
        yield f"{known.title if known else row['classifier']}: {verdict}"


def _comments(rows: pd.DataFrame | None) -> tuple[str, ...]:
    if rows is None or "comment" not in rows:
        return ()
    said = rows[rows["comment"].notna()]
    return tuple(f"{row['reviewer']}: {row['comment']}" for row in said.to_dict("records"))


@dataclass(frozen=True)
class PracticeItem:
    """An item to practise with, and what people said about it."""

    name: str
    panels: list[dict[str, Any]]
    labels: Mapping[str, int]
    verdicts: tuple[str, ...]


def _practice(copy: Database, facts: DatasetFacts) -> list[PracticeItem]:
    """Return items drawn at random from those with two labels or more and measurements; always the same."""
    frame = facts.tables.items.frame
    counted = {
        row["item"]: {category: row[f"n_{category}"] for category in facts.categories}
        for row in frame[(frame["role"] == ItemRole.COUNTED.value) & (frame["n_runs"] > 0)].to_dict("records")
    }
    names = sorted(name for name, labels in counted.items() if sum(labels.values()) >= 2)
    chosen = np.random.default_rng(SEED).permutation(len(names))[:N_PRACTICE].tolist()
    of_name = {item.name: item for item in items.all_items(copy)}
    verdicts = dict(iter(facts.tables.verdicts.groupby("item")))
    return [
        PracticeItem(
            name,
            drawing.panels_of_item(copy, of_name[name].item_id),
            counted[name],
            tuple(_verdicts(verdicts[name])) if name in verdicts else (),
        )
        for name in (names[at] for at in chosen)
    ]


def _round(facts: DatasetFacts, practice: list[PracticeItem]) -> dict[str, Any]:
    question, kind = facts.study.question, kind_of(facts.study.question)
    possible = (*question.names, *([NOT_SURE] if question.not_sure else []))
    agreement = facts.report.agreement.percent.value
    return {
        "mode": "practice",
        "round": SEED,
        "given": {},
        "people": "" if agreement is None
        else f"Two people of this study gave the same label in {percent(agreement)} of all comparisons.",
        "items": [
            {
                "code": f"P{number}",
                "revision": 0,
                "panels": item.panels,
                "explains": {str(answer): _explained(item, answer) for answer in possible},
                "right": None,
                "labels": dict(item.labels),
            }
            for number, item in enumerate(practice, start=1)
        ],
        **component.brief(
            question, replace(facts.study.protocol, asks_confidence=False), kind.help, kind.overlay
        ),
    }  # fmt: skip


def _explained(item: PracticeItem, answer: str) -> str:
    people = ", ".join(f"{n} {category}" for category, n in item.labels.items() if n)
    verdicts = f" Classifiers: {', '.join(item.verdicts)}." if item.verdicts else ""
    return f"Your answer: {answer}. People: {people}.{verdicts} This is {item.name}."


def _html(name: str, facts: DatasetFacts, **values: Any) -> Iterator[str]:
    """Yield the lines of a page, without blank lines."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("labeler.studies.handover.publishing"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if hasattr(value, "__html__") else clean(value),
    )
    parts = environment.get_template(name).generate(
        facts=facts, answers=facts.answers, citation=metadata.citation(facts.answers), **values
    )
    line, is_first = "", True
    for part in parts:
        *lines, line = "".join((line, part)).split("\n")  # a sum would escape what comes before marked-up text
        for complete in lines:
            if is_first or complete.strip():
                yield f"{complete}\n"
            is_first = False
    yield line
