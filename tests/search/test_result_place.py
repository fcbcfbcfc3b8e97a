"""The place of a document among results: wherever it was when it was opened, its neighbours are those of the whole ranking."""

import pytest

from lexfuse.data.document import Document
from lexfuse.index import Index
from lexfuse.search.hits import find_hits
from lexfuse.search.result_place import LOOKED_AT, question_matches, result_place

COUNT = LOOKED_AT + 5


@pytest.fixture(scope="module")
def version(tmp_path_factory):
    documents = [Document(f"d{at:03}", text="la loi " * (COUNT - at) + "mot " * at, language="fr") for at in range(COUNT)]
    with Index.build(tmp_path_factory.mktemp("place") / "law.index", documents) as index:
        yield index.version


@pytest.mark.parametrize("rank", [1, 2, 50, LOOKED_AT - 1, LOOKED_AT + 2])
@pytest.mark.parametrize("wrong", [0, 1, -1])
def test_neighbours_are_those_of_the_ranking(version, rank, wrong):
    ranking = [hit.id for hit in find_hits(version, "loi", COUNT)]
    place = result_place(version, "loi", ranking[rank - 1], rank=max(rank + wrong, 0))
    if place is None:
        assert rank >= LOOKED_AT
        assert wrong != 0
        return
    assert place.hit.rank == rank
    assert place.previous is None if rank == 1 else place.previous.id == ranking[rank - 2]
    assert place.next.id == ranking[rank]


def test_a_document_that_is_no_result_has_no_place(version):
    assert result_place(version, "loi", "nowhere", rank=3) is None


def test_words_of_the_law_and_corrected_words_are_marked_as_in_the_results(tmp_path):
    text = "L'employeur notifie le licenciement au salarié."
    with Index.build(tmp_path / "law.index", [Document("L1", text=text, language="fr")]) as index:
        for question, words in (("mon patron veut me virer", {"employeur", "licenciement"}), ("licensiement", {"licenciement"})):
            found = question_matches(index.version, question, index.document("L1"))
            assert words <= {text[one.start : one.end] for one in found}


def test_common_words_of_an_expression_of_the_law_are_not_marked(tmp_path):
    text = "Le contrat de travail à durée indéterminée est rompu avec un préavis."
    others = [Document(f"L{n}", text="Le contrat de travail et sa durée.", language="fr") for n in range(2, 40)]
    with Index.build(tmp_path / "law.index", [Document("L1", text=text, language="fr"), *others]) as index:
        found = question_matches(index.version, "préavis CDI", index.document("L1"))
    assert [text[one.start : one.end] for one in found] == ["indéterminée", "préavis"]
