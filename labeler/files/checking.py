"""Check result files: look for changes for the worse and for unreliable results, for example in a build.

The module reads the files that belong to a check (known changes, limits and former names), and writes the result for
build servers: as JUnit XML, as GitHub annotations or as a GitLab report.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.document import Document, clean, json_values, to_html, to_json, to_text
from analysis.methods import check as checking
from analysis.methods.check import (
    DEFAULT_RULES,
    FOUND as FOUND,
    INCONCLUSIVE as INCONCLUSIVE,
    NOT_DONE as NOT_DONE,
    NOTHING_FOUND as NOTHING_FOUND,
    Check,
    Finding,
    KnownChange,
    Limit,
    Rules as Rules,
)
from analysis.runs.benchmark import Benchmark, Failure, PerRun as PerRun
from analysis.runs.classifiers import CLASSIFIERS as REGISTRY
from analysis.runs.runs import AUTO
from labeler.errors import InputError, sentence
from labeler.files.between import Candidate, by_version as by_version, separate as separate
from labeler.files.formats import DEFAULTS, Advance, Format, Part, ReadOptions, Source
from labeler.files.formats.building import missing_benchmarks
from labeler.files.formats.more_runs import false_alarms, more_runs
from labeler.files.gathering import Gathered as Gathered, left_out, usable
from labeler.files.models import read_model_of_runs, warmup_of as warmup_of
from labeler.safe_text import one_line
from labeler.toml_file import parse as parse_toml

if TYPE_CHECKING:  # imported only if the end of the warm-up is looked for
    from analysis.methods.steady import DroppedWarmup

CLASSIFIERS = tuple(REGISTRY)
SPREAD = "spread"

_Level = tuple[str | None, frozenset[tuple[str, str]]]  # format and conditions of a file
SUITE = "labeler check"
N_SHOWN = 10  # number of annotations per level that GitHub shows for a step; GitHub drops further annotations silently
LEVELS: Mapping[int, str] = {NOT_DONE: "error", FOUND: "error", INCONCLUSIVE: "warning", NOTHING_FOUND: "notice"}
# in JUnit
RESULTS: Mapping[int, str] = {NOT_DONE: "error", FOUND: "failure", INCONCLUSIVE: "error", NOTHING_FOUND: "skipped"}
SEVERITIES: Mapping[int, str] = {NOT_DONE: "critical", FOUND: "major", INCONCLUSIVE: "minor", NOTHING_FOUND: "info"}
KEYS = ("benchmark", "reason", "until", "at_most")
EXAMPLE = 'benchmark = "sort"\nreason = "checks its input now"\nuntil = 2027-03-31\nat_most = "6%"'


OF_LIMIT = ("benchmark", "min_change", "max_slowdown")
LIMIT_EXAMPLE = 'benchmark = "sort*"\nmin_change = "3%"\nmax_slowdown = "10%"'


@dataclass(frozen=True)
class CheckResult:
    """The result of a check, which can be written in several formats."""

    check: Check
    formats: tuple[Format, ...] = ()
    warmup: "DroppedWarmup | None" = None  # what --warmup auto left out

    @property
    def outcome(self) -> int:
        """The exit code of the command, which says whether the check found something."""
        return self.check.outcome

    @property
    def commands(self) -> list[tuple[str, str]]:
        """How to measure more runs with the tools that wrote the files."""
        each = "run ten processes of each version in turns. OLD and NEW are the folders of the versions"
        return [(f"With {file_format.title}, {each}:", more_runs(file_format.name)) for file_format in self.formats]

    @cached_property
    def document(self) -> Document:
        """The result as a document with text and tables."""
        document = checking.document(self.check, commands=self.commands)
        if self.warmup is None:
            return document
        from analysis.methods.steady import with_warmup

        return with_warmup(document, self.warmup)

    @property
    def content(self) -> Any:
        """All numbers of the check as dictionaries, lists, numbers and texts, for JSON."""
        return json_values(self.check) | ({"warmup": json_values(self.warmup)} if self.warmup else {})


FORMS: Mapping[str, Callable[[CheckResult], str]] = {
    "text": lambda checked: "".join(f"{line}\n" for line in checking.to_lines(checked.check, checked.commands)),
    "verbose": lambda checked: to_text(checked.document),
    "json": lambda checked: to_json(checked.content),
    "markdown": lambda checked: checking.markdown(checked.check, commands=checked.commands),
    "html": lambda checked: to_html(checked.document, {}),
    "junit": lambda checked: to_junit(checked.check),
}
ANNOTATIONS: Mapping[str, Callable[[CheckResult, Sequence[str]], str]] = {
    "github": lambda checked, files: github_annotations(checked.check, files),
    "gitlab": lambda checked, files: gitlab_report(checked.check, files),
}


def with_classifier(
    rules: Rules,
    classifier: str | None = None,
    *,
    theta: float | None = None,
    cut: float | None = None,
    model: Path | None = None,
) -> Rules:
    """Return the rules with the classifier that decides whether runs are similar.

    Without a name, the classifier is the heuristic if theta, its threshold, is given, SAME if cut is given, and
    otherwise spread. `model` is a file that `labeler learn` wrote. Raises InputError if the classifier has no such
    threshold, or several classifiers are chosen.
    """
    if model is not None:
        if classifier or theta is not None or cut is not None:
            raise InputError("--model selects the classifier. Leave out --classifier, --theta and --cut.")
        learned = read_model_of_runs(model)
        return replace(rules, classifier=learned.classifier, model=learned)
    thresholds = {name: value for name, value in (("theta", theta), ("cut", cut)) if value is not None}
    if len(thresholds) > 1:
        raise InputError("--theta is for the heuristics and --cut is for SAME. Give only one of these two options.")
    chosen = classifier or {"theta": "heuristic", "cut": "same"}.get(next(iter(thresholds), ""), SPREAD)
    for name, value in thresholds.items():
        known = REGISTRY[chosen]
        if known.threshold_name != name:
            fitting = [other.name for other in REGISTRY.values() if other.threshold_name == name]
            raise InputError(f"{known.name} has no threshold --{name}. Use --{name} with {' or '.join(fitting)}.")
        chosen = known.at(value).name
    return replace(rules, classifier=chosen)


def gather(
    files: Sequence[Source], options: ReadOptions = DEFAULTS, *, advance: Advance = lambda _source: None
) -> Gathered:
    """Read the benchmarks of result files, and return them with the refused files and remarks.

    If a file of a suite lacks a benchmark, the missing result counts as a failed run of the benchmark. Raises
    InputError like `gathering.usable`.
    """
    parts, gathered = usable(files, options, advance=advance)
    parts = [_with_failed(part) for part in parts]
    remarks = [remark for part in parts for remark in left_out(part)]
    return replace(gathered, benchmarks=tuple(_with_absent(parts)), remarks=(*gathered.remarks, *remarks))


def with_former_names(gathered: Gathered, names: Mapping[str, str]) -> Gathered:
    """Add the former names of benchmarks; `names` is a map from a former name to the name of today."""
    formers: dict[str, list[str]] = {}
    for former, name in names.items():
        formers.setdefault(name, []).append(former)
    benchmarks = tuple(
        replace(benchmark, former_names=(*benchmark.former_names, *formers[benchmark.name]))
        if benchmark.name in formers
        else benchmark
        for benchmark in gathered.benchmarks
    )
    return replace(gathered, benchmarks=benchmarks)


def _with_failed(part: Part) -> Part:
    """Return the part with the benchmarks whose runs all failed added to its benchmarks.

    A benchmark that was skipped on purpose is not added.
    """
    failed = [
        benchmark for benchmark in part.unmeasured if not all(failure.on_purpose for failure in benchmark.failures)
    ]
    skipped = [benchmark for benchmark in part.unmeasured if all(failure.on_purpose for failure in benchmark.failures)]
    return replace(part, benchmarks=(*part.benchmarks, *failed), unmeasured=tuple(skipped))


def _with_absent(parts: Sequence[Part]) -> Iterator[Benchmark]:
    """Yield all benchmarks; if a file of the suite lacks a benchmark, the benchmark gets a failed run for this file.

    If a process crashes, its file lacks the benchmarks that did not run. Two files belong to the same suite if they
    have a benchmark in common, or if other files connect them in this way. Files of other versions or contexts do not
    belong to the suite.
    """
    files: dict[tuple[str, _Level], set[tuple[int, _Level]]] = {}
    for at, part in enumerate(parts):
        if part.is_joined and part.benchmarks and all(file.is_run for file in part.files):
            for file in part.files:
                level = (part.known.name if part.known else None, frozenset(file.conditions.items()))
                files.setdefault((file.name, level), set()).add((at, level))
    failures: dict[int, list[Failure]] = {}
    names = list(files)
    for (at, _level), place in missing_benchmarks(list(files.values())):
        name, (_format, conditions) = names[place]
        if name not in (file.name for file in parts[at].files):
            failures.setdefault(at, []).append(Failure(dict(conditions), f"missing in {name}"))
    for at, part in enumerate(parts):
        for benchmark in part.benchmarks:
            yield replace(benchmark, failures=(*benchmark.failures, *failures[at])) if at in failures else benchmark


def check_candidates(
    candidates: Sequence[Candidate], rules: Rules, *, known: Sequence[KnownChange] = (), **options: Any
) -> CheckResult:
    """Check each candidate against its baseline; the significance level is for all candidates together.

    The options are those of `check_files`.
    """
    shared = replace(rules, alpha=rules.alpha / len(candidates))
    results = {
        candidate.name: check_files(candidate.gathered, candidate.baseline, shared, known=known, **options)
        for candidate in candidates
    }
    first = next(iter(results.values()))
    return replace(first, check=checking.combine({name: result.check for name, result in results.items()}))


def confirmed(
    first: CheckResult,
    candidate: Gathered,
    second: Gathered,
    baseline: Gathered,
    rules: Rules,
    *,
    per_run: PerRun,
    known: Sequence[KnownChange] = (),
) -> CheckResult:
    """Let a second sample decide about the changes that the first check found.

    Raises InputError if the second sample contains a file of the first.
    """
    same = [name for digest, name in second.hashes.items() if digest in candidate.hashes]
    if same:
        raise InputError(f"--confirm {same[0]}: this file is already part of the first sample. Measure new runs.")
    names = {finding.name for finding in first.check.findings if finding.kind == "changed" and finding.outcome}
    sides = [[benchmark for benchmark in side.benchmarks if benchmark.name in names] for side in (second, baseline)]
    again = checking.check(sides[0], sides[1], rules, per_run=per_run, explain=False)
    result = checking.confirm(first.check, again)
    return replace(first, check=checking.acknowledge(result, known) if known else result)


def with_refused(checked: CheckResult, read: Sequence[Gathered]) -> CheckResult:
    """Return the result with the files that were refused, so that every output names them."""
    refused = [(error.file, one_line(error.reason)) for gathered in read for error in gathered.refused]
    return replace(checked, check=checking.with_refused(checked.check, refused))


def not_done(reason: str, rules: Rules) -> CheckResult:
    """Return the result of a check that could not be done."""
    return CheckResult(checking.stopped(one_line(reason).rstrip("."), rules))


def naming_warmup(checked: CheckResult, per_run: PerRun, read: Sequence[Gathered]) -> CheckResult:
    """Return the result, which says what the warm-up "auto" left out of the runs that were read."""
    if per_run.warmup != AUTO:
        return checked
    from analysis.methods.steady import describe_warmup, dropped_warmup

    dropped = dropped_warmup(benchmark for gathered in read for benchmark in gathered.benchmarks)
    notes = (*describe_warmup(dropped), *checked.check.notes)
    return replace(checked, check=replace(checked.check, notes=notes), warmup=dropped)


def warmup_left_out(gathered: Gathered, per_run: PerRun) -> list[str]:
    """Return sentences on the warm-up that was left out, if its end was looked for."""
    if per_run.warmup != AUTO:
        return []
    from analysis.methods.steady import describe_warmup, dropped_warmup

    return list(describe_warmup(dropped_warmup(gathered.benchmarks)))


def noise_of(gathered: Gathered, per_run: PerRun, *, alpha: float, rate: float, seed: int) -> checking.Noise:
    """Return the limits that keep false alarms rare, from runs of one version; raise InputError if they are too few."""
    try:
        return checking.noise(
            gathered.benchmarks, per_run=per_run, alpha=alpha, rate=rate, rng=np.random.default_rng(seed)
        )
    except ValueError as error:
        raise InputError(sentence(error)) from None


def check_files(
    candidate: Gathered,
    baseline: Gathered | None = None,
    rules: Rules = DEFAULT_RULES,
    *,
    per_run: PerRun,
    options: ReadOptions = DEFAULTS,
    known: Sequence[KnownChange] = (),
    explain: bool = True,
) -> CheckResult:
    """Check the benchmarks of the candidate, compare them with a baseline if there is one, and return the result.

    Known changes do not affect the exit code. `explain` says whether to find out why runs differ. Raises InputError if
    an option is invalid.
    """
    formats = {
        file_format.name: file_format
        for gathered in (candidate, baseline)
        if gathered
        for file_format in gathered.formats
    }
    warnings = [
        false_alarms(file_format.name, file_format.title)
        for file_format in formats.values()
        if options.values_are == "runs" and file_format.values_are != "runs"
    ]
    before = None if baseline is None else baseline.benchmarks
    same = (
        {}
        if baseline is None
        else {name: digest for digest, name in candidate.hashes.items() if digest in baseline.hashes}
    )
    try:
        result = checking.check(
            candidate.benchmarks, before, rules, per_run=per_run, warnings=warnings, same_files=tuple(same),
            explain=explain,
        )  # fmt: skip
    except ValueError as error:
        raise InputError(sentence(error)) from None
    return CheckResult(checking.acknowledge(result, known) if known else result, tuple(formats.values()))


def to_junit(checked: Check) -> str:
    """Return the check as JUnit XML, with one test case per benchmark.

    The test case of a finding has failed, and the test case of an inconclusive result has an error. If a change is
    allowed or known, its test case is skipped.
    """
    from xml.etree import ElementTree as ET  # imported here because few checks write it

    names = dict.fromkeys([*(row.name for row in checked.benchmarks), *checked.only_in_baseline])
    by_name: dict[str, list[Finding]] = {name: [] for name in names}
    for finding in checked.findings:
        by_name.setdefault(finding.name or SUITE, []).append(finding)
    words = {change.name: change.words for change in checked.changes}
    suites = ET.Element("testsuites", name=SUITE)
    suite = ET.SubElement(suites, "testsuite", name=SUITE)
    n_of_kind = dict.fromkeys(RESULTS.values(), 0)
    for name, findings in by_name.items():
        case = ET.SubElement(suite, "testcase", name=one_line(clean(name)), classname="benchmark")
        if findings:
            worst = min(findings, key=lambda finding: list(LEVELS).index(finding.outcome))
            message = one_line(clean("; ".join(_describe(finding) for finding in findings)))
            ET.SubElement(case, RESULTS[worst.outcome], message=message, type=worst.kind)
            n_of_kind[RESULTS[worst.outcome]] += 1
        if words.get(name):
            ET.SubElement(case, "system-out").text = one_line(clean(words[name]))
    counts = {"tests": len(by_name), "failures": n_of_kind["failure"], "errors": n_of_kind["error"]}
    for element in (suites, suite):
        element.attrib |= {name: str(n) for name, n in (counts | {"skipped": n_of_kind["skipped"], "time": 0}).items()}
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def github_annotations(checked: Check, files: Sequence[str]) -> str:
    """Return the findings as commands for a GitHub workflow, one per line, so that GitHub shows each finding at a file.

    GitHub shows at most ten annotations per level, so the function returns at most ten lines per level. A benchmark
    whose name contains no source file is shown at the first file.
    """
    lines: list[str] = []
    for level in dict.fromkeys(LEVELS.values()):
        findings = [finding for finding in checked.findings if LEVELS[finding.outcome] == level]
        n_shown = len(findings) if len(findings) <= N_SHOWN else N_SHOWN - 1
        lines += [
            f"::{level} file={_escaped(_place(finding.name, files), ',:')},"
            f"title={_escaped(one_line(finding.name or SUITE, 200), ',:')}::{_escaped(_describe(finding))}"
            for finding in islice(findings, n_shown)
        ]
        if len(findings) > n_shown:
            lines.append(
                f"::{level} title={SUITE}::{len(findings) - n_shown} more findings are in the summary of the job."
            )
    return "".join(f"{line}\n" for line in lines)


def gitlab_report(checked: Check, files: Sequence[str]) -> str:
    """Return the findings as the JSON of a code quality report, which GitLab shows in a merge request.

    The parameters are the same as for `github_annotations`.
    """
    entries = [
        {
            "description": f"{one_line(finding.name or SUITE, 200)}: {_describe(finding)}",
            "check_name": f"benchmark {finding.kind}",
            "fingerprint": sha256(f"{finding.kind}\0{finding.name}".encode("utf-8", "replace")).hexdigest(),
            "severity": SEVERITIES[finding.outcome],
            "location": {"path": _place(finding.name, files), "lines": {"begin": 1}},
        }
        for finding in _once(checked.findings)
    ]
    return json.dumps(entries, indent=1) + "\n"


def _once(findings: Iterable[Finding]) -> Iterable[Finding]:
    """Return only the first finding of each kind for each benchmark.

    Further findings would have the same fingerprint, and GitLab merges entries with the same fingerprint.
    """
    first: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        first.setdefault((finding.kind, finding.name), finding)
    return first.values()


def _describe(finding: Finding) -> str:
    return one_line(f"{finding.words} (known: {finding.known})" if finding.known else finding.words)


def _place(name: str, files: Sequence[str]) -> str:
    """Return the source file that the name of a benchmark contains; return the first result file if there is none.

    For example, the name `tests/test_sort.py::test_sort` from pytest contains the file `tests/test_sort.py`.
    """
    source, separator, _ = name.partition("::")
    try:
        is_here = bool(separator) and source.isprintable() and not Path(source).is_absolute() and Path(source).is_file()
    except OSError:  # the file name is too long
        is_here = False
    return source if is_here else files[0]


def _escaped(text: str, signs: str = "") -> str:
    """Escape a text for a workflow command, so that the text cannot end the command or begin another command."""
    return "".join(f"%{ord(sign):02X}" if sign in f"%\r\n{signs}" else sign for sign in text)


def read_limits(path: Path) -> tuple[dict[str, Any], tuple[Limit, ...]]:
    """Read the limits in a TOML file: those of all benchmarks by name, and the entries `[[limit]]`.

    Raises InputError if the file cannot be read, or an entry is invalid.
    """
    content = _toml(path)
    entries = content.pop("limit", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{path}: each entry must begin with [[limit]]. Example:\n[[limit]]\n{LIMIT_EXAMPLE}")
    unknown = [key for key in content if key not in (*OF_LIMIT[1:], "runs")]
    if unknown:
        raise InputError(
            f"{path}: unknown key {unknown[0]!r}. Possible keys: {', '.join(OF_LIMIT[1:])}, runs, and entries that "
            f"begin with [[limit]]. Example:\n[[limit]]\n{LIMIT_EXAMPLE}"
        )
    options: dict[str, Any] = {
        key: _share(content, key, str(path), may_be_0=key == "min_change") for key in OF_LIMIT[1:] if key in content
    }
    runs = content.get("runs")
    if runs is not None:
        if isinstance(runs, bool) or not isinstance(runs, int) or runs < 1:
            raise InputError(f"{path}: runs must be a whole number above 0, not {runs!r}.")
        options["runs"] = runs
    return options, tuple(_limit(entry, f"{path}, entry {number}") for number, entry in enumerate(entries, start=1))


def read_names(path: Path) -> dict[str, str]:
    """Read the lines `"former name" = "name"` of a TOML file; raises InputError if the file has anything else."""
    content = _toml(path)
    wrong = next((former for former, name in content.items() if not isinstance(name, str) or not name), None)
    if wrong is not None:
        raise InputError(f'{path}: {wrong!r} must be a name in quotes. Example:\n"sort/old" = "sort/new"')
    return content


def _limit(entry: Mapping[str, Any], where: str) -> Limit:
    unknown = [key for key in entry if key not in OF_LIMIT]
    if unknown:
        raise InputError(f"{where}: unknown key {unknown[0]!r}. Possible keys: {', '.join(OF_LIMIT)}.")
    if not isinstance(entry.get("benchmark"), str) or not entry["benchmark"].strip():
        raise InputError(f"{where}: benchmark must be text in quotes. Example:\n[[limit]]\n{LIMIT_EXAMPLE}")
    return Limit(
        entry["benchmark"], _share(entry, "min_change", where, may_be_0=True), _share(entry, "max_slowdown", where)
    )


def _toml(path: Path) -> dict[str, Any]:
    try:
        return parse_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}.") from None
    except ValueError as error:  # also raised for bytes that are not UTF-8
        raise InputError(f"{path} is not valid TOML: {error}.") from None


def read_known(path: Path, *, today: date) -> tuple[KnownChange, ...]:
    """Read the known changes in the entries `[[known]]` of a TOML file.

    An entry whose last day is before `today` is expired. Raises InputError if the file cannot be read, or an entry is
    invalid.
    """
    content = _toml(path)
    entries = content.pop("known", [])
    if content or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{path}: each entry must begin with [[known]]. Example:\n[[known]]\n{EXAMPLE}")
    return tuple(_entry(entry, f"{path}, entry {number}", today) for number, entry in enumerate(entries, start=1))


def _entry(entry: Mapping[str, Any], where: str, today: date) -> KnownChange:
    unknown = [key for key in entry if key not in KEYS]
    if unknown:
        raise InputError(f"{where}: unknown key {unknown[0]!r}. Possible keys: {', '.join(KEYS)}.")
    for key in ("benchmark", "reason"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise InputError(f"{where}: {key} must be text in quotes. Example:\n[[known]]\n{EXAMPLE}")
    until = entry.get("until")
    if type(until) is not date:  # a datetime is also a date
        raise InputError(f"{where}: until must be the last day on which the change is accepted, such as 2027-03-31.")
    return KnownChange(
        entry["benchmark"],
        entry["reason"].strip(),
        until.isoformat(),
        _share(entry, "at_most", where),
        is_expired=until < today,
    )


def _share(entry: Mapping[str, Any], key: str, where: str, *, may_be_0: bool = False) -> float | None:
    value = entry.get(key)
    if value is None:
        return None
    try:
        share = float(value.strip().removesuffix("%")) / 100 if isinstance(value, str) else None
    except ValueError:
        share = None
    if share is None or not (share >= 0 if may_be_0 else share > 0) or share == float("inf") or "%" not in value:
        raise InputError(f'{where}: {key} must be a share of the baseline, such as "6%", not {value!r}.')
    return share
