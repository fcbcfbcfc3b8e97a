"""Packages whose public names load on first use, so that importing one costs nothing that is not used."""

from __future__ import annotations

TYPE_CHECKING = False  # as in `typing`, whose import would take most of the time; type checkers know the name
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy_exports(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's ``__getattr__``: each public name comes from the module it lives in.

    >>> lazy_exports("lexfuse", {"Corpus": "lexfuse.data.corpus"})("Corpus").__name__
    'Corpus'
    """

    def load(name: str) -> Any:
        from importlib import import_module

        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return load
