"""What the fifth generation learns from: nothing of a held-out question of any collection, and the same after a journey."""

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport


@pytest.fixture(scope="module")
def recipe(recipe_named):
    return recipe_named("citizen_material")


def articles(prefix, code):
    texts = [
        "Le bail dure trois ans au moins.",
        "Le dépôt de garantie est rendu dans les deux mois.",
        "Le loyer est payé chaque mois.",
    ]
    return Corpus.of(
        Document(
            f"{prefix}{at}", title=f"{code}, art. {at}", text=text, code=code, number=str(at),
            headings=("Livre III : Les contrats", "Titre VIII : Le louage des choses"), kind=DocumentKind.STATUTE, language="fr",
        )
        for at, text in enumerate(texts)
    )  # fmt: skip


def collection(corpus, rows):
    """From rows of split, id, title, description and answer."""
    queries = Queries.of(Query(id, title, extra={"description": description}) for _, id, title, description, _ in rows)
    splits = dict.fromkeys(split for split, *_ in rows)
    return Collection(
        corpus, queries, {one: Qrels.of((id, doc, 2) for split, id, _, _, doc in rows if split == one) for one in splits}
    )


@pytest.fixture(scope="module")
def material(recipe):
    labour, citizen = articles("l", "Code du travail"), articles("c", "Code civil")
    own = collection(labour, [("dev", "w1", "Rendre le dépôt", "", "l1"), ("train", "w2", "Payer le loyer", "", "l2")])
    public = collection(
        labour,
        [("train", "F1", "Durée du bail", "Le bail a une durée.", "l0"), ("dev", "F2", "Loyer mensuel", "Chaque mois.", "l2")],
    )
    questions = collection(
        citizen,
        [
            ("train", "F2", "Payer son loyer", "Le loyer se paie.", "c2"),  # a dev sheet of the other collection
            ("train", "F3", "rendre le  DÉPÔT", "Le dépôt.", "c1"),  # a dev title of the third one
            ("train", "F4", "Durée d'un bail", "La loi fixe sa durée.", "c0"),
            ("dev", "F5", "Dépôt de garantie", "Il est rendu.", "c1"),
            ("test", "F6", "Quand payer ?", "Chaque mois.", "c2"),
        ],
    )
    parallel = [recipe.ParallelText(f"A-{at}", f"section {at}", f"article {at}", "", "") for at in range(200)]
    return recipe.made(questions, public, own, parallel)


def test_sheets_and_titles_of_dev_and_test_of_any_collection_are_left_out(material):
    assert set(material.train["citizen"]) == {"F4"}
    assert set(material.train["public"]) == {"F1"}
    assert set(material.dev["citizen"]) == {"F5"}


def test_nothing_of_the_test_questions_is_there(material):
    assert "Quand payer ?" not in str((material.train, material.dev, material.rankings))


def test_descriptions_are_wordings_of_train_questions_alone(material):
    assert material.train["citizen"]["F4"][0] == ["Durée d'un bail", "La loi fixe sa durée."]
    assert material.dev["citizen"]["F5"][0] == ["Dépôt de garantie"]


def test_rankings_are_places_of_the_articles_that_are_searched(material):
    assert material.rankings["citizen"]["Dépôt de garantie"][0] == 1
    assert material.rankings["public"]["Durée du bail"][0] == 0


def test_whole_acts_are_kept_apart(recipe, material):
    kept, used = ({one.act for one in some} for some in (material.kept, material.parallel))
    assert len(kept) == recipe.KEPT_ACTS
    assert not kept & used


def test_it_is_the_same_after_a_journey(recipe, material, tmp_path):
    material.write(tmp_path)
    again = recipe.CitizenMaterial.read(tmp_path)
    for name in recipe.CitizenMaterial.__slots__:
        assert getattr(again, name) == getattr(material, name)


def test_everyday_sentences_are_read_once_and_bad_lines_are_counted(recipe, tmp_path):
    path = tmp_path / "sentences.txt"
    path.write_text("I rent.\tJe loue.\nI rent.\tJe loue.\nno translation\nI work.\tJe travaille.\tCC-BY\n", "utf-8")
    report = ReadReport(skip_bad=True)
    assert recipe.read_sentences(path, report) == [("I rent.", "Je loue."), ("I work.", "Je travaille.")]
    assert report.lines() == [f"1 skipped: no English and French text with a tab between them ({path}, line 3)"]
