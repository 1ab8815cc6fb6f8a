"""Write docs/results/points.md: published scores of marks found again, and the agreement of simulated people.

python -m tests.performance.points
"""

from typing import Any

import numpy as np
from scipy import stats

from analysis.methods.points import covering, f1, mark_agreement
from tests.analysis.methods.test_points import FIRST, FOURTH, NILE, SECOND, THIRD, marked
from tests.performance.measuring import table, write_page

N_SERIES = 5000
PUBLISHED: tuple[
    tuple[str, Any, list[int], int, float | None, float | None], ...
] = (  # set, people, marks, n, published F1, published covering
    ("nile", NILE, [], 100, 0.8235294117647058, 0.75808),
    ("nile", NILE, [27], 100, 1.0, 0.8800821917808218),
    ("nile", NILE, [28], 100, 1.0, 0.888),
    ("nile", NILE, [46], 100, 0.5833333333333333, 0.6422608695652174),
    ("example 1", FIRST, [10, 20], 45, 1.0, None),
    ("example 2", SECOND, [10], 60, 0.9090909090909091, None),
    ("example 2", SECOND, [], 60, 0.8, None),
    ("example 3", THIRD, [10, 20], 45, None, 0.7962962962962963),
    ("example 4", FOURTH, [10], 45, None, 0.7954144620811286),
    ("example 4", FOURTH, [], 45, None, 0.8189300411522634),
)


def main() -> None:
    rows, differences = [], []
    for name, people, marks, n, *published in PUBLISHED:
        row: dict[str, Any] = {"Set": name, "Marks": marks or "none"}
        scores = {"F1": f1(people, marks).value, "Covering": covering(people, marks, n)}
        for (measure, score), known in zip(scores.items(), published, strict=True):
            row[measure] = "–" if known is None else f"{score:.6f}"
            differences += [] if known is None else [abs(score - known)]
        rows.append(row)
    agreement = mark_agreement(marked(N_SERIES, 3, people="ab"), permutations=0)
    pairs = [
        {
            "Margin": f"{row.margin:g}",
            "F1 of the pair": f"{row.pairs.value:.3f}",
            "Expected": f"{2 * stats.norm.cdf((row.margin + 0.5) / (3 * np.sqrt(2))) - 1:.3f}",
        }
        for row in agreement.margins
        if not row.is_share
    ]
    page = TEMPLATE.format(
        n=len(differences), largest=max(differences), rows=table(rows), n_series=N_SERIES, pairs=table(pairs)
    )
    write_page("points", page)


TEMPLATE = """# Marks: published scores, and people with a known error

`python -m tests.performance.points` writes this page, except the section on experts.

## Published scores

F1 and covering of marks as the Turing change point data set and its benchmark publish them. The largest difference of
{n} scores is {largest:.1g}.

{rows}

## Two people with an error of 3 points

{n_series} series with one change; two people mark it with independent normal errors with a standard deviation of 3
points. Expected is the probability that both marks are within the margin.

{pairs}

## Five experts on the start of the steady state

Five experts marked run 0 of 141 JMH benchmarks (arXiv:2506.04204; the publication has 407 runs). Krippendorff's alpha
of the start is .202 (95 % CI .114 to .282; published: .236), and .349 (.242 to .431) for log(1 + start) (published:
.354). Two people are within 5 iterations of each other in 0.7 to 21.3 % of the runs (published: 1 to 20 %). In 95 % of
the runs, the starts of two people differ by less than a factor of 25. No rule of `labeler steady` may replace one of
them (epsilon .2)."""

if __name__ == "__main__":
    main()
