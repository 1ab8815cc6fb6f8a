"""Measure how often each detector of `labeler trend` finds a change, and how often it finds one that is not there.

    python -m tests.performance.trend [--histories N]

Simulates histories of 40 versions with independent normal noise of 1 %: without a change, and with a change of the
level at a random version from 8 to 32. A change is found if a mark is at most 2 versions from it; a mark further away
is false. Writes docs/results/trend.md.
"""

from time import process_time
from typing import Any

import numpy as np

from analysis.methods.points import DETECTORS
from tests.performance.measuring import options, table, write_page

N_VERSIONS, NOISE, MARGIN = 40, 0.01, 2
SIZES = (0.01, 0.02, 0.05, 0.1)
HEAD = f"""# Detectors of `labeler trend`

{{n}} simulated histories without a change and {{n}} with a change of each size: {N_VERSIONS} versions, independent
normal noise of {100 * NOISE:g} %, one change at a random version from 8 to 32. A change is found if a mark is at most
{MARGIN} versions from it. `python -m tests.performance.trend` writes this page."""


def measured(name: str, n: int) -> dict[str, Any]:
    """Return the row of a detector."""
    rng = np.random.default_rng(1)
    begun = process_time()
    false = sum(bool(DETECTORS[name](rng.normal(1, NOISE, N_VERSIONS))) for _ in range(n))
    row, beside = {"Detector": name, "False change": f"{false} of {n}"}, 0
    for size in SIZES:
        found = 0
        for _ in range(n):
            place = int(rng.integers(8, 33))
            levels = np.where(np.arange(N_VERSIONS) < place, 1, 1 + size)
            marks = DETECTORS[name](levels * rng.normal(1, NOISE, N_VERSIONS))
            near = [abs(mark - place) <= MARGIN for mark in marks]
            found += any(near)
            beside += not all(near)
        row[f"{100 * size:g} % found"] = f"{100 * found / n:.0f} %"
    each = 1000 * (process_time() - begun) / (n * (1 + len(SIZES)))
    return row | {
        "False mark beside a change": f"{beside} of {n * len(SIZES)}", "Processor time per history": f"{each:.1f} ms",
    }  # fmt: skip


if __name__ == "__main__":
    n = options(__doc__, histories=(200, "of each kind")).histories
    write_page("trend", HEAD.format(n=n), table([measured(name, n) for name in DETECTORS]))
