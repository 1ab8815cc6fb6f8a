"""Measure agreement between raters: percent agreement and chance-corrected coefficients, with intervals.

The notation follows the cited papers. There are n items and q declared categories. Item i has r_i ratings; r_ik of
these ratings are in category k. n2 is the number of items with at least two ratings. Binary tables put *dissimilar* in
the second column.
"""

from analysis.agreement._among import Among, classifiers_among_themselves, send_first
from analysis.agreement._bootstrap import bootstrap_coefficient, bootstrap_cohen_kappa
from analysis.agreement._chance_tests import ChanceTest, cohen_kappa_test, fleiss_kappa_test
from analysis.agreement._coefficients import (
    brennan_prediger,
    category_weights,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
)
from analysis.agreement._groups import GroupAgreement, by_group, by_order, partner_agreement
from analysis.agreement._leniency import Leniency, LeniencyTest, PairLeniency, RaterLeniency, leniency
from analysis.agreement._order import OrderEffect, OrderTest, order_test, predecessor_effects, trend_effects
from analysis.agreement._pairs import (
    Homogeneity,
    PairAgreement,
    cohen_kappa,
    pair_agreements,
    pair_homogeneity,
    pair_tables,
)
from analysis.agreement._retest import RetestAgreement, retest_agreement
from analysis.agreement._reviewers import IfGiven, if_given, jackknife_over_raters
from analysis.agreement._two_by_two import (
    TwoByTwo,
    bias_index,
    pabak,
    prevalence_index,
    scott_pi,
    specific_agreement,
    two_by_two_tables,
)
from analysis.agreement._words import BandMembership, band, band_membership, minority_warning
from analysis.multiple import bonferroni, holm

__all__ = [
    "Among",
    "BandMembership",
    "ChanceTest",
    "GroupAgreement",
    "Homogeneity",
    "IfGiven",
    "Leniency",
    "LeniencyTest",
    "OrderEffect",
    "OrderTest",
    "PairAgreement",
    "PairLeniency",
    "RaterLeniency",
    "RetestAgreement",
    "TwoByTwo",
    "band",
    "band_membership",
    "bias_index",
    "bonferroni",
    "bootstrap_coefficient",
    "bootstrap_cohen_kappa",
    "brennan_prediger",
    "by_group",
    "by_order",
    "category_weights",
    "classifiers_among_themselves",
    "cohen_kappa",
    "cohen_kappa_test",
    "fleiss_kappa",
    "fleiss_kappa_test",
    "gwet_ac1",
    "gwet_ac2",
    "holm",
    "if_given",
    "jackknife_over_raters",
    "krippendorff_alpha",
    "leniency",
    "minority_warning",
    "order_test",
    "pabak",
    "pair_agreements",
    "pair_homogeneity",
    "pair_tables",
    "partner_agreement",
    "percent_agreement",
    "predecessor_effects",
    "prevalence_index",
    "retest_agreement",
    "scott_pi",
    "send_first",
    "specific_agreement",
    "trend_effects",
    "two_by_two_tables",
]
