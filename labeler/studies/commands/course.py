"""Commands for the states of a study, its calibration round, and single items."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from analysis.text import counted, joined, minute
from labeler.cli.common import json_option, now, out_option, remark, show, show_json, write_text
from labeler.cli.options import options_of
from labeler.errors import InputError
from labeler.files.formats.label_reading import LabelReading
from labeler.safe_text import one_line
from labeler.studies.commands.opening import OWNER, WHY, open_study, reason_option, say_if_interim, study_option
from labeler.studies.course import calibrating, coordinating, course
from labeler.studies.course.calibrating import CalibrationResult
from labeler.studies.items import browsing
from labeler.studies.labelling import inbox
from labeler.studies.labelling.inbox import Message
from labeler.studies.model import CalibrationGate
from labeler.studies.plan.lifecycle import STATE_PHRASES, Step


@click.command(epilog="Example: labeler state close --study cache.study --reason 'all labels are complete'")
@click.argument("step", type=click.Choice([step.value for step in Step]))
@study_option
@reason_option
@click.option("--force", is_flag=True, help="Open the study even though calibration was not passed.")
@json_option
def state(step: str, study: Path | None, why: str, force: bool, as_json: bool) -> None:
    """Open, pause, close or unblind the study, or begin the third-label round.

    A study goes through the states draft, calibration (if planned), open, third (if wanted), closed and unblinded. You
    can pause it in each state; `open` resumes it. The log records each step with its reason.
    """
    with open_study(study) as db:
        moved = course.change_state(db, Step(step), why=why, force=force, actor=OWNER, now=now())
    if as_json:
        show_json({"state": str(moved.state), "remarks": [*moved.remarks, *moved.for_owner]})
    for text in (*moved.remarks, *moved.for_owner):
        remark(text)
    remark(f"The study is {STATE_PHRASES[moved.state]}.")


@click.command(epilog="Example: labeler exclude 'org__app#bench' --study cache.study --reason 'one run was cut off'")
@click.argument("item")
@study_option
@reason_option
@click.option("--undo", is_flag=True, help="Include the item again.")
@json_option
def exclude(item: str, study: Path | None, why: str, undo: bool, as_json: bool) -> None:
    """Exclude an item from labelling and from all results; its labels are kept."""
    with open_study(study) as db:
        (browsing.include if undo else browsing.exclude)(db, item, why, actor=OWNER, now=now())
    if as_json:
        show_json({"item": item, "excluded": not undo})
    remark(f"{item} is included again." if undo else f"{item} is excluded. The report lists it with the reason.")


@click.command(
    epilog="Example: labeler adjudicate 'org__app#bench' dissimilar --study cache.study --reason 'two levels'"
)
@click.argument("item", required=False)
@click.argument("category", required=False)
@study_option
@click.option("--reason", "why", default=None, metavar="TEXT", help=WHY)
@json_option
def adjudicate(item: str | None, category: str | None, study: Path | None, why: str | None, as_json: bool) -> None:
    """Decide a split item of a closed study; without ITEM, list the split items.

    The first labels do not change; the decision is a separate record. A later decision on the item replaces it.
    """
    from labeler.studies.results import splits

    with open_study(study) as db:
        if item is None:
            coordinating.log_look(db, "split items", actor=OWNER, now=now())
            rows = [split.json_values() for split in splits.split_items(db)]
            show(rows, as_json=as_json)
            if not rows:
                remark("There are no split items.")
            say_if_interim(db)
            return
        choices = coordinating.get_study(db).question.choices
        if category is None or why is None:
            raise InputError(f"To decide an item, give its name, {joined(choices, 'or')}, and --reason TEXT.")
        splits.adjudicate(db, item, category, why, actor=OWNER, now=now())
        n_left = sum(split.remains for split in splits.split_items(db))
    if as_json:
        show_json({"item": item, "category": category, "n_undecided": n_left})
    remark(f"Decision saved: {item} is {category}. Split items that still need a decision: {n_left}.")


@click.command(
    epilog="Example: labeler calibration --study cache.study --reference reference.csv --required-agreement 0.8"
)
@study_option
@click.option("--reference", type=click.Path(path_type=Path, dir_okay=False), default=None, metavar="FILE.csv",
              help="File with reference labels for calibration items. Columns: item, label.")  # fmt: skip
@options_of(LabelReading, "label_reading")
@click.option(
    "--required-agreement",
    "gate",
    type=click.FloatRange(0, 1),
    default=None,
    help="Agreement that reviewers must reach before the study opens, from 0 to 1.",
)
@click.option("--on", type=click.Choice(list(calibrating.ON)), default="reference", show_default=True,
              help="With --required-agreement: compare each reviewer with the reference labels, or the reviewers with "
                   "each other.")  # fmt: skip
@json_option
def calibration(
    study: Path | None,
    reference: Path | None,
    label_reading: LabelReading,
    gate: float | None,
    on: str,
    as_json: bool,
) -> None:
    """Show the state of the calibration round.

    The options set the reference labels and the agreement that the round requires. `labeler plan` sets the number of
    calibration items. No result uses the labels of these items.
    """
    with open_study(study) as db:
        if reference is not None:
            names = coordinating.get_study(db).question.names
            labels = calibrating.read_reference(reference, names, label_reading, say=remark)
            calibrating.set_reference(db, labels, actor=OWNER, now=now())
            remark(f"{counted(len(labels), 'reference label')} saved.")
            others = sorted(labels.keys() - set(calibrating.item_names(db)))
            if others and calibrating.item_names(db):
                remark(f"Not in the calibration round, so not compared: {', '.join(others)}.")
        if gate is not None:
            calibrating.set_gate(db, CalibrationGate(on, gate), actor=OWNER, now=now())
        coordinating.log_look(db, "calibration round", actor=OWNER, now=now())
        result = calibrating.result(db)
        say_if_interim(db)
    if as_json:
        show_json(result.json_values())
        return
    show(rows_of_calibration(result), as_json=False)
    for name, share in (("Percent agreement", result.percent), ("Fleiss' kappa", result.kappa)):
        undefined = "undefined, because " if share.value is None else ""
        remark(f"{name} between the reviewers: {undefined}{calibrating.describe_share(share)}.")
    remark(calibrating.outcome(result))


def rows_of_calibration(result: CalibrationResult) -> list[dict[str, Any]]:
    """Return a row per reviewer: the number of labelled items, and the agreement with the reference labels."""
    return [
        {"reviewer": reviewer.reviewer, "labelled": reviewer.n_done, "of": reviewer.n_assigned,
         "equal to the reference": calibrating.describe_share(reviewer.with_reference)}
        for reviewer in result.reviewers
    ]  # fmt: skip


@click.command(epilog="Example: labeler attention --study cache.study --out attention.csv")
@study_option
@out_option("FILE.csv", "Write each answer to an attention check instead; - is standard output.", required=False)
@json_option
def attention(study: Path | None, out: Path | None, as_json: bool) -> None:
    """Show how often each reviewer was right about attention checks, after the study is closed.

    `labeler plan --attention N` hides N items with a known answer among the items of each reviewer. An item with a
    reference label (`labeler calibration --reference FILE`) becomes a check as it is; other items are changed so that
    the answer is known. No result uses the answers.
    """
    from labeler.studies.results import attention as results  # slow to import

    with open_study(study) as db:
        found = results.checks(db)
        coordinating.log_look(db, "attention checks", actor=OWNER, now=now())
        say_if_interim(db)
    if out is not None:
        write_text(out, results.as_csv(found))
        remark(f"{counted(len(found.answers), 'attention check')} written.")
    elif as_json:
        show_json(asdict(found))
    else:
        show(results.rows(found), as_json=False)
    for sentence in results.sentences(found):
        remark(sentence)


@click.command(epilog="Example: labeler flags --study cache.study --answer ITEM 'Judge the steady state.'")
@study_option
@click.option("--answer", nargs=2, default=None, metavar="ITEM TEXT",
              help="Answer the flags and comments on an item; reviewers read the answer under My labels.")  # fmt: skip
@click.option("--reviewer", default=None, metavar="NAME", help="With --answer: answer this reviewer only.")
@json_option
def flags(study: Path | None, answer: tuple[str, str] | None, reviewer: str | None, as_json: bool) -> None:
    """List flags and comments of reviewers, unanswered first, or answer them."""
    if reviewer is not None and answer is None:
        raise InputError("--reviewer can only be used with --answer ITEM TEXT.")
    with open_study(study) as db:
        if answer is not None:
            item, text = answer
            n_answered = inbox.reply_to_item(db, item, text, reviewer=reviewer, actor=OWNER, now=now())
            if as_json:
                show_json({"item": item, "n_answered": n_answered})
            answered = counted(n_answered, "flag or comment", "flags and comments")
            remark(f"Answered {answered} on {item}. Reviewers read the answer under My labels.")
            return
        messages = inbox.list_messages(db, actor=OWNER, now=now())
        say_if_interim(db)
    rows = [_row_of_message(message) for message in messages]
    show(rows if as_json else [_printable(row) for row in rows], as_json=as_json)
    if not rows:
        remark("No reviewer has flagged or commented on an item.")


def _row_of_message(message: Message) -> dict[str, Any]:
    texts = [reply.text for reply in message.replies]
    return {
        "item": message.item, "reviewer": message.reviewer, "flag": message.flag, "comment": message.comment,
        "created_utc": message.created_utc, "answered": message.is_answered, "answers": len(texts),
        "last answer": texts[-1] if texts else None,
    }  # fmt: skip


def _printable(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row for people: times to the minute, and each text on one line, without control characters."""
    row = {"written (UTC)" if name == "created_utc" else name: value for name, value in row.items()}
    row["written (UTC)"] = minute(row["written (UTC)"])
    return {name: " ".join(one_line(value).split()) if isinstance(value, str) else value for name, value in row.items()}
