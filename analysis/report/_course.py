"""How a study proceeded: its steps, people, excluded items and calibration round."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.document import Block, Paragraph, Section, percent, plain_number, share, table
from analysis.raters.agreement import WeightedEstimates
from analysis.report._attention import AttentionChecks, attention_blocks
from analysis.report._settings import ReportStyle
from analysis.statistics.intervals import Estimate
from analysis.text import minute


@dataclass(frozen=True)
class Unblinding:
    """When, by whom and why the study was unblinded."""

    at_utc: str
    by: str
    why: str


@dataclass(frozen=True)
class StudyStep:
    """A step of the study."""

    at_utc: str
    step: str
    by: str
    why: str


@dataclass(frozen=True)
class PersonChange:
    """A change of the reviewers."""

    at_utc: str
    change: str
    by: str
    name: str | None
    successor: str | None
    why: str | None


@dataclass(frozen=True)
class Excluded:
    """An item that no result uses."""

    item: str
    why: str


@dataclass(frozen=True)
class ChangedPair:
    """Two reviewers with common items that the plan did not intend."""

    a: str
    b: str
    items: int


@dataclass(frozen=True)
class RoundRequirement:
    """The agreement that a calibration round requires."""

    on: str  # "reference" or "reviewers"
    least: float


@dataclass(frozen=True)
class ReviewerInRound:
    """The results of a reviewer in the calibration round."""

    reviewer: str
    n_assigned: int
    n_done: int
    with_reference: Estimate


@dataclass(frozen=True)
class CalibrationRound:
    """The results of the calibration round."""

    n_items: int
    n_reference: int
    reviewers: tuple[ReviewerInRound, ...]
    percent: Estimate
    kappa: Estimate
    gate: RoundRequirement | None
    not_passed: tuple[str, ...]
    passed: bool


@dataclass(frozen=True)
class ChosenItems:
    """The labels of random and of chosen items, and which results use them."""

    n_population: int
    n_random: int
    n_random_labels: int
    n_chosen: int
    n_labels: int
    by_model: bool  # whether a model of the labels chose items, beside the classifiers
    weighted: WeightedEstimates


def how_chosen(by_model: bool) -> str:
    """Return why items were chosen, as a clause."""
    return f"classifiers disagreed on them{' and a model was uncertain' if by_model else ''}"


@dataclass(frozen=True)
class NotGiven:
    """A planned first label that was never given."""

    item: str
    reviewer: str


@dataclass(frozen=True)
class LaterItems:
    """Items that were imported after the plan was drawn, and how many of them the plan has now."""

    at_utc: str
    items: int
    planned: int


@dataclass(frozen=True)
class AnswerGroup:
    """People who gave the same answer to a question of the questionnaire, and their agreement with each other."""

    question: str
    answer: str
    people: int
    agreement: Estimate | None  # None if the group has fewer than three people


@dataclass(frozen=True)
class Flag:
    """A flag or comment of a reviewer; `code` is the name that the reviewer saw for the item."""

    item: str
    code: str
    reviewer: str
    flag: bool
    comment: str | None  # None if comments were left out of the study


@dataclass(frozen=True)
class Course:
    """How a study proceeded."""

    unblinded: Unblinding | None
    steps: tuple[StudyStep, ...]
    people: tuple[PersonChange, ...]
    excluded: tuple[Excluded, ...]
    changed_pairs: tuple[ChangedPair, ...]
    calibration: CalibrationRound | None
    selection: ChosenItems | None  # None if no items were chosen
    not_given: tuple[NotGiven, ...]  # empty while reviewers can label
    flags: tuple[Flag, ...]
    later: tuple[LaterItems, ...]
    groups: tuple[AnswerGroup, ...]  # empty if the study has no questionnaire
    attention: AttentionChecks | None  # None while reviewers can label, and if there are no checks


def course_sections(course: Course | None, style: ReportStyle, *, interim: bool) -> Iterator[Section]:
    """Yield the sections on how the study proceeded; yield nothing if the report is not about a study."""
    if course:
        yield Section("Course of the study", tuple(_course(course, interim=interim)))
        if course.calibration:
            yield Section("Calibration round", tuple(_calibration(course.calibration, style.level_text)))
        if course.attention:
            yield Section("Attention checks", tuple(attention_blocks(course.attention)))
        if course.groups:
            yield Section("Groups of reviewers", tuple(_groups(course.groups, style.level_text)))
        if course.selection:
            yield Section(
                "Random and chosen items",
                tuple(_selection(course.selection, style.category_set.positive, style.level_text)),
            )


def _course(course: Course, *, interim: bool) -> Iterator[Block]:
    if course.unblinded:
        unblinded = course.unblinded
        on = f" on {_minute(unblinded.at_utc)}" if unblinded.at_utc else ""
        why = f": {unblinded.why}" if unblinded.why else "."
        yield Paragraph(f"The study was unblinded{on} by {unblinded.by}{why}")
    if course.steps:
        rows = [(_minute(row.at_utc), row.step, row.by, row.why) for row in course.steps]
        yield table("Steps of the study, with the reasons given.", ("Time", "Step", "By", "Why"), rows)
    else:
        yield Paragraph("The study has not moved to another step since its plan was created.")
    if course.later:
        added = [(_minute(row.at_utc), row.items, row.planned) for row in course.later]
        words = "Items that were imported after the plan was drawn, and how many of them are in the plan."
        yield table(words, ("Time", "Items", "In the plan"), added, numeric=(1, 2))
    if course.people:
        people = [
            (_minute(row.at_utc), row.change, row.name or "", row.successor or "", row.why or "")
            for row in course.people
        ]
        yield table("Changes of reviewers.", ("Time", "Change", "Reviewer", "Successor", "Why"), people)
    if course.changed_pairs:
        pairs = [(row.a, row.b, row.items) for row in course.changed_pairs]
        words = "Pairs that share items although the plan did not intend it: one reviewer took over items of another."
        yield table(words, ("Reviewer", "Reviewer", "Items"), pairs, numeric=(2,))
    if course.flags:
        named = not interim
        flags = [
            (*([row.item] if named else []), row.code, row.reviewer, "yes" if row.flag else "",
             row.comment)
            for row in course.flags
        ]  # fmt: skip
        words = "Flags and comments of reviewers. The code is the name that this reviewer saw for the item."
        header = ("Item", "Code", "Reviewer", "Flag", "Comment")
        yield table(words, header if named else header[1:], flags)
    if course.excluded:
        excluded = [(row.item, row.why) for row in course.excluded]
        yield table(
            "Excluded items. They stay in the study, but no number of the report uses them.", ("Item", "Why"), excluded
        )


def _calibration(round_: CalibrationRound, level: str) -> Iterator[Block]:
    gate = round_.gate
    words = f"Before the study, every reviewer labelled {round_.n_items} items. "
    words += "Other sections of this report do not use these items. "
    words += (
        f"Agreement is undefined, because {round_.percent.reason}."
        if round_.percent.value is None
        else f"Reviewers agreed on {percent(round_.percent.value)} of the pairs of labels."
    )
    if gate:
        on = "agreement with the reference labels" if gate.on == "reference" else "agreement between reviewers"
        words += f" To pass, the {on} had to be at least {percent(gate.least)}."
    words += (
        " The round passed." if not round_.not_passed else f" The round did not pass: {'; '.join(round_.not_passed)}."
    )
    yield Paragraph(words)
    yield table(
        f"Agreement with the reference labels ({round_.n_reference} in all).",
        ("Reviewer", "Labelled", "Assigned", f"Agreement with the reference ({level})"),
        [(row.reviewer, row.n_done, row.n_assigned, share(row.with_reference)) for row in round_.reviewers],
        numeric=(1, 2),
        name="calibration",
    )
    between = (("percent agreement", share(round_.percent)), ("Fleiss' kappa", plain_number(round_.kappa)))
    yield table(
        "Agreement between the reviewers.", ("Measure", f"Value ({level})"), between, name="calibration-agreement"
    )


def _groups(groups: Sequence[AnswerGroup], level: str) -> Iterator[Block]:
    yield Paragraph(
        "Reviewers answered a questionnaire. The agreement of a group compares its members with each other, and is "
        "shown if at least three people gave the answer. Groups label different items, so a difference between two "
        "groups is no evidence that the answer matters."
    )
    yield table(
        "Percent agreement within groups of reviewers who gave the same answer.",
        ("Question", "Answer", "People", f"Percent agreement ({level})"),
        [
            (row.question, row.answer, row.people, share(row.agreement) if row.agreement else "fewer than three people")
            for row in groups
        ],
        numeric=(2,),
        name="groups",
    )


def _selection(selection: ChosenItems, positive: str | None, level: str) -> Iterator[Block]:
    weighted = selection.weighted
    yield Paragraph(
        f"{selection.n_chosen} items were not drawn at random, but chosen because {how_chosen(selection.by_model)}. "
        "The labels of chosen items would bias agreement and shares. This table lists which labels each result uses."
    )
    random = f"{selection.n_random} random items", selection.n_random_labels
    both = f"{selection.n_random + selection.n_chosen} random and chosen items", selection.n_labels
    two = f"{weighted.n_items} random and chosen items with two labels, weighted", weighted.n_labels
    yield table(
        "Which first labels each result uses.",
        ("Result", "Items", "Labels"),
        [
            ("All other sections of this report", *random),
            ("The weighted estimates below", *two),
            ("labeler learn", *both),
        ],
        numeric=(2,),
    )
    values = (
        *(((f"Share of {positive} labels", share(weighted.share)),) if positive else ()),
        ("Percent agreement", share(weighted.percent)),
        ("Fleiss' kappa", plain_number(weighted.kappa)),
    )
    words = f"Weighted estimates that represent all {selection.n_population} items of the study."
    yield table(words, ("Measure", f"Value ({level})"), values, name="selection")
    yield Paragraph(
        "Each label is weighted by the inverse of the probability that its item was labelled (Farquhar et al. 2021), "
        "so that random and chosen items together represent all items. "
        f"{weighted.n_without} items have no weight yet, because no random item was drawn after they were chosen."
    )


def _minute(at_utc: str) -> str:
    return f"{minute(at_utc)} UTC" if at_utc else ""
