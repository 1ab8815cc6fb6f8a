"""Simulate benchmarks with known changes, and count how often raters call them dissimilar (dose-response)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import special

from analysis.categories import DISSIMILAR, SIMILAR
from analysis.intervals import Estimate, wilson
from analysis.learning._logistic import Floats
from analysis.results import Result
from analysis.tables import checked_columns, in_name_order

NOISE, SLOWDOWN, DRIFT, BIMODAL, WARMUP = "noise alone", "slowdown", "drift", "two levels", "warm-up left in"
AMOUNTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
KINDS = (NOISE, SLOWDOWN, DRIFT, BIMODAL, WARMUP)
# kinds of the demo study, which were made by measuring
MEASURED_KINDS = ("cold start", "competing process", "drifting level", "environment size", "garbage collection off")
N_RUNS, MAX_CHANGED = 10, 5
PER_APPLICATION = 20


@dataclass(frozen=True, repr=False)
class Intervened(Result):
    """A simulated benchmark with a known change, or with noise only."""

    benchmark: str
    application: str
    runs: Floats  # measurements in seconds
    kind: str  # one of `KINDS`
    amount: float  # size of the change as a share of the level of the runs; 0 for noise alone
    changed: tuple[int, ...]  # the runs that were changed, counted from 0


def interventions(n_items: int, *, rng: np.random.Generator, n_iterations: int = 1000) -> Iterator[Intervened]:
    """Yield simulated benchmarks of ten runs. One in five has only noise; the others have 1 to 5 changed runs.

    Each run has a random level (spread of 0.5 %), noise that is correlated in time, and rare spikes. There are four
    kinds of change:

    - A slowdown raises the level.
    - A drift raises the level linearly until the end of the run.
    - Two levels: the run switches at random between its level and a raised level.
    - A warm-up left in the data starts at (1 + 10 amount) times the level and decreases within a tenth of the run.

    Raises ValueError if `n_items` or `n_iterations` is too small.

    Parameters
    ----------
    n_iterations : int
        Iterations of each run, at least 50.

    Yields
    ------
    Intervened
        Kinds, amounts (1 to 50 %) and numbers of changed runs take turns, so all are equally frequent.
    """
    if n_items < 1 or n_iterations < 50:
        raise ValueError(f"n_items must be at least 1 and n_iterations at least 50, got {n_items} and {n_iterations}")
    n_applications = max(5, -(-n_items // PER_APPLICATION))
    levels = 10 ** rng.uniform(-7, -3, n_applications)
    noise = rng.uniform(0.01, 0.08, n_applications)
    of_item = rng.permutation(
        np.arange(n_items) % n_applications
    )  # otherwise the effects of kinds and applications could not be separated
    for n in range(n_items):
        kind = KINDS[n % len(KINDS)]
        turn = n // len(KINDS)
        amount = 0.0 if kind == NOISE else AMOUNTS[turn % len(AMOUNTS)]
        n_changed = 0 if kind == NOISE else 1 + (turn // len(AMOUNTS)) % MAX_CHANGED
        application = int(of_item[n])
        runs = levels[application] * _noise(rng, noise[application], n_iterations)
        changed = tuple(sorted(rng.choice(N_RUNS, n_changed, replace=False).tolist()))
        for run in changed:
            runs[run] *= _change(kind, amount, n_iterations, rng)
        yield Intervened(f"bench{n:03d}", f"app{application:02d}", runs, kind, amount, changed)


def _noise(rng: np.random.Generator, sd: float, n: int) -> Floats:
    """Simulate ten runs with values near 1, from random run levels, correlated noise and rare spikes."""
    from scipy.signal import lfilter

    white = rng.standard_normal((N_RUNS, n))
    correlated = lfilter([np.sqrt(1 - 0.5**2)], [1, -0.5], white, axis=1)
    spikes = (rng.random((N_RUNS, n)) < 0.005) * rng.exponential(0.5, (N_RUNS, n))
    level = 0.005 * rng.standard_normal((N_RUNS, 1))
    return np.asarray(np.exp(level + sd * correlated + spikes), dtype=np.float64)


def _change(kind: str, amount: float, n: int, rng: np.random.Generator) -> Floats:
    time: Floats = np.arange(n) / n
    if kind == SLOWDOWN:
        return np.full(n, 1 + amount)
    if kind == DRIFT:
        return 1 + amount * time
    if kind == BIMODAL:
        return np.asarray(1 + amount * (rng.random(n) < 0.5), dtype=np.float64)
    return 1 + 10 * amount * np.exp(-time / 0.03)


@dataclass(frozen=True, repr=False)
class Response(Result):
    """How often a rater calls items with one kind and amount of change dissimilar."""

    kind: str
    amount: float
    rater: str
    is_reviewer: bool
    n: int  # number of items that the rater judged
    dissimilar: Estimate  # share of items called dissimilar, with Wilson's interval


def dose_response(
    known: pd.DataFrame,
    verdicts: pd.DataFrame,
    labels: pd.DataFrame | None = None,
    *,
    n_runs: Mapping[str, int] | None = None,
    level: float = 0.95,
) -> tuple[Response, ...]:
    """Return how often each rater calls items dissimilar, by kind and amount of change.

    Raises ValueError if a column is missing, a benchmark has two interventions or is not an item, or a run or a kind of
    intervention is unknown.

    Parameters
    ----------
    known : DataFrame
        Columns benchmark, run, intervention, amount: one row per changed run. All other items have only noise.
    n_runs : mapping of str to int, optional
        Number of runs of each item; runs are counted from 0.

    Returns
    -------
    tuple of Response
        Sorted by kind (noise alone first), amount, and rater (classifiers before reviewers).

    Examples
    --------
    >>> known = pd.DataFrame({"benchmark": ["a"], "run": [0], "intervention": ["slowdown"], "amount": [0.5]})
    >>> verdicts = pd.DataFrame({"item": ["a", "b"], "classifier": "same", "verdict": ["dissimilar", "similar"]})
    >>> [(row.kind, row.amount, row.dissimilar.value) for row in dose_response(known, verdicts)]
    [('noise alone', 0.0, 0.0), ('slowdown', 0.5, 1.0)]
    """
    table = checked_columns(known, ("benchmark", "run", "intervention", "amount"), "table of interventions")
    of_item: dict[str, tuple[str, float]] = {}
    for row in table.drop_duplicates(["benchmark", "intervention", "amount"]).itertuples():
        if str(row.benchmark) in of_item:
            raise ValueError(f"the benchmark {row.benchmark!r} has two interventions")
        of_item[str(row.benchmark)] = (str(row.intervention), float(str(row.amount)))
    judged = [(str(r.item), str(r.classifier), r.verdict, False) for r in verdicts.itertuples()]
    if labels is not None:
        judged += [(str(r.item), str(r.rater), r.category, True) for r in labels.itertuples()]
    rows = pd.DataFrame(judged, columns=["item", "rater", "category", "reviewer"]).dropna(subset=["category"])
    _check_known(table, set(verdicts["item"].astype(str)) | set(rows["item"]), n_runs or {})
    dose = [of_item.get(item, (NOISE, 0.0)) for item in rows["item"]]
    rows = rows.assign(kind=[kind for kind, _ in dose], amount=[amount for _, amount in dose])
    kinds = [NOISE, *[kind for kind in in_name_order(set(rows["kind"])) if kind != NOISE]]
    result = []
    for (kind, amount, is_reviewer, rater), own in rows.groupby(["kind", "amount", "reviewer", "rater"], sort=True):
        n = len(own)
        share = wilson(int((own["category"] == DISSIMILAR).sum()), n, level)
        result.append(Response(str(kind), float(str(amount)), str(rater), bool(is_reviewer), n, share))
    return tuple(sorted(result, key=lambda row: (kinds.index(row.kind), row.amount)))


def _check_known(table: pd.DataFrame, items: set[str], n_runs: Mapping[str, int]) -> None:
    """Raise ValueError if a benchmark, a run or a kind is unknown; otherwise, it would count as noise alone."""
    for place, row in enumerate(table.itertuples(), start=1):
        name, kind = str(row.benchmark), str(row.intervention)
        if name not in items:
            raise ValueError(f"row {place}: the benchmark {name!r} is not an item with verdicts or labels")
        if kind not in (*KINDS, *MEASURED_KINDS):
            raise ValueError(
                f"row {place}: unknown intervention {kind!r}. Choose from: {', '.join((*KINDS, *MEASURED_KINDS))}"
            )
        number = pd.to_numeric(pd.Series([row.run]), errors="coerce").iloc[0]
        if not number >= 0 or number != int(number) or number >= n_runs.get(name, np.inf):
            of = f" of the {n_runs[name]} runs of {name!r}, which are counted from 0" if name in n_runs else ""
            raise ValueError(f"row {place}: {row.run!r} is not the number of a run{of}")


HABITS = {"R1": {"m1": 2.0}, "R2": {"m5": 2.0}, "R3": {"m1": 0.7, "m5": 0.7, "spread": 0.7}, "R4": {"spread": 2.0}}


def simulate_labels(
    features: pd.DataFrame,
    *,
    rng: np.random.Generator,
    weights: Mapping[str, Mapping[str, float]] = HABITS,
    per_item: int = 2,
) -> pd.DataFrame:
    """Simulate labels of reviewers who weigh the measures in a known way.

    Raises ValueError if there are fewer reviewers than `per_item`.

    Parameters
    ----------
    weights : mapping of str to mapping of str to float
        Reviewer -> measure -> change of the log-odds of dissimilar per standard deviation of the measure.
    per_item : int
        Number of reviewers per item. All sets of this many reviewers take turns.
    """
    if not 1 <= per_item <= len(weights):
        raise ValueError(f"per_item must be within 1..{len(weights)}, the number of reviewers, got {per_item}")
    standard = (features - features.mean()) / features.std(ddof=0).where(lambda sd: sd > 0, 1.0)
    blocks = list(combinations(weights, per_item))
    rows = []
    for n, place in enumerate(rng.permutation(len(features))):
        for rater in blocks[n % len(blocks)]:
            odds = sum(weight * float(standard[name].iloc[place]) for name, weight in weights[rater].items())
            called = rng.random() < special.expit(odds)
            rows.append((features.index[place], rater, DISSIMILAR if called else SIMILAR))
    return pd.DataFrame(rows, columns=["item", "rater", "category"]).sort_values(["item", "rater"], ignore_index=True)
