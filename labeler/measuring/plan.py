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
OUTPUT = "output"  # variable in a command that stands for the file for the result
PADDING = "LABELER_PADDING"  # name of the environment variable that enlarges the environment

Argv = tuple[str, ...]


@dataclass(frozen=True)
class Level:
    """A level of a factor: a name for the table, and the words that replace {FACTOR} in a command."""

    name: str
    words: Argv


@dataclass(frozen=True)
class Factor:
    """A factor, such as the environment size, that varies between measurement contexts.

    Attributes
    ----------
    name : str
    kind : str
        One of `KINDS`.
    levels : tuple of Level
    """

    name: str
    kind: str
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class Command:
    """The words of a command, which may contain {variables}.

    If `is_shell` is true, the command is a single text, which a shell runs.
    """

    words: Argv
    is_shell: bool = False


@dataclass(frozen=True)
class Measured:
    """An entry of a measurement plan: a benchmark, or a tool that runs several benchmarks.

    Attributes
    ----------
    name : str
    commands : mapping of str to Command
        The command for each version. The key "" stands for all other versions.
    values : str
        Where the measurements of a run come from: one of `VALUES`.
    unit, better : str
        The unit, and whether lower or higher is better, for plain numbers on standard output. Times of processes are
        always in seconds.
    file : str
        If `values` is `FILE`: the file that the command writes. The name may contain {variables}, and it may be a
        pattern for several files.
    setup, reset : Command or None
        Commands that run before each run and are not measured: first reset, then setup. None for no command.
    environment : mapping of str to str
        Environment variables for this entry only.
    timeout : float
        Time limit of a run in seconds.
    file_is_run : bool
        Whether the single values in the file are iterations of one run, as in files of hyperfine.
    """

    name: str
    commands: Mapping[str, Command]
    values: str = WALL
    unit: str = ""
    better: str = ""
    file: str = f"{{{OUTPUT}}}"
    setup: Command | None = None
    reset: Command | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 600.0
    file_is_run: bool = False


@dataclass(frozen=True)
class Plan:
    """The plan that `labeler measure` executes.

    Attributes
    ----------
    benchmarks : tuple of Measured
    versions : mapping of str to mapping of str to str
        The variables of each version for use in commands; empty if there is only one version, without a name.
    factors : tuple of Factor
    contexts : int or None
        Number of combinations of levels to draw at random; None for all combinations.
    runs : int
        Number of runs of each benchmark, version and context in each kind of order.
    order : str
        One of `ORDERS`.
    interleave : bool
        Whether versions alternate (A B B A). Otherwise all runs of a version come before the next version.
    seed : int
    directory : str
        The working directory of commands, relative to the folder of the plan.
    environment : mapping of str to str
        Environment variables that are set for every command.
    inherit : tuple of str or None
        Names of the environment variables that commands inherit from this process; None for all.
    pause : float
        Seconds of rest before each run.
    application : str
    keep_hostname, keep_environment_names : bool
        Whether to record the name of the machine, and whether to record the names of environment variables. Values of
        environment variables are never recorded.
    """

    benchmarks: tuple[Measured, ...]
    versions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    factors: tuple[Factor, ...] = ()
    contexts: int | None = None
    runs: int = 10
    order: str = "random"
    interleave: bool = True
    seed: int = 1
    directory: str = "."
    environment: Mapping[str, str] = field(default_factory=dict)
    inherit: tuple[str, ...] | None = None
    pause: float = 0.0
    application: str = ""
    keep_hostname: bool = False
    keep_environment_names: bool = False
