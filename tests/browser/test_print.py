"""Reports on screen and on paper: everything fits, tables repeat their headers, figures are not cut."""

import re
import shutil
from functools import cache

import numpy as np
import pytest

from analysis.document import Document, Section, table, to_html as document_to_html
from analysis.runs.benchmark import Benchmark
from labeler.config import bundled
from labeler.errors import InputError
from labeler.studies.results import replicating, written_reports
from tests.analysis.report.reports import to_html
from tests.analysis.report.test_report_formats import full
from tests.conftest import missing, some_slow

pytestmark = pytest.mark.browser

MM = 96 / 25.4
PAPERS = {"a4": 210, "letter": 215.9}  # mm wide
MARGIN = 14  # mm on each side, as in the style sheet
CLIPPED = """
    () => [...document.querySelectorAll('table, th, td, caption, figure, svg, svg text, p, li, h1, h2, h3, pre, code')]
        .filter(element => {
            const box = element.getBoundingClientRect();
            const figure = element.tagName === 'text' && element.ownerSVGElement.getBoundingClientRect();
            if (figure && (box.left < figure.left - 1 || box.right > figure.right + 1)) return true;
            const mayHide = getComputedStyle(element).overflowX !== 'visible';
            const isCut = mayHide && element.scrollWidth > element.clientWidth + 1;
            return box.right > document.documentElement.clientWidth + 1 || box.left < -1 || isCut;
        })
        .map(element => `${element.tagName}: ${element.textContent.trim().slice(0, 60)}`)
"""


@cache
def page():
    return to_html(full())


@cache
def replication_page():
    """The page of `labeler replicate` for benchmarks with names as long as those of the paper."""
    rng = np.random.default_rng(1)
    long_name = "bench.HdrHistogramEncodingBench.skinnyEncodeIntoCompressedByteBuffer#latencySeriesName=case{}&digits=2"
    names = [f"HdrHistogram__HdrHistogram#{long_name.format(at)}" for at in range(20)]
    benchmarks = [
        Benchmark.of_series(name, rng.lognormal(sigma=0.3, size=(10, 600)), "HdrHistogram/HdrHistogram", "s")
        for name in names
    ]
    result = replicating.replicate(replicating.Measuring(benchmarks), bundled("data", "replication"))
    return result.files()["replication.html"]


@pytest.mark.slow
@pytest.mark.parametrize("width", [800, 1440])
def test_the_page_of_the_replication_needs_no_sideways_scrolling(browser, width):
    view = browser.new_page(viewport={"width": width, "height": 1000})
    view.set_content(replication_page())
    assert view.locator("table").first.locator("tbody tr").count() > 50  # all claims
    assert view.evaluate("() => document.documentElement.scrollWidth") == width
    assert view.evaluate(CLIPPED) == []
    view.set_content(replication_page().replace("<td>", "<td><div style='width: 3000px'>", 1))
    assert view.evaluate(CLIPPED) != []
    view.close()


@pytest.mark.slow
def test_the_page_of_the_replication_fits_on_paper(browser):
    view = browser.new_page(viewport={"width": int((PAPERS["a4"] - 2 * MARGIN) * MM), "height": 1000})
    view.emulate_media(media="print")
    view.set_content(replication_page())
    assert view.evaluate(CLIPPED) == []
    view.close()


@pytest.mark.parametrize("paper", some_slow(PAPERS, ["letter"]))
def test_nothing_is_clipped_on_paper(browser, paper):
    view = browser.new_page(viewport={"width": int((PAPERS[paper] - 2 * MARGIN) * MM), "height": 1000})
    view.emulate_media(media="print")
    view.set_content(page())
    assert view.evaluate(CLIPPED) == []
    assert view.evaluate("() => getComputedStyle(document.querySelector('thead')).display") == "table-header-group"
    view.set_content(page().replace("<td>", "<td><div style='width: 3000px'>", 1))
    assert view.evaluate(CLIPPED) != []  # proves that the check finds a problem
    view.close()


def test_the_pairs_of_eight_classifiers_fit_on_paper(browser):
    heads = [cell for head in ("Accuracy", "Sensitivity", "Specificity", "AUC") for cell in (f"{head} (95 % CI)", "p")]
    cells = ["−36.6 % (−48.9 to −24.6 %)", "0.00095"] * 4
    rows = [["The heuristic at theta = 0.30 – the spread of the runs", 324, *cells]] * 28
    pairs = table("Pairs.", ["Pair", "Items", *heads], rows, numeric=[1, 3, 5, 7, 9])
    view = browser.new_page(viewport={"width": int((PAPERS["a4"] - 2 * MARGIN) * MM), "height": 1000})
    view.emulate_media(media="print")
    view.set_content(document_to_html(Document("T", "", "", (Section("Pairs", (pairs,)),)), {}))
    assert view.evaluate(CLIPPED) == []
    view.close()


@pytest.fixture(scope="module")
def printing_browser():
    """A browser under one of the names that the application looks for."""
    if not any(map(shutil.which, written_reports.BROWSERS)):
        missing("Chromium", "apt install chromium")


@pytest.mark.parametrize(
    ("paper", "box"), [("a4", (595, 842)), pytest.param("letter", (612, 792), marks=pytest.mark.slow)]
)
def test_a_pdf_has_pages_of_the_paper(paper, box, printing_browser):
    pdf = written_reports.to_pdf(page(), paper=paper)
    assert pdf.startswith(b"%PDF")
    sizes = {tuple(map(float, found)) for found in re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)}
    assert {(round(width), round(height)) for width, height in sizes} == {box}
    assert len(re.findall(rb"/Type /Page\b(?!s)", pdf)) >= 3


def test_without_a_browser_the_message_says_what_to_do(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InputError, match=r"No browser .* Install Chromium or Chrome"):
        written_reports.to_pdf("<html></html>")
