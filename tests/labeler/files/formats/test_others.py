"""Formats of other packages, written as CONTRIBUTING.md shows, and formats that fail."""

import json
import re
from pathlib import Path

import pytest

from labeler.errors import InputError
from labeler.files import exploring
from labeler.files.formats import known
from labeler.plugins import FORMAT_GROUP
from labeler.studies.items import importing
from tests.labeler.commands import run
from tests.making import NOW

ROOT = Path(__file__).parents[4]
LOG = b"# mytool 1\nsort 1.5,2.5 3.5,4.5\njoin 1 2 3\n"

FAILING = """
from labeler.files.formats import Format

def detect(name, content):
    {detect}

def read(name, content, columns):
    {read}

FORMAT = Format("x", "a format that fails", "run", "iteration", detect, read)
"""


def documented():
    """Return the reader in the guide, and its row as the value FORMAT of a module."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n# [^\n]*\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    reader = next(block for block in blocks if "def detect" in block)
    row = next(block for block in blocks if block.startswith("Format("))
    return f"{reader}\n\nfrom labeler.files.formats import Format\n\nFORMAT = {row.replace('mytool.', '')}"


@pytest.fixture
def mytool(site):
    site.install("mytool", documented(), version="2.1", points={"mytool": "mytool:FORMAT"}, group=FORMAT_GROUP)


def failing(site, *, detect="return content.startswith(b'?')", read="yield", name="broken", points=None):
    source = FAILING.format(detect=detect, read=read)
    site.install(name, source, points=points or {name: f"{name}:FORMAT"}, group=FORMAT_GROUP)


def look(*files, format_name=None):
    return list(importing.look_into_files(files, importing.read_options(format_name)))


def test_the_reader_of_the_guide_reads_files_as_ours_do(mytool, db):
    file = importing.upload("runs.log", LOG)
    (result,) = importing.import_files(db, [file], importing.read_options(None, {}), actor="carol", now=NOW)
    assert [(one.benchmark, one.runs, one.iterations, one.unit) for one in result.benchmarks] == [
        ("sort", 2, "2", "s"), ("join", 3, "1", "s"),
    ]  # fmt: skip
    (join, sort) = exploring.from_files([file], importing.read_options("mytool", {})).benchmarks
    assert [run.tolist() for run in sort.values] == [[0.0015, 0.0025], [0.0035, 0.0045]]
    assert join.name == "join"


def test_what_it_refuses_is_the_refusal_of_its_file(mytool):
    bad, good = look(importing.upload("a.log", b"# mytool 1\nsort\n"), importing.upload("b.json", b"[[1],[2]]"))
    assert bad.refused == "line 2: 'sort' has no times; run mytool --keep-all"
    assert good.benchmarks[0].benchmark == "b"


def test_it_stands_in_the_list_of_formats_with_its_package(mytool):
    row = json.loads(run("formats", "--json").stdout)[-1]
    assert (row["name"], row["title"], row["package"]) == ("mytool", "mytool's log", "mytool 2.1")
    assert "mytool 2.1" in run("formats").stdout


@pytest.mark.parametrize(
    ("read", "reason"),
    [
        ("1 / 0", "the reader 'broken' of broken 1.0 failed: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "the reader 'broken' of broken 1.0 failed: SystemExit: 3"),
        ("raise KeyError", "the reader 'broken' of broken 1.0 failed: KeyError"),
        (
            "yield 'sort'",
            "the reader 'broken' of broken 1.0 failed: TypeError: the result is of type str, not Benchmark",
        ),
        ("return 5", "the reader 'broken' of broken 1.0 failed: TypeError: 'int' object is not iterable"),
        ("raise ValueError('line 1: no')", "line 1: no"),
        ("return iter(())", "the file contains no benchmarks"),
    ],
)
def test_a_reader_that_fails_is_the_refusal_of_its_file_alone(site, read, reason):
    failing(site, read=read)
    bad, good = look(importing.upload("a.x", b"?"), importing.upload("b.json", b"[[1],[2]]"))
    assert (bad.refused, good.benchmarks[0].runs) == (reason, 2)


MADE = """from labeler.files.formats import Benchmark, Failure
    import numpy as np
    run = np.ones(2)
    yield Benchmark.of_series("b", {})
"""


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ("()", "benchmark 'b' has no runs"),
        ("(run, ['x'])", "could not convert string to float: 'x'"),
        ("(run,), parameters={1: 'a\\0'}", "benchmark 'b'"),
        ("5", "the reader 'broken' of broken 1.0 failed: TypeError: 'int' object is not iterable"),
    ],
)
def test_a_benchmark_that_is_none_is_refused_in_words(site, made, reason):
    failing(site, read=MADE.format(made))
    assert reason in look(importing.upload("a.x", b"?"))[0].refused


def test_two_benchmarks_of_one_name_in_a_file_contradict_each_other(site):
    made = "from labeler.files.formats import Benchmark\n    for value in {}: yield Benchmark.of_series('b', [[value]])"
    failing(site, read=made.format("(1, 2)"))
    failing(site, read=made.format("(1, 1)"), detect="return content == b'!'", name="fine")
    with pytest.raises(InputError, match=r"a\.x has different measurements of this benchmark"):
        exploring.from_files([importing.upload("a.x", b"?")], importing.read_options(None, {}))
    equal = exploring.from_files([importing.upload("b.x", b"!")], importing.read_options(None, {}))
    assert [benchmark.name for benchmark in equal.benchmarks] == ["b", "b"]


def test_numbers_that_are_equal_stay_different_texts(site):
    failing(site, read=MADE.format("(run, run), conditions={'run': (1, 1.0)}"))
    (benchmark,) = exploring.from_files([importing.upload("a.x", b"?")], importing.read_options(None, {})).benchmarks
    assert benchmark.of("run") == ("1", "1.0")


def test_texts_that_are_numbers_become_texts(site):
    more = "(run, run), unit=5, conditions={'run': (1, 2)}, failures=(Failure({'run': 3}, 4),)"
    failing(site, read=MADE.format(more))
    (benchmark,) = exploring.from_files([importing.upload("a.x", b"?")], importing.read_options(None, {})).benchmarks
    assert (benchmark.conditions["run"], benchmark.unit) == (("1", "2"), "5")
    assert benchmark.failures[0].reason == "4"


def test_a_detection_that_fails_is_told_only_where_nobody_else_knows_the_file(site):
    failing(site, detect="raise RuntimeError('no')")
    (known,) = look(importing.upload("a.json", b"[[1],[2]]"))
    assert known.benchmarks
    (unknown,) = look(importing.upload("a.x", b"?"))
    assert unknown.refused.endswith("; broken of broken 1.0 failed: RuntimeError: no")


def test_only_plain_numbers_come_after_the_formats_of_others(site):
    failing(site, detect="return content.startswith(b'# x')", read="raise ValueError('theirs')")
    (result,) = look(importing.upload("a.txt", b"# x\n1\n2\n"))
    assert result.refused == "theirs"


def test_our_own_formats_come_first(site):
    failing(site, detect="return True", read="1 / 0")
    assert look(importing.upload("a.json", b"[[1],[2]]"))[0].benchmarks
    (named,) = look(importing.upload("a.json", b"[[1],[2]]"), format_name="broken")
    assert "ZeroDivisionError" in named.refused


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import no_such_module", "broken 1.0: ModuleNotFoundError: No module named 'no_such_module'"),
        ("FORMAT = print", "broken 1.0: it registers builtin_function_or_method, not a labeler.files.formats.Format"),
        ("raise SystemExit(1)", "broken 1.0: SystemExit: 1"),
    ],
)
def test_a_package_that_cannot_be_loaded_is_listed_with_its_reason_and_stops_nothing(site, source, reason):
    site.install("broken", source, points={"broken": "broken:FORMAT"}, group=FORMAT_GROUP)
    assert known.formats_table()[-1] == {
        "name": "broken", "title": f"cannot be used: {reason}", "runs": "", "iterations": "", "file_is": "", "keep": "",
        "failures": "",
        "package": "",
    }  # fmt: skip
    assert look(importing.upload("a.json", b"[[1],[2]]"))[0].benchmarks
    with pytest.raises(InputError, match=re.escape(f"The format 'broken' cannot be used: {reason}")):
        importing.read_options("broken", {})


def test_a_format_with_the_name_of_ours_does_not_take_its_place(site):
    failing(site, name="imposter", points={"icpe": "imposter:FORMAT"})
    assert known.package_formats().errors == {"icpe": "imposter 1.0: labeler already has a format with this name"}
    assert look(importing.upload("a.json", b"[[1],[2]]"), format_name=None)[0].benchmarks
