"""Convert docstrings to Markdown: numpydoc references (`[1]_`, `.. [1] Author`) become plain [1] and a list.

A survey is shown with its keywords, which are the fields of its options.
"""

import inspect
import re
from importlib import import_module
from typing import Any

from griffe import Extension, Function, Object, Parameter, ParameterKind, Parameters

KINDS = {kind.value: kind for kind in ParameterKind}
LONGEST = 60  # characters of a default value


class References(Extension):
    """An extension of griffe, which collects the docstrings for the site."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the references of one docstring."""
        if obj.docstring is not None:
            text = re.sub(r"\[(\d+)\]_", r"[\1]", obj.docstring.value)
            obj.docstring.value = re.sub(r"^\.\. \[(\d+)\]", r"- [\1]", text, flags=re.MULTILINE)

    def on_function_instance(self, *, func: Function, **_: Any) -> None:
        """Give a survey the parameters with which it is called."""
        if any(str(decorator.value).startswith("with_keywords") for decorator in func.decorators):
            signature = inspect.signature(getattr(import_module(func.module.path), func.name))
            func.parameters = Parameters(*map(_parameter, signature.parameters.values()))


def _parameter(given: inspect.Parameter) -> Parameter:
    default = None if given.default is given.empty else getattr(given.default, "__name__", repr(given.default))
    shown = "..." if default is not None and len(default) > LONGEST else default
    return Parameter(given.name, kind=KINDS[given.kind.description], default=shown)
