"""Define the data types of a measurement plan: benchmarks, versions, number of runs, order and contexts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

ORDERS = ("fixed", "random", "both")
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
