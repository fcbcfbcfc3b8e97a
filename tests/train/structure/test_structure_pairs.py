"""Pairs from the structure of invented law."""

import os
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.formats.beir import read_collection
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError
from lexfuse.train.structure.heading_pairs import PLACES, WITHOUT_HEADINGS, names_of, own_title
from lexfuse.train.structure.inverse_cloze import TAKEN_OUT, cloze_pairs
from lexfuse.train.structure.structure_pairs import StructureKind, structure_pairs

CODE = "Code du cirque"
WORDS = ["clown", "trapèze", "jongleur", "dompteur", "chapiteau", "piste", "acrobate", "fanfare", "billet", "roulotte", "gradin"]


def article(number: int, text: str, *headings: str, code: str = CODE) -> Document:
    title = f"{code}, art. L. {number}"
    return Document(
        f"a{number}", title, text, language="fr", kind=DocumentKind.STATUTE, code=code, number=f"L{number}", headings=headings
    )


def paragraph(case: str, number: int, text: str, day: date | None, **more) -> Document:
    return Document(
        f"{case}#{number}",
        text=text,
        language="en",
        kind=DocumentKind.PARAGRAPH,
        number=str(number),
        date=day,
        identifiers=(case,),
        **more,
    )


def sentence(chosen: np.random.Generator) -> str:
    return f"Le {' '.join(chosen.permutation(WORDS)[:7])} est payé."


def pairs_of(kind: StructureKind, *documents: Document, **options):
    return structure_pairs(Corpus.of(documents), [kind], **options)[kind.value]


@pytest.fixture(scope="module")
def many() -> Corpus:
    chosen = np.random.default_rng(3)
    return Corpus.of(
        article(
            n, "\n".join(sentence(chosen) for _ in range(6)), "Livre II : Les artistes", f"Section {n} : Le numéro de {n} tours"
        )
        for n in range(400)
    )


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("Section 2 : Rupture du contrat.", "Rupture du contrat"),
        ("Sous-section 1 bis : Préavis", "Préavis"),
        ("Chapitre Ier - Objet", "Objet"),
        ("Titre II Contrat de travail", "Contrat de travail"),
        ("Quatrième partie : Santé et sécurité au travail", "Santé et sécurité au travail"),
        ("Chapter IV – Remedies", "Remedies"),
        ("1. Interferences with rights", "Interferences with rights"),
        ("B. - Les centres", "Les centres"),
        ("Titre exécutoire européen", "Titre exécutoire européen"),
        ("Partie réglementaire - Décrets simples", None),
        ("Chapitre unique.", None),
        ("Section 3", None),
        ("…’", None),
        ("A right to be heard", "A right to be heard"),
        ("I agree", "I agree"),
        ("Date d'effet", "Date d'effet"),
    ],
)
def test_a_heading_is_read_without_the_number_of_its_division(heading, name):
    assert names_of((heading,)) == ((name,) if name else ())


def test_a_heading_query_goes_outward_until_it_names_a_place():
    places = [("Livre I : Les tigres", "Chapitre 1 : Dispositions générales")]
    places += [(f"Livre {n} : Les numéros de {n} clowns", "Chapitre 1 : Dispositions générales") for n in range(2, 3 + PLACES)]
    documents = [article(n, f"Le texte numéro {n} du code.", *place) for n, place in enumerate(places)]
    queries = {pair.query for pair in pairs_of(StructureKind.HEADINGS, *documents)}
    assert "Les tigres : Dispositions générales" in queries
    assert "Dispositions générales" not in queries


def test_headings_of_many_places_name_their_code_or_make_no_pair():
    same = [article(n, f"Le texte numéro {n} du code.", "Des dispositions communes", code=f"Code {n}") for n in range(PLACES + 1)]
    assert {pair.query for pair in pairs_of(StructureKind.HEADINGS, *same)} == {
        f"Code {n} : Des dispositions communes" for n in range(PLACES + 1)
    }
    decisions = [replace(document, code="", identifiers=(f"C-{n}/20",)) for n, document in enumerate(same)]
    report = ReadReport()
    assert pairs_of(StructureKind.HEADINGS, *decisions, report=report) == []
    assert any("4 documents under headings that have too few words or occur in many places" in line for line in report.lines())


def test_headings_leave_the_passage_half_of_the_time(many):
    pairs = structure_pairs(many, [StructureKind.HEADINGS])["headings"]
    assert len(pairs) == 2 * len(many)
    without = sum("Les artistes" not in pair.passage for pair in pairs) / len(pairs)
    assert abs(without - WITHOUT_HEADINGS) < 0.08
    assert all(pair.passage.startswith(CODE) for pair in pairs)


def test_a_title_makes_a_pair_when_it_says_more_than_a_number():
    titled = Document("b", "The duty of the ringmaster", "He opens the show.")
    plain = article(1, "Le directeur ouvre la séance.")
    assert pairs_of(StructureKind.TITLE, titled, plain) == [("The duty of the ringmaster", "He opens the show.")]
    assert own_title("Code du cirque, art. L. 12-3 : la parade du soir", CODE, "L12-3") == "la parade du soir"


def test_the_title_of_a_section_leads_to_the_running_text_of_its_articles():
    place = ("Livre I : Les artistes", "Section 1 : La parade du soir")
    first, second = article(1, "Le clown entre en premier.", *place), article(2, "La fanfare le suit.", *place)
    alone = article(3, "Le tigre dort.", "Section 2 : Les animaux du cirque")
    found = pairs_of(StructureKind.TITLE, first, second, alone)
    assert found == [("La parade du soir", "Le clown entre en premier. La fanfare le suit.")]


CITING = "Le clown salue. La prime du trapéziste prévue à l'article L. 2 est payée chaque soir de représentation en espèces."
CITED = article(2, "La prime est de dix francs.")


def test_the_citing_sentence_leads_to_the_article_it_cites():
    (pair,) = pairs_of(StructureKind.CITED, article(1, CITING), CITED)
    assert pair.passage == f"{CODE}, art. L. 2 La prime est de dix francs."
    assert pair.query.startswith("La prime du trapéziste")
    assert "L. 2" not in pair.query
    assert "l'" not in pair.query


def test_citations_can_be_kept():
    (pair,) = pairs_of(StructureKind.CITED, article(1, CITING), CITED, masked=False)
    assert "l'article L. 2 est payée" in pair.query


def test_a_sentence_that_says_little_or_cites_much_makes_no_pair():
    others = [article(n, f"Le numéro {n} est payé.") for n in range(2, 10)]
    little = article(1, "L'article L. 2 est applicable.")
    much = article(30, "Le clown qui chante chaque soir a droit à la prime prévue aux articles L. 2 à L. 9 du présent code.")
    report = ReadReport()
    assert pairs_of(StructureKind.CITED, little, much, *others, report=report) == []
    (line,) = report.lines()
    assert "1 citing passages of fewer than 8 words" in line
    assert "1 sentences that cite more than 5 articles" in line


def test_an_article_that_cites_itself_makes_no_pair():
    own = article(1, "Le clown qui chante chaque soir a droit à la prime que prévoit l'article L. 1 du présent code.")
    assert pairs_of(StructureKind.CITED, own) == []


EARLIER = paragraph("C-1/10", 7, "A circus owner must keep animals warm.", date(2012, 3, 1))
TEXT = "The Court has held that a circus owner must keep animals warm (judgment in Tiger, C-1/10, paragraph 7)."


@pytest.mark.parametrize(("day", "count"), [(date(2012, 3, 2), 1), (date(2012, 3, 1), 0), (date(2011, 1, 1), 0), (None, 0)])
def test_a_paragraph_leads_only_to_an_earlier_one(day, count):
    report = ReadReport()
    found = pairs_of(StructureKind.CITING_PARAGRAPH, paragraph("C-9/11", 1, TEXT, day), EARLIER, report=report)
    assert len(found) == count
    assert (
        any("1 citations of a paragraph that is not earlier, or without a date" in line for line in report.lines()) is not count
    )


def test_a_citing_paragraph_is_read_without_its_citations():
    (pair,) = pairs_of(StructureKind.CITING_PARAGRAPH, paragraph("C-9/11", 1, TEXT, date(2020, 1, 1)), EARLIER)
    assert pair == ("The Court has held that a circus owner must keep animals warm.", EARLIER.text)


def test_a_judgment_cited_as_a_whole_is_no_pair():
    whole = paragraph("C-9/11", 1, "The Registry sent the judgment in Tiger, C-1/10, to the referring court.", date(2020, 1, 1))
    assert pairs_of(StructureKind.CITING_PARAGRAPH, whole, EARLIER) == []
    expanded = replace(whole, citations=tuple(f"C-1/10#{n}" for n in range(10)))
    others = [replace(EARLIER, id=f"C-1/10#{n}", number=str(n)) for n in range(10)]
    assert pairs_of(StructureKind.CITING_PARAGRAPH, expanded, *others) == []


def test_headings_of_judgments_need_a_word_of_their_own():
    grounds = [
        paragraph(f"C-{n}/20", 1, f"The appeal number {n} fails.", None, headings=("The appeal", f"{n} grounds of appeal"))
        for n in range(6)
    ]
    tigers = paragraph("C-7/20", 1, "The tiger stays.", None, headings=("The appeal", "The custody of tigers"))
    shared = [replace(one, headings=("The appeal", "Grounds of appeal", "Findings")) for one in grounds]
    assert {pair.query for pair in pairs_of(StructureKind.HEADINGS, *shared, tigers)} == {
        "The custody of tigers",
        "The appeal : The custody of tigers",
    }


def test_citations_that_the_source_gives_count_too():
    silent = paragraph(
        "C-9/11", 1, "It is settled law that animals of a circus stay warm.", date(2020, 1, 1), citations=("C-1/10#7",)
    )
    assert [pair.passage for pair in pairs_of(StructureKind.CITING_PARAGRAPH, silent, EARLIER)] == [EARLIER.text]


def test_the_sentence_is_taken_out_nine_times_of_ten(many):
    pairs = structure_pairs(many, [StructureKind.CLOZE])["cloze"]
    assert len(pairs) == 2 * len(many)
    assert abs(sum(pair.query not in pair.passage for pair in pairs) / len(pairs) - TAKEN_OUT) < 0.06


def test_the_rest_of_a_cloze_pair_is_the_rest():
    text = "Le clown entre en premier sur la piste.\nLa fanfare le suit chaque soir de représentation.\nLe tigre dort."
    pairs = [pairs_of(StructureKind.CLOZE, article(1, text), seed=seed)[0] for seed in range(30)]
    assert {pair.query for pair in pairs} == set(text.split("\n")[:2])
    for query, passage in pairs:
        body = passage.removeprefix(f"{CODE}, art. L. 1 ")
        assert Counter(body.split()) in (Counter(text.split()), Counter(text.split()) - Counter(query.split()))


def test_a_long_text_gives_a_few_pairs_and_a_short_one_none():
    chosen = np.random.default_rng(5)
    assert len(pairs_of(StructureKind.CLOZE, article(1, " ".join(sentence(chosen) for _ in range(90))))) == 4
    assert pairs_of(StructureKind.CLOZE, article(1, sentence(chosen))) == []


@pytest.mark.parametrize("kind", list(StructureKind))
def test_the_same_seed_gives_the_same_pairs(many, kind):
    assert structure_pairs(many, [kind]) == structure_pairs(many, [kind])


@pytest.mark.parametrize("kind", [StructureKind.HEADINGS, StructureKind.CLOZE])
def test_another_seed_gives_other_pairs(many, kind):
    assert structure_pairs(many, [kind], seed=1) != structure_pairs(many, [kind], seed=2)


def test_what_a_document_draws_does_not_depend_on_the_others(many):
    some = many.select(range(0, 400, 7))
    assert set(structure_pairs(some, [StructureKind.CLOZE])["cloze"]) < set(structure_pairs(many, [StructureKind.CLOZE])["cloze"])


def test_no_pair_comes_twice_and_none_is_shorter_than_three_words(many):
    for pairs in structure_pairs(many, list(StructureKind)).values():
        assert len(pairs) == len(set(pairs))
        assert all(min(len(pair.query.split()), len(pair.passage.split())) >= 3 for pair in pairs)


def test_short_and_repeated_pairs_are_counted():
    report = ReadReport()
    short = Document("short", "Parade", "The evening parade opens the show.")
    titled = [Document(str(n), "The evening parade", "It opens the show.") for n in range(2)]
    found = structure_pairs(Corpus.of([short, *titled]), [StructureKind.TITLE], report=report)
    assert found == {"title": [("The evening parade", "It opens the show.")]}
    told = " / ".join(report.lines())
    assert "1 pairs with fewer than 3 words on a side" in told
    assert "1 documents without text or with the text of another" in told


def test_documents_without_anything_make_no_pairs():
    found = structure_pairs(Corpus.of([Document("a"), Document("b", title="…")]), list(StructureKind))
    assert found == {kind.value: [] for kind in StructureKind}


def test_no_kind_is_an_error():
    with pytest.raises(ConfigError, match="headings, title, cited, citing-paragraph, cloze"):
        structure_pairs(Corpus.of([]), [])


@pytest.mark.parametrize("document", [article(1, "Un. Deux. Trois."), EARLIER])
def test_cloze_leaves_short_sentences_alone(document):
    left: Counter[str] = Counter()
    assert list(cloze_pairs(Corpus.of([document]), [0], 1, left)) == []
    assert left.total() == 1


def test_real_law_gives_pairs_of_every_kind():
    data = os.environ.get("LEXFUSE_DATA")
    if not data:
        pytest.skip("LEXFUSE_DATA does not name the folder of the collections")
    codes = read_collection(Path(data, "fr-labour")).corpus
    some = codes.select(range(0, 1500))
    statutes = [StructureKind.HEADINGS, StructureKind.TITLE, StructureKind.CITED, StructureKind.CLOZE]
    counts = {kind: len(pairs) for kind, pairs in structure_pairs(some, statutes).items()}
    assert counts["headings"] > len(some)
    assert min(counts["cited"], counts["cloze"]) > len(some) / 3
    assert counts["title"] > 100
