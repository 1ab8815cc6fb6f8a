"""How suites end: the share of simulated suites with exit code 0, 1 and 3, by design, runs and size of the suite.

    python -m tests.performance.check_outcomes [--suites 100] [--minutes 20]

Writes docs/results/check.md, and stores each cell beside it, so that the next call simulates only missing cells. Runs
differ by 1 %. With a shared state, the speed of the machine also changes: its deviation is 2 % and its correlation from
one run to the next is 0.9; in sessions, each session has its own state. In changed suites, the first benchmark is
slower. Detectable changes are computed by normal theory here, which is quicker; no benchmark is too noisy to judge.
"""

import json
import time
from collections import Counter
from typing import Any

import numpy as np

from analysis.methods.check import Rules, _changes, check
from analysis.runs.benchmark import TIME, Benchmark
from tests.performance.check_cells import places_of, walk
from tests.performance.measuring import RESULTS, options, table, write_page

DESIGNS = (
    "by turns, shared state", "in blocks, own noise", "in blocks, shared state", "five sessions", "without times",
)  # fmt: skip
CHANGES = (0.0, 0.05, 0.2, 1.0)
N_RUNS, SIZES = (5, 10), (1, 5, 20)
STORE = RESULTS / "check.json"
HEAD = """# How suites end

The percentage of simulated suites of unchanged benchmarks, and of suites in which one benchmark became slower, that end
with exit code 0, 1 and 3. `python -m tests.performance.check_outcomes` writes this page and describes the simulation.\
"""


def states(design: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the times and the state of the machine in each run, shapes (2, n): baseline and candidate."""
    if design == "five sessions":
        session = np.arange(n) * 5 // n
        places = 1000 * (2 * session + np.array([[0], [1]])) + np.arange(n)
        return places, rng.normal(0, 0.02, (2, 5))[:, session]
    places, shared = places_of(n, is_by_turns=design.startswith("by turns")), walk(2 * n, rng)
    return places, shared[places] if "shared" in design else np.zeros((2, n))


def suite(design: str, n: int, k: int, change: float, rng: np.random.Generator) -> tuple[list[Benchmark], ...]:
    """Return the benchmarks of baseline and candidate."""
    places, state = states(design, n, rng)
    sides = []
    for side in (0, 1):
        conditions = {} if design == "without times" else {TIME: tuple(map(str, places[side]))}
        values = (1 + state[side]) * (1 + rng.normal(0, 0.01, (k, n)))
        values[0] *= 1 + change * side
        sides.append(
            [Benchmark.of_series(f"b{i}", row[:, None], conditions=conditions) for i, row in enumerate(values)]
        )
    return tuple(sides)


def main() -> None:
    """Simulate the cells that are still missing, the unchanged suites first, until the time is over; write the page."""
    given = options(__doc__, suites=(100, "simulated suites per cell"), minutes=(20, "until the page is written"))
    _changes.MAX_RESAMPLED = 0
    end = time.monotonic() + 60 * given.minutes
    known: dict[str, list[int]] = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    sizes = [(design, n, k) for design in DESIGNS for n in N_RUNS for k in SIZES]
    for change in CHANGES:
        for design, n, k in sizes:
            name = _name(design, n, k, change)
            if name in known or time.monotonic() > end:
                continue
            rng = np.random.default_rng([n, k, DESIGNS.index(design), int(100 * change)])
            outcomes: Counter[int] = Counter()
            for _ in range(given.suites):
                before, after = suite(design, n, k, change, rng)
                outcomes[check(after, before, Rules(), explain=False).outcome] += 1
            known[name] = [outcomes[code] for code in (0, 1, 3)]
    STORE.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    rows: list[dict[str, Any]] = []
    for design, n, k in sizes:
        ends = {
            f"+{100 * change:g} %" if change else "unchanged": _cell(known.get(_name(design, n, k, change)))
            for change in CHANGES
        }
        rows.append({"measured": design, "runs": n, "benchmarks": k} | ends)
    write_page("check", HEAD, table(rows), "The number of suites is in parentheses.")


def _name(design: str, n: int, k: int, change: float) -> str:
    return f"{design}; {n} runs; {k} benchmarks; +{100 * change:g} %"


def _cell(outcomes: list[int] | None) -> str:
    if outcomes is None:
        return "–"
    n = sum(outcomes)
    return f"{' / '.join(f'{100 * each / n:.0f}' for each in outcomes)} ({n})"


if __name__ == "__main__":
    main()
