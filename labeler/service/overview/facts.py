"""What an overview of a study consists of, and what it is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from labeler.model import State, Study
from labeler.plan.lifecycle import ALLOWED, Action, Step
from labeler.service.labelling import inbox
from labeler.service.people import identity
from labeler.service.results import splits
from labeler.service.study import calibrating, coordinating
from labeler.service.study.calibrating import CalibrationResult
from labeler.service.study.progress import Pace, short_date
from labeler.store import Database
from labeler.store.events import Event

BUTTONS = {
    Step.OPEN: "Open the study",
    Step.PAUSE: "Pause the study",
    Step.THIRD: "Assign third labels",
    Step.CLOSE: "Close the study",
    Step.REOPEN: "Reopen the study",
    Step.UNBLIND: "Unblind the study",
}
RESUME = "Resume the study"
Place = tuple[str, str]  # a place of the workplace and a view of it
ADD, PEOPLE, PLAN, GUIDE = ("Items", "Add"), ("People", ""), ("Study", "Plan"), ("Study", "Guide")
SPLITS, COMMENTS, REFERENCE = ("Decide", "Splits"), ("Decide", "Comments"), ("Decide", "Calibration")
ALL_ITEMS, REPORT = ("Items", "All items"), ("Results", "Report")


@dataclass(frozen=True)
class Act:
    """A button: its text, and the step that it takes or the place that it opens."""

    words: str
    step: Step | None = None
    place: Place | None = None
    person: str = ""  # the person to choose on the page People
    is_second_round: bool = False  # whether the button starts another calibration round


@dataclass(frozen=True)
class Line:
    """A sentence in the box or in the list of parts, with a sign or a button."""

    text: str
    subject: str = ""  # shown in bold before the text
    act: Act | None = None
    sign: str = ""


@dataclass(frozen=True)
class Box:
    """What the coordinator should do now. The button works after the box with the text `tick` is ticked."""

    heading: str
    text: str = ""
    act: Act | None = None
    also: tuple[Act, ...] = ()
    lines: tuple[Line, ...] = ()
    tick: str = ""
    asks_why: str = ""  # why a reason is needed; "" if none is needed


@dataclass(frozen=True)
class Stage:
    """One step of the line: its name, a fact, whether it is done, now or next, and the share done."""

    name: str
    fact: str
    when: str
    share: float = 0.0


@dataclass(frozen=True)
class Number:
    """One of the three numbers: label, value, and a line below."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Overview:
    """An overview of a study for its coordinator, without anything that is hidden from this coordinator."""

    study: Study
    # `n_assigned` and `n_done` count labels of the current round. `n_answers` counts all answers in the study.
    n_items: int
    n_reviewers: int
    n_answers: int
    n_assigned: int
    n_done: int
    stages: tuple[Stage, ...]
    box: Box
    parts: tuple[Line, ...]  # what has to be set up; empty after that
    numbers: tuple[Number, ...]
    hidden: str  # until when and why the agreement is hidden; "" if it is shown
    others: tuple[Step, ...]  # other steps that are possible and useful now
    paces: tuple[Pace, ...]


@dataclass(frozen=True)
class Facts:
    """What the overview is made of."""

    db: Database
    person: str
    now: datetime
    status: coordinating.Status
    paces: tuple[Pace, ...]
    is_complete: bool
    log: tuple[Event, ...]

    @property
    def study(self) -> Study:
        return self.status.study

    @property
    def n_assigned(self) -> int:
        return sum(row.n_assigned for row in self.status.reviewers)

    @property
    def n_done(self) -> int:
        return sum(row.n_done for row in self.status.reviewers)

    @property
    def n_missing(self) -> int:
        """The number of planned labels that nobody gave."""
        return self.n_assigned - self.n_done

    def since(self, state: State) -> datetime | None:
        """Return when the study last came into a state."""
        found = [event for event in self.log if event.details.get("to") == state]
        if state in (State.OPEN, State.CALIBRATION) and not found:
            found = [event for event in self.log if event.action == "draw plan"]
        return datetime.fromisoformat(found[-1].at_utc) if found else None


def is_complete(paces: Sequence[Pace]) -> bool:
    """Return whether no reviewer has an item left to label; return False if no items are assigned."""
    return any(pace.n_assigned for pace in paces) and not any(pace.n_left for pace in paces)


def calibrates(study: Study) -> bool:
    return study.phase is State.CALIBRATION or bool((study.plan_parameters or {}).get("calibration"))


def calibration(facts: Facts) -> CalibrationResult | None:
    """Return the result of the calibration round, if this coordinator may see it."""
    if not calibrates(facts.study) or identity.why_hidden(facts.db, facts.person, Action.SEE_CALIBRATION):
        return None
    return calibrating.result(facts.db)


def n_to_decide(db: Database, person: str) -> int:
    """Return how many comments and split items wait for this coordinator."""
    return n_unanswered(db, person) + n_undecided(db, person)


def n_unanswered(db: Database, person: str) -> int:
    """Return the number of flags and comments without an answer; 0 for a coordinator who may not read them."""
    return 0 if identity.reviews_too(db, person) else sum(not one.is_answered for one in inbox.messages(db))


def n_undecided(db: Database, person: str) -> int:
    """Return the number of split items that this coordinator can decide and that need a decision."""
    is_closed = coordinating.get_study(db).phase in ALLOWED[Action.ADJUDICATE]
    if not is_closed or identity.why_hidden(db, person, Action.SEE_AGREEMENT):
        return 0
    n_left = sum(split.remains for split in splits.split_items(db))
    return n_left if n_left and not splits.why_not_decide(db, person) else 0


def day_in_words(day: date, now: datetime) -> str:
    """Return a day as people say it, such as "Monday"; an earlier day with its date."""
    if (now.date() - day).days < 1:
        return "today"
    return f"{day:%A}" if (now.date() - day).days < 7 else short_date(day)
