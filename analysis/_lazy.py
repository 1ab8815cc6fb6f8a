"""Names of a package that are loaded when they are first used, so that a command pays only for what it needs."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_first_use(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's `__getattr__` that loads each name from the module of the package where it stands.

    Parameters
    ----------
    package : str
        The `__name__` of the package.
    places : mapping of str to str
        Public name -> module below the package, or "module:name" where the name there is another; several names may
        stand in one module.

    Returns
    -------
    callable
        Name -> object; AttributeError for a name that is in no place.
    """

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, original = places[name].partition(":")
        return getattr(import_module(f"{package}.{module}"), original or name)

    return load
