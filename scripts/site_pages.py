"""Add pages from other folders of the checkout to the site, and adapt the links between all pages.

A hook of MkDocs: README.md is the first page, and CHANGELOG.md, the notebook and others are also pages. In the
checkout, links lead to files; on the site, the same links lead to pages.
"""

import json
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "CODE_OF_CONDUCT.md": "code_of_conduct.md",
    "SECURITY.md": "report.md",
    "data/README.md": "data.md",
    "docs/statistics.ipynb": "statistics.md",
}
FILES = ("LICENSE", "CITATION.cff")  # copied unchanged
LINK = re.compile(r"(\]\()(?!https?://|#|mailto:)([^)#\s]+)")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages and files from outside docs."""
    for path, page in PAGES.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=notebook(text) if path.endswith(".ipynb") else text))
    for path in FILES:
        files.append(File.generated(config, path, content=(ROOT / path).read_bytes()))
    return files


def notebook(text: str) -> str:
    """Convert a notebook to Markdown: each code cell with its output below it."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        shown = [output.get("text") or output["data"]["text/plain"] for output in cell.get("outputs", ())]
        parts += [f"```text\n{''.join(lines)}\n```" for lines in shown]
    return "\n\n".join(parts)


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links to files of the checkout to their pages."""
    del config, files
    own = {there: here for here, there in PAGES.items()}.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def on_site(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(own), link[2]))
        here = posixpath.dirname(page.file.src_uri) or "."
        return link[1] + posixpath.relpath(PAGES.get(target, target.removeprefix("docs/")), here)

    return LINK.sub(on_site, markdown)
