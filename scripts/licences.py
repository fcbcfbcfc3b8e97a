"""The licence of every package that LexFuse needs or can need, as a table for docs/licences.md.

    python scripts/licences.py > docs/licences.md

Licences are those that the packages of .venv state: their licence expression, else their classifiers, else their licence field.
A package that states none is an error.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution

from locked_requirements import needed

HEAD = """# Licences

LexFuse and its models are Apache-2.0. These packages are installed with it, at the versions of the lock file; `make licences`
writes this page from what they state about themselves.

| package | version | licence | part of |
|---|---|---|---|
"""
_LONGEST = 60  # characters of a licence field; more is the text of the licence


def licence_of(one: Distribution) -> str:
    """What a distribution states about its licence; empty if it states nothing."""
    stated = one.metadata
    if expression := stated.get("License-Expression"):
        return str(expression)
    classifiers = [text.rpartition(" :: ")[2] for text in stated.get_all("Classifier", ()) if text.startswith("License :: ")]
    named = [name for name in classifiers if name != "OSI Approved"]
    field = " ".join(str(stated.get("License", "")).split())
    return "; ".join(named) or (field if len(field) <= _LONGEST else re.split(r"[.,;]| Copyright", field)[0][:_LONGEST])


def table() -> str:
    """A row a package: those of the default install, then those that extras add."""
    core = needed()
    everything = needed(["all"])
    rows, unknown = [], []
    for name in (*core, *(name for name in everything if name not in core)):
        one = everything[name]
        if not (licence := licence_of(one)):
            unknown.append(name)
        part = "the default install" if name in core else "`[all]`"
        rows.append(f"| {name} | {one.version} | {licence.replace('|', '/')} | {part} |\n")
    if unknown:
        raise SystemExit(f"these state no licence: {', '.join(unknown)}; look it up and decide whether they can be used")
    return HEAD + "".join(rows)


if __name__ == "__main__":
    sys.stdout.write(table())
