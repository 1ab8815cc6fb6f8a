"""Sum up a report in at most seven sentences, so that a reader of only the first three is not misled.

The order is fixed: how far people agree; whether that is more than chance; whether pairs or groups differ; what
classifiers agree with; whether one may replace a reviewer; what is uncertain and why; what to do next. If labels agree
no more than chance, that comes first, and nothing is said about classifiers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.consensus import REJECTED, UNTESTABLE, WEAK, ModelState
from analysis.document import counted, interval, number, percent, sentence
from analysis.evaluation import BETTER, WORSE
from analysis.intervals import ONE_SIDED, Estimate
from analysis.report._agreement import MORE, NOT_MORE, UNCLEAR, UNDEFINED, chance_state
from analysis.report._categories import CategoryClassifier
from analysis.report._classifiers import ClassifierNumbers, p_clause
from analysis.report._replacing import may_replace
from analysis.report._report import Report
from analysis.report._settings import title_of

FEW_ITEMS, ENOUGH_ITEMS = 40, 80
MOST_NAMED = 4  # classifiers that a sentence names


def in_short(report: Report) -> tuple[str, ...]:
    """Return the sentences; sentences without content are left out."""
    numbers = report.agreement
    if numbers.percent.value is None:
        sentences = [f"It is not possible to compute agreement yet: {numbers.percent.reason}.", "", "", "", ""]
    else:
        sentences = [
            _agreement(report), _chance(report), _categories(report), _pairs(report), _classifiers(report),
            _replacing(report),
            _uncertain(report),
        ]  # fmt: skip
    if chance_state(numbers) == NOT_MORE:
        sentences[:2] = sentences[1], sentences[0]
    return tuple(text for text in (*sentences, _next_step(report)) if text)


def _limits(value: Estimate, level: str, *, as_percent: bool = True) -> str:
    """Return the interval in brackets; a one-sided limit says so, and without an interval the reason stands there."""
    if value.low is None:
        return f" ({value.reason})" if value.reason else ""
    if value.reason and value.reason.startswith(ONE_SIDED):
        low = percent(value.low) if as_percent else number(value.low)
        return f" (at least {low}, one-sided {level})"
    return f" ({level} {interval(value, as_percent=as_percent)})"


def _agreement(report: Report) -> str:
    numbers, n_agreed = report.agreement, report.consensus.agreed
    n, value = numbers.n_items_with_two_labels, numbers.percent
    every = "the only item" if n == 1 else f"all {counted(n, 'item')}"
    some = f"{n_agreed or 'none'} of {'the ' if not n_agreed else ''}{counted(n, 'item')}"
    of_items = every if n == n_agreed else some
    pairs = f"{percent(value.value)}{_limits(value, report.level_text)}"
    only = _only_category(report)
    but = f", but every label is {only}" if only else ""
    if all(row.n_labels == 2 for row in report.consensus.by_n_labels):
        if n == 1 and not n_agreed:
            return f"Both reviewers disagree on the only item that two reviewers labelled, {pairs}."
        return f"Both reviewers of an item agree on {of_items} that two reviewers labelled, {pairs}{but}."
    whole = "" if n == n_agreed else f" ({percent(n_agreed / n)})"
    return f"All reviewers of an item agree on {of_items}{whole}, and two reviewers of one item agree in {pairs}{but}."


def _only_category(report: Report) -> str:
    """Return the only category that was used, or "" if several were used."""
    specific = report.agreement.specific
    used = [category for category in report.category_set.names if specific[category].value is not None]
    return used[0] if len(used) == 1 else ""


def _chance(report: Report) -> str:
    kappa, state = report.agreement.fleiss_kappa, chance_state(report.agreement)
    if state == UNDEFINED:
        return f"Whether this is more than chance cannot be said: Fleiss' kappa is undefined, because {kappa.reason}."
    text = f"Fleiss' kappa is {number(kappa.value)}{_limits(kappa, report.level_text, as_percent=False)}"
    if state == MORE:
        low, high = kappa.band_low, kappa.band_high
        bands = f"“{low}”" if low == high else f"“{low}” to “{high}”"
        return f"This is more than chance would give: {text}, {bands} on the scale of Landis and Koch."
    if state == NOT_MORE:
        less = kappa.high is not None and kappa.high < 0
        verb = "agree less often than" if less else "do not agree more than"
        return f"Reviewers {verb} chance would: {text}."
    return f"These labels do not show whether reviewers agree more than chance would: {text}."


def _categories(report: Report) -> str:
    """Name the categories that nobody used, and those on which reviewers agree most and least."""
    if not report.by_category:
        return ""
    rows = report.categories or ()
    unused = [row.category for row in rows if not row.n_labels]
    never = (
        f"No reviewer used {_joined(unused, 'or')}, so nothing can be said about "
        f"{'this category' if len(unused) == 1 else 'these categories'}."
        if unused and len(unused) < len(rows)
        else ""
    )
    known = [(row.agreement.value, row.category) for row in rows if row.n_labels and row.agreement.value is not None]
    shares = [value for value, _ in known]
    if len(known) < 2 or max(shares) == min(shares):
        return never
    (low, high) = min(shares), max(shares)
    least, most = ([name for value, name in known if value == end] for end in (low, high))
    return (
        f"Reviewers agree most on {_joined(most)} (specific agreement {percent(high)}) and least on {_joined(least)} "
        f"({percent(low)}). {never}"
    ).strip()


def _joined(names: Sequence[str], word: str = "and") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def _pairs(report: Report) -> str:
    tested = report.agreement.pair_equality
    if tested is None or len(tested.pairs) < 2:
        return ""
    if tested.p is None:
        return f"Whether pairs of reviewers differ was not tested: {tested.reason}."
    ranked = sorted(tested.pairs, key=lambda pair: pair.agree.value or 0)
    lowest, highest = (f"{percent(pair.agree.value)} ({pair.a} and {pair.b})" for pair in (ranked[0], ranked[-1]))
    if tested.p > report.alpha:
        return f"No pair of reviewers differs significantly from the others; pairs agree in {lowest} to {highest}."
    found = tested.contrast
    if found is None:
        return f"Pairs of reviewers differ, from {lowest} to {highest}, and one overall number hides this."
    within, across = percent(found.within.value), percent(found.across.value)
    first, second = " and ".join(found.first), " and ".join(found.second)
    p = f"({p_clause(found.p)} after correction for all divisions)"
    if found.kind == "pair":
        return f"{first} agree in {within}, the other pairs in {across} {p}."
    if found.kind == "reviewer":
        return f"{first} agrees with the others in {across}, and the others with each other in {within} {p}."
    sides = [
        f"{names} ({percent(share.value)})" if share is not None else names
        for names, share in ((first, found.within_first), (second, found.within_second))
    ]
    is_chance = found.across.low is not None and found.across.low <= found.chance_across
    than = "no more than chance" if is_chance else "less often"
    return (
        f"Two groups agree among themselves, {sides[0]} and {sides[1]}, and across, {than} ({across}), so they may "
        "answer different questions."
    )


def _classifiers(report: Report) -> str:
    """Compare all classifiers with the majority rule, if the labels can judge them."""
    scored = {name: _against_rule(row) for name, row in report.judged.items()}
    scored = {name: row for name, row in scored.items() if row.n}
    if not scored or chance_state(report.agreement) != MORE:
        return ""
    groups: dict[str, list[str]] = {BETTER: [], "cannot tell": [], WORSE: []}
    for name, row in scored.items():
        groups[row.verdict].append(f"{title_of(name)} ({percent(row.accuracy)})")
    clauses = [
        clause
        for clause in (
            _verb(groups[BETTER], "agrees more often", "agree more often"),
            _verb(groups[WORSE], "agrees less often", "agree less often"),
            _verb(groups["cannot tell"], "is not shown to differ from it", "are not shown to differ from it"),
        )
        if clause
    ]
    return f"{_of_majority_rule(list(scored.values()))}: {'; '.join(clauses)}."


@dataclass(frozen=True)
class _AgainstRule:
    """What a sentence needs of a classifier and the majority rule on its items."""

    n: int
    accuracy: float | None
    verdict: str
    rule: str  # the category that the rule gives
    of_rule: float  # accuracy of the rule


def _against_rule(row: ClassifierNumbers | CategoryClassifier) -> _AgainstRule:
    if isinstance(row, CategoryClassifier):
        result, rule = row.result, row.result.baseline
        return _AgainstRule(
            result.n, result.accuracy.value, row.verdict, str(rule.category), rule.accuracy.value or 0.0
        )
    rates, of = row.rates, row.baseline
    return _AgainstRule(rates.n, rates.shares.accuracy.value, of.verdict, of.category, of.accuracy.value or 0.0)


def _of_majority_rule(rows: Sequence[_AgainstRule]) -> str:
    """Say how often the majority rule agrees with the labels; it is a range if classifiers lack different verdicts."""
    numbers = [row.n for row in rows]
    categories = {row.rule for row in rows}
    rule = f"the majority rule (always {categories.pop()})" if len(categories) == 1 else "the majority rule"
    shares = sorted(row.of_rule for row in rows)
    low, high = percent(shares[0]), percent(shares[-1])
    where = f"On {counted(max(numbers), 'agreed item')}"
    if min(numbers) < max(numbers):
        where = f"On the agreed items that each classifier has judged ({min(numbers)} to {max(numbers)})"
    return f"{where}, {rule} agrees with the labels on {low if low == high else f'{low} to {high}'}"


def _replacing(report: Report) -> str:
    return may_replace(report.replacing or ()) if chance_state(report.agreement) == MORE else ""


def _verb(names: list[str], one: str, several: str) -> str:
    if not names:
        return ""
    rest = len(names) - MOST_NAMED
    shown = [*names[:MOST_NAMED], f"{rest} more"] if rest > 0 else names
    return f"{_joined(shown)} {one if len(names) == 1 else several}"


def _uncertain(report: Report) -> str:
    reasons = list(_reasons(report))[:3]
    if not reasons:
        return "The intervals describe further items for the same reviewers; other reviewers may differ."
    listed = reasons[0] if len(reasons) == 1 else f"{', '.join(reasons[:-1])}, and {reasons[-1]}"
    return f"These results are uncertain, because {listed}."


def _reasons(report: Report) -> Iterator[str]:
    """Yield why the results are uncertain, as clauses, the most important first."""
    numbers, decided = report.agreement, report.consensus
    latent, by_category = decided.latent, report.by_category
    fitted = latent.fitted if latent else None
    state = fitted.state.state if fitted else by_category.truth.state if by_category else None
    n = numbers.n_items_with_two_labels
    if fitted and state == REJECTED:
        yield _dependent(fitted.state, set(report.classifiers))
    elif state == REJECTED:
        yield "the labels contradict the model of reviewers' errors"
    if n < FEW_ITEMS:
        yield f"only {counted(n, 'item')} {'has' if n == 1 else 'have'} two labels"
    if len(numbers.by_application) == 1 and n > 1:
        yield "all items come from one application"
    if decided.split:
        are = "is" if decided.split == 1 else "are"
        some = f"{decided.split} of {counted(n, 'item')} ({percent(decided.split / n)})"
        every = "the only item" if n == 1 else f"all {n} items"
        yield f"{every if decided.split == n else some} {are} split and not scored"
    if numbers.if_given:
        n_missing = numbers.if_given[0].n
        yield f"{counted(n_missing, 'planned label')} {'is' if n_missing == 1 else 'are'} missing"
    if state == WEAK:
        yield "the accuracy of each reviewer depends on errors being independent"
    elif state == UNTESTABLE:
        yield "these labels cannot test whether reviewers err independently"
    elif not (by_category.truth.identified if by_category else latent and latent.identifiability.identified):
        yield "these labels cannot show how accurate each reviewer is"


def _dependent(state: ModelState, classifiers: set[str]) -> str:
    """Say whose errors are not independent, and what follows; a model that fits better need not be the cause."""
    raters = [str(rater) for rater in state.raters]
    favoured = [title_of(rater) for rater in raters if rater in classifiers]
    overstated = "agreement and the agreed items may overstate reliability"
    if len(raters) == 1:
        return f"the rates of the other reviewers depend on {raters[0]}, so {overstated}"
    names = [title_of(rater) if rater in classifiers else rater for rater in raters] or ["several reviewers"]
    follows = f"the agreed items favour {favoured[0]}" if favoured else overstated
    return f"{' and '.join(names)} err on the same items, so {follows}"


def _next_step(report: Report) -> str:
    """Return the step that would help most."""
    numbers, tested, state = report.agreement, report.agreement.pair_equality, chance_state(report.agreement)
    n = numbers.n_items_with_two_labels
    other = "the other category" if len(report.category_set.names) == 2 else "other categories"
    if numbers.percent.value is None:
        return "Let at least two reviewers label the same items."
    if report.study.interim:
        return "Next: finish labelling, and do not stop because of these numbers."
    if state == UNDEFINED and n < FEW_ITEMS:
        return f"Next: label more items, among them some that are likely to be in {other}."
    if state == UNDEFINED:
        return f"Next: add items that are likely to be in {other}."
    if state == NOT_MORE:
        return (
            "Next: discuss the question with the reviewers and repeat the calibration round; until they agree, these "
            "labels cannot judge classifiers."
        )
    if state == UNCLEAR:
        return f"Next: let two or more reviewers label more items, about {max(ENOUGH_ITEMS, 2 * n)} in all."
    found = tested.contrast if tested else None
    if found and found.kind == "groups":
        return "Next: ask both groups what they look at on items that divide them, before you use the labels."
    if found and found.kind == "pair" and (found.within.value or 0) < (found.across.value or 0):
        return f"Next: discuss with {' and '.join(found.first)} the items on which they disagree."
    if found and found.kind == "pair":
        return f"Next: find out whether {' and '.join(found.first)} labelled independently."
    if found and found.kind == "reviewer" and (found.across.value or 0) > (found.within.value or 0):
        return f"Next: find out whether the other reviewers saw the labels of {found.first[0]}."
    if found and found.kind == "reviewer":
        return f"Next: discuss with {found.first[0]} the items on which the others disagree with {found.first[0]}."
    if n < FEW_ITEMS:
        return f"Next: label more items; rates of reviewers and classifiers need about {ENOUGH_ITEMS}."
    latent = report.consensus.latent
    remedies = latent.fitted.state.remedies if latent and latent.fitted else ()
    if report.consensus.split:
        return f"Next: decide the {counted(report.consensus.split, 'split item')}, by third labels or in a discussion."
    if remedies:
        return f"Next: {sentence(remedies[0])[:1].lower()}{sentence(remedies[0])[1:]}"
    return "No further step is needed to report agreement with its interval."
