"""Compute statistics of repeated benchmark runs and of reviewers. Functions take arrays and return frozen results.

    >>> import analysis
    >>> analysis.fleiss_kappa([[2, 0], [2, 0], [0, 2], [1, 1]])
    Estimate(0.4667: only 2 items have a label of the rarer category: no interval)

The names below are loaded on first use, so `import analysis` alone does not load numpy. `docs/api.md` lists them with
an example each; the modules contain further functions.
"""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use

if TYPE_CHECKING:
    from analysis.methods.contexts import (
        context_survey as context_survey,
    )
    from analysis.methods.order import (
        order_survey as order_survey,
    )
    from analysis.methods.spread import (
        spread_survey as spread_survey,
    )
    from analysis.methods.trust import (
        trust_survey as trust_survey,
    )
    from analysis.raters.agreement import (
        band as band,
        band_membership as band_membership,
        bootstrap_coefficient as bootstrap_coefficient,
        brennan_prediger as brennan_prediger,
        cohen_kappa as cohen_kappa,
        conger_kappa as conger_kappa,
        fleiss_kappa as fleiss_kappa,
        fleiss_kappa_test as fleiss_kappa_test,
        gwet_ac1 as gwet_ac1,
        gwet_ac2 as gwet_ac2,
        krippendorff_alpha as krippendorff_alpha,
        leniency as leniency,
        light_kappa as light_kappa,
        pair_agreements as pair_agreements,
        percent_agreement as percent_agreement,
        retest_agreement as retest_agreement,
        specific_agreement as specific_agreement,
    )
    from analysis.raters.consensus import (
        agreed_only as agreed_only,
        dawid_skene as dawid_skene,
        latent_class as latent_class,
        majority as majority,
    )
    from analysis.raters.evaluation import (
        auc as auc,
        balanced_accuracy as balanced_accuracy,
        compare_classifiers as compare_classifiers,
        confusion_matrix as confusion_matrix,
        mcc as mcc,
        mcnemar as mcnemar,
    )
    from analysis.raters.planning import (
        items_for_kappa as items_for_kappa,
        items_for_share as items_for_share,
    )
    from analysis.raters.tables import (
        Counts as Counts,
        WideRatings as WideRatings,
        count_table as count_table,
        first_labels as first_labels,
    )
    from analysis.runs.benchmark import (
        Benchmark as Benchmark,
        PerRun as PerRun,
        Run as Run,
        from_table as from_table,
    )
    from analysis.runs.classifiers import (
        CLASSIFIERS as CLASSIFIERS,
        heuristic as heuristic,
        same as same,
    )
    from analysis.runs.comparison import (
        compare_benchmarks as compare_benchmarks,
    )
    from analysis.runs.dissimilarity import (
        MEASURES as MEASURES,
    )
    from analysis.statistics.intervals import (
        Estimate as Estimate,
        wilson as wilson,
    )
    from analysis.statistics.multiple import (
        bonferroni as bonferroni,
        holm as holm,
    )
    from analysis.statistics.results import (
        to_frame as to_frame,
    )

_PLACES = {
    # results
    "Estimate": "statistics.intervals",
    "to_frame": "statistics.results",
    # tables
    "count_table": "raters.tables",
    "Counts": "raters.tables",
    "WideRatings": "raters.tables",
    "first_labels": "raters.tables",
    # agreement of raters
    "percent_agreement": "raters.agreement",
    "fleiss_kappa": "raters.agreement",
    "cohen_kappa": "raters.agreement",
    "light_kappa": "raters.agreement",
    "conger_kappa": "raters.agreement",
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
    "compare_benchmarks": "runs.comparison",
    "spread_survey": "methods.spread",
    "order_survey": "methods.order",
    "trust_survey": "methods.trust",
    "context_survey": "methods.contexts",
}
__all__ = list(_PLACES)

if not TYPE_CHECKING:  # a type checker that sees `__getattr__` accepts any name
    __getattr__ = on_first_use(__name__, _PLACES)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
