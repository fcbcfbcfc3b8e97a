"""Small models of late interaction in the layouts that are found in the wild; `tiny` is the module that makes the models."""

import json
import string
from pathlib import Path

import numpy as np

WIDTH = 12


def authors(tiny, path: Path) -> Path:
    """As ColBERT's authors write it: one file of weights with the projection, and artifact.metadata."""
    folder = tiny.folder(path, "bert", head="mlm")
    _with_tokens(tiny, folder, ["[unused0]", "[unused1]"])
    size = json.loads((folder / "config.json").read_text())["vocab_size"]
    named = {name: numbers for name, numbers in tiny.tensors("bert", size, "mlm").items() if name.startswith("bert.")}
    named["linear.weight"] = _drawn(WIDTH, tiny.HIDDEN)
    tiny.safetensors(folder / "model.safetensors", named)
    _changed(folder / "config.json", architectures=["HF_ColBERT"])
    metadata = {"query_token_id": "[unused0]", "doc_token_id": "[unused1]", "query_maxlen": 40, "doc_maxlen": 120}
    (folder / "artifact.metadata").write_text(json.dumps(metadata | {"attend_to_mask_tokens": False, "mask_punctuation": True}))
    return folder


def pylate(tiny, path: Path, *, attend: bool = True) -> Path:
    """As PyLate writes it: a Dense module on tokens, markers with a space, a list of skipped words."""
    folder = tiny.folder(path, "bert")
    _with_tokens(tiny, folder, ["[Q] ", "[D] "])
    steps = [("", "sentence_transformers.models.Transformer"), ("1_Dense", "pylate.models.Dense.Dense")]
    _modules(folder, steps)
    _dense(tiny, folder / "1_Dense", WIDTH)
    values = {"query_prefix": "[Q] ", "document_prefix": "[D] ", "query_length": 36, "document_length": 100}
    values |= {"attend_to_expansion_tokens": attend, "skiplist_words": [".", ",", "court"], "model_type": "ColBERT"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(values))
    return folder


def roberta(tiny, path: Path) -> Path:
    """As sentence-transformers writes it: prompts that are words, a mask module, a family with other special tokens."""
    folder = tiny.folder(path, "roberta", prompts={"query": "de: ", "document": "the "})
    base = "sentence_transformers"
    steps = [
        ("", f"{base}.base.modules.transformer.Transformer"),
        ("1_Dense", f"{base}.base.modules.dense.Dense"),
        ("2_Mask", f"{base}.multi_vector_encoder.modules.multi_vector_mask.MultiVectorMask"),
        ("3_Normalize", f"{base}.base.modules.normalize.Normalize"),
    ]
    _modules(folder, steps)
    _dense(tiny, folder / "1_Dense", WIDTH, module_input_name="token_embeddings", module_output_name="token_embeddings")
    for name, values in (
        ("2_Mask", {"skiplist_words": list(string.punctuation), "skiplist_tasks": ["document"]}),
        ("3_Normalize", {"module_input_name": "token_embeddings"}),
    ):
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(json.dumps(values))
    expansion = {"strategy": "min", "attend": False, "length": 48, "token": "<mask>"}
    _changed(folder / "sentence_bert_config.json", query_expansion=expansion, document_length=128)
    settings = folder / "config_sentence_transformers.json"
    _changed(settings, model_type="MultiVectorEncoder", similarity_fn_name="maxsim")
    _changed(folder / "tokenizer_config.json", mask_token="<mask>")  # noqa: S106
    return folder


LAYOUTS = {"authors": authors, "pylate": pylate, "roberta": roberta}


def _with_tokens(tiny, folder: Path, names: list[str]) -> None:
    """Give the tokenizer more tokens, and the model vectors for them."""
    from tokenizers import AddedToken, Tokenizer

    made = Tokenizer.from_file(str(folder / "tokenizer.json"))
    made.add_tokens([AddedToken(name, normalized=False) for name in names])
    made.save(str(folder / "tokenizer.json"))
    size = made.get_vocab_size(with_added_tokens=True)
    _changed(folder / "config.json", vocab_size=size)
    _changed(folder / "tokenizer_config.json", mask_token="[MASK]")  # noqa: S106
    tiny.safetensors(folder / "model.safetensors", tiny.tensors("bert", size))


def _dense(tiny, folder: Path, width: int, **more) -> None:
    folder.mkdir()
    values = {"in_features": tiny.HIDDEN, "out_features": width, "bias": False}
    values |= {"activation_function": "torch.nn.modules.linear.Identity"} | more
    (folder / "config.json").write_text(json.dumps(values))
    tiny.safetensors(folder / "model.safetensors", {"linear.weight": _drawn(width, tiny.HIDDEN)})


def _modules(folder: Path, steps: list[tuple[str, str]]) -> None:
    listed = [{"idx": at, "name": str(at), "path": place, "type": kind} for at, (place, kind) in enumerate(steps)]
    (folder / "modules.json").write_text(json.dumps(listed))


def _changed(path: Path, **values) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def _drawn(rows: int, columns: int):
    return (0.3 * np.random.default_rng(rows).standard_normal((rows, columns))).astype(np.float32)
