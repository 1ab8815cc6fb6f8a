"""Judge the runs of each benchmark, compare them with a baseline, and return an exit code for a build."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from analysis.benchmark import EVERY_ITERATION, Benchmark, PerRun
from analysis.check._benchmarks import judge, reasons_of, rows_to_explain
from analysis.check._changes import changes_of
from analysis.check._findings import findings_of
from analysis.check._model import DEFAULT_RULES, N_FEW, SAME_DATA, Check, Rules, outcome_of
from analysis.check._notes import sentence_of_names, sentences_of_suite
from analysis.check._precision import detectable_changes_of, with_detectable
from analysis.check._sides import by_machine, compare_sides, levels_of, with_former_names, with_steps, without_same_runs
from analysis.document import counted


def check(
    benchmarks: Sequence[Benchmark],
    baseline: Sequence[Benchmark] | None = None,
    rules: Rules = DEFAULT_RULES,
    *,
    per_run: PerRun = EVERY_ITERATION,
    warnings: Sequence[str] = (),
    same_files: Sequence[str] = (),
    explain: bool = True,
) -> Check:
    """Judge each benchmark of the candidate, and compare it with the baseline if there is one.

    Raises ValueError if an option is invalid, or no iteration of a run remains after the warm-up.

    `baseline`: if there is a baseline, only changes decide the outcome, and the verdicts are for information;
    `warnings`: warnings about the measurements that are already known, for example from reading the files;
    `same_files`: names of files that are on both sides; `explain`: whether to find out why runs differ, which takes
    most of the time.
    """
    after, before = levels_of(benchmarks, per_run), levels_of(baseline or (), per_run)
    notes, of_suite = [], [f"The same file is on both sides: {name}." for name in same_files[:N_FEW]]
    renamed = list(with_former_names(before, after))
    same = list(without_same_runs(before, after))
    are_all_same = {name for name, _n, is_empty in same if is_empty}
    if same:
        n_runs = sum(n for _name, n, _is_empty in same)
        words = f"{counted(n_runs, 'run')} of {counted(len(same), 'benchmark')}"
        if len(are_all_same) == len(before.keys() & after.keys()):
            of_suite.append(SAME_DATA)
        else:
            of_suite.append(f"{words} are in the files of both sides, so they count on neither side.")
    notes += list(by_machine(before, after))
    notes += sentence_of_names(renamed)
    common = [key for key in after if key in before]
    compared = with_steps([compare_sides(before[key], after[key], are_all_same) for key in common])
    suite, changes = changes_of(compared, rules)
    n_tests = Counter(level.family for level in after.values())
    detectable = dict(zip(common, detectable_changes_of(compared, rules, is_paired=suite.is_paired), strict=True))
    checked = {
        key: judge(level, rules, per_run, n_tests[level.family], detectable.get(key)) for key, level in after.items()
    }
    rows = list(checked.values())
    if explain:
        explained = {id(row) for row in rows_to_explain(rows, changes)}
        rows = [
            replace(row, reasons=reasons_of(after[key], rules, per_run, n_tests)) if id(row) in explained else row
            for key, row in checked.items()
        ]
    missing = tuple(level.benchmark.name for key, level in before.items() if key not in after)
    new = tuple(level.benchmark.name for key, level in after.items() if baseline is not None and key not in before)
    if baseline is not None:
        suite = with_detectable(suite, [detectable[key] for key in common], changes, compared)
        more_notes, more = sentences_of_suite(suite, compared, changes, rules)
        notes, of_suite = [*notes, *more_notes], [*of_suite, *more]
    findings = findings_of(rows, changes if baseline is not None else None, missing, before.values(), rules, of_suite)
    parameters = {
        **{name: value for name, value in vars(rules).items() if name != "model"},
        "warmup": per_run.warmup, "aggregate": per_run.aggregate,
        "against_a_baseline": baseline is not None,
    }  # fmt: skip
    if rules.model is not None:
        parameters["model"] = rules.model.formula
    formers = {level.benchmark.name: level.benchmark.former_names for level in after.values()}
    return Check(
        tuple(rows), changes, new, missing, tuple(findings), tuple(warnings), parameters, outcome_of(findings),
        suite=suite, notes=tuple(notes), former_names={name: former for name, former in formers.items() if former},
    )  # fmt: skip
