"""Build the sections on agreement, for example of pairs of reviewers, overall, and by group."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.document import DASH, Block, Figure, Paragraph, Section, number, p_value, words
from analysis.report._wording import Cell, alpha_of, estimate, interval, level_of, plain_number, share, stat_table

Content = Mapping[str, Any]
PICTURES = "disputed-items"  # the name of a figure that needs measurements

COEFFICIENTS = (
    ("fleiss_kappa", "Fleiss' kappa"),
    ("krippendorff_alpha", "Krippendorff's alpha"),
    ("gwet_ac1", "Gwet's AC1"),
    ("brennan_prediger", "Brennan-Prediger"),
)
CLUSTERED = (("fleiss_kappa", "Fleiss' kappa"), ("percent", "Percent agreement"))
INDICES = ("pabak", "prevalence_index", "bias_index")
LETTERS = {"d": "dissimilar", "s": "similar", "-": DASH}
MANY = 40  # maximum number of rows in a table of groups; the JSON has all rows


def agreement_sections(content: Content, *, with_pictures: bool) -> tuple[Section, ...]:
    """Build the sections on agreement."""
    return (
        Section("Agreement of pairs", tuple(_pairs(content))),
        Section("Overall agreement", tuple(_overall(content))),
        Section("Agreement by group", tuple(_groups(content))),
        Section("Reviewers", tuple(_reviewers(content))),
        Section("What reviewers disagree on", tuple(_disputed(content, with_pictures))),
    )


def _pairs(content: Content) -> Iterator[Block]:
    agreement, level = content["agreement"], level_of(content)
    if agreement["pairs"]:
        yield stat_table(
            "pairs",
            "Number of items that both reviewers of a pair labelled, and the share of these items on which they "
            "agree. The table uses first labels only. Intervals of shares are Wilson intervals.",
            ("Pair", "Items", "Agreed", f"Agreement ({level})", f"Cohen's kappa ({level})", "PABAK",
             "Prevalence index", "Bias index"),
            [
                (f"{pair['a']} – {pair['b']}", pair["n"], pair["agree"], share(pair["percent"]),
                 plain_number(pair["cohen_kappa"]), *(number(pair[name]["value"], 2) for name in INDICES))
                for pair in agreement["pairs"]
            ],
            numeric=(1, 2, 5, 6, 7),
        )  # fmt: skip
    yield Paragraph(f"Do all pairs agree equally often? {_homogeneity(content)}")


def _homogeneity(content: Content) -> str:
    test = content["agreement"]["homogeneity"]
    if test["p"] is None:
        return f"Not tested: {test['reason']}."
    result = f"χ² = {number(test['chi2'], 1)}, {test['df']} degrees of freedom, p = {p_value(test['p'])} "
    result += "(from items with exactly two first labels)."
    differ = test["p"] <= alpha_of(content)
    return result + (" The pairs differ in their agreement, and a single overall number hides this." if differ else "")


def _overall(content: Content) -> Iterator[Block]:
    agreement, level = content["agreement"], level_of(content)
    rows: list[tuple[Any, ...]] = [
        ("Percent agreement", share(agreement["percent"]), "", _resampled(agreement, "percent"))
    ]
    for name, title in COEFFICIENTS:
        kappa = agreement[name]
        rows.append((title, plain_number(kappa), _bands(kappa), _resampled(agreement, name)))
    for category, estimate_ in agreement["specific"].items():
        rows.append((f"Agreement on {category}", share(estimate_), "", ""))
    if agreement.get("jackknife"):
        rows.append(
            (
                "Fleiss' kappa if reviewers are a random sample (jackknife)",
                plain_number(agreement["jackknife"]),
                "",
                "",
            )
        )
    for row in agreement.get("if_given", ()):
        kappa = f"Fleiss' kappa if the {row['n']} missing labels were {row['category']}"
        percent_ = f"Percent agreement if the {row['n']} missing labels were {row['category']}"
        rows += [(percent_, share(row["percent"]), "", ""), (kappa, plain_number(row["fleiss_kappa"]), "", "")]
    for name, title in CLUSTERED:
        rows.append(
            (
                f"{title} if items of one application are alike",
                Cell(agreement["by_applications"][name], name == "percent"),
                "",
                "",
            )
        )
    missing = (
        " A label is missing if it was planned but not given, withdrawn, or not sure."
        if agreement.get("if_given")
        else ""
    )
    yield stat_table(
        "overall-agreement",
        f"{agreement['n_labels']} first labels on {agreement['n_items']} items. {agreement['n_items_with_two_labels']} "
        f"of these items have two or more labels.{missing}",
        ("Statistic", f"Value ({level})", "Landis-Koch bands of the limits", f"Bootstrap over items ({level})"),
        rows,
    )
    yield Paragraph(
        f"Is agreement better than chance? Test of kappa = 0: {_chance_in_words(agreement['chance_test'])}."
    )
    if agreement["warning"]:
        yield Paragraph(f"{agreement['warning'].capitalize()}.", "warning")


def _resampled(agreement: Content, name: str) -> str:
    resampled = agreement["bootstrap"].get(name)
    return "" if resampled is None else interval(resampled, as_percent=name == "percent") or DASH


def _chance_in_words(test: Content) -> str:
    return (
        f"not computed ({test['reason']})"
        if test["p"] is None
        else f"z = {number(test['z'], 2)}, p = {p_value(test['p'])}"
    )


def _bands(kappa: Content) -> str:
    low, high = kappa["band_low"], kappa["band_high"]
    return "" if not low else low if low == high else f"{low} to {high}"


def _groups(content: Content) -> Iterator[Block]:
    agreement, level = content["agreement"], level_of(content)
    yield stat_table(
        "labels-used",
        "Agreement by which labels are used.",
        ("Labels", "Number", f"Agreement ({level})", f"Fleiss' kappa ({level})"),
        [
            (row["labels"], row["n_labels"], share(row["percent"]), plain_number(row["fleiss_kappa"]))
            for row in ({"labels": "first", **agreement}, *agreement["by_labels_used"])
        ],
        numeric=(1,),
    )
    for name, caption, first in (
        ("by_application", "Agreement by application.", "Application"),
        (
            "by_position",
            "Agreement by thirds of each reviewer's labels in order. Falling agreement can show fatigue.",
            "Third",
        ),
        ("by_time_quartile", "Agreement by quartiles of each reviewer's time on task, fastest first.", "Quartile"),
        ("by_date", "Agreement by date.", "Date"),
        ("by_axis_rule", "Agreement by the axis rule that applied when the label was given.", "Axis rule"),
    ):
        rows = agreement.get(name, [])
        if len(rows) > 1:
            more = (
                f" The table shows the first {MANY} of {len(rows)} rows; report.json has all rows."
                if len(rows) > MANY
                else ""
            )
            yield stat_table(
                name.replace("_", "-"),
                caption + more,
                (first, "Items", "Labels", f"Dissimilar ({level})", f"Agreement ({level})", f"Kappa ({level})"),
                [
                    (row["group"], row["n_items"], row["n_labels"], share(row["dissimilar"]), share(row["percent"]),
                     plain_number(row["kappa"]))
                    for row in rows[:MANY]
                ],
                numeric=(1, 2),
            )  # fmt: skip
    confidence = agreement.get("confidence")
    if confidence:
        yield stat_table(
            "by-confidence",
            "Agreement by the confidence that reviewers stated (1 is low, 3 is high).",
            ("Confidence", "Items", "Labels", f"Dissimilar ({level})", f"Agreement ({level})", f"Kappa ({level})"),
            [
                (row["group"], row["n_items"], row["n_labels"], share(row["dissimilar"]), share(row["percent"]),
                 plain_number(row["kappa"]))
                for row in confidence["by_confidence"]
            ],
            numeric=(1, 2),
        )  # fmt: skip
        weighted = estimate(confidence["weighted_kappa"], as_percent=False)
        yield Paragraph(f"Do reviewers agree on their confidence? Weighted kappa (quadratic): {weighted} ({level}).")
    yield Paragraph(_order_in_words(agreement["order"]))


def _order_in_words(order: Content | None) -> str:
    """Describe in sentences whether labels depend on the item order."""
    if order is None:
        return "Effects of the item order on labels were not tested because positions are unknown."
    if order["matters"] is None:
        return f"Effects of the item order on labels were not tested: {order['reason']}."
    question = (
        f"Do labels depend on the item order? {order['n_tests']} tests (trend over positions; labels after a "
        "dissimilar "
        "label against labels after a similar label; for each reviewer and outcome), overall level "
        f"{order['alpha']:g} (Bonferroni): "
    )
    if not order["matters"]:
        return question + (
            "no."
            + (" Without the correction, some tests would be significant." if order["matters_uncorrected"] else "")
        )
    threshold = order["alpha"] / order["n_tests"]
    rows = [e for e in order["effects"] if e["p"] is not None and e["p"] < threshold]
    names = "; ".join(f"{e['rater']}, {words(e['outcome'])}, {e['test']} (p = {p_value(e['p'])})" for e in rows)
    return f"{question}yes: {names}."


def _reviewers(content: Content) -> Iterator[Block]:
    leniency, level = content["agreement"]["leniency"], level_of(content)
    if leniency["raters"]:
        yield stat_table(
            "leniency",
            "Share of dissimilar labels of each reviewer, and log odds of calling the same items dissimilar. Log odds "
            "of 0 mean that the reviewer is as strict as the others.",
            ("Reviewer", "First labels", f"Dissimilar ({level})", f"Log odds on the same items ({level})"),
            [
                (row["rater"], row["n"], share(row["dissimilar"]), plain_number(row["log_odds"]))
                for row in leniency["raters"]
            ],
            numeric=(1,),
        )
    yield Paragraph(f"Are all reviewers equally strict? {_leniency_in_words(leniency['overall'], alpha_of(content))}")
    if leniency["pairs"]:
        yield stat_table(
            "leniency-pairs",
            "Number of items that only one of two reviewers calls dissimilar. The p values come from McNemar's mid-p "
            "test and are corrected over the pairs by Holm's method. Raw and exact p values are in report.json.",
            ("Pair", "Only the first", "Only the second", f"Difference of shares ({level})", "p (Holm)"),
            [
                (f"{pair['a']} – {pair['b']}", pair["table"]["b"], pair["table"]["c"], share(pair["difference"]),
                 p_value(pair["p_holm"]))
                for pair in leniency["pairs"]
            ],
            numeric=(1, 2, 4),
        )  # fmt: skip
    yield from _times(content["agreement"].get("time_on_task", ()))
    yield from _retest(content["agreement"]["retest"], level)


def _times(rows: Sequence[Content]) -> Iterator[Block]:
    if not rows:
        return
    yield stat_table(
        "time-on-task",
        "Median time on task per label, and number of labels given in less than a second.",
        ("Reviewer", "Labels", "Median seconds", "Under 1 s"),
        [(row["rater"], row["n"], number(row["median_s"], 1), row["n_fast"]) for row in rows],
        numeric=(1, 2, 3),
    )
    fast = [str(row["rater"]) for row in rows if row["median_s"] < 1]
    if fast:
        text = f"Implausibly fast, with less than a second for at least half of the labels: {', '.join(fast)}."
        yield Paragraph(text, "warning")


def _disputed(content: Content, with_pictures: bool) -> Iterator[Block]:
    disputed = content["agreement"].get("disputed")
    if len({name for pair in content["agreement"]["pairs"] for name in (pair["a"], pair["b"])}) > 2:
        yield Figure("pair-heat-map", "Percent agreement of each pair of reviewers on the items that both labelled.")
    if not disputed or not disputed["patterns"]:
        yield Paragraph("No item has two labels yet.")
        return
    yield Figure(
        "label-strip",
        "All items with two or more labels, sorted by agreement, one row per reviewer. Dark means dissimilar, light "
        "means similar, and blank means not labelled.",
    )
    if disputed["items"] and content["study"]["interim"]:
        yield Paragraph("The items with the most disagreement are named after the study is unblinded.", "note")
    elif disputed["items"]:
        yield stat_table(
            "disputed",
            "Items with the most disagreement.",
            ("Item", *disputed["reviewers"]),
            [(row["item"], *(LETTERS[letter] for letter in row["labels"])) for row in disputed["items"]],
        )
    if with_pictures:
        yield Figure(
            PICTURES,
            "Runs of the items with the most disagreement, drawn as reviewers saw them. All runs of an item share one "
            "axis.",
        )


def _leniency_in_words(test: Content, alpha: float) -> str:
    if test["p"] is None:
        return f"Not tested: {test['reason']}."
    result = (
        f"Conditional logit on {test['n_split']} items on which reviewers differ, {test['test']} test: "
        f"χ² = {number(test['chi2'], 1)}, {test['df']} degrees of freedom, p = {p_value(test['p'])}."
    )
    return (
        result
        + (" The reviewers are not equally strict." if test["p"] <= alpha else "")
        + (f" ({test['reason']}.)" if test["reason"] else "")
    )


def _retest(rows: Sequence[Content], level: str) -> Iterator[Block]:
    if not rows:
        yield Paragraph("No reviewer labelled an item twice, so the consistency of reviewers is unknown.")
        return
    yield stat_table(
        "retest",
        "Agreement of each reviewer with themselves: in a retest, a reviewer labels the same item again under another "
        "code. Drift is tested by McNemar's mid-p test and corrected over the reviewers by Holm's method.",
        ("Reviewer", "Items", f"Agreement ({level})", f"Cohen's kappa ({level})", f"PABAK ({level})",
         f"Drift to dissimilar ({level})", "p of drift (Holm)"),
        [
            (row["rater"], row["n"], share(row["percent"]), plain_number(row["cohen_kappa"]),
             plain_number(row["pabak"]), share(row["change"]), p_value(row["p_holm"]))
            for row in rows
        ],
        numeric=(1, 6),
    )  # fmt: skip
