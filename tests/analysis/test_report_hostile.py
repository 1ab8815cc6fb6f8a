"""Names with any characters in a report: they are shown unchanged and do not affect the text around them."""

import re
from functools import cache, partial

import pandas as pd
import pytest

from analysis.document import clean
from analysis.report import Provenance, wide
from tests.analysis.reports import draw, summarise, to_html, to_latex, to_markdown
from tests.analysis.test_report_degenerate import Page, latex_faults, latex_tables, markdown_tables, whole_latex

NAMES = {
    "script": "<script>alert(1)</script>",
    "attribute": '"><img src=x onerror=alert(1)>',
    "entity": "&lt;b&gt; &amp; &#60;",
    "template": "{{ 7 * 7 }}{% raw %}",
    "formula": '=HYPERLINK("http://example.org","x")',
    "LaTeX command": "\\input{x}\\end{tabular}",
    "LaTeX signs": "& % _ # $ { } ~ ^ \\",
    "LaTeX mathematics": "}}$x^2$ \\(y\\) \\\\ b \\hline % rest",
    "Markdown signs": "*a* _b_ `c` [d](e) ![f](g) ~~h~~",
    "Markdown row": "a | b \\| c",
    "Markdown heading": "# a",
    "newlines": "a\nb\r\nc\n\n# d",
    "line separators": "a\u2028b\u2029c\x85d\x0be\x0cf",
    "control characters": "a\x00b\x1bc\x07d\x7fe",
    "right to left": "\u202eabc\u202c",
    "unicode": "日本語 ünï 😀",
    "long": "long" + " word" * 2048,
    "dots": "a.b[0].c",
    "None": "null",
}
DRAWN = ("script", "entity", "newlines", "control characters")
DRAWN += (pytest.param("long", marks=pytest.mark.slow),)  # a name of 10 kB takes seconds


def named(name):
    """Build a report with a name in every possible place: study, question, notes, reviewer, application, classifier."""
    rows = [
        (item, who, label, name)
        for item, labels in (("i0", "ss"), ("i1", "dd"), ("i2", "sd"))
        for who, label in zip((name, "ben"), labels, strict=True)
    ]
    answers = pd.DataFrame(rows, columns=["item", "reviewer", "label", "application"])
    answers = answers.replace({"label": {"s": "similar", "d": "dissimilar"}}).assign(position=range(6))
    answers.loc[answers["item"] == "i2", ["item", "application"]] = name, "b"
    verdicts = pd.DataFrame({"item": ["i0", "i1", name], "verdict": ["similar", "dissimilar", None]})
    verdicts = verdicts.assign(classifier=name, score=[0.1, 0.9, None], threshold=0.25, application=name)
    verdicts = pd.concat(
        [verdicts, verdicts.assign(classifier="heuristic", means=[{"m1": 0.5}] * 3)], ignore_index=True
    )
    verdicts["means"] = [m if isinstance(m, dict) else {} for m in verdicts["means"]]
    return answers, verdicts


@cache
def report(kind):
    name = NAMES[kind]
    answers, verdicts = named(name)
    study = {"name": name, "question": name, "state": name, "interim": True, name: name}
    provenance = Provenance(study, {"p": name}, {"seed": name}, {"h": name}, {name: name}, [name])
    return summarise(answers, verdicts, provenance)


def one_line(text):
    return " ".join(text.split())


@pytest.mark.parametrize("kind", NAMES)
def test_a_page_shows_every_name_as_text(kind):
    page = Page(to_html(report(kind), {}))
    assert page.wrong == []
    assert not page.tags.keys() & {"script", "img", "b", "iframe", "object", "link"}
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "src"]
    assert all(re.fullmatch(r"#[a-z0-9-]+", value) for name, value in page.attributes if name == "href")
    assert page.text.count(one_line(clean(NAMES[kind]))) > 10


@pytest.mark.parametrize("kind", NAMES)
def test_markdown_keeps_its_structure_for_any_names(kind):
    text, plain = to_markdown(report(kind)), to_markdown(report("None"))
    assert {len({len(row) for row in rows}) for rows in markdown_tables(text)} == {1}
    assert [len(rows) for rows in markdown_tables(text)] == [len(rows) for rows in markdown_tables(plain)]
    for line in (r"#+ ", r"!\[", r"- "):
        assert len(re.findall(f"^{line}", text, re.MULTILINE)) == len(re.findall(f"^{line}", plain, re.MULTILINE))
    assert re.search(r"(?<!\\)[<`]", text) is None


@pytest.mark.parametrize("kind", NAMES)
def test_latex_is_valid_for_any_names(kind):
    text, plain = (whole_latex(to_latex(report(k))) for k in (kind, "None"))
    assert list(latex_faults(text)) == []
    shape = [(len(columns), len(rows)) for columns, rows in latex_tables(text)]
    assert shape == [(len(columns), len(rows)) for columns, rows in latex_tables(plain)]
    assert all({len(row) for row in rows} == {len(columns)} for columns, rows in latex_tables(text))
    assert "\\input" not in text  # besides those of its own files


def test_latex_shows_a_command_as_text():
    assert "\\textbackslash{}input\\{x\\}\\textbackslash{}end\\{tabular\\}" in whole_latex(
        to_latex(report("LaTeX command"))
    )


@pytest.mark.parametrize("kind", DRAWN)
def test_the_figures_are_complete_for_any_names(kind):
    figures = draw(report(kind))
    assert set(figures) == {
        "classifiers",
        "label-strip",
        "pair-agreement",
        "measures-by-application",
        "precision-recall",
        "roc",
    }
    page = Page(to_html(report(kind), figures))
    assert page.wrong == []
    assert page.tags["svg"] == 6
    assert not page.tags.keys() & {"script", "img", "b"}


@pytest.mark.parametrize("kind", NAMES)
def test_the_wide_table_keeps_names_of_reviewers_and_classifiers(kind):
    name = NAMES[kind]
    table = wide(*named(name))
    assert {f"label_{name}", f"verdict_{name}", f"score_{name}"} <= set(table)
    assert name in table["item"].tolist()


@pytest.mark.parametrize("kind", NAMES)
def test_the_numbers_do_not_depend_on_the_names(kind):
    one, other = report(kind), report("None")
    for name in ("percent", "fleiss_kappa", "n_labels"):
        assert one["agreement"][name] == other["agreement"][name]
    confusions = [content["classifiers"][NAMES[k]]["confusion"] for k, content in ((kind, one), ("None", other))]
    assert confusions[0] == confusions[1]


@pytest.mark.parametrize("write", [to_markdown, partial(to_html, figures={})], ids=["md", "html"])
def test_no_text_holds_a_control_character(write):
    assert re.search(r"[\x00-\x08\x0e-\x1f\x7f]", write(report("control characters"))) is None


@pytest.mark.parametrize("name", ["[5mm] ada", "*ada"])
def test_a_name_is_not_an_argument_of_the_latex_command_before_it(name):
    answers, verdicts = named(name)
    text = whole_latex(to_latex(summarise(answers.replace("ben", f"{name} 2"), verdicts)))
    assert re.search(r"\\\\\s*[\[*]|\\(top|mid|bottom)rule\s*\[|\\item\s*\[", text) is None


def test_latex_writes_a_question_mark_for_what_its_fonts_lack():
    text = whole_latex(to_latex(report("unicode")))
    assert "ünï" in text
    assert re.search("[日本語😀]", text) is None


@pytest.mark.parametrize("question", ["- a", "+ a", "1. a", "1) a", "---"])
def test_a_question_is_a_paragraph_in_markdown_however_it_begins(question):
    content = report("None")
    text = to_markdown(content | {"study": content["study"] | {"question": question, "interim": False}})
    paragraph = text.split("\n\n")[1]
    assert re.match(r"([-+]|\d+[.)])\s|---", paragraph) is None
