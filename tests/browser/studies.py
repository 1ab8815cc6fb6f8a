"""The studies of the browser tests; all measurements are noise."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from labeler.studies.course import coordinating
from labeler.studies.model import PlanParameters, Protocol, Question, Role
from labeler.studies.people import identity
from labeler.studies.preparing import assigning
from labeler.studies.store import open_database
from tests.making import import_all, item_name, result_file, series

REVIEWERS = ("ada", "ben", "cleo", "dan")
QUESTION = "Are these runs alike?"
EVERYTHING_BY_PAIRS = PlanParameters(seed=1, overlap=0, retest=0)
EVERYTHING_BY_ALL = PlanParameters(seed=1, overlap=1, retest=0)

Runs = Sequence[Sequence[float]]


def make(
    path: Path,
    items: Mapping[str, Runs],
    *,
    reviewers: Sequence[str] = REVIEWERS,
    parameters: PlanParameters = EVERYTHING_BY_PAIRS,
    protocol: Protocol | None = None,
    question: str | Question = QUESTION,
    now: datetime | None = None,
) -> None:
    """A planned study in a new file, open for labelling."""
    now = now or datetime.now(UTC)
    coordinating.create_study(
        path, name="Caches", question=question, coordinator="carol", protocol=protocol or Protocol(), now=now
    )
    with open_database(path) as db:
        import_all(db, *(result_file(name, runs) for name, runs in items.items()))
        for name in reviewers:
            identity.add_person(db, name, [Role.REVIEWER], actor="carol", now=now)
        assigning.confirm_plan(db, parameters, actor="carol", now=now)


def many(n: int) -> dict[str, Runs]:
    return {item_name(number): series(number) for number in range(n)}
