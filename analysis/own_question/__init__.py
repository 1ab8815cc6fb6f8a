"""Compute the report of a study with its own question: any number of categories, in an order or not."""

from analysis.own_question._document import document as document
from analysis.own_question._numbers import (
    CategoryReport as CategoryReport,
    ClassifierNumbers as ClassifierNumbers,
    summarise as summarise,
)
from analysis.own_question._truth import ErrorMatrix as ErrorMatrix, TrueCategories as TrueCategories
