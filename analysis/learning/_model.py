"""Use a fitted model as a classifier, write its formula, and read and write its file."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from analysis.arrays import Floats
from analysis.document import describe_value
from analysis.learning._features import FEATURES, RUNS, SEGMENTS, features_of, segment_features
from analysis.learning._fit import n_columns_of, probabilities, rank
from analysis.runs.classifiers import CLASSIFIERS, Verdict
from analysis.runs.runs import AUTO, Runs, Warmup
from analysis.text import counted

FORMAT = 1  # of model files
NAMES = (
    "format", "name", "categories", "monotone", "intercepts", "threshold", "penalty", "cost_ratio", "warmup",
    "formula", "terms", "training",
)  # fmt: skip
LEARNED = "learned"
MOST_CHARACTERS = 60
MOST_TERMS, SHOWN_TERMS = 30, 6  # a formula with more terms is shortened to the largest in texts
NO_SLOPE = 1e-9  # a smaller coefficient is not in the formula


class ModelError(ValueError):
    """Raised if a model file is invalid; the message gives the place and the reason."""


@dataclass(frozen=True)
class Term:
    """A feature in a model, which adds coefficient x (value - mean) / sd or coefficient x rank to each score."""

    feature: str  # A name in `FEATURES`, and the version of the feature that the model was fitted with
    version: str
    coefficients: tuple[float, ...]  # one for two categories, else one per category
    mean: float = 0.0
    sd: float = 1.0
    quantiles: tuple[float, ...] = ()  # of the training items, if the model uses ranks (`rank`)

    @property
    def slopes(self) -> tuple[float, ...]:
        """Return the change of each score per unit of the feature, or of its rank."""
        return tuple(coefficient / self.sd for coefficient in self.coefficients)

    def adds(self, value: float) -> Floats:
        """Return what a value of the feature adds to the scores, shape (n_columns,)."""
        coefficients = np.array(self.coefficients)
        if self.quantiles:
            return coefficients * rank(np.array(self.quantiles), np.array([value]))
        added: Floats = coefficients * (value - self.mean) / self.sd
        return added


@dataclass(frozen=True)
class Model:
    """A logistic model of the probabilities of the categories of a question.

    With two categories, the score is the log-odds of the second one. With more, each category has a score, and the
    softmax of the scores gives the probabilities. The verdict is the most probable category; but if the second of two
    categories is the positive one, this is the verdict if its probability exceeds the threshold.
    """

    name: str  # name of the model; its verdicts belong to the classifier `learned:NAME`
    categories: tuple[str, ...]
    terms: tuple[Term, ...]
    intercepts: tuple[float, ...]  # one for two categories, else one per category
    penalty: float  # settings of the fit
    monotone: bool = False  # whether all coefficients are at least 0
    threshold: float | None = None  # None without a positive category of two
    cost_ratio: float | None = None  # cost of a missed positive item divided by that of a false alarm; None likewise
    warmup: Warmup = 0.0  # what was left out of each run before the features were computed
    # How the model was trained, as plain values, for example counts, hashes of the data, seed and performance.
    training: Mapping[str, Any] = field(default_factory=dict)

    @property
    def classifier(self) -> str:
        """Return the name of the classifier."""
        return f"{LEARNED}:{self.name}"

    @property
    def positive(self) -> str | None:
        """Return the positive category of two; None if there is none."""
        return None if self.threshold is None else self.categories[1]

    @property
    def coefficients(self) -> Floats:
        """Return the coefficients, shape (n_features, n_columns)."""
        return np.array([term.coefficients for term in self.terms]).reshape(len(self.terms), len(self.intercepts))

    @property
    def formula(self) -> str:
        """Return the formula of the model, without features that have the coefficient 0.

        Features are unscaled, or `rank(feature)` is the rank of a value among the training items, with mean 0 and
        standard deviation 1.

        Examples
        --------
        >>> term = Term("m1", "1.1", (1.0,), 0.5, 0.25)
        >>> Model("a", ("similar", "dissimilar"), (term,), (0.0,), 0.1, True, 0.5, 1.0).formula
        'P(dissimilar) = 1 / (1 + exp(-(-2 + 4 m1))); dissimilar when P > 0.5'
        >>> term = Term("m1", "1.1", (1.0, 0.0, -1.0), quantiles=(0.0, 1.0))
        >>> Model("a", ("up", "level", "down"), (term,), (0.5, 0.0, -0.5), 0.1).formula
        'P(category) = exp(score) / sum of exp(scores); up: 0.5 + 1 rank(m1); level: 0; down: -0.5 - 1 rank(m1)'
        """
        return self._formula(self.terms)

    @property
    def short_formula(self) -> str:
        """Return the formula with the features of the largest coefficients only, if there are many features."""
        if len(self.terms) <= MOST_TERMS:
            return self.formula
        return self._formula(self.largest(SHOWN_TERMS), f" … {len(self.terms) - SHOWN_TERMS} more")

    def largest(self, n: int) -> list[Term]:
        """Return the `n` terms with the largest coefficients."""
        return sorted(self.terms, key=lambda term: -max(map(abs, term.slopes)))[:n]

    def _formula(self, terms: Sequence[Term], rest: str = "") -> str:
        scores = [f"{self._score(terms, column)}{rest}" for column in range(len(self.intercepts))]
        if len(scores) == 1:
            name, threshold = self.categories[1], 0.5 if self.threshold is None else self.threshold
            return f"P({name}) = 1 / (1 + exp(-({scores[0]}))); {name} when P > {threshold:.4g}"
        of_categories = "; ".join(
            f"{category}: {score}" for category, score in zip(self.categories, scores, strict=True)
        )
        return f"P(category) = exp(score) / sum of exp(scores); {of_categories}"

    def _score(self, terms: Sequence[Term], column: int) -> str:
        constant = self.intercepts[column] - sum(
            term.coefficients[column] * term.mean / term.sd for term in self.terms if not term.quantiles
        )
        parts = [f"{constant:.4g}"]
        for term in terms:
            slope = term.slopes[column]
            if abs(slope) > NO_SLOPE:
                name = f"rank({term.feature})" if term.quantiles else term.feature
                parts.append(f"{'-' if slope < 0 else '+'} {abs(slope):.4g} {name}")
        return " ".join(parts)

    @property
    def needs_runs(self) -> bool:
        """Return whether the model uses features that are computed from the runs themselves."""
        return any(FEATURES[term.feature].source == RUNS for term in self.terms)

    @property
    def needs_segments(self) -> bool:
        """Return whether the model uses the segments of each run."""
        return any(FEATURES[term.feature].source == SEGMENTS for term in self.terms)

    def probabilities(self, values: Mapping[str, float | None]) -> Mapping[str, float] | None:
        """Return the probability of each category for an item with these features; None if a feature is missing."""
        scores = np.array(self.intercepts)
        for term in self.terms:
            value = values.get(term.feature)
            if value is None or not math.isfinite(value):
                return None
            scores = scores + term.adds(value)
        return dict(zip(self.categories, probabilities(scores).tolist(), strict=True))

    def judge(self, values: Mapping[str, float | None], *, positive: str | None = None, **background: Any) -> Verdict:
        """Return the model's verdict on an item with these features (`features_of`).

        The score is the probability of `positive`, by default the model's positive category. There is no verdict if a
        feature is missing, for example because runs are short. `background` has n_runs, n_iterations and n_left_out of
        the verdict.
        """
        found = self.probabilities(values)
        if found is None:
            lacking = next(
                term.feature for term in self.terms
                if (value := values.get(term.feature)) is None or not math.isfinite(value)
            )  # fmt: skip
            return Verdict(
                self.classifier, None, reason=f"the feature {lacking} is missing, for example in short runs",
                threshold=self.threshold, **background,
            )  # fmt: skip
        if self.threshold is None:
            verdict = max(self.categories, key=found.__getitem__)
        else:
            verdict = self.categories[found[self.categories[1]] > self.threshold]
        category = self.positive if positive is None else positive
        score = None if category is None else found.get(category)
        return Verdict(self.classifier, verdict, score=score, threshold=self.threshold, **background)

    def judge_runs(self, runs: Runs) -> Verdict:
        """Return the model's verdict on the runs of a benchmark; raise the same errors as the built-in classifiers."""
        if runs.drop != self.warmup:
            raise ValueError(
                f"the model was learned with warm-up {describe_value(self.warmup)}, but these runs have warm-up "
                f"{describe_value(runs.drop)}"
            )
        verdicts = [CLASSIFIERS[name](runs, drop=runs.drop) for name in classifiers_of(self.terms)]
        segments = segment_features(list(runs.values)) if self.needs_segments else None
        values = features_of(verdicts, runs if self.needs_runs else None, segments)
        return self.judge(values, n_runs=runs.k, n_iterations=runs.n, n_left_out=runs.n_left_out)

    def to_text(self) -> str:
        """Return the content of the model file as JSON text with all digits of each number."""
        content = {
            "format": FORMAT, "name": self.name, "categories": list(self.categories), "monotone": self.monotone,
            "intercepts": list(self.intercepts), "threshold": self.threshold, "penalty": self.penalty,
            "cost_ratio": self.cost_ratio, "warmup": self.warmup, "formula": self.formula,
            "terms": [_content(term) for term in self.terms],
            "training": dict(self.training),
        }  # fmt: skip
        return json.dumps(content, indent=1, allow_nan=False) + "\n"


def classifiers_of(terms: Iterable[Term]) -> tuple[str, ...]:
    """Return the names of the built-in classifiers whose verdicts have the features of a model."""
    used = (FEATURES[term.feature] for term in terms)
    return tuple(dict.fromkeys(feature.source for feature in used if feature.value))


def model_from_text(text: str) -> Model:
    """Read a model file, and reject it if any value is missing, unknown or inconsistent.

    Raises ModelError if the text is not JSON, a name is missing, unknown or duplicate, a value has the wrong type or
    range, a feature or its version is unknown, or the formula does not match the numbers.
    """
    try:
        content = json.loads(text, object_pairs_hook=_no_name_twice, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ModelError(f"the file is not JSON: {error.msg}, line {error.lineno}") from None
    except RecursionError:
        raise ModelError("the file is nested too deeply") from None
    if not isinstance(content, dict):
        raise ModelError("the model is not an object")
    if content.get("format", FORMAT) != FORMAT or content.get("format") is True:
        raise ModelError(f"the file has the format {content['format']!r}, but this version reads the format {FORMAT}")
    _check_names(content, NAMES, "the model")
    categories = _categories(content["categories"])
    monotone, threshold, cost_ratio = _of_positive(content, categories)
    if not isinstance(content["training"], dict):
        raise ModelError("training is not an object")
    if not isinstance(content["terms"], list) or not content["terms"]:
        raise ModelError("terms is not a list of at least one feature")
    n_columns = n_columns_of(len(categories))
    terms = tuple(_term(term, f"term {n + 1}", n_columns, monotone=monotone) for n, term in enumerate(content["terms"]))
    if len({term.feature for term in terms}) < len(terms):
        raise ModelError("a feature occurs twice")
    model = Model(
        checked_name(content["name"]), categories, terms,
        _numbers(content["intercepts"], "intercepts", n_columns), _number(content, "penalty", 0),
        monotone, threshold, cost_ratio,
        AUTO if content["warmup"] == AUTO else _number(content, "warmup", 0), content["training"],
    )  # fmt: skip
    if content["formula"] != model.formula:
        raise ModelError("the formula does not match the numbers, so the file was changed by hand")
    return model


def _categories(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list) or len(found) < 2 or not all(isinstance(name, str) for name in found):
        raise ModelError("categories is not a list of at least two names")
    if len(set(found)) < len(found):
        raise ModelError("a category occurs twice")
    return tuple(found)


def _of_positive(content: Mapping[str, Any], categories: Sequence[str]) -> tuple[bool, float | None, float | None]:
    """Return what only a model with a positive category of two has: monotone, threshold and cost ratio."""
    if not isinstance(content["monotone"], bool):
        raise ModelError(f"monotone is {content['monotone']!r}, not true or false")
    if content["threshold"] is None and content["cost_ratio"] is None:
        if content["monotone"]:
            raise ModelError("a monotone model needs a threshold")
        return False, None, None
    if len(categories) > 2:
        raise ModelError("threshold and cost_ratio must be null in a model of more than two categories")
    return content["monotone"], _number(content, "threshold", 0, 1), _number(content, "cost_ratio", 0)


def checked_name(name: object) -> str:
    """Return the name of a model; raise ModelError unless it has only letters, digits, dots, _ and -."""
    if not isinstance(name, str) or not 0 < len(name) <= MOST_CHARACTERS:
        raise ModelError(f"the name must be a text of 1 to {MOST_CHARACTERS} characters, got {name!r}")
    if not all(letter.isascii() and (letter.isalnum() or letter in "._-") for letter in name):
        raise ModelError(f"the name {name!r} must contain only letters, digits, dots, underscores and hyphens")
    return name


def _content(term: Term) -> dict[str, Any]:
    scale = {"quantiles": list(term.quantiles)} if term.quantiles else {"mean": term.mean, "sd": term.sd}
    return {
        "feature": term.feature, "version": term.version, **scale, "coefficients": list(term.coefficients),
        "title": FEATURES[term.feature].title,
    }  # fmt: skip


def _term(term: Any, where: str, n_columns: int, *, monotone: bool) -> Term:
    scale = ("mean", "sd") if monotone else ("quantiles",)
    _check_names(term, ("feature", "version", *scale, "coefficients", "title"), where)
    name = _known_feature(term, where)
    version = FEATURES[name].version
    coefficients = _numbers(term["coefficients"], f"{where}, coefficients", n_columns)
    if not monotone:
        return Term(name, version, coefficients, quantiles=_quantiles(term["quantiles"], where))
    mean, sd = (_number(term, part, place=f"{where}, ") for part in scale)
    if sd <= 0:
        raise ModelError(f"{where}: sd must be > 0, got {sd}")
    if min(coefficients) < 0:
        raise ModelError(f"{where}: a monotone model has the negative coefficient {min(coefficients)}")
    return Term(name, version, coefficients, mean, sd)


def _known_feature(term: Mapping[str, Any], where: str) -> str:
    name = term["feature"]
    if not isinstance(name, str) or name not in FEATURES:
        raise ModelError(f"{where}: unknown feature {name!r}")
    version = FEATURES[name].version
    if term["version"] != version:
        raise ModelError(
            f"{where}: the model was fitted with version {term['version']} of the feature {name}, but version "
            f"{version} is installed. Learn the model again"
        )
    return name


def _quantiles(found: Any, where: str) -> tuple[float, ...]:
    if not isinstance(found, list) or len(found) < 2:
        raise ModelError(f"{where}: quantiles is not a list of at least two numbers")
    numbers = _numbers(found, f"{where}, quantiles", len(found))
    if any(b < a for a, b in pairwise(numbers)):
        raise ModelError(f"{where}: the quantiles are not in ascending order")
    return numbers


def _numbers(found: Any, where: str, n: int) -> tuple[float, ...]:
    if not isinstance(found, list) or len(found) != n:
        raise ModelError(f"{where} is not a list of {counted(n, 'number')}")
    for value in found:
        if not _is_number(value):
            raise ModelError(f"{where} has {value!r}, not a number")
    return tuple(map(float, found))


def _number(content: Mapping[str, Any], name: str, low: float = -math.inf, high: float = math.inf, *,
            place: str = "") -> float:  # fmt: skip
    value = content[name]
    if not _is_number(value):
        raise ModelError(f"{place}{name} is {value!r}, not a number")
    if not low <= value <= high:
        raise ModelError(f"{place}{name} is {value}, out of range")
    return float(value)


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, (int, float)) and math.isfinite(value)


def _check_names(content: Any, names: Iterable[str], where: str) -> None:
    if not isinstance(content, dict):
        raise ModelError(f"{where} is not an object")
    missing, unknown = [n for n in names if n not in content], [n for n in content if n not in set(names)]
    if missing or unknown:
        word = f"lacks {missing[0]!r}" if missing else f"has the unknown key {unknown[0]!r}"
        raise ModelError(f"{where} {word}")


def _no_name_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ModelError("a name occurs twice in one object")
    return content


def _no_constant(text: str) -> None:
    raise ModelError(f"{text} is not a number")
