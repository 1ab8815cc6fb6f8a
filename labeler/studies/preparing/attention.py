"""Make attention checks: hidden items with a known answer, made from items that leave the plan.

An item with a reference label becomes a check as it is. Other items become checks by a known change of their runs.
"""

from collections.abc import Sequence

import numpy as np

from analysis.arrays import Series
from analysis.runs.benchmark import Benchmark
from analysis.text import counted
from labeler.errors import InputError
from labeler.studies.items import drawing
from labeler.studies.model import AttentionCheck, measurement_hash
from labeler.studies.plan.design import Plan, Seed, key
from labeler.studies.questions import Question
from labeler.studies.screen.kinds import CheckRecipe, examples_of, kind_of
from labeler.studies.store import Database, decisions, items, runs, studies


def known_answers(db: Database) -> dict[str, str]:
    """Return the known answers of items that can become attention checks as they are, as item -> answer."""
    return decisions.reference_labels(db)


def changes_of(question: Question) -> Sequence[CheckRecipe]:
    """Return the known changes of a question, which checks get in turn; empty if it has none."""
    examples = examples_of(question)
    return examples.known if examples else ()


def require_enough(db: Database, plan: Plan) -> None:
    """Raise InputError if a check of a plan would have neither a reference label nor a known change."""
    n_known = len(set(plan.checks.values()) & known_answers(db).keys())
    if n_known < len(plan.checks) and not changes_of(studies.get(db).question):
        raise InputError(
            f"The attention checks of this plan need {counted(len(plan.checks), 'reference label')}, because this "
            f"question has no known change of runs, but there {'is' if n_known == 1 else 'are'} {n_known or 'none'}. "
            "Add reference labels of other items first: labeler calibration --reference FILE"
        )


def store_checks(db: Database, plan: Plan, seed: Seed) -> None:
    """Store the attention checks of a plan in place of those of an earlier plan; nobody may have them any more."""
    items.remove(db, [check.name for check in items.attention_checks(db)])
    study, known = studies.get(db), known_answers(db)
    made = iter(range(len(plan.checks)))
    for name, source in plan.checks.items():
        item = items.by_name(db, source)
        if item is None:
            raise LookupError(f"the attention check {name!r} is made from the unknown item {source!r}")
        values: Sequence[Series] = runs.of_item(db, item.item_id)
        conditions, answer = runs.conditions_of_item(db, item.item_id), known.get(source)
        benchmark = Benchmark.of_series(name, values, unit=item.unit, better=item.better, conditions=conditions)
        if answer is None:
            changes = changes_of(study.question)
            change = changes[next(made) % len(changes)]
            answer = change.category
            new = change.make(benchmark, np.random.default_rng(int(key(seed, "attention", source), 16)))
            benchmark = Benchmark.of_series(name, new, unit=item.unit, better=item.better, conditions=conditions)
        item_id = items.add(
            db, name, benchmark=item.benchmark, application=item.application, unit=item.unit, better=item.better,
            n_runs=len(benchmark.values), n_iterations=min(map(len, benchmark.values)),
            data_hash=measurement_hash(benchmark.values), made_from=item.item_id, known_answer=answer,
        )  # fmt: skip
        runs.add(db, item_id, benchmark.values, conditions)
        kind = kind_of(study.question)
        runs.put_bins(db, item_id, kind.version, drawing.packed(kind.payload(benchmark, study.protocol)))


def differences(plan: Plan, stored: Sequence[AttentionCheck]) -> list[str]:
    """Return a text if the stored checks are not those of the plan; return an empty list if they are."""
    found = {check.name: check.source for check in stored}
    return [] if found == plan.checks else ["the attention checks are not made from the items that the seed gives"]
