"""The data types of a measurement plan: benchmarks, versions, number of runs, order and contexts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

ORDERS = ("fixed", "random", "both")
WALL, CPU, STDOUT, FILE = "wall", "cpu", "stdout", "file"
VALUES = (WALL, CPU, STDOUT, FILE)
VARIABLE, ENVIRONMENT_SIZE, DIRECTORY_LENGTH, PINNING, LINK_ORDER = (
    "variable", "environment size", "directory length", "cpu", "link order",
)  # fmt: skip
KINDS = (VARIABLE, ENVIRONMENT_SIZE, DIRECTORY_LENGTH, PINNING, LINK_ORDER)
OUTPUT = "output"  # variable in a command: the file for its result
PADDING = "LABELER_PADDING"  # environment variable that enlarges the environment

Argv = tuple[str, ...]


@dataclass(frozen=True)
class Level:
    """A level of a factor.

    It has a name for the table, and the words that replace {FACTOR} in a command.
    """

    name: str
    words: Argv


@dataclass(frozen=True)
class Factor:
    """A factor, which varies between measurement contexts.

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
    """The words of a command, with {variables}.

    If `is_shell` is set, the command is a single text for the shell.
    """

    words: Argv
    is_shell: bool = False


@dataclass(frozen=True)
class Measured:
    """An entry of the plan: a benchmark, or a tool that runs several benchmarks.

    Attributes
    ----------
    name : str
    commands : mapping of str to Command
        Command by version; "" for all other versions.
    values : str
        One of `VALUES`: the source of the measurements of a run.
    unit, better : str
        The unit and better direction of plain numbers on standard output. Times of processes are in seconds.
    file : str
        For `FILE`: the file that the command writes, with {variables}; a pattern may name several.
    setup, reset : Command or None
        Commands that run before each run and are not measured; reset runs first, then setup.
    environment : mapping of str to str
        Variables for this entry only.
    timeout : float
        Time limit of a run in seconds.
    file_is_run : bool
        Whether single values in the file are iterations of one run, as for hyperfine.
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
        Variables of commands by version; empty if there is one version without a name.
    factors : tuple of Factor
    contexts : int or None
        Number of combinations of levels to draw; None for all.
    runs : int
        Number of runs of each benchmark, version and context in each kind of order.
    order : str
        One of `ORDERS`.
    interleave : bool
        Whether versions alternate (A B B A) instead of running one after the other.
    seed : int
    directory : str
        Working directory of commands, relative to the plan's folder.
    environment : mapping of str to str
        Environment variables for every command.
    inherit : tuple of str or None
        Names of the variables that commands inherit from this process; None for all.
    pause : float
        Seconds of rest before each run.
    application : str
    keep_hostname, keep_environment_names : bool
        Whether to record the name of the machine, and the names (never values) of environment variables.
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
