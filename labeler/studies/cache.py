"""Cache computed results in memory: until the study changes, or for each value of a key."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeVar

from labeler.studies.store import Database, chain, jobs

P = ParamSpec("P")
T = TypeVar("T")
Computed = Callable[Concatenate[Database, P], T]
MAX_KEPT = 8  # results of one function for one study
Results = OrderedDict[Hashable, Any]
_ABSENT = object()
_caches: list[dict[Path, Results]] = []  # of each function: its results for each study


def forget(path: Path) -> None:
    """Remove all cached results of the study in this file, which is no longer served."""
    for results in _caches:
        results.pop(path, None)


def until_changed(compute: Computed[P, T]) -> Computed[P, T]:
    """Decorate a function so that its result is cached until the study changes.

    The arguments of the function must be the study and hashable options. Callers must not change the returned object,
    because later callers get the same object.
    """

    def key(db: Database, /, *args: Any, **kwargs: Any) -> Hashable:
        return _version(db), args, tuple(sorted(kwargs.items()))

    return cached(key, MAX_KEPT)(compute)


def cached(key: Callable[..., Hashable], n_kept: int) -> Callable[[Computed[P, T]], Computed[P, T]]:
    """Decorate a function so that the results of the latest calls for each study are cached, by the value of the key.

    `key` takes the arguments of the function.
    """

    def decorated(compute: Computed[P, T]) -> Computed[P, T]:
        by_study: dict[Path, Results] = {}
        _caches.append(by_study)
        lock = Lock()  # several windows may compute the same result at the same time

        @wraps(compute)
        def kept(db: Database, /, *args: P.args, **kwargs: P.kwargs) -> T:
            name = key(db, *args, **kwargs)
            with lock:
                value: Any = by_study.setdefault(db.path, OrderedDict()).get(name, _ABSENT)
            if value is _ABSENT:
                value = compute(db, *args, **kwargs)
            with lock:
                results = by_study.setdefault(db.path, OrderedDict())
                results[name] = value
                results.move_to_end(name)
                if len(results) > n_kept:
                    results.popitem(last=False)
            result: T = value
            return result

        return kept

    return decorated


def _version(db: Database) -> tuple[Hashable, ...]:
    """Return values that are different after each change of the study.

    A new answer or event adds a link to the chain, and new verdicts add a job.
    """
    return chain.head(db), jobs.newest(db)
