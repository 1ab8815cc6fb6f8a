"""The gate and the sign-in pages, through the real ASGI application."""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import chain

import pytest
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit import config
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from labeler.errors import InputError
from labeler.studies.course import coordinating
from labeler.studies.items import drawing
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.store import events, open_database
from labeler.studies.ui import connections, limits, provider, sign_in
from labeler.studies.ui.served import ServedStudies, ServedStudy
from labeler.studies.ui.server import allowed_hosts, refresh_in_background, serve, streamlit_settings
from tests.labeler.studies.ui import clients
from tests.labeler.studies.ui.clients import client_of, join, served_study, session_cookie
from tests.making import make_study
from tests.sentences import says

NOW = datetime.now(UTC)  # pages use the current time: a link with a fixed date would expire
BASE = "http://testserver"


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "gate.study"
    coordinating.create_study(path, name="Gate", question="Alike?", coordinator="grace", now=NOW)
    return path


@pytest.fixture
def secret(study):
    with open_database(study) as db:
        identity.add_person(db, "ada", [Role.REVIEWER], actor="grace", now=NOW)
        return identity.invite(db, "ada", Role.REVIEWER, actor="grace", now=NOW)


def gated(*paths):
    """The real gate and sign-in routes in front of a page and a websocket that replace Streamlit."""

    async def stream(websocket):
        await websocket.accept()
        await websocket.send_text("inside")
        await websocket.close()

    return clients.gated(
        paths,
        *sign_in.routes(),
        Route("/_stcore/health", lambda _request: PlainTextResponse("ok")),
        Route("/", lambda _request: PlainTextResponse("the application")),
        Route("/_stcore/upload_file/x", lambda _request: PlainTextResponse("uploads"), methods=["GET", "PUT"]),
        Route("/media/{name}", lambda _request: PlainTextResponse("a download")),
        Route("/_stcore/metrics", lambda _request: PlainTextResponse("metrics")),
        Route("/_stcore/host-config", lambda _request: PlainTextResponse("settings")),
        Route("/my-labels", lambda _request: PlainTextResponse("a page")),
        WebSocketRoute("/_stcore/stream", stream),
        WebSocketRoute("/_stcore/other", stream),
    )


@pytest.fixture
def client(study):
    with client_of(gated(study), study) as one:
        yield one


@pytest.fixture
def base(study):
    return served_study(study).base


def test_strangers_see_only_the_sign_in_page_and_the_health_check(client, base):
    for path in ("/", "/_stcore/upload_file/x", "/review/index.js", "/anything"):
        response = client.get(path)
        assert (response.status_code, response.headers["location"]) == (303, f"{base}/sign-in")
    assert client.get("/_stcore/health").text == "ok"
    assert "not signed in" in client.get("/sign-in").text


def test_a_link_signs_in_and_the_secret_is_in_no_later_address(client, secret, base):
    response = join(client, secret)
    assert (response.status_code, response.headers["location"]) == (303, f"{base}/")
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert secret not in cookie
    assert client.get("/").text == "the application"
    assert join(client, secret).headers["set-cookie"] == cookie  # the session of this browser goes on


def test_the_cookie_is_secure_behind_tls(study, secret):
    with client_of(gated(study), study, "https://testserver") as client:
        assert "Secure" in join(client, secret).headers["set-cookie"]


def test_wrong_and_forged_secrets_are_refused(client, study):
    response = client.get("/join/not-a-secret")
    assert response.status_code == 403
    assert "set-cookie" not in response.headers
    assert "link is not valid" in response.text
    assert "ask your coordinator" in response.text
    client.cookies.set(session_cookie(study), "forged")
    assert client.get("/").status_code == 303


def test_websockets_need_a_session_and_the_same_origin(client, secret, base):
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(f"{base}/_stcore/stream"):
        pass
    join(client, secret)
    with client.websocket_connect(f"{base}/_stcore/stream", headers={"origin": BASE}) as stream:
        assert stream.receive_text() == "inside"
    for path, origin in (("stream", "http://evil.test"), ("other", BASE)):  # there is one websocket
        with (
            pytest.raises(WebSocketDisconnect),
            client.websocket_connect(f"{base}/_stcore/{path}", headers={"origin": origin}),
        ):
            pass


FOR_COORDINATORS = ("/_stcore/upload_file/x", "/media/report.html", "/_stcore/metrics")


def test_reviewers_reach_pages_and_settings_and_nothing_that_is_made_for_coordinators(client, secret):
    join(client, secret)
    for path in FOR_COORDINATORS:
        response = client.get(path)
        assert (response.status_code, response.text) == (403, "Only coordinators of the study can open this page.")
        assert client.head(path).status_code == 403
    assert client.put(FOR_COORDINATORS[0], headers={"origin": BASE}).status_code == 403
    for path in ("/", "/my-labels", "/_stcore/host-config", "/_stcore/health"):
        assert client.get(path).status_code == 200


def test_coordinators_reach_uploads_and_downloads_and_no_cache_keeps_them(client, study):
    with open_database(study) as db:
        secret = identity.invite(db, "grace", Role.COORDINATOR, actor="grace", now=NOW)
    join(client, secret)
    for path in (*FOR_COORDINATORS, "/", "/sign-in"):
        sent = client.get(path)
        assert (sent.status_code, sent.headers["cache-control"]) == (200, "no-store")
    assert client.put(FOR_COORDINATORS[0], headers={"origin": BASE}).text == "uploads"
    refused = client.put(FOR_COORDINATORS[0], headers={"origin": "http://evil.test"})
    assert (refused.status_code, refused.text) == (403, "This request came from another site, so it was refused.")


@pytest.mark.parametrize("host", ["testserver/sign-in?", "testserver/join/x?", "/sign-in", "a@b/static/?"])
@pytest.mark.parametrize("path", ["/", *FOR_COORDINATORS])
def test_a_forged_host_opens_no_other_way(client, path, host, base):
    assert client.get(path, headers={"host": host}).headers["location"] == f"{base}/sign-in"


def test_too_many_wrong_links_from_an_address_make_it_wait_and_sessions_go_on(client, study, secret):
    join(client, secret)
    for number in range(limits.N_WRONG):
        assert client.get(f"/join/wrong-{number}").status_code == 403
    for response in (client.get("/join/wrong"), join(client, secret), pasted(client, secret)):
        assert response.status_code == 429
        assert 0 < int(response.headers["retry-after"]) <= limits.WITHIN_S
        assert f"Try again in {response.headers['retry-after']} s." in response.text
        assert "set-cookie" not in response.headers
    assert client.get("/").text == "the application"


def test_opening_ones_link_again_leaves_ones_other_tabs_signed_in_and_somebody_elses_link_does_not(
    client, study, secret
):
    join(client, secret)
    first = client.cookies[session_cookie(study)]
    join(client, secret)
    second = client.cookies[session_cookie(study)]
    with open_database(study) as db:
        assert identity.person_of_session(db, first, now=NOW) == identity.person_of_session(db, second, now=NOW)
        grace = identity.invite(db, "grace", Role.COORDINATOR, actor="grace", now=NOW)
        for asked in (join(client, grace), pasted(client, grace)):
            assert (asked.status_code, "set-cookie" in asked.headers) == (200, False)
            assert "ada. Continue as grace?" in asked.text
            assert says(asked.text, "Stay signed in", "ada")
        assert identity.person_of_session(db, client.cookies[session_cookie(study)], now=NOW).name == "ada"
        answer = {"link": grace, "instead": "yes"}
        assert client.post("/sign-in", data=answer, headers={"origin": "http://evil.test"}).status_code == 403
        assert identity.person_of_session(db, client.cookies[session_cookie(study)], now=NOW).name == "ada"
        assert client.post("/sign-in", data=answer, headers={"origin": BASE}).status_code == 303
        assert identity.person_of_session(db, client.cookies[session_cookie(study)], now=NOW).name == "grace"
        assert identity.person_of_session(db, second, now=NOW) is None


def test_two_studies_on_one_host_have_cookies_of_their_own(study, tmp_path):
    other = tmp_path / "elsewhere" / study.name  # the same name in two containers
    other.parent.mkdir()
    coordinating.create_study(
        other, name="Gate", question="Alike?", coordinator="grace", now=NOW + timedelta(microseconds=1)
    )
    assert session_cookie(study) != session_cookie(other)


LOADED_BY_A_PAGE = [
    {"sec-fetch-dest": "image", "sec-fetch-mode": "no-cors", "sec-fetch-site": "cross-site"},
    {"sec-fetch-dest": "empty", "sec-fetch-mode": "cors", "sec-fetch-site": "same-origin"},
    {"sec-fetch-dest": "iframe", "sec-fetch-mode": "navigate", "sec-fetch-site": "cross-site"},
]


@pytest.mark.parametrize("headers", LOADED_BY_A_PAGE, ids=lambda headers: headers["sec-fetch-dest"])
def test_what_a_page_loads_by_itself_signs_nobody_in_and_locks_nobody_out(client, secret, headers):
    for number in range(2 * limits.N_WRONG):
        assert client.get(f"/join/wrong-{number}", headers=headers).status_code == 403
        assert client.head(f"/join/wrong-{number}").status_code == 403
    refused = join(client, secret, headers=headers)
    assert (refused.status_code, "set-cookie" in refused.headers) == (403, False)
    visit = {"sec-fetch-dest": "document", "sec-fetch-mode": "navigate", "sec-fetch-site": "cross-site"}
    assert client.get(f"/join/{secret}", headers=visit).status_code == 200
    assert join(client, secret).status_code == 303


PREVIEWS = ("Slackbot-LinkExpanding 1.0", "facebookexternalhit/1.1", "SkypeUriPreview Preview/0.5", "WhatsApp/2.23")


def test_the_preview_of_a_link_changes_nothing_and_the_person_signs_in_afterwards(client, study, secret):
    for agent in PREVIEWS:
        page = client.get(f"/join/{secret}", headers={"user-agent": agent})
        assert (page.status_code, "set-cookie" in page.headers) == (200, False)
    with open_database(study) as db:
        assert db.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
        assert events.table(db)["action"].tolist().count("sign in") == 0
    assert join(client, secret).status_code == 303


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_site_sends_without_naming_itself_is_known_by_what_the_browser_adds(client, secret, site):
    join(client, secret)
    client.post("/sign-out", headers={"sec-fetch-site": site})
    assert client.get("/").text == "the application"
    assert client.put("/my-labels", headers={"sec-fetch-site": site}).status_code == 403


def test_signing_out_needs_a_posted_form_from_this_site(client, secret):
    join(client, secret)
    assert "<form" in client.get("/sign-out").text
    assert client.get("/").text == "the application"
    client.post("/sign-out", headers={"origin": "http://evil.test"})
    assert client.get("/").text == "the application"
    assert "sessionStorage.removeItem" in client.post("/sign-out", headers={"origin": BASE}).text
    assert client.get("/").status_code == 303


def test_a_deactivated_person_is_out_at_the_next_request(client, study, secret):
    join(client, secret)
    with open_database(study) as db:
        db.execute("UPDATE people SET active = 0 WHERE name = 'ada'")
    assert client.get("/").status_code == 303
    assert join(client, secret).status_code == 403


def test_program_text_is_let_through_to_who_was_let_in_just_now_and_to_nobody_else(client, study, secret, base):
    program, cookie = "/static/js/index.js", session_cookie(study)
    assert client.get(program).status_code == 303
    join(client, secret)
    assert client.get("/").text == "the application"
    study.rename(study.with_suffix(".gone"))  # sessions can no longer be looked up
    assert client.get(program).status_code == 404
    assert client.get("/").status_code == client.get("/_stcore/upload_file/x").status_code == 503
    assert "kept in this browser" in client.get("/").text
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(f"{base}/_stcore/stream", headers={"origin": BASE}),
    ):
        pass
    client.cookies.clear()
    client.cookies.set(cookie, "forged" + "x" * 37)  # the form of a session
    assert client.get(program).status_code == 503


def test_every_answer_carries_the_headers_that_keep_other_sites_out(client):
    for path in ("/sign-in", "/", "/_stcore/health"):
        headers = client.get(path).headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_nothing_of_an_address_is_repeated_on_the_page(client):
    assert "<script>alert" not in client.get("/join/<script>alert(1)</script>").text
    assert "alert" not in client.get("/join/%22onload=alert(1)").text


def test_a_lost_study_file_is_said_in_words(client, study, secret):
    study.unlink()
    response = join(client, secret)
    assert response.status_code == 503
    assert "missing at the moment" in response.text
    assert study.name not in response.text


def test_as_many_files_as_the_system_allows_may_be_open():
    script = (
        "import resource; from labeler.studies.ui import connections;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (128, 200)); print(connections.raise_file_limit())"
    )
    command = [sys.executable, "-W", "ignore", "-c", script]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "200\n"


def test_too_few_files_for_windows_are_refused_before_the_start(monkeypatch, study):
    monkeypatch.setattr(connections, "raise_file_limit", lambda: 1023)
    with pytest.raises(InputError, match=r"only 1023 files at once, and it needs 1024\. .* `ulimit -n 1024`"):
        serve(ServedStudies(), address="127.0.0.1", port=0)


def test_settings_send_nothing_anywhere_and_listen_to_this_machine_only():
    settings = streamlit_settings()
    assert settings["browser.gatherUsageStats"] is False
    assert settings["server.address"] == "127.0.0.1"
    assert settings["server.enableXsrfProtection"] is True
    assert settings["client.showErrorDetails"] == "none"
    assert settings["server.enableStaticServing"] is False
    assert settings["theme.dark.backgroundColor"] == "#14181f"


def pasted(client, text, origin=BASE):
    """Send the form of the sign-in page."""
    return client.post("/sign-in", data={"link": text}, headers={"origin": origin})


def test_the_sign_in_page_is_a_plain_form_that_needs_no_script(client, base):
    page = client.get("/sign-in").text
    assert "<script" not in page
    (form,) = re.findall(r"<form.*?</form>", page, re.DOTALL)
    assert f'method="post" action="{base}/sign-in"' in form
    assert re.search(r'<label for="link">.+</label>', form)
    assert re.search(r'<input id="link" name="link" [^>]*required>', form)
    assert "<button>Sign in</button>" in form


FORMS = [
    "{0}/join/{1}",
    "{1}",
    "  {0}/join/{1}\n",
    "https://labels.example.org/join/{1}?from=mail#top",
    "ada: {0}/join/{1}",
]


@pytest.mark.parametrize("form", FORMS)
def test_a_pasted_link_or_secret_signs_in(client, secret, form, base):
    response = pasted(client, form.format(BASE, secret))
    assert (response.status_code, response.headers["location"]) == (303, f"{base}/")
    assert "HttpOnly" in response.headers["set-cookie"]
    assert response.headers["cache-control"] == "no-store"
    assert client.get("/").text == "the application"


NONSENSE = [
    "", " ", "hello", "http://", "/join/", "http://testserver/join/nothing", "%00", "\0", "\U0001f600", "=&=&",
    "javascript:alert(1)", "<script>alert(1)</script>", "' OR 1=1 --",
]  # fmt: skip


@pytest.mark.parametrize("text", NONSENSE, ids=ascii)
def test_pasted_nonsense_is_refused_in_words_and_the_form_is_there_again(client, secret, text, base):
    response = pasted(client, text)
    assert response.status_code == 403
    assert "link is not valid" in response.text
    assert f'action="{base}/sign-in"' in response.text
    assert "alert" not in response.text
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize("content", [b"", b"link", b"other=x", b"\xff\xfe", b"link=%ED%A0%80", b"link=%"])
def test_a_body_that_is_no_form_is_refused_in_words(client, content):
    response = client.post("/sign-in", content=content, headers={"origin": BASE})
    assert response.status_code == 403
    assert "link is not valid" in response.text


@pytest.mark.parametrize("origin", ["http://evil.test", "null", "http://testserver.evil.test", "http://testserver:81"])
def test_another_site_signs_nobody_in(client, study, secret, origin):
    response = pasted(client, f"{BASE}/join/{secret}", origin)
    assert response.status_code == 403
    assert "came from another site" in response.text
    assert "set-cookie" not in response.headers
    with open_database(study) as db:
        assert db.execute("SELECT count(*) FROM sessions").fetchone() == (0,)


@pytest.mark.parametrize("n_parts", [1, 50])
def test_a_form_that_is_too_long_is_refused_in_however_many_parts_it_comes(client, secret, n_parts):
    parts = (b"x" * (5000 // n_parts) for _ in range(n_parts))
    body = b"".join(chain([f"link={secret}&more=".encode()], parts))
    response = client.post("/sign-in", content=body, headers={"origin": BASE})
    assert response.status_code == 413
    assert "too long for a sign-in link" in response.text
    assert "set-cookie" not in response.headers


def test_a_form_of_the_greatest_length_is_read(client, secret):
    body = f"link={secret}&more=".encode().ljust(4096, b"x")
    sent = [client.post("/sign-in", content=content, headers={"origin": BASE}) for content in (body, body + b"x")]
    assert [response.status_code for response in sent] == [303, 413]


def test_a_revoked_link_signs_out_at_once_and_says_why_it_does_not_work(client, study, secret, base):
    join(client, secret)
    with open_database(study) as db:
        identity.revoke(db, "ada", Role.REVIEWER, actor="grace", now=NOW)
    assert client.get("/").status_code == 303
    for response in (join(client, secret), pasted(client, f"{BASE}/join/{secret}")):
        assert (response.status_code, f'action="{base}/sign-in"' in response.text) == (403, True)
        assert f"revoked on {NOW.date().isoformat()}" in response.text


def test_without_a_provider_nobody_is_sent_to_one_and_its_cookie_lets_nobody_in(client, secret, base):
    assert "provider" not in client.get("/sign-in").text
    assert client.get("/sign-in/provider").headers["location"] == f"{base}/sign-in"
    client.cookies.set("_streamlit_user", '{"is_logged_in": true, "email": "ada@example.org"}')
    for path in ("/", "/auth/login", "/oauth2callback", "/sign-in/provider"):
        assert client.get(path).headers["location"] == f"{base}/sign-in"
    outside = TestClient(client.app, base_url=BASE, cookies=client.cookies, follow_redirects=False)
    assert [outside.get(path).status_code for path in ("/auth/login", "/oauth2callback")] == [404, 404]


@pytest.mark.parametrize(("url", "elsewhere"), [("https://labels.example.org/", False), (None, True)])
def test_only_hosts_that_are_named_may_open_a_window(url, elsewhere):
    before = config.get_option("server.allowedHosts")
    try:
        config.set_option("server.allowedHosts", allowed_hosts(url))
        for host in ("labels.example.org", "labels.example.org:443", "127.0.0.1:8501", "[::1]:8501"):
            assert is_host_allowed(host)
        assert {is_host_allowed(host) for host in ("evil.example", "")} == {elsewhere}
    finally:
        config.set_option("server.allowedHosts", before)


@pytest.mark.slow
def test_a_server_for_all_addresses_asks_nobody_elsewhere_for_its_own():
    program = """
import socket
asked = []
socket.getaddrinfo = lambda host, *_, **__: asked.append(host) or []
socket.socket.connect = lambda _, address: asked.append(address)
from streamlit.web import bootstrap
from labeler.studies.ui.server import streamlit_settings
bootstrap.load_config_options(streamlit_settings() | {"server.address": "0.0.0.0"})
bootstrap._print_url(False)
print(asked)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("url", ["labels.example.org", "ftp://labels.example.org", "https://", "https://x.org/labels"])
def test_an_address_that_names_no_host_is_refused(url):
    with pytest.raises(InputError, match="expected a web address"):
        allowed_hosts(url)


def test_pictures_of_an_older_version_are_updated_in_the_background(tmp_path):
    study = tmp_path / "old.study"
    make_study(study, n_items=3)
    with open_database(study) as db:
        db.execute("UPDATE bins SET version = 0")
        assert len(drawing.stale(db)) == 3
        updating = refresh_in_background(ServedStudies([ServedStudy("old", study)]))  # returns at once
        updating.join(60)
        assert not updating.is_alive() and updating.daemon
        assert drawing.stale(db) == []


def test_a_study_that_cannot_be_opened_does_not_stop_the_server(tmp_path, caplog):
    refresh_in_background(ServedStudies([ServedStudy("gone", tmp_path / "gone.study")])).join(60)
    assert says(caplog.text, "pictures were not updated")


@pytest.mark.parametrize(
    ("scheme", "host", "origin", "is_same"),
    [
        ("http", "site:8501", "http://site:8501", True),
        ("http", "site:8501", "https://site:8501", False),
        ("http", "site:8501", "http://site", False),
        ("https", "site", "https://site", True),
        ("wss", "site:443", "https://site", True),
        ("ws", "site:80", "http://site", True),
        ("https", "site", "http://site", False),
        ("wss", "site", "http://site", False),
        ("https", "site", "https://site:80", False),
        ("https", "site", "https://sub.site", False),
        ("https", "site", "null", False),
        ("https", "site", "", False),
        ("https", "", "https://", False),
    ],
)
def test_a_site_is_a_scheme_a_host_and_a_port(scheme, host, origin, is_same):
    headers = [(b"host", host.encode()), (b"origin", origin.encode())]
    connection = HTTPConnection({"type": "http", "scheme": scheme, "headers": headers, "path": "/"})
    assert sign_in.same_origin(connection) == is_same


@pytest.mark.parametrize(("verified", "email"), [(True, "a@b.example"), (1, None), ("true", None), (None, None)])
def test_an_address_counts_only_if_the_provider_says_true(monkeypatch, verified, email):
    told = json.dumps({"is_logged_in": True, "email": "a@b.example", "email_verified": verified})
    monkeypatch.setattr(provider, "is_configured", lambda: True)
    monkeypatch.setattr(provider, "secrets_singleton", {"auth": {}})
    monkeypatch.setattr(provider.auth_util, "get_cookie_with_chunks", lambda *_: told)
    assert provider.arrival({provider.USER_COOKIE: "x"}) == provider.Arrival(email)


def test_returning_from_the_provider_asks_before_it_switches_the_person(client, study, secret, monkeypatch):
    with open_database(study) as db:
        identity.set_email(db, "grace", Role.COORDINATOR, "grace@example.org", actor="grace", now=NOW)
    join(client, secret)
    monkeypatch.setattr(provider, "is_configured", lambda: True)
    monkeypatch.setattr(provider, "arrival", lambda _cookies: provider.Arrival("grace@example.org"))
    asked = client.get("/sign-in/provider", follow_redirects=False)
    assert asked.status_code == 200 and "Continue as grace" in asked.text and "set-cookie" not in asked.headers
    foreign = client.post("/sign-in/provider", headers={"origin": "http://evil.test"}, follow_redirects=False)
    assert foreign.status_code != 303
    agreed = client.post("/sign-in/provider", headers={"origin": BASE}, follow_redirects=False)
    assert agreed.status_code == 303 and session_cookie(study) in agreed.headers["set-cookie"]
