"""Render a document for LaTeX: one file to compile, and separate files for tables and figures."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import count
from math import ceil

from analysis.document._content import Bullets, Document, Figure, Link, Paragraph, Section, Table

LONG = 35  # maximum number of lines of a table that stays on one page
LINE, GAP = 116, 2  # number of characters in a line of small print, and number of characters between two columns
LONG_WORD, PIECE = 24, 8  # longer words can be broken after each piece of this length
PREAMBLE = r"""\documentclass[a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp,amssymb,array,booktabs,longtable,graphicx}
\usepackage[margin=22mm]{geometry}
% Tables and figures stay below their headings. Remove these lines to let them float.
\makeatletter
\renewenvironment{table}[1][]{\par\addvspace{\bigskipamount}\noindent\begin{minipage}{\linewidth}\def\@captype{table}}
{\end{minipage}\par\addvspace{\bigskipamount}}
\renewenvironment{figure}[1][]{\par\addvspace{\bigskipamount}\noindent\begin{minipage}{\linewidth}\def\@captype{figure}}
{\end{minipage}\par\addvspace{\bigskipamount}}
\makeatother"""
# Scale down to the text width, and to the height of a page; a pasted table needs only the package graphicx.
NARROW = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{"
LOW = r"\resizebox{!}{\ifdim\height>0.8\textheight 0.8\textheight\else\height\fi}{"

LEFT = r">{\raggedright\arraybackslash}"
SMALL = "\\footnotesize\\setlength{\\tabcolsep}{4pt}"
_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "−": "$-$", "–": "--", "“": "``", "”": "''", "χ": r"$\chi$",
    "²": r"\textsuperscript{2}", "θ": r"$\theta$", "▲": r"$\blacktriangle$", "µ": r"\textmu{}",
}  # fmt: skip
LAST_OF_T1 = 0x17F  # Latin characters with extensions
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPES)))


def to_latex(document: Document, figures: Collection[str] | None = None) -> dict[str, str]:
    """Render a document as LaTeX files, as file -> text: one file to compile, and one for each table and figure.

    pdflatex compiles `main.tex` in the folder of the files. Each `tables/NAME.tex` is a table with caption, label
    tab:NAME and booktabs rules; each `figures/NAME.tex` is a figure with caption and label fig:NAME. `figures` names
    those that exist as figures/NAME.pdf, by default all; other figures are left out. All external texts are escaped.
    """
    files: dict[str, str] = {}
    lines = [PREAMBLE, f"\\title{{{_escaped(document.title)}}}\n\\date{{}}\n\\begin{{document}}\n\\maketitle"]
    lines += [_escaped(text) + "\n" for text in (document.lead, document.interim) if text]
    for section in document.sections:
        lines += _section(section, files, figures)
    if document.appendix:
        lines.append("\\clearpage\n\\appendix")
    for section in document.appendix:
        lines += _section(section, files, figures)
    return {"main.tex": "\n".join([*lines, "\\end{document}"]) + "\n", **files}


def _section(section: Section, files: dict[str, str], figures: Collection[str] | None) -> Iterator[str]:
    """Yield the lines of a section; write tables and figures to separate files."""
    yield f"\\{'sub' * (section.level - 2)}section{{{_escaped(section.title)}}}"
    for block in section.blocks:
        if isinstance(block, Paragraph):
            text = _escaped(block.text)
            yield (f"\\textbf{{{text}}}" if block.role == "answer" else text) + "\n"
        elif isinstance(block, Link):
            yield _escaped(f"{block.text}: see “{block.title}”.") + "\n"
        elif isinstance(block, Bullets):
            if block.items:
                yield "\\begin{itemize}"
                yield from (f"\\item {_escaped(item)}" for item in block.items)
                yield "\\end{itemize}"
        elif isinstance(block, Figure):
            if figures is None or block.name in figures:
                files[f"figures/{block.name}.tex"] = _figure(block)
                yield f"\\input{{figures/{block.name}}}"
        else:
            name = _free_name(block.name or section.anchor, files)
            files[f"tables/{name}.tex"] = _table(block, name)
            yield f"\\input{{tables/{name}}}"


def _free_name(text: str, files: Collection[str]) -> str:
    """Return the name for a table, which is a valid file name; if another table has this name, add a number."""
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    numbered = (name if n == 1 else f"{name}-{n}" for n in count(1))
    return next(candidate for candidate in numbered if f"tables/{candidate}.tex" not in files)


def _figure(block: Figure) -> str:
    return (
        "\\begin{figure}[!htbp]\n\\centering\n"
        f"{LOW}{NARROW}\\includegraphics{{figures/{block.name}.pdf}}}}}}\n"
        f"\\caption{{{_escaped(block.caption)}}}\n\\label{{fig:{block.name}}}\n\\end{{figure}}\n"
    )


def _table(block: Table, name: str) -> str:
    """Return the LaTeX code of a table; a table with many lines can continue over several pages."""
    natural, widths = _widths(block)
    share = 0.96 / max(LINE, sum(widths) + GAP * len(widths))
    columns = "".join(
        _column(block, at, None if width == full else width * share)
        for at, (width, full) in enumerate(zip(widths, natural, strict=True))
    )
    n_lines = sum(max(ceil(len(cell) / width) for cell, width in zip(row, widths, strict=True)) for row in block.rows)
    caption = f"\\caption{{{_escaped(block.caption)}}}\\label{{tab:{name}}}"
    header = " & ".join(map(_escaped, block.header)) + " \\\\\n\\midrule" if any(block.header) else ""
    rows = [" & ".join(map(_breakable, row)) + " \\\\" for row in block.rows]
    notes = [f"{_escaped(note)}\\\\" for note in block.notes]
    if n_lines > LONG:
        lines = [
            f"{{{SMALL}",
            f"\\begin{{longtable}}{{{columns}}}",
            f"{caption}\\\\",
            "\\toprule",
            *filter(None, [header]),
            "\\endhead",
        ]
        return "\n".join([*lines, *rows, "\\bottomrule", "\\end{longtable}", "}", *_in_small(notes)]) + "\n"
    lines = ["\\begin{table}[!htbp]\n\\centering", caption, SMALL]
    lines += [f"{NARROW}\\begin{{tabular}}{{{columns}}}", "\\toprule"]
    lines += [*filter(None, [header]), *rows, "\\bottomrule", "\\end{tabular}}", *_in_small(notes)]
    return "\n".join([*lines, "\\end{table}"]) + "\n"


def _widths(block: Table) -> tuple[list[int], list[int]]:
    """Return the number of characters that each column needs without wrapping, and the number that it gets.

    Texts wrap only if the table is wider than a line. The widest column is wrapped first, and no column becomes
    narrower than its longest word.
    """
    columns = list(zip(block.header, *block.rows, strict=True))
    natural = [max(1, *map(len, cells)) for cells in columns]
    least = [max((min(len(w), LONG_WORD) for cell in cells for w in cell.split()), default=1) for cells in columns]
    widths = list(natural)
    room = LINE - GAP * len(columns)
    while sum(widths) > room:
        wide = [at for at in range(len(widths)) if widths[at] > max(least[at], 4)]
        if not wide:
            break
        widths[max(wide, key=lambda at: widths[at])] -= 1
    return natural, widths


def _column(block: Table, at: int, width: float | None) -> str:
    """Return the LaTeX type of a column: a paragraph if texts wrap, otherwise aligned right (numbers) or left."""
    return f"{LEFT}p{{{width:.3f}\\linewidth}}" if width else "r" if at in block.numeric else "l"


def _breakable(text: str) -> str:
    """Escape a cell, and allow breaks in very long words."""
    return " ".join(
        "\\allowbreak{}".join(_escaped(word[at : at + PIECE]) for at in range(0, len(word), PIECE))
        if len(word) > LONG_WORD
        else _escaped(word)
        for word in text.split()
    )


def _in_small(notes: Sequence[str]) -> list[str]:
    return ["\\par\\raggedright\\footnotesize", *notes] if notes else []


def _escaped(text: str) -> str:
    """Escape a text for LaTeX, as one line without commands or options.

    Characters that T1 fonts lack become question marks.
    """
    line = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
    line = "".join(c if ord(c) <= LAST_OF_T1 or c in _ESCAPES else "?" for c in line)
    return ("{}" if line[:1] in ("[", "*") else "") + _SPECIAL.sub(lambda match: _ESCAPES[match.group()], line)
