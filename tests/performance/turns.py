"""How the order of the runs protects a check against a machine that becomes slower while it measures.

    python -m tests.performance.turns [--suites 100]

Writes docs/results/turns.md. The 20 benchmarks of a suite are unchanged, and each run differs by 1 % (lognormal). The
machine becomes slower by a share that grows linearly from the first to the last run.
"""

from typing import Any

import numpy as np

from analysis.methods.check import Rules
from analysis.methods.check._changes import test_suites
from tests.performance.check_cells import N_BENCHMARKS
from tests.performance.detectable import benchmarks, suite_of
from tests.performance.measuring import options, table, write_page

DRIFTS, N_RUNS = (0.0, 0.04, 0.08, 0.15), (5, 10)
PAIRS, RANDOM = (2,), ()
RECIPES = {
    "old, new, old, new": (0, 1),
    "old, new, new, old": (0, 1, 1, 0),
    "random within each pair": PAIRS,
    "random": RANDOM,
}
HEAD = """# Order of the runs on a machine that drifts

Suites of 20 unchanged benchmarks, measured while the machine becomes slower by a share in all. *False findings* is the
percentage of suites in which any benchmark is a finding (`--min-change 0`); at most 5 are meant. *Coverage* is the
percentage of 95 % intervals of changes that contain 0 %, the true change. `python -m tests.performance.turns` writes
this page. With 100 suites, a true share of 5 % appears as 1 to 9 %."""
READ = """In strict alternation, each run is compared with its neighbours, which takes the drift out; pairs of runs
would show it as a change. A completely random order does not protect a suite: one version is often early as a whole,
and the drift moves all benchmarks together."""


def cell(order: tuple[int, ...], n: int, drift: float, n_suites: int) -> tuple[float, float]:
    """Return the share of suites with a false finding, and the share of intervals that contain 1."""
    rng = np.random.default_rng([len(order), n, round(100 * drift)])
    state = np.linspace(0, np.log1p(drift), 2 * n)
    suites = []
    for _ in range(n_suites):
        sides = np.resize(order, 2 * n)
        if order == PAIRS:
            first = rng.integers(0, 2, n)
            sides = np.column_stack([first, 1 - first]).ravel()
        elif order == RANDOM:
            sides = rng.permutation(np.repeat((0, 1), n))
        places = [np.flatnonzero(sides == side) for side in (0, 1)]
        logs = [state[place] + rng.normal(0, 0.01, (N_BENCHMARKS, n)) for place in places]
        unchanged = np.zeros(N_BENCHMARKS)
        suites.append(suite_of((benchmarks(logs[0], unchanged, places[0]), benchmarks(logs[1], unchanged, places[1]))))
    tested = [suite.changes for suite in test_suites(suites, Rules(min_change=0.0))]
    false = [any(change.is_finding for change in changes) for changes in tested]
    ends = [change.ratio.ends for changes in tested for change in changes]
    return float(np.mean(false)), float(np.mean([low <= 1 <= high for _ratio, low, high in filter(None, ends)]))


def main() -> None:
    """Simulate all cells and write the page."""
    n_suites = options(__doc__, suites=(100, "simulated suites per cell")).suites
    tables: dict[str, list[dict[str, Any]]] = {"False findings": [], "Coverage": []}
    for recipe, order in RECIPES.items():
        for n in N_RUNS:
            cells = {f"{100 * drift:.0f} %": cell(order, n, drift, n_suites) for drift in DRIFTS}
            for at, rows in enumerate(tables.values()):
                shares = {f"drift {drift}": f"{100 * both[at]:.0f}" for drift, both in cells.items()}
                rows.append({"order": recipe, "runs": n} | shares)
    parts = [text for title, rows in tables.items() for text in (f"## {title}", table(rows))]
    write_page("turns", HEAD, *parts, READ)


if __name__ == "__main__":
    main()
