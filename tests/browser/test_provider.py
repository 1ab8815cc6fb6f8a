"""Sign in through an identity provider, in a real browser and with a real provider."""

import json
import os
import random
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
from itsdangerous import TimestampSigner, URLSafeTimedSerializer
from playwright.sync_api import Browser, Page, expect

from labeler.studies.course import coordinating
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.store import open_database
from labeler.studies.ui.served import SESSION_COOKIE
from tests.browser.conftest import Served, free_port, serve_command, start_server, stop_server, welcome
from tests.browser.hands import item_on_screen
from tests.browser.provider import COOKIE_SECRET, Provider, new_key, providing, write_secrets
from tests.browser.studies import make, many
from tests.conftest import some_slow

pytestmark = pytest.mark.browser

LINK = "Sign in with the account of your organisation"
USER_COOKIE = "_streamlit_user"
SIGNED = ("ada", "ben", "cleo", "dan")  # the reviewers, each with an address and an account


@contextmanager
def running(folder: Path, port: int) -> Iterator[Served]:
    """A server started in a folder, which reads only the .streamlit/secrets.toml there."""
    study = folder / "provider.study"
    make(study, many(3), reviewers=SIGNED)
    with open_database(study) as db:
        for name in SIGNED:
            identity.set_email(db, name, Role.REVIEWER, f"{name}@Example.ORG", actor="carol", now=datetime.now(UTC))
        welcome(db)
    with (folder / "server.log").open("wb") as log:
        environment = {**os.environ, "HOME": str(folder)}
        process = start_server(study, port, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            yield Served(study, f"http://127.0.0.1:{port}", {}, process)
        finally:
            stop_server(process)


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Provider]]:
    folder, port = tmp_path_factory.mktemp("provider"), free_port()
    with providing(f"http://127.0.0.1:{port}/oauth2callback") as provider:
        write_secrets(folder, provider)
        for name in SIGNED:
            provider.knows(address(name))
        with running(folder, port) as served:
            yield served, provider


@pytest.fixture(scope="module")
def served(started: tuple[Served, Provider]) -> Served:
    return started[0]


@pytest.fixture
def provider(started: tuple[Served, Provider]) -> Provider:
    started[1].forget()
    return started[1]


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with running(tmp_path_factory.mktemp("without"), free_port()) as served:
        yield served


def address(name: str) -> str:
    return f"{name.title()}@example.org"  # in other letter case than in the study


def click(page: Page, role: Literal["button", "link"], name: str) -> None:
    """Click a link to another page, and wait until the browser is there."""
    with page.expect_navigation(wait_until="commit"):
        page.get_by_role(role, name=name).click()


def follow_link(page: Page, served: Served) -> None:
    page.goto(f"{served.url}/sign-in")
    click(page, "link", LINK)


def enter(page: Page, served: Served, provider: Provider, name: str) -> None:
    """Sign in through the provider, which asks no question."""
    provider.signed_in = address(name)
    follow_link(page, served)
    assert page.url == f"{served.url}/"


def leave(page: Page, served: Served) -> None:
    page.goto(f"{served.url}/sign-out")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out.")).to_be_visible()


def person_on_screen(page: Page) -> str:
    # the last menu has the person's name; while Streamlit measures the navigation, there is only "5 more"
    menu = page.get_by_test_id("stTopNavSection").filter(has_not_text=re.compile(r"\d+ more")).last
    menu.wait_for()
    return menu.inner_text().split("\n")[0].strip()


def names_of_cookies(page: Page) -> set[str]:
    return {cookie["name"] for cookie in page.context.cookies()}


def kept(page: Page) -> set[str]:
    """Return the cookies that identify a person."""
    return {name for name in names_of_cookies(page) if name.startswith((SESSION_COOKIE, USER_COOKIE))}


def is_out(page: Page, served: Served) -> bool:
    """Return whether opening the application leads to the sign-in page."""
    page.goto(served.origin, wait_until="commit")
    return page.url == f"{served.url}/sign-in"


def test_who_follows_the_link_is_back_as_the_person_of_their_address(page, served, provider):
    page.goto(served.url)
    click(page, "link", LINK)
    assert page.url.startswith(f"{provider.url}/authorize?")
    click(page, "button", address("ada"))
    item_on_screen(page)
    assert page.url == f"{served.url}/"  # neither the code nor the state
    assert kept(page) == {served.cookie}
    session = next(cookie for cookie in page.context.cookies() if cookie["name"] == served.cookie)
    assert (session["httpOnly"], session["sameSite"], session["path"]) == (True, "Lax", urlsplit(served.url).path)
    assert person_on_screen(page) == "ada"


@pytest.mark.slow
def test_a_long_account_comes_in_as_well_and_leaves_nothing_in_the_browser(page, served, provider):
    letters = random.Random(7)  # incompressible, so that Streamlit needs several cookies
    provider.instead = {"groups": [letters.randbytes(20).hex() for _ in range(120)]}
    enter(page, served, provider, "dan")
    assert kept(page) == {served.cookie}


STRANGER = "stranger@example.org"
REFUSED = {  # who comes back, how the provider differs, and the words on the page
    "an address that nobody has": (STRANGER, {}, f"You signed in as {STRANGER}, but nobody in this study"),
    "an address that is not verified": ("ada", {"instead": {"email_verified": False}}, "verified e-mail address"),
    "no address": ("ada", {"instead": {"email": None}}, "verified e-mail address"),
    "a token of another issuer": ("ada", {"instead": {"iss": "https://else.where"}}, "Sign in"),
    "a token for another application": ("ada", {"instead": {"aud": "else"}}, "Sign in"),
    "a token of another sign-in": ("ada", {"instead": {"nonce": "else"}}, "Sign in"),
    "a token that has expired": ("ada", {"instead": {"exp": 1}}, "Sign in"),
    "a token signed with an unpublished key": ("ada", {"key": new_key()}, "Sign in"),
}
NOT_DAILY = (
    "no address",
    "a token of another issuer",
    "a token for another application",
    "a token that has expired",
)


@pytest.mark.parametrize("what", some_slow(REFUSED, NOT_DAILY))
def test_who_comes_back_with_this_is_refused_and_forgotten(page, served, provider, what):
    who, differs, words = REFUSED[what]
    provider.signed_in = provider.knows(who) if who == STRANGER else address(who)
    for name, value in differs.items():
        setattr(provider, name, value)
    follow_link(page, served)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert words in page.inner_text("body")
    assert kept(page) == set()
    assert is_out(page, served)
    assert provider.visits == 1  # no endless redirects


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2], ids=["signed in once", "signed in once more, as from a bookmark"])
def test_signing_out_ends_it_although_the_provider_asks_nothing(page, served, provider, times):
    for _ in range(times):
        enter(page, served, provider, "ada")
    leave(page, served)
    assert kept(page) == set()
    assert is_out(page, served)
    assert provider.visits == times


@pytest.mark.slow
def test_who_comes_back_as_somebody_else_is_asked_and_then_somebody_else(page, served, provider):
    enter(page, served, provider, "ada")
    provider.signed_in = address("dan")
    follow_link(page, served)
    expect(page.get_by_text("You are signed in as ada. Continue as dan?")).to_be_visible()
    page.get_by_role("button", name="Continue as dan").click()
    page.wait_for_url(f"{served.url}/")
    assert person_on_screen(page) == "dan"


@pytest.mark.slow
def test_without_a_provider_there_is_no_link_and_its_addresses_lead_to_the_sign_in_page(page, without):
    page.goto(without.url)
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    expect(page.get_by_role("link")).to_have_count(0)
    page.goto(f"{without.url}/sign-in/provider")
    assert page.url == f"{without.url}/sign-in"
    for path in ("auth/login", "auth/logout", "oauth2callback?code=1&state=2"):
        reply = page.goto(f"{without.origin}/{path}")
        assert reply is not None and reply.status == 404
    page.context.add_cookies([cookie_of(without, signed(account()))])
    assert is_out(page, without)


def account(name: str = "ada") -> str:
    """Return the data that Streamlit keeps about a person who returned from the provider."""
    return json.dumps({"email": address(name), "email_verified": True, "is_logged_in": True, "provider": "default"})


def signed(text: str, *, secret: str = COOKIE_SECRET, name: str = USER_COOKIE, age_s: int = 0) -> str:
    class Past(TimestampSigner):
        def get_timestamp(self) -> int:
            return int(time.time()) - age_s

    return URLSafeTimedSerializer(secret, salt=name, signer=Past).dumps(text)


def cookie_of(served: Served, value: str) -> Mapping[str, str]:
    return {"name": USER_COOKIE, "value": value, "url": served.origin}


FORGED = {
    "not signed": account(),
    "signed with another secret": signed(account(), secret="a guess"),
    "signed with no secret": signed(account(), secret=""),
    "signed for another cookie": signed(account(), name=f"{USER_COOKIE}_tokens"),
    "with another person put in": ".".join(
        [signed(account("ben")).rsplit(".", 2)[0], *signed(account()).rsplit(".", 2)[1:]]
    ),
    "without its signature": signed(account()).rpartition(".")[0],
    "40 days old": signed(account(), age_s=40 * 86400),
    "of who is not signed in": signed(account().replace('true, "provider', 'false, "provider')),
    "no table": signed("[1]"),
    "no JSON": signed("ada@example.org"),
    "in parts that are missing": signed("chunks-2"),
    "empty": "",
}


def test_no_forged_cookie_is_a_way_in(page, served, provider):
    ways_in = []
    for name, value in FORGED.items():
        page.context.clear_cookies()
        page.context.add_cookies([cookie_of(served, value)])
        stays_out = is_out(page, served)
        page.goto(f"{served.url}/sign-in/provider")
        if not stays_out or not page.url.startswith(provider.url) or served.cookie in names_of_cookies(page):
            ways_in.append(name)
    assert ways_in == []


@pytest.mark.slow
def test_a_cookie_that_the_server_itself_could_have_signed_is_a_way_in(page, served):
    page.context.add_cookies([cookie_of(served, signed(account()))])  # otherwise the forged cookies would prove nothing
    page.goto(served.origin, wait_until="commit")
    assert (page.url, kept(page)) == (f"{served.url}/", {served.cookie})


@pytest.mark.slow
def test_a_cookie_that_was_not_exchanged_within_the_hour_is_no_way_in(page, served):
    page.context.add_cookies([cookie_of(served, signed(account(), age_s=3600))])
    assert is_out(page, served)


def test_an_address_of_which_the_provider_does_not_say_that_it_is_verified_is_refused(page, served):
    silent = {name: value for name, value in json.loads(account()).items() if name != "email_verified"}
    page.context.add_cookies([cookie_of(served, signed(json.dumps(silent)))])
    page.goto(served.origin)
    assert "verified e-mail address" in page.inner_text("body")
    assert kept(page) == set()


@pytest.mark.slow
def test_only_the_secrets_of_the_folder_in_which_the_server_is_started_count(tmp_path):
    home, here, port = tmp_path / "home", tmp_path / "here", free_port()
    (home / ".streamlit").mkdir(parents=True)
    (home / ".streamlit" / "secrets.toml").write_text('auth = "x"\n')  # would prevent the server from starting
    here.mkdir()
    study = here / "any.study"
    coordinating.create_study(study, name="x", question="?", coordinator="carol", now=datetime.now(UTC))
    stop_server(start_server(study, port, cwd=here, env={**os.environ, "HOME": str(home)}))


AUTH = '[auth]\nredirect_uri = "http://127.0.0.1/oauth2callback"\ncookie_secret = "{}"\nclient_id = "x"\n'
BROKEN = {
    AUTH.format("")
    + 'client_secret = "x"\nserver_metadata_url = "http://127.0.0.1/"\n': "[auth] has no cookie_secret.",
    AUTH.format("short") + 'client_secret = "x"\nserver_metadata_url = "http://127.0.0.1/"\n': "at least 32 random",
    AUTH.format("s" * 40): "[auth] has no client_secret, server_metadata_url.",
    'auth = "x"\n': "auth is not a section",
}


@pytest.mark.slow
@pytest.mark.parametrize("secrets", BROKEN)
def test_a_server_whose_provider_cannot_be_used_does_not_start_and_says_why(tmp_path, secrets):
    study = tmp_path / "any.study"
    coordinating.create_study(study, name="x", question="?", coordinator="carol", now=datetime.now(UTC))
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text(secrets)
    command, environment = serve_command(study, free_port()), {**os.environ, "HOME": str(tmp_path)}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 2
    assert BROKEN[secrets] in ended.stderr.splitlines()[-1]


def test_a_sign_in_begun_in_one_browser_is_not_finished_in_another(page, browser: Browser, served, provider):
    follow_link(page, served)
    other = browser.new_context().new_page()
    other.goto(page.url)
    click(other, "button", address("ada"))
    assert (other.url, kept(other)) == (f"{served.url}/sign-in", set())
    other.context.close()


@pytest.mark.slow
def test_who_is_revoked_is_out_at_the_next_click(page, served, provider):
    enter(page, served, provider, "ben")
    item_on_screen(page)
    with open_database(served.study) as db:
        identity.revoke(db, "ben", Role.REVIEWER, actor="carol", now=datetime.now(UTC))
    page.get_by_role("link", name="My labels").click()
    expect(page.get_by_text("You are not signed in.")).to_be_visible()
    assert is_out(page, served)


@pytest.mark.slow
def test_who_no_longer_takes_part_cannot_come_back_through_the_provider(page, served, provider):
    enter(page, served, provider, "cleo")
    item_on_screen(page)
    with open_database(served.study) as db, db.atomic():
        db.execute("UPDATE people SET active = 0 WHERE name = 'cleo'")
    page.get_by_role("link", name="My labels").click()
    expect(page.get_by_text("You are not signed in.")).to_be_visible()
    follow_link(page, served)
    expect(page.get_by_text("You signed in as Cleo@example.org, but nobody in this study")).to_be_visible()
    assert is_out(page, served)
