"""Agreement once a study is closed, in a few numbers and without names; the report says more."""

from dataclasses import dataclass
from typing import Any

from analysis import consensus
from analysis.agreement import fleiss_kappa, percent_agreement
from analysis.intervals import Estimate
from analysis.tables import count_table, counted_labels
from labeler.service.results import history
from labeler.store import Database, items, labels


@dataclass(frozen=True)
class InterimAgreement:
    """Agreement of the first labels, over the items that count.

    Attributes
    ----------
    n_agreed, n_split, n_incomplete : int
        Items with at least two first labels that are all equal, not all equal; with fewer than two.
    percent, kappa : Estimate
        Percent agreement and Fleiss' kappa.
    """

    n_agreed: int
    n_split: int
    n_incomplete: int
    percent: Estimate
    kappa: Estimate

    def rows(self) -> list[dict[str, Any]]:
        """The two statistics as a table to be shown; one that is undefined says why."""
        return [
            {
                "statistic": name,
                "value": _rounded(estimate.value),
                "from": _rounded(estimate.low),
                "to": _rounded(estimate.high),
                "remark": estimate.reason or "95 % interval",
            }
            for name, estimate in (("agreement (share)", self.percent), ("Fleiss' kappa", self.kappa))
        ]


def current_agreement(db: Database) -> InterimAgreement:
    """Agreement as the labels are now; whoever shows it asks `visibility` first."""
    counting = {item.name for item in items.all_items(db)} - history.not_counted(db)
    first = counted_labels(labels.table(db))
    first = first[first["item"].isin(counting)]
    counts, status = count_table(first), consensus.agreed_only(first)["status"]
    n_agreed, n_split = (int((status == name).sum()) for name in (consensus.AGREED, consensus.SPLIT))
    return InterimAgreement(
        n_agreed, n_split, len(counting) - n_agreed - n_split, percent_agreement(counts), fleiss_kappa(counts)
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
