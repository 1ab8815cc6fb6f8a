"""Test whether a machine may replace a person: the alternative annotator test of Calderon, Reichart and Dror (2025).

https://arxiv.org/abs/2501.10970
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from analysis.bootstrap import bootstrap
from analysis.intervals import Estimate
from analysis.runs import Floats

Answer = TypeVar("Answer")
Score = Callable[[Answer, Sequence[Answer]], float]  # (an answer, the answers of others) -> larger is better

# epsilon: the advantage of a person in quality that the costs of a person allow
EXPERT, TRAINED, CROWD = 0.2, 0.15, 0.1
MIN_ITEMS = 30  # with fewer items, the Wilcoxon test is used
PASSES = 0.5  # share of the people whom the machine must be able to replace
ALPHA = 0.05


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
    rho: float | None  # mean of the shares of the people, by which machines are ranked
    # Mean over people and items of machine minus person: above 0, the machine is closer to the others. The
    # interval is from a bootstrap over items, or over groups.
    advantage: Estimate
    rho_random: float | None  # `rho` of answers drawn at random from those of the people
    epsilon: float
    # number of items on which the others are a single person; these comparisons are with one person only
    n_compared_with_one: int
    reason: str | None = None  # why there is no result, or why it is less reliable


def alternative_annotator(
    answers: Mapping[Hashable, Mapping[str, Answer]],
    machine: Mapping[Hashable, Answer],
    score: Score[Answer],
    *,
    epsilon: float = EXPERT,
    groups: Mapping[Hashable, Hashable] | None = None,
    min_items: int = MIN_ITEMS,
    seed: int = 1,
) -> AlternativeTest:
    """Test whether a machine is as close to the other people as each person is.

    `answers`: item -> person -> answer. An answer can be a category, a number or a set of points. `machine`: item ->
    answer of the machine. Items without an answer are left out. `score`: how close an answer is to the answers of
    others, such as `share_equal`; `epsilon`: .2 if people are experts, .15 if they are trained, .1 in a crowd;
    `groups`: item -> group of items that are alike, such as the application of a benchmark; `min_items`: people with
    fewer items are tested with the Wilcoxon test instead of the t test. There is no result if no item has two people.
    Raises ValueError if epsilon is not within [0, 1).

    Examples
    --------
    >>> a, b, c = "11001010", "11011000", "10001110"
    >>> answers = {at: {"a": a[at], "b": b[at], "c": c[at]} for at in range(8)}
    >>> found = alternative_annotator(answers, dict(enumerate(a)), share_equal, epsilon=0.1, min_items=2)
    >>> found.omega, found.rho, [round(person.p, 8) for person in found.people]
    (0.3333333333333333, 1.0, [0.0, 0.03489254, 0.03489254])
    """
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon must be within [0, 1), got {epsilon}")
    usable = {item: given for item, given in answers.items() if item in machine and len(given) >= 2}
    if not usable:
        reason = "no item has answers of two people and of the machine"
        return AlternativeTest((), None, None, None, Estimate(None, reason=reason), None, epsilon, 0, reason)
    compared = _compare(usable, machine, score)
    tests = []
    for person, (items, wins, losses) in compared.items():
        gap = losses - wins
        test = _t_test if len(gap) >= min_items else _wilcoxon
        clustered = None if groups is None else _t_test_of_groups(gap, [groups.get(item) for item in items], epsilon)
        tests.append(
            PersonTest(person, len(gap), float(wins.mean()), float(losses.mean()), test(gap, epsilon), clustered, False)
        )
    rejected = _benjamini_yekutieli([test.p for test in tests])
    people = tuple(
        PersonTest(**{**vars(test), "replaceable": bool(is_rejected)})
        for test, is_rejected in zip(tests, rejected, strict=True)
    )
    omega = float(np.mean(rejected))
    return AlternativeTest(
        people,
        omega,
        omega >= PASSES,
        float(np.mean([test.rho for test in tests])),
        _advantage(compared, list(usable), groups, seed),
        _rho_of_random_answers(usable, score, seed),
        epsilon,
        sum(len(given) == 2 for given in usable.values()),
        "fewer than three people: less reliable" if len(people) < 3 else None,
    )


def share_equal(answer: object, others: Sequence[object]) -> float:
    """Return the share of the others who gave the same answer: the score of categories."""
    return sum(other == answer for other in others) / len(others)


def minus_rmse(answer: float, others: Sequence[float]) -> float:
    """Return minus the root mean square distance from the others: the score of numbers."""
    return -sqrt(sum((other - answer) ** 2 for other in others) / len(others))


Compared = dict[str, tuple[list[Hashable], Floats, Floats]]


def _compare(
    answers: Mapping[Hashable, Mapping[str, Answer]], machine: Mapping[Hashable, Answer], score: Score[Answer]
) -> Compared:
    """Return, for each person, the items, and whether the machine and whether the person is at least as close."""
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


def _t_test(gap: Floats, epsilon: float) -> float:
    n = len(gap)
    spread = float(gap.std(ddof=1)) if n > 1 else 0.0
    if spread == 0:
        return float(gap.mean() >= epsilon)
    return float(special.stdtr(n - 1, (gap.mean() - epsilon) / (spread / sqrt(n))))


def _wilcoxon(gap: Floats, epsilon: float) -> float:
    shifted = gap - epsilon
    if not shifted.any() or np.ptp(shifted) == 0:
        return float(gap.mean() >= epsilon)
    from scipy import stats  # slow to import

    return float(stats.wilcoxon(shifted, alternative="less", method="approx").pvalue)


def _t_test_of_groups(gap: Floats, groups: Sequence[Hashable], epsilon: float) -> float:
    """Test with a standard error in which items of one group may be alike in any way."""
    names = sorted(set(groups), key=str)
    residuals = gap - gap.mean()
    sums = np.array([sum(residuals[at] for at, group in enumerate(groups) if group == name) for name in names])
    n_groups = len(names)
    error = sqrt(n_groups / (n_groups - 1) * float(sums @ sums)) / len(gap) if n_groups > 1 else 0.0
    if error == 0:
        return float(gap.mean() >= epsilon)
    return float(special.stdtr(n_groups - 1, (gap.mean() - epsilon) / error))


def _benjamini_yekutieli(p: Sequence[float]) -> list[bool]:
    m = len(p)
    limit = ALPHA / (m * sum(1 / rank for rank in range(1, m + 1)))
    ordered = sorted(p)
    n_rejected = max((rank for rank in range(1, m + 1) if ordered[rank - 1] <= rank * limit), default=0)
    return [n_rejected > 0 and value <= ordered[n_rejected - 1] for value in p]


def _advantage(
    compared: Compared, items: list[Hashable], groups: Mapping[Hashable, Hashable] | None, seed: int
) -> Estimate:
    place = {item: at for at, item in enumerate(items)}
    sums, counts = np.zeros((len(compared), len(items))), np.zeros((len(compared), len(items)))
    for row, (of_person, wins, losses) in enumerate(compared.values()):
        at = [place[item] for item in of_person]
        sums[row, at], counts[row, at] = wins - losses, 1

    def statistic(weights: Floats) -> ArrayLike:
        return np.asarray(((weights @ sums.T) / (weights @ counts.T)).mean(axis=1))

    of_items = None if groups is None else [groups.get(item) for item in items]
    return bootstrap(statistic, len(items), rng=np.random.default_rng(seed), groups=of_items)


def _rho_of_random_answers(answers: Mapping[Hashable, Mapping[str, Answer]], score: Score[Answer], seed: int) -> float:
    """Return rho of a machine that answers each item with what somebody answered on an item drawn at random."""
    rng = np.random.default_rng(seed)
    pool = [answer for given in answers.values() for answer in given.values()]
    machine = {item: pool[rng.integers(len(pool))] for item in answers}
    compared = _compare(answers, machine, score)
    return float(np.mean([wins.mean() for _, wins, _ in compared.values()]))
