"""Test whether a machine may replace a person: the alternative annotator test of Calderon, Reichart and Dror (2025).

https://arxiv.org/abs/2501.10970
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations, cycle, islice
from math import ceil, sqrt
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from analysis.arrays import Floats
from analysis.raters.evaluation._compare import CANNOT_TELL, WORSE
from analysis.statistics.bootstrap import N_DRAWS, bootstrap
from analysis.statistics.intervals import Estimate, wilson
from analysis.text import joined

Answer = TypeVar("Answer")
Score = Callable[[Answer, Sequence[Answer]], float]  # (an answer, the answers of others) -> larger is better

# epsilon: the advantage of a person in quality that the costs of a person allow
EXPERT, TRAINED, CROWD = 0.2, 0.15, 0.1
MIN_ITEMS = 30  # with fewer items, the Wilcoxon test is used
LEAST_REPLACED = 0.5  # share of the people whom the machine must be able to replace
PASSES, NO_ANSWER = "passes", "no answer"  # what the answers show about a machine, beside WORSE and CANNOT_TELL
NO_ERROR = 1e-12  # a smaller standard error is a rounding error of 0
FEW_PEOPLE = 3  # with fewer people, the test is less reliable
MANY_ANSWERS = 20  # different answers; with more, random answers are drawn once
N_STUDIES = 400  # simulated studies for the power of the test


@dataclass(frozen=True)
class PersonTest:
    """The comparison of a machine with one person."""

    person: str
    n: int  # number of items that this person, at least one other person, and the machine answered
    rho: float  # share of items on which the machine is at least as close to the others as the person
    rho_person: float  # share of items on which the person is at least as close to the others as the machine
    p: float  # p of the hypothesis that the person is better by at least epsilon
    p_clustered: float | None  # the same with items of one group counted together; None without groups
    replaceable: bool  # whether the hypothesis is rejected, after the correction of Benjamini and Yekutieli over people


@dataclass(frozen=True)
class AlternativeTest:
    """Whether a machine may replace a person."""

    people: tuple[PersonTest, ...]
    omega: float | None  # share of the people whom the machine may replace
    passes: bool | None  # whether omega is at least .5
    # Whether the machine is shown to be worse: it does not pass, the whole interval of the advantage is below -epsilon,
    # and so many people are closer to the others by epsilon or more that the rest would not be enough to pass. None
    # without an interval. If a machine neither passes nor is worse, the answers cannot tell.
    worse: bool | None
    omega_clustered: float | None  # `omega` with the p values that count items of one group together
    passes_from: (
        float | None
    )  # the smallest epsilon, in steps of .01, with which the machine passes; None if none below 1
    rho: float | None  # mean of the shares of the people, by which machines are ranked
    # mean over people and items of machine minus person: above 0, the machine is closer to the others; the interval is
    # from a bootstrap over items, or over groups
    advantage: Estimate
    rho_random: float | None  # `rho` of answers drawn at random from those of the people
    # `advantage` of such answers; above -epsilon, random answers pass with enough items, so a pass says nothing
    advantage_random: float | None
    epsilon: float
    # number of items on which the others are a single person; these comparisons are with one person only
    n_compared_with_one: int
    reason: str | None = None  # why there is no result, or why it is less reliable

    @property
    def random_passes(self) -> bool:
        """Return whether random answers would pass, too, given enough items, so that a pass says nothing."""
        return self.advantage_random is not None and self.advantage_random > -self.epsilon

    def answer(self, *, by_item: bool = True, by_group: bool = False) -> str:
        """Return what the answers show; the tests that count items and those that count groups must agree, if asked."""
        if not self.people or self.random_passes:
            return NO_ANSWER
        passing = [bool(self.passes)] if by_item else []
        if by_group and self.omega_clustered is not None:
            passing.append(self.omega_clustered >= LEAST_REPLACED)
        if passing and all(passing):
            return PASSES
        return WORSE if self.worse and not any(passing) else CANNOT_TELL


def alternative_annotator(
    answers: Mapping[Hashable, Mapping[str, Answer]],
    machine: Mapping[Hashable, Answer],
    score: Score[Answer],
    *,
    epsilon: float = EXPERT,
    groups: Mapping[Hashable, Hashable] | None = None,
    min_items: int = MIN_ITEMS,
    least_items: int = 1,
    level: float = 0.95,
    n_draws: int = N_DRAWS,
    seed: int = 1,
) -> AlternativeTest:
    """Test whether a machine is as close to the other people as each person is.

    `answers`: item -> person -> answer. An answer can be a category, a number or a set of points. `machine`: item ->
    answer of the machine. Items without an answer are left out. `score`: how close an answer is to the answers of
    others, such as `share_equal`; `epsilon`: .2 if people are experts, .15 if they are trained, .1 in a crowd;
    `groups`: item -> group of items that are alike, such as the application of a benchmark; `min_items`: people with
    fewer items are tested with the Wilcoxon test instead of the t test; `least_items`: people with fewer items are not
    tested, but their answers count among those of the others. Without `n_draws`, the advantage has no interval. There
    is no result if no item has two people. Raises ValueError if epsilon is not within [0, 1).
    """
    check_epsilon(epsilon)
    usable = {
        item: given for item, given in sorted(answers.items(), key=_name) if item in machine and len(given) >= 2
    }  # fmt: skip

    def none(reason: str) -> AlternativeTest:
        undefined = Estimate(None, reason=reason)
        return AlternativeTest((), None, None, None, None, None, None, undefined, None, None, epsilon, 0, reason)

    if not usable:
        return none("no item has answers of two people and of the machine")
    compare = _comparer(usable, score)
    compared = {person: found for person, found in compare(machine).items() if len(found[0]) >= least_items}
    if not compared:
        return none(f"no person has {least_items} items")
    gaps = {person: losses - wins for person, (_, wins, losses) in compared.items()}
    n_groups = 0 if groups is None else len({groups.get(item) for item in usable})

    def share_rejected(of_epsilon: float) -> tuple[float, list[float], list[bool]]:
        p = [_p(*_outcomes(gap), of_epsilon, min_items) for gap in gaps.values()]
        rejected = _benjamini_yekutieli(p, 1 - level)
        return float(np.mean(rejected)), p, rejected

    omega, p, rejected = share_rejected(epsilon)
    clustered: list[float] | None = None
    if groups is not None and n_groups > 1:
        clustered = [
            _t_test_of_groups(gap, [groups.get(item) for item in items], epsilon)
            for gap, (items, _, _) in zip(gaps.values(), compared.values(), strict=True)
        ]
    people = tuple(
        PersonTest(person, len(wins), float(wins.mean()), float(losses.mean()), p[at],
                   None if clustered is None else clustered[at], rejected[at])
        for at, (person, (_, wins, losses)) in enumerate(compared.items())
    )  # fmt: skip
    advantage = _advantage(compared, list(usable), groups, level, n_draws, seed)
    first = bisect_left(range(100), True, key=lambda step: share_rejected(step / 100)[0] >= LEAST_REPLACED)
    return AlternativeTest(
        people,
        omega,
        omega >= LEAST_REPLACED,
        _is_worse(people, advantage, epsilon) if omega < LEAST_REPLACED else False,
        None if clustered is None else float(np.mean(_benjamini_yekutieli(clustered, 1 - level))),
        first / 100 if first < 100 else None,
        float(np.mean([test.rho for test in people])),
        advantage,
        *_of_random_answers(usable, compare, seed),
        epsilon,
        sum(len(given) == 2 for given in usable.values()),
        "fewer than three people: less reliable" if len(people) < FEW_PEOPLE else None,
    )


def check_epsilon(epsilon: float) -> None:
    """Raise ValueError if epsilon is not within [0, 1)."""
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon must be within [0, 1), got {epsilon}")


def describe_answers(answers: Sequence[tuple[str, str]], epsilon: float, *, person: str, these: str) -> str:
    """Say which machines may replace a person, which are worse, and which the answers cannot judge.

    `answers`: name and answer of each machine; `person` and `these`: words for a person and for the answers.

    Examples
    --------
    >>> describe_answers([("a", PASSES), ("b", CANNOT_TELL)], 0.2, person="a person", these="these marks")
    'a may replace a person; these marks cannot tell whether b may replace a person'
    """
    passing, worse, open_ones = (
        [name for name, answer in answers if answer == wanted] for wanted in (PASSES, WORSE, CANNOT_TELL)
    )
    clauses = []
    if passing:
        clauses.append(f"{joined(passing)} may replace {person}")
    if worse:
        verb = "is" if len(worse) == 1 else "are"
        clauses.append(f"{joined(worse)} {verb} worse than {person} by more than {epsilon:g}")
    if open_ones:
        clauses.append(f"{these} cannot tell whether {joined(open_ones, 'or')} may replace {person}")
    return "; ".join(clauses)


def _is_worse(people: Sequence[PersonTest], advantage: Estimate, epsilon: float) -> bool | None:
    if advantage.high is None:
        return None
    n_closer = sum(person.rho_person - person.rho >= epsilon - 1e-12 for person in people)
    return advantage.high < -epsilon and n_closer > len(people) - ceil(len(people) * LEAST_REPLACED)


def share_equal(answer: object, others: Sequence[object]) -> float:
    """Return the share of the others who gave the same answer: the score of categories."""
    return sum(other == answer for other in others) / len(others)


Compared = dict[str, tuple[list[Hashable], Floats, Floats]]


Compare = Callable[[Mapping[Hashable, Answer]], Compared]  # the answers of a machine -> its comparison with each person


def _comparer(answers: Mapping[Hashable, Mapping[str, Answer]], score: Score[Answer]) -> Compare[Answer]:
    """Return what compares machines with the people.

    It returns, for each person, the items, and whether the machine and whether the person is at least as close.
    """
    return _EqualAnswers(answers).compare if score is share_equal else partial(_compare, answers, score)


def _compare(
    answers: Mapping[Hashable, Mapping[str, Answer]], score: Score[Answer], machine: Mapping[Hashable, Answer]
) -> Compared:
    rows: dict[str, list[tuple[Hashable, bool, bool]]] = {}
    for item, given in answers.items():
        for person, answer in given.items():
            others = [other for name, other in given.items() if name != person]
            of_machine, of_person = score(machine[item], others), score(answer, others)
            rows.setdefault(person, []).append((item, of_machine >= of_person, of_person >= of_machine))
    return {
        person: (
            [item for item, _, _ in of_person],
            np.array([win for _, win, _ in of_person], dtype=np.float64),
            np.array([loss for _, _, loss in of_person], dtype=np.float64),
        )
        for person, of_person in sorted(rows.items())
    }


class _EqualAnswers(Generic[Answer]):
    """Compares by `share_equal`, with counts of equal answers in place of the answers of others."""

    def __init__(self, answers: Mapping[Hashable, Mapping[str, Answer]]) -> None:
        self._items = list(answers)
        self._codes: dict[Answer, int] = {}
        people: dict[str, tuple[list[int], list[int]]] = {}
        for place, given in enumerate(answers.values()):
            for person, answer in given.items():
                places, chosen = people.setdefault(person, ([], []))
                places.append(place)
                chosen.append(self._codes.setdefault(answer, len(self._codes)))
        self._people = {person: (np.array(people[person][0]), np.array(people[person][1])) for person in sorted(people)}
        self._counts = np.zeros((len(self._items), len(self._codes) + 1))  # the last column: an answer that nobody gave
        for of_person in self._people.values():
            self._counts[of_person] += 1

    def compare(self, machine: Mapping[Hashable, Answer]) -> Compared:
        """Compare a machine with each person."""
        verdicts = np.array([self._codes.get(machine[item], -1) for item in self._items])
        compared = {}
        for person, (places, own) in self._people.items():
            verdict = verdicts[places]
            gap = self._counts[places, verdict] - (verdict == own) - (self._counts[places, own] - 1)
            items = [self._items[place] for place in places.tolist()]
            compared[person] = items, (gap >= 0).astype(np.float64), (gap <= 0).astype(np.float64)
        return compared


def _outcomes(gap: Floats) -> tuple[int, int, int]:
    """Return on how many items the machine is closer, neither is, and the person is."""
    return int((gap < 0).sum()), int((gap == 0).sum()), int((gap > 0).sum())


@lru_cache(maxsize=8192)
def _p(n_machine: int, n_ties: int, n_person: int, epsilon: float, min_items: int) -> float:
    """Return p of the hypothesis that the person is better by at least epsilon, which depends on three counts only."""
    n = n_machine + n_ties + n_person
    mean = (n_person - n_machine) / n
    if n in (n_machine, n_ties, n_person):  # no variation
        return float(mean >= epsilon)
    if n >= min_items:
        spread = sqrt((n_machine + n_person - n * mean**2) / (n - 1))
        return float(special.stdtr(n - 1, (mean - epsilon) / (spread / sqrt(n))))
    from scipy import stats  # slow to import

    shifted = np.repeat([-1.0, 0.0, 1.0], [n_machine, n_ties, n_person]) - epsilon
    return float(stats.wilcoxon(shifted, alternative="less", method="approx").pvalue)


def _t_test_of_groups(gap: Floats, groups: Sequence[Hashable], epsilon: float) -> float:
    """Test with a standard error in which items of one group may be alike in any way."""
    place = {name: at for at, name in enumerate(dict.fromkeys(groups))}
    sums = np.bincount([place[name] for name in groups], weights=gap - gap.mean())
    n_groups = len(place)
    error = sqrt(n_groups / (n_groups - 1) * float(sums @ sums)) / len(gap) if n_groups > 1 else 0.0
    if error < NO_ERROR:
        return float(gap.mean() >= epsilon)
    return float(special.stdtr(n_groups - 1, (gap.mean() - epsilon) / error))


def _benjamini_yekutieli(p: Sequence[float], alpha: float) -> list[bool]:
    m = len(p)
    limit = alpha / (m * sum(1 / rank for rank in range(1, m + 1)))
    ordered = sorted(p)
    n_rejected = max((rank for rank in range(1, m + 1) if ordered[rank - 1] <= rank * limit), default=0)
    return [n_rejected > 0 and value <= ordered[n_rejected - 1] for value in p]


def _advantage(
    compared: Compared,
    items: list[Hashable],
    groups: Mapping[Hashable, Hashable] | None,
    level: float,
    n_draws: int,
    seed: int,
) -> Estimate:
    place = {item: at for at, item in enumerate(items)}
    sums, counts = np.zeros((len(compared), len(items))), np.zeros((len(compared), len(items)))
    for row, (of_person, wins, losses) in enumerate(compared.values()):
        at = [place[item] for item in of_person]
        sums[row, at], counts[row, at] = wins - losses, 1

    def statistic(weights: Floats) -> ArrayLike:
        return np.asarray(((weights @ sums.T) / (weights @ counts.T)).mean(axis=1))

    of_items = None if groups is None else [groups.get(item) for item in items]
    if not n_draws:
        return Estimate(float(np.asarray(statistic(np.ones((1, len(items)))))[0]), reason="no bootstrap")
    rng = np.random.default_rng(seed)
    return bootstrap(statistic, len(items), rng=rng, groups=of_items, level=level, n_draws=n_draws)


def _of_random_answers(
    answers: Mapping[Hashable, Mapping[str, Answer]], compare: Compare[Answer], seed: int
) -> tuple[float, float]:
    """Return rho and the advantage of a machine that answers each item as somebody answered an item drawn at random.

    With few different answers, such as categories, these are the expected values.
    """
    pool = [answer for _, given in sorted(answers.items(), key=_name) for _, answer in sorted(given.items())]
    if len(set(pool)) > MANY_ANSWERS:
        rng = np.random.default_rng(seed)
        machines = [({item: pool[rng.integers(len(pool))] for item, _ in sorted(answers.items(), key=_name)}, 1.0)]
    else:
        machines = [(dict.fromkeys(answers, answer), n / len(pool)) for answer, n in Counter(pool).items()]
    rho = advantage = 0.0
    for machine, share in machines:
        compared = compare(machine).values()
        rho += share * float(np.mean([wins.mean() for _, wins, _ in compared]))
        advantage += share * float(np.mean([(wins - losses).mean() for _, wins, losses in compared]))
    return rho, advantage


def _name(entry: tuple[Hashable, object]) -> str:
    return str(entry[0])


# How often the test passes, by simulation


@dataclass(frozen=True)
class SimulatedTests:
    """How often the test passed in simulated studies, with the items counted one by one and by group."""

    passes: Estimate
    passes_clustered: Estimate


def power_of_alternative(
    n_raters: Mapping[int, int],
    n_people: int,
    *,
    kappa: float,
    prevalence: float,
    skill: float = 1.0,
    epsilon: float = EXPERT,
    seed: int = 1,
) -> SimulatedTests:
    """Return how often a machine passes that labels as a further person would (`skill` 1) or at random (0).

    The labels of an item are independent given a share of the item, which is beta distributed with intraclass
    correlation `kappa`, as in `analysis.raters.planning.expected`. `n_raters`: number of people per item -> number of
    such items; only items with three or more are used. Raises ValueError if there are none.

    Examples
    --------
    >>> found = power_of_alternative({3: 60}, 3, kappa=0.6, prevalence=0.5)
    >>> round(found.passes.value, 2)
    0.98
    """
    assigned = assignment(n_raters, n_people)
    rng = np.random.default_rng(seed)
    size = N_STUDIES, len(assigned)
    if kappa > 0:
        scale = (1 - kappa) / kappa
        shares = rng.beta(prevalence * scale, (1 - prevalence) * scale, size)
    else:
        shares = np.full(size, prevalence)
    machine = skill * shares + (1 - skill) * prevalence
    return simulated_tests(shares, machine, assigned, epsilon=epsilon, rng=rng)


def assignment(n_raters: Mapping[int, int], n_people: int) -> NDArray[np.bool_]:
    """Return which people label which items, of shape (n_items, n_people), with items of three people or more."""
    rows = [
        at
        for r, n in sorted(n_raters.items())
        if r > 2
        for at in islice(cycle(combinations(range(n_people), r)), n)
    ]  # fmt: skip
    if not rows:
        raise ValueError("no item has three people")
    assigned = np.zeros((len(rows), n_people), dtype=bool)
    for item, people in enumerate(rows):
        assigned[item, list(people)] = True
    return assigned


def simulated_tests(
    people: Floats,
    machine: Floats,
    assigned: NDArray[np.bool_],
    *,
    epsilon: float,
    rng: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
) -> SimulatedTests:
    """Return how often a machine passes in studies with two categories.

    `people` and `machine`, of shape (n_studies, n_items), are the probabilities that a person, and that the machine,
    says the second category. `assigned`, of shape (n_items, n_people), says who labels what; `groups`, of shape
    (n_items,), are numbers.
    """
    n_passed = n_passed_clustered = 0
    names = None if groups is None else groups.tolist()
    for of_people, of_machine in zip(people, machine, strict=True):
        labels = rng.random(assigned.shape) < of_people[:, None]
        verdicts = rng.random(len(assigned)) < of_machine
        n_others = assigned.sum(axis=1, keepdims=True) - 1
        n_second = (labels & assigned).sum(axis=1, keepdims=True) - labels
        equal_person = np.where(labels, n_second, n_others - n_second)
        equal_machine = np.where(verdicts[:, None], n_second, n_others - n_second)
        gaps = np.sign(equal_person - equal_machine).astype(np.float64)
        of_each = [(gaps[at, person], np.flatnonzero(at)) for person, at in enumerate(assigned.T) if at.any()]
        p = [_p(*_outcomes(gap), epsilon, MIN_ITEMS) for gap, _ in of_each]
        n_passed += float(np.mean(_benjamini_yekutieli(p, 0.05))) >= LEAST_REPLACED
        if names is not None:
            p = [_t_test_of_groups(gap, [names[i] for i in at.tolist()], epsilon) for gap, at in of_each]
            n_passed_clustered += float(np.mean(_benjamini_yekutieli(p, 0.05))) >= LEAST_REPLACED
    clustered = Estimate(None, reason="no groups") if names is None else wilson(n_passed_clustered, len(people))
    return SimulatedTests(wilson(n_passed, len(people)), clustered)
