"""The browser receives no details of the server, and pages still work."""

import re
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from labeler.ui.frames import MAIN_PAGE, Frames
from tests.labeler.ui.waiting import finished

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


def through(*messages, answers=()):
    """Return the message as the browser receives it, and then the reply as the server receives it."""
    sent, incoming = [], list(answers)

    async def send(message):
        sent.append(message)

    async def receive():
        return incoming.pop(0)

    async def talk():
        frames = Frames(receive, send)
        for message in messages:
            await frames.send({"type": "websocket.send", "bytes": message.SerializeToString()})
        return [await frames.receive() for _ in answers]

    received = finished(talk())
    return [message["bytes"] for message in sent], received


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
    (_, frame), (answer,) = through(
        new_session(), element, answers=[{"type": "websocket.receive", "bytes": rerun.SerializeToString()}]
    )
    assert ForwardMsg.FromString(frame).metadata.active_script_hash == MAIN_PAGE
    assert BackMsg.FromString(answer["bytes"]).rerun_script.page_script_hash == MAIN


@pytest.mark.parametrize("place", ["a widget", "a page name"])
def test_the_name_of_the_main_page_is_no_way_to_learn_what_it_stands_for(place):
    rerun = BackMsg()
    if place == "a widget":
        rerun.rerun_script.widget_states.widgets.add(id="x", string_value=MAIN_PAGE)
    else:
        rerun.rerun_script.page_name = MAIN_PAGE
    frame = rerun.SerializeToString()
    _, (answer,) = through(new_session(), answers=[{"type": "websocket.receive", "bytes": frame}])
    assert answer["bytes"] == frame


def test_what_holds_no_bytes_stays_unchanged():
    odd = [{"type": "websocket.receive", "text": "hello"}, {"type": "websocket.disconnect"}]
    _, received = through(new_session(), answers=odd)
    assert received == odd


def test_every_field_of_a_new_session_is_known_to_be_harmless_or_concealed():
    """A new version of Streamlit may send more: check the field, then add it here."""
    session = new_session().new_session
    known = {
        "initialize", "name", "main_script_path", "config", "custom_theme", "app_pages", "page_script_hash",
        "main_script_hash",
    }  # fmt: skip
    assert {field.name for field in session.DESCRIPTOR.fields} == known
    kept = {"session_id", "is_hello", "session_status", "user_info", "environment_info"}
    dropped = {"recommend_skills_install", "skills_nudge_suppressed_reason"}
    assert {field.name for field in session.initialize.DESCRIPTOR.fields} == kept | dropped
    told = {field.name for field in session.config.DESCRIPTOR.fields}
    assert not [name for name in told if re.search("path|host|version|user|machine|folder", name)], Path(PATH)
