"""Commands that set a study up and watch it."""

import json
from pathlib import Path
from typing import Any

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
from labeler.model import PlanParameters, Protocol
from labeler.service import coordinating


@click.command(epilog="Example: labeler init --study cache.study --name 'Cache benchmarks'")
@study_option
@click.option("--name", default=None, help="Name of the study [default: the file's name].")
@click.option("--question", default=coordinating.DEFAULT_QUESTION, show_default=True, help="What reviewers are asked.")
@click.option("--coordinator", default=COORDINATOR, show_default=True, help="Name of the first coordinator.")
@click.option(
    "--axis",
    default="core",
    show_default=True,
    type=click.Choice(coordinating.AXIS_RULES),
    help="The y axis that every item is first shown with.",
)
@click.option(
    "--min-span",
    default=0.10,
    show_default=True,
    type=click.FloatRange(0, 10),
    help="The axis spans at least this share of the median.",
)
@click.option("--confidence", is_flag=True, help="Ask with each label how sure the reviewer is, 1 to 3.")
@click.option("--numbers", is_flag=True, help="Show each run's distance from the median; it anchors reviewers.")
@click.option("--instructions", default="", help="What the guide tells reviewers beside the question.")
@url_option
def init(study: Path | None, name: str | None, question: str, coordinator: str, url: str, **protocol: Any) -> None:
    """Make a new, empty study and print its coordinator's sign-in link.

    Question and protocol (axis, confidence, numbers, instructions) can be changed until the first answer is there.
    """
    path = named(study)
    secret = coordinating.create_study(
        path,
        name=name or path.stem,
        question=question,
        coordinator=coordinator,
        protocol=_protocol(**protocol),
        now=now(),
    )
    remark(f"Made {path}. Next: labeler import --study {path} FOLDER")
    click.echo(f"{coordinator}: {link(url, secret)}")


def _protocol(axis: str, min_span: float, confidence: bool, numbers: bool, instructions: str) -> Protocol:
    return Protocol(axis, min_span, confidence, numbers, instructions)


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
