"""Serve the program files of the pages from memory: scripts, styles, fonts and images.

These files are the same for everyone, so the server reads and compresses each file once.

A page consists of about ninety files. If the server read them in pieces for each person, this would take about half of
its time for opening a page.
"""

import gzip
import mimetypes
import re
from functools import cache
from pathlib import Path

from starlette.requests import HTTPConnection
from starlette.responses import Response
from streamlit import file_util

from labeler.studies.ui import component

STREAMLIT = Path(file_util.get_static_dir())
STATIC = "/static/"
MAX_BYTES = 1_000_000  # Streamlit serves larger files itself: they belong to parts that few pages have
NOT_COMPRESSED = {".woff2", ".png", ".woff"}
# A browser may keep a file for a year: each address contains a hash of the content.
HEADERS = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
NEEDED = ("BidiComponent", "Html")  # parts of Streamlit that every page of a reviewer loads after it has started
_IMPORTED = re.compile(r"""(?:from|import)["']\./([^"']+\.js)["']""")


@cache
def files() -> dict[str, Path | bytes]:
    """Return the program files by address: Streamlit's files as paths, and the review component's files as content."""
    folder = STREAMLIT / "static"
    theirs = {f"{STATIC}{path.relative_to(folder).as_posix()}": path for path in folder.rglob("*") if path.is_file()}
    return {
        **{f"{component.ASSETS}/{name}": content for name, content in component.FILES.items()},
        **{address: path for address, path in theirs.items() if path.stat().st_size <= MAX_BYTES},
    }


def response(connection: HTTPConnection) -> Response | None:
    """Return the response to a request for a program file; return None for any other request."""
    address = connection.scope["path"]
    if address not in files() or connection.scope["method"] not in ("GET", "HEAD") or "range" in connection.headers:
        return None
    content, compressed = _content(address)
    media_type = mimetypes.guess_type(address)[0]
    if compressed is not None and "gzip" in connection.headers.get("accept-encoding", ""):
        return Response(compressed, media_type=media_type, headers=HEADERS | {"Content-Encoding": "gzip"})
    return Response(content, media_type=media_type, headers=HEADERS)


@cache
def _content(address: str) -> tuple[bytes, bytes | None]:
    file = files()[address]
    content = file if isinstance(file, bytes) else file.read_bytes()
    return content, None if Path(address).suffix in NOT_COMPRESSED else gzip.compress(content, 6)


@cache
def preload() -> str:
    """Return the Link header that makes a browser load the component's modules together with Streamlit, not later."""
    return ", ".join(f"<{address[1:]}>; rel=modulepreload; fetchpriority=low" for address in _needed_later())


@cache
def _needed_later() -> tuple[str, ...]:
    later = [f"{component.ASSETS}/{name}" for name in component.FILES]
    queue = [address for address in files() if _is_needed(address)]
    while queue:
        address = queue.pop(0)
        if address not in later and address not in _first_page():
            later.append(address)
            queue += _imports(address)
    return tuple(later)


def prefetch() -> None:
    """Read and compress the files that the first page needs, so that no visitor waits for them."""
    for address in {*_first_page(), *_needed_later()} & files().keys():
        _content(address)


@cache
def _first_page() -> frozenset[str]:
    """Return the addresses that Streamlit's HTML page names."""
    text = (STREAMLIT / "index.html").read_text(encoding="utf-8")
    return frozenset(f"{STATIC}{name}" for name in re.findall(r"""["']\./static/([^"']+)["']""", text))


def _is_needed(address: str) -> bool:
    return address.endswith(".js") and address.rpartition("/")[2].split(".")[0] in NEEDED


def _imports(address: str) -> list[str]:
    text = _content(address)[0].decode()
    folder = address.rpartition("/")[0]
    return [found for name in _IMPORTED.findall(text) if (found := f"{folder}/{name}") in files()]
