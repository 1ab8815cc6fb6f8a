"""Sign in through an identity provider (OpenID Connect).

This sign-in is available if secrets.toml has a section `[auth]`.

Streamlit's routes communicate with the provider and set a signed cookie with the person's identity. The application
immediately replaces this cookie with a labeler session. Roles, signing out and revoking links therefore work in the
same way for everyone. Reading the cookie needs undocumented functions of Streamlit, which are used only in this module.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from streamlit import auth_util
from streamlit.runtime.secrets import secrets_singleton
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value

PATHS = ("/auth/login", "/oauth2callback")  # Streamlit's routes, open to everyone if a provider is configured
USER_COOKIE = "_streamlit_user"
KEYS = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
TRUST_KEY = "addresses_are_verified"  # for a provider that does not say for each address whether it is verified
MIN_SECRET_LENGTH = 32  # anyone who knows the cookie secret can sign in as any person
MAX_AGE_DAYS = 5 / 1440  # returning from the provider and signing in are one step


@dataclass(frozen=True)
class Arrival:
    """A person who returns from the provider.

    `email` is None if the person has no verified address.
    """

    email: str | None


def problem() -> str:
    """Return the reason why the section [auth] of secrets.toml is unusable.

    Return "" if the section is usable or missing.
    """
    if not secrets_singleton.load_if_toml_exists() or "auth" not in secrets_singleton:
        return ""
    section: Any = secrets_singleton["auth"]
    if not isinstance(section, Mapping):
        return "secrets.toml: auth is not a section. Write it as [auth] with its keys below."
    missing = [key for key in KEYS if not isinstance(section.get(key), str) or not section[key]]
    if missing:
        return f"secrets.toml: the section [auth] has no {', '.join(missing)}. Add all missing keys."
    if len(section["cookie_secret"]) < MIN_SECRET_LENGTH:
        return f"secrets.toml: cookie_secret in [auth] needs at least {MIN_SECRET_LENGTH} random characters."
    if not auth_util.is_authlib_installed():
        return "secrets.toml has [auth], but authlib is missing: pip install 'benchmark-run-labeler[oidc]'."
    return ""


def is_configured() -> bool:
    """Return whether secrets.toml has a valid section [auth]."""
    return secrets_singleton.load_if_toml_exists() and "auth" in secrets_singleton and not problem()


def login_path() -> str:
    """Return the path that starts the sign-in through the provider; the path is valid for a few minutes."""
    return f"{PATHS[0]}?{urlencode({'provider': auth_util.encode_provider_token('default')})}"


def arrival(cookies: Mapping[str, str]) -> Arrival | None:
    """Return the person who just returned from the provider.

    Return None if the cookie is forged, expired or missing.

    An address that the provider has not verified is ignored.
    """
    if USER_COOKIE not in cookies or not is_configured():
        return None
    signed = auth_util.get_cookie_with_chunks(lambda name: _decoded(cookies, name), USER_COOKIE)
    try:
        user = json.loads(signed) if signed else None
    except ValueError:
        return None
    if not isinstance(user, dict) or not user.get("is_logged_in"):
        return None
    trusts_all = secrets_singleton["auth"].get(TRUST_KEY) is True
    email, verified = user.get("email"), user.get("email_verified", trusts_all) is True
    return Arrival(email if verified and isinstance(email, str) and email else None)


def cookies_to_clear(cookies: Mapping[str, str]) -> list[str]:
    """Return the names of Streamlit's cookies with the person's identity."""
    return [name for name in cookies if name.startswith(USER_COOKIE)]


def _decoded(cookies: Mapping[str, str], name: str) -> bytes | None:
    value = cookies.get(name)
    if value is None:
        return None
    return decode_signed_value(get_cookie_secret(), name, value.encode("latin-1"), max_age_days=MAX_AGE_DAYS)
