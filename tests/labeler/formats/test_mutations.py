"""Properties of every reader: each recognises its own files, and damaged files cause no unexpected error."""

from pathlib import Path

import pytest

from labeler.formats import (
    abs_scores,
    asv,
    benchmarkdotnet,
    criterion,
    go_benchfmt,
    google_benchmark,
    hyperfine,
    icpe,
    jmh,
    krun,
    long_table,
    ordersage,
    pa,
    pyperf,
    pytest_benchmark,
    tinybench,
)
from labeler.formats.known import FORMATS
from tests.labeler.formats.mutations import check_mutations, check_sound, read_with

FILES = Path(__file__).parent / "files"
SAMPLE = "criterion/Fibonacci numbers/Iterative/20/{}/sample.json"
OF = {
    asv: ["asv-first.json", "asv-second.json", "asv-medians.json", "asv-version-1.json"],
    benchmarkdotnet: ["Example.Sorting-report-full.json", "Example.Sorting-report-brief.json"],
    criterion: [SAMPLE.format("new"), SAMPLE.format("base"), SAMPLE.format("new").replace("sample", "estimates")],
    go_benchfmt: ["go.txt", "go-two-processes.txt", "go-events.json"],
    google_benchmark: ["google-benchmark.json", "google-benchmark-aggregates.json", "google-benchmark.csv"],
    hyperfine: ["hyperfine.json", "hyperfine-parameters.json", "hyperfine.csv"],
    krun: ["krun.csv"],
    pa: ["pa.csv"],
    pytest_benchmark: ["pytest-benchmark.json", "pytest-benchmark-autosaved.json"],
    tinybench: ["vitest.json", "tinybench.json"],
    FORMATS["benchmarkjs"]: ["benchmarkjs.txt"],
    FORMATS["cargo-bench"]: ["cargo-libtest.txt", "cargo-criterion.txt"],
    FORMATS["github-action"]: ["github-action.json"],
    FORMATS["bencher"]: ["bencher.json"],
    FORMATS["k6"]: ["k6.json"],
    FORMATS["wrk"]: ["wrk.txt"],
    FORMATS["catch2"]: ["catch2.xml"],
    FORMATS["benchmarktools"]: ["benchmarktools.json"],
    FORMATS["mitata"]: ["mitata.json"],
    FORMATS["nanobench"]: ["nanobench.json"],
    FORMATS["jmeter"]: ["jmeter.jtl"],
    FORMATS["codspeed"]: ["codspeed.json"],
    FORMATS["rebench"]: ["rebench.data"],
    FORMATS["benchmark-ips"]: ["benchmark-ips.txt", "benchmark-ips.json", "benchmark-ips-failed.txt"],
    FORMATS["perf-stat"]: ["perf-stat.txt", "perf-stat.jsonl", "perf-stat.csv", "perf-stat-table.txt"],
}
OTHERS = [abs_scores, icpe, jmh, ordersage, pyperf]


def name_of(one):
    """Return the name of a test's module or file, which is the same in each process of the tests."""
    return one if isinstance(one, str) else getattr(one, "name", "") or one.__name__.rpartition(".")[2]


each = pytest.mark.parametrize("module", OF, ids=name_of)


def files_of(module):
    return [(file, (FILES / file).read_bytes()) for file in OF[module]]


@pytest.mark.parametrize(
    ("module", "file"),
    [(module, file) for module, files in OF.items() for file in files],
    ids=name_of,
)
@pytest.mark.parametrize("place", ["", "/tmp/a folder/"])
def test_a_file_is_known_by_one_reader_whatever_it_is_called(module, file, place):
    content = (FILES / file).read_bytes()
    for name in (place + file, place + "results"):
        for start in (b"", b"\xef\xbb\xbf"):
            if not content.startswith(b"\xef\xbb\xbf"):
                content = start + content
            assert [one for one in (*OF, *OTHERS) if one.detect(name, content)] == [module]
            assert not long_table.is_parquet(name, content)


@pytest.mark.parametrize("file", ["pyperf-two.json", "pyperf-timeit.json", "pyperf-memory.json"])
def test_files_of_pyperf_are_nobody_elses(file):
    assert [one for one in (*OF, *OTHERS) if one.detect(file, (FILES / file).read_bytes())] == [pyperf]


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[", b"{}", b"[]", b"[[1.0]]", b"null", b"\xff\xfe\x00", b"\n\n", b'{"results": {}}',
        b'{"benchmarks": []}', b"benchmark,run,value\na,0,1\n", b"Benchmarking the sort 3 4 times\n",
        b"process,sort,1,2\n", b"project;commit;benchmark\n",
    ],
)  # fmt: skip
def test_what_is_none_of_theirs_is_left_to_others(content):
    assert [module for module in OF if module.detect("a.json", content)] == []


@each
def test_a_byte_order_mark_and_windows_line_ends_change_nothing(module):
    for name, content in files_of(module)[:1]:
        content = content.removeprefix(b"\xef\xbb\xbf")
        for other in (b"\xef\xbb\xbf" + content, content.replace(b"\n", b"\r\n")):
            as_is, found = (read_with(module, name, one) for one in (content, other))
            check_sound(found)
            assert [(one.name, [run.tolist() for run in one.values]) for one in found] == [
                (one.name, [run.tolist() for run in one.values]) for one in as_is
            ]


@each
def test_a_changed_file_is_read_or_refused_in_words_and_nothing_else(module):
    check_mutations(module, files_of(module), 300)


@pytest.mark.slow
@each
def test_two_thousand_changed_files_are_read_or_refused_in_words(module):
    check_mutations(module, files_of(module), 2000, seed=2)
