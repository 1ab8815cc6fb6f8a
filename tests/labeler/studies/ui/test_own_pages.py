"""The other pages of reviewers (My labels, Guide, Practice), and the form for the protocol."""

import html
import json
import re
import shutil
from datetime import UTC, date, datetime

import pandas as pd
import pytest

from labeler.studies.audit import audit
from labeler.studies.course import coordinating
from labeler.studies.handover import exchange
from labeler.studies.labelling import guide, inbox, own_result, reviewing
from labeler.studies.model import PlanParameters, Protocol, Role, State
from labeler.studies.people import identity
from labeler.studies.questions import SIMILAR
from labeler.studies.store import open_database, people, studies
from labeler.studies.ui.app import request_token
from labeler.studies.ui.reviewer import my_labels
from labeler.studies.ui.reviewer.guide import round_data
from tests.conftest import some_slow
from tests.labeler.studies.ui.pages import (
    app_page,
    button,
    checked,
    coordinator_page,
    drawings,
    pictures,
    reviewer_page,
    signed_in,
    texts,
    titles_of,
)
from tests.making import NOW, REVIEWERS, answer_everything, id_of, item_name, make_study, offers, submit
from tests.sentences import says

TODAY = datetime.now(UTC)  # the pages go by the clock: a session from a fixed day would end
HOSTILE = "<script>alert(1)</script> **bold** [x](http://evil.test) :red[y] $z$ `c`"


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """ada has answered 50 of 51 items: 40 similar, 8 dissimilar, 2 not sure; some flagged, commented or revised."""
    path = tmp_path_factory.mktemp("own") / "own.study"
    make_study(path, n_items=51, reviewers=("ada", "ben"), plan=PlanParameters(seed=1, overlap=0.0, retest=0))
    with open_database(path) as db:
        ada = id_of(db, "ada")
        for number in range(50):
            answer = "not sure" if number < 2 else "dissimilar" if number < 10 else "similar"
            said = {"flag": number % 10 == 5, "comment": {7: "a step", 49: HOSTILE}.get(number)}
            submit(db, "ada", offers(db, "ada")[0], answer, dwell_ms=4000, **said)
        submit(db, "ada", reviewing.own_labels(db, ada)[-1].task, "not sure", dwell_ms=6000)
        (stepped,) = [one.task.code for one in reviewing.own_labels(db, ada) if one.comment == "a step"]
        for text in ("A step is a change.", HOSTILE):
            inbox.reply(db, stepped, text, actor="Quirin", now=TODAY)
    return path


def rows(page):
    """Return the codes of the items on the page."""
    return [match[1] for text in page.markdown if (match := re.fullmatch(r"\d+\. Item (\w{6})", text.value))]


def revisable(page):
    """Return the codes of the items that can be opened again."""
    return [button.key.removeprefix("revise-") for button in page.button]


def my_page(path):
    return reviewer_page("my_labels", path, "ada")


def own(path):
    with open_database(path) as db:
        return reviewing.own_labels(db, id_of(db, "ada"))


def show(page, name):
    page.radio[0].set_value(name).run()
    return checked(page)


def test_my_labels_come_twenty_a_page_newest_first(many):
    page, everything = my_page(many), [one.task.code for one in own(many)]
    assert rows(page) == everything[:20]
    for code, picture in zip(revisable(page), pictures(page), strict=True):
        assert f'aria-label="The runs of item {code}"' in picture
    assert len(pictures(page)) == 19  # the most recently revised item is an old one
    assert page.number_input[0].label == "Page of 3, newest first"
    seen, again = [], []
    for number in (1, 2, 3):
        page.number_input[0].set_value(number).run()
        seen += rows(page)
        again += revisable(page)
        assert len(pictures(page)) == len(revisable(page))
    assert seen == everything
    assert len(set(seen)) == 50
    assert again == [one.task.code for one in own(many) if one.number > 25]
    assert "your latest 25 items" in texts(page)


def test_all_pictures_are_back_once_everything_is_answered(many, tmp_path):
    shutil.copy(many, tmp_path / "done.study")
    with open_database(tmp_path / "done.study") as db:
        answer_everything(db, {"ada": "similar"})
    page = my_page(tmp_path / "done.study")
    page.number_input[0].set_value(3).run()
    assert revisable(page) == rows(page) != []
    assert not says(texts(page), "your latest")


def test_filters_say_how_many_there_are_and_keep_exactly_these(many):
    page = my_page(many)
    counts = {
        "all": 50, "similar": 40, "dissimilar": 8, "not sure": 2, "flagged": 5, "with a comment": 2,
        "with a reply": 1, "revised": 1,
    }  # fmt: skip
    assert page.radio[0].options == [f"{name} ({count})" for name, count in counts.items()]
    page.number_input[0].set_value(3).run()  # a filter shows its own first page
    for name, count in counts.items():
        expected = [one.task.code for one in own(many) if my_labels.filters(SIMILAR)[name](one)]
        assert len(expected) == count
        assert rows(show(page, name)) == expected[:20] or name == "all"


@pytest.mark.parametrize("state", [State.PAUSED, State.CLOSED])
def test_nothing_can_be_revised_while_nobody_can_label(many, tmp_path, state):
    shutil.copy(many, tmp_path / "over.study")
    with open_database(tmp_path / "over.study") as db:
        studies.set_state(db, state, State.OPEN if state is State.PAUSED else None)
    page = my_page(tmp_path / "over.study")
    assert (len(rows(page)), revisable(page)) == (20, [])


def markup_of(page):
    """Return what the page shows of the words of HOSTILE elsewhere than in plain text."""
    formatted = [str(element.value) for kind in ("markdown", "caption", "info") for element in getattr(page, kind)]
    formatted += [element.proto.body for element in page.get("html")]
    return [text for text in formatted if "alert" in text or "bold" in text]


def test_a_comment_is_shown_as_the_text_it_is_and_nothing_else(many):
    page = my_page(many)
    assert f"“{HOSTILE}”" in [element.value for element in page.text]
    assert markup_of(page) == []


def test_a_row_tells_when_how_long_and_what_was_said(many):
    page = show(my_page(many), "revised")
    (line,) = [element.value for element in page.text]
    assert line == "2026-11-20 12:00 UTC · 10 s · revised"  # 4 s and then 6 s
    assert "not sure" in texts(page)
    page = show(page, "with a comment")
    assert any(element.value == "“a step”" for element in page.text)
    assert "2026-11-20 12:00 UTC · 4.0 s" in [element.value for element in page.text]
    page = show(page, "flagged")
    assert texts(page).count("· flagged") == 5


def test_answers_of_the_coordinator_stand_under_the_comment_as_plain_text_without_a_name(many):
    page = show(my_page(many), "with a reply")
    assert [element.value for element in page.text] == [
        "2026-11-20 12:00 UTC · 4.0 s", "“a step”", "Reply from the coordinator: A step is a change.",
        f"Reply from the coordinator: {HOSTILE}",
    ]  # fmt: skip
    assert markup_of(page) == []
    assert not [word for word in ("Quirin", "carol") if word in texts(page)]


def test_an_own_label_is_opened_again_and_left(many):
    page, code = my_page(many), own(many)[3].task.code
    page.button(key=f"revise-{code}").click().run()
    assert "Your label: **similar**" in texts(page)
    assert [button.key for button in page.button] == ["back"]
    page.button(key="back").click().run()
    assert len(rows(page)) == 20


def test_a_receipt_names_own_answers_and_an_audit_finds_all_of_them(many, tmp_path):
    page = my_page(many)
    page.toggle[0].set_value(True).run()
    assert [error.message for error in page.exception] == []
    (tmp_path / "receipt.json").write_text(page.code[0].value)
    receipt = json.loads(page.code[0].value)
    assert len(receipt["labels"]) == 51
    assert {entry["code"] for entry in receipt["labels"]} == {own_label.task.code for own_label in own(many)}
    with open_database(many) as db:
        assert audit.audit(db, tmp_path / "receipt.json").faults == ()


def test_the_component_of_a_page_gets_the_token_of_the_session(many):
    with open_database(many) as db:
        secret = identity.invite(db, "ben", Role.REVIEWER, actor="test", now=TODAY)
        token = identity.sign_in(db, secret, now=TODAY)
    page = app_page(many, token)
    (data,) = [json.loads(one.proto.json) for one in page.get("bidi_component")]
    assert data["token"] == request_token(token)


def test_an_item_of_somebody_else_is_not_opened(many):
    with open_database(many) as db:
        foreign = offers(db, "ben")[0].code
    page = signed_in(many, "my-labels", "ada", Role.REVIEWER, chosen=foreign)
    (error,) = page.error
    assert says(error.value, f"cannot open item {foreign}")
    assert "Your label:" not in texts(page)


@pytest.fixture
def study(masters, tmp_path):
    """A planned study that a test may change."""
    path = tmp_path / "planned.study"
    path.write_bytes(masters["planned"].read_bytes())
    return path


def change(path, **changes):
    with open_database(path) as db:
        coordinating.set_protocol(db, Protocol(**changes), actor="carol", now=NOW)


def test_the_guide_shows_question_protocol_and_examples(study):
    change(study, min_span=0.25, instructions=HOSTILE, asks_confidence=True)
    page = reviewer_page("guide", study, "ada")
    words = texts(page)
    assert "Are these runs alike?" in [text.value for text in page.text]
    assert HOSTILE in [element.value for element in page.text]  # as plain text
    assert "25 % of the median" in " ".join(words.split())
    assert "how sure you are" in words
    for example in (*guide.worked_examples(), *guide.schematic_examples()):
        verdict = {"similar": "similar", "dissimilar": "dissimilar", None: "people disagree"}[example.category]
        assert f"**{example.title}: {verdict}.**" in words
    drawn = [drawing for drawing in drawings(page) if "item" in drawing]
    wide = Protocol(min_span=0.25)
    examples = (*guide.worked_examples(protocol=wide), *guide.schematic_examples(protocol=wide))
    assert [drawing["item"] for drawing in drawn] == [example.title for example in examples]
    assert [drawing["panels"] for drawing in drawn] == [[{"kind": "runs", **example.picture}] for example in examples]


@pytest.mark.parametrize("rule", some_slow(["levels", "core", "pooled", "full"], {"levels", "core", "pooled"}))
def test_guide_my_labels_and_practice_open_under_every_axis_rule(study, rule):
    change(study, axis_rule=rule)
    for module in ("guide", "practice", "my_labels", "label"):
        assert reviewer_page(module, study, "ada").error.len == 0


@pytest.mark.parametrize("module", ["guide", "practice"])
def test_guide_and_practice_tell_nothing_of_the_study(study, module):
    hidden = {"ben", "cleo", "dan", "carol", "overlap", "fresh"}
    with open_database(study) as db:
        hidden |= {item.name for item in coordinating.list_items(db)}
        hidden |= {code for (code,) in db.execute("SELECT code FROM assignments")}
    page = reviewer_page(module, study, "ada")
    assert [word for word in hidden if re.search(rf"\b{re.escape(word)}\b", texts(page))] == []


ROUND = {f"P{number}": "similar" for number in range(1, 7)}


def practise(study, said, number=7):
    """Return the practice page after the browser sent the answers of a whole round."""
    state = {"practice_seed": 7, "practice": {"changed": {"round": number, "answers": said}}}
    return reviewer_page("practice", study, "ada", **state)


def test_practice_ends_with_what_is_known_and_begins_anew(study):
    made = guide.practice_round(7)
    page = practise(study, ROUND)
    shown = [html.unescape(line) for line in texts(page).splitlines() if "practised" in line]
    assert len(shown) == 6
    for number, (line, example) in enumerate(zip(shown, made, strict=True), start=1):
        kind, sign = ("right", "✓") if example.category == "similar" else ("different", "✗")
        assert f'class="practised {kind}"' in line
        assert says(line, f"P{number}", sign, example.feedback("similar"))
    page.button(key="again").click().run()
    assert "practised" not in texts(page)
    assert page.session_state["practice_seed"] != 7


@pytest.mark.parametrize(
    ("said", "number"),
    [(ROUND, 8), ({"P1": "similar"}, 7), (ROUND | {"P7": "similar"}, 7), (ROUND | {"P2": "<b>"}, 7), ("similar", 7)],
)
def test_a_practice_round_that_is_not_over_or_not_readable_shows_no_result(study, said, number):
    page = practise(study, said, number)
    assert ("practised" in texts(page), len(page.button)) == (False, 0)


def test_practice_shows_a_made_item_as_the_screen_shows_an_item(study):
    with open_database(study) as db:
        ada = id_of(db, "ada")
        offer = reviewing.task_data(db, reviewing.review_queue(db, ada).offers[0])
        (made, *others) = round_data(guide.practice_round(7), reviewing.brief(db), 7)["items"]
    assert len(others) == 5
    assert set(made) - {"explains", "right"} <= set(offer)
    assert set(made["explains"]) == {"similar", "dissimilar", "not sure"}
    assert [set(panel) | {"scale"} for panel in made["panels"]] == [set(panel) for panel in offer["panels"]]
    assert json.dumps(made, allow_nan=False)


def protocol_page(path):
    return coordinator_page("Study", "Guide", path)


def save(page):
    (button,) = [button for button in page.button if button.label == "Save the guide"]
    button.click().run()
    assert [error.message for error in page.exception] == []


def axis(page):
    return next(radio for radio in page.radio if "axis" in radio.label.lower())


def protocol_of(path):
    with open_database(path) as db:
        return coordinating.get_study(db).protocol


def test_the_study_page_changes_the_protocol(study):
    page = protocol_page(study)
    axis(page).set_value("full")
    page.number_input[0].set_value(0.3)
    page.checkbox[0].check()
    page.checkbox[1].check()
    page.text_area[0].set_value("Mind the warm-up.")
    save(page)
    assert protocol_of(study) == Protocol("full", 0.3, True, True, "Mind the warm-up.")
    save(protocol_page(study))
    assert protocol_of(study) == Protocol("full", 0.3, True, True, "Mind the warm-up.")


def test_the_study_page_shows_a_fixed_protocol_as_text(many):
    page = protocol_page(many)
    assert says(texts(page), "The guide can no longer be changed")
    lines = " ".join(line.value for line in page.text)
    assert says(lines, "Instructions: none of your own", "levels that last", "15 % of the median")
    assert not [button for button in page.button if button.label == "Save the guide"]


def test_an_example_is_added_on_the_page_guide_and_reviewers_see_it(study):
    page = protocol_page(study)
    page.selectbox(key="example-item-0").set_value(item_name(1))
    page.radio(key="example-category-0").set_value("similar")
    page.text_input(key="example-sentence-0").set_value("Only <b>noise</b>.")
    page = checked(button(page, "Add this example").click().run())
    assert page.table[0].value["Sentence"].tolist() == [r"Only \<b\>noise\</b\>."]
    seen = reviewer_page("guide", study, "ada")
    assert "Examples of this study" in texts(seen) and "Only <b>noise</b>." in [text.value for text in seen.text]
    assert item_name(1) not in texts(seen)
    assert "Example 1. Only <b>noise</b>." in texts(reviewer_page("first_visit", study, "ada"))
    page = checked(button(page, "Remove this example").click().run())
    assert not page.table


def test_labels_made_elsewhere_are_listed_without_pictures_where_there_are_no_measurements(tmp_path):
    path = tmp_path / "labels.study"
    coordinating.create_study(path, name="Labels", question="?", coordinator="carol", now=NOW)
    table = pd.DataFrame({"item": ["a", "b"], "reviewer": ["ada", "ada"], "label": ["similar", "not sure"]})
    with open_database(path) as db:
        exchange.import_labels(db, table, actor="carol", now=NOW)
    page = my_page(path)
    assert [error.message for error in page.exception] == []
    assert (len(rows(page)), revisable(page), pictures(page)) == (2, [], [])
    assert {"**similar**", "**not sure**"} <= {text.value for text in page.markdown}
    assert "has not begun" in reviewer_page("label", path, "ada").get("bidi_component")[0].proto.json


def test_a_page_run_sends_the_data_of_the_screen_without_its_markup_and_style(study):
    sent = reviewer_page("label", study, "ada").get("bidi_component")[0].proto
    assert sent.ByteSize() - len(sent.json) < 5000


def test_the_own_result_shows_others_as_numbers_and_is_first_once_it_is_open(planned, monkeypatch):
    answer_everything(planned, dict.fromkeys(REVIEWERS, "similar") | {"ada": "dissimilar"})
    own_result.allow(planned, "ada", True, actor="carol", now=NOW)
    path = planned.path

    def titles():
        with open_database(path) as db:
            return titles_of(monkeypatch, db, people.by_name(db, "ada"))[""]

    assert "Your result" not in titles()
    studies.set_state(planned, State.UNBLINDED)
    assert titles()[0] == "Your result"
    page = reviewer_page("result", path, "ada")
    shown = texts(page)
    assert re.search(r"You agree with the majority on 0 of \d+ items?\n", shown)
    assert "Where you stood alone" in shown
    assert "That is place" not in shown
    assert "You labelled 100 % of your items dissimilar; the others gave this label in 0 %." in shown
    assert not re.search(r"\b(ben|cleo|dan)\b", shown)


def test_the_first_visit_says_how_long_it_takes_and_until_when(study):
    with open_database(study) as db:
        coordinating.set_finish_by(db, date(2026, 12, 4), actor="carol", now=NOW)
    page = reviewer_page("first_visit", study, "ada")
    assert "Caches · 5 items, about 1 minute · please finish by 4 December 2026" in texts(page)
    assert [one.proto.shortcut for one in page.button] == ["", ""]  # Enter presses the button that has the focus
