"""The planning page: what it shows follows from what is chosen."""

import pytest

from labeler.model import PlanParameters
from labeler.service.plan import coordinating, planning, previewing
from labeler.service.plan.planning import Assumptions
from labeler.store import open_database
from tests.labeler.conftest import NOW, make_study
from tests.labeler.ui.pages import checked, coordinator_page


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("planning") / "cache.study"
    make_study(path)
    return path


def widget(page, label):
    return next(w for w in (*page.number_input, *page.slider) if w.label.startswith(label))


def chosen(page, **values):
    for label, value in values.items():
        widget(page, label.replace("_", " ")).set_value(value)
    return checked(page.run())


def expected(page):
    table = page.dataframe[0].value
    return dict(zip(table["what"], table["expected"], strict=True))


def needed(page):
    table = page.dataframe[1].value
    return dict(zip(table["for"], table["items"], strict=True))


def warnings(page):
    return " ".join(str(warning.value) for warning in page.warning)


def test_the_page_begins_with_the_sizes_of_the_study(study):
    page = coordinator_page("planning", study)
    assert [widget(page, label).value for label in ("Items", "Reviewers", "Reviewers per item")] == [8, 4, 2]
    assert expected(page)["items a pair"] == pytest.approx((6 + 2 * 6) / 6)


def test_the_page_shows_what_the_service_says(study):
    page = coordinator_page("planning", study)
    told, unknown = planning.expected_of(planning.planned_design([4, 4], 4, 2, 0.2, 20, 2), Assumptions())
    assert expected(page) == pytest.approx(
        {row["what"]: float("nan") if row["expected"] is None else row["expected"] for row in told}, nan_ok=True
    )
    assert needed(page) == {row["for"]: row["items"] for row in planning.items_needed(Assumptions())}
    assert [warning.value for warning in page.warning] == [f"Will not be told: {sentence}." for sentence in unknown]


def test_the_page_promises_what_the_plan_then_holds(study):
    # two applications of four items, of which one each is seen by all; copies do not fit 50 positions behind
    page = coordinator_page("planning", study)
    with open_database(study) as db:
        loads = previewing.preview(db, PlanParameters(1)).rows_of_loads()
    assert {row["in all"] for row in loads} == {expected(page)["labels a reviewer"]} == {5}
    assert expected(page)["hidden copies a reviewer"] == 0


@pytest.mark.parametrize(
    ("label", "value", "row"),
    [
        ("Items", 586, "items a pair"),
        ("Share of items", 0.5, "items a pair"),
        ("Seconds for one label", 30.0, "hours a reviewer"),
        ("Expected Fleiss", 0.5, "kappa"),
        ("Expected share", 0.3, "agreed dissimilar items"),
    ],
)
def test_another_choice_changes_what_is_to_be_expected(study, label, value, row):
    page = coordinator_page("planning", study)
    before = expected(page)[row]
    assert expected(chosen(page, **{label: value}))[row] != before


def test_a_narrower_interval_takes_more_items(study):
    page = coordinator_page("planning", study)
    before = needed(page)
    after = needed(chosen(page, **{"Half-width": 0.05}))
    assert all(after[name] > before[name] for name in before)


def test_the_page_says_that_two_labels_an_item_do_not_identify_the_latent_class(study):
    page = chosen(coordinator_page("planning", study), Items=586, Share_of_items=0.0)
    assert "true prevalence and reviewers' error rates: not identified" in warnings(page)
    page = chosen(page, Share_of_items=0.2)
    assert "not identified" not in warnings(page)


def test_the_page_says_that_nothing_is_told_of_reviewers_without_copies(study):
    assert "no retest items" in warnings(chosen(coordinator_page("planning", study), Hidden_copies=0))


def test_three_reviewers_an_item_are_possible(study):
    page = chosen(coordinator_page("planning", study), Reviewers_per_item=3, Share_of_items=0.0)
    assert expected(page)["items a pair"] == pytest.approx(8 * 3 / 6)


@pytest.mark.parametrize("extremes", ["lowest", "highest"])
def test_the_ends_of_every_slider_are_shown(study, extremes):
    page = coordinator_page("planning", study)
    for slider in page.slider:
        slider.set_value(slider.min if extremes == "lowest" else slider.max)
    assert len(checked(page.run()).dataframe) == 2


def test_a_study_without_items_and_reviewers_has_a_page(tmp_path):
    path = tmp_path / "empty.study"
    coordinating.create_study(path, name="Empty", question="Alike?", coordinator="grace", now=NOW)
    page = coordinator_page("planning", path)
    assert (widget(page, "Items").value, widget(page, "Reviewers").value) == (1, 2)


def test_fewer_reviewers_than_were_to_label_an_item_end_in_no_error(study):
    page = chosen(coordinator_page("planning", study), Reviewers_per_item=4)
    assert widget(chosen(page, Reviewers=3), "Reviewers per item").value <= 3


def test_looking_at_the_page_changes_nothing(study):
    before = study.read_bytes()
    coordinator_page("planning", study)
    with open_database(study) as db:
        assert planning.size_of_study(db) == (8, 4, 2)
    assert study.read_bytes() == before
