"""Read, export, import and remove stored verdicts."""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.learning import FEATURES, SEGMENT_FEATURES, SEGMENT_VERSION, features_of, segment_features
from analysis.methods.steady import describe_warmup, dropped_warmup
from analysis.raters.agreement import classifiers_among_themselves, send_first
from analysis.runs.benchmark import Benchmark, Run
from analysis.runs.classifiers import Verdict
from analysis.runs.runs import AUTO, Runs, Warmup
from analysis.runs.steady import quick_rule
from labeler.errors import InputError
from labeler.files.formats import Source, tables
from labeler.studies.cache import until_changed
from labeler.studies.model import Item, Question
from labeler.studies.store import Database, actions, events, items, runs, studies, verdicts
from labeler.studies.verdicts.classifying import JudgeOptions, is_variant, judges, plugins_for, with_unit

IMPORTED: Mapping[str, Any] = {"imported": True}


def verdict_table(db: Database) -> pd.DataFrame:
    """Return the most recently requested verdict of each classifier on each item (see `store.verdicts.table`)."""
    return verdicts.table(db)


def brief_table(db: Database) -> pd.DataFrame:
    """Return only the columns item, classifier, verdict, score, threshold and error of `verdict_table`.

    Reading these columns is faster than reading all columns.
    """
    return verdicts.brief_table(db)


@dataclass(frozen=True)
class VerdictSummary:
    """The verdicts of a study, summarised in four tables."""

    counts: list[dict[str, Any]]  # result of `verdict_counts`; empty if there are no verdicts
    pairs: list[dict[str, Any]]  # result of `classifier_agreement`
    first: list[dict[str, Any]]  # result of `most_disputed`
    failed: list[dict[str, Any]]  # the item, the classifier and the reason for each verdict that could not be computed


@until_changed
def summary(db: Database, n_first: int) -> VerdictSummary:
    """Return a summary of the verdicts, with the `n_first` items that reviewers should label first."""
    table, question = verdicts.brief_table(db), studies.get(db).question
    counting, failed = without_excluded(db, table), table.loc[table["verdict"].isna(), ["item", "classifier", "error"]]
    return VerdictSummary(
        verdict_counts(table, question.classes),
        classifier_agreement(counting, question),
        most_disputed(counting, question, n_first),
        [dict(zip(("item", "classifier", "reason"), row, strict=True)) for row in failed.itertuples(index=False)],
    )


def verdict_counts(table: pd.DataFrame, categories: Sequence[str]) -> list[dict[str, str | int | float | None]]:
    """Return, for each classifier, the numbers of verdicts of each category, and of none.

    Each row also has the threshold, which is None if the verdicts of the classifier have no threshold or different
    thresholds.
    """
    return [
        {"classifier": str(name), "threshold": _only(rows["threshold"])}
        | {category: int((rows["verdict"] == category).sum()) for category in reversed(categories)}
        | {"none": int(rows["verdict"].isna().sum())}
        for name, rows in table.groupby("classifier")
    ]


def _only(thresholds: pd.Series) -> float | None:
    different = pd.to_numeric(thresholds).dropna().unique()
    return float(different[0]) if len(different) == 1 else None


def remove_classifiers(db: Database, names: Collection[str], *, actor: str, now: datetime) -> int:
    """Remove all verdicts of classifiers that nothing would compute again; return the number of removed verdicts.

    These are classifiers with another threshold, learned models, imported verdicts, and classifiers of packages that
    are no longer installed. Raises InputError if one of the classifiers is another one. Then nothing is removed.
    """
    with events.by(db, actor, now) as deed:
        computed = verdicts.computed_classifiers(db)
        stored = computed | set(verdicts.brief_table(db)["classifier"])
        question = studies.get(db).question
        of_packages = plugins_for(question)
        computed_again = computed & {judge.name for judge in judges(JudgeOptions(), question=question)}
        for name in names:
            if name in computed_again and name not in of_packages:
                raise InputError(f"{name} is built in, so every study has its verdicts. They cannot be removed.")
            if name in computed_again:
                package = of_packages[name].distribution
                raise InputError(
                    f"The installed package {package} provides the classifier {name}, so its verdicts would be "
                    "computed again. Uninstall the package, then remove the verdicts."
                )
            if name not in stored:
                others = ", ".join(sorted(stored - computed_again))
                ways = f"You can remove: {others}." if others else "It has no verdicts that you can remove."
                raise InputError(f"The study has no verdicts of {name!r}. {ways}")
        n_removed = sum(verdicts.remove_classifier(db, name) for name in names)
        deed.log(actions.REMOVE_SETTINGS, names=list(names), verdicts=n_removed)
    return n_removed


def reasons_of_failures(db: Database) -> list[dict[str, Any]]:
    """Return for each classifier and reason on how many items it gave no verdict, the most frequent first."""
    table = verdicts.brief_table(db)
    failed = table.loc[table["verdict"].isna(), ["classifier", "error"]].fillna("no reason given").value_counts()
    rows = failed.reset_index().to_numpy().tolist()
    return [{"classifier": classifier, "reason": reason, "items": n} for classifier, reason, n in rows]


def classifier_agreement(counting: pd.DataFrame, question: Question) -> list[dict[str, Any]]:
    """Return the agreement between each pair of classifiers, which needs no labels.

    `counting` is the result of `without_excluded`. There is a row for each pair in both orders: classifier, other, n
    (number of items with a verdict of both), agree, kappa, and, if the question has a positive category, finds and
    clears. Of the items that `other` calls positive, finds is the share that `classifier` calls positive; clears is the
    same share for the other items. A value is None if it is undefined.
    """
    rows = []
    for pair in classifiers_among_themselves(counting, question.classes, positive=question.positive):
        shared = {"n": pair.n, "agree": pair.agree.value, "kappa": pair.kappa.value}
        both_ways = ((pair.a, pair.b, pair.a_finds, pair.a_clears), (pair.b, pair.a, pair.b_finds, pair.b_clears))
        for name, other, finds, clears in both_ways:
            of_positive = {"finds": finds.value, "clears": clears.value} if question.positive else {}
            rows.append({"classifier": name, "other": other, **shared, **of_positive})
    return sorted(rows, key=lambda row: (row["classifier"], row["other"]))


def most_disputed(counting: pd.DataFrame, question: Question, n: int | None = None) -> list[dict[str, Any]]:
    """Return the items on which the classifiers disagree most, at most `n`; the strongest disagreement comes first.

    `counting` is the result of `without_excluded`. Each row has disagreement, margin, the classifiers that
    say each category (the last category first), and item (see `analysis.raters.agreement.send_first`). Classifiers with
    another threshold, such as `heuristic@0.30`, are ignored, so that each classifier counts once.
    """
    variants = [name for name in counting["classifier"].unique() if is_variant(name)]
    table = send_first(counting[~counting["classifier"].isin(variants)], question.classes, n=n)
    return [
        {
            "disagreement": row["disagreement"],
            "margin": None if pd.isna(row["margin"]) else row["margin"],
            **{name: ", ".join(row[name]) for name in reversed(question.classes)},
            "item": row["item"],
        }
        for row in table.to_dict("records")
    ]  # fmt: skip


def without_excluded(db: Database, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a table of verdicts without excluded items."""
    return table[~table["item"].isin(items.excluded(db))]


ROW_OF_SHAPES = "spread"  # the classifier whose rows of a verdict file have the features of the runs' shapes


def item_features(
    evidence: Sequence[Verdict], series: Sequence[Run], of_segments: Mapping[str, float] | None = None
) -> dict[str, float | None]:
    """Return the features of an item, from its verdicts, its runs without the warm-up of the verdicts, and segments."""
    warmup = _warmup(evidence)
    if warmup is not None and len(series):
        with suppress(ValueError):  # runs that no classifier can judge have no shape
            return features_of(evidence, Runs(series, warmup), of_segments)
    return features_of(evidence)


def _warmup(evidence: Sequence[Verdict]) -> Warmup | None:
    warmups = {verdict.parameters["drop"] for verdict in evidence if "drop" in verdict.parameters}
    return warmups.pop() if len(warmups) == 1 else None


def stored_segments(db: Database, item: Item, evidence: Sequence[Verdict]) -> Mapping[str, float] | None:
    """Return the features of the segments of an item's runs, if they were computed before."""
    return runs.segments_of_item(db, item.item_id, _segments_key(item, evidence))


def segments_of_item(
    db: Database, item: Item, evidence: Sequence[Verdict], series: Sequence[Run]
) -> Mapping[str, float] | None:
    """Return the features of the segments of an item's runs; they are computed once, in about 2 ms per run, and stored.

    None if the runs are too short, or the item has no verdicts.
    """
    warmup, known = _warmup(evidence), stored_segments(db, item, evidence)
    if known is not None or warmup is None or not len(series):
        return known
    with suppress(ValueError):
        known = segment_features(list(Runs(series, warmup).values))
    if known is not None:
        with db.atomic():
            runs.put_segments(db, item.item_id, _segments_key(item, evidence), known)
    return known


def _segments_key(item: Item, evidence: Sequence[Verdict]) -> str:
    return f"version {SEGMENT_VERSION}, warm-up {_warmup(evidence)}, {item.data_hash}"


def warmup_left_out(db: Database, options: JudgeOptions) -> list[str]:
    """Return sentences on the warm-up that verdicts left out of the runs, if its end was looked for."""
    if options.warmup != AUTO:
        return []
    measured = [(item, runs.of_item(db, item.item_id)) for item in items.all_items(db) if item.n_runs]
    return list(
        describe_warmup(
            dropped_warmup(Benchmark.of_series(item.name, series, unit=item.unit) for item, series in measured)
        )
    )


def export_table(db: Database, *, actor: str, now: datetime) -> pd.DataFrame:
    """Return all verdicts as a table with the columns of the verdict file, and log the export.

    The columns include the mean of each measure and, for SAME, the clusters. Some measures that
    `labeler learn` uses are computed by other classifiers. These measures are in the rows of the other classifiers, and
    the features of the runs' shapes in the rows of `spread`. With the warm-up "auto", the column dropped has the number
    of iterations that were left out of each run.
    """
    with events.by(db, actor, now) as deed:
        deed.log(actions.EXPORT_VERDICTS)
        table = verdicts.table(db)
        is_auto = table["parameters"].map(lambda text: json.loads(text).get("drop") == AUTO)
        features, dropped, has_features = {}, {}, studies.get(db).question.has_default_categories
        for item in items.all_items(db) if has_features else ():
            series = with_unit(runs.of_item(db, item.item_id), item.unit)
            evidence = verdicts.of_item(db, item.item_id)
            features[item.name] = item_features(evidence, series, stored_segments(db, item, evidence))
            if is_auto.any():
                dropped[item.name] = " ".join(str(quick_rule(run).n_warmup) for run in series)
    if not has_features:
        columns = ["item", "benchmark", "classifier", "verdict", "score", "threshold", "iterations", "parameters"]
        return table[[*columns, "version", "error", "application"]]
    for measure in tables.MEASURES:
        table[measure] = [means.get(measure) for means in table["means"]]
    table["clusters"] = [" ".join(map(str, clusters)) or None for clusters in table["clusters"]]
    columns = ["item", "benchmark", "classifier", "verdict", "score", "threshold", *tables.OF_HEURISTICS]
    columns += ["clusters", "iterations", "parameters", "version", "error", *tables.OF_SAME]
    if dropped:
        table["dropped"] = table["item"].map(dropped).where(is_auto)
        columns.append("dropped")
    further = [name for name, feature in FEATURES.items() if feature.of_score is None and name not in columns]
    has_segments = any(found[SEGMENT_FEATURES[0]] is not None for found in features.values())
    further = [name for name in further if has_segments or name not in SEGMENT_FEATURES]
    of_rows = {}
    for name in further:
        source = ROW_OF_SHAPES if FEATURES[name].value is None else FEATURES[name].source
        rows = zip(table["item"], table["classifier"], strict=True)
        of_rows[name] = [features[item][name] if source == judge else None for item, judge in rows]
    table = pd.concat([table, pd.DataFrame(of_rows, index=table.index)], axis=1)
    return table[[*columns, *further, "application"]]


def import_verdicts(db: Database, path: Path, classifier: str | None, *, actor: str, now: datetime) -> int:
    """Import verdicts that another tool computed.

    The imported verdicts replace verdicts that were imported earlier for the same classifier. The file has the columns
    item and verdict, and optionally classifier, score and threshold. Returns the number of imported verdicts. Raises
    InputError if the file is invalid, or a classifier has two verdicts on one item. In a study with measurements, also
    if the study lacks an item of the file, or labeler itself computes the classifier. Then nothing is imported.
    """
    table = tables.read_verdicts(Source(str(path), path), studies.get(db).question.names, classifier)
    computed_here = {judge.name for judge in judges(JudgeOptions(), question=studies.get(db).question)}
    reserved = {name for name in set(table["classifier"]) if name in computed_here or is_variant(name)}
    with events.by(db, actor, now) as deed:
        by_name = {item.name: item for item in items.all_items(db)}
        has_measurements = any(item.n_runs for item in by_name.values())
        if reserved and has_measurements:
            raise InputError(
                f"{path}: labeler computes {min(reserved)} itself; give the imported classifier another name."
            )
        for name in set(table["classifier"]):
            verdicts.remove(db, name, IMPORTED)
        for row in table.to_dict("records"):
            name = str(row["item"])
            if name not in by_name and has_measurements:
                raise InputError(f"{path}: there is no item {name!r} in this study.")
            item = by_name.get(name) or _new_item(db, name, by_name)
            verdicts.put(db, item, _imported(item, row), deed.at_utc)
        deed.log(actions.IMPORT_VERDICTS, file=path.name, rows=len(table), classifiers=sorted(set(table["classifier"])))
    return len(table)


def _new_item(db: Database, name: str, by_name: dict[str, Item]) -> Item:
    by_name[name] = items.by_id(db, items.add(db, name, benchmark=name))
    return by_name[name]


def _imported(item: Item, row: Mapping[Any, Any]) -> Verdict:
    return Verdict(
        classifier=row["classifier"],
        parameters=IMPORTED,
        verdict=row["verdict"],
        score=row["score"],
        threshold=row["threshold"],
        n_runs=item.n_runs,
        n_iterations=item.n_iterations,
        reason=None if row["verdict"] else "the imported file gives no reason",
    )
