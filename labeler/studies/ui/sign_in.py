"""The pages and routes for signing in and out, which need no session."""

import logging
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from html import escape
from http import HTTPStatus
from urllib.parse import parse_qs

from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from labeler.errors import InputError, LabelerError, SignInFailed, UnknownLink, for_anyone
from labeler.safe_text import one_line
from labeler.studies.course import coordinating, joining
from labeler.studies.labelling import reviewing
from labeler.studies.model import Person
from labeler.studies.people import identity
from labeler.studies.store import Database
from labeler.studies.ui import provider
from labeler.studies.ui.bodies import CLOSING, BodyRefused, body_of
from labeler.studies.ui.limits import WrongSignIns, client
from labeler.studies.ui.served import MAX_KNOWN, SCOPE, STUDIES_COOKIE, ServedStudies, ServedStudy, studies_in
from labeler.studies.ui.turns import TooManyWaiting

PROVIDER_PATH, ASK_PATH = "/sign-in/provider", "/ask"
MAX_FORM_BYTES = 4096
REFUSED = 403
ARRIVING_COOKIE, ARRIVING_S = "labeler_arriving", 600  # the study to which a person signs in through the provider
LINK = re.compile(rf"({identity.path_of_study('[0-9a-f]+')})/join/[A-Za-z0-9_-]+")
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
TOO_MANY = "Too many people are signing in from your address. This page tries again."
NO_STUDY = "This server has no such study. Open the sign-in link that your coordinator gave you."
TOO_LONG = "This text is too long for a sign-in link. Paste only the link."
# In all forms, `{base}` is the path of the study.
PROVIDER_LINK = f'<p><a href="{{base}}{PROVIDER_PATH}">Sign in with the account of your organisation</a></p>'
SWITCH_FORM = (
    '<form method="post" action="{base}/sign-in"><input type="hidden" name="instead" value="yes">'
    '<input type="hidden" name="link" value="{secret}">'
)
PROVIDER_FORM = f'<form method="post" action="{{base}}{PROVIDER_PATH}">'
# Opening a link changes nothing, because programs that show previews of links open them too. The script is for people.
JOIN_WORDS = "You have a personal link for this study. It works on each of your devices."
JOIN_FORM = """<form method="post" action="{base}/sign-in{query}"><input type="hidden" name="link" value="{secret}">
<button autofocus>Sign in</button></form>
<script>
history.replaceState(null, "", "{base}/sign-in");
if (document.visibilityState === "visible") document.forms[0].requestSubmit();
</script>"""
# Of the link for all. `{secret}` is that of the link.
N_ASKS = 60  # within a minute from one address, which a class in one room can share
ASK_FORM = """<form method="post" action="{base}/ask"><input type="hidden" name="link" value="{secret}">
<p><label for="name">Your name</label><br><input id="name" name="name" value="{name}" maxlength="{most}"
autocomplete="name" required></p>{email}<button>Take part</button></form>
<p>If you take part already, open your own link, or <a href="{base}/">continue in this browser</a>.</p>"""
EMAIL_FIELD = """<p><label for="email">Your e-mail address, if you want to get messages</label><br>
<input id="email" name="email" type="email" autocomplete="email" value="{email}"></p>"""
WAITING_WORDS = (
    "A coordinator will let you in. Then this page opens the study; it looks every few seconds. You can also "
    "keep the address of this page and come back: it is your own sign-in link, so do not share it."
)
SIGN_IN_FORM = """<form method="post" action="{base}/sign-in">
<p><label for="link">If the link opened in the wrong browser, paste it here:</label></p>
<p><input id="link" name="link" autocomplete="off" required> <button>Sign in</button></p></form>"""
# The browser's storage keys: `component/js/storage.js`. OWNER is the reviewer in these keys.
SIGN_OUT_FORM = """<p id="unsaved" hidden></p>
<form method="post" action="BASE/sign-out"><button id="leave">Sign out</button></form>
<script>
const n = Object.keys(localStorage).filter((key) => key.startsWith("labeler-unsaved-OWNER-")).length;
if (n) {
  const words = document.getElementById("unsaved"), wait = document.createElement("a");
  words.textContent = `${n} ${n === 1 ? "answer is" : "answers are"} not saved yet. If you sign out anyway, `
    + `${n === 1 ? "it stays" : "they stay"} in this browser until you sign in again here. `;
  wait.href = "BASE/";
  wait.textContent = "Wait until all answers are saved";
  words.append(wait);
  words.hidden = false;
  document.getElementById("leave").textContent = "Sign out anyway";
}
</script>"""
# Only unsaved answers of this person stay in the browser. What belongs to other studies stays, too.
FORGET = """for (const storage of [sessionStorage, localStorage]) {
  const mine = (key) => /^labeler-(saved|draft)-/.test(key) && key.includes("-OWNER-");
  Object.keys(storage).filter(mine).forEach((key) => storage.removeItem(key));
}
if (sessionStorage.getItem("labeler-owner") === "OWNER") sessionStorage.removeItem("labeler-owner");
"""


def routes() -> list[Route]:
    """Return the routes for signing in to a study, and out of it."""
    return [
        Route("/sign-in", _sign_in, methods=["GET", "POST"]),
        Route(PROVIDER_PATH, _sign_in_by_provider, methods=["GET", "POST"]),
        Route("/sign-out", _sign_out, methods=["GET", "POST"]),
        Route("/join/{secret}", _join),
        Route(ASK_PATH, _ask, methods=["POST"]),
    ]


def _wrong_sign_ins(_study: ServedStudy) -> WrongSignIns:
    """Return the empty count of failed sign-ins with which a study begins."""
    return WrongSignIns()


def _asks(_study: ServedStudy) -> WrongSignIns:
    """Return the empty count of requests to take part with which a study begins."""
    return WrongSignIns(most=N_ASKS)


async def _in_turn(request: Request, step: Callable[[ServedStudy], Response]) -> Response:
    """Do a step in a thread of the study when it is the turn of this client."""
    study: ServedStudy = request.scope[SCOPE]
    try:
        async with study.page_turns.coming_turn(("not signed in", client(_address(request)))):
            return await study.in_thread(step, study)
    except TooManyWaiting:
        return page("Temporarily unavailable", TOO_MANY, status=503, headers={"Refresh": str(RETRY_S)})


async def _join(request: Request) -> Response:
    """Answer the opening of a link with a form that signs in, and remove the secret from the address bar."""
    if not is_visit(request):
        return page("Sign in", "The sign-in link does not work inside another page. Open it directly.", status=403)
    secret = request.path_params["secret"]
    query = escape(f"?{request.url.query}" if request.url.query else "")

    def answer(study: ServedStudy) -> Response:
        form = JOIN_FORM.format(base=study.base, query=query, secret=escape(secret))
        return _refused(study, request, secret) or page("Sign in", JOIN_WORDS, form)

    return await _in_turn(request, answer)


def is_visit(connection: HTTPConnection) -> bool:
    """Return whether a person visits the page, according to the browser.

    Images, scripts and previews are not visits.
    """
    headers = connection.headers
    is_page = headers.get("sec-fetch-dest", "document") == "document"
    is_step = headers.get("sec-fetch-mode", "navigate") == "navigate"
    return is_page and is_step and connection.scope["method"] != "HEAD"


async def _sign_in(request: Request) -> Response:
    """Explain how to sign in, or accept a pasted link, because some programs open links in a built-in browser."""
    study: ServedStudy = request.scope[SCOPE]
    if request.method != "POST":
        return page("Sign in", SIGN_IN_WORDS, _forms(study))
    if not same_origin(request):
        words = "This form came from another site, so it was refused. Paste your sign-in link here."
        return page("Sign in", words, _forms(study), status=403)
    try:
        body = await body_of(request, MAX_FORM_BYTES)
    except BodyRefused as refusal:
        words = TOO_LONG if refusal.status is HTTPStatus.REQUEST_ENTITY_TOO_LARGE else INCOMPLETE
        return page("Sign in", words, _forms(study), status=refusal.status, headers=CLOSING)
    form = parse_qs(body.decode(errors="replace"))
    text = form.get("link", [""])[0].strip()
    link = LINK.search(text)
    if link and link[1] != study.base:
        return RedirectResponse(link[0], status_code=303)  # a link of another study of this server
    secret = re.split(r"[?#]", text)[0].rpartition("/")[2]
    return await _in_turn(request, lambda study: _signed_in(study, request, secret, instead="instead" in form))


async def _ask(request: Request) -> Response:
    """Ask to take part with the link for all, and go on to the personal link of who asked."""
    if not same_origin(request):
        return page("Take part", "This form came from another site, so it was refused.", status=403)
    try:
        body = await body_of(request, MAX_FORM_BYTES)
    except BodyRefused as refusal:
        words = "The server did not receive the form, or it is too long. Open the link again."
        return page("Take part", words, status=refusal.status, headers=CLOSING)
    form = {name: values[0] for name, values in parse_qs(body.decode(errors="replace")).items()}
    secret, name, email = (form.get(key, "") for key in ("link", "name", "email"))

    def answer(study: ServedStudy) -> Response:
        address, wrong, asks = _address(request), study.part(_wrong_sign_ins), study.part(_asks)
        wait_s = math.ceil(max(wrong.wait_s(address), asks.wait_s(address)))
        if wait_s:
            words = f"Too many requests came from your address. Try again in {wait_s} s."
            return page("Take part", words, status=429, headers={"Retry-After": str(wait_s)})
        asks.note(address)
        try:
            with study.open() as db:
                try:
                    personal = joining.ask(db, secret, name, email, now=datetime.now(UTC))
                except InputError as error:
                    return _offer(db, study, secret, name, email, str(error))
        except SignInFailed as error:
            wrong.note(address)
            return page("Sign in", str(error), _forms(study), status=REFUSED)
        except LabelerError as error:
            return unavailable(error)
        return RedirectResponse(f"{study.base}/join/{personal}", status_code=303, headers={"Cache-Control": "no-store"})

    return await _in_turn(request, answer)


def _offer(db: Database, study: ServedStudy, secret: str, name: str = "", email: str = "", why: str = "") -> Response:
    """Return the form behind the link for all; raises UnknownLink as `joining.usable_link` does."""
    link = joining.usable_link(db, secret, now=datetime.now(UTC))
    field = EMAIL_FIELD.format(email=escape(email)) if link.asks_email else ""
    form = ASK_FORM.format(
        base=study.base, secret=escape(secret), name=escape(name), most=identity.MAX_NAME_LENGTH, email=field
    )
    words = f"This link lets you take part in the study “{coordinating.get_study(db).name}”."
    return page("Take part", why or words, form, status=400 if why else 200)


def _behind(db: Database, study: ServedStudy, secret: str) -> Response:
    """Return the page of who waits to be admitted, or of the link for all; raises UnknownLink for other secrets."""
    if joining.waits(db, secret):
        return page("Please wait", WAITING_WORDS, headers={"Refresh": str(RETRY_S)})
    return _offer(db, study, secret)


async def _sign_in_by_provider(request: Request) -> Response:
    """Redirect to the identity provider, or sign in a person who returns from there."""
    study: ServedStudy = request.scope[SCOPE]
    if not provider.is_configured():
        return RedirectResponse(f"{study.base}/sign-in", status_code=303)
    arrival = provider.arrival(request.cookies)
    if arrival is None:
        leaving = RedirectResponse(provider.login_path(), status_code=303)
        set_cookie(leaving, request, ARRIVING_COOKIE, study.study_id, max_age=ARRIVING_S, path="/")
        return leaving
    if arrival.email is None:
        return _cleared(page("Sign in", NO_ADDRESS, _forms(study), status=403), request)
    email, has_agreed = arrival.email, request.method == "POST" and same_origin(request)

    def answer(study: ServedStudy) -> Response:
        form = PROVIDER_FORM.format(base=study.base)
        asked = not has_agreed and _asks_first(study, request, lambda db: identity.person_of_email(db, email), form)
        # while the question is open, the cookie of the provider stays for the answer
        return asked or _cleared(_let_in(study, request, partial(identity.sign_in_as, email=email)), request)

    return await _in_turn(request, answer)


def arrived_study(connection: HTTPConnection, studies: ServedStudies) -> ServedStudy | None:
    """Return the study to which a person signs in who returns from the identity provider; return None for others."""
    if provider.arrival(connection.cookies) is None:  # also people who are signed in with another name
        return None
    return studies.find(connection.cookies.get(ARRIVING_COOKIE, "")) or studies.only()


def _forms(study: ServedStudy) -> str:
    """Return the HTML of the link to the identity provider, if there is one, and of the form for a pasted link."""
    return ((PROVIDER_LINK if provider.is_configured() else "") + SIGN_IN_FORM).format(base=study.base)


def _cleared(response: Response, request: Request) -> Response:
    """Remove Streamlit's login cookies from the browser.

    Otherwise, these cookies would sign the person in again although the person did not ask for it.
    """
    for name in provider.cookies_to_clear(request.cookies):
        response.delete_cookie(name, path="/")
    return response


def _signed_in(study: ServedStudy, request: Request, secret: str, *, instead: bool = False) -> Response:
    """Sign in the person who has a secret, or explain why the person cannot sign in.

    If another person is signed in, ask first. If `instead` is set, the person has already confirmed the change.
    """
    refusal = _refused(study, request, secret)
    if refusal is not None:
        return refusal
    form = SWITCH_FORM.format(base=study.base, secret=escape(secret))
    now = datetime.now(UTC)
    asked = (
        None
        if instead
        else _asks_first(study, request, lambda db: identity.person_of_invitation(db, secret, now=now), form)
    )
    return asked or _let_in(study, request, partial(identity.sign_in, secret=secret))


def _refused(study: ServedStudy, request: Request, secret: str) -> Response | None:
    """Return the page of a secret that signs nobody in; return None if it does. Wrong secrets are counted.

    The page says why not; behind the link for all, it asks for a name, and later to wait.
    """
    address, wrong = _address(request), study.part(_wrong_sign_ins)
    wait_s = math.ceil(wrong.wait_s(address))
    if wait_s:
        words = f"Too many invalid sign-in links came from your address. Try again in {wait_s} s."
        again = {"Refresh": str(wait_s)} if request.method == "GET" else {}  # who waits to be admitted goes on
        return page("Sign in", words, _forms(study), status=429, headers={"Retry-After": str(wait_s), **again})
    try:
        with study.open() as db:
            try:
                identity.person_of_invitation(db, secret, now=datetime.now(UTC))
            except UnknownLink:
                return _behind(db, study, secret)
    except SignInFailed as error:
        wrong.note(address)
        return page("Sign in", str(error), _forms(study), status=REFUSED)
    except LabelerError as error:
        return unavailable(error)
    return None


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _asks_first(
    study: ServedStudy, request: Request, invited_by: Callable[[Database], Person], form: str
) -> Response | None:
    """Return the page that asks whether to switch to another person, with a form that says yes.

    Return None if the question is not needed. Without it, a link on another site could change who is signed in.
    """
    now = datetime.now(UTC)
    try:
        token = study.session_of(request.cookies)
        if token is None:
            return None
        with study.open() as db:
            current = identity.person_of_session(db, token, now=now)
            invited = invited_by(db)
            here, new = ("" if person is None else identity.own_name(db, person.name) for person in (current, invited))
    except LabelerError:
        return None  # errors are shown later, when the person signs in
    if current is None or current.person_id == invited.person_id:
        return None
    extra = (
        f"{form}<button>Continue as {escape(new)}</button></form>"
        f'<p><a href="{study.base}/">Stay signed in as {escape(here)}</a></p>'
    )
    words = f"You are signed in as {here}. Continue as {new}? This signs out {here} on this device."
    return page("Switch person", words, extra)


def _let_in(study: ServedStudy, request: Request, sign_in: Callable[..., str]) -> Response:
    """Set the cookie of a new session and open the application, or explain why this is not possible."""
    try:
        with study.open() as db:
            token = sign_in(db, before=study.session_of(request.cookies) or "", now=datetime.now(UTC))
    except SignInFailed as error:
        return page("Sign in", str(error), _forms(study), status=REFUSED)
    except LabelerError as error:
        return unavailable(error)
    response = RedirectResponse(
        f"{study.base}{_first_page(request)}", status_code=303, headers={"Cache-Control": "no-store"}
    )
    lasts_s = identity.SESSION_DAYS * 86400
    set_cookie(response, request, study.cookie, token, max_age=lasts_s, path=study.base)
    _note_studies(response, request, [study.study_id, *_other_studies(request, study)])
    return response


def _other_studies(request: Request, study: ServedStudy) -> list[str]:
    return [study_id for study_id in studies_in(request.cookies) if study_id != study.study_id]


def _note_studies(response: Response, request: Request, ids: Sequence[str]) -> None:
    """Let the browser keep the ids of the studies to which it is signed in, for the page Studies."""
    if ids:
        lasts_s = identity.SESSION_DAYS * 86400
        set_cookie(response, request, STUDIES_COOKIE, ".".join(ids[:MAX_KNOWN]), max_age=lasts_s, path="/")
    else:
        response.delete_cookie(STUDIES_COOKIE, path="/")


def set_cookie(response: Response, request: Request, name: str, value: str, *, max_age: int, path: str) -> None:
    """Set a cookie that no script can read, and that is sent only over HTTPS if this request was."""
    is_secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=max_age, httponly=True, samesite="lax", secure=is_secure, path=path)


def _first_page(request: Request) -> str:
    """Return the path of the page that the link names, such as ?page=results; otherwise, that of the first page.

    A page of another site is never returned.
    """
    page = request.query_params.get("page", "")
    return f"/{page}" if re.fullmatch(r"[a-z-]{1,40}", page) else "/"


async def _sign_out(request: Request) -> Response:
    """End the session of this study on this device only. Requires a form posted from this site."""

    def answer(study: ServedStudy) -> Response:
        token = study.session_of(request.cookies) or ""
        try:
            with study.open() as db:
                now = datetime.now(UTC)
                person = identity.person_of_session(db, token, now=now)
                owner = reviewing.browser_owner(coordinating.get_study(db), person) if person else ""
                if request.method != "POST" or not same_origin(request):
                    form = SIGN_OUT_FORM.replace("BASE", study.base).replace("OWNER", owner)
                    return page("Sign out", "Sign out on this device?", form)
                identity.sign_out(db, token, now=now)
        except LabelerError as error:
            return unavailable(error)
        forget = f"<script>{FORGET.replace('OWNER', owner)}</script>" if owner else ""
        response: Response = page("Signed out", "You are signed out. Your labels are kept.", forget)
        if study.cookie in request.cookies:
            response.delete_cookie(study.cookie, path=study.base)
            _note_studies(response, request, _other_studies(request, study))
        return _cleared(response, request)

    return await _in_turn(request, answer)


def no_study() -> Response:
    """Return the page for an address that belongs to no study of this server."""
    return page("No such study", NO_STUDY, status=404)


def unavailable(error: LabelerError) -> Response:
    """Return the page that is shown while the study cannot be opened.

    Only the server's log has the path of the study.
    """
    log.warning("%s", one_line(str(error)))
    words = f"{for_anyone(error)} Answers that are not saved yet are kept in this browser."
    return page("Temporarily unavailable", words, status=503, headers={"Refresh": str(RETRY_S)})


def page(
    title: str,
    text: str,
    extra: str = "",
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """Return a page without Streamlit; `extra` is HTML."""
    return HTMLResponse(
        f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ font: 17px/1.6 system-ui, sans-serif; color: #1b2a41; max-width: 34rem; margin: 18vh auto }}
button, input {{ font: inherit; padding: .4rem 1rem; max-width: 100%; box-sizing: border-box }}
input {{ width: 22rem }} body {{ padding: 0 1rem }}
@media (prefers-color-scheme: dark) {{ body {{ background: #14181f; color: #e6eaf0 }} a {{ color: #8fc0f0 }}
button, input {{ background: #1c222b; color: inherit; border: 1px solid #7f8b9b }} }}</style></head>
<body><main><h1>{escape(title)}</h1><p>{escape(text)}</p>{extra}</main></body></html>""",
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
