"""XML is parsed without entities, files of others, or endless depth."""

import pytest

from lexfuse.data.formats.xml_tree import parse_xml, words_of
from lexfuse.errors import DamagedFileError, FileEncodingError


def test_a_reference_to_a_dtd_is_not_read_and_entities_of_html_are_known(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("<!ENTITY x 'leak'>")
    raw = f'<!DOCTYPE a SYSTEM "file://{secret}"><a>caf&eacute;&nbsp;&amp;</a>'.encode()
    assert words_of(parse_xml(raw, "a.xml")) == "café &"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><a>&b;</a>', "internal DTD"),
        (b'<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>', "internal DTD"),
        (b"<!DOCTYPE a SYSTEM 'x.dtd'><a>&unknown;</a>", "&unknown;"),
        (b"<a>&eacute;</a>", "XML is damaged"),
        (b"<a><b></a>", "XML is damaged"),
        (b"<a>", "XML is damaged"),
        (b"text", "XML is damaged"),
    ],
)
def test_refused(raw, reason):
    with pytest.raises(DamagedFileError, match=reason):
        parse_xml(raw, "a.xml")


def test_encodings():
    assert words_of(parse_xml('<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>'.encode("latin-1"), "a")) == "é"
    assert words_of(parse_xml("<a>é</a>".encode("utf-16"), "a")) == "é"
    with pytest.raises(FileEncodingError):
        parse_xml(b'<?xml version="1.0" encoding="klingon"?><a/>', "a")
