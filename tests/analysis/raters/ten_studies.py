"""Ten small studies with a known truth, to read what a report says about each.

They are files in tests/golden/ten_studies. `python -m tests.analysis.raters.ten_studies` simulated and wrote them.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Study = tuple[pd.DataFrame, pd.DataFrame]
REVIEWERS = ("r1", "r2", "r3", "r4")
CLASSIFIERS = ("good", "guess")
NAMES = np.array(["similar", "dissimilar"])
FOLDER = Path(__file__).parents[2] / "golden" / "ten_studies"


def labels_of(truth: Ints, rates: Mapping[str, float], rng: np.random.Generator) -> dict[str, Ints]:
    """Labels that are right with a probability of their own for each rater, independently."""
    return {name: np.where(rng.random(len(truth)) < rate, truth, 1 - truth) for name, rate in rates.items()}


def read(name: str) -> Study:
    """Read the answers and the verdicts of one study."""
    wide = pd.read_csv(FOLDER / f"{name.replace(' ', '-')}.csv")
    answers, called = (
        wide.melt(["item", "application"], columns, var_name=kind, value_name=value)
        for columns, kind, value in ((REVIEWERS, "reviewer", "label"), (CLASSIFIERS, "classifier", "verdict"))
    )
    return answers, called


def made(seed: int, change: Callable[[dict[str, Ints], Ints, np.random.Generator], dict[str, Ints]], *,
         n: int = 240, rate: float = 0.85, share: float = 0.4, n_applications: int = 12) -> pd.DataFrame:  # fmt: skip
    """A study of four reviewers and two classifiers, one good and one that guesses, with a change of its labels.

    One row per item, with a column for each rater.
    """
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < share).astype(np.int64)
    labels = change(labels_of(truth, dict.fromkeys(REVIEWERS, rate), rng), truth, rng)
    raters = labels | labels_of(truth, dict(zip(CLASSIFIERS, (0.95, 0.5), strict=True)), rng)
    items = {"item": [f"i{i:03}" for i in range(n)], "application": [f"app{i % n_applications}" for i in range(n)]}
    return pd.DataFrame(items | {name: NAMES[values] for name, values in raters.items()})


def same(labels: dict[str, Ints], _truth: Ints, _rng: np.random.Generator) -> dict[str, Ints]:
    return labels


def random(labels: dict[str, Ints], _truth: Ints, rng: np.random.Generator) -> dict[str, Ints]:
    return {name: rng.integers(0, 2, len(values)) for name, values in labels.items()}


def perfect(labels: dict[str, Ints], truth: Ints, _rng: np.random.Generator) -> dict[str, Ints]:
    return dict.fromkeys(labels, truth)


def copying(labels: dict[str, Ints], _truth: Ints, rng: np.random.Generator) -> dict[str, Ints]:
    return {**labels, "r2": np.where(rng.random(len(labels["r1"])) < 0.9, labels["r1"], labels["r2"])}


def skewed(labels: dict[str, Ints], truth: Ints, rng: np.random.Generator) -> dict[str, Ints]:
    chance = 0.5 * np.minimum(1, rng.gamma(0.35, 1, len(truth)))  # the probability of an error: a few items are hard
    return {name: np.where(rng.random(len(truth)) < chance, 1 - truth, truth) for name in labels}


def camps(labels: dict[str, Ints], truth: Ints, rng: np.random.Generator) -> dict[str, Ints]:
    other = rng.integers(0, 2, len(truth))  # what the second camp looks at is unrelated
    return labels | labels_of(other, {"r3": 0.9, "r4": 0.9}, rng)


def dominating(labels: dict[str, Ints], _truth: Ints, rng: np.random.Generator) -> dict[str, Ints]:
    follows = {name: rng.random(len(values)) < 0.6 for name, values in labels.items() if name != "r1"}
    return labels | {name: np.where(does, labels["r1"], labels[name]) for name, does in follows.items()}


def one_category(labels: dict[str, Ints], truth: Ints, _rng: np.random.Generator) -> dict[str, Ints]:
    return dict.fromkeys(labels, np.zeros_like(truth))


def main() -> None:
    """Simulate the studies and write their files."""
    studies = {
        "random": made(1, random),
        "perfect": made(2, perfect, n=120),
        "good": made(3, same),
        "copying": made(4, copying, rate=0.8),
        "skewed difficulty": made(5, skewed),
        "two camps": made(6, camps, rate=0.9),
        "a dominating reviewer": made(7, dominating, rate=0.75),
        "12 items": made(8, same, n=12),
        "one category": made(9, one_category, n=60),
        "one application": made(10, same, n_applications=1),
    }
    for name, study in studies.items():
        study.to_csv(FOLDER / f"{name.replace(' ', '-')}.csv", index=False)


STUDIES: Mapping[str, Study] = {path.stem.replace("-", " "): read(path.stem) for path in sorted(FOLDER.glob("*.csv"))}

if __name__ == "__main__":
    main()
