"""Documents: names that stay different, tables that give the number of left-out rows, text for 100 columns."""

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given, strategies as st

from analysis.document import Document, Section, first_rows, shortened, table, to_html, to_markdown, to_text
from analysis.document._json import json_values, read_back
from analysis.document._text import WIDTH
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


def test_the_part_in_which_names_differ_is_kept_at_any_place():
    short = shortened(SUITE, 20)
    assert [f" {name} " in short[full] for name, full in zip(("bt", "cg", "ep"), SUITE, strict=True)] == [True] * 3
    packages = [f"org.apache.logging.perf.jmh.{name}.throughput" for name in ("FileAppender", "AsyncAppender")]
    assert list(shortened(packages, 27).values()) == ["….FileAppender.throughput", "….AsyncAppender.throughput"]


def test_names_that_differ_only_in_the_order_of_their_parts_are_numbered():
    names = [f"{'x' * 30}.{a}.{b}.{'y' * 30}" for a, b in (("one", "two"), ("two", "one"))]
    first, second = shortened(names, 12).values()
    assert first != second and max(len(first), len(second)) <= 12


def test_a_width_that_leaves_no_room_for_a_number_is_refused():
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


def test_a_narrow_table_is_not_wrapped():
    text = text_of(table("", ("Benchmark", "Runs fixed"), [("a name", 3)], numeric=(1,)))
    assert text == "t\n\nBenchmark  Runs fixed\na name              3\n"


def test_a_table_too_wide_goes_on_below_with_the_names_again():
    numbers = [f"{n}" * 12 for n in range(9)]
    text = text_of(table("", ("Benchmark", *numbers), [("sort_records", *numbers)], numeric=range(1, 10)))
    assert text.count("sort_records") == 2
    assert all(number in text for number in numbers)


def test_names_of_a_suite_stay_different_in_a_table():
    rows = [(name, *["0.12345678"] * 6) for name in SUITE]
    text = text_of(table("", ("Benchmark", *"abcdef"), rows, numeric=range(1, 7)))
    names = [line.split("  ")[0] for line in text.splitlines() if "0.12345678" in line]
    assert len(set(names)) == 3 and max(map(len, text.splitlines())) <= WIDTH


def test_text_within_a_cell_is_wrapped_and_nothing_of_it_is_lost():
    words = [f"word{n}" for n in range(40)]
    random.Random(1).shuffle(words)
    text = text_of(table("", ("Benchmark", "Why"), [("b", " ".join(words))]))
    assert [word for word in text.split() if word.startswith("word")] == words


def test_what_html_forbids_is_replaced_in_every_form():
    document = Document("a\x00b", "", "", (Section("c\x08d", (table("", ("e",), [("f\x1bg",)]),)),))
    for written in (to_html(document, {}), to_markdown(document), to_text(document)):
        assert not any(letter in written for letter in "\x00\x08\x1b")


@dataclass(frozen=True)
class Renamed:
    outcome: str = field(metadata={"key": "verdict"})
    n: int = 0


def test_a_renamed_field_has_its_earlier_key_in_json():
    assert json_values([Renamed("faster", 2)]) == [{"verdict": "faster", "n": 2}]
    assert read_back(Renamed, {"verdict": "slower", "outcome": "x"}) == Renamed("slower")
    with pytest.raises(ValueError, match=r"^a\.verdict is missing"):
        read_back(Renamed, {"outcome": "slower"}, "a")
