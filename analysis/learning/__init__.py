"""Learn classifiers from labels, compare classifiers, and choose which items to label next."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use
from analysis.learning._compare import (
    Arena as Arena,
    Contestant as Contestant,
    compete as compete,
    contestants_of as contestants_of,
)
from analysis.learning._document import document as document
from analysis.learning._features import (
    AGREED as AGREED,
    DEFAULT_FEATURES as DEFAULT_FEATURES,
    FEATURES as FEATURES,
    LABELS as LABELS,
    MAJORITY as MAJORITY,
    MEASURE_FEATURES as MEASURE_FEATURES,
    RUNS as RUNS,
    SEGMENT_FEATURES as SEGMENT_FEATURES,
    SEGMENT_VERSION as SEGMENT_VERSION,
    SEGMENTS as SEGMENTS,
    TARGETS as TARGETS,
    features_of as features_of,
    retest_counts as retest_counts,
    run_against_rest as run_against_rest,
    segment_features as segment_features,
    target_of as target_of,
)
from analysis.learning._fit import Logistic as Logistic, fit as fit
from analysis.learning._learn import (
    Learned as Learned,
    LearnSettings as LearnSettings,
    PositiveLearned as PositiveLearned,
    Retests as Retests,
    examples_to_learn as examples_to_learn,
    learn as learn,
)
from analysis.learning._model import (
    LEARNED as LEARNED,
    Model as Model,
    ModelError as ModelError,
    Term as Term,
    checked_name as checked_name,
    classifiers_of as classifiers_of,
    model_from_text as model_from_text,
)
from analysis.learning._selection import (
    disagreement_of as disagreement_of,
    rank_next as rank_next,
    selection_weights as selection_weights,
    uncertainties as uncertainties,
    weighted_estimates as weighted_estimates,
)
from analysis.learning._validation import (
    Examples as Examples,
    Fingerprint as Fingerprint,
    TooFew as TooFew,
    calibration as calibration,
    ceiling as ceiling,
    chance_p as chance_p,
    cross_validate as cross_validate,
    examples_of as examples_of,
    outer_folds as outer_folds,
    twins_by_features as twins_by_features,
    twins_of as twins_of,
)

if TYPE_CHECKING:
    from analysis.learning._figures import charts as charts

__getattr__ = on_first_use(__name__, {"charts": "_figures"})
