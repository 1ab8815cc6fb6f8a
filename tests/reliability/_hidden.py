"""The data that a reviewer must not see, and how to find them in everything that a server sends.

A *reading* is a text that can be decoded from the transmitted data: the bytes themselves, the texts of JSON, and the
content of base64, compression and quoting. So a name is found at any depth.
"""

import base64
import binascii
import csv
import getpass
import html
import io
import json
import platform
import re
import socket
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from google.protobuf.message import Message
from streamlit.runtime.metrics_util import Installation
from streamlit.util import calc_hash

from labeler.config import bundled
from labeler.files.formats import Source, read
from labeler.studies.model import Kind
from labeler.studies.screen import binning
from labeler.studies.store import Database, decisions, events, items, labels, people, replies, runs, studies, verdicts
from labeler.studies.ui import app

KINDS = frozenset(kind.value for kind in Kind)
JUDGEMENTS = frozenset(("verdict", "verdicts", "classifier", "heuristic", "consensus", "intervention", "partner"))
IDS = frozenset(("item_id", "assignment_id", "person_id", "split item"))
EVERYWHERE = frozenset(("root", "localhost", "user", "app", "admin", "server"))  # words that occur on every page
ORDINARY = frozenset(("same", "spread"))  # classifiers whose names are ordinary words
ALLOWED = ("the calibration round", "once a calibration round is over")  # these rounds are over by then
MIN_PART, MIN_DIGITS, DEEPEST = 5, 6, 4
MIN_INSIDE = 8  # shorter names are searched as whole words only: packed numbers contain them by chance

_WORD = re.compile(r"[^\W_]+")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}")
_LONG_BASE64 = re.compile(r"[A-Za-z0-9+/]{200,}={0,2}")  # short words occur in it by chance; its content is searched
_QUOTED, _ENTITY = re.compile("%[0-9A-Fa-f]{2}"), re.compile(r"&#?\w+;")
_MAGIC = (b"\x1f\x8b", b"\x78\x01", b"\x78\x9c", b"\x78\xda")  # gzip, and the three levels of zlib


@dataclass(frozen=True)
class Hidden:
    """Forbidden data in lower case: `anywhere` also inside longer words, `words` only as whole words."""

    anywhere: frozenset[str]
    words: frozenset[str]

    @classmethod
    def of(cls, names: Iterable[str], words: Iterable[str] = ()) -> "Hidden":
        """Names, searched anywhere unless they are short, and words, searched as whole words."""
        inside, whole = {name.lower() for name in names if name}, {word.lower() for word in words}
        single = {
            text for text in inside | whole if _WORD.fullmatch(text) and (text in whole or len(text) < MIN_INSIDE)
        }
        return cls(frozenset((inside | whole) - single), frozenset(single))

    def __or__(self, other: "Hidden") -> "Hidden":
        return Hidden(self.anywhere | other.anywhere, self.words | other.words)

    def __len__(self) -> int:
        return len(self.anywhere) + len(self.words)

    def without(self, seen: AbstractSet[str]) -> "Hidden":
        """Without the words that are known to occur for another reason."""
        return Hidden(self.anywhere - seen, self.words - seen)

    def found_in(self, sent: Iterable[str | bytes]) -> set[str]:
        """Return every forbidden text in any reading of the data."""
        text = "\n".join({reading for piece in sent for reading in readings(piece)}).lower()
        for allowed in ALLOWED:
            text = text.replace(allowed, "")
        return {name for name in self.anywhere if name in text} | self.words.intersection(_WORD.findall(text))


def leaves(value: Any) -> Iterator[str | bytes]:
    """Yield every text, number and bytes value in a message or JSON value, with the names of its members."""
    match value:
        case Message():
            for _, inner in value.ListFields():
                yield from leaves(inner)
        case str() | bytes():
            yield value
        case Mapping():
            for key in value:
                yield from (str(key), *leaves(value[key]))
        case Sequence():
            for inner in value:
                yield from leaves(inner)
        case _:
            yield str(value)


def readings(sent: str | bytes, depth: int = 0) -> Iterator[str]:
    """Yield all readings of a text or of bytes, also nested a few times."""
    if isinstance(sent, bytes):
        yield from _of_bytes(sent, depth)
        return
    yield _LONG_BASE64.sub(" ", sent)
    if depth == DEEPEST:
        return
    for quoted, plain in ((_QUOTED, unquote), (_ENTITY, html.unescape)):
        if quoted.search(sent) and (other := plain(sent)) != sent:
            yield from readings(other, depth + 1)
    if "\0" in sent:
        yield from readings(sent.replace("\0", ""), depth + 1)  # UTF-16 and UTF-32 of plain letters
    inside: tuple[str | bytes, ...] = (*_of_json(sent), *_of_base64(sent))
    for inner in inside:
        yield from readings(inner, depth + 1)


def _of_bytes(sent: bytes, depth: int) -> Iterator[str]:
    yield from readings(sent.decode("utf-8", "replace"), depth)
    if depth < DEEPEST:
        for inner in _unpacked(sent):
            yield from readings(inner, depth + 1)


def _of_json(text: str) -> Iterator[str]:
    """Yield the decoded texts in JSON: nested JSON texts separately, all others together."""
    if not _is_json(text):
        return
    try:
        inner = [str(leaf) for leaf in leaves(json.loads(text))]
    except ValueError:
        return
    yield "\n".join(leaf for leaf in inner if not _is_json(leaf))
    yield from (leaf for leaf in inner if _is_json(leaf))


def _is_json(text: str) -> bool:
    """Return whether a text begins like JSON with texts in it."""
    return text.lstrip()[:1] in ("{", "[", '"')


def _of_base64(text: str) -> Iterator[bytes]:
    for match in _BASE64.findall(text):
        whole = match.translate(str.maketrans("-_", "+/"))[: len(match) - (len(match) % 4 == 1)]
        try:
            yield base64.b64decode(whole + "=" * (-len(whole) % 4))
        except binascii.Error:
            continue


def _unpacked(sent: bytes) -> Iterator[bytes]:
    if sent.startswith(_MAGIC):
        try:
            yield zlib.decompressobj(wbits=47).decompress(sent)  # the header says which of the two
        except zlib.error:
            return
    elif sent.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(sent)) as archive:
            for name in archive.namelist():
                yield from (name.encode(), archive.read(name))


def from_reviewer(db: Database, viewer: str) -> Hidden:
    """Data that a reviewer must not see before unblinding; after it, only data of other people."""
    study = studies.get(db)
    names = [
        *_measured(db),
        *_said_by_others(db, viewer),
        *_numbers(db),
        study.plan_hash or "",
        db.path.stem,
    ]
    others = [person.name for person in people.all_people(db) if person.name != viewer]
    classifiers = set(verdicts.table(db)["classifier"]) - ORDINARY
    return Hidden.of(names, [*others, *classifiers, *_parts(db)]) | general()


def from_reviewing_coordinator(db: Database, viewer: str) -> Hidden:
    """Data that a coordinator who also labels must not see on coordinators' pages before unblinding."""
    judged = verdicts.table(db)
    return Hidden.of([*_said_by_others(db, viewer), *_precise([*judged["score"], *judged["threshold"]])])


@cache
def general() -> Hidden:
    """Data that no study shows: words for hidden things, and all names of the demo, whose runs the guide uses."""
    with bundled("data", "demo", "interventions.csv").open(encoding="utf-8") as file:
        interventions = {row["intervention"] for row in csv.DictReader(file)}
    demo = read(Source("demo.parquet", bundled("data", "demo", "demo.parquet")))
    names = {name for one in demo for name in (one.benchmark, one.benchmark.split("#")[0])}
    return Hidden.of({*names, *IDS}, KINDS | JUDGEMENTS | interventions) | of_server()


@cache
def of_server() -> Hidden:
    """Return the server's paths, host, user and versions, and the ids that Streamlit derives from them."""
    program = str(Path(app.__file__).resolve())
    installation = Installation.instance()
    ids = (installation.installation_id, installation.installation_id_v3, installation.installation_id_v4)
    versions = (".".join(map(str, sys.version_info)), platform.platform(), sys.executable, sys.prefix)
    paths = {str(folder) for folder in (*Path(program).parents, Path.home(), Path.cwd()) if len(folder.parts) > 2}
    names = {socket.gethostname(), socket.getfqdn(), getpass.getuser()} - EVERYWHERE - _own_words()
    long_enough = {name for name in names if len(name) >= MIN_PART}  # shorter ones occur in packed numbers by chance
    return Hidden.of({program, calc_hash(program), *ids, *versions, *paths}, long_enough)


def _own_words() -> set[str]:
    """Return the words of the program itself: a user called nobody or runner would be found on every page."""
    sources = [path for kind in ("*.py", "*.js") for path in Path(app.__file__).parents[1].rglob(kind)]
    return {word for path in sources for word in _WORD.findall(path.read_text(encoding="utf-8").lower())}


def _measured(db: Database) -> Iterator[str]:
    for item in items.all_items(db, with_checks=True):
        yield from (item.benchmark, item.application, item.application.replace("/", "__"), item.data_hash[:12])
        if item.benchmark not in item.name:  # otherwise it is found with the benchmark
            yield item.name


def _parts(db: Database) -> set[str]:
    return {
        part
        for item in items.all_items(db)
        for text in (item.name, item.benchmark, item.application)
        for part in _WORD.findall(text.lower())
        if len(part) >= MIN_PART
    }


def _said_by_others(db: Database, viewer: str) -> Iterator[str]:
    """Comments of others, replies to them, reasons of decisions, and reasons of steps."""
    table = labels.table(db)
    yield from (text for text in table.loc[table["reviewer"] != viewer, "comment"] if text)
    own = set(table.loc[table["reviewer"] == viewer, "assignment"])
    by_assignment = replies.of_assignments(db, [one.assignment_id for one in replies.flags_and_comments(db)])
    for assignment_id, given in by_assignment.items():
        if assignment_id not in own:
            yield from (one.text for one in given)
    yield from (decision.why for decision in decisions.everything(db))
    yield from (details["why"] for details in events.table(db)["details"].map(_plain) if "why" in details)


def _plain(details: Any) -> dict[str, Any]:
    return dict(json.loads(details) if isinstance(details, str) else details)


def _numbers(db: Database) -> Iterator[str]:
    """Scores, thresholds and one measurement of each item, unless an axis of its plot ends with it."""
    judged = verdicts.table(db)
    yield from _precise([*judged["score"], *judged["threshold"]])
    for item in items.all_items(db, with_checks=True):
        if item.n_runs:
            drawn = runs.bins_of_item(db, item.item_id, binning.VERSION) or b""
            ordered = np.sort(runs.of_item(db, item.item_id)[0])
            texts = _precise([float(ordered[len(ordered) // 3])])
            yield from (text for text in texts if text.encode() not in drawn)


def _precise(values: Iterable[Any]) -> Iterator[str]:
    """Return the numbers with enough digits to exclude a coincidence."""
    texts = (repr(float(value)) for value in values if value is not None)
    return (text for text in texts if sum(map(str.isdigit, text)) >= MIN_DIGITS)
