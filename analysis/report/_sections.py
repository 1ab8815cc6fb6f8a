"""Build the document of a report from its numbers: two main pages, and an appendix with all details."""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.document import (
    Block,
    Bullets,
    Document,
    Figure,
    Paragraph,
    Section,
    Table,
    clean,
    counted,
    number,
    percent,
    table,
    value_in_words,
    words,
)
from analysis.learning import habit_sections, habits_of
from analysis.report._checklists import checklist_sections
from analysis.report._methods import methods
from analysis.report._sections_agreement import agreement_sections
from analysis.report._sections_classifiers import classifier_sections
from analysis.report._sections_consensus import consensus_sections
from analysis.report._sections_course import course_sections, unblinded_in_words
from analysis.report._wording import (
    interval,
    level_of,
    p_in_words,
    plain_number,
    row_title,
    sentence,
    share,
    stat_table,
    title_of,
)

Content = Mapping[str, Any]


def document(content: Content, *, with_pictures: bool = False) -> Document:
    """Build the document of a report.

    Parameters
    ----------
    content : mapping
        The result of `summarise`, or the same mapping read from JSON.
    with_pictures : bool
        Whether the figure `PICTURES` exists. This figure shows the items with the most disagreement.
    """
    content = clean(content)
    study = content["study"]
    interim = (
        f"This is an interim report. The study is {study['state']} and not unblinded, so the numbers will change."
        if study["interim"]
        else ""
    )
    notes = tuple(Paragraph(note, "note") for note in content["notes"])
    sections = (
        Section("In short", (Bullets(tuple(in_short(content))), *notes)),
        Section("Classifiers against the majority rule", tuple(_classifiers(content))),
        Section("Agreement of the reviewers", tuple(_agreement(content))),
        Section("Methods", (Paragraph(methods(content)),)),
    )
    appendix = (
        *_published(content),
        *agreement_sections(content, with_pictures=with_pictures),
        *consensus_sections(content),
        *classifier_sections(content),
        *course_sections(content),
        *(habit_sections(habits_of(content["reviewers_follow"])) if "reviewers_follow" in content else ()),
        Section("Parameters and provenance", tuple(_provenance(content))),
    )
    titles = [section.title for section in (*sections, *appendix)]
    appendix = (*appendix, *checklist_sections(content, titles))
    return Document(study["name"] or "Agreement report", study["question"], interim, sections, appendix=appendix)


def in_short(content: Content) -> list[str]:
    """Summarise the report in a few sentences."""
    sentences = [_agreement_in_words(content), _kappa_in_words(content)]
    sentences += _classifiers_in_words(content)
    sentences += [
        _dropped_in_words(content),
        _missing_in_words(content),
        _model_in_words(content),
        unblinded_in_words(content),
    ]
    return [text for text in sentences if text]


def _agreement_in_words(content: Content) -> str:
    value, decided = content["agreement"]["percent"], content["consensus"]
    if value["value"] is None:
        return f"It is not possible to compute agreement yet: {value['reason']}."
    n_two = content["agreement"]["n_items_with_two_labels"]
    limits = interval(value)
    return (
        f"Reviewers agree on {decided['agreed']} of the {n_two} items with two or more labels: "
        f"{decided['agreed_dissimilar']} dissimilar, {decided['agreed_similar']} similar. "
        f"Overall agreement is {percent(value['value'])}{f' ({level_of(content)} {limits})' if limits else ''}."
    )


def _kappa_in_words(content: Content) -> str:
    kappa, share_ = (content["agreement"][name] for name in ("fleiss_kappa", "percent"))
    if kappa["value"] is None and share_["value"] is None and kappa["reason"] == share_["reason"]:
        return ""
    if kappa["value"] is None:
        return f"Fleiss' kappa is undefined: {kappa['reason']}."
    text = f"Corrected for chance, Fleiss' kappa is {number(kappa['value'])}"
    if kappa["low"] is None:
        return f"{text}; it has no interval ({kappa['reason']})."
    low, high = kappa["band_low"], kappa["band_high"]
    bands = f"“{low}”" if low == high else f"from “{low}” to “{high}”"
    limits = interval(kappa, as_percent=False)
    return f"{text} ({level_of(content)} {limits}), {bands} on the scale of Landis and Koch."


def _classifiers_in_words(content: Content) -> Iterator[str]:
    """Yield sentences that compare each classifier with the majority rule.

    If several classifiers share a rule, only the first sentence describes the rule.
    """
    scored = {name: row for name, row in content["classifiers"].items() if row["n"]}
    rules = {(row["n"], row["baseline"]["category"]) for row in scored.values()}
    if len(rules) == 1 < len(scored):
        yield _rule_in_words(next(iter(scored.values())))
    for name, row in scored.items():
        before = "" if len(rules) == 1 < len(scored) else f"{_rule_in_words(row)} "
        yield f"{before}{_compared_in_words(name, row, content)}"


def _rule_in_words(row: Content) -> str:
    rule = row["baseline"]
    return (
        f"The majority rule calls every item {rule['category']}, and is right on {percent(rule['accuracy']['value'])} "
        f"of {row['n']} agreed items."
    )


def _compared_in_words(name: str, row: Content, content: Content) -> str:
    rule = row["baseline"]
    outcome = {
        "better": "better than the majority rule",
        "worse": "worse than the majority rule",
        "cannot tell": "these items cannot tell whether it is better or worse",
    }[rule["verdict"]]
    points = number(100 * rule["difference"]["value"], 1)
    limits = interval(rule["difference"]).removesuffix(" %")
    holm = ", Holm" if len(content["classifiers"]) > 1 else ""
    return (
        f"{row_title(name)} is right on {percent(row['accuracy']['value'])}: {outcome} (difference {points} percentage "
        f"points, {level_of(content)} {limits}; {p_in_words(rule['p_holm'])}{holm})."
    )


def _dropped_in_words(content: Content) -> str:
    decided = content["consensus"]
    n_two = decided["agreed"] + decided["split"]
    if not decided["split"]:
        return ""
    text = (
        f"{decided['split']} of {n_two} items ({percent(decided['split'] / n_two)}) are split and therefore not scored"
    )
    scored = [(name, row) for name, row in content["classifiers"].items() if row["n"]]
    if not scored:
        return f"{text}."
    name, row = scored[0]
    worst, best = (row["bounds"]["accuracy"][end]["value"] for end in ("worst", "best"))
    more = ". The appendix lists the other classifiers. " if len(scored) > 1 else ". "
    return (
        f"{text}. The true categories of the split items are unknown, so the accuracy of {title_of(name)} over all "
        f"items is anywhere between {percent(worst)} and {percent(best)}{more}"
    ).strip()


def _missing_in_words(content: Content) -> str:
    """Say how much the missing labels could change agreement."""
    rows = [row for row in content["agreement"].get("if_given", ()) if row["percent"]["value"] is not None]
    if not rows:
        return ""
    n = rows[0]["n"]
    values = [(percent(row["percent"]["value"]), number(row["fleiss_kappa"]["value"]), row["category"]) for row in rows]
    given = " or ".join(f"{share_} (kappa {kappa}) if all were {category}" for share_, kappa, category in values)
    return f"{counted(n, 'label')} {'is' if n == 1 else 'are'} missing. Overall agreement would be {given}."


def _model_in_words(content: Content) -> str:
    """Describe how far a reader can trust the latent class model, and what the model cannot estimate."""
    latent = content["consensus"]["latent"]
    judged = latent.get("state")
    if judged is None:
        if latent["identifiability"]["identified"]:
            return "This report does not estimate the accuracy of each reviewer because resampling was turned off."
        return f"The accuracy of each reviewer cannot be estimated. {sentence(latent['identifiability']['words'])}"
    reason = judged["words"].removeprefix("not identified: ").removesuffix(".")
    if judged["state"] == "not identified":
        return f"The accuracy of each reviewer cannot be estimated. {sentence(reason)}"
    start = {
        "fits": "The model of reviewers' errors fits",
        "rejected": "The model with independent errors of reviewers is rejected",
        "untestable": "The estimated accuracy of each reviewer is untestable",
        "weak": "The estimated accuracy of each reviewer is less certain than its interval shows",
    }[judged["state"]]
    if judged["state"] == "fits":
        return f"{start}: {reason}."
    is_withheld = judged["state"] == "rejected" and not content["parameters"].get("show_rejected")
    withheld = " The numbers of this model are withheld." if is_withheld else ""
    remedies = f" Possible remedies: {'; '.join(judged['remedies'])}." if judged["remedies"] else ""
    return f"{start}: {reason}.{withheld}{remedies} Agreement and the agreed items do not depend on this model."


def _classifiers(content: Content) -> Iterator[Block]:
    rows = [(name, row) for name, row in content["classifiers"].items() if row["n"]]
    if not content["classifiers"]:
        yield Paragraph("The study has no verdicts. Compute verdicts, or import a file of verdicts.")
        return
    if not rows:
        yield Paragraph("No agreed item has a verdict yet.")
        return
    yield _classifier_table(content, rows)
    yield Figure("classifiers", _figure_caption(content))


def _classifier_table(content: Content, rows: list[tuple[str, Content]]) -> Table:
    level = level_of(content)
    cells: list[tuple[Any, ...]] = []
    for name, row in rows:
        rule = row["baseline"]
        auc = None if row["scores"] is None else plain_number(row["scores"]["auc"])
        outcome = f"{rule['verdict']} ({p_in_words(rule['p_holm'])})"
        rates = (share(row["sensitivity"]), share(row["specificity"]), share(row["accuracy"]))
        cells.append((row_title(name), row["n"], *rates, plain_number(row["mcc"]), auc, outcome))
    rules = {(row["n"], row["baseline"]["category"], row["baseline"]["accuracy"]["value"]): row for _, row in rows}
    for (n, category, _), row in rules.items():
        rule = row["baseline"]
        fixed = [percent(rule[rate]["value"]) for rate in ("sensitivity", "specificity")]
        cells.append((f"majority rule: always {category}", n, *fixed, share(rule["accuracy"]), None, None, None))
    return stat_table(
        "classifiers",
        "Classifiers on the agreed items; the positive category is dissimilar. The last column compares accuracy "
        "with the majority rule on the same items (McNemar's mid-p test, Holm's correction). The rates of the "
        "majority rule follow from its definition.",
        ("Classifier", "Items", f"Sensitivity ({level})", f"Specificity ({level})", f"Accuracy ({level})",
         f"MCC ({level})", f"AUC ({level})", "Against the majority rule"),
        cells,
        numeric=(1,),
    )  # fmt: skip


def _figure_caption(content: Content) -> str:
    return f"Rates of each classifier with {level_of(content)}s. The grey mark is the accuracy of the majority rule."


def _agreement(content: Content) -> Iterator[Block]:
    if content["agreement"]["pairs"]:
        yield Figure(
            "pair-agreement",
            f"Agreement of each pair with its {level_of(content)}. The dashed line is the overall agreement.",
        )
    else:
        yield Paragraph("No two reviewers have labelled the same item yet.")


def _published(content: Content) -> Iterator[Section]:
    """Yield a section that compares published numbers with the report; yield nothing if there are none."""
    if content.get("published"):
        rows = [
            (row["where"], row["what"], row["paper"], row["ours"], "yes" if row["agrees"] else "NO", row["note"])
            for row in content["published"]
        ]
        header = ("Place", "Number", "Published", "This report", "Agrees", "Note")
        yield Section(
            "Published numbers and numbers of this report",
            (
                stat_table(
                    "published",
                    "The numbers of this report are rounded in the same way as the published numbers.",
                    header,
                    rows,
                ),
            ),
        )


def _provenance(content: Content) -> Iterator[Block]:
    parameters = content["parameters"]
    for kind in ("classifiers", "measures"):
        if parameters.get(kind):
            yield _registry(kind, parameters[kind])
    other_parameters = {
        name: value for name, value in parameters.items() if name not in ("classifiers", "measures", "verdicts")
    }
    parts = (
        ("Study", content["study"]),
        ("Parameters", other_parameters),
        ("Plan", content["plan"] or {}),
        ("Hashes (SHA-256)", content["hashes"]),
        ("Versions", content["versions"]),
    )
    rows = [(title, words(name), value_in_words(value)) for title, part in parts for name, value in part.items()]
    yield stat_table("provenance", "Where the numbers of this report come from.", ("Part", "Name", "Value"), rows)


def _registry(kind: str, rows: Content) -> Table:
    flags = list(next(iter(rows.values())))
    return table(
        f"{kind.capitalize()} and their properties.",
        (kind.capitalize()[:-1], *map(words, flags)),
        [(name, *(value_in_words(row[flag]) for flag in flags)) for name, row in rows.items()],
    )
