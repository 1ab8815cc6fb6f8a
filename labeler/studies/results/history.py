"""Collect the history of a study for its report, such as steps, changes of people, and excluded items."""

from collections import Counter
from dataclasses import asdict
from itertools import combinations
from typing import Any

from labeler.studies.course import calibrating, course
from labeler.studies.labelling import inbox
from labeler.studies.model import LABELLED_BY_PLAN, ItemRole, Origin, State
from labeler.studies.plan.active_plan import place_of
from labeler.studies.plan.lifecycle import ALLOWED, Action
from labeler.studies.preparing import assigning
from labeler.studies.results import attention, questionnaires
from labeler.studies.store import Database, actions, assignments, events, items, labels, studies

_DETAILS = ("name", "successor", "why")


def study_course(db: Database, *, level: float = 0.95) -> dict[str, Any]:
    """Return the history of a study as dictionaries, lists, numbers and texts.

    `unblinded`: time, person and reason, or None. `steps` and `people`: all changes with time, person and reason.
    `excluded`: items left out of the results, with the reason. `changed_pairs`: pairs of reviewers who share items
    because one of them replaced another reviewer, with the number of items. `calibration`: the numbers of the
    calibration round, which are not part of other results, or None. `selection`: the labels that enter each result,
    and weighted estimates from random and chosen items, or None if no items were chosen. `not_given`: reviewers and
    items without a label after the end of the study. `flags`: current flags and comments of reviewers, with the code
    under which the reviewer saw the item. `later`: for each import after the plan was drawn, the time, the number of
    items, and how many of them the plan has now. `groups`: the agreement within groups by answers to the questionnaire.
    `attention`: the answers to attention checks of a closed study, or None.
    """
    steps, selection = events.of_actions(db, actions.in_history("steps")), _selection(db, level)
    not_given = _not_given(db)
    people = events.of_actions(db, actions.in_history("people"))
    return {
        "unblinded": course.unblinding(db),
        "steps": [
            {"at_utc": e.at_utc, "step": e.action, "by": e.actor, "why": e.details.get("why", "")} for e in steps
        ],
        "people": [
            {
                "at_utc": e.at_utc,
                "change": e.action,
                "by": e.actor,
                **{name: e.details.get(name) for name in _DETAILS},
            }
            for e in people
        ],
        "excluded": [{"item": name, "why": why} for name, why in items.excluded(db).items()],
        "changed_pairs": _changed_pairs(db),
        "calibration": _calibration(db, level),
        "selection": selection,
        "not_given": not_given,
        "later": _later(db),
        "groups": questionnaires.groups(db, level=level),
        "attention": _attention(db, level),
        "flags": [
            {"item": m.item, "code": m.code, "reviewer": m.reviewer, "flag": m.flag, "comment": m.comment}
            for m in sorted(inbox.messages(db), key=lambda m: (m.item, m.reviewer, m.code))
        ],
    }


def _later(db: Database) -> list[dict[str, Any]]:
    later = assigning.later_items(db)
    known = assigning.item_batches(db) if later else None
    planned = known.planned if known else frozenset[str]()
    return [
        {"at_utc": at_utc, "items": len(names), "planned": len(planned.intersection(names))}
        for at_utc, names in later.items()
    ]


def _changed_pairs(db: Database) -> list[dict[str, Any]]:
    history = assigning.answer_history(db)
    taken_over = {place_of(row.assignment)[:2] for row in assignments.everything(db) if row.origin is Origin.CHANGE}
    left_out = assigning.not_counted(db)
    pairs: Counter[tuple[str, str]] = Counter()
    for item, of_item in history.first_labels(len(history.marks)).items():
        if item in left_out:
            continue
        for a, b in combinations(sorted(of_item), 2):
            pairs[a, b] += (a, item) in taken_over or (b, item) in taken_over
    return [{"a": a, "b": b, "items": n} for (a, b), n in sorted(pairs.items()) if n]


def _not_given(db: Database) -> list[dict[str, str]]:
    """Return the first labels that the plan assigned but nobody gave; return an empty list while reviewers can label.

    An ended assignment is included only if the item has fewer assignments than planned, because then nobody took over
    the assignment.
    """
    if studies.get(db).state not in (State.CLOSED, State.UNBLINDED):
        return []
    answered = {(row.item, row.reviewer) for row in labels.table(db)[["item", "reviewer"]].itertuples(index=False)}
    left_out = assigning.not_counted(db)
    planned: Counter[str] = Counter()
    active: dict[str, set[str]] = {}
    ended: dict[str, set[str]] = {}
    for row in assignments.everything(db):
        item, reviewer = row.assignment.item, row.assignment.reviewer
        if row.assignment.kind not in LABELLED_BY_PLAN or item in left_out:
            continue
        planned[item] += row.origin is Origin.PLAN
        (ended if row.ended and (item, reviewer) not in answered else active).setdefault(item, set()).add(reviewer)
    pairs: list[dict[str, str]] = []
    for item in sorted(planned):
        of_item = active.get(item, set())
        n_dropped = max(planned[item] - len(of_item), 0)
        dropped = sorted(ended.get(item, set()) - of_item)[:n_dropped]
        pairs += [
            {"item": item, "reviewer": reviewer}
            for reviewer in sorted([*of_item, *dropped])
            if (item, reviewer) not in answered
        ]
    return pairs


def _calibration(db: Database, level: float) -> dict[str, Any] | None:
    result = calibrating.result(db, level=level)
    return result.json_values() if result.n_items else None


def _attention(db: Database, level: float) -> dict[str, Any] | None:
    if studies.get(db).phase not in ALLOWED[Action.SEE_ATTENTION]:
        return None
    result = attention.checks(db, level=level)
    return asdict(result) if result.answers else None


def _selection(db: Database, level: float) -> dict[str, Any] | None:
    """Return how many labels random and chosen items have, and estimates that use both kinds of items.

    Return None if no items were chosen.
    """
    known = assigning.item_batches(db)
    if known is None or not known.chosen:
        return None
    from analysis.learning import weighted_estimates
    from analysis.raters.tables import count_table, counted_labels

    left_out = {name for name, role in items.roles(db).items() if role is not ItemRole.COUNTED}
    question = studies.get(db).question
    first = counted_labels(labels.classes(db), question.classes)
    counts = count_table(first[~first["item"].isin(left_out)], question.classes)
    left_out |= set(known.order[known.n_original :])  # later items are no part of the population that was sampled
    population = [name for name in known.order if name not in left_out]
    batches = [
        ([name for name in random if name not in left_out], [name for name in chosen if name not in left_out])
        for random, chosen in known.batches
    ]
    at_random = [name for name in population if name in known.planned - known.chosen]
    return {
        "n_population": len(population),
        "n_random": len(at_random),
        "n_random_labels": int(counts.reindex(at_random, fill_value=0).to_numpy().sum()),
        "n_chosen": len(known.chosen - left_out),
        "n_labels": int(counts.to_numpy().sum()),
        "by_model": known.by_model,
        "weighted": asdict(
            weighted_estimates(counts, len(population), batches, positive=question.positive, level=level)
        ),
    }
