"""What a report is computed with: where its numbers come from, how it resamples, and all measures and classifiers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

import numpy as np

from analysis.categories import CATEGORIES
from analysis.document import json_values
from analysis.runs.classifiers import CHANGE_RULES, CLASSIFIERS, classifier_named
from analysis.runs.dissimilarity import MEASURES

NO_SIGNAL = "the labels agree too little to show how accurate each reviewer is"
# one character for each category of a question, in patterns of labels
SIGNS = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
MOST_REVIEWERS = 200  # with more, reviewers are not compared, because the number of pairs grows with the square
TOO_MANY = f"there are more than {MOST_REVIEWERS} reviewers"
MIN_MISFIT = 19  # the smallest number of draws with which p = 0.05 is possible


@dataclass(frozen=True)
class Resampling:
    """The numbers of draws and the random seed. The same settings and data give the same report.

    Raises ValueError if a number is negative, or if `n_misfit` is too small.
    """

    seed: int = 1
    n_bootstrap: int = 2000  # bootstrap draws of items; 0 for none
    n_sweeps: int = 1500  # sweeps of the Gibbs sampler of the latent class model; if 0, the model is not fitted
    n_misfit: int = 199  # data sets drawn for the test of the model of true categories, at least 19 if n_sweeps > 0

    def __post_init__(self) -> None:
        """Check the numbers of draws; raise ValueError if a number is invalid."""
        for name, value in asdict(self).items():
            if value < 0:
                raise ValueError(f"{name} must not be negative, got {value}")
        if self.n_sweeps and self.n_misfit < MIN_MISFIT:
            raise ValueError(f"n_misfit must be at least {MIN_MISFIT}, got {self.n_misfit}")

    @classmethod
    def none(cls, seed: int = 1) -> Self:
        """Return settings that turn off all resampling."""
        return cls(seed, 0, 0, 0)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Read the settings from a report; raise ValueError if they are invalid."""
        try:
            return cls(**{name: int(value) for name, value in settings.items()})
        except (AttributeError, OverflowError, TypeError) as error:
            raise ValueError(f"resampling: {error}") from None

    def rng(self, part: str) -> np.random.Generator:
        """Return the random generator for one part of the report.

        Each part has its own generator, independent of all others.
        """
        return np.random.default_rng([self.seed, *part.encode()])


@dataclass(frozen=True)
class CategorySet:
    """The categories that labels can have; without a positive category, rates are per category."""

    names: tuple[str, ...] = CATEGORIES  # in their order, if they form a scale
    positive: str | None = CATEGORIES[-1]
    ordered: bool = False
    meanings: Mapping[str, str] = field(default_factory=dict)  # what reviewers were told

    @property
    def is_built_in(self) -> bool:
        """Whether the categories are similar and dissimilar."""
        return self.names == CATEGORIES

    @property
    def is_binary(self) -> bool:
        """Whether there are two categories of which one is positive."""
        return len(self.names) == 2 and self.positive is not None

    @property
    def negative(self) -> str:
        """The other of two categories, or all other categories together."""
        others = [name for name in self.names if name != self.positive]
        return others[0] if len(others) == 1 else f"not {self.positive}"

    @property
    def letters(self) -> dict[str, str]:
        """One character for each category, with which patterns of labels are written."""
        return dict(zip(self.names, "sd" if self.is_built_in else SIGNS, strict=False))


SIMILARITY = CategorySet()


@dataclass(frozen=True)
class ReportStyle:
    """What all sections of a report share: the categories, and the level of intervals and tests."""

    category_set: CategorySet
    level: float

    @property
    def level_text(self) -> str:
        """Return the level of all intervals as text, such as "95 % CI"."""
        return f"{100 * self.level:g} % CI"

    @property
    def alpha(self) -> float:
        """Return the significance level of all tests."""
        return round(1 - self.level, 6)


@dataclass(frozen=True)
class Provenance:
    """Where the numbers of a report come from. The report shows these values unchanged."""

    # Name, question, state, number of items, number of reviewers, and whether the report is interim.
    study: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)  # all configurable parameters with their values
    plan: Mapping[str, Any] | None = None
    hashes: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()  # remarks that a reader needs, such as arbitrary choices in a data set
    course: Mapping[str, Any] | None = None  # how the study proceeded: the fields of `Course`
    question: Mapping[str, Any] | None = None  # the definition of a question with own categories


def registry_of_rules(names: Iterable[str]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return "classifiers": the rules for a change with these names -> properties, without functions."""
    return {"classifiers": {name: _row(CHANGE_RULES[name]) for name in names}}


def registry() -> dict[str, dict[str, dict[str, Any]]]:
    """Return "classifiers" and "measures": name -> properties in the registry, without functions."""
    return {
        "classifiers": {name: _row(classifier) for name, classifier in CLASSIFIERS.items()},
        "measures": {name: _row(measure) for name, measure in MEASURES.items()},
    }


def _row(entry: Any) -> dict[str, Any]:
    values = {of_field.name: getattr(entry, of_field.name) for of_field in fields(entry) if of_field.name != "name"}
    return {name: json_values(value) for name, value in values.items() if not callable(value)}


def title_of(classifier: str) -> str:
    """Return the title of a classifier."""
    known = CHANGE_RULES.get(classifier) or classifier_named(classifier)
    return known.title if known else classifier


def row_title(classifier: str) -> str:
    """Return the title of a classifier with a capital letter, for table rows and the start of a sentence."""
    title = title_of(classifier)
    return title if title == classifier else capitalised(title)


def capitalised(name: str | None) -> str:
    """Return a name with a capital letter."""
    return f"{name[:1].upper()}{name[1:]}" if name else ""


def entries(result: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name, to build a dataclass with more fields."""
    return {of_field.name: getattr(result, of_field.name) for of_field in fields(result)}
