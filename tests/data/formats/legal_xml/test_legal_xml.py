"""XML of law: each vocabulary by its root, every word kept, quoted law not divided."""

# ruff: noqa: E501 -- lines of markup

from datetime import date

import pytest

from lexfuse.data.document import DocumentKind, DocumentStatus
from lexfuse.data.formats.file_documents import documents_of
from lexfuse.errors import DataError, EmptyFileError

AKN_ACT = """<?xml version="1.0"?><akomaNtoso xmlns="http://docs.oasis-open.org/legaldocml/ns/akn/3.0"><act name="act"><meta><identification>
<FRBRWork><FRBRuri value="/akn/xx/act/1998/55"/><FRBRdate date="1998-10-19"/></FRBRWork>
<FRBRExpression><FRBRlanguage language="eng"/></FRBRExpression></identification></meta>
<preface><p><docTitle>Library Act</docTitle></p></preface>
<body><chapter eId="chp_I"><num>I</num><heading>Loans</heading>
<section eId="sec_1"><num>1.</num><heading>Loan</heading><subsection><num>(1)</num><content><p>A book is <b>lent</b>.</p></content></subsection>
<subsection><num>(2)</num><content><p>It is returned.</p></content></subsection></section>
<section eId="sec_2"><num>2.</num><heading>Change</heading><content><p>Insert:
<mod><quotedStructure><section><num>9.</num><content><p>New text.</p></content></section></quotedStructure></mod></p></content></section>
</chapter></body></act></akomaNtoso>"""
AKN_JUDGMENT = """<akomaNtoso xmlns="http://docs.oasis-open.org/legaldocml/ns/akn/3.0"><judgment><meta><identification><FRBRWork>
<FRBRuri value="/uksc/2031/5"/><FRBRdate date="2031-02-03"/><FRBRname value="A v B"/></FRBRWork></identification></meta>
<header><p><neutralCitation>[2031] UKSC 5</neutralCitation></p><p><courtType>Supreme Court</courtType></p></header>
<judgmentBody><decision><level><heading>Facts</heading><paragraph eId="para_1"><num>1.</num><content><p>He lent it.</p></content></paragraph>
<paragraph eId="para_2"><num>2.</num><content><p>She kept it.</p></content></paragraph></level></decision></judgmentBody></judgment></akomaNtoso>"""
USLM = """<pLaw xmlns="http://schemas.gpo.gov/xml/uslm" xmlns:dc="http://purl.org/dc/elements/1.1/"><meta><dc:title>Public Law 1-2</dc:title>
<citableAs>Public Law 1–2</citableAs><approvedDate>1965-10-30</approvedDate></meta><main><longTitle><docTitle>An Act</docTitle></longTitle>
<title><num>TITLE I</num><heading>LOANS</heading><section identifier="/us/pl/1/2/s101"><num>Sec. 101.</num>
<subsection><num>(a)</num><chapeau>The Librarian shall—</chapeau><paragraph><num>(1)</num><content>lend;</content></paragraph></subsection>
<sidenote><p>A note.</p></sidenote></section></title></main></pLaw>"""
FORMEX = """<ACT xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="http://formex.publications.europa.eu/x.xd">
<BIB.INSTANCE><DATE ISO="20160427">20160427</DATE><LG.DOC>EN</LG.DOC></BIB.INSTANCE><TITLE><TI><P>Regulation on loans</P></TI></TITLE>
<PREAMBLE><GR.CONSID><CONSID><NP><NO.P>(1)</NO.P><TXT>Books matter.</TXT></NP></CONSID></GR.CONSID></PREAMBLE>
<ENACTING.TERMS><DIVISION><TITLE><TI><P>CHAPTER I</P></TI><STI><P>Loans</P></STI></TITLE><ARTICLE IDENTIFIER="001"><TI.ART>Article 1</TI.ART>
<STI.ART><P>Scope</P></STI.ART><PARAG><NO.PARAG>1.</NO.PARAG><ALINEA>This applies.</ALINEA></PARAG></ARTICLE><ARTICLE IDENTIFIER="002">
<TI.ART>Article 2</TI.ART><ALINEA><P>Insert:</P><QUOT.S><ARTICLE><TI.ART>Article 6a</TI.ART><ALINEA>Quoted.</ALINEA></ARTICLE></QUOT.S></ALINEA>
</ARTICLE></DIVISION></ENACTING.TERMS></ACT>"""
FORMEX_JUDGMENT = """<JUDGMENT><BIB.JUDGMENT><REF.CASE><NO.CASE>C-303/22</NO.CASE></REF.CASE><NO.CELEX>62022CJ0303</NO.CELEX>
<NO.ECLI ECLI="ECLI:EU:C:2024:60">EU:C:2024:60</NO.ECLI><AUTHOR>CJ</AUTHOR></BIB.JUDGMENT><CURR.TITLE><P>Judgment of the Court</P></CURR.TITLE>
<CONTENTS.JUDGMENT><GR.SEQ><TITLE><TI><P>Legal context</P></TI></TITLE><NP.ECR><NO.P>1</NO.P><TXT>The request concerns books.</TXT></NP.ECR>
</GR.SEQ></CONTENTS.JUDGMENT></JUDGMENT>"""
JUSTICE = """<Statute xml:lang="en" xmlns:lims="http://justice.gc.ca/lims"><Identification><ShortTitle>Seed Act</ShortTitle><Chapter>
<ConsolidatedNumber>S-8</ConsolidatedNumber></Chapter></Identification><Body><Heading level="1"><TitleText>Sale</TitleText></Heading>
<Section lims:inforce-start-date="2003-01-01"><MarginalNote>Bad seed</MarginalNote><Label>3</Label><Subsection><Label>(1)</Label>
<Text>No person shall sell <XRefExternal>bad</XRefExternal> seed.</Text></Subsection><HistoricalNote>R.S., c. 1</HistoricalNote></Section></Body>
<Schedule><ScheduleFormHeading><Label>SCHEDULE</Label><TitleText>Fees</TitleText></ScheduleFormHeading><List><Item>10 dollars</Item></List></Schedule>
</Statute>"""
LEGI = """<?xml version="1.0" encoding="UTF-8"?><ARTICLE><META><META_COMMUN><ID>LEGIARTI000000000002</ID></META_COMMUN><META_SPEC><META_ARTICLE>
<NUM>L1</NUM><ETAT>ABROGE</ETAT><DATE_DEBUT>2019-05-24</DATE_DEBUT><DATE_FIN>2999-01-01</DATE_FIN></META_ARTICLE></META_SPEC></META>
<CONTEXTE><TEXTE cid="LEGITEXT1"><TITRE_TXT c_titre_court="Code du livre">Code du livre</TITRE_TXT><TM><TITRE_TM>Livre Ier</TITRE_TM><TM>
<TITRE_TM>Titre II</TITRE_TM></TM></TM></TEXTE></CONTEXTE><VERSIONS><VERSION><LIEN_ART id="LEGIARTI000000000001" debut="2001-01-01"/></VERSION>
</VERSIONS><BLOC_TEXTUEL><CONTENU><p>Le livre est <a>prêté</a>.<br/>Il est rendu.</p></CONTENU></BLOC_TEXTUEL></ARTICLE>"""


def read(text, name="laws/a.xml"):
    return documents_of(text.encode(), name)


def test_akoma_ntoso_act():
    loan, change = read(AKN_ACT)[1:]
    assert (loan.id, loan.number, loan.title) == ("/akn/xx/act/1998/55#sec_1", "1", "Library Act, 1. Loan")
    assert loan.text == "(1) A book is lent.\n(2) It is returned."
    assert (loan.headings, loan.language, loan.date, loan.code) == (("I Loans",), "en", date(1998, 10, 19), "Library Act")
    assert change.text == "Insert:\n9. New text."  # quoted law is text of the section that quotes it


def test_akoma_ntoso_judgment():
    head, first, second = read(AKN_JUDGMENT)
    assert (first.id, first.number, first.text, first.kind) == ("/uksc/2031/5#para_1", "1", "He lent it.", DocumentKind.PARAGRAPH)
    assert (second.title, second.headings, second.court) == ("A v B, 2", ("Facts",), "Supreme Court")
    assert second.identifiers == ("[2031] UKSC 5",)
    assert "UKSC 5" in head.text


def test_uslm():
    head, section = read(USLM)
    assert head.text == "An Act"
    assert (section.id, section.number, section.headings) == ("/us/pl/1/2/s101", "101", ("TITLE I LOANS",))
    assert section.text == "(a) The Librarian shall—\n(1) lend;"
    assert (section.date, section.identifiers, section.language) == (date(1965, 10, 30), ("Public Law 1–2",), "en")


def test_versions_of_a_bill_do_not_share_ids():
    bill = USLM.replace("pLaw", "bill")
    assert [one.id for one in read(bill, "v1.xml")] == ["v1.xml#text", "v1.xml#101"]


def test_formex_act():
    recital, scope, change = read(FORMEX, "32016R0679.xml")
    assert (recital.number, recital.text) == ("recital (1)", "(1) Books matter.")
    assert (scope.id, scope.number, scope.title) == ("32016R0679.xml#1", "1", "Regulation on loans, Article 1 Scope")
    assert (scope.text, scope.headings) == ("1. This applies.", ("CHAPTER I Loans",))
    assert (scope.date, scope.language) == (date(2016, 4, 27), "en")
    assert change.text == "Insert:\nArticle 6a\nQuoted."


def test_annexes_of_a_formex_act_are_documents_and_divided_where_they_have_articles():
    annexes = (
        "<CONS.ANNEX><TITLE><TI><P>ANNEX I</P></TI><STI><P>BOOKS</P></STI></TITLE><CONTENTS><P>One book.</P></CONTENTS></CONS.ANNEX>"
        "<CONS.ANNEX><TITLE><TI><P>ANNEX II</P></TI></TITLE><ARTICLE><TI.ART>Article 1</TI.ART><ALINEA>Agreed.</ALINEA></ARTICLE></CONS.ANNEX>"
    )
    *_, final, list_of_books, agreed = read(FORMEX.replace("</ACT>", f"<FINAL><P>Done.</P></FINAL>{annexes}</ACT>"), "a.xml")
    assert final.text == "Done."
    assert (list_of_books.id, list_of_books.number, list_of_books.text) == ("a.xml#annex-i", "ANNEX I", "One book.")
    assert list_of_books.title == "Regulation on loans, ANNEX I BOOKS"
    assert (agreed.id, agreed.headings, agreed.text) == ("a.xml#1~2", ("ANNEX II",), "Agreed.")


def test_formex_judgment():
    *_, point = read(FORMEX_JUDGMENT)
    assert (point.id, point.text, point.headings) == ("62022CJ0303#1", "The request concerns books.", ("Legal context",))
    assert point.identifiers == ("ECLI:EU:C:2024:60", "62022CJ0303", "C-303/22")


def test_a_formex_notice_has_no_text():
    for part in ("BIB.DOC", "PUBLICATION.REF"):
        with pytest.raises(EmptyFileError, match="notice of a Formex publication"):
            read(f'<DOC x="formex-05"><{part}><NO.OJ>1</NO.OJ></{part}><P>1</P></DOC>')


def test_justice_laws():
    section, schedule = read(JUSTICE)
    assert (section.id, section.number, section.title) == ("S-8-en#3", "3", "Seed Act, Bad seed 3")
    assert (section.text, section.headings) == ("(1) No person shall sell bad seed.", ("Sale",))
    assert (section.valid_from, section.language) == (date(2003, 1, 1), "en")
    assert (schedule.title, schedule.text) == ("Seed Act, SCHEDULE Fees", "10 dollars")


def test_legi_article():
    (article,) = read(LEGI)
    assert (article.id, article.number, article.code) == ("LEGIARTI000000000002", "L1", "Code du livre")
    assert article.text == "Le livre est prêté.\nIl est rendu."
    assert (article.valid_from, article.valid_to, article.status) == (date(2019, 5, 24), None, DocumentStatus.REPEALED)
    assert (article.headings, article.extra["cid"]) == (("Livre Ier", "Titre II"), "LEGIARTI000000000001")


def test_legi_files_without_text_say_so():
    with pytest.raises(EmptyFileError, match="lists the sections of a LEGI text"):
        read("<SECTION_TA><TITRE_TA>Livre Ier</TITRE_TA></SECTION_TA>")
    with pytest.raises(DataError, match="no META/META_COMMUN/ID"):
        read("<ARTICLE><META><META_COMMUN/></META></ARTICLE>")


def test_other_xml_is_one_document():
    (whole,) = read("<letter><to>A</to><body>Dear <i>A</i></body></letter>")
    assert (whole.id, whole.text) == ("laws/a.xml", "A\nDear\nA")


def test_nothing_is_lost_between_provisions():
    """Every word of an act is in one document, in its order."""
    words = ["one", "two", "three", "four", "five", "six", "seven"]
    body = "<p>one</p><section><num>1.</num><p>two</p></section><p>three</p><chapter><p>four</p><section><num>2.</num>five</section>six</chapter>seven"
    found = read(f"<akomaNtoso><act><meta/><body>{body}</body></act></akomaNtoso>".replace("<meta/>", ""))
    assert [word for one in found for word in one.text.split()] == words


def test_akoma_ntoso_collection_has_the_text_of_its_components():
    meta = (
        '<meta><identification><FRBRWork><FRBRuri value="/akn/xx/{}"/><FRBRalias value="X{}"/></FRBRWork></identification></meta>'
    )
    bill = (
        f"<bill>{meta.format('bill', 1)}<preface><p><shortTitle>Lending Bill</shortTitle></p></preface><body>"
        "<article eId='art_1'><num>Artículo 1</num><p>Books are lent.</p></article>"
        "<article eId='art_2'><num>Άρθρο 2</num><p>Books return.</p></article></body></bill>"
    )
    memo = f"<doc>{meta.format('collection', 2)}<preface><p>Explanatory memorandum</p></preface><mainBody><p>Why.</p></mainBody></doc>"
    front = f"<documentCollection>{meta.format('collection', 3)}<preface><p>Proposal 7</p></preface></documentCollection>"
    parts = f"<components><component>{memo}</component><component>{bill}</component></components>"
    found = read(f'<akomaNtoso xmlns="http://docs.oasis-open.org/legaldocml/ns/akn/3.0">{front}{parts}</akomaNtoso>')
    assert [(one.id, one.code, one.number, one.text) for one in found] == [
        ("/akn/xx/collection#text", "Proposal 7", "", "Proposal 7"),
        ("/akn/xx/collection#text~2", "Explanatory memorandum", "", "Explanatory memorandum\nWhy."),
        ("/akn/xx/bill#text", "Lending Bill", "", "Lending Bill"),
        ("/akn/xx/bill#art_1", "Lending Bill", "1", "Books are lent."),
        ("/akn/xx/bill#art_2", "Lending Bill", "2", "Books return."),
    ]


def test_akoma_ntoso_recitals_and_titles():
    head = (
        '<meta><identification><FRBRWork><FRBRuri value="/akn/eu/1"/><FRBRalias value="32031L0001"/></FRBRWork><FRBRExpression>'
    )
    head += '<FRBRlanguage language="gr"/></FRBRExpression></identification></meta>'
    recital = "<recitals><recital eId='rec_1'><num>(1)</num><p>Books matter.</p></recital></recitals>"
    body = "<body><article eId='art_1'><num>Article 1</num><p>Scope.</p></article></body>"
    act = f"<act>{head}<preface><p>Directive <span>2031/1/EU</span></p><p>on loans</p></preface><preamble>{recital}</preamble>{body}</act>"
    _, reason, scope = read(f'<akomaNtoso xmlns="http://docs.oasis-open.org/legaldocml/ns/akn/3.0">{act}</akomaNtoso>')
    assert (reason.id, reason.number, reason.text) == ("/akn/eu/1#rec_1", "recital (1)", "(1) Books matter.")
    assert (scope.number, scope.code, scope.language) == ("1", "Directive 2031/1/EU on loans", "el")


def test_formex_files_without_text_say_so_and_titles_have_spaces():
    bib = "<BIB.INSTANCE><LG.DOC>EN</LG.DOC></BIB.INSTANCE>"
    title = "<TITLE><TI><P>ANNEX</P></TI><STI><P>LIST OF BOOKS</P></STI></TITLE>"
    (annex,) = read(f"<ANNEX>{bib}{title}<CONTENTS><P>One book.</P></CONTENTS></ANNEX>")
    assert (annex.title, annex.text) == ("ANNEX LIST OF BOOKS", "One book.")
    with pytest.raises(EmptyFileError, match="a title and no text"):
        read(f"<ANNEX>{bib}{title}</ANNEX>")
    with pytest.raises(EmptyFileError, match="notice of a Formex publication"):
        read('<PUBLICATION x="formex-05"><OJ><NO.OJ>334</NO.OJ></OJ></PUBLICATION>')
