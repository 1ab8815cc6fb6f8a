"""Test dependencies and operation: licences, bounds and pins; behind a proxy; SIGTERM; installed from a wheel.

    python -m tests.reliability.supply [--quick] [--json FILE]

`--quick` starts no server. pip builds a wheel and downloads the build backend if its cache has none; if this fails, the
case says so.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.reliability import _declared, _running, outcome
from tests.reliability.outcome import Case


def run(options: argparse.Namespace) -> Iterator[Case]:
    yield from (case() for case in _declared.CASES)
    if options.quick:
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in ("proxy", "stopping", "wheel"):
            (Path(folder) / name).mkdir()
        yield from _running.behind_a_proxy(_running.Site(Path(folder) / "proxy"))
        yield from _running.stopping(_running.Site(Path(folder) / "stopping"))
        yield from _running.from_a_wheel(Path(folder) / "wheel")


if __name__ == "__main__":
    made = outcome.parser(__doc__)
    made.add_argument("--quick", action="store_true", help="without starting a server")
    outcome.main(made, run)
