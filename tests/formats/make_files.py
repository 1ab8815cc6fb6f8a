"""Create the result files for the tests of the readers, in tests/labeler/files/formats/files.

    python tests/formats/make_files.py [TOOL...]

Tools from PyPI are installed into a temporary environment, tools from Debian are installed (as root) if they are
missing. Names of the machine and the folder are removed. criterion.rs and BenchmarkDotNet come from other registries,
and krun and pa are no longer maintained: files of these four follow their documentation or source, with invented times.
So do the short files of libtest, github-action-benchmark (also data.js), Bencher, k6, wrk, Catch2, BenchmarkTools.jl,
PkgBenchmark.jl, nanobench, JMeter and `go test -json`, which are written by hand. The JavaScript tools need npm. Times
differ each time the files are created; the tests do not depend on them.
"""

import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FILES = HERE.parent / "labeler" / "files" / "formats" / "files"
PROGRAMS = HERE / "programs"


def main(wanted):
    for tool in wanted or TOOLS:
        with tempfile.TemporaryDirectory() as folder:
            TOOLS[tool](Path(folder))
        print(tool, "done")


def run(*command, cwd, check=True, **more):
    return subprocess.run(
        list(map(str, command)), cwd=cwd, check=check, stdout=subprocess.PIPE, text=True, **more
    ).stdout


def debian(*packages):
    run("apt-get", "install", "-y", "-qq", *packages, cwd="/")


def python(folder, *packages):
    """Return the programs of an environment with these packages."""
    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    run(folder / "venv/bin/pip", "install", "-q", *packages, cwd=folder)
    return folder / "venv/bin"


def keep(name, text, folder):
    """Write a file without the names of this machine and of the folder."""
    for said, instead in (
        (str(folder), "/opt"),
        (str(folder).replace("/", "_"), "_work"),
        (socket.gethostname(), "host"),
    ):
        if len(said) > 3:
            text = text.replace(said, instead)
    (FILES / name).parent.mkdir(parents=True, exist_ok=True)
    (FILES / name).write_text(text, newline="")


def pyperf(folder):
    programs = python(folder, "pyperf")
    measure = (programs / "python", "-m", "pyperf", "timeit", "--min-time", 0.002, "-w", 1)
    three = ("-p", 3, "-n", 4, "-s", "s = list(range(200))[::-1]; t = ['ab'] * 100")
    run(*measure, "-p", 2, "-n", 3, "sorted([3, 1, 2])", "-o", "timeit.json", cwd=folder)
    for file, options in (("two.json", ()), ("memory.json", ("--track-memory",))):
        for name, statement in (("sort", "sorted(s)"), ("join", "''.join(t)")):
            run(*measure, *three, *options, "--name", name, statement, "--append", file, cwd=folder)
    for name in ("two", "memory", "timeit"):
        document = json.loads((folder / f"{name}.json").read_text())
        document["metadata"] |= {"hostname": "host", "platform": "Linux", "python_config_args": ""}
        keep(f"pyperf-{name}.json", json.dumps(document, separators=(",", ":")), folder)


def pytest_benchmark(folder):
    programs = python(folder, "pytest-benchmark")
    shutil.copy(PROGRAMS / "pytest_sorting.py", folder / "test_sorting.py")
    options = ("-q", "-p", "no:cacheprovider", "--benchmark-storage=saved", "--benchmark-autosave")
    run(programs / "pytest", *options, "--benchmark-json=all.json", cwd=folder, check=False)
    (saved,) = folder.glob("saved/*/*.json")
    for name, path in (("pytest-benchmark", folder / "all.json"), ("pytest-benchmark-autosaved", saved)):
        document = json.loads(path.read_text())
        document["machine_info"] |= {"node": "host", "release": "", "cpu": {}}
        keep(f"{name}.json", json.dumps(document, indent=4), folder)


def google_benchmark(folder):
    if not shutil.which("g++") or not Path("/usr/include/benchmark/benchmark.h").exists():
        debian("g++", "libbenchmark-dev")
    run("g++", "-O1", PROGRAMS / "sorting.cc", "-o", "sorting", "-lbenchmark", "-lpthread", cwd=folder)
    short = ("./sorting", "--benchmark_min_time=0.005")
    run(*short, "--benchmark_out=all.json", cwd=folder, stderr=subprocess.DEVNULL)
    aggregates = ("--benchmark_filter=Copy|Sort", "--benchmark_report_aggregates_only=true")
    run(*short, *aggregates, "--benchmark_out=aggregates.json", cwd=folder, stderr=subprocess.DEVNULL)
    csv = run(*short, "--benchmark_filter=Copy", "--benchmark_format=csv", cwd=folder, stderr=subprocess.DEVNULL)
    keep("google-benchmark.csv", csv, folder)
    for name, file in (("google-benchmark", "all"), ("google-benchmark-aggregates", "aggregates")):
        document = json.loads((folder / f"{file}.json").read_text())
        document["context"] |= {"host_name": "host", "caches": []}
        keep(f"{name}.json", json.dumps(document, indent=2), folder)


def go_benchfmt(folder):
    if not shutil.which("go"):
        debian("golang-go")
    shutil.copytree(PROGRAMS / "go", folder, dirs_exist_ok=True)
    quick = ("go", "test", "-benchtime", "20x", "-bench")
    two = {"env": os.environ | {"GOMAXPROCS": "2"}}
    keep("go.txt", run(*quick, ".", "-count", 3, "./...", cwd=folder, check=False, **two), folder)
    inner = (*quick, "Sort", "-cpu", "1,2", "-count", 2, "./inner")
    keep("go-two-processes.txt", "".join(run(*inner, cwd=folder, **two) for _ in range(2)), folder)


def hyperfine(folder):
    if not shutil.which("hyperfine"):
        debian("hyperfine")
    command = ("hyperfine", "-N", "-i", "-r", 4, "-P", "n", 1, 2, "expr {n} % 2", "-n", "odd or even")
    run(*command, "--export-json", "odd.json", "--export-csv", "odd.csv", cwd=folder, stderr=subprocess.DEVNULL)
    some = "test -e half && rm half && exit 3; touch half"
    run("hyperfine", "-i", "-r", 6, some, "--export-json", "some.json", cwd=folder, stderr=subprocess.DEVNULL)
    keep("hyperfine-parameters.json", (folder / "odd.json").read_text(), folder)
    keep("hyperfine.csv", (folder / "odd.csv").read_text(), folder)
    keep("hyperfine.json", (folder / "some.json").read_text(), folder)


def asv(folder):
    programs = python(folder, "asv")
    conf = {"version": 1, "project": "sorting", "project_url": "", "repo": ".", "branches": ["HEAD"],
            "environment_type": "existing", "benchmark_dir": "benchmarks", "results_dir": "results"}  # fmt: skip
    (folder / "asv.conf.json").write_text(json.dumps(conf))
    (folder / "benchmarks").mkdir()
    (folder / "benchmarks/__init__.py").write_text("")
    shutil.copy(PROGRAMS / "asv_sorting.py", folder / "benchmarks/sorting.py")
    run("git", "init", "-q", ".", cwd=folder)
    run(programs / "asv", "machine", "--yes", "--machine", "host", cwd=folder)
    for name, options in (("first", ["--record-samples"]), ("second", ["--record-samples"]), ("medians", [])):
        commit = commit_of(folder, name)
        chosen = ("--machine", "host", "--python=same", "--set-commit-hash", commit)
        run(programs / "asv", "run", *chosen, *options, cwd=folder, check=False, stderr=subprocess.DEVNULL)
        (path,) = folder.glob(f"results/host/{commit[:8]}-*.json")
        keep(f"asv-{name}.json", path.read_text(), folder)


def commit_of(folder, name):
    """Return the hash of a new commit, always the same."""
    told = {"NAME": "a", "EMAIL": "a@example.org", "DATE": "2024-01-01T00:00:00Z"}
    always = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in told.items()}
    run("git", "commit", "-q", "--allow-empty", "-m", name, cwd=folder, env=os.environ | always)
    return run("git", "rev-parse", "HEAD", cwd=folder).strip()


def criterion(folder):
    rng = random.Random(1)
    for function in ("Iterative", "Recursive with cache"):
        for version in ("base", "new"):
            iters = [float(1000 * at) for at in range(1, 11)]
            times = [round(count * rng.uniform(20, 22)) * 1.0 for count in iters]
            place = f"criterion/Fibonacci numbers/{function}/20"
            told = {"group_id": "Fibonacci numbers", "function_id": function, "value_str": "20", "throughput": None,
                    "full_id": f"Fibonacci numbers/{function}/20", "directory_name": place.partition("/")[2],
                    "title": f"Fibonacci numbers/{function}/20"}  # fmt: skip
            interval = {"confidence_level": 0.95, "lower_bound": 20.5, "upper_bound": 21.5}
            estimate = {"confidence_interval": interval, "point_estimate": 21.0, "standard_error": 0.2}
            names = ("mean", "median", "median_abs_dev", "slope", "std_dev")
            for name, value in (
                ("sample", {"sampling_mode": "Linear", "iters": iters, "times": times}),
                ("benchmark", told),
                ("estimates", dict.fromkeys(names, estimate)),
                ("tukey", [18.5, 19.5, 22.5, 23.5]),
            ):
                keep(f"{place}/{version}/{name}.json", json.dumps(value, separators=(",", ":")), folder)


def benchmarkdotnet(folder):
    rng = random.Random(2)
    entries = []
    for method, parameters in (("Sort", "N=10"), ("Sort", "N=100"), ("Join", "Text=a b")):
        argument = parameters.replace("=", ": ")
        entries.append({
            "DisplayInfo": f"Sorting.{method}: Job-QKXMVD(LaunchCount=2) [{parameters}]", "Namespace": "Example",
            "Type": "Sorting", "Method": method, "MethodTitle": method, "Parameters": parameters,
            "FullName": f"Example.Sorting.{method}({argument})", "HardwareIntrinsics": "AVX2",
            "Statistics": {"OriginalValues": [52.5, 52.75], "N": 2, "Min": 52.5, "Mean": 52.625, "Max": 52.75},
            "Memory": {"Gen0Collections": 0, "TotalOperations": 8192, "BytesAllocatedPerOperation": 24},
            "Measurements": measurements(rng), "Metrics": [],
        })  # fmt: skip
    entries.append(entries[0] | {"Method": "Fails", "FullName": "Example.Sorting.Fails", "Parameters": "",
                                 "Statistics": None, "Measurements": []})  # fmt: skip
    host = {"BenchmarkDotNetCaption": "BenchmarkDotNet", "BenchmarkDotNetVersion": "0.13.12", "OsVersion": "Debian",
            "ProcessorName": "CPU", "RuntimeVersion": ".NET 8.0.1", "Architecture": "X64"}  # fmt: skip
    report = {"Title": "Example.Sorting-20240101-000000", "HostEnvironmentInfo": host, "Benchmarks": entries}
    keep("Example.Sorting-report-full.json", "\ufeff" + json.dumps(report, indent=3), folder)
    report["Benchmarks"] = [{key: value for key, value in one.items() if key != "Measurements"} for one in entries]
    keep("Example.Sorting-report-brief.json", json.dumps(report), folder)


def measurements(rng):
    """Two launches with their stages; results are the actual times without the slowest, minus the mean overhead."""
    stages = [
        ("Overhead", "Jitting", 1), ("Workload", "Jitting", 1), ("Workload", "Pilot", 2), ("Overhead", "Warmup", 1),
        ("Overhead", "Actual", 2), ("Workload", "Warmup", 1), ("Workload", "Actual", 5),
    ]  # fmt: skip
    made = []
    for launch in (1, 2):
        times = {
            (mode, stage): [round(rng.uniform(2e5, 2.2e5) / (100 if mode == "Overhead" else 1), 1) for _ in range(n)]
            for mode, stage, n in stages
        }
        actual, overhead = times["Workload", "Actual"], sum(times["Overhead", "Actual"]) / 2
        times["Workload", "Result"] = [round(time - overhead, 2) for time in actual if time < max(actual)]
        made += [
            {"IterationMode": mode, "IterationStage": stage, "LaunchIndex": launch, "IterationIndex": at,
             "Operations": 4096, "Nanoseconds": time}
            for (mode, stage), found in times.items() for at, time in enumerate(found, 1)
        ]  # fmt: skip
    return made


def javascript(folder):
    """vitest, tinybench, Benchmark.js and mitata; of mitata's samples and their code only the first 20."""
    shutil.copytree(PROGRAMS / "js", folder, dirs_exist_ok=True)
    run("npm", "install", "--silent", "vitest", "tinybench", "benchmark", "mitata", cwd=folder)
    run("npx", "vitest", "bench", "--run", "--outputJson=vitest.json", cwd=folder)
    run("node", "tinybench.mjs", cwd=folder)
    for file in ("vitest.json", "tinybench.json"):
        keep(file, (folder / file).read_text(), folder)
    keep("benchmarkjs.txt", run("node", "benchmarkjs.cjs", cwd=folder), folder)
    report = json.loads(run("node", "mitata.mjs", cwd=folder))
    report["context"] = {key: report["context"][key] for key in ("arch", "version", "runtime")}
    for one in (one for benchmark in report["benchmarks"] for one in benchmark["runs"]):
        if "stats" in one:
            del one["stats"]["debug"], one["stats"]["samples"][20:]
        else:
            one["error"]["stack"] = "Error: x"
    keep("mitata.json", json.dumps(report, indent=1), folder)


def krun(folder):
    rng = random.Random(3)
    rows = [["process_exec_num", "bench_name", *range(6)]]
    for bench in ("spectral norm", "nbody:PyPy:default-python"):
        rows += [[process, bench, *(round(rng.uniform(0.2, 0.4), 6) for _ in range(6))] for process in range(3)]
    rows[3] = [2, "spectral norm", "crash"]
    keep("krun.csv", "".join(", ".join(map(str, row)) + "\n" for row in rows), folder)


def pa(folder):
    rng = random.Random(4)
    header = "project;commit;benchmark;params;instance;trial;fork;iteration;mode;unit;value_count;value"
    lines = []
    for fork in (1, 2):
        for iteration in (1, 2, 3):
            place = f"host;1;{fork};{iteration}"
            sort = f"sorting;1.0.0;org.Sort.sort;n=10,order=up;{place};sample;ns/op"
            lines += [f"{sort};{count};{rng.uniform(200, 220):e}" for count in (4, 10, 1)]
            lines.append(f"sorting;1.0.0;org.Sort.join;;{place};thrpt;ops/s;1;{rng.uniform(2e7, 3e7):e}")
    keep("pa.csv", "\n".join([header, *sorted(lines)]) + "\n", folder)


def codspeed(folder):
    """The configuration of Python, which fills most of the file, only with the version."""
    programs = python(folder, "pytest-codspeed")
    shutil.copy(PROGRAMS / "codspeed_sorting.py", folder / "test_sorting.py")
    options = ("--codspeed", "--codspeed-mode=walltime", "--codspeed-max-time", 0.1, "--codspeed-warmup-time", 0.05)
    run(programs / "pytest", "-q", "-p", "no:cacheprovider", *options, cwd=folder, check=False)
    (path,) = folder.glob(".codspeed/results_*.json")
    document = json.loads(path.read_text())
    version = document["python"]["sysconfig"]["py_version"]
    document["creator"]["pid"] = 1
    document["python"] = {"sysconfig": {"py_version": version}, "dependencies": {}}
    keep("codspeed.json", json.dumps(document, indent=2), folder)


def rebench(folder):
    programs = python(folder, "rebench")
    shutil.copytree(PROGRAMS / "rebench", folder, dirs_exist_ok=True)
    (folder / "harness.py").chmod(0o755)
    run("git", "init", "-q", ".", cwd=folder)
    commit_of(folder, "first")
    run(programs / "rebench", "-D", "-B", "rebench.conf", cwd=folder, check=False)
    text = (folder / "rebench.data").read_text()
    keep("rebench.data", re.sub(r'"userName":"[^"]*"', '"userName":"user"', text), folder)


def benchmark_ips(folder):
    if not shutil.which("ruby"):
        debian("ruby", "ruby-benchmark-ips")
    program = ("ruby", PROGRAMS / "ips.rb")
    keep("benchmark-ips.txt", "".join(run(*program, cwd=folder) for _ in range(2)), folder)
    keep("benchmark-ips.json", (folder / "ips.json").read_text(), folder)
    failed = run(*program, "fails", cwd=folder, check=False, stderr=subprocess.DEVNULL)
    keep("benchmark-ips-failed.txt", failed, folder)


def perf_stat(folder):
    """Where the processor has no counters, as in many virtual machines, they are `<not supported>`."""
    if not shutil.which("perf"):
        debian("linux-perf")
    for name, options in (("perf-stat.txt", ()), ("perf-stat.jsonl", ("-j",)), ("perf-stat.csv", ("-x", ","))):
        for _ in range(3):
            run("perf", "stat", "-o", name, "--append", *options, "sleep", "0.01", cwd=folder)
        keep(name, (folder / name).read_text(), folder)
    for name, options in (("repeated", ()), ("table", ("--table",))):
        run("perf", "stat", "-r", 3, *options, "-o", name, "sleep", "0.01", cwd=folder)
        keep(f"perf-stat-{name}.txt", (folder / name).read_text(), folder)
    run("perf", "stat", "-j", "-I", 10, "-o", "intervals", "sleep", "0.03", cwd=folder)
    keep("perf-stat-intervals.jsonl", (folder / "intervals").read_text(), folder)


def asv_version_1(folder):
    """What asv 0.4 wrote, which cannot be installed any more: an object for each benchmark, or only its number."""
    document = json.loads((FILES / "asv-first.json").read_text(), parse_constant=lambda name: None)
    columns, results = document.pop("result_columns"), {}
    for name, cells in document["results"].items():
        row = dict(zip(columns, cells, strict=False))
        results[name] = row["result"] and row["result"][0]
        if row.get("params") or row.get("samples"):
            stats = [repeat and {"repeat": repeat, "number": 1} for repeat in row.get("stats_repeat") or ()]
            results[name] = {"result": row["result"], "params": row["params"], "samples": row.get("samples"),
                             "stats": stats or None}  # fmt: skip
    keep("asv-version-1.json", json.dumps(document | {"results": results, "version": 1}), folder)


TOOLS = {
    one.__name__: one
    for one in (
        pyperf,
        pytest_benchmark,
        google_benchmark,
        go_benchfmt,
        hyperfine,
        asv,
        criterion,
        benchmarkdotnet,
        javascript,
        krun,
        pa,
        codspeed,
        rebench,
        benchmark_ips,
        perf_stat,
        asv_version_1,
    )
}

if __name__ == "__main__":
    main(sys.argv[1:])
