"""Plans in TOML: their meaning, and refusals with the place."""

import pytest

from labeler.errors import InputError
from labeler.files.measuring.plan import n_steps
from labeler.files.measuring.plan_file import example, parse_plan, read_plan, with_changes
from labeler.files.measuring.tools import TOOLS

BENCHMARK = '[[benchmarks]]\nname = "b"\ncommand = ["true"]\n'


def test_a_plan_is_a_benchmark_and_otherwise_what_is_usual():
    plan = parse_plan(BENCHMARK)
    (entry,) = plan.benchmarks
    assert (entry.name, entry.commands[""].words, entry.values, entry.timeout) == ("b", ("true",), "wall", 600)
    assert (plan.runs, plan.order, plan.interleave, plan.seed, plan.inherit) == (10, "random", True, 1, None)


def test_the_example_is_a_plan_and_says_every_tool():
    plan = parse_plan(example("plan.toml"))
    assert [entry.name for entry in plan.benchmarks] == ["sum", "sort"]
    assert n_steps(plan) == 160
    assert all(name in example("plan.toml") for name in TOOLS)


def test_the_commented_lines_of_the_example_can_be_used():
    lines = example("plan.toml").splitlines()
    start = lines.index("# [factors.cpu]")
    end = next(at for at, line in enumerate(lines) if line.startswith("# [record]"))
    used = [line.removeprefix("# ") if start <= at < end + 3 else line for at, line in enumerate(lines)]
    text = "\n".join(used).replace('"sum(range({n}))"]', '"sum(range({n}))", "{link}"]')
    plan = parse_plan(text.replace('PYTHONHASHSEED = "0"', 'PYTHONHASHSEED = "0"\nGC = "{gc}"'))
    assert [factor.kind for factor in plan.factors] == [
        "environment size", "cpu", "directory length", "link order", "variable",
    ]  # fmt: skip
    assert (plan.keep_hostname, plan.keep_environment_names) == (True, True)


def test_versions_have_commands_of_their_own_or_variables():
    plan = parse_plan(
        '[versions.old]\nbin = "./a"\n[versions.new]\nbin = "./b"\n[[benchmarks]]\nname = "b"\ncommand = ["{bin}"]\n'
        '[[benchmarks]]\nname = "c"\n[benchmarks.commands]\nold = ["x"]\nnew = ["y"]\n'
    )
    assert plan.versions == {"old": {"bin": "./a"}, "new": {"bin": "./b"}}
    assert {version: command.words for version, command in plan.benchmarks[1].commands.items()} == {
        "old": ("x",), "new": ("y",),
    }  # fmt: skip


def test_orders_of_linking_are_drawn_from_the_seed_and_differ():
    text = '[factors.link]\nkind = "link order"\nfiles = ["a", "b", "c"]\norders = 6\n' + BENCHMARK.replace(
        '["true"]', '["cc", "{link}"]'
    )
    (factor,) = parse_plan(text).factors
    assert factor.levels[0].words == ("a", "b", "c")
    assert len({level.words for level in factor.levels}) == 6
    assert parse_plan(text) == parse_plan(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("runs = 3", "no benchmark"),
        ("runs = 0\n" + BENCHMARK, "runs.*got 0"),
        ("runs = true\n" + BENCHMARK, "runs must be a whole number"),
        ("run = 3\n" + BENCHMARK, "the plan: unknown key 'run'; known keys are seed, versions"),
        ('order = "shuffled"\n' + BENCHMARK, "order must be one of fixed, random, both"),
        (BENCHMARK + 'comand = ["x"]', "benchmark 'b': unknown key 'comand'"),
        (BENCHMARK + BENCHMARK, "name 'b'"),
        (BENCHMARK.replace('["true"]', '"true"'), "'b': command"),
        (BENCHMARK.replace('["true"]', "[]"), "must be a list of words"),
        (BENCHMARK + "shell = true", "single text because shell"),
        (BENCHMARK.replace("true", "{x}"), r"unknown variable \{x\}; known variables are .*\. .* \{\{x\}\}"),
        ('[[benchmarks]]\nname = "b"', "no command; write"),
        ('[[benchmarks]]\nname = "b"\ntool = "jmh"', "target is missing: the jar"),
        ('[[benchmarks]]\nname = "b"\ntool = "perf"\ntarget = "x"', "tool must be one of pyperf"),
        ('[[benchmarks]]\nname = "b"\ntool = "pyperf"\ntarget = "x"\nonly = "y"', "cannot run a part"),
        (BENCHMARK + 'values = "clock"', "values must be one of wall, cpu, stdout, file"),
        (BENCHMARK + 'unit = "ms"', "times of processes"),
        (BENCHMARK + "timeout = 0", "timeout.*0.001"),
        (BENCHMARK + "timeout = inf", "timeout must be a number"),
        ('versions = ["old", "new"]\n' + BENCHMARK, "versions.old: no command uses {version}"),
        ("[versions.old]\nx = 1\n[versions.new]\n" + BENCHMARK.replace("true", "{x}"),
         r"version 'new' does not set \{x\}"),
        (BENCHMARK + '[benchmarks.commands]\nold = ["x"]', "commands.old: unknown version"),
        ("[factors.gc]\nlevels = [1, 2]\n" + BENCHMARK, r"uses \{gc\}"),
        ("[factors.gc]\nlevels = [1, 1]\n" + BENCHMARK.replace("true", "{gc}"), "levels must differ"),
        ("[factors.gc]\nlevels = 3\n" + BENCHMARK, "levels must be a list"),
        ("[factors.version]\nlevels = [1]\n" + BENCHMARK, "name of a factor"),
        ('[factors.e]\nkind = "environment size"\nlevels = [-1]\n' + BENCHMARK, "0 to 100000"),
        ('[factors.e]\nkind = "cpu"\nlevels = ["one"]\n' + BENCHMARK, "processors such as 0"),
        ('[factors.e]\nkind = "link order"\nfiles = ["a", "b"]\norders = 3\n' + BENCHMARK, "at most 2"),
        ('[factors.e]\nlevels = [["-O", "3"]]\n' + BENCHMARK.replace("true", "x{e}"), "separate word"),
        ("contexts = 2\n" + BENCHMARK, "contexts.*1 to 1"),
        ("runs = 2000000\n" + BENCHMARK, "2,000,000 runs; the limit is 1,000,000"),
        ('reset = "never"\n' + BENCHMARK, "the plan: reset must be one of pass, run"),
        ('reset = ["x"]\n' + BENCHMARK, "the plan: reset must be a text"),
        (BENCHMARK + 'reset = "pass"', "benchmark 'b': unknown key 'reset'"),
        (BENCHMARK + "several_per_line = true", "unknown key 'several_per_line'"),
        (BENCHMARK + 'values = "stdout"\nseveral_per_line = 1', "several_per_line must be true or false"),
        ("altered = 3\n" + BENCHMARK, r"altered must be a list, such as \["),
        ("altered = []\n" + BENCHMARK, "at least one method besides the baseline"),
        ('altered = ["baseline"]\n' + BENCHMARK, "at least one method besides the baseline"),
        ('altered = ["a", "a"]\n' + BENCHMARK.replace("true", "{altered}"), "a method occurs twice"),
        ('altered = ["a"]\n' + BENCHMARK, r"altered: no command or environment uses \{altered\}"),
        ('contexts = 1\naltered = ["a"]\n' + BENCHMARK.replace("true", "{altered}"), "contexts must be left out"),
        ('altered = ["a"]\n[factors.altered]\nlevels = [1]\n' + BENCHMARK.replace("true", "{altered}"),
         "factors.altered: the plan also has the key altered"),
        ("inherit = 3\n" + BENCHMARK, "list of names"),
        ("a = [", "Invalid value"),
    ],
)  # fmt: skip
def test_what_a_plan_cannot_mean_is_refused_with_its_place(tmp_path, text, message):
    file = tmp_path / "plan.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as refused:
        read_plan(file)
    assert str(refused.value).startswith((f"{file}: ", f"{file} is not valid TOML: "))


def test_a_plan_that_is_not_there_says_how_to_get_one(tmp_path):
    with pytest.raises(InputError, match=r"cannot be read: No such file or directory\. `labeler measure --init`"):
        read_plan(tmp_path / "plan.toml")
    (tmp_path / "plan.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        read_plan(tmp_path / "plan.toml")


def test_the_command_line_changes_a_plan_within_its_bounds():
    assert with_changes(parse_plan(BENCHMARK), runs=3, interleave=None).runs == 3
    with pytest.raises(InputError, match="the limit is 1,000,000"):
        with_changes(parse_plan(BENCHMARK), runs=2_000_000)


@pytest.mark.parametrize(
    ("altered", "levels"),
    [
        ('["parse"]', {"baseline": ("baseline",), "parse": ("parse",)}),
        ('["parse", "baseline"]', {"parse": ("parse",), "baseline": ("baseline",)}),
        ('{ parse = ["-D", "x"] }', {"baseline": (), "parse": ("-D", "x")}),
        ('{ none = "0", baseline = "1" }', {"none": ("0",), "baseline": ("1",)}),
    ],
)
def test_altered_methods_always_have_a_baseline(altered, levels):
    plan = parse_plan(f"altered = {altered}\n" + BENCHMARK.replace('"true"', '"x", "{altered}"'))
    (factor,) = plan.factors
    assert {level.name: level.words for level in factor.levels} == levels
    assert plan.altered == tuple(name for name in levels if name != "baseline")
    assert plan.factor_names == ()
