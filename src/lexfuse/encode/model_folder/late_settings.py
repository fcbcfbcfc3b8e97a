"""Settings of late interaction in a model folder: markers, lengths, query augmentation, skipped tokens, projection.

Three layouts are read: checkpoints of ColBERT's authors (``artifact.metadata``, the projection as ``linear.weight`` among the
weights), PyLate's (``config_sentence_transformers.json`` with ``query_prefix`` and so on, a Dense module), and those of
sentence-transformers' multi-vector encoder (prompts, ``query_expansion``, a MultiVectorMask module). A folder without settings
has no markers and the values of ColBERT: queries padded to 32 tokens, punctuation of documents skipped.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.model_folder.modules import ActivationFunction, DenseHead, json_object
from lexfuse.encode.model_folder.tensors import TensorFiles
from lexfuse.errors import DataError

QUERY_LENGTH = 32  # tokens; FUSE, table 8, domain-general models
PUNCTUATION = tuple(string.punctuation)
_PYLATE = ("query_prefix", "document_prefix", "query_length", "document_length", "do_query_expansion", "skiplist_words")


@dataclass(frozen=True, slots=True)
class LateSettings:
    """How texts are read for late interaction."""

    query_marker: str = ""  # a token after the first special one
    document_marker: str = ""
    query_prompt: str = ""  # words before the text
    document_prompt: str = ""
    query_length: int = QUERY_LENGTH  # tokens that a query is padded to; 0: no padding
    document_length: int | None = None  # tokens of a window; default: the model's window
    attends: bool = False  # whether other tokens attend to the padding
    skipped: tuple[str, ...] = PUNCTUATION  # document tokens that are not kept

    @classmethod
    def read(cls, folder: ModelFolder) -> LateSettings:
        """The settings of a folder; a `DataError` names an impossible value."""
        prompting = folder.path / "config_sentence_transformers.json"
        settings = json_object(prompting)
        try:
            if (metadata := folder.path / "artifact.metadata").is_file() or "linear.weight" in _weights(folder):
                return _of_authors(json_object(metadata))
            if any(name in settings for name in _PYLATE):
                return _of_pylate(settings)
            return _of_modules(folder, json_object(folder.transformer / "sentence_bert_config.json"))
        except (TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"a setting of late interaction is damaged ({error}); fetch the model again", path=folder.path
            ) from None


def projections(folder: ModelFolder) -> tuple[DenseHead, ...]:
    """The layers after the transformer: Dense modules, ``linear.weight`` among the weights, or none.

    >>> from lexfuse.encode.model_folder.locator import locate_model
    >>> projections(ModelFolder.read(locate_model("fr-legal-splade")))
    ()
    """
    if others := [step for step in folder.others if step != "MultiVectorMask"]:
        raise DataError(f"the model has steps that late interaction does not support: {', '.join(others)}", path=folder.path)
    weights = _weights(folder)
    if folder.heads or "linear.weight" not in weights:
        return folder.heads
    bias = weights.get("linear.bias")
    return (DenseHead(weights["linear.weight"], bias, ActivationFunction.IDENTITY),)


def _weights(folder: ModelFolder) -> TensorFiles:
    return TensorFiles.read(list(folder.weights))


def _of_authors(values: Mapping[str, Any]) -> LateSettings:
    return LateSettings(
        query_marker=str(values.get("query_token_id") or "[unused0]"),
        document_marker=str(values.get("doc_token_id") or "[unused1]"),
        query_length=int(values.get("query_maxlen") or QUERY_LENGTH),
        document_length=_length(values.get("doc_maxlen")),
        attends=bool(values.get("attend_to_mask_tokens", False)),
        skipped=PUNCTUATION if values.get("mask_punctuation", True) else (),
    )


def _of_pylate(values: Mapping[str, Any]) -> LateSettings:
    prompts = values.get("prompts") or {}
    markers = {side: str(values.get(f"{side}_prefix") or "") for side in ("query", "document")}
    words = {side: str(prompts.get(side) or "").removeprefix(marker) for side, marker in markers.items()}
    skipped = values.get("skiplist_words")
    return LateSettings(
        query_marker=markers["query"],
        document_marker=markers["document"],
        query_prompt=words["query"],
        document_prompt=words["document"],
        query_length=int(values.get("query_length") or QUERY_LENGTH) if values.get("do_query_expansion", True) else 0,
        document_length=_length(values.get("document_length")),
        attends=bool(values.get("attend_to_expansion_tokens", False)),
        skipped=PUNCTUATION if skipped is None else tuple(map(str, skipped)),
    )


def _of_modules(folder: ModelFolder, values: Mapping[str, Any]) -> LateSettings:
    """The sentence-transformers layout; a folder without its mask module has the default values."""
    plain = LateSettings(query_prompt=folder.prompts.get("query", ""), document_prompt=folder.prompts.get("document", ""))
    if "MultiVectorMask" not in folder.others:
        return plain
    expansion = values.get("query_expansion") or {}
    skipped = json_object(folder.others["MultiVectorMask"] / "config.json").get("skiplist_words") or ()
    return replace(
        plain,
        query_length=int(expansion.get("length") or 0),
        document_length=_length(values.get("document_length")),
        attends=bool(expansion.get("attend", False)),
        skipped=tuple(map(str, skipped)),
    )


def _length(value: Any) -> int | None:
    return None if value is None else int(value)
