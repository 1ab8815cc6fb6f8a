"""Agreement after closing, compared with counts by hand and with the report."""

import pytest

from analysis.document import json_values
from labeler.model import PlanParameters
from labeler.service.items import browsing
from labeler.service.labelling import reviewing
from labeler.service.plan import assigning, verifying
from labeler.service.results import reporting
from labeler.service.results.splits import current_agreement, describe_estimate
from labeler.store import items, open_database
from tests.making import NOW, REVIEWERS, answer_everything, answer_next, id_of, item_name, make_study, submission


@pytest.fixture
def pair(study_path):
    """Four items that ada and ben both label."""
    make_study(study_path, n_items=4, reviewers=("ada", "ben"))
    with open_database(study_path) as db:
        assigning.confirm_plan(db, PlanParameters(1, overlap=0, retest=0), actor="carol", now=NOW)
        yield db


def answer_by_item(db, reviewer, said):
    """Answer the offered items until all items in `said` are answered, "s" or "d" by the item's number."""
    words = {item_name(number): {"s": "similar", "d": "dissimilar"}[letter] for number, letter in enumerate(said)}
    while offers := reviewing.review_queue(db, id_of(db, reviewer)).offers:
        task = offers[0]
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


def test_it_is_what_the_report_says(planned):
    answer_everything(planned, dict(zip(REVIEWERS, ("similar", "dissimilar", "similar", "similar"), strict=True)))
    found = current_agreement(planned)
    told = json_values(reporting.gathered_study(planned, reporting.QUICK, actor="owner", now=NOW).report())
    agreement, consensus = told["agreement"], told["consensus"]
    assert counts(found) == (consensus["agreed"], consensus["split"], consensus["incomplete"])
    assert found.percent.value == pytest.approx(agreement["percent"]["value"])
    once = found.kappa_once
    assert [once.value, once.low, once.high] == [
        agreement["fleiss_kappa"][name] and pytest.approx(agreement["fleiss_kappa"][name])
        for name in ("value", "low", "high")
    ]


def test_repeated_looks_are_valid_and_say_what_stopping_early_costs(study):
    assigning.confirm_plan(study, PlanParameters(1, retest=0, stop_half_width=0.5), actor="carol", now=NOW)
    answer_everything(study, dict(zip(REVIEWERS, ("similar", "dissimilar", "similar", "similar"), strict=True)))
    found = current_agreement(study)
    assert found.kappa.low < found.kappa_once.low < found.kappa_once.high < found.kappa.high
    assert any(f"{found.wider:.1f} times as wide" in sentence for sentence in found.sentences)
    half = found.kappa.half_width
    assert found.sentences[-1] == (
        f"Stopping rule of the plan (kappa within ±0.5): not reached; the interval is now ±{half:.2f}."
    )
    assert verifying.verify_plan(study).problems == ()


def test_a_plan_without_a_stopping_rule_says_so(planned):
    assert current_agreement(planned).sentences[-1] == "The plan has no stopping rule, so all items are to be labelled."


def test_without_labels_all_items_are_incomplete_and_nothing_is_defined(planned):
    found = current_agreement(planned)
    assert counts(found) == (0, 0, 8)
    assert [describe_estimate(one) for one in (found.percent, found.kappa)] == [
        "undefined, because no item has two labels."
    ] * 2


def test_an_excluded_item_counts_for_nothing(pair):
    answer_by_item(pair, "ada", "sssd")
    answer_by_item(pair, "ben", "ssdd")
    browsing.exclude(pair, item_name(2), "broken", actor="carol", now=NOW)
    found = current_agreement(pair)
    assert counts(found) == (3, 0, 0)
    assert found.percent.value == 1


def test_calibration_items_count_for_nothing(study):
    parameters = PlanParameters(1, overlap=0, retest=0, calibration=3)
    assigning.confirm_plan(study, parameters, actor="carol", now=NOW)
    for name in REVIEWERS:
        answer_next(study, name, "similar")
    assert counts(current_agreement(study)) == (0, 0, 5)


def test_it_names_nobody(planned):
    answer_everything(planned, dict.fromkeys(REVIEWERS, "similar"))
    assert not [name for name in REVIEWERS if name in repr(current_agreement(planned))]
