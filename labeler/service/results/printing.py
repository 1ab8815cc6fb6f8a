"""Print a report page as PDF with an installed browser; nothing is downloaded."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from labeler.errors import InputError

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
PAPERS = {"a4": "A4", "letter": "letter"}
PATIENCE = 180  # seconds


def to_pdf(page: str, *, paper: str = "a4") -> bytes:
    """Print an HTML page as PDF; the page must not need other files.

    `paper` is "a4" or "letter". Raises InputError if no browser is found, or the browser prints nothing. The message
    says what to do.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise InputError(
            f"No browser that can print a PDF was found (looked for {', '.join(BROWSERS)}). Install Chromium or "
            "Chrome, or open report.html in a browser and print it."
        )
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        style = f"<style>@page {{ size: {PAPERS[paper]}; }}</style></head>"
        source.write_text(page.replace("</head>", style, 1), encoding="utf-8")
        command = [browser, "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        command += [f"--user-data-dir={folder}/profile", "--no-pdf-header-footer", f"--print-to-pdf={target}"]
        command += (
            ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        )  # the browser has no sandbox for the user root
        try:
            subprocess.run([*command, source.as_uri()], capture_output=True, timeout=PATIENCE, check=False)  # noqa: S603
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InputError(f"{browser} could not print the report: {error}. Open report.html and print it.") from None
        if not target.exists():
            raise InputError(f"{browser} printed nothing. Open report.html in a browser and print it.")
        return target.read_bytes()
