"""The names that `import analysis` provides, and the time it takes."""

import ast
import inspect
import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

import analysis
from analysis.document import json_values
from analysis.raters.agreement import TwoByTwo, leniency, order_test, pair_agreements
from analysis.raters.evaluation import Confusion, roc
from analysis.statistics.intervals import Estimate, wilson
from analysis.statistics.results import to_frame

ROOT = Path(__file__).parent.parent.parent
LABELS = pd.DataFrame({
    "item": [1, 2, 3, 4] * 3,
    "rater": ["ada"] * 4 + ["ben"] * 4 + ["cleo"] * 4,
    "category": ["similar", "similar", "dissimilar", "dissimilar", "similar", "dissimilar"] * 2,
    "position": [0, 1, 2, 3] * 3,
})  # fmt: skip


if TYPE_CHECKING:  # wrong uses: mypy, which `make test` runs, reports each comment whose error it does not find
    number: int = analysis.fleiss_kappa([[2, 0]])  # type: ignore[assignment]
    analysis.fleis_kappa([[2, 0]])  # type: ignore[attr-defined]
    analysis.fleiss_kappa([[2, 0]], leval=3)  # type: ignore[call-arg]
    analysis.holm("nonsense")  # type: ignore[arg-type]
    _ = analysis.wilson(1, 2).limits  # type: ignore[attr-defined]


def modules_after(statement):
    code = f"import sys, json; {statement}; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout))


def test_import_of_the_package_alone_loads_no_other_library():
    assert not modules_after("import analysis; dir(analysis)") & {"numpy", "scipy", "pandas", "statsmodels", "altair"}


def test_a_coefficient_is_computed_without_the_slow_libraries():
    modules = modules_after("import analysis; analysis.fleiss_kappa([[2, 0], [1, 1], [0, 2]])")
    assert "pandas" in modules
    assert not modules & {"statsmodels", "scipy.stats", "altair", "analysis.raters.consensus", "analysis.report"}


@pytest.mark.parametrize("name", analysis.__all__)
def test_every_public_name_is_there_and_has_an_example(name):
    assert name in dir(analysis)
    thing = getattr(analysis, name)
    assert isinstance(thing, dict) or ">>> " in inspect.getdoc(thing)


def test_the_type_checker_the_loader_and_the_reference_have_the_same_names():
    tree = ast.parse(Path(analysis.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    typed = {alias.name: node.module for node in imports for alias in node.names if alias.asname == alias.name}
    assert typed == {name: f"analysis.{module}" for name, module in analysis._PLACES.items()}
    assert sorted(typed) == sorted(analysis.__all__)
    reference = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^::: analysis\.[\w.]+\.(\w+)$", reference, re.MULTILINE)) == sorted(typed)


def test_an_unknown_name_is_an_attribute_error_and_modules_can_still_be_imported():
    with pytest.raises(AttributeError, match="no attribute 'fleis_kappa'"):
        _ = analysis.fleis_kappa
    from analysis.raters import planning

    assert planning.items_for_kappa is analysis.items_for_kappa


def test_estimates_and_results_print_in_one_line_however_much_they_hold():
    assert repr(wilson(81, 263)) == "Estimate(0.308, 0.2553 to 0.3662)"
    assert repr(Estimate(None, reason="no items")) == "Estimate(undefined: no items)"
    assert repr(Estimate(1.0, reason="one item")) == "Estimate(1: one item)"
    rng = np.random.default_rng(1)
    curve = roc(["dissimilar", "similar"] * 200, rng.random(400))
    assert repr(curve).startswith("Roc(threshold=<")
    for result in (curve, leniency(LABELS), order_test(LABELS), pair_agreements(LABELS)[0]):
        assert "\n" not in repr(result)
        assert len(repr(result)) < 400
    confusion = Confusion(("a", "b"), ((1, 2), (3, 4)))
    assert repr(confusion) == "Confusion(categories=('a', 'b'), counts=((1, 2), (3, 4)), n_without_verdict=0)"
    assert repr(TwoByTwo(1, 2, 3, 4)) == "TwoByTwo(a=1, b=2, c=3, d=4)"


def test_results_are_tables_with_a_row_for_each_result_or_point():
    table = to_frame(pair_agreements(LABELS))
    assert table[["a", "b"]].values.tolist() == [["ada", "ben"], ["ada", "cleo"], ["ben", "cleo"]]
    assert {"percent", "percent_low", "percent_high", "cohen_kappa", "cohen_kappa_reason"} <= set(table.columns)
    assert table["percent"].tolist() == [pair.percent.value for pair in pair_agreements(LABELS)]
    assert to_frame([]).empty
    curve = roc(["dissimilar", "similar", "dissimilar"], [0.8, 0.2, 0.2])
    assert curve.to_frame()["sensitivity"].tolist() == list(curve.sensitivity)
    assert leniency(LABELS).to_frame()["rater"].tolist() == ["ada", "ben", "cleo"]
    assert len(order_test(LABELS).to_frame()) == len(order_test(LABELS).effects)
    row = Estimate(None, reason="no items").to_frame().iloc[0]
    assert pd.isna(row["value"])
    assert row["reason"] == "no items"
    assert Estimate(0.5).to_frame()["reason"].tolist() == [None]


def test_what_json_says_of_a_result_are_its_fields_only():
    pair = pair_agreements(LABELS)[0]
    assert (
        list(json_values(pair))
        == [field.name for field in fields(pair)]
        == ["a", "b", "n", "agree", "percent", "cohen_kappa"]
    )
    assert list(json_values(pair)["percent"]) == ["value", "se", "low", "high", "reason"]
