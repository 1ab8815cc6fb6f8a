"""What the report says of agreement: of pairs, overall, by group, over time, of reviewers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.document import (
    Block,
    Figure,
    Paragraph,
    Section,
    number,
    p_value,
    table,
    words,
)
from analysis.report._wording import estimate, interval

Content = Mapping[str, Any]

COEFFICIENTS = (
    ("fleiss_kappa", "Fleiss' kappa"),
    ("krippendorff_alpha", "Krippendorff's alpha"),
    ("gwet_ac1", "Gwet's AC1"),
    ("brennan_prediger", "Brennan-Prediger"),
)
INDICES = ("pabak", "prevalence_index", "bias_index")
MANY = 40  # rows beyond which a table of groups is cut; all are in the JSON


def agreement_sections(content: Content) -> tuple[Section, ...]:
    """The sections on agreement."""
    return (
        Section("Agreement of pairs", tuple(_pairs(content))),
        Section("Overall agreement", tuple(_over_all(content))),
        Section("Agreement by group", tuple(_groups(content["agreement"]))),
        Section("Reviewers", tuple(_reviewers(content["agreement"]))),
    )


def _pairs(content: Content) -> Iterator[Block]:
    agreement, level = content["agreement"], round(100 * content["parameters"]["level"])
    if agreement["pairs"]:
        yield table(
            "Table 1. Items that both reviewers of a pair labelled, and the share on which they agree; first labels "
            f"only. In brackets: {level} % intervals (Wilson for shares).",
            ("Pair", "Items", "Agreed", "Agreement", "Cohen's kappa", "PABAK", "Prevalence index", "Bias index"),
            [
                (f"{pair['a']} – {pair['b']}", pair["n"], pair["agree"], estimate(pair["percent"]),
                 estimate(pair["cohen_kappa"], as_percent=False), *(number(pair[name]["value"], 2) for name in INDICES))
                for pair in agreement["pairs"]
            ],
            numeric=(1, 2, 5, 6, 7),
        )  # fmt: skip
        yield Figure("pair-agreement", "Agreement of each pair with its interval; dashed: overall agreement.")
    else:
        yield Paragraph("No two reviewers have labelled an item in common yet.")
    yield Paragraph(f"Do all pairs share one agreement rate? {_homogeneity(agreement['homogeneity'])}")


def _homogeneity(test: Content) -> str:
    if test["p"] is None:
        return f"Not tested: {test['reason']}."
    result = f"χ² = {number(test['chi2'], 1)}, {test['df']} degrees of freedom, p = {p_value(test['p'])} "
    result += "(items with exactly two first labels)."
    return result + (" The pairs differ: one number for all of them hides that." if test["p"] < 0.05 else "")


def _over_all(content: Content) -> Iterator[Block]:
    agreement = content["agreement"]
    rows = [("Percent agreement", estimate(agreement["percent"]), "", _resampled(agreement, "percent"))]
    for name, title in COEFFICIENTS:
        kappa = agreement[name]
        rows.append((title, estimate(kappa, as_percent=False), _bands(kappa), _resampled(agreement, name)))
    for category, share in agreement["specific"].items():
        rows.append((f"Agreement on {category}", estimate(share), "", ""))
    yield table(
        f"{agreement['n_labels']} first labels on {agreement['n_items']} items, "
        f"{agreement['n_items_with_two_labels']} of them with two labels or more.",
        ("Statistic", "Value", "Band of both ends", "Bootstrap of items"),
        rows,
    )
    clustered, chance = agreement["by_applications"]["fleiss_kappa"], agreement["chance_test"]
    yield Paragraph(
        f"If items of one application may be alike, Fleiss' kappa is {estimate(clustered, as_percent=False)}. Test of "
        f"agreement by chance alone: {_chance_in_words(chance)}."
    )
    if agreement["warning"]:
        yield Paragraph(f"{agreement['warning'].capitalize()}.", "warning")


def _resampled(agreement: Content, name: str) -> str:
    resampled = agreement["bootstrap"].get(name)
    return "" if resampled is None else interval(resampled, as_percent=name == "percent") or resampled["reason"]


def _chance_in_words(test: Content) -> str:
    return (
        f"not made, {test['reason']}" if test["p"] is None else f"z = {number(test['z'], 2)}, p = {p_value(test['p'])}"
    )


def _bands(kappa: Content) -> str:
    low, high = kappa["band_low"], kappa["band_high"]
    return "" if not low else low if low == high else f"{low} to {high}"


def _groups(agreement: Content) -> Iterator[Block]:
    yield table(
        "By the labels that are used.",
        ("Labels", "Number", "Agreement", "Fleiss' kappa"),
        [
            (row["labels"], row["n_labels"], estimate(row["percent"]), estimate(row["fleiss_kappa"], as_percent=False))
            for row in ({"labels": "first", **agreement}, *agreement["by_labels_used"])
        ],
        numeric=(1,),
    )
    for name, caption, first in (
        ("by_application", "By application.", "Application"),
        ("by_position", "Over the thirds of each reviewer's labels in order: fatigue would show here.", "Third"),
        ("by_time_on_task", "Over the thirds of each reviewer's labels by time on task, the quickest first.", "Third"),
        ("by_date", "By date.", "Date"),
    ):
        rows = agreement[name]
        if len(rows) > 1:
            more = f" The first {MANY} of {len(rows)}; all are in report.json." if len(rows) > MANY else ""
            yield table(
                caption + more,
                (first, "Items", "Labels", "Dissimilar", "Agreement", "Kappa"),
                [
                    (row["group"], row["n_items"], row["n_labels"], estimate(row["dissimilar"]),
                     estimate(row["percent"]), estimate(row["kappa"], as_percent=False))
                    for row in rows[:MANY]
                ],
                numeric=(1, 2),
            )  # fmt: skip
    yield Paragraph(_order_in_words(agreement["order"]))


def _order_in_words(order: Content | None) -> str:
    """The order test, in sentences."""
    if order is None:
        return "Whether labels change over each reviewer's order is not tested: positions are not known."
    if order["matters"] is None:
        return f"Whether labels change over each reviewer's order is not tested: {order['reason']}."
    question = (
        f"Do labels depend on their order? {order['n_tests']} tests (trend over the position, and after a dissimilar "
        "label against after a similar one, for each reviewer and outcome), at "
        f"{order['alpha']:g} over all of them (Bonferroni): "
    )
    if not order["matters"]:
        return question + ("no." + (" Some would be without the correction." if order["matters_uncorrected"] else ""))
    threshold = order["alpha"] / order["n_tests"]
    rows = [e for e in order["effects"] if e["p"] is not None and e["p"] < threshold]
    names = "; ".join(f"{e['rater']}, {words(e['outcome'])}, {e['test']} (p = {p_value(e['p'])})" for e in rows)
    return f"{question}yes: {names}."


def _reviewers(agreement: Content) -> Iterator[Block]:
    leniency = agreement["leniency"]
    if leniency["raters"]:
        yield table(
            "How often each reviewer says dissimilar, and the log odds of that on equal items (0: as the others).",
            ("Reviewer", "First labels", "Dissimilar", "Log odds on equal items"),
            [
                (row["rater"], row["n"], estimate(row["dissimilar"]), estimate(row["log_odds"], as_percent=False))
                for row in leniency["raters"]
            ],
            numeric=(1,),
        )
    yield Paragraph(f"Are all reviewers equally strict? {_leniency_in_words(leniency['overall'])}")
    if leniency["pairs"]:
        yield table(
            "Two reviewers on the same items: who alone says dissimilar. McNemar's exact test; Holm's correction over "
            "the pairs.",
            ("Pair", "Only the first", "Only the second", "Difference of shares", "p", "p (Holm)"),
            [
                (f"{pair['a']} – {pair['b']}", pair["table"]["b"], pair["table"]["c"], estimate(pair["difference"]),
                 p_value(pair["mcnemar"]["p"]), p_value(pair["p_holm"]))
                for pair in leniency["pairs"]
            ],
            numeric=(1, 2),
        )  # fmt: skip
    yield from _retest(agreement["retest"])


def _leniency_in_words(test: Content) -> str:
    if test["p"] is None:
        return f"Not tested: {test['reason']}."
    result = (
        f"Conditional logit on {test['n_split']} items on which reviewers differ, {test['test']} test: "
        f"χ² = {number(test['chi2'], 1)}, {test['df']} degrees of freedom, p = {p_value(test['p'])}."
    )
    return result + (" They are not." if test["p"] < 0.05 else "") + (f" ({test['reason']}.)" if test["reason"] else "")


def _retest(rows: Sequence[Content]) -> Iterator[Block]:
    if not rows:
        yield Paragraph("No item was labelled twice by the same reviewer, so how steady reviewers are is not known.")
        return
    yield table(
        "Test and retest: the same reviewer on the same item, hidden under another code.",
        ("Reviewer", "Items", "Agreement", "Cohen's kappa", "PABAK", "Drift to dissimilar", "p of drift"),
        [
            (row["rater"], row["n"], estimate(row["percent"]), estimate(row["cohen_kappa"], as_percent=False),
             estimate(row["pabak"], as_percent=False), estimate(row["change"]), p_value(row["drift"]["p"]))
            for row in rows
        ],
        numeric=(1,),
    )  # fmt: skip
