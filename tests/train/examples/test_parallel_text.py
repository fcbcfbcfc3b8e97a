"""Parallel text from any table: columns by name or the only two, empty sides left out and counted, each pair once."""

import gzip
import json

import pytest

from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.train.examples.parallel_text import ParallelSettings, read_parallel
from lexfuse.train.examples.training_pair import TrainingPair

RECORDS = [
    {"id": "1", "act": "A", "en": "The lease ended.", "fr": "Le bail a pris fin.", "en_note": "End", "fr_note": "Fin"},
    {"id": "2", "act": "A", "en": " A judgment ", "fr": "Un jugement", "en_note": "End", "fr_note": "Fin"},
    {"id": "3", "act": "A", "en": "Repealed", "fr": " ", "en_note": None, "fr_note": "Abrogé"},
    {"id": "4", "act": "B", "en": "The law", "fr": "La loi"},
]
BOTH = ("en:fr", "en_note:fr_note")


def written(path, records, delimiter=","):
    """The records in the format of the suffix."""
    if ".json" in path.name:
        text = "".join(f"{json.dumps(record)}\n" for record in records)
    else:
        columns = list(records[0])
        rows = [columns, *([record.get(column) or "" for column in columns] for record in records)]
        text = "".join(f"{delimiter.join(row)}\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def read(path, columns=(), report=None):
    return read_parallel(ParallelSettings(teacher="minilm", pairs=str(path), columns=columns), report or ReadReport())


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.jsonl.gz", "pairs.csv", "pairs.csv.gz", "pairs.tsv", "pairs.tsv.gz"])
def test_every_format_gives_the_same_pairs(name, tmp_path):
    report = ReadReport()
    text = read(written(tmp_path / name, RECORDS, "\t" if "tsv" in name else ","), BOTH, report)
    assert text.name == name
    assert text.pairs == {
        "en:fr": (("The lease ended.", "Le bail a pris fin."), ("A judgment", "Un jugement"), ("The law", "La loi")),
        "en_note:fr_note": (("End", "Fin"),),
    }
    assert [line.partition(" (")[0] for line in report.lines()] == [
        "1 noted: no text in 'en' or 'fr', left out",
        "1 noted: repeated pair of 'en_note' and 'fr_note', used once",
        "2 noted: no text in 'en_note' or 'fr_note', left out",
    ]


def test_the_first_column_of_a_pair_is_the_teachers(tmp_path):
    text = read(written(tmp_path / "pairs.jsonl", RECORDS), ["FR : en"])
    assert text.pairs["fr:en"][0] == TrainingPair("Le bail a pris fin.", "The lease ended.")


def test_two_text_columns_need_no_names(tmp_path):
    records = [{"_id": str(at), "year": at, "de": f"Miete {at}", "it": f"affitto {at}"} for at in range(2)]
    assert list(read(written(tmp_path / "pairs.jsonl", records)).pairs) == ["de:it"]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ((), r"5 columns have text \('act', 'en', 'fr', 'en_note', 'fr_note'\), and two are needed; .*--parallel-columns"),
        (("en:fr_nota",), "column 'fr_nota' not found; did you mean 'fr_note'"),
        (("id:act_", "en:fr"), "column 'act_' not found; did you mean 'act'"),
    ],
)
def test_columns_that_are_not_clear(columns, said, tmp_path):
    with pytest.raises(DataError, match=said):
        read(written(tmp_path / "pairs.jsonl", RECORDS), columns)


@pytest.mark.parametrize("columns", [["en"], ["en:"], ["en:fr:de"], ["en:EN"], ["en:fr", "en : fr"]])
def test_pairs_of_columns_that_are_none(columns):
    with pytest.raises(ConfigError, match="pair of columns"):
        ParallelSettings(teacher="minilm", pairs="pairs.csv", columns=columns)


def test_bad_files(tmp_path):
    with pytest.raises(NotFoundError):
        read(tmp_path / "none.csv")
    (tmp_path / "pairs.txt").write_text("en\tfr\n")
    with pytest.raises(DataError, match=r"parallel text is a table: a file that ends in \.csv"):
        read(tmp_path / "pairs.txt")
    (tmp_path / "pairs.csv").write_text("en,fr\n")
    with pytest.raises(DataError, match="has no rows"):
        read(tmp_path / "pairs.csv")
    with pytest.raises(DataError, match="no row has text in both 'en' and 'fr'"):
        read(written(tmp_path / "empty.csv", [{"en": "The law", "fr": ""}]), ["en:fr"])


def test_a_value_that_is_no_text_is_refused_or_skipped(tmp_path):
    path = written(tmp_path / "pairs.jsonl", [{"en": "The law", "fr": "La loi"}, {"en": "The lease", "fr": ["Le bail"]}])
    with pytest.raises(DataError, match=r"pairs\.jsonl, line 2.*column 'fr' must be a text"):
        read(path, ["en:fr"])
    report = ReadReport(skip_bad=True)
    assert len(read(path, ["en:fr"], report).pairs["en:fr"]) == report.skipped == 1
