"""Load the names of a package on first use, so that a command imports only the modules that it needs."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_first_use(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package, which imports each name from its module on first use.

    `package`: the `__name__` of the package; `places`: public name -> module below the package. Returns name -> object;
    raises AttributeError for an unknown name.
    """

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{places[name]}"), name)

    return load
