"""The addresses of this machine."""

import socket
from types import SimpleNamespace

from labeler import network


def entry(address, family=socket.AF_INET):
    return SimpleNamespace(address=address, family=family)


def test_addresses_that_other_machines_can_reach_are_found_and_no_others():
    interfaces = {
        "wlan0": [entry("192.168.1.5"), entry("fe80::1", socket.AF_INET6)],
        "lo": [entry("127.0.0.1")],
        "docker0": [entry("172.17.0.1")],
        "eth0": [entry("10.0.0.2"), entry("00:11:22:33:44:55", socket.AF_UNSPEC)],
    }
    assert network.addresses(interfaces) == ["10.0.0.2", "192.168.1.5"]
    assert network.addresses({}) == []


def test_a_code_in_a_terminal_and_on_a_page_are_drawn_on_their_ground_and_say_the_address():
    first, second = (f"http://192.168.1.{number}:8501" for number in (5, 6))
    text = network.qr_text(first).splitlines()
    assert {len(line) for line in text} == {33}  # version 2 of the code, 25 x 25, within a quiet zone of 4
    assert len(text) == 17  # two rows in each line
    assert set("".join(text)) == set("█▀▄ ")
    assert network.qr_text(second).splitlines() != text
    assert 'fill="#fff"' in network.qr_svg(first)
