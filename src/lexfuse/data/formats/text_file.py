"""The text of a user's file: plain text, Markdown, HTML, XML, PDF, DOCX or ODT, recognised by its content."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from xml.etree.ElementTree import Element

from lexfuse.data.files import read_bytes
from lexfuse.data.formats.html_text import declared_encoding, html_blocks, html_text, html_title
from lexfuse.data.formats.markdown_text import front_matter, markdown_blocks
from lexfuse.data.formats.outline import Block, text_blocks
from lexfuse.data.formats.pdf_text import PDF_LIMITS, PdfLimits, pdf_text
from lexfuse.data.formats.word.docx_text import MAIN, docx_blocks
from lexfuse.data.formats.word.odt_text import CONTENT, odt_blocks
from lexfuse.data.formats.word.package import Package
from lexfuse.data.formats.xml_tree import lines_of, parse_xml
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DamagedFileError, EmptyFileError, FileEncodingError, FileTypeError, UnreadableFileError

# Possessive quantifiers: a text that looks like a page until near its end is read only once.
_PAGE = re.compile(
    rb"\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!--(?:(?!-->).){0,1000}+-->\s*+)*+<(?:!doctype\s++html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_PAGE_NAMES = (".html", ".htm", ".xhtml")
_SEEN = 1024  # bytes within which a PDF may begin
_MARKDOWN_NAMES = (".md", ".markdown")
_XML = re.compile(rb"\s*+<\?xml\b")
ZIP = b"PK\x03\x04"
_OTHERS = {
    b"\xd0\xcf\x11\xe0": "an old Word file",
    b"{\\rtf": "a Rich Text file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"II*\x00": "a picture",
    b"MM\x00*": "a picture",
    b"PAR1": "a Parquet table",
    b"SQLite format 3": "a database",
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


class FileType(StrEnum):
    """What a file is, by its content or, for texts without marks, by its name."""

    PDF = "pdf"
    DOCX = "docx"
    ODT = "odt"
    ZIP = "zip"
    HTML = "html"
    XML = "xml"
    MARKDOWN = "markdown"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class FileContent:
    """What a file says: its title if it states one, its blocks, and the fields before its text."""

    type: FileType
    title: str
    blocks: list[Block]
    fields: Mapping[str, str] = field(default_factory=dict)


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
    path = Path(name)
    found = file_type(raw, path)
    if found is FileType.PDF:
        text = pdf_text(raw, path, report, limits=limits)
    elif found is FileType.HTML:
        text = html_text(decoded(raw, path, declared_encoding(raw)))
    elif found in (FileType.TEXT, FileType.MARKDOWN):
        text = decoded(raw, path)
    else:
        text = "\n".join(block.text for block in content_of(raw, name, report, limits=limits).blocks)
    if not text.strip():
        raise EmptyFileError("the page shows no text; give one that does", path=name)
    return text


def content_of(raw: bytes, name: str | Path, report: ReadReport | None = None, *, limits: PdfLimits = PDF_LIMITS) -> FileContent:
    r"""The blocks of a file given as bytes, with the levels of its headings; `UnreadableFileError` as for `text_of`.

    >>> content_of(b"# Code\n\nThe lease.", "code.md").blocks
    [Block(text='Code', level=1), Block(text='The lease.', level=0)]
    """
    path = Path(name)
    found = file_type(raw, path)
    title = ""
    fields: Mapping[str, str] = {}
    if found is FileType.PDF:
        blocks = list(text_blocks(pdf_text(raw, path, report, limits=limits)))
    elif found in (FileType.DOCX, FileType.ODT):
        title, blocks = (docx_blocks if found is FileType.DOCX else odt_blocks)(raw, path)
    elif found is FileType.HTML:
        html = decoded(raw, path, declared_encoding(raw))
        title, blocks = html_title(html), html_blocks(html)
    elif found is FileType.XML:
        blocks = xml_blocks(parse_xml(raw, path))
    elif found is FileType.MARKDOWN:
        fields, text = front_matter(decoded(raw, path))
        title, blocks = fields.get("title", ""), list(markdown_blocks(text))
    elif found is FileType.TEXT:
        blocks = list(text_blocks(decoded(raw, path)))
    else:
        raise FileTypeError("is a zip file; import it, or give one of the files in it", path=path)
    if not any(block.text.strip() for block in blocks):
        raise EmptyFileError("the file shows no text; give one that does", path=name)
    return FileContent(found, title, blocks, fields)


def xml_blocks(root: Element) -> list[Block]:
    """The text of an XML file of no known kind: a line for every element with text."""
    return [Block(line) for line in lines_of(root, frozenset())]


def file_type(raw: bytes, path: Path) -> FileType:
    """The type of a file; `UnreadableFileError` if it is empty, or of a type that has no text.

    >>> file_type(b"<?xml version='1.0'?><act/>", Path("a")), file_type(b"# Title", Path("a.md"))
    (<FileType.XML: 'xml'>, <FileType.MARKDOWN: 'markdown'>)
    """
    if not raw.strip():
        raise EmptyFileError("the file is empty; give one that holds text", path=path)
    if b"%PDF-" in raw[:_SEEN]:
        return FileType.PDF
    if raw.startswith(ZIP):
        names = Package(raw, path).names
        return FileType.DOCX if MAIN in names else FileType.ODT if CONTENT in names and "mimetype" in names else FileType.ZIP
    for beginning, what in _OTHERS.items():
        if raw.startswith(beginning):
            raise FileTypeError(f"is {what}; save it as text, HTML, PDF, DOCX or ODT", path=path)
    name = path.name.lower().removesuffix(".gz")
    for suffix in (".pdf", ".docx", ".odt"):
        if name.endswith(suffix):
            reason = f"is not a {suffix[1:].upper()} file despite its name (it begins with other bytes); check the file"
            raise DamagedFileError(reason, path=path)
    start = raw.removeprefix(codecs.BOM_UTF8)
    if name.endswith(_PAGE_NAMES) or _PAGE.match(start):
        return FileType.HTML
    if name.endswith(".xml") or _XML.match(start):
        return FileType.XML
    return FileType.MARKDOWN if name.endswith(_MARKDOWN_NAMES) else FileType.TEXT


def decoded(raw: bytes, path: Path, declared: str | None = None) -> str:
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
            raise FileTypeError("is not text; expected text, HTML, XML, PDF, DOCX or ODT", path=path) from None
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
    return FileTypeError("contains zero bytes, so it is not text; expected text, HTML, XML, PDF, DOCX or ODT", path=path)
