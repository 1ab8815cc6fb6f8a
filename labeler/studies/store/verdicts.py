"""Store and read the verdicts of classifiers on items, with the evidence."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from labeler.studies.model import Item
from labeler.studies.store.database import Database

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs.classifiers import Verdict

# all columns except the id
_KEY = ("item_id", "classifier", "parameters", "data_hash", "version")
_NUMBERS = (
    "verdict", "score", "threshold", "means", "clusters", "n_runs", "n_iterations", "n_left_out", "pairs", "linkage",
    "error", "created_utc", "used_utc",
)  # fmt: skip
_COLUMNS = (*_KEY, *_NUMBERS)
_COMPARED = tuple(name for name in _NUMBERS if not name.endswith("_utc"))
_VALUES = ", ".join(f":{name}" for name in _COLUMNS)


def put(db: Database, item: Item, verdict: "Verdict", created_utc: str) -> None:
    """Store a verdict on the current measurements of an item, which `table` then shows.

    The verdict replaces an earlier verdict of the same classifier, parameters, measurements and version.
    """
    changed = ", ".join(f"{name} = excluded.{name}" for name in _NUMBERS)
    db.execute(
        f"""INSERT INTO verdicts ({", ".join(_COLUMNS)}) VALUES ({_VALUES})
            ON CONFLICT ({", ".join(_KEY)}) DO UPDATE SET {changed}""",  # noqa: S608 - constants
        as_columns(item, verdict) | {"created_utc": created_utc, "used_utc": created_utc},
    )


def as_columns(item: Item, verdict: "Verdict") -> dict[str, Any]:
    """Return the columns with which a verdict on an item is stored, without the times."""
    own_means = dict(verdict.means)
    means = {name: own_means.get(name, float(np.mean(values))) for name, values in verdict.pairs.items()} | own_means
    return {
        **vars(verdict),
        "item_id": item.item_id,
        "data_hash": item.data_hash,
        "parameters": as_key(verdict.parameters),
        "means": json.dumps(means),
        "clusters": json.dumps(list(verdict.clusters)),
        "pairs": np.stack(list(verdict.pairs.values())).astype("<f4").tobytes() if verdict.pairs else None,
        "linkage": None if verdict.linkage is None else np.asarray(verdict.linkage, dtype="<f8").tobytes(),
        "error": verdict.reason,
    }


def differences(now: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """Return the columns in which a stored verdict differs from a computed one, apart from the last digits."""
    return [column for column in _COMPARED if not _is_same(column, now[column], expected[column])]


def _is_same(column: str, now: Any, expected: Any) -> bool:
    """Return whether two values of a column are equal; numbers may differ in the last digits on another machine."""
    if now == expected:
        return True
    if now is None or expected is None or column not in _IN_NUMBERS:
        return False
    try:
        first, second = (_IN_NUMBERS[column](value) for value in (now, expected))
        return list(first) == list(second) and bool(
            np.allclose(list(first.values()), list(second.values()), rtol=1e-6, atol=1e-12)
        )
    except (ValueError, TypeError, AttributeError):  # not what the application writes
        return False


def _numbered(values: Iterable[float]) -> dict[str, float]:
    return {str(number): float(value) for number, value in enumerate(values)}


# column of numbers -> the function that returns them by name
_IN_NUMBERS: Mapping[str, Callable[[Any], dict[str, float]]] = {
    "score": lambda value: _numbered([value]),
    "threshold": lambda value: _numbered([value]),
    "means": lambda text: {name: float(value) for name, value in json.loads(text).items()},
    "pairs": lambda content: _numbered(np.frombuffer(content, dtype="<f4")),
    "linkage": lambda content: _numbered(np.frombuffer(content, dtype="<f8")),
}


def rows(db: Database, item_id: int) -> list[dict[str, Any]]:
    """Return all stored verdicts on an item, each as column -> value."""
    return db.records("SELECT * FROM verdicts WHERE item_id = ? ORDER BY verdict_id", (item_id,))


def remove(db: Database, classifier: str, parameters: Mapping[str, Any]) -> None:
    """Remove all verdicts of a classifier with these parameters."""
    db.execute("DELETE FROM verdicts WHERE classifier = ? AND parameters = ?", (classifier, as_key(parameters)))


def use(db: Database, judges: Iterable[tuple[str, Mapping[str, Any], int]], used_utc: str) -> None:
    """Make `table` show the verdicts of these classifiers, each given as (classifier, parameters, version)."""
    db.executemany(
        "UPDATE verdicts SET used_utc = ? WHERE classifier = ? AND parameters = ? AND version = ?",
        ((used_utc, classifier, as_key(parameters), version) for classifier, parameters, version in judges),
    )


def of_item(db: Database, item_id: int) -> "list[Verdict]":
    """Return the verdicts of an item that `table` shows, with their evidence, sorted by classifier."""
    rows = db.records(
        f"SELECT {', '.join(_COLUMNS)} FROM shown_verdicts WHERE item_id = ? ORDER BY classifier",  # noqa: S608 - constant
        (item_id,),
    )
    return [_stored(row) for row in rows]


def _stored(row: Mapping[str, Any]) -> "Verdict":
    from analysis.runs.classifiers import Verdict

    means, n_pairs = json.loads(row["means"]), row["n_runs"] * (row["n_runs"] - 1) // 2
    pairs = np.frombuffer(row["pairs"] or b"", dtype="<f4").astype(np.float64)
    as_stored = ("classifier", "verdict", "score", "threshold", "n_runs", "n_iterations", "n_left_out", "version")
    return Verdict(
        **{name: row[name] for name in as_stored},
        parameters=json.loads(row["parameters"]),
        means=means,
        clusters=tuple(json.loads(row["clusters"])),
        # the first measures in `means` are those of `pairs`
        pairs=dict(zip(means, pairs.reshape(-1, n_pairs), strict=False)) if len(pairs) else {},
        linkage=None if row["linkage"] is None else np.frombuffer(row["linkage"], dtype="<f8").reshape(-1, 4),
        reason=row["error"],
    )


def done(db: Database) -> set[tuple[int, str, str, str, int]]:
    """Return the keys of all stored verdicts: (item, classifier, parameters, hash of the measurements, version)."""
    rows = db.execute("SELECT item_id, classifier, parameters, data_hash, version FROM verdicts")
    return {tuple(row) for row in rows}


def n_lacking(db: Database, acceptable: Iterable[tuple[str, Mapping[str, Any], int]]) -> int:
    """Return the number of items with measurements that lack a verdict of at least one of these classifiers.

    `acceptable` contains (classifier, parameters, version) for each verdict that is accepted. A classifier can occur
    several times; then one of its verdicts is enough.
    """
    serving = [(name, as_key(parameters), version) for name, parameters, version in acceptable]
    row = db.execute(
        """SELECT count(*) FROM items i WHERE n_runs > 0 AND ? > (
               SELECT count(DISTINCT v.classifier) FROM verdicts v
               JOIN json_each(?) k ON v.classifier = k.value ->> 0 AND v.parameters = k.value ->> 1
                                      AND v.version = k.value ->> 2
               WHERE v.item_id = i.item_id AND v.data_hash = i.data_hash)""",
        (len({name for name, _, _ in serving}), json.dumps(serving)),
    ).fetchone()
    return int(row[0])


def computed_classifiers(db: Database) -> set[str]:
    """Return the names of all classifiers whose verdicts labeler itself computed."""
    rows = db.execute("SELECT DISTINCT classifier FROM verdicts WHERE parameters NOT LIKE '%\"imported\"%'")
    return {name for (name,) in rows}


def remove_classifier(db: Database, classifier: str) -> int:
    """Remove all verdicts of a classifier with any parameters; return the number of removed verdicts."""
    return db.execute("DELETE FROM verdicts WHERE classifier = ?", (classifier,)).rowcount


def as_key(parameters: Mapping[str, Any]) -> str:
    """Return parameters as a text that can be compared: JSON with sorted names."""
    return json.dumps(dict(parameters), sort_keys=True)


def brief_table(db: Database) -> "pd.DataFrame":
    """Return only the columns item, classifier, verdict, score, threshold and error of `table`.

    The evidence is not read, which saves time.
    """
    import pandas as pd

    rows = db.execute(
        "SELECT name, classifier, verdict, score, threshold, error FROM shown_verdicts ORDER BY name, classifier"
    )
    return pd.DataFrame(rows.fetchall(), columns=["item", "classifier", "verdict", "score", "threshold", "error"])


def table(db: Database) -> "pd.DataFrame":
    """Return the most recently requested verdict of each classifier on each item.

    The rows are sorted by item and classifier. The columns are item, benchmark, application, classifier, parameters,
    version, verdict, score, threshold, means (dict), clusters (tuple), runs, iterations and error.
    """
    import pandas as pd  # imported here because copying a study needs no table

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
