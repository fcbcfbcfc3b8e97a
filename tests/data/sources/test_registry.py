import json

import pytest

from lexfuse.data.sources.names import Source
from lexfuse.data.sources.registry import detect, read_source

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
    Source.BSARD: {"articles_fr.csv": "id,article,code,law_type\n1,Texte.,Code,regional\n"},
    Source.LLEQA: {"articles.json": '[{"id": 1, "article": "Texte.", "code": "Code", "paragraphs": {"1": "Texte."}}]'},
    Source.CJEU: {
        "p.csv": "celex,number,text,date\n62010CJ0002,7,It must be held.,2012-01-01\n",
        "c.csv": "celex_from,number_from,celex_to,number_to\n62010CJ0002,7,62010CJ0002,7\n",
    },
    Source.LEGALPINCITE: {"doc_test_par.csv": "docno,text\n62010CJ0002-7,It must be held.\n"},
    Source.LEGI: {"LEGITEXT000000000001.json": json.dumps(CODE)},
    Source.KALI: {"KALICONT000000000001.json": json.dumps(AGREEMENT)},
    Source.LABOUR: {"LEGITEXT000000000001.json": json.dumps(CODE), "fiches-travail.json": json.dumps([SHEET])},
    Source.CONSTITUTION: {"constitution.json": '[{"article": 1, "title": "Name", "description": "A Union."}]'},
}


@pytest.mark.parametrize("source", list(Source))
def test_every_source_is_detected_and_read(tmp_path, source):
    for name, text in FILES[source].items():
        (tmp_path / name).write_text(text)
    assert detect(tmp_path) is source
    assert len(read_source(source, tmp_path).corpus) == 1


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
    assert detect(tmp_path) is None
    assert detect(tmp_path / name) is None


def test_a_single_file_is_detected(tmp_path):
    file = tmp_path / "LEGITEXT000000000001.json"
    file.write_text(json.dumps(CODE))
    assert detect(file) is Source.LEGI
