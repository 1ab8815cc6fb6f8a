"""How a study went: its steps, people and exclusions, and the calibration round, which is in no other number."""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.document import Block, Paragraph, Section, percent, table
from analysis.report._wording import level_of, plain_number, share, stat_table

Content = Mapping[str, Any]


def course_sections(content: Content) -> Iterator[Section]:
    """The section on the course of the study, where the report is one on a study."""
    course = content.get("course")
    if course:
        yield Section("Course of the study", tuple(_course(course)))
        if course["calibration"]:
            yield Section("Calibration round", tuple(_calibration(course["calibration"], level_of(content))))


def unblinded_in_words(content: Content) -> str:
    """When the study was unblinded, by whom and why; empty where it is not, or where there is no study."""
    unblinded = (content.get("course") or {}).get("unblinded")
    if not unblinded:
        return ""
    return f"The study was unblinded on {_day(unblinded['at_utc'])} by {unblinded['by']}: {unblinded['why']}"


def _course(course: Content) -> Iterator[Block]:
    if course["steps"]:
        rows = [(_day(row["at_utc"]), row["step"], row["by"], row["why"]) for row in course["steps"]]
        yield table("Every step with its reason.", ("Day", "Step", "By", "Why"), rows)
    else:
        yield Paragraph("No step was taken since the plan was drawn.")
    if course["people"]:
        people = [
            (_day(row["at_utc"]), row["change"], row.get("name", ""), row.get("successor", ""), row.get("why", ""))
            for row in course["people"]
        ]
        yield table("Changes of who takes part.", ("Day", "Change", "Reviewer", "Successor", "Why"), people)
    if course["changed_pairs"]:
        pairs = [(row["a"], row["b"], row["items"]) for row in course["changed_pairs"]]
        words = "Pairs that share items which one of them took over: they were not drawn together for these."
        yield table(words, ("Reviewer", "Reviewer", "Items"), pairs, numeric=(2,))
    if course["excluded"]:
        excluded = [(row["item"], row["why"]) for row in course["excluded"]]
        yield table("Excluded items: kept, but in no number.", ("Item", "Why"), excluded)


def _calibration(round_: Content, level: str) -> Iterator[Block]:
    gate = round_["gate"]
    words = f"Before the study every reviewer labelled {round_['n_items']} items, which enter no other number. "
    words += f"Reviewers agreed on {percent(round_['percent']['value'])} of pairs of labels"
    words += f" ({round_['percent']['reason']})." if round_["percent"]["value"] is None else "."
    if gate:
        on = "agreement with the reference labels" if gate["on"] == "reference" else "agreement between reviewers"
        words += f" Asked was {on} of {percent(gate['least'])} or more."
    words += (
        " The round was passed." if not round_["not_passed"] else f" Not passed: {'; '.join(round_['not_passed'])}."
    )
    yield Paragraph(words)
    yield stat_table(
        "calibration",
        f"Agreement with the {round_['n_reference']} reference labels.",
        ("Reviewer", "Labelled", "Of", f"Equal to the reference ({level})"),
        [
            (row["reviewer"], row["n_done"], row["n_assigned"], share(row["with_reference"]))
            for row in round_["reviewers"]
        ],
        numeric=(1, 2),
    )
    between = (("percent agreement", share(round_["percent"])), ("Fleiss' kappa", plain_number(round_["kappa"])))
    yield stat_table("calibration-agreement", "Between the reviewers.", ("Measure", f"Value ({level})"), between)


def _day(at_utc: str) -> str:
    return f"{at_utc[:16].replace('T', ' ')} UTC"
