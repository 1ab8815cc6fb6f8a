"""Commands that add, list, change and remove reviewers and coordinators."""

import shlex
from copy import copy
from dataclasses import asdict
from functools import partial
from pathlib import Path

import click

from analysis.text import counted
from labeler.cli.common import Commands, dry_run_option, json_option, now, remark, show, show_json
from labeler.errors import InputError
from labeler.studies.commands.opening import (
    NOTHING_SAVED,
    OWNER,
    link,
    open_study,
    reason_option,
    rows_of_links,
    show_links,
    study_option,
    url_option,
)
from labeler.studies.course import coordinating, staffing
from labeler.studies.labelling import own_result
from labeler.studies.model import Role
from labeler.studies.people import identity

NOTHING_CHANGED = staffing.StaffChange()

valid_option = click.option(
    "--valid-days",
    default=identity.INVITATION_DAYS,
    show_default=True,
    type=click.IntRange(1, identity.MAX_INVITATION_DAYS),
    help="Number of days for which the link is valid.",
)


@click.command("add", epilog="Example: labeler {role}s add --study cache.study ada ben")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@study_option
@click.option(
    "--both",
    is_flag=True,
    help="Give each person both roles. People with both roles see no labels of others before unblinding.",
)
@click.option("--force", is_flag=True, help="Add a name that only looks like the name of another person.")
@valid_option
@url_option
@json_option
def add(
    role: Role,
    names: tuple[str, ...],
    study: Path | None,
    both: bool,
    force: bool,
    valid_days: int,
    url: str | None,
    as_json: bool,
) -> None:
    """Add {role}s and print a sign-in link for each."""
    links = []
    with open_study(study) as db:
        added = (
            member
            for text in names
            for member in staffing.add_all(db, text, Role if both else [role], look_alike=force, actor=OWNER, now=now())
        )
        for name, change in added:
            secret = identity.invite(db, name, role, valid_days=valid_days, actor=OWNER, now=now())
            links.append((name, link(url, db, secret)))
            if not as_json:  # at once, so that no link is lost if a later name is refused
                show_links(links[-1:], as_json=False)
            if change != NOTHING_CHANGED:
                say_change(name, change)
    if as_json:
        show_links(links, as_json=True)
    remark(f"{counted(len(links), str(role))} added. Each link is for one person and is not shown again.")


@click.command("list", epilog="Example: labeler {role}s list --study cache.study")
@study_option
@json_option
def list_people(role: Role, study: Path | None, as_json: bool) -> None:
    """List the {role}s."""
    with open_study(study) as db:
        people = [person for person in identity.everyone(db) if role in person.roles]
        shown = identity.shown_names(db)
    rows = [{str(role): p.name, "active": p.active} for p in people]
    if role is Role.REVIEWER:
        rows = [row | {"paused": p.paused} for row, p in zip(rows, people, strict=True)]
    if shown:
        rows = [row | {"shown as": shown.get(p.name, p.name)} for row, p in zip(rows, people, strict=True)]
    show(rows, as_json=as_json)
    if not rows:
        remark(f"The study has no {role}s yet. To add one: labeler {role}s add NAME")


@click.command("link", epilog="Example: labeler {role}s link ada --study cache.study")
@click.argument("name")
@study_option
@valid_option
@url_option
@json_option
def make_link(role: Role, name: str, study: Path | None, valid_days: int, url: str | None, as_json: bool) -> None:
    """Create a new sign-in link for a {role}; the previous link stops working."""
    with open_study(study) as db:
        new = link(url, db, identity.invite(db, name, role, valid_days=valid_days, actor=OWNER, now=now()))
    remark("The previous link no longer works.")
    show_links([(name, new)], as_json=as_json)


@click.command("revoke", epilog="Example: labeler {role}s revoke ada --study cache.study")
@click.argument("name")
@study_option
@json_option
def revoke(role: Role, name: str, study: Path | None, as_json: bool) -> None:
    """Revoke the sign-in link of a {role}, and sign the {role} out everywhere."""
    with open_study(study) as db:
        identity.revoke(db, name, role, actor=OWNER, now=now())
    if as_json:
        show_json({"name": name, "revoked": True})
    remark(f"The link of {name} no longer works, and {name} is signed out everywhere. Labels are kept.")


@click.command("email", epilog="Example: labeler {role}s email ada ada@example.org --study cache.study")
@click.argument("name")
@click.argument("address")
@study_option
@json_option
def email(role: Role, name: str, address: str, study: Path | None, as_json: bool) -> None:
    """Let a {role} sign in through the identity provider (OpenID Connect) with this address.

    If ADDRESS is "", the stored address is removed.
    """
    with open_study(study) as db:
        identity.set_email(db, name, role, address, actor=OWNER, now=now())
    if as_json:
        show_json({"name": name, "email": address or None})
    remark(
        f"{name} can sign in through the provider as {address}."
        if address
        else f"{name} can no longer sign in through the provider."
    )


@click.command("rename", epilog="Example: labeler {role}s rename ada 'Ada Lovelace' --study cache.study")
@click.argument("name")
@click.argument("shown")
@study_option
@click.option("--force", is_flag=True, help="Accept a name that only looks like the name of another person.")
@json_option
def rename(role: Role, name: str, shown: str, study: Path | None, force: bool, as_json: bool) -> None:
    """Show a {role} under another name.

    Pages and invitations show the new name. The plan, the log, exports and reports keep the first name.
    """
    with open_study(study) as db:
        shown = identity.rename(db, name, role, shown, look_alike=force, actor=OWNER, now=now())
    if as_json:
        show_json({"name": name, "shown": shown})
    remark(f"Pages show {name} as {shown}.")


@click.command("pause", epilog="Example: labeler reviewers pause ada --study cache.study --reason 'on holiday'")
@click.argument("name")
@study_option
@reason_option
@json_option
def pause(name: str, study: Path | None, why: str, as_json: bool) -> None:
    """Pause a reviewer: open items stay assigned, and no labels are accepted until the reviewer resumes."""
    with open_study(study) as db:
        staffing.pause(db, name, why=why, actor=OWNER, now=now())
    if as_json:
        show_json({"name": name, "paused": True})
    remark(f"{name} is paused. To continue: labeler reviewers resume {shlex.quote(name)}")


@click.command("resume", epilog="Example: labeler reviewers resume ada --study cache.study")
@click.argument("name")
@study_option
@json_option
def resume(name: str, study: Path | None, as_json: bool) -> None:
    """Resume a paused reviewer, or bring back a reviewer who was removed."""
    with open_study(study) as db:
        change = staffing.resume(db, name, actor=OWNER, now=now())
    show_change(name, change, as_json=as_json)


@click.command("result", epilog="Example: labeler reviewers result ada --study cache.study")
@click.argument("name")
@study_option
@click.option("--undo", is_flag=True, help="No longer let the reviewer see the result.")
@json_option
def result(name: str, study: Path | None, undo: bool, as_json: bool) -> None:
    """Let a reviewer see their own labels beside those of the other reviewers, whose names stay hidden.

    The page *Your result* opens once the study is unblinded.
    """
    with open_study(study) as db:
        own_result.allow(db, name, not undo, actor=OWNER, now=now())
    if as_json:
        show_json({"name": name, "sees_result": not undo})
    may = "can no longer see" if undo else "can see"
    remark(f"{name} {may} the page *Your result*{'' if undo else ' once the study is unblinded'}.")


@click.command("answers", epilog="Example: labeler reviewers answers --study cache.study > answers.csv")
@study_option
@json_option
def answers(study: Path | None, as_json: bool) -> None:
    """Print what reviewers answered to the questionnaire, as CSV."""
    from labeler.studies.results import questionnaires  # slow to import

    with open_study(study) as db:
        given = questionnaires.answers(db)
        if not coordinating.get_study(db).question.ask:
            raise InputError("The question of this study has no questionnaire. A question file adds it with [[ask]].")
    if as_json:
        show_json([asdict(row) for row in given])
    else:
        click.echo(questionnaires.as_csv(given), nl=False)


@click.command("remove", epilog="Example: labeler reviewers remove ada --study cache.study --reason 'changed jobs'")
@click.argument("name")
@study_option
@reason_option
@dry_run_option("Show how many open items would be reassigned, without removing the reviewer.")
@json_option
def remove(name: str, study: Path | None, why: str, dry_run: bool, as_json: bool) -> None:
    """Remove a reviewer: labels are kept, open items go to other reviewers, and the log records the change."""
    with open_study(study, dry_run=dry_run) as db:
        change = staffing.remove(db, name, why=why, actor=OWNER, now=now())
    show_change(name, change, as_json=as_json)
    if dry_run:
        remark(NOTHING_SAVED)


@click.command(
    "replace", epilog="Example: labeler reviewers replace ada eve --study cache.study --reason 'changed jobs'"
)
@click.argument("name")
@click.argument("successor")
@study_option
@reason_option
@dry_run_option("Show how many open items would be reassigned, without replacing the reviewer.")
@valid_option
@url_option
@json_option
def replace(
    name: str,
    successor: str,
    study: Path | None,
    why: str,
    dry_run: bool,
    valid_days: int,
    url: str | None,
    as_json: bool,
) -> None:
    """Replace the reviewer NAME with SUCCESSOR, who takes over the open items.

    If SUCCESSOR is new, the command prints a sign-in link.
    """
    links = []
    with open_study(study, dry_run=dry_run) as db:
        heir, change = staffing.replace(db, name, successor, why=why, actor=OWNER, now=now())
        if change.is_new and not dry_run:
            secret = identity.invite(db, heir.name, Role.REVIEWER, valid_days=valid_days, actor=OWNER, now=now())
            links = [(heir.name, link(url, db, secret))]
    if as_json:
        show_json({"name": name, "successor": heir.name, **asdict(change), "links": rows_of_links(links)})
    else:
        show_links(links, as_json=False)
    say_change(name, change)
    if dry_run:
        remark(NOTHING_SAVED)


def show_change(name: str, change: staffing.StaffChange, *, as_json: bool) -> None:
    """Print the result of a change, as JSON if wanted, and say it in sentences."""
    if as_json:
        show_json({"name": name, **asdict(change)})
    say_change(name, change)


def say_change(name: str, change: staffing.StaffChange) -> None:
    """Say what a change did, and which requirements of the plan are no longer met."""
    for sentence in (change.describe(name), *(f"{shortfall}." for shortfall in change.shortfalls)):
        remark(sentence)


def group_of(role: Role, description: str) -> click.Group:
    """Return a group with the commands for people with this role."""
    group = Commands(f"{role}s", help=description)
    for command in (add, list_people, make_link, revoke, email, rename):
        own = copy(command)
        if command.callback is not None:
            own.callback = partial(command.callback, role)
        own.help, own.epilog = ((text or "").format(role=role) for text in (command.help, command.epilog))
        group.add_command(own)
    return group


reviewers = group_of(
    Role.REVIEWER,
    "Manage the reviewers: add, list, link, revoke, email, rename; pause, resume, remove, replace, result, answers.",
)
for command in (pause, resume, remove, replace, result, answers):
    reviewers.add_command(command)
coordinators = group_of(Role.COORDINATOR, "Manage the coordinators: add, list, link, revoke, email, rename.")
