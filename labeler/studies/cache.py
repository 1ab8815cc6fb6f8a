"""Cache computed results in memory: until the study changes, or for each value of a key."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeVar

from labeler.studies.store import Database, chain, jobs

P = ParamSpec("P")
T = TypeVar("T")
Computed = Callable[Concatenate[Database, P], T]
MAX_KEPT = 8  # results of one function
_ABSENT = object()


def until_changed(compute: Computed[P, T]) -> Computed[P, T]:
    """Decorate a function so that its result is cached until the study changes.

    The arguments of the function must be the study and hashable options. Callers must not change the returned object,
    because later callers get the same object.
    """

    def key(db: Database, /, *args: Any, **kwargs: Any) -> Hashable:
        return db.path, _version(db), args, tuple(sorted(kwargs.items()))

    return cached(key, MAX_KEPT)(compute)


def cached(key: Callable[..., Hashable], n_kept: int) -> Callable[[Computed[P, T]], Computed[P, T]]:
    """Decorate a function so that the results of the latest calls are cached, one for each value of the key.

    `key` takes the arguments of the function.
    """

    def decorated(compute: Computed[P, T]) -> Computed[P, T]:
        results: OrderedDict[Hashable, Any] = OrderedDict()
        lock = Lock()  # several windows may compute the same result at the same time

        @wraps(compute)
        def kept(db: Database, /, *args: P.args, **kwargs: P.kwargs) -> T:
            name = key(db, *args, **kwargs)
            with lock:
                value: Any = results.get(name, _ABSENT)
            if value is _ABSENT:
                value = compute(db, *args, **kwargs)
            with lock:
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
