"""Agreement within groups of items, of classifiers among themselves, and of a study that is not finished."""

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, special

from analysis.arrays import Floats
from analysis.categories import CATEGORIES
from analysis.raters.agreement._coefficients import fleiss_kappa, percent_agreement
from analysis.raters.agreement._formulas import (
    ONE_CATEGORY,
    Categories,
    chance_corrected,
    fleiss_chance,
    possible_rows,
    rated,
    too_few_rare,
)
from analysis.raters.agreement._pairs import cohen_kappa, tables_of, two_by_two
from analysis.raters.tables import Counts, checked_labels, checked_verdicts, count_table, positive_category
from analysis.statistics.intervals import Estimate, checked_level, linearised, one_sided, wilson
from analysis.statistics.likelihood import likelihood_ends
from analysis.statistics.results import Result

NO_POSITIVE = "there is no positive category"
LEAST_ITEMS = 10  # a kappa of fewer items says nothing


@dataclass(frozen=True, repr=False)
class GroupAgreement(Result):
    """Agreement of the labels in one group with all other labels of the same items."""

    group: object  # the value of the column
    n_items: int  # Number of items and number of labels. Both count only items that have another label.
    n_labels: int
    # Share of the positive category (dissimilar) among all labels of the group, with Wilson's interval.
    dissimilar: Estimate
    percent: Estimate
    kappa: Estimate


def by_group(
    labels: pd.DataFrame,
    column: str,
    categories: Categories = CATEGORIES,
    *,
    positive: Hashable | None = None,
    level: float = 0.95,
) -> list[GroupAgreement]:
    """Compute percent agreement and kappa of each group of labels.

    The agreement of a label is the share of equal labels among the other labels of the same item. `percent` is the mean
    of these shares. Each label has weight 1 / r_i, where r_i is the number of labels of the item. An item whose labels
    are all in the group therefore has weight 1. Chance agreement compares the group's labels with the other labels of
    their items, and kappa is (pa - pe) / (1 - pe).

    If the column describes items, such as the application, the results are percent agreement and Fleiss' kappa of the
    group. Items with only one label are then left out. If the column describes labels, such as the position, the other
    labels of an item can be in another group. Raises ValueError if the label table is invalid, or `column` is missing.

    `labels`: label table: columns item, rater, category and `column`; at most one label per (item, rater). Labels with
    a missing value in `column` belong to no group, but other labels are still compared with them. `column`: column that
    defines the groups; `positive`: the category whose share is computed; by default the last of two. Of more
    categories, there is no default, and without it the share is undefined. `level`: confidence level. If the column
    describes items, the intervals are those of `percent_agreement` and `fleiss_kappa`. Otherwise, they are linearised
    over items [1]_ with n_items - 1 degrees of freedom. Returns one entry per value of `column`, sorted by value. An
    entry is undefined if no item of the group has another label; kappa is also undefined if only one category was used,
    or if the group has fewer than 10 items.

    References
    ----------
    .. [1] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600
    """
    if column not in labels.columns:
        raise ValueError(f"label table lacks the column {column}; it has {', '.join(map(str, labels))}")
    table = _partnered(labels, categories)
    if positive is None and len(categories) > 2:
        table["positive"] = np.nan
    else:
        table["positive"] = table["k"] == list(categories).index(positive_category(categories, positive))
    return [
        _of_group(group, table.loc[rows.index], len(categories), level)
        for group, rows in table.assign(group=labels[column].to_numpy()).groupby("group", sort=True)
    ]


def by_order(
    labels: pd.DataFrame,
    column: str = "position",
    categories: Categories = CATEGORIES,
    *,
    positive: Hashable | None = None,
    n_parts: int = 3,
    level: float = 0.95,
) -> list[GroupAgreement]:
    """Sort each rater's labels by a column, divide them into equal parts, and compute the agreement of each part.

    Raises ValueError as in `by_group`, or if `n_parts` is below 2.

    `column`: column to sort by: position, time, or time on task (fastest labels first); `n_parts`: number of parts, >=
    2: 3 for tertiles, 10 for deciles. Returns one entry per part, 1 to `n_parts`; parts without labels are left out.
    """
    if n_parts < 2:
        raise ValueError(f"n_parts must be at least 2, got {n_parts}")
    checked_labels(labels, categories)
    if column not in labels.columns:
        raise ValueError(f"label table lacks the column {column}; it has {', '.join(map(str, labels))}")
    of_rater = in_order(labels[column]).groupby(labels["rater"])
    part = np.ceil(of_rater.rank() * n_parts / of_rater.transform("count"))
    return by_group(labels.assign(part=part.astype("Int64")), "part", categories, positive=positive, level=level)


def in_order(values: pd.Series) -> pd.Series:
    """Return the rank of each value among the distinct numbers, times or texts; NaN for a missing value."""
    rank = {value: i for i, value in enumerate(sorted(values.dropna().unique()))}
    return values.map(rank).astype(float)


def partner_agreement(labels: pd.DataFrame, categories: Categories = CATEGORIES) -> pd.Series:
    """Return the agreement of each label: the share of equal labels among the other labels of the same item.

    The result is in [0, 1], with the index of `labels`; missing if the item has no other label.
    """
    table = _partnered(labels, categories)
    agreement: pd.Series = table["agreement"].where(table["r_i"] >= 2).set_axis(labels.index)
    return agreement


def _partnered(labels: pd.DataFrame, categories: Categories) -> pd.DataFrame:
    """Return a table with one row per label: item, category, r_i, counts of the item's other labels, agreement."""
    table = checked_labels(labels, categories)
    item = pd.factorize(table["item"])[0]
    k = table["category"].map({name: k for k, name in enumerate(categories)}).to_numpy(dtype=np.int64)
    q, n_items = len(categories), int(item.max(initial=-1)) + 1
    counts = np.bincount(item * q + k, minlength=n_items * q).reshape(n_items, q)
    partners = counts[item] - np.eye(q, dtype=np.int64)[k]
    n_partners = partners.sum(axis=1)
    equal = partners[np.arange(len(k)), k]
    columns = {"item": item, "k": k, "r_i": n_partners + 1, "agreement": equal / np.maximum(n_partners, 1)}
    return pd.DataFrame(columns | {f"partner_{j}": partners[:, j] / np.maximum(n_partners, 1) for j in range(q)})


def _of_group(group: object, table: pd.DataFrame, q: int, level: float) -> GroupAgreement:
    is_known = bool(table["positive"].notna().all())
    share = (
        wilson(float(table["positive"].sum()), len(table), level) if is_known else Estimate(None, reason=NO_POSITIVE)
    )
    shared = table[table["r_i"] >= 2]
    if not len(shared):
        undefined = Estimate(None, reason="the items of this group have no other labels")
        return GroupAgreement(group, 0, 0, share, undefined, undefined)
    number, _ = pd.factorize(shared["item"])
    weight = 1 / shared["r_i"].to_numpy()
    own = np.eye(q)[shared["k"].to_numpy()]
    partner = shared[[f"partner_{j}" for j in range(q)]].to_numpy()
    agreement = shared["agreement"].to_numpy()
    columns = np.column_stack([np.ones(len(shared)), agreement, own, partner]) * weight[:, None]
    sums = np.zeros((number.max() + 1, columns.shape[1]))
    np.add.at(sums, number, columns)
    few = Estimate(None, reason=f"fewer than {LEAST_ITEMS} items ({len(sums)})") if len(sums) < LEAST_ITEMS else None
    if np.allclose(sums[:, 0], 1):  # the group contains all labels of its items
        counts = np.zeros((len(sums), q))
        np.add.at(counts, number, own)
        rows = Counts(counts)
        percent, kappa = percent_agreement(rows, level=level), few or fleiss_kappa(rows, level=level)
    else:
        w, a, p, s = sums[:, 0], sums[:, 1], sums[:, 2 : 2 + q], sums[:, 2 + q :]
        percent, kappa = _percent(a, w, level), few or _kappa(a, w, p, s, level)
    return GroupAgreement(group, len(sums), len(shared), share, percent, kappa)


def _percent(a: Floats, w: Floats, level: float) -> Estimate:
    """Return the mean of `a` over items divided by the mean of `w` over items, with a linearised interval."""
    pa = float(a.sum() / w.sum())
    if pa == 1 and len(w) > 1:
        return one_sided(1.0, len(w), "items", level, lowest=0.0)
    return linearised(pa, pa + (a - pa * w) / w.mean(), level, lowest=0.0)


def _kappa(a: Floats, w: Floats, own: Floats, partner: Floats, level: float) -> Estimate:
    """Return kappa, (pa - pe) / (1 - pe), with an interval linearised over items.

    `own` and `partner` contain the weights of the labels of the group, and of the other labels, by category.
    """
    pa, p, s = a.sum() / w.sum(), own.sum(axis=0) / w.sum(), partner.sum(axis=0) / w.sum()
    pe = float(p @ s)
    if 1 - pe < 1e-12:
        return Estimate(None, reason=ONE_CATEGORY)
    kappa = float((pa - pe) / (1 - pe))
    few = too_few_rare((own + partner < 2 * w[:, None] - 1e-9).sum(axis=0))
    if few is not None:
        return Estimate(kappa, reason=few)
    if kappa > 1 - 1e-12:
        return one_sided(1.0, len(w), "items", level, scale=float(1 / (1 - pe)))
    pe_i = (own - np.outer(w, p)) @ s + (partner - np.outer(w, s)) @ p
    return linearised(kappa, kappa + (a - pa * w - (1 - kappa) * pe_i) / (w.mean() * (1 - pe)), level)


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


@dataclass(frozen=True, repr=False)
class WeightedEstimates(Result):
    """Estimates that combine random and chosen items, see `analysis.learning.weighted_estimates`."""

    # Number of items with at least two labels. Of these items, the number drawn at random, and the number with
    # weight 0 because no random item was drawn after they were chosen.
    n_items: int
    n_random: int
    n_without: int
    n_labels: int
    share: Estimate  # mean share of positive labels per item, percent agreement, and Fleiss' kappa
    percent: Estimate
    kappa: Estimate


@dataclass(frozen=True, repr=False)
class AgreementSoFar(Result):
    """Agreement of the items labelled so far, with intervals for repeated looks and for a single look."""

    n_items: int  # number of items with at least two labels
    # Percent agreement and Fleiss' kappa with always-valid intervals: all intervals of a study together, one after
    # each item, contain the true value with the probability `level`.
    percent: Estimate
    kappa: Estimate
    # The same with ordinary intervals, which are valid for one look at a number of items that was fixed before.
    percent_once: Estimate
    kappa_once: Estimate
    # How many times as wide the always-valid interval of kappa is; the price of looking often and stopping early.
    wider: float | None


def agreement_so_far(
    labels: pd.DataFrame, categories: Categories = CATEGORIES, *, level: float = 0.95
) -> AgreementSoFar:
    """Compute agreement with a confidence sequence: intervals that remain valid if someone looks after each item [1]_.

    Someone who looks at an ordinary 95 % interval every day, and stops when it looks good, is wrong in many more than
    5 % of studies. The always-valid intervals allow this. Percent agreement uses the beta-binomial mixture, which is
    valid for any shares in [0, 1] [2]_. Kappa uses the Dirichlet-multinomial mixture over the possible rows of labels:
    its limits are the smallest and largest kappa of all shares of rows that the mixture does not exclude. Items must
    become complete in random order.

    `labels`: label table of all labels so far: columns item, rater, category. Items with one label are ignored.
    `level`: probability that all intervals of a study together contain the true value.

    References
    ----------
    .. [1] Howard, Ramdas, McAuliffe, Sekhon (2021), Annals of Statistics 49:1055-1080, doi:10.1214/20-AOS1991
    .. [2] Robbins (1970), Ann. Math. Statist. 41:1397-1409, doi:10.1214/aoms/1177696786
    """
    counts = count_table(labels, categories).to_numpy(dtype=float)
    r, _ = rated(counts, None, categories, at_least=2)
    percent_once, kappa_once = percent_agreement(Counts(r), level=level), fleiss_kappa(Counts(r), level=level)
    if not len(r):
        return AgreementSoFar(0, percent_once, kappa_once, percent_once, kappa_once, None)
    alpha = 1 - checked_level(level)
    percent = _always_valid_share(float(percent_once.value or 0.0), len(r), alpha)
    kappa = _always_valid_kappa(r, kappa_once, alpha)
    wide, narrow = kappa.half_width, kappa_once.half_width
    return AgreementSoFar(len(r), percent, kappa, percent_once, kappa_once, wide / narrow if wide and narrow else None)


def _always_valid_share(share: float, n: int, alpha: float) -> Estimate:
    """Return the shares p for which the uniform mixture is at most 1 / alpha times as likely as p."""
    x = share * n
    limit = special.betaln(x + 1, n - x + 1) + np.log(alpha)

    def room(p: float) -> float:
        return float(special.xlogy(x, p) + special.xlog1py(n - x, -p) - limit)

    low = 0.0 if share == 0 else optimize.brentq(room, 1e-300, share) if room(1e-300) < 0 else 0.0
    high = 1.0 if share == 1 else optimize.brentq(room, share, 1 - 1e-15) if room(1 - 1e-15) < 0 else 1.0
    return Estimate(share, low=float(low), high=float(high))


def _always_valid_kappa(r: Floats, once: Estimate, alpha: float) -> Estimate:
    """Return kappa, and its smallest and largest value that the mixture does not exclude."""
    if once.value is None:
        return Estimate(None, reason=once.reason)
    rows, counts = possible_rows(r)
    sizes, n = rows.sum(axis=1), len(r)
    # The mixture has one Dirichlet distribution for each number of labels per item, because the plan fixes this number.
    mixture = 0.0
    for size in np.unique(sizes):
        of_size = counts[sizes == size]
        k, m = len(of_size), of_size.sum()
        mixture += special.gammaln(k / 2) - special.gammaln(m + k / 2)
        mixture += (special.gammaln(of_size + 0.5) - special.gammaln(0.5)).sum()
        mixture -= float(special.xlogy(of_size, of_size / m).sum()) if m else 0.0
    limit = float(-np.log(alpha) - mixture) / n

    def functional(p: Floats) -> tuple[float, Floats]:
        with np.errstate(divide="ignore", invalid="ignore"):
            value, terms = chance_corrected(fleiss_chance, rows, n * p, np.eye(rows.shape[1]))
        return float(value), np.where(np.isfinite(terms), terms, 0.0) - float(value)

    low, high = likelihood_ends(counts, functional, limit)
    return Estimate(once.value, low=max(low, -1.0), high=min(high, 1.0))
