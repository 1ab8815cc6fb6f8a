"""Compare runs in one fixed order with runs in random order, to test whether the order of benchmarks matters.

The design and the test follow Duplyakin et al. (2023), Avoiding the Ordering Trap in Systems Performance Measurement,
USENIX ATC '23, https://www.usenix.org/conference/atc23/presentation/duplyakin. If all runs are in random order, two
weaker tests check whether a value depends on the position in the run or on the previous benchmark.
"""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use
from analysis.methods.order._compare import (
    conclusion as conclusion,
    delta_percent as delta_percent,
    flag as flag,
    interval_case as interval_case,
    median_interval as median_interval,
    min_attainable_p as min_attainable_p,
)
from analysis.methods.order._survey import (
    OrderOptions as OrderOptions,
    OrderSurvey as OrderSurvey,
    after_predecessor as after_predecessor,
    drop_failed as drop_failed,
    order_survey as order_survey,
    position_trend as position_trend,
    predecessors as predecessors,
)

if TYPE_CHECKING:
    from analysis.methods.order._document import document as document
    from analysis.methods.order._figures import charts as charts

__getattr__ = on_first_use(__name__, {"document": "_document", "charts": "_figures"})
