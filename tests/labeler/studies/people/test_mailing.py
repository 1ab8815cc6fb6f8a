"""Messages through a real connection to a small mail server on this machine."""

import base64
import email
import socketserver
import ssl
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from labeler.errors import InputError
from labeler.studies.people import mailing
from labeler.studies.people.mailing import Mail, mail_server, send

PASSWORD = "p/w:@"
TEXT = "Grüße,\n\nhttp://x/join/y\n"


class Session(socketserver.StreamRequestHandler):
    """One connection: keeps logins and messages, and refuses addresses that begin with "nobody".

    With a certificate, the server encrypts at once or after STARTTLS, and accepts a login only then.
    """

    def setup(self):
        if self.server.tls and self.server.at_once:
            self.encrypt()
        super().setup()

    def encrypt(self):
        self.request = self.server.tls.wrap_socket(self.request, server_side=True)

    def finish(self):
        super().finish()
        self.request.close()  # the server knows only the socket without encryption

    def handle(self):
        self.say(220, "ready")
        for line in iter(lambda: self.rfile.readline(), b""):  # another file after STARTTLS
            verb = line.split()[0].upper()
            if verb == b"EHLO":
                can = (
                    ["AUTH PLAIN"] if isinstance(self.request, ssl.SSLSocket) else ["STARTTLS"] * bool(self.server.tls)
                )
                words = ["here", *can]
                self.wfile.write("".join(f"250-{word}\r\n" for word in words[:-1]).encode())
                self.say(250, words[-1])
            elif verb == b"STARTTLS":
                self.say(220, "go on")
                self.encrypt()
                super().setup()
            elif verb == b"AUTH":
                _, user, password = base64.b64decode(line.split()[2]).decode().split("\0")
                self.server.logins.append((user, password))
                self.say(*((235, "welcome") if password == PASSWORD else (535, "wrong password")))
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
def mail_server_here(tls=None, *, at_once=False):
    """A server on a free port: its address, and the messages that it receives."""
    with quiet_server(tls, at_once=at_once) as server:
        yield f"smtp://127.0.0.1:{server.server_address[1]}?from=study@example.org", server.received


class Server(socketserver.ThreadingTCPServer):
    """Without a word about connections that end early."""

    def handle_error(self, request, client_address):
        pass


@contextmanager
def quiet_server(tls=None, *, at_once=False):
    with Server(("127.0.0.1", 0), Session) as server:
        server.received, server.logins, server.tls, server.at_once = [], [], tls, at_once
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
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


# --- encryption and login


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for this machine that signed itself, with its key, in one file."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mail server of a test")])
    here = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
        .add_extension(here, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = tmp_path_factory.mktemp("mail") / "certificate.pem"
    file.write_bytes(made.public_bytes(pem) + secret)
    return file


@pytest.fixture
def elsewhere(certificate, monkeypatch):
    """A server that must encrypt, as one on another machine; how it encrypts."""
    monkeypatch.setattr(mailing, "is_of_this_machine_only", lambda _host: False)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    return tls


def login(server, scheme, password="p%2Fw%3A%40"):
    return mail_server(f"{scheme}://ada:{password}@127.0.0.1:{server.server_address[1]}?from=study@example.org")


BOTH_WAYS = pytest.mark.parametrize("scheme", ["smtp", "smtps"])
MAIL = Mail("ada", "ada@example.org", "Caches", TEXT)


@BOTH_WAYS
def test_a_server_elsewhere_gets_login_and_message_encrypted(elsewhere, certificate, monkeypatch, scheme):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with quiet_server(elsewhere, at_once=scheme == "smtps") as server:
        assert send(login(server, scheme), [MAIL]) == {}
    assert server.logins == [("ada", PASSWORD)]
    assert [message["To"] for message in server.received] == ["ada@example.org"]


@BOTH_WAYS
def test_a_certificate_that_nobody_vouches_for_gets_neither_login_nor_message(elsewhere, scheme):
    refused = pytest.raises(InputError, match="certificate verify failed")
    with quiet_server(elsewhere, at_once=scheme == "smtps") as server, refused:
        send(login(server, scheme), [MAIL])
    assert (server.logins, server.received) == ([], [])


def test_a_wrong_password_is_refused_without_being_repeated(elsewhere, certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    refused = pytest.raises(InputError, match="wrong password")
    with quiet_server(elsewhere) as server, refused as caught:
        send(login(server, "smtp", "hunter2"), [MAIL])
    assert "hunter2" not in str(caught.value)
    assert server.received == []
