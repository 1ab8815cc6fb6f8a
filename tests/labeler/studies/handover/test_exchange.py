import json
import shutil
from collections import Counter
from datetime import timedelta

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from labeler.errors import InputError, NotAllowed, Refused
from labeler.files.formats import tables
from labeler.files.formats.label_tables import read_label_table
from labeler.studies.course import coordinating
from labeler.studies.handover import exchange
from labeler.studies.items import importing
from labeler.studies.model import Kind, Label, LabelOrigin, Role
from labeler.studies.preparing import assigning
from labeler.studies.questions import SIMILAR
from labeler.studies.results import reporting
from labeler.studies.store import assignments, events, items, labels, open_database, people
from labeler.studies.store.assignments import NewAssignment
from tests.conftest import examples
from tests.making import NOW, PARAMETERS, REVIEWERS, WHO, answer_everything, answer_next, id_of, item_name, lines, log

COLUMNS = [
    "item", "benchmark", "application", "part", "reviewer", "assignment", "revision", "kind", "label", "created_utc",
    "position", "dwell_ms", "view", "confidence", "flag", "comment", "extra", "swapped", "session",
    "event_id", "run_order",
]  # fmt: skip
MINIMAL = "item,reviewer,label"


def export(db):
    return exchange.export_labels(db, actor="owner", now=NOW)


def take_in(db, text):
    table = read_label_table(importing.upload("labels.csv", text.encode()), knows_people=True).frame
    return exchange.import_labels(db, table, actor="owner", now=NOW)


def test_a_reviewer_is_one_person_however_a_file_spells_the_name(db):
    rows = [f"a,{spelled},similar" for spelled in ("José", "JOSE\u0301", "Jos\u00e9")]
    take_in(db, lines(*rows))
    assert [person.name for person in people.reviewers(db)] == ["José"]
    with pytest.raises(InputError, match="Line 3: ben\u0435 looks like bene,"):
        take_in(db, lines("a,bene,similar", "a,ben\u0435,similar"))
    assert [person.name for person in people.reviewers(db)] == ["José"]
    both = importing.upload("labels.csv", lines("a,bene,similar", "a,ben\u0435,similar").encode())
    table = tables.read_table(both, ())
    exchange.import_labels(db, table, look_alike=True, actor="owner", now=NOW)
    assert len(people.reviewers(db)) == 3


def test_every_answer_is_one_row_with_what_was_said_where_and_when(planned):
    assert export(planned).columns.tolist() == COLUMNS
    task = answer_next(planned, "ada", "dissimilar", now=NOW + timedelta(seconds=5))
    assert export(planned).columns.tolist() == COLUMNS
    assert log(planned)[-1] == ("owner", "export labels")
    (row,) = export(planned).to_dict("records")
    view = json.loads(row.pop("view"))
    assert view.keys() == {"axis", "min_span", "rule", "rule_version", "drawing", "picture"}
    code = row.pop("event_id")
    item = items.by_id(planned, task.item_id)
    assert code.startswith(task.code)
    assert row == {
        "item": item.name, "benchmark": item.benchmark, "application": item.application,
        "part": planned.execute("SELECT block FROM assignments WHERE code = ?", (task.code,)).fetchone()[0],
        "reviewer": "ada", "assignment": task.assignment_id, "revision": 0, "kind": "fresh", "label": "dissimilar",
        "created_utc": "2026-11-20T12:00:05+00:00", "position": 0, "dwell_ms": 900,
        "confidence": None, "flag": 0, "comment": None, "extra": None, "swapped": None, "session": None,
        "run_order": " ".join(str(run + 1) for run in view["picture"]["order"]),
    }  # fmt: skip


def test_whole_numbers_are_exported_as_such_beside_empty_cells_and_an_export_taken_back_adds_nothing(planned):
    answer_everything(planned, dict.fromkeys(REVIEWERS[:3], "similar") | {"dan": "not sure"})
    before = export(planned)
    written = tables.read_table(importing.upload("", reporting.as_csv(before).encode()), ())
    assert {"", "0"} <= set(written["part"])  # overlap items are in no part
    assert all(cell.isdecimal() for cell in [*written["part"], *written["position"], *written["dwell_ms"]] if cell)
    done = take_in(planned, reporting.as_csv(before))
    assert (done.n_new, done.n_already_there) == (0, len(before))
    assert export(planned).equals(before)


words = st.text(st.characters(categories=("L", "N", "P", "S")), max_size=12).filter(lambda text: text[:1] != "'")
comments = st.none() | words.filter(bool) | st.sampled_from(["=1+1", "-5", "@x", 'say "no"', "two\nlines", "a, b; c"])
views = st.dictionaries(words, st.none() | st.booleans() | st.integers(-9, 9) | words, max_size=3)


@st.composite
def histories(draw):
    """Answers in order: (reviewer, item, kind, details); an item is fresh or seen by all."""
    said = st.fixed_dictionaries(
        {
            "answer": st.sampled_from(SIMILAR.answers),
            "created": st.integers(-10_000, 10_000).map(lambda seconds: NOW + timedelta(seconds=seconds)),
            "dwell_ms": st.none() | st.integers(0, 10**7),
            "view": views,
            "confidence": st.none() | st.integers(1, 3),
            "flag": st.booleans(),
            "comment": comments,
            "extra": st.none() | words.filter(bool),
            "swapped": st.none() | st.booleans(),
            "session": st.sampled_from([None, "5e55"]),
        }
    )
    first = draw(st.lists(st.sampled_from([Kind.FRESH, Kind.OVERLAP]), min_size=4, max_size=4))
    kinds = st.none() | st.sampled_from([Kind.RETEST, Kind.THIRD, Kind.CALIBRATION])
    rows = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), kinds, said), max_size=12))
    return [(person, item, kind or first[item], answer) for person, item, kind, answer in rows]


def record(db, history, reviewers=("ada", "ben", "=Zoe+1"), n_items=4):
    """Save the answers of a history, each assignment with its own block and position or none."""
    person_ids = [people.add(db, name, [Role.REVIEWER], NOW.isoformat()) for name in reviewers]
    item_ids = [
        items.add(db, f"-item {n}", benchmark=f"sort#n={n}", application=f"org/app{n % 2}") for n in range(n_items)
    ]
    revisions = Counter()
    for number, (person, item, kind, said) in enumerate(history):
        place = person_ids[person], item_ids[item], kind
        if not revisions[place]:
            block = None if kind is Kind.OVERLAP else item
            assignments.add(db, [NewAssignment(*place, block, number if item else None, f"CODE{number}")])
        task = assignments.find(db, *place)
        given = Label(
            event_id=f"event {number}", code=task.code, revision=revisions[place], assignment_id=task.assignment_id,
            origin=LabelOrigin.SCREEN, **said,
        )  # fmt: skip
        labels.add(db, given)
        revisions[place] += 1


def renumbered(csv_text):
    """Return the rows with assignments numbered in order of appearance: their ids are internal to a study."""
    rows = tables.read_table(importing.upload("", csv_text.encode()), ()).to_dict("records")
    number = {}
    return [row | {"assignment": number.setdefault(row["assignment"], len(number))} for row in rows]


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(histories())
def test_labels_exported_and_imported_are_the_same_labels(masters, tmp_path, history):
    one, other = (shutil.copy(masters["empty"], tmp_path / f"{name}.study") for name in ("one", "other"))
    with open_database(one) as one, open_database(other) as other:
        record(one, history)
        text = reporting.as_csv(export(one))
        done = take_in(other, text)
        assert (done.n_new, done.n_already_there) == (len(history), 0)
        assert renumbered(reporting.as_csv(export(other))) == renumbered(text)
        done = take_in(other, text)
        assert (done.n_new, done.n_already_there, done.new_reviewers) == (0, len(history), ())
        assert renumbered(reporting.as_csv(export(other))) == renumbered(text)


@pytest.mark.parametrize("comment", ["'=1+1", "one\rtwo"])
def test_any_comment_survives_export_and_import(masters, tmp_path, db, comment):
    record(db, [(0, 0, Kind.FRESH, {"answer": "similar", "created": NOW, "comment": comment})])
    with open_database(shutil.copy(masters["empty"], tmp_path / "other.study")) as other:
        take_in(other, reporting.as_csv(export(db)))
        assert export(other)["comment"].tolist() == [comment]


def test_a_file_of_three_columns_is_enough_in_a_study_without_measurements(db):
    done = take_in(db, lines("x,ada,similar", "x,ben,not sure", "y,ada,dissimilar"))
    assert done == exchange.LabelImport(3, 0, ("ada", "ben"))
    table = export(db)
    assert table[["item", "reviewer", "label", "kind", "revision"]].to_numpy().tolist() == [
        ["x", "ada", "similar", "fresh", 0],
        ["x", "ben", "not sure", "fresh", 0],
        ["y", "ada", "dissimilar", "fresh", 0],
    ]
    assert set(table["created_utc"]) == {NOW.isoformat()}
    assert [(item.name, item.n_runs) for item in items.all_items(db)] == [("x", 0), ("y", 0)]
    assert {person.name for person in people.reviewers(db)} == {"ada", "ben"}


def test_rows_without_an_event_id_are_recognised_when_they_come_again(db):
    rows = ("x,ada,similar,0", "x,ada,dissimilar,1", "x,ada,similar,2", "y,ada,similar,0")
    text = lines(*rows, header=f"{MINIMAL},revision")
    assert take_in(db, text).n_new == 4
    assert export(db)["revision"].tolist() == [0, 1, 2, 0]
    done = take_in(db, text)
    assert (done.n_new, done.n_already_there) == (0, 4)
    done = take_in(db, text + "z,ada,similar,0\n")
    assert (done.n_new, done.n_already_there) == (1, 4)


def test_answers_are_kept_in_the_order_of_the_rows(db):
    take_in(db, lines("y,ada,similar", "x,ada,similar", "y,ada,withdrawn", "y,ada,dissimilar"))
    assert export(db)[["item", "label", "revision"]].to_numpy().tolist() == [
        ["y", "similar", 0], ["x", "similar", 0], ["y", "withdrawn", 1], ["y", "dissimilar", 2],
    ]  # fmt: skip


def test_an_unknown_item_is_refused_where_the_study_has_measurements(study):
    known = item_name(0)
    with pytest.raises(InputError, match=r"Line 3: .*no item 'mystery'"):
        take_in(study, lines(f"{known},ada,similar", "mystery,ada,similar"))
    assert len(export(study)) == 0
    assert take_in(study, lines(f"{known},ada,similar", f"{known},eve,similar")).new_reviewers == ("eve",)


def test_labels_from_elsewhere_join_the_assignment_that_is_planned(planned):
    row = planned.execute(
        """SELECT i.name, a.kind, a.assignment_id FROM assignments a JOIN items i USING (item_id)
           WHERE a.person_id = ? AND a.kind = 'overlap'""",
        (id_of(planned, "ada"),),
    ).fetchone()
    n_assigned = planned.execute("SELECT count(*) FROM assignments").fetchone()[0]
    take_in(planned, lines(f"{row[0]},ADA,similar,overlap", header=f"{MINIMAL},kind"))
    assert export(planned)["assignment"].tolist() == [row[2]]
    assert planned.execute("SELECT count(*) FROM assignments").fetchone()[0] == n_assigned


BAD_CELLS = [
    ("label", "maybe", "label 'maybe' is not one of: similar, dissimilar, not sure, withdrawn"),
    ("label", "", "label '' is not one of"),
    ("kind", "extra", "kind 'extra' is not one of: fresh, overlap, retest, third, calibration"),
    ("item", " ", "item and reviewer must not be empty"),
    ("reviewer", "", "item and reviewer must not be empty"),
    ("created_utc", "yesterday", "created_utc 'yesterday' is not a time such as"),
    ("created_utc", "0001-01-01T00:00:00+02:00", "created_utc"),
    ("swapped", "left", "swapped 'left' is not 0 or 1"),
    ("view", "[1]", r"view '\[1\]' is not a JSON object"),
    ("view", "{", "view '{' is not a JSON object"),
    ("part", "first", "part 'first' is not a whole number"),
    ("position", "nan", "position 'nan' is not a whole number"),
    ("dwell_ms", "inf", "dwell_ms 'inf' is not a whole number"),
    ("revision", "x", "revision 'x' is not a whole number"),
    ("revision", "1", "the next revision of 'ben' on 'y' is 0, not 1"),
    ("revision", "-1", "revision"),
    ("dwell_ms", "812.5", "dwell_ms '812.5' is not a whole number"),
    ("dwell_ms", "-1", "dwell_ms"),
    ("position", "1e30", "position"),
    ("confidence", "4", "confidence"),
    ("flag", "maybe", "flag"),
    ("reviewer", "b\x07n", "reviewer"),
    ("reviewer", "b" * 61, "reviewer"),
    ("item", "y" * 3_000_000, r"the item 'y{60}'… has 3,000,000 characters, and can have at most 100,000\."),
    ("application", "y" * 100_001, "the application"),
    ("benchmark", "y" * 100_001, "the benchmark"),
    ("label", "y" * 5000, r"label 'y{80}…' is not one of"),
]


@pytest.mark.parametrize(("column", "value", "message"), BAD_CELLS, ids=[f"{c}={v[:9]!r}" for c, v, _ in BAD_CELLS])
def test_a_bad_cell_is_refused_by_line_and_value_and_nothing_is_kept(db, column, value, message):
    good = {"item": "x", "reviewer": "ada", "label": "similar"}
    bad = good | {"item": "y", "reviewer": "ben", column: value}
    table = pd.DataFrame([good, bad]).fillna("")
    with pytest.raises(InputError, match=f"^Line 3: .*{message}"):
        exchange.import_labels(db, table, actor="owner", now=NOW)
    assert len(export(db)) == 0
    assert items.all_items(db) == []
    assert [person.name for person in people.all_people(db)] == ["carol"]


def test_times_are_kept_in_utc_and_the_import_is_logged(db):
    rows = ("x,ada,similar,2026-11-20T14:00:00+02:00", "y,ada,similar,2026-11-20 12:00", "z,ada,similar,2026-11-20T12Z")
    take_in(db, lines(*rows, header=f"{MINIMAL},created_utc"))
    assert json.loads(events.table(db)["details"].iloc[-1]) == {"rows": 3, "new": 3, "reviewers": ["ada"]}
    assert log(db)[-1] == ("owner", "import labels")
    assert export(db)["created_utc"].tolist() == ["2026-11-20T12:00:00+00:00"] * 3


def test_a_coordinator_is_no_reviewer_and_an_event_id_names_one_answer(db):
    rows = ("x,ada,similar,e1", "y,ada,dissimilar,e1")
    with pytest.raises(InputError, match=r"^Line 3: .*e1"):
        take_in(db, lines(*rows, header=f"{MINIMAL},event_id"))
    with pytest.raises(InputError, match="Line 2: 'Carol'"):
        take_in(db, lines("x,Carol,similar"))


def test_a_file_is_named_in_what_is_refused(db, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(lines("x,ada,maybe"))
    with pytest.raises(InputError, match=r"labels\.csv: Line 2: .*'maybe'"):
        exchange.import_label_file(db, path, actor="owner", now=NOW)
    path.write_text("item,label\nx,similar\n")
    with pytest.raises(Refused, match=r"^\S*labels.csv: there is no column for the reviewer .* are: 'item', 'label'$"):
        exchange.import_label_file(db, path, actor="owner", now=NOW)
    path.write_text(lines("x,ada,similar"))
    assert exchange.import_label_file(db, path, actor="owner", now=NOW).n_new == 1


def test_labels_from_elsewhere_are_answers_like_others(study):
    take_in(study, lines(f"{item_name(0)},ada,similar"))
    assert coordinating.status(study).reviewers[0].n_done == 1
    with pytest.raises(NotAllowed, match="Reviewers have already answered"):
        assigning.confirm_plan(study, PARAMETERS, **WHO)
