"""Compare the marks of people with each other, and the marks of detectors with those of people."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from statistics import fmean

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import Floats
from analysis.methods.points._agreement import (
    N_PERMUTATIONS,
    MarkAgreement,
    MarkedSeries,
    StartAgreement,
    mark_agreement,
    start_agreement,
)
from analysis.methods.points._consensus import MarkCluster, consensus_of_marks
from analysis.methods.points._detectors import DETECTORS, NONE, Detector
from analysis.methods.points._scores import (
    MARGIN,
    PUBLISHED,
    Marks,
    covering,
    f1,
    usable_detections,
)
from analysis.raters.evaluation import AlternativeTest, alternative_annotator
from analysis.raters.evaluation._alternative import EXPERT
from analysis.runs.benchmark import Advance, LeftOut, unwatched
from analysis.runs.steady import RULES, steady_run
from analysis.statistics.bootstrap import bootstrap
from analysis.statistics.intervals import Estimate

FROM_START = "from the start"  # the baseline of questions for a start: every run is steady from its first iteration
START_RULES = tuple(RULES)
CHANGES, STARTS = "changes", "starts"
F1_SCORE, COVERING_SCORE, START_SCORE = "F1", "covering", "distance of starts"

Answers = Mapping[str, Mapping[str, Marks]]  # item -> person -> marks


@dataclass(frozen=True)
class ItemMarks:
    """What people marked in an item, and what is left to decide.

    For starts, a person without a mark says that the run never becomes steady, and the consensus is the median.
    """

    item: str
    n: int  # points of the series
    people: Mapping[str, tuple[int, ...]]
    agreed: tuple[int, ...]  # marked by more than half of the people
    ties: tuple[MarkCluster, ...] = ()  # marked by exactly half of the people
    lone: tuple[MarkCluster, ...] = ()  # marked by fewer


@dataclass(frozen=True)
class DetectorScore:
    """A score of a detector against people: its mean over items, and how far it is from that of the baseline."""

    name: str
    mean: Estimate
    difference: Estimate  # detector minus baseline, on the same items
    replaces: AlternativeTest  # whether the detector may replace a person, by this score


@dataclass(frozen=True)
class DetectorResult:
    """How a detector marks, and how near its marks are to those of people."""

    name: str
    title: str
    n_items: int
    mean_marks: float
    precision: float | None  # None for starts
    recall: float | None
    scores: tuple[DetectorScore, ...]


@dataclass(frozen=True)
class PointsSurvey:
    """The result of `survey`."""

    about: str  # "changes", or "starts" if people marked the one point from which a run is steady
    items: tuple[ItemMarks, ...]
    labels: Mapping[str, int]  # person -> number of items
    changes: MarkAgreement | None  # how far people agree on changes; None for starts
    starts: StartAgreement | None  # how far people agree on starts; None for changes
    detectors: tuple[DetectorResult, ...]  # The baseline first. Empty if there are neither series nor results.
    baseline: str
    left_out: tuple[LeftOut, ...]
    parameters: Mapping[str, object]


def survey(
    answers: Answers,
    lengths: Mapping[str, int],
    *,
    series: Mapping[str, ArrayLike] | None = None,
    results: Mapping[str, Mapping[str, Marks]] | None = None,
    detectors: Sequence[str] | None = None,
    plugins: Mapping[str, Detector] | None = None,
    about: str = CHANGES,
    margin: float = MARGIN,
    matching: str = PUBLISHED,
    permutations: int = N_PERMUTATIONS,
    epsilon: float = EXPERT,
    groups: Mapping[Hashable, Hashable] | None = None,
    seed: int = 1,
    advance: Advance = unwatched,
) -> PointsSurvey:
    """Compare the marks of people with each other, and the marks of detectors with those of people.

    `answers`: item -> person -> marks, each the first point of a new segment, counted from 0. A person without marks
    saw no change, or, for starts, says that the run never becomes steady. `lengths`: item -> number of points. An item
    without a length is left out. `series`: item -> measurements in order, for detectors. Items without a series have no
    results of detectors. `results`: detector -> item -> marks that it found elsewhere; `detectors`: names in
    `DETECTORS`, or rules of `analysis.methods.steady` for starts; all detectors, or the rule quick, by default;
    `plugins`: further detectors by name; `about`: "changes" or "starts"; `margin`: largest distance of two marks that
    count as the same, in points; `matching`: "published" or "maximum", see `matches`; `permutations`: number of times
    that all marks are put at random places; `epsilon`: how much better a person may be before a detector cannot replace
    them; see `alternative_annotator`; `groups`: item -> group of items that are alike, such as the application of a
    benchmark; `advance`: called with (done, total) after each detector. Raises ValueError if a mark is outside its
    series, or a detector or `about` is unknown.
    """
    if about not in (CHANGES, STARTS):
        raise ValueError(f"about must be {CHANGES} or {STARTS}; got {about!r}")
    marked = [MarkedSeries(item, lengths[item], people) for item, people in answers.items() if item in lengths]
    left_out = [LeftOut(item, "the length of its series is unknown") for item in answers if item not in lengths]
    known = _known(about, detectors, plugins or {})
    found, more_left_out = _detect(known, marked, series or {}, results or {}, advance)
    scores = _START_SCORES if about == STARTS else _change_scores(margin, matching)
    baseline = FROM_START if about == STARTS else NONE
    context = _Context(marked, scores, epsilon, groups, seed, margin, matching, found.get(baseline, {}))
    titles = {name: detector.title for name, detector in known.items()}
    return PointsSurvey(
        about,
        tuple(_item(each, about, margin) for each in marked),
        _labels(marked),
        mark_agreement(marked, margin=margin, matching=matching, permutations=permutations, seed=seed)
        if about == CHANGES
        else None,
        start_agreement([{name: _start(marks) for name, marks in each.people.items()} for each in marked], seed=seed)
        if about == STARTS
        else None,
        tuple(_result(name, titles.get(name, "results from a file"), marks, context) for name, marks in found.items()),
        baseline,
        (*left_out, *more_left_out),
        {"about": about, "margin": margin, "matching": matching, "permutations": permutations, "epsilon": epsilon,
         "seed": seed},
    )  # fmt: skip


def _known(about: str, names: Sequence[str] | None, plugins: Mapping[str, Detector]) -> dict[str, Detector]:
    """Return the detectors by name, the baseline first."""
    if about == STARTS:
        own = {
            FROM_START: Detector(FROM_START, "steady from the first iteration", lambda _values: (0,)),
            **{rule: Detector(rule, f"rule {rule} of labeler steady", _rule(rule)) for rule in START_RULES},
        }
        chosen = ("quick",) if names is None else tuple(names)
    else:
        own = dict(DETECTORS)
        chosen = tuple(own) if names is None else tuple(names)
    every = {**plugins, **own}
    first = next(iter(own))
    for name in chosen:
        if name not in every:
            raise ValueError(f"detector must be one of {', '.join(every)}; got {name!r}")
    return {name: every[name] for name in dict.fromkeys((first, *chosen, *(plugins if names is None else ())))}


def _rule(name: str) -> Callable[[Floats], tuple[int, ...]]:
    def start(values: Floats) -> tuple[int, ...]:
        found = steady_run(values, name)
        if found.verdict is None:
            raise ValueError(found.reason)
        return () if found.start is None else (found.n_warmup,)

    return start


Found = dict[str, dict[str, tuple[int, ...]]]  # detector -> item -> marks


def _detect(
    known: Mapping[str, Detector],
    marked: Sequence[MarkedSeries],
    series: Mapping[str, ArrayLike],
    results: Mapping[str, Mapping[str, Marks]],
    advance: Advance,
) -> tuple[Found, list[LeftOut]]:
    """Return the marks of each detector, and the items that a detector cannot use."""
    baseline, *others = known.items()
    found: Found = {}
    if series or results:  # the baseline needs no series, so that results from files can be compared with it
        found[baseline[0]] = {each.name: baseline[1](np.zeros(each.n)) for each in marked}
    failed: dict[tuple[str, str], list[str]] = {}
    for done, (name, detector) in enumerate(others, start=1):
        found[name] = {}
        for each in marked:
            if each.name in series:
                try:
                    found[name][each.name] = _counted(detector(series[each.name]), each.n, known)
                except ValueError as error:
                    failed.setdefault((each.name, str(error)), []).append(name)
        advance(done, len(others))
    left_out = [LeftOut(f"{item}, for {', '.join(names)}", reason) for (item, reason), names in failed.items()]
    for name, of_items in results.items():
        lengths = {each.name: each.n for each in marked}
        found[name] = {
            item: _counted(marks, lengths[item], known) for item, marks in of_items.items() if item in lengths
        }
        left_out += [LeftOut(f"{item}, for {name}", "nobody marked it") for item in of_items if item not in lengths]
    return {name: marks for name, marks in found.items() if marks}, left_out


def _counted(marks: Marks, n: int, known: Mapping[str, Detector]) -> tuple[int, ...]:
    return tuple(marks) if FROM_START in known else usable_detections(marks, n)


def _item(each: MarkedSeries, about: str, margin: float) -> ItemMarks:
    people = {name: tuple(sorted(set(marks))) for name, marks in each.people.items()}
    if about == CHANGES:
        found = consensus_of_marks(people, int(margin))
        return ItemMarks(each.name, each.n, people, found.marks, found.ties, found.lone)
    starts = sorted(marks[0] for marks in people.values() if marks)
    is_agreed = 2 * len(starts) > len(people)
    return ItemMarks(each.name, each.n, people, (starts[(len(starts) - 1) // 2],) if is_agreed else ())


def _labels(marked: Sequence[MarkedSeries]) -> dict[str, int]:
    people = sorted({person for each in marked for person in each.people})
    return {person: sum(person in each.people for each in marked) for person in people}


def _start(marks: Marks) -> int | None:
    return min(marks) if marks else None


# an answer with the length of its series, because covering and "never" depend on it
PlacedMarks = tuple[tuple[int, ...], int]
Score = Callable[[PlacedMarks, Sequence[PlacedMarks]], float]


@dataclass(frozen=True)
class _Context:
    marked: Sequence[MarkedSeries]
    scores: Mapping[str, Score]
    epsilon: float
    groups: Mapping[Hashable, Hashable] | None
    seed: int
    margin: float
    matching: str
    of_baseline: Mapping[str, tuple[int, ...]]


def _change_scores(margin: float, matching: str) -> dict[str, Score]:
    def of_f1(own: PlacedMarks, others: Sequence[PlacedMarks]) -> float:
        return f1({str(at): marks for at, (marks, _) in enumerate(others)}, own[0], margin, matching).value

    def of_covering(own: PlacedMarks, others: Sequence[PlacedMarks]) -> float:
        return covering({str(at): marks for at, (marks, _) in enumerate(others)}, *own)

    return {F1_SCORE: of_f1, COVERING_SCORE: of_covering}


def log_distance(own: PlacedMarks, others: Sequence[PlacedMarks]) -> float:
    """Return minus the mean distance of log(1 + start) from the starts of others; "never" is the end of the run."""
    start, *rest = (log1p(marks[0] if marks else n) for marks, n in (own, *others))
    return -fmean(abs(start - other) for other in rest)


_START_SCORES: Mapping[str, Score] = {START_SCORE: log_distance}


def _result(name: str, title: str, marks: Mapping[str, tuple[int, ...]], context: _Context) -> DetectorResult:
    items = [each for each in context.marked if each.name in marks]
    is_of_changes = F1_SCORE in context.scores
    both = [f1(each.people, marks[each.name], context.margin, context.matching) for each in items if is_of_changes]
    return DetectorResult(
        name,
        title,
        len(items),
        fmean(len(marks[each.name]) for each in items),
        fmean(each.precision for each in both) if both else None,
        fmean(each.recall for each in both) if both else None,
        tuple(_scored(of, score, marks, items, context) for of, score in context.scores.items()),
    )


def _scored(
    name: str, score: Score, marks: Mapping[str, tuple[int, ...]], items: Sequence[MarkedSeries], context: _Context
) -> DetectorScore:
    people = {
        each.name: {person: (tuple(sorted(set(own))), each.n) for person, own in each.people.items()}
        for each in context.marked
    }
    values = [score((marks[each.name], each.n), list(people[each.name].values())) for each in items]
    both = [each for each in items if each.name in context.of_baseline]
    differences = [
        value - score((context.of_baseline[each.name], each.n), list(people[each.name].values()))
        for each, value in zip(items, values, strict=True)
        if each in both
    ]
    return DetectorScore(
        name,
        _mean(values, context.seed),
        _mean(differences, context.seed),
        alternative_annotator(
            {each.name: people[each.name] for each in items},
            {each.name: (marks[each.name], each.n) for each in items},
            score,
            epsilon=context.epsilon,
            groups=context.groups,
            seed=context.seed,
        ),
    )


def _mean(values: Sequence[float], seed: int) -> Estimate:
    x = np.array(values, dtype=np.float64)
    return bootstrap(lambda weights: weights @ x / weights.sum(axis=1), len(x), rng=np.random.default_rng(seed))
