"""Build tables and figures of the dissimilarity measures on which verdicts depend."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use
from analysis.measures._tables import mean_measures, measure_numbers, measure_table, measures_of

if TYPE_CHECKING:
    from analysis.measures._figures import (
        means,
        measures_by_application,
        measures_by_benchmark,
        pair_matrix,
        schematic_pairs,
    )

__all__ = [
    "mean_measures", "means", "measure_numbers", "measure_table", "measures_by_application", "measures_by_benchmark",
    "measures_of", "pair_matrix", "schematic_pairs",
]  # fmt: skip
_FIGURES = ("means", "measures_by_application", "measures_by_benchmark", "pair_matrix", "schematic_pairs")
__getattr__ = on_first_use(__name__, dict.fromkeys(_FIGURES, "_figures"))
