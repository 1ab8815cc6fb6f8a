"""What a report says in short: at most seven sentences, each with its state.

The order is fixed, so that a reader of only the first three is not misled: two groups of reviewers, if there are two;
how far people agree; whether that is more than chance; whether pairs differ, whether agreement changes, and whether
errors coincide; what classifiers agree with; whether one may replace a reviewer; what is uncertain and why; what
happened to the study; what to do next. If labels agree hardly more than chance, that comes first. Nothing is said about
classifiers unless reviewers agree more than chance would.

A sentence is shown by the labels, or they exclude what it denies, or they cannot tell; a test that finds nothing is no
proof. Nobody is accused by a coefficient: how a pair agrees is no sign of how it worked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log10

from analysis.document import counted, interval, joined, number, percent, sentence
from analysis.raters.consensus import REJECTED, UNTESTABLE
from analysis.raters.evaluation import BETTER, WORSE
from analysis.report._agreement import (
    CANNOT_TELL,
    CLOSE,
    LESS,
    LITTLE,
    MORE,
    UNDEFINED,
    are_two_groups,
    chance_state,
    has_signal,
    is_paradox,
)
from analysis.report._classifiers import ClassifierNumbers, p_clause
from analysis.report._happened import happened
from analysis.report._replacing import may_replace
from analysis.report._report import Report
from analysis.report._settings import title_of
from analysis.report._units import BY_ITEM
from analysis.statistics.intervals import ONE_SIDED, Estimate

SHOWN, EXCLUDED, FACT = "shown", "excluded", "fact"  # beside CANNOT_TELL
MOST_SENTENCES = 7
FEW_ITEMS, ENOUGH_ITEMS = 40, 80
ALPHA_ACCUSED = 0.001  # of the difference between pairs, from which errors can be said to coincide
MOST_NAMED = 4  # classifiers that a sentence names
# If there are too many sentences, these go first.
DISPENSABLE = (
    ("pairs", CANNOT_TELL), ("categories", FACT), ("replacing", CANNOT_TELL), ("pairs", SHOWN), ("history", FACT)
)  # fmt: skip


@dataclass(frozen=True)
class ShortSentence:
    """A sentence of "In short", what it is about, and whether the labels show it, exclude it or cannot tell."""

    about: str
    state: str
    text: str


def in_short(report: Report) -> tuple[ShortSentence, ...]:
    """Return the sentences in their order, at most seven."""
    if report.agreement.percent.value is None:
        reason = report.agreement.percent.reason
        none = ShortSentence("agreement", CANNOT_TELL, f"It is not possible to compute agreement yet: {reason}.")
        return none, _next_step(report)
    chance = chance_state(report.agreement)
    first = [_agreement(report), _chance(report)]
    if chance in (CLOSE, LESS) and not is_paradox(report.agreement):
        first.reverse()
    pairs = _pairs(report)
    groups = [pairs] if pairs and pairs.about == "groups" else []
    found = [
        *groups, *first, _categories(report), None if groups else pairs, _course(report), _coinciding(report),
        _compare_with_rule(report), _replacing(report), _uncertain(report), _happened(report), _next_step(report),
    ]  # fmt: skip
    sentences = [one for one in found if one is not None]
    for about, state in DISPENSABLE:
        if len(sentences) > MOST_SENTENCES:
            sentences = [one for one in sentences if (one.about, one.state) != (about, state)]
    return tuple(sentences)


def _happened(report: Report) -> ShortSentence | None:
    text = happened(report)
    return ShortSentence("history", FACT, text) if text else None


def _limits(value: Estimate, level: str, *, as_percent: bool = True) -> str:
    """Return the interval in brackets; a one-sided limit says so, and without an interval the reason stands there."""
    if value.low is None:
        return f" ({value.reason})" if value.reason else ""
    if _is_one_sided(value):
        low = percent(value.low) if as_percent else number(value.low)
        return f" (at least {low}, one-sided {level})"
    return f" ({level} {interval(value, as_percent=as_percent)})"


def _is_one_sided(value: Estimate) -> bool:
    return bool(value.reason and value.reason.startswith(ONE_SIDED))


def _agreement(report: Report) -> ShortSentence:
    numbers, n_agreed = report.agreement, report.consensus.agreed
    n, value = numbers.n_items_with_two_labels, numbers.percent
    every = "the only item" if n == 1 else f"all {counted(n, 'item')}"
    some = f"{n_agreed or 'none'} of {'the ' if not n_agreed else ''}{counted(n, 'item')}"
    of_items = every if n == n_agreed else some
    pairs = f"{percent(value.value)}{_limits(value, report.style.level_text)}"
    only = _only_category(report)
    but = f", but every label is {only}" if only else ""
    whole = "" if n == n_agreed else f" ({percent(n_agreed / n)})"
    text = f"All reviewers of an item agree on {of_items}{whole}, and two reviewers of one item agree in {pairs}{but}."
    if all(row.n_labels == 2 for row in report.consensus.by_n_labels):
        text = f"Both reviewers of an item agree on {of_items} that two reviewers labelled, {pairs}{but}."
        if n == 1 and not n_agreed:
            text = f"Both reviewers disagree on the only item that two reviewers labelled, {pairs}."
    return ShortSentence("agreement", FACT, text)


def _only_category(report: Report) -> str:
    """Return the only category that was used, or "" if several were used."""
    specific = report.agreement.specific
    used = [category for category in report.style.category_set.names if specific[category].value is not None]
    return used[0] if len(used) == 1 else ""


def _chance(report: Report) -> ShortSentence:
    numbers = report.agreement
    kappa, state = numbers.fleiss_kappa, chance_state(numbers)
    if state == UNDEFINED:
        text = f"Whether this is more than chance cannot be said: Fleiss' kappa is undefined, because {kappa.reason}."
        return ShortSentence("chance", CANNOT_TELL, text)
    if is_paradox(numbers):
        return ShortSentence("chance", CANNOT_TELL, _paradox(report))
    limits = _limits(kappa, report.style.level_text, as_percent=False)
    text = f"Fleiss' kappa is {number(kappa.value)}{limits}"
    if state == MORE:
        low, high = kappa.band_low, kappa.band_high
        bands = f"“{low}”" if low == high else f"“{low}” to “{high}”"
        text = f"This is more than chance would give: {text}, {bands} on the scale of Landis and Koch."
        return ShortSentence("chance", SHOWN, text)
    if state == LESS:
        return ShortSentence("chance", EXCLUDED, f"Reviewers agree less often than chance would: {text}.")
    if state == CLOSE:
        text = f"Reviewers agree little more than chance, if at all: {text}, so it is at most {number(LITTLE, 1)}."
        return ShortSentence("chance", EXCLUDED, text)
    text = f"These labels do not show whether reviewers agree more than chance would: {text}."
    return ShortSentence("chance", CANNOT_TELL, text)


def _paradox(report: Report) -> str:
    """Say that kappa says little, because one category is much more frequent than the others."""
    numbers, level = report.agreement, report.style.level_text
    common = max(numbers.shares, key=lambda name: numbers.shares[name])
    kappa, rare = numbers.fleiss_kappa, _rare_category(report)
    text = (
        f"{percent(numbers.shares[common])} of the labels are {common}, so chance alone gives an agreement of "
        f"{percent(numbers.expected)}, and Fleiss' kappa of {number(kappa.value)}"
        f"{_limits(kappa, level, as_percent=False)} says little."
    )
    specific, ac1 = numbers.specific[rare], numbers.coefficients["gwet_ac1"].value
    if specific.value is not None:
        text += f" On {rare} items, reviewers agree in {percent(specific.value)}{_limits(specific, level)}"
        text += f"; Gwet's AC1 is {number(ac1)}."
    return text


def _rare_category(report: Report) -> str:
    """Return the least frequent of the categories that were used."""
    shares = {name: share for name, share in report.agreement.shares.items() if share}
    return min(shares, key=lambda name: shares[name])


def _categories(report: Report) -> ShortSentence | None:
    """Name the categories that nobody used, and those on which reviewers agree most and least, if intervals differ."""
    if not report.by_category:
        return None
    rows = report.categories or ()
    unused = [row.category for row in rows if not row.n_labels]
    text = ""
    if unused and len(unused) < len(rows):
        these = "this category" if len(unused) == 1 else "these categories"
        text = f"No reviewer used {joined(unused, 'or')}, so nothing can be said about {these}."
    known = [(row.agreement.ends, row) for row in rows if row.n_labels and row.agreement.ends]
    if known:
        (_, least), (_, most) = min(known, key=lambda pair: pair[0]), max(known, key=lambda pair: pair[0])
        if (least.agreement.high or 0.0) < (most.agreement.low or 0.0):
            level = report.style.level_text
            text = (
                f"Reviewers agree more on {most.category} (specific agreement {percent(most.agreement.value)}"
                f"{_limits(most.agreement, level)}) than on {least.category} ({percent(least.agreement.value)}"
                f"{_limits(least.agreement, level)}). {text}"
            ).strip()
    return ShortSentence("categories", FACT, text) if text else None


def _pairs(report: Report) -> ShortSentence | None:
    """Say whether pairs differ; a group of reviewers, a pair or a reviewer is named, but no cause."""
    tested = report.agreement.pair_equality
    if tested is None or len(tested.pairs) < 2:
        return None
    if tested.p is None:
        return ShortSentence(
            "pairs", CANNOT_TELL, f"Whether pairs of reviewers differ was not tested: {tested.reason}."
        )
    ranked = sorted(tested.pairs, key=lambda pair: pair.agree.value or 0)
    lowest, highest = (f"{percent(pair.agree.value)} ({pair.a} and {pair.b})" for pair in (ranked[0], ranked[-1]))
    if tested.p > report.style.alpha:
        text = f"These labels do not show that pairs of reviewers differ; pairs agree in {lowest} to {highest}."
        return ShortSentence("pairs", CANNOT_TELL, text)
    found = tested.contrast
    some = ShortSentence(
        "pairs", SHOWN, f"Pairs of reviewers differ, from {lowest} to {highest}, and one overall number hides this."
    )
    if found is None:
        return some
    within, across = percent(found.within.value), percent(found.across.value)
    first, second = joined(found.first), joined(found.second)
    p = f"({p_clause(found.p)} after correction for all comparisons)"
    more = (found.within.value or 0) > (found.across.value or 0)
    if found.kind == "pair":
        how, who = ("more", "more accurate reviewers") if more else ("less", "less accurate reviewers")
        text = f"{first} agree {how} often ({within}) than the other pairs ({across}) {p}; so do {who}."
        return ShortSentence("pairs", SHOWN, text)
    if found.kind == "reviewer":
        how, who = ("less", "a less accurate reviewer") if more else ("more", "a more accurate reviewer")
        text = (
            f"{first} agrees {how} often with the others ({across}) than they agree with each other ({within}) {p}; so "
            f"does {who}."
        )
        return ShortSentence("pairs", SHOWN, text)
    if not are_two_groups(found):
        return some
    each = (found.within_first, found.within_second)
    sides = [
        f"{names} ({percent(share.value if share else None)})"
        for names, share in zip((first, second), each, strict=True)
    ]
    text = (
        f"Two groups agree among themselves, {sides[0]} and {sides[1]}, and less often across ({across}; by chance "
        f"{percent(found.chance_across)}), so they may answer different questions."
    )
    return ShortSentence("groups", SHOWN, text)


def _course(report: Report) -> ShortSentence | None:
    """Say whether agreement changes in the course of the study, and name only those who are shown to change."""
    test = report.agreement.drift
    if test is None or not test.changes:
        return None
    if not test.named:
        text = "Agreement changes in the course of the study; these labels do not show who changes."
    elif len(test.named) == 1:
        text = f"{test.named[0]}'s agreement with the others changes in the course of the study."
    else:
        text = f"The agreement of {joined(test.named)} with the others changes in the course of the study."
    return ShortSentence("course", SHOWN, text)


def _coinciding(report: Report) -> ShortSentence | None:
    """Say that errors coincide, if the pairs and the latent class model both show it of the same people."""
    tested, course, latent = report.agreement.pair_equality, report.agreement.drift, report.consensus.latent
    found, fitted = tested.contrast if tested else None, latent.fitted if latent else None
    if found is None or fitted is None or fitted.state.state != REJECTED or (course and course.changes):
        return None
    if found.p > ALPHA_ACCUSED:
        return None
    pair = fitted.state.pair_fit
    named = set() if pair is None else {str(pair.a), str(pair.b)}.difference(report.classifiers)
    more = (found.within.value or 0) > (found.across.value or 0)
    if found.kind == "pair" and more and named == set(found.first):
        text = f"Errors of {joined(found.first)} coincide more than their accuracy explains; ask how they worked."
        return ShortSentence("coinciding", SHOWN, text)
    if found.kind == "reviewer" and not more and named <= set(found.first):
        text = f"The labels of the other reviewers follow those of {found.first[0]}; ask how they worked."
        return ShortSentence("coinciding", SHOWN, text)
    return None


def _compare_with_rule(report: Report) -> ShortSentence | None:
    """Compare all classifiers with the majority rule, if the labels can judge them."""
    scored = {name: row for name, row in report.classifiers.items() if row.against.n}
    if not scored or chance_state(report.agreement) != MORE:
        return None
    groups: dict[str, list[str]] = {BETTER: [], "cannot tell": [], WORSE: []}
    for name, row in scored.items():
        groups[row.majority_rule.verdict].append(f"{title_of(name)} ({percent(row.against.accuracy.value)})")
    clauses = [
        clause
        for clause in (
            _verb(groups[BETTER], "agrees more often", "agree more often"),
            _verb(groups[WORSE], "agrees less often", "agree less often"),
            _verb(groups["cannot tell"], "is not shown to differ from it", "are not shown to differ from it"),
        )
        if clause
    ]
    state = SHOWN if groups[BETTER] or groups[WORSE] else CANNOT_TELL
    return ShortSentence("classifiers", state, f"{_of_majority_rule(list(scored.values()))}: {'; '.join(clauses)}.")


def _of_majority_rule(rows: Sequence[ClassifierNumbers]) -> str:
    """Say how often the majority rule agrees with the labels; it is a range if classifiers lack different verdicts."""
    numbers = [row.against.n for row in rows]
    categories = {row.majority_rule.category for row in rows}
    rule = f"the majority rule (always {categories.pop()})" if len(categories) == 1 else "the majority rule"
    shares = sorted(row.majority_rule.accuracy.value or 0.0 for row in rows)
    low, high = percent(shares[0]), percent(shares[-1])
    where = f"On {counted(max(numbers), 'agreed item')}"
    if min(numbers) < max(numbers):
        where = f"On the agreed items that each classifier has judged ({min(numbers)} to {max(numbers)})"
    return f"{where}, {rule} agrees with the labels on {low if low == high else f'{low} to {high}'}"


def _verb(names: list[str], one: str, several: str) -> str:
    if not names:
        return ""
    rest = len(names) - MOST_NAMED
    shown = [*names[:MOST_NAMED], f"{rest} more"] if rest > 0 else names
    return f"{joined(shown)} {one if len(names) == 1 else several}"


def _replacing(report: Report) -> ShortSentence | None:
    if chance_state(report.agreement) != MORE:
        return None
    text, is_shown = may_replace(report.replacing)
    return ShortSentence("replacing", SHOWN if is_shown else CANNOT_TELL, text) if text else None


def _uncertain(report: Report) -> ShortSentence:
    reasons = list(_reasons(report))[:3]
    text = "The intervals describe further items for the same reviewers; other reviewers may differ."
    if reasons:
        listed = reasons[0] if len(reasons) == 1 else f"{', '.join(reasons[:-1])}, and {reasons[-1]}"
        text = f"These results are uncertain, because {listed}."
    return ShortSentence("uncertain", FACT, text)


def _reasons(report: Report) -> Iterator[str]:
    """Yield why the results are uncertain, as clauses, the most important first."""
    numbers, decided = report.agreement, report.consensus
    latent, by_category = decided.latent, report.by_category
    fitted = latent.fitted if latent else None
    state = fitted.state.state if fitted else by_category.truth.state if by_category else None
    n, units = numbers.n_items_with_two_labels, numbers.units
    if state == REJECTED:
        yield (
            "the labels contradict the model in which reviewers err independently, so agreed items may overstate "
            "reliability"
        )
    if n < FEW_ITEMS:
        yield f"only {counted(n, 'item')} {'has' if n == 1 else 'have'} two labels"
    if units.by == BY_ITEM and units.n_applications == 1 and n > 1:
        yield "all items come from one application"
    elif units.by == BY_ITEM and units.n_applications:
        yield f"only {units.n_applications} applications are known, so intervals count items one by one"
    if decided.split:
        are = "is" if decided.split == 1 else "are"
        some = f"{decided.split} of {counted(n, 'item')} ({percent(decided.split / n)})"
        every = "the only item" if n == 1 else f"all {n} items"
        yield f"{every if decided.split == n else some} {are} split and not scored"
    if numbers.if_given:
        n_missing = numbers.if_given[0].n
        yield f"{counted(n_missing, 'planned label')} {'is' if n_missing == 1 else 'are'} missing"
    if state == UNTESTABLE:
        yield "these labels cannot test whether reviewers err independently"
    elif not (by_category.truth.identified if by_category else latent and latent.identifiability.identified) or (
        not has_signal(numbers)
    ):
        yield "these labels cannot show how accurate each reviewer is"


def _next_step(report: Report) -> ShortSentence:
    return ShortSentence("next", FACT, _next_words(report))


def _next_words(report: Report) -> str:
    """Return the step that would help most."""
    numbers, tested, state = report.agreement, report.agreement.pair_equality, chance_state(report.agreement)
    n = numbers.n_items_with_two_labels
    if numbers.percent.value is None:
        return "Let at least two reviewers label the same items."
    if report.study.interim:
        return "Next: finish labelling, and do not stop because of these numbers."
    found = tested.contrast if tested else None
    if found and are_two_groups(found):
        return "Next: ask both groups what they look at on items that divide them, before you use the labels."
    if numbers.drift and numbers.drift.changes:
        who = joined(numbers.drift.named) if numbers.drift.named else "reviewers"
        return f"Next: let {who} label some early and late items again, to see what changed, before you use the labels."
    if state == UNDEFINED and n < FEW_ITEMS:
        return f"Next: label more items, among them some that are likely to be in {_other_category(report)}."
    if state == UNDEFINED:
        return f"Next: add items that are likely to be in {_other_category(report)}."
    if is_paradox(numbers):
        return f"Next: add items that are likely to be {_rare_category(report)}."
    if state in (CLOSE, LESS):
        return (
            "Next: discuss the question with the reviewers and repeat the calibration round; until they agree, these "
            "labels cannot judge classifiers."
        )
    if state == CANNOT_TELL:
        return f"Next: let two or more reviewers label more items, about {_items_to_tell(report)} in all."
    if n < FEW_ITEMS:
        return f"Next: label more items; rates of reviewers and classifiers need about {ENOUGH_ITEMS}."
    latent = report.consensus.latent
    remedies = latent.fitted.state.remedies if latent and latent.fitted else ()
    if report.consensus.split:
        return f"Next: decide the {counted(report.consensus.split, 'split item')}, by third labels or in a discussion."
    if remedies:
        return f"Next: {sentence(remedies[0])[:1].lower()}{sentence(remedies[0])[1:]}"
    return "No further step is needed to report agreement with its interval."


def _other_category(report: Report) -> str:
    return "the other category" if len(report.style.category_set.names) == 2 else "other categories"


def _items_to_tell(report: Report) -> int:
    """Return how many items would show that kappa is above 0, or at most 0.1, if it stayed as it is; two digits."""
    numbers = report.agreement
    n, kappa = numbers.n_items_with_two_labels, numbers.fleiss_kappa
    least = max(ENOUGH_ITEMS, 2 * n)
    if kappa.half_width is None or kappa.value is None:
        return least
    distance = max(kappa.value, LITTLE - kappa.value)
    wanted = max(least, ceil(n * (kappa.half_width / distance) ** 2))
    unit: int = 10 ** max(int(log10(wanted)) - 1, 0)
    return ceil(wanted / unit) * unit
