"""A study that goes through all states while a server shows it, and the people who look at it.

Every name in the study is a word that occurs nowhere else, so a search finds it wherever it leaks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from labeler.studies.course import calibrating, coordinating, course, staffing
from labeler.studies.labelling import inbox, reviewing
from labeler.studies.model import PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.results import splits
from labeler.studies.store import Database, open_database
from labeler.studies.verdicts import stored_verdicts
from tests.browser.conftest import welcome
from tests.making import id_of, import_all, result_file, series

OWN, BOTH, PAUSED, REMOVED = "wilhelmina", "theodelinde", "sieglinde", "gottlieb"
PARTNERS = ("ottokar", "kunigunde")
COORDINATOR = "carolus"
APPLICATIONS = ("vexillum/quokkadb", "marzipan/gondola")
CLASSIFIER, THRESHOLD = "pterodactyl", 0.7351926
N_ITEMS, N_CALIBRATION = 80, 4
MOST = 10 * N_ITEMS  # more items than anybody has
PLAN = PlanParameters(seed=3, overlap=0.6, retest=4, calibration=N_CALIBRATION, attention=2)
QUESTION = "Are these alike?"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Links:
    """Sign-in secrets: valid links by name, and invalid links by the reason."""

    good: Mapping[str, str]
    bad: Mapping[str, str]


def name_of(number: int) -> str:
    """The name of an item, as a file of the ICPE format has it."""
    return f"{APPLICATIONS[number % 2].replace('/', '__')}#abacus.Covert{number}#tonnage={number}"


def make(path: Path) -> Links:
    """Return a study without a plan, with verdicts."""
    now = datetime.now(UTC)
    coordinating.create_study(path, name="Pumpernickel", question=QUESTION, coordinator=COORDINATOR, now=now)
    with open_database(path) as db:
        import_all(db, *(result_file(name_of(number), series(number)) for number in range(N_ITEMS)))
        for name in (OWN, PAUSED, REMOVED, *PARTNERS):
            identity.add_person(db, name, [Role.REVIEWER], actor=COORDINATOR, now=now)
        identity.add_person(db, BOTH, [Role.REVIEWER, Role.COORDINATOR], actor=COORDINATOR, now=now)
        staffing.pause(db, PAUSED, why="cotillion", actor=COORDINATOR, now=now)
        _judge(db, path.with_suffix(".csv"))
        return _links(db)


def _judge(db: Database, file: Path) -> None:
    rows = (
        f"{name_of(n)},{CLASSIFIER},{'similar' if n % 3 else 'dissimilar'},{0.1234567 + n / 997},{THRESHOLD}"
        for n in range(N_ITEMS)
    )
    file.write_text("\n".join(["item,classifier,verdict,score,threshold", *rows]))
    stored_verdicts.import_verdicts(db, file, None, actor=COORDINATOR, now=datetime.now(UTC))


def _links(db: Database) -> Links:
    replaced, expired = (_invite(db, PARTNERS[0], datetime.now(UTC)), _invite(db, PARTNERS[1], LONG_AGO))
    names = (OWN, BOTH, PAUSED, REMOVED, PARTNERS[0])
    good = {name: _invite(db, name, datetime.now(UTC)) for name in names}
    good[COORDINATOR] = identity.invite(db, COORDINATOR, Role.COORDINATOR, actor=COORDINATOR, now=datetime.now(UTC))
    return Links(good, {"wrong": "x" * 32, "replaced": replaced, "expired": expired})


def _invite(db: Database, name: str, now: datetime) -> str:
    return identity.invite(db, name, Role.REVIEWER, valid_days=1, actor=COORDINATOR, now=now)


def words_of(name: str) -> str:
    """Return the comment that a person adds to every answer."""
    return f"plover {sum(name.encode())} {name}"


def say(db: Database, name: str, n: int | None = None) -> None:
    """Answer all offered items, or this many, each with a comment; people see some items differently."""
    reviewer_id, place = id_of(db, name), sum(name.encode())
    for number in range(MOST if n is None else n):
        offers = reviewing.review_queue(db, reviewer_id).offers
        if not offers:
            return
        task = offers[0]
        event = {
            "event_id": uuid4().hex, "code": task.code, "revision": task.revision, "dwell_ms": 900,
            "answer": "similar" if (task.item_id + place) % 3 else "dissimilar", "flag": number == 0,
            "comment": words_of(name),
        }  # fmt: skip
        reviewing.submit(db, reviewer_id, reviewing.submission_from(event), now=datetime.now(UTC))


def _say_while_paused(db: Database) -> None:
    staffing.resume(db, PAUSED, actor=COORDINATOR, now=datetime.now(UTC))
    say(db, PAUSED)
    staffing.pause(db, PAUSED, why="cotillion", actor=COORDINATOR, now=datetime.now(UTC))


def _take(db: Database, step: Step) -> None:
    course.change_state(db, step, why="quadrille", force=step is Step.OPEN, actor=COORDINATOR, now=datetime.now(UTC))


def _calibration(db: Database) -> None:
    assigning.confirm_plan(db, PLAN, actor=COORDINATOR, now=datetime.now(UTC))
    reference = dict.fromkeys(calibrating.item_names(db), "similar")
    calibrating.set_reference(db, reference, actor=COORDINATOR, now=datetime.now(UTC))
    for name in (*PARTNERS, REMOVED):
        say(db, name)
    welcome(db)


def _open(db: Database) -> None:
    """Others have answered and commented, one has left, and the next item of this reviewer is a hidden copy."""
    for name in (OWN, BOTH):
        say(db, name)
    _say_while_paused(db)
    _take(db, Step.OPEN)
    for name in (*PARTNERS, REMOVED):
        say(db, name, 6)
    inbox.reply(db, inbox.messages(db)[0].code, "bittern", actor=COORDINATOR, now=datetime.now(UTC))
    staffing.remove(db, REMOVED, why="minuet", actor=COORDINATOR, now=datetime.now(UTC))
    _say_while_paused(db)
    say(db, OWN, n_before_a_copy(db, OWN))


def n_before_a_copy(db: Database, name: str) -> int:
    """The number of items that a reviewer has before the first hidden copy, without calibration items."""
    return int(
        db.execute(
            """SELECT count(*) FROM assignments WHERE person_id = ? AND ended_utc IS NULL AND kind <> 'calibration'
               AND position < (SELECT min(position) FROM assignments WHERE person_id = ? AND kind = 'retest')""",
            (id_of(db, name), id_of(db, name)),
        ).fetchone()[0]
    )


def _third(db: Database) -> None:
    _take(db, Step.OPEN)
    for name in (OWN, BOTH, *PARTNERS):
        say(db, name)
    _say_while_paused(db)
    _take(db, Step.THIRD)
    say(db, PARTNERS[0])


def _closed(db: Database) -> None:
    _take(db, Step.CLOSE)
    first = splits.split_items(db)[0].item.name
    splits.adjudicate(db, first, "similar", "ibis", actor=COORDINATOR, now=datetime.now(UTC))


STAGES: Mapping[str, Callable[[Database], None]] = {
    "draft": lambda _db: None,
    "calibration": _calibration,
    "open": _open,
    "paused": lambda db: _take(db, Step.PAUSE),
    "third": _third,
    "closed": _closed,
    "unblinded": lambda db: _take(db, Step.UNBLIND),
}  # in their order; each step starts from the previous state


def own_codes(db: Database, name: str) -> set[str]:
    """Return the codes of a reviewer's items."""
    rows = db.execute("SELECT code FROM assignments WHERE person_id = ?", (id_of(db, name),))
    return {code for (code,) in rows}


def n_in_common(db: Database, one: str, other: str) -> int:
    """The number of items that both reviewers label."""
    row = db.execute(
        """SELECT count(DISTINCT a.item_id) FROM assignments a JOIN assignments b USING (item_id)
           WHERE a.person_id = ? AND b.person_id = ? AND a.kind <> 'calibration'""",
        (id_of(db, one), id_of(db, other)),
    ).fetchone()
    return int(row[0])
