"""The rate limit of failed sign-ins."""

from io import StringIO

import pytest

from labeler.studies.ui import limits
from labeler.studies.ui.limits import MAX_CLIENTS, N_WRONG, WITHIN_S, WrongSignIns


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def wrong(clock):
    return WrongSignIns(clock)


def note(wrong, address, times):
    for _ in range(times):
        wrong.note(address)


def test_a_client_may_be_wrong_a_few_times_and_then_waits_until_the_first_is_a_minute_ago(wrong, clock):
    note(wrong, "192.0.2.1", N_WRONG - 1)
    assert wrong.wait_s("192.0.2.1") == 0
    clock.now += 20
    note(wrong, "192.0.2.1", 1)
    assert wrong.wait_s("192.0.2.1") == WITHIN_S - 20
    clock.now += WITHIN_S - 20
    assert wrong.wait_s("192.0.2.1") == 0
    note(wrong, "192.0.2.1", N_WRONG - 1)  # with the attempt of 40 s ago, there are ten within a minute again
    assert wrong.wait_s("192.0.2.1") == 20


def test_wrong_ones_spread_over_time_make_nobody_wait(wrong, clock):
    for _ in range(3 * N_WRONG):
        note(wrong, "192.0.2.1", 1)
        assert wrong.wait_s("192.0.2.1") == 0
        clock.now += WITHIN_S / (N_WRONG - 2)


def test_others_do_not_wait(wrong):
    note(wrong, "192.0.2.1", N_WRONG)
    assert wrong.wait_s("192.0.2.2") == wrong.wait_s("") == wrong.wait_s("a name") == 0


def test_an_ipv6_client_cannot_move_within_its_network(wrong):
    for number in range(N_WRONG):
        wrong.note(f"2001:db8:0:1::{number:x}")
    assert wrong.wait_s("2001:db8:0:1:ffff::1") == WITHIN_S
    assert wrong.wait_s("2001:db8:0:2::1") == 0


def test_strangers_with_many_addresses_take_bounded_memory(wrong, monkeypatch):
    monkeypatch.setattr(limits, "MAX_CLIENTS", 50)
    for number in range(200):
        wrong.note(f"192.0.2.{number}")
    assert len(wrong._times) == 50
    assert MAX_CLIENTS >= 1000


def test_the_log_leaves_out_what_is_repeated_and_says_how_much():
    stream, clock = StringIO(), Clock()
    log = limits.BoundedLog(stream, clock)
    for number in range(10_000):
        log.write(f"fault {number} at 0x{number:x}\n")
    log.write("something else\n")
    lines = stream.getvalue().splitlines()
    assert lines == [*(f"fault {n} at 0x{n:x}" for n in range(limits.MAX_REPEATS)), "something else"]
    clock.now += limits.LOG_PERIOD_S
    log.write("fault 7\n")
    left_out = 10_000 - limits.MAX_REPEATS
    assert stream.getvalue().splitlines()[-2:] == [
        f"{left_out} more log records were left out, most of them repetitions.",
        "fault 7",
    ]


@pytest.mark.slow
def test_no_fault_fills_the_log_with_more_than_a_megabyte_per_minute():
    stream, clock = StringIO(), Clock()
    log = limits.BoundedLog(stream, clock)
    for number in range(10_000):
        log.write("".join(chr(ord("g") + int(digit)) for digit in str(number)) + " " + "x" * 500 + "\n")
    assert 10_000 < len(stream.getvalue()) <= limits.MAX_LOG_BYTES
