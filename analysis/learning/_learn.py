"""Learn a classifier from labels and features, and evaluate it on held-out applications."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.arrays import Floats, Indices
from analysis.categories import CATEGORIES
from analysis.learning._compare import Arena, Contestant, Standing, compete, contestants_of
from analysis.learning._features import FEATURES, MEASURE_FEATURES, SEGMENT_FEATURES, SEGMENT_VERSION
from analysis.learning._fit import RankScale, fit
from analysis.learning._held_out import AgainstLabels, HeldOut, evaluated, held_out, verdicts_of
from analysis.learning._model import Model, Term, checked_name
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
NEARLY_OF_EACH = 0.9  # and at least this share of the labels of each category
ALPHA = 0.05  # level of the test whether the learned classifier is better than chance
LEVEL = 0.95  # of all intervals
N_REFITS, N_PARTITIONS = 200, 5
SHOWN_TWINS = 3


@dataclass(frozen=True, kw_only=True)
class LearnSettings:
    """How a classifier is learned."""

    seed: int  # random seed of folds and draws
    # The category to detect. With two categories, the model then has a threshold, and is compared by areas and costs.
    positive: str | None = None
    # Whether the categories form a scale. The evaluation then has a weighted kappa; the model does not use the order.
    ordered: bool = False
    # Require coefficients >= 0 and use only the measures, so that a larger measure never makes the positive category
    # less probable, and every line of the formula can be defended. By default, the model uses the ranks of all
    # features. The comparison also contains the other variant, if it has features.
    monotone: bool = False
    cost_ratio: float = 1.0  # cost of a missed positive item divided by the cost of a false alarm
    name: str = "model"
    target: str = "the consensus"  # name of the target
    n_draws: int = N_DRAWS


@dataclass(frozen=True)
class Retests:
    """Repeated labels of the same reviewers, which show how many labels are wrong (`ceiling`)."""

    n_changed: int  # number of retests in which a reviewer changed the label
    n: int
    n_agreeing: int = 1  # number of equal labels that an item of the target has


@dataclass(frozen=True, repr=False)
class FeatureCoefficient(Result):
    """The contribution of a feature to a model."""

    feature: str
    title: str
    # Change of the log-odds per standard deviation of the feature or of its rank. The interval comes from refits with
    # the same penalty on resampled applications.
    value: Estimate


@dataclass(frozen=True, repr=False)
class PositiveLearned(Result):
    """What is known of a learned model only if one of two categories is the positive one."""

    category: str
    arena: Arena  # the out-of-fold results of the learned model and all other classifiers on the same items
    calibration: Calibration  # calibration of the out-of-fold probabilities
    coefficients: tuple[FeatureCoefficient, ...]  # largest first
    # Areas under the ROC curve of the learned model if items are divided into folds in other ways. They show how
    # much the result depends on the folds.
    partitions: tuple[float, ...]
    # Classifiers whose verdicts are nearly the labels, with the share of equal ones.
    nearly_verdicts: tuple[tuple[str, float], ...]
    ceiling: Ceiling | None  # the best results that errors in the labels allow; None without retests

    @property
    def own(self) -> Standing:
        """Return the results of the learned model."""
        return _own(self.arena)


def _own(arena: Arena) -> Standing:
    return next(row for row in arena.standings if row.name == LEARNED)


@dataclass(frozen=True, repr=False)
class Learned(Result):
    """A learned model and the results of its evaluation."""

    model: Model  # fitted on all items
    n_items: int
    n_labels: int
    counts: Mapping[str, int]  # number of labels of each category
    n_applications: int
    n_left_out: int  # number of rows that have a category but lack a feature
    target: str  # name of the target
    evaluation: AgainstLabels  # of the out-of-fold verdicts, with intervals that assume independent items
    held_out: HeldOut  # the same with intervals from resampled applications, and areas
    others: tuple[tuple[str, AgainstLabels], ...]  # all other classifiers on the same items
    positive: PositiveLearned | None  # None unless one of two categories is the positive one
    folds: OutOfFold
    table: pd.DataFrame  # one row per item with all numbers from which the results can be recomputed
    warnings: tuple[str, ...]
    seed: int
    chance_p: float  # p value of the test that scores rank the items no better than chance (`chance_p`)
    useless: str | None  # why the features do not predict the labels; None if they do


def learn(
    examples: Examples,
    verdicts: pd.DataFrame,
    settings: LearnSettings,
    *,
    warmup: Warmup = 0.0,
    background: Mapping[str, Any] | None = None,
    retests: Retests | None = None,
) -> Learned:
    """Learn a classifier, and compare its out-of-fold results with those of all other classifiers.

    Raises TooFew if there are fewer than 60 items, 10 items of a category, or 5 applications. Raises ValueError if the
    cost ratio or the name is invalid, or a monotone model or a cost ratio is requested without a positive category of
    two. Of three or more categories, one that no label has is left out, with a warning.

    `examples`: from `examples_to_learn`; all items of an application are in the same fold; `verdicts`: verdicts of the
    classifiers to compare with: columns item, classifier, verdict and optionally score; `warmup`: part of each run that
    was left out of the features; `background`: plain values to store in the model file, such as hashes and versions;
    `retests`: for the ceiling.

    References
    ----------
    Varma, Simon (2006), BMC Bioinformatics 7:91, doi:10.1186/1471-2105-7-91 (nested cross-validation)
    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44:837-845, doi:10.2307/2531595
    """
    checked_name(settings.name)
    if not 0 < settings.cost_ratio < np.inf:
        raise ValueError(f"cost_ratio must be a finite number > 0, got {settings.cost_ratio}")
    declared = examples.categories
    everything = _positive_last(examples, settings.positive)
    positive = settings.positive if len(everything.categories) == 2 else None
    if positive is None and (settings.monotone or settings.cost_ratio != 1):
        what = "a monotone model" if settings.monotone else "a cost ratio"
        raise ValueError(f"{what} needs two categories, one of them positive")
    measures = everything.only(MEASURE_FEATURES)
    if settings.monotone and not measures.features:
        raise ValueError("a monotone model needs a measure; name one, or learn without monotone")
    examples, alternative = (measures, everything) if settings.monotone else (everything, measures)
    if examples.why_too_few:
        raise TooFew(examples.why_too_few)
    # each random part has a generator of its own, so that no part depends on which others there are
    of_folds, of_scores, of_variant, of_model, of_chance, of_numbers, of_positive = np.random.default_rng(
        settings.seed
    ).spawn(7)
    monotone, cost_ratio = settings.monotone, None if positive is None else settings.cost_ratio
    folds = outer_folds(examples, of_folds)
    validated = cross_validate(examples, rng=of_scores, monotone=monotone, cost_ratio=cost_ratio, folds=folds)
    chosen = choose(examples, rng=of_model, monotone=monotone, cost_ratio=cost_ratio)
    p = chance_p(examples, validated, monotone=monotone, rng=of_chance)
    variants, contestants, found = {LEARNED: validated}, [], None
    if positive is not None:
        if alternative.features:
            variants[BY_RANKS if monotone else MONOTONE] = cross_validate(
                alternative, rng=of_variant, monotone=not monotone, cost_ratio=cost_ratio, folds=folds
            )
        contestants = contestants_of(verdicts, examples.items, examples.categories)
        found = _positive(examples, variants, contestants, chosen, settings, retests, of_positive)
    others = verdicts_of(verdicts, examples.items)
    called = [examples.categories[code] for code in validated.called]
    seed = int(of_numbers.integers(2**63))

    def against_labels(given: Sequence[str | None]) -> AgainstLabels:
        return evaluated(
            examples, given, declared, ordered=settings.ordered, rng=np.random.default_rng(seed),
            n_draws=settings.n_draws,
        )  # fmt: skip

    evaluation = against_labels(called)
    numbers = held_out(
        examples, validated, rng=of_numbers, n_draws=settings.n_draws,
        of_second=None if found is None else found.own.auc_by_application,
    )  # fmt: skip
    training = {
        **(background or {}), "target": settings.target, **_described(examples, folds), "seed": settings.seed,
        "performance": _performance(evaluation, numbers),
        "segments": SEGMENT_VERSION if set(examples.features) & set(SEGMENT_FEATURES) else None,
    }  # fmt: skip
    return Learned(
        model=_model(chosen, examples, settings, cost_ratio=cost_ratio, warmup=warmup, training=training),
        n_items=len(set(examples.items)),
        n_labels=len(examples.items),
        counts=examples.counts,
        n_applications=len(set(examples.applications)),
        n_left_out=examples.n_left_out,
        target=settings.target,
        evaluation=evaluation,
        held_out=numbers,
        others=tuple((name, against_labels(given)) for name, given in others.items()),
        positive=found,
        folds=validated,
        table=_table(examples, variants, others, {one.name: one.score for one in contestants}),
        warnings=tuple(_warnings(examples, declared)),
        seed=settings.seed,
        chance_p=p,
        useless=_useless(evaluation, numbers, p, settings.cost_ratio),
    )  # fmt: skip


def examples_to_learn(
    truth: pd.DataFrame,
    features: pd.DataFrame,
    names: Sequence[str],
    applications: pd.Series,
    prints: Mapping[str, Fingerprint] | None = None,
    categories: Sequence[str] = CATEGORIES,
) -> Examples:
    """Return the examples with their twins; raises ValueError like `examples_of`, and if a feature is unknown.

    `truth`: columns item and category; an item may have several rows, one per label; `features`: indexed by item,
    columns of `FEATURES`; `names`: the features to use; `applications`: application of each item; `prints`: items with
    nearly the same measurements are in the same fold, and named; `categories`: the categories of the question.
    """
    unknown = [feature for feature in names if feature not in FEATURES]
    if unknown:
        raise ValueError(f"unknown feature {unknown[0]!r}; choose from {', '.join(FEATURES)}")
    twins = twins_of(prints) if prints else twins_by_features(features.reindex(columns=list(names)))
    return examples_of(truth, features, names, applications, twins, categories)


def _positive_last(examples: Examples, positive: str | None) -> Examples:
    """Return the examples with the categories that are used, of two the positive one last."""
    used = examples if len(examples.categories) == 2 else examples.of_used_categories()
    if len(used.categories) != 2 or used.categories[0] != positive:
        return used
    return replace(used, category=1 - used.category, categories=used.categories[::-1])


def _positive(
    examples: Examples,
    variants: Mapping[str, OutOfFold],
    others: Sequence[Contestant],
    chosen: ChosenModel,
    settings: LearnSettings,
    retests: Retests | None,
    rng: np.random.Generator,
) -> PositiveLearned:
    """Compute what needs a positive category of two; the learned model is the first of the variants."""
    of_arena, of_partitions, of_calibration, of_refits = rng.spawn(4)
    own = [Contestant(name, found.score[:, 1], found.called.astype(np.float64)) for name, found in variants.items()]
    arena = compete(
        examples.is_second, examples.group, [*own, *others], examples.categories, rng=of_arena, against=LEARNED,
        cost_ratio=settings.cost_ratio, n_draws=settings.n_draws, level=LEVEL,
    )  # fmt: skip
    return PositiveLearned(
        category=examples.categories[1],
        arena=arena,
        calibration=calibration(
            examples.is_second,
            variants[LEARNED].probability[:, 1],
            examples.group,
            rng=of_calibration,
            n_draws=settings.n_draws,
            level=LEVEL,
        ),
        coefficients=_coefficients(examples, chosen, monotone=settings.monotone, rng=of_refits),
        partitions=_areas_of_other_folds(examples, settings, of_partitions),
        nearly_verdicts=_nearly_verdicts(examples, others),
        ceiling=_ceiling(examples, retests),
    )


def _areas_of_other_folds(examples: Examples, settings: LearnSettings, rng: np.random.Generator) -> tuple[float, ...]:
    """Return the area under the ROC curve for several other divisions into folds."""
    validated = [
        cross_validate(examples, rng=one, monotone=settings.monotone, cost_ratio=settings.cost_ratio)
        for one in rng.spawn(N_PARTITIONS)
    ]
    return tuple(_area(examples, one.score[:, 1]).value or 0.0 for one in validated)


def _area(examples: Examples, score: Floats) -> Estimate:
    """Return the area under the ROC curve of a score, which is larger for the second of two categories."""
    return auc(examples.names, score, categories=examples.categories, positive=examples.categories[1])


def _ceiling(examples: Examples, retests: Retests | None) -> Ceiling | None:
    if retests is None:
        return None
    share = float(examples.is_second.mean())
    return ceiling(retests.n_changed, retests.n, share, n_agreeing=retests.n_agreeing, level=LEVEL)


def _described(examples: Examples, folds: Indices) -> dict[str, Any]:
    """Return what a model file says about the labels from which the model was learned."""
    return {
        "n_items": len(set(examples.items)), "n_labels": len(examples.items), "counts": examples.counts,
        "applications": sorted(set(examples.applications)),
        "folds": {a: int(f) for a, f in sorted(set(zip(examples.applications, folds.tolist(), strict=True)))},
    }  # fmt: skip


def _performance(evaluation: AgainstLabels, numbers: HeldOut) -> dict[str, Any]:
    """Return what a model file says about the results on held-out applications."""
    return {
        "accuracy": evaluation.accuracy.value, "balanced_accuracy": evaluation.balanced_accuracy.value,
        "recall": {name: rates.recall.value for name, rates in evaluation.by_category.items()},
        "auc": {
            area.category: {"value": area.auc.value, "low": area.auc.low, "high": area.auc.high}
            for area in numbers.areas
        },
        "brier": numbers.brier.value,
    }  # fmt: skip


def _useless(evaluation: AgainstLabels, numbers: HeldOut, p: float, cost_ratio: float) -> str | None:
    """Return why the learned classifier is no better than a rule without features; None if it is."""
    if p > ALPHA:
        mean = float(np.mean([area.auc.value or 0.0 for area in numbers.areas]))
        which = "area" if len(numbers.areas) == 2 else "mean area"
        return (
            f"the {which} under the ROC curve ({mean:.3f}) is not larger than with the labels of other applications "
            f"(permutation test, p = {p:.2g})"
        )
    if cost_ratio == 1 and (evaluation.accuracy.value or 0.0) <= (evaluation.majority_rule.accuracy.value or 0.0):
        rule = f"always {evaluation.majority_rule.category}"
        return f'the learned classifier agrees with the labels no more often than the rule "{rule}"'
    return None


def _nearly_verdicts(examples: Examples, others: Sequence[Contestant]) -> tuple[tuple[str, float], ...]:
    """Return the classifiers with which the labels may have been made, with the share of equal verdicts.

    These are the classifiers whose verdicts equal at least 95 % of the labels, and 90 % of those of each category: with
    a rare category, a classifier without any knowledge equals most labels.
    """
    found = []
    for contestant in others:
        judged = np.isfinite(contestant.verdicts)
        equal, second = contestant.verdicts[judged] == examples.is_second[judged], examples.is_second[judged]
        parts = [equal[second], equal[~second]]
        if all(len(part) and part.mean() >= NEARLY_OF_EACH for part in parts) and equal.mean() >= NEARLY:
            found.append((contestant.name, float(equal.mean())))
    return tuple(found)


def _model(
    chosen: ChosenModel,
    examples: Examples,
    settings: LearnSettings,
    *,
    cost_ratio: float | None,
    warmup: Warmup,
    training: Mapping[str, Any],
) -> Model:
    coefficients = [tuple(row) for row in chosen.model.coefficients.tolist()]
    if isinstance(chosen.scale, RankScale):
        scales: list[dict[str, Any]] = [{"quantiles": tuple(row)} for row in chosen.scale.quantiles.tolist()]
    else:
        pairs = zip(chosen.scale.mean.tolist(), chosen.scale.sd.tolist(), strict=True)
        scales = [{"mean": mean, "sd": sd} for mean, sd in pairs]
    terms = tuple(
        Term(feature, FEATURES[feature].version, row, **scale)
        for feature, row, scale in zip(examples.features, coefficients, scales, strict=True)
    )
    return Model(
        settings.name, examples.categories, terms, tuple(chosen.model.intercepts.tolist()), chosen.penalty,
        settings.monotone, chosen.threshold, cost_ratio, warmup, training,
    )  # fmt: skip


def _coefficients(
    examples: Examples, chosen: ChosenModel, *, monotone: bool, rng: np.random.Generator
) -> tuple[FeatureCoefficient, ...]:
    x, group = chosen.scale.apply(examples.x), examples.group
    n_groups = int(group.max()) + 1
    draws = []
    for _ in range(N_REFITS):
        weights = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups))[group].astype(np.float64)
        if len(set(examples.category[weights > 0])) == 2:
            refitted = fit(
                x, examples.category, 2, chosen.penalty, monotone=monotone, weights=weights, start=chosen.model
            )
            draws.append(refitted.coefficients[:, 0])
    table = np.array(draws).reshape(len(draws), -1)
    rows = [
        FeatureCoefficient(feature, FEATURES[feature].title, percentile_interval(float(value), table[:, j], LEVEL))
        for j, (feature, value) in enumerate(zip(examples.features, chosen.model.coefficients[:, 0], strict=True))
    ]
    return tuple(sorted(rows, key=lambda row: -abs(row.value.value or 0.0)))


def _table(
    examples: Examples,
    variants: Mapping[str, OutOfFold],
    others: Mapping[str, Sequence[str | None]],
    scores: Mapping[str, Floats],
) -> pd.DataFrame:
    names = np.array(examples.categories, dtype=object)
    columns: dict[str, Any] = {
        "item": examples.items, "application": examples.applications, "consensus": examples.names,
        "fold": variants[LEARNED].fold,
    }  # fmt: skip
    for name, found in variants.items():
        for code, category in enumerate(examples.categories):
            columns |= {
                f"{name} score of {category}": found.score[:, code],
                f"{name} probability of {category}": found.probability[:, code],
            }
        if found.threshold is not None:
            columns[f"{name} threshold"] = found.threshold
        columns[f"{name} verdict"] = names[found.called]
    for name, called in others.items():
        columns |= {f"{name} score": scores[name]} if name in scores else {}
        columns[f"{name} verdict"] = called
    return pd.DataFrame(columns)


def _warnings(examples: Examples, declared: Sequence[str]) -> list[str]:
    """Return warnings about categories without labels, and results that look more reliable than they are."""
    found = [
        f"No label is {category}, so the model never gives this category."
        for category in declared
        if category not in examples.categories
    ]
    if len(examples.categories) == 2:
        for j, feature in enumerate(examples.features):
            area = _area(examples, examples.x[:, j]).value
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
