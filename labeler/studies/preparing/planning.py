"""Plan a study: compute what a design can estimate and how precisely."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, combinations, pairwise
from math import floor
from typing import Any

from scipy import optimize

from analysis.categories import CATEGORIES
from analysis.raters import consensus, evaluation, planning
from analysis.raters.consensus import identifiability_of_plan
from analysis.statistics.intervals import Estimate
from analysis.text import counted
from labeler.errors import InputError, sentence
from labeler.studies.model import PlanParameters, describe_minutes
from labeler.studies.plan.design import copies_that_fit, overlap_of
from labeler.studies.questions import Question
from labeler.studies.store import Database, items, people

MAX_REVIEWERS_OF_LATENT = 8  # with more reviewers per item, there are too many possible rows of labels
SHARES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)  # shares of items that all reviewers label, for a figure
MOST_RANDOM = 0.1  # probability that random labels pass a test, above which a pass says little
MANY_REVIEWERS = 12  # with more reviewers, the result does not change
HOURS = "hours per reviewer"  # the expectation that is a time


@dataclass(frozen=True)
class Assumptions:
    """Assumptions about the labels of a planned study; the defaults are close to the results of the paper."""

    kappa: float = field(default=0.1, metadata={"help": "Expected Fleiss' kappa."})
    prevalence: float = field(default=0.55, metadata={
        "within": "[0, 1]",
        "help": "Expected share of dissimilar items, or of the positive or last category of another question.",
    })  # fmt: skip
    retest_agreement: float = 0.9
    sensitivity: float = 0.8
    specificity: float = 0.8
    seconds: float = field(default=15.0, metadata={
        "within": "(0, 86400]", "help": "Expected time for one label, in seconds.",
    })  # fmt: skip
    half_width: float = field(default=0.1, metadata={
        "within": "(0, 1]", "help": "Required half-width of the intervals.",
    })  # fmt: skip
    level: float = 0.95
    epsilon: float = field(default=evaluation.EXPERT, metadata={
        "within": "[0, 1)",
        "help": "How much worse than a reviewer a classifier may be, to replace a reviewer.",
    })  # fmt: skip

    categories: tuple[str, str] = CATEGORIES  # all others, and the category that `prevalence` is about

    n_categories: int = 2  # all categories of the question

    def about(self, question: Question) -> "Assumptions":
        """Return the same assumptions about the categories of a question."""
        return dataclasses.replace(self, categories=compared_categories(question), n_categories=len(question.classes))

    @property
    def category(self) -> str:
        """Return the category of which a plan expects a share."""
        return self.categories[1]

    @property
    def of_labels(self) -> dict[str, float]:
        """Return the assumptions from which `analysis.raters.planning.expected` computes the precision of a design."""
        return {
            name: value
            for name, value in vars(self).items()
            if name not in ("half_width", "epsilon", "categories", "n_categories")
        }


def compared_categories(question: Question) -> tuple[str, str]:
    """Return what expectations compare: a category, which comes second, with the other one or with all others."""
    category = str(question.positive or question.classes[-1])
    others = [name for name in question.classes if name != category]
    return (others[0] if len(others) == 1 else "other", category)


def one_against_rest(question: Question) -> str:
    """Say that expectations are about one category against all others; "" if there are only two categories."""
    if len(question.classes) == 2:
        return ""
    return (
        f"Kappa and all other expectations compare {compared_categories(question)[1]} with the other "
        f"{len(question.classes) - 1} categories together."
    )


def items_needed(assumed: Assumptions) -> list[dict[str, Any]]:
    """Return how many items each interval needs to reach the target half-width, and the hours of labelling.

    The hours are None if the number of labels per item is unknown. Raises InputError if an assumption is out of its
    range.
    """
    agreement = 1 - 2 * assumed.prevalence * (1 - assumed.prevalence) * (1 - assumed.kappa)
    shares = (
        ("agreement of one pair of reviewers: items that both label", agreement, 2),
        ("agreement of a reviewer with their own earlier label: hidden retests", assumed.retest_agreement, 1),
        (f"sensitivity of a classifier: agreed {assumed.category} items", assumed.sensitivity, None),
        (f"specificity of a classifier: agreed {assumed.categories[0]} items", assumed.specificity, None),
    )
    try:
        n = planning.items_for_kappa(
            assumed.half_width, kappa=assumed.kappa, prevalence=assumed.prevalence, level=assumed.level
        )
        needed: list[tuple[str, int, int | None]] = [("Fleiss' kappa: items with two labels", n, 2)]
        if assumed.n_categories > len(assumed.categories):
            others = assumed.n_categories - 1
            shares_of_all = [assumed.prevalence, *[(1 - assumed.prevalence) / others] * others]
            n = planning.items_for_kappa(
                assumed.half_width, kappa=assumed.kappa, prevalence=shares_of_all, level=assumed.level
            )
            which = f"all {assumed.n_categories} categories, if the others are equally frequent"
            needed.append((f"Fleiss' kappa of {which}: items with two labels", n, 2))
        for name, share, n_labels in shares:
            n = planning.items_for_share(assumed.half_width, share=share, level=assumed.level)
            needed.append((name, n, n_labels))
        return [
            {"for": name, "items": n, "hours": each and planning.hours(each * n, seconds=assumed.seconds)}
            for name, n, each in needed
        ]
    except ValueError as error:
        raise InputError(sentence(error)) from None


def design(
    n_items: int, n_reviewers: int, per_item: int, overlap: float, retest: int, n_applications: int | None = None
) -> planning.Design:
    """Return the design with these parameters; raises InputError if a parameter is invalid."""
    try:
        return planning.Design(n_items, n_reviewers, per_item, overlap, retest, n_applications)
    except ValueError as error:
        raise InputError(sentence(error)) from None


def planned_design(
    sizes: Sequence[int], n_reviewers: int, per_item: int, overlap: float, retest: int, n_applications: int | None
) -> planning.Design:
    """Return the design that a plan will really have if this design is requested.

    A plan with few items may have fewer hidden retests than requested, because a hidden retest must come a minimum
    number of items after the original. `sizes` are the numbers of items of each application, `overlap` is the share of
    items that all reviewers label, and `n_applications` is None if no application is known. Raises InputError if the
    design is invalid.
    """
    n_items = sum(sizes)
    design(n_items, n_reviewers, per_item, overlap, retest, n_applications)  # check everything before computing
    n_overlap = sum(overlap_of(sizes, overlap))
    planned = design(n_items, n_reviewers, per_item, n_overlap / n_items, 0, n_applications)
    n_copies = copies_that_fit(floor(planned.labels_per_reviewer), retest)
    return dataclasses.replace(planned, retest=n_copies)


def expected_of(
    planned: planning.Design, assumed: Assumptions, *, with_latent: bool = True
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Return what to expect of a design, and what the design cannot estimate.

    The expectations are dictionaries with what, expected and half-width. The limits are sentences. Raises InputError if
    an assumption is out of its range.
    """
    try:
        expected = planning.expected(planned, **assumed.of_labels)
    except ValueError as error:
        raise InputError(sentence(error)) from None
    counts = {
        "labels per reviewer": expected.labels_per_reviewer,
        "hidden retests per reviewer": planned.retest,
        HOURS: expected.hours_per_reviewer,
        "items per pair": expected.items_per_pair,
        f"agreed {assumed.category} items": expected.n_agreed_dissimilar,
        f"agreed {assumed.categories[0]} items": expected.n_agreed_similar,
    }
    shares = ("kappa", "percent", "pair", "retest", "sensitivity", "specificity")
    rows = [{"what": name, "expected": value, "half-width": None} for name, value in counts.items()]
    rows += [_row(name, getattr(expected, name)) for name in shares]
    rows += _latent_rows(planned, assumed) if with_latent else []
    return rows, planning.limits(
        planned, expected, latent_class=_not_identified(planned), categories=assumed.categories
    )


def describe_annotator_test(planned: planning.Design, assumed: Assumptions) -> str:
    """Say how often the alternative annotator test passes, for a classifier as good as a person and for random labels.

    The probabilities are from 400 simulated studies with a fixed seed.
    """
    several = {r: n for r, n in planned.n_ratings.items() if r > 2}
    if not several:
        return (
            "Whether a classifier may replace a reviewer cannot be tested well: no item has three labels. Raise the "
            "number of reviewers per item, or the share of items that all reviewers label."
        )
    good, random = (
        evaluation.power_of_alternative(
            several, planned.n_reviewers, kappa=assumed.kappa, prevalence=assumed.prevalence, skill=skill,
            epsilon=assumed.epsilon,
        ).passes.value
        or 0.0
        for skill in (1.0, 0.0)
    )  # fmt: skip
    n_labels = next(iter(several)) if len(several) == 1 else "three or more"
    n_items, n_each = sum(several.values()), sum(r * n for r, n in several.items()) / planned.n_reviewers
    useless = " Random labels pass often, so a pass would say little." if random > MOST_RANDOM else ""
    return (
        f"With {n_labels} labels on {counted(n_items, 'item')} ({n_each:.0f} per reviewer), the alternative annotator "
        f"test (epsilon {assumed.epsilon:g}) passes for a classifier as good as a person with probability {good:.2f}, "
        f"and for random labels with {random:.2f}.{useless}"
    )


def rows_for_people(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of `items_needed` or `expected_of` with rounded numbers, and times in hours and minutes."""
    return [
        {
            name.replace("hours", "time"): _for_people(value, is_time=name == "hours" or row.get("what") == HOURS)
            for name, value in row.items()
        }
        for row in rows
    ]


def _for_people(value: Any, *, is_time: bool) -> Any:
    if value == HOURS:
        return "time per reviewer"
    if not isinstance(value, float):
        return value
    if is_time:
        return describe_minutes(60 * value)
    return round(value) if value >= 20 else round(value, 1 if value >= 1 else 2)


def _latent_rows(planned: planning.Design, assumed: Assumptions) -> list[dict[str, Any]]:
    """Return what to expect of the latent class model, for equal reviewers whose accuracy follows from kappa.

    There are no rows if the design does not identify the model, or if more than eight reviewers label an item.
    """
    p, kappa, n = assumed.prevalence, assumed.kappa, planned.n_reviewers
    if not 0 < kappa < 1 or n > MAX_REVIEWERS_OF_LATENT:
        return []

    def too_high(accuracy: float) -> float:
        called = p * accuracy + (1 - p) * (1 - accuracy)
        return p * (1 - p) * (2 * accuracy - 1) ** 2 - kappa * called * (1 - called)

    accuracy = float(optimize.brentq(too_high, 0.5, 1 - 1e-9))
    names = [f"r{i}" for i in range(n)]
    blocks: dict[tuple[str, ...], int] = {}
    sets = list(combinations(names, planned.per_item))
    for i in range(planned.n_items - planned.n_overlap):
        blocks[sets[i % len(sets)]] = blocks.get(sets[i % len(sets)], 0) + 1
    if planned.n_overlap:
        blocks[tuple(names)] = blocks.get(tuple(names), 0) + planned.n_overlap
    found = consensus.latent_precision(
        blocks, dict.fromkeys(names, (accuracy, accuracy)), prevalence=p,
        classifiers={"c": (assumed.sensitivity, assumed.specificity)}, level=assumed.level,
    )  # fmt: skip
    if found.prevalence.value is None:  # a report then prints no rates, although verdicts could identify them
        return []
    reviewer, classifier = found.reviewers[0], found.classifiers[0]
    rows = {
        "prevalence, latent class": found.prevalence,
        "sensitivity of a reviewer, latent class": reviewer.sensitivity,
        "sensitivity of a classifier, latent class": classifier.sensitivity,
        "specificity of a classifier, latent class": classifier.specificity,
    }
    return [{"what": name, "expected": e.value, "half-width": e.half_width} for name, e in rows.items() if e.se]


def precision(
    sizes_of_items: Sequence[int], n_reviewers: int, overlap: float, assumed: Assumptions, *, per_item: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the half-width of the interval of Fleiss' kappa, for each number of items and of reviewers per item.

    Each row has items, half-width and quantity, which is a text such as "2 reviewers per item". `overlap` is the share
    of items that all reviewers label. Numbers of reviewers per item above `n_reviewers`, and impossible designs, are
    left out. Raises InputError if an assumption is out of its range.
    """
    rows = []
    for k in sorted({number for number in per_item if number <= n_reviewers}):
        for n_items in sizes_of_items:
            planned = design(n_items, n_reviewers, k, overlap, 0)
            expectations, _ = expected_of(planned, assumed, with_latent=False)
            width = next(row["half-width"] for row in expectations if row["what"] == "kappa")
            if width is not None:
                rows.append({"items": n_items, "half-width": width, "quantity": f"{k} reviewers per item"})
    return rows


def usual_repeats(n_items: int, n_reviewers: int, per_item: int, overlap: float) -> int:
    """Return the usual number of hidden repeats; fewer if not so many fit, because they come long after their items."""
    own = int(n_items * (overlap + (1 - overlap) * per_item / max(n_reviewers, 1)))
    return copies_that_fit(own, PlanParameters(0).retest)


def trade_off(
    n_items: int, n_reviewers: int, assumed: Assumptions, *, per_item: Sequence[int], overlaps: Sequence[float] = SHARES
) -> list[dict[str, Any]]:
    """Return the minutes per reviewer and the half-width of the interval of kappa, for designs with these shares.

    `overlaps` are the shares of items that all reviewers label. Designs without an interval are left out.
    """
    rows = []
    for k in [number for number in per_item if number <= n_reviewers]:
        for overlap in overlaps:
            planned = design(n_items, n_reviewers, k, overlap, 0)
            expectations, _ = expected_of(planned, assumed, with_latent=False)
            width = next(row["half-width"] for row in expectations if row["what"] == "kappa")
            minutes = planned.labels_per_reviewer * assumed.seconds / 60
            if width is not None:
                rows.append({"minutes": minutes, "half-width": width, "quantity": f"{k} per item"})
    return rows


def _row(name: str, estimate: Estimate) -> dict[str, Any]:
    title = {"percent": "percent agreement", "pair": "agreement of a pair", "retest": "self-agreement"}
    return {"what": title.get(name, name), "expected": estimate.value, "half-width": estimate.half_width}


def _not_identified(planned: planning.Design) -> str | None:
    """Return the reason why this design does not identify the latent class model; return None if it does.

    With three labels per item, the model is always identified.
    """
    if planned.per_item >= 3 or (planned.overlap and planned.n_reviewers >= 3):
        return None
    reviewers = [f"reviewer {i + 1}" for i in range(min(planned.n_reviewers, MANY_REVIEWERS))]
    result = identifiability_of_plan(list(combinations(reviewers, 2)))
    return None if result.identified else result.words


def size_of_study(db: Database) -> tuple[int, int, int]:
    """Return the numbers of items, reviewers and applications that a new plan for this study would have."""
    plannable = items.included(db, measured=True)
    n_reviewers = sum(person.active for person in people.reviewers(db))
    return len(plannable), n_reviewers, len({item.application for item in plannable} - {""})


def application_sizes(db: Database, n_items: int) -> list[int]:
    """Return the number of items of each application if the study had `n_items` items.

    The applications keep the proportions that they have in the study.
    """
    sizes = sorted(Counter(item.application for item in items.included(db, measured=True)).values())
    return sizes_of(n_items, sizes or [1])


def sizes_of(n_items: int, shares: Sequence[int]) -> list[int]:
    """Divide a number of items into whole numbers in the given proportions, and return these numbers."""
    ends = [round(n_items * part / sum(shares)) for part in accumulate(shares)]
    return [end - begin for begin, end in pairwise([0, *ends])]
