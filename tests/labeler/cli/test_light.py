"""The check, `noise`, the five methods and conversion to CSV run with only numpy, scipy, click and orjson."""

import json
import subprocess
import sys
from pathlib import Path

from tests.labeler.commands import run

ROOT = Path(__file__).parents[3]
FILES = ROOT / "tests" / "labeler" / "files" / "formats" / "files"
LIGHT = {"numpy", "scipy", "click", "orjson"}

# Runs the commands on standard input (a JSON list of lists) in a process that finds no other installed package.
PROGRAM = """
import importlib.machinery, json, sys
from pathlib import Path

class Hidden:
    def find_spec(self, name, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        place = Path(spec.origin) if spec is not None and spec.origin else None
        if place and "site-packages" in place.parts and name.partition(".")[0] not in {LIGHT}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None

sys.meta_path.insert(0, Hidden())
from click.testing import CliRunner
from labeler.cli import main

results = []
for arguments in json.load(sys.stdin):
    done = CliRunner().invoke(main, arguments)
    results.append([done.exit_code, done.output])
print(json.dumps(results))
""".replace("{LIGHT}", repr(LIGHT))


def light(tmp_path, *commands):
    """Return the exit code and the output of each command."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps([list(map(str, command)) for command in commands]),
        capture_output=True, text=True, cwd=tmp_path, env={"PYTHONPATH": str(ROOT), "PATH": ""}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_every_text_format_is_converted_to_the_same_numbers_as_with_all_packages(tmp_path):
    files = [path for path in sorted(FILES.rglob("*")) if path.is_file()]
    (tmp_path / "full").mkdir()
    commands = [("convert", path, "--to", "csv", "-o", f"{at}.csv") for at, path in enumerate(files)]
    for (*_convert, out), path, (code, output) in zip(commands, files, light(tmp_path, *commands), strict=True):
        full = run("convert", path, "--to", "csv", "-o", tmp_path / "full" / out, code=None)
        assert (full.exit_code, full.output.replace(f"{tmp_path}/full/", "")) == (code, output), path.name
        if code == 0:
            assert (tmp_path / out).read_bytes() == (tmp_path / "full" / out).read_bytes(), path.name
    assert len(list(tmp_path.glob("*.csv"))) > 30


def test_a_check_writes_its_results_without_further_packages(tmp_path):
    before, after = (ROOT / "data" / "check" / name for name in ("before.json", "after.json"))
    few = tmp_path / "few.csv"
    few.write_text("benchmark,run,value,unit\n" + "".join(f"b,{run},{1 + run / 100},s\n" for run in range(6)))
    outputs = ("--json", "1.json", "--markdown", "1.md", "--junit", "1.xml", "-v")
    (check, noise) = light(
        tmp_path, ("check", after, "--against", before, *outputs, "--annotations", "github"), ("noise", few)
    )  # fmt: skip
    assert check[0] == 1 and noise[0] == 0, (check, noise)
    assert {path.name for path in tmp_path.iterdir()} == {"1.json", "1.md", "1.xml", few.name}


def test_methods_print_their_results_without_further_packages_and_what_needs_more_says_how_to_install_it(tmp_path):
    methods = ("spread", "trust", "order", "contexts", "steady")
    rows = [
        f"{name},{run},{version},{context},{order},{position},{1 + run / 100 + position / 50},s"
        for name in "a" for version in ("old", "new") for context in ("x", "y")
        for order, position in (("fixed", 1), ("random", 2)) for run in range(4)
    ]  # fmt: skip
    header = "benchmark,run,version,context,order_type,order_position,value,unit"
    (tmp_path / "t.csv").write_text("\n".join([header, *rows]))
    (tmp_path / "t.parquet").write_bytes(b"PAR1" + b"\0" * 20 + b"PAR1")
    *printed, page, parquet = light(
        tmp_path, *((method, "t.csv") for method in methods), ("spread", "t.csv", "--json"),
        ("spread", "t.csv", "--html", "t.html"), ("check", "t.parquet"),
    )  # fmt: skip
    assert [code for code, _ in printed] == [0] * (len(methods) + 1), printed
    assert all("In short" in text for _, text in printed[:-1])
    assert '"spreads"' in printed[-1][1]
    for code, text in (page, parquet):
        assert code == 2 and "pip install benchmark-run-labeler" in text, text
