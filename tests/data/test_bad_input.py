"""What every reader and writer does with bad input: a clear error, or a defined and reported result, never lost data."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, write_collection
from lexfuse.data.formats.file_format import read_corpus, read_queries, write_corpus, write_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.formats.trec_run import read_run
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError, StorageError

NAMES = ["c.jsonl", "c.jsonl.gz", "c.csv", "c.csv.gz", "c.parquet"]
READERS = {"jsonl": read_corpus, "csv": read_corpus, "parquet": read_corpus, "trec": read_run, "qrels": read_qrels}


def write_lines(tmp_path, *lines):
    path = tmp_path / "c.jsonl"
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines) + b"\n")
    return path


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"_id": "b", "text": "x"', "not valid JSON: .* at character 25"),
        ("no json", "not valid JSON: "),
        ('["_id", "text"]', 'expected a JSON object like {"_id": …, "text": …}, got a list'),
        ("null", "expected a JSON object .* got null"),
        ("7", "expected a JSON object .* got a number"),
        ('"text"', "expected a JSON object .* got text"),
        ('{"text": "x"}', "no id: expected a field '_id' or 'id', got the fields 'text'"),
        ('{"_id": "b"}', "no text: expected a field 'text', got the fields '_id'"),
        ('{"_id": "b", "text": ["x"]}', r"field 'text': expected text, got list \['x'\]"),
        ('{"_id": "b", "text": "x", "date": "2023-02-30"}', "field 'date': '2023-02-30' is not a date"),
        ('{"_id": "a", "text": "x"}', "id 'a' is already used on line 1; ids must be unique"),
        ('{"_id": "b", "text": "\\ud800"}', "not valid JSON: "),
        (b'{"_id": "b", "text": "\xe9"}', "byte 0xe9 at position 22 is not UTF-8"),
        (b'{"_id": "b", "text": "\xff\xfe"}', "byte 0xff at position 22 is not UTF-8"),
    ],
)
def test_a_bad_line_names_file_line_and_reason_and_can_be_skipped(tmp_path, line, reason):
    path = write_lines(tmp_path, '{"_id": "a", "text": "first"}', "", line, '{"_id": "z", "text": "last"}')
    with pytest.raises(DataError, match=rf"c\.jsonl, line 3: {reason}") as caught:
        read_corpus(path)
    assert (caught.value.path, caught.value.line) == (str(path), 3)
    report = ReadReport(skip_bad=True)
    assert read_corpus(path, report).text == ("first", "last")
    assert (report.kept, report.skipped, len(report.lines())) == (2, 1, 1)
    assert report.lines()[0].endswith(f"({path}, line 3)")


def test_the_first_of_duplicate_ids_stays_in_every_format(tmp_path):
    (tmp_path / "c.csv").write_text("id,text\na,first\nb,x\na,second\n")
    report = ReadReport(skip_bad=True)
    assert read_corpus(tmp_path / "c.csv", report).text == ("first", "x")
    assert report.lines() == [f"1 skipped: id 'a' is already used on line 2; ids must be unique ({tmp_path}/c.csv, line 4)"]


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_an_empty_corpus_is_an_error(tmp_path, content):
    (tmp_path / "c.jsonl").write_bytes(content)
    with pytest.raises(DataError, match=r"c\.jsonl: has no documents; a corpus needs at least one"):
        read_corpus(tmp_path / "c.jsonl")


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_corpus_is_an_error_in_every_format(tmp_path, name):
    write_corpus(Corpus.of([]), tmp_path / name)
    with pytest.raises(DataError, match="has no documents"):
        read_corpus(tmp_path / name)


def test_a_corpus_of_which_all_was_skipped_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"has no documents \(2 bad records were skipped\)"):
        read_corpus(write_lines(tmp_path, "x", "y"), ReadReport(skip_bad=True))


@pytest.mark.parametrize("name", NAMES)
def test_no_queries_are_noted(tmp_path, name):
    write_queries(Queries.of([]), tmp_path / name)
    report = ReadReport()
    assert len(read_queries(tmp_path / name, report)) == 0
    assert report.lines() == [f"1 noted: no queries ({tmp_path / name})"]


@pytest.mark.parametrize("name", NAMES)
def test_empty_documents_and_queries_are_kept_and_noted(tmp_path, name):
    documents = [Document("a", text="x"), Document("b", text=" \n"), Document("c", title="T")]
    write_corpus(Corpus.of(documents), tmp_path / name)
    report = ReadReport()
    assert list(read_corpus(tmp_path / name, report)) == documents
    assert len(report.lines()) == 1
    assert report.lines()[0].startswith("1 noted: document without title and text, kept")
    write_queries(Queries.of([Query("q", "")]), tmp_path / name)
    report = ReadReport()
    assert read_queries(tmp_path / name, report).text == ("",)
    assert report.lines()[0].startswith("1 noted: query without text, kept")


@pytest.mark.parametrize("suffix", READERS)
def test_a_truncated_gzip_is_said_by_every_reader(tmp_path, suffix):
    content = {
        "jsonl": "".join(f'{{"_id": {n}, "text": "{n * n}"}}\n' for n in range(3000)),
        "csv": "id,text\n" + "".join(f"{n},{n * n}\n" for n in range(3000)),
        "trec": "".join(f"q Q0 d{n} 1 -{n} t\n" for n in range(3000)),
        "qrels": "".join(f"q 0 d{n} {n}\n" for n in range(3000)),
        "parquet": "PAR1",
    }[suffix]
    packed = gzip.compress(content.encode(), mtime=0)
    path = tmp_path / f"c.{suffix}.gz"
    for keep in (2, 7, len(packed) // 2, len(packed) - 1):
        path.write_bytes(packed[:keep])
        with pytest.raises(DataError, match="the gzip data is truncated or damaged"):
            READERS[suffix](path)
        with pytest.raises(DataError, match="the gzip data is truncated or damaged"):
            READERS[suffix](path, report=ReadReport(skip_bad=True))


@pytest.mark.parametrize("suffix", ["trec", "qrels"])
def test_a_folder_where_a_file_is_expected_is_said(tmp_path, suffix):
    with pytest.raises(DataError, match="is a folder, a file was expected"):
        READERS[suffix](tmp_path)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "document",
    [
        Document("bad", text="\ud800"),
        Document("bad", title="\udfff"),
        Document("bad", headings=("\ud800",)),
        Document("bad", extra={"a": ["\ud800"]}),
        Document("bad", extra={"a": float("nan")}),
        Document("bad", extra={"a": object()}),
    ],
)
def test_what_cannot_be_written_names_its_document_and_leaves_the_old_file(tmp_path, name, document):
    (tmp_path / name).write_bytes(b"old")
    with pytest.raises(DataError, match="document 'bad'"):
        write_corpus(Corpus.of([Document("good"), document]), tmp_path / name)
    assert (tmp_path / name).read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", NAMES)
def test_a_query_that_cannot_be_written_is_named(tmp_path, name):
    with pytest.raises(DataError, match="query 'bad'"):
        write_queries(Queries.of([Query("bad", "\ud800")]), tmp_path / name)


@pytest.mark.parametrize("name", NAMES)
def test_an_interrupted_writing_leaves_the_old_file(tmp_path, name, monkeypatch):
    (tmp_path / name).write_bytes(b"old")

    class Interrupting(Corpus):
        def __iter__(self):
            yield from list(super().__iter__())
            raise KeyboardInterrupt

    corpus = Interrupting.of([Document("a", text="x" * 100_000)])
    with pytest.raises(KeyboardInterrupt):
        write_corpus(corpus, tmp_path / name)
    assert (tmp_path / name).read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == [name]


FULL_DISK = """
import random, resource, signal, sys
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, write_collection
from lexfuse.data.formats.file_format import write_corpus
from lexfuse.errors import StorageError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
digits = random.Random(1)
corpus = Corpus.of(Document(f"d{n}", text=str(digits.getrandbits(2000))) for n in range(100))
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
for target in sys.argv[1:]:
    try:
        if target.endswith("folder"):
            write_collection(Collection(corpus), target, replace=True)
        else:
            write_corpus(corpus, target)
    except StorageError as error:
        print(error)
"""


def test_a_full_disk_leaves_old_files_and_folders_in_every_format(tmp_path):
    for name in NAMES:
        (tmp_path / name).write_bytes(b"old")
    write_collection(Collection(Corpus.of([Document("old")])), tmp_path / "folder")
    targets = [str(tmp_path / name) for name in [*NAMES, "folder"]]
    done = subprocess.run([sys.executable, "-c", FULL_DISK, *targets], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    messages = done.stdout.splitlines()
    assert len(messages) == len(targets)
    assert all("File too large; free some space" in message for message in messages)
    assert {(tmp_path / name).read_bytes() for name in NAMES} == {b"old"}
    assert read_corpus(tmp_path / "folder").ids.names == ("old",)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*NAMES, "folder"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_device_is_a_storage_error(tmp_path):
    (tmp_path / "full.jsonl").symlink_to("/dev/full")
    with pytest.raises(StorageError, match="No space left on device"):
        write_corpus(Corpus.of([Document("a", text="x" * 100_000)]), tmp_path / "full.jsonl")
