"""Explain the verdicts of the classifiers on one item, and draw the measures of many items."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from analysis.document import figures
from analysis.methods import trust
from analysis.methods.reasons import reasons
from analysis.runs import measures, schemes
from analysis.runs.benchmark import Benchmark
from analysis.runs.classifiers import Verdict, classifier_named, explain
from analysis.runs.dissimilarity import title_of
from labeler.errors import InputError, sentence
from labeler.files.formats.writing import file_stem
from labeler.studies.items import drawing
from labeler.studies.items.browsing import item_named
from labeler.studies.model import Item
from labeler.studies.screen.binning import VIEWS
from labeler.studies.store import Database, items, runs, studies, verdicts

FIGURE_1_SEED = 1
ALL_MEASURES = "mean of all measures"
NO_EVIDENCE = "The details of this verdict were not saved."


@dataclass(frozen=True)
class ExplainedVerdict:
    """A stored verdict, with sentences that explain the verdict; the sentences number runs from 1."""

    verdict: Verdict
    reasons: tuple[str, ...]

    @property
    def headline(self) -> str:
        """The name of the classifier and its verdict."""
        return f"{self.verdict.classifier}: {self.verdict.verdict or 'no verdict'}"

    @property
    def measures(self) -> list[str]:
        """The names of the measures that `matrix` can draw; the mean of all measures comes first."""
        return [ALL_MEASURES, *map(title_of, self.verdict.pairs)] if self.verdict.pairs else []


def explained_verdicts(db: Database, item: Item) -> list[ExplainedVerdict]:
    """Return the verdicts on an item with evidence and explanations, sorted by classifier."""
    return [
        ExplainedVerdict(verdict, explain(verdict) or (NO_EVIDENCE,)) for verdict in verdicts.of_item(db, item.item_id)
    ]


def reasons_of(db: Database, item: Item) -> tuple[str, ...]:
    """Return sentences about the runs of an item: level, pattern, distribution, warm-up, and what follows from these.

    Return an empty tuple if the item has no runs.
    """
    if not item.n_runs:
        return ()
    series = runs.of_item(db, item.item_id)
    return reasons(Benchmark.of_series(item.name, series, unit=item.unit, better=item.better)).sentences


def matrix(reasoned: ExplainedVerdict, measure: str = ALL_MEASURES) -> figures.Chart:
    """Draw the dissimilarity of each pair of runs as a matrix.

    If the verdict is from the classifier SAME, the runs are in the order of the tree that SAME built. `measure` is one
    of `reasoned.measures`.
    """
    stored = reasoned.verdict
    pairs = {title_of(name): values for name, values in stored.pairs.items()}
    values = np.mean(list(pairs.values()), axis=0) if measure == ALL_MEASURES else pairs[measure]
    return measures.pair_matrix(values, stored.clusters, stored.linkage, cut=stored.threshold)


def means(reasoned: ExplainedVerdict) -> figures.Chart:
    """Draw the mean of each measure across all pairs of runs, and the threshold."""
    stored = reasoned.verdict
    return measures.means(stored.means, theta=_theta(stored.classifier, stored.threshold))


@lru_cache(maxsize=1)
def schematic_pairs() -> figures.Chart:
    """Draw Figure 1 of the paper: pairs of generated signals that differ in only one way, with their five measures."""
    return measures.schematic_pairs(schemes.figure_1_signals(rng=np.random.default_rng(FIGURE_1_SEED)), unit=None)


def by_application(db: Database, classifier: str = "heuristic") -> figures.Chart:
    """Draw Figure 2 of the paper: the mean of each measure for each application.

    Raises InputError if no item has the measures.
    """
    table, theta = _means_table(db, classifier)
    return measures.measures_by_application(measures.mean_measures(table), theta=theta)


def by_benchmark(db: Database, application: str) -> figures.Chart:
    """Draw Figure 3 of the paper: the measures of each benchmark of one application.

    Raises InputError if the application has no benchmark with measures.
    """
    table, theta = _means_table(db, "heuristic")
    try:
        return measures.measures_by_benchmark(table, application, theta=theta)
    except ValueError as error:
        raise InputError(sentence(error)) from None


def runs_of_item(db: Database, item: Item, rule: str | None = None) -> figures.Chart:
    """Draw Figure 4 of the paper: all runs of one item; raises InputError if the item has no measurements."""
    if not item.n_runs:
        raise InputError(f"Item {item.name!r} has no measurements.")
    chart: figures.Chart = drawing.chart_of_item(db, item.item_id, rule=rule)
    return chart


def measurements_of_item(db: Database, item: Item) -> figures.Chart:
    """Draw histograms and densities of the measurements of each run of an item, and of all runs merged.

    Raises InputError if the item has no measurements.
    """
    if not item.n_runs:
        raise InputError(f"Item {item.name!r} has no measurements.")
    series = runs.of_item(db, item.item_id)
    counts = trust.distribution(series, [str(number) for number in range(1, len(series) + 1)])
    chart: figures.Chart = trust.distribution_chart(counts, item.name, item.unit)
    return chart


def views_of_items(db: Database) -> dict[str, str]:
    """Return the axis rules with which runs can be drawn, as rule -> name; the rule of the study comes first."""
    rule = studies.get(db).protocol.axis_rule
    return {rule: "Main", **{view: name for view, name in VIEWS.items() if view != rule}}


def paper_figures(db: Database, of_applications: Sequence[str], of_items: Sequence[str]) -> dict[str, figures.Chart]:
    """Return the figures of the paper, drawn for this study, as file name -> figure.

    The file names put the figures of each item into a folder of their own. Raises InputError if an application or item
    is not in the study, no item has a verdict, or an item has no measurements.
    """
    charts = {"schematic-pairs": schematic_pairs(), "measures-by-application": by_application(db)}
    files: dict[str, str] = {}
    folders: dict[str, str] = {}
    for application in of_applications:
        charts[f"measures-by-benchmark-{file_stem(application, files)}"] = by_benchmark(db, application)
    for name in of_items:
        item, folder = item_named(db, name), file_stem(name, folders)
        charts[f"{folder}/runs"] = runs_of_item(db, item)
        matrices: dict[str, str] = {}
        for reasoned in explained_verdicts(db, item):
            if reasoned.measures:
                charts[f"{folder}/matrix-{file_stem(reasoned.verdict.classifier, matrices)}"] = matrix(reasoned)
    return charts


def describe_reasons(db: Database, name: str) -> list[str]:
    """Return lines of text with the verdict of each classifier on an item, and the explanations."""
    item = item_named(db, name)
    return [f"{reasoned.headline}. {' '.join(reasoned.reasons)}" for reasoned in explained_verdicts(db, item)]


def applications(db: Database) -> list[str]:
    """Return the applications in the study, sorted by name."""
    return sorted({item.application for item in items.all_items(db)})


def _means_table(db: Database, classifier: str) -> tuple[pd.DataFrame, float | None]:
    table = verdicts.table(db)
    rows = table[table["classifier"] == classifier]
    measured = measures.measure_table(rows)
    if not len(measured):
        raise InputError(f"No item has the measures of {classifier} yet. Compute the verdicts first.")
    return measured, _theta(classifier, float(rows.loc[measured.index[0], "threshold"]))


def _theta(classifier: str, threshold: float | None) -> float | None:
    """Return the threshold for each measure; return None for SAME, whose threshold is for a tree."""
    known = classifier_named(classifier)
    return threshold if known and known.threshold_name == "theta" else None
