"""What the report says of agreement: of pairs, overall, by group, over time, of reviewers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.document import DASH, Block, Figure, Paragraph, Section, number, p_value, words
from analysis.report._wording import Cell, alpha_of, estimate, interval, level_of, plain_number, share, stat_table

Content = Mapping[str, Any]

COEFFICIENTS = (
    ("fleiss_kappa", "Fleiss' kappa"),
    ("krippendorff_alpha", "Krippendorff's alpha"),
    ("gwet_ac1", "Gwet's AC1"),
    ("brennan_prediger", "Brennan-Prediger"),
)
CLUSTERED = (("fleiss_kappa", "Fleiss' kappa"), ("percent", "Percent agreement"))
INDICES = ("pabak", "prevalence_index", "bias_index")
LETTERS = {"d": "dissimilar", "s": "similar", "-": DASH}
MANY = 40  # rows beyond which a table of groups is cut; all are in the JSON


def agreement_sections(content: Content) -> tuple[Section, ...]:
    """The sections on agreement."""
    return (
        Section("Agreement of pairs", tuple(_pairs(content))),
        Section("Overall agreement", tuple(_overall(content))),
        Section("Agreement by group", tuple(_groups(content))),
        Section("Reviewers", tuple(_reviewers(content))),
        Section("What reviewers disagree on", tuple(_disputed(content))),
    )


def _pairs(content: Content) -> Iterator[Block]:
    agreement, level = content["agreement"], level_of(content)
    if agreement["pairs"]:
        yield stat_table(
            "pairs",
            "Items that both reviewers of a pair labelled, and the share on which they agree; first labels only. "
            "Intervals of shares are Wilson's.",
            ("Pair", "Items", "Agreed", f"Agreement ({level})", f"Cohen's kappa ({level})", "PABAK",
             "Prevalence index", "Bias index"),
            [
                (f"{pair['a']} – {pair['b']}", pair["n"], pair["agree"], share(pair["percent"]),
                 plain_number(pair["cohen_kappa"]), *(number(pair[name]["value"], 2) for name in INDICES))
                for pair in agreement["pairs"]
            ],
            numeric=(1, 2, 5, 6, 7),
        )  # fmt: skip
    yield Paragraph(f"Do all pairs share one agreement rate? {_homogeneity(content)}")


def _homogeneity(content: Content) -> str:
    test = content["agreement"]["homogeneity"]
    if test["p"] is None:
        return f"Not tested: {test['reason']}."
    result = f"χ² = {number(test['chi2'], 1)}, {test['df']} degrees of freedom, p = {p_value(test['p'])} "
    result += "(items with exactly two first labels)."
    differ = test["p"] <= alpha_of(content)
    return result + (" The pairs differ: one number for all of them hides that." if differ else "")


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
        rows.append(("Fleiss' kappa, reviewers as a sample (jackknife)", plain_number(agreement["jackknife"]), "", ""))
    for row in agreement.get("if_given", ()):
        kappa = f"Fleiss' kappa if {row['n']} labels not given were {row['category']}"
        percent_ = f"Percent agreement if {row['n']} labels not given were {row['category']}"
        rows += [(percent_, share(row["percent"]), "", ""), (kappa, plain_number(row["fleiss_kappa"]), "", "")]
    for name, title in CLUSTERED:
        rows.append(
            (
                f"{title}, items of one application alike",
                Cell(agreement["by_applications"][name], name == "percent"),
                "",
                "",
            )
        )
    yield stat_table(
        "overall-agreement",
        f"{agreement['n_labels']} first labels on {agreement['n_items']} items, "
        f"{agreement['n_items_with_two_labels']} of them with two labels or more.",
        ("Statistic", f"Value ({level})", "Band of both ends", f"Bootstrap of items ({level})"),
        rows,
    )
    yield Paragraph(f"Test of agreement by chance alone: {_chance_in_words(agreement['chance_test'])}.")
    if agreement["warning"]:
        yield Paragraph(f"{agreement['warning'].capitalize()}.", "warning")


def _resampled(agreement: Content, name: str) -> str:
    resampled = agreement["bootstrap"].get(name)
    return "" if resampled is None else interval(resampled, as_percent=name == "percent") or DASH


def _chance_in_words(test: Content) -> str:
    return (
        f"not made, {test['reason']}" if test["p"] is None else f"z = {number(test['z'], 2)}, p = {p_value(test['p'])}"
    )


def _bands(kappa: Content) -> str:
    low, high = kappa["band_low"], kappa["band_high"]
    return "" if not low else low if low == high else f"{low} to {high}"


def _groups(content: Content) -> Iterator[Block]:
    agreement, level = content["agreement"], level_of(content)
    yield stat_table(
        "labels-used",
        "By the labels that are used.",
        ("Labels", "Number", f"Agreement ({level})", f"Fleiss' kappa ({level})"),
        [
            (row["labels"], row["n_labels"], share(row["percent"]), plain_number(row["fleiss_kappa"]))
            for row in ({"labels": "first", **agreement}, *agreement["by_labels_used"])
        ],
        numeric=(1,),
    )
    for name, caption, first in (
        ("by_application", "By application.", "Application"),
        ("by_position", "Over the thirds of each reviewer's labels in order: fatigue would show here.", "Third"),
        ("by_time_on_task", "Over the thirds of each reviewer's labels by time on task, the quickest first.", "Third"),
        ("by_date", "By date.", "Date"),
        ("by_axis_rule", "By the rule for the axis under which a label was given.", "Axis rule"),
    ):
        rows = agreement.get(name, [])
        if len(rows) > 1:
            more = f" The first {MANY} of {len(rows)}; all are in report.json." if len(rows) > MANY else ""
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
            "By the confidence that the reviewer stated with the label (1 low, 3 high).",
            ("Confidence", "Items", "Labels", f"Dissimilar ({level})", f"Agreement ({level})", f"Kappa ({level})"),
            [
                (row["group"], row["n_items"], row["n_labels"], share(row["dissimilar"]), share(row["percent"]),
                 plain_number(row["kappa"]))
                for row in confidence["by_confidence"]
            ],
            numeric=(1, 2),
        )  # fmt: skip
        weighted = estimate(confidence["weighted_kappa"], as_percent=False)
        yield Paragraph(f"Do reviewers agree on how sure they are? Weighted kappa (quadratic): {weighted} ({level}).")
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


def _reviewers(content: Content) -> Iterator[Block]:
    leniency, level = content["agreement"]["leniency"], level_of(content)
    if leniency["raters"]:
        yield stat_table(
            "leniency",
            "How often each reviewer says dissimilar, and the log odds of that on equal items (0: as the others).",
            ("Reviewer", "First labels", f"Dissimilar ({level})", f"Log odds on equal items ({level})"),
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
            "Two reviewers on the same items: who alone says dissimilar. McNemar's mid-p test with Holm's correction "
            "over the pairs; raw and exact p values are in report.json.",
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
        "Time on task: how long a reviewer takes for a label, and labels given in less than a second.",
        ("Reviewer", "Labels", "Median seconds", "Under 1 s"),
        [(row["rater"], row["n"], number(row["median_s"], 1), row["n_fast"]) for row in rows],
        numeric=(1, 2, 3),
    )
    fast = [str(row["rater"]) for row in rows if row["median_s"] < 1]
    if fast:
        text = f"Implausibly fast: half of the labels or more took less than a second ({', '.join(fast)})."
        yield Paragraph(text, "warning")


def _disputed(content: Content) -> Iterator[Block]:
    disputed = content["agreement"].get("disputed")
    if len({name for pair in content["agreement"]["pairs"] for name in (pair["a"], pair["b"])}) > 2:
        yield Figure(
            "pair-heat-map", "Agreement of each pair of reviewers on the items that both labelled, in per cent."
        )
    if not disputed or not disputed["patterns"]:
        yield Paragraph("No item has two labels yet.")
        return
    yield Figure(
        "label-strip",
        "All items with two labels or more, sorted by agreement, one row a reviewer: dark is dissimilar, light is "
        "similar, blank is not labelled.",
    )
    if disputed["items"]:
        yield stat_table(
            "disputed",
            "The items that divide the reviewers most.",
            ("Item", *disputed["reviewers"]),
            [(row["item"], *(LETTERS[letter] for letter in row["labels"])) for row in disputed["items"]],
        )


def _leniency_in_words(test: Content, alpha: float) -> str:
    if test["p"] is None:
        return f"Not tested: {test['reason']}."
    result = (
        f"Conditional logit on {test['n_split']} items on which reviewers differ, {test['test']} test: "
        f"χ² = {number(test['chi2'], 1)}, {test['df']} degrees of freedom, p = {p_value(test['p'])}."
    )
    return (
        result + (" They are not." if test["p"] <= alpha else "") + (f" ({test['reason']}.)" if test["reason"] else "")
    )


def _retest(rows: Sequence[Content], level: str) -> Iterator[Block]:
    if not rows:
        yield Paragraph("No item was labelled twice by the same reviewer, so how steady reviewers are is not known.")
        return
    yield stat_table(
        "retest",
        "Test and retest: the same reviewer on the same item, hidden under another code. Drift: McNemar's mid-p test "
        "with Holm's correction over the reviewers.",
        ("Reviewer", "Items", f"Agreement ({level})", f"Cohen's kappa ({level})", f"PABAK ({level})",
         f"Drift to dissimilar ({level})", "p of drift (Holm)"),
        [
            (row["rater"], row["n"], share(row["percent"]), plain_number(row["cohen_kappa"]),
             plain_number(row["pabak"]), share(row["change"]), p_value(row["p_holm"]))
            for row in rows
        ],
        numeric=(1, 6),
    )  # fmt: skip
