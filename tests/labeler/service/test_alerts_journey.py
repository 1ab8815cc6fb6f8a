"""Three people triage 60 alerts with five categories, from labels to a published data set whose report is checked."""

import json
import random
from dataclasses import replace
from datetime import timedelta

import pytest

from labeler.model import PlanParameters, Role, Submission
from labeler.plan.lifecycle import Step
from labeler.questions import read_question
from labeler.service.handover.publishing import bundle
from labeler.service.labelling import reviewing
from labeler.service.people import identity
from labeler.service.plan import assigning
from labeler.service.results import reporting, splits, written_reports
from labeler.service.study import coordinating, course
from labeler.service.verdicts import stored_verdicts
from labeler.store import items, open_database
from tests.labeler.service.test_own_question import ALERTS, NAMES
from tests.labeler.service.test_publishing import ANSWERS
from tests.making import NOW, import_all, result_file, series

WHO = {"actor": "carol", "now": NOW}
TRUTH = ("regression", "stable", "spike", "improvement")  # nothing is unstable
N_ALERTS = 60


@pytest.fixture(scope="module")
def triaged(tmp_path_factory):
    """Ben never says improvement, cleo calls one stable alert in three a spike, and nobody says unstable."""
    path = tmp_path_factory.mktemp("alerts") / "alerts.study"
    question = read_question(ALERTS, "alerts.toml")
    coordinating.create_study(path, name="Alerts", question=question, coordinator="carol", plan_secret="", now=NOW)
    rng, now = random.Random(5), NOW
    with open_database(path) as db:
        import_all(db, *(result_file(f"app#bench_{number:02d}", series(number)) for number in range(N_ALERTS)))
        for name in ("ada", "ben", "cleo"):
            identity.add_person(db, name, [Role.REVIEWER], **WHO)
        assigning.confirm_plan(db, PlanParameters(7, per_item=3, overlap=0, retest=0), **WHO)
        truth = {item.item_id: TRUTH[item.item_id % len(TRUTH)] for item in items.all_items(db)}
        for person in identity.everyone(db):
            while Role.REVIEWER in person.roles and (offers := reviewing.review_queue(db, person.person_id).offers):
                task, now = offers[0], now + timedelta(seconds=9)
                answer = truth[task.item_id] if rng.random() < 0.9 else rng.choice(TRUTH)
                if person.name == "ben" and answer == "improvement":
                    answer = "stable"
                if person.name == "cleo" and answer == "stable" and rng.random() < 1 / 3:
                    answer = "spike"
                sent = Submission(f"{task.code}-0", task.code, task.revision, answer, 900)
                reviewing.submit(db, person.person_id, sent, now=now)
        course.change_state(db, Step.CLOSE, why="done", **WHO)
        splits.adjudicate(db, splits.split_items(db)[0].item.name, "spike", "one run", **WHO)
        course.change_state(db, Step.UNBLIND, why="done", **WHO)
        rows = [f"{item.name},rule,{truth[item.item_id]}\n" for item in items.all_items(db)]
        table = path.with_name("verdicts.csv")
        table.write_text("item,classifier,verdict\n" + "".join(rows))
        stored_verdicts.import_verdicts(db, table, None, **WHO)
        yield db


def test_the_report_says_what_can_be_concluded(triaged):
    options = reporting.ReportOptions(resampling=reporting.Resampling(1, 40, 40, 19))
    files = reporting.files_of_study(triaged, options, **WHO)
    page, numbers = files["report.md"], json.loads(files["report.json"])
    assert "No reviewer used unstable, so nothing can be said about this category." in page
    rows = {row["category"]: row for row in numbers["categories"]}
    assert rows["unstable"]["agreement"]["reason"]
    shares = {row["reviewer"]: row["shares"] for row in numbers["by_category"]["reviewers"]}
    assert shares["ben"]["improvement"] == 0
    least = min((row for row in rows.values() if row["n_labels"]), key=lambda row: row["agreement"]["value"])
    assert f"least on {least['category']}" in page
    assert sum(row["n_majority"] for row in rows.values()) < N_ALERTS  # where three say three things, it is a tie
    assert "| rule |" in page
    assert {name for name in files if name.startswith("figures/")} >= {"figures/label-strip.svg"}


def test_the_data_set_names_the_five_categories_and_its_report_is_checked(triaged, tmp_path):
    options = bundle.PublishOptions(html=True, report=reporting.QUICK)
    published = bundle.publish(triaged, tmp_path / "out", replace(ANSWERS, sources={"app": "MIT"}), options, **WHO)
    folder = published.folder
    codebook = (folder / "codebook.md").read_text()
    for name in NAMES:
        assert name in codebook
    assert "It became slower, and the code is the cause." in codebook
    for name in ("README.md", "datasheet.md", "croissant.json", "codebook.json"):
        assert "similar" not in (folder / name).read_text()
    report = folder / "report" / "report.json"
    assert written_reports.check_files(folder / "data" / "labels.csv", folder / "report" / "verdicts.csv", report) == []
