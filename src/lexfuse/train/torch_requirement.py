"""The check that torch is installed, which does not load it."""

from __future__ import annotations

from importlib.util import find_spec

from lexfuse.errors import MissingDependencyError

NEEDED = ("torch", "transformers", "safetensors")


def require_torch(needed: tuple[str, ...] = NEEDED) -> None:
    """Say what to install where torch is missing; nothing is loaded.

    >>> require_torch(("no_such_module",))
    Traceback (most recent call last):
    ...
    lexfuse.errors.MissingDependencyError: training needs no_such_module, not installed here: pip install 'lexfuse[train]'
    """
    if missing := [name for name in needed if find_spec(name) is None]:
        raise MissingDependencyError(f"training needs {' and '.join(missing)}, not installed here: pip install 'lexfuse[train]'")
