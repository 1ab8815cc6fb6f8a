"""How often a check is wrong, and how often it finds a change, in the situations that its design is made for.

    python -m tests.performance.check_cells [--suites 100]

Writes docs/results/check-cells.md. Each suite has 20 benchmarks, and each run differs by 1 % (lognormal), unless a
table says otherwise. A *shared state* is common to all benchmarks and follows an autoregressive process from one run to
the next (correlation 0.9, deviation 2 %); if it is felt *unequally*, each benchmark multiplies it by a factor from 0 to
2. A *wave* is a sine of 5 % with a period of 20 runs. In changed suites, the first benchmark is slower.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from analysis.methods.check import FOUND, Check, Rules, _changes, check
from analysis.runs.benchmark import TIME, Benchmark
from analysis.runs.comparison import IN_SPREAD
from tests.performance.measuring import options, table, write_page

N_BENCHMARKS = 20
N_RUNS = (5, 10, 30)
SPREADS = (  # name, shape of the gamma distribution of the noise, spread of the candidate / spread of the baseline
    ("nearly normal, same spread", 100.0, 1.0), ("nearly normal, 3 times the spread", 100.0, 3.0),
    ("skewed (gamma 4), 3 times the spread", 4.0, 3.0), ("very skewed (exponential), 3 times the spread", 1.0, 3.0),
)  # fmt: skip
HEAD = """# How often is the check wrong in difficult situations?

Shares of simulated suites of 20 benchmarks, in percent. *False alarm* is the share of unchanged suites that end with
exit code 1, and *undecided* the share that ends with 3. *Found* is the share of suites in which the changed benchmark
is a finding. `python -m tests.performance.check_cells` writes this page and describes the simulation. With 100 suites,
a true share of 5 % appears as 1 to 9 %."""
Sides = tuple[list[Benchmark], list[Benchmark]]
Rows = Iterator[dict[str, Any]]
Draw = Callable[[np.random.Generator, float], Sides]  # the size of the change -> baseline and candidate


def state(n: int, rng: np.random.Generator, kind: str) -> np.ndarray:
    """Return the state of the machine in n runs, one after the other."""
    if kind == "wave":
        return 0.05 * np.sin(2 * np.pi * (np.arange(n) / 20 + rng.random()))
    return np.zeros(n) if kind == "own noise" else walk(n, rng)


def walk(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return an autoregressive process: correlation 0.9, deviation 2 %."""
    states = np.empty(n)
    states[0] = rng.normal(0, 0.02)
    for at in range(1, n):
        states[at] = 0.9 * states[at - 1] + rng.normal(0, 0.02 * np.sqrt(1 - 0.81))
    return states


def places_of(n: int, *, is_by_turns: bool) -> np.ndarray:
    """Return the places of the runs in time, shape (2, n): baseline and candidate."""
    slots = np.arange(2 * n)
    return slots.reshape(n, 2).T if is_by_turns else slots.reshape(2, n)


def suite(n: int, kind: str, *, is_by_turns: bool) -> Draw:
    def draw(rng: np.random.Generator, change: float) -> Sides:
        places = places_of(n, is_by_turns=is_by_turns)
        states = state(2 * n, rng, kind)
        felt = rng.uniform(0, 2, N_BENCHMARKS) if "unequally" in kind else np.ones(N_BENCHMARKS)
        return sides_of([np.outer(felt, states[place]) for place in places], list(places), rng, change)

    return draw


def sessions(n_sessions: int) -> Draw:
    """Return a function that draws suites of sessions of five runs, in which the versions take turns."""

    def draw(rng: np.random.Generator, change: float) -> Sides:
        states = rng.normal(0, 0.02, (2, n_sessions)).repeat(5, axis=1)
        first = np.arange(n_sessions).repeat(5) * 2000.0 + np.tile(np.arange(5), n_sessions)
        return sides_of([np.tile(row, (N_BENCHMARKS, 1)) for row in states], [first, first + 1000], rng, change)

    return draw


def sides_of(
    states: Sequence[np.ndarray], places: Sequence[np.ndarray], rng: np.random.Generator, change: float
) -> Sides:
    """Return benchmarks with this state of the machine, measured at these places."""
    sides = []
    for side, (of_side, place) in enumerate(zip(states, places, strict=True)):
        logs = of_side + rng.normal(0, 0.01, of_side.shape)
        logs[0] += np.log1p(change * side)
        sides.append(benchmarks(np.exp(logs), tuple(map(str, place))))
    return sides[0], sides[1]


def benchmarks(values: np.ndarray, times: tuple[str, ...] | None = None) -> list[Benchmark]:
    """Return benchmarks with one number per run, in seconds."""
    conditions = {} if times is None else {TIME: times}
    return [
        Benchmark.of_series(f"b{at}", row[:, None], unit="s", conditions=conditions) for at, row in enumerate(values)
    ]


def rounded(n: int, step: float) -> Draw:
    """Return a function that draws suites whose timer has a step, in standard deviations of the runs."""

    def draw(rng: np.random.Generator, change: float) -> Sides:
        size = step * 0.01
        before, after = (rng.uniform(1, 2, (N_BENCHMARKS, 1)) + np.zeros((N_BENCHMARKS, n)) for _ in range(2))
        after = before.copy()
        after[0] *= 1 + change
        noisy = [side + rng.normal(0, 0.01, side.shape) for side in (before, after)]
        return benchmarks(np.round(noisy[0] / size) * size), benchmarks(np.round(noisy[1] / size) * size)

    return draw


def spread(n: int, factor: float, shape: float) -> Draw:
    """Return a function that draws suites whose candidate has skewed noise of another size, with equal means."""

    def draw(rng: np.random.Generator, _change: float) -> Sides:
        noise = [(rng.gamma(shape, 1, (N_BENCHMARKS, n)) - shape) / shape**0.5 for _ in range(2)]
        before, after = 1 + 0.01 * noise[0], 1 + 0.01 * factor * noise[1]
        return benchmarks(before), benchmarks(after)

    return draw


def results(draw: Draw, change: float, n_suites: int, seed: int) -> list[Check]:
    rng = np.random.default_rng([seed, int(1000 * change)])
    pairs = [draw(rng, change) for _ in range(n_suites)]
    return [check(after, before, Rules(), explain=False) for before, after in pairs]


def share(checks: Sequence[Check], holds: Callable[[Check], bool]) -> int:
    """Return the percentage of checks for which something holds."""
    return round(100 * sum(map(holds, checks)) / len(checks))


def is_alarm(one: Check) -> bool:
    """Return whether a check has findings."""
    return one.outcome == FOUND


def is_undecided(one: Check) -> bool:
    """Return whether a check is inconclusive."""
    return one.outcome not in (0, FOUND)


def is_found(one: Check) -> bool:
    """Return whether the first benchmark is a finding."""
    return one.changes[0].is_finding


def outcomes(draw: Draw, n_suites: int, seed: int, *changes: float) -> dict[str, int]:
    """Return the shares of unchanged suites that end otherwise than with 0, and of suites whose change is found."""
    unchanged = results(draw, 0.0, n_suites, seed)
    ends = {"false alarm": share(unchanged, is_alarm), "undecided": share(unchanged, is_undecided)}
    return ends | {
        f"+{100 * change:.0f} % found": share(results(draw, change, n_suites // 2, seed), is_found)
        for change in changes
    }


def designs(n_suites: int) -> Rows:
    kinds = ("own noise", "shared state", "wave", "shared state, unequally")
    for is_by_turns in (True, False):
        for n in N_RUNS:
            for at, kind in enumerate(kinds):
                draw = suite(n, kind, is_by_turns=is_by_turns)
                name = f"{'by turns' if is_by_turns else 'in blocks'}, {kind}"
                yield {"measured": name, "runs": n, **outcomes(draw, n_suites, at, 0.02, 0.05)}


def of_sessions(n_suites: int) -> Rows:
    for n in (2, 3, 4, 5):
        yield {"sessions of each version": str(n), **outcomes(sessions(n), n_suites, n, 0.1)}


def timers(n_suites: int) -> Rows:
    """Yield the rows of the table of coarse timers."""
    for step in (1.0, 3.0, 10.0):
        for n in (3, 5, 10):
            ends = outcomes(rounded(n, step), n_suites, n, 0.2)
            del ends["undecided"]
            yield {"step of the timer": f"{step:g} standard deviations", "runs": n, **ends}


def spreads(n_suites: int) -> Rows:
    for name, shape, factor in SPREADS:
        for n in N_RUNS:
            checks = results(spread(n, factor, shape), 0.0, n_suites, n)
            wrong = share(checks, lambda one: any(change.has_changed for change in one.changes))
            named = share(checks, lambda one: any(change.outcome == IN_SPREAD for change in one.changes))
            yield {"noise": name, "runs": n, "any slower or faster": wrong, "any changed in spread": named}


TABLES: dict[str, Callable[[int], Rows]] = {
    "Design of the measurements": designs, "Sessions": of_sessions, "Coarse timers": timers,
    "A changed spread": spreads,
}  # fmt: skip


def main() -> None:
    """Simulate all cells and write the page."""
    n_suites = options(__doc__, suites=(100, "simulated suites per cell")).suites
    _changes.MAX_RESAMPLED = 0  # normal theory is quicker, and decides nothing here
    parts = [HEAD]
    for title, rows in TABLES.items():
        parts += [f"## {title}", table(list(rows(n_suites)))]
        write_page("check-cells", *parts)


if __name__ == "__main__":
    main()
