"""Generate artificial pairs of runs that differ in only one way, to show what each measure detects."""

from collections.abc import Mapping

import numpy as np

from analysis.arrays import Floats

Pair = tuple[Floats, Floats]

N_ITERATIONS = 300
N_CYCLES = 3


def figure_1_signals(*, rng: np.random.Generator) -> Mapping[str, Pair]:
    """Generate the four pairs of the paper's Figure 1 as signals around zero.

    The paper does not publish its signals. Here, t goes from 0 to 1, and x(t) = sin(6 pi t) is paired with four
    signals:

    - x + 2 (offset in level),
    - x half a period later (offset in time),
    - sin(12 pi t) (double frequency),
    - x plus normal noise with standard deviation 0.2.

    The signals have no unit, because times cannot be negative.
    """
    t = np.linspace(0, 1, N_ITERATIONS, endpoint=False)
    wave = np.sin(2 * np.pi * N_CYCLES * t)
    return {
        "offset in level": (wave, wave + 2),
        "offset in time": (wave, np.sin(2 * np.pi * (N_CYCLES * t + 0.5))),
        "double frequency": (wave, np.sin(2 * np.pi * 2 * N_CYCLES * t)),
        "noise": (wave, wave + rng.normal(0, 0.2, N_ITERATIONS)),
    }


def schematic_pairs(*, rng: np.random.Generator) -> Mapping[str, Pair]:
    """Generate pairs of runs, named by the kind of difference.

    The values are milliseconds per iteration. "same pattern" and "two runs of noise" differ only by chance.
    """
    t = np.linspace(0, 1, N_ITERATIONS, endpoint=False)
    wave = 10 + np.sin(2 * np.pi * N_CYCLES * t)

    def noise() -> Floats:
        return rng.normal(0, 0.4, N_ITERATIONS)

    spiky = wave.copy()
    spiky[N_ITERATIONS // 2] += 100
    return {
        "same pattern": (wave + noise() / 8, wave + noise() / 8),
        "offset": (wave, wave + 6),
        "twice as slow": (wave, 2 * wave),
        "double frequency": (wave, 10 + np.sin(2 * np.pi * 2 * N_CYCLES * t)),
        "shifted in time": (wave, 10 + np.sin(2 * np.pi * (N_CYCLES * t + 0.5))),
        "noise": (wave, wave + 2.5 * noise()),
        "two runs of noise": (10 + noise(), 10 + noise()),
        "one outlier": (wave, spiky),
        "warm-up in one": (wave, wave + 5 * np.exp(-12 * t)),
    }
