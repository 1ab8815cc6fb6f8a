"""Several studies on one server: addresses, sessions, a folder that changes, and the page Studies."""

import json
import re
import shutil
import threading
from datetime import timedelta

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from labeler.studies.course import coordinating
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.store import open_database
from labeler.studies.ui import answers, sign_in
from labeler.studies.ui.served import PERSON_HEADER, ServedStudies
from tests.labeler.studies.ui import clients
from tests.labeler.studies.ui.clients import BASE, NOW, Browser, client_of, join, served_study
from tests.making import NOW as MADE, make_study
from tests.sentences import says


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two studies, in which the same people have the same numbers, to be copied."""
    folder = tmp_path_factory.mktemp("served")
    for day, name in enumerate(("first", "second")):
        created = MADE + timedelta(days=day)
        make_study(folder / f"{name}.study", n_items=6, plan=True, name=f"The {name} study", created=created)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """A folder with the two studies."""
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


async def echo(websocket):
    await websocket.accept()
    await websocket.send_text(websocket.headers[PERSON_HEADER])
    await websocket.close()


PAGES = (
    Route("/", lambda _request: PlainTextResponse("the application")),
    Route("/media/x", lambda _request: PlainTextResponse("a download")),
    WebSocketRoute("/_stcore/stream", echo),
)


def of_folder(folder):
    """The studies of a folder, and the application in front of which the gate stands."""
    studies = ServedStudies(folder=folder)
    routes = [*sign_in.routes(), *answers.routes(), *PAGES]
    return studies, clients.gated_studies(studies, *routes)


def test_a_session_of_one_study_opens_nothing_of_another(folder):
    first, second = folder / "first.study", folder / "second.study"
    _, server = of_folder(folder)
    ada = Browser(server, first, "ada")
    there = client_of(server, second)
    for name in (served_study(first).cookie, served_study(second).cookie):  # also if a person renames the cookie
        there.cookies.set(name, ada.session)
    assert [there.get(path).status_code for path in ("/", "/media/x", answers.STATE)] == [303, 303, 401]
    assert there.post(answers.ANSWERS, content="{}", headers=ada.headers).status_code == 401
    with pytest.raises(WebSocketDisconnect), there.websocket_connect(f"{served_study(second).base}/_stcore/stream"):
        pass
    assert ada.client.get("/").text == "the application"


def test_people_of_two_studies_with_the_same_number_are_told_apart_and_browsers_cannot_say_who_they_are(folder):
    _, server = of_folder(folder)
    seen = []
    for path in (folder / "first.study", folder / "second.study"):
        ada = Browser(server, path, "ada")
        forged = {PERSON_HEADER: "anything 1", "origin": BASE}
        with ada.client.websocket_connect(f"{served_study(path).base}/_stcore/stream", headers=forged) as stream:
            seen.append(stream.receive_text())
    (one, person), (other, same) = (text.split() for text in seen)
    assert (person, one, other) == (
        same,
        *(served_study(folder / f"{name}.study").study_id for name in ("first", "second")),
    )


def test_signing_out_of_one_study_leaves_the_other(folder):
    _, server = of_folder(folder)
    ada, other = (Browser(server, folder / f"{name}.study", "ada") for name in ("first", "second"))
    other.client.cookies.update(ada.client.cookies)
    gone = other.client.post("/sign-out", headers={"origin": BASE})
    owner = re.search(r'includes\("-(\w+)-"\)', gone.text)[1]
    assert owner == other_mark(folder / "second.study") != other_mark(folder / "first.study")
    assert (other.client.get("/").status_code, ada.client.get("/").status_code) == (303, 200)


def other_mark(path):
    from labeler.studies.labelling import reviewing

    with open_database(path) as db:
        return reviewing.browser_owner(
            coordinating.get_study(db), next(one for one in identity.everyone(db) if one.name == "ada")
        )


def test_a_link_that_is_pasted_in_another_study_opens_its_own(folder):
    _, server = of_folder(folder)
    with open_database(folder / "second.study") as db:
        path = identity.sign_in_path(db, identity.invite(db, "ben", Role.REVIEWER, actor="test", now=NOW))
    there = client_of(server, folder / "first.study")
    reply = there.post("/sign-in", data={"link": f"http://localhost{path}?x"}, headers={"origin": BASE})
    assert (reply.status_code, reply.headers["location"]) == (303, path)


@pytest.mark.parametrize(
    ("path", "status"),
    [("/s", 404), ("/s/", 404), ("/s/000000000000/", 404), ("/s/../", 200), ("/label", 404), ("/", 200),
     ("/_stcore/host-config", 404), ("/static/js/index.js", 404), ("/api/state", 404), ("/join/x", 404),
     ("/s/000000000000/api/state", 404), ("/s/000000000000/join/x", 404)],
)  # fmt: skip
def test_an_address_of_no_study_gives_one_reply(folder, path, status):
    _, server = of_folder(folder)
    assert TestClient(server, base_url=BASE, follow_redirects=False).get(path).status_code == status


def test_the_address_of_a_study_needs_no_slash_and_a_single_file_no_path(folder):
    study = served_study(folder / "first.study")
    browser = TestClient(clients.serving(study.path), base_url=BASE, follow_redirects=False)
    assert [browser.get(path).headers["location"] for path in ("/", study.base)] == [f"{study.base}/"] * 2


def test_files_that_are_damaged_copied_in_or_renamed_leave_the_others_alone(folder, caplog):
    (folder / "noise.study").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    (folder / "empty.study").touch()
    studies, _ = of_folder(folder)
    first, second = (served_study(folder / f"{name}.study").study_id for name in ("first", "second"))
    assert {study.study_id for study in studies.all()} == {first, second}
    assert says(caplog.text, "noise.study is not served") and says(caplog.text, "empty.study is not served")
    shutil.copy(folder / "first.study", folder / "copy.study")
    caplog.clear()
    studies.look()
    studies.look()
    assert caplog.text.count("copy.study is not served, because it is a copy of the study first.study") == 1
    (folder / "second.study").rename(folder / "renamed.study")
    studies.look()
    assert studies.find(second).path == folder / "renamed.study"
    (folder / "first.study").unlink()  # the copy does not take its place without a restart
    studies.look()
    assert studies.find(first).path == folder / "first.study"


def test_a_file_that_another_study_replaces_is_the_other_study_from_then_on(folder):
    studies, _ = of_folder(folder)
    first, second = (served_study(folder / f"{name}.study") for name in ("first", "second"))
    shutil.copy(folder / "first.study", folder / "kept")
    (folder / "second.study").unlink()
    make_study(folder / "new", n_items=2, created=MADE + timedelta(days=9))
    (folder / "new").rename(folder / "second.study")
    studies.look()
    new = served_study(folder / "second.study")
    assert {study.study_id for study in studies.all()} == {first.study_id, new.study_id}
    assert studies.find(second.study_id) is None


def test_people_of_a_removed_study_keep_their_answers_and_the_others_go_on(folder):
    _, server = of_folder(folder)
    ada, ben = Browser(server, folder / "first.study", "ada"), Browser(server, folder / "second.study", "ben")
    (folder / "first.study").rename(folder / "gone")
    assert [ada.client.get(path).status_code for path in ("/", answers.STATE)] == [503, 503]
    assert "missing at the moment" in ada.client.get("/").text
    assert ben.client.get(answers.STATE).status_code == 200


def test_a_locked_study_delays_nobody_of_another(folder, monkeypatch):
    studies, server = of_folder(folder)
    ada, ben = Browser(server, folder / "first.study", "ada"), Browser(server, folder / "second.study", "ben")
    locked, waits = studies.find(served_study(folder / "first.study").study_id), threading.Event()
    monkeypatch.setattr(locked, "open", lambda: waits.wait(60) and open_database(locked.path))
    statuses = []
    protocol = {answers.PROTOCOL_HEADER: answers.PROTOCOL}
    with TestClient(server, base_url=BASE, headers=protocol, follow_redirects=False) as shared:  # one event loop
        headers = {"cookie": "; ".join(f"{name}={value}" for name, value in ada.client.cookies.items())}

        def ask():
            statuses.append(shared.get(f"{locked.base}/", headers=headers).status_code)

        waiting = [threading.Thread(target=ask) for _ in range(30)]
        for thread in waiting:
            thread.start()
        own = {"cookie": "; ".join(f"{name}={value}" for name, value in ben.client.cookies.items())}
        base = served_study(folder / "second.study").base
        for path in ("/", answers.STATE, "/sign-in"):
            assert shared.get(f"{base}{path}", headers=own).status_code == 200
        assert statuses == []
        waits.set()
        for thread in waiting:
            thread.join(60)
    assert statuses == [200] * 30


def listed(page):
    """Return the studies of which the page Studies asks."""
    return json.loads(re.search(r"const \[ids, path, headers, none\] = (\[.*\]);", page.text)[1])[0]


def test_the_page_studies_lists_only_studies_of_this_browser_and_each_says_what_waits(folder):
    _, server = of_folder(folder)
    browser = client_of(server, folder / "first.study")
    outside = TestClient(server, base_url=BASE, cookies=browser.cookies, follow_redirects=False)
    assert listed(outside.get("/")) == []
    found = {}
    for name, person, role in (("first", "ada", Role.REVIEWER), ("second", "carol", Role.COORDINATOR)):
        with open_database(folder / f"{name}.study") as db:
            secret = identity.invite(db, person, role, actor="test", now=NOW)
        own = client_of(server, folder / f"{name}.study")
        own.cookies.update(outside.cookies)
        join(own, secret)
        outside.cookies.update(own.cookies)
        found[name] = own.get(answers.SUMMARY).json()
    ids = [served_study(folder / f"{name}.study").study_id for name in ("second", "first")]
    assert listed(outside.get("/")) == ids
    assert found["first"] == {
        "name": "The first study", "person": "ada", "roles": "reviewer", "state": "open",
        "waits": found["first"]["waits"],
    }  # fmt: skip
    assert says(found["first"]["waits"], "Left:", "items")
    assert (found["second"]["roles"], found["second"]["person"]) == ("coordinator", "carol")
    stranger = client_of(server, folder / "first.study")
    assert stranger.get(answers.SUMMARY).status_code == 401


def test_only_the_holder_of_the_start_link_creates_studies(folder):
    studies, server = of_folder(folder)
    browser = TestClient(server, base_url=BASE, follow_redirects=False)
    form = {"data": {"name": "Third"}, "headers": {"origin": BASE}}
    assert "/create" not in browser.get("/").text and browser.post("/create", **form).status_code == 403
    assert browser.get("/start/wrong").status_code == 403
    start = f"/start/{studies.start_secret}"
    assert "set-cookie" not in browser.get(start).headers  # a preview of the link changes nothing
    assert browser.post(start, headers={"origin": "http://evil.test"}).status_code != 303
    assert browser.post(start, headers={"origin": BASE}).headers["location"] == "/"
    assert "/create" in browser.get("/").text
    assert browser.post("/create", data={"name": "x"}, headers={"origin": "http://evil.test"}).status_code == 403
    refused = browser.post("/create", data={"name": "../x"}, headers={"origin": BASE})
    assert refused.status_code == 400 and says(refused.text, "not a valid file name")
    link = browser.post("/create", **form).headers["location"]
    assert join(client_of(server, folder / "Third.study"), link.rpartition("/")[2]).status_code == 303
    assert browser.post("/create", **form).status_code == 400  # the file is there


def test_a_server_of_one_file_has_no_start_link(folder):
    browser = TestClient(clients.serving(folder / "first.study"), base_url=BASE, follow_redirects=False)
    assert [browser.get(f"/start/{secret}").status_code for secret in ("x", "%20")] == [403, 403]
