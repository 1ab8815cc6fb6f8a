"""What was done, as a paragraph for the methods section of a paper, from the parameters of the report itself."""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.report._document import value_in_words

Content = Mapping[str, Any]


def methods(content: Content) -> str:
    """A paragraph ready to paste; it says no more than what this report did."""
    return " ".join(_sentences(content))


def _sentences(content: Content) -> Iterator[str]:
    agreement, level = content["agreement"], f"{100 * content['parameters']['level']:g} %"
    n_reviewers = len(agreement["reviewers"])
    yield (
        f"{n_reviewers} reviewers put {agreement['n_items']} benchmarks into two categories, similar and dissimilar, "
        f"by the question “{content['study']['question'] or 'are the runs similar?'}”, blind to each other, to names "
        f"and to automatic verdicts; {agreement['n_labels']} first labels enter the analysis."
    )
    yield from _plan(content["plan"])
    yield (
        "Agreement is given as percent agreement and as Fleiss' kappa with Gwet's linearised standard errors (t "
        "distribution over items), beside Krippendorff's alpha, Gwet's AC1 and the Brennan-Prediger coefficient; "
        "pairs of reviewers as percent agreement and Cohen's kappa. Intervals have a level of "
        f"{level}; those of simple shares are Wilson's."
    )
    decided = content["consensus"]
    yield (
        f"The consensus is the category of the {decided['agreed']} items whose first labels (two or more) were all "
        f"equal; {decided['split']} items were split."
    )
    yield from _classifiers(content)
    yield from _resampling(content["parameters"].get("resampling"))


def _plan(plan: Content | None) -> Iterator[str]:
    if not plan or "seed" not in plan:
        return
    if plan.get("paper"):
        yield f"Items were split at random into parts, one pair of reviewers each (seed {plan['seed']})."
        return
    yield (
        f"Each item was assigned to {plan.get('per_item', 2)} reviewers in balanced blocks within applications (seed "
        f"{plan['seed']}); a share of {plan.get('overlap', 0):g} was labelled by all, and each reviewer met "
        f"{plan.get('retest', 0)} items a second time, hidden."
    )


def _classifiers(content: Content) -> Iterator[str]:
    makings = content["parameters"].get("verdicts", {})
    judged = [
        f"{name} ({'; '.join(map(value_in_words, makings[name]))})" if makings.get(name) else str(name)
        for name in content["classifiers"]
    ]
    if judged:
        yield (
            f"Classifiers were compared with the consensus (positive category: dissimilar): {', '.join(judged)}. "
            "Sensitivity, specificity, precision and accuracy have Wilson intervals; balanced accuracy has one by "
            "square-and-add; the rule that calls everything dissimilar is the baseline."
        )


def _resampling(resampling: Content | None) -> Iterator[str]:
    if resampling:
        yield (
            f"Resampling used seed {resampling['seed']}: {resampling['n_bootstrap']} bootstrap draws of items and "
            f"{resampling['n_sweeps']} sweeps of a Gibbs sampler for the latent class model."
        )
