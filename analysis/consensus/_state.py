"""Whether the numbers of a latent class model may be believed: what stands beside every one of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.consensus._dependence import Dependence
from analysis.consensus._identifiability import Identifiability
from analysis.consensus._misfit import ENOUGH_POWER, Misfit
from analysis.document import p_value, percent
from analysis.multiple import holm
from analysis.results import Result

FITS, REJECTED, UNTESTABLE, WEAK, NOT_IDENTIFIED = "fits", "rejected", "untestable", "weak", "not identified"
STATES = (FITS, REJECTED, UNTESTABLE, WEAK, NOT_IDENTIFIED)
RARE = 0.15  # share of the rarer category below which intervals follow the priors
FEW_RARE = 40  # items of the rarer category, likewise
LARGE_SHIFT = 0.10  # of a prevalence or a rate, under an alternative that the labels do not exclude
WORDS_FITS = (
    "no sign of shared errors in a test with enough power to find a copying rater; errors that all raters share leave "
    "no trace"
)
AFTER_REJECTION = (
    "a model in which the raters that share errors depend on each other",
    "more labels per item",
    "a person's decision on split items",
)


@dataclass(frozen=True, repr=False)
class ModelState(Result):
    """What is known of a latent class model, for the rows that rest on it.

    Attributes
    ----------
    state : str
        "fits", "rejected", "untestable", "weak" or "not identified".
    words : str
        The reason, as a clause.
    remedies : tuple of str
        What would help; empty where the model fits.
    """

    state: str
    words: str
    remedies: tuple[str, ...] = ()

    @property
    def is_marked(self) -> bool:
        """Whether a number that rests on the model needs a warning beside it."""
        return self.state != FITS


def model_state(
    identifiability: Identifiability,
    tests: Sequence[Misfit],
    alternatives: Sequence[Dependence] = (),
    *,
    n_items: int,
    prevalence: float | None,
    alpha: float = 0.05,
) -> ModelState:
    """The state of a latent class model, from what is known of it.

    Parameters
    ----------
    identifiability : Identifiability
        Of the labels that the model was fitted to.
    tests : sequence of Misfit
        Every test of its fit that applies, such as that of the reviewers alone and that of the reviewers with a
        classifier.
    alternatives : sequence of Dependence
        Models of dependent errors that were fitted to the same labels.
    n_items : int
        Items that the model was fitted to.
    prevalence : float or None
        Estimated share of dissimilar items.
    alpha : float
        Level of all tests of fit together (Holm's correction), and of the tests against the alternatives.

    Returns
    -------
    ModelState
        In this order: not identified; rejected, if a test rejects or an alternative fits better; weak, if the labels
        tell the prevalence no better than the prior, or one category is rare; untestable, if no test could be made;
        weak, if no test had the power to find a rater who copies another, or if a number would differ by .10 or more
        under an alternative that the labels do not exclude; else it fits.

    Examples
    --------
    >>> identified = Identifiability(7, 7, True, (), "identified: labels of this design tell all 7 parameters")
    >>> model_state(identified, [], n_items=500, prevalence=0.5).state
    'untestable'
    """
    if not identifiability.identified:
        return ModelState(NOT_IDENTIFIED, identifiability.words, identifiability.remedies)
    tested = [test for test in tests if test.p is not None]
    p = min((p for p in holm([test.p for test in tested]) if p is not None), default=1.0)
    if p <= alpha:
        return ModelState(REJECTED, f"the labels contradict independent errors (p = {p_value(p)})", AFTER_REJECTION)
    better = [other for other in alternatives if other.p_holm is not None and other.p_holm <= alpha]
    if better:
        best = min(better, key=lambda other: other.p_holm or 0.0)
        return ModelState(REJECTED, f"the labels say that {best.words} (p = {p_value(best.p_holm)})", AFTER_REJECTION)
    if identifiability.weak:
        return ModelState(WEAK, "the labels tell less than the prior assumption", ("more labels per item",))
    rare = None if prevalence is None else min(prevalence, 1 - prevalence)
    if rare is not None and (rare < RARE or rare * n_items < FEW_RARE):
        words = f"only {percent(rare)} of {n_items} items are in the rarer category"
        return ModelState(WEAK, words, ("more items of the rarer category",))
    if not tested:
        words = "rests on independence, which these data cannot test"
        return ModelState(UNTESTABLE, words, ("a fourth reviewer or a classifier on the same items",))
    power = max(test.power or 0.0 for test in tested)
    if power < ENOUGH_POWER:
        words = f"a test of independence would find a copying rater in only {100 * power:.0f} % of such studies"
        return ModelState(WEAK, words, ("more items", "more labels per item"))
    shifts = [(other.shift, other) for other in alternatives if other.shift is not None]
    shift, other = max(shifts, key=lambda pair: pair[0], default=(0.0, None))
    if other is not None and shift >= LARGE_SHIFT:
        words = f"a number would differ by {shift:.2f} if {other.words}, which these labels do not exclude"
        return ModelState(WEAK, words, ("more items", "more labels per item"))
    return ModelState(FITS, WORDS_FITS)
