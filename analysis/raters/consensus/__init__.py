"""Determine the category of each item: count labels, use adjudications, or fit a model of the raters."""

from analysis.raters.consensus._latent import (
    NOT_CONTRADICTED as NOT_CONTRADICTED,
    NOT_IDENTIFIED as NOT_IDENTIFIED,
    REJECTED as REJECTED,
    UNDECIDED as UNDECIDED,
    UNTESTABLE as UNTESTABLE,
    LatentClass as LatentClass,
    ModelState as ModelState,
    PairFit as PairFit,
    latent_class as latent_class,
)
from analysis.raters.consensus._rates import (
    Identifiability as Identifiability,
    LatentPrecision as LatentPrecision,
    RaterRates as RaterRates,
    identifiability as identifiability,
    identifiability_of_plan as identifiability_of_plan,
    latent_precision as latent_precision,
)
from analysis.raters.consensus._votes import (
    ADJUDICATED as ADJUDICATED,
    AGREED as AGREED,
    FIRST_LABELS as FIRST_LABELS,
    INCOMPLETE as INCOMPLETE,
    MAJORITY as MAJORITY,
    SPLIT as SPLIT,
    THIRD_LABELS as THIRD_LABELS,
    DawidSkene as DawidSkene,
    ErrorMatrix as ErrorMatrix,
    TrueCategories as TrueCategories,
    agreed_only as agreed_only,
    dawid_skene as dawid_skene,
    majority as majority,
    outcomes as outcomes,
    true_categories as true_categories,
)
