"""Side channels: order, position, size or a number could reveal something. Each question is a case without a server."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scipy import stats

from labeler.studies.course import course
from labeler.studies.labelling import answering, reviewing
from labeler.studies.model import Kind, PlanParameters, Task
from labeler.studies.plan.changes import Slot, third_round
from labeler.studies.plan.lifecycle import Step
from labeler.studies.store import Database, assignments, open_database
from tests.browser import studies
from tests.making import id_of, offers, submit
from tests.reliability._matching import BY_BYTES, Picture, at_chance, in_words, n_found
from tests.reliability.cases import Case

OWN, OTHERS, COORDINATOR = "ada", ("ben", "cleo"), "carol"
N_ITEMS = 70
PLAN = PlanParameters(seed=5, overlap=0.6, retest=6, attention=8)
NOW = datetime(2026, 3, 1, tzinfo=UTC)
ITEM_KEYS = {"code", "revision", "confidence", "flag", "comment", "panels", "before"} | {
    *("explains", "right"),  # of an artificial item
}
PANEL_KEYS = {"kind", "version", "rule", "min_span", "unit", "n", "scale", "median", "percentiles", "axes", "runs"}
SCREEN_KEYS = {
    "mode", "reviewer", "done", "total", "not_sure", "closed", "offers", "last", "ack", "question", "protocol",
    "end", "note", "last_event", "missing",
    "state",  # of the study and the reviewer: the page runs when it changes
    "token",  # of the reviewer's session, for requests of the component
    *("title", "caption", "item", "keys", "panels", "height", "shows_numbers", "decides", "marks"),  # without answers
    *("round", "items", "given"),  # of a practice round
    *("sees", "overlay", "study"),  # what an item shows, and the name of the study: the same for all items
    "seconds",  # per label, from the reviewer's own answers
}  # fmt: skip
MIN_CODES, MIN_LETTERS, MAX_CORRELATION = 20, 8, 0.3  # chance reaches none of them once in 10,000 times
N_SEEDS, FAR = 400, 0.1
_MARK = re.compile(r"(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])[A-Za-z0-9_-]{6,}")


def make(path: Path) -> None:
    """A planned study of three reviewers, with hidden copies and attention checks."""
    studies.make(path, studies.many(N_ITEMS), reviewers=(OWN, *OTHERS), parameters=PLAN, now=NOW)


def cases(folder: Path) -> Iterator[Case]:
    study = folder / "telltales.study"
    make(study)
    yield others_change_nothing(study)
    with copied(study, "open") as db:
        yield codes_say_nothing(db)
        yield checks_look_like_items(db)
        yield from copies_look_fresh(db)
        course.change_state(db, Step.THIRD, why="because", actor=COORDINATOR, now=NOW)
        yield third_labels_look_alike(db)
    yield split_items_have_no_place()


@contextmanager
def copied(study: Path, name: str) -> Iterator[Database]:
    """A copy of the study with the same codes, in a separate file."""
    target = study.with_name(f"{study.stem}-{name}.study")
    with open_database(study) as db:
        db.backup(target)
    with open_database(target) as db:
        yield db


def others_change_nothing(study: Path) -> Case:
    """One reviewer labels everything in studies that differ in the answers of others: all screens are equal."""
    worlds: Mapping[str, Callable[[Database], None]] = {
        "nothing": lambda _db: None,
        "all dissimilar": lambda db: answer_all(db, OTHERS, lambda _number: "dissimilar"),
        "some": lambda db: answer_all(db, OTHERS[:1], lambda number: ("similar", "dissimilar")[number % 2], 9),
    }
    seen = {}
    for name, happens in worlds.items():
        with copied(study, f"world {name}") as db:
            happens(db)
            seen[name] = list(screens_of(db, OWN))
    n_screens, n_bytes = len(seen["nothing"]), sum(map(len, seen["nothing"]))
    unlike = [name for name, screens in seen.items() if screens != seen["nothing"]]
    figures = (
        f"{n_screens} screens, {n_bytes} bytes in each of {len(seen)} studies; different: {', '.join(unlike) or 'none'}"
    )
    return Case("order, codes, plots and progress do not depend on the answers of others", figures, not unlike)


def screens_of(db: Database, name: str) -> Iterator[str]:
    """The data sent at each step while a reviewer labels everything, and My labels at the end.

    As for a browser, each picture is sent once.
    """
    reviewer_id, loaded = id_of(db, name), set[str]()
    for number in range(3 * N_ITEMS):  # more items than anybody has
        state = answering.screen(db, reviewer_id)
        codes = [offer["code"] for offer in state["offers"] if offer["code"] not in loaded]
        loaded.update(codes)
        yield json.dumps([state, answering.open_items(db, reviewer_id, codes)])
        if not offers(db, name):
            break
        answer_next(db, name, ("similar", "dissimilar", "not sure")[number % 3])
    yield repr([(own.task.code, own.number, own.task.answer) for own in reviewing.own_labels(db, reviewer_id)])


def codes_say_nothing(db: Database) -> Case:
    """Codes use nearly all letters at each position for each kind, do not follow the plan, and are unique."""
    rows = db.execute("SELECT kind, code, assignment_id, person_id, item_id FROM assignments").fetchall()
    of_kind: dict[str, list[str]] = {}
    for kind, code, *_ in rows:
        of_kind.setdefault(kind, []).append(code)
    enough = {kind: codes for kind, codes in of_kind.items() if len(codes) >= MIN_CODES}
    letters = min(len(set(place)) for codes in enough.values() for place in zip(*codes, strict=True))
    codes, numbers = [code for _, code, *_ in rows], [number for _, _, number, *_ in rows]
    follows = abs(float(stats.spearmanr(codes_as_ranks(codes), numbers).statistic))
    is_good = letters >= MIN_LETTERS and follows < MAX_CORRELATION and len(set(codes)) == len(codes)
    figures = (
        f"{len(codes)} codes of {len(enough)} kinds, {letters} letters or more at each position, "
        f"correlation with the order of the plan {follows:.2f}, {len(codes) - len(set(codes))} twice"
    )
    return Case(
        "codes reveal neither kind nor position in the plan, and no two reviewers share a code", figures, is_good
    )


def codes_as_ranks(codes: list[str]) -> list[int]:
    """Return the position of each letter in the alphabet."""
    places = {code: place for place, code in enumerate(sorted(codes))}
    return [places[code] for code in codes]


def copies_look_fresh(db: Database) -> Iterator[Case]:
    """Everybody labels everything: no attacker finds hidden copies or shared items in the transmitted data."""
    sent: dict[str, list[tuple[int, Picture]]] = {}
    copies: list[tuple[str, int, Picture]] = []
    for name in (OWN, *OTHERS):
        sent[name] = []
        while left := offers(db, name):  # the list gets shorter with each answer
            task, (picture,) = left[0], reviewing.task_data(db, left[0])["panels"]
            if task.item_id in [item_id for item_id, _ in sent[name]]:
                copies.append((name, task.item_id, picture))
            else:
                sent[name].append((task.item_id, picture))
            answer_next(db, name, "dissimilar" if task.item_id % 3 == 0 and name == OWN else "similar")
    of_copies = [[(picture, item_id) for who, item_id, picture in copies if who == name] for name in sent]
    yield _attacked("hidden copies cannot be found", list(zip(of_copies, sent.values(), strict=True)))
    theirs = {item_id for item_id, _ in sent[OTHERS[0]]}
    shared = [(picture, item_id) for item_id, picture in sent[OWN] if item_id in theirs]
    yield _attacked("shared items of two reviewers cannot be found", [(shared, sent[OTHERS[0]])])


def _attacked(what: str, searches: list[tuple[list[tuple[Picture, int]], list[tuple[int, Picture]]]]) -> Case:
    """Return the number of plots that attackers recognise, each among the plots of one reviewer."""
    found = dict.fromkeys(BY_BYTES, 0)
    for pictures, among in searches:
        places = {item_id: place for place, (item_id, _) in enumerate(among)}
        wanted = [(picture, places[item_id]) for picture, item_id in pictures]
        for name, marks in BY_BYTES.items():
            found[name] += n_found(wanted, [picture for _, picture in among], marks)
    n_wanted, n_among = sum(len(pictures) for pictures, _ in searches), min(len(among) for _, among in searches)
    good = n_wanted > 0 and all(at_chance(hits, n_wanted, n_among) for hits in found.values())
    return Case(f"{what} by bytes, values or hashes", in_words(found.items(), n_wanted, n_among), good)


def form_of(db: Database, task: Task) -> str:
    """Return the fields, types and sizes of the data that a reviewer is sent for a task."""
    sent = dict(reviewing.task_data(db, task))
    (picture,) = sent.pop("panels")
    keys = sorted(picture), sorted(picture["runs"][0]), len(picture["runs"])
    return json.dumps([sent | {"code": len(sent["code"])}, keys])


def checks_look_like_items(db: Database) -> Case:
    """Attention checks have the same fields, types and sizes as other items."""
    forms: dict[bool, set[str]] = {True: set(), False: set()}
    for name in (OWN, *OTHERS):
        for task, kind in tasks_with_kinds(db, name):
            forms[kind is Kind.ATTENTION].add(form_of(db, task))
    n_forms = len(forms[True] | forms[False])
    figures = f"{n_forms} form of the data for attention checks and other items, without plots"
    return Case("attention checks look like other items", figures, all(forms.values()) and n_forms == 1)


def third_labels_look_alike(db: Database) -> Case:
    """In the third-label round, split and agreed items have the same fields, types and sizes."""
    forms: dict[bool, set[str]] = {True: set(), False: set()}
    said = given(db)
    for name in (OWN, *OTHERS):
        for task, kind in tasks_with_kinds(db, name):
            if kind is Kind.THIRD:
                forms[len(said[task.item_id]) > 1].add(form_of(db, task))
    n_forms = len(forms[True] | forms[False])
    figures = f"{n_forms} form of the data for split and agreed items, without plots"
    return Case(
        "split items in the third-label round look like agreed items", figures, all(forms.values()) and n_forms == 1
    )


def split_items_have_no_place() -> Case:
    """Over many seeds, split items come as early in the third-label round as agreed items."""
    split: list[str] = []
    agreed: list[str] = []
    slots: list[Slot] = []
    for number in range(24):
        pair = (OWN, OTHERS[0]) if number % 2 else (OTHERS[0], OTHERS[1])
        (agreed if number % 3 else split).append(f"i{number}")
        slots += [Slot(name, f"i{number}", Kind.FRESH, answered=True) for name in pair]
    places: dict[bool, list[float]] = {True: [], False: []}
    for seed in range(N_SEEDS):
        plan = third_round(split, agreed, slots, reviewers=(OWN, *OTHERS), start={}, seed=seed)
        for name in (OWN, *OTHERS):
            own = [one for one in plan.assignments if one.reviewer == name]
            for one in own:
                places[one.item in split].append(one.position / max(len(own) - 1, 1))
    of_split, of_agreed = (sum(found) / len(found) for found in (places[True], places[False]))
    figures = f"mean position from 0 to 1 over {N_SEEDS} seeds: split {of_split:.3f}, agreed {of_agreed:.3f}"
    is_hidden = abs(of_split - of_agreed) < FAR
    return Case("split items have no special position in the third-label round", figures, is_hidden)


def strange_keys(screens: Iterable[Mapping[str, Any]]) -> set[str]:
    """Fields in the data of the review component that are not on the list of necessary fields."""
    found: set[str] = set()
    for screen in screens:
        items = [*screen.get("offers", ()), *screen.get("items", ()), *([screen["last"]] if screen.get("last") else [])]
        found |= set(screen) - SCREEN_KEYS
        for item in items:
            found |= set(item) - ITEM_KEYS
            found |= {key for panel in item.get("panels") or () for key in set(panel) - PANEL_KEYS}
    return found


def tokens_in(texts: Iterable[str]) -> set[str]:
    """Possible marks in texts, such as letters with digits, except plots."""
    return {mark for text in texts if not text.startswith("data:image/") for mark in _MARK.findall(_unpictured(text))}


def _unpictured(text: str) -> str:
    if not text.startswith('{"mode"'):
        return re.sub(r"data:image/svg\+xml;base64,[\w+/=]*", "", text)
    screen = json.loads(text)
    for offer in screen.get("offers", ()):
        offer.pop("panels", None)
    return json.dumps(screen)


def tasks_with_kinds(db: Database, name: str) -> list[tuple[Task, Kind]]:
    """Return all tasks of a reviewer with their kinds, without calibration."""
    kinds = dict(db.execute("SELECT assignment_id, kind FROM assignments"))
    return [(task, Kind(kinds[task.assignment_id])) for task in assignments.tasks_of(db, id_of(db, name))]


def given(db: Database) -> dict[int, set[str]]:
    """Return the categories given to each item, without hidden copies."""
    found: dict[int, set[str]] = {}
    rows = db.execute(
        "SELECT item_id, answer FROM labels JOIN assignments USING (assignment_id) WHERE kind IN ('fresh', 'overlap')"
    )
    for item_id, answer in rows:
        found.setdefault(item_id, set()).add(answer)
    return found


def answer_all(db: Database, names: Iterable[str], says: Callable[[int], str], limit: int = 3 * N_ITEMS) -> None:
    """Let people answer all items, or this many; the answer depends on its number."""
    for name in names:
        for number in range(limit):
            if not offers(db, name):
                break
            answer_next(db, name, says(number))


def answer_next(db: Database, name: str, answer: str) -> None:
    submit(db, name, offers(db, name)[0], answer, now=NOW, flag=True, comment="own words")
