"""How mkdocs reads docs/: the pages are written to be read in the repository too, where they link to files outside docs/.

Some of these files become pages of the site. A link to another file of the repository becomes its path. `no-run` after the
language of a code block is for the tests.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {"CHANGELOG.md": "CHANGELOG.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "recipes/README.md": "recipes.md"}  # file, page
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
_NO_RUN = re.compile(r"^```(\w+) no-run$", re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are kept outside docs/."""
    for path, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / path).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """A page with the links of the site."""
    homes = {name: PurePosixPath(path).parent for path, name in PAGES.items()}
    home = homes.get(page.file.src_uri, PurePosixPath("docs"))
    return _LINK.sub(lambda found: link(found, home), _NO_RUN.sub(r"```\1", markdown))


def link(found: re.Match[str], home: PurePosixPath) -> str:
    """A link as the site has it: to a page, or the path of a file that is no page.

    >>> link(_LINK.match("[the lock file](../requirements.lock)"), PurePosixPath("docs"))
    'the lock file (`requirements.lock`)'
    >>> link(_LINK.match("[changes](../CHANGELOG.md#later)"), PurePosixPath("docs"))
    '[changes](CHANGELOG.md#later)'
    """
    words, target, anchor = found[1], found[2], found[3] or ""
    if re.match(r"[a-z]+:", target):
        return found[0]
    place = PurePosixPath(*_resolved((*home.parts, *PurePosixPath(target).parts)))
    if str(place) in PAGES:
        return f"[{words}]({PAGES[str(place)]}{anchor})"
    if place.parts[:1] == ("docs",) and place != PurePosixPath("docs"):
        return f"[{words}]({place.relative_to('docs')}{anchor})"
    if place == PurePosixPath("docs"):
        return f"[{words}](README.md)"
    return f"`{place}`" if words.strip("`").rstrip("/") in (str(place), place.name) else f"{words} (`{place}`)"


def _resolved(parts: tuple[str, ...]) -> list[str]:
    """The parts of a path without `..`."""
    found: list[str] = []
    for part in parts:
        if part == "..":
            found.pop()
        else:
            found.append(part)
    return found
