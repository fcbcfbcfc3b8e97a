"""A folder in the layout of the official LEGI files: every version of every article by its own dates."""

import json
from xml.sax.saxutils import quoteattr

import pytest
from typer.testing import CliRunner

from lexfuse.cli.app import app
from lexfuse.data.document_history import is_absence, versions_of
from lexfuse.data.formats.file_format import read_corpus
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.file_folder import read_files
from lexfuse.errors import DataError
from lexfuse.index import Index

CODE = "LEGITEXT000000000100"
OPEN, UNFIXED = "2999-01-01", "2222-02-22"
WIDE = {"COLUMNS": "160"}
FIRST = ("A.", "1990-01-01", "2010-01-01")


def legiarti(number):
    return f"LEGIARTI{number:012d}"


class LegiFolder:
    """The folder of one code, as a dump has it."""

    def __init__(self, place):
        self.folder = place / f"legi/global/code_et_TNC_en_vigueur/code_en_vigueur/LEGI/TEXT/00/00/00/00/01/{CODE}"
        self.root = place
        titles = "<TITRE>Code du livre</TITRE><TITREFULL>Code du livre</TITREFULL><DATE_DEBUT>1950-01-01</DATE_DEBUT>"
        common = f"<META><META_COMMUN><ID>{CODE}</ID><NATURE>CODE</NATURE></META_COMMUN>"
        version = f"<META_SPEC><META_TEXTE_VERSION>{titles}<DATE_FIN>{OPEN}</DATE_FIN></META_TEXTE_VERSION></META_SPEC></META>"
        self.write(f"texte/version/{CODE}.xml", f"<TEXTE_VERSION>{common}{version}</TEXTE_VERSION>")
        self.write(f"texte/struct/{CODE}.xml", f"<TEXTELR>{common}</META><STRUCT/></TEXTELR>")
        section = "<SECTION_TA><ID>LEGISCTA000000000001</ID><TITRE_TA>Livre Ier</TITRE_TA><STRUCTURE_TA/></SECTION_TA>"
        self.write("section_ta/LEGI/SCTA/00/00/00/00/00/LEGISCTA000000000001.xml", section)

    def write(self, name, xml):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n{xml}', encoding="utf-8")

    def article(self, id, number, start, end, text, *, state="MODIFIE", others=(), links=(), nota=""):
        """One version; `others` are the other versions of the article as (id, start, end, state)."""
        listed = "".join(
            f'<VERSION etat="{s}"><LIEN_ART debut="{a}" etat="{s}" fin="{b}" id="{legiarti(i)}" num="{number}"/></VERSION>'
            for i, a, b, s in [*others, (id, start, end, state)]
        )
        linked = "".join(f'<LIEN id="{legiarti(i)}" sens="{sense}" typelien="{kind}">x</LIEN>' for i, kind, sense in links)
        titled = (
            f'<TITRE_TXT c_titre_court="" debut="{OPEN}" fin="{OPEN}" id_txt="JORFTEXT1">Autre nom</TITRE_TXT>'
            f'<TITRE_TXT c_titre_court="Code du livre" debut="1950-01-01" fin="{OPEN}" id_txt="{CODE}">Code du livre</TITRE_TXT>'
        )
        sections = (
            '<TM><TITRE_TM debut="2010-01-01" fin="2999-01-01" id="LEGISCTA2">Livre Ier : Du prêt</TITRE_TM>'
            '<TITRE_TM debut="1950-01-01" fin="2010-01-01" id="LEGISCTA1">Livre Ier : Des livres</TITRE_TM></TM>'
        )
        dates = f"<DATE_DEBUT>{start}</DATE_DEBUT><DATE_FIN>{end}</DATE_FIN>"
        digits = legiarti(id)[8:]
        path = "/".join(digits[at : at + 2] for at in range(0, 10, 2))
        self.write(
            f"article/LEGI/ARTI/{path}/{legiarti(id)}.xml",
            f"<ARTICLE><META><META_COMMUN><ID>{legiarti(id)}</ID><NATURE>Article</NATURE></META_COMMUN><META_SPEC><META_ARTICLE>"
            f"<NUM>{number}</NUM><ETAT>{state}</ETAT>{dates}<TYPE>AUTONOME</TYPE></META_ARTICLE></META_SPEC></META>"
            f'<CONTEXTE><TEXTE cid={quoteattr(CODE)} nature="CODE">{titled}{sections}</TEXTE></CONTEXTE>'
            f"<VERSIONS>{listed}</VERSIONS><NOTA><CONTENU>{nota}</CONTENU></NOTA>"
            f"<BLOC_TEXTUEL><CONTENU><p>{text}</p></CONTENU></BLOC_TEXTUEL><LIENS>{linked}</LIENS></ARTICLE>",
        )


@pytest.fixture
def legi(tmp_path):
    made = LegiFolder(tmp_path / "dump")
    first = (1, "1950-01-01", "1990-07-01", "MODIFIE")
    second = (2, "1990-07-01", "2015-03-01", "MODIFIE")
    third = (3, "2015-03-01", OPEN, "VIGUEUR")
    unborn = (4, UNFIXED, "2015-03-01", "MODIFIE_MORT_NE")
    made.article(1, "L10", *first[1:3], "Le prêt dure un mois.", others=[third, unborn, second])
    made.article(
        2, "L10", *second[1:3], "Le prêt dure deux mois, article L. 9.", others=[first], links=[(6, "CITATION", "source")]
    )
    made.article(3, "L10", *third[1:3], "Le prêt dure un an.", state="VIGUEUR", others=[second], links=[(1, "CITATION", "cible")])
    made.article(4, "L10", *unborn[1:3], "Le prêt est libre.", state="MODIFIE_MORT_NE", others=[first, second, third])
    made.article(6, "L9", "1970-01-01", OPEN, "Le livre est rendu.", state="VIGUEUR", links=[(99, "CREATION", "source")])
    return made


def periods(corpus, id):
    every = versions_of(corpus.document(id))
    return [("—" if is_absence(one) else one.text, str(one.valid_from), str(one.valid_to)) for one in every]


def test_versions_share_the_id_of_the_first(legi):
    report = ReadReport()
    corpus, account = read_files(legi.root, report)
    assert list(corpus.ids) == [legiarti(6), legiarti(1)]  # L9 comes before L10
    assert periods(corpus, legiarti(1)) == [
        ("Le prêt dure un mois.", "1950-01-01", "1990-07-01"),
        ("Le prêt dure deux mois, article L. 9.", "1990-07-01", "2015-03-01"),
        ("Le prêt dure un an.", "2015-03-01", "None"),
    ]
    assert report.lines() == [f"1 noted: a version that was never in force, left out ({legiarti(4)})"]
    assert (len(account.outcomes), account.imported) == (8, 5)
    assert sorted({one.code for one in account.skipped}) == ["empty-file"]
    old, middle, new = versions_of(corpus.document(legiarti(1)))
    assert (old.code, old.headings, new.headings) == ("Code du livre", ("Livre Ier : Des livres",), ("Livre Ier : Du prêt",))
    assert middle.headings == ("Livre Ier : Du prêt",)  # those of its last day
    assert (middle.citations, new.citations) == ((legiarti(6),), ())
    assert [one.extra["version"] for one in (old, middle, new)] == [legiarti(1), legiarti(2), legiarti(3)]
    assert [one.extra["state"] for one in (old, middle, new)] == ["MODIFIE", "MODIFIE", "VIGUEUR"]
    assert new.identifiers == (legiarti(2), legiarti(3), legiarti(4))


def test_an_article_that_a_law_created_is_absent_before_it(legi):
    corpus, _ = read_files(legi.root)
    assert periods(corpus, legiarti(6)) == [("—", "1950-01-01", "1970-01-01"), ("Le livre est rendu.", "1970-01-01", "None")]


def test_versions_through_the_commands(legi, tmp_path):
    run = CliRunner()
    done = run.invoke(app, ["import", str(legi.root), str(tmp_path / "law"), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["documents"] == 2
    with Index.build(tmp_path / "law.index", read_corpus(tmp_path / "law")) as index:
        named = "article L. 10 du code du livre"
        assert [hit.document.text for hit in index.search(named, as_of="1980-01-01")][:1] == ["Le prêt dure un mois."]
        assert index.search("livre rendu", as_of="1960-01-01").coverage.unknown == 0
        assert not [hit for hit in index.search("livre rendu", as_of="1960-01-01") if hit.document.id == legiarti(6)]
        assert [hit.document.id for hit in index.search(legiarti(3), as_of="1980-01-01")][:1] == [legiarti(1)]
        assert index.search("prêt", as_of="1940-01-01").coverage.unknown == 2
    shown = run.invoke(app, ["info", str(tmp_path / "law.index"), "--document", legiarti(1), "--history"], env=WIDE)
    assert shown.output.count("1990-07-01") == 2
    changed = run.invoke(app, ["diff", str(tmp_path / "law.index"), legiarti(1), "1980-01-01", "2020-01-01"], env=WIDE)
    assert "[-mois-]{+an+}" in changed.output, changed.output


@pytest.mark.parametrize(
    ("second", "expected", "note"),
    [
        # in force on the same days
        (("2000-01-01", "2020-01-01", "B."), {1: [FIRST], "1~2": [("B.", "2000-01-01", "2020-01-01")]},
         "an article with versions in force on the same days, kept as several documents"),
        # the same text with another heading
        (("2010-01-01", "2020-01-01", "A."), {1: [("A.", "1990-01-01", "2020-01-01")]},
         "a version with the text of the one before, joined to it"),
        # an end before the first day
        (("2015-01-01", "2014-01-01", "B."), {1: [FIRST]}, "a version that was never in force, left out"),
        (("2010-01-01", "2010-01-01", "B."), {1: [FIRST]}, "a version that was never in force, left out"),
        # a first day that a decree will fix
        ((UNFIXED, OPEN, "B."), {1: [FIRST]}, "a version whose first day is not known, left out"),
        # it returns after a gap
        (("2015-01-01", OPEN, "B."), {1: [FIRST, ("B.", "2015-01-01", "None")]}, ""),
    ],
)  # fmt: skip
def test_odd_periods(tmp_path, second, expected, note):
    made, report = LegiFolder(tmp_path), ReadReport()
    start, end, text = second
    made.article(1, "L1", "1990-01-01", "2010-01-01", "A.", others=[(2, start, end, "VIGUEUR")])
    made.article(2, "L1", start, end, text, state="VIGUEUR", others=[(1, "1990-01-01", "2010-01-01", "MODIFIE")])
    corpus, _ = read_files(tmp_path, report)
    found = {id: periods(corpus, id) for id in corpus.ids}
    assert found == {f"{legiarti(1)}~2" if id == "1~2" else legiarti(id): some for id, some in expected.items()}
    assert [line.split(": ", 1)[1].partition(" (")[0] for line in report.lines()] == ([note] if note else [])
    Index.build(tmp_path / "x.index", corpus).close()


def test_an_open_version_ends_when_the_next_begins(tmp_path):
    made = LegiFolder(tmp_path)
    made.article(1, "L1", "1990-01-01", OPEN, "A.", others=[(2, "2010-01-01", OPEN, "VIGUEUR")])
    made.article(2, "L1", "2010-01-01", OPEN, "B.", state="VIGUEUR", others=[(1, "1990-01-01", OPEN, "MODIFIE")])
    corpus, _ = read_files(tmp_path)
    assert periods(corpus, legiarti(1)) == [("A.", "1990-01-01", "2010-01-01"), ("B.", "2010-01-01", "None")]


def test_versions_are_joined_through_any_file(tmp_path):
    made = LegiFolder(tmp_path)
    made.article(1, "L1", "1990-01-01", "2000-01-01", "A.")  # names no other version
    made.article(2, "L1", "2000-01-01", "2010-01-01", "B.", others=[(1, "1990-01-01", "2000-01-01", "MODIFIE")])
    made.article(3, "L2", "2010-01-01", OPEN, "C.", state="VIGUEUR", others=[(2, "2000-01-01", "2010-01-01", "TRANSFERE")])
    corpus, _ = read_files(tmp_path)
    assert [(one.number, one.text) for one in versions_of(corpus.document(legiarti(1)))] == [
        ("L1", "A."),
        ("L1", "B."),
        ("L2", "C."),
    ]


def test_articles_without_numbers_that_compare_are_ordered(tmp_path):
    made = LegiFolder(tmp_path)
    numbers = ["R*10-2", "Annexe I", "39 ter", "39 bis", "39", "", "L10-10", "L10-9"]
    for at, number in enumerate(numbers):
        made.article(at + 1, number, "1990-01-01", OPEN, f"Texte {at}.", state="VIGUEUR")
    corpus, _ = read_files(tmp_path)
    assert list(corpus.number) == ["", "Annexe I", "L10-9", "L10-10", "R*10-2", "39", "39 bis", "39 ter"]


def test_a_folder_of_versions_that_were_never_in_force_is_an_error(tmp_path):
    LegiFolder(tmp_path).article(1, "L1", UNFIXED, OPEN, "A.", state="VIGUEUR_DIFF")
    with pytest.raises(DataError, match="no document could be read: 1 noted: a version whose first day is not known"):
        read_files(tmp_path)
