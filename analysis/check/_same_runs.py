"""Find runs that are in both sets, for example because the same file was given twice."""

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from analysis.benchmark import TIME, Run

N_TELLING = 5  # two runs with so many distinct values are not equal by chance
N_EQUAL = 3  # so many equal runs of one value are not equal by chance, if no two runs of the same side are equal


def same_runs(old: Sequence[Run], new: Sequence[Run]) -> tuple[list[int], list[int]]:
    """Return the positions of the runs of each side that are also on the other side.

    Runs are the same if they have the same measurements and, if known, the same time. Runs with fewer than five
    distinct values can be equal by chance, so there they count only if the files give their times, or if all runs of
    the smaller side (or five runs) are equal and no two runs of one side are.
    """
    keys = [[_key(run) for run in side] for side in (old, new)]
    shared = Counter(keys[0]) & Counter(keys[1])
    if not shared:
        return [], []
    runs = dict(zip(keys[0], old, strict=True))
    n_shared = sum(shared.values())
    are_distinct = all(len(set(side)) == len(side) for side in keys)
    all_or_many = n_shared >= min(len(old), len(new), N_TELLING) and n_shared >= N_EQUAL
    are_telling = are_distinct and all_or_many
    for key in list(shared):
        run = runs[key]
        if not (are_telling or run.conditions.get(TIME) or len(np.unique(run.values)) >= N_TELLING):
            del shared[key]
    return _places(keys[0], shared), _places(keys[1], shared)


def _key(run: Run) -> Hashable:
    return np.ascontiguousarray(run.values, dtype="<f8").tobytes(), run.conditions.get(TIME, "")


def _places(keys: Sequence[Hashable], shared: Counter[Hashable]) -> list[int]:
    left, places = Counter(shared), []
    for at, key in enumerate(keys):
        if left[key] > 0:
            left[key] -= 1
            places.append(at)
    return places
