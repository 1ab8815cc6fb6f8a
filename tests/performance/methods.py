"""Measure the speed of the methods on 586 benchmarks of 10 runs with 3000 iterations.

    python -m tests.performance.methods [--benchmarks N]

The measurements are synthetic (noise around a level of each run), because the time does not depend on them.
"""

from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np

from analysis.methods import contexts, order, spread, trust
from analysis.methods.check import _check
from analysis.runs.benchmark import Benchmark
from tests.performance.measuring import options, print_table, seconds

N_RUNS, N_ITERATIONS, N_DRAWN = 10, 3000, 5
EXACT = (trust.MERGED, trust.RUN_MEANS)
EXACT_TESTS = (trust.WELCH, trust.INTERVALS)
N_CHECKED = 50


def main() -> None:
    n = options(__doc__, benchmarks=(586, "synthetic benchmarks")).benchmarks
    suite, ordered, sweep = made(n), in_two_orders(n), in_contexts(n)
    rows = [
        ("spread", n, seconds(lambda: spread.spread_survey(suite))),
        ("order", n, seconds(lambda: order.order_survey(ordered))),
        ("contexts (5 contexts of 2 versions)", n, seconds(lambda: contexts.context_survey(sweep))),
        ("trust, what is exact, one core", n, seconds(lambda: list(map(exact, suite)), repeats=1)),
    ]
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        list(pool.map(exact, suite[:4]))  # both have finished their imports
        spread_out = partial(pool.map, chunksize=8)
        rows.append(("trust, what is exact, two cores", n, seconds(lambda: list(spread_out(exact, suite)))))
        rows.append(("trust, all of it, two cores", N_CHECKED, seconds(lambda: all_of_trust(pool, suite), repeats=1)))
    rows.append(("check: five classifiers and reasons", N_CHECKED, seconds(lambda: _check.check(suite[:N_CHECKED]))))
    print_table(
        "The methods, measurements in memory",
        [
            {"method": name, "benchmarks": n, "s": taken, "ms per benchmark": 1000 * taken / n}
            for name, n, taken in rows
        ],
    )


def exact(benchmark: Benchmark) -> tuple[object, object]:
    """Coverage and type I error of one benchmark by enumeration, in any process."""
    rng = np.random.default_rng(1)
    return (
        trust.coverage(benchmark.values, N_DRAWN, rng=rng, aggregations=EXACT),
        trust.type_1_error(benchmark.values, N_DRAWN, tests=EXACT_TESTS, rng=rng, aggregations=EXACT),
    )


def all_of_trust(pool: Executor, suite: list[Benchmark]) -> object:
    return trust.trust_survey(suite[:N_CHECKED], mapper=partial(pool.map, chunksize=4))


def made(n: int) -> list[Benchmark]:
    """Synthetic runs, each around an individual level."""
    rng = np.random.default_rng(1)
    levels = rng.lognormal(sigma=0.05, size=(n, N_RUNS, 1))
    return [
        Benchmark.of_series(f"b{at}", tuple(level * rng.lognormal(sigma=0.1, size=(N_RUNS, N_ITERATIONS))))
        for at, level in enumerate(levels)
    ]


def in_two_orders(n: int) -> list[Benchmark]:
    """Return the same runs, half of them in fixed and half in random order."""
    conditions = {
        "run": tuple(map(str, range(N_RUNS))),
        "order_type": ("fixed",) * 5 + ("random",) * 5,
        "order_position": tuple(map(str, range(N_RUNS))),
    }
    return [Benchmark.of_series(one.name, one.values, conditions=conditions) for one in made(n)]


def in_contexts(n: int) -> list[Benchmark]:
    """One run of each of two versions in five contexts."""
    conditions = {"version": ("old", "new") * 5, "context": tuple(f"env={at // 2}" for at in range(N_RUNS))}
    return [Benchmark.of_series(one.name, one.values, conditions=conditions) for one in made(n)]


if __name__ == "__main__":
    main()
