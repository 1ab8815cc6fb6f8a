"""A row reports what goes wrong, whatever it is, and the record of answers finds every way to lose one."""

from contextlib import nullcontext
from dataclasses import replace

import pytest

from labeler.studies.store import open_database
from tests.making import answer_next, make_study, saved_answers
from tests.reliability.__main__ import BEGIN, END, as_result, put_table
from tests.reliability.cases import CannotTry, Case, Room, Row, Tally, case, no_wrong, nothing
from tests.reliability.ledger import Ledger, Sent
from tests.reliability.rows import TABLE


def test_every_row_has_a_name_of_its_own():
    names = [*TABLE, *(row.name for _, rows in TABLE.values() for row in rows)]
    assert len(names) == len(set(names))


class World:
    """A world whose accident checks as it goes."""

    def __init__(self):
        self.tally = Tally()


def fails(error):
    def happens(_world):
        raise error

    return happens


ROWS = {
    "nothing was checked": (nothing, [no_wrong], False),
    "a check failed": (lambda world: world.tally.check(False, "lost"), [no_wrong], False),
    "a check was right": (lambda world: world.tally.check(True, "lost"), [no_wrong], True),
    "a count found a problem": (nothing, [lambda _: case("", "1 answer", ["lost"])], False),
    "a count found none": (nothing, [lambda _: case("", "1 answer", [])], True),
    "an error": (fails(AssertionError("no server")), [no_wrong], False),
    "this machine cannot try it": (fails(CannotTry("no root")), [no_wrong], None),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_passes_only_if_it_counted_and_found_nothing(name, tmp_path):
    accident, counts, passed = ROWS[name]
    (found,) = Row(name, lambda _room: nullcontext(World()), accident, counts).cases(Room(tmp_path))
    assert (found.what, found.passed) == (name, passed)


@pytest.fixture
def answered(tmp_path):
    """A study with two answers of one reviewer, and a record of them that is right."""
    path = tmp_path / "answered.study"
    make_study(path, plan=True)
    ledger = Ledger()
    with open_database(path) as db:
        for number in range(2):
            answer_next(db, "ada", ("similar", "dissimilar")[number])
        for one in saved_answers(db):
            event_id = one.label.event_id
            ledger.send(event_id, Sent("ada", one.code, one.label.revision, one.label.answer))
            ledger.acknowledge(event_id)
    return path, ledger


def test_a_right_record_has_no_faults(answered):
    path, ledger = answered
    ledger.check(path)
    assert ledger.faults == {}


def lose(ledger, event_id):
    ledger.send("x" * 32, ledger.sent[event_id])
    ledger.acknowledge("x" * 32)


def never_send(ledger, event_id):
    del ledger.sent[event_id]


def refuse(ledger, event_id):
    ledger.refused[event_id] = "no"


def change(ledger, event_id):
    ledger.sent[event_id] = replace(ledger.sent[event_id], answer="not sure")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (lose, "acknowledged, but not in the file"), (never_send, "in the file, but never sent"),
        (refuse, "refused, but in the file"), (change, "in the file otherwise than sent"),
    ],
)  # fmt: skip
def test_each_way_to_lose_an_answer_is_found(answered, fault, words):
    path, ledger = answered
    fault(ledger, next(iter(ledger.sent)))
    ledger.check(path)
    assert any(words in found for found in ledger.faults)


def test_the_page_keeps_the_tables_of_other_groups(tmp_path):
    page = tmp_path / "page.md"
    old = "### `python -m tests.reliability access`\n\nold figures"
    page.write_text(f"before\n{BEGIN}\n\n### `python -m tests.reliability kills`\n\nold\n\n{old}\n\n{END}\nafter\n")
    put_table(page, {"kills": as_result([Case("killed", "1 | 2", True)], 1.0)})
    text = page.read_text()
    assert text.startswith(f"before\n{BEGIN}\n\n### `python -m tests.reliability kills`\n\nDuration: 1 s.")
    assert "| killed | 1 / 2 | PASS |" in text
    assert text.endswith(f"{old}\n\n{END}\nafter\n")
