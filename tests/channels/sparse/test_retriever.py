"""Learned sparse retrieval against its definition in numpy: weights as stored, cosine, explanations, parts and changes."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.channels.sparse.retriever import SparseRetriever
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.encode.encoder import Side
from lexfuse.encode.passage_plan import whole_text
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.errors import ConfigError, DataError
from lexfuse.search.results import ResultBuilder, find_documents
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.storage.index_folder import IndexFolder

_FILE = Path(__file__).parents[2] / "references" / "tiny.py"
specification = importlib.util.spec_from_file_location("tiny", _FILE)
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

WORDS = [word for word in tiny.WORDS if not word.startswith("#")]
QUERIES = Queries.of(
    Query(f"q{number}", text)
    for number, text in enumerate(["rompre le contrat de travail", "the lease ended", "congé", "", "東京 zzz"])
)
FRENCH = {
    "a": "Le salarié démissionnaire respecte un préavis dont la durée est fixée par la loi.",
    "b": "Le bailleur délivre au locataire un logement décent.",
    "c": "La vitesse des véhicules est limitée en agglomération.",
}


def hits_of(retriever, query, k):
    return ResultBuilder([retriever], query).answers(find_documents(retriever, query, k))


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Makes model folders, each once; their graphs are kept for all tests."""
    root, made = tmp_path_factory.mktemp("models"), {}

    def folder(family="bert"):
        if family not in made:
            made[family] = tiny.folder(root / family, family, head="mlm")
        return made[family]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXFUSE_CACHE", str(root / "cache"))
        yield folder


@pytest.fixture(scope="module")
def french(tmp_path_factory):
    """A small index with the shipped model."""
    documents = [Document(id, text=text, language="fr") for id, text in FRENCH.items()]
    with made(tmp_path_factory.mktemp("french") / "i", documents, "fr-legal-splade") as index, index.snapshot() as snapshot:
        yield open_retriever(snapshot, "splade", threads=1)


def library(count=24):
    """Documents of random words: one is empty, one exceeds the window of the model several times, two say the same."""
    chance = np.random.default_rng(0)
    texts = [" ".join(chance.choice(WORDS, size=chance.integers(3, 50))) for _ in range(count)]
    texts[5], texts[7], texts[9] = "", " ".join(chance.choice(WORDS, size=400)), texts[4]
    return [Document(f"d{number:02}", text=text, headings=("livre un",)) for number, text in enumerate(texts)]


def made(folder, documents, model, **choices):
    index = IndexFolder.create(folder, documents=documents)
    index.channels.make("splade", plan_channel("splade", ChannelPlan(str(model), **choices), threads=1))
    fill_channel(index, "splade", threads=1)
    return index


def opened(index, cosine=False):
    retriever = open_retriever(index.snapshot(), "splade", threads=1)
    return SparseRetriever(retriever.snapshot, encoder=retriever.encoder, cosine=cosine)


def stored(vector, size):
    """A vector as the index keeps it: whole numbers of 1/255 of the largest weight, at least one."""
    terms, weights = vector
    row = np.zeros(size)
    step = float(np.float32(weights.max(initial=0.0) / 255)) or 1.0
    row[terms] = np.clip(np.rint(weights.astype(np.float64) / step), 1, 255) * step
    return row


def by_definition(encoder, documents, query, *, cosine=False, headings=True):
    """Document to dot product (FUSE eq. 5), for the documents that share a term with the query."""
    terms, weights = encoder.encode([query], Side.QUERY)[0]
    vector = np.zeros(len(encoder.terms))
    vector[terms] = weights
    scores = {}
    for document in documents:
        row = stored(encoder.encode([whole_text(document, headings)], Side.PASSAGE)[0], len(encoder.terms))
        product = row @ vector
        scores[document.id] = product / np.linalg.norm(row) / np.linalg.norm(vector) if cosine else product
    return {id: score for id, score in scores.items() if score > 0}


def check(run, expected, *, tolerance=1e-4):
    for query, scores in expected.items():
        hits = run.hits(query)
        assert {hit.doc for hit in hits} == scores.keys()
        assert [hit.doc for hit in hits] == [hit.doc for hit in sorted(hits, key=lambda hit: (-hit.score, hit.doc))]
        np.testing.assert_allclose([hit.score for hit in hits], [scores[hit.doc] for hit in hits], rtol=tolerance)


@pytest.mark.parametrize("cosine", [False, True])
@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_every_family_follows_the_definition(tmp_path, models, family, cosine):
    documents, model = library(12), models(family)
    with made(tmp_path / "i", documents, model) as index:
        encoder, run = SparseEncoder.load(model, threads=1), opened(index, cosine).retrieve(QUERIES, 100)
        # A weight just between two steps may be rounded the other way when its text is encoded in other company.
        check(run, {one.id: by_definition(encoder, documents, one.text, cosine=cosine) for one in QUERIES}, tolerance=1e-3)
        assert len(run) == 12 * len(QUERIES)


def test_the_cosine_lies_between_0_and_1_and_is_1_for_the_same_text(tmp_path, models, french):
    documents = library()
    with made(tmp_path / "i", documents, models(), headings=False) as index:
        splade = opened(index, cosine=True)
        assert (splade.bounds.low, splade.bounds.high) == (0.0, 1.0)
        assert opened(index).bounds.high == np.inf
        run = splade.retrieve(Queries.of(Query(one.id, one.text) for one in documents if one.text), 100)
        assert 0 < run.score.min() <= run.score.max() <= 1 + 1e-6
        for query in run.queries:
            assert run.as_dict()[query][query] == pytest.approx(1, abs=1e-4)
    shipped = SparseRetriever(french.snapshot, encoder=french.encoder, cosine=True)
    scores = shipped.retrieve(Queries.of([Query("q", FRENCH["b"])]), 3).as_dict()["q"]
    assert scores["b"] == pytest.approx(1, abs=1e-4)
    assert all(0 <= score < 0.9 for id, score in scores.items() if id != "b")


@pytest.mark.parametrize("cosine", [False, True])
def test_score_has_the_bits_of_retrieve_and_ten_are_the_first_of_a_hundred(tmp_path, models, cosine):
    with made(tmp_path / "i", library(120), models()) as index:
        splade = opened(index, cosine)
        hundred, ten = splade.retrieve(QUERIES, 100), splade.retrieve(QUERIES, 10)
        assert splade.score(QUERIES, hundred).tobytes() == hundred.score.tobytes()
        for query in QUERIES.ids:
            assert len(hundred.hits(query)) == 100
            assert ten.hits(query) == hundred.hits(query)[:10]


def test_equal_scores_are_ranked_by_id(tmp_path, models):
    documents = [Document(id, text="la loi") for id in ("d", "b", "e", "a", "c")]
    with made(tmp_path / "i", documents, models()) as index:
        found = opened(index).retrieve(Queries.of([Query("q", "la loi")]), 4).hits("q")
        assert [hit.doc for hit in found] == ["a", "b", "c", "d"]
        assert len({hit.score for hit in found}) == 1


def test_filters(tmp_path, models):
    with made(tmp_path / "i", library(), models()) as index:
        index.delete(["d02"])
        splade = opened(index)
        everything = splade.retrieve(QUERIES, 100)
        assert len(everything.hits("q0")) == 23
        within = np.array([int(id[1:]) % 3 == 0 for id in splade.snapshot.ids])
        kept = splade.retrieve(QUERIES, 4, within=within)
        for query in QUERIES.ids:
            expected = [(hit.doc, hit.score) for hit in everything.hits(query) if int(hit.doc[1:]) % 3 == 0]
            assert [(hit.doc, hit.score) for hit in kept.hits(query)] == expected[:4]
        with pytest.raises(ConfigError, match="one flag for each of the 23 documents"):
            splade.retrieve(QUERIES, 5, within=np.ones(2, dtype=bool))


def test_documents_that_are_not_encoded_yet(tmp_path, models):
    with made(tmp_path / "i", library()[:8], models()) as index:
        index.add([Document("new", text="la loi"), Document("d03", text="une autre loi")], update=True)
        splade = opened(index)
        pairs = Run.of("pairs", {"q0": {"new": 4.0, "d01": 3.0, "d03": 2.0, "d05": 1.0}})
        assert np.isnan(splade.score(QUERIES, pairs)).tolist() == [True, False, True, False]
        assert {hit.doc for hit in splade.retrieve(QUERIES, 100).hits("q0")} == {f"d0{n}" for n in range(8)} - {"d03"}
        assert {part.contribution for part in splade.evidence(QUERIES.query("q0"), ["new"])[0].terms} == {0.0}
        fill_channel(index, "splade", threads=1)
        assert not np.isnan(opened(index).score(QUERIES, pairs)).any()


@pytest.mark.parametrize("cosine", [False, True])
def test_changes_end_where_an_index_built_at_once_is(tmp_path, models, cosine):
    documents = library()
    with made(tmp_path / "once", documents, models()) as once:
        expected = opened(once, cosine).retrieve(QUERIES, 100).as_dict()
    before = [Document(one.id, text="an older text of " + one.id) for one in documents[8:12]] + [Document("x", text="la loi")]
    with made(tmp_path / "i", [*documents[:8], *before], models()) as index:
        index.delete(["x", "d03"])
        index.add(documents[12:16])
        fill_channel(index, "splade", threads=1)
        index.add([documents[3], *documents[8:12]], update=True)
        index.add(documents[16:])
        assert fill_channel(index, "splade", threads=1) == 13
        with index.snapshot() as snapshot:
            assert len(snapshot.channel("splade").parts) == 3
        several = opened(index, cosine).retrieve(QUERIES, 100)
        for query, ranking in expected.items():
            ours = several.as_dict()[query]
            assert ours.keys() == ranking.keys()
            np.testing.assert_allclose([ours[doc] for doc in ranking], list(ranking.values()), rtol=1e-3)
        index.merge()
        with index.snapshot() as snapshot:
            assert len(snapshot.channel("splade").parts) == 1
        merged = opened(index, cosine).retrieve(QUERIES, 100)
        assert merged.as_dict() == several.as_dict()  # merging changes no bit
        assert opened(index, cosine).score(QUERIES, several).tobytes() == several.score.tobytes()


@pytest.mark.parametrize("cosine", [False, True])
def test_an_explanation_shows_the_activated_terms_and_adds_up(tmp_path, models, cosine):
    documents = library()
    with made(tmp_path / "i", documents, models()) as index:
        splade = opened(index, cosine)
        run = splade.retrieve(QUERIES, 100)
        for query in QUERIES:
            terms, weights = splade.encoder.encode([query.text], Side.QUERY)[0]
            for hit in run.hits(query.id)[:5]:
                parts = splade.evidence(query, [hit.doc])[0].terms
                assert sum(part.contribution for part in parts) == pytest.approx(hit.score, rel=1e-5)
                assert [part.contribution for part in parts] == sorted((part.contribution for part in parts), reverse=True)
                assert {part.term for part in parts} <= {splade.encoder.terms[int(term)] for term in terms}
                if not cosine:
                    assert all(part.in_query * part.in_document == pytest.approx(part.contribution) for part in parts)
                    assert max(part.in_query for part in parts) == pytest.approx(float(weights.max()))


def test_the_shipped_model_activates_terms_that_the_question_does_not_hold(french):
    question = Query("q", "quitter son emploi", "fr")
    run = french.retrieve(Queries.of([question]), 3)
    assert run.hits("q")[0].doc == "a"
    parts = {part.term: part for part in french.evidence(question, ["a"])[0].terms if part.contribution}
    assert set(parts) - set(question.text.split())
    assert sum(part.contribution for part in parts.values()) == pytest.approx(run.hits("q")[0].score, rel=1e-5)
    [best, *_] = hits_of(french, question, 3)
    assert (best.document.id, best.found) == ("a", "splade")
    assert {part.term for part in best.parts if part.contribution} == set(parts)
    check(run, {"q": by_definition(french.encoder, [Document(id, text=text) for id, text in FRENCH.items()], question.text)},
          tolerance=2e-3)  # fmt: skip


def test_terms_can_be_limited(tmp_path, models):
    with made(tmp_path / "i", library(), models(), terms=4) as index:
        splade = opened(index)
        assert splade.encoder.most_terms == 4
        assert len(splade.postings.docs) == 4 * 24
        assert np.diff(splade.read(QUERIES).starts).max() <= 4


def test_two_towers_match_terms_by_their_spelling(tmp_path, models):
    """The tower of queries has other weights and numbers the vocabulary in another way."""
    queries, documents = models("mpnet"), library(12)
    with made(tmp_path / "i", documents, models(), query_model=str(queries)) as index:
        splade = opened(index)
        assert splade.encoder.fingerprint == SparseEncoder.load(queries, threads=1).fingerprint
        other = SparseEncoder.load(models(), threads=1)
        rows = {one.id: stored(other.encode([whole_text(one)], Side.PASSAGE)[0], len(other.terms)) for one in documents}
        expected = {query.id: dict.fromkeys(rows, 0.0) for query in QUERIES}
        for query in QUERIES:
            for term, weight in zip(*splade.encoder.encode([query.text], Side.QUERY)[0], strict=True):
                if (place := other.terms.find(splade.encoder.terms[int(term)])) is not None:
                    for id, row in rows.items():
                        expected[query.id][id] += float(weight) * row[place]
        check(splade.retrieve(QUERIES, 100), expected, tolerance=1e-3)


def test_a_query_that_shares_no_term_with_any_document(tmp_path, models):
    encoder = SparseEncoder.load(models(), threads=1, most_terms=1)
    heaviest = {word: int(terms[0]) for word in WORDS for terms, _ in encoder.encode([word], Side.QUERY)}
    one, other = next((a, b) for a in WORDS for b in WORDS if heaviest[a] != heaviest[b])
    with made(tmp_path / "i", [Document("a", text=one), Document("b", text=one)], models(), terms=1) as index:
        splade, queries = opened(index), Queries.of([Query("1", other), Query("2", one)])
        run = splade.retrieve(queries, 5)
        assert [len(run.hits(id)) for id in ("1", "2")] == [0, 2]
        assert splade.score(queries, Run.of("x", {"1": {"a": 1.0}})).tolist() == [0.0]
        assert splade.evidence(queries.query("1"), ["a"])[0].terms == ()
        cosine = opened(index, cosine=True).retrieve(queries, 5)
        assert [hit.score for hit in cosine.hits("2")] == pytest.approx([1.0, 1.0])


def test_a_model_that_was_changed_after_indexing_is_refused(tmp_path, models):
    model = tiny.folder(tmp_path / "m", head="mlm")
    with made(tmp_path / "i", library(10), model) as index:
        weights = tiny.tensors("bert", tiny.tokenizer("bert").get_vocab_size(with_added_tokens=True), "mlm")
        weights["cls.predictions.bias"][0] += 1
        tiny.safetensors(model / "model.safetensors", weights)
        with pytest.raises(DataError, match="made by another version of the model"):
            opened(index)


def test_an_empty_index_and_one_with_nothing_but_deleted_documents(tmp_path, models):
    with made(tmp_path / "i", [], models()) as index:
        assert len(opened(index).retrieve(QUERIES, 10)) == 0
        index.add([Document("a", text="la loi"), Document("b")])
        assert np.isnan(opened(index).score(QUERIES, Run.of("x", {"q0": {"a": 1.0}}))).all()
        fill_channel(index, "splade", threads=1)
        assert len(opened(index).retrieve(QUERIES, 10)) == 2 * len(QUERIES)
        assert len(opened(index).retrieve(Queries.of([]), 10)) == 0
        index.delete(["a", "b"])
        for cosine in (False, True):
            assert len(opened(index, cosine).retrieve(QUERIES, 10)) == 0
        index.merge()
        for cosine in (False, True):
            assert len(opened(index, cosine).retrieve(QUERIES, 10)) == 0


def test_a_text_of_a_hundred_thousand_words(tmp_path, models):
    chance = np.random.default_rng(1)
    text = " ".join(chance.choice(WORDS, size=100_000))
    with made(tmp_path / "i", [Document("long", text=text), Document("b", text="congé")], models()) as index:
        run = opened(index).retrieve(QUERIES, 10)
        assert [hit.doc for hit in run.hits("q0")] == ["long", "b"]  # every term's maximum over all windows


def test_vectors_are_compared_as_the_model_was_trained(tmp_path):
    """By the dot product unless its folder says cosine; what is asked for goes before it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
        for said, by_cosine in ((None, False), ("dot", False), ("cosine", True)):
            model = tiny.folder(tmp_path / f"{said}", head="mlm")
            if said:
                (model / "config_sentence_transformers.json").write_text(f'{{"similarity_fn_name": "{said}"}}')
            with made(tmp_path / f"{said}.index", library(12), model) as index, index.snapshot() as snapshot:
                found = {asked: open_retriever(snapshot, "splade", cosine=asked, threads=1) for asked in (None, True, False)}
                assert {asked: one.cosine for asked, one in found.items()} == {None: by_cosine, True: True, False: False}
                chosen = SearchSpec.of("splade").open(snapshot)
                assert chosen.cosine is by_cosine
                assert SearchSpec.of("splade", cosine=not by_cosine).open(snapshot).cosine is not by_cosine
