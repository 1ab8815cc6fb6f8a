"""Compute how much classifiers agree with each other; this needs no labels."""

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.agreement._coefficients import Categories
from analysis.agreement._pairs import cohen_kappa, tables_of, two_by_two
from analysis.categories import CATEGORIES
from analysis.intervals import Estimate, wilson
from analysis.results import Result
from analysis.tables import checked_verdicts, positive_category


@dataclass(frozen=True, repr=False)
class Among(Result):
    """Agreement of two classifiers on the items that both of them judged."""

    a: str
    b: str
    n: int  # number of items with a verdict of both classifiers
    agree: Estimate  # share of items with equal verdicts
    kappa: Estimate  # Cohen's kappa of the two classifiers
    # Of the items that the other classifier calls dissimilar (the positive category), the share that `a` (or `b`)
    # also calls dissimilar.
    a_finds: Estimate
    b_finds: Estimate
    # Of the items that the other classifier calls similar, the share that `a` (or `b`) also calls similar.
    a_clears: Estimate
    b_clears: Estimate


def classifiers_among_themselves(
    verdicts: pd.DataFrame,
    categories: Categories = CATEGORIES,
    *,
    positive: Hashable | None = None,
    level: float = 0.95,
) -> list[Among]:
    """Compute the agreement of each pair of classifiers. No consensus is needed.

    Raises ValueError if a column is missing, a verdict is unknown, or a classifier judged an item twice.

    `verdicts`: columns item, classifier, verdict (a category, or missing); one row per item and classifier. `positive`:
    by default the last of two categories; with more and without it, what a classifier finds and clears is undefined.
    The result is in order of first appearance of the classifiers.

    Examples
    --------
    >>> table = pd.DataFrame({"item": [1, 2, 1, 2], "classifier": ["a", "a", "b", "b"],
    ...                       "verdict": ["similar", "dissimilar", "similar", "similar"]})
    >>> pair = classifiers_among_themselves(table)[0]
    >>> pair.agree.value, pair.a_finds.reason, pair.a_clears.value
    (0.5, 'no observations', 0.5)
    """
    wide = _wide(verdicts, categories)
    has_positive = positive is not None or len(categories) == 2
    k = tuple(categories).index(positive_category(categories, positive)) if has_positive else 0
    pairs = []
    for a, b in combinations(wide.columns, 2):
        common = wide[[a, b]].dropna().to_numpy(np.float64)
        cells = tables_of([a, b], common, len(categories)).get((a, b), np.zeros((len(categories),) * 2))
        table = two_by_two(cells, k)
        shares = (
            (table.a, table.a + table.c), (table.a, table.a + table.b),
            (table.d, table.d + table.b), (table.d, table.d + table.c),
        )  # fmt: skip
        finds_and_clears = [
            wilson(part, whole, level) if has_positive else Estimate(None, reason="there is no positive category")
            for part, whole in shares
        ]
        agree = wilson(int(np.trace(cells)), len(common), level)
        pairs.append(Among(str(a), str(b), len(common), agree, cohen_kappa(cells, level=level), *finds_and_clears))
    return pairs


def send_first(verdicts: pd.DataFrame, categories: Categories = CATEGORIES, *, n: int | None = None) -> pd.DataFrame:
    """Return the items on which classifiers disagree most, because labels of these items are most informative.

    Raises ValueError as `classifiers_among_themselves`.

    `verdicts`: as in `classifiers_among_themselves`, and optionally score and threshold; `n`: maximum number of items.
    Returns one row per item with different verdicts. The columns are item, a column for each category that lists the
    classifiers (last category first), disagreement and margin. Disagreement is the share of pairs of classifiers that
    differ, in (0, 1]. Margin is the smallest distance of a score from its threshold, relative to the threshold; it is
    missing if there are no scores. Rows are sorted by largest disagreement, then by smallest margin.
    """
    wide = _wide(verdicts, categories)
    codes, names = wide.to_numpy(), [str(name) for name in wide.columns]
    counts = np.stack([(codes == k).sum(axis=1) for k in range(len(categories))], axis=1)
    n_judged, n_equal = counts.sum(axis=1), (counts * (counts - 1)).sum(axis=1)
    rows = np.flatnonzero(counts.max(axis=1) < n_judged)
    margins = _margins(verdicts)
    table = pd.DataFrame(
        {
            "item": wide.index.to_numpy()[rows],
            "disagreement": 1 - n_equal[rows] / (n_judged[rows] * (n_judged[rows] - 1)),
            "margin": [margins.get(item, np.nan) for item in wide.index[rows]],
        }
    )
    ordered = table.sort_values(["disagreement", "margin"], ascending=[False, True], kind="stable")
    ordered = ordered if n is None else ordered.head(n)
    for place, k in enumerate(range(len(categories))[::-1], start=1):
        chosen = codes[rows[ordered.index]] == k
        of_category = [[name for name, is_it in zip(names, row, strict=True) if is_it] for row in chosen]
        ordered.insert(place, tuple(categories)[k], pd.Series(of_category, index=ordered.index, dtype=object))
    return ordered.reset_index(drop=True)


def _wide(verdicts: pd.DataFrame, categories: Categories) -> pd.DataFrame:
    """Return a table with one row per item and one column per classifier, in order of first appearance.

    An entry is the position of the category, or NaN if there is no verdict.
    """
    verdicts = checked_verdicts(verdicts, categories)
    place = {category: float(k) for k, category in enumerate(categories)}
    codes = verdicts[["item", "classifier"]].assign(code=verdicts["verdict"].map(place).astype(float))
    wide = codes.pivot(index="item", columns="classifier", values="code")
    return wide.reindex(index=_in_order(verdicts["item"]), columns=_in_order(verdicts["classifier"]))


def _in_order(column: "pd.Series[Any]") -> list[Any]:
    return list(dict.fromkeys(column))


def _margins(verdicts: pd.DataFrame) -> dict[object, float]:
    """Return the smallest distance of a score of each item from its threshold, as a share of the threshold."""
    if not {"score", "threshold"} <= set(verdicts.columns):
        return {}
    scores, thresholds = (pd.to_numeric(verdicts[name]) for name in ("score", "threshold"))
    margins = ((scores - thresholds).abs() / thresholds.abs().where(thresholds != 0)).groupby(verdicts["item"]).min()
    return dict(margins.dropna().items())
