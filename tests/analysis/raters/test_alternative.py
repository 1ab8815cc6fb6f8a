"""May a machine replace a person? The alternative annotator test."""

import numpy as np
import pytest

from analysis.methods.points import covering, f1
from analysis.raters.evaluation import alternative_annotator, share_equal
from tests.analysis.raters.alternative_goals import MACHINES, limit, studies

A, B, C = "11001010", "11011000", "10001110"
BY_HAND = {at: {"a": A[at], "b": B[at], "c": C[at]} for at in range(8)}


@pytest.mark.parametrize(
    ("epsilon", "p", "omega"), [(0.0, 0.08523533, 0), (0.1, 0.03489254, 1 / 3), (0.2, 0.01426133, 1)]
)
def test_the_case_worked_by_hand(epsilon, p, omega):
    found = alternative_annotator(BY_HAND, dict(enumerate(A)), share_equal, epsilon=epsilon, min_items=2)
    by_person = {person.person: person for person in found.people}
    assert found.rho == 1
    assert by_person["a"].p == float(epsilon == 0)  # no variation: p is 0 if the mean is below epsilon, else 1
    assert by_person["b"].p == by_person["c"].p == pytest.approx(p, abs=5e-9)
    assert (found.omega, found.passes) == (pytest.approx(omega), omega >= 0.5)


def drawn(n_items, error, *, machine_error, people="abc", seed=1):
    """Categories of people and of a machine that differ from the truth at these rates."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_items)

    def answers(rate):
        return np.where(rng.random(n_items) < rate, 1 - truth, truth).tolist()

    of_people = {name: answers(error) for name in people}
    return {at: {name: given[at] for name, given in of_people.items()} for at in range(n_items)}, answers(machine_error)


@pytest.mark.parametrize(("machine_error", "passes"), [(0.05, True), (0.2, True), (0.6, False)])
def test_a_machine_as_good_as_people_passes_and_a_poor_one_does_not(machine_error, passes):
    people, machine = drawn(200, 0.2, machine_error=machine_error)
    found = alternative_annotator(people, dict(enumerate(machine)), share_equal)
    assert found.passes is passes
    assert found.rho_random < 0.9
    assert (found.advantage.low > 0) is (machine_error == 0.05)
    assert (found.advantage.high < 0) is (machine_error == 0.6)


def test_alike_items_count_less():
    people, machine = drawn(20, 0.2, machine_error=0.35, seed=5)
    copies = {(at, copy): given for at, given in people.items() for copy in range(10)}
    found = alternative_annotator(
        copies, {(at, copy): machine[at] for at, copy in copies}, share_equal, groups={item: item[0] for item in copies}
    )
    for person in found.people:
        if 0 < person.p < 0.5:
            assert person.p_clustered > person.p


def test_few_items_are_tested_by_ranks_and_two_people_are_said_to_be_less_reliable():
    people, machine = drawn(12, 0.2, machine_error=0.2, people="ab")
    found = alternative_annotator(people, dict(enumerate(machine)), share_equal)
    assert found.n_compared_with_one == 12
    assert found.reason == "fewer than three people: less reliable"
    assert all(0 <= person.p <= 1 for person in found.people)


def test_counting_equal_answers_gives_what_comparing_each_with_the_others_gives():
    answers, machine = drawn(40, 0.3, machine_error=0.4, people="abcd")
    counted = alternative_annotator(answers, machine, share_equal)
    assert counted == alternative_annotator(answers, machine, lambda answer, others: share_equal(answer, others))


def test_points_use_the_same_function():
    marks = {at: {"a": (10 + at,), "b": (11 + at,), "c": (10 + at, 50)} for at in range(30)}
    machine = {at: (10 + at,) for at in marks}
    by_f1 = alternative_annotator(marks, machine, lambda one, others: f1(dict(enumerate(others)), one).value)
    by_covering = alternative_annotator(marks, machine, lambda one, others: covering(dict(enumerate(others)), one, 100))
    assert (by_f1.passes, by_covering.passes) == (True, True)


def test_numbers_are_scored_by_their_distance():
    def minus_distance(one, others):
        return -float(np.linalg.norm(np.array(others) - one))

    assert alternative_annotator({0: {"a": 1.0, "b": 3.0}}, {0: 2.0}, minus_distance).rho == 1


def test_without_shared_items_there_is_a_reason():
    found = alternative_annotator({0: {"a": 1}}, {0: 1}, share_equal)
    assert (found.omega, found.passes, found.reason) == (
        None, None, "no item has answers of two people and of the machine",
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"epsilon must be within \[0, 1\), got 1"):
        alternative_annotator({}, {}, share_equal, epsilon=1)


def test_a_machine_at_the_limit_passes_rarely_and_alike_items_need_the_test_by_application():
    accuracy = {name: limit(3) if value is None else value for name, value in MACHINES.items()}
    passes = {
        name: studies(3, 3, 60, value, alike=0, n_studies=200).passes.value for name, value in accuracy.items()
    }  # fmt: skip
    assert passes["as good as a person"] > 0.8 > passes["worse by .1"] > passes["at the limit"]
    assert passes["at the limit"] < 0.08
    assert passes["random"] < 0.02
    found = studies(3, 3, 120, limit(3), alike=0.4, n_studies=200)
    assert found.passes.value > 0.07 > found.passes_clustered.value


def test_the_smallest_epsilon_with_which_a_machine_passes():
    people, machine = drawn(200, 0.2, machine_error=0.35)
    found = alternative_annotator(people, dict(enumerate(machine)), share_equal)
    least = found.passes_from
    for epsilon, passes in ((least, True), (least - 0.01, False)):
        assert alternative_annotator(people, dict(enumerate(machine)), share_equal, epsilon=epsilon).passes is passes
    people, machine = drawn(200, 0.45, machine_error=0.5)
    assert alternative_annotator(people, dict(enumerate(machine)), share_equal).advantage_random > -0.2
