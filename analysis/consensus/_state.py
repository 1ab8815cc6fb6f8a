"""Determine the status of a latent class model. Reports show the status next to each result of the model."""

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
RARE = 0.15  # if the rarer category has a smaller share than this, intervals depend mainly on the priors
FEW_RARE = 40  # intervals also depend mainly on the priors if the rarer category has fewer items than this
LARGE_SHIFT = 0.10  # an alternative that the labels do not exclude moves a prevalence or rate by this much or more
WORDS_FITS = (
    "no sign of shared errors in a test with enough power to detect a copying rater; errors that all raters share "
    "cannot be detected"
)
AFTER_REJECTION = (
    "a model with dependent errors of these raters",
    "more labels per item",
    "adjudication of split items",
)


@dataclass(frozen=True, repr=False)
class ModelState(Result):
    """The status of a latent class model, which tells readers how far to trust its results.

    Attributes
    ----------
    state : str
        "fits", "rejected", "untestable", "weak" or "not identified".
    words : str
        The reason for the status, as a clause.
    remedies : tuple of str
        Possible remedies; empty if the model fits.
    """

    state: str
    words: str
    remedies: tuple[str, ...] = ()

    @property
    def is_marked(self) -> bool:
        """Return whether results of the model need a warning."""
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
    """Determine the status of a latent class model.

    Parameters
    ----------
    identifiability : Identifiability
        Result of `identifiability` for the labels of the model.
    tests : sequence of Misfit
        All applicable tests of fit, such as the reviewers alone, and the reviewers with a classifier.
    alternatives : sequence of Dependence
        Models of dependent errors that were fitted to the same labels.
    n_items : int
        Number of items that the model was fitted to.
    prevalence : float or None
        Estimated share of dissimilar items.
    alpha : float
        Significance level of all tests of fit together (Holm's correction), and of the tests against the alternatives.

    Returns
    -------
    ModelState
        The first status that applies. Not identified: the labels do not determine the parameters. Rejected: a test
        rejects, or an alternative fits better. Weak: the labels contain no more information about the prevalence than
        the prior, or one category is rare. Untestable: no test is possible. Weak again: no test has the power to detect
        a copying rater, or a result would change by 0.10 or more under an alternative that the labels do not exclude.
        Otherwise, the model fits.

    Examples
    --------
    >>> identified = Identifiability(7, 7, True, (), "identified: labels of this design determine all 7 parameters")
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
        return ModelState(
            REJECTED, f"according to the labels, {best.words} (p = {p_value(best.p_holm)})", AFTER_REJECTION
        )
    if identifiability.weak:
        return ModelState(WEAK, "the labels contain less information than the prior", ("more labels per item",))
    rare = None if prevalence is None else min(prevalence, 1 - prevalence)
    if rare is not None and (rare < RARE or rare * n_items < FEW_RARE):
        words = f"only about {rare * n_items:.0f} of {n_items} items ({percent(rare)}) are in the rarer category"
        if rare >= RARE:
            return ModelState(WEAK, f"{words}, and the rates need about {FEW_RARE}", ("more items",))
        return ModelState(WEAK, words, ("more items of the rarer category",))
    if not tested:
        words = "it rests on independence, which these data cannot test"
        return ModelState(UNTESTABLE, words, ("a fourth reviewer or a classifier on the same items",))
    power = max(test.power or 0.0 for test in tested)
    if power < ENOUGH_POWER:
        words = f"a test of independence would detect a copying rater in only {100 * power:.0f} % of such studies"
        return ModelState(WEAK, words, ("more items", "more labels per item"))
    shifts = [
        (max(other.shift, other.possible_shift or 0.0), other) for other in alternatives if other.shift is not None
    ]
    shift, other = max(shifts, key=lambda pair: pair[0], default=(0.0, None))
    if other is not None and shift >= LARGE_SHIFT:
        words = f"a prevalence or rate would change by {shift:.2f} if {other.words}, which these labels do not exclude"
        return ModelState(WEAK, words, ("more items", "more labels per item"))
    return ModelState(FITS, WORDS_FITS)
