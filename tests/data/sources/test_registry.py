import json

import pytest

from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.names import SourceName, WithinTest
from lexfuse.data.sources.registry import detect_source, read_source
from lexfuse.errors import ConfigError, DataError

WITHOUT_QUERIES = {SourceName.LEGI, SourceName.KALI, SourceName.CONSTITUTION, SourceName.HUMAN_RIGHTS}
WITH_QUERIES = set(SourceName) - WITHOUT_QUERIES
TWO_DOCUMENTS = {SourceName.CJEU, SourceName.COLIEE, SourceName.WIKIPEDIA_SIMILARITY, SourceName.CANADA}

CODE = {
    "type": "code",
    "data": {"id": "LEGITEXT000000000001", "title": "Code du jeu", "dateDebutVersion": "2026-01-01"},
    "children": [{"type": "article", "data": {"id": "LEGIARTI000000000001", "num": "L1", "texteHtml": "<p>Un.</p>"}}],
}
AGREEMENT = {
    "type": "convention collective",
    "data": {"id": "KALICONT000000000001", "title": "Convention du jeu"},
    "children": [{"type": "article", "data": {"id": "KALIARTI000000000001", "content": "<p>Un.</p>", "etat": "VIGUEUR"}}],
}
SHEET = {
    "pubId": "f",
    "title": "Jouer",
    "sections": [{"title": "Qui ?", "references": {"LEGITEXT1": {"articles": [{"fmt": "L1", "id": "LEGIARTI000000000001"}]}}}],
}
FILES = {
    SourceName.BSARD: {
        "articles_fr.csv": "id,article,code,law_type\n1,Texte.,Code,regional\n",
        "questions_fr_test.csv": "id,question,article_ids\nq,Qui ?,1\n",
    },
    SourceName.LLEQA: {
        "articles.json": '[{"id": 1, "article": "Texte.", "code": "Code", "paragraphs": {"1": "Texte."}}]',
        "questions_dev.json": '[{"id": 5, "question": "Qui ?", "article_ids": [1]}]',
    },
    SourceName.CJEU: {
        "p.csv": "celex,number,text,date\n62010CJ0002,7,It must be held.,2012-01-01\n62010CJ0002,8,Held.,2012-01-01\n",
        "c.csv": "celex_from,number_from,celex_to,number_to\n62010CJ0002,7,62010CJ0002,8\n",
    },
    SourceName.LEGALPINCITE: {
        "doc_test_par.csv": "docno,text\n62010CJ0002-7,It must be held.\n",
        "query_test_par.csv": "qid,query\n62018CJ0001-5,See.\n",
        "qrel_test_par_par.csv": "qid,docno,label\n62018CJ0001-5,62010CJ0002-7,1\n",
    },
    SourceName.LEGI: {"LEGITEXT000000000001.json": json.dumps(CODE)},
    SourceName.KALI: {"KALICONT000000000001.json": json.dumps(AGREEMENT)},
    SourceName.LABOUR: {"LEGITEXT000000000001.json": json.dumps(CODE), "fiches-travail.json": json.dumps([SHEET])},
    SourceName.CONSTITUTION: {"constitution.json": '[{"article": 1, "title": "Name", "description": "A Union."}]'},
    SourceName.MSMARCO: {
        "collection.tsv": "0\tThe lease ended.\n",
        "queries.train.tsv": "1\tlease\n",
        "qrels.train.tsv": "1\t0\t0\t1\n",
    },
    SourceName.COLIEE: {"01.txt": "See.", "02.txt": "Held.", "task1_test_labels_2021.json": '{"01.txt": ["02.txt"]}'},
    SourceName.WIKIPEDIA_SIMILARITY: {
        "wines.txt": "title,sections\nCava,\"[('', 'A wine.')]\"\nMerlot,\"[('', 'A grape.')]\"\n",
        "gt.json": '{"Cava": {"Merlot": 1}}',
    },
    SourceName.LEGALQUAD: {
        "LegalQuAD.json": '{"data": [{"paragraphs": [{"document_id": 1, "context": "A", "qas": [{"id": 2, "question": "?"}]}]}]}'
    },
    SourceName.SCIFACT: {
        "corpus_train.csv": "doc_id,title,abstract\n1,Cells,['They divide.']\n",
        "claims_train.csv": "id,claim,cited_doc_ids\n2,Cells divide.,[1]\n",
        "claims_validation.csv": "id,claim,cited_doc_ids\n",
    },
    SourceName.HUMAN_RIGHTS: {
        "standard_001-1_ENG.txt": "In the case of Tyrer v. Italy,\n1. It was referred.\nDone in English on 25 April 1978."
    },
    SourceName.CANADA: {
        "pairs.jsonl": '{"id": "A#1", "act": "A", "label": "1", "en": "B.", "fr": "C.", "en_note": "D e f", "fr_note": ""}'
    },
}


@pytest.mark.parametrize("source", list(SourceName))
def test_every_source_is_detected_and_read(tmp_path, source):
    for name, text in FILES[source].items():
        (tmp_path / name).write_text(text)
    assert detect_source(tmp_path) is source
    collection = read_source(source, tmp_path)
    assert len(collection.corpus) == (2 if source in TWO_DOCUMENTS else 1)
    assert bool(collection.queries) == bool(collection.qrels) == (source in WITH_QUERIES)


# The published files under other names or with other columns: what is read of them must not pass for the whole.
RENAMED = {
    SourceName.BSARD: ("questions_fr_test.csv", "questions.csv"),
    SourceName.LLEQA: ("questions_dev.json", "questions.json"),
    SourceName.LEGALPINCITE: ("query_test_par.csv", "queries.csv"),
}


@pytest.mark.parametrize("source", RENAMED)
def test_a_table_that_no_reader_knows_is_an_error(tmp_path, source):
    for name, text in FILES[source].items():
        (tmp_path / RENAMED[source][1] if name == RENAMED[source][0] else tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=rf"{RENAMED[source][1]}: not a table of this collection; columns found: \w*id"):
        read_source(source, tmp_path)
    report = ReadReport(skip_bad=True)
    with pytest.raises(DataError, match=f"no query and no label of '{source.value}' could be read"):
        read_source(source, tmp_path, report)
    assert report.skipped >= 1


@pytest.mark.parametrize(
    ("source", "table"),
    [(SourceName.BSARD, "articles_fr.csv"), (SourceName.LLEQA, "articles.json"), (SourceName.LEGALPINCITE, "doc_test_par.csv")],
)
def test_documents_alone_are_not_the_collection(tmp_path, source, table):
    (tmp_path / table).write_text(FILES[source][table])
    with pytest.raises(DataError, match=f"no query and no label of '{source.value}' could be read; the folder holds {table}"):
        read_source(source, tmp_path)


def test_a_table_without_rows_is_no_corpus(tmp_path):
    (tmp_path / "articles_fr.csv").write_text("id,article,code,law_type\n")
    with pytest.raises(DataError, match="no document and no query and no label of 'bsard' could be read"):
        read_source(SourceName.BSARD, tmp_path)


def test_negatives_and_files_of_the_case_level_are_known_and_not_needed(tmp_path):
    for source, name in ((SourceName.BSARD, "negatives.csv"), (SourceName.LEGALPINCITE, "doc_test_case.csv")):
        folder = tmp_path / source.value
        folder.mkdir()
        for file, text in (FILES[source] | {name: "a,b\n1,2\n"}).items():
            (folder / file).write_text(text)
        assert len(read_source(source, folder).queries) == 1


def test_the_rule_on_test_citations_belongs_to_one_collection(tmp_path):
    with pytest.raises(ConfigError, match=r"within_test applies to 'cjeu' only; .* is 'bsard'"):
        read_source(SourceName.BSARD, tmp_path, within_test=WithinTest.KEEP)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("corpus.jsonl", '{"_id": "1", "text": "BEIR"}\n'),
        ("notes.txt", "nothing"),
        ("broken.json", "{"),
        ("broken.parquet", "x"),
        ("broken.tgz", "x"),
        ("table.csv", "a,b\n1,2\n"),
    ],
)
def test_other_files_are_none_of_them(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert detect_source(tmp_path) is None
    assert detect_source(tmp_path / name) is None


def test_a_single_file_is_detected(tmp_path):
    file = tmp_path / "LEGITEXT000000000001.json"
    file.write_text(json.dumps(CODE))
    assert detect_source(file) is SourceName.LEGI
