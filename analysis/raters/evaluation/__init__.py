"""Evaluate classifiers against a consensus of any categories."""

from analysis.raters.evaluation._against import Against as Against, OfCategory as OfCategory, against as against
from analysis.raters.evaluation._alternative import (
    CROWD as CROWD,
    EXPERT as EXPERT,
    NO_ANSWER as NO_ANSWER,
    PASSES as PASSES,
    TRAINED as TRAINED,
    AlternativeTest as AlternativeTest,
    PersonTest as PersonTest,
    SimulatedTests as SimulatedTests,
    alternative_annotator as alternative_annotator,
    assignment as assignment,
    describe_answers as describe_answers,
    power_of_alternative as power_of_alternative,
    share_equal as share_equal,
    simulated_tests as simulated_tests,
)
from analysis.raters.evaluation._compare import (
    BETTER as BETTER,
    CANNOT_TELL as CANNOT_TELL,
    POSITIVE_RATES as POSITIVE_RATES,
    WORSE as WORSE,
    AgainstMajority as AgainstMajority,
    Bounds as Bounds,
    Comparison as Comparison,
    Extremes as Extremes,
    PairedShares as PairedShares,
    against_majority as against_majority,
    bounds as bounds,
    compare_classifiers as compare_classifiers,
    correct_comparisons as correct_comparisons,
    correct_rules as correct_rules,
)
from analysis.raters.evaluation._confusion import (
    LEAST_FOR_TEST as LEAST_FOR_TEST,
    Confusion as Confusion,
    PredictiveValues as PredictiveValues,
    accuracy as accuracy,
    always as always,
    balanced_accuracy as balanced_accuracy,
    confusion_matrix as confusion_matrix,
    f1 as f1,
    mcc as mcc,
    precision as precision,
    predictive_values as predictive_values,
    recall as recall,
    share_of as share_of,
    weighted_kappa as weighted_kappa,
    youden as youden,
)
from analysis.raters.evaluation._people import (
    AgainstPeople as AgainstPeople,
    against_people as against_people,
    correct_people as correct_people,
)
from analysis.raters.evaluation._scores import (
    AucComparison as AucComparison,
    CostRange as CostRange,
    PrecisionRecall as PrecisionRecall,
    Roc as Roc,
    ThresholdChoice as ThresholdChoice,
    auc as auc,
    average_precision as average_precision,
    balanced_folds as balanced_folds,
    compare_auc as compare_auc,
    cost_range as cost_range,
    cross_validated_threshold as cross_validated_threshold,
    precision_recall as precision_recall,
    roc as roc,
)
from analysis.statistics.intervals import McNemar as McNemar, mcnemar as mcnemar, paired_difference as paired_difference
