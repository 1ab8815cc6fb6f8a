"""The page Studies, which lists the studies of a browser, and the start link, with which studies are created there.

A browser sends the cookie of a session only to the pages of its study. Therefore, the page asks each study by itself.
"""

import hmac
import json
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route, Router

from labeler.errors import LabelerError
from labeler.studies.course import coordinating
from labeler.studies.items import folders
from labeler.studies.people import identity
from labeler.studies.store import open_database
from labeler.studies.ui import sign_in
from labeler.studies.ui.answers import PROTOCOL, PROTOCOL_HEADER, SUMMARY
from labeler.studies.ui.bodies import BodyRefused, body_of
from labeler.studies.ui.limits import WrongSignIns
from labeler.studies.ui.served import START_COOKIE, ServedStudies, studies_in
from labeler.studies.ui.sign_in import MAX_FORM_BYTES, is_visit, page, same_origin

COORDINATOR = "coordinator"  # the name of the first coordinator of a new study
STARTED_S = 12 * 3600  # how long a browser may create studies after it has opened the start link
START_FORM = '<form method="post"><button autofocus>Continue</button></form>'
CREATE_FORM = """<h2>New study</h2><form method="post" action="/create">
<p><label for="name">Name of the study, which is also the name of its file:</label></p>
<p><input id="name" name="name" autocomplete="off" required> <button>Create the study</button></p></form>"""
NONE_YET = "You are not signed in to any study in this browser. Open the sign-in link that your coordinator gave you."
HOLDER = "You opened the start link of this server, so you can create studies here."
LIST = """<p id="words">Loading …</p><ul id="studies" class="studies"></ul><script>
const [ids, path, headers, none] = CONTENT;
const ask = (id) => fetch(path.replace("ID", id), { headers, cache: "no-store", redirect: "error" })
  .then((reply) => (reply.ok ? reply.json() : null)).catch(() => null);
Promise.all(ids.map(ask)).then((found) => {
  found.forEach((study, number) => {
    if (!study) return;
    const row = document.createElement("li"), link = document.createElement("a"), facts = document.createElement("p");
    link.href = path.replace("ID", ids[number]).replace(/api.*/, "");
    link.textContent = study.name;
    facts.textContent = `Signed in as ${study.person}, ${study.roles}. The study is ${study.state}. ${study.waits}`;
    row.append(link, facts);
    document.getElementById("studies").append(row);
  });
  document.getElementById("words").textContent = found.some(Boolean) ? "" : none;
});
</script>"""


class StudiesPage:
    """Answers the requests that belong to no study."""

    def __init__(self, studies: ServedStudies) -> None:
        self._studies, self._wrong = studies, WrongSignIns()
        self.router = Router([
            Route("/", self._list),
            Route("/start/{secret}", self._start, methods=["GET", "POST"]),
            Route("/create", self._create, methods=["POST"]),
            Route("/{path:path}", lambda _request: sign_in.no_study()),
        ])  # fmt: skip

    def _list(self, request: Request) -> Response:
        """List the studies to which this browser is signed in; the holder of the start link can create one."""
        only = self._studies.only()
        if only is not None:
            return RedirectResponse(f"{only.base}/", status_code=303)
        ids = [study_id for study_id in studies_in(request.cookies) if self._studies.find(study_id)]
        content = json.dumps([ids, f"{identity.path_of_study('ID')}{SUMMARY}", {PROTOCOL_HEADER: PROTOCOL}, NONE_YET])
        is_holder = self._studies.may_create(request.cookies)
        return page("Studies", HOLDER if is_holder else "", LIST.replace("CONTENT", content) + CREATE_FORM * is_holder)

    async def _start(self, request: Request) -> Response:
        """Let the browser that opened the start link create studies. Showing a preview of the link changes nothing."""
        where = request.client.host if request.client else ""
        if not is_visit(request) or self._wrong.wait_s(where):
            return page("Studies", "The start link cannot be used here now.", status=403)
        given, start = request.path_params["secret"], self._studies.start_secret
        if not start or not hmac.compare_digest(given.encode(), start.encode()):
            self._wrong.note(where)
            words = "This start link is not valid. The server prints a new one whenever it starts."
            return page("Studies", words, status=403)
        if request.method != "POST" or not same_origin(request):
            return page("Studies", "With this link, you can create studies on this server.", START_FORM)
        response = RedirectResponse("/", status_code=303)
        sign_in.set_cookie(response, request, START_COOKIE, start, max_age=STARTED_S, path="/")
        return response

    async def _create(self, request: Request) -> Response:
        """Create a study in the folder of the server, and open the sign-in link of its coordinator."""
        folder = self._studies.folder
        if folder is None or not same_origin(request) or not self._studies.may_create(request.cookies):
            return page("Studies", "Only the holder of the server's start link can create studies.", status=403)
        try:
            form = parse_qs((await body_of(request, MAX_FORM_BYTES)).decode(errors="replace"))
        except BodyRefused as refusal:
            return page("Studies", "The server did not receive the form. Try again.", status=refusal.status)
        return await run_in_threadpool(self._created, folder, form.get("name", [""])[0])

    def _created(self, folder: Path, name: str) -> Response:
        try:
            path = folders.path_in_study_folder(folder / "any", name)
            secret = coordinating.create_study(path, name=path.stem, coordinator=COORDINATOR, now=datetime.now(UTC))
            self._studies.look()
            with open_database(path) as db:
                return RedirectResponse(identity.sign_in_path(db, secret), status_code=303)
        except LabelerError as error:
            return page("Studies", str(error), CREATE_FORM, status=400)
