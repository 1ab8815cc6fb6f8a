"""The gate and the sign-in pages, through the real ASGI application."""

from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from labeler.model import Role
from labeler.service import coordinating, identity
from labeler.store import open_database
from labeler.ui.app import SESSION_COOKIE
from labeler.ui.server import Gate, _join, _sign_in_page, _sign_out, streamlit_settings

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
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


def gated(study):
    """The real gate and sign-in routes in front of a page and a websocket that stand for Streamlit."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route, WebSocketRoute

    async def stream(websocket):
        await websocket.accept()
        await websocket.send_text("inside")
        await websocket.close()

    return Starlette(
        routes=[
            Route("/sign-in", _sign_in_page),
            Route("/sign-out", _sign_out(study), methods=["GET", "POST"]),
            Route("/join/{secret}", _join(study)),
            Route("/_stcore/health", lambda _request: PlainTextResponse("ok")),
            Route("/", lambda _request: PlainTextResponse("the application")),
            Route("/_stcore/upload_file/x", lambda _request: PlainTextResponse("uploads")),
            WebSocketRoute("/_stcore/stream", stream),
        ],
        middleware=[Middleware(Gate, study=study)],
    )


@pytest.fixture
def client(study):
    with TestClient(gated(study), base_url=BASE, follow_redirects=False) as one:
        yield one


def test_strangers_see_only_the_sign_in_page_and_the_health_check(client):
    for path in ("/", "/_stcore/upload_file/x", "/review/index.js", "/anything"):
        response = client.get(path)
        assert (response.status_code, response.headers["location"]) == (303, "/sign-in")
    assert client.get("/_stcore/health").text == "ok"
    assert "not signed in" in client.get("/sign-in").text


def test_a_link_signs_in_and_the_secret_is_in_no_later_address(client, secret):
    response = client.get(f"/join/{secret}")
    assert (response.status_code, response.headers["location"]) == (303, "/")
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert secret not in cookie
    assert client.get("/").text == "the application"
    again = client.get(f"/join/{secret}")
    assert again.headers["set-cookie"] != cookie  # a new session each time: nobody can plant one


def test_the_cookie_is_secure_behind_tls(study, secret):
    with TestClient(gated(study), base_url="https://testserver", follow_redirects=False) as client:
        assert "Secure" in client.get(f"/join/{secret}").headers["set-cookie"]


def test_wrong_and_forged_secrets_are_refused(client):
    response = client.get("/join/not-a-secret")
    assert response.status_code == 403
    assert "set-cookie" not in response.headers
    assert "Ask your coordinator" in response.text
    client.cookies.set(SESSION_COOKIE, "forged")
    assert client.get("/").status_code == 303


def test_websockets_need_a_session_and_the_same_origin(client, secret):
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/_stcore/stream"):
        pass
    client.get(f"/join/{secret}")
    with client.websocket_connect("/_stcore/stream", headers={"origin": BASE}) as stream:
        assert stream.receive_text() == "inside"
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect("/_stcore/stream", headers={"origin": "http://evil.test"}),
    ):
        pass


def test_signing_out_needs_a_posted_form_from_this_site(client, secret):
    client.get(f"/join/{secret}")
    assert "<form" in client.get("/sign-out").text
    assert client.get("/").text == "the application"
    client.post("/sign-out", headers={"origin": "http://evil.test"})
    assert client.get("/").text == "the application"
    assert "sessionStorage.clear()" in client.post("/sign-out", headers={"origin": BASE}).text
    assert client.get("/").status_code == 303


def test_a_deactivated_person_is_out_at_the_next_request(client, study, secret):
    client.get(f"/join/{secret}")
    with open_database(study) as db:
        db.execute("UPDATE people SET active = 0 WHERE name = 'ada'")
    assert client.get("/").status_code == 303
    assert client.get(f"/join/{secret}").status_code == 403


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
    response = client.get(f"/join/{secret}")
    assert response.status_code == 503
    assert "There is no study" in response.text


def test_settings_send_nothing_anywhere_and_listen_to_this_machine_only():
    settings = streamlit_settings()
    assert settings["browser.gatherUsageStats"] is False
    assert settings["server.address"] == "127.0.0.1"
    assert settings["server.enableXsrfProtection"] is True
    assert settings["client.showErrorDetails"] == "none"
    assert settings["server.enableStaticServing"] is False
    assert settings["theme.base"] == "light"
