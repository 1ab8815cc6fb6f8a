"""The built-in question *warmed-up* about single runs, with its examples."""

from collections.abc import Callable

import numpy as np

from analysis.benchmark import Benchmark
from labeler.model import Series
from labeler.questions import PALETTE, Category, Question
from labeler.screen.kinds.kind import Examples, Recipe

WARMED_UP = Question(
    text="How does this run develop?",
    categories=(
        Category("flat", "t", "The level is the same from the first iteration to the last.", PALETTE[0]),
        Category("warm-up", "w", "It begins slower, and then reaches a level at which it stays.", PALETTE[1]),
        Category("slowdown", "s", "It begins faster, and then reaches a slower level at which it stays.", PALETTE[2]),
        Category("no steady state", "x", "Its level still changes at the end, or changes again and again.", PALETTE[3]),
    ),
    shows="run",
)

Shape = Callable[[int, np.random.Generator], Series]


def _run(shape: Shape) -> Callable[[list[Series], np.random.Generator], Benchmark]:
    """Return how to make a run from two real runs, one after the other, times a level for each iteration."""

    def make(runs: list[Series], rng: np.random.Generator) -> Benchmark:
        values = np.concatenate(runs[:2])
        return Benchmark.of_series("example", [values * shape(len(values), rng)])

    return make


def _flat(n: int, _rng: np.random.Generator) -> Series:
    return np.ones(n)


def _warm_up(n: int, _rng: np.random.Generator) -> Series:
    return 1 + 0.12 * np.exp(-np.arange(n) / (n / 12))


def _later(share: float) -> Shape:
    return lambda n, rng: np.where(np.arange(n) >= n * rng.uniform(0.2, 0.5), 1 + share, 1.0)


def _changing(n: int, rng: np.random.Generator) -> Series:
    begins = np.sort(rng.choice(np.arange(1, 20), 6, replace=False)) * n // 20
    levels = 1 + 0.06 * rng.permutation(7) / 6
    return np.asarray(levels[np.searchsorted(begins, np.arange(n), side="right")])


def _drift(n: int, _rng: np.random.Generator) -> Series:
    return 1 + 0.08 * np.arange(n) / n


_FLAT, _WARM_UP, _SLOWDOWN, _NO_STEADY_STATE = WARMED_UP.names
_STAYS = Recipe(
    "The same level", "The line stays at one level; single slow iterations do not change it.", _FLAT, _run(_flat)
)
_SETTLES = Recipe(
    "A warm-up", "The first iterations take up to 12 % longer. Then the run reaches its level and stays there.",
    _WARM_UP, _run(_warm_up),
)  # fmt: skip
_FASTER_LATER = Recipe(
    "A step down", "After a while, each iteration takes 6 % less time, until the end.", _WARM_UP, _run(_later(-0.06))
)
_SLOWER_LATER = Recipe(
    "A step up", "After a while, each iteration takes 5 % longer, until the end.", _SLOWDOWN, _run(_later(0.05))
)
_JUMPS = Recipe(
    "Many levels", "The level changes again and again, also near the end.", _NO_STEADY_STATE, _run(_changing)
)
_DRIFTS = Recipe(
    "A drift", "The run becomes slower from the first iteration to the last, by 8 %, and does not settle.",
    _NO_STEADY_STATE, _run(_drift),
)  # fmt: skip
WHAT_TO_JUDGE = """
**What to judge.** Does the run reach a level at which it stays until the end? Look at the line of medians. Single slow
iterations do not matter. A run that begins with a few slow iterations and then stays has a warm-up, however short.
"""

EXAMPLES = Examples(
    WHAT_TO_JUDGE,
    worked=(_STAYS, _SETTLES, _FASTER_LATER, _SLOWER_LATER, _JUMPS, _DRIFTS),
    practice=(_STAYS, _SETTLES, _FASTER_LATER, _SLOWER_LATER, _JUMPS, _DRIFTS, _STAYS),
)
