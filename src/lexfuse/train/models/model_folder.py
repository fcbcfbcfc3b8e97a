"""Model folders as written by training, each in a layout that `lexfuse.encode` and the original library read.

Weights are safetensors in 32 bits. ``onnx/model.onnx`` has the graph that LexFuse builds from them.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexfuse.encode.model_folder.folder import CHUNKS_FILE, ModelFolder
from lexfuse.encode.model_folder.late_settings import PUNCTUATION
from lexfuse.encode.onnx_export.heads import OutputHead, build_graph
from lexfuse.train.hyperparameters import Hyperparameters, Similarity, TokenPooling
from lexfuse.train.models.base_model import StartingModel, quiet

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt", "sentencepiece.bpe.model")
ONNX = "onnx/model.onnx"


def write_dense(folder: Path, base: StartingModel, model: PreTrainedModel, training: Hyperparameters) -> None:
    """Transformer, pooling and, for cosines, normalisation in the sentence-transformers layout; plus the chunk settings.

    >>> from lexfuse.train.models.tiny_model import tiny_base
    >>> base = tiny_base(folder)
    >>> write_dense(folder / "mine", base, base.transformer(), Hyperparameters())
    >>> ModelFolder.read(folder / "mine").normalise
    True
    """
    _write(folder, base, model, window_of(base, training))
    steps = [("", "Transformer"), ("1_Pooling", "Pooling")]
    if training.similarity is Similarity.COSINE:
        steps.append(("2_Normalize", "Normalize"))
        (folder / "2_Normalize").mkdir(exist_ok=True)
    _modules(folder, [(place, f"sentence_transformers.models.{name}") for place, name in steps])
    modes = {
        "pooling_mode_cls_token": training.pooling is TokenPooling.CLS,
        "pooling_mode_mean_tokens": training.pooling is TokenPooling.MEAN,
    }
    _json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": model.config.hidden_size, **modes})
    write_similarity(folder, training.similarity)
    if training.chunk:
        _json(folder / CHUNKS_FILE, {"size": training.chunk, "overlap": training.chunk_overlap})
    _graph(folder, OutputHead.HIDDEN)


def write_similarity(folder: Path, similarity: Similarity) -> None:
    """Write the similarity of the model's vectors where sentence-transformers expects it.

    >>> write_similarity(folder, Similarity.DOT)
    >>> json.loads((folder / "config_sentence_transformers.json").read_text())["similarity_fn_name"]
    'dot'
    """
    _json(folder / "config_sentence_transformers.json", {"prompts": {}, "similarity_fn_name": similarity.value})


def write_masked(folder: Path, base: StartingModel, model: PreTrainedModel, training: Hyperparameters) -> None:
    """A transformer with its masked-language head.

    >>> from lexfuse.train.models.tiny_model import tiny_base
    >>> base = tiny_base(folder)
    >>> write_masked(folder / "mine", base, base.masked(), Hyperparameters())
    >>> StartingModel.read(folder / "mine").has_head
    True
    """
    _write(folder, base, model, window_of(base, training))
    _graph(folder, OutputHead.MLM)


def write_classifier(folder: Path, base: StartingModel, model: PreTrainedModel, training: Hyperparameters) -> None:
    """A transformer with a classifier.

    >>> from lexfuse.train.models.tiny_model import tiny_base
    >>> base = tiny_base(folder)
    >>> write_classifier(folder / "mine", base, base.classifier(), Hyperparameters())
    >>> sorted(path.name for path in (folder / "mine").glob("*.json"))
    ['config.json', 'sentence_bert_config.json', 'tokenizer.json', 'tokenizer_config.json']
    """
    _write(folder, base, model, window_of(base, training))
    settings = (
        json.loads((folder / "tokenizer_config.json").read_text("utf-8")) if (folder / "tokenizer_config.json").is_file() else {}
    )
    typed = base.folder.sizes is not None and base.folder.sizes.types > 1
    settings["model_input_names"] = ["input_ids", *(["token_type_ids"] if typed else []), "attention_mask"]
    _json(folder / "tokenizer_config.json", settings)
    _graph(folder, OutputHead.CLASSES)


def write_late(
    folder: Path, base: StartingModel, model: PreTrainedModel, projection: nn.Module, training: Hyperparameters
) -> None:
    """Transformer and projection in PyLate's layout.

    >>> import torch
    >>> from lexfuse.train.models.tiny_model import tiny_base
    >>> base = tiny_base(folder)
    >>> write_late(folder / "mine", base, base.transformer(), torch.nn.Linear(16, 8, bias=False), Hyperparameters())
    >>> ModelFolder.read(folder / "mine").heads[0].weight.shape
    (8, 16)
    """
    from safetensors.torch import save_file

    window = window_of(base, training)
    _write(folder, base, model, window)
    _modules(folder, [("", "sentence_transformers.models.Transformer"), ("1_Dense", "pylate.models.Dense.Dense")])
    place = folder / "1_Dense"
    place.mkdir(exist_ok=True)
    weight = projection.weight.detach().cpu().contiguous()
    save_file({"linear.weight": weight}, str(place / "model.safetensors"))
    _readable(place / "model.safetensors")
    settings = {"in_features": weight.shape[1], "out_features": weight.shape[0], "bias": False}
    _json(place / "config.json", {**settings, "activation_function": "torch.nn.modules.linear.Identity"})
    late = {"query_prefix": "", "document_prefix": "", "query_length": min(training.query_length, window)}
    late |= {"document_length": window, "do_query_expansion": True, "attend_to_expansion_tokens": False}
    _json(
        folder / "config_sentence_transformers.json",
        {**late, "skiplist_words": list(PUNCTUATION), "similarity_fn_name": "MaxSim"},
    )
    _graph(folder, OutputHead.HIDDEN)


def window_of(base: StartingModel, training: Hyperparameters) -> int:
    """Tokens of the model's window; with chunks, that of the base.

    >>> from lexfuse.train.models.tiny_model import tiny_base
    >>> base = tiny_base(folder)
    >>> window_of(base, Hyperparameters(passage_length=40)), window_of(base, Hyperparameters(passage_length=512))
    (40, 64)
    """
    return base.tokens.window if training.chunk else min(training.passage_length, base.tokens.window)


def _write(folder: Path, base: StartingModel, model: PreTrainedModel, window: int) -> None:
    """Weights, configuration and tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    with quiet():
        model.save_pretrained(str(folder))
    _readable(folder / "model.safetensors")
    for name in TOKENIZER:
        if (path := base.folder.transformer / name).is_file():
            shutil.copyfile(path, folder / name)
    _json(folder / "sentence_bert_config.json", {"max_seq_length": window, "do_lower_case": base.folder.lowercase})


def _readable(path: Path) -> None:
    """Give a file the usual mode; the safetensors library writes it for the owner only."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)


def _graph(folder: Path, head: OutputHead) -> None:
    (folder / "onnx").mkdir(exist_ok=True)
    (folder / ONNX).unlink(missing_ok=True)  # else that of a training before this one would be read instead of the weights
    (folder / ONNX).write_bytes(build_graph(ModelFolder.read(folder), head).SerializeToString())


def _modules(folder: Path, steps: list[tuple[str, str]]) -> None:
    _json(
        folder / "modules.json",
        [{"idx": at, "name": str(at), "path": place, "type": kind} for at, (place, kind) in enumerate(steps)],
    )


def _json(path: Path, values: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", "utf-8")
