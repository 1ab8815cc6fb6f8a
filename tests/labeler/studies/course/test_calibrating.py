"""The calibration round: its gate, its results, and that they enter no other result."""

import json

import pytest

from analysis.statistics.intervals import Estimate, wilson
from labeler.errors import InputError, NotAllowed, NotAssigned, Refused
from labeler.studies.audit import audit
from labeler.studies.course import calibrating, coordinating, course, staffing
from labeler.studies.items import browsing
from labeler.studies.labelling import reviewing
from labeler.studies.model import CalibrationGate, Kind, PlanParameters, State
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.questions import SIMILAR
from labeler.studies.store import actions, assignments, decisions, events, labels, studies
from tests.making import (
    REVIEWERS,
    WHO,
    answer_everything,
    answer_next,
    copy_of,
    id_of,
    item_name,
    log,
    make_study,
    report_of,
    submit,
)

WHY = {"why": "because", **WHO}
SPLIT = {"ada": "similar", "ben": "similar", "cleo": "similar", "dan": "dissimilar"}
S, D = "similar", "dissimilar"


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    plan = PlanParameters(seed=3, overlap=0.25, retest=0, calibration=4)
    return make_study(tmp_path_factory.mktemp("calibrating") / "round.study", n_items=10, plan=plan)


@pytest.fixture
def round_(master, tmp_path):
    """A calibration round of four items for everybody; six items are for the study itself."""
    with copy_of(master, tmp_path) as db:
        yield db


def set_reference(db, *categories):
    """Set the reference labels of the first items of the round, in order of name."""
    names = calibrating.item_names(db)
    calibrating.set_reference(db, dict(zip(names, categories, strict=False)), **WHO)
    return names


def reference_file(folder, text):
    path = folder / "reference.csv"
    path.write_text(text, encoding="utf-8")
    return path


# --- the round


def test_the_round_is_of_items_that_everybody_labels_and_nobody_labels_again(round_):
    names = calibrating.item_names(round_)
    rows = [kept.assignment for kept in assignments.everything(round_)]
    assert len(names) == 4
    for name in REVIEWERS:
        assert sorted(one.item for one in rows if one.reviewer == name and one.kind is Kind.CALIBRATION) == names
    assert not {one.item for one in rows if one.kind is not Kind.CALIBRATION} & set(names)
    assert coordinating.get_study(round_).state is State.CALIBRATION


def test_during_the_round_its_items_alone_are_offered_and_after_it_the_others(round_):
    codes = {}
    for during in (True, False):
        tasks = assignments.tasks_of(round_, id_of(round_, "ada"), calibration=during)
        codes[during] = {task.code for task in tasks}
    assert reviewing.review_queue(round_, id_of(round_, "ada")).progress.n_assigned == 4
    task = answer_next(round_, "ada", "similar")
    answer_everything(round_, SPLIT)
    course.change_state(round_, Step.OPEN, **WHY)
    desk = reviewing.review_queue(round_, id_of(round_, "ada"))
    assert {task.code for task in desk.offers} <= codes[False]
    assert (desk.last, desk.progress.n_assigned) == (None, len(codes[False]))
    assert reviewing.own_labels(round_, id_of(round_, "ada")) == []
    revised = assignments.task_by_code(round_, id_of(round_, "ada"), task.code)
    with pytest.raises(NotAssigned, match="cannot label"):
        submit(round_, "ada", revised, "dissimilar")


# --- its results


def test_a_result_worked_by_hand(round_):
    """Four items: everybody says similar except dan, who says dissimilar; the reference has S, S, D."""
    set_reference(round_, S, S, D)
    answer_everything(round_, SPLIT)
    result = calibrating.result(round_)
    assert (result.n_items, result.n_reference, result.gate, result.not_passed) == (4, 3, None, ())
    shares = {one.reviewer: one.with_reference for one in result.reviewers}
    assert shares == {"ada": wilson(2, 3), "ben": wilson(2, 3), "cleo": wilson(2, 3), "dan": wilson(1, 3)}
    assert {(one.n_assigned, one.n_done) for one in result.reviewers} == {(4, 4)}
    # of the six pairs on each item three agree; expected agreement is (3/4)^2 + (1/4)^2 = 5/8
    assert result.percent.value == pytest.approx(1 / 2)
    assert result.kappa.value == pytest.approx((1 / 2 - 5 / 8) / (1 - 5 / 8))
    at_90 = calibrating.result(round_, level=0.9)  # the level of a report is that of all its intervals
    assert {one.with_reference for one in at_90.reviewers} == {wilson(2, 3, 0.9), wilson(1, 3, 0.9)}


def test_before_anybody_labelled_there_is_a_reason_in_place_of_every_number(round_):
    result = calibrating.result(round_)
    assert result.percent.value is None
    assert result.kappa.value is None
    assert result.percent.reason
    assert {one.with_reference.value for one in result.reviewers} == {None}
    assert [text.split(" of ")[0] for text in result.not_passed] == [f"{name} labelled 0" for name in REVIEWERS]
    assert json.loads(json.dumps(result.json_values()))["passed"] is False


def test_only_first_labels_are_compared(round_):
    names = set_reference(round_, S, S, S, S)
    task = answer_next(round_, "ada", "dissimilar")
    answer_next(round_, "ada", "similar")
    revised = assignments.task_by_code(round_, id_of(round_, "ada"), task.code)
    submit(round_, "ada", revised, "similar")
    (ada,) = [one for one in calibrating.result(round_).reviewers if one.reviewer == "ada"]
    assert (ada.n_done, ada.with_reference) == (2, wilson(1, 2))
    assert len(names) == 4


def test_who_left_is_neither_waited_for_nor_measured(round_):
    set_reference(round_, S, S, S, S)
    calibrating.set_gate(round_, CalibrationGate("reference", 1.0), **WHO)
    answer_everything(round_, SPLIT)
    staffing.remove(round_, "dan", **WHY)
    result = calibrating.result(round_)
    assert [one.reviewer for one in result.reviewers] == ["ada", "ben", "cleo"]
    assert result.not_passed == ()


def test_an_excluded_item_is_left_out_of_the_round(round_):
    set_reference(round_, S, S, S, D)
    answer_everything(round_, dict.fromkeys(REVIEWERS, "similar"))
    before = calibrating.result(round_)
    browsing.exclude(round_, calibrating.item_names(round_)[3], **WHY)
    after = calibrating.result(round_)
    assert (before.n_items, before.n_reference, after.n_items, after.n_reference) == (4, 4, 3, 3)
    assert {one.with_reference.value for one in before.reviewers} == {3 / 4}
    assert {one.with_reference.value for one in after.reviewers} == {1}
    assert {(one.n_assigned, one.n_done) for one in after.reviewers} == {(3, 3)}


# --- its gate


@pytest.mark.parametrize(
    ("gate", "missing"),
    [
        (None, ()),
        (
            CalibrationGate("reference", 0.5),
            ("agreement with the reference labels of dan is 25 %, but must be at least 50 %",),
        ),
        (CalibrationGate("reference", 0.25), ()),
        (CalibrationGate("reviewers", 0.5), ()),
        (CalibrationGate("reviewers", 0.51), ("agreement between the reviewers is 50 %, but must be at least 51 %",)),
    ],
)
def test_a_gate_passes_what_reaches_it(round_, gate, missing):
    calibrating.set_gate(round_, gate, **WHO)
    set_reference(round_, S, S, S, D)
    answer_everything(round_, SPLIT)
    assert calibrating.result(round_).not_passed == missing


def test_the_gate_is_kept_and_logged_and_can_be_taken_away_until_somebody_labelled(round_):
    calibrating.set_gate(round_, CalibrationGate("reference", 0.8), **WHO)
    assert studies.get(round_).gate == CalibrationGate("reference", 0.8)
    assert events.of_actions(round_, [actions.SET_GATE])[-1].details == {"on": "reference", "least": 0.8}
    calibrating.set_gate(round_, None, **WHO)
    assert studies.get(round_).gate is None
    assert log(round_)[-2:] == [("carol", "set gate")] * 2
    answer_next(round_, "ada", "similar")
    with pytest.raises(NotAllowed, match="round has begun"):
        calibrating.set_gate(round_, CalibrationGate("reference", 0.1), **WHO)
    assert studies.get(round_).gate is None


@pytest.mark.parametrize(
    "gate",
    [
        CalibrationGate("nothing", 0.5),
        CalibrationGate("reference", -0.1),
        CalibrationGate("reviewers", 1.1),
        CalibrationGate("", 0.5),
    ],
)
def test_a_gate_that_is_none_is_refused(round_, gate):
    with pytest.raises(InputError, match=r"required agreement.*0.*1"):
        calibrating.set_gate(round_, gate, **WHO)
    assert studies.get(round_).gate is None


@pytest.mark.parametrize("state", [State.OPEN, State.THIRD, State.CLOSED, State.UNBLINDED])
def test_after_the_round_neither_gate_nor_reference_changes(round_, state):
    studies.set_state(round_, state)
    for change in (
        lambda: calibrating.set_gate(round_, None, **WHO),
        lambda: calibrating.set_reference(round_, {item_name(1): S}, **WHO),
    ):
        with pytest.raises(NotAllowed, match="You can set the required result of the calibration round"):
            change()


# --- its items


def test_reference_labels_are_kept_replaced_and_logged_by_number_alone(round_):
    names = set_reference(round_, S, D)
    calibrating.set_reference(round_, {names[0]: D}, **WHO)
    assert decisions.reference_labels(round_) == {names[0]: D, names[1]: D}
    told = [event.details for event in events.of_actions(round_, [actions.SET_REFERENCE_LABELS])]
    assert [set(details) for details in told] == [{"items", "seal"}] * 2
    assert [details["items"] for details in told] == [2, 1]


def test_with_one_unknown_item_no_reference_label_is_kept(round_):
    before = log(round_)
    with pytest.raises(InputError, match="no item 'nowhere'"):
        calibrating.set_reference(round_, {item_name(1): S, "nowhere": D}, **WHO)
    assert (decisions.reference_labels(round_), log(round_)) == ({}, before)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,label\na,not sure\n", "line 2: 'not sure' is not a label.*similar, dissimilar"),
        ("item,label\na,similar\nb,Similar\n", r"'Similar' \(line 3\) differ only in how they are written"),
        ("item,label\na,similar\na,dissimilar\n", r"line 3: 'the reference' labels 'a' a second time"),
        ("item,opinion\na,similar\n", r"there is no column for the label"),
    ],
)
def test_a_file_that_is_no_reference_is_refused_by_file_line_and_value(tmp_path, text, message):
    path = reference_file(tmp_path, "label,note,item\nsimilar,x,a\ndissimilar,,b\nsimilar,again,a\n")
    assert calibrating.read_reference(path, SIMILAR.names) == {"a": S, "b": D}
    reference_file(tmp_path, text)
    with pytest.raises(InputError, match=message) as refused:
        calibrating.read_reference(path, SIMILAR.names)
    assert str(path) in str(refused.value)
    with pytest.raises(Refused):
        calibrating.read_reference(tmp_path / "missing.csv", SIMILAR.names)


# --- feedback to reviewers


def test_feedback_comes_after_the_round_and_compares_own_labels(round_):
    names = set_reference(round_, S, D)
    answer_everything(round_, SPLIT)
    ids = {name: id_of(round_, name) for name in REVIEWERS}
    assert reviewing.feedback(round_, ids["ada"]) is None
    course.change_state(round_, Step.OPEN, **WHY)
    by_name = {item.item_id: item.name for item in coordinating.list_items(round_)}
    for name, n_equal, with_others in (("ada", 1, 2 / 3), ("dan", 1, 0.0)):
        told = reviewing.feedback(round_, ids[name])
        assert {by_name[row.task.item_id]: row.reference for row in told.rows} == dict(
            zip(names, (S, D, None, None), strict=True)
        )
        assert sum(row.is_equal for row in told.rows) == n_equal
        assert told.with_others == pytest.approx(with_others)
        assert not any(repr(one) in repr(told) for one in (*REVIEWERS, *names))  # it names nobody and no item


def test_the_share_with_the_others_is_unknown_without_others_and_counts_no_excluded_item(round_):
    answer_next(round_, "dan", "similar")
    assert [calibrating.share_with_others(round_, name) for name in ("dan", "ben")] == [None, None]
    answer_everything(round_, SPLIT)
    labelled_alike = labels.table(round_).query("reviewer == 'dan' and label == 'similar'")["item"].iloc[0]
    browsing.exclude(round_, labelled_alike, **WHY)
    assert calibrating.share_with_others(round_, "dan") == 0


def test_a_study_without_a_round_has_an_empty_one_and_no_feedback(planned):
    result = calibrating.result(planned)
    assert (result.n_items, result.n_reference, calibrating.item_names(planned)) == (0, 0, [])
    assert result.not_passed == ()
    answer_everything(planned, SPLIT)
    assert reviewing.feedback(planned, id_of(planned, "ada")) is None


# --- not in any result


def test_labels_of_the_round_enter_no_number_but_their_own(round_):
    set_reference(round_, S, S, S, S)
    answer_everything(round_, SPLIT)
    course.change_state(round_, Step.OPEN, **WHY)
    nothing = report_of(round_)
    assert nothing["agreement"]["n_labels"] == 0
    assert nothing["agreement"]["coefficients"]["percent_agreement"]["value"] is None
    assert (nothing["study"]["items"], nothing["study"]["calibration_items"]) == (6, 4)
    assert nothing["consensus"]["n_items"] == 6
    assert nothing["left_out"]["calibration_labels"] == 16
    assert nothing["course"]["calibration"]["n_items"] == 4
    assert nothing["course"]["calibration"]["percent"]["value"] == pytest.approx(1 / 2)
    answer_everything(round_, dict.fromkeys(REVIEWERS, "similar"))
    content = report_of(round_)
    assert content["agreement"]["coefficients"]["percent_agreement"]["value"] == 1
    assert content["agreement"]["n_labels"] == sum(one.n_done for one in coordinating.status(round_).reviewers)
    assert content["consensus"]["agreed"] == 6


@pytest.mark.parametrize(
    ("n_equal", "n", "words"), [(1, 2, "0.50 (0.09 to 0.91)"), (3, 3, "1.00 (0.44 to 1.00)"), (0, 0, "")]
)
def test_a_share_in_words_has_its_interval_or_a_reason(n_equal, n, words):
    share = wilson(n_equal, n)
    assert calibrating.describe_share(share) == (words or share.reason)
    assert calibrating.describe_share(Estimate(-1.0)) == "−1.00"


def test_chosen_items_come_first_in_the_round_and_the_plan_follows_from_the_log(study):
    parameters = PlanParameters(seed=1, overlap=0, retest=0, calibration=3)
    at_random = assigning.confirm_plan(study, parameters, **WHO)
    chosen = sorted({item_name(number) for number in range(8)} - set(calibrating.item_names(study)))[:2]
    calibrating.choose_items(study, chosen, **WHO)
    assigning.confirm_plan(study, parameters, **WHO)
    assert set(chosen) < set(calibrating.item_names(study))
    assert audit.audit(study).faults == ()
    calibrating.choose_items(study, [], **WHO)
    assert assigning.confirm_plan(study, parameters, **WHO) == at_random
    assert audit.audit(study).faults == ()


def test_a_second_round_begins_with_the_items_chosen_for_it(round_):
    answer_everything(round_, dict.fromkeys(REVIEWERS, "similar"))
    waiting = sorted({item_name(number) for number in range(10)} - set(calibrating.item_names(round_)))
    for chosen in (waiting[:2], waiting[-2:]):
        calibrating.choose_items(round_, chosen, **WHO)
        assert set(chosen) <= set(calibrating._others(round_))
    calibrating.begin_second_round(round_, **WHO)
    assert set(waiting[-2:]) <= set(calibrating.item_names(round_))


@pytest.mark.parametrize(
    ("names", "reason"),
    [(["nothing"], "There is no item 'nothing'"), ([item_name(0)], "is excluded"),
     ([item_name(number) for number in range(1, 7)], "6 of 7 items are too many")],
)  # fmt: skip
def test_items_that_cannot_be_used_for_calibration_are_refused(study, names, reason):
    browsing.exclude(study, item_name(0), "broken", **WHO)
    with pytest.raises(InputError, match=reason):
        calibrating.choose_items(study, names, **WHO)
    assert assigning.chosen_for_calibration(study) == []
    all_but_two = [item_name(number) for number in range(1, 6)]
    calibrating.choose_items(study, all_but_two, **WHO)
    assert assigning.chosen_for_calibration(study) == all_but_two
