"""Convert docstrings to Markdown: numpydoc references (`[1]_`, `.. [1] Author`) become plain [1] and a list."""

import re
from typing import Any

from griffe import Extension, Object


class References(Extension):
    """An extension of griffe, which collects the docstrings for the site."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the references of one docstring."""
        if obj.docstring is not None:
            text = re.sub(r"\[(\d+)\]_", r"[\1]", obj.docstring.value)
            obj.docstring.value = re.sub(r"^\.\. \[(\d+)\]", r"- [\1]", text, flags=re.MULTILINE)
