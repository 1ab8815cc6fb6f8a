"""Evaluate classifiers against a consensus. The positive category is *dissimilar*."""

from analysis.evaluation._alternative import (
    CROWD as CROWD,
    EXPERT as EXPERT,
    TRAINED as TRAINED,
    AlternativeTest as AlternativeTest,
    PersonTest as PersonTest,
    SimulatedTests as SimulatedTests,
    alternative_annotator as alternative_annotator,
    assignment as assignment,
    minus_rmse as minus_rmse,
    power_of_alternative as power_of_alternative,
    share_equal as share_equal,
    simulated_tests as simulated_tests,
)
from analysis.evaluation._bounds import Bounds as Bounds, Extremes as Extremes, bounds as bounds
from analysis.evaluation._by_category import (
    CategoryRates as CategoryRates,
    Evaluation as Evaluation,
    MajorityRule as MajorityRule,
    evaluate as evaluate,
)
from analysis.evaluation._compare import (
    BETTER as BETTER,
    CANNOT_TELL as CANNOT_TELL,
    WORSE as WORSE,
    AgainstMajority as AgainstMajority,
    Comparison as Comparison,
    McNemar as McNemar,
    PairedShares as PairedShares,
    against_majority as against_majority,
    compare as compare,
    mcnemar as mcnemar,
    verdict_of as verdict_of,
)
from analysis.evaluation._confusion import (
    Confusion as Confusion,
    PredictiveValues as PredictiveValues,
    accuracy as accuracy,
    always as always,
    balanced_accuracy as balanced_accuracy,
    confusion_matrix as confusion_matrix,
    f1 as f1,
    mcc as mcc,
    npv as npv,
    precision as precision,
    predictive_values as predictive_values,
    prevalence as prevalence,
    sensitivity as sensitivity,
    specificity as specificity,
    youden as youden,
)
from analysis.evaluation._scores import (
    AucComparison as AucComparison,
    PrecisionRecall as PrecisionRecall,
    Roc as Roc,
    auc as auc,
    average_precision as average_precision,
    compare_auc as compare_auc,
    precision_recall as precision_recall,
    roc as roc,
)
from analysis.evaluation._threshold import (
    CostRange as CostRange,
    ThresholdChoice as ThresholdChoice,
    balanced_folds as balanced_folds,
    cost_range as cost_range,
    cross_validated_threshold as cross_validated_threshold,
)
from analysis.intervals import paired_difference as paired_difference
