"""Texts of people and files are never executed or rendered: exports, reports, the terminal, pages.

One study has each hostile text as the name of an item, a comment, a reply and a reason; some are also names of people
and of a classifier. tests/analysis/test_report_hostile.py tests hostile names in reports alone.
"""

import csv
import io
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from labeler.files.formats import tables
from labeler.studies.course import coordinating, course, staffing
from labeler.studies.handover import anonymising, exchange
from labeler.studies.items import browsing
from labeler.studies.labelling import inbox, label_file, reviewing
from labeler.studies.model import NewLabel, PlanParameters, State
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.results import reporting, splits, written_reports
from labeler.studies.store import items, open_database, studies
from labeler.studies.ui.app import REVIEWER_PAGES
from labeler.studies.ui.coordinator.places import ITEM, PLACES
from labeler.studies.verdicts import stored_verdicts
from tests.analysis.report.reports import Page, latex_faults, markdown_tables
from tests.conftest import some_slow
from tests.labeler.commands import run
from tests.labeler.studies.ui.pages import coordinator_page, opened, reviewer_page
from tests.making import NOW, id_of, make_study

# what terminals obey (in both forms, of seven and of eight bits), and what changes the direction of writing
CONTROLS = [
    *(begin + rest for begin in ("\x1b", "\x1b\x1b") for rest in ("c", "7", "[2J", "[?1049h", "[6n", "[31;8m", "[1A")),
    *("\x1b]" + rest + end for rest in ("52;c;eA==", "8;;http://x", "0;t", "1337;x") for end in ("\x07", "\x1b\\")),
    *(f"\x1b{begin}1;1{end}" for begin in "PX^_" for end in ("\x1b\\", "\x9c")),
    "\x9b2J", "\x9d52;c;eA==\x9c", "\x90x\x9c", "\x85", "\x7f", "\x08", "\x0b", "\x0c", "\x0e", "\x0f", "a\rb",
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
]  # fmt: skip
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")
TEXTS = {
    "every control": " ".join(CONTROLS),
    "script": "<script>alert(1)</script>",
    "attribute": '"><img src=x onerror=alert(1)>',
    "end of a script": "</script></style><svg onload=alert(1)>",
    "Markdown": "**bold** [x](http://evil.test) `c` :red[r] $z$ # h",
    "image": "![i](http://evil.test/i.png) <b>b</b>",
    "formula": '=HYPERLINK("http://evil.test","x")',
    "sum": "=1+1",
    "plus": "+1+1",
    "minus": "-1+1",
    "at": "@SUM(A1)",
    "tab": "\t=1+1",
    "return": "\r=1+1",
    "newline": "two\nlines,\r\n=1+1",
    "LaTeX": "\\input{/etc/passwd} $x$ 5 % a_b c^d ~ {e} # &",
    "JSON": '\\"}], {"a": "\\u0041"} //',
    "terminal": "\x1b[2J\x1b]0;t\x07a\x08\x9b31m",
    "direction": "\u202eabc\u2066d\u200f",
    "template": "{{ 7 * 7 }}{% raw %}${7}",
}
PEOPLE = ("=1+1", "<script>alert(1)</script>", "**b** [x](http://evil.test)", "\\input{x} 5 % a_b")
COORDINATOR = '@SUM(A1) "><img src=x onerror=alert(1)> $z$'
CLASSIFIER = "=cmd|'/c x'!A1 <b>**c**</b>"
# markup of the pages themselves: a plot of runs, and the source of the paper
OUR_OWN = re.compile(r'<img alt="[^"<>]*" src="data:image/svg\+xml;base64,[\w+/=]*" style="max-width: 100%">'
                     r"|\]\(https://doi\.org/10\.1145/3578245\.3584693\)")  # fmt: skip
MARKUP = ("<script", "<img", "<b>", "<svg", "**b", "](http", "`c`", ":red[", "$z$", "{{ 7")
RENDERED = (
    "markdown", "caption", "info", "warning", "error", "success", "title", "header", "subheader", "html", "latex",
)  # fmt: skip
LISTS = (
    ("flags",), ("status",), ("browse",), ("log",), ("classifiers",), ("adjudicate",), ("calibration",),
    ("reviewers", "list"), ("coordinators", "list"),
)  # fmt: skip
EXPORTS = (
    ("labels", "--out", "-"), ("labels", "--out", "-", "--layout", "wide"),
    ("labels", "--out", "-", "--layout", "label-studio"), ("labels", "--out", "-", "--layout", "potato"),
    ("verdicts", "--out", "-"), ("log", "--out", "-"), ("log", "--json"), ("flags", "--json"),
    ("audit",), ("audit", "--json"), ("plan", "--verify"), ("agreement",),
)  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("inert") / "inert.study"
    make_study(path, n_items=len(TEXTS) + 2)
    with open_database(path) as db:
        rename(db)
        assigning.confirm_plan(db, PlanParameters(seed=1, overlap=0, retest=0), actor=COORDINATOR, now=NOW)
        texts = list(TEXTS.values())
        staffing.pause(db, PEOPLE[0], why=texts[0], actor=COORDINATOR, now=NOW)
        staffing.resume(db, PEOPLE[0], actor=COORDINATOR, now=NOW)
        say_everything(db)
        for text in texts:
            for step in (Step.PAUSE, Step.OPEN):
                course.change_state(db, step, why=text, actor=COORDINATOR, now=NOW)
        browsing.exclude(db, texts[-1], texts[1], actor=COORDINATOR, now=NOW)
        course.change_state(db, Step.CLOSE, why=texts[5], force=True, actor=COORDINATOR, now=NOW)
        for split, text in zip(splits.split_items(db), texts, strict=False):
            splits.adjudicate(db, split.item.name, "similar", text, actor=COORDINATOR, now=NOW)
        verdicts = path.with_name("verdicts.csv")
        rows = pd.DataFrame({"item": texts, "classifier": CLASSIFIER, "verdict": "similar"})
        verdicts.write_text(tables.write(rows), encoding="utf-8")
        stored_verdicts.import_verdicts(db, verdicts, None, actor=COORDINATOR, now=NOW)
        course.change_state(db, Step.UNBLIND, why=texts[2], force=True, actor=COORDINATOR, now=NOW)
    return path


def rename(db):
    """Insert the texts, even where a form would refuse them: somebody may have edited the file."""
    for number, item in enumerate(items.all_items(db)[: len(TEXTS)]):
        text = list(TEXTS.values())[number]
        db.execute(
            "UPDATE items SET name = ?, benchmark = ?, application = ? WHERE item_id = ?",
            (text, text, text, item.item_id),
        )
    for old, new in zip(("ada", "ben", "cleo", "dan", "carol"), (*PEOPLE, COORDINATOR), strict=True):
        db.execute("UPDATE people SET name = ? WHERE name = ?", (new, old))
    together = " ".join(TEXTS.values())
    coordinating.describe_study(db, TEXTS["formula"], together, actor=COORDINATOR, now=NOW)
    db.execute("UPDATE studies SET instructions = ?", (together,))


def say_everything(db):
    """Every reviewer answers everything, each time with a different comment, and gets it back as a reply."""
    texts = list(TEXTS.values())
    for place, name in enumerate(PEOPLE):
        while offers := reviewing.review_queue(db, id_of(db, name)).offers:
            number = len(reviewing.own_labels(db, id_of(db, name)))
            text = texts[(place * 5 + number) % len(texts)]
            answer = ("similar", "dissimilar")[(place + number) % 2]
            sent = NewLabel(f"{place}-{number}", offers[0].code, 0, answer, 900, comment=text, flag=True)
            reviewing.submit(db, id_of(db, name), sent, now=NOW)
    for message, text in zip(inbox.messages(db), texts * 9, strict=False):
        inbox.reply(db, message.code, text, actor=COORDINATOR, now=NOW)


@pytest.fixture(scope="module")
def files(study):
    """Every file that leaves the study: name -> text."""
    with open_database(study) as db:
        made = reporting.files_of_study(db, reporting.QUICK, actor=COORDINATOR, now=NOW)
        made["export.csv"] = reporting.as_csv(exchange.export_labels(db, actor=COORDINATOR, now=NOW))
        made["all verdicts.csv"] = reporting.as_csv(stored_verdicts.export_table(db, actor=COORDINATOR, now=NOW))
        made["events.csv"] = reporting.as_csv(coordinating.event_log(db))
        copy = study.with_name("copy.study")
        anonymising.anonymise(db, copy, keep_comments=True, actor=COORDINATOR, now=NOW)
    with open_database(copy) as db:
        made["of the copy.csv"] = reporting.as_csv(label_file.all_answers(db))
    return made


def of_kind(files, ending):
    found = {name: text for name, text in files.items() if name.endswith(ending)}
    assert found
    return found


def test_every_text_is_in_the_export_as_it_was_said(files):
    rows = list(csv.DictReader(io.StringIO(files["export.csv"], newline="")))
    said = {tables.as_written(row["comment"]) for row in rows}
    assert {text.strip() for text in TEXTS.values()} <= {text.strip() for text in said}
    assert {tables.as_written(row["reviewer"]) for row in rows} >= set(PEOPLE)


def test_no_cell_of_a_table_runs_in_a_spreadsheet(files):
    for name, text in of_kind(files, ".csv").items():
        cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
        assert len(cells) > 20
        running = [cell for cell in cells if re.match(r"[=+@\t\r]|-(?!\d+(\.\d+)?(e-?\d+)?$)", cell)]
        assert running == [], name


def test_reports_hold_no_markup_of_others(files):
    for name, text in of_kind(files, ".html").items():
        page = Page(text)
        assert page.wrong == [], name
        assert not page.tags.keys() & {"script", "img", "b", "iframe", "object", "link"}
        assert not [key for key, _ in page.attributes if key.startswith("on") or key == "src"]
        assert all(target.startswith("#") for key, target in page.attributes if key == "href")  # within the page


def test_figures_hold_no_markup_of_others(files):
    for name, text in of_kind(files, ".svg").items():
        assert not re.search(r"<script|<img|<b>|onload=(?!.*&)|<a\b", text), name


def test_markdown_keeps_its_tables_and_links_nowhere(files):
    for name, text in of_kind(files, ".md").items():
        assert {len({len(row) for row in rows}) for rows in markdown_tables(text)} == {1}, name
        assert re.search(r"(?<!\\)[<`]|(?<!\\)\]\(http", text) is None, name


def test_latex_reads_no_other_file_and_has_no_fault(files):
    for name, text in of_kind(files, ".tex").items():
        own = re.findall(r"\\input\{((?:tables|figures)/[\w-]+)\}", text) if Path(name).name == "main.tex" else []
        assert {str(Path(name).parent / f"{file}.tex") for file in own} <= set(files)
        rest = re.sub(r"\\input\{(?:tables|figures)/[\w-]+\}", "", text) if own else text
        assert list(latex_faults(rest)) == [], name
        assert "\\input" not in rest


def test_json_is_whole_and_strict(files):
    def refuse(constant):
        raise AssertionError(constant)

    for name, text in of_kind(files, ".json").items():
        assert isinstance(json.loads(text, parse_constant=refuse), dict), name


def test_no_text_file_holds_a_control_character(files):
    for name, text in files.items():
        if name.endswith((".md", ".html", ".tex", ".svg")):
            assert CONTROL.search(text) is None, name


@pytest.mark.parametrize("command", EXPORTS, ids=" ".join)
def test_data_on_standard_output_do_not_control_the_terminal(study, command):
    shown = run(*command, "--study", study, code=None)
    assert shown.stdout
    assert CONTROL.search(shown.stdout + shown.stderr) is None


@pytest.mark.parametrize("command", LISTS, ids=" ".join)
def test_the_terminal_is_told_nothing_but_text(study, command):
    shown = run(*command, "--study", study)
    lines = (shown.stdout + shown.stderr).splitlines()
    assert lines
    assert [line for line in lines if not line.isprintable()] == []


@pytest.mark.parametrize(
    "command", [("flags",), ("status",), ("browse",), ("log",), ("reviewers", "list")], ids=" ".join
)
def test_json_of_a_command_is_whole(study, command):
    assert json.loads(run(*command, "--json", "--study", study).stdout)


def nodes(block):
    yield block
    for child in getattr(block, "children", {}).values():
        yield from nodes(child)


def formatted(page):
    """All texts that a page reads as Markdown or HTML: the elements, and every label and radio option."""
    for node in nodes(page.main):
        if node.type == "html":  # Markdown has no meaning there
            yield "".join(re.findall("<[^>]*>", node.proto.body))
        elif node.type in RENDERED:
            yield str(getattr(node, "value", "") or node.proto)
        label = getattr(node, "label", None)
        yield from [label] if isinstance(label, str) else []
        yield from map(str, node.options) if node.type == "radio" else ()


def raw(page):
    """Return the parts of the hostile texts that appear as markup, or with characters that control the output."""
    written = [OUR_OWN.sub("", re.sub(r"\\.", "", text)) for text in formatted(page)]
    return [text for text in written if any(mark in text for mark in MARKUP) or CONTROL.search(text)]


VIEWS = [*((place, view) for place, views in PLACES.items() for view in views), (ITEM, "")]
FOLDS = ("times", "other-steps", "fold-classifiers", "fold-import-log", "fold-People who have left", "messages")
OWN_MODULES = sorted({render.__name__.removeprefix("render_") for render in REVIEWER_PAGES.values()})


@pytest.mark.parametrize("state", some_slow([State.OPEN, State.UNBLINDED], [State.OPEN]))
@pytest.mark.parametrize(("place", "view"), VIEWS)
def test_pages_of_coordinators_show_texts_as_they_are(study, tmp_path, monkeypatch, place, view, state):
    # the page Report does not wait for the report, whose files are tested above
    monkeypatch.setattr(written_reports, "begin_report", lambda *_arguments, **_options: None)
    path = in_state(study, tmp_path, state)
    folds = dict.fromkeys(FOLDS, True)
    assert raw(coordinator_page(place, view, path, **folds, **{"chosen-person": PEOPLE[0]})) == []


@pytest.mark.parametrize("module", OWN_MODULES)
def test_pages_of_reviewers_show_texts_as_they_are(study, tmp_path, module):
    path = in_state(study, tmp_path, State.OPEN)
    assert raw(reviewer_page(module, path, PEOPLE[1])) == []  # has said every text


def in_state(study, folder, state):
    """Return a copy of the study in another state."""
    path = folder / "page.study"
    with open_database(study) as db:
        db.backup(path)
    with open_database(path) as db:
        studies.set_state(db, state)
    return path


def test_a_planted_text_is_found():
    def planted():
        import streamlit as st

        st.write("A name: **bold** [x](http://evil.test)")
        st.radio("Which?", ["<b>this</b>"])

    assert len(raw(opened(planted))) == 2
