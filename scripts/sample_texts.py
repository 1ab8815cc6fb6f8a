"""Draw texts of the project at random, so that someone who did not write them can rate them plain, stiff or unclear.

    python scripts/sample_texts.py --seed 1 [--docstrings 60] [--strings 60] [--paragraphs 30]

Docstrings are those of `analysis` and `labeler`; interface strings are the sentences and labels in the pages, the
review screen, the commands and the messages of services; paragraphs are the prose of README and docs, without the
references that a script writes.
"""

import argparse
import ast
import random
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
INTERFACE = (
    "labeler/studies/ui",
    "labeler/cli",
    "labeler/studies",
    "labeler/files/formats",
    "labeler/errors.py",
    "analysis",
)
GENERATED = {"api.md", "commands.md"}
MIN_WORDS, MIN_PARAGRAPH = 3, 12
Text = tuple[str, str]  # place, text


def docstrings() -> Iterator[Text]:
    """Yield the summary and body of each docstring, without sections such as parameters and references."""
    for path, tree in _trees("analysis", "labeler"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text:
                    prose = re.split(r"\n\w[\w ]*\n-{3,}\n|\n>>> ", text)[0].strip()
                    yield f"{path}:{getattr(node, 'lineno', 1)}", prose


def strings() -> Iterator[Text]:
    """Yield the string constants that people read: several words, and no documentation, SQL, style or markup."""
    for path, tree in _trees(*INTERFACE):
        documentation = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        if str(path).startswith("labeler/cli"):
            documentation = set()  # help of commands
        inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if id(node) in documentation or id(node) in inside:
                continue
            text = _text_of(node)
            if text and _is_for_people(text):
                yield f"{path}:{node.lineno}", text  # type: ignore[attr-defined]
    for path in sorted((ROOT / "labeler/studies/ui/component/js").rglob("*.js")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for match in re.finditer(r"\"([^\"\n]+)\"|`([^`\n]+)`", line):
                text = match[1] or match[2]
                if _is_for_people(text) and not line.lstrip().startswith(("//", "*", "import")):
                    yield f"{path.relative_to(ROOT)}:{number}", text


def paragraphs() -> Iterator[Text]:
    """Yield the prose of README and docs, without code, tables and headings."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if path.name in GENERATED:
            continue
        text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for block in text.split("\n\n"):
            if block.startswith(("    ", "|", "#", "<", "!", "$")) or len(block.split()) < MIN_PARAGRAPH:
                continue
            yield str(path.relative_to(ROOT)), block.strip()


def _trees(*places: str) -> Iterator[tuple[Path, ast.Module]]:
    for place in places:
        root = ROOT / place
        for path in [root] if root.suffix else sorted(root.rglob("*.py")):
            yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def _text_of(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"
            for part in node.values
            if isinstance(part, ast.Constant | ast.FormattedValue)
        )
    return ""


def _is_for_people(text: str) -> bool:
    if len(re.findall(r"(?<![\w{.])[A-Za-z]{2,}(?![\w(.=-])", text)) < MIN_WORDS:
        return False
    sql, markup = (
        r"\b(SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA)\b",
        r"</|[{};]\s*\n|^\W*[a-z-]+:\s*[\w#]+;|\\\w+\{|\[data-",
    )
    return re.search(f"{sql}|{markup}", text) is None


def main() -> None:
    """Draw texts and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    for name, n in (("docstrings", 60), ("strings", 60), ("paragraphs", 30)):
        parser.add_argument(f"--{name}", type=int, default=n)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    for kind in (docstrings, strings, paragraphs):
        texts = sorted(set(kind()))
        n = min(getattr(arguments, kind.__name__), len(texts))
        print(f"\n== {n} of {len(texts)} {kind.__name__}")
        for number, (place, text) in enumerate(rng.sample(texts, n), 1):
            print(f"\n{number}. {place}\n{textwrap.indent(text, '   ')}")


if __name__ == "__main__":
    main()
