"""A study with its own question, from the file of the question to the report."""

import json
import random
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from labeler.errors import AnswerRefused, InputError, NotAllowed
from labeler.studies.audit import audit
from labeler.studies.course import coordinating, course
from labeler.studies.handover import exchange
from labeler.studies.handover.publishing import bundle
from labeler.studies.labelling import reviewing
from labeler.studies.model import NewLabel, PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning, verifying
from labeler.studies.questions import SIMILAR, hash_in_plan, read_question, to_toml
from labeler.studies.results import reporting, splits, written_reports
from labeler.studies.screen.kinds import KINDS
from labeler.studies.store import items, open_database
from labeler.studies.verdicts import computing, stored_verdicts
from tests.labeler.studies.handover.test_publishing import ANSWERS
from tests.making import NOW, WHO, import_all, offers, report_of_files, result_file, series, submit

ALERTS = """
text = "What is this alert?"
[[category]]
name = "regression"
key = "r"
meaning = "It became slower, and the code is the cause."
[[category]]
name = "improvement"
key = "i"
meaning = "It became faster."
[[category]]
name = "spike"
key = "s"
meaning = "Only a few runs differ."
[[category]]
name = "unstable"
key = "1"
meaning = "The runs never agree."
[[category]]
name = "stable"
key = "b"
meaning = "Nothing happened."
"""
NAMES = ["regression", "improvement", "spike", "unstable", "stable"]
PEOPLE = ("ada", "ben", "cleo")


@contextmanager
def study_of_alerts(path, n_items):
    """A planned study of alerts with five categories and three reviewers."""
    question = read_question(ALERTS, "alerts.toml")
    coordinating.create_study(path, name="Alerts", question=question, coordinator="carol", plan_secret="", now=NOW)
    with open_database(path) as db:
        import_all(db, *(result_file(f"app#bench_{number:02}", series(number)) for number in range(n_items)))
        for name in PEOPLE:
            identity.add_person(db, name, [Role.REVIEWER], **WHO)
        assigning.confirm_plan(db, PlanParameters(7, per_item=3, overlap=0, retest=0), **WHO)
        yield db


@pytest.fixture
def alerts(tmp_path):
    with study_of_alerts(tmp_path / "alerts.study", 12) as db:
        yield db


def label_all(db):
    """Everybody labels everything; the reviewers mostly agree, and nobody says improvement."""
    rng, now = random.Random(3), NOW
    used = [name for name in NAMES if name != "improvement"]
    truth = {item.item_id: used[item.item_id % len(used)] for item in items.all_items(db)}
    for person in identity.everyone(db):
        while Role.REVIEWER in person.roles and (offers := reviewing.review_queue(db, person.person_id).offers):
            task, now = offers[0], now + timedelta(seconds=9)
            answer = truth[task.item_id] if rng.random() < 0.8 else rng.choice(used)
            sent = NewLabel(f"{task.code}-{task.revision}", task.code, task.revision, answer, 900)
            reviewing.submit(db, person.person_id, sent, now=now)
    return {item.name: truth[item.item_id] for item in items.all_items(db)}


def test_five_categories_from_labels_to_a_report_that_is_recomputed(alerts, tmp_path):
    truth = label_all(alerts)
    course.change_state(alerts, Step.CLOSE, why="done", **WHO)
    split = splits.split_items(alerts)[0]
    splits.adjudicate(alerts, split.item.name, "spike", "one run", **WHO)
    with pytest.raises(InputError, match=r"'similar' is not a category. Choose regression, .* or stable"):
        splits.adjudicate(alerts, split.item.name, "similar", "one run", **WHO)
    course.change_state(alerts, Step.UNBLIND, why="done", **WHO)
    table = tmp_path / "verdicts.csv"
    table.write_text("item,classifier,verdict\n" + "".join(f"{name},rule,{label}\n" for name, label in truth.items()))
    stored_verdicts.import_verdicts(alerts, table, None, **WHO)
    files = reporting.files_of_study(alerts, reporting.QUICK, **WHO)
    numbers = json.loads(files["report.json"])
    counts = {row["category"]: row["n_labels"] for row in numbers["categories"]}
    assert (list(counts), counts["improvement"], sum(counts.values())) == (NAMES, 0, 36)
    assert numbers["classifiers"]["rule"]["against"]["categories"] == NAMES
    assert "No reviewer used improvement, so nothing can be said about this category." in files["report.md"]
    assert "It became slower, and the code is the cause." in files["report.html"]
    assert not [word for word in ("similar", "dissimilar") if f" {word} " in files["report.md"]]
    (tmp_path / "report.json").write_text(files["report.json"], encoding="utf-8")
    assert written_reports.check_study(alerts, tmp_path / "report.json", **WHO) == []
    assert audit.audit(alerts).faults == ()


def test_a_label_file_alone_gives_the_categories_in_it(alerts, tmp_path):
    label_all(alerts)
    file = tmp_path / "labels.csv"
    file.write_text(exchange.export_label_file(alerts, **WHO)[0], encoding="utf-8")
    numbers = report_of_files(file, None, options=reporting.QUICK)
    assert [row["category"] for row in numbers["categories"]] == sorted(set(NAMES) - {"improvement"})
    question = read_question(ALERTS, "alerts.toml")
    gathered = reporting.gathered_files(file, None, options=reporting.QUICK, question=question)
    assert [row.category for row in gathered.report().categories] == NAMES


def test_only_answers_to_the_question_are_taken_and_verdicts_without_a_classifier_are_imported(alerts):
    for answer in ("similar", "Regression", "1"):
        with pytest.raises(AnswerRefused, match=r"cannot be read"):
            submit(alerts, "ada", offers(alerts, "ada")[0], answer)
    with pytest.raises(InputError, match=r"No classifier is known .* labeler verdicts --import FILE.csv"):
        computing.compute_verdicts(alerts, actor="carol")


def test_the_question_is_part_of_the_plan_and_another_is_another_study(alerts):
    study = coordinating.get_study(alerts)
    assert verifying.verify_plan(alerts).problems == ()
    again = assigning.preview_plan(alerts, PlanParameters(7, per_item=3, overlap=0, retest=0))
    assert (again.hash, again.question) == (study.plan_hash, study.question.hash)
    assert replace(again, question="").hash != study.plan_hash
    other = read_question(ALERTS.replace("Nothing happened", "No change"), "alerts.toml")
    with pytest.raises(NotAllowed, match=r"only its words can be changed. To ask another question, create a new study"):
        coordinating.describe_study(alerts, "Alerts", other, **WHO)
    with pytest.raises(NotAllowed, match=r"study is open"):
        coordinating.describe_study(alerts, "Alerts", "What is it?", **WHO)
    label_all(alerts)
    with pytest.raises(NotAllowed, match=r"already answered"):
        coordinating.describe_study(alerts, "Alerts", other, **WHO)


def test_before_the_plan_the_whole_question_can_be_changed_and_the_audit_follows(db):
    question = read_question(ALERTS, "alerts.toml")
    assert read_question(to_toml(question), "again.toml").hash == question.hash  # is written as it is read
    assert read_question(to_toml(SIMILAR), "similar.toml").names == SIMILAR.names
    coordinating.describe_study(db, "Caches", question, **WHO)
    assert coordinating.get_study(db).question.hash == question.hash
    assert audit.audit(db).faults == ()
    coordinating.describe_study(db, "Caches", SIMILAR, **WHO)
    assert hash_in_plan(coordinating.get_study(db).question) == ""
    assert audit.audit(db).faults == ()
    db.execute("UPDATE categories SET name = 'alike' WHERE position = 0")
    db.execute("""UPDATE questions SET definition = replace(definition, 'level', 'lever')""")
    assert {fault.part for fault in audit.audit(db).faults} == {"question", "category"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('key = "i"', 'key = "r"', "line 9: category 2, key: the categories regression and improvement have the same"),
        ('key = "i"', 'key = "u"', "line 9: category 2, key: the key U is reserved for undo"),
        ('key = "i"', 'key = "+"', r"line 9: category 2, key: a key is one letter from a to z or one digit .*'\+'"),
        ('"Only a few runs differ."', '" "', "line 14: category 3, meaning: meaning needs a text in quotes"),
        ('name = "spike"', 'name = "Regression"', "line 12: category 3, name: two categories are called 'Regression'"),
        ('name = "spike"', 'name = "[a](b)"', "line 12: category 3, name: a name has only letters, digits, spaces"),
        ('name = "spike"', 'name = "not sure"', "line 12: category 3, name: 'not sure' has another meaning"),
        ('key = "s"', 'key = "s"\ncolour = "red"', "line 14: category 3, colour: a colour is written as"),
        ('text = "What is this alert?"', "", "line 1: text: text needs a text in quotes"),
        ('text = "What', 'shows = "tea"\ntext = "What', "line 2: shows: 'tea' is not one of: runs, change, hist"),
        ('text = "What', 'positive = "no"\ntext = "What', "line 2: positive: 'no' is not one of: regression"),
        ('text = "What', 'orderd = 1\ntext = "What', "line 2: orderd: unknown key. Known keys: answer"),
        ('text = "What', 'ordered = 1\ntext = "What', "line 2: ordered: ordered must be true or false, not 1"),
        ('text = "What', "text = What", "is not valid TOML"),
        ('text = "What', 'ask_at = "never"\ntext = "What', "line 2: ask_at: 'never' is not one of: end, start"),
        ("[[category]]", '[[ask]]\ntext = "Years?"\nkind = "word"\n[[category]]', "line 5: ask 1, kind: 'word' is not"),
        ("[[category]]", '[[ask]]\nkind = "text"\n[[category]]', "line 3: ask 1, text: text needs a text in quotes"),
        (
            "[[category]]",
            '[[ask]]\ntext = "Years?"\nkind = "choice"\nanswers = ["one"]\n[[category]]',
            "line 6: ask 1, answers: answers must be a list of 2 to 9",
        ),
        (
            "[[category]]",
            '[[ask]]\ntext = "Years?"\nkind = "scale"\nanswers = [1, 2, 1]\n[[category]]',
            "line 6: ask 1, answers: each answer is a different text",
        ),
        ("[[category]]", '[[ask]]\ntext = "?"\nkind = "text"\n' * 11 + "[[category]]", "line 1: ask: write"),
    ],
)
def test_a_question_file_that_cannot_be_used_is_refused_with_line_and_key(old, new, message):
    assert old in ALERTS
    with pytest.raises(InputError, match=f"^alerts.toml(, |: | ){message}"):
        read_question(ALERTS.replace(old, new, 1), "alerts.toml", KINDS)


def test_a_question_has_two_to_nine_categories():
    for n in (0, 1, 10):
        more = "".join(f'[[category]]\nname = "c{i}"\nkey = "{"abcdeghijk"[i]}"\nmeaning = "m"\n' for i in range(n))
        with pytest.raises(InputError, match=r"needs categories|has 2 to 9 categories"):
            read_question(f'text = "?"\n{more}', "q.toml")


# --- three people triage 60 alerts with five categories, from labels to a published data set whose report is checked


TRUTH = ("regression", "stable", "spike", "improvement")  # nothing is unstable
N_ALERTS = 60


@pytest.fixture(scope="module")
def triaged(tmp_path_factory):
    """Ben never says improvement, cleo calls one stable alert in three a spike, and nobody says unstable."""
    path = tmp_path_factory.mktemp("alerts") / "alerts.study"
    rng, now = random.Random(5), NOW
    with study_of_alerts(path, N_ALERTS) as db:
        truth = {item.item_id: TRUTH[item.item_id % len(TRUTH)] for item in items.all_items(db)}
        for person in identity.everyone(db):
            while Role.REVIEWER in person.roles and (offers := reviewing.review_queue(db, person.person_id).offers):
                task, now = offers[0], now + timedelta(seconds=9)
                answer = truth[task.item_id] if rng.random() < 0.9 else rng.choice(TRUTH)
                if person.name == "ben" and answer == "improvement":
                    answer = "stable"
                if person.name == "cleo" and answer == "stable" and rng.random() < 1 / 3:
                    answer = "spike"
                sent = NewLabel(f"{task.code}-0", task.code, task.revision, answer, 900)
                reviewing.submit(db, person.person_id, sent, now=now)
        course.change_state(db, Step.CLOSE, why="done", **WHO)
        splits.adjudicate(db, splits.split_items(db)[0].item.name, "spike", "one run", **WHO)
        course.change_state(db, Step.UNBLIND, why="done", **WHO)
        rows = [f"{item.name},rule,{truth[item.item_id]}\n" for item in items.all_items(db)]
        table = path.with_name("verdicts.csv")
        table.write_text("item,classifier,verdict\n" + "".join(rows))
        stored_verdicts.import_verdicts(db, table, None, **WHO)
        yield db


@pytest.fixture(scope="module")
def published(triaged, tmp_path_factory):
    """The folder of its data set."""
    options = bundle.PublishOptions(html=True, report=reporting.QUICK)
    answers = replace(ANSWERS, sources={"app": "MIT"})
    return bundle.publish(triaged, tmp_path_factory.mktemp("published") / "out", answers, options, **WHO).folder


def test_the_report_says_what_can_be_concluded(published):
    numbers = json.loads((published / "report" / "report.json").read_text())
    rows = {row["category"]: row for row in numbers["categories"]}
    assert rows["unstable"]["agreement"]["reason"]
    shares = [row["shares"]["improvement"] for row in numbers["by_category"]["reviewers"]]
    assert shares.count(0) == 1  # the data set does not name ben
    assert sum(row["n_majority"] for row in rows.values()) < N_ALERTS  # where three say three things, it is a tie
    assert "rule" in numbers["classifiers"]


def test_the_data_set_names_the_five_categories_and_its_report_is_checked(published):
    codebook = (published / "codebook.md").read_text()
    for name in NAMES:
        assert name in codebook
    assert "It became slower, and the code is the cause." in codebook
    for name in ("README.md", "datasheet.md", "croissant.json", "codebook.json"):
        assert "similar" not in (published / name).read_text()
    tables = (published / "data" / "labels.csv", published / "report" / "verdicts.csv")
    assert written_reports.check_files(*tables, published / "report" / "report.json") == []
