"""Command that answers what is asked first about agreement."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from labeler.cli.common import json_option, remark, show, show_json
from labeler.cli.options import options_of
from labeler.errors import InputError
from labeler.files.formats.label_tables import LabelReading
from labeler.studies.commands.opening import open_study, say_if_interim, study_option

LABEL_FILES = (".csv", ".tsv", ".txt", ".json", ".jsonl")  # other files are studies


class RequirementType(click.ParamType[tuple[str, float]]):
    """A coefficient and what its lower limit must reach, such as alpha:.67."""

    name = "required agreement"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        """Return the coefficient and the number."""
        from labeler.studies.results.agreement_questions import coefficients

        name, _, number = str(value).partition(":")
        try:
            required = float(number)
        except ValueError:
            required = math.nan
        if name.lower() not in coefficients() or not -1 <= required <= 1:
            self.fail(
                f"{value!r} is not a requirement. Write NAME:X, such as alpha:.67. NAME is one of: "
                f"{', '.join(coefficients())}.",
                param,
                ctx,
            )
        return name.lower(), required


@click.command(epilog="Example: labeler agreement --labels labels.csv --fail-under alpha:.67")
@study_option
@click.option("--labels", type=click.Path(path_type=Path), default=None, metavar="FILE.csv",
              help="Labels to use instead of a study: a table with the columns item, reviewer, label, or with one "
                   "column per reviewer.")  # fmt: skip
@options_of(LabelReading, "label_reading")
@click.option("--against", "before", type=click.Path(path_type=Path), default=None,
              metavar="FILE",
              help="Earlier round to compare with: a study, or a file of labels.")  # fmt: skip
@click.option(
    "--fail-under",
    type=RequirementType(),
    default=None,
    metavar="NAME:X",
    help="Required agreement: percent, kappa, light, conger, alpha, ac1 or brennan-prediger, and a number, such as "
    "alpha:.67. Exit code 1 if the lower limit of the interval is below it, 3 if this cannot be known.",
)
@click.option("--level", type=click.FloatRange(0.5, 1, max_open=True), default=0.95, show_default=True,
              help="Confidence level of the interval for --fail-under.")  # fmt: skip
@json_option
def agreement(
    study: Path | None,
    labels: Path | None,
    label_reading: LabelReading,
    before: Path | None,
    fail_under: tuple[str, float] | None,
    level: float,
    as_json: bool,
) -> None:
    """Compare each reviewer with the rest, and this study with an earlier round.

    Items with the same name in both rounds are paired. The command also tests whether all pairs of reviewers agree
    equally often, and whether a reviewer's agreement changes in the course of the work. With --fail-under, it only
    compares the lower limit of the interval of a coefficient with what you require, so a build can depend on it.
    """
    from labeler.studies.results import agreement_questions as service

    def labels_of(path: Path | None, *, is_file: bool) -> Any:
        if path is not None and is_file:
            return service.labels_of_file(path, label_reading, say=remark)
        with open_study(path) as db:
            say_if_interim(db)
            return service.labels_of_study(db)

    if fail_under is not None and before is not None:
        raise InputError("--fail-under judges one set of labels. Leave out --against.")
    given = labels_of(labels or study, is_file=labels is not None)
    if fail_under is not None:
        gate = service.check_requirement(given, *fail_under, level=level)
        show_json(gate.json_values()) if as_json else click.echo(gate.words)
        raise SystemExit({True: 0, False: 1, None: 3}[gate.passed])
    earlier = None if before is None else labels_of(before, is_file=before.suffix.lower() in LABEL_FILES)
    found = service.agreement_answers(given, earlier)
    if as_json:
        show_json(found)
    else:
        _print(found)


def _print(found: Mapping[str, Any]) -> None:
    """Print the agreement of each reviewer with the rest, and say the other answers in sentences."""
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
    answer = f"p = {pairs['p']:.3g}" if pairs["p"] is not None else f"Unknown: {pairs['reason']}"
    remark(f"Do all pairs agree equally often? {answer}.")
    if found["course"] is not None:
        _print_course(found["course"])
    if "difference" in found:
        row = found["difference"]
        how = f"paired by {row['n_common']} common items" if row["n_common"] else "no common items"
        remark(f"Kappa before {_text(row['first'])}, now {_text(row['second'])}, difference "
               f"{_text(row['difference'])} ({how}).")  # fmt: skip


def _print_course(course: Mapping[str, Any]) -> None:
    """Say whether agreement changes in the course of the study, and which change of each reviewer would be found."""
    question = "Does agreement change in the course of the study?"
    if course["changes"] is None:
        remark(f"{question} Unknown: {course['reason']}.")
        return
    who = f"that of {', '.join(course['named'])} with the others" if course["named"] else "but not whose labels change"
    answer = f"Yes, {who}" if course["changes"] else "These labels do not show it"
    remark(f"{question} {answer} (p = {course['p']:.2g}).")
    for row in course["raters"]:
        if row["detectable"] is None:
            remark(f"Drift of {row['rater']} was not tested: {row['slope']['reason']}.")
            continue
        change = (
            f"{100 * row['slope']['value']:+.0f} percentage points from the first to the last label of this reviewer"
        )
        visible = (
            f"Only changes of about {100 * row['detectable']:.0f} percentage points or more would be found."
            if row["detectable"] <= 1
            else "There are too few labels to find any change."
        )
        remark(f"Drift of {row['rater']}: {change}, p = {row['p_holm']:.2g} (Holm). {visible}")


def _text(estimate: Mapping[str, Any]) -> str:
    if estimate["value"] is None:
        return f"undefined: {estimate['reason']}"
    ends = "" if estimate["low"] is None else f" ({estimate['low']:.2f} to {estimate['high']:.2f})"
    return f"{estimate['value']:.2f}{ends}"
