"""Measure agreement between raters: percent agreement and chance-corrected coefficients, with intervals.

The notation follows the cited papers. There are n items and q declared categories. Item i has r_i ratings; r_ik of
these ratings are in category k. n2 is the number of items with at least two ratings. Binary tables put *dissimilar* in
the second column.
"""

from analysis.raters.agreement._coefficients import (
    COEFFICIENTS as COEFFICIENTS,
    brennan_prediger as brennan_prediger,
    fleiss_kappa as fleiss_kappa,
    gwet_ac1 as gwet_ac1,
    gwet_ac2 as gwet_ac2,
    krippendorff_alpha as krippendorff_alpha,
    percent_agreement as percent_agreement,
)
from analysis.raters.agreement._drift import CourseTest as CourseTest, Drift as Drift, course_test as course_test
from analysis.raters.agreement._formulas import (
    Coefficient as Coefficient,
    Needs as Needs,
    category_weights as category_weights,
)
from analysis.raters.agreement._groups import (
    AgreementSoFar as AgreementSoFar,
    Among as Among,
    GroupAgreement as GroupAgreement,
    WeightedEstimates as WeightedEstimates,
    agreement_so_far as agreement_so_far,
    by_group as by_group,
    by_order as by_order,
    classifiers_among_themselves as classifiers_among_themselves,
    partner_agreement as partner_agreement,
    send_first as send_first,
)
from analysis.raters.agreement._leniency import (
    Leniency as Leniency,
    LeniencyTest as LeniencyTest,
    PairLeniency as PairLeniency,
    RankTest as RankTest,
    RaterLeniency as RaterLeniency,
    leniency as leniency,
    rank_test as rank_test,
)
from analysis.raters.agreement._named import (
    conger_kappa as conger_kappa,
    light_kappa as light_kappa,
)
from analysis.raters.agreement._pairs import (
    Contrast as Contrast,
    PairAgreement as PairAgreement,
    PairEquality as PairEquality,
    PairShare as PairShare,
    TwoByTwo as TwoByTwo,
    bias_index as bias_index,
    cohen_kappa as cohen_kappa,
    pabak as pabak,
    pair_agreements as pair_agreements,
    pair_equality as pair_equality,
    pair_tables as pair_tables,
    prevalence_index as prevalence_index,
    specific_agreement as specific_agreement,
    two_by_two_tables as two_by_two_tables,
)
from analysis.raters.agreement._reviewers import (
    AgainstRest as AgainstRest,
    IfGiven as IfGiven,
    OrderEffect as OrderEffect,
    OrderTest as OrderTest,
    RetestAgreement as RetestAgreement,
    SideBias as SideBias,
    against_rest as against_rest,
    if_given as if_given,
    jackknife_over_raters as jackknife_over_raters,
    order_test as order_test,
    retest_agreement as retest_agreement,
    side_bias as side_bias,
)
from analysis.raters.agreement._tests import (
    AgreementDifference as AgreementDifference,
    BandMembership as BandMembership,
    ChanceTest as ChanceTest,
    band as band,
    band_membership as band_membership,
    bootstrap_coefficient as bootstrap_coefficient,
    compare_agreement as compare_agreement,
    fleiss_kappa_test as fleiss_kappa_test,
)
from analysis.statistics.multiple import bonferroni as bonferroni, holm as holm
