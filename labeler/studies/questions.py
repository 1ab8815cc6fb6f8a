"""The question of a study, as a value: what reviewers are asked, what an item shows, and which answers are possible."""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from labeler import marks, toml_file
from labeler.errors import InputError

NOT_SURE, WITHDRAWN = "not sure", "withdrawn"  # the answers that are not labels
CATEGORY, POINTS = "category", "points"  # how a question is answered
MARKED = "marked"  # the class of all labels with marks
START, END = "start", "end"  # when the questionnaire is shown
ASK = "ask"  # the name of its parts in a question file
CHOICE, SCALE, TEXT = ASK_KINDS = ("choice", "scale", "text")


def is_label(answer: str | None) -> bool:
    """Return whether an answer is a label, which neither a missing answer nor "not sure" nor an undone answer is."""
    return answer is not None and answer not in (NOT_SURE, WITHDRAWN)


@dataclass(frozen=True)
class Category:
    """A category of a question; tables and files hold its name as plain text."""

    name: str
    key: str = ""
    meaning: str = ""
    colour: str = ""  # such as "#8a4b00"
    short: str = ""  # the meaning in half a sentence, for tables; "" if it is the whole meaning

    def definition(self) -> dict[str, str]:
        """Return the category as values for JSON, with the names that a question file uses."""
        values = {"name": self.name, "key": self.key, "meaning": self.meaning}
        return values | {name: getattr(self, name) for name in ("colour", "short") if getattr(self, name)}

    @property
    def label(self) -> str:
        """The name as it stands on a button."""
        return f"{self.name[:1].upper()}{self.name[1:]}"


@dataclass(frozen=True)
class Extra:
    """A second answer about an item, which reviewers may give before or after the main answer, or leave out."""

    text: str  # what is asked, such as "How difficult was it?"
    answers: tuple[str, ...]  # such as the numbers from 1 to 5, or a few words


@dataclass(frozen=True)
class Ask:
    """A question about the reviewers themselves, which each of them is asked once."""

    text: str  # such as "How many years have you measured performance?"
    kind: str  # one of `ASK_KINDS`
    answers: tuple[str, ...] = ()  # of a scale, from its lower to its upper end; none if the answer is a text

    def definition(self) -> dict[str, Any]:
        """Return the question as values for JSON, with the names that a question file uses."""
        return {"text": self.text, "kind": self.kind, **({"answers": list(self.answers)} if self.answers else {})}


@dataclass(frozen=True)
class Question:
    """What a study asks about each item."""

    text: str  # the question itself; `{runs}` stands for the number of runs of an item
    categories: tuple[Category, ...]  # if the question is ordered, from one end of the scale to the other
    shows: str = "runs"  # what an item shows (see `labeler.studies.screen.kinds`)
    answer: str = CATEGORY  # how the question is answered: with a category, or with marked points
    ordered: bool = False  # whether the categories form a scale
    positive: str | None = None  # the category to which sensitivity and specificity refer
    not_sure: bool = True  # whether reviewers may answer "not sure"
    # If the question is answered with points: the category of a series without a mark (the other categories are the
    # kinds of marks), how many marks are possible (see `labeler.marks`), and whether a mark can be a range.
    no_mark: str | None = None
    marks: str | None = None
    ranges: bool = False
    # Whether reviewers cannot know which side of an item is which. The answers of those who see the sides in the
    # other order are mapped back, so the categories must form a scale.
    blind_side: bool = False
    facts: tuple[str, ...] = ()  # what stands beside the picture; each of `FACTS` limits how blind reviewers are
    extra: Extra | None = None  # a second answer
    ask: tuple[Ask, ...] = ()  # the questionnaire, and whether it comes before or after labelling
    ask_at: str = END

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the categories."""
        return tuple(category.name for category in self.categories)

    @property
    def is_marked(self) -> bool:
        """Whether reviewers mark points of a series."""
        return self.answer == POINTS

    @property
    def kinds(self) -> tuple[Category, ...]:
        """The kinds of marks; a question without kinds has marks that are only places."""
        return tuple(category for category in self.categories if self.is_marked and category.name != self.no_mark)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the categories that are labels by themselves, without marks."""
        return tuple(name for name in self.names if not self.is_marked or name == self.no_mark)

    @property
    def has_default_categories(self) -> bool:
        """Whether the categories are those of the default question, in whatever words it is asked."""
        return self.names == SIMILAR.names

    @property
    def choices(self) -> tuple[str, ...]:
        """The labels as messages list them; an example stands for all marks."""
        return (*self.labels, *(["marks such as [12]"] if self.is_marked else []))

    @property
    def answers(self) -> tuple[str, ...]:
        """What reviewers can answer without marks, which includes taking an answer back."""
        return (*self.labels, *([NOT_SURE] if self.not_sure else []), WITHDRAWN)

    @property
    def classes(self) -> tuple[str, ...]:
        """The categories into which all labels fall; for marks, whether there are any."""
        return (str(self.no_mark), MARKED) if self.is_marked else self.names

    def labels_in(self, answers: Iterable[str]) -> tuple[str, ...]:
        """Return all labels that can be in a table of answers: the categories, or the labels with marks in it."""
        if not self.is_marked:
            return self.names
        return tuple(dict.fromkeys([*self.labels, *filter(marks.are_marks, answers)]))

    def class_of(self, answer: str) -> str:
        """Return the class of a label; an answer that is no label is its own class."""
        return MARKED if self.is_marked and marks.are_marks(answer) else answer

    def checked_label(self, answer: object, n: int | None = None) -> str:
        """Return a label in the form in which it is stored; raise ValueError with the reason if it is none.

        Marks must be points of a series of length `n`; None if the length is not known.
        """
        return self._checked(answer, self.labels, n)

    def checked_answer(self, answer: object, n: int | None = None) -> str:
        """Return an answer as `checked_label` does; "not sure" and a withdrawn answer are answers too."""
        return self._checked(answer, self.answers, n)

    def _checked(self, answer: object, possible: Sequence[str], n: int | None) -> str:
        if isinstance(answer, str) and self.is_marked and marks.are_marks(answer):
            found = marks.read(answer)
            kinds = [kind.name for kind in self.kinds]
            marks.check(found, how_many=str(self.marks), ranges=self.ranges, kinds=kinds, n=n)
            return marks.write(found)
        if not isinstance(answer, str) or answer not in possible:
            more = ["marks such as [12]"] if self.is_marked else []
            said = answer if len(repr(answer)) <= MAX_SHOWN else f"{answer!s:.{MAX_SHOWN}}…"
            raise ValueError(f"{said!r} is not one of: {', '.join([*possible, *more])}")
        return answer

    def is_label(self, answer: object) -> bool:
        """Return whether an answer is a possible label, in a series of any length."""
        return self._fits(self.checked_label, answer)

    def is_answer(self, answer: object) -> bool:
        """Return whether reviewers can give this answer, in a series of any length."""
        return self._fits(self.checked_answer, answer)

    @staticmethod
    def _fits(check: Callable[[object], str], answer: object) -> bool:
        try:
            return bool(check(answer))
        except ValueError:
            return False

    def mirrored(self, answer: str) -> str:
        """Return the answer that means the same if the two sides of an item change places."""
        return self.names[-1 - self.names.index(answer)] if answer in self.names else answer

    def category(self, name: str) -> Category:
        """Return the category with this name; raise ValueError that lists the categories if there is none."""
        for category in self.categories:
            if category.name == name:
                return category
        raise ValueError(f"{name!r} is not one of: {', '.join(self.names)}")

    def definition(self) -> dict[str, Any]:
        """Return everything except the text as values for JSON, with the names that a question file uses."""
        return {
            "shows": self.shows,
            "answer": self.answer,
            **({} if self.is_marked else {"ordered": self.ordered}),
            **({"positive": self.positive} if self.positive else {}),
            "not_sure": self.not_sure,
            **({"no_mark": self.no_mark, "marks": self.marks, "ranges": self.ranges} if self.is_marked else {}),
            # only if they are used, as in a question file
            **({"blind_side": True} if self.blind_side else {}),
            **({"facts": list(self.facts)} if self.facts else {}),
            **({"extra": {"text": self.extra.text, "answers": list(self.extra.answers)}} if self.extra else {}),
            **({"ask_at": self.ask_at, "ask": [ask.definition() for ask in self.ask]} if self.ask else {}),
            "category": [category.definition() for category in self.categories],
        }

    @classmethod
    def of(cls, text: str, definition: Mapping[str, Any]) -> Self:
        """Return the question with this text and this result of `definition`."""
        values = {name: value for name, value in definition.items() if name != "category"}
        values["facts"] = tuple(values.get("facts", ()))
        if extra := values.get("extra"):
            values["extra"] = Extra(extra["text"], tuple(extra["answers"]))
        values["ask"] = tuple(Ask(a["text"], a["kind"], tuple(a.get("answers", ()))) for a in values.get("ask", ()))
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


def hash_in_plan(question: Question) -> str:
    """Return the hash of a question that becomes part of the hash of a plan; "" for *similar* in any words."""
    return "" if question.definition() == SIMILAR.definition() else question.hash


RESERVED = {
    "u": "undo", "n": "not sure", "p": "previous", "f": "flag", "m": "comment", "o": "overlay",
    "z": "axis", "l": "logarithm",
}  # fmt: skip
# for categories without a colour in the question; neighbours differ in lightness, also for people who see colours
# differently
PALETTE = (
    "#8a4b00", "#56b4e9", "#005b41", "#e69f00", "#4b0f63", "#cc79a7", "#0b3d91", "#b8c400", "#5a5a5a",
)  # fmt: skip
MAX_SHOWN = 80  # characters of an unknown answer in a message
LIMITS = {"text": 300, "name": 40, "meaning": 400}  # characters
RESERVED_IN_SERIES = {"r": "range"}  # if the question is answered with points
N_CATEGORIES = {CATEGORY: (2, 9), POINTS: (1, 9)}
NO_CHANGE = {"name": "no change", "key": "c", "meaning": "The level is the same from the first point to the last."}
_KEYS = {
    "text", "shows", "answer", "ordered", "positive", "not_sure", "category", "no_mark", "marks", "ranges",
    "blind_side", "facts", "extra", "ask", "ask_at",
}  # fmt: skip
# the keys of one way to answer
_OF_ANSWER = {CATEGORY: {"ordered", "positive", "blind_side"}, POINTS: {"no_mark", "marks", "ranges"}}
N_EXTRA = (2, 6)
N_ASK, N_ASK_ANSWERS = 10, (2, 9)
FACTS = ("application", "benchmark", "unit", "version")
_CATEGORY_KEYS = {"name", "key", "meaning", "colour", "short"}
_NAME = re.compile(r"[^\W_](?:[^\W_]|[ /+%.()-])*")  # nothing that pages or tables could take for markup
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def read_question(content: str, file: str, kinds: Collection[str] | None = None) -> Question:
    """Return the question that a TOML text describes; raise InputError that names file, line, key and value.

    `kinds` are the names of what items can show (see `labeler.studies.screen.kinds`); None allows any name.
    """
    return _QuestionFile(content, file).question(kinds)


def to_toml(question: Question) -> str:
    """Return a question as the text of a question file."""
    lines = [f"text = {_quoted(question.text)}"]
    for name, value in question.definition().items():
        if name not in ("category", "extra", "ask"):
            lines.append(f"{name} = {_quoted(value)}")
    if question.extra:
        lines += ["", "[extra]", *(f"{name} = {_quoted(value)}" for name, value in asdict(question.extra).items())]
    for ask in question.ask:
        lines += ["", "[[ask]]", *(f"{name} = {_quoted(value)}" for name, value in ask.definition().items())]
    for category in question.categories:
        lines += ["", "[[category]]", *(f"{name} = {_quoted(value)}" for name, value in category.definition().items())]
    return "\n".join(lines) + "\n"


def _quoted(value: str | bool | Sequence[str]) -> str:
    return json.dumps(value, ensure_ascii=False)


class _QuestionFile:
    """The text of a question file, with the lines of its entries."""

    def __init__(self, content: str, file: str) -> None:
        self.file, self.lines = file, content.splitlines()
        try:
            self.entries = toml_file.parse(content)
        except ValueError as error:
            raise InputError(f"{file} is not valid TOML: {error}.") from None

    def question(self, kinds: Collection[str] | None) -> Question:
        """Check all entries, and return the question."""
        self._known(self.entries, _KEYS)
        text = self._text("text", self.entries)
        shows = self._one_of("shows", list(kinds) if kinds else [str(self.entries.get("shows", "runs"))])
        answer = self._one_of("answer", (CATEGORY, POINTS))
        for other, keys in _OF_ANSWER.items():
            for name in keys & self.entries.keys() if other != answer else ():
                raise self._error(name, f'only a question with answer = "{other}" has {name}')
        rows = self.entries.get("category", [NO_CHANGE] if answer == POINTS else None)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self._error("category", "a question needs categories: write [[category]] before each of them")
        least, most = N_CATEGORIES[answer]
        if not least <= len(rows) <= most:
            raise self._error("category", f"a question has {least} to {most} categories, not {len(rows)}", at=len(rows))
        categories: list[Category] = []
        for number, row in enumerate(rows, start=1):
            categories.append(self._category(row, number, categories, answer))
        positive = self.entries.get("positive")
        names = [category.name for category in categories]
        if positive is not None and positive not in names:
            raise self._error("positive", f"{positive!r} is not one of: {', '.join(names)}")
        ordered, not_sure = self._flag("ordered", default=False), self._flag("not_sure", default=True)
        blind_side = self._flag("blind_side", default=False)
        if blind_side and not ordered:
            raise self._error("blind_side", "the answers can be mapped back only if the categories are ordered")
        question = Question(
            text, tuple(categories), shows, answer, ordered, positive, not_sure, blind_side=blind_side,
            facts=self._facts(), extra=self._extra(), ask=self._ask(), ask_at=self._one_of("ask_at", (END, START)),
        )  # fmt: skip
        if answer == CATEGORY:
            return question
        no_mark = self._one_of("no_mark", question.names)
        how_many, ranges = self._one_of("marks", marks.HOW_MANY), self._flag("ranges", default=False)
        return replace(question, no_mark=no_mark, marks=how_many, ranges=ranges)

    def _facts(self) -> tuple[str, ...]:
        facts = self.entries.get("facts", [])
        unknown = facts if not isinstance(facts, list) else [fact for fact in facts if fact not in FACTS]
        if unknown:
            raise self._error("facts", f"facts is a list of some of these: {', '.join(FACTS)}; not {facts!r}")
        return tuple(fact for fact in FACTS if fact in facts)

    def _extra(self) -> Extra | None:
        row = self.entries.get("extra")
        if row is None:
            return None
        if not isinstance(row, dict):
            raise self._error("extra", 'write [extra], then text = "How difficult was it?" and answers = ["1", "2"]')
        self._known(row, {"text", "answers"})
        answers, (least, most) = row.get("answers"), N_EXTRA
        if not isinstance(answers, list) or not least <= len(answers) <= most:
            raise self._error("answers", f"answers must be a list of {least} to {most} numbers or words")
        texts = [str(answer) for answer in answers]
        wrong = [text for text in texts if not _NAME.fullmatch(text) or len(text) > LIMITS["name"]]
        if wrong or len(set(texts)) < len(texts):
            raise self._error("answers", f"each answer is a different number or word, not {wrong or texts}")
        return Extra(self._text("text", row), tuple(texts))

    def _ask(self) -> tuple[Ask, ...]:
        rows = self.entries.get("ask", [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows) or len(rows) > N_ASK:
            raise self._error("ask", f"write [[ask]] before each question of the questionnaire, at most {N_ASK} times")
        return tuple(self._one_ask(row, number) for number, row in enumerate(rows, start=1))

    def _one_ask(self, row: Mapping[str, Any], number: int) -> Ask:
        self._known(row, {"text", "kind", "answers"}, number, ASK)
        text, kind, answers = self._text("text", row, number, ASK), row.get("kind"), row.get("answers", [])
        if kind not in ASK_KINDS:
            raise self._error("kind", f"{kind!r} is not one of: {', '.join(ASK_KINDS)}", number, table=ASK)
        least, most = N_ASK_ANSWERS
        if kind == TEXT and answers:
            raise self._error("answers", "a question that is answered with a text has no answers", number, table=ASK)
        if kind != TEXT and not (isinstance(answers, list) and least <= len(answers) <= most):
            raise self._error(
                "answers", f"answers must be a list of {least} to {most} numbers or texts", number, table=ASK
            )
        texts = tuple(str(answer).strip() for answer in answers)
        wrong = [text for text in texts if not text or not text.isprintable() or len(text) > LIMITS["name"]]
        if wrong or len(set(texts)) < len(texts):
            why = f"each answer is a different text of 1 to {LIMITS['name']} characters, not {wrong or list(texts)}"
            raise self._error("answers", why, number, table=ASK)
        return Ask(text, str(kind), texts)

    def _category(self, row: Mapping[str, Any], number: int, earlier: Sequence[Category], answer: str) -> Category:
        self._known(row, _CATEGORY_KEYS, number)
        name, meaning = self._text("name", row, number), self._text("meaning", row, number)
        if not _NAME.fullmatch(name):
            raise self._error(
                "name", f"a name has only letters, digits, spaces and - / + % . ( ), not {name!r}", number
            )
        if name.casefold() in (NOT_SURE, WITHDRAWN, "none", "total", *([MARKED] if answer == POINTS else [])):
            raise self._error("name", f"{name!r} has another meaning. Choose another name", number)
        if name.casefold() in {category.name.casefold() for category in earlier}:
            raise self._error("name", f"two categories are called {name!r}", number)
        key = row.get("key")
        if not isinstance(key, str) or not re.fullmatch("[a-z1-9]", key):
            raise self._error("key", f"a key is one letter from a to z or one digit from 1 to 9, not {key!r}", number)
        reserved = RESERVED | (RESERVED_IN_SERIES if answer == POINTS else {})
        if key in reserved:
            raise self._error(
                "key", f"the key {key.upper()} is reserved for {reserved[key]}. Choose another key", number
            )
        same = next((category for category in earlier if category.key == key), None)
        if same is not None:
            raise self._error("key", f"the categories {same.name} and {name} have the same key {key.upper()}", number)
        colour, short = row.get("colour", ""), row.get("short", "")
        if colour and not (isinstance(colour, str) and _COLOUR.fullmatch(colour)):
            raise self._error("colour", f'a colour is written as "#8a4b00", not {colour!r}', number)
        return Category(
            name, key, meaning, str(colour or PALETTE[number - 1]), self._text("short", row, number) if short else ""
        )

    def _known(self, row: Mapping[str, Any], keys: set[str], number: int = 0, table: str = CATEGORY) -> None:
        for name in row:
            if name not in keys:
                raise self._error(name, f"unknown key. Known keys: {', '.join(sorted(keys))}", number, table=table)

    def _text(self, name: str, row: Mapping[str, Any], number: int = 0, table: str = CATEGORY) -> str:
        value = row.get(name)
        most = LIMITS.get(name, LIMITS["meaning"])
        if not isinstance(value, str) or not value.strip():
            raise self._error(name, f"{name} needs a text in quotes", number, table=table)
        if len(value) > most or not value.isprintable():
            raise self._error(name, f"{name} must be one line of at most {most} characters", number, table=table)
        return value.strip()

    def _one_of(self, name: str, names: Sequence[str]) -> str:
        value = self.entries.get(name, names[0])
        if value not in names:
            raise self._error(name, f"{value!r} is not one of: {', '.join(names)}")
        return str(value)

    def _flag(self, name: str, *, default: bool) -> bool:
        value = self.entries.get(name, default)
        if not isinstance(value, bool):
            raise self._error(name, f"{name} must be true or false, not {value!r}")
        return value

    def _error(self, name: str, why: str, number: int = 0, *, at: int = 0, table: str = CATEGORY) -> InputError:
        """Return the error of an entry, with the line where it stands, or where its part of the file begins."""
        where = f"{table} {number}, {name}" if number else name
        return InputError(f"{self.file}, line {self._line(name, number or at, table)}: {where}: {why}.")

    def _line(self, name: str, number: int, table: str) -> int:
        head = re.compile(rf"\s*\[\[\s*{table}\s*\]\]")
        heads = [place for place, line in enumerate(self.lines) if head.match(line)]
        begin = heads[number - 1] if 0 < number <= len(heads) else 0
        end = heads[number] if number < len(heads) else len(self.lines)
        entry = re.compile(rf"""\s*["']?{re.escape(name)}["']?\s*=""")
        return 1 + next((place for place in range(begin, end) if entry.match(self.lines[place])), begin)
