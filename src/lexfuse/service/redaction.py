"""Removes paths of the server's file system from responses; only the log has them.

Errors name files, which helps on the command line. Over the network the folders would only reveal how the server is set up, so
responses keep the names of files without their folders.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from lexfuse.errors import DataError, LexFuseError

_LONGEST = 5_000  # characters of a message that are searched; no response shows more
# A quoted path may contain any character. Without quotes it ends at a space, unless a word soon after contains a slash.
_PATH = re.compile(
    r"""(?P<quote>['"])(?P<quoted>/[^'"\n]*)(?P=quote)"""
    r"""|(?<![\w:/.<])(?P<plain>/[^\s'":;,()]+(?:\ (?:[^\s/'":;,()]+\ ){0,3}[^\s/'":;,()]+/[^\s'":;,()]*)*)""",
    re.VERBOSE,
)


def message_of(error: LexFuseError) -> str:
    """The message of an error, with file names instead of paths.

    >>> message_of(DataError("the file is damaged", path="/srv/our laws/law.index/catalog.sqlite"))
    'catalog.sqlite: the file is damaged'
    """
    text = str(error)[:_LONGEST]
    if isinstance(error, DataError) and error.path:
        text = text.replace(error.path, _name(error.path))
    return without_paths(text)


def without_paths(text: str) -> str:
    """A text with file names instead of absolute paths.

    A path begins with a folder of this file system, so that addresses of the API and document ids stay as they are.

    >>> without_paths("cannot write '/usr/laws/law.index/segments': disk full; post it to /v1/similar")
    "cannot write 'segments': disk full; post it to /v1/similar"
    """
    return _PATH.sub(lambda found: _shortened(found), text[:_LONGEST])


def _shortened(found: re.Match[str]) -> str:
    path, quote = found["quoted"] or found["plain"], found["quote"] or ""
    return f"{quote}{_name(path)}{quote}" if path.split("/")[1] in _roots() else found[0]


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


@cache
def _roots() -> frozenset[str]:
    """The folders at the root of the file system at the first call."""
    return frozenset(path.name for path in Path("/").iterdir())
