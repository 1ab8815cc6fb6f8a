"""A measurement plan, and its runs in the order in which they are executed.

The same seed gives the same order. A *pass* runs every benchmark once, in one version, one context and one order. A
*round* has one pass for each version, context and kind of order, so any number of whole rounds is balanced. If the
number of runs in a plan is raised, the first rounds stay the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np

FIXED, RANDOM = "fixed", "random"
ORDERS = (FIXED, RANDOM, "both")
# separate streams of random numbers, so that no choice depends on how many numbers another choice uses
_CONTEXTS, _ORDER_OF_CONTEXTS, _ORDER = range(3)
WALL, CPU, STDOUT, FILE = "wall", "cpu", "stdout", "file"
VALUES = (WALL, CPU, STDOUT, FILE)
VARIABLE, ENVIRONMENT_SIZE, DIRECTORY_LENGTH, PINNING, LINK_ORDER = (
    "variable", "environment size", "directory length", "cpu", "link order",
)  # fmt: skip
KINDS = (VARIABLE, ENVIRONMENT_SIZE, DIRECTORY_LENGTH, PINNING, LINK_ORDER)
ALTERED = "altered"  # name and kind of the factor that the plan's key `altered` defines
BASELINE = "baseline"  # the level of `altered` without an altered method
PASS, RUN = "pass", "run"
RESETS = (PASS, RUN)  # when the reset command runs: before each pass of all benchmarks, or before each run
OUTPUT = "output"  # variable in a command that stands for the file for the result
PADDING = "LABELER_PADDING"  # name of the environment variable that enlarges the environment

Argv = tuple[str, ...]


@dataclass(frozen=True)
class FactorLevel:
    """A level of a factor: a name for the table, and the words that replace {FACTOR} in a command."""

    name: str
    words: Argv


@dataclass(frozen=True)
class Factor:
    """A factor, such as the environment size, that varies between measurement contexts."""

    name: str
    kind: str  # one of `KINDS`, or `ALTERED`
    levels: tuple[FactorLevel, ...]


@dataclass(frozen=True)
class Command:
    """The words of a command, which may contain {variables}.

    If `is_shell` is true, the command is a single text, which a shell runs.
    """

    words: Argv
    is_shell: bool = False


@dataclass(frozen=True)
class PlanEntry:
    """An entry of a measurement plan: a benchmark, or a tool that runs several benchmarks."""

    name: str
    commands: Mapping[str, Command]  # The command for each version. The key "" stands for all other versions.
    values: str = WALL  # where the measurements of a run come from: one of `VALUES`
    # The unit, and whether lower or higher is better, for plain numbers on standard output. Times of processes
    # are always in seconds.
    unit: str = ""
    better: str = ""
    # If `values` is `FILE`: the file that the command writes. The name may contain {variables}, and it may be a
    # pattern for several files.
    file: str = f"{{{OUTPUT}}}"
    # Commands that are not measured, or None. Setup runs before each run; reset runs as the plan says, before setup.
    setup: Command | None = None
    reset: Command | None = None
    environment: Mapping[str, str] = field(default_factory=dict)  # environment variables for this entry only
    timeout: float = 600.0  # time limit of a run in seconds
    # Whether the single values in the file are iterations of one run, as in files of hyperfine.
    file_is_run: bool = False
    # Whether each number on a line of standard output is an iteration. Otherwise a line has exactly one number.
    several_per_line: bool = False


@dataclass(frozen=True)
class MeasurementPlan:
    """The plan that `labeler measure` executes."""

    benchmarks: tuple[PlanEntry, ...]
    # The variables of each version for use in commands; empty if there is only one version, without a name.
    versions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    factors: tuple[Factor, ...] = ()
    contexts: int | None = None  # number of combinations of levels to draw at random; None for all combinations
    runs: int = 10  # number of runs of each benchmark, version and context in each kind of order
    order: str = "random"  # one of `ORDERS`
    # Whether versions alternate (A B B A). Otherwise all runs of a version come before the next version.
    interleave: bool = True
    seed: int = 1
    directory: str = "."  # the working directory of commands, relative to the folder of the plan
    environment: Mapping[str, str] = field(default_factory=dict)  # environment variables that are set for every command
    # Names of the environment variables that commands inherit from this process; None for all.
    inherit: tuple[str, ...] | None = None
    pause: float = 0.0  # seconds of rest before each run
    reset: str = ""  # one of `RESETS`; "" if the plan does not say, which means `RUN`
    application: str = ""
    # Whether to record the name of the machine, and whether to record the names of environment variables. Values
    # of environment variables are never recorded.
    keep_hostname: bool = False
    keep_environment_names: bool = False

    @property
    def resets_passes(self) -> bool:
        """Whether the reset commands run once before each pass."""
        return self.reset == PASS

    @property
    def altered(self) -> tuple[str, ...]:
        """The names of the altered methods, without the baseline."""
        levels = [level.name for factor in self.factors if factor.kind == ALTERED for level in factor.levels]
        return tuple(name for name in levels if name != BASELINE)

    @property
    def factor_names(self) -> tuple[str, ...]:
        """The names of the factors that define a context; altered methods are not a factor of the context."""
        return tuple(factor.name for factor in self.factors if factor.kind != ALTERED)


@dataclass(frozen=True)
class ScheduledRun:
    """One run of a benchmark in the schedule."""

    number: int  # position of the run in the schedule, starting at 0
    round: int  # number of the round, starting at 0; the table has this number in the column run
    benchmark: str
    version: str  # "" if the plan has no versions
    order_type: str  # "fixed" or "random"
    position: int  # position of the run in its pass, starting at 1
    predecessor: str  # the previous benchmark in this pass; "" for the first benchmark
    factors: Mapping[str, str] = field(default_factory=dict)  # the name of the level of each factor


def schedule(plan: MeasurementPlan) -> Iterator[ScheduledRun]:
    """Yield all runs of the plan, in order."""
    contexts = contexts_of(plan)
    number = 0
    for round_, version, order_type, context in _passes(plan, contexts):
        names = _order_of_benchmarks(plan, round_, version, order_type, context)
        before = ""
        for position, name in enumerate(names, start=1):
            yield ScheduledRun(number, round_, name, version, order_type, position, before, contexts[context])
            number, before = number + 1, name


def n_steps(plan: MeasurementPlan) -> int:
    """Return the number of runs in the plan."""
    n_contexts = plan.contexts or prod(len(factor.levels) for factor in plan.factors)
    per_round = len(plan.benchmarks) * max(len(plan.versions), 1) * n_contexts * len(kinds_of_order(plan))
    return plan.runs * per_round


def kinds_of_order(plan: MeasurementPlan) -> tuple[str, ...]:
    """Return the kinds of order in which the plan runs benchmarks: "fixed", "random" or both."""
    return (FIXED, RANDOM) if plan.order == "both" else (plan.order,)


def contexts_of(plan: MeasurementPlan) -> list[Mapping[str, str]]:
    """Return the combinations of factor levels that the plan measures.

    These are all combinations, or a random selection if the plan has a number of contexts. A selection contains each
    level of a factor equally often, as far as the number of contexts allows.
    """
    names = [factor.name for factor in plan.factors]
    levels = [[level.name for level in factor.levels] for factor in plan.factors]
    everything = (dict(zip(names, combination, strict=True)) for combination in product(*levels))  # may be many
    if plan.contexts is None:
        return list(everything)
    rng = _rng(plan, _CONTEXTS)
    best: list[Mapping[str, str]] = []
    for _attempt in range(200):  # shuffles balanced columns until no combination occurs twice
        columns = [[of_factor[at % len(of_factor)] for at in range(plan.contexts)] for of_factor in levels]
        shuffled = [[column[at] for at in rng.permutation(len(column))] for column in columns]
        rows = dict.fromkeys(zip(*shuffled, strict=True))
        best = max(best, [dict(zip(names, row, strict=True)) for row in rows], key=len)
        if len(best) == plan.contexts:
            return best
    remaining = [row for row in everything if row not in best]
    chosen = rng.permutation(len(remaining))[: plan.contexts - len(best)]
    return [*best, *(remaining[at] for at in chosen)]


def _passes(plan: MeasurementPlan, contexts: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, str, str, int]]:
    """Yield (round, version, kind of order, context) for each pass."""
    versions = tuple(plan.versions) or ("",)
    if not plan.interleave and len(versions) > 1:
        for version in versions:
            yield from ((round_, version, kind, at) for round_, _, kind, at in _rounds(plan, contexts))
        return
    for round_, place, kind, at in _rounds(plan, contexts):
        turned = (round_ + place + at) % 2
        yield from ((round_, version, kind, at) for version in (reversed(versions) if turned else versions))


def _rounds(plan: MeasurementPlan, contexts: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, int, str, int]]:
    """Yield the combinations of round, kind of order and context, as (round, number of the kind, kind, context).

    The two kinds of order alternate.
    """
    kinds = list(enumerate(kinds_of_order(plan)))
    for round_ in range(plan.runs):
        for place, kind in reversed(kinds) if round_ % 2 else kinds:
            for at in _rng(plan, _ORDER_OF_CONTEXTS, round_, place).permutation(len(contexts)):
                yield round_, place, kind, int(at)


def _order_of_benchmarks(plan: MeasurementPlan, round_: int, version: str, order_type: str, context: int) -> list[str]:
    names = [benchmark.name for benchmark in plan.benchmarks]
    if order_type == FIXED:
        return names
    place = list(plan.versions).index(version) if version else 0
    return [names[at] for at in _rng(plan, _ORDER, round_, place, context).permutation(len(names))]


def _rng(plan: MeasurementPlan, *what: int) -> np.random.Generator:
    return np.random.default_rng([plan.seed, *what])
