"""Everything a report says about one classifier against one consensus."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.bootstrap import N_DRAWS
from analysis.evaluation._bounds import Bounds, bounds
from analysis.evaluation._confusion import (
    Confusion,
    accuracy,
    always,
    balanced_accuracy,
    confusion_matrix,
    f1,
    mcc,
    npv,
    precision,
    prevalence,
    sensitivity,
    specificity,
    youden,
)
from analysis.evaluation._inputs import Categories, Scores, matched
from analysis.evaluation._scores import PrecisionRecall, Roc, auc, average_precision, precision_recall, roc
from analysis.evaluation._threshold import THETA, CostRange, ThresholdChoice, cost_range, cross_validated_threshold
from analysis.intervals import Estimate


@dataclass(frozen=True)
class Rates:
    """Every statistic of one confusion matrix; each is described at the function of its name."""

    prevalence: Estimate
    sensitivity: Estimate
    specificity: Estimate
    precision: Estimate
    npv: Estimate
    accuracy: Estimate
    f1: Estimate
    balanced_accuracy: Estimate
    youden: Estimate
    mcc: Estimate


@dataclass(frozen=True)
class Evaluation:
    """One classifier against one consensus.

    Attributes
    ----------
    confusion, rates : Confusion, Rates
        Verdicts on the items that have a consensus.
    always_dissimilar : Rates
        The same of the rule "always dissimilar" on the same items.
    bounds : Bounds
        What the split items could change.
    roc, precision_recall : Roc, PrecisionRecall
    auc, average_precision : Estimate
    threshold : ThresholdChoice
        The fixed reference beside thresholds chosen from the items.
    cost_range, near_cost_range : CostRange
        For which cost ratios the fixed reference is the best threshold, and costs at most a tenth more than the best.
    """

    confusion: Confusion
    rates: Rates
    always_dissimilar: Rates
    bounds: Bounds
    roc: Roc
    precision_recall: PrecisionRecall
    auc: Estimate
    average_precision: Estimate
    threshold: ThresholdChoice
    cost_range: CostRange
    near_cost_range: CostRange


def rates(confusion: Confusion, *, rng: np.random.Generator, n_draws: int = N_DRAWS, level: float = 0.95) -> Rates:
    """Every statistic of one confusion matrix.

    Parameters
    ----------
    confusion : Confusion
    rng : Generator
        Source of the bootstrap draws of `mcc`.
    n_draws : int
        Their number.
    level : float
        Confidence level of all intervals.

    Returns
    -------
    Rates
        Each undefined where its function says so.

    Raises
    ------
    ValueError
        If `level` is not within (0, 1).
    """
    return Rates(
        prevalence=prevalence(confusion, level=level),
        sensitivity=sensitivity(confusion, level=level),
        specificity=specificity(confusion, level=level),
        precision=precision(confusion, level=level),
        npv=npv(confusion, level=level),
        accuracy=accuracy(confusion, level=level),
        f1=f1(confusion, level=level),
        balanced_accuracy=balanced_accuracy(confusion, level=level),
        youden=youden(confusion, level=level),
        mcc=mcc(confusion, rng=rng, n_draws=n_draws, level=level),
    )


def evaluate(
    consensus: Categories,
    verdicts: Categories,
    scores: Scores | None = None,
    groups: Sequence[object] | pd.Series | None = None,
    *,
    rng: np.random.Generator,
    fixed: float = THETA,
    level: float = 0.95,
) -> Evaluation:
    """Everything about one classifier against one consensus.

    Parameters
    ----------
    consensus : sequence of str or None, or Series indexed by item
        The category of each item, None for a split one. Incomplete items do not belong here.
    verdicts : sequence of str or None, or Series indexed by item
        The verdict on the same items. None: no verdict.
    scores : sequence of float or None, or Series indexed by item, optional
        The score behind each verdict, larger for more dissimilar. None: the classifier has none.
    groups : sequence of hashable, or Series indexed by item, optional
        The application of each item (`cross_validated_threshold`).
    rng : Generator
        For the bootstrap of `mcc`, then for the folds.
    fixed : float
        The classifier's own threshold on its score.
    level : float
        Confidence level of all intervals.

    Returns
    -------
    Evaluation
        What needs scores is undefined, with that reason, where there are none.

    Raises
    ------
    ValueError
        If the lengths differ, an item is in a Series twice, something is not a category, or a score is infinite.

    Examples
    --------
    >>> truth, score = ["dissimilar", "similar", None, "similar"], [0.6, 0.1, 0.4, 0.3]
    >>> verdict = ["dissimilar", "similar", "dissimilar", "dissimilar"]
    >>> result = evaluate(truth, verdict, score, rng=np.random.default_rng(1))
    >>> result.rates.specificity.value, result.bounds.specificity.worst.value, result.auc.value
    (0.5, 0.3333333333333333, 1.0)
    """
    n = len(consensus)
    columns = matched(
        {
            "consensus": consensus,
            "verdicts": verdicts,
            "scores": [None] * n if scores is None else scores,
            "groups": range(n) if groups is None else groups,
        }
    )
    agreed = [k for k, category in enumerate(columns[0]) if category is not None]
    truth, called, score, group = ([column[k] for k in agreed] for column in columns)
    confusion = confusion_matrix(truth, called)
    return Evaluation(
        confusion=confusion,
        rates=rates(confusion, rng=rng, level=level),
        always_dissimilar=rates(always(confusion), rng=rng, level=level),
        bounds=bounds(columns[0], columns[1], level=level),
        roc=roc(truth, score),
        precision_recall=precision_recall(truth, score),
        auc=auc(truth, score, level=level),
        average_precision=average_precision(truth, score, level=level),
        threshold=cross_validated_threshold(truth, score, group, rng=rng, fixed=fixed),
        cost_range=cost_range(truth, score, fixed),
        near_cost_range=cost_range(truth, score, fixed, tolerance=0.1),
    )
