"""One report in three formats: equal tables, a self-contained page, and a correct methods paragraph."""

import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from analysis.document import to_json
from analysis.report import Provenance, Resampling, registry
from tests.analysis.reports import draw, summarise, to_html, to_latex, to_markdown
from tests.analysis.test_report_degenerate import Page, latex_faults, latex_tables, markdown_tables, whole_latex
from tests.analysis.test_report_identities import SMALL, study
from tests.sentences import says

REPLICATION = Path(__file__).parents[2] / "data" / "replication"
FROM_LATEX = {
    "\\textbackslash{}": "\\", "\\textasciicircum{}": "^", "\\textasciitilde{}": "~", "\\textless{}": "<", "$-$": "−",
    "\\textgreater{}": ">", "\\textbar{}": "|", "\\textquotedbl{}": '"', "--": "–", "``": "“", "''": "”",
    "$\\chi$": "χ", "\\textsuperscript{2}": "²", "$\\theta$": "θ", "$\\blacktriangle$": "▲", "\\textmu{}": "µ",
}  # fmt: skip
PLAN = {"hash": "abc", "seed": 7, "per_item": 3, "overlap": 0.2, "retest": 20}


@cache
def replication():
    tables = [pd.read_csv(REPLICATION / f"{name}.csv") for name in ("labels", "verdicts")]
    return summarise(*tables, Provenance(parameters=registry()), resampling=SMALL)


@cache
def full():
    made = study("k = 3 with overlap")
    return summarise(made.answers, made.verdicts, Provenance(plan=PLAN), resampling=SMALL)


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


def test_the_cells_are_equal_in_html_and_markdown(content):
    of_page = Tables(to_html(content, {})).tables
    of_text = [without_header(rows) for rows in markdown_tables(to_markdown(content))]
    assert len(of_page) > 8
    assert [[list(map(of_markdown, row)) for row in rows] for rows in of_text] == of_page


def test_the_cells_are_equal_in_html_and_latex(content):
    of_page = Tables(to_html(content, {})).tables
    of_text = [rows for _columns, rows in latex_tables(whole_latex(to_latex(content)))]
    assert [[list(map(of_latex, row)) for row in rows] for rows in of_text] == of_page


def test_the_captions_are_equal_in_all_formats(content):
    captions = Tables(to_html(content, {})).captions
    assert (
        list(
            map(of_latex, re.findall(r"^\\caption\{(.*)\}\\label\{tab:", whole_latex(to_latex(content)), re.MULTILINE))
        )
        == captions
    )
    before_tables = re.findall(r"^(.+)\n\n\| ", to_markdown(content), re.MULTILINE)
    assert list(map(of_markdown, before_tables)) == captions


def test_the_headings_are_equal_in_all_formats(content):
    headings = re.findall(r"<h[23]>(.*?)</h[23]>", to_html(content, {}))
    assert re.findall(r"^##+ (.*)$", to_markdown(content), re.MULTILINE) == headings
    in_latex = re.findall(r"^\\(?:sub)*section\{(.*)\}$", whole_latex(to_latex(content)), re.MULTILINE)
    assert in_latex == [heading for heading in headings if heading != "Appendix"]


def test_latex_has_no_fault_and_no_sign_that_t1_fonts_lack(content):
    text = whole_latex(to_latex(content))
    assert list(latex_faults(text)) == []
    assert set(re.findall(r"[^\x00-\x7f]", text)) == set()


def test_the_tables_of_the_page_are_rows_of_equal_length(content):
    for rows in Tables(to_html(content, {})).tables:
        assert len({len(row) for row in rows}) == 1


def test_the_table_of_the_paper_is_in_the_page():
    (table,) = (
        rows for rows in Tables(to_html(replication(), {})).tables if rows[0][0] == "Pair" and rows[0][2] == "Agreed"
    )
    shown = [[*row[:3], row[3].split(" (")[0]] for row in table[1:]]
    assert shown == [
        ["R1 – R2", "98", "46", "46.9 %"], ["R1 – R3", "98", "56", "57.1 %"], ["R1 – R4", "97", "34", "35.1 %"],
        ["R2 – R3", "98", "52", "53.1 %"], ["R2 – R4", "97", "75", "77.3 %"], ["R3 – R4", "98", "61", "62.2 %"],
    ]  # fmt: skip


def test_negative_shares_have_the_same_minus_as_other_numbers(content):
    cells = [cell for rows in Tables(to_html(content, {})).tables for row in rows for cell in row]
    assert [cell for cell in cells if re.search(r"(^|[ (])-\d", cell)] == []


def test_the_page_holds_its_figures_and_refers_to_nothing_outside(content):
    drawn = draw(content)
    page = Page(to_html(content, drawn))
    assert page.tags["svg"] == len(drawn) > 0
    outside = {"src", "href", "xlink:href", "srcset", "data", "action", "poster", "background"}
    assert [value for name, value in page.attributes if name in outside and not value.startswith("#")] == []
    assert re.search(r"@import|url\(\s*['\"]?(http|//)", to_html(content, drawn)) is None


def test_markdown_and_latex_name_the_figures_that_are_drawn(content):
    linked = re.findall(r"\]\(figures/([\w-]+)\.svg\)$", to_markdown(content), re.MULTILINE)
    assert sorted(linked) == sorted(draw(content))
    included = re.findall(r"\{figures/([\w-]+)\.pdf\}", whole_latex(to_latex(content, draw(content))))
    assert sorted(included) == sorted(linked)


def test_the_texts_from_a_file_are_the_same(content):
    read = json.loads(to_json(content))
    for write in (to_markdown, to_latex):
        assert write(read) == write(content)


# The methods paragraph describes exactly what was done.


def methods(content):
    found = re.search(r"<h2>Methods</h2>\s*<p>(.*?)</p>", to_html(content, {}), re.DOTALL)
    return found[1].replace("&#39;", "'")


def small(plan=None, level=0.95, resampling=SMALL, study_=None, verdicts=None):
    rows = [("a", "ada", "similar"), ("a", "ben", "similar"), ("b", "ada", "similar"), ("b", "ben", "dissimilar")]
    answers = pd.DataFrame(rows, columns=["item", "reviewer", "label"])
    none = pd.DataFrame({"item": [], "classifier": [], "verdict": []})
    given = none if verdicts is None else verdicts
    return summarise(answers, given, Provenance(study_ or {}, plan=plan), level=level, resampling=resampling)


def test_the_methods_say_how_many_reviewers_labelled_what():
    text = methods(small(study_={"question": "Alike?"}))
    assert says(text, "2 reviewers", "2 benchmarks")
    assert "question “Alike?”" in text
    assert says(text, "4 first labels")
    assert says(text, "the 1 items", "all equal; 1 items were split")


@pytest.mark.parametrize(("level", "shown"), [(0.95, "95 %"), (0.9, "90 %"), (0.995, "99.5 %")])
def test_the_methods_say_the_level(level, shown):
    assert f"All intervals have a level of {shown}." in methods(small(level=level))


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
    text = methods(small(plan={**PLAN, "assigned": assigned, "repeats": 9}))
    assert f"{sentence}, in balanced blocks within applications (seed 7)." in text
    assert says(text, "asked for 9 labels", "labelled before")
    assert "20 %" not in text


def test_the_methods_of_an_earlier_report_say_what_its_plan_asked_for():
    text = methods(small(plan=PLAN))
    assert "The plan asked for 3 labels per item, in balanced blocks within applications (seed 7)." in text
    assert "20 %" not in text


def test_the_methods_say_the_papers_plan():
    text = methods(small(plan={"hash": "abc", "seed": 7, "paper": True, "per_item": 2}))
    assert says(text, "at random into parts", "(seed 7)")
    assert "balanced blocks" not in text


@pytest.mark.parametrize("plan", [None, {}, {"hash": "abc"}])
def test_without_a_plan_the_methods_say_nothing_of_one(plan):
    text = methods(small(plan=plan))
    assert not re.search(r"assigned|at random|blocks|hidden|None", text)


def test_the_methods_say_seed_and_draws():
    text = methods(small(resampling=Resampling(5, 60, 70, 19)))
    assert says(text, "60 draws", "seed 5")
    assert "model is not reported" in text  # two reviewers
    made = study("k = 3 with overlap")
    text = methods(summarise(made.answers, made.verdicts, resampling=Resampling(5, 60, 70, 19), show_rejected=True))
    assert "70 sweeps" in text
    assert says(text, "Independent errors were tested", "19 draws, seed 5")


def test_without_resampling_the_methods_say_nothing_of_it():
    text = methods(small(resampling=Resampling.none()))
    assert not re.search(r"[Rr]esampling|bootstrap|Gibbs|latent", text)


def test_the_methods_name_the_classifiers_with_their_parameters():
    table = pd.DataFrame({"item": ["a", "a"], "classifier": ["same", "mine"], "verdict": "similar", "version": [3, 1]})
    table["parameters"] = ['{"cut": 0.2, "drop": 0.0}', '{"a": true}']
    text = methods(small(verdicts=table))
    assert "mine (a = yes, version = 1), same (cut = 0.2, drop = 0, version = 3)." in text


def test_the_methods_name_classifiers_of_a_file_without_parameters():
    table = pd.DataFrame({"item": ["a"], "classifier": ["mine"], "verdict": ["similar"]})
    assert "(positive category: dissimilar): mine. " in methods(small(verdicts=table))


def test_without_verdicts_the_methods_say_nothing_of_classifiers():
    assert not re.search(r"[Cc]lassifier|Sensitivity", methods(small()))


def test_every_parameter_of_the_report_is_in_one_table():
    tables = Tables(to_html(small(plan=PLAN, study_={"name": "S"}), {})).tables
    (rows,) = [rows for rows in tables if rows[0] == ["Part", "Name", "Value"]]
    shown = {(row[0], row[1]): row[2] for row in rows}
    assert shown["Plan", "seed"] == "7"
    assert shown["Study", "name"] == "S"
    assert shown["Parameters", "resampling"] == "seed = 1, n bootstrap = 40, n sweeps = 40, n misfit = 19"
