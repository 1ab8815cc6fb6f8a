"""The picture and the run numbers of one reviewer, for whoever reads this reviewer's comment."""

import dataclasses

import numpy as np
import pytest

from labeler.studies.handover import exchange
from labeler.studies.items import as_seen, importing
from labeler.studies.items.as_seen import Look
from labeler.studies.labelling import inbox, label_file, reviewing
from labeler.studies.model import PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.preparing import assigning
from labeler.studies.results import splits
from labeler.studies.screen import binning
from labeler.studies.screen.kinds import QUESTIONS
from labeler.studies.store import items, open_database
from tests.labeler.studies.test_kinds import study_of
from tests.making import NOW, WHO, id_of, offers, submission

LEVELS = range(1, 7)  # seconds; six runs, of which the last three are of the version after a change
TABLE = "benchmark,version,run,iteration,value\n" + "".join(
    f"parse,{'v1' if run < 4 else 'v2'},{run},{i},{run + 0.01 * (i % 5):.2f}\n" for run in LEVELS for i in range(60)
)


@pytest.fixture(params=["similar", "change"])
def commented(request, tmp_path):
    """One item with six runs; two reviewers comment on it."""
    question, is_change = QUESTIONS[request.param], request.param == "change"
    table = TABLE if is_change else TABLE.replace("v2", "v1")
    options = {"selection": importing.RunSelection(before="v1", after="v2")} if is_change else {}
    more = table.replace("parse", "sum")
    study_of(tmp_path / "s.study", question.shows, table, more, question=question, **options)
    with open_database(tmp_path / "s.study") as db:
        assigning.confirm_plan(db, PlanParameters(3, per_item=2, overlap=0, retest=0), **WHO)
        for name in ("ada", "ben"):
            for task in offers(db, name):
                answer = dataclasses.replace(submission(task, question.names[0]), comment="Run 1 is slow")
                reviewing.submit(db, id_of(db, name), answer, now=NOW)
        yield db


def levels(panels):
    """The level of each run in the order of a picture."""
    shown = [panel for panel in panels if panel["kind"] == "runs"]
    quantiles = [binning.series_of(panel, run, "quantiles") for panel in shown for run in panel["runs"]]
    return [round(float(np.median(run))) for run in quantiles]


def test_a_comment_is_shown_with_the_picture_of_its_reviewer(commented):
    orders = set()
    for message in inbox.messages(commented):
        item = items.by_name(commented, message.item)
        task = reviewing.task_by_code(commented, id_of(commented, message.reviewer), message.code)
        panels = as_seen.panels_of_answer(commented, item, message.view, message.swapped)
        assert panels == reviewing.panels(commented, task)
        shown = as_seen.run_order(commented, item, as_seen.look_of_answer(item, message.view, message.swapped))
        assert levels(panels) == shown
        orders.add(tuple(shown))
    assert len(orders) > 1


def test_the_label_file_has_the_order_of_the_runs_and_the_item_page_the_numbers_on_each_screen(commented):
    rows = label_file.all_answers(commented)
    assert rows["run_order"].notna().all()
    for message in inbox.messages(commented):
        order = (
            rows[(rows["item"] == message.item) & (rows["reviewer"] == message.reviewer)]["run_order"].item().split()
        )
        item = items.by_name(commented, message.item)
        (row,) = [row for row in splits.numbers_seen(commented, item) if row["reviewer"] == message.reviewer]
        first = next(name for name, number in row.items() if number in ("1", "A 1"))
        assert first == f"Run {order[0]}"
        if message.swapped:
            assert (row["Run 1"][0], row["Run 6"][0]) == ("B", "A")


def test_an_imported_answer_keeps_its_order_and_a_view_of_something_else_has_the_order_of_the_item(commented, tmp_path):
    table = exchange.export_labels(commented, actor="owner", now=NOW)
    item = items.by_name(commented, "parse")
    assert as_seen.look_of_answer(item, "{}", None) == Look(None, swapped=False)
    for picture in (
        '"a"',
        "{}",
        '{"order": [9], "phase": 1.0, "seed": "x"}',
        '{"order": [], "phase": "x", "seed": "x"}',
    ):
        look = as_seen.look_of_answer(item, f'{{"picture": {picture}}}', 0)
        assert look == Look(None, swapped=False)
        assert as_seen.run_order(commented, item, look) is None
    identity.add_person(commented, "eve", [Role.REVIEWER], **WHO)
    own = table[table["reviewer"] == "ada"].assign(reviewer="eve", event_id=[f"e{n}" for n in range(2)])
    exchange.import_labels(commented, own.fillna("").astype(str), **WHO)
    rows = label_file.all_answers(commented)
    assert rows[rows["reviewer"] == "eve"]["run_order"].tolist() == own["run_order"].tolist()
