"""Create the figures of docs/learning.md, and print the table of the simulated selection.

    python scripts/learning_figures.py ACCOUNT STUDY LABELS

ACCOUNT is a folder of `labeler learn --report` on the benchmarks of the ICPE '23 data challenge, STUDY a study with
verdicts on these benchmarks, and LABELS a table of labels for them (item, reviewer, label, application).
"""

import argparse
import shutil
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from analysis import learning
from analysis.document import figures
from labeler.service.results.learning import features_named, material_of_study
from labeler.store import open_database

IMG = Path(__file__).parent.parent / "docs" / "img"
ACCOUNT_FIGURES = ("areas", "calibration", "learning-curve")


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
    steps = learning.simulate_selection(
        examples, learning.disagreement_of(built_in), rng=np.random.default_rng(1), n_first=40, n_repeats=200
    )
    for step in steps:
        numbers = [f"{value:.3f}" for name, value in vars(step).items() if name != "n"]
        print("|", " | ".join([str(step.n), *numbers]), "|")
    (IMG / "learning-selection.svg").write_text(figures.to_svg(learning.selection_charts(steps)["selection"]))


if __name__ == "__main__":
    main()
