"""How often a check finds a change of the size that it calls detectable.

    python -m tests.performance.detectable [--suites 60]

Writes docs/results/detectable.md. Each cell simulates suites of unchanged benchmarks, takes the detectable changes that
`labeler check` states for them, and measures each suite again: five times, in which one benchmark has changed by the
size that was stated for it. Runs differ by 1 % (lognormal), unless the noise says otherwise.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from analysis.methods.check import Rules
from analysis.methods.check._changes import detectable_changes_of, test_suites
from analysis.methods.check._sides import BothSides, compare_sides, levels_of, with_steps
from analysis.runs.benchmark import EVERY_ITERATION, TIME, Benchmark
from tests.performance.check_cells import walk
from tests.performance.measuring import options, table, write_page

N_RUNS, SIZES, N_AGAIN = (3, 5, 10, 20), (1, 20), 5
HEAD = """# Is a detectable change detected?

`labeler check` states the smallest change that the same numbers of runs would detect with a probability of 80 %. The
tables show how often a change of that size is found, in percent, and in parentheses the median of the stated changes.
`python -m tests.performance.detectable` writes this page and describes the simulation; `--suites` is the number of
suites per cell (twice as many of one benchmark). With 60 suites, a true share of 80 % appears as 75 to 85 %.

The stated change is the one that resampled runs find in 80 % of cases, times 1 + the larger of 1.75 / n and 12.5 / n²,
where n is the number of runs of a version. Without this margin and the uncertainty of the spread, the shares were 61 to
78 % for normal, skewed and heavy-tailed noise with five to twenty runs. With fewer than five runs, in suites of more
than 50 benchmarks and by turns, the change follows from the standard error, with the same margin (that of five runs for
fewer runs)."""
LIMITS = """A few runs often contain none of the outliers, or only one of the two speeds, that the next few have.
These are the only cells below 80 %."""

Noise = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]  # logarithms of runs


def _outliers(low: float, high: float) -> Noise:
    def noise(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        longer = np.where(rng.random(shape) < 0.1, rng.uniform(low, high, shape), 0)
        return np.asarray(rng.normal(0, 0.01, shape) + np.log1p(longer))

    return noise


NOISES: dict[str, Noise] = {
    "normal": lambda rng, shape: rng.normal(0, 0.01, shape),
    "skewed (exponential)": lambda rng, shape: 0.01 * (rng.exponential(1, shape) - 1),
    "heavy tails (t, 3 degrees of freedom)": lambda rng, shape: 0.01 / 3**0.5 * rng.standard_t(3, shape),
    "two speeds: 30 % of runs are 10 % slower": lambda rng, shape: (
        rng.normal(0, 0.01, shape) + 0.1 * (rng.random(shape) < 0.3)
    ),
    "outliers: 10 % of runs are 5 to 20 % slower": _outliers(0.05, 0.2),
    "outliers: 10 % of runs are 10 to 50 % slower": _outliers(0.1, 0.5),
}
ORDERS: dict[str, tuple[tuple[int, ...], int]] = {  # the sides of runs in time, repeated, and the runs of a session
    "old, new, new, old; shared state": ((0, 1, 1, 0), 1),
    "old, new, old, new; shared state": ((0, 1), 1),
    "sessions of five runs": ((0, 1), 5),
}
Sides = tuple[list[Benchmark], list[Benchmark]]


def benchmarks(logs: np.ndarray, changes: np.ndarray, places: np.ndarray | None = None) -> list[Benchmark]:
    conditions = {} if places is None else {TIME: tuple(map(str, places))}
    values = np.exp(logs) * (1 + changes[:, None])
    return [
        Benchmark.of_series(f"b{at:02}", row[:, None], unit="s", conditions=conditions) for at, row in enumerate(values)
    ]


def without_times(noise: Noise, n: int, k: int) -> Callable[[np.random.Generator, np.ndarray], Sides]:
    def draw(rng: np.random.Generator, changes: np.ndarray) -> Sides:
        return benchmarks(noise(rng, (k, n)), np.zeros(k)), benchmarks(noise(rng, (k, n)), changes)

    return draw


def in_order(order: tuple[int, ...], of_session: int, n: int, k: int) -> Callable[..., Sides]:
    """Return a function that draws suites with a state of the machine; n is the number of runs, or of sessions."""

    def draw(rng: np.random.Generator, changes: np.ndarray) -> Sides:
        sides = np.resize(order, 2 * n)
        states = rng.normal(0, 0.02, 2 * n) if of_session > 1 else walk(2 * n, rng)
        drawn = []
        for side, of_side in enumerate((np.zeros(k), changes)):
            slots = np.flatnonzero(sides == side)
            places = (1000 * slots[:, None] + np.arange(of_session)).ravel()
            logs = states[slots].repeat(of_session) + rng.normal(0, 0.01, (k, len(places)))
            drawn.append(benchmarks(logs, of_side, places))
        return drawn[0], drawn[1]

    return draw


def suite_of(sides: Sides) -> list[BothSides]:
    old, new = (levels_of(side, EVERY_ITERATION) for side in sides)
    return with_steps([compare_sides(old[key], new[key], set()) for key in new])


def cell(draw: Callable[[np.random.Generator, np.ndarray], Sides], k: int, n_suites: int, seed: list[int]) -> str:
    """Return the share of stated changes that are found, and the median of the stated changes."""
    rng, rules = np.random.default_rng(seed), Rules()
    first = [suite_of(draw(rng, np.zeros(k))) for _ in range(n_suites if k > 1 else 2 * n_suites)]
    stated, again = [], []
    for suite, tested in zip(first, test_suites(first, rules), strict=True):
        changes = detectable_changes_of(suite, rules, is_paired=tested.is_paired)
        sizes = [np.nan if change.value is None else change.value for change in changes]
        stated += sizes
        again += [(at % k, sizes[at % k]) for at in range(N_AGAIN)]
    changed = [suite_of(draw(rng, np.where(np.arange(k) == at, size, 0.0))) for at, size in again]
    results = test_suites(changed, rules)
    found = [tested.changes[at].has_changed for (at, _size), tested in zip(again, results, strict=True)]
    return f"{100 * np.mean(found):.0f} ({100 * np.nanmedian(stated):.1f} %)"


def main() -> None:
    """Simulate all cells and write the page."""
    n_suites = options(__doc__, suites=(60, "simulated suites per cell")).suites
    parts = [HEAD]
    for k in SIZES:
        rows: list[dict[str, Any]] = []
        for at, (name, noise) in enumerate(NOISES.items()):
            cells = {f"{n} runs": cell(without_times(noise, n, k), k, n_suites, [at, n, k]) for n in N_RUNS}
            rows.append({"noise": name, **cells})
        parts.append(f"## Without times, {'one benchmark' if k == 1 else f'suites of {k} benchmarks'}")
        parts.append(table(rows))
        write_page("detectable", *parts)
    rows = []
    for at, (name, (order, of_session)) in enumerate(ORDERS.items()):
        cells = {f"{n}": cell(in_order(order, of_session, n, 20), 20, n_suites, [at, n]) for n in N_RUNS[1:]}
        rows.append({"order, and runs or sessions of a version": name, **cells})
    parts += ["## With times, suites of 20 benchmarks", table(rows), LIMITS]
    write_page("detectable", *parts)


if __name__ == "__main__":
    main()
