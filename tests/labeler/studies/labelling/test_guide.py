"""Worked examples and practice: their numbers agree with their construction, and nothing else is revealed."""

import base64
import csv
import gzip
import json
import re
import subprocess
import sys
from itertools import chain

import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import example as with_seed, given, settings, strategies as st

from analysis.categories import CATEGORIES
from labeler.config import bundled
from labeler.studies.labelling import guide
from labeler.studies.model import Protocol
from labeler.studies.questions import SIMILAR
from labeler.studies.screen import binning
from tests.conftest import examples

seeds = st.integers(0, 2**31 - 1)
TITLES = {
    "Alike": "similar",
    "Random spikes": "similar",
    "One run at a different level": "dissimilar",
    "Two levels": "dissimilar",
    "Steps at different times": "dissimilar",
    "One run much noisier": "dissimilar",
    "One long warm-up": None,
}


def unpacked(text):
    return np.frombuffer(base64.b64decode(text), "<f4").astype(float)


def percentile(example, percent):
    """Return a percentile of each run, divided by the median of all runs' medians."""
    at = example.picture["percentiles"].index(percent)
    middle = example.picture["percentiles"].index(50)
    quantiles = np.array([unpacked(run["quantiles"]) for run in example.picture["runs"]])
    return quantiles[:, at] / np.median(quantiles[:, middle])


def windows(example):
    """Return the medians of 50 iterations of each run, divided by the median of all."""
    medians = np.array([unpacked(run["medians"]) for run in example.picture["runs"]])
    return medians / np.median(medians)


def steps(example):
    """The window in which the level changes, for each run that ends on another level than it begins."""
    found = []
    for medians in windows(example):
        n = len(medians) // 4
        if abs(np.median(medians[-n:]) / np.median(medians[:n]) - 1) > 0.03:
            found.append(int(np.argmax(np.abs(np.diff(medians)))))
    return found


def off_level(example):
    return np.abs(percentile(example, 50) - 1) > 0.03


def much_noisier(example):
    spread = percentile(example, 75) - percentile(example, 25)
    return spread > 3 * np.median(spread)


def settling(example):
    """Return the runs that are much slower at the beginning."""
    return windows(example)[:, 0] > 1.1


def check(example):
    """Check that the number of deviating runs by kind agrees with the recipe."""
    expected = {
        "One run at a different level": (1, 0, 0, 0),
        "Two levels": (4, 0, 0, 0),
        "One run much noisier": (0, 1, 0, 0),
        "Steps at different times": (None, None, 3, 0),
        "One long warm-up": (0, None, None, 1),
    }.get(example.title, (0, 0, 0, 0))
    level = np.sum(np.abs(percentile(example, 50) - np.min(percentile(example, 50))) > 0.03)
    found = (level, much_noisier(example).sum(), len(steps(example)), settling(example).sum())
    assert [(a, b) for a, b in zip(found, expected, strict=True) if b is not None and a != b] == [], example.title
    assert len(example.picture["runs"]) == 10
    assert example.category == TITLES[example.title]


def test_the_worked_examples_are_as_they_are_said_to_be():
    examples = guide.worked_examples()
    assert {example.title for example in examples} == set(TITLES)
    assert len(examples) == len(TITLES)
    for example in examples:
        check(example)


@settings(max_examples=examples(40), deadline=None)
@given(seeds)
@with_seed(0)
@with_seed(1)
def test_practice_items_are_as_they_are_said_to_be_whatever_the_seed(seed):
    practice = guide.practice_round(seed)
    assert len(practice) == guide.N_PRACTICE == 6
    for example in practice:
        check(example)
    categories = [example.category for example in practice]
    assert None not in categories  # no answer is called wrong if people differ
    assert min(categories.count(category) for category in CATEGORIES) >= 2
    for example in (*practice, *guide.worked_examples()):
        if example.title == "Steps at different times":
            assert np.diff(sorted(steps(example))).min() >= 2
        if example.category == "similar":
            for percent in (5, 25, 75, 95):
                assert np.ptp(percentile(example, percent)) < 0.03, (example.title, percent)


def test_one_run_on_another_level_takes_five_percent_longer_and_spikes_leave_the_medians_alone():
    by_title = {example.title: example for example in guide.worked_examples()}
    one_run = by_title["One run at a different level"]
    (level,) = percentile(one_run, 50)[off_level(one_run)]
    assert level == pytest.approx(1.05, abs=0.005)
    assert np.abs(percentile(by_title["Random spikes"], 50) - 1).max() < 0.005
    assert percentile(by_title["Random spikes"], 100).min() > 1.3
    higher = np.sort(percentile(by_title["Two levels"], 50))[-4:]
    assert (higher / np.sort(percentile(by_title["Two levels"], 50))[0]).tolist() == pytest.approx(
        [1.04] * 4, abs=0.005
    )


def test_the_schematic_pairs_differ_in_one_way_each():
    offset, frequency, noise = guide.schematic_examples()
    assert [example.title for example in (offset, frequency, noise)] == ["Offset", "Double frequency", "Noise"]
    assert {example.category for example in (offset, frequency, noise)} == {"dissimilar"}
    low, high = (unpacked(run["low"]) for run in offset.picture["runs"])
    assert np.ptp(high - low) == pytest.approx(0, abs=1e-6)
    assert (high - low).min() > 0.001
    for percent in (5, 50, 95):
        assert np.ptp(percentile(frequency, percent)) < 0.01
        assert np.ptp(percentile(offset, percent)) > 0.3
    assert np.ptp(percentile(noise, 50)) < 0.03
    spread = np.sort(percentile(noise, 95) - percentile(noise, 5))
    assert spread[1] > 1.5 * spread[0]


def test_everybody_sees_the_same_examples():
    first = [guide.worked_examples(), guide.schematic_examples(), guide.practice_round(7)]
    for made in (guide.worked_examples, guide.schematic_examples, guide.practice_round, guide._bases):
        made.cache_clear()
    assert [guide.worked_examples(), guide.schematic_examples(), guide.practice_round(7)] == first


@settings(max_examples=examples(60), deadline=None)
@given(seeds, seeds)
def test_the_same_seed_gives_the_same_round_and_another_seed_another(one, other):
    again = guide.practice_round.__wrapped__(one)
    assert guide.practice_round(one) == again
    assert (guide.practice_round(other) == again) == (one == other)


def every_example():
    return [*guide.worked_examples(), *guide.schematic_examples(), *chain(*map(guide.practice_round, range(5)))]


def test_the_examples_are_ready_for_the_screen_and_show_no_run_twice():
    for example in every_example():
        assert json.loads(json.dumps(example.picture, allow_nan=False)) == example.picture
        assert example.picture["version"] == binning.VERSION
        drawn = [run["quantiles"] for run in example.picture["runs"]]
        assert len(set(drawn)) == len(drawn)


def bundled_table():
    return pyarrow.parquet.read_table(bundled("data", "demo", "demo.parquet")).to_pandas()


def test_the_runs_of_the_examples_are_those_of_the_demo_data_which_the_guide_does_not_read():
    shown = "from labeler.studies.labelling import guide; guide.worked_examples(); import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert "labeler.studies.labelling.guide" in done.stdout and "labeler.files.formats" not in done.stdout
    stored = json.loads(gzip.decompress(bundled(*guide.RUNS).read_bytes()))
    table = bundled_table()
    for name, (chosen, _) in guide.BASES.items():
        runs = [run["value"].tolist() for _, run in table[table["benchmark"] == name].groupby("run")]
        assert stored[name] == [runs[number] for number in chosen]


def test_no_text_names_a_bundled_benchmark_or_what_was_done_to_one():
    with bundled("data", "demo", "interventions.csv").open(encoding="utf-8", newline="") as file:
        done = {row["intervention"] for row in csv.DictReader(file)}
    names = set(bundled_table()["benchmark"])
    words = {"intervention", *done, *chain(*(re.split(r"[#=.]", name) for name in names))}
    words = {word.lower() for word in words if len(word) > 3}
    assert {"intervention", "slowdown", "cold start", "hashlib", "sha256", "numpy", "rfft"} <= words
    protocols = [Protocol(rule, 0.1, asks, asks) for rule in binning.AXIS_RULES for asks in (False, True)]
    texts = [
        *(guide.describe_protocol(SIMILAR, protocol) for protocol in protocols),
        *chain(*((e.title, e.explanation) for e in every_example())),
    ]
    for example in every_example():
        texts += [example.feedback("similar"), *(text for text in example.picture.values() if isinstance(text, str))]
    found = {word for word in words for text in texts if re.search(rf"\b{re.escape(word)}\b", text.lower())}
    assert found == set()


def test_no_example_shows_runs_of_a_bundled_benchmark_as_they_are():
    kept = set()
    for _, runs in bundled_table().groupby("benchmark"):
        series = [run["value"].to_numpy(float) for _, run in runs.groupby("run")]
        for run in binning.payload(series, "s")["runs"]:
            kept |= {run["medians"], run["quantiles"], run["low"]}
    shown = {
        run[part] for e in every_example() for run in e.picture["runs"] for part in ("medians", "quantiles", "low")
    }
    assert len(kept) > 500
    assert not shown & kept


@pytest.mark.parametrize(
    ("protocol", "said"),
    [
        (Protocol("core", 0.10), "at least 10 % of the median"),
        (Protocol("core", 0.025), "at least 2.5 % of the median"),
        (Protocol("core", 1.5), "at least 150 % of the median"),
        (Protocol("core", 0.29), "at least 29 % of the median"),  # 28.999... in binary
        (Protocol("pooled"), "from 0.5 to 99.5 % of all iterations together"),
        (Protocol("full"), "fastest to the slowest"),
    ],
)  # fmt: skip
def test_the_words_of_the_protocol_tell_its_axis_and_span(protocol, said):
    words = guide.describe_protocol(SIMILAR, protocol)
    assert said in " ".join(words.split())
    others = [guide.AXES[rule][:20] for rule in binning.AXIS_RULES if rule != protocol.axis_rule]
    assert not [other for other in others if other in words]


def test_the_words_of_the_protocol_name_every_key_and_ask_for_confidence_only_where_the_study_does():
    words = guide.describe_protocol(SIMILAR, Protocol())
    assert [key for key in "SDUNFMZL" if not re.search(rf"\b{key}\b", words)] == []
    assert "sure you are" not in words
    assert "1, 2 or 3 to say how sure you are" in guide.describe_protocol(SIMILAR, Protocol(asks_confidence=True))


def test_feedback_says_what_was_said_and_what_is_known():
    by_title = {example.title: example for example in guide.worked_examples()}
    told = by_title["Two levels"].feedback("similar")
    assert told.startswith("Your answer: similar; the item was generated as dissimilar. Two levels: ")
    assert by_title["One long warm-up"].feedback("not sure").startswith("Your answer: not sure; people disagree")
