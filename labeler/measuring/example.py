"""Provide the example plan that `labeler measure --init` writes.

The plan works on any machine, and its comments explain every key.
"""

EXAMPLE = """\
# A measurement plan for `labeler measure`. Run it with
#     labeler measure {name} --out results/
# Ctrl+C stops it; run the same command again to continue.

runs = 10              # of each benchmark, in each version and context; every run is a new process
order = "both"         # of the benchmarks: "fixed" as below, "random" (new each time), or "both" alternating
interleave = true      # versions alternate (A B B A), so a machine that slows down affects both equally
seed = 1               # the same seed gives the same order
timeout = 60           # seconds after which a run is stopped and counted as failed
reset = "pass"         # reset_command runs once before each pass of all benchmarks; "run": before every run,
                       # which removes what a benchmark leaves behind, and so every effect of order
# reset_command = ["git", "clean", "-fdq", "data"]
# directory = "."      # working directory of commands, relative to this file
# pause = 0.5          # seconds of rest before each run
# inherit = ["PATH"]   # which variables of your environment commands see; without this line: all
# altered = ["parse"]  # methods that are made slower on purpose: {{altered}} in a command becomes baseline, then
                       # parse. `labeler spread` then computes which of these methods the benchmarks notice

# Commands are lists of words; no shell reads them. {{version}}, {{python}}, {{run}}, {{output}} and the names of your
# own variables and factors are filled in.
[[benchmarks]]
name = "sum"
command = ["{{python}}", "-S", "-c", "sum(range({{n}}))"]
values = "cpu"         # "wall": time of the process (the default); "cpu": its processor time;
                       # "stdout": one number per line and iteration (several_per_line = true: several), or the
                       # output of any tool that `labeler formats` lists;
                       # "file": the same from the file {{output}} that the command writes

[[benchmarks]]
name = "sort"
command = ["{{python}}", "-S", "-c", "sorted(range({{n}}, 0, -1), key=str)"]
values = "cpu"
# setup = ["make"]     # before each run, not measured

# Instead of a command, a tool: {tools}
# [[benchmarks]]
# name = "suite"
# tool = "pyperf"
# target = "bench.py"

# Two builds are two versions, each with its own variables.
[versions.old]
n = 200000
[versions.new]
n = 206000             # 3 % more work: can a test detect it?

# Factors vary between measurement contexts. All combinations are measured, or N if the top has `contexts = N`.
[factors.env]
kind = "environment size"      # bytes that are added to the environment
levels = [0, 2048]
# [factors.cpu]
# kind = "cpu"                 # the processors to which a run is pinned
# levels = ["0", "1", "any"]
# [factors.folder]
# kind = "directory length"    # characters that are added to the path of the working directory
# levels = [0, 100]
# [factors.link]
# kind = "link order"          # {{link}} in a command becomes the files in a different order
# files = ["a.o", "b.o", "c.o"]
# orders = 3
# [factors.gc]                 # your own factor: use {{gc}} in a command or in [environment]
# levels = ["on", "off"]

# [environment]                # variables that are set for every command
# PYTHONHASHSEED = "0"

# [record]                     # optional data, not recorded by default
# hostname = true              # otherwise only its hash
# environment_names = true     # names of all variables; values are never recorded
"""


def example(name: str, tools: str) -> str:
    """Return the text of the example plan; comments in the text mention the file `name` and the tools."""
    return EXAMPLE.format(name=name, tools=tools)
