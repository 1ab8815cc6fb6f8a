"""Commands that estimate the size and precision of a study before labelling, and that simulate a study."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from labeler.cli.common import json_option, open_study, out_option, remark, show, show_files, show_json, study_option
from labeler.cli.options import options_of
from labeler.errors import InputError
from labeler.model import counted
from labeler.service.outputs import write_files
from labeler.service.plan import planning as service
from labeler.service.plan.planning import Assumptions, Rater
from labeler.service.study import coordinating

SHARE = click.FloatRange(0, 1)
REVIEWERS = ("A=0.95/0.9", "B=0.8/0.7", "C=0.7/0.85", "D=0.6/0.6")
CLASSIFIERS = ("same=0.3/0.85", "heuristic=0.92/0.45")


def design_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for the size and design of a study."""
    for option in (
        click.option(
            "--overlap", type=SHARE, default=0.2, show_default=True, help="Share of items that every reviewer labels."
        ),
        click.option(
            "--per-item", type=click.IntRange(min=2), default=2, show_default=True, help="Number of reviewers per item."
        ),
    ):
        function = option(function)
    return function


@click.command(epilog="Example: labeler planning --items 586 --reviewers 4 --half-width 0.08")
@study_option
@click.option("--items", type=click.IntRange(min=1), default=None, metavar="N",
              help="Number of items.  [default: as in the study; without a study, 586]")  # fmt: skip
@click.option("--reviewers", type=click.IntRange(min=2), default=None, metavar="N",
              help="Number of reviewers.  [default: as in the study; without a study, 4]")  # fmt: skip
@design_options
@click.option(
    "--retest", type=click.IntRange(min=0), default=20, show_default=True, help="Number of hidden retests per reviewer."
)
@options_of(Assumptions, "assumed")
@json_option
def planning(
    study: Path | None,
    items: int | None,
    reviewers: int | None,
    per_item: int,
    overlap: float,
    retest: int,
    assumed: Assumptions,
    as_json: bool,
) -> None:
    """Estimate how many items and hours a study needs.

    The result also shows how precise the study will be, and what it cannot estimate.
    """
    n_applications, sizes = 0, [items or 586]
    if study is not None:
        with open_study(study) as db:
            known_items, known_reviewers, n_applications = service.size_of_study(db)
            sizes = service.application_sizes(db, items or known_items)
            question = coordinating.get_study(db).question
        assumed = replace(assumed, categories=service.compared_categories(question))
        remark(f"{study} has {counted(known_items, 'item')} and {counted(known_reviewers, 'reviewer')}.")
        if compared := service.one_against_rest(question):
            remark(compared)
        items, reviewers = items or known_items, reviewers or max(known_reviewers, 2)
        if not items:
            raise InputError("The study has no items with measurements yet. Import measurements, or give --items N.")
    planned = service.planned_design(sizes, reviewers or 4, per_item, overlap, retest, n_applications or None)
    needed = service.items_needed(assumed)
    expected, unknown = service.expected_of(planned, assumed)
    replacing = service.describe_annotator_test(planned, assumed)
    if as_json:
        show_json({"needed": needed, "expected": expected, "not_told": list(unknown), "replacing": replacing})
        return
    remark(
        f"Items needed for intervals of ±{assumed.half_width:g}, if kappa is {assumed.kappa:g} and the share of "
        f"{assumed.category} items is {assumed.prevalence:g}:"
    )
    show(service.rows_for_people(needed), as_json=False)
    remark(
        f"\nExpected results with {counted(planned.n_items, 'item')}, {planned.n_reviewers} reviewers, {per_item} "
        f"reviewers per item and overlap {overlap:g}:"
    )
    show(service.rows_for_people(expected), as_json=False)
    remark(replacing)
    for sentence in unknown:
        remark(f"Cannot be estimated: {sentence}.")


def _raters(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> list[Rater]:
    try:
        return [service.rater_from(text) for text in texts]
    except InputError as error:
        raise click.BadParameter(str(error)) from None


@click.command(epilog="Example: labeler simulate --items 200 --per-item 3 --out made-up")
@click.option(
    "--items", type=click.IntRange(min=1), default=586, show_default=True, metavar="N", help="Number of items."
)
@design_options
@click.option("--reviewer", "reviewers", multiple=True, default=REVIEWERS, show_default=True, callback=_raters,
              metavar="NAME=X/X",
              help="Reviewer, as NAME=SENSITIVITY/SPECIFICITY. Repeatable.")  # fmt: skip
@click.option("--classifier", "classifiers", multiple=True, default=CLASSIFIERS, show_default=True, callback=_raters,
              metavar="NAME=X/X",
              help="Classifier, as NAME=SENSITIVITY/SPECIFICITY. Repeatable.")  # fmt: skip
@click.option("--prevalence", type=SHARE, default=0.55, show_default=True, help="Share of dissimilar items.")
@click.option("--hard", type=SHARE, default=0.0, show_default=True, help="Share of items that are hard for everyone.")
@click.option("--shared-error", type=SHARE, default=0.0, show_default=True,
              help="Share of items on which both the first reviewer and the first classifier are wrong.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed.")
@out_option("DIR", "Output folder.", folder=True)
@json_option
def simulate(
    items: int,
    per_item: int,
    overlap: float,
    reviewers: list[Rater],
    classifiers: list[Rater],
    prevalence: float,
    hard: float,
    shared_error: float,
    seed: int,
    out: Path,
    as_json: bool,
) -> None:
    """Simulate a study with known truth, to see what its report would show.

    The command writes the labels, the verdicts and the true categories as CSV files into the folder.
    """
    planned = service.design(items, len(reviewers), per_item, overlap, 0)
    files = service.simulate(
        planned, reviewers, classifiers, prevalence, hard_share=hard, shared_error=shared_error, seed=seed
    )
    show_files(write_files(files, out), as_json=as_json)
    remark(f"Next: labeler report --labels {out}/labels.csv --verdicts {out}/verdicts.csv --out {out}/report")
