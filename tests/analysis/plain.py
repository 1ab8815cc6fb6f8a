"""Simple reference implementations of all measures and classifiers: library functions in a loop over pairs of runs.

They follow the definitions, and share no results between measures or pairs. The fast implementations must give equal
results, and their times are compared with these.

References
----------
Bauer et al. (2023), ICPE '23 Companion, doi:10.1145/3578245.3584693 (M1 to M5, the heuristic)
Leznik et al. (2022), ICPE '22, doi:10.1145/3489525.3511677 (SAME)
"""

import zlib
from collections.abc import Callable, Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.cluster import hierarchy
from scipy.spatial import distance

Floats = NDArray[np.float64]

QUARTILES = (-0.6744897501960817, 0.0, 0.6744897501960817)  # quartiles of the standard normal distribution
OF_HEURISTIC = ("m1", "m2", "m3", "m4", "m5")
OF_PRINTED = ("m1", "m2", "m3_with_mean", "m4", "m5")
OF_SAME = ("cosine", "wave_hedges", "kumar_hassebrook", "scaled_rmse")


def pair_values(runs: Floats) -> dict[str, Floats]:
    """Compute all measures of all pairs of runs, i < j in row order; those of SAME need measurements >= 0."""
    pairs = list(combinations(runs, 2))
    return {name: np.array([measure(x, y) for x, y in pairs]) for name, measure in PLAIN.items()}


def verdicts(runs: Floats) -> dict[str, str]:
    """Return the verdict of each classifier, by name; `runs` as for `pair_values`."""
    return verdicts_from(pair_values(runs))


def verdicts_from(values: Mapping[str, Floats], *, theta: float = 0.25, cut: float = 0.20) -> dict[str, str]:
    """Return the verdicts from the values of the pairs, for any threshold of the heuristic and any cut of SAME."""
    n_clusters = len(set(hierarchy.fcluster(merges(values), cut, criterion="distance")))
    dissimilar = {
        "heuristic": sum(values[name].mean() > theta for name in OF_HEURISTIC) >= 3,
        "heuristic-printed": sum(values[name].mean() > theta for name in OF_PRINTED) >= 3,
        "same": n_clusters > 1,
    }
    return {name: "dissimilar" if is_so else "similar" for name, is_so in dissimilar.items()}


def merges(values: Mapping[str, Floats]) -> Floats:
    """Cluster runs as SAME does: average linkage of the mean of four measures; returns the linkage matrix of scipy."""
    return hierarchy.linkage(np.mean([values[name] for name in OF_SAME], axis=0), method="average")


def correlation(x: Floats, y: Floats) -> float:
    """M1: 1 - max(rho, 0); one constant run: rho = 0, two: rho = 1."""
    if is_constant(x) or is_constant(y):
        return 0.0 if is_constant(x) and is_constant(y) else 1.0
    return min(distance.correlation(x, y), 1.0)


def compression(x: Floats, y: Floats) -> float:
    """M2: clip(2 c(xy) / (c(x) + c(y)) - 1, 0, 1), c = length of the compressed letters."""
    together = compressed_length(letters(x) + letters(y))
    alone = compressed_length(letters(x)) + compressed_length(letters(y))
    return float(np.clip(2 * together / alone - 1, 0, 1))


def letters(x: Floats) -> bytes:
    """SAX without averaging: the quarter of the normal distribution of each measurement, as a letter from a to d."""
    z = np.zeros(len(x)) if is_constant(x) else (x - x.mean()) / x.std(ddof=1)
    return bytes(ord("a") + np.searchsorted(QUARTILES, z).astype(np.uint8))


def compressed_length(string: bytes) -> int:
    """Length of the zlib stream at level 6."""
    return len(zlib.compress(string, 6))


def fourier(x: Floats, y: Floats) -> float:
    """M3: ||X - Y|| / (||X|| + ||Y||) of the Fourier coefficients without coefficient 0."""
    return norm_ratio(np.fft.fft(deviations(x))[1:], np.fft.fft(deviations(y))[1:])


def fourier_with_mean(x: Floats, y: Floats) -> float:
    """M3 with all Fourier coefficients."""
    return norm_ratio(np.fft.fft(x), np.fft.fft(y))


def cosine(x: Floats, y: Floats) -> float:
    """1 - <x, y> / (||x|| ||y||); 0 if both runs are zero, 1 if one of them is zero."""
    if not x.any() or not y.any():
        return 0.0 if not x.any() and not y.any() else 1.0
    return float(distance.cosine(x, y))


def cosine_clipped(x: Floats, y: Floats) -> float:
    """M4: 1 - cosine, where a negative cosine counts as 0."""
    return min(cosine(x, y), 1.0)


def kolmogorov_smirnov(x: Floats, y: Floats) -> float:
    """M5: the largest distance between the two empirical distribution functions."""
    return float(stats.ks_2samp(x, y, method="asymp").statistic)


def wave_hedges(x: Floats, y: Floats) -> float:
    """Mean over t of |x_t - y_t| / max(x_t, y_t), 0 if both are 0."""
    larger = np.maximum(x, y)
    return float(np.divide(np.abs(x - y), larger, out=np.zeros(len(x)), where=larger > 0).mean())


def kumar_hassebrook(x: Floats, y: Floats) -> float:
    """1 - <x, y> / (||x||^2 + ||y||^2 - <x, y>), 0 if both runs are zero."""
    union = x @ x + y @ y - x @ y
    return float(1 - x @ y / union) if union else 0.0


def scaled_rmse(x: Floats, y: Floats) -> float:
    """Root of the mean squared difference over the range of both runs, 0 if the range is 0."""
    span = max(x.max(), y.max()) - min(x.min(), y.min())
    return float(np.sqrt(np.mean((x - y) ** 2)) / span) if span else 0.0


def is_constant(x: Floats) -> bool:
    """Return whether all values are equal."""
    return bool(np.ptp(x) == 0)


def deviations(x: Floats) -> Floats:
    """Subtract the mean: all coefficients except 0 stay the same, without rounding errors from a high level."""
    return np.zeros(len(x)) if is_constant(x) else x - x.mean()


def norm_ratio(x: NDArray[np.complex128], y: NDArray[np.complex128]) -> float:
    """||x - y|| / (||x|| + ||y||), 0 if both are 0."""
    total = np.linalg.norm(x) + np.linalg.norm(y)
    return float(np.linalg.norm(x - y) / total) if total else 0.0


PLAIN: dict[str, Callable[[Floats, Floats], float]] = {
    "m1": correlation,
    "m2": compression,
    "m3": fourier,
    "m3_with_mean": fourier_with_mean,
    "m4": cosine_clipped,
    "m5": kolmogorov_smirnov,
    "cosine": cosine,
    "wave_hedges": wave_hedges,
    "kumar_hassebrook": kumar_hassebrook,
    "scaled_rmse": scaled_rmse,
}
