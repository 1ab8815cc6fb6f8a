"""Studies with very little data: every format of the report is valid and has no NaN."""

import json
import re
from collections import Counter
from functools import cache
from html.parser import HTMLParser

import pandas as pd
import pytest

from analysis.document import to_json
from analysis.report import Resampling, wide
from tests.analysis.reports import draw, summarise, to_html, to_latex, to_markdown
from tests.analysis.test_report_identities import estimates

ANSWERS = ["item", "reviewer", "label", "kind"]
VERDICTS = ["item", "classifier", "verdict", "score"]
RESAMPLING = {"plain": Resampling.none(), "resampled": Resampling(seed=1, n_bootstrap=50, n_sweeps=50, n_misfit=19)}
VOID = {"meta", "br", "hr", "img", "link", "input"}
D, S = "dissimilar", "similar"
NAMES = ("ada", "ben")


def said(*rows, kind="fresh"):
    """Build answers from rows of item, reviewer, label and optionally kind."""
    return pd.DataFrame([(*row, kind)[:4] for row in rows], columns=ANSWERS)


def called(*rows):
    """Build verdicts from rows of item, classifier, verdict and optionally score."""
    return pd.DataFrame([(*row, None)[:4] for row in rows], columns=VERDICTS)


def by_two(*labels, **options):
    """Build items x0, x1, ..., each with a label of ada and a label of ben."""
    rows = [(f"x{i}", name, label) for i, both in enumerate(labels) for name, label in zip(NAMES, both, strict=True)]
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
    "reviewers without a common item": (said(*((f"x{i}", NAMES[i % 2], (S, D)[i % 2]) for i in range(6))), RULE),
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


class Page(HTMLParser):
    """Collect the texts of a page, and check that its tags are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.wrong, self.texts, self.tags, self.attributes = [], [], [], Counter(), []
        self.feed(page)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += attrs

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def cells_of(row):
    """Split a row of a Markdown table into cells; a bar after a backslash is text."""
    return re.findall(r"\|((?:\\.|[^|\\])*)(?=\|)", row)


def markdown_tables(text):
    """Return each table of a Markdown text as rows of cells."""
    return [
        [cells_of(row) for row in block.split("\n")] for block in text.strip().split("\n\n") if block.startswith("| ")
    ]


TABULAR = re.compile(
    r"\\begin\{(?:tabular|longtable)\}\{((?:>|\w|\{[^}]*\})+)\}\n(?:\\caption[^\n]*\n)?\\toprule\n(.*?)\\bottomrule",
    re.DOTALL,
)


def latex_tables(text):
    """Return each table of a LaTeX text as column letters and rows of cells."""
    for columns, body in TABULAR.findall(text):
        columns = re.sub(r">\{[^}]*\}p\{[^}]*\}", "p", columns)
        rows = re.sub(r"\\(midrule|endhead)\n", "", body).removesuffix(" \\\\\n").split(" \\\\\n")
        yield columns, [re.split(r"(?<!\\) & ", row) for row in rows] if body else []


def whole_latex(files):
    """Join the files of a report to the text that LaTeX reads."""
    return re.sub(
        r"\\input\{((?:tables|figures)/[\w-]+)\}",
        lambda match: files[f"{match[1]}.tex"].rstrip("\n"),
        files["main.tex"],
    )


def latex_faults(text):
    """List LaTeX errors: open groups, open environments, characters that are not escaped."""
    lines = [line for line in text.split("\n") if not line.startswith("% ")]
    bare = "\n".join(lines).replace("\\\\", "")
    bare = re.sub(r"\\[{}$&#%_]", "", bare)
    opened = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", bare):
        if what == "begin":
            opened.append(name)
        elif not opened or opened.pop() != name:
            yield f"\\end{{{name}}}"
    yield from opened
    depth = 0
    for sign in re.findall(r"[{}]", bare):
        depth += 1 if sign == "{" else -1
        if depth < 0:
            break
    if depth:
        yield "braces"
    yield from re.findall(r"[#%^~_]", bare)
    yield from re.findall(r"\$(?!-\$|\\\w+\$)[^$]*\$?", re.sub(r"\$(-|\\\w+)\$", "", bare))
    yield from set(re.findall(r"\\(\w+)", bare)) - LATEX_WORDS


LATEX_WORDS = {
    "section", "subsection", "subsubsection", "begin", "end", "item", "centering", "caption", "toprule", "midrule",
    "documentclass", "usepackage", "title", "date", "maketitle", "clearpage", "appendix", "label", "linewidth",
    "textheight", "includegraphics", "par", "raggedright", "footnotesize", "endhead",
    "bottomrule", "textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar",
    "textquotedbl", "textsuperscript", "chi", "theta", "blacktriangle", "textmu",
    "resizebox", "arraybackslash", "ifdim", "else", "fi", "width", "height", "allowbreak", "setlength",
    "tabcolsep", "makeatletter", "makeatother", "renewenvironment", "addvspace", "bigskipamount", "noindent", "def",
}  # fmt: skip


@cache
def content_of(case, resampling):
    return summarise(*CASES[case], resampling=RESAMPLING[resampling])


@pytest.fixture(params=CASES)
def content(request):
    """Build a report with all sections."""
    return content_of(request.param, "resampled")


@pytest.mark.parametrize("resampling", RESAMPLING)
@pytest.mark.parametrize("case", CASES)
def test_the_numbers_are_json_and_every_undefined_one_has_a_reason(case, resampling):
    content = content_of(case, resampling)
    assert json.loads(to_json(content))["agreement"]["n_labels"] == content["agreement"]["n_labels"]
    assert [place for place, e in estimates(content) if e["value"] is None and not e["reason"]] == []


@pytest.mark.parametrize("resampling", RESAMPLING)
@pytest.mark.parametrize("case", CASES)
def test_the_page_is_valid_and_has_no_nan(case, resampling):
    page = Page(to_html(content_of(case, resampling), {}))
    assert page.wrong == []
    assert page.tags["script"] == 0
    assert re.search(r"\b(nan|None|inf)\b", page.text) is None


def test_the_tables_in_markdown_have_rows_of_equal_length(content):
    text = to_markdown(content)
    assert {len({len(row) for row in rows}) for rows in markdown_tables(text)} == {1}
    assert re.search(r"\b(nan|None|inf)\b", text) is None


def test_the_latex_is_whole(content):
    text = whole_latex(to_latex(content))
    assert list(latex_faults(text)) == []
    assert all({len(row) for row in rows} == {len(columns)} for columns, rows in latex_tables(text))
    assert re.search(r"\b(nan|None|inf)\b", text) is None


@pytest.mark.parametrize("case", CASES)
def test_the_wide_table_has_a_row_for_every_item(case):
    answers, verdicts = CASES[case]
    assert wide(answers, verdicts)["item"].tolist() == sorted({*answers["item"], *verdicts["item"]})


@pytest.mark.parametrize(
    ("case", "figures"),
    [
        ("no labels but verdicts", set()),
        ("only third labels", set()),
        ("reviewers without a common item", set()),
        ("one item, split", {"label-strip", "pair-agreement"}),
        ("one category only", {"classifiers", "label-strip", "pair-agreement"}),
        ("nobody agrees", {"label-strip", "pair-agreement"}),
        ("verdicts and scores all missing", {"label-strip", "pair-agreement"}),
        ("verdicts all missing", {"label-strip", "pair-agreement", "precision-recall", "roc"}),
        ("constant scores", {"classifiers", "label-strip", "pair-agreement", "precision-recall", "roc"}),
        ("a classifier without scores", {"classifiers", "label-strip", "pair-agreement"}),
        ("a classifier that judges no labelled item", {"label-strip", "pair-agreement"}),
        ("no application has a name", {"classifiers", "label-strip", "pair-agreement", "precision-recall", "roc"}),
    ],
)
def test_a_figure_is_drawn_and_named_where_there_is_something_to_show(case, figures):
    content = content_of(case, "plain")
    drawn = draw(content)
    assert set(drawn) == set(re.findall(r"\]\(figures/([\w-]+)\.svg\)", to_markdown(content))) == figures
    assert Page(to_html(content, drawn)).wrong == []


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        ("no labels", "no item has two"),
        ("reviewers without a common item", "No two reviewers have labelled"),
        ("one category only", "only one category"),
        ("a classifier that judges no labelled item", "item has a verdict"),
        ("verdicts all missing", "item has a verdict"),
        ("a classifier without scores", "cannot be evaluated: rule."),
        ("only third labels", "With 4 third labels and 0 adjudications"),
        ("only decisions", "With 0 third labels and 2 adjudications"),
        ("only calibration", "4 calibration labels"),
    ],
)
def test_the_page_says_what_there_is_too_little_of(case, sentence):
    assert sentence in Page(to_html(content_of(case, "plain"), {})).text


def test_the_checks_of_this_file_find_what_they_look_for():
    assert Page("<p><b>x</p>").wrong
    assert [len(row) for row in markdown_tables("| a | b\\|c |\n| --- | --- |\n| 1 | 2 | 3 |")[0]] == [2, 2, 3]
    for broken in ("a_b", "50 % of", "{", "\\begin{table}", "$x", "\\input{x}", "}{"):
        assert list(latex_faults(broken)), broken
    assert list(latex_faults("\\section*{a\\_b \\& 5\\,\\%}".replace("\\,", ""))) == []


def test_a_column_of_times_without_a_value_is_as_good_as_none():
    empty = pd.Series([float("nan")] * len(FEW))  # the value that read_csv returns
    assert summarise(FEW.assign(created_utc=empty), RULE)["agreement"]["by_date"] == []


@pytest.mark.parametrize("level", [0.5, 0.9, 0.999])
def test_a_report_works_at_any_level(level):
    page = Page(to_html(summarise(FEW, RULE, level=level), {}))
    assert f"All intervals have a level of {100 * level:g} %" in page.text
