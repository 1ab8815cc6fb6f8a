"""Each command that takes labels from a file reads the same labels, whatever the layout, and says what is missing."""

import json

import pytest

from tests.labeler.commands import run
from tests.making import make_study

# Krippendorff's example: four people, missing labels; his alpha is .743 (Computing Krippendorff's Alpha-Reliability)
ROWS = ["1 1 NA 1", "2 2 3 2", "3 3 3 3", "3 3 3 3", "2 2 2 2", "1 2 3 4", "4 4 4 4", "1 1 2 1", "2 2 2 2", "NA 5 5 5",
        "NA NA 1 1", "NA 3 NA NA"]  # fmt: skip
ALPHA = 0.743
PEOPLE = ("A", "B", "C", "D")
CELLS = [(f"u{at}", person, text) for at, row in enumerate(ROWS, start=1)
         for person, text in zip(PEOPLE, row.split(), strict=True)]  # fmt: skip
FILES = {
    "long.csv": "item,reviewer,label\n" + "".join(f"{','.join(cells)}\n" for cells in CELLS),
    "nan.csv": "item;rater;rating\n" + "".join(f"{';'.join(cells)}\n" for cells in CELLS).replace("NA", "nan"),
    "wide.csv": "Units,A,B,C,D\n" + "".join(f"u{at},{row.replace(' ', ',')}\n" for at, row in enumerate(ROWS, 1)),
    "irr.csv": "A,B,C,D\n" + "".join(f"{row.replace(' ', ',').replace('NA', '')}\n" for row in ROWS),
    "rows.json": json.dumps([dict(zip(("item", "coder", "value"), cells, strict=True)) for cells in CELLS]),
}


@pytest.mark.parametrize("name", FILES)
def test_a_missing_label_is_missing_in_the_gate_of_every_layout(tmp_path, name):
    path = tmp_path / name
    path.write_text(FILES[name], encoding="utf-8")
    gate = run("agreement", "--labels", path, "--fail-under", "alpha:.3", "--json", code=None)
    assert json.loads(gate.stdout)["estimate"]["value"] == pytest.approx(ALPHA, abs=5e-4)
    assert f"{name}: 7 of 48 labels are missing" in gate.stderr


def test_a_missing_label_is_missing_in_the_report(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(FILES[path.name], encoding="utf-8")
    written = run("report", "--labels", path, "--out", tmp_path / "out", "--quick")
    assert "wide.csv: 7 of 48 labels are missing" in written.stderr
    content = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert content["agreement"]["coefficients"]["krippendorff_alpha"]["value"] == pytest.approx(ALPHA, abs=5e-4)
    assert len(content["categories"]) == 5
    assert content["notes"][-1].startswith("wide.csv: 7 of 48 labels are missing")  # without the folder
    run("report", "--labels", path, "--verify", tmp_path / "out" / "report.json")


def test_a_study_takes_the_same_files_and_what_it_wrote_for_r(tmp_path):
    study, labels = tmp_path / "a.study", tmp_path / "labels.csv"
    make_study(study, n_items=0, reviewers=())
    labels.write_text("item,ann,bob\nx,Similar,NA\ny,Dissimilar,Similar\n", encoding="utf-8")
    done = run("labels", "--study", study, "--import", labels)
    for words in ("1 of 4 labels is missing: NA (1)", "labels are read in one spelling", "3 labels imported"):
        assert words in done.stderr
    run("labels", "--study", study, "--out", tmp_path / "r.csv", "--layout", "irrcac")
    assert "0 labels imported" in run("labels", "--study", study, "--import", tmp_path / "r.csv").stderr
    labels.write_text("item,ann\nz,similar\nw,Similar\n", encoding="utf-8")
    assert "--join-spellings" in run("labels", "--study", study, "--import", labels, code=2).stderr
    joined = run("labels", "--study", study, "--import", labels, "--join-spellings")
    assert "2 labels imported" in joined.stderr


@pytest.mark.parametrize("gate", [(), ("--fail-under", "alpha:.3")])
def test_a_mistake_beside_similar_and_dissimilar_is_refused_with_its_line(tmp_path, gate):
    labels = tmp_path / "labels.csv"
    labels.write_text("item,ann,bob\nx,similar,dissimilar\ny,sim,similar\n", encoding="utf-8")
    said = run("agreement", "--labels", labels, *gate, code=2).stderr
    assert "line 3: label 'sim' is not one of: similar, dissimilar, not sure, withdrawn. Correct it" in said


def test_labels_without_times_have_no_order(tmp_path):
    task = {"id": 1, "annotations": [
        {"completed_by": person, "result": [{"type": "choices", "value": {"choices": [text]}}]}
        for person, text in ((1, "yes"), (2, "no"))
    ]}  # fmt: skip
    labels = tmp_path / "labels.json"
    labels.write_text(json.dumps([task | {"id": at} for at in range(16)]), encoding="utf-8")
    assert "in the course of the study" not in run("agreement", "--labels", labels).stderr


@pytest.mark.parametrize(("n", "code"), [(12, 0), (62, 2)])
def test_a_report_of_many_categories_shows_all_of_them_or_says_how_many_are_too_many(tmp_path, n, code):
    labels = tmp_path / "labels.csv"
    rows = [f"x{at},A,c{at}\nx{at},B,c{(at + 1) % n}\n" for at in range(n)]
    labels.write_text(f"item,reviewer,label\n{''.join(rows)}", encoding="utf-8")
    said = run("report", "--labels", labels, "--out", tmp_path / "out", "--quick", code=code).stderr
    if code:
        assert "There are 62 different labels, such as 'c0'. A report needs a closed set of at most 61" in said
    else:
        page = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
        assert "| x10 | c10 | c11 |" in page
