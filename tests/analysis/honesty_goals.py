"""Count wrong results without a warning in the latent class part of reports on simulated studies.

As a program, it prints both tables in docs/consensus.md:

    python -m tests.analysis.honesty_goals RESULTS.jsonl REPLICATES [SIZE ...]

Each finished study is appended to the file and not simulated again, so that a run can be stopped and resumed. With 0
replicates, the program prints the table for the studies in the file.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from analysis.document import json_values
from analysis.report import SIMILARITY, Resampling
from analysis.report._consensus import Truths, latent_numbers
from analysis.simulation import Difficulty, Rater, SharedError, Simulated, SimulatedDesign, simulate

REVIEWERS = (Rater("r1", 0.9, 0.85), Rater("r2", 0.8, 0.75), Rater("r3", 0.75, 0.85), Rater("r4", 0.7, 0.7))
CLASSIFIERS = (Rater("c1", 0.9, 0.9), Rater("c2", 0.6, 0.8))
KINDS = ("independent", "difficulty", "shared errors", "copying", "skewed difficulty")
DESIGNS = ("k = 3", "three on all")
SIZES, PREVALENCES = (60, 120, 324, 586), (0.05, 0.2, 0.5, 0.8, 0.95)
LEVEL, FAR = 0.90, 0.10
COPIED = 0.95
DIFFICULTIES = {"difficulty": Difficulty(0.3, 2.0), "skewed difficulty": Difficulty(0.2, 3.0, 0.7)}
MISLEADING = SharedError(0.2, ("r2", "r3", "c1"))
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(20)


@dataclass
class Cell:
    """The results of the studies of one kind, design and size, for all prevalences together.

    Attributes
    ----------
    states : Counter
        State of the reviewers' model, one per study.
    n_wrong, n_wrong_marked : int
        Number of studies in which a printed interval misses the truth by more than .10, and number of these in which
        every such row has a warning.
    covered : list of bool
        Whether the interval of a row without a warning contains the truth.
    errors : dict of str to list of float
        Errors of rows without a warning, by parameter.
    """

    states: Counter = field(default_factory=Counter)
    n_wrong: int = 0
    n_wrong_marked: int = 0
    covered: list[bool] = field(default_factory=list)
    errors: dict[str, list[float]] = field(default_factory=dict)


def made(kind: str, design: str, n_items: int, prevalence: float, rng: np.random.Generator) -> Simulated:
    """Simulate a study that violates one assumption of the model."""
    reviewers = REVIEWERS if design == "k = 3" else REVIEWERS[:3]
    study = simulate(
        SimulatedDesign(n_items, 3),
        reviewers,
        CLASSIFIERS,
        prevalence,
        rng=rng,
        item_difficulty=DIFFICULTIES.get(kind),
        shared_error=MISLEADING if kind == "shared errors" else None,
    )
    return Simulated(_copied(study.labels, rng), study.verdicts, study.truth) if kind == "copying" else study


def _copied(labels: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Let the second reviewer copy 95 % of the first reviewer's labels."""
    of_first = labels[labels["rater"] == "r1"].set_index("item")["category"]
    takes = (labels["rater"] == "r2") & labels["item"].isin(of_first.index) & (rng.random(len(labels)) < COPIED)
    taken = of_first.reindex(labels.loc[takes, "item"]).to_numpy()
    return labels.assign(category=labels["category"].where(~takes, pd.Series(taken, index=labels.index[takes])))


def true_rates(kind: str, design: str, prevalence: float) -> dict[str, float]:
    """Prevalence, and how often each rater is right, over all items that could be drawn."""
    rates = {"prevalence": prevalence}
    for rater in (*REVIEWERS, *CLASSIFIERS):
        for name, right, of_first in (
            ("sensitivity", rater.sensitivity, REVIEWERS[0].sensitivity),
            ("specificity", rater.specificity, REVIEWERS[0].specificity),
        ):
            if kind in DIFFICULTIES:
                right = _mean_right(right, DIFFICULTIES[kind])
            elif kind == "shared errors" and rater.name in MISLEADING.raters:
                right *= 1 - MISLEADING.share
            elif kind == "copying" and rater.name == "r2":
                # with three of four reviewers on an item, the first is there for 2/3 of the second's items
                right += COPIED * (1 if design == "three on all" else 2 / 3) * (of_first - right)
            rates[f"{rater.name} {name}"] = float(right)
    return rates


def _mean_right(right: float, difficulty: Difficulty) -> float:
    """Return the share of correct labels over items of all difficulties."""
    logits = special.logit(right) - difficulty.spread * _NODES
    shares = special.expit(logits), special.expit(logits - difficulty.hard_by)
    usual, hard = (share @ _WEIGHTS / _WEIGHTS.sum() for share in shares)
    return float((1 - difficulty.hard_share) * usual + difficulty.hard_share * hard)


def rows_of(
    latent: dict[str, Any], classifiers: dict[str, dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Return all numbers of a report that depend on the model: name, row with its state, estimate."""
    yield "prevalence", latent["prevalence"], latent["prevalence"]
    for row in (*latent["reviewers"], *classifiers.values()):
        for rate in ("sensitivity", "specificity"):
            yield f"{row['rater']} {rate}", row, row[rate]


def simulated(kind: str, design: str, n_items: int, prevalence: float, replicate: int) -> dict[str, Any]:
    """Simulate one study and return the rows of its report: name, state, value, low, high, truth."""
    truth = true_rates(kind, design, prevalence)
    seed = [replicate, n_items, int(100 * prevalence), KINDS.index(kind), DESIGNS.index(design)]
    study = made(kind, design, n_items, prevalence, np.random.default_rng(seed))
    latent, classifiers = latent_numbers(
        Truths(pd.DataFrame(), pd.DataFrame(), study.labels.iloc[:0]),
        study.labels,
        study.verdicts,
        SIMILARITY,
        LEVEL,
        Resampling(replicate, 0, 300, 99),
        show_rejected=True,
        done=lambda result: result,
    )
    latent, classifiers = json_values(latent), json_values(classifiers)
    return {
        "study": [kind, design, n_items, prevalence, replicate],
        "state": latent["state"]["state"],
        "rows": [
            [name, row["state"], found["value"], found["low"], found["high"], truth[name]]
            for name, row, found in rows_of(latent, classifiers)
            if found["value"] is not None
        ],
    }


def cell_of(studies: Iterable[dict[str, Any]]) -> Cell:
    """Count wrong and marked rows over studies."""
    cell = Cell()
    for study in studies:
        cell.states[study["state"]] += 1
        wrong = []
        for name, state, value, low, high, truth in study["rows"]:
            if max(low - truth, truth - high) > FAR:
                wrong.append(state != "not contradicted")
            if state == "not contradicted":
                cell.covered.append(low <= truth <= high)
                cell.errors.setdefault(name, []).append(value - truth)
        cell.n_wrong += bool(wrong)
        cell.n_wrong_marked += bool(wrong) and all(wrong)
    return cell


def line(kind: str, design: str, cells: dict[int, Cell]) -> str:
    """Format a row of the first table in the documentation: in how many studies every wrong row is marked, by size."""
    states = sum((cell.states for cell in cells.values()), Counter())
    marked = [
        f"{cells[n].n_wrong_marked} of {cells[n].n_wrong}" if n in cells and cells[n].n_wrong else "–" for n in SIZES
    ]
    listed = ", ".join(f"{n} {state}" for state, n in states.most_common())
    return f"| {_title(kind)} | {design} | {states.total()} | {' | '.join(marked)} | {listed} |"


def unmarked_line(kind: str, design: str, n_items: int, cell: Cell) -> str:
    """Format a row of the second table in the documentation: coverage and bias of rows without a warning."""
    bias = max((abs(float(np.mean(errors))) for errors in cell.errors.values() if len(errors) >= 10), default=None)
    shown = "–" if bias is None else f"{bias:.3f}"
    return (
        f"| {_title(kind)} | {design} | {n_items} | {cell.states['not contradicted']} | {len(cell.covered)} | "
        f"{np.mean(cell.covered):.2f} | {shown} |"
    )


def _title(kind: str) -> str:
    return {"independent": "none", "shared errors": "shared", "skewed difficulty": "skewed"}.get(kind, kind)


def main(path: Path, n_replicates: int, sizes: Sequence[int] = SIZES) -> None:
    """Simulate what the file does not hold yet, all cells in turn, and print the tables."""
    path.touch()
    found = {tuple(study["study"]): study for study in map(json.loads, path.read_text().splitlines())}
    cells = list(product(KINDS, DESIGNS, sizes, PREVALENCES))
    for key in [(*cell, replicate) for replicate in range(n_replicates) for cell in cells]:
        if key not in found:
            found[key] = simulated(*key)
            with path.open("a") as file:
                file.write(json.dumps(found[key]) + "\n")
    cells_of = {
        (kind, design, n): cell_of(study for name, study in found.items() if name[:3] == (kind, design, n))
        for kind, design, n in product(sorted(KINDS), reversed(DESIGNS), SIZES)
    }
    for kind, design in product(sorted(KINDS), reversed(DESIGNS)):
        print(line(kind, design, {n: cells_of[kind, design, n] for n in SIZES}))
    for key, cell in cells_of.items():
        if cell.covered:
            print(unmarked_line(*key, cell))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), tuple(map(int, sys.argv[3:])) or SIZES)
