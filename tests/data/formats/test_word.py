"""DOCX and ODT: text, headings, tables; packages that are damaged, locked, hostile or something else."""

# ruff: noqa: E501 -- lines of markup

import io
import zipfile

import pytest

from lexfuse.data.formats.outline import Block
from lexfuse.data.formats.text_file import content_of, read_text, text_of
from lexfuse.data.formats.word import package
from lexfuse.errors import DamagedFileError, DataError, EmptyFileError, FileTypeError, LockedFileError

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
ODF = 'xmlns:office="urn:o" xmlns:text="urn:t" xmlns:table="urn:b" xmlns:dc="urn:d" xmlns:manifest="urn:m"'
STYLES = f'<w:styles {W}><w:style w:styleId="T1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="X"><w:name w:val="Body"/></w:style></w:styles>'


def packed(parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


def docx(body, **parts):
    return packed(
        {"word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>", "word/styles.xml": STYLES, **parts}
    )


def odt(body, **parts):
    text = (
        f"<office:document-content {ODF}><office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return packed({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": text, **parts})


def test_docx():
    body = (
        '<w:p><w:pPr><w:pStyle w:val="T1"/></w:pPr><w:r><w:t>Article 1</w:t></w:r></w:p>'
        "<w:p><w:r><w:t>The </w:t></w:r><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        "<w:r><w:t> lease.</w:t><w:br/><w:t>Line two.</w:t></w:r></w:p>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        '<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>Deeper</w:t></w:r></w:p><w:p/>'
    )
    notes = f'<w:footnotes {W}><w:footnote w:type="separator"><w:p/></w:footnote><w:footnote><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>'
    found = content_of(docx(body, **{"word/footnotes.xml": notes}), "a.docx")
    assert found.blocks == [
        Block("Article 1", 1), Block("The new lease."), Block("Line two."), Block("a | b"), Block("Deeper", 2), Block("A note."),
    ]  # fmt: skip


def test_odt():
    body = (
        '<text:h text:outline-level="2">Section 1</text:h><text:p>The<text:s text:c="2"/>lease<text:line-break/>ends.</text:p>'
        "<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p>"
        "</table:table-cell></table:table-row></table:table>"
    )
    meta = f"<office:document-meta {ODF}><office:meta><dc:title>Lease Act</dc:title></office:meta></office:document-meta>"
    found = content_of(odt(body, **{"meta.xml": meta}), "a.odt")
    assert found.title == "Lease Act"
    assert found.blocks == [Block("Section 1", 2), Block("The lease"), Block("ends."), Block("item"), Block("a | b")]


def test_a_file_is_recognised_by_its_content(tmp_path):
    (tmp_path / "query").write_bytes(docx("<w:p><w:r><w:t>Held.</w:t></w:r></w:p>"))
    assert read_text(tmp_path / "query") == "Held."


@pytest.mark.parametrize(
    ("raw", "error", "reason"),
    [
        (b"PK\x03\x04 cut", DamagedFileError, "damaged"),
        (docx("<w:p/>"), EmptyFileError, "no text"),
        (packed({"word/document.xml": "<w:document"}), DamagedFileError, "XML is damaged"),
        (packed({"word/document.xml": "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"}), DamagedFileError, "internal DTD"),
        (packed({"xl/workbook.xml": "<a/>"}), FileTypeError, "is a zip file"),
        (packed({"mimetype": "x", "content.xml": f"<a {ODF}><office:body><office:spreadsheet/></office:body></a>"}), FileTypeError, "without text"),
        (odt("<text:p>x</text:p>", **{"META-INF/manifest.xml": f"<m {ODF}><manifest:encryption-data/></m>"}), LockedFileError, "password"),
    ],
)  # fmt: skip
def test_what_cannot_be_read(raw, error, reason):
    with pytest.raises(error, match=reason):
        text_of(raw, "a.docx")


def test_a_part_that_unpacks_far_beyond_its_size_is_refused(monkeypatch):
    monkeypatch.setattr(package, "_CHECKED_FROM", 1000)
    with pytest.raises(DataError, match="which text never does"):
        text_of(docx("<w:p><w:r><w:t>" + "a" * 10_000_000 + "</w:t></w:r></w:p>"), "a.docx")


def test_elements_too_deep_are_refused():
    with pytest.raises(DamagedFileError, match="levels of elements"):
        text_of(docx("<w:p>" * 300 + "</w:p>" * 300), "a.docx")


def test_a_name_that_promises_another_format():
    with pytest.raises(DamagedFileError, match="not a DOCX file despite its name"):
        text_of(b"plain text", "a.docx")


def test_automatic_numbers_of_docx():
    """Word shows numbers that the text does not contain: by the paragraph, by its style, and restarted below another level."""
    lists = (
        f'<w:numbering {W}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/>'
        '<w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="lowerRoman"/><w:lvlText w:val="(%2)"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="3"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
    )
    styles = (
        f'<w:styles {W}><w:style w:styleId="Para"><w:name w:val="Para"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>'
        '<w:style w:styleId="Child"><w:name w:val="Child"/><w:basedOn w:val="Para"/></w:style></w:styles>'
    )

    def paragraph(text, properties):
        return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"

    body = (
        paragraph("one", '<w:pStyle w:val="Para"/>')
        + paragraph("sub", '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="3"/></w:numPr>')
        + paragraph("sub", '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="3"/></w:numPr>')
        + paragraph("two", '<w:pStyle w:val="Child"/>')
        + paragraph("sub", '<w:pStyle w:val="Child"/><w:numPr><w:ilvl w:val="1"/></w:numPr>')
        + paragraph("none", '<w:pStyle w:val="Para"/><w:numPr><w:numId w:val="0"/></w:numPr>')
    )
    raw = packed(
        {
            "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": styles,
            "word/numbering.xml": lists,
        }
    )
    assert [block.text for block in content_of(raw, "a.docx").blocks] == [
        "1. one",
        "(i) sub",
        "(ii) sub",
        "2. two",
        "(i) sub",
        "none",
    ]


def test_a_long_paragraph_in_the_style_of_a_heading_is_text():
    body = '<w:p><w:pPr><w:pStyle w:val="T1"/></w:pPr><w:r><w:t>' + "word " * 60 + "</w:t></w:r></w:p>"
    assert content_of(docx(body), "a.docx").blocks[0].level == 0
