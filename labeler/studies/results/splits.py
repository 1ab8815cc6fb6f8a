"""Show the agreement so far, for repeated looks; show split items of a closed study, and store decisions on them.

A decision can come from a picture in the browser, where it may also set a reference label.
A person who labelled a split item cannot make decisions.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

import pandas as pd

from analysis.raters import consensus
from analysis.raters.agreement import agreement_so_far
from analysis.raters.tables import COUNTED_KINDS, counted_labels, first_of, third_labels, with_defaults
from analysis.statistics.intervals import Estimate
from analysis.text import counted, joined
from labeler import marks
from labeler.errors import InputError, NotAllowed
from labeler.studies.cache import until_changed
from labeler.studies.course import calibrating
from labeler.studies.items import as_seen, drawing
from labeler.studies.items.browsing import item_named
from labeler.studies.model import Item, ItemRole, Kind, Question
from labeler.studies.people import identity
from labeler.studies.people.identity import checked_reason
from labeler.studies.plan.lifecycle import Action, require
from labeler.studies.preparing import assigning, mark_consensus
from labeler.studies.preparing.mark_consensus import Cluster, MarksOfItem
from labeler.studies.preparing.outcomes import label_statuses
from labeler.studies.store import Database, actions, assignments, decisions, events, items, labels, studies
from labeler.studies.store.decisions import Decision

_KINDS = {
    Kind.FRESH: "first label", Kind.OVERLAP: "first label", Kind.RETEST: "retest", Kind.THIRD: "third label",
    Kind.CALIBRATION: "calibration",
}  # fmt: skip
_UNREADABLE_DECISION = "The browser sent a decision that cannot be read. Reload the page to continue."


@dataclass(frozen=True)
class SplitLabel:
    """A label as the person who decides sees it, without the name of the reviewer."""

    category: str
    comment: str | None
    is_third: bool
    # What the reviewer saw, as JSON, and whether the picture had the two sides in the other order.
    view: str = field(default="{}", compare=False, repr=False)
    swapped: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True)
class ItemOutcome:
    """What the labels of an item have come to: whether it is split, by which labels, and whether it is settled."""

    item: Item
    # First and third labels, sorted by category and comment, so that their order does not reveal the reviewers.
    labels: tuple[SplitLabel, ...]
    agreed: str | None  # the category of all first labels; None if they differ or there are fewer than two
    split_by: str  # "first labels" if these differ, "third labels" if only these leave no majority, otherwise ""
    # The category of more than half of the first and third labels; None if there is none. Of marks, those of more than
    # half of the people; None if exactly half of the people marked somewhere.
    majority: str | None
    decision: Decision | None  # the current decision; None if nobody has decided
    question: Question
    marks: MarksOfItem | None = None  # if the labels are marks

    @property
    def remains(self) -> bool:
        """Whether a coordinator still has to decide."""
        return bool(self.split_by) and self.majority is None and self.decision is None

    def describe(self) -> str:
        """Return the category, and how it came about if the item is split; "" if there is no category yet."""
        if self.decision is not None:
            return f"{marks.describe(self.decision.category)}, decided"
        if not self.split_by:
            return marks.describe(self.agreed) if self.agreed else ""
        return f"{marks.describe(self.majority)}, majority" if self.majority else "not decided"

    def json_values(self) -> dict[str, Any]:
        """Return the item as a row of a table of split items."""
        classes = [self.question.class_of(label.category) for label in self.labels]
        counts: dict[str, Any] = {name: classes.count(name) for name in self.question.classes}
        if self.marks is not None:
            for name, clusters in (("agreed", self.marks.agreed), ("ties", self.marks.ties), ("lone", self.marks.lone)):
                counts[name] = "; ".join(cluster.describe() for cluster in clusters)
        return {
            "item": self.item.name,
            **counts,
            "third labels": sum(label.is_third for label in self.labels),
            "split by": self.split_by,
            "majority": self.majority,
            "decision": self.decision and self.decision.category,
        }


@until_changed
def outcomes(db: Database) -> Mapping[str, ItemOutcome]:
    """Return the outcome of each item with labels, except excluded items, in order of name.

    This function alone decides for pages, commands and the plan which items are split and which are settled. It counts
    as the report does (`analysis.raters.consensus.outcomes`).
    """
    table, question = _first_and_third(db), studies.get(db).question
    by_name = {item.name: item for item in items.included(db)}
    standing = {decision.item: decision for decision in decisions.everything(db)}
    labels_of: dict[str, list[SplitLabel]] = defaultdict(list)
    columns = (table[name].tolist() for name in ("item", "category", "comment", "kind", "view", "swapped"))
    for name, category, comment, kind, view, swapped in zip(*columns, strict=True):
        labels_of[name].append(SplitLabel(category, comment or None, kind == Kind.THIRD, view, bool(swapped)))
    return {
        row.item: ItemOutcome(
            by_name[row.item], _in_order(labels_of[row.item]), row.agreed, row.split_by, row.majority,
            standing.get(row.item), question, row.marks,
        )
        for row in label_statuses(question, table, assigning.n_points_of(db)) if row.item in by_name
    }  # fmt: skip


def split_items(db: Database) -> tuple[ItemOutcome, ...]:
    """Return all split items except excluded items; the undecided items come first.

    The undecided items and the other items are each sorted by name.
    """
    found = (outcome for outcome in outcomes(db).values() if outcome.split_by)
    return tuple(sorted(found, key=lambda outcome: (not outcome.remains, outcome.item.name)))


def describe_split_items(found: Sequence[ItemOutcome]) -> str:
    """Return the number of split items as text, with the number of those that only third labels split.

    Examples
    --------
    >>> describe_split_items([])
    '0 split items'
    """
    n_third = sum(outcome.split_by == consensus.THIRD_LABELS for outcome in found)
    return f"{counted(len(found), 'split item')}{f' ({n_third} by third labels)' if n_third else ''}"


def labels_on(db: Database, item: Item) -> list[dict[str, Any]]:
    """Return the current answers to an item, with the names of the reviewers.

    The caller must make sure that the person who sees the result may see names.
    """
    rows = [
        {"reviewer": reviewer, "label": answer, "kind": _KINDS.get(Kind(kind), kind), "comment": comment}
        for reviewer, kind, answer, comment, _, _ in labels.on_item(db, item.item_id)
    ]
    decision = next((decision for decision in decisions.everything(db) if decision.item == item.name), None)
    if decision is not None:
        by, why = decision.decided_by, decision.why
        rows.append({"reviewer": by, "label": decision.category, "kind": "decision", "comment": why})
    return rows


def numbers_seen(db: Database, item: Item) -> list[dict[str, str]]:
    """Return the numbers that the runs of an item had on each reviewer's screen, as rows of a table.

    The columns are the runs in the order of the item. Reviewers who saw this order are left out. The caller must make
    sure that the person who sees the result may see names.
    """
    rows = []
    for reviewer, kind, _, _, view, swapped in labels.on_item(db, item.item_id):
        numbers = as_seen.numbers_seen(db, item, as_seen.look_of_answer(item, view, swapped))
        if numbers is not None:
            runs = {f"Run {run}": number for run, number in enumerate(numbers, 1)}
            rows.append({"reviewer": reviewer, "kind": _KINDS.get(Kind(kind), kind), **runs})
    return rows


def describe_labels(db: Database, shown: Sequence[Item]) -> list[str]:
    """Return a text with the first labels and reviewers for each item, such as "S: ada, cleo · D: ben".

    The caller must make sure that the person who sees the result may see names.
    """
    question = studies.get(db).question
    of_item: dict[int, dict[str, list[str]]] = {item.item_id: defaultdict(list) for item in shown}
    for item_id, reviewer, kind, answer in labels.on_items(db, [item.item_id for item in shown]):
        if kind in COUNTED_KINDS and question.is_label(answer):
            of_item[item_id][answer].append(reviewer)
    keys = {category.name: category.key.upper() for category in question.categories}
    return [
        " · ".join(
            f"{keys.get(label) or marks.describe(label)}: {', '.join(of_item[item.item_id][label])}"
            for label in question.labels_in(of_item[item.item_id])
            if label in of_item[item.item_id]
        )
        for item in shown
    ]


def describe_results(db: Database, shown: Sequence[Item]) -> list[str]:
    """Return the category of each item, and how it came about if the item is split; "" if it has none yet.

    The caller must make sure that the person who sees the result may see labels.
    """
    found = outcomes(db)
    return [found[item.name].describe() if item.name in found else "" for item in shown]


def adjudicate(db: Database, name: str, category: str | None, why: str, *, actor: str, now: datetime) -> str:
    """Store a decision on the category of a split item, and return the category.

    Labels do not change. A later decision replaces an earlier decision. Raises InputError if the item does not exist or
    is not split, or the category or the reason is missing. Raises NotAllowed if the study is not closed, or the person
    labelled one of the split items.
    """
    why = checked_reason(why)
    with events.by(db, actor, now) as deed:
        question = studies.get(db).question
        if category is None or not (question.is_marked or question.is_label(category)):
            given = "The decision has no category." if category is None else f"{category!r} is not a category."
            raise InputError(f"{given} Choose {joined(question.labels, 'or')}.")
        require(studies.get(db), Action.ADJUDICATE)
        item = item_named(db, name)
        try:
            category = question.checked_label(category, drawing.n_points(db, item))
        except ValueError as error:
            raise InputError(f"The decision cannot be saved: {error}.") from None
        split = split_items(db)
        if item.name not in {candidate.item.name for candidate in split}:
            raise InputError(f"{item.name} is not a split item, so it needs no decision.")
        reason = why_not_decide(db, actor)
        if reason:
            raise NotAllowed(reason)
        decisions.add(db, item.item_id, Decision(item.name, category, why, actor, deed.at_utc, str(uuid4())))
        deed.log(actions.ADJUDICATE, item=item.name, category=category, why=why)
    return category


def answer_of(split: ItemOutcome, clusters: Iterable[Cluster]) -> str:
    """Return the label that has a mark for each of these clusters."""
    return mark_consensus.answer_of(split.question, clusters)


def why_not_decide(db: Database, name: str) -> str:
    """Return why a person may not make decisions; return "" if the person may.

    A person who labelled one of the split items may not make decisions.
    """
    n_own = _split_items_by_person(db).get(name)
    if not n_own:
        return ""
    return (
        f"You labelled {n_own} of the split items yourself. A person who labelled none of them must decide: "
        "either another coordinator, or the owner of the study file with the command labeler adjudicate."
    )


@until_changed
def _split_items_by_person(db: Database) -> Mapping[str, int]:
    """Return the number of split items that each person labelled."""
    table = _first_and_third(db)
    split = table[table["item"].isin([outcome.item.name for outcome in split_items(db)])]
    return {str(name): int(n) for name, n in split.groupby("rater")["item"].nunique().items()}


def n_complete(db: Database) -> tuple[int, int]:
    """Return how many of the items that count have at least two first labels, and the number of items that count."""
    assigned = {row.assignment.item for row in assignments.everything(db) if row.assignment.kind in COUNTED_KINDS}
    complete = sum(
        found.agreed is not None or found.split_by == consensus.FIRST_LABELS for found in outcomes(db).values()
    )
    return complete, len(assigned - items.excluded(db).keys())


def _first_and_third(db: Database) -> pd.DataFrame:
    """Return the first and third labels, with the columns item, rater, category, kind and comment."""
    answers = labels.table(db)
    first = first_of(with_defaults(answers), studies.get(db).question.labels_in(answers["label"]))
    return pd.concat([first[first["kind"].isin(COUNTED_KINDS)], third_labels(first)])


def _in_order(shown: Iterable[SplitLabel]) -> tuple[SplitLabel, ...]:
    """Return labels sorted by category and comment, so that their order does not reveal the reviewers."""
    return tuple(sorted(shown, key=lambda label: (label.is_third, label.category, label.comment or "")))


@dataclass(frozen=True)
class InterimAgreement:
    """The agreement of the first labels, without excluded and calibration items."""

    # Numbers of items whose first labels are all equal, whose first labels differ, and that have fewer than two
    # first labels.
    n_agreed: int
    n_split: int
    n_incomplete: int
    percent: Estimate  # percent agreement and Fleiss' kappa, with always-valid intervals
    kappa: Estimate
    kappa_once: Estimate  # kappa with the ordinary interval, which is valid for one look at a fixed number of items
    wider: float | None  # how many times as wide the always-valid interval of kappa is
    stop_half_width: float | None  # the stopping rule of the plan
    of_marks: bool = False  # whether percent agreement and kappa compare only whether people marked anything

    def json_values(self) -> dict[str, Any]:
        """Return the summary as values for JSON."""
        values = asdict(self)
        return values if values.pop("of_marks") is False else {**values, "of_marks": True}

    @property
    def sentences(self) -> tuple[str, ...]:
        """Describe agreement so far, the price of looking often, and the stopping rule."""
        lines = [
            f"Items: {self.n_agreed} agreed, {self.n_split} split, {self.n_incomplete} incomplete.",
            *(["Of marks: agreement on whether the series has any mark."] if self.of_marks else []),
            f"Percent agreement: {describe_estimate(self.percent)}",
            f"Fleiss' kappa: {describe_estimate(self.kappa)}",
        ]
        if self.wider is not None:
            wider = f"{self.wider:.1f} times as wide as"
            lines.append(
                "These intervals stay valid however often you look and whenever you stop. The price: the interval of "
                f"kappa is {wider if self.wider >= 1.05 else 'no narrower than'} for a single look after a number of "
                "items fixed in advance."
            )
        half = self.kappa.half_width
        if self.stop_half_width is None:
            lines.append("The plan has no stopping rule, so all items are to be labelled.")
        elif half is None:
            lines.append(f"Stopping rule of the plan (kappa within ±{self.stop_half_width:g}): no interval yet.")
        else:
            reached = "reached" if half <= self.stop_half_width else "not reached"
            lines.append(
                f"Stopping rule of the plan (kappa within ±{self.stop_half_width:g}): {reached}; the interval is now "
                f"±{half:.2f}."
            )
        return tuple(lines)


@until_changed
def current_agreement(db: Database) -> InterimAgreement:
    """Return the agreement of the current labels.

    A caller that shows the result must first check with `identity.why_hidden` that the person may see it.
    """
    counting = {name for name, role in assigning.item_roles(db).items() if role is ItemRole.COUNTED}
    question = studies.get(db).question
    categories = question.classes
    first = counted_labels(labels.classes(db), categories)
    first = first[first["item"].isin(counting)]
    so_far = agreement_so_far(first, categories)
    found = [outcome for name, outcome in outcomes(db).items() if name in counting]
    n_agreed = sum(outcome.agreed is not None for outcome in found)
    n_split = sum(outcome.split_by == consensus.FIRST_LABELS for outcome in found)
    return InterimAgreement(
        n_agreed, n_split, len(counting) - n_agreed - n_split, so_far.percent, so_far.kappa, so_far.kappa_once,
        so_far.wider, (studies.get(db).plan_parameters or {}).get("stop_half_width"), question.is_marked,
    )  # fmt: skip


def describe_estimate(estimate: Estimate) -> str:
    """Return a statistic with its 95 % interval as text; if the statistic has no value, return the reason."""
    if estimate.value is None:
        return f"undefined, because {estimate.reason}."
    between = "" if estimate.low is None else f", 95 % interval {estimate.low:.2f} to {estimate.high:.2f}"
    return f"{estimate.value:.2f}{between}."


def save_decision(db: Database, decision: Mapping[str, Any], *, actor: str, now: datetime) -> None:
    """Store a decision, which has a kind, an item, a category, and for a split item a reason.

    The decision comes from a browser, so it may contain anything. Raises InputError if the decision cannot be read, and
    the errors of the function for this kind.
    """
    match decision:
        case {"kind": str(kind), "item": str(item), "category": None | str() as category, "why": str(why)} if (
            kind in DECISION_KINDS and (category is None or studies.get(db).question.is_label(category))
        ):
            DECISION_KINDS[kind](db, item, category, why, actor, now)
        case _:
            raise InputError(_UNREADABLE_DECISION)


def _decide_reference(db: Database, item: str, category: str | None, _why: str, actor: str, now: datetime) -> None:
    if category is None:
        raise InputError(_UNREADABLE_DECISION)
    calibrating.decide_reference(db, item, category, actor=actor, now=now)


def _decide_split(db: Database, item: str, category: str | None, why: str, actor: str, now: datetime) -> None:
    identity.require_visible(db, actor, Action.SEE_AGREEMENT)  # whether an item is split tells labels
    adjudicate(db, item, category, why, actor=actor, now=now)


DECISION_KINDS: Mapping[str, Callable[[Database, str, str | None, str, str, datetime], None]] = {
    "reference": _decide_reference,
    "split": _decide_split,
}
