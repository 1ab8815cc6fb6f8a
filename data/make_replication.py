"""Create the replication study: labels and verdicts with the published counts of the paper.

    python data/make_replication.py [--out data/replication] [--seed 1]

The paper (Bauer et al., ICPE '23 Companion, doi:10.1145/3578245.3584693) prints counts, not labels. The counts
determine the number of items that each pair of reviewers labelled and agreed on (Table 1 and the totals have one
solution), the number of agreed items that are dissimilar, and the confusion matrix of each classifier on the agreed
items (Tables 2 and 3). The rest is arbitrary and drawn from the seed: which items these are, which pair has the
dissimilar items, which reviewer of a split pair chose which category, how the verdicts of the two classifiers overlap
(nearly nested, as on real data), and all verdicts on split items.
"""

import argparse
import csv
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

# pair -> (items, agreed items). Near-equal parts of 586 and the printed shares (47, 57, 35, 53, 77, 62 %) with the
# total of 324 allow exactly these agreed counts; the paper does not print which two parts have 97 items.
PARTS = {
    ("R1", "R2"): (98, 46),
    ("R1", "R3"): (98, 56),
    ("R1", "R4"): (97, 34),
    ("R2", "R3"): (98, 52),
    ("R2", "R4"): (97, 75),
    ("R3", "R4"): (98, 61),
}
AGREED_DISSIMILAR, AGREED_SIMILAR = 189, 135
# consensus -> (items that both classifiers call dissimilar, only the heuristic, only SAME); the column sums are
# the published matrices: SAME 52/23/137/112, heuristic 173/82/16/53 (tp/fp/fn/tn)
CALLED_DISSIMILAR = {"dissimilar": (51, 122, 1), "similar": (23, 59, 0)}
SPLIT_CALLED_DISSIMILAR = (55, 155, 1)  # arbitrary


def labels(rng: random.Random) -> list[tuple[str, str, int, str]]:
    """(item, reviewer, part, label) of all items, pair by pair."""
    categories = ["dissimilar"] * AGREED_DISSIMILAR + ["similar"] * AGREED_SIMILAR
    rng.shuffle(categories)
    rows, number = [], 0
    for part, ((a, b), (n_items, n_agreed)) in enumerate(PARTS.items()):
        agreed = [True] * n_agreed + [False] * (n_items - n_agreed)
        rng.shuffle(agreed)
        for is_agreed in agreed:
            number += 1
            first = categories.pop() if is_agreed else rng.choice(["similar", "dissimilar"])
            other = {"similar": "dissimilar", "dissimilar": "similar"}[first]
            item = f"benchmark-{number:03d}"
            rows += [(item, a, part, first), (item, b, part, first if is_agreed else other)]
    return rows


def verdicts(rows: Sequence[tuple[str, str, int, str]], rng: random.Random) -> Iterable[tuple[str, str, str]]:
    """(item, classifier, verdict) of both classifiers on all items."""
    said: dict[str, set[str]] = {}
    for item, _, _, label in rows:
        said.setdefault(item, set()).add(label)
    groups = {
        "dissimilar": ([i for i, s in said.items() if s == {"dissimilar"}], CALLED_DISSIMILAR["dissimilar"]),
        "similar": ([i for i, s in said.items() if s == {"similar"}], CALLED_DISSIMILAR["similar"]),
        "split": ([i for i, s in said.items() if len(s) == 2], SPLIT_CALLED_DISSIMILAR),
    }
    called: dict[str, tuple[bool, bool]] = {}
    for items, (both, only_heuristic, only_same) in groups.values():
        pattern = [(True, True)] * both + [(True, False)] * only_heuristic + [(False, True)] * only_same
        pattern += [(False, False)] * (len(items) - len(pattern))
        rng.shuffle(pattern)
        called |= dict(zip(items, pattern, strict=True))
    for item in said:
        for classifier, is_dissimilar in zip(("heuristic", "same"), called[item], strict=True):
            yield item, classifier, "dissimilar" if is_dissimilar else "similar"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "replication")
    parser.add_argument("--seed", type=int, default=1, help="random seed for what the paper leaves open")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    rows = labels(rng)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, header, table in (
        ("labels.csv", ("item", "reviewer", "part", "label"), rows),
        ("verdicts.csv", ("item", "classifier", "verdict"), list(verdicts(rows, rng))),
    ):
        with (options.out / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(table)
        print(f"Wrote {options.out / name}: {len(table)} rows.")


if __name__ == "__main__":
    main()
