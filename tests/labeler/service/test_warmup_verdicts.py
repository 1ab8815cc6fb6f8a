"""The rules for warm-up judge the items of a study about single runs, beside the people."""

import numpy as np
import pytest

from analysis.benchmark import Run
from analysis.classifiers import WARMUP_CATEGORIES, WARMUP_RULES, explain
from labeler.screen.kinds import QUESTIONS
from labeler.service.results import reporting
from labeler.service.study import coordinating
from labeler.service.verdicts import computing, stored_verdicts
from labeler.store import open_database
from tests.making import NOW, import_all, result_file

WHO = {"actor": "carol", "now": NOW}
SHAPES = {"flat": [(2000, 1.0)], "warm-up": [(500, 1.3), (1500, 1.0)], "slowdown": [(500, 0.7), (1500, 1.0)],
          "no steady state": [(1800, 1.3), (200, 1.0)]}  # fmt: skip


def series(shape, seed=1, factor=1.0):
    rng = np.random.default_rng(seed)
    return factor * np.concatenate([rng.normal(level, 0.005, n) for n, level in SHAPES[shape]])


@pytest.mark.parametrize("rule", WARMUP_RULES)
@pytest.mark.parametrize("shape", SHAPES)
def test_each_rule_names_each_shape(rule, shape):
    verdict = WARMUP_RULES[rule](series(shape))
    assert verdict.verdict == shape
    assert verdict.score == (
        None if shape == "no steady state" else pytest.approx(0 if shape == "flat" else 500, abs=3)
    )
    (sentence,) = explain(verdict)
    words = {"flat": "from the start", "no steady state": "never becomes steady"}
    assert words.get(shape, "is steady after") in sentence


def test_a_rate_that_rises_warms_up():
    run = Run(series("slowdown", factor=1e6), "ops/s", "higher")
    assert WARMUP_RULES["warmup-quick"](run).verdict == "warm-up"


def test_a_study_about_single_runs_has_the_verdicts_of_these_rules_only(tmp_path):
    path = tmp_path / "run.study"
    coordinating.create_study(
        path, name="Runs", question=QUESTIONS["warmed-up"], coordinator="carol", plan_secret="", now=NOW
    )
    with open_database(path) as db:
        files = [result_file(f"app#{shape.replace(' ', '-')}", [series(shape).tolist()]) for shape in SHAPES]
        import_all(db, *files, result_file("app#short", [series("flat")[:30].tolist()]))
        computed = computing.compute_verdicts(db, actor="carol")
        assert (computed.n_items, computed.n_without_verdict) == (5, 3)
        table = stored_verdicts.brief_table(db)
        assert set(table["classifier"]) == set(WARMUP_RULES)
        found = table[table["classifier"] == "warmup-quick"].set_index("item")
        assert [found.loc[f"app#{shape.replace(' ', '-')}", "verdict"] for shape in SHAPES] == list(SHAPES)
        assert found.loc["app#short", "error"].startswith("too short to find the end of warm-up (30 iterations")
        gathered = reporting.gathered_study(db, reporting.QUICK, **WHO)
        assert set(gathered.provenance.parameters["classifiers"]) == set(WARMUP_RULES)
    assert set(QUESTIONS["warmed-up"].names) == set(WARMUP_CATEGORIES)
