"""Count how often raters call benchmarks with known changes dissimilar (dose-response)."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import special

from analysis.categories import DISSIMILAR, SIMILAR
from analysis.intervals import Estimate, wilson
from analysis.results import Result
from analysis.tables import checked_columns, in_name_order

NOISE, SLOWDOWN, DRIFT, BIMODAL, WARMUP = "noise alone", "slowdown", "drift", "two levels", "warm-up left in"
KINDS = (NOISE, SLOWDOWN, DRIFT, BIMODAL, WARMUP)
# kinds of the demo study, which were made by measuring
MEASURED_KINDS = ("cold start", "competing process", "drifting level", "environment size", "garbage collection off")


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
