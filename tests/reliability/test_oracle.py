"""Replies to a reviewer do not depend on others: the same messages to studies that differ only in others' rows.

Beside each study, the server has a second study of the same people, in which others have labelled, too.
"""

import random
import re
import shutil
from dataclasses import replace
from datetime import timedelta
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from analysis.categories import CATEGORIES
from labeler.studies.handover import exchange
from labeler.studies.labelling import answering, reviewing
from labeler.studies.model import Kind
from labeler.studies.plan.design import key
from labeler.studies.questions import SIMILAR
from labeler.studies.store import items, labels, open_database, studies
from labeler.studies.ui import answers
from labeler.studies.ui.answers import ITEMS
from labeler.studies.ui.app import REVIEWER_PAGES
from tests.conftest import some_slow
from tests.labeler.studies.labelling.test_marking import make_study as make_marks_study
from tests.labeler.studies.ui.clients import Browser, serving
from tests.labeler.studies.ui.pages import reviewer_page
from tests.making import NOW, PARAMETERS, answer_next, id_of, item_name, make_study, saved_answers

OWN, OTHERS = "ada", ("ben", "cleo", "dan")
BESIDE = "{}-beside.study"
ANSWERS = list(SIMILAR.answers)


MARKS = {"similar": "[12]", "dissimilar": "[9, 30]"}  # what stands for a category if points are marked


def as_asked(db, answer):
    """Return the answer that stands for a category in this study."""
    return MARKS.get(answer, answer) if studies.get(db).question.is_marked else answer


@pytest.fixture(scope="module", params=["categories", "marks"])
def masters(tmp_path_factory, request):
    """Two copies of a study as closed files: in the second, others have labelled, and labels were imported."""
    folder = tmp_path_factory.mktemp("worlds")
    alone, together = folder / "alone.study", folder / "together.study"
    make_study(folder / BESIDE.format("alone"), plan=True, name="Beside", created=NOW - timedelta(days=1))
    if request.param == "marks":
        make_marks_study(alone, people=(OWN, *OTHERS), n_items=8)
    else:
        make_study(alone, plan=replace(PARAMETERS, attention=1))
    with open_database(alone) as db:
        for answer in ("similar", "dissimilar", "not sure"):
            answer_next(db, OWN, as_asked(db, answer))
    shutil.copy(alone, together)
    with open_database(together) as db:
        for number, name in enumerate(("ben", "cleo", "ben", "dan")):
            answer_next(db, name, as_asked(db, ANSWERS[number % 3]))
        exchange.import_labels(db, imported(db), actor="carol", now=NOW)
    with open_database(shutil.copy(beside(alone), beside(together))) as db:
        for number, name in enumerate(("ben", "cleo", "dan", "ben")):
            answer_next(db, name, ANSWERS[number % 3])
    return alone, together


def beside(path):
    """The file of the second study on the server of a study."""
    return path.with_name(BESIDE.format(path.stem))


@pytest.fixture
def worlds(masters, tmp_path):
    for path in map(beside, masters):
        shutil.copy(path, tmp_path)
    alone, together = (Path(shutil.copy(path, tmp_path)) for path in masters)
    with open_database(alone) as first, open_database(together) as second:
        yield first, second


@pytest.fixture
def browsers(worlds, monkeypatch):
    """A browser of the same person in each study; all of its requests share one event loop."""
    monkeypatch.setattr(answers, "WORK_PER_S", 1e9)
    found = []
    for db in worlds:
        server = serving(db.path, beside(db.path))
        Browser(server, beside(db.path), "ben")  # who is signed in to the second study
        found.append(Browser(server, db.path, OWN))
    with found[0].client, found[1].client:
        yield found


def imported(db):
    """Labels from another source, some with an event id and some without."""
    rows = [
        {"item": item.name, "reviewer": name, "label": as_asked(db, ANSWERS[(number + place) % 2]), "kind": "third",
         "event_id": event_id}
        for number, item in enumerate(items.all_items(db)[:4])
        for place, (name, event_id) in enumerate(zip(("ben", "zoe"), ("", f"row-{number}"), strict=True))
    ]  # fmt: skip
    return pd.DataFrame(rows)


def probes(together):
    """Event ids and codes that exist, or could exist, for others: from both studies, and guessed from names."""
    guessed = [
        key(0, "imported", item_name(number), name, kind.value, "0", category)
        for number, name, kind, category in product(range(8), (*OTHERS, "zoe"), (Kind.FRESH, Kind.THIRD), CATEGORIES)
    ]
    kept = saved_answers(together)
    of_others = [mark for row in kept if row.reviewer != OWN for mark in (row.label.event_id, row.source_key) if mark]
    own = [row.label.event_id for row in kept if row.reviewer == OWN]
    codes = [code for (code,) in together.execute("SELECT code FROM assignments ORDER BY code")]
    with open_database(beside(together.path)) as db:
        of_others += [row.label.event_id for row in saved_answers(db)]
        codes += [code for (code,) in db.execute("SELECT code FROM assignments ORDER BY code")]
    return [*guessed, *of_others], own, codes


def message(rng, known, own, codes, offered):
    """One hostile message, mostly well formed, so that it reaches code in which others' rows could matter."""
    event_id = rng.choice([rng.choice(known), rng.choice(known), rng.choice(own), f"new-{rng.randrange(10**9)}", "", 7])
    event = {
        "event_id": event_id,
        "code": rng.choice([rng.choice(offered or codes), rng.choice(codes), "ZZZZZZ", "x" * 70]),
        "revision": rng.choice([0, 0, 1, 2, -1, 2**40]),
        "answer": rng.choice([*ANSWERS, *MARKS.values(), "maybe"]),
        "dwell_ms": rng.choice([0, 0, 0, 249, 900, None, "x"]),
    }
    for name in rng.sample(list(event), rng.choice([0, 0, 0, 0, 1])):
        del event[name]
    return event


def replies(browser, event, code):
    """Return the server's replies to a message and to a request for the picture of an item, byte by byte."""
    checks = {"check": [event["event_id"]]} if isinstance(event.get("event_id"), str) else {}
    told = browser.answer(event, **checks)
    picture = browser.client.get(ITEMS, params={"code": code})
    return [(reply.status_code, reply.headers.get("content-length"), reply.content) for reply in (told, picture)]


@pytest.mark.parametrize("n_messages", [60, pytest.param(10_000, marks=pytest.mark.slow)])
def test_the_same_messages_get_the_same_replies_whatever_others_did(worlds, browsers, n_messages):
    alone, together = worlds
    known, own, codes = probes(together)
    rng = random.Random(20261122)
    n_probes = 0
    for number in range(n_messages):
        offered = [task.code for task in reviewing.review_queue(alone, id_of(alone, OWN)).offers]
        event = message(rng, known, own, codes, offered)
        n_probes += event.get("event_id") in known
        code = rng.choice([*offered, rng.choice(codes), "ZZZZZZ"])
        first, second = (replies(browser, event, code) for browser in browsers)
        assert first == second, (number, event, code)
    assert n_probes > n_messages / 5
    assert labels.n_labels(together) > labels.n_labels(alone)
    for world, n in zip(worlds, (0, 4), strict=True):  # nothing reached the second study
        with open_database(beside(world.path)) as db:
            assert labels.n_labels(db) == n


MODULES = sorted(render.__name__.removeprefix("render_") for render in REVIEWER_PAGES.values())
MADE_AT = re.compile(r"made_utc.{1,12}?[0-9]{4}-[0-9-]+T[0-9:.]+\+00:00")  # when a receipt was made


def content(module, db):
    """Return everything that a page sends to a reviewer, without the time at which a receipt was made."""
    page = reviewer_page(module, db.path, OWN, practice_seed=1)
    for toggle in page.toggle:  # shows the receipt
        toggle.set_value(True)
    page.run()
    return [MADE_AT.sub("", str(node.proto)) for part in (page.main, page.sidebar) for node in nodes(part)]


def nodes(block):
    yield block
    for child in getattr(block, "children", {}).values():
        yield from nodes(child)


@pytest.mark.parametrize("is_over", some_slow([False, True], [True]))
@pytest.mark.parametrize("module", MODULES)
def test_every_page_is_the_same_whatever_others_did(worlds, tmp_path, module, is_over):
    alone, together = worlds
    if is_over:
        while reviewing.review_queue(alone, id_of(alone, OWN)).offers:
            answer_next(alone, OWN, as_asked(alone, "similar"))
        alone.backup(tmp_path / "over.study")
        together = open_database(tmp_path / "over.study")
        for name in ("ben", "cleo", "dan"):
            answer_next(together, name, as_asked(together, "similar"))
    with together:
        assert content(module, alone) == content(module, together)


def test_the_page_of_own_labels_with_its_receipt_is_compared(worlds):
    alone, _ = worlds
    before = content("my_labels", alone)
    assert any("labeler receipt" in text for text in before)
    answer_next(alone, OWN, as_asked(alone, "similar"))
    assert content("my_labels", alone) != before


def test_every_address_of_the_review_screen_is_the_same_whatever_others_did(worlds, browsers):
    alone, together = worlds
    codes = [task.code for task in reviewing.review_queue(alone, id_of(alone, OWN)).offers]
    own = [label.task.code for label in reviewing.own_labels(alone, id_of(alone, OWN))]
    of_others = probes(together)[2]
    for path, names in ((answers.STATE, [None]), (ITEMS, [*codes, *own, *of_others, "ZZZZZZ"])):
        for name in names:
            first, second = (browser.client.get(path, params={"code": name} if name else {}) for browser in browsers)
            assert without_token(first) == without_token(second), (path, name)


def without_token(reply):
    """Return the status and the bytes of a reply, without the token of the session, which is random."""
    return reply.status_code, re.sub(rb'"token":"[^"]+"', b"", reply.content)


def test_nobody_can_take_the_event_id_of_an_import_to_come(worlds):
    alone, _ = worlds
    table = imported(alone)
    taken = [key(0, "imported", row.item, row.reviewer, row.kind, "0", row.label) for row in table.itertuples()]
    for event_id in (taken[0], "row-0"):
        task = reviewing.review_queue(alone, id_of(alone, OWN)).offers[0]
        event = {"event_id": event_id, "code": task.code, "revision": task.revision, "dwell_ms": 900}
        event |= {"answer": as_asked(alone, "similar"), "view": {"whole": True}}
        (result,), _ = answering.store_answers(alone, id_of(alone, OWN), [event], clock=lambda: NOW)
        assert result.outcome == "saved"
    assert exchange.import_labels(alone, table, actor="carol", now=NOW).n_new == len(table)
    assert exchange.import_labels(alone, table, actor="carol", now=NOW).n_already_there == len(table)


def test_event_ids_of_imported_labels_cannot_be_worked_out(worlds):
    _, together = worlds
    known, _, _ = probes(together)
    guessed = {mark for mark in known if len(mark) == 64}
    drawn = [row.label.event_id for row in saved_answers(together) if row.source_key in guessed]
    assert len(drawn) == 4
    assert guessed.isdisjoint(drawn)
