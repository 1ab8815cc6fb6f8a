"""Build the appendix sections on classifiers. Each table answers one question for all classifiers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.document import (
    DASH,
    Block,
    Figure,
    Paragraph,
    Section,
    number,
    p_value,
    percent,
    value_in_words,
)
from analysis.report._wording import level_of, model_of, plain_number, row_title, share, stat_table, title_of

Content = Mapping[str, Any]

CELLS = ("tp", "fp", "fn", "tn")
RATES = ("sensitivity", "specificity")


def classifier_sections(content: Content) -> Iterator[Section]:
    """Yield the sections on classifiers; yield nothing if there are no classifiers."""
    if not content["classifiers"]:
        return
    yield Section("Confusion matrices", tuple(_confusion(content)))
    if any(row["n"] for row in content["classifiers"].values()):
        yield Section("Classifiers against each consensus", tuple(_by_consensus(content)))
    if any(row["n"] or row["scores"] for row in content["classifiers"].values()):
        yield Section("Scores and thresholds", tuple(_scores(content)))
    if content["comparisons"]:
        yield Section("Comparison of classifiers", tuple(_comparisons(content)))


def _confusion(content: Content) -> Iterator[Block]:
    level = level_of(content)
    rows = [
        (row_title(name), *(row["confusion"][cell] for cell in CELLS), row["n_without_verdict"],
         share(row["precision"]), percent(row["prevalence"]["value"]), share(row["balanced_accuracy"]),
         share(row["f1"]))
        for name, row in content["classifiers"].items()
    ]  # fmt: skip
    yield stat_table(
        "confusion",
        "Verdicts on the agreed items. True positives (tp) are dissimilar items called dissimilar; false positives "
        "(fp) are similar items called dissimilar. False negatives (fn) are dissimilar items called similar; true "
        "negatives (tn) are similar items called similar. Precision is valid only for the prevalence in the next "
        "column.",
        ("Classifier", "tp", "fp", "fn", "tn", "No verdict", f"Precision ({level})", "Prevalence of dissimilar",
         f"Balanced accuracy ({level})", f"F1 ({level})"),
        rows,
        numeric=(1, 2, 3, 4, 5, 7),
    )  # fmt: skip
    yield stat_table(
        "verdicts",
        "Number of verdicts on all items, including items without a consensus.",
        ("Classifier", "Dissimilar", "Similar", "No verdict", "Computed with"),
        [
            (row_title(name), *(row["verdicts"][kind] for kind in ("dissimilar", "similar", "none")),
             "; ".join(map(value_in_words, content["parameters"].get("verdicts", {}).get(name, []))) or DASH)
            for name, row in content["classifiers"].items()
        ],
        numeric=(1, 2, 3),
    )  # fmt: skip
    if content["measures"].get("heuristic"):
        yield Figure("measures-by-application", "Measures of the heuristic by application.")


def _by_consensus(content: Content) -> Iterator[Block]:
    """Compare the three kinds of consensus, and show how much the split items could change the results."""
    rows: list[tuple[Any, ...]] = []
    dropped = DASH
    for name, row in content["classifiers"].items():
        if not row["n"]:
            continue
        majority, latent, bounds = row["by_consensus"]["adjudicated"], row["by_consensus"]["latent"], row["bounds"]
        dropped = percent(bounds["dropped"]["value"])
        extremes = [" to ".join(percent(bounds[s][end]["value"]) for end in ("worst", "best")) for s in RATES]
        n_all = sum(bounds["worst"][cell] for cell in CELLS)
        rows += [
            (row_title(name), "range over all split items", n_all, *extremes, DASH),
            ("", "adjudicated majority", majority["n"], *(share(majority[s]) for s in RATES), DASH),
        ]
        if latent is not None:
            rows.append(("", "latent class", latent["n"], *(share(latent[s]) for s in RATES), model_of(latent)))
    level = level_of(content)
    yield stat_table(
        "by-consensus",
        f"{dropped} of the items with two labels are split. Scoring only the agreed items is biased in either "
        "direction: label errors lower both rates, and leaving out hard items raises them. The row “latent class” "
        "depends on a model, so the last column states the status of this model; its intervals are credible "
        "intervals. For results on the agreed items only, see the first table of the report.",
        ("Classifier", "Consensus", "Items", f"Sensitivity ({level})", f"Specificity ({level})", "Model"),
        rows,
        numeric=(2,),
    )


def _scores(content: Content) -> Iterator[Block]:
    scored = {name: row["scores"] for name, row in content["classifiers"].items() if row["scores"]}
    without = [row_title(name) for name, row in content["classifiers"].items() if not row["scores"]]
    if without:
        yield Paragraph(
            f"These classifiers have no scores, so other thresholds cannot be evaluated: {', '.join(without)}."
        )
    if not scored:
        return
    level = level_of(content)
    yield stat_table(
        "scores",
        "Average precision summarises precision over all thresholds. The last two columns show at which cost ratios "
        "the fixed threshold has the lowest cost of all thresholds, and at which its cost is at most 10 % higher than "
        "the lowest. The cost ratio is the cost of a missed dissimilar item divided by the cost of a false alarm. The "
        "area under the ROC curve is in the first table of the report.",
        (
            "Classifier",
            f"Average precision ({level})",
            "Threshold",
            "Lowest cost at ratios",
            "Cost within 10 % at ratios",
        ),
        [
            (row_title(name), plain_number(scores["average_precision"]), *_threshold_costs(scores))
            for name, scores in scored.items()
        ],
        numeric=(2,),
    )
    if any(scores["roc"]["threshold"] for scores in scored.values()):
        yield Figure(
            "roc", "Sensitivity against false alarms over all thresholds. The point shows the actual verdicts."
        )
        yield Figure(
            "precision-recall", "Precision against sensitivity. The grey line is the share of dissimilar items."
        )
    rows = [row for name, scores in scored.items() for row in _threshold_rows(name, scores["threshold"])]
    if rows:
        yield stat_table(
            "thresholds",
            "Results of each classifier with different thresholds. A threshold looks better than it is if it is "
            "chosen and evaluated on the same items. In the row “chosen on other applications”, the threshold for "
            "each item is chosen from the items of all other applications.",
            ("Classifier", "Threshold", "Value", "tp", "fp", "fn", "tn", "Youden"),
            rows,
            numeric=(2, 3, 4, 5, 6, 7),
        )
    reasons: dict[str, list[str]] = {}
    for name, scores in scored.items():
        if scores["threshold"] is not None and scores["threshold"]["reason"]:
            reasons.setdefault(scores["threshold"]["reason"], []).append(row_title(name))
    for reason, names in reasons.items():
        yield Paragraph(f"No threshold of {', '.join(names)} was chosen from the data: {reason}.")


def _threshold_rows(name: str, choice: Content | None) -> Iterator[tuple[Any, ...]]:
    if choice is None:
        return
    yield row_title(name), "fixed", number(choice["fixed"]), *_cells(choice["at_fixed"])
    if choice["in_sample"]:
        yield "", "best on the same items", number(choice["theta_in_sample"]), *_cells(choice["in_sample"])
    if choice["out_of_fold"]:
        spread = f"{number(choice['theta_low'])} to {number(choice['theta_high'])}"
        yield "", "chosen on other applications", spread, *_cells(choice["out_of_fold"])


def _cells(confusion: Content) -> Sequence[Any]:
    tp, fp, fn, tn = (confusion[cell] for cell in CELLS)
    has_both_categories = (tp + fn) and (fp + tn)
    return tp, fp, fn, tn, number(tp / (tp + fn) + tn / (fp + tn) - 1) if has_both_categories else DASH


def _threshold_costs(scores: Content) -> tuple[str, str, str]:
    """Return the fixed threshold, and the cost ratios at which its cost is the lowest or nearly the lowest."""
    choice = scores["threshold"]
    if choice is None:
        return DASH, DASH, DASH
    return f"{choice['fixed']:g}", _ratios(scores["cost_range"]), _ratios(scores["near_cost_range"])


def _ratios(costs: Content) -> str:
    if costs["low"] is None:
        return "never"
    low = number(costs["low"], 2)
    return f"{low} or more" if costs["high"] is None else f"{low} to {number(costs['high'], 2)}"


def _comparisons(content: Content) -> Iterator[Block]:
    level = level_of(content)
    n_pairs = len(content["comparisons"])
    corrected = f", corrected by Holm's method over {n_pairs} pairs" if n_pairs > 1 else ""
    yield stat_table(
        "comparisons",
        "Difference in the share of right verdicts of two classifiers on the same agreed items, overall and within "
        "each category. Differences within the categories often point in opposite directions. The p values come from "
        f"McNemar's mid-p test{corrected}. Raw and exact p values are in report.json.",
        ("Pair", "Items", f"Accuracy ({level})", "p", f"Sensitivity ({level})", "p", f"Specificity ({level})", "p",
         f"AUC ({level})", "p"),
        [_compared(row) for row in content["comparisons"]],
        numeric=(1, 3, 5, 7, 9),
    )  # fmt: skip


def _compared(row: Content) -> tuple[Any, ...]:
    parts = [row[name] for name in ("overall", "dissimilar", "similar")]
    cells = [cell for part in parts for cell in (share(part["difference"]), p_value(part["p_holm"]))]
    auc = (
        (DASH, DASH) if row["auc"] is None else (plain_number(row["auc"]["difference"]), p_value(row["auc"]["p_holm"]))
    )
    return f"{row_title(row['a'])} – {title_of(row['b'])}", row["overall"]["n"], *cells, *auc
