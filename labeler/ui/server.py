"""The web server: Streamlit behind a gate that lets in only who is signed in, and everyone only where they belong."""

import gc
import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from streamlit.logger import update_formatter
from streamlit.web import bootstrap

from labeler.config import bundled
from labeler.errors import InputError
from labeler.service.plan import coordinating
from labeler.store import open_database
from labeler.ui import component, connections, provider, resources, sign_in
from labeler.ui.gate import PERSON_HEADER, Gate  # also imports every page, before the garbage collector is frozen
from labeler.ui.limits import BoundedLog

SWITCH_S = 0.0005  # by default a page run keeps the event loop waiting for 5 ms each time, and labels with it


def serve(study: Path, *, address: str, port: int) -> None:
    """Run the browser application on a study until it is stopped."""
    sys.stderr = BoundedLog(sys.stderr)
    update_formatter()  # Streamlit's loggers took the stream from before
    resources.raise_file_limit()
    os.environ["LABELER_STUDY"] = str(study.resolve())  # how the pages learn which study, as by hand
    config = streamlit_settings() | {
        "server.address": address,
        "server.port": port,
        "secrets.files": [str(Path.cwd() / ".streamlit" / "secrets.toml")],  # no other: one at home names no provider
        "server.trustedUserHeaders": {PERSON_HEADER.decode(): "person"},
    }
    bootstrap.load_config_options(config)  # before anything asks for a setting: Streamlit warns of a later change
    if trouble := provider.problem():
        raise InputError(trouble)
    with open_database(study) as db:
        coordinating.refresh_pictures(db)  # nothing to do but after an update
    app = make_app(study)
    connections.install()
    resources.keep_no_files_per_window()
    resources.bound_heap()
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    gc.freeze()  # what is imported stays for good: without this every full collection walks through it
    app.run(config=config)


def make_app(study: Path) -> st.App:
    """The ASGI application: our sign-in routes, the gate, and Streamlit behind it."""
    return st.App(
        Path(__file__).parent / "app.py",
        routes=[
            *sign_in.routes(study),
            Mount(component.ASSETS, StaticFiles(directory=component.JS_DIRECTORY)),
        ],
        middleware=[Middleware(Gate, study=study)],
    )


def streamlit_settings() -> dict[str, Any]:
    """The settings of .streamlit/config.toml with dotted names."""
    with bundled(".streamlit", "config.toml").open("rb") as file:
        return {
            f"{section}.{name}": value for section, part in tomllib.load(file).items() for name, value in part.items()
        }


def describe(address: str, port: int, secrets: Mapping[str, str]) -> list[str]:
    """One line a person: their sign-in link."""
    host = f"[{address}]" if ":" in address else address
    return [f"{name}: http://{host}:{port}/join/{secret}" for name, secret in secrets.items()]
