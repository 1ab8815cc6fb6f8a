"""The precision on the page Plan follows from the inputs, and agrees with the plan that it draws."""

import pytest

from labeler.studies.course import coordinating
from labeler.studies.model import PlanParameters
from labeler.studies.preparing import assigning, planning, previewing
from labeler.studies.preparing.planning import Assumptions
from labeler.studies.store import open_database
from tests.labeler.studies.ui.pages import checked, coordinator_page, texts
from tests.making import NOW, make_study
from tests.sentences import says


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


def table_with(page, column):
    return next(table.value for table in page.dataframe if column in table.value)


def expected(page):
    table = table_with(page, "what")
    return dict(zip(table["what"], table["expected"], strict=True))


def needed(page):
    table = table_with(page, "for")
    return dict(zip(table["for"], table["items"], strict=True))


def warnings(page):
    return " ".join(str(warning.value) for warning in page.warning)


def test_the_page_promises_what_the_plan_then_holds_and_changes_nothing(study):
    # two applications of four items, one of each seen by all; retests do not fit 50 positions later
    before = study.read_bytes()
    page = coordinator_page("Study", "Plan", study)
    with open_database(study) as db:
        assert planning.size_of_study(db) == (8, 4, 2)
        preview = previewing.preview(db, PlanParameters(int(widget(page, "Seed").value)))
    assert page.dataframe[0].value.to_dict("records") == preview.rows_of_loads()
    assert expected(page)["kappa"] == pytest.approx(0.1)
    assert list(expected(page)) == [row["what"] for row in preview.expectations]
    assert "no retest items" in warnings(page)
    assert study.read_bytes() == before


def test_the_page_lists_the_items_that_an_interval_takes_and_choices_change_the_expected_results(study):
    page = coordinator_page("Study", "Plan", study)
    before = needed(page)
    assert before == {row["for"]: row["items"] for row in planning.items_needed(Assumptions())}
    after = needed(chosen(page, **{"Target half-width": 0.05}))
    assert all(after[name] > before[name] for name in before)
    before = expected(page)
    after = expected(chosen(page, Items_that_all=6, Expected_Fleiss=0.5, Expected_share=0.3))
    for row in ("items per pair", "kappa", "agreed dissimilar items"):
        assert before[row] != after[row]


@pytest.mark.parametrize("extremes", ["lowest", "highest"])
def test_the_ends_of_every_slider_are_shown(study, extremes):
    page = coordinator_page("Study", "Plan", study)
    for slider in page.slider:
        slider.set_value(slider.min if extremes == "lowest" or slider.label == "Attention checks" else slider.max)
    page = checked(page.run())
    assert len(page.dataframe) == 3
    if extremes == "highest":  # no item is left for attention checks; both choices stay
        page = checked(widget(page, "Attention checks").set_value(1).run())
        assert "items can be calibration items and attention checks" in page.info[0].value
        assert widget(page, "Attention checks").value == 1


def test_the_planner_says_what_a_study_of_some_size_would_give(tmp_path):
    path = tmp_path / "empty.study"
    coordinating.create_study(path, name="Empty", question="Alike?", coordinator="grace", now=NOW)
    page = coordinator_page("Tools", "Planner", path)
    (n_items,) = [field for field in page.number_input if field.label == "Items"]
    n_items.set_value(586)
    chosen(page, Reviewers_per_item=3)
    told, _ = planning.expected_of(planning.planned_design([586], 4, 3, 0.2, 20, None), Assumptions())
    assert expected(page)["items per pair"] == pytest.approx(
        next(r["expected"] for r in told if r["what"] == "items per pair")
    )
    assert needed(chosen(page, Reviewers=2))  # fewer than the labels per item


def test_the_design_of_the_paper_shows_only_what_has_an_effect_and_usual_repeats_fit(study):
    page = coordinator_page("Study", "Plan", study)
    assert widget(page, "Hidden repeats").value == 0  # a repeat would come too soon among eight items
    (design,) = [radio for radio in page.radio if radio.label == "Design"]
    page = checked(design.set_value(design.options[1]).run())
    assert [slider.label for slider in page.slider if "reviewer" in slider.label.lower()] == []
    assert widget(page, "Calibration items")


def test_precision_has_a_series_for_each_number_of_reviewers_per_item():
    rows = planning.precision([100, 200], 3, 0.2, Assumptions(), per_item=[2, 3, 4])
    assert [(row["items"], row["quantity"]) for row in rows] == [
        (100, "2 reviewers per item"), (200, "2 reviewers per item"), (100, "3 reviewers per item"),
        (200, "3 reviewers per item"),
    ]  # fmt: skip
    widths = [row["half-width"] for row in rows]
    assert widths[1] < widths[0] and widths[2] < widths[0]


@pytest.mark.slow
def test_a_plan_in_batches_is_drawn_and_extended_on_the_page(tmp_path):
    path = tmp_path / "batches.study"
    make_study(path)  # eight items
    page = chosen(coordinator_page("Study", "Plan", path), Items_in_the_first_batch=4, Hidden_repeats=0)
    promised = page.dataframe[0].value["in all"].sum()
    checked(next(button for button in page.button if button.label.startswith("Confirm the plan")).click().run())
    assert says(page.success[0].value, "Plan saved", f"{promised} labels")
    page = coordinator_page("Study", "Plan", path)
    assert page.dataframe[0].value["in all"].sum() == promised
    with open_database(path) as db:
        assert len(assigning.item_batches(db).waiting) == 4
    assert "Items that are not in the plan yet: 4" in texts(page)
