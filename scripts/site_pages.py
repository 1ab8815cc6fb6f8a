"""Pages of the site that stand elsewhere in the checkout, and the links between them and the pages in docs.

A hook of MkDocs: README.md is the first page, CHANGELOG.md and others are pages too. In the checkout each file links to
where the other file is; on the site the same links lead to the pages.
"""

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
}
FILES = ("LICENSE", "CITATION.cff", "docs/statistics.ipynb")  # handed out as they are
LINK = re.compile(r"(\]\()(?!https?://|#|mailto:)([^)#\s]+)")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages and files that are not below docs."""
    for path, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / path).read_text(encoding="utf-8")))
    for path in FILES:
        if not path.startswith("docs/"):
            files.append(File.generated(config, path, content=(ROOT / path).read_bytes()))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to files of the checkout to their pages."""
    del config, files
    own = {there: here for here, there in PAGES.items()}.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def on_site(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(own), link[2]))
        return link[1] + PAGES.get(target, target.removeprefix("docs/"))

    return LINK.sub(on_site, markdown)
