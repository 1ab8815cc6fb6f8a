"""All answers and verdicts of a study -> every number of its report."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from analysis import agreement, consensus, evaluation
from analysis.categories import CATEGORIES, NOT_SURE, WITHDRAWN
from analysis.intervals import Estimate, wilson
from analysis.report._json import plain
from analysis.report.measure_figures import mean_measures
from analysis.tables import count_table, first_labels

COUNTED_KINDS = ("fresh", "overlap")


@dataclass(frozen=True)
class Provenance:
    """What a report says about where its numbers come from; all plain values, shown as they are.

    Attributes
    ----------
    study : mapping
        Name, question, state, numbers of items and reviewers, whether the report is interim.
    parameters : mapping
        Every open choice with the value used.
    plan : mapping or None
    hashes, versions : mapping of str to str
    notes : sequence of str
        What a reader must know, such as what is arbitrary in a data set.
    """

    study: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    plan: Mapping[str, Any] | None = None
    hashes: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()


def summarise(
    answers: pd.DataFrame,
    verdicts: pd.DataFrame,
    provenance: Provenance = Provenance(),
    *,
    n_items: int | None = None,
    level: float = 0.95,
) -> dict[str, Any]:
    """Compute the report.

    Parameters
    ----------
    answers : DataFrame
        Every answer in the order given: columns item, reviewer, label (similar, dissimilar, not sure, withdrawn);
        optionally kind (fresh where missing) and assignment (item and kind where missing).
    verdicts : DataFrame
        Columns item, classifier, verdict (None where a classifier could not judge); optionally application, means
        (measure -> mean over all pairs of runs), parameters (JSON text) and version.
    provenance : Provenance
    n_items : int, optional
        Number of items in the study; those with an answer where missing.
    level : float
        Confidence level of all intervals.

    Returns
    -------
    dict
        Ready for JSON; every undefined number is None beside a reason.

    Raises
    ------
    ValueError
        If a column is missing or a value is not one of the known ones.
    """
    table = _with_defaults(answers)
    first = first_labels(table.rename(columns={"reviewer": "rater", "label": "answer"}))
    counted = first[first["kind"].isin(COUNTED_KINDS)].rename(columns={"answer": "category"})
    labels = counted[["item", "rater", "category"]]
    decided = consensus.agreed_only(labels)
    n_all = len(pd.unique(table["item"])) if n_items is None else n_items
    return {
        "study": {"name": "", "question": "", "state": "", "interim": False} | plain(provenance.study),
        "parameters": {"level": level, **plain(provenance.parameters), **_used(verdicts)},
        "plan": plain(provenance.plan),
        "agreement": _agreement(labels, level),
        "consensus": _consensus(decided, n_all, level),
        "left_out": _left_out(table, first),
        "classifiers": {str(name): _classifier(decided, rows, level) for name, rows in _checked_verdicts(verdicts)},
        "measures": {str(name): _measures(rows) for name, rows in _checked_verdicts(verdicts)},
        "hashes": plain(provenance.hashes),
        "versions": plain(provenance.versions),
        "notes": list(provenance.notes),
    }


def _with_defaults(answers: pd.DataFrame) -> pd.DataFrame:
    missing = [name for name in ("item", "reviewer", "label") if name not in answers.columns]
    if missing:
        raise ValueError(f"the labels lack the column {', '.join(missing)}; they have {', '.join(map(str, answers))}")
    table = answers.copy()
    if "kind" not in table:
        table["kind"] = "fresh"
    if "assignment" not in table:
        table["assignment"] = list(zip(table["item"], table["kind"], strict=True))
    return table


def _agreement(labels: pd.DataFrame, level: float) -> dict[str, Any]:
    counts = count_table(labels)
    n_labels = counts.sum(axis=1)
    pairs = agreement.pair_agreements(labels, level=level)
    only_two = labels[labels["item"].map(n_labels) == 2]  # an item seen by more enters several pairs: not independent
    independent = agreement.pair_agreements(only_two, level=level)
    coefficients = {
        "fleiss_kappa": agreement.fleiss_kappa,
        "gwet_ac1": agreement.gwet_ac1,
        "brennan_prediger": agreement.brennan_prediger,
        "krippendorff_alpha": agreement.krippendorff_alpha,
    }
    return {
        "n_labels": len(labels),
        "n_items": len(counts),
        "n_items_with_two_labels": int((n_labels >= 2).sum()),
        "pairs": [plain(pair) for pair in pairs],
        "homogeneity": plain(
            agreement.pair_homogeneity([pair.agree for pair in independent], [pair.n for pair in independent])
        ),
        "percent": plain(agreement.percent_agreement(counts, level=level)),
        **{name: _with_bands(function(counts, level=level)) for name, function in coefficients.items()},
        "warning": agreement.minority_warning(counts),
        "reviewers": [
            {"reviewer": rater, "n": len(rows), "dissimilar": plain(_share_of(rows, "dissimilar", level))}
            for rater, rows in labels.groupby("rater")
        ],
    }


def _with_bands(kappa: Estimate) -> dict[str, Any]:
    return {**plain(kappa), "band_low": agreement.band(kappa.low), "band_high": agreement.band(kappa.high)}


def _share_of(rows: pd.DataFrame, category: str, level: float) -> Estimate:
    return wilson(int((rows["category"] == category).sum()), len(rows), level)


def _consensus(decided: pd.DataFrame, n_items: int, level: float) -> dict[str, Any]:
    status, n_labels = decided["status"], decided["n_labels"]
    n_agreed, n_split = int((status == consensus.AGREED).sum()), int((status == consensus.SPLIT).sum())
    return {
        "rule": "agreed only: at least two first labels, all equal",
        "n_items": n_items,
        "agreed": n_agreed,
        **{f"agreed_{category}": int((decided["category"] == category).sum()) for category in CATEGORIES},
        "split": n_split,
        "incomplete": n_items - n_agreed - n_split,
        "by_n_labels": [
            {
                "n_labels": int(n),
                "n": len(group),
                "agreed": plain(wilson(int((group == consensus.AGREED).sum()), len(group), level)),
            }
            for n, group in status[n_labels >= 2].groupby(n_labels)
        ],
    }


def _left_out(table: pd.DataFrame, first: pd.DataFrame) -> dict[str, int]:
    """How many answers do not enter the tables, and why."""
    task = ["reviewer", "assignment"]
    current = table.groupby(task, sort=False)["label"].last()
    order = pd.Series(range(len(table)), index=table.index)
    first_at = pd.Series(order[first.index].to_numpy(), index=pd.MultiIndex.from_frame(first[["rater", "assignment"]]))
    of_task = first_at.reindex(pd.MultiIndex.from_frame(table[task])).to_numpy()
    later = order.to_numpy() > of_task  # False where there is no first label
    other_kinds = first[~first["kind"].isin(COUNTED_KINDS)]["kind"].value_counts()
    return {
        "not_sure": int((current == NOT_SURE).sum()),
        "withdrawn_answers": int((table["label"] == WITHDRAWN).sum()),
        "own_revisions": int((table["label"].isin(CATEGORIES).to_numpy() & later).sum()),
        **{f"{kind}_labels": int(n) for kind, n in sorted(other_kinds.items())},
    }


def _checked_verdicts(verdicts: pd.DataFrame) -> list[tuple[Any, pd.DataFrame]]:
    missing = [name for name in ("item", "classifier", "verdict") if name not in verdicts.columns]
    if missing:
        raise ValueError(
            f"the verdicts lack the column {', '.join(missing)}; they have {', '.join(map(str, verdicts))}"
        )
    doubled = verdicts[verdicts.duplicated(["item", "classifier"])]
    if len(doubled):
        row = doubled.iloc[0]
        raise ValueError(f"classifier {row['classifier']!r} has two verdicts on item {row['item']!r}")
    return list(verdicts.groupby("classifier", sort=True))


def _classifier(decided: pd.DataFrame, rows: pd.DataFrame, level: float) -> dict[str, Any]:
    agreed = decided[decided["status"] == consensus.AGREED]["category"]
    verdict = rows.set_index("item")["verdict"]
    confusion = evaluation.confusion_matrix(agreed, verdict)
    statistics = {
        "sensitivity": evaluation.sensitivity,
        "specificity": evaluation.specificity,
        "precision": evaluation.precision,
        "accuracy": evaluation.accuracy,
        "f1": evaluation.f1,
        "balanced_accuracy": evaluation.balanced_accuracy,
    }
    baseline = evaluation.always(confusion)
    return {
        "verdicts": {category: int((verdict == category).sum()) for category in CATEGORIES}
        | {"none": int(verdict.isna().sum())},
        "confusion": {name: getattr(confusion, name) for name in ("tp", "fp", "fn", "tn")},
        "n": confusion.n,
        "n_without_verdict": confusion.n_without_verdict,
        "prevalence": plain(evaluation.prevalence(confusion, level=level)),
        **{name: plain(function(confusion, level=level)) for name, function in statistics.items()},
        "always_dissimilar": {name: plain(function(baseline, level=level)) for name, function in statistics.items()},
    }


def _used(verdicts: pd.DataFrame) -> dict[str, Any]:
    """What the verdicts were computed with, by classifier: one entry, unless their making changed in between."""
    if not {"parameters", "version"} <= set(verdicts):
        return {}
    makings = verdicts[["classifier", "parameters", "version"]].drop_duplicates().sort_values(["classifier", "version"])
    return {
        "verdicts": {
            str(name): [
                {**json.loads(text), "version": int(version)}
                for text, version in zip(rows["parameters"], rows["version"], strict=True)
            ]
            for name, rows in makings.groupby("classifier")
        }
    }


def _measures(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The mean of each measure by application: application, n, means; empty where no means are known."""
    if not {"application", "means"} <= set(rows):
        return []
    rows = rows[rows["means"].map(len) > 0]
    if not len(rows):
        return []
    table = rows[["application"]].join(pd.DataFrame(list(rows["means"]), index=rows.index))
    names = [name for name in table if name != "application"]
    return [
        {
            "application": row["application"],
            "n": int(row["n"]),
            "means": {name: None if pd.isna(row[name]) else float(row[name]) for name in names},
        }
        for row in mean_measures(table).to_dict("records")
    ]
