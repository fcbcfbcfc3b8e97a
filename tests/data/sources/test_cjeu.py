import csv
import gzip
import io
from datetime import date

import numpy as np
import pytest

from lexfuse.data.document import DocumentKind
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.cjeu import PERIODS, case_numbers, read_cjeu
from lexfuse.data.sources.names import SourceName, WithinTest
from lexfuse.data.sources.registry import detect_source, read_source
from lexfuse.errors import DataError, NotFoundError

HEADER = "CELEX_FROM,NUMBER_FROM,DATE_FROM,TEXT_FROM,CELEX_TO,NUMBER_TO,DATE_TO,TEXT_TO\n"
PAIR = "62018CJ0001,5,2019-03-01,As held before.,62010CJ0002,7,2012-01-01,It must be held.\n"


@pytest.mark.parametrize(
    ("celex", "numbers", "court"),
    [
        ("62022CJ0060", ("C-60/22",), "Court of Justice"),
        ("62000CO0007", ("C-7/00",), "Court of Justice"),
        ("62016TJ0540", ("T-540/16",), "General Court"),
        ("62005FJ0126", ("F-126/05",), "Civil Service Tribunal"),
        ("61962CJ0026", ("C-26/62", "26/62"), "Court of Justice"),
        ("61990CJ0006(01)", ("C-6/90",), "Court of Justice"),
    ],
)
def test_case_numbers_from_celex(celex, numbers, court):
    assert case_numbers(celex) == (court, numbers)


@pytest.mark.parametrize("celex", ["32016R0679", "62022XX0060", "ECLI:EU:C:2023:373", ""])
def test_what_is_no_judgment(celex):
    assert case_numbers(celex) == ("", ())


@pytest.mark.parametrize(
    ("day", "split"),
    [
        (date(1978, 2, 1), "train"),
        (date(2016, 12, 31), "train"),
        (date(2017, 1, 1), "dev"),
        (date(2018, 12, 31), "dev"),
        (date(2019, 1, 1), "test"),
        (date(2021, 10, 1), "test"),
    ],
)
def test_the_papers_temporal_split(day, split):
    assert PERIODS.split_of(day) == split


def test_pairs(tmp_path):
    (tmp_path / "pairs.csv").write_text(HEADER + PAIR + PAIR.replace("62010CJ0002,7", "62011TJ0003,8.0"))
    collection = read_cjeu(tmp_path)
    citing, cited = collection.corpus[0], collection.corpus[1]
    assert (citing.id, citing.kind, citing.number, citing.date) == (
        "62018CJ0001#5",
        DocumentKind.PARAGRAPH,
        "5",
        date(2019, 3, 1),
    )
    assert citing.citations == ("62010CJ0002#7", "62011TJ0003#8")
    assert cited.identifiers == ("62010CJ0002", "C-2/10")
    assert (cited.title, cited.court) == ("C-2/10, paragraph 7", "Court of Justice")
    assert (collection.queries[0].id, collection.queries[0].date) == ("62018CJ0001#5", date(2019, 3, 1))
    assert collection.qrels["test"].as_dict() == {"62018CJ0001#5": {"62010CJ0002#7": 1, "62011TJ0003#8": 1}}


def test_paragraphs_and_citations_in_two_tables(tmp_path):
    (tmp_path / "paragraphs.csv").write_text(
        "celex,ecli,paragraph,text,date,language\n"
        "62010CJ0002,ECLI:EU:C:2012:1,7,It must be held.,2012-01-01,en\n"
        "62015CJ0004,ECLI:EU:C:2017:9,3,As held.,2017-02-03,en\n"
        "62015CJ0004,ECLI:EU:C:2017:9,4,Costs.,2017-02-03,en\n"
    )
    (tmp_path / "citations.csv").write_text("CELEX_FROM,NUMBER_FROM,CELEX_TO,NUMBER_TO\n62015CJ0004,3,62010CJ0002,7\n")
    collection = read_cjeu(tmp_path)
    assert len(collection.corpus) == 3
    assert collection.corpus[0].identifiers == ("ECLI:EU:C:2012:1", "62010CJ0002", "C-2/10")
    assert collection.corpus[0].language == "en"
    assert collection.queries.ids.names == ("62015CJ0004#3",)
    assert collection.qrels["dev"].as_dict() == {"62015CJ0004#3": {"62010CJ0002#7": 1}}


def test_citations_by_ecli_or_by_id(tmp_path):
    (tmp_path / "paragraphs.jsonl").write_text(
        '{"id": "a", "ecli": "ECLI:EU:C:2012:1", "number": 7, "text": "It must.", "date": "2012-01-01"}\n'
        '{"id": "b", "ecli": "ECLI:EU:C:2014:1", "number": 2, "text": "As held.", "date": "2014-01-01"}\n'
    )
    (tmp_path / "edges.csv").write_text("from,to\nb,a\nECLI:EU:C:2014:1#2,ECLI:EU:C:2012:1#7\nb,b\n")
    collection = read_cjeu(tmp_path)
    assert collection.qrels["train"].as_dict() == {"b": {"a": 1}}


PAPER_FILES = {
    "unique_pars.csv": (
        "PAR_ID,CELEX,NUMBER,TITLE,DATE,TEXT\n"
        "0,62010CJ0002,7,A v B,2012-01-01,It must be held.\n"
        "1,62015CJ0004,3,C v D,2017-02-03,As held.\n"
        "2,62018CJ0001,5,E v F,2019-03-01,As was held.\n"
        "3,62019CJ0009,6,G v H,2020-05-01,As is settled.\n"
    ),
    "unique_cases.csv": "CELEX,TITLE,DATE\n62010CJ0002,A v B,2012-01-01\n",
    "citations_cleaned.csv": "PAR_ID_FROM,PAR_ID_TO\n1,0\n2,0\n3,2\n3,1.0\n",
}


def written(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_the_papers_own_files(tmp_path):
    """The names that the authors' program reads (unique_pars, unique_cases, citations_cleaned)."""
    collection = read_cjeu(written(tmp_path, PAPER_FILES))
    assert collection.corpus.ids.names == ("0", "1", "2", "3")
    assert collection.corpus[0].identifiers == ("62010CJ0002", "C-2/10")
    assert {split: qrels.as_dict() for split, qrels in collection.qrels.items()} == {
        "dev": {"1": {"0": 1}},
        "test": {"2": {"0": 1}, "3": {"1": 1}},
    }


def test_paragraphs_of_the_paper_need_no_case_and_edge_lists_come_by_split(tmp_path):
    paragraphs = "PAR_ID,TEXT,DATE\n7,It must be held.,2012-01-01 00:00:00\n8,As held.,2019-02-03 00:00:00\n"
    edges = {"train.csv": "PAR_ID_FROM,PAR_ID_TO\n", "test.csv": "PAR_ID_FROM,PAR_ID_TO\n8,7\n"}
    with pytest.raises(DataError, match=r"train.csv: not a table of this collection; columns found: none \(no rows\)"):
        read_cjeu(written(tmp_path, {"unique_pars.csv": paragraphs} | edges))
    (tmp_path / "train.csv").unlink()
    assert read_cjeu(tmp_path).qrels["test"].as_dict() == {"8": {"7": 1}}


@pytest.mark.parametrize(
    ("rule", "labels", "left_out"),
    [
        (WithinTest.REMOVE_CITATIONS, {"2": {"0": 1}, "3": {"1": 1}}, 0),
        (WithinTest.REMOVE_QUERIES, {"2": {"0": 1}}, 1),
        (WithinTest.KEEP, {"2": {"0": 1}, "3": {"2": 1, "1": 1}}, 0),
    ],
)
def test_citations_between_paragraphs_of_the_test_period(tmp_path, rule, labels, left_out):
    report = ReadReport()
    collection = read_cjeu(written(tmp_path, PAPER_FILES), report, within_test=rule)
    assert collection.qrels["test"].as_dict() == labels
    assert collection.qrels["dev"].as_dict() == {"1": {"0": 1}}
    assert set(collection.queries.ids) == {"1", *labels}
    assert collection.corpus.document("3").citations == ("2", "1")
    assert (
        f"1 noted: rule '{rule.value}' applied to 1 citations between paragraphs of the test period; "
        f"it removes {left_out} test queries"
    ) in report.lines()


def test_a_query_without_other_citations_goes_with_them(tmp_path):
    (tmp_path / "pairs.csv").write_text(HEADER + PAIR.replace("2012-01-01", "2019-01-15"))
    assert read_cjeu(tmp_path).queries is None
    assert len(read_cjeu(tmp_path, within_test=WithinTest.KEEP).queries) == 1


def test_a_table_that_cannot_be_read_is_an_error_with_its_columns(tmp_path):
    files = PAPER_FILES | {"citations_cleaned.csv": "PARAGRAPH_A,PARAGRAPH_B\n1,0\n"}
    reason = "citations_cleaned.csv: not a table of this collection; columns found: paragraph_a, paragraph_b; expected: pairs"
    with pytest.raises(DataError, match=reason):
        read_cjeu(written(tmp_path, files))
    with pytest.raises(DataError, match=r"no query and no label of 'cjeu' could be read; the folder holds citations_"):
        read_source(SourceName.CJEU, tmp_path, ReadReport(skip_bad=True))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (PAIR.replace("As held before.", ""), "text_from is empty"),
        (PAIR.replace("2019-03-01", "soon"), "is not a date"),
        (PAIR.replace("2019-03-01", "").replace("0001,5", "0001,6"), "without date cannot be put in a split"),
    ],
)
def test_a_bad_row_raises_or_is_skipped(tmp_path, row, reason):
    (tmp_path / "pairs.csv").write_text(HEADER + PAIR + row)
    with pytest.raises(DataError, match=reason):
        read_cjeu(tmp_path)
    report = ReadReport(skip_bad=True)
    assert len(read_cjeu(tmp_path, report).queries) == 1
    assert report.skipped == 1


def test_a_citation_of_an_unknown_paragraph(tmp_path):
    (tmp_path / "paragraphs.csv").write_text("celex,number,text,date\n62010CJ0002,7,It must be held.,2012-01-01\n")
    (tmp_path / "edges.csv").write_text("from,to\n62010CJ0002#7,62010CJ0002#99\n62010CJ0002#7,\n")
    with pytest.raises(DataError, match=r"edges.csv, line \d"):
        read_cjeu(tmp_path)
    report = ReadReport(skip_bad=True)
    collection = read_cjeu(tmp_path, report)
    assert (collection.queries, collection.qrels, report.skipped) == (None, {}, 2)


def test_two_texts_of_one_paragraph_are_told(tmp_path):
    (tmp_path / "pairs.csv").write_text(
        HEADER + PAIR + PAIR.replace("It must be held.", "Otherwise.").replace("0001,5", "0001,6")
    )
    report = ReadReport()
    assert "It must be held." in read_cjeu(tmp_path, report).corpus.text
    assert any("paragraph with two texts" in line for line in report.lines())


def test_other_tables_name_what_was_found(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(NotFoundError, match=r"no CJEU paragraphs in .*; expected pairs with .*; found x.csv \(a, b\)"):
        read_cjeu(tmp_path, ReadReport(skip_bad=True))


def test_bad_rows_of_a_table_of_paragraphs(tmp_path):
    (tmp_path / "paragraphs.csv").write_text(
        "celex,number,text,date\n62010CJ0002,7,Held.,2012-01-01\n62010CJ0002,7,Again.,2012-01-01\n62010CJ0002,8,,2012-01-01\n"
    )
    with pytest.raises(DataError, match=r"line 3, id '62010CJ0002#7': is repeated"):
        read_cjeu(tmp_path)
    report = ReadReport(skip_bad=True)
    assert read_cjeu(tmp_path, report).corpus.text == ("Held.",)
    assert report.skipped == 2


def made_up(seed=0, count=120):
    """Paragraphs of 2012 to 2021 by id, each with its year and text, and citations of earlier paragraphs."""
    chance = np.random.default_rng(seed)
    years = sorted(chance.integers(2012, 2022, count).tolist())
    paragraphs = {at: (year, f'As the Court held in "{at}",\nparagraph {year}.') for at, year in enumerate(years)}
    citations = [(at, int(chance.integers(at))) for at in range(20, count) for _ in range(int(chance.integers(4)))]
    return paragraphs, citations


def as_the_program_splits(paragraphs, citations):
    """Queries of train and test with what they cite, as the authors' loader makes them: test queries that cite into the test
    period are dropped whole, the others keep what is not of the test period."""
    cited = {}
    for citing, target in citations:
        cited.setdefault(citing, set()).add(target)
    tested = {at for at, (year, _) in paragraphs.items() if year >= 2019}
    train = {at: targets for at, targets in cited.items() if paragraphs[at][0] < 2017}
    test = {at: targets for at, targets in cited.items() if at in tested and not targets & tested}
    return {"train": train, "test": test}


def table(header, rows, packed):
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
    return gzip.compress(out.getvalue().encode(), mtime=0) if packed else out.getvalue().encode()


def published(folder, paragraphs, citations, hub):
    """The files that the program reads (preprocessed/), or those of the hub: packed paragraphs, an edge list for each split."""
    rows = [(at, f"6{year}CJ{at:04d}", at, f"{year}-06-01", text) for at, (year, text) in paragraphs.items()]
    name = "unique_pars.csv.gz" if hub else "unique_pars.csv"
    (folder / name).write_bytes(table(("PAR_ID", "CELEX", "NUMBER", "DATE", "TEXT"), rows, hub))
    if not hub:
        (folder / "citations_cleaned.csv").write_bytes(table(("PAR_ID_FROM", "PAR_ID_TO"), citations, False))
        return folder
    splits = {"train": range(2017), "validation": (2017, 2018), "test": range(2019, 2030)}
    (folder / "edge_lists").mkdir()
    for split, years in splits.items():
        some = [(citing, target) for citing, target in citations if paragraphs[citing][0] in years]
        (folder / "edge_lists" / f"{split}.csv").write_bytes(table(("PAR_ID_FROM", "PAR_ID_TO"), some, False))
    return folder


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_published_files_give_the_queries_of_the_published_program(tmp_path, hub, seed):
    paragraphs, citations = made_up(seed)
    folder = published(tmp_path, paragraphs, citations, hub)
    assert detect_source(folder) is SourceName.CJEU
    collection = read_source(SourceName.CJEU, folder, within_test=WithinTest.REMOVE_QUERIES)
    assert len(collection.corpus) == len(paragraphs)
    assert collection.corpus[7].text == paragraphs[7][1]
    ours = {
        split: {int(query): {int(doc) for doc in docs} for query, docs in collection.qrels[split].as_dict().items()}
        for split in ("train", "test")
    }
    assert ours == as_the_program_splits(paragraphs, citations)
    kept = read_source(SourceName.CJEU, folder).qrels["test"]
    assert set(kept.queries) > {str(query) for query in ours["test"]}, "the paper's rule keeps more queries than the program"


def test_a_published_table_that_cannot_be_read_ends_the_import(tmp_path):
    folder = published(tmp_path, *made_up(), hub=True)
    (folder / "edge_lists" / "test.csv").write_text('PAR_ID_FROM,PAR_ID_TO\n1,"2\n')
    with pytest.raises(DataError, match=r"test.csv, line 2: not valid CSV"):
        read_source(SourceName.CJEU, folder)
    (folder / "edge_lists" / "test.csv").unlink()
    (folder / "unique_pars.csv.gz").write_bytes((folder / "unique_pars.csv.gz").read_bytes()[:-20])
    with pytest.raises(DataError, match=r"unique_pars.csv.gz"):
        read_source(SourceName.CJEU, folder, ReadReport(skip_bad=True))
