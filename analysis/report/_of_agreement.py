"""The numbers of agreement: overall, of pairs, by group, over time, of reviewers with themselves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis import agreement
from analysis.document import plain
from analysis.intervals import Estimate
from analysis.multiple import holm
from analysis.report._resampling import Resampling
from analysis.tables import count_table

COEFFICIENTS: Mapping[str, Callable[..., Estimate]] = {
    "fleiss_kappa": agreement.fleiss_kappa,
    "gwet_ac1": agreement.gwet_ac1,
    "brennan_prediger": agreement.brennan_prediger,
    "krippendorff_alpha": agreement.krippendorff_alpha,
}
N_PARTS = 3  # of each reviewer's labels in order


@dataclass(frozen=True)
class Labels:
    """The labels of a study by what they count for; each a label table with all columns of the answers.

    Attributes
    ----------
    first : DataFrame
        First labels, fresh or overlap: what agreement and consensus are computed from.
    current : DataFrame
        The same assignments after own revisions.
    third : DataFrame
        Labels of a further reviewer on split and on some agreed items.
    retest : DataFrame
        Columns rater, first, second: one row an item that a reviewer labelled twice.
    """

    first: pd.DataFrame
    current: pd.DataFrame
    third: pd.DataFrame
    retest: pd.DataFrame


def agreement_numbers(labels: Labels, level: float, resampling: Resampling) -> dict[str, Any]:
    """Everything the report says of agreement."""
    first = labels.first
    counts = count_table(first).sort_index()  # so that draws do not depend on the order of rows
    n_labels = counts.sum(axis=1)
    only_two = first[first["item"].map(n_labels) == 2]  # an item seen by more enters several pairs: not independent
    independent = agreement.pair_agreements(only_two, level=level)
    return {
        "n_labels": len(first),
        "n_items": len(counts),
        "n_items_with_two_labels": int((n_labels >= 2).sum()),
        "pairs": _pairs(first, level),
        "homogeneity": plain(
            agreement.pair_homogeneity([pair.agree for pair in independent], [pair.n for pair in independent])
        ),
        "percent": plain(agreement.percent_agreement(counts, level=level)),
        **{name: _with_bands(function(counts, level=level)) for name, function in COEFFICIENTS.items()},
        "specific": plain(agreement.specific_agreement(counts, level=level)),
        "chance_test": plain(agreement.fleiss_kappa_test(counts)),
        "by_applications": _clustered(first, counts, level),
        "bootstrap": _bootstrap(counts, level, resampling),
        "warning": agreement.minority_warning(counts),
        "leniency": plain(agreement.leniency(first, level=level)),
        "retest": _retest(labels.retest, level),
        "by_labels_used": _by_labels_used(labels, level),
        **_by_groups(first, level),
        "order": _order(first),
    }


def _pairs(first: pd.DataFrame, level: float) -> list[dict[str, Any]]:
    tables = agreement.two_by_two_tables(first)
    return [
        {
            **plain(pair),
            "pabak": plain(agreement.pabak(tables[pair.a, pair.b], level=level)),
            "prevalence_index": plain(agreement.prevalence_index(tables[pair.a, pair.b], level=level)),
            "bias_index": plain(agreement.bias_index(tables[pair.a, pair.b], level=level)),
        }
        for pair in agreement.pair_agreements(first, level=level)
    ]


def _retest(pairs: pd.DataFrame, level: float) -> list[dict[str, Any]]:
    """Each reviewer against themselves, the tests of drift corrected for the number of reviewers."""
    rows = plain(agreement.retest_agreement(pairs, level=level))
    corrected = holm([row["drift"]["p_mid"] for row in rows])
    return [{**row, "p_holm": p} for row, p in zip(rows, corrected, strict=True)]


def _with_bands(kappa: Estimate) -> dict[str, Any]:
    return {**plain(kappa), "band_low": agreement.band(kappa.low), "band_high": agreement.band(kappa.high)}


def _clustered(first: pd.DataFrame, counts: pd.DataFrame, level: float) -> dict[str, Any]:
    """Fleiss' kappa and percent agreement with standard errors that let items of one application be alike."""
    if "application" not in first:
        unknown = Estimate(None, reason="the applications of the items are not known")
        return {"fleiss_kappa": plain(unknown), "percent": plain(unknown)}
    groups = first.drop_duplicates("item").set_index("item")["application"].reindex(counts.index)
    return {
        "fleiss_kappa": plain(agreement.fleiss_kappa(counts, level=level, groups=groups)),
        "percent": plain(agreement.percent_agreement(counts, level=level, groups=groups)),
    }


def _bootstrap(counts: pd.DataFrame, level: float, resampling: Resampling) -> dict[str, Any]:
    if not resampling.n_bootstrap:
        return {}
    functions = {"percent": agreement.percent_agreement, **COEFFICIENTS}
    return {
        name: plain(
            agreement.bootstrap_coefficient(
                function, counts, rng=resampling.rng(f"bootstrap {name}"), n_draws=resampling.n_bootstrap, level=level
            )
        )
        for name, function in functions.items()
    }


def _by_labels_used(labels: Labels, level: float) -> list[dict[str, Any]]:
    """Agreement after own revisions, and with third labels; that of the first labels is the overall agreement."""
    used = {"after own revisions": labels.current}
    if len(labels.third):
        used["first and third"] = pd.concat([labels.first, labels.third], ignore_index=True)
    rows = []
    for name, table in used.items():
        counts = count_table(table).sort_index()
        rows.append(
            {
                "labels": name,
                "n_labels": len(table),
                "percent": plain(agreement.percent_agreement(counts, level=level)),
                "fleiss_kappa": plain(agreement.fleiss_kappa(counts, level=level)),
            }
        )
    return rows


def _by_groups(first: pd.DataFrame, level: float) -> dict[str, Any]:
    """By application, date and axis rule, and over thirds of each reviewer's labels in order and by time on task."""
    parts: dict[str, Any] = {}
    dated = first.assign(date=first["created_utc"].astype("string").str[:10]) if "created_utc" in first else first
    for name, column in (("by_application", "application"), ("by_date", "date")):
        groups = agreement.by_group(dated, column, level=level) if _has(dated, column) else []
        parts[name] = plain(groups)
    for name, column in (("by_position", "position"), ("by_time_on_task", "dwell_ms")):
        groups = agreement.by_order(first, column, n_bins=N_PARTS, level=level) if _has(first, column) else []
        parts[name] = plain(groups)
    if _has(first, "axis_rule") and first["axis_rule"].nunique() > 1:  # reports of earlier versions lack it
        parts["by_axis_rule"] = plain(agreement.by_group(first, "axis_rule", level=level))
    return parts


def _has(labels: pd.DataFrame, column: str) -> bool:
    """Whether anything is known in this column."""
    return column in labels and bool(labels[column].notna().any())


def _order(first: pd.DataFrame) -> dict[str, Any] | None:
    """Whether the share of dissimilar, or agreement, changes over each reviewer's labels; None without positions."""
    if not _has(first, "position"):
        return None
    outcomes = ["dissimilar", "agreement", *(["dwell_ms"] if _has(first, "dwell_ms") else [])]
    return dict(plain(agreement.order_test(first[first["position"].notna()], outcomes=outcomes)))
