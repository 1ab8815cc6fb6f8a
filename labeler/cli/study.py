"""Commands that set a study up and watch it."""

import json
from pathlib import Path

import click

from labeler.cli.common import (
    COORDINATOR,
    OWNER,
    json_option,
    link,
    named,
    now,
    opened,
    remark,
    show,
    study_option,
    url_option,
)
from labeler.model import PlanParameters, Role
from labeler.service import coordinating, identity


@click.command(epilog="Example: labeler init --study cache.study --name 'Cache benchmarks'")
@study_option
@click.option("--name", default=None, help="Name of the study [default: the file's name].")
@click.option("--question", default=coordinating.DEFAULT_QUESTION, show_default=True, help="What reviewers are asked.")
@click.option("--coordinator", default=COORDINATOR, show_default=True, help="Name of the first coordinator.")
@url_option
def init(study: Path | None, name: str | None, question: str, coordinator: str, url: str) -> None:
    """Make a new, empty study and print its coordinator's sign-in link."""
    path = named(study)
    secret = coordinating.create_study(
        path, name=name or path.stem, question=question, coordinator=coordinator, now=now()
    )
    remark(f"Made {path}. Next: labeler import --study {path} FOLDER")
    click.echo(f"{coordinator}: {link(url, secret)}")


@click.group()
def reviewers() -> None:
    """Those who label: add, list, link."""


@click.group()
def coordinators() -> None:
    """Those who set the study up and report it: add, link."""


def _add(study: Path | None, names: tuple[str, ...], role: Role, url: str) -> None:
    with opened(study) as db:
        for name in names:
            person = identity.add_person(db, name, [role], actor=OWNER, now=now())
            secret = identity.invite(db, person.name, role, actor=OWNER, now=now())
            click.echo(f"{person.name}: {link(url, secret)}")
    remark(f"Added {len(names)}. Each link is for one person and is not shown again.")


def _link(study: Path | None, name: str, role: Role, url: str) -> None:
    with opened(study) as db:
        secret = identity.invite(db, name, role, actor=OWNER, now=now())
    remark("The link before this one no longer works.")
    click.echo(f"{name}: {link(url, secret)}")


@reviewers.command("add", epilog="Example: labeler reviewers add --study cache.study ada ben cleo dan")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@study_option
@url_option
def add_reviewers(names: tuple[str, ...], study: Path | None, url: str) -> None:
    """Add reviewers and print a sign-in link for each."""
    _add(study, names, Role.REVIEWER, url)


@coordinators.command("add", epilog="Example: labeler coordinators add --study cache.study grace")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@study_option
@url_option
def add_coordinators(names: tuple[str, ...], study: Path | None, url: str) -> None:
    """Add coordinators and print a sign-in link for each."""
    _add(study, names, Role.COORDINATOR, url)


@reviewers.command("link", epilog="Example: labeler reviewers link ada --study cache.study")
@click.argument("name")
@study_option
@url_option
def link_reviewer(name: str, study: Path | None, url: str) -> None:
    """Make a new sign-in link for a reviewer; the one before stops working."""
    _link(study, name, Role.REVIEWER, url)


@coordinators.command("link", epilog="Example: labeler coordinators link coordinator --study cache.study")
@click.argument("name")
@study_option
@url_option
def link_coordinator(name: str, study: Path | None, url: str) -> None:
    """Make a new sign-in link for a coordinator; the one before stops working."""
    _link(study, name, Role.COORDINATOR, url)


@reviewers.command("list", epilog="Example: labeler reviewers list --study cache.study")
@study_option
@json_option
def list_reviewers(study: Path | None, as_json: bool) -> None:
    """List the reviewers."""
    with opened(study) as db:
        people = [person for person in identity.everyone(db) if Role.REVIEWER in person.roles]
    show([{"reviewer": person.name, "active": person.active} for person in people], as_json=as_json)


@click.command(epilog="Example: labeler plan --study cache.study --seed 7 --overlap 0.2")
@study_option
@click.option("--seed", type=click.IntRange(min=0), default=None, help="[default: random, and printed]")
@click.option("--per-item", type=int, default=None, help="Reviewers per item [default: 2].")
@click.option("--overlap", type=float, default=None, help="Share of items all reviewers label [default: 0.2].")
@click.option("--retest", type=int, default=None, help="Hidden copies per reviewer [default: 20].")
@click.option("--paper", is_flag=True, help="The paper's design: random parts, one pair of reviewers each.")
@json_option
def plan(
    study: Path | None,
    seed: int | None,
    per_item: int | None,
    overlap: float | None,
    retest: int | None,
    paper: bool,
    as_json: bool,
) -> None:
    """Decide from a seed who labels what in which order, and open the study for labelling.

    Prints each reviewer's load and the hash of the plan. Can be repeated until the first answer is in.
    """
    standard = PlanParameters(0, overlap=0.0, retest=0) if paper else PlanParameters(0)
    parameters = PlanParameters(
        seed=coordinating.random_seed() if seed is None else seed,
        per_item=standard.per_item if per_item is None else per_item,
        overlap=standard.overlap if overlap is None else overlap,
        retest=standard.retest if retest is None else retest,
        paper=paper,
    )
    with opened(study) as db:
        drawn = coordinating.confirm_plan(db, parameters, actor=OWNER, now=now())
    kinds = sorted({a.kind for a in drawn.assignments})
    rows = [
        {"reviewer": name, **{kind.value: load[kind] for kind in kinds}, "in all": load.total()}
        for name, load in sorted(drawn.loads().items())
    ]
    show(rows, as_json=as_json)
    for shortfall in drawn.shortfalls:
        remark(f"Not met: {shortfall}.")
    remark(f"Seed {parameters.seed}. Plan hash {drawn.hash}.")
    remark("The study is open. Next: labeler serve, and give each reviewer their link.")


@click.command(epilog="Example: labeler status --study cache.study")
@study_option
@json_option
def status(study: Path | None, as_json: bool) -> None:
    """Show where the study stands and how far every reviewer is."""
    with opened(study) as db:
        current = coordinating.status(db)
    if as_json:
        click.echo(json.dumps(current.plain(), indent=1))
        return
    remark(f"{current.study.name}: {current.study.state}, {current.n_items} items, {current.n_answers} answers.")
    rows = [
        {
            "reviewer": row.reviewer, "assigned": row.n_assigned, "done": row.n_done, "not sure": row.n_not_sure,
            "last answer": row.last_answer_utc,
        }
        for row in current.reviewers
    ]  # fmt: skip
    show(rows, as_json=False)


@click.command(epilog="Example: labeler backup --study cache.study cache-copy.study")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@study_option
def backup(file: Path, study: Path | None) -> None:
    """Copy the study into a new file, also while people are labelling."""
    with opened(study) as db:
        coordinating.back_up(db, file, actor=OWNER, now=now())
    remark(f"Copied {study} to {file}.")
