"""The rules and results of a check, and how known changes, a second sample and several candidates change it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from analysis.categories import DISSIMILAR
from analysis.methods.check._sides import ALLOWED, SharedNoise
from analysis.runs.classifiers import CLASSIFIERS, classifier_named
from analysis.runs.comparison import Change, change_and_interval
from analysis.statistics.intervals import Estimate
from analysis.statistics.two_samples import COMBINED, TESTS

if TYPE_CHECKING:  # imported only for types, because the modules load pandas
    from analysis.learning import Model
    from analysis.methods.reasons import Reasons


SPREAD = "spread"  # the default classifier judges runs of any length and ignores noise within runs

NOTHING_FOUND, FOUND, NOT_DONE, INCONCLUSIVE = 0, 1, 2, 3  # outcomes of a check; each is an exit code

WORSE, CHANGE = FAIL_ON = ("worse", "change")

KINDS = ("refused", "changed", "missing", "failed runs", "inconclusive")
REFUSED, CHANGED, MISSING, FAILED, UNDECIDED = KINDS

N_FEW, N_EXPLAINED = 3, 10

ALL = "all"

MIN_CHANGE = 0.01  # default of `min_change` for times and rates; 0 for memory and other counts

TOO_NOISY = 0.25  # a benchmark that detects only larger changes is too noisy to judge

NO_PAIR = (
    "The baseline and the candidate have no benchmark in common, so nothing was compared. If names changed, give "
    "--renamed FILE; to compare benchmarks or versions of one file, use --between."
)

NO_BENCHMARK = "The files contain no benchmarks to check."

ONE_PROCESS = "one process: not tested"

WHY_ONE_PROCESS = "The repetitions of one process do not show how much processes differ, so no test is possible."

SAME_DATA = (
    "The same measurements are on both sides, so nothing was compared. Pass the files of two versions; to compare "
    "benchmarks or versions of one file, use --between."
)


@dataclass(frozen=True)
class CheckedBenchmark:
    """The result for one benchmark of the candidate."""

    name: str
    unit: str
    n_runs: int
    n_failed: int  # number of runs without a measurement; `failures` counts them by reason
    failures: Mapping[str, int]
    # Median of one number per run, or of the iterations if there is only one run; None if there is no run.
    median: float | None
    # (largest - smallest) / mean of the iterations, if there is only one run. It does not show how much runs
    # differ.
    within: Estimate
    verdict: str | None  # verdict of the chosen classifier; None if it gave no verdict, and `reason` says why
    reason: str | None
    verdicts: Mapping[str, str | None]  # verdicts of `spread` and of the chosen classifier
    max_spread: Estimate  # (largest - smallest) / mean of one number per run
    # The smallest relative difference that the same number of runs on each side detects with 80 % power,
    # corrected for the number of benchmarks.
    smallest_difference: Estimate
    # Number of iterations that the chosen classifier left out because the runs have different lengths.
    n_left_out: int = 0
    # Why the runs differ, for the few benchmarks that the report explains; None for all others.
    reasons: "Reasons | None" = None


@dataclass(frozen=True)
class Finding:
    """A problem that the check reports."""

    kind: str  # one of `KINDS`, or "dissimilar"
    name: str  # name of the benchmark; "" if the finding concerns all benchmarks
    words: str  # description of the finding, without the name
    outcome: int  # the exit code that the finding requires; 0 if the options allow the finding
    known: str = ""  # reason of the known change that covers this finding; "" if there is none


@dataclass(frozen=True)
class KnownChange:
    """A change that somebody has reviewed and accepted."""

    benchmark: str  # name of a benchmark; * matches any text
    reason: str
    until: str  # last day on which the entry applies, for example 2026-12-31
    at_most: float | None = None  # largest accepted change, as a share of the baseline; None for a change of any size
    is_expired: bool = False  # whether the last day is over
    names: tuple[str, ...] = ()  # benchmarks whose findings the entry covers


@dataclass(frozen=True)
class Limit:
    """The limits of the benchmarks that a pattern matches; None means the limit of the check."""

    benchmark: str  # name of a benchmark; * matches any text
    min_change: float | None = None
    max_slowdown: float | None = None


@dataclass(frozen=True)
class Suite:
    """What the check knows about all compared benchmarks together."""

    # Geometric mean of the ratios candidate / baseline of `n` benchmarks, with its interval for these benchmarks.
    ratio: Estimate = field(default_factory=lambda: Estimate(None))
    n: int = 0
    n_left_out: int = 0  # benchmarks without a ratio, such as failed ones
    designs: Mapping[str, int] = field(default_factory=dict)  # how many benchmarks were measured in which way
    noise: SharedNoise = field(default_factory=SharedNoise)
    has_inverted: bool = False  # whether `ratio` uses 1 / rate, because the suite also has times
    is_paired: bool = False  # whether run i of the baseline is compared with run i of the candidate
    # Median of the detectable changes, the largest one, and the benchmark with the largest one.
    detectable: float | None = None
    largest: float | None = None
    least_precise: str = ""
    too_noisy: tuple[str, ...] = ()  # benchmarks without a change that would detect only changes above 25 %


@dataclass(frozen=True)
class Check:
    """The result of a check."""

    benchmarks: tuple[CheckedBenchmark, ...]  # the benchmarks of the candidate
    changes: tuple[Change, ...]  # changes against the baseline; empty if there is no baseline
    only_in_candidate: tuple[str, ...]  # benchmarks that could not be compared
    only_in_baseline: tuple[str, ...]
    findings: tuple[Finding, ...]  # the most important findings first
    warnings: tuple[str, ...]  # problems with the measurements that make the results less reliable
    parameters: Mapping[str, Any]
    # Exit code: 0 if there is no finding, 1 if there is one, 2 if a file was refused, 3 if the check is inconclusive.
    outcome: int
    known: tuple[KnownChange, ...] = ()  # the accepted changes, each with the benchmarks that it covers
    suite: Suite = field(default_factory=Suite)
    notes: tuple[str, ...] = ()  # sentences about the measurements that are not problems
    former_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # earlier names of benchmarks
    n_candidates: int = 1  # number of candidates that are compared with the same baseline


@dataclass(frozen=True)
class Rules:
    """Options of a check: what counts as a finding, and what is allowed. Raises ValueError if an option is invalid."""

    # "worse" does not decide about a change whose direction is unknown
    fail_on: str = field(default=WORSE, metadata={
        "choices": FAIL_ON,
        "help": "Changes that are findings. worse: changes for the worse. change: all changes.",
    })  # fmt: skip
    test: str = field(default=COMBINED, metadata={  # as in `analysis.runs.comparison.compare_benchmarks`
        "choices": TESTS, "help": "Statistical test for each benchmark.",
    })  # fmt: skip
    alpha: float = field(default=0.05, metadata={
        "within": "(0, 1)", "help": "Significance level for all benchmarks together.",
    })  # fmt: skip
    min_change: float | None = field(default=None, metadata={
        "share": True, "metavar": "SHARE",
        "help": "Smaller changes are not findings, such as 2% [default: 1% for times and rates; any change of memory "
                "and allocations counts].",
    })  # fmt: skip
    max_slowdown: float | None = field(default=None, metadata={
        "share": True, "metavar": "SHARE",
        "help": "Pass only if the interval of each change excludes a slowdown larger than this, such as 5%.",
    })  # fmt: skip
    limits: tuple[Limit, ...] = ()  # limits of some benchmarks; the first entry that matches counts
    # A name in `CLASSIFIERS`, or a variant such as "heuristic@0.30"; its verdict decides if there is no baseline.
    classifier: str = SPREAD
    limit: float = field(default=CLASSIFIERS[SPREAD].parameters["limit"], metadata={
        "flag": "--max-spread", "share": True, "metavar": "SHARE",
        "help": "Spread above which runs are dissimilar.",
    })  # fmt: skip
    # "missing" means only in the baseline
    allow_missing: bool = field(default=False, metadata={
        "help": "Pass even if benchmarks are missing or runs failed.",
    })  # fmt: skip
    allow_inconclusive: bool = field(default=False, metadata={"help": "Pass even if a comparison is inconclusive."})
    allow_blocks: bool = field(default=False, metadata={
        "help": "Decide about runs in blocks (all of one version, then all of the other) as if measured by turns.",
    })  # fmt: skip
    require_turns: bool = field(default=False, metadata={
        "help": "Pass only if the versions were measured by turns or in sessions.",
    })  # fmt: skip
    allow_different: tuple[str, ...] = field(default=(), metadata={
        "choices": (*ALLOWED, ALL), "metavar": "KINDS",
        "help": "Differences between the machines that do not matter, separated by commas: "
                f"{', '.join((*ALLOWED, ALL))}.",
    })  # fmt: skip
    require_same_machine: bool = field(default=False, metadata={
        "help": "Pass only if CPU, architecture, build type and runtime are the same, as far as the files say.",
    })  # fmt: skip
    runs: int | None = field(default=None, metadata={
        "within": "[2, )", "metavar": "N", "help": "Number of runs that each benchmark must have on both sides.",
    })  # fmt: skip
    # A learned model to use instead of a built-in classifier; `classifier` is then its name.
    model: "Model | None" = None

    def __post_init__(self) -> None:
        """Raise ValueError if an option is invalid."""
        if self.model is not None and self.classifier != self.model.classifier:
            raise ValueError(f"the classifier of the model is {self.model.classifier}, not {self.classifier}")
        if self.model is None and classifier_named(self.classifier) is None:
            raise ValueError(f"unknown classifier {self.classifier!r}; choose one of {', '.join(CLASSIFIERS)}")
        if self.fail_on not in FAIL_ON:
            raise ValueError(f"fail_on must be one of {', '.join(FAIL_ON)}, got {self.fail_on!r}")
        if not self.limit > 0:
            raise ValueError(f"limit must be a share > 0, got {self.limit}")
        unknown = [name for name in self.allow_different if name not in (*ALLOWED, ALL)]
        if unknown:
            raise ValueError(f"allow_different must name {', '.join(ALLOWED)} or {ALL}, got {unknown[0]!r}")

    @property
    def allowed_parts(self) -> tuple[str, ...]:
        """Return the differences between machines that do not matter."""
        return ALLOWED if ALL in self.allow_different else self.allow_different


DEFAULT_RULES = Rules()


def matches(pattern: str, name: str) -> bool:
    """Return whether a name matches a pattern.

    The only wildcard is *, because names of benchmarks can contain brackets and question marks.
    """
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, flags=re.DOTALL) is not None


def outcome_of(findings: Sequence[Finding]) -> int:
    """Return the exit code for all findings: of a refused file, else of a finding, else of an inconclusive result."""
    outcomes = {finding.outcome for finding in findings}
    return next((code for code in (NOT_DONE, FOUND, INCONCLUSIVE) if code in outcomes), NOTHING_FOUND)


def with_refused(checked: Check, refused: Sequence[tuple[str, str]]) -> Check:
    """Return the check with the files that were refused as (file, reason), which decide the outcome.

    What is missing may be in these files, so the advice about changed names is left out.
    """
    if not refused:
        return checked
    first = [Finding(REFUSED, name, reason, NOT_DONE) for name, reason in refused]
    rest = [finding for finding in checked.findings if finding.words != NO_PAIR]
    findings = (*first, *rest)
    return replace(checked, findings=findings, outcome=outcome_of(findings))


def stopped(reason: str, rules: Rules) -> Check:
    """Return the result of a check that could not be done, so that its outputs say why."""
    parameters = {name: value for name, value in vars(rules).items() if name != "model"}
    parameters |= {"warmup": 0, "aggregate": "mean", "against_a_baseline": False}
    findings = (Finding(REFUSED, "", reason, NOT_DONE),)
    return Check((), (), (), (), findings, (), parameters, NOT_DONE)


def acknowledge(checked: Check, known: Sequence[KnownChange]) -> Check:
    """Mark the findings that known changes cover. A marked finding is listed, but does not affect the outcome.

    A known change covers these findings of its benchmark: a change, a change that cannot be excluded, dissimilar runs,
    and a missing benchmark. It never covers failed runs or benchmarks with runs of one process, because these findings
    say nothing about a change. If `at_most` is set, the known change covers only changes up to this size.

    `known`: the first entry that covers a finding is used. Expired entries cover nothing. Each entry of `known` in the
    result lists the benchmarks that it covers.
    """
    changes = {change.name: change for change in checked.changes}
    findings: list[Finding] = []
    names: list[list[str]] = [[] for _ in known]
    for finding in checked.findings:
        names_of = (finding.name, *checked.former_names.get(finding.name, ()))
        place = next((at for at, entry in enumerate(known) if _covers(entry, finding, names_of, changes)), None)
        if place is None:
            findings.append(finding)
            continue
        names[place].append(finding.name)
        findings.append(replace(finding, outcome=NOTHING_FOUND, known=known[place].reason))
    used = tuple(replace(entry, names=tuple(covered)) for entry, covered in zip(known, names, strict=True))
    return replace(checked, findings=tuple(findings), known=used, outcome=outcome_of(findings))


def _covers(entry: KnownChange, finding: Finding, names: Sequence[str], changes: Mapping[str, Change]) -> bool:
    is_named = any(matches(entry.benchmark, name) for name in names)
    if entry.is_expired or not finding.name or not is_named:
        return False
    change = changes.get(finding.name)
    is_of_change = finding.kind == CHANGED or (
        finding.kind == UNDECIDED and change is not None and change.p is not None
    )
    if entry.at_most is None:
        return is_of_change or finding.kind in (DISSIMILAR, MISSING)
    value = change.ratio.value if change is not None and is_of_change else None
    return value is not None and abs(value - 1) <= entry.at_most


def confirm(first: Check, second: Check) -> Check:
    """Keep only the changes of the first check that a second check of the same benchmarks shows again.

    A false alarm needs both samples. Each of them has the significance level alpha for all benchmarks together, and the
    second is corrected only for the benchmarks that the first one flagged. So at most a share alpha of unchanged suites
    has a false alarm, and about alpha squared if the second sample is independent on both sides.

    `second`: the check of new runs, which needs only the benchmarks that the first check flagged.
    """
    again = {change.name: change for change in second.changes}
    before = {change.name: change for change in first.changes}
    findings: list[Finding] = []
    counts = {"confirmed": 0, "not confirmed": 0, "undecided": 0}
    for finding in first.findings:
        if finding.kind != CHANGED or finding.outcome != FOUND:
            findings.append(finding)
            continue
        change = again.get(finding.name)
        if change is None or change.inconclusive:
            counts["undecided"] += 1
            why = "not in the second sample" if change is None else change.reason or "the data do not decide"
            outcome = NOTHING_FOUND if first.parameters["allow_inconclusive"] else INCONCLUSIVE
            findings.append(Finding(UNDECIDED, finding.name, f"{finding.words}; not confirmed: {why}", outcome))
        elif change.is_finding and change.outcome == before[finding.name].outcome:
            counts["confirmed"] += 1
            findings.append(replace(finding, words=f"{finding.words}; confirmed: {change.words}"))
        else:
            counts["not confirmed"] += 1
    kept = {finding.name for finding in findings if finding.kind == CHANGED}
    undecided = {finding.name: finding.words for finding in findings if finding.kind == UNDECIDED and finding.name}
    changes = tuple(
        change
        if not change.is_finding or change.name in kept
        else replace(
            change,
            is_finding=False,
            inconclusive=change.name in undecided,
            is_small=change.name not in undecided,
            reason=undecided.get(change.name),
            weaknesses=(*change.weaknesses, "not confirmed"),
        )
        for change in first.changes
    )
    told = ", ".join(f"{n} {words}" for words, n in counts.items() if n) or "nothing to confirm"
    level = f"{100 * first.parameters['alpha']:.4g} %"
    note = f"Second sample: {told}. At most {level} of unchanged suites have a false alarm that both samples show."
    return replace(
        first, changes=changes, findings=tuple(findings), outcome=outcome_of(findings), notes=(*first.notes, note)
    )


def combine(checks: Mapping[str, Check]) -> Check:
    """Return one check with a row for each benchmark and candidate.

    If candidates have benchmarks of the same name, these are called `BENCHMARK @ CANDIDATE`. The caller divides the
    significance level by the number of candidates, so that it holds for all of them together.
    """
    if len(checks) == 1:
        return next(iter(checks.values()))
    checks = _with_different_names(checks)
    first = next(iter(checks.values()))
    findings = [
        finding if finding.name else replace(finding, words=f"{name}: {finding.words}")
        for name, checked in checks.items()
        for finding in checked.findings
    ]
    findings.sort(key=lambda finding: KINDS.index(finding.kind) if finding.kind in KINDS else 0)
    known = tuple(
        replace(entry, names=tuple(covered for checked in checks.values() for covered in checked.known[at].names))
        for at, entry in enumerate(first.known)
    )

    def of_all(field: str) -> tuple[Any, ...]:
        return tuple(each for checked in checks.values() for each in getattr(checked, field))

    return Check(
        of_all("benchmarks"), of_all("changes"), of_all("only_in_candidate"), of_all("only_in_baseline"),
        tuple(findings), tuple(dict.fromkeys(of_all("warnings"))), first.parameters, outcome_of(findings), known,
        _suite(checks), tuple(_notes(checks)), n_candidates=len(checks),
    )  # fmt: skip


def _with_different_names(checks: Mapping[str, Check]) -> Mapping[str, Check]:
    names = Counter(row.name for checked in checks.values() for row in checked.benchmarks)
    if max(names.values(), default=0) < 2:
        return checks
    return {name: _suffixed(checked, f" @ {name}") for name, checked in checks.items()}


def _suffixed(checked: Check, end: str) -> Check:
    suite = checked.suite
    return replace(
        checked,
        benchmarks=tuple(replace(row, name=row.name + end) for row in checked.benchmarks),
        changes=tuple(replace(change, name=change.name + end) for change in checked.changes),
        only_in_candidate=tuple(name + end for name in checked.only_in_candidate),
        only_in_baseline=tuple(name + end for name in checked.only_in_baseline),
        findings=tuple(
            replace(finding, name=finding.name + end) if finding.name else finding for finding in checked.findings
        ),
        known=tuple(replace(entry, names=tuple(name + end for name in entry.names)) for entry in checked.known),
        suite=replace(
            suite,
            least_precise=suite.least_precise and suite.least_precise + end,
            too_noisy=tuple(name + end for name in suite.too_noisy),
        ),
    )


def _suite(checks: Mapping[str, Check]) -> Suite:
    """Return what is known about all candidates; a common ratio would mix them."""
    suites = [checked.suite for checked in checks.values()]
    detectable = sorted(suite.detectable for suite in suites if suite.detectable is not None)
    largest = sorted((suite.largest, suite.least_precise) for suite in suites if suite.largest is not None)
    designs = Counter[str]()
    for suite in suites:
        designs.update(suite.designs)
    return Suite(
        designs=dict(designs),
        detectable=detectable[(len(detectable) - 1) // 2] if detectable else None,
        largest=largest[-1][0] if largest else None,
        least_precise=largest[-1][1] if largest else "",
        too_noisy=tuple(name for suite in suites for name in suite.too_noisy),
    )


def _notes(checks: Mapping[str, Check]) -> list[str]:
    notes = []
    for name, checked in checks.items():
        if checked.suite.n > 1:
            value, ends = change_and_interval(checked.suite.ratio)
            notes.append(f"{name}: all {checked.suite.n} together {value}{f' ({ends})' if ends else ''}.")
    shared = [set(checked.notes) for checked in checks.values()]
    of_all = set.intersection(*shared)
    first = next(iter(checks.values()))
    notes += [note for note in first.notes if note in of_all]
    return notes + [
        f"{name}: {note}" for name, checked in checks.items() for note in checked.notes if note not in of_all
    ]
