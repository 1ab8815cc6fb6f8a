import hashlib
import html
import io
import json
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from dataclasses import replace
from datetime import date

import mlcroissant
import pandas as pd
import pytest
from hypothesis import example, given, strategies as st

from analysis import fleiss_kappa
from analysis.report import Resampling
from labeler.errors import InputError, NotAllowed
from labeler.studies.course import course
from labeler.studies.handover import exchange
from labeler.studies.handover.publishing import bundle, metadata
from labeler.studies.handover.publishing.publish_file import BLANK, Author, PublishFile, Venue, to_toml
from labeler.studies.handover.publishing.tables import folds_by_application
from labeler.studies.items import browsing, importing
from labeler.studies.labelling import label_file
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.results import splits, written_reports
from labeler.studies.results.reporting import ReportOptions
from labeler.studies.store import actions, copies, events, items, open_database, studies
from tests.conftest import some_slow
from tests.labeler.studies.handover.test_anonymising import BEN, CAROL, DAN, MAIL, NAMES, OLD_MAIL, named_study
from tests.making import NOW, answer_everything, copy_of, end_study, import_all, new_study

__all__ = ["named_study"]  # a fixture
# mlcroissant uses functions that rdflib and pandas will remove
OLD_CALLS = pytest.mark.filterwarnings("ignore::DeprecationWarning")
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="@")).map(str.strip)
QUICK = ReportOptions(resampling=Resampling.none())
OPTIONS = bundle.PublishOptions(html=True, report=QUICK)
ODD = ("a\x9d52;c;eA==\x9c", "\u202eb\x1b[2J?")  # control a terminal
ANSWERS = PublishFile(
    title="Labels of caches",
    description="What reviewers said of runs.",
    version="1.0.0",
    date="2026-11-22",
    licence="CC-BY-4.0",
    keywords=("benchmarking",),
    authors=(
        Author("Grace", "Hopper", "0000-0002-1825-0097", "Navy"),
        Author("Alan Mathison", "Turing", "0000-0002-1694-233X"),
    ),
    sources={"example/app0": "MIT", "example/app1": "Apache-2.0"},
)


@pytest.fixture(scope="session")
def finished_study(named_study, tmp_path_factory):
    """The study with unusual names, one item excluded, one split item decided, unblinded."""
    path = tmp_path_factory.mktemp("finished") / "finished.study"
    shutil.copy(named_study, path)
    with open_database(path) as db:
        names = [item.name for item in items.all_items(db)]
        browsing.exclude(db, names[0], why=f"{DAN} saw it before", actor=CAROL, now=NOW)
        course.change_state(db, Step.CLOSE, why=f"{BEN} is done", actor=CAROL, now=NOW)
        split = splits.split_items(db)[0]
        splits.adjudicate(db, split.item.name, "similar", why=f"{BEN} convinced us", actor=CAROL, now=NOW)
        course.change_state(db, Step.UNBLIND, why=f"as {CAROL} says", actor=CAROL, now=NOW)
    return path


@pytest.fixture
def finished(finished_study, tmp_path):
    with copy_of(finished_study, tmp_path) as db:
        yield db


@pytest.fixture(scope="session")
def published(finished_study, tmp_path_factory):
    """The folder of a published study, read-only."""
    folder = tmp_path_factory.mktemp("published")
    shutil.copy(finished_study, folder / "finished.study")
    (folder / ".out.partial").mkdir()
    (folder / ".out.partial/old.md").write_text("what a publication left that was killed")
    with open_database(folder / "finished.study") as db:
        return publish(db, folder / "out").folder


@pytest.fixture(scope="module")
def otherwise(finished_study, tmp_path_factory):
    """The same study with odd texts, published with another choice of everything by one of its reviewers."""
    folder = tmp_path_factory.mktemp("others")
    told = replace(
        ANSWERS, title=ODD[0], description=ODD[1], authors=(Author("Ada", "Quillfeather"),), uses=f"{DAN} of things",
        payment="They were paid in cake.", plan_seed=True, times="none", sources={},
        measurements_url="https://example.org/runs",
    )  # fmt: skip
    with copy_of(finished_study, folder) as db:
        with db.atomic(), copies.rewritable(db):
            db.execute("UPDATE labels SET comment = '{a step}' WHERE comment = 'plain'")
            db.execute("UPDATE studies SET name = ?, question = ?", ODD)
        table = comments_of(db)
        table["publish"] = ["yes" if comment == "{a step}" else "no" for comment in table["comment"]]
        table.to_csv(folder / "comments.csv", index=False)
        options = replace(OPTIONS, measurements=False, unlicensed=True, keep_benchmarks=False)
        return publish(db, folder / "out", told, replace(options, comments=folder / "comments.csv"))


@pytest.fixture(scope="module")
def with_other_options(otherwise):
    """Its folder; read-only."""
    return otherwise.folder


def publish(db, out, answers=ANSWERS, options=OPTIONS):
    return bundle.publish(db, out, answers, options, actor=CAROL, now=NOW)


def comments_of(db):
    """Return the table of comments that somebody has to read."""
    return pd.read_csv(io.StringIO(bundle.comments_to_read(db)[0]), dtype=str, keep_default_na=False)


def differences_found(folder):
    """Check the report of a data set against its own tables."""
    tables = (folder / "data/labels.csv", folder / "report/verdicts.csv")
    return written_reports.check_files(*tables, folder / "report/report.json")


def texts_of(folder):
    """Yield all texts of a data set by path: files, cells of Parquet files, and the content of the zip file."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet":
            yield path, pd.read_parquet(path).to_csv()
            yield path, path.read_bytes().decode("latin-1")
        elif path.is_file():
            yield path, path.read_text(encoding="utf-8")


# Content


def test_every_file_of_the_description_is_there(published):
    there = {path.relative_to(published).as_posix() for path in published.rglob("*") if path.is_file()}
    assert there >= {
        "README.md", "data/labels.csv", "data/labels.parquet", "data/items.parquet", "data/measurements.parquet",
        "codebook.md", "codebook.json", "datasheet.md", "croissant.json", "CITATION.cff",
        "report/report.html", "report/report.json", "report/plan.csv",
        "report/plan.json", "report/log.csv", "report/verdicts.csv",
    }  # fmt: skip
    assert not there & {"ro-crate-metadata.json", ".zenodo.json", "old.md"}
    with zipfile.ZipFile(published.with_name("out.zip")) as archive:
        assert set(archive.namelist()) == there
        for name in there:
            assert archive.read(name) == (published / name).read_bytes()


def test_the_pages_ask_nobody_and_only_practice_has_scripts(published):
    pages = {path.stem: path.read_text() for path in (published / "html").iterdir()}
    assert set(pages) == {"index", "report", "items", "practice"}
    for name, text in pages.items():
        assert "default-src 'none'" in text
        assert not re.search(r"\ssrc=|<link|url\((?!#)|@import", text)
        assert ("<script" in text) is (name == "practice")
    items = pd.read_parquet(published / "data/items.parquet")
    labels = pd.read_csv(published / "data/labels.csv")
    articles = re.findall(r"<article.*?</article>", pages["items"], flags=re.DOTALL)
    assert len(articles) == len(items)
    for article, row in zip(articles, items.sort_values(["application", "item"]).itertuples(), strict=True):
        assert html.escape(row.item) in article and "<svg" in article
        for label in labels[(labels["item"] == row.item) & (labels["counts"] == 1)].itertuples():
            assert f"{label.reviewer} {label.label}" in article


def test_practice_has_the_labels_of_people_and_no_pictures_without_measurements(published, with_other_options):
    practice = (published / "html/practice.html").read_text()
    data = json.loads(re.search(r'id="round">(.*?)</script>', practice)[1])
    counted = pd.read_parquet(published / "data/items.parquet").query("role == 'counted'").set_index("item")
    assert len(data["items"]) == (counted["n_similar"] + counted["n_dissimilar"] >= 2).sum()  # fewer than 20
    for item in data["items"]:
        name = re.search(r"This is (.*)\.$", item["explains"]["similar"])[1]
        assert item["labels"] == {kind: counted.loc[name, f"n_{kind}"] for kind in ("similar", "dissimilar")}
    assert not (with_other_options / "html/practice.html").exists()
    assert "<svg" not in (with_other_options / "html/items.html").read_text()


def test_labels_as_csv_and_as_parquet_are_the_same_and_those_that_count_give_the_kappa_of_the_report(published):
    labels = pd.read_csv(published / "data/labels.csv")
    typed = pd.read_parquet(published / "data/labels.parquet")
    pd.testing.assert_frame_equal(labels, typed.astype(labels.dtypes.to_dict()), check_dtype=False)
    counted = labels[labels["counts"] == 1].rename(columns={"reviewer": "rater", "label": "category"})
    reported = json.loads((published / "report/report.json").read_text())
    assert len(counted) == reported["agreement"]["n_labels"] > 0
    assert fleiss_kappa(counted).value == pytest.approx(
        reported["agreement"]["coefficients"]["fleiss_kappa"]["value"], abs=1e-12
    )


def test_items_say_what_became_of_each(finished_study, published):
    table = pd.read_parquet(published / "data/items.parquet").set_index("item")
    with open_database(finished_study) as db:
        known = {item.name: item for item in items.all_items(db)}
    assert set(table.index) == set(known)
    assert table["data_sha256"].to_dict() == {name: item.data_hash for name, item in known.items()}
    assert table["role"].value_counts().to_dict() == {"counted": 7, "excluded": 1}
    assert table.loc[table["role"] == "excluded", "excluded_why"].item() in {f"R{n} saw it before" for n in range(1, 5)}
    assert table["adjudicated"].dropna().tolist() == ["similar"]
    assert set(table["source_licence"]) == {"MIT", "Apache-2.0"}
    assert table.groupby("application")["fold_by_application"].nunique().tolist() == [1, 1]
    for classifier in ("heuristic", "same", "spread", "kruskal"):
        assert {f"verdict_{classifier}", f"score_{classifier}", f"parameters_{classifier}"} <= set(table.columns)
    assert table[["m1", "m2", "m3", "m4", "m5"]].notna().all(axis=None)


def test_the_measurements_make_the_same_items_in_a_new_study(published, tmp_path):
    with new_study(tmp_path / "new.study", n_items=0, reviewers=()) as db:
        import_all(db, result_file_of(published / "data/measurements.parquet"))
        again = {item.name: item.data_hash for item in items.all_items(db)}
    table = pd.read_parquet(published / "data/items.parquet")
    assert sorted(again.values()) == sorted(table["data_sha256"])


def result_file_of(path):
    return importing.upload(path.name, path.read_bytes())


def test_every_column_of_every_table_is_in_the_codebook(published):
    book = {table["table"]: table for table in json.loads((published / "codebook.json").read_text())["tables"]}
    page = (published / "codebook.md").read_text(encoding="utf-8")
    for name in ("labels", "items", "measurements"):
        frame = pd.read_parquet(published / f"data/{name}.parquet")
        assert [column["name"] for column in book[name]["columns"]] == frame.columns.tolist()
        for column in book[name]["columns"]:
            assert column["meaning"] and column["missing"] and f"`{column['name']}`" in page
            if column["missing"] == "never missing":
                assert frame[column["name"]].notna().all(), column["name"]
            if column["values"]:
                found = frame[column["name"]].dropna()
                found = found.astype(int) if column["type"] == "boolean" else found
                assert set(map(str, found)) <= set(column["values"]), column["name"]


def test_the_report_is_checked_from_the_data_set_alone(published):
    assert differences_found(published) == []


def test_the_pandas_example_in_the_readme_loads_the_labels_that_the_report_counts(published, monkeypatch):
    text = (published / "README.md").read_text(encoding="utf-8")
    names = {}
    monkeypatch.chdir(published)
    exec(text.partition("```python\n")[2].partition("```")[0], names)
    reported = json.loads((published / "report/report.json").read_text())["agreement"]
    assert len(names["counted"]) == reported["n_labels"] > 0
    assert len(names["items"]) == 8


# Formats of other tools


@OLD_CALLS
def test_mlcroissant_validates_the_description_and_reads_every_record(published):
    described = mlcroissant.Dataset(jsonld=published / "croissant.json")
    assert not described.metadata.ctx.issues.errors
    assert not described.metadata.ctx.issues.warnings
    n_records = {}
    for record_set in described.metadata.record_sets:
        frame = pd.read_parquet(published / f"data/{record_set.uuid}.parquet")
        records = list(described.records(record_set.uuid))
        n_records[record_set.uuid] = len(records)
        assert len(records) == len(frame)
        first = {name.partition("/")[2]: value for name, value in records[0].items()}
        assert list(first) == frame.columns.tolist()
        key = frame.columns[0]
        assert [record[f"{record_set.uuid}/{key}"].decode() for record in records] == frame[key].tolist()
    assert n_records == {"labels": n_records["labels"], "items": 8, "measurements": 8 * 3 * 60}
    content = json.loads((published / "croissant.json").read_text())
    assert content["conformsTo"] == ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
    for name in (
        "dataAnnotationProtocol", "dataAnnotationPlatform", "dataAnnotationAnalysis", "annotationsPerItem",
        "annotatorDemographics", "machineAnnotationTools", "dataCollection", "dataCollectionType",
        "dataCollectionTimeframe", "dataPreprocessingProtocol", "dataBiases", "dataLimitations", "dataUseCases",
        "personalSensitiveInformation", "dataReleaseMaintenancePlan",
    ):  # fmt: skip
        assert content[f"rai:{name}"], name
    for file in content["distribution"]:
        assert file["sha256"] == hashlib.sha256((published / file["contentUrl"]).read_bytes()).hexdigest()


def faults_of_citation(*files):
    """Return the errors that the schema of CITATION.cff 1.2.0 (from check-jsonschema) finds."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.citation-file-format"]
    done = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_the_citation_follows_its_schema_also_for_awkward_titles(published, tmp_path):
    files = [published / "CITATION.cff"]
    for number, title in enumerate(['A "quoted": title # no comment', "Müller’s – data", "- list", "{a: b}"]):
        told = replace(ANSWERS, title=title, doi="10.5281/zenodo.1", url="https://example.org/x?y=1")
        text = metadata.citation_cff(told)
        (line,) = [line for line in text.splitlines() if line.startswith("title: ")]
        assert json.loads(line.removeprefix("title: ")) == title
        files.append(tmp_path / f"{number}.cff")
        files[-1].write_text(text, encoding="utf-8")
    assert faults_of_citation(*files) == ""


def test_the_datasheet_marks_what_only_people_know(published, with_other_options):
    assert "payment in publish.toml" in (published / "datasheet.md").read_text()
    sheet = (with_other_options / "datasheet.md").read_text()
    assert "They were paid in cake." in sheet and "payment in publish.toml" not in sheet
    assert BLANK in sheet


# No personal names


def test_nothing_names_a_person_a_host_a_path_or_an_address(published, finished_study, tmp_path):
    (tmp_path / "a.md").write_text(f"by {MAIL}", encoding="utf-8")
    assert any(MAIL in text for _, text in texts_of(tmp_path))  # the search would find a name
    words = [*NAMES, CAROL, MAIL, OLD_MAIL, "Quillfeather", "Zacharias", "Wintergreen", socket.gethostname()]
    words += [str(finished_study), str(published), str(finished_study.parent)]
    with open_database(finished_study) as db:
        words += [row[0] for row in db.execute("SELECT event_id FROM labels UNION SELECT code FROM assignments")]
        words.append(db.execute("SELECT picture_secret FROM studies").fetchone()[0])
    for path, text in texts_of(published):
        folded = text.casefold()
        there = [word for word in words if word.casefold() in folded]
        found = [word for word in there if re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", folded)]
        assert not found, (path, found)
        if path.suffix != ".parquet":
            assert not re.search(r"[\w.]@[\w-]+\.[a-z]{2,}", folded), path
            assert not re.search(r"(?<![\w./:])/(home|root|tmp|work|var)/", folded), path


def test_odd_texts_are_harmless_and_authors_may_be_reviewers(otherwise):
    documents = [path for path in otherwise.folder.rglob("*") if path.suffix in (".md", ".json", ".cff", ".html")]
    assert [path.name for path in documents if re.search("[\x1b\x9c\x9d\u202e]", path.read_text("utf-8"))] == []
    reviewer = f"publish.toml: uses contains {DAN!r}, which is also the name of a person in the study."
    assert reviewer in otherwise.remarks
    assert "Quillfeather" in (otherwise.folder / "CITATION.cff").read_text()


def test_comments_are_left_out_unless_somebody_read_and_released_them(
    published, with_other_options, finished, tmp_path
):
    assert "comment" not in pd.read_csv(published / "data/labels.csv")
    assert pd.read_csv(with_other_options / "data/labels.csv")["comment"].dropna().tolist() == ["{a step}"]
    table = comments_of(finished)
    assert len(table) == 4  # three of reviewers, and the reason for deciding a split item
    for rows, reason in ((table, "line 2: publish is"), (table[:1].assign(publish="no"), "3 comments of the study")):
        rows.to_csv(tmp_path / "comments.csv", index=False)
        with pytest.raises(InputError, match=reason):
            publish(finished, tmp_path / "out", options=replace(OPTIONS, comments=tmp_path / "comments.csv"))


def test_the_seed_of_the_plan_is_published_only_when_somebody_says_so(published, with_other_options, finished):
    plan = json.loads((published / "report/plan.json").read_text())
    assert plan["seed"] is None and plan["secret"] is None and "names" in plan["why_no_seed"]
    assert "seed" not in (published / "report/log.csv").read_text()
    secret = studies.plan_secret(finished)
    assert len(secret) == 32
    assert not [path for path, text in texts_of(published) if secret in text]
    plan = json.loads((with_other_options / "report/plan.json").read_text())
    assert (plan["seed"], plan["secret"]) == (1, secret)
    assert "seed and the secret of the plan are published" in (with_other_options / "datasheet.md").read_text()


A_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")


@pytest.mark.parametrize("times", ["minutes", "none", pytest.param("days", marks=pytest.mark.slow)])
def test_answers_have_minutes_or_days_since_the_first_answer_and_no_date(times, finished, tmp_path, request):
    ready = {"minutes": "published", "none": "with_other_options"}.get(times)
    out = (
        request.getfixturevalue(ready)
        if ready
        else publish(finished, tmp_path / "out", replace(ANSWERS, times=times)).folder
    )
    labels = pd.read_csv(out / "data/labels.csv")
    assert [name for name in ("created_utc", "minutes", "days") if name in labels] == [times][: times != "none"]
    assert [path for path, text in texts_of(out) if A_TIME.search(text)] == []
    for reviewer, own in labels.groupby("reviewer"):
        if times != "none":
            since = own[times].tolist()
            assert since[0] == 0 and since == sorted(since) and own[times].dtype.kind == "i", reviewer
    assert labels["reviewer"].tolist() == sorted(labels["reviewer"])  # not the order among all reviewers
    assert len(labels) == len(label_file.all_answers(finished))
    assert json.loads((out / "codebook.json").read_text())["version"] == 1
    log = pd.read_csv(out / "report/log.csv")
    assert log.columns.tolist() == (["day"] if times != "none" else []) + ["actor", "action", "details"]


@OLD_CALLS
def test_measurements_and_source_licences_can_be_left_out_and_items_without_names_are_numbered(with_other_options):
    assert pd.read_parquet(with_other_options / "data/items.parquet")["source_licence"].isna().all()
    assert not (with_other_options / "data/measurements.parquet").exists()
    assert "https://example.org/runs" in (with_other_options / "README.md").read_text()
    described = mlcroissant.Dataset(jsonld=with_other_options / "croissant.json")
    assert [record_set.uuid for record_set in described.metadata.record_sets] == ["labels", "items"]
    named = ("bench_", "example__", "example/")
    assert not [path for path, text in texts_of(with_other_options) if any(name in text for name in named)]
    assert pd.read_parquet(with_other_options / "data/items.parquet")["item"].tolist() == [
        f"item-{n:03}" for n in range(1, 9)
    ]


# The same bytes, and no partial files


@pytest.mark.slow
def test_the_same_study_gives_the_same_bytes_and_its_log_says_so(finished, tmp_path):
    first = publish(finished, tmp_path / "out")
    exchange.export_labels(finished, actor=CAROL, now=NOW)
    identity.sign_in(finished, identity.invite(finished, BEN, Role.REVIEWER, actor=CAROL, now=NOW), now=NOW)
    second = publish(finished, tmp_path / "again")
    assert first.archive.read_bytes() == second.archive.read_bytes()
    assert first.sha256 == second.sha256 == hashlib.sha256(second.archive.read_bytes()).hexdigest()
    logged = [
        (event.actor, event.details["file"], event.details["sha256"])
        for event in events.of_actions(finished, [actions.PUBLISH])
    ]
    assert logged == [(CAROL, "out", first.sha256), (CAROL, "again", first.sha256)]


def test_a_study_that_is_not_unblinded_is_refused(named_study, tmp_path):
    with copy_of(named_study, tmp_path) as db:
        with pytest.raises(NotAllowed, match="Only an unblinded study"):
            publish(db, tmp_path / "out")
        with pytest.raises(NotAllowed):
            bundle.comments_to_read(db)
    assert not list(tmp_path.glob("*out*"))


@pytest.mark.parametrize(
    ("change", "options", "reason"),
    [
        ({"licence": ""}, OPTIONS, "licence: "),
        ({"authors": ()}, OPTIONS, "authors: at least one"),
        ({"sources": {}}, OPTIONS, "sources: no licence for example/app0, example/app1"),
        ({}, replace(OPTIONS, venue=Venue.NEURIPS), "neurips requires:\n  address: url or doi"),
        ({}, replace(OPTIONS, venue=Venue.ICSE), "affiliations: the affiliation of every author"),
        ({"keywords": ()}, replace(OPTIONS, venue=Venue.ZENODO), "keywords: "),
        (
            {"maintenance": f"Ask {CAROL}."},
            OPTIONS,
            f"publish.toml: maintenance contains {CAROL!r}, the name of a person",
        ),
    ],
)
def test_what_is_not_answered_is_listed_and_nothing_is_written(finished, tmp_path, change, options, reason):
    with pytest.raises(InputError, match=re.escape(reason)):
        publish(finished, tmp_path / "out", replace(ANSWERS, **change), options)
    assert not list(tmp_path.glob("*out*"))


@pytest.mark.parametrize("name", ["/home/ada/runs", "ada@example.org"])
def test_a_path_or_address_in_a_name_is_refused_before_the_report_is_computed(finished, tmp_path, monkeypatch, name):
    finished.execute("UPDATE items SET benchmark = ? WHERE item_id = 1", (name,))
    monkeypatch.delattr(bundle.reporting, "gathered_study")
    with pytest.raises(InputError, match=rf"items, benchmark contains an? .*: '{name}'.*or leave out the names"):
        publish(finished, tmp_path / "out")
    assert not list(tmp_path.glob("*out*"))


def test_without_the_names_of_benchmarks_nothing_names_an_item(finished, with_other_options):
    table = pd.read_parquet(with_other_options / "data/items.parquet")
    assert "data_sha256" not in table
    content = b"".join(path.read_bytes() for path in with_other_options.rglob("*") if path.is_file())
    known = items.all_items(finished)
    assert [item.name for item in known if item.data_hash.encode() in content or item.name.encode() in content] == []


def test_what_is_there_already_is_left_alone(finished, tmp_path):
    (tmp_path / "out.zip").write_text("mine")
    with pytest.raises(InputError, match=r"out\.zip exists already"):
        publish(finished, tmp_path / "out")
    assert (tmp_path / "out.zip").read_text() == "mine"
    assert not (tmp_path / "out").exists()


# publish.toml


def test_the_template_can_be_read_names_nobody_and_lacks_what_only_people_know(finished):
    new = bundle.new_answers(finished, date(2026, 11, 22))
    text = to_toml(new)
    assert PublishFile.of_text(text) == new
    assert not [name for name in (*NAMES, CAROL) if name in text]
    assert 'title = "Caches of C1"' in text
    assert new.date == "2026-11-22" and set(new.sources) == {"example/app0", "example/app1"}
    assert list(bundle.lacking(finished, new, OPTIONS)) == ["licence", "authors", "sources"]


@given(st.builds(
    PublishFile, title=WORDS, uses=WORDS, keywords=st.lists(WORDS.filter(bool)).map(tuple), plan_seed=st.booleans(),
    authors=st.lists(st.builds(Author, WORDS.filter(bool), WORDS.filter(bool), affiliation=WORDS)).map(tuple),
    sources=st.dictionaries(WORDS, st.sampled_from(["", "MIT"])),
))  # fmt: skip
@example(ANSWERS)
def test_answers_are_read_again_as_they_were_written(answers):
    assert PublishFile.of_text(to_toml(answers)) == answers


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("title = ", "publish.toml is not valid TOML"),
        ('titel = "x"', "unknown entry 'titel'"),
        ("title = 3", "title must be text in quotes"),
        ('[people]\nage = "x"', "[people] has an unknown entry 'age'"),
        ('people = "x"', "people must be a table"),
        ('doi = "https://doi.org/10.1/x"', "doi 'https://doi.org/10.1/x' is not valid. Example: 10."),
        ('licence = "CC BY 4.0"', "did you mean CC-BY-4.0?"),
        ('licence = "CC-BY"', "did you mean CC-BY-4.0?"),
        ('licence = "apache 2"', "did you mean Apache-2.0?"),
        ('licence = "mit"', "did you mean MIT?"),
        ('licence = "as you like"', "see https://spdx.org/licenses"),
        ('date = "22.11.2026"', "is not a date such as 2026-11-22"),
        ('[[authors]]\ngiven_names = "A"\nfamily_names = "B"\norcid = "0000-0002-1825-0098"', "its check digit"),
        ('[[authors]]\ngiven_names = "A"', "author 1 needs given_names and family_names"),
        ('[[authors]]\nage = "A"', "author 1 has an unknown entry 'age'"),
        ("authors = 1", "authors must be blocks"),
        ('description = "ask ada@example.org"', "description has an e-mail address"),
        ('[sources]\n"a/b" = "no licence"', "is not an SPDX identifier"),
        ('keywords = "x"', "keywords must be a list of texts"),
        ('[privacy]\nplan_seed = "no"', "privacy.plan_seed must be true or false"),
    ],
)
def test_an_answer_that_cannot_be_used_is_named(text, reason):
    with pytest.raises(InputError, match=re.escape(reason)):
        PublishFile.of_text(text)


def test_folds_are_even_and_keep_applications_together():
    sizes = {"a": 9, "b": 5, "c": 4, "d": 4, "e": 3, "f": 2, "g": 1}
    applications = {f"{name}{n}": name for name, size in sizes.items() for n in range(size)}
    folds = folds_by_application(applications)
    of_application = {name: {folds[item] for item in folds if applications[item] == name} for name in sizes}
    assert all(len(found) == 1 for found in of_application.values())
    assert sorted(pd.Series(folds).value_counts()) == [4, 5, 5, 5, 9]
    assert folds == folds_by_application(dict(reversed(applications.items())))


@pytest.mark.parametrize("answer", some_slow([None, "similar", "not sure"], ["similar", "not sure"]))
def test_a_study_whose_kappa_is_undefined_is_published_as_such(tmp_path, answer):
    with new_study(tmp_path / "few.study", n_items=2, plan=True) as db:
        if answer:
            answer_everything(db, {"ada": answer, "ben": answer})
        end_study(db)
        out = publish(db, tmp_path / "out", options=replace(OPTIONS, html=False)).folder
    assert differences_found(out) == []
    assert "undefined" in (out / "README.md").read_text()
