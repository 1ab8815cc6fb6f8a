"""Whether a number that is wrong carries a mark: reports of made studies in which the model is wrong.

Run as a program it writes the table of docs/consensus.md: python -m tests.analysis.honesty_goals REPLICATES
"""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from analysis.report import Resampling, summarise
from analysis.simulation import Design, Difficulty, Rater, SharedError, Study, simulate

REVIEWERS = (Rater("r1", 0.9, 0.85), Rater("r2", 0.8, 0.75), Rater("r3", 0.75, 0.85), Rater("r4", 0.7, 0.7))
CLASSIFIERS = (Rater("c1", 0.9, 0.9), Rater("c2", 0.6, 0.8))
KINDS = ("independent", "difficulty", "shared errors", "copying")
DESIGNS = ("k = 3", "three on all")
SIZES, PREVALENCES = (60, 120, 324, 586), (0.05, 0.2, 0.5, 0.8, 0.95)
LEVEL, FAR = 0.90, 0.10
COPIED = 0.95
MANY_ITEMS = 60_000  # that give the rates to within .003


@dataclass
class Cell:
    """What came out in the studies of one kind, design and size.

    Attributes
    ----------
    states : Counter
        Of the model of the reviewers, one a study.
    n_wrong, n_wrong_marked : int
        Studies in which a printed interval misses by more than .10, and those in which every such row is marked.
    covered : list of bool
        Whether the interval of an unmarked row holds the truth.
    errors : dict of str to list of float
        Of unmarked rows, by parameter.
    """

    states: Counter = field(default_factory=Counter)
    n_wrong: int = 0
    n_wrong_marked: int = 0
    covered: list[bool] = field(default_factory=list)
    errors: dict[str, list[float]] = field(default_factory=dict)


def made(kind: str, design: str, n_items: int, prevalence: float, rng: np.random.Generator) -> Study:
    """A study in which the model is wrong in one way."""
    reviewers = REVIEWERS if design == "k = 3" else REVIEWERS[:3]
    study = simulate(
        Design(n_items, 3),
        reviewers,
        CLASSIFIERS,
        prevalence,
        rng=rng,
        item_difficulty=Difficulty(0.3, 2.0) if kind == "difficulty" else None,
        shared_error=SharedError(0.2, ("r2", "r3", "c1")) if kind == "shared errors" else None,
    )
    return Study(_copied(study.labels, rng), study.verdicts, study.truth) if kind == "copying" else study


def _copied(labels: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The second reviewer takes over 95 % of the first one's labels."""
    of_first = labels[labels["rater"] == "r1"].set_index("item")["category"]
    takes = (labels["rater"] == "r2") & labels["item"].isin(of_first.index) & (rng.random(len(labels)) < COPIED)
    taken = of_first.reindex(labels.loc[takes, "item"]).to_numpy()
    return labels.assign(category=labels["category"].where(~takes, pd.Series(taken, index=labels.index[takes])))


@cache
def true_rates(kind: str, design: str, prevalence: float) -> dict[str, float]:
    """Prevalence, and how often each rater is right, over all items that could be drawn."""
    study = made(kind, design, MANY_ITEMS, prevalence, np.random.default_rng(7))
    rates = {"prevalence": prevalence}
    for table, rater, category in ((study.labels, "rater", "category"), (study.verdicts, "classifier", "verdict")):
        truth = study.truth.reindex(table["item"]).to_numpy()
        right = pd.Series(table[category].to_numpy() == truth)
        for of_truth, rate in (("dissimilar", "sensitivity"), ("similar", "specificity")):
            shares = right[truth == of_truth].groupby(table.loc[truth == of_truth, rater].to_numpy()).mean()
            rates |= {f"{name} {rate}": float(share) for name, share in shares.items()}
    return rates


def rows_of(content: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every number of a report that rests on the model: name, state of the model, estimate."""
    latent = content["consensus"]["latent"]
    yield "prevalence", latent["prevalence"]["state"], latent["prevalence"]
    of_classifiers = [row["by_consensus"]["latent"] for row in content["classifiers"].values()]
    for row in (*latent["reviewers"], *of_classifiers):
        for rate in ("sensitivity", "specificity"):
            yield f"{row['rater']} {rate}", row["state"], row[rate]


def simulated(kind: str, design: str, n_items: int, prevalence: float, n_replicates: int) -> Cell:
    """The reports of so many studies against the truth."""
    truth, cell = true_rates(kind, design, prevalence), Cell()
    for replicate in range(n_replicates):
        seed = [replicate, n_items, int(100 * prevalence), KINDS.index(kind), DESIGNS.index(design)]
        study = made(kind, design, n_items, prevalence, np.random.default_rng(seed))
        answers = study.labels.rename(columns={"rater": "reviewer", "category": "label"})
        content = summarise(
            answers, study.verdicts, level=LEVEL, show_rejected=True, resampling=Resampling(replicate, 0, 300, 99)
        )
        cell.states[content["consensus"]["latent"]["state"]["state"]] += 1
        wrong = []
        for name, state, estimate in rows_of(content):
            if estimate["value"] is None:
                continue
            if max(estimate["low"] - truth[name], truth[name] - estimate["high"]) > FAR:
                wrong.append(state != "fits")
            if state == "fits":
                cell.covered.append(estimate["low"] <= truth[name] <= estimate["high"])
                cell.errors.setdefault(name, []).append(estimate["value"] - truth[name])
        cell.n_wrong += bool(wrong)
        cell.n_wrong_marked += bool(wrong) and all(wrong)
    return cell


def pooled(kind: str, design: str, n_items: int, n_replicates: int, prevalences: tuple[float, ...]) -> Cell:
    """The cells of all prevalences together."""
    total = Cell()
    for prevalence in prevalences:
        cell = simulated(kind, design, n_items, prevalence, n_replicates)
        total.states += cell.states
        total.n_wrong += cell.n_wrong
        total.n_wrong_marked += cell.n_wrong_marked
        total.covered += cell.covered
        for name, errors in cell.errors.items():
            total.errors.setdefault(name, []).extend(errors)
    return total


def line(kind: str, design: str, n_items: int, cell: Cell) -> str:
    """A row of the table in the documentation."""
    states = ", ".join(f"{n} {state}" for state, n in cell.states.most_common())
    covered = f"{np.mean(cell.covered):.2f} ({len(cell.covered)})" if cell.covered else "–"
    bias = max((abs(float(np.mean(errors))) for errors in cell.errors.values() if len(errors) >= 10), default=None)
    shown = "–" if bias is None else f"{bias:.3f}"
    marked = f"{cell.n_wrong_marked} of {cell.n_wrong}" if cell.n_wrong else "none wrong"
    return f"| {kind} | {design} | {n_items} | {states} | {marked} | {covered} | {shown} |"


if __name__ == "__main__":
    chosen = [kind for kind in KINDS if len(sys.argv) < 3 or kind in sys.argv[2:]]
    for kind, design, n_items in product(chosen, DESIGNS, SIZES):
        print(line(kind, design, n_items, pooled(kind, design, n_items, int(sys.argv[1]), PREVALENCES)), flush=True)
