"""Compute and store the verdicts of the classifiers on all items.

The caller chooses the executor, which runs the classifiers in this process, in other processes or on other machines.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from analysis.runs.benchmark import Run
from analysis.runs.classifiers import Verdict
from labeler.errors import InputError
from labeler.studies.model import Item, Question
from labeler.studies.screen.kinds import SIDE
from labeler.studies.store import Database, actions, events, items, jobs, runs, studies, verdicts
from labeler.studies.store.jobs import Job
from labeler.studies.verdicts.classifying import (
    NOT_INSTALLED,
    Judge,
    JudgeOptions,
    is_variant,
    judge,
    judges,
    with_unit,
)
from labeler.text import without_folders

MAX_BATCH, MAX_BATCH_S = 50, 0.5  # a transaction stores at most this many items, and takes at most this many seconds
IN_FLIGHT = 16  # maximum number of items in the executor at the same time, which limits the memory

Advance = Callable[[int, int], None]
ItemVerdicts = tuple[Item, list[Verdict]]
EVERYTHING = JudgeOptions()


@dataclass(frozen=True)
class ComputationResult:
    """The result of computing verdicts: numbers of items and verdicts."""

    n_items: int
    n_computed: int
    n_without_verdict: int


def compute_verdicts(
    db: Database,
    *,
    options: JudgeOptions = EVERYTHING,
    variants: Sequence[str] = (),
    executor: Executor | None = None,
    advance: Advance = lambda _done, _total: None,
    actor: str,
) -> ComputationResult:
    """Compute and store the verdicts that the study lacks; existing verdicts are not computed again.

    Afterwards, tables and reports show the verdicts for these options. If the computation is stopped, the finished
    verdicts are kept, and the next call computes the others. The results do not depend on the executor. `variants`
    names additional classifiers with another threshold, such as `heuristic@0.30`; the study remembers them, and later
    calls compute them too. `advance` is called repeatedly with (finished items, all items).
    """
    variants = _with_kept(db, variants)
    if not _judges(db, options, variants):
        raise InputError(
            "No classifier is known that answers the question of this study. Import verdicts instead: labeler verdicts "
            "--import FILE.csv"
        )
    by_name = {classifier.name: classifier for classifier in _judges(db, options, variants)}
    missing = _missing(db, options, variants)
    with db.atomic():
        verdicts.use(
            db,
            [(judge.name, judge.parameters, judge.version) for judge in _acceptable(db, options, variants)],
            _now(),
        )
        job_id = jobs.start(db, jobs.VERDICTS, os.getpid(), len(missing), _now())
    n_done, n_without, error = 0, 0, None
    try:
        for batch in _batches(_item_verdicts(db, missing, options, executor)):
            n_done += len(batch)
            n_without += _keep(db, batch, by_name, job_id, n_done)
            advance(n_done, len(missing))
    except BaseException as failure:
        error = without_folders(f"{type(failure).__name__}: {failure}")
        raise
    finally:
        with events.by(db, actor, datetime.now(UTC)) as deed:
            jobs.finish(db, job_id, deed.at_utc, error)
            details = {"settings": list(variants)} if variants else {}
            deed.log(
                actions.COMPUTE_VERDICTS, items=n_done, drop=options.warmup, only_verdict=options.only_verdict,
                error=error, **details,
            )  # fmt: skip
    return ComputationResult(sum(item.n_runs > 0 for item in items.all_items(db)), n_done, n_without)


@dataclass(frozen=True)
class RecomputedVerdicts:
    """The stored verdicts, compared with verdicts that were computed again from the measurements."""

    n_computed: int
    n_others: int  # verdicts that nothing here can compute: imported, of learned models, of other packages or versions
    differences: tuple[tuple[int, str], ...]  # id of the verdict, and what differs


def recompute_verdicts(db: Database) -> RecomputedVerdicts:
    """Compute each stored verdict again from the present measurements, and return those that differ."""
    question = studies.get(db).question
    n_computed, n_others, found = 0, 0, list[tuple[int, str]]()
    for item in items.all_items(db):
        for row in verdicts.rows(db, item.item_id):
            different = _recomputed(db, item, row, question)
            if different is None:
                n_others += 1
                continue
            n_computed += 1
            if different:
                what = (
                    f"{', '.join(different)} of {row['classifier']} on {item.name!r} differ from the computed verdict"
                )
                found.append((row["verdict_id"], what))
    return RecomputedVerdicts(n_computed, n_others, tuple(found))


def _recomputed(db: Database, item: Item, row: Mapping[str, Any], question: Question) -> list[str] | None:
    """Return the columns in which a stored verdict differs from a computed one; None if it cannot be computed here."""
    try:
        parameters = json.loads(row["parameters"])
        options = JudgeOptions(parameters["drop"], bool(parameters.get("only_verdict", False)))
    except (ValueError, LookupError, TypeError, AttributeError, InputError):
        options = EVERYTHING
    known = judges(options, [row["classifier"]] if is_variant(row["classifier"]) else (), question)
    by = next((by for by in known if (by.name, by.version) == (row["classifier"], row["version"])), None)
    if by is None:
        return None
    asked = {"parameters": verdicts.as_key(by.parameters), "data_hash": item.data_hash}
    changed = [column for column, value in asked.items() if row[column] != value]
    if changed:
        return changed
    (verdict,) = judge(_runs(db, item), [by.name], options, question.classes)
    return verdicts.differences(row, verdicts.as_columns(item, _stored(verdict, by)))


def n_missing(db: Database, options: JudgeOptions = EVERYTHING, variants: Sequence[str] = ()) -> int:
    """Return the number of items that lack the verdict of at least one classifier.

    The classifiers are the standard classifiers, the variants in the study, and the given variants. A variant is a
    classifier with another threshold, such as `heuristic@0.30`.
    """
    acceptable = _acceptable(db, options, _with_kept(db, variants))
    return verdicts.n_lacking(db, [(judge.name, judge.parameters, judge.version) for judge in acceptable])


def _with_kept(db: Database, variants: Sequence[str]) -> Sequence[str]:
    """Return the variants that the study has, followed by the given variants, each once."""
    return list(dict.fromkeys([*variants_of(db), *variants]))


def variants_of(db: Database) -> list[str]:
    """Return the additional classifiers of the study that have another threshold, such as `heuristic@0.30`."""
    return list(filter(is_variant, sorted(verdicts.computed_classifiers(db))))


def latest_job(db: Database) -> Job | None:
    """Return the most recent computation of verdicts, finished or not; return None if there was none."""
    return jobs.latest(db, jobs.VERDICTS)


def _judges(db: Database, options: JudgeOptions, variants: Sequence[str]) -> list[Judge]:
    return judges(options, variants, studies.get(db).question)


def _acceptable(db: Database, options: JudgeOptions, variants: Sequence[str]) -> list[Judge]:
    """Return the classifiers whose stored verdicts are valid, with parameters and version.

    If only verdicts are needed, stored verdicts that also have scores and evidence are valid, too.
    """
    complete = _judges(db, JudgeOptions(options.warmup), variants) if options.only_verdict else []
    return _judges(db, options, variants) + complete


def _missing(db: Database, options: JudgeOptions, variants: Sequence[str]) -> list[tuple[Item, list[str]]]:
    """Return each item with missing verdicts, and the names of the classifiers that must run.

    A verdict is missing if the study has no verdict for the current measurements of the item and the current parameters
    and version of the classifier.
    """
    done = verdicts.done(db)
    acceptable = [
        (classifier.name, verdicts.as_key(classifier.parameters), classifier.version)
        for classifier in _acceptable(db, options, variants)
    ]
    names = [classifier.name for classifier in _judges(db, options, variants)]
    missing = []
    for item in items.all_items(db):
        present = {
            name
            for name, parameters, version in acceptable
            if (item.item_id, name, parameters, item.data_hash, version) in done
        }
        lacking = [name for name in names if name not in present]
        if item.n_runs and lacking:
            missing.append((item, lacking))
    return missing


def _item_verdicts(
    db: Database, missing: Iterable[tuple[Item, list[str]]], options: JudgeOptions, executor: Executor | None
) -> Iterator[ItemVerdicts]:
    categories = studies.get(db).question.classes
    if executor is None:
        for item, names in missing:
            yield item, judge(_runs(db, item), names, options, categories)
        return
    pending: dict[Future[list[Verdict]], tuple[Item, list[str]]] = {}

    def submit(item: Item, names: list[str]) -> None:
        pending[executor.submit(judge, _runs(db, item), names, options, categories)] = (item, names)

    def completed() -> Iterator[ItemVerdicts]:
        for future in wait(pending, return_when=FIRST_COMPLETED).done:
            item, names = pending.pop(future)
            try:
                item_verdicts = future.result()
            except AttributeError:  # Dask raises this error if a result was lost together with its worker
                submit(item, names)
            else:
                yield item, item_verdicts

    try:
        for item, names in missing:
            submit(item, names)
            if len(pending) >= IN_FLIGHT:
                yield from completed()
        while pending:
            yield from completed()
    finally:
        for future in pending:
            future.cancel()


def _runs(db: Database, item: Item) -> list[Run]:
    """Return the runs of an item, with their sides if it has two."""
    sides = runs.conditions_of_item(db, item.item_id).get(SIDE, ())
    return with_unit(runs.of_item(db, item.item_id), item.unit, item.better, sides)


def _batches(results: Iterable[ItemVerdicts]) -> Iterator[list[ItemVerdicts]]:
    batch: list[ItemVerdicts] = []
    started = time.monotonic()
    try:
        for result in results:
            batch.append(result)
            if len(batch) == MAX_BATCH or time.monotonic() - started > MAX_BATCH_S:
                yield batch
                batch, started = [], time.monotonic()
    except Exception:  # a worker was lost; first the results of the other workers are stored
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _keep(db: Database, batch: Sequence[ItemVerdicts], by_name: dict[str, Judge], job_id: int, n_done: int) -> int:
    stored = [
        (item, _stored(verdict, by_name[verdict.classifier]))
        for item, item_verdicts in batch
        for verdict in item_verdicts
    ]
    with db.atomic():
        for item, verdict in stored:
            verdicts.put(db, item, verdict, _now())
        jobs.advance(db, job_id, n_done, _now())
    return sum(verdict.verdict is None for _, verdict in stored)


def _stored(verdict: Verdict, by: Judge) -> Verdict:
    """Return a verdict as it is stored: under the name, parameters and version of the classifier that was asked."""
    return replace(
        verdict,
        classifier=by.name,
        parameters=by.parameters,
        version=NOT_INSTALLED if verdict.version == NOT_INSTALLED else by.version,
        reason=verdict.reason if verdict.verdict is None else None,
        means={} if by.parameters.get("only_verdict", False) else verdict.means,
    )


def _now() -> str:
    """Return the current time as text; it is used only to show the progress of a long job."""
    return datetime.now(UTC).isoformat()
