"""Documents in every format: terminal output, and names that do not affect the text around them."""

import re
import shutil
import subprocess

import pytest
from hypothesis import given, strategies as st

from analysis.document import (
    Bullets,
    Document,
    Figure,
    Paragraph,
    Section,
    Table,
    table,
    to_html,
    to_latex,
    to_markdown,
    to_text,
)
from analysis.document._text import WIDTH
from tests.analysis.test_report_degenerate import Page, markdown_tables
from tests.analysis.test_report_hostile import NAMES

names = st.one_of(st.sampled_from(sorted(NAMES.values())), st.text(max_size=30))


def document(*blocks, title="Title", lead="Lead.", interim="", heading="Part"):
    return Document(title, lead, interim, (Section(heading, tuple(blocks)),), kind="spread")


def shown(*blocks):
    """Return the lines below the heading."""
    return to_text(document(*blocks)).split("\n")[7:-1]


def everywhere(name):
    """Build a document with a name in every place."""
    blocks = (
        *(Paragraph(name, role) for role in ("text", "note", "warning")), Bullets((name, "b")), Figure("f", name),
        table(name, [name, "n"], [[name, 1], ["row", 2]], numeric=[1]),
    )  # fmt: skip
    return document(*blocks, title=name, lead=name, interim=name, heading=name)


# --- a terminal


def test_a_document_is_shown_in_this_order():
    blocks = (
        Paragraph("Text."), Bullets(("one", "two")), Figure("coverage", "never shown"),
        table("Caption", ["name", "n"], [["a", 1], ["bcdef", 20]], numeric=[1]), Paragraph("End.", "note"),
    )  # fmt: skip
    assert (
        to_text(document(*blocks, interim="Interim"))
        == """\
Title

Lead.

Interim

Part
----

Text.

- one
- two

Caption
name    n
a       1
bcdef  20

End.
"""
    )


def test_running_text_is_wrapped_and_lists_hang():
    lines = shown(Paragraph("word " * 60), Bullets(("item " * 30,)))
    assert max(map(len, lines)) <= WIDTH
    assert " ".join(" ".join(lines).split()) == ("word " * 60 + "- " + "item " * 30).strip()
    assert [line[:2] for line in lines if "item" in line] == ["- ", "  "]


def test_paths_and_options_are_not_broken_across_lines():
    path = "--some-long-option=" + "x" * 150
    assert path in shown(Paragraph(f"Use {path} here."))


def test_a_table_without_a_caption_has_no_empty_line():
    assert shown(table("", ["a"], [["b"]])) == ["a", "b"]


def test_a_table_without_rows_is_its_header():
    assert shown(table("Caption", ["a", "b"], [])) == ["Caption", "a  b"]


def test_nothing_in_a_section_leaves_its_heading():
    assert to_text(document(Bullets(()), Paragraph(""))) == "Title\n\nLead.\n\nPart\n----\n"
    assert to_text(Document("T", "", "")) == "T\n"


def test_missing_cells_are_dashes_and_stay_in_their_columns():
    assert shown(table("", ["x", "yy", "z"], [[None, 1, "b"], ["aaa", None, None]], numeric=[1])) == [
        "x    yy  z", "–     1  b", "aaa   –  –",
    ]  # fmt: skip


def test_control_characters_cannot_reach_the_terminal():
    text = to_text(everywhere("\x1b[31mred\x1b[0m\x00\x07\x9b2J\u202ereversed\r\nnext\tcell\ud800"))
    assert all(letter == "\n" or letter.isprintable() for letter in text)
    assert "[31mred [0m 2J reversed next cell" in text
    text.encode()


@pytest.mark.parametrize("length", [WIDTH - 4, WIDTH - 3, WIDTH - 2, 10_000])
def test_a_name_is_at_most_a_line_and_keeps_its_end(length):
    name = "x" * (length - 3) + "end"
    (_, row) = shown(table("", ["name", "n"], [[name, 1]], numeric=[1]))
    cell = row.removesuffix("  1").rstrip()
    assert len(row) <= WIDTH
    assert cell.endswith("end")
    assert ("…" in cell) == (length > WIDTH - 3)


def test_a_wide_table_shows_all_its_columns_in_lines_that_fit():
    header = [f"column {number}" for number in range(40)]
    lines = shown(table("", header, [range(40)], numeric=range(40)))
    assert max(map(len, lines)) <= WIDTH
    assert set(re.findall(r"\d+", " ".join(lines))) == {str(number) for number in range(40)}


@given(st.lists(st.lists(names, min_size=3, max_size=3), min_size=1, max_size=5))
def test_columns_are_aligned_for_any_names(rows):
    numbered = [[row[0][:25], row[1][:25], str(number), row[2][:25]] for number, row in enumerate(rows)]
    lines = shown(table("", ["a", "b", "number", "c"], numbered, numeric=[2]))
    assert len(lines) == len(rows) + 1
    end = lines[0].index("number") + len("number")
    assert [line[:end].split()[-1] for line in lines[1:]] == [str(number) for number in range(len(rows))]
    assert all(line[:end] == line[:end].rstrip() and not line.endswith(" ") for line in lines)


@given(names)
def test_a_name_adds_no_line_and_no_sign_that_is_not_printable(name):
    text = to_text(everywhere(name))
    assert all(letter == "\n" or letter.isprintable() for letter in text)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "\n\n\n" not in text


def test_a_row_of_another_length_is_rejected():
    with pytest.raises(ValueError, match="zip"):
        to_text(document(Table("", ("a", "b"), (("only one",),))))


# --- a page and Markdown, of any document


@pytest.mark.parametrize("kind", NAMES)
def test_a_page_of_any_document_shows_every_name_as_text(kind):
    name = NAMES[kind]
    found = Page(to_html(everywhere(name), {"f": "<svg><title>drawn</title></svg>"}))
    assert found.wrong == []
    assert not found.tags.keys() & {"script", "img", "b", "a", "iframe", "object", "link"}
    assert not [name for name, _ in found.attributes if name.startswith("on") or name in ("href", "src")]
    assert found.tags["svg"] == found.tags["table"] == found.tags["ul"] == 1


@pytest.mark.parametrize("kind", NAMES)
def test_markdown_of_any_document_keeps_its_table_for_any_names(kind):
    text = to_markdown(everywhere(NAMES[kind]))
    ((header, rule, *rows),) = markdown_tables(text)
    assert [len(cells) for cells in (header, rule, *rows)] == [2] * 4
    assert [cell.strip() for cell in rule] == ["---", "---:"]
    assert [row[1].strip() for row in rows] == ["1", "2"]
    assert len(re.findall(r"^#+ ", text, re.MULTILINE)) == 2


def test_a_figure_that_was_not_drawn_is_left_out_of_a_page():
    of_one = document(Figure("f", "a caption"))
    assert "a caption" in to_html(of_one, {"f": "<svg></svg>"})
    assert "a caption" not in to_html(of_one, {})


def test_a_page_and_markdown_say_what_the_document_says():
    of_all = document(
        Paragraph("Text."), Paragraph("Small.", "note"), Paragraph("Take care.", "warning"), Bullets(("one", "two")),
        Figure("coverage", "Drawn"), table("Caption", ["name", "n"], [["a", 1]], numeric=[1]), interim="Not the end",
    )  # fmt: skip
    assert (
        to_markdown(of_all)
        == """\
# Title

Lead.

**Not the end**

## Part

Text.

*Small.*

**Take care.**

- one
- two

![Drawn](figures/coverage.svg)

Caption

| name | n |
| --- | ---: |
| a | 1 |
"""
    )
    html = to_html(of_all, {"coverage": "<svg></svg>"})
    assert "<title>Title: spread</title>" in html
    assert '<p class="note">Small.</p>' in html
    assert "<strong>Take care.</strong>" in html
    assert '<td class="n">1</td>' in html
    assert Page(html).text.endswith("Text. Small. Take care. one two Drawn Caption name n a 1")


def test_the_renderers_agree_on_an_empty_document():
    nothing = Document("T", "", "")
    assert (to_text(nothing), to_markdown(nothing)) == ("T\n", "# T\n")
    assert Page(to_html(nothing, {})).text == "T: agreement report T"


# --- a page in print


def test_in_print_only_very_long_words_break_and_a_long_first_column_keeps_some_width():
    rows = [["a name of several words that is quite long", "Kolmogorov", "x" * 30, 5]]
    page = to_html(document(table("Caption", ["a", "b", "c", "d"], rows, numeric=[3])), {})
    assert re.findall(r"<td(?: class=\"(.*?)\")?>", page) == ["l", "", "b", "n"]
    assert "tbody tr:first-child { break-before: avoid; }" in page  # no table head alone at the end of a page


@pytest.mark.skipif(
    not all(map(shutil.which, ("pdflatex", "pdftotext"))),
    reason="no pdflatex or pdftotext; apt install texlive-latex-extra poppler-utils",
)
def test_in_latex_every_table_stays_below_its_heading(tmp_path):
    rows = [[f"row {number}", number] for number in range(20)]
    sections = tuple(Section(f"Heading {n}", (table(f"Caption {n}.", ["a", "b"], rows),)) for n in "ABCDEFGH")
    for name, text in to_latex(Document("T", "", "", (), appendix=sections)).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert finished.returncode == 0, finished.stdout[-2000:]
    text = subprocess.run(["pdftotext", "main.pdf", "-"], cwd=tmp_path, capture_output=True, check=True).stdout.decode()
    assert re.findall(r"(Heading|Caption) ([A-H])", text) == [
        (w, n) for n in "ABCDEFGH" for w in ("Heading", "Caption")
    ]
