"""An identity provider (OpenID Connect) on a free port of this machine, and the secrets.toml that names it.

It is as strict as a real provider: it knows one client with one redirect address, requires PKCE, gives each code once
and only to that client, and signs with RS256. People choose an account on its page, or are redirected at once.
"""

import base64
import hashlib
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qsl, urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT_ID, CLIENT_SECRET = "labeler", "a secret between the provider and the application"
COOKIE_SECRET = "a secret of the application, for signing its cookies"
KEY_ID, KEY_BITS = "1", 2048
TOKEN_LIFE_S = 300
START_LIMIT_S = 120

Claims = Mapping[str, Any]


@dataclass
class Provider:
    """What tests tell the provider, and what it recorded."""

    url: str
    redirect_uri: str = ""  # the only redirect address
    accounts: dict[str, Claims] = field(default_factory=dict)  # claims by address
    signed_in: str | None = None  # redirected at once, without a question
    instead: Claims = field(default_factory=dict)  # false claims in an id token
    visits: int = 0  # number of visits
    published: RSAKey = field(default_factory=lambda: new_key())
    key: RSAKey | None = None  # the key for signing tokens, if it is not the published key
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def knows(self, address: str, **claims: Any) -> str:
        self.accounts[address] = {"email": address, "email_verified": True, "name": "Somebody"} | claims
        return address

    def forget(self) -> None:
        """Reset everything except the accounts."""
        self.signed_in, self.instead, self.visits, self.key = None, {}, 0, None

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._metadata),
                Route("/keys", lambda _request: JSONResponse(KeySet([self.published]).as_dict(private=False))),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
            ]
        )

    def _metadata(self, _request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "code_challenge_methods_supported": ["S256"],
                "scopes_supported": ["openid", "email", "profile"],
            }
        )

    def _authorize(self, request: Request) -> Response:
        """Ask for the account, or redirect with a code if the account is known."""
        asked = dict(request.query_params)
        known = {
            "client_id": CLIENT_ID, "redirect_uri": self.redirect_uri, "response_type": "code",
            "code_challenge_method": "S256",
        }  # fmt: skip
        if known.items() - asked.items() or "openid" not in asked.get("scope", "").split() or not asked.get("state"):
            return JSONResponse({"error": "invalid_request", "asked": asked}, status_code=400)
        chosen = asked.pop("account", None)
        if chosen is None:
            self.visits += 1
            chosen = self.signed_in
        if chosen not in self.accounts:
            return _form(asked, self.accounts)
        code = token_urlsafe(16)
        self._codes[code] = asked | {"account": chosen}
        answer = urlencode({"code": code, "state": asked["state"]})
        return RedirectResponse(f"{self.redirect_uri}?{answer}", status_code=302)

    async def _token(self, request: Request) -> Response:
        """Exchange a code for the claims of the person who received it."""
        form = dict(parse_qsl((await request.body()).decode()))
        asked = self._codes.pop(form.get("code", ""), None)
        given = (request.headers.get("authorization"), form.get("grant_type"), form.get("redirect_uri"))
        if asked is None or given != (_basic(CLIENT_ID, CLIENT_SECRET), "authorization_code", self.redirect_uri):
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        if _challenge(form.get("code_verifier", "")) != asked["code_challenge"]:
            return JSONResponse({"error": "invalid_grant", "error_description": "PKCE"}, status_code=400)
        now = int(time.time())
        said = {
            "iss": self.url, "aud": CLIENT_ID, "sub": asked["account"], "iat": now, "exp": now + TOKEN_LIFE_S,
            "nonce": asked.get("nonce"), **self.accounts[asked["account"]], **self.instead,
        }  # fmt: skip
        token = jwt.encode({"alg": "RS256", "kid": KEY_ID}, said, self.key or self.published)
        answer = {"access_token": token_urlsafe(16), "token_type": "Bearer", "expires_in": TOKEN_LIFE_S}
        return JSONResponse(answer | {"id_token": token}, headers={"Cache-Control": "no-store"})


def new_key() -> RSAKey:
    return RSAKey.generate_key(KEY_BITS, parameters={"kid": KEY_ID, "alg": "RS256", "use": "sig"})


def _form(asked: Mapping[str, str], accounts: Mapping[str, Claims]) -> Response:
    hidden = "".join(f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in asked.items())
    buttons = "".join(f'<button name="account" value="{escape(name)}">{escape(name)}</button>' for name in accounts)
    return HTMLResponse(f"<title>Provider</title><h1>Who are you?</h1><form>{hidden}{buttons}</form>")


def _basic(name: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()


def _challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def write_secrets(folder: Path, provider: Provider, *, cookie_secret: str = COOKIE_SECRET) -> None:
    """Write the provider's settings for a server that starts in this folder."""
    settings = {
        "redirect_uri": provider.redirect_uri,
        "cookie_secret": cookie_secret,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "server_metadata_url": f"{provider.url}/.well-known/openid-configuration",
    }
    lines = ["[auth]", *(f'{name} = "{value}"' for name, value in settings.items())]
    (folder / ".streamlit").mkdir()
    (folder / ".streamlit" / "secrets.toml").write_text("\n".join(lines) + "\n")


@contextmanager
def providing(redirect_uri: str) -> Iterator[Provider]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        provider = Provider(f"http://127.0.0.1:{listener.getsockname()[1]}", redirect_uri)
        config = uvicorn.Config(provider.app(), lifespan="off", ws="none", log_config=None, timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            _wait_until_started(server, thread)
            yield provider
        finally:
            server.should_exit = True
            thread.join(START_LIMIT_S)
    if thread.is_alive():
        raise AssertionError("the provider did not end")


def _wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise AssertionError("the provider did not start")
        time.sleep(0.01)  # polls in a bounded loop; the server reports when it is ready
