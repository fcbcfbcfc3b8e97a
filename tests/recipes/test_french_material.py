"""What the French models learn from: nothing of dev and test, and the same texts after a journey through a folder."""

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query

HEADINGS = ("Livre II : Le contrat de travail", "Titre III : Rupture du contrat", "Chapitre IV : Préavis et indemnités")


@pytest.fixture(scope="module")
def recipe(recipe_named):
    return recipe_named("french_material")


def article(number, text):
    title = f"Code du travail, art. L. {number}"
    return Document(
        f"a{number}",
        title=title,
        text=text,
        code="Code du travail",
        number=f"L{number}",
        headings=HEADINGS,
        kind=DocumentKind.STATUTE,
        language="fr",
    )


@pytest.fixture(scope="module")
def material(recipe):
    corpus = Corpus.of(
        [
            article(1, "Le préavis dure un mois pour le salarié qui démissionne. Il court du jour où la lettre est reçue."),
            article(
                2, "L'indemnité de licenciement est due après huit mois. Le préavis prévu à l'article L. 1 n'en est pas réduit."
            ),
            article(3, "La faute grave prive le salarié de préavis. Elle le prive aussi de l'indemnité que la loi prévoit."),
        ]
    )
    queries = Queries.of(
        [
            Query("req-a", "préavis", extra={"variants": ["préavis", "delai de preavis", "combien de temps"]}),
            Query("ft-article7-1", "La démission : Combien de temps dure le préavis ?"),
            Query("req-b", "combien de temps"),
        ]
    )
    qrels = {
        name: Qrels.of([(query, doc, 2)])
        for name, query, doc in (("train", "req-a", "a1"), ("dev", "ft-article7-1", "a1"), ("test", "req-b", "a3"))
    }
    agreement = Document(
        "k1", title="Convention", text="Le préavis des cadres est de trois mois. Il peut être réduit par accord. "
        "La durée du préavis prévue à l'article L. 1 du code du travail est portée à trois mois pour les cadres.", language="fr",
    )  # fmt: skip
    body = "Le salarié qui quitte son emploi prévient son employeur par une lettre, et le délai court dès qu'elle est reçue."
    other = "L'indemnité compense. Elle est due au salarié après huit mois de présence dans l'entreprise (article L. 2)."
    sheets = [
        {"pubId": f"article{number}", "title": title, "sections": [{"title": "Quel délai ?", "text": text}]}
        for number, title, text in ((7, "La démission", body), (8, "Le licenciement", other))
    ]
    sheets[1]["sections"] += [{"title": "Et la faute ?", "text": f"La faute grave prive de préavis et d'indemnité. {body}"}]
    cited = Collection(
        corpus,
        Queries.of(
            [Query("article7-1", "La démission"), Query("article8-1", "Le licenciement"), Query("article8-9", "Des délais")]
        ),
        {"train": Qrels.of([("article7-1", "a1", 2), ("article8-1", "a3", 2), ("article8-1", "a2", 2), ("article8-9", "a1", 1)])},
    )
    return recipe.made(
        Collection(corpus, queries, qrels), Corpus.of([agreement, agreement.__class__("k2", text=agreement.text)]), sheets, cited
    )


def test_other_labelled_sections_count_unless_a_held_out_question_has_the_same_answers(material):
    assert [(one.text, one.articles) for one in material.more["labelled"]] == [("Le licenciement", ["a2", "a3"])]


def test_sections_that_cite_nothing_have_what_their_sheet_cites_and_their_text_is_about(material):
    (one,) = material.more["weak"]
    assert (one.text, one.articles[0], one.spared) == ("Le licenciement : Et la faute ?", "a3", ["a1", "a2", "a3"])


def test_sheets_behind_dev_and_test_are_left_out(material):
    assert [pair.query for pair in material.pairs["sheets"]] == [
        "Le licenciement : Quel délai ?",
        "Le licenciement : Et la faute ?",
    ]


def test_wordings_that_a_held_out_question_has_are_left_out(material):
    assert material.variants == [("req-a", "delai de preavis")]


def test_nothing_of_the_test_questions_is_there(material):
    assert set(material.train) == {"req-a"}
    assert set(material.dev) == {"ft-article7-1"}
    assert set(material.rankings) == {
        "préavis",
        "La démission : Combien de temps dure le préavis ?",
        "delai de preavis",
        *(one.text for some in material.more.values() for one in some),
    }


def test_an_agreement_counts_once(material):
    assert sum("cadres" in text for text in material.documents) == 1


def test_rankings_are_places_of_articles(material):
    assert material.rankings["préavis"]
    assert all("préavis" in material.articles[place].lower() for place in material.rankings["préavis"])


def test_titles_of_sections_have_what_bm25_ranks_for_the_text_below(material):
    assert set(material.sections) == {one.text for one in material.more["weak"]}
    for places in material.sections.values():
        scores = [score for _, score in places]
        assert scores == sorted(scores, reverse=True)
        assert {at for at, _ in places} <= {0, 1, 2}


def test_sheets_that_repeat_a_held_out_one_are_left_out(recipe):
    section = {"title": "Quel délai ?", "text": "mot " * 20}
    sheets = [
        {"pubId": "article7", "title": "La démission", "sections": [section]},
        {"pubId": "article9", "title": "La démission", "sections": [{"title": "Et après ?", "text": "autre " * 20}]},
        {"pubId": "article10", "title": "Le départ", "sections": [section, {"title": "Suite", "text": "propre " * 20}]},
    ]
    assert [found.title for found in recipe._sections(sheets, {"ft-article7-1"})] == ["Le départ : Suite"]


def test_sentences_of_sheets_lead_to_the_articles_that_they_cite(material):
    assert material.more["explained"] == [("Elle est due au salarié après huit mois de présence dans l'entreprise.", ["a2"], [])]


def test_sentences_of_agreements_lead_to_the_articles_that_they_cite(material):
    assert [(pair.query, pair.passage[:29]) for pair in material.pairs["kali-cited"]] == [
        ("La durée du préavis prévue est portée à trois mois pour les cadres.", "Code du travail, art. L. 1 Li")
    ]


def test_few_sentences_count_for_one_article(recipe):
    pairs = [recipe.TrainingPair(f"phrase {number}", "L. 1") for number in range(50)]
    assert len(recipe._few_each(pairs)) == recipe.MOST_CITING


def test_pairs_of_one_code_can_be_left_out(recipe, material):
    assert recipe.TRANSFER not in {document.split(",")[0] for document in material.documents}
    assert material.without_code().pairs == material.pairs


def test_every_text_comes_back(recipe, material, tmp_path):
    material.write(tmp_path / "m")
    found = recipe.Material.read(tmp_path / "m")
    assert found.pairs == material.pairs
    assert found.articles == material.articles
    assert {id: (text, dict(grades)) for id, (text, grades) in found.train.items()} == material.train
    assert found.rankings == material.rankings
    assert [tuple(pair) for pair in found.variants] == material.variants


def test_most_texts_are_documents_without_a_piece(recipe, material):
    cuts, verbatim = recipe._cuts(
        [material.documents[0], material.documents[0][:20] + material.documents[0][60:]], material.documents
    )
    assert cuts[:, 0].tolist() == [0, 0]
    assert verbatim == []
