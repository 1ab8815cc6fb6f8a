"""Program text from memory, and the modules that a browser loads together with Streamlit."""

import gzip
import json
import re

import pytest
from starlette.requests import HTTPConnection

from labeler.studies.ui import component, static_files

INDEX = f"{component.ASSETS}/index.js"


def answer(path: str, *, method: str = "GET", **headers: str):
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    return static_files.response(HTTPConnection({"type": "http", "method": method, "path": path, "headers": pairs}))


def test_a_file_is_sent_compressed_to_browsers_that_can_read_it_and_as_it_is_to_others():
    text = (component.FOLDER / "js" / "index.js").read_bytes()
    packed, plain = answer(INDEX, **{"accept-encoding": "gzip, br"}), answer(INDEX)
    assert gzip.decompress(packed.body) == plain.body == text
    assert packed.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
    assert packed.headers["content-type"].startswith("text/javascript")
    assert "immutable" in packed.headers["cache-control"]


@pytest.mark.parametrize("name", ["style.css", "review.html"])
def test_markup_and_style_are_modules_that_export_their_text(name):
    sent = answer(f"{component.ASSETS}/{name}.js")
    text = sent.body.decode().removeprefix("export default ").removesuffix(";\n")
    assert json.loads(text) == (component.FOLDER / name).read_text(encoding="utf-8")
    assert sent.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    ("path", "method", "headers"),
    [
        ("/review/index.js", "GET", {}),  # an address without the hash
        (f"{component.ASSETS}/../__init__.py", "GET", {}),
        ("/static/../index.html", "GET", {}),
        (INDEX, "POST", {}),
        (INDEX, "GET", {"range": "bytes=0-9"}),
    ],
)
def test_other_requests_are_left_to_the_application(path, method, headers):
    assert answer(path, method=method, **headers) is None


def test_every_file_of_the_component_and_the_part_of_streamlit_that_mounts_it_load_early_once():
    addresses = [f"/{name}" for name in re.findall("<([^>]+)>; rel=modulepreload", static_files.preload())]
    assert {f"{component.ASSETS}/{name}" for name in component.FILES} < set(addresses) < static_files.files().keys()
    assert any("BidiComponent" in address for address in addresses)
    assert len(addresses) == len(set(addresses))
