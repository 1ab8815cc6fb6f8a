"""Error rates and power of comparisons, on simulated runs with known truth.

    python -m tests.performance.comparison_grid [--benchmarks 40000]

Writes docs/results/comparison-grid.md. A run is a process: three values around an individual level, as
pyperf measures by default. Our test, Welch's and Mann and Whitney's test get the mean of each run; pyperf's own test
gets all values.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.two_samples import COMBINED, MANN_WHITNEY, WELCH, p_values
from tests.performance.measuring import options, print_table

Floats = NDArray[np.float64]

ALPHA = 0.05
N_RUNS = (3, 5, 10, 20)
CHANGES = (0.02, 0.05, 0.2)
N_VALUES = 3
WITHIN = 0.003  # noise of the values within a run
N_SUITE = 20
N_PYPERF = 300  # the number of benchmarks for pyperf's test, which takes one pair at a time
PYPERF = "pyperf"


def typical(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Runs that differ by 1 %."""
    return 0.01 * rng.normal(size=shape)


def noisy(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Runs that differ by 5 %."""
    return 0.05 * rng.normal(size=shape)


def outliers(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """One run in ten takes 10 to 50 % longer."""
    return typical(rng, shape) + np.where(rng.random(shape) < 0.1, rng.uniform(0.1, 0.5, shape), 0)


def bimodal(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Three runs in ten take 10 % longer."""
    return typical(rng, shape) + 0.1 * (rng.random(shape) < 0.3)


def drift(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Return both sides measured alternately, A B A B, while the machine slows down by 10 %."""
    turns = np.arange(2 * shape[2]).reshape(shape[2], 2).T
    return typical(rng, shape) + 0.1 * turns / turns.max()


KINDS: dict[str, Callable[[np.random.Generator, tuple[int, int, int]], Floats]] = {
    kind.__name__: kind for kind in (typical, noisy, outliers, bimodal, drift)
}

# Not looked at while the weight in `analysis.statistics.two_samples` was chosen, though some are close to what was
# (normal, t, exponential, lognormal, uniform, modes at other distances): keep it so, or the last table proves nothing.
HELD_OUT: dict[str, Callable[[np.random.Generator, tuple[int, int, int]], Floats]] = {
    "Laplace": lambda rng, shape: rng.laplace(size=shape),
    "gamma": lambda rng, shape: rng.gamma(2, size=shape),
    "Pareto": lambda rng, shape: rng.pareto(2, size=shape),
    "two spreads": lambda rng, shape: rng.normal(size=shape) * np.where(rng.random(shape) < 0.2, 5, 1),
    "outliers both ways": lambda rng, shape: (
        rng.normal(size=shape) + (rng.random(shape) < 0.15) * rng.choice([-1, 1], shape) * rng.uniform(5, 25, shape)
    ),
    "rare second mode": lambda rng, shape: rng.normal(size=shape) + 6 * (rng.random(shape) < 0.2),
    "two equal modes": lambda rng, shape: rng.normal(size=shape) + 8 * (rng.random(shape) < 0.5),
    "two far modes": lambda rng, shape: rng.normal(size=shape) + 20 * (rng.random(shape) < 0.5),
    "three modes": lambda rng, shape: rng.normal(size=shape) + 8 * rng.integers(0, 3, shape),
}
EFFECTS = (0.25, 0.5, 1, 1.5, 2, 2.5, 3, 4, 6, 8, 12, 20)  # for five runs, in standard deviations of the noise


def draw(rng: np.random.Generator, kind: str, n_benchmarks: int, n_runs: int, change: float) -> tuple[Floats, Floats]:
    """Values of baseline and candidate, each of shape (n_benchmarks, n_runs, N_VALUES)."""
    levels = 1 + KINDS[kind](rng, (n_benchmarks, 2, n_runs))
    values = levels[..., None] + WITHIN * rng.normal(size=(*levels.shape, N_VALUES))
    return values[:, 0], values[:, 1] * (1 + change)


def shares(baseline: Floats, candidate: Floats, alpha: float = ALPHA) -> dict[str, float]:
    """For each test of run means, the share of benchmarks that it reports as changed at level alpha."""
    x, y = candidate.mean(2), baseline.mean(2)
    return {test: float((p_values(x, y, test) <= alpha).mean()) for test in (COMBINED, WELCH, MANN_WHITNEY)}


def found_by_pyperf(baseline: Floats, candidate: Floats) -> NDArray[np.bool_]:
    """Return the benchmarks that `pyperf compare_to` would report as significantly changed."""
    from pyperf._utils import is_significant  # type: ignore[import-untyped]  # brings no types

    sides = (side.reshape(len(side), -1).tolist() for side in (baseline, candidate))
    return np.array([is_significant(*pair)[0] for pair in zip(*sides, strict=True)])


def grid(n_benchmarks: int) -> tuple[list[dict[str, Any]], str]:
    """One row per kind and number of runs: errors of the four tests, and their power for each change, in percent.

    Also return a sentence with the largest error of our test, and its largest loss of power.
    """
    rows: list[dict[str, Any]] = []
    losses: list[tuple[float, str]] = []
    errors: list[tuple[float, str]] = []
    for kind in KINDS:
        for n_runs in N_RUNS:
            cells: dict[str, Any] = {"runs": kind, "n": n_runs}
            for change in (0.0, *CHANGES):
                rng = np.random.default_rng([list(KINDS).index(kind), n_runs, round(1000 * change)])
                sides = draw(rng, kind, n_benchmarks, n_runs, change)
                found = shares(*sides)
                pyperf = float(found_by_pyperf(*(side[:N_PYPERF] for side in sides)).mean())
                best = max(found[WELCH], found[MANN_WHITNEY])
                (losses if change else errors).append((best - found[COMBINED] if change else found[COMBINED],
                                                       f"{kind}, n = {n_runs}, +{100 * change:.0f} %"))  # fmt: skip
                header = f"+{100 * change:.0f} %" if change else "unchanged"
                cells[header] = " / ".join(_percent(share) for share in (*found.values(), pyperf))
            rows.append(cells)
    (loss, lost_at), (error, at) = max(losses), max(errors)
    return rows, (
        f"The largest error rate of our test is {100 * error:.1f} % ({at.rpartition(',')[0]}). Compared with the "
        f"better of the two tests, it loses at most {100 * loss:.1f} points of power ({lost_at})."
    )


def suites(n_suites: int) -> list[dict[str, Any]]:
    """One row per kind and number of runs: the percentage of suites of unchanged benchmarks with any alarm."""
    rows = []
    for kind in (*KINDS, "four of each"):
        for n_runs in N_RUNS:
            rng = np.random.default_rng([n_runs, len(kind)])
            drawn = [
                draw(rng, name, n_suites * N_SUITE // (len(KINDS) if kind == "four of each" else 1), n_runs, 0.0)
                for name in (KINDS if kind == "four of each" else (kind,))
            ]
            x, y = (np.concatenate([_by_suite(sides[side], n_suites) for sides in drawn], axis=1) for side in (0, 1))
            smallest = {
                test: p_values(y.mean(3).reshape(-1, n_runs), x.mean(3).reshape(-1, n_runs), test)
                .reshape(n_suites, N_SUITE)
                .min(1)
                for test in (COMBINED, WELCH, MANN_WHITNEY)
            }
            few = max(1, N_PYPERF // N_SUITE * 5)
            sides = (side[:few].reshape(-1, n_runs, N_VALUES) for side in (x, y))
            pyperf = found_by_pyperf(*sides).reshape(-1, N_SUITE).any(1)
            alarms = [(p <= ALPHA / N_SUITE).mean() for p in smallest.values()]  # Holm's first step
            alarms += [(smallest[MANN_WHITNEY] <= ALPHA).mean(), pyperf.mean()]
            header = ("ours", "Welch, Holm", "Mann-Whitney, Holm", "Mann-Whitney, uncorrected", "pyperf")
            shown = (_percent(float(share)) for share in alarms)
            rows.append({"runs": kind, "n": n_runs, **dict(zip(header, shown, strict=True))})
    return rows


def held_out(n_benchmarks: int) -> list[dict[str, Any]]:
    """One row per kind that was not used for the choice: error, suites with an alarm, largest loss."""
    rows = []
    for kind, noise in HELD_OUT.items():
        for n_runs in N_RUNS:
            rng = np.random.default_rng([n_runs, len(kind), 77])
            sides = 100 + noise(rng, (N_SUITE * n_benchmarks // 5, 2, n_runs))
            p = {test: p_values(sides[:, 1], sides[:, 0], test) for test in (COMBINED, WELCH)}
            error = [_percent(float((found <= ALPHA).mean())) for found in p.values()]
            alarms = [(found.reshape(-1, N_SUITE).min(1) <= ALPHA / N_SUITE).mean() for found in p.values()]
            losses = []
            for effect in np.array(EFFECTS) * np.sqrt(5 / n_runs):
                sides = 100 + noise(rng, (n_benchmarks // 4, 2, n_runs))
                found = {
                    test: (p_values(sides[:, 1] + effect, sides[:, 0], test) <= ALPHA).mean()
                    for test in (COMBINED, WELCH, MANN_WHITNEY)
                }
                losses.append(max(found[WELCH], found[MANN_WHITNEY]) - found[COMBINED])
            rows.append({
                "runs": kind, "n": n_runs, "error": " / ".join(error),
                f"any false alarm, suite of {N_SUITE}": " / ".join(_percent(float(share)) for share in alarms),
                f"largest loss over {len(EFFECTS)} effects": f"{100 * max(0.0, *losses):.1f}",
            })  # fmt: skip
    return rows


def main() -> None:
    n = options(__doc__, benchmarks=(40_000, "simulated benchmarks per cell")).benchmarks
    rows, summary = grid(n)
    cells = (
        f"ours / Welch / Mann-Whitney / pyperf, percent of {n} benchmarks that are found changed at the level of 5 %"
    )
    print_table(f"One benchmark: {cells}. {summary}", rows)
    n_suites = max(1, n // 5)
    print_table(
        f"Any false alarm in a suite of {N_SUITE} unchanged benchmarks, percent of {n_suites} suites", suites(n_suites)
    )
    print_table(
        "Kinds of runs not used to choose the test: ours / Welch, percent; loss in points of power", held_out(n)
    )


def _by_suite(values: Floats, n_suites: int) -> Floats:
    return values.reshape(n_suites, -1, *values.shape[1:])


def _percent(share: float) -> str:
    return f"{100 * share:.1f}" if share < 0.1 else f"{100 * share:.0f}"


if __name__ == "__main__":
    main()
