"""How to measure several runs, by turns for a baseline and a candidate, with the tool that wrote a file.

Who has one file of one process has nothing to compare; these are the lines that make ten processes of each version.
`OLD` and `NEW` are folders with the two versions.
"""

PER_SIDE = 10

_TURNS = "for i in $(seq 10); do for v in OLD NEW; do\n  {}\ndone; done\n{}"
_CHECK = "labeler check NEW-*.json --against OLD-*.json"

MORE_RUNS: dict[str, str] = {
    "go": _TURNS.format(
        "(cd $v && go test -run='^$' -bench=. ./...) >> $v.txt", "labeler check NEW.txt --against OLD.txt"
    ),
    "pytest-benchmark": _TURNS.format("(cd $v && pytest --benchmark-json=../$v-$i.json)", _CHECK),
    "google-benchmark": _TURNS.format("$v/benchmark --benchmark_out=$v-$i.json --benchmark_out_format=json", _CHECK),
    "asv": "for i in $(seq 10); do for v in OLD NEW; do\n"
    "  (cd $v && asv run --python=same --record-samples --set-commit-hash=$(git rev-parse HEAD))\n"
    "  mkdir -p $v-$i && cp $v/.asv/results/*/*-*.json $v-$i/ && rm $v/.asv/results/*/*-*.json\n"
    "done; done\n"
    "labeler check NEW-* --against OLD-*",
    "criterion": _TURNS.format(
        "(cd $v && cargo bench) && cp -r $v/target/criterion $v-$i", "labeler check NEW-* --against OLD-*"
    ),
    "benchmarkdotnet": _TURNS.format(
        "(cd $v && dotnet run -c Release -- --filter '*' --launchCount 1 --exporters fulljson --artifacts ../$v-$i)",
        "labeler check NEW-* --against OLD-* --file-is run",
    ),
    "jmh": _TURNS.format(
        "java -jar $v/benchmarks.jar -f 1 -rf json -rff $v-$i.json", f"{_CHECK} --file-is run"
    ),
    "hyperfine": _TURNS.format(
        "hyperfine --runs 3 --command-name bench --export-json $v-$i.json \"$v/command\"", f"{_CHECK} --file-is run"
    ),
    "pyperf": _TURNS.format("python $v/benchmarks.py --processes 2 --append $v.json",
                            "labeler check NEW.json --against OLD.json"),
    "krun": "krun --develop config.krun   # n_pexecs at least 10, both versions as two VMs of one configuration",
}  # fmt: skip

# of suites in which nothing was changed; measured with the tools themselves
FALSE_ALARMS = {"go": "49 %", "pytest-benchmark": "82 %", "google-benchmark": "79 %"}
FALSE_ALARMS_OF_PROCESSES = "2 to 5 %"

_GENERAL = (
    "Run the benchmark program ten times for each version, by turns, and keep the files of all processes:\n"
    "labeler check NEW-* --against OLD-* --file-is run"
)


def more_runs(format_name: str) -> str:
    """The lines for a shell that measure ten runs of each version; in words where the tool is not known."""
    return MORE_RUNS.get(format_name, _GENERAL)


def false_alarms(format_name: str, title: str) -> str:
    """What taking each value as a run costs, in a sentence.

    Examples
    --------
    >>> false_alarms("go", "Go").split(":")[0]
    'Every value is taken as a run, as asked for with --values-are runs'
    """
    known = FALSE_ALARMS.get(format_name)
    measured = (
        f"with {title}, {known} of unchanged benchmarks" if known else "with three tools that were measured, 49 to 82 %"
    )
    of_which = "" if known else " of unchanged benchmarks"
    return (
        "Every value is taken as a run, as asked for with --values-are runs: repetitions of one process are alike, and "
        f"{measured}{of_which} then differ by p < 0.05. With five processes on each side it is "
        f"{FALSE_ALARMS_OF_PROCESSES}."
    )
