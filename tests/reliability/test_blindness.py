"""Reviewers are sent no forbidden data in any state, and the search finds planted data."""

import base64
import gzip
import io
import json
import zipfile
import zlib

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from labeler.studies.store import open_database
from tests.conftest import some_slow
from tests.reliability import _crawl_study as made, _telltales
from tests.reliability._crawl_window import Heard
from tests.reliability._hidden import Hidden, from_reviewer
from tests.reliability.crawl import QUICK, SHOWS, crawl, foreign_codes, new_members, served

ROLES = {"a reviewer", "a paused reviewer", "a reviewer who is also a coordinator", "a stranger"}
NAME = "vexillum/quokkadb#abacus"
HIDDEN = Hidden.of([NAME, "0.73519264"], ["fresh", "ottokar"])


@pytest.mark.parametrize("quick", some_slow([True, False], [False]))
def test_nobody_is_sent_what_they_may_not_know_in_any_state(tmp_path, quick):
    """A study goes through all states while all kinds of people visit it: one test, because it starts a server."""
    study = tmp_path / "sauerkraut.study"
    links = made.make(study)
    with served(study) as url:
        found = {case.what: case for case in crawl(url, study, links, quick=quick)}
    assert {what: case.figures for what, case in found.items() if not case.passed} == {}
    visited = QUICK if quick else SHOWS
    assert set(found) >= {f"{stage}, {role}" for stage in visited for role in ROLES}
    later = set(visited) - {"draft", "calibration"}
    assert set(found) >= {f"{stage}, a removed reviewer" for stage in later}
    assert any("in a coordinator's window" in what for what in found)
    assert list(made.STAGES) == list(SHOWS)


def test_neither_order_nor_place_nor_size_nor_progress_gives_anything_away(tmp_path):
    assert [case for case in _telltales.cases(tmp_path) if not case.passed] == []


def zipped(text):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside.txt", text)
    return file.getvalue()


def coded(content):
    return base64.b64encode(content).decode()


def message(text):
    """Return a server message whose page part contains a text among the fields of JSON."""
    made_up = ForwardMsg()
    made_up.delta.new_element.bidi_component.json = json.dumps({"offers": [], "more": [{"deep": text}]})
    return made_up.SerializeToString()


def image(content):
    made_up = ForwardMsg()
    made_up.delta.new_element.imgs.imgs.add(url=f"data:image/svg+xml;base64,{coded(content)}")
    return made_up.SerializeToString()


WRAPPED = {
    "a text": f"... {NAME} ...".encode(),
    "other capitals": NAME.upper().encode(),
    "inside of a word": f"x{NAME}x".encode(),
    "a header": f"200 OK\nX-Made-Of: {NAME}".encode(),
    "a file name": f'attachment; filename="{NAME}.json"'.encode(),
    "an address": b"/media?of=vexillum%2Fquokkadb%23abacus",
    "twice quoted": b"/media?of=vexillum%252Fquokkadb%2523abacus",
    "entities": b"<p>vexillum&#47;quokkadb&num;abacus</p>",
    "escapes of JSON": rb'{"a": ["\u0076exillum/quokkadb#abacus"]}',
    "JSON in JSON": json.dumps({"inner": r'{"name": "\u0076exillum/quokkadb#abacus"}'}).encode(),
    "base64": f"x={coded(NAME.encode())};".encode(),
    "base64 for addresses": base64.urlsafe_b64encode(f"~~~???{NAME}".encode()),
    "base64 without its end": coded(NAME.encode()).rstrip("=").encode(),
    "gzip": gzip.compress(NAME.encode()),
    "zlib": zlib.compress(NAME.encode()),
    "zip": zipped(NAME),
    "gzip in base64": coded(gzip.compress(NAME.encode())).encode(),
    "UTF-16": NAME.encode("utf-16-le"),
    "a long base64": coded(bytes(range(256)) + NAME.encode()).encode(),
}


@pytest.mark.parametrize("how", WRAPPED)
def test_a_name_is_found_however_it_is_wrapped(how):
    assert HIDDEN.found_in([WRAPPED[how]]) == {NAME}


@pytest.mark.parametrize("how", WRAPPED)
def test_a_name_is_found_inside_of_a_message(how):
    text = WRAPPED[how].decode("latin-1") if WRAPPED[how].isascii() else coded(WRAPPED[how])
    heard = Heard(frames=[("/", message(text))])
    assert heard.leaks(HIDDEN) == {"/": [NAME]}


def test_a_name_is_found_in_a_still_picture_and_in_an_answer():
    assert Heard(frames=[("/guide", image(f'<svg aria-label="{NAME}">'.encode()))]).leaks(HIDDEN) == {"/guide": [NAME]}
    assert Heard(answers=[("GET /media/x", gzip.compress(NAME.encode()))]).leaks(HIDDEN) == {"GET /media/x": [NAME]}


def test_words_are_found_whole_and_numbers_anywhere():
    assert HIDDEN.found_in([b"kind: Fresh, by Ottokar", b'{"score":0.73519264}']) == {"fresh", "ottokar", "0.73519264"}
    assert HIDDEN.found_in([b"refresh, freshly, ottokars"]) == set()
    assert Heard(frames=[("/", message("fresh"))]).leaks(HIDDEN) == {"/": ["fresh"]}


def test_what_belongs_on_pages_is_not_taken_for_a_leak():
    pages = "similar, dissimilar, not sure. Feedback on the calibration round. You are signed in as wilhelmina."
    assert Hidden.of([], ["calibration"]).found_in([pages]) == set()
    assert Hidden.of([], ["calibration"]).found_in(["a calibration item"]) == {"calibration"}


def test_a_study_gives_the_search_all_that_must_not_be_seen(tmp_path):
    made.make(tmp_path / "sauerkraut.study")
    with open_database(tmp_path / "sauerkraut.study") as db:
        hidden = from_reviewer(db, made.OWN)
    assert {"vexillum/quokkadb", "abacus.covert7#tonnage=7", "sauerkraut"} <= hidden.anywhere
    assert {*made.PARTNERS, made.COORDINATOR, made.CLASSIFIER, "covert7", "tonnage", "retest"} <= hidden.words
    assert made.OWN not in hidden.words
    assert str(made.THRESHOLD) in hidden.anywhere


def test_codes_of_others_and_new_members_are_found():
    said = message("Item ABCDEF is not yours")
    assert foreign_codes(Heard(frames=[("/", said)]), {"GHJKLM"}) == {"/": ["ABCDEF"]}
    assert foreign_codes(Heard(frames=[("/", said)]), {"ABCDEF"}) == {}
    assert new_members(Heard(frames=[("/", said)])) == {"the review component": ["more"]}
    offer = {"offers": [{"code": "ABCDEF", "item_id": 7, "panels": [{"kind": "runs", "path": "a"}]}], "last": None}
    assert _telltales.strange_keys([offer]) == {"item_id", "path"}


def test_a_mark_that_two_reviewers_are_both_sent_is_found():
    assert _telltales.tokens_in(["revise-K7QX2M", "2026-03-01", "similar", "data:image/x1y2z3w4"]) == {"revise-K7QX2M"}
