"""Expected results of a design."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.agreement import fleiss_kappa
from analysis.intervals import Estimate, wilson
from analysis.planning import (
    Design,
    expected,
    hours,
    items_for_kappa,
    items_for_share,
    limits,
    reviewer_groups,
)
from tests.sentences import says

PAPER = Design(n_items=586, n_reviewers=4, overlap=0, retest=0)


def test_items_for_a_half_width_of_kappa(golden_agreement):
    for case in golden_agreement["planning_kappa"]["expected"]:
        assert items_for_kappa(case["half_width"], kappa=case["kappa"], prevalence=case["p"]) == case["n"]


def test_items_for_a_half_width_of_a_share(golden_agreement):
    for case in golden_agreement["planning_proportion"]["expected"]:
        assert items_for_share(case["half_width"], share=case["p"]) == case["n"]


@given(st.floats(0.01, 0.49), st.floats(0, 1))
def test_items_for_a_share_are_the_fewest_that_do(half_width, share):
    n = items_for_share(half_width, share=share)
    assert wilson(share * n, n).half_width <= half_width + 1e-9
    assert n == 1 or wilson(share * (n - 1), n - 1).half_width > half_width - 1e-9


@given(st.floats(0.02, 0.3), st.floats(-0.3, 0.95), st.floats(0.3, 0.7))
def test_items_for_kappa_are_the_fewest_that_the_expected_interval_asks_for(half_width, kappa, prevalence):
    n = items_for_kappa(half_width, kappa=kappa, prevalence=prevalence)

    def reached(n_items):
        design = Design(n_items, n_reviewers=2, overlap=0)
        return expected(design, kappa=kappa, prevalence=prevalence).kappa.half_width

    assert reached(n) <= half_width + 1e-9
    assert n == 1 or reached(n - 1) > half_width - 1e-9


def test_the_papers_design_gives_the_half_widths_of_the_specification():
    paper = expected(PAPER, kappa=0.0981, prevalence=0.5461)
    assert paper.kappa.half_width == pytest.approx(0.08, abs=0.001)
    assert paper.pair.half_width == pytest.approx(0.10, abs=0.005)
    assert paper.items_per_pair == pytest.approx(586 / 6)
    assert (paper.n_agreed_dissimilar, paper.n_agreed_similar) == pytest.approx((189, 135), abs=0.5)
    assert paper.retest == Estimate(None, reason="no retest items")


def test_the_expected_standard_error_is_that_of_the_expected_table():
    # 60 items with two ratings and 40 with three, in the shares that the model expects
    design = Design(n_items=100_000, n_reviewers=3, overlap=0.4)
    rng = np.random.default_rng(5)
    p = np.concatenate([rng.beta(0.6, 0.9, 60_000), rng.beta(0.6, 0.9, 40_000)])  # prevalence .4, kappa .4
    k = np.repeat([2, 3], [60_000, 40_000])
    dissimilar = rng.binomial(k, p)
    kappa = fleiss_kappa(np.column_stack([k - dissimilar, dissimilar]))
    expectation = expected(design, kappa=0.4, prevalence=0.4)
    assert kappa.value == pytest.approx(0.4, abs=0.01)
    assert expectation.kappa.se == pytest.approx(kappa.se, rel=0.01)
    assert expectation.n_agreed_dissimilar == pytest.approx((dissimilar == k).sum(), rel=0.02)


def test_a_design_counts_its_labels():
    design = Design(n_items=586, n_reviewers=4, overlap=0.2, retest=20)
    assert design.n_overlap == 117
    assert design.n_ratings == {2: 469, 4: 117}
    assert design.labels_per_reviewer == pytest.approx((2 * 469 + 4 * 117) / 4 + 20)
    assert design.items_per_pair == pytest.approx(469 / 6 + 117)
    assert Design(n_items=10, n_reviewers=2, per_item=2).n_ratings == {2: 10}


def test_hours_are_labels_times_seconds():
    assert hours(240, seconds=30) == 2.0
    assert expected(PAPER, seconds=36).hours_per_reviewer == pytest.approx(2.93)


@pytest.mark.parametrize(
    ("blocks", "groups"),
    [
        ([], []),
        ([("a", "b"), ("c", "d")], [("a", "b"), ("c", "d")]),
        ([("a", "b"), ("c", "d"), ("b", "c")], [("a", "b", "c", "d")]),
        ([("b",), ("a",)], [("a",), ("b",)]),
    ],
)
def test_reviewers_are_joined_by_common_items(blocks, groups):
    assert reviewer_groups(blocks) == groups


def test_limits_list_what_the_plan_cannot_estimate():
    design = Design(n_items=60, n_reviewers=4, overlap=0, retest=20, n_applications=3)
    found = limits(
        design, expected(design), blocks=[("a", "b"), ("c", "d")], latent_class="not identified: rank 8 of 9"
    )
    facts = (
        ("share no items", "a, b | c, d"), ("prevalence", ", because rank 8 of 9"),
        ("single pairs", "10 items", "±26 percentage points"),
        ("test-retest", "20 retest items", "±14 percentage points"),
        ("sensitivity", "20 agreed dissimilar", "±17 percentage points"),
        ("specificity", "14 agreed similar", "±20 percentage points"), ("3 applications", "at least 5"),
    )  # fmt: skip
    assert all(says(limit, *parts) for limit, parts in zip(found, facts, strict=True))


def test_a_rich_design_has_no_limits():
    design = Design(n_items=2000, n_reviewers=4, retest=60, n_applications=30)
    assert limits(design, expected(design, kappa=0.5), blocks=[("a", "b", "c", "d")]) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_items": 0}, {"retest": -1}, {"per_item": 1}, {"per_item": 5}, {"overlap": 1.5},
    ],
)  # fmt: skip
def test_an_impossible_design_is_rejected(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Design(**({"n_items": 10, "n_reviewers": 4} | wrong))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: items_for_kappa(0, kappa=0.1, prevalence=0.5), "half_width must be within"),
        (lambda: items_for_kappa(0.1, kappa=1, prevalence=0.5), "kappa must be at least"),
        (lambda: items_for_kappa(0.1, kappa=-0.6, prevalence=0.3), "kappa must be at least"),
        (lambda: items_for_kappa(0.1, kappa=0.1, prevalence=1), "prevalence must be within"),
        (lambda: items_for_share(0.1, share=1.1), "share must be within"),
        (lambda: items_for_share(0.1, share=0.5, level=1), "level must be within"),
        (lambda: hours(-1, seconds=3), "n_labels must be"),
        (lambda: hours(1, seconds=0), "seconds > 0"),
        (lambda: expected(Design(10, 4), kappa=-0.4, prevalence=0.5), "kappa cannot be -0.4 with 4 ratings"),
    ],
)
def test_impossible_arguments_are_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()
