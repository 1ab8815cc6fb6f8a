"""The pages and routes for signing in and out, which need no session."""

import logging
import math
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial
from html import escape
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from labeler.errors import LabelerError, SignInFailed, for_anyone
from labeler.safe_text import one_line
from labeler.studies.model import Person
from labeler.studies.people import identity
from labeler.studies.store import Database, open_database
from labeler.studies.ui import provider
from labeler.studies.ui.app import session_cookie, session_of
from labeler.studies.ui.bodies import CLOSING, BodyRefused, body_of
from labeler.studies.ui.limits import WrongSignIns, client
from labeler.studies.ui.turns import PAGE_TURNS

PROVIDER_PATH = "/sign-in/provider"
MAX_FORM_BYTES = 4096
REFUSED = 403
RETRY_S = 10
log = logging.getLogger(__name__)
SIGN_IN_WORDS = (
    "You are not signed in. Open the sign-in link that your coordinator gave you. The link works on any device. "
    "If you have lost the link, ask your coordinator for a new link."
)
NO_ADDRESS = (
    "Your organisation signed you in, but did not send a verified e-mail address, so this study cannot identify you. "
    "Ask your coordinator for a sign-in link."
)
INCOMPLETE = "The server did not receive the complete link. Paste the link again."
TOO_LONG = "This text is too long for a sign-in link. Paste only the link."
PROVIDER_LINK = f'<p><a href="{PROVIDER_PATH}">Sign in with the account of your organisation</a></p>'
SWITCH_FORM = (
    '<form method="post" action="/sign-in"><input type="hidden" name="instead" value="yes">'
    '<input type="hidden" name="link" value="{secret}">'
)
PROVIDER_FORM = f'<form method="post" action="{PROVIDER_PATH}">'
# Opening a link changes nothing, because programs that show previews of links open them too. The script is for people.
JOIN_WORDS = "You have a personal link for this study. It works on each of your devices."
JOIN_FORM = """<form method="post" action="/sign-in{query}"><input type="hidden" name="link" value="{secret}">
<button autofocus>Sign in</button></form>
<script>
history.replaceState(null, "", "/sign-in");
if (document.visibilityState === "visible") document.forms[0].requestSubmit();
</script>"""
SIGN_IN_FORM = """<form method="post" action="/sign-in">
<p><label for="link">If the link opened in the wrong browser, paste it here:</label></p>
<p><input id="link" name="link" autocomplete="off" required> <button>Sign in</button></p></form>"""
# The browser's storage keys: `component/js/storage.js`.
SIGN_OUT_FORM = """<p id="unsaved" hidden></p>
<form method="post" action="/sign-out"><button id="leave">Sign out</button></form>
<script>
const unsaved = `labeler-unsaved-${sessionStorage.getItem("labeler-owner") ?? ""}`;
const n = Object.keys(localStorage).filter((key) => key.startsWith(unsaved)).length;
if (n) {
  const words = document.getElementById("unsaved"), wait = document.createElement("a");
  words.textContent = `${n} ${n === 1 ? "answer is" : "answers are"} not saved yet. If you sign out anyway, `
    + `${n === 1 ? "it stays" : "they stay"} in this browser until you sign in again here. `;
  wait.href = "/";
  wait.textContent = "Wait until all answers are saved";
  words.append(wait);
  words.hidden = false;
  document.getElementById("leave").textContent = "Sign out anyway";
}
</script>"""
# Only unsaved answers of this person stay in the browser.
FORGET = """sessionStorage.clear();
const saved = Object.keys(localStorage).filter((key) => key.startsWith("labeler-saved-"));
saved.forEach((key) => localStorage.removeItem(key));
"""


def routes(study: Path) -> list[Route]:
    """Return the routes for signing in and out."""
    wrong = WrongSignIns()
    return [
        Route("/sign-in", _sign_in(study, wrong), methods=["GET", "POST"]),
        Route(PROVIDER_PATH, _sign_in_by_provider(study), methods=["GET", "POST"]),
        Route("/sign-out", _sign_out(study), methods=["GET", "POST"]),
        Route("/join/{secret}", _join(study, wrong)),
    ]


def _join(study: Path, wrong: WrongSignIns) -> Any:
    def endpoint(request: Request) -> Response:
        """Answer the opening of a link with a form that signs in, and remove the secret from the address bar."""
        if not is_visit(request):
            return _page("Sign in", "The sign-in link does not work inside another page. Open it directly.", status=403)
        secret = request.path_params["secret"]
        refusal = _refused(study, request, secret, wrong)
        query = escape(f"?{request.url.query}" if request.url.query else "")
        return refusal or _page("Sign in", JOIN_WORDS, JOIN_FORM.format(query=query, secret=escape(secret)))

    return endpoint


def is_visit(connection: HTTPConnection) -> bool:
    """Return whether a person visits the page, according to the browser.

    Images, scripts and previews are not visits.
    """
    headers = connection.headers
    is_page = headers.get("sec-fetch-dest", "document") == "document"
    is_step = headers.get("sec-fetch-mode", "navigate") == "navigate"
    return is_page and is_step and connection.scope["method"] != "HEAD"


def _sign_in(study: Path, wrong: WrongSignIns) -> Any:
    async def endpoint(request: Request) -> Response:
        """Explain how to sign in, or accept a pasted link, because some programs open links in a built-in browser."""
        if request.method != "POST":
            return _page("Sign in", SIGN_IN_WORDS, _forms())
        if not same_origin(request):
            words = "This form came from another site, so it was refused. Paste your sign-in link here."
            return _page("Sign in", words, _forms(), status=403)
        try:
            body = await body_of(request, MAX_FORM_BYTES)
        except BodyRefused as refusal:
            words = TOO_LONG if refusal.status is HTTPStatus.REQUEST_ENTITY_TOO_LARGE else INCOMPLETE
            return _page("Sign in", words, _forms(), status=refusal.status, headers=CLOSING)
        form = parse_qs(body.decode(errors="replace"))
        secret = re.split(r"[?#]", form.get("link", [""])[0].strip())[0].rpartition("/")[2]
        return await run_in_threadpool(_signed_in, study, request, secret, wrong, instead="instead" in form)

    return endpoint


def _sign_in_by_provider(study: Path) -> Any:
    def endpoint(request: Request) -> Response:
        """Redirect to the identity provider, or sign in a person who returns from there."""
        if not provider.is_configured():
            return RedirectResponse("/sign-in", status_code=303)
        arrival = provider.arrival(request.cookies)
        if arrival is None:
            return RedirectResponse(provider.login_path(), status_code=303)
        if arrival.email is None:
            response: Response = _page("Sign in", NO_ADDRESS, _forms(), status=403)
        else:
            email = arrival.email
            if not (request.method == "POST" and same_origin(request)):
                question = _asks_first(study, request, lambda db: identity.person_of_email(db, email), PROVIDER_FORM)
                if question:
                    return question  # the cookie of the provider stays for the answer
            response = _let_in(study, request, partial(identity.sign_in_as, email=email))
        return _cleared(response, request)

    return endpoint


def _forms() -> str:
    """Return the HTML of the link to the identity provider, if there is one, and of the form for a pasted link."""
    return (PROVIDER_LINK if provider.is_configured() else "") + SIGN_IN_FORM


def _cleared(response: Response, request: Request) -> Response:
    """Remove Streamlit's login cookies from the browser.

    Otherwise, these cookies would sign the person in again although the person did not ask for it.
    """
    for name in provider.cookies_to_clear(request.cookies):
        response.delete_cookie(name, path="/")
    return response


def _signed_in(study: Path, request: Request, secret: str, wrong: WrongSignIns, *, instead: bool = False) -> Response:
    """Sign in the person who has a secret, or explain why the person cannot sign in.

    If another person is signed in, ask first. If `instead` is set, the person has already confirmed the change.
    """
    refusal = _refused(study, request, secret, wrong)
    if refusal is not None:
        return refusal
    form = SWITCH_FORM.format(secret=escape(secret))
    now = datetime.now(UTC)
    asked = (
        None
        if instead
        else _asks_first(study, request, lambda db: identity.person_of_invitation(db, secret, now=now), form)
    )
    return asked or _let_in(study, request, partial(identity.sign_in, secret=secret))


def _refused(study: Path, request: Request, secret: str, wrong: WrongSignIns) -> Response | None:
    """Return the page that says why a secret signs nobody in; return None if it does. Wrong secrets are counted."""
    address = _address(request)
    wait_s = math.ceil(wrong.wait_s(address))
    if wait_s:
        words = f"Too many invalid sign-in links came from your address. Try again in {wait_s} s."
        return _page("Sign in", words, _forms(), status=429, headers={"Retry-After": str(wait_s)})
    try:
        with _turn(request), open_database(study) as db:
            identity.person_of_invitation(db, secret, now=datetime.now(UTC))
    except SignInFailed as error:
        wrong.note(address)
        return _page("Sign in", str(error), _forms(), status=REFUSED)
    except LabelerError as error:
        return unavailable(error)
    return None


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _turn(request: Request) -> AbstractContextManager[None]:
    return PAGE_TURNS.turn(("not signed in", client(_address(request))))


def _asks_first(study: Path, request: Request, invited_by: Callable[[Database], Person], form: str) -> Response | None:
    """Return the page that asks whether to switch to another person, with a form that says yes.

    Return None if the question is not needed. Without it, a link on another site could change who is signed in.
    """
    now = datetime.now(UTC)
    try:
        token = session_of(request.cookies, study)
        if token is None:
            return None
        with _turn(request), open_database(study) as db:
            current = identity.person_of_session(db, token, now=now)
            invited = invited_by(db)
            shown = identity.shown_names(db)
    except LabelerError:
        return None  # errors are shown later, when the person signs in
    if current is None or current.person_id == invited.person_id:
        return None
    here, new = (shown.get(person.name, person.name) for person in (current, invited))
    extra = (
        f"{form}<button>Continue as {escape(new)}</button></form>"
        f'<p><a href="/">Stay signed in as {escape(here)}</a></p>'
    )
    words = f"You are signed in as {here}. Continue as {new}? This signs out {here} on this device."
    return _page("Switch person", words, extra)


def _let_in(study: Path, request: Request, sign_in: Callable[..., str]) -> Response:
    """Set the cookie of a new session and open the application, or explain why this is not possible."""
    try:
        with _turn(request), open_database(study) as db:
            token = sign_in(db, before=session_of(request.cookies, study) or "", now=datetime.now(UTC))
    except SignInFailed as error:
        return _page("Sign in", str(error), _forms(), status=REFUSED)
    except LabelerError as error:
        return unavailable(error)
    response = RedirectResponse(_first_page(request), status_code=303, headers={"Cache-Control": "no-store"})
    response.set_cookie(
        session_cookie(study), token, max_age=identity.SESSION_DAYS * 86400, httponly=True, samesite="lax",
        secure=request.url.scheme == "https", path="/",
    )  # fmt: skip
    return response


def _first_page(request: Request) -> str:
    """Return the page that the link names, such as ?page=report; otherwise, return the first page.

    A page of another site is never returned.
    """
    page = request.query_params.get("page", "")
    return f"/{page}" if re.fullmatch(r"[a-z-]{1,40}", page) else "/"


def _sign_out(study: Path) -> Any:
    def endpoint(request: Request) -> Response:
        """End the session on this device only. Requires a form posted from this site."""
        if request.method == "POST" and same_origin(request):
            try:
                with open_database(study) as db:
                    identity.sign_out(db, session_of(request.cookies, study) or "", now=datetime.now(UTC))
            except LabelerError as error:
                return unavailable(error)
            response: Response = _page("Signed out", "You are signed out. Your labels are kept.", clear=True)
            if session_cookie(study) in request.cookies:  # strangers do not learn the name of the cookie
                response.delete_cookie(session_cookie(study), path="/")
            return _cleared(response, request)
        return _page("Sign out", "Sign out on this device?", SIGN_OUT_FORM)

    return endpoint


def unavailable(error: LabelerError) -> Response:
    """Return the page that is shown while the study cannot be opened.

    Only the server's log has the path of the study.
    """
    log.warning("%s", one_line(str(error)))
    words = f"{for_anyone(error)} Answers that are not saved yet are kept in this browser."
    return _page("Temporarily unavailable", words, status=503, headers={"Refresh": str(RETRY_S)})


def _page(
    title: str,
    text: str,
    extra: str = "",
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    clear: bool = False,
) -> HTMLResponse:
    script = f"<script>{FORGET}</script>" if clear else ""
    return HTMLResponse(
        f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ font: 17px/1.6 system-ui, sans-serif; color: #1b2a41; max-width: 34rem; margin: 18vh auto }}
button, input {{ font: inherit; padding: .4rem 1rem; max-width: 100%; box-sizing: border-box }}
input {{ width: 22rem }} body {{ padding: 0 1rem }}</style></head>
<body><h1>{escape(title)}</h1><p>{escape(text)}</p>{extra}{script}</body></html>""",
        status_code=status,
        headers={"Cache-Control": "no-store", **(headers or {})},
    )


def same_origin(connection: HTTPConnection) -> bool:
    """Return whether the request comes from this site, according to the headers of the browser.

    A site is a scheme, a host and a port. The scheme of this site is https if the connection is encrypted, or if a
    trusted proxy says so. Return True for programs that send no such headers.
    """
    origin, site = connection.headers.get("origin"), connection.headers.get("sec-fetch-site", "none")
    if site not in ("same-origin", "none"):
        return False
    if origin is None:
        return True
    scheme, _, host = origin.partition("://")
    own = ("https", ":443") if connection.scope["scheme"] in ("https", "wss") else ("http", ":80")
    asked = connection.headers.get("host", "").removesuffix(own[1])  # browsers leave out the usual port
    return bool(asked) and (scheme, host.removesuffix(own[1])) == (own[0], asked)
