"""The browser receives no details of the server, Streamlit receives only what pages need, and pages still work."""

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from labeler.studies.model import Person, Role
from labeler.studies.ui import messages
from labeler.studies.ui.limits import RateLimit
from labeler.studies.ui.messages import MAIN_PAGE, MAX_FILES, MESSAGES_PER_S, Messages
from tests.labeler.studies.ui.waiting import finished

PATH = "/home/wilhelmina/fresh/vexillum-retest/labeler/ui/app.py"
MAIN = "2b7fa45ec4f849d9e7d27ce5b56b64cb"
SECRETS = (
    PATH, MAIN, "49209834-c7df", "no-machine-id", "1.67.0", "3.11.7", "linux", "non_loopback_private",
)  # fmt: skip


def new_session():
    message = ForwardMsg(hash="e05978f02613c9443a607858cbb1873f")
    session = message.new_session
    session.name, session.main_script_path, session.main_script_hash, session.page_script_hash = "app", PATH, MAIN, MAIN
    session.app_pages.add(page_script_hash=MAIN)
    session.config.max_cached_message_age = 2
    started = session.initialize
    started.session_id = "66facb73-9ce6"
    started.session_status.script_is_running = True
    started.user_info.installation_id = started.user_info.installation_id_v3 = "49209834-c7df"
    started.user_info.installation_id_v4 = "no-machine-id-v4"
    started.environment_info.streamlit_version, started.environment_info.python_version = "1.67.0", "3.11.7"
    started.environment_info.server_os, started.environment_info.has_display = "linux", True
    started.skills_nudge_suppressed_reason = "non_loopback_private"
    return message


ADA = Person(1, "ada", frozenset({Role.REVIEWER}), active=True)
GRACE = Person(2, "grace", frozenset({Role.COORDINATOR}), active=True)


def through(*messages, replies=(), person=ADA, signed_in=True, rate=None):
    """Return what the browser receives of these messages, and what Streamlit receives of the browser's replies."""
    sent, incoming = [], [*replies, {"type": "websocket.disconnect"}]

    async def send(message):
        sent.append(message)

    async def receive():
        return incoming.pop(0)

    async def one_who_is():
        return person if signed_in else None

    async def talk():
        window = Messages(receive, send, person, one_who_is, rate or RateLimit(1e9))
        for message in messages:
            await window.send({"type": "websocket.send", "bytes": message.SerializeToString()})
        received = [await window.receive()]
        while received[-1]["type"] != "websocket.disconnect":
            received.append(await window.receive())
        return received[:-1]

    received = finished(talk())
    return [message["bytes"] for message in sent], [message["bytes"] for message in received]


def from_browser(message):
    return {
        "type": "websocket.receive",
        "bytes": message if isinstance(message, bytes) else message.SerializeToString(),
    }


def request(kind, **fields):
    """A message of this kind, as small as it can be."""
    message = BackMsg()
    part = getattr(message, kind)
    if isinstance(part, bool):
        setattr(message, kind, True)
    elif isinstance(part, str):
        setattr(message, kind, "x")
    else:
        part.SetInParent()
        for name, value in fields.items():
            getattr(part, name).extend(value) if isinstance(value, list) else setattr(part, name, value)
    return message


def test_a_new_session_tells_nothing_of_the_server_and_all_that_the_browser_needs():
    ((frame,), _) = through(new_session())
    assert [secret for secret in SECRETS if secret.encode() in frame] == []
    session = ForwardMsg.FromString(frame).new_session
    assert (session.initialize.session_id, session.initialize.session_status.script_is_running) == (
        "66facb73-9ce6",
        True,
    )
    assert session.initialize.HasField("user_info")
    assert session.initialize.HasField("environment_info")
    assert (session.main_script_hash, session.app_pages[0].page_script_hash) == (MAIN_PAGE, MAIN_PAGE)
    assert (session.name, session.config.max_cached_message_age) == ("app", 2)


def test_a_browser_still_notices_another_version_of_streamlit():
    def token(version):
        message = new_session()
        message.new_session.initialize.environment_info.streamlit_version = version
        ((frame,), _) = through(message)
        return ForwardMsg.FromString(frame).new_session.initialize.environment_info.streamlit_version

    assert token("1.67.0") == token("1.67.0") != token("1.68.0")


def test_the_main_page_has_one_name_in_all_messages_and_streamlit_gets_its_own_back():
    element = ForwardMsg()
    element.metadata.active_script_hash = MAIN
    element.delta.new_element.markdown.body = "Label"
    rerun = BackMsg()
    rerun.rerun_script.page_script_hash = MAIN_PAGE
    (_, frame), (answer,) = through(new_session(), element, replies=[from_browser(rerun)])
    assert ForwardMsg.FromString(frame).metadata.active_script_hash == MAIN_PAGE
    assert BackMsg.FromString(answer).rerun_script.page_script_hash == MAIN


@pytest.mark.parametrize("place", ["a widget", "a page name"])
def test_the_name_of_the_main_page_is_no_way_to_learn_what_it_stands_for(place):
    rerun = BackMsg()
    if place == "a widget":
        rerun.rerun_script.widget_states.widgets.add(id="x", string_value=MAIN_PAGE)
    else:
        rerun.rerun_script.page_name = MAIN_PAGE
    frame = rerun.SerializeToString()
    _, (answer,) = through(new_session(), replies=[from_browser(frame)])
    assert answer == frame


KINDS = sorted(field.name for field in BackMsg.DESCRIPTOR.fields_by_name.values() if field.containing_oneof)
FOR_REVIEWERS = {"rerun_script"}
FOR_COORDINATORS = {"rerun_script", "file_urls_request", "backend_operation_request"}


@pytest.mark.parametrize("kind", KINDS)
def test_streamlit_gets_only_the_kinds_of_messages_that_pages_of_the_role_need(kind):
    for person, allowed in ((ADA, FOR_REVIEWERS), (GRACE, FOR_COORDINATORS)):
        _, received = through(new_session(), replies=[from_browser(request(kind))], person=person)
        assert bool(received) == (kind in allowed)


@pytest.mark.parametrize("unreadable", [{"text": "hello"}, {"bytes": b"\xff" * 20}, {"bytes": b"GET / HTTP/1.1"}])
def test_a_message_that_streamlit_cannot_read_is_dropped_and_the_window_goes_on(unreadable):
    page = request("rerun_script", query_string="x")
    _, received = through(replies=[{"type": "websocket.receive", **unreadable}, from_browser(page)])
    assert received == [page.SerializeToString()]


def test_after_signing_out_only_whole_pages_are_run():
    whole, part = request("rerun_script"), request("rerun_script", fragment_id="clock")
    upload = request("file_urls_request")
    replies = [from_browser(message) for message in (part, upload, whole)]
    assert len(through(replies=replies, person=GRACE)[1]) == 3
    assert through(replies=replies, person=GRACE, signed_in=False)[1] == [whole.SerializeToString()]


@pytest.mark.parametrize(("n", "n_passed"), [(MAX_FILES, 1), (MAX_FILES + 1, 0), (10_000, 0)])
def test_a_request_for_too_many_uploads_is_dropped(n, n_passed):
    upload = request("file_urls_request", file_names=["x"] * n)
    assert len(through(replies=[from_browser(upload)], person=GRACE)[1]) == n_passed


def waits_of(*messages, person=GRACE):
    """How long a person waits in all to send these messages one after another."""
    now, waited = [0.0], []
    rate = RateLimit(MESSAGES_PER_S, clock=lambda: now[0])
    original = rate.wait_s

    def wait_s(key, cost):
        wait = original(key, cost)
        now[0] += wait
        waited.append(wait)
        return 0.0 if wait == 0 else 1e-9

    rate.wait_s = wait_s
    through(replies=[from_browser(message) for message in messages], person=person, rate=rate)
    return sum(waited)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("person", [ADA, GRACE])
def test_a_flood_of_messages_of_any_kind_makes_its_sender_wait(kind, person):
    assert waits_of(*[request(kind)] * MESSAGES_PER_S, person=person) == 0
    assert waits_of(*[request(kind)] * 3 * MESSAGES_PER_S, person=person) == pytest.approx(2, rel=0.01)


def test_a_large_message_makes_its_sender_wait_longer_even_if_it_is_dropped():
    uploads = request("file_urls_request", file_names=["x"] * MAX_FILES)
    assert waits_of(*[uploads] * 3) == pytest.approx(2 * (1 + MAX_FILES / 50) / MESSAGES_PER_S, rel=0.1)
    too_many = request("file_urls_request", file_names=["x" * 100] * 20_000)
    assert waits_of(*[too_many] * 3, person=ADA) > 2 * 2_000_000 / messages.BYTES_PER_TURN / MESSAGES_PER_S
    for unreadable in (b"\xff" * 2_000_000, too_many.SerializeToString()[:-1]):
        assert waits_of(*[unreadable] * 3) > 3


def test_fields_that_a_later_version_adds_are_removed(monkeypatch):
    monkeypatch.setattr(messages, "SESSION_FIELDS", messages.SESSION_FIELDS - {"name"})
    ((frame,), _) = through(new_session())
    assert ForwardMsg.FromString(frame).new_session.name == ""


def test_every_field_that_pages_need_exists_in_this_version_of_streamlit():
    session = new_session().new_session
    assert {field.name for field in session.DESCRIPTOR.fields} >= messages.SESSION_FIELDS
    kept = {"session_id", "is_hello", "session_status", "user_info", "environment_info"}
    assert {field.name for field in session.initialize.DESCRIPTOR.fields} >= kept
