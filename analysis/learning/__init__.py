"""Learn classifiers from labels, explain why reviewers disagree, and choose which items to label next."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use
from analysis.learning._calibration import Calibration as Calibration, calibration as calibration
from analysis.learning._ceiling import Ceiling as Ceiling, ceiling as ceiling
from analysis.learning._compare import (
    Arena as Arena,
    Contestant as Contestant,
    Difference as Difference,
    Standing as Standing,
    compete as compete,
    contestants_of as contestants_of,
    vote as vote,
)
from analysis.learning._curve import LearningCurve as LearningCurve, learning_curve as learning_curve
from analysis.learning._document import (
    arena_document as arena_document,
    document as document,
    dose_document as dose_document,
    habit_sections as habit_sections,
    habits_document as habits_document,
)
from analysis.learning._features import (
    DEFAULT_FEATURES as DEFAULT_FEATURES,
    FEATURES as FEATURES,
    Feature as Feature,
    features_of as features_of,
    features_of_table as features_of_table,
    run_against_rest as run_against_rest,
)
from analysis.learning._interventions import (
    HABITS as HABITS,
    Response as Response,
    dose_response as dose_response,
    simulate_labels as simulate_labels,
)
from analysis.learning._learn import Learned as Learned, learn as learn
from analysis.learning._logistic import Logistic as Logistic, Standardiser as Standardiser, fit_logistic as fit_logistic
from analysis.learning._model import (
    LEARNED as LEARNED,
    Model as Model,
    ModelError as ModelError,
    Term as Term,
    checked_name as checked_name,
    model_from_text as model_from_text,
)
from analysis.learning._reviewers import (
    ASPECTS as ASPECTS,
    Habit as Habit,
    Habits as Habits,
    aspect_title as aspect_title,
    habits as habits,
)
from analysis.learning._selection import (
    WeightedEstimates as WeightedEstimates,
    disagreement_of as disagreement_of,
    rank_next as rank_next,
    selection_weights as selection_weights,
    uncertainties as uncertainties,
    weighted_estimates as weighted_estimates,
)
from analysis.learning._target import (
    AGREED as AGREED,
    LABELS as LABELS,
    MAJORITY as MAJORITY,
    TARGETS as TARGETS,
    label_table as label_table,
    retest_counts as retest_counts,
    target_of as target_of,
)
from analysis.learning._validation import (
    Examples as Examples,
    OutOfFold as OutOfFold,
    TooFew as TooFew,
    cross_validate as cross_validate,
    examples_of as examples_of,
    outer_folds as outer_folds,
)

if TYPE_CHECKING:
    from analysis.learning._figures import (
        arena_charts as arena_charts,
        charts as charts,
        dose_charts as dose_charts,
        habit_charts as habit_charts,
    )

_FIGURES = ("arena_charts", "charts", "dose_charts", "habit_charts")
__getattr__ = on_first_use(__name__, dict.fromkeys(_FIGURES, "_figures"))
