"""Whose work comes next."""

import asyncio
import threading

import pytest

from labeler.studies.ui.turns import TooManyWaiting, Turns
from tests.conftest import completed


async def _in_turn(turns, order, person, work, *, urgent=False):
    async with turns.coming_turn(person, urgent=urgent):
        order.append((person, work))
        await asyncio.sleep(0)


def done_by(turns, *pieces):
    """Let all pieces of work (person, work, urgent) arrive at once; return them in the order of their turns."""
    order = []

    async def run():
        async with asyncio.TaskGroup() as group:
            for person, work, urgent in pieces:
                group.create_task(_in_turn(turns, order, person, work, urgent=urgent))

    completed(run())
    return order


def test_somebody_with_much_work_does_not_delay_the_others():
    hostile = [("eve", n, False) for n in range(10)]
    order = done_by(Turns(1, 50), *hostile, ("ada", 0, False), ("ben", 0, False), ("ada", 1, False))
    assert order[:5] == [("eve", 0), ("ada", 0), ("ben", 0), ("eve", 1), ("ada", 1)]
    assert [work for person, work in order if person == "eve"] == list(range(10))


def test_a_person_has_one_piece_of_work_at_a_time_however_many_turns_are_free():
    at_work, most = set(), []

    async def work(turns, person):
        async with turns.coming_turn(person):
            assert person not in at_work
            at_work.add(person)
            most.append(len(at_work))
            await asyncio.sleep(0.001)
            at_work.remove(person)

    async def run():
        turns = Turns(2, 50)
        await asyncio.gather(*(work(turns, person) for person in "abcab" for _ in range(4)))

    completed(run())
    assert max(most) == 2


def test_answers_go_before_pictures_of_the_same_person():
    order = done_by(Turns(1, 50), ("ada", "first", False), ("ada", "picture", False), ("ada", "answer", True))
    assert [work for _, work in order] == ["first", "answer", "picture"]


def test_too_much_waiting_work_is_refused_and_that_of_others_is_not():
    turns = Turns(1, 2)

    async def run():
        async with turns.coming_turn("eve"):
            waiting = [asyncio.create_task(_in_turn(turns, [], "eve", n)) for n in range(2)]
            await asyncio.sleep(0)
            with pytest.raises(TooManyWaiting):
                await _in_turn(turns, [], "eve", 3)
            others = asyncio.create_task(_in_turn(turns, [], "ada", 0))
        await asyncio.gather(*waiting, others)

    completed(run())


def test_work_that_nobody_waits_for_any_more_takes_no_turn():
    turns, order = Turns(1, 50), []

    async def run():
        async with turns.coming_turn("eve"):
            left = asyncio.create_task(_in_turn(turns, order, "ada", "left"))
            stays = asyncio.create_task(_in_turn(turns, order, "ben", "stays"))
            await asyncio.sleep(0)
            left.cancel()
        await stays

    completed(run())
    assert order == [("ben", "stays")]


def test_threads_wait_for_their_turn_too():
    turns, order = Turns(1, 50), []

    def work(person):
        with turns.turn(person):
            order.append(person)

    with turns.turn("eve"):
        threads = [threading.Thread(target=work, args=(person,)) for person in ("eve", "ada")]
        for thread in threads:
            thread.start()
        assert order == []
    for thread in threads:
        thread.join(10)
    assert sorted(order) == ["ada", "eve"]
