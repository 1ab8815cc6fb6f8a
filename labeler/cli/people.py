"""Commands about people: the same ones for reviewers and for coordinators."""

from copy import copy
from functools import partial
from pathlib import Path

import click

from labeler.cli.common import OWNER, json_option, link, now, opened, remark, show, study_option, url_option
from labeler.model import Role
from labeler.service import identity

valid_option = click.option(
    "--valid-days",
    default=identity.INVITATION_DAYS,
    show_default=True,
    type=click.IntRange(1, identity.MAX_INVITATION_DAYS),
    help="How long the link works.",
)


@click.command("add", epilog="Example: labeler {role}s add --study cache.study ada ben")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@study_option
@valid_option
@url_option
def add(role: Role, names: tuple[str, ...], study: Path | None, valid_days: int, url: str) -> None:
    """Add {role}s and print a sign-in link for each."""
    with opened(study) as db:
        for name in names:
            person = identity.add_person(db, name, [role], actor=OWNER, now=now())
            secret = identity.invite(db, person.name, role, valid_days=valid_days, actor=OWNER, now=now())
            click.echo(f"{person.name}: {link(url, secret)}")
    remark(f"Added {len(names)}. Each link is for one person and is not shown again.")


@click.command("list", epilog="Example: labeler {role}s list --study cache.study")
@study_option
@json_option
def list_people(role: Role, study: Path | None, as_json: bool) -> None:
    """List the {role}s."""
    with opened(study) as db:
        people = [person for person in identity.everyone(db) if role in person.roles]
    show([{str(role): person.name, "active": person.active} for person in people], as_json=as_json)


@click.command("link", epilog="Example: labeler {role}s link ada --study cache.study")
@click.argument("name")
@study_option
@valid_option
@url_option
def make_link(role: Role, name: str, study: Path | None, valid_days: int, url: str) -> None:
    """Make a new sign-in link for a {role}; the one before stops working."""
    with opened(study) as db:
        secret = identity.invite(db, name, role, valid_days=valid_days, actor=OWNER, now=now())
    remark("The link before this one no longer works.")
    click.echo(f"{name}: {link(url, secret)}")


@click.command("revoke", epilog="Example: labeler {role}s revoke ada --study cache.study")
@click.argument("name")
@study_option
def revoke(role: Role, name: str, study: Path | None) -> None:
    """End the sign-in link of a {role}, and sign them out everywhere."""
    with opened(study) as db:
        identity.revoke(db, name, role, actor=OWNER, now=now())
    remark(f"The link of {name} no longer works, and {name} is signed out everywhere. Labels are kept.")


@click.command("email", epilog="Example: labeler {role}s email ada ada@example.org --study cache.study")
@click.argument("name")
@click.argument("address")
@study_option
def email(role: Role, name: str, address: str, study: Path | None) -> None:
    """Let a {role} sign in through the identity provider (OpenID Connect) under this address; "" ends it."""
    with opened(study) as db:
        identity.set_email(db, name, role, address, actor=OWNER, now=now())
    remark(f"{name} can sign in through the provider as {address}." if address else f"{name} cannot, from now on.")


def group_of(role: Role, description: str) -> click.Group:
    """The commands for people in one role."""
    group = click.Group(f"{role}s", help=description)
    for command in (add, list_people, make_link, revoke, email):
        own = copy(command)
        if command.callback is not None:
            own.callback = partial(command.callback, role)
        own.help, own.epilog = ((text or "").format(role=role) for text in (command.help, command.epilog))
        group.add_command(own)
    return group


reviewers = group_of(Role.REVIEWER, "Those who label: add, list, link, revoke, email.")
coordinators = group_of(Role.COORDINATOR, "Those who set the study up and report it: add, list, link, revoke, email.")
