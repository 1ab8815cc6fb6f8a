"""Every number of a report -> its sections in words and tables."""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.classifiers import classifier_named
from analysis.document import (
    Block,
    Bullets,
    Document,
    Paragraph,
    Section,
    Table,
    clean,
    first_rows,
    number,
    p_value,
    percent,
    table,
    value_in_words,
    words,
)
from analysis.report._methods import methods
from analysis.report._sections_agreement import agreement_sections
from analysis.report._sections_classifiers import classifier_sections
from analysis.report._sections_course import course_sections, unblinded_in_words
from analysis.report._wording import estimate, interval

Content = Mapping[str, Any]

TESTED = {"reviewers": "reviewers", "with_classifiers": "reviewers and classifiers together"}


def document(content: Content) -> Document:
    """The report in sections.

    Parameters
    ----------
    content : mapping
        What `summarise` returned, or the same read back from JSON.
    """
    content = clean(content)
    study = content["study"]
    notes = tuple(Paragraph(note, "note") for note in content["notes"])
    sections = (
        Section("In short", (Bullets(tuple(in_short(content))), *notes)),
        *_published(content),
        *agreement_sections(content),
        Section("Consensus and what was dropped", tuple(_consensus(content))),
        Section("Latent class", tuple(_latent(content["consensus"]["latent"]))),
        *classifier_sections(content),
        *course_sections(content),
        Section("Methods", (Paragraph(methods(content)),)),
        Section("Parameters and provenance", tuple(_provenance(content))),
    )
    interim = f"Interim: the study is {study['state']}, not unblinded. Numbers will change." if study["interim"] else ""
    return Document(study["name"] or "Agreement report", study["question"], interim, sections)


def _published(content: Content) -> Iterator[Section]:
    """Numbers that were printed elsewhere beside ours, where the report has some."""
    if content.get("published"):
        rows = [
            (row["where"], row["what"], row["paper"], row["ours"], "yes" if row["agrees"] else "NO", row["note"])
            for row in content["published"]
        ]
        comparison = table("Rounded as printed.", ("Where", "What", "Published", "Ours", "Agrees", "Note"), rows)
        yield Section("Published numbers beside ours", (comparison,))


def in_short(content: Content) -> list[str]:
    """The report in a few sentences."""
    sentences = [_agreement_in_words(content), _kappa_in_words(content["agreement"]["fleiss_kappa"])]
    sentences += [_classifier_in_words(name, row) for name, row in content["classifiers"].items()]
    sentences.append(unblinded_in_words(content))
    return [sentence for sentence in sentences if sentence]


def _agreement_in_words(content: Content) -> str:
    share, decided = content["agreement"]["percent"], content["consensus"]
    if share["value"] is None:
        return f"Agreement cannot be computed yet: {share['reason']}."
    n_two = content["agreement"]["n_items_with_two_labels"]
    return (
        f"Reviewers agree on {decided['agreed']} of {n_two} items with two or more labels: "
        f"{decided['agreed_dissimilar']} dissimilar, {decided['agreed_similar']} similar. "
        f"Overall agreement is {percent(share['value'])} ({interval(share)})."
    )


def _kappa_in_words(kappa: Content) -> str:
    if kappa["value"] is None:
        return f"Fleiss' kappa is undefined: {kappa['reason']}."
    text = f"Corrected for chance, Fleiss' kappa is {number(kappa['value'])}"
    if kappa["low"] is None:
        return f"{text} ({kappa['reason']})."
    low, high = kappa["band_low"], kappa["band_high"]
    bands = f"“{low}”" if low == high else f"from “{low}” to “{high}”"
    return f"{text} (interval {interval(kappa, as_percent=False)}), which is {bands} in the words of Landis and Koch."


def _classifier_in_words(name: str, row: Content) -> str:
    if not row["n"]:
        return ""
    cells, accuracy, baseline = (
        row["confusion"],
        row["accuracy"]["value"],
        row["always_dissimilar"]["accuracy"]["value"],
    )
    known = classifier_named(name)
    title = known.title if known else name
    n_dissimilar, n_similar = cells["tp"] + cells["fn"], cells["tn"] + cells["fp"]
    return (
        f"On {row['n']} agreed items, {title} calls {cells['tp']} of {n_dissimilar} dissimilar items "
        f"dissimilar (sensitivity {percent(row['sensitivity']['value'])}) and {cells['tn']} of "
        f"{n_similar} similar items similar (specificity {percent(row['specificity']['value'])}). "
        f"Its accuracy, {percent(accuracy)}, is {'below' if accuracy < baseline else 'not below'} that of calling "
        f"everything dissimilar, {percent(baseline)}."
    )


def _consensus(content: Content) -> Iterator[Block]:
    decided = content["consensus"]
    yield Paragraph(
        f"Consensus is {decided['rule']}. Of {decided['n_items']} items, {decided['agreed']} are agreed "
        f"({decided['agreed_dissimilar']} dissimilar, {decided['agreed_similar']} similar), {decided['split']} are "
        f"split and {decided['incomplete']} have fewer than two first labels. Only agreed items enter the confusion "
        "matrices: what reviewers disagree on is not scored, and those items are hardly the easy ones."
    )
    yield Paragraph(_majority_in_words(decided["majority"]))
    if len(decided["by_n_labels"]) > 1:
        yield table(
            "Agreed items by number of labels: more reviewers agree less often.",
            ("Labels", "Items", "Agreed"),
            [(row["n_labels"], row["n"], estimate(row["agreed"])) for row in decided["by_n_labels"]],
            numeric=(0, 1),
        )
    left_out = ", ".join(f"{n} {words(name)}" for name, n in content["left_out"].items())
    yield Paragraph(f"Answers that do not enter the tables: {left_out}.")


def _majority_in_words(majority: Content) -> str:
    if not majority["n_third_labels"] and not majority["adjudicated"]:
        return "There are no third labels and no decisions yet: the adjudicated majority is that of the first labels."
    return (
        f"With {majority['n_third_labels']} third labels and {majority['adjudicated']} decisions, the adjudicated "
        f"majority has {majority['n_dissimilar']} dissimilar and {majority['n_similar']} similar items; "
        f"{majority['split']} are still split and {majority['incomplete']} incomplete."
    )


def _latent(latent: Content) -> Iterator[Block]:
    """What a model of hidden categories and fallible reviewers can tell, and what it cannot."""
    identifiability = latent["identifiability"]
    yield Paragraph(
        "A latent class model asks what each item would be if reviewers made errors at rates of their own. "
        f"{_sentence(identifiability['words'])}"
    )
    if identifiability["remedies"]:
        yield Paragraph(f"What would fix it, each alone: {'; '.join(identifiability['remedies'])}.")
    if "reviewers" not in latent:
        yield Paragraph("The model was not fitted: the report was made without resampling.", "note")
        return
    if identifiability["identified"]:
        yield Paragraph(f"Share of dissimilar items: {estimate(latent['prevalence'])}.")
        yield table(
            f"How often each reviewer is right, with {round(100 * latent['level'])} % credible intervals.",
            ("Reviewer", "Items", "On dissimilar items", "On similar items"),
            [(row["rater"], row["n"], estimate(row["sensitivity"]), estimate(row["specificity"]))
             for row in latent["reviewers"]],
            numeric=(1,),
        )  # fmt: skip
    for name, test in latent["misfit"].items():
        p = "" if test["p"] is None else f" (p = {p_value(test['p'])}, {test['n_draws']} draws)"
        yield Paragraph(f"Does the model fit the {TESTED[name]}{p}? {_sentence(test['words'])}")
    yield from _undecided(latent)


def _undecided(latent: Content) -> Iterator[Block]:
    undecided = latent["undecided"]
    if not latent["identifiability"]["identified"] or not undecided:
        return
    yield first_rows(
        f"{len(undecided)} items that the reviewers' labels leave undecided: the probability of dissimilar is between "
        "0.1 and 0.9.",
        ("Item", "Probability of dissimilar"),
        [(row["item"], number(row["posterior"], 2)) for row in undecided],
        numeric=(1,),
    )


def _sentence(text: str) -> str:
    """Words of a result as a sentence."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


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
    yield table("Where the numbers come from.", ("", "", ""), rows)


def _registry(kind: str, rows: Content) -> Table:
    flags = list(next(iter(rows.values())))
    return table(
        f"{kind.capitalize()} and what holds of them.",
        (kind.capitalize()[:-1], *map(words, flags)),
        [(name, *(value_in_words(row[flag]) for flag in flags)) for name, row in rows.items()],
    )
