"""Verdicts of the classifiers on all items, on whatever executor the shell gives."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from analysis.classifiers import Verdict
from labeler.model import Category, Item, StoredVerdict
from labeler.service.verdicts.classifying import NOT_INSTALLED, Judge, JudgeOptions, is_setting, judge, judges
from labeler.store import Database, events, items, jobs, runs, verdicts
from labeler.store.jobs import Job

JOB = "verdicts"
MAX_BATCH, MAX_BATCH_S = 50, 0.5  # a transaction holds at most so many items and so much time
IN_FLIGHT = 16  # items handed to the executor at a time: bounds memory

Advance = Callable[[int, int], None]
ItemVerdicts = tuple[Item, list[Verdict]]
EVERYTHING = JudgeOptions()


@dataclass(frozen=True)
class Computed:
    """What a computation did."""

    n_items: int
    n_computed: int
    n_without_verdict: int


def compute_verdicts(
    db: Database,
    *,
    options: JudgeOptions = EVERYTHING,
    settings: Sequence[str] = (),
    executor: Executor | None = None,
    advance: Advance = lambda _done, _total: None,
    actor: str,
) -> Computed:
    """Compute the verdicts that are missing and keep them; what is there already is not computed again.

    The verdicts of these options become the ones that tables and reports show. Stopping in between keeps what is done,
    but for the last moment; starting again goes on. The results do not depend on the executor.

    Parameters
    ----------
    db : Database
    options : JudgeOptions
    settings : sequence of str
        Further settings of classifiers, such as `heuristic@0.30`. The study keeps them: they are computed from then on.
    executor : concurrent.futures.Executor, optional
        Where to compute; in this process where missing.
    advance : callable
        (items done, items in all), called now and then.
    actor : str

    Returns
    -------
    Computed
    """
    settings = _with_kept(db, settings)
    by_name = {classifier.name: classifier for classifier in judges(options, settings)}
    missing = _missing(db, options, settings)
    with db.atomic():
        verdicts.use(
            db,
            [(judge.name, judge.parameters, judge.version) for judge in _acceptable(options, settings)],
            _now(),
        )
        job_id = jobs.start(db, JOB, os.getpid(), len(missing), _now())
    n_done, n_without, error = 0, 0, None
    try:
        for batch in _batches(_item_verdicts(db, missing, options, executor)):
            n_done += len(batch)
            n_without += _keep(db, batch, by_name, job_id, n_done)
            advance(n_done, len(missing))
    except BaseException as failure:
        error = f"{type(failure).__name__}: {failure}"
        raise
    finally:
        with db.atomic():
            jobs.finish(db, job_id, _now(), error)
            details: dict[str, Any] = {
                "items": n_done,
                "drop": options.warmup,
                "only_verdict": options.only_verdict,
                "error": error,
            }
            details |= {"settings": list(settings)} if settings else {}
            events.add(db, _now(), actor, "compute verdicts", details)
    return Computed(sum(item.n_runs > 0 for item in items.all_items(db)), n_done, n_without)


def n_missing(db: Database, options: JudgeOptions = EVERYTHING, settings: Sequence[str] = ()) -> int:
    """How many items lack a verdict of a classifier, or of a setting that the study keeps or `settings` names."""
    return len(_missing(db, options, _with_kept(db, settings)))


def _with_kept(db: Database, settings: Sequence[str]) -> Sequence[str]:
    """The settings that the study keeps and further ones."""
    return list(dict.fromkeys([*filter(is_setting, sorted(verdicts.computed_classifiers(db))), *settings]))


def latest_job(db: Database) -> Job | None:
    """The computation that began last, running or not."""
    return jobs.latest(db, JOB)


def _acceptable(options: JudgeOptions, settings: Sequence[str]) -> list[Judge]:
    """Whose verdicts serve: where only verdicts are wanted, complete ones do as well."""
    complete = judges(JudgeOptions(options.warmup), settings) if options.only_verdict else []
    return judges(options, settings) + complete


def _missing(db: Database, options: JudgeOptions, settings: Sequence[str]) -> list[tuple[Item, list[str]]]:
    """Items with the classifiers whose verdict on these measurements, with these parameters, is not there."""
    done = verdicts.done(db)
    acceptable = [
        (classifier.name, verdicts.as_key(classifier.parameters), classifier.version)
        for classifier in _acceptable(options, settings)
    ]
    names = [classifier.name for classifier in judges(options, settings)]
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
    if executor is None:
        for item, names in missing:
            yield item, judge(runs.of_item(db, item.item_id), names, options)
        return
    pending: dict[Future[list[Verdict]], tuple[Item, list[str]]] = {}

    def submit(item: Item, names: list[str]) -> None:
        pending[executor.submit(judge, runs.of_item(db, item.item_id), names, options)] = item, names

    def completed() -> Iterator[ItemVerdicts]:
        for future in wait(pending, return_when=FIRST_COMPLETED).done:
            item, names = pending.pop(future)
            try:
                item_verdicts = future.result()
            except AttributeError:  # how a Dask future speaks whose result was lost together with its worker
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


def _batches(results: Iterable[ItemVerdicts]) -> Iterator[list[ItemVerdicts]]:
    batch: list[ItemVerdicts] = []
    started = time.monotonic()
    try:
        for result in results:
            batch.append(result)
            if len(batch) == MAX_BATCH or time.monotonic() - started > MAX_BATCH_S:
                yield batch
                batch, started = [], time.monotonic()
    except Exception:  # a worker was lost: what the others did is kept first
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _keep(db: Database, batch: Sequence[ItemVerdicts], by_name: dict[str, Judge], job_id: int, n_done: int) -> int:
    stored = [
        _stored(item, verdict, by_name[verdict.classifier])
        for item, item_verdicts in batch
        for verdict in item_verdicts
    ]
    with db.atomic():
        for verdict in stored:
            verdicts.put(db, verdict, _now())
        jobs.advance(db, job_id, n_done, _now())
    return sum(verdict.verdict is None for verdict in stored)


def _stored(item: Item, verdict: Verdict, by: Judge) -> StoredVerdict:
    own = {
        "classifier": by.name,
        "parameters": by.parameters,
        "version": NOT_INSTALLED if verdict.version == NOT_INSTALLED else by.version,
        "verdict": Category(verdict.verdict) if verdict.verdict else None,
        "reason": verdict.reason if verdict.verdict is None else None,
    }
    if by.parameters.get("only_verdict", False):
        own["means"] = {}
    return StoredVerdict(item.item_id, item.data_hash, **{**vars(verdict), **own})


def _now() -> str:
    """Wall time of the bookkeeping of a long job; no result depends on it."""
    return datetime.now(UTC).isoformat()
