"""Query weights by look-up: inference-free SPLADE, in which a table of the vocabulary replaces the model for queries.

The weight of a term that the query holds is its entry in the table, however often it occurs; other terms have none. So a query is
read in microseconds, while passages keep the terms that their model adds. `lexfuse train splade --query-table` learns the table
with the passages. The folder is that of sentence-transformers' ``SparseStaticEmbedding``: ``tokenizer.json`` and one tensor
``weight``.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lexfuse.data.archives import parse_json
from lexfuse.data.arrays import F32, read_only
from lexfuse.data.files import read_bytes
from lexfuse.encode.encoder import Progress, Side, check_texts, no_progress
from lexfuse.encode.model_folder.locator import locate_model
from lexfuse.encode.model_folder.modules import json_object
from lexfuse.encode.model_folder.tensors import TensorFiles, weight_files, write_tensors
from lexfuse.encode.sparse_encoder import SparseVector, heaviest
from lexfuse.encode.tokenizer import load_tokenizer, tokenizer_errors
from lexfuse.errors import ConfigError, DataError
from lexfuse.text.analysis.vocabulary import Vocabulary

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODULE = "sentence_transformers.sparse_encoder.models.SparseStaticEmbedding"
_TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
_SENTENCE_BERT, _SIMILARITY = "sentence_bert_config.json", "config_sentence_transformers.json"


@dataclass(frozen=True, slots=True, eq=False)
class QueryTable:
    """A weight for every token of a vocabulary, which encodes queries without a model.

    >>> table = QueryTable.load("my-splade/queries")  # doctest: +SKIP
    >>> terms, weights = table.encode(["démission"], Side.QUERY)[0]  # doctest: +SKIP
    """

    path: Path
    tokenizer: Tokenizer
    weights: F32
    terms: Vocabulary
    most_terms: int | None
    cosine: bool
    fingerprint: str

    @classmethod
    def load(cls, name: str | Path, *, most_terms: int | None = None) -> QueryTable:
        """Load a folder; ``most_terms`` keeps only the largest weights of a query."""
        path = locate_model(name)
        weights, files = _weights(path), [path / "tokenizer.json", path / _SENTENCE_BERT]
        prompting = json_object(path / _SIMILARITY)
        if any((prompting.get("prompts") or {}).values()):
            raise DataError("a query table with prompts is not supported; remove them from the file", path=path / _SIMILARITY)
        lowercase = bool(json_object(path / _SENTENCE_BERT).get("do_lower_case", False))
        tokenizer = load_tokenizer(path / "tokenizer.json", lowercase)
        if tokenizer.get_vocab_size() > len(weights):
            raise DataError(
                f"the table has {len(weights):,} weights and its tokenizer {tokenizer.get_vocab_size():,} tokens; its files "
                "belong to different models: fetch it again",
                path=path,
            )
        words = [tokenizer.id_to_token(number) or f"[{number}]" for number in range(len(weights))]
        digest = hashlib.sha256(np.ascontiguousarray(weights).tobytes() + str(most_terms).encode())
        for file in files:
            digest.update(read_bytes(file) if file.is_file() else b"")
        cosine = prompting.get("similarity_fn_name") == "cosine"
        return cls(path, tokenizer, weights, Vocabulary(words), most_terms, cosine, digest.hexdigest()[:32])

    def encode(self, texts: Sequence[str], side: Side, *, progress: Progress = no_progress) -> list[SparseVector]:
        """The distinct tokens of every query, without special ones, with their weights; a table does not encode passages."""
        if side is not Side.QUERY:
            raise ConfigError(f"{str(self.path)!r} is a query table, which encodes no documents; name it with --query-model")
        check_texts(texts)
        with tokenizer_errors(self.path / "tokenizer.json"):
            rows = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        found = []
        for at, row in enumerate(rows, start=1):
            terms = np.unique(np.array(row.ids, dtype=np.int32))
            terms = terms[self.weights[terms] > 0]
            found.append(heaviest((terms, self.weights[terms]), self.most_terms))
            progress(at)
        return found


def is_query_table(name: str | Path) -> bool:
    """Whether the folder of a local model is a query table.

    >>> is_query_table("fr-legal-splade")
    False
    """
    listing = locate_model(name) / "modules.json"
    steps = parse_json(read_bytes(listing), str(listing)) if listing.is_file() else None
    first = steps[0] if isinstance(steps, list) and steps else None
    return isinstance(first, dict) and str(first.get("type", "")).rsplit(".", 1)[-1] == MODULE.rsplit(".", 1)[-1]


def write_query_table(folder: Path, weights: F32, tokenizer: Path, *, similarity: str, lowercase: bool = False) -> None:
    """Write a table with the tokenizer files of another folder.

    >>> from lexfuse.encode.model_folder.locator import locate_model
    >>> write_query_table(folder, np.ones(24_000, np.float32), locate_model("fr-legal-splade"), similarity="dot")
    >>> [part.tolist() for part in QueryTable.load(folder).encode(["congé, congé"], Side.QUERY)[0]]
    [[15, 1117], [1.0, 1.0]]
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_tensors(folder / "model.safetensors", {"weight": weights})
    for name in _TOKENIZER:
        if (tokenizer / name).is_file():
            shutil.copyfile(tokenizer / name, folder / name)
    settings = {
        "modules.json": [{"idx": 0, "name": "0", "path": "", "type": MODULE}],
        "config.json": {"frozen": False},
        _SIMILARITY: {"model_type": "SparseEncoder", "prompts": {}, "similarity_fn_name": similarity},
        _SENTENCE_BERT: {"do_lower_case": lowercase},
    }
    for name, values in settings.items():
        (folder / name).write_text(json.dumps(values, indent=1) + "\n", "utf-8")


def _weights(path: Path) -> F32:
    if not is_query_table(path):
        raise DataError(f"not a query table: its modules.json does not name {MODULE}", path=path)
    tensors = TensorFiles.read(weight_files(path))
    weights = tensors.get("weight")
    if weights is None or weights.ndim != 1 or not np.isfinite(weights).all():
        raise DataError("a query table needs a tensor 'weight', one number for each token; fetch it again", path=path)
    return read_only(weights)
