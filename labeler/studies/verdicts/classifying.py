"""Run the classifiers on one benchmark.

The results depend only on the arguments, so any process on any machine can run these functions.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analysis.arrays import Floats, Series
from analysis.runs.benchmark import HIGHER, LOWER, OF_WARMUP, Run
from analysis.runs.classifiers import (
    CHANGE_CATEGORIES,
    CHANGE_RULES,
    CLASSIFIERS,
    ChangeRule,
    Classifier,
    Verdict,
    classifier_named,
)
from analysis.runs.runs import AUTO, Runs, Warmup, checked_drop, n_warmup
from labeler.errors import InputError, sentence
from labeler.plugins import Plugin, change_plugins, classifier_plugins
from labeler.studies.model import Question
from labeler.studies.screen.kinds import FIRST_QUESTION, SIDE, SIDES, kind_of
from labeler.text import without_folders

PLUGIN_VERSION, NOT_INSTALLED = (
    1,
    0,
)  # version of a classifier that is not installed, so that its verdicts are computed once it is installed


@dataclass(frozen=True)
class JudgeOptions:
    """Options that apply to all classifiers."""

    warmup: Warmup = field(default=0, metadata=OF_WARMUP)
    only_verdict: bool = field(default=False, metadata={"help": "Compute verdicts without scores and evidence."})

    @property
    def drop(self) -> Warmup:
        """Return the warm-up as the parameter of a classifier."""
        return self.warmup if self.warmup == AUTO else float(self.warmup)

    def __post_init__(self) -> None:
        """Raise InputError if the warm-up is invalid."""
        try:
            checked_drop(self.warmup)
        except ValueError as error:
            raise InputError(sentence(error)) from None


@dataclass(frozen=True)
class Judge:
    """A classifier, with its parameters and version; if one of these changes, the verdicts are computed again."""

    name: str
    version: int
    parameters: Mapping[str, Any]


def variants(thresholds: Mapping[str, Sequence[float]]) -> list[str]:
    """Return the names of classifiers with other thresholds, such as `heuristic@0.30`.

    The values of a threshold "theta", "cut" or "limit" apply to every classifier with this threshold; the default adds
    no name. Raises InputError if a threshold is negative or not finite.

    Examples
    --------
    >>> variants({"theta": [0.25, 0.3]})
    ['heuristic@0.30', 'heuristic-printed@0.30']
    """
    try:
        found = [
            classifier.at(threshold).name
            for classifier in CLASSIFIERS.values()
            for threshold in thresholds.get(classifier.threshold_name, ())
        ]
    except ValueError as error:
        raise InputError(sentence(error)) from None
    return [name for name in dict.fromkeys(found) if name not in CLASSIFIERS]


def is_variant(name: str) -> bool:
    """Return whether the name is a built-in classifier with another threshold, such as `heuristic@0.30`."""
    return name not in CLASSIFIERS and classifier_named(name) is not None


def rules_for(question: Question) -> Mapping[str, ChangeRule]:
    """Return the built-in rules that can answer a question; only questions about a change have rules."""
    is_answered = kind_of(question).swapped is not None and set(question.names) == set(CHANGE_CATEGORIES)
    return CHANGE_RULES if is_answered else {}


def plugins_for(question: Question) -> Mapping[str, Plugin]:
    """Return the classifiers of other packages for the items of a question."""
    return change_plugins() if kind_of(question).swapped is not None else classifier_plugins()


def judges(options: JudgeOptions, more: Sequence[str] = (), question: Question = FIRST_QUESTION) -> list[Judge]:
    """Return all classifiers that can answer a question: built-in, variants in `more`, and those of other packages."""
    of_packages = [
        Judge(name, PLUGIN_VERSION, {"package": plugin.distribution, "drop": options.drop})
        for name, plugin in plugins_for(question).items()
        if _is_free(name)
    ]
    rules = rules_for(question)
    if rules:
        built_in = [
            Judge(rule.name, rule.version, {**rule.parameters, "drop": options.drop}) for rule in rules.values()
        ]
        return built_in + of_packages
    if not question.has_default_categories:
        return of_packages
    known = [*CLASSIFIERS.values(), *filter(None, map(classifier_named, more))]
    built_in = [
        Judge(
            classifier.name,
            classifier.version,
            {**classifier.parameters, "drop": options.drop, **_laziness(classifier, options)},
        )
        for classifier in known
    ]
    return built_in + of_packages


def _is_free(name: str) -> bool:
    return classifier_named(name) is None and name not in CHANGE_RULES


def ignored_plugins() -> list[str]:
    """Return a sentence for each classifier of another package that is not used, because its name is built in."""
    return [
        f"{plugin.distribution} registers a classifier named {name!r}. This name is built in, so the classifier of the "
        "package is not used. Give its entry point another name."
        for name, plugin in (*classifier_plugins().items(), *change_plugins().items())
        if not _is_free(name)
    ]


def with_unit(series: Sequence[Series], unit: str, better: str = LOWER, sides: Sequence[str] = ()) -> list[Run]:
    """Return the runs of an item; rules for the end of warm-up need to know whether values are times.

    `sides` are the sides of the runs, if the item has two.
    """
    conditions = [{SIDE: side} for side in sides] or [{}] * len(series)
    return [Run(values, unit, better, of_run) for values, of_run in zip(series, conditions, strict=True)]


def judge(
    series: Sequence[Run] | Sequence[Series],
    names: Sequence[str],
    options: JudgeOptions = JudgeOptions(),
    categories: Sequence[str] = FIRST_QUESTION.names,
) -> list[Verdict]:
    """Return the verdicts of the named classifiers on one benchmark; if a classifier fails, its verdict has the reason.

    The classifiers share intermediate results, so that each result is computed only once. Verdicts are in the order of
    the names. If `options.only_verdict` is true, they have no evidence. If the runs have sides, the classifiers are
    those of a change. A verdict of another package is one of the `categories`.
    """
    if any(isinstance(run, Run) and run.of(SIDE) for run in series):
        return [_verdict_on_change(name, [run for run in series if isinstance(run, Run)], options, categories)
                for name in names]  # fmt: skip
    try:
        shared = Runs(series, options.warmup)
    except ValueError as error:
        return [Verdict(name, None, reason=str(error)) for name in names]
    return [_verdict(name, shared, options, categories) for name in names]


def _verdict(name: str, shared: Runs, options: JudgeOptions, categories: Sequence[str]) -> Verdict:
    sizes = {"n_runs": shared.k, "n_iterations": shared.n}
    try:
        classifier = classifier_named(name)
        if classifier is not None:
            return classifier(shared, drop=options.warmup, **_laziness(classifier, options))
        plugin = classifier_plugins().get(name)
        if plugin is None or plugin.function is None:
            return _not_installed(name, plugin, sizes)
        return checked_verdict(name, plugin.function(shared), shared.k, shared.n, categories)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one that fails on one item must not stop the others
        return Verdict(name, None, reason=_error_text(error), **sizes)


def _verdict_on_change(name: str, runs: Sequence[Run], options: JudgeOptions, categories: Sequence[str]) -> Verdict:
    before, after = ([run for run in runs if run.of(SIDE) == side] for side in SIDES)
    is_lower_better = all(run.better != HIGHER for run in runs)
    sizes: dict[str, Any] = {"n_runs": len(runs), "n_iterations": min(map(len, runs))}
    try:
        if name in CHANGE_RULES:
            return CHANGE_RULES[name](before, after, lower_is_better=is_lower_better, drop=options.warmup)
        plugin = change_plugins().get(name)
        if plugin is None or plugin.function is None:
            return _not_installed(name, plugin, sizes)
        kept = ([np.asarray(run)[n_warmup(run, options.warmup) :] for run in side] for side in (before, after))
        found = plugin.function(*kept, lower_is_better=is_lower_better)
        return checked_verdict(name, found, len(runs), sizes["n_iterations"], categories)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one that fails on one item must not stop the others
        return Verdict(name, None, reason=_error_text(error), **sizes)


def _not_installed(name: str, plugin: Plugin | None, sizes: Mapping[str, Any]) -> Verdict:
    reason = without_folders(plugin.error) if plugin else f"the classifier {name} is not installed here"
    return Verdict(name, None, reason=reason, version=NOT_INSTALLED, **sizes)


def _error_text(error: BaseException) -> str:
    """Return the text of an error; if the error cannot be converted to text, return a substitute."""
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - it comes from elsewhere too
        return kind
    return without_folders((text or kind) if isinstance(error, ValueError) else f"{kind}: {text}")


def _laziness(classifier: Classifier, options: JudgeOptions) -> dict[str, bool]:
    return {"only_verdict": True} if options.only_verdict and "keep_mean" in classifier.parameters else {}


def checked_verdict(
    name: str, result: object, n_runs: int, n_iterations: int, categories: Sequence[str] = FIRST_QUESTION.names
) -> Verdict:
    """Check what a classifier from another package returned, and return it as a verdict with plain values.

    The registered name replaces the name inside the verdict. The result has only plain numbers, tuples and arrays, so
    that it can be stored. Raises TypeError, ValueError if `result` is not a verdict, or contains an unknown category, a
    number that is not finite, or clusters or pairs for another number of runs.
    """
    if not isinstance(result, Verdict):
        raise TypeError(f"the classifier returned {type(result).__name__}, not a Verdict")
    if result.verdict not in (*categories, None):
        raise ValueError(
            f"the classifier gave the verdict {result.verdict!r}, which is not one of: {', '.join(categories)}"
        )
    n_pairs = n_runs * (n_runs - 1) // 2
    return Verdict(
        name,
        result.verdict,
        score=_optional(result.score, "score"),
        threshold=_optional(result.threshold, "threshold"),
        reason=str(result.reason or "the classifier gave no verdict and no reason") if result.verdict is None else None,
        means={str(measure): _number(value, f"mean {measure}") for measure, value in result.means.items()},
        clusters=tuple(map(int, _sized(list(result.clusters), n_runs, "clusters") if result.clusters else ())),
        pairs={
            str(measure): _array(values, (n_pairs,), f"pairs {measure}") for measure, values in result.pairs.items()
        },
        linkage=None if result.linkage is None else _array(result.linkage, (n_runs - 1, 4), "linkage"),
        n_runs=n_runs,
        n_iterations=n_iterations,
    )


def _number(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"the classifier gave the {name} {value!r}, which is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"the classifier gave the {name} {number}, which is not finite")
    return number


def _optional(value: Any, name: str) -> float | None:
    return None if value is None else _number(value, name)


def _array(values: Any, shape: tuple[int, ...], name: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(
            f"the classifier gave {name} of shape {array.shape}; {name} must have shape {shape} and only finite numbers"
        )
    return array


def _sized(values: list[Any], n: int, name: str) -> list[Any]:
    if len(values) != n:
        raise ValueError(f"the classifier gave {len(values)} {name} for {n} runs")
    return values
