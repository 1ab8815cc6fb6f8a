"""Learn a classifier from labels and measures, report how well the classifier works, and apply it to a study."""

import hashlib
import json
import math
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy

import labeler
from analysis import learning
from analysis.document import Document, describe_value, json_values, to_html, to_json, to_markdown, to_text
from analysis.document.figures import Chart, to_svg
from analysis.learning import (
    DEFAULT_FEATURES,
    FEATURES,
    TARGETS as TARGETS,
    Fingerprint,
    Learned,
    LearnSettings,
    Model,
    Retests,
)
from analysis.runs.classifiers import CLASSIFIERS, Verdict
from analysis.runs.runs import Runs, Warmup
from analysis.text import joined
from labeler.errors import InputError, Refused, sentence
from labeler.files.formats import label_tables, tables
from labeler.files.formats.label_tables import LabelReading
from labeler.files.formats.source import Source
from labeler.files.models import read_model as read_model
from labeler.files.outputs import as_csv
from labeler.studies.labelling import label_file
from labeler.studies.model import Item, ItemRole, combined_hash
from labeler.studies.questions import SIMILAR, Question
from labeler.studies.screen.kinds import FIRST_QUESTION, kind_of
from labeler.studies.store import Database, actions, events, items, runs, studies, verdicts
from labeler.studies.verdicts import classifying
from labeler.studies.verdicts.classifying import JudgeOptions, with_unit
from labeler.studies.verdicts.stored_verdicts import ROW_OF_SHAPES, item_features, segments_of_item


@dataclass(frozen=True)
class LearnOptions:
    """Options for learning a classifier."""

    consensus: str = field(default=learning.AGREED, metadata={
        "choices": tuple(TARGETS),
        "help": "Categories to use: agreed items, the majority (with third labels and decisions), or each single "
                "label.",
    })  # fmt: skip
    features: str = field(default="default", metadata={
        "metavar": "NAMES",
        "help": "Measures to use: default, all, or names separated by commas, such as m1,spread.",
    })  # fmt: skip
    monotone: bool = field(default=False, metadata={
        "help": "Use only the measures, with coefficients of at least 0, so that every line of the formula can be "
                "defended [default: ranks of all features].",
    })  # fmt: skip
    cost_ratio: float = field(default=1.0, metadata={
        "within": "(0, )", "metavar": "X",
        "help": "Cost of a missed item of the positive category, if a false alarm costs 1.",
    })  # fmt: skip
    name: str = field(default="model", metadata={
        "metavar": "NAME", "help": "Name of the model; the classifier is called learned:NAME.",
    })  # fmt: skip
    seed: int = field(default=1, metadata={"within": "[0, )", "help": "Random seed for folds and intervals."})

    def __post_init__(self) -> None:
        """Raise InputError or ValueError if the name or a feature is invalid, before any data are read."""
        learning.checked_name(self.name)
        features_named(self.features, tuple(FEATURES))

    def require_fit(self, question: Question) -> None:
        """Raise InputError if an option needs a positive category of two, which the question does not have."""
        if not (self.monotone or self.cost_ratio != 1) or has_positive_of_two(question):
            return
        raise InputError(
            f"{'--monotone' if self.monotone else '--cost-ratio'} needs a question with two categories, one of them "
            f"positive. This study has the categories {joined(question.names)}. Leave this option out: the model gives "
            "the most probable category."
        )


NEARLY_ALL = 0.9


@dataclass(frozen=True)
class Material:
    """The data from which a classifier is learned."""

    answers: pd.DataFrame  # all answers, with the columns item, reviewer, label and optionally kind and assignment
    features: pd.DataFrame  # one row per item and one column per feature; a missing value is NaN
    applications: pd.Series
    verdicts: pd.DataFrame  # columns item, classifier, verdict and score
    warmup: Warmup = 0.0  # the warm-up that was left out of each run before the features were computed
    hashes: Mapping[str, str] = field(default_factory=dict)  # hashes of the input data, by name
    prints: Mapping[str, Fingerprint] = field(default_factory=dict)  # of the runs of each item; empty if unknown
    question: Question = FIRST_QUESTION


def material_of_study(
    db: Database, options: LearnOptions | None = None, *, with_shapes: bool = True, actor: str, now: datetime
) -> Material:
    """Read the labels, features and verdicts of a study at one moment, and log that they were used.

    Without `with_shapes`, no run is read, so there are only the measures of the stored verdicts. Raises InputError if
    the options do not fit the question, no stored verdict has measures, or the verdicts were computed with different
    warm-ups.
    """
    question = studies.get(db).question
    _require_runs(question)
    if options is not None:
        options.require_fit(question)
    with events.by(db, actor, now) as deed:
        deed.log(actions.LEARN)
        answers, all_items = label_file.all_answers(db), items.all_items(db)
        # items that were chosen because they are informative are used for learning
        left_out = {name for name, role in items.roles(db).items() if role is not ItemRole.COUNTED}
        table = verdicts.table(db)
        counting = [item for item in all_items if item.name not in left_out]
        evidence = {item.name: verdicts.of_item(db, item.item_id) for item in counting}
    counted = table[~table["item"].isin(left_out)]
    warmup = _one_warmup([json.loads(text) for text in counted["parameters"].drop_duplicates()])
    features, prints = {}, {}
    for item in counting:  # after the transaction, because reading all runs takes long and reviewers go on
        series = with_unit(runs.of_item(db, item.item_id), item.unit) if with_shapes else []
        found_by = evidence[item.name]
        if not question.has_default_categories:  # the built-in classifiers have no verdicts here, but their measures
            found_by = classifying.judge(series, tuple(CLASSIFIERS), JudgeOptions(warmup)) if len(series) else []
        features[item.name] = item_features(found_by, series, segments_of_item(db, item, found_by, series))
        found = Fingerprint.of([run.values for run in series])
        if found is not None:
            prints[item.name] = found
    # first labels of other items depend on these answers, so the answers stay, with a kind that no result uses
    answers = answers.assign(kind=answers["kind"].mask(answers["item"].isin(left_out), "excluded"))
    measured = pd.DataFrame.from_dict(features, orient="index", columns=list(FEATURES), dtype=float)
    if not measured.notna().any(axis=None):
        raise InputError("No item has measures to learn from. Compute verdicts first: labeler verdicts")
    return Material(
        answers, measured, pd.Series({item.name: item.application for item in counting}, dtype=object),
        counted[["item", "classifier", "verdict", "score"]].reset_index(drop=True),
        warmup,
        {"measurements": combined_hash(item.data_hash for item in counting), "answers": _hash(as_csv(answers))},
        prints,
        question,
    )  # fmt: skip


def _require_runs(question: Question) -> None:
    if question.shows != FIRST_QUESTION.shows or question.is_marked:
        raise InputError(
            f"There are no features of these items: they show {kind_of(question).shows}, and features are computed for "
            "items that show all runs of a benchmark and have categories. Compare the classifiers with labeler report; "
            "import the verdicts of a model of your own with labeler verdicts --import."
        )


def material_of_files(
    label_file: Path,
    verdict_file: Path,
    reading: LabelReading = label_tables.STANDARD,
    *,
    say: Callable[[str], None] = lambda _note: None,
) -> Material:
    """Read labels and verdicts from files written by `labeler labels --out` and `labeler verdicts --out`.

    The label file has the columns item, reviewer, label and application; the verdict file item, classifier, verdict and
    score, and one column per measure. `say` is called with what was taken as missing, joined or counted once. Raises
    InputError if a file cannot be read or a column is missing. The message names file, place and value.
    """
    labels, verdict_text = (Source(str(path), path) for path in (label_file, verdict_file))
    answers = label_tables.read_label_table(labels, reading, declared=SIMILAR.answers, say=say).frame
    if "application" not in answers:
        raise Refused(labels.name, f"column 'application' is missing; the table has {', '.join(map(str, answers))}")
    answers = answers.reset_index(drop=True)
    raw = tables.read_table(verdict_text, ("item", "classifier", "verdict"))
    table = tables.read_verdicts(verdict_text, SIMILAR.names)
    features = _features_of_file(raw, verdict_file)
    applications = answers.drop_duplicates("item").set_index("item")["application"].astype(object)
    parameters = [json.loads(text) for text in set(raw["parameters"]) - {""}] if "parameters" in raw else []
    return Material(
        answers, features, applications, table[["item", "classifier", "verdict", "score"]], _one_warmup(parameters),
        {"answers": _hash(labels.content()), "verdicts": _hash(verdict_text.content())},
    )  # fmt: skip


def _features_of_file(raw: pd.DataFrame, path: Path) -> pd.DataFrame:
    columns = {}
    for name, feature in FEATURES.items():
        column = name if feature.of_score is None else "score"
        if column in raw:
            rows = raw[raw["classifier"] == (ROW_OF_SHAPES if feature.value is None else feature.source)]
            numbers = [_number(text, path, line, column) for line, text in rows[column].items()]
            columns[name] = pd.Series(numbers, index=rows["item"], dtype=float).map(feature.of_score or float)
    return pd.DataFrame(columns).rename_axis("item")


def _number(text: str, path: Path, line: object, column: str) -> float:
    try:
        number = float(text) if text else math.nan
    except ValueError:
        raise InputError(f"{path}, line {line}: {column} {text!r} is not a number.") from None
    if math.isinf(number):
        raise InputError(f"{path}, line {line}: {column} {text!r} is not a finite number.")
    return number


def _one_warmup(parameters: Sequence[Mapping[str, Any]]) -> Warmup:
    warmups: set[Warmup] = {entry["drop"] for entry in parameters if "drop" in entry}
    if len(warmups) > 1:
        raise InputError(
            f"The verdicts were computed with different warm-ups: {', '.join(sorted(map(describe_value, warmups)))}. "
            "Compute all verdicts with the same warm-up: labeler verdicts --warmup"
        )
    return warmups.pop() if warmups else 0.0


def features_named(text: str, available: Sequence[str] = DEFAULT_FEATURES) -> list[str]:
    """Return the names of the features that a text selects.

    The text is "default" for the default features that the data have, "all", or names separated by commas. Raises
    InputError if a feature is unknown, named twice, or missing from the data.
    """
    if text == "default":
        return [name for name in DEFAULT_FEATURES if name in available]
    names = list(FEATURES) if text == "all" else [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in FEATURES]
    if unknown or not names:
        raise InputError(f"Unknown feature {unknown[0] if unknown else text!r}. Choose from: {', '.join(FEATURES)}.")
    lacking = [name for name in names if name not in available]
    if lacking:
        raise InputError(
            f"The verdict file has no column for the feature {lacking[0]}. Available features: {', '.join(available)}."
        )
    if len(set(names)) < len(names):
        raise InputError("The list names a feature twice. Name each feature once.")
    return names


def _available(material: Material) -> list[str]:
    """Return the features that nearly all items have; a feature that short runs lack would leave these items out."""
    return [str(name) for name, column in material.features.items() if column.notna().mean() >= NEARLY_ALL]


def learn(material: Material, options: LearnOptions) -> Learned:
    """Learn a classifier from the labels and features of a study or of files.

    Raises InputError if the data are too small, or do not have the features.
    """
    question, consensus = material.question, options.consensus
    # a model that was learned from these labels would seem better than it is
    others = material.verdicts[~material.verdicts["classifier"].str.startswith(f"{learning.LEARNED}:")]
    retests = None
    if consensus != learning.MAJORITY:
        counts = learning.retest_counts(material.answers, question.names)
        retests = Retests(*counts, n_agreeing=2 if consensus == learning.AGREED else 1)
    settings = LearnSettings(
        seed=options.seed, positive=question.positive, ordered=question.ordered, monotone=options.monotone,
        cost_ratio=options.cost_ratio, name=options.name, target=TARGETS[consensus],
    )  # fmt: skip
    try:
        examples = learning.examples_to_learn(
            learning.target_of(material.answers, consensus, question.names), material.features,
            features_named(options.features, _available(material)), material.applications, material.prints,
            question.names,
        )  # fmt: skip
        return learning.learn(
            examples, others, settings, warmup=material.warmup, retests=retests,
            background={"hashes": dict(material.hashes), "versions": _versions()},
        )  # fmt: skip
    except learning.TooFew as error:
        raise InputError(f"There are not enough data to learn from: {error}.") from None
    except ValueError as error:
        raise InputError(sentence(error)) from None


def has_positive_of_two(question: Question) -> bool:
    """Return whether a model can detect a positive category, so that it has a threshold and can be monotone."""
    return len(question.names) == 2 and question.positive is not None


def detects(db: Database) -> bool:
    """Return whether a model of this study can detect a positive category (`has_positive_of_two`)."""
    return has_positive_of_two(studies.get(db).question)


@dataclass(frozen=True)
class WrittenResult:
    """A result that can be written in several forms: numbers, a text with tables, figures, and further files."""

    name: str
    content: Any
    document: Document
    charts: Mapping[str, Chart]
    further: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The result as text for a terminal."""
        return to_text(self.document)

    @property
    def json(self) -> str:
        """All numbers of the result as JSON."""
        return to_json(self.content)

    @property
    def html(self) -> str:
        """The result as one HTML page with figures."""
        return to_html(self.document, {name: to_svg(chart) for name, chart in self.charts.items()})

    @property
    def files(self) -> dict[str, str]:
        """The result in all forms, as file name -> text."""
        return {
            f"{self.name}.html": self.html, f"{self.name}.md": to_markdown(self.document),
            f"{self.name}.json": self.json,
            **self.further, **{f"figures/{name}.svg": to_svg(chart) for name, chart in self.charts.items()},
        }  # fmt: skip


def written_result(result: Learned, *, with_model: bool = True) -> WrittenResult:
    """Return a result in a form that can be written as text, JSON, HTML and figures.

    Without `with_model`, the files contain no model.
    """
    further = {"model.json": result.model.to_text()} if with_model else {}
    further["out-of-fold.csv"] = as_csv(result.table)
    return WrittenResult("learning", content(result), learning.document(result), learning.charts(result), further)


def content(learned: Learned) -> Any:
    """Return the numbers of a learned classifier for JSON, without the table, which is a separate file."""
    return json_values({name: value for name, value in vars(learned).items() if name not in ("table", "folds")})


def has_own_verdicts(db: Database, path: Path) -> bool:
    """Return whether verdicts of other classifiers can be computed before a model is applied to the items of a study.

    Raises InputError if the model is invalid, or its categories are not those of the study.
    """
    question = studies.get(db).question
    _check_model_fits(read_model(path), question, path)
    return bool(classifying.judges(JudgeOptions(), question=question))


def apply_model(db: Database, path: Path, *, actor: str, now: datetime) -> tuple[str, int, int]:
    """Apply a learned model to every item that has measurements, and store the verdicts.

    Earlier verdicts of a classifier with the same name are replaced. Returns the classifier's name, the number of
    verdicts, and the number of items without a verdict. Raises InputError if the model is invalid, or the stored
    verdicts are missing or were computed with a different warm-up.
    """
    model, question = read_model(path), studies.get(db).question
    _check_model_fits(model, question, path)
    digest = hashlib.sha256(model.to_text().encode()).hexdigest()
    n_given = n_without = 0
    measured = [item for item in items.all_items(db) if item.n_runs]
    # before the transaction, because it takes long
    judged_before, segments = {}, {}
    for item in measured:
        if not question.has_default_categories:
            judged_before[item.item_id] = _judged_in_categories(db, item, model, question)
        elif model.needs_segments:
            series = with_unit(runs.of_item(db, item.item_id), item.unit)
            evidence = verdicts.of_item(db, item.item_id)
            segments[item.item_id] = segments_of_item(db, item, evidence, series)
    with events.by(db, actor, now) as deed:
        verdicts.remove_classifier(db, model.classifier)
        for item in measured:
            if question.has_default_categories:
                judged = _judged_by_stored_verdicts(db, item, model, segments.get(item.item_id), path)
            else:
                judged = judged_before[item.item_id]
            verdicts.put(
                db,
                item,
                Verdict(
                    model.classifier,
                    judged.verdict, judged.score, judged.threshold,
                    judged.reason if judged.verdict is None else None,
                    {"model": digest, "drop": model.warmup},
                    n_runs=judged.n_runs, n_iterations=judged.n_iterations, n_left_out=judged.n_left_out,
                ),
                deed.at_utc,
            )  # fmt: skip
            n_given += judged.verdict is not None
            n_without += judged.verdict is None
        deed.log(actions.APPLY_MODEL, classifier=model.classifier, model=digest, file=path.name, verdicts=n_given)
    return model.classifier, n_given, n_without


def _check_model_fits(model: Model, question: Question, path: Path) -> None:
    """Raise InputError unless the items show runs, and each category of the model is one of the question."""
    _require_runs(question)
    if not set(model.categories) <= set(question.names):
        raise InputError(
            f"{path}: the model gives the categories {joined(model.categories)}, but the question of this "
            f"study has the categories {joined(question.names)}. Learn a model from labels with these "
            "categories: labeler learn"
        )


def _judged_by_stored_verdicts(
    db: Database, item: Item, model: Model, segments: Mapping[str, float] | None, path: Path
) -> Verdict:
    evidence = verdicts.of_item(db, item.item_id)
    needed = {FEATURES[t.feature].source for t in model.terms} - {learning.RUNS, learning.SEGMENTS}
    sources = [v for v in evidence if v.classifier in needed or not needed]
    if not sources:
        raise InputError(f"Item {item.name!r} has no verdicts yet. Compute them first: labeler verdicts")
    warmup = _one_warmup([v.parameters for v in sources])
    if warmup != model.warmup:
        raise InputError(
            f"{path}: the model was learned with warm-up {describe_value(model.warmup)}, but the verdicts of "
            f"this study have warm-up {describe_value(warmup)}. Compute the verdicts again: labeler verdicts "
            f"--warmup {describe_value(model.warmup)}"
        )
    first = sources[0]
    shape = Runs(with_unit(runs.of_item(db, item.item_id), item.unit), warmup) if model.needs_runs else None
    return model.judge(
        learning.features_of(sources, shape, segments),
        n_runs=first.n_runs, n_iterations=first.n_iterations, n_left_out=first.n_left_out,
    )  # fmt: skip


def _judged_in_categories(db: Database, item: Item, model: Model, question: Question) -> Verdict:
    series = with_unit(runs.of_item(db, item.item_id), item.unit)
    sources = learning.classifiers_of(model.terms) or (ROW_OF_SHAPES,)
    evidence = classifying.judge(series, sources, JudgeOptions(model.warmup))
    segments = segments_of_item(db, item, evidence, series) if model.needs_segments else None
    first = evidence[0]
    return model.judge(
        item_features(evidence, series, segments), positive=question.positive,
        n_runs=first.n_runs, n_iterations=first.n_iterations, n_left_out=first.n_left_out,
    )  # fmt: skip


def _hash(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def _versions() -> dict[str, str]:
    return {
        "labeler": labeler.__version__, "python": platform.python_version(), "numpy": np.__version__,
        "pandas": pd.__version__, "scipy": scipy.__version__,
    }  # fmt: skip
