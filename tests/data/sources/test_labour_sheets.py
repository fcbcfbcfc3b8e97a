import json
import os
from datetime import date
from pathlib import Path

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.labour_sheets import read_sheets, split_of_sheet
from lexfuse.data.sources.legi import read_legi
from lexfuse.errors import DataError, NotFoundError

CORPUS = Corpus.of(
    [Document(f"now{n}", extra={"cid": f"cid{n}", "versions": [f"old{n}"]}) for n in range(1, 10)]  # L1 … L9
)


def reference(number: int, written: bool = True, **more) -> dict:
    named = {"text": f"L. {number}"} if written else {}
    return named | {"fmt": f"L{number}", "cid": f"cid{number}", "id": f"now{number}"} | more


def section(title: str, *articles: dict, html: str | None = None, code: str = "LEGITEXT1") -> dict:
    references = {code: {"articles": list(articles)}} if articles else {}
    return {"title": title, "references": references} | ({} if html is None else {"html": html})


def sheet(*sections: dict, id: str = "fiche1", title: str = "Le préavis", **more) -> dict:
    return {
        "pubId": id,
        "title": title,
        "date": "04/05/2023",
        "url": "https://exemple.fr/preavis",
        "sections": list(sections),
    } | more


def read(tmp_path: Path, *sheets: dict, report: ReadReport | None = None):
    (tmp_path / "fiches-travail.json").write_text(json.dumps(list(sheets)))
    return read_sheets(tmp_path, CORPUS, report)


def labels(collection) -> dict:
    return {query: judged for qrels in collection.qrels.values() for query, judged in qrels.as_dict().items()}


def test_a_section_with_references_is_a_query_with_labels(tmp_path):
    collection = read(tmp_path, sheet(section("Sans"), section("Quelle\xa0durée ?", reference(1), reference(2))))
    query = collection.queries[0]
    assert (query.id, query.text, query.language) == ("fiche1-2", "Le préavis : Quelle durée ?", "fr")
    assert query.date == date(2023, 5, 4)
    assert query.extra == {"sheet": "fiche1", "section": "Quelle durée ?", "url": "https://exemple.fr/preavis"}
    assert labels(collection) == {"fiche1-2": {"now1": 2, "now2": 2}}
    assert len(collection.queries) == 1
    assert collection.corpus is CORPUS


@pytest.mark.parametrize("title", ["Le préavis", "Textes de référence", "Sources réglementaires"])
def test_a_title_that_adds_nothing_is_not_repeated(tmp_path, title):
    assert read(tmp_path, sheet(section(title, reference(1)))).queries[0].text == "Le préavis"


@pytest.mark.parametrize(
    "id", [{"id": "old3"}, {"id": "gone", "cid": "cid3"}, {"id": "gone", "cid": "old3"}, {"id": "now3", "cid": "x"}]
)
def test_old_ids_resolve_through_cid_and_versions(tmp_path, id):
    assert labels(read(tmp_path, sheet(section("Durée", reference(3, **id))))) == {"fiche1-1": {"now3": 2}}


@pytest.mark.parametrize(("count", "grade"), [(5, 2), (6, 1)])
def test_many_citations_say_less_of_each(tmp_path, count, grade):
    judged = labels(read(tmp_path, sheet(section("Durée", *(reference(n) for n in range(1, count + 1))))))["fiche1-1"]
    assert judged == {f"now{n}": grade for n in range(1, count + 1)}


def test_an_article_cited_under_two_ids_is_labelled_once(tmp_path):
    assert labels(read(tmp_path, sheet(section("Durée", reference(3), reference(3, id="old3"))))) == {"fiche1-1": {"now3": 2}}


def test_references_of_later_sections_are_left_out(tmp_path):
    spilled = section("Durée", reference(1), reference(7), html="<p>Selon l'article L.\xa01, oui.</p>")
    report = ReadReport()
    assert labels(read(tmp_path, sheet(spilled), report=report)) == {"fiche1-1": {"now1": 2}}
    assert any("1 noted: reference of another section" in line for line in report.lines())


def test_a_number_inside_a_longer_one_is_not_cited(tmp_path):
    spilled = section("Durée", reference(1), reference(2), html="<p>Articles L. 12, L. 1-3 et L. 2.</p>")
    assert labels(read(tmp_path, sheet(spilled))) == {"fiche1-1": {"now2": 2}}


def test_a_range_stands_with_its_upper_end(tmp_path):
    ranged = [reference(1), reference(2, written=False), reference(3), reference(4), reference(5, written=False), reference(6)]
    collection = read(tmp_path, sheet(section("Durée", *ranged, html="<p>Articles L. 1 à L. 3</p>")))
    assert labels(collection) == {"fiche1-1": {"now1": 2, "now2": 2, "now3": 2}}


def test_unresolved_references_are_counted(tmp_path):
    gone = reference(3, id="x", cid="y")
    sections = [
        section("A", gone, reference(1)),
        section("B", {"text": "L. 99", "fmt": "L99"}, code="UNDEFINED"),
        section("C", gone),
    ]
    report = ReadReport()
    collection = read(tmp_path, sheet(*sections), report=report)
    assert collection.queries.ids.names == ("fiche1-1",)
    told = "\n".join(report.lines())
    assert "2 noted: reference to an article that the corpus does not have" in told
    assert "1 noted: reference without a code in the source" in told
    assert "2 noted: section that cites no article of the corpus, not a query" in told


def test_a_sheet_never_crosses_splits(tmp_path):
    sheets = [sheet(section("A", reference(1)), section("B", reference(2)), id=f"fiche{n}") for n in range(200)]
    collection = read(tmp_path, *sheets)
    split_of = {query: split for split, qrels in collection.qrels.items() for query in qrels.queries}
    assert all(split_of[f"fiche{n}-1"] == split_of[f"fiche{n}-2"] == split_of_sheet(f"fiche{n}") for n in range(200))
    shares = {split: len(qrels.queries) / 400 for split, qrels in collection.qrels.items()}
    assert shares == pytest.approx({"train": 0.6, "dev": 0.2, "test": 0.2}, abs=0.1)


def test_the_split_does_not_depend_on_other_sheets(tmp_path):
    alone = read(tmp_path, sheet(section("A", reference(1)), id="fiche7"))
    assert list(alone.qrels) == [split_of_sheet("fiche7")]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [({"title": "x"}, "without pubId"), ("texte", "without pubId"), (sheet(date="31/02/2020"), "is not a date")],
)
def test_a_bad_sheet_raises_or_is_skipped(tmp_path, broken, reason):
    good = sheet(section("A", reference(1)))
    with pytest.raises(DataError, match=reason):
        read(tmp_path, broken, good)
    report = ReadReport(skip_bad=True)
    assert len(read(tmp_path, broken, good, report=report).queries) == 1
    assert report.skipped == 1


def test_files_that_are_not_sheets(tmp_path):
    with pytest.raises(NotFoundError, match=r"no fiches-travail.json"):
        read_sheets(tmp_path, CORPUS)
    (tmp_path / "fiches-travail.json").write_text("{}")
    with pytest.raises(DataError, match="expected a list of sheets, found dict"):
        read_sheets(tmp_path, CORPUS)
    with pytest.raises(DataError, match="no section of a sheet cites an article"):
        read(tmp_path, sheet(section("A")))


def test_the_real_packages():
    codes, sheets = os.environ.get("LEXFUSE_LEGI"), os.environ.get("LEXFUSE_SHEETS")
    if not codes or not sheets:
        pytest.skip("LEXFUSE_LEGI and LEXFUSE_SHEETS do not name the tarballs of the two SocialGouv packages")
    collection = read_sheets(sheets, read_legi(codes).corpus)
    assert len(collection.queries) == 671
    assert {split: len(qrels) for split, qrels in collection.qrels.items()} == {"train": 4547, "dev": 2627, "test": 1482}
