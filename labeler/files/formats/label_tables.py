"""Read labels from files of anybody: what is a label, what is missing, and how labels are spelled.

This is the only reader of labels. `label_layouts` finds the rows of a file.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.categories import CATEGORIES, NO_CATEGORY
from analysis.text import counted
from labeler import marks
from labeler.errors import Refused
from labeler.files.formats.label_layouts import WIDE, Rows, find_rows, listing
from labeler.files.formats.label_reading import MISSING, STANDARD as STANDARD, LabelReading as LabelReading
from labeler.files.formats.source import Source

_NAMES_OF_NOBODY = tuple(word for word in MISSING if any(map(str.isalpha, word)))
_OF_SPREADSHEET = re.compile(r"#(REF|VALUE|DIV/0|NAME|NUM|NULL|SPILL|CALC)[!?]")
_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d*)?|[+-]?\.\d+")
_JOINTS = re.compile(r"(?<=\w)[\s_-]+(?=\w)|\s+")
_INVISIBLE = dict.fromkeys((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0xAD))
_FIRST_KINDS = ("", "fresh", "overlap")  # the kinds of a first label, in a label file
_EXAMPLES = 3  # lines that a message names
# names of rows and columns that are computed from the labels of reviewers, without signs at the end
_SUMMARIES = ("total", "totals", "grand total", "subtotal", "sum", "count", "mean", "average")
_RESULTS = (
    *_SUMMARIES, "adjudicated", "agree", "agreed", "agreement", "all agree", "consensus", "correct", "diff",
    "difference", "final", "final label", "gold", "gold standard", "ground truth", "majority", "majority vote", "match",
    "median", "mode", "truth",
)  # fmt: skip


@dataclass(frozen=True)
class LabelTable:
    """The labels in a file."""

    # texts with the columns item, reviewer and label, and others that the file has; indexed by the line
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()  # sentences about what was taken as missing, joined or counted once
    place: str = "line"  # what the index counts: line, row or task
    label: str = "label"  # name of the column of labels in the file; "" if each reviewer has a column


def read_label_table(
    source: Source,
    reading: LabelReading = STANDARD,
    *,
    declared: Sequence[str] = (),
    items: Collection[str] = (),
    knows_people: bool = False,
    layout: str | None = None,
    one_reviewer: str = "",
    say: Callable[[str], None] = lambda _note: None,
) -> LabelTable:
    """Read the labels in a file of any layout (`label_layouts`); raises Refused with place, value and next step.

    `declared` are the answers that the question allows: they are never missing, and labels that are spelled in another
    way are read as them. `items` are names of items that are known with spaces around them; others have none. With
    `knows_people`, the caller finds out which names belong to the same person. `one_reviewer` names the reviewer of a
    table without names. `say` is called with each note, after the name of the file.
    """
    rows = find_rows(source, layout, (*declared, *NO_CATEGORY), one_reviewer=one_reviewer)
    frame = rows.frame.copy()
    frame["item"] = [name if name in items else name.strip() for name in frame["item"]]
    for name in ("reviewer", "label"):
        frame[name] = frame[name].map(str.strip)
    rows = Rows(frame, rows.place, rows.label, rows.notes, rows.has_revisions)
    is_own = "event_id" in frame and bool((frame["event_id"].map(str.strip) != "").any())
    _check_names(source, rows, reading, is_own=is_own)
    notes = [*rows.notes]
    frame, found = _without_missing(frame, reading, {*declared, *NO_CATEGORY})
    notes += found
    rows = Rows(frame, rows.place, rows.label, (), rows.has_revisions)
    _check_labels(source, rows, is_own=is_own or layout == WIDE)
    known = _known_answers(frame["label"], declared)
    frame["label"], found = _spelled(source, rows, "label", reading, known)
    notes += found
    if not (is_own or knows_people):
        frame["reviewer"], found = _spelled(source, rows, "reviewer", reading, ())
        notes += found
    rows = Rows(frame, rows.place, rows.label, (), rows.has_revisions)
    notes += [*_alike_items(frame["item"]), *_summary_rows(source, rows)]
    frame, found = _once(source, rows, reading)
    notes += found
    for note in notes:
        say(f"{source.name}: {note}")
    return LabelTable(frame, tuple(notes), rows.place, rows.label)


def _where(rows: Rows, at: Hashable) -> str:
    return f"{rows.place} {at}"


def _check_names(source: Source, rows: Rows, reading: LabelReading, *, is_own: bool) -> None:
    """Refuse an empty name of an item or a reviewer, and one that means that it is missing."""
    nobody = {word for word in reading.missing_words if word in _NAMES_OF_NOBODY} if not is_own else set()
    for column in ("item", "reviewer"):
        for at, name in rows.frame[column].items():
            if not name.strip():
                raise Refused(source.name, f"the {column} is empty", _where(rows, at))
            if name.strip().lower() in nobody and (column == "item" or rows.label):
                why = (
                    f"the {column} {name!r} means that it is missing. Fill it in, or remove the row; if it is a name, "
                    "list the other texts with --missing"
                )
                raise Refused(source.name, why, _where(rows, at))


def _without_missing(
    frame: pd.DataFrame, reading: LabelReading, declared: Collection[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows that have a label, and how often which text was taken as a missing label."""
    words = reading.missing_words
    is_missing = [text not in declared and text.lower() in words for text in frame["label"]]
    counts = Counter(frame["label"][is_missing])
    if not counts:
        return frame, []
    texts = ", ".join(f"{text or 'empty'} ({n})" for text, n in counts.most_common(5))
    more = f" and {len(counts) - 5} other texts" if len(counts) > 5 else ""
    has_words = bool(set(counts) - {""})
    hint = " If one of these texts is a category, name only the others with --missing." if has_words else ""
    are = "is" if sum(counts.values()) == 1 else "are"
    kept = frame[[not missing for missing in is_missing]].copy()
    return kept, [f"{sum(counts.values())} of {counted(len(frame), 'label')} {are} missing: {texts}{more}.{hint}"]


def _check_labels(source: Source, rows: Rows, *, is_own: bool) -> None:
    """Refuse errors of a spreadsheet, and what is not from a reviewer: results, notes and numbers."""
    for text in rows.frame["label"].unique():
        if _OF_SPREADSHEET.fullmatch(text):
            at = rows.frame.index[rows.frame["label"] == text][0]
            why = f"{text} is an error of a spreadsheet, not a label. Correct the cell, or empty it"
            raise Refused(source.name, why, _where(rows, at))
    people = rows.frame["reviewer"].unique()
    result = next((name for name in people if folded(name).strip(" ?!:.") in _RESULTS), None)
    if result is not None and len(people) > 1 and not is_own:
        what = "column" if not rows.label else "reviewer"
        why = (
            f"the {what} {result!r} seems to be computed from the labels of others. Remove it; if it is a person, "
            "change the name"
        )
        raise Refused(source.name, why)
    if rows.label:
        return
    texts = {name: own["label"] for name, own in rows.frame.groupby("reviewer", sort=False)}
    for name, own in texts.items():
        others = {text for other, labels in texts.items() if other != name for text in labels}
        if others and not set(own) & others and 2 * own.nunique() > max(len(own), 4):
            why = (
                f"the column {name!r} has no label in common with the other columns, such as {own.iloc[0][:60]!r}. "
                "Remove it if it has no labels of a reviewer, or give a table with the columns item, reviewer and label"
            )
            raise Refused(source.name, why)


def _known_answers(labels: "pd.Series[Any]", declared: Sequence[str]) -> tuple[str, ...]:
    """Return the answers whose spelling counts: the declared ones, or those of `CATEGORIES` if no others occur."""
    if declared:
        return (*declared, *(word for word in NO_CATEGORY if word not in declared))
    first_question = {folded(name) for name in CATEGORIES}
    found = {folded(text) for text in labels.unique()} - {folded(word) for word in NO_CATEGORY}
    return (*CATEGORIES, *NO_CATEGORY) if found and found <= first_question else NO_CATEGORY


def folded(text: str) -> str:
    """Return what a text has in common with all its spellings: without case, kind of spaces, and form of a number.

    Examples
    --------
    >>> folded(" Not_sure"), folded("not  sure"), folded("1.0"), folded("01"), folded("TRUE")
    ('not sure', 'not sure', '1', '1', 'true')
    """
    plain = unicodedata.normalize("NFKC", text).translate(_INVISIBLE).strip().casefold()
    if _NUMBER.fullmatch(plain):
        return f"{float(plain):.15g}"
    return _JOINTS.sub(" ", plain)


def _spelled(
    source: Source, rows: Rows, column: str, reading: LabelReading, known: Sequence[str]
) -> tuple["pd.Series[Any]", list[str]]:
    """Return a column in which texts that mean the same are equal, and which texts were changed."""
    texts = rows.frame[column]
    groups: dict[str, list[str]] = defaultdict(list)
    for text in texts.unique():
        if not marks.are_marks(text):
            groups[folded(text)].append(text)
    wanted: dict[str, list[str]] = defaultdict(list)
    for name in known:
        wanted[folded(name)].append(name)
    counts = texts.value_counts()
    read_as: dict[str, str] = {}
    for key, found in groups.items():
        ours = wanted.get(key, [])
        if len(ours) > 1:  # the question itself has two categories that are spelled alike
            continue
        if len(found) > 1 and not reading.join_spellings:
            raise Refused(source.name, _two_spellings(rows, column, found))
        target = ours[0] if ours else max(found, key=lambda text: int(counts[text]))
        read_as |= {text: target for text in found if text != target}
    if not read_as:
        return texts, []
    changed = ", ".join(f"{text!r} as {target!r} ({counts[text]})" for text, target in list(read_as.items())[:5])
    return texts.map(lambda text: read_as.get(text, text)), [f"{column}s are read in one spelling: {changed}."]


def _two_spellings(rows: Rows, column: str, found: Sequence[str]) -> str:
    places = []
    for text in found[:_EXAMPLES]:
        lines = list(dict.fromkeys(rows.frame.index[rows.frame[column] == text]))
        more = " and others" if len(lines) > _EXAMPLES else ""
        word = rows.place if len(lines) == 1 else f"{rows.place}s"
        places.append(f"{text!r} ({word} {', '.join(map(str, lines[:_EXAMPLES]))}{more})")
    return (
        f"the {column}s {' and '.join(places)} differ only in how they are written. Correct the file, or join them "
        "with --join-spellings"
    )


def _alike_items(items: "pd.Series[Any]") -> list[str]:
    """Say which items differ only in how they are written; they stay two items, as benchmarks may be called so."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in items.unique():
        groups[folded(name)].append(name)
    alike = [found for found in groups.values() if len(found) > 1]
    if not alike:
        return []
    more = f" and {len(alike) - 1} more such groups" if len(alike) > 1 else ""
    return [f"items {listing(alike[0])}{more} differ only in how they are written, and are read as different items."]


def _summary_rows(source: Source, rows: Rows) -> list[str]:
    """Refuse a row of a spreadsheet that sums up the others; say that an item is called like such a row."""
    is_summary = rows.frame["item"].map(folded).isin(_SUMMARIES)
    labels = set(rows.frame["label"][~is_summary])
    if not labels or not is_summary.any():
        return []
    for at, name, text in rows.frame[is_summary][["item", "label"]].itertuples(name=None):
        if text not in labels and _NUMBER.fullmatch(text.rstrip("% ")):
            why = (
                f"the row {name!r} seems to sum up the others, because no other item has the label {text!r}. Remove "
                "the row; if it is an item, give it another name"
            )
            raise Refused(source.name, why, _where(rows, at))
    names = rows.frame["item"][is_summary].unique()
    return [f"{listing(names)}: read as {'an item' if len(names) == 1 else 'items'}, because the cells are labels."]


def _once(source: Source, rows: Rows, reading: LabelReading) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows with one row per reviewer, item and kind of label, and say what counts.

    Rows of a label file are answers with their revisions, and stay as they are.
    """
    frame = rows.frame
    kind = frame["kind"].map(lambda text: "" if text.strip() in _FIRST_KINDS else text) if "kind" in frame else ""
    keyed = pd.DataFrame({"item": frame["item"], "reviewer": frame["reviewer"].map(folded), "kind": kind})
    later = keyed.duplicated()
    n = counted(int(later.sum()), "row")
    if not later.any():
        return frame, []
    if reading.last:
        kept = frame[~keyed.duplicated(keep="last").to_numpy()]
        return kept, [f"{n} with an earlier label of the same reviewer on the same item: only the last label counts."]
    if rows.has_revisions:
        note = (
            f"{counted(int(later.sum()), 'annotation')} of the same reviewer on the same item: revisions. The label "
            "that a reviewer gave before going on to another item counts, and later ones do not."
        )
        return frame, [note] if rows.place == "task" else []
    standing: dict[tuple[str, ...], tuple[Hashable, str]] = {}  # the last label, unless it was withdrawn
    repeats = []
    columns = (frame.index, keyed.itertuples(index=False, name=None), frame["reviewer"], frame["label"])
    for at, key, reviewer, text in zip(*columns, strict=True):
        line, label = standing.get(key, (at, ""))
        if label and text not in (label, *NO_CATEGORY):
            why = (
                f"{reviewer!r} labels {key[0]!r} a second time: {text!r} here, {label!r} on {rows.place} {line}. "
                "Remove one of the rows, or count the last label with --last"
            )
            raise Refused(source.name, why, _where(rows, at))
        repeats.append(label == text)
        standing[key] = (at, "" if text in NO_CATEGORY else text)
    if not any(repeats):
        return frame, []
    n = counted(sum(repeats), "row")
    kept = frame[[not repeat for repeat in repeats]]
    return kept, [f"{n} with the same reviewer, item and label as an earlier row: counted once."]


def categories_of(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the categories in labels, in alphabetical order; similar and dissimilar if one of these two occurs.

    Other labels beside similar and dissimilar are mistakes.
    """
    found = set(labels) - set(NO_CATEGORY)
    return CATEGORIES if found & set(CATEGORIES) else tuple(sorted(found))
