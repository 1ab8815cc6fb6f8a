"""The pages Plan and Progress on small studies."""

import shutil
from datetime import UTC, datetime, timedelta

import pytest

from labeler.studies.course import coordinating, course
from labeler.studies.model import PlanParameters, Role, State
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning, previewing
from labeler.studies.store import open_database
from tests.labeler.studies.ui.pages import button, checked, coordinator_page, texts
from tests.making import (
    PARAMETERS,
    REVIEWERS,
    answer_everything,
    answer_next,
    import_all,
    item_name,
    result_file,
    series,
)
from tests.sentences import says

TODAY = datetime.now(UTC)  # pages use the current time


def number(page, label):
    return next(one for one in [*page.number_input, *page.slider] if one.label.startswith(label))


def loads(page, column="in all"):
    table = page.dataframe[0].value
    return dict(zip(table["reviewer"], table[column], strict=True))


@pytest.fixture
def unplanned(masters, tmp_path):
    return shutil.copy(masters["unplanned"], tmp_path / "unplanned.study")


@pytest.fixture
def empty(masters, tmp_path):
    return shutil.copy(masters["empty"], tmp_path / "empty.study")


def begin(path, reviewers):
    """Eight items and a plan, five days ago."""
    past = TODAY - timedelta(days=5)
    coordinating.create_study(path, name="Caches", question="Alike?", coordinator="carol", now=past)
    with open_database(path) as db:
        import_all(db, *(result_file(item_name(n), series(n)) for n in range(8)))
        for name in reviewers:
            identity.add_person(db, name, [Role.REVIEWER], actor="carol", now=past)
        assigning.confirm_plan(db, PARAMETERS, actor="carol", now=past)
    return path


@pytest.fixture(scope="module")
def five_days_later(tmp_path_factory):
    """ada labelled one item today, ben answered "not sure" five days ago, the others never came."""
    path = begin(tmp_path_factory.mktemp("begun") / "begun.study", REVIEWERS)
    with open_database(path) as db:
        answer_next(db, "ada", "similar", now=TODAY)
        answer_next(db, "ben", "not sure", now=TODAY - timedelta(days=5))
    return path


@pytest.fixture
def begun(five_days_later, tmp_path):
    return shutil.copy(five_days_later, tmp_path / "begun.study")


def test_a_study_with_nothing_in_it_says_what_to_do_and_keeps_the_form(empty):
    page = coordinator_page("Study", "Plan", empty)
    assert says(page.info[0].value, "The plan needs items")
    with open_database(empty) as db:
        import_all(db, *(result_file(item_name(n), series(n)) for n in range(4)))
    checked(page.run())
    assert page.info[0].value == "The plan needs two reviewers or more. The study has 0 reviewers."
    assert len(page.button) == 0
    assert len(page.dataframe) == 0  # no table of numbers that nobody asked for
    with open_database(empty) as db:
        for name in REVIEWERS:
            identity.add_person(db, name, [Role.REVIEWER], actor="carol", now=TODAY)
    checked(page.run())
    assert loads(page) == {name: pytest.approx(2, abs=1) for name in REVIEWERS}


def test_the_preview_follows_the_form(unplanned):
    page = coordinator_page("Study", "Plan", unplanned)
    number(page, "Hidden repeats").set_value(0)
    number(page, "Seconds").set_value(720.0)
    number(page, "Items that all 4 label").set_value(2)
    checked(page.run())
    assert (loads(page), loads(page, "hours")) == (dict.fromkeys(REVIEWERS, 5), dict.fromkeys(REVIEWERS, 1.0))
    number(page, "Calibration").set_value(2)
    number(page, "Items that all 4 label").set_value(0)
    checked(page.run())
    assert loads(page, "calibration") == dict.fromkeys(REVIEWERS, 2)
    expected = page.dataframe[1].value
    assert {"kappa", "agreement of a pair", "sensitivity"} <= set(expected["what"])
    assert says(texts(page), "connect all reviewers")
    (warning,) = page.warning
    assert warning.value.startswith("Too few to tell:\n- ")
    assert "true prevalence" in warning.value


def test_what_makes_no_sense_is_said_beside_the_form(unplanned):
    page = coordinator_page("Study", "Plan", unplanned)
    assert number(page, "Reviewers per item").max == len(REVIEWERS)
    number(page, "Calibration items").set_value(6)
    number(page, "Items in the first batch").set_value(5)
    assert "calibration items" in checked(page.run()).info[0].value
    assert len(page.button) == 0
    number(page, "Items in the first batch").set_value(0).run()
    assert checked(page).info.len == 0


def test_confirming_keeps_the_plan_that_was_shown(unplanned):
    page = coordinator_page("Study", "Plan", unplanned)
    number(page, "Seed").set_value(7)
    number(page, "Hidden repeats").set_value(20)
    checked(page.run())
    assert {metric.label for metric in page.metric} == {"Labels per item", "Per reviewer", "Width for kappa"}
    assert "20 hidden repeats do not fit" in texts(page)
    promised, shown = sum(loads(page).values()), next(text.value for text in page.caption if "plan: `" in text.value)
    checked(button(page, "Confirm the plan and open the study").click().run())
    with open_database(unplanned) as db:
        study = coordinating.get_study(db)
    assert (study.state, study.plan_parameters["seed"]) == (State.OPEN, 7)
    assert study.plan_hash in shown
    assert says(page.success[0].value, "Plan saved", f"{promised} labels for 4 reviewers")
    page = coordinator_page("Study", "Plan", unplanned)
    assert f"Hash of the plan: `{study.plan_hash}`" in texts(page)
    assert sum(loads(page).values()) == promised


@pytest.mark.slow
def test_a_large_plan_is_drawn_in_a_process_of_its_own_and_is_the_same(unplanned, monkeypatch):
    monkeypatch.setattr(previewing, "MAX_BLOCKS", 0)
    page = coordinator_page("Study", "Plan", unplanned)
    number(page, "Seed").set_value(7).run()
    with open_database(unplanned) as db:
        preview = previewing.preview(db, PlanParameters(7))
    assert f"`{preview.hash}`" in texts(page)
    assert page.dataframe[0].value.to_dict("records") == preview.rows_of_loads()
    checked(button(page, "Confirm the plan and open the study").click().run())
    with open_database(unplanned) as db:
        assert coordinating.get_study(db).plan_hash == preview.hash
        drawn = coordinating.event_log(db).iloc[-1]
    assert (drawn["action"], drawn["actor"]) == ("draw plan", "carol")


def test_an_existing_plan_is_shown_with_its_loads_and_verified(begun):
    page = coordinator_page("Study", "Plan", begun)
    assert "longer be replaced" in page.info[0].value
    assert [one.label for one in page.button] == ["Verify the plan"]
    assert loads(page) == dict.fromkeys(REVIEWERS, 5)
    checked(page.button[0].click().run())
    with open_database(begun) as db:
        plan_hash = coordinating.get_study(db).plan_hash
    assert "Changes: 0" in texts(page) and says(texts(page), "Current plan:", f"`{plan_hash}`")
    assert page.success.len == 1


def test_a_plan_that_was_tampered_with_is_no_longer_verified(begun):
    with open_database(begun) as db:
        db.execute("UPDATE assignments SET position = position + 100 WHERE assignment_id = 1")
    page = coordinator_page("Study", "Plan", begun)
    checked(page.button[0].click().run())
    assert page.success.len == 0
    assert "different position" in page.error[0].value


def test_the_overview_has_a_row_for_each_reviewer_and_the_numbers(begun):
    page = coordinator_page("Study", "Overview", begun)
    assert [(metric.label, metric.value) for metric in page.metric] == [
        ("Labels", "1 of 20"), ("Expected finish", "—"), ("Time left", "1 min"),
    ]  # fmt: skip
    table = page.table[0].value.set_index("Reviewer")
    assert table.loc["ada", ["Labels", "Left"]].tolist() == ["1 of 5", "1 min"]
    assert table.loc["ben", ["Labels", "Finish"]].tolist() == ["0 of 5", "not known"]


def test_the_overview_names_who_has_stopped_and_leads_to_a_reminder(begun):
    page = coordinator_page("Study", "Overview", begun)
    words = texts(page)
    assert "things wait for you" in words
    assert "**ben** has not labelled since" in words
    assert "**ada** has not labelled" not in words
    assert "Write a reminder" in [one.label for one in page.button]


def test_a_name_is_shown_as_it_is_and_not_as_markup(tmp_path):
    path = begin(tmp_path / "marked.study", ("ada", "<b>*eve*</b>"))
    with open_database(path) as db:
        answer_next(db, "ada", "similar")
    words = texts(coordinator_page("Study", "Overview", path))
    assert r"\<b\>\*eve\*\</b\>" in words
    assert "<b>*eve*" not in words


def test_agreement_is_shown_once_the_study_is_closed(begun):
    page = coordinator_page("Study", "Overview", begun)
    assert "Hidden until the study" in texts(page)
    with open_database(begun) as db:
        answer_everything(db, dict.fromkeys(REVIEWERS, "similar"))
        course.change_state(db, Step.CLOSE, why="done", actor="carol", now=TODAY)
    checked(page.run())
    assert [(metric.label, metric.value) for metric in page.metric] == [
        ("Agreement", "100 %"), ("Fleiss' kappa", "—"), ("Labels", "20 of 20"),
    ]  # fmt: skip
