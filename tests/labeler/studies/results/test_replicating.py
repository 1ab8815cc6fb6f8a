import json
import runpy
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.document import json_values, read_back, to_markdown
from analysis.methods import replication as replicated
from analysis.methods.replication import survey
from analysis.report import Report
from analysis.runs.benchmark import Benchmark
from labeler.errors import InputError, Refused
from labeler.files import gathering
from labeler.files.formats import Source
from labeler.studies import references
from labeler.studies.items import importing
from labeler.studies.results import replicating, reporting
from tests.sentences import says

DATA = Path(__file__).parents[4] / "data"
FOLDER = DATA / "replication"


@pytest.fixture(scope="module")
def content():
    return json_values(replicating.replication(FOLDER).report())


def test_every_number_of_the_paper_comes_out_and_its_contradiction_is_named(content):
    claims = replicating.compare(content)
    assert [claim.claim for claim in claims if not claim.agrees] == []
    assert {claim.where for claim in claims} == {
        "2.2", "4.1", "4.1, Table 1", "4.2", "4.2, Table 2", "4.3", "4.3, Table 3",
    }  # fmt: skip
    assert len(claims) == 1 + 6 + 6 + 1 + 2 * 6
    follows = {claim.claim for claim in claims if claim.outcome == "follows from the paper's counts"}
    assert {"percent agreement", "Fleiss' kappa", "same sensitivity", "heuristic specificity"} <= follows


def test_the_comparison_shows_the_number_printed_and_ours(content):
    rows = {claim.claim: (claim.where, claim.paper, claim.ours) for claim in replicating.compare(content)}
    assert rows["items"] == ("4.1", "586", "586")
    assert rows["Fleiss' kappa"] == ("4.1", "0.1", "0.09814")
    assert rows["R1 – R4"] == ("4.1, Table 1", "35 %", "35.05 %")
    assert rows["same specificity"] == ("4.2", "83 %", "82.96 %")
    assert rows["heuristic sensitivity"] == ("4.3", "92 %", "91.53 %")


@pytest.mark.parametrize(
    ("place", "value", "claim"),
    [
        (("consensus", "agreed"), 323, "agreed items"),
        (("agreement", "coefficients", "fleiss_kappa", "value"), 0.16, "Fleiss' kappa"),
        (("agreement", "coefficients", "fleiss_kappa", "band_high"), "fair", "Fleiss' kappa of 0.1 is “slight”"),
        (("agreement", "coefficients", "percent_agreement", "value"), 0.562, "percent agreement"),
        (("agreement", "pairs", 4, "percent", "value"), 0.78, "R2 – R4"),
        (("classifiers", "same", "against", "counts", 1, 0), 136, "same fn: dissimilar, called similar"),
        (("classifiers", "heuristic", "positive", "sensitivity", "value"), 0.90, "heuristic sensitivity"),
    ],
)
def test_a_number_that_differs_is_said_to_differ(content, place, value, claim):
    changed = deepcopy(content)
    *way, last = place
    entry = changed
    for step in way:
        entry = entry[step]
    entry[last] = value
    wrong = [row for row in replicating.compare(changed) if not row.agrees]
    assert [row.claim for row in wrong] == [claim]
    assert [row["agrees"] for row in replicating.published(changed)].count(False) == 1


def test_kappa_and_its_interval_are_those_that_follow_from_the_counts(content):
    kappa = content["agreement"]["coefficients"]["fleiss_kappa"]
    assert kappa["value"] == pytest.approx(4177 / 42560, abs=1e-12)
    assert (kappa["se"], kappa["low"], kappa["high"]) == pytest.approx((0.0412, 0.017, 0.178), abs=5e-4)
    assert content["agreement"]["pair_equality"]["df1"] == 5
    assert content["agreement"]["pair_equality"]["p"] < 1e-5


def test_the_report_says_what_of_the_data_is_arbitrary(content):
    files = replicating.replication(FOLDER).files(replicating.with_published(read_back(Report, content)))
    written = json.loads(files["report.json"])
    assert {row["agrees"] for row in written["published"]} == {True}
    assert written | {"published": []} == content
    assert content["notes"] == [reporting.REPLICATION_NOTE]
    assert "reconstructed from the counts" in files["report.html"]


def test_the_bundled_data_are_what_the_script_writes_and_another_seed_gives_the_same_numbers(tmp_path):
    command = [sys.executable, str(DATA / "make_replication.py"), "--out"]
    for out, seed in (("same", ()), ("other", ("--seed", "7"))):
        subprocess.run([*command, str(tmp_path / out), *seed], check=True, capture_output=True)
    for name in ("labels.csv", "verdicts.csv"):
        bundled = (FOLDER / name).read_bytes()
        assert (tmp_path / "same" / name).read_bytes() == bundled
        assert (tmp_path / "other" / name).read_bytes() != bundled
    assert sorted(path.name for path in (tmp_path / "same").iterdir()) == ["labels.csv", "verdicts.csv"]
    content = json_values(replicating.replication(tmp_path / "other").report())
    assert all(row["agrees"] for row in replicating.published(content))


# on measurements


@pytest.fixture(scope="module")
def measured_icpe(icpe_dir):
    files = list(importing.files_below([icpe_dir / "timeseries"]))
    return gathering.from_files(files).benchmarks


@pytest.fixture(scope="module")
def of_icpe(measured_icpe):
    return replicating.replicate(replicating.Measuring(measured_icpe), FOLDER)


@pytest.mark.slow
def test_counts_and_shares_of_the_real_benchmarks(of_icpe):
    result = of_icpe.replication
    assert (result.scope.n, result.scope.n_applications, result.scope.n_of_shape) == (203, 30, 203)
    assert {share.classifier: (share.n_dissimilar, share.n - share.n_dissimilar) for share in result.shares} == {
        "heuristic": (163, 40), "heuristic-printed": (117, 86), "same": (44, 159),
    }  # fmt: skip
    (joint,) = [row for row in result.joint if (row.first, row.second) == ("heuristic", "same")]
    assert (joint.both, joint.only_a, joint.only_b, joint.neither) == (43, 120, 1, 39)
    outcomes = {claim.claim: claim.outcome for claim in result.claims}
    assert outcomes["Share that SAME calls dissimilar"] == "cannot be known"
    assert outcomes["Share that the heuristic calls dissimilar"] == "cannot be known"
    assert outcomes["Share that the heuristic as printed calls dissimilar"] == "differs"
    assert outcomes["HdrHistogram is the most dissimilar application"] == "cannot be known"
    assert outcomes["Size of the data set"] == "cannot be known"
    assert {claim.why != "" for claim in result.claims if claim.outcome in ("differs", "cannot be known")} == {True}


@pytest.mark.slow
def test_the_guide_shows_the_outcomes_of_the_real_benchmarks(of_icpe):
    filled = runpy.run_path(str(DATA.parent / "scripts" / "replication_guide.py"))["filled"]
    text = (DATA.parent / "docs" / "results" / "replication.md").read_text(encoding="utf-8")
    assert filled(text, of_icpe.replication.claims) == text, "make it again: python scripts/replication_guide.py FOLDER"


@pytest.mark.slow
def test_real_benchmarks_that_are_inconsistent_are_called_dissimilar_more_often(of_icpe, published_classes):
    classes = references.read_classes(Source("published.json", published_classes))
    rows = {row.classifier: row for row in survey(of_icpe.replication.benchmarks, classes=classes).steady_state}
    assert {(row.n_inconsistent, row.n_steady) for row in rows.values()} == {(90, 113)}
    assert {name: (row.dissimilar_inconsistent, row.dissimilar_steady) for name, row in rows.items()} == {
        "heuristic": (83, 80), "heuristic-printed": (65, 52), "same": (27, 17),
    }  # fmt: skip
    assert all(row.auc.low > 0.5 and row.p < 0.05 for row in rows.values())


@pytest.mark.slow  # the command writes the files of a few benchmarks daily
def test_the_files_hold_every_claim_figure_and_number(of_icpe):
    files = of_icpe.files()
    assert list(files) == [
        "replication.html", "replication.md", "replication.json",
        *(f"figures/{name}.svg" for name in ("figure-1", "figure-2", "figure-3", "figure-4", "thresholds")),
    ]  # fmt: skip
    written = json.loads(files["replication.json"])
    assert len(written["benchmarks"]) == 203
    assert sum(row["scores"]["same"] > 0.2 for row in written["benchmarks"]) == 44
    for claim in of_icpe.replication.claims:
        assert claim.outcome in files["replication.md"]
    assert files["replication.html"].count("<svg") == 5
    assert "203 of the paper&#39;s 586 benchmarks" in files["replication.html"]


# with labels and classes


def name_of(at):
    return f"apache__kafka#org.B.run#n={at}"


def some_benchmarks(n=6):
    rng = np.random.default_rng(3)
    return [
        Benchmark.of_series(
            name_of(at), rng.gamma(4, size=(3, 60)) + at % 2 * np.arange(3)[:, None], "apache/kafka",
            benchmark=f"org.B.run#n={at}",
        )
        for at in range(n)
    ]  # fmt: skip


def replicate(tmp_path, labels=None, classes=None, **options):
    files = {}
    for name, text in (("labels", labels), ("classes", classes)):
        files[name] = None if text is None else tmp_path / name
        if text is not None:
            files[name].write_text(text, encoding="utf-8")
    return replicating.replicate(replicating.Measuring(some_benchmarks()), FOLDER, **files, **options)


def text_of(written):
    """Return the document as text, without drawing its figures."""
    return to_markdown(replicated.document(written.replication, tables=written.tables))


@pytest.mark.slow
def test_two_runs_give_the_same_bytes_whatever_the_order_of_the_files(tmp_path):
    one, again = (
        replicating.replicate(replicating.Measuring(some), FOLDER)
        for some in (some_benchmarks(), some_benchmarks()[::-1])
    )
    assert one.files() == again.files()


def test_without_labels_the_claims_on_labels_are_reproduced_by_construction(tmp_path):
    written = replicate(tmp_path)
    assert {claim.outcome for claim in written.replication.claims if claim.where.startswith("4.1")} == {
        "reproduced by construction", "follows from the paper's counts", "misprint", "cannot be known",
    }  # fmt: skip
    assert [table.header for table in written.tables] == [
        ("Pair", "R1-R2", "R1-R3", "R1-R4", "R2-R3", "R2-R4", "R3-R4"),
        ("Reviewers", "SAME: similar", "SAME: dissimilar"),
        ("Reviewers", "The heuristic: similar", "The heuristic: dissimilar"),
    ]
    assert written.tables[1].rows == (("similar", "112", "23"), ("dissimilar", "137", "52"))
    assert "but not the data" in text_of(written)


NAMES = [name_of, lambda at: f"{name_of(at)}.json", lambda at: f"timeseries/{name_of(at)}.json.gz",
         lambda at: name_of(at).replace("__", "/").upper(), lambda at: f"org.B.run#n={at}"]  # fmt: skip


WORDS = [("similar", "dissimilar"), ("0", "1"), ("Same", "Different"), ("0.0", "1.0")]
FORMS = [
    pytest.param(*form, marks=[pytest.mark.slow] if at % 6 else [])  # each name and each pair of words daily
    for at, form in enumerate(product(NAMES, WORDS))
]


@pytest.mark.parametrize(("named", "words"), FORMS)
def test_labels_are_taken_in_the_forms_in_which_they_may_come(tmp_path, named, words):
    votes = [(0, 0), (1, 1), (0, 1), (1, 1), (0, 0), (1, 0)]
    rows = [
        f"{named(at)},{person},{words[vote]}"
        for at, both in enumerate(votes)
        for person, vote in zip("ab", both, strict=True)
    ]
    written = replicate(tmp_path, "Benchmark,Rater,Vote\n" + "\n".join(rows) + "\n")
    ours = {claim.claim: claim for claim in written.replication.claims}
    assert (ours["agreed items"].ours, ours["agreed, dissimilar"].ours) == ("4", "2")
    assert (ours["agreed items"].outcome, ours["agreed items"].why) == (
        "cannot be known", "The labels cover only 6 of the 586 items.",
    )  # fmt: skip
    assert ours["Agreement of each pair"].outcome == "cannot apply"
    matrix = [int(claim.ours) for claim in written.replication.claims if claim.where == "4.3, Table 3"]
    assert sum(matrix) == 4  # the agreed items, beside the verdicts on these measurements
    assert written.remarks == ()
    assert ("1 is read as dissimilar" in text_of(written)) == (words[0][0] == "0")


def test_one_column_for_each_reviewer_and_the_other_meaning_of_1(tmp_path):
    table = "item;R1;R2\n" + "".join(f"{name_of(at)};{at % 2};{'' if at == 5 else at % 2}\n" for at in range(6))
    written = replicate(tmp_path, table, one_is="similar")
    ours = {claim.claim: claim.ours for claim in written.replication.claims}
    assert (ours["items"], ours["agreed items"], ours["agreed, similar"]) == ("6", "5", "2")


VOTES = {name_of(at): {"R1": at % 2, "R2": None if at == 5 else 1} for at in range(6)}


@pytest.mark.parametrize(
    "text",
    [
        pd.DataFrame(VOTES).T.astype("Int64").to_csv(),  # the index has no name
        pd.DataFrame(VOTES).T.astype("Int64").rename_axis("item").reset_index().to_csv(na_rep="NA"),
        json.dumps(VOTES),
        json.dumps([{"item": item, "reviewer": who, "label": vote} for item, votes in VOTES.items()
                    for who, vote in votes.items() if vote is not None]),
    ],
)  # fmt: skip
def test_labels_are_taken_as_pandas_r_and_json_write_them(text):
    table = references.read_reviewer_labels(Source("labels", data=text.encode())).table
    found = {item: dict(zip(rows["reviewer"], rows["label"], strict=True)) for item, rows in table.groupby("item")}
    assert found == {
        item: {who: WORDS[0][vote] for who, vote in votes.items() if vote is not None} for item, votes in VOTES.items()
    }


def test_labels_on_other_measurements_are_not_compared_with_the_paper(tmp_path):
    rng = np.random.default_rng(1)
    others = [
        Benchmark.of_series(f"acme__queue#b{at}", rng.uniform(1, 1.2, (3, 60 + at)), "acme/queue") for at in range(4)
    ]
    (tmp_path / "labels").write_text("item,R1,R2\n" + "".join(f"acme__queue#b{at},1,1\n" for at in range(4)))
    result = replicating.replicate(replicating.Measuring(others), FOLDER, labels=tmp_path / "labels").replication
    of_labels = [claim for claim in result.claims if claim.where.startswith(("2.2", "4.1", "4.2", "4.3"))]
    (misprint,) = (claim for claim in of_labels if claim.outcome == "misprint")
    assert (
        misprint.claim == "Pair with the lowest agreement (text)"
    )  # the paper contradicts itself, whatever the labels
    assert {claim.outcome for claim in of_labels if claim is not misprint} == {"cannot apply"}
    assert {claim.claim: claim.ours for claim in of_labels}["items"] == "4"


def test_a_column_called_similar_says_what_1_means_and_words_win_over_it(tmp_path):
    table = "item,reviewer,similar\n" + "".join(f"{name_of(at)},{who},1\n" for at in range(6) for who in "ab")
    ours = {claim.claim: claim.ours for claim in replicate(tmp_path, table).replication.claims}
    assert ours["agreed, similar"] == "6"
    path = tmp_path / "l.csv"
    path.write_text("item,reviewer,similar\na,b,dissimilar\n")
    read = references.read_reviewer_labels(Source(str(path), path))
    assert (read.table["label"].tolist(), read.note) == (["dissimilar"], "")


@pytest.mark.parametrize(
    ("n_matched", "outcome", "reason"),
    [
        pytest.param(
            0,
            "cannot be known",
            "None of the 586 names of items matches a benchmark; 586 names without a benchmark",
            marks=pytest.mark.slow,
        ),
        (3, "cannot be known", "3 of the 6 benchmarks have no label; 583 names without a benchmark, for example"),
        (6, "reproduced", ""),
    ],
)
def test_labels_are_those_of_the_paper_only_if_they_cover_the_benchmarks(tmp_path, n_matched, outcome, reason):
    table = pd.read_csv(FOLDER / "labels.csv", dtype=str)
    named = {item: name_of(at) for at, item in enumerate(table["item"].unique()[:n_matched])}
    written = replicate(tmp_path, table.replace({"item": named}).to_csv(index=False))
    by_claim = {claim.claim: claim for claim in written.replication.claims}
    assert (by_claim["R1 – R4"].outcome, by_claim["percent agreement"].outcome) == (outcome, outcome)
    assert by_claim["percent agreement"].why.startswith(reason)
    assert by_claim["same tp: dissimilar, called dissimilar"].outcome == "cannot be known"
    (remark,) = written.remarks
    assert f"{586 - n_matched} names without a benchmark: " in remark
    assert len(remark) < 300


def test_the_revisions_of_the_data_set_are_checked(tmp_path):
    (tmp_path / "timeseries").mkdir()
    assert replicating.revisions_beside([tmp_path / "timeseries"]) is None
    file = tmp_path / "benchmarks_revision.csv"
    file.write_text("repository,tag\napache/kafka,2\n", encoding="utf-8")
    assert replicating.revisions_beside([tmp_path / "timeseries"]) == replicating.revisions_beside([tmp_path]) == file
    assert replicating.read_revisions(file) == ["apache/kafka"]
    file.write_text("tag\n2\n", encoding="utf-8")
    with pytest.raises(Refused, match="there is no column repository"):
        replicating.read_revisions(file)


def other_review(names, seed=1):
    """Labels of other people on all items of the paper: each agrees with the paper's label with probability .9."""
    rng = np.random.default_rng(seed)
    table = pd.read_csv(FOLDER / "labels.csv", dtype=str)
    flips = rng.random(len(table)) < 0.1
    table["label"] = np.where(flips, np.where(table["label"] == "similar", "dissimilar", "similar"), table["label"])
    return table.replace({"reviewer": dict(zip(("R1", "R2", "R3", "R4"), names, strict=True))})


def claims_of(table, tmp_path):
    path = tmp_path / "labels.csv"
    table.to_csv(path, index=False)
    gathered = reporting.gathered_files(path, FOLDER / "verdicts.csv", options=reporting.QUICK)
    return {claim.claim: claim for claim in replicated.claims_of_labels(json_values(gathered.report()))}


def test_the_interval_of_a_number_and_not_its_digits_decides_whether_other_labels_differ(tmp_path):
    claims = claims_of(other_review(("R1", "R2", "R3", "R4")), tmp_path)
    assert claims["R2 – R3"].outcome == "cannot be known"  # 55.67 % of 97 items, and 53 %
    assert "interval of our number contains the paper's" in claims["R2 – R3"].why
    outcomes = [claim.outcome for claim in claims.values()]
    assert outcomes.count("differs") <= 2
    reverse = other_review(("R1", "R2", "R3", "R4"))
    reverse["label"] = "dissimilar"
    assert claims_of(reverse, tmp_path)["agreed items"].outcome == "differs"


def test_reviewers_of_other_names_are_no_reviewers_of_the_paper(tmp_path):
    claims = claims_of(other_review(tuple("abcd")), tmp_path)
    assert claims["Agreement of each pair"].outcome == "cannot be known"
    assert "called a, b, c, d" in claims["Agreement of each pair"].why
    assert "Pair with the highest agreement" not in claims


def test_the_highest_pair_is_known_only_if_no_other_can_be_higher(tmp_path):
    random = other_review(("R1", "R2", "R3", "R4"))
    random["label"] = np.where(np.random.default_rng(7).random(len(random)) < 0.5, "similar", "dissimilar")
    assert claims_of(random, tmp_path)["Pair with the highest agreement"].outcome == "cannot be known"


def test_in_short_has_at_most_eight_lines(tmp_path):
    reverse = other_review(("R1", "R2", "R3", "R4"))
    reverse["label"] = "similar"
    path = tmp_path / "labels.csv"
    reverse.to_csv(path, index=False)
    written = replicating.replicate(replicating.Measuring(some_benchmarks()), FOLDER, labels=path)
    differs = [replace(claim, outcome="differs") for claim in written.replication.claims]
    document = replicated.document(replace(written.replication, claims=tuple(differs)))
    assert len(document.sections[0].blocks[0].items) == 8


def test_names_that_match_nothing_are_listed(tmp_path):
    table = f"item,reviewer,label\n{name_of(0)},a,similar\nnobody,a,similar\n"
    written = replicate(tmp_path, table, json.dumps({name_of(1): "inconsistent", "other": "steady state"}))
    unmatched = [remark.partition(": ")[2] for remark in written.remarks]
    assert unmatched == ["1 name without a benchmark: other", "1 name without a benchmark: nobody"]
    assert "nobody" in text_of(written)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("item,reviewer,label\nb,a,perhaps\n", "line 2: label 'perhaps' is not similar, dissimilar, 0 or 1"),
        ("item,reviewer,label\nb,a,1\nb,a,0\n", "line 3: 'a' labels 'b' a second time: '0' here, '1' on line 2"),
        ("item,reviewer,label\nb,,1\n", "line 2: the reviewer is empty"),
        ("reviewer,label\na,1\n", "there is no column for the item"),
        ("item,reviewer,opinion\na,b,1\n", "there is no column for the label"),
        ("item,a\nb,\n", "the file contains no labels"),
        ("item,a,note\nb,1,good\n", "line 2: label 'good' is not .*; if column 'note' has no labels .* remove it"),
        ("item,label\nb,1\n", "there is no column for the reviewer"),
        ("[1]", "this is neither a list of objects with item, reviewer and label, nor an object"),
        ("{", ""),
        (f"item,reviewer,label\n{name_of(0)},a,1\n{name_of(0)}.json,a,1\n", "line 3: .* two labels on 'apache__kafka#"),
    ],
)
def test_a_label_table_that_cannot_be_used_is_refused_with_its_place(tmp_path, table, message):
    with pytest.raises(Refused, match=rf"/labels: {message}"):
        replicate(tmp_path, table)


CLASSES = {name_of(at): "inconsistent" if at < 3 else "steady state" for at in range(6)}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CLASSES),
        json.dumps({name: {"class": found, "runs": []} for name, found in CLASSES.items()}),
        pd.DataFrame(CLASSES.items(), columns=["item", "class"]).to_csv(index=False),
    ],
)
def test_classes_are_read_as_json_and_csv_write_them(text):
    assert references.read_classes(Source("classes", data=text.encode())) == CLASSES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "object with the class"),
        ('{"a": 1}', "'a' has no class"),
        ("{", "classes"),
        ("item,class\na,x\na,y\n", "'a' has two different classes"),
        ("item\na\n", "there is no column for the class"),
    ],
)
def test_a_table_of_classes_that_cannot_be_used_is_refused(tmp_path, text, message):
    with pytest.raises(Refused, match=message):
        replicate(tmp_path, classes=text)


def test_classes_are_an_outside_criterion_and_those_that_are_not_used_are_named(tmp_path):
    written = replicate(tmp_path, classes=json.dumps(CLASSES | {name_of(5): "flat"}))
    assert says(written.remarks[0], "inconsistent, steady state", "not flat")
    row = written.replication.steady_state[0]
    assert (row.n_inconsistent, row.n_steady) == (3, 2)
    with pytest.raises(InputError, match="no measurements"):
        replicating.replicate(replicating.Measuring(), FOLDER)
