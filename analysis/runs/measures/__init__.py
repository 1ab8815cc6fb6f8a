"""Build tables and figures of the dissimilarity measures on which verdicts depend."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use
from analysis.runs.measures._tables import (
    mean_measures as mean_measures,
    measure_numbers as measure_numbers,
    measure_table as measure_table,
    measures_of as measures_of,
)

if TYPE_CHECKING:
    from analysis.runs.measures._figures import (
        means as means,
        measures_by_application as measures_by_application,
        measures_by_benchmark as measures_by_benchmark,
        pair_matrix as pair_matrix,
        schematic_pairs as schematic_pairs,
    )

_FIGURES = ("means", "measures_by_application", "measures_by_benchmark", "pair_matrix", "schematic_pairs")
__getattr__ = on_first_use(__name__, dict.fromkeys(_FIGURES, "_figures"))
