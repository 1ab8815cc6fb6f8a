"""Compute statistics of repeated benchmark runs and of reviewers. Functions take arrays and return frozen results.

    >>> import analysis
    >>> analysis.fleiss_kappa([[2, 0], [2, 0], [0, 2], [1, 1]])
    Estimate(0.4667: only 2 items have a label of the rarer category: no interval)

The names below are loaded on first use, so `import analysis` alone does not load numpy. `docs/api.md` lists them with
an example each; the modules contain further functions.
"""

from analysis._lazy import on_first_use

_PLACES = {
    # results
    "Estimate": "statistics.intervals",
    "to_frame": "statistics.results",
    # tables
    "count_table": "raters.tables",
    "first_labels": "raters.tables",
    # agreement of raters
    "percent_agreement": "raters.agreement",
    "fleiss_kappa": "raters.agreement",
    "cohen_kappa": "raters.agreement",
    "krippendorff_alpha": "raters.agreement",
    "gwet_ac1": "raters.agreement",
    "gwet_ac2": "raters.agreement",
    "brennan_prediger": "raters.agreement",
    "specific_agreement": "raters.agreement",
    "bootstrap_coefficient": "raters.agreement",
    "fleiss_kappa_test": "raters.agreement",
    "band": "raters.agreement",
    "band_membership": "raters.agreement",
    "pair_agreements": "raters.agreement",
    "leniency": "raters.agreement",
    "retest_agreement": "raters.agreement",
    # intervals and corrections
    "wilson": "statistics.intervals",
    "holm": "statistics.multiple",
    "bonferroni": "statistics.multiple",
    # from labels to one category
    "agreed_only": "raters.consensus",
    "majority": "raters.consensus",
    "latent_class": "raters.consensus",
    "dawid_skene": "raters.consensus",
    # classifiers against a consensus
    "confusion_matrix": "raters.evaluation",
    "balanced_accuracy": "raters.evaluation",
    "mcc": "raters.evaluation",
    "auc": "raters.evaluation",
    "mcnemar": "raters.evaluation",
    "compare_classifiers": "raters.evaluation",
    # planning
    "items_for_kappa": "raters.planning",
    "items_for_share": "raters.planning",
    # the runs of benchmarks
    "Benchmark": "runs.benchmark",
    "Run": "runs.benchmark",
    "PerRun": "runs.benchmark",
    "from_table": "runs.benchmark",
    "MEASURES": "runs.dissimilarity",
    "CLASSIFIERS": "runs.classifiers",
    "heuristic": "runs.classifiers",
    "same": "runs.classifiers",
    "compare_benchmarks": "runs.comparison:compare",
    "spread_survey": "methods.spread:survey",
    "order_survey": "methods.order:survey",
    "trust_survey": "methods.trust:survey",
    "context_survey": "methods.contexts:survey",
}
__all__ = list(_PLACES)
__getattr__ = on_first_use(__name__, _PLACES)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
