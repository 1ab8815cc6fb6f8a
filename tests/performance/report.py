"""Measure the processor time of a report: the numbers, and the page with figures.

python -m tests.performance.report [ITEMS,REVIEWERS,LABELS ...]

The first page in a process also starts the program that draws figures. Processor time depends less on other work on the
machine than elapsed time.
"""

import sys
import time
from typing import Any

import numpy as np
import pandas as pd

from analysis.report import Resampling, draw, summarise, to_html
from tests.analysis.raters import simulated
from tests.performance.measuring import print_table

SIZES = (
    (586, 4, 2),
    (586, 4, 3),
    (586, 4, 4),
    (10_000, 10, 3),
    (10_000, 10, 10),
    (10_000, 50, 3),
)  # items, reviewers, labels per item
N_APPLICATIONS = 30


def main() -> None:
    rows = []
    sizes = [tuple(map(int, size.split(","))) for size in sys.argv[1:]] or SIZES
    for n_items, n_reviewers, per_item in sizes:
        answers, verdicts = study(n_items, n_reviewers, per_item)
        for kind, resampling in (("quick", Resampling.none()), ("full", Resampling())):
            rows.append(
                {"items": n_items, "reviewers": n_reviewers, "labels an item": per_item, "report": kind}
                | times(answers, verdicts, resampling)
            )
    print_table("Reports", rows)


def study(n_items: int, n_reviewers: int, per_item: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Answers with all their columns, and verdicts with scores."""
    rng = np.random.default_rng(1)
    reviewers = [simulated.Rater(f"r{i}", 0.7 + 0.02 * (i % 10), 0.65 + 0.02 * (i % 10)) for i in range(n_reviewers)]
    classifiers = [simulated.Rater(f"c{i}", 0.5 + 0.1 * i, 0.8 - 0.05 * i) for i in range(4)]
    made = simulated.simulate(simulated.SimulatedDesign(n_items, per_item), reviewers, classifiers, 0.55, rng=rng)
    labels = made.labels.rename(columns={"rater": "reviewer", "category": "label"})
    application = {item: f"application {rng.integers(N_APPLICATIONS)}" for item in made.truth.index}
    answers = labels.assign(
        application=labels["item"].map(application),
        position=labels.groupby("reviewer").cumcount(),
        dwell_ms=rng.integers(1000, 20_000, len(labels)),
        created_utc="2026-01-01T00:00:00+00:00",
    )
    return answers, made.verdicts.assign(score=rng.random(len(made.verdicts)), threshold=0.25)


def times(answers: pd.DataFrame, verdicts: pd.DataFrame, resampling: Resampling) -> dict[str, Any]:
    begun = time.process_time()
    content = summarise(answers, verdicts, resampling=resampling)
    computed = time.process_time()
    to_html(content, draw(content))
    return {"numbers in s": computed - begun, "page in s": time.process_time() - computed}


if __name__ == "__main__":
    main()
