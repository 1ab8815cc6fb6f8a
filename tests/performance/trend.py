"""Measure how often each detector of `labeler trend` finds a change, and how often it finds one that is not there.

    python -m tests.performance.trend [--histories N]

Simulates histories of 12 to 100 versions with several kinds of noise: without a change, with a change of the level,
with a change that is reverted, and with changes of the size that a history states. Writes docs/results/trend.md.
"""

from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

import numpy as np

from analysis.arrays import Floats
from analysis.methods.points import DETECTORS, STEPS, find_levels
from analysis.methods.trend import TREND_DETECTORS
from analysis.methods.trend._newest import ALPHA_NEWEST, newest_step, numbers_of, single_versions, stated_power
from tests.performance.measuring import options, table, write_page

NOISE, MARGIN = 0.01, 2
N_VERSIONS = (12, 20, 40, 100)
N_RUNS = (1, 3, 5)
SIZES = (0.01, 0.02, 0.05, 0.1)
STEP_SIZES = (2, 3, 5)  # standard deviations of a version
OTHERS = ("cusum", "e-divisive")
HEAD = """# Detectors of `labeler trend`

{n} simulated histories for each cell; standard deviation of a version 1 %, unless the text says otherwise.
`python -m tests.performance.trend` writes this page.
"""
DECIDES = """## How the detector decides

y is the mean of the runs of a version (logarithms if all values are above 0), n the number of versions of a range, s
the standard deviation of the residuals without a step of the newest versions, T a quantile of Student's t distribution,
and B the number of benchmarks. The detector `steps` applies these rules:

- **Cut**: one place, or an inner part of at most half of the range, that explains most of the squares, G.
  t = √(G / v) / f, where v = the rest of the squares / (n − 2), but at least the variance between runs.
  p = 2 · number of places or parts · P(|t| > t). The range is cut if p < .02, and then each part of six versions or
  more in the same way.
- **Support**: two versions on each side; of a level of up to ten versions, more than 2/3 on its own side of the middle.
  The change with the smallest share is removed. The changes beside it must still have p < .02.
- **Neighbours**: r is the correlation of neighbouring residuals, corrected for the K levels: n / (n − K) times, plus
  (1 + 3r) K / n. f = √((1 + r) / (1 − r)). The cuts are repeated as long as f grows.
- **Drift**: a line whose Schwarz criterion is smaller than that of the levels (first and last), with two parameters for
  each change.
- **Newest**: 1, 2 or 3 versions against the m before them in the last level, by a t test with m − 1 degrees of freedom.
  Each is at least a third of the step away. p is 3 B times the smallest one, and must be at most .01. With three runs
  or more, the medians of the runs must say so, too.
- **Single**: a version against the others of its level of six or more: n p ≤ .01, of medians too.
- **Stated, lasting**: 1.05 · (1 + 5 / n + r / 2) · max(1.5 s, (T(1 − .02 / (4 (n − 1)); n − 2) + T(.8; n − 2)) ·
  max(f, 1.15) · s · √(4 / n)).
- **Stated, newest**: 1.2 · (T(1 − .01 / (6 B); m − 1) + T(.8; m − 1)) · s · √(1 + 1 / m), with the s of means or
  medians, whichever is larger.

Sources: Olshen et al. 2004, [10.1093/biostatistics/kxh008](https://doi.org/10.1093/biostatistics/kxh008); Shi et al.
2022, [10.1016/j.csda.2022.107433](https://doi.org/10.1016/j.csda.2022.107433), for the correlation of neighbours.
"""
FALSE = """## False changes

Share of histories without a step in which the detector says a change, or a step at the newest versions, for 12 / 20 /
40 / 100 versions. The noise of the runs is independent and normal (iid), of a t distribution with 3 degrees of freedom
(t3), has outliers of 10 standard deviations in 5 % of the runs, has three times the standard deviation in the second
half, is an autoregressive process with correlation r between neighbouring versions (with several runs, each run adds
independent noise of the same size), or is added to a drift of 3 %. Two rows are limits of the detector `steps`: a
correlation of .8 causes false changes in up to about a quarter of the histories, and a drift in up to about a fifth.
"""
GRADUAL = "A drift of 3 % is said to be gradual in {shares} of the histories with 12 / 20 / 40 / 100 versions of 1 run."
FOUND = """## Found changes

Share of histories with a step of 2 / 3 / 5 standard deviations in which it is found: a mark at most 2 versions from
it, or for `steps` also a step at the newest versions. 1 run per version.
"""
REVERTED = """A change that is reverted after 2, 3 or 5 versions in the middle: both ends are found, for 5 / 10 / 50
standard deviations. A change of 1 version is no change of the level: the share in which it stands out alone.
"""
STATED = """## Stated power

Share of histories in which a change of the size that the same history states is found: lasting, in the middle / at the
newest version, for one benchmark. At least .80 is meant in each cell. Short histories do not show their correlation r,
so the factors are larger than independent noise (iid) needs.
"""
OVERVIEW = """## All detectors

40 versions of 1 run, independent normal noise of 1 %, one change at a random version from 8 to 32. A change is found if
a mark is at most 2 versions from it.
"""

Noise = Callable[[np.random.Generator, int, int], Floats]  # (rng, versions, runs) -> in standard deviations of a run


def iid(rng: np.random.Generator, n: int, runs: int) -> Floats:
    return rng.normal(size=(n, runs))


def t3(rng: np.random.Generator, n: int, runs: int) -> Floats:
    return rng.standard_t(3, size=(n, runs)) / np.sqrt(3)


def outliers(rng: np.random.Generator, n: int, runs: int) -> Floats:
    values = rng.normal(size=(n, runs))
    return values + np.where(rng.random((n, runs)) < 0.05, 10 * rng.choice([-1, 1], size=(n, runs)), 0)


def wider(rng: np.random.Generator, n: int, runs: int) -> Floats:
    return rng.normal(size=(n, runs)) * np.where(np.arange(n) < n // 2, 1, 3)[:, None]


def drift(rng: np.random.Generator, n: int, runs: int) -> Floats:
    return rng.normal(size=(n, runs)) + np.linspace(0, 3, n)[:, None]


def alike(r: float) -> Noise:
    def noise(rng: np.random.Generator, n: int, runs: int) -> Floats:
        version = rng.normal(size=n)
        for at in range(1, n):
            version[at] = r * version[at - 1] + np.sqrt(1 - r * r) * version[at]
        return version[:, None] + (rng.normal(size=(n, runs)) if runs > 1 else 0)

    return noise


KINDS: dict[str, Noise] = {
    "iid": iid, "t3": t3, "outliers": outliers, "sd x3": wider, "r = .3": alike(0.3), "r = .5": alike(0.5),
    "r = .8": alike(0.8), "drift": drift,
}  # fmt: skip


def said(runs: Floats) -> tuple[tuple[int, ...], bool, bool, list[int]]:
    """Return the marks of `steps`, whether it says a step at the newest versions or a drift, and single versions."""
    numbers = numbers_of(NOISE * runs.ravel(), np.repeat(np.arange(len(runs)), runs.shape[1]))
    levels = find_levels(numbers.means, numbers.variance)
    newest = newest_step(numbers, levels)
    is_newest = newest is not None and newest.p <= ALPHA_NEWEST
    marks = (*levels.starts, *([len(runs) - newest.n] if newest and is_newest else []))
    return marks, is_newest, levels.line is not None, [one.at for one in single_versions(numbers, levels)]


def marks_of(name: str, runs: Floats) -> tuple[int, ...]:
    return said(runs)[0] if name == STEPS else DETECTORS[name](1 + NOISE * runs.mean(axis=1))


def share(hits: Sequence[bool]) -> str:
    return f"{np.mean(hits):.2f}".replace("0.", ".", 1)


def false_changes(n: int) -> list[dict[str, Any]]:
    columns = [*((name, 1) for name in OTHERS), *((STEPS, runs) for runs in N_RUNS)]
    rows = []
    for kind, noise in KINDS.items():
        row = {"No step": kind}
        for name, runs in columns:
            cells = []
            for versions in N_VERSIONS:
                rng = np.random.default_rng(1)
                cells.append(share([bool(marks_of(name, noise(rng, versions, runs))) for _ in range(n)]))
            title = f"{name}, {runs} run{'s' * (runs > 1)}" if name == STEPS else name
            row[title] = "/".join(cells)
        rows.append(row)
    return rows


def gradual(n: int) -> str:
    rng = np.random.default_rng(1)
    return "/".join(share([said(drift(rng, versions, 1))[2] for _ in range(n)]) for versions in N_VERSIONS)


def found_changes(n: int) -> list[dict[str, Any]]:
    places = [(12, 11), (20, 10), (40, 5), (40, 20), (40, 35), (40, 37), (40, 38), (40, 39)]
    rows = []
    for versions, place in places:
        row = {"Versions": str(versions), "Step at": f"version {place + 1}"}
        for name in (*OTHERS, STEPS):
            cells = []
            for size in STEP_SIZES:
                rng = np.random.default_rng(2)
                step = size * (np.arange(versions) >= place)[:, None]
                cells.append(share([
                    any(abs(mark - place) <= MARGIN for mark in marks_of(name, iid(rng, versions, 1) + step))
                    for _ in range(n)
                ]))  # fmt: skip
            row[name] = "/".join(cells)
        rows.append(row)
    return rows


def reverted_changes(n: int) -> list[dict[str, Any]]:
    rows = []
    for length in (1, 2, 3, 5):
        row = {"Reverted after": f"{length} version{'s' * (length > 1)}"}
        for versions in N_VERSIONS[:3]:
            start = versions // 2 - 1
            inside = (np.arange(versions) >= start) & (np.arange(versions) < start + length)
            cells = []
            for size in (5, 10, 50):
                rng = np.random.default_rng(3)
                hits = []
                for _ in range(n):
                    marks, _, _, single = said(iid(rng, versions, 1) + size * inside[:, None])
                    hits.append(start in single if length == 1 else {start, start + length} <= set(marks))
                cells.append(share(hits))
            row[f"{versions} versions"] = "/".join(cells)
        rows.append(row)
    return rows


def stated(n: int) -> list[dict[str, Any]]:
    rows = []
    for kind in ("iid", "r = .3", "r = .5", "r = .8"):
        for runs in N_RUNS:
            row = {"Noise": kind, "Runs": str(runs)}
            for versions in N_VERSIONS:
                row[f"{versions} versions"] = _stated(KINDS[kind], versions, runs, n)
            rows.append(row)
    return rows


def _stated(noise: Noise, versions: int, runs: int, n: int) -> str:
    rng = np.random.default_rng(4)
    lasting, newest = [], []
    at = np.arange(versions)
    for _ in range(n):
        values = noise(rng, versions, runs)
        numbers = numbers_of(NOISE * values.ravel(), np.repeat(at, runs))
        power = stated_power(numbers, find_levels(numbers.means, numbers.variance), 1)
        if power.lasting is not None:
            marks = said(values + power.lasting / NOISE * (at >= versions // 2)[:, None])[0]
            lasting.append(bool(marks))
        if power.newest is not None:
            marks = said(values + power.newest / NOISE * (at == versions - 1)[:, None])[0]
            newest.append(any(mark >= versions - 3 for mark in marks))
    return f"{share(lasting)} / {share(newest)}"


def overview(name: str, n: int) -> dict[str, Any]:
    """Return the row of a detector."""
    rng = np.random.default_rng(1)
    begun = process_time()
    false = sum(bool(marks_of(name, iid(rng, 40, 1))) for _ in range(n))
    row, beside = {"Detector": name, "False change": f"{false} of {n}"}, 0
    for size in SIZES:
        found = 0
        for _ in range(n):
            place = int(rng.integers(8, 33))
            marks = marks_of(name, iid(rng, 40, 1) + size / NOISE * (np.arange(40) >= place)[:, None])
            near = [abs(mark - place) <= MARGIN for mark in marks]
            found += any(near)
            beside += not all(near)
        row[f"{100 * size:g} % found"] = f"{100 * found / n:.0f} %"
    each = 1000 * (process_time() - begun) / (n * (1 + len(SIZES)))
    return row | {
        "False mark beside a change": f"{beside} of {n * len(SIZES)}", "Processor time per history": f"{each:.1f} ms",
    }  # fmt: skip


if __name__ == "__main__":
    n = options(__doc__, histories=(400, "for each cell")).histories
    write_page(
        "trend",
        HEAD.format(n=n).strip(),
        DECIDES.strip(),
        FALSE.strip(), table(false_changes(n)), GRADUAL.format(shares=gradual(n)),
        FOUND.strip(), table(found_changes(n)), REVERTED.strip(), table(reverted_changes(n)),
        STATED.strip(), table(stated(n)),
        OVERVIEW.strip(), table([overview(name, n) for name in TREND_DETECTORS]),
    )  # fmt: skip
