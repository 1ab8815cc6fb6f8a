"""Build the document of a report, and its tables for other readers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import pandas as pd

from analysis import document as d
from analysis.categories import CATEGORIES
from analysis.raters import consensus
from analysis.raters.tables import counted_labels
from analysis.report._agreement import PICTURES, agreement_sections
from analysis.report._categories import question_blocks
from analysis.report._classifiers import classifier_sections, main_classifier_blocks
from analysis.report._consensus import consensus_sections
from analysis.report._course import course_sections
from analysis.report._figures import draw_charts
from analysis.report._first_figures import first_figures
from analysis.report._first_screen import facts, first_sections, number_sections
from analysis.report._in_short import in_short
from analysis.report._replacing import replacement_sections
from analysis.report._report import PAPER, Report, judges_classifiers
from analysis.report._sentences import checklist_sections, methods
from analysis.report._settings import MOST_REVIEWERS, row_title, title_of
from analysis.text import percent

MAX_COLUMNS = 10  # a paper table with more columns is turned

INTERIM = "This is an interim report, because the study is not unblinded. The numbers will change."


def draw(report: Report, executor: Executor | None = None) -> dict[str, str]:
    """Draw each figure of a report that has data; return a dict from the name of the figure to its SVG text.

    With an executor, another process renders the figures.
    """
    return {**first_figures(report), **draw_charts(report, executor)}


def to_html(report: Report, figures: Mapping[str, str] | None = None) -> str:
    """Render the report as one self-contained page; pass `figures` if `draw` has already been called."""
    figures = draw(report) if figures is None else figures
    adapted = {name: svg for name, svg in first_figures(report, adapts=True).items() if name in figures}
    narrow = {name: svg for name, svg in first_figures(report, narrow=True, adapts=True).items() if name in figures}
    return d.to_html(document(report, with_pictures=PICTURES in figures), {**figures, **adapted}, narrow)


def to_markdown(report: Report, figures: Collection[str] = ()) -> str:
    """Render the report as Markdown; link figures as `figures/NAME.svg`."""
    return d.to_markdown(document(report, with_pictures=PICTURES in figures))


def to_latex(report: Report, figures: Collection[str] | None = None) -> dict[str, str]:
    """Render the report for LaTeX: `main.tex`, and a separate file for each table and each existing figure."""
    return d.to_latex(document(report, with_pictures=PICTURES in (figures or ())), figures)


def document(report: Report, *, with_pictures: bool = False) -> d.Document:
    """Build the document of a report.

    `with_pictures` says whether the figure `PICTURES` exists, which shows the items with the most disagreement.
    """
    study, style, by_category = report.study, report.style, report.by_category
    judges = judges_classifiers(report)
    main_classifiers = main_classifier_blocks(report.classifiers, report.consensus, style, judges=judges)
    notes = tuple(d.Paragraph(note, "note") for note in report.notes)
    sections = (
        *first_sections(report),
        d.Section("In short", (d.Bullets(tuple(one.text for one in in_short(report))), *notes)),
        *([d.Section("Question", tuple(question_blocks(report.categories, style)))] if report.categories else []),
        d.Section("Classifiers against the majority rule", tuple(main_classifiers)),
        d.Section("Agreement of the reviewers", tuple(_agreement(report))),
        d.Section("Methods", (d.Paragraph(methods(report)),)),
    )
    in_paper_layout = paper_tables(report) if report.parameters.tables == PAPER else ()
    appendix = (
        *number_sections(report),
        *([d.Section("Tables in the layout of the paper", in_paper_layout)] if in_paper_layout else []),
        *_published(report),
        *agreement_sections(
            report.agreement, style, by_category=by_category, sides=report.sides, interim=study.interim,
            with_pictures=with_pictures,
        ),
        *consensus_sections(
            report.consensus, style, left_out=report.left_out,
            true_categories=by_category.truth if by_category else None, categories=report.categories or (),
            show_rejected=report.parameters.show_rejected, interim=study.interim,
        ),
        *classifier_sections(
            report.classifiers, report.comparisons, report.consensus, style,
            parameters=report.parameters.verdicts or {}, with_measures=bool(report.measures.get("heuristic")),
        ),
        *replacement_sections(report.replacing, style.level_text),
        *course_sections(report.course, style, interim=study.interim),
        d.Section("Parameters and provenance", tuple(_provenance(report))),
    )  # fmt: skip
    titles = [section.title for section in (*sections, *appendix)]
    appendix = (*appendix, *checklist_sections(report, titles))
    document = d.Document(
        study.name or "Agreement report",
        f"{study.question} {facts(report)}".strip(),
        INTERIM if study.interim else "",
        sections,
        appendix=appendix,
    )
    cleaned: d.Document = d.clean(document)
    return cleaned


def _agreement(report: Report) -> Iterator[d.Block]:
    if report.agreement.pairs:
        yield d.Figure(
            "pair-agreement",
            f"Agreement of each pair with its {report.style.level_text}. The dashed line is the overall agreement.",
        )
    else:
        yield d.Paragraph("No two reviewers have labelled the same item yet.")


def _published(report: Report) -> Iterator[d.Section]:
    """Yield a section that compares published numbers with the report; yield nothing if there are none."""
    if report.published:
        rows = [
            (row.where, row.what, row.paper, row.ours, "yes" if row.agrees else "NO", row.note)
            for row in report.published
        ]
        header = ("Place", "Number", "Published", "This report", "Agrees", "Note")
        yield d.Section(
            "Published numbers and numbers of this report",
            (
                d.table(
                    "The numbers of this report are rounded in the same way as the published numbers.",
                    header,
                    rows,
                    name="published",
                ),
            ),
        )


def _provenance(report: Report) -> Iterator[d.Block]:
    parameters = report.parameters
    for kind, rows in (("classifiers", parameters.classifiers), ("measures", parameters.measures)):
        if rows:
            yield _registry(kind, rows)
    others = d.json_values(replace(parameters, classifiers=None, measures=None, verdicts=None))
    parts: tuple[tuple[str, Mapping[str, Any]], ...] = (
        ("Study", d.json_values(report.study)),
        ("Parameters", others),
        ("Plan", report.plan or {}),
        ("Hashes (SHA-256)", report.hashes),
        ("Versions", report.versions),
    )
    cells = [
        (title, d.readable_name(name), d.describe_value(value))
        for title, part in parts
        for name, value in part.items()
        if value not in (None, [])
    ]
    yield d.table("Where the numbers of this report come from.", ("Part", "Name", "Value"), cells, name="provenance")


def _registry(kind: str, rows: Mapping[str, Mapping[str, Any]]) -> d.Table:
    flags = list(next(iter(rows.values())))
    return d.table(
        f"{kind.capitalize()} and their properties.",
        (kind.capitalize()[:-1], *map(d.readable_name, flags)),
        [(name, *(d.describe_value(row[flag]) for flag in flags)) for name, row in rows.items()],
    )


def wide(answers: pd.DataFrame, verdicts: pd.DataFrame, names: Sequence[str] = CATEGORIES) -> pd.DataFrame:
    """Return a table of first labels, consensus, verdicts and scores, with one row per item, sorted by item.

    The columns are item, status, category, n_labels, `label_REVIEWER` for each of at most 200 reviewers,
    `verdict_CLASSIFIER` and `score_CLASSIFIER` for each classifier. Items without answers and verdicts are left out.
    """
    labels = counted_labels(answers, names)
    decided = consensus.agreed_only(labels, names)
    parts = [decided]
    if labels["rater"].nunique() <= MOST_REVIEWERS:
        parts.append(labels.pivot(index="item", columns="rater", values="category").add_prefix("label_"))
    for column in ("verdict", "score"):
        if column in verdicts:
            parts += [verdicts.pivot(index="item", columns="classifier", values=column).add_prefix(f"{column}_")]
    items = pd.Index(sorted({*answers["item"], *verdicts["item"]}), name="item")
    table = pd.concat([part.reindex(items) for part in parts], axis=1)
    table["status"] = table["status"].fillna(consensus.INCOMPLETE)
    table["n_labels"] = table["n_labels"].fillna(0).astype(int)
    return table.rename_axis(columns=None).reset_index()


def undecided(report: Report) -> pd.DataFrame | None:
    """Return the items that the latent class model cannot decide, with their probabilities; None if there are none.

    An interim report names no items, so it has none.
    """
    latent = report.consensus.latent
    rows = latent.fitted.undecided if latent and latent.fitted and latent.identifiability.identified else None
    if not rows or report.study.interim:
        return None
    return pd.DataFrame([(row.item, row.posterior) for row in rows], columns=["item", "probability"])


def paper_tables(report: Report, classifiers: Sequence[str] | None = None) -> tuple[d.Table, ...]:
    """Return the tables in the layout of the paper: one row of pairs, and reviewers against each classifier, 2 x 2.

    The first table has a column for each pair of reviewers; each further table counts the agreed items of a classifier.
    `classifiers` names the classifiers and their order; by default, these are all classifiers of the report. There is
    no table of pairs without a pair, and no table of a classifier without a verdict on an agreed item.
    """
    pairs, positive, negative = (
        report.agreement.pairs,
        str(report.style.category_set.positive),
        report.style.category_set.negative,
    )
    tables = []
    if pairs:
        names = ("Pair", *(f"{pair.a}-{pair.b}" for pair in pairs))
        shares = (
            "Agreement",
            *(d.DASH if pair.percent.value is None else percent(pair.percent.value) for pair in pairs),
        )
        is_wide = len(pairs) > MAX_COLUMNS  # too wide for a page
        lines: list[tuple[str, ...]] = list(zip(names, shares, strict=True)) if is_wide else [names, shares]
        header, *rows = lines
        caption = "Agreement of each pair of reviewers, in percent of the items that both labelled."
        tables.append(d.table(caption, header, rows, range(1, len(header)), name="paper-pairs"))
    for name in report.classifiers if classifiers is None else classifiers:
        row = report.classifiers.get(name)
        if row is None or not row.against.n:
            continue
        (tn, fp), (fn, tp) = row.against.against_rest(positive).counts
        tables.append(
            d.table(
                f"Reviewers against {title_of(name)}, on {row.against.n} agreed items.",
                ("Reviewers", f"{row_title(name)}: {negative}", f"{row_title(name)}: {positive}"),
                [(negative, tn, fp), (positive, fn, tp)],
                (1, 2),
                name=f"paper-{name}",
            )
        )
    return tuple(tables)
