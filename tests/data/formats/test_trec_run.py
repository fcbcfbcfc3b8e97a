"""Runs as TREC files."""

import gzip

import numpy as np
import pytest

import lexfuse.data.files
from lexfuse.data.formats.trec_run import read_run, stem, write_qrels, write_run
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.read_report import ReadReport
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, DataError


def read(tmp_path, text, report=None):
    path = tmp_path / "bm25.trec"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_run(path, report=report)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/bm25.trec", "bm25"),
        ("bm25.run.gz", "bm25"),
        ("x.txt", "x"),
        ("bm25", "bm25"),
        ("k1=0.9.trec", "k1=0.9"),
        (".trec", ".trec"),
    ],
)
def test_the_name_is_the_stem(path, name):
    assert stem(path) == name


def test_a_run_is_read_with_its_name(tmp_path):
    report = ReadReport()
    run = read(tmp_path, "q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 -1e-3 t\nq2\tQ0\td1\t1\t7\tt\r\n", report)
    assert run.name == "bm25"
    assert run.as_dict() == {"q1": {"d1": 2.5, "d2": pytest.approx(-1e-3)}, "q2": {"d1": 7.0}}
    assert (report.kept, report.lines()) == (3, [])
    assert read_run(tmp_path / "bm25.trec", "other").name == "other"


def test_the_score_decides_not_the_rank_nor_the_line(tmp_path):
    report = ReadReport()
    run = read(
        tmp_path, "q1 Q0 a 1 1.0 t\nq1 Q0 b 2 3.0 t\nq2 Q0 a 1 1.0 t\nq1 Q0 c 3 2.0 t\nq3 Q0 a 1 1 t\nq3 Q0 b 2 2 t\n", report
    )
    assert [hit.doc for hit in run.hits("q1")] == ["b", "c", "a"]
    assert report.lines() == [f"1 noted: scores out of order in 2 rankings, sorted by score ({tmp_path}/bm25.trec, line 2)"]


def test_ties_are_no_disorder_and_go_by_id(tmp_path):
    report = ReadReport()
    run = read(tmp_path, "q Q0 b 1 1.0 t\nq Q0 a 2 1.0 t\n", report)
    assert [hit.doc for hit in run.hits("q")] == ["a", "b"]
    assert report.lines() == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q Q0 z 1 nan t", "the score 'nan' is not a finite 32-bit number"),
        ("q Q0 z 1 inf t", "the score 'inf' is not a finite 32-bit number"),
        ("q Q0 z 1 1e39 t", "the score '1e39' is not a finite 32-bit number"),
        ("q Q0 z 1 high t", "the score 'high' is not a number"),
        ("q Q0 z 1 1_0 t", "the score '1_0' is not a number"),
        ("q Q0 z 1 1.0", "expected the six columns 'query Q0 document rank score tag', got 5"),
        ("q Q0 z 1 1.0 my tag", "expected the six columns .* got 7"),
        ("q Q0 a 9 0.5 t", "query 'q' ranks document 'a' already on line 1"),
        (b"q Q0 \xe9 1 1.0 t", "byte 0xe9 at position 5 is not UTF-8"),
    ],
)
def test_a_bad_line_has_its_place_and_costs_only_itself(tmp_path, line, message):
    line = line if isinstance(line, bytes) else line.encode()
    content = b"q Q0 a 1 2.0 t\n\n" + line + b"\nq Q0 b 2 1.0 t\n"
    with pytest.raises(DataError, match=rf"bm25\.trec, line 3: {message}"):
        read(tmp_path, content)
    report = ReadReport(skip_bad=True)
    assert read(tmp_path, content, report).as_dict() == {"q": {"a": 2.0, "b": 1.0}}
    assert (report.skipped, report.kept) == (1, 2)


def test_a_short_and_a_long_line_do_not_make_up_for_each_other(tmp_path):
    with pytest.raises(DataError, match=r"line 1: expected the six columns .* got 5"):
        read(tmp_path, "q Q0 a 1 2.0\nq Q0 b 2 1.0 t t\n")


@pytest.mark.parametrize("size", [1, 10, 40])
def test_lines_are_counted_over_blocks(tmp_path, monkeypatch, size):
    monkeypatch.setattr(lexfuse.data.files.chunks, "__defaults__", (size,))
    report = ReadReport(skip_bad=True)
    run = read(tmp_path, "q Q0 a 1 5 t\nq Q0 b 2 4 t\nbroken\nq Q0 c 3 3 t\nq Q0 a 4 2 t\n", report)
    assert [hit.doc for hit in run.hits("q")] == ["a", "b", "c"]
    assert [line.rsplit(", ", 1)[1] for line in report.lines()] == ["line 3)", "line 5)"]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf\n"])
def test_no_hits_are_a_run_that_is_noted(tmp_path, content):
    report = ReadReport()
    assert len(read(tmp_path, content, report)) == 0
    assert report.lines() == [f"1 noted: no hits in the run ({tmp_path}/bm25.trec)"]


def test_a_byte_order_mark_is_no_part_of_the_first_query(tmp_path):
    assert read(tmp_path, b"\xef\xbb\xbfq Q0 a 1 5 t").queries.names == ("q",)


def test_a_truncated_gzip_is_said(tmp_path):
    packed = gzip.compress("".join(f"q{n} Q0 d{n * n} 1 {n}.5 t\n" for n in range(2000)).encode())
    with pytest.raises(DataError, match="truncated or damaged"):
        read(tmp_path, packed[: len(packed) // 2])


def test_scores_come_back_bit_for_bit(tmp_path):
    bits = np.random.default_rng(1).integers(0, 2**32, 20_000, dtype=np.uint32).view(np.float32)
    score = np.unique(bits[np.isfinite(bits)])
    docs = Ids(f"d{n}" for n in range(len(score)))
    doc = np.arange(len(score), dtype=np.int32)
    run = Run.from_arrays("x", Ids("q"), docs, np.zeros(len(score), np.int32), doc, score)
    write_run(run, tmp_path / "x.trec.gz")
    assert read_run(tmp_path / "x.trec.gz").score.tobytes() == run.score.tobytes()


def test_written_lines_have_ranks_from_one_and_the_tag(tmp_path):
    run = Run.of("my run", {"q2": {"b": 1.0, "a": 1.0}, "none": {}, "q1": {"c": 16777216.0}})
    write_run(run, tmp_path / "x.trec", "tag")
    assert (tmp_path / "x.trec").read_text() == "q2 Q0 a 1 1.0 tag\nq2 Q0 b 2 1.0 tag\nq1 Q0 c 1 16777216.0 tag\n"
    with pytest.raises(ConfigError, match="must be one word, got 'my run'"):
        write_run(run, tmp_path / "y.trec")


@pytest.mark.parametrize("id", ["", "a\tb", "a\nb", "\ud800"])
def test_ids_that_a_run_cannot_hold_are_named(tmp_path, id):
    for run in (Run.of("x", {id: {"d": 1.0}}), Run.of("x", {"q": {id: 1.0}})):
        with pytest.raises(DataError) as caught:
            write_run(run, tmp_path / "x.trec")
        assert repr(id) in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_infinite_scores_are_not_written(tmp_path):
    with pytest.raises(DataError, match="run 'x' has infinite scores"):
        write_run(Run.of("x", {"q": {"d": float("inf")}}), tmp_path / "x.trec")


@pytest.mark.parametrize("id", ["a b", "a\xa0b", "Où ?  Quand ? ", " ", "a\u2003\x1fb", "␠ ␛", "␛20␛"])
def test_ids_with_white_space_are_one_word_in_the_file(tmp_path, id):
    for run in (Run.of("x", {id: {"d": 1.0, "e": 0.5}}), Run.of("x", {"q": {id: 1.0, "e": 0.5}})):
        write_run(run, tmp_path / "x.trec")
        assert [len(line.split()) for line in (tmp_path / "x.trec").read_text("utf-8").splitlines()] == [6, 6]
        assert read_run(tmp_path / "x.trec").as_dict() == run.as_dict()


def test_other_programs_read_ids_with_white_space(tmp_path):
    """trec_eval (by pytrec_eval) and ir_measures find the same documents in the run and in the judgements."""
    ir_measures, pytrec_eval = pytest.importorskip("ir_measures"), pytest.importorskip("pytrec_eval")
    write_run(Run.of("x", {"q 1": {"d 1": 2.0, "d\xa02": 1.0}}), tmp_path / "x.trec")
    write_qrels(Qrels.of([("q 1", "d\xa02", 1)]), tmp_path / "x.qrels")
    with (tmp_path / "x.trec").open(encoding="utf-8") as run, (tmp_path / "x.qrels").open(encoding="utf-8") as qrels:
        judged, ranked = pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(run)
    assert pytrec_eval.RelevanceEvaluator(judged, {"recip_rank"}).evaluate(ranked)["q␠1"]["recip_rank"] == 0.5
    paths = str(tmp_path / "x.qrels"), str(tmp_path / "x.trec")
    found = ir_measures.calc_aggregate(
        [ir_measures.RR], list(ir_measures.read_trec_qrels(paths[0])), list(ir_measures.read_trec_run(paths[1]))
    )
    assert found[ir_measures.RR] == 0.5
