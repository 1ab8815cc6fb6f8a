"""Create the figures of docs/learning.md, and print the table of the simulated selection.

    python scripts/learning_figures.py ACCOUNT STUDY LABELS

ACCOUNT is a folder of `labeler learn --out` on the benchmarks of the ICPE '23 data challenge, STUDY a study with
verdicts on these benchmarks, and LABELS a table of labels for them (item, reviewer, label, application).
"""

import argparse
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd

from analysis import learning
from analysis.arrays import Floats
from analysis.document import figures
from analysis.document.figures import INK, Chart
from analysis.learning import Examples, rank_next, selection_weights
from analysis.learning._validation import choose
from analysis.raters.evaluation import auc
from analysis.statistics.results import Result
from labeler.studies.results.learning import features_named, material_of_study
from labeler.studies.store import open_database

IMG = Path(__file__).parent.parent / "docs" / "img"
ACCOUNT_FIGURES = ("areas", "calibration")


@dataclass(frozen=True, repr=False)
class SelectionStep(Result):
    """The results of a simulation for one number of labels, averaged over repeats."""

    n: int  # number of labels
    # Area under the ROC curve on held-out applications, for models fitted on random items, and for models fitted
    # on chosen and random items.
    auc_random: float
    auc_chosen: float
    # Mean error of the estimated share of dissimilar items from all labelled items, from random items only, and
    # from weighted items.
    prevalence_labelled: float
    prevalence_random: float
    prevalence_weighted: float
    rmse_random: float  # root mean squared error of `prevalence_random` and of `prevalence_weighted`
    rmse_weighted: float


def simulate_selection(
    examples: Examples,
    disagreement: Mapping[str, float],
    *,
    rng: np.random.Generator,
    n_first: int = 60,
    n_next: int = 20,
    random_share: float = 0.3,
    n_repeats: int = 50,
) -> tuple[SelectionStep, ...]:
    """Simulate labelling a finished study in the order of `rank_next`, and compute the estimates after each batch.

    Parameters
    ----------
    n_first, n_next : int
        Number of random items at the start, and size of each batch.
    random_share : float
        Share of random items in each batch, in (0, 1].
    n_repeats : int
        Number of repeats, each with new random items and a third of the applications held out.
    """
    results: dict[int, list[Floats]] = {}
    for _ in range(n_repeats):
        names = rng.permutation(sorted(set(examples.applications)))
        held_out = np.isin(examples.applications, names[: len(names) // 3])
        for n, row in _one_selection(examples.of(~held_out), examples.of(held_out), disagreement, rng,
                                     n_first, n_next, random_share):  # fmt: skip
            results.setdefault(n, []).append(row)
    steps = []
    for n, rows in sorted(results.items()):
        if len(rows) == n_repeats:
            table = np.array(rows)
            means, rmse = table.mean(axis=0), np.sqrt((table**2).mean(axis=0))
            steps.append(SelectionStep(n, *(float(value) for value in (*means, rmse[3], rmse[4]))))
    return tuple(steps)


def _one_selection(
    pool: Examples,
    held_out: Examples,
    disagreement: Mapping[str, float],
    rng: np.random.Generator,
    n_first: int,
    n_next: int,
    random_share: float,
) -> list[tuple[int, Floats]]:
    place = {item: n for n, item in enumerate(pool.items)}
    applications = dict(zip(pool.items, pool.applications, strict=True))
    order = rng.permutation(np.array(pool.items, dtype=object)).tolist()
    truth, true_share = pool.is_second.astype(float), float(pool.is_second.mean())
    words = held_out.names

    def fitted(items: Sequence[str]) -> Floats | None:
        part = pool.of(np.array([place[item] for item in items], dtype=np.intp))
        if len(set(part.names)) < 2:
            return None
        model = choose(part, rng=rng, monotone=True, n_folds=3)
        return np.concatenate([model.leaning(held_out.x)[:, 1], model.probability(pool.x)[:, 1]])

    batches: list[tuple[list[str], list[str]]] = [(order[:n_first], [])]
    found: list[tuple[int, Floats]] = []
    labelled, n_prefix = list(order[:n_first]), n_first
    while True:
        ours, by_chance = fitted(labelled), fitted(order[: len(labelled)])
        if ours is None or by_chance is None:
            return found
        weights = selection_weights(len(order), batches)
        weighted = sum(weight * truth[place[item]] for item, weight in weights.items()) / len(order)
        means = [float(np.mean([truth[place[item]] for item in items])) for items in (labelled, order[:n_prefix])]
        areas = [auc(words, scores[: len(words)]).value or 0.5 for scores in (by_chance, ours)]
        errors = [share - true_share for share in (*means, weighted)]
        found.append((len(labelled), np.array([*areas, *errors])))
        if len(labelled) + n_next > len(order):
            return found
        n_prefix = min(n_prefix + round(random_share * n_next), len(order))
        random = [item for item in order[:n_prefix] if item not in set(labelled)]
        rest = [item for item in order if item not in {*labelled, *random}]
        probability = dict(zip(pool.items, ours[len(words) :], strict=True))
        unsure = {item: 1 - abs(2 * float(probability[item]) - 1) for item in rest}
        ranked = rank_next(rest, applications, uncertainty=unsure, disagreement=disagreement)
        chosen = ranked[: n_next - len(random)]
        batches.append((random, chosen))
        labelled += [*random, *chosen]


def selection_charts(steps: Sequence[SelectionStep]) -> dict[str, Chart]:
    """Draw the area under the ROC curve by number of labels, for random items and for chosen items."""
    points = pd.DataFrame(
        [
            {"n": step.n, "area": area, "items": name}
            for step in steps
            for name, area in (("at random", step.auc_random), ("chosen, 30 % at random", step.auc_chosen))
        ]
    )
    names = ["at random", "chosen, 30 % at random"]
    dash = alt.Scale(domain=names, range=[[4, 3], [1, 0]])
    chart = alt.Chart(points).mark_line(point={"filled": True, "color": INK}, color=INK)
    return {
        "selection": chart.encode(
            x=alt.X("n:Q", title="labelled items"),
            y=alt.Y("area:Q", title="area on held-out applications", scale=alt.Scale(zero=False)),
            strokeDash=alt.StrokeDash("items:N", scale=dash, title=None),
        ).properties(width=420, height=240)
    }


def main() -> None:
    """Copy the figures of the account, simulate the selection, print its table and draw its figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("account", "study", "labels"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    for name in ACCOUNT_FIGURES:
        shutil.copy(given.account / "figures" / f"{name}.svg", IMG / f"learning-{name}.svg")
    with open_database(given.study) as db:
        material = material_of_study(db, actor="docs", now=datetime.now(UTC))
    labels = pd.read_csv(given.labels, dtype=str)
    examples = learning.examples_of(
        labels.rename(columns={"label": "category"})[["item", "category"]],
        material.features,
        features_named("default", list(material.features.columns)),
        labels.set_index("item")["application"],
    )
    built_in = material.verdicts[~material.verdicts["classifier"].str.contains(":")]
    steps = simulate_selection(
        examples, learning.disagreement_of(built_in), rng=np.random.default_rng(1), n_first=40, n_repeats=200
    )
    for step in steps:
        numbers = [f"{value:.3f}" for name, value in vars(step).items() if name != "n"]
        print("|", " | ".join([str(step.n), *numbers]), "|")
    (IMG / "learning-selection.svg").write_text(figures.to_svg(selection_charts(steps)["selection"]))


if __name__ == "__main__":
    main()
