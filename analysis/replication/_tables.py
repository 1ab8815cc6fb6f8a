"""Lay out the numbers of a report as the paper lays out its Tables 1 to 3."""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.document import Table, percent, table

TITLES = {"same": "Table 2: the agreed items, SAME.", "heuristic": "Table 3: the agreed items, the heuristic."}


def paper_tables(content: Mapping[str, Any]) -> Iterator[Table]:
    """Yield Table 1 as one row of pairs, and Tables 2 and 3 as 2 x 2, reviewers against classifier.

    Parameters
    ----------
    content : mapping
        The numbers of a report, as returned by `analysis.report.summarise`.
    """
    pairs = {tuple(sorted((pair["a"], pair["b"]))): pair["percent"]["value"] for pair in content["agreement"]["pairs"]}
    if pairs:
        yield table(
            "Table 1: agreement of each pair of reviewers.",
            [f"{a}-{b}" for a, b in sorted(pairs)],
            [[percent(pairs[pair]) for pair in sorted(pairs)]],
            range(len(pairs)),
        )
    for name, title in TITLES.items():
        row = content["classifiers"].get(name)
        if row is not None:
            cells = row["confusion"]
            yield table(
                title,
                ("Reviewers", "Classifier: similar", "Classifier: dissimilar"),
                [("similar", cells["tn"], cells["fp"]), ("dissimilar", cells["fn"], cells["tp"])],
                (1, 2),
            )
