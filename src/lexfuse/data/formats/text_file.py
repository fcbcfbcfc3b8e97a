"""The text of a user's file: plain text, HTML or PDF, recognised by its content."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from lexfuse.data.files import read_bytes
from lexfuse.data.formats.html_text import declared_encoding, html_text
from lexfuse.data.formats.pdf_text import PDF_LIMITS, PdfLimits, pdf_text
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DamagedFileError, EmptyFileError, FileEncodingError, FileTypeError, UnreadableFileError

# Possessive quantifiers: a text that looks like a page until near its end is read only once.
_PAGE = re.compile(
    rb"\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!--(?:(?!-->).){0,1000}+-->\s*+)*+<(?:!doctype\s++html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_PAGE_NAMES = (".html", ".htm", ".xhtml")
_SEEN = 1024  # bytes within which a PDF may begin
_OTHERS = {
    b"PK\x03\x04": "a Word, OpenDocument or zip file",
    b"\xd0\xcf\x11\xe0": "an old Word file",
    b"{\\rtf": "a Rich Text file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"II*\x00": "a picture",
    b"MM\x00*": "a picture",
}
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\v\f\r\x1b"))  # never in text
_READABLE = 0.95  # share of bytes that must look like text
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Python's names. A page may declare any codec of Python, and not all of them encode text.
_ENCODINGS = frozenset({
    "big5", "big5hkscs", "cp437", "cp850", "cp852", "cp858", "cp866", "cp874", "cp932", "cp949", "cp1250", "cp1251", "cp1252",
    "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk", "iso2022_jp",
    "iso8859-1", "iso8859-2", "iso8859-3", "iso8859-4", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9",
    "iso8859-10", "iso8859-11", "iso8859-13", "iso8859-14", "iso8859-15", "iso8859-16", "koi8-r", "koi8-u", "mac-cyrillic",
    "mac-roman", "shift_jis", "tis-620", "utf-8",
})  # fmt: skip
# Like browsers: Latin-1 is read as Windows-1252, which has quotation marks in place of control characters; a page whose
# declaration can be read byte by byte is not UTF-16, even if it declares that.
_READ_AS = {"iso8859-1": "cp1252", "ascii": "cp1252", "utf-16": "utf-8", "utf-16-le": "utf-8", "utf-16-be": "utf-8"}


def read_text(path: str | Path, report: ReadReport | None = None, *, limits: PdfLimits = PDF_LIMITS) -> str:
    """The text of a file of any length; `UnreadableFileError` if it has no text or another format.

    >>> file = folder / "judgment.html"
    >>> _ = file.write_text("<h1>Judgment</h1><p>The appeal is dismissed.</p>", "utf-8")
    >>> read_text(file).splitlines()
    ['Judgment', 'The appeal is dismissed.']
    """
    return text_of(read_bytes(path), path, report, limits=limits)


def text_of(raw: bytes, name: str | Path, report: ReadReport | None = None, *, limits: PdfLimits = PDF_LIMITS) -> str:
    """The text of a file given as bytes; the name decides where the bytes do not, and appears in errors.

    Time and memory are proportional to the size of text and HTML files; a PDF may need far more, up to its limits.
    """
    if not raw.strip():
        raise EmptyFileError("the file is empty; give one that holds text", path=name)
    text = _text(raw, Path(name), report, limits)
    if not text.strip():
        raise EmptyFileError("the page shows no text; give one that does", path=name)
    return text


def _text(raw: bytes, path: Path, report: ReadReport | None, limits: PdfLimits) -> str:
    if b"%PDF-" in raw[:_SEEN]:
        return pdf_text(raw, path, report, limits=limits)
    for beginning, what in _OTHERS.items():
        if raw.startswith(beginning):
            raise FileTypeError(f"is {what}; save it as text, HTML or PDF", path=path)
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".pdf"):
        raise DamagedFileError("is not a PDF despite its name (it does not begin with %PDF-); check the file", path=path)
    if name.endswith(_PAGE_NAMES) or _PAGE.match(raw.removeprefix(codecs.BOM_UTF8)):
        return html_text(_decoded(raw, path, declared_encoding(raw)))
    return _decoded(raw, path, None)


def _decoded(raw: bytes, path: Path, declared: str | None) -> str:
    """Text by its byte-order mark or declared encoding, else UTF-8."""
    if raw.startswith(_UTF16):
        encoding = "utf-16"
    elif b"\x00" in raw:
        raise _zero_bytes(raw, path)
    else:
        encoding = "utf-8" if declared is None or raw.startswith(codecs.BOM_UTF8) else _encoding(declared, path)
    if encoding == "utf-8":
        return _unicode(raw, path)
    try:
        return raw.decode(encoding)
    except UnicodeError as error:
        raise FileEncodingError(f"cannot be read as {encoding} ({error}); convert the file to UTF-8 first", path=path) from None


def _encoding(declared: str, path: Path) -> str:
    """Python's name of the encoding that a page declares; `FileEncodingError` if it is not one of text."""
    try:
        name = codecs.lookup(declared).name
    except (LookupError, UnicodeError):
        name = ""
    name = _READ_AS.get(name, name)
    if name not in _ENCODINGS:
        reason = f"cannot be read: the page declares the unknown encoding {declared}"
        raise FileEncodingError(f"{reason}; convert the file to UTF-8 first", path=path)
    return name


def _unicode(raw: bytes, path: Path) -> str:
    """Decode UTF-8; other bytes are either binary data or text in an older encoding, which cannot be known for sure."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(raw.translate(None, _CONTROLS)) < _READABLE * len(raw):
            raise FileTypeError("is not text; expected text, HTML or PDF", path=path) from None
        advice = "convert the file to UTF-8 first"
        if not raw.startswith(codecs.BOM_UTF8):
            advice = "perhaps it is Windows-1252 (Latin-1): save the file as UTF-8"
        reason = f"byte {raw[error.start]:#04x} at position {error.start} is not UTF-8; {advice}"
        raise FileEncodingError(reason, path=path) from None


def _zero_bytes(raw: bytes, path: Path) -> UnreadableFileError:
    """The error of a file with zero bytes: in UTF-16 nearly every second byte of western text is zero."""
    fewer, more = sorted(raw[place::2].count(0) / (len(raw) // 2 or 1) for place in (0, 1))
    if len(raw) % 2 == 0 and more > _READABLE and fewer < 1 - _READABLE:
        return FileEncodingError("looks like UTF-16 without a byte-order mark; save the file as UTF-8", path=path)
    return FileTypeError("contains zero bytes, so it is not text; expected text, HTML or PDF", path=path)
