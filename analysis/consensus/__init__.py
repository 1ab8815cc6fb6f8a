"""Determine the category of each item: count labels, use adjudications, or fit a model of the raters."""

from analysis.consensus._dawid_skene import DawidSkene, dawid_skene
from analysis.consensus._dependence import Dependence, dependence, residual_correlations
from analysis.consensus._identifiability import Identifiability, identifiability, identifiability_of_plan
from analysis.consensus._latent import UNDECIDED, LatentClass, RaterRates, latent_class
from analysis.consensus._misfit import ENOUGH_POWER, Misfit, misfit
from analysis.consensus._rates import classifier_rates
from analysis.consensus._state import FITS, NOT_IDENTIFIED, REJECTED, UNTESTABLE, WEAK, ModelState, model_state
from analysis.consensus._votes import ADJUDICATED, AGREED, INCOMPLETE, MAJORITY, SPLIT, agreed_only, majority

__all__ = [
    "ADJUDICATED",
    "AGREED",
    "ENOUGH_POWER",
    "FITS",
    "INCOMPLETE",
    "MAJORITY",
    "NOT_IDENTIFIED",
    "REJECTED",
    "SPLIT",
    "UNDECIDED",
    "UNTESTABLE",
    "WEAK",
    "DawidSkene",
    "Dependence",
    "Identifiability",
    "LatentClass",
    "Misfit",
    "ModelState",
    "RaterRates",
    "agreed_only",
    "classifier_rates",
    "dawid_skene",
    "dependence",
    "identifiability",
    "identifiability_of_plan",
    "latent_class",
    "majority",
    "misfit",
    "model_state",
    "residual_correlations",
]
