"""Merge the answers from a copy of a study into the study.

An assignment has the same random code in all copies of a study, so codes show which assignments belong together.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from labeler.errors import InputError
from labeler.model import Kind, Person, Study
from labeler.plan.lifecycle import Action, require
from labeler.store import Database, copies, events, labels, people, studies
from labeler.store.copies import Assigned
from labeler.store.labels import SavedAnswer


@dataclass(frozen=True)
class TimedAnswer:
    """An answer and the time when it was given."""

    answer: str
    created_utc: str


@dataclass(frozen=True)
class Conflict:
    """An answer in the copy that was not merged, because the two files have different answers to its assignment."""

    item: str
    reviewer: str
    kind: Kind
    revision: int  # position among the answers to this assignment, starting at 0
    # The answer that the study has at this position; None if the study has no answer here. Then the copy's answer
    # was left out because an earlier answer differs.
    into: TimedAnswer | None
    other: TimedAnswer  # the answer in the copy

    def json_values(self) -> dict[str, Any]:
        """Return the conflict as a row of a table."""
        return {
            "item": self.item,
            "reviewer": self.reviewer,
            "kind": self.kind.value,
            "revision": self.revision,
            "into": self.into and self.into.answer,
            "into_utc": self.into and self.into.created_utc,
            "from": self.other.answer,
            "from_utc": self.other.created_utc,
        }


@dataclass(frozen=True)
class MergeResult:
    """The result of a merge: numbers of answers, and conflicts."""

    n_new: int
    n_already_there: int
    conflicts: tuple[Conflict, ...]


@dataclass(frozen=True)
class _Contents:
    """The contents of a study file that a merge compares, read at one moment."""

    path: Path
    study: Study
    people: Sequence[Person]
    assigned: Mapping[str, Assigned]
    answers: Sequence[SavedAnswer]


def merge(db: Database, source: Path, *, actor: str, now: datetime) -> MergeResult:
    """Add the answers that a copy has and the study lacks.

    If the same copy is merged again, nothing is added. The same answer given at another time is the same answer.

    For each assignment, either all missing answers are added, or none. If the two files have different answers to an
    assignment, the study keeps its own answers, and the answers of the copy are listed as conflicts. The answers are
    added in order of time, but the answers of a reviewer keep the order that they have in the copy. Raises InputError
    if the file is not a copy of this study, or if people, plan or protocol differ. Then nothing is merged. Raises
    NotAllowed if the study is unblinded. Raises StudyError if the copy cannot be read, or was last opened by an older
    version of labeler.

    The copy is not changed.
    """
    if source.exists() and source.samefile(db.path):
        raise InputError(f"{source} is this study itself. Choose a copy in which people have labelled.")
    with copies.read_only(source) as opened:
        theirs = _contents(opened)
    with events.by(db, actor, now) as deed:
        require(studies.get(db), Action.ADD_LABELS)
        ours = _contents(db)
        _check_same_study(ours, theirs)
        new, n_already_there, conflicts = _compared(ours.answers, theirs.answers)
        merged = MergeResult(len(new), n_already_there, tuple(conflicts))
        for answer in _in_order(new, theirs.answers):
            assignment_id = ours.assigned[answer.code].assignment_id
            labels.add(db, replace(answer.label, assignment_id=assignment_id), answer.source_key)
        counts = {"new": len(new), "already_there": n_already_there, "conflicts": len(conflicts)}
        deed.log("merge labels", file=source.name, **counts)
    return merged


def _contents(db: Database) -> _Contents:
    return _Contents(db.path, studies.get(db), people.all_people(db), copies.assigned(db), labels.saved(db))


def _check_same_study(ours: _Contents, theirs: _Contents) -> None:
    if ours.study.plan_hash != theirs.study.plan_hash:
        raise InputError(f"{theirs.path} is not a copy of {ours.path}: the plans differ. Nothing was merged.")
    if not ours.assigned.keys() & theirs.assigned.keys():
        why = "no item has the same code in both" if ours.assigned else "no item is assigned yet"
        raise InputError(f"{theirs.path} cannot be merged into {ours.path}: {why}.")
    differences = [*_of_protocol(ours, theirs), *_of_people(ours, theirs), *_of_assignments(ours, theirs)]
    if differences:
        raise InputError(
            f"{theirs.path} cannot be merged into {ours.path}: {'; '.join(differences)}. Nothing was merged."
        )


def _of_protocol(ours: _Contents, theirs: _Contents) -> list[str]:
    here, there = ({"question": s.study.question.text, **asdict(s.study.protocol)} for s in (ours, theirs))
    return [
        f"{name} is {value!r} in the study and {there[name]!r} in the copy"
        for name, value in here.items()
        if value != there[name]
    ]


def _of_people(ours: _Contents, theirs: _Contents) -> list[str]:
    """Return a text for each person who differs between the copy and the study.

    Changes that were made only in the study do no harm, so they are not listed.
    """
    by_name = {person.name: person for person in ours.people}
    differences = []
    for person in theirs.people:
        own_person = by_name.get(person.name)
        if own_person is None:
            differences.append(f"{person.name} is in the copy, but not in the study")
        elif person.roles - own_person.roles:
            differences.append(
                f"{person.name} is {' and '.join(sorted(person.roles - own_person.roles))} in the copy, but not in the "
                "study"
            )
        elif own_person.active and not person.active:
            differences.append(f"{person.name} has left the copy, but still takes part in the study")
    return differences


def _of_assignments(ours: _Contents, theirs: _Contents) -> list[str]:
    """Return a text for each kind of difference between the assignments of the copy and the study, with one example.

    Changes that were made only in the study do no harm, so they are not listed.
    """
    differences = []
    unknown = sorted(theirs.assigned.keys() - ours.assigned.keys())
    if unknown:
        example = theirs.assigned[unknown[0]]
        more = f", one of {len(unknown)} such assignments" if len(unknown) > 1 else ""
        differences.append(f"{example.item} ({example.kind}) is assigned to {example.reviewer} only in the copy{more}")
    for code in sorted(ours.assigned.keys() & theirs.assigned.keys()):
        here, there = ours.assigned[code], theirs.assigned[code]
        if here != replace(there, assignment_id=here.assignment_id):
            differences.append(
                f"the code {code} stands for {here.item} ({here.kind}) of {here.reviewer} in the study, and for "
                f"{there.item} ({there.kind}) of {there.reviewer} in the copy, or the item was measured again"
            )
            break
    return differences


def _compared(
    ours: Sequence[SavedAnswer], theirs: Sequence[SavedAnswer]
) -> tuple[list[SavedAnswer], int, list[Conflict]]:
    """Return the answers to add, the number of answers that the study already has, and the conflicts."""
    by_mark = {answer.mark: answer for answer in ours}
    by_place = {(answer.code, answer.label.revision): answer for answer in ours}
    n_here: dict[str, int] = defaultdict(int)
    unknown: dict[str, list[SavedAnswer]] = defaultdict(list)
    for answer in ours:
        n_here[answer.code] += 1
    for answer in sorted(theirs, key=lambda answer: answer.label.revision):
        own_answer = by_mark.get(answer.mark)
        if own_answer is None and answer.code not in unknown:  # after a difference, equal answers have another meaning
            own_answer = by_place.get((answer.code, answer.label.revision))
        if own_answer is None or _meaning(own_answer) != _meaning(answer):
            unknown[answer.code].append(answer)
    new, conflicts = [], []
    for code, answers in unknown.items():
        follow_on = [answer.label.revision for answer in answers] == list(
            range(n_here[code], n_here[code] + len(answers))
        )
        if follow_on and not any(answer.mark in by_mark for answer in answers):
            new += answers
        else:
            conflicts += [_conflict(answer, by_place, by_mark) for answer in answers]
    return new, len(theirs) - sum(map(len, unknown.values())), conflicts


def _meaning(answer: SavedAnswer) -> tuple[str, int, str]:
    """Return the properties of an answer that must be equal if two stored answers are the same answer.

    The time is not one of them: a reviewer who labels in both files gives the same answer twice.
    """
    return answer.code, answer.label.revision, answer.label.answer


def _conflict(
    answer: SavedAnswer, by_place: Mapping[tuple[str, int], SavedAnswer], by_mark: Mapping[tuple[str, str], SavedAnswer]
) -> Conflict:
    own_answer = by_place.get((answer.code, answer.label.revision)) or by_mark.get(answer.mark)
    return Conflict(
        answer.item,
        answer.reviewer,
        answer.kind,
        answer.label.revision,
        _timed(own_answer) if own_answer else None,
        _timed(answer),
    )


def _timed(answer: SavedAnswer) -> TimedAnswer:
    return TimedAnswer(answer.label.answer, answer.label.created.isoformat())


def _in_order(new: Sequence[SavedAnswer], all_answers: Sequence[SavedAnswer]) -> list[SavedAnswer]:
    """Sort answers by time; the answers of each reviewer keep their order, even if a clock was set back."""
    new_marks = {answer.mark for answer in new}
    latest: dict[str, datetime] = {}
    timed = []
    for place, answer in enumerate(all_answers):
        if answer.mark in new_marks:
            at = max(answer.label.created, latest.get(answer.reviewer, answer.label.created))
            latest[answer.reviewer] = at
            timed.append((at, place, answer))
    return [answer for *_, answer in sorted(timed, key=lambda entry: entry[:2])]
