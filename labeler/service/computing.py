"""Verdicts of the classifiers on all items, on whatever executor the shell gives."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from datetime import UTC, datetime

import pandas as pd

from analysis.classifiers import CLASSIFIERS, Verdict
from labeler.model import Category, Item, Series, StoredVerdict
from labeler.store import Database, events, items, jobs, runs, verdicts
from labeler.store.jobs import Job

JOB = "verdicts"
BATCH = 25  # items a transaction
IN_FLIGHT = 16  # items handed to the executor at a time: bounds memory

Advance = Callable[[int, int], None]
Judged = tuple[Item, list[Verdict]]


@dataclass(frozen=True)
class Computed:
    """What a computation did."""

    n_items: int
    n_computed: int
    n_without_verdict: int


def compute_verdicts(
    db: Database,
    *,
    executor: Executor | None = None,
    advance: Advance = lambda _done, _total: None,
    actor: str,
) -> Computed:
    """Compute the verdicts that are missing and keep them; what is there already is not computed again.

    Stopping in between loses at most the last few items.

    Parameters
    ----------
    db : Database
    executor : concurrent.futures.Executor, optional
        Where to compute; in this process where missing.
    advance : callable
        (items done, items in all), called now and then.
    actor : str

    Returns
    -------
    Computed
    """
    missing = _missing(db)
    n_items = sum(item.n_runs > 0 for item in items.all_items(db))
    with db.atomic():
        job_id = jobs.start(db, JOB, os.getpid(), len(missing), _now())
    n_done, n_without, error = 0, 0, None
    try:
        for batch in _batches(_judged(db, missing, executor)):
            n_done += len(batch)
            n_without += _keep(db, batch, job_id, n_done)
            advance(n_done, len(missing))
    except BaseException as failure:
        error = f"{type(failure).__name__}: {failure}"
        raise
    finally:
        with db.atomic():
            jobs.finish(db, job_id, _now(), error)
            events.add(db, _now(), actor, "compute verdicts", {"items": n_done, "error": error})
    return Computed(n_items, n_done, n_without)


def verdict_table(db: Database) -> pd.DataFrame:
    """The newest verdict of each classifier on each item (`store.verdicts.table`)."""
    return verdicts.table(db)


def export_table(db: Database, *, actor: str, now: datetime) -> pd.DataFrame:
    """All verdicts with the columns of the verdict file: means m1 to m5 for the heuristics, clusters for SAME."""
    with db.atomic():
        events.add(db, now.isoformat(), actor, "export verdicts", {})
        table = verdicts.table(db)
    for measure in ("m1", "m2", "m3", "m4", "m5"):
        table[measure] = [means.get(measure) for means in table["means"]]
    table["clusters"] = [" ".join(map(str, clusters)) or None for clusters in table["clusters"]]
    columns = ["item", "benchmark", "classifier", "verdict", "score", "threshold", "m1", "m2", "m3", "m4", "m5"]
    return table[[*columns, "clusters", "iterations", "error"]]


def verdict_counts(table: pd.DataFrame) -> list[dict[str, str | int]]:
    """How many items each classifier calls what: classifier, dissimilar, similar, none."""
    return [
        {"classifier": str(name)}
        | {category.value: int((rows == category).sum()) for category in reversed(Category)}
        | {"none": int(rows.isna().sum())}
        for name, rows in table.groupby("classifier")["verdict"]
    ]


def n_missing(db: Database) -> int:
    """How many items lack a verdict."""
    return len(_missing(db))


def latest_job(db: Database) -> Job | None:
    """The computation that began last, running or not."""
    return jobs.latest(db, JOB)


def judge(series: Sequence[Series], names: Sequence[str]) -> list[Verdict]:
    """What the named classifiers say; one that fails says why instead of stopping the others.

    The runs are shared, so that what several classifiers need is computed once.
    """
    from analysis.dissimilarity import Runs

    try:
        shared = Runs(series)
    except ValueError as error:
        return [_failed(name, error) for name in names]
    judged = []
    for name in names:
        try:
            judged.append(CLASSIFIERS[name](shared))
        except ValueError as error:
            judged.append(_failed(name, error))
    return judged


def _failed(name: str, error: Exception) -> Verdict:
    classifier = CLASSIFIERS[name]
    return Verdict(name, None, reason=str(error), parameters=classifier.parameters, version=classifier.version)


def _missing(db: Database) -> list[tuple[Item, list[str]]]:
    """Items with the classifiers whose verdict on these measurements, with these parameters, is not there."""
    done = verdicts.done(db)
    keys = {name: (name, verdicts.as_key(c.parameters), c.version) for name, c in CLASSIFIERS.items()}
    missing = []
    for item in items.all_items(db):
        names = [
            name
            for name, (classifier, parameters, version) in keys.items()
            if (item.item_id, classifier, parameters, item.data_hash, version) not in done
        ]
        if item.n_runs and names:
            missing.append((item, names))
    return missing


def _judged(db: Database, missing: Iterable[tuple[Item, list[str]]], executor: Executor | None) -> Iterator[Judged]:
    if executor is None:
        for item, names in missing:
            yield item, judge(runs.of_item(db, item.item_id), names)
        return
    pending: dict[Future[list[Verdict]], Item] = {}
    for item, names in missing:
        pending[executor.submit(judge, runs.of_item(db, item.item_id), names)] = item
        if len(pending) >= IN_FLIGHT:
            yield from _completed(pending)
    while pending:
        yield from _completed(pending)


def _completed(pending: dict[Future[list[Verdict]], Item]) -> Iterator[Judged]:
    for future in wait(pending, return_when=FIRST_COMPLETED).done:
        yield pending.pop(future), future.result()


def _batches(judged: Iterable[Judged]) -> Iterator[list[Judged]]:
    batch: list[Judged] = []
    for one in judged:
        batch.append(one)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _keep(db: Database, batch: Sequence[Judged], job_id: int, n_done: int) -> int:
    stored = [_stored(item, verdict) for item, judged in batch for verdict in judged]
    with db.atomic():
        for verdict in stored:
            verdicts.put(db, verdict, _now())
        jobs.advance(db, job_id, n_done, _now())
    return sum(verdict.verdict is None for verdict in stored)


def _stored(item: Item, verdict: Verdict) -> StoredVerdict:
    return StoredVerdict(
        item_id=item.item_id,
        classifier=verdict.classifier,
        parameters=CLASSIFIERS[verdict.classifier].parameters,
        data_hash=item.data_hash,
        version=verdict.version,
        verdict=Category(verdict.verdict) if verdict.verdict else None,
        score=verdict.score,
        threshold=verdict.threshold,
        means=verdict.means,
        clusters=verdict.clusters,
        pairs=verdict.pairs,
        linkage=verdict.linkage,
        n_runs=verdict.n_runs,
        n_iterations=verdict.n_iterations,
        error=verdict.reason,
    )


def _now() -> str:
    """Wall time of the bookkeeping of a long job; no result depends on it."""
    return datetime.now(UTC).isoformat()
