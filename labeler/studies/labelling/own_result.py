"""What a reviewer sees after the study: own labels beside those of the others and of the classifiers.

A reviewer sees this only if the study is unblinded and a coordinator has allowed it for this person. The other
reviewers are Reviewer 1, 2, ..., the one who agrees most first, and items have codes. Only the demo, whose other
reviewers are simulated, shows names and the place among the people.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from labeler.errors import InputError, NotAllowed
from labeler.studies.items import as_seen
from labeler.studies.model import LABELLED_BY_PLAN, Role, State, Task
from labeler.studies.people import identity
from labeler.studies.questions import is_label
from labeler.studies.store import Database, actions, assignments, events, items, labels, people, studies, verdicts

N_DIVIDED = 2  # items to show to a reviewer who never stood alone


@dataclass(frozen=True)
class ComparedItem:
    """An item that the reviewer labelled, with the labels of the others, all in terms of the reviewer's picture."""

    task: Task
    label: str
    others: Mapping[str, int]  # how many of the others gave each label
    name: str = ""  # the benchmark; "" if names are hidden
    change: str = ""  # what is known to have been done to its runs; "" if nothing is known


@dataclass(frozen=True)
class SameLabel:
    """On how many common items another rater gave the same label as the reviewer."""

    rater: str
    n_same: int
    n: int


@dataclass(frozen=True)
class Rank:
    """The place of the reviewer among all people, by the share of items with the label of most others."""

    place: int
    n_people: int
    shared_with: tuple[str, ...]


@dataclass(frozen=True)
class FoundChanges:
    """How many of the items with a known change got the positive label, by whom."""

    category: str
    n: int
    own: int
    # the other people and the classifiers with a label on each of these items; people without names
    reviewers: tuple[int, ...]
    classifiers: Mapping[str, int]


@dataclass(frozen=True)
class OwnResult:
    """The result of one reviewer."""

    items: tuple[ComparedItem, ...]
    n_with_majority: int
    n_with_a_majority: int  # number of items on which the others have a majority
    alone: tuple[ComparedItem, ...]  # items whose label at least two others gave otherwise, and nobody gave the same
    divided: tuple[ComparedItem, ...]  # where the others agree least, if the reviewer never stood alone
    reviewers: tuple[SameLabel, ...]
    classifiers: tuple[SameLabel, ...]
    shares: Mapping[str, tuple[float, float]]  # label -> share of the reviewer's labels, and of the others' labels
    changes: FoundChanges | None  # None if no change is known, or the question has no positive category
    place: Rank | None  # None if names are hidden


def is_open(db: Database, person_id: int) -> bool:
    """Return whether reviewers may see their own results now."""
    person = people.by_id(db, person_id)
    return person is not None and studies.get(db).phase is State.UNBLINDED and is_allowed(db, person.name)


def is_allowed(db: Database, name: str) -> bool:
    """Return whether a coordinator allowed this reviewer to see the reviewer's result once the study is unblinded."""
    latest = ""
    for event in events.of_actions(db, [actions.ALLOW_OWN_RESULT, actions.WITHDRAW_OWN_RESULT]):
        if event.details["reviewer"] == name:
            latest = event.action
    return latest == actions.ALLOW_OWN_RESULT.name


def allow(db: Database, name: str, allowed: bool, *, actor: str, now: datetime) -> None:
    """Allow a reviewer to see the reviewer's result once the study is unblinded, or withdraw this.

    Raises InputError if there is no such reviewer.
    """
    with events.by(db, actor, now) as deed:
        person = people.by_name(db, name)
        if person is None or Role.REVIEWER not in person.roles:
            raise InputError(f"There is no reviewer called {name} in this study.")
        if is_allowed(db, person.name) != allowed:
            deed.log(actions.ALLOW_OWN_RESULT if allowed else actions.WITHDRAW_OWN_RESULT, reviewer=person.name)


def own_result(db: Database, person_id: int, *, with_names: bool = False) -> OwnResult:
    """Compare a reviewer's labels with those of the others and of the classifiers.

    `with_names`: whether the result has names of people and benchmarks, and the place of the reviewer. Raises
    NotAllowed if the study is not unblinded, or nobody has allowed it for this reviewer.
    """
    me = identity.require(db, person_id, Role.REVIEWER)
    if not is_open(db, person_id):
        raise NotAllowed("Your result is not open. A coordinator can open it once the study is unblinded.")
    tasks = {task.item_id: task for task in assignments.tasks_of(db, person_id) if is_label(task.answer)}
    others: dict[int, dict[str, str]] = defaultdict(dict)
    own: dict[int, str] = {}
    for item_id, reviewer, kind, answer in labels.on_items(db, tasks):
        if kind not in LABELLED_BY_PLAN or not is_label(answer):
            continue
        if reviewer == me.name:
            own[item_id] = answer
        else:
            others[item_id][reviewer] = answer
    own_items = {item_id: items.by_id(db, item_id) for item_id in own}
    names = {item_id: item.name for item_id, item in own_items.items()}
    changes = known_changes(db)
    question, secret = studies.get(db).question, studies.picture_secret(db)

    def shown(item_id: int, label: str) -> str:  # in terms of the picture, whose sides may have changed places
        return question.mirrored(label) if as_seen.is_swapped(question, secret, tasks[item_id].code) else label

    compared = tuple(
        ComparedItem(
            tasks[item_id],
            shown(item_id, label),
            Counter(shown(item_id, other) for other in others[item_id].values()),
            own_items[item_id].benchmark if with_names else "",
            changes.get(names[item_id], ""),
        )
        for item_id, label in own.items()
    )
    majorities = [(item.label, _majority(item.others)) for item in compared]
    decided = [(label, majority) for label, majority in majorities if majority is not None]
    alone = tuple(item for item in compared if sum(item.others.values()) >= 2 and not item.others.get(item.label))
    given = Counter(own.values())
    given_by_others = Counter(label for of_item in others.values() for label in of_item.values())
    verdicts_on = _verdicts_on(db, names)
    return OwnResult(
        compared,
        sum(label == majority for label, majority in decided),
        len(decided),
        alone,
        () if alone else tuple(sorted(compared, key=_agreement_of_others)[:N_DIVIDED]),
        _beside_reviewers(own, others, with_names=with_names),
        _beside_classifiers(own, verdicts_on),
        {
            label: (given[label] / max(1, given.total()), given_by_others[label] / max(1, given_by_others.total()))
            for label in sorted(given.keys() | given_by_others.keys())
        },
        _found_changes(
            [item_id for item_id, name in names.items() if changes.get(name)], own, others, verdicts_on,
            question.positive,
        ),
        _place(me.name, own, others) if with_names else None,
    )  # fmt: skip


def known_changes(db: Database) -> dict[str, str]:
    """Return item -> what was done to its runs before they were measured, as the log says."""
    return {
        name: words
        for event in events.of_actions(db, [actions.KNOWN_CHANGES])
        for name, words in event.details.get("benchmarks", {}).items()  # not in a copy without names
    }


def _majority(others: Mapping[str, int]) -> str | None:
    """Return the label that most of the others gave; None if there is a tie or nobody labelled the item."""
    counts = Counter(others).most_common(2)
    if not counts or (len(counts) == 2 and counts[0][1] == counts[1][1]):
        return None
    return counts[0][0]


def _agreement_of_others(item: ComparedItem) -> float:
    n = sum(item.others.values())
    return max(item.others.values()) / n if n else 1.0


def _beside_reviewers(
    own: Mapping[int, str], others: Mapping[int, Mapping[str, str]], *, with_names: bool
) -> tuple[SameLabel, ...]:
    pairs: dict[str, list[bool]] = defaultdict(list)
    for item_id, label in own.items():
        for reviewer, other in others[item_id].items():
            pairs[reviewer].append(label == other)
    found = sorted(pairs.items(), key=lambda row: (-sum(row[1]) / len(row[1]), -len(row[1])))
    return tuple(
        SameLabel(name if with_names else f"Reviewer {i}", sum(same), len(same))
        for i, (name, same) in enumerate(found, start=1)
    )


def _verdicts_on(db: Database, names: Mapping[int, str]) -> dict[str, dict[int, str]]:
    """Return classifier -> item -> verdict."""
    table = verdicts.brief_table(db)
    table = table[table["verdict"].notna()]
    ids = {name: item_id for item_id, name in names.items()}
    rows: Sequence[tuple[Any, ...]] = list(table[["item", "classifier", "verdict"]].itertuples(index=False, name=None))
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for item, classifier, verdict in rows:
        if item in ids:
            found[classifier][ids[item]] = verdict
    return found


def _beside_classifiers(own: Mapping[int, str], verdicts_on: Mapping[str, Mapping[int, str]]) -> tuple[SameLabel, ...]:
    found = [
        SameLabel(classifier, sum(own[item_id] == verdict for item_id, verdict in given.items()), len(given))
        for classifier, given in verdicts_on.items()
    ]
    return tuple(sorted(found, key=lambda row: (-row.n_same / row.n, row.rater)))


def _found_changes(
    changed: Sequence[int],
    own: Mapping[int, str],
    others: Mapping[int, Mapping[str, str]],
    verdicts_on: Mapping[str, Mapping[int, str]],
    positive: str | None,
) -> FoundChanges | None:
    if not changed or positive is None:
        return None
    by_reviewer: dict[str, dict[int, str]] = defaultdict(dict)
    for item_id in changed:
        for reviewer, label in others[item_id].items():
            by_reviewer[reviewer][item_id] = label
    own_n, *_ = _n_found(changed, {"own": own}, positive).values()
    return FoundChanges(
        positive, len(changed), own_n,
        tuple(_n_found(changed, by_reviewer, positive).values()),
        _n_found(changed, verdicts_on, positive),
    )  # fmt: skip


def _n_found(changed: Sequence[int], raters: Mapping[str, Mapping[int, str]], positive: str) -> dict[str, int]:
    """Return rater -> number of changed items with the positive label, for raters with a label on each of them."""
    return {
        rater: sum(given[item_id] == positive for item_id in changed)
        for rater, given in raters.items()
        if all(item_id in given for item_id in changed)
    }


def _place(me: str, own: Mapping[int, str], others: Mapping[int, Mapping[str, str]]) -> Rank | None:
    """Return the place of a reviewer; None if the rest has no majority on any item of this reviewer."""
    same: dict[str, list[bool]] = defaultdict(list)
    for item_id, label in own.items():
        everybody = {**others[item_id], me: label}
        for person, given in everybody.items():
            majority = _majority(Counter(other for name, other in everybody.items() if name != person))
            if majority is not None:
                same[person].append(given == majority)
    if me not in same:
        return None
    shares = {person: sum(found) / len(found) for person, found in same.items()}
    equal = tuple(sorted(person for person, share in shares.items() if share == shares[me] and person != me))
    return Rank(1 + sum(share > shares[me] for share in shares.values()), len(shares), equal)
