"""Agreement of the reviewers, for example overall, by pair, by group, and in retests: numbers and sections."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Any

import pandas as pd

from analysis import document as d
from analysis.raters import agreement
from analysis.raters.agreement import (
    AgainstRest,
    ChanceTest,
    Coefficient,
    Contrast,
    CourseTest,
    GroupAgreement,
    Leniency,
    LeniencyTest,
    Needs,
    OrderTest,
    PairAgreement,
    PairEquality,
    SideBias,
)
from analysis.raters.tables import Counts, count_table, in_name_order
from analysis.report._categories import ByCategory, shares_of_categories
from analysis.report._reviewers import (
    Retest,
    TimeOnTask,
    against_the_rest_blocks,
    drift_blocks,
    leniency_blocks,
    retest_blocks,
    retest_numbers,
    side_blocks,
    time_blocks,
    times_on_task,
)
from analysis.report._settings import (
    MOST_REVIEWERS,
    TOO_MANY,
    CategorySet,
    ReportStyle,
    Resampling,
    capitalised,
    entries,
)
from analysis.report._tables import Labels, has_values
from analysis.report._units import BY_APPLICATION, BY_BOTH, Units, estimate_by, groups_of_items, units_of
from analysis.statistics.intervals import LEAST_GROUPS, Estimate, Groups

N_PARTS, N_TIME_PARTS = 3, 4  # number of parts of each reviewer's labels: in order, and by time on task
CONFIDENCES = (1, 2, 3)
MOST_DISPUTED = 10
MOST_PATTERNS = 1000  # drawn one by one; the figure is 520 px wide
LEAST_FOR_KAPPA = 10  # items; kappa of a smaller group says nothing
MORE_THAN_TWO = 3
MANY = 40  # maximum number of rows in a table of groups; the JSON has all rows
# What the labels show about agreement and chance; the first three are shown by an interval or a test.
MORE, CLOSE, LESS, CANNOT_TELL, UNDEFINED = "more", "close to chance", "less", "cannot tell", "undefined"
LITTLE = 0.1  # an interval of kappa that ends below this excludes all but little agreement
MUCH_EXPECTED = 0.8  # agreement by chance, from which kappa says little
ALPHA_LESS = 0.05  # of the test that reviewers agree less often than chance would
ONLY_FOR_TWO = "defined for two categories only"
PICTURES = "disputed-items"  # the name of a figure that needs measurements


@dataclass(frozen=True, repr=False)
class Kappa(Estimate):
    """A coefficient; with the Landis-Koch bands of the limits of its interval if it is corrected for chance."""

    band_low: str | None = None
    band_high: str | None = None


@dataclass(frozen=True, repr=False, kw_only=True)
class PairNumbers(PairAgreement):
    """Agreement of two reviewers, with the indices of prevalence and bias."""

    pabak: Estimate
    prevalence_index: Estimate
    bias_index: Estimate


@dataclass(frozen=True)
class AgreementBy:
    """Agreement with intervals that count items, or that count applications."""

    fleiss_kappa: Estimate
    percent: Estimate


@dataclass(frozen=True)
class LabelsUsed:
    """Agreement if other labels than the first ones are used."""

    labels: str
    n_labels: int
    percent: Estimate
    fleiss_kappa: Estimate


@dataclass(frozen=True)
class AgreementIfGiven:
    """Agreement as if all missing labels had one category."""

    category: str
    n: int
    percent: Estimate
    fleiss_kappa: Estimate


@dataclass(frozen=True)
class Confidence:
    """Agreement by the confidence that reviewers stated, and agreement on the confidence."""

    n: int
    by_confidence: tuple[GroupAgreement, ...]
    weighted_kappa: Estimate


@dataclass(frozen=True)
class Pattern:
    """A pattern of labels, one letter per reviewer, and the number of items with it."""

    labels: str
    n: int


@dataclass(frozen=True)
class DisputedItem:
    """An item with much disagreement; `labels` has one letter per reviewer, and `n` is the number of labels."""

    item: str
    labels: str
    n: int


@dataclass(frozen=True)
class Disputed:
    """How often each pattern of labels occurs, and the items with the most disagreement."""

    reviewers: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    items: tuple[DisputedItem, ...]

    @property
    def drawn_every(self) -> int:
        """Return k if only every kth item is drawn, because more would be narrower than half a pixel."""
        if len(self.patterns) <= MOST_PATTERNS:
            return 1
        return -(-sum(pattern.n for pattern in self.patterns) // MOST_PATTERNS)


@dataclass(frozen=True)
class LeastPair:
    """The pair of reviewers that agrees less often than all other pairs, and the items on which it disagrees."""

    a: str
    b: str
    items: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """All numbers on agreement."""

    n_reviewers: int
    n_labels: int
    n_items: int
    n_items_with_two_labels: int
    pairs: tuple[PairNumbers, ...]
    pair_equality: PairEquality | None  # None without labels
    least_pair: LeastPair | None  # None if the test of equal pairs does not single out a pair that agrees less
    coefficients: Mapping[str, Kappa]  # by the names of `COEFFICIENTS`
    specific: Mapping[str, Estimate]  # category -> agreement on this category
    shares: Mapping[str, float]  # category -> its share of the labels, averaged over items
    chance_test: ChanceTest
    units: Units  # what intervals and tests count
    by_items: AgreementBy
    by_applications: AgreementBy
    bootstrap: Mapping[str, Estimate]  # name of a coefficient -> its bootstrap interval; empty without resampling
    leniency: Leniency | None  # None without a positive category
    against_the_rest: tuple[AgainstRest, ...]
    drift: CourseTest | None  # None if the order of labels is unknown
    retest: tuple[Retest, ...]
    by_labels_used: tuple[LabelsUsed, ...]
    by_application: tuple[GroupAgreement, ...]
    by_date: tuple[GroupAgreement, ...]
    by_position: tuple[GroupAgreement, ...]
    by_time_quartile: tuple[GroupAgreement, ...]
    by_axis_rule: tuple[GroupAgreement, ...]  # empty if one rule applied to all labels
    order: OrderTest | None
    jackknife: Estimate | None  # None without labels
    if_given: tuple[AgreementIfGiven, ...]
    confidence: Confidence | None  # None if no reviewer stated a confidence
    time_on_task: tuple[TimeOnTask, ...]
    disputed: Disputed

    @property
    def percent(self) -> Estimate:
        """Percent agreement."""
        return self.coefficients["percent_agreement"]

    @property
    def fleiss_kappa(self) -> Kappa:
        """Fleiss' kappa."""
        return self.coefficients["fleiss_kappa"]

    @property
    def expected(self) -> float | None:
        """The agreement that Fleiss' kappa expects by chance."""
        return sum(share**2 for share in self.shares.values()) if self.shares else None


def overall(n_raters: int = MORE_THAN_TWO) -> dict[str, Coefficient]:
    """Return the coefficients of the table of overall agreement.

    Ordered categories have weighted coefficients in a part of their own, and each pair of reviewers has Cohen's kappa,
    which is also Light's and Conger's of two raters.
    """
    each = MORE_THAN_TWO <= n_raters <= MOST_REVIEWERS
    without = {Needs.TWO_RATERS} if each else {Needs.TWO_RATERS, Needs.RATERS}
    return {name: row for name, row in agreement.COEFFICIENTS.items() if not row.ordered and row.needs not in without}


def agreement_numbers(
    labels: Labels, of: CategorySet, level: float, resampling: Resampling, applications: Mapping[object, object]
) -> Agreement:
    """Compute all numbers on agreement; `applications`: item -> application."""
    first, names, n_reviewers = labels.first, of.names, labels.first["rater"].nunique()
    compared = first if n_reviewers <= MOST_REVIEWERS else first.iloc[:0]  # the labels of reviewers who are compared
    counts = count_table(first, names).sort_index()  # sorted, so that draws do not depend on the order of rows
    n_labels = counts.sum(axis=1)
    units = units_of(counts.index[n_labels >= 2], applications)
    by_application = groups_of_items(counts.index, applications, units)
    of_rows = None if by_application is None else by_application.reindex(first["item"]).to_numpy()
    rows = overall(n_reviewers)
    coefficients = {
        name: _coefficient(row, first, counts, names, level, units, by_application) for name, row in rows.items()
    }
    groups: dict[str, Any] = _by_groups(first, of, level)
    equality = None
    if len(compared):
        equality = agreement.pair_equality(first, names, groups=of_rows, level=level)
    elif len(first):
        equality = PairEquality(None, None, None, None, int((n_labels >= 2).sum()), (), reason=TOO_MANY)
    return Agreement(
        n_reviewers=n_reviewers,
        n_labels=len(first),
        n_items=len(counts),
        n_items_with_two_labels=int((n_labels >= 2).sum()),
        pairs=tuple(_pair_numbers(compared, of, level)),
        pair_equality=equality,
        least_pair=_least_pair(compared, equality),
        coefficients=coefficients,
        specific=_specific_by(units, counts, names, level, by_application),
        shares=_shares_of_labels(counts),
        chance_test=agreement.fleiss_kappa_test(counts, names, groups=by_application),
        units=units,
        by_items=_agreement_by(counts, names, level, None),
        by_applications=_by_applications(counts, names, level, by_application, units),
        bootstrap=_bootstrap(counts, names, level, resampling),
        leniency=_leniency(compared, of, level, of_rows, n_reviewers),
        against_the_rest=tuple(agreement.against_rest(compared, names, level=level))
        if len(compared) and (n_labels >= 2).any()
        else (),
        drift=_drift(compared, names, level, of_rows),
        retest=tuple(retest_numbers(labels.retest, of, level, applications, units)),
        by_labels_used=tuple(_by_labels_used(labels, names, level, units, by_application)),
        **groups,
        order=_order(first, of, n_reviewers),
        jackknife=agreement.jackknife_over_raters(compared, categories=names, level=level) if len(compared) else None,
        if_given=tuple(_if_given(labels, names, level)),
        confidence=_confidence(first, of, level),
        time_on_task=tuple(times_on_task(first)),
        disputed=_disputed_items(compared, of),
    )


def _leniency(
    compared: pd.DataFrame, of: CategorySet, level: float, groups: Groups | None, n_reviewers: int
) -> Leniency | None:
    if of.positive is None:
        return None
    if n_reviewers > MOST_REVIEWERS:
        return Leniency((), (), LeniencyTest(None, None, None, None, 0, TOO_MANY))
    return agreement.leniency(compared, of.names, positive=of.positive, groups=groups, level=level)


def _shares_of_labels(counts: pd.DataFrame) -> dict[str, float]:
    shares = counts.div(counts.sum(axis=1), axis=0).mean() if len(counts) else pd.Series(dtype=float)
    return {str(name): float(share) for name, share in shares.items()}


def chance_state(numbers: Agreement) -> str:
    """Return whether the labels show that reviewers agree more, hardly more, or less often than chance would.

    A negative kappa alone does not show that they agree less often: the test against chance must show it too.
    """
    kappa = numbers.fleiss_kappa
    if kappa.value is None:
        return UNDEFINED
    if kappa.low is None or kappa.high is None:
        return CANNOT_TELL
    if kappa.low > 0:
        return MORE
    test = numbers.chance_test
    if kappa.high < 0 and test.p is not None and test.p <= ALPHA_LESS:
        return LESS
    return CLOSE if kappa.high < LITTLE else CANNOT_TELL


def has_signal(numbers: Agreement) -> bool:
    """Return whether kappa is shown to be above 0.1, so that a latent class model can show how accurate people are."""
    low = numbers.fleiss_kappa.low
    return low is not None and low > LITTLE


def is_paradox(numbers: Agreement) -> bool:
    """Return whether one category is so frequent that kappa says little, and kappa does not show agreement."""
    expected = numbers.expected
    return expected is not None and expected >= MUCH_EXPECTED and chance_state(numbers) in (CLOSE, CANNOT_TELL)


def _pair_numbers(first: pd.DataFrame, of: CategorySet, level: float) -> Iterator[PairNumbers]:
    pairs = agreement.pair_agreements(first, of.names, level=level)
    if not of.is_binary:
        none = Estimate(None, reason=ONLY_FOR_TWO)
        yield from (PairNumbers(**entries(pair), pabak=none, prevalence_index=none, bias_index=none) for pair in pairs)
        return
    tables = agreement.two_by_two_tables(first, of.names, positive=of.positive)
    for pair in pairs:
        of_pair = tables[pair.a, pair.b]
        yield PairNumbers(
            **entries(pair),
            pabak=agreement.pabak(of_pair, level=level),
            prevalence_index=agreement.prevalence_index(of_pair, level=level),
            bias_index=agreement.bias_index(of_pair, level=level),
        )


def are_two_groups(found: Contrast) -> bool:
    """Return whether both groups of a division agree more often inside than across; else it is none of two opinions."""
    each = (found.within_first, found.within_second)
    across = found.across.value or 0.0
    return found.kind == "groups" and all(share and share.low is not None and share.low > across for share in each)


def _least_pair(first: pd.DataFrame, test: PairEquality | None) -> LeastPair | None:
    found = test.contrast if test else None
    if not found or found.kind != "pair" or (found.within.value or 0) >= (found.across.value or 0):
        return None
    a, b = found.first
    labels = first.assign(rater=first["rater"].map(str)).pivot(index="item", columns="rater", values="category")
    both = labels[[a, b]].dropna()
    return LeastPair(a, b, tuple(sorted(map(str, both.index[both[a] != both[b]]))))


def _coefficient(
    row: Coefficient,
    first: pd.DataFrame,
    counts: pd.DataFrame,
    names: Sequence[str],
    level: float,
    units: Units,
    groups: "pd.Series | None",
) -> Kappa:
    if row.of_counts is None:
        estimate = row(first, names, level=level)
    else:
        estimate = estimate_by(units, partial(row, counts, names, level=level), groups)
    if not row.is_corrected:
        return Kappa(**entries(estimate))
    return Kappa(**entries(estimate), band_low=agreement.band(estimate.low), band_high=agreement.band(estimate.high))


def _specific_by(
    units: Units, counts: pd.DataFrame, names: Sequence[str], level: float, groups: "pd.Series | None"
) -> dict[str, Estimate]:
    """Return the agreement on each category, with the interval that counts."""
    related = agreement.specific_agreement(counts, names, level=level, groups=groups)
    single = agreement.specific_agreement(counts, names, level=level) if units.by == BY_BOTH else related

    def of(name: str, groups: "pd.Series | None") -> Estimate:
        return (single if groups is None else related)[name]

    return {name: estimate_by(units, partial(of, name), groups) for name in names}


def _agreement_by(counts: pd.DataFrame, names: Sequence[str], level: float, groups: "pd.Series | None") -> AgreementBy:
    return AgreementBy(
        agreement.fleiss_kappa(counts, names, level=level, groups=groups),
        agreement.percent_agreement(counts, names, level=level, groups=groups),
    )


def _by_applications(
    counts: pd.DataFrame, names: Sequence[str], level: float, groups: "pd.Series | None", units: Units
) -> AgreementBy:
    if groups is not None:
        return _agreement_by(counts, names, level, groups)
    n = units.n_applications
    reason = f"fewer than {LEAST_GROUPS} applications ({n})" if n else "the applications of the items are unknown"
    unknown = Estimate(None, reason=reason)
    return AgreementBy(unknown, unknown)


def _bootstrap(counts: pd.DataFrame, names: Sequence[str], level: float, resampling: Resampling) -> dict[str, Estimate]:
    if not resampling.n_bootstrap:
        return {}
    return {
        name: agreement.bootstrap_coefficient(
            row,
            counts,
            names,
            rng=resampling.rng(f"bootstrap {name.removesuffix('_agreement')}"),
            n_draws=resampling.n_bootstrap,
            level=level,
        )
        for name, row in overall().items()
        if row.of_counts is not None
    }


def _by_labels_used(
    labels: Labels, categories: Sequence[str], level: float, units: Units, groups: "pd.Series | None"
) -> Iterator[LabelsUsed]:
    """Compute agreement after reviewers revised their answers.

    The overall agreement of the report uses first labels only. Third labels go to split items, so agreement with them
    would rise by construction.
    """
    for name, of_name in {"after own revisions": labels.current}.items():
        counts = count_table(of_name, categories).sort_index()
        of = None if groups is None else groups.reindex(counts.index)
        shares, kappas = (
            partial(coefficient, counts, categories, level=level)
            for coefficient in (agreement.percent_agreement, agreement.fleiss_kappa)
        )
        yield LabelsUsed(name, len(of_name), estimate_by(units, shares, of), estimate_by(units, kappas, of))


def _by_groups(first: pd.DataFrame, of: CategorySet, level: float) -> dict[str, tuple[GroupAgreement, ...]]:
    """Compute agreement by application, date, axis rule, third of the order and quartile of the time on task."""
    parts: dict[str, tuple[GroupAgreement, ...]] = {}
    of_categories: dict[str, Any] = {"categories": of.names, "positive": of.positive, "level": level}
    dated = first.assign(date=first["created_utc"].astype("string").str[:10]) if "created_utc" in first else first
    for name, column in (("by_application", "application"), ("by_date", "date")):
        parts[name] = tuple(agreement.by_group(dated, column, **of_categories)) if has_values(dated, column) else ()
    for name, column, n_parts in (("by_position", "position", N_PARTS), ("by_time_quartile", "dwell_ms", N_TIME_PARTS)):
        parts[name] = ()
        if has_values(first, column):
            parts[name] = tuple(agreement.by_order(first, column, n_parts=n_parts, **of_categories))
    several_rules = has_values(first, "axis_rule") and first["axis_rule"].nunique() > 1
    parts["by_axis_rule"] = tuple(agreement.by_group(first, "axis_rule", **of_categories)) if several_rules else ()
    return parts


def _if_given(labels: Labels, names: Sequence[str], level: float) -> Iterator[AgreementIfGiven]:
    """Compute agreement as if all missing labels had one category, once for each category."""
    if not len(labels.missing):
        return
    kappas = agreement.if_given(labels.first, labels.missing, agreement.fleiss_kappa, names, level=level)
    shares = agreement.if_given(labels.first, labels.missing, agreement.percent_agreement, names, level=level)
    for kappa, agreed in zip(kappas, shares, strict=True):
        yield AgreementIfGiven(kappa.category, kappa.n, agreed.value, kappa.value)


def _confidence(first: pd.DataFrame, of: CategorySet, level: float) -> Confidence | None:
    """Compute agreement by confidence, and weighted kappa of the confidences (1 to 3).

    Return None if no reviewer stated a confidence.
    """
    if not has_values(first, "confidence"):
        return None
    stated = first[first["confidence"].notna()].assign(confidence=first["confidence"].dropna().astype(int))
    counts = count_table(
        stated[["item", "rater", "confidence"]].rename(columns={"confidence": "category"}), CONFIDENCES
    )
    weighted = agreement.fleiss_kappa(Counts(counts), CONFIDENCES, weights="quadratic", level=level)
    return Confidence(
        len(stated),
        tuple(agreement.by_group(stated, "confidence", of.names, positive=of.positive, level=level)),
        weighted,
    )


def _disputed_items(first: pd.DataFrame, of: CategorySet) -> Disputed:
    """Count how often each pattern of labels occurs, and list the items with the most disagreement."""
    raters = in_name_order(pd.unique(first["rater"]))
    if len(raters) < 2:
        return Disputed((), (), ())
    wide = first.pivot(index="item", columns="rater", values="category").reindex(columns=raters)
    n = wide.notna().sum(axis=1)
    most = pd.concat([(wide == name).sum(axis=1) for name in of.names], axis=1).max(axis=1)
    minority = (n - most) / n
    letters = [[of.letters.get(label, "-") for label in row] for row in wide.to_numpy(dtype=object).tolist()]
    written = pd.Series(["".join(row) for row in letters], index=wide.index, dtype=object)
    patterns = written[n >= 2].value_counts()
    ranked = pd.DataFrame({"minority": minority, "n": n, "labels": written})[n >= 2]
    ranked = ranked[ranked["minority"] > 0].assign(name=lambda rows: rows.index.map(str))
    ranked = ranked.sort_values(["minority", "n", "name"], ascending=[False, False, True]).head(MOST_DISPUTED)
    return Disputed(
        tuple(str(rater) for rater in raters),
        tuple(
            Pattern(str(labels), count)
            for labels, count in sorted(patterns.to_dict().items(), key=lambda pair: (-pair[1], pair[0]))
        ),
        tuple(DisputedItem(*row) for row in zip(ranked["name"], ranked["labels"], ranked["n"].tolist(), strict=True)),
    )


def _order(first: pd.DataFrame, of: CategorySet, n_reviewers: int) -> OrderTest | None:
    """Test whether labels or agreement change over each reviewer's items; return None if positions are unknown.

    Without a positive category, there is no test.
    """
    if not of.positive or not has_values(first, "position"):
        return None
    if n_reviewers > MOST_REVIEWERS:
        return OrderTest((), 0.05, 0, None, None, TOO_MANY)
    outcomes = ["dissimilar", "agreement", *(["dwell_ms"] if has_values(first, "dwell_ms") else [])]
    return agreement.order_test(
        first[first["position"].notna()], outcomes=outcomes, categories=of.names, positive=of.positive
    )


def _drift(first: pd.DataFrame, names: Sequence[str], level: float, groups: Groups | None) -> CourseTest | None:
    """Test agreement for a change in the course of the study, by position or by time; None if neither is known."""
    column = next((column for column in ("position", "created_utc") if has_values(first, column)), None)
    if column is None:
        return None
    return agreement.course_test(first, names, column=column, groups=groups, level=level)


def agreement_sections(
    numbers: Agreement,
    style: ReportStyle,
    *,
    by_category: ByCategory | None,
    sides: SideBias | None,
    interim: bool,
    with_pictures: bool,
) -> tuple[d.Section, ...]:
    """Build the sections on agreement; `interim`: name no item, because the study is not unblinded."""
    return (
        d.Section("Agreement of pairs", tuple(_pairs(numbers, style))),
        d.Section("Overall agreement", tuple(_overall(numbers, style, by_category))),
        d.Section("Agreement by group", tuple(_groups(numbers, style))),
        d.Section("Reviewers", tuple(_reviewers(numbers, style, by_category))),
        *([d.Section("Side bias", tuple(side_blocks(sides, style)))] if sides else []),
        d.Section(
            "What reviewers disagree on",
            tuple(_disputed(numbers, style, interim=interim, with_pictures=with_pictures)),
        ),
    )


def _reviewers(numbers: Agreement, style: ReportStyle, by_category: ByCategory | None) -> Iterator[d.Block]:
    if by_category:
        yield from shares_of_categories(by_category, style)
    if numbers.leniency:
        yield from leniency_blocks(numbers.leniency, style)
    yield from against_the_rest_blocks(numbers.against_the_rest, numbers.fleiss_kappa, style)
    yield from drift_blocks(numbers.drift, style)
    yield from time_blocks(numbers.time_on_task)
    yield from retest_blocks(numbers.retest, style)


def _pairs(numbers: Agreement, style: ReportStyle) -> Iterator[d.Block]:
    level, is_binary = style.level_text, style.category_set.is_binary
    if numbers.pairs:
        yield d.table(
            "Number of items that both reviewers of a pair labelled, and the share of these items on which they "
            "agree. The table uses first labels only. Intervals of shares are Wilson intervals.",
            ("Pair", "Items", "Agreed", f"Agreement ({level})", f"Cohen's kappa ({level})",
             *(("PABAK", "Prevalence index", "Bias index") if is_binary else ())),
            [
                (f"{pair.a} – {pair.b}", pair.n, pair.agree, d.share(pair.percent), d.plain_number(pair.cohen_kappa),
                 *(d.number(value.value, 2)
                   for value in (pair.pabak, pair.prevalence_index, pair.bias_index) if is_binary))
                for pair in numbers.pairs
            ],
            numeric=(1, 2, 5, 6, 7) if is_binary else (1, 2), name="pairs")  # fmt: skip
    yield d.Paragraph(f"Do all pairs agree equally often? {_equality(numbers.pair_equality, style.alpha)}")


def _equality(test: PairEquality | None, alpha: float) -> str:
    if test is None or test.p is None:
        return f"Not tested: {test.reason if test else 'there are no labels'}."
    result = (
        f"F = {d.number(test.statistic, 1)}, {test.df1} and {test.df2} degrees of freedom, p = {d.p_value(test.p)} "
    )
    result += f"({test.n_items} items with two or more labels)."
    if test.p > alpha:
        return result
    by = f" {_describe_contrast(test.contrast)}" if test.contrast else ""
    return f"{result} The pairs differ in their agreement, and a single overall number hides this.{by}"


def _describe_contrast(found: Contrast) -> str:
    """Say which division of the reviewers explains the differences between pairs best."""
    first, second = d.joined(found.first), d.joined(found.second)
    whom = {
        "pair": f"the pair {first} and all other pairs",
        "reviewer": f"{first} and the other reviewers",
        "groups": f"two groups of reviewers, {first} and {second}",
    }
    within, across = d.percent(found.within.value), d.percent(found.across.value)
    shares = {
        "pair": f"{within} for the pair, {across} for the others",
        "reviewer": f"{across} with {first}, {within} without",
        "groups": f"{within} inside the groups, {across} between them",
    }
    return f"The clearest difference is between {whom[found.kind]}: {shares[found.kind]} (p = {d.p_value(found.p)})."


def _overall(numbers: Agreement, style: ReportStyle, by_category: ByCategory | None) -> Iterator[d.Block]:
    level = style.level_text
    rows: list[tuple[Any, ...]] = []
    shown = {name: row for name, row in overall().items() if name in numbers.coefficients}
    for name, coefficient in shown.items():
        value = numbers.coefficients[name]
        text = d.plain_number(value) if coefficient.is_corrected else d.share(value)
        rows.append((capitalised(coefficient.title), text, _bands(value), _resampled(numbers, coefficient)))
    weighted = by_category.weighted if by_category else ()
    rows += [(f"{row.name} ({row.weights} weights)", d.plain_number(row.value), "", "") for row in weighted]
    for category, estimate_ in numbers.specific.items():
        rows.append((f"Agreement on {category}", d.share(estimate_), "", ""))
    if numbers.jackknife:
        rows.append(
            ("Fleiss' kappa if reviewers are a random sample (jackknife)", d.plain_number(numbers.jackknife), "", "")
        )
    for row in numbers.if_given:
        kappa_ = f"Fleiss' kappa if the {row.n} missing labels were {row.category}"
        percent_ = f"Percent agreement if the {row.n} missing labels were {row.category}"
        rows += [(percent_, d.share(row.percent), "", ""), (kappa_, d.plain_number(row.fleiss_kappa), "", "")]
    by = numbers.units.by
    for is_other, other, how in (
        (by in (BY_APPLICATION, BY_BOTH), numbers.by_items, "counting items one by one"),
        (by != BY_APPLICATION, numbers.by_applications, "counting applications"),
    ):
        if is_other:
            rows.append((f"Fleiss' kappa, {how}", d.plain_number(other.fleiss_kappa), "", ""))
            rows.append((f"Percent agreement, {how}", d.share(other.percent), "", ""))
    missing = " A label is missing if it was planned but not given, withdrawn, or not sure." if numbers.if_given else ""
    yield d.table(
        f"{d.counted(numbers.n_labels, 'first label')} on {d.counted(numbers.n_items, 'item')}. Items with two or more "
        f"labels: {numbers.n_items_with_two_labels}. {numbers.units.words}{missing}",
        ("Statistic", f"Value ({level})", "Landis-Koch bands of the limits", f"Bootstrap over items ({level})"),
        rows,
        name="overall-agreement",
    )
    yield d.Paragraph(" ".join(f"{capitalised(row.title)} {row.sentence}." for row in shown.values()), "note")
    yield d.Paragraph(f"Is agreement better than chance? Test of kappa = 0: {_describe_chance(numbers.chance_test)}.")


def _resampled(numbers: Agreement, row: Coefficient) -> str:
    resampled = numbers.bootstrap.get(row.name)
    return "" if resampled is None else d.interval(resampled, as_percent=not row.is_corrected) or d.DASH


def _describe_chance(test: ChanceTest) -> str:
    return f"not computed ({test.reason})" if test.p is None else f"z = {d.number(test.z, 2)}, p = {d.p_value(test.p)}"


def _bands(value: Kappa) -> str:
    low, high = value.band_low, value.band_high
    return "" if not low else low if low == high else f"{low} to {high}"


def _groups(numbers: Agreement, style: ReportStyle) -> Iterator[d.Block]:
    level = style.level_text
    first_used = LabelsUsed("first", numbers.n_labels, numbers.percent, numbers.fleiss_kappa)
    yield d.table(
        "Agreement by which labels are used.",
        ("Labels", "Number", f"Agreement ({level})", f"Fleiss' kappa ({level})"),
        [
            (row.labels, row.n_labels, d.share(row.percent), d.plain_number(row.fleiss_kappa))
            for row in (first_used, *numbers.by_labels_used)
        ],
        numeric=(1,),
        name="labels-used",
    )
    for name, caption, first in (
        ("by_application", "Agreement by application.", "Application"),
        ("by_position", "Agreement by thirds of each reviewer's labels in order.", "Third"),
        ("by_time_quartile", "Agreement by quartiles of each reviewer's time on task, fastest first.", "Quartile"),
        ("by_date", "Agreement by date.", "Date"),
        ("by_axis_rule", "Agreement by the axis rule that applied when the label was given.", "Axis rule"),
    ):
        rows = getattr(numbers, name)
        if len(rows) > 1:
            more = (
                f" The table shows the first {MANY} of {len(rows)} rows; report.json has all rows."
                if len(rows) > MANY
                else ""
            )
            yield _group_table(rows[:MANY], style, caption + more, first, name.replace("_", "-"))
    confidence = numbers.confidence
    if confidence:
        caption = "Agreement by the confidence that reviewers stated (1 is low, 3 is high)."
        yield _group_table(confidence.by_confidence, style, caption, "Confidence", "by-confidence")
        weighted = d.estimate(confidence.weighted_kappa, as_percent=False)
        yield d.Paragraph(f"Do reviewers agree on their confidence? Weighted kappa (quadratic): {weighted} ({level}).")
    if numbers.order or style.category_set.positive:
        yield d.Paragraph(_describe_order(numbers.order, style.category_set))


def _group_table(rows: Sequence[GroupAgreement], style: ReportStyle, caption: str, first: str, name: str) -> d.Table:
    positive, level = style.category_set.positive, style.level_text
    of_positive = (f"{capitalised(positive)}, of all labels ({level})",) if positive else ()
    return d.table(
        caption,
        (first, "Items with another label", "Labels on them", *of_positive, f"Agreement ({level})", f"Kappa ({level})"),
        [
            (row.group, row.n_items, row.n_labels, *((d.share(row.dissimilar),) if positive else ()),
             d.share(row.percent), _kappa_cell(row))
            for row in rows
        ],
        numeric=(1, 2), name=name)  # fmt: skip


def _kappa_cell(row: GroupAgreement) -> d.Statistic | d.Marked:
    if row.n_items < LEAST_FOR_KAPPA:
        return d.Marked(d.DASH, f"fewer than {LEAST_FOR_KAPPA} items")
    return d.plain_number(row.kappa)


def _seen_change(order: OrderTest) -> str:
    """Say how large a change over the items must be to be seen in 80 % of studies."""
    normal = NormalDist()
    z = normal.inv_cdf(1 - order.alpha / (2 * order.n_tests)) + normal.inv_cdf(0.8)
    changes = [
        z * effect.effect.se
        for effect in order.effects
        if effect.test == "trend" and effect.outcome in ("dissimilar", "agreement") and effect.effect.se
    ]
    if not changes:
        return ""
    largest = round(100 * max(changes))
    if largest >= 100:
        return "; with so few labels, even a change of all labels of a reviewer could go unseen"
    return f"; only changes of more than {largest} points between first and last items would usually have been seen"


def _describe_order(order: OrderTest | None, of: CategorySet) -> str:
    """Describe in sentences whether labels depend on the item order."""
    if order is None:
        return "Effects of the item order on labels were not tested because positions are unknown."
    if order.matters is None:
        return f"Effects of the item order on labels were not tested: {order.reason}."
    question = (
        f"Do labels depend on the item order? {order.n_tests} tests (trend over positions; labels after a "
        f"{of.positive} label against labels after a {of.negative} label; for each reviewer and outcome), overall "
        f"level {order.alpha:g} (Bonferroni): "
    )
    if not order.matters:
        return question + (
            f"no sign of it{_seen_change(order)}."
            + (" Without the correction, some tests would be significant." if order.matters_uncorrected else "")
        )
    threshold = order.alpha / order.n_tests
    rows = [e for e in order.effects if e.p is not None and e.p < threshold]
    outcomes = {"dissimilar": of.positive}
    names = "; ".join(
        f"{e.rater}, {outcomes.get(e.outcome, d.readable_name(e.outcome))}, {e.test} (p = {d.p_value(e.p)})"
        for e in rows
    )
    return f"{question}yes: {names}."


def _disputed(numbers: Agreement, style: ReportStyle, *, interim: bool, with_pictures: bool) -> Iterator[d.Block]:
    disputed = numbers.disputed
    if not disputed.patterns:
        is_empty = not numbers.n_items_with_two_labels
        yield d.Paragraph("No item has two labels yet." if is_empty else f"Not shown, because {TOO_MANY}.")
        return
    of = style.category_set
    colours = (
        f"Dark means {of.positive}, light means {of.negative}, and blank means not labelled."
        if of.is_binary
        else "A blank means not labelled."
    )
    which = "All items with two or more labels, sorted by agreement"
    if disputed.drawn_every > 1:
        which += f" (one of {disputed.drawn_every} is drawn)"
    yield d.Figure("label-strip", f"{which}, one row per reviewer. {colours}")
    if disputed.items and interim:
        yield d.Paragraph("The items with the most disagreement are named after the study is unblinded.", "note")
    elif disputed.items:
        names = {"-": d.DASH} | {letter: name for name, letter in of.letters.items()}
        yield d.table(
            "Items with the most disagreement.",
            ("Item", *disputed.reviewers),
            [(row.item, *(names[letter] for letter in row.labels)) for row in disputed.items],
            name="disputed",
        )
    least = numbers.least_pair
    if least and least.items and not interim:
        yield d.table(
            f"Items on which {least.a} and {least.b} disagree, the pair that agrees less often than the others.",
            ("Item",), [(item,) for item in least.items], name="least-pair",
        )  # fmt: skip
    if with_pictures:
        yield d.Figure(
            PICTURES,
            "Runs of the items with the most disagreement, drawn as reviewers saw them. All runs of an item share one "
            "axis.",
        )
