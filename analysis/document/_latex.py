"""A document for LaTeX with booktabs, to be read in with \\input or copied one by one."""

import re
from collections.abc import Iterator

from analysis.document._content import Block, Bullets, Document, Figure, Paragraph, Table

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "−": "$-$", "–": "--", "“": "``", "”": "''", "χ": r"$\chi$",
    "²": r"\textsuperscript{2}", "θ": r"$\theta$", "▲": r"$\blacktriangle$", "µ": r"\textmu{}",
}  # fmt: skip
LAST_OF_T1 = 0x17F  # Latin with its extensions
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPES)))


def to_latex(document: Document) -> str:
    """Render a document.

    Parameters
    ----------
    document : Document

    Returns
    -------
    str
        Sections with booktabs tables, without a preamble: it needs booktabs, textcomp and amssymb, and T1 fonts.
        Figures are named, not included; every text from outside is escaped.
    """
    lines = ["% Needs: \\usepackage{booktabs,textcomp,amssymb} \\usepackage[T1]{fontenc} \\usepackage[utf8]{inputenc}"]
    lines.append(f"\\section*{{{_escaped(document.title)}}}")
    lines += [_escaped(text) + "\n" for text in (document.lead, document.interim) if text]
    for section in document.sections:
        lines.append(f"\\{'sub' * (section.level - 1)}section*{{{_escaped(section.title)}}}")
        lines += [line for block in section.blocks for line in _block(block)]
    return "\n".join(lines) + "\n"


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield _escaped(block.text) + "\n"
    elif isinstance(block, Bullets):
        if block.items:
            yield "\\begin{itemize}"
            yield from (f"\\item {_escaped(item)}" for item in block.items)
            yield "\\end{itemize}"
    elif isinstance(block, Figure):
        yield f"% figures/{block.name}.svg: {_escaped(block.caption)}"
    else:
        yield from _table(block)


def _table(block: Table) -> Iterator[str]:
    columns = "".join("r" if column in block.numeric else "l" for column in range(len(block.header)))
    yield "\\begin{table}\n\\centering"
    yield f"\\caption{{{_escaped(block.caption)}}}"
    yield f"\\begin{{tabular}}{{{columns}}}\n\\toprule"
    if any(block.header):
        yield " & ".join(map(_escaped, block.header)) + " \\\\\n\\midrule"
    yield from (" & ".join(map(_escaped, row)) + " \\\\" for row in block.rows)
    yield "\\bottomrule\n\\end{tabular}\n\\end{table}\n"


def _escaped(text: str) -> str:
    """One line in which nothing is a command or an option of one; what T1 fonts lack is a question mark."""
    line = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
    line = "".join(c if ord(c) <= LAST_OF_T1 or c in _ESCAPES else "?" for c in line)
    return ("{}" if line[:1] in ("[", "*") else "") + _SPECIAL.sub(lambda match: _ESCAPES[match.group()], line)
