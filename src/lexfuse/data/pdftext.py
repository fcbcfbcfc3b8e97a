"""The text of a PDF, page by page; a scan without text is told from an empty file."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lexfuse.data.report import Report
from lexfuse.errors import DataError

# A word that was divided at the end of a line; numbers stay ("L. 1234-" and "5" are one article), as do "Franco-" and "British".
_DIVIDED = re.compile(r"([^\W\d_])[-\u2010\u00ad][ \t]*\n[ \t]*([^\W\d_])")
_SHOWN = 10  # pages that a note names


def pdf_text(raw: bytes, path: str | Path, report: Report | None = None) -> str:
    """The text of all pages, words that lines divide put together; a `DataError` where there is none.

    >>> pdf_text(b"%PDF-1.7 and nothing else", "a.pdf")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: a.pdf: the PDF is damaged ...
    """
    pages = [_joined(text).strip() for text in _pages(raw, path)]
    if not pages:
        raise DataError("the PDF has no pages; check that it is complete", path=path)
    silent = [number for number, text in enumerate(pages, start=1) if not text]
    if len(silent) == len(pages):
        count = "the one page of the PDF has" if len(pages) == 1 else f"none of the {len(pages):,} pages of the PDF has"
        text = "no text" if len(pages) == 1 else "text"
        raise DataError(f"{count} {text}, it is a scan or blank; recognise its text first (OCR)", path=path)
    if silent and report is not None:
        named = ", ".join(map(str, silent[:_SHOWN])) + (" …" if len(silent) > _SHOWN else "")
        report.note(
            f"{len(silent):,} of {len(pages):,} pages of the PDF have no text (page {named}); they are not searched", path=path
        )
    return "\n\n".join(text for text in pages if text)


def _pages(raw: bytes, path: str | Path) -> Iterator[str]:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    try:
        with _quiet():
            reader = PdfReader(io.BytesIO(raw))
            if reader.is_encrypted and not reader.decrypt(""):
                raise DataError("the PDF is locked by a password; save it without one", path=path)
            yield from (page.extract_text() for page in reader.pages)
    except DataError:
        raise
    except (DependencyError, NotImplementedError) as error:
        raise DataError(f"the PDF is encrypted in a way that cannot be read ({error}); save it without", path=path) from None
    except Exception as error:  # damage shows itself anywhere in the reader, as whatever the bytes look like there
        raise DataError(f"the PDF is damaged ({error or type(error).__name__}); save it again, or as text", path=path) from None


def _joined(text: str) -> str:
    return _DIVIDED.sub(lambda found: found[1] + found[2] if found[2].islower() else found[0], text)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the reader's remarks on files that break the rules but can be read; real damage is raised."""
    log = logging.getLogger("pypdf")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)
