"""Attention checks: how often each reviewer was right about hidden items with a known answer."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.document import Block, Paragraph, estimate, table
from analysis.statistics.intervals import Estimate, wilson
from analysis.text import joined, minute, percent

MORE, LESS, CANNOT_TELL = "more often than by guessing", "less often than by guessing", "cannot tell"


@dataclass(frozen=True)
class CheckAnswer:
    """An attention check of a reviewer, with the first label; `label` is None if there is none."""

    reviewer: str
    item: str  # the item from which the check was made
    change: str  # what was done with its runs; "" if nothing
    known: str
    place: int  # among the reviewer's items, in the planned order; starts at 1
    n_items: int  # number of the reviewer's items
    at_utc: str | None
    label: str | None
    right: bool | None


@dataclass(frozen=True)
class CheckedReviewer:
    """How often a reviewer was right, and whether guessing explains it."""

    reviewer: str
    n_checks: int
    n_labels: int
    n_right: int
    right: Estimate
    outcome: str  # MORE, LESS or CANNOT_TELL


@dataclass(frozen=True)
class AttentionChecks:
    """The answers to attention checks, which no other result uses."""

    level: float  # of the intervals
    guess: float  # the share that a random answer gets right
    reviewers: tuple[CheckedReviewer, ...]
    answers: tuple[CheckAnswer, ...]


def attention_checks(answers: Sequence[CheckAnswer], n_categories: int, *, level: float = 0.95) -> AttentionChecks:
    """Return how often each reviewer was right, by the checks with a label.

    A reviewer is right more often than by guessing if the whole interval lies above the share that a random answer
    gets right, and no answer that is the same for all checks would have been right as often.
    """
    guess = 1 / n_categories
    by_reviewer: dict[str, list[CheckAnswer]] = {}
    for answer in answers:
        by_reviewer.setdefault(answer.reviewer, []).append(answer)
    reviewers = []
    for name, own in sorted(by_reviewer.items()):
        labelled = [answer for answer in own if answer.label is not None]
        n_right, n = sum(bool(answer.right) for answer in labelled), len(labelled)
        right = wilson(n_right, n, level)
        by_one_answer = max(Counter(answer.known for answer in labelled).values(), default=0)
        outcome = CANNOT_TELL
        if right.low is not None and right.low > guess and n_right > by_one_answer:
            outcome = MORE
        elif right.high is not None and right.high < guess:
            outcome = LESS
        reviewers.append(CheckedReviewer(name, len(own), n, n_right, right, outcome))
    return AttentionChecks(level, guess, tuple(reviewers), tuple(answers))


def describe_attention(checks: AttentionChecks) -> list[str]:
    """Return sentences about which reviewers were right more often than by guessing; never more than that."""
    names = {outcome: [row.reviewer for row in checks.reviewers if row.outcome == outcome]
             for outcome in (MORE, LESS, CANNOT_TELL)}  # fmt: skip
    n_people = len(checks.reviewers)
    if not checks.answers:
        return ["The plan has no attention checks."]
    if not any(row.n_labels for row in checks.reviewers):
        return ["No reviewer has given a label to an attention check."]
    sentences = []
    if len(names[MORE]) == n_people > 1:
        sentences.append(f"{'Both' if n_people == 2 else f'All {n_people}'} reviewers were right {MORE}.")
    elif names[MORE]:
        sentences.append(f"{joined(names[MORE])} {'was' if len(names[MORE]) == 1 else 'were'} right {MORE}.")
    if names[CANNOT_TELL]:
        sentences.append(f"For {joined(names[CANNOT_TELL])}, these checks cannot tell attention from guessing.")
    if names[LESS]:
        was = "was" if len(names[LESS]) == 1 else "were"
        sentences.append(
            f"{joined(names[LESS])} {was} right {LESS}. Ask how they understood the question before you conclude "
            "anything from it."
        )
    return sentences


def describe_checked(checks: AttentionChecks, row: CheckedReviewer) -> dict[str, str]:
    """Return what the checks say about a reviewer, by the columns of the table."""
    own = [answer for answer in checks.answers if answer.reviewer == row.reviewer]
    places = joined([str(answer.place) for answer in own])
    wrong = [f"{answer.place} ({_minute(answer.at_utc)})" for answer in own if answer.right is False]
    return {
        "Reviewer": row.reviewer, "Right": f"{row.n_right} of {row.n_labels}",
        f"Share ({percent(checks.level)} CI)": estimate(row.right),
        "Compared with guessing": row.outcome, "No label": str(row.n_checks - row.n_labels),
        "Places": f"{places} of {own[0].n_items}", "Wrong at": joined(wrong) or "—",
    }  # fmt: skip


def attention_blocks(checks: AttentionChecks) -> Iterator[Block]:
    """Yield the sentences and the table of the section."""
    yield Paragraph(
        "Attention checks are hidden items with a known answer. Reviewers saw them at random places among their items. "
        f"No other section uses them. A random answer is right on {percent(checks.guess)} of them. The first label "
        "counts; a check that was answered “not sure” or not reached has no label. "
        + " ".join(describe_attention(checks))
    )
    rows = [describe_checked(checks, row) for row in checks.reviewers]
    yield table(
        "How often each reviewer was right about attention checks, and when: places among the reviewer's items.",
        list(rows[0]),
        [tuple(row.values()) for row in rows],
        numeric=(4,),
        name="attention",
    )


def _minute(at_utc: str | None) -> str:
    return f"{minute(at_utc)} UTC" if at_utc else "unknown time"
