"""Determine the category of each item: count labels, use adjudications, or fit a model of the raters."""

from analysis.consensus._dawid_skene import DawidSkene as DawidSkene, dawid_skene as dawid_skene
from analysis.consensus._dependence import Dependence as Dependence
from analysis.consensus._identifiability import (
    Identifiability as Identifiability,
    identifiability as identifiability,
    identifiability_of_plan as identifiability_of_plan,
)
from analysis.consensus._latent import (
    UNDECIDED as UNDECIDED,
    LatentClass as LatentClass,
    latent_class as latent_class,
)
from analysis.consensus._left_out import LeftOutRater as LeftOutRater
from analysis.consensus._precision import LatentPrecision as LatentPrecision, latent_precision as latent_precision
from analysis.consensus._rates import RaterRates as RaterRates
from analysis.consensus._tests import (
    BY_VERDICTS as BY_VERDICTS,
    NOT_CONTRADICTED as NOT_CONTRADICTED,
    NOT_IDENTIFIED as NOT_IDENTIFIED,
    REJECTED as REJECTED,
    UNTESTABLE as UNTESTABLE,
    WEAK as WEAK,
    ModelState as ModelState,
    PairFit as PairFit,
)
from analysis.consensus._true_categories import (
    ErrorMatrix as ErrorMatrix,
    TrueCategories as TrueCategories,
    true_categories as true_categories,
)
from analysis.consensus._votes import (
    ADJUDICATED as ADJUDICATED,
    AGREED as AGREED,
    INCOMPLETE as INCOMPLETE,
    MAJORITY as MAJORITY,
    SPLIT as SPLIT,
    agreed_only as agreed_only,
    majority as majority,
)
