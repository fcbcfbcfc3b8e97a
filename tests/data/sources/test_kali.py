"""The KALI JSON on small invented agreements of the same shape."""

import io
import json
import tarfile
from datetime import date
from pathlib import Path

import pytest

from lexfuse.data.document import DocumentKind, DocumentStatus
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.kali import read_kali
from lexfuse.errors import DataError, NotFoundError
from lexfuse.text.citation.resolve import CitationResolver


def article(number: int, num: str | None = "1er", content: str = "<p>Un texte inventé.</p>", **more) -> dict:
    id = f"KALIARTI{number:012d}"
    data = {"id": id, "cid": id, "content": content, "etat": "VIGUEUR", "intOrdre": 1, "lstLienModification": []}
    return {"type": "article", "data": data | ({"num": num} if num else {}) | more}


def section(title: str, *children: dict, **more) -> dict:
    return {"type": "section", "data": {"title": title, "etat": "VIGUEUR", **more}, "children": list(children)}


def text(number: int, title: str, *children: dict, **more) -> dict:
    return section(title, *children, id=f"KALITEXT{number:012d}", **more)


def agreement(*children: dict, number: int = 1, title: str = "Convention collective du cirque", **more) -> dict:
    data = {"num": 42, "title": title, "id": f"KALICONT{number:012d}", "shortTitle": "Cirque"} | more
    return {"type": "convention collective", "data": data, "children": list(children)}


def link(kind: str, day: str, orientation: str = "cible") -> dict:
    return {"linkType": kind, "linkOrientation": orientation, "dateDebutCible": day, "textTitle": "Avenant"}


@pytest.fixture
def write(tmp_path: Path):
    def write(*agreements: dict) -> Path:
        for one in agreements:
            (tmp_path / f"{one['data']['id']}.json").write_text(json.dumps(one))
        return tmp_path

    return write


def test_an_article_is_a_document_with_everything_the_source_says(write):
    base = text(
        7,
        "Texte de base : Convention collective du cirque du 3 mai 1999",
        section(" Titre II  Contrat ", article(1, "4.1", "<p>Un<br/>deux</p>", surtitre="Essai", nota="<p>Note.</p>", cid="C")),
    )
    report = ReadReport()
    document = read_kali(write(agreement(base)), report).corpus[0]
    assert (document.id, document.title) == ("KALIARTI000000000001", "Convention collective du cirque, art. 4.1")
    assert (document.text, document.language, document.kind) == ("Un\ndeux", "fr", DocumentKind.STATUTE)
    assert (document.number, document.status) == ("4.1", DocumentStatus.IN_FORCE)
    assert document.headings == ("Texte de base", "Titre II Contrat", "Essai")
    assert document.code == "IDCC 42, Convention collective du cirque du 3 mai 1999"
    assert document.extra == {
        "cid": "C",
        "agreement": "Convention collective du cirque",
        "agreement_id": "KALICONT000000000001",
        "url": "https://www.legifrance.gouv.fr/conv_coll/id/KALIARTI000000000001/?idConteneur=KALICONT000000000001",
        "idcc": 42,
        "agreement_name": "Cirque",
        "text": "Convention collective du cirque du 3 mai 1999",
        "text_id": "KALITEXT000000000007",
        "nota": "Note.",
    }
    assert (report.kept, report.skipped, report.lines()) == (1, 0, [])


def test_articles_of_an_amendment_belong_to_it_and_not_to_the_agreement(write):
    attached = section("Textes Attachés", text(8, "Avenant n° 3", article(1), modifDate="2014-02-06"), article(2))
    inside, outside = read_kali(write(agreement(attached))).corpus
    assert inside.code == "IDCC 42, Avenant n° 3"
    assert inside.headings == ("Textes Attachés", "Avenant n° 3")
    assert inside.date == date(2014, 2, 6)
    assert (outside.code, outside.date) == ("IDCC 42, Convention collective du cirque", None)
    assert "text_id" not in outside.extra


def test_an_article_number_means_one_in_its_own_text(write):
    own = text(8, "Avenant n° 3", article(1, "1", "<p>Voir l'article 2.</p>"), article(2, "2"))
    other = text(9, "Avenant n° 4", article(3, "1", "<p>Voir l'article 2 de la convention.</p>"), article(4, "2"))
    corpus = read_kali(write(agreement(own, other))).corpus
    found = [CitationResolver(corpus).resolve_text(corpus.text[n], own_code=corpus.code[n]) for n in (0, 2)]
    assert found == [[1], []]


def test_what_stands_after_the_name_of_an_agreement_is_not_part_of_its_name(write):
    title = "Convention collective du cirque du 3 mai 1999. Étendue par arrêté du 8 février 2000 JORF 12 février 2000."
    document = read_kali(write(agreement(text(7, f"Texte de base : {title}", article(1, "4")), title=title))).corpus[0]
    assert document.title == "Convention collective du cirque du 3 mai 1999, art. 4"
    assert document.code == "IDCC 42, Convention collective du cirque du 3 mai 1999"
    assert document.extra["agreement"] == title


def test_the_latest_amendment_that_made_an_article_says_from_when_it_holds(write):
    links = [
        link("CREE", "2001-01-01"),
        link("MODIFIE", "2010-07-07"),
        link("ETEND", "2011-01-01"),
        link("MODIFIE", "2999-01-01"),
        link("MODIFIE", "2020-01-01", "source"),
    ]
    first, second = read_kali(write(agreement(text(7, "T", article(1, lstLienModification=links), article(2))))).corpus
    assert first.valid_from == date(2010, 7, 7)
    assert second.valid_from is None
    assert first.valid_to is None


@pytest.mark.parametrize(
    ("state", "status", "told"),
    [
        ("VIGUEUR_ETEN", DocumentStatus.IN_FORCE, False),
        ("VIGUEUR_NON_ETEN", DocumentStatus.IN_FORCE, False),
        ("VIGUEUR_DIFF", DocumentStatus.DEFERRED, False),
        ("DENONCE", DocumentStatus.UNKNOWN, True),
        (None, DocumentStatus.UNKNOWN, True),
    ],
)
def test_states(write, state, status, told):
    report = ReadReport()
    assert read_kali(write(agreement(text(7, "T", article(1, etat=state)))), report).corpus[0].status is status
    assert any("kept without a state" in line for line in report.lines()) is told


def test_identical_texts_are_all_kept_and_empty_ones_told(write):
    report = ReadReport()
    corpus = read_kali(write(agreement(text(7, "T", article(1), article(2), article(3, content="<p> </p>")))), report).corpus
    assert len(corpus) == 3
    assert corpus.text[0] == corpus.text[1]
    assert "1 noted: article without text, kept" in report.lines()[0]


def test_an_article_of_two_agreements_counts_once_and_empty_agreements_are_counted(write):
    report = ReadReport()
    shared = text(7, "T", article(1))
    corpus = read_kali(write(agreement(shared), agreement(shared, number=2), agreement(number=3)), report).corpus
    assert len(corpus) == 1
    assert corpus[0].extra["agreement_id"] == "KALICONT000000000001"
    assert corpus[0].extra["also_in"] == ["KALICONT000000000002"]
    assert any("article of several agreements" in line for line in report.lines())
    assert any("1 agreements without articles" in line for line in report.lines())


def test_local_agreements_that_share_a_container_are_counted_too(write):
    local = agreement() | {"type": "section"}
    local["data"] |= {"id": "KALICONT000000000001-1007"}
    report = ReadReport()
    assert len(read_kali(write(agreement(text(7, "T", article(1)), number=1), local), report).corpus) == 1
    assert any("1 agreements without articles" in line for line in report.lines())


def test_order_is_that_of_the_document_and_a_missing_number_is_no_number(write):
    tree = agreement(text(7, "T", section("Un", article(3, "1"), article(1, None)), section("Deux", article(2, "2"))))
    corpus = read_kali(write(tree)).corpus
    assert [id[-1] for id in corpus.ids] == ["3", "1", "2"]
    assert corpus[1].title == "Convention collective du cirque"


def test_a_tarball_reads_as_its_folder(write, tmp_path):
    folder = write(agreement(text(7, "T", article(1))))
    archive = tmp_path / "kali.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        for name in ("KALICONT000000000001.json", "index.json"):
            raw = (folder / name).read_bytes() if (folder / name).exists() else b"[]"
            member = tarfile.TarInfo(f"package/data/{name}")
            member.size = len(raw)
            tar.addfile(member, io.BytesIO(raw))
    assert list(read_kali(archive).corpus) == list(read_kali(folder).corpus)


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ([1], "not an agreement"),
        ({"type": "code", "data": {}, "children": []}, "not an agreement"),
        (agreement(title=""), "no id or no title"),
        (agreement(), "has no article"),
        (agreement({"type": "table", "data": {}}), "a node of type 'table'"),
        (agreement(section("S") | {"children": {}}), "children: expected a list, got dict"),
        (agreement({"type": "article", "data": {"num": "1"}}), "an article without id"),
        (agreement({"type": "article", "data": {"id": "K", "num": "1"}}), "no content"),
        (agreement(article(1, lstLienModification=[link("CREE", "gestern")])), "is not a date"),
    ],
)
def test_bad_files_say_what_is_wrong(tmp_path, tree, reason):
    (tmp_path / "KALICONT000000000001.json").write_text(json.dumps(tree))
    with pytest.raises(DataError, match=reason):
        read_kali(tmp_path)


def test_bad_articles_can_be_skipped(write):
    report = ReadReport(skip_bad=True)
    corpus = read_kali(write(agreement({"type": "article", "data": {"num": "1"}}, article(2))), report).corpus
    assert (len(corpus), report.skipped) == (1, 1)


def test_no_agreement_at_all(tmp_path):
    with pytest.raises(NotFoundError, match="no KALICONT"):
        read_kali(tmp_path)
