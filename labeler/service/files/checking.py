"""Check result files: look for changes for the worse and for unreliable results, for example in a build."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from analysis import check as checking
from analysis.benchmark import Benchmark, Failure, PerRun
from analysis.check import DEFAULT_RULES, FOUND, INCONCLUSIVE, NOTHING_FOUND, Check, KnownChange, Rules
from analysis.classifiers import CLASSIFIERS as REGISTRY
from analysis.document import Document, json_values, to_html, to_json, to_text
from analysis.runs import AUTO
from analysis.steady import DroppedWarmup, describe_warmup, dropped_warmup, with_warmup
from labeler.errors import InputError, sentence
from labeler.formats import DEFAULTS, Advance, Format, Part, ReadOptions, Source
from labeler.formats.building import missing_benchmarks
from labeler.formats.more_runs import false_alarms, more_runs
from labeler.service.files import build_outputs
from labeler.service.files.between import Candidate, by_version, separate
from labeler.service.files.gathering import Gathered, left_out, usable
from labeler.service.files.known_changes import read_known, read_limits, read_names
from labeler.service.files.models import read_model_of_runs, warmup_of

__all__ = [
    "ANNOTATIONS", "CLASSIFIERS", "FORMS", "FOUND", "INCONCLUSIVE", "NOTHING_FOUND", "CheckResult", "Gathered",
    "PerRun", "Rules", "by_version", "check_candidates", "check_files", "confirmed", "gather", "naming_warmup",
    "noise_of", "read_known", "read_limits", "read_names", "separate", "warmup_left_out", "warmup_of",
    "with_classifier", "with_former_names",
]  # fmt: skip

CLASSIFIERS = tuple(REGISTRY)
SPREAD = "spread"

_Level = tuple[str | None, frozenset[tuple[str, str]]]  # format and conditions of a file


@dataclass(frozen=True)
class CheckResult:
    """The result of a check, which can be written in several formats."""

    check: Check
    formats: tuple[Format, ...] = ()
    warmup: DroppedWarmup | None = None  # what --warmup auto left out

    @property
    def outcome(self) -> int:
        """The exit code of the command, which says whether the check found something."""
        return self.check.outcome

    @property
    def commands(self) -> list[tuple[str, str]]:
        """How to measure more runs with the tools that wrote the files."""
        each = "run ten processes of each version in alternation. OLD and NEW are the folders of the versions"
        return [(f"With {file_format.title}, {each}:", more_runs(file_format.name)) for file_format in self.formats]

    @cached_property
    def document(self) -> Document:
        """The result as a document with text and tables."""
        document = checking.document(self.check, commands=self.commands)
        return with_warmup(document, self.warmup) if self.warmup else document

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
    "junit": lambda checked: build_outputs.to_junit(checked.check),
}
ANNOTATIONS: Mapping[str, Callable[[CheckResult, Sequence[str]], str]] = {
    "github": lambda checked, files: build_outputs.github_annotations(checked.check, files),
    "gitlab": lambda checked, files: build_outputs.gitlab_report(checked.check, files),
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
        replace(one, former_names=(*one.former_names, *formers[one.name])) if one.name in formers else one
        for one in gathered.benchmarks
    )
    return replace(gathered, benchmarks=benchmarks)


def _with_failed(part: Part) -> Part:
    """Return the part with the benchmarks whose runs all failed added to its benchmarks.

    A benchmark that was skipped on purpose is not added.
    """
    failed = [one for one in part.unmeasured if not all(failure.on_purpose for failure in one.failures)]
    skipped = [one for one in part.unmeasured if all(failure.on_purpose for failure in one.failures)]
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
    sides = [[one for one in side.benchmarks if one.name in names] for side in (second, baseline)]
    again = checking.check(sides[0], sides[1], rules, per_run=per_run, explain=False)
    result = checking.confirm(first.check, again)
    return replace(first, check=checking.acknowledge(result, known) if known else result)


def naming_warmup(checked: CheckResult, per_run: PerRun, read: Sequence[Gathered]) -> CheckResult:
    """Return the result, which says what the warm-up "auto" left out of the runs that were read."""
    if per_run.warmup != AUTO:
        return checked
    dropped = dropped_warmup(benchmark for gathered in read for benchmark in gathered.benchmarks)
    notes = (*describe_warmup(dropped), *checked.check.notes)
    return replace(checked, check=replace(checked.check, notes=notes), warmup=dropped)


def warmup_left_out(gathered: Gathered, per_run: PerRun) -> list[str]:
    """Return sentences on the warm-up that was left out, if its end was looked for."""
    return list(describe_warmup(dropped_warmup(gathered.benchmarks))) if per_run.warmup == AUTO else []


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
