"""One link for all, in browsers of people who are not signed in, and on the page People."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest

from labeler.studies.course import joining
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.store import open_database
from labeler.studies.ui import sign_in
from labeler.studies.ui.coordinator.joining import describe
from tests.labeler.studies.ui import clients
from tests.labeler.studies.ui.clients import client_of, session_cookie
from tests.labeler.studies.ui.pages import button, checked, coordinator_page, texts
from tests.making import make_study, offers
from tests.sentences import says

NOW = datetime.now(UTC)
WHO = {"actor": "carol", "now": NOW}


@pytest.fixture
def path(masters, tmp_path):
    return shutil.copy(masters["planned"], tmp_path / "open.study")


@pytest.fixture
def server(path):
    return clients.serving(path)


def open_link(path, *, admits=0, asks_email=False, days=1):
    until = NOW.date() + timedelta(days=days)
    with open_database(path) as db:
        return joining.open_link(db, admits=admits, until=until, asks_email=asks_email, **WHO)


def ask(browser, link, name, email="", **headers):
    own = {"origin": clients.BASE, "content-type": "application/x-www-form-urlencoded", **headers}
    return browser.post("/ask", content=urlencode({"link": link, "name": name, "email": email}), headers=own)


def own_link(reply):
    assert reply.status_code == 303
    return reply.headers["location"].rpartition("/")[2]


def waiting(path):
    with open_database(path) as db:
        return [one.name for one in joining.waiting(db)]


def admit_all(path):
    with open_database(path) as db:
        joining.admit(db, [one.secret_hash for one in joining.waiting(db)], **WHO)


def test_who_asks_waits_on_an_own_page_which_signs_in_once_admitted(path, server):
    link, browser = open_link(path), client_of(server, path)
    page = browser.get(f"/join/{link}")
    assert says(page.text, "take part in the study “Caches”") and "e-mail" not in page.text
    assert waiting(path) == []  # opening the link, as a preview does, asks nothing
    own = own_link(ask(browser, link, "Eve"))
    page = browser.get(f"/join/{own}")
    assert (page.status_code, page.headers["refresh"]) == (200, "10")
    assert says(page.text, "A coordinator will let you in.")
    assert clients.join(browser, own).status_code == 200  # a pasted link does not let in either
    assert session_cookie(path) not in browser.cookies
    admit_all(path)
    assert clients.join(browser, own).status_code == 303
    assert session_cookie(path) in browser.cookies
    with open_database(path) as db:
        assert offers(db, "Eve")


def test_a_link_that_admits_by_itself_lets_in_at_once_and_says_nothing_of_equal_names(path, server):
    link, browser = open_link(path, admits=2), client_of(server, path)
    own = own_link(ask(browser, link, "ada"))
    assert clients.join(browser, own).status_code == 303
    other = client_of(server, path)
    other.cookies.update(browser.cookies)
    page = clients.join(other, own_link(ask(other, link, "Ben")))  # this browser is signed in
    assert says(page.text, "You are signed in as ada. Continue as Ben?")


def test_the_form_asks_for_an_address_only_if_the_link_does_and_keeps_what_was_written(path, server):
    link, browser = open_link(path, asks_email=True), client_of(server, path)
    assert 'name="email"' in browser.get(f"/join/{link}").text
    page = ask(browser, link, '"><script>', "nobody")
    assert page.status_code == 400 and says(page.text, "is not an e-mail address")
    assert "<script>" not in page.text and 'value="&quot;&gt;&lt;script&gt;"' in page.text
    assert waiting(path) == []


def test_unknown_ended_and_full_links_give_the_same_bytes_and_count_as_wrong(path, server):
    used = open_link(path, admits=1)
    browser = client_of(server, path)
    ask(browser, used, "Eve")
    pages = [browser.get(f"/join/{used}"), browser.get("/join/unknown")]
    ended = open_link(path)
    with open_database(path) as db:
        joining.end_link(db, **WHO)
    pages += [browser.get(f"/join/{ended}"), ask(browser, ended, "Fay"), ask(browser, used, "Fay"),
              ask(browser, "unknown", "Fay")]  # fmt: skip
    assert {(page.status_code, page.text) for page in pages} == {(403, pages[0].text)}
    for _ in range(4):
        browser.get("/join/unknown")
    blocked = browser.get(f"/join/{open_link(path)}")
    assert blocked.status_code == 429 and blocked.headers["refresh"] == blocked.headers["retry-after"]


def test_too_many_requests_from_one_address_wait(path, server, monkeypatch):
    monkeypatch.setattr(sign_in, "N_ASKS", 3)
    link, browser = open_link(path), client_of(server, path)
    statuses = [ask(browser, link, f"person {number}").status_code for number in range(4)]
    assert (statuses, len(waiting(path))) == ([303, 303, 303, 429], 3)


def test_people_who_ask_at_once_get_no_more_places_than_there_are(path, server):
    link = open_link(path, admits=3)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda number: ask(client_of(server, path), link, f"person {number}"), range(8)))
    assert sorted(reply.status_code for reply in replies) == [303] * 3 + [403] * 5
    with open_database(path) as db:
        assert sum(one.name.startswith("person") for one in identity.everyone(db)) == 3


def test_the_link_of_one_study_is_unknown_in_another_on_the_same_server(path, tmp_path):
    other = make_study(tmp_path / "other.study", created=NOW - timedelta(days=1))
    server, link = clients.serving(path, other), open_link(path)
    own = own_link(ask(client_of(server, path), link, "Eve"))
    there = client_of(server, other)
    assert [there.get(f"/join/{secret}").status_code for secret in (link, own)] == [403, 403]
    assert (ask(there, link, "Eve").status_code, waiting(other)) == (403, [])


@pytest.mark.parametrize(
    ("headers", "status"), [({"origin": "http://evil.test"}, 403), ({"sec-fetch-site": "cross-site"}, 403)]
)
def test_another_site_cannot_ask_for_somebody(path, server, headers, status):
    assert ask(client_of(server, path), open_link(path), "Eve", **headers).status_code == status
    assert waiting(path) == []


def test_a_form_that_is_too_long_is_refused(path, server):
    assert ask(client_of(server, path), open_link(path), "x" * 5000).status_code == 413
    assert waiting(path) == []


def people_page(path, **state):
    return coordinator_page("People", "", path, **{"fold-link-for-all": True, **state})


def test_the_page_people_creates_the_link_shows_it_and_ends_it(path, server):
    page = people_page(path)
    assert any(one.label == "Last day (UTC)" for one in page.date_input)
    button(page, "Create the link").click().run()
    (url,) = [code.value for code in checked(page).code if "/join/" in code.value]
    assert any("QR code of the link" in one.proto.body for one in page.get("html"))
    own_link(ask(client_of(server, path), url.rpartition("/")[2], "Eve"))
    page = people_page(path)
    assert says(texts(page), "give a name and wait to be admitted; 1 so far")
    assert "/join/" not in texts(page)  # another window does not know it
    button(page, "End the link").click().run()
    with open_database(path) as db:
        assert joining.current(db).link is None
    assert waiting(path) == ["Eve"]


def test_one_click_admits_all_who_wait_or_those_who_are_chosen(path, server):
    link, browser = open_link(path), client_of(server, path)
    for name in ("Eve", "ada", "<b>Gil</b>", "Hal"):
        ask(browser, link, name)
    page = people_page(path)
    assert page.dataframe[0].value["Name"].tolist()[:2] == ["Eve", "ada (2)"]
    (whom,) = page.multiselect
    assert whom.options == ["Eve", "ada (2)", "<b>Gil</b>", "Hal"]
    whom.select(whom.options[2]).run()
    button(page, "Turn 1 person away").click().run()
    assert checked(page).success[0].value == "1 person turned away."
    assert waiting(path) == ["Eve", "ada (2)", "Hal"]
    button(page, "Admit 3 people").click().run()
    assert checked(page).success[0].value.startswith("3 people admitted. Eve: ")
    assert waiting(path) == []
    with open_database(path) as db:
        assert {"Eve", "ada (2)", "Hal"} <= {one.name for one in identity.everyone(db)}


def test_the_page_says_whose_address_another_person_has(path, server):
    with open_database(path) as db:
        identity.set_email(db, "ada", Role.REVIEWER, "ada@example.org", **WHO)
    link, browser = open_link(path, asks_email=True), client_of(server, path)
    reply = ask(browser, link, "Eve", "ada@example.org")
    assert own_link(reply)
    page = people_page(path)
    button(page, "Admit 1 person").click().run()
    assert says(checked(page).success[0].value, "another person has it: Eve", "ada@example.org")


def test_who_waits_is_a_thing_that_waits_for_coordinators(path, server):
    link, browser = open_link(path), client_of(server, path)
    for name, words in (("Eve", "waits to be admitted"), ("Fay", "wait to be admitted")):
        ask(browser, link, name)
        assert says(texts(coordinator_page("Study", "Overview", path)), words)


@pytest.mark.parametrize(
    ("admits", "n_asked", "days", "sentence"),
    [
        (0, 0, 0, "Until 28 November 2026, people who open the link give a name and wait to be admitted; 0 so far."),
        (30, 1, 0, "Until 28 November 2026, the link admits up to 30 people by itself; 1 so far."),
        (2, 2, 0, "The link has admitted 2 people, as many as it may, and lets nobody in any more."),
        (2, 1, 1, "The link ended after 28 November 2026; 1 person used it."),
    ],
)
def test_the_page_says_what_the_link_does(admits, n_asked, days, sentence):
    at = datetime(2026, 11, 28, 12, tzinfo=UTC)
    link = joining.LinkForAll("", admits, at.date(), asks_email=False, n_asked=n_asked)
    assert describe(link, at + timedelta(days=days)) == sentence
