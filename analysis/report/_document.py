"""Build the document of a report: two main pages, and an appendix with all details; and render it in each format."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from analysis import document as written
from analysis.document import (
    Block,
    Bullets,
    Document,
    Figure,
    Paragraph,
    Section,
    Table,
    clean,
    describe_value,
    json_values,
    readable_name,
    table,
)
from analysis.learning import habit_sections
from analysis.report._agreement import PICTURES, agreement_sections
from analysis.report._categories import question_blocks
from analysis.report._classifiers import classifier_sections, main_classifier_blocks
from analysis.report._consensus import consensus_sections
from analysis.report._course import course_sections
from analysis.report._figures import draw
from analysis.report._in_short import in_short
from analysis.report._methods import checklist_sections, methods
from analysis.report._replacing import replacement_sections
from analysis.report._report import PAPER, Report
from analysis.report._tables import paper_tables

INTERIM = "This is an interim report, because the study is not unblinded. The numbers will change."


def to_html(report: Report, figures: Mapping[str, str] | None = None) -> str:
    """Render the report as one self-contained page; pass `figures` if `draw` has already been called."""
    figures = draw(report) if figures is None else figures
    return written.to_html(document(report, with_pictures=PICTURES in figures), figures)


def to_markdown(report: Report, figures: Collection[str] = ()) -> str:
    """Render the report as Markdown; link figures as `figures/NAME.svg`."""
    return written.to_markdown(document(report, with_pictures=PICTURES in figures))


def to_latex(report: Report, figures: Collection[str] | None = None) -> dict[str, str]:
    """Render the report for LaTeX: `main.tex`, and a separate file for each table and each existing figure."""
    return written.to_latex(document(report, with_pictures=PICTURES in (figures or ())), figures)


def document(report: Report, *, with_pictures: bool = False) -> Document:
    """Build the document of a report.

    `with_pictures` says whether the figure `PICTURES` exists, which shows the items with the most disagreement.
    """
    study = report.study
    interim = INTERIM if study.interim else ""
    notes = tuple(Paragraph(note, "note") for note in report.notes)
    sections = (
        Section("In short", (Bullets(in_short(report)), *notes)),
        *([Section("Question", tuple(question_blocks(report, report.categories)))] if report.categories else []),
        Section("Classifiers against the majority rule", tuple(main_classifier_blocks(report))),
        Section("Agreement of the reviewers", tuple(_agreement(report))),
        Section("Methods", (Paragraph(methods(report)),)),
    )
    in_paper_layout = paper_tables(report) if report.parameters.tables == PAPER else ()
    appendix = (
        *([Section("Tables in the layout of the paper", in_paper_layout)] if in_paper_layout else []),
        *_published(report),
        *agreement_sections(report, with_pictures=with_pictures),
        *consensus_sections(report),
        *classifier_sections(report),
        *replacement_sections(report.replacing, report.level_text),
        *course_sections(report),
        *(habit_sections(report.reviewers_follow) if report.reviewers_follow else ()),
        Section("Parameters and provenance", tuple(_provenance(report))),
    )
    titles = [section.title for section in (*sections, *appendix)]
    appendix = (*appendix, *checklist_sections(report, titles))
    document = Document(
        study.name or "Agreement report",
        study.question,
        interim,
        sections,
        appendix=appendix,
    )
    cleaned: Document = clean(document)
    return cleaned


def _agreement(report: Report) -> Iterator[Block]:
    if report.agreement.pairs:
        yield Figure(
            "pair-agreement",
            f"Agreement of each pair with its {report.level_text}. The dashed line is the overall agreement.",
        )
    else:
        yield Paragraph("No two reviewers have labelled the same item yet.")


def _published(report: Report) -> Iterator[Section]:
    """Yield a section that compares published numbers with the report; yield nothing if there are none."""
    if report.published:
        rows = [
            (row.where, row.what, row.paper, row.ours, "yes" if row.agrees else "NO", row.note)
            for row in report.published
        ]
        header = ("Place", "Number", "Published", "This report", "Agrees", "Note")
        yield Section(
            "Published numbers and numbers of this report",
            (
                table(
                    "The numbers of this report are rounded in the same way as the published numbers.",
                    header,
                    rows,
                    name="published",
                ),
            ),
        )


def _provenance(report: Report) -> Iterator[Block]:
    parameters = report.parameters
    for kind, rows in (("classifiers", parameters.classifiers), ("measures", parameters.measures)):
        if rows:
            yield _registry(kind, rows)
    others = json_values(replace(parameters, classifiers=None, measures=None, verdicts=None))
    parts: tuple[tuple[str, Mapping[str, Any]], ...] = (
        ("Study", json_values(report.study)),
        ("Parameters", others),
        ("Plan", report.plan or {}),
        ("Hashes (SHA-256)", report.hashes),
        ("Versions", report.versions),
    )
    cells = [
        (title, readable_name(name), describe_value(value)) for title, part in parts for name, value in part.items()
    ]
    yield table("Where the numbers of this report come from.", ("Part", "Name", "Value"), cells, name="provenance")


def _registry(kind: str, rows: Mapping[str, Mapping[str, Any]]) -> Table:
    flags = list(next(iter(rows.values())))
    return table(
        f"{kind.capitalize()} and their properties.",
        (kind.capitalize()[:-1], *map(readable_name, flags)),
        [(name, *(describe_value(row[flag]) for flag in flags)) for name, row in rows.items()],
    )
