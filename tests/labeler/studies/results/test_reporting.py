import hashlib
import json
import re
from collections import defaultdict
from itertools import combinations, groupby
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from analysis.categories import CATEGORIES
from analysis.document import read_back
from analysis.report import Report, differences
from analysis.runs.classifiers import Verdict
from labeler.studies.course import staffing
from labeler.studies.handover import exchange
from labeler.studies.labelling.label_file import all_answers
from labeler.studies.model import Kind, Label, LabelOrigin, Role, State
from labeler.studies.questions import SIMILAR
from labeler.studies.results import reporting, written_reports
from labeler.studies.store import actions, assignments, events, items, labels, open_database, people, studies, verdicts
from labeler.studies.store.assignments import NewAssignment
from labeler.studies.verdicts import computing, stored_verdicts
from tests.conftest import examples
from tests.making import (
    NOW,
    REVIEWERS,
    WHO,
    answer_everything,
    answer_next,
    copy_of,
    id_of,
    lines,
    report_of,
    report_of_files,
)

FEW_DRAWS = reporting.ReportOptions(resampling=reporting.Resampling(1, 20, 20, 19))
one_file = settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def provenance(db, options=reporting.QUICK):
    return reporting.gathered_study(db, options, actor="owner", now=NOW).provenance


def files_report(folder, label_text, verdict_text=None, options=reporting.QUICK):
    (folder / "labels.csv").write_text(label_text, encoding="utf-8")
    if verdict_text is not None:
        (folder / "verdicts.csv").write_text(verdict_text, encoding="utf-8")
    return report_of_files(
        folder / "labels.csv", None if verdict_text is None else folder / "verdicts.csv", options=options
    )


# Compute the report of any history of answers a second time in plain Python.


@st.composite
def histories(draw):
    """Answers in order: (reviewer, item, kind, answer); one counted kind per item."""
    kinds = st.sampled_from(["counted", Kind.RETEST, Kind.THIRD, Kind.CALIBRATION])
    row = st.tuples(st.integers(0, 2), st.integers(0, 4), kinds)
    counted = draw(st.lists(st.sampled_from([Kind.FRESH, Kind.OVERLAP]), min_size=5, max_size=5))
    rows = draw(st.lists(st.tuples(row, st.sampled_from(SIMILAR.answers)), max_size=40))
    called = draw(st.lists(st.none() | st.sampled_from(CATEGORIES), min_size=5, max_size=5))
    return [(who, item, counted[item] if kind == "counted" else kind, said) for (who, item, kind), said in rows], called


def record(db, history, called):
    person_ids = [people.add(db, name, [Role.REVIEWER], NOW.isoformat()) for name in REVIEWERS[:3]]
    for number, verdict in enumerate(called):
        item_id = items.add(db, f"item {number}", benchmark="b", application="org/app")
        error = None if verdict else "too short"
        verdicts.put(db, items.by_id(db, item_id), Verdict("rule", verdict, reason=error), NOW.isoformat())
    for number, (who, item, kind, said) in enumerate(history):
        place = person_ids[who], item + 1, kind
        if assignments.find(db, *place) is None:
            assignments.add(db, [NewAssignment(*place, 0, 0, f"CODE{number}")])
        task = assignments.find(db, *place)
        labels.add(db, label_of(task, f"event {number}", said))


def label_of(task, event_id, said):
    return Label(
        event_id=event_id, code=task.code, revision=task.revision, answer=said, assignment_id=task.assignment_id,
        created=NOW, origin=LabelOrigin.SCREEN,
    )  # fmt: skip


def first_labels_by_hand(history):
    """(reviewer, item, kind) -> the end of the first visit to a task that ends with a category."""
    first = {}
    for who in range(3):
        own = [(place, row) for place, row in enumerate(history) if row[0] == who]
        for task, visit in groupby(own, key=lambda entry: entry[1][:3]):
            *_, (place, row) = visit
            if row[3] in CATEGORIES:
                first.setdefault(task, place)
    return first


def by_item(history, first):
    table = {}
    for (who, item, kind), place in first.items():
        if kind in (Kind.FRESH, Kind.OVERLAP):
            table.setdefault(item, {})[REVIEWERS[who]] = str(history[place][3])
    return table


def pairs_by_hand(table):
    for a, b in combinations(REVIEWERS[:3], 2):
        both = [row for row in table.values() if a in row and b in row]
        if both:
            agree = sum(row[a] == row[b] for row in both)
            yield a, b, len(both), agree, agree / len(both)


def only_calibrated(history):
    """Return the items that are only in the calibration round."""
    kinds = defaultdict(set)
    for _, item, kind, _ in history:
        kinds[item].add(kind)
    return {item for item, of_item in kinds.items() if of_item == {Kind.CALIBRATION}}


@one_file
@given(histories())
def test_the_report_of_any_history_equals_one_computed_by_hand(masters, tmp_path, drawn):
    history, called = drawn
    with copy_of(masters["empty"], tmp_path) as db:
        record(db, history, called)
        content = report_of(db)
    first = first_labels_by_hand(history)
    table = by_item(history, first)
    pairs = [(p["a"], p["b"], p["n"], p["agree"], p["percent"]["value"]) for p in content["agreement"]["pairs"]]
    assert pairs == list(pairs_by_hand(table))
    agreed = {
        item: set(row.values()).pop() for item, row in table.items() if len(row) > 1 and len({*row.values()}) == 1
    }
    n_split = sum(len({*row.values()}) > 1 for row in table.values())
    consensus = content["consensus"]
    n_items = 5 - len(only_calibrated(history))
    assert (consensus["n_items"], consensus["agreed"], consensus["split"]) == (n_items, len(agreed), n_split)
    assert consensus["incomplete"] == n_items - len(agreed) - n_split
    assert [consensus[f"agreed_{c}"] for c in CATEGORIES] == [list(agreed.values()).count(c) for c in CATEGORIES]
    cells = [(label, called[item]) for item, label in agreed.items()]
    d, s = "dissimilar", "similar"
    assert content["classifiers"]["rule"]["against"]["counts"] == [
        [cells.count((s, s)), cells.count((s, d))], [cells.count((d, s)), cells.count((d, d))]
    ]  # fmt: skip
    assert content["agreement"]["n_labels"] == sum(map(len, table.values()))
    left_out = content["left_out"]
    current = {row[:3]: row[3] for row in history}
    assert left_out["not_sure"] == list(current.values()).count("not sure")
    later = [row for place, row in enumerate(history) if place > first.get(row[:3], len(history))]
    assert left_out["own_revisions"] == sum(row[3] in CATEGORIES for row in later)
    for kind in ("retest", "third", "calibration"):
        assert left_out.get(f"{kind}_labels", 0) == sum(task[2] == kind for task in first)


def test_what_does_not_count_is_left_out_and_counted(tmp_path):
    content = files_report(
        tmp_path,
        lines(
            "x,ada,similar,fresh,0", "y,ada,dissimilar,fresh,0", "z,ada,similar,fresh,0", "w,ada,similar,fresh,0",
            "x,ben,similar,fresh,0", "y,ben,dissimilar,fresh,0", "z,ben,dissimilar,fresh,0", "w,ben,not sure,fresh,0",
            "x,ada,dissimilar,retest,0", "y,ada,similar,calibration,0", "z,cleo,similar,third,0",
            "y,ada,similar,fresh,1", header="item,reviewer,label,kind,revision",
        ),
    )  # fmt: skip
    (pair,) = content["agreement"]["pairs"]
    assert (pair["a"], pair["b"], pair["n"], pair["agree"]) == ("ada", "ben", 3, 2)
    assert content["agreement"]["coefficients"]["percent_agreement"]["value"] == pytest.approx(2 / 3)
    assert (content["agreement"]["n_labels"], content["agreement"]["n_items_with_two_labels"]) == (7, 3)
    consensus = content["consensus"]
    assert [consensus[name] for name in ("n_items", "agreed", "split", "incomplete")] == [4, 2, 1, 1]
    assert content["left_out"] == {
        "not_sure": 1, "withdrawn_answers": 0, "own_revisions": 1, "calibration_labels": 1, "retest_labels": 1,
        "third_labels": 1,
    }  # fmt: skip


def test_an_answer_corrected_before_the_next_task_is_no_own_revision(tmp_path):
    content = files_report(tmp_path, lines("x,ada,similar", "x,ada,withdrawn", "x,ada,dissimilar", "y,ada,similar"))
    assert content["agreement"]["leniency"]["raters"][0]["dissimilar"]["value"] == 1 / 2
    assert content["left_out"]["own_revisions"] == 0


@pytest.fixture(scope="module")
def filled_master(masters, tmp_path_factory):
    """Answers of four reviewers with at least one per item, and all verdicts."""
    with copy_of(masters["planned"], tmp_path_factory.mktemp("filled")) as db:
        answer_next(db, "ada", "not sure")
        answer_everything(db, dict(zip(REVIEWERS, ("similar", "dissimilar", "similar", "dissimilar"), strict=True)))
        computing.compute_verdicts(db, actor="carol")
    return Path(db.path)


@pytest.fixture(scope="module")
def filled_files(filled_master, tmp_path_factory):
    """The files of its report."""
    with copy_of(filled_master, tmp_path_factory.mktemp("files")) as db:
        return reporting.files_of_study(db, FEW_DRAWS, actor="owner", now=NOW)


@pytest.fixture
def filled(filled_master, tmp_path):
    with copy_of(filled_master, tmp_path) as db:
        yield db


def test_the_exported_files_give_the_same_report_as_the_study(filled, filled_files, tmp_path):
    content = json.loads(filled_files["report.json"])
    for name, table in (("labels", exchange.export_labels), ("verdicts", stored_verdicts.export_table)):
        (tmp_path / f"{name}.csv").write_text(reporting.as_csv(table(filled, **WHO)), encoding="utf-8")
    (tmp_path / "report.json").write_text(filled_files["report.json"], encoding="utf-8")
    checked = written_reports.check_files(tmp_path / "labels.csv", tmp_path / "verdicts.csv", tmp_path / "report.json")
    assert checked == []
    assert content["agreement"]["n_labels"] == 20
    assert content["classifiers"]["same"]["against"]["n"] == content["consensus"]["agreed"] > 0


def test_the_keys_are_those_of_the_command_contract(filled):
    content = report_of(filled)
    assert {"study", "parameters", "plan", "agreement", "consensus", "classifiers", "hashes", "versions"} <= set(
        content
    )
    agreement = content["agreement"]
    assert {"a", "b", "n", "agree", "percent", "cohen_kappa"} <= set(agreement["pairs"][0])
    assert {"value", "low", "high", "reason"} <= set(agreement["pairs"][0]["percent"])
    assert {"value", "se", "low", "high", "band_low", "band_high", "reason"} <= set(
        agreement["coefficients"]["fleiss_kappa"]
    )
    assert set(content["classifiers"]) == {"heuristic", "heuristic-printed", "same", "spread", "kruskal"}
    same = content["classifiers"]["same"]
    assert list(same) == ["verdicts", "against", "majority_rule", "adjudicated", "people", "positive"]
    assert list(same["against"]) == [
        "n", "n_without_verdict", "categories", "counts", "accuracy", "balanced_accuracy", "mcc", "weighted_kappa",
        "by_category",
    ]  # fmt: skip
    for category in ("similar", "dissimilar"):
        assert list(same["against"]["by_category"][category]) == ["recall", "precision", "share"]
    assert set(same["majority_rule"]) == {"category", "accuracy", "difference", "mcnemar", "p_holm", "verdict"}
    assert same["positive"]["category"] == "dissimilar"
    assert list(same["positive"]["bounds"]["worst"]) == ["categories", "counts", "n_without_verdict"]
    for name in ("sensitivity", "specificity", "precision", "npv", "f1", "youden"):
        assert {"value", "low", "high", "reason"} <= set(same["positive"][name])
    assert same["positive"]["always"]["balanced_accuracy"] == {
        "value": 0.5, "se": None, "low": None, "high": None, "reason": "fixed by construction"
    }  # fmt: skip
    assert content["study"] | {"name": "Caches", "state": "open", "interim": True, "items": 8} == content["study"]
    assert (content["plan"]["seed"], content["plan"]["hash"]) == (1, studies.get(filled).plan_hash)
    assert content["parameters"]["classifiers"]["same"]["needs_nonnegative"] is True
    assert content["parameters"]["measures"]["m5"]["monotone_invariant"] is True
    assert content["parameters"]["verdicts"]["same"] == [{"cut": 0.20, "drop": 0.0, "version": 1}]


def numbers_in(value):
    if isinstance(value, dict):
        return [number for entry in value.values() for number in numbers_in(entry)]
    if isinstance(value, list):
        return [number for entry in value for number in numbers_in(entry)]
    return [value] if isinstance(value, float) else []


def no_constant(text):
    raise AssertionError(f"{text} is no JSON")


@pytest.mark.parametrize("stage", ["empty", "unplanned", "planned", "one answer", "one category", "not sure", "full"])
def test_a_report_can_be_made_at_every_stage_without_a_number_that_is_none(masters, filled_files, tmp_path, stage):
    with copy_of(masters.get(stage, masters["planned"]), tmp_path) as db:
        if stage == "one answer":
            answer_next(db, "ada", "similar")
        elif stage in ("one category", "not sure"):
            answer_everything(db, dict.fromkeys(REVIEWERS, "similar" if stage == "one category" else stage))
        files = filled_files if stage == "full" else reporting.files_of_study(db, FEW_DRAWS, actor="owner", now=NOW)
    content = json.loads(files["report.json"], parse_constant=no_constant)
    for estimate in content["agreement"]["coefficients"].values():
        assert (estimate["value"] is None) <= bool(estimate["reason"])
    assert all(number == number for number in numbers_in(content))
    assert "This is an interim report" in files["report.html"]
    assert not re.search(r"\bnan\b", files["report.html"], re.IGNORECASE)


def test_the_files_of_a_report_are_the_page_the_numbers_and_the_labels(filled, filled_files, tmp_path):
    files = filled_files
    documents = ["report.html", "report.md", "report.json", "labels.csv", "labels-wide.csv"]
    figures = ["clear-answers", "pairs-of-people", "methods-and-people", "classifiers", "pair-agreement",
               "label-strip", "measures-by-application", "roc", "precision-recall"]  # fmt: skip
    drawn = [*documents, *(f"figures/{name}.svg" for name in figures)]
    assert list(files)[: len(drawn)] == drawn
    assert {"latex/main.tex", *(f"latex/figures/{name}.{end}" for name in figures for end in ("tex", "pdf"))} < set(
        files
    )
    assert all(name.startswith("latex/") for name in list(files)[len(drawn) :])
    assert differences(json.loads(files["report.json"]), report_of(filled, FEW_DRAWS)) == []
    assert files["labels.csv"] == reporting.as_csv(all_answers(filled))
    written = reporting.write_files(files, tmp_path / "a" / "b")
    contents = [text.encode() if isinstance(text, str) else text for text in files.values()]
    assert [path.read_bytes() for path in written] == contents
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == sorted([*documents, "figures", "latex"])
    assert reporting.write_files(files, tmp_path / "a" / "b") == written  # again, in their place


def test_hashes_name_what_the_numbers_were_made_from(filled):
    before = provenance(filled).hashes

    def changed():
        return {name for name, value in provenance(filled).hashes.items() if value != before[name]}

    label_file = reporting.as_csv(all_answers(filled))  # the file labels.csv of the report
    assert before["answers"] == hashlib.sha256(label_file.encode()).hexdigest()
    task = assignments.tasks_of(filled, id_of(filled, "ada"))[0]
    labels.add(filled, label_of(task, "one more", "similar"))
    assert changed() == {"answers"}
    filled.execute("UPDATE items SET data_hash = 'other' WHERE item_id = 1")
    assert changed() == {"answers", "measurements", "verdicts"}


def test_looking_at_a_report_is_logged_with_the_state(planned):
    answer_next(planned, "ada", "similar")
    report_of(planned)
    (event,) = events.of_actions(planned, [actions.REPORT])
    assert (event.actor, event.details) == ("owner", {"state": "open", "answers": 1})


def test_a_report_is_interim_until_the_study_is_unblinded(planned):
    for state in State:
        studies.set_state(planned, state)
        assert provenance(planned).study["interim"] is (state is not State.UNBLINDED)


# Labels that were planned and never given


@pytest.mark.parametrize("leaves", [False, True])
def test_labels_that_were_never_given_count_as_missing_after_the_end(planned, leaves):
    answer_everything(planned, dict.fromkeys(REVIEWERS[:3], "similar"))
    of_dan = [row.assignment.kind for row in assignments.everything(planned) if row.assignment.reviewer == "dan"]
    if leaves:  # nobody can take over the items that everybody labels
        staffing.remove(planned, "dan", why="left", **WHO)
        answer_everything(planned, dict.fromkeys(REVIEWERS[:3], "similar"))
    assert report_of(planned)["agreement"]["if_given"] == []
    studies.set_state(planned, State.CLOSED)
    content = report_of(planned)
    not_given = content["course"]["not_given"]
    assert {row["reviewer"] for row in not_given} == {"dan"}
    assert len(not_given) == of_dan.count(Kind.OVERLAP) + (0 if leaves else of_dan.count(Kind.FRESH)) > 0
    rows = {row["category"]: row for row in content["agreement"]["if_given"]}
    assert {row["n"] for row in rows.values()} == {len(not_given)}
    assert rows["similar"]["percent"]["value"] == 1
    assert rows["dissimilar"]["percent"]["value"] < 1
    page = reporting.report.to_markdown(read_back(Report, content))
    assert f"| Percent agreement if the {len(not_given)} missing labels were similar | 100.0 %" in page


def test_the_level_of_the_options_is_the_level_of_the_history_and_of_the_numbers(planned):
    options = reporting.ReportOptions(0.8, reporting.Resampling.none())
    assert report_of(planned, options)["parameters"]["level"] == 0.8


def test_a_report_is_found_whether_the_study_is_named_by_a_relative_or_an_absolute_path(planned, monkeypatch):
    monkeypatch.chdir(planned.path.parent)
    monkeypatch.setattr(
        written_reports.background, "files_of", lambda *_args, **_options: {"report.html": b"<body></body>"}
    )
    with open_database(Path(planned.path.name)) as relative:
        written = written_reports.make_report(relative, quick=True, actor="carol", waiting=lambda _done, _whole: None)
    assert written_reports.cached_report(planned, quick=True) is written
