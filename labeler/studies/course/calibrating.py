"""Manage the calibration round before a study: items, reference labels, required agreement (the gate), and result.

The labels of this round are not part of any result of the study.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.text import percent
from labeler.errors import InputError, NotAllowed, Refused
from labeler.files.formats.label_reading import STANDARD, LabelReading
from labeler.files.formats.source import Source
from labeler.studies.cache import until_changed
from labeler.studies.items.browsing import item_named
from labeler.studies.model import CalibrationGate, Kind
from labeler.studies.people import identity
from labeler.studies.plan.design import MIN_ITEMS_LEFT, reserved_items
from labeler.studies.plan.lifecycle import Action, require
from labeler.studies.preparing import assigning
from labeler.studies.store import Database, actions, assignments, decisions, events, items, labels, people, studies

if TYPE_CHECKING:
    import pandas as pd

    from analysis.statistics.intervals import Estimate

ON = {"reference": "agreement with the reference labels", "reviewers": "agreement between the reviewers"}


@dataclass(frozen=True)
class ReviewerCalibration:
    """The progress and result of one reviewer in the calibration round.

    `with_reference` is the share of the reviewer's labels that equal the reference label of the item.
    """

    reviewer: str
    n_assigned: int
    n_done: int
    with_reference: "Estimate"


@dataclass(frozen=True)
class CalibrationResult:
    """The result of a calibration round."""

    n_items: int  # the number of items in the round, and the number of these items that have a reference label
    n_reference: int
    reviewers: tuple[ReviewerCalibration, ...]  # the active reviewers
    percent: "Estimate"  # percent agreement and kappa between the reviewers
    kappa: "Estimate"
    gate: CalibrationGate | None
    # What still has to happen before the study can be opened, as texts: labels that are missing, and agreement that is
    # not reached.
    unfinished: tuple[str, ...]
    below: tuple[str, ...]

    @property
    def not_passed(self) -> tuple[str, ...]:
        """All that still has to happen; empty if nothing is missing."""
        return self.unfinished + self.below

    def json_values(self) -> dict[str, Any]:
        """Return the result as values that can be written as JSON."""
        values = asdict(self)
        del values["unfinished"], values["below"]
        return {**values, "not_passed": self.not_passed, "passed": not self.not_passed}


@until_changed
def result(db: Database, *, level: float = 0.95) -> CalibrationResult:
    """Return the current result of the newest calibration round; excluded items are left out.

    `level` is the confidence level of the intervals.
    """
    import pandas as pd  # imported here, as below, because most callers need no statistics

    from analysis.raters.agreement import fleiss_kappa, percent_agreement
    from analysis.raters.tables import Counts, count_table

    planned = assignments.everything(db, Kind.CALIBRATION)
    counting = {item.name for item in items.included(db)} & set(item_names(db))
    rows = [row.assignment for row in planned if not row.ended and row.assignment.item in counting]
    study = studies.get(db)
    gate, categories = study.gate, study.question.classes
    n_assigned = pd.Series([row.reviewer for row in rows], dtype=object).value_counts()
    first = first_labels(db) if planned else pd.DataFrame(columns=["item", "rater", "category"])
    first = first[first["item"].isin(counting)]
    reference = {name: category for name, category in decisions.reference_labels(db).items() if name in counting}
    active = [person.name for person in people.reviewers(db) if person.active]
    by_reviewer = tuple(
        ReviewerCalibration(
            name,
            int(n_assigned.get(name, 0)),
            int((first["rater"] == name).sum()),
            _shared(first, name, reference, level),
        )
        for name in active
    )
    counts = count_table(first, categories) if len(first) else pd.DataFrame([[0] * len(categories)])
    percent, kappa = (function(Counts(counts), level=level) for function in (percent_agreement, fleiss_kappa))
    names = {row.item for row in rows}
    return CalibrationResult(
        len(names), len(names & set(reference)), by_reviewer, percent, kappa, gate,
        tuple(_unfinished(by_reviewer)), tuple(_below(gate, by_reviewer, percent)),
    )  # fmt: skip


def first_labels(db: Database) -> "pd.DataFrame":
    """Return the first labels of the calibration round as a table with the columns item, rater and category."""
    from analysis.raters.tables import first_of, with_defaults

    first = first_of(with_defaults(labels.classes(db)), studies.get(db).question.classes)
    return first.loc[first["kind"] == Kind.CALIBRATION, ["item", "rater", "category"]]


def set_gate(db: Database, gate: CalibrationGate | None, *, actor: str, now: datetime) -> None:
    """Set the gate, which is the agreement that reviewers must reach in the round.

    If the gate is None, the reviewers only have to finish the round. Raises InputError if the gate is unknown, or the
    share is not from 0 to 1. Raises NotAllowed if the round is over, or reviewers have already answered.
    """
    if gate is not None and (gate.on not in ON or not 0 <= gate.least <= 1):
        raise InputError(
            f"The required agreement must be a share from 0 to 1 for {' or '.join(ON)}, not {gate.least} for "
            f"{gate.on!r}."
        )
    with events.by(db, actor, now) as deed:
        require(studies.get(db), Action.CALIBRATE)
        if labels.n_labels(db):
            raise NotAllowed("The calibration round has begun, so the required agreement can no longer be changed.")
        studies.set_gate(db, gate)
        deed.log(actions.SET_GATE, **({} if gate is None else asdict(gate)))


def set_reference(db: Database, reference: Mapping[str, str], *, actor: str, now: datetime) -> None:
    """Store reference labels of calibration items, as item name -> category.

    Raises InputError if an item is not in the study. Then no label is stored. Raises NotAllowed if the round is over,
    or a reviewer has labelled an item of the round.
    """
    with events.by(db, actor, now) as deed:
        require(studies.get(db), Action.CALIBRATE)
        if has_begun(db):
            raise NotAllowed("The calibration round has begun, so reference labels can no longer be changed.")
        for name, category in reference.items():
            decisions.put_reference_label(db, item_named(db, name).item_id, category)
        deed.log(actions.SET_REFERENCE_LABELS, items=len(reference), seal=decisions.seal_of_reference(db))


def has_begun(db: Database) -> bool:
    """Return whether a reviewer has answered an item of the newest calibration round."""
    wanted = set(item_names(db))
    return any(item in wanted and kind is Kind.CALIBRATION for (_, item, kind), _ in assigning.answer_history(db).marks)


def decide_reference(db: Database, name: str, category: str, *, actor: str, now: datetime) -> None:
    """Store the reference label that a coordinator chose in the browser for one calibration item.

    Raises NotAllowed if the round is over, or the coordinator may not see the calibration now. Raises InputError if the
    item is not in the round.
    """
    identity.require_visible(db, actor, Action.SEE_CALIBRATION)
    if name not in item_names(db):
        raise InputError(f"Item {name[:60]!r} is not in the calibration round. Reload the page to continue.")
    if reference(db).get(name) != category:
        set_reference(db, {name: category}, actor=actor, now=now)


def n_in_second_round(db: Database) -> int:
    """Return how many items a second calibration round would have; 0 if too few other items are left."""
    return len(_others(db))


def choose_items(db: Database, names: Sequence[str], *, actor: str, now: datetime) -> None:
    """Let these items be the first calibration items of the next plan, or of a second round; no names undo the choice.

    Raises InputError if an item cannot be labelled, and NotAllowed if the calibration is over.
    """
    with events.by(db, actor, now) as deed:
        require(studies.get(db), Action.CALIBRATE)
        chosen = list(dict.fromkeys(names))
        measured = {item.name for item in items.included(db, measured=True)}
        for name in chosen:
            if item_named(db, name).name not in measured:
                raise InputError(f"Item {name!r} is excluded or has no measurements, so nobody could label it.")
        if len(chosen) > len(measured) - MIN_ITEMS_LEFT:
            raise InputError(
                f"{len(chosen)} of {len(measured)} items are too many: the study itself needs at least "
                f"{MIN_ITEMS_LEFT}."
            )
        deed.log(actions.CHOOSE_CALIBRATION_ITEMS, items=chosen)


def begin_second_round(db: Database, *, actor: str, now: datetime) -> int:
    """Start another calibration round with other items, and return their number.

    The items leave the rest of the plan. Raises NotAllowed if the study is not in its calibration round, reviewers
    still have calibration items to label, or no other items are left.
    """
    with events.by(db, actor, now) as deed:
        require(studies.get(db), Action.CALIBRATE)
        unfinished = result(db).unfinished
        if unfinished:
            raise NotAllowed(f"The calibration round is not finished: {'; '.join(unfinished)}.")
        names, reviewers = _others(db), sorted(person.name for person in people.reviewers(db) if person.active)
        if not names:
            raise NotAllowed("There are no other items for a second calibration round.")
        before = assigning.active_plan(db)
        after = before.calibrated_again(names, reviewers)
        assigning.update_assignments(db, before, after, now=now)
        deed.log(
            actions.CALIBRATE_AGAIN, items=names, reviewers=reviewers,
            answers=labels.n_labels(db), offered=before.n_bound, hash=after.hash,
        )  # fmt: skip
    return len(names)


def _others(db: Database) -> list[str]:
    """Return the items of the next calibration round, as many as in the first round if there are enough."""
    planned = [row.assignment for row in assignments.everything(db) if not row.ended]
    used = {assignment.item for assignment in planned if assignment.kind is Kind.CALIBRATION}
    waiting = {assignment.item for assignment in planned} - used
    left = {item.name: item.application for item in items.included(db) if item.name in waiting}
    n_items = min(int((studies.get(db).plan_parameters or {}).get("calibration", 0)), len(left) - MIN_ITEMS_LEFT)
    chosen = assigning.chosen_for_calibration(db)
    return sorted(reserved_items(left, n_items, assigning.seed_of(db), chosen)) if n_items > 0 else []


def disputed(db: Database) -> list[tuple[str, dict[str, int]]]:
    """Return the calibration items that people judged differently, each with its number of labels per category.

    The most disputed items come first. The caller must make sure that the person who sees the result may see it.
    """
    wanted, categories = set(item_names(db)), studies.get(db).question.classes
    counts: dict[str, dict[str, int]] = {}
    for name, _, category in first_labels(db).itertuples(index=False, name=None):
        if name in wanted:
            counts.setdefault(name, dict.fromkeys(categories, 0))[category] += 1
    split = [(name, of_item) for name, of_item in counts.items() if sum(map(bool, of_item.values())) > 1]
    return sorted(split, key=lambda row: (-min(row[1].values()), row[0]))


def share_with_others(db: Database, reviewer: str) -> float | None:
    """Return the share of other reviewers' labels that equal this reviewer's label of the same item.

    Return None if no other reviewer has labelled an item that this reviewer labelled.
    """
    first = first_labels(db)
    first = first[~first["item"].isin(items.excluded(db))]
    own = dict(first.loc[first["rater"] == reviewer, ["item", "category"]].to_numpy().tolist())
    other_labels = first[(first["rater"] != reviewer) & first["item"].isin(own)]
    equal = [
        own[item] == category for item, category in zip(other_labels["item"], other_labels["category"], strict=True)
    ]
    return sum(equal) / len(equal) if equal else None


def reference(db: Database) -> dict[str, str]:
    """Return the reference labels by item name."""
    return dict(decisions.reference_labels(db))


def outcome(result: CalibrationResult) -> str:
    """Return a sentence that says whether the reviewers passed the round, or what is missing.

    The sentence says "Passed" only if labels were compared.
    """
    if not any(reviewer.n_done for reviewer in result.reviewers):
        return "No reviewer has labelled a calibration item yet."
    if result.not_passed:
        return f"Not passed: {'; '.join(result.not_passed)}."
    if result.gate is None:
        return "All reviewers have finished. The study requires no minimum agreement, so nothing was compared."
    return "Passed."


def item_names(db: Database) -> list[str]:
    """Return the names of the items in the newest calibration round, sorted."""
    again = events.of_actions(db, [actions.CALIBRATE_AGAIN])
    if again:
        return list(again[-1].details["items"])
    return sorted({row.assignment.item for row in assignments.everything(db, Kind.CALIBRATION)})


def describe_share(share: "Estimate") -> str:
    """Return a share or kappa with its interval as text; if the value is unknown, return the reason."""
    if share.value is None:
        return share.reason or "unknown"
    from analysis.document import number

    ends = share.ends
    return number(share.value, 2) + (f" ({number(ends[1], 2)} to {number(ends[2], 2)})" if ends else "")


def read_reference(
    path: Path,
    categories: Sequence[str],
    reading: LabelReading = STANDARD,
    *,
    say: Callable[[str], None] = lambda _note: None,
) -> dict[str, str]:
    """Read reference labels from a table with the columns item and label; return item name -> category.

    Raises Refused if it is no such table, or a label is invalid. `say` is called with what was taken as missing, joined
    or counted once.
    """
    source = Source(str(path), path)
    from labeler.files.formats.label_tables import read_label_table  # loads pandas

    read = read_label_table(source, reading, declared=categories, one_reviewer="the reference", say=say)
    for line, label in read.frame["label"].items():
        if label not in categories:
            why = f"{label!r} is not a label. Use one of: {', '.join(categories)}"
            raise Refused(source.name, why, f"{read.place} {line}")
    return dict(zip(read.frame["item"], read.frame["label"], strict=True))


def _shared(first: "pd.DataFrame", name: str, reference: Mapping[str, str], level: float) -> "Estimate":
    from analysis.statistics.intervals import wilson

    own = first[(first["rater"] == name) & first["item"].isin(reference)]
    n_equal = sum(reference[item] == category for item, category in zip(own["item"], own["category"], strict=True))
    return wilson(n_equal, len(own), level)


def _unfinished(by_reviewer: tuple[ReviewerCalibration, ...]) -> list[str]:
    return [
        f"{reviewer.reviewer} labelled {reviewer.n_done} of {reviewer.n_assigned} items"
        for reviewer in by_reviewer
        if reviewer.n_done < reviewer.n_assigned
    ]


def _below(
    gate: CalibrationGate | None, by_reviewer: tuple[ReviewerCalibration, ...], between: "Estimate"
) -> list[str]:
    """Return a text for each share that is below the required agreement."""
    if gate is None:
        return []
    shares = {f"{ON['reference']} of {reviewer.reviewer}": reviewer.with_reference for reviewer in by_reviewer}
    if gate.on == "reviewers":
        shares = {ON["reviewers"]: between}
    return [
        f"{name} is {'unknown' if share.value is None else percent(share.value)}, but must be at least "
        f"{percent(gate.least)}"
        for name, share in shares.items()
        if share.value is None or share.value < gate.least
    ]
