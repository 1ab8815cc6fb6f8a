"""Commands that create, plan, watch and back up a study."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from analysis.text import counted
from labeler.cli.common import (
    dry_run_option,
    file_to_write,
    json_option,
    now,
    out_option,
    remark,
    show,
    show_json,
    shown_path,
    write_text,
)
from labeler.cli.options import given_of, options_of
from labeler.errors import InputError
from labeler.files.outputs import as_csv
from labeler.studies.commands.opening import (
    COORDINATOR,
    OWNER,
    actor_option,
    link,
    open_study,
    required_study,
    say_if_interim,
    show_links,
    study_option,
    url_option,
)
from labeler.studies.course import coordinating, progress
from labeler.studies.model import PlanParameters, Protocol
from labeler.studies.plan.lifecycle import STATE_PHRASES
from labeler.studies.preparing import assigning, verifying
from labeler.studies.questions import to_toml
from labeler.studies.screen.kinds import QUESTIONS, kind_of
from labeler.studies.store import Database


@click.command(epilog="Example: labeler init --study cache.study --name 'Cache benchmarks'")
@study_option
@click.option("--name", default=None, metavar="NAME", help="Name of the study [default: the file's name].")
@click.option("--question", default="similar", show_default=True, metavar="FILE|NAME|TEXT",
              help="Question: a question file (TOML), the name of a question that `labeler questions` lists, or other "
                   "words for the question *similar*.")  # fmt: skip
@click.option(
    "--coordinator", default=COORDINATOR, show_default=True, metavar="NAME", help="Name of the first coordinator."
)
@options_of(Protocol, "protocol")
@url_option
@json_option
def init(
    study: Path | None,
    name: str | None,
    question: str,
    coordinator: str,
    protocol: Protocol,
    url: str | None,
    as_json: bool,
) -> None:
    """Create an empty study and print the sign-in link of its coordinator.

    The question and the protocol (axis, confidence, numbers, pictures, instructions) can be changed until the first
    answer. The study keeps its address: --url, or this computer with the first free port. `labeler serve` uses it.
    """
    from labeler.studies.commands.serving import free_port, local_address

    path, asked = required_study(study), coordinating.question_from(question)
    secret = coordinating.create_study(
        path,
        name=name or path.stem,
        question=asked,
        coordinator=coordinator,
        protocol=protocol,
        now=now(),
    )
    given = "--before FOLDER --after FOLDER" if kind_of(asked).swapped else "FOLDER"
    remark(f"Created {path}. Next: labeler import --study {shlex.quote(str(path))} {given}")
    with open_study(path) as db:
        coordinating.set_address(db, url or local_address(free_port()), actor=OWNER, now=now())
        show_links([(coordinator, link(url, db, secret))], as_json=as_json)


@click.command(epilog="Example: labeler questions similar > mine.toml")
@click.argument("name", type=click.Choice(list(QUESTIONS)), required=False)
@json_option
def questions(name: str | None, as_json: bool) -> None:
    """List the built-in questions, or print one to edit, as a file for `labeler init --question`."""
    if name is not None:
        question = QUESTIONS[name]
        text = json.dumps({"text": question.text, **question.definition()}, indent=1, ensure_ascii=False) + "\n"
        click.echo(text if as_json else to_toml(question), nl=False)
        return
    rows = [
        {"name": name, "text": question.text, "shows": question.shows, "categories": ", ".join(question.choices)}
        for name, question in QUESTIONS.items()
    ]
    show(rows, as_json=as_json)


@click.command(epilog="Example: labeler plan --study cache.study --seed 7 --overlap 0.2")
@study_option
@given_of(PlanParameters, "given")
@click.option("--first", type=click.IntRange(min=2), default=None, metavar="N",
              help="Plan only N random items; add the others later with --next.")  # fmt: skip
@click.option("--next", "n_next", type=click.IntRange(min=1), default=None, metavar="N",
              help="Add N items to the plan of an open study: some at random, and the others where labels help "
                   "most.")  # fmt: skip
@click.option("--random-share", type=click.FloatRange(0, 1, min_open=True), default=0.3, show_default=True,
              help="With --next: share of items that are drawn at random. Only these items count towards "
                   "agreement.")  # fmt: skip
@dry_run_option("Show load, hours, expected precision and limits of the plan, without saving it.")
@click.option("--seconds", type=click.FloatRange(0, 86_400, min_open=True), default=15.0,
              show_default=True, help="With --dry-run: expected time for one label.")  # fmt: skip
@click.option(
    "--verify",
    is_flag=True,
    help="Compute the plan again from its seed and the log, and compare it with the assignments; plan nothing.",
)
@actor_option
@json_option
def plan(
    study: Path | None,
    given: Mapping[str, Any],
    first: int | None,
    n_next: int | None,
    random_share: float,
    dry_run: bool,
    seconds: float,
    verify: bool,
    actor: str,
    as_json: bool,
) -> None:
    """Plan which reviewer labels which items, and in which order; then open the study or its calibration round.

    The random seed determines the plan. The command prints the load of each reviewer and the hash of the plan. You can
    repeat the command until the first answer. With --verify, the exit code is 1 if the assignments do not follow from
    the seed and the logged changes.
    """
    if verify:
        _verify(study, as_json)
        return
    if n_next is not None:
        from labeler.studies.results import next_items

        with open_study(study) as db:
            added = next_items.next_items(db, n_next, random_share=random_share, actor=actor, now=now())
        if as_json:
            show_json(asdict(added))
        for sentence in added.sentences:
            remark(sentence)
        return
    of_paper = {"overlap": 0.0, "retest": 0} if "paper" in given else {}
    parameters = PlanParameters(**{"seed": assigning.random_seed(), **of_paper, **given})
    with open_study(study) as db:
        if dry_run:
            if first is not None:
                raise InputError("--dry-run shows a plan of all items; it cannot be used with --first.")
            _preview(db, parameters, seconds, as_json)
            return
        drawn_plan = assigning.confirm_plan(db, parameters, first=first, actor=actor, now=now())
    kinds = sorted({a.kind for a in drawn_plan.assignments})
    rows = [
        {"reviewer": name, **{kind.value: load[kind] for kind in kinds}, "in all": load.total()}
        for name, load in sorted(drawn_plan.loads().items())
    ]
    show(rows, as_json=as_json)
    for shortfall in drawn_plan.shortfalls:
        remark(f"Not met: {shortfall}.")
    remark(f"Seed {parameters.seed}. Plan hash {drawn_plan.hash}.")
    phase = "The calibration round has begun" if parameters.calibration else "The study is open"
    remark(f"{phase}. Next: start labeler serve, and give each reviewer a sign-in link.")


def _preview(db: Database, parameters: PlanParameters, seconds: float, as_json: bool) -> None:
    from labeler.studies.preparing import planning, previewing

    preview = previewing.preview(db, parameters, planning.Assumptions(seconds=seconds))
    if as_json:
        show_json(preview.json_values())
        return
    show(preview.rows_of_loads(), as_json=False)
    click.echo()
    show(planning.rows_for_people(preview.expectations), as_json=False)
    for sentence in (*preview.remarks, *preview.warnings):
        remark(sentence)
    remark(f"Seed {parameters.seed}. Plan hash {preview.hash}. Nothing was saved.")


def _verify(study: Path | None, as_json: bool) -> None:
    with open_study(study) as db:
        verified = verifying.verify_plan(db)
    if as_json:
        show_json(verified.json_values())
    else:
        click.echo(f"original  {verified.hash_drawn}\nchanges   {verified.n_changes}\ncurrent   {verified.hash_now}")
    if verified.n_imported:
        imported = counted(verified.n_imported, "assignment of imported labels", "assignments of imported labels")
        remark(f"Not part of the plan: {imported}.")
    if verified.problems:
        remark(f"The plan does not match its seed and the log: {'; '.join(verified.problems)}.")
        raise SystemExit(1)
    remark("Verified: the assignments follow from the seed and the log.")


@click.command(epilog="Example: labeler status --study cache.study")
@study_option
@click.option("--agreement", "with_agreement", is_flag=True,
              help="Also show agreement so far, with intervals that stay valid however often you look.")  # fmt: skip
@json_option
def status(study: Path | None, with_agreement: bool, as_json: bool) -> None:
    """Show the progress of the study and of each reviewer, with pace and time since the last answer."""
    with open_study(study) as db:
        current, paces = coordinating.status(db), progress.reviewer_paces(db, now=now())
        so_far = None
        if with_agreement:
            from labeler.studies.results import splits

            say_if_interim(db)
            so_far = splits.current_agreement(db)
    rows = progress.rows(paces)
    if as_json:
        content = current.json_values() | ({} if so_far is None else {"agreement": so_far.json_values()})
        more = {row["reviewer"]: row for row in rows}
        content["reviewers"] = [row | {"pace": more[row["reviewer"]]} for row in content["reviewers"]]
        show_json(content)
        return
    items, answers = counted(current.n_items, "item"), counted(current.n_answers, "answer")
    remark(f"{current.study.name}: {STATE_PHRASES[current.study.state]}, {items}, {answers}.")
    show(rows, as_json=False)
    if stalled := progress.warning(paces):
        remark(stalled)
    for sentence in () if so_far is None else so_far.sentences:
        remark(sentence)


@click.command(epilog="Example: labeler backup --study cache.study --out cache-copy.study")
@study_option
@out_option("FILE", "Study file to create.")
@json_option
def backup(study: Path | None, out: Path, as_json: bool) -> None:
    """Copy the study into a new file.

    People can label during the backup.
    """
    if str(out) == "-" and as_json:
        raise InputError("--json and the study file cannot both go to standard output. Give a name with --out.")
    with open_study(study) as db, file_to_write(out) as path:
        end = coordinating.back_up(db, path, actor=OWNER, now=now())
    if as_json:
        show_json({"file": out, "chain": end})
    remark(f"Copied {study} to {shown_path(out)}. Chain: {end}")


@click.command(epilog="Example: labeler log --study cache.study --out events.csv")
@study_option
@out_option("FILE.csv", "Write the log instead of printing it; - is standard output.", required=False)
@json_option
def log(study: Path | None, out: Path | None, as_json: bool) -> None:
    """Show the audit log: every event of the study, in order."""
    with open_study(study) as db:
        events = coordinating.event_log(db)
    if out is not None:
        write_text(out, as_csv(events))
        remark(f"{counted(len(events), 'event')} written.")
    else:
        show([{str(name): value for name, value in row.items()} for row in events.to_dict("records")], as_json=as_json)
