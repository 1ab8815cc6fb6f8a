"""The course of a study in the browser: steps, people, the calibration round and split items."""

import csv
import io
import re
from datetime import UTC, datetime

import pytest
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from labeler.studies import overview
from labeler.studies.course import calibrating, coordinating, course, staffing
from labeler.studies.labelling import reviewing
from labeler.studies.model import CalibrationGate, PlanParameters, Role, State
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.results import reporting, splits
from labeler.studies.store import actions, assignments, decisions, events, items, open_database, people, studies
from labeler.studies.ui.app import NOT_SIGNED_IN
from labeler.studies.ui.coordinator.decide import REASONS
from labeler.studies.ui.coordinator.people import EMAIL, REMOVE, RENAME, REPLACE, mail_merge
from labeler.studies.ui.coordinator.shared import escape_markdown
from labeler.studies.ui.coordinator.study import DONE
from tests.labeler.studies.people.test_mailing import mail_server_here
from tests.labeler.studies.ui.pages import (
    checked,
    coordinator_page,
    drawings,
    pictures,
    press_key,
    reviewer_page,
    shown_items,
    signed_in,
    texts,
)
from tests.making import (
    NOW,
    PARAMETERS,
    REVIEWERS,
    answer_everything,
    answer_next,
    id_of,
    log,
    make_study,
    offers,
    submit,
)
from tests.sentences import says

TODAY = datetime.now(UTC)  # the pages go by the clock: a session from a fixed day would end
BOTH = "dora"  # reviewer and coordinator
WITH_CALIBRATION = PlanParameters(seed=1, overlap=0.25, retest=0, calibration=2)
SAID = {"ada": "dissimilar", "ben": "similar", "cleo": "similar", "dan": "similar"}
HOSTILE = "<script>alert(1)</script> **bold** [x](http://evil.test) :red[y] $z$ `c`"
IN_SPITE = "Open the study anyway"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Closed study files: one open, in which dora has no items, and one in its calibration round, in which she has."""
    folder = tmp_path_factory.mktemp("life")
    for name, parameters in (("open", PARAMETERS), ("calibration", WITH_CALIBRATION)):
        make_study(folder / f"{name}.study")
        with open_database(folder / f"{name}.study") as db:
            if name == "open":
                assigning.confirm_plan(db, parameters, actor="carol", now=NOW)
            identity.add_person(db, BOTH, [Role.REVIEWER, Role.COORDINATOR], actor="carol", now=NOW)
            if name == "open":
                staffing.pause(db, BOTH, why="later", actor="carol", now=NOW)
            else:
                assigning.confirm_plan(db, parameters, actor="carol", now=NOW)
    return folder


@pytest.fixture
def copied(made, tmp_path):
    def copy(name):
        with open_database(made / f"{name}.study") as db:
            db.backup(tmp_path / f"{name}.study")
        return tmp_path / f"{name}.study"

    return copy


@pytest.fixture
def path(copied):
    """An open study without labels."""
    return copied("open")


@pytest.fixture
def calibrated(copied):
    """A study in its calibration round without answers."""
    return copied("calibration")


@pytest.fixture
def app():
    """Open one page of the whole application, with messages for refusals; the first page has no address."""

    return signed_in


def labelled(widgets, label):
    (found,) = [one for one in widgets if one.label == label]
    return found


def press(page, label):
    return checked(labelled(page.button, label).click().run())


def errors(page):
    return [error.value for error in page.error]


def take(path, *steps, force=False):
    with open_database(path) as db:
        for step in steps:
            course.change_state(db, step, why="because", force=force, actor="carol", now=TODAY)


def answer_all(path, says=SAID):
    with open_database(path) as db:
        answer_everything(db, says)


def study_of(path):
    with open_database(path) as db:
        return coordinating.get_study(db)


def log_of(path):
    with open_database(path) as db:
        return log(db)


def steps_of(page):
    """Return the texts of the buttons that take a step, wherever they are."""
    words = {*overview.BUTTONS.values(), overview.RESUME, IN_SPITE}
    return [one.label for one in page.button if one.label in words]


def study_page(path, person=""):
    """Return the view Overview with the fold of the other steps open."""
    return coordinator_page("Study", "Overview", path, person, **{"other-steps": True})


def step_on(page, words, why=""):
    """Take a step on the page Study, with a tick or a reason if the step asks for it."""
    for box in page.checkbox:
        if not box.value:
            checked(box.check().run())
    if why:
        (field,) = [one for one in page.text_input if str(one.key).startswith("why-")]
        checked(field.set_value(why).run())
    return press(page, words)


# the page Study


@pytest.mark.parametrize(
    ("state", "steps"),
    [
        (State.DRAFT, []), (State.CALIBRATION, [IN_SPITE, Step.PAUSE]), (State.OPEN, [Step.CLOSE, Step.PAUSE]),
        (State.THIRD, [Step.CLOSE, Step.PAUSE]), (State.CLOSED, [Step.UNBLIND, Step.REOPEN, Step.PAUSE]),
        (State.UNBLINDED, []), (State.PAUSED, [Step.OPEN]),
    ],
)  # fmt: skip
def test_the_study_page_offers_the_steps_that_make_sense_and_no_other(path, state, steps):
    with open_database(path) as db:
        studies.set_state(db, state, State.OPEN if state is State.PAUSED else None)
    page = study_page(path)
    words = [overview.RESUME if state is State.PAUSED else overview.BUTTONS.get(step, step) for step in steps]
    assert steps_of(page) == words
    assert sum(button.proto.type == "primary" for button in page.button) <= 1


def test_unblinding_needs_a_tick_and_with_open_splits_a_reason(closed):
    page = study_page(closed)
    assert not labelled(page.button, "Pause the study").disabled
    assert labelled(page.button, "Unblind the study").disabled
    checked(page.checkbox[0].check().run())
    assert labelled(page.button, "Unblind the study").disabled
    page.text_input(key="why-unblind-closed").set_value("the paper is due").run()
    assert not labelled(page.button, "Unblind the study").disabled


def test_missing_labels_are_counted_before_a_study_is_closed_and_unblinded(path):
    page = study_page(path)
    assert labelled(page.button, "Close the study").disabled
    assert [box.label for box in page.checkbox] == ["I know that 20 labels stay missing."]
    page = step_on(page, "Close the study")
    (message,) = [success.value for success in page.success]
    assert says(message, "20 planned labels are missing")
    assert len(checked(page.run()).success) == 0  # what a step led to is said once
    page = study_page(path)
    assert page.checkbox[0].label == "I know that this cannot be undone and that 20 labels stay missing."
    assert "20 labels of 20 are missing: 0 “not sure”, 20 never given." in texts(page)


def test_a_whole_study_is_run_on_the_study_page_without_a_typed_reason(calibrated):
    everybody = dict.fromkeys((*REVIEWERS, BOTH), "similar")
    for step, state in ((Step.OPEN, State.OPEN), (Step.CLOSE, State.CLOSED)):
        answer_all(calibrated, everybody)
        page = step_on(study_page(calibrated), overview.BUTTONS[step])
        assert page.success[0].value.startswith(DONE[step])
        assert study_of(calibrated).state is state
    page = coordinator_page("Study", "Overview", calibrated)
    checked(page.checkbox[0].check().run())
    labelled(page.button, overview.BUTTONS[Step.UNBLIND]).click().run()  # leads to another page
    assert study_of(calibrated).state is State.UNBLINDED
    with open_database(calibrated) as db:
        logged = [(one.actor, "why" in one.details) for one in events.of_actions(db, actions.in_history("steps"))]
    assert logged == [("carol", False)] * 3


def test_a_closed_study_is_reopened_where_it_was(path):
    answer_all(path)
    take(path, Step.THIRD, Step.CLOSE)
    page = step_on(study_page(path), "Reopen the study")
    assert page.success[0].value.startswith("The study is open again.")
    assert study_of(path).state is State.THIRD


def test_a_step_that_somebody_else_took_meanwhile_is_not_taken_for_the_next_one(path):
    page = study_page(path)
    checked(page.checkbox[0].check().run())
    take(path, Step.CLOSE)
    press(page, "Close the study")
    assert study_of(path).state is State.CLOSED
    assert errors(page) == []


def test_a_round_that_is_not_passed_is_left_only_with_a_reason(calibrated):
    page = study_page(calibrated)
    assert "Open the study" not in [one.label for one in page.button]
    assert labelled(page.button, IN_SPITE).disabled
    step_on(page, IN_SPITE, "time is short")
    assert study_of(calibrated).state is State.OPEN
    with open_database(calibrated) as db:
        (opening,) = events.of_actions(db, [actions.OPEN_STUDY])
    assert opening.details["calibration"].startswith("not passed: ada labelled 0 of 2 items")
    assert opening.details["why"] == "time is short"


def test_a_failed_round_leads_to_a_second_one(calibrated):
    with open_database(calibrated) as db:
        calibrating.set_gate(db, CalibrationGate("reviewers", 0.9), actor="carol", now=NOW)
    first = in_round(calibrated)
    answer_all(calibrated, SAID | {BOTH: "similar"})
    page = study_page(calibrated)
    assert says(texts(page), "Next: discuss the items, then calibrate again", "is 60 %, but must be at least 90 %")
    assert [line.value.splitlines()[0] for line in page.text if "similar" in line.value] == list(first)
    assert len([one for one in page.button if one.label == "Open the item"]) == len(first)
    press(page, "Start a second round")
    assert not set(first) & set(in_round(calibrated))


def test_a_coordinator_who_labels_is_not_told_what_the_calibration_round_reached_when_it_cannot_be_left(
    app, calibrated
):
    with open_database(calibrated) as db:
        calibrating.set_gate(db, CalibrationGate("reference", 0.9), actor="carol", now=NOW)
        calibrating.set_reference(db, dict.fromkeys(calibrating.item_names(db), "similar"), actor="carol", now=NOW)
    answer_all(calibrated, SAID | {BOTH: "similar"})
    page = app(calibrated, person=BOTH, url="study", **{"other-steps": True})
    assert "You do not see whether the required agreement was reached" in texts(page)
    assert "Open the study" not in [one.label for one in page.button]
    step_on(page, IN_SPITE, "carol is away")
    assert study_of(calibrated).state is State.OPEN


@pytest.mark.parametrize("person", ["carol", BOTH])
def test_nobody_is_told_which_and_how_many_items_are_split_before_the_study_is_closed(path, person):
    answer_all(path)
    page = step_on(study_page(path, person), "Assign third labels")
    with open_database(path) as db:
        names = [split.item.name for split in splits.split_items(db)]
        n_third = sum(row.assignment.kind == "third" for row in assignments.everything(db))
    assert names and n_third
    assert not [name for name in names if name in texts(page)]
    assert f"{n_third} items were assigned" not in texts(page)
    told = [line for line in told_in(coordinator_page("Study", "Log", path, person)) if "third" in line]
    assert told and not [line for line in told if str(n_third) in line]


@pytest.mark.parametrize(("coordinator", "is_told"), [("carol", True), (BOTH, False)])
def test_the_comment_that_waits_is_quoted_to_a_coordinator_who_does_not_label(path, coordinator, is_told):
    with open_database(path) as db:
        submit(db, "ada", offers(db, "ada")[0], now=TODAY, comment=HOSTILE)
    page = study_page(path, coordinator)
    assert (escape_markdown(HOSTILE) in texts(page)) == is_told
    assert HOSTILE not in texts(page)
    assert ("Answer the comment" in [one.label for one in page.button]) == is_told


def told_in(page):
    """What the log tells, the newest first."""
    return next(table.value for table in page.dataframe if "what" in table.value)["what"].tolist()


def address_of(text, name):
    storage = MemoryMediaFileStorage("/mock/media")
    return storage.get_url(storage.load_and_get_id(text.encode(), "text/plain", MediaFileKind.DOWNLOADABLE, name))


def test_the_log_is_shown_whole_but_without_details_to_a_coordinator_who_labels(path):
    answer_all(path)
    take(path, Step.CLOSE)
    with open_database(path) as db:
        whole = coordinating.event_log(db)
    assert '"why": "because"' in whole["details"].iloc[-1]
    for person, shown in (("carol", whole), (BOTH, whole.drop(columns="details"))):
        page = coordinator_page("Study", "Log", path, person)
        assert len(told_in(page)) == len(whole)
        assert told_in(page)[0] == ("closed the study: because" if person == "carol" else "close study")
        offered = labelled(page.get("download_button"), "Download the log (CSV)").proto.url
        assert offered == address_of(reporting.as_csv(shown), "events.csv")
    take(path, Step.UNBLIND)
    page = coordinator_page("Study", "Log", path, BOTH)
    assert "closed the study: because" in told_in(page)
    page = checked(labelled(page.text_input, "Search the log").set_value("CLOSED").run())
    assert told_in(page) == ["closed the study: because"]


# the page People


def change(page, path, name, what, *, note="", successor=""):
    """Choose a person and a change, fill in its fields and press the button that names them."""
    checked(labelled(page.selectbox, "Person").set_value(name).run())
    if note:
        labelled(page.text_input, "Note for the log (optional)").set_value(note)
    if what in ("Pause", "Resume", "New link"):
        return press(page, what)
    page.session_state["person-action"] = person(path, name).person_id, what  # as the menu More does
    checked(page.run())
    field = {RENAME: "New name", REPLACE: "Successor: a new name, or another reviewer", EMAIL: EMAIL}.get(what)
    if field:
        labelled(page.text_input, field).set_value(successor)
    return checked(page.button(key="confirm-person").click().run())


def person(path, name):
    with open_database(path) as db:
        return people.by_name(db, name)


def n_offered(path, name):
    with open_database(path) as db:
        return reviewing.review_queue(db, id_of(db, name)).progress.n_assigned


def messages_of(page):
    return "\n".join(str(one.value) for kind in ("success", "error", "info") for one in getattr(page, kind))


def others_named(page, *known):
    """Reviewers named in the messages of the page; its lists name everyone."""
    return [name for name in (*REVIEWERS, BOTH) if name not in known and re.search(rf"\b{name}\b", messages_of(page))]


def people_page(path, actor=""):
    return coordinator_page("People", "", path, actor)


def test_a_pause_of_one_reviewer_keeps_their_items_and_ends_when_told(path):
    page = change(people_page(path), path, "ada", "Pause", note="on leave")
    assert page.success[0].value == "ada is paused. 5 items wait."
    assert page.dataframe[0].value.set_index("Name").loc["ada", "Link"] == "paused"
    with open_database(path) as db:
        assert reviewing.review_queue(db, id_of(db, "ada")).closed.startswith("You are paused")
        (event,) = [one for one in events.of_actions(db, [actions.PAUSE_REVIEWER]) if one.details["name"] == "ada"]
    assert (event.actor, event.details["why"]) == ("carol", "on leave")
    change(page, path, "ada", "Resume")
    assert not person(path, "ada").paused
    assert n_offered(path, "ada") == 5
    assert log_of(path)[-1] == ("carol", "resume reviewer")


@pytest.mark.parametrize("actor", ["carol", BOTH])
def test_a_leaving_reviewer_is_signed_out_at_once_and_nobody_is_told_who_got_the_items(app, path, actor):
    hers = app(path, person="ada", role=Role.REVIEWER)
    page = change(people_page(path, actor), path, "ada", REMOVE)
    assert says(page.success[0].value, "ada: 3 open items", "2 no longer")
    assert others_named(page, "ada", actor) == []
    assert errors(checked(hers.run())) == [NOT_SIGNED_IN]
    assert len(checked(page.run()).success) == 0
    change(page, path, "ada", "Resume")
    assert person(path, "ada").active
    assert others_named(page, "ada", actor) == []


def test_a_successor_takes_over_and_gets_a_link(path):
    page = change(people_page(path), path, "ada", REPLACE, successor="eve")
    link = page.code[0].value
    assert "Send each link" in texts(page)
    assert others_named(page, "ada") == []
    with open_database(path) as db:
        token = identity.sign_in(db, link.rpartition("/join/")[2], now=TODAY)
        assert identity.person_of_session(db, token, now=TODAY).name == "eve"
    assert (n_offered(path, "eve"), person(path, "ada").active) == (5, False)
    assert says(page.success[0].value, "eve", "ada: 5 open items", "0 no longer")
    press(page, "Hide the links")
    assert not [code for code in page.code if "/join/" in code.value]


def test_the_links_are_offered_for_mail_merge(path):
    page = change(people_page(path), path, "ada", "New link")
    link = page.code[0].value
    assert "/join/" in link
    merged = mail_merge({"ada": ("ada@example.org", link, "Dear ada,\n\n…")})
    assert list(csv.DictReader(io.StringIO(merged))) == [
        {"name": "ada", "email": "ada@example.org", "link": link, "message": "Dear ada,\n\n…"}
    ]
    assert labelled(page.get("download_button"), "Download links for mail merge")
    assert (st_mail := page.get("link_button")) and all(one.proto.url.startswith("mailto:?subject=") for one in st_mail)


def test_messages_go_to_the_address_of_their_person(path):
    page = change(people_page(path), path, "ada", EMAIL, successor="no address")
    assert says(page.error[0].value, "is not an e-mail address")
    page = change(people_page(path), path, "ada", EMAIL, successor=" ada.l@example.org ")
    assert page.success[0].value == "Messages to ada go to ada.l@example.org."
    with open_database(path) as db:
        assert identity.emails(db) == {"ada": "ada.l@example.org"}
    page = change(people_page(path), path, "ada", "New link")
    assert {link.proto.url.partition("?")[0] for link in page.get("link_button")} == {"mailto:ada.l@example.org"}
    page = change(people_page(path), path, "ada", EMAIL, successor="")
    assert page.success[0].value == "ada has no address."


def test_reminders_are_sent_to_all_who_have_open_items_and_an_address(path, monkeypatch):
    with mail_server_here() as (address, received):
        monkeypatch.setenv("LABELER_SMTP", address)
        assert not [one for one in people_page(path).button if one.label.startswith("Send")]  # nobody has an address
        with open_database(path) as db:
            identity.set_email(db, "ada", Role.REVIEWER, "ada@example.org", actor="carol", now=NOW)
            identity.set_email(db, "carol", Role.COORDINATOR, "carol@example.org", actor="carol", now=NOW)
        page = coordinator_page("People", "", path, **{"remind-all": True})
        assert "To: ada@example.org" in texts(page)
        page = press(page, "Send reminders to 1 address")
        assert page.success[0].value == "1 message sent."
        page = press(change(page, path, "ada", "New link"), "Send the invitations to 1 address")
    assert [(one["To"], one["Reply-To"]) for one in received] == [("ada@example.org", "carol@example.org")] * 2
    assert "/join/" in received[1].get_payload(decode=True).decode()


def test_a_reminder_says_what_is_done_and_left(path):
    with open_database(path) as db:
        answer_next(db, "ada", "similar")
    page = people_page(path)
    checked(labelled(page.selectbox, "Person").set_value("ada").run())
    (code,) = page.code
    assert code.value.startswith("Dear ada,")
    assert "thank you for your first 1 label in the study “Caches”. 4 items are left" in code.value
    checked(labelled(page.selectbox, "Person").set_value("ben").run())
    assert "have not labelled yet" in page.code[0].value


def invite(page, names):
    if not page.text_area:
        press(page, "Invite people")
    checked(labelled(page.text_area, "Names").set_value(names).run())
    return checked(page.button(key="invite").click().run())


def test_a_late_joiner_gets_a_link_and_items_without_anybody_being_named(path):
    page = invite(people_page(path), "eve")
    assert "/join/" in page.code[0].value
    assert n_offered(path, "eve") > 0
    assert others_named(page) == []


def test_of_people_none_is_added_if_one_cannot_be_and_the_names_stay_in_their_field(path):
    page = invite(people_page(path), "eve\nada\nfay")
    assert errors(page) == ["The study already has a person called ada. Choose another name."]
    assert labelled(page.text_area, "Names").value == "eve\nada\nfay"
    assert (person(path, "eve"), person(path, "fay")) == (None, None)


def test_a_pasted_list_is_one_person_per_name_and_mail_goes_to_the_addresses(path):
    page = invite(people_page(path), "Hal <hal@example.org>, Ida")
    assert (person(path, "Hal").name, person(path, "Ida").name) == ("Hal", "Ida")
    urls = [one.proto.url for one in page.get("link_button")]
    assert any(url.startswith("mailto:hal@example.org?subject=") for url in urls)
    with open_database(path) as db:
        assert identity.emails(db) == {"Hal": "hal@example.org"}


def test_a_coordinator_can_get_a_new_link_but_not_be_paused(db):
    page = people_page(db.path)
    checked(labelled(page.selectbox, "Person").select_index(0).run())
    assert [one.label for one in page.button if one.label in ("New link", "Pause", "Resume")] == ["New link"]
    assert "Nobody is invited yet." in texts(page)


def test_the_people_page_shows_a_name_as_it_is_and_not_as_markup(path):
    name = "![x](http://evil.test) *eve*"
    with open_database(path) as db:
        identity.add_person(db, name, [Role.REVIEWER], actor="carol", now=NOW)
    for what in ("Pause", "New link"):
        page = change(people_page(path), path, name, what)
        assert not [element for element in (*page.success, *page.markdown) if name in str(element.value)]


# the page Splits


@pytest.fixture
def closed(path):
    """ada answers dissimilar to everything, the others similar; one of her labels has a comment."""
    with open_database(path) as db:
        submit(db, "ada", offers(db, "ada")[0], "dissimilar", comment=HOSTILE)
    answer_all(path)
    take(path, Step.CLOSE)
    return path


def test_after_the_end_the_people_page_offers_only_what_is_still_allowed(closed):
    page = press(people_page(closed), "Invite people")
    assert labelled(page.radio, "Invite as").options == ["Coordinators"]
    checked(labelled(page.selectbox, "Person").set_value("ada").run())
    assert [one.label for one in page.button if one.label in ("New link", "Pause", "Resume")] == ["New link"]


def split_names(path):
    with open_database(path) as db:
        return [split.item.name for split in splits.split_items(db)]


def choose_item(page, name):
    page.session_state["split"] = name
    return checked(page.run())


def decide(page, path, name, category, why):
    """Decide as the component does: it saves the decision, and then the page runs."""
    with open_database(path) as db:
        decision = {"kind": "split", "item": name, "category": category, "why": why}
        splits.save_decision(db, decision, actor="carol", now=NOW)
    return press_key(choose_item(page, name), "split", category[0])


@pytest.mark.parametrize(("coordinator", "steps"), [("carol", ()), ("carol", (Step.PAUSE,)), (BOTH, (Step.THIRD,))])
def test_before_closing_the_splits_page_only_counts_items_with_labels(path, coordinator, steps):
    with open_database(path) as db:
        answer_next(db, "ada", "dissimilar")
    assert "0 of 8 items" in texts(coordinator_page("Decide", "Splits", path, coordinator))
    answer_all(path)
    take(path, *steps)
    page = coordinator_page("Decide", "Splits", path, coordinator)
    assert "8 of 8 items" in texts(page)
    assert "similar" not in texts(page)
    assert (len(page.dataframe), len(page.selectbox), len(page.button), len(pictures(page))) == (0, 0, 0, 0)


def listing(path):
    """Return the page Splits with the list of all split items."""
    return coordinator_page("Decide", "Splits", path, **{"fold-split-items": True})


def test_after_closing_the_splits_page_shows_split_items_with_labels_and_comments_but_no_names(closed):
    page, names = listing(closed), split_names(closed)
    with open_database(closed) as db:
        hers = {row.assignment.item for row in assignments.everything(db) if row.assignment.reviewer == "ada"}
    table = page.dataframe[0].value
    assert (table["item"].tolist(), set(names)) == (names, hers)
    assert table["dissimilar"].tolist() == [1] * 5
    assert sorted(table["similar"]) == [1, 1, 1, 3, 3]
    shown = []
    for name in names:
        choose_item(page, name)
        n_similar = table.set_index("item").loc[name, "similar"]
        assert sorted(text.value.partition(":")[0] for text in page.text) == ["dissimilar", *["similar"] * n_similar]
        assert (shown_items(page), others_named(page)) == ([name], [])
        shown += [text.value for text in page.text]
        formatted = [str(element.value) for kind in ("markdown", "caption", "info") for element in getattr(page, kind)]
        assert not [text for text in formatted if "alert" in text]
    assert shown.count(f"dissimilar: {HOSTILE}") == 1


def test_keys_go_through_the_split_items_and_after_a_decision_the_next_open_one_comes(closed):
    page, names = coordinator_page("Decide", "Splits", closed), split_names(closed)
    (drawn,) = drawings(page)
    assert drawn["decides"] == {
        "kind": "split", "categories": {"s": "similar", "d": "dissimilar"}, "reasons": list(REASONS),
    }  # fmt: skip
    for pressed, name in (("n", names[1]), ("p", names[0]), ("p", names[-1]), ("n", names[0])):
        press_key(page, "split", pressed)
        assert shown_items(page) == [name]
    with open_database(closed) as db:
        assert decisions.everything(db) == []
    decide(page, closed, names[0], "similar", "warm-up only")
    assert shown_items(page) == [names[1]]
    assert page.toast[0].value == "Saved: similar. 2 left."
    press_key(page, "split", "u")
    assert shown_items(page) == [names[0]]


def test_a_decision_is_shown_and_can_be_replaced(closed):
    page, name = listing(closed), split_names(closed)[0]
    for category, why in (("dissimilar", "there is a step"), ("similar", "on second thoughts")):
        decide(page, closed, name, category, why)
        assert page.dataframe[0].value.set_index("item")["decision"].to_dict()[name] == category
        assert f"Decided: {category}. Reason: {why}" in [text.value for text in choose_item(page, name).text]
    assert [view for view in page.get("button_group")[0].options if "Splits" in str(view)] == ["Splits (2)"]


def test_the_name_of_a_decided_item_is_shown_as_it_is_and_not_as_markup(closed):
    name = "![x](http://evil.test) *bench*"
    with open_database(closed) as db:
        db.execute("UPDATE items SET name = ? WHERE name = ?", (name, split_names(closed)[0]))
        events.Deed(db, "carol", NOW).log(actions.LEARN)  # pages keep results until the study changes
    page = decide(coordinator_page("Decide", "Splits", closed), closed, name, "similar", "a step")
    assert page.toast[0].value.startswith("Saved: similar.")
    assert name not in texts(page)


def test_who_labelled_a_split_item_sees_why_they_cannot_decide(closed):
    with open_database(closed) as db:
        db.execute("UPDATE people SET is_reviewer = 0, is_coordinator = 1 WHERE name = 'ada'")
    page = coordinator_page("Decide", "Splits", closed, "ada")
    assert says(page.info[0].value, "You labelled 5")
    assert [drawn["decides"] for drawn in drawings(page)] == [None]
    assert [drawn["decides"]["kind"] for drawn in drawings(coordinator_page("Decide", "Splits", closed))] == ["split"]


# the pages Calibration and Feedback


def put_gate(page, on, percent):
    """Return the stored gate, which is saved on every change."""
    checked(labelled(page.radio, "The study opens once").set_value(on).run())
    return checked(labelled(page.slider, "in at least this share of items").set_value(percent).run())


def put_reference(page, path, name, category):
    page.session_state["reference"] = name
    checked(page.run())
    with open_database(path) as db:
        calibrating.decide_reference(db, name, category, actor="carol", now=NOW)
    return press_key(page, "reference", category[0])


def in_round(path):
    """Return the names of the items of the calibration round."""
    with open_database(path) as db:
        return calibrating.item_names(db)


def test_a_plan_without_a_calibration_round_says_how_to_get_one(path):
    page = coordinator_page("Decide", "Calibration", path)
    assert says(page.info[0].value, "no calibration items")
    assert len(page.button) == 0


def test_gate_and_reference_labels_are_kept_and_the_round_is_judged_by_them(calibrated):
    page = coordinator_page("Decide", "Calibration", calibrated)
    put_gate(page, "reference", 50)
    assert study_of(calibrated).gate == CalibrationGate("reference", 0.5)
    for name, category in zip(in_round(calibrated), ("similar", "dissimilar"), strict=True):
        put_reference(page, calibrated, name, category)
    assert "Items with a reference label: 2 of 2" in texts(page)
    answer_all(calibrated, SAID | {BOTH: "not sure"})
    checked(page.run())
    shown = page.dataframe[0].value.set_index("reviewer")
    assert shown.loc["ada", "labelled"] == "2 of 2"
    assert shown.loc["ada", "agreement with the reference (95 % interval)"].startswith("0.50 (")
    assert says(texts(page), "Not passed: dora", "0 of 2", "of dora is unknown")
    assert "Percent agreement between reviewers: 0.50" in texts(page)


def test_a_gate_is_not_changed_once_somebody_has_answered(calibrated):
    page = coordinator_page("Decide", "Calibration", calibrated)
    put_gate(page, "reviewers", 70)
    answer_all(calibrated, {"ada": "similar"})
    checked(page.run())
    assert labelled(page.radio, "The study opens once").disabled
    assert labelled(page.slider, "in at least this share of items").disabled
    assert study_of(calibrated).gate == CalibrationGate("reviewers", 0.7)


def test_a_coordinator_who_labels_sees_how_far_the_round_is_but_not_what_it_reached(calibrated):
    answer_all(calibrated)
    page = coordinator_page("Decide", "Calibration", calibrated, BOTH)
    assert list(page.dataframe[0].value.columns) == ["reviewer", "labelled"]
    assert page.dataframe[0].value.set_index("reviewer")["labelled"].to_dict()["ada"] == "2 of 2"
    assert says(texts(page), "also a reviewer")
    assert not [word for word in ("between reviewers:", "assed", "kappa") if word in texts(page)]
    assert len(page.button) == 0


def test_feedback_comes_once_the_round_is_over_and_tells_own_labels_and_the_reference_only(calibrated):
    first, second = in_round(calibrated)
    with open_database(calibrated) as db:
        calibrating.set_reference(db, {first: "similar"}, actor="carol", now=NOW)
        tasks = assignments.tasks_of(db, id_of(db, "ada"), calibration=True)
        codes = {items.by_id(db, task.item_id).name: task.code for task in tasks}
    answer_all(calibrated, SAID | {BOTH: "similar"})
    assert "after the calibration round" in reviewer_page("feedback", calibrated, "ada").info[0].value
    take(calibrated, Step.OPEN)
    page = reviewer_page("feedback", calibrated, "ada")
    assert says(texts(page), "0 of your 1 labels") and says(texts(page), "0%", "other reviewers' labels")
    assert {text.value for text in page.text} == {
        f"Item {codes[first]}: your label is dissimilar; the reference label is similar.",
        f"Item {codes[second]}: your label is dissimilar; the item has no reference label.",
    }
    assert len(pictures(page)) == 2
    assert others_named(page) == []
    assert not [item for item in (first, second) if item in texts(page) + "".join(pictures(page))]


def test_a_person_is_renamed_on_the_page_people(path, app):
    page = change(people_page(path), path, "ada", RENAME, successor="Ada Lovelace")
    assert page.success[0].value == "Pages show ada as Ada Lovelace."
    assert "Ada Lovelace" in page.dataframe[0].value["Name"].tolist()
    assert "Dear Ada Lovelace" in "".join(one.value for one in page.code)
    assert person(path, "ada").name == "ada"
    table = coordinator_page("Study", "Overview", path).table[0].value
    assert "Ada Lovelace" in table["Reviewer"].tolist()
