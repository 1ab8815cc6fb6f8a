"""Build the report on marks of people and detectors: sentences, tables and figures."""

from collections.abc import Iterable, Iterator
from math import exp
from typing import Any

from analysis import document as d
from analysis.methods.points._agreement import AboveChance, MarginRow, MarkAgreement, StartAgreement
from analysis.methods.points._survey import STARTS, DetectorScore, ItemMarks, PointsSurvey
from analysis.raters.evaluation import CANNOT_TELL, AlternativeTest, describe_answers
from analysis.statistics.intervals import Estimate

SOURCES = (
    "F1 and covering: van den Burg and Williams (2020), An evaluation of change point detection algorithms, "
    "arXiv:2003.06222, as TCPDBench computes them. May a detector replace a person: Calderon, Reichart and Dror "
    "(2025), The alternative annotator test, arXiv:2501.10970. Intervals are from a bootstrap over items."
)
READ_OF_TEST = (
    "Advantage is the share of items on which the detector is nearer to the others minus the share on which the person "
    "is; above 0, the detector is nearer. The test asks, for each person, whether the person is better by less than "
    "epsilon; a detector passes if it may replace at least half of the people. It is worse if the whole interval of "
    "the advantage is below minus epsilon, and too many people are nearer by epsilon or more. Ties count for both, so "
    "read the advantage first."
)


def document(survey: PointsSurvey) -> d.Document:
    """Build the report on marks of people and detectors."""
    question = (
        "How far do people agree on the start of the steady state, and may a rule replace a person?"
        if survey.about == STARTS
        else "How far do people agree on where a series changes, and may a detector replace a person?"
    )
    return d.method_report(
        "Marked points",
        question,
        in_short(survey),
        sections(survey),
        [d.Bullets(tuple(f"{row.name}: {row.reason}." for row in survey.left_out))] if survey.left_out else [],
        survey.parameters,
        kind="report on marked points",
        source=(d.Paragraph(SOURCES),),
    )


def sections(survey: PointsSurvey) -> list[tuple[str, list[d.Block]]]:
    """Build all sections, each with its title, except those that every report of a method has."""
    agreement = _changes(survey.changes) if survey.changes else _starts(survey.starts) if survey.starts else ()
    return [
        ("Agreement of people", list(agreement)),
        ("Consensus", list(_consensus(survey))),
        ("Detectors against people", list(_detectors(survey))),
        ("May a detector replace a person?", list(_replacing(survey))),
    ]


def in_short(survey: PointsSurvey) -> Iterator[str]:
    """Yield the most important results as sentences."""
    if not survey.items:
        yield "Nobody marked an item whose length is known."
        return
    n_people, n_labels = len(survey.labels), sum(survey.labels.values())
    people = "1 person" if n_people == 1 else f"{n_people} people"
    yield f"{people} marked {d.counted(len(survey.items), 'item')}, with {d.counted(n_labels, 'answer')} in all."
    if survey.changes:
        yield from _changes_in_short(survey.changes)
        yield _consensus_in_short(survey.items)
    if survey.starts:
        yield from _starts_in_short(survey.starts)
        n_agreed = sum(bool(item.agreed) for item in survey.items)
        runs = d.counted(len(survey.items), "run")
        yield f"More than half of the people say for {n_agreed} of {runs} that the run becomes steady."
    yield from _best_in_short(survey)


def _consensus_in_short(items: Iterable[ItemMarks]) -> str:
    n_agreed, n_ties, n_lone = (sum(len(getattr(item, kind)) for item in items) for kind in ("agreed", "ties", "lone"))
    undecided = f"{d.counted(n_ties, 'tie')} and {d.counted(n_lone, 'lone mark')} are left to decide"
    return (
        f"More than half of the people agree on {d.counted(n_agreed, 'mark')}; "
        f"{undecided if n_ties or n_lone else 'nothing is left to decide'}."
    )


def _changes_in_short(found: MarkAgreement) -> Iterator[str]:
    if found.n_series == 0:
        yield "No item has two people, so agreement cannot be measured."
        return
    ordered = sorted(found.mean_marks, key=lambda person: found.mean_marks[person])
    fewest, most = ordered[0], ordered[-1]
    yield (
        f"The intraclass correlation of the number of marks per item is {_estimate(found.number_of_marks)}."
        f" Per item, {fewest} marks {found.mean_marks[fewest]:.1f} changes, and {most} {found.mean_marks[most]:.1f}."
    )
    yield f"On whether there is any change, Fleiss' kappa is {_estimate(found.any_change)}."
    above = found.f1_above_chance
    yield (
        f"Within {found.margin:g} points, each person's F1 against the rest is {_estimate(above.score)}"
        f"{_by_chance(above)}."
    )


def _by_chance(above: AboveChance) -> str:
    if above.chance is None:
        return ""
    corrected = "" if above.corrected is None else f", so {d.number(above.corrected)} of what is left above chance"
    return f"; marks at random places have {d.number(above.chance)}{corrected}"


def _starts_in_short(found: StartAgreement) -> Iterator[str]:
    if found.n_runs == 0:
        yield "No run has two people, so agreement cannot be measured."
        return
    yield f"On whether a run ever becomes steady, Fleiss' kappa is {_estimate(found.never)}."
    yield (
        f"On the start, alpha is {_estimate(found.alpha_of_iterations)}, and "
        f"{_estimate(found.alpha)} for log(1 + start)."
    )
    if found.factor is not None:
        yield f"In 95 % of the runs, the starts of two people differ by less than a factor of {found.factor:.3g}."


def _best_in_short(survey: PointsSurvey) -> Iterator[str]:
    others = [row for row in survey.detectors if row.name != survey.baseline]
    for at, score in enumerate(others[0].scores if others else ()):
        best = max(others, key=lambda row: row.scores[at].mean.value or 0)
        found, difference = best.scores[at], best.scores[at].difference
        if survey.about == STARTS:
            yield f"Nearest to people: {best.name}; its start differs from a person's by a factor of {_factor(found)}."
        else:
            value = d.number(found.mean.value)
            nearest = f"Nearest to people by {score.name}: {best.name} with {value}"
            more = f"; its difference to {survey.baseline} is {_estimate(difference)}"
            yield f"{nearest}{'' if difference.value is None else more}."
    for at, score in enumerate(others[0].scores if others else ()):
        yield f"By {score.name}, {_may_replace(survey, at)}."
    tests = [score.replaces for row in survey.detectors for score in row.scores]
    if any(test.answer() == CANNOT_TELL for test in tests):
        yield "More items that three or more people mark could tell what these marks cannot."


def _may_replace(survey: PointsSurvey, at: int) -> str:
    """Say which detectors may replace a person by one of the scores, and what would tell."""
    tests = {row.name: row.scores[at].replaces for row in survey.detectors}
    tested, epsilon = [test for test in tests.values() if test.people], next(iter(tests.values())).epsilon
    if not tested:
        return f"nothing can be said about replacing a person: {next(iter(tests.values())).reason}"
    if tested[0].random_passes:
        return (
            f"these marks cannot tell whether a detector may replace a person (epsilon {epsilon:g}): marks drawn from "
            "those of the people come nearly as close; people who agree more, or a smaller epsilon, could tell"
        )
    answers = [(name, test.answer()) for name, test in tests.items() if test.people]
    found = describe_answers(answers, epsilon, person="a person", these="these marks")
    return f"{found} (epsilon {epsilon:g})"


def _estimate(value: Estimate) -> str:
    return d.estimate(value, as_percent=False)


def _changes(found: MarkAgreement) -> Iterator[d.Block]:
    if found.n_series == 0:
        return
    rows: list[tuple[str, Any]] = [
        ("Number of marks, ICC(1)", d.plain_number(found.number_of_marks)),
        ("Any change at all, Fleiss' kappa", d.plain_number(found.any_change)),
        ("Pairs of people without any mark", d.percent(found.none_and_none)),
        (f"F1 of each person against the rest, margin {found.margin:g}", d.plain_number(found.f1_above_chance.score)),
        ("F1 of marks at random places", d.number(found.f1_above_chance.chance)),
        ("F1, corrected for chance", d.number(found.f1_above_chance.corrected)),
        ("Covering of each person against the rest", d.plain_number(found.covering_above_chance.score)),
        ("Covering of marks at random places", d.number(found.covering_above_chance.chance)),
        ("Covering, corrected for chance", d.number(found.covering_above_chance.corrected)),
        (f"Mean distance of matched marks, margin {found.margin:g}", f"{d.number(found.distance, 2)} points"),
    ]
    yield d.table(
        f"Agreement on {d.counted(found.n_series, 'item')} with at least two people (95 % intervals).",
        ("Measure", "Value"), rows, (1,),
    )  # fmt: skip
    yield d.table(
        "Agreement on places, by margin. The point 0 belongs to every set in the first column and to none in the "
        "second, which has only pairs of people of whom at least one marked a change.",
        ("Margin", "F1 against the rest", "F1 of pairs"),
        [(_margin(row), d.plain_number(row.against_rest), d.plain_number(row.pairs)) for row in found.margins],
        (1, 2),
    )
    yield d.table(
        "Mean number of marks per item.",
        ("Person", "Marks"),
        [(person, f"{marks:.2f}") for person, marks in found.mean_marks.items()],
        (1,),
    )


def _margin(row: MarginRow) -> str:
    return f"{100 * row.margin:g} % of the length" if row.is_share else f"{d.counted(int(row.margin), 'point')}"


def _starts(found: StartAgreement) -> Iterator[d.Block]:
    if found.n_runs == 0:
        return
    yield d.table(
        f"Agreement on {d.counted(found.n_runs, 'run')} with at least two people (95 % intervals). The limits of "
        "agreement are a factor: 1 + start of two people differs by less in 95 % of the runs.",
        ("Measure", "Value"),
        [
            ("Never steady, Fleiss' kappa", d.plain_number(found.never)),
            ("Start, Krippendorff's alpha", d.plain_number(found.alpha_of_iterations)),
            ("log(1 + start), Krippendorff's alpha", d.plain_number(found.alpha)),
            ("log(1 + start), ICC(1)", d.plain_number(found.icc)),
            ("Limits of agreement", d.DASH if found.factor is None else f"factor {found.factor:.3g}"),
        ],
        (1,),
    )
    yield d.table(
        "Share of runs in which the starts of two people differ by at most this number of iterations.",
        ("Iterations", "Least alike pair", "Mean of pairs", "Most alike pair"),
        [(row.iterations, d.percent(row.lowest), d.percent(row.mean), d.percent(row.highest)) for row in found.within],
        (0, 1, 2, 3),
    )
    yield d.table(
        "Runs that never become steady.",
        ("Person", "Never"),
        [(person, d.percent(never)) for person, never in found.share_never.items()],
        (1,),
    )


def _consensus(survey: PointsSurvey) -> Iterator[d.Block]:
    rows = [
        (
            item.item,
            len(item.people),
            _places(item.agreed),
            "; ".join(f"{cluster.at} ({', '.join(cluster.people)})" for cluster in item.ties) or d.DASH,
            "; ".join(f"{cluster.at} ({', '.join(cluster.people)})" for cluster in item.lone) or d.DASH,
        )
        for item in sorted(survey.items, key=lambda item: -len(item.ties) - len(item.lone))
    ]
    if rows and survey.about == STARTS:
        yield d.first_rows(
            "Consensus: the median start, if more than half of the people say that the run becomes steady.",
            ("Item", "People", "Start"), [row[:3] for row in rows], (1,),
        )  # fmt: skip
    elif rows:
        yield d.first_rows(
            "Marks that more than half of the people agree on, and what is left to decide: ties (half of the people) "
            "and lone marks (fewer). Items with the most to decide first.",
            ("Item", "People", "Agreed", "Ties", "Lone marks"), rows, (1,),
        )  # fmt: skip


def _places(marks: Iterable[int]) -> str:
    return ", ".join(map(str, marks)) or "none"


def _detectors(survey: PointsSurvey) -> Iterator[d.Block]:
    if not survey.detectors:
        return
    if survey.about == STARTS:
        yield d.table(
            "Rules, and how far their starts are from those of people: the mean factor between 1 + start of the rule "
            f"and of a person (never: the end of the run), and the difference of its logarithm from {survey.baseline} "
            "(above 0: nearer to people).",
            ("Rule", "Runs", "Mean factor", "Difference"),
            [
                (row.name, row.n_items, _factor(row.scores[0]), d.plain_number(row.scores[0].difference))
                for row in survey.detectors
            ],
            (1, 2, 3),
        )
        return
    names = [score.name for score in survey.detectors[0].scores]
    margin = survey.parameters["margin"]
    yield d.table(
        f"Detectors, with mean scores against all people of an item (margin {margin:g}; 95 % intervals).",
        ("Detector", "Items", "Marks per item", "Precision", "Recall", *names),
        [
            (row.name, row.n_items, f"{row.mean_marks:.1f}", d.number(row.precision), d.number(row.recall),
             *(d.plain_number(score.mean) for score in row.scores))
            for row in survey.detectors
        ],
        range(1, 5 + len(names)),
    )  # fmt: skip
    yield d.table(
        f"Mean score of each detector minus that of {survey.baseline}, on the same items.",
        ("Detector", *names),
        [
            (row.name, *(d.plain_number(score.difference) for score in row.scores))
            for row in survey.detectors
            if row.name != survey.baseline
        ],
        range(1, 1 + len(names)),
    )
    yield d.Figure(
        "points-scores", f"Mean scores with 95 % intervals; the dashed line is the baseline {survey.baseline}."
    )


def _factor(score: DetectorScore) -> str:
    mean = score.mean
    if mean.value is None:
        return d.DASH
    ends = "" if mean.low is None or mean.high is None else f" ({exp(-mean.high):.3g} to {exp(-mean.low):.3g})"
    return f"{exp(-mean.value):.3g}{ends}"


def _replacing(survey: PointsSurvey) -> Iterator[d.Block]:
    rows = [
        (row.name, score.name, *_test_row(score.replaces))
        for row in survey.detectors
        for score in row.scores
        if score.replaces.omega is not None
    ]
    if not rows:
        return
    yield d.Paragraph(READ_OF_TEST)
    yield d.table(
        f"Whether a detector may replace a person (epsilon {survey.parameters['epsilon']:g}). Rho is the mean share of "
        "items on which the detector is at least as near to the others as the person; omega is the share of people "
        "whom it may replace.",
        ("Detector", "Score", "Advantage", "Rho", "Rho of random answers", "Omega", "Answer"),
        rows,
        (2, 3, 4, 5),
    )
    tests = [score.replaces for row in survey.detectors for score in row.scores]
    n_single = max(test.n_compared_with_one for test in tests)
    if n_single:
        yield d.Paragraph(f"On {d.counted(n_single, 'item')}, the others are a single person: compared with one only.")
    reasons = {test.reason for test in tests if test.reason and test.omega is not None}
    yield from (d.Paragraph(f"{reason[:1].upper()}{reason[1:]}.") for reason in sorted(reasons))


def _test_row(test: AlternativeTest) -> tuple[Any, ...]:
    return (
        d.plain_number(test.advantage), d.number(test.rho), d.number(test.rho_random), d.percent(test.omega),
        test.answer(),
    )  # fmt: skip
