"""Query weights by look-up: inference-free SPLADE, in which a table of the vocabulary replaces the model for queries.

Every token of the vocabulary has terms with weights. A query has the sum over its distinct tokens, so it is read in microseconds,
while passages keep the terms that their model adds. There are two kinds of folders, both with a ``tokenizer.json``:

- one tensor ``weight``: a token has itself as its only term. `lexfuse train splade --query-table` learns it with the passages. It
  is the folder of sentence-transformers' ``SparseStaticEmbedding``;
- tensors ``starts``, ``terms`` and ``weights``: a token has other terms too, those that a SPLADE model adds to questions with it.
  `lexfuse train query-table` learns them from the model (``lexfuse.train.query_table``).
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lexfuse.data.archives import parse_json
from lexfuse.data.arrays import F32, I32, I64, offsets_of, read_only
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
EXPANSIONS = "lexfuse.QueryExpansions"
_TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
_MODULES = {name.rsplit(".", 1)[-1] for name in (MODULE, EXPANSIONS)}
_CONFIG, _MOST_TERMS = "config.json", "most_terms"
_SENTENCE_BERT, _SIMILARITY = "sentence_bert_config.json", "config_sentence_transformers.json"


class TokenWeights(NamedTuple):
    """The terms that each token of a vocabulary gives a query, one token after the other, and their weights.

    >>> TokenWeights.of_tokens(np.array([0.5, 0.0, 2.0], dtype=np.float32)).terms.tolist()
    [0, 2]
    """

    starts: I32  # one more than tokens
    terms: I32
    weights: F32

    @classmethod
    def of_tokens(cls, weights: F32) -> TokenWeights:
        """Every token with itself as its only term; without those of no weight."""
        held = weights > 0
        return cls(offsets_of(held).astype(np.int32), np.flatnonzero(held).astype(np.int32), weights[held])

    def read_only(self) -> TokenWeights:
        """The same arrays, write-protected."""
        return TokenWeights(read_only(self.starts), read_only(self.terms), read_only(self.weights))

    def places(self, tokens: I32) -> I64:
        """Where the terms of some tokens are."""
        first = self.starts[tokens]
        offsets = offsets_of(self.starts[tokens + 1] - first)
        return np.repeat(first - offsets[:-1], np.diff(offsets)) + np.arange(offsets[-1])

    def summed(self, tokens: I32) -> SparseVector:
        """The sum over tokens: terms, ascending, with their weights."""
        places = self.places(tokens)
        terms, back = np.unique(self.terms[places], return_inverse=True)
        return terms, np.bincount(back, self.weights[places], len(terms)).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class QueryTable:
    """Terms and weights for every token of a vocabulary, which encode queries without a model.

    >>> table = QueryTable.load("my-splade/queries")  # doctest: +SKIP
    >>> terms, weights = table.encode(["démission"], Side.QUERY)[0]  # doctest: +SKIP
    """

    path: Path
    tokenizer: Tokenizer
    rows: TokenWeights
    terms: Vocabulary
    most_terms: int | None
    cosine: bool
    fingerprint: str

    @classmethod
    def load(cls, name: str | Path, *, most_terms: int | None = None) -> QueryTable:
        """Load a folder; ``most_terms`` keeps only the largest weights of a query, instead of as many as the folder says."""
        path = locate_model(name)
        rows, files = _rows(path), [path / "tokenizer.json", path / _SENTENCE_BERT]
        tokens = len(rows.starts) - 1
        most_terms = json_object(path / _CONFIG).get(_MOST_TERMS) if most_terms is None else most_terms
        prompting = json_object(path / _SIMILARITY)
        if any((prompting.get("prompts") or {}).values()):
            raise DataError("a query table with prompts is not supported; remove them from the file", path=path / _SIMILARITY)
        lowercase = bool(json_object(path / _SENTENCE_BERT).get("do_lower_case", False))
        tokenizer = load_tokenizer(path / "tokenizer.json", lowercase)
        if tokenizer.get_vocab_size() > tokens:
            raise DataError(
                f"the table has {tokens:,} rows and its tokenizer {tokenizer.get_vocab_size():,} tokens; its files "
                "belong to different models: fetch it again",
                path=path,
            )
        words = [tokenizer.id_to_token(number) or f"[{number}]" for number in range(tokens)]
        digest = hashlib.sha256(b"".join(part.tobytes() for part in rows) + str(most_terms).encode())
        for file in files:
            digest.update(read_bytes(file) if file.is_file() else b"")
        cosine = prompting.get("similarity_fn_name") == "cosine"
        return cls(path, tokenizer, rows, Vocabulary(words), most_terms, cosine, digest.hexdigest()[:32])

    def encode(self, texts: Sequence[str], side: Side, *, progress: Progress = no_progress) -> list[SparseVector]:
        """The terms of the distinct tokens of every query, without special ones; a table does not encode passages."""
        if side is not Side.QUERY:
            raise ConfigError(f"{str(self.path)!r} is a query table, which encodes no documents; name it with --query-model")
        check_texts(texts)
        with tokenizer_errors(self.path / "tokenizer.json"):
            rows = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        found = []
        for at, row in enumerate(rows, start=1):
            found.append(heaviest(self.rows.summed(np.unique(np.array(row.ids, dtype=np.int32))), self.most_terms))
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
    return isinstance(first, dict) and str(first.get("type", "")).rsplit(".", 1)[-1] in _MODULES


def write_query_table(
    folder: Path,
    rows: F32 | TokenWeights,
    tokenizer: Path,
    *,
    similarity: str,
    lowercase: bool = False,
    most_terms: int | None = None,
) -> None:
    """Write a table with the tokenizer files of another folder; a vector of weights is one weight for each token.

    >>> from lexfuse.encode.model_folder.locator import locate_model
    >>> write_query_table(folder, np.ones(24_000, np.float32), locate_model("fr-legal-splade"), similarity="dot")
    >>> [part.tolist() for part in QueryTable.load(folder).encode(["congé, congé"], Side.QUERY)[0]]
    [[15, 1117], [1.0, 1.0]]
    """
    folder.mkdir(parents=True, exist_ok=True)
    expanded = isinstance(rows, TokenWeights)
    write_tensors(folder / "model.safetensors", rows._asdict() if isinstance(rows, TokenWeights) else {"weight": rows})
    for name in _TOKENIZER:
        if (tokenizer / name).is_file():
            shutil.copyfile(tokenizer / name, folder / name)
    settings = {
        "modules.json": [{"idx": 0, "name": "0", "path": "", "type": EXPANSIONS if expanded else MODULE}],
        _CONFIG: {"frozen": False} | ({} if most_terms is None else {_MOST_TERMS: most_terms}),
        _SIMILARITY: {"model_type": "SparseEncoder", "prompts": {}, "similarity_fn_name": similarity},
        _SENTENCE_BERT: {"do_lower_case": lowercase},
    }
    for name, values in settings.items():
        (folder / name).write_text(json.dumps(values, indent=1) + "\n", "utf-8")


def _rows(path: Path) -> TokenWeights:
    if not is_query_table(path):
        raise DataError(f"not a query table: its modules.json names neither {MODULE} nor {EXPANSIONS}", path=path)
    tensors = TensorFiles.read(weight_files(path))
    if {"starts", "terms", "weights"} <= set(tensors):
        rows = TokenWeights(tensors.integers("starts"), tensors.integers("terms"), tensors["weights"])
        if not _is_sound(rows):
            raise DataError("the rows of the query table do not fit each other; fetch it again", path=path)
        return rows.read_only()
    weights = tensors.get("weight")
    if weights is None or weights.ndim != 1 or not np.isfinite(weights).all():
        raise DataError("a query table needs a tensor 'weight', one number for each token; fetch it again", path=path)
    return TokenWeights.of_tokens(weights).read_only()


def _is_sound(rows: TokenWeights) -> bool:
    """Whether rows end where the terms do, terms are tokens, and weights are positive numbers."""
    starts, terms, weights = rows
    if not (starts.ndim == terms.ndim == weights.ndim == 1 and len(starts) > 1 and len(terms) == len(weights)):
        return False
    if starts[0] != 0 or starts[-1] != len(terms) or (np.diff(starts) < 0).any():
        return False
    return bool(((terms >= 0) & (terms < len(starts) - 1)).all() and (np.isfinite(weights) & (weights > 0)).all())
