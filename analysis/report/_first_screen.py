"""The first screen of a report: three questions, each with a plain sentence, a technical one, and a figure.

The tables of the same numbers, and the words of the first screen, are sections of the appendix.
"""

from calendar import month_name
from collections.abc import Iterator, Sequence

from analysis import document as d
from analysis.raters.evaluation import BETTER, CANNOT_TELL, WORSE
from analysis.report._agreement import CLOSE, LESS, MORE, UNDEFINED, are_two_groups, chance_state
from analysis.report._classifiers import ClassifierNumbers
from analysis.report._first_figures import CLEAR, METHODS, PAIRS, groups_of_items
from analysis.report._report import Report, judges_classifiers
from analysis.report._settings import row_title, title_of
from analysis.statistics.intervals import wilson

NUMBERS, WORDS = "Numbers of the first figures", "What the words mean"
PAIRS_TABLE, DISPUTED = "Agreement of pairs", "What reviewers disagree on"  # titles of sections that links lead to
MOST_NAMED = 3  # methods that a sentence names


def first_sections(report: Report) -> tuple[d.Section, ...]:
    """Return a section for each question that the study has data for."""
    parts = [("How clear are the answers?", _clear(report)), ("Do people agree?", _people(report))]
    if report.classifiers:
        parts.append(("Which method judges like a person?", _methods(report)))
    return tuple(d.Section(title, tuple(blocks), is_beside=True) for title, blocks in parts)


def facts(report: Report) -> str:
    """Return how large the study is, and when it was finished, for the line below the title."""
    parts = [d.counted(report.consensus.n_items, "benchmark"), d.counted(report.n_reviewers, "reviewer")]
    unblinded = report.course.unblinded if report.course else None
    if unblinded and unblinded.at_utc:
        year, month, day = map(int, unblinded.at_utc[:10].split("-"))
        parts.append(f"finished on {day} {month_name[month]} {year}")
    return f"{', '.join(parts)}."


def _answer(sentences: Sequence[str]) -> Iterator[d.Block]:
    """Yield the first sentence as the answer, and the others as a text."""
    first, *others = [sentence for sentence in sentences if sentence]
    yield d.Paragraph(first, "answer")
    if others:
        yield d.Paragraph(" ".join(others))


def _clear(report: Report) -> Iterator[d.Block]:
    decided = report.consensus
    n, n_agreed = decided.agreed + decided.split, decided.agreed
    yield from _answer([_how_many_agree(n_agreed, n), *_what_of_the_others(report)])
    if n:
        share = _with_level(d.estimate(wilson(n_agreed, n, report.style.level)), report.style.level_text)
        yield d.Paragraph(f"{n_agreed} of {d.counted(n, 'item')} agreed: {share}.", "note")
    yield d.Link("These numbers as a table", NUMBERS)
    if groups_of_items(report):
        yield d.Figure(CLEAR, "Benchmarks by the answers of the people who labelled them.")


def _how_many_agree(n_agreed: int, n: int) -> str:
    if not n:
        return "No benchmark has labels of two people yet."
    if n == 1:
        return f"On the only benchmark, the people {'gave the same answer' if n_agreed else 'gave different answers'}."
    if n_agreed in (0, n):
        where = f"On all {n} benchmarks" if n_agreed else f"On none of the {n} benchmarks"
        return f"{where}{', all people gave' if n_agreed else ' did all people give'} the same answer."
    return f"On {n_agreed} of {n} benchmarks, all people gave the same answer."


def _what_of_the_others(report: Report) -> Iterator[str]:
    """Yield what became of the items on which people did not agree, and how many lack labels."""
    decided = report.consensus
    n_open, majority = decided.split - decided.settled, decided.majority
    has_several = any(row.n_labels > 2 for row in decided.by_n_labels)
    ways = {
        "a majority": has_several and decided.settled > majority.adjudicated,
        "third labels": majority.n_third_labels, "decisions": majority.adjudicated,
    }  # fmt: skip
    by = [way for way, is_used in ways.items() if is_used]
    if decided.settled:
        were = "was" if decided.settled == 1 else "were"
        others = "" if not decided.agreed else " other" if decided.settled == 1 else " others"
        still = f"; {n_open} {'is' if n_open == 1 else 'are'} still open" if n_open else ""
        yield f"{decided.settled}{others} {were} settled by {d.joined(by, 'or')}{still}."
    elif n_open and decided.agreed:
        yield f"{d.counted(n_open, 'benchmark')} {'is' if n_open == 1 else 'are'} still open."
    if decided.incomplete:
        have = "has" if decided.incomplete == 1 else "have"
        yield f"{d.counted(decided.incomplete, 'benchmark')} {have} fewer than two labels."


def _people(report: Report) -> Iterator[d.Block]:
    numbers = report.agreement
    if numbers.percent.value is None:
        yield d.Paragraph("No two people have labelled the same benchmark yet.", "answer")
        return
    yield from _answer([
        f"Two people give the same answer {_in_cases(numbers.percent.value)}.", _more_than_guessing(report),
        _unequal_pairs(report),
    ])  # fmt: skip
    yield d.Paragraph(" ".join(_technical(report)), "note")
    least = numbers.least_pair
    if least and least.items and not report.study.interim:
        on = "the item" if len(least.items) == 1 else f"the {len(least.items)} items"
        yield d.Link(f"See {on} on which {least.a} and {least.b} disagree", DISPUTED)
    yield d.Link("The numbers of all pairs", PAIRS_TABLE)
    frame = " The frame marks the pair that agrees less often than the others." if least else ""
    yield d.Figure(PAIRS, f"How often each pair of reviewers gave the same label.{frame}")


def _in_cases(share: float) -> str:
    """Return how often something happens, as a number of 100 cases."""
    if share in (0, 1):
        return "always" if share else "in no case"
    n = round(100 * share)
    return "in fewer than 1 of 100 cases" if n == 0 else "in 99 of 100 cases" if n == 100 else f"in {n} of 100 cases"


def _more_than_guessing(report: Report) -> str:
    match chance_state(report.agreement):
        case state if state == MORE:
            return "That is more often than if they guessed."
        case state if state == CLOSE:
            return "That is hardly more often than if they guessed, if at all."
        case state if state == LESS:
            return "That is less often than if they guessed."
        case state if state == UNDEFINED:
            return "Whether that is more often than if they guessed cannot be said, because they used one answer only."
    return "These labels cannot tell whether that is more often than if they guessed."


def _unequal_pairs(report: Report) -> str:
    """Say which pairs agree less or more often than others, if the test of equal pairs shows it."""
    tested = report.agreement.pair_equality
    found = tested.contrast if tested else None
    if found is None or (found.kind == "groups" and not are_two_groups(found)):
        return ""
    within, across = found.within.value or 0.0, found.across.value or 0.0
    less = "less" if (within < across) is (found.kind == "pair") else "more"
    if found.kind == "pair":
        return f"{d.joined(found.first)} agree {less} often than other pairs: {_in_cases(within)}."
    if found.kind == "reviewer":
        return f"{found.first[0]} agrees {less} often with the others than they agree with each other."
    return (
        f"There are two groups, {d.joined(found.first)} and {d.joined(found.second)}, that agree less with each other."
    )


def _technical(report: Report) -> Iterator[str]:
    """Yield agreement, agreement by chance, and kappa, with their intervals."""
    numbers, level = report.agreement, report.style.level_text
    agreed, kappa = numbers.percent, numbers.fleiss_kappa
    guessing = ""
    if kappa.value is not None and kappa.value < 1:
        by_chance = ((agreed.value or 0.0) - kappa.value) / (1 - kappa.value)
        guessing = f"; by chance {d.percent(by_chance)}"
    yield f"{_with_level(d.estimate(agreed), level)}{guessing}."
    yield f"Fleiss' kappa: {_with_level(d.estimate(kappa, as_percent=False), level)}."


def _with_level(text: str, level: str) -> str:
    """Add the level to the first interval of a text."""
    return text.replace("(", f"({level} ", 1) if " to " in text else text


def _methods(report: Report) -> Iterator[d.Block]:
    compared = {name: row for name, row in report.classifiers.items() if row.people.n}
    if not compared:
        yield d.Paragraph("No method has judged a benchmark that two people labelled.", "answer")
        return
    judges = judges_classifiers(report)
    yield from _answer(list(_judged(compared)) if judges else [
        "These labels cannot tell which method judges like a person.",
        "They do not show that people agree more often than if they guessed, so no answer counts as right.",
    ])  # fmt: skip
    n = max(row.people.n for row in compared.values())
    yield d.Paragraph(
        f"Mean share of an item's labels that equal the verdict ({d.counted(n, 'item')}, {report.style.level_text}). "
        "Grey: people with each other. Square: one answer for all items.",
        "note",
    )
    yield d.Link("These numbers as a table", NUMBERS)
    yield d.Figure(METHODS, "How often each method gives the answer of a person.")


def _judged(compared: dict[str, ClassifierNumbers]) -> Iterator[str]:
    """Yield what the labels show about the methods: beside people, and beside one answer for everything."""
    by_verdict: dict[str, list[str]] = {BETTER: [], WORSE: [], CANNOT_TELL: []}
    for name, row in compared.items():
        by_verdict[row.people.verdict].append(name)
    more, less, unclear = by_verdict[BETTER], by_verdict[WORSE], by_verdict[CANNOT_TELL]
    if more:
        yield f"{_named(more)} {_verb(more, 'agrees', 'agree')} with a person more often than people with each other."
    if less:
        yield f"{_named(less)} {_verb(less, 'agrees', 'agree')} with a person less often than people with each other."
    if unclear:
        how = "more or less often than people with each other"
        every = len(compared) > 1 and len(unclear) == len(compared)
        whom = (
            "any method agrees with a person"
            if every
            else f"{_named(unclear, start=False)} {_verb(unclear, 'agrees', 'agree')} with a person"
        )
        yield f"These labels cannot tell whether {whom} {how}."
    constant = [name for name, row in compared.items() if row.majority_rule.verdict == CANNOT_TELL]
    category = next((row.majority_rule.category for row in compared.values() if row.majority_rule.category), None)
    if constant and category:
        yield (
            f"{_named(constant)} {_verb(constant, 'is', 'are')} not shown to be better or worse than always answering "
            f"{category}."
        )


def _named(names: Sequence[str], *, start: bool = True) -> str:
    titles = [(row_title if start and not at else title_of)(name) for at, name in enumerate(names)]
    rest = len(titles) - MOST_NAMED
    shown = [*titles[:MOST_NAMED], d.counted(rest, "other method")] if rest > 0 else titles
    return d.joined(shown)


def _verb(names: Sequence[str], one: str, several: str) -> str:
    return one if len(names) == 1 else several


def number_sections(report: Report) -> tuple[d.Section, ...]:
    """Return the tables of the first figures, and the meaning of the words."""
    return (
        d.Section(NUMBERS, (*_clear_table(report), *_methods_table(report))),
        d.Section(WORDS, (d.Bullets(tuple(_words(report))),)),
    )


def _clear_table(report: Report) -> Iterator[d.Block]:
    groups = groups_of_items(report)
    total = sum(group.n for group in groups)
    yield d.table(
        "Benchmarks by the answers of the people who labelled them. Agreed: all first labels are equal. Settled: third "
        "labels or a decision gave the item a category.",
        ("Result", "Items", "Share"),
        [(group.name, group.n, d.percent(group.n / total)) for group in groups],
        numeric=(1, 2), name="clear-answers",
    )  # fmt: skip


def _methods_table(report: Report) -> Iterator[d.Block]:
    rows = [(name, row.people) for name, row in report.classifiers.items() if row.people.n]
    if not rows:
        return
    judges, level = judges_classifiers(report), report.style.level_text
    yield d.table(
        "How often each classifier agrees with one person, and two people with each other, on the items that the "
        "classifier judged and two people or more labelled. Split items count. The interval allows for items of one "
        "application. The difference is tested by Johnson's t test on applications, or on items without them, with one "
        "more loss and one more win than observed, corrected by Holm's method.",
        ("Classifier", "Items", f"With a person ({level})", f"People with each other ({level})",
         f"One answer for all ({level})", "Difference", "p", "Result"),
        [
            (row_title(name), row.n, d.share(row.agreement), d.share(row.people), d.share(row.rule),
             d.share(row.difference), d.p_value(row.p_holm),
             {BETTER: "more often", WORSE: "less often"}.get(row.verdict, CANNOT_TELL) if judges else d.DASH)
            for name, row in rows
        ],
        numeric=(1, 6), name="methods-and-people",
    )  # fmt: skip


def _words(report: Report) -> Iterator[str]:
    for row in report.categories or ():
        if row.meaning:
            yield d.sentence(f"{row.category}: {row.meaning}")
    yield "Label: the answer of one reviewer to one item. An item is a benchmark with its runs."
    yield "Agreed: all first labels of an item are equal. Split: they are not."
    if report.consensus.majority.n_third_labels or report.consensus.majority.adjudicated:
        yield "Third label: a label of one more reviewer on a split item. Decision: a coordinator gave it a category."
    if report.classifiers:
        yield "Method or classifier: a rule that a computer applies to the measurements. Its answer is a verdict."
        yield "Majority rule: the most frequent answer, for every item. A useful classifier is better than this rule."
    yield (
        f"{report.style.level_text}: an interval that contains the true value in {100 * report.style.level:g} of 100 "
        "such studies."
    )
    yield "Kappa: agreement beyond chance, from 1 (always) through 0 (as often as by chance) to negative values."
