"""Why, and why not: by id and by citation, by every source, through reranking."""

import pytest

from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.service.operations.explain import ExplainParameters, explain
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.registry import IndexPlace, IndexRegistry

QUESTION = "préavis de démission"


def why(library, document, **values):
    return explain(
        library, ExplainParameters(query=values.pop("query", QUESTION), document=document, language="fr", **values)
    ).why


@pytest.mark.parametrize("profile", ["bm25", "dense", "hybrid"])
def test_what_is_explained_is_what_was_found(law, profile):
    page = search(law, SearchQuery(query=QUESTION, profile=profile, language="fr"))
    for result in page.results:
        told = why(law, result.id, profile=profile)
        assert (told.rank, told.listed, told.document.id) == (result.rank, True, result.id)
        assert told.score == pytest.approx(result.score, rel=1e-5)
        assert sum(source.contribution for source in told.sources) == pytest.approx(told.score, rel=1e-5)


def test_terms_add_up_to_the_raw_score_of_their_source(law):
    told = why(law, "travail-L1", profile="hybrid")
    bm25 = next(source for source in told.sources if source.source == "bm25")
    assert sum(term.contribution for term in told.terms) == pytest.approx(bm25.score, rel=1e-5)
    assert {term.source for term in told.terms} == {"bm25"}
    assert told.terms[0].contribution >= told.terms[-1].contribution
    assert {"rrf", "tm2c2", "borda"} <= told.other_ranks.keys()
    assert told.snippet.matches


def test_why_not(law):
    told = why(law, "civil-L1", profile="bm25")
    assert (told.listed, told.sources[0].rank) == (False, None)
    assert [(term.in_document, term.contribution) for term in told.terms] == [(0, 0)] * 2  # both words, and it holds neither
    assert told.rank == len(search(law, SearchQuery(query=QUESTION, profile="bm25", language="fr", k=100)).results) + 1


def test_a_document_by_citation(law):
    assert why(law, "article L. 1 du code civil").document.id == "civil-L1"
    assert why(law, "L. 2").document.id == "travail-L2"
    assert why(law, "C-60/22, point 12").document.id == "C-60/22#12"
    assert why(law, "l'article L. 999, ou L. 10").document.id == "travail-L10"  # the first that is there


def test_what_the_question_names_stands_first_whatever_its_score(law):
    told = why(law, "civil-L1", query="que dit l'article L. 1 du code civil ?")
    assert told.cited
    assert not why(law, "travail-L2", query="que dit l'article L. 1 du code civil ?").cited


def test_a_document_that_the_filters_keep_out_is_told(law):
    assert not why(law, "travail-L1", filters=("kind=decision",)).allowed
    assert why(law, "travail-L1", filters=("kind=statute",)).allowed
    assert not why(law, "old-L3", as_of="2020-01-01").allowed


def test_what_was_before_reranking_and_what_met_what(law_folder, tmp_path):
    profile = tmp_path / "judgments.toml"
    profile.write_text(
        'version = 1\nname = "judgments"\n[[channel]]\nname = "bm25"\n[[channel]]\nname = "dense"\n'
        '[[rerank]]\nmethod = "rprs"\nchannel = "sentences"\ndepth = 5\n',
        "utf-8",
    )
    with IndexRegistry.open([IndexPlace.of(law_folder)], [profile]) as library:
        query = "Le locataire doit le loyer. Le bail a pris fin."
        page = search(library, SearchQuery(query=query, profile="judgments", language="fr"))
        told = why(library, page.results[0].id, query=query, profile="judgments")
        assert (told.sources[0].source, told.rank) == ("rprs", 1)
        assert {source.source for source in told.before.sources} == {"bm25", "dense"}
        assert told.before.other_ranks
        assert told.alignment.pairs
        last = why(library, page.results[-1].id, query=query, profile="judgments")
        assert last.alignment is None  # below the depth that is compared


@pytest.mark.parametrize(
    ("document", "query", "error", "words"),
    [
        ("nowhere", "loi", NotFoundError, "no document 'nowhere', and none that it cites"),
        ("article L. 999", "loi", NotFoundError, "and none that it cites"),
        (" ", "loi", ConfigError, "name a document"),
        ("dec-1", " \n", ConfigError, "the question is empty"),
    ],
)
def test_what_cannot_be_is_said(law, document, query, error, words):
    with pytest.raises(error, match=words):
        why(law, document, query=query)
