"""The expected precision of a design."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from labeler.errors import InputError
from labeler.studies.model import Kind, PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.plan.design import draw_plan
from labeler.studies.preparing import planning
from labeler.studies.preparing.planning import Assumptions
from labeler.studies.questions import SIMILAR, Category
from tests.analysis.raters.simulated import Rater, SimulatedDesign, simulate
from tests.conftest import examples
from tests.making import WHO

STANDARD = Assumptions()
PAPER = planning.design(586, 4, 2, 0.0, 20)


def rows_of(needed):
    return {row["for"].split(":")[0]: (row["items"], row["hours"]) for row in needed}


def expected(design=PAPER, assumed=STANDARD):
    told, unknown = planning.expected_of(design, assumed)
    return {row["what"]: (row["expected"], row["half-width"]) for row in told}, unknown


TRIAGE, TWO = (
    replace(SIMILAR, categories=tuple(map(Category, names)), positive=positive)
    for names, positive in ((("bad", "noise", "good"), "bad"), (("fine", "broken"), None))
)


@pytest.mark.parametrize(
    ("question", "compared", "words"),
    [
        (SIMILAR, ("similar", "dissimilar"), ""),
        (TWO, ("fine", "broken"), ""),
        (
            TRIAGE,
            ("other", "bad"),
            "Kappa and all other expectations compare bad with the other 2 categories together.",
        ),
    ],
)
def test_expectations_name_the_categories_of_the_question(question, compared, words):
    assert planning.compared_categories(question) == compared
    assert planning.one_against_rest(question) == words
    assumed = Assumptions().about(question)
    assert assumed.categories == compared
    of_all = [row["for"] for row in planning.items_needed(assumed) if row["for"].startswith("Fleiss' kappa of all")]
    assert bool(of_all) == (len(question.classes) > 2)
    told, unknown = expected(planning.design(60, 3, 2, 0.0, 20), assumed)
    assert (
        told[f"agreed {compared[1]} items"]
        == expected(planning.design(60, 3, 2, 0.0, 20))[0]["agreed dissimilar items"]
    )
    assert any(f"agreed {compared[0]} items" in sentence for sentence in unknown)
    assert planning.items_needed(assumed)[-2]["for"] == f"sensitivity of a classifier: agreed {compared[1]} items"


@pytest.mark.parametrize(
    ("design", "words"),
    [
        (
            (60, 3, 3, 0.0, 0),
            "With 3 labels on 60 items (60 per reviewer), the alternative annotator test (epsilon 0.2)",
        ),
        ((100, 4, 2, 0.2, 0), "With 4 labels on 20 items (20 per reviewer)"),
        ((100, 4, 3, 0.2, 0), "With three or more labels on 100 items (80 per reviewer)"),
        ((586, 4, 2, 0.0, 20), "cannot be tested well: no item has three labels"),
    ],
)
def test_planning_says_how_often_a_classifier_could_replace_a_reviewer(design, words):
    assert words in planning.describe_annotator_test(planning.design(*design), STANDARD)


def test_random_labels_pass_only_if_people_hardly_agree():
    design = planning.design(60, 3, 3, 0.0, 0)
    assert "Random labels pass often" in planning.describe_annotator_test(design, Assumptions(kappa=0.1))
    assert "random labels with 0.00." in planning.describe_annotator_test(design, Assumptions(kappa=0.8))


def test_the_items_needed_are_those_of_the_formulas_by_hand():
    # Wilson intervals: a share of 0.9 within +-0.1 needs 37 items, a share of 0.8 needs 60
    rows = rows_of(planning.items_needed(Assumptions(half_width=0.1)))
    assert rows["agreement of a reviewer with their own earlier label"] == (37, pytest.approx(37 * 15 / 3600))
    assert rows["sensitivity of a classifier"] == rows["specificity of a classifier"]
    assert rows["sensitivity of a classifier"] == (60, None)
    slower = rows_of(planning.items_needed(Assumptions(half_width=0.1, seconds=45.0)))  # three times as long each
    assert [row[0] for row in slower.values()] == [row[0] for row in rows.values()]
    assert slower["Fleiss' kappa"][1] == pytest.approx(3 * rows["Fleiss' kappa"][1])


def test_what_the_papers_design_gives_to_expect():
    told, unknown = expected()
    assert told["kappa"] == (0.1, pytest.approx(0.08, abs=0.002))
    assert told["items per pair"][0] == pytest.approx(586 / 6)
    assert told["agreement of a pair"][1] == pytest.approx(0.10, abs=0.005)
    assert told["labels per reviewer"][0] == 586 * 2 / 4 + 20
    assert told["hours per reviewer"][0] == pytest.approx((293 + 20) * 15 / 3600)
    assert any("8 of 9 parameters" in sentence for sentence in unknown)  # two labels do not identify the latent class


REFUSED = {
    "kappa": Assumptions(kappa=1.0),
    "prevalence": Assumptions(prevalence=0.0),
    "half_width": Assumptions(half_width=0.0),
    "level": Assumptions(level=1.0),
    "share": Assumptions(sensitivity=1.5),
    "n_labels must be >= 0 and seconds": Assumptions(seconds=0.0),
    "n_labels .*and seconds": Assumptions(seconds=float("nan")),
    "n_labels .* seconds": Assumptions(seconds=float("inf")),
}


@pytest.mark.parametrize("what", REFUSED)
def test_an_assumption_out_of_its_range_is_refused_in_words(what):
    with pytest.raises(InputError, match=f"(?i)^{what}") as refused:
        planning.items_needed(REFUSED[what])
    assert str(refused.value).endswith(".")
    if what in ("kappa", "prevalence", "level"):
        with pytest.raises(InputError, match=f"(?i)^{what}"):
            planning.expected_of(PAPER, REFUSED[what])


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((0, 4, 2, 0.2, 20), "n_items must be >= 1"),
        ((10, 4, 2, 0.2, -1), "retest >= 0"),
        ((10, 4, 5, 0.2, 0), "got 5 with 4 reviewers"),
        ((10, 1, 2, 0.2, 0), "got 2 with 1 reviewers"),
        ((10, 4, 2, 1.5, 0), "overlap must be within"),
    ],
)
def test_a_design_that_is_none_is_refused_in_words(sizes, message):
    with pytest.raises(InputError, match=f"(?i){message}"):
        planning.design(*sizes)


@pytest.mark.parametrize(("per_item", "overlap"), [(3, 0.0), (2, 0.2), (4, 0.0), (2, 1.0)])
def test_three_labels_or_items_seen_by_all_identify_it(per_item, overlap):
    _told, unknown = expected(planning.design(586, 4, per_item, overlap, 60))
    assert [sentence for sentence in unknown if "prevalence" in sentence] == []


def test_without_retest_items_nothing_is_told_of_reviewers_and_themselves_and_few_items_are_a_check_only():
    told, unknown = expected(planning.design(586, 4, 3, 0.0, 0))
    assert told["self-agreement"] == (None, None)
    assert any(sentence.endswith(" (no retest items)") for sentence in unknown)
    _told, unknown = expected(planning.design(60, 4, 3, 0.0, 60))
    assert any("percentage points" in sentence for sentence in unknown)


@pytest.mark.parametrize("sizes", [[2] * 15, [27], [70, 5, 5], [100, 100, 100], [4, 9, 60, 130]])
@pytest.mark.parametrize("overlap", [0.0, 0.2, 0.5])
def test_a_design_asked_for_holds_as_much_as_its_plan(sizes, overlap):
    items = {f"{n}.{m}": str(n) for n, size in enumerate(sizes) for m in range(size)}
    plan = draw_plan(items, ["ada", "ben", "cleo", "dan"], PlanParameters(5, 2, overlap, 20))
    planned = planning.planned_design(sizes, 4, 2, overlap, 20, len(sizes))
    copies = [load[Kind.RETEST] for load in plan.loads().values()]
    assert planned.retest in copies
    assert planned.n_overlap == len({a.item for a in plan.assignments if a.kind is Kind.OVERLAP})
    assert planned.labels_per_reviewer - planned.retest == pytest.approx((len(plan.assignments) - sum(copies)) / 4)


@given(st.integers(1, 500), st.lists(st.integers(1, 40), min_size=1, max_size=9))
def test_items_are_divided_by_shares_without_remainder(n_items, shares):
    sizes = planning.sizes_of(n_items, shares)
    assert sum(sizes) == n_items
    assert all(abs(size - n_items * share / sum(shares)) <= 1 for size, share in zip(sizes, shares, strict=True))


def test_the_sizes_of_a_study_are_its_items_and_reviewers(study, db):
    assert planning.size_of_study(db) == (0, 0, 0)
    assert planning.size_of_study(study) == (8, 4, 2)
    identity.add_person(study, "eve", [Role.REVIEWER], **WHO)
    assert planning.size_of_study(study) == (8, 5, 2)


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(1, 60), st.integers(2, 4), st.floats(0, 1), st.integers(0, 5))
def test_a_simulated_study_of_every_design_has_the_expected_number_of_labels(n_items, per_item, overlap, retest):
    planned = planning.design(n_items, 4, per_item, overlap, retest)
    reviewers = [Rater(name, 0.9, 0.8) for name in "ABCD"]
    design = SimulatedDesign(planned.n_items, planned.per_item, planned.overlap)
    labels = simulate(design, reviewers, [], 0.5, rng=np.random.default_rng(1)).labels
    told, _unknown = planning.expected_of(planned, Assumptions())
    expected_labels = next(row["expected"] for row in told if row["what"] == "labels per reviewer")
    assert len(labels) == pytest.approx(4 * (expected_labels - retest))
