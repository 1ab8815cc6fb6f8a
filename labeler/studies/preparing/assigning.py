"""Create and change the plan, which says which reviewer labels which items.

The module also provides the data with which the plan is verified, and tells in a study that is planned in batches which
items were drawn at random: only these are a sample of all items.
"""

import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from labeler.errors import InputError, NotAllowed
from labeler.studies.items import drawing
from labeler.studies.model import ALL, Assignment, ItemRole, Kind, Origin, PlanParameters, Question, State
from labeler.studies.plan.active_plan import ActivePlan, Place, place_of
from labeler.studies.plan.design import Plan, Seed, draw_plan, key, keyed_seed
from labeler.studies.plan.lifecycle import Action, require
from labeler.studies.preparing import attention
from labeler.studies.questions import hash_in_plan
from labeler.studies.store import Database, actions, assignments, events, items, labels, people, studies
from labeler.studies.store.assignments import NewAssignment, StoredAssignment

if TYPE_CHECKING:
    import pandas as pd

CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without 0, O, 1 and I, which look alike
CODE_LENGTH = 6
FirstLabels = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class AnswerHistory:
    """The answers of a study, in the order in which reviewers gave them.

    When the plan changes, the log records how many answers there were. From this number, the state of the plan just
    before the change can be derived again.
    """

    marks: Sequence[tuple[Place, str]]  # the assignment and the answer
    table: "pd.DataFrame"  # the same answers with the columns of the label file
    categories: Sequence[str]  # all labels in the table
    question: Question
    n_points: Callable[[str], int]  # the length of a series in which points are marked

    def until(self, n_answers: int) -> dict[Place, tuple[str, ...]]:
        """Return the answers to each assignment, among the first `n_answers` answers of the study."""
        by_place: dict[Place, list[str]] = defaultdict(list)
        for place, answer in self.marks[:n_answers]:
            by_place[place].append(answer)
        return {place: tuple(answers) for place, answers in by_place.items()}

    def first_labels(self, n_answers: int) -> FirstLabels:
        """Return the first labels among the first `n_answers` answers, as item -> reviewer -> category.

        Labels of assignments that no result uses, such as calibration items, are left out.
        """
        from analysis.raters.tables import counted_labels

        first: dict[str, dict[str, str]] = defaultdict(dict)
        for row in counted_labels(self.table.iloc[:n_answers], self.categories).itertuples():
            first[str(row.item)][str(row.rater)] = str(row.category)
        return first

    def split_and_agreed(self, n_answers: int) -> tuple[list[str], list[str]]:
        """Return the split items and the agreed items, by the first labels among the first `n_answers` answers."""
        from analysis.raters.tables import counted_labels
        from labeler.studies.preparing.outcomes import label_statuses

        counted = counted_labels(self.table.iloc[:n_answers], self.categories)
        found = label_statuses(self.question, counted, self.n_points)
        return [row.item for row in found if row.split_by], [row.item for row in found if row.agreed is not None]

    def labelled(self, n_answers: int) -> frozenset[Place]:
        """Return the assignments that have a first label among the first `n_answers` answers of the study."""
        from analysis.raters.tables import first_of, with_defaults

        first = first_of(with_defaults(self.table.iloc[:n_answers]), self.categories)
        columns = (first[name].tolist() for name in ("rater", "item", "kind"))
        return frozenset((rater, item, Kind(kind)) for rater, item, kind in zip(*columns, strict=True))


def preview_plan(db: Database, parameters: PlanParameters, first: int | None = None) -> Plan:
    """Compute a plan for the study and return it; nothing is stored.

    If `first` is given, the plan has only that number of items, chosen at random. Raises InputError if there are too
    few items or reviewers, or a parameter is invalid.
    """
    drawn_from, asked = _drawn_from(db, parameters.seed, first), hash_in_plan(studies.get(db).question)
    chosen, known = chosen_for_calibration(db), attention.known_answers(db)
    plan = draw_plan(drawn_from, _reviewers(db), parameters, studies.plan_secret(db), asked, chosen, known)
    attention.require_enough(db, plan)
    return plan


def chosen_for_calibration(db: Database) -> list[str]:
    """Return the items that a coordinator chose for the calibration round; empty if the seed chooses all."""
    choices = events.of_actions(db, [actions.CHOOSE_CALIBRATION_ITEMS])
    return list(choices[-1].details["items"]) if choices else []


def confirm_plan(
    db: Database, parameters: PlanParameters, *, first: int | None = None, actor: str, now: datetime
) -> Plan:
    """Create and store the plan, and open the study or the calibration round.

    An existing plan is replaced. If `first` is given, the plan has only that number of items, chosen at random;
    `next_items` can add the other items later. Raises InputError in the same cases as `preview_plan`. Raises NotAllowed
    if reviewers have already answered, or the study is paused or closed.
    """
    with events.by(db, actor, now) as deed:
        require(studies.get(db), Action.PLAN)
        if labels.n_labels(db):
            raise NotAllowed("Reviewers have already answered, so the plan cannot be replaced.")
        plan = preview_plan(db, parameters, first)
        assignments.clear(db)
        attention.store_checks(db, plan, keyed_seed(parameters.seed, studies.plan_secret(db)))
        store_assignments(db, plan.assignments, Origin.PLAN)
        studies.set_plan(db, asdict(parameters), plan.hash)
        studies.set_state(db, State.CALIBRATION if parameters.calibration else State.OPEN)
        asked = {"first": first, "question": plan.question or None, "chosen": chosen_for_calibration(db) or None}
        options = {name: value for name, value in asked.items() if value is not None}
        drawn_from, reviewers = list(_drawn_from(db, parameters.seed, first)), _reviewers(db)
        details: dict[str, Any] = asdict(parameters) | options
        deed.log(actions.DRAW_PLAN, **details, hash=plan.hash, items=drawn_from, reviewers=reviewers)
    return plan


def random_seed() -> int:
    """Return a random seed for a plan.

    The seed is shown and stored, so that the plan can be computed again from the study file.
    """
    return secrets.randbelow(2**31)


def answer_history(db: Database) -> AnswerHistory:
    """Return all answers so far, with the data to derive earlier states of the plan."""
    places = {row.assignment_id: place_of(row.assignment) for row in assignments.everything(db)}
    marks = [(places[assignment_id], answer) for _, assignment_id, answer in labels.marks(db)]
    question, table = studies.get(db).question, labels.table(db, with_checks=True)
    return AnswerHistory(marks, table, question.labels_in(table["label"]), question, n_points_of(db))


def n_points_of(db: Database) -> Callable[[str], int]:
    """Return a function that returns the length of the series of an item; 1 if the item has no measurements."""
    by_name = {item.name: item for item in items.all_items(db, with_checks=True)}
    return lambda name: drawing.n_points(db, by_name[name]) or 1


def active_plan(db: Database) -> ActivePlan:
    """Return the current state of the plan.

    Raises NotAllowed if there is no plan, or its seed was removed when the study was anonymised.
    """
    rows = assignments.everything(db)
    all_items, history = items.all_items(db, with_checks=True), answer_history(db)
    return ActivePlan(
        standing={place_of(row.assignment): row.assignment for row in rows if not row.ended},
        answers=history.until(len(history.marks)),
        applications={item.name: item.application for item in all_items},
        excluded=frozenset(items.excluded(db)),
        imported=imported(rows),
        seed=seed_of(db),
        question=hash_in_plan(studies.get(db).question),
        labelled=history.labelled(len(history.marks)),
        ended={place_of(row.assignment): row.assignment for row in rows if row.ended},
    )


def imported(rows: Sequence[StoredAssignment]) -> frozenset[Place]:
    """Return the places of the assignments whose labels were imported, including ended assignments."""
    return frozenset(place_of(row.assignment) for row in rows if row.origin is Origin.IMPORT)


def seed_of(db: Database) -> Seed:
    """Return the seed of the study's plan, with the secret of the study if it has one.

    Raises NotAllowed if there is no plan or the seed was removed.
    """
    parameters = studies.get(db).plan_parameters
    if parameters is None:
        raise NotAllowed("There is no plan yet. Create it first: labeler plan")
    if "seed" not in parameters:
        raise NotAllowed(
            "The plan cannot be changed or verified, because its seed was removed when this study was anonymised."
        )
    return keyed_seed(int(parameters["seed"]), studies.plan_secret(db))


def update_assignments(db: Database, before: ActivePlan, after: ActivePlan, *, now: datetime) -> None:
    """Update the stored assignments from the state `before` to the state `after` of the plan.

    The caller must have opened a transaction.
    """
    ids = {place_of(row.assignment): row.assignment_id for row in assignments.everything(db)}
    assignments.end(db, (ids[place] for place in before.standing if place not in after.standing), now.isoformat())
    new = [assignment for place, assignment in after.standing.items() if before.standing.get(place) != assignment]
    store_assignments(db, new, Origin.CHANGE)


def store_assignments(db: Database, new: Sequence[Assignment], origin: Origin) -> None:
    """Store assignments; if the study already has an assignment that ended, the assignment becomes active again."""
    person_ids = {person.name: person.person_id for person in people.all_people(db)}
    item_ids = {item.name: item.item_id for item in items.all_items(db, with_checks=True)}
    free = new_codes(len(new), partial(assignments.has_code, db))
    rows = [
        NewAssignment(
            person_ids[assignment.reviewer],
            item_ids[assignment.item],
            assignment.kind,
            None if assignment.block == ALL else assignment.block,
            assignment.position,
            code,
            origin,
        )
        for assignment, code in zip(new, free, strict=True)
    ]
    assignments.add(db, rows)


def _drawn_from(db: Database, seed: int, first: int | None) -> dict[str, str]:
    """Return the items for a plan, as name -> application.

    If `first` is given, return only this number of items, the first in a random order that the seed determines.
    """
    plannable = {item.name: item.application for item in items.included(db, measured=True)}
    if first is None:
        return plannable
    if not 2 <= first <= len(plannable):
        raise InputError(f"The plan can begin with 2 to {len(plannable)} items, not {first}.")
    names = set(random_order(plannable, keyed_seed(seed, studies.plan_secret(db)))[:first])
    return {name: application for name, application in plannable.items() if name in names}


def random_order(names: Iterable[str], seed: Seed) -> list[str]:
    """Return the names in a random order that the seed determines.

    For any n, the first n items are a random sample.
    """
    return sorted(names, key=partial(key, seed, "random order"))


def _reviewers(db: Database) -> list[str]:
    return [person.name for person in people.reviewers(db) if person.active]


def new_code() -> str:
    """Return a random code, under which reviewers see an item.

    It does not depend on the seed of the plan, so nobody can derive a code from the seed and the items.
    """
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


def codes_in_order(n: int) -> list[str]:
    """Return `n` different codes that say nothing, for a copy whose codes must not be those that reviewers saw."""
    return [
        "".join(
            CODE_ALPHABET[number // len(CODE_ALPHABET) ** place % len(CODE_ALPHABET)] for place in range(CODE_LENGTH)
        )
        for number in range(n)
    ]


def new_codes(n: int, is_taken: Callable[[str], bool]) -> list[str]:
    """Return `n` different random codes that are not in use.

    Without this check, equal codes would be likely in a large study: among 30 000 random codes, the chance that two are
    equal is about one in three.
    """
    codes: dict[str, None] = {}
    while len(codes) < n:
        code = new_code()
        if not is_taken(code):
            codes[code] = None
    return list(codes)


@dataclass(frozen=True)
class ItemBatches:
    """The items of a plan that was created in batches: random items, and items chosen because they are informative."""

    # All items in the random order of the plan's seed. Items that were imported into the open study come last, in the
    # order of their imports, so that the order of the others stays.
    order: tuple[str, ...]
    n_original: int  # the number of items that the study had when its plan was drawn; these come first in `order`
    n_random: int  # the first `n_random` items of this order are a random sample of all items
    # For each batch, the new random items and the chosen items. The first batch is the original plan.
    batches: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    by_model: bool = False  # whether a model of the labels chose items, beside the classifiers

    @property
    def planned(self) -> frozenset[str]:
        """The items that are in the plan."""
        return frozenset(name for random, chosen in self.batches for name in (*random, *chosen))

    @property
    def chosen(self) -> frozenset[str]:
        """The items of the plan that are not in the random sample.

        Agreement and the share of dissimilar items do not use the labels of these items.
        """
        return self.planned - frozenset(self.order[: self.n_random])

    @property
    def waiting(self) -> tuple[str, ...]:
        """The items that are not in the plan yet, in random order."""
        planned = self.planned
        return tuple(name for name in self.order if name not in planned)


def item_batches(db: Database) -> ItemBatches | None:
    """Return which items of the plan are random and which were chosen.

    Return None if there is no plan, or if the plan was created for all items at once and none were imported later.
    """
    log = events.of_actions(db, [actions.DRAW_PLAN, actions.NEXT_ITEMS])
    drawn_at = max((n for n, event in enumerate(log) if event.action == actions.DRAW_PLAN.name), default=None)
    if drawn_at is None:
        return None
    details, later = log[drawn_at].details, later_items(db)
    if "first" not in details and not later:
        return None
    seed, added = seed_of(db), {name for of_import in later.values() for name in of_import}
    names = [item.name for item in items.all_items(db) if item.n_runs]
    order = random_order([name for name in names if name not in added], seed)
    n_original = len(order)
    for of_import in later.values():
        order += random_order(of_import, seed)
    batches: list[tuple[Sequence[str], Sequence[str]]] = [(details["items"], ())]
    n_random, by_model = _reach(order, details["items"]), False
    for event in log[drawn_at + 1 :]:
        batches.append((event.details["random"], event.details["chosen"]))
        n_random = int(event.details["n_random"])
        by_model |= bool(event.details["by_model"] and event.details["chosen"])
    return ItemBatches(tuple(order), n_original, n_random, tuple((tuple(a), tuple(b)) for a, b in batches), by_model)


def later_items(db: Database) -> dict[str, list[str]]:
    """Return the items that were imported after the plan was drawn and are still there, by the time of the import.

    An item that was taken back and imported again belongs to its last import.
    """
    imported_at: dict[str, str] | None = None
    for event in events.of_actions(db, [actions.DRAW_PLAN, actions.IMPORT_FILE]):
        if event.action == actions.DRAW_PLAN.name:
            imported_at = {}
        elif imported_at is not None:
            imported_at |= dict.fromkeys(event.details["items"], event.at_utc)
    found: dict[str, list[str]] = defaultdict(list)
    if imported_at:
        for item in items.all_items(db):
            if item.n_runs and item.name in imported_at:
                found[imported_at[item.name]].append(item.name)
    return dict(sorted(found.items()))


def chosen_items(db: Database) -> frozenset[str]:
    """Return the items that were chosen because they are informative.

    Return an empty set if the plan was created for all items at once.
    """
    known = item_batches(db)
    return known.chosen if known else frozenset()


def item_roles(db: Database) -> dict[str, ItemRole]:
    """Return how the results use each item, in order of name."""
    return items.roles(db, chosen_items(db))


def not_counted(db: Database) -> frozenset[str]:
    """Return the names of the items that no result uses, except for learning and weighted estimates."""
    return frozenset(name for name, role in item_roles(db).items() if role is not ItemRole.COUNTED)


def _reach(order: Sequence[str], names: Sequence[str]) -> int:
    """Return the smallest n so that the first n items of the random order include all these items.

    Other items among the first n were excluded when the plan was created.
    """
    wanted = set(names)
    return max((n + 1 for n, name in enumerate(order) if name in wanted), default=0)
