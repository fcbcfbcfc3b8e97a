"""A whole document as the query: terms to edit, dates, the document itself, paragraphs that met."""

import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import fill_channel, plan_channel
from lexfuse.data.document import Document
from lexfuse.errors import ConfigError, DataError, NotFoundError, TooLargeError
from lexfuse.service.operations.similar import SentenceCoverage, SimilarParameters, sentence_coverage, similar
from lexfuse.service.parameters import page_parameters
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.storage.index_folder import IndexFolder

TEXT = "Le locataire doit le loyer après la fin du bail.\n\nLe bailleur demande le loyer (affaire C-60/22)."


def ids(page):
    return [result.id for result in page.results]


def words(page):
    return {term.word for term in page.terms}


def test_a_document_without_itself_and_with_what_met_what(law):
    page = similar(law, SimilarParameters(document="dec-1", amount=1.0))
    assert (page.document, page.profile, page.left_out) == ("dec-1", "similar", {"own": 1})
    assert {"dec-2", "dec-3"} <= set(ids(page))
    best = page.results[0]
    assert best.alignment.pairs
    pair = best.alignment.pairs[0]
    assert 0 < best.alignment.query_proportion <= 1
    assert (pair.meetings >= 1, -1.01 <= pair.cosine <= 1.01) == (True, True)
    assert [result.rank for result in page.results] == list(range(1, len(page.results) + 1))


def test_the_paragraphs_that_met_are_pieces_of_the_texts_beside_them(law):
    page = similar(law, SimilarParameters(text=TEXT, amount=1.0))
    result = next(one for one in page.results if one.id == "dec-1")
    with law.index().lease() as opened:
        text = opened.snapshot.document("dec-1").text
    for pair in result.alignment.pairs:
        assert pair.document.text == text[slice(*pair.document.span)]
        assert pair.query.text == TEXT[slice(*pair.query.span)]


def test_a_text_that_is_a_document_is_known_by_its_text_or_its_name(law):
    text = "Le loyer est dû\npar le locataire  après la fin du bail."
    assert "dec-2" not in ids(similar(law, SimilarParameters(text=text, amount=1.0)))
    assert ids(similar(law, SimilarParameters(text=text, amount=1.0, exclude_self=False)))[0] == "dec-2"
    assert similar(law, SimilarParameters(text="le loyer"), "dec-3.txt").left_out == {"own": 1}


def test_only_earlier_documents(law):
    page = similar(law, SimilarParameters(document="dec-1", amount=1.0, before_own_date=True))
    assert set(ids(page)) == {"dec-2"}
    assert page.left_out["undated"] > 0
    assert set(ids(similar(law, SimilarParameters(text=TEXT, amount=1.0, before="2019-01-01")))) == {"dec-2"}


def test_terms_are_chosen_added_dropped_and_named(law):
    base = similar(law, SimilarParameters(text=TEXT, amount=1.0, terms_only=True))
    assert (base.results, base.distinct) == ([], len(base.terms))
    assert base.terms == sorted(base.terms, key=lambda term: -term.informativeness)
    fewer = similar(law, SimilarParameters(text=TEXT, amount=2, terms_only=True))
    assert (len(fewer.terms), fewer.distinct) == (2, base.distinct)
    edited = similar(
        law, SimilarParameters(text=TEXT, amount=1.0, added=("préavis=3",), dropped=("loyer", "xyzzy"), terms_only=True)
    )
    assert {term.term: term.weight for term in edited.terms}["preav"] == 3.0
    assert words(base) - words(edited) == {"loyer"}
    assert edited.notes == ["'xyzzy' was not among the terms; there was nothing to drop"]
    only = similar(law, SimilarParameters(text=TEXT, terms=("préavis", "plugh")))
    assert set(ids(only)) == {"travail-L1", "travail-L2"}
    assert only.notes == ["no document holds 'plugh'; it adds nothing"]


def test_a_profile_keeps_its_choice_of_terms_and_can_be_edited(law):
    page = similar(law, SimilarParameters(text=TEXT, profile="terms"))
    assert (page.profile, len(page.terms)) == ("terms", page.distinct)
    edited = similar(law, SimilarParameters(text=TEXT, profile="terms", dropped=("loyer",)))
    assert words(page) - words(edited) == {"loyer"}
    assert len(similar(law, SimilarParameters(text=TEXT, profile="terms", amount=2, terms_only=True)).terms) == 2


def test_a_profile_without_a_choice_of_terms_has_none_to_edit(law):
    page = similar(law, SimilarParameters(text=TEXT, profile="hybrid"))
    assert (page.terms, page.results[0].sources.keys()) == ([], {"bm25", "dense"})
    for edited in ({"dropped": ["loyer"]}, {"terms_only": True}):
        with pytest.raises(ConfigError, match="'hybrid' selects no terms"):
            similar(law, SimilarParameters(text=TEXT, profile="hybrid", **edited))
    assert similar(law, SimilarParameters(text=TEXT, profile="dense")).results  # nothing lexical to take the snippet from


def test_citations_are_hidden_on_request(law):
    terms = words(similar(law, SimilarParameters(text=TEXT, amount=1.0, terms_only=True)))
    assert any("60/22" in word for word in terms)
    assert not any(
        "60/22" in word for word in words(similar(law, SimilarParameters(text=TEXT, amount=1.0, mask=True, terms_only=True)))
    )


def test_filters_and_number_of_results(law):
    page = similar(law, SimilarParameters(text=TEXT, amount=1.0, filters=("kind=decision",), k=2))
    assert len(page.results) == 2
    assert {result.kind for result in page.results} == {"decision"}


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"text": "x", "document": "dec-1"}, ConfigError, "either a text or the id"),
        ({"text": " "}, ConfigError, "either a text or the id"),
        ({"text": "x", "k": 101}, ConfigError, "k must be at most 100"),
        ({"document": "nowhere"}, NotFoundError, "no document 'nowhere'"),
        ({"text": "x", "before": "soon"}, ConfigError, "before: a day is written"),
        ({"text": "x", "before_own_date": True}, ConfigError, "a file has no date"),
        ({"document": "dec-4", "before_own_date": True}, DataError, "'dec-4' has no date"),
        ({"text": "x", "added": ("=2",)}, ConfigError, "a term is written"),
        ({"text": "x", "amount": -1.0}, ConfigError, "amount must be above 0"),
        ({"text": "x", "profile": "none"}, NotFoundError, "no profile 'none'"),
        ({"text": "x", "filters": ("nonsense",)}, ConfigError, "a filter is written"),
    ],
)
def test_what_cannot_be_is_said(law, values, error, words):
    with pytest.raises(error, match=words):
        similar(law, page_parameters(SimilarParameters, values))


def test_a_text_of_no_known_word_finds_nothing(law):
    page = similar(law, SimilarParameters(text="xyzzy plugh \x00 ￿"))
    assert (page.results, page.terms, page.distinct) == ([], [], 0)


def test_a_text_that_is_too_long_is_refused(law):
    with pytest.raises(TooLargeError, match="the text has 2,000,001 characters, 2,000,000 are allowed"):
        similar(law, SimilarParameters(text="a" * 2_000_001))


def test_sentences_are_counted_while_their_channel_grows(tmp_path):
    def coverage():
        with IndexRegistry.open([IndexPlace.of(tmp_path / "cases")]) as registry, registry.index().lease() as version:
            return sentence_coverage(version)

    leases = [Document(f"lease-{number}", text="The tenant owes the rent.") for number in range(3)]
    with IndexFolder.create(tmp_path / "cases", documents=leases) as index:
        assert coverage() == SentenceCoverage(channel=False, compared=0, documents=3)
        index.channels.make("sentences", plan_channel("sentences", ChannelPlan("fr-legal-dense")))
        assert coverage() == SentenceCoverage(channel=True, compared=0, documents=3)
        fill_channel(index, "sentences")
        assert coverage().complete
        index.add([Document("lease-3", text="The landlord keeps the deposit.")])
        assert coverage() == SentenceCoverage(channel=True, compared=3, documents=4)
        index.delete(["lease-0", "lease-3"])
        assert coverage() == SentenceCoverage(channel=True, compared=2, documents=2)
        assert coverage().complete
