"""The domain of the application as plain values."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Series = NDArray[np.float64]
ALL = -1  # the block of an item that all reviewers label, and of third labels


class Category(StrEnum):
    """The category of an item."""

    SIMILAR = "similar"
    DISSIMILAR = "dissimilar"


class Answer(StrEnum):
    """What a reviewer can do with a task."""

    SIMILAR = "similar"
    DISSIMILAR = "dissimilar"
    NOT_SURE = "not sure"
    WITHDRAWN = "withdrawn"


class Kind(StrEnum):
    """Why an item is assigned to a reviewer; never shown to reviewers. Decisions on split items have no assignee."""

    FRESH = "fresh"
    OVERLAP = "overlap"
    RETEST = "retest"
    THIRD = "third"
    CALIBRATION = "calibration"
    ADJUDICATED = "adjudicated"


class Origin(StrEnum):
    """The origin of an assignment."""

    PLAN = "plan"
    CHANGE = "change"
    IMPORT = "import"


class Role(StrEnum):
    """What a person may do."""

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


@dataclass(frozen=True)
class Item:
    """A benchmark in a study; `n_iterations` is the length of its shortest run.

    An item with `excluded_why` is kept, but no longer labelled or counted.
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
    """How items are shown and what reviewers are asked; fixed once there is an answer.

    Attributes
    ----------
    axis_rule : str
        "levels", "core", "pooled" or "full": the limits of the y axis that an item is first shown with
        (`labeler.screen.binning.axis_limits`).
    min_span : float
        Under "levels" and "core" this axis spans at least this share of the pooled median.
    asks_confidence : bool
        Whether each label needs a confidence from 1 to 3.
    shows_numbers : bool
        Whether the distance of each run's median from the pooled one stands above its panel. It anchors the reviewer.
    instructions : str
        What the coordinator adds to the guide; may be empty.
    varies_pictures : bool
        Whether each assignment has a picture of its own: the runs in another order, the bins shifted, the values moved
        by less than the eye can see. Otherwise every picture of an item has the same bytes.
    """

    axis_rule: str = "levels"
    min_span: float = 0.15
    asks_confidence: bool = False
    shows_numbers: bool = False
    instructions: str = ""
    varies_pictures: bool = True


@dataclass(frozen=True)
class Gate:
    """What a calibration round must reach before the study opens.

    Attributes
    ----------
    on : str
        "reference": every reviewer's agreement with the reference labels; "reviewers": percent agreement between them.
    least : float
        The smallest share that passes, in [0, 1].
    """

    on: str
    least: float


@dataclass(frozen=True)
class Study:
    """The one row about the study itself; plan columns are None while there is no plan.

    A paused study keeps its previous state in `resumes_to`.
    """

    name: str
    question: str
    state: State
    created_utc: str
    protocol: Protocol
    plan_parameters: Mapping[str, Any] | None
    plan_hash: str | None
    resumes_to: State | None = None
    gate: Gate | None = None

    @property
    def phase(self) -> State:
        """The state, or the one before the pause."""
        return self.resumes_to or self.state


@dataclass(frozen=True)
class Person:
    """A reviewer, a coordinator, or both; a paused person can look, but not label."""

    person_id: int
    name: str
    roles: frozenset[Role]
    active: bool
    paused: bool = False


@dataclass(frozen=True)
class Assignment:
    """One line of a plan: who labels what, why, in which block and at which position (from 0)."""

    reviewer: str
    item: str
    kind: Kind
    block: int
    position: int


@dataclass(frozen=True)
class PlanParameters:
    """The parameters of a plan.

    Attributes
    ----------
    seed : int
    per_item : int
        k: how many reviewers label each item, 2 or more.
    overlap : float
        Share of the items that all reviewers label, in [0, 1].
    retest : int
        Requested hidden copies per reviewer.
    paper : bool
        The design of the paper: a random split into as many near-equal parts as there are pairs of reviewers, one
        pair each. `per_item` must be 2, `overlap` and `retest` 0.
    calibration : int
        How many items every reviewer labels before the study; these are not labelled in the study proper.
    """

    seed: int
    per_item: int = 2
    overlap: float = 0.2
    retest: int = 20
    paper: bool = False
    calibration: int = 0


@dataclass(frozen=True)
class Task:
    """An assignment as shown to its reviewer.

    Attributes
    ----------
    revision : int
        The number of answers it already has.
    answer : Answer or None
        The newest answer.
    n_not_sure : int
        How many answers were "not sure".
    """

    assignment_id: int
    item_id: int
    code: str
    revision: int
    answer: Answer | None = None
    n_not_sure: int = 0


@dataclass(frozen=True)
class Submission:
    """An answer as it arrives from the screen.

    Attributes
    ----------
    event_id : str
        Chosen by the screen; the same event may arrive more than once.
    code : str
        The opaque code of the assignment.
    revision : int
        The number of answers that the screen knew.
    dwell_ms : int or None
        Time between the painting of the item and the answer.
    view : mapping
        What was on the screen: axis, toggles, size; and the pauses made (see `labeler.screen.timing`).
    confidence : int or None
        From 1, a guess, to 3, certain; None if the study does not ask.
    flag : bool
        Whether the coordinator should look at the item.
    comment : str or None
    """

    event_id: str
    code: str
    revision: int
    answer: Answer
    dwell_ms: int | None = None
    view: Mapping[str, Any] = field(default_factory=dict)
    confidence: int | None = None
    flag: bool = False
    comment: str | None = None


@dataclass(frozen=True)
class Label:
    """A stored answer: one row, never changed."""

    assignment_id: int
    revision: int
    event_id: str
    answer: Answer
    created: datetime
    dwell_ms: int | None = None
    view: Mapping[str, Any] = field(default_factory=dict)
    confidence: int | None = None
    flag: bool = False
    comment: str | None = None


@dataclass(frozen=True)
class StoredVerdict:
    """A stored verdict: the fields of `analysis.classifiers.Verdict`, with the item and the hash of its measurements.

    `reason` says why there is no verdict.
    """

    item_id: int
    data_hash: str
    classifier: str
    verdict: Category | None
    score: float | None = None
    threshold: float | None = None
    reason: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    means: Mapping[str, float] = field(default_factory=dict)
    clusters: tuple[int, ...] = ()
    pairs: Mapping[str, Series] = field(default_factory=dict)
    linkage: Series | None = None
    n_runs: int = 0
    n_iterations: int = 0
    n_left_out: int = 0
    version: int = 1


def is_storable(text: str) -> bool:
    """Whether a database can store a text: it has no NUL and no lone surrogate, which a browser may send."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def measurement_hash(runs: Sequence[Series]) -> str:
    """SHA-256 over the runs of one benchmark: their lengths first, then their values in run order.

    Lengths as little-endian int64, values as little-endian float64: the same on every machine.

    Parameters
    ----------
    runs : sequence of ndarray of float, each of shape (n_iterations,)

    Returns
    -------
    str
        64 hexadecimal digits.

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
    """One hash of many, independent of their order."""
    return hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()
