"""Write a paragraph for the methods section of a paper, based on the parameters of the report."""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.document import value_in_words

Content = Mapping[str, Any]


def methods(content: Content) -> str:
    """Write a methods paragraph that describes only what this report computed."""
    return " ".join(_sentences(content))


def _sentences(content: Content) -> Iterator[str]:
    agreement, level = content["agreement"], f"{100 * content['parameters']['level']:g} %"
    question = content["study"]["question"]
    blind = "without access to other reviewers' answers, names of benchmarks, or verdicts"
    clause = f", for the question “{question}”, {blind}" if question else ""
    n_reviewers = len(agreement["leniency"]["raters"])
    yield (
        f"{_counted(n_reviewers, 'reviewer')} classified {_counted(agreement['n_items'], 'benchmark')} as "
        f"similar or dissimilar{clause}; {_counted(agreement['n_labels'], 'first label')} entered the "
        "analysis."
    )
    yield from _plan(content["plan"], sum(row["n"] for row in agreement["retest"]))
    coefficients = (
        "We report percent agreement and Fleiss' kappa with Gwet's linearised standard errors (t distribution over "
        "items). We also report Krippendorff's alpha, Gwet's AC1 and the Brennan-Prediger coefficient. For pairs of "
        "reviewers, we report percent agreement and Cohen's kappa."
    )
    yield coefficients
    yield (
        f"All intervals have a level of {level}. Intervals of simple shares are Wilson intervals. Reviewers are "
        "treated as fixed, so the intervals describe further items that the same reviewers would label."
    )
    yield from _tests(agreement)
    decided = content["consensus"]
    yield (
        f"The consensus is the category of the {decided['agreed']} items whose first labels (two or more) were all "
        f"equal; {decided['split']} items were split."
    )
    yield from _classifiers(content)
    yield from _resampling(content)


def _plan(plan: Content | None, n_retests: int) -> Iterator[str]:
    if not plan or "per_item" not in plan:
        return
    seed = f" (seed {plan['seed']})" if "seed" in plan else ""  # an anonymised study has no seed
    if plan.get("paper"):
        yield f"Items were split at random into parts, and each part was assigned to one pair of reviewers{seed}."
        return
    yield f"Each item was assigned to {plan['per_item']} reviewers in balanced blocks within applications{seed}."
    if plan.get("overlap"):
        yield f"{100 * plan['overlap']:g} % of the items were assigned to all reviewers."
    if plan.get("retest"):
        given = f"{_counted(n_retests, 'pair')} of first and second labels" if n_retests else "no second label"
        yield (
            f"Each reviewer was asked to label {_counted(plan['retest'], 'item')} a second time under another code; "
            f"{given} entered the analysis."
        )


def _tests(agreement: Content) -> Iterator[str]:
    """Yield the tests of agreement in this report."""
    made = []
    if agreement["homogeneity"]["p"] is not None:
        made.append("Pearson's chi-square test of equal agreement of all pairs (items with exactly two labels)")
    if agreement["chance_test"]["p"] is not None:
        made.append("a test of kappa = 0 with the null standard error of Fleiss, Nee and Landis")
    if agreement["leniency"]["overall"]["p"] is not None:
        made.append(f"a {agreement['leniency']['overall']['test']} test of equal leniency (conditional logit on items)")
    if agreement["leniency"]["pairs"]:
        made.append("McNemar's mid-p test of the leniency of two reviewers, with Holm's correction")
    if agreement["retest"]:
        made.append("McNemar's mid-p test of drift between test and retest, with Holm's correction")
    if (agreement["order"] or {}).get("matters") is not None:
        made.append("tests of trend over each reviewer's item order, with Bonferroni's correction")
    if made:
        yield f"Tests: {'; '.join(made)}."


def _classifiers(content: Content) -> Iterator[str]:
    settings = content["parameters"].get("verdicts", {})
    comparisons = [
        f"{name} ({'; '.join(map(value_in_words, settings[name]))})" if settings.get(name) else str(name)
        for name in content["classifiers"]
    ]
    if not comparisons:
        return
    holm = " with Holm's correction" if len(comparisons) > 1 else ""
    resampled = content["parameters"]["resampling"]["n_bootstrap"]
    mcc = "Matthews' correlation has a bootstrap interval over items. " if resampled else ""
    scored = any(row["scores"] for row in content["classifiers"].values())
    auc = "Areas under the ROC curve have DeLong's standard error. " if scored else ""
    between = "; the same test compares the classifiers with each other" if len(comparisons) > 1 else ""
    yield (
        f"Classifiers were compared with the consensus (positive category: dissimilar): {', '.join(comparisons)}. "
        "Sensitivity, specificity, precision and accuracy have Wilson intervals; balanced accuracy has a "
        f"square-and-add interval. {mcc}{auc}The reference is the majority rule, which gives every item the most "
        "frequent "
        f"category of the agreed items, compared by McNemar's mid-p test{holm}{between}."
    )


def _resampling(content: Content) -> Iterator[str]:
    resampling, latent = content["parameters"].get("resampling"), content["consensus"]["latent"]
    if resampling and resampling["n_bootstrap"]:
        yield f"Bootstrap intervals come from {resampling['n_bootstrap']} draws of items (seed {resampling['seed']})."
    if not (resampling and resampling["n_sweeps"]):
        return
    if not latent["identifiability"]["identified"]:
        yield "A latent class model is not reported because these labels do not identify it."
        return
    yield "A latent class model with conditional independence was fitted by EM."
    tests = latent["misfit"]
    if any(test["p"] is not None for test in (tests["reviewers"], *tests["with_classifier"].values())):
        yield (
            f"Its fit was tested with {resampling['n_misfit']} simulated data sets (seed {resampling['seed']}), "
            "for the reviewers alone and with each classifier as an additional rater."
        )
    if latent["prevalence"]["value"] is not None:
        yield (
            f"Its {100 * latent['level']:g} % credible intervals come from a Gibbs sampler ({resampling['n_sweeps']} "
            f"sweeps in each of four chains, seed {resampling['seed']})."
        )
    elif latent["state"]["state"] == "rejected":
        yield "The model was rejected, so its numbers are withheld."


def _counted(n: int, noun: str) -> str:
    """Return a number with its noun: 1 item, 2 items."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
