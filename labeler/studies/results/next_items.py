"""Add items to an open study.

Some of the added items are random. The others are the items whose labels are expected to be most informative.
"""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from analysis import learning
from analysis.text import counted
from labeler.errors import InputError, NotAllowed
from labeler.studies.model import State
from labeler.studies.plan.lifecycle import STATE_PHRASES
from labeler.studies.preparing import assigning
from labeler.studies.results.learning import material_of_study
from labeler.studies.store import Database, actions, events, items, labels, people, studies, verdicts

NO_MODEL = "a model chooses items only for the default question"


@dataclass(frozen=True)
class NextItems:
    """The items that were added to the plan."""

    # Numbers of added random items, of added items that model or classifiers chose, and of items that are not in
    # the plan yet.
    n_random: int
    n_chosen: int
    n_waiting: int
    # Whether a model of the labels was used to choose items. With too few labels, only the classifiers are used.
    by_model: bool
    reason: str = ""  # the reason why no model was used; "" if a model was used

    @property
    def sentences(self) -> list[str]:
        """The result as sentences, without names of people or items."""
        added, waiting = self.counts
        how = "the model is uncertain and classifiers disagree" if self.by_model else "classifiers disagree"
        chosen = f"{self.n_random} of these items are random. The other {self.n_chosen} are items on which {how}."
        why = [f"No model was used: {self.reason}."] if self.reason else []
        return [f"{added} {chosen}", *why, *([self.price] if self.n_chosen else []), waiting]

    @property
    def counts(self) -> list[str]:
        """The part of the result that does not depend on labels, as sentences."""
        return [
            f"{counted(self.n_random + self.n_chosen, 'item')} added.",
            f"Items that are not in the plan yet: {self.n_waiting}.",
        ]

    @property
    def price(self) -> str:
        """What the chosen items cost: only random items count for agreement and shares."""
        wider = ((self.n_random + self.n_chosen) / self.n_random) ** 0.5 if self.n_random else None
        cost = "" if wider is None else (
            f" If this whole batch were random, its estimate of them would have an error {wider:.1f} times smaller."
        )  # fmt: skip
        return f"Chosen items help the classifier. They do not help the estimates of agreement and shares.{cost}"


def next_items(db: Database, n: int, *, random_share: float = 0.3, actor: str, now: datetime) -> NextItems:
    """Add items to the plan of an open study.

    The random sample grows by `random_share` of `n` items. To keep the sample random, the next items in random order
    are taken; an item among them that was chosen earlier needs no new label. The other items of the batch are items for
    which a model of the current labels is uncertain and on which the classifiers disagree. These items come from
    several applications. Items that were imported into the open study come last in the random order. `random_share` is
    above 0 and at most 1. Raises InputError if a number is out of range, or there are no verdicts. Raises NotAllowed if
    the study is not open, or its plan already has all items.
    """
    if n < 1 or not 0 < random_share <= 1:
        raise InputError(
            f"The number of items must be at least 1, and the random share must be above 0 and at most 1. The given "
            f"values are {n} and {random_share}."
        )
    with db.atomic():
        study = studies.get(db)
        if study.phase is not State.OPEN:
            raise NotAllowed(
                f"Items can be added only while the study is open. It is {STATE_PHRASES[study.phase]} now."
            )
        known = assigning.item_batches(db)
        if known is None or not known.waiting:
            raise NotAllowed(
                "The plan already has every item. Import further items, or create the plan of a study in batches with "
                "labeler plan --first N before the labelling begins."
            )
        excluded = set(items.excluded(db))
    ranked, reason = list[str](), "the whole batch is random"
    if random_share < 1:
        ranked, reason = _ranked(db, [name for name in known.waiting if name not in excluded], actor, now)
    with events.by(db, actor, now) as deed:
        if assigning.item_batches(db) != known:
            raise NotAllowed("The plan changed in the meantime. Try again.")
        n_random = min(known.n_random + max(1, round(random_share * n)), len(known.order))
        waiting = set(known.waiting) - excluded
        at_random = [name for name in known.order[:n_random] if name in waiting]
        chosen = [name for name in ranked if name not in set(at_random)][: max(n - len(at_random), 0)]
        before = assigning.active_plan(db)
        reviewers = [p.name for p in people.reviewers(db) if p.active and not p.paused]
        per_item = int((study.plan_parameters or {})["per_item"])
        if len(reviewers) < per_item:
            raise NotAllowed(
                f"Each item needs {per_item} reviewers, but only {len(reviewers)} reviewers can label now."
            )
        after = before.with_items([*at_random, *chosen], reviewers, per_item)
        assigning.update_assignments(db, before, after, now=now)
        deed.log(
            actions.NEXT_ITEMS, random=at_random, chosen=chosen, n_random=n_random, random_share=random_share,
            reviewers=reviewers, per_item=per_item, by_model=not reason,
            answers=labels.n_labels(db), offered=before.n_bound, hash=after.hash,
        )  # fmt: skip
    n_waiting = len(waiting) - len(at_random) - len(chosen)
    return NextItems(len(at_random), len(chosen), n_waiting, not reason, reason)


def _ranked(db: Database, waiting: list[str], actor: str, now: datetime) -> tuple[list[str], str]:
    """Return the waiting items, the most informative first, and the reason why no model was used ("" if one was)."""
    if not studies.get(db).question.has_default_categories:
        judged = verdicts.brief_table(db)
        if not len(judged):
            raise InputError("There are no verdicts from which to choose items. Import or compute verdicts first.")
        of_items = {item.name: item.application for item in items.all_items(db)}
        ranked = learning.rank_next(waiting, of_items, uncertainty=None, disagreement=learning.disagreement_of(judged))
        return ranked, NO_MODEL
    material = material_of_study(db, with_shapes=False, actor=actor, now=now)
    disagreement = learning.disagreement_of(material.verdicts)
    reason, unsure = "", None
    try:
        examples = learning.examples_of(
            learning.target_of(material.answers), material.features, learning.MEASURE_FEATURES, material.applications
        )
        unsure = learning.uncertainties(examples, material.features, rng=np.random.default_rng(1))
    except learning.TooFew as error:
        reason = str(error)
    except ValueError as error:
        raise InputError(f"{str(error).capitalize()}.") from None
    applications = {str(item): str(name) for item, name in material.applications.items()}
    return learning.rank_next(waiting, applications, uncertainty=unsure, disagreement=disagreement), reason
