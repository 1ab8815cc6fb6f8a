"""The requests of the review component, through the real gate and routes."""

import gzip
import itertools
import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from labeler.errors import StudyBusy
from labeler.studies.course import calibrating, course, progress, staffing
from labeler.studies.labelling import answering, reviewing, sent_pictures
from labeler.studies.model import PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.results import splits
from labeler.studies.screen.timing import SINCE_SENT
from labeler.studies.store import actions, decisions, events, labels, open_database, opening
from labeler.studies.store.database import connect
from labeler.studies.ui import answers, component, limits
from labeler.studies.ui.app import request_token
from labeler.studies.ui.bodies import BodyRefused, body_of
from tests.conftest import completed
from tests.labeler.studies.ui.clients import BASE, NOW, Browser, client_of, event, gated, join, serving, session_cookie
from tests.making import answer_everything, id_of, make_study

N_ITEMS = 8


@pytest.fixture(autouse=True)
def _three_are_offered(monkeypatch):
    """Few items are offered, so that small studies have items that are not."""
    monkeypatch.setattr(reviewing, "N_OFFERED", 3)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Closed files to be copied: an open study, one in its calibration round, and one that is closed with splits."""
    folder = tmp_path_factory.mktemp("answers")
    for name, plan in {
        "open": PlanParameters(1, per_item=4, overlap=0, retest=0),
        "calibration": PlanParameters(1, per_item=2, overlap=0, retest=0, calibration=2),
    }.items():
        make_study(folder / f"{name}.study", n_items=N_ITEMS, plan=plan)
    with open_database(shutil.copy(folder / "open.study", folder / "closed.study")) as db:
        answer_everything(db, {"ada": "similar", "ben": "similar", "cleo": "dissimilar", "dan": "dissimilar"})
        course.change_state(db, Step.CLOSE, why="complete", actor="carol", now=NOW)
    return folder


@pytest.fixture
def study(made, tmp_path):
    return shutil.copy(made / "open.study", tmp_path / "answers.study")


@pytest.fixture
def closed(made, tmp_path):
    return shutil.copy(made / "closed.study", tmp_path / "closed.study")


@pytest.fixture
def server(study):
    return serving(study)


@pytest.fixture
def ada(server, study):
    return Browser(server, study, "ada")


def stored(study, name="ada"):
    with open_database(study) as db:
        return [str(answer.answer) for answer in labels.own_answers(db, id_of(db, name))]


def test_an_answer_is_saved_and_the_reply_names_the_next_items(ada, study):
    first, second, third = ada.state()["offers"]
    reply = ada.answer(event(first))
    assert (reply.status_code, reply.headers["cache-control"]) == (200, "no-store")
    told = reply.json()
    assert [result["outcome"] for result in told["answers"]] == ["saved"]
    assert (told["done"], told["total"], told["state"], told["last"]["code"]) == (1, N_ITEMS, "open", first["code"])
    assert [offer["code"] for offer in told["offers"]][:2] == [second["code"], third["code"]]
    assert len(told["offers"]) == 3
    assert stored(study) == ["similar"]
    with open_database(study) as db:
        (session,) = labels.table(db)["session"]
    assert session == identity.session_id(ada.session)


@pytest.fixture
def statements(monkeypatch):
    """The statements that SQLite ran since the list was cleared; a trigger repeats the statement that started it."""
    seen = []

    def traced(path, *, mode):
        connection = connect(path, mode=mode)
        connection.set_trace_callback(seen.append)
        return connection

    monkeypatch.setattr(opening, "connect", traced)
    return seen


def test_an_answer_and_a_picture_read_the_study_once(ada, statements):
    first, second, third = (event(offer) for offer in ada.state()["offers"])
    statements.clear()
    for answer, before in ((first, None), (second, first), (third, second)):
        statements.clear()
        told = ada.answer(answer, after=before and before["event_id"]).json()
        assert [result["outcome"] for result in told["answers"]] == ["saved"]
        assert len(list(itertools.groupby(statements))) <= 15, statements
    statements.clear()
    reply = ada.client.get(answers.ITEMS, params={"code": told["offers"][0]["code"]})
    assert reply.json()["items"][0]["panels"]
    assert len(list(itertools.groupby(statements))) <= 12, statements


def test_many_answers_are_stored_in_order_and_a_repeated_request_stores_nothing_again(ada, study):
    offers = ada.state()["offers"]
    events = [event(offer, answer) for offer, answer in zip(offers, ("similar", "dissimilar", "not sure"), strict=True)]
    for _ in range(2):
        outcomes = [result["outcome"] for result in ada.answer(*events).json()["answers"]]
        assert outcomes == ["saved"] * 3
    assert stored(study) == ["similar", "dissimilar", "not sure"]


def test_an_undo_and_a_new_answer_travel_in_the_same_way(ada, study):
    (first, *_) = ada.state()["offers"]
    ada.answer(event(first))
    undone = ada.answer(event(first | {"revision": 1}, "withdrawn")).json()
    assert (undone["offers"][0]["code"], undone["offers"][0]["revision"], undone["done"]) == (first["code"], 2, 0)
    ada.answer(event(undone["offers"][0], "dissimilar", flag=True, comment="look"))
    assert stored(study) == ["similar", "withdrawn", "dissimilar"]


def test_a_refused_answer_says_why_and_the_answers_after_it_are_stored(ada, study):
    first, second, _ = ada.state()["offers"]
    fast, other, good = event(first, dwell_ms=10), event(first, answer="perhaps"), event(second)
    results = ada.answer(fast, other, "garbage", good).json()["answers"]
    assert [result["outcome"] for result in results] == ["refused", "refused", "refused", "saved"]
    assert "less than 250 ms" in results[0]["message"]
    assert [result["event_id"] for result in results] == [fast["event_id"], other["event_id"], None, good["event_id"]]
    assert stored(study) == ["similar"]


def test_while_nothing_can_be_labelled_answers_come_later_and_the_state_says_why(ada, study):
    (first, second, _) = ada.state()["offers"]
    with open_database(study) as db:
        staffing.pause(db, "ada", why="a break", actor="carol", now=NOW)
    told = ada.answer(event(first), event(second)).json()
    assert [result["outcome"] for result in told["answers"]] == ["later", "later"]
    assert (told["state"], told["offers"]) == ("closed", [])
    assert "paused" in told["closed"]
    assert "paused" in told["answers"][1]["message"]
    assert ada.client.get(answers.ITEMS, params={"code": first["code"]}).json()["items"][0].keys() == {
        "code", "message",
    }  # fmt: skip
    with open_database(study) as db:
        staffing.resume(db, "ada", actor="carol", now=NOW)
    assert ada.state()["state"] == "open"
    assert stored(study) == []


def test_a_study_that_cannot_be_written_now_takes_answers_later(ada, study, monkeypatch):
    (first, second, _) = ada.state()["offers"]

    def busy(*_arguments, **_options):
        raise StudyBusy("/srv/secret.study is busy")

    with monkeypatch.context() as trouble:
        trouble.setattr(reviewing, "submit", busy)
        results = ada.answer(event(first), event(second)).json()["answers"]
        assert [(result["outcome"], result["message"]) for result in results] == 2 * [
            ("later", "The study is busy at the moment. Try again.")
        ]
        trouble.setattr(answering, "screen", busy)
        reply = ada.client.get(answers.STATE)
        assert (reply.status_code, reply.json()) == (503, {"message": "The study is busy at the moment. Try again."})


def test_a_fault_of_the_server_is_no_error_page(ada, monkeypatch, caplog):
    monkeypatch.setattr(answering, "screen", lambda *_: 1 / 0)
    reply = ada.client.get(answers.STATE)
    assert (reply.status_code, reply.json()) == (503, {"message": answers.LATER})
    assert "ZeroDivisionError" in caplog.text


def test_the_browser_learns_which_of_its_answers_the_study_has_lost(ada):
    (first, *_) = ada.state()["offers"]
    known = event(first)
    ada.answer(known)
    told = ada.answer(check=[known["event_id"], "lost"]).json()
    assert (told["missing"], told["last_event"]) == (["lost"], known["event_id"])
    assert ada.answer(check=["x"] * 501).status_code == 422


def test_an_answer_that_follows_a_lost_answer_waits_until_that_one_was_sent_again(ada, study):
    first, second, _ = ada.state()["offers"]
    lost, new = event(first), event(second)
    told = ada.answer(new, after=lost["event_id"]).json()
    assert ([result["outcome"] for result in told["answers"]], told["last_event"]) == (["later"], None)
    outcomes = [result["outcome"] for result in ada.answer(lost, new, after=None).json()["answers"]]
    assert outcomes == ["saved", "saved"]
    assert ada.answer(event(first), after=lost["event_id"]).json()["answers"][0]["outcome"] == "refused"
    assert stored(study) == ["similar", "similar"]


def test_items_are_sent_compressed_to_the_reviewer_to_whom_they_are_offered(ada, study):
    codes = [offer["code"] for offer in ada.state()["offers"]]
    reply = ada.client.get(answers.ITEMS, params={"code": codes}, headers={"accept-encoding": "gzip"})
    assert (reply.headers["content-encoding"], reply.headers["cache-control"]) == ("gzip", "no-store")
    items = reply.json()["items"]
    assert [item["code"] for item in items] == codes
    with open_database(study) as db:
        tasks = reviewing.review_queue(db, id_of(db, "ada")).offers
        assert [item["panels"] for item in items] == json.loads(
            json.dumps([reviewing.panels(db, task) for task in tasks])
        )
    plain = ada.client.get(answers.ITEMS, params={"code": codes[0]}, headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert gzip.compress(plain.content) != plain.content


def test_codes_of_others_and_unknown_codes_get_the_same_reply(ada, server, study):
    ben = Browser(server, study, "ben").state()["offers"][0]["code"]
    with open_database(study) as db:
        own = reviewing.review_queue(db, id_of(db, "ada"))
        later = next(
            code for (code,) in db.execute(
                "SELECT code FROM assignments WHERE person_id = ?", (id_of(db, "ada"),)
            ).fetchall() if code not in {task.code for task in own.offers}
        )  # fmt: skip
    replies = [ada.client.get(answers.ITEMS, params={"code": code}).text for code in (ben, "QQQQQQ", later)]
    assert len({reply.replace(code, "CODE") for reply, code in zip(replies, (ben, "QQQQQQ", later), strict=True)}) == 1
    offers = [{"code": code, "revision": 0} for code in (ben, "QQQQQQ", later)]
    results = ada.answer(*map(event, offers)).json()["answers"]
    words = {result["message"].replace(offer["code"], "CODE") for result, offer in zip(results, offers, strict=True)}
    assert len(words) == 1


@pytest.mark.parametrize("params", [{}, {"code": ["A", "B", "C", "D"]}])
def test_a_request_names_one_to_three_items(ada, params):
    assert ada.client.get(answers.ITEMS, params=params).status_code == 400


REQUESTS = [("post", answers.ANSWERS), ("post", answers.DECISIONS), ("get", answers.STATE),
            ("get", f"{answers.ITEMS}?code=A")]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), REQUESTS)
def test_strangers_other_sites_and_other_roles_are_refused(ada, server, study, method, path):
    request = getattr(ada.client, method)
    body = {"content": "{}"} if method == "post" else {}
    for elsewhere in ({"origin": "http://evil.test"}, {"origin": BASE, "sec-fetch-site": "same-site"}):
        assert request(path, headers=ada.headers | elsewhere, **body).status_code == 403
    coordinator = Browser(server, study, "carol", Role.COORDINATOR)
    wrong = ada if "decisions" in path else coordinator
    refused = getattr(wrong.client, method)(path, headers=wrong.headers, **body)
    assert (refused.status_code, refused.json()) == (403, {"message": answers.WRONG_ROLE})
    with open_database(study) as db:
        identity.sign_out(db, ada.session, now=NOW)
    signed_out = request(path, headers=ada.headers, **body)
    ada.client.cookies.clear()
    stranger = request(path, headers=ada.headers, **body)
    assert (signed_out.status_code, stranger.status_code) == (401, 401)
    assert signed_out.json() == stranger.json()
    assert "sign-in link" in stranger.json()["message"]


@pytest.mark.parametrize(
    "path", ["/api/zzz", "/api/state/more", "/api/_stcore/metrics", answers.ANSWERS, "//api/state"]
)
def test_no_other_request_beside_these_gets_past_the_sign_in(study, path):
    anything = Route("/{path:path}", lambda _request: PlainTextResponse("Streamlit"))  # as Streamlit has it
    stranger = client_of(gated([study], *answers.routes(), anything), study)
    assert stranger.get(path).status_code == 303
    assert stranger.head(answers.STATE).status_code == 303


def test_an_unencrypted_page_of_the_same_host_is_another_site(server, study):
    with open_database(study) as db:
        secret = identity.invite(db, "ada", Role.REVIEWER, actor="test", now=NOW)
    client = client_of(server, study, "https://testserver")
    join(client, secret)
    assert (
        client.get(answers.STATE, headers={"origin": "https://testserver", answers.PROTOCOL_HEADER: "1"}).status_code
        == 200
    )
    assert client.get(answers.STATE, headers={"origin": "http://testserver"}).status_code == 403


@pytest.mark.parametrize("token", ["", "0" * 64, request_token("another session")])
def test_an_answer_needs_the_token_of_its_session(ada, study, token):
    (first, *_) = ada.state()["offers"]
    refused = ada.post(answers.ANSWERS, {"answers": [event(first)]}, **{answers.TOKEN_HEADER: token})
    assert (refused.status_code, stored(study)) == (403, [])
    assert ada.state()["token"] == ada.headers[answers.TOKEN_HEADER]


@pytest.mark.parametrize(
    ("content", "status"),
    [(b"", 400), (b"[]", 400), (b"{", 400), (b"\xff", 400), (b"[" * 60_000, 400), (b'{"answers": 3}', 422),
     (b'{"answers": [' + b"1," * 50 + b"1]}", 422), (b'{"check": 3}', 422), (b"{" + b" " * 65_536 + b"}", 413)],
)  # fmt: skip
def test_a_request_that_no_component_sends_is_refused_in_words(ada, study, content, status):
    refused = ada.client.post(answers.ANSWERS, content=content, headers=ada.headers)
    assert (refused.status_code, stored(study)) == (status, [])
    assert refused.json()["message"].endswith("Reload the page to continue.")


def test_a_person_has_a_bounded_number_of_requests_per_second_in_all_sessions(study, monkeypatch):
    monkeypatch.setattr(answers, "MOMENT_S", 0.0)
    monkeypatch.setattr(answers, "RateLimit", lambda per_s: limits.RateLimit(per_s, clock=lambda: 0.0))
    server = serving(study)
    ada, again, ben = (Browser(server, study, name) for name in ("ada", "ada", "ben"))
    monkeypatch.setattr(answers, "REFUSAL_S", 0.02)
    begun = time.monotonic()
    statuses = [browser.client.get(answers.STATE).status_code for _ in range(20) for browser in (ada, again)]
    assert (statuses.count(200), statuses.count(429)) == (answers.WORK_PER_S, 40 - answers.WORK_PER_S)
    assert time.monotonic() - begun >= 20 * 0.02  # refusals at once would let a program ask as fast as it can
    assert ben.client.get(answers.STATE).status_code == 200


def test_answers_count_and_not_requests(study, monkeypatch):
    monkeypatch.setattr(answers, "RateLimit", lambda per_s: limits.RateLimit(per_s, clock=lambda: 0.0))
    monkeypatch.setattr(answers, "MOMENT_S", 0.0)
    ada = Browser(serving(study), study, "ada")
    (first, *_) = ada.client.get(answers.STATE).json()["offers"]
    said = [event(first | {"revision": n}, ("similar", "withdrawn")[n % 2]) for n in range(answers.WORK_PER_S - 1)]
    assert ada.answer(*said).status_code == 200
    assert (ada.answer(event(first)).status_code, len(stored(study))) == (429, answers.WORK_PER_S - 1)


def test_what_a_person_may_do_per_second_comes_back():
    now = [0.0]
    rate = limits.RateLimit(20, clock=lambda: now[0])
    assert [rate.allows("ada") for _ in range(21)] == [True] * 20 + [False]
    assert rate.allows("ben")
    now[0] = 0.05
    assert [rate.allows("ada"), rate.allows("ada")] == [True, False]
    assert rate.wait_s("ada", cost=100) == pytest.approx(1.0)
    now[0] = 60
    assert rate.wait_s("ada", cost=100) == 0
    assert rate.wait_s("ada") == pytest.approx(81 / 20)


def test_answers_at_the_same_time_are_all_stored(server, study):
    browsers = [Browser(server, study, name) for name in ("ada", "ben", "cleo")]

    def label_all(browser):
        for _ in range(N_ITEMS):
            (offer, *_) = browser.state()["offers"]
            assert browser.answer(event(offer)).json()["answers"][0]["outcome"] == "saved"

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(label_all, browsers))
    assert [len(stored(study, name)) for name in ("ada", "ben", "cleo")] == [N_ITEMS] * 3
    assert {browser.state()["state"] for browser in browsers} == {"done"}


def test_fifty_answers_given_without_a_connection_are_stored_by_one_request(ada, study):
    (first, *_) = ada.state()["offers"]
    said = ["similar", "withdrawn"] * (answering.MAX_EVENTS // 2)
    events_sent = [event(first | {"revision": n}, answer) for n, answer in enumerate(said)]
    told = ada.answer(*events_sent).json()
    assert [result["outcome"] for result in told["answers"]] == ["saved"] * answering.MAX_EVENTS
    assert (stored(study), told["last_event"]) == (said, events_sent[-1]["event_id"])


def test_a_coordinator_decides_a_reference_label_by_key(made, tmp_path):
    path = shutil.copy(made / "calibration.study", tmp_path / "calibration.study")
    carol = Browser(serving(path), path, "carol", Role.COORDINATOR)
    with open_database(path) as db:
        name = calibrating.item_names(db)[0]
        good = {"kind": "reference", "item": name, "category": "dissimilar", "why": ""}
        for category in ("similar", "dissimilar", "dissimilar"):
            reply = carol.post(answers.DECISIONS, good | {"category": category})
            assert (reply.status_code, reply.json()) == (200, {"outcome": "saved"})
            assert calibrating.reference(db) == {name: category}
        for wrong in ({"item": "nothing"}, {"category": "withdrawn"}, {"category": None}, {"kind": "labels"}):
            assert carol.post(answers.DECISIONS, good | {"category": "similar"} | wrong).status_code == 422
        assert carol.post(answers.DECISIONS, {}).status_code == 422
        assert calibrating.reference(db) == {name: "dissimilar"}


def decisions_and_events(db):
    """The decisions and the log entries, without times and event ids."""
    made = [(one.item, one.category, one.why) for one in decisions.everything(db)]
    return made, [one.details for one in events.of_actions(db, [actions.ADJUDICATE])]


def test_decisions_on_split_items_are_stored_and_logged(closed):
    carol = Browser(serving(closed), closed, "carol", Role.COORDINATOR)
    with open_database(closed) as db:
        first, second, *_ = (split.item.name for split in splits.split_items(db))
        decided = [(first, "similar", "one level"), (second, "dissimilar", "x"), (first, "dissimilar", "y")]
        for item, category, why in decided:
            decision = {"kind": "split", "item": item, "category": category, "why": f" {why} "}
            assert carol.post(answers.DECISIONS, decision).status_code == 200
        made, logged = decisions_and_events(db)
    assert made == decided
    assert [(one["item"], one["category"], one["why"]) for one in logged] == decided


@pytest.mark.parametrize(
    ("change", "words"),
    [({"why": " "}, "Give a reason of 1 to 1000 characters"), ({"why": "x" * 1001}, "Give a reason"),
     ({"category": None}, "The decision has no category"), ({"category": "not sure"}, "cannot be read"),
     ({"category": 3}, "cannot be read"), ({"why": None}, "cannot be read"), ({"item": "nowhere"}, "no item 'nowhere'"),
     ({"item": ["x"]}, "cannot be read"), ({"kind": "reference"}, "not in the calibration round"),
     ({"kind": "__init__"}, "cannot be read")],
)  # fmt: skip
def test_a_decision_that_the_service_refuses_is_refused_in_words(closed, change, words):
    carol = Browser(serving(closed), closed, "carol", Role.COORDINATOR)
    with open_database(closed) as db:
        item = splits.split_items(db)[0].item.name
        decision = {"kind": "split", "item": item, "category": "similar", "why": "one level"} | change
        refused = carol.post(answers.DECISIONS, decision)
        assert (refused.status_code, decisions_and_events(db)) == (422, ([], []))
    assert words in refused.json()["message"]


@pytest.mark.parametrize("role", Role)
def test_reviewers_and_coordinators_who_labelled_the_item_cannot_decide(closed, role):
    with open_database(closed) as db:
        if role is Role.COORDINATOR:  # ada labelled all items before
            db.execute("UPDATE people SET is_reviewer = 0, is_coordinator = 1 WHERE name = 'ada'")
        item = splits.split_items(db)[0].item.name
        decision = {"kind": "split", "item": item, "category": "similar", "why": "one level"}
        refused = Browser(serving(closed), closed, "ada", role).post(answers.DECISIONS, decision)
        status, words = (403, answers.WRONG_ROLE) if role is Role.REVIEWER else (422, "You labelled")
        assert (refused.status_code, decisions_and_events(db)) == (status, ([], []))
    assert words in refused.json()["message"]


def test_the_page_and_the_server_of_one_version_have_one_protocol_number():
    script = Path(component.__file__).parent / "js" / "requests.js"
    assert f'const PROTOCOL = "{answers.PROTOCOL}";' in script.read_text(encoding="utf-8")


@pytest.mark.parametrize(("path", "number"), [*zip(answers.METHODS, ["0", "2", "", "١", "0"], strict=True)])
def test_a_page_of_another_version_is_asked_to_reload_whoever_is_signed_in(study, ada, path, number):
    (offer, *_) = ada.state()["offers"]
    body = json.dumps({"answers": [event(offer)]}) if answers.METHODS[path] == "POST" else None
    for own in (ada.headers, {"cookie": "name=value"}):
        sent = own | {answers.PROTOCOL_HEADER: number.encode()}
        refused = ada.client.request(answers.METHODS[path], f"{path}?code=ABC", content=body, headers=sent)
        assert (refused.status_code, refused.json()["message"]) == (409, answers.OTHER_VERSION)
    assert stored(study) == []


@pytest.mark.parametrize(
    ("more", "status"),
    [({"cookie": "name=value"}, 401), ({"x-labeler-token": "wrong"}, 403), ({"transfer-encoding": "chunked"}, 411)],
)
def test_no_body_is_read_before_session_token_and_length_are_right(study, ada, more, status):
    read = []

    def parts():
        read.append(1)
        yield b"{}"

    request = ada.client.build_request("POST", answers.ANSWERS, content=parts(), headers=ada.headers | more)
    refused = ada.client.send(request)
    assert (refused.status_code, refused.headers["connection"]) == (status, "close")
    assert stored(study) == []


def test_a_body_in_tiny_parts_is_not_read_to_its_end():
    sent = []

    async def receive():
        sent.append(1)
        return {"type": "http.request", "body": b"x", "more_body": True}

    scope = {"type": "http", "method": "POST", "headers": [(b"content-length", b"60000")]}
    with pytest.raises(BodyRefused):
        completed(body_of(Request(scope, receive), 64_000))
    assert len(sent) < 100


def test_sessions_that_the_study_does_not_know_leave_nothing_behind(study, server):
    client = client_of(server, study)
    for number in range(5):
        made_up = f"{number:043d}" if number else "x" * 60_000
        cookie = {"cookie": f"{session_cookie(study)}={made_up}"}
        assert client.get(answers.STATE, headers=cookie).status_code == 401
    (one,) = server.user_middleware[0].kwargs["studies"].all()
    requests = one.part(answers._Requests)
    assert (len(requests.known), len(requests.rate._left)) == (0, 0)


def test_the_time_of_an_answer_is_cut_to_the_time_since_its_picture_was_sent_and_pictures_never_sent_are_counted(
    monkeypatch, study
):
    seconds = itertools.count(step=3)
    monkeypatch.setattr(sent_pictures.PICTURES, "clock", lambda: float(next(seconds)))
    ada = Browser(serving(study), study, "ada")

    def stored(offer):
        assert ada.answer(event(offer, dwell_ms=13_000)).json()["answers"][0]["outcome"] == "saved"
        with open_database(study) as db:
            return labels.own_answers(db, id_of(db, "ada"))[-1]

    anew, *others = ada.state()["offers"]  # another process may have sent these pictures
    ada.client.get(answers.ITEMS, params={"code": anew["code"]})
    assert stored(anew).view[SINCE_SENT] == 3_000
    earlier = [stored(offer) for offer in others]
    assert {answer.dwell_ms for answer in earlier} == {13_000}
    assert not any(SINCE_SENT in answer.view for answer in earlier)
    unseen, seen = ada.state()["offers"][:2]
    assert stored(unseen).view[SINCE_SENT] is None
    ada.client.get(answers.ITEMS, params={"code": seen["code"]})
    assert stored(seen).view[SINCE_SENT] == 3_000
    with open_database(study) as db:
        (pace,) = [pace for pace in progress.reviewer_paces(db, now=NOW) if pace.reviewer == "ada"]
    assert pace.n_unseen == 1


def test_a_browser_cannot_say_when_its_picture_was_sent(study):
    ada = Browser(serving(study), study, "ada")
    (offer, *_) = ada.state()["offers"]
    ada.answer(event(offer, view={"axis": "core", SINCE_SENT: 10**9}))
    with open_database(study) as db:
        assert SINCE_SENT not in labels.own_answers(db, id_of(db, "ada"))[-1].view
