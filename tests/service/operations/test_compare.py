"""Profiles side by side: moved, new, lost, and all from one version of the index."""

import pytest

from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.service.operations import compare as compare_module
from lexfuse.service.operations.compare import CompareParameters, compare
from lexfuse.service.operations.document_writes import DocumentBody, put_document
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.parameters import page_parameters


def test_moves_are_told_beside_the_first(law):
    found = compare(law, CompareParameters(query="loyer du locataire", profiles=("bm25", "dense", "hybrid"), k=4, language="fr"))
    first = [move.result.id for move in found.rankings[0].results]
    assert [ranking.profile for ranking in found.rankings] == ["bm25", "dense", "hybrid"]
    assert [move.before for move in found.rankings[0].results] == [1, 2, 3, 4]
    assert found.rankings[0].lost == []
    for ranking in found.rankings:
        alone = search(law, SearchQuery(query="loyer du locataire", profile=ranking.profile, k=4, language="fr")).results
        assert [move.result for move in ranking.results] == alone
        for move in ranking.results:
            assert move.before == (first.index(move.result.id) + 1 if move.result.id in first else None)
        held = {move.result.id for move in ranking.results}
        assert [result.id for result in ranking.lost] == [id for id in first if id not in held]
    assert any(ranking.lost for ranking in found.rankings)  # else nothing of the above was tested


def test_all_answer_from_one_version_though_a_newer_one_comes_meanwhile(small, monkeypatch):
    asked = []

    def searched(library, ask):
        page = search(library, ask)
        asked.append(page.generation)
        put_document(library, f"new-{len(asked)}", DocumentBody(text="Le préavis est nouveau.", language="fr"))
        return page

    monkeypatch.setattr(compare_module, "search", searched)
    twice = CompareParameters.model_construct(query="préavis", profiles=["bm25", "bm25"])  # the index has one profile only
    found = compare(small, twice)
    assert asked == [found.generation] * 2
    assert small.index().generation > found.generation
    assert [move.result.id for move in found.rankings[0].results] == [move.result.id for move in found.rankings[1].results]


def test_a_profile_that_is_not_there(law):
    with pytest.raises(NotFoundError, match="no profile 'none'"):
        compare(law, CompareParameters(query="loi", profiles=("bm25", "none")))


@pytest.mark.parametrize("profiles", [(), ("bm25",), ("bm25", "bm25"), ("a", "b", "c", "d")])
def test_two_or_three_different_ones(profiles):
    with pytest.raises(ConfigError, match="profiles"):
        page_parameters(CompareParameters, {"query": "loi", "profiles": profiles})
