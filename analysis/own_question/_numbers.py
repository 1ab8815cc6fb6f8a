"""All numbers of the report of a study with its own question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis import agreement, consensus, evaluation
from analysis.evaluation import Evaluation, McNemar
from analysis.intervals import Estimate, paired_difference, wilson
from analysis.multiple import holm
from analysis.own_question._truth import TrueCategories, true_categories
from analysis.results import Result
from analysis.tables import COUNTED_KINDS, count_table, first_of, in_name_order, with_defaults

RETEST, THIRD, ADJUDICATED = "retest", "third", "adjudicated"
WEIGHTED = ("linear", "quadratic")


@dataclass(frozen=True, repr=False)
class Coefficient(Result):
    """A coefficient of agreement; `weights` is "" if all disagreements count alike."""

    name: str
    weights: str
    value: Estimate


@dataclass(frozen=True, repr=False)
class OfCategory(Result):
    """The labels and items of a category.

    `agreement` is the specific agreement: how often a second label is this category if the first one is.
    """

    category: str
    meaning: str
    n_labels: int
    agreement: Estimate
    n_agreed: int
    n_majority: int


@dataclass(frozen=True, repr=False)
class OfPair(Result):
    """Agreement of two reviewers."""

    a: str
    b: str
    n: int
    agree: int
    percent: Estimate
    cohen_kappa: Estimate


@dataclass(frozen=True, repr=False)
class OfReviewer(Result):
    """The labels of a reviewer, by category, and the agreement with the reviewer's own second labels."""

    reviewer: str
    n: int
    shares: Mapping[str, float]
    n_retests: int
    retest: Estimate


@dataclass(frozen=True, repr=False)
class ClassifierNumbers(Result):
    """A classifier against the agreed items; `p_holm` is corrected for the number of classifiers."""

    classifier: str
    result: Evaluation
    p_holm: float | None
    verdict: str


@dataclass(frozen=True, repr=False)
class Compared(Result):
    """Two classifiers on the same agreed items: the difference of their accuracies, and McNemar's test."""

    a: str
    b: str
    n: int
    difference: Estimate
    mcnemar: McNemar
    p_holm: float | None


@dataclass(frozen=True, repr=False)
class CategoryReport(Result):
    """All numbers of a report. Every undefined number is None and has a reason."""

    study: Mapping[str, Any]
    question: Mapping[str, Any]
    level: float
    seed: int
    n_draws: int
    n_items: int
    n_labels: int
    n_items_with_two_labels: int
    n_agreed: int
    n_split: int
    n_adjudicated: int
    percent: Estimate
    coefficients: tuple[Coefficient, ...]
    categories: tuple[OfCategory, ...]
    pairs: tuple[OfPair, ...]
    reviewers: tuple[OfReviewer, ...]
    truth: TrueCategories
    classifiers: tuple[ClassifierNumbers, ...]
    comparisons: tuple[Compared, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    plan: Mapping[str, Any] | None = None
    hashes: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The categories, in the order of the question."""
        return tuple(row.category for row in self.categories)

    @property
    def ordered(self) -> bool:
        """Whether the categories form a scale."""
        return bool(self.question["ordered"])


def summarise(
    answers: pd.DataFrame,
    verdicts: pd.DataFrame,
    meanings: Mapping[str, str],
    *,
    ordered: bool = False,
    n_items: int | None = None,
    level: float = 0.95,
    seed: int = 1,
    n_draws: int = 0,
    **provenance: Any,
) -> CategoryReport:
    """Compute all numbers from the answers and verdicts of a study.

    Raises ValueError if a column is missing or a value is not one of the categories.

    Parameters
    ----------
    answers, verdicts : DataFrame
        As in `analysis.report.summarise`.
    meanings : mapping of str to str
        The categories in their order, with what each means.
    ordered : bool
        Whether the categories form a scale.
    n_items : int, optional
        Number of items in the study; by default the number of items with a first label.
    level : float
        Confidence level of all intervals; tests use 1 - level.
    seed, n_draws : int
        Random seed and number of resamples of the correlation of classifiers; without resamples, no interval.
    **provenance
        The fields study, question, parameters, plan, hashes, versions and notes of the report.
    """
    names = tuple(meanings)
    first = first_of(with_defaults(answers), names)
    counted = first[first["kind"].isin(COUNTED_KINDS)]
    decided = (
        answers[(answers["kind"] == ADJUDICATED) & answers["label"].isin(names)] if "kind" in answers else first[:0]
    )
    decisions = dict(zip(decided["item"], decided["label"], strict=True)) if len(decided) else {}
    agreed = consensus.agreed_only(counted, names)
    most = consensus.majority(counted, _third(first, counted), decisions, names)
    counts = count_table(counted, names).sort_index()
    specific = agreement.specific_agreement(counts, names, level=level)
    status = agreed["status"].value_counts()
    classifiers, comparisons = _classifiers(verdicts, agreed, names, ordered, level, seed, n_draws)
    return CategoryReport(
        study=provenance.pop("study", {}),
        question={"ordered": ordered} | dict(provenance.pop("question", {})),
        level=level,
        seed=seed,
        n_draws=n_draws,
        n_items=len(counts) if n_items is None else n_items,
        n_labels=len(counted),
        n_items_with_two_labels=int((counts.sum(axis=1) >= 2).sum()),
        n_agreed=int(status.get(consensus.AGREED, 0)),
        n_split=int(status.get(consensus.SPLIT, 0)),
        n_adjudicated=len(decisions),
        percent=agreement.percent_agreement(counts, names, level=level),
        coefficients=_coefficients(counts, names, ordered, level),
        categories=tuple(
            OfCategory(
                name, meaning, int(counts[name].sum()), specific[name], int((agreed["category"] == name).sum()),
                int((most["category"] == name).sum()),
            )
            for name, meaning in meanings.items()
        ),
        pairs=tuple(
            OfPair(pair.a, pair.b, pair.n, pair.agree, pair.percent, pair.cohen_kappa)
            for pair in agreement.pair_agreements(counted, names, level=level)
        ),
        reviewers=_reviewers(counted, first, names, level),
        truth=true_categories(counted, names),
        classifiers=classifiers,
        comparisons=comparisons,
        **provenance,
    )  # fmt: skip


def _third(first: pd.DataFrame, counted: pd.DataFrame) -> pd.DataFrame:
    """Return the third labels of reviewers who gave no first label on the item."""
    third = first[first["kind"] == THIRD].drop_duplicates(["item", "rater"])
    of_third, of_counted = (pd.MultiIndex.from_frame(rows[["item", "rater"]]) for rows in (third, counted))
    return third[~of_third.isin(of_counted)]


def _coefficients(
    counts: pd.DataFrame, names: Sequence[str], ordered: bool, level: float
) -> tuple[Coefficient, ...]:  # fmt: skip
    plain = {
        "Fleiss' kappa": agreement.fleiss_kappa, "Krippendorff's alpha": agreement.krippendorff_alpha,
        "Gwet's AC1": agreement.gwet_ac1, "Brennan-Prediger": agreement.brennan_prediger,
    }  # fmt: skip
    rows = [Coefficient(name, "", function(counts, names, level=level)) for name, function in plain.items()]
    weighted = {
        "Fleiss' kappa": agreement.fleiss_kappa, "Krippendorff's alpha": agreement.krippendorff_alpha,
        "Gwet's AC2": agreement.gwet_ac2,
    }  # fmt: skip
    for weights in WEIGHTED if ordered else ():
        rows += [
            Coefficient(name, weights, function(counts, names, weights=weights, level=level))
            for name, function in weighted.items()
        ]
    return tuple(rows)


def _reviewers(
    counted: pd.DataFrame, first: pd.DataFrame, names: Sequence[str], level: float
) -> tuple[OfReviewer, ...]:  # fmt: skip
    again = first[first["kind"] == RETEST].drop_duplicates(["item", "rater"])
    pairs = counted.merge(again, on=["item", "rater"], suffixes=("", "_again"))
    rows = []
    for rater in in_name_order(pd.unique(counted["rater"])):
        own, twice = counted[counted["rater"] == rater], pairs[pairs["rater"] == rater]
        n_same = int((twice["category"] == twice["category_again"]).sum())
        retest = wilson(n_same, len(twice), level) if len(twice) else Estimate(None, reason="no hidden retest")
        shares = {name: float((own["category"] == name).mean()) for name in names}
        rows.append(OfReviewer(str(rater), len(own), shares, len(twice), retest))
    return tuple(rows)


def _classifiers(
    verdicts: pd.DataFrame,
    agreed: pd.DataFrame,
    names: Sequence[str],
    ordered: bool,
    level: float,
    seed: int,
    n_draws: int,
) -> tuple[tuple[ClassifierNumbers, ...], tuple[Compared, ...]]:
    truth = agreed["category"].dropna()
    by_name = {
        str(name): rows.set_index("item")["verdict"]
        .astype(object)
        .where(rows.set_index("item")["verdict"].notna(), None)
        for name, rows in verdicts.groupby("classifier", sort=True)
    }
    found = {
        name: evaluation.evaluate(
            truth, verdict, names, ordered=ordered, rng=np.random.default_rng([seed, place]), n_draws=n_draws,
            level=level,
        )
        for place, (name, verdict) in enumerate(by_name.items())
    }  # fmt: skip
    corrected = holm([result.baseline.mcnemar.p_mid if result.n else None for result in found.values()])
    rows = tuple(
        ClassifierNumbers(
            name, result, p, evaluation.verdict_of(Estimate(result.baseline.difference.value), p, 1 - level)
        )
        for (name, result), p in zip(found.items(), corrected, strict=True)
    )
    pairs = [_compared(truth, a, by_name[a], b, by_name[b], level) for a, b in combinations(by_name, 2)]
    ps = holm([pair.mcnemar.p_mid if pair.n else None for pair in pairs])
    compared = tuple(
        Compared(pair.a, pair.b, pair.n, pair.difference, pair.mcnemar, p) for pair, p in zip(pairs, ps, strict=True)
    )
    return rows, compared


def _compared(truth: pd.Series, a: str, of_a: pd.Series, b: str, of_b: pd.Series, level: float) -> Compared:
    both = pd.DataFrame({"truth": truth, "a": of_a.reindex(truth.index), "b": of_b.reindex(truth.index)}).dropna()
    right = [both[name] == both["truth"] for name in ("a", "b")]
    cells = [
        int((first & second).sum())
        for first, second in (
            (right[0], right[1]),
            (right[0], ~right[1]),
            (~right[0], right[1]),
            (~right[0], ~right[1]),
        )
    ]
    return Compared(
        a, b, len(both), paired_difference(*cells, level=level), evaluation.mcnemar(cells[1], cells[2]), None
    )
