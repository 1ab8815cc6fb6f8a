import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from analysis.classifiers import CLASSIFIERS
from analysis.classifiers._kruskal import BY_CHANCE
from analysis.dissimilarity import TOO_SHORT
from analysis.learning._features import shape_names
from labeler.model import measurement_hash
from labeler.questions import SIMILAR
from labeler.service import background
from labeler.service.items import importing
from labeler.service.results import reporting
from labeler.service.verdicts import computing, stored_verdicts
from labeler.service.verdicts.computing import ComputationResult
from labeler.store import items, open_database, runs
from tests.making import NOW, import_all, item_name, log, make_study, report_of_files, result_file, series

CATEGORIES = SIMILAR.categories

NAMES = tuple(sorted(CLASSIFIERS))  # in the form of tables
LONG_RUNS_ONLY = [name for name in NAMES if name != "spread"]
COLUMNS = [
    "item", "benchmark", "classifier", "verdict", "score", "threshold", "m1", "m2", "m3", "m4", "m5", "clusters",
    "iterations", "parameters", "version", "error", "cosine", "wave_hedges", "kumar_hassebrook", "scaled_rmse",
    "apart_m1", "apart_m2", "apart_m3", "apart_m4", "apart_m5", "apart_cosine", "apart_wave_hedges",
    "apart_kumar_hassebrook", "apart_scaled_rmse", *(name for name, _ in shape_names()), "application",
]  # fmt: skip


def compute(db, **more):
    return computing.compute_verdicts(db, actor="carol", **more)


def shown(db):
    """Return all columns of the verdicts except the time; None if there are no verdicts."""
    rows = stored_verdicts.verdict_table(db).to_dict("records")
    return [{name: None if value is None or value != value else value for name, value in row.items()} for row in rows]


def export(db):
    return stored_verdicts.export_table(db, actor="carol", now=NOW)


def change_measurements(db, name, factor=1.0, added=0.0):
    item = items.by_name(db, name)
    changed = [run * factor + added for run in runs.of_item(db, item.item_id)]
    for number, run in enumerate(changed):
        db.execute(
            "UPDATE runs SET measurements = ? WHERE item_id = ? AND run = ?", (run.tobytes(), item.item_id, number)
        )
    db.execute("UPDATE items SET data_hash = ? WHERE item_id = ?", (measurement_hash(changed), item.item_id))


def test_the_verdicts_kept_are_those_of_the_classifiers_themselves(study):
    assert compute(study) == ComputationResult(n_items=8, n_computed=8, n_without_verdict=0)
    table = stored_verdicts.verdict_table(study)
    assert list(zip(table["item"], table["classifier"], strict=True)) == [
        (item.name, name) for item in items.all_items(study) for name in NAMES
    ]
    for row in table.itertuples():
        measured = runs.of_item(study, items.by_name(study, row.item).item_id)
        direct = CLASSIFIERS[row.classifier](measured)
        assert (row.verdict, row.score, row.threshold) == (direct.verdict, direct.score, direct.threshold)
        assert (row.means, row.clusters, row.iterations) == (direct.means, direct.clusters, direct.n_iterations)
        assert row.error is None


def test_pairs_and_merges_are_kept_with_a_verdict(study):
    compute(study)
    item = items.all_items(study)[0]
    direct = CLASSIFIERS["same"](runs.of_item(study, item.item_id))
    pairs, linkage = study.execute(
        "SELECT pairs, linkage FROM verdicts WHERE item_id = ? AND classifier = 'same'", (item.item_id,)
    ).fetchone()
    assert np.frombuffer(pairs, "<f4").reshape(4, 3) == pytest.approx(np.stack(list(direct.pairs.values())), rel=1e-6)
    assert np.frombuffer(linkage, "<f8").tolist() == direct.linkage.ravel().tolist()


def test_nothing_is_computed_twice(study):
    compute(study)
    made = study.execute("SELECT verdict_id, created_utc FROM verdicts").fetchall()
    assert computing.n_missing(study) == 0
    assert compute(study) == ComputationResult(8, 0, 0)
    assert study.execute("SELECT verdict_id, created_utc FROM verdicts").fetchall() == made


def test_what_was_computed_on_other_measurements_is_computed_again(study):
    compute(study)
    before = shown(study)
    change_measurements(study, item_name(3), factor=2, added=5)
    assert computing.n_missing(study) == 1
    assert len(shown(study)) == 7 * len(NAMES)  # a verdict on other measurements does not count
    assert compute(study).n_computed == 1
    after = shown(study)
    changed = [(row["item"], row["classifier"]) for row, old in zip(after, before, strict=True) if row != old]
    assert changed == [(item_name(3), name) for name in NAMES if name != "kruskal"]  # the ranks are the same


@pytest.mark.parametrize("change", ["version = 0", "parameters = '{}'"])
def test_what_an_older_classifier_said_is_computed_again_and_the_new_verdict_is_shown(study, change):
    compute(study)
    before = shown(study)
    study.execute(f"UPDATE verdicts SET {change}, score = 99 WHERE classifier = 'same'")
    assert computing.n_missing(study) == 8
    assert compute(study) == ComputationResult(8, 8, 0)
    assert shown(study) == before


def test_a_negative_measurement_is_an_error_of_same_alone(db):
    measured = series(1)
    measured[2][7] = -0.5
    import_all(db, result_file("negative", measured), result_file("positive", series(2)))
    assert compute(db) == ComputationResult(2, 2, 1)
    rows = {(row["item"], row["classifier"]): row for row in shown(db)}
    same = rows["negative", "same"]
    assert (same["verdict"], same["error"]) == (None, "run 2, iteration 7: -0.5 is negative")
    assert all(row["verdict"] for key, row in rows.items() if key != ("negative", "same"))


def test_runs_too_short_get_the_reason_instead_of_a_verdict(db):
    import_all(db, result_file("short", series(1, n_iterations=49)), result_file("long", series(1, n_iterations=50)))
    assert compute(db) == ComputationResult(2, 2, 4)
    errors = {(row["item"], row["classifier"]): row["error"] for row in shown(db) if row["error"]}
    assert errors == {("short", name): TOO_SHORT for name in LONG_RUNS_ONLY} | {("short", "kruskal"): BY_CHANCE}
    assert [row["verdict"] is not None for row in shown(db) if row["item"] == "short"] == [
        name not in LONG_RUNS_ONLY for name in NAMES
    ]
    assert computing.n_missing(db) == 0


def test_measurements_that_cannot_be_judged_at_all_are_an_error_of_every_classifier():
    judged = computing.judge([np.array([1.0, np.nan]), np.array([1.0, 2.0])], NAMES)
    assert [verdict.classifier for verdict in judged] == list(NAMES)
    assert {verdict.reason for verdict in judged} == {"run 0, iteration 1: nan is not a finite measurement"}
    assert {verdict.verdict for verdict in judged} == {None}


def test_an_executor_gives_the_same_verdicts(tmp_path):
    tables = []
    for name, executor in (("alone", None), ("pool", ThreadPoolExecutor(2))):
        make_study(tmp_path / f"{name}.study", n_items=40, reviewers=())
        with open_database(tmp_path / f"{name}.study") as db:
            assert compute(db, executor=executor) == ComputationResult(40, 40, 0)
            tables.append(shown(db))
        if executor:
            executor.shutdown()
    assert tables[0] == tables[1]


def test_items_without_measurements_are_not_judged(db):
    db.execute(
        """INSERT INTO items (name, benchmark, application, parameters, unit, better, n_runs, n_iterations, data_hash)
           VALUES ('x', 'x', '', '{}', 's', 'lower', 0, 0, '')"""
    )
    assert compute(db) == ComputationResult(0, 0, 0)
    assert computing.n_missing(db) == 0


def test_stopping_keeps_the_batches_that_were_finished_and_marks_the_job(study_path, monkeypatch):
    monkeypatch.setattr(computing, "MAX_BATCH", 25)
    monkeypatch.setattr(computing, "MAX_BATCH_S", 1e9)
    make_study(study_path, n_items=60, reviewers=())
    progress = []

    def stop_after_two(n_done, n_total):
        progress.append((n_done, n_total))
        if len(progress) == 2:
            raise KeyboardInterrupt("enough")

    with open_database(study_path) as db:
        with pytest.raises(KeyboardInterrupt):
            compute(db, advance=stop_after_two)
        assert progress == [(25, 60), (50, 60)]
        job = computing.latest_job(db)
        assert (job.n_done, job.n_total, job.error) == (50, 60, "KeyboardInterrupt: enough")
        assert job.finished_utc is not None
        assert len(shown(db)) == 50 * len(NAMES)
        assert log(db)[-1] == ("carol", "compute verdicts")
        assert compute(db) == ComputationResult(60, 10, 0)
        assert len(shown(db)) == 60 * len(NAMES)


def test_progress_is_said_and_kept(study):
    assert computing.latest_job(study) is None
    seen = []
    compute(study, advance=lambda *counts: seen.append(counts))
    job = computing.latest_job(study)
    assert seen == [(8, 8)]
    assert (job.n_done, job.n_total, job.pid, job.error) == (8, 8, os.getpid(), None)
    assert job.finished_utc >= job.updated_utc >= job.started_utc
    assert not background.is_running(job)


def test_the_exported_columns_are_those_of_the_command_contract(study):
    assert export(study).columns.tolist() == COLUMNS  # also without a row
    compute(study)
    table = export(study)
    assert table.columns.tolist() == COLUMNS
    assert log(study)[-1] == ("carol", "export verdicts")
    measures = table.set_index("classifier")[["m1", "m2", "m3", "m4", "m5"]]
    assert measures.loc[["heuristic", "heuristic-printed"]].notna().all().all()
    assert measures.loc[["same", "spread", "kruskal"]].isna().all().all()
    assert (table["clusters"].notna() == (table["classifier"] == "same")).all()
    assert set(table["iterations"]) == {60}
    first = table.iloc[0]
    assert (first["item"], first["benchmark"]) == (item_name(0), "bench_0#size=0")
    assert np.median(first[["m1", "m2", "m3", "m4", "m5"]].astype(float)) == first["score"]


def test_an_export_is_read_back_as_the_verdict_table_of_a_report(study, tmp_path):
    compute(study)
    path = tmp_path / "verdicts.csv"
    path.write_text(reporting.as_csv(export(study)), encoding="utf-8")
    labels = tmp_path / "labels.csv"
    labels.write_text("item,reviewer,label\n", encoding="utf-8")
    report = report_of_files(labels, path)
    counted = {
        row["classifier"]: row
        for row in stored_verdicts.verdict_counts(stored_verdicts.verdict_table(study), CATEGORIES)
    }
    for name in NAMES:
        threshold = counted[name].pop("threshold")
        assert threshold == next(iter(CLASSIFIERS[name].parameters.values()))
        assert report["classifiers"][name]["verdicts"] | {"classifier": name} == counted[name]


def test_verdicts_are_counted_by_classifier():
    table = pd.DataFrame(
        [("b", "similar", 0.3), ("a", "dissimilar", 0.2), ("a", None, None), ("b", "dissimilar", 0.4)],
        columns=["classifier", "verdict", "threshold"],
    )
    assert stored_verdicts.verdict_counts(table, CATEGORIES) == [
        {"classifier": "a", "threshold": 0.2, "dissimilar": 1, "similar": 0, "none": 1},
        {"classifier": "b", "threshold": None, "dissimilar": 1, "similar": 1, "none": 0},
    ]
    assert stored_verdicts.verdict_counts(table.iloc[:0], CATEGORIES) == []


def test_an_upload_and_a_file_are_judged_alike(db, tmp_path):
    file = result_file("bench", series(5))
    (tmp_path / "bench.json").write_bytes(file.data)
    (source,) = importing.files_below([tmp_path / "bench.json"])
    import_all(db, source)
    compute(db)
    assert {row["classifier"]: row["score"] for row in shown(db)} == {
        name: CLASSIFIERS[name](series(5)).score for name in NAMES
    }
