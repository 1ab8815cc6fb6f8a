"""Compare what two versions of the code make of the same studies, byte for byte.

    python scripts/same_outputs.py COMMIT STUDY ...

For each study, the code of the commit and the code of this folder open a
copy, and write the report, the exports, the status, the plan and the pictures. Files that differ are listed; the exit
code is 1 if there are any.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
VARYING = ("reported_utc", "reported utc", "chain", "Chain")  # in lines with the time of the report, and what follows


def main() -> int:
    """Compare both versions, or write the outputs of one version in a child process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("studies", nargs="+", type=Path, metavar="STUDY")
    parser.add_argument("--within", type=Path, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.within:
        for study in options.studies:
            write_outputs(study, options.within / study.stem)
        return 0
    with TemporaryDirectory() as folder:
        here, tree = Path(folder), Path(folder, "tree")
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), options.commit], check=True)
        try:
            before = outputs(tree, options.studies, here / "before")
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)
        after = outputs(ROOT, options.studies, here / "after")
    names = before.keys() | after.keys()
    different = sorted(name for name in names if before.get(name) != after.get(name))
    for name in different:
        print(f"{name}: {difference(before.get(name), after.get(name))}")
    print(f"{len(different)} of {len(names)} files differ.")
    return 1 if different else 0


def outputs(tree: Path, studies: list[Path], out: Path) -> dict[str, bytes]:
    """Return the outputs of the code in a folder, by name."""
    out.mkdir()
    copies = []
    for study in studies:
        copy = out / study.name
        copy.write_bytes(study.read_bytes())
        copies.append(str(copy))
    command = [sys.executable, __file__, "-", *copies, "--within", str(out)]
    subprocess.run(command, cwd=tree, env=os.environ | {"PYTHONPATH": str(tree)}, check=True)
    files = (path for path in out.rglob("*") if path.is_file() and path.parent != out)
    # the order of objects in a PDF differs each time, and each PDF is drawn from an SVG that is compared
    return {str(path.relative_to(out)): stable(path.read_bytes()) for path in files if path.suffix != ".pdf"}


def write_outputs(study: Path, out: Path) -> None:
    """Run the commands on a study, in this process, with the code that is first on the path."""
    from click.testing import CliRunner

    from labeler.cli import main as cli
    from labeler.studies.items import drawing
    from labeler.studies.store import items, open_database, studies

    out.mkdir()
    of = ("--study", str(study))
    commands = {
        "status": ("status", *of, "--json"),
        "plan": ("plan", *of, "--verify"),
        "labels": ("labels", *of, "--out", str(out / "labels.csv")),
        "verdicts": ("verdicts", *of, "--out", str(out / "verdicts.csv")),
        "splits": ("adjudicate", *of, "--json"),
        "calibration": ("calibration", *of, "--json"),
        "report": ("report", *of, "--out", str(out / "report")),
    }
    commands |= {
        form: ("labels", *of, "--layout", form, "--out", str(out / f"labels-{form}"))
        for form in ("wide", "label-studio", "potato", "rater", "irrcac")
    }
    for name, arguments in commands.items():
        result = CliRunner().invoke(cli, list(arguments))
        said = f"{result.exit_code}\n{result.stdout}{result.stderr}".replace(str(study.parent), "")
        (out / f"{name}.txt").write_text(said, encoding="utf-8")
    with open_database(study) as db:
        pictures = {item.name: drawing.payload_of_item(db, item.item_id) for item in items.all_items(db) if item.n_runs}
        hashes = {name: hashlib.sha256(repr(sorted(payload.items())).encode()).hexdigest() for name, payload in
                  pictures.items()}  # fmt: skip
        (out / "pictures.json").write_text(json.dumps([studies.get(db).plan_hash, hashes]), encoding="utf-8")


def stable(content: bytes) -> bytes:
    """Return an output without the lines that differ each time it is written."""
    lines = content.split(b"\n")
    return b"\n".join(line for line in lines if not any(word.encode() in line for word in VARYING))


def difference(before: bytes | None, after: bytes | None) -> str:
    """Return the first lines that differ."""
    if before is None or after is None:
        return "only after" if before is None else "only before"
    pairs = zip(before.split(b"\n"), after.split(b"\n"), strict=False)
    first = next((pair for pair in pairs if pair[0] != pair[1]), (before[-200:], after[-200:]))
    return f"{first[0][:200]!r} -> {first[1][:200]!r}"


if __name__ == "__main__":
    sys.exit(main())
