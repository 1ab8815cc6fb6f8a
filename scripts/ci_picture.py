"""Create the pictures of the check: in a terminal, and for docs/ci.md the summary, the annotations and the comment.

    python scripts/ci_picture.py [--out docs/img]

Runs `labeler check` on data/check as the action does, and renders its annotations and the start of its Markdown.
Needs the extras test and docs, and Debian's chromium. The frame is drawn here; GitHub's own pages look similar.
"""

import argparse
import html
import os
import re
import sys
import tempfile
from pathlib import Path

import markdown
from click.testing import CliRunner
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from labeler.cli import main as labeler  # noqa: E402
from tests.browser.conftest import CHROMIUM_OPTIONS, chromium_path  # noqa: E402

CHECK = ("check", "data/check/after.json", "--against", "data/check/before.json")
COMMAND = (*CHECK, "--annotations", "github")
ANNOTATION = re.compile(r"^::(error|warning|notice) file=(.*?),title=(.*?)::(.*)$")
SECOND_HALF = "## Are the runs of each benchmark similar?"
WIDTH, PHONE_WIDTH = 1000, 390
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1f2328; margin: 24px; }
h2.frame { font-size: 15px; color: #59636e; margin: 0 0 8px; font-weight: 600; }
.box { border: 1px solid #d1d9e0; border-radius: 6px; padding: 16px 20px; margin-bottom: 20px; }
.error { border-left: 4px solid #d1242f; } .warning { border-left: 4px solid #9a6700; }
.notice { border-left: 4px solid #0969da; }
code { color: #59636e; } h1 { font-size: 22px; margin-top: 0; } h2 { font-size: 18px; }
table { border-collapse: collapse; } th, td { border: 1px solid #d1d9e0; padding: 5px 12px; }
details { margin: 8px 0; }
"""
# how GitHub shows a comment on a phone; a table that is too wide scrolls
OF_PHONE = """
body { font-size: 14px; margin: 8px; } .box { padding: 12px 14px; margin: 0; } h1 { font-size: 20px; }
ul { padding-left: 20px; } table { display: block; max-width: 100%; overflow: auto; } th, td { padding: 4px 8px; }
"""
OF_TERMINAL = """
body { margin: 0; background: #14181f; } b { color: #8ea5d2; }
pre { font: 15px/1.5 "DejaVu Sans Mono", monospace; color: #e6e9ef; margin: 0; padding: 20px 24px; }
"""


def terminal() -> str:
    """Return a terminal with the command and what it prints as an HTML page."""
    printed = CliRunner().invoke(labeler, CHECK).stdout
    lines = f"<b>$ labeler {' '.join(CHECK)}</b>\n{html.escape(printed)}"
    return f"<!doctype html><meta charset=utf-8><style>{OF_TERMINAL}</style><pre>{lines}</pre>"


def page(*, is_phone: bool = False) -> str:
    """Return the annotations and the summary as an HTML page, or only the summary as on a phone."""
    with tempfile.TemporaryDirectory() as folder:
        summary = Path(folder, "summary.md")
        output = CliRunner().invoke(labeler, [*COMMAND, "--markdown", str(summary)]).stderr
        written = summary.read_text(encoding="utf-8")
    found = [match for line in output.splitlines() if (match := ANNOTATION.match(line))]
    boxes = [
        f'<div class="box {kind}"><b>{_plain(title)}</b> <code>{_plain(file)}</code><br>{_plain(text)}</div>'
        for kind, file, title, text in (match.groups() for match in found)
    ]
    shown = written.partition(SECOND_HALF)[0]
    body = markdown.markdown(shown, extensions=["tables", "md_in_html"])
    if is_phone:
        return f'<!doctype html><meta charset=utf-8><style>{STYLE}{OF_PHONE}</style><div class="box">{body}</div>'
    return (
        f"<!doctype html><meta charset=utf-8><style>{STYLE}</style><h2 class=frame>Annotations</h2>{''.join(boxes)}"
        f'<h2 class=frame>Summary of the job</h2><div class="box">{body}</div>'
    )


def _plain(text: str) -> str:
    """Decode the three characters that GitHub decodes in an annotation."""
    for code, sign in (("%0A", "\n"), ("%0D", "\r"), ("%2C", ","), ("%3A", ":"), ("%25", "%")):
        text = text.replace(code, sign)
    return html.escape(text)


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "img")
    out = parser.parse_args().out
    os.chdir(ROOT)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
        window = browser.new_page(viewport={"width": WIDTH, "height": 700}, device_scale_factor=1.5)
        window.set_content(page())
        window.screenshot(path=out / "ci-summary.png", full_page=True)
        window.set_content(terminal())
        window.locator("pre").screenshot(path=out / "check.png")
        phone = browser.new_page(viewport={"width": PHONE_WIDTH, "height": 300}, device_scale_factor=2)
        phone.set_content(page(is_phone=True))
        too_wide = phone.evaluate("[...document.querySelectorAll('*')].filter(e => e.scrollWidth > innerWidth).length")
        if too_wide:
            raise SystemExit("The comment is wider than a phone.")
        phone.screenshot(path=out / "check-comment.png", full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
