"""Training of word vectors: what goes together is near, the same every time, and the command that does it."""

import numpy as np
import pytest
from typer.testing import CliRunner

from lexfuse.cli.app import app
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, write_collection
from lexfuse.encode.encoder import Side
from lexfuse.encode.static_encoder import StaticEncoder, WordWeighting, plain_words
from lexfuse.encode.word_vectors import WordVectors
from lexfuse.errors import ConfigError, DataError, StorageError
from lexfuse.text.analysis.vocabulary import Vocabulary
from lexfuse.train import static_vectors
from lexfuse.train.static_vectors import StaticTraining, most_common_language, train_static, with_corpus_idf

TOPICS = [["contrat", "travail", "salarié", "préavis", "employeur"], ["bail", "loyer", "locataire", "logement", "bailleur"]]
SMALL = StaticTraining(dimension=4, window=6, min_count=2)


@pytest.fixture
def corpus():
    generator = np.random.default_rng(1)
    documents = []
    for number in range(60):
        words = generator.choice(TOPICS[number % 2], 12)
        documents.append(Document(f"d{number:02d}", title=str(words[0]), text=" ".join(words[1:]), language="fr"))
    return Corpus.of(documents)


def bytes_of(encoder, folder):
    folder.mkdir()
    return {path.name: path.read_bytes() for path in encoder.save(folder)}


def test_words_of_one_topic_are_nearer_than_others(corpus):
    encoder = train_static(corpus, SMALL)
    work, lease, both = encoder.encode(["contrat employeur", "loyer logement", "salarié préavis"], Side.QUERY)
    assert work @ both > work @ lease + 0.3


def test_the_same_every_time_and_another_seed_differs_little(corpus, tmp_path):
    first, second = train_static(corpus, SMALL), train_static(corpus, SMALL)
    assert bytes_of(first, tmp_path / "a") == bytes_of(second, tmp_path / "b")
    other = train_static(corpus, StaticTraining(dimension=4, window=6, min_count=2, seed=2))
    assert list(other.vectors.words) == list(first.vectors.words)


def test_blocks_do_not_change_the_counts(corpus, monkeypatch):
    whole = train_static(corpus, SMALL).vectors.matrix
    monkeypatch.setattr(static_vectors, "_BLOCK", 3)
    np.testing.assert_allclose(train_static(corpus, SMALL).vectors.matrix, whole, atol=1e-3)


def test_positive_pmi_follows_its_definition():
    rows = [np.array([0, 1, 1, 2], dtype=np.int32), np.array([2, 3], dtype=np.int32), np.array([], dtype=np.int32)]
    found = static_vectors._positive_pmi(static_vectors._windows(rows, 10, 4), lambda _: None).toarray()
    pairs = np.zeros((4, 4))
    for row in rows:
        for one in range(len(row)):
            for other in range(len(row)):
                pairs[row[one], row[other]] += one != other
    chance = pairs.sum(axis=0) ** 0.75 / (pairs.sum(axis=0) ** 0.75).sum()
    with np.errstate(divide="ignore"):
        expected = np.maximum(np.log(pairs / (pairs.sum(axis=1)[:, None] * chance)), 0)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_windows_overlap_by_half_and_hold_all():
    pieces = [piece.tolist() for piece in static_vectors._pieces(np.arange(7, dtype=np.int32), 4)]
    assert pieces == [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 6]]


def test_rare_words_have_no_vector_and_idf_counts_documents(corpus):
    more = Corpus.of([*corpus, Document("x", text="hapax contrat contrat", language="fr")])
    encoder = train_static(more, SMALL)
    assert encoder.vectors.words.find("hapax") is None
    held = sum("contrat" in f"{document.title} {document.text}" for document in more)
    at = encoder.vectors.words.find("contrat")
    np.testing.assert_allclose(encoder.idf[at], np.log((61 + 1) / (held + 1)), rtol=1e-6)


def test_too_few_words_and_wrong_parameters(corpus):
    with pytest.raises(DataError, match="too few for 500 dimensions; take fewer, or more text"):
        train_static(corpus, StaticTraining())
    with pytest.raises(DataError, match="0 words"):
        train_static(Corpus.of([]), SMALL)
    with pytest.raises(ConfigError, match="window must be 2 or more, got 1"):
        StaticTraining(window=1)


def test_the_language_of_most_documents():
    languages = ["en", "fr", "fr", "", "", ""]
    assert most_common_language(Corpus.of(Document(str(n), language=one) for n, one in enumerate(languages))) == "fr"
    assert most_common_language(Corpus.of([])) == ""


def test_vectors_from_elsewhere_get_the_idf_of_a_corpus(corpus):
    vectors = WordVectors(Vocabulary(["loyer", "bateau"]), np.eye(2, dtype=np.float32))
    weighed = with_corpus_idf(StaticEncoder(vectors, plain_words()), corpus)
    assert weighed.weighting is WordWeighting.IDF
    assert weighed.idf[1] == pytest.approx(np.log(61))
    assert 0 < weighed.idf[0] < weighed.idf[1]


def test_vectors_with_ngrams_get_the_words_of_the_corpus(corpus):
    class Letters:
        def of(self, word):
            return np.array([len(word), 1.0], dtype=np.float32)

    vectors = WordVectors(Vocabulary(["loyer"]), np.ones((1, 2), dtype=np.float32), Letters())
    weighed = with_corpus_idf(StaticEncoder(vectors, plain_words()), corpus)
    assert weighed.vectors.of("locataire").tolist() == [9.0, 1.0]
    assert weighed.vectors.of("inconnu") is None
    assert len(weighed.idf) == len(weighed.vectors.words) == 10


@pytest.fixture
def folder(corpus, tmp_path):
    write_collection(Collection(corpus), tmp_path / "corpus")
    return tmp_path


def asked(*arguments):
    return CliRunner().invoke(app, ["train", "static", *map(str, arguments)])


def test_the_command_writes_a_model(folder):
    done = asked(folder / "corpus", folder / "out", "--dimension", 4, "--min-count", 2, "--json")
    assert done.exit_code == 0, done.output
    assert '"words": 10' in done.stdout
    assert StaticEncoder.load(folder / "out").dimension == 4
    again = asked(folder / "corpus", folder / "out", "--dimension", 3, "--min-count", 2, "--force")
    assert again.exit_code == 0, again.output
    assert "dimension: 3" in again.stdout


def test_the_command_refuses_to_write_over_other_files(folder):
    done = asked(folder / "corpus", folder / "corpus", "--force")
    assert isinstance(done.exception, StorageError)
    assert "holds other files" in str(done.exception)
    assert isinstance(asked(folder / "corpus", folder / "corpus").exception, StorageError)


def test_the_command_takes_vectors_from_a_file(folder):
    (folder / "v.vec").write_text("2 2\nloyer 1 0\ncontrat 0 1\n")
    done = asked(folder / "corpus", folder / "out", "--vectors", folder / "v.vec")
    assert done.exit_code == 0, done.output
    assert "weighting: idf" in done.stdout
    assert StaticEncoder.load(folder / "out").encode(["loyer"], Side.QUERY).tolist() == [[1.0, 0.0]]
