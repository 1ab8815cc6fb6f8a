"""Summarise agreement so far, for repeated looks. The summary has no names; the report has the details."""

from dataclasses import asdict, dataclass
from typing import Any

from analysis import consensus
from analysis.agreement import agreement_so_far
from analysis.intervals import Estimate
from analysis.tables import counted_labels
from labeler.service.cache import until_changed
from labeler.service.results import history
from labeler.store import Database, items, labels, studies


@dataclass(frozen=True)
class InterimAgreement:
    """The agreement of the first labels, without excluded and calibration items."""

    # Numbers of items whose first labels are all equal, whose first labels differ, and that have fewer than two
    # first labels.
    n_agreed: int
    n_split: int
    n_incomplete: int
    percent: Estimate  # percent agreement and Fleiss' kappa, with always-valid intervals
    kappa: Estimate
    kappa_once: Estimate  # kappa with the ordinary interval, which is valid for one look at a fixed number of items
    wider: float | None  # how many times as wide the always-valid interval of kappa is
    stop_half_width: float | None  # the stopping rule of the plan

    def json_values(self) -> dict[str, Any]:
        """Return the summary as values for JSON."""
        return asdict(self)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Describe agreement so far, the price of looking often, and the stopping rule."""
        lines = [
            f"Items: {self.n_agreed} agreed, {self.n_split} split, {self.n_incomplete} incomplete.",
            f"Percent agreement: {describe(self.percent)}",
            f"Fleiss' kappa: {describe(self.kappa)}",
        ]
        if self.wider is not None:
            lines.append(
                "These intervals stay valid however often you look and whenever you stop. The price: the interval "
                f"of kappa is {self.wider:.1f} times as wide as for a single look after a number of items fixed in "
                "advance."
            )
        half = self.kappa.half_width
        if self.stop_half_width is None:
            lines.append("The plan has no stopping rule, so all items are to be labelled.")
        elif half is None:
            lines.append(f"Stopping rule of the plan (kappa within ±{self.stop_half_width:g}): no interval yet.")
        else:
            reached = "reached" if half <= self.stop_half_width else "not reached"
            lines.append(
                f"Stopping rule of the plan (kappa within ±{self.stop_half_width:g}): {reached}; the interval is now "
                f"±{half:.2f}."
            )
        return tuple(lines)


@until_changed
def current_agreement(db: Database) -> InterimAgreement:
    """Return the agreement of the current labels.

    A caller that shows the result must first check with `visibility` that the person may see it.
    """
    counting = {item.name for item in items.all_items(db)} - history.not_counted(db)
    first = counted_labels(labels.table(db))
    first = first[first["item"].isin(counting)]
    status, so_far = consensus.agreed_only(first)["status"], agreement_so_far(first)
    n_agreed, n_split = (int((status == name).sum()) for name in (consensus.AGREED, consensus.SPLIT))
    return InterimAgreement(
        n_agreed, n_split, len(counting) - n_agreed - n_split, so_far.percent, so_far.kappa, so_far.kappa_once,
        so_far.wider, (studies.get(db).plan_parameters or {}).get("stop_half_width"),
    )  # fmt: skip


def describe(estimate: Estimate) -> str:
    """Return a statistic with its 95 % interval as text; if the statistic has no value, return the reason."""
    if estimate.value is None:
        return f"undefined, because {estimate.reason}."
    between = "" if estimate.low is None else f", 95 % interval {estimate.low:.2f} to {estimate.high:.2f}"
    return f"{estimate.value:.2f}{between}."
