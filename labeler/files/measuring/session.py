"""Execute the runs of a measurement plan that are not in the table yet, one after another."""

import hashlib
import json
import os
import re
import shlex
import shutil
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from labeler.atomic_files import in_place
from labeler.errors import InputError
from labeler.files.measuring import machine, process
from labeler.files.measuring.plan import (
    DIRECTORY_LENGTH,
    ENVIRONMENT_SIZE,
    OUTPUT,
    PADDING,
    PINNING,
    STDOUT,
    Argv,
    Command,
    FactorLevel,
    MeasurementPlan,
    PlanEntry,
    ScheduledRun,
    n_steps,
    schedule,
)
from labeler.files.measuring.plan_file import VARIABLE
from labeler.files.measuring.process import Ended
from labeler.files.measuring.results import RunResult, file_states, results_of
from labeler.files.measuring.table import NAME, PARQUET, Done, MeasurementTable, place_of, write_parquet

LOCK, FORMAT = "plan.lock", 1  # name and format of the file that records the parts of the plan that must not change
MAY_CHANGE = ("runs", "pause", "keep_hostname", "keep_environment_names")
MAX_FAILURES = 3  # number of consecutive failures after which a benchmark in a version is not run again
RESET_FAILED = "reset before this pass"  # begins the failure of each run of a pass whose reset failed
MAX_COMPONENT = 200  # maximum number of characters of a folder name


@dataclass(frozen=True)
class SessionProgress:
    """The progress of a measurement after a run."""

    n_done: int
    n_steps: int
    step: ScheduledRun  # the run that has just ended
    failure: str  # the reason why this run failed; "" if the run succeeded
    stopped: str  # A message that the benchmark will not run again because it failed too often; "" otherwise
    seconds_left: float | None


@dataclass
class SessionResult:
    """The result of a measurement session."""

    path: Path  # the path of the table
    # The numbers of runs in the plan, of runs completed before this session, and of runs made in this session.
    n_steps: int
    n_before: int = 0
    n_made: int = 0
    # The numbers of failed runs, and of runs that were skipped because their benchmark failed too often.
    n_failed: int = 0
    n_skipped: int = 0
    is_complete: bool = False
    stopped: list[str] = field(default_factory=list)
    seconds: float = 0.0  # duration of this session
    overhead_s: float = 0.0  # mean time per run that is spent outside the command


def measure(
    plan: MeasurementPlan,
    out: Path,
    base: Path,
    *,
    limit: int | None = None,
    watch: Callable[[SessionProgress], None] = lambda _progress: None,
) -> SessionResult:
    """Execute the runs of a plan that are not in the folder yet, and append each run to its table.

    `base` is the folder that the directory in the plan is relative to; `limit` is the maximum number of runs in this
    call. Raises InputError if the folder belongs to another plan, is in use, or cannot be written, and
    KeyboardInterrupt if the user stops the measurement; the current run is then not recorded.
    """
    process.check_system()
    directory = _directory(plan, base)
    _prepare(plan, out)
    with (
        MeasurementTable(out / NAME, plan.factor_names) as table,
        TemporaryDirectory(prefix="labeler-", ignore_cleanup_errors=True) as temporary,
    ):
        outcome = SessionResult(out / NAME, n_steps(plan), n_before=len(table.done))
        runner = _Runner(plan, directory, Path(temporary))
        failures = _Failures()
        left = _TimeLeft(plan, table.done)
        began, in_commands = time.perf_counter(), 0.0
        for step, done in _with_done(plan, table.done, out):
            if done is None and failures.is_stopped(step):
                outcome.n_skipped += 1
                continue
            if done is None:
                if limit is not None and outcome.n_made >= limit:
                    break
                (out / PARQUET).unlink(missing_ok=True)
                run = runner.run(step)
                table.append(step, run.results, run.failure, run.noted, plan.application)
                done = table.done[-1]
                outcome.n_made += 1
                in_commands += run.seconds
            else:
                runner.skip(step, done.failure)
            stopped = failures.add(step, done.failure)
            if stopped:
                outcome.stopped.append(stopped)
            if len(table.done) > outcome.n_before and done is table.done[-1]:
                left.add(step, done)
                watch(SessionProgress(len(table.done), outcome.n_steps, step, done.failure, stopped, left.seconds()))
        else:
            outcome.is_complete = True
        outcome.seconds = time.perf_counter() - began
        outcome.overhead_s = (outcome.seconds - in_commands) / outcome.n_made if outcome.n_made else 0.0
        outcome.n_failed = sum(bool(done.failure) for done in table.done)
        if outcome.is_complete and not (out / PARQUET).exists():
            write_parquet(out / NAME)
    return outcome


def done_so_far(plan: MeasurementPlan, out: Path) -> list[Done]:
    """Return the completed runs in a folder, if any; raises InputError if the folder belongs to another plan."""
    if not (out / NAME).exists():
        return []
    _check_lock(plan, out)
    with MeasurementTable(out / NAME, plan.factor_names) as table:
        return [done for _step, done in _with_done(plan, table.done, out) if done]


def seconds_left(plan: MeasurementPlan, done: list[Done]) -> float | None:
    """Return the estimated remaining time, or None if there are no completed runs."""
    return _TimeLeft(plan, done).seconds()


def fill(words: Argv, variables: Mapping[str, Argv]) -> list[str]:
    """Return the words of a command with the values of the variables; a variable alone becomes all its words.

    Examples
    --------
    >>> fill(("cc", "{link}", "-o{out}", "{{x}}"), {"link": ("a.o", "b.o"), "out": ("prog",)})
    ['cc', 'a.o', 'b.o', '-oprog', '{x}']
    """
    filled: list[str] = []
    for word in words:
        alone = VARIABLE.fullmatch(word)
        if alone:
            filled += variables[alone[1]]
        else:
            filled.append(_fill_text(word, variables))
    return filled


def _fill_text(text: str, variables: Mapping[str, Argv]) -> str:
    filled = VARIABLE.sub(lambda match: " ".join(variables[match[1]]), text)
    return re.sub(r"\{(\{[A-Za-z_]\w*\})\}", r"\1", filled)


def _directory(plan: MeasurementPlan, base: Path) -> Path:
    directory = (base / plan.directory).resolve()
    if not directory.is_dir():
        raise InputError(f"The plan's directory {plan.directory!r} is not a folder in {base}.")
    return directory


def _prepare(plan: MeasurementPlan, out: Path) -> None:
    """Create the folder for the results; if it already has a table, check that the table belongs to this plan."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out} cannot be created: {error.strerror}.") from None
    if (out / NAME).exists():
        _check_lock(plan, out)
        return
    others = [path.name for path in out.iterdir() if path.name != LOCK and not path.name.startswith(".")]
    if others:
        raise InputError(
            f"{out} contains other files, such as {min(others)}. Choose an empty or new folder with --out."
        )
    with in_place(out / LOCK) as partial:
        lock = {"format": FORMAT, "parts": _fingerprint(plan)}
        partial.write_text(json.dumps(lock, indent=1) + "\n", encoding="utf-8")


def _check_lock(plan: MeasurementPlan, out: Path) -> None:
    try:
        lock = json.loads((out / LOCK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        lock = None
    if not isinstance(lock, dict) or lock.get("format") != FORMAT or not isinstance(lock.get("parts"), dict):
        raise InputError(
            f"{out / LOCK} is missing or damaged, or another version wrote it, so the plan of this folder is unknown. "
            "Choose another folder with --out."
        )
    changed = [part for part, mark in _fingerprint(plan).items() if lock["parts"].get(part) != mark]
    if changed:
        raise InputError(
            f"{out} belongs to a different plan: {', '.join(changed)} changed. Choose another folder with --out, "
            f"or undo the changes; only {', '.join(MAY_CHANGE[:2])} may change."
        )


def _fingerprint(plan: MeasurementPlan) -> dict[str, str]:
    """Return a hash of each part of the plan; values whose names suggest a secret are left out."""
    parts = {name: value for name, value in asdict(plan).items() if name not in MAY_CHANGE}
    parts["reset"] = plan.resets_passes  # without an entry, resets run before each run
    text = json.dumps(_without_secret_values(parts), sort_keys=True)
    return {name: hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()[:16]
            for name, part in json.loads(text).items()}  # fmt: skip


def _without_secret_values(value: object) -> object:
    if isinstance(value, Mapping):
        return {
            name: "***" if isinstance(entry, str) and machine.looks_secret(name) else _without_secret_values(entry)
            for name, entry in value.items()
        }
    return [_without_secret_values(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def _with_done(plan: MeasurementPlan, done: list[Done], out: Path) -> Iterator[tuple[ScheduledRun, Done | None]]:
    """Yield each step with its completed run or None; raises InputError if a run does not match its step."""
    known = {entry.step: entry for entry in done}
    for step in schedule(plan):
        entry = known.pop(step.number, None)
        if entry and (entry.benchmark, entry.version, entry.place) != (step.benchmark, step.version, place_of(step)):
            raise InputError(
                f"{out / NAME}: run number {step.number} does not match this plan. The number of runs of a plan "
                "without interleaving cannot change. Choose another folder with --out."
            )
        yield step, entry


class _Failures:
    """A counter of consecutive failures of each benchmark in each version."""

    def __init__(self) -> None:
        self.in_a_row: Counter[tuple[str, str]] = Counter()

    def is_stopped(self, step: ScheduledRun) -> bool:
        return self.in_a_row[step.benchmark, step.version] >= MAX_FAILURES

    def add(self, step: ScheduledRun, failure: str) -> str:
        """Count a run; if this failure is one too many, return a message that the benchmark will not run again."""
        key = step.benchmark, step.version
        self.in_a_row[key] = self.in_a_row[key] + 1 if failure else 0
        if self.in_a_row[key] != MAX_FAILURES:
            return ""
        version = f" in version {step.version}" if step.version else ""
        return f"{step.benchmark}{version} failed {MAX_FAILURES} times in a row and will not run again: {failure}"


class _TimeLeft:
    """An estimate of the remaining time: the mean time of each benchmark's runs so far, for its remaining runs."""

    def __init__(self, plan: MeasurementPlan, done: list[Done]) -> None:
        self.plan = plan
        self.seconds_of: dict[str, list[float]] = defaultdict(list)
        self.to_come = Counter({entry.name: n_steps(plan) // len(plan.benchmarks) for entry in plan.benchmarks})
        for entry in done:
            self._count(entry.benchmark, entry.seconds)

    def add(self, step: ScheduledRun, done: Done) -> None:
        self._count(step.benchmark, done.seconds)

    def _count(self, benchmark: str, seconds: float) -> None:
        self.seconds_of[benchmark].append(seconds + self.plan.pause)
        self.to_come[benchmark] -= 1

    def seconds(self) -> float | None:
        if not self.seconds_of:
            return None
        mean_of = {name: fmean(seconds) for name, seconds in self.seconds_of.items()}
        otherwise = fmean(mean_of.values())
        return sum(max(n, 0) * mean_of.get(name, otherwise) for name, n in self.to_come.items())


@dataclass(frozen=True)
class _Run:
    """A run: the measurements or the reason why the run failed, and the recorded conditions."""

    results: list[RunResult]
    failure: str
    noted: Mapping[str, str]
    seconds: float


class _Runner:
    """An executor of runs, which runs the commands of one step after another."""

    def __init__(self, plan: MeasurementPlan, directory: Path, temporary: Path) -> None:
        self.plan, self.directory, self.temporary = plan, directory, temporary
        self.measured = {entry.name: entry for entry in plan.benchmarks}
        self.levels = {factor.name: {level.name: level for level in factor.levels} for factor in plan.factors}
        self.kinds = {factor.kind: factor.name for factor in plan.factors}
        self.inherited = {
            name: value for name, value in os.environ.items() if plan.inherit is None or name in plan.inherit
        }
        self.constant = machine.constant(hostname=plan.keep_hostname)
        self.pass_ = -1  # number of the current pass, and why its reset failed; "" if it succeeded
        self.reset_failure = ""

    def skip(self, step: ScheduledRun, failure: str) -> None:
        """Continue after a completed run: the pass of this run has been reset, or the reset has failed."""
        self.pass_ = self._pass_of(step)
        self.reset_failure = failure if self.plan.resets_passes and failure.startswith(RESET_FAILED) else ""

    def _pass_of(self, step: ScheduledRun) -> int:
        return step.number // len(self.plan.benchmarks)

    def run(self, step: ScheduledRun) -> _Run:
        measured = self.measured[step.benchmark]
        folder = self.temporary / "run"
        folder.mkdir(exist_ok=True)
        try:
            return self._run(step, measured, folder / "result")
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _run(self, step: ScheduledRun, measured: PlanEntry, output: Path) -> _Run:
        variables = self._variables(step, output)
        environment = self._environment(step, measured, variables)
        directory = self._working_directory(step)
        environment["PWD"] = str(directory)
        if self.plan.resets_passes and self.pass_ != self._pass_of(step):
            self.pass_ = self._pass_of(step)
            self.reset_failure = self._reset_pass(step, output, directory)
        time.sleep(self.plan.pause)
        noted = {
            **self.constant,
            "environment_bytes": str(
                sum(len(os.fsencode(k)) + len(os.fsencode(v)) + 2 for k, v in environment.items())
            ),
        }
        if self.plan.keep_environment_names:
            noted["environment_names"] = " ".join(sorted(environment))
        if self.reset_failure:
            noted |= {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "duration": "0"}
            return _Run([], self.reset_failure, noted, 0.0)
        reset = None if self.plan.resets_passes else measured.reset
        for name, command in (("reset", reset), ("setup", measured.setup)):
            if command:
                ended = process.run(
                    _argv(command, variables), directory=directory, environment=environment, timeout=measured.timeout
                )
                if ended.reason:
                    now = datetime.now(UTC).isoformat(timespec="milliseconds")
                    noted |= {"time": now, "duration": f"{ended.wall_s:.6f}"}
                    return _Run([], self._clean(f"{name}: {ended.reason}", environment), noted, ended.wall_s)
        files = _fill_text(measured.file, variables)
        before = file_states(measured, files, directory)
        noted |= {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "load_before": f"{machine.load():.2f}"}
        ended = process.run(
            _argv(measured.commands.get(step.version) or measured.commands[""], variables),
            directory=directory, environment=environment, timeout=measured.timeout,
            keep_output=measured.values == STDOUT, cpus=self._cpus(step),
        )  # fmt: skip
        noted |= _noted(ended) | machine.state()
        if ended.reason:
            return _Run([], self._clean(ended.reason, environment), noted, ended.wall_s)
        try:
            results = results_of(measured, ended, before, file_states(measured, files, directory))
            return _Run(results, "", noted, ended.wall_s)
        except ValueError as error:
            return _Run([], self._clean(str(error), environment), noted, ended.wall_s)

    def _reset_pass(self, step: ScheduledRun, output: Path, directory: Path) -> str:
        """Run each different reset command of the benchmarks once; return the reason if a command fails, else ""."""
        done = []
        for entry in self.plan.benchmarks:
            variables = self._variables(replace(step, benchmark=entry.name), output)
            argv = _argv(entry.reset, variables) if entry.reset else []
            if not argv or argv in done:
                continue
            done.append(argv)
            environment = {**self._environment(step, entry, variables), "PWD": str(directory)}
            ended = process.run(argv, directory=directory, environment=environment, timeout=entry.timeout)
            if ended.reason:
                return self._clean(f"{RESET_FAILED}: {ended.reason}", environment)
        return ""

    def _clean(self, failure: str, environment: Mapping[str, str]) -> str:
        return " ".join(machine.without_secrets(failure, environment).split())

    def _level(self, step: ScheduledRun, name: str) -> FactorLevel:
        return self.levels[name][step.factors[name]]

    def _variables(self, step: ScheduledRun, output: Path) -> dict[str, Argv]:
        given = {
            "python": sys.executable, "benchmark": step.benchmark, "version": step.version, "run": str(step.round),
            OUTPUT: str(output), **self.plan.versions.get(step.version, {}),
        }  # fmt: skip
        levels = {name: self._level(step, name).words for name in step.factors}
        return {**{name: (text,) for name, text in given.items()}, **levels}

    def _environment(self, step: ScheduledRun, measured: PlanEntry, variables: Mapping[str, Argv]) -> dict[str, str]:
        own = {**self.plan.environment, **measured.environment}
        environment = {**self.inherited, **{name: _fill_text(text, variables) for name, text in own.items()}}
        if ENVIRONMENT_SIZE in self.kinds:
            (size,) = self._level(step, self.kinds[ENVIRONMENT_SIZE]).words
            environment[PADDING] = "x" * int(size)
        return environment

    def _working_directory(self, step: ScheduledRun) -> Path:
        """Return the working directory of a run: that of the plan, or a longer path with links to all its files."""
        if DIRECTORY_LENGTH not in self.kinds:
            return self.directory
        (text,) = self._level(step, self.kinds[DIRECTORY_LENGTH]).words
        directory, left = self.temporary / "d", int(text)
        while left > 0:
            part = min(left, MAX_COMPONENT)
            directory /= "d" * max(part - 1, 1)
            left -= part
        directory = directory / "work"
        if directory.exists():
            shutil.rmtree(directory)
        directory.mkdir(parents=True)
        for entry in self.directory.iterdir():
            (directory / entry.name).symlink_to(entry)
        return directory

    def _cpus(self, step: ScheduledRun) -> frozenset[int] | None:
        if PINNING not in self.kinds:
            return None
        (text,) = self._level(step, self.kinds[PINNING]).words
        return None if text == "any" else cpus_of(text)


def cpus_of(text: str) -> frozenset[int]:
    """Return the processors in a text such as "0,2-3".

    Examples
    --------
    >>> sorted(cpus_of("0,2-3"))
    [0, 2, 3]
    """
    ends = [part.partition("-") for part in text.split(",")]
    return frozenset(n for low, _, high in ends for n in range(int(low), int(high or low) + 1))


def _argv(command: Command, variables: Mapping[str, Argv]) -> list[str]:
    if command.is_shell:
        quoted = {name: tuple(map(shlex.quote, words)) for name, words in variables.items()}
        return ["/bin/sh", "-c", _fill_text(command.words[0], quoted)]
    return fill(command.words, variables)


def _noted(ended: Ended) -> dict[str, str]:
    return {
        "duration": f"{ended.wall_s:.6f}", "cpu_s": f"{ended.cpu_s:.6f}", "load_after": f"{machine.load():.2f}",
        "exit_status": "" if ended.exit_status is None else str(ended.exit_status),
        "left_running": str(ended.n_left) if ended.n_left else "",
    }  # fmt: skip
