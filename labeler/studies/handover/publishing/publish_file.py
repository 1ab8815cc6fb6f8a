"""Read and check publish.toml, a file with facts about a data set that only people know.

Each venue, such as Zenodo, requires some of these facts.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from packaging.licenses._spdx import LICENSES

from labeler.errors import InputError
from labeler.toml_file import parse as parse_toml

FILE_NAME = "publish.toml"
BLANK = "TO BE ANSWERED BY A PERSON"
EMAIL = re.compile(r"[\w.+-]+@(?:[\w-]+\.)+[A-Za-z]{2,}(?![\w.])")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]")
_OWN_LICENCE = "LicenseRef-"  # begins the identifier of a licence that is not on the list of SPDX
_SPDX = {str(licence["id"]): bool(licence["deprecated"]) for licence in LICENSES.values()}  # id -> whether deprecated
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_WEB = re.compile(r"https?://[^\s/]+\S*")


class Venue(StrEnum):
    """A venue for which the data set is published."""

    NEURIPS = "neurips"
    ICSE = "icse"
    ZENODO = "zenodo"


class Times(StrEnum):
    """How exactly a data set says when an answer was given, counted from the reviewer's first answer."""

    MINUTES = "minutes"
    DAYS = "days"
    NONE = "none"


@dataclass(frozen=True)
class Author:
    """An author of the data set."""

    given_names: str
    family_names: str
    orcid: str = ""
    affiliation: str = ""

    @property
    def name(self) -> str:
        """The given names and family names of the author."""
        return f"{self.given_names} {self.family_names}"


@dataclass(frozen=True)
class PublishFile:
    """The contents of publish.toml; an empty text means that a question was not answered."""

    title: str = ""
    description: str = ""
    version: str = ""
    date: str = ""
    licence: str = ""
    keywords: tuple[str, ...] = ()
    doi: str = ""
    url: str = ""
    measurements_url: str = ""
    contact: str = ""
    article_doi: str = ""
    purpose: str = ""
    sampling: str = ""
    funding: str = ""
    uses: str = ""
    unsuitable_uses: str = ""
    social_impact: str = ""
    maintenance: str = ""
    hardware: str = ""
    consent: str = ""
    demographics: str = ""
    payment: str = ""
    ethics: str = ""
    # Whether to publish the seed and the secret of the plan. Anyone who knows the reviewers can use them to find out
    # who gave which label.
    plan_seed: bool = False
    times: str = "minutes"  # how exactly to publish when an answer was given: a value of `Times`
    authors: tuple[Author, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read the answers in a file; raises InputError that names the file and the invalid answer."""
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise InputError(f"{file} does not exist. Create it with --init, then fill it in.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{file} could not be read: {error}.") from None
        return cls.of_text(text, str(file))

    @classmethod
    def of_text(cls, text: str, name: str = FILE_NAME) -> Self:
        """Return the answers in the text of a publish.toml file; raises InputError like `read`.

        Error messages call the file `name`.
        """
        try:
            given = parse_toml(text)
        except ValueError as error:
            raise InputError(f"{name} is not valid TOML: {error}.") from None
        flat = {key: value for key, value in given.items() if key not in SECTIONS}
        for section, keys in SECTIONS.items():
            for key, value in _table(given.get(section, {}), section, name).items():
                if key not in keys:
                    raise InputError(
                        f"{name}: [{section}] has an unknown entry {key!r}. Known entries: {', '.join(keys)}."
                    )
                flat[key] = value
        known = [entry.name for entry in fields(cls)]
        unknown = [key for key in flat if key not in known]
        if unknown:
            raise InputError(f"{name}: unknown entry {unknown[0]!r}. Remove it, or correct its name.")
        flat["keywords"] = _texts(flat.get("keywords", []), "keywords", name)
        flat["sources"] = {
            application: _text(licence, f"sources.{application}", name)
            for application, licence in _table(flat.get("sources", {}), "sources", name).items()
        }
        flat["authors"] = _authors(flat.get("authors", []), name)
        if not isinstance(flat.get("plan_seed", False), bool):
            raise InputError(f"{name}: privacy.plan_seed must be true or false.")
        if flat.get("times", "minutes") not in list(Times):
            raise InputError(f"{name}: privacy.times must be one of: {', '.join(Times)}; it is {flat['times']!r}.")
        texts = {
            key: _text(value, key, name)
            for key, value in flat.items()
            if key not in ("keywords", "sources", "authors", "plan_seed")
        }
        answers = cls(**{**flat, **texts})
        answers._check(name)
        return answers

    def _check(self, name: str) -> None:
        for key, pattern, example in _FORMS:
            value = getattr(self, key)
            if value and not pattern.fullmatch(value):
                raise InputError(f"{name}: {key} {value!r} is not valid. Example: {example}.")
        if self.date:
            try:
                date.fromisoformat(self.date)
            except ValueError:
                raise InputError(f"{name}: date {self.date!r} is not a date such as 2026-11-22.") from None
        if self.licence:
            check_licence(self.licence, f"{name}: licence")
        for application, licence in self.sources.items():
            if licence and not licence.startswith(_OWN_LICENCE):
                check_licence(licence, f"{name}: the licence of {application!r}")
        for author in self.authors:
            if author.orcid and not _is_orcid(author.orcid):
                raise InputError(
                    f"{name}: the ORCID {author.orcid!r} of {author.name} is invalid: its check digit is wrong, or "
                    "it is not of the form 0000-0002-1825-0097."
                )
        for where, text in self.texts():
            if EMAIL.search(text):
                raise InputError(
                    f"{name}: {where} has an e-mail address, which is not published. Give a web address instead."
                )

    def texts(self) -> list[tuple[str, str]]:
        """Return all texts, each with the name of its entry."""
        flat = [(key, value) for key, value in vars(self).items() if isinstance(value, str)]
        flat += [("keywords", word) for word in self.keywords]
        flat += [("sources", text) for pair in self.sources.items() for text in pair]
        return flat + [("authors", text) for author in self.authors for text in vars(author).values()]

    def missing(self, venue: Venue | None) -> dict[str, str]:
        """Return the entries that are empty although every data set or this venue requires them, with the reasons."""
        asked = {**REQUIRED, **(OF_VENUE[venue] if venue else {})}
        return {place: why for place, why in asked.items() if not _is_answered(self, place)}

    def declared(self, place: str) -> str:
        """Return the answer of an entry; if the answer is empty, return a marked blank that a person must fill in."""
        return getattr(self, place) or f"[{BLANK}: {place} in {FILE_NAME}]"


SECTIONS: Mapping[str, Sequence[str]] = {
    "data_set": (
        "purpose",
        "sampling",
        "funding",
        "uses",
        "unsuitable_uses",
        "social_impact",
        "maintenance",
        "hardware",
    ),
    "people": ("consent", "demographics", "payment", "ethics"),
    "privacy": ("plan_seed", "times"),
}


def check_licence(licence: str, where: str) -> None:
    """Raise InputError if a licence is not on the list of SPDX; the message names the one that was probably meant."""
    if licence in _SPDX:
        return
    meant = _probably_meant(licence)
    hint = f"did you mean {meant}?" if meant else "see https://spdx.org/licenses, such as CC-BY-4.0 or MIT."
    raise InputError(f"{where}: {licence!r} is not an SPDX identifier: {hint}")


def _probably_meant(text: str) -> str:
    """Return the identifier that was probably meant: the newest version of a family, or the closest spelling."""
    current = {name.lower(): name for name, is_deprecated in _SPDX.items() if not is_deprecated}
    wanted = re.sub(r"[\s_]+", "-", text.strip().lower())
    if wanted in current:
        return current[wanted]
    versions = [name for name in current if re.fullmatch(re.escape(wanted) + r"-[\d.]+(-only)?", name)]
    if versions:
        return current[max(versions)]
    return next((current[name] for name in get_close_matches(wanted, current, 1, 0.6)), "")


_FORMS: Sequence[tuple[str, re.Pattern[str], str]] = (
    ("doi", _DOI, "10.5281/zenodo.1234567"),
    ("article_doi", _DOI, "10.1145/3578245.3584693"),
    ("url", _WEB, "https://example.org/data"),
    ("contact", _WEB, "https://example.org/contact"),
    ("measurements_url", _WEB, "https://example.org/measurements"),
    ("version", _VERSION, "1.0.0"),
)
REQUIRED: Mapping[str, str] = {
    "title": "name of the data set",
    "description": "content of the data set in one or two sentences",
    "version": "version of the data set, such as 1.0.0",
    "date": "date of release",
    "licence": "licence for users, as an SPDX identifier",
    "authors": "at least one author, with given names and family names",
}
OF_VENUE: Mapping[Venue, Mapping[str, str]] = {
    Venue.ZENODO: {"keywords": "search terms on Zenodo"},
    Venue.ICSE: {
        "doi": "the badge Artifacts Available requires an archive with a DOI",
        "affiliations": "the affiliation of every author",
        "contact": "web address for questions",
        "maintenance": "who maintains the data set, and for how long",
        "hardware": "the machines on which the measurements were taken",
    },
    Venue.NEURIPS: {
        "address": "url or doi from which reviewers can load the data set",
        "consent": "whether the reviewers agreed to the publication",
        "demographics": "general description of the reviewers",
        "payment": "whether reviewers were paid, and how much",
        "ethics": "whether an ethics board reviewed the study",
        "purpose": "purpose of the data set",
        "sampling": "selection of the benchmarks",
        "funding": "sources of funding",
        "uses": "intended uses",
        "unsuitable_uses": "unsuitable uses",
        "social_impact": "possible effects on people",
        "maintenance": "who maintains the data set, and for how long",
        "hardware": "the machines on which the measurements were taken",
    },
}
_OF_SEVERAL: Mapping[str, Callable[[PublishFile], bool]] = {
    "affiliations": lambda answers: all(author.affiliation for author in answers.authors),
    "address": lambda answers: bool(answers.url or answers.doi),
}


def _is_answered(answers: PublishFile, place: str) -> bool:
    return _OF_SEVERAL[place](answers) if place in _OF_SEVERAL else bool(getattr(answers, place))


ABOUT: Mapping[str, str] = {
    "title": "",
    "description": "",
    "version": "",
    "date": "of release",
    "licence": 'of the labels, an SPDX identifier, such as "CC-BY-4.0"',
    "keywords": "",
    "doi": "of this data set, once the archive has assigned one",
    "url": "web address of the data set",
    "contact": "a web address for questions",
    "article_doi": "of the article about it",
    "measurements_url": "where the measurements are, if they are left out",
    "given_names": "",
    "family_names": "",
    "orcid": 'such as "0000-0002-1825-0097"',
    "affiliation": "",
    "purpose": "why was the data set created?",
    "sampling": "how were the benchmarks chosen, and from what?",
    "funding": 'who funded it? "none" is a valid answer',
    "uses": "what are its intended uses?",
    "unsuitable_uses": "what are unsuitable uses?",
    "social_impact": "how could its use affect people?",
    "maintenance": "who maintains it, for how long, and where can errors be reported?",
    "hardware": "on which machines were the measurements taken?",
    "consent": "did the reviewers agree to the publication of their labels, and how?",
    "demographics": "general description of the reviewers: profession, experience",
    "payment": "were the reviewers paid, and how much?",
    "ethics": "did an ethics board review the study?",
    "plan_seed": "publish the seed and the secret of the plan? Anyone who knows the reviewers can then identify each",
    "times": 'when each answer was given: "minutes" or "days" since the reviewer\'s first answer, or "none"',
}  # entry -> what it means
GENERAL = tuple(ABOUT)[: list(ABOUT).index("given_names")]  # the entries that belong to no section


def to_toml(answers: PublishFile) -> str:
    """Return answers as the text of publish.toml, with a comment at each entry; of_text reads the text again."""
    authors = answers.authors or (Author("", ""),)
    lines = [
        '# Answers for `labeler publish`. "" means not answered yet; the data set then has a marked blank.',
        "# Do not enter e-mail addresses: everything here is published.",
        "",
        *_entries(answers, GENERAL),
    ]
    for author in authors:
        lines += ["", "[[authors]]  # repeat this block for each author, in the order of citation"]
        lines += _entries(author, [entry.name for entry in fields(Author)])
    for section, names in SECTIONS.items():
        lines += ["", f"[{section}]", *_entries(answers, names)]
    lines += ["", '[sources]  # the licence of each application whose benchmarks were measured, such as "Apache-2.0"']
    lines += [f"{_quoted(application)} = {_quoted(licence)}" for application, licence in answers.sources.items()]
    return "\n".join(lines) + "\n"


def _entries(answers: PublishFile | Author, names: Iterable[str]) -> list[str]:
    """Return a line of TOML for each entry."""
    lines = []
    for name in names:
        value = getattr(answers, name)
        if isinstance(value, bool):
            text = str(value).lower()
        else:
            text = f"[{', '.join(map(_quoted, value))}]" if isinstance(value, tuple) else _quoted(value)
        lines.append(f"{name} = {text}".ljust(27) + f" # {ABOUT[name]}" if ABOUT[name] else f"{name} = {text}")
    return lines


def _quoted(text: str) -> str:
    """Return a text as a TOML string."""
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    safe = "".join(escapes.get(letter, letter if letter.isprintable() else f"\\U{ord(letter):08x}") for letter in text)
    return f'"{safe}"'


def _table(value: Any, place: str, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{name}: {place} must be a table: [{place}], then one line per entry.")
    return value


def _text(value: Any, place: str, name: str) -> str:
    if isinstance(value, date):  # TOML has dates
        return value.isoformat()
    if not isinstance(value, str):
        raise InputError(f'{name}: {place} must be text in quotes, such as "…"; it is {value!r}.')
    return value.strip()


def _texts(value: Any, place: str, name: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InputError(f'{name}: {place} must be a list of texts, such as ["…", "…"].')
    return tuple(text for part in value if (text := _text(part, place, name)))


def _authors(value: Any, name: str) -> tuple[Author, ...]:
    if not isinstance(value, list):
        raise InputError(f"{name}: authors must be blocks that begin with [[authors]].")
    known = [entry.name for entry in fields(Author)]
    authors = []
    for number, block in enumerate(value, start=1):
        texts = {
            key: _text(text, f"authors[{number}].{key}", name)
            for key, text in _table(block, f"authors[{number}]", name).items()
        }
        unknown = [key for key in texts if key not in known]
        if unknown:
            raise InputError(
                f"{name}: author {number} has an unknown entry {unknown[0]!r}. Known entries: {', '.join(known)}."
            )
        if not any(texts.values()):
            continue  # a block of the template that nobody filled in
        if not (texts.get("given_names") and texts.get("family_names")):
            raise InputError(f"{name}: author {number} needs given_names and family_names.")
        authors.append(Author(**texts))
    return tuple(authors)


def _is_orcid(text: str) -> bool:
    """Return whether an ORCID has a correct check digit (ISO 7064 11,2)."""
    if not _ORCID.fullmatch(text):
        return False
    total = 0
    for digit in text.replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    rest = (12 - total % 11) % 11
    return text[-1] == ("X" if rest == 10 else str(rest))
