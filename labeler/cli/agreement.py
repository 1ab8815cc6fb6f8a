"""Command that answers what is asked first about agreement."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from labeler.cli.common import json_option, opened, remark, say_if_interim, show, study_option


@click.command(epilog="Example: labeler agreement --study after.study --before before.study")
@study_option
@click.option("--labels", "label_file", type=click.Path(path_type=Path), default=None, metavar="L.csv",
              help="Labels to use instead of a study: a CSV file with the columns item, reviewer, label.")  # fmt: skip
@click.option("--before", type=click.Path(path_type=Path), default=None, metavar="FILE",
              help="Earlier round to compare with: a study, or a CSV file of labels.")  # fmt: skip
@json_option
def agreement(study: Path | None, label_file: Path | None, before: Path | None, as_json: bool) -> None:
    """Compare each reviewer with the rest, and this study with an earlier round.

    Items with the same name in both rounds are paired. The command also tests whether all pairs of reviewers agree
    equally often, and whether a reviewer's agreement changes in the course of the work.
    """
    from labeler.service.results import agreement_questions as service  # imported here because it needs the statistics

    def labels_of(path: Path | None) -> Any:
        if path is not None and path.suffix.lower() == ".csv":
            return service.labels_of_file(path)
        with opened(path) as db:
            say_if_interim(db)
            return service.labels_of_study(db)

    found = service.questions(labels_of(label_file or study), None if before is None else labels_of(before))
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    show(
        [
            {
                "reviewer": row["rater"], "items": row["n_items"], "agreement with the rest": _text(row["percent"]),
                "kappa with the rest": _text(row["kappa"]), "kappa without the reviewer": _text(row["without"]),
            }
            for row in found["against_the_rest"]
        ],
        as_json=False,
    )  # fmt: skip
    pairs = found["pairs"]
    told = f"p = {pairs['p']:.3g}" if pairs["p"] is not None else pairs["reason"]
    remark(f"Do all pairs agree equally often? {told}.")
    for row in found["drift"]:
        if row["slope"]["value"] is None or row["detectable"] is None:
            remark(f"Drift of {row['rater']}: {row['slope']['reason']}.")
            continue
        change = f"{100 * row['slope']['value']:+.0f} points from the first to the last own label"
        visible = (
            f"Only changes of about {100 * row['detectable']:.0f} points or more would have been seen."
            if row["detectable"] <= 1
            else "With so few labels, no change would have been seen."
        )
        remark(f"Drift of {row['rater']}: {change}, p = {row['p_holm']:.2g} (Holm). {visible}")
    if "difference" in found:
        row = found["difference"]
        how = f"paired by {row['n_common']} common items" if row["n_common"] else "no common items"
        remark(f"Kappa before {_text(row['first'])}, now {_text(row['second'])}, difference "
               f"{_text(row['difference'])} ({how}).")  # fmt: skip


def _text(estimate: Mapping[str, Any]) -> str:
    if estimate["value"] is None:
        return f"undefined: {estimate['reason']}"
    ends = "" if estimate["low"] is None else f" ({estimate['low']:.2f} to {estimate['high']:.2f})"
    return f"{estimate['value']:.2f}{ends}"
