"""What is trained is what is used: scores in torch, from the saved folder, and from libraries that read the same folder."""

import json

import numpy as np
import pytest
import torch

from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.late_encoder import LateEncoder
from lexfuse.encode.pair_encoder import PairEncoder
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.errors import DataError
from lexfuse.train.examples.batches import Batches
from lexfuse.train.hyperparameters import ModelKind
from lexfuse.train.loop.loop import fit
from lexfuse.train.models.base_model import StartingModel

FAMILIES = ["bert", "roberta", "camembert", "mpnet", "deberta-v2"]
CLOSE = {"abs": 1e-4, "rel": 1e-4}


@pytest.fixture
def saved(learner_of, short, small, tmp_path, own_cache):
    """A learner of a kind after a step that moved its weights, and the folder that it wrote."""

    def made(kind, family="bert", **changes):
        training = short(kind, **{"steps": 2, "learning_rate": 1e-2, "query_length": 80, "passage_length": 80, **changes})
        learner = learner_of(kind, training, family=family)
        fit(learner, small.examples, training, tmp_path / "run")
        learner.eval()
        learner.save(tmp_path / "model")
        return learner, tmp_path / "model"

    return made


def scored(learner, small, candidates=None):
    return learner.score(learner.texts(small.questions, small.answers), candidates).numpy()


def matched(queries, passages):
    """Sums of best matches."""
    return np.array([[(query @ passage.T).max(axis=1).sum() for passage in passages] for query in queries])


def dense(vectors, width):
    found = np.zeros((len(vectors), width))
    for row, vector in zip(found, vectors, strict=True):
        row[vector[0]] = vector[1]
    return found


def encoded(kind, folder, small, width=0):
    """Scores of all answers for all questions by `lexfuse.encode`."""
    if kind is ModelKind.CROSS:
        encoder = PairEncoder.load(folder)
        return np.array([encoder.scores(question, small.answers) for question in small.questions])
    if kind is ModelKind.TWO_TOWER:
        queries = DenseEncoder.load(folder / "queries").encode(small.questions, Side.QUERY)
        return queries @ DenseEncoder.load(folder / "passages").encode(small.answers, Side.PASSAGE).T
    encoder = {ModelKind.DENSE: DenseEncoder, ModelKind.SPLADE: SparseEncoder, ModelKind.COLBERT: LateEncoder}[kind].load(folder)
    queries, passages = encoder.encode(small.questions, Side.QUERY), encoder.encode(small.answers, Side.PASSAGE)
    if kind is ModelKind.COLBERT:
        return matched(queries, passages)
    if kind is ModelKind.SPLADE:
        queries, passages = dense(queries, width), dense(passages, width)
        if encoder.cosine:
            queries, passages = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (queries, passages))
    return queries @ passages.T


def expected_of(kind, learner, small):
    if kind is not ModelKind.CROSS:
        return scored(learner, small)
    everything = np.tile(np.arange(len(small.answers), dtype=np.int32), (len(small.questions), 1))
    return 1 / (1 + np.exp(-scored(learner, small, everything)))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", list(ModelKind))
def test_the_saved_folder_scores_as_the_learner_did(kind, family, saved, small):
    if family == "deberta-v2" and kind is ModelKind.COLBERT:
        with pytest.raises(DataError, match="which have no state in DeBERTa; start from another family"):
            saved(kind, family)
        return
    learner, folder = saved(kind, family)
    found = encoded(kind, folder, small, learner.base.tokens.vocabulary_size)
    assert np.ptp(found) > 1e-3
    np.testing.assert_allclose(found, expected_of(kind, learner, small), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", [ModelKind.DENSE, ModelKind.TWO_TOWER, ModelKind.SPLADE])
def test_the_saved_folder_is_compared_as_the_learner_was(kind, saved, small):
    learner, folder = saved(kind, similarity="dot")
    found = encoded(kind, folder, small, learner.base.tokens.vocabulary_size)
    assert np.abs(found).max() > 1.5  # no cosines
    np.testing.assert_allclose(found, expected_of(kind, learner, small), atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize("kind", list(ModelKind))
def test_the_graph_file_and_the_weights_agree(kind, saved, small):
    learner, folder = saved(kind)
    width = learner.base.tokens.vocabulary_size
    by_graph = encoded(kind, folder, small, width)
    files = list(folder.rglob("*.onnx"))
    assert files
    for file in files:
        file.unlink()
    np.testing.assert_allclose(encoded(kind, folder, small, width), by_graph, atol=1e-5)


def test_two_towers_part_ways(saved, small):
    learner, _ = saved(ModelKind.TWO_TOWER)
    texts = learner.base.rows(small.questions, 80)
    apart = (learner.vectors(texts, Side.QUERY) - learner.vectors(texts, Side.PASSAGE)).abs().max()
    assert apart.item() > 1e-3


def test_long_pairs_are_cut_alike(saved):
    """A pair that just fills the window is whole on both sides; the folder says how long the window is."""
    learner, folder = saved(ModelKind.CROSS, query_length=24, passage_length=24)
    encoder = PairEncoder.load(folder)
    assert encoder.frame.room == learner.room == 24 - 3
    question, answer = "le salarié", " ".join(["congé"] * (24 - 3 - 2))
    texts = learner.texts([question], [answer])
    logit = learner.logits([(texts.queries[0], texts.passages[0])]).item()
    assert encoder.scores(question, [answer])[0] == pytest.approx(1 / (1 + np.exp(-logit)), **CLOSE)


@pytest.mark.parametrize("kind", [ModelKind.DENSE, ModelKind.TWO_TOWER])
def test_sentence_transformers_reads_dense_folders(kind, saved, small):
    from sentence_transformers import SentenceTransformer

    learner, folder = saved(kind)
    asking, answering = (folder, folder) if kind is ModelKind.DENSE else (folder / "queries", folder / "passages")
    queries = SentenceTransformer(str(asking), device="cpu").encode(small.questions)
    passages = SentenceTransformer(str(answering), device="cpu").encode(small.answers)
    np.testing.assert_allclose(queries @ passages.T, scored(learner, small), atol=1e-4)


def test_sentence_transformers_reads_sparse_folders(saved, small):
    from sentence_transformers import SparseEncoder as Theirs

    learner, folder = saved(ModelKind.SPLADE, similarity="dot")
    model = Theirs(str(folder), device="cpu")
    queries, passages = (model.encode(texts, convert_to_sparse_tensor=False) for texts in (small.questions, small.answers))
    np.testing.assert_allclose((queries @ passages.T).numpy(), scored(learner, small), atol=1e-3, rtol=1e-4)


def test_sentence_transformers_reads_folders_of_cross_encoders(saved, small):
    from sentence_transformers import CrossEncoder
    from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss

    learner, folder = saved(ModelKind.CROSS)
    model = CrossEncoder(str(folder), device="cpu")
    pairs = [(question, answer) for question in small.questions for answer in small.answers]
    found = model.predict(pairs, activation_fn=torch.nn.Sigmoid()).reshape(len(small.questions), -1)
    np.testing.assert_allclose(found, expected_of(ModelKind.CROSS, learner, small), atol=1e-4)

    batch = next(Batches(small.examples, 4, 1).from_start())  # their mean over pairs is ours; neither weighs the rarer label
    texts = learner.texts(small.examples.queries, small.examples.passages)
    asked = [small.examples.queries[query] for query in batch.query for _ in range(2)]
    answered = [small.examples.passages[batch.passage[column]] for own in batch.own for column in own]
    with torch.no_grad():
        theirs = BinaryCrossEntropyLoss(model.eval())([asked, answered], torch.tensor([1.0, 0.0] * len(batch))).item()
    assert learner(batch, texts, 0)["loss"].item() == pytest.approx(theirs, **CLOSE)


def test_sentence_transformers_reads_folders_of_late_interaction(saved, small):
    from sentence_transformers import MultiVectorEncoder

    learner, folder = saved(ModelKind.COLBERT)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"mask_token": "[MASK]"}))  # which the small base lacks
    model = MultiVectorEncoder(str(folder), device="cpu")
    queries = [vectors.cpu().numpy() for vectors in model.encode_query(small.questions)]
    passages = [vectors.cpu().numpy() for vectors in model.encode_document(small.answers)]
    np.testing.assert_allclose(matched(queries, passages), scored(learner, small), atol=1e-3)


@pytest.mark.parametrize("kind", list(ModelKind))
def test_a_saved_folder_is_the_base_of_the_next_training(kind, saved, learner_of, small):
    """A chain goes on where it stopped: heads and projections included."""
    learner, folder = saved(kind)
    following = learner_of(kind, learner.training_settings, StartingModel.read(folder)).eval()
    candidates = small.judged.candidates[:, : len(small.answers)] if kind is ModelKind.CROSS else None
    np.testing.assert_allclose(scored(following, small, candidates), scored(learner, small, candidates), atol=1e-5)


def test_two_towers_go_on_each_from_its_own(saved, learner_of, short, small, tmp_path):
    """Not from each other's, and what they become can be the base again."""
    learner, folder = saved(ModelKind.TWO_TOWER)
    base = StartingModel.read(folder)
    following = learner_of(ModelKind.TWO_TOWER, learner.training_settings, base)
    for tower in ("queries", "passages"):
        before, after = (dict(getattr(one, tower).named_parameters()) for one in (learner, following))
        assert all(torch.equal(before[name], weights) for name, weights in after.items())
    assert (base.path, base.tower(Side.QUERY).path.name) == (folder, "queries")
    assert base.fingerprint not in {base.tower(side).fingerprint for side in (Side.QUERY, Side.PASSAGE)}
    following.save(tmp_path / "again")
    assert StartingModel.read(tmp_path / "again").queries is not None


@pytest.mark.parametrize("kind", [kind for kind in ModelKind if kind is not ModelKind.TWO_TOWER])
def test_other_kinds_start_from_one_of_two_towers(kind, saved, learner_of, short):
    _, folder = saved(ModelKind.TWO_TOWER)
    with pytest.raises(DataError, match=r"two towers.*name one of them: '.*queries' or '.*passages'"):
        learner_of(kind, short(kind), StartingModel.read(folder))
    if kind is not ModelKind.SPLADE:  # whose head the towers lack
        assert learner_of(kind, short(kind), StartingModel.read(folder / "queries")).base.queries is None


def test_towers_that_read_texts_differently_are_refused(saved):
    _, folder = saved(ModelKind.TWO_TOWER)
    place = folder / "queries" / "sentence_bert_config.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | {"max_seq_length": 30}))
    with pytest.raises(DataError, match="differ in their tokenizers, windows or widths"):
        StartingModel.read(folder)


def test_a_folder_can_be_written_again(saved):
    learner, folder = saved(ModelKind.DENSE)
    before = (folder / "onnx" / "model.onnx").read_bytes()
    with torch.no_grad():
        learner.model.embeddings.word_embeddings.weight.mul_(2)
    learner.save(folder)
    assert (folder / "onnx" / "model.onnx").read_bytes() != before
    assert json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"] == 80


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_splade_starts_with_the_wanted_number_of_entries(learner_of, short, small, family):
    learner = learner_of(ModelKind.SPLADE, short(ModelKind.SPLADE, start_active=10), family=family)
    texts = learner.texts(small.questions, small.answers)

    def active():
        learner.eval()
        with torch.no_grad():
            return float((learner.vectors(texts.passages, Side.PASSAGE) > 0).sum(dim=1).float().mean())

    before, told, after = active(), learner.begin(texts), active()
    assert before > 15
    assert "10 entries" in told
    assert after == pytest.approx(10, abs=4)


def test_a_sparse_splade_starts_as_it_is(learner_of, short, small):
    learner = learner_of(ModelKind.SPLADE, short(ModelKind.SPLADE, start_active=10_000))
    assert learner.begin(learner.texts(small.questions, small.answers)) == ""
