"""Define the data types of the application: items, people, plans, answers and verdicts."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np

from analysis.arrays import Series
from labeler.studies.questions import Question as Question

AXIS_RULES = ("levels", "core", "pooled", "full")  # rules for the main axis of a picture
ALL = -1  # the number of the block for third labels, and for items that all reviewers label


class Kind(StrEnum):
    """The reason why an item is assigned to a reviewer, or that an entry is a decision on a split item.

    Reviewers never see the kind of an assignment.
    """

    FRESH = "fresh"
    OVERLAP = "overlap"
    RETEST = "retest"
    THIRD = "third"
    CALIBRATION = "calibration"
    ATTENTION = "attention"  # an item with a known answer, which no result uses
    ADJUDICATED = "adjudicated"


LABELLED_BY_PLAN = (Kind.FRESH, Kind.OVERLAP)  # the kinds whose first labels count for agreement


class Origin(StrEnum):
    """The origin of an assignment: the plan, a change of the plan, or an import of labels."""

    PLAN = "plan"
    CHANGE = "change"
    IMPORT = "import"


class LabelOrigin(StrEnum):
    """Where an answer was given: on the screen of this application, or elsewhere, so that it was imported."""

    SCREEN = "screen"
    IMPORT = "import"


class Role(StrEnum):
    """The role of a person, which decides what the person may do."""

    REVIEWER = "reviewer"
    COORDINATOR = "coordinator"


class State(StrEnum):
    """The state of a study."""

    DRAFT = "draft"
    CALIBRATION = "calibration"
    OPEN = "open"
    THIRD = "third"
    CLOSED = "closed"
    UNBLINDED = "unblinded"
    PAUSED = "paused"


class ItemRole(StrEnum):
    """How the results use an item."""

    COUNTED = "counted"
    CALIBRATION = "calibration"  # labelled only in the calibration round
    ATTENTION = "attention"  # an attention check was made from it, so nobody labels the item itself
    CHOSEN = "chosen"  # labelled because its label is informative; only learning and weighted estimates use it
    EXCLUDED = "excluded"


@dataclass(frozen=True)
class Item:
    """A benchmark in a study, with its runs. `n_iterations` is the length of the shortest run.

    If `excluded_why` is not None, the item is excluded: nobody labels the item, and no result uses it.
    """

    item_id: int
    name: str
    benchmark: str
    application: str
    unit: str
    better: str
    n_runs: int
    n_iterations: int
    data_hash: str
    excluded_why: str | None = None


@dataclass(frozen=True)
class Protocol:
    """The protocol of a study: how items are shown, and what reviewers are asked.

    After the first answer, the protocol cannot change.
    """

    # The rule for the initial limits of the y axis (see `labeler.studies.screen.binning.axis_limits`).
    axis_rule: str = field(default="levels", metadata={
        "flag": "--axis", "choices": AXIS_RULES, "help": "Y axis of the first view of every item.",
    })  # fmt: skip
    # With the rules "levels" and "core", the axis spans at least this share of the pooled median.
    min_span: float = field(default=0.15, metadata={
        "within": "[0, 10]", "help": "Minimum range of the axis, as a share of the median.",
    })  # fmt: skip
    asks_confidence: bool = field(default=False, metadata={
        "flag": "--confidence", "help": "Ask for the reviewer's confidence with each label, 1 to 3.",
    })  # fmt: skip
    shows_numbers: bool = field(default=False, metadata={
        "flag": "--numbers",
        "help": "Show each run's distance from the median; the numbers influence reviewers.",
    })  # fmt: skip
    instructions: str = field(default="", metadata={"help": "Additional instructions in the reviewers' guide."})
    # Whether each assignment has a different picture. Then the order of the runs differs, bins are shifted, and
    # values are shifted by less than the eye can see. Otherwise all pictures of an item have the same bytes.
    varies_pictures: bool = field(default=True, metadata={
        "flag": "--one-picture", "help": "Send the same picture of an item, byte for byte, to all reviewers.",
    })  # fmt: skip


@dataclass(frozen=True)
class CalibrationGate:
    """The gate of a calibration round, which is the agreement that reviewers must reach before the study opens."""

    # "reference" for the agreement of each reviewer with the reference labels; "reviewers" for the percent
    # agreement between the reviewers.
    on: str
    least: float  # the required share, from 0 to 1


@dataclass(frozen=True)
class Study:
    """The properties of a study, such as name, question, state and plan parameters.

    The fields of the plan are None if there is no plan. While a study is paused, `resumes_to` is the state to which it
    returns.
    """

    name: str
    question: Question
    state: State
    created_utc: str
    protocol: Protocol
    plan_parameters: Mapping[str, Any] | None
    plan_hash: str | None
    resumes_to: State | None = None
    gate: CalibrationGate | None = None

    @property
    def phase(self) -> State:
        """The state of the study; if the study is paused, the state to which it will return."""
        return self.resumes_to or self.state


@dataclass(frozen=True)
class Person:
    """A reviewer, a coordinator, or both.

    A paused person can see items but cannot label them.
    """

    person_id: int
    name: str
    roles: frozenset[Role]
    active: bool
    paused: bool = False


@dataclass(frozen=True)
class Assignment:
    """An assignment in a plan: the reviewer, the item, the kind, the block, and the position, which starts at 0."""

    reviewer: str
    item: str
    kind: Kind
    block: int
    position: int


@dataclass(frozen=True)
class PlanParameters:
    """The parameters of a plan."""

    seed: int = field(metadata={
        "within": "[0, )", "default": "a random number, which is printed", "help": "Random seed of the plan.",
    })  # fmt: skip
    # at least 2; called k
    per_item: int = field(default=2, metadata={"within": "[2, )", "help": "Number of reviewers per item."})
    overlap: float = field(default=0.2, metadata={
        "within": "[0, 1]", "help": "Share of items that every reviewer labels.",
    })  # fmt: skip
    retest: int = field(default=20, metadata={"within": "[0, )", "help": "Number of hidden retests per reviewer."})
    # The items are then split at random into parts of nearly equal size. `per_item` must be 2, and `overlap` and
    # `retest` must be 0.
    paper: bool = field(default=False, metadata={
        "flag": "--paper-design",
        "help": "Use the design of the paper: random parts, with one pair of reviewers per part.",
    })  # fmt: skip
    calibration: int = field(default=0, metadata={
        "within": "[0, )",
        "help": "Number of calibration items, which everyone labels before the study. No result uses these labels.",
    })  # fmt: skip
    # These items leave the rest of the plan, as calibration items do.
    attention: int = field(default=0, metadata={
        "within": "[0, )",
        "help": "Number of attention checks per reviewer: hidden items with a known answer. No result uses them.",
    })  # fmt: skip
    # None if the study labels all items
    stop_half_width: float | None = field(default=None, metadata={
        "within": "(0, 1)", "metavar": "W",
        "help": "Stopping rule: labelling may stop when the always-valid interval of kappa is at most ±W.",
    })  # fmt: skip


@dataclass(frozen=True)
class AttentionCheck:
    """A hidden item with a known answer, which was made from an item of the study."""

    item_id: int
    name: str
    source: str  # the name of the item from which it was made
    answer: str
    is_changed: bool  # whether its measurements differ from those of the source


@dataclass(frozen=True)
class Remarks:
    """What a reviewer said of an item beside the answer."""

    confidence: int | None = None
    flag: bool = False
    comment: str | None = None
    extra: str | None = None


@dataclass(frozen=True)
class Task:
    """An assignment as the reviewer sees it, with the current answer."""

    assignment_id: int
    item_id: int
    code: str
    revision: int  # the number of answers so far
    answer: str | None = None  # the newest answer; None if there is no answer
    n_not_sure: int = 0  # the number of "not sure" answers
    remarks: Remarks = Remarks()  # those of the newest answer that was not withdrawn


@dataclass(frozen=True)
class NewLabel:
    """An answer that the study does not have yet, as the browser sends it or a label file contains it."""

    event_id: str  # The id of the event, which the browser chooses. The same event may arrive more than once.
    code: str  # the opaque code of the assignment
    revision: int  # the number of earlier answers that the browser knew of
    answer: str
    dwell_ms: int | None = None  # time in milliseconds from the display of the item to the answer; None if unknown
    # The state of the screen, such as axis and size, and the pauses (see `labeler.studies.screen.timing`).
    view: Mapping[str, Any] = field(default_factory=dict)
    # The confidence, from 1 (a guess) to 3 (certain); None if the study does not ask for it.
    confidence: int | None = None
    flag: bool = False  # whether the reviewer asks the coordinator to look at the item
    comment: str | None = None
    extra: str | None = None  # the extra answer, if the question has one


@dataclass(frozen=True, kw_only=True)
class Label(NewLabel):
    """An answer in the study; a stored answer never changes."""

    assignment_id: int
    created: datetime
    origin: LabelOrigin
    swapped: bool | None = None  # whether the picture had its sides in the other order; None if it has no sides
    session: str | None = None  # the id of the session in which the answer was given; None if unknown


def describe_minutes(minutes: float | None) -> str:
    """Return a time such as "57 min" or "3 h 20 min"; a dash if it is unknown."""
    if minutes is None:
        return "—"
    whole = max(1, round(minutes))
    if whole < 100:
        return f"{whole} min"
    hours, rest = divmod(whole, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def measurement_hash(runs: Sequence[Series]) -> str:
    """Return the SHA-256 hash of the runs of a benchmark.

    The hash covers the lengths of the runs as little-endian int64, followed by the values of all runs in order as
    little-endian float64. The hash is therefore the same on all machines.

    Examples
    --------
    >>> measurement_hash([np.array([1.0, 2.0]), np.array([3.0])])[:16]
    '4359b91aad4e2e11'
    """
    digest = hashlib.sha256(np.array([len(run) for run in runs], dtype="<i8").tobytes())
    for run in runs:
        digest.update(np.ascontiguousarray(run, dtype="<f8").tobytes())
    return digest.hexdigest()


def combined_hash(hashes: Iterable[str]) -> str:
    """Return one hash for a collection of hashes, whose order does not matter."""
    return hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()
