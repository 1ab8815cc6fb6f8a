"""Size and power of the test of independent errors, on simulated studies with known truth.

As a program, it prints the table in docs/results/consensus.md:

    OPENBLAS_NUM_THREADS=1 python -m tests.analysis.raters.model_goals RESULTS.jsonl SECONDS

Each finished study is appended to the file and not simulated again, so that a run can be stopped and resumed. The
program stops after this number of seconds of processor time; with 0, it prints the table of the studies in the file.
"""

import json
import sys
import time
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.raters.agreement import pair_equality
from analysis.raters.consensus import identifiability
from analysis.raters.consensus._latent import REJECTED, check_independence

GOOD, SHARED_BY_CLASSIFIERS = "everything holds", "only classifiers share errors"
WRONG = (
    "dominating reviewer", "copying 40 %", "normal difficulty", "skewed difficulty", "unsure of the same items",
    "two opinions", "all follow one reviewer on the same items",
)  # fmt: skip
WORLDS = (GOOD, SHARED_BY_CLASSIFIERS, *WRONG)
SIZES = (60, 120, 324, 586)
N_REVIEWERS = 4


def simulated(world: str, n_items: int, n_classifiers: int, rng: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    """Simulate labels of four reviewers (two labels per item; four on 40 % of the items) and verdicts of classifiers.

    Each rater is right with a probability between .7 and .9 in each category, and the prevalence is between .3 and .7.
    """
    n = N_REVIEWERS + n_classifiers
    dissimilar = rng.random(n_items) < rng.uniform(0.3, 0.7)
    rate = rng.uniform(0.7, 0.9, size=(2, n))
    right = np.where(dissimilar[:, None], rate[0], rate[1])
    if world == "normal difficulty":
        logit = np.log(right / (1 - right)) * 1.4 + 1.6 * rng.standard_normal((n_items, 1))
        right = 1 / (1 + np.exp(-logit))
    if world == "skewed difficulty":
        logit = np.log(right / (1 - right)) + 1.0 - rng.gamma(0.5, 2.0, size=(n_items, 1))
        right = 1 / (1 + np.exp(-logit))
    if world == "unsure of the same items":
        right = np.where(rng.random((n_items, 1)) < 0.25, 0.5, np.minimum(right + 0.05, 0.97))
    is_right = rng.random((n_items, n)) < right
    called = is_right == dissimilar[:, None]
    if world in ("dominating reviewer", "all follow one reviewer on the same items"):
        follow = rng.random((n_items, N_REVIEWERS - 1 if world == "dominating reviewer" else 1)) < 0.5
        called[:, 1:N_REVIEWERS] = np.where(follow, called[:, :1], called[:, 1:N_REVIEWERS])
    if world == "copying 40 %":
        called[:, 1] = np.where(rng.random(n_items) < 0.4, called[:, 0], called[:, 1])
    if world == "two opinions":
        other = rng.random(n_items) < 0.5
        called[:, 2:N_REVIEWERS] = is_right[:, 2:N_REVIEWERS] == other[:, None]
    if world == SHARED_BY_CLASSIFIERS:
        misled = rng.random(n_items) < 0.2
        called[misled, N_REVIEWERS:] = ~dissimilar[misled, None]
    who = np.zeros((n_items, N_REVIEWERS), dtype=bool)
    blocks = list(combinations(range(N_REVIEWERS), 2))
    for item in range(n_items):
        who[item, list(blocks[item % len(blocks)])] = True
    who[rng.permutation(n_items)[: round(0.4 * n_items)]] = True
    item, rater = np.nonzero(who)
    category = np.where(called, "dissimilar", "similar")
    names = np.array([f"r{r + 1}" for r in range(N_REVIEWERS)])
    labels = pd.DataFrame({"item": item, "rater": names[rater], "category": category[item, rater]})
    verdicts = pd.DataFrame(
        {
            "item": np.tile(np.arange(n_items), n_classifiers),
            "classifier": np.repeat([f"c{c + 1}" for c in range(n_classifiers)], n_items),
            "verdict": category[:, N_REVIEWERS:].T.ravel(),
        }
    )
    return labels, verdicts


def outcome(world: str, n_items: int, n_classifiers: int, replicate: int) -> dict[str, Any]:
    """Simulate one study; return its status, the p of the test and the p of the sentence on pairs."""
    rng = np.random.default_rng([replicate, n_items, n_classifiers, WORLDS.index(world)])
    labels, verdicts = simulated(world, n_items, n_classifiers, rng)
    found = check_independence(labels, verdicts, identifiability(labels))
    return {
        "study": [world, n_items, n_classifiers, replicate],
        "state": found.state,
        "p": found.p,
        "pair_p": pair_equality(labels).p,
    }


def table(studies: Iterable[dict[str, Any]]) -> str:
    """Format the shares of studies by world, number of items and number of classifiers."""
    frame = pd.DataFrame([{**s, **dict(zip(("world", "n", "c"), s["study"], strict=False))} for s in studies])
    lines = [
        "| world | items | classifiers | studies | rejected | pair sentence | rejected or named |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for world in WORLDS:
        for (n, c), of in frame[frame["world"] == world].groupby(["n", "c"]):
            rejected, named = of["state"] == REJECTED, of["pair_p"].astype(float) <= 0.05
            shares = " | ".join(f"{share.mean():.3f}" for share in (rejected, named, rejected | named))
            lines.append(f"| {world} | {n} | {c} | {len(of)} | {shares} |")
    return "\n".join(lines)


def plan() -> list[tuple[str, int, int]]:
    """Return the cells in the order in which they are simulated."""
    good = [(GOOD, n, c) for n in SIZES for c in (1, 2, 5)]
    shared = [(SHARED_BY_CLASSIFIERS, n, 2) for n in SIZES]
    return [*good, *shared, (SHARED_BY_CLASSIFIERS, 324, 5), *((world, 586, 2) for world in WRONG)]


def main(path: Path, seconds: float) -> None:
    """Simulate studies for a number of seconds, all cells in turn, and print the table."""
    path.touch()
    found = {tuple(study["study"]): study for study in map(json.loads, path.read_text().splitlines())}
    replicate, begin = 0, time.process_time()
    while time.process_time() - begin < seconds:
        for cell in plan():
            repeats = 2 if cell[0] == GOOD else 1
            for number in range(repeats * replicate, repeats * (replicate + 1)):
                if (*cell, number) not in found and time.process_time() - begin < seconds:
                    found[(*cell, number)] = outcome(*cell, number)
                    with path.open("a") as file:
                        file.write(json.dumps(found[(*cell, number)]) + "\n")
        replicate += 1
    print(table(found.values()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
