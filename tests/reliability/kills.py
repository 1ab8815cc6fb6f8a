"""Kill reviewers' processes, coordinators' processes and the whole server at random moments while people label.

    python -m tests.reliability.kills [--transactions N] [--servers N] [--clients N] [--pages N] [--seed N]

A kill is SIGKILL: the process cannot close or write anything. A killed process is started again and sends
unacknowledged answers again with the same id, as the browser does. After every kill, each acknowledged answer is in the
file exactly once, and no unsent answer is. From time to time, and at the end, the file is sound and the plan verifies.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.reliability import _outages, _transactions
from tests.reliability.outcome import Case, main, parser


def run(options: argparse.Namespace) -> Iterator[Case]:
    """Yield both kinds of kills, each in a separate study."""
    with tempfile.TemporaryDirectory() as folder:
        if options.transactions:
            yield from _transactions.cases(Path(folder), options.transactions, options.seed)
        if options.servers:
            yield from _outages.cases(Path(folder), options.servers, options.clients, options.pages, options.seed)


def _options() -> argparse.ArgumentParser:
    made = parser(__doc__)
    made.add_argument("--transactions", type=int, default=1000, help="kills of processes that label")
    made.add_argument("--servers", type=int, default=50, help="kills of the server")
    made.add_argument("--clients", type=int, default=8, help="reviewers who label over the websocket")
    made.add_argument("--pages", type=int, default=2, help="reviewers who press keys in a real browser")
    made.add_argument("--seed", type=int, default=1)
    return made


if __name__ == "__main__":
    main(_options(), run)
