"""Compare runs in one fixed order with runs in random order, to test whether the order of benchmarks matters.

The design and the test follow Duplyakin et al. (2023), Avoiding the Ordering Trap in Systems Performance Measurement,
USENIX ATC '23, https://www.usenix.org/conference/atc23/presentation/duplyakin. If all runs are in random order, two
weaker tests check whether a value depends on the position in the run or on the previous benchmark.
"""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use
from analysis.order._compare import (
    Comparison,
    Side,
    delta_percent,
    interval_case,
    smallest_p,
)
from analysis.order._failures import Dropped, drop_failed
from analysis.order._medians import median_interval
from analysis.order._positions import After, Placed, after_predecessor, position_trend, predecessors
from analysis.order._survey import Survey, survey
from analysis.order._systems import Conclusion, conclusion, count_flags, flag

if TYPE_CHECKING:
    from analysis.order._document import document
    from analysis.order._figures import charts

__all__ = [
    "After",
    "Comparison",
    "Conclusion",
    "Dropped",
    "Placed",
    "Side",
    "Survey",
    "after_predecessor",
    "charts",
    "conclusion",
    "count_flags",
    "delta_percent",
    "document",
    "drop_failed",
    "flag",
    "interval_case",
    "median_interval",
    "position_trend",
    "predecessors",
    "smallest_p",
    "survey",
]  # fmt: skip
__getattr__ = on_first_use(__name__, {"document": "_document", "charts": "_figures"})
