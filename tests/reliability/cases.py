"""A row of the table: a scene, an accident in it, and what is counted afterwards. Its results are cases."""

import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import SubprocessError
from typing import Any, Generic, Protocol, TypeVar

from playwright.sync_api import Error as BrowserError

from labeler.errors import LabelerError

N_NAMED = 3
W = TypeVar("W")  # what a scene gives to the accident and to the counts
ERRORS = (AssertionError, BrowserError, OSError, RuntimeError, SubprocessError, LabelerError)


class CannotTry(Exception):
    """This machine, or the user who runs this, does not allow the test; the message gives the reason."""


@dataclass(frozen=True)
class Case:
    """One tested case; `passed` is None if it could not be tested here, and `figures` gives the reason."""

    what: str
    figures: str
    passed: bool | None

    @property
    def word(self) -> str:
        return {True: "PASS", False: "FAIL", None: "SKIP"}[self.passed]


def case(what: str, figures: str, problems: Sequence[str]) -> Case:
    """A case that passed if there are no problems; the first few follow the figures."""
    return Case(what, "; ".join(filter(None, [figures, in_words(dict.fromkeys(problems))])), not problems)


def in_words(faults: Collection[str]) -> str:
    """Return the first few faults, and the number of the others."""
    more = [f"and {len(faults) - N_NAMED} more"] if len(faults) > N_NAMED else []
    return "; ".join([*(fault[:300] for fault in list(faults)[:N_NAMED]), *more])


@dataclass
class Tally:
    """The number of checks, and the failures."""

    n: int = 0
    wrong: list[str] = field(default_factory=list)
    more: str = ""  # further figures

    def check(self, right: bool, otherwise: str) -> None:
        """Count one check; `otherwise` describes the failure."""
        self.n += 1
        if not right:
            self.wrong.append(otherwise)

    def none(self, found: Sequence[object], what: str) -> None:
        """Count one check: nothing was found."""
        self.check(not found, f"{what} {found}")

    def case(self) -> Case:
        """Return the result; at least one check is required."""
        named = in_words(self.wrong)
        figures = f"{self.n} checks, {len(self.wrong)} wrong" + (f", {self.more}" if self.more else "")
        return Case("", figures + (f": {named}" if named else ""), self.n > 0 and not self.wrong)


class Tallied(Protocol):
    """A world whose accident checks as it goes."""

    tally: Tally


def no_wrong(world: Tallied) -> Case:
    """Count: every check was right."""
    return world.tally.case()


@dataclass
class Room:
    """What the rows of a group share: a folder, their length, and scenes that are built once."""

    folder: Path
    quick: bool = False
    seed: int = 1
    pictures: Path | None = None
    row: str = ""  # the name of the row that runs
    open: ExitStack = field(default_factory=ExitStack)
    _shared: dict[Any, Any] = field(default_factory=dict)

    def n(self, full: int, quick: int) -> int:
        """The first number, or the second one if this is a short run."""
        return quick if self.quick else full

    def new_folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.folder))

    def shared(self, scene: "Callable[[Room], AbstractContextManager[W]]") -> W:
        """What a scene gives; it is built for the first row that asks for it, and ends with the room."""
        if scene not in self._shared:
            self._shared[scene] = self.open.enter_context(scene(self))
        found: W = self._shared[scene]
        return found


class Tried(Protocol):
    """Anything that has a name and yields cases."""

    @property
    def name(self) -> str: ...
    def cases(self, room: Room) -> Iterator[Case]: ...


@dataclass(frozen=True)
class Row(Generic[W]):
    """One row of the table. Each count is a case; its own words follow the name of the row."""

    name: str
    scene: Callable[[Room], AbstractContextManager[W]]
    accident: Callable[[W], object]
    counts: Sequence[Callable[[W], Case]]

    def cases(self, room: Room) -> Iterator[Case]:
        """Build the scene, let the accident happen, and count; an unexpected error is a failed case."""
        room.row = self.name
        try:
            with self.scene(room) as world:
                self.accident(world)
                for count in self.counts:
                    found = count(world)
                    yield Case(": ".join(filter(None, (self.name, found.what))), found.figures, found.passed)
        except CannotTry as why:
            yield Case(self.name, str(why), None)
        except ERRORS as error:
            words = " ".join(str(error).split())[:300]
            yield Case(self.name, f"ended by {type(error).__name__}: {words}", False)


@dataclass(frozen=True)
class Whole:
    """A row with a driver of its own."""

    name: str
    cases: Callable[[Room], Iterator[Case]]


def nothing(_world: object) -> None:
    """No accident: what is counted is the ordinary course."""
