"""Shell commands that measure several runs with the tool that wrote a file.

The commands start ten processes of each version, because one process per version is not enough for a comparison, in the
order old, new, new, old, so that a drift of the machine affects both versions equally. `OLD`
and `NEW` are the folders of the two versions.
"""

_TURNS = "i=0; for v in $(yes OLD NEW NEW OLD | head -n 5); do i=$((i+1))\n  {}\ndone\n{}"
_CHECK = "labeler check NEW-*.json --against OLD-*.json"

MORE_RUNS: dict[str, str] = {
    "go": _TURNS.format(
        "(cd $v && go test -run='^$' -bench=. ./...) >> $v.txt", "labeler check NEW.txt --against OLD.txt"
    ),
    "pytest-benchmark": _TURNS.format("(cd $v && pytest --benchmark-json=../$v-$i.json)", _CHECK),
    "google-benchmark": _TURNS.format("$v/benchmark --benchmark_out=$v-$i.json --benchmark_out_format=json", _CHECK),
    "asv": _TURNS.format(
        "(cd $v && asv run --python=same --record-samples --set-commit-hash=$(git rev-parse HEAD))\n"
        "  mkdir -p $v-$i && mv $v/.asv/results/*/*-*.json $v-$i/",
        "labeler check NEW-* --against OLD-*",
    ),
    "criterion": _TURNS.format(
        "(cd $v && rm -rf target/criterion && cargo bench)\n  mkdir -p $v-$i && cp -r $v/target/criterion $v-$i/",
        "labeler check NEW-* --against OLD-*",
    ),
    "benchmarkdotnet": _TURNS.format(
        "(cd $v && dotnet run -c Release -- -f '*' --exporters fulljson --artifacts ../$v-$i)",
        "labeler check NEW-* --against OLD-* --file-is run",
    ),
    "jmh": _TURNS.format("java -jar $v/benchmarks.jar -f 1 -rf json -rff $v-$i.json", f"{_CHECK} --file-is run"),
    "hyperfine": _TURNS.format(
        "hyperfine --runs 3 --command-name bench --export-json $v-$i.json $v/command", f"{_CHECK} --file-is run"
    ),
    "tinybench": _TURNS.format("(cd $v && npx vitest bench --run --outputJson=../$v-$i.json)", _CHECK),
    "benchmarkjs": _TURNS.format("node $v/benchmark.js >> $v.txt", "labeler check NEW.txt --against OLD.txt"),
    "cargo-bench": _TURNS.format("(cd $v && cargo bench) >> $v.txt", "labeler check NEW.txt --against OLD.txt"),
    "catch2": _TURNS.format(
        "$v/benchmark --reporter xml --out $v-$i.xml", "labeler check NEW-*.xml --against OLD-*.xml"
    ),
    "codspeed": _TURNS.format(
        "(cd $v && rm -rf .codspeed && pytest --codspeed --codspeed-mode=walltime)\n"
        "  mkdir -p $v-$i && mv $v/.codspeed/results*.json $v-$i/",
        "labeler check NEW-* --against OLD-*",
    ),
    "benchmark-ips": _TURNS.format("ruby $v/benchmark.rb >> $v.txt", "labeler check NEW.txt --against OLD.txt"),
    "perf-stat": _TURNS.format(
        "perf stat -o $v.txt --append $v/command", "labeler check NEW.txt --against OLD.txt --benchmark command"
    ),
    "rebench": _TURNS.format(
        "(cd $v && rebench -in $i rebench.conf)", "labeler check NEW/rebench.data --against OLD/rebench.data"
    ),
    "k6": _TURNS.format("k6 run --summary-export=$v-$i.json $v/script.js", _CHECK),
    "jmeter": _TURNS.format("jmeter -n -t $v/plan.jmx -l $v-$i.jtl", "labeler check NEW-*.jtl --against OLD-*.jtl"),
    "pyperf": _TURNS.format(
        "python $v/benchmarks.py --processes 1 --append $v.json", "labeler check NEW.json --against OLD.json"
    ),
}

# share of unchanged benchmarks that appear changed; measured with each tool
FALSE_ALARMS = {"go": "49 %", "pytest-benchmark": "82 %", "google-benchmark": "79 %"}
FALSE_ALARMS_OF_PROCESSES = "2 to 5 %"

_GENERAL = _TURNS.format("your-benchmarks $v > $v-$i", "labeler check NEW-* --against OLD-* --file-is run")


def more_runs(format_name: str) -> str:
    """Return shell commands that measure ten runs of each version with the tool of this format.

    If the tool is unknown, the commands contain `your-benchmarks` instead of the tool.
    """
    return MORE_RUNS.get(format_name, _GENERAL)


def false_alarms(format_name: str, title: str) -> str:
    """Return a sentence about the share of false alarms if each value is treated as a run.

    Examples
    --------
    >>> false_alarms("go", "Go").split(".")[0]
    'With --values-are runs, every value is treated as a run'
    """
    known = FALSE_ALARMS.get(format_name)
    measured = f"{known} of unchanged benchmarks with {title}" if known else "49 to 82 % of unchanged benchmarks"
    return (
        "With --values-are runs, every value is treated as a run. But repetitions within one process are more alike "
        f"than runs, so {measured} appear changed (p < 0.05). With five processes on each side, the share is "
        f"{FALSE_ALARMS_OF_PROCESSES}."
    )
