"""The items to label next in an open study: some at random, the others where a label tells most."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from analysis import learning
from labeler.errors import InputError, NotAllowed
from labeler.model import State
from labeler.plan.lifecycle import Action, require
from labeler.service.plan import assigning, sampling
from labeler.service.results.learning import features_named, material_of_study
from labeler.store import Database, events, items, labels, people, studies


@dataclass(frozen=True)
class NextItems:
    """What was added to the plan.

    Attributes
    ----------
    n_random, n_chosen, n_waiting : int
        New items that were drawn at random, and chosen; items that still wait.
    by_model : bool
        Whether a model's uncertainty was used; with too few labels only the disagreement of classifiers is.
    reason : str
        Why there was no model.
    """

    n_random: int
    n_chosen: int
    n_waiting: int
    by_model: bool
    reason: str = ""

    @property
    def sentences(self) -> list[str]:
        """What happened, in words; nobody's name and no item."""
        how = "the model is unsure and classifiers differ" if self.by_model else "classifiers differ"
        added = f"{self.n_random + self.n_chosen} items added: {self.n_random} at random, {self.n_chosen} where {how}."
        why = [f"No model yet: {self.reason}."] if self.reason else []
        return [added, *why, f"{self.n_waiting} items still wait."]


def next_items(db: Database, n: int, *, random_share: float = 0.3, actor: str, now: datetime) -> NextItems:
    """Add items to the plan of an open study.

    The random sample of all items grows by `random_share` of `n`, whatever was chosen before, so that it stays a random
    sample; its items that had been chosen already need no new label. The rest of the batch are those where a model of
    the labels so far is unsure and classifiers differ, spread over applications.

    Parameters
    ----------
    db : Database
    n : int
    random_share : float
        In (0, 1].
    actor : str
    now : datetime

    Returns
    -------
    NextItems

    Raises
    ------
    InputError
        If a number cannot be used, or there are no verdicts.
    NotAllowed
        If the study is not open, or its plan has all items already.
    """
    if n < 1 or not 0 < random_share <= 1:
        raise InputError(f"Ask for at least one item, and a random share above 0 and up to 1; got {n}, {random_share}.")
    with db.atomic():
        study = studies.get(db)
        require(study, Action.PEOPLE)
        if study.phase is not State.OPEN:
            raise NotAllowed(f"The study is {study.phase}: items can be added only while it is open.")
        known = sampling.sampled(db)
        if known is None or not known.waiting:
            raise NotAllowed(
                "Every item is in the plan already. To label a study bit by bit, draw its plan with labeler plan "
                "--first N before the labelling begins."
            )
        excluded = {item.name for item in items.all_items(db) if item.excluded_why is not None}
    ranked, reason = _ranked(db, [name for name in known.waiting if name not in excluded], actor, now)
    with db.atomic():
        if sampling.sampled(db) != known:
            raise NotAllowed("The plan was changed meanwhile. Ask again.")
        n_random = min(known.n_random + max(1, round(random_share * n)), len(known.order))
        waiting = set(known.waiting) - excluded
        at_random = [name for name in known.order[:n_random] if name in waiting]
        chosen = [name for name in ranked if name not in set(at_random)][: max(n - len(at_random), 0)]
        before = assigning.active_plan(db)
        reviewers = [p.name for p in people.reviewers(db) if p.active and not p.paused]
        per_item = int((study.plan_parameters or {})["per_item"])
        if len(reviewers) < per_item:
            raise NotAllowed(f"Each item needs {per_item} reviewers; {len(reviewers)} take part now.")
        after = before.with_items([*at_random, *chosen], reviewers, per_item)
        assigning.change(db, before, after, now=now)
        details = {
            "random": at_random, "chosen": chosen, "n_random": n_random, "random_share": random_share,
            "reviewers": reviewers, "per_item": per_item, "by_model": not reason,
            "answers": labels.n_labels(db), "hash": after.hash,
        }  # fmt: skip
        events.add(db, now.isoformat(), actor, sampling.NEXT_ITEMS, details)
    n_waiting = len(waiting) - len(at_random) - len(chosen)
    return NextItems(len(at_random), len(chosen), n_waiting, not reason, reason)


def _ranked(db: Database, waiting: list[str], actor: str, now: datetime) -> tuple[list[str], str]:
    """Waiting items, the most telling first, and why no model was used."""
    material = material_of_study(db, actor=actor, now=now)
    disagreement = learning.disagreement_of(material.verdicts)
    names = features_named("default", list(material.features.columns))
    reason, unsure = "", None
    try:
        examples = learning.examples_of(
            learning.target_of(material.answers), material.features, names, material.applications
        )
        unsure = learning.uncertainties(examples, material.features, rng=np.random.default_rng(1))
    except learning.TooFew as error:
        reason = str(error)
    except ValueError as error:
        raise InputError(f"{str(error).capitalize()}.") from None
    applications = {str(item): str(name) for item, name in material.applications.items()}
    return learning.rank_next(waiting, applications, uncertainty=unsure, disagreement=disagreement), reason
