"""From the labels of an item to what it is: by counting, by a person's decision, or by a model of the raters."""

from analysis.consensus._dawid_skene import DawidSkene, dawid_skene
from analysis.consensus._identifiability import Identifiability, identifiability, identifiability_of_plan
from analysis.consensus._latent import UNDECIDED, LatentClass, RaterRates, latent_class
from analysis.consensus._misfit import Misfit, misfit
from analysis.consensus._rates import classifier_rates
from analysis.consensus._votes import ADJUDICATED, AGREED, INCOMPLETE, MAJORITY, SPLIT, agreed_only, majority

__all__ = [
    "ADJUDICATED",
    "AGREED",
    "INCOMPLETE",
    "MAJORITY",
    "SPLIT",
    "UNDECIDED",
    "DawidSkene",
    "Identifiability",
    "LatentClass",
    "Misfit",
    "RaterRates",
    "agreed_only",
    "classifier_rates",
    "dawid_skene",
    "identifiability",
    "identifiability_of_plan",
    "latent_class",
    "majority",
    "misfit",
]
