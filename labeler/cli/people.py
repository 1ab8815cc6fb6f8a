"""Commands that add, list, change and remove reviewers and coordinators."""

from copy import copy
from functools import partial
from pathlib import Path

import click

from labeler.cli.common import (
    OWNER,
    Commands,
    json_option,
    link,
    now,
    opened,
    reason_option,
    remark,
    show,
    study_option,
    url_option,
)
from labeler.model import Role
from labeler.service.labelling import own_result
from labeler.service.people import identity
from labeler.service.study import staffing

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
def add(
    role: Role, names: tuple[str, ...], study: Path | None, both: bool, force: bool, valid_days: int, url: str
) -> None:
    """Add {role}s and print a sign-in link for each."""
    with opened(study) as db:
        for name in names:
            person, change = staffing.add(db, name, Role if both else [role], look_alike=force, actor=OWNER, now=now())
            secret = identity.invite(db, person.name, role, valid_days=valid_days, actor=OWNER, now=now())
            click.echo(f"{person.name}: {link(url, secret)}")
            if change != NOTHING_CHANGED:
                show_change(person.name, change)
    remark(f"{len(names)} added. Each link is for one person and is not shown again.")


@click.command("list", epilog="Example: labeler {role}s list --study cache.study")
@study_option
@json_option
def list_people(role: Role, study: Path | None, as_json: bool) -> None:
    """List the {role}s."""
    with opened(study) as db:
        people = [person for person in identity.everyone(db) if role in person.roles]
    rows = [{str(role): p.name, "active": p.active} for p in people]
    if role is Role.REVIEWER:
        rows = [row | {"paused": p.paused} for row, p in zip(rows, people, strict=True)]
    show(rows, as_json=as_json)


@click.command("link", epilog="Example: labeler {role}s link ada --study cache.study")
@click.argument("name")
@study_option
@valid_option
@url_option
def make_link(role: Role, name: str, study: Path | None, valid_days: int, url: str) -> None:
    """Create a new sign-in link for a {role}; the previous link stops working."""
    with opened(study) as db:
        secret = identity.invite(db, name, role, valid_days=valid_days, actor=OWNER, now=now())
    remark("The previous link no longer works.")
    click.echo(f"{name}: {link(url, secret)}")


@click.command("revoke", epilog="Example: labeler {role}s revoke ada --study cache.study")
@click.argument("name")
@study_option
def revoke(role: Role, name: str, study: Path | None) -> None:
    """Revoke the sign-in link of a {role}, and sign the {role} out everywhere."""
    with opened(study) as db:
        identity.revoke(db, name, role, actor=OWNER, now=now())
    remark(f"The link of {name} no longer works, and {name} is signed out everywhere. Labels are kept.")


@click.command("email", epilog="Example: labeler {role}s email ada ada@example.org --study cache.study")
@click.argument("name")
@click.argument("address")
@study_option
def email(role: Role, name: str, address: str, study: Path | None) -> None:
    """Let a {role} sign in through the identity provider (OpenID Connect) with this address.

    If ADDRESS is "", the stored address is removed.
    """
    with opened(study) as db:
        identity.set_email(db, name, role, address, actor=OWNER, now=now())
    remark(
        f"{name} can sign in through the provider as {address}."
        if address
        else f"{name} can no longer sign in through the provider."
    )


@click.command("pause", epilog="Example: labeler reviewers pause ada --study cache.study --reason 'on holiday'")
@click.argument("name")
@study_option
@reason_option
def pause(name: str, study: Path | None, why: str) -> None:
    """Pause a reviewer: open items stay assigned, and no labels are accepted until the reviewer resumes."""
    with opened(study) as db:
        staffing.pause(db, name, why=why, actor=OWNER, now=now())
    remark(f"{name} is paused. To continue: labeler reviewers resume {name}")


@click.command("resume", epilog="Example: labeler reviewers resume ada --study cache.study")
@click.argument("name")
@study_option
def resume(name: str, study: Path | None) -> None:
    """Resume a paused reviewer, or bring back a reviewer who was removed."""
    with opened(study) as db:
        change = staffing.resume(db, name, actor=OWNER, now=now())
    show_change(name, change)


@click.command("result", epilog="Example: labeler reviewers result ada --study cache.study")
@click.argument("name")
@study_option
@click.option("--withdraw", is_flag=True, help="Do not let the reviewer see it any longer.")
def result(name: str, study: Path | None, withdraw: bool) -> None:
    """Let a reviewer see the own result: the own labels beside those of the others, who stay without names.

    The page *Your result* opens once the study is unblinded.
    """
    with opened(study) as db:
        own_result.allow(db, name, not withdraw, actor=OWNER, now=now())
    may = "can no longer see" if withdraw else "can see"
    remark(f"{name} {may} the page Your result{'' if withdraw else ' once the study is unblinded'}.")


@click.command("remove", epilog="Example: labeler reviewers remove ada --study cache.study --reason 'changed jobs'")
@click.argument("name")
@study_option
@reason_option
def remove(name: str, study: Path | None, why: str) -> None:
    """Remove a reviewer: labels are kept, open items go to other reviewers, and the log records the change."""
    with opened(study) as db:
        change = staffing.remove(db, name, why=why, actor=OWNER, now=now())
    show_change(name, change)


@click.command(
    "replace", epilog="Example: labeler reviewers replace ada eve --study cache.study --reason 'changed jobs'"
)
@click.argument("name")
@click.argument("successor")
@study_option
@reason_option
@valid_option
@url_option
def replace(name: str, successor: str, study: Path | None, why: str, valid_days: int, url: str) -> None:
    """Replace the reviewer NAME with SUCCESSOR, who takes over the open items.

    If SUCCESSOR is new, the command prints a sign-in link.
    """
    with opened(study) as db:
        heir, change = staffing.replace(db, name, successor, why=why, actor=OWNER, now=now())
        if change.is_new:
            secret = identity.invite(db, heir.name, Role.REVIEWER, valid_days=valid_days, actor=OWNER, now=now())
            click.echo(f"{heir.name}: {link(url, secret)}")
    show_change(name, change)


def show_change(name: str, change: staffing.StaffChange) -> None:
    """Print the result of a change, and the requirements of the plan that are no longer met."""
    for sentence in (change.describe(name), *(f"{shortfall}." for shortfall in change.shortfalls)):
        remark(sentence)


def group_of(role: Role, description: str) -> click.Group:
    """Return a group with the commands for people with this role."""
    group = Commands(f"{role}s", help=description)
    for command in (add, list_people, make_link, revoke, email):
        own = copy(command)
        if command.callback is not None:
            own.callback = partial(command.callback, role)
        own.help, own.epilog = ((text or "").format(role=role) for text in (command.help, command.epilog))
        group.add_command(own)
    return group


reviewers = group_of(
    Role.REVIEWER, "Manage the reviewers: add, list, link, revoke, email; pause, resume, remove, replace, result."
)
for command in (pause, resume, remove, replace, result):
    reviewers.add_command(command)
coordinators = group_of(Role.COORDINATOR, "Manage the coordinators: add, list, link, revoke, email.")
