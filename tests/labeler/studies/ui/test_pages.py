"""Every page under AppTest, on a real study."""

import json
import re
from datetime import UTC, datetime

import pytest

from labeler.config import bundled
from labeler.studies import demo
from labeler.studies.course import coordinating, course
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.questions import NOT_SURE, SIMILAR
from labeler.studies.store import events, open_database
from labeler.studies.ui import app
from labeler.studies.ui.coordinator.places import PLACES
from labeler.studies.ui.coordinator.results import QUICK
from tests.labeler.studies.ui.pages import (
    app_page,
    button,
    coordinator_page,
    report_written,
    reviewer_page,
    texts,
    titles_of,
)
from tests.making import answer_everything, answer_next, end_study
from tests.sentences import says

NOW = datetime.now(UTC)  # the pages go by the clock: a session from a fixed day would end


@pytest.fixture(scope="module")
def demo_study(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo") / "demo.study"
    demo.build(path, bundled("data", "demo"), advance=lambda _done, _total: None, now=NOW)
    return path


@pytest.fixture
def study(demo_study, tmp_path):
    """A copy of the demo study that a test may change."""
    path = tmp_path / "pages.study"
    with open_database(demo_study) as db:
        db.backup(path)
    return path


@pytest.fixture
def empty(tmp_path):
    path = tmp_path / "empty.study"
    coordinating.create_study(path, name="Empty", question="Alike?", coordinator="grace", now=NOW)
    return path


def move_on(study, *steps):
    """Take the demo study through these steps."""
    with open_database(study) as db:
        for step in steps:
            course.change_state(db, step, why="so that the page shows more", actor=demo.COORDINATOR, now=NOW)


def say(study, name, answer):
    """Answer the reviewer's next item."""
    with open_database(study) as db:
        answer_next(db, name, answer, now=NOW)


def test_the_label_page_begins_with_the_first_picture_and_names_the_items_that_follow(study):
    page = reviewer_page("label", study, "ada")
    assert page.error.len == 0
    (screen,) = [json.loads(one.proto.json) for one in page.get("bidi_component")]
    assert (screen["mode"], screen["done"], screen["total"], screen["last"]) == ("label", 0, 15, None)
    assert ["panels" in offer for offer in screen["offers"]] == [True, *[False] * 14]
    assert len(screen["offers"][0]["panels"][0]["runs"]) == 10


@pytest.mark.parametrize("name", ["my_labels", "guide", "practice", "feedback"])
def test_every_page_of_a_reviewer_sends_the_answers_that_the_browser_keeps(study, name):
    page = reviewer_page(name, study, "ada")
    modes = [json.loads(one.proto.json).get("mode") for one in page.get("bidi_component")]
    assert modes[0] == "send"


def test_reviewers_pages_name_nothing_that_would_unblind(study):
    for name in ("ada", "ben"):
        say(study, name, "similar")
    with open_database(study) as db:
        words = {item.name for item in coordinating.list_items(db)} | {"ben", "cleo", "dan", "heuristic", "overlap"}
    for module in ("label", "my_labels"):
        page = reviewer_page(module, study, "ada")
        assert [word for word in words if word in texts(page)] == []


def test_the_parts_to_set_up_are_listed_and_the_guide_changes_the_question(empty):
    words = texts(coordinator_page("Study", "Overview", empty))
    assert all(part in words for part in ("○ **Items** None yet", "✓ **Question and guide** Own question"))
    page = coordinator_page("Study", "Guide", empty)
    next(one for one in page.text_input if one.label.startswith("Question")).set_value("Would you trust these runs?")
    button(page, "Save name and question").click().run()
    assert [error.message for error in page.exception] == []
    with open_database(empty) as db:
        assert coordinating.get_study(db).question.text == "Would you trust these runs?"


def test_people_page_adds_reviewers_and_shows_them_at_once_with_links_and_mails(empty):
    page = coordinator_page("People", "", empty)
    page.text_area[0].set_value("ada\n ben \n\n")
    page.run()
    button(page, "Invite 2 people").click().run()
    assert page.success[0].value == "2 people invited. Send each their own link."
    assert page.dataframe[0].value["Name"].tolist() == ["ada", "ben"]
    page.session_state["messages"] = True
    codes = [code.value for code in page.run().code]
    links, mails = codes[:2], codes[2:]
    assert all("/join/" in link for link in links)
    assert [mail.partition(",")[0] for mail in mails] == ["Dear ada", "Dear ben"]
    assert all(link in mail for link, mail in zip(links, mails, strict=True))
    assert len(page.text_area) == 0
    button(page, "Invite people").click().run()
    assert page.text_area[0].value == ""


def test_progress_page_counts_but_never_tells_what_was_said(study, empty):
    assert "Not made yet" in texts(coordinator_page("Study", "Overview", empty))
    say(study, "ada", "dissimilar")
    say(study, "ada", NOT_SURE)
    page = coordinator_page("Study", "Overview", study)
    table = page.table[0].value
    assert table.set_index("Reviewer").loc["ada", "Labels"] == "1 of 15"
    assert page.metric[0].value == "1 of 58"
    people_page = coordinator_page("People", "", study, **{"chosen-person": "ada"})
    assert "1 of 15 labels, 1 “not sure”" in texts(people_page)
    shown = texts(page) + table.to_csv() + texts(people_page) + people_page.dataframe[0].value.to_csv()
    assert "similar" not in shown.replace(SIMILAR.text, "")


def test_the_report_is_written_by_itself_as_part_of_the_page_and_logged(planned):
    answer_everything(planned, {"ada": "similar", "ben": "similar", "cleo": "dissimilar", "dan": "similar"})
    end_study(planned)
    study = planned.path
    page = coordinator_page("Results", "Report", study, **{"report-kind": QUICK})
    assert "You can leave this page." in page.get("progress")[0].proto.text
    page = report_written(coordinator_page("Results", "Report", study, **{"report-kind": QUICK}))
    files = [one.proto.label.removeprefix("Download ") for one in page.get("download_button")]
    assert set(files) >= {"report.html", "report.json", "report.md", "labels.csv", "latex.zip", "figures.zip"}
    assert len(page.get("iframe")) == 0
    contents, content = (one.proto.body for one in page.get("html")[-3:-1])
    anchors = re.findall('href="#([^"]+)"', contents)
    assert "in-short" in anchors
    assert all(f' id="{anchor}"' in content for anchor in anchors)
    assert "<svg" not in content and '<img alt="' in content
    with open_database(study) as db:
        assert events.table(db)["action"].tolist().count("report") == 1


def test_the_application_without_a_study_or_a_sign_in_says_so(study):
    assert says(texts(app_page(study, "forged")), "not signed in")
    said = texts(app_page(study.with_suffix(".gone"), ""))
    assert "missing at the moment" in said
    assert "kept in this browser" in said
    assert study.name not in said


@pytest.mark.parametrize(
    ("name", "role", "first"), [("ada", Role.REVIEWER, ""), ("coordinator", Role.COORDINATOR, "Demo study")]
)
def test_everybody_gets_the_pages_of_their_role_only(study, monkeypatch, name, role, first):
    with open_database(study) as db:
        token = identity.sign_in(db, identity.invite(db, name, role, actor="test", now=NOW), now=NOW)
        titles = titles_of(monkeypatch, db, identity.person_of_session(db, token, now=NOW))
    page = app_page(study, token)
    assert page.error.len == 0
    assert first in texts(page)
    reviewers = {"": ["Label", "My labels", "Guide", "Practice"], name: ["Sign out"]}
    coordinators = {"": ["Start", *PLACES, "Item"], name: [app.AS_REVIEWERS_SEE, "Sign out"]}
    assert titles == (reviewers if role is Role.REVIEWER else coordinators)


def test_who_labels_and_coordinates_finds_label_first_and_the_other_pages_in_the_menu(study, monkeypatch):
    with open_database(study) as db:
        person = identity.add_person(db, "dora", [*Role], actor="coordinator", now=NOW)
        titles = titles_of(monkeypatch, db, person)
    assert titles[""] == ["Label", "My labels", *PLACES, "Item"]
    assert sorted(titles["dora"]) == ["Guide", "Practice", "Sign out"]
    move_on(study, Step.CLOSE)
    with open_database(study) as db:
        assert titles_of(monkeypatch, db, person)[""] == ["Start", *PLACES, "Item", "Label", "My labels"]
