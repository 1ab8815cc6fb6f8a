"""The built-in question *triage* about histories, with its examples."""

from collections.abc import Callable

import numpy as np

from analysis.benchmark import VERSION, Benchmark
from labeler.model import Series
from labeler.questions import PALETTE, Category, Question
from labeler.screen.kinds.kind import Examples, Recipe

TRIAGE = Question(
    text="What happened in this history?",
    categories=(
        Category("regression", "r", "The level became worse and stayed there: the code is the likely cause.",
                 PALETTE[0]),
        Category("improvement", "i", "The level became better and stayed there.", PALETTE[1]),
        Category("spike", "s", "One version or a few versions in a row differ, and then the level is as before.",
                 PALETTE[2]),
        Category("unstable", "v", "The values vary so much that no level can be seen.", PALETTE[3]),
        Category("build- or machine-dependent", "b",
                 "The values jump between the same few levels, as if the build or the machine decides.", PALETTE[4]),
        Category("stable", "c", "The level is the same from the first version to the last, apart from noise.",
                 PALETTE[5]),
    ),
    shows="history",
)  # fmt: skip

N_VERSIONS, RUNS_OF_VERSION, N_PIECE = 40, 3, 50  # of the examples; iterations whose median is the value of a run
Levels = Callable[[np.random.Generator], Series]


def _history(levels: Levels, noise: float = 0.004) -> Callable[[list[Series], np.random.Generator], Benchmark]:
    """Return how to make a history from real runs: the median of a piece of a run, times the level of its version."""

    def make(runs: list[Series], rng: np.random.Generator) -> Benchmark:
        whole = [run[: len(run) // N_PIECE * N_PIECE].reshape(-1, N_PIECE) for run in runs]
        pieces = np.median(np.concatenate(whole), axis=1)
        chosen = rng.choice(pieces, (N_VERSIONS, RUNS_OF_VERSION), replace=False)
        values = chosen * levels(rng)[:, np.newaxis] * (1 + noise * rng.standard_normal(chosen.shape))
        versions = [str(version) for version in range(N_VERSIONS) for _ in range(RUNS_OF_VERSION)]
        return Benchmark.of_series("example", values.reshape(-1, 1), conditions={VERSION: versions})

    return make


def _step(share: float) -> Levels:
    return lambda rng: np.where(np.arange(N_VERSIONS) >= rng.integers(14, 30), 1 + share, 1.0)


def _one_version(share: float) -> Levels:
    return lambda rng: np.where(np.arange(N_VERSIONS) == rng.integers(6, 34), 1 + share, 1.0)


def _same(_rng: np.random.Generator) -> Series:
    return np.ones(N_VERSIONS)


def _two_levels(rng: np.random.Generator) -> Series:
    return np.where(rng.random(N_VERSIONS) < 0.4, 1.07, 1.0)


_REGRESSION, _IMPROVEMENT, _SPIKE, _UNSTABLE, _DEPENDENT, _STABLE = TRIAGE.names
_UP = Recipe(
    "A step up",
    "From one version on, all runs take 6 % longer, and the level stays there until the last version.",
    _REGRESSION,
    _history(_step(0.06)),
)
_DOWN = Recipe(
    "A step down",
    "From one version on, all runs take 5 % less time, and the level stays there until the last version.",
    _IMPROVEMENT,
    _history(_step(-0.05)),
)
_ONE_BAD = Recipe(
    "One slow version",
    "All runs of one version take 12 % longer. The next version is as fast as the versions before.",
    _SPIKE,
    _history(_one_version(0.12)),
)
_FLAT = Recipe(
    "The same level", "No version differs from the others; the small differences are noise.", _STABLE, _history(_same)
)
_JUMPS = Recipe(
    "Two levels by turns",
    "Each version is on one of two levels that are 7 % apart, and all its runs are on the same level. No version "
    "begins a new level that stays.",
    _DEPENDENT,
    _history(_two_levels),
)
_WIDE = Recipe(
    "Wide noise",
    "The runs of each version differ by up to 20 %, as much as the versions differ from each other.",
    _UNSTABLE,
    _history(_same, noise=0.06),
)
_SMALL = Recipe(
    "A small step",
    "From one version on, all runs take 1 % longer. This is less than the runs of one version differ. People disagree "
    "about such items. Follow the study's instructions.",
    None,
    _history(_step(0.01), noise=0.01),
)
WHAT_TO_JUDGE = """
**What to judge.** What happened to the level of the benchmark over its versions? Look for a level that begins at one
version and stays. The runs of one version show how much values differ by chance. If several things happened, name the
one that a developer should hear of first.
"""

EXAMPLES = Examples(
    WHAT_TO_JUDGE,
    worked=(_UP, _DOWN, _ONE_BAD, _JUMPS, _WIDE, _FLAT, _SMALL),
    practice=(_UP, _DOWN, _ONE_BAD, _JUMPS, _WIDE, _FLAT, _UP, _FLAT),
)
