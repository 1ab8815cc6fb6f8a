"""The known formats, in the order in which they are tried.

Built-in formats come first, then the formats of other packages. A module of readers is imported when one of its
functions is first called, because most commands read files of one format.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from analysis.runs.benchmark import Benchmark
from labeler.files.formats import criterion, google_benchmark
from labeler.plugins import Plugin, format_plugins

_DEFERRED = (
    "asv", "benchmarkdotnet", "catch2", "go_benchfmt", "histories", "json_all_values", "json_one_value", "long_table",
    "perf_stat", "plain_numbers", "printed", "rebench", "tool_tables",
)  # fmt: skip
if TYPE_CHECKING:
    from labeler.files.formats import (
        asv,
        benchmarkdotnet,
        catch2,
        go_benchfmt,
        histories,
        json_all_values,
        json_one_value,
        long_table,
        perf_stat,
        plain_numbers,
        printed,
        rebench,
        tool_tables,
    )
else:

    class _Deferred:
        """A module that is imported when one of its functions is first called."""

        def __init__(self, module: str) -> None:
            self.module = module

        def __getattr__(self, name: str) -> Callable[..., Any]:
            return partial(_call, self.module, name)

    globals().update({module: _Deferred(module) for module in _DEFERRED})


def _call(module: str, name: str, *arguments: Any, **options: Any) -> Any:
    return getattr(import_module(f"labeler.files.formats.{module}"), name)(*arguments, **options)


RUN, STUDY = "run", "study"
FILE_IS = (RUN, STUDY)
VALUES_ARE = ("iterations", "runs")


@dataclass(frozen=True)
class Format:
    """A file format."""

    name: str
    title: str
    runs: str  # the meaning of a run and of an iteration in this format
    iterations: str
    # Takes (name of the file, content) and returns whether the content has this format. It is fast and never
    # raises an error.
    detect: Callable[[str, bytes], bool]
    # Takes (name of the file, content, columns) and returns benchmarks; raises ValueError with place and reason.
    # The name is complete, but has no compression ending such as .gz.
    read: Callable[[str, bytes, Mapping[str, str]], Iterator[Benchmark]]
    file_is: str = STUDY  # "study" if one file holds all runs of a benchmark; "run" if each file is one run
    values_are: str = "iterations"  # "runs" if each value was measured by a separate process
    keep: str = ""  # option that makes the tool write all values into a file
    in_file_order: bool = False  # whether a file has all runs in the order in which they were measured
    metrics: tuple[str, ...] = ()  # the values that `--metric` can choose; the first is the default
    takes_name: bool = False  # whether files do not name the benchmark, so that `--benchmark` can
    package: str = ""  # the package that provides the format; "" for a built-in one
    beside: str = ""  # name of a file in the same folder whose text the reader gets in `columns` under this name
    is_printed: bool = False  # whether the tool prints the results for people, perhaps in colours
    # The fields, words or lines that say that something failed; empty if a file cannot say it.
    failures: tuple[str, ...] = ()
    # Like `read`, but if the file has no measurements, the tool's mean or median is the only value of a run. This
    # is enough only for a comparison that uses one number per run.
    read_means: Callable[[str, bytes, Mapping[str, str]], Iterator[Benchmark]] | None = None


FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        Format("criterion", "criterion.rs sample.json", "file", "sample", criterion.detect, criterion.read,
               RUN, keep="always, in target/criterion/**/sample.json", beside=criterion.BESIDE),
        Format("icpe", "ICPE '23 data challenge JSON", "list of numbers", "number",
               json_all_values.detect_icpe, json_all_values.read_icpe),
        Format("jmh", "JMH JSON", "fork", "iteration", json_all_values.detect_jmh, json_all_values.read_jmh,
               keep="-rf json", in_file_order=True),
        Format("pyperf", "pyperf JSON", "worker process", "value",
               json_all_values.detect_pyperf, json_all_values.read_pyperf, keep="-o FILE.json"),
        Format("pytest-benchmark", "pytest-benchmark JSON", "file", "round",
               json_all_values.detect_pytest, json_all_values.read_pytest, RUN,
               keep="--benchmark-json=FILE, or --benchmark-save-data beside --benchmark-autosave",
               read_means=partial(json_all_values.read_pytest, means=True),
               failures=("stats: null", "data: null or empty", "a round: null")),
        Format(
            "google-benchmark", "Google Benchmark JSON", "file", "repetition",
            google_benchmark.detect, google_benchmark.read,
            RUN, keep="--benchmark_repetitions=N --benchmark_report_aggregates_only=false --benchmark_out=FILE.json",
            metrics=google_benchmark.METRICS, failures=("error_occurred",),
        ),
        Format("hyperfine", "hyperfine JSON", "timing (one process each)", "one time",
               json_all_values.detect_hyperfine, json_all_values.read_hyperfine,
               values_are="runs", keep="--export-json FILE", in_file_order=True,
               failures=("exit_codes",)),
        Format("asv", "asv results JSON", "file (one commit and environment)", "sample", asv.detect, asv.read,
               RUN, keep="--record-samples", read_means=partial(asv.read, medians=True),
               failures=("result: null",)),
        Format("tcpd", "TCPD series JSON", "point of the series", "one value",
               histories.detect_tcpd, histories.read_tcpd, values_are="runs"),
        Format("perfherder", "Perfherder performance data JSON", "push", "one value",
               histories.detect_perfherder, histories.read_perfherder, values_are="runs"),
        Format("github-action-history", "github-action-benchmark data.js", "entry (one commit)", "one value",
               histories.detect_action_history, histories.read_action_history, values_are="runs",
               failures=("value: null",)),
        Format("benchmarkdotnet", "BenchmarkDotNet full JSON report", "launch", "workload measurement, stage Result",
               benchmarkdotnet.detect, benchmarkdotnet.read, keep="--exporters fulljson",
               read_means=partial(benchmarkdotnet.read, means=True),
               failures=("Measurements: null or empty", "Statistics: null")),
        Format("parquet", "long Parquet table", "column run and its conditions", "row, or column iteration",
               long_table.detect_parquet, long_table.read_parquet, takes_name=True,
               failures=("column failure",)),
        Format("ordersage", "OrderSage CSV", "trial", "one result",
               tool_tables.detect_ordersage, tool_tables.read_ordersage,
               failures=("completion_status",)),
        Format("otava", "history as CSV of otava", "row (one commit)", "one value",
               histories.detect_otava, histories.read_otava, values_are="runs"),
        Format("krun", "krun CSV", "row (one process)", "column 0, 1, 2, ...",
               tool_tables.detect_krun, tool_tables.read_krun,
               failures=("crash",)),
        Format("pa", "pa and bencher CSV", "fork of a trial on an instance", "iteration",
               tool_tables.detect_pa, tool_tables.read_pa),
        Format("tinybench", "vitest and tinybench JSON", "file", "one mean",
               json_one_value.detect_tinybench, json_one_value.read_tinybench,
               RUN, keep="vitest bench --outputJson=FILE.json",
               failures=("error", "state: errored")),
        Format("benchmarkjs", "Benchmark.js output", "file, or each process in it", "one mean",
               printed.detect_benchmark_js, printed.read_benchmark_js, RUN,
               is_printed=True, failures=("NAME: ERROR", "NaN ops/sec")),
        Format("cargo-bench", "cargo bench output (libtest, criterion.rs)", "file, or each process in it", "one time",
               printed.detect_cargo, printed.read_cargo, RUN,
               is_printed=True, failures=("FAILED", "error: bench failed", "panicked at")),
        Format("github-action", "github-action-benchmark custom JSON", "file", "one value",
               json_one_value.detect_action, json_one_value.read_action, RUN),
        Format("bencher", "Bencher Metric Format JSON", "file", "one value",
               json_one_value.detect_bencher, json_one_value.read_bencher, RUN),
        Format("k6", "k6 summary JSON", "file (all requests of one process)", "one mean or rate",
               json_one_value.detect_k6, json_one_value.read_k6, RUN, keep="--summary-export=FILE.json",
               failures=("http_req_failed", "checks", "dropped_iterations", "thresholds", "own metrics of failures")),
        Format("wrk", "wrk output", "file, or each process in it (all requests)", "one mean or rate",
               printed.detect_wrk, printed.read_wrk, RUN,
               is_printed=True,
               failures=("Non-2xx or 3xx responses", "Socket errors", "no line Requests/sec", "unable to connect")),
        Format("catch2", "Catch2 XML", "file", "one mean", catch2.detect, catch2.read,
               RUN, keep="--reporter xml --out FILE.xml",
               failures=("failed", "OverallResult success=false", "FatalErrorCondition")),
        Format("benchmarktools", "BenchmarkTools.jl JSON", "file", "one mean",
               json_one_value.detect_benchmarktools, json_one_value.read_benchmarktools,
               RUN, keep='BenchmarkTools.save("FILE.json", run(suite))',
               failures=("times: empty",)),
        Format("pkgbenchmark", "PkgBenchmark.jl JSON", "file (one commit)", "one mean",
               json_one_value.detect_pkgbenchmark, json_one_value.read_pkgbenchmark,
               RUN, keep='writeresults("FILE.json", benchmarkpkg(PACKAGE))', failures=("times: empty",)),
        Format("mitata", "mitata JSON", "file", "one mean", json_one_value.detect_mitata, json_one_value.read_mitata,
               RUN, keep='run({ format: "json" })',
               failures=("error", "no stats")),
        Format("nanobench", "nanobench JSON", "file", "epoch",
               json_all_values.detect_nanobench, json_all_values.read_nanobench,
               RUN, keep="bench.render(ankerl::nanobench::templates::json(), out)"),
        Format("codspeed", "CodSpeed walltime JSON", "file", "one mean",
               json_one_value.detect_codspeed, json_one_value.read_codspeed, RUN, keep="--codspeed-mode=walltime",
               failures=("stats: null", "rounds: 0")),
        Format("rebench", "ReBench data file", "invocation", "iteration", rebench.detect, rebench.read,
               keep="always, in the file of default_data_file",
               failures=("value: null or NaN", "invocations that are missing")),
        Format("benchmark-ips", "benchmark-ips output and JSON", "file, or each process in it", "one rate",
               printed.detect_benchmark_ips, printed.read_benchmark_ips, RUN, keep="x.json! FILE.json",
               is_printed=True, failures=("no result after the warm-up", "a Ruby error")),
        Format("perf-stat", "perf stat output (text, -j, -x)", "file, or each output in it", "one count",
               perf_stat.detect, perf_stat.read, RUN, keep="-o FILE --append, once for each process",
               takes_name=True, read_means=partial(perf_stat.read, means=True),
               is_printed=True, failures=("<not counted>",)),
        Format("jmeter", "JMeter results as CSV (JTL)", "file (all requests of one process)", "request",
               tool_tables.detect_jmeter, tool_tables.read_jmeter, RUN, keep="-l FILE.jtl",
               failures=("success", "responseCode")),
        Format("abs", "JavaABS or GoABS CSV", "run", "result", tool_tables.detect_abs, tool_tables.read_abs),
        Format("go", "Go benchmark output (benchfmt)", "file, or each process in it", "line of -count",
               go_benchfmt.detect, go_benchfmt.read, RUN, keep="go test -bench=. -count=N > FILE.txt",
               is_printed=True, failures=("--- FAIL", "FAIL", "panic:", "NaN", "0 iterations", "[build failed]")),
        Format("csv", "long CSV table", "column run and its conditions", "row, or column iteration",
               long_table.detect_csv, long_table.read_csv, takes_name=True,
               failures=("column failure",)),
        Format("numbers", "plain column of numbers", "file", "number", plain_numbers.detect, plain_numbers.read,
               RUN, keep="one number per line; --benchmark NAME", takes_name=True, is_printed=True),
    )
}  # fmt: skip


@dataclass(frozen=True)
class PackageFormats:
    """Formats of other packages by name, and the reasons why some of them cannot be used."""

    formats: Mapping[str, Format]
    errors: Mapping[str, str]


def package_formats() -> PackageFormats:
    """Return the formats that installed packages add, and the reasons why some of them cannot be used."""
    formats, errors = {}, {}
    for name, plugin in format_plugins().items():
        reason = _why_not(plugin)
        if reason:
            errors[name] = f"{plugin.distribution}: {reason}"
        else:
            formats[name] = replace(plugin.function, name=name, package=plugin.distribution)
    return PackageFormats(formats, errors)


def _why_not(plugin: Plugin) -> str:
    if plugin.error:
        return plugin.error
    if not isinstance(plugin.function, Format):
        return f"it registers {type(plugin.function).__name__}, not a labeler.files.formats.Format"
    return "labeler already has a format with this name" if plugin.name in FORMATS else ""


def formats_table() -> list[dict[str, Any]]:
    """Return one row per format: name, title, meaning of run, iteration and file, what saves all values, and failures.

    If a format of another package cannot be used, the reason replaces the title.
    """
    of_packages = package_formats()
    keys = ("name", "title", "runs", "iterations", "file_is", "keep", "failures", "package")
    rows = [
        {key: getattr(known, key) for key in keys} | {"failures": ", ".join(known.failures)}
        for known in (*FORMATS.values(), *of_packages.formats.values())
    ]
    return [
        *rows,
        *(
            dict.fromkeys(keys, "") | {"name": name, "title": f"cannot be used: {why}"}
            for name, why in of_packages.errors.items()
        ),
    ]
