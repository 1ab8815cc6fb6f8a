"""Build the report of a study with its own question: sentences and tables."""

from collections.abc import Iterator

from analysis.document import (
    Block,
    Bullets,
    Document,
    Paragraph,
    Section,
    clean,
    counted,
    describe_value,
    number,
    p_value,
    percent,
    plain_number,
    readable_name,
    share,
    table,
)
from analysis.evaluation import BETTER, WORSE
from analysis.intervals import Estimate
from analysis.own_question._numbers import CategoryReport, ClassifierNumbers

MOST_MATRICES = 12  # of reviewers or classifiers; the JSON has all


def document(report: CategoryReport) -> Document:
    """Build the document of a report."""
    study = report.study
    interim = (
        f"This is an interim report. The study is {study.get('state')} and not unblinded, so the numbers will change."
        if study.get("interim")
        else ""
    )
    notes = tuple(Paragraph(note, "note") for note in report.notes)
    sections = (
        Section("In short", (Bullets(tuple(_in_short(report))), *notes)),
        Section("Question", tuple(_question(report))),
        Section("Agreement of the reviewers", tuple(_agreement(report))),
        Section("Reviewers", tuple(_reviewers(report))),
        Section("Consensus", tuple(_consensus(report))),
        Section("Classifiers against the majority rule", tuple(_classifiers(report))),
        Section("Parameters and provenance", tuple(_provenance(report))),
    )
    name, text = str(study.get("name") or "Agreement report"), str(study.get("question", ""))
    cleaned: Document = clean(Document(name, text, interim, sections))
    return cleaned


def _level(report: CategoryReport) -> str:
    return f"{100 * report.level:g} % CI"


def _with_limits(value: Estimate, level: str, *, as_percent: bool = True) -> str:
    write = percent if as_percent else number
    if value.low is None or value.high is None:
        return str(write(value.value))
    return f"{write(value.value)} ({level} {write(value.low)} to {write(value.high)})"


def _in_short(report: CategoryReport) -> Iterator[str]:
    level = _level(report)
    if report.percent.value is None:
        yield f"Agreement is undefined: {report.percent.reason}."
        return
    yield (
        f"All reviewers of an item agree on {report.n_agreed} of {counted(report.n_items_with_two_labels, 'item')}; "
        f"two reviewers of one item agree in {_with_limits(report.percent, level)}."
    )
    kappa = report.coefficients[0].value
    if kappa.value is None:
        yield f"Fleiss' kappa is undefined: {kappa.reason}."
    else:
        is_more = kappa.low is not None and kappa.low > 0
        than = "more than chance would give" if is_more else "not shown to be more than chance would give"
        yield f"This is {than}: Fleiss' kappa is {_with_limits(kappa, level, as_percent=False)}."
    used = [row for row in report.categories if row.n_labels]
    unused = [row.category for row in report.categories if not row.n_labels]
    if unused:
        yield f"No reviewer used {' or '.join(unused)}, so nothing can be said about {_these(len(unused))}."
    known = [row for row in used if row.agreement.value is not None]
    if len(known) > 1:
        best, worst = (choose(known, key=lambda row: row.agreement.value or 0) for choose in (max, min))
        yield (
            f"Reviewers agree most on {best.category} (specific agreement {percent(best.agreement.value)}) and least "
            f"on {worst.category} ({percent(worst.agreement.value)})."
        )
    for verdict, words in ((BETTER, "more often right than"), (WORSE, "less often right than")):
        names = [row.classifier for row in report.classifiers if row.verdict == verdict]
        if names:
            verb = "is" if len(names) == 1 else "are"
            yield f"{', '.join(names)} {verb} {words} the majority rule on the agreed items."
    others = [row for row in report.classifiers if row.verdict not in (BETTER, WORSE)]
    if others:
        yield f"{counted(len(others), 'classifier')} cannot be told from the majority rule."


def _these(n: int) -> str:
    return "this category" if n == 1 else "these categories"


def _question(report: CategoryReport) -> Iterator[Block]:
    level = _level(report)
    order = "The categories form a scale, in this order." if report.ordered else "The categories have no order."
    yield table(
        f"The categories and what reviewers were told they mean. {order} Specific agreement is the probability that a "
        "second label is this category if the first label is.",
        ("Category", "Meaning", "Labels", f"Specific agreement ({level})"),
        [(row.category, row.meaning, row.n_labels, share(row.agreement)) for row in report.categories],
        numeric=(2,), name="categories",
    )  # fmt: skip


def _agreement(report: CategoryReport) -> Iterator[Block]:
    level = _level(report)
    rows = [("Percent agreement", "", share(report.percent))]
    rows += [(row.name, row.weights, plain_number(row.value)) for row in report.coefficients]
    yield table(
        f"Agreement on {counted(report.n_items_with_two_labels, 'item')} with at least two first labels.",
        ("Coefficient", "Weights", f"Value ({level})"), rows, name="coefficients",
    )  # fmt: skip
    if report.pairs:
        yield table(
            "Agreement of each pair of reviewers on the items that both labelled.",
            ("Pair", "Items", "Agreed", f"Agreement ({level})", f"Cohen's kappa ({level})"),
            [(f"{row.a} – {row.b}", row.n, row.agree, share(row.percent), plain_number(row.cohen_kappa))
             for row in report.pairs],
            numeric=(1, 2), name="pairs",
        )  # fmt: skip
    else:
        yield Paragraph("No two reviewers have labelled the same item yet.")


def _reviewers(report: CategoryReport) -> Iterator[Block]:
    names, level = report.names, _level(report)
    if report.reviewers:
        yield table(
            "Share of each category among the first labels of each reviewer, and agreement with the reviewer's own "
            "second label of the same item.",
            ("Reviewer", "Labels", *names, "Retests", f"Same again ({level})"),
            [(row.reviewer, row.n, *(percent(row.shares[name]) for name in names), row.n_retests, share(row.retest))
             for row in report.reviewers],
            numeric=tuple(range(1, len(names) + 3)), name="reviewers",
        )  # fmt: skip
    yield Paragraph(f"Dawid and Skene's model of reviewers' errors: {report.truth.words}")
    for row in report.truth.errors[:MOST_MATRICES]:
        yield table(
            f"How often {row.reviewer} gives each category (columns) if the true category is that of the row, as the "
            f"model estimates it from {counted(row.n, 'label')}.",
            ("True category", *names),
            [(name, *map(percent, shares)) for name, shares in zip(names, row.rows, strict=True)],
            numeric=tuple(range(1, len(names) + 1)),
        )  # fmt: skip


def _consensus(report: CategoryReport) -> Iterator[Block]:
    n_other = report.n_items - report.n_agreed - report.n_split
    yield Paragraph(
        f"Agreed items (at least two first labels, all equal): {report.n_agreed} of {report.n_items}. Split items: "
        f"{report.n_split}. Items with fewer than two first labels: {n_other}. Decisions on split items: "
        f"{report.n_adjudicated}. An item with a tie stays undecided."
    )
    prevalence = report.truth.prevalence or (None,) * len(report.names)
    yield table(
        "Items by category: of the agreed items, of the majority of first and third labels with decisions, and by "
        "the model of reviewers' errors.",
        ("Category", "Agreed", "Majority or decision", "Share by the model"),
        [(row.category, row.n_agreed, row.n_majority, None if value is None else percent(value))
         for row, value in zip(report.categories, prevalence, strict=True)],
        numeric=(1, 2, 3), name="consensus",
    )  # fmt: skip


def _classifiers(report: CategoryReport) -> Iterator[Block]:
    level = _level(report)
    scored = [row for row in report.classifiers if row.result.n]
    if not scored:
        yield Paragraph(
            "No agreed item has a verdict yet." if report.classifiers else "The study has no verdicts. Import a file "
            "of verdicts: labeler verdicts --import FILE"
        )  # fmt: skip
        return
    first = scored[0].result.baseline
    yield table(
        f"Each classifier on the agreed items. The majority rule gives every item the most frequent category; for the "
        f"first classifier's items this is {first.category}. p belongs to McNemar's test of equal accuracy, corrected "
        "by Holm's method. Balanced accuracy is the mean recall of the categories.",
        ("Classifier", "Items", f"Accuracy ({level})", f"Balanced accuracy ({level})", "Correlation (MCC)",
         *(("Weighted kappa",) if report.ordered else ()), "Majority rule", f"Difference ({level})", "p", "Verdict"),
        [_classifier_row(report, row) for row in scored], numeric=(1,), name="classifiers",
    )  # fmt: skip
    yield table(
        "Recall is the share of the items of a category that get this verdict, and precision the share of these "
        "verdicts that are right.",
        ("Classifier", "Category", f"Recall ({level})", f"Precision ({level})"),
        [(row.classifier, rates.category, share(rates.recall), share(rates.precision))
         for row in scored for rates in row.result.by_category], name="recall-precision",
    )  # fmt: skip
    for row in scored[:MOST_MATRICES]:
        names = row.result.categories
        yield table(
            f"Items by consensus (rows) and verdict of {row.classifier} (columns).", ("Consensus", *names),
            [(name, *counts) for name, counts in zip(names, row.result.table, strict=True)],
            numeric=tuple(range(1, len(names) + 1)),
        )  # fmt: skip
    if report.comparisons:
        yield table(
            "Pairs of classifiers on the same agreed items: difference of accuracy, and McNemar's test, corrected by "
            "Holm's method.",
            ("Classifiers", "Items", f"Difference ({level})", "p"),
            [(f"{row.a} – {row.b}", row.n, plain_number(row.difference), p_value(row.p_holm))
             for row in report.comparisons], numeric=(1, 3), name="comparisons",
        )  # fmt: skip


def _classifier_row(report: CategoryReport, row: ClassifierNumbers) -> tuple[object, ...]:
    result = row.result
    kappa = result.weighted_kappa
    weighted = () if not report.ordered or kappa is None else (plain_number(kappa),)
    return (
        row.classifier, result.n, share(result.accuracy), share(result.balanced_accuracy), plain_number(result.mcc),
        *weighted, percent(result.baseline.accuracy.value), plain_number(result.baseline.difference),
        p_value(row.p_holm), row.verdict,
    )  # fmt: skip


def _provenance(report: CategoryReport) -> Iterator[Block]:
    settings = {"level": report.level, "random seed": report.seed, "resamples": report.n_draws}
    parts = {
        "Study": report.study, "Parameters": {**settings, **report.parameters}, "Plan": report.plan or {},
        "Hashes (SHA-256)": report.hashes, "Versions": report.versions,
    }  # fmt: skip
    rows = [(title, readable_name(name), describe_value(value)) for title, part in parts.items()
            for name, value in part.items()]  # fmt: skip
    yield table("Where the numbers of this report come from.", ("Part", "Name", "Value"), rows, name="provenance")
