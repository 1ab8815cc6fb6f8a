"""Load modules only when somebody uses them, although another module imports them."""

import sys
from importlib import import_module
from importlib.util import LazyLoader, find_spec, module_from_spec


def defer(*names: str) -> None:
    """Make later imports of these modules quick: a module is loaded when somebody first uses one of its attributes.

    For example, `scipy.special` imports everything that `numpy` has, including its compiler for Fortran, and uses only
    a small part of it. The module that contains a deferred module is imported.
    """
    for name in names:
        spec = None if name in sys.modules else find_spec(name)
        if spec is None or spec.loader is None:
            continue
        spec.loader = LazyLoader(spec.loader)
        module = sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(module)
        parent, _dot, child = name.rpartition(".")
        if parent:
            setattr(import_module(parent), child, module)
