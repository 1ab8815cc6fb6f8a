"""Run the code cells of docs/statistics.ipynb in order and write the output of each below it.

python scripts/notebook.py

Edit the cells in the notebook, in Jupyter or by hand; this script does not need Jupyter. The output of a cell is what
it prints and the value of its last expression.
"""

import ast
import io
import json
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"
NOTEBOOK = DOCS / "statistics.ipynb"


def filled(text: str) -> str:
    """Run the code cells in one namespace, in the folder docs, and return the notebook with their output."""
    notebook = json.loads(text)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with chdir(DOCS):
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for number, cell in enumerate(cells, start=1):
            cell["execution_count"] = number
            cell["outputs"] = _outputs("".join(cell["source"]), namespace, number)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _outputs(source: str, namespace: dict[str, Any], number: int) -> list[dict[str, Any]]:
    statements = ast.parse(source).body
    last = ast.Expression(statements.pop().value) if isinstance(statements[-1], ast.Expr) else None
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(ast.Module(statements, []), f"cell {number}", "exec"), namespace)
        value = None if last is None else eval(compile(last, f"cell {number}", "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append(
            {"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)}
        )
    if value is not None:
        text = {"text/plain": repr(value).splitlines(keepends=True)}
        outputs.append({"data": text, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return outputs


if __name__ == "__main__":
    NOTEBOOK.write_text(filled(NOTEBOOK.read_text(encoding="utf-8")), encoding="utf-8")
