"""A measurement plan: what is measured, how often, in which order and contexts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

ORDERS = ("fixed", "random", "both")
WALL, CPU, STDOUT, FILE = "wall", "cpu", "stdout", "file"
VALUES = (WALL, CPU, STDOUT, FILE)
VARIABLE, ENVIRONMENT_SIZE, DIRECTORY_LENGTH, PINNING, LINK_ORDER = (
    "variable", "environment size", "directory length", "cpu", "link order",
)  # fmt: skip
KINDS = (VARIABLE, ENVIRONMENT_SIZE, DIRECTORY_LENGTH, PINNING, LINK_ORDER)
OUTPUT = "output"  # the variable of a command that names the file into which it writes its result
PADDING = "LABELER_PADDING"  # the environment variable that makes the environment larger

Argv = tuple[str, ...]


@dataclass(frozen=True)
class Level:
    """One level of a factor: its name in the table, and the words that take the place of {FACTOR} in a command."""

    name: str
    words: Argv


@dataclass(frozen=True)
class Factor:
    """Something that varies between measurement contexts.

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
    """Words of a command, with {variables}; one text for the shell where `is_shell` is set."""

    words: Argv
    is_shell: bool = False


@dataclass(frozen=True)
class Measured:
    """One entry of the plan: a benchmark, or a tool that runs several.

    Attributes
    ----------
    name : str
    commands : mapping of str to Command
        By version; "" for all others.
    values : str
        One of `VALUES`: where the measurements of a run come from.
    unit, better : str
        Of plain numbers on standard output; times of processes are in seconds.
    file : str
        For `FILE`: the file that the command writes, with {variables}; a pattern may name several.
    setup, reset : Command or None
        Run before each run, without being measured: first reset, then setup.
    environment : mapping of str to str
        For this entry alone.
    timeout : float
        Seconds after which a run is stopped.
    file_is_run : bool
        Whether single values in the file are the iterations of one run, as those of hyperfine are.
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
    """What `labeler measure` does.

    Attributes
    ----------
    benchmarks : tuple of Measured
    versions : mapping of str to mapping of str to str
        Each with the variables that it sets in commands; empty if there is one version without a name.
    factors : tuple of Factor
    contexts : int or None
        How many combinations of levels are drawn; None: all.
    runs : int
        Of each benchmark, version and context in each kind of order.
    order : str
        One of `ORDERS`.
    interleave : bool
        Whether versions take turns (A B B A) instead of following one another.
    seed : int
    directory : str
        Where commands run; as from the plan's folder.
    environment : mapping of str to str
        Variables that are set for every command.
    inherit : tuple of str or None
        The names of the variables that commands take over from this process; None: all of them.
    pause : float
        Seconds of rest before each run.
    application : str
    keep_hostname, keep_environment_names : bool
        Whether these are recorded: the name of the machine in plain, and the names (never values) of the environment.
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
