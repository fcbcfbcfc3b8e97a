"""Dense encoders trained as BSARD trains them, against its definition: [CLS] of overlapping chunks, averaged, by dot product."""

import json
import math

import numpy as np
import pytest
import torch

from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.errors import ConfigError, DataError
from lexfuse.train.examples.batches import Batches
from lexfuse.train.hyperparameters import ModelKind
from lexfuse.train.loop.loop import fit

CHUNK, OVERLAP = 12, 3
BSARD = {
    "pooling": "cls", "similarity": "dot", "chunk": CHUNK, "chunk_overlap": OVERLAP, "query_length": 200, "passage_length": 200,
}  # fmt: skip
TEXTS = ["congé", "le salarié ne perd pas un congé de la loi", " ".join(["le préavis du contrat de travail peut rompre"] * 4)]


def reference(learner, model, text, pooling):
    """The definition, token by token: chunks of 12 that share 3, each with the first special token; the mean of their vectors."""
    tokens = learner.base.tokens
    ids = tokens.ids([text])[0].tolist()
    first, rest = ids[:1], ids[1:]
    chunks, start = [ids], 0
    if len(ids) > CHUNK:
        chunks = []
        while start == 0 or start + OVERLAP < len(rest):
            chunks.append(first + rest[start : start + CHUNK - 1])
            start += CHUNK - 1 - OVERLAP
    vectors = []
    for chunk in chunks:
        with torch.no_grad():
            states = model(input_ids=torch.tensor([chunk]), attention_mask=torch.ones(1, len(chunk))).last_hidden_state[0]
        vectors.append(states[0] if pooling == "cls" else states.mean(dim=0))
    return torch.stack(vectors).mean(dim=0), len(chunks)


@pytest.fixture
def trained(learner_of, short, small, tmp_path, own_cache):
    """A learner after some steps, and the folder that it wrote."""

    def made(kind=ModelKind.DENSE, **changes):
        training = short(kind, **{"steps": 2, "learning_rate": 1e-2, **BSARD, **changes})
        learner = learner_of(kind, training)
        fit(learner, small.examples, training, tmp_path / "run")
        learner.eval()
        learner.save(tmp_path / "model")
        return learner, tmp_path / "model"

    return made


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_vectors_are_means_over_chunks(trained, pooling):
    learner, _ = trained(pooling=pooling)
    found = learner.vectors(learner.texts([], TEXTS).passages, Side.PASSAGE).detach()
    for text, vector in zip(TEXTS, found, strict=True):
        expected, chunks = reference(learner, learner.model, text, pooling)
        torch.testing.assert_close(vector, expected, rtol=1e-4, atol=1e-5)
    assert chunks > 3
    assert abs(float(found[0].norm()) - 1) > 1e-2  # dot products are of vectors as they are


@pytest.mark.parametrize("kind", [ModelKind.DENSE, ModelKind.TWO_TOWER])
def test_the_loss_is_equation_6_of_bsard(trained, small, kind):
    learner, _ = trained(kind, temperature=0.05)
    batch = next(Batches(small.examples, 4, 1).from_start())
    texts = learner.texts(small.examples.queries, small.examples.passages)
    asking, answering = (learner.model,) * 2 if kind is ModelKind.DENSE else (learner.queries, learner.passages)
    queries = [reference(learner, asking, small.examples.queries[at], "cls")[0] for at in batch.query]
    passages = [reference(learner, answering, small.examples.passages[at], "cls")[0] for at in batch.passage]
    total = 0.0
    for row, query in enumerate(queries):
        logits = [float(query @ passage) / 0.05 for passage in passages]
        most = max(logits)
        below = sum(math.exp(logit - most) for logit, there in zip(logits, batch.allowed[row], strict=True) if there)
        total -= logits[row] - most - math.log(below)
    assert learner(batch, texts, 0)["loss"].item() == pytest.approx(total / len(queries), rel=1e-3)


@pytest.mark.parametrize("changes", [{}, {"pooling": "mean"}, {"similarity": "cosine"}, {"chunk": 0, "query_length": 80}])
def test_the_folder_gives_the_vectors_of_the_training(trained, changes):
    learner, folder = trained(**changes)
    expected = learner.vectors(learner.texts([], TEXTS).passages, Side.PASSAGE).detach().numpy()
    encoder = DenseEncoder.load(folder)
    assert encoder.normalises == (changes.get("similarity") == "cosine")
    np.testing.assert_allclose(encoder.encode(TEXTS, Side.PASSAGE), expected, rtol=1e-3, atol=1e-4)


def test_the_folder_says_how_it_is_read(trained):
    _, folder = trained()
    assert [step["type"].rsplit(".", 1)[-1] for step in json.loads((folder / "modules.json").read_text())] == [
        "Transformer",
        "Pooling",
    ]
    read = ModelFolder.read(folder)
    assert (read.chunks.size, read.chunks.overlap, read.similarity, read.normalise) == (CHUNK, OVERLAP, "dot", False)
    before = read.fingerprint
    (folder / "chunks.json").write_text(json.dumps({"size": CHUNK, "overlap": 0}))
    assert ModelFolder.read(folder).fingerprint != before  # other chunks are other vectors
    for size, overlap in ((1000, 3), (12, 12), ("12", 3), (12, None)):
        (folder / "chunks.json").write_text(json.dumps({"size": size, "overlap": overlap}))
        with pytest.raises(DataError, match="expected a size up to the window of 128 tokens"):
            ModelFolder.read(folder)


def test_sentence_transformers_reads_cls_and_dot(trained, small):
    from sentence_transformers import SentenceTransformer

    learner, folder = trained(chunk=0, query_length=80, passage_length=80)
    model = SentenceTransformer(str(folder), device="cpu")
    assert model.similarity_fn_name == "dot"
    queries, passages = model.encode(small.questions), model.encode(small.answers)
    expected = learner.score(learner.texts(small.questions, small.answers)).numpy()
    np.testing.assert_allclose(queries @ passages.T, expected, rtol=1e-3, atol=1e-3)


def test_a_chunk_beyond_the_window_is_refused(learner_of, short):
    with pytest.raises(ConfigError, match="a chunk of 500 tokens is beyond the 128 that the base reads at once"):
        learner_of(ModelKind.DENSE, short(ModelKind.DENSE, chunk=500))
