"""Items that a coordinator chose as worked examples or practice items for the guide of the reviewers.

The log has them: nothing else of the study changes but that these items are excluded, so that nobody labels an item
whose answer the guide tells.
"""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from labeler import marks
from labeler.errors import InputError, NotAllowed
from labeler.model import is_storable
from labeler.screen.kinds import kind_of, sides_of
from labeler.service.items import browsing, drawing
from labeler.service.labelling import guide
from labeler.service.labelling.guide import Example
from labeler.store import Database, events, items, labels, studies

ADD, REMOVE = "add example", "remove example"
MAX_SENTENCE, MAX_EXAMPLES = 300, 12
GUIDE, PRACTICE = "worked example", "practice item"
USES = (GUIDE, PRACTICE)


@dataclass(frozen=True)
class OwnExample:
    """An item that the coordinator shows as an example, with its category and one sentence that gives the reason."""

    item: str
    category: str
    sentence: str
    use: str  # one of USES


def chosen(db: Database) -> list[OwnExample]:
    """Return the examples and practice items in the order in which they were added."""
    found: dict[str, OwnExample] = {}
    for event in events.of_actions(db, {ADD, REMOVE}):
        found.pop(event.details["item"], None)
        if event.action == ADD:
            found[event.details["item"]] = OwnExample(**event.details)
    return list(found.values())


def why_fixed(db: Database) -> str:
    """Return why the examples can no longer be changed; return "" if they can."""
    return "Reviewers have already answered, so the guide can no longer be changed." if labels.n_labels(db) else ""


def add(db: Database, example: OwnExample, *, actor: str, now: datetime) -> None:
    """Use an item as an example or a practice item, and exclude it from the study.

    Raises InputError if the item, the category or the sentence cannot be used, and NotAllowed if reviewers have already
    answered, or the item is excluded for another reason.
    """
    sentence = example.sentence.strip()
    with events.by(db, actor, now) as deed:
        _check_open(db)
        item, question = browsing.item_named(db, example.item), studies.get(db).question
        if not item.n_runs:
            raise InputError(f"Item {item.name!r} has no measurements, so there is nothing to show.")
        try:
            category = question.checked_label(example.category, drawing.n_points(db, item))
        except ValueError as error:
            raise InputError(f"The answer of the example cannot be used: {error}.") from None
        if not sentence or len(sentence) > MAX_SENTENCE or not is_storable(sentence):
            raise InputError(f"Say in one sentence why the category is right, in 1 to {MAX_SENTENCE} characters.")
        if len(chosen(db)) >= MAX_EXAMPLES:
            raise InputError(f"The guide has {MAX_EXAMPLES} items of yours already, which is the most it shows.")
        browsing.exclude(db, item.name, f"{example.use} in the guide", actor=actor, now=now)
        deed.log(ADD, item=item.name, category=category, sentence=sentence, use=example.use)


def remove(db: Database, name: str, *, actor: str, now: datetime) -> None:
    """Stop using an item as an example, and include it again.

    Raises InputError if the item is no example, and NotAllowed if reviewers have already answered.
    """
    with events.by(db, actor, now) as deed:
        _check_open(db)
        if name not in {example.item for example in chosen(db)}:
            raise InputError(f"{name!r} is no example in the guide.")
        item = browsing.item_named(db, name)
        if item.excluded_why is not None:
            browsing.include(db, name, "no longer an example", actor=actor, now=now)
        deed.log(REMOVE, item=name)


def drawn(db: Database, use: str) -> tuple[Example, ...]:
    """Return the examples or the practice items as reviewers see them: numbered, without the names of the items."""
    question = studies.get(db).question
    kind, sides = kind_of(question), sides_of(question)
    title = "Example" if use == GUIDE else "Practice item"
    found: list[Example] = []
    for example in chosen(db):
        item = items.by_name(db, example.item)
        if example.use == use and item is not None:
            picture = drawing.payload_of_item(db, item.item_id)
            number = f"{title} {len(found) + 1}"
            places = tuple(mark.at for mark in marks.read(example.category))
            category, known = None if places else example.category, places if question.is_marked else None
            found.append(Example(number, example.sentence, category, picture, kind, sides, is_own=True, marks=known))
    return tuple(found)


def worked(db: Database) -> tuple[Example, ...]:
    """Return the coordinator's examples, and then those of the built-in question."""
    study = studies.get(db)
    return (*drawn(db, GUIDE), *guide.worked_examples(study.question, study.protocol))


def practice(db: Database, seed: int) -> tuple[Example, ...]:
    """Return a practice round: the coordinator's practice items, and then artificial items.

    The seed determines which items are selected.
    """
    study, own = studies.get(db), drawn(db, PRACTICE)
    order = np.random.default_rng(seed).permutation(len(own)).tolist()
    artificial = guide.practice_round(seed, study.question, study.protocol)
    return (*(own[place] for place in order), *artificial)[: guide.N_PRACTICE]


def n_practice(db: Database) -> int:
    """Return the number of items in a practice round; 0 if there is none for this question."""
    n_own = sum(example.use == PRACTICE for example in chosen(db))
    return guide.N_PRACTICE if guide.has_examples(studies.get(db).question) else min(n_own, guide.N_PRACTICE)


def _check_open(db: Database) -> None:
    if fixed := why_fixed(db):
        raise NotAllowed(fixed)
