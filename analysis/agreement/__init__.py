"""How far raters agree: shares and chance-corrected coefficients with intervals.

Notation of the sources: item i has r_i ratings, r_ik of them in category k; n items, n2 of them with r_i >= 2;
q declared categories. Binary tables put *dissimilar* in the second column.
"""

from analysis.agreement._coefficients import (
    brennan_prediger,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
)
from analysis.agreement._pairs import Homogeneity, PairAgreement, cohen_kappa, pair_agreements, pair_homogeneity
from analysis.agreement._words import band, minority_warning

__all__ = [
    "Homogeneity",
    "PairAgreement",
    "band",
    "brennan_prediger",
    "cohen_kappa",
    "fleiss_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "minority_warning",
    "pair_agreements",
    "pair_homogeneity",
    "percent_agreement",
]
