"""Browsers of people who are signed in, for the requests of the review component, without a window."""

import json
from datetime import UTC, datetime
from urllib.parse import urlencode
from uuid import uuid4

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.store import open_database
from labeler.studies.ui import answers, sign_in
from labeler.studies.ui.app import request_token
from labeler.studies.ui.gate import SignInGate
from labeler.studies.ui.served import ServedStudies, ServedStudy

NOW = datetime.now(UTC)  # sessions use the current time
BASE = "http://testserver"


def served_study(path):
    """The study in this file, as a server has it."""
    with open_database(path) as db:
        return ServedStudy(identity.study_id(db), path, prefetches=False)


def session_cookie(path):
    """The name of the session cookie of the study in this file."""
    return served_study(path).cookie


def gated(paths, *routes):
    """The real gate in front of these routes, for the studies in these files."""
    return gated_studies(ServedStudies(map(served_study, paths)), *routes)


def gated_studies(studies, *routes):
    """The real gate in front of these routes."""
    return Starlette(routes=list(routes), middleware=[Middleware(SignInGate, studies=studies)])


def serving(*paths):
    """The real gate, and the routes for signing in and for labels."""
    return gated(paths, *sign_in.routes(), *answers.routes())


def client_of(server, path, origin=BASE):
    """A browser that has opened a study; paths are those within the study."""
    own = {answers.PROTOCOL_HEADER: answers.PROTOCOL}
    return TestClient(server, base_url=f"{origin}{served_study(path).base}", headers=own, follow_redirects=False)


def origin_of(client):
    """The site of a browser: scheme and host."""
    return f"{client.base_url.scheme}://{client.base_url.netloc.decode()}"


def join(client, secret, headers=None):
    """Open a sign-in link and press its button; return the refusal of the link, if there is one."""
    page = client.get(f"/join/{secret}", headers=headers)
    if page.status_code != 200 or 'name="link"' not in page.text:
        return page
    own = {"origin": origin_of(client), "content-type": "application/x-www-form-urlencoded", **(headers or {})}
    return client.post("/sign-in", content=urlencode({"link": secret}), headers=own)


class Browser:
    """A browser in which a person is signed in."""

    def __init__(self, server, study, name, role=Role.REVIEWER):
        with open_database(study) as db:
            secret = identity.invite(db, name, role, actor="test", now=NOW)
        self.client = client_of(server, study)
        join(self.client, secret)
        self.session = self.client.cookies[session_cookie(study)]
        self.headers = {"origin": BASE, answers.TOKEN_HEADER: request_token(self.session)}

    def post(self, path, content, **headers):
        return self.client.post(path, content=json.dumps(content), headers=self.headers | headers)

    def answer(self, *events, **more):
        return self.post(answers.ANSWERS, {"answers": list(events), **more})

    def state(self):
        return self.client.get(answers.STATE).json()


def event(offer, answer="similar", **more):
    fields = {"code": offer["code"], "revision": offer["revision"], "answer": answer, "dwell_ms": 900, "view": {}}
    return {"event_id": uuid4().hex, **fields, **more}
