"""The documentation as a site: built without warnings, complete, without dead links and without external resources."""

import functools
import http.server
import os
import re
import subprocess
import sys
import threading
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest
from playwright.sync_api import sync_playwright

from labeler.cli import main
from tests.browser.conftest import chromium_path
from tests.conftest import missing

ROOT = Path(__file__).parent.parent
# pages for looking things up: tables of formats, options, functions and figures
REFERENCES = {"api.md", "commands.md", "formats.md", "glossary.md", "promises.md"}
MAX_WORDS, MAX_README_WORDS, MAX_MANUAL_WORDS = 1500, 900, 35_000


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def references(page):
    """Return the links and resources of a page: attribute, address."""
    text = page.read_text(encoding="utf-8")
    return [(name, unescape(value)) for name, value in re.findall(r'\s(href|src|action)="([^"]*)"', text)]


@pytest.mark.slow
def test_no_link_of_the_site_is_dead(site):
    ids = {page: set(re.findall(r'\sid="([^"]+)"', page.read_text(encoding="utf-8"))) for page in site.rglob("*.html")}
    assert len(ids) > 25
    dead = []
    for page in ids:
        for _, address in references(page):
            parts = urlsplit(address)
            if parts.scheme or page.name == "404.html":
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path not in ("", ".") else page
            target = target / "index.html" if target.is_dir() else target
            fragment = unquote(parts.fragment)
            if not target.exists() or (fragment and target in ids and fragment not in ids[target] | {"__tabbed"}):
                dead.append(f"{page.name}: {address}")
    assert dead == []


@pytest.mark.slow
def test_no_page_loads_anything_from_elsewhere(site):
    tags = r"<(?:script|link|img|iframe|source|video|audio|embed|object)\b[^>]*"
    loaded = [tag for page in site.rglob("*.html") for tag in re.findall(tags, page.read_text(encoding="utf-8"))]
    assert len(loaded) > 100
    assert [tag for tag in loaded if re.search(r'(?:src|href|data)="(?:https?:)?//', tag)] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not re.search(r"url\(\s*[\"']?(?:https?:)?//", styles)


@pytest.mark.slow
def test_every_command_is_in_its_reference_with_its_options(site):
    text = (site / "commands.html").read_text(encoding="utf-8")

    def commands(group, name):
        yield name, group
        if isinstance(group, click.Group):
            for word, command in group.commands.items():
                yield from commands(command, f"{name} {word}")

    everything = dict(commands(main, "labeler"))
    assert len(everything) > 40
    headings = [unescape(re.sub(r"<[^>]+>", "", heading)) for heading in re.findall(r"<h\d[^>]*>(.*?)</h\d>", text)]
    words = {" ".join(heading.replace("¶", " ").split()) for heading in headings}
    assert [name for name in everything if name.split()[-1] not in words and name not in words] == []
    options = {option for command in everything.values() for parameter in command.params for option in parameter.opts
               if option.startswith("--") and not getattr(parameter, "hidden", False)}  # fmt: skip
    assert [option for option in sorted(options) if option not in text] == []
    assert "UNSET" not in text and "&lt;function" not in text


@pytest.mark.slow
def test_every_public_function_is_in_its_reference_with_its_docstring(site):
    text = (site / "api.html").read_text(encoding="utf-8")
    assert "doi:10.1037/h0031619" in text
    assert re.findall(r"\[\d+\]_|\.\. \[\d", text) == []


def words_of(path):
    """Return the number of words in the prose: without code, output of commands, and tables."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return sum(len(line.split()) for line in text.splitlines() if not line.startswith(("    ", "|")))


def test_no_page_is_longer_than_one_reading():
    pages = [path for path in (ROOT / "docs").glob("*.md") if path.name not in REFERENCES]
    assert [f"{path.name}: {words_of(path)}" for path in pages if words_of(path) > MAX_WORDS] == []
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= MAX_README_WORDS
    manual = [path for path in (ROOT / "docs").glob("*.md") if path.name != "commands.md"]
    assert sum(len(path.read_text(encoding="utf-8").split()) for path in manual) <= MAX_MANUAL_WORDS


@pytest.mark.slow
@pytest.mark.browser
def test_the_site_asks_nobody_else_and_its_search_finds(site):
    chromium = chromium_path() or missing("Chromium", "apt install chromium")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base, asked = f"http://127.0.0.1:{server.server_port}", []
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page()
            page.on("request", lambda request: asked.append(request.url))
            for name in ("index", "check", "api", "commands"):
                page.goto(f"{base}/{name}.html", wait_until="networkidle")
            page.keyboard.press("/")
            page.keyboard.type("gwet")
            page.wait_for_selector(".md-search-result__item :text('gwet_ac1')", state="attached")
            browser.close()
    finally:
        server.shutdown()
        server.server_close()
    assert len(asked) > 10
    assert {urlsplit(url).netloc for url in asked if not url.startswith(("data:", "blob:"))} == {base[7:]}
