"""The numbers of the consensus: agreed only, adjudicated majority, latent class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis import consensus
from analysis.categories import CATEGORIES
from analysis.document import plain
from analysis.intervals import wilson
from analysis.report._of_agreement import Labels
from analysis.report._resampling import Resampling


@dataclass(frozen=True)
class Truths:
    """What classifiers are held against: one table an item for each of the two counted consensus rows.

    Attributes
    ----------
    agreed, majority : DataFrame
        Indexed by item: status, category, n_labels.
    all_labels : DataFrame
        First and third labels: what the latent class model is fitted to.
    """

    agreed: pd.DataFrame
    majority: pd.DataFrame
    all_labels: pd.DataFrame


def truths(labels: Labels, decisions: Mapping[object, str]) -> Truths:
    """The two counted consensus rows, and the labels for the third."""
    third = labels.third if len(labels.third) else None
    columns = ["item", "rater", "category"]
    return Truths(
        agreed=consensus.agreed_only(labels.first),
        majority=consensus.majority(labels.first, third, decisions),
        all_labels=pd.concat([labels.first[columns], labels.third[columns]], ignore_index=True),
    )


def consensus_numbers(
    truth: Truths, labels: Labels, verdicts: pd.DataFrame, n_items: int, level: float, resampling: Resampling
) -> dict[str, Any]:
    """Everything the report says of the consensus."""
    status, n_labels = truth.agreed["status"], truth.agreed["n_labels"]
    n_agreed, n_split = ((status == name).sum() for name in (consensus.AGREED, consensus.SPLIT))
    return {
        "rule": "agreed only: at least two first labels, all equal",
        "n_items": n_items,
        "agreed": int(n_agreed),
        **{f"agreed_{category}": int((truth.agreed["category"] == category).sum()) for category in CATEGORIES},
        "split": int(n_split),
        "incomplete": n_items - int(n_agreed) - int(n_split),
        "by_n_labels": [
            {
                "n_labels": int(n),
                "n": len(group),
                "agreed": plain(wilson(int((group == consensus.AGREED).sum()), len(group), level)),
            }
            for n, group in status[n_labels >= 2].groupby(n_labels)
        ],
        "majority": _majority(truth.majority, len(labels.third)),
        "latent": _latent(truth, labels, verdicts, resampling),
    }


def _majority(table: pd.DataFrame, n_third: int) -> dict[str, Any]:
    counts = table["status"].value_counts()
    names = (consensus.MAJORITY, consensus.ADJUDICATED, consensus.SPLIT, consensus.INCOMPLETE)
    return {
        "n_third_labels": n_third,
        **{name: int(counts.get(name, 0)) for name in names},
        **{f"n_{category}": int((table["category"] == category).sum()) for category in CATEGORIES},
    }


def _latent(truth: Truths, labels: Labels, verdicts: pd.DataFrame, resampling: Resampling) -> dict[str, Any]:
    """The latent class model of the reviewers; without sweeps only whether it could be identified."""
    if not resampling.n_sweeps:
        return {"identifiability": plain(consensus.identifiability(truth.all_labels))}
    fitted = consensus.latent_class(truth.all_labels, n_sweeps=resampling.n_sweeps, rng=resampling.rng("latent class"))
    # classifiers that judge the same items make the test stronger; only what was fixed before any label was seen
    table = verdicts[["item", "classifier", "verdict"]] if len(verdicts) else None
    tested = {
        "reviewers": consensus.misfit(labels.first, n_draws=resampling.n_misfit, rng=resampling.rng("misfit")),
        "with_classifiers": consensus.misfit(
            labels.first, table, n_draws=resampling.n_misfit, rng=resampling.rng("misfit with classifiers")
        ),
    }
    items = fitted.items
    return {
        "identifiability": plain(fitted.identifiability),
        "level": fitted.level,
        "prevalence": plain(fitted.prevalence),
        "reviewers": plain(fitted.reviewers),
        "n_decided": {category: int((items["category"] == category).sum()) for category in CATEGORIES},
        "undecided": _undecided(items),
        "misfit": plain(tested),
    }


def _undecided(items: pd.DataFrame) -> list[dict[str, Any]]:
    rows = items[items["category"] == "undecided"].sort_values("item")
    has_posterior = rows["posterior"].notna()
    return [
        {"item": str(item), "posterior": float(posterior) if is_known else None}
        for item, posterior, is_known in zip(rows["item"], rows["posterior"], has_posterior, strict=True)
    ]


def latent_rates(truth: Truths, verdicts: pd.DataFrame, resampling: Resampling) -> dict[str, dict[str, Any]]:
    """Sensitivity and specificity of each classifier against the latent class; empty without sweeps."""
    if not resampling.n_sweeps or not len(verdicts):
        return {}
    all_rates = consensus.classifier_rates(
        truth.all_labels,
        verdicts[["item", "classifier", "verdict"]],
        n_sweeps=resampling.n_sweeps,
        rng=resampling.rng("classifier rates"),
    )
    return {str(rates.rater): plain(rates) for rates in all_rates}
