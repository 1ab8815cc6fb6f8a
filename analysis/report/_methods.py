"""What was done, as a paragraph for the methods section of a paper, from the parameters of the report itself."""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.document import value_in_words

Content = Mapping[str, Any]


def methods(content: Content) -> str:
    """A paragraph ready to paste; it says no more than what this report did."""
    return " ".join(_sentences(content))


def _sentences(content: Content) -> Iterator[str]:
    agreement, level = content["agreement"], f"{100 * content['parameters']['level']:g} %"
    question = content["study"]["question"]
    blind = "blind to each other, to names and to automatic verdicts"
    clause = f", by the question “{question}”, {blind}" if question else ""
    n_reviewers = len(agreement["leniency"]["raters"])
    yield (
        f"{_counted(n_reviewers, 'reviewer')} put {_counted(agreement['n_items'], 'benchmark')} into "
        f"two categories, similar and dissimilar{clause}; {_counted(agreement['n_labels'], 'first label')} entered the "
        "analysis."
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
    if not plan or "per_item" not in plan:
        return
    seed = f" (seed {plan['seed']})" if "seed" in plan else ""  # a study made anonymous has none
    if plan.get("paper"):
        yield f"Items were split at random into parts, one pair of reviewers each{seed}."
        return
    yield f"Each item was assigned to {plan['per_item']} reviewers in balanced blocks within applications{seed}."
    if plan.get("overlap"):
        yield f"A share of {plan['overlap']:g} of the items was assigned to all reviewers."
    if plan.get("retest"):
        yield f"Each reviewer met {_counted(plan['retest'], 'item')} a second time, hidden under another code."


def _classifiers(content: Content) -> Iterator[str]:
    settings = content["parameters"].get("verdicts", {})
    comparisons = [
        f"{name} ({'; '.join(map(value_in_words, settings[name]))})" if settings.get(name) else str(name)
        for name in content["classifiers"]
    ]
    if comparisons:
        yield (
            f"Classifiers were compared with the consensus (positive category: dissimilar): {', '.join(comparisons)}. "
            "Sensitivity, specificity, precision and accuracy have Wilson intervals; balanced accuracy has one by "
            "square-and-add; the rule that calls everything dissimilar is the baseline."
        )


def _resampling(resampling: Content | None) -> Iterator[str]:
    if resampling and resampling["n_bootstrap"]:
        yield f"Bootstrap intervals come from {resampling['n_bootstrap']} draws of items (seed {resampling['seed']})."
    if resampling and resampling["n_sweeps"]:
        yield (
            "A latent class model with conditional independence was fitted by EM; its 90 % credible intervals come "
            f"from a Gibbs sampler ({resampling['n_sweeps']} sweeps in each of four chains); its fit was tested with "
            f"{resampling['n_misfit']} data sets drawn from it (seed {resampling['seed']})."
        )


def _counted(n: int, noun: str) -> str:
    """A number with its noun: 1 item, 2 items."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
