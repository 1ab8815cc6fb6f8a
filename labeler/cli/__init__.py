"""The command `labeler`: data to standard output, remarks and progress to standard error."""

import click

from labeler import __version__
from labeler.cli import (
    check,
    course,
    data,
    exploring,
    figures,
    flags,
    formats,
    handover,
    people,
    planning,
    serving,
    study,
    triage,
    verdicts,
)
from labeler.cli.common import Commands


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="labeler")
def main() -> None:
    """Label whether the repeated runs of benchmarks are similar, and judge reviewers and classifiers by it.

    A study is one file. Name it with --study FILE, or once with the environment variable LABELER_STUDY.
    """


COMMANDS = (
    *(serving.serve, serving.demo, study.init, data.import_, formats.formats, formats.convert),
    *(triage.browse, triage.triage),
    *(people.reviewers, people.coordinators, study.plan, course.calibration, course.state, study.status, flags.flags),
    *(course.exclude, course.adjudicate, verdicts.verdicts, verdicts.classifiers, figures.figures, data.labels),
    *(data.report, data.replicate),
    *(check.check, exploring.spread, exploring.order, exploring.trust, exploring.contexts, exploring.variants),
    *(
        study.log,
        study.backup,
        handover.merge,
        handover.anonymise,
        handover.audit,
        planning.planning,
        planning.simulate,
    ),
)
for command in COMMANDS:
    main.add_command(command)
