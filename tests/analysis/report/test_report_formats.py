"""Reports in three formats, with much data, with very little, and with any characters in their names."""

import json
import re
from functools import cache, partial
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from analysis.document import clean, to_json
from analysis.report import Provenance, Resampling, registry, wide
from tests.analysis.report.reports import (
    AGREEING,
    HOSTILE,
    RARE,
    SMALL,
    Page,
    draw,
    estimates,
    latex_faults,
    latex_tables,
    made_study,
    markdown_tables,
    report,
    summarise,
    to_html,
    to_latex,
    to_markdown,
    whole_latex,
)
from tests.conftest import some_slow
from tests.sentences import says

REPLICATION = Path(__file__).parents[3] / "data" / "replication"
FROM_LATEX = {
    "\\textbackslash{}": "\\", "\\textasciicircum{}": "^", "\\textasciitilde{}": "~", "\\textless{}": "<", "$-$": "−",
    "\\textgreater{}": ">", "\\textbar{}": "|", "\\textquotedbl{}": '"', "--": "–", "``": "“", "''": "”",
    "$\\chi$": "χ", "\\textsuperscript{2}": "²", "$\\theta$": "θ", "$\\blacktriangle$": "▲", "\\textmu{}": "µ",
}  # fmt: skip
PLAN = {"hash": "abc", "seed": 7, "per_item": 3, "overlap": 0.2, "retest": 20, "assigned": {"3": 36}}


@cache
def replication():
    tables = [pd.read_csv(REPLICATION / f"{name}.csv") for name in ("labels", "verdicts")]
    return summarise(*tables, Provenance(parameters=registry()), resampling=SMALL)


@cache
def full():
    return report("k = 3 with overlap") | {"plan": PLAN}


@pytest.fixture(params=[replication, full], ids=["replication", "made"])
def content(request):
    return request.param()


class Tables(HTMLParser):
    """Collect the tables of a page as rows of cells, without captions."""

    def __init__(self, page):
        super().__init__()
        self.tables, self.captions, self.into = [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "span":  # inside a cell
            return
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "caption":
            self.captions.append("")
        self.into = tag if tag in ("td", "th", "caption") else None

    def handle_endtag(self, tag):
        self.into = self.into if tag == "span" else None

    def handle_data(self, data):
        if self.into == "caption":
            self.captions[-1] += data
        elif self.into:
            self.tables[-1][-1][-1] += data


def of_markdown(text):
    """Return the text of a Markdown cell without markup."""
    return re.sub(r"\\(.)", r"\1", text.strip())


def of_latex(text):
    pattern = "|".join(map(re.escape, FROM_LATEX))
    text = text.replace(r"\allowbreak{}", "")
    text = re.sub(pattern, lambda found: FROM_LATEX[found.group()], text)
    return re.sub(r"\\([{}$&#%_])", r"\1", text)


def without_header(rows):
    """Remove the empty header that Markdown requires."""
    header, _rule, *body = rows
    return [header, *body] if any(cell.strip() for cell in header) else body


def test_tables_captions_and_headings_are_equal_in_all_formats(content):
    html, markdown, latex = to_html(content, {}), to_markdown(content), whole_latex(to_latex(content))
    page = Tables(html)
    assert len(page.tables) > 8
    of_text = [without_header(rows) for rows in markdown_tables(markdown)]
    assert [[list(map(of_markdown, row)) for row in rows] for rows in of_text] == page.tables
    assert [[list(map(of_latex, row)) for row in rows] for _columns, rows in latex_tables(latex)] == page.tables
    in_latex = re.findall(r"^\\caption\{(.*)\}\\label\{tab:", latex, re.MULTILINE)
    assert list(map(of_latex, in_latex)) == page.captions
    before_tables = re.findall(r"^(.+)\n\n\| ", markdown, re.MULTILINE)
    assert list(map(of_markdown, before_tables)) == page.captions
    headings = re.findall(r"<h[23]>(.*?)</h[23]>", html)
    assert re.findall(r"^##+ (.*)$", markdown, re.MULTILINE) == headings
    in_latex = re.findall(r"^\\(?:sub)*section\{(.*)\}$", latex, re.MULTILINE)
    assert in_latex == [heading for heading in headings if heading != "Appendix"]
    assert all(len({len(row) for row in rows}) == 1 for rows in page.tables)
    cells = [cell for rows in page.tables for row in rows for cell in row]
    assert [cell for cell in cells if re.search(r"(^|[ (])-\d", cell)] == []


def test_latex_has_no_fault_and_texts_from_a_file_are_the_same(content):
    text = whole_latex(to_latex(content))
    assert list(latex_faults(text)) == []
    assert set(re.findall(r"[^\x00-\x7f]", text)) == set()
    read = json.loads(to_json(content))
    for write in (to_markdown, to_latex):
        assert write(read) == write(content)


def test_the_figures_are_in_the_page_and_named_in_markdown_and_latex(content):
    drawn = draw(content)
    page = Page(to_html(content, drawn))
    assert page.tags["svg"] == len(drawn) + len(FIRST)  # the first figures have a narrow form, too
    outside = {"src", "href", "xlink:href", "srcset", "data", "action", "poster", "background"}
    assert [value for name, value in page.attributes if name in outside and not value.startswith("#")] == []
    assert re.search(r"@import|url\(\s*['\"]?(http|//)", to_html(content, drawn)) is None
    linked = re.findall(r"\]\(figures/([\w-]+)\.svg\)$", to_markdown(content), re.MULTILINE)
    assert sorted(linked) == sorted(drawn)
    included = re.findall(r"\{figures/([\w-]+)\.pdf\}", whole_latex(to_latex(content, drawn)))
    assert sorted(included) == sorted(linked)


# The methods paragraph describes exactly what was done.


def methods(content):
    found = re.search(r"<h2>Methods</h2>\s*<p>(.*?)</p>", to_html(content, {}), re.DOTALL)
    return found[1].replace("&#39;", "'")


@cache
def without_plan():
    return small()


def planned(plan):
    return without_plan() | {"plan": plan}


def small(plan=None, resampling=SMALL, study_=None, verdicts=None):
    rows = [("a", "ada", "similar"), ("a", "ben", "similar"), ("b", "ada", "similar"), ("b", "ben", "dissimilar")]
    answers = pd.DataFrame(rows, columns=["item", "reviewer", "label"])
    none = pd.DataFrame({"item": [], "classifier": [], "verdict": []})
    given = none if verdicts is None else verdicts
    return summarise(answers, given, Provenance(study_ or {}, plan=plan), resampling=resampling)


def test_the_methods_say_how_many_reviewers_labelled_what():
    text = methods(small(study_={"question": "Alike?"}))
    assert says(text, "2 reviewers", "2 benchmarks")
    assert "question “Alike?”" in text
    assert says(text, "4 first labels")
    assert says(text, "the 1 items", "all equal; 1 items were split")


@pytest.mark.parametrize(
    ("assigned", "sentence"),
    [
        ({"2": 36}, "Each of the 36 items was assigned to 2 reviewers"),
        ({"2": 1}, "The only item was assigned to 2 reviewers"),
        ({"2": 32, "4": 4}, "Of the 36 items, 32 were assigned to 2 reviewers and 4 were assigned to 4 reviewers"),
        (
            {"10": 1, "2": 30, "1": 5},
            (
                "Of the 36 items, 5 were assigned to 1 reviewer, 30 were assigned to 2 reviewers and 1 was assigned to "
                "10 reviewers"
            ),
        ),
    ],
)
def test_the_methods_count_the_assignments_and_quote_no_parameter(assigned, sentence):
    text = methods(planned({**PLAN, "assigned": assigned, "repeats": 9}))
    assert f"{sentence}, in balanced blocks within applications (seed 7)." in text
    assert says(text, "asked for 9 labels", "labelled before")
    assert "20 %" not in text


def test_the_methods_name_the_random_parts_of_a_plan_as_in_the_paper():
    text = methods(planned({"hash": "abc", "seed": 7, "paper": True, "per_item": 2}))
    assert says(text, "at random into parts", "(seed 7)")
    assert "balanced blocks" not in text


@pytest.mark.parametrize("plan", [None, {}, {"hash": "abc"}, {"hash": "abc", "assigned": {}, "repeats": 0}])
def test_without_a_plan_the_methods_say_nothing_of_one(plan):
    text = methods(planned(plan))
    assert not re.search(r"assigned|at random|blocks|hidden|None", text)


def test_the_methods_say_seed_and_draws_or_nothing_of_them():
    text = methods(small(resampling=Resampling(5, 60, 70, 19)))
    assert says(text, "60 draws", "seed 5")
    assert "model is not reported" in text  # two reviewers
    assert "are not shown, because the labels agree too little" in methods(full())
    clear = made_study(k=3, n_items=48, reviewers=AGREEING)
    resampling = Resampling(5, 60, 70, 19)
    text = methods(summarise(clear.answers, clear.verdicts.iloc[:0], resampling=resampling, show_rejected=True))
    assert "70 sweeps" in text
    assert says(text, "Independent errors were tested", "joint level of 0.05", "corrected for all models")
    text = methods(small(resampling=Resampling.none()))
    assert not re.search(r"[Rr]esampling|bootstrap|Gibbs|latent", text)


def test_the_methods_name_the_classifiers_with_their_parameters():
    table = pd.DataFrame({"item": ["a", "a"], "classifier": ["same", "mine"], "verdict": "similar", "version": [3, 1]})
    table["parameters"] = ['{"cut": 0.2, "drop": 0.0}', '{"a": true}']
    text = methods(small(verdicts=table))
    assert "mine (a = yes, version = 1), same (cut = 0.2, drop = 0, version = 3)." in text
    table = pd.DataFrame({"item": ["a"], "classifier": ["mine"], "verdict": ["similar"]})
    assert "(positive category: dissimilar): mine. " in methods(small(verdicts=table))
    assert not re.search(r"[Cc]lassifier|Sensitivity", methods(without_plan()))


def test_every_parameter_of_the_report_is_in_one_table():
    tables = Tables(to_html(small(plan=PLAN, study_={"name": "S"}), {})).tables
    (rows,) = [rows for rows in tables if rows[0] == ["Part", "Name", "Value"]]
    shown = {(row[0], row[1]): row[2] for row in rows}
    assert shown["Plan", "seed"] == "7"
    assert shown["Study", "name"] == "S"
    assert shown["Parameters", "resampling"] == "seed = 1, n bootstrap = 40, n sweeps = 40, n misfit = 19"


ANSWERS = ["item", "reviewer", "label", "kind"]
VERDICTS = ["item", "classifier", "verdict", "score"]
D, S = "dissimilar", "similar"
PEOPLE = ("ada", "ben")


def said(*rows, kind="fresh"):
    """Build answers from rows of item, reviewer, label and optionally kind."""
    return pd.DataFrame([(*row, kind)[:4] for row in rows], columns=ANSWERS)


def called(*rows):
    """Build verdicts from rows of item, classifier, verdict and optionally score."""
    return pd.DataFrame([(*row, None)[:4] for row in rows], columns=VERDICTS)


def by_two(*labels, **options):
    """Build items x0, x1, ..., each with a label of ada and a label of ben."""
    rows = [(f"x{i}", name, label) for i, both in enumerate(labels) for name, label in zip(PEOPLE, both, strict=True)]
    return said(*rows, **options)


FEW = by_two((D, D), (S, S), (D, S), (D, D), (S, S), (S, D))
RULE = called(*((f"x{i}", "rule", (D, S)[i % 2], i / 10) for i in range(6)))
NONE = called()
NO_VALUES = pd.Series([], dtype=object)
EMPTY_COLUMNS = ("application", "position", "created_utc", "dwell_ms", "assignment")

CASES = {
    "no labels": (said(), NONE),
    "no labels but verdicts": (said(), RULE),
    "one label": (said(("x0", "ada", S)), RULE),
    "one reviewer": (said(*((f"x{i}", "ada", (S, D)[i % 2]) for i in range(6))), RULE),
    "reviewers without a common item": (said(*((f"x{i}", PEOPLE[i % 2], (S, D)[i % 2]) for i in range(6))), RULE),
    "two pairs without a common item": (
        pd.concat([by_two((D, S), (D, D)), said(("y", "cleo", S), ("y", "dan", S))], ignore_index=True), RULE
    ),
    "one category only": (by_two(*[(S, S)] * 6), RULE),
    "nobody agrees": (by_two(*[(S, D)] * 6), RULE),
    "one item, agreed": (by_two((D, D)), RULE),
    "one item, split": (by_two((D, S)), RULE),
    "one item by ten": (said(*(("x0", f"r{i}", (S, D)[i % 2]) for i in range(10))), RULE),
    "all not sure": (by_two(*[("not sure", "not sure")] * 3), RULE),
    "all withdrawn": (by_two(*[("withdrawn", "withdrawn")] * 3), RULE),
    "only third labels": (by_two((D, S), (D, D), kind="third"), RULE),
    "only retest": (by_two((D, S), (D, D), kind="retest"), RULE),
    "only calibration": (by_two((D, S), (D, D), kind="calibration"), RULE),
    "only decisions": (said(("x0", "carol", D), ("x1", "carol", S), kind="adjudicated"), RULE),
    "verdicts all missing": (FEW, RULE.assign(verdict=None)),
    "verdicts and scores all missing": (FEW, RULE.assign(verdict=None, score=None)),
    "a classifier without scores": (FEW, RULE.drop(columns="score")),
    "one classifier of two with scores": (FEW, pd.concat([RULE, RULE.assign(classifier="other", score=None)])),
    "constant scores": (FEW, RULE.assign(score=0.5, threshold=0.25)),
    "scores without a threshold": (FEW, RULE.assign(threshold=None)),
    "always the same verdict": (FEW, RULE.assign(verdict=S, threshold=0.25)),
    "a classifier that judges no labelled item": (FEW, RULE.assign(item="z" + RULE["item"], threshold=0.25)),
    "verdicts on some unknown items": (FEW, pd.concat([RULE, RULE.assign(item="z" + RULE["item"])])),
    "optional columns without a value": (FEW.assign(**dict.fromkeys(EMPTY_COLUMNS[:4])), RULE.assign(application=None)),
    "no application has a name": (FEW.assign(application=""), RULE.assign(application="", means=[{}] * 6)),
    "optional columns and no rows": (said().assign(**dict.fromkeys(EMPTY_COLUMNS, NO_VALUES)), NONE),
    "numbers as names of items": (FEW.assign(item=range(12)), NONE),
}  # fmt: skip


@cache
def content_of(case):
    """Return a report with all sections."""
    return summarise(*CASES[case], resampling=SMALL)


@pytest.mark.parametrize("case", CASES)
def test_every_format_is_whole_and_every_undefined_number_has_a_reason(case):
    small_content = content_of(case)
    assert json.loads(to_json(small_content))["agreement"]["n_labels"] == small_content["agreement"]["n_labels"]
    assert [place for place, e in estimates(small_content) if e["value"] is None and not e["reason"]] == []
    page = Page(to_html(small_content, {}))
    assert page.wrong == []
    assert page.tags["script"] == 0
    assert re.search(r"\b(nan|None|inf)\b", page.text) is None
    text = to_markdown(small_content)
    assert {len({len(row) for row in rows}) for rows in markdown_tables(text)} == {1}
    assert re.search(r"\b(nan|None|inf)\b", text) is None
    text = whole_latex(to_latex(small_content))
    assert list(latex_faults(text)) == []
    assert all({len(row) for row in rows} == {len(columns)} for columns, rows in latex_tables(text))
    assert re.search(r"\b(nan|None|inf)\b", text) is None


def test_the_wide_table_has_a_row_for_every_item():
    for answers, verdicts in CASES.values():
        assert wide(answers, verdicts)["item"].tolist() == sorted({*answers["item"], *verdicts["item"]})


CLEAR, METHODS, CURVES = {"clear-answers"}, {"methods-and-people"}, {"precision-recall", "roc"}
SHARED = {*CLEAR, "pairs-of-people", "label-strip", "pair-agreement"}
FIRST = {*CLEAR, *METHODS, "pairs-of-people"}


@pytest.mark.parametrize(
    ("case", "figures"),
    [
        ("no labels but verdicts", set()),
        ("only third labels", CLEAR),
        ("reviewers without a common item", CLEAR),
        ("one item, split", {*SHARED, *METHODS}),
        ("one category only", {*SHARED, *METHODS, "classifiers"}),
        ("verdicts all missing", {*SHARED, *CURVES}),
        ("a classifier without scores", {*SHARED, *METHODS, "classifiers"}),
        ("a classifier that judges no labelled item", SHARED),
        ("no application has a name", {*SHARED, *METHODS, *CURVES, "classifiers"}),
    ],
)
def test_a_figure_is_drawn_and_named_where_there_is_something_to_show(case, figures):
    small_content = content_of(case)
    drawn = draw(small_content)
    assert set(drawn) == set(re.findall(r"\]\(figures/([\w-]+)\.svg\)", to_markdown(small_content))) == figures
    assert Page(to_html(small_content, drawn)).wrong == []


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        ("no labels", "no item has two"),
        ("reviewers without a common item", "No two reviewers have labelled"),
        ("one category only", "only one category"),
        ("a classifier that judges no labelled item", "item has a verdict"),
        ("verdicts all missing", "item has a verdict"),
        ("a classifier without scores", "cannot be evaluated: rule."),
        ("only third labels", "With 4 third labels and 0 decisions of coordinators"),
        ("only decisions", "With 0 third labels and 2 decisions of coordinators"),
        ("only calibration", "4 calibration labels"),
    ],
)
def test_the_page_says_what_there_is_too_little_of(case, sentence):
    assert sentence in Page(to_html(content_of(case), {})).text


def test_the_checks_of_this_file_find_what_they_look_for():
    assert Page("<p><b>x</p>").wrong
    assert [len(row) for row in markdown_tables("| a | b\\|c |\n| --- | --- |\n| 1 | 2 | 3 |")[0]] == [2, 2, 3]
    for broken in ("a_b", "50 % of", "{", "\\begin{table}", "$x", "\\input{x}", "}{"):
        assert list(latex_faults(broken)), broken
    assert list(latex_faults("\\section*{a\\_b \\& 5\\,\\%}".replace("\\,", ""))) == []
    empty = pd.Series([float("nan")] * len(FEW))  # the value that read_csv returns
    assert summarise(FEW.assign(created_utc=empty), RULE)["agreement"]["by_date"] == []


@pytest.mark.parametrize("level", [0.5, 0.999])
def test_a_report_works_at_any_level(level):
    page = Page(to_html(summarise(FEW, RULE, level=level), {}))
    assert f"All intervals have a level of {100 * level:g} %" in page.text


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
def report_of(kind):
    name = HOSTILE[kind]
    answers, verdicts = named(name)
    study = {"name": name, "question": name, "state": name, "interim": True, name: name}
    provenance = Provenance(study, {"p": name}, {"seed": name}, {"h": name}, {name: name}, [name])
    return summarise(answers, verdicts, provenance)


def one_line(text):
    return " ".join(text.split())


@pytest.mark.parametrize("kind", some_slow(HOSTILE, RARE))
def test_page_markdown_and_latex_show_every_name_as_text(kind):
    page = Page(to_html(report_of(kind), {}))
    assert page.wrong == []
    assert not page.tags.keys() & {"script", "img", "b", "iframe", "object", "link"}
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "src"]
    assert all(re.fullmatch(r"#[a-z0-9-]+", value) for name, value in page.attributes if name == "href")
    assert page.text.count(one_line(clean(HOSTILE[kind]))) > 10
    text, plain = to_markdown(report_of(kind)), to_markdown(report_of("None"))
    assert {len({len(row) for row in rows}) for rows in markdown_tables(text)} == {1}
    assert [len(rows) for rows in markdown_tables(text)] == [len(rows) for rows in markdown_tables(plain)]
    for line in (r"#+ ", r"!\[", r"- "):
        assert len(re.findall(f"^{line}", text, re.MULTILINE)) == len(re.findall(f"^{line}", plain, re.MULTILINE))
    assert re.search(r"(?<!\\)[<`]", text) is None
    text, plain = (whole_latex(to_latex(report_of(k))) for k in (kind, "None"))
    assert list(latex_faults(text)) == []
    shape = [(len(columns), len(rows)) for columns, rows in latex_tables(text)]
    assert shape == [(len(columns), len(rows)) for columns, rows in latex_tables(plain)]
    assert all({len(row) for row in rows} == {len(columns)} for columns, rows in latex_tables(text))
    assert "\\input" not in text  # besides those of its own files


def test_latex_shows_a_command_as_text_and_a_question_mark_for_what_its_fonts_lack():
    assert "\\textbackslash{}input\\{x\\}\\textbackslash{}end\\{tabular\\}" in whole_latex(
        to_latex(report_of("LaTeX command"))
    )
    text = whole_latex(to_latex(report_of("unicode")))
    assert "ünï" in text
    assert re.search("[日本語😀]", text) is None


@pytest.mark.parametrize(
    "kind", some_slow(("script", "newlines", "control characters", "long"), HOSTILE.keys() - {"newlines"})
)
def test_the_figures_are_complete_for_any_names(kind):
    figures = draw(report_of(kind))
    assert set(figures) == {*SHARED, *METHODS, *CURVES, "classifiers", "measures-by-application"}
    page = Page(to_html(report_of(kind), figures))
    assert page.wrong == []
    assert page.tags["svg"] == len(figures) + len(FIRST)
    assert not page.tags.keys() & {"script", "img", "b"}


@pytest.mark.parametrize("kind", some_slow(HOSTILE, RARE))
def test_the_wide_table_and_the_numbers_keep_any_names(kind):
    name = HOSTILE[kind]
    table = wide(*named(name))
    assert {f"label_{name}", f"verdict_{name}", f"score_{name}"} <= set(table)
    assert name in table["item"].tolist()
    one, other = report_of(kind), report_of("None")
    for name in ("coefficients", "n_labels"):
        assert one["agreement"][name] == other["agreement"][name]
    both = ((kind, one), ("None", other))
    confusions = [content["classifiers"][HOSTILE[k]]["against"]["counts"] for k, content in both]
    assert confusions[0] == confusions[1]


@pytest.mark.parametrize("write", [to_markdown, partial(to_html, figures={})], ids=["md", "html"])
def test_no_text_holds_a_control_character(write):
    assert re.search(r"[\x00-\x08\x0e-\x1f\x7f]", write(report_of("control characters"))) is None


def test_a_name_is_not_an_argument_of_the_latex_command_before_it():
    answers, verdicts = named("[5mm] ada")
    text = whole_latex(to_latex(summarise(answers.replace("ben", "*ada"), verdicts)))
    assert re.search(r"\\\\\s*[\[*]|\\(top|mid|bottom)rule\s*\[|\\item\s*\[", text) is None


@pytest.mark.parametrize("question", ["- a", "+ a", "1. a", "1) a", "---"])
def test_a_question_is_a_paragraph_in_markdown_however_it_begins(question):
    content = report_of("None")
    text = to_markdown(content | {"study": content["study"] | {"question": question, "interim": False}})
    paragraph = text.split("\n\n")[1]
    assert re.match(r"([-+]|\d+[.)])\s|---", paragraph) is None
