"""Send messages to people through a mail server."""

import smtplib
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from urllib.parse import parse_qs, unquote, urlsplit

from labeler.errors import InputError
from labeler.network import is_of_this_machine_only
from labeler.safe_text import one_line

TIMEOUT_S = 20
PORTS = {"smtp": 587, "smtps": 465}
FORM = "smtp://USER:PASSWORD@HOST:PORT?from=ADDRESS"


@dataclass(frozen=True)
class MailServer:
    """A mail server, and the address from which messages come."""

    host: str
    port: int
    sender: str
    has_tls: bool  # whether the connection is encrypted from its beginning; otherwise, STARTTLS encrypts it
    user: str = ""
    password: str = field(default="", repr=False)


@dataclass(frozen=True)
class Mail:
    """A message to one person; `reply_to` is the address of its author, or empty."""

    name: str
    email: str
    subject: str
    text: str
    reply_to: str = ""


def mail_server(text: str) -> MailServer:
    """Return the mail server of an address; raises InputError if the address is not of this form.

    Examples
    --------
    >>> mail_server("smtps://ada:secret@mail.example.org?from=study@example.org")
    MailServer(host='mail.example.org', port=465, sender='study@example.org', has_tls=True, user='ada')
    """
    parts, sender = urlsplit(text), ""
    try:
        sender, port = parse_qs(parts.query).get("from", [""])[0], parts.port
    except ValueError:
        port = None
    if parts.scheme not in PORTS or not parts.hostname or "@" not in sender:
        raise InputError(f"LABELER_SMTP is not a mail server. Write it as {FORM}.")  # without the value: the password
    return MailServer(
        parts.hostname, port or PORTS[parts.scheme], sender, parts.scheme == "smtps",
        unquote(parts.username or ""), unquote(parts.password or ""),
    )  # fmt: skip


def send(server: MailServer, mails: Sequence[Mail]) -> dict[str, str]:
    """Send messages one after another; return why those to some people were refused, by name.

    Raises InputError if the server cannot be reached or does not accept the sender. Without encryption, messages go
    only to a server on this machine, because each contains a sign-in link.
    """
    refused = {}
    try:
        context = ssl.create_default_context()
        if server.has_tls:
            opened: smtplib.SMTP = smtplib.SMTP_SSL(server.host, server.port, timeout=TIMEOUT_S, context=context)
        else:
            opened = smtplib.SMTP(server.host, server.port, timeout=TIMEOUT_S)
        with opened as connection:
            if not server.has_tls and not is_of_this_machine_only(server.host):
                connection.starttls(context=context)
            if server.user:
                connection.login(server.user, server.password)
            for mail in mails:
                try:
                    connection.send_message(_message(server, mail))
                except smtplib.SMTPRecipientsRefused as error:
                    ((_code, why),) = error.recipients.values()
                    refused[mail.name] = one_line(why.decode(errors="replace"))
    except (OSError, smtplib.SMTPException) as error:
        raise InputError(
            f"The mail server {server.host} did not accept the messages ({one_line(str(error))}). Check LABELER_SMTP."
        ) from None
    return refused


def _message(server: MailServer, mail: Mail) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = server.sender, mail.email, one_line(mail.subject)
    if mail.reply_to:
        message["Reply-To"] = mail.reply_to
    message.set_content(mail.text)
    return message
