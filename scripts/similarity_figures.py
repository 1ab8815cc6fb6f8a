"""Create the figures of docs/similarity.md, and the tables of docs/results/measures.md, from the registries and runs.

    python scripts/similarity_figures.py [--study FILE]

Without a study, the script creates a figure for each measure, the tables of flags, and Figure 4 for a benchmark of the
demo study. With a study that has verdicts on the benchmarks of the ICPE '23 data challenge, it also creates Figures 2
and 3.
"""

import argparse
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from analysis.document import figures
from analysis.raters.agreement import COEFFICIENTS
from analysis.report import registry
from analysis.runs import measures, schemes
from analysis.runs.dissimilarity import MEASURES
from labeler.config import bundled
from labeler.studies import demo
from labeler.studies.store import open_database
from labeler.studies.verdicts import evidence

DOCS = Path(__file__).parent.parent / "docs"
SEED = 1
APPLICATION = "HdrHistogram/HdrHistogram"
DEMO_ITEM = "linked_nodes#nodes=250"

# pairs for each measure: a difference it detects, one it misses, and a surprising case
TELLING = {
    "m1": ("double frequency", "offset", "two runs of noise"),
    "m2": ("noise", "offset", "same pattern"),
    "m3": ("shifted in time", "offset", "one outlier"),
    "m3_with_mean": ("twice as slow", "double frequency", "two runs of noise"),
    "m4": ("one outlier", "twice as slow", "double frequency"),
    "m5": ("offset", "double frequency", "one outlier"),
    "cosine": ("one outlier", "twice as slow", "shifted in time"),
    "wave_hedges": ("twice as slow", "one outlier", "noise"),
    "kumar_hassebrook": ("twice as slow", "double frequency", "one outlier"),
    "scaled_rmse": ("offset", "one outlier", "two runs of noise"),
}


ALL_MEASURES = ("offset", "double frequency", "noise")


def measure_figure(name: str) -> figures.Chart:
    """Draw the figure of one measure on three informative pairs."""
    pairs = schemes.schematic_pairs(rng=np.random.default_rng(SEED))
    theta = None if MEASURES[name].needs_nonnegative else 0.25  # SAME's measures have no separate thresholds
    return measures.schematic_pairs({pair: pairs[pair] for pair in TELLING[name]}, measures=[name], theta=theta)


def flag_table(kind: str) -> str:
    """Return the flags of the registry "measures" or "classifiers" as a Markdown table."""
    rows = registry()[kind]
    flags = [flag for flag in next(iter(rows.values())) if flag != "title"]
    lines = ["| name | what | " + " | ".join(flag.replace("_", " ") for flag in flags) + " |"]
    lines.append("|---|---|" + "---|" * len(flags))
    for name, row in rows.items():
        lines.append(f"| `{name}` | {row['title']} | " + " | ".join(_cell(row[flag]) for flag in flags) + " |")
    return "\n".join(lines) + "\n"


def coefficient_table() -> str:
    """Return the coefficients of agreement as a Markdown table."""
    lines = ["| name | what | chance | needs | weights | source |", "|---|---|---|---|---|---|"]
    for row in COEFFICIENTS.values():
        cells = (f"`{row.name}`", row.title, row.sentence, row.needs.value, _cell(row.weights), row.source)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def with_tables(text: str) -> str:
    """Return the document with updated tables between their marks."""
    tables = {kind: flag_table(kind) for kind in ("measures", "classifiers")} | {"coefficients": coefficient_table()}
    for kind, table in tables.items():
        begin, end = f"<!-- {kind}: made by scripts/similarity_figures.py -->\n", f"<!-- end of {kind} -->"
        before, _, rest = text.partition(begin)
        text = before + begin + table + end + rest.partition(end)[2]
    return text


def _cell(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_cell(entry)}" for name, entry in value.items())
    return {True: "yes", False: "–"}[value] if isinstance(value, bool) else f"{value}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", type=Path, default=None)
    study: Path | None = parser.parse_args().study
    charts = {f"similarity-{name}": measure_figure(name) for name in TELLING}
    pairs = schemes.schematic_pairs(rng=np.random.default_rng(SEED))
    charts["similarity-all"] = measures.schematic_pairs({name: pairs[name] for name in ALL_MEASURES})
    with tempfile.TemporaryDirectory() as folder:
        demo_study = Path(folder) / "demo.study"
        demo.build(demo_study, bundled("data/demo"), advance=lambda *_: None, now=datetime.now(UTC))
        with open_database(demo_study) as db:
            item = evidence.item_named(db, DEMO_ITEM)
            charts["figure-4"] = evidence.runs_of_item(db, item)
            reasoned = {one.verdict.classifier: one for one in evidence.explained_verdicts(db, item)}
            charts["matrix"] = evidence.matrix(reasoned["same"])
            print(*(line for one in reasoned.values() for line in (one.headline, *one.reasons)), sep="\n")
    if study is not None:
        with open_database(study) as db:
            charts["figure-2"] = evidence.by_application(db)
            charts["figure-3"] = evidence.by_benchmark(db, APPLICATION)
    for name, chart in charts.items():
        (DOCS / "img" / f"{name}.svg").write_text(figures.to_svg(chart) + "\n", encoding="utf-8")
    document = DOCS / "results" / "measures.md"
    document.write_text(with_tables(document.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
