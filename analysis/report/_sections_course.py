"""Build the sections on how a study proceeded: its steps, people, excluded items and calibration round."""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.document import Block, Paragraph, Section, percent, table
from analysis.report._wording import level_of, plain_number, share, stat_table

Content = Mapping[str, Any]


def course_sections(content: Content) -> Iterator[Section]:
    """Yield the sections on how the study proceeded; yield nothing if the report is not about a study."""
    course = content.get("course")
    if course:
        yield Section("Course of the study", tuple(_course(course, interim=content["study"]["interim"])))
        if course["calibration"]:
            yield Section("Calibration round", tuple(_calibration(course["calibration"], level_of(content))))
        if course.get("selection"):  # reports of earlier versions lack this
            yield Section("Random and chosen items", tuple(_selection(course["selection"], level_of(content))))


def unblinded_in_words(content: Content) -> str:
    """Describe when, by whom and why the study was unblinded.

    Return "" if the study was not unblinded, or if the report is not about a study.
    """
    unblinded = (content.get("course") or {}).get("unblinded")
    if not unblinded:
        return ""
    return f"The study was unblinded on {_day(unblinded['at_utc'])} by {unblinded['by']}: {unblinded['why']}"


def _course(course: Content, *, interim: bool) -> Iterator[Block]:
    if course["steps"]:
        rows = [(_day(row["at_utc"]), row["step"], row["by"], row["why"]) for row in course["steps"]]
        yield table("Steps of the study, each with its reason.", ("Day", "Step", "By", "Why"), rows)
    else:
        yield Paragraph("The study has not moved to another step since its plan was created.")
    if course["people"]:
        people = [
            (_day(row["at_utc"]), row["change"], row.get("name", ""), row.get("successor", ""), row.get("why", ""))
            for row in course["people"]
        ]
        yield table("Changes of reviewers.", ("Day", "Change", "Reviewer", "Successor", "Why"), people)
    if course["changed_pairs"]:
        pairs = [(row["a"], row["b"], row["items"]) for row in course["changed_pairs"]]
        words = "Pairs that share items although the plan did not intend it: one reviewer took over items of another."
        yield table(words, ("Reviewer", "Reviewer", "Items"), pairs, numeric=(2,))
    if course.get("flags"):  # reports of earlier versions lack this
        named = not interim
        flags = [
            (*([row["item"]] if named else []), row["code"], row["reviewer"], "yes" if row["flag"] else "",
             row["comment"])
            for row in course["flags"]
        ]  # fmt: skip
        words = "Flags and comments of reviewers. The code is the name that this reviewer saw for the item."
        header = ("Item", "Code", "Reviewer", "Flag", "Comment")
        yield table(words, header if named else header[1:], flags)
    if course["excluded"]:
        excluded = [(row["item"], row["why"]) for row in course["excluded"]]
        yield table(
            "Excluded items. They stay in the study, but no number of the report uses them.", ("Item", "Why"), excluded
        )


def _calibration(round_: Content, level: str) -> Iterator[Block]:
    gate = round_["gate"]
    words = f"Before the study, every reviewer labelled {round_['n_items']} items. "
    words += "Other sections of this report do not use these items. "
    words += f"Reviewers agreed on {percent(round_['percent']['value'])} of the pairs of labels"
    words += f" ({round_['percent']['reason']})." if round_["percent"]["value"] is None else "."
    if gate:
        on = "agreement with the reference labels" if gate["on"] == "reference" else "agreement between reviewers"
        words += f" To pass, the {on} had to be at least {percent(gate['least'])}."
    words += (
        " The round passed."
        if not round_["not_passed"]
        else f" The round did not pass: {'; '.join(round_['not_passed'])}."
    )
    yield Paragraph(words)
    yield stat_table(
        "calibration",
        f"Agreement with the {round_['n_reference']} reference labels.",
        ("Reviewer", "Labelled", "Assigned", f"Agreement with the reference ({level})"),
        [
            (row["reviewer"], row["n_done"], row["n_assigned"], share(row["with_reference"]))
            for row in round_["reviewers"]
        ],
        numeric=(1, 2),
    )
    between = (("percent agreement", share(round_["percent"])), ("Fleiss' kappa", plain_number(round_["kappa"])))
    yield stat_table(
        "calibration-agreement", "Agreement between the reviewers.", ("Measure", f"Value ({level})"), between
    )


def _selection(selection: Content, level: str) -> Iterator[Block]:
    weighted = selection["weighted"]
    yield Paragraph(
        f"{selection['n_chosen']} items were not drawn at random, but chosen because classifiers disagreed on them and "
        "a model was uncertain. The labels of chosen items would bias agreement and shares. This table lists which "
        "labels each result uses."
    )
    random = f"{selection['n_random']} random items", selection["n_random_labels"]
    both = f"{selection['n_random'] + selection['n_chosen']} random and chosen items", selection["n_labels"]
    two = f"{weighted['n_items']} random and chosen items with two labels, weighted", weighted["n_labels"]
    yield table(
        "Which first labels each result uses.",
        ("Result", "Items", "Labels"),
        [
            ("All other sections of this report", *random),
            ("The weighted estimates below", *two),
            ("labeler learn", *both),
        ],
        numeric=(2,),
    )
    values = (
        ("Share of dissimilar labels", share(weighted["share"])),
        ("Percent agreement", share(weighted["percent"])),
        ("Fleiss' kappa", plain_number(weighted["kappa"])),
    )
    words = f"Weighted estimates that represent all {selection['n_population']} items of the study."
    yield stat_table("selection", words, ("Measure", f"Value ({level})"), values)
    yield Paragraph(
        "Each label is weighted by the inverse of the probability that its item was labelled (Farquhar et al. 2021), "
        "so that random and chosen items together represent all items. "
        f"{weighted['n_without']} items have no weight yet, because no random item was drawn after they were chosen."
    )


def _day(at_utc: str) -> str:
    return f"{at_utc[:16].replace('T', ' ')} UTC"
