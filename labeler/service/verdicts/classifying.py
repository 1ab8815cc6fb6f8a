"""Run the classifiers on one benchmark.

The results depend only on the arguments, so any process on any machine can run these functions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.classifiers import CLASSIFIERS, Classifier, Verdict, classifier_named
from analysis.runs import Runs, checked_drop
from labeler.errors import InputError, sentence
from labeler.model import Series
from labeler.plugins import classifier_plugins
from labeler.service.verdicts import foreign

PLUGIN_VERSION, NOT_INSTALLED = (
    1,
    0,
)  # version of a classifier that is not installed, so that its verdicts are computed once it is installed


@dataclass(frozen=True)
class JudgeOptions:
    """Options that apply to all classifiers.

    Raises
    ------
    InputError
        If `warmup` is neither a number of iterations nor a share.
    """

    warmup: float = 0  # Warm-up to leave out at the start of each run: a number of iterations, or a share below 1
    # Whether to compute only what the verdicts need, without the scores of the heuristics and the evidence.
    only_verdict: bool = False

    def __post_init__(self) -> None:
        """Raise InputError if the warm-up is neither a number of iterations nor a share."""
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

    A classifier with another threshold is called a setting. A threshold that is the default adds no name. Raises
    InputError if a threshold is negative or not finite.

    Parameters
    ----------
    thresholds : mapping of str to sequence of float
        Values for each threshold "theta", "cut" or "limit". The values apply to every classifier with this threshold.

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


def is_setting(name: str) -> bool:
    """Return whether the name is a built-in classifier with another threshold, such as `heuristic@0.30`."""
    return name not in CLASSIFIERS and classifier_named(name) is not None


def judges(options: JudgeOptions, more: Sequence[str] = ()) -> list[Judge]:
    """Return all classifiers: built-in classifiers, the settings in `more`, and classifiers of other packages."""
    known = [*CLASSIFIERS.values(), *filter(None, map(classifier_named, more))]
    built_in = [
        Judge(
            classifier.name,
            classifier.version,
            {**classifier.parameters, "drop": float(options.warmup), **_laziness(classifier, options)},
        )
        for classifier in known
    ]
    foreign = [
        Judge(name, PLUGIN_VERSION, {"package": plugin.distribution, "drop": float(options.warmup)})
        for name, plugin in classifier_plugins().items()
        if name not in CLASSIFIERS
    ]
    return built_in + foreign


def judge(series: Sequence[Series], names: Sequence[str], options: JudgeOptions = JudgeOptions()) -> list[Verdict]:
    """Return the verdicts of the named classifiers on one benchmark; if a classifier fails, its verdict has the reason.

    The classifiers share intermediate results, so that each result is computed only once. Verdicts are in the order of
    the names. If `options.only_verdict` is true, they have no evidence.
    """
    try:
        shared = Runs(series, options.warmup)
    except ValueError as error:
        return [Verdict(name, None, reason=str(error)) for name in names]
    return [_verdict(name, shared, options) for name in names]


def _verdict(name: str, shared: Runs, options: JudgeOptions) -> Verdict:
    sizes = {"n_runs": shared.k, "n_iterations": shared.n}
    try:
        classifier = classifier_named(name)
        if classifier is not None:
            return classifier(shared, drop=options.warmup, **_laziness(classifier, options))
        plugin = classifier_plugins().get(name)
        if plugin is None or plugin.function is None:
            reason = plugin.error if plugin else f"the classifier {name} is not installed here"
            return Verdict(name, None, reason=reason, version=NOT_INSTALLED, **sizes)
        return foreign.checked(name, plugin.function(shared), shared)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one that fails on one item must not stop the others
        return Verdict(name, None, reason=_error_text(error), **sizes)


def _error_text(error: BaseException) -> str:
    """Return the text of an error; if the error cannot be converted to text, return a substitute."""
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - it comes from elsewhere too
        return kind
    return (text or kind) if isinstance(error, ValueError) else f"{kind}: {text}"


def _laziness(classifier: Classifier, options: JudgeOptions) -> dict[str, bool]:
    return {"only_verdict": True} if options.only_verdict and "keep_mean" in classifier.parameters else {}
