"""Public names that load on first use, so that importing a package costs nothing that is not used."""

from __future__ import annotations

TYPE_CHECKING = False  # as in `typing`, whose import would take most of the time; type checkers know the name
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy_exports(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """A module's ``__getattr__`` and ``__dir__``: each public name comes from its home, ``module`` or ``module:name``.

    >>> load, names = lazy_exports("lexfuse", {"Corpus": "lexfuse.data.corpus"})
    >>> load("Corpus").__name__, names()
    ('Corpus', ['Corpus'])
    """

    def load(name: str) -> Any:
        from importlib import import_module

        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, own = homes[name].partition(":")
        return getattr(import_module(module), own or name)

    return load, lambda: sorted(homes)
