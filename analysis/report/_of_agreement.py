"""Compute all numbers on agreement, for example overall, by pair of reviewers, by group, and for retests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis import agreement
from analysis.document import plain
from analysis.intervals import Estimate
from analysis.multiple import holm
from analysis.report._resampling import Resampling
from analysis.tables import count_table, in_name_order

COEFFICIENTS: Mapping[str, Callable[..., Estimate]] = {
    "fleiss_kappa": agreement.fleiss_kappa,
    "gwet_ac1": agreement.gwet_ac1,
    "brennan_prediger": agreement.brennan_prediger,
    "krippendorff_alpha": agreement.krippendorff_alpha,
}
N_PARTS, N_TIME_PARTS = 3, 4  # number of parts of each reviewer's labels: in order, and by time on task
CONFIDENCES = (1, 2, 3)
IMPLAUSIBLE_S = 1.0  # nobody can look at ten runs in less time
MOST_DISPUTED = 10


@dataclass(frozen=True)
class Labels:
    """The labels of a study, in one table per purpose. Each table has all columns of the answers.

    Attributes
    ----------
    first : DataFrame
        First labels (fresh or overlap), from which agreement and consensus are computed.
    current : DataFrame
        Labels of the same assignments after reviewers revised their own answers.
    third : DataFrame
        Labels of an additional reviewer on split items and on some agreed items.
    retest : DataFrame
        Columns rater, first, second; one row per item that a reviewer labelled twice.
    missing : DataFrame
        Columns item and rater, one row per missing label. A label is missing if the reviewer chose "not sure", withdrew
        the answer, or never gave a planned label.
    """

    first: pd.DataFrame
    current: pd.DataFrame
    third: pd.DataFrame
    retest: pd.DataFrame
    missing: pd.DataFrame


def agreement_numbers(labels: Labels, level: float, resampling: Resampling) -> dict[str, Any]:
    """Compute all numbers on agreement; return them as plain values for JSON."""
    first = labels.first
    counts = count_table(first).sort_index()  # sorted, so that draws do not depend on the order of rows
    n_labels = counts.sum(axis=1)
    only_two = first[
        first["item"].map(n_labels) == 2
    ]  # items with more labels belong to several pairs, which are then dependent
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
        "jackknife": plain(agreement.jackknife_over_raters(first, level=level)) if len(first) else None,
        "if_given": _if_given(labels, level),
        "confidence": _confidence(first, level),
        "time_on_task": _times(first),
        "disputed": _disputed(first),
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
    """Compute the test-retest agreement of each reviewer; correct the tests of drift for the number of reviewers."""
    rows = plain(agreement.retest_agreement(pairs, level=level))
    corrected = holm([row["drift"]["p_mid"] for row in rows])
    return [{**row, "p_holm": p} for row, p in zip(rows, corrected, strict=True)]


def _with_bands(kappa: Estimate) -> dict[str, Any]:
    return {**plain(kappa), "band_low": agreement.band(kappa.low), "band_high": agreement.band(kappa.high)}


def _clustered(first: pd.DataFrame, counts: pd.DataFrame, level: float) -> dict[str, Any]:
    """Compute Fleiss' kappa and percent agreement with standard errors clustered by application."""
    if "application" not in first:
        unknown = Estimate(None, reason="the applications of the items are unknown")
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
    """Compute agreement after reviewers revised their answers, and agreement if third labels are included.

    The overall agreement of the report uses first labels only.
    """
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
    """Compute agreement by application, date, axis rule, third of the order and quartile of the time on task."""
    parts: dict[str, Any] = {}
    dated = first.assign(date=first["created_utc"].astype("string").str[:10]) if "created_utc" in first else first
    for name, column in (("by_application", "application"), ("by_date", "date")):
        groups = agreement.by_group(dated, column, level=level) if _has(dated, column) else []
        parts[name] = plain(groups)
    for name, column, n_bins in (("by_position", "position", N_PARTS), ("by_time_quartile", "dwell_ms", N_TIME_PARTS)):
        groups = agreement.by_order(first, column, n_bins=n_bins, level=level) if _has(first, column) else []
        parts[name] = plain(groups)
    if _has(first, "axis_rule") and first["axis_rule"].nunique() > 1:  # reports of earlier versions lack this
        parts["by_axis_rule"] = plain(agreement.by_group(first, "axis_rule", level=level))
    return parts


def _if_given(labels: Labels, level: float) -> list[dict[str, Any]]:
    """Compute agreement as if all missing labels had one category, once for each category."""
    if not len(labels.missing):
        return []
    kappas = agreement.if_given(labels.first, labels.missing, agreement.fleiss_kappa, level=level)
    shares = agreement.if_given(labels.first, labels.missing, agreement.percent_agreement, level=level)
    return [
        {"category": kappa.category, "n": kappa.n, "percent": plain(share.value), "fleiss_kappa": plain(kappa.value)}
        for kappa, share in zip(kappas, shares, strict=True)
    ]


def _confidence(first: pd.DataFrame, level: float) -> dict[str, Any] | None:
    """Compute agreement by confidence, and weighted kappa of the confidences (1 to 3).

    Return None if no reviewer stated a confidence.
    """
    if not _has(first, "confidence"):
        return None
    stated = first[first["confidence"].notna()].assign(confidence=first["confidence"].dropna().astype(int))
    counts = count_table(
        stated[["item", "rater", "confidence"]].rename(columns={"confidence": "category"}), CONFIDENCES
    )
    weighted = agreement.fleiss_kappa(counts, CONFIDENCES, weights="quadratic", level=level)
    return {
        "n": len(stated),
        "by_confidence": plain(agreement.by_group(stated, "confidence", level=level)),
        "weighted_kappa": plain(weighted),
    }


def _times(first: pd.DataFrame) -> list[dict[str, Any]]:
    """Compute the median time on task of each reviewer, and count the implausibly fast labels."""
    if not _has(first, "dwell_ms"):
        return []
    seconds = pd.to_numeric(first["dwell_ms"]) / 1000
    return [
        {
            "rater": str(rater),
            "n": int(of_rater.notna().sum()),
            "median_s": float(of_rater.median()),
            "n_fast": int((of_rater < IMPLAUSIBLE_S).sum()),
        }
        for rater, of_rater in seconds.groupby(first["rater"])
        if of_rater.notna().any()
    ]


def _disputed(first: pd.DataFrame) -> dict[str, Any]:
    """Count how often each pattern of labels occurs, and list the items with the most disagreement."""
    raters = in_name_order(pd.unique(first["rater"]))
    if len(raters) < 2:
        return {"reviewers": [], "patterns": [], "items": []}
    wide = first.pivot(index="item", columns="rater", values="category").reindex(columns=raters)
    n_dissimilar, n = (wide == "dissimilar").sum(axis=1), wide.notna().sum(axis=1)
    minority = pd.concat([n_dissimilar, n - n_dissimilar], axis=1).min(axis=1) / n
    letters = np.where(wide.isna(), "-", np.where(wide == "dissimilar", "d", "s"))
    written = pd.Series(["".join(row) for row in letters.tolist()], index=wide.index)
    patterns = written[n >= 2].value_counts()
    ranked = pd.DataFrame({"minority": minority, "n": n, "labels": written})[n >= 2]
    ranked = ranked[ranked["minority"] > 0].assign(name=lambda rows: rows.index.map(str))
    ranked = ranked.sort_values(["minority", "n", "name"], ascending=[False, False, True])
    return {
        "reviewers": [str(rater) for rater in raters],
        "patterns": [
            {"labels": labels, "n": count}
            for labels, count in sorted(patterns.to_dict().items(), key=lambda pair: (-pair[1], pair[0]))
        ],
        "items": ranked.head(MOST_DISPUTED)[["name", "labels", "n"]]
        .rename(columns={"name": "item"})
        .to_dict("records"),
    }


def _has(labels: pd.DataFrame, column: str) -> bool:
    """Return whether the column exists and has values."""
    return column in labels and bool(labels[column].notna().any())


def _order(first: pd.DataFrame) -> dict[str, Any] | None:
    """Test whether labels or agreement change over each reviewer's items; return None if positions are unknown."""
    if not _has(first, "position"):
        return None
    outcomes = ["dissimilar", "agreement", *(["dwell_ms"] if _has(first, "dwell_ms") else [])]
    return dict(plain(agreement.order_test(first[first["position"].notna()], outcomes=outcomes)))
