"""What failed says failed, what is refused is part of the result, and no warning or name breaks an output."""

import json
import shutil
import warnings
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from labeler.files.formats import FORMATS, ReadOptions
from tests.labeler.commands import run, says_in_order
from tests.labeler.files.formats.examples import csv_bytes
from tests.labeler.files.formats.mutations import HOSTILE
from tests.making import make_study

FILES = Path(__file__).parents[1] / "formats" / "files"
CHECK = Path(__file__).parents[4] / "data" / "check"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# failures


def k6(path, *, failed=0.0, time=100.0, crossed=None, **counters):
    """Write a summary of k6 with this share of failed requests; `crossed` is a threshold and whether it was crossed."""
    n = round(1000 * failed)
    metrics = {
        "http_req_duration": {"avg": time, "p(95)": 2 * time}, "iterations": {"count": 1000, "rate": 50.0},
        "http_req_failed": {"passes": n, "fails": 1000 - n, "value": failed},
        "checks": {"passes": 1000 - n, "fails": n, "value": 1 - failed},
        **{name: {"count": count, "rate": count / 20} for name, count in counters.items()},
    }  # fmt: skip
    if crossed is not None:
        metrics["http_req_duration"]["thresholds"] = {"p(95)<200": crossed}
    path.write_text(json.dumps({"root_group": {}, "metrics": metrics}))


def k6_runs(folder, n=5, **more):
    folder.mkdir()
    rng = np.random.default_rng(ord(folder.name[0]))
    for at in range(n):
        own = {"time": 100 + rng.random()} | {key: of(at) for key, of in more.items()}
        k6(folder / f"{at}.json", **own)


def wrk(path, n_failed=0, errors="", *, rate=1000.0, n=5):
    path.write_text("".join(
        "Running 3s test @ http://a\n  Latency   2.00ms 1ms\n"
        f"  30000 requests in 3.00s, 1MB read\n{errors}"
        + (f"  Non-2xx or 3xx responses: {n_failed + at}\n" if n_failed else "")
        + f"Requests/sec: {rate + at}\n"
        for at in range(n)
    ))  # fmt: skip


def outcomes(*arguments):
    """Return the exit code of a check, the result of each benchmark that is named, and the text."""
    done = run("check", *arguments, code=None)
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("  ")]
    return done.exit_code, {" ".join(row[1:3]): row[0] for row in rows}, done.stdout


def test_a_faster_load_test_of_which_more_failed_is_worse_and_not_faster(here):
    k6_runs(here / "old", failed=lambda at: 0.0)
    k6_runs(here / "new", failed=lambda at: 0.9 + at / 1000, time=lambda at: 50 + at / 10)
    for more in ((), ("--allow-missing",), ("--allow-inconclusive", "--allow-missing"), ("--max-slowdown", "5%")):
        code, found, text = outcomes("new", "--against", "old", *more)
        assert code == 1 and "faster" not in text, text
        assert {"http_req_failed [share]": "worse", "checks [failed]": "worse"}.items() <= found.items()
        assert found["http_req_duration [avg]"] == "inconclusive"
    content = json.loads(run("check", "new", "--against", "old", "--json", code=1).stdout)
    assert "faster" not in {change["verdict"] for change in content["changes"]}


@pytest.mark.parametrize(("old", "new", "code"), [(0, 400, 1), (0, 0, 0)])
def test_k6_writes_dropped_iterations_and_own_errors_only_if_there_are_some(here, old, new, code):
    for folder, n in (("old", old), ("new", new)):
        k6_runs(here / folder, **({"dropped_iterations": lambda at, n=n: n + at} if n else {}))
    assert outcomes("new", "--against", "old")[0] == code


def test_a_counter_of_errors_is_better_lower_and_of_a_counter_of_anything_else_nobody_knows(here):
    k6_runs(here / "old", errors=lambda at: 20 + at, widgets=lambda at: 20 + at)
    k6_runs(here / "new", errors=lambda at: 900 + at, widgets=lambda at: 900 + at)
    code, found, _text = outcomes("new", "--against", "old")
    assert (code, found["errors [rate]"], found["widgets [rate]"]) == (1, "worse", "higher")


@pytest.mark.parametrize(("old", "new"), [(False, True), (True, True)])
def test_a_crossed_threshold_is_inconclusive_also_if_both_sides_crossed_it(here, old, new):
    for folder, crossed in (("old", old), ("new", new)):
        k6_runs(here / folder, crossed=lambda at, crossed=crossed: crossed)
    code, found, text = outcomes("new", "--against", "old")
    assert code == 3 and found["http_req_duration: p(95)<200"] == "failed"
    assert says_in_order(text, "5 of 5 runs failed … threshold")


def test_thresholds_of_handle_summary_say_whether_they_held(here):
    for ok, code in ((True, 0), (False, 3)):
        for side in ("old", "new"):
            for at in range(3):
                metric = {"type": "trend", "contains": "time", "values": {"avg": 1.0 + at / 100},
                          "thresholds": {"avg<1": {"ok": ok}}}  # fmt: skip
                content = {
                    "root_group": {},
                    "metrics": {"iterations": {"values": {"count": 1, "rate": 1}}, "t": metric},
                }
                (here / f"{side}-{ok}-{at}.json").write_text(json.dumps(content))
        names = [[here / f"{side}-{ok}-{at}.json" for at in range(3)] for side in ("old", "new")]
        texts = [name.read_text().replace('"avg": 1.', '"avg": 1.000') for name in names[1]]
        for name, text in zip(names[1], texts, strict=True):
            name.write_text(text)
        assert outcomes(*names[1], "--against", *names[0], "--allow-inconclusive")[0] == code


@pytest.mark.parametrize(
    ("n_failed", "errors"),
    [(29_000, ""), (0, "  Socket errors: connect 0, read 900, write 0, timeout 12\n")],
)
def test_wrk_says_which_responses_and_sockets_failed(here, n_failed, errors):
    wrk(here / "old.txt")
    wrk(here / "new.txt", n_failed, errors, rate=2000.0)
    code, found, text = outcomes("new.txt", "--against", "old.txt")
    assert code == 1 and "faster" not in text and "worse" in found.values()


def test_a_metric_without_a_known_direction_is_inconclusive_until_it_is_given(here):
    for name, level in (("old.txt", 100), ("new.txt", 200)):
        lines = (f"goos: linux\npkg: p\nBenchmarkX-8 10 {level + at} widgets/s\nPASS\n" for at in range(6))
        (here / name).write_text("".join(lines))
    code, found, text = outcomes("new.txt", "--against", "old.txt")
    assert (code, list(found.values())) == (3, ["higher"])
    assert says_in_order(text, "give --better widgets/s=lower or --better widgets/s=higher")
    assert outcomes("new.txt", "--against", "old.txt", "--better", "widgets/s=lower")[0] == 1
    assert outcomes("new.txt", "--against", "old.txt", "--better", "x=lower", "--better", "widgets/s=higher")[0] == 0
    assert outcomes("new.txt", "--against", "old.txt", "--fail-on", "change")[0] == 1
    refused = run("check", "new.txt", "--better", "widgets/s=more", code=2)
    assert "give lower or higher, or METRIC=lower or METRIC=higher" in refused.stderr
    with pytest.raises(TypeError, match="better must be a tuple of texts, got 'lower'"):
        ReadOptions(better="lower")


def test_formats_lists_what_says_that_something_failed_and_which_values_are_better():
    rows = {row["name"]: row["failures"] for row in json.loads(run("formats", "--json").stdout)}
    assert rows == {known.name: ", ".join(known.failures) for known in FORMATS.values()}
    assert {"http_req_failed", "thresholds"} <= set(rows["k6"].split(", "))
    directions = json.loads(run("formats", "--directions", "--json").stdout)
    assert [row["better"] for row in directions] == ["lower", "lower", "higher", "unknown"]


# values that are equal


GO = "goos: linux\ngoarch: amd64\npkg: p\nBenchmarkSum-8 10 {} ns/op {} B/op {} allocs/op\nPASS\n"


def go(path, level, memory=0, allocs=0, n=10):
    rng = np.random.default_rng(round(level))
    path.write_text("".join(GO.format(level + 10 * rng.random(), memory, allocs) for _ in range(n)))


def test_runs_that_are_equal_are_similar_by_every_rule(here):
    go(here / "old.txt", 1000.0)
    for classifier in ("spread", "kruskal", "heuristic", "same"):
        content = json.loads(run("check", "old.txt", "--classifier", classifier, "--json", code=None).stdout)
        assert {row["name"]: row["verdict"] for row in content["benchmarks"] if row["unit"] != "s"} == {
            "p.BenchmarkSum [B/op]": "similar", "p.BenchmarkSum [allocs/op]": "similar"
        }  # fmt: skip


SAMPLES = sorted(path for path in FILES.rglob("*") if path.is_file())
ON_FILES = [
    ("check", "PATH"), ("check", "PATH", "--against", "PATH", "-v"), ("noise", "PATH"), ("spread", "PATH"),
    ("trust", "PATH", "--runs", "2"), ("steady", "PATH"), ("contexts", "PATH"), ("order", "PATH"),
    ("import", "--dry-run", "PATH"), ("convert", "PATH", "--to", "csv", "--out", "-"),
]  # fmt: skip


LONG = {"noise", "trust"}  # commands that resample


def some_files(command):
    """Every day `labeler check FILE` reads each file, and the other commands read one of several."""
    return 40 if command[0] in LONG else 1 if len(command) == 2 and command[0] == "check" else 5


@pytest.mark.parametrize(
    ("command", "step"),
    [
        *((command, some_files(command)) for command in ON_FILES),
        *(pytest.param(command, 1, marks=pytest.mark.slow) for command in ON_FILES if some_files(command) > 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else f"each {value}",
)
def test_no_command_on_files_lets_a_warning_of_a_library_through(here, command, step):
    go(here / "zeros.txt", 1000.0)
    k6(here / "k6.json", failed=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        large = [CHECK / "after.json"] if step == 1 else []
        for path in [*SAMPLES[::step], here / "zeros.txt", here / "k6.json", *large]:
            done = run(*(path if part == "PATH" else part for part in command), code=None)
            assert done.exit_code in (0, 1, 2, 3), (path, done.output)
            assert "unexpectedly" not in done.stderr and "Warning:" not in done.stderr, (path, done.stderr)


# what is refused


@pytest.fixture
def damaged(here):
    for name in ("after.json", "before.json"):
        shutil.copy(CHECK / name, here / name)
    (here / "damaged.json").write_text('{"benchmarks": [')
    return here


@pytest.mark.parametrize("candidates", [("damaged.json",), ("after.json", "damaged.json")])
def test_every_output_names_the_file_that_decides_the_exit_code(damaged, candidates, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(damaged / "summary.md"))
    outputs = ("--junit", "j.xml", "--markdown", "m.md", "--json", "o.json", "--html", "h.html")
    done = run("check", *candidates, "--against", "before.json", "--annotations", "github", *outputs, code=2)
    run("check", *candidates, "--against", "before.json", "--annotations", "gitlab", code=2)
    texts = {name: (damaged / name).read_text() for name in ("summary.md", "m.md", "j.xml", "o.json", "h.html")}
    texts |= {"gitlab": (damaged / "gl-code-quality-report.json").read_text(), "text": done.stdout}
    for name, text in texts.items():
        assert "damaged.json" in text and "refused" in text, name
        assert "--renamed" not in text, name
    assert texts["summary.md"].startswith("# Benchmark check: 1 refused")
    assert json.loads(texts["o.json"])["outcome"] == 2
    assert ET.fromstring(texts["j.xml"]).get("errors") == str(1 + 6 * (len(candidates) == 1))
    assert any(line.startswith("::error ") and "damaged.json" in line for line in done.stderr.splitlines())


def test_a_check_that_could_not_be_done_says_why_in_its_outputs(damaged):
    done = run("check", "gone.json", "--against", "before.json", "--junit", "j.xml", "--json", "o.json", code=2)
    assert done.stdout == "" and "Error: gone.json: no such file or folder." in done.stderr
    assert "gone.json: no such file or folder" in (damaged / "j.xml").read_text()
    assert json.loads((damaged / "o.json").read_text())["outcome"] == 2


def test_lines_that_are_not_read_have_the_exit_code_of_a_refused_file(here):
    text = "test a ... bench: {} ns/iter (+/- 1)\n"
    (here / "old.txt").write_text("".join(text.format(100 + at) for at in range(6)))
    (here / "new.txt").write_text((here / "old.txt").read_text().replace("103 ns", "many ns"))
    done = run("check", "new.txt", "--against", "old.txt", code=2)
    assert says_in_order(done.stderr, "new.txt: line 4: 'test a ... bench: many ns/iter (+/- 1)' is not read")
    for command in (("noise", "new.txt"), ("convert", "new.txt", "--to", "csv", "--out", "x.csv")):
        assert "line 4" in run(*command, code=None).stderr
    assert run("convert", "new.txt", "old.txt", "--to", "csv", "--out", "x.csv", code=1)


# names


NAMES = [*HOSTILE, "sort\n::error ::owned", "sort\r\n::error ::owned", "\x1b[31mred", "a\x9b31m"]


@pytest.fixture
def hostile(here):
    rng = np.random.default_rng(1)
    for side, version in (("old", "v1"), ("new", "v2")):
        rows = [
            (name, at, 1 + 0.01 * rng.random() + (side == "new"), version, f"c{at % 2}", "s")
            for name in NAMES for at in range(8)
        ]  # fmt: skip
        (here / f"{side}.csv").write_bytes(csv_bytes(rows, ("benchmark", "run", "value", "version", "context", "unit")))
    shutil.copy(here / "new.csv", here / "x\n::error ::file.csv")
    (here / "y\n::error ::bad.json").write_text("{")
    return here


@pytest.mark.parametrize(
    "command",
    [
        ("check", "new.csv", "--against", "old.csv", "--annotations", "github"),
        ("check", "new.csv", "--against", "old.csv", "-v"), ("check", "new.csv", "--against", "old.csv", "--json"),
        ("check", "new.csv", "--against", "old.csv", "--markdown"),
        ("check", "new.csv", "--against", "old.csv", "--junit"),
        ("check", "x*", "y*", "--against", "old.csv", "--markdown"), ("check", "x*", "y*", "--annotations", "github"),
        ("noise", "old.csv"), ("spread", "new.csv", "x*", "y*"),
        pytest.param(("trust", "old.csv", "--runs", "2"), marks=pytest.mark.slow),
        ("contexts", "new.csv", "old.csv"), ("order", "new.csv"), ("trend", "new.csv", "old.csv"),
        ("import", "--dry-run", "new.csv", "y*"), ("convert", "new.csv", "y*", "--to", "parquet", "--out", "o.parquet"),
        ("convert", "new.csv", "--to", "icpe", "--out", "o"),
    ],
    ids=lambda command: " ".join(command)[:40],
)  # fmt: skip
def test_no_name_begins_a_line_of_output_or_controls_the_terminal(hostile, monkeypatch, command):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(hostile / "summary.md"))
    done = run(*command, code=None)
    summary = (hostile / "summary.md").read_text() if (hostile / "summary.md").exists() else ""
    shown = f"{done.stdout}\n{done.stderr}\n{summary}"
    assert not [line for line in shown.split("\n") if line.lstrip().startswith("::error ::")], command
    assert not {"\x1b", "\x9b", "\x07", "\x85", "\u2028", "\u202e"} & set(shown), command
    assert done.exit_code in (0, 1, 2, 3)


# outputs and suggestions


def test_minus_is_standard_output_where_a_file_is_made(here):
    make_study(here / "a study.study")
    done = run("backup", "--study", "a study.study", "--out", "-")
    assert done.stdout_bytes.startswith(b"SQLite format 3") and "to standard output" in done.stderr
    done = run("template", "--study", "a study.study", "--out", "-", "--name", "next")
    assert done.stdout_bytes.startswith(b"SQLite format 3") and "/join/" in done.stderr
    done = run("convert", CHECK / "after.json", "--to", "parquet", "--out", "-")
    assert done.stdout_bytes[:4] == b"PAR1" and done.stdout_bytes[-4:] == b"PAR1"
    assert run("convert", CHECK / "after.json", "--to", "csv", "--out", "-").stdout.startswith('"benchmark"')
    for arguments in (("--to", "icpe"), ("--to", "csv", "--json")):
        assert "Give a name with --out" in run("convert", CHECK / "after.json", *arguments, "--out", "-", code=2).stderr
    assert not (here / "-").exists()


def test_suggested_commands_quote_paths(here):
    assert "labeler import --study 'my study.study'" in run("init", "--study", "my study.study", "--name", "x").stderr
    assert "--study 'no study.study'" in run("status", "--study", "no study.study", code=2).stderr
    made = run("template", "--study", "my study.study", "--out", "next one.study").stderr
    assert "labeler import --study 'next one.study' FOLDER" in made


HINTS = {
    "benchmark name            samples    iterations    est run time\n"
    "                          mean       low mean      high mean\n---\nsort     100    1    2 ms\n": "--reporter xml",
    "arch,engine,wasm,process,iteration,phase,event,count\nx86_64,a,b.wasm,1,0,Execution,cycles,9\n": "benchmark=wasm",
    json.dumps([dict.fromkeys(("arch", "engine", "wasm", "process", "iteration", "phase", "event", "count"), "1")]):
        "--raw --output-format csv",
}  # fmt: skip


@pytest.mark.parametrize(("text", "hint"), HINTS.items(), ids=HINTS.values())
def test_output_of_a_tool_that_cannot_be_read_names_the_option_that_helps(here, text, hint):
    for name in ("a.txt", "a.csv"):
        (here / name).write_text(text)
        assert hint in run("check", name, code=2).stderr


def test_a_column_time_says_when_runs_were_measured(here):
    rng = np.random.default_rng(2)
    for side, first in (("old", 0), ("new", 1)):
        rows = [
            (f"b{b}", at, 1 + rng.random() / 100, f"2024-05-01T10:{2 * at + first:02}:00")
            for b in range(3)
            for at in range(8)
        ]
        (here / f"{side}.csv").write_bytes(csv_bytes(rows, ("benchmark", "run", "value", "time")))
    done = run("check", "new.csv", "--against", "old.csv", "--unit", "s", "--json", code=None)
    assert json.loads(done.stdout)["suite"]["designs"] == {"by turns": 3}
