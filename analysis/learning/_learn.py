"""Learn a classifier from labels and features, and evaluate it on held-out applications."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.categories import CATEGORIES
from analysis.learning._compare import Arena, Contestant, Standing, compete, contestants_of
from analysis.learning._features import DEFAULT_FEATURES, FEATURES, MEASURE_FEATURES, SEGMENT_FEATURES, SEGMENT_VERSION
from analysis.learning._model import Model, RankScale, Term, checked_name, fit_logistic
from analysis.learning._validation import (
    Calibration,
    Ceiling,
    ChosenModel,
    Examples,
    Fingerprint,
    OutOfFold,
    TooFew,
    calibration,
    ceiling,
    chance_p,
    choose,
    cross_validate,
    examples_of,
    outer_folds,
    twins_by_features,
    twins_of,
)
from analysis.raters.evaluation import auc
from analysis.runs.runs import Warmup
from analysis.statistics.bootstrap import N_DRAWS, percentile_interval
from analysis.statistics.intervals import Estimate
from analysis.statistics.results import Result

LEARNED, BY_RANKS, MONOTONE = "learned", "learned, by ranks", "learned, monotone"
LEAK = 0.98  # a single feature with at least this area under the ROC curve probably contains the answer
NEARLY = 0.95  # labels that equal so many verdicts of a classifier were probably made with it
ALPHA = 0.05  # level of the test whether the learned classifier is better than chance
N_REFITS, N_PARTITIONS = 200, 5
SHOWN_TWINS = 3


@dataclass(frozen=True, repr=False)
class Coefficient(Result):
    """The contribution of a feature to a model."""

    feature: str
    title: str
    # Change of the log-odds per standard deviation of the feature or of its rank. The interval comes from refits with
    # the same penalty on resampled applications.
    value: Estimate


@dataclass(frozen=True, repr=False)
class Learned(Result):
    """A learned model and the results of its evaluation."""

    model: Model  # fitted on all items
    n_items: int  # `n_left_out` is the number of rows that have a category but lack a feature
    n_labels: int
    n_dissimilar: int
    n_applications: int
    n_left_out: int
    target: str  # name of the target
    arena: Arena  # the out-of-fold results of the learned model and all other classifiers on the same items
    calibration: Calibration  # calibration of the out-of-fold probabilities
    coefficients: tuple[Coefficient, ...]  # largest first
    # Areas under the ROC curve of the learned model if items are divided into folds in other ways. They show how
    # much the result depends on the folds.
    partitions: tuple[float, ...]
    folds: OutOfFold
    table: pd.DataFrame  # one row per item with all numbers from which arena and calibration can be recomputed
    warnings: tuple[str, ...]
    seed: int
    chance_p: float = 1.0  # p value of the test that scores rank the items no better than chance (`chance_p`)
    useless: str | None = None  # why the features do not predict the labels; None if they do
    # Classifiers whose verdicts are nearly the labels, with the share of equal ones.
    nearly_verdicts: tuple[tuple[str, float], ...] = ()
    ceiling: Ceiling | None = None  # the best results that errors in the labels allow; None without retests


def learn(
    truth: pd.DataFrame,
    features: pd.DataFrame,
    applications: pd.Series,
    verdicts: pd.DataFrame,
    *,
    seed: int,
    names: Sequence[str] = DEFAULT_FEATURES,
    prints: Mapping[str, Fingerprint] | None = None,
    monotone: bool = False,
    cost_ratio: float = 1.0,
    warmup: Warmup = 0.0,
    name: str = "model",
    target: str = "the consensus",
    background: Mapping[str, Any] | None = None,
    retests: tuple[int, int] | None = None,
    n_agreeing: int = 1,
    n_draws: int = N_DRAWS,
    level: float = 0.95,
) -> Learned:
    """Learn a classifier, and compare its out-of-fold scores with the scores of all other classifiers.

    Raises TooFew if there are fewer than 60 items, 10 items of a category, or 5 applications. Raises ValueError if a
    feature is unknown, an item has no application, or the cost ratio or the name is invalid.

    `truth`: columns item and category; an item may have several rows, one per label; `features`: indexed by item,
    columns of `FEATURES`; `applications`: application of each item. All items of an application are in the same fold.
    `verdicts`: verdicts of the classifiers to compare with: columns item, classifier, verdict and score; `seed`: random
    seed of folds and draws; `prints`: items with nearly the same measurements are in the same fold, and named;
    `monotone`: require coefficients >= 0 and use only the measures, so that a larger dissimilarity never makes an item
    more similar, and every line of the formula can be defended. By default, the model uses the ranks of all features.
    The comparison also contains the other variant, if it has features. `cost_ratio`: cost of a missed dissimilar item
    divided by the cost of a false alarm; `warmup`: part of each run that was left out of the features; `retests`:
    number of retests in which a reviewer changed the label, and number of all retests, for the ceiling; `n_agreeing`:
    number of equal labels that an item of the target has (`analysis.learning.ceiling`); `background`: plain values to
    store in the model file, such as hashes and versions.

    References
    ----------
    Varma, Simon (2006), BMC Bioinformatics 7:91, doi:10.1186/1471-2105-7-91 (nested cross-validation)
    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44:837-845, doi:10.2307/2531595
    """
    if not 0 < cost_ratio < np.inf:
        raise ValueError(f"cost_ratio must be a finite number > 0, got {cost_ratio}")
    checked_name(name)
    everything = examples_to_learn(truth, features, names, applications, prints)
    measures = everything.only(MEASURE_FEATURES)
    if monotone and not measures.features:
        raise ValueError("a monotone model needs a measure; name one, or learn without monotone")
    examples, alternative = (measures, everything) if monotone else (everything, measures)
    if examples.why_too_few:
        raise TooFew(examples.why_too_few)
    rng = np.random.default_rng(seed)
    folds = outer_folds(examples, rng)
    validated = cross_validate(examples, rng=rng, monotone=monotone, cost_ratio=cost_ratio, folds=folds)
    variants = {LEARNED: validated}
    if alternative.features:
        variants[BY_RANKS if monotone else MONOTONE] = cross_validate(
            alternative, rng=rng, monotone=not monotone, cost_ratio=cost_ratio, folds=folds
        )
    others = contestants_of(verdicts, examples.items)
    own = [Contestant(name, found.score, found.called.astype(np.float64)) for name, found in variants.items()]
    arena = compete(
        examples.dissimilar, examples.group, [*own, *others], rng=rng, against=LEARNED, cost_ratio=cost_ratio,
        n_draws=n_draws, level=level,
    )  # fmt: skip
    chosen = choose(examples, rng=rng, monotone=monotone, cost_ratio=cost_ratio)
    partitions = _areas_of_other_folds(examples, rng=rng, monotone=monotone, cost_ratio=cost_ratio)
    measured = calibration(
        examples.dissimilar, validated.probability, examples.group, rng=rng, n_draws=n_draws, level=level
    )
    standing = next(row for row in arena.standings if row.name == LEARNED)
    p = chance_p(examples, validated, monotone=monotone, rng=rng)
    training = {
        **(background or {}), "target": target, **_described(examples, folds), "seed": seed,
        "performance": _performance(standing, measured),
        "segments": SEGMENT_VERSION if set(examples.features) & set(SEGMENT_FEATURES) else None,
    }  # fmt: skip
    return Learned(
        model=_model(
            chosen, examples.features, name, monotone=monotone, cost_ratio=cost_ratio, warmup=warmup, training=training
        ),
        n_items=len(set(examples.items)),
        n_labels=len(examples.items),
        n_dissimilar=int(examples.dissimilar.sum()),
        n_applications=len(set(examples.applications)),
        n_left_out=examples.n_left_out,
        target=target,
        arena=arena,
        calibration=measured,
        coefficients=_coefficients(examples, chosen, monotone=monotone, rng=rng, level=level),
        partitions=partitions,
        folds=validated,
        table=_table(examples, variants, others),
        warnings=tuple(_warnings(examples)),
        seed=seed,
        chance_p=p,
        useless=_useless(standing, arena.standings[-1], p, cost_ratio),
        nearly_verdicts=_nearly_verdicts(examples, others, standing, arena),
        ceiling=None if retests is None else ceiling(
            *retests, float(examples.dissimilar.mean()), n_agreeing=n_agreeing, level=level
        ),
    )  # fmt: skip


def examples_to_learn(
    truth: pd.DataFrame,
    features: pd.DataFrame,
    names: Sequence[str],
    applications: pd.Series,
    prints: Mapping[str, Fingerprint] | None,
    categories: Sequence[str] = CATEGORIES,
) -> Examples:
    """Return the examples with their twins; raises ValueError like `examples_of`, and if a feature is unknown."""
    unknown = [feature for feature in names if feature not in FEATURES]
    if unknown:
        raise ValueError(f"unknown feature {unknown[0]!r}; choose from {', '.join(FEATURES)}")
    twins = twins_of(prints) if prints else twins_by_features(features.reindex(columns=list(names)))
    return examples_of(truth, features, names, applications, twins, categories)


def _areas_of_other_folds(
    examples: Examples, *, rng: np.random.Generator, monotone: bool, cost_ratio: float
) -> tuple[float, ...]:
    """Return the area under the ROC curve for several other divisions into folds."""
    validated = (
        cross_validate(examples, rng=rng, monotone=monotone, cost_ratio=cost_ratio) for _ in range(N_PARTITIONS)
    )
    return tuple(float(auc(_categories(examples), one.score).value or 0) for one in validated)


def _categories(examples: Examples) -> list[str]:
    return [CATEGORIES[int(value)] for value in examples.dissimilar]


def _described(examples: Examples, folds: NDArray[np.intp]) -> dict[str, Any]:
    """Return what a model file says about the labels from which the model was learned."""
    return {
        "n_items": len(set(examples.items)), "n_labels": len(examples.items),
        "n_dissimilar": int(examples.dissimilar.sum()), "applications": sorted(set(examples.applications)),
        "folds": {a: int(f) for a, f in sorted(set(zip(examples.applications, folds.tolist(), strict=True)))},
    }  # fmt: skip


def _performance(own: Standing, measured: Calibration) -> dict[str, float | None]:
    """Return what a model file says about the results on held-out applications."""
    return {
        "auc": own.auc.value, "auc_low": own.auc_by_application.low, "auc_high": own.auc_by_application.high,
        "accuracy": own.accuracy.value, "sensitivity": own.sensitivity.value, "specificity": own.specificity.value,
        "brier": measured.brier.value,
    }  # fmt: skip


def _useless(own: Standing, always: Standing, p: float, cost_ratio: float) -> str | None:
    """Return why the learned classifier is no better than a rule without features; None if it is."""
    if p > ALPHA:
        return (
            f"the area under the ROC curve ({own.auc.value or 0:.3f}) is not larger than with the labels of other "
            f"applications (permutation test, p = {p:.2g})"
        )
    if cost_ratio == 1 and (own.accuracy.value or 0.0) <= (always.accuracy.value or 0.0):
        return f'the learned classifier agrees with the labels no more often than the rule "{always.name}"'
    return None


def _nearly_verdicts(
    examples: Examples, others: Sequence[Contestant], own: Standing, arena: Arena
) -> tuple[tuple[str, float], ...]:
    """Return the classifiers with which the labels may have been made.

    These are the classifiers whose verdicts equal at least 95 % of the labels, or whose scores have a larger area under
    the ROC curve than the upper end of the learned one.
    """
    areas = {row.name: row.auc.value for row in arena.standings}
    found = []
    for contestant in others:
        judged = np.isfinite(contestant.verdicts)
        if not judged.any():
            continue
        equal = float((contestant.verdicts[judged] == examples.dissimilar[judged]).mean())
        area, limit = areas.get(contestant.name), own.auc_by_application.high
        if equal >= NEARLY or (area is not None and limit is not None and area > limit):
            found.append((contestant.name, equal))
    return tuple(found)


def _model(
    chosen: ChosenModel,
    names: Sequence[str],
    name: str,
    *,
    monotone: bool,
    cost_ratio: float,
    warmup: Warmup,
    training: Mapping[str, Any],
) -> Model:
    coefficients = chosen.model.coefficients.tolist()
    if isinstance(chosen.scale, RankScale):
        scales: list[tuple[Any, ...]] = [
            (0.0, 1.0, coefficient, tuple(quantiles))
            for coefficient, quantiles in zip(coefficients, chosen.scale.quantiles.tolist(), strict=True)
        ]
    else:
        scales = list(zip(chosen.scale.mean.tolist(), chosen.scale.sd.tolist(), coefficients, strict=True))
    terms = tuple(
        Term(feature, FEATURES[feature].version, *scale) for feature, scale in zip(names, scales, strict=True)
    )
    return Model(
        name, monotone, terms, chosen.model.intercept, chosen.threshold, chosen.penalty, cost_ratio, warmup, training
    )


def _coefficients(
    examples: Examples, chosen: ChosenModel, *, monotone: bool, rng: np.random.Generator, level: float
) -> tuple[Coefficient, ...]:
    x, group = chosen.scale.apply(examples.x), examples.group
    n_groups = int(group.max()) + 1
    draws = []
    for _ in range(N_REFITS):
        weights = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups))[group].astype(np.float64)
        present = examples.dissimilar[weights > 0]
        if present.any() and not present.all():
            draws.append(
                fit_logistic(
                    x, examples.dissimilar, chosen.penalty, monotone=monotone, weights=weights, start=chosen.model
                ).coefficients
            )
    table = np.array(draws).reshape(len(draws), -1)
    rows = [
        Coefficient(feature, FEATURES[feature].title, percentile_interval(float(value), table[:, j], level))
        for j, (feature, value) in enumerate(zip(examples.features, chosen.model.coefficients, strict=True))
    ]
    return tuple(sorted(rows, key=lambda row: -abs(row.value.value or 0.0)))


def _table(examples: Examples, variants: Mapping[str, OutOfFold], others: Sequence[Contestant]) -> pd.DataFrame:
    def words(called: "np.ndarray[Any, Any]") -> list[str | None]:
        return [None if np.isnan(value) else CATEGORIES[int(value)] for value in called.astype(float)]

    columns: dict[str, Any] = {
        "item": examples.items, "application": examples.applications, "consensus": words(examples.dissimilar),
        "fold": variants[LEARNED].fold,
    }  # fmt: skip
    for name, scores in variants.items():
        columns |= {
            f"{name} score": scores.score, f"{name} probability": scores.probability,
            f"{name} threshold": scores.threshold, f"{name} verdict": words(scores.called),
        }  # fmt: skip
    for contestant in others:
        columns |= {
            f"{contestant.name} score": contestant.score,
            f"{contestant.name} verdict": words(contestant.verdicts),
        }
    return pd.DataFrame(columns)


def _warnings(examples: Examples) -> list[str]:
    """Return warnings about results that look more reliable than they are."""
    found, truth = [], _categories(examples)
    for j, feature in enumerate(examples.features):
        area = auc(truth, examples.x[:, j]).value
        if area is not None and max(area, 1 - area) >= LEAK:
            found.append(
                f"The feature {feature} alone has an area of {area:.3f} under the ROC curve, so it may contain the "
                "answer. Leave it out, or find out how it was computed, before you trust the other results."
            )
    return [*found, *sample_warnings(examples.items, examples.applications, examples.twins, examples.n_left_out)]


def sample_warnings(
    items: Sequence[str], applications: Sequence[str], twins: Sequence[Sequence[str]], n_left_out: int
) -> list[str]:
    """Return warnings about the items from which a model learns, for any number of categories."""
    found = []
    n_applications = len(set(applications))
    if n_applications < 20:
        found.append(
            f"The items come from {n_applications} applications; intervals by application are too narrow with fewer "
            "than about 20."
        )
    present = [names for names in twins if len(set(names) & set(items)) > 1]
    if present:
        shown = "; ".join(" and ".join(names[:2]) for names in present[:SHOWN_TWINS])
        n_more = len(present) - SHOWN_TWINS
        more = f" and {n_more} more group{'s' * (n_more > 1)}" if n_more > 0 else ""
        found.append(
            "Some items have nearly the same measurements, so they and their applications are in one fold: "
            f"{shown}{more}."
        )
    if len(set(items)) < len(items):
        found.append(
            "Items with several labels have several rows. Use the intervals by application, because the other "
            "intervals assume independent rows."
        )
    if n_left_out:
        rows = "1 row with a category was" if n_left_out == 1 else f"{n_left_out} rows with a category were"
        found.append(f"{rows} left out because a feature is missing, for example in short runs.")
    return found
