"""Preview a plan before it is stored: loads, hours, expected precision, and limits."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import comb
from typing import Any

from analysis.raters.consensus import identifiability_of_plan
from analysis.raters.planning import Design, expected, hours, limits, reviewer_groups
from labeler.errors import NotAllowed
from labeler.studies import background
from labeler.studies.model import Assignment, Kind, PlanParameters
from labeler.studies.plan.design import MAX_LISTED_BLOCKS, Plan
from labeler.studies.plan.lifecycle import ALLOWED, Action, require
from labeler.studies.preparing import assigning, planning
from labeler.studies.preparing.planning import Assumptions
from labeler.studies.store import Database, assignments, items, labels, people, studies

STANDARD = Assumptions()
CANNOT_ESTIMATE = "This plan cannot estimate: "
MAX_BLOCKS, MAX_ASSIGNMENTS = 300, 10_000  # a plan within these limits takes about 0.1 s to create
MAX_SETS = 2000  # maximum number of reviewer sets to examine; more sets do not change what can be estimated
_IN_LOADS = (
    "labels per reviewer",
    "hidden retests per reviewer",
    "hours per reviewer",
)  # the plan determines these values, so they are not listed as expectations


@dataclass(frozen=True)
class Preview:
    """A plan that is not stored yet, and the consequences that it would have."""

    plan: Plan
    reviewers: tuple[str, ...]  # all active reviewers, including reviewers without items
    seconds: float  # assumed seconds per label
    # Dictionaries with what, expected and half-width, for the items after the calibration round.
    expectations: tuple[dict[str, Any], ...]
    # Groups of reviewers who share items, directly or through other reviewers of the group.
    groups: tuple[tuple[str, ...], ...]
    warnings: tuple[str, ...]  # sentences on what the plan cannot estimate
    replacing: str  # whether the plan can tell that a classifier may replace a reviewer

    @property
    def hash(self) -> str:
        """The hash of the plan."""
        return self.plan.hash

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """The requirements that the plan could not meet, as texts."""
        return self.plan.shortfalls

    @property
    def is_connected(self) -> bool:
        """Whether all reviewers share items, directly or through other reviewers."""
        return len(self.groups) == 1

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences that say whether reviewers are connected, and which requirements the plan could not meet."""
        joined = (
            "Shared items connect all reviewers, directly or through other reviewers."
            if self.is_connected
            else f"Reviewers form {len(self.groups)} groups. No item is shared between two groups."
        )
        return (
            joined,
            *(f"The plan does not meet a requirement: {shortfall}." for shortfall in _joined(self.shortfalls)),
        )

    def rows_of_loads(self) -> list[dict[str, Any]]:
        """Return a row for each reviewer: the number of items of each kind, the total, and the hours of labelling."""
        return rows_of(self.plan.loads(), self.reviewers, self.seconds)

    def json_values(self) -> dict[str, Any]:
        """Return the preview as values that can be written as JSON."""
        return {
            "hash": self.hash, "loads": self.rows_of_loads(), "expected": list(self.expectations),
            "remarks": list(self.remarks), "warnings": list(self.warnings),
            "replacing": self.replacing,
        }  # fmt: skip


def preview(
    db: Database, parameters: PlanParameters, assumed: Assumptions = STANDARD, *, first: int | None = None
) -> Preview:
    """Compute a plan and describe its consequences; nothing is stored.

    If `first` is given, the plan has only that number of items, chosen at random. Raises InputError if there are too
    few items or reviewers, or a parameter or an assumption is invalid.
    """
    plan = assigning.preview_plan(db, parameters, first)
    assumed = assumed.about(studies.get(db).question)
    reviewers = tuple(_reviewers(db))
    applications = {item.name: item.application for item in items.all_items(db)}
    design = _design_of(plan, reviewers, parameters, applications)
    expectations, _ = planning.expected_of(design, assumed)
    shared = sorted(set(_shared(plan)))
    graph = [*shared, *((name,) for name in reviewers)]
    unknown = limits(
        design,
        expected(design, **assumed.of_labels),
        blocks=graph,
        latent_class=_not_identified(shared, reviewers),
        categories=assumed.categories,
    )
    return Preview(
        plan,
        reviewers,
        assumed.seconds,
        tuple(row for row in expectations if row["what"] not in _IN_LOADS),
        tuple(reviewer_groups(graph)),
        tuple(f"{CANNOT_ESTIMATE}{quantity}." for quantity in unknown),
        planning.describe_annotator_test(design, assumed),
    )


def preview_for_page(
    db: Database,
    parameters: PlanParameters,
    assumed: Assumptions,
    *,
    first: int | None = None,
    waiting: Callable[[float], object],
) -> dict[str, Any]:
    """Compute a plan as `preview` does, and return `Preview.json_values`.

    A large plan is computed in a separate process, which is ended if the page stops waiting. Raises InputError in the
    same cases as `preview`.
    """
    if not _is_large(db, parameters):
        return preview(db, parameters, assumed, first=first).json_values()
    options = _plan_options(db, parameters, first)
    text = background.output_of("plan", dry_run=True, seconds=assumed.seconds, json=True, waiting=waiting, **options)
    return dict(json.loads(text))


def confirm_on_page(
    db: Database,
    parameters: PlanParameters,
    *,
    first: int | None = None,
    actor: str,
    now: datetime,
    waiting: Callable[[float], object],
) -> None:
    """Create and store the plan as `assigning.confirm_plan` does; a separate process does this for a large plan."""
    if not _is_large(db, parameters):
        assigning.confirm_plan(db, parameters, first=first, actor=actor, now=now)
        return
    background.output_of("plan", actor=actor, waiting=waiting, **_plan_options(db, parameters, first))


def _is_large(db: Database, parameters: PlanParameters) -> bool:
    """Return whether computing the plan takes longer than starting a separate process."""
    n_items, n_reviewers, _ = planning.size_of_study(db)
    n_blocks = comb(n_reviewers, parameters.per_item)
    each = parameters.overlap * n_reviewers + (1 - parameters.overlap) * parameters.per_item
    return min(n_blocks, MAX_LISTED_BLOCKS) > MAX_BLOCKS or n_items * each > MAX_ASSIGNMENTS


def _plan_options(db: Database, parameters: PlanParameters, first: int | None) -> dict[str, Any]:
    """Return the options of `labeler plan` that create this plan."""
    size = {"paper": True} if parameters.paper else {
        "per_item": parameters.per_item, "overlap": parameters.overlap, "retest": parameters.retest
    }  # fmt: skip
    return {
        "study": db.path, "seed": parameters.seed, "calibration": parameters.calibration,
        "attention": parameters.attention, "first": first, **size
    }  # fmt: skip


def current_loads(db: Database) -> list[dict[str, Any]]:
    """Return the current load of each reviewer, without excluded items, in the form of `Preview.rows_of_loads`."""
    counting = {item.name for item in items.all_items(db, with_checks=True) if item.excluded_why is None}
    loads: dict[str, Counter[Kind]] = defaultdict(Counter)
    for row in assignments.everything(db):
        if not row.ended and row.assignment.item in counting:
            loads[row.assignment.reviewer][row.assignment.kind] += 1
    return rows_of(loads, sorted({*loads, *_reviewers(db)}))


def why_fixed(db: Database) -> str:
    """Return the reason why no plan can be created now; return "" if a plan can be created."""
    if labels.n_labels(db):
        can_change = studies.get(db).phase in ALLOWED[Action.PEOPLE]
        advice = " You can still change reviewers on the People page." if can_change else ""
        return f"The plan can no longer be replaced, because reviewers have answered.{advice}"
    try:
        require(studies.get(db), Action.PLAN)
    except NotAllowed as error:
        return str(error)
    return ""


def rows_of(
    loads: Mapping[str, Mapping[Kind, int]], reviewers: Iterable[str], seconds: float | None = None
) -> list[dict[str, Any]]:
    """Return a row for each reviewer: the number of items of each kind, and the total.

    If `seconds` is given, each row also has the hours of labelling.
    """
    kinds = [kind for kind in Kind if any(load.get(kind) for load in loads.values())]
    table = []
    for name in reviewers:
        load = loads.get(name, {})
        row = {"reviewer": name, **{kind.value: load.get(kind, 0) for kind in kinds}, "in all": sum(load.values())}
        table.append(row if seconds is None else {**row, "hours": round(hours(sum(load.values()), seconds=seconds), 1)})
    return table


def _design_of(
    plan: Plan, reviewers: Sequence[str], parameters: PlanParameters, applications: Mapping[str, str]
) -> Design:
    """Return the design of the plan without the calibration round and attention checks.

    The number of hidden retests in the design is the smallest number that any reviewer has in the plan.
    """
    proper = {assignment.item for assignment in _proper(plan)}
    n_overlap = len({assignment.item for assignment in _proper(plan) if assignment.kind is Kind.OVERLAP})
    loads = plan.loads()
    n_copies = min(loads[name][Kind.RETEST] if name in loads else 0 for name in reviewers)
    n_applications = len({applications[item] for item in proper} - {""})
    return planning.design(
        len(proper), len(reviewers), parameters.per_item, n_overlap / len(proper), n_copies, n_applications or None
    )


def _shared(plan: Plan) -> list[tuple[str, ...]]:
    """Return the reviewers of each item; items of the calibration round and attention checks are left out."""
    seen_by: dict[str, set[str]] = defaultdict(set)
    for assignment in _proper(plan):
        seen_by[assignment.item].add(assignment.reviewer)
    return [tuple(sorted(names)) for names in seen_by.values()]


def _proper(plan: Plan) -> list[Assignment]:
    return [assignment for assignment in plan.assignments if assignment.kind not in (Kind.CALIBRATION, Kind.ATTENTION)]


def _not_identified(shared: Sequence[tuple[str, ...]], reviewers: Sequence[str]) -> str | None:
    """Return the reason why the plan does not identify the latent class model; return None if it does.

    The model is identified if each reviewer shares items with two others.
    """
    if {name for names in shared if len(names) >= 3 for name in names} == set(reviewers):
        return None
    result = identifiability_of_plan(shared[:: max(1, len(shared) // max(MAX_SETS, 10 * len(reviewers)))])
    return None if result.identified else result.words


def _joined(shortfalls: Iterable[str]) -> list[str]:
    """Return the shortfalls; texts that differ only in the reviewer become one text that names all these reviewers."""
    names_of: dict[str, list[str]] = defaultdict(list)
    for shortfall in shortfalls:
        name, _, text = shortfall.rpartition(": ")
        names_of[text].append(name)
    return [f"{', '.join(names)}: {text}" for text, names in names_of.items()]


def _reviewers(db: Database) -> list[str]:
    return [person.name for person in people.reviewers(db) if person.active]
