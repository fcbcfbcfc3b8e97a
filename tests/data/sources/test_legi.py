"""Every trap of the LEGI JSON, on small invented codes of the same shape."""

import gzip
import io
import json
import os
import tarfile
from datetime import date
from pathlib import Path

import pytest

from lexfuse.data.document import DocumentKind, DocumentStatus
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.legi import ArticleVersions, article_title, read_legi
from lexfuse.errors import DataError, NotFoundError

OPEN_END = 32472144000000  # 2999-01-01
SECOND_OPEN_END = 7956748800000  # 2222-02-22


def stamp(day: date) -> int:
    return (day - date(1970, 1, 1)).days * 86_400_000


def legiarti(number: int) -> str:
    return f"LEGIARTI{number:012d}"


def article(number: int, num: str = "L1", html: str = "<p>Un texte inventé.</p>", **more) -> dict:
    data = {
        "id": legiarti(number),
        "cid": legiarti(number),
        "num": num,
        "texteHtml": html,
        "texte": "sans alinéas",
        "nota": "",
        "notaHtml": "",
        "etat": "VIGUEUR",
        "dateDebut": stamp(date(2008, 5, 1)),
        "dateFin": OPEN_END,
        "articleVersions": [],
    }
    return {"type": "article", "data": data | more}


def section(title: str, *children: dict) -> dict:
    return {"type": "section", "data": {"id": "LEGISCTA1", "title": title}, "children": list(children)}


def code(*children: dict, id: str = "LEGITEXT000000000001", cid: str | None = None, title: str = "Code du jeu", **more) -> dict:
    data = {"id": id, "cid": cid or id, "title": title, "dateDebutVersion": "2026-03-27"} | more
    return {"type": "code", "data": data, "children": list(children)}


def link(number: int, text: str = "LEGITEXT000000000001") -> str:
    href = f"/affichCodeArticle.do?cidTexte={text}&idArticle={legiarti(number)}&dateTexte=&categorieLien=cid"
    return f'<p>Voir <a href="{href}">un article</a>.</p>'


@pytest.fixture
def write(tmp_path: Path):
    def write(*codes: dict) -> Path:
        for one in codes:
            (tmp_path / f"{one['data']['id']}.json").write_text(json.dumps(one))
        return tmp_path

    return write


def test_an_article_is_a_document_with_everything_the_source_says(write):
    folder = write(
        code(section(" Livre  Ier ", section("Titre\xa0II", article(1, "L12-3", cid=legiarti(9), notaHtml="<p>Note.</p>"))))
    )
    report = ReadReport()
    document = read_legi(folder, report).corpus[0]
    assert (document.id, document.title) == (legiarti(1), "Code du jeu, art. L. 12-3")
    assert (document.language, document.kind, document.code, document.number) == (
        "fr",
        DocumentKind.STATUTE,
        "Code du jeu",
        "L12-3",
    )
    assert document.headings == ("Livre Ier", "Titre II")
    assert (document.valid_from, document.valid_to, document.status) == (date(2008, 5, 1), None, DocumentStatus.IN_FORCE)
    assert document.extra["cid"] == legiarti(9)
    assert document.extra["nota"] == "Note."
    assert document.extra["url"] == f"https://www.legifrance.gouv.fr/codes/article_lc/{legiarti(1)}"
    assert report.kept == 1


@pytest.mark.parametrize("end", [OPEN_END, SECOND_OPEN_END, None])
def test_trap_far_future_ends_are_no_dates(write, end):
    document = read_legi(write(code(article(1, etat="ABROGE_DIFF", dateFin=end)))).corpus[0]
    assert document.valid_to is None
    assert document.status is DocumentStatus.IN_FORCE


@pytest.mark.parametrize(
    ("start", "end", "status"),
    [
        (date(2018, 7, 1), date(2027, 7, 1), DocumentStatus.ENDING),
        (date(2026, 3, 28), None, DocumentStatus.DEFERRED),
        (date(2026, 3, 27), None, DocumentStatus.IN_FORCE),
        (date(2000, 1, 1), date(2026, 3, 27), DocumentStatus.REPEALED),
        (date(2000, 1, 1), date(2026, 3, 28), DocumentStatus.ENDING),
    ],
)
def test_trap_the_state_is_stale_and_dates_decide(write, start, end, status):
    stale = article(1, etat="MODIFIE", dateDebut=stamp(start), dateFin=stamp(end) if end else OPEN_END)
    report = ReadReport()
    assert read_legi(write(code(stale)), report).corpus[0].status is status
    said = any("state 'MODIFIE' ignored" in line for line in report.lines())
    assert said is (status is not DocumentStatus.REPEALED)


@pytest.mark.parametrize("state", [None, ""])
def test_trap_an_article_without_state_is_in_force_by_its_dates(write, state):
    report = ReadReport()
    assert read_legi(write(code(article(1, etat=state))), report).corpus[0].status is DocumentStatus.IN_FORCE
    assert "1 noted: state 'none' ignored: by its dates the article is 'in force'" in report.lines()[0]


def test_a_superseded_row_is_kept_and_told(write):
    old, new = article(1, etat="MODIFIE", dateFin=stamp(date(2020, 1, 1))), article(2, dateDebut=stamp(date(2020, 1, 1)))
    report = ReadReport()
    corpus = read_legi(write(code(old, new)), report).corpus
    assert corpus.status == (DocumentStatus.REPEALED, DocumentStatus.IN_FORCE)
    assert any("kept as repealed" in line for line in report.lines())


def test_without_the_codes_date_no_state_is_claimed(write):
    report = ReadReport()
    corpus = read_legi(write(code(article(1), dateDebutVersion=None)), report).corpus
    assert corpus.status == (DocumentStatus.UNKNOWN,)
    assert any("without dateDebutVersion" in line for line in report.lines())


def test_trap_the_file_id_of_a_code_differs_from_the_cid_others_cite(write):
    rural = code(article(1), id="LEGITEXT000000000022", cid="LEGITEXT000000000006")
    other = code(article(2, html=link(404, "LEGITEXT000000000006")), id="LEGITEXT000000000001")
    report = ReadReport()
    corpus = read_legi(write(rural, other), report).corpus
    document = corpus.document(legiarti(1))
    assert (document.extra["code_id"], document.extra["code_cid"]) == ("LEGITEXT000000000022", "LEGITEXT000000000006")
    # A link under the cid is known to point into these codes even when its article is gone.
    assert any("1 to articles that these codes no longer have, 0 to other texts" in line for line in report.lines())


def test_trap_paragraphs_come_from_the_html(write):
    html = "<p>Premier alinéa :<br/>1° Un ;</p><p>Dernier.</p><table><tr><td>a</td><td><p>b</p></td></tr></table>"
    assert read_legi(write(code(article(1, html=html)))).corpus[0].text == "Premier alinéa :\n1° Un ;\nDernier.\na | b"


def test_the_plain_text_serves_when_there_is_no_html(write):
    assert read_legi(write(code(article(1, html="", texte="Seul.")))).corpus[0].text == "Seul."


def test_trap_links_to_old_versions_resolve_through_versions_and_cid(write):
    versions = [{"id": legiarti(11)}, {"id": legiarti(12)}, {"id": legiarti(1)}]
    target = article(1, cid=legiarti(10), articleVersions=versions)
    citing = article(2, "L2", link(10) + link(12) + link(1) + link(2) + link(404) + link(405, "LEGITEXT000000000099"))
    report = ReadReport()
    corpus = read_legi(write(code(target, citing)), report).corpus
    assert corpus.document(legiarti(2)).citations == (legiarti(1),)  # once, and not itself
    assert corpus.document(legiarti(1)).citations == ()
    assert corpus.document(legiarti(1)).extra["versions"] == [legiarti(11), legiarti(12)]
    assert ArticleVersions.of(corpus).current(legiarti(11)) == legiarti(1)
    assert "4 resolved (1 between different articles, each once), 1 to articles" in report.lines()[-1]
    assert report.lines()[-1].endswith("1 to other texts")


def test_citations_keep_the_order_of_the_text_across_codes(write):
    first = code(article(1, html=link(3) + link(2)), article(2, "L2"))
    second = code(article(3), id="LEGITEXT000000000002", title="Code des règles")
    assert read_legi(write(first, second)).corpus[0].citations == (legiarti(3), legiarti(2))


def test_trap_annex_numbers_repeat_and_ids_do_not(write):
    corpus = read_legi(write(code(article(1, "Annexe I"), article(2, "Annexe I")))).corpus
    assert corpus.number == ("Annexe I", "Annexe I")
    assert corpus.title == ("Code du jeu, Annexe I",) * 2
    assert len(set(corpus.ids)) == 2


def test_trap_articles_stay_in_document_order(write):
    tree = code(
        article(7, "L1"), section("A", article(3, "L2"), section("B", article(9, "L3")), article(1, "L4")), article(2, "L5")
    )
    assert read_legi(write(tree)).corpus.number == ("L1", "L2", "L3", "L4", "L5")


@pytest.mark.parametrize(
    ("raw", "number", "title"),
    [
        (" L1251-33-1", "L1251-33-1", "C, art. L. 1251-33-1"),
        ("A931-3 ", "A931-3", "C, art. A. 931-3"),
        ("R*12-3", "R*12-3", "C, art. R. *12-3"),
        ("LO111-3", "LO111-3", "C, art. LO. 111-3"),
        ("L1453-1 A", "L1453-1 A", "C, art. L. 1453-1 A"),
        ("160-17-2", "160-17-2", "C, art. 160-17-2"),
        ("Annexe  (1) à l'art. A1", "Annexe (1) à l'art. A1", "C, Annexe (1) à l'art. A1"),
    ],
)
def test_numbers_lose_stray_spaces(write, raw, number, title):
    document = read_legi(write(code(article(1, raw), title="C"))).corpus[0]
    assert (document.number, document.title) == (number, title)
    assert article_title("C", number) == title


def test_one_file_under_any_name_plain_or_gzipped(tmp_path):
    path = tmp_path / "mon-code.json.gz"
    path.write_bytes(gzip.compress(json.dumps(code(article(1))).encode()))
    assert len(read_legi(path).corpus) == 1


def test_a_tarball_reads_like_its_folder(write, tmp_path):
    folder = write(code(article(1)), code(article(2), id="LEGITEXT000000000002"))
    tarball = tmp_path.parent / f"{tmp_path.name}.tgz"
    with tarfile.open(tarball, "w:gz") as archive:
        for file in folder.iterdir():
            archive.add(file, f"package/data/{file.name}")
        index = tarfile.TarInfo("package/data/index.json")
        index.size = 2
        archive.addfile(index, io.BytesIO(b"[]"))
    assert read_legi(tarball).corpus.ids == read_legi(folder).corpus.ids


def test_truncated_json_names_the_file(write):
    folder = write(code(article(1)))
    file = next(folder.iterdir())
    file.write_text(file.read_text()[:-20])
    with pytest.raises(DataError, match=rf"{file.name}: not valid JSON: .* fetch it again"):
        read_legi(folder)


def test_other_json_is_no_code(tmp_path):
    (tmp_path / "x.json").write_text('{"articles": []}')
    with pytest.raises(DataError, match=r"expected an object with type 'code', data and children, found \['articles'\]"):
        read_legi(tmp_path / "x.json")


def test_an_empty_folder_names_what_was_looked_for(tmp_path):
    with pytest.raises(NotFoundError, match=r"no LEGITEXT….json in .* tarball or its data folder"):
        read_legi(tmp_path)


def test_a_code_without_articles_is_refused(write):
    with pytest.raises(DataError, match="has no article"):
        read_legi(write(code(section("vide"))))


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"id": None}, "an article without id"),
        ({"texteHtml": None, "texte": None}, "no texteHtml and no texte"),
        ({"dateDebut": "hier"}, "is not a date"),
        ({"id": legiarti(2)}, "repeated article id"),
    ],
)
def test_a_bad_article_raises_or_is_skipped_and_counted(write, broken, reason):
    folder = write(code(article(2), article(1, **broken)))
    with pytest.raises(DataError, match=reason):
        read_legi(folder)
    report = ReadReport(skip_bad=True)
    assert read_legi(folder, report).corpus.ids.names == (legiarti(2),)
    assert (report.skipped, report.kept) == (1, 1)


def test_a_node_of_another_type_is_refused(write):
    with pytest.raises(DataError, match="a node of type 'note'"):
        read_legi(write(code(article(1), {"type": "note", "data": {}})))


def test_an_article_without_number_is_kept_and_told(write):
    report = ReadReport()
    document = read_legi(write(code(article(1, ""))), report).corpus[0]
    assert (document.number, document.title) == ("", "Code du jeu")
    assert any("article without number" in line for line in report.lines())


def test_the_real_package():
    path = os.environ.get("LEXFUSE_LEGI")
    if not path:
        pytest.skip("LEXFUSE_LEGI does not name the tarball of @socialgouv/legi-data 2.513.0")
    corpus = read_legi(path).corpus
    assert abs(len(corpus) - 29_104) <= 20
    assert len(set(corpus.code)) == 4
    assert all(corpus.headings)
    assert 32_500 <= sum(map(len, corpus.citations)) <= 33_500
    assert sum(status is DocumentStatus.IN_FORCE for status in corpus.status) > 28_000
    assert all(corpus.text)
