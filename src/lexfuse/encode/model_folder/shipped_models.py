"""The models that LexFuse ships: a clone has their folders, a wheel of models installs them.

The engine's wheel has no models, so that it stays small. Each wheel of models is a package with one folder per model. It is found
without importing it, so none of its code runs.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import lexfuse
from lexfuse.errors import MissingDependencyError

CLONE = Path(lexfuse.__file__).parent / "models"
WHEELS = dict.fromkeys(("fr-legal-dense", "fr-legal-passages", "fr-legal-splade"), "lexfuse-models-fr")  # model, distribution


def shipped_model(name: str) -> Path | None:
    """The folder of a shipped model, or ``None`` if no shipped model has this name.

    A shipped model whose wheel is not installed raises `MissingDependencyError`.

    >>> shipped_model("fr-legal-dense").name, shipped_model("no-such-model")
    ('fr-legal-dense', None)
    """
    if name not in WHEELS:
        return None
    for folder in (CLONE, *_installed(WHEELS[name])):
        if (folder / name).is_dir():
            return folder / name
    raise MissingDependencyError(
        f"the model {name!r} is not installed; install it with: pip install {WHEELS[name]} "
        f"(in a clone of LexFuse: pip install packages/{WHEELS[name]})"
    )


def _installed(distribution: str) -> list[Path]:
    """The folders of a wheel of models; none if it is not installed."""
    found = find_spec(distribution.replace("-", "_"))
    return [Path(place) for place in found.submodule_search_locations or ()] if found else []
