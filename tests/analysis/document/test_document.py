"""Documents: names that stay different, tables, and the same content for a terminal, a page, Markdown and LaTeX."""

import random
import re
import shutil
import subprocess
from dataclasses import dataclass, field

import pytest
from hypothesis import given, strategies as st

from analysis.document import (
    Bullets,
    Document,
    Figure,
    Paragraph,
    Section,
    Table,
    first_rows,
    shortened,
    table,
    to_html,
    to_latex,
    to_markdown,
    to_text,
)
from analysis.document._json import json_values, read_back
from analysis.document._text import WIDTH
from tests.analysis.report.reports import HOSTILE, Page, markdown_tables
from tests.sentences import says

WORDS = st.sampled_from(["org", "run", "Bench", "cpu", "a", "b", "17", "size", "…", "~2", "long" * 9])
NAMES = st.lists(st.lists(WORDS, min_size=1, max_size=12).map(".".join) | st.text(max_size=60), max_size=30)
SUITE = [
    f"/bin/bash ~/os-benchmarks/scripts/run_cpu.sh -n 0 -d 1 -b {name} -t MT -s 100" for name in ("bt", "cg", "ep")
]


@given(NAMES, st.integers(8, 40))
def test_different_names_stay_different_and_fit(names, width):
    short = shortened(names, width)
    assert set(short) == set(names)
    assert len(set(short.values())) == len(short)
    assert all(len(text) <= width for text in short.values())


@given(NAMES, st.integers(8, 40), st.randoms())
def test_a_name_that_fits_is_kept_and_the_order_of_names_does_not_matter(names, width, randoms):
    short = shortened(names, width)
    assert all(short[name] == name for name in names if len(name) <= width)
    assert shortened(randoms.sample(names, len(names)), width) == short


def test_the_part_in_which_names_differ_is_kept_at_any_place_or_numbered():
    short = shortened(SUITE, 20)
    assert [f" {name} " in short[full] for name, full in zip(("bt", "cg", "ep"), SUITE, strict=True)] == [True] * 3
    packages = [f"org.apache.logging.perf.jmh.{name}.throughput" for name in ("FileAppender", "AsyncAppender")]
    assert list(shortened(packages, 27).values()) == ["….FileAppender.throughput", "….AsyncAppender.throughput"]
    names = [f"{'x' * 30}.{a}.{b}.{'y' * 30}" for a, b in (("one", "two"), ("two", "one"))]
    first, second = shortened(names, 12).values()
    assert first != second and max(len(first), len(second)) <= 12
    with pytest.raises(ValueError, match=r"width.*got 7"):
        shortened(["b"], 7)


def test_a_table_of_forty_rows_is_whole_and_one_of_forty_one_says_what_is_missing():
    assert first_rows("All.", ("a",), [(n,) for n in range(40)]).caption == "All."
    longer = first_rows("Some.", ("a",), [(n,) for n in range(41)])
    assert says(longer.caption, "First 40 of 41 rows") and len(longer.rows) == 40


def text_of(*tables):
    return to_text(Document("t", "", "", (Section("", tables),)))


@given(
    st.lists(st.tuples(st.text(max_size=80), *[st.text("ab %1.", max_size=70)] * 9), min_size=1, max_size=4),
    st.sets(st.integers(0, 9)),
)
def test_no_line_of_a_table_is_wider_than_a_terminal(rows, numeric):
    header = ("Benchmark", "Runs fixed", *(f"A header of words {n}" for n in range(8)))
    text = text_of(table("", header, rows, numeric=tuple(numeric)))
    assert max(map(len, text.splitlines())) <= WIDTH


def test_wide_tables_go_on_below_with_different_names_and_lose_no_text():
    numbers = [f"{n}" * 12 for n in range(9)]
    text = text_of(table("", ("Benchmark", *numbers), [("sort_records", *numbers)], numeric=range(1, 10)))
    assert text.count("sort_records") == 2
    assert all(number in text for number in numbers)
    rows = [(name, *["0.12345678"] * 6) for name in SUITE]
    text = text_of(table("", ("Benchmark", *"abcdef"), rows, numeric=range(1, 7)))
    names = [line.split("  ")[0] for line in text.splitlines() if "0.12345678" in line]
    assert len(set(names)) == 3 and max(map(len, text.splitlines())) <= WIDTH
    words = [f"word{n}" for n in range(40)]
    random.Random(1).shuffle(words)
    text = text_of(table("", ("Benchmark", "Why"), [("b", " ".join(words))]))
    assert [word for word in text.split() if word.startswith("word")] == words
    header = [f"column {number}" for number in range(40)]
    lines = shown(table("", header, [range(40)], numeric=range(40)))
    assert max(map(len, lines)) <= WIDTH
    assert set(re.findall(r"\d+", " ".join(lines))) == {str(number) for number in range(40)}
    text = text_of(table("", ("Benchmark", "Runs fixed"), [("a name", 3)], numeric=(1,)))
    assert text == "t\n\nBenchmark  Runs fixed\na name              3\n"


@dataclass(frozen=True)
class Renamed:
    outcome: str = field(metadata={"key": "verdict"})
    n: int = 0


def test_a_renamed_field_has_its_earlier_key_in_json():
    assert json_values([Renamed("faster", 2)]) == [{"verdict": "faster", "n": 2}]
    assert read_back(Renamed, {"verdict": "slower", "outcome": "x"}) == Renamed("slower")
    with pytest.raises(ValueError, match=r"^a\.verdict is missing"):
        read_back(Renamed, {"outcome": "slower"}, "a")


any_names = st.one_of(st.sampled_from(sorted(HOSTILE.values())), st.text(max_size=30))


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


def test_running_text_is_wrapped_but_not_paths_and_options():
    lines = shown(Paragraph("word " * 60), Bullets(("item " * 30,)))
    assert max(map(len, lines)) <= WIDTH
    assert " ".join(" ".join(lines).split()) == ("word " * 60 + "- " + "item " * 30).strip()
    assert [line[:2] for line in lines if "item" in line] == ["- ", "  "]
    path = "--some-long-option=" + "x" * 150
    assert path in shown(Paragraph(f"Use {path} here."))


def test_what_is_missing_in_a_table_or_a_document_leaves_no_empty_line():
    assert shown(table("", ["a"], [["b"]])) == ["a", "b"]
    assert shown(table("Caption", ["a", "b"], [])) == ["Caption", "a  b"]
    assert to_text(document(Bullets(()), Paragraph(""))) == "Title\n\nLead.\n\nPart\n----\n"
    assert to_text(Document("T", "", "")) == "T\n"
    assert shown(table("", ["x", "yy", "z"], [[None, 1, "b"], ["aaa", None, None]], numeric=[1])) == [
        "x    yy  z", "–     1  b", "aaa   –  –",
    ]  # fmt: skip
    nothing = Document("T", "", "")
    assert (to_text(nothing), to_markdown(nothing)) == ("T\n", "# T\n")
    assert Page(to_html(nothing, {})).text == "T: agreement report T"
    with pytest.raises(ValueError, match="zip"):
        to_text(document(Table("", ("a", "b"), (("only one",),))))
    of_one = document(Figure("f", "a caption"))
    assert "a caption" in to_html(of_one, {"f": "<svg></svg>"})
    assert "a caption" not in to_html(of_one, {})


def test_control_characters_reach_neither_terminal_nor_page():
    text = to_text(everywhere("\x1b[31mred\x1b[0m\x00\x07\x9b2J\u202ereversed\r\nnext\tcell\ud800"))
    assert all(letter == "\n" or letter.isprintable() for letter in text)
    assert "[31mred [0m 2J reversed next cell" in text
    text.encode()
    document = Document("a\x00b", "", "", (Section("c\x08d", (table("", ("e",), [("f\x1bg",)]),)),))
    for written in (to_html(document, {}), to_markdown(document), to_text(document)):
        assert not any(letter in written for letter in "\x00\x08\x1b")


@pytest.mark.parametrize("length", [WIDTH - 4, WIDTH - 3, WIDTH - 2, 10_000])
def test_a_name_is_at_most_a_line_and_keeps_its_end(length):
    name = "x" * (length - 3) + "end"
    (_, row) = shown(table("", ["name", "n"], [[name, 1]], numeric=[1]))
    cell = row.removesuffix("  1").rstrip()
    assert len(row) <= WIDTH
    assert cell.endswith("end")
    assert ("…" in cell) == (length > WIDTH - 3)


@given(st.lists(st.lists(any_names, min_size=3, max_size=3), min_size=1, max_size=5))
def test_columns_are_aligned_for_any_names(rows):
    numbered = [[row[0][:25], row[1][:25], str(number), row[2][:25]] for number, row in enumerate(rows)]
    lines = shown(table("", ["a", "b", "number", "c"], numbered, numeric=[2]))
    assert len(lines) == len(rows) + 1
    end = lines[0].index("number") + len("number")
    assert [line[:end].split()[-1] for line in lines[1:]] == [str(number) for number in range(len(rows))]
    assert all(line[:end] == line[:end].rstrip() and not line.endswith(" ") for line in lines)


@given(any_names)
def test_a_name_adds_no_line_and_no_sign_that_is_not_printable(name):
    text = to_text(everywhere(name))
    assert all(letter == "\n" or letter.isprintable() for letter in text)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "\n\n\n" not in text


# --- a page and Markdown, of any document


@pytest.mark.parametrize("kind", HOSTILE)
def test_page_and_markdown_of_any_document_keep_every_name_as_text(kind):
    name = HOSTILE[kind]
    found = Page(to_html(everywhere(name), {"f": "<svg><title>drawn</title></svg>"}))
    assert found.wrong == []
    assert not found.tags.keys() & {"script", "img", "b", "a", "iframe", "object", "link"}
    assert not [name for name, _ in found.attributes if name.startswith("on") or name in ("href", "src")]
    assert found.tags["svg"] == found.tags["table"] == found.tags["ul"] == 1
    text = to_markdown(everywhere(HOSTILE[kind]))
    ((header, rule, *rows),) = markdown_tables(text)
    assert [len(cells) for cells in (header, rule, *rows)] == [2] * 4
    assert [cell.strip() for cell in rule] == ["---", "---:"]
    assert [row[1].strip() for row in rows] == ["1", "2"]
    assert len(re.findall(r"^#+ ", text, re.MULTILINE)) == 2


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


# --- a page in print


def test_in_print_only_very_long_words_break_and_a_long_first_column_keeps_some_width():
    rows = [["a name of several words that is quite long", "Kolmogorov", "x" * 30, 5]]
    page = to_html(document(table("Caption", ["a", "b", "c", "d"], rows, numeric=[3])), {})
    assert re.findall(r"<td(?: class=\"(.*?)\")?>", page) == ["l", "", "b", "n"]
    assert "tbody tr:first-child { break-before: avoid; }" in page  # no table head alone at the end of a page


def test_in_latex_a_table_with_many_lines_continues_and_its_name_is_a_file_name():
    def files(text):
        wide = table("Pairs.", ["a", "b"], [[text, text]] * 28, name="paper-Learned:m203")
        return to_latex(Document("T", "", "", (Section("Pairs", (wide, wide)),)))

    assert set(files("short")) == {"main.tex", "tables/paper-learned-m203.tex", "tables/paper-learned-m203-2.tex"}
    assert "longtable" not in files("short")["tables/paper-learned-m203.tex"]
    assert "longtable" in files("several words " * 10)["tables/paper-learned-m203.tex"]


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
