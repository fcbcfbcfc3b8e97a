"""The text of a PDF, page by page; a scan without text is distinguished from an empty file."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lexfuse.data.read_report import ReadReport
from lexfuse.dependencies import Extra
from lexfuse.errors import ConfigError, DamagedFileError, DataError, LockedFileError, ScannedFileError

if TYPE_CHECKING:
    from pypdf import PdfReader
    from pypdf.generic import PdfObject

# A word hyphenated at the end of a line. Numbers keep the hyphen ("L. 1234-" + "5" is one article), and so do names.
_DIVIDED = re.compile(r"([^\W\d_])[-\u2010\u00ad][ \t]*\n[ \t]*([^\W\d_])")
_SHOWN = 10  # pages listed in a note


@dataclass(frozen=True, slots=True)
class PdfLimits:
    """Limits on a PDF: a few thousand bytes can declare any number of pages and any length of text."""

    pages: int = 10_000
    characters: int = 50_000_000

    def __post_init__(self) -> None:
        """Refuse limits that would refuse every file."""
        if min(self.pages, self.characters) < 1:
            raise ConfigError(f"a PDF needs room for one page and one character, got {self}; give 1 or more of each")


PDF_LIMITS = PdfLimits()


def pdf_text(raw: bytes, path: str | Path, report: ReadReport | None = None, *, limits: PdfLimits = PDF_LIMITS) -> str:
    """The text of all pages, hyphenated words joined; a `DataError` if there is no text.

    >>> pdf_text(b"%PDF-1.7 and nothing else", "a.pdf")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ...
    lexfuse.errors.DamagedFileError: a.pdf: the PDF is damaged ...
    """
    pages = [_joined(text).strip() for text in _pages(raw, path, limits)]
    if not pages:
        raise DamagedFileError("the PDF has no pages; check that it is complete", path=path)
    silent = [number for number, text in enumerate(pages, start=1) if not text]
    if len(silent) == len(pages):
        count = "the one page of the PDF has" if len(pages) == 1 else f"none of the {len(pages):,} pages of the PDF has"
        text = "no text" if len(pages) == 1 else "text"
        raise ScannedFileError(f"{count} {text}, it is a scan or blank; recognise its text first (OCR)", path=path)
    if silent and report is not None:
        named = ", ".join(map(str, silent[:_SHOWN])) + (" …" if len(silent) > _SHOWN else "")
        report.note(
            f"{len(silent):,} of {len(pages):,} pages of the PDF have no text (page {named}); they are not searched", path=path
        )
    return "\n\n".join(text for text in pages if text)


def _pages(raw: bytes, path: str | Path, limits: PdfLimits) -> Iterator[str]:
    """The text of every page; a page that is referenced repeatedly is read once."""
    Extra.PDF.require(f"reading {path}")
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    try:
        with _quiet():
            reader = PdfReader(io.BytesIO(raw))
            if reader.is_encrypted and not reader.decrypt(""):
                raise LockedFileError("the PDF has a password; save it without one", path=path)
            _refuse_many_pages(reader, limits.pages, path)
            known: dict[int, str] = {}
            characters = 0
            for page in reader.pages:
                key = page.indirect_reference.idnum if page.indirect_reference else -len(known) - 1
                if key not in known:
                    known[key] = page.extract_text()
                characters += len(known[key])
                if characters > limits.characters:
                    raise DataError(f"the text of the PDF is longer than {limits.characters:,} characters; split it", path=path)
                yield known[key]
    except DataError:
        raise
    except (DependencyError, NotImplementedError) as error:
        raise LockedFileError(
            f"the PDF is encrypted in a way that cannot be read ({error}); save it without", path=path
        ) from None
    except Exception as error:  # pypdf raises almost anything on damaged input
        raise DamagedFileError(
            f"the PDF is damaged ({error or type(error).__name__}); save it again, or as text", path=path
        ) from None


def _refuse_many_pages(reader: PdfReader, most: int, path: str | Path) -> None:
    """Count the nodes of the page tree before pypdf makes an object of each; a cyclic tree never ends."""
    waiting, nodes = [reader.root_object.get("/Pages")], 1
    while waiting:
        node = _resolved(waiting.pop())
        kids = _resolved(node.get("/Kids")) if isinstance(node, dict) else None
        if isinstance(kids, list):
            nodes += len(kids)
            if nodes > 2 * most + 1:  # there are at least as many pages as inner nodes
                raise DataError(f"the PDF has more than {most:,} pages, or references pages repeatedly; split it", path=path)
            waiting += kids


def _resolved(value: PdfObject | None) -> PdfObject | None:
    return None if value is None else value.get_object()


def _joined(text: str) -> str:
    return _DIVIDED.sub(lambda found: found[1] + found[2] if found[2].islower() else found[0], text)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence pypdf's warnings about files that break the rules but can be read; real damage raises."""
    log = logging.getLogger("pypdf")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)
