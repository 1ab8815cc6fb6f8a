"""The first screen of a report: its sentences in every state, its figures in two widths, and their tables."""

import re
from dataclasses import fields, replace
from functools import cache
from itertools import combinations
from xml.etree import ElementTree

import pandas as pd
import pytest

from analysis.document import Figure, Link, Paragraph, Table
from analysis.report import Provenance, Resampling, document, draw, summarise, to_html
from analysis.report._course import Course, PersonChange
from analysis.report._first_figures import MOST_SQUARES, NARROW, WIDE, first_figures
from analysis.report._first_screen import facts, first_sections
from analysis.report._happened import happened
from tests.analysis.report.reports import HOSTILE, RARE, Page, study
from tests.conftest import some_slow

S, D = "similar", "dissimilar"
LABELS = {"s": S, "d": D}
SVG = "{http://www.w3.org/2000/svg}"
NO_VERDICTS = pd.DataFrame({"item": [], "classifier": [], "verdict": []})


def report(items, verdicts=None, third=(), names="abcdefghijklm", **study_facts):
    """Summarise items with one letter per reviewer ("-" for none), third labels and verdicts as letters per item."""
    rows = [
        (f"i{n:03}", names[at], LABELS[x], "fresh")
        for n, text in enumerate(items)
        for at, x in enumerate(text)
        if x != "-"
    ]
    rows += [(f"i{n:03}", "third", LABELS[x], "third") for n, x in third]
    answers = pd.DataFrame(rows, columns=["item", "reviewer", "label", "kind"])
    table = [(f"i{n:03}", name, LABELS[x]) for name, text in (verdicts or {}).items() for n, x in enumerate(text)]
    given = pd.DataFrame(table, columns=["item", "classifier", "verdict"]) if table else NO_VERDICTS
    return summarise(answers, given, Provenance(study=study_facts), n_items=len(items), resampling=Resampling.none())


def texts(made, place):
    """The sentences of one question, without the technical ones."""
    return " ".join(
        block.text for block in first_sections(made)[place].blocks
        if isinstance(block, Paragraph) and block.role != "note"
    )  # fmt: skip


ON_1_OF = "On 1 of {} benchmarks, all people gave the same answer. "


@pytest.mark.parametrize(
    ("items", "third", "sentences"),
    [
        (["s", "d"], "", "No benchmark has labels of two people yet. 2 benchmarks have fewer than two labels."),
        (["ss"], "", "On the only benchmark, the people gave the same answer."),
        (["sd"], "", "On the only benchmark, the people gave different answers."),
        (["ss", "dd"], "", "On all 2 benchmarks, all people gave the same answer."),
        (["sd", "ds"], "", "On none of the 2 benchmarks did all people give the same answer."),
        (["sd", "ds"], "ss", ("On none of the 2 benchmarks did all people give the same answer. 2 were settled by "
                              "third labels.")),
        (["sd", "ss"], "", ON_1_OF.format(2) + "1 benchmark is still open."),
        (["sd", "ss", "d"], "d", (ON_1_OF.format(2) + "1 other was settled by third labels. 1 benchmark has fewer "
                                  "than two labels.")),
        (["sd", "sd", "sd", "ds", "ss"], "ds", (ON_1_OF.format(5) + "2 others were settled by third labels; 2 are "
                                                "still open.")),
        (["ssd", "sdd", "sss"], "", ON_1_OF.format(3) + "2 others were settled by a majority."),
    ],
)  # fmt: skip
def test_how_clear_the_answers_are(items, third, sentences):
    assert texts(report(items, third=enumerate(third)), 0) == sentences


EVEN, UNEVEN = ["ss", "dd"] * 40 + ["sd"] * 20, ["ss", "dd", "sd", "ds"] * 25


@pytest.mark.parametrize(
    ("items", "sentences"),
    [
        (["s-", "-d"], "No two people have labelled the same benchmark yet."),
        (EVEN, "Two people give the same answer in 80 of 100 cases. That is more often than if they guessed."),
        (["ss", "ss"], "Two people give the same answer always. Whether that is more often than if they guessed "),
        (["sd"] * 3, "Two people give the same answer in no case."),
        (["dd"] + ["ss"] * 298 + ["sd"], "in 99 of 100 cases"),
    ],
)  # fmt: skip
def test_whether_people_agree(items, sentences):
    assert sentences in texts(report(items), 1)


def test_a_pair_that_agrees_less_is_named_framed_and_its_items_are_listed():
    items = []
    for a, b in combinations(range(4), 2):
        for n in range(120):
            given = ["-"] * 4
            given[a] = "sd"[n // 10 % 2]
            is_split = n % (3 if (a, b) == (0, 1) else 10) == 0
            given[b] = given[a] if not is_split else "ds"[n // 10 % 2]
            items.append("".join(given))
    made = report(items, names=["ada", "ben", "cleo", "dan"])
    least = made.agreement.least_pair
    assert (least.a, least.b, len(least.items)) == ("ada", "ben", 40)
    links = {block.text: block.title for block in first_sections(made)[1].blocks if isinstance(block, Link)}
    assert links["See the 40 items on which ada and ben disagree"] == "What reviewers disagree on"
    (table,) = (
        block for section in document(made).appendix for block in section.blocks
        if isinstance(block, Table) and block.name == "least-pair"
    )  # fmt: skip
    assert [row[0] for row in table.rows] == list(least.items)
    assert 'stroke="#b4531a"' in draw(made)["pairs-of-people"]
    assert "ada and ben agree less often than other pairs: in 67 of 100 cases." in texts(made, 1)
    hidden = first_sections(report(items, interim=True))[1].blocks
    assert not [block for block in hidden if isinstance(block, Link) and "disagree" in block.text]


GOOD, WRONG = "sd" * 40 + "s" * 20, "ds" * 40 + "s" * 20


@pytest.mark.parametrize(
    ("verdicts", "sentences"),
    [
        ({"good": GOOD}, "good agrees with a person more often than people with each other."),
        ({"bad": WRONG}, "bad agrees with a person less often than people with each other."),
        ({"always": "s" * 100}, "always is not shown to be better or worse than always answering dissimilar."),
        ({"a": GOOD, "b": GOOD, "c": GOOD, "d": GOOD, "e": GOOD}, "a, b, c and 2 other methods agree with a person"),
    ],
)
def test_which_method_judges_like_a_person(verdicts, sentences):
    assert sentences in texts(report(EVEN, verdicts), 2)


def test_labels_that_cannot_judge_rank_no_method_and_a_study_without_methods_has_no_question():
    made = report(UNEVEN, {"b": GOOD, "a": "s" * 100})
    assert texts(made, 2).startswith("These labels cannot tell which method judges like a person.")
    words = ElementTree.fromstring(draw(made)["methods-and-people"]).get("aria-label")
    assert re.findall(r"[ab](?= \d)", words) == ["a", "b"]
    (table,) = (
        block for section in document(made).appendix for block in section.blocks
        if isinstance(block, Table) and block.name == "methods-and-people"
    )  # fmt: skip
    assert [row[-1] for row in table.rows] == ["–", "–"]
    assert len(first_sections(report(EVEN))) == 2


def test_the_line_below_the_title_says_how_large_the_study_is():
    assert facts(report(["ss", "sd", "d-"])) == "3 benchmarks, 2 reviewers."


@cache
def simulated():
    made = study("k = 3 with overlap")
    return summarise(made.answers, made.verdicts, resampling=Resampling.none())


@cache
def drawn(narrow):
    return first_figures(simulated(), narrow=narrow, adapts=True)


def text_boxes(svg):
    """Yield each text of a drawing with its left and right end, if a letter is 7.5 px wide."""
    for element in svg.iter(f"{SVG}text"):
        half = len(element.text) * 7.5 / 2
        middle = float(element.get("x")) + {"start": half, "middle": 0, "end": -half}[element.get("text-anchor")]
        yield element.text, middle - half, middle + half


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("name", ["clear-answers", "pairs-of-people", "methods-and-people"])
def test_a_figure_has_its_width_readable_texts_and_nothing_outside(name, narrow):
    svg = ElementTree.fromstring(drawn(narrow)[name])
    width, height = (float(svg.get(side)) for side in ("width", "height"))
    assert width == (NARROW if narrow else WIDE)
    assert float(svg.get("font-size")) >= 12
    assert [text for text, left, right in text_boxes(svg) if left < -1 or right > width + 1] == []
    assert max(float(element.get("y")) for element in svg.iter(f"{SVG}text")) <= height
    for rect in svg.findall(f"{SVG}rect"):
        assert 0 <= float(rect.get("x")) <= float(rect.get("x")) + float(rect.get("width")) <= width


@pytest.mark.parametrize("n", [1, MOST_SQUARES, MOST_SQUARES + 1, 586])
def test_items_are_squares_up_to_a_hundred_and_then_one_bar(n):
    made = report(["ss"] * (n - n // 3) + ["sd"] * (n // 3))
    svg = ElementTree.fromstring(draw(made)["clear-answers"])
    areas = svg.findall(f"{SVG}rect")
    if n <= MOST_SQUARES:
        assert len(areas) == n
    else:
        assert len(areas) == 4  # two parts of the bar, two in its legend
        widths = [float(area.get("width")) for area in areas if float(area.get("height")) > 20]
        assert widths[1] / sum(widths) == pytest.approx(n // 3 / n, abs=0.01)


def test_more_than_eight_reviewers_are_dots_on_one_line():
    eight, nine = ("s" * k for k in (8, 9))
    assert draw(report([eight, "d" * 8]))["pairs-of-people"].count("<circle") == 0
    assert draw(report([nine, "d" * 9]))["pairs-of-people"].count("<circle") == 36


@pytest.mark.parametrize("kind", some_slow(HOSTILE, RARE - {"long"} | {"LaTeX command", "LaTeX signs", "Markdown row"}))
def test_names_are_shown_as_text_and_fit(kind):
    name = HOSTILE[kind]
    made = report(["ss", "dd", "sd"], {name: "sds"}, names=[name, "ben"])
    for narrow in (False, True):
        figures = first_figures(made, narrow=narrow)
        assert set(figures) == {"clear-answers", "pairs-of-people", "methods-and-people"}
        for svg in map(ElementTree.fromstring, figures.values()):
            assert {element.tag for element in svg.iter()} <= {f"{SVG}{tag}" for tag in (
                "svg", "rect", "text", "line", "circle", "defs", "pattern")}  # fmt: skip
            assert max(len(element.text) for element in svg.iter(f"{SVG}text")) <= 32


def test_the_page_has_both_widths_and_the_tables_of_the_figures():
    made = report([*EVEN, "sds"], {"good": GOOD})
    page = to_html(made)
    assert Page(page).wrong == []
    assert page.count('<div class="wide">') == page.count('<div class="narrow">') == 3
    ids = re.findall(r'id="(hatch[^"]*)"', page)
    assert len(ids) == len(set(ids)) == 2
    links = set(re.findall(r'<a href="#([^"]+)"', page))
    assert links <= set(re.findall(r'<section id="([^"]+)"', page))
    names = {b.name for section in document(made).appendix for b in section.blocks if isinstance(b, Table)}
    assert {"clear-answers", "pairs", "methods-and-people"} <= names
    assert [b.name for section in document(made).sections[:3] for b in section.blocks if isinstance(b, Figure)] == [
        "clear-answers", "pairs-of-people", "methods-and-people"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("items", "third", "excluded", "people", "sentence"),
    [
        (["ss"], "", 0, (), ""),
        (["sd"], "s", 0, (), "In the course of the study, 1 third label settled 1 of 1 split item."),
        (["sd", "sd"], "s", 2, ("join",),
         ("In the course of the study, 1 third label settled 1 of 2 split items, 2 items were excluded and 1 reviewer "
          "joined later.")),
        (["sd", "ss"], "", 1, ("remove reviewer", "remove reviewer", "replace reviewer", "pause reviewer"),
         "In the course of the study, 1 item was excluded, 2 reviewers left and 1 reviewer was replaced."),
    ],
)  # fmt: skip
def test_what_happened_to_the_study_is_one_sentence(items, third, excluded, people, sentence):
    changes = tuple(PersonChange("", change, "", None, None, None) for change in people)
    course = Course(**({field.name: () for field in fields(Course)} | {"people": changes, "unblinded": None}))
    made = report(items, third=enumerate(third), excluded_items=excluded)
    assert happened(replace(made, course=course)) == sentence
