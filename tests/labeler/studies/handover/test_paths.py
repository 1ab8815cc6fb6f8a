"""No path of the coordinator's computer gets into a study, a copy or a data set, however files are given."""

import json
import shutil
from zipfile import ZipFile

import pytest

from labeler.studies.course import coordinating
from labeler.studies.handover.publishing import bundle
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.preparing import assigning
from labeler.studies.store import items, open_database
from tests.labeler.commands import run
from tests.labeler.studies.handover.test_publishing import ANSWERS, QUICK
from tests.making import NOW, PARAMETERS, WHO, answer_everything, end_study, series

SECRET = "dr-grace-hopper"  # a folder in each path


@pytest.fixture
def folder(tmp_path):
    """A folder with results in the ways in which they can be given."""
    root = tmp_path / SECRET / "runs"
    for name in ("plain", "many", "second"):
        (root / name).mkdir(parents=True)
    write(root / "plain/one.json", 1)
    write(root / "second/one.json", 2)  # the same name in another folder
    for version in ("v1", "v2"):
        for number in range(2):
            text = "goos: linux\npkg: o/p\n" + f"BenchmarkJoined 1 {number + 3}{len(version)} ns/op\n" * 8
            (root / f"many/{version}-{number}.txt").write_text(text)
    with ZipFile(root / "packed.zip", "w") as archive:
        archive.writestr(f"{SECRET}/inner/three.json", json.dumps(series(3)))
    (root / "bad.json").write_text("[[1, 2], []]")
    (root / "labels.csv").write_text("item,reviewer,label\none,zoe,similar\n")
    (root / "verdicts.csv").write_text("item,verdict\none,similar\n")
    return root


def write(path, seed):
    path.write_text(json.dumps(series(seed)))


def contains(path):
    """Return the files at a path that contain the name of the folder."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    assert files
    return [file.name for file in files if SECRET.encode() in file.read_bytes()]


def test_paths_never_enter_a_study_its_copies_or_a_data_set(folder, tmp_path):
    study = tmp_path / "s.study"
    coordinating.create_study(
        study, name="Paths", question="Are these runs alike?", coordinator="carol", plan_secret="", now=NOW
    )
    run("import", "--study", study, folder / "plain/one.json")
    run("import", "--study", study, folder / "second/one.json", "--as-new")
    run("import", "--study", study, folder / "many", "--from-name", "{version}-{run}.txt")
    run("import", "--study", study, folder / "packed.zip")
    run("import", "--study", study, folder / "bad.json", code=1)
    with open_database(study) as db:
        for name in ("ada", "ben"):
            identity.add_person(db, name, [Role.REVIEWER], **WHO)
        assigning.confirm_plan(db, PARAMETERS, **WHO)
        names = [name for (name,) in db.execute("SELECT name FROM files ORDER BY file_id")]
        assert names[0] == "one.json"
        assert names[1].startswith("one.json (")
        assert names[-1] == "three.json"
        assert len([item for item in items.all_items(db) if item.name.endswith((" @ v1", " @ v2"))]) == 2
        answer_everything(db, {"ada": "similar", "ben": "dissimilar"})
    run("labels", "--study", study, "--import", folder / "labels.csv")
    run("verdicts", "--study", study, "--import", folder / "verdicts.csv", "--classifier", "mine")
    run("backup", "--study", study, "--out", folder / "b.study")
    run("anonymise", "--study", study, "--out", tmp_path / "copy.study")
    with open_database(study) as db:
        end_study(db)
        options = bundle.PublishOptions(unlicensed=True, html=True, report=QUICK)
        bundle.publish(db, tmp_path / "data", ANSWERS, options, actor="carol", now=NOW)
        db.execute("VACUUM")
    assert contains(study) == contains(tmp_path / "copy.study") == contains(tmp_path / "data") == []
    shutil.rmtree(folder)
