"""Makers of reports: simulated studies, reports as a reader of report.json has them, and readers of their pages."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, partial
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd

from analysis import report as of_analysis
from analysis.document import json_values, read_back
from analysis.report import Report, Resampling
from tests.analysis.raters.simulated import Difficulty, Rater, SimulatedDesign, simulate


def summarise(*args: Any, **options: Any) -> dict[str, Any]:
    """Return all numbers of a report as plain values."""
    content: dict[str, Any] = json_values(of_analysis.summarise(*args, **options))
    return content


def _again(make: Any, content: dict[str, Any], *args: Any, **options: Any) -> Any:
    return make(read_back(Report, content), *args, **options)


to_html, to_markdown, to_latex, draw, document = (
    partial(_again, make)
    for make in (
        of_analysis.to_html,
        of_analysis.to_markdown,
        of_analysis.to_latex,
        of_analysis.draw,
        of_analysis.document,
    )
)


REVIEWERS = (Rater("ada", 0.95, 0.9), Rater("ben", 0.8, 0.7), Rater("cleo", 0.7, 0.85), Rater("dan", 0.6, 0.6))


AGREEING = tuple(Rater(rater.name, 0.95, 0.95) for rater in REVIEWERS)  # they agree enough for a latent class model


CLASSIFIERS = (Rater("heuristic", 0.92, 0.45), Rater("same", 0.3, 0.85))


OTHER = {"similar": "dissimilar", "dissimilar": "similar"}


SMALL = Resampling(seed=1, n_bootstrap=40, n_sweeps=40, n_misfit=19)


@dataclass(frozen=True)
class Made:
    """A simulated study with all kinds of answers, and the counts used to build it."""

    answers: pd.DataFrame
    verdicts: pd.DataFrame
    put_in: Counter


def made_study(seed=1, *, k=2, overlap=0.2, n_items=48, reviewers=REVIEWERS):
    """Simulate a study with all columns: first labels, not sure, corrections, own revisions, retest, calibration, third
    labels, decisions."""
    rng = np.random.default_rng(seed)
    study = simulate(
        SimulatedDesign(n_items, k, overlap), reviewers, CLASSIFIERS, 0.55, rng=rng, item_difficulty=Difficulty(0.3)
    )
    seen_by = study.labels.groupby("item")["rater"].agg(set)
    rows, put_in, tasks = [], Counter(), []

    def answer(item, reviewer, label, kind, assignment):
        n = len(rows)
        rows.append((item, reviewer, label, kind, assignment, f"org/app{int(item[1:]) % 22}", n % 7, n))

    for item, reviewer, category in study.labels.sample(frac=1, random_state=seed).itertuples(index=False):
        kind = "overlap" if len(seen_by[item]) == 4 else "fresh"
        task, sort = (item, reviewer, category, kind, f"{kind} {item}"), len(tasks) % 12
        tasks.append(task)
        for first, label in {1: "not sure", 2: "not sure", 3: "withdrawn", 4: OTHER[category]}.items():
            if sort == first:
                answer(item, reviewer, label, kind, task[4])
        put_in["withdrawn"] += sort == 3
        if sort == 1:
            put_in["not sure"] += 1
        else:
            answer(item, reviewer, category, kind, task[4])
            put_in["first"] += 1
    for number, (item, reviewer, category, kind, assignment) in enumerate(tasks):
        if number % 12 in (5, 6):
            answer(item, reviewer, OTHER[category] if number % 12 == 5 else category, kind, assignment)
            put_in["revisions"] += 1
        if number % 9 == 0:
            answer(item, reviewer, category if number % 2 else OTHER[category], "retest", f"retest {item}")
            put_in["retest"] += 1
        if number % 20 == 0:
            answer("i0", reviewer, category, "calibration", f"calibration {number}")
            put_in["calibration"] += 1
    said = study.labels.groupby("item")["category"].agg(set)
    for number, item in enumerate(said[said.map(len) == 2].index):
        absent = [rater.name for rater in REVIEWERS if rater.name not in seen_by[item]]
        if absent and number % 3:
            answer(item, absent[0], study.truth[item], "third", f"third {item}")
            put_in["third"] += 1
        elif number % 2:
            answer(item, "carol", study.truth[item], "adjudicated", f"adjudicated {item}")
            put_in["adjudicated"] += 1
    columns = ["item", "reviewer", "label", "kind", "assignment", "application", "position", "dwell_ms"]
    answers = pd.DataFrame(rows, columns=columns)
    answers["created_utc"] = [f"2026-11-{10 + n // 100}T12:00:00+00:00" for n in range(len(answers))]
    return Made(answers, _with_scores(study.verdicts, rng), put_in)


def _with_scores(table, rng):
    """Return the verdicts with all optional columns; one in fifteen verdicts is missing."""
    called = (table["verdict"] == "dissimilar").to_numpy()
    score = np.where(called, 0.26, 0.0) + rng.random(len(table)).round(2) / 4
    table = table.assign(
        score=score, threshold=0.25, version=1, application=[f"org/app{int(i[1:]) % 22}" for i in table["item"]],
        means=[{"m1": float(s), "m2": 0.5} for s in score], parameters='{"theta": 0.25}',
    )  # fmt: skip
    missing = np.arange(len(table)) % 15 == 7
    return table.assign(verdict=table["verdict"].astype(object).where(~missing, None))


def bare(made):
    """Return the same study with only the required columns and fresh answers."""
    fresh = made.answers[made.answers["kind"].isin(["fresh", "overlap"])]
    return Made(fresh[["item", "reviewer", "label"]], made.verdicts[["item", "classifier", "verdict"]], made.put_in)


DESIGNS = {
    "k = 2": {"k": 2, "overlap": 0.0},
    "k = 2 with overlap": {"k": 2, "overlap": 0.25},
    "k = 3": {"k": 3, "overlap": 0.0},
    "k = 3 with overlap": {"k": 3, "overlap": 0.1},
    "all by all": {"k": 4, "overlap": 0.0},
}


@cache
def study(name):
    """Return a simulated study by name; tests must not change it."""
    if name.endswith(", bare"):
        return bare(study(name.removesuffix(", bare")))
    return made_study(**DESIGNS[name])


@cache
def report(name):
    return summarise(study(name).answers, study(name).verdicts, resampling=SMALL)


def estimates(value, place=""):
    """Yield every statistic of a report with its place."""
    if isinstance(value, dict):
        if {"value", "low", "high", "reason"} <= set(value):
            yield place, value
        for name, entry in value.items():
            yield from estimates(entry, f"{place}.{name}")
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            yield from estimates(entry, f"{place}[{number}]")


def cells(against):
    """The counts of the matrix of two categories as tp, fp, fn, tn."""
    (tn, fp), (fn, tp) = against["counts"]
    return [tp, fp, fn, tn]


VOID = {"meta", "br", "hr", "img", "link", "input"}


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


LATEX_WORDS = {
    "section", "subsection", "subsubsection", "begin", "end", "item", "centering", "caption", "toprule", "midrule",
    "documentclass", "usepackage", "title", "date", "maketitle", "clearpage", "appendix", "label", "linewidth",
    "textheight", "includegraphics", "par", "raggedright", "footnotesize", "endhead",
    "bottomrule", "textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar",
    "textquotedbl", "textsuperscript", "chi", "theta", "blacktriangle", "textmu",
    "resizebox", "arraybackslash", "ifdim", "else", "fi", "width", "height", "allowbreak", "setlength",
    "tabcolsep", "makeatletter", "makeatother", "renewenvironment", "addvspace", "bigskipamount", "noindent", "def",
    "textbf",
}  # fmt: skip


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


HOSTILE = {
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
DAILY = {"script", "LaTeX command", "LaTeX signs", "Markdown row", "newlines", "control characters", "unicode", "None"}
RARE = HOSTILE.keys() - DAILY  # the tests of documents try all of them every day
