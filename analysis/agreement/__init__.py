"""Measure agreement between raters: percent agreement and chance-corrected coefficients, with intervals.

The notation follows the cited papers. There are n items and q declared categories. Item i has r_i ratings; r_ik of
these ratings are in category k. n2 is the number of items with at least two ratings. Binary tables put *dissimilar* in
the second column.
"""

from analysis.agreement._among import (
    Among as Among,
    classifiers_among_themselves as classifiers_among_themselves,
    send_first as send_first,
)
from analysis.agreement._coefficients import (
    brennan_prediger as brennan_prediger,
    category_weights as category_weights,
    fleiss_kappa as fleiss_kappa,
    gwet_ac1 as gwet_ac1,
    gwet_ac2 as gwet_ac2,
    krippendorff_alpha as krippendorff_alpha,
    percent_agreement as percent_agreement,
)
from analysis.agreement._groups import (
    GroupAgreement as GroupAgreement,
    by_group as by_group,
    by_order as by_order,
    partner_agreement as partner_agreement,
)
from analysis.agreement._leniency import (
    Leniency as Leniency,
    LeniencyTest as LeniencyTest,
    PairLeniency as PairLeniency,
    RaterLeniency as RaterLeniency,
    leniency as leniency,
)
from analysis.agreement._order import (
    OrderEffect as OrderEffect,
    OrderTest as OrderTest,
    order_test as order_test,
)
from analysis.agreement._pair_equality import (
    Contrast as Contrast,
    PairEquality as PairEquality,
    PairShare as PairShare,
    pair_equality as pair_equality,
)
from analysis.agreement._pairs import (
    PairAgreement as PairAgreement,
    TwoByTwo as TwoByTwo,
    bias_index as bias_index,
    cohen_kappa as cohen_kappa,
    pabak as pabak,
    pair_agreements as pair_agreements,
    pair_tables as pair_tables,
    prevalence_index as prevalence_index,
    specific_agreement as specific_agreement,
    two_by_two_tables as two_by_two_tables,
)
from analysis.agreement._rank_test import RankTest as RankTest, rank_test as rank_test
from analysis.agreement._reviewers import (
    AgainstRest as AgainstRest,
    Drift as Drift,
    IfGiven as IfGiven,
    RetestAgreement as RetestAgreement,
    against_rest as against_rest,
    if_given as if_given,
    jackknife_over_raters as jackknife_over_raters,
    retest_agreement as retest_agreement,
    reviewer_drift as reviewer_drift,
)
from analysis.agreement._sides import SideBias as SideBias, side_bias as side_bias
from analysis.agreement._so_far import AgreementSoFar as AgreementSoFar, agreement_so_far as agreement_so_far
from analysis.agreement._tests import (
    AgreementDifference as AgreementDifference,
    ChanceTest as ChanceTest,
    bootstrap_coefficient as bootstrap_coefficient,
    compare_agreement as compare_agreement,
    fleiss_kappa_test as fleiss_kappa_test,
)
from analysis.agreement._words import (
    BandMembership as BandMembership,
    band as band,
    band_membership as band_membership,
    minority_warning as minority_warning,
)
from analysis.multiple import bonferroni as bonferroni, holm as holm
