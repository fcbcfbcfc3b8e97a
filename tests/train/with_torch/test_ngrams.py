"""n-gram TF-IDF against scikit-learn, which comes with the packages of training: the vectoriser that CJEU's code calls."""

import random

import numpy as np
import pytest

from lexfuse.channels.lexical.ngram_tfidf import NgramChoice, NgramTfIdf
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.text.analysis.analyser import stop_words

WORDS = ["appeal", "bond", "court", "duty", "equity", "fraud", "grant", "the", "of", "which", "is"]


def made(count, seed):
    generator = random.Random(seed)  # noqa: S311
    return [" ".join(generator.choices(WORDS, k=generator.randint(3, 40))) for _ in range(count)]


@pytest.mark.parametrize(("n", "top"), [(1, 5000), (2, 5000), (2, 7)])
def test_the_cosines_are_those_of_scikit_learn(tmp_path, n, top):
    text = pytest.importorskip("sklearn.feature_extraction.text")
    documents, queries = made(60, 0), made(20, 1)
    vectoriser = text.TfidfVectorizer(
        ngram_range=(1, n), tokenizer=str.split, token_pattern=None, max_features=top, stop_words=sorted(stop_words("en"))
    )
    theirs = (vectoriser.fit_transform(documents) @ vectoriser.transform(queries).T).toarray()
    index = IndexFolder.create(
        tmp_path / "index", IndexSettings(fields={"text": 1.0}, stems=False, stop_words=False, citations=False)
    )
    index.add([Document(f"d{at:02}", text=one, language="en") for at, one in enumerate(documents)])
    with index.snapshot() as snapshot:
        retriever = NgramTfIdf.fit(snapshot, NgramChoice(n=n, top=top))
        assert set(retriever.features.vocabulary) == set(vectoriser.vocabulary_)
        asked = Queries.of([Query(f"q{at:02}", one, "en") for at, one in enumerate(queries)])
        pairs = Run.of("all", {query.id: {id: 0.0 for id in snapshot.ids} for query in asked})
        ours = retriever.score(asked, pairs).reshape(len(queries), len(documents)).T
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
