"""Define, for each benchmark tool, the command for one run and the place of the measurements.

A run is one process. If a tool normally starts several processes, the command makes the tool start only one, because
the plan makes the other runs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from labeler.files.measuring.plan import FILE, OUTPUT, STDOUT

OUT = f"{{{OUTPUT}}}"


@dataclass(frozen=True)
class Call:
    """The options of a tool in a plan: target, selected benchmarks, number of iterations, and other arguments."""

    target: str
    only: str = ""
    iterations: int | None = None
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tool:
    """A benchmark tool."""

    name: str
    target: str  # what the key `target` of a plan means for this tool
    words: Callable[[Call], Sequence[str]]  # A function that returns the words of the command for a `Call`
    values: str = FILE  # `FILE` or `STDOUT`
    file: str = OUT  # the file that the tool writes
    environment: Mapping[str, str] | None = None
    # What the key `only` of a plan means for this tool; "" if the tool cannot run only some of its benchmarks.
    only: str = ""
    file_is_run: bool = False  # whether the single values in the file are iterations of one run


def _option(name: str, value: object) -> list[str]:
    return [] if value in (None, "") else [f"{name}{value}"]


def _pyperf(call: Call) -> list[str]:
    own = ["--processes", "1", *(["--values", str(call.iterations)] if call.iterations else [])]
    return ["{python}", call.target, *own, "--quiet", *call.arguments, "--output", OUT]


def _pytest(call: Call) -> list[str]:
    rounds = _option("--benchmark-min-rounds=", call.iterations)
    part = ["-k", call.only] if call.only else []
    return [
        "{python}", "-m", "pytest", "-q", "-p", "no:cacheprovider", call.target, *part, "--benchmark-only", *rounds,
        *call.arguments, f"--benchmark-json={OUT}",
    ]  # fmt: skip


def _google(call: Call) -> list[str]:
    return [
        *call.target.split(), *_option("--benchmark_filter=", call.only),
        f"--benchmark_repetitions={call.iterations or 1}", "--benchmark_report_aggregates_only=false",
        f"--benchmark_out={OUT}", "--benchmark_out_format=json", *call.arguments,
    ]  # fmt: skip


def _go(call: Call) -> list[str]:
    count = _option("-count=", call.iterations or 1)
    return ["go", "test", "-run=^$", f"-bench={call.only or '.'}", *count, *call.arguments, call.target]


def _jmh(call: Call) -> list[str]:
    iterations = ["-i", str(call.iterations)] if call.iterations else []
    only = [call.only] if call.only else []
    return ["java", "-jar", call.target, *only, "-f", "1", *iterations, *call.arguments, "-rf", "json", "-rff", OUT]


def _hyperfine(call: Call) -> list[str]:
    runs = ["--runs", str(call.iterations or 1)]
    return ["hyperfine", "--shell=none", *runs, *call.arguments, "--export-json", OUT, call.target]


def _criterion(call: Call) -> list[str]:
    size = ["--sample-size", str(call.iterations)] if call.iterations else []
    return ["cargo", "bench", "--bench", call.target, "--", *([call.only] if call.only else []), "--noplot", *size,
            *call.arguments]  # fmt: skip


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("pyperf", "the script that uses pyperf.Runner", _pyperf),
        Tool("pytest-benchmark", "the test file or folder", _pytest, only="an expression, as for pytest -k"),
        Tool("google-benchmark", "the program", _google, only="a regular expression"),
        Tool("go", "the package, such as ./...", _go, STDOUT, only="a regular expression"),
        Tool("jmh", "the jar", _jmh, only="a regular expression"),
        Tool("hyperfine", "the command as one text", _hyperfine, file_is_run=True),
        Tool("criterion", "the bench target", _criterion, FILE, f"{OUT}/criterion/**/new/sample.json",
             environment={"CRITERION_HOME": f"{OUT}/criterion"}, only="a filter"),
    )
}  # fmt: skip
