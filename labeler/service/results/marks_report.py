"""The report on marked points: how far people agree on places, and where detectors stand beside them."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import pandas as pd

from analysis.points import CHANGES, STARTS
from analysis.runs import Floats
from analysis.tables import counted_labels
from labeler import marks
from labeler.marks import START
from labeler.model import Question
from labeler.service.files import exploring, marked
from labeler.service.files.exploring import MethodResult
from labeler.store import Database, items


@dataclass(frozen=True)
class MarkedStudy:
    """The first labels of a study as marks, and the series that were marked."""

    about: str
    people: Mapping[str, Mapping[str, tuple[int, ...]]]
    series: Mapping[str, Floats]
    applications: Mapping[Hashable, Hashable]  # item -> application, of items that have one

    def compare(self, *, permutations: int, epsilon: float, seed: int) -> MethodResult:
        """Compute the report: its numbers, its text and its figures."""
        options = marked.Options(self.about, epsilon=epsilon, permutations=permutations, seed=seed)
        return marked.compare(self.people, self.series, {}, options, groups=self.applications or None)


def marked_study(db: Database, answers: pd.DataFrame, question: Question) -> MarkedStudy | None:
    """Return the marks in `answers`, whose labels are as they were given; None if nothing can be compared.

    Only first labels count, as in the agreement report; a range counts as its middle.
    """
    labels = answers["label"]
    first = counted_labels(
        answers.assign(given=labels, label=labels.map(question.class_of)).reset_index(drop=True), question.classes
    )
    people: dict[str, dict[str, tuple[int, ...]]] = {}
    for item, person, label in zip(first["item"], first["rater"], first["given"], strict=True):
        people.setdefault(str(item), {})[str(person)] = tuple(mark.at for mark in marks.read(str(label)))
    about = STARTS if question.marks == START else CHANGES
    series: dict[str, Floats] = {}
    applications: dict[Hashable, Hashable] = {}
    for item in items.all_items(db):
        if item.name in people and item.n_runs:
            (_, values, _), *_ = marked.series_of(exploring.benchmark_of(db, item), about)
            series[item.name] = values
            if item.application:
                applications[item.name] = item.application
    return MarkedStudy(about, people, series, applications) if series else None
