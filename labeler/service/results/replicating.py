"""The numbers of the paper beside ours, from a data set that has its published counts.

Bauer et al., "Searching for the Ground Truth: Assessing the Similarity of Benchmarking Runs", ICPE '23 Companion,
doi:10.1145/3578245.3584693.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from labeler.service.results.reporting import REPLICATION_NOTE, Gathered, gathered_files

PAIRS_IN_PERCENT = {"R1 – R2": 47, "R1 – R3": 57, "R1 – R4": 35, "R2 – R3": 53, "R2 – R4": 77, "R3 – R4": 62}
CONFUSION = {
    "same": ("Table 2", {"tp": 52, "fp": 23, "fn": 137, "tn": 112}),
    "heuristic": ("Table 3", {"tp": 173, "fp": 82, "fn": 16, "tn": 53}),
}


@dataclass(frozen=True)
class PaperComparison:
    """One printed number beside ours; `note` where the paper differs from itself."""

    where: str
    what: str
    paper: str
    ours: str
    agrees: bool
    note: str = ""


def replication(folder: Path) -> Gathered:
    """The replication data set, which holds labels.csv and verdicts.csv, as the ordinary report takes it."""
    return gathered_files(folder / "labels.csv", folder / "verdicts.csv", (REPLICATION_NOTE,))


def with_published(content: Mapping[str, Any]) -> dict[str, Any]:
    """The report with the published numbers beside ours."""
    return {**content, "published": [asdict(comparison) for comparison in compare(content)]}


def compare(content: Mapping[str, Any]) -> list[PaperComparison]:
    """Every number of the paper's Tables 1 to 3, percent agreement and kappa, beside the report's."""
    return [*_overall(content), *_pairs(content), *_classifiers(content)]


def _overall(content: Mapping[str, Any]) -> Iterator[PaperComparison]:
    agreement, consensus = content["agreement"], content["consensus"]
    yield _same("4.1", "items", 586, consensus["n_items"], note="printed once as 568, a slip")
    yield _same("4.1", "agreed items", 324, consensus["agreed"])
    yield _same("4.1", "agreed, dissimilar", 189, consensus["agreed_dissimilar"])
    yield _same("4.1", "agreed, similar", 135, consensus["agreed_similar"])
    yield _rounded("4.1", "percent agreement", 55, agreement["percent"]["value"])
    kappa = agreement["fleiss_kappa"]["value"]
    yield PaperComparison("4.1", "Fleiss' kappa", "0.1", f"{kappa:.5f}", round(kappa, 1) == 0.1)


def _pairs(content: Mapping[str, Any]) -> Iterator[PaperComparison]:
    ours = {f"{pair['a']} – {pair['b']}": pair["percent"]["value"] for pair in content["agreement"]["pairs"]}
    for pair, percent in PAIRS_IN_PERCENT.items():
        yield _rounded("Table 1", pair, percent, ours[pair])


def _classifiers(content: Mapping[str, Any]) -> Iterator[PaperComparison]:
    for name, (table, cells) in CONFUSION.items():
        for cell, count in cells.items():
            yield _same(table, f"{name} {cell}", count, content["classifiers"][name]["confusion"][cell])
    same, heuristic = (content["classifiers"][name] for name in ("same", "heuristic"))
    note = "112 of 135 is 82.96 %; the paper prints 83 and, once, 82"
    yield _rounded("section 1", "same specificity", 83, same["specificity"]["value"], note)
    yield _rounded("4.2", "heuristic sensitivity", 92, heuristic["sensitivity"]["value"])


def _same(where: str, what: str, paper: int, ours: int, note: str = "") -> PaperComparison:
    return PaperComparison(where, what, str(paper), str(ours), paper == ours, note)


def _rounded(where: str, what: str, paper: int, share: float, note: str = "") -> PaperComparison:
    return PaperComparison(where, what, f"{paper} %", f"{100 * share:.2f} %", round(100 * share) == paper, note)
