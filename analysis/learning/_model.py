"""Fit a model, use it as a classifier, write its formula, and read and write its file.

The model is a logistic regression with an L2 penalty, plain or monotone (no coefficient below 0), or, for a question
with other categories, a multinomial logistic regression (`CategoryModel`).
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import special

from analysis.arrays import Bools, Floats
from analysis.categories import DISSIMILAR, SIMILAR
from analysis.document import describe_value
from analysis.learning._features import FEATURES, RUNS, SEGMENTS, features_of, segment_features
from analysis.runs.classifiers import CLASSIFIERS, Verdict
from analysis.runs.runs import AUTO, Runs, Warmup
from analysis.statistics.results import Result

TOLERANCE = 1e-9  # the fit stops if the gradient is smaller than this
MAX_STEPS = 200
AT_BOUND, RIDGE, SMALLEST_STEP = 1e-10, 1e-12, 1e-12


@dataclass(frozen=True, repr=False)
class Logistic(Result):
    """A fitted model in units of the features: log-odds = intercept + x @ coefficients."""

    intercept: float
    coefficients: Floats

    def leaning(self, x: Floats) -> Floats:
        """Return the log-odds of dissimilar without the intercept, shape (n_items,).

        Without the intercept, the values do not depend on the share of dissimilar items in the training data.
        """
        leaning: Floats = x @ self.coefficients
        return leaning

    def probability(self, x: Floats) -> Floats:
        """Return the probability of dissimilar, shape (n_items,)."""
        probability: Floats = special.expit(self.intercept + x @ self.coefficients)
        return probability


def fit_logistic(
    x: Floats,
    dissimilar: Bools,
    penalty: float,
    *,
    monotone: bool = False,
    weights: Floats | None = None,
    start: Logistic | None = None,
    tolerance: float = TOLERANCE,
) -> Logistic:
    """Fit a logistic regression by Newton's method.

    The fit minimises the mean log loss plus penalty / 2 times the sum of squared coefficients [1]_. The monotone
    variant projects each step onto the coefficients >= 0 [2]_. Raises ValueError if the shapes differ or the penalty is
    negative.

    `x` (shape (n_items, n_features)): standardised features (`Standardiser`), because the penalty is the same for all
    features. The intercept is not penalised. `dissimilar` (shape (n_items,)); `penalty`: at least 0. If the penalty is
    0 and the features separate the categories, there is no finite solution, and the result is the point at which the
    fit stopped. `monotone`: require coefficients >= 0, so that a larger dissimilarity never makes an item more similar;
    `weights` (shape (n_items,)): weight of each item; `start`: starting point, such as the fit for a similar penalty.
    It does not affect the result. `tolerance`: the fit stops if no element of the gradient is larger.

    References
    ----------
    .. [1] le Cessie, van Houwelingen (1992), Applied Statistics 41:191-201, doi:10.2307/2347628
    .. [2] Bertsekas (1982), SIAM J. Control and Optimization 20:221-246, doi:10.1137/0320018
    """
    if x.ndim != 2 or len(x) != len(dissimilar):
        raise ValueError(f"x must have shape ({len(dissimilar)}, n_features), got {x.shape}")
    if not penalty >= 0:
        raise ValueError(f"penalty must be >= 0, got {penalty}")
    ones = np.ones((len(x), 1))
    design, y = np.hstack([ones, x]), dissimilar.astype(np.float64)
    share = np.full(len(x), 1 / len(x)) if weights is None else weights / weights.sum()
    shrink = np.full(design.shape[1], penalty)
    shrink[0] = 0.0
    bounded = np.full(design.shape[1], monotone)
    bounded[0] = False

    def loss(theta: Floats) -> float:
        odds = design @ theta
        return float(share @ (np.logaddexp(0.0, odds) - y * odds) + (shrink * theta) @ theta / 2)

    theta = np.zeros(design.shape[1]) if start is None else np.concatenate(([start.intercept], start.coefficients))
    value = loss(theta)
    for _ in range(MAX_STEPS):
        probability = special.expit(design @ theta)
        gradient = design.T @ (share * (probability - y)) + shrink * theta
        free = ~bounded | (theta > AT_BOUND) | (gradient < 0)
        if np.abs(gradient[free]).max() < tolerance:
            break
        part = design[:, free]
        curvature = share * probability * (1 - probability)
        hessian = (part.T * curvature) @ part + np.diag(shrink[free] + RIDGE)
        step = np.zeros(len(theta))
        step[free] = -np.linalg.solve(hessian, gradient[free])
        size = 1.0
        while True:  # Halve the step until the loss decreases enough; rounding errors are tolerated.
            moved = theta + size * step
            moved[bounded] = np.maximum(moved[bounded], 0.0)
            after = loss(moved)
            if after <= value + 1e-4 * gradient @ (moved - theta) + 1e-15 or size < SMALLEST_STEP:
                break
            size /= 2
        theta, value = moved, after
    return Logistic(float(theta[0]), theta[1:])


@dataclass(frozen=True, repr=False)
class Standardiser(Result):
    """The mean and the standard deviation of each feature over the training items of a model."""

    mean: Floats  # standard deviation; 1 for a feature without variation
    sd: Floats

    @classmethod
    def of(cls, x: Floats) -> "Standardiser":
        """Compute the scale from features of shape (n_items, n_features)."""
        sd = x.std(axis=0)
        return cls(x.mean(axis=0), np.where(sd > 1e-12, sd, 1.0))

    def apply(self, x: Floats) -> Floats:
        """Standardise features: subtract the mean and divide by the standard deviation."""
        standardised: Floats = (x - self.mean) / self.sd
        return standardised


N_QUANTILES = 51


@dataclass(frozen=True, repr=False)
class RankScale(Result):
    """The quantiles of each feature over the training items, which turn a value into its rank among these items.

    A rank has mean 0 and standard deviation 1 over the training items. Outliers and the unit do not matter.
    """

    quantiles: Floats  # shape (n_features, N_QUANTILES), from the smallest to the largest value

    @classmethod
    def of(cls, x: Floats) -> "RankScale":
        """Compute the scale from features of shape (n_items, n_features)."""
        return cls(np.quantile(x, np.linspace(0, 1, N_QUANTILES), axis=0).T)

    def apply(self, x: Floats) -> Floats:
        """Return the rank of each value."""
        columns = [rank(quantiles, x[:, j]) for j, quantiles in enumerate(self.quantiles)]
        return np.stack(columns, axis=1) if columns else np.empty_like(x)


def rank(quantiles: Floats, values: Floats) -> Floats:
    """Return the rank of values among items with these sorted quantiles; equal quantiles share their mean rank."""
    is_new = np.append(True, quantiles[1:] != quantiles[:-1])
    of = is_new.cumsum() - 1
    share = np.bincount(of, weights=np.linspace(0, 1, len(quantiles))) / np.bincount(of)
    ranks: Floats = (np.interp(values, quantiles[is_new], share) - 0.5) * np.sqrt(12)
    return ranks


Scale = Standardiser | RankScale


def scale_of(x: Floats, *, monotone: bool) -> Scale:
    """Return the scale of the features: standard deviations for a monotone model, ranks for other models."""
    return Standardiser.of(x) if monotone else RankScale.of(x)


FORMAT = 1  # of model files
OF_ANY_MODEL = ("format", "name", "intercept", "penalty", "warmup", "formula", "terms", "training")
OF_TWO_CATEGORIES = ("monotone", "threshold", "cost_ratio")
LEARNED = "learned"
MOST_CHARACTERS = 60
MOST_TERMS, SHOWN_TERMS = 30, 6  # a formula with more terms is shortened to the largest in texts


class ModelError(ValueError):
    """Raised if a model file is invalid; the message gives the place and the reason."""


@dataclass(frozen=True)
class Term:
    """A feature in a model, which adds coefficient x (value - mean) / sd or coefficient x rank to the log-odds."""

    feature: str  # A name in `FEATURES`, and the version of the feature that the model was fitted with
    version: str
    mean: float
    sd: float
    coefficient: float
    quantiles: tuple[float, ...] = ()  # of the training items, if the model uses ranks (`rank`)

    def adds(self, value: float) -> float:
        """Return what a value of the feature adds to the log-odds."""
        if self.quantiles:
            return self.coefficient * float(rank(np.array(self.quantiles), np.array([value]))[0])
        return self.coefficient * (value - self.mean) / self.sd


@dataclass(frozen=True)
class Model:
    """A logistic model of the probability that an item is dissimilar."""

    name: str  # name of the model; its verdicts belong to the classifier `learned:NAME`
    monotone: bool  # whether all coefficients are at least 0
    terms: tuple[Term, ...]
    intercept: float  # an item is dissimilar if its probability exceeds the threshold
    threshold: float
    penalty: float  # settings of the fit
    cost_ratio: float = 1.0
    warmup: Warmup = 0.0  # what was left out of each run before the features were computed
    # How the model was trained, as plain values, for example counts, hashes of the data, seed and performance.
    training: Mapping[str, Any] = field(default_factory=dict)

    @property
    def classifier(self) -> str:
        """Return the name of the classifier."""
        return f"{LEARNED}:{self.name}"

    @property
    def formula(self) -> str:
        """Return the formula of the model, without features that have the coefficient 0.

        Features are unscaled, or `rank(feature)` is the rank of a value among the training items, with mean 0 and
        standard deviation 1.

        Examples
        --------
        >>> Model("a", True, (Term("m1", "1.1", 0.5, 0.25, 1.0),), 0.0, 0.5, 0.1).formula
        'P(dissimilar) = 1 / (1 + exp(-(-2 + 4 m1))); dissimilar when P > 0.5'
        """
        return self._formula(self.terms)

    @property
    def short_formula(self) -> str:
        """Return the formula with the features of the largest coefficients only, if there are many features."""
        if len(self.terms) <= MOST_TERMS:
            return self.formula
        largest = sorted(self.terms, key=lambda term: -abs(term.coefficient / term.sd))[:SHOWN_TERMS]
        return self._formula(largest, f" … {len(self.terms) - SHOWN_TERMS} more")

    def _formula(self, terms: Iterable[Term], rest: str = "") -> str:
        constant = self.intercept - sum(
            term.coefficient * term.mean / term.sd for term in self.terms if not term.quantiles
        )
        parts = [f"{constant:.4g}"]
        for term in terms:
            slope = term.coefficient / term.sd
            if abs(slope) > 1e-9:
                name = f"rank({term.feature})" if term.quantiles else term.feature
                parts.append(f"{'-' if slope < 0 else '+'} {abs(slope):.4g} {name}")
        return f"P(dissimilar) = 1 / (1 + exp(-({' '.join(parts)}{rest}))); dissimilar when P > {self.threshold:.4g}"

    @property
    def needs_runs(self) -> bool:
        """Return whether the model uses features that are computed from the runs themselves."""
        return any(FEATURES[term.feature].source == RUNS for term in self.terms)

    @property
    def needs_segments(self) -> bool:
        """Return whether the model uses the segments of each run."""
        return any(FEATURES[term.feature].source == SEGMENTS for term in self.terms)

    def probability(self, values: Mapping[str, float | None]) -> float | None:
        """Return the probability that an item with these features is dissimilar; None if a feature is missing."""
        odds = self.intercept
        for term in self.terms:
            value = values.get(term.feature)
            if value is None or not math.isfinite(value):
                return None
            odds += term.adds(value)
        return float(1 / (1 + np.exp(-odds))) if odds >= 0 else float(np.exp(odds) / (1 + np.exp(odds)))

    def judge(
        self,
        verdicts: Iterable[Verdict],
        runs: Runs | None = None,
        segments: Mapping[str, float] | None = None,
        **background: Any,
    ) -> Verdict:
        """Return the model's verdict on an item, from the verdicts of the built-in classifiers, its runs and segments.

        The score is the probability of dissimilar. There is no verdict if a feature is missing, for example because
        runs are short. `background` has n_runs, n_iterations and n_left_out of the verdict.
        """
        values = features_of(verdicts, runs if self.needs_runs else None, segments)
        probability = self.probability(values)
        if probability is None:
            lacking = next(term.feature for term in self.terms if values.get(term.feature) is None)
            return Verdict(
                self.classifier, None, reason=f"the feature {lacking} is missing, for example in short runs",
                threshold=self.threshold, **background,
            )  # fmt: skip
        verdict = DISSIMILAR if probability > self.threshold else SIMILAR
        return Verdict(self.classifier, verdict, score=probability, threshold=self.threshold, **background)

    def judge_runs(self, runs: Runs) -> Verdict:
        """Return the model's verdict on the runs of a benchmark; raise the same errors as the built-in classifiers."""
        if runs.drop != self.warmup:
            raise ValueError(
                f"the model was learned with warm-up {describe_value(self.warmup)}, but these runs have warm-up "
                f"{describe_value(runs.drop)}"
            )
        verdicts = [CLASSIFIERS[name](runs, drop=runs.drop) for name in classifiers_of(self.terms)]
        segments = segment_features(list(runs.values)) if self.needs_segments else None
        return self.judge(verdicts, runs, segments, n_runs=runs.k, n_iterations=runs.n, n_left_out=runs.n_left_out)

    def to_text(self) -> str:
        """Return the content of the model file as JSON text with all digits of each number."""
        content = {
            "format": FORMAT, "name": self.name, "monotone": self.monotone,
            "intercept": self.intercept, "threshold": self.threshold, "penalty": self.penalty,
            "cost_ratio": self.cost_ratio, "warmup": self.warmup, "formula": self.formula,
            "terms": [_content(term) for term in self.terms],
            "training": dict(self.training),
        }  # fmt: skip
        return json.dumps(content, indent=1, allow_nan=False) + "\n"


@dataclass(frozen=True)
class CategoryTerm:
    """A feature in a model of several categories, whose rank adds coefficient x rank to the score of each category."""

    feature: str  # a name in `FEATURES`, and the version of the feature that the model was fitted with
    version: str
    quantiles: tuple[float, ...]  # of the training items (`rank`)
    coefficients: tuple[float, ...]  # one per category

    def adds(self, value: float) -> Floats:
        """Return what a value of the feature adds to the scores of the categories."""
        return np.array(self.coefficients) * rank(np.array(self.quantiles), np.array([value]))


@dataclass(frozen=True)
class CategoryModel:
    """A multinomial logistic model of the probabilities of the categories of a question.

    The score of a category is its intercept plus coefficient x rank of each feature. The softmax of the scores gives
    the probabilities, and the verdict is the most probable category.
    """

    name: str  # name of the model; its verdicts belong to the classifier `learned:NAME`
    categories: tuple[str, ...]
    terms: tuple[CategoryTerm, ...]
    intercepts: tuple[float, ...]
    penalty: float
    warmup: Warmup = 0.0  # what was left out of each run before the features were computed
    training: Mapping[str, Any] = field(default_factory=dict)  # how the model was trained, as plain values

    @property
    def classifier(self) -> str:
        """Return the name of the classifier."""
        return f"{LEARNED}:{self.name}"

    @property
    def formula(self) -> str:
        """Return the scores of all categories.

        Examples
        --------
        >>> term = CategoryTerm("m1", "1.1", (0.0, 1.0), (1.0, 0.0, -1.0))
        >>> CategoryModel("a", ("up", "level", "down"), (term,), (0.5, 0.0, -0.5), 0.1).formula
        'P(category) = exp(score) / sum of exp(scores); up: 0.5 + 1 rank(m1); level: 0; down: -0.5 - 1 rank(m1)'
        """
        scores = []
        for k, category in enumerate(self.categories):
            parts = [f"{self.intercepts[k]:.4g}"]
            for term in self.terms:
                slope = term.coefficients[k]
                if abs(slope) > 1e-9:
                    parts.append(f"{'-' if slope < 0 else '+'} {abs(slope):.4g} rank({term.feature})")
            scores.append(f"{category}: {' '.join(parts)}")
        return f"P(category) = exp(score) / sum of exp(scores); {'; '.join(scores)}"

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
        return dict(zip(self.categories, special.softmax(scores).tolist(), strict=True))

    def judge(self, values: Mapping[str, float | None], *, positive: str | None = None, **background: Any) -> Verdict:
        """Return the model's verdict on an item with these features; the score is the probability of `positive`."""
        probabilities = self.probabilities(values)
        if probabilities is None:
            lacking = next(
                term.feature for term in self.terms
                if (value := values.get(term.feature)) is None or not math.isfinite(value)
            )  # fmt: skip
            reason = f"the feature {lacking} is missing, for example in short runs"
            return Verdict(self.classifier, None, reason=reason, **background)
        verdict = max(self.categories, key=probabilities.__getitem__)
        score = None if positive is None else probabilities.get(positive)
        return Verdict(self.classifier, verdict, score=score, **background)

    def to_text(self) -> str:
        """Return the content of the model file as JSON text with all digits of each number."""
        content = {
            "format": FORMAT, "name": self.name,
            "intercept": dict(zip(self.categories, self.intercepts, strict=True)),
            "penalty": self.penalty, "warmup": self.warmup, "formula": self.formula,
            "terms": [
                {
                    "feature": term.feature, "version": term.version, "quantiles": list(term.quantiles),
                    "coefficient": dict(zip(self.categories, term.coefficients, strict=True)),
                    "title": FEATURES[term.feature].title,
                }
                for term in self.terms
            ],
            "training": dict(self.training),
        }  # fmt: skip
        return json.dumps(content, indent=1, allow_nan=False) + "\n"


def classifiers_of(terms: Iterable[Term | CategoryTerm]) -> tuple[str, ...]:
    """Return the names of the built-in classifiers whose verdicts have the features of a model."""
    used = (FEATURES[term.feature] for term in terms)
    return tuple(dict.fromkeys(feature.source for feature in used if feature.value))


def model_from_text(text: str) -> Model | CategoryModel:
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
    if isinstance(content.get("intercept"), dict):
        _check_names(content, OF_ANY_MODEL, "the model")
        return _category_model(content)
    _check_names(content, (*OF_ANY_MODEL, *OF_TWO_CATEGORIES), "the model")
    if not isinstance(content["monotone"], bool):
        raise ModelError(f"monotone is {content['monotone']!r}, not true or false")
    _check_lists(content)
    terms = tuple(_term(term, n, monotone=content["monotone"]) for n, term in enumerate(content["terms"]))
    _check_features(terms)
    model = Model(
        checked_name(content["name"]), content["monotone"], terms,
        _number(content, "intercept"), _number(content, "threshold", 0, 1), _number(content, "penalty", 0),
        _number(content, "cost_ratio", 0),
        _warmup(content), content["training"],
    )  # fmt: skip
    _check_formula(content, model)
    return model


def _category_model(content: Mapping[str, Any]) -> CategoryModel:
    _check_lists(content)
    categories = content["intercept"]
    if len(categories) < 2:
        raise ModelError("intercept is not an object with at least two categories")
    terms = []
    for n, term in enumerate(content["terms"]):
        where = f"term {n + 1}"
        _check_names(term, ("feature", "version", "quantiles", "coefficient", "title"), where)
        name = _known_feature(term, where)
        _check_names(term["coefficient"], categories, f"{where}, coefficient")
        coefficients = tuple(
            _number(term["coefficient"], category, place=f"{where}, coefficient of ") for category in categories
        )
        terms.append(CategoryTerm(name, FEATURES[name].version, _quantiles(term["quantiles"], where), coefficients))
    _check_features(terms)
    model = CategoryModel(
        checked_name(content["name"]), tuple(categories), tuple(terms),
        tuple(_number(categories, category, place="intercept of ") for category in categories),
        _number(content, "penalty", 0), _warmup(content), content["training"],
    )  # fmt: skip
    _check_formula(content, model)
    return model


def _check_lists(content: Mapping[str, Any]) -> None:
    if not isinstance(content["training"], dict):
        raise ModelError("training is not an object")
    if not isinstance(content["terms"], list) or not content["terms"]:
        raise ModelError("terms is not a list of at least one feature")


def _check_features(terms: Sequence[Term | CategoryTerm]) -> None:
    if len({term.feature for term in terms}) < len(terms):
        raise ModelError("a feature occurs twice")


def _check_formula(content: Mapping[str, Any], model: Model | CategoryModel) -> None:
    if content["formula"] != model.formula:
        raise ModelError("the formula does not match the numbers, so the file was changed by hand")


def _warmup(content: Mapping[str, Any]) -> Warmup:
    return AUTO if content["warmup"] == AUTO else _number(content, "warmup", 0)


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
        "feature": term.feature, "version": term.version, **scale, "coefficient": term.coefficient,
        "title": FEATURES[term.feature].title,
    }  # fmt: skip


def _term(term: Any, n: int, *, monotone: bool) -> Term:
    where = f"term {n + 1}"
    scale = ("mean", "sd") if monotone else ("quantiles",)
    _check_names(term, ("feature", "version", *scale, "coefficient", "title"), where)
    name = _known_feature(term, where)
    version = FEATURES[name].version
    coefficient = _number(term, "coefficient", place=f"{where}, ")
    if not monotone:
        return Term(name, version, 0.0, 1.0, coefficient, _quantiles(term["quantiles"], where))
    mean, sd = (_number(term, part, place=f"{where}, ") for part in ("mean", "sd"))
    if sd <= 0:
        raise ModelError(f"{where}: sd must be > 0, got {sd}")
    if coefficient < 0:
        raise ModelError(f"{where}: a monotone model has the negative coefficient {coefficient}")
    return Term(name, version, mean, sd, coefficient)


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
    numbers = tuple(_number({"quantiles": value}, "quantiles", place=f"{where}, ") for value in found)
    if any(b < a for a, b in pairwise(numbers)):
        raise ModelError(f"{where}: the quantiles are not in ascending order")
    return numbers


def _number(content: Mapping[str, Any], name: str, low: float = -math.inf, high: float = math.inf, *,
            place: str = "") -> float:  # fmt: skip
    value = content[name]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ModelError(f"{place}{name} is {value!r}, not a number")
    if not low <= value <= high:
        raise ModelError(f"{place}{name} is {value}, out of range")
    return float(value)


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
