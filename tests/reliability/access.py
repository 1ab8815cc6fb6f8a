"""Test who gets access to what on a real server: strangers, reviewers, tampered messages, other sites, files, traces.

    python -m tests.reliability.access [--mutations 2000] [--json FILE]
    python -m tests.reliability.access --quick --mutations 100   (short)

The server is `labeler serve` in a separate process. Everything is sent to it byte by byte, without a browser, from
several addresses of this machine. Each group prints one line: the number of attempts and the number of wrong results.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.reliability import _files, _reviewers, _sites, _strangers, _tampering, _traces, outcome
from tests.reliability._ground import Ground, ground
from tests.reliability.outcome import Case

Group = Callable[[Ground], Iterator[Case]]


def groups(n_mutations: int, *, quick: bool) -> dict[str, Group]:
    """Return all groups by name, in the required order: the last group stops the server."""
    return {
        "strangers": partial(_strangers.strangers, quick=quick),
        "signing in": partial(_strangers.signing_in, quick=quick),
        "reviewers": partial(_reviewers.reviewers, quick=quick),
        "tampering": partial(_tampering.cases, quick=quick, n_mutations=n_mutations),
        "other sites": _sites.other_sites,
        "sessions": partial(_reviewers.sessions, quick=quick),
        "files": partial(_files.cases, quick=quick),
        "traces": partial(_traces.cases, quick=quick),
    }


def run(options: argparse.Namespace) -> Iterator[Case]:
    with tempfile.TemporaryDirectory() as folder, ground(Path(folder)) as one:
        for cases in groups(options.mutations, quick=options.quick).values():
            yield from cases(one)


if __name__ == "__main__":
    made = outcome.parser(__doc__)
    made.add_argument("--mutations", type=int, default=2000, help="messages changed at random [default: 2000]")
    made.add_argument("--quick", action="store_true", help="a part of the cases of each group")
    outcome.main(made, run)
