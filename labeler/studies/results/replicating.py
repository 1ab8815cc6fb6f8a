"""Replicate the results of the paper.

The tables of the paper are computed from labels that have the published counts. The claims are checked on measurements.

Bauer et al., "Searching for the Ground Truth: Assessing the Similarity of Benchmarking Runs", ICPE '23 Companion,
doi:10.1145/3578245.3584693.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path, PurePosixPath
from threading import BoundedSemaphore, Lock
from typing import Any

import pandas as pd

from analysis import report
from analysis.categories import DISSIMILAR, SIMILAR
from analysis.document import Table, json_values, listed, to_html, to_json, to_markdown
from analysis.document.figures import Chart, to_svgs
from analysis.methods import replication as replicated
from analysis.methods.replication import Claim, LabelScope, Measured, Replication
from analysis.report import PublishedNumber, Report
from analysis.runs.benchmark import Benchmark
from analysis.runs.classifiers import CLASSIFIERS
from analysis.runs.runs import Warmup
from analysis.text import counted
from labeler.errors import InputError, Refused, sentence
from labeler.files.formats import Source
from labeler.files.formats.label_tables import STANDARD, LabelReading
from labeler.files.gathering import Gathered as GatheredFiles
from labeler.studies import references
from labeler.studies.model import combined_hash
from labeler.studies.results.reporting import QUICK, REPLICATION_NOTE, ReportInput, gathered_files
from labeler.studies.screen import binning, charts as screen_charts
from labeler.studies.store import Database, items

MADE_LABELS = (
    "The claims about labels (sections 2.2 and 4.1 to 4.3) are computed from labels that were reconstructed from the "
    "counts in the paper. These results check the computations, but not the data. To check the claims, give the labels "
    "of the reviewers."
)
REVISIONS = "benchmarks_revision.csv"
N_THREADS = min(max((os.cpu_count() or 1) - 1, 1), 4)  # one core reads; compressing holds no lock
IN_PAPER = ("same", "heuristic")  # the classifiers of Tables 2 and 3
CLASSES = ("inconsistent", "steady state", "no steady state")

Advance = Callable[[int, int], None]


@dataclass(frozen=True)
class Replicated:
    """The result of a replication, with remarks for the reader."""

    replication: Replication
    drawn: Benchmark | None  # the benchmark whose runs are drawn in Figure 4; None if there is none
    remarks: tuple[str, ...] = ()  # sentences for the reader, for example about names in tables that match no benchmark
    tables: tuple[Table, ...] = ()  # Tables 1 to 3 in the layout of the paper

    def files(self) -> dict[str, str]:
        """Return the result as files, as name -> text: the HTML page, Markdown, JSON and figures.

        Drawing the figures takes seconds.
        """
        result = self.replication
        charts = dict(replicated.charts(result))
        if self.drawn is not None:
            charts["figure-4"] = screen_charts.runs(binning.payload(self.drawn.values, self.drawn.unit))
        figures = _drawn({name: charts[name] for name in sorted(charts)})
        document = replicated.document(result, has_figure_4="figure-4" in figures, tables=self.tables)
        return {
            "replication.html": to_html(document, figures),
            "replication.md": to_markdown(document),
            "replication.json": to_json(self._content()),
            **{f"figures/{name}.svg": svg for name, svg in figures.items()},
        }

    def _content(self) -> dict[str, Any]:
        """Return all numbers for JSON, including the scores of each benchmark and its number in the paper."""
        content: dict[str, Any] = json_values(self.replication)
        for row, one in zip(content["benchmarks"], self.replication.benchmarks, strict=True):
            row["number"] = self.replication.numbers.get(one.name)
            row["scores"] = {name: one.score(name) for name in replicated.READINGS}
        return content


def _drawn(charts: Mapping[str, Chart]) -> dict[str, str]:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return to_svgs(charts, pool)


def replication(folder: Path) -> ReportInput:
    """Read the labels and verdicts of the replication data set, as input of a quick report."""
    return gathered_files(folder / "labels.csv", folder / "verdicts.csv", (REPLICATION_NOTE,), QUICK)


def compare(report: Report) -> list[Claim]:
    """Return claims that compare a report with Tables 1 to 3, percent agreement and kappa of the paper."""
    return replicated.claims_of_labels(json_values(report), by_construction=True)


def with_published(report: Report) -> Report:
    """Return the report, extended by the published numbers next to the computed numbers."""
    return replace(report, published=tuple(PublishedNumber(**row) for row in published(report)))


def published(report: Report) -> list[dict[str, Any]]:
    """Return a row for each published number, with the fields where, what, paper, ours, agrees and note."""
    return [
        {
            "where": claim.where.rpartition(", ")[2], "what": claim.claim.partition(": ")[0], "paper": claim.paper,
            "ours": claim.ours, "agrees": claim.agrees, "note": claim.why,
        }
        for claim in compare(report)
    ]  # fmt: skip


class Measuring:
    """Measures benchmarks in threads, or in the processes of `pool`, while further benchmarks are read.

    Of all benchmarks, only those that Figure 4 may show are kept: the benchmarks of the paper's example, and the most
    dissimilar benchmark of each other application.
    """

    def __init__(
        self, benchmarks: Iterable[Benchmark] = (), *, warmup: Warmup = 0, pool: Executor | None = None,
        n_workers: int = N_THREADS,
    ) -> None:  # fmt: skip
        """Start the threads, and add the benchmarks; with a warm-up, verdicts without it are computed too."""
        self.warmup = warmup
        self._pool = pool or ThreadPoolExecutor(n_workers)
        self._waiting = BoundedSemaphore(2 * n_workers)
        self._measured: list[Future[Measured]] = []
        self._kept: dict[str, tuple[Measured, Benchmark]] = {}
        self._keeping = Lock()
        for benchmark in benchmarks:
            self.add(benchmark)

    @property
    def n(self) -> int:
        """Return the number of benchmarks."""
        return len(self._measured)

    def add(self, benchmark: Benchmark) -> None:
        """Measure a benchmark; wait while too many others are not measured yet."""
        self._waiting.acquire()
        future = self._pool.submit(replicated.measure, benchmark, self.warmup)
        future.add_done_callback(partial(self._keep, benchmark))
        self._measured.append(future)

    def _keep(self, benchmark: Benchmark, future: Future[Measured]) -> None:
        self._waiting.release()
        if future.cancelled() or future.exception():
            return
        row = future.result()
        is_example = row.application == replicated.FOCUS
        place = row.name if is_example else row.application
        with self._keeping:
            known = self._kept.get(place)
            if known is None or (row.overall or 0, row.name) > (known[0].overall or 0, known[0].name):
                self._kept[place] = row, benchmark

    def results(self, advance: Advance) -> list[Measured]:
        """Return all results when they are there; `advance` is called with (finished benchmarks, all benchmarks)."""
        rows = []
        with self._pool:
            for future in self._measured:
                rows.append(future.result())
                advance(len(rows), self.n)
        return rows

    def kept(self, name: str | None) -> Benchmark | None:
        """Return the measurements of a benchmark, of those that Figure 4 can choose from."""
        return next((benchmark for _row, benchmark in self._kept.values() if benchmark.name == name), None)


def replicate(
    measuring: Measuring,
    bundled: Path,
    *,
    labels: Path | None = None,
    reading: LabelReading = STANDARD,
    one_is: str = DISSIMILAR,
    classes: Path | None = None,
    revisions: Path | None = None,
    advance: Advance = lambda _done, _total: None,
) -> Replicated:
    """Check the claims of the paper on measurements, and return the result.

    Claims about labels use the bundled labels, which have the published counts, unless `labels` is the file of the
    reviewers' labels (see `labeler.studies.references.read_reviewer_labels`), in which `one_is` is the meaning of the
    number 1. `classes` is a file with the class that another method gives each benchmark (see `read_classes` there),
    and `revisions` the file of the git revisions that were measured (see `revisions_beside`). `advance` is called with
    (finished benchmarks, all benchmarks). Raises InputError if there are no measurements, two benchmarks have the same
    name, or a table is invalid.
    """
    notes: list[str] = []
    remarks: list[str] = []
    label_table = (
        None
        if labels is None
        else references.read_reviewer_labels(Source(str(labels), labels), reading, one_is=one_is, say=remarks.append)
    )
    class_table = None if classes is None else references.read_classes(Source(str(classes), classes))
    measured = measuring.results(advance)
    if not measured:
        raise InputError("The study has no measurements.")
    names = _Names(measured)
    of_classes = label_scope = None
    if class_table is not None:
        of_classes, unmatched = names.known(class_table)
        remarks += _unmatched(str(classes), unmatched)
        others = sorted({found for found in of_classes.values() if found not in CLASSES})
        if others:
            remarks.append(f"{classes}: only {', '.join(CLASSES)} are used, not {', '.join(others)}.")
    if label_table is None:
        made = replication(bundled).report()
        claims = compare(made)
        notes.append(MADE_LABELS)
    else:
        answers, unmatched = _with_names(label_table.table, names, str(labels))
        remarks += _unmatched(str(labels), unmatched)
        made = report.summarise(answers, _verdicts(measured))
        claims = replicated.claims_of_labels(json_values(made))
        label_scope = _label_scope(answers, unmatched)
        notes += [*filter(None, [label_table.note]), _of_labels(answers, unmatched, len(measured))]
    try:
        result = replicated.survey(
            measured,
            of_labels=claims,
            labels=label_scope,
            classes=of_classes,
            revisions=None if revisions is None else read_revisions(revisions),
            notes=notes,
            warmup=measuring.warmup,
        )
    except ValueError as error:
        raise InputError(sentence(error)) from None
    return Replicated(result, measuring.kept(result.drawn), tuple(remarks), report.paper_tables(made, IN_PAPER))


def revisions_beside(paths: Iterable[Path]) -> Path | None:
    """Return the data set's file of git revisions in one of these folders, or beside the folder; None without one."""
    folders = [folder for path in paths for folder in (path, path.parent)]
    return next((file for folder in folders if (file := folder / REVISIONS).is_file()), None)


def read_revisions(file: Path) -> list[str]:
    """Return the repositories in the file of git revisions; raises Refused if it has no column for them."""
    try:
        table = pd.read_csv(file, dtype=str, keep_default_na=False)
    except (ValueError, UnicodeDecodeError) as error:
        raise Refused(str(file), f"this is not a table of revisions: {error}") from None
    if "repository" not in table:
        raise Refused(str(file), "there is no column repository")
    return list(table["repository"])


def without_revisions(gathered: GatheredFiles) -> GatheredFiles:
    """Return the read files without the remark that the file of git revisions has no measurements."""
    refused = tuple(error for error in gathered.refused if PurePosixPath(error.file).name != REVISIONS)
    return replace(gathered, refused=refused)


def _label_scope(answers: pd.DataFrame, unmatched: Sequence[str]) -> LabelScope:
    """Say which benchmarks the labels cover, and the category of each item whose labels all agree."""
    by_item = answers[~answers["item"].isin(set(unmatched))].groupby("item")["label"]
    agreed = by_item.first()[(by_item.nunique() == 1) & (by_item.size() > 1)]
    return LabelScope(
        answers["item"].nunique(), by_item.ngroups, tuple(unmatched), {str(k): str(v) for k, v in agreed.items()}
    )


def measurements_of(db: Database) -> str:
    """Return a hash of all measurements of the study, which changes if the measurements change."""
    return combined_hash(f"{item.data_hash} {item.excluded_why is None}" for item in items.all_items(db) if item.n_runs)


class _Names:
    """A lookup of benchmarks by the names that other tables use.

    A name in a table may lack the folder, the ending .json or the application.
    """

    def __init__(self, benchmarks: Iterable[Measured]) -> None:
        self._by_text: dict[str, str | None] = {}
        for benchmark in benchmarks:
            for text in {benchmark.name, benchmark.name.replace("__", "/", 1), benchmark.benchmark}:
                known = self._by_text.setdefault(text.lower(), benchmark.name)
                if known != benchmark.name:
                    self._by_text[text.lower()] = None  # two benchmarks have this short name, so the name is ambiguous

    def find(self, text: str) -> str | None:
        """Return the name of the benchmark; return None if no benchmark or several benchmarks match."""
        plain_name = text.strip().replace("\\", "/")
        for ending in (".gz", ".json"):
            plain_name = plain_name.removesuffix(ending)
        for candidate in (plain_name, PurePosixPath(plain_name).name):
            found = self._by_text.get(candidate.lower())
            if found is not None:
                return found
        return None

    def known(self, table: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
        """Return benchmark -> value for the rows of a table, and the names that match no benchmark."""
        found = {name: self.find(name) for name in table}
        matched = {name: table[text] for text, name in found.items() if name is not None}
        return matched, [text for text, name in found.items() if name is None]


def _with_names(table: pd.DataFrame, names: _Names, file: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the labels with the names of the benchmarks, and the names that match no benchmark.

    The labels of a name that matches no benchmark are used only to compute agreement.
    """
    found = {text: names.find(text) for text in dict.fromkeys(table["item"])}
    answers = table.assign(item=[found[text] or text for text in table["item"]])
    twice = answers[answers.duplicated(["item", "reviewer"])]
    if len(twice):
        row = twice.iloc[0]
        raise Refused(file, f"reviewer {row['reviewer']!r} has two labels on {row['item']!r}", f"line {row['line']}")
    return answers[["item", "reviewer", "label"]], [text for text, name in found.items() if name is None]


def _unmatched(file: str, names: Sequence[str]) -> list[str]:
    return [f"{file}: {counted(len(names), 'name')} without a benchmark: {listed(names)}"] if names else []


def _of_labels(answers: pd.DataFrame, unmatched: Sequence[str], n_benchmarks: int) -> str:
    n_items = answers["item"].nunique()
    text = (
        f"The claims about labels are computed from {len(answers)} labels of {answers['reviewer'].nunique()} reviewers "
        f"on {n_items} items. {n_items - len(unmatched)} of these items are among the {n_benchmarks} benchmarks here."
    )
    if unmatched:
        n = counted(len(unmatched), "item")
        text += f" {n} without a benchmark, whose labels are used only for agreement: {listed(unmatched)}."
    return text


def _verdicts(measured: Sequence[Measured]) -> pd.DataFrame:
    rows = [
        (one.name, name, None if score is None else DISSIMILAR if score > threshold else SIMILAR, score, threshold)
        for name in replicated.READINGS
        for threshold in [next(iter(CLASSIFIERS[name].parameters.values()))]
        for one in measured
        for score in [one.score(name)]
    ]
    return pd.DataFrame(rows, columns=["item", "classifier", "verdict", "score", "threshold"])
