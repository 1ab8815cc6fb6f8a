"""Summarise the agreement in a closed study. The summary has no names; the report has the details."""

from dataclasses import dataclass

from analysis import consensus
from analysis.agreement import fleiss_kappa, percent_agreement
from analysis.intervals import Estimate
from analysis.tables import count_table, counted_labels
from labeler.service.kept import until_changed
from labeler.service.results import history
from labeler.store import Database, items, labels


@dataclass(frozen=True)
class InterimAgreement:
    """The agreement of the first labels, without excluded and calibration items.

    Attributes
    ----------
    n_agreed, n_split, n_incomplete : int
        Numbers of items whose first labels are all equal, whose first labels differ, and that have fewer than two
        first labels.
    percent, kappa : Estimate
        Percent agreement and Fleiss' kappa.
    """

    n_agreed: int
    n_split: int
    n_incomplete: int
    percent: Estimate
    kappa: Estimate


@until_changed
def current_agreement(db: Database) -> InterimAgreement:
    """Return the agreement of the current labels.

    A caller that shows the result must first check with `visibility` that the person may see it.
    """
    counting = {item.name for item in items.all_items(db)} - history.not_counted(db)
    first = counted_labels(labels.table(db))
    first = first[first["item"].isin(counting)]
    counts, status = count_table(first), consensus.agreed_only(first)["status"]
    n_agreed, n_split = (int((status == name).sum()) for name in (consensus.AGREED, consensus.SPLIT))
    return InterimAgreement(
        n_agreed, n_split, len(counting) - n_agreed - n_split, percent_agreement(counts), fleiss_kappa(counts)
    )


def in_words(estimate: Estimate) -> str:
    """Return a statistic with its 95 % interval as text; if the statistic has no value, return the reason."""
    if estimate.value is None:
        return f"undefined, because {estimate.reason}."
    between = "" if estimate.low is None else f", 95 % interval {estimate.low:.2f} to {estimate.high:.2f}"
    return f"{estimate.value:.2f}{between}."
