"""Plant faults in modules, one at a time, and count how many the tests find.

    python scripts/mutate.py analysis/statistics/intervals.py labeler/studies/items/importing.py --faults 10 --seed 1
    make mutate MODULES="analysis/statistics/intervals.py" FAULTS=20

A fault changes one operator, one number or truth value, or one condition. Only test files that use the module are run,
with slow tests left out: first the nearest files and, for a fault that these do not find, more files. The working tree
is not changed: everything happens in a copy in a temporary folder. `--out FILE` writes the table and the faults that no
test found as Markdown, again after each module; if the command was interrupted, the same command goes on with the next
module. `--at-least FILE` compares with an earlier table of the same command: exit code 1 if a fault that was found then
is not found now.
"""

import argparse
import ast
import copy
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEAVY = ("numpy", "pandas", "scipy.stats", "statsmodels.api", "altair", "streamlit")  # imported once, before forking
MODULES = (
    "analysis/statistics/intervals.py", "analysis/statistics/multiple.py", "analysis/statistics/bootstrap.py",
    "analysis/statistics/two_samples.py", "analysis/runs/comparison.py", "analysis/runs/power.py",
    "analysis/raters/agreement/_formulas.py", "analysis/raters/consensus/_votes.py",
    "analysis/raters/evaluation/_confusion.py", "analysis/methods/order/_compare.py",
    "labeler/studies/plan/design.py", "labeler/studies/plan/lifecycle.py", "labeler/studies/screen/binning.py",
    "labeler/studies/screen/timing.py", "labeler/studies/store/labels.py", "labeler/studies/store/assignments.py",
    "labeler/studies/store/migrations.py", "labeler/studies/items/browsing.py",
    "labeler/studies/labelling/reviewing.py", "labeler/studies/results/splits.py",
)  # fmt: skip  # what is examined if no module is named
N_NEAREST, N_MORE = 4, 12  # test files per module, and more of them for a fault that the nearest do not find
SLOWEST, AT_LEAST_S = 5, 30  # with more processor time than this many times the usual, tests count as hanging
WAITING = 30  # and with this many times as much time on the clock, for faults that wait forever
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """One change of a module's source."""

    where: str  # the function and the line
    before: str
    after: str
    source: str  # of the whole module

    def __str__(self) -> str:
        return f"{self.where}: `{self.before}` became `{self.after}`"


@dataclass
class Outcome:
    module: str
    n_files: int  # the nearest test files
    found: list[str]
    survived: list[str]


def faults_in(source: str) -> list[Fault]:
    """Return every fault that can be planted in a module, in the order of the source."""
    lines = [line.encode() for line in source.splitlines(keepends=True)]
    starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
    raw = source.encode()
    faults = []
    for name, node in _places(ast.parse(source), "module"):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        for changed in _changes(node):
            before, after = raw[begin:end].decode(), ast.unparse(ast.fix_missing_locations(changed))
            if ast.dump(ast.parse(f"({before})", mode="eval")) == ast.dump(ast.parse(after, mode="eval")):
                continue
            text = (raw[:begin] + f"({after})".encode() + raw[end:]).decode()
            faults.append(Fault(f"{name}, line {node.lineno}", " ".join(before.split()), after, text))
    return faults


def _places(node: ast.AST, name: str) -> Iterator[tuple[str, ast.expr]]:
    """Yield expressions that run, with the name of their function: no annotations, and nothing inside an f-string."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        name = node.name if name == "module" else f"{name}.{node.name}"
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr):
            continue
        if isinstance(node, ast.keyword) and node.arg == "strict":  # of `zip`: a check that fails for no one
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                if isinstance(child, ast.expr):
                    condition = field == "test" or (isinstance(node, ast.comprehension) and field == "ifs")
                    child.is_condition = condition  # type: ignore[attr-defined]
                    yield name, child
                yield from _places(child, name)


def _changes(node: ast.expr) -> Iterator[ast.expr]:
    """Yield changed copies of one expression, without changes of its parts."""
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OPERATORS:
        changed = copy.deepcopy(node)
        changed.op = OPERATORS[type(node.op)]()  # type: ignore[assignment]
        yield changed
    elif isinstance(node, ast.Compare):
        for number, operator in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[number] = OPERATORS[type(operator)]()  # type: ignore[call-overload]
            yield changed
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield copy.deepcopy(node.operand)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
    if getattr(node, "is_condition", False) and not isinstance(node, ast.Compare | ast.UnaryOp):
        yield ast.UnaryOp(ast.Not(), copy.deepcopy(node))


def tests_of(module: Path, root: Path) -> list[Path]:
    """Return the test files that use a module, nearest first: fewest imports away, then those that use least else."""
    used = _uses(root)
    distances, latest = {root / module: 0}, {root / module}
    while latest:
        latest = {path for path, modules in used.items() if modules & latest} - set(distances)
        distances |= dict.fromkeys(latest, max(distances.values()) + 1)
    tests = [path for path in distances if path.name.startswith("test_") and "browser" not in path.parts]
    stem = module.stem.strip("_")
    return sorted(tests, key=lambda path: (stem not in path.stem, distances[path], len(used[path]), path))


@cache
def _uses(root: Path) -> dict[Path, frozenset[Path]]:
    """Return, for each file, the files whose names it imports, also through an `__init__` that loads on first use."""
    paths = [path for package in ("analysis", "labeler", "tests") for path in (root / package).rglob("*.py")]
    files = {_dotted(path.relative_to(root)): path for path in paths}
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    defined = {
        path: {
            name.id if isinstance(name, ast.Name) else name.name
            for node in tree.body
            for name in (node, *getattr(node, "targets", [getattr(node, "target", None)]))
            if isinstance(name, ast.FunctionDef | ast.ClassDef | ast.Name)
        }
        for path, tree in trees.items()
    }

    def files_of(place: str, name: str) -> set[Path]:
        path = files[place]
        if f"{place}.{name}" in files:
            return {files[f"{place}.{name}"]}
        if path.name != "__init__.py" or name in defined[path]:
            return {path}
        within = {below for below in path.parent.rglob("*.py") if name in defined[below]}
        return within or {path}

    used = {}
    for path, tree in trees.items():
        found: set[Path] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {files[alias.name] for alias in node.names if alias.name in files}
            elif isinstance(node, ast.ImportFrom) and node.module in files:
                found |= {file for alias in node.names for file in files_of(node.module, alias.name)}
        used[path] = frozenset(found)
    for commands in ("labeler/cli", "labeler/files/commands", "labeler/studies/commands"):  # imported when called
        used[root / "labeler/cli/__init__.py"] |= set((root / commands).glob("*.py"))
    return used


def _dotted(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _run(tests: Iterable[Path], log: Path, limit_s: int = 3600) -> tuple[bool, float]:
    """Run the tests in a forked process until the first failure; return whether all pass, and the processor time."""
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        try:
            output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 5))  # a fault may make a loop endless
            import pytest

            options = ["-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider", "-p", "no:cov",
                       "-W", "ignore::pytest.PytestAssertRewriteWarning"]  # fmt: skip
            code = int(pytest.main([*options, *map(str, tests)]))
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
            code = 3
        finally:
            sys.stderr.flush()
            os._exit(code)  # nothing of the parent is cleaned up here
    while time.monotonic() - began < WAITING * limit_s:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0, used.ru_utime + used.ru_stime
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False, float(limit_s)


def examine(module: Path, n_faults: int, seed: int, root: Path) -> Outcome:
    """Plant faults in one module of a copy of the project."""
    path = root / module
    source = path.read_text(encoding="utf-8")
    tests = tests_of(module, root)[: N_NEAREST + N_MORE]
    if not tests:
        raise SystemExit(f"{module}: no test uses it")
    log = root / "output.txt"
    stages: list[tuple[list[Path], int]] = []  # test files, and the limit of their processor time in seconds

    def is_found(text: str) -> bool:
        for number, files in enumerate(filter(None, (tests[:N_NEAREST], tests[N_NEAREST:]))):
            if number == len(stages):
                _plant(path, source)
                passed, base_s = _run(files, log)
                if not passed:
                    output = log.read_text(errors="replace")[-3000:]
                    raise SystemExit(f"{module}: its tests fail without a fault:\n{output}")
                stages.append((files, AT_LEAST_S + int(SLOWEST * base_s)))
            _plant(path, text)
            if not _run(files, log, stages[number][1])[0]:
                return True
        return False

    possible = faults_in(source)
    chosen = random.Random(f"{seed} {module}").sample(possible, min(n_faults, len(possible)))
    outcome = Outcome(str(module), len(tests[:N_NEAREST]), [], [])
    for fault in chosen:
        found = is_found(fault.source)
        (outcome.found if found else outcome.survived).append(str(fault))
        if not found:
            print(f"    not found: {module}, {fault}", flush=True)
    _plant(path, source)
    print(f"{module}: {len(outcome.found)} of {len(chosen)} found", flush=True)
    return outcome


def _plant(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    for stale in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        stale.unlink()


def table(outcomes: list[Outcome], command: str) -> str:
    """Return the results as Markdown."""
    n_found = sum(len(outcome.found) for outcome in outcomes)
    n_all = n_found + sum(len(outcome.survived) for outcome in outcomes)
    share = f"{n_found} of {n_all} faults were found ({n_found / n_all:.1%})." if n_all else "No fault was planted."
    lines = ["# Planted faults", "", f"Written by `{command}`. {share}", ""]
    lines += ["| module | faults | found | test files |", "|---|---:|---:|---:|"]
    for outcome in outcomes:
        n_planted = len(outcome.found) + len(outcome.survived)
        lines.append(f"| `{outcome.module}` | {n_planted} | {len(outcome.found)} | {outcome.n_files} |")
    for heading, of in (("Faults that no test found", "survived"), ("Faults that were found", "found")):
        named = [f"- `{outcome.module}`, {fault}" for outcome in outcomes for fault in getattr(outcome, of)]
        lines += ["", f"## {heading}", "", *(named or ["None."])]
    return "\n".join([*lines, ""])


def finished(text: str, command: str) -> list[Outcome]:
    """Return the results in a table that the same command wrote before it was interrupted."""
    if f"Written by `{command}`." not in text:
        return []
    rows = [line.strip("|` ").split("|") for line in text.splitlines() if line.startswith("| `")]
    outcomes = [Outcome(row[0].strip("` "), int(row[3]), [], []) for row in rows]
    survived, _, found = text.partition("## Faults that were found")
    for outcome in outcomes:
        start = f"- `{outcome.module}`, "
        for lines, of in ((survived, outcome.survived), (found, outcome.found)):
            of += [line.removeprefix(start) for line in lines.splitlines() if line.startswith(start)]
    return outcomes


def lost(before: str, now: str) -> list[str]:
    """Return the faults that an earlier table lists as found and a later table lists as not found."""
    found = set(before.partition("## Faults that were found")[2].splitlines())
    survived = now.partition("## Faults that no test found")[2].partition("\n## ")[0].splitlines()
    return [line for line in survived if line.startswith("- ") and line in found]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("modules", nargs="*", type=Path, help="paths of modules, from the root of the project")
    options.add_argument("--faults", type=int, default=10, help="faults per module (default: 10)")
    options.add_argument("--seed", type=int, default=1, help="random seed of the choice (default: 1)")
    options.add_argument("--out", type=Path, help="write the table to this Markdown file")
    options.add_argument("--at-least", type=Path, metavar="FILE", help="earlier table to compare with")
    given = options.parse_args()
    before = given.at_least.read_text(encoding="utf-8") if given.at_least else ""
    modules = given.modules or [Path(name) for name in MODULES]
    for module in modules:
        if not (ROOT / module).is_file():
            options.error(f"{module}: no such module")
    words = [*map(str, given.modules), f"--faults {given.faults}", f"--seed {given.seed}"]
    command = " ".join(["python scripts/mutate.py", *words])
    out = given.out and given.out.resolve()
    before_it_ended = finished(out.read_text(encoding="utf-8"), command) if out and out.exists() else []
    outcomes = [outcome for outcome in before_it_ended if Path(outcome.module) in modules]
    done = {outcome.module for outcome in outcomes}
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "tree"
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, root / name)
        os.environ["PYTHONPATH"] = str(root)
        os.chdir(root)
        sys.path[:] = [
            str(root),
            *(place for place in sys.path if Path(place or ".").resolve() not in (ROOT, ROOT / "scripts")),
        ]
        for name in HEAVY:
            import_module(name)
        for module in (one for one in modules if str(one) not in done):
            outcomes.append(examine(module, given.faults, given.seed, root))
            if out:
                out.parent.mkdir(parents=True, exist_ok=True)
                out.write_text(table(outcomes, command), encoding="utf-8")
    text = table(outcomes, command)
    print(text.splitlines()[2])
    missed = lost(before, text)
    print("".join(f"Found before, and not now: {line.removeprefix('- ')}\n" for line in missed), end="")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
