"""The question of a study, as a value: what reviewers are asked, what an item shows, and which answers are possible."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

NOT_SURE, WITHDRAWN = "not sure", "withdrawn"  # the answers that are not labels


def is_label(answer: str | None) -> bool:
    """Return whether an answer is a label, which neither a missing answer nor "not sure" nor an undone answer is."""
    return answer is not None and answer not in (NOT_SURE, WITHDRAWN)


def either(names: Sequence[str], word: str = "or") -> str:
    """Return names as an enumeration in a sentence.

    Examples
    --------
    >>> either(["regression", "noise", "improvement"])
    'regression, noise or improvement'
    """
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


class _BuiltInCategories(type):
    """Lets plug-ins of the first version go through `Category`, which was an enumeration of two categories."""

    def __iter__(cls) -> Iterator["Category"]:
        return iter(SIMILAR.categories)


class Category(str, metaclass=_BuiltInCategories):
    """A category of a question: its name, with the key, the meaning and the colour that belong to the name.

    A category equals its name, so tables and files hold plain text. `colour` is a text such as "#8a4b00", or "".
    `short` is the meaning in half a sentence, for tables; "" if it is the whole meaning.
    """

    __slots__ = ("colour", "key", "meaning", "short")
    SIMILAR: ClassVar["Category"]  # for plug-ins of the first version
    DISSIMILAR: ClassVar["Category"]

    key: str
    meaning: str
    colour: str
    short: str

    def __new__(cls, name: str, key: str = "", meaning: str = "", colour: str = "", short: str = "") -> Self:
        """Return a category; only its name decides which category it is."""
        category = super().__new__(cls, name)
        category.key, category.meaning, category.colour, category.short = key, meaning, colour, short
        return category

    def __getnewargs__(self) -> tuple[str, str, str, str, str]:  # type: ignore[override]
        """Return what a copy in another process needs."""
        return str(self), self.key, self.meaning, self.colour, self.short

    def definition(self) -> dict[str, str]:
        """Return the category as values for JSON, with the names that a question file uses."""
        values = {"name": str(self), "key": self.key, "meaning": self.meaning}
        return values | {name: getattr(self, name) for name in ("colour", "short") if getattr(self, name)}

    @property
    def value(self) -> str:
        """The name as plain text."""
        return str(self)

    @property
    def label(self) -> str:
        """The name as it stands on a button."""
        return f"{self[:1].upper()}{self[1:]}"


@dataclass(frozen=True)
class Question:
    """What a study asks about each item."""

    text: str  # the question itself; `{runs}` stands for the number of runs of an item
    categories: tuple[Category, ...]  # if the question is ordered, from one end of the scale to the other
    shows: str = "runs"  # what an item shows (see `labeler.screen.kinds`)
    answer: str = "category"  # how the question is answered
    ordered: bool = False  # whether the categories form a scale
    positive: str | None = None  # the category to which sensitivity and specificity refer
    not_sure: bool = True  # whether reviewers may answer "not sure"

    def is_category(self, answer: object) -> bool:
        """Return whether an answer is one of the categories."""
        return isinstance(answer, str) and answer in self.categories

    @property
    def answers(self) -> tuple[str, ...]:
        """What reviewers can answer, which includes taking an answer back."""
        return (*self.categories, *([NOT_SURE] if self.not_sure else []), WITHDRAWN)

    def is_answer(self, answer: object) -> bool:
        """Return whether reviewers can give this answer."""
        return isinstance(answer, str) and answer in self.answers

    def category(self, name: str) -> Category:
        """Return the category with this name; raise ValueError that lists the categories if there is none."""
        for category in self.categories:
            if category == name:
                return category
        raise ValueError(f"{name!r} is not one of: {', '.join(self.categories)}")

    def definition(self) -> dict[str, Any]:
        """Return everything except the text as values for JSON, with the names that a question file uses."""
        return {
            "shows": self.shows,
            "answer": self.answer,
            "ordered": self.ordered,
            **({"positive": str(self.positive)} if self.positive else {}),
            "not_sure": self.not_sure,
            "category": [category.definition() for category in self.categories],
        }

    @classmethod
    def of(cls, text: str, definition: Mapping[str, Any]) -> Self:
        """Return the question with this text and this result of `definition`."""
        values = {name: value for name, value in definition.items() if name != "category"}
        return cls(text, tuple(Category(**category) for category in definition["category"]), **values)

    @property
    def hash(self) -> str:
        """The SHA-256 hash of the text and the definition."""
        content = json.dumps({"text": self.text, **self.definition()}, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(content.encode()).hexdigest()


SIMILAR = Question(
    text="Are these runs similar?",
    categories=(
        Category(
            "similar",
            "s",
            "Each run alone would lead to the same conclusion about the benchmark, because all runs have the same "
            "level, the same spread and the same pattern over time. Small random differences do not matter.",
            short="the runs are similar",
        ),
        Category(
            "dissimilar",
            "d",
            "At least one run would lead to a different conclusion, because it has a different level, a different "
            "spread, or a step or drift that the other runs do not have.",
            short="at least one run differs from the others",
        ),
    ),
    positive="dissimilar",
)
Category.SIMILAR, Category.DISSIMILAR = SIMILAR.categories

FORMER_TEXT = "Are these ten runs similar?"  # pages replace "ten" by the number of runs of an item

QUESTIONS: Mapping[str, Question] = {"similar": SIMILAR}  # the built-in questions; the first is the default
