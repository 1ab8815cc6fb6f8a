"""Measure size and power of the alternative annotator test on simulated studies.

As a program, it prints the tables in docs/results/replacing.md (about a minute):

    python -m tests.analysis.raters.alternative_goals
"""

from collections.abc import Iterator

import numpy as np

from analysis.raters.evaluation import EXPERT, SimulatedTests, assignment, simulated_tests

PERSON = 0.85  # share of items that a person labels right
MACHINES = {"as good as a person": PERSON, "worse by .1": PERSON - 0.1, "at the limit": None, "random": 0.5}
DESIGNS = ((3, 3), (4, 3), (4, 4), (5, 3), (8, 3), (8, 8))  # people, labels per item
SIZES = (30, 60, 120, 300, 600)
GROUP, ALIKE = 10, 0.4  # items per application, and intraclass correlation of the machine's errors in an application
N_STUDIES, N_LIMIT = 500, 200_000


def studies(
    people: int,
    per_item: int,
    n_items: int,
    accuracy: float,
    *,
    alike: float,
    n_studies: int = N_STUDIES,
    seed: int = 1,
) -> SimulatedTests:
    """Return how often a machine that is right on this share of the items passes; half of the items are dissimilar."""
    rng = np.random.default_rng([seed, people, per_item, n_items])
    truth = rng.random((n_studies, n_items)) < 0.5
    groups = np.arange(n_items) // GROUP
    right = np.full((n_studies, n_items), accuracy)
    if alike:
        scale = (1 - alike) / alike
        right = rng.beta(accuracy * scale, (1 - accuracy) * scale, (n_studies, groups[-1] + 1))[:, groups]
    return simulated_tests(
        np.where(truth, PERSON, 1 - PERSON), np.where(truth, right, 1 - right), assignment({per_item: n_items}, people),
        epsilon=EXPERT, rng=rng, groups=groups,
    )  # fmt: skip


def limit(per_item: int) -> float:
    """Return the accuracy with which a person is better by exactly epsilon."""
    rng = np.random.default_rng(per_item)
    right = rng.random((N_LIMIT, per_item)) < PERSON
    person, n_right = right[:, 0], right[:, 1:].sum(axis=1)
    closeness = {True: n_right, False: per_item - 1 - n_right}  # of an answer that is right, or wrong
    of_person = np.where(person, closeness[True], closeness[False])
    gap = {answer: float(np.sign(of_person - closeness[answer]).mean()) for answer in (True, False)}
    return (gap[False] - EXPERT) / (gap[False] - gap[True])


def table(alike: float) -> Iterator[str]:
    """Yield the lines of a table with the share of studies in which the test passes, plain and by application."""
    yield f"| people | labels per item | machine | {' | '.join(f'{n} items' for n in SIZES)} |"
    yield f"| ---: | ---: | --- |{' ---: |' * len(SIZES)}"
    for people, per_item in DESIGNS:
        for machine, accuracy in MACHINES.items():
            cells = []
            for n_items in SIZES:
                found = studies(
                    people, per_item, n_items, limit(per_item) if accuracy is None else accuracy, alike=alike
                )
                cells.append(f"{found.passes.value:.2f} / {found.passes_clustered.value:.2f}")
            yield f"| {people} | {per_item} | {machine} | {' | '.join(cells)} |"


if __name__ == "__main__":
    for between, heading in ((0.0, "Independent items:"), (ALIKE, "Items of an application are alike:")):
        print(f"\n{heading}\n")
        for line in table(between):
            print(line, flush=True)
