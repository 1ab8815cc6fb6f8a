"""Learn classifiers from labels, explain why reviewers disagree, and choose which items to label next."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use
from analysis.learning._arena import Arena, Contestant, Difference, Standing, compete, contestants_of, vote
from analysis.learning._calibration import Calibration, calibration
from analysis.learning._curve import LearningCurve, learning_curve
from analysis.learning._document import arena_document, document, dose_document, habit_sections, habits_document
from analysis.learning._features import (
    DEFAULT_FEATURES,
    FEATURES,
    Feature,
    features_of,
    features_of_table,
    run_against_rest,
)
from analysis.learning._interventions import (
    HABITS,
    N_RUNS,
    Intervened,
    Response,
    dose_response,
    interventions,
    simulate_labels,
)
from analysis.learning._learn import Learned, learn
from analysis.learning._logistic import Logistic, Scale, fit_logistic
from analysis.learning._model import LEARNED, Model, ModelError, Term, checked_name, model_from_text
from analysis.learning._reviewers import ASPECTS, Habit, Habits, aspect_title, habits, habits_of
from analysis.learning._selection import (
    SelectionStep,
    WeightedEstimates,
    disagreement_of,
    rank_next,
    selection_weights,
    simulate_selection,
    uncertainties,
    weighted_estimates,
)
from analysis.learning._target import AGREED, LABELS, MAJORITY, TARGETS, label_table, target_of
from analysis.learning._validation import Examples, OutOfFold, TooFew, cross_validate, examples_of, outer_folds

if TYPE_CHECKING:
    from analysis.learning._figures import arena_charts, charts, dose_charts, habit_charts, selection_charts

__all__ = [
    "AGREED",
    "ASPECTS",
    "DEFAULT_FEATURES",
    "FEATURES",
    "HABITS",
    "LABELS",
    "LEARNED",
    "MAJORITY",
    "N_RUNS",
    "TARGETS",
    "Arena",
    "Calibration",
    "Contestant",
    "Difference",
    "Examples",
    "Feature",
    "Habit",
    "Habits",
    "Intervened",
    "Learned",
    "LearningCurve",
    "Logistic",
    "Model",
    "ModelError",
    "OutOfFold",
    "Response",
    "Scale",
    "SelectionStep",
    "Standing",
    "Term",
    "TooFew",
    "WeightedEstimates",
    "arena_charts",
    "arena_document",
    "aspect_title",
    "calibration",
    "charts",
    "checked_name",
    "compete",
    "contestants_of",
    "cross_validate",
    "disagreement_of",
    "document",
    "dose_charts",
    "dose_document",
    "dose_response",
    "examples_of",
    "features_of",
    "features_of_table",
    "fit_logistic",
    "habit_charts",
    "habit_sections",
    "habits",
    "habits_document",
    "habits_of",
    "interventions",
    "label_table",
    "learn",
    "learning_curve",
    "model_from_text",
    "outer_folds",
    "rank_next",
    "run_against_rest",
    "selection_charts",
    "selection_weights",
    "simulate_labels",
    "simulate_selection",
    "target_of",
    "uncertainties",
    "vote",
    "weighted_estimates",
]  # fmt: skip
_FIGURES = ("arena_charts", "charts", "dose_charts", "habit_charts", "selection_charts")
__getattr__ = on_first_use(__name__, dict.fromkeys(_FIGURES, "_figures"))
