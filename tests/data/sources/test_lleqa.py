import json

import pytest

from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.lleqa import read_lleqa
from lexfuse.errors import DataError, NotFoundError

ARTICLE = {
    "id": 4, "reference": "Art. 7, Code civil", "article": "§ 1. Un. § 2. Deux.", "code": "Code civil", "article_no": "7",
    "authority": "fédéral", "description": ["Du bail", "Du loyer"], "book": "Livre 1", "chapter": None,
    "paragraphs": {"1": "Un.", "2": "Deux.", "3": None},
}  # fmt: skip
QUESTION = {
    "id": 9, "question": "Qui paie ?", "answer": "Le preneur.", "regions": ["Wallonie"], "topics": ["Logement"],
    "article_ids": [4], "paragraph_ids": ["4§1"],
}  # fmt: skip


def write(folder, suffix=".json", **tables):
    for name, rows in tables.items():
        text = json.dumps(rows) if suffix == ".json" else "\n".join(map(json.dumps, rows))
        (folder / f"{name}{suffix}").write_text(text)
    return folder


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_articles_answers_and_labels(tmp_path, suffix):
    write(tmp_path, suffix, articles=[ARTICLE], questions_train=[QUESTION], questions_validation=[QUESTION | {"id": 10}])
    collection = read_lleqa(tmp_path)
    document = collection.corpus[0]
    assert (document.id, document.title, document.number) == ("4", "Art. 7, Code civil", "7")
    assert document.headings == ("Livre 1",)
    assert document.extra["description"] == ["Du bail", "Du loyer"]
    assert document.extra["paragraphs"] == {"1": "Un.", "2": "Deux."}
    assert document.extra["authority"] == "fédéral"
    query = collection.queries.query("9")
    assert (query.text, query.language) == ("Qui paie ?", "fr")
    assert query.extra == {"answer": "Le preneur.", "regions": ["Wallonie"], "topics": ["Logement"], "paragraph_ids": ["4§1"]}
    assert {split: qrels.as_dict() for split, qrels in collection.qrels.items()} == {
        "train": {"9": {"4": 1}},
        "dev": {"10": {"4": 1}},
    }


def test_headings_fall_back_on_the_description(tmp_path):
    write(tmp_path, corpus=[ARTICLE | {"book": None}])
    document = read_lleqa(tmp_path).corpus[0]
    assert document.headings == ("Du bail", "Du loyer")
    assert "description" not in document.extra


def test_parquet(tmp_path):
    import pyarrow
    import pyarrow.parquet

    for name, rows in {"corpus": [ARTICLE], "test": [QUESTION]}.items():
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / f"{name}.parquet")
    collection = read_lleqa(tmp_path)
    assert collection.qrels["test"].as_dict() == {"9": {"4": 1}}
    assert collection.corpus[0].extra["paragraphs"] == {"1": "Un.", "2": "Deux."}


def test_bad_input(tmp_path):
    with pytest.raises(NotFoundError, match="no LLeQA corpus"):
        read_lleqa(tmp_path)
    write(tmp_path, articles=[ARTICLE, ARTICLE | {"id": None}], questions_test=[QUESTION | {"article_ids": [5]}])
    with pytest.raises(DataError, match=r"articles.json, record 2: an article without id"):
        read_lleqa(tmp_path)
    report = ReadReport(skip_bad=True)
    collection = read_lleqa(tmp_path, report)
    assert (len(collection.corpus), len(collection.queries), report.skipped) == (1, 1, 2)
    (tmp_path / "articles.json").write_text('[{"id": 1,')
    with pytest.raises(DataError, match=r"articles.json: not valid JSON"):
        read_lleqa(tmp_path)
