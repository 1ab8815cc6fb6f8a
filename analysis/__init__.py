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
    "Estimate": "intervals",
    "to_frame": "results",
    # tables
    "count_table": "tables",
    "first_labels": "tables",
    # agreement of raters
    "percent_agreement": "agreement",
    "fleiss_kappa": "agreement",
    "cohen_kappa": "agreement",
    "krippendorff_alpha": "agreement",
    "gwet_ac1": "agreement",
    "gwet_ac2": "agreement",
    "brennan_prediger": "agreement",
    "specific_agreement": "agreement",
    "bootstrap_coefficient": "agreement",
    "fleiss_kappa_test": "agreement",
    "band": "agreement",
    "band_membership": "agreement",
    "pair_agreements": "agreement",
    "leniency": "agreement",
    "retest_agreement": "agreement",
    # intervals and corrections
    "wilson": "intervals",
    "holm": "multiple",
    "bonferroni": "multiple",
    # from labels to one category
    "agreed_only": "consensus",
    "majority": "consensus",
    "latent_class": "consensus",
    "dawid_skene": "consensus",
    # classifiers against a consensus
    "confusion_matrix": "evaluation",
    "balanced_accuracy": "evaluation",
    "mcc": "evaluation",
    "auc": "evaluation",
    "mcnemar": "evaluation",
    "compare_classifiers": "evaluation:compare",
    # planning
    "items_for_kappa": "planning",
    "items_for_share": "planning",
    # the runs of benchmarks
    "Benchmark": "benchmark",
    "Run": "benchmark",
    "PerRun": "benchmark",
    "from_table": "benchmark",
    "MEASURES": "dissimilarity",
    "CLASSIFIERS": "classifiers",
    "heuristic": "classifiers",
    "same": "classifiers",
    "compare_benchmarks": "comparison:compare",
    "spread_survey": "spread:survey",
    "order_survey": "order:survey",
    "trust_survey": "trust:survey",
    "context_survey": "contexts:survey",
}
__all__ = list(_PLACES)
__getattr__ = on_first_use(__name__, _PLACES)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
