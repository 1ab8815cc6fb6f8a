"""Write tables as CSV text, write files into a folder, and turn a written page into a part of another page."""

import base64
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from labeler.atomic_files import in_place
from labeler.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.document.figures import Chart


def require_writable(out: Path) -> None:
    """Raise InputError if files cannot be written into a folder, before results for it are computed and logged."""
    there = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
    try:
        with TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise InputError(f"{out} could not be written: {error.strerror}.") from None


def as_csv(table: "pd.DataFrame") -> str:
    """Return a table as CSV text that is safe to open in a spreadsheet."""
    from labeler.files.formats import tables

    return tables.write(table)


def as_svg(chart: "Chart") -> str:
    """Return a figure as SVG text, for a page or a file."""
    from analysis.document import figures

    return figures.to_svg(chart)


def as_file(chart: "Chart", form: str) -> bytes:
    """Return a figure as the content of an SVG, PNG or PDF file."""
    from analysis.document import figures

    return figures.render(chart, form)


def write_files(files: Mapping[str, str | bytes | Iterator[str]], out: Path) -> list[Path]:
    """Write files, given as relative path -> content or its parts, into a folder; return their paths.

    If writing fails, no incomplete file remains. Raises InputError if the folder cannot be created or written to.
    """
    with ExitStack() as all_in_place:
        for name, content in reversed(list(files.items())):  # renamed in the given order
            try:
                (out / name).parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"{out / name} could not be written: {error.strerror}.") from None
            partial = all_in_place.enter_context(in_place(out / name))
            with partial.open("wb") as file:
                for part in (content,) if isinstance(content, (str, bytes)) else content:
                    file.write(part.encode() if isinstance(part, str) else part)
    return [out / name for name in files]


def as_part_of_a_page(page: str) -> tuple[list[tuple[str, str]], str]:
    """Return the sections of a written HTML page as (anchor, title), and its content without title and style.

    The appendix is one section here, because it begins with a list of its own sections.
    """
    body = page.partition("<body>")[2].rpartition("</body>")[0]
    content = re.sub(r"</?header>|</?main>|<h1>.*?</h1>", "", body, flags=re.DOTALL)
    content = _DRAWING.sub(_as_image, content)
    before, appendix, _ = content.partition('<div class="appendix" id="appendix">')
    sections = re.findall(r'<section id="([^"]+)"[^>]*>\s*<h2>(.*?)</h2>', before, flags=re.DOTALL)
    return [*sections, *([("appendix", "Appendix")] if appendix else [])], content


# a drawing, which may contain others, with the caption that follows
_DRAWING = re.compile(
    r"<svg(?:(?!<figcaption|</figure>|</div>).)*</svg>(?=\s*<figcaption[^>]*>(.*?)</figcaption>)?", flags=re.DOTALL
)
_OF_DRAWING = re.compile(r'^<svg[^>]*?(?: aria-label="(?P<words>[^"]*)"[^>]*?)?(?: class="(?P<kind>\w+)")?>')


def _as_image(found: re.Match[str]) -> str:
    """Return a drawing as an image with alternative text: its own words, or its caption.

    Pages show no SVG elements of others. An image keeps the class of its drawing.
    """
    own = _OF_DRAWING.match(found[0])
    words = (own and own["words"]) or re.sub("<[^>]+>", "", found[1] or "A figure of the report")
    kind = f' class="{own["kind"]}"' if own and own["kind"] else ""
    return f'<img alt="{words}"{kind} src="data:image/svg+xml;base64,{base64.b64encode(found[0].encode()).decode()}">'


FIGURE_FORMATS = ("svg", "png", "pdf")
