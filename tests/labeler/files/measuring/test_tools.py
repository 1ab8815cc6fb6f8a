"""Each tool runs as one process per run, and its measurements are found; with the real tool if it is installed."""

import importlib.util
import json
import os
import shlex
import shutil
import sys

import pytest

from labeler.files.measuring.plan_file import parse_plan
from labeler.files.measuring.tools import TOOLS
from tests.conftest import missing
from tests.labeler.files.formats.examples import jmh_entry
from tests.labeler.files.measuring.commands import measured

PYPERF = """
import pyperf
runner = pyperf.Runner()
runner.bench_func("sum", sum, range(1000))
runner.bench_func("sort", sorted, range(1000))
"""
PYTEST = """
def test_sum(benchmark): benchmark.pedantic(sum, (range(1000),), rounds=5)
def test_sort(benchmark): benchmark.pedantic(sorted, (range(1000),), rounds=5)
"""
GOOGLE = """
import google_benchmark as benchmark
@benchmark.register
def add(state):
    while state: sum(range(1000))
@benchmark.register
def sort(state):
    while state: sorted(range(1000))
benchmark.main()
"""
GO = """package b
import "testing"
func BenchmarkSum(b *testing.B) { for i := 0; i < b.N; i++ { s := 0; for j := 0; j < 1000; j++ { s += j } } }
func BenchmarkMore(b *testing.B) { for i := 0; i < b.N; i++ { s := 0; for j := 0; j < 5000; j++ { s += j } } }
"""
# tool -> (files, keys of the plan, benchmarks, iterations)
REAL = {
    "pyperf": ({"bench.py": PYPERF},
               'target = "bench.py"\niterations = 3\narguments = ["--warmups=1", "--min-time=0.001"]',
               ["b: sum", "b: sort"], 3),
    "pytest-benchmark": ({"test_b.py": PYTEST}, 'target = "test_b.py"\nonly = "sum"', ["b"], 5),
    "google-benchmark": ({"gb.py": GOOGLE}, """
target = "{python} gb.py"
only = "^add$"
iterations = 4
arguments = ["--benchmark_min_time=0.01s"]
""", ["b"], 4),
    "hyperfine": ({}, 'target = "true"\niterations = 3\narguments = ["--warmup", "1"]', ["b"], 3),
    "go": ({"go.mod": "module example.org/b\ngo 1.19\n", "b_test.go": GO},
           'target = "./..."\nonly = "Sum"\niterations = 2\narguments = ["-benchtime=1ms"]', ["b"], 2),
}  # fmt: skip
MODULES = {"pyperf": "pyperf", "pytest-benchmark": "pytest_benchmark", "google-benchmark": "google_benchmark"}


def is_here(tool):
    return importlib.util.find_spec(MODULES[tool]) if tool in MODULES else shutil.which(tool)


@pytest.mark.slow
@pytest.mark.parametrize("tool", REAL)
def test_a_tool_gives_its_measurements_run_by_run(tmp_path, tool):
    if not is_here(tool):
        missing(tool, "install the benchmark tool to measure with it")
    files, keys, names, n_iterations = REAL[tool]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    top = 'runs = 2\ninherit = ["PATH", "HOME"]'  # variables of pytest-xdist disable pytest-benchmark
    plan = parse_plan(f'{top}\n[[benchmarks]]\nname = "b"\ntool = "{tool}"\n{keys}')
    rows = measured(tmp_path, plan)
    assert [row["failure"] for row in rows if row["failure"]] == []
    cells = [(row["benchmark"], row["run"], row["iteration"]) for row in rows]
    assert cells == [(name, run, str(at)) for run in "01" for name in names for at in range(n_iterations)]
    assert all(0 < float(row["value"]) < 1 and (row["unit"], row["better"]) == ("s", "lower") for row in rows)


SAMPLE = '{"sampling_mode": "Flat", "iters": [1.0, 2.0], "times": [5.0, 12.0]}'
STAND_INS = {  # the arguments of a program of this name, and the file that it writes
    "jmh": ("java", 'target = "b.jar"\nonly = "Sort.*"\niterations = 2',
            ["-jar", "b.jar", "Sort.*", "-f", "1", "-i", "2", "-rf", "json", "-rff"],
            "pathlib.Path(sys.argv[-1]).write_text(open('result.json').read())"),
    "criterion": ("cargo", 'target = "sums"\nonly = "sum"\niterations = 10',
                  ["bench", "--bench", "sums", "--", "sum", "--noplot", "--sample-size", "10"],
                  f"""
new = pathlib.Path(os.environ['CRITERION_HOME'], 'sum', 'new')
new.mkdir(parents=True)
(new / 'sample.json').write_text('{SAMPLE}')
(new / 'estimates.json').write_text('{{}}')
"""),
}  # fmt: skip


@pytest.mark.parametrize("tool", STAND_INS)
def test_a_tool_that_is_not_here_is_called_by_its_options_and_its_files_are_found(tmp_path, monkeypatch, tool):
    """A program with the name of the tool records its arguments and writes the tool's file."""
    program, keys, words, leave = STAND_INS[tool]
    (tmp_path / "result.json").write_text(json.dumps([jmh_entry([[0.25, 0.5]])]))
    (tmp_path / "stand_in.py").write_text(
        f"import json, os, pathlib, sys\nopen('called', 'w').write(json.dumps(sys.argv[1:]))\n{leave}\n"
    )
    # not the interpreter after #!, because its path may contain a space
    (tmp_path / program).write_text(
        f'#!/bin/sh\nexec {shlex.join([sys.executable, str(tmp_path / "stand_in.py")])} "$@"\n'
    )
    (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    rows = measured(tmp_path, parse_plan(f'runs = 2\n[[benchmarks]]\nname = "b"\ntool = "{tool}"\n{keys}'))
    called = json.loads((tmp_path / "called").read_text())
    assert called[: len(words)] == words
    values = ["0.25", "0.5"] if tool == "jmh" else ["5e-09", "6e-09"]
    assert [(row["benchmark"], row["run"], row["failure"]) for row in rows] == [
        ("b", run, "") for run in "01" for _ in range(2)
    ]
    assert [float(row["value"]) for row in rows] == pytest.approx([float(value) for value in values * 2])


def test_every_tool_is_tried():
    assert {*REAL, *STAND_INS} == set(TOOLS)
