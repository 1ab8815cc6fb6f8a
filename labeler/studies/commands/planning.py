"""The command that estimates the size and precision of a study before labelling."""

from pathlib import Path

import click

from analysis.text import counted
from labeler.cli.common import json_option, remark, show, show_json
from labeler.cli.options import options_of
from labeler.errors import InputError
from labeler.studies.commands.opening import open_study, study_option
from labeler.studies.course import coordinating
from labeler.studies.preparing import planning as service
from labeler.studies.preparing.planning import Assumptions


@click.command(epilog="Example: labeler planning --items 586 --reviewers 4 --half-width 0.08")
@study_option
@click.option("--items", type=click.IntRange(min=1), default=None, metavar="N",
              help="Number of items.  [default: as in the study; without a study, 586]")  # fmt: skip
@click.option("--reviewers", type=click.IntRange(min=2), default=None, metavar="N",
              help="Number of reviewers.  [default: as in the study; without a study, 4]")  # fmt: skip
@click.option(
    "--per-item", type=click.IntRange(min=2), default=2, show_default=True, help="Number of reviewers per item."
)
@click.option(
    "--overlap", type=click.FloatRange(0, 1), default=0.2, show_default=True,
    help="Share of items that every reviewer labels.",
)  # fmt: skip
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
        assumed = assumed.about(question)
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
