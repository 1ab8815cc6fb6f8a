"""Messages through a real connection to a small mail server on this machine."""

import email
import socketserver
import threading
from contextlib import contextmanager

import pytest

from labeler.errors import InputError
from labeler.studies.people import mailing
from labeler.studies.people.mailing import Mail, mail_server, send

TEXT = "Grüße,\n\nhttp://x/join/y\n"


class Session(socketserver.StreamRequestHandler):
    """One connection: keeps the messages, and refuses addresses that begin with "nobody"."""

    def handle(self):
        self.say(220, "ready")
        for line in iter(self.rfile.readline, b""):
            verb = line.split()[0].upper()
            if verb == b"EHLO":
                self.say(250, "here")
            elif verb == b"RCPT" and b"<nobody" in line:
                self.say(550, "no such mailbox")
            elif verb == b"DATA":
                self.say(354, "go on")
                lines = list(iter(self.rfile.readline, b".\r\n"))
                self.server.received.append(email.message_from_bytes(b"".join(lines)))
                self.say(250, "kept")
            elif verb == b"QUIT":
                self.say(221, "bye")
                return
            else:
                self.say(250, "ok")

    def say(self, code, words):
        self.wfile.write(f"{code} {words}\r\n".encode())


@contextmanager
def mail_server_here():
    """A server on a free port: its address, and the messages that it receives."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session) as server:
        server.received = []
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"smtp://127.0.0.1:{server.server_address[1]}?from=study@example.org", server.received
        server.shutdown()
        thread.join(30)


def test_a_message_arrives_as_it_was_written_and_a_refused_address_stops_nobody_elses():
    mails = [
        Mail("nobody", "nobody@example.org", "x", "never"),
        Mail("ada", "ada@example.org", "Caches\nBcc: evil@example.org", TEXT, "carol@example.org"),
    ]  # fmt: skip
    with mail_server_here() as (address, received):
        assert send(mail_server(address), mails) == {"nobody": "no such mailbox"}
    (message,) = received
    assert (message["From"], message["To"], message["Reply-To"]) == (
        "study@example.org", "ada@example.org", "carol@example.org",
    )  # fmt: skip
    assert message["Bcc"] is None and "Caches" in message["Subject"]
    assert message.get_payload(decode=True).decode().replace("\r\n", "\n") == TEXT


def test_a_server_elsewhere_must_encrypt(monkeypatch):
    monkeypatch.setattr(mailing, "is_of_this_machine_only", lambda _host: False)
    with mail_server_here() as (address, received):
        with pytest.raises(InputError, match="STARTTLS"):
            send(mail_server(address), [Mail("ada", "ada@example.org", "x", "secret")])
        assert received == []


def test_a_server_that_is_away_is_named_without_the_password():
    with pytest.raises(InputError, match=r"mail server 127\.0\.0\.1 did not accept") as caught:
        send(mail_server("smtp://ada:hunter2@127.0.0.1:9?from=a@b"), [Mail("ada", "ada@example.org", "x", "y")])
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["mail.example.org", "smtp://", "smtp://host", "http://host?from=a@b", "smtp://h:x?from=a@b"]
)
def test_an_address_that_is_no_mail_server_is_refused_without_being_repeated(text):
    with pytest.raises(InputError, match="LABELER_SMTP is not a mail server") as caught:
        mail_server(text)
    assert text not in str(caught.value).replace("smtp://USER", "")


def test_the_parts_of_an_address_are_read():
    server = mail_server("smtp://a%40b:p%2Fw@mail.example.org?from=study@example.org")
    assert (server.user, server.password, server.port, server.has_tls) == ("a@b", "p/w", 587, False)
