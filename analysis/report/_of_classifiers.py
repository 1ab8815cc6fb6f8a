"""Compute the numbers on classifiers: against each consensus, over all thresholds, and between two classifiers."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pandas as pd

from analysis import evaluation
from analysis.categories import CATEGORIES, DISSIMILAR
from analysis.document import plain
from analysis.evaluation import Confusion
from analysis.intervals import Estimate
from analysis.multiple import holm
from analysis.report._of_consensus import Truths
from analysis.report._resampling import Resampling

BY_CONSTRUCTION = "fixed by construction"
NEAR = 0.1  # a nearly best threshold costs at most this share more than the best threshold
STATISTICS = {
    name: getattr(evaluation, name)
    for name in ("sensitivity", "specificity", "precision", "npv", "accuracy", "f1", "balanced_accuracy", "youden")
}


def classifier_numbers(
    name: str,
    rows: pd.DataFrame,
    truth: Truths,
    latent: Mapping[str, Any] | None,
    applications: Mapping[object, object],
    level: float,
    resampling: Resampling,
) -> dict[str, Any]:
    """Compute all numbers on one classifier.

    Parameters
    ----------
    name : str
    rows : DataFrame
        Verdicts of the classifier: columns item, verdict, and optionally score and threshold.
    truth : Truths
    latent : mapping, optional
        Rates of the classifier against the latent class.
    applications : mapping
        Item -> application, which defines the folds. An item without an application is a separate group.
    level : float
    resampling : Resampling
    """
    verdict = rows.set_index("item")["verdict"]
    confusion = evaluation.confusion_matrix(_decided(truth.agreed), verdict)
    return {
        "verdicts": {category: int((verdict == category).sum()) for category in CATEGORIES}
        | {"none": int(verdict.isna().sum())},
        **_rates_against(confusion, level),
        "mcc": _mcc(name, confusion, level, resampling),
        "baseline": _baseline(confusion, level),
        "always_dissimilar": _always_dissimilar(confusion, level),
        "bounds": plain(evaluation.bounds(*_with_split(truth.agreed, verdict), level=level)),
        "scores": _scores(name, rows, truth.agreed, applications, level, resampling),
        "by_consensus": {
            "adjudicated": _rates_against(evaluation.confusion_matrix(_decided(truth.majority), verdict), level),
            "latent": dict(latent) if latent else None,
        },
    }


def with_holm_of_baseline(classifiers: dict[str, dict[str, Any]], level: float) -> dict[str, dict[str, Any]]:
    """Add Holm-corrected p-values and verdicts to the comparisons of the classifiers with the majority rule."""
    rules = [row["baseline"] for row in classifiers.values()]
    tested = [rule["difference"]["value"] is not None for rule in rules]
    corrected = holm(
        [rule["mcnemar"]["p_mid"] if is_tested else None for rule, is_tested in zip(rules, tested, strict=True)]
    )
    for rule, p in zip(rules, corrected, strict=True):
        rule["p_holm"] = p
        rule["verdict"] = evaluation.verdict_of(Estimate(rule["difference"]["value"]), p, 1 - level)
    return classifiers


def _always_dissimilar(confusion: Confusion, level: float) -> dict[str, Any]:
    """Return the rates of the published baseline "always dissimilar".

    Rates that follow from the rule itself have no interval.
    """
    shares = _shares(evaluation.always(confusion), level)
    for name in ("sensitivity", "specificity", "balanced_accuracy", "youden"):
        value = shares[name]["value"]
        if value is not None:
            shares[name] = plain(Estimate(value, reason=BY_CONSTRUCTION))
    return shares


def _baseline(confusion: Confusion, level: float) -> dict[str, Any]:
    """Return the rates of the majority rule on the same items.

    Rates that follow from the rule itself have no interval.
    """
    compared = evaluation.against_majority(confusion, level=level)
    is_dissimilar = compared.category == DISSIMILAR
    return {
        **plain(compared),
        "sensitivity": plain(Estimate(float(is_dissimilar), reason=BY_CONSTRUCTION)),
        "specificity": plain(Estimate(float(not is_dissimilar), reason=BY_CONSTRUCTION)),
        "mcc": plain(Estimate(None, reason="one verdict for all items")),
    }


def comparisons(verdicts: pd.DataFrame, truth: Truths, level: float) -> list[dict[str, Any]]:
    """Compare each pair of classifiers on the same agreed items.

    The comparison uses McNemar's test, overall and within each category, and the difference of the AUC.
    """
    by_name = {str(name): rows.set_index("item") for name, rows in verdicts.groupby("classifier", sort=True)}
    agreed = _decided(truth.agreed)
    pairs = []
    for (a, of_a), (b, of_b) in combinations(by_name.items(), 2):
        compared = evaluation.compare(
            agreed, *(rows["verdict"].reindex(agreed.index) for rows in (of_a, of_b)), level=level
        )
        pairs.append({"a": a, "b": b, **plain(compared), "auc": _compared_scores(agreed, of_a, of_b, level)})
    for part in ("overall", "dissimilar", "similar"):
        for pair, p in zip(pairs, holm([_p_of(pair[part]) for pair in pairs]), strict=True):
            pair[part]["p_holm"] = p
    with_scores = [pair["auc"] for pair in pairs if pair["auc"] is not None]
    for scores, p in zip(with_scores, holm([scores["p"] for scores in with_scores]), strict=True):
        scores["p_holm"] = p
    return pairs


def _p_of(shares: Mapping[str, Any]) -> float | None:
    """Return the mid-p value of a paired comparison, or None if the two classifiers have no common items."""
    p: float | None = shares["mcnemar"]["p_mid"] if shares["n"] else None
    return p


def _compared_scores(agreed: pd.Series, of_a: pd.DataFrame, of_b: pd.DataFrame, level: float) -> dict[str, Any] | None:
    if "score" not in of_a:
        return None
    scores = (pd.to_numeric(rows["score"]).reindex(agreed.index) for rows in (of_a, of_b))
    return dict(plain(evaluation.compare_auc(agreed, *scores, level=level)))


def _decided(table: pd.DataFrame) -> pd.Series:
    """Return the category of each item that has a consensus."""
    category: pd.Series = table["category"].dropna()
    return category


def _with_split(agreed: pd.DataFrame, verdict: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return the categories (None for split items) and the verdicts of all agreed and split items."""
    category = agreed.loc[agreed["status"] != "incomplete", "category"].astype(object)
    return category.where(category.notna(), None), verdict.reindex(category.index)


def _rates_against(confusion: Confusion, level: float) -> dict[str, Any]:
    return {
        "confusion": {cell: getattr(confusion, cell) for cell in ("tp", "fp", "fn", "tn")},
        "n": confusion.n,
        "n_without_verdict": confusion.n_without_verdict,
        "prevalence": plain(evaluation.prevalence(confusion, level=level)),
        **_shares(confusion, level),
    }


def _shares(confusion: Confusion, level: float) -> dict[str, Any]:
    return {name: plain(function(confusion, level=level)) for name, function in STATISTICS.items()}


def _mcc(name: str, confusion: Confusion, level: float, resampling: Resampling) -> dict[str, Any]:
    rng = resampling.rng(f"mcc {name}")
    if resampling.n_bootstrap:
        return dict(plain(evaluation.mcc(confusion, rng=rng, n_draws=resampling.n_bootstrap, level=level)))
    value = evaluation.mcc(confusion, rng=rng, n_draws=1).value
    reason = "made without resampling" if value is not None else evaluation.mcc(confusion, rng=rng, n_draws=1).reason
    return dict(plain(Estimate(value, reason=reason)))


def _scores(
    name: str,
    rows: pd.DataFrame,
    agreed: pd.DataFrame,
    applications: Mapping[object, object],
    level: float,
    resampling: Resampling,
) -> dict[str, Any] | None:
    """Compute the numbers that need scores; return None if the classifier has no scores."""
    if "score" not in rows or not pd.to_numeric(rows["score"]).notna().any():
        return None
    truth = _decided(agreed).sort_index()  # sorted, so that folds do not depend on the order of rows
    scores = pd.to_numeric(rows.set_index("item")["score"]).reindex(truth.index)
    thresholds = pd.to_numeric(rows["threshold"]).dropna() if "threshold" in rows else pd.Series(dtype=float)
    numbers = {
        "auc": plain(evaluation.auc(truth, scores, level=level)),
        "average_precision": plain(evaluation.average_precision(truth, scores, level=level)),
        "roc": plain(evaluation.roc(truth, scores)),
        "precision_recall": plain(evaluation.precision_recall(truth, scores)),
    }
    if not len(thresholds):
        return numbers | {"threshold": None, "cost_range": None, "near_cost_range": None}
    fixed = float(thresholds.iloc[0])
    groups = [applications.get(item, item) for item in truth.index]
    choice = evaluation.cross_validated_threshold(
        truth, scores, pd.Series(groups, index=truth.index), rng=resampling.rng(f"folds {name}"), fixed=fixed
    )
    return numbers | {
        "threshold": plain(choice),
        "cost_range": plain(evaluation.cost_range(truth, scores, fixed)),
        "near_cost_range": plain(evaluation.cost_range(truth, scores, fixed, tolerance=NEAR)),
    }
