"""Commands that compute the verdicts of classifiers, and show how far classifiers agree.

The computation runs in this process, in several processes, or on a Dask cluster.
"""

import logging
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager
from pathlib import Path

import click

from analysis.text import counted
from labeler.cli.common import dry_run_option, json_option, now, out_option, remark, show, write_text
from labeler.cli.options import options_of
from labeler.cli.workers import workers
from labeler.errors import InputError
from labeler.files.models import read_model, warmup_of
from labeler.files.outputs import as_csv
from labeler.studies.commands.opening import (
    OWNER,
    actor_option,
    logged_if_written,
    open_study,
    say_if_interim,
    study_option,
)
from labeler.studies.course import coordinating
from labeler.studies.results import learning
from labeler.studies.store import Database
from labeler.studies.verdicts import classifying, computing, stored_verdicts
from labeler.studies.verdicts.classifying import JudgeOptions

WORKERS_TIMEOUT_S = 30
GOES_ON = "Finished verdicts are kept. Run the same command again to continue."
MOST_REASONS = 5  # reasons why there is no verdict, printed by `labeler verdicts`
THRESHOLD = click.FloatRange(0, 1)


@click.command(epilog="Example: labeler verdicts --study cache.study --theta 0.3 --theta 0.4 --cut 0.15")
@study_option
@click.option("--theta", "thetas", type=THRESHOLD, multiple=True, metavar="X",
              help="Also compute the heuristics with threshold X, as heuristic@X. The standard threshold is "
                   "0.25. Repeatable.")  # fmt: skip
@click.option("--cut", "cuts", type=THRESHOLD, multiple=True, metavar="X",
              help="Also compute SAME with its tree cut at height X, as same@X. The standard height is 0.20. "
                   "Repeatable.")  # fmt: skip
@click.option("--remove", "removed", multiple=True, metavar="NAME",
              help="Remove the verdicts of a classifier that --theta, --cut, --model or --import added, or whose "
                   "package is no longer installed, such as heuristic@0.30. Repeatable.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes.")
@click.option(
    "--scheduler",
    default=None,
    metavar="ADDRESS",
    help="Address of a Dask cluster that computes the verdicts, such as tcp://host:8786.",
)
@options_of(JudgeOptions)
@out_option(
    "FILE.csv", "Also write all verdicts with their numbers to this file; - is standard output.", required=False,
)  # fmt: skip
@click.option("--import", "import_file", type=click.Path(path_type=Path), default=None, metavar="FILE.csv",
              help="Import verdicts of another tool from this file. Columns: item, verdict, and optionally "
                   "classifier and score.")  # fmt: skip
@click.option("--model", type=click.Path(path_type=Path), default=None, metavar="MODEL.json",
              help="Also compute the verdicts of a model from `labeler learn`, as learned:NAME. They stay in the study "
                   "until you use --remove.")  # fmt: skip
@click.option("--classifier", "name", default=None, metavar="NAME",
              help="With --import: name of the classifier, if the file has no column for it.")  # fmt: skip
@dry_run_option("With --import or --remove: show what would change, without changing it.")
@actor_option
@json_option
def verdicts(
    study: Path | None,
    thetas: tuple[float, ...],
    cuts: tuple[float, ...],
    removed: tuple[str, ...],
    jobs: int,
    scheduler: str | None,
    options: JudgeOptions,
    out: Path | None,
    import_file: Path | None,
    model: Path | None,
    name: str | None,
    dry_run: bool,
    actor: str,
    as_json: bool,
) -> None:
    """Compute the verdicts of every classifier.

    Classifiers of installed packages are included. Existing verdicts are not computed again. After Ctrl+C, finished
    verdicts are kept; run the same command again to continue. A classifier with another threshold (--theta, --cut)
    appears beside the default in all tables and reports, until you remove it with --remove. The command prints the
    number of items per classifier and verdict.
    """
    if name is not None and import_file is None:
        raise InputError("--classifier can only be used with --import.")
    if dry_run and import_file is None and not removed:
        raise InputError("--dry-run needs --import FILE.csv or --remove NAME.")
    if model is not None:
        if import_file is not None or options.only_verdict:
            raise InputError("--model needs all measures; it cannot be used with --import or --only-verdict.")
        # a wrong model should fail before minutes of computation
        options = JudgeOptions(warmup_of(read_model(model), options.warmup))
    for sentence in classifying.ignored_plugins():
        remark(sentence)
    variants = classifying.variants({"theta": thetas, "cut": cuts})
    if variants and import_file is not None:
        raise InputError("--theta and --cut cannot be used with --import.")
    with open_study(study, dry_run=dry_run) as db:
        if removed:
            n_removed = stored_verdicts.remove_classifiers(db, removed, actor=OWNER, now=now())
            remark(
                f"{'Would remove' if dry_run else 'Removed'} {', '.join(removed)} and {counted(n_removed, 'verdict')}."
            )
        if import_file is not None:
            n = stored_verdicts.import_verdicts(db, import_file, name, actor=OWNER, now=now())
            remark(f"{'Would import' if dry_run else 'Imported'} {counted(n, 'verdict')}.")
        elif not dry_run and (model is None or learning.has_own_verdicts(db, model)):
            _compute(db, options, variants, jobs, scheduler, actor)
        if model is not None and not dry_run:
            learned, n_given, n_without = learning.apply_model(db, model, actor=OWNER, now=now())
            remark(f"{learned}: {counted(n_given, 'verdict')}; no verdict for {counted(n_without, 'item')}.")
        table, categories = stored_verdicts.verdict_table(db), coordinating.get_study(db).question.names
        if out is not None:
            with logged_if_written(db, out):
                write_text(out, as_csv(stored_verdicts.export_table(db, actor=OWNER, now=now())))
        if actor == OWNER:  # not if a page started this command: nobody has seen the verdicts then
            coordinating.log_look(db, "verdicts", actor=OWNER, now=now())
        say_if_interim(db)
    if str(out) != "-":
        show(stored_verdicts.verdict_counts(table, categories), as_json=as_json)


def _compute(
    db: Database, options: JudgeOptions, variants: Sequence[str], jobs: int, scheduler: str | None, actor: str
) -> None:
    try:
        with (
            _executor(jobs, scheduler) as executor,
            click.progressbar(
                length=computing.n_missing(db, options, variants), label="Judging", file=sys.stderr
            ) as bar,
        ):
            computed = computing.compute_verdicts(
                db,
                options=options,
                variants=variants,
                executor=executor,
                advance=lambda done, _total: bar.update(done - bar.pos),
                actor=actor,
            )
    except KeyboardInterrupt:
        raise InputError(f"Stopped. {GOES_ON}") from None
    if not computed.n_items:
        raise InputError("The study has no measurements. Import measurements first.")
    for sentence in stored_verdicts.warmup_left_out(db, options):
        remark(sentence)
    missing = f"{counted(computed.n_without_verdict, 'verdict')} could not be computed"
    remark(f"Computed the verdicts of {computed.n_computed} of {counted(computed.n_items, 'item')}; {missing}.")
    failures = stored_verdicts.reasons_of_failures(db) if computed.n_without_verdict else []
    for row in failures[:MOST_REASONS]:
        remark(f"- {row['classifier']}, {counted(row['items'], 'item')}: {row['reason']}")
    if len(failures) > MOST_REASONS:
        remark(f"- {counted(len(failures) - MOST_REASONS, 'more reason')}: see the column error of --out.")


@contextmanager
def _executor(jobs: int, scheduler: str | None) -> Iterator[Executor | None]:
    """Yield the executor: a Dask cluster, a pool of processes, or None for this process."""
    if scheduler is not None:
        with _dask_executor(scheduler) as executor:
            yield executor
    elif jobs > 1:
        with workers(jobs, next_step=GOES_ON) as pool:
            yield pool
    else:
        yield None


@click.command(epilog="Example: labeler classifiers --study cache.study --most-disputed 20")
@study_option
@click.option("--most-disputed", "n", type=click.IntRange(min=1), default=None,
              metavar="N",
              help="List the N items on which the classifiers disagree most, so that reviewers can label them "
                   "first.")  # fmt: skip
@click.option("--pairs", is_flag=True,
              help="Compare each classifier with each other one, without labels.")  # fmt: skip
@json_option
def classifiers(study: Path | None, n: int | None, pairs: bool, as_json: bool) -> None:
    """Compare each classifier with the agreed labels.

    These are the numbers of the report. With --pairs, the table has a row for each pair of classifiers: the share of
    items with the same verdict, and Cohen's kappa. The column `finds` is the share of the second classifier's items of
    the positive category, such as dissimilar, that the first classifier also finds; the column `clears` is the same
    share for all other items.
    """
    if pairs and n is not None:
        raise click.UsageError("Give --pairs or --most-disputed, not both.")
    with open_study(study) as db:
        counting = stored_verdicts.without_excluded(db, stored_verdicts.brief_table(db))
        question = coordinating.get_study(db).question
        if pairs:
            rows = stored_verdicts.classifier_agreement(counting, question)
        elif n is not None:
            rows = stored_verdicts.most_disputed(counting, question, n)
        else:
            from labeler.studies.results import reporting

            rows = reporting.classifier_rows(reporting.current_report(db))
        coordinating.log_look(db, "agreement of classifiers", actor=OWNER, now=now())
        say_if_interim(db)
    show(rows, as_json=as_json)
    if not rows:
        few = "no verdicts" if n is None and not pairs else "fewer than two classifiers with verdicts"
        remark(f"The study has {few}. Compute verdicts first: labeler verdicts")
    elif all(row.get("n") == 0 for row in rows):
        remark("No item has agreed labels and verdicts yet. To compare the classifiers without labels: --pairs")


@contextmanager
def _dask_executor(address: str) -> Iterator[Executor]:
    try:
        from dask.distributed import Client, KilledWorker
    except ImportError:
        raise InputError("A Dask cluster needs: pip install 'benchmark-run-labeler[cluster]'") from None
    with _without_logs():
        try:
            client = Client(address, timeout="10s")
        except (OSError, ValueError) as error:
            raise InputError(f"No Dask scheduler answers at {address}: {error}.") from None
        try:
            client.wait_for_workers(1, timeout=WORKERS_TIMEOUT_S)
            yield client.get_executor()
        except TimeoutError:
            raise InputError(f"The Dask cluster at {address} has no workers.") from None
        except (CancelledError, KilledWorker) as error:
            lost = "lost its connection" if isinstance(error, CancelledError) else "lost all workers that tried an item"
            raise InputError(f"The Dask cluster at {address} {lost}. {GOES_ON}") from None
        finally:
            client.close()


@contextmanager
def _without_logs() -> Iterator[None]:
    """Switch off logging inside this context.

    The package distributed logs whole tracebacks, but this command reports errors itself.
    """
    logging.disable()
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
