"""RPRS against its equations, written out slowly here, on random and degenerate sentences; as a reranker of a real index."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.explanation import Evidence
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.channels.query_context import query_context
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.rerank.nearest_sentences import nearest, nearest_at
from lexfuse.rerank.reranker import Rescore
from lexfuse.rerank.rprs import Ablation, Rprs, RprsFormula
from lexfuse.rerank.sentence_vectors import CandidateSentences, unit_length
from lexfuse.search.pipeline import RoutedRetriever
from lexfuse.storage.index_folder import IndexFolder


def ranked_sentences(query, documents, ids):
    """r(q_s, S_TKq): all candidate sentences, as (document, place), by falling cosine."""
    cosines = {}
    for number, sentences in enumerate(documents):
        for place, sentence in enumerate(sentences):
            products = [float(one) * float(other) for one, other in zip(query, sentence, strict=True)]
            cosines[number, place] = float(np.float32(math.fsum(products)))
    return sorted(cosines, key=lambda at: (-cosines[at], ids[at[0]], at[1]))


def by_the_equations(queries, documents, ids, formula, average):
    """QP, DP and the score of every candidate, sentence by sentence, as sections 3.2, 3.3 and 7.1 of the paper write them."""
    lists = [set(ranked_sentences(query, documents, ids)[: formula.n]) for query in queries]  # R_n
    found = []
    for number, sentences in enumerate(documents):
        own = {(number, place) for place in range(len(sentences))}  # S_d
        in_query = [len(own & r_n) for r_n in lists]
        in_document = [sum(len({sentence} & r_n) for r_n in lists) for sentence in sorted(own)]
        penalty = formula.k1 * ((1 - formula.b) + formula.b * len(own) / average)
        if not own:
            found.append((math.nan, math.nan, math.nan))
            continue
        sums = []
        for counts in (in_query, in_document):
            if formula.ablation is Ablation.NO_PARAMETERS:
                sums.append(sum(counts) / sum(counts) if sum(counts) else 0.0)
            elif formula.frequency:
                sums.append(math.fsum(count / (count + penalty) for count in counts if count))
            elif formula.ablation is Ablation.NO_MINIMUM:
                sums.append(sum(counts))
            else:
                sums.append(sum(min(1, count) for count in counts))
        qp, dp = sums[0] / len(queries), sums[1] / len(own)
        score = {Ablation.NO_QUERY_PROPORTION: dp, Ablation.NO_DOCUMENT_PROPORTION: qp}.get(formula.ablation, qp * dp)
        found.append((qp, dp, score))
    return np.array(found).reshape(-1, 3)


def check(queries, documents, formula, average=3.5, seed=0):
    ids = np.random.default_rng(seed).permutation(len(documents)).astype(np.int32)
    candidates = CandidateSentences.of(documents, order=ids)
    split = np.split(candidates.vectors, candidates.starts[1:-1])
    found = nearest(unit_length(queries), candidates, formula.n)
    every = formula.proportions(found, candidates, average)
    expected = by_the_equations(unit_length(queries).tolist(), [rows.tolist() for rows in split], ids.tolist(), formula, average)
    np.testing.assert_allclose(every.query, expected[:, 0], rtol=1e-13)
    np.testing.assert_allclose(every.document, expected[:, 1], rtol=1e-13)
    np.testing.assert_allclose(formula.scores(every), expected[:, 2].astype(np.float32), rtol=2e-7)
    return expected


FORMULAS = [
    RprsFormula(3, frequency=False),
    RprsFormula(4, 2.8, 1.0),
    RprsFormula(2, 1.2, 0.4),
    RprsFormula(5, 0.0, 0.7),
    RprsFormula(1, 3.0, 0.0),
    RprsFormula(3, 1.5, 0.5, ablation=Ablation.NO_QUERY_PROPORTION),
    RprsFormula(3, 1.5, 0.5, ablation=Ablation.NO_DOCUMENT_PROPORTION),
    RprsFormula(3, frequency=False, ablation=Ablation.NO_QUERY_PROPORTION),
    RprsFormula(3, frequency=False, ablation=Ablation.NO_DOCUMENT_PROPORTION),
    RprsFormula(3, ablation=Ablation.NO_PARAMETERS),
    RprsFormula(3, frequency=False, ablation=Ablation.NO_MINIMUM),
]


def named(formula):
    return f"n{formula.n}-k{formula.k1:g}-b{formula.b:g}-{formula.frequency}-{formula.ablation.value}"


@pytest.mark.parametrize("formula", FORMULAS, ids=named)
@pytest.mark.parametrize("dimension", [3, 40])
def test_the_equations_on_random_sentences(formula, dimension):
    chance = np.random.default_rng(formula.n)
    documents = [chance.normal(size=(int(size), dimension)).astype(np.float32) for size in chance.integers(1, 9, 12)]
    expected = check(chance.normal(size=(17, dimension)).astype(np.float32), documents, formula)
    assert len(np.unique(expected[:, 2])) > 2


@pytest.mark.parametrize("formula", FORMULAS, ids=named)
@given(data=st.data())
@settings(max_examples=15)
def test_the_equations_where_many_sentences_are_equal(formula, data):
    rows = st.lists(st.sampled_from([(1, 0), (0, 1), (-1, 0), (1, 1), (0, 0)]), max_size=4)
    documents = [np.array(some, np.float32).reshape(-1, 2) for some in data.draw(st.lists(rows, min_size=1, max_size=5))]
    queries = np.array(data.draw(rows.filter(len)), np.float32)
    if sum(map(len, documents)):
        check(queries, documents, formula, seed=data.draw(st.integers(0, 9)))


def test_no_saturation_is_no_frequency_and_length_does_not_matter_then():
    chance = np.random.default_rng(1)
    candidates = CandidateSentences.of([chance.normal(size=(size, 8)).astype(np.float32) for size in (2, 5, 9)])
    found = nearest(unit_length(chance.normal(size=(6, 8)).astype(np.float32)), candidates, 4)
    plain = RprsFormula(4, frequency=False).proportions(found, candidates, 4.0)
    for b in (0.0, 0.5, 1.0):
        saturated = RprsFormula(4, k1=0.0, b=b).proportions(found, candidates, 4.0)
        assert saturated.query.tolist() == plain.query.tolist()
        assert saturated.document.tolist() == plain.document.tolist()


def test_one_pass_gives_the_lists_of_every_depth_and_shorter_lists_are_their_beginnings():
    chance = np.random.default_rng(2)
    documents = [chance.integers(-2, 3, size=(size, 5)).astype(np.float32) for size in chance.integers(0, 6, 30)]
    order, queries = chance.permutation(30).astype(np.int32), unit_length(chance.normal(size=(150, 5)).astype(np.float32))
    found = nearest_at(queries, CandidateSentences.of(documents, order=order), 7, [3, 10, 30, 99])
    for depth, one in zip([3, 10, 30, 99], found, strict=True):
        alone = nearest(queries, CandidateSentences.of(documents[:depth], order=order[:depth]), 7)
        assert one.rows.tolist() == alone.rows.tolist()
        assert one.cosines.tolist() == alone.cosines.tolist()
        short = nearest(queries, CandidateSentences.of(documents[:depth], order=order[:depth]), 2)
        assert short.rows.tolist() == one.rows[:, :2].tolist()


def test_lists_are_exact_in_large_blocks():
    chance = np.random.default_rng(3)
    rows = chance.normal(size=(9000, 33)).astype(np.float32)
    rows[5000:5200] = rows[7]  # the same sentence again and again, in other blocks
    queries = unit_length(np.concatenate([rows[7:8], chance.normal(size=(70, 33)).astype(np.float32)]))
    order = np.arange(30, dtype=np.int32)[::-1].copy()
    candidates = CandidateSentences.of(np.split(rows, 30), order=order)
    found = nearest(queries, candidates, 10)
    exact = (queries.astype(np.float64) @ candidates.vectors.astype(np.float64).T).astype(np.float32)
    for query, row in enumerate(exact):
        assert sorted(found.cosines[query].tolist(), reverse=True) == pytest.approx(np.sort(row)[::-1][:10].tolist(), abs=1e-7)
    assert found.rows[0].tolist() == list(range(5100, 5110))  # of the document with the lowest id that has it


def test_what_cannot_be_asked():
    candidates = CandidateSentences.of([np.eye(2, dtype=np.float32)])
    found = nearest(np.eye(2, dtype=np.float32), candidates, 2)
    with pytest.raises(ConfigError, match="lists of 2 sentences have no first 3"):
        RprsFormula(3).proportions(found, candidates, 2.0)
    with pytest.raises(ConfigError, match="n must be at least 1, got 0"):
        nearest(np.eye(2, dtype=np.float32), candidates, 0)
    with pytest.raises(ConfigError, match="depths must ascend"):
        nearest_at(np.eye(2, dtype=np.float32), candidates, 1, [5, 3])
    with pytest.raises(ConfigError, match="have 3 numbers, candidates 2"):
        nearest(np.eye(3, dtype=np.float32), candidates, 1)
    for wrong, told in [
        ({"n": 0}, "n must be"),
        ({"k1": -1.0}, "k1 must be"),
        ({"k1": math.nan}, "k1 must be"),
        ({"b": 1.5}, "b must be"),
        ({"frequency": False, "ablation": Ablation.NO_PARAMETERS}, "no parameters k1 and b"),
        ({"ablation": Ablation.NO_MINIMUM}, "no minimum to leave out"),
    ]:
        with pytest.raises(ConfigError, match=told):
            RprsFormula(**wrong)
        with pytest.raises(ConfigError, match=told):
            Rprs(None, **wrong)
    with pytest.raises(ConfigError, match="depth of reranking must be at least 1, got 0"):
        Rprs(None, depth=0)


WORDS = ["loi", "droit", "juge", "contrat", "bail", "congé", "salaire", "préavis"]


def judgment(chance, sentences):
    return " ".join(f"Le {' '.join(chance.choice(WORDS, size=chance.integers(2, 9)))} est dû." for _ in range(sentences))


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    """An index of judgments with a channel of sentences, read by small word vectors; the last document is not encoded."""
    folder, chance = tmp_path_factory.mktemp("rprs"), np.random.default_rng(0)
    rows = [f"{word} {' '.join(f'{value:.3f}' for value in chance.normal(size=6))}" for word in WORDS]
    (folder / "words.vec").write_text("\n".join([f"{len(WORDS)} 6", *rows]) + "\n")
    documents = [Document(f"d{number:02}", text=judgment(chance, number % 7 + 1), language="fr") for number in range(30)]
    with IndexFolder.create(folder / "i", documents=documents) as index:
        plan = ChannelPlan(str(folder / "words.vec"), storage="fp32")
        index.channels.make("sentences", plan_channel("sentences", plan))
        fill_channel(index, "sentences")
        index.add([Document("late", text="loi droit juge contrat bail", language="fr")])
        with index.snapshot() as snapshot:
            yield snapshot


CHANCE = np.random.default_rng(9)
QUERIES = Queries.of([Query("q1", judgment(CHANCE, 6), "fr"), Query("q2", judgment(CHANCE, 1)), Query("q3", " \n", "fr")])


def expected_scores(rprs, query, docs):
    documents = [rprs.reader.candidates(np.array([rprs.sentences.snapshot.ids.ordinal(doc)])).vectors for doc in docs]
    sentences = rprs.reader.query(query).vectors
    order = sorted(docs)
    found = by_the_equations(
        sentences.tolist(), [rows.tolist() for rows in documents], [order.index(doc) for doc in docs], rprs.formula,
        rprs.reader.average_length,
    )  # fmt: skip
    return dict(zip(docs, found[:, 2].tolist(), strict=True))


def test_the_first_documents_of_a_ranking_by_rprs(snapshot):
    rprs = Rprs(open_retriever(snapshot, "sentences"), n=3, k1=1.0, b=0.5, depth=12)
    assert rprs.reader.average_length == np.mean([number % 7 + 1 for number in range(30)])
    before = BM25(snapshot).retrieve(QUERIES, 40)
    found = (BM25(snapshot) >> rprs).retrieve(QUERIES, 40)
    for query in ("q1", "q2"):
        old = [hit.doc for hit in before.hits(query)]
        expected = expected_scores(rprs, QUERIES.query(query), [doc for doc in old[:12] if doc != "late"])
        hits = found.hits(query)
        scores = {hit.doc: hit.parts["rprs"] for hit in hits if "rprs" in hit.parts}
        assert scores == pytest.approx(expected, rel=1e-6)
        head = sorted(expected, key=lambda doc: (-scores[doc], doc))
        assert [hit.doc for hit in hits] == head + [doc for doc in old if doc not in head]
    assert found.hits("q3") == []


def test_a_query_is_divided_as_the_documents_were(snapshot):
    rprs = Rprs(open_retriever(snapshot, "sentences"))
    long = " ".join(["loi"] * 60) + ". Le bail est dû."
    asked = rprs.reader.query(Query("q", long, "fr"))
    assert [len(span.of(long).split()) for span in asked.spans] == [25, 25, 10, 4]
    assert np.linalg.norm(asked.vectors, axis=1) == pytest.approx(1, abs=1e-6)


def test_a_query_without_words_leaves_the_ranking_as_it_is(snapshot):
    rprs = Rprs(open_retriever(snapshot, "sentences"), depth=5)
    run = BM25(snapshot).retrieve(QUERIES.select([0]), 8)
    found = rprs.rerank(Queries.of([Query("q1", "   ")]), run, depth=5)
    assert found.doc.tolist() == run.doc.tolist()


def test_an_explanation_tells_what_met(snapshot):
    rprs = Rprs(open_retriever(snapshot, "sentences"), n=3, depth=12)
    query = QUERIES.query("q1")
    hits = (BM25(snapshot) >> rprs).retrieve(QUERIES, 12).hits("q1")
    docs = [hit.doc for hit in BM25(snapshot).retrieve(QUERIES, 12).hits("q1")]
    seen = 0
    for hit, why in zip(hits, rprs.explanations(query, docs, [hit.doc for hit in hits]), strict=True):
        assert why.doc == hit.doc
        if hit.doc == "late":
            assert (why.score, why.query_proportion, why.meetings) == (None, None, ())
            continue
        assert why.score == hit.score
        assert why.query_proportion * why.document_proportion == pytest.approx(why.score)
        text = snapshot.document(hit.doc).text
        for meeting in why.meetings:
            assert meeting.query.of(query.text).endswith("dû.")
            assert meeting.doc.of(text).endswith("dû.")
        assert sum(pair.meetings for pair in why.paragraphs) == len(why.meetings)
        assert len(why.as_json()["meetings"]) == len(why.meetings)
        seen += len(why.meetings)
    assert seen == 6 * 3  # every list is shared out among the candidates
    with pytest.raises(NotFoundError, match="not among the 12 candidates"):
        rprs.explanations(query, docs, [docs[0], "nothing"])
    assert rprs.explanations(query, docs, []) == []
    [why] = rprs.explanations(QUERIES.query("q3"), docs, docs[:1])
    assert (why.score, why.meetings) == (None, ())


class Counted:
    """An encoder that counts the texts it is given."""

    def __init__(self, encoder):
        self.encoder, self.texts = encoder, 0

    def __getattr__(self, name):
        return getattr(self.encoder, name)

    def encode(self, texts, side, **others):
        self.texts += len(texts)
        return self.encoder.encode(texts, side, **others)


def alignments(pipeline, query, docs, within=None):
    every = pipeline.rerank_evidence(query, docs, within=within).get("rprs", [Evidence()] * len(docs))
    return {doc: one.alignment for doc, one in zip(docs, every, strict=True) if one.alignment}


def test_a_query_is_encoded_once_for_all_that_is_asked_of_it(snapshot):
    dense = open_retriever(snapshot, "sentences")
    counted = Counted(dense.encoder)
    rprs = Rprs(replace(dense, encoder=counted), n=3, depth=12)
    pipeline, query = BM25(snapshot) >> rprs, QUERIES.query("q1")
    with query_context():
        docs = [hit.doc for hit in pipeline.retrieve(Queries.of([query]), 5).hits("q1")]
        assert set(alignments(pipeline, query, docs)) == set(docs)
        assert counted.texts == 6
        assert len(rprs.reader.query(QUERIES.query("q2"))) == 1  # another query is read anew
        assert len(rprs.reader.query(query)) == 6
        assert counted.texts == 6 + 1
    told = []
    assert len(rprs.reader.query(QUERIES.query("q2"), progress=told.append)) == len(rprs.reader.divided(QUERIES.query("q2")))
    assert told[-1] == 1


def test_what_was_compared_is_found_wherever_rprs_stands(snapshot):
    dense = open_retriever(snapshot, "sentences")
    rprs, other, query = Rprs(dense, n=3, depth=12), Rescore(TfIdf(snapshot), depth=5), QUERIES.query("q1")
    first = BM25(snapshot)
    docs = [hit.doc for hit in first.retrieve(QUERIES, 20).hits("q1")]
    expected = {why.doc: why for why in rprs.explanations(query, docs[:12], docs[:12])}
    assert len(docs) > 12
    for pipeline in (first >> rprs, (first >> rprs) >> other, RoutedRetriever(first >> rprs, {})):
        assert alignments(pipeline, query, docs) == expected
    assert alignments((first >> other) >> rprs, query, docs).keys() == expected.keys()
    assert alignments(first >> other, query, docs) == {}
    assert alignments(first, query, docs) == {}
    whys = ((first >> rprs) >> other).explain(query, docs[:1])
    assert whys[0].evidence["rprs"].alignment == expected[docs[0]]
    within = np.ones(len(snapshot), dtype=bool)
    within[snapshot.ids.ordinal(docs[0])] = False
    assert docs[0] not in alignments(first >> rprs, query, docs, within=within)
