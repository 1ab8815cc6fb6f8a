"""The agreement report: all its numbers, computed from the answers and verdicts of a study or read from JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any

import pandas as pd

from analysis.categories import NOT_SURE, WITHDRAWN
from analysis.document import inline, json_values, read_back
from analysis.raters.agreement import SideBias, side_bias
from analysis.raters.evaluation import check_epsilon, check_prevalence
from analysis.raters.tables import COUNTED_KINDS, first_of, third_labels, with_defaults
from analysis.report._agreement import MORE, Agreement, agreement_numbers, chance_state, has_signal
from analysis.report._categories import ByCategory, CategoryRow, category_numbers, category_rows
from analysis.report._classifiers import (
    ClassifierNumbers,
    Compared,
    MeansOfApplication,
    classifier_numbers,
    comparisons,
    with_holm,
)
from analysis.report._consensus import Consensus, Done, Latent, StatedRates, consensus_numbers, latent_numbers
from analysis.report._course import Course
from analysis.report._replacing import EXPERT, Replacement, replacements
from analysis.report._settings import MOST_REVIEWERS, SIMILARITY, CategorySet, Provenance, ReportStyle, Resampling
from analysis.report._tables import Labels, truths
from analysis.report._units import applications_of
from analysis.runs.measures import measure_numbers

PAPER = "paper"  # the layout of the tables in the paper
MANY_REVIEWERS = (
    f"With more than {MOST_REVIEWERS} reviewers, the report compares no pairs and no single reviewers, and fits no "
    "model of their errors, because the number of pairs grows with the square of the number of reviewers. The wide "
    "table of labels has no columns of reviewers. Agreement, consensus and classifiers are complete."
)
NO_RESAMPLING, NO_PROVENANCE = Resampling.none(), Provenance()
# kinds of assignments that have separate tables, and calibration, which no result uses
THIRD, RETEST, ADJUDICATED, CALIBRATION = "third", "retest", "adjudicated", "calibration"


@dataclass(frozen=True)
class StudyFacts:
    """What a report says about its study."""

    name: str = ""
    question: str = ""
    state: str = ""
    interim: bool = False
    more: Mapping[str, Any] = field(default_factory=dict, metadata=inline())  # numbers of items and people, and times


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters with which a report was computed."""

    level: float
    show_rejected: bool
    resampling: Resampling = NO_RESAMPLING
    more: Mapping[str, Any] = field(default_factory=dict, metadata=inline())  # the protocol of the study
    # name -> properties in the registry
    classifiers: Mapping[str, Mapping[str, Any]] | None = None
    measures: Mapping[str, Mapping[str, Any]] | None = None
    # classifier -> the parameters of its verdicts; several if the parameters changed
    verdicts: Mapping[str, tuple[Mapping[str, Any], ...]] | None = None
    # shares of positive items for which the report has precision and negative predictive value
    prevalences: tuple[float, ...]
    # of the alternative annotator test: how much worse than a reviewer a classifier may be
    epsilon: float
    tables: str | None = None  # `PAPER`: also the layout of the paper's tables


@dataclass(frozen=True)
class PlanFacts:
    """What the methods paragraph says about a plan."""

    seed: object = None  # None in an anonymised study
    # number of reviewers -> number of items assigned to so many, and number of hidden repeats, both as the plan became
    assigned: Mapping[str, int] = field(default_factory=dict)
    repeats: int = 0
    paper: bool = False  # whether pairs of reviewers share random parts of the items, as in the paper


@dataclass(frozen=True)
class PublishedNumber:
    """A published number beside the number of the report."""

    where: str
    what: str
    paper: str
    ours: str
    agrees: bool
    note: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """All numbers of an agreement report. Every undefined number is None and has a reason."""

    study: StudyFacts
    parameters: Parameters
    plan: Mapping[str, Any] | None
    agreement: Agreement
    consensus: Consensus
    left_out: Mapping[str, int]  # reason -> number of answers that the tables leave out
    classifiers: Mapping[str, ClassifierNumbers]
    comparisons: tuple[Compared, ...]
    replacing: tuple[Replacement, ...]
    measures: Mapping[str, tuple[MeansOfApplication, ...]]
    hashes: Mapping[str, str]
    versions: Mapping[str, str]
    notes: tuple[str, ...]
    course: Course | None
    published: tuple[PublishedNumber, ...] = ()
    # what a report on a question with own categories has: None if the categories are similar and dissimilar
    question: Mapping[str, Any] | None
    categories: tuple[CategoryRow, ...] | None
    sides: SideBias | None  # None if reviewers knew which side is which
    # None if there are two categories and one of them is positive
    by_category: ByCategory | None

    @cached_property
    def style(self) -> ReportStyle:
        """Return what all sections share: the categories of the labels, and the level of intervals and tests."""
        level = float(self.parameters.level)
        if self.categories is None:
            return ReportStyle(SIMILARITY, level)
        names, asked = tuple(row.category for row in self.categories), self.question or {}
        return ReportStyle(CategorySet(names, asked.get("positive"), bool(asked.get("ordered"))), level)

    @property
    def n_reviewers(self) -> int:
        """Return the number of reviewers who gave a first label."""
        return self.agreement.n_reviewers

    @property
    def plan_facts(self) -> PlanFacts | None:
        """Return what the methods paragraph says about the plan."""
        facts: PlanFacts | None = read_back(PlanFacts | None, self.plan, "plan")
        return facts


def judges_classifiers(report: Report) -> bool:
    """Return whether the labels show agreement beyond chance, so that they can judge classifiers."""
    return chance_state(report.agreement) == MORE


def summarise(
    answers: pd.DataFrame,
    verdicts: pd.DataFrame,
    provenance: Provenance = NO_PROVENANCE,
    *,
    categories: CategorySet = SIMILARITY,
    n_items: int | None = None,
    not_given: Sequence[Mapping[str, str]] = (),
    level: float = 0.95,
    resampling: Resampling = NO_RESAMPLING,
    show_rejected: bool = False,
    prevalences: Sequence[float] = (),
    epsilon: float = EXPERT,
    progress: Callable[[float], object] | None = None,
) -> Report:
    """Compute all numbers of a report.

    `answers`: every answer in chronological order, with the columns item, reviewer, label (a category, not sure,
    withdrawn); optionally kind (default: fresh), assignment (default: item and kind), application, position,
    created_utc, dwell_ms, confidence and swapped (whether the sides of the item were shown in the other order);
    `verdicts`: columns item, classifier, verdict (None if the classifier gave no verdict); optionally score, threshold,
    application, means (the mean of each measure over all pairs of runs, by name), parameters (JSON text) and version;
    `categories`: two categories of which one is positive give the report of similar and dissimilar, in their own words.
    Other categories give numbers of each category, and of the positive one against all others. `n_items`: by default,
    the items with an answer; `not_given`: planned first labels without any answer (item and reviewer); `level`: of all
    intervals, including credible intervals; tests use 1 - level; `show_rejected`: include the numbers of a rejected
    latent class model; `prevalences`: shares of positive items for which each classifier gets precision and negative
    predictive value; `epsilon`: how much worse than a reviewer a classifier may be, within [0, 1), to replace a
    reviewer; `progress`: called after each finished part with the finished share, in (0, 1].

    Raises ValueError if a column is missing, a value is unknown, a prevalence is not within (0, 1) or epsilon is not
    within [0, 1).
    """
    for prevalence in prevalences:
        check_prevalence(prevalence)
    check_epsilon(epsilon)
    table, classifiers = with_defaults(answers), _checked_verdicts(verdicts)
    first = first_of(table, categories.names)
    labels = _labels(table, first, categories, not_given)
    truth = truths(labels, _decisions(table, categories), categories.names)
    n_all = table.loc[table["kind"] != CALIBRATION, "item"].nunique() if n_items is None else n_items
    applications = applications_of(verdicts, table)
    done = _counted(progress, 1 + len(classifiers) + (1 if resampling.n_sweeps else 0))
    agreement = done(agreement_numbers(labels, categories, level, resampling, applications))
    is_compared = agreement.n_reviewers <= MOST_REVIEWERS
    latent: Latent | None = None
    latent_rates: dict[str, StatedRates] = {}
    if is_compared:
        latent, latent_rates = latent_numbers(
            truth, labels.first, verdicts, categories, level, resampling, done, has_signal=has_signal(agreement),
            show_rejected=show_rejected,
        )  # fmt: skip
    settings: dict[str, Any] = {
        "level": level, "show_rejected": show_rejected, "resampling": json_values(resampling),
        "prevalences": list(prevalences), "epsilon": epsilon,
    }  # fmt: skip
    return Report(
        study=read_back(StudyFacts, json_values(provenance.study), "study"),
        parameters=read_back(Parameters, {**settings, **json_values(provenance.parameters), **_used(verdicts)}),
        plan=json_values(provenance.plan),
        agreement=agreement,
        consensus=consensus_numbers(truth, categories.names, latent, len(labels.third), n_all, level),
        left_out=_left_out(table, first, categories),
        classifiers=with_holm({
            name: done(
                classifier_numbers(
                    name, rows, truth, labels.first, latent_rates.get(name), applications, agreement.units, categories,
                    level,
                    resampling, prevalences,
                )
            )
            for name, rows in classifiers.items()
        }, level),
        comparisons=comparisons(verdicts, truth, applications, agreement.units, categories, level),
        replacing=replacements(
            labels.first, verdicts, applications, agreement.units, epsilon=epsilon, level=level,
            n_draws=resampling.n_bootstrap, seed=resampling.seed,
        ),
        measures={
            name: tuple(MeansOfApplication(**row) for row in measure_numbers(rows))
            for name, rows in classifiers.items()
        },
        hashes=json_values(provenance.hashes),
        versions=json_values(provenance.versions),
        notes=(*provenance.notes, *([] if is_compared else [MANY_REVIEWERS])),
        course=None if provenance.course is None else read_back(Course, json_values(provenance.course), "course"),
        question=None if categories.is_built_in else _question(provenance, categories),
        sides=_sides(first, categories, level),
        categories=None if categories.is_built_in else category_rows(
            labels, truth, categories, level, specific=agreement.specific, applications=applications,
            units=agreement.units,
        ),
        by_category=None
        if categories.is_binary
        else category_numbers(
            labels, categories, level, resampling, has_signal=has_signal(agreement), applications=applications,
            units=agreement.units,
        ),
    )  # fmt: skip


def _sides(first: pd.DataFrame, categories: CategorySet, level: float) -> SideBias | None:
    """Measure the side bias from the first labels and the retests of items whose sides were shown in drawn order."""
    if "swapped" not in first or not first["swapped"].notna().any():
        return None
    shown = first[first["kind"].isin((*COUNTED_KINDS, RETEST, THIRD))]
    return side_bias(shown, categories.names, level=level)


def _question(provenance: Provenance, categories: CategorySet) -> dict[str, Any]:
    """Return the definition of the question, with what the report has to know about its categories."""
    known = {"ordered": categories.ordered, **({"positive": categories.positive} if categories.positive else {})}
    return {**(provenance.question or {}), **known}


def _counted(progress: Callable[[float], object] | None, n_parts: int) -> Done:
    """Return a function that receives the result of each finished part and reports the progress."""
    numbers = count(1)

    def done(result: Any) -> Any:
        if progress is not None:
            progress(next(numbers) / n_parts)
        return result

    return done


def _labels(
    table: pd.DataFrame, first: pd.DataFrame, categories: CategorySet, not_given: Sequence[Mapping[str, str]]
) -> Labels:
    counted = first[first["kind"].isin(COUNTED_KINDS)]
    task = ["reviewer", "assignment"]
    last = table.groupby(task, sort=False).tail(1)
    standing = last[last["kind"].isin(COUNTED_KINDS) & last["label"].isin(categories.names)]
    again = first[first["kind"] == RETEST]
    pairs = counted.merge(again.drop_duplicates(["item", "rater"]), on=["item", "rater"], suffixes=("", "_again"))
    return Labels(
        first=counted,
        current=standing.rename(columns={"reviewer": "rater", "label": "category"}),
        third=third_labels(first),
        missing=_not_given(table, counted, not_given),
        retest=pairs.rename(columns={"category": "first", "category_again": "second"})[
            ["item", "rater", "first", "second"]
        ],
    )


def _not_given(table: pd.DataFrame, counted: pd.DataFrame, planned: Sequence[Mapping[str, str]]) -> pd.DataFrame:
    """Return the pairs of reviewer and item without a first label, including items that are only planned."""
    met = table[table["kind"].isin(COUNTED_KINDS)][["item", "reviewer"]].drop_duplicates()
    never = pd.DataFrame(
        [(row["item"], row["reviewer"]) for row in planned], columns=["item", "reviewer"], dtype=object
    )
    met = (pd.concat([met, never]) if len(never) else met).drop_duplicates().rename(columns={"reviewer": "rater"})
    labelled = pd.MultiIndex.from_frame(counted[["item", "rater"]])
    return met[~pd.MultiIndex.from_frame(met).isin(labelled)].reset_index(drop=True)


def _decisions(table: pd.DataFrame, categories: CategorySet) -> dict[object, str]:
    """Return the adjudicated category of each split item; if there are several decisions, the last counts."""
    decided = table[(table["kind"] == ADJUDICATED) & table["label"].isin(categories.names)]
    return dict(zip(decided["item"], decided["label"], strict=True))


def _left_out(table: pd.DataFrame, first: pd.DataFrame, categories: CategorySet) -> dict[str, int]:
    """Count the answers that the tables leave out, by reason."""
    task = ["reviewer", "assignment"]
    current = table.groupby(task, sort=False)["label"].last()
    order = pd.Series(range(len(table)), index=table.index)
    first_at = pd.Series(order[first.index].to_numpy(), index=pd.MultiIndex.from_frame(first[["rater", "assignment"]]))
    of_task = first_at.reindex(pd.MultiIndex.from_frame(table[task])).to_numpy()
    later = order.to_numpy() > of_task  # False if there is no first label
    other_kinds = first[~first["kind"].isin(COUNTED_KINDS)]["kind"].value_counts()
    return {
        "not_sure": int((current == NOT_SURE).sum()),
        "withdrawn_answers": int((table["label"] == WITHDRAWN).sum()),
        "own_revisions": int((table["label"].isin(categories.names).to_numpy() & later).sum()),
        **{f"{kind}_labels": int(n) for kind, n in sorted(other_kinds.items())},
    }


def _checked_verdicts(verdicts: pd.DataFrame) -> dict[str, pd.DataFrame]:
    missing = [name for name in ("item", "classifier", "verdict") if name not in verdicts.columns]
    if missing:
        raise ValueError(
            f"the verdicts lack the column {', '.join(missing)}. They have: {', '.join(map(str, verdicts))}"
        )
    doubled = verdicts[verdicts.duplicated(["item", "classifier"])]
    if len(doubled):
        row = doubled.iloc[0]
        raise ValueError(f"classifier {row['classifier']!r} has two verdicts on item {row['item']!r}")
    return {str(name): rows for name, rows in verdicts.groupby("classifier", sort=True)}


def _used(verdicts: pd.DataFrame) -> dict[str, Any]:
    """Return the parameters with which each classifier computed its verdicts.

    A classifier has several entries if its parameters changed.
    """
    if not {"parameters", "version"} <= set(verdicts):
        return {}
    used = verdicts[["classifier", "parameters", "version"]].drop_duplicates().sort_values(["classifier", "version"])
    return {
        "verdicts": {
            str(name): [
                {**json.loads(text), "version": int(version)}
                for text, version in zip(rows["parameters"], rows["version"], strict=True)
            ]
            for name, rows in used.groupby("classifier")
        }
    }
