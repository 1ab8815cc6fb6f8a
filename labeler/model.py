"""The data types of the application: items, people, plans, answers and verdicts."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Series = NDArray[np.float64]
ALL = -1  # the block of third labels, and of items that all reviewers label


class Category(StrEnum):
    """The category of an item."""

    SIMILAR = "similar"
    DISSIMILAR = "dissimilar"


class Answer(StrEnum):
    """An answer that a reviewer can give to a task."""

    SIMILAR = "similar"
    DISSIMILAR = "dissimilar"
    NOT_SURE = "not sure"
    WITHDRAWN = "withdrawn"


class Kind(StrEnum):
    """The reason why an item is assigned to a reviewer.

    Reviewers never see it, and decisions have no reviewer.
    """

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


@dataclass(frozen=True)
class Item:
    """A benchmark in a study.

    `n_iterations` is the length of the shortest run.

    An item with `excluded_why` is kept, but is not labelled and not part of any result.
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
    """The protocol: how items are shown and what reviewers are asked. It cannot change after the first answer.

    Attributes
    ----------
    axis_rule : str
        "levels", "core", "pooled" or "full": the initial limits of the y axis (`labeler.screen.binning.axis_limits`).
    min_span : float
        For "levels" and "core", the axis spans at least this share of the pooled median.
    asks_confidence : bool
        Whether each label needs a confidence from 1 to 3.
    shows_numbers : bool
        Whether each panel shows the distance of its run's median from the pooled median. The numbers influence
        reviewers.
    instructions : str
        Additional text of the coordinator for the guide; may be empty.
    varies_pictures : bool
        Whether each assignment has a different picture: runs in another order, shifted bins, and values shifted by less
        than the eye can see. Otherwise all pictures of an item have the same bytes.
    """

    axis_rule: str = "levels"
    min_span: float = 0.15
    asks_confidence: bool = False
    shows_numbers: bool = False
    instructions: str = ""
    varies_pictures: bool = True


@dataclass(frozen=True)
class Gate:
    """The gate of a calibration round: the agreement that is required before the study opens.

    Attributes
    ----------
    on : str
        "reference": agreement of each reviewer with the reference labels. "reviewers": their percent agreement.
    least : float
        The minimum share, from 0 to 1.
    """

    on: str
    least: float


@dataclass(frozen=True)
class Study:
    """The properties of a study.

    The columns of the plan are None if there is no plan.

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
        """The state, or the previous state if the study is paused."""
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
    """An assignment in a plan: reviewer, item, kind, block, and position from 0."""

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
        k: number of reviewers who label each item, 2 or more.
    overlap : float
        Share of items that all reviewers label, from 0 to 1.
    retest : int
        Requested hidden retests per reviewer.
    paper : bool
        Whether to use the design of the paper: a random split into parts of nearly equal size, one for each pair of
        reviewers. `per_item` must be 2, `overlap` and `retest` 0.
    calibration : int
        Number of items that all reviewers label before the study; these items are not labelled again in the study.
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
        The number of answers so far.
    answer : Answer or None
        The newest answer.
    n_not_sure : int
        The number of "not sure" answers.
    """

    assignment_id: int
    item_id: int
    code: str
    revision: int
    answer: Answer | None = None
    n_not_sure: int = 0


@dataclass(frozen=True)
class Submission:
    """An answer as the screen sends it.

    Attributes
    ----------
    event_id : str
        Chosen by the screen; the same event may arrive more than once.
    code : str
        The opaque code of the assignment.
    revision : int
        The number of answers that the screen knew of.
    dwell_ms : int or None
        Time from painting the item to the answer.
    view : mapping
        The state of the screen (axis, toggles, size), and the pauses (see `labeler.screen.timing`).
    confidence : int or None
        From 1 (a guess) to 3 (certain); None if the study does not ask.
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
    """A stored answer, which never changes."""

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

    `reason` is the reason if there is no verdict.
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
    """Return whether the database can store a text.

    The text must not contain NUL or a lone surrogate; browsers may send both.
    """
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "item"), counted(0, "item"), counted(2, "person", "people")
    ('1 item', '0 items', '2 people')
    """
    return f"{n} {noun if n == 1 else plural or f'{noun}s'}"


def measurement_hash(runs: Sequence[Series]) -> str:
    """Return the SHA-256 of the runs of a benchmark.

    The lengths of the runs are hashed first, then the values in the order of the runs.

    Lengths are little-endian int64 and values little-endian float64, so the hash is the same on all machines.

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
    """Combine hashes into one hash; the order of the hashes does not matter."""
    return hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()
