"""The kinds of items: what a question can show. Each kind is one module with one `ItemKind`, and one row in `KINDS`.

To add a kind, write a module here that provides (the fields of `labeler.studies.screen.kinds.kind.ItemKind`):

items
    From a benchmark to the benchmarks that become items, with warnings. A benchmark has the runs of all files with
    their conditions, so a kind can split it by a condition, or keep its versions together. `NotAnItem` refuses it.
payload
    From the item's runs to the data from which it is drawn. Everything that needs the conditions of runs (the side of
    a run, its version) belongs here. The numbers are packed with `labeler.studies.screen.binning`.
varied
    The payload for one assignment: other order, other bins, values shifted by less than the eye can see. Two pictures
    of an item must have no number in common (`labeler.studies.screen.blinding.Shift`).
panels
    From the payload to the panels of the picture. The browser draws a panel by its field `kind`: "runs" (one panel per
    run, with spread and distribution), "points" (values by position, with a line), or "means" (the distribution of the
    run means per side). The panels of a picture have the same axes. Another kind of panel is one module in
    labeler/studies/ui/component/js and one row in panels.js.
thumbnail, medians
    The small picture in lists, and the median of each run for the column *spread*.
sees, help, overlay
    What reviewers read about the picture.
questions, examples
    The built-in questions about such items, and for each of them what to judge, worked examples and practice items.

Nothing outside this folder asks which kind a question has.
"""

from collections.abc import Mapping

from labeler.errors import StudyError
from labeler.marks import START
from labeler.studies.model import Question
from labeler.studies.screen.kinds import change, history, run, runs
from labeler.studies.screen.kinds.change import SIDE as SIDE, SIDES as SIDES, paired as paired
from labeler.studies.screen.kinds.kind import (
    CheckRecipe as CheckRecipe,
    ExampleSet as ExampleSet,
    ItemKind as ItemKind,
    NewItem as NewItem,
    NotAnItem as NotAnItem,
    Payload as Payload,
    Recipe as Recipe,
    RunSelection as RunSelection,
    SkippedBenchmark as SkippedBenchmark,
)

KINDS: Mapping[str, ItemKind] = {kind.name: kind for kind in (runs.KIND, change.KIND, history.KIND, run.KIND)}

# the built-in questions; the first is the default
QUESTIONS: Mapping[str, Question] = {
    name: question for kind in KINDS.values() for name, question in kind.questions.items()
}

FIRST_QUESTION = next(iter(QUESTIONS.values()))


def kind_of(question: Question) -> ItemKind:
    """Return what the items of a question show; raises StudyError if this version does not know the kind."""
    if question.shows not in KINDS:
        raise StudyError(
            f"The items of this study show {question.shows!r}, which this version of labeler cannot draw. It draws "
            f"{', '.join(KINDS)}."
        )
    return KINDS[question.shows]


def examples_of(question: Question) -> ExampleSet | None:
    """Return the examples that answer this question: of the built-in question with the same categories or marks."""
    kind = kind_of(question)
    for name, examples in kind.examples.items():
        known = kind.questions[name]
        has_marks = question.is_marked and (known.marks == START) == (question.marks == START)
        if has_marks if known.is_marked else set(known.names) == set(question.names):
            return examples
    return None


def sides_of(question: Question) -> tuple[str, str]:
    """Return the names of the two sides of an item: A and B if reviewers must not know which is which."""
    return ("A", "B") if question.blind_side else ("Before", "After")
