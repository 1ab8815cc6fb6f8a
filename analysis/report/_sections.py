"""Every number of a report -> two pages that everyone reads, and an appendix with everything else."""

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


def document(content: Content) -> Document:
    """The report in sections.

    Parameters
    ----------
    content : mapping
        What `summarise` returned, or the same read back from JSON.
    """
    content = clean(content)
    study = content["study"]
    interim = f"Interim: the study is {study['state']}, not unblinded. Numbers will change." if study["interim"] else ""
    notes = tuple(Paragraph(note, "note") for note in content["notes"])
    sections = (
        Section("In short", (Bullets(tuple(in_short(content))), *notes)),
        Section("Classifiers beside the majority rule", tuple(_classifiers(content))),
        Section("Agreement of the reviewers", tuple(_agreement(content))),
        Section("Methods", (Paragraph(methods(content)),)),
    )
    appendix = (
        *_published(content),
        *agreement_sections(content),
        *consensus_sections(content),
        *classifier_sections(content),
        *course_sections(content),
        *(habit_sections(habits_of(content["reviewers_follow"])) if "reviewers_follow" in content else ()),
        Section("Parameters and provenance", tuple(_provenance(content))),
        *checklist_sections(content),
    )
    return Document(study["name"] or "Agreement report", study["question"], interim, sections, appendix=appendix)


def in_short(content: Content) -> list[str]:
    """The report in a few sentences."""
    sentences = [_agreement_in_words(content), _kappa_in_words(content)]
    sentences += [_classifier_in_words(name, row, content) for name, row in content["classifiers"].items()]
    sentences += [_dropped_in_words(content), _model_in_words(content), unblinded_in_words(content)]
    return [text for text in sentences if text]


def _agreement_in_words(content: Content) -> str:
    value, decided = content["agreement"]["percent"], content["consensus"]
    if value["value"] is None:
        return f"Agreement cannot be computed yet: {value['reason']}."
    n_two = content["agreement"]["n_items_with_two_labels"]
    limits = interval(value)
    return (
        f"Reviewers agree on {decided['agreed']} of {n_two} items with two or more labels: "
        f"{decided['agreed_dissimilar']} dissimilar, {decided['agreed_similar']} similar. "
        f"Overall agreement is {percent(value['value'])}{f' ({level_of(content)} {limits})' if limits else ''}."
    )


def _kappa_in_words(content: Content) -> str:
    kappa = content["agreement"]["fleiss_kappa"]
    if kappa["value"] is None:
        return f"Fleiss' kappa is undefined: {kappa['reason']}."
    text = f"Corrected for chance, Fleiss' kappa is {number(kappa['value'])}"
    if kappa["low"] is None:
        return f"{text}; it has no interval ({kappa['reason']})."
    low, high = kappa["band_low"], kappa["band_high"]
    bands = f"“{low}”" if low == high else f"from “{low}” to “{high}”"
    limits = interval(kappa, as_percent=False)
    return f"{text} ({level_of(content)} {limits}), which is {bands} in the words of Landis and Koch."


def _classifier_in_words(name: str, row: Content, content: Content) -> str:
    """A classifier against the majority rule."""
    if not row["n"]:
        return ""
    rule = row["baseline"]
    start = (
        f"{row_title(name)} is right on {percent(row['accuracy']['value'])} of {row['n']} agreed items; calling every "
        f"item {rule['category']} is right on {percent(rule['accuracy']['value'])}."
    )
    outcome = {
        "better": "It is better than this majority rule",
        "worse": "It is worse than this majority rule",
        "cannot tell": "These items cannot tell whether it is better or worse",
    }[rule["verdict"]]
    points = number(100 * rule["difference"]["value"], 1)
    limits = interval(rule["difference"]).removesuffix(" %")
    holm = ", Holm" if len(content["classifiers"]) > 1 else ""
    return (
        f"{start} {outcome} (difference {points} percentage points, {level_of(content)} {limits}; "
        f"{p_in_words(rule['p_holm'])}{holm})."
    )


def _dropped_in_words(content: Content) -> str:
    decided = content["consensus"]
    n_two = decided["agreed"] + decided["split"]
    if not decided["split"]:
        return ""
    text = f"{decided['split']} of {n_two} items ({percent(decided['split'] / n_two)}) are split and not scored"
    scored = [(name, row) for name, row in content["classifiers"].items() if row["n"]]
    if not scored:
        return f"{text}."
    name, row = scored[0]
    worst, best = (row["bounds"]["accuracy"][end]["value"] for end in ("worst", "best"))
    more = "; the appendix has the others. " if len(scored) > 1 else ". "
    return (
        f"{text}. Depending on what they are, the accuracy of {title_of(name)} over all items is anywhere from "
        f"{percent(worst)} to {percent(best)}{more}"
    ).strip()


def _model_in_words(content: Content) -> str:
    """What cannot be known, or how far the latent class model may be believed."""
    latent = content["consensus"]["latent"]
    judged = latent.get("state")
    if judged is None:
        if latent["identifiability"]["identified"]:
            return "How often each reviewer is right was not estimated: the report was made without resampling."
        return f"What cannot be known: how often each reviewer is right. {sentence(latent['identifiability']['words'])}"
    start = {
        "fits": "A model of reviewers' errors fits",
        "rejected": "A model in which reviewers err independently is rejected",
        "untestable": "What cannot be known: whether reviewers err independently",
        "weak": "A model of reviewers' errors is weak",
        "not identified": "What cannot be known: how often each reviewer is right",
    }[judged["state"]]
    end = ""
    if judged["state"] == "rejected" and not content["parameters"].get("show_rejected"):
        end = f" Its numbers are withheld. What would help: {'; '.join(judged['remedies'])}."
    reason = judged["words"].removeprefix("not identified: ").removesuffix(".")
    return f"{start}: {reason}.{end}" if judged["state"] != "not identified" else f"{start}. {sentence(reason)}"


def _classifiers(content: Content) -> Iterator[Block]:
    rows = [(name, row) for name, row in content["classifiers"].items() if row["n"]]
    if not content["classifiers"]:
        yield Paragraph("There are no verdicts. Compute them, or give a file of verdicts.")
        return
    if not rows:
        yield Paragraph("No agreed item has a verdict of a classifier yet.")
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
        "Classifiers on the agreed items; the positive category is dissimilar. The last column compares the accuracy "
        "with that of the majority rule on the same items (McNemar, mid-p, Holm's correction). The rates of the "
        "majority rule are fixed by construction.",
        ("Classifier", "Items", f"Sensitivity ({level})", f"Specificity ({level})", f"Accuracy ({level})",
         f"MCC ({level})", f"AUC ({level})", "Against the majority rule"),
        cells,
        numeric=(1,),
    )  # fmt: skip


def _figure_caption(content: Content) -> str:
    return f"Rates of each classifier with {level_of(content)}s. Grey: accuracy of the majority rule."


def _agreement(content: Content) -> Iterator[Block]:
    if content["agreement"]["pairs"]:
        yield Figure(
            "pair-agreement", f"Agreement of each pair with its {level_of(content)}; dashed: overall agreement."
        )
    else:
        yield Paragraph("No two reviewers have labelled an item in common yet.")


def _published(content: Content) -> Iterator[Section]:
    """Numbers that were printed elsewhere beside ours, where the report has some."""
    if content.get("published"):
        rows = [
            (row["where"], row["what"], row["paper"], row["ours"], "yes" if row["agrees"] else "NO", row["note"])
            for row in content["published"]
        ]
        header = ("Where", "What", "Published", "Ours", "Agrees", "Note")
        yield Section("Published numbers beside ours", (stat_table("published", "Rounded as printed.", header, rows),))


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
    yield stat_table("provenance", "Where the numbers come from.", ("", "", ""), rows)


def _registry(kind: str, rows: Content) -> Table:
    flags = list(next(iter(rows.values())))
    return table(
        f"{kind.capitalize()} and their properties.",
        (kind.capitalize()[:-1], *map(words, flags)),
        [(name, *(value_in_words(row[flag]) for flag in flags)) for name, row in rows.items()],
    )
