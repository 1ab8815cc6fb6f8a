import base64
import csv
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from analysis.runs.classifiers import CLASSIFIERS
from labeler import marks
from labeler.config import bundled
from labeler.errors import InputError, NotAllowed, Refused, StudyError
from labeler.studies import demo
from labeler.studies.audit import audit
from labeler.studies.course import coordinating
from labeler.studies.labelling import own_result, reviewing
from labeler.studies.model import NewLabel, Role, State
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Action
from labeler.studies.preparing import assigning
from labeler.studies.results import reporting, splits
from labeler.studies.store import assignments, items, labels, open_database, people, runs
from labeler.studies.verdicts import computing, stored_verdicts
from tests.making import NOW, log

DATA = Path(__file__).parents[3] / "data" / "demo"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The demo study; the tests only read it, except for new links."""
    path = tmp_path_factory.mktemp("demo") / "demo.study"
    seen = []
    demo.build(path, DATA, advance=lambda *counts: seen.append(counts), now=NOW)
    assert seen[-1] == (24, 24)
    with open_database(path) as db:
        yield db


def test_the_demo_study_is_ready_to_be_labelled(built):
    status = coordinating.status(built)
    assert (status.n_items, status.n_answers, status.study.state) == (24, 0, State.OPEN)
    assert [row.reviewer for row in status.reviewers] == ["ada", "ben", "cleo", "dan"]
    assert status.study.plan_hash == assigning.preview_plan(built, demo.PARAMETERS).hash
    loads = [row.n_assigned for row in status.reviewers]
    assert [len(reviewing.review_queue(built, person.person_id).offers) for person in reviewers(built)] == loads
    assert max(loads) - min(loads) <= 1


def reviewers(db):
    return [person for person in identity.everyone(db) if Role.REVIEWER in person.roles]


def test_every_demo_item_has_its_measurements_and_a_verdict_of_every_classifier(built):
    for item in items.all_items(built):
        measured = runs.of_item(built, item.item_id)
        assert len(measured) == item.n_runs >= 2
        assert min(map(len, measured)) == item.n_iterations >= 50
        assert all((run > 0).all() for run in measured)
    assert computing.n_missing(built) == 0
    table = stored_verdicts.verdict_table(built)
    assert len(table) == 24 * len(CLASSIFIERS)
    assert table["error"].isna().all()
    assert {"similar", "dissimilar"} == set(table[table["classifier"] == "same"]["verdict"])


def test_everybody_gets_an_invitation_that_works(built):
    secrets = demo.invitations(built, now=NOW)
    assert sorted(secrets) == ["ada", "ben", "cleo", "coordinator", "dan"]
    for name, secret in secrets.items():
        person = identity.person_of_session(built, identity.sign_in(built, secret, now=NOW), now=NOW)
        assert person.name == name
    assert ("demo", "invite") in log(built)


def interventions():
    with (DATA / "interventions.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_no_reviewer_can_see_what_was_done_to_a_run(built):
    words = {
        word
        for row in interventions()
        for word in (row["intervention"], *row["intervention"].split(), row["benchmark"])
    }
    assert {"slowdown", "cold start", "collection"} <= words
    for person in reviewers(built):
        for task in assignments.tasks_of(built, person.person_id):
            text = json.dumps(reviewing.task_data(built, task)).lower().replace('"levels"', '""')  # the axis rule
            without_numbers = re.sub(r'"[a-z0-9+/]{30,}=*"', '""', text)
            assert len(without_numbers) < len(text)
            assert not [word for word in words if word in without_numbers]


def test_the_demo_is_not_built_over_a_study_or_from_a_bad_file(built, tmp_path):
    with pytest.raises(StudyError, match="already exists"):
        demo.build(built.path, DATA, advance=lambda *_: None, now=NOW)
    (tmp_path / "demo.parquet").write_bytes(b"PAR1" + base64.b64encode(b"nothing") + b"PAR1")
    with pytest.raises(Refused, match=r"demo.parquet: the Parquet file is damaged"):
        demo.build(tmp_path / "new.study", tmp_path, advance=lambda *_: None, now=NOW)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The finished demo study, and the study in which a newcomer labels ten items."""
    path = tmp_path_factory.mktemp("finished") / "demo.study"
    demo.build_finished(path, DATA, advance=lambda *_: None, now=NOW)
    demo.build_yours(path, path.with_name("yours.study"), now=NOW)
    demo.build_yours(path, path.with_name("more.study"), which=1, now=NOW)
    return path


def test_the_finished_demo_study_finds_something(finished):
    with open_database(finished) as db:
        found = reporting.gathered_study(db, reporting.QUICK, actor="demo", now=NOW).report()
    rule = found.classifiers["spread"].majority_rule
    # right where the rule is wrong on ten items, but of only five applications: p = 2/32 after correction
    assert (rule.mcnemar.b, rule.mcnemar.c, rule.verdict) == (10, 0, "cannot tell")
    assert rule.p_holm == pytest.approx(1 / 16)
    assert found.agreement.pair_equality.contrast is None  # nor do so few applications show that pairs differ
    assert len(found.agreement.by_application) >= 5


def test_interventions_are_named_of_benchmarks_and_runs_that_exist(finished):
    with open_database(finished) as db:
        n_runs = {item.name: item.n_runs for item in items.all_items(db)}
    rows = interventions()
    assert list(rows[0]) == ["benchmark", "run", "intervention", "amount"]
    assert all(0 <= int(row["run"]) < n_runs[row["benchmark"]] for row in rows)
    assert len({(row["benchmark"], row["run"]) for row in rows}) == len(rows)
    assert len({row["benchmark"] for row in rows}) == 24  # the others are not changed


def test_the_finished_demo_study_can_be_reported_and_says_that_its_labels_are_made_up(finished):
    with open_database(finished) as db:
        study = coordinating.get_study(db)
        assert (study.state, study.name) == (State.UNBLINDED, "Demo: measured benchmarks, simulated labels")
        assert not [split for split in splits.split_items(db) if split.remains]
        agreement = splits.current_agreement(db)
        assert agreement.n_incomplete == 0
        assert 0.4 < agreement.percent.value < 0.9  # neither random nor unanimous
        assert computing.n_missing(db) == 0


def test_a_newcomer_labels_ten_items_that_the_made_up_reviewers_have_labelled(finished):
    with open_database(finished.with_name("yours.study")) as db:
        left = {row.reviewer: row.n_assigned - row.n_done for row in coordinating.status(db).reviewers}
        assert left == {"ada": 0, "ben": 0, "cleo": 0, "dan": 0, "you": demo.N_YOURS} != {}
        names = {item.name for item in items.all_items(db)}
        person = people.by_name(db, "you")
        assert person.roles == {Role.REVIEWER}
        assert identity.why_hidden(db, "you", Action.SEE_AGREEMENT)  # nothing about the labels of others before the end
    with open_database(finished.with_name("more.study")) as db:  # ten more items are other items
        more = {item.name for item in items.all_items(db)}
    assert (len(names), len(more), names & more) == (demo.N_YOURS, demo.N_YOURS, set())


def test_after_the_tenth_label_a_newcomer_sees_the_own_result_and_no_names(finished, tmp_path):
    path = tmp_path / "yours.study"
    shutil.copy(finished.with_name("yours.study"), path)
    with open_database(path) as db:
        person = people.by_name(db, "you")
        for n_done in range(10):
            assert not demo.reveal(db, now=NOW)
            with pytest.raises(NotAllowed):
                own_result.own_result(db, person.person_id)
            task = reviewing.review_queue(db, person.person_id).offers[0]
            view = {"axis": "core"}
            given = NewLabel(f"{n_done:032x}", task.code, task.revision, "similar", 4000, view)
            reviewing.submit(db, person.person_id, given, now=NOW)
        assert demo.reveal(db, now=NOW)
        assert coordinating.get_study(db).state is State.UNBLINDED
        assert people.by_name(db, "you").roles == {Role.REVIEWER}
        found = own_result.own_result(db, person.person_id)
        assert [row.rater for row in found.reviewers] == ["Reviewer 1", "Reviewer 2", "Reviewer 3", "Reviewer 4"]
        assert {row.rater for row in found.classifiers} == set(CLASSIFIERS)
        assert not any(name in repr(found) for name in demo.REVIEWERS)
        shown = own_result.own_result(db, person.person_id, with_names=True)
        assert {row.rater for row in shown.reviewers} == set(demo.REVIEWERS)
        assert {item.name for item in shown.items} == {
            items.by_id(db, item.task.item_id).benchmark for item in found.items
        }
        assert (found.place, shown.place.n_people) == (None, 5)
        changed = {row["benchmark"] for row in interventions()}
        assert [bool(item.change) for item in found.items] == [
            items.by_id(db, item.task.item_id).name in changed for item in found.items
        ]
        assert (found.changes.n, found.changes.own) == (sum(bool(item.change) for item in found.items), 0)
        assert set(found.changes.classifiers) == set(CLASSIFIERS)
        assert 0 < max(found.changes.reviewers) <= found.changes.n
        logged = log(db)
        assert demo.reveal(db, now=NOW)
        assert log(db) == logged  # it is revealed once only


@pytest.mark.slow
def test_the_demo_is_the_same_each_time_it_is_made(finished, tmp_path):
    again = tmp_path / "again.study"
    demo.build_finished(again, DATA, advance=lambda *_: None, now=NOW)
    with open_database(finished) as first, open_database(again) as second:
        assert labels.marks(first) == labels.marks(second)


# --- the demo studies of the built-in questions


BUNDLED = bundled("data", "demo")


@pytest.mark.slow
def test_most_reviewers_of_the_demo_see_a_known_change(tmp_path):
    path = tmp_path / "demo.study"
    demo.build_for_question(path, BUNDLED, "change", now=NOW)
    with open_database(path) as db:
        table = labels.table(db)
        given = Counter(table[table["item"] == "fractions.sum#n=38"]["label"])
        assert given.most_common(1)[0][0] == "slower"
        assert len(set(table["label"])) >= 3
        assert set(table["swapped"]) == {0, 1}
        assert audit.audit(db).faults == ()


def test_there_is_no_demo_of_other_questions(tmp_path):
    with pytest.raises(InputError, match="Choose one of: change, mark-changes"):
        demo.build_for_question(tmp_path / "demo.study", BUNDLED, "similar", now=NOW)
    assert not (tmp_path / "demo.study").exists()


def test_the_demo_of_marks_is_finished_and_its_people_mostly_find_the_large_changes(tmp_path):
    path = tmp_path / "marks.study"
    demo.build_for_question(path, BUNDLED, "mark-changes", now=NOW)
    with open_database(path) as db:
        assert coordinating.get_study(db).state is State.UNBLINDED
        assert not any(split.remains for split in splits.split_items(db))
        assert audit.audit(db).faults == ()
        first = labels.table(db).query("kind != 'retest'")
    changes = pd.read_csv(BUNDLED / demo.HISTORIES[1])
    large = changes[changes["change"] == 0.2]  # from v16, which is point 15
    near = [
        any(abs(mark.at - 15) <= 5 for mark in marks.read(answer))
        for answer in first[first["item"].isin(large["benchmark"])]["label"]
    ]
    unchanged = first[~first["item"].isin(changes["benchmark"])]["label"]
    assert (len(near), len(unchanged)) == (40, 20)
    assert sum(near) >= 36
    assert (unchanged == "no change").sum() >= 18
    assert first.groupby("reviewer")["label"].agg(lambda given: (given == "no change").sum()).nunique() > 1
