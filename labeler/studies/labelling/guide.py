"""Build worked examples and practice items for reviewers: artificial ones, and those that a coordinator chose.

Artificial examples are made from measurements in the package, to which known changes are added. They do not depend on
the study, so everyone gets the same, and none is an item of the study.
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np

from analysis.arrays import Series
from analysis.text import joined
from labeler import marks
from labeler.config import bundled
from labeler.errors import InputError, NotAllowed
from labeler.studies.items import browsing, drawing
from labeler.studies.model import Protocol, Question
from labeler.studies.questions import NOT_SURE
from labeler.studies.screen.kinds import FIRST_QUESTION, ItemKind, Recipe, examples_of, kind_of, sides_of
from labeler.studies.store import Database, actions, events, items, labels, studies
from labeler.text import is_storable

RUNS = ("data", "demo", "guide.json.gz")  # written by scripts/guide_runs.py
STANDARD = Protocol()
SEED = 20261121
N_PRACTICE = 6
# included benchmark with little noise -> its five runs, which are cut in half, and their common level in seconds
BASES: dict[str, tuple[tuple[int, ...], float]] = {
    "hashlib.sha256#bytes=100000": ((1, 2, 4, 5, 6), 3.1e-5),
    "numpy.fft.rfft#n=4096": ((0, 1, 2, 3, 4), 8.4e-4),
    "numpy.sum#n=60000": ((0, 1, 2, 3, 4), 1.9e-7),
}

AXES = {
    "levels": "the levels of all runs. You see the median and the middle half of every run, and each level that lasts "
    "more than about 5 % of a run. Values beyond these levels extend the axis by at most 15 %. The axis spans at least "
    "{span} of the median, so that small noise does not look large",
    "core": "the range from the lowest 1st percentile of any run to the highest 95th percentile of any run, so that a "
    "single deviating run stays visible. The axis spans at least {span} of the median, so that small noise does not "
    "look large",
    "pooled": "the range from 0.5 to 99.5 % of all iterations together",
    "full": "the range from the fastest to the slowest of all iterations",
}
MAX_SENTENCE, MAX_EXAMPLES = 300, 12
GUIDE, PRACTICE = "worked example", "practice item"
USES = (GUIDE, PRACTICE)


@dataclass(frozen=True)
class Example:
    """An item with a known category: artificial, or chosen by a coordinator."""

    title: str
    explanation: str
    # The category that follows from the known change. None if people disagree, so that the instructions of the
    # study must decide.
    category: str | None
    picture: Mapping[str, Any]  # the payload of the item
    kind: ItemKind
    sides: tuple[str, str]
    is_own: bool = False  # whether a coordinator chose this item of the study, and says its category
    marks: tuple[int, ...] | None = None  # the known marks, if points are marked

    @property
    def truth(self) -> str:
        """The known answer in words."""
        if self.marks:
            places = joined([str(mark) for mark in self.marks])
            return f"{'a mark' if len(self.marks) == 1 else 'marks'} at {places}"
        return self.category or "people disagree"

    @property
    def panels(self) -> list[dict[str, Any]]:
        """The panels from which the screen draws the example."""
        return self.kind.panels(self.picture, sides=self.sides)

    def thumbnail(self, words: str, panel: tuple[int, int]) -> str:
        """Return a small picture as SVG, with this alternative text."""
        return self.kind.thumbnail(self.picture, label=words, panel=panel)

    def is_right(self, answer: str) -> bool | None:
        """Return whether an answer is right; None if there is no right answer, or points are marked."""
        has_right = self.category is not None and self.marks is None and answer != NOT_SURE
        return answer == self.category if has_right else None

    def feedback(self, answer: str) -> str:
        """Return the text that a reviewer sees after this answer: the correct category and the explanation."""
        told = "the coordinator says" if self.is_own else "the item was generated as"
        truth = f"{told} {self.category}" if self.category else "people disagree about this item"
        if self.marks is not None:
            truth = f"known: {self.truth}"
        return f"Your answer: {marks.describe(answer)}; {truth}. {self.title}: {self.explanation}"


def has_examples(question: Question) -> bool:
    """Return whether there are worked examples and practice items for this question."""
    return examples_of(question) is not None


def describe_protocol(question: Question, protocol: Protocol) -> str:
    """Return the text of the guide: how items are shown, what to judge, and how answers are used."""
    axis = AXES[protocol.axis_rule].format(span=f"{100 * protocol.min_span:g} %")
    keys = joined([category.key.upper() for category in question.categories], "or")
    examples = examples_of(question)
    has_order = protocol.varies_pictures and not kind_of(question).is_series
    order = " The order of the runs differs between reviewers." if has_order else ""
    unsure = (
        "- Press N if you cannot decide: the item returns once at the end. This answer never counts as a label."
        if question.not_sure
        else "- Each item needs one of these answers."
    )
    sure = f"\n- Press 1, 2 or 3 to say how sure you are, before or after {keys}." if protocol.asks_confidence else ""
    saving = (
        f"Enter marks the point at the cursor, and {keys} says that there is no mark; Space saves the answer."
        if question.is_marked and not question.kinds
        else f"{keys} marks the point at the cursor or says that there is no mark; Space saves the answer."
        if question.is_marked
        else f"{keys} saves your answer at once."
    )
    return f"""
**What you see.** {kind_of(question).sees.format(axis=axis)} Z and L change the axis for the current item only;
every item starts with the same view for everyone.{order}

{examples.what_to_judge if examples else ""}
**Your answers.**
- {saving} U undoes the last answer. Agreement counts your first answer. If you
  revise an answer, the study keeps both answers.
{unsure}{sure}
- Press F (flag) or M (comment) to tell the coordinator that something is wrong with the item, or to give a reason.
- You label alone: nobody sees your answers before the study is over, and you do not see other people's answers.
- The study records how long you look at an item. Time while the page is hidden does not count, and at most one minute
  without input counts. You can take a break at any time: close the page and continue later.
"""


@lru_cache(maxsize=4)
def schematic_examples(question: Question = FIRST_QUESTION, protocol: Protocol = STANDARD) -> tuple[Example, ...]:
    """Return examples that are simulated, so that they differ in only one way; empty if the question has none."""
    examples = examples_of(question)
    return tuple(
        _example(recipe, [], np.random.default_rng(SEED), question, protocol)
        for recipe in (examples.simulated if examples else ())
    )


@lru_cache(maxsize=4)
def worked_examples(question: Question = FIRST_QUESTION, protocol: Protocol = STANDARD) -> tuple[Example, ...]:
    """Return the worked examples, each with an explanation, drawn with the axis rule of the study."""
    examples = examples_of(question)
    return _drawn_examples(examples.worked if examples else (), SEED, question, protocol)


@lru_cache(maxsize=20)
def practice_round(
    seed: int, question: Question = FIRST_QUESTION, protocol: Protocol = STANDARD
) -> tuple[Example, ...]:
    """Return six practice items; the seed determines which items are selected, and their order."""
    examples = examples_of(question)
    possible = examples.practice if examples else ()
    chosen = np.random.default_rng(seed).permutation(len(possible))[:N_PRACTICE].tolist()
    return _drawn_examples([possible[i] for i in chosen], seed, question, protocol)


def _drawn_examples(
    recipes: Sequence[Recipe], seed: int, question: Question, protocol: Protocol
) -> tuple[Example, ...]:
    rng = np.random.default_rng(seed)
    bases = _bases()
    first = int(rng.integers(len(bases)))
    examples = []
    for i, recipe in enumerate(recipes):
        base = bases[(first + i) % len(bases)]
        in_order = [base[run] for run in rng.permutation(len(base)).tolist()]
        examples.append(_example(recipe, in_order, rng, question, protocol))
    return tuple(examples)


def _example(
    recipe: Recipe, runs: list[Series], rng: np.random.Generator, question: Question, protocol: Protocol
) -> Example:
    kind = kind_of(question)
    if recipe.places is None:
        picture = kind.payload(recipe.make(runs, rng), protocol)
        return Example(recipe.title, recipe.explanation, recipe.category, picture, kind, sides_of(question))
    places = recipe.places(rng)
    picture = kind.payload(recipe.make(runs, rng, places), protocol)
    category = None if places else question.no_mark
    return Example(recipe.title, recipe.explanation, category, picture, kind, sides_of(question), marks=places)


@lru_cache(maxsize=1)
def _bases() -> list[list[Series]]:
    """Return ten runs of each benchmark in `BASES`, scaled so that every median equals the level of the benchmark."""
    # reading the Parquet file of the demo would take 80 MB of a server, which stay
    runs = json.loads(gzip.decompress(bundled(*RUNS).read_bytes()))
    bases = []
    for name, (_, level) in BASES.items():
        halves = [half for run in runs[name] for half in np.split(np.array(run), 2)]
        bases.append([half / np.median(half) * level for half in halves])
    return bases


@dataclass(frozen=True)
class OwnExample:
    """An item that the coordinator shows as an example, with its category and one sentence that gives the reason."""

    item: str
    category: str
    sentence: str
    use: str  # one of USES


def own_examples(db: Database) -> list[OwnExample]:
    """Return the examples and practice items in the order in which they were added."""
    found: dict[str, OwnExample] = {}
    for event in events.of_actions(db, [actions.ADD_EXAMPLE, actions.REMOVE_EXAMPLE]):
        found.pop(event.details["item"], None)
        if event.action == actions.ADD_EXAMPLE.name:
            found[event.details["item"]] = OwnExample(**event.details)
    return list(found.values())


def why_examples_fixed(db: Database) -> str:
    """Return why the examples can no longer be changed; return "" if they can."""
    return "Reviewers have already answered, so the guide can no longer be changed." if labels.n_labels(db) else ""


def add_example(db: Database, example: OwnExample, *, actor: str, now: datetime) -> None:
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
        if len(own_examples(db)) >= MAX_EXAMPLES:
            raise InputError(f"The guide already has {MAX_EXAMPLES} examples of your own, which is the maximum.")
        browsing.exclude(db, item.name, f"{example.use} in the guide", actor=actor, now=now)
        deed.log(actions.ADD_EXAMPLE, item=item.name, category=category, sentence=sentence, use=example.use)


def remove_example(db: Database, name: str, *, actor: str, now: datetime) -> None:
    """Stop using an item as an example, and include it again.

    Raises InputError if the item is no example, and NotAllowed if reviewers have already answered.
    """
    with events.by(db, actor, now) as deed:
        _check_open(db)
        if name not in {example.item for example in own_examples(db)}:
            raise InputError(f"{name!r} is not an example in the guide.")
        item = browsing.item_named(db, name)
        if item.excluded_why is not None:
            browsing.include(db, name, "no longer an example", actor=actor, now=now)
        deed.log(actions.REMOVE_EXAMPLE, item=name)


def examples_as_shown(db: Database, use: str) -> tuple[Example, ...]:
    """Return the examples or the practice items as reviewers see them: numbered, without the names of the items."""
    question = studies.get(db).question
    kind, sides = kind_of(question), sides_of(question)
    title = "Example" if use == GUIDE else "Practice item"
    found: list[Example] = []
    for example in own_examples(db):
        item = items.by_name(db, example.item)
        if example.use == use and item is not None:
            picture = drawing.payload_of_item(db, item.item_id)
            number = f"{title} {len(found) + 1}"
            places = tuple(mark.at for mark in marks.read(example.category))
            category, known = None if places else example.category, places if question.is_marked else None
            found.append(Example(number, example.sentence, category, picture, kind, sides, is_own=True, marks=known))
    return tuple(found)


def examples_of_study(db: Database) -> tuple[Example, ...]:
    """Return the coordinator's examples, and then those of the built-in question."""
    study = studies.get(db)
    return (*examples_as_shown(db, GUIDE), *worked_examples(study.question, study.protocol))


def practice_items(db: Database, seed: int) -> tuple[Example, ...]:
    """Return a practice round: the coordinator's practice items, and then artificial items.

    The seed determines which items are selected.
    """
    study, own = studies.get(db), examples_as_shown(db, PRACTICE)
    order = np.random.default_rng(seed).permutation(len(own)).tolist()
    artificial = practice_round(seed, study.question, study.protocol)
    return (*(own[place] for place in order), *artificial)[:N_PRACTICE]


def n_practice(db: Database) -> int:
    """Return the number of items in a practice round; 0 if there is none for this question."""
    n_own = sum(example.use == PRACTICE for example in own_examples(db))
    return N_PRACTICE if has_examples(studies.get(db).question) else min(n_own, N_PRACTICE)


def _check_open(db: Database) -> None:
    if fixed := why_examples_fixed(db):
        raise NotAllowed(fixed)
