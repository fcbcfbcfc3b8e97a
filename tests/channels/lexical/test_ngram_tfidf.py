"""n-gram TF-IDF beside a plain computation with dictionaries."""

import random
from collections import Counter
from math import log, sqrt

import numpy as np
import pytest

from lexfuse.channels.cost import costs_of
from lexfuse.channels.lexical.ngram_tfidf import NGRAM_CHANNELS, NgramChoice, NgramIdf, NgramTfIdf
from lexfuse.channels.registry import open_retriever
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.index_settings import IndexSettings

WORDS = ["appeal", "bond", "court", "duty", "equity", "fraud", "grant"]
BIGRAMS = NGRAM_CHANNELS["tfidf-bigram"]
SETTINGS = IndexSettings(fields={"title": 2.0, "text": 1.0}, stems=False)


def made(count, seed=0):
    generator = random.Random(seed)  # noqa: S311
    return [
        Document(
            f"d{number}",
            title=" ".join(generator.choices(WORDS, k=generator.randint(0, 3))),
            text=" ".join(generator.choices(WORDS, k=generator.randint(1, 12))),
            language="en",
        )
        for number in range(count)
    ]


@pytest.fixture
def index(tmp_path):
    index = IndexFolder.create(tmp_path / "index", SETTINGS)
    documents = made(30)
    index.add(documents[:20])
    index.add([*documents[20:], Document("gone", text="court court court duty duty bond")])
    index.delete(["gone"])
    return index


def grams(text, n, shortest=None):
    words = text.split()
    sizes = range(shortest or n, n + 1)
    return [" ".join(words[at : at + size]) for size in sizes for at in range(len(words) - size + 1)]


def smooth(documents, frequency):
    """The idf of scikit-learn's TfidfTransformer(smooth_idf=True), as its documentation states it."""
    return log((1 + documents) / (1 + frequency)) + 1


def plain(documents, frequency):
    return log(documents / frequency)


WEIGHTS = {NgramIdf.SMOOTH: smooth, NgramIdf.PLAIN: plain}


def plain_cosines(documents, query, n, top, shortest=1, weight=smooth):
    """The definition, without any of our code."""
    total, counts = Counter(), []
    for document in documents:
        title, text = grams(document.title, n, shortest), grams(document.text, n, shortest)
        total.update(title + text)
        counts.append(Counter({gram: 2.0 * count for gram, count in Counter(title).items()}))
        counts[-1].update({gram: float(count) for gram, count in Counter(text).items()})
    features = sorted(total, key=lambda gram: (-total[gram], gram))[:top]
    idf = {gram: weight(len(documents), sum(gram in count for count in counts)) for gram in features}

    def vector(count):
        weights = {gram: count[gram] * idf[gram] for gram in features if gram in count}
        length = sqrt(sum(weight**2 for weight in weights.values())) or 1.0
        return {gram: weight / length for gram, weight in weights.items()}

    asked = vector(Counter(grams(query, n, shortest)))
    cosines = (sum(weight * asked.get(gram, 0.0) for gram, weight in vector(count).items()) for count in counts)
    return {document.id: cosine for document, cosine in zip(documents, cosines, strict=True) if cosine > 0}


@pytest.mark.parametrize("idf", [NgramIdf.SMOOTH, NgramIdf.PLAIN])
@pytest.mark.parametrize(
    ("n", "shortest", "top"),
    [(1, 1, 5000), (1, 1, 4), (2, 1, 5000), (2, 1, 20), (2, 2, 5000), (2, 2, 10), (3, 1, 90), (3, 3, 5000)],
)
def test_scores_are_cosines_over_the_most_frequent_ngrams(index, n, shortest, top, idf):
    text = "duty court appeal bond court duty equity fraud"
    retriever = NgramTfIdf.fit(index.snapshot(), NgramChoice(n, shortest, top, idf))
    assert len(retriever.features.vocabulary) <= top
    queries = Queries.of([Query("q", text, "en")])
    run = retriever.retrieve(queries, 100)
    assert run.as_dict()["q"] == pytest.approx(plain_cosines(made(30), text, n, top, shortest, WEIGHTS[idf]), abs=1e-6)
    hits = run.hits("q")
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.doc))
    assert retriever.score(queries, run).tobytes() == run.score.tobytes()


def test_a_document_is_like_itself_and_never_more_than_that(index):
    snapshot = index.snapshot()
    retriever = NgramTfIdf.fit(snapshot)
    untitled = [document for document in made(30) if not document.title]
    assert untitled
    queries = Queries.of(Query(document.id, document.text, "en") for document in untitled)
    own = retriever.score(queries, Run.of("own", {document.id: {document.id: 0.0} for document in untitled}))
    assert own == pytest.approx(np.ones(len(untitled)), abs=1e-6)
    run = retriever.retrieve(queries, 1)
    assert run.score.max() <= retriever.bounds.high == 1.0
    assert len(run) == len(untitled)


def test_cosines_above_one_by_rounding_tie_by_id(tmp_path):
    """Texts with the same words in the same shares point in one direction; rounding must not order them."""
    index = IndexFolder.create(tmp_path / "index", SETTINGS)
    shares = " ".join(word for at, word in enumerate(WORDS) for _ in range(at + 1))
    index.add([Document(f"d{times}", text=f"{shares} " * times) for times in (1, 2, 3, 5, 6, 7)] + [Document("e", text="else")])
    retriever = NgramTfIdf.fit(index.snapshot())
    queries = Queries.of([Query("q", shares * 1, "en")])
    for k in (1, 2, 3, 10):
        run = retriever.retrieve(queries, k)
        hits = run.hits("q")
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.doc))
        assert run.score.max() <= 1.0
        assert retriever.score(queries, run).tobytes() == run.score.tobytes()
        assert hits == retriever.retrieve(queries, 10).hits("q")[:k]


def test_features_of_a_training_set_alone(index):
    snapshot = index.snapshot()
    train = np.array([id in ("d0", "d1", "d2") for id in snapshot.ids])
    retriever = NgramTfIdf.fit(snapshot, NgramChoice(2, 2, idf=NgramIdf.PLAIN), train=train)
    known = {gram for document in made(30)[:3] for text in (document.title, document.text) for gram in grams(text, 2)}
    assert set(retriever.features.vocabulary) == known
    counts = {gram: sum(gram in grams(d.title, 2) + grams(d.text, 2) for d in made(30)[:3]) for gram in known}
    idf = dict(zip(retriever.features.vocabulary, retriever.term_idf, strict=True))
    assert idf == pytest.approx({gram: log(3 / count) for gram, count in counts.items()})


def test_filters_apply_inside(index):
    snapshot = index.snapshot()
    retriever = NgramTfIdf.fit(snapshot)
    queries = Queries.of([Query("q", "court duty", "en")])
    within = np.array([int(id[1:]) % 3 == 0 for id in snapshot.ids])
    kept = [hit for hit in retriever.retrieve(queries, 100).hits("q") if int(hit.doc[1:]) % 3 == 0]
    found = retriever.retrieve(queries, 4, within=within).hits("q")
    assert [(hit.doc, hit.score) for hit in found] == [(hit.doc, hit.score) for hit in kept][:4]


def test_explanations_add_up(index):
    retriever = NgramTfIdf.fit(index.snapshot())
    query = Query("q", "court duty bond appeal court", "en")
    [best, *_] = retriever.retrieve(Queries.of([query]), 1).hits("q")
    [evidence] = retriever.evidence(query, [best.doc])
    assert sum(part.contribution for part in evidence.terms) == pytest.approx(best.score, abs=1e-6)


@pytest.mark.parametrize("text", ["", "the of", "court", "unknown words only"])
def test_queries_without_a_bigram_have_an_empty_ranking(index, text):
    assert len(NgramTfIdf.fit(index.snapshot(), BIGRAMS).retrieve(Queries.of([Query("q", text, "en")]), 10)) == 0


def test_an_empty_index_and_bad_parameters(tmp_path):
    snapshot = IndexFolder.create(tmp_path / "index").snapshot()
    assert len(NgramTfIdf.fit(snapshot).retrieve(Queries.of([Query("q", "law", "en")]), 10)) == 0
    for wrong in ({"n": 0}, {"top": 0}):
        with pytest.raises(ConfigError, match="at least 1"):
            NgramChoice(**wrong)
    for shortest in (0, 3):
        with pytest.raises(ConfigError, match="shortest must lie between 1 and n"):
            NgramChoice(n=2, shortest=shortest)


def test_stop_words_go_before_words_are_successive(tmp_path):
    """As in the published code of CJEU, whatever the index does with stop words; `None` does as the index does."""
    index = IndexFolder.create(tmp_path / "index", IndexSettings(stems=False, stop_words=False))
    index.add([Document("d", text="the duty of the court", language="en")])
    found = {
        stop_words: set(NgramTfIdf.fit(index.snapshot(), NgramChoice(stop_words=stop_words)).features.vocabulary)
        for stop_words in (True, None)
    }
    assert found[True] == {"duty", "court", "duty court"}
    assert found[None] == {"the", "duty", "of", "court", "the duty", "duty of", "of the", "the court"}


@pytest.mark.parametrize("name", NGRAM_CHANNELS)
def test_every_index_has_them_by_name(index, name):
    with index.snapshot() as snapshot:
        retriever = open_retriever(snapshot, name)
        assert (retriever.name, retriever.choice) == (name, NGRAM_CHANNELS[name])
        queries = Queries.of([Query("q", "court duty", "en")])
        profile = SearchSpec.of([name, "bm25"])
        assert SearchSpec.parse(profile.text()).open(snapshot).retrieve(queries, 5).hits("q")
        [cost] = costs_of(snapshot, queries, channels=[name])
        assert cost.vectors == len(retriever.postings.docs)
