"""Judgements as files."""

import numpy as np
import pytest

from lexfuse.data.formats.trec_qrels import read_qrels, write_qrels
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError

BEIR = "query-id\tcorpus-id\tscore\n"


def read(tmp_path, text, report=None, **known):
    path = tmp_path / "qrels.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_qrels(path, report, **known)


@pytest.mark.parametrize(
    "text",
    [
        "q1 0 d1 1\nq1 0 d2 -1\nq2 Q0 d1 2\n",
        "q1\t0\td1\t1\r\nq1\t0\td2\t-1\r\n\r\nq2\t0\td1\t+2",
        BEIR + "q1\td1\t1\nq1\td2\t-1\nq2\td1\t2\n",
        "q1\td1\t1\nq1\td2\t-1\nq2\td1\t2\n",
        "\ufeff" + BEIR + "q1\td1\t1\nq1\td2\t-1\nq2\td1\t2 \n",
    ],
)
def test_both_forms_are_seen_from_the_first_line(tmp_path, text):
    report = ReadReport()
    assert read(tmp_path, text, report).as_dict() == {"q1": {"d1": 1, "d2": -1}, "q2": {"d1": 2}}
    assert report.kept == 3


def test_ids_with_spaces_are_whole_in_beirs_form(tmp_path):
    qrels = Qrels.of([("a question", "art. L. 1", 1), ("a question", "é\x85\u2028", 0)])
    write_qrels(qrels, tmp_path / "test.tsv")
    assert read_qrels(tmp_path / "test.tsv").as_dict() == qrels.as_dict()


@pytest.mark.parametrize("text", [BEIR, BEIR + "\n\n", ""])
def test_no_judgements_are_valid_and_noted(tmp_path, text):
    report = ReadReport()
    assert len(read(tmp_path, text, report)) == 0
    assert report.lines() == [f"1 noted: no judgements ({tmp_path}/qrels.txt)"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q 0 d 1\nq 0 d\n", "line 2: expected the four columns 'query 0 document grade', got 3"),
        ("q d 1 2 3\n", "line 1: expected the four columns .* got 5"),
        (BEIR + "q\td\n", "line 2: expected the three columns 'query-id corpus-id score' separated by tabs, got 2"),
        (BEIR + "q\td\t0.5\n", "line 2: the grade '0.5' is not a whole number"),
        ("q 0 d high\n", "line 1: the grade 'high' is not a whole number"),
        ("q 0 d 1_0\n", "line 1: the grade '1_0' is not a whole number"),
        ("q 0 d 99999999999\n", "line 1: the grade '99999999999' is not a whole number"),
        ("q 0 d -+1\n", r"line 1: the grade '-\+1' is not a whole number"),
        (f"q 0 d {'9' * 5000}\n", f"line 1: the grade '{'9' * 40}' is not a whole number"),
        (BEIR + "\td\t1\n", "line 2: the query or the document has no id"),
        ("q 0 d 1\nq 0 e 1\nq 0 d 1\n", "line 3: query 'q' judges document 'd' already on line 1"),
        (b"q 0 d 1\nq 0 \xe9 1\n", "line 2: byte 0xe9"),
    ],
)
def test_a_bad_line_has_its_place_and_costs_only_itself(tmp_path, text, message):
    with pytest.raises(DataError, match=rf"qrels\.txt, {message}"):
        read(tmp_path, text)
    report = ReadReport(skip_bad=True)
    qrels = read(tmp_path, text, report)
    assert report.skipped == 1
    assert report.kept == len(qrels)


def test_unknown_ids_are_named_with_their_line(tmp_path):
    known = {"queries": Ids(["q1", "q2"]), "docs": Ids(["d2", "d1"])}
    text = BEIR + "q1\td1\t1\nq9\td1\t1\nq1\td9\t1\nq1\td2\t1\n"
    with pytest.raises(DataError, match="line 3: query 'q9' is not among the queries"):
        read(tmp_path, text, **known)
    report = ReadReport(skip_bad=True)
    qrels = read(tmp_path, text, report, **known)
    assert qrels.as_dict() == {"q1": {"d2": 1, "d1": 1}}
    assert qrels.docs is known["docs"]
    assert [line.split(" (")[0] for line in report.lines()] == [
        "1 skipped: query 'q9' is not among the queries; remove the line or add the query",
        "1 skipped: document 'd9' is not in the corpus; remove the line or add the document",
    ]


def test_documents_are_written_by_id_whatever_their_ordinals(tmp_path):
    write_qrels(Qrels.of([("q1", "b", 1), ("q2", "b", 1), ("q2", "a", 1)]), tmp_path / "a.qrels")
    assert (tmp_path / "a.qrels").read_text() == "q1 0 b 1\nq2 0 a 1\nq2 0 b 1\n"


@pytest.mark.parametrize("id", ["a b", "a\u2028b", "a\x1fb", " a b "])
def test_an_id_with_white_space_is_one_word_in_the_file(tmp_path, id):
    qrels = Qrels.of([("q 1", id, 1), ("q 1", "d2", 0), ("q2", "d2", -1)])
    write_qrels(qrels, tmp_path / "a.qrels")
    assert [len(line.split()) for line in (tmp_path / "a.qrels").read_text("utf-8").split("\n")] == [4, 4, 4, 0]
    assert read_qrels(tmp_path / "a.qrels").as_dict() == qrels.as_dict()


@pytest.mark.parametrize("id", ["", "a\tb", "a\nb", "\ufeffa", "\ud800"])
def test_ids_that_trec_cannot_hold_are_named(tmp_path, id):
    for qrels in (Qrels.of([(id, "d", 1)]), Qrels.of([("q", id, 1)])):
        with pytest.raises(DataError) as caught:
            write_qrels(qrels, tmp_path / "a.qrels")
        assert repr(id) in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("id", ["", "a\tb", "a\nb", "a\rb", "\ud800"])
def test_ids_that_beir_cannot_hold_are_named(tmp_path, id):
    with pytest.raises(DataError) as caught:
        write_qrels(Qrels.of([("q", id, 1)]), tmp_path / "a.tsv.gz")
    assert repr(id) in str(caught.value)


def test_only_ids_that_are_used_must_fit(tmp_path):
    qrels = Qrels.from_arrays(Ids(["q 1", "q2"]), Ids(["d 1", "d2"]), *np.array([[1], [1], [1]], np.int32))
    write_qrels(qrels, tmp_path / "a.qrels")
    assert (tmp_path / "a.qrels").read_text() == "q2 0 d2 1\n"
