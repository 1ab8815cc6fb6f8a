"""Plan runs in random order, with each version in each chosen context."""

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from analysis.benchmark import CONDITIONS, INTERVENTION, VERSION

if TYPE_CHECKING:
    import pandas as pd

MAX_RUNS = 200_000  # maximum number of rows of a plan
OUTSIDE = (VERSION, INTERVENTION)  # not part of the context: each level is combined with every context


def variant_plan(
    factors: Mapping[str, Sequence[str]],
    *,
    benchmarks: Sequence[str] = (),
    n: int | None = None,
    runs: int = 1,
    seed: int,
) -> "pd.DataFrame":
    """Plan runs over contexts in random order [1]_.

    The contexts are all combinations of factor levels, or a random selection of the combinations. Raises ValueError if
    there is no other factor, a factor has no level, a repeated level, or a level that a context cannot contain (spaces,
    commas, equals signs), a factor has the name of a column, `n` or `runs` is out of range, or the plan would have more
    than 200 000 rows.

    `factors`: levels of each factor, such as {"version": ["O2", "O3"], "env": ["0", "64"], "link": ["a", "b"]}.
    `version` and `intervention` are not part of the context: each of their levels is run in every context.
    `benchmarks`: each benchmark runs in every context; `n`: number of contexts to draw without repeats; default: all;
    `runs`: number of runs of each benchmark and version in each context; `seed`: the same seed gives the same plan.
    Returns one row per run, in the order of execution: order (from 1), benchmark (if any), one column per factor,
    context ("env=0 link=b", as result files should carry it), run (from 0, within benchmark, version, intervention and
    context) and seed, which `attrs` holds too.

    References
    ----------
    .. [1] Mytkowicz, Diwan, Hauswirth, Sweeney (2009), ASPLOS XIV, 265-276, doi:10.1145/1508244.1508275

    Examples
    --------
    >>> variant_plan({"version": ["O2", "O3"], "env": ["0", "64"]}, seed=1)[["order", "version", "context", "run"]]
       order version context  run
    ...
    """
    levels = _checked(factors, benchmarks)
    inner = {name: entries for name, entries in levels.items() if name not in OUTSIDE}
    outer = {"benchmark": tuple(benchmarks) or ("",)} | {name: levels[name] for name in OUTSIDE if name in levels}
    total = prod(map(len, inner.values()))
    n_chosen = total if n is None else n
    if not 1 <= n_chosen <= total:
        raise ValueError(f"n must be within 1..{total}, the number of contexts, got {n}")
    if runs < 1:
        raise ValueError(f"runs must be at least 1, got {runs}")
    if n_chosen * runs * prod(map(len, outer.values())) > MAX_RUNS:
        raise ValueError(f"the plan would have more than {MAX_RUNS} runs; use n to draw some of the {total} contexts")
    rng = np.random.default_rng(seed)
    import pandas as pd  # imported here, because the methods do not need it

    chosen = pd.DataFrame(_combinations(inner, total, n_chosen, rng))
    chosen["context"] = [" ".join(f"{k}={v}" for k, v in zip(inner, row, strict=True)) for row in chosen.to_numpy()]
    table = _crossed(chosen, outer, runs).sample(frac=1, random_state=rng, ignore_index=True)
    columns = [*(["benchmark"] if benchmarks else []), *levels, "context"]
    table = table[columns].assign(order=range(1, len(table) + 1), seed=seed)
    table["run"] = table.groupby(columns, sort=False).cumcount()
    table.attrs["seed"] = seed
    return table[["order", *columns, "run", "seed"]]


def _combinations(
    factors: Mapping[str, Sequence[str]], total: int, n: int, rng: np.random.Generator
) -> dict[str, list[str]]:
    """Draw n different combinations of levels; return a dict from each factor to its levels in the combinations."""
    if n < total and total > 50 * MAX_RUNS:  # with enough combinations, duplicates are rare, so redrawing is fast
        numbers: set[tuple[int, ...]] = set()
        while len(numbers) < n:
            numbers.add(tuple(int(rng.integers(len(entries))) for entries in factors.values()))
        at = np.array(sorted(numbers)).T
    else:
        drawn = np.arange(total) if n == total else np.sort(rng.choice(total, n, replace=False))
        at = np.array(np.unravel_index(drawn, [len(entries) for entries in factors.values()]))
    return {name: [entries[i] for i in row] for (name, entries), row in zip(factors.items(), at, strict=True)}


def _crossed(contexts: "pd.DataFrame", outer: Mapping[str, Sequence[str]], runs: int) -> "pd.DataFrame":
    import pandas as pd

    combinations = pd.MultiIndex.from_product([*outer.values(), range(runs)], names=[*outer, "run"])
    return contexts.merge(combinations.to_frame(index=False), how="cross")


def _checked(factors: Mapping[str, Sequence[str]], benchmarks: Sequence[str]) -> dict[str, tuple[str, ...]]:
    if not set(factors) - set(OUTSIDE):
        raise ValueError(
            f"factors must name at least one factor other than {' and '.join(OUTSIDE)}, got {list(factors)}"
        )
    reserved = {"benchmark", "order", "seed", *CONDITIONS} - {VERSION}
    for name, entries in factors.items():
        if name in reserved or not _WORD.fullmatch(name):
            raise ValueError(f"factors: {name!r} cannot be the name of a factor")
        if isinstance(entries, str) or not entries or len(set(entries)) < len(entries):
            raise ValueError(f"factors: {name} must have different levels, at least one, got {entries!r}")
        wrong = [entry for entry in entries if not _WORD.fullmatch(entry)]
        if wrong and name not in OUTSIDE:
            raise ValueError(f"factors: {name} has the level {wrong[0]!r}; spaces, commas and = cannot be in a context")
    if len(set(benchmarks)) < len(benchmarks):
        raise ValueError(f"benchmarks must differ, got {list(benchmarks)}")
    return {name: tuple(entries) for name, entries in factors.items()}


_WORD = re.compile(r"[^\s,=]+")
