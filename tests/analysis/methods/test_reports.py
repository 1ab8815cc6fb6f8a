"""The reports of spread, order, trust and contexts: what they say of which numbers, and their figures."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from analysis.document import Figure, to_html, to_markdown, to_text
from analysis.document.figures import FORMATS, render, to_svg
from analysis.methods import contexts, order, spread, trust
from analysis.methods.trust import MANN_WHITNEY, WELCH
from analysis.methods.trust._rates import GAMMAS
from analysis.runs.benchmark import Benchmark, Failure
from tests.analysis.drawn import texts
from tests.analysis.methods.made_orders import suite, two_orders, two_versions, without_direction
from tests.analysis.methods.made_spreads import (
    HIGH,
    LOW,
    benchmark,
    by_hand,
    halves,
    in_environments,
    measured,
    timed_runs,
)
from tests.analysis.methods.made_sweeps import SIZES, instrumented, measured as cells_of, sweep, with_intervention
from tests.analysis.report.reports import DAILY, HOSTILE
from tests.conftest import some_slow
from tests.sentences import says

SHORT, EARLY, LATE = SIZES[:16], list(range(10, 30)), list(range(40, 60))
LATER = suite(n=3, runs=12, fixed=0, step=1.0)
METHODS = {
    "spread": (spread.spread_survey, spread.document, spread.charts),
    "order": (order.order_survey, order.document, order.charts),
    "trust": (trust.trust_survey, trust.document, trust.charts),
    "contexts": (contexts.context_survey, contexts.document, contexts.charts),
}
QUICK = {
    "trust": {"n_runs": 3, "gammas": (1, 1.05, 1.3), "resamples": 100}, "contexts": {"resamples": 20},
}  # fmt: skip


def text_of(method, benchmarks, **options):
    """Return the report on some benchmarks as running text."""
    survey, document, _ = METHODS[method]
    return " ".join(to_text(document(survey(benchmarks, **QUICK.get(method, {}) | options))).split())


def rough(name, between=1.0, m=4, n=12, **more):
    random = np.random.default_rng(sum(map(ord, name)))
    return Benchmark.of_series(
        name, tuple(10 + between * random.normal() + random.normal(size=n) for _ in range(m)), **more
    )


def flat(name="flat", *levels):
    return Benchmark.of_series(name, tuple(np.full(3, level) for level in levels or (1, 1)))


def rolled():
    values = np.random.default_rng(1).normal(10, 1, 20)
    return Benchmark.of_series("even", tuple(np.roll(values, run) for run in range(4)))


def altered(n_baseline, n_altered, name="b", levels=(LOW, HIGH)):
    runs = (levels[0],) * n_baseline + (levels[1],) * n_altered
    return Benchmark.of_series(name, runs, conditions={"altered": ("baseline",) * n_baseline + ("m",) * n_altered})


def after_y():
    """Three benchmarks; x is 10 s slower directly after y, at any position."""
    orders = ["xyz", "xzy", "yxz", "zyx", "yzx", "zxy"] * 6
    rows = {name: [] for name in "xyz"}
    for run, names in enumerate(orders):
        for at, name in enumerate(names):
            slow = name == "x" and at > 0 and names[at - 1] == "y"
            rows[name].append((str(run), str(at), 100 + 10 * slow + 0.001 * run))
    return [
        Benchmark.of_series(
            name,
            tuple(np.array([value]) for _, _, value in entries),
            conditions={"run": tuple(e[0] for e in entries), "order_position": tuple(e[1] for e in entries)},
        )
        for name, entries in rows.items()
    ]


def cells(**values):
    """A benchmark with these runs in each version and context, written version_context."""
    return cells_of({tuple(key.split("_")): runs for key, runs in values.items()})


def conclusions():
    """Benchmarks whose versions compare alike in both orders, the other way round, or differ in one order only."""
    return [
        two_versions((EARLY, LATE), (EARLY, LATE), "same"), two_versions((EARLY, LATE), (LATE, EARLY), "turned"),
        two_versions((EARLY, LATE), (EARLY, EARLY), "amber"),
        two_versions((EARLY[:2], LATE[:2]), (EARLY, EARLY), "few"),
    ]  # fmt: skip


NOISY = {(version, f"k={at}"): [1.0 + (at % 2 == number)] for at in range(8)
         for number, version in enumerate(("old", "new"))}  # fmt: skip
BOTH = {("a", ""): [2.0, 2.1], ("b", ""): [1.0, 1.1]}
ONE, OTHER = {("a", ""): [2.0], ("b", ""): [1.0]}, {("c", ""): [2.0], ("d", ""): [1.0]}
THREE_CELLS = {("a", "x"): [1.0], ("b", "x"): [1.0], ("a", "y"): [1.0]}
COUNTERS = {("", f"counters={level}"): [value, value * 1.001] for level, value in ((0, 1.0), (4, 1.12))}
FAILED = replace(two_orders("a", EARLY, LATE), failures=(Failure({"run": "0", "order_type": "fixed"}, "exit code 1"),))
NEAR = two_orders("near", range(20), [*range(8, 13), *range(20, 35)])  # separate at 95 %, but not at 99.9 %
EQUAL = two_orders("b", EARLY, EARLY)
PER_FIVE = np.mean(
    [np.ptp(s) / np.mean(s) for s in ([v for v in range(10, 16) if v != gone] for gone in range(10, 16))]
)

# method, benchmarks, options, what the report says (" … " between parts of a sentence), what it does not say
SENTENCES = [
    ("spread", halves, {}, (
        "1 of 5 benchmarks (20.0 % … 3.6 to 62.4 %) … within 5 %", "2 (40.0 %) … more than 25 % … 2 runs each",
        "The median spread is 20.0 %", "slowdown of 40.0",  # floor(4.75) = 4 of .01, .08, .2, .4, .9
        "Fix or remove … b45 (90.0 %)",
    ), ()),
    ("spread", lambda: [benchmark(10, 11, 12, 13, 14, 15, name="six")], {},
     (f"{100 * PER_FIVE:.1f} % … over 5 runs … 40.0 % … all runs",), ()),
    ("spread", lambda: [benchmark(10, 11)], {}, ("The runs of the only benchmark are 9.5 % apart (2 runs each).",),
     ("within 5 % of each other", "except the 5 %")),
    ("spread", lambda: [benchmark(1, 2, 3, name="three"), benchmark(1, 2, name="two")], {"per": 2},
     ("2 to 3 runs each … choices of 2", "choices of 2 runs"), ()),
    ("spread", list, {}, ("Nothing was left out.",), ()),
    ("spread", by_hand, {"v": 0.4, "without": ["B.mid"], "resamples": 20}, (
        "of 3 benchmarks ( … within 5 %",
        "In a suite of fewer than 20 benchmarks, this leaves out the noisiest benchmark.",
        "2 of 5 altered methods … 40 (11.8 to 76.9 %)", "no benchmark notices: m2, m4, m5",
        "only one benchmark … m1 (by B.fast), m3 (by B.noisy)", "B.mid … leave this benchmark out of the score",
        "50.0 %, 50.4 %",  # in the order of the runs
    ), ()),
    ("spread", lambda: [measured("a", baseline=1, m=2), measured("b", baseline=1, m=2)], {"v": 0.5},
     ("notices 1 of 1 altered method,",), ("no benchmark notices:", "that only one")),
    ("spread", lambda: [measured("a", baseline=1)], {}, ("has an altered method",), ()),
    ("spread", lambda: [altered(1, 1)], {},
     ("undefined: fewer than two spreads (0) of the baseline; give v (--v)",), ()),
    ("spread", lambda: [altered(5, 5)], {"v": 0.1}, ("333.3 %, 333.3 %, 333.3 %, …",), ()),
    ("spread", lambda: [altered(1, 1, "few", (LOW[:3], LOW[:3]))], {"v": 0.1},
     ("cannot be detected: run 0: 3 and 3 iterations",), ()),
    ("spread", lambda: [in_environments("x", a=[1.0, 2.0]), in_environments("y", b=[1.0, 2.0])], {},
     ("a and b cannot",), ()),
    *(("spread", lambda seconds=seconds: timed_runs(**seconds), {}, (words,), ()) for seconds, words in (
        ({"a": [1, 2, 3], "b": [10, 10, 13]}, "mean 13 s, standard deviation 2.65 s (3 passes)"),
        ({"a": [1, 2, 3], "b": [10, None, 14]}, "mean 14 s, standard deviation 4.24 s (2"),
        ({"a": [1, None], "b": [10, 10]}, "11 s (a single pass)"),
        ({"a": [1, None, None], "b": [None, 10, 10]}, "unknown, because no run occurs in every benchmark"))),
    ("order", lambda: [two_orders("slow", EARLY, LATE), two_orders("calm", EARLY, EARLY)], {}, (
        "1 of 2 tests … 0.025 … Bonferroni … Holm finds 1",
        "slow: … 154 % slower … p = 6.3e-08 … case 1",  # 19.5 -> 49.5; H = 29.27
        "Red flag … 97.5 % … 1 of 2 tests: slow", "Use a new random order for every run", "Nothing was left out.",
    ), ()),
    ("order", lambda: [two_orders("a", [1, 2, 3], [4, 5, 6]), two_orders("b", [1, 2, 3], [1, 2, 3])], {}, (
        "none of 2 tests", "Without a correction, 1 … 0.05 … 0.1", "2 tests cannot … so few runs", "To be safe",
        "Bonferroni p < α / |T| = 0.025 0 no", "none p < α = 0.05 1 yes",
    ), ()),
    ("order", lambda: LATER, {}, (
        "No benchmark … both in fixed and", "values of 3 of 3 benchmarks", "slower the later it runs",
        "Both tests are weaker",
    ), ()),
    ("order", lambda: [two_orders("zero", [0.0] * 3, [-1.0] * 3), two_orders("b", EARLY, LATE)], {},
     ("order is not positive", "0 (3 values … 97.5 %: 7"), ()),
    ("order", lambda: [two_orders("zero", [-3.0, *range(-40, -21)], LATE)], {},
     ("zero: … undefined … fixed order … not positive",), ()),
    ("order", lambda: [without_direction(two_orders("a", EARLY, LATE, unit="")), *map(without_direction, LATER)], {},
     ("--unit or --better", "a: … 154 % higher", "higher the later it runs"),
     ("% slower", "% faster", "slower the later")),
    ("order", lambda: [two_orders("a", EARLY, LATE)], {}, (), ("--unit or --better",)),
    ("order", conclusions, {}, (
        "Comparison of one with two: … 1 of 4 benchmarks (red flag).", "1 (amber), … for 1; 1 have too few runs.",
        "turned slower 2.538 154 % slower",  # 49.5 / 19.5
        "few … too few runs for the interval of a median",
    ), ()),
    # x is first in the runs 0, 1, 6, 7, ..., 30, 31, whose middle is 15.5, and after y in 2, 3, ..., 32, 33: 17.5
    ("order", after_y, {},
     ("x: median 100.016 s at the start … 110.017 s after y … p = 7.6e-06", "no effect shown"), ()),
    ("order", lambda: [flat("a", 1)], {}, ("as order_type", "order_type (fixed or random)"), ()),
    ("order", lambda: [FAILED], {"compat": "ordersage"},
     ("exit code 1", "ranks … one too high … published tool", "compat ordersage", "alpha 0.05"), ()),
    ("order", lambda: [NEAR, *(two_orders(f"b{n}", EARLY, EARLY) for n in range(39))], {},
     ("No test has a red flag … 99.88 %", "1 red flag … near … 95 %"), ()),
    ("order", lambda: [NEAR, EQUAL], {"compat": "ordersage"},
     ("rule of the published tool … 95 % … 1 of 2",), ("method of the paper",)),
    ("trust", lambda: [rough("wild", 5.0)], {"gammas": (1, 1.001)}, ("is above all tested factors",), ()),
    ("trust", lambda: [rough("wild", 5.0), rough("wilder", 5.0)], {"gammas": (1, 1.001)},
     ("above all tested factors … 2 of 2 benchmarks",), ()),
    ("trust", lambda: [benchmark(1, 1.5)], {}, (
        "1 benchmark has fewer than 3 runs, so every sample repeats runs, and these numbers say little about new runs",
     ), ()),
    ("trust", lambda: [rough("a"), flat()], {"n_runs": 1},
     ("a, run means: an interval needs at least two values", "flat, merged: no variation"), ()),
    ("trust", lambda: [Benchmark.of_series("b", (np.array([1.0]), np.array([2.0])))], {"n_runs": 1},
     ("run are not independent",), ()),
    ("trust", lambda: [rolled()], {}, ("do not show that merging", "with one number per run. The share should"),
     ("per run (median over benchmarks)",)),
    ("trust", list, {}, ("No benchmark … two or more runs", "Left out -------- Nothing"), ()),
    ("trust", lambda: [rough("a")], {"gammas": (), "tests": [MANN_WHITNEY], "n_curve": 0},
     ("requested, or is undefined", "false alarms (Mann-Whitney U test)"), ()),
    ("trust", lambda: [rough("a")], {"tests": [], "n_curve": 0}, ("no test",), ()),
    ("trust", lambda: [flat(f"b{i}") for i in range(45)], {"n_runs": 2, "gammas": (), "n_curve": 0, "tests": [WELCH]},
     ("40 of 45 rows", "and 95 more"), ()),  # 3 remarks each
    ("trust", lambda: [rough("a")], {"n_runs": 2, "gammas": GAMMAS, "tests": [WELCH]}, ("31 values",), ()),
    ("contexts", lambda: [cells_of(THREE_CELLS, failures=(Failure({"context": "x"}, "killed"),))], {},
     ("b y no run of version b", "b context=x failed: killed"), ()),
    ("contexts", lambda: [cells_of(BOTH), cells_of(BOTH, "c")], {},
     ("One context cannot show", "2 benchmarks with one context could not be tested", "several random contexts"), ()),
    ("contexts", lambda: [cells_of(ONE), cells_of(OTHER)], {}, ("4 versions (a, b, c, d)",), ()),
    ("contexts", lambda: [cells_of(ONE), cells_of(OTHER)], {"baseline": "a", "candidate": "b"},
     ("version a; versions: c, d",), ()),
    ("contexts", lambda: [sweep(effect=0.0, speedup=1.1, sizes=SHORT)], {},
     ("contexts like these … 9.1 % faster … 1.100 (1.099 to 1.101)", "both sides of 1", "measured contexts"), ()),
    ("contexts", lambda: [sweep(effect=0.0, noise=0.01, sizes=SHORT)], {}, ("noise of the runs can explain",), ()),
    ("contexts", lambda: [cells_of(NOISY)], {},
     ("plain mean", "For 1 benchmark … look", "For b … 1.250 for the candidate … 1.250 for the baseline"), ()),
    ("contexts", lambda: [sweep("known"), without_direction(sweep("open", seed=2))], {},
     ("candidate / baseline", "both sides of 1"), ("speed-up", "Speed-up")),
    ("contexts", list, {}, ("benchmark could be compared",), ()),
    ("contexts", lambda: [cells_of(COUNTERS)], {"instrumentation": "counters"},
     ("counters = 4 … 12 % slower … 1.120 (1.1", "Nothing was left out."), ("No benchmark could be compared",)),
    ("contexts", lambda: [sweep(sizes=SHORT)], {"instrumentation": "events"}, ("condition events",), ()),
    *(("contexts", lambda fixed=fixed: [with_intervention(sweep(sizes=SHORT), sweep(**{"sizes": SHORT} | fixed))], {},
       (words,), ()) for fixed, words in (
        ({"effect": 0.03, "seed": 2}, "spread is not smaller"),
        ({"effect": 0.2}, "contexts differ more with the suspected cause held fixed"),
        ({"sizes": SHORT[:2]}, "three contexts"))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "benchmarks", "options", "said", "unsaid"), SENTENCES,
    ids=[f"{row[0]}: {(row[3] or row[4])[0]:.50}" for row in SENTENCES],
)  # fmt: skip
def test_a_report_says_what_its_numbers_are(method, benchmarks, options, said, unsaid):
    text = text_of(method, benchmarks(), **options)
    assert [sentence for sentence in said if not says(text, *sentence.split(" … "))] == []
    assert [words for words in unsaid if words in text] == []


# figures and names


@cache
def found(method):
    """A survey with all figures of a method."""
    benchmarks = {
        "spread": lambda: by_hand(),
        "order": lambda: suite(n=3, runs=6, fixed=4, step=1.0),
        "trust": lambda: [*(rough(f"rough {i}", application="org/rough") for i in range(4)), rough("even", 0.0)],
        "contexts": lambda: [sweep("decides", speedup=1.01),
                             sweep("clear", effect=0.001, speedup=1.1, links=("a", "b"), sizes=SHORT),
                             with_intervention(sweep("cause"), sweep("cause", effect=0.001)), instrumented("watched")],
    }[method]()  # fmt: skip
    options = QUICK.get(method, {}) | ({"instrumentation": "events"} if method == "contexts" else {})
    return METHODS[method][0](benchmarks, **options)


@pytest.mark.parametrize("method", METHODS)
def test_every_figure_of_the_document_is_drawn_and_every_drawn_one_is_there(method):
    survey, document, charts = METHODS[method]
    for result in (found(method), survey([rough("a")], **QUICK.get(method, {})), survey([], **QUICK.get(method, {}))):
        named = [block.name for part in document(result).sections for block in part.blocks if isinstance(block, Figure)]
        assert sorted(named) == sorted(charts(result))
    assert charts(survey([], **QUICK.get(method, {}))) == {}


@pytest.mark.parametrize("form", some_slow(FORMATS, {"png", "pdf"}))
@pytest.mark.parametrize("method", some_slow(METHODS, {"contexts", "trust"}))
def test_every_figure_is_drawn_in_every_form(method, form):
    charts = METHODS[method][2](found(method))
    assert len(charts) >= 3
    assert all(len(render(chart, form)) > 2000 for chart in charts.values())


@pytest.mark.parametrize("method", METHODS)
def test_names_from_files_are_only_text(method):
    survey, document, charts = METHODS[method]
    names = [
        *(HOSTILE[kind] for kind in DAILY),
        "a\x1bb",
        "a\x00'\"]<script>alert(1)</script>",
        "${datum}",
        "]); alert(1)//",
    ]
    result = survey(
        [
            Benchmark.of_series(
                name, tuple(np.array([1.0 + at, 1.1]) for at in range(8)), application=name, unit="<b>",
                conditions={
                    "version": (name, f"{name} 2") * 4, "context": (f"x {name}",) * 4 + (f"y {name}",) * 4,
                    "order_type": ("fixed", "fixed", "random", "random") * 2, "run": tuple("01234567"),
                },
                failures=[Failure({"version": name}, name)],
            )
            for name in names
        ],
        **QUICK.get(method, {}),
    )  # fmt: skip
    drawn = {name: to_svg(chart) for name, chart in charts(result).items()}
    html = to_html(document(result), drawn)
    assert "<script>alert" not in html and "<img src=x" not in html
    assert not {"\x00", "\x1b"} & set(html)
    assert "alert(1)" in html
    assert "<script>alert" not in to_markdown(document(result)).replace("\\<", "")
    to_text(document(result))
    if method in ("spread", "order"):  # the other figures name no benchmark of a suite
        assert any("alert(1)" in text for chart in charts(result).values() for text in texts(chart))
