"""Files as text: PDF, HTML and plain text in several encodings, and what cannot be read."""

import gzip
import logging

import pytest

from lexfuse.data.formats.html_text import html_text
from lexfuse.data.formats.pdf_text import PdfLimits
from lexfuse.data.formats.text_file import read_text, text_of
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError, DataError, NotFoundError


def pdf(pages, extra=""):
    """A PDF with these lines on each page, in Helvetica; a page without lines shows a black square, as a scan would."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, lines in enumerate(pages):
        shown = "".join(f"({line}) Tj T* " for line in lines)
        stream = f"BT /F1 10 Tf 12 TL 50 800 Td {shown}ET" if lines else "0 0 100 100 re f"
        resources = "/MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R /Contents {5 + 2 * number} 0 R {resources} >>")
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{at:010d} 00000 n \n" for at in places)
    size = len(objects) + 1
    trailer = f"trailer << /Size {size} /Root 1 0 R {extra} >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write


def refused(path):
    with pytest.raises(DataError) as error:
        read_text(path)
    assert error.value.path == str(path)
    return error.value.reason


def test_a_pdf_of_sixty_pages(file):
    text = read_text(file("judgment.pdf", pdf([[f"Paragraph {n}.", "The appeal is dismissed."] for n in range(60)])))
    assert text.count("The appeal is dismissed.") == 60
    assert "Paragraph 59." in text


def test_words_that_lines_divide_are_put_together_and_numbers_are_not(file):
    lines = ["the dis-", "missal under article L. 1234-", "5 and the Franco-", "British treaty"]
    text = read_text(file("a.pdf", pdf([lines])))
    assert "the dismissal under article L. 1234-\n5 and the Franco-\nBritish treaty" in text


def test_a_pdf_is_one_by_its_content_not_by_its_name(file):
    assert read_text(file("scan.txt", b"\n\n" + pdf([["Held."]]))).strip() == "Held."
    assert "is not a PDF" in refused(file("a.pdf", "Held."))


def test_pages_without_text_are_noted(file):
    report = ReadReport()
    assert read_text(file("a.pdf", pdf([["Held."], [], ["So ordered."], []])), report).split("\n\n") == ["Held.", "So ordered."]
    assert "2 of 4 pages of the PDF have no text (page 2, 4)" in report.lines()[0]


def test_a_scan_an_empty_pdf_and_an_empty_file_are_told_apart(file):
    assert "none of the 3 pages of the PDF has text" in refused(file("scan.pdf", pdf([[], [], []])))
    assert "the one page of the PDF has no text" in refused(file("one.pdf", pdf([[]])))
    assert "no pages" in refused(file("none.pdf", pdf([])))
    assert "the file is empty" in refused(file("zero.pdf", b""))
    assert "the file is empty" in refused(file("blank.txt", " \n\n"))


@pytest.mark.parametrize("kept", [9, 60, 300, 700])
def test_a_damaged_pdf_is_an_error_that_names_it(file, kept, caplog):
    logging.getLogger("pypdf").setLevel(logging.NOTSET)
    reason = refused(file("cut.pdf", pdf([["Held."]] * 3)[:kept]))
    assert "PDF" in reason
    assert not caplog.records
    assert logging.getLogger("pypdf").level == logging.NOTSET


def test_a_locked_pdf_is_an_error(file):
    from pypdf import PdfReader, PdfWriter

    path = file("open.pdf", pdf([["Held."]]))
    for password, locked in (("secret", True), ("", False)):
        writer = PdfWriter(clone_from=PdfReader(path))
        writer.encrypt(password, "owner", algorithm="RC4-128")
        writer.write(path.with_name("locked.pdf"))
        if locked:
            assert "has a password" in refused(path.with_name("locked.pdf"))
        else:
            assert read_text(path.with_name("locked.pdf")).strip() == "Held."


def test_html_shows_what_a_page_shows():
    page = (
        "<!doctype html><html><head><title>No</title><style>p{}</style></head><body><nav>Menu</nav><h1>Judgment</h1>"
        "<p>It is <b>so</b>\n ordered,&nbsp;here.<br>Costs.</p><script>no()</script><ul><li>one<li>two</ul>"
        "<table><tr><td>a</td><td>b</td></tr></table></body></html>"
    )
    assert html_text(page).split("\n") == ["Menu", "Judgment", "It is so ordered,\u00a0here.", "Costs.", "one", "two", "a | b"]
    assert html_text("<div>" * 20_000 + "deep") == "deep"
    assert html_text("") == ""


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("a.html", "<p>L’arrêt</p>".encode()),
        ("b.htm", '<meta charset="windows-1252"><p>L’arrêt</p>'.encode("cp1252")),
        ("c.txt", '<!DOCTYPE html><meta content="text/html; charset=ISO-8859-1"><p>L’arrêt</p>'.encode("cp1252")),
        ("d.xhtml", '<?xml version="1.0" encoding="utf-8"?><html><body><p>L’arrêt</p></body></html>'.encode()),
        ("e.html", "<p>L’arrêt</p>".encode("utf-16")),
        ("f.html", "\ufeff<p>L’arrêt</p>".encode()),
        ("g.html.gz", gzip.compress("<p>L’arrêt</p>".encode(), mtime=0)),
        ("h.txt", "L’arrêt".encode("utf-16")),
        ("i", "\ufeffL’arrêt".encode()),
    ],
)
def test_encodings(file, name, raw):
    assert read_text(file(name, raw)) == "L’arrêt"


def test_plain_text_stays_as_it_is(file):
    text = "1. The court <held> that\n\n  x < y & z.\n"
    assert read_text(file("a.txt", text)) == text


def test_what_cannot_be_read_says_why(file):
    assert "0xea" in refused(file("latin.txt", "L'arrêt".encode("latin-1")))
    assert "unknown encoding klingon" in refused(file("a.html", b'<meta charset="klingon"><p>x'))
    assert "the file is damaged (File is not a zip file)" in refused(file("a.docx", b"PK\x03\x04rest"))
    assert "a picture" in refused(file("a.pdf", b"\x89PNG\r\n"))
    assert "zero bytes" in refused(file("a.txt", b"a\x00b"))
    assert "zero bytes" in refused(file("zeros.txt", bytes(100)))
    assert "UTF-16 without a byte-order mark" in refused(file("wide.txt", "L'arrêt est cassé.".encode("utf-16-le")))
    assert "UTF-16 without a byte-order mark" in refused(file("wide.txt", "L'arrêt est cassé.".encode("utf-16-be")))
    assert refused(file("noise", bytes(range(1, 256)) * 4)) == "is not text; expected text, HTML, XML, PDF, DOCX or ODT"
    assert "0x92 at position 1 is not UTF-8; perhaps it is Windows-1252" in refused(file("a.txt", "l’arrêt".encode("cp1252")))
    assert "convert the file to UTF-8" in refused(file("a.txt", b"\xef\xbb\xbfl\x92"))  # it says that it is
    assert "shows no text" in refused(file("a.html", "<html><script>no()</script></html>"))
    with pytest.raises(NotFoundError, match="no file or folder"):
        read_text("nowhere.pdf")


def test_what_looks_like_a_page_until_its_end_is_read_once():
    """Forty comments were read in two to the power of forty ways; a child would be killed, here the suite would never end."""
    for count in (40, 100_000):
        text = "<!---->" * count
        assert text_of(text.encode(), "file") == text
        assert text_of((text + "<html><p>Held.").encode(), "file") == "Held."
    assert text_of(b"<?xml version='1.0'?> <!-- a --> <!-- b --><!DOCTYPE  html><p>Held.", "file") == "Held."


@pytest.mark.parametrize(
    "encoding",
    ["undefined", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "zlib_codec", "rot13", "mbcs", "utf-7", "hex"],
)
def test_codecs_that_are_no_encodings_of_text(file, encoding):
    page = f'<meta charset="{encoding}"><p>caf\\u00e9'.encode()
    assert f"unknown encoding {encoding}" in refused(file("a.html", page))


@pytest.mark.parametrize(
    "encoding", ["ISO-8859-15", "koi8-r", "Shift_JIS", "gb2312", "windows-1251", "latin1", "cp1252", "x-sjis"]
)
def test_encodings_of_text_are_read(file, encoding):
    word = "Текст" if encoding in ("koi8-r", "windows-1251") else "本文" if encoding in ("Shift_JIS", "gb2312") else "arrêt"
    if encoding == "x-sjis":
        assert "unknown encoding x-sjis" in refused(file("a.html", b'<meta charset="x-sjis"><p>x'))
    else:
        assert read_text(file("a.html", f'<meta charset="{encoding}"><p>{word}'.encode(encoding))) == word


def test_a_page_that_says_utf16_and_is_not(file):
    assert read_text(file("a.html", '<meta charset="utf-16"><p>arrêt'.encode())) == "arrêt"


def fan_out(levels, width):
    """A PDF of a few hundred bytes whose page tree names its nodes again and again: width ** levels pages."""
    kids = [f"<< /Type /Pages /Count {width} /Kids [{f'{5 + level} 0 R ' * width}] >>" for level in range(levels)]
    objects = [
        "<< /Type /Catalog /Pages 4 0 R >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Length 38 >>\nstream\nBT /F1 10 Tf 50 800 Td (Held. ) Tj ET \nendstream",
        *kids,
        "<< /Type /Page /Contents 3 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 2 0 R >> >> >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{at:010d} 00000 n \n" for at in places)
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()


def test_a_page_that_is_named_again_is_read_once(monkeypatch):
    from pypdf import PageObject

    read = []
    extract = PageObject.extract_text
    monkeypatch.setattr(PageObject, "extract_text", lambda page: read.append(1) or extract(page))
    assert text_of(fan_out(3, 9), "a.pdf").count("Held.") == 9**3
    assert len(read) == 1


def test_pages_and_characters_of_a_pdf_are_limited():
    raw = fan_out(9, 10)
    assert len(raw) < 2600
    with pytest.raises(DataError, match="more than 10,000 pages, or references pages repeatedly"):
        text_of(raw, "a.pdf")
    with pytest.raises(DataError, match="more than 20 pages"):
        text_of(fan_out(2, 9), "a.pdf", limits=PdfLimits(pages=20))
    with pytest.raises(DataError, match="longer than 100 characters"):
        text_of(fan_out(2, 9), "a.pdf", limits=PdfLimits(characters=100))
    with pytest.raises(ConfigError, match="1 or more"):
        PdfLimits(pages=0)
    loop = fan_out(2, 2).replace(b"/Kids [6 0 R 6 0 R ]", b"/Kids [4 0 R 4 0 R ]")
    with pytest.raises(DataError, match="references pages repeatedly"):
        text_of(loop, "a.pdf")
