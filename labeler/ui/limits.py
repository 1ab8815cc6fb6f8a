"""How often a client may try a wrong sign-in link."""

import ipaddress
import time
from collections import OrderedDict, deque
from collections.abc import Callable

N_WRONG = 10
WITHIN_S = 60.0
MAX_CLIENTS = 10_000  # bounds the memory that strangers can take


class WrongSignIns:
    """Counts wrong sign-ins by client address; a client with too many waits, whatever it tries next.

    Parameters
    ----------
    clock : callable
        Seconds that only go forward.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._times: OrderedDict[str, deque[float]] = OrderedDict()  # by client, the one seen last at the end

    def wait_s(self, address: str) -> float:
        """How long this client has to wait until it may try again; 0 if it may now."""
        times = self._times.get(_client(address))
        if times is None or len(times) < N_WRONG:
            return 0.0
        return max(0.0, times[0] + WITHIN_S - self._clock())

    def note(self, address: str) -> None:
        """Count a wrong one."""
        client = _client(address)
        self._times.setdefault(client, deque(maxlen=N_WRONG)).append(self._clock())
        self._times.move_to_end(client)
        if len(self._times) > MAX_CLIENTS:
            self._times.popitem(last=False)


def _client(address: str) -> str:
    """An IPv6 client has a whole network of addresses to come from: its first 64 bits."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((parsed, 64), strict=False)) if parsed.version == 6 else str(parsed)
