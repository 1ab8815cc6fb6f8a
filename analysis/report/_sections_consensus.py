"""Build the sections on the consensus of the items, the items left out, and the latent class model."""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.document import (
    Block,
    Figure,
    Paragraph,
    Section,
    Table,
    counted,
    first_rows,
    number,
    p_value,
    percent,
    words,
)
from analysis.report._of_consensus import CHOSEN
from analysis.report._wording import (
    Marked,
    estimate,
    level_of,
    model_of,
    row_title,
    sentence,
    share,
    stat_table,
    title_of,
)

Content = Mapping[str, Any]

MOST_DEPENDENT = 10  # maximum number of models of dependent errors in the table
NO_STRENGTH = 0.01  # dependence weaker than this counts as independence


def consensus_sections(content: Content) -> tuple[Section, ...]:
    """Build the sections on consensus and the latent class model."""
    return (
        Section("Consensus and items left out", tuple(_consensus(content))),
        Section("Latent class", tuple(_latent(content))),
    )


def _consensus(content: Content) -> Iterator[Block]:
    decided = content["consensus"]
    yield Paragraph(
        f"Rule for the consensus: {decided['rule']}. Of {decided['n_items']} items, {decided['agreed']} are agreed "
        f"({decided['agreed_dissimilar']} dissimilar, {decided['agreed_similar']} similar), {decided['split']} are "
        f"split and {decided['incomplete']} have fewer than two first labels. Only agreed items enter the confusion "
        "matrices. Split items are not scored, although they are usually harder than the agreed items."
    )
    yield Paragraph(_majority_in_words(decided["majority"]))
    if len(decided["by_n_labels"]) > 1:
        yield stat_table(
            "agreed-by-labels",
            "Share of agreed items by number of labels. The more reviewers label an item, the rarer is full agreement.",
            ("Labels", "Items", f"Agreed ({level_of(content)})"),
            [(row["n_labels"], row["n"], share(row["agreed"])) for row in decided["by_n_labels"]],
            numeric=(0, 1),
        )
    left_out = ", ".join(f"{n} {words(name)}" for name, n in content["left_out"].items())
    yield Paragraph(f"Answers left out of the tables: {left_out}.")


def _majority_in_words(majority: Content) -> str:
    if not majority["n_third_labels"] and not majority["adjudicated"]:
        return "There are no third labels and no adjudications yet, so the adjudicated majority uses first labels only."
    return (
        f"With {majority['n_third_labels']} third labels and {majority['adjudicated']} adjudications, the adjudicated "
        f"majority has {majority['n_dissimilar']} dissimilar and {majority['n_similar']} similar items; "
        f"{majority['split']} items are still split and {majority['incomplete']} are incomplete."
    )


def _latent(content: Content) -> Iterator[Block]:
    """Describe what the latent class model can estimate, and what it cannot."""
    latent = content["consensus"]["latent"]
    identifiability = latent["identifiability"]
    yield Paragraph(
        "A latent class model estimates the true category of each item and the error rates of each reviewer. "
        f"{sentence(identifiability['words'])}"
    )
    if identifiability["remedies"]:
        yield Paragraph(
            f"Each of these changes alone would make the model identifiable: {'; '.join(identifiability['remedies'])}."
        )
    if latent.get("state", {}).get("state") == "not identified":
        return
    if "state" not in latent:
        yield Paragraph("The model was not fitted because resampling was turned off for this report.", "note")
        return
    yield from _state(content)
    yield _fit(latent["misfit"])
    if identifiability["identified"]:
        yield from _rates(content)
        yield from _dependence(content)
    if not content["study"]["interim"]:  # the table names items
        yield from _undecided(latent)


def _fit(tests: Content) -> Table:
    """Build a table of the tests of fit for the reviewers alone, and for the reviewers with each classifier."""
    all_tests = {"reviewers": tests["reviewers"], **tests["with_classifier"]}
    rows = [
        (_raters(name), p_value(test["p"]), percent(test.get("power")), _outcome(test))
        for name, test in all_tests.items()
    ]
    return stat_table(
        "fit",
        "Tests whether the model fits, that is, whether raters make errors independently. Power is the probability "
        "that the test detects a rater who copies three of four labels of another rater. If the power is low, a test "
        "that finds no dependence means little.",
        ("Labels of", "p", "Power", "Result"),
        rows,
        (1, 2),
    )


def _outcome(test: Content) -> Marked:
    """Return the result of a test of fit with an explanation for a note, but without the power of the test."""
    words = str(test["words"]).partition(";")[0]
    result = "not tested" if test["p"] is None else "no sign" if words.startswith("no sign") else "rejected"
    return Marked(result, words.removesuffix("."))


def _state(content: Content) -> Iterator[Block]:
    judged, shows = content["consensus"]["latent"]["state"], content["parameters"].get("show_rejected")
    text = f"Status of the model: {judged['state']}. {sentence(judged['words'])}"
    if judged["state"] == "rejected":
        text += (
            " The numbers of this model are shown because they were requested; do not trust them."
            if shows
            else (" The numbers of this model are withheld. To see them, run labeler report --show-rejected.")
        )
    if judged["remedies"]:
        text += f" Possible remedies: {'; '.join(judged['remedies'])}."
    yield Paragraph(text, "text" if judged["state"] == "fits" else "warning")


def _rates(content: Content) -> Iterator[Block]:
    """Show the estimates of the latent class model, each with the status of the model."""
    latent = content["consensus"]["latent"]
    level = f"{100 * latent['level']:g} % credible interval"
    prevalence = latent["prevalence"]
    yield Paragraph(
        f"Share of dissimilar items ({level}): {estimate(prevalence)}. Model: {prevalence['state']}."
        if prevalence["value"] is not None
        else f"Share of dissimilar items: {prevalence['reason']}."
    )
    yield stat_table(
        "reviewer-rates",
        f"Share of right labels of each reviewer with its {level}, as the model estimates them.",
        ("Reviewer", "Items", f"On dissimilar items ({level})", f"On similar items ({level})", "Model"),
        [(row["rater"], row["n"], share(row["sensitivity"]), share(row["specificity"]), model_of(row))
         for row in latent["reviewers"]],
        numeric=(1,),
    )  # fmt: skip


def _dependence(content: Content) -> Iterator[Block]:
    """Compare models of dependent errors with the model of independent errors."""
    latent, level = content["consensus"]["latent"], level_of(content)
    found = latent.get("dependence")
    if latent.get("residuals"):
        yield Figure(
            "residual-correlations",
            "Observed minus expected correlation of each pair of reviewers. The lines extend two standard errors in "
            "each direction. Above zero, the reviewers agree more often than independent errors explain.",
        )
    if not found or not found["tried"]:
        return
    fitted = [row for row in found["tried"] if row["p"] is not None and row["strength"] >= NO_STRENGTH]
    fitted = sorted(fitted, key=lambda row: float(row["p_holm"]))[:MOST_DEPENDENT]
    if fitted:
        yield stat_table(
            "dependence",
            "Models in which errors depend on each other. Strength says how strongly they depend on each other; p "
            "belongs to the likelihood ratio test of independence. Largest difference is the largest change of a "
            "prevalence or rate at the estimated strength; the last column is the largest change at any strength that "
            f"the labels do not exclude. The table shows the {len(fitted)} of {len(found['tried'])} models with the "
            "smallest p; report.json has all models.",
            ("Raters", "Model", "Strength", "p (Holm)", "Largest difference", "Largest difference not excluded"),
            [
                (_raters(row["raters_of"]), _model(row), number(row["strength"], 2), p_value(row["p_holm"]),
                 number(row["shift"], 2), number(row.get("possible_shift"), 2))
                for row in fitted
            ],
            numeric=(2, 3, 4, 5),
        )  # fmt: skip
    unknown = dict.fromkeys(_raters(row["raters_of"]) for row in found["tried"] if row["p"] is None)
    if unknown:
        yield Paragraph(
            f"These raters have too few labels to estimate how their errors depend on each other: {', '.join(unknown)}."
        )
    if found["best"]:
        yield from _best(found["best"], level)


def _best(best: Content, level: str) -> Iterator[Block]:
    yield Paragraph(
        f"If {_model(best)} ({_raters(best['raters_of'])}), {estimate(best['prevalence'])} of the items are "
        f"dissimilar ({level}). Model: {CHOSEN['state']}; {CHOSEN['state_words']}."
    )
    yield stat_table(
        "dependent-rates",
        f"Estimated share of right labels of each rater if {_model(best)}.",
        ("Rater", "Items", f"On dissimilar items ({level})", f"On similar items ({level})", "Model"),
        [
            (row_title(row["rater"]) if row["rater"] == best["raters_of"] else row["rater"], row["n"],
             share(row["sensitivity"]), share(row["specificity"]), model_of({**row, **CHOSEN}))
            for row in best["rates"]
        ],
        numeric=(1,),
    )  # fmt: skip


def _model(row: Content) -> str:
    """Describe a model of dependent errors in words; a classifier appears with its title."""
    raters = [title_of(rater) if rater == row["raters_of"] else str(rater) for rater in row["raters"]]
    return f"{' and '.join(raters)} share errors" if raters else str(row["model"])


def _state_in_words(judged: Content) -> str:
    words = str(judged["words"]).removesuffix(".")
    return words if words.startswith(judged["state"]) else f"{judged['state']}; {words}"


def _raters(name: str) -> str:
    return name if name == "reviewers" else f"reviewers with {title_of(name)}"


def _undecided(latent: Content) -> Iterator[Block]:
    undecided = latent["undecided"]
    if not latent["identifiability"]["identified"] or not undecided:
        return
    yield first_rows(
        f"{counted(len(undecided), 'item')} for which the model cannot decide, because the probability of dissimilar "
        f"is between 0.1 and 0.9. Model: {_state_in_words(latent['state'])}.",
        ("Item", "Probability of dissimilar", "Model"),
        [(row["item"], number(row["posterior"], 2), latent["state"]["state"]) for row in undecided],
        numeric=(1,),
    )
