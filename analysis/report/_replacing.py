"""May a classifier replace a reviewer? The alternative annotator test of each classifier: numbers and sections.

Reports of any categories use this module. Only first labels count: third labels were given because people disagreed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from analysis import document as d
from analysis.raters.evaluation import (
    CANNOT_TELL,
    EXPERT as EXPERT,
    NO_ANSWER,
    PASSES,
    WORSE,
    AlternativeTest,
    alternative_annotator,
    describe_answers,
    share_equal,
)
from analysis.report._settings import row_title, title_of
from analysis.report._units import BY_APPLICATION, BY_ITEM, Units, groups_of_items

TITLE = "May a classifier replace a reviewer?"
LEAST_ITEMS = 10  # a reviewer with fewer items is not compared with a classifier
ENOUGH_ITEMS = 30  # of a reviewer; with fewer, a test by ranks is used


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """Whether a classifier may replace a reviewer.

    `n_items` is the number of items with a verdict from which the answer comes: those with three labels or more, or, if
    there are none, those with two (`compared_with_one`).
    """

    classifier: str
    n_items: int
    compared_with_one: bool
    test: AlternativeTest
    answer: str  # PASSES, WORSE, CANNOT_TELL or NO_ANSWER


def replacements(
    labels: pd.DataFrame,
    verdicts: pd.DataFrame,
    applications: Mapping[object, object],
    units: Units,
    *,
    epsilon: float = EXPERT,
    level: float = 0.95,
    n_draws: int = 0,
    seed: int = 1,
) -> tuple[Replacement, ...]:
    """Test each classifier.

    `labels`: first labels that count: columns item, rater, category; `verdicts`: columns item, classifier, verdict;
    `applications`: item -> application; the other items are groups of their own; `units`: what the tests count.
    """
    once = labels.drop_duplicates(["item", "rater"])
    answers: dict[object, dict[str, str]] = {}
    for item, rater, category in once[["item", "rater", "category"]].to_numpy(object).tolist():
        answers.setdefault(item, {})[str(rater)] = str(category)
    several = {item: given for item, given in answers.items() if len(given) > 2}
    used = several or {item: given for item, given in answers.items() if len(given) == 2}
    items = pd.Index(list(used), dtype=object)
    of_items = groups_of_items(items, applications, units)
    found = []
    for name, rows in verdicts.groupby("classifier", sort=True):
        given = rows[rows["verdict"].notna() & rows["item"].isin(list(used))]
        test = alternative_annotator(
            used, dict(zip(given["item"], given["verdict"], strict=True)), share_equal, epsilon=epsilon,
            groups=None if of_items is None else of_items.to_dict(), least_items=LEAST_ITEMS, level=level,
            n_draws=n_draws, seed=seed,
        )  # fmt: skip
        found.append(Replacement(classifier=str(name), n_items=len(given), compared_with_one=not several, test=test,
                                 answer=test.answer(by_item=units.by != BY_APPLICATION,
                                                    by_group=units.by != BY_ITEM)))  # fmt: skip
    return tuple(found)


def may_replace(rows: Sequence[Replacement]) -> tuple[str, bool]:
    """Return the answer in one sentence, and whether the labels show it; "" if no study was designed for this question.

    A classifier that does not pass need not be worse: then the labels cannot tell.
    """
    told = [row for row in rows if _is_designed(row)]
    if not told:
        return "", False
    epsilon = told[0].test.epsilon
    if told[0].test.random_passes:
        return (
            "Whether a classifier may replace a reviewer cannot be said: random labels come nearly as close to the "
            f"reviewers as they are to each other (epsilon {epsilon:g})."
        ), False
    answers = [(title_of(row.classifier), row.answer) for row in told]
    found = describe_answers(answers, epsilon, person="a reviewer", these="these labels")
    items = d.counted(told[0].n_items, "item")
    how = f"By the alternative annotator test (epsilon {epsilon:g}, {items} with three or more labels)"
    return f"{how}, {found}.", any(answer in (PASSES, WORSE) for _, answer in answers)


def _is_designed(row: Replacement) -> bool:
    people = row.test.people
    return not row.compared_with_one and len(people) > 2 and min(person.n for person in people) >= ENOUGH_ITEMS


def replacement_sections(found: Sequence[Replacement], level: str) -> Iterator[d.Section]:
    """Yield the section; yield nothing if there are no classifiers. `level` is such as "95 % CI"."""
    if found:
        yield d.Section(TITLE, tuple(_blocks(found, level)))


def _blocks(found: Sequence[Replacement], level: str) -> Iterator[d.Block]:
    tested = [row for row in found if row.test.people]
    if not tested:
        yield d.Paragraph(f"No answer: {found[0].test.reason}.")
        return
    epsilon = tested[0].test.epsilon
    yield d.Paragraph(_answer(tested, epsilon))
    yield d.table(
        "The advantage is the share of items on which the classifier is at least as close to the other reviewers as a "
        "reviewer, minus the share on which the reviewer is at least as close as the classifier, averaged over "
        "reviewers; the first share alone is rho. A classifier passes if it replaces at least half of the reviewers: "
        f"if for each of these, an advantage of the reviewer of {epsilon:g} (epsilon) or more is rejected (t test, or "
        f"Wilcoxon's test with fewer than {ENOUGH_ITEMS} items; corrected by Benjamini and Yekutieli's method over the "
        "reviewers). It is worse if the whole interval of the advantage is below minus epsilon, and too many reviewers "
        "are closer by epsilon or more. An equal closeness counts for both, so compare rho with that of random labels.",
        ("Classifier", "Items", f"Advantage ({level})", "rho", "rho, random labels", "Reviewers replaced",
         "Replaced, by application", "Answer", "Would pass from epsilon"),
        [_row(row) for row in tested], numeric=(1, 3, 4), name="replacing",
    )  # fmt: skip
    yield d.table(
        "Each reviewer against each classifier. The last two columns have the p values of the hypothesis that the "
        "reviewer is better by epsilon or more, not corrected; the second one counts items of an application together.",
        ("Classifier", "Reviewer", "Items", "Classifier as close or closer", "Reviewer as close or closer", "p",
         "p, by application"),
        [
            (row_title(row.classifier), person.person, person.n, d.percent(person.rho), d.percent(person.rho_person),
             d.p_value(person.p), d.p_value(person.p_clustered))
            for row in tested for person in row.test.people
        ],
        numeric=(2, 3, 4, 5, 6), name="replacing-each",
    )  # fmt: skip
    yield d.Paragraph(" ".join(_limits(tested)))
    if tested[0].test.random_passes:
        yield d.Paragraph("What would change this: reviewers who agree more with each other, or a smaller epsilon.")
    else:
        yield d.Paragraph(" ".join(_changes(tested, epsilon)))


def _answer(tested: Sequence[Replacement], epsilon: float) -> str:
    n = max(row.n_items for row in tested)
    if tested[0].test.random_passes:
        return (
            f"No answer: with epsilon {epsilon:g}, random labels would pass too, given enough items, because the "
            f"reviewers are hardly closer to each other (advantage of random labels "
            f"{d.number(tested[0].test.advantage_random)}). The numbers below say only how close each classifier is."
        )
    kind = "two labels" if tested[0].compared_with_one else "three or more labels"
    how = (
        f"The alternative annotator test (Calderon, Reichart and Dror 2025) on {d.counted(n, 'item')} with {kind} "
        f"answers, with epsilon {epsilon:g}:"
    )
    parts = []
    for answer, one, several in (
        (PASSES, "passes", "pass"),
        (
            WORSE,
            f"is worse than a reviewer by more than {epsilon:g}",
            f"are worse than a reviewer by more than {epsilon:g}",
        ),
    ):
        rows = [row for row in tested if row.answer == answer]
        if rows:
            parts.append(f"{d.joined(_titles(rows, start=True))} {one if len(rows) == 1 else several}.")
    open_ones = [row for row in tested if row.answer == CANNOT_TELL]
    if open_ones:
        parts.append(f"These labels cannot tell it of {d.joined(_titles(open_ones))}.")
    return " ".join((how, *parts))


def _row(row: Replacement) -> tuple[object, ...]:
    test, n = row.test, len(row.test.people)
    shown = (row_title(row.classifier), row.n_items, d.plain_number(test.advantage), d.number(test.rho),
             d.number(test.rho_random))  # fmt: skip
    if row.answer == NO_ANSWER:
        return *shown, None, None, row.answer, None
    by_application = None if test.omega_clustered is None else f"{round(test.omega_clustered * n)} of {n}"
    never = d.Marked("never", "not with any epsilon below 1")
    from_epsilon = never if test.passes_from is None else f"{test.passes_from:.2f}"
    return *shown, f"{round((test.omega or 0) * n)} of {n}", by_application, row.answer, from_epsilon


def _limits(tested: Sequence[Replacement]) -> Iterator[str]:
    people = tested[0].test.people
    if tested[0].compared_with_one:
        yield (
            "No item has three first labels, so “the others” are a single reviewer: each classifier and each reviewer "
            "is compared with one person, whose errors count like the truth. Let three or more people label the same "
            "items."
        )
    if len(people) < 3:
        yield f"With {d.counted(len(people), 'reviewer')}, the test is less reliable."
    few = [person.person for person in people if person.n < ENOUGH_ITEMS]
    if few:
        yield f"Wilcoxon's test is used for reviewers with fewer than {ENOUGH_ITEMS} items ({d.joined(few)})."
    yield (
        "The test says how close a classifier is to these reviewers on these items; it does not say who is right. Only "
        "first labels count."
    )


def _changes(tested: Sequence[Replacement], epsilon: float) -> Iterator[str]:
    """Say what would change the answers."""
    yield f"What would change the answers: epsilon is how much worse than a reviewer a classifier may be ({epsilon:g})."
    for passes, one, many in (
        (True, "no longer passes with an epsilon below", "no longer pass with an epsilon below"),
        (False, "would pass with an epsilon of", "would pass with an epsilon of"),
    ):
        by_limit: dict[str, list[Replacement]] = {}
        for row in tested:
            if (row.answer == PASSES) is passes and row.test.passes_from:
                by_limit.setdefault(f"{row.test.passes_from:.2f}", []).append(row)
        for limit, rows in sorted(by_limit.items()):
            yield f"{d.joined(_titles(rows, start=True))} {one if len(rows) == 1 else many} {limit}."
    open_ones = [title_of(row.classifier) for row in tested if row.answer == CANNOT_TELL]
    if open_ones:
        yield f"More items with three labels could give an answer for {d.joined(open_ones)}."


def _titles(rows: Sequence[Replacement], *, start: bool = False) -> list[str]:
    """Return the titles of classifiers; at the start of a sentence, the first one has a capital letter."""
    return [(row_title if start and not at else title_of)(row.classifier) for at, row in enumerate(rows)]
