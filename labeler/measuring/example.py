"""The plan that `labeler measure --init` writes: an example that works on any machine, with every key explained."""

EXAMPLE = """\
# A measurement plan for `labeler measure`. Run it with
#     labeler measure {name} --out results/
# Ctrl+C stops it; the same command goes on where it stopped.

runs = 10              # of each benchmark, in each version and context; every run is a new process
order = "both"         # of the benchmarks: "fixed" as below, "random" drawn anew each time, or "both" in turns
interleave = true      # versions take turns (A B B A), so that a machine that slows down hits both alike
seed = 1               # the same seed gives the same order
timeout = 60           # seconds after which a run is stopped and counted as failed
# directory = "."      # where commands run, as from this file
# pause = 0.5          # seconds of rest before each run
# inherit = ["PATH"]   # which variables of your environment commands see; without this line: all

# Commands are lists of words, read by no shell. {{version}}, {{python}}, {{run}}, {{output}} and the names of your
# own variables and factors are filled in.
[[benchmarks]]
name = "sum"
command = ["{{python}}", "-S", "-c", "sum(range({{n}}))"]
values = "cpu"         # "wall": time of the process (the default); "cpu": its processor time;
                       # "stdout": numbers, or the output of any tool that `labeler formats` lists;
                       # "file": the same from the file {{output}} that the command writes

[[benchmarks]]
name = "sort"
command = ["{{python}}", "-S", "-c", "sorted(range({{n}}, 0, -1), key=str)"]
values = "cpu"
# setup = ["make"]     # before each run, not measured; reset = [...] comes before it

# Instead of a command, a tool: {tools}
# [[benchmarks]]
# name = "suite"
# tool = "pyperf"
# target = "bench.py"

# Two builds are two versions, each with variables of its own.
[versions.old]
n = 200000
[versions.new]
n = 206000             # 3 % more work: can it be seen?

# What varies between measurement contexts: every combination is measured, or as many as `contexts = N` at the top says.
[factors.env]
kind = "environment size"      # bytes that are added to the environment
levels = [0, 2048]
# [factors.cpu]
# kind = "cpu"                 # the processors to which a run is pinned
# levels = ["0", "1", "any"]
# [factors.folder]
# kind = "directory length"    # letters that are added to the path of the working directory
# levels = [0, 100]
# [factors.link]
# kind = "link order"          # {{link}} in a command becomes the files in another order
# files = ["a.o", "b.o", "c.o"]
# orders = 3
# [factors.gc]                 # anything of your own: {{gc}} in a command or in [environment]
# levels = ["on", "off"]

# [environment]                # variables that are set for every command
# PYTHONHASHSEED = "0"

# [record]                     # what is not recorded unless you ask
# hostname = true              # otherwise its hash
# environment_names = true     # the names of all variables; their values never are
"""


def example(name: str, tools: str) -> str:
    """The text of the plan, called by its own name in it."""
    return EXAMPLE.format(name=name, tools=tools)
