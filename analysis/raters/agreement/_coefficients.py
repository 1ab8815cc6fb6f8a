"""The coefficients of agreement: a public function for each, and a table with one row for each.

A new coefficient is one formula (in `_formulas.py`, or here) and one row of `COEFFICIENTS`: the report, `labeler
agreement --fail-under` and the table in docs/results/measures.md then have it.
"""

from collections.abc import Callable, Hashable, Sequence
from functools import partial

import pandas as pd

from analysis.raters.agreement._formulas import (
    Categories,
    Coefficient,
    CountFormula,
    Needs,
    Weights,
    ac_chance,
    alpha,
    chance_corrected,
    even_chance,
    fleiss_chance,
    observed,
)
from analysis.raters.agreement._named import conger_kappa, light_kappa
from analysis.raters.agreement._pairs import cohen_kappa
from analysis.raters.tables import Ratings
from analysis.statistics.intervals import Estimate, Groups


def percent_agreement(
    ratings: Ratings,
    categories: Categories | None = None,
    *,
    weights: Weights = None,
    level: float = 0.95,
    groups: Groups | None = None,
) -> Estimate:
    """Compute the share of pairs of ratings of an item that agree, averaged over items.

    This share is the observed agreement.

    Parameters
    ----------
    ratings, categories, weights
        As in `fleiss_kappa`. Items with fewer than two ratings are ignored.
    level : float
        Confidence level. If each used item has exactly two ratings and there are no weights or groups, the result is a
        share of items and the interval is Wilson's. Otherwise, the interval is as in `fleiss_kappa` [1]_.
    groups : sequence of hashable, one per item, optional
        As in `fleiss_kappa`.

    Returns
    -------
    Estimate
        In [0, 1]. Undefined if no item has two ratings.

    Raises
    ------
    ValueError
        As in `fleiss_kappa`.

    References
    ----------
    .. [1] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600

    Examples
    --------
    >>> percent_agreement([[2, 0], [2, 0], [0, 2], [1, 1]]).value
    0.75
    """
    return COEFFICIENTS["percent_agreement"].estimate(ratings, categories, weights, level, groups)


def fleiss_kappa(
    ratings: Ratings,
    categories: Categories | None = None,
    *,
    weights: Weights = None,
    level: float = 0.95,
    groups: Groups | None = None,
) -> Estimate:
    """Compute Fleiss' kappa, (pa - pe) / (1 - pe) [1]_, for any number of raters per item [2]_.

    Parameters
    ----------
    ratings : DataFrame or array_like
        One of three forms. A count table (n_items, n_categories) contains the number of raters by item and category. A
        label table is a DataFrame with the columns item, rater, category. Wide ratings (n_items, n_raters) contain the
        category that each rater gave, or a missing value. A table of numbers that could be both is refused: pass
        `Counts(table)` or `WideRatings(table)`. Without them, it contains counts if `categories` are texts, or are not
        given and all rows have the same sum. Items may have different raters; items without a rating are left out. For
        two raters, the result is Scott's pi.
    categories : sequence of hashable, optional
        All declared categories in their order. By default, they are the columns of a count table, and otherwise similar
        and dissimilar.
    weights : str or array_like of float, shape (n_categories, n_categories), optional
        How much two ordinal categories agree: "linear", "quadratic", or a table of weights with 1 on the diagonal. By
        default, different categories disagree completely.
    level : float
        Confidence level of the profile likelihood interval over the shares of all possible rows [3]_. It contains each
        value whose log likelihood ratio is at most 1.15 t^2 / 2, with n_items - 1 degrees of freedom. For two
        categories and exactly two ratings per item, the factor 1.15 is left out, and the interval also contains the
        goodness-of-fit interval [4]_. The factor was measured at a level of 0.95 only. `se` is linearised [2]_.
    groups : sequence of hashable, one per item, optional
        Groups of similar items, such as applications. With at least 20 groups, the standard error is cluster-robust;
        with 5 to 19 groups, it is a jackknife over groups. The limit of the likelihood ratio is multiplied by the
        squared ratio of this standard error to the plain one, if it is above 1, and t has G - 1 degrees of freedom.
        With fewer than 5 groups, there is no interval, and `reason` says so.

    Returns
    -------
    Estimate
        1 for full agreement, 0 for chance agreement. Undefined if no item has two ratings. Also undefined if only one
        category was used: pe is then 1, and a correction for chance has no meaning. If all items are unanimous, the
        interval is a one-sided bound, which `reason` says: at most 1 - (1 - level)^(1/n) of the items can disagree. If
        fewer than three items have a label of the rarer category, there is no interval.

    Raises
    ------
    ValueError
        If `ratings` has none of the three forms or could have two, or the number of groups differs from the number of
        items.

    References
    ----------
    .. [1] Fleiss (1971), Psychological Bulletin 76(5):378-382, doi:10.1037/h0031619
    .. [2] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600
    .. [3] Venzon, Moolgavkar (1988), Applied Statistics 37:87-94, doi:10.2307/2347496
    .. [4] Donner, Eliasziw (1992), Statistics in Medicine 11:1511-1519, doi:10.1002/sim.4780111109

    Examples
    --------
    >>> round(fleiss_kappa([[2, 0], [2, 0], [0, 2], [1, 1]]).value, 4)
    0.4667
    >>> wide = [["similar", "similar"], ["similar", "similar"], ["dissimilar", "dissimilar"], ["similar", "dissimilar"]]
    >>> round(fleiss_kappa(wide).value, 4)
    0.4667
    """
    return COEFFICIENTS["fleiss_kappa"].estimate(ratings, categories, weights, level, groups)


def gwet_ac1(
    ratings: Ratings, categories: Categories | None = None, *, level: float = 0.95, groups: Groups | None = None
) -> Estimate:
    """Compute Gwet's AC1 [1]_.

    Chance agreement depends on how uncertain raters are, and not only on how often they use each category.

    Parameters
    ----------
    ratings, categories, level, groups
        As in `fleiss_kappa`. The number of declared categories matters, including unused categories.

    Returns
    -------
    Estimate
        In [-1, 1]. Unlike kappa, the result is defined, and is 1, if all raters always use the same category. Undefined
        if no item has two ratings.

    Raises
    ------
    ValueError
        As in `fleiss_kappa`.

    References
    ----------
    .. [1] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600

    Examples
    --------
    >>> round(gwet_ac1([[2, 0], [2, 0], [0, 2], [1, 1]]).value, 4)
    0.5294
    """
    return COEFFICIENTS["gwet_ac1"].estimate(ratings, categories, None, level, groups)


def gwet_ac2(
    ratings: Ratings,
    categories: Categories | None = None,
    *,
    weights: Weights = "linear",
    level: float = 0.95,
    groups: Groups | None = None,
) -> Estimate:
    """Compute Gwet's AC2 [1]_, which is AC1 for ordinal categories: neighbouring categories partly agree.

    Parameters
    ----------
    ratings, categories, weights, level, groups
        As in `fleiss_kappa`.

    Returns
    -------
    Estimate
        As `gwet_ac1`. If there are no weights, AC2 is equal to AC1.

    Raises
    ------
    ValueError
        As in `fleiss_kappa`.

    References
    ----------
    .. [1] Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 3 and 5

    Examples
    --------
    >>> sure = [["low", "low"], ["low", "high"], ["high", "high"], ["medium", "high"]]
    >>> round(gwet_ac2(sure, ["low", "medium", "high"], weights="quadratic").value, 4)
    0.2308
    """
    return COEFFICIENTS["gwet_ac2"].estimate(ratings, categories, weights, level, groups)


def brennan_prediger(
    ratings: Ratings,
    categories: Categories | None = None,
    *,
    weights: Weights = None,
    level: float = 0.95,
    groups: Groups | None = None,
) -> Estimate:
    """Compute the Brennan-Prediger coefficient: agreement corrected for uniform guessing among categories [1]_.

    The coefficient is (pa - 1/q) / (1 - 1/q), which is PABAK for q = 2 [2]_.

    Parameters
    ----------
    ratings, categories, weights, level, groups
        As in `fleiss_kappa`. The number of declared categories matters, including unused categories.

    Returns
    -------
    Estimate
        In [-1, 1]. Undefined if no item has two ratings.

    Raises
    ------
    ValueError
        As in `fleiss_kappa`.

    References
    ----------
    .. [1] Brennan, Prediger (1981), Educ. Psychol. Meas. 41:687-699, doi:10.1177/001316448104100307
    .. [2] Byrt, Bishop, Carlin (1993), J. Clin. Epidemiol. 46:423-429, doi:10.1016/0895-4356(93)90018-V

    Examples
    --------
    >>> brennan_prediger([[2, 0], [2, 0], [0, 2], [1, 1]]).value
    0.5
    """
    return COEFFICIENTS["brennan_prediger"].estimate(ratings, categories, weights, level, groups)


def krippendorff_alpha(
    ratings: Ratings,
    categories: Categories | None = None,
    *,
    weights: Weights = None,
    level: float = 0.95,
    groups: Groups | None = None,
) -> Estimate:
    """Compute Krippendorff's alpha with missing ratings [1]_.

    Parameters
    ----------
    ratings, categories, weights, level, groups
        As in `fleiss_kappa`. Items with fewer than two ratings are ignored. Quadratic weights give the alpha
        of interval data with categories at equal distances.

    Returns
    -------
    Estimate
        1 for full agreement, 0 for chance agreement. Undefined if no item has two ratings or only one category was
        used.

    Raises
    ------
    ValueError
        As in `fleiss_kappa`.

    References
    ----------
    .. [1] Krippendorff (2011), Computing Krippendorff's Alpha-Reliability,
       https://repository.upenn.edu/handle/20.500.14332/2089
    .. [2] Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed. (standard error)

    Examples
    --------
    >>> round(krippendorff_alpha([[2, 0], [2, 0], [0, 2], [1, 1]]).value, 4)
    0.5333
    """
    return COEFFICIENTS["krippendorff_alpha"].estimate(ratings, categories, weights, level, groups)


def _cohen(labels: pd.DataFrame, categories: Sequence[Hashable], level: float) -> Estimate:
    return cohen_kappa(labels, categories, level=level)


def _light(labels: pd.DataFrame, categories: Sequence[Hashable], level: float) -> Estimate:
    return light_kappa(labels, categories, level=level)


def _conger(labels: pd.DataFrame, categories: Sequence[Hashable], level: float) -> Estimate:
    return conger_kappa(labels, categories, level=level)


COEFFICIENTS: dict[str, Coefficient] = {
    row.name: row
    for row in (
        Coefficient(
            name="percent_agreement", title="percent agreement", option="percent", formula=observed, chance=None,
            sentence="does not correct for chance", source="doi:10.1348/000711006X126600",
            needs=Needs.TWO_A_ITEM, weights=True,
        ),
        Coefficient(
            name="fleiss_kappa", title="Fleiss' kappa", option="kappa",
            formula=partial(chance_corrected, fleiss_chance), chance=fleiss_chance,
            sentence="corrects for raters who draw each label from the shares of all labels",
            source="doi:10.1037/h0031619", weights=True, needs_two_categories=True,
        ),
        Coefficient(
            name="cohen_kappa", title="Cohen's kappa", option="cohen", formula=_cohen, chance=None,
            sentence="corrects for two raters who draw each label from their own shares",
            source="doi:10.1177/001316446002000104", needs=Needs.TWO_RATERS, needs_two_categories=True,
        ),
        Coefficient(
            name="light_kappa", title="Light's kappa", option="light", formula=_light, chance=None,
            sentence="is the mean of Cohen's kappa over all pairs of raters", source="doi:10.1037/h0031643",
            needs=Needs.RATERS, needs_two_categories=True,
        ),
        Coefficient(
            name="conger_kappa", title="Conger's kappa", option="conger", formula=_conger, chance=None,
            sentence="corrects for raters who draw each label from their own shares",
            source="doi:10.1037/0033-2909.88.2.322", needs=Needs.RATERS, needs_two_categories=True,
        ),
        Coefficient(
            name="krippendorff_alpha", title="Krippendorff's alpha", option="alpha", formula=alpha,
            chance=fleiss_chance,
            sentence="corrects for raters who draw labels without replacement from all labels",
            source="https://repository.upenn.edu/handle/20.500.14332/2089",
            needs=Needs.TWO_A_ITEM, weights=True, needs_two_categories=True,
        ),
        Coefficient(
            name="gwet_ac1", title="Gwet's AC1", option="ac1", formula=partial(chance_corrected, ac_chance),
            chance=ac_chance, sentence="corrects for raters who guess on the items that are hard to rate",
            source="doi:10.1348/000711006X126600",
        ),
        Coefficient(
            name="gwet_ac2", title="Gwet's AC2", option="ac2", formula=partial(chance_corrected, ac_chance),
            chance=ac_chance, sentence="corrects as AC1 does, for ordered categories",
            source="Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed.", weights=True, ordered=True,
        ),
        Coefficient(
            name="brennan_prediger", title="Brennan-Prediger", option="brennan-prediger",
            formula=partial(chance_corrected, even_chance), chance=even_chance,
            sentence="corrects for raters who choose each category equally often",
            source="doi:10.1177/001316448104100307", weights=True,
        ),
    )
}  # fmt: skip


def row_of(coefficient: Callable[..., Estimate]) -> tuple[Coefficient, CountFormula]:
    """Return the row and the formula of a coefficient of counts, which is a public function or a row.

    Raises ValueError unless it is a coefficient of counts.
    """
    named = COEFFICIENTS.get(getattr(coefficient, "__name__", ""))
    row = coefficient if isinstance(coefficient, Coefficient) else named
    formula = row.of_counts if row else None
    if row is None or formula is None:
        names = ", ".join(row.name for row in COEFFICIENTS.values() if row.of_counts is not None)
        raise ValueError(f"coefficient must be one of: {names}; got {coefficient!r}")
    return row, formula
