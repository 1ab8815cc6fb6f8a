"""What classifiers said of the items, with the numbers behind it."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from labeler.model import Category, StoredVerdict
from labeler.store.database import Database


def put(db: Database, verdict: StoredVerdict, created_utc: str) -> None:
    """Write a verdict, in place of an earlier one from the same classifier, parameters, measurements and version.

    It is then the one that `table` shows.
    """
    known = dict(verdict.means)
    means = {
        name: known[name] if name in known else float(np.mean(values)) for name, values in verdict.pairs.items()
    } | known
    pairs = np.stack(list(verdict.pairs.values())).astype("<f4").tobytes() if verdict.pairs else None
    linkage = np.asarray(verdict.linkage, dtype="<f8").tobytes() if verdict.linkage is not None else None
    db.execute(
        """INSERT INTO verdicts (item_id, classifier, parameters, data_hash, version, verdict, score, threshold, means,
                                 clusters, n_runs, n_iterations, n_left_out, pairs, linkage, error, created_utc,
                                 used_utc)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (item_id, classifier, parameters, data_hash, version) DO UPDATE SET
               verdict = excluded.verdict, score = excluded.score, threshold = excluded.threshold,
               means = excluded.means, clusters = excluded.clusters, n_runs = excluded.n_runs,
               n_iterations = excluded.n_iterations,
               n_left_out = excluded.n_left_out, pairs = excluded.pairs, linkage = excluded.linkage,
               error = excluded.error, created_utc = excluded.created_utc, used_utc = excluded.used_utc""",
        (
            verdict.item_id, verdict.classifier, as_key(verdict.parameters), verdict.data_hash, verdict.version,
            verdict.verdict, verdict.score, verdict.threshold, json.dumps(means),
            json.dumps(list(verdict.clusters)), verdict.n_runs, verdict.n_iterations, verdict.n_left_out, pairs,
            linkage,
            verdict.error, created_utc, created_utc,
        ),
    )  # fmt: skip


def remove(db: Database, classifier: str, parameters: Mapping[str, Any]) -> None:
    """Remove all verdicts of a classifier with these parameters."""
    db.execute("DELETE FROM verdicts WHERE classifier = ? AND parameters = ?", (classifier, as_key(parameters)))


def use(db: Database, judges: Iterable[tuple[str, Mapping[str, Any], int]], used_utc: str) -> None:
    """Make the verdicts of these (classifier, parameters, version) the ones that `table` shows."""
    db.executemany(
        "UPDATE verdicts SET used_utc = ? WHERE classifier = ? AND parameters = ? AND version = ?",
        ((used_utc, classifier, as_key(parameters), version) for classifier, parameters, version in judges),
    )


def of_item(db: Database, item_id: int) -> list[StoredVerdict]:
    """The verdicts on an item that `table` shows, with their evidence, in order of classifier."""
    rows = db.execute(
        """SELECT item_id, classifier, parameters, data_hash, version, verdict, score, threshold, means, clusters,
                  pairs, linkage, n_runs, n_iterations, n_left_out, error
           FROM shown_verdicts WHERE item_id = ? ORDER BY classifier""",
        (item_id,),
    )
    return [_stored(*row) for row in rows]


def _stored(
    item_id: int, classifier: str, parameters: str, data_hash: str, version: int, verdict: str | None,
    score: float | None, threshold: float | None, means: str, clusters: str, pairs: bytes | None,
    linkage: bytes | None, n_runs: int, n_iterations: int, n_left_out: int, error: str | None,
) -> StoredVerdict:  # fmt: skip
    n_pairs = n_runs * (n_runs - 1) // 2
    values = np.frombuffer(pairs, dtype="<f4").astype(np.float64).reshape(-1, n_pairs) if pairs else ()
    return StoredVerdict(
        item_id=item_id, classifier=classifier, parameters=json.loads(parameters), data_hash=data_hash,
        version=version, verdict=Category(verdict) if verdict else None, score=score, threshold=threshold,
        means=json.loads(means), clusters=tuple(json.loads(clusters)),
        pairs=dict(zip(json.loads(means), values, strict=False)),  # the measures of `pairs` come first in `means`
        linkage=None if linkage is None else np.frombuffer(linkage, dtype="<f8").reshape(-1, 4),
        n_runs=n_runs, n_iterations=n_iterations, n_left_out=n_left_out, error=error,
    )  # fmt: skip


def done(db: Database) -> set[tuple[int, str, str, str, int]]:
    """What need not be computed again: (item, classifier, parameters, hash of the measurements, version)."""
    rows = db.execute("SELECT item_id, classifier, parameters, data_hash, version FROM verdicts")
    return {tuple(row) for row in rows}


def as_key(parameters: Mapping[str, Any]) -> str:
    """Parameters as they are compared: JSON with sorted names."""
    return json.dumps(dict(parameters), sort_keys=True)


def brief_table(db: Database) -> pd.DataFrame:
    """Of `table` the columns item, classifier, verdict, score and threshold: reading the evidence takes longer."""
    rows = db.execute(
        "SELECT name, classifier, verdict, score, threshold FROM shown_verdicts ORDER BY name, classifier"
    )
    return pd.DataFrame(rows.fetchall(), columns=["item", "classifier", "verdict", "score", "threshold"])


def table(db: Database) -> pd.DataFrame:
    """The verdict of each classifier on each item that was asked for last.

    Columns item, benchmark, application, classifier, parameters, version, verdict, score, threshold, means (dict),
    clusters (tuple), runs, iterations, error; in order of item and classifier.
    """
    rows = db.execute(
        """SELECT name, benchmark, application, classifier, parameters, version, verdict, score, threshold, means,
                  clusters, n_runs, n_iterations, error
           FROM shown_verdicts ORDER BY name, classifier"""
    ).fetchall()
    columns = [
        "item", "benchmark", "application", "classifier", "parameters", "version", "verdict", "score", "threshold",
        "means", "clusters", "runs", "iterations", "error",
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=columns)
    frame["means"] = [json.loads(text) for text in frame["means"]]
    frame["clusters"] = [tuple(json.loads(text)) for text in frame["clusters"]]
    return frame


def copy(db: Database, into: Database, item_id: int, new_id: int) -> None:
    """Write the verdicts on an item's measurements as they are into another study, where the item has another id."""
    rows = db.execute(
        """SELECT v.classifier, v.parameters, v.data_hash, v.version, v.verdict, v.score, v.threshold, v.means,
                  v.clusters, v.n_runs, v.n_iterations, v.n_left_out, v.pairs, v.linkage, v.error, v.created_utc,
                  v.used_utc
           FROM verdicts v JOIN items i USING (item_id)
           WHERE v.item_id = ? AND v.data_hash = i.data_hash ORDER BY v.verdict_id""",
        (item_id,),
    )
    into.executemany(
        """INSERT INTO verdicts (item_id, classifier, parameters, data_hash, version, verdict, score, threshold, means,
                                 clusters, n_runs, n_iterations, n_left_out, pairs, linkage, error, created_utc,
                                 used_utc)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        ((new_id, *row) for row in rows),
    )
