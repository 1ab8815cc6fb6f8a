"""Scene: a reviewer whose answers wait in the browser; the accidents are those of `tests/browser/pending.py`."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from tests.browser import pending, studies
from tests.browser.conftest import Served, serving
from tests.reliability.cases import Case, Room, case
from tests.reliability.pages import chromium

NAMES = ("ada", "ben", "cleo", "dan", "eve", "fay", "gus")


@dataclass(frozen=True)
class Waiting:
    """A reviewer, how often the accident happens, and how many answers wait each time."""

    at_page: pending.Scene
    n_rounds: int
    n_answers: int


def amounts(room: Room) -> tuple[int, int]:
    """Return the number of rounds, and of answers that wait in each."""
    return room.n(9, 1), room.n(20, 5)


@contextmanager
def server(room: Room) -> Iterator[Served]:
    """One server for all rows, with enough items for one reviewer per row."""
    n_rounds, n_answers = amounts(room)
    study = room.new_folder() / "pending.study"
    items = studies.many(n_rounds * n_answers + 2)
    studies.make(study, items, reviewers=NAMES, parameters=studies.EVERYTHING_BY_ALL)
    with serving(study) as served:
        yield served


def waiting(name: str) -> Callable[[Room], AbstractContextManager[Waiting]]:
    """A reviewer who has just signed in."""

    @contextmanager
    def scene(room: Room) -> Iterator[Waiting]:
        with room.shared(chromium).new_context(viewport={"width": 1440, "height": 800}) as context:
            yield Waiting(pending.scene(context.new_page(), room.shared(server), name), *amounts(room))

    return scene


def repeated(mishap: str) -> Callable[[Waiting], None]:
    """Give answers while nothing reaches the server, and let the accident happen, several times."""

    def happens(world: Waiting) -> None:
        for _ in range(world.n_rounds):
            pending.MISHAPS[mishap](world.at_page, world.n_answers)

    return happens


def in_order(world: Waiting) -> Case:
    """Every answer is stored once, in the order in which it was given."""
    stored, pressed = world.at_page.stored(), world.at_page.pressed
    n_lost, n_twice = sum(answer not in stored for answer in pressed), len(stored) - len(set(stored))
    figures = f"{len(pressed)} answers in {world.n_rounds} rounds, {n_lost} lost, {n_twice} stored twice"
    return case("", figures, [] if pressed and stored == pressed else ["not in the order pressed"])
