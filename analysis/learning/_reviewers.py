"""Explain reviewers: which measures predict their labels, and which known changes they and classifiers see."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from analysis.bootstrap import percentile_interval
from analysis.categories import CATEGORIES, DISSIMILAR
from analysis.evaluation import auc
from analysis.intervals import Estimate, checked_level, wilson
from analysis.learning._features import FEATURES, MEASURE_FEATURES
from analysis.learning._model import Floats, Standardiser, fit_logistic
from analysis.learning._validation import cross_validate, examples_of
from analysis.results import Result
from analysis.tables import checked_columns, in_name_order

ASPECTS = {
    "m1": "patterns over time (M1)",
    "spread": "level differences (spread)",
    "m5": "the distribution of values (M5)",
}
MIN_LABELS, N_DRAWS = 50, 500
NOT_ESTIMATED = Estimate(None, reason="not estimated")


@dataclass(frozen=True, repr=False)
class Habit(Result):
    """The measures that predict the labels of one reviewer."""

    reviewer: str
    n: int  # number of first labels on items with all features
    share: float | None  # share of dissimilar labels
    # Feature -> change of the log-odds of dissimilar per standard deviation, in the model of all reviewers. The
    # interval is robust to correlated labels on the same item.
    joint: Mapping[str, Estimate] = field(default_factory=dict)
    # The same change from a regression on this reviewer's labels alone, with an interval from resampled
    # applications.
    own: Mapping[str, Estimate] = field(default_factory=dict)
    auc: Estimate = NOT_ESTIMATED  # how well all measures together predict the labels on held-out applications
    reason: str | None = None  # why nothing was estimated for this reviewer; None if there are estimates

    @property
    def sentence(self) -> str:
        """Return a sentence that names the measures that best predict the reviewer's labels."""
        if self.reason:
            return f"{self.reviewer}: {self.reason}."
        ends = {name: estimate.ends for name, estimate in (self.joint or self.own).items()}
        clear = [(name, end[0]) for name, end in ends.items() if end and (end[1] > 0 or end[2] < 0)]
        if not clear:
            return f"{self.reviewer}: no measure predicts the labels significantly."
        clear.sort(key=lambda pair: -abs(pair[1]))
        parts = [
            aspect_title(name) + (" (reversed: higher values mean similar)" if value < 0 else "")
            for name, value in clear
        ]
        rest = f", then {' and '.join(parts[1:])}" if len(parts) > 1 else ""
        return f"{self.reviewer} follows {parts[0]}{rest}."


@dataclass(frozen=True, repr=False)
class Habits(Result):
    """The measures that predict the labels of all reviewers, and a test of equal weights."""

    features: tuple[str, ...]
    habits: tuple[Habit, ...]  # in order of name
    n_items: int  # number of items and number of labels in the model of all reviewers
    n_labels: int
    correlation: float | None = None  # residual correlation of two labels on the same item
    statistic: float | None = None  # Wald's test of the hypothesis that all reviewers weigh the measures equally
    p: float | None = None
    df: int = 0
    reason: str | None = None  # why there is no model of all reviewers


def aspect_title(feature: str) -> str:
    """Return the title of a measure in plain words."""
    return ASPECTS.get(feature) or FEATURES[feature].title


def habits(
    labels: pd.DataFrame,
    features: pd.DataFrame,
    applications: pd.Series,
    *,
    rng: np.random.Generator,
    names: Sequence[str] = tuple(ASPECTS),
    level: float = 0.95,
) -> Habits:
    """Estimate which measures predict each reviewer's labels, and test whether all reviewers weigh them equally.

    Raises ValueError if a measure is not in the table.

    `names`: the measures; a few uncorrelated measures give the clearest result. Reviewers with fewer than 50
    labels are left out of all models. The model of all reviewers is a logistic regression with a term for each reviewer
    and measure. It is fitted by generalised estimating equations with items as clusters and exchangeable correlation
    [1]_.

    References
    ----------
    .. [1] Liang, Zeger (1986), Biometrika 73:13-22, doi:10.1093/biomet/73.1.13
    """
    unknown = [name for name in names if name not in features.columns]
    if unknown or not names:
        raise ValueError(f"the table has no measure {unknown[0]!r}" if unknown else "no measure is given")
    values = features[list(names)].astype(float)
    known = labels[labels["item"].isin(values.index[values.notna().all(axis=1)])].sort_values(["item", "rater"])
    counts = known["rater"].value_counts()
    enough = [rater for rater in in_name_order(counts.index) if counts[rater] >= MIN_LABELS]
    used = known[known["rater"].isin(enough)].sort_values(["item", "rater"]).reset_index(drop=True)
    scale = Standardiser.of(values.loc[used["item"].unique()].to_numpy(dtype=np.float64)) if len(used) else None
    joint, fields = _joint(used, values, scale, enough, names, level)
    result = []
    for rater in in_name_order(labels["rater"].unique()):
        own = known[known["rater"] == rater]
        share = float((own["category"] == DISSIMILAR).mean()) if len(own) else None
        if rater not in enough or scale is None:
            reason = f"not estimated, because {len(own)} labels are fewer than {MIN_LABELS}"
            result.append(Habit(str(rater), len(own), share, reason=reason))
            continue
        of_own = _own(own, values, scale, applications, names, rng, level)
        result.append(Habit(
            str(rater), len(own), share, joint.get(rater, {}), of_own, _predictable(own, features, applications, rng)
        ))  # fmt: skip
    return Habits(tuple(names), tuple(result), used["item"].nunique(), len(used), **fields)


def _joint(
    used: pd.DataFrame,
    values: pd.DataFrame,
    scale: Standardiser | None,
    raters: Sequence[str],
    names: Sequence[str],
    level: float,
) -> tuple[dict[str, dict[str, Estimate]], dict[str, Any]]:
    """Fit one model to the labels of all reviewers.

    Return the slopes by reviewer and measure, and the test that all reviewers have equal slopes.
    """
    if scale is None or len(raters) < 2:
        return {}, {"reason": f"fewer than two reviewers have {MIN_LABELS} labels"}
    from statsmodels.genmod.cov_struct import Exchangeable
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_estimating_equations import GEE

    x = scale.apply(values.loc[used["item"]].to_numpy(dtype=np.float64))
    number = used["rater"].map({rater: r for r, rater in enumerate(raters)}).to_numpy(dtype=np.intp)
    y = (used["category"] == DISSIMILAR).to_numpy(dtype=np.float64)
    n, p = len(raters), len(names)
    design = np.zeros((len(y), n * (1 + p)))  # parameters of each reviewer: the intercept, then the slopes
    design[np.arange(len(y)), number] = 1
    for j in range(p):
        design[np.arange(len(y)), n + number * p + j] = x[:, j]
    varied = [len(set(y[number == r])) == 2 for r in range(n)]
    if not all(varied):
        return {}, {
            "reason": f"the model of all reviewers is undefined: {raters[varied.index(False)]} used only one category"
        }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            clusters = pd.factorize(used["item"])[0]
            fitted = GEE(y, design, groups=clusters, family=Binomial(), cov_struct=Exchangeable()).fit()
            covariance = np.asarray(fitted.cov_params())
        except (Warning, ValueError, np.linalg.LinAlgError) as error:
            return {}, {"reason": f"the model of all reviewers has no solution: {error}"}
    slopes, se = np.asarray(fitted.params)[n:], np.sqrt(np.diag(covariance)[n:])
    half = float(special.ndtri((1 + checked_level(level)) / 2)) * se
    joint = {
        rater: {
            name: Estimate(float(slope), float(error), float(slope - width), float(slope + width))
            for name, slope, error, width in zip(
                names, *(v[r * p : r * p + p] for v in (slopes, se, half)), strict=True
            )
        }
        for r, rater in enumerate(raters)
    }
    contrast = np.kron(np.hstack([np.ones((n - 1, 1)), -np.eye(n - 1)]), np.eye(p))
    gaps = contrast @ slopes
    statistic = float(gaps @ np.linalg.solve(contrast @ covariance[n:, n:] @ contrast.T, gaps))
    df = (n - 1) * p
    return joint, {
        "correlation": float(fitted.cov_struct.dep_params), "statistic": statistic, "df": df,
        "p": float(special.chdtrc(df, statistic)),
    }  # fmt: skip


def _own(
    own: pd.DataFrame,
    values: pd.DataFrame,
    scale: Standardiser,
    applications: pd.Series,
    names: Sequence[str],
    rng: np.random.Generator,
    level: float,
) -> dict[str, Estimate]:
    """Return slopes estimated from the labels of one reviewer alone; a weak penalty keeps the slopes finite."""
    x = scale.apply(values.loc[own["item"]].to_numpy(dtype=np.float64))
    y = (own["category"] == DISSIMILAR).to_numpy(dtype=bool)
    if y.all() or not y.any():
        return dict.fromkeys(names, Estimate(None, reason="only one category was used"))
    group = pd.factorize(applications.reindex(own["item"]).astype(object), use_na_sentinel=False)[0]
    n_groups = int(group.max()) + 1
    whole = fit_logistic(x, y, 1 / len(y))
    draws: list[Floats] = []
    for _ in range(N_DRAWS if n_groups > 1 else 0):
        weights = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups))[group].astype(np.float64)
        if 0 < (weights * y).sum() < weights.sum():
            draws.append(fit_logistic(x, y, 1 / len(y), weights=weights, start=whole).coefficients)
    table = np.array(draws).reshape(len(draws), len(names))
    return {
        name: percentile_interval(float(value), table[:, j], level)
        for j, (name, value) in enumerate(zip(names, whole.coefficients, strict=True))
    }


def _predictable(
    own: pd.DataFrame, features: pd.DataFrame, applications: pd.Series, rng: np.random.Generator
) -> Estimate:
    names = [name for name in MEASURE_FEATURES if name in features.columns]
    try:
        found = examples_of(own[["item", "category"]], features, names, applications)
        score = cross_validate(found, rng=rng).score
    except ValueError as error:
        return Estimate(None, reason=str(error))
    return auc([CATEGORIES[int(value)] for value in found.dissimilar], score)


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

    `known`: columns benchmark, run, intervention, amount: one row per changed run. All other items have only noise.
    `n_runs`: number of runs of each item; runs are counted from 0. The result is sorted by kind (noise alone first),
    amount, and rater (classifiers before reviewers).
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
