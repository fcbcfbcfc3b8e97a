"""CIFF files: those that are written are read by protobuf itself, and those that protobuf writes are read."""

import dataclasses
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexfuse
from lexfuse.bridges.ciff import CIFF_SETTINGS, read_ciff, write_ciff
from lexfuse.bridges.protobuf_wire import delimited, fields, number_field, read_delimited, varint
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.index_settings import IndexSettings

# The messages of CIFF: name, number and type of each field (github.com/osirrc/ciff).
MESSAGES = {
    "Posting": [("docid", 1, "INT32"), ("tf", 2, "INT32")],
    "PostingsList": [("term", 1, "STRING"), ("df", 2, "INT64"), ("cf", 3, "INT64"), ("postings", 4, "Posting")],
    "DocRecord": [("docid", 1, "INT32"), ("collection_docid", 2, "STRING"), ("doclength", 3, "INT32")],
    "Header": [
        ("version", 1, "INT32"), ("num_postings_lists", 2, "INT32"), ("num_docs", 3, "INT32"),
        ("total_postings_lists", 4, "INT32"), ("total_docs", 5, "INT32"), ("total_terms_in_collection", 6, "INT64"),
        ("average_doclength", 7, "DOUBLE"), ("description", 8, "STRING"),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def messages():
    """The classes that protobuf makes of the messages."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="ciff.proto", package="ciff", syntax="proto3")
    for name, described in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind in described:
            one = message.field.add(name=field, number=number)
            one.label = one.LABEL_REPEATED if kind == "Posting" else one.LABEL_OPTIONAL
            one.type = one.TYPE_MESSAGE if kind == "Posting" else getattr(one, f"TYPE_{kind}")
            if kind == "Posting":
                one.type_name = ".ciff.Posting"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"ciff.{name}")) for name in MESSAGES}


def parts_of(raw, messages):
    """The messages of a file, read and written again by protobuf."""
    stream = io.BytesIO(raw)
    header = messages["Header"].FromString(read_delimited(stream))
    lists = [messages["PostingsList"].FromString(read_delimited(stream)) for _ in range(header.num_postings_lists)]
    records = [messages["DocRecord"].FromString(read_delimited(stream)) for _ in range(header.num_docs)]
    assert stream.read() == b""
    return header, lists, records


def test_protobuf_reads_what_is_written_and_writes_the_same_bytes(index, messages, tmp_path):
    written = write_ciff(index, tmp_path / "law.ciff")
    raw = (tmp_path / "law.ciff").read_bytes()
    header, lists, records = parts_of(raw, messages)
    again = [header, *lists, *records]
    assert b"".join(delimited(one.SerializeToString(deterministic=True)) for one in again) == raw
    snapshot = index.snapshot
    postings, numbering = snapshot.postings("bm25"), snapshot.numbering
    assert [record.collection_docid for record in records] == list(snapshot.ids)
    assert [record.doclength for record in records] == postings.lengths[numbering.raw].tolist()
    assert header.average_doclength == pytest.approx(postings.mean_length)
    assert [one.term for one in lists] == sorted((one.term for one in lists), key=str.encode)
    frequencies = {one.term: (one.df, one.cf) for one in lists}
    number = postings.vocabulary.find("pret")
    assert frequencies["pret"] == (postings.document_frequency[number], postings.collection_frequency[number])
    assert (written.lists, written.total_terms) == (len(lists), header.total_terms_in_collection)


def test_protobuf_writes_what_is_read(messages, tmp_path):
    lists = [("loi", [(0, 2), (3, 1)]), ("œuvre", [(2, 1)])]
    made = [messages["Header"](version=1, num_postings_lists=2, num_docs=4, total_postings_lists=2, total_docs=4)]
    for term, postings in lists:
        gaps = [(doc - before, tf) for (doc, tf), before in zip(postings, [0, *(doc for doc, _ in postings)], strict=False)]
        own = [messages["Posting"](docid=gap, tf=tf) for gap, tf in gaps]
        made.append(messages["PostingsList"](term=term, df=len(own), cf=sum(tf for _, tf in gaps), postings=own))
    made += [
        messages["DocRecord"](docid=at, collection_docid=f"d{at}", doclength=length) for at, length in enumerate([2, 0, 1, 9])
    ]
    path, report = tmp_path / "other.ciff", ReadReport()
    path.write_bytes(b"".join(delimited(one.SerializeToString()) for one in made))
    corpus = read_ciff(path, report)
    assert [(one.id, one.text) for one in corpus] == [("d0", "loi loi"), ("d1", ""), ("d2", "œuvre"), ("d3", "loi")]
    assert report.lines() == [f"1 noted: the length of a document is not the sum of its frequencies; the sum is used ({path})"]


def test_an_index_of_a_file_has_the_same_scores(index, tmp_path):
    write_ciff(index, tmp_path / "law.ciff.gz")
    report = ReadReport(skip_bad=True)
    corpus = read_ciff(tmp_path / "law.ciff.gz", report)
    assert report.skipped == 0
    with lexfuse.Index.build(tmp_path / "again.index", corpus, settings=CIFF_SETTINGS) as again:
        for question in ("retard prêt", "horaires bibliothèque"):
            terms = " ".join(index.snapshot.settings.analyser("fr").terms(question))
            plain = {"channels": ["bm25"], "spelling": "off", "everyday": False}
            expected = [(hit.id, hit.score) for hit in index.search(question, **plain)]
            assert [(hit.id, hit.score) for hit in again.search(terms, **plain)] == expected
        write_ciff(again, tmp_path / "third.ciff")
    assert [one.text for one in read_ciff(tmp_path / "third.ciff")] == [one.text for one in corpus]


def test_the_same_index_gives_the_same_bytes_after_a_deletion_and_a_merge(tmp_path):
    documents = [lexfuse.Document(id, text=f"loi {id * 3}", language="fr") for id in ("aaa", "bbb", "ccc")]
    with lexfuse.Index.build(tmp_path / "law.index", documents[:2]) as index:
        index.add(documents[2:])
        index.delete(["aaa"])
        write_ciff(index, tmp_path / "one")
        index.merge()
        write_ciff(index, tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert [one.id for one in read_ciff(tmp_path / "one")] == ["bbb", "ccc"]


def test_the_versions_of_a_day(tmp_path):
    import datetime

    old = lexfuse.Document("a", text="ancien", valid_to=datetime.date(2020, 1, 1))
    new = dataclasses.replace(old, text="nouveau", valid_from=datetime.date(2020, 1, 1), valid_to=None, history=(old,))
    with lexfuse.Index.build(tmp_path / "law.index", [new], language="fr") as index:
        write_ciff(index, tmp_path / "now")
        write_ciff(index, tmp_path / "then", as_of="2019-01-01")
    assert [read_ciff(tmp_path / name).text for name in ("then", "now")] == [("ancien",), ("nouveau",)]


def test_weights_that_are_no_whole_numbers_are_refused(tmp_path):
    settings = IndexSettings(fields={"text": 1.5})
    with lexfuse.Index.build(tmp_path / "i", [lexfuse.Document("a", text="loi")], settings=settings) as index:
        with pytest.raises(ConfigError, match="whole frequencies"):
            write_ciff(index, tmp_path / "law.ciff")
        assert not (tmp_path / "law.ciff").exists()


def test_terms_that_are_not_one_word(messages, tmp_path):
    made = [messages["Header"](version=1, num_postings_lists=2, num_docs=1)]
    once = [messages["Posting"](docid=0, tf=1)]
    made += [messages["PostingsList"](term=term, df=1, cf=1, postings=once) for term in ("loi", "u.s")]
    made.append(messages["DocRecord"](collection_docid="a", doclength=2))
    path = tmp_path / "x.ciff"
    path.write_bytes(b"".join(delimited(one.SerializeToString()) for one in made))
    with pytest.raises(DataError, match=r"'u\.s' is not one word"):
        read_ciff(path)
    report = ReadReport(skip_bad=True)
    assert read_ciff(path, report).text == ("loi",)
    assert report.skipped == 1


def test_every_cut_of_a_file_is_named(index, tmp_path):
    write_ciff(index, tmp_path / "law.ciff")
    raw = (tmp_path / "law.ciff").read_bytes()
    damaged = tmp_path / "damaged.ciff"
    for end in range(0, len(raw), 37):
        damaged.write_bytes(raw[:end])
        with pytest.raises(DataError, match=r"damaged\.ciff"):
            read_ciff(damaged)
    for other in (raw + b"\x00", b"PK\x03\x04", b"\x02\x08\x02", b"\x1f\x8b\x08"):
        damaged.write_bytes(other)
        with pytest.raises(DataError, match=r"damaged\.ciff"):
            read_ciff(damaged)


@given(st.integers(0, 2**63 - 1), st.integers(1, 2**29 - 1))
def test_numbers_come_back(value, number):
    assert list(fields(number_field(number, value))) == ([(number, value)] if value else [])
    assert read_delimited(io.BytesIO(varint(3) + b"abc")) == b"abc"


@given(st.binary(max_size=60))
def test_bytes_that_are_no_message_are_refused(raw):
    try:
        list(fields(raw))
    except DataError:
        return
