"""The web server: Streamlit with access control.

The access control (`labeler.studies.ui.gate`) checks who is signed in and which pages this person may open.
"""

import gc
import logging
import ssl
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from starlette.middleware import Middleware
from streamlit.logger import update_formatter
from streamlit.web import bootstrap

from labeler.config import bundled
from labeler.errors import InputError, LabelerError
from labeler.studies.course import coordinating
from labeler.studies.demo import DemoLinks
from labeler.studies.people import identity
from labeler.studies.store import open_database
from labeler.studies.ui import answers, connections, input_queue, provider, served, sign_in, static_files
from labeler.studies.ui.gate import SignInGate
from labeler.studies.ui.limits import BoundedLog
from labeler.studies.ui.served import PERSON_HEADER, ServedStudies, ServedStudy

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")  # for health checks, and browsers on the same machine
REST_S = 0.05  # pause after each picture that is updated in the background, so that pages come first
SWITCH_S = 0.0005  # with the default, a page run blocks the event loop for 5 ms at a time, and labels have to wait


def serve(
    studies: ServedStudies,
    *,
    address: str,
    port: int,
    url: str | None = None,
    tls: tuple[Path, Path] | None = None,
) -> None:
    """Run the browser application for some studies until somebody stops it.

    `url` is the public address of the application; `tls` are the files with a certificate and its key.
    """
    if (n_files := connections.raise_file_limit()) < connections.MIN_FILES:
        raise InputError(
            f"The system allows the server to open only {n_files} files at once, and it needs {connections.MIN_FILES}. "
            f"Raise the limit with `ulimit -n {connections.MIN_FILES}`, or with `LimitNOFILE` in the systemd unit."
        )
    sys.stderr = BoundedLog(sys.stderr)
    update_formatter()  # Streamlit's loggers still have the previous stream
    config = streamlit_settings() | {
        "server.address": address,
        "server.port": port,
        "secrets.files": [
            str(Path.cwd() / ".streamlit" / "secrets.toml")
        ],  # only this file, so that a file in the home folder cannot configure a provider
        "server.trustedUserHeaders": {PERSON_HEADER: "person"},
        "server.allowedHosts": allowed_hosts(url),
    }
    if tls is not None:
        check_certificate(*tls)
        config |= {"server.sslCertFile": str(tls[0]), "server.sslKeyFile": str(tls[1])}
    bootstrap.load_config_options(config)  # set before any setting is read, because Streamlit warns about later changes
    if trouble := provider.problem():
        raise InputError(trouble)
    app = make_app(studies)
    connections.install()
    input_queue.install()
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    gc.freeze()  # excludes imported objects, which always stay, from garbage collection
    refresh_in_background(studies)
    studies.watch()
    app.run(config=config)


def studies_of(files: Iterable[Path], folder: Path | None, links: Mapping[Path, DemoLinks]) -> ServedStudies:
    """Return the studies of a server: those in some files, with the links of the demo, or those in a folder.

    Raises the same errors as `open_database` for a file that cannot be opened.
    """
    studies = []
    for path in files:
        with open_database(path) as db:
            study_id = identity.study_id(db)
        studies.append(ServedStudy(study_id, path.resolve(), links.get(path, DemoLinks())))
    return ServedStudies(studies, folder=folder and folder.resolve())


def refresh_in_background(studies: ServedStudies) -> Thread:
    """Compress program files, and update pictures that another version stored, while the application runs."""

    def refresh() -> None:
        static_files.prefetch()
        for study in studies.all():
            try:
                with study.open() as db:
                    coordinating.refresh_pictures(db, pause=lambda: time.sleep(REST_S))
            except LabelerError as error:  # pages compute missing pictures; the next start tries again
                logging.getLogger(__name__).warning("The stored pictures were not updated: %s", error)

    thread = Thread(target=refresh, daemon=True)
    thread.start()
    return thread


def make_app(studies: ServedStudies) -> st.App:
    """Return the ASGI application: the routes for signing in and for labels, and Streamlit with access control."""
    served.use_in_pages(studies)
    return st.App(
        Path(__file__).parent / "page_run.py",
        routes=[*sign_in.routes(), *answers.routes()],
        middleware=[Middleware(SignInGate, studies=studies)],
    )


def check_certificate(certificate: Path, key: Path) -> None:
    """Raise InputError if the server cannot encrypt connections with these files."""
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:  # also ssl.SSLError, for example if the key is of another certificate
        raise InputError(
            f"--tls {certificate} {key}: no connection can be encrypted with these files ({error}). Give a certificate "
            "in PEM form, and its key without a password."
        ) from None


def allowed_hosts(url: str | None) -> list[str]:
    """Return the accepted host names, which are the host of `url` and the names of this machine.

    If no `url` is given, return an empty list, which means that all names are accepted. Raises InputError if `url` is
    not a valid web address.

    Examples
    --------
    >>> allowed_hosts("https://labels.example.org")
    ['labels.example.org', 'localhost', '127.0.0.1', '::1']
    """
    if url is None:
        return []
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise InputError(f"--url {url}: expected a web address such as https://labels.example.org.")
    return [parts.hostname, *LOCAL_HOSTS]


def streamlit_settings() -> dict[str, Any]:
    """Return the settings in .streamlit/config.toml, with dotted names."""
    with bundled(".streamlit", "config.toml").open("rb") as file:
        return dict(_dotted(tomllib.load(file)))


def _dotted(table: dict[str, Any], section: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _dotted(value, f"{section}{name}.")
        else:
            yield f"{section}{name}", value
