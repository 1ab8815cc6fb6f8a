"""Printed output as people have it: each line that looks like a result is read or named, also in logs of builds."""

import random
import re
from pathlib import Path

import pytest

from labeler.errors import Refused
from labeler.files.formats import FORMATS, ReadOptions, Source, read
from tests.labeler.files.formats.examples import plain, read_bytes
from tests.labeler.files.formats.mutations import refusal

FILES = Path(__file__).parent / "files"
LIBTEST = "test NAME ... bench: TIME ns/iter (+/- RANGE)"
CRITERION = "NAME time: [LOW UNIT TIME UNIT HIGH UNIT]"
BENCHMARK_JS = "NAME x RATE ops/sec ±ERROR% (N runs sampled)"
TIME = " time: [1 ns 2 ns 3 ns]\n"
IPS = "Warming up ----\n  a 1k i/100ms\n"
OF_PERF = " Performance counter stats for 'x':\n\n"
WRK = "Running 3s test @ http://a\n"
NOT_READ = [
    ("benchmarkjs", "sort x many ops/sec ±1% (9 runs sampled)\n", 1, BENCHMARK_JS),
    ("benchmarkjs", f"a x {'9' * 400} ops/sec ±1% (9 runs sampled)\n", 1, "is not a finite number"),
    ("benchmarkjs", "sort x 1,2,3 ops/sec ±1.5% (9 runs sampled)\n", 1, "'1,2,3' is not a finite number"),
    ("benchmarkjs", " x 12 ops/sec ±1.5% (9 runs sampled)\n", 1, "the line has no name of a benchmark"),
    ("cargo-bench", "test a ... bench: some ns/iter (+/- 3)\n", 1, LIBTEST),
    ("cargo-bench", "test a ... bench: 1,04,5 ns/iter (+/- 3)\n", 1, "'1,04,5' is not a finite number"),
    ("cargo-bench", "  12 ns/iter (+/- 3)\n", 1, "the line has no name of a benchmark"),
    ("cargo-bench", "fib 20 time: [26 µs 27 µs]\n", 1, CRITERION),
    ("cargo-bench", "Benchmarking fib: Analyzing\n   time: [1 ns 2 ns 3 ns]\n", 2, "no name of a benchmark"),
    ("cargo-bench", f"2024-05-01T10:00:00Z a{TIME}b{TIME}", 1, "begins with a time"),
    ("wrk", f"{WRK}  Latency 2.5xs 1ms\nRequests/sec: 12\n", 2, "'2.5xs' is not a time"),
    ("wrk", f"{WRK}Requests/sec: many\n", 2, "'many' is not a finite number"),
    ("wrk", f"{WRK}  Socket errors: connect 0, read x\nRequests/sec: 12\n", 2, "kinds of errors with their numbers"),
    ("wrk", f"{WRK}  Non-2xx or 3xx responses: all\nRequests/sec: 12\n", 2, "'all' is not a number of responses"),
    ("wrk", f"{WRK}Requests/sec: 12\nRequests/sec: 13\n", 3, "there are two lines of this process"),
    ("benchmark-ips", f"{IPS}  a 10.0Z (± 2.0%) i/s - 3 in 4s\n", 3, "NAME RATE (±ERROR%) i/s"),
    ("perf-stat", f"{OF_PERF}  0.5 msec task-clock\n  many msec cycles\n", 4, "name of an event"),
    ("perf-stat", f"{OF_PERF}  5 cycles\n  x seconds time elapsed\n", 4, "name of an event"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "line", "reason"), NOT_READ, ids=[f"{row[0]} {row[3]:.30}" for row in NOT_READ]
)
def test_a_line_that_looks_like_a_result_is_named_if_it_cannot_be_read(name, text, line, reason):
    message = refusal(FORMATS[name], "a", text.encode())
    assert re.match(rf"line {line}: .* is not read: ", message) and reason in message


def test_a_file_of_which_some_lines_are_not_read_is_refused_unless_the_rest_is_wanted():
    content = b"sort x 1,000 ops/sec \xc2\xb11% (9 runs sampled)\njoin x ? ops/sec \xc2\xb11% (9 runs sampled)\n"
    source, unread = Source("a.txt", data=content), []
    with pytest.raises(Refused, match="line 2: 'join x"):
        read(source)
    assert [one.name for one in read(source, unread=unread)] == ["sort"]
    assert len(unread) == 1 and unread[0].startswith("line 2: 'join x")


# what a reader of text accounts for: a pattern of the lines of results in the sample
RESULTS = {
    "benchmarkjs.txt": r"^.* x .*sampled\)$", "cargo-libtest.txt": r"^test .* bench: .*$",
    "cargo-criterion.txt": r"^.* time: +\[\d.*$", "wrk.txt": r"^.*(?:Requests/sec|Latency).*$",
    "benchmark-ips.txt": r"^.*\(±.*$", "go.txt": r"^Benchmark\S+\s+\d+\s+\S+ ns/op.*$",
    "perf-stat.txt": r"^ +[\d.]+ (?:msec|seconds).*$",
}  # fmt: skip


def _other_unit(line, rng):
    return re.sub(r"(ops/sec|ns/iter|[mµun]s\b|i/s|ns/op|msec|seconds)", "q", line, count=1)


def _other_number(line, rng):
    return re.sub(r"\d[\d.,]*\d", rng.choice(("?", "NaN", "1.2.3", "--", "12,3,4", "")), line, count=1)


def _no_name(line, rng):
    return re.sub(r"^\S+", "", line, count=1)


def _swapped(line, rng):
    words = line.split(" ")
    at, other = rng.randrange(len(words)), rng.randrange(len(words))
    words[at], words[other] = words[other], words[at]
    return " ".join(words)


def _account(file, text):
    """Return how many results a text has, counted with those that failed, and whether something was not read."""
    unread = []
    try:
        options = ReadOptions(accept_failures=True, with_shares=False)
        found = read(Source(file, data=text.encode()), options, unread=unread)
    except Refused as refused:
        return 0, [*unread, str(refused)]
    return sum(len(run) for one in found for run in one.values) + sum(len(one.failures) for one in found), unread


@pytest.mark.parametrize("file", RESULTS)
@pytest.mark.parametrize("change", [_other_unit, _other_number, _no_name, _swapped])
def test_no_result_vanishes_in_silence(file, change):
    text = (FILES / file).read_text()
    before, _ = _account(file, text)
    assert before > 0
    rng = random.Random(4)
    for match in re.finditer(RESULTS[file], text, re.MULTILINE):
        for _ in range(4):
            changed = text[: match.start()] + change(match[0], rng) + text[match.end() :]
            after, unread = _account(file, changed)
            assert after >= before or unread, changed[match.start() : match.end() + 20]


STAMPS = {
    "GitHub": lambda at, line: f"2024-05-01T10:00:{at % 60:02}.1234567Z {line}",
    "GitLab": lambda at, line: f"2024-05-01T10:00:{at % 60:02}.123456Z 01O {line}",
    "Jenkins": lambda at, line: f"[2024-05-01T10:00:{at % 60:02}.123Z] {line}",
    "Jenkins, short": lambda at, line: f"10:00:{at % 60:02}  {line}",
    "gh run view --log": lambda at, line: f"bench\tRun it\t2024-05-01T10:00:{at % 60:02}.1234567Z {line}",
    "colours": lambda at, line: f"\x1b[32;1m{line}\x1b[0m\x1b[K",
    "carriage returns": lambda at, line: f"{line}\r",
}
TEXTS = [*RESULTS, "go-two-processes.txt", "perf-stat.csv", "perf-stat.jsonl", "rebench.data", "jmeter.jtl"]


@pytest.mark.parametrize("file", TEXTS)
def test_a_log_of_a_build_has_the_results_of_the_tool(file):
    text = (FILES / file).read_text()
    expected = [(one.name, plain(one), one.failures) for one in read_bytes(file, text.encode())]
    for name, stamp in STAMPS.items():
        if name == "colours" and not file.endswith(".txt"):
            continue  # only what is printed for people has colours
        log = "\n".join(stamp(at, line) for at, line in enumerate(text.split("\n")))
        for content in (log.encode(), b"\xef\xbb\xbf" + log.encode()):
            found = read_bytes("log.txt", content)
            assert [(one.name, plain(one), one.failures) for one in found] == expected, name


@pytest.mark.parametrize("file", ["cargo-criterion.txt", "cargo-libtest.txt", "benchmarkjs.txt", "wrk.txt", "go.txt"])
def test_logs_of_two_jobs_one_after_the_other_are_two_processes(file):
    text = (FILES / file).read_text()
    logs = [
        "\ufeff2024-05-01T10:00:00.1Z [command]/usr/bin/git version\n"
        + "".join(f"2024-05-01T10:00:01.1Z {line}\n" for line in text.split("\n"))
        for _job in range(2)
    ]
    once = {one.name: sum(map(len, one.values)) for one in read_bytes(file, text.encode())}
    assert {one.name: sum(map(len, one.values)) for one in read_bytes("log.txt", "".join(logs).encode())} == {
        name: 2 * n for name, n in once.items()
    }


PERF = " Performance counter stats for './x':\n\n{}\n"


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        ("  126,554 msec task-clock  #    0,965 CPUs utilized", 0.126554),
        ("  126,554 msec task-clock  #    0.965 CPUs utilized", 126.554),
        ("  126.55 msec task-clock\n  1,234,567 cycles", 0.12655),
        ("  126,55 msec task-clock\n  1.234.567 cycles", 0.12655),
        ("  126,554 msec task-clock\n  1.234 cycles", 0.126554),  # a count has no decimals
        ("  1\u202f126,55 msec task-clock", 1.12655),
    ],
)
def test_a_file_has_decimal_points_or_decimal_commas(lines, value):
    found = {one.name: one for one in read_bytes("a.txt", PERF.format(lines).encode())}
    assert plain(found["./x [task-clock]"]) == [[pytest.approx(value)]]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("  126,554 msec task-clock\n  1 cycles", "'126,554'"),
        ("  126.554 msec task-clock\n  1 cycles", "'126.554'"),
        ("  126,55 msec task-clock  #    0.965 CPUs utilized", "some numbers have decimal points"),
    ],
)
def test_numbers_that_fit_both_ways_or_none_are_refused_with_what_to_do(lines, reason):
    message = refusal(FORMATS["perf-stat"], "a.txt", PERF.format(lines).encode())
    assert reason in message and "LC_ALL=C" in message


def test_tools_that_always_write_points_may_have_separators_of_thousands():
    (one,) = read_bytes("a.txt", b"test a ... bench:       1,234 ns/iter (+/- 56)\n")
    assert plain(one) == [[pytest.approx(1234e-9)]]
    (other,) = read_bytes("a.txt", b"test a ... bench:       1911 MS/s (+/- 5)\n")
    assert (plain(other), other.unit, other.better) == ([[1911.0]], "MS/s", "")


ENDED = {
    "cargo-bench": ("test a ... bench: 12 ns/iter (+/- 1)\n", "a", (
        "error: bench failed, to rerun pass `--bench sorting`", "thread 'main' panicked at src/lib.rs:3:5:",
        "Segmentation fault (core dumped)", "##[error]Process completed with exit code 101.")),
    "benchmarkjs": ("a x 12 ops/sec ±1% (9 runs sampled)\n", "a", ("Node.js v20.1.0", "Killed")),
    "go": ("goos: linux\nBenchmarkA-2 10 5 ns/op\n", "BenchmarkA", ("signal: killed\nFAIL\tp\t1s", "FAIL\tp\t1s")),
    "benchmark-ips": (
        "Warming up ----\n  a 1k i/100ms\nCalculating ----\n  a 10.0k (± 2.0%) i/s - 3 in 4s\n", "a",
        ("x.rb:3:in `<main>': unhandled (RuntimeError)",)),
    "wrk": (
        f"{WRK}  36 requests in 3.00s, 1MB read\nRequests/sec: 12\n", "http://a [Requests/sec]",
        ("unable to connect to a:80 Connection refused",)),
}  # fmt: skip


@pytest.mark.parametrize(("name", "end"), [(name, end) for name, (_, _, ends) in ENDED.items() for end in ends])
def test_a_process_that_failed_after_its_last_result_has_failed(name, end):
    text, benchmark, _ends = ENDED[name]
    for content in (f"{text}{end}\n", f"{text}{end}\n{text}"):
        found = FORMATS[name].read("a", content.encode(), {})
        failures = {one.name: [failure.reason for failure in one.failures] for one in found}
        assert len(failures[benchmark]) == 1 and "failed" in failures[benchmark][0].replace("FAIL", "failed"), failures
    good = FORMATS[name].read("a", f"{text}PASS\n".encode(), {})
    assert not any(one.failures for one in good)
