"""What the spread of runs tells, in words and tables."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from analysis.document import (
    Block,
    Bullets,
    Document,
    Figure,
    Paragraph,
    Section,
    Table,
    clean,
    estimate,
    interval,
    number,
    p_value,
    percent,
    plain,
    table,
    value_in_words,
    words,
)
from analysis.spread import BUCKETS, Survey

Content = Mapping[str, Any]

N_ROWS = 40  # of a table; all are in the JSON
N_NAMED = 3
FIRST, _, _, *WIDE = BUCKETS


def document(survey: Survey) -> Document:
    """The report on the spread of runs.

    Parameters
    ----------
    survey : Survey
    """
    content = clean(plain(survey))
    sections = [Section("In short", (Bullets(tuple(_in_short(content))),))]
    if content["overall"]["n"]:
        sections += [
            Section("How far apart runs are", tuple(_buckets(content))),
            Section("Benchmarks, the widest first", tuple(_benchmarks(content))),
        ]
    if content["score"]:
        sections.append(Section("What the suite notices", tuple(_score(content["score"]))))
    sections += [
        Section("What was left out", tuple(_left_out(content))),
        Section("How it was computed", tuple(_parameters(content))),
    ]
    lead = "How far apart the runs of each benchmark are, and what slowdown that leaves to be seen"
    return Document("Spread of runs", lead, "", tuple(sections), kind="spread report")


def _in_short(content: Content) -> Iterator[str]:
    row = content["overall"]
    if not row["n"]:
        yield "No benchmark has two runs or more whose spread is defined: nothing can be said of their stability."
        yield "Measure every benchmark in several runs, each in a process of its own; five or more are usual."
    else:
        yield from _level_in_short(content, row)
        yield from _limits_in_short(content)
    if content["score"]:
        yield from _score_in_short(content["score"])


def _level_in_short(content: Content, row: Content) -> Iterator[str]:
    stable, wide = row["shares"][FIRST], sum(row["counts"][name] for name in WIDE)
    yield (
        f"The runs of {row['counts'][FIRST]} of {_count(row['n'], 'benchmark')} ({_asked(content)}"
        f"{percent(stable['value'])}, interval {interval(stable)}) stay within 5 % of each other, those of {wide} "
        f"({percent(wide / row['n'])}) are more than 25 % apart ({_runs_in_words(content)})."
    )
    yield (
        f"The median spread is {percent(row['median'])}. By the source's rule that is the smallest slowdown such a "
        "benchmark shows: one below its spread looks like the difference between two of its runs without any change."
    )
    if content["v"]["value"] is not None:
        share = content["v"]["value"] / 2
        yield f"All but the widest 5 % of the benchmarks would show a slowdown of {percent(share)} by this rule."
    worst = [one for one in _widest(content) if one["bucket"] == WIDE[-1]][:N_NAMED]
    if worst:
        names = ", ".join(f"{one['name']} ({percent(one['judged'])})" for one in worst)
        yield f"Mend or drop first, as their runs are more than 50 % apart: {names}."


def _limits_in_short(content: Content) -> Iterator[str]:
    per = content["per"]
    some = [one for one in content["spreads"] if one["bucket"] and one["n_runs"] > per and one["per_spread"]["value"]]
    grows = "The spread grows with the number of runs, although more runs make a comparison more exact"
    if some:
        over_all = median([one["max_spread"]["value"] for one in some])
        over_some = median([one["per_spread"]["value"] for one in some])
        grows += f": over {per} runs its median is {percent(over_some)}, over all runs {percent(over_all)}"
    yield (
        f"{grows}. Set it beside others of the same number of runs only, and take it for a rough guide: whether two "
        "versions differ is better asked of the means of their runs."
    )


def _score_in_short(score: Content) -> Iterator[str]:
    total = score["variants"]["total"]
    if total["score"]["value"] is None:
        yield f"What the suite notices cannot be said: {total['score']['reason']}."
        return
    yield (
        f"The suite notices {len(total['covered'])} of {_count(len(score['methods']), 'altered method')}: an API "
        f"benchmarking score of {number(total['score']['value'], 0)} ({_ends(total['score'])}). A difference counts "
        f"from {percent(score['v']['value'] / 2)} on, in every run."
    )
    missed = [method for method in score["methods"] if method not in total["covered"]]
    if missed:
        yield (
            f"Noticed by no benchmark: {_listed(missed)}. Add a benchmark that calls them, or make the benchmarks more "
            "stable."
        )
    once = [
        f"{one['method']} (by {one['benchmark']})"
        for one in score["detections"]
        if _found(one) and score["redundancy"][one["method"]] == 1
    ]
    if once:
        yield f"Noticed by one benchmark only, which should therefore stay: {_listed(once)}."


def _buckets(content: Content) -> Iterator[Block]:
    rows = [("all", content["overall"])] if len(content["applications"]) != 1 else []
    named = sorted(content["applications"], key=lambda row: -(row["median"] or 0))
    rows += [(row["application"] or "no application", row) for row in named if row["n"]]
    if content["parameters"]["per"] is None:
        meaning = "over all runs of a benchmark"
    else:
        meaning = f"averaged over all choices of {content['per']} runs"
    yield _table(
        f"Benchmarks by spread, (slowest run − fastest run) / mean of the runs, {meaning}. A spread on the border is "
        "in the lower bucket, 0 in the first.",
        ("Application", "Benchmarks", "Runs", *BUCKETS, "Median"),
        [
            (name, row["n"], _range(row["n_runs"]), *row["counts"].values(), percent(row["median"]))
            for name, row in rows
        ],
        numeric=range(1, 4 + len(BUCKETS)),
    )
    yield Figure(
        "max-spread",
        "How to read it: the further to the right, the larger a slowdown must be to be seen. A row with strokes on "
        "both sides of the dashed lines mixes benchmarks to rely on with others; see the table for their names.",
    )
    yield Figure("spread-buckets", "The same in buckets: the lighter a bar, the more stable the application.")


def _benchmarks(content: Content) -> Iterator[Block]:
    per = content["per"]
    yield _table(
        f"Spread: over all runs, and averaged over choices of {per} of them, to compare with benchmarks of {per} runs. "
        "CV: standard deviation of the runs over their mean, which does not grow with their number.",
        ("Benchmark", "Application", "Runs", "Spread", f"Over {per}", "CV", "Bucket"),
        [
            (
                one["name"], one["application"], one["n_runs"], percent(one["max_spread"]["value"]),
                percent(one["per_spread"]["value"]), percent(one["cv"]["value"]), one["bucket"],
            )
            for one in _widest(content)
        ],
        numeric=(2, 3, 4, 5),
    )  # fmt: skip


def _score(score: Content) -> Iterator[Block]:
    yield Paragraph(
        "A benchmark notices an altered method if, in every run, the iterations with and without the change differ by "
        f"a rank-sum test, and their means by at least v / 2 = {percent(_half(score['v']['value']))}. A change for the "
        "better counts as well. The test takes iterations of one run for independent, which makes its p too small; "
        "Bonferroni's and Holm's corrections for the number of questions stand beside it."
    )
    yield table(
        "API benchmarking score: the percentage of altered methods that at least one benchmark notices. Its interval "
        "takes the methods for a random sample. Relative: without the 5 % of the benchmarks of widest baseline; "
        "absolute: without those above 50 %.",
        ("Variant", "Score", "Interval", "Noticed", "Benchmarks", "Without"),
        [_variant(name, one) for name, one in score["variants"].items()],
        numeric=(1, 3, 4),
    )
    if not score["detections"]:
        return
    yield _methods(score)
    yield Figure(
        "noticed-by", "A row without a square tells of no altered method; a column without one is a blind spot."
    )
    yield Figure("redundancy", "Far to the right: methods that many benchmarks notice, where some could be spared.")
    yield _table(
        "Every benchmark with every altered method, what was noticed first. Change: (altered − baseline) / baseline, "
        "run by run; above 0 the altered one has the larger values. p: the largest of the runs.",
        ("Benchmark", "Method", "Noticed", "Change, run by run", "p", "Bonferroni", "Holm", "Remark"),
        [_detection(one) for one in sorted(score["detections"], key=lambda one: not _found(one))],
        numeric=(4, 5, 6),
    )


def _methods(score: Content) -> Table:
    by = {method: [one for one in score["detections"] if one["method"] == method] for method in score["methods"]}
    rows = sorted(by.items(), key=lambda row: score["redundancy"][row[0]])
    return _table(
        "Altered methods, those that nothing notices first.",
        ("Method", "Benchmarks that notice it", "of", "Which"),
        [
            (name, score["redundancy"][name], len(of), _listed([one["benchmark"] for one in of if _found(one)]))
            for name, of in rows
        ],
        numeric=(1, 2),
    )


def _variant(name: str, one: Content) -> tuple[Any, ...]:
    score = one["score"]
    shown = "undefined" if score["value"] is None else number(score["value"], 0)
    return name, shown, _ends(score), len(one["covered"]), one["n_benchmarks"], _listed(one["without"])


def _detection(one: Content) -> tuple[Any, ...]:
    found = one["regression"]
    changes = ", ".join(percent(pair["difference"]) for pair in found["pairs"][:N_NAMED])
    changes += ", …" if len(found["pairs"]) > N_NAMED else ""
    p = (p_value(found["p"]), p_value(one["p_bonferroni"]), p_value(one["p_holm"]))
    remark = f"cannot be detected: {found['reason']}" if found["reason"] else ""
    return one["benchmark"], one["method"], "yes" if found["found"] else "no", changes, *p, remark


def _left_out(content: Content) -> Iterator[Block]:
    rows = [(one["name"], one["reason"]) for one in content["left_out"]]
    score = [(one["name"], one["reason"]) for one in content["score"]["left_out"]] if content["score"] else []
    if not rows and not score:
        yield Paragraph("Nothing.")
    if rows:
        yield _table("In no bucket.", ("Benchmark", "Why"), rows)
    if score:
        yield _table("Not, or not wholly, in the API benchmarking score.", ("Benchmark", "Why"), score)


def _parameters(content: Content) -> Iterator[Block]:
    v = content["v"]
    yield Paragraph(
        "Spread, buckets, v and the score: Laaber and Leitner (2018), doi:10.1145/3196398.3196407. v is twice the "
        f"largest spread but for the widest 5 % of them: {estimate(v)}."
        + (f" The score was computed with v = {estimate(content['score']['v'])}." if content["score"] else "")
    )
    yield table(
        "Every parameter.",
        ("Parameter", "Value"),
        [(words(name), value_in_words(value)) for name, value in content["parameters"].items()],
    )


def _table(caption: str, header: Sequence[str], rows: Sequence[Sequence[Any]], numeric: Sequence[int] = ()) -> Table:
    """The first rows of a table, and how many there are."""
    cut = f" The first {N_ROWS} of {len(rows)}; --json holds all." if len(rows) > N_ROWS else ""
    return table(caption + cut, header, rows[:N_ROWS], numeric)


def _widest(content: Content) -> list[Content]:
    return sorted((one for one in content["spreads"] if one["bucket"]), key=lambda one: -one["judged"])


def _runs_in_words(content: Content) -> str:
    n_runs = content["overall"]["n_runs"]
    each = _count(n_runs[0], "run") + " each" if len(n_runs) == 1 else f"{_range(n_runs)} runs each"
    return each if content["parameters"]["per"] is None else f"{each}, seen {content['per']} at a time"


def _asked(content: Content) -> str:
    """Of how many benchmarks the versions, altered methods and contexts were counted, where that is not the same."""
    kept = [(one["application"], one["benchmark"]) for one in content["spreads"] if one["bucket"]]
    n = len(set(kept))
    return "" if n == len(kept) else f"{n} on each version, altered method and context by itself; "


def _count(n: int, thing: str) -> str:
    return f"{n} {thing}{'' if n == 1 else 's'}"


def _range(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:N_NAMED])
    return f"{shown} and {len(names) - N_NAMED} more" if len(names) > N_NAMED else shown


def _ends(score: Content) -> str:
    return interval(
        {name: None if end is None else end / 100 for name, end in score.items() if name in ("low", "high")}
    )


def _found(one: Content) -> bool:
    return bool(one["regression"]["found"])


def _half(v: float | None) -> float | None:
    return None if v is None else v / 2
