"""Print docs/api.md: what `import analysis` gives, from the docstrings.

python scripts/api_reference.py > docs/api.md
"""

import doctest
import inspect
import re
from collections.abc import Mapping
from pathlib import Path

import analysis

HEAD = """# The statistics in Python

`import analysis` gives the names on this page; each is loaded when it is first used. Modules such as
`analysis.agreement` or `analysis.evaluation` hold more. The notebook [statistics.ipynb](statistics.ipynb) uses them.

Ratings have one of three forms: a count table (items by categories), a label table (a DataFrame with the columns item,
rater, category) or wide ratings (items by raters); `categories=` declares the categories where they are not *similar*
and *dissimilar*. A statistic that is undefined is a result with a reason. Results print in one line, and `.to_frame()`
makes a table of them.

Made from the docstrings by `scripts/api_reference.py`; tests run the examples and compare this page.
"""


def reference() -> str:
    """The whole page."""
    source = Path(analysis.__file__).read_text(encoding="utf-8")
    places = source[source.index("_PLACES = {") : source.index("__all__")]
    parts = [HEAD]
    for line in places.splitlines()[1:]:
        if heading := re.match(r"    # (.+)", line):
            parts.append(f"## {heading[1].capitalize()}\n")
        elif name := re.match(r'    "(\w+)":', line):
            parts.append(_entry(name[1]))
    return "\n".join(parts)


def _entry(name: str) -> str:
    thing = getattr(analysis, name)
    if isinstance(thing, Mapping):
        listed = ", ".join(f"`{key}`" for key in thing)
        return f"### {name}\n\nRegistry, name to entry: {listed}.\n"
    text = inspect.getdoc(thing) or ""
    first = text.split("\n\n")[0]
    examples = [f"{_prompted(example)}{example.want}" for example in doctest.DocTestParser().get_examples(text)]
    block = "".join(examples).replace("<BLANKLINE>", "")
    return f"### {name}\n\n```python\n{name}{_signature(thing)}\n```\n\n{first}\n\n```python\n{block}```\n"


def _prompted(example: doctest.Example) -> str:
    first, *rest = example.source.splitlines()
    return "\n".join([f">>> {first}", *(f"... {line}" for line in rest)]) + "\n"


def _signature(thing: object) -> str:
    """Names and default values; what they may be is said in the docstring."""
    parameters = inspect.signature(thing).parameters.values()  # type: ignore[arg-type]
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return re.sub(r"<(function|class) '?(?:[\w.]*\.)?(\w+)'?[^>]*>", r"\2", str(inspect.Signature(plain))).replace(
        "'", '"'
    )


if __name__ == "__main__":
    print(reference(), end="")
