import json
import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta
from itertools import takewhile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from analysis.tables import counted_labels
from labeler.errors import InputError, NewerStudy, NoStudy, NotAllowed, NotAStudy, StudyError
from labeler.model import Category, Kind, Label, PlanParameters, Protocol, Role, State
from labeler.questions import SIMILAR
from labeler.service.handover import merging
from labeler.service.handover.merging import Conflict, MergeResult, TimedAnswer
from labeler.service.labelling import reviewing
from labeler.service.people import identity
from labeler.service.plan import assigning
from labeler.service.results import exchange
from labeler.service.study import coordinating
from labeler.store import copies, events, labels, open_database, people, studies
from tests.conftest import examples
from tests.making import NOW, WHO, answer_next, id_of, log, make_study, new_study, offers, submission, submit


@pytest.fixture
def parted(planned, tmp_path):
    """A study in which ada has answered once, and the path of a copy made then."""
    answer_next(planned, "ada", "similar")
    coordinating.back_up(planned, tmp_path / "copy.study", **WHO)
    return planned, tmp_path / "copy.study"


def there(path, *said, minutes=0):
    """Let people answer in the copy: (reviewer, answer)."""
    with open_database(path) as copy:
        for place, (name, answer) in enumerate(said):
            answer_next(copy, name, answer, now=NOW + timedelta(minutes=minutes, seconds=place))


def everything(db):
    """Return the content of all answers, independent of their order and ids."""
    table = exchange.export_labels(db, **WHO).drop(columns="assignment")
    return sorted(map(tuple, table.astype(object).where(table.notna(), None).to_numpy().tolist()), key=repr)


def events_of(db):
    return [answer.label.event_id for answer in labels.saved(db)]


def submit_again(path, name, code, answer, **options):
    """Answer an item of the copy once more."""
    with open_database(path) as copy:
        task = reviewing.task_by_code(copy, id_of(copy, name), code)
        submit(copy, name, task, answer, **options)


def test_answers_of_the_copy_are_appended_with_all_that_came_with_them(parted):
    db, path = parted
    with open_database(path) as copy:
        task = offers(copy, "ben")[0]
        sent = reviewing.submission_from(
            {
                "event_id": "one", "code": task.code, "revision": 0, "answer": "dissimilar", "dwell_ms": 1234,
                "view": {"axis": "full", "log": True}, "flag": True, "comment": "two \u2013 levels",
            }
        )  # fmt: skip
        reviewing.submit(copy, id_of(copy, "ben"), sent, now=NOW + timedelta(microseconds=5))
        wanted = everything(copy)
    assert merging.merge(db, path, **WHO) == MergeResult(1, 1, ())
    assert everything(db) == wanted
    assert labels.table(db)["comment"].tolist() == [None, "two \u2013 levels"]


def test_a_dry_run_tells_the_same_and_the_same_copy_again_adds_nothing(parted):
    db, path = parted
    there(path, ("ben", "similar"), ("ada", "not sure"))
    before = everything(db), len(log(db))
    with db.rehearsal():
        told = merging.merge(db, path, **WHO)
    assert (everything(db), len(log(db)) - 1) == before  # reading them was logged
    assert merging.merge(db, path, **WHO) == told == MergeResult(2, 1, ())
    assert log(db)[-1] == ("carol", "merge labels")
    assert json.loads(events.table(db)["details"].iloc[-1]) == {
        "file": "copy.study", "new": 2, "already_there": 1, "conflicts": 0,
    }  # fmt: skip
    before = everything(db)
    assert merging.merge(db, path, **WHO) == MergeResult(0, 3, ())
    assert everything(db) == before


def test_the_copy_is_read_as_it_lies_there(parted, tmp_path):
    db, path = parted
    there(path, ("ben", "similar"))
    (tmp_path / "apart").mkdir()
    alone = Path(shutil.copy(path, tmp_path / "apart"))
    before = alone.read_bytes()
    merging.merge(db, alone, **WHO)
    assert {file.name: file.read_bytes() for file in alone.parent.iterdir()} == {alone.name: before}


def test_a_copy_in_use_is_read_with_what_stands_in_its_log(parted):
    db, path = parted
    with open_database(path) as copy:
        answer_next(copy, "ben", "similar")
        assert path.with_name(f"{path.name}-wal").stat().st_size > 0
        before = path.read_bytes()
        assert merging.merge(db, path, **WHO) == MergeResult(1, 1, ())
        assert path.read_bytes() == before


def test_a_copy_that_is_written_to_while_it_is_read_is_not_trusted(parted):
    _, path = parted
    with pytest.raises(StudyError, match="being read"), copies.read_only(path):
        there(path, ("ben", "similar"))


def test_different_answers_in_one_place_are_listed_and_none_is_overwritten(parted):
    db, path = parted
    task = answer_next(db, "ben", "similar")
    there(path, ("ben", "dissimilar"), ("ben", "similar"), ("cleo", "similar"), minutes=5)
    before = events_of(db)
    merged = merging.merge(db, path, **WHO)
    name = copies.assigned(db)[task.code].item
    assert (merged.n_new, merged.n_already_there) == (2, 1)
    assert merged.conflicts == (
        Conflict(
            name, "ben", Kind.FRESH, 0, TimedAnswer(Category.SIMILAR, "2026-11-20T12:00:00+00:00"),
            TimedAnswer(Category.DISSIMILAR, "2026-11-20T12:05:00+00:00"),
        ),
    )  # fmt: skip
    assert events_of(db)[: len(before)] == before
    assert merged.conflicts[0].json_values() == {
        "item": name, "reviewer": "ben", "kind": "fresh", "revision": 0, "into": "similar",
        "into_utc": "2026-11-20T12:00:00+00:00", "from": "dissimilar", "from_utc": "2026-11-20T12:05:00+00:00",
    }  # fmt: skip


def test_what_follows_a_conflict_is_left_out_and_listed_too(parted):
    db, path = parted
    task = answer_next(db, "ben", "similar")
    there(path, ("ben", "dissimilar"))
    submit_again(path, "ben", task.code, "withdrawn", dwell_ms=None)
    merged = merging.merge(db, path, **WHO)
    assert [(c.revision, c.into and c.into.answer, c.other.answer) for c in merged.conflicts] == [
        (0, "similar", "dissimilar"), (1, None, "withdrawn"),
    ]  # fmt: skip
    assert merged.n_new == 0


def test_an_event_id_that_somebody_else_has_here_keeps_no_answer_out(parted):
    db, path = parted
    task = answer_next(db, "ben", "similar")
    with open_database(path) as copy:
        other = offers(copy, "cleo")[0]
        event_id = f"{task.code}-0-similar"
        submit(copy, "cleo", other, "dissimilar", event_id)
    merged = merging.merge(db, path, **WHO)
    assert (merged.n_new, merged.conflicts) == (1, ())
    assert [(answer.reviewer, answer.label.event_id) for answer in labels.saved(db)[1:]] == [
        ("ben", event_id), ("cleo", event_id),
    ]  # fmt: skip


def test_a_file_imported_into_both_copies_is_the_same_answers(parted):
    db, path = parted
    name = copies.assigned(db)[offers(db, "ben")[0].code].item
    table = pd.DataFrame([{"item": name, "reviewer": "ben", "label": "similar"}])
    with open_database(path) as copy:
        exchange.import_labels(copy, table, **WHO)
        there(path, ("cleo", "similar"))
        ids = events_of(copy)
    exchange.import_labels(db, table, **WHO)
    assert events_of(db)[1] != ids[1]  # each import draws its own codes
    assert merging.merge(db, path, **WHO) == MergeResult(1, 2, ())


def test_answers_go_in_by_time_but_each_reviewers_in_their_own_order(parted):
    db, path = parted
    with open_database(path) as copy:
        for name, minute in (("ben", 10), ("cleo", 2), ("ben", 3), ("cleo", 20), ("dan", 15)):
            answer_next(copy, name, "similar", now=NOW + timedelta(minutes=minute))
    merging.merge(db, path, **WHO)
    minutes = [int((answer.label.created - NOW).total_seconds() // 60) for answer in labels.saved(db)[1:]]
    reviewers = [answer.reviewer for answer in labels.saved(db)[1:]]
    # ben's clock was set back between his two answers
    assert list(zip(reviewers, minutes, strict=True)) == [
        ("cleo", 2), ("ben", 10), ("ben", 3), ("dan", 15), ("cleo", 20),
    ]  # fmt: skip


def test_the_first_label_of_a_merged_study_is_the_one_given_first_whichever_file_had_it(parted):
    # the copy: ben answers A at 10 min and changes his mind at 12 min; the study, meanwhile: he answers B at 11 min
    db, path = parted
    with open_database(path) as copy:
        ben = id_of(copy, "ben")
        task = answer_next(copy, "ben", "similar", now=NOW + timedelta(minutes=10))
        again = reviewing.task_by_code(copy, ben, task.code)
        reviewing.submit(copy, ben, submission(again, "dissimilar"), now=NOW + timedelta(minutes=12))
    other = reviewing.review_queue(db, ben).offers[1]
    reviewing.submit(db, ben, submission(other, "similar"), now=NOW + timedelta(minutes=11))
    merging.merge(db, path, **WHO)
    item = next(answer.item for answer in labels.saved(db) if answer.code == task.code)
    table = labels.table(db)
    assert table.loc[table["reviewer"] == "ben", "label"].tolist() == ["similar", "similar", "dissimilar"]
    history = assigning.answer_history(db)
    for first in (counted_labels(table).set_index("item")["category"], history.first_labels(len(history.marks))):
        of_item = first[item]
        assert (of_item if isinstance(of_item, str) else of_item["ben"]) == "similar"
    assert [answer for _place, answer in history.marks][-3:] == ["similar", "similar", "dissimilar"]


def test_a_clock_that_was_set_back_does_not_change_the_order_of_answers(planned):
    for minute, answer in ((10, "similar"), (3, "dissimilar")):
        answer_next(planned, "ben", answer, now=NOW + timedelta(minutes=minute))
    assert labels.table(planned)["label"].tolist() == ["similar", "dissimilar"]


def test_an_answer_that_cannot_be_kept_keeps_the_others_out(parted):
    db, path = parted
    there(path, ("ben", "similar"), ("cleo", "similar"))
    code = offers(db, "cleo")[0].code
    before = events_of(db), log(db)
    db.execute(
        f"""CREATE TRIGGER full BEFORE INSERT ON labels WHEN new.event_id LIKE '{code}%'
            BEGIN SELECT RAISE(ABORT, 'no'); END"""
    )
    with pytest.raises(Exception, match="no"):
        merging.merge(db, path, **WHO)
    assert (events_of(db), log(db)) == before


# Refusals


def refusal(db, path):
    before = events_of(db), log(db)
    with pytest.raises(InputError) as refused:
        merging.merge(db, path, **WHO)
    assert (events_of(db), log(db)) == before
    return str(refused.value)


def test_another_study_is_refused(parted, tmp_path):
    db, _ = parted
    make_study(tmp_path / "other.study", n_items=6, plan=True)
    assert "the plans differ" in refusal(db, tmp_path / "other.study")
    make_study(tmp_path / "twin.study", plan=True)  # the same items, people and seed
    assert "code in both" in refusal(db, tmp_path / "twin.study")


def test_a_study_is_not_merged_with_itself_nor_one_without_a_plan(planned, study, tmp_path):
    assert "study itself" in refusal(planned, planned.path)
    (tmp_path / "link.study").symlink_to(planned.path)
    assert "study itself" in refusal(planned, tmp_path / "link.study")
    coordinating.back_up(study, tmp_path / "copy.study", **WHO)
    assert "assigned yet" in refusal(study, tmp_path / "copy.study")


def test_people_who_came_to_the_copy_alone_are_named(parted):
    db, path = parted
    with open_database(path) as copy:
        identity.add_person(copy, "eve", [Role.COORDINATOR], **WHO)
        copy.execute("UPDATE people SET is_coordinator = 1 WHERE name = 'ben'")
        copy.execute("UPDATE people SET active = 0 WHERE name = 'cleo'")
    told = refusal(db, path)
    assert "eve is in the copy" in told
    assert "ben is coordinator in the copy, but not in the study" in told
    assert "cleo has left the copy" in told


def test_what_was_changed_about_people_and_assignments_here_alone_stands(parted):
    db, path = parted
    identity.add_person(db, "eve", [Role.COORDINATOR], **WHO)
    db.execute("UPDATE people SET active = 0 WHERE name = 'cleo'")
    assign_one_more(db)
    there(path, ("cleo", "similar"))
    assert merging.merge(db, path, **WHO) == MergeResult(1, 1, ())
    assert not people.by_name(db, "cleo").active


def test_another_protocol_or_question_is_refused_by_name_and_value(planned, tmp_path):
    path = tmp_path / "copy.study"
    coordinating.back_up(planned, path, **WHO)
    with open_database(path) as copy:
        coordinating.set_protocol(copy, Protocol(axis_rule="full"), **WHO)
        coordinating.describe_study(copy, "Caches", "Really?", **WHO)
    told = refusal(planned, path)
    assert "axis_rule is 'levels' in the study and 'full' in the copy" in told
    assert "question is 'Are these runs alike?' in the study and 'Really?' in the copy" in told


def assign_one_more(db):
    db.execute(
        """INSERT INTO assignments (person_id, item_id, kind, position, code, origin)
           SELECT person_id, item_id, 'third', 99, 'EXTRA1', origin FROM assignments WHERE kind = 'fresh' LIMIT 1"""
    )


def test_an_assignment_that_only_the_copy_has_or_that_changed_hands_is_refused(parted):
    db, path = parted
    code = offers(db, "ben")[0].code
    with open_database(path) as copy:
        assign_one_more(copy)
    assert "(third) is assigned to" in refusal(db, path)
    with open_database(path) as copy:
        copy.execute("DELETE FROM assignments WHERE code = 'EXTRA1'")
        copy.execute("UPDATE assignments SET kind = 'third' WHERE code = ?", (code,))
    assert "of ben in the study" in refusal(db, path)


def test_nothing_is_merged_into_an_unblinded_study(parted):
    db, path = parted
    studies.set_state(db, State.UNBLINDED)
    with pytest.raises(NotAllowed, match="import labels only"):
        merging.merge(db, path, **WHO)


def set_version(path, by):
    with closing(sqlite3.connect(path)) as connection:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute(f"PRAGMA user_version = {version + by}")


def test_files_that_are_no_current_study_are_refused_in_words(parted, tmp_path):
    db, path = parted
    with pytest.raises(NoStudy, match="There is no study"):
        merging.merge(db, tmp_path / "none.study", **WHO)
    (tmp_path / "text.study").write_text("hello" * 200)
    with pytest.raises(NotAStudy):
        merging.merge(db, tmp_path / "text.study", **WHO)
    set_version(path, -1)
    before = path.read_bytes()
    with pytest.raises(StudyError, match="labeler status"):
        merging.merge(db, path, **WHO)
    assert path.read_bytes() == before
    set_version(path, +2)
    with pytest.raises(NewerStudy):
        merging.merge(db, path, **WHO)


# Any two histories and a model: a list of events for each assignment


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A planned study of 4 items and 2 reviewers, and its codes."""
    path = tmp_path_factory.mktemp("small") / "small.study"
    with new_study(path, n_items=4, reviewers=("ada", "ben")) as db:
        assigning.confirm_plan(db, PlanParameters(seed=1, overlap=0, retest=0), **WHO)
        return path, sorted(copies.assigned(db))


said = st.tuples(st.integers(0, 7), st.sampled_from(SIMILAR.answers), st.integers(-60, 60))
histories = st.lists(said, max_size=10)


class Copy:
    """A copy that receives answers, and its expected content."""

    def __init__(self, path, name, codes):
        self.path, self.name, self.codes = path, name, codes
        self.kept = {code: [] for code in codes}

    def record(self, history, name=""):
        with open_database(self.path) as db, db.atomic():
            ids = {code: row.assignment_id for code, row in copies.assigned(db).items()}
            for number, (place, answer, minutes) in enumerate(history):
                code = self.codes[place]
                event_id = f"{name or self.name} {number}"
                created = NOW + timedelta(minutes=minutes)
                labels.add(db, Label(ids[code], len(self.kept[code]), event_id, answer, created))
                self.kept[code].append(event_id)

    def found(self):
        found = {code: [] for code in self.codes}
        with open_database(self.path) as db:
            rows = labels.saved(db)
        for row in rows:
            assert row.label.revision == len(found[row.code])
            found[row.code].append(row.label.event_id)
        return found, [(row.reviewer, row.label.event_id) for row in rows]

    def merge(self, other):
        with open_database(self.path) as db:
            return merging.merge(db, other.path, **WHO)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(histories, histories, histories)
def test_a_merged_study_has_the_union_without_what_conflicting_assignments_would_add(small, tmp_path, both, one, other):
    master, codes = small
    pair = [Copy(tmp_path / f"{name}.study", name, codes) for name in ("one", "other")]
    for copy, own in zip(pair, (one, other), strict=True):
        shutil.copy(master, copy.path)
        copy.record(both, "both")
        copy.record(own)
    a, b = pair
    before, order_there = a.found()[1], b.found()[1]
    wanted, n_new, n_equal, conflicts, conflicts_back = {}, 0, 0, 0, 0
    for place, code in enumerate(codes):
        ours, theirs = ([answer for at, answer, _ in history if at == place] for history in (one, other))
        same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False))))
        is_prefix = same in (len(ours), len(theirs))
        added = b.kept[code][len(a.kept[code]) :] if same == len(ours) else []
        wanted[code] = a.kept[code] + added
        n_new, n_equal = n_new + len(added), n_equal + same
        conflicts += 0 if is_prefix else len(theirs) - same
        conflicts_back += 0 if is_prefix else len(ours) - same

    merged = a.merge(b)
    kept, order = a.found()
    assert kept == wanted
    assert (merged.n_new, merged.n_already_there, len(merged.conflicts)) == (n_new, len(both) + n_equal, conflicts)
    assert order[: len(before)] == before
    for name in ("ada", "ben"):
        new = [row for row in order[len(before) :] if row[0] == name]
        assert new == [row for row in order_there if row in new]

    again = a.merge(b)
    assert (again.n_new, again.conflicts, a.found()) == (0, merged.conflicts, (kept, order))
    assert len(b.merge(a).conflicts) == conflicts_back


def test_the_same_answer_at_another_time_is_no_conflict(parted):
    db, path = parted
    task = answer_next(db, "ben", "similar")
    there(path, ("ben", "similar"), minutes=5)
    with open_database(path) as copy:
        again = reviewing.task_by_code(copy, id_of(copy, "ben"), task.code)
        submit(copy, "ben", again, "dissimilar", now=NOW + timedelta(minutes=9))
    merged = merging.merge(db, path, **WHO)
    assert (merged.n_new, merged.n_already_there, merged.conflicts) == (1, 2, ())
    assert [answer.label.answer for answer in labels.saved(db)] == ["similar", "similar", "dissimilar"]


def test_merged_both_ways_both_have_the_same_answers(parted):
    db, path = parted
    answer_next(db, "ben", "not sure")
    there(path, ("cleo", "similar"), ("ada", "dissimilar"))
    merging.merge(db, path, **WHO)
    with open_database(path) as copy:
        merging.merge(copy, db.path, **WHO)
        assert everything(copy) == everything(db)
    n_done = reviewing.review_queue(db, id_of(db, "cleo")).progress.n_done
    assert (n_done, answer_next(db, "cleo", "similar").revision) == (1, 0)  # the plan goes on
