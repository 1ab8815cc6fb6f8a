"""Read a measurement plan from a TOML file, and write the example of one.

Error messages name the invalid entry and say how to correct it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import factorial, isfinite, prod
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Any

import numpy as np

from labeler.errors import InputError
from labeler.files.measuring import plan as p
from labeler.files.measuring.plan import Command, Factor, FactorLevel, MeasurementPlan, PlanEntry, n_steps
from labeler.files.measuring.tools import TOOLS, Call
from labeler.toml_file import parse as parse_toml

MAX_STEPS = 1_000_000
MAX_PADDING = 100_000  # maximum bytes of one environment variable; the limit of Linux is 131 072
MAX_LENGTH = 3_000  # maximum characters of a working directory; the limit of Linux is 4 096
VARIABLE = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")
GIVEN = ("python", "benchmark", "version", "run", p.OUTPUT)  # variables that every command can use
_NAME = re.compile(r"[A-Za-z_]\w*")
_CPUS = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")

# works on any machine, and its comments explain every key
EXAMPLE = """\
# A measurement plan for `labeler measure`. Run it with
#     labeler measure {name} --out results/
# Ctrl+C stops it; run the same command again to continue.

runs = 10              # of each benchmark, in each version and context; every run is a new process
order = "both"         # of the benchmarks: "fixed" as below, "random" (new each time), or "both" alternating
interleave = true      # versions alternate (A B B A), so a machine that slows down affects both equally
seed = 1               # the same seed gives the same order
timeout = 60           # seconds after which a run is stopped and counted as failed
reset = "pass"         # reset_command runs once before each pass of all benchmarks; "run": before every run,
                       # which removes what a benchmark leaves behind, and so every effect of order
# reset_command = ["git", "clean", "-fdq", "data"]
# directory = "."      # working directory of commands, relative to this file
# pause = 0.5          # seconds of rest before each run
# inherit = ["PATH"]   # which variables of your environment commands see; without this line: all
# altered = ["parse"]  # methods that are made slower on purpose: {{altered}} in a command becomes baseline, then
                       # parse. `labeler spread` then computes which of these methods the benchmarks notice

# Commands are lists of words; no shell reads them. {{version}}, {{python}}, {{run}}, {{output}} and the names of your
# own variables and factors are filled in.
[[benchmarks]]
name = "sum"
command = ["{{python}}", "-S", "-c", "sum(range({{n}}))"]
values = "cpu"         # "wall": time of the process (the default); "cpu": its processor time;
                       # "stdout": one number per line and iteration (several_per_line = true: several), or the
                       # output of any tool that `labeler formats` lists;
                       # "file": the same from the file {{output}} that the command writes

[[benchmarks]]
name = "sort"
command = ["{{python}}", "-S", "-c", "sorted(range({{n}}, 0, -1), key=str)"]
values = "cpu"
# setup = ["make"]     # before each run, not measured

# Instead of a command, a tool: {tools}
# [[benchmarks]]
# name = "suite"
# tool = "pyperf"
# target = "bench.py"

# Two builds are two versions, each with its own variables.
[versions.old]
n = 200000
[versions.new]
n = 206000             # 3 % more work: can a test detect it?

# Factors vary between measurement contexts. All combinations are measured, or N if the top has `contexts = N`.
[factors.env]
kind = "environment size"      # bytes that are added to the environment
levels = [0, 2048]
# [factors.cpu]
# kind = "cpu"                 # the processors to which a run is pinned
# levels = ["0", "1", "any"]
# [factors.folder]
# kind = "directory length"    # characters that are added to the path of the working directory
# levels = [0, 100]
# [factors.link]
# kind = "link order"          # {{link}} in a command becomes the files in a different order
# files = ["a.o", "b.o", "c.o"]
# orders = 3
# [factors.gc]                 # your own factor: use {{gc}} in a command or in [environment]
# levels = ["on", "off"]

# [environment]                # variables that are set for every command
# PYTHONHASHSEED = "0"

# [record]                     # optional data, not recorded by default
# hostname = true              # otherwise only its hash
# environment_names = true     # names of all variables; values are never recorded
"""


def example(name: str) -> str:
    """Return the plan that `labeler measure --init` writes into the file `name`."""
    return EXAMPLE.format(name=name, tools=", ".join(TOOLS))


def read_plan(path: Path) -> MeasurementPlan:
    """Read the measurement plan in a TOML file; raises InputError with the file and the entry if it is invalid."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        hint = " `labeler measure --init` writes an example." if isinstance(error, FileNotFoundError) else ""
        raise InputError(f"{path} cannot be read: {error.strerror}.{hint}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text.") from None
    try:
        return parse_plan(text)
    except TOMLDecodeError as error:
        raise InputError(f"{path} is not valid TOML: {error}.") from None
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def parse_plan(text: str) -> MeasurementPlan:
    """Return the measurement plan in a TOML text; raises ValueError with the name of the invalid entry."""
    table = _Table("the plan", parse_toml(text))
    seed = table.whole("seed", 1, low=0)
    versions = _versions(table)
    factors = (*_factors(table, seed), *_altered(table))
    variables = {*GIVEN, *(name for own in versions.values() for name in own), *(factor.name for factor in factors)}
    shared = _shared(table)
    entries = table.tables("benchmarks")
    if not entries:
        raise ValueError('no benchmark; write [[benchmarks]] with a name and a command, such as ["./sort", "1000"]')
    benchmarks = tuple(_benchmark(entry, versions, shared) for entry in entries)
    record = _Table("record", table.mapping("record"))
    inherit = table.take("inherit", True)
    if inherit is not True and not (isinstance(inherit, list) and all(isinstance(name, str) for name in inherit)):
        raise ValueError("inherit must be true or a list of names of environment variables")
    order = table.word("order", "random", p.ORDERS)
    made = MeasurementPlan(
        benchmarks, versions, factors,
        contexts=table.whole("contexts", None, low=1) if "contexts" in table.entries else None,
        runs=table.whole("runs", 10, low=1), order=order, interleave=table.flag("interleave", default=True), seed=seed,
        directory=table.text("directory", "."), environment=table.texts("environment"),
        inherit=None if inherit is True else tuple(inherit), pause=table.number("pause", 0.0, low=0.0),
        reset=table.word("reset", p.RUN, p.RESETS) if "reset" in table.entries else "",
        application=table.text("application", ""),
        keep_hostname=record.flag("hostname", default=False),
        keep_environment_names=record.flag("environment_names", default=False),
    )  # fmt: skip
    table.check_empty()
    record.check_empty()
    _check(made, variables)
    return made


def with_changes(plan: MeasurementPlan, **changes: Any) -> MeasurementPlan:
    """Return the plan, changed by options of the command line; raises InputError if the changed plan is invalid."""
    changed = replace(plan, **{name: value for name, value in changes.items() if value is not None})
    if n_steps(changed) > MAX_STEPS:
        raise InputError(_too_many(changed))
    return changed


def _too_many(plan: MeasurementPlan) -> str:
    return f"The plan has {n_steps(plan):,} runs; the limit is {MAX_STEPS:,}. Lower runs, or draw some contexts."


def variables_in(text: str) -> list[str]:
    """Return the names of the variables in a text, without those in double braces.

    Examples
    --------
    >>> variables_in("{python} {{x}} {version}.py")
    ['python', 'version']
    """
    return VARIABLE.findall(text)


class _Table:
    """A reader of the entries of a TOML table, which at the end reports the entries that nobody has read as unknown."""

    def __init__(self, place: str, entries: Mapping[str, Any]) -> None:
        self.place, self.given, self.entries, self.known = place, entries, dict(entries), list[str]()

    def take(self, name: str, default: Any = None) -> Any:
        self.known.append(name)
        return self.entries.pop(name, default)

    def wrong(self, name: str, expected: str, value: Any) -> ValueError:
        return ValueError(f"{self.place}: {name} must be {expected}, got {value!r}")

    def text(self, name: str, default: str | None) -> str:
        value = self.take(name, default)
        if not isinstance(value, str):
            raise self.wrong(name, "a text", value)
        return value

    def word(self, name: str, default: str, words: Sequence[str]) -> str:
        value = self.text(name, default)
        if value not in words:
            raise self.wrong(name, f"one of {', '.join(words)}", value)
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.take(name, default)
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false", value)
        return value

    def whole(self, name: str, default: int | None, *, low: int) -> int:
        value = self.take(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            raise self.wrong(name, f"a whole number of at least {low}", value)
        return value

    def number(self, name: str, default: float, *, low: float) -> float:
        value = self.take(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value) or value < low:
            raise self.wrong(name, f"a number of at least {low:g}", value)
        return float(value)

    def mapping(self, name: str) -> dict[str, Any]:
        value = self.take(name, {})
        if not isinstance(value, dict):
            raise self.wrong(name, "a table", value)
        return value

    def texts(self, name: str) -> dict[str, str]:
        entries = self.mapping(name)
        for key, value in entries.items():
            if not isinstance(value, (str, int, float)) or "\0" in str(value) or not key or "=" in key or "\0" in key:
                raise self.wrong(f"{name}.{key}", "a text or a number", value)
        return {key: _plain(value) for key, value in entries.items()}

    def tables(self, name: str) -> list["_Table"]:
        value = self.take(name, [])
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            raise self.wrong(name, f"written as [[{name}]]", value)
        return [_Table(f"{name}, number {at}", entry) for at, entry in enumerate(value, start=1)]

    def command(self, name: str, *, shell: bool) -> Command | None:
        value = self.take(name)
        return None if value is None else _command(f"{self.place}: {name}", value, shell=shell)

    def check_empty(self) -> None:
        if self.entries:
            first = next(iter(self.entries))
            raise ValueError(
                f"{self.place}: unknown key {first!r}; known keys are {', '.join(dict.fromkeys(self.known))}"
            )


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _command(place: str, value: Any, *, shell: bool) -> Command:
    if shell:
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{place} must be a single text because shell = true, got {value!r}")
        return Command((value,), is_shell=True)
    if isinstance(value, str):
        raise ValueError(
            f'{place} must be a list of words, such as ["sort", "file"], or set shell = true; got {value!r}'
        )
    if not isinstance(value, list) or not value or not all(isinstance(word, (str, int, float)) for word in value):
        raise ValueError(f"{place} must be a list of words, got {value!r}")
    words = tuple(map(_plain, value))
    if not words[0] or any("\0" in word for word in words):
        raise ValueError(f"{place} begins with an empty word, or a word contains the character 0")
    return Command(words)


def _versions(table: _Table) -> dict[str, dict[str, str]]:
    versions = table.take("versions", {})
    if isinstance(versions, list) and all(isinstance(name, str) for name in versions):
        if len(set(versions)) < len(versions):
            raise ValueError(f"versions: a name occurs twice in {versions!r}")
        versions = {name: {} for name in versions}
    if not isinstance(versions, dict):
        raise ValueError('versions must be names, ["old", "new"], or tables, [versions.old]')
    made = {}
    for name in versions:
        entry = _Table("versions", {name: versions[name]})
        made[name] = entry.texts(name)
        if not name.strip() or name != name.strip():
            raise ValueError(f"versions: {name!r} cannot be the name of a version")
        wrong = [variable for variable in made[name] if not _NAME.fullmatch(variable) or variable in GIVEN]
        if wrong:
            raise ValueError(f"versions.{name}: {wrong[0]!r} cannot be the name of a variable")
    return made


def _factors(table: _Table, seed: int) -> tuple[Factor, ...]:
    factors = []
    for name, entry in table.mapping("factors").items():
        place = f"factors.{name}"
        if not _NAME.fullmatch(name) or name in (*GIVEN, "context", "intervention", "order_type", "order_position"):
            raise ValueError(f"{place}: this is not a valid name of a factor")
        own = _Table(place, entry if isinstance(entry, dict) else {"levels": entry})
        kind = own.word("kind", p.VARIABLE, p.KINDS)
        levels = _link_orders(own, seed) if kind == p.LINK_ORDER else _levels(own, kind)
        own.check_empty()
        if len({level.name for level in levels}) < len(levels) or not levels:
            raise ValueError(f"{place}: at least one level is needed, and levels must differ")
        factors.append(Factor(name, kind, levels))
    for kind in (p.ENVIRONMENT_SIZE, p.DIRECTORY_LENGTH, p.PINNING):
        names = [factor.name for factor in factors if factor.kind == kind]
        if len(names) > 1:
            raise ValueError(
                f"factors {' and '.join(names)} both have the kind {kind!r}; only one factor of this kind is possible"
            )
    return tuple(factors)


def _altered(table: _Table) -> tuple[Factor, ...]:
    """Return the factor of the altered methods, with the baseline as the first level; empty without altered methods."""
    if p.ALTERED not in table.entries:
        return ()
    levels = _levels(table, p.ALTERED, name=p.ALTERED)
    if not any(level.name == p.BASELINE for level in levels):
        words = () if isinstance(table.given[p.ALTERED], dict) else (p.BASELINE,)
        levels = (FactorLevel(p.BASELINE, words), *levels)
    if len(levels) < 2:
        raise ValueError('altered must name at least one method besides the baseline, such as altered = ["parse"]')
    if len({level.name for level in levels}) < len(levels):
        raise ValueError("altered: a method occurs twice")
    return (Factor(p.ALTERED, p.ALTERED, levels),)


def _levels(own: _Table, kind: str, name: str = "levels") -> tuple[FactorLevel, ...]:
    given = own.take(name)
    if isinstance(given, dict):
        named = [(name, value) for name, value in given.items()]
    elif isinstance(given, list):
        named = [(" ".join(map(_plain, value)) if isinstance(value, list) else _plain(value), value) for value in given]
    else:
        example = '["parse", "sort"]' if kind == p.ALTERED else "[0, 64, 4096]"
        raise own.wrong(name, f"a list, such as {example}", given)
    levels = []
    for level, value in named:
        words = tuple(map(_plain, value)) if isinstance(value, list) else (_plain(value),)
        if kind in (p.ENVIRONMENT_SIZE, p.DIRECTORY_LENGTH):
            largest = MAX_PADDING if kind == p.ENVIRONMENT_SIZE else MAX_LENGTH
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= largest:
                raise own.wrong("levels", f"whole numbers from 0 to {largest}", value)
        if kind == p.PINNING and words != ("any",) and not (len(words) == 1 and _CPUS.fullmatch(words[0])):
            raise own.wrong("levels", 'processors such as 0, "0-3" or "any"', value)
        levels.append(FactorLevel(level.strip() or "none", words))
    return tuple(levels)


def _link_orders(own: _Table, seed: int) -> tuple[FactorLevel, ...]:
    """Return the levels of the factor `link order`: the files in the given order, and in orders drawn with the seed."""
    files = own.take("files")
    if not isinstance(files, list) or len(files) < 2 or not all(isinstance(file, str) for file in files):
        raise own.wrong("files", "a list of at least two files", files)
    n = own.whole("orders", 2, low=1)
    if len(set(files)) == len(files) and (len(files) < 13 and n > factorial(len(files))):
        raise own.wrong("orders", f"at most {factorial(len(files))} for {len(files)} files", n)
    rng, orders = np.random.default_rng([seed, n]), {tuple(files): None}
    for _attempt in range(1000 * n):
        if len(orders) == n:
            break
        orders[tuple(files[at] for at in rng.permutation(len(files)))] = None
    if len(orders) < n:
        raise own.wrong("orders", f"at most {len(orders)} for these files", n)
    return tuple(FactorLevel(str(at), order) for at, order in enumerate(orders, start=1))


def _shared(table: _Table) -> dict[str, Any]:
    """Return the options at the top of the plan that apply to each benchmark that does not change them."""
    shell = table.flag("shell", default=False)
    return {
        "shell": shell,
        "timeout": table.number("timeout", 600.0, low=0.001),
        "setup": table.command("setup", shell=shell),
        "reset": table.command("reset_command", shell=shell),
    }


def _benchmark(own: _Table, versions: Mapping[str, Mapping[str, str]], shared: Mapping[str, Any]) -> PlanEntry:
    name = own.text("name", None).strip()
    own.place = f"benchmark {name!r}"
    if not name:
        raise own.wrong("name", "a text", name)
    shell = own.flag("shell", default=shared["shell"])
    timeout = own.number("timeout", shared["timeout"], low=0.001)
    setup = own.command("setup", shell=shell) or shared["setup"]
    reset = own.command("reset_command", shell=shell) or shared["reset"]
    environment = own.texts("environment")
    unit, better = own.text("unit", ""), own.word("better", "", ("lower", "higher", ""))
    if "tool" in own.entries:
        made = _of_tool(own, name)
    else:
        values = own.word("values", p.WALL, p.VALUES)
        made = PlanEntry(name, _commands(own, versions, shell=shell), values)
        if values == p.FILE:
            made = replace(made, file=own.text("file", made.file))
        if values == p.STDOUT:
            made = replace(made, several_per_line=own.flag("several_per_line", default=False))
    own.check_empty()
    if made.values in (p.WALL, p.CPU) and (unit not in ("", "s") or better == "higher"):
        raise ValueError(
            f"{own.place}: times of processes are in seconds, and lower is better; leave out unit and better"
        )
    return replace(
        made, unit=unit, better=better, setup=setup, reset=reset, timeout=timeout,
        environment={**made.environment, **environment},
    )  # fmt: skip


def _commands(own: _Table, versions: Mapping[str, Any], *, shell: bool) -> dict[str, Command]:
    commands = {
        version: _command(f"{own.place}: commands.{version}", value, shell=shell)
        for version, value in own.mapping("commands").items()
    }
    unknown = [version for version in commands if version not in versions]
    if unknown:
        raise ValueError(
            f"{own.place}: commands.{unknown[0]}: unknown version; versions are {', '.join(versions) or 'none'}"
        )
    general = own.command("command", shell=shell)
    missing = [version for version in (versions or {"": {}}) if version not in commands]
    if general is None and missing:
        which = f" for version {missing[0]!r}" if missing[0] else ""
        raise ValueError(f'{own.place}: no command{which}; write command = ["program", "argument"]')
    return {**({"": general} if general else {}), **commands}


def _of_tool(own: _Table, name: str) -> PlanEntry:
    tool = TOOLS[own.word("tool", "", tuple(TOOLS))]
    target = own.text("target", "")
    if not target:
        raise ValueError(f"{own.place}: target is missing: {tool.target}")
    only = own.text("only", "")
    if only and not tool.only:
        raise ValueError(f"{own.place}: {tool.name} cannot run a part of its benchmarks; leave out only")
    iterations = own.whole("iterations", None, low=1) if "iterations" in own.entries else None
    arguments = own.take("arguments", [])
    if not isinstance(arguments, list) or not all(isinstance(word, str) for word in arguments):
        raise own.wrong("arguments", "a list of words", arguments)
    command = Command(tuple(tool.words(Call(target, only, iterations, tuple(arguments)))))
    return PlanEntry(
        name, {"": command}, tool.values, file=tool.file, environment=dict(tool.environment or {}),
        file_is_run=tool.file_is_run,
    )  # fmt: skip


def _check(plan: MeasurementPlan, variables: set[str]) -> None:
    """Check the conditions that involve several parts of the plan; raises ValueError if one is not met."""
    _check_names_and_contexts(plan)
    if n_steps(plan) > MAX_STEPS:
        raise ValueError(_too_many(plan))
    several = {factor.name for factor in plan.factors if any(len(level.words) != 1 for level in factor.levels)}
    for benchmark in plan.benchmarks:
        for text, is_word in _texts(benchmark):
            _check_text(f"benchmark {benchmark.name!r}", text, variables, several, is_word=is_word)
        _check_versions(plan, benchmark, variables - set(GIVEN) - {factor.name for factor in plan.factors})
    _check_effects(plan)


def _check_names_and_contexts(plan: MeasurementPlan) -> None:
    names = [benchmark.name for benchmark in plan.benchmarks]
    doubled = [name for name in names if names.count(name) > 1]
    if doubled:
        raise ValueError(f"two benchmarks have the name {doubled[0]!r}")
    factors = [factor.name for factor in plan.factors]
    if factors.count(p.ALTERED) > 1:
        raise ValueError("factors.altered: the plan also has the key altered; give the factor another name")
    if plan.contexts is not None and plan.altered:
        raise ValueError("contexts must be left out if the plan has altered: each method needs the same contexts")
    n_contexts = prod(len(factor.levels) for factor in plan.factors)
    if plan.contexts is not None and (not plan.factors or plan.contexts > n_contexts):
        raise ValueError(
            f"contexts must be from 1 to {n_contexts}, the number of combinations of levels, got {plan.contexts}"
        )


def _check_text(place: str, text: str, variables: set[str], several: set[str], *, is_word: bool) -> None:
    """Check the variables in a text of a benchmark; those in `several` stand for several words of a command."""
    for name in variables_in(text):
        if name not in variables:
            known = ", ".join(sorted(variables))
            raise ValueError(
                f"{place}: unknown variable {{{name}}}; known variables are {known}. For the literal text, write "
                f"{{{{{name}}}}}"
            )
        if name in several and not (is_word and text == f"{{{name}}}"):
            raise ValueError(
                f"{place}: {{{name}}} stands for several words, so it must be a separate word of the command"
            )


def _check_versions(plan: MeasurementPlan, benchmark: PlanEntry, set_by_versions: set[str]) -> None:
    """Check that each version sets the variables that its command uses and nothing else sets."""
    for version, own in plan.versions.items():
        command = benchmark.commands.get(version) or benchmark.commands[""]
        used = {name for word in command.words for name in variables_in(word)}
        lacking = [name for name in used if name in set_by_versions and name not in own]
        if lacking:
            raise ValueError(f"benchmark {benchmark.name!r}: version {version!r} does not set {{{lacking[0]}}}")


def _check_effects(plan: MeasurementPlan) -> None:
    """Check that each factor and each version makes a difference to a command or to the environment."""
    used = {name for benchmark in plan.benchmarks for text, _ in _texts(benchmark) for name in variables_in(text)}
    used |= {name for text in plan.environment.values() for name in variables_in(text)}
    for factor in plan.factors:
        if factor.kind in (p.VARIABLE, p.LINK_ORDER, p.ALTERED) and factor.name not in used:
            place = p.ALTERED if factor.kind == p.ALTERED else f"factors.{factor.name}"
            raise ValueError(f"{place}: no command or environment uses {{{factor.name}}}, so the factor has no effect")
    unused = [version for version, own in plan.versions.items() if not _shows(plan, version, own, used)]
    if len(plan.versions) > 1 and unused:
        raise ValueError(
            f"versions.{unused[0]}: no command uses {{version}} or a variable of this version, so it has no effect"
        )


def _shows(plan: MeasurementPlan, version: str, own: Mapping[str, str], used: set[str]) -> bool:
    has_command = any(version in benchmark.commands for benchmark in plan.benchmarks)
    return has_command or bool(used & {"version", *own})


def _texts(benchmark: PlanEntry) -> list[tuple[str, bool]]:
    """Return the texts of a benchmark that may contain variables, each with whether it is a word of a command."""
    commands = [*benchmark.commands.values(), *(one for one in (benchmark.setup, benchmark.reset) if one)]
    words = [(word, not command.is_shell) for command in commands for word in command.words]
    return [*words, *((value, False) for value in benchmark.environment.values()), (benchmark.file, False)]
