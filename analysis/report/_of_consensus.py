"""Compute the numbers on each kind of consensus: agreed labels only, adjudicated majority, and latent class."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from analysis import consensus
from analysis.categories import CATEGORIES
from analysis.document import plain
from analysis.intervals import Estimate, wilson
from analysis.report._of_agreement import Labels
from analysis.report._resampling import Resampling
from analysis.report._wording import title_of

# the state of a model of dependent errors, which is only fitted to numbers if independent errors are rejected
CHOSEN = {
    "state": consensus.WEAK,
    "state_words": "this model was chosen because independent errors are rejected, so its numbers are valid only if "
    "this model is right",
}
Done = Callable[[Any], Any]  # a function that receives the result of each finished part, and returns it


@dataclass(frozen=True)
class Truths:
    """The two kinds of consensus that come from counting labels. Classifiers are compared with both.

    Attributes
    ----------
    agreed, majority : DataFrame
        One row per item: columns status, category, n_labels.
    all_labels : DataFrame
        First and third labels, to which the latent class model is fitted.
    """

    agreed: pd.DataFrame
    majority: pd.DataFrame
    all_labels: pd.DataFrame


def truths(labels: Labels, decisions: Mapping[object, str]) -> Truths:
    """Compute two kinds of consensus by counting labels, and collect the labels for the latent class model."""
    third = labels.third if len(labels.third) else None
    columns = ["item", "rater", "category"]
    return Truths(
        agreed=consensus.agreed_only(labels.first),
        majority=consensus.majority(labels.first, third, decisions),
        all_labels=pd.concat([labels.first[columns], labels.third[columns]], ignore_index=True),
    )


def consensus_numbers(truth: Truths, n_third: int, n_items: int, level: float) -> dict[str, Any]:
    """Compute all numbers on the consensus that comes from counting labels."""
    status, n_labels = truth.agreed["status"], truth.agreed["n_labels"]
    n_agreed, n_split = ((status == name).sum() for name in (consensus.AGREED, consensus.SPLIT))
    return {
        "rule": "agreed only: at least two first labels, all equal",
        "n_items": n_items,
        "agreed": int(n_agreed),
        **{f"agreed_{category}": int((truth.agreed["category"] == category).sum()) for category in CATEGORIES},
        "split": int(n_split),
        "incomplete": n_items - int(n_agreed) - int(n_split),
        "by_n_labels": [
            {
                "n_labels": int(n),
                "n": len(group),
                "agreed": plain(wilson(int((group == consensus.AGREED).sum()), len(group), level)),
            }
            for n, group in status[n_labels >= 2].groupby(n_labels)
        ],
        "majority": _majority(truth.majority, n_third),
    }


def _majority(table: pd.DataFrame, n_third: int) -> dict[str, Any]:
    counts = table["status"].value_counts()
    names = (consensus.MAJORITY, consensus.ADJUDICATED, consensus.SPLIT, consensus.INCOMPLETE)
    return {
        "n_third_labels": n_third,
        **{name: int(counts.get(name, 0)) for name in names},
        **{f"n_{category}": int((table["category"] == category).sum()) for category in CATEGORIES},
    }


def latent_numbers(
    truth: Truths,
    first: pd.DataFrame,
    verdicts: pd.DataFrame,
    level: float,
    resampling: Resampling,
    show_rejected: bool,
    done: Done,
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Fit the latent class model to the reviewers' labels, and compute the rates of each classifier against it.

    Every row states the status of its model. The numbers of a rejected model are withheld unless `show_rejected` is
    true. If the resampling has no Gibbs sweeps, the result only says whether the model is identifiable.
    """
    if not resampling.n_sweeps:
        return {"identifiability": plain(consensus.identifiability(truth.all_labels))}, {}
    fitted = done(
        consensus.latent_class(
            truth.all_labels, level=level, n_sweeps=resampling.n_sweeps, rng=resampling.rng("latent class")
        )
    )
    tests = _tests(first, verdicts, resampling, done)
    prevalence = fitted.prevalence.value
    judged = partial(consensus.model_state, fitted.identifiability, n_items=fitted.n_items, prevalence=prevalence)
    alone, alternatives = tests["reviewers"], _alternatives(first, verdicts, level, done)
    has_power = alone.p is not None and (alone.power is None or alone.power >= consensus.ENOUGH_POWER)
    others = [] if has_power else list(tests["with_classifier"])
    state = judged(
        [alone, *(tests["with_classifier"][name] for name in others)],
        [*alternatives["reviewers"], *(model for name in others for model in _titled(name, alternatives))],
    )
    shown = partial(_shown, show_rejected=show_rejected)
    items = fitted.items
    is_withheld = state.state == consensus.REJECTED and not show_rejected
    counts = {category: int((items["category"] == category).sum()) for category in CATEGORIES}
    numbers = {
        "identifiability": plain(fitted.identifiability),
        "state": plain(state),
        "level": fitted.level,
        "prevalence": shown(plain(fitted.prevalence), state),
        "reviewers": [shown(plain(rates), state) for rates in fitted.reviewers],
        "n_decided": None if is_withheld else counts,
        "undecided": None if is_withheld else [{**row, "state": state.state} for row in _undecided(items)],
        "misfit": plain(tests),
        "dependence": _dependence(alternatives, state),
        "residuals": consensus.residual_correlations(first).to_dict("records"),
    }
    rates = done(_classifier_rates(truth, verdicts, level, resampling))
    return numbers, {
        name: shown(
            plain(of_one),
            _state_of_classifier(
                state,
                judged(
                    [alone, tests["with_classifier"][name]],
                    [*alternatives["reviewers"], *_titled(name, alternatives)],
                ),
            ),
        )
        for name, of_one in rates.items()
    }


def _state_of_classifier(reviewers: consensus.ModelState, own: consensus.ModelState) -> consensus.ModelState:
    """Return the status of a classifier's row.

    If the classifier's own model is rejected, the row has the status of this model. Otherwise, a warning of the
    reviewers' model also applies to the row, because the rates are computed from the reviewers' model. If that model
    has no warning, the row has the status of the classifier's own model.
    """
    return own if own.state == consensus.REJECTED or not reviewers.is_marked else reviewers


def _alternatives(first: pd.DataFrame, verdicts: pd.DataFrame, level: float, done: Done) -> dict[str, Any]:
    """Fit models of dependent errors to the reviewers alone, and to the reviewers with each classifier."""
    return {
        "reviewers": done(consensus.dependence(first, level=level)),
        "with_classifier": {
            name: done(consensus.dependence(first, rows, level=level))
            for name, rows in _by_classifier(verdicts).items()
        },
    }


def _titled(classifier: str, alternatives: dict[str, Any]) -> list[consensus.Dependence]:
    """Return the models of the reviewers with one classifier; replace the name of the classifier by its title."""
    return [
        replace(model, raters=tuple(title_of(classifier) if r == classifier else r for r in model.raters))
        for model in alternatives["with_classifier"][classifier]
    ]


def _dependence(alternatives: dict[str, Any], state: consensus.ModelState) -> dict[str, Any]:
    """List the fitted models; if independence is rejected, also give the numbers of the best alternative."""
    tried = [("reviewers", alternatives["reviewers"]), *alternatives["with_classifier"].items()]
    rows = [
        {"raters_of": who, "model": model.words, **_without_rates(plain(model))}
        for who, models in tried
        for model in models
    ]
    fitted = [(who, model) for who, models in tried for model in models if model.p is not None]
    best = None
    if state.state == consensus.REJECTED and fitted:
        alone = [pair for pair in fitted if pair[0] == "reviewers"]
        who, model = min(alone or fitted, key=lambda pair: pair[1].p)
        best = {"raters_of": who, "model": model.words, **plain(model)}
        best |= {"prevalence": best["prevalence"] | CHOSEN, "rates": [row | CHOSEN for row in best["rates"]]}
    return {"tried": rows, "best": best}


def _without_rates(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("prevalence", "rates")}


def _tests(first: pd.DataFrame, verdicts: pd.DataFrame, resampling: Resampling, done: Done) -> dict[str, Any]:
    """Test how well the model fits the reviewers alone, and the reviewers with each classifier as an additional rater.

    The tests use only labels that the plan assigned before any label was known. Each classifier is added alone. With
    two classifiers at once, similar errors of both could make the test reject, although such errors do not contradict
    the rates of either classifier.
    """
    return {
        "reviewers": done(consensus.misfit(first, n_draws=resampling.n_misfit, rng=resampling.rng("misfit"))),
        "with_classifier": {
            name: done(
                consensus.misfit(
                    first,
                    rows,
                    n_draws=resampling.n_misfit,
                    rng=resampling.rng(f"misfit with {name}"),
                )
            )
            for name, rows in _by_classifier(verdicts).items()
        },
    }


def _by_classifier(verdicts: pd.DataFrame) -> dict[str, pd.DataFrame]:
    rows = verdicts[["item", "classifier", "verdict"]] if len(verdicts) else verdicts
    return {str(name): of_one for name, of_one in rows.groupby("classifier", sort=True)}


def _shown(row: dict[str, Any], state: consensus.ModelState, *, show_rejected: bool) -> dict[str, Any]:
    """Add the status of the model to a row; withhold the numbers of a rejected model unless they are requested."""
    marked = {**row, "state": state.state, "state_words": state.words}
    if state.state != consensus.REJECTED or show_rejected:
        return marked
    withheld = plain(Estimate(None, reason=f"withheld: {state.words}"))
    if "value" in row:
        return {**marked, **withheld}
    return {**marked, "sensitivity": withheld, "specificity": withheld}


def _undecided(items: pd.DataFrame) -> list[dict[str, Any]]:
    rows = items[items["category"] == "undecided"].sort_values("item")
    has_posterior = rows["posterior"].notna()
    return [
        {"item": str(item), "posterior": float(posterior) if is_known else None}
        for item, posterior, is_known in zip(rows["item"], rows["posterior"], has_posterior, strict=True)
    ]


def _classifier_rates(
    truth: Truths, verdicts: pd.DataFrame, level: float, resampling: Resampling
) -> dict[str, consensus.RaterRates]:
    """Compute sensitivity and specificity of each classifier against the latent class."""
    if not len(verdicts):
        return {}
    all_rates = consensus.classifier_rates(
        truth.all_labels,
        verdicts[["item", "classifier", "verdict"]],
        level=level,
        n_sweeps=resampling.n_sweeps,
        rng=resampling.rng("classifier rates"),
    )
    return {str(rates.rater): rates for rates in all_rates}
