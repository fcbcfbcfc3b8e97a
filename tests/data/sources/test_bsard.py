import csv
import gzip
import json

import numpy as np
import pytest

from lexfuse.data.document import DocumentKind
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.bsard import read_bsard
from lexfuse.data.sources.names import SourceName
from lexfuse.data.sources.registry import detect_source, read_source
from lexfuse.errors import DataError, NotFoundError

ARTICLES = (
    "id,article,code,article_no,description,law_type\n"
    '1,"Le bail est écrit.\nIl est signé.",Code du logement,5,"Livre 1, Chapitre 2",regional\n'
    "2,Le loyer est payé.,Code du logement,6,,regional\n"
)
QUESTIONS = 'id,question,category,subcategory,extra_description,article_ids\n10,Qui paie ?,Logement,Loyer,Bail,"2, 1"\n'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "articles_fr.csv").write_text(ARTICLES)
    (tmp_path / "questions_fr_train.csv").write_text(QUESTIONS)
    (tmp_path / "questions_fr_test.csv").write_text("id,question,article_ids\n11,Qui signe ?,1\n")
    return tmp_path


def test_the_papers_columns(folder):
    report = ReadReport()
    collection = read_bsard(folder, report)
    first = collection.corpus[0]
    assert (first.id, first.title, first.number) == ("1", "Code du logement, art. 5", "5")
    assert first.text == "Le bail est écrit.\nIl est signé."
    assert (first.kind, first.language, first.headings) == (DocumentKind.STATUTE, "fr", ("Livre 1, Chapitre 2",))
    assert first.extra == {"law_type": "regional"}
    query = collection.queries.query("10")
    assert query.text == "Qui paie ?"
    assert query.extra == {"category": "Logement", "subcategory": "Loyer", "extra_description": "Bail"}
    assert {split: qrels.as_dict() for split, qrels in collection.qrels.items()} == {
        "train": {"10": {"2": 1, "1": 1}},
        "test": {"11": {"1": 1}},
    }
    assert report.kept == 4


def test_the_hubs_columns_in_parquet(tmp_path):
    import pyarrow
    import pyarrow.parquet

    article = {
        "id": 1, "reference": "Art. 1.2.3, Code du logement (Livre 1)", "article": "Texte.", "law_type": "regional",
        "code": "Code du logement", "book": "Livre 1", "part": None, "act": None, "chapter": "Chapitre 2", "section": None,
        "subsection": None, "description": "Du bail",
    }  # fmt: skip
    for name, rows in [
        ("corpus/train-00000-of-00001", [article]),
        ("questions/train-00000-of-00001", [{"id": 7, "question": "Qui ?", "article_ids": "1"}]),
        ("questions/test-00000-of-00001", [{"id": 8, "question": "Quoi ?", "article_ids": "1"}]),
        ("synthetic/train-00000-of-00001", [{"id": 7, "question": "Où ?", "article_ids": "1"}]),
        ("negatives/train-00000-of-00001", [{"id": 7, "ids": [1]}]),
    ]:
        file = tmp_path / f"{name}.parquet"
        file.parent.mkdir(exist_ok=True)
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    collection = read_bsard(tmp_path)
    document = collection.corpus[0]
    assert (document.title, document.number) == ("Art. 1.2.3, Code du logement (Livre 1)", "1.2.3")
    assert document.headings == ("Livre 1", "Chapitre 2")
    assert document.extra["description"] == "Du bail"
    assert collection.queries.ids.names == ("7", "8", "synthetic-7")
    assert list(collection.qrels) == ["train", "test", "synthetic"]


def test_lists_of_ids_and_gzip(tmp_path):
    (tmp_path / "corpus.csv.gz").write_bytes(gzip.compress(ARTICLES.encode(), mtime=0))
    (tmp_path / "train.jsonl").write_text(json.dumps({"id": 1, "question": "Qui ?", "article_ids": [2, 2, 1]}) + "\n")
    assert read_bsard(tmp_path).qrels["train"].as_dict() == {"1": {"2": 1, "1": 1}}


def test_a_label_on_an_unknown_article(folder):
    (folder / "questions_fr_test.csv").write_text('id,question,article_ids\n11,Qui signe ?,"1,99"\n')
    with pytest.raises(
        DataError, match=r"questions_fr_test.csv, line 2, article '99': a label on an article that is not in the corpus"
    ):
        read_bsard(folder)
    report = ReadReport(skip_bad=True)
    assert read_bsard(folder, report).qrels["test"].as_dict() == {"11": {"1": 1}}
    assert report.skipped == 1


def test_a_question_without_labels_is_kept_and_told(folder):
    (folder / "questions_fr_test.csv").write_text("id,question,article_ids\n11,Qui signe ?,\n")
    report = ReadReport()
    collection = read_bsard(folder, report)
    assert "11" in collection.queries.ids
    assert "test" not in collection.qrels
    assert any("question without a label" in line for line in report.lines())


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("articles_fr.csv", ARTICLES + ",Sans id,Code,7,,\n", "an article without id"),
        ("articles_fr.csv", ARTICLES + "1,Encore,Code,7,,\n", "line 5, id '1': is repeated"),
        ("articles_fr.csv", ARTICLES + "3,trop peu\n", "line 5, 2 instead of 6: different number of fields"),
        ("questions_fr_test.csv", "id,question,article_ids\n,Qui ?,1\n", "a question without id"),
        ("questions_fr_test.csv", "id,question,article_ids\n11,,1\n", "a question without text"),
        ("questions_fr_test.csv", "id,question,article_ids\n10,Encore ?,1\n", "id '10': is repeated"),
    ],
)
def test_a_bad_row_raises_or_is_skipped(folder, name, content, reason):
    (folder / name).write_text(content)
    with pytest.raises(DataError, match=reason):
        read_bsard(folder)
    report = ReadReport(skip_bad=True)
    read_bsard(folder, report)
    assert report.skipped == 1


def test_other_columns_are_listed_beside_the_expected_ones(folder):
    (folder / "articles_fr.csv").write_text("ref,texte\n1,x\n")
    with pytest.raises(DataError, match="no column 'id', 'article', 'code'; found 'ref', 'texte'; expected id, article, code"):
        read_bsard(folder, ReadReport(skip_bad=True))


def test_an_empty_folder_names_the_files(tmp_path):
    with pytest.raises(NotFoundError, match=r"no BSARD corpus in .* expected articles_fr.csv, .* found no table"):
        read_bsard(tmp_path)


def test_a_very_long_article(folder):
    text = "mot " * 60_000
    (folder / "articles_fr.csv").write_text(ARTICLES + f"3,{text},Code,7,,\n")
    assert read_bsard(folder).corpus.document("3").text == text.strip()


def test_a_folder_in_the_published_layout_is_read_whole(tmp_path):
    """All columns of both published tables, texts with quotes, commas and line ends, and labels as the authors' program reads
    them: whole numbers between commas."""
    chance = np.random.default_rng(0)
    drawn = np.sort([chance.choice(np.arange(1, 41), 3, replace=False) for _ in range(30)], axis=1)
    articles = [
        {
            "id": str(at), "article": f'Art. {at}, dit "nouveau".\n§ 2. Le bail, s\'il est écrit, vaut.', "code": "Code Civil",
            "article_no": f"{at}bis", "description": f"Livre {at % 3}, Titre II, Des baux", "law_type": "national",
        }
        for at in range(1, 41)
    ]  # fmt: skip
    questions = [
        {
            "id": str(100 + at), "question": f"Qui paie, {at} ?", "category": "Logement", "subcategory": "Loyer",
            "extra_description": "Bail, garantie", "article_ids": ",".join(map(str, drawn[at].tolist())),
        }
        for at in range(30)
    ]  # fmt: skip
    splits = {"train": questions[:20], "test": questions[20:]}
    for name, rows in (("articles_fr", articles), *((f"questions_fr_{split}", some) for split, some in splits.items())):
        with (tmp_path / f"{name}.csv").open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    assert detect_source(tmp_path) is SourceName.BSARD
    report = ReadReport()
    collection = read_source(SourceName.BSARD, tmp_path, report)
    assert collection.corpus.text == tuple(article["article"] for article in articles)
    assert collection.corpus.number == tuple(article["article_no"] for article in articles)
    assert collection.queries.text == tuple(question["question"] for question in questions)
    for split, some in splits.items():
        truths = {one["id"]: set(map(int, one["article_ids"].split(","))) for one in some}
        assert {query: set(map(int, docs)) for query, docs in collection.qrels[split].as_dict().items()} == truths
    assert (report.skipped, report.lines()) == (0, [])
