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
from lexfuse.encode.onnx_export.heads import OutputHead, build_graph
from lexfuse.train.hyperparameters import Hyperparameters, Similarity, TokenPooling
from lexfuse.train.models.base_model import StartingModel, quiet

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt", "sentencepiece.bpe.model")
ONNX = "onnx/model.onnx"


def write_dense(folder: Path, base: StartingModel, model: PreTrainedModel, training: Hyperparameters) -> None:
    """Transformer, pooling and, for cosines, normalisation in the sentence-transformers layout; plus the chunk settings.

    >>> base = tiny_base(folder)
    >>> write_dense(folder / "mine", base, base.transformer(), Hyperparameters())
    >>> ModelFolder.read(folder / "mine").normalise
    True
    """
    write_transformer(folder, base, model, training)
    steps = [("", "Transformer"), ("1_Pooling", "Pooling")]
    if training.similarity is Similarity.COSINE:
        steps.append(("2_Normalize", "Normalize"))
        (folder / "2_Normalize").mkdir(exist_ok=True)
    write_modules(folder, [(place, f"sentence_transformers.models.{name}") for place, name in steps])
    modes = {
        "pooling_mode_cls_token": training.pooling is TokenPooling.CLS,
        "pooling_mode_mean_tokens": training.pooling is TokenPooling.MEAN,
    }
    write_settings(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": model.config.hidden_size, **modes})
    write_similarity(folder, training.similarity)
    if training.chunk:
        write_settings(folder / CHUNKS_FILE, {"size": training.chunk, "overlap": training.chunk_overlap})
    write_graph(folder, OutputHead.HIDDEN)


def write_similarity(folder: Path, similarity: Similarity) -> None:
    """Write the similarity of the model's vectors where sentence-transformers expects it."""
    write_settings(folder / "config_sentence_transformers.json", {"prompts": {}, "similarity_fn_name": similarity.value})


def window_of(base: StartingModel, training: Hyperparameters) -> int:
    """Tokens of the model's window; with chunks, that of the base.

    >>> base = tiny_base(folder)
    >>> window_of(base, Hyperparameters(passage_length=40)), window_of(base, Hyperparameters(passage_length=512))
    (40, 64)
    """
    return base.tokens.window if training.chunk else min(training.passage_length, base.tokens.window)


def write_transformer(folder: Path, base: StartingModel, model: PreTrainedModel, training: Hyperparameters) -> None:
    """Weights, configuration, tokenizer and window: what all kinds have."""
    folder.mkdir(parents=True, exist_ok=True)
    with quiet():
        model.save_pretrained(str(folder))
    make_readable(folder / "model.safetensors")
    for name in TOKENIZER:
        if (path := base.folder.transformer / name).is_file():
            shutil.copyfile(path, folder / name)
    write_settings(
        folder / "sentence_bert_config.json",
        {"max_seq_length": window_of(base, training), "do_lower_case": base.folder.lowercase},
    )


def make_readable(path: Path) -> None:
    """Give a file the usual mode; the safetensors library writes it for the owner only."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)


def write_graph(folder: Path, head: OutputHead) -> None:
    """The graph that LexFuse builds from the weights, with the output of a kind."""
    (folder / "onnx").mkdir(exist_ok=True)
    (folder / ONNX).unlink(missing_ok=True)  # else that of a training before this one would be read instead of the weights
    (folder / ONNX).write_bytes(build_graph(ModelFolder.read(folder), head).SerializeToString())


def write_modules(folder: Path, steps: list[tuple[str, str]]) -> None:
    """The modules of a sentence-transformers folder: the path and the class of each."""
    listed = [{"idx": at, "name": str(at), "path": place, "type": kind} for at, (place, kind) in enumerate(steps)]
    write_settings(folder / "modules.json", listed)


def write_settings(path: Path, values: Any) -> None:
    """Write indented JSON; the folder is created if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", "utf-8")
