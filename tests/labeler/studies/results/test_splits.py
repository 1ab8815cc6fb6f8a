"""Split items after closing: shown without names, decided by a person who labelled none of them."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from analysis.raters.tables import counted_labels
from labeler.errors import InputError, NotAllowed
from labeler.studies.course import coordinating, course
from labeler.studies.handover import exchange
from labeler.studies.items import browsing
from labeler.studies.labelling import label_file, reviewing
from labeler.studies.model import PlanParameters, State
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning, verifying
from labeler.studies.results import reporting, splits
from labeler.studies.results.splits import SplitLabel, current_agreement, describe_estimate
from labeler.studies.store import actions, decisions, events, items, labels, studies
from tests.making import (
    NOW,
    REVIEWERS,
    WHO,
    answer_everything,
    answer_next,
    copy_of,
    id_of,
    item_name,
    log,
    new_study,
    offers,
    report_of,
    report_of_files,
    submission,
    submit,
)

WHY = {"why": "because", **WHO}
SPLIT = {"ada": "similar", "ben": "similar", "cleo": "similar", "dan": "dissimilar"}
S, D = "similar", "dissimilar"


@pytest.fixture
def closed(planned):
    """Dan says dissimilar on all his items, which splits them; closed without a third-label round."""
    answer_everything(planned, SPLIT)
    course.change_state(planned, Step.CLOSE, **WHY)
    return planned


def decide(db, name, category=D, why="two levels", actor="carol"):
    splits.adjudicate(db, name, category, why, actor=actor, now=NOW)


def split_by_hand(db):
    """Return the items whose first labels differ."""
    said = labels.table(db)
    said = said[said["kind"].isin(("fresh", "overlap"))].groupby("item")["label"].nunique()
    return set(said[said > 1].index)


def exported(db, folder):
    """Return the table of all answers and decisions, and its file."""
    table = exchange.export_labels(db, actor="owner", now=NOW)
    (folder / "labels.csv").write_text(reporting.as_csv(table), encoding="utf-8")
    return table, folder / "labels.csv"


# --- split items


def test_split_items_are_those_with_both_categories_among_first_labels_undecided_first_then_by_name(closed):
    found = splits.split_items(closed)
    assert {split.item.name for split in found} == split_by_hand(closed)
    assert [(not split.remains, split.item.name) for split in found] == sorted(
        (not split.remains, split.item.name) for split in found
    )
    # 1 of 4 said dissimilar on items that all saw, 1 of 2 on the others
    for split in found:
        assert split.majority == (S if len(split.labels) == 4 else None)
        assert split.remains is (len(split.labels) == 2)
        assert split.decision is None


def test_what_was_said_is_without_names_and_in_an_order_that_tells_nobody(planned):
    """The order of answers does not change what is shown."""
    answer_everything(planned, {"dan": "dissimilar"})
    answer_everything(planned, SPLIT)
    for split in splits.split_items(planned):
        assert list(split.labels) == sorted(
            split.labels, key=lambda one: (one.is_third, one.category, one.comment or "")
        )
        assert not any(repr(name) in repr(split) for name in SPLIT)


def test_comments_are_shown_with_their_label(planned):
    ada = id_of(planned, "ada")
    task = reviewing.review_queue(planned, ada).offers[0]
    reviewing.submit(planned, ada, replace(submission(task, "dissimilar"), comment="two levels"), now=NOW)
    answer_everything(planned, dict.fromkeys(SPLIT, "similar"))
    (split,) = splits.split_items(planned)
    assert SplitLabel(D, "two levels", is_third=False) in split.labels
    assert [one.comment for one in split.labels if one.category == S] == [None] * (len(split.labels) - 1)


def test_a_third_label_makes_a_majority(planned):
    answer_everything(planned, SPLIT)
    before = {split.item.name: split for split in splits.split_items(planned)}
    course.change_state(planned, Step.THIRD, **WHY)
    answer_everything(planned, dict.fromkeys(SPLIT, "dissimilar"))
    after = {split.item.name: split for split in splits.split_items(planned)}
    assert after.keys() == before.keys()  # a third label never splits an agreed item
    for name, split in after.items():
        n_third = sum(one.is_third for one in split.labels)
        assert len(split.labels) == len(before[name].labels) + n_third
        if len(before[name].labels) == 2 and n_third:
            assert (split.majority, split.remains) == (D, False)


def test_third_labels_that_leave_no_majority_split_an_agreed_item_which_is_offered_as_the_report_counts(db):
    names = [item_name(number) for number in range(4)]
    rows = [
        *((names[0], name, "fresh", S) for name in ("ada", "ben")),
        *((names[0], name, "third", D) for name in ("cleo", "dan")),
        *zip(names[1:2] * 2, ("ada", "ben"), ("fresh", "fresh"), (S, D), strict=True),
        *zip(names[2:3] * 3, ("ada", "ben", "cleo"), ("fresh", "fresh", "third"), (S, D, D), strict=True),
        *zip(names[3:4] * 3, ("ada", "ben", "cleo"), ("fresh", "fresh", "third"), (S, S, D), strict=True),
    ]
    table = pd.DataFrame(rows, columns=["item", "reviewer", "kind", "label"])
    exchange.import_labels(db, table, **WHO)
    studies.set_state(db, State.CLOSED)
    found = {split.item.name: (split.split_by, split.majority, split.remains) for split in splits.split_items(db)}
    assert found == {
        names[0]: ("third labels", None, True),
        names[1]: ("first labels", None, True),
        names[2]: ("first labels", D, False),
    }
    assert splits.describe_split_items(splits.split_items(db)) == "3 split items (1 by third labels)"
    shown = splits.describe_results(db, [items.by_name(db, name) for name in names])
    assert shown == ["not decided", "not decided", "dissimilar, majority", "similar"]
    assert (counts(current_agreement(db)), report_of(db)["consensus"]["majority"]["split"]) == ((2, 2, 0), 2)
    decide(db, names[0])
    assert report_of(db)["consensus"]["majority"]["split"] == 1
    assert [split.item.name for split in splits.split_items(db) if split.remains] == [names[1]]


def test_an_own_revision_splits_nothing(planned):
    task = answer_next(planned, "ada", "similar")
    answer_everything(planned, dict.fromkeys(SPLIT, "similar"))
    revised = replace(task, revision=1)
    submit(planned, "ada", revised, "dissimilar")
    assert splits.split_items(planned) == ()


def test_an_excluded_item_is_not_among_them_and_cannot_be_decided(closed):
    name = splits.split_items(closed)[0].item.name
    browsing.exclude(closed, name, **WHY)
    assert name not in {split.item.name for split in splits.split_items(closed)}
    with pytest.raises(InputError, match="not a split item"):
        decide(closed, name)


def test_how_many_items_are_complete_tells_nothing_of_what_was_said(planned):
    assert (splits.n_complete(planned), splits.split_items(planned)) == ((0, 8), ())
    answer_everything(planned, {"ada": "similar", "ben": "dissimilar", "cleo": "similar"})
    counts = labels.table(planned).groupby("item")["reviewer"].nunique()
    assert splits.n_complete(planned) == (int((counts >= 2).sum()), 8)
    answer_everything(planned, SPLIT)
    assert splits.n_complete(planned) == (8, 8)
    browsing.exclude(planned, item_name(1), **WHY)
    assert splits.n_complete(planned) == (7, 7)


# --- decisions


def test_first_labels_stay_as_they_were(closed):
    before = counted_labels(labels.table(closed))
    for split in splits.split_items(closed):
        decide(closed, split.item.name)
    assert counted_labels(labels.table(closed)).equals(before)
    after = counted_labels(label_file.all_answers(closed))
    assert after[["item", "rater", "category"]].equals(before[["item", "rater", "category"]])
    assert split_by_hand(closed) == {split.item.name for split in splits.split_items(closed)}


def test_a_decision_settles_an_item_until_a_later_one_takes_its_place_and_all_are_kept(closed):
    name = splits.split_items(closed)[0].item.name
    for category, why, actor in ((D, "  two levels ", "carol"), (S, "looked again", "owner")):
        decide(closed, name, category, why, actor=actor)
        found = next(split for split in splits.split_items(closed) if split.item.name == name)
        decision = found.decision
        assert (decision.category, decision.why, decision.decided_by) == (category, why.strip(), actor)
        assert not found.remains
        told = events.of_actions(closed, [actions.ADJUDICATE])[-1]
        assert (told.actor, told.details) == (actor, {"item": name, "category": str(category), "why": why.strip()})
    assert [(one.category, one.decided_by) for one in decisions.everything(closed)] == [(D, "carol"), (S, "owner")]


@pytest.mark.parametrize("state", [state for state in State if state not in (State.CLOSED, State.PAUSED)])
def test_items_are_decided_only_while_the_study_is_closed(closed, state):
    name = splits.split_items(closed)[0].item.name
    studies.set_state(closed, state)
    before = log(closed)
    with pytest.raises(NotAllowed, match="You can decide a split item only while"):
        decide(closed, name)
    assert (log(closed), decisions.everything(closed)) == (before, [])


def test_who_labelled_a_split_item_decides_none_of_them(closed):
    closed.execute("UPDATE people SET is_coordinator = 1 WHERE name = 'dan'")
    own = {row.item for row in labels.table(closed).itertuples() if row.reviewer == "dan"} & split_by_hand(closed)
    for split in splits.split_items(closed):
        with pytest.raises(NotAllowed, match=f"You labelled {len(own)} of the split items yourself"):
            decide(closed, split.item.name, actor="dan")
    assert decisions.everything(closed) == []
    assert splits.why_not_decide(closed, "carol") == splits.why_not_decide(closed, "owner") == ""


def test_who_labelled_agreed_items_only_may_decide(planned):
    answer_everything(planned, {"ada": "similar", "ben": "similar"})
    planned.execute("UPDATE people SET is_coordinator = 1 WHERE name = 'ada'")
    assert splits.why_not_decide(planned, "ada") == ""


@pytest.mark.parametrize(
    ("name", "why", "message"),
    [
        ("nowhere", "because", "There is no item 'nowhere' in this study"),
        (None, "because", "not a split item"),
        ("split", " ", "1 to 1000 characters"),
    ],
)
def test_what_cannot_be_decided_is_refused_and_leaves_no_trace(closed, name, why, message):
    split = [one.item.name for one in splits.split_items(closed)]
    agreed = next(item.name for item in coordinating.list_items(closed) if item.name not in split)
    before = log(closed)
    with pytest.raises(InputError, match=message):
        decide(closed, split[0] if name == "split" else name or agreed, why=why)
    assert (log(closed), decisions.everything(closed)) == (before, [])


# --- in numbers and files


def test_decisions_enter_the_adjudicated_consensus_and_no_agreement(closed):
    before = report_of(closed)
    remaining = [split.item.name for split in splits.split_items(closed) if split.remains]
    decide(closed, remaining[0], S)
    decide(closed, remaining[0], D)
    decide(closed, remaining[1], S)
    after = report_of(closed)
    assert after["agreement"] == before["agreement"]
    majority = {key: after["consensus"]["majority"][key] - before["consensus"]["majority"][key]
                for key in ("majority", "adjudicated", "split", "n_similar", "n_dissimilar")}  # fmt: skip
    assert majority == {"majority": 0, "adjudicated": 2, "split": -2, "n_similar": 1, "n_dissimilar": 1}
    assert {key: after["consensus"][key] for key in ("agreed", "split", "incomplete")} == {
        key: before["consensus"][key] for key in ("agreed", "split", "incomplete")
    }


def test_decisions_are_rows_of_their_own_behind_all_answers(closed):
    n_answers = labels.n_labels(closed)
    name = splits.split_items(closed)[0].item.name
    decide(closed, name, D)
    decide(closed, name, S, "looked again", actor="owner")
    table = exchange.export_labels(closed, actor="owner", now=NOW)
    assert list(table.columns) == list(label_file.COLUMNS)
    rows = table.iloc[n_answers:]
    assert rows[["item", "reviewer", "kind", "label", "revision", "comment"]].to_numpy().tolist() == [
        [name, "carol", "adjudicated", "dissimilar", 0, "two levels"],
        [name, "owner", "adjudicated", "similar", 1, "looked again"],
    ]
    assert rows["assignment"].tolist() == [-5, -5]
    assert rows["application"].tolist() == ["example/app" + name[len("example__app")]] * 2
    assert rows["event_id"].is_unique
    json.loads(rows["view"].iloc[0])


def test_the_label_file_is_the_exported_table_with_its_decisions(closed):
    decide(closed, splits.split_items(closed)[0].item.name, D, '=1+1, "odd"\nand long')
    text, n_rows = exchange.export_label_file(closed, actor="owner", now=NOW)
    assert text == reporting.as_csv(label_file.all_answers(closed))
    assert n_rows == labels.n_labels(closed) + 1
    assert log(closed)[-1] == ("owner", "export labels")


def test_decisions_survive_the_way_into_another_study(closed, masters, tmp_path):
    for split, category in zip(splits.split_items(closed), (D, S, D), strict=False):
        decide(closed, split.item.name, category, 'a "reason", with\nlines')
    table, path = exported(closed, tmp_path)
    (tmp_path / "other").mkdir()
    with copy_of(masters["planned"], tmp_path / "other") as other:
        taken = exchange.import_label_file(other, path, **WHO)
        assert taken.n_new == len(table)
        assert decisions.everything(other) == decisions.everything(closed)
        assert report_of(other)["consensus"] == report_of(closed)["consensus"]
        again = exchange.import_label_file(other, path, **WHO)
        assert (again.n_new, again.n_already_there) == (0, len(table))
        assert decisions.everything(other) == decisions.everything(closed)
        columns = [column for column in label_file.COLUMNS if column not in ("assignment", "view")]
        back = exchange.export_labels(other, actor="owner", now=NOW)
        assert back[columns].to_numpy().tolist() == table[columns].to_numpy().tolist()


def test_who_decided_is_not_made_a_reviewer_by_an_import(closed, db, tmp_path):
    decide(closed, splits.split_items(closed)[0].item.name, actor="owner")
    _, path = exported(closed, tmp_path)
    assert set(exchange.import_label_file(db, path, **WHO).new_reviewers) == set(SPLIT)


def test_the_label_file_alone_gives_the_same_consensus(closed, tmp_path):
    for split, category in zip(splits.split_items(closed), (D, S), strict=False):
        decide(closed, split.item.name, category)
    _, path = exported(closed, tmp_path)
    of_files = report_of_files(path, None, options=reporting.QUICK)
    of_study = report_of(closed)
    for part in ("consensus", "agreement"):
        assert of_files[part] == of_study[part]
    assert of_study["consensus"]["majority"]["adjudicated"] == 2
    assert of_files["left_out"]["adjudicated_labels"] == of_study["left_out"]["adjudicated_labels"] == 2


@pytest.mark.parametrize("label", ["not sure", "withdrawn"])
def test_a_decision_in_a_file_is_a_category(closed, label):
    row = {"item": item_name(1), "reviewer": "owner", "label": label, "kind": "adjudicated"}
    with pytest.raises(InputError, match=rf"Line 2: the decision '{label}' is not one of: similar, dissimilar\."):
        exchange.import_labels(closed, pd.DataFrame([row]), **WHO)
    assert decisions.everything(closed) == []


def test_a_decision_in_a_file_without_a_reason_says_so_and_an_event_id_names_one_decision(closed):
    row = {"item": splits.split_items(closed)[0].item.name, "reviewer": "owner", "kind": "adjudicated", "event_id": "e"}
    table = pd.DataFrame([row | {"label": "similar"}])
    assert [exchange.import_labels(closed, table, **WHO).n_new for _ in range(2)] == [1, 0]
    assert [one.why for one in decisions.everything(closed)] == ["not in the label file"]
    with pytest.raises(InputError, match="event id 'e' already belongs"):
        exchange.import_labels(closed, table.assign(label="dissimilar"), **WHO)


# --- agreement after closing, compared with counts by hand and with the report


@pytest.fixture
def pair(study_path):
    """Four items that ada and ben both label."""
    plan = PlanParameters(1, overlap=0, retest=0)
    with new_study(study_path, n_items=4, reviewers=("ada", "ben"), plan=plan) as db:
        yield db


def answer_by_item(db, reviewer, said):
    """Answer the offered items until all items in `said` are answered, "s" or "d" by the item's number."""
    words = {item_name(number): {"s": "similar", "d": "dissimilar"}[letter] for number, letter in enumerate(said)}
    while waiting := offers(db, reviewer):
        task = waiting[0]
        sent = submission(task, words[items.by_id(db, task.item_id).name])
        reviewing.submit(db, id_of(db, reviewer), sent, now=NOW)


def counts(found):
    return found.n_agreed, found.n_split, found.n_incomplete


def test_agreement_so_far_worked_by_hand(pair):
    # p = 5/8 similar; Pe = (5/8)^2 + (3/8)^2 = 17/32; kappa = (3/4 - 17/32) / (15/32) = 7/15
    answer_by_item(pair, "ada", "sssd")
    answer_by_item(pair, "ben", "ssdd")
    found = current_agreement(pair)
    assert counts(found) == (3, 1, 0)
    assert (found.percent.value, found.kappa.value) == (0.75, pytest.approx(7 / 15))
    assert describe_estimate(found.percent).startswith("0.75, 95 % interval ")
    assert describe_estimate(found.kappa).startswith("0.47, 95 % interval ")
    browsing.exclude(pair, item_name(2), "broken", **WHO)  # counts for nothing
    found = current_agreement(pair)
    assert (counts(found), found.percent.value) == ((3, 0, 0), 1)


def test_it_is_what_the_report_says(planned):
    answer_everything(planned, dict(zip(REVIEWERS, ("similar", "dissimilar", "similar", "similar"), strict=True)))
    found = current_agreement(planned)
    assert not [name for name in REVIEWERS if name in repr(found)]
    assert found.sentences[-1] == "The plan has no stopping rule, so all items are to be labelled."
    told = report_of(planned)
    agreement, consensus = told["agreement"], told["consensus"]
    assert counts(found) == (consensus["agreed"], consensus["split"], consensus["incomplete"])
    assert found.percent.value == pytest.approx(agreement["coefficients"]["percent_agreement"]["value"])
    once = found.kappa_once
    assert [once.value, once.low, once.high] == [
        agreement["coefficients"]["fleiss_kappa"][name]
        and pytest.approx(agreement["coefficients"]["fleiss_kappa"][name])
        for name in ("value", "low", "high")
    ]


def test_repeated_looks_are_valid_and_say_what_stopping_early_costs(study):
    assigning.confirm_plan(study, PlanParameters(1, retest=0, stop_half_width=0.5), **WHO)
    answer_everything(study, dict(zip(REVIEWERS, ("similar", "dissimilar", "similar", "similar"), strict=True)))
    found = current_agreement(study)
    assert found.kappa.low < found.kappa_once.low < found.kappa_once.high < found.kappa.high
    assert any(f"{found.wider:.1f} times as wide" in sentence for sentence in found.sentences)
    half = found.kappa.half_width
    assert found.sentences[-1] == (
        f"Stopping rule of the plan (kappa within ±0.5): not reached; the interval is now ±{half:.2f}."
    )
    assert ": reached;" in replace(found, stop_half_width=half).sentences[-1]
    assert verifying.verify_plan(study).problems == ()


def test_without_labels_all_items_are_incomplete_and_nothing_is_defined(planned):
    found = current_agreement(planned)
    assert counts(found) == (0, 0, 8)
    assert [describe_estimate(one) for one in (found.percent, found.kappa)] == [
        "undefined, because no item has two labels."
    ] * 2


def test_calibration_items_count_for_nothing(study):
    parameters = PlanParameters(1, overlap=0, retest=0, calibration=3)
    assigning.confirm_plan(study, parameters, **WHO)
    for name in REVIEWERS:
        answer_next(study, name, "similar")
    assert counts(current_agreement(study)) == (0, 0, 5)
