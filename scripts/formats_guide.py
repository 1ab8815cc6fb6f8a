"""Run every command of docs/formats.md and write its output below it, as scripts/guides.py does for the guides.

python scripts/formats_guide.py

The commands run in a temporary folder: `files` has the test files of the readers, `data` the included data.
"""

import os
import runpy
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "formats.md"
FILES = {"files": "tests/labeler/files/formats/files", "abs.csv": "tests/golden/abs.csv", "data": "data"}


def filled(page: str) -> str:
    """Return the page with the current output of each command."""
    guides = runpy.run_path(str(ROOT / "scripts" / "guides.py"))
    lines: list[str] = []
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        for name, target in FILES.items():
            (Path(folder) / name).symlink_to(ROOT / target)
        os.chdir(folder)
        try:
            for line in guides["_without_output"](page.splitlines()):
                shows = guides["_shown_before"](lines)
                lines.append(line)
                if line.startswith(guides["COMMAND"]):
                    output = guides["_output"](line.removeprefix(guides["COMMAND"]))
                    lines += [f"    {text}".rstrip() for text in guides["_cut"](output, shows)]
        finally:
            os.chdir(before)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
