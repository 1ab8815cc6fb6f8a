"""Classifiers among themselves, on items that nobody has labelled: how far they agree, and where they do not."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.agreement._pairs import cohen_kappa
from analysis.categories import CATEGORIES, DISSIMILAR, SIMILAR
from analysis.intervals import Estimate, wilson


@dataclass(frozen=True)
class Among:
    """Two classifiers on the items that both judged.

    Attributes
    ----------
    a, b : str
    n : int
        Items that both judged.
    agree : Estimate
        Share of these with the same verdict.
    kappa : Estimate
        Cohen's, of the two.
    a_finds, b_finds : Estimate
        Of the items that the other calls dissimilar, the share that `a` (or `b`) calls so too.
    a_clears, b_clears : Estimate
        Of the items that the other calls similar, the share that `a` (or `b`) calls so too.
    """

    a: str
    b: str
    n: int
    agree: Estimate
    kappa: Estimate
    a_finds: Estimate
    b_finds: Estimate
    a_clears: Estimate
    b_clears: Estimate


def classifiers_among_themselves(verdicts: pd.DataFrame, *, level: float = 0.95) -> list[Among]:
    """Agreement of every two classifiers; no consensus is needed.

    Parameters
    ----------
    verdicts : DataFrame
        Columns item, classifier, verdict (similar, dissimilar, or missing); one row an item and classifier.
    level : float

    Returns
    -------
    list of Among
        In the order in which the classifiers first appear.

    Raises
    ------
    ValueError
        If a column is missing, a verdict is another word, or a classifier judged an item twice.

    Examples
    --------
    >>> table = pd.DataFrame({"item": [1, 2, 1, 2], "classifier": ["a", "a", "b", "b"],
    ...                       "verdict": ["similar", "dissimilar", "similar", "similar"]})
    >>> found = classifiers_among_themselves(table)[0]
    >>> found.agree.value, found.a_finds.reason, found.a_clears.value
    (0.5, 'no observations', 0.5)
    """
    wide = _wide(verdicts)
    found = []
    for a, b in combinations(wide.columns, 2):
        both = wide[[a, b]].dropna()
        x, y = (both[name].to_numpy() == DISSIMILAR for name in (a, b))
        table = [[int((x & y).sum()), int((x & ~y).sum())], [int((~x & y).sum()), int((~x & ~y).sum())]]
        (tt, tf), (ft, ff) = table
        shares = ((tt, tt + ft), (tt, tt + tf), (ff, ff + tf), (ff, ff + ft))
        finds_and_clears = [wilson(part, whole, level) for part, whole in shares]
        agree = wilson(tt + ff, len(both), level)
        found.append(Among(str(a), str(b), len(both), agree, cohen_kappa(table, level=level), *finds_and_clears))
    return found


def send_first(verdicts: pd.DataFrame, *, n: int | None = None) -> pd.DataFrame:
    """The items on which the classifiers disagree most: there a reviewer's label tells most.

    Parameters
    ----------
    verdicts : DataFrame
        As in `classifiers_among_themselves`, and optionally score and threshold.
    n : int, optional
        No more than so many.

    Returns
    -------
    DataFrame
        One row an item on which two classifiers differ: item, dissimilar, similar (lists of classifiers), disagreement
        (share of pairs of classifiers that differ, in (0, 1]), margin (the smallest distance of a score from its
        threshold, relative to the threshold; missing without scores). The largest disagreement first, then the smallest
        margin.

    Raises
    ------
    ValueError
        As `classifiers_among_themselves`.
    """
    wide = _wide(verdicts)
    n_dissimilar, n_similar = ((wide == category).sum(axis=1).to_numpy() for category in (DISSIMILAR, SIMILAR))
    differ = (n_dissimilar > 0) & (n_similar > 0)
    n_dissimilar, n_similar, wide = n_dissimilar[differ], n_similar[differ], wide[differ]
    n_judged = n_dissimilar + n_similar
    margins = _margins(verdicts)
    table = pd.DataFrame(
        {
            "item": wide.index.to_numpy(),
            "disagreement": n_dissimilar * n_similar / (n_judged * (n_judged - 1) / 2),
            "margin": [margins.get(item, np.nan) for item in wide.index],
        }
    )
    ordered = table.sort_values(["disagreement", "margin"], ascending=[False, True], kind="stable")
    ordered = ordered if n is None else ordered.head(n)
    names, chosen = [str(name) for name in wide.columns], wide.to_numpy()[ordered.index]
    for place, category in enumerate((DISSIMILAR, SIMILAR), start=1):
        of_category = [[name for name, is_it in zip(names, row, strict=True) if is_it] for row in chosen == category]
        ordered.insert(place, category, pd.Series(of_category, index=ordered.index, dtype=object))
    return ordered.reset_index(drop=True)


def _wide(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Items by classifiers, None where there is no verdict."""
    missing = [name for name in ("item", "classifier", "verdict") if name not in verdicts.columns]
    if missing:
        raise ValueError(f"verdicts lack the column {', '.join(missing)}; they have {', '.join(map(str, verdicts))}")
    known = verdicts["verdict"].notna()
    unknown = verdicts[known & ~verdicts["verdict"].isin(CATEGORIES)]
    if len(unknown):
        raise ValueError(f"{unknown['verdict'].iloc[0]!r} is not one of: {', '.join(CATEGORIES)}")
    doubled = verdicts[verdicts.duplicated(["item", "classifier"])]
    if len(doubled):
        row = doubled.iloc[0]
        raise ValueError(f"classifier {row['classifier']!r} has two verdicts on item {str(row['item'])!r}")
    order = _in_order(verdicts["classifier"])
    given = verdicts[["item", "classifier", "verdict"]].astype(object)
    wide = given.pivot(index="item", columns="classifier", values="verdict").reindex(columns=order)
    return wide.reindex(_in_order(verdicts["item"])).where(lambda table: table.notna(), None)


def _in_order(column: "pd.Series[Any]") -> list[Any]:
    return list(dict.fromkeys(column))


def _margins(verdicts: pd.DataFrame) -> dict[object, float]:
    """The smallest distance of a score from its threshold by item, as a share of the threshold."""
    if not {"score", "threshold"} <= set(verdicts.columns):
        return {}
    scores, thresholds = (pd.to_numeric(verdicts[name]) for name in ("score", "threshold"))
    margins = ((scores - thresholds).abs() / thresholds.abs().where(thresholds != 0)).groupby(verdicts["item"]).min()
    return dict(margins.dropna().items())
