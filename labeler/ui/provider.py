"""Sign-in through an identity provider (OpenID Connect), by Streamlit's own login where `[auth]` is configured.

Streamlit's routes talk to the provider and leave a signed cookie that says who came back. It is exchanged for a session
of ours at once, so that roles, signing out and revoking work for everyone in one way. Reading the cookie needs
functions that Streamlit does not document: they are used here only.
"""

import json
from collections.abc import Mapping
from urllib.parse import urlencode

from streamlit import auth_util
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value

PATHS = ("/auth/login", "/oauth2callback")  # Streamlit's, open to strangers where a provider is configured
USER_COOKIE = "_streamlit_user"


def is_configured() -> bool:
    """Whether secrets.toml has a section [auth]."""
    return bool(auth_util.get_secrets_auth_section())


def login_path() -> str:
    """Where signing in through the provider begins; good for a few minutes."""
    return f"{PATHS[0]}?{urlencode({'provider': auth_util.encode_provider_token('default')})}"


def email_of(cookies: Mapping[str, str]) -> str | None:
    """The address under which the provider knows who came back; None for a forged, old or missing cookie.

    An address that the provider says it has not verified is none.
    """
    if not is_configured():
        return None
    signed = auth_util.get_cookie_with_chunks(lambda name: _decoded(cookies, name), USER_COOKIE)
    try:
        user = json.loads(signed) if signed else {}
    except ValueError:
        return None
    email = user.get("email") if isinstance(user, dict) and user.get("is_logged_in") else None
    return email if isinstance(email, str) and user.get("email_verified", True) is True else None


def cookies_to_clear(cookies: Mapping[str, str]) -> list[str]:
    """The names of Streamlit's cookies about the person."""
    return [name for name in cookies if name.startswith(USER_COOKIE)]


def _decoded(cookies: Mapping[str, str], name: str) -> bytes | None:
    value = cookies.get(name)
    return None if value is None else decode_signed_value(get_cookie_secret(), name, value.encode("latin-1"))
