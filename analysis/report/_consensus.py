"""The consensus of the items: agreed labels only, adjudicated majority, and latent class: numbers and sections."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from analysis import document as d
from analysis.categories import DISSIMILAR, SIMILAR
from analysis.raters import consensus
from analysis.raters.consensus import Identifiability, ModelState, RaterRates, TrueCategories
from analysis.report._categories import CategoryRow, true_category_section
from analysis.report._settings import NO_SIGNAL, CategorySet, ReportStyle, Resampling, entries
from analysis.report._tables import CountedConsensus
from analysis.statistics.intervals import Estimate, wilson

UNSEEN = (
    "No test can see errors that all raters share. If m % of the items mislead everybody, every rate is too high by "
    "about m times (sensitivity − 0.1) percentage points: 10 % mean about 8 points."
)
Done = Callable[[Any], Any]  # a function that receives the result of each finished part, and returns it


@dataclass(frozen=True)
class AgreedShare:
    """The share of agreed items among those with one number of labels."""

    n_labels: int
    n: int
    agreed: Estimate


@dataclass(frozen=True, kw_only=True)
class Majority:
    """The number of items by their state, if third labels and adjudications decide split items."""

    n_third_labels: int
    majority: int
    adjudicated: int
    split: int
    incomplete: int
    by_category: Mapping[str, int] = field(metadata=d.inline("n_"))  # category -> number of decided items


@dataclass(frozen=True, repr=False, kw_only=True)
class StatedEstimate(Estimate):
    """An estimate of the latent class model, with the state of the model."""

    state: str = ""
    state_words: str = ""


@dataclass(frozen=True, repr=False, kw_only=True)
class StatedRates(RaterRates):
    """Rates of a rater in the latent class model, with the state of the model."""

    state: str = ""
    state_words: str = ""


UNDECIDED = "undecided.csv"  # the file of the report with the items that the model cannot decide


@dataclass(frozen=True)
class Undecided:
    """An item for which the model cannot decide."""

    item: str
    posterior: float | None
    state: str = ""


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """The numbers of a latent class model that was fitted."""

    state: ModelState
    level: float
    prevalence: StatedEstimate
    reviewers: tuple[StatedRates, ...]
    n_decided: Mapping[str, int] | None  # None if the numbers are withheld
    undecided: tuple[Undecided, ...] | None


@dataclass(frozen=True)
class Latent:
    """The latent class model: what the labels can identify, and the fitted model."""

    identifiability: Identifiability
    fitted: Fitted | None = field(default=None, metadata=d.inline())  # None if resampling is turned off


@dataclass(frozen=True, kw_only=True)
class Consensus:
    """The numbers of items by their consensus."""

    rule: str
    n_items: int
    agreed: int
    agreed_by_category: Mapping[str, int] = field(metadata=d.inline("agreed_"))
    split: int
    settled: int  # number of split items that third labels or a decision settled
    incomplete: int
    by_n_labels: tuple[AgreedShare, ...]
    majority: Majority
    latent: Latent | None  # None without a positive category


def consensus_numbers(
    truth: CountedConsensus, names: Sequence[str], latent: Latent | None, n_third: int, n_items: int, level: float
) -> Consensus:
    """Compute all numbers on the consensus that comes from counting labels."""
    status, n_labels = truth.agreed["status"], truth.agreed["n_labels"]
    n_agreed, n_split = (int((status == name).sum()) for name in (consensus.AGREED, consensus.SPLIT))
    now = truth.majority["status"].reindex(status.index)
    is_settled = (status == consensus.SPLIT) & now.isin([consensus.MAJORITY, consensus.ADJUDICATED])
    return Consensus(
        rule="agreed only: at least two first labels, all equal",
        n_items=n_items,
        agreed=n_agreed,
        agreed_by_category=_by_category(truth.agreed, names),
        split=n_split,
        settled=int(is_settled.sum()),
        incomplete=n_items - n_agreed - n_split,
        by_n_labels=tuple(
            AgreedShare(int(n), len(group), wilson(int((group == consensus.AGREED).sum()), len(group), level))
            for n, group in status[n_labels >= 2].groupby(n_labels)
        ),
        majority=_majority(truth.majority, names, n_third),
        latent=latent,
    )


def _by_category(table: pd.DataFrame, names: Sequence[str]) -> dict[str, int]:
    return {category: int((table["category"] == category).sum()) for category in names}


def _majority(table: pd.DataFrame, categories: Sequence[str], n_third: int) -> Majority:
    counts = table["status"].value_counts()
    names = (consensus.MAJORITY, consensus.ADJUDICATED, consensus.SPLIT, consensus.INCOMPLETE)
    return Majority(
        n_third_labels=n_third,
        **{name: int(counts.get(name, 0)) for name in names},
        by_category=_by_category(table, categories),
    )


def latent_numbers(
    truth: CountedConsensus,
    first: pd.DataFrame,
    verdicts: pd.DataFrame,
    of: CategorySet,
    level: float,
    resampling: Resampling,
    done: Done,
    *,
    has_signal: bool,
    show_rejected: bool,
) -> tuple[Latent | None, dict[str, StatedRates]]:
    """Fit the latent class model to the reviewers' labels, and compute the rates of each classifier against it.

    Every row states the status of its model. The numbers of a rejected model are withheld unless `show_rejected` is
    true, and all numbers unless `has_signal`: without agreement, any accuracy of the reviewers fits the labels. If the
    resampling has no Gibbs sweeps, the result only says whether the model is identifiable. The model has two
    categories, so all categories that are not positive are one; without a positive category, there is no model.
    """
    if of.positive is None:
        return None, {}
    first, third = (_two_categories(table, "category", of) for table in (first, truth.third))
    verdicts = _two_categories(verdicts, "verdict", of)
    if not resampling.n_sweeps:
        labels = pd.concat([first[third.columns], third], ignore_index=True)
        return Latent(consensus.identifiability(labels)), {}
    found = done(
        consensus.latent_class(
            first,
            verdicts[["item", "classifier", "verdict"]] if len(verdicts) else None,
            third_labels=third,
            level=level,
            n_sweeps=resampling.n_sweeps,
            rng=resampling.rng("latent class"),
        )
    )
    state, items = found.state, found.items
    why = None if has_signal else NO_SIGNAL
    if why is None and state.state == consensus.REJECTED and not show_rejected:
        why = f"withheld: {state.words}"
    numbers = Fitted(
        state=state,
        level=found.level,
        prevalence=_stated(found.prevalence, state, why),
        reviewers=tuple(_stated_rates(rates, state, why) for rates in found.reviewers),
        n_decided=None
        if why
        else dict(zip((of.negative, of.positive), _by_category(items, (SIMILAR, DISSIMILAR)).values(), strict=True)),
        undecided=None if why else tuple(_undecided_items(items, state.state)),
    )
    return Latent(found.identifiability, numbers), {
        str(rates.rater): _stated_rates(rates, state, why) for rates in found.classifiers
    }


def _two_categories(table: pd.DataFrame, column: str, of: CategorySet) -> pd.DataFrame:
    """Return a table in which the positive category is called dissimilar and each other category similar."""
    if of.is_built_in:
        return table
    return table.assign(
        **{column: table[column].map(lambda name: DISSIMILAR if name == of.positive else SIMILAR, na_action="ignore")}
    )


def _stated(value: Estimate, state: ModelState, why: str | None) -> StatedEstimate:
    """Add the state of the model to an estimate; `why` withholds the estimate."""
    shown = Estimate(None, reason=why) if why else value
    return StatedEstimate(**entries(shown), state=state.state, state_words=state.words)


def _stated_rates(rates: RaterRates, state: ModelState, why: str | None) -> StatedRates:
    """Add the state of the model to rates; `why` withholds the rates."""
    none = Estimate(None, reason=why)
    shown = replace(rates, sensitivity=none, specificity=none) if why else rates
    return StatedRates(**entries(shown), state=state.state, state_words=state.words)


def _undecided_items(items: pd.DataFrame, state: str) -> Iterator[Undecided]:
    rows = items[items["category"] == "undecided"].sort_values("item")
    has_posterior = rows["posterior"].notna()
    for item, posterior, is_known in zip(rows["item"], rows["posterior"], has_posterior, strict=True):
        yield Undecided(str(item), float(posterior) if is_known else None, state)


def model_cell(row: StatedRates) -> d.Marked:
    """Return a cell with the state of the model that a row depends on.

    A note explains the state. There is no note if the labels do not contradict the model. There is also no note if the
    row has no numbers, because other notes of the row then give the reason.
    """
    has_numbers = row.sensitivity.value is not None or row.specificity.value is not None
    if row.state == consensus.NOT_CONTRADICTED or not has_numbers:
        return d.Marked(row.state, "")
    start = "rejected: " if row.state == consensus.REJECTED else ""
    return d.Marked(row.state, f"{start}{row.state_words.removesuffix('.')}")


def mark_of(decided: Consensus) -> str:
    """Return "rejected" if the model is rejected, and otherwise "".

    Agreed labels and majorities carry the same mark as the model, because they are wrong for the same reasons.
    """
    fitted = decided.latent.fitted if decided.latent else None
    return fitted.state.state if fitted and fitted.state.state == consensus.REJECTED else ""


def consensus_sections(
    decided: Consensus,
    style: ReportStyle,
    *,
    left_out: Mapping[str, int],
    true_categories: TrueCategories | None,
    categories: Sequence[CategoryRow],
    show_rejected: bool,
    interim: bool,
) -> tuple[d.Section, ...]:
    """Build the sections on consensus and the models; `interim`: name no item, because the study is not unblinded."""
    latent = (
        tuple(_latent(decided.latent, style.category_set, show_rejected=show_rejected, interim=interim))
        if decided.latent
        else ()
    )
    return (
        d.Section("Consensus and items left out", tuple(_consensus(decided, style, left_out))),
        *([true_category_section(true_categories, categories)] if true_categories else []),
        *([d.Section("Latent class", latent)] if latent else []),
    )


def _consensus(decided: Consensus, style: ReportStyle, left_out: Mapping[str, int]) -> Iterator[d.Block]:
    of = style.category_set
    yield d.Paragraph(
        f"Rule for the consensus: {decided.rule}. Items: {decided.n_items}, of which {decided.agreed} agreed "
        f"({_counts(decided.agreed_by_category, of)}), {decided.split} split and {decided.incomplete} with fewer "
        "than two first labels. Only agreed items enter the confusion matrices. Split items are not scored, although "
        "they are usually harder than the agreed items."
    )
    yield d.Paragraph(_describe_majority(decided.majority, of))
    if len(decided.by_n_labels) > 1:
        yield d.table(
            "Share of agreed items by number of labels. The more reviewers label an item, the rarer is full agreement.",
            ("Labels", "Items", f"Agreed ({style.level_text})"),
            [(row.n_labels, row.n, d.share(row.agreed)) for row in decided.by_n_labels],
            numeric=(0, 1),
            name="agreed-by-labels",
        )
    kinds = {d.readable_name(name): n for name, n in left_out.items()}
    answers = ", ".join(d.counted(n, kind.removesuffix("s"), kind) for kind, n in kinds.items())
    yield d.Paragraph(f"Answers left out of the tables: {answers}.")


def _counts(by_category: Mapping[str, int], of: CategorySet, word: str = ", ") -> str:
    """Return the number of items of each category in words, of two categories the positive one first."""
    ordered = sorted(of.names, key=lambda name: name != of.positive) if len(of.names) == 2 else of.names
    parts = [f"{by_category[name]} {name}" for name in ordered]
    return f"{', '.join(parts[:-1])}{word}{parts[-1]}"


def _describe_majority(majority: Majority, of: CategorySet) -> str:
    if not majority.n_third_labels and not majority.adjudicated:
        return "There are no third labels and no adjudications yet, so the adjudicated majority uses first labels only."
    return (
        f"With {d.counted(majority.n_third_labels, 'third label')} and {d.counted(majority.adjudicated, 'decision')} "
        f"of coordinators, the adjudicated majority has {_counts(majority.by_category, of, ' and ')} items. Still "
        f"split: {d.counted(majority.split, 'item')}; with fewer than two labels: "
        f"{d.counted(majority.incomplete, 'item')}."
    )


def _latent(latent: Latent, of: CategorySet, *, show_rejected: bool, interim: bool) -> Iterator[d.Block]:
    """Describe what the latent class model can estimate, and what it cannot."""
    identifiability = latent.identifiability
    if not of.is_binary:
        yield d.Paragraph(f"This model has two categories: {of.positive}, and all other categories together.")
    yield d.Paragraph(
        "A latent class model estimates the true category of each item and the error rates of each reviewer. "
        f"{d.sentence(identifiability.words)}"
    )
    if identifiability.remedies:
        yield d.Paragraph(
            f"Each of these changes alone would make the model identifiable: {'; '.join(identifiability.remedies)}."
        )
    fitted = latent.fitted
    if fitted and fitted.state.state == "not identified":
        return
    if not fitted:
        yield d.Paragraph("The model was not fitted because resampling was turned off for this report.", "note")
        return
    if fitted.prevalence.reason == NO_SIGNAL:
        yield d.Paragraph(f"{d.sentence(NO_SIGNAL)}")
        return
    yield from _state(fitted.state, show_rejected=show_rejected)
    if identifiability.identified:
        yield d.Paragraph(UNSEEN)
        yield from _rates(fitted, of)
    if not interim:  # the table names items
        yield from _undecided(latent, of)


def _state(judged: ModelState, *, show_rejected: bool) -> Iterator[d.Block]:
    text = f"Status of the model: {judged.state}. {d.sentence(judged.words)}"
    if judged.state == "rejected":
        text += (
            " The numbers of this model are shown because they were requested; do not trust them."
            if show_rejected
            else (" The numbers of this model are withheld. To see them, run labeler report --show-rejected.")
        )
    if judged.state == consensus.REJECTED:
        text += (
            " If reviewers did not label independently, agreement and the agreed items overstate reliability as well."
        )
    if judged.remedies:
        text += f" Possible remedies: {'; '.join(judged.remedies)}."
    yield d.Paragraph(text, "text" if judged.state == consensus.NOT_CONTRADICTED else "warning")


def _rates(fitted: Fitted, of: CategorySet) -> Iterator[d.Block]:
    """Show the estimates of the latent class model, each with the status of the model."""
    level = f"{100 * fitted.level:g} % credible interval"
    prevalence = fitted.prevalence
    yield d.Paragraph(
        f"Share of {of.positive} items ({level}): {d.estimate(prevalence)}. Model: {prevalence.state}."
        if prevalence.value is not None
        else f"Share of {of.positive} items: {prevalence.reason}."
    )
    yield d.table(
        f"Share of right labels of each reviewer with its {level}, as the model estimates them.",
        ("Reviewer", "Items", f"On {of.positive} items ({level})", f"On {of.negative} items ({level})", "Model"),
        [(row.rater, row.n, d.share(row.sensitivity), d.share(row.specificity), model_cell(row))
         for row in fitted.reviewers],
        numeric=(1,), name="reviewer-rates")  # fmt: skip


def _describe_state(judged: ModelState) -> str:
    words = str(judged.words).removesuffix(".")
    return words if words.startswith(judged.state) else f"{judged.state}; {words}"


def _undecided(latent: Latent, of: CategorySet) -> Iterator[d.Block]:
    fitted = latent.fitted
    if not latent.identifiability.identified or not fitted or not fitted.undecided:
        return
    yield d.Paragraph(
        f"The model cannot decide {d.counted(len(fitted.undecided), 'item')}, because the probability of {of.positive} "
        f"is between 0.1 and 0.9; {UNDECIDED} has them. Model: {_describe_state(fitted.state)}."
    )
