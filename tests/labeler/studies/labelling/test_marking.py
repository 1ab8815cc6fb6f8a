"""A study whose answers are marks, from the first mark to decisions, and exports."""

import json
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from labeler import marks
from labeler.errors import AnswerRefused, InputError
from labeler.studies.audit import audit
from labeler.studies.course import coordinating, course
from labeler.studies.handover import exchange
from labeler.studies.labelling import answering, label_file, reviewing
from labeler.studies.model import NewLabel, PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning, mark_consensus, verifying
from labeler.studies.questions import MARKED, WITHDRAWN, Category, Question, read_question
from labeler.studies.results import agreement_questions, reporting, splits, written_reports
from labeler.studies.store import labels, open_database, studies
from tests.labeler.test_marks import NO_CHANGE
from tests.making import NOW, WHO, id_of, import_all, offers, result_file

QUESTION = read_question('text = "Where does it change?"\nshows = "run"\nanswer = "points"\n', "q.toml")
PEOPLE = ("ada", "ben", "cleo")
N = 60


def make_study(path, question=QUESTION, people=PEOPLE, parameters=None, n_items=4):
    """A planned study of series of 60 points, which everybody labels."""
    coordinating.create_study(path, name="Steps", question=question, coordinator="carol", plan_secret="", now=NOW)
    rng = np.random.default_rng(1)
    with open_database(path) as db:
        steps = [np.where(np.arange(N) < 20 + 5 * number, 1.0, 1.2) for number in range(n_items)]
        runs = [[(step * rng.normal(1, 0.01, N)).tolist()] for step in steps]
        import_all(db, *(result_file(f"app#bench_{i}", run) for i, run in enumerate(runs)))
        for name in people:
            identity.add_person(db, name, [Role.REVIEWER], **WHO)
        assigning.confirm_plan(db, parameters or PlanParameters(7, per_item=len(people), overlap=1, retest=0), **WHO)
    return path


@pytest.fixture
def db(tmp_path):
    with open_database(make_study(tmp_path / "steps.study")) as opened:
        yield opened


def answer(db, person, given, *, now=NOW, view=None, event_id=""):
    """Answer the next item of a person; returns the task."""
    task = offers(db, person)[0]
    submission = NewLabel(
        event_id or f"{task.code}-{task.revision}", task.code, task.revision, given, 900, view or {"whole": True}
    )
    reviewing.submit(db, id_of(db, person), submission, now=now)
    return task


def answer_all(db, by_item):
    """Everybody gives an answer to each item: item -> person -> answer."""
    names = {item.item_id: item.name for item in coordinating.list_items(db)}
    for number in range(4):
        for person in PEOPLE:
            task = offers(db, person)[0]
            answer(db, person, by_item[names[task.item_id]][person], now=NOW + timedelta(minutes=number))


SAID = {
    "app#bench_0": {"ada": "[20]", "ben": "[22]", "cleo": "[19]"},  # agreed within the margin
    "app#bench_1": {"ada": "[25]", "ben": "[26, 50]", "cleo": "no change"},  # a majority, and one lone mark
    "app#bench_2": {"ada": "no change", "ben": "no change", "cleo": "no change"},
    "app#bench_3": {"ada": "[10]", "ben": "[30]", "cleo": "[50]"},  # nobody agrees
}


def test_marks_are_stored_in_one_form_appended_undone_and_revised(db):
    question = studies.get(db).question
    assert (question, question.is_marked) == (QUESTION, True)
    assert json.loads(db.execute("SELECT definition FROM questions").fetchone()[0])["marks"] == marks.CHANGES
    assert replace(question, text="Other?").hash != question.hash
    ada = id_of(db, "ada")
    task = answer(db, "ada", "[12,40]", event_id="once")
    again = NewLabel("once", task.code, 0, "[12, 40]", 900, {"whole": True})  # sent twice, in another form
    reviewing.submit(db, ada, again, now=NOW)
    assert reviewing.own_labels(db, ada)[0].task.answer == "[12, 40]"
    undo = NewLabel("undo", task.code, 1, WITHDRAWN)
    reviewing.submit(db, ada, undo, now=NOW)
    assert reviewing.review_queue(db, ada).offers[0].code == task.code
    answer(db, "ada", "no change")
    later = NewLabel("later", task.code, 3, "[33]", 900, {"whole": True})
    reviewing.submit(db, ada, later, now=NOW)
    assert labels.table(db)["label"].tolist() == ["[12, 40]", WITHDRAWN, "no change", "[33]"]
    assert audit.audit(db).faults == ()
    views = [json.loads(view) for view in labels.table(db)["view"]]
    assert (views[0]["whole"], {tuple(view["picture"]["order"]) for view in views}) == (True, {()})


@pytest.mark.parametrize(
    ("given", "view", "why"),
    [
        ("[60]", {"whole": True}, "point 60 cannot be marked; the points are 1 to 59. Mark it again"),
        ("[5]", {}, "the whole series was not on the screen"), ("no change", {"whole": 1}, "the whole series was not"),
        ("[5, 5]", {"whole": True}, "cannot be read"), ("similar", {"whole": True}, "cannot be read"),
        ("[" + "1," * 9000 + "1]", {"whole": True}, "cannot be read"),
    ],
)  # fmt: skip
def test_what_cannot_be_an_answer_is_refused_and_nothing_is_stored(db, given, view, why):
    with pytest.raises(AnswerRefused, match=why):
        answer(db, "ada", given, view=view or {"zoom": 2})
    assert labels.n_labels(db) == 0


def test_a_refused_mark_is_told_to_the_browser(db):
    task = offers(db, "ada")[0]
    sent = {"event_id": "e", "code": task.code, "revision": 0, "answer": "[99]", "dwell_ms": 900}
    (result,), _ = answering.store_answers(db, id_of(db, "ada"), [sent], clock=lambda: NOW)
    assert (result.outcome, "point 99 cannot be marked" in result.message) == (answering.Outcome.REFUSED, True)


def test_the_file_itself_refuses_what_is_no_label_of_this_question(db, tmp_path):
    answer(db, "ada", "[5]")
    columns = "(assignment_id, revision, event_id, answer, created_utc)"
    assignment = db.execute("SELECT assignment_id FROM labels").fetchone()[0]
    for said in ("marked", "similar", "5"):
        with pytest.raises(Exception, match="no such category"):
            db.execute(f"INSERT INTO labels {columns} VALUES (?, 7, 'x', ?, '')", (assignment, said))
    first = QUESTION.categories[0]
    question = Question("Does it change?", (first, Category("change", "x", first.meaning)), shows="run")
    with open_database(make_study(tmp_path / "other.study", question=question)) as other:
        assignment = other.execute("SELECT assignment_id FROM assignments").fetchone()[0]
        with pytest.raises(Exception, match="no such category"):
            other.execute(f"INSERT INTO labels {columns} VALUES (?, 0, 'x', '[5]', '')", (assignment,))


def close(db):
    answer_all(db, SAID)
    course.change_state(db, Step.CLOSE, why="done", **WHO)
    return {split.item.name: split for split in splits.split_items(db)}


def test_clusters_within_the_margin_are_agreed_and_the_others_are_listed(db):
    found = close(db)
    assert list(found) == ["app#bench_1", "app#bench_3"]
    first, second = found.values()
    assert (first.majority, first.remains) == ("[25]", False)
    assert [cluster.describe() for cluster in first.marks.lone] == ["50, by 1 of 3 people"]
    assert [cluster.describe() for cluster in first.marks.agreed] == ["25, by 2 of 3 people (25, 26)"]
    assert (second.majority, second.json_values()["no change"]) == ("no change", 0)
    status = splits.current_agreement(db)
    assert (status.n_agreed, status.n_split, status.n_incomplete) == (2, 2, 0)
    assert set(agreement_questions.labels_of_study(db)["category"]) == {MARKED, "no change"}
    items = coordinating.list_items(db)
    assert splits.describe_results(db, items) == [
        "1 mark: 20", "1 mark: 25, majority", "no change", "no change, majority",
    ]  # fmt: skip
    assert splits.describe_labels(db, items)[1] == "C: cleo · 1 mark: 25: ada · 2 marks: 26, 50: ben"


def test_half_of_the_people_is_a_tie_that_somebody_decides(tmp_path):
    with open_database(make_study(tmp_path / "two.study", people=("ada", "ben"))) as db:
        for _number in range(4):
            answer(db, "ada", "[12, 40]")
            answer(db, "ben", "[13]")
        course.change_state(db, Step.CLOSE, why="done", **WHO)
        found = splits.split_items(db)
        assert [(split.remains, len(split.marks.ties), len(split.marks.agreed)) for split in found] == [
            (True, 1, 1)
        ] * 4
        name = found[0].item.name
        splits.adjudicate(db, name, "[12,40]", "a second step", **WHO)
        split = next(one for one in splits.split_items(db) if one.item.name == name)
        assert (split.decision.category, split.remains) == ("[12, 40]", False)
        for wrong in ("[99]", "maybe", "[3, 3]"):
            with pytest.raises(InputError, match="The decision cannot be saved"):
                splits.adjudicate(db, name, wrong, "why", **WHO)
        assert audit.audit(db).faults == ()


def test_marks_leave_and_come_back_in_a_label_file(db, tmp_path):
    close(db)
    exported = exchange.export_as(db, "rater", **WHO)  # other tools get whether there are marks
    assert (exported.n_labels, MARKED in exported.legend) == (12, True)
    splits.adjudicate(db, "app#bench_3", "[30]", "the only step", **WHO)
    text, n_rows = exchange.export_label_file(db, **WHO)
    assert n_rows == 13
    file = tmp_path / "labels.csv"
    file.write_text(text, encoding="utf-8")
    with open_database(make_study(tmp_path / "copy.study")) as copy:
        assert exchange.import_label_file(copy, file, **WHO).n_new == 13
        assert exchange.import_label_file(copy, file, **WHO).n_new == 0
        assert label_file.all_answers(copy)["label"].tolist() == label_file.all_answers(db)["label"].tolist()
    wrong = tmp_path / "wrong.csv"
    for label, why in (("[60]", "Line 2: label point 60 cannot be marked; the points are 1 to 59"),
                       ("[3, 1]", "must be two points in ascending order"),
                       ("maybe", "'maybe' is not one of: no change, not sure, withdrawn, marks")):  # fmt: skip
        wrong.write_text(f'item,reviewer,label\napp#bench_1,ada,"{label}"\n', encoding="utf-8")
        with open_database(make_study(tmp_path / f"{len(label)}.study")) as copy, pytest.raises(InputError, match=why):
            exchange.import_label_file(copy, wrong, **WHO)


def test_third_labels_go_only_to_items_whose_marks_differ(db, tmp_path):
    parameters = PlanParameters(7, per_item=2, overlap=0, retest=0)
    with open_database(make_study(tmp_path / "third.study", parameters=parameters)) as third:
        names = {item.item_id: item.name for item in coordinating.list_items(third)}
        for person in PEOPLE:
            while waiting := offers(third, person):
                answer(third, person, SAID[names[waiting[0].item_id]][person])
        course.change_state(third, Step.THIRD, why="now", **WHO)
        kinds = third.execute(
            "SELECT DISTINCT name FROM assignments JOIN items USING (item_id) WHERE kind = 'third'"
        ).fetchall()
        assert {("app#bench_1",), ("app#bench_3",)} <= set(kinds)
        assert verifying.verify_plan(third).problems == ()


def test_the_report_of_marks_says_how_far_people_agree_on_whether_there_are_any(db, tmp_path):
    close(db)
    files = reporting.files_of_study(db, reporting.QUICK, **WHO)
    numbers = json.loads(files["report.json"])
    assert {row["category"]: row["n_labels"] for row in numbers["categories"]} == {"no change": 4, MARKED: 8}
    assert "[26, 50]" in files["labels.csv"]
    places = json.loads(files["marks.json"])
    found = {item["item"]: item for item in places["items"]}
    assert found["app#bench_0"]["agreed"] == [20] and found["app#bench_1"]["lone"][0]["at"] == 50
    assert places["changes"]["n_people"] == 3
    assert places["detectors"][0]["name"] == "none" and places["detectors"][0]["n_items"] == 4
    assert "May a detector replace a person?" in files["marks.html"]
    (tmp_path / "report.json").write_text(files["report.json"], encoding="utf-8")
    assert written_reports.check_study(db, tmp_path / "report.json", **WHO) == []
    file = tmp_path / "labels.csv"
    file.write_text(files["labels.csv"], encoding="utf-8")
    again = reporting.gathered_files(file, None, options=reporting.QUICK, question=QUESTION).report()
    assert [row.n_labels for row in again.categories] == [row["n_labels"] for row in numbers["categories"]]
    with pytest.raises(InputError, match=r"Some labels are marks\. Name the question with --question"):
        reporting.files_of_files(file, None, options=reporting.QUICK)


def test_the_consensus_has_the_kind_of_most_people_and_the_middle_of_ranges():
    kinds = (NO_CHANGE, Category("up", "a", "Slower."), Category("down", "d", "Faster."))
    question = Question("?", kinds, "run", "points", no_mark="no change", marks=marks.CHANGES, ranges=True)
    given = {
        "ada": '[{"at": 10, "kind": "up"}]', "ben": '[{"at": [8, 14], "kind": "up"}]',
        "cleo": '[{"at": 12, "kind": "down"}, {"at": 40, "kind": "up"}]', "dan": "no change",
    }  # fmt: skip
    found = mark_consensus.consensus(question, given, 60)
    assert mark_consensus.answer_of(question, found.agreed) == '[{"at": 11, "kind": "up"}]'
    assert [str(cluster.mark) for cluster in found.lone] == ["40 (up)"]
    assert (found.is_split, mark_consensus.answer_of(question, ())) == (True, "no change")
