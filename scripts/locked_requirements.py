"""The part of the lock file that an installation of LexFuse needs: pinned versions with hashes, as pip reads them.

    python scripts/locked_requirements.py [EXTRA ...] [--of CHECKOUT]

Runs in .venv, which has every package of the lock file: their metadata say what needs what on this platform. CHECKOUT is another
one of LexFuse, with its own lock file.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable, Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==.*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)


def needed(extras: Sequence[str] = (), checkout: Path = ROOT) -> dict[str, Distribution]:
    """The installed distributions that LexFuse with these extras needs, by name, without itself."""
    project = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["project"]
    offered = project["optional-dependencies"]
    if unknown := sorted(set(extras) - set(offered)):
        raise SystemExit(f"lexfuse has no extra {', '.join(unknown)}; it has {', '.join(offered)}")
    requirements = [*project["dependencies"], *(one for extra in extras for one in offered[extra])]
    own = [one for one in map(Requirement, requirements) if one.name == "lexfuse"]  # lexfuse[serve] in an extra
    found = _closure([one for one in map(Requirement, requirements) if one.name != "lexfuse"], {})
    inner = needed(sorted({extra for one in own for extra in one.extras}), checkout) if own else {}
    return dict(sorted((found | inner).items()))


def _closure(requirements: Iterable[Requirement], seen: dict[tuple[str, str], Distribution]) -> dict[str, Distribution]:
    """What requirements need, each name with each of its extras once."""
    for requirement in requirements:
        for extra in ("", *sorted(requirement.extras)):
            name = canonicalize_name(requirement.name)
            if (name, extra) in seen or (not extra and requirement.marker and not requirement.marker.evaluate({"extra": ""})):
                continue
            seen[name, extra] = one = distribution(requirement.name)
            inner = [Requirement(text) for text in one.requires or ()]
            _closure([_bare(r) for r in inner if not r.marker or r.marker.evaluate({"extra": extra})], seen)
    return {name: one for (name, _), one in seen.items()}


def _bare(requirement: Requirement) -> Requirement:
    """A requirement whose marker has been evaluated."""
    requirement.marker = None
    return requirement


def locked(names: Iterable[str], lock: Path = ROOT / "requirements.lock") -> str:
    """The blocks of the lock file for these names; a name that is not locked is an error.

    A name has several blocks where the version depends on Python or the platform: their markers say which is meant.
    """
    blocks: dict[str, str] = {}
    for found in _BLOCK.finditer(lock.read_text("utf-8")):
        name = canonicalize_name(found[1])
        blocks[name] = blocks.get(name, "") + found[0]
    if absent := [name for name in names if name not in blocks]:
        raise SystemExit(f"not in {lock.name}: {', '.join(absent)}; make the lock file anew with `make lock`")
    return "".join(re.sub(r"^ +#.*\n", "", blocks[name], flags=re.MULTILINE) for name in names)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("extras", nargs="*", metavar="EXTRA")
    parser.add_argument("--of", type=Path, default=ROOT, metavar="CHECKOUT")
    asked = parser.parse_args()
    sys.stdout.write(locked(needed(asked.extras, asked.of), asked.of / "requirements.lock"))
