"""A folder of files: every file is imported or skipped with a reason, and nothing outside the folder is read."""

import io
import zipfile

import pytest

from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources import file_folder
from lexfuse.data.sources.file_folder import read_files
from lexfuse.errors import DataError, NotFoundError
from lexfuse.text.paragraph_documents import paragraph_documents

ACT = "# Lease Act\n\n## Article 1\n\nA lease is written.\n\n## Article 2\n\nIt ends.\n"
JUDGMENT = "Judgment of the Court\n" + "\n".join(f"{number}. The Court held number {number}." for number in range(1, 8))


def outcomes(account):
    return {one.file: one.code or one.documents for one in account.outcomes}


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_every_file_is_accounted_for(tmp_path):
    folder = tmp_path / "law"
    (folder / "acts").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("x")
    (folder / "acts" / "lease act.md").write_text(ACT)
    (folder / "judgment.txt").write_text(JUDGMENT)
    (folder / "page.html").write_text("<title>Order</title><p>It is so ordered.")
    (folder / "empty.pdf").write_bytes(b"")
    (folder / "broken.docx").write_bytes(b"PK\x03\x04")
    (folder / "scan.png").write_bytes(b"\x89PNG\r\n")
    (folder / "table.csv").write_text("id,text\na,b\n")
    (folder / ".hidden.txt").write_text("x")
    (folder / "latin.txt").write_bytes("arrêt".encode("latin-1"))
    (folder / "old.doc").write_bytes(b"\xd0\xcf\x11\xe0rest")
    (folder / "more.zip").write_bytes(zipped({"in/act.md": ACT, "in/x.pdf": "", "inner.zip": zipped({"deep.txt": "Deep law."})}))
    corpus, account = read_files(folder, divide=paragraph_documents)
    assert outcomes(account) == {
        ".git": "unsupported-file-type",
        ".hidden.txt": "unsupported-file-type",
        "acts/lease act.md": 2,
        "broken.docx": "damaged-file",
        "empty.pdf": "empty-file",
        "judgment.txt": 8,
        "latin.txt": "unsupported-encoding",
        "more.zip/in/act.md": 2,
        "more.zip/in/x.pdf": "empty-file",
        "more.zip/inner.zip/deep.txt": 1,
        "old.doc": "unsupported-file-type",
        "page.html": 1,
        "scan.png": "unsupported-file-type",
        "table.csv": "unsupported-file-type",
    }
    assert account.imported + len(account.skipped) == len(account.outcomes) == 14
    assert sum(one.documents for one in account.outcomes) == len(corpus) == 14
    assert account.as_json()["skipped"] == len(account.as_json()["skipped_files"]) == 9
    assert account.lines()[0].startswith("14 files: 5 imported, 9 skipped (5 unsupported-file-type, 2 empty-file,")
    assert not any(any(map(str.isspace, id)) for id in corpus.ids)
    assert corpus.document("acts/lease_act.md#2").extra == {"file": "acts/lease act.md", "format": "markdown"}
    assert corpus.document("judgment.txt#3").text == "The Court held number 3."
    assert corpus.document("page.html").title == "Order"


def test_the_same_folder_gives_the_same_ids(tmp_path):
    (tmp_path / "b.md").write_text(ACT)
    (tmp_path / "a.txt").write_text(JUDGMENT)
    first = read_files(tmp_path, divide=paragraph_documents)[0].ids.names
    assert first == read_files(tmp_path, divide=paragraph_documents)[0].ids.names
    assert first[0] == "a.txt#preamble"


def test_whole_files(tmp_path):
    (tmp_path / "b.md").write_text(ACT)
    corpus, _ = read_files(tmp_path / "b.md", divided=False, divide=paragraph_documents)
    assert corpus.ids.names == ("b.md",)
    assert corpus[0].text.splitlines()[1:3] == ["Article 1", "A lease is written."]


def test_links_are_not_followed(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    folder = tmp_path / "law"
    folder.mkdir()
    (folder / "a.txt").write_text("law")
    (folder / "link.txt").symlink_to(tmp_path / "outside" / "secret.txt")
    (folder / "linked").symlink_to(tmp_path / "outside")
    corpus, account = read_files(folder)
    assert corpus.ids.names == ("a.txt",)
    assert {one.file: "symbolic link" in one.reason for one in account.skipped} == {"link.txt": True, "linked": True}


def test_paths_links_and_passwords_in_a_zip_file_are_refused(tmp_path):
    link = zipfile.ZipInfo("link.txt")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("../up.txt", "/root.txt", "ok.txt", "C:/x.txt", "a\\..\\b.txt"):
            archive.writestr(name, "law")
        archive.writestr(link, "/etc/hostname")
    corpus, account = read_files(tmp_path / "a.zip")
    assert corpus.ids.names == ("a.zip/ok.txt",)
    assert len(account.skipped) == 5
    raw = bytearray(zipped({"a.txt": "law", "b.txt": "law"}))
    raw[raw.index(b"PK\x01\x02") + 8] |= 1  # the flag of an encrypted member
    (tmp_path / "a.zip").write_bytes(raw)
    assert outcomes(read_files(tmp_path / "a.zip")[1]) == {"a.zip/a.txt": "locked-file", "a.zip/b.txt": 1}


def test_a_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(file_folder, "_CHECKED_FROM", 1000)
    (tmp_path / "a.zip").write_bytes(zipped({"bomb.txt": b"a" * 20_000_000, "b.txt": "law"}))
    corpus, account = read_files(tmp_path)
    assert corpus.ids.names == ("a.zip/b.txt",)
    assert "hostile" in account.skipped[0].reason
    monkeypatch.setattr(file_folder, "LARGEST_ARCHIVE", 1000)
    with pytest.raises(DataError, match=r"no document could be read: .*at most 200,000 files of 1,000 bytes"):
        read_files(tmp_path)


def test_a_member_without_a_name_is_named_by_its_zip_file(tmp_path):
    raw = zipped({"a.txt": "law", "b.txt": "law"}).replace(b"a.txt", b"\0.txt")  # a name ends at the first zero
    (tmp_path / "a.zip").write_bytes(raw)
    assert outcomes(read_files(tmp_path / "a.zip")[1]) == {"a.zip/": "damaged-file", "a.zip/b.txt": 1}


def test_zip_files_inside_each_other_end(tmp_path):
    raw = b"law"
    for _ in range(6):
        raw = zipped({"a.zip" if raw[:2] == b"PK" else "a.txt": raw})
    (tmp_path / "a.zip").write_bytes(raw)
    with pytest.raises(DataError, match="levels inside each other"):
        read_files(tmp_path)


def test_nothing_to_read_is_an_error(tmp_path):
    with pytest.raises(DataError, match="it has no files"):
        read_files(tmp_path)
    (tmp_path / "a.pdf").touch()
    with pytest.raises(DataError, match=r"no document could be read: 1 file: 0 imported, 1 skipped \(1 empty-file\)"):
        read_files(tmp_path)
    with pytest.raises(NotFoundError):
        read_files(tmp_path / "nowhere")


def test_a_second_document_with_the_same_id_skips_its_file(tmp_path):
    for name, text in (("1", "law"), ("2", "law"), ("3", "other law")):
        (tmp_path / name).write_text(f"<DOC><DOCNO>A</DOCNO><TEXT>{text}</TEXT></DOC>")
    corpus, account = read_files(tmp_path, ReadReport())
    assert corpus.ids.names == ("A",)
    assert [one.reason for one in account.skipped] == [
        "has the same documents as '1'",
        "its document 'A' has the id of one in '1'; ids must be unique",
    ]


def test_a_later_version_of_a_law_that_states_the_same_ids_has_ids_by_its_path(tmp_path):
    work = '<meta><identification><FRBRWork><FRBRuri value="/akn/xx/act/1"/></FRBRWork></identification></meta>'
    sections = '<section eId="sec_1"><num>1</num><p>{}</p></section><section eId="sec_2"><num>2</num><p>Two.</p></section>'
    for name, text in (("1998 act.xml", "Old."), ("2005 act.xml", "New."), ("copy.xml", "Old.")):
        (tmp_path / name).write_text(f"<akomaNtoso><act>{work}<body>{sections.format(text)}</body></act></akomaNtoso>")
    report = ReadReport()
    corpus, account = read_files(tmp_path, report)
    assert [(one.id, one.text) for one in corpus] == [
        ("/akn/xx/act/1#sec_1", "Old."),
        ("/akn/xx/act/1#sec_2", "Two."),
        ("2005_act.xml#sec_1", "New."),
        ("2005_act.xml#sec_2", "Two."),
    ]
    assert [one.reason for one in account.skipped] == ["has the same documents as '1998 act.xml'"]
    assert report.lines() == ["1 noted: its ids are those of another file; they begin with its path instead (2005 act.xml)"]


def test_trec_files(tmp_path):
    (tmp_path / "ft911").write_text(
        "<DOC>\n<DOCNO> FT-1 </DOCNO>\n<DATE>910514</DATE><HEADLINE>\n"
        "Lease &amp; rent\n</HEADLINE>\n<TEXT>\nThe A < B rule.<p>\nHeld.\n</TEXT>\n</DOC>\n"
        "<DOC><DOCNO>FT-2</DOCNO><TEXT>Two.</TEXT></DOC>"
    )
    corpus, _ = read_files(tmp_path)
    assert [(one.id, one.title, one.text) for one in corpus] == [
        ("FT-1", "Lease & rent", "The A < B rule.\nHeld."),
        ("FT-2", "", "Two."),
    ]
    (tmp_path / "ft911").write_text("<DOC><DOCNO>FT-1</DOCNO><TEXT>cut")
    with pytest.raises(DataError, match="1 documents begin with <DOC> and 0 end"):
        read_files(tmp_path)
