"""Tampered component messages: only valid answers for the reviewer's own items are ever saved."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg

from labeler.studies.labelling.reviewing import MAX_COMMENT_LENGTH, MAX_TEXT_LENGTH, MAX_VIEW_LENGTH, MIN_DWELL_MS
from tests.performance.wire import body_of, is_saved, trigger_of
from tests.reliability._ground import OTHER, OWN, Ground, Rows
from tests.reliability._window import Body, Event, ReviewersWindow, Window, as_body, body

FIELDS = ("event_id", "code", "revision", "answer", "dwell_ms", "view", "confidence", "flag", "comment")
VALUES = (
    "null", "true", "false", "0", "-0", "-1", "1", "1.5", "-1.5", "1e400", "NaN", "Infinity", "-Infinity", str(2**31),
    str(2**53), str(2**63), "9" * 400, "9" * 5000, '""', '"x"', '"similar"', '"withdrawn"', '"SIMILAR"', '"similar "',
    '"\\u0000"',
    '"\\ud800"', '"a\\udfffb"', '"\\u202eabc"', '"\\u001b[2J"', '"<script>alert(1)</script>"', '"../../etc/passwd"',
    '"\'; DROP TABLE labels; --"', f'"{"x" * 100_000}"', "[]", "[[]]", "{}", '{"a": {"b": []}}', '{"": null}',
    '{"event_id": "x"}',
    "[" * 500 + "]" * 500, "[" * 100_000 + "]" * 100_000, '{"a":' * 500 + "1" + "}" * 500, '{"a": NaN}',
    '{"a": 1, "a": 2}',
    '{"a": "\\ud800"}', "[null, 1, true]", '["x"]',
)  # fmt: skip
SHAPES = (
    "", " ", "null", "true", "1", '"x"', "[]", "{}", "[[]]", "[null]", "[1]", '["answers"]', "[{}]",
    '{"answers": null}', '{"answers": {}}', '{"answers": "x"}', '{"answers": [null]}', '{"answers": [[[]]]}',
    '{"answers": [1, "x", {}, []]}', '{"answers": [{"answers": []}]}', '{"answers": [{"event_id": {"a": [NaN]}}]}',
    '{"check": "x"}', '{"check": [1]}', '{"check": [["x"]]}', '{"check": {"x": 1}}',
    '{"check": ["' + "x" * 60_000 + '"]}',
    '{"answers": [' + "{}," * 50 + "{}]}", "[", "]", "[{", "\x00", "NaN", "[NaN]", "[" * 60_000, "[" * 100_000,
    '{"__class__": "x", "answers": []}', '{"answers": [], "answers": [{}]}', '{"item": "x", "category": "similar"}',
)  # fmt: skip
WIDGETS = (
    "", "x", "review", "event", "chosen", "practice_seed", "$$STREAMLIT_INTERNAL_KEY_",
    "$$STREAMLIT_INTERNAL_KEY___events",
    "$$ID--review", "$$ID-00000000000000000000000000000000-review", "\x00", "../x", "x" * 10_000, "$$ID-{}-None",
)  # fmt: skip


def of_every_type(window: Window) -> Iterator[tuple[str, str]]:
    """A valid event with each value in each field, with one field missing, and with one field twice: name and text."""
    for place in FIELDS:
        for value in VALUES:
            yield f"{place} = {value[:30]}", with_text(window.event(), place, value)
        left = {name: value for name, value in window.event().items() if name != place}
        yield f"{place} left out", body_of(left)
        event = json.dumps(window.event())
        yield f"{place} twice", f'{{"answers":[{event[:-1]}, "{place}": "twice"}}]}}'
    for shape in SHAPES:
        yield f"body {shape[:40]}", shape


def with_text(event: Event, field: str, text: str) -> str:
    """Return the body of a request for an event in which this JSON text replaces a value."""
    mark = "4f5a0c7e-this-is-replaced"
    return body_of(event | {field: mark}).replace(f'"{mark}"', text)


def of_every_kind(tamperer: "Tamperer") -> "list[tuple[str, Message]]":
    """Messages of every kind, invalid widgets."""
    return list(_of_every_kind(tamperer.window))


def _of_every_kind(window: Window) -> Iterator[tuple[str, BackMsg]]:
    """Streamlit messages that the component never sends, including those for developers."""
    for name in ("clear_cache", "load_git_info", "set_run_on_save", "stop_script", "app_heartbeat",
            "debug_disconnect_websocket",
                 "debug_shutdown_runtime"):  # fmt: skip
        message = BackMsg()
        setattr(message, name, True)
        yield name, message
    yield "nothing", BackMsg()
    for names in ([], ["x.csv"], ["../../x"], ["x"] * 2000):
        message = BackMsg()
        message.file_urls_request.file_names.extend(names)
        message.file_urls_request.session_id = window.session
        yield "file_urls_request", message
    for payload in ("deferred_file", "install_skills", "dismiss_skills_nudge", "dataframe_chunk"):
        message = BackMsg()
        message.backend_operation_request.session_id = window.session
        getattr(message.backend_operation_request, payload).SetInParent()
        yield payload, message
    for widget in WIDGETS:
        message = window.rerun()
        message.rerun_script.widget_states.widgets.add(
            id=widget, json_trigger_value=trigger_of({"saved": window.event()["code"]})
        )
        yield f"widget {widget[:20]!r}", message
    yield from _values_for_the_component(window)


def _values_for_the_component(window: Window) -> Iterator[tuple[str, BackMsg]]:
    event = window.event()
    kinds: dict[str, Any] = {
        "trigger_value": True, "bool_value": True, "int_value": 2**62, "double_value": float("nan"),
        "bytes_value": b"\xff\x00",
        "string_value": "x", "json_value": json.dumps({"event": event}),
    }  # fmt: skip
    for kind, value in kinds.items():
        for widget in (window.widget, window.widget.removesuffix("__events"), "review"):
            message = window.rerun()
            message.rerun_script.widget_states.widgets.add(id=widget, **{kind: value})
            yield f"{kind} for the component", message
    for other in ({"query_string": "x=" + "y" * 100_000}, {"page_name": "../../x"}, {"page_script_hash": "x"},
            {"fragment_id": "x"},
                  {"is_auto_rerun": True}, {"query_string": "\x00"}, {"page_name": "<script>"}):  # fmt: skip
        yield f"{next(iter(other))}", window.rerun(**other)


def mutant(rng: random.Random, window: Window) -> Body | bytes:
    """Return a valid request or message with a random change: a value, the text of the event, or bytes."""
    event, kind = window.event(rng.choice(("similar", "dissimilar", "not sure", "withdrawn"))), rng.randrange(3)
    if kind == 0:
        for _ in range(rng.randint(1, 3)):
            place = rng.choice(FIELDS)
            changed = with_text(event, place, rng.choice(VALUES))
        return as_body(changed)
    if kind == 1:
        return Body(_scrambled(rng, body_of(event).encode()))
    return _scrambled(rng, window.rerun(query_string=body_of(event)).SerializeToString())


def _scrambled(rng: random.Random, data: bytes) -> bytes:
    """Change, remove, repeat or cut off a few bytes."""
    made = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randrange(len(made) + 1), rng.randint(1, 8)
        part = bytes(made[at : at + length])
        made[at : at + length] = rng.choice((b"", part * 2, rng.randbytes(length), part[::-1], part + rng.randbytes(1)))
        if rng.random() < 0.05:
            del made[rng.randrange(len(made) + 1) :]
        made = made or bytearray(b"\x00")
    return bytes(made)


SERVER_LIMIT = 25 * 2**20  # Streamlit closes the window if a message is larger
Message = BackMsg | bytes | str
ANSWERS = {"similar", "dissimilar", "not sure", "withdrawn"}
SEED, N_MUTATIONS = 20261121, 2000


@dataclass
class Tamperer:
    """A reviewer with one window at a time, who checks the study after every message."""

    ground: Ground
    cookie: str
    window: Window
    before: Rows  # all answers after the previous message
    offered: set[str] = field(default_factory=set)  # every code that this window was ever offered, or may undo
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, ground: Ground) -> "Tamperer":
        cookie = ground.sign_in(OWN)
        return cls(ground, cookie, ReviewersWindow(ground.url, cookie).open(), ground.answers())

    def send(self, message: Message) -> str:
        """Send one message; returns the fault in the result, "" if there is none."""
        told = self.window.data
        self.offered |= {task["code"] for task in (*told["offers"], told["last"]) if task}  # the last one, to undo it
        self.window.send(message)
        self.counts["sent"] += 1
        self.counts["sentences"] += bool((self.window.ack or {}).get("message"))
        self.counts["pages broken"] += self.window.broken
        self.window.broken = 0
        wrong = self._wrong_in_study(message) or self._wrong_in_window()
        self.window.frames.clear()
        if self.window.closed:
            self.counts["windows closed"] += 1
            self.window = ReviewersWindow(self.ground.url, self.cookie).open()
        return wrong

    def goes_on(self) -> bool:
        """Whether the next valid label is saved."""
        kept = self.window.label() or {}
        self.before, n_before = self.ground.answers(), len(self.before)
        return is_saved(kept) and len(self.before) == n_before + 1

    def _wrong_in_study(self, message: Message) -> str:
        now = self.ground.answers()
        new, same = now[len(self.before) :], now[: len(self.before)] == self.before
        unexplained = [row for row in new if not self._is_valid(row, message)]
        self.before = now
        self.counts["valid and saved"] += len(new)
        if not same or len(new) > 1 or unexplained:
            return f"kept {unexplained or new}, others unchanged: {same}"
        return ""

    def _is_valid(self, row: tuple[object, ...], message: Message) -> bool:
        """Whether a saved answer is an answer in the message, by the rules for answers."""
        _, event_id, person, code, revision, answer, dwell_ms, comment, view = row
        said = [one for one in said_in(message) if one.get("event_id") == event_id]
        given = {"code": code, "revision": revision, "answer": answer}
        told = any(all(one.get(name) == value for name, value in given.items()) for one in said)
        looked = answer == "withdrawn" or (isinstance(dwell_ms, int) and dwell_ms >= MIN_DWELL_MS)
        fits = len(str(comment or "")) <= MAX_COMMENT_LENGTH and len(str(view)) <= MAX_VIEW_LENGTH + 100
        is_own = person == self.ground.ids[OWN] and code in self.offered
        return is_own and told and looked and fits and answer in ANSWERS and 0 < len(str(event_id)) <= MAX_TEXT_LENGTH

    def _wrong_in_window(self) -> str:
        leaks = self.ground.leaks(self.window.text, person=OWN)
        return f"told {leaks}" if leaks else ""


def said_in(message: Message) -> list[Event]:
    """Return the events in a message, parsed as leniently as possible."""
    try:
        told = json.loads(message) if isinstance(message, Body) else {}
    except (ValueError, RecursionError):
        return []
    answers = told.get("answers") if isinstance(told, dict) else None
    return [one for one in answers if isinstance(one, dict)] if isinstance(answers, list) else []


def tampered(messages: Callable[[Tamperer], Iterable[tuple[str, Message]]]) -> Callable[[Ground], None]:
    """Send all messages of a group; valid labels between and after them are saved."""

    def attack(ground: Ground) -> None:
        with Window(ground.url, ground.sign_in(OTHER)).open() as other:
            while sum(row[2] == ground.ids[OTHER] for row in ground.answers()) < 3:
                other.label("dissimilar")
        tamperer, tally = Tamperer.of(ground), ground.tally
        tamperer.goes_on()
        tamperer.counts.clear()
        for number, (name, message) in enumerate(messages(tamperer)):
            wrong = tamperer.send(message)
            tally.check(not wrong, f"{name}: {wrong}")
            if number % 50 == 0:
                tally.check(tamperer.goes_on(), f"after {name} the next label was not kept")
        tally.check(tamperer.goes_on(), "the next label was not kept")
        tally.more = ", ".join(f"{n} {kind}" for kind, n in tamperer.counts.items() if kind != "sent")
        tamperer.window.close()

    return attack


def changed_at_random(tamperer: Tamperer) -> Iterator[tuple[str, Message]]:
    """Valid messages with random changes."""
    rng = random.Random(SEED)
    for number in range(8 if tamperer.ground.quick else N_MUTATIONS):
        yield f"mutant {number}, seed {SEED}", mutant(rng, tamperer.window)


def typed(tamperer: Tamperer) -> Iterator[tuple[str, Message]]:
    """Every field with every type."""
    step = 12 if tamperer.ground.quick else 1
    for number, (name, text) in enumerate(of_every_type(tamperer.window)):
        if number % step == 0:
            yield name, as_body(text)


def named(tamperer: Tamperer) -> Iterator[tuple[str, Message]]:
    """Well-formed events that this reviewer may not send."""
    ground, own, window = tamperer.ground, tamperer.ground.ids[OWN], tamperer.window
    (mine, *_), theirs = ([row for row in ground.answers() if (row[2] == own) == is_own] for is_own in (True, False))
    partner = ground.rows(
        """SELECT b.code FROM assignments a JOIN assignments b USING (item_id) WHERE a.code = ? AND b.code <> a.code""",
        window.data["offers"][0]["code"],
    )
    later = ground.rows("SELECT code FROM assignments WHERE person_id = ? ORDER BY position DESC LIMIT 1", own)
    foreign = ground.rows("SELECT code FROM assignments WHERE person_id = ? LIMIT 3", ground.ids[OTHER])
    for what, found in (("partner's code", partner), ("code to come", later), ("foreign code", foreign)):
        for (code,) in found:
            yield what, body(window.event(code=code, revision=0))
    for code in ("", "AAAAAA", "A1", str(mine[3]).lower(), f" {mine[3]}", f"{mine[3]}\x00", "%", "*", "' OR 1=1 --"):
        yield f"code {code!r}", body(window.event(code=code, revision=0))
    yield from _of_other_times(window, mine, theirs)


def _of_other_times(window: Window, mine: tuple[object, ...], theirs: Rows) -> Iterator[tuple[str, Message]]:
    """Earlier and later revisions and events, and those of other people."""
    for revision in (0, -1, 2, 3, 2**31 - 1, 2**31, 2**70):
        yield f"revision {revision}", body(window.event(code=mine[3], revision=revision))
        if revision:
            yield f"revision {revision} of a fresh item", body(window.event(revision=revision))
    replay = {"event_id": mine[1], "code": mine[3], "revision": mine[4]}
    for answer in ("similar", "dissimilar", "withdrawn"):
        yield "replay", body(window.event(answer, **replay))
        yield "replay on another item", body(window.event(answer, event_id=mine[1]))
    for row in theirs:
        yield "somebody else's event", body(window.event(event_id=row[1]))
        yield "somebody else's event", body(window.event(event_id=row[1], code=row[3], revision=row[4]))
        yield "somebody else's label", body(window.event(code=row[3], revision=1))
        yield "somebody else's label taken back", body(window.event("withdrawn", code=row[3], revision=1))
    for dwell_ms in (None, 0, MIN_DWELL_MS - 1):
        yield f"looked at for {dwell_ms} ms", body(window.event(dwell_ms=dwell_ms))
    yield "what has no answer taken back", body(window.event("withdrawn", dwell_ms=None))
    two = [window.event(code=code) for code in (mine[3], theirs[0][3])]
    yield "two events at once", body(*two)


def shapeless(tamperer: Tamperer) -> Iterator[tuple[str, Message]]:
    """Messages that are too large, and data that are no messages."""
    window, rng, quick = tamperer.window, random.Random(SEED), tamperer.ground.quick
    for name, length in (("comment", MAX_COMMENT_LENGTH + 1), ("comment", 2**20), ("event_id", MAX_TEXT_LENGTH + 1)):
        yield f"{name} of {length}", body(tamperer.window.event(**{name: "x" * length}))
    yield "view", body(tamperer.window.event(view={"x": "y" * MAX_VIEW_LENGTH}))
    yield "have", body(tamperer.window.event(dwell_ms=0, have=["x" * 64] * 20_000))
    for size in (2**20,) if quick else (2**20, SERVER_LIMIT - 2**16, SERVER_LIMIT + 1, 2 * SERVER_LIMIT + 2**20):
        event = tamperer.window.event(comment="x" * size)
        yield f"message of {size // 2**20} MiB", body(event)
        yield f"page of {size // 2**20} MiB", window.rerun(query_string="x" * size).SerializeToString()
    valid = window.rerun().SerializeToString()
    for data in (
        b"", b"\x00", b"\xff" * 20, b"GET / HTTP/1.1\r\n\r\n", valid[:-1], valid[: len(valid) // 2],
        b"\x22\xff\xff\xff\xff\x0f",
    ):  # fmt: skip
        yield f"{data[:20]!r}", data
    for _ in range(5 if quick else 50):
        yield "random bytes", rng.randbytes(rng.randint(1, 2000))
    for text in ("", "hello", "x" * 2**20):
        yield "a text frame", text
