"""Cache computed results of a study in memory until the study changes."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeVar

from labeler.store import Database, chain, jobs

P = ParamSpec("P")
T = TypeVar("T")
MAX_KEPT = 32
_ABSENT = object()
_kept: OrderedDict[tuple[Hashable, ...], Any] = OrderedDict()
_lock = Lock()  # of `_kept`; several windows may compute the same result at the same time


def until_changed(compute: Callable[Concatenate[Database, P], T]) -> Callable[Concatenate[Database, P], T]:
    """Decorate a function so that its result is cached until the study changes.

    The arguments of the function must be the study and hashable options. Callers must not change the returned object,
    because later callers get the same object.
    """

    @wraps(compute)
    def kept(db: Database, /, *args: P.args, **kwargs: P.kwargs) -> T:
        name = compute.__module__, compute.__qualname__
        key = (name, db.path, _version(db), args, tuple(sorted(kwargs.items())))
        with _lock:
            value: Any = _kept.get(key, _ABSENT)
        if value is _ABSENT:
            value = compute(db, *args, **kwargs)
        with _lock:
            _kept[key] = value
            _kept.move_to_end(key)
            if len(_kept) > MAX_KEPT:
                _kept.popitem(last=False)
        result: T = value
        return result

    return kept


def _version(db: Database) -> tuple[Hashable, ...]:
    """Return values that are different after each change of the study.

    A new answer or event adds a link to the chain, and new verdicts add a job.
    """
    return chain.head(db), jobs.newest(db)
