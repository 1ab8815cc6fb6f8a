"""A plan before it is confirmed: what everyone gets, how long it takes, what to expect and what it will not tell."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from math import comb
from typing import Any

from analysis.consensus import identifiability_of_plan
from analysis.planning import Design, expected, hours, limits, reviewer_groups
from labeler.errors import NotAllowed
from labeler.model import Assignment, Kind, PlanParameters
from labeler.plan.design import MAX_LISTED_BLOCKS, Plan
from labeler.plan.lifecycle import Action, require
from labeler.service.plan import assigning, planning
from labeler.service.plan.planning import Assumptions
from labeler.service.verdicts import background
from labeler.store import Database, assignments, items, labels, people, studies

STANDARD = Assumptions()
MAX_BLOCKS, MAX_ASSIGNMENTS = 300, 10_000  # of a plan that is drawn in a tenth of a second or so
MAX_SETS = 2000  # of reviewers who share items; more tell no more of what can be estimated
_IN_LOADS = (
    "labels a reviewer",
    "hidden copies a reviewer",
    "hours a reviewer",
)  # known of the drawn plan, not only expected


@dataclass(frozen=True)
class Preview:
    """What a plan would be.

    Attributes
    ----------
    plan : Plan
    reviewers : tuple of str
        Everybody who takes part, also who gets nothing.
    seconds : float
        Assumed for one label.
    expectations : tuple of dict
        Rows what, expected, half-width, of the items after the calibration round.
    groups : tuple of tuple of str
        The reviewers that shared items join, directly or over others.
    warnings : tuple of str
        What the plan will not tell, as sentences.
    """

    plan: Plan
    reviewers: tuple[str, ...]
    seconds: float
    expectations: tuple[dict[str, Any], ...]
    groups: tuple[tuple[str, ...], ...]
    warnings: tuple[str, ...]

    @property
    def hash(self) -> str:
        """That of the plan."""
        return self.plan.hash

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """What the plan could not meet, in words."""
        return self.plan.shortfalls

    @property
    def is_connected(self) -> bool:
        """Whether shared items join all reviewers."""
        return len(self.groups) == 1

    @property
    def remarks(self) -> tuple[str, ...]:
        """Whether the reviewers are connected, and what the plan could not meet, as sentences."""
        joined = "all reviewers" if self.is_connected else f"reviewers in {len(self.groups)} groups only"
        return (
            f"Shared items join {joined}, directly or over others.",
            *(f"Not met: {shortfall}." for shortfall in self.shortfalls),
        )

    def rows_of_loads(self) -> list[dict[str, Any]]:
        """One row a reviewer: items of each kind that occurs, in all, and hours."""
        return rows_of(self.plan.loads(), self.reviewers, self.seconds)

    def plain(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {
            "hash": self.hash, "loads": self.rows_of_loads(), "expected": list(self.expectations),
            "remarks": list(self.remarks), "warnings": list(self.warnings),
        }  # fmt: skip


def preview(db: Database, parameters: PlanParameters, assumed: Assumptions = STANDARD) -> Preview:
    """Draw a plan without keeping it, and say what it means.

    Raises
    ------
    InputError
        If there are too few items or reviewers, or a parameter or an assumption makes no sense.
    """
    plan = assigning.preview_plan(db, parameters)
    reviewers = tuple(_reviewers(db))
    applications = {item.name: item.application for item in items.all_items(db)}
    design = _design_of(plan, reviewers, parameters, applications)
    expectations, _ = planning.expected_of(design, assumed)
    shared = sorted(set(_shared(plan)))
    graph = [*shared, *((name,) for name in reviewers)]
    assumptions = {name: value for name, value in asdict(assumed).items() if name != "half_width"}
    unknown = limits(
        design, expected(design, **assumptions), blocks=graph, latent_class=_not_identified(shared, reviewers)
    )
    return Preview(
        plan,
        reviewers,
        assumed.seconds,
        tuple(row for row in expectations if row["what"] not in _IN_LOADS),
        tuple(reviewer_groups(graph)),
        tuple(f"Will not be told: {quantity}." for quantity in unknown),
    )


def preview_for_page(
    db: Database, parameters: PlanParameters, assumed: Assumptions, *, waiting: Callable[[float], object]
) -> dict[str, Any]:
    """What `Preview.plain` gives: of a large plan from a process of its own, which ends with the page that waits.

    Parameters
    ----------
    db, parameters, assumed
        As for `preview`.
    waiting : callable
        As for `background.output_of`.

    Raises
    ------
    InputError
        As `preview`.
    """
    if not _is_large(db, parameters):
        return preview(db, parameters, assumed).plain()
    command = [*_plan_command(db, parameters), "--dry-run", "--seconds", str(assumed.seconds), "--json"]
    return dict(json.loads(background.output_of(command, waiting=waiting)))


def confirm_on_page(
    db: Database, parameters: PlanParameters, *, actor: str, now: datetime, waiting: Callable[[float], object]
) -> None:
    """Keep the plan, as `assigning.confirm_plan`; a large one in a process of its own."""
    if not _is_large(db, parameters):
        assigning.confirm_plan(db, parameters, actor=actor, now=now)
        return
    background.output_of([*_plan_command(db, parameters), "--actor", actor], waiting=waiting)


def _is_large(db: Database, parameters: PlanParameters) -> bool:
    """Whether to draw the plan takes longer than to start a process for it."""
    n_items, n_reviewers, _ = planning.size_of_study(db)
    n_blocks = comb(n_reviewers, parameters.per_item)
    each = parameters.overlap * n_reviewers + (1 - parameters.overlap) * parameters.per_item
    return min(n_blocks, MAX_LISTED_BLOCKS) > MAX_BLOCKS or n_items * each > MAX_ASSIGNMENTS


def _plan_command(db: Database, parameters: PlanParameters) -> list[str]:
    """The command that draws this plan."""
    size = {} if parameters.paper else {
        "--per-item": parameters.per_item, "--overlap": parameters.overlap, "--retest": parameters.retest
    }  # fmt: skip
    options = {"--study": db.path, "--seed": parameters.seed, "--calibration": parameters.calibration, **size}
    texts = [str(text) for option in options.items() for text in option]
    return ["plan", *texts, *(["--paper"] if parameters.paper else [])]


def loads_now(db: Database) -> list[dict[str, Any]]:
    """The loads as they stand after every change, over the items that count: as `Preview.rows_of_loads`."""
    counting = {item.name for item in items.all_items(db) if item.excluded_why is None}
    loads: dict[str, Counter[Kind]] = defaultdict(Counter)
    for row in assignments.everything(db):
        if not row.ended and row.assignment.item in counting:
            loads[row.assignment.reviewer][row.assignment.kind] += 1
    return rows_of(loads, sorted({*loads, *_reviewers(db)}))


def why_fixed(db: Database) -> str:
    """Why no plan can be drawn now; empty if one can."""
    if labels.n_labels(db):
        return "Somebody has answered: the plan stands. Who joins or leaves changes it on the page People."
    try:
        require(studies.get(db), Action.PLAN)
    except NotAllowed as error:
        return str(error)
    return ""


def rows_of(
    loads: Mapping[str, Mapping[Kind, int]], reviewers: Iterable[str], seconds: float | None = None
) -> list[dict[str, Any]]:
    """One row a reviewer: items of each kind that occurs, in all, and hours if `seconds` are given."""
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
    """The plan as it was drawn, without its calibration round; of copies, what the reviewer with fewest has."""
    proper = {assignment.item for assignment in _proper(plan)}
    n_overlap = len({assignment.item for assignment in _proper(plan) if assignment.kind is Kind.OVERLAP})
    loads = plan.loads()
    n_copies = min(loads[name][Kind.RETEST] if name in loads else 0 for name in reviewers)
    n_applications = len({applications[item] for item in proper} - {""})
    return planning.design(
        len(proper), len(reviewers), parameters.per_item, n_overlap / len(proper), n_copies, n_applications or None
    )


def _shared(plan: Plan) -> list[tuple[str, ...]]:
    """Who labels each item, in the study proper."""
    seen_by: dict[str, set[str]] = defaultdict(set)
    for assignment in _proper(plan):
        seen_by[assignment.item].add(assignment.reviewer)
    return [tuple(sorted(names)) for names in seen_by.values()]


def _proper(plan: Plan) -> list[Assignment]:
    return [assignment for assignment in plan.assignments if assignment.kind is not Kind.CALIBRATION]


def _not_identified(shared: Sequence[tuple[str, ...]], reviewers: Sequence[str]) -> str | None:
    """Why the latent class model is not identified; it is where everybody labels an item with two others."""
    if {name for names in shared if len(names) >= 3 for name in names} == set(reviewers):
        return None
    result = identifiability_of_plan(shared[:: max(1, len(shared) // max(MAX_SETS, 10 * len(reviewers)))])
    return None if result.identified else result.words


def _reviewers(db: Database) -> list[str]:
    return [person.name for person in people.reviewers(db) if person.active]
