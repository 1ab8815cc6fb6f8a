"""The addresses under which other machines can reach this one."""

import ipaddress
import socket
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

import psutil

# The interfaces of containers and virtual machines, whose addresses no other machine can reach.
INTERNAL = ("docker", "br-", "veth", "virbr", "vmnet", "vboxnet", "lxc", "podman")


def addresses(interfaces: Mapping[str, Sequence[Any]] | None = None) -> list[str]:
    """Return the IPv4 addresses of this machine in its networks, without those of containers and of the machine itself.

    `interfaces` are by default the interfaces of this machine, as psutil returns them.
    """
    found = psutil.net_if_addrs() if interfaces is None else interfaces
    hosts = [
        str(entry.address)
        for name, entries in sorted(found.items())
        for entry in entries
        if entry.family == socket.AF_INET and not name.startswith(INTERNAL)
    ]
    return [host for host in hosts if not ipaddress.ip_address(host).is_loopback]


def is_of_this_machine_only(host: str | None) -> bool:
    """Return whether a host name leads every machine to itself.

    Examples
    --------
    >>> [is_of_this_machine_only(host) for host in ("127.0.0.1", "localhost", "::1", "192.168.1.5", None)]
    [True, True, True, False, False]
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


def qr_text(url: str) -> str:
    """Return a QR code for a terminal, made of half blocks for a dark ground."""
    import segno  # most commands draw none

    drawn = StringIO()
    segno.make(url, micro=False).terminal(drawn, compact=True)
    return drawn.getvalue().rstrip("\n")


def qr_svg(url: str) -> str:
    """Return a QR code as SVG on a white ground."""
    import segno

    return segno.make(url, micro=False).svg_inline(scale=4, light="#ffffff")
