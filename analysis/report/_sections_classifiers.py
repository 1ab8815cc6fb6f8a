"""What the report says of classifiers: against each consensus, over thresholds, beside each other."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.document import (
    DASH,
    Block,
    Figure,
    Paragraph,
    Section,
    Table,
    number,
    p_value,
    percent,
    table,
    value_in_words,
    words,
)
from analysis.report._wording import estimate

Content = Mapping[str, Any]

RATES = ("sensitivity", "specificity")
CLASSIFIER_STATISTICS = ("sensitivity", "specificity", "precision", "accuracy", "balanced_accuracy", "f1")


def classifier_sections(content: Content) -> Iterator[Section]:
    """The sections on classifiers; one that says so where there are none."""
    if not content["classifiers"]:
        nothing = Paragraph("There are no verdicts. Compute them, or give a file of verdicts.")
        yield Section("Classifiers against the agreed items", (nothing,))
        return
    yield Section("Classifiers against the agreed items", tuple(_all_classifiers(content)))
    for name, row in content["classifiers"].items():
        yield Section(name, tuple(_classifier(name, row, content["parameters"].get("verdicts", {}).get(name, []))), 3)


def _all_classifiers(content: Content) -> Iterator[Block]:
    if content["measures"].get("heuristic"):
        yield Figure("measures-by-application", "What the heuristic measures, by application.")
    if any(row["scores"] and row["scores"]["roc"]["threshold"] for row in content["classifiers"].values()):
        yield Figure("roc", "Sensitivity against false alarms over all thresholds; point: the verdicts as they are.")
        yield Figure("precision-recall", "Precision against sensitivity; grey: the share of dissimilar items.")
    if content["comparisons"]:
        yield table(
            "Two classifiers on the same agreed items: McNemar's exact test overall, and within each class, where "
            "they usually point in opposite directions.",
            (
                "Pair",
                "Items",
                "Accuracy difference",
                "p",
                "On dissimilar items",
                "p",
                "On similar items",
                "p",
                "AUC difference",
            ),
            [_compared(row) for row in content["comparisons"]],
            numeric=(1,),
        )


def _compared(row: Content) -> tuple[Any, ...]:
    parts = [row[name] for name in ("overall", "dissimilar", "similar")]
    cells = [text for part in parts for text in (estimate(part["difference"]), p_value(part["mcnemar"]["p"]))]
    auc = DASH if row["auc"] is None else estimate(row["auc"]["difference"], as_percent=False)
    return f"{row['a']} – {row['b']}", row["overall"]["n"], *cells, auc


def _classifier(name: str, row: Content, settings: list[Content]) -> Iterator[Block]:
    if row["n"]:
        yield _confusion(row)
        yield table(
            f"{name} beside the rule that calls everything dissimilar.",
            ("", *(words(s).capitalize() for s in CLASSIFIER_STATISTICS)),
            [
                (name, *(estimate(row[s]) for s in CLASSIFIER_STATISTICS)),
                ("always dissimilar", *(estimate(row["always_dissimilar"][s]) for s in CLASSIFIER_STATISTICS)),
            ],
        )
        yield _by_consensus(row)
        yield from _scores(row["scores"])
    else:
        yield Paragraph("No agreed item has a verdict of this classifier yet.")
    counts = row["verdicts"]
    none = f", {counts['none']} without a verdict" if counts["none"] else ""
    computed = "".join(f" Computed with {value_in_words(setting)}." for setting in settings)
    text = f"Verdicts on all items: {counts['dissimilar']} dissimilar, {counts['similar']} similar{none}.{computed}"
    yield Paragraph(text, "note")


def _by_consensus(row: Content) -> Table:
    """The three consensus rows side by side, and what the split items could change."""
    majority, latent, bounds = row["by_consensus"]["adjudicated"], row["by_consensus"]["latent"], row["bounds"]
    rows = [("agreed only", row["n"], *(estimate(row[s]) for s in RATES))]
    extremes = [[percent(bounds[s][end]["value"]) for end in ("worst", "best")] for s in RATES]
    rows.append(
        (
            "whatever the split items are",
            sum(bounds["worst"][cell] for cell in ("tp", "fp", "fn", "tn")),
            *map(" to ".join, extremes),
        )
    )
    rows.append(("adjudicated majority", majority["n"], *(estimate(majority[s]) for s in RATES)))
    if latent is None:
        rows.append(("latent class", DASH, "not fitted", "not fitted"))
    else:
        rows.append(("latent class", latent["n"], *(estimate(latent[s]) for s in RATES)))
    return table(
        f"Against each consensus. {percent(bounds['dropped']['value'])} of the items with two labels are split; "
        "scoring on agreed items only is biased in both directions.",
        ("Consensus", "Items", "Sensitivity", "Specificity"),
        rows,
        numeric=(1,),
    )


def _scores(scores: Content | None) -> Iterator[Block]:
    if scores is None:
        yield Paragraph("This classifier has no scores, so nothing is said of other thresholds.", "note")
        return
    auc, precision = (estimate(scores[name], as_percent=False) for name in ("auc", "average_precision"))
    yield Paragraph(f"Across all thresholds: area under the ROC curve {auc}; average precision {precision}.")
    choice = scores["threshold"]
    if choice is None:
        return
    if choice["reason"]:
        yield Paragraph(f"Choosing a threshold from the data: {choice['reason']}.")
    rows = [("fixed", number(choice["fixed"]), choice["at_fixed"])]
    if choice["in_sample"]:
        rows.append(("best on these very items", number(choice["theta_in_sample"]), choice["in_sample"]))
    if choice["out_of_fold"]:
        spread = f"{number(choice['theta_low'])} to {number(choice['theta_high'])}"
        rows.append(("chosen on other applications", spread, choice["out_of_fold"]))
    yield table(
        "Thresholds. Chosen and scored on the same items, a threshold looks better than it is; the last row chooses "
        "it on other applications than those it is scored on.",
        ("Threshold", "Value", "tp", "fp", "fn", "tn", "Youden"),
        [(name, value, *_cells(confusion)) for name, value, confusion in rows],
        numeric=(1, 2, 3, 4, 5, 6),
    )
    yield Paragraph(_costs_in_words(choice["fixed"], scores["cost_range"], scores["near_cost_range"]))


def _cells(confusion: Content) -> Sequence[Any]:
    tp, fp, fn, tn = (confusion[cell] for cell in ("tp", "fp", "fn", "tn"))
    has_both_categories = (tp + fn) and (fp + tn)
    return tp, fp, fn, tn, number(tp / (tp + fn) + tn / (fp + tn) - 1) if has_both_categories else DASH


def _costs_in_words(fixed: float, best: Content, near: Content) -> str:
    """For which costs of a missed dissimilar item, in false alarms, the fixed threshold is best, or nearly."""
    clauses = []
    for costs, name in ((best, "the best threshold"), (near, "at most a tenth dearer than the best")):
        if costs["low"] is None:
            clauses.append(f"at no ratio of costs {name} ({costs['reason']})")
        else:
            high = "any number of" if costs["high"] is None else number(costs["high"], 2)
            clauses.append(
                f"{name} where a missed dissimilar item costs {number(costs['low'], 2)} to {high} false alarms"
            )
    return f"{fixed:g} is {'; it is '.join(clauses)}."


def _confusion(row: Content) -> Table:
    cells, missing = row["confusion"], row["n_without_verdict"]
    more = f"; {missing} more have no verdict" if missing else ""
    return table(
        f"Confusion matrix on {row['n']} agreed items{more}.",
        ("", "called dissimilar", "called similar"),
        [
            ("reviewers: dissimilar", cells["tp"], cells["fn"]),
            ("reviewers: similar", cells["fp"], cells["tn"]),
        ],
        numeric=(1, 2),
    )
