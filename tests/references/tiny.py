"""Small models with random weights, the same on every machine: what tests encode with, and what torch is asked about.

Weights are drawn tensor by tensor from a generator seeded with the tensor's name, so a folder is made in milliseconds and
need not be stored; only the vectors that torch makes of it are.
"""

import json
import zlib
from pathlib import Path

import numpy as np

HIDDEN, LAYERS, HEADS, INNER, POSITIONS, LABELS = 32, 2, 4, 48, 136, 3
EMBEDDING = 20  # width of ELECTRA's embeddings
WORDS = [
    "the", "court", "held", "that", "lease", "ended", "article", "contrat", "de", "travail", "le", "salarié", "congé", "du",
    "employeur", "peut", "rompre", "préavis", "ne", "pas", "##s", "##ent", "##er", "un", "une", "loi", "judgment", "of",
]  # fmt: skip
LETTERS = "abcdefghijklmnopqrstuvwxyzéèàçù0123456789.,;:?!'-()/"
TEXTS = [
    "The court held that the lease ended.",
    "L'employeur peut rompre le contrat de travail pendant la période d'essai, sous réserve du préavis.",
    "Congés",
    "",
    "article L. 1237-19 du code du travail ; loi n° 2008-596",
    "a judgment",
    "Le salarié ne perd pas ses droits : congé, préavis (deux mois) et indemnité.",
    "Held!",
]
PAIRS = [(TEXTS[0], TEXTS[5]), (TEXTS[1], TEXTS[2]), (TEXTS[7], TEXTS[6]), (TEXTS[2], TEXTS[4])]
PROMPT = "query: "
POOLINGS = ["cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]
FAMILIES = ["bert", "roberta", "camembert", "xlm-roberta", "mpnet", "electra", "deberta-v2"]
LIKE_BERT = ("bert", "electra", "deberta-v2")  # in tokens
POOLED = ("bert", "deberta-v2")  # in their classifier
TYPES = {"bert": 2, "electra": 2, "deberta-v2": 0}  # of tokens, others have 1
DEBERTA = {  # as in version 3, with fewer buckets
    "relative_attention": True, "position_buckets": 16, "max_relative_positions": -1, "pos_att_type": ["p2c", "c2p"],
    "share_att_key": True, "norm_rel_ebd": "layer_norm", "position_biased_input": False, "pooler_hidden_act": "gelu",
}  # fmt: skip
DEBERTA_VARIANTS = {
    "version 2": {"share_att_key": False, "conv_kernel_size": 3, "conv_act": "gelu", "pos_att_type": "p2c|c2p"},
    "every distance": {"position_buckets": -1, "max_relative_positions": 24, "norm_rel_ebd": "none"},
    "one term": {"pos_att_type": ["c2p"], "share_att_key": False, "position_biased_input": True, "type_vocab_size": 2},
    "the other term": {"pos_att_type": ["p2c"], "pooler_hidden_act": "tanh", "conv_kernel_size": 5, "conv_groups": 2},
    "narrow": {"embedding_size": EMBEDDING},
    "no distances": {"relative_attention": False, "position_biased_input": True, "pos_att_type": []},
}
MULTILINGUAL = {  # the layouts of multilingual E5 and of BGE-M3, both XLM-R
    "e5": {"pooling": ["mean"], "normalise": True, "prompts": {"query": "query: ", "passage": "passage: "}},
    "bge-m3": {"pooling": ["cls"], "normalise": True},
}


def tokenizer(family: str):
    """A tokenizer of the family's kind, with its own special tokens."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    pieces = WORDS + list(LETTERS) + [f"##{letter}" for letter in LETTERS]
    if family in (*LIKE_BERT, "mpnet"):
        specials = (
            ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] if family in LIKE_BERT else ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"]
        )
        vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(specials + pieces))}
        made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106
        made.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        first, last = ("[CLS]", "[SEP]") if family in LIKE_BERT else ("<s>", "</s>")
    elif family == "roberta":
        specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        letters = sorted(pre_tokenizers.ByteLevel.alphabet())
        merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("d", "e"), ("Ġ", "de"), ("c", "o")]
        joined = ["".join(pair) for pair in merges]
        vocabulary = {piece: number for number, piece in enumerate(specials + letters + joined)}
        made = Tokenizer(models.BPE(vocabulary, merges))
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
        first, last = "<s>", "</s>"
    else:
        specials = (
            ["<s>", "<pad>", "</s>", "<unk>"]
            if family == "xlm-roberta"
            else ["<unused>", "<pad>", "<extra>", "<unk>", "<s>", "</s>"]
        )
        words = ["▁", *(f"▁{word}" for word in WORDS if not word.startswith("#")), *LETTERS, *LETTERS.upper()[:26]]
        entries = [(special, 0.0) for special in specials] + [(word, -1.0 - number / 50) for number, word in enumerate(words)]
        made = Tokenizer(models.Unigram([*entries, ("<mask>", 0.0)], unk_id=3, byte_fallback=False))
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        first, last = "<s>", "</s>"
    made.add_special_tokens([special for special in [*specials, "<mask>"] if made.token_to_id(special) is not None])
    around = [(name, made.token_to_id(name)) for name in (first, last)]
    double = [f"{last}:0"] if family not in LIKE_BERT else []
    pair = [
        f"{first}:0",
        "$A:0",
        f"{last}:0",
        *double,
        "$B:1" if family in LIKE_BERT else "$B:0",
        f"{last}:1" if family in LIKE_BERT else f"{last}:0",
    ]
    made.post_processor = processors.TemplateProcessing(single=f"{first} $A {last}", pair=" ".join(pair), special_tokens=around)
    return made


def tensors(family: str, vocabulary: int, head: str = "", settings: dict | None = None) -> dict:
    """Name -> random numbers, as a checkpoint of the family names them; ``head``: "", "mlm" or "classes"."""
    if family == "deberta-v2":
        shapes = _deberta_shapes(vocabulary, DEBERTA | (settings or {}), head)
        return {name: _drawn(family, name, shape) for name, shape in shapes.items()}
    width = EMBEDDING if family == "electra" else HIDDEN
    shapes = {
        "embeddings.word_embeddings.weight": (vocabulary, width),
        "embeddings.position_embeddings.weight": (POSITIONS, width),
        "embeddings.LayerNorm.weight": (width,),
        "embeddings.LayerNorm.bias": (width,),
    }
    if family == "electra":
        shapes |= {"embeddings_project.weight": (HIDDEN, EMBEDDING), "embeddings_project.bias": (HIDDEN,)}
    mpnet = family == "mpnet"
    if not mpnet:
        shapes["embeddings.token_type_embeddings.weight"] = (TYPES.get(family, 1), width)
    else:
        shapes["encoder.relative_attention_bias.weight"] = (32, HEADS)
    names = (
        ["attention.attn.q", "attention.attn.k", "attention.attn.v", "attention.attn.o", "attention.LayerNorm"]
        if mpnet
        else ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
              "attention.output.LayerNorm"]
    )  # fmt: skip
    for layer in range(LAYERS):
        for name in [*names, "intermediate.dense", "output.dense", "output.LayerNorm"]:
            out, into = {"intermediate.dense": (INNER, HIDDEN), "output.dense": (HIDDEN, INNER)}.get(name, (HIDDEN, HIDDEN))
            shapes[f"encoder.layer.{layer}.{name}.weight"] = (HIDDEN,) if "LayerNorm" in name else (out, into)
            shapes[f"encoder.layer.{layer}.{name}.bias"] = (out,)
    base = {"bert": "bert.", "mpnet": "mpnet.", "electra": "electra."}.get(family, "roberta.") if head else ""
    shapes = {base + name: shape for name, shape in shapes.items()}
    shapes |= _head_shapes(family, vocabulary, head)
    return {name: _drawn(family, name, shape) for name, shape in shapes.items()}


def _deberta_shapes(vocabulary: int, settings: dict, head: str) -> dict:
    """Name -> shape of a checkpoint of DeBERTa, with the parts that its settings ask for."""
    width = settings.get("embedding_size", HIDDEN)
    shapes = {"embeddings.word_embeddings.weight": (vocabulary, width)}
    if settings["position_biased_input"]:
        shapes["embeddings.position_embeddings.weight"] = (POSITIONS, width)
    if types := settings.get("type_vocab_size", 0):
        shapes["embeddings.token_type_embeddings.weight"] = (types, width)
    if width != HIDDEN:
        shapes["embeddings.embed_proj.weight"] = (HIDDEN, width)
    norms = ["embeddings.LayerNorm"]
    if settings["relative_attention"]:
        span = settings["position_buckets"] if settings["position_buckets"] > 0 else settings["max_relative_positions"]
        shapes["encoder.rel_embeddings.weight"] = (2 * span, HIDDEN)
    if "layer_norm" in settings["norm_rel_ebd"]:
        norms.append("encoder.LayerNorm")
    if size := settings.get("conv_kernel_size", 0):
        shapes["encoder.conv.conv.weight"] = (HIDDEN, HIDDEN // settings.get("conv_groups", 1), size)
        shapes["encoder.conv.conv.bias"] = (HIDDEN,)
        norms.append("encoder.conv.LayerNorm")
    names = [f"attention.self.{name}_proj" for name in ("query", "key", "value")]
    if settings["relative_attention"] and not settings["share_att_key"]:
        terms = {"c2p": "pos_key", "p2c": "pos_query"}
        names += [f"attention.self.{name}_proj" for term, name in terms.items() if term in settings["pos_att_type"]]
    for layer in range(LAYERS):
        place = f"encoder.layer.{layer}"
        norms += [f"{place}.attention.output.LayerNorm", f"{place}.output.LayerNorm"]
        for name in [*names, "attention.output.dense", "intermediate.dense", "output.dense"]:
            out, into = {"intermediate.dense": (INNER, HIDDEN), "output.dense": (HIDDEN, INNER)}.get(name, (HIDDEN, HIDDEN))
            shapes |= {f"{place}.{name}.weight": (out, into), f"{place}.{name}.bias": (out,)}
    shapes |= {f"{name}.{part}": (HIDDEN,) for name in norms for part in ("weight", "bias")}
    base = "deberta." if head else ""
    return {base + name: shape for name, shape in shapes.items()} | _head_shapes("deberta-v2", vocabulary, head, width)


def _head_shapes(family: str, vocabulary: int, head: str, width: int = HIDDEN) -> dict:
    start = "cls.predictions.transform." if family in POOLED else "lm_head."
    norm = "LayerNorm" if family in POOLED else "layer_norm"
    if head == "mlm" and family == "electra":
        return {
            "generator_predictions.dense.weight": (EMBEDDING, HIDDEN),
            "generator_predictions.dense.bias": (EMBEDDING,),
            "generator_predictions.LayerNorm.weight": (EMBEDDING,),
            "generator_predictions.LayerNorm.bias": (EMBEDDING,),
            "generator_lm_head.bias": (vocabulary,),
        }
    if head == "mlm":
        shared = "cls.predictions.bias" if family in POOLED else "lm_head.bias"
        dense = {f"{start}dense.weight": (width, HIDDEN), f"{start}dense.bias": (width,)}
        return dense | {f"{start}{norm}.weight": (width,), f"{start}{norm}.bias": (width,), shared: (vocabulary,)}
    if head == "classes":
        first = {"bert": "bert.pooler.dense", "deberta-v2": "pooler.dense"}.get(family, "classifier.dense")
        last = "classifier" if family in POOLED else "classifier.out_proj"
        return {
            f"{first}.weight": (HIDDEN, HIDDEN),
            f"{first}.bias": (HIDDEN,),
            f"{last}.weight": (LABELS, HIDDEN),
            f"{last}.bias": (LABELS,),
        }
    return {}


def _drawn(family: str, name: str, shape: tuple):
    numbers = np.random.default_rng(zlib.crc32(f"{family}/{name}".encode())).standard_normal(shape)
    if name.endswith("orm.weight"):
        return (1 + 0.1 * numbers).astype(np.float32)
    return (0.2 * numbers).astype(np.float32)


def safetensors(path: Path, named: dict, kind: str = "F32") -> None:
    """Write a safetensors file; ``kind`` may be F16."""
    named = {name: np.ascontiguousarray(values, dtype={"F32": "<f4", "F16": "<f2"}[kind]) for name, values in named.items()}
    header, place = {"__metadata__": {"format": "pt"}}, 0
    for name, values in named.items():
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [place, place + values.nbytes]}
        place += values.nbytes
    raw = json.dumps(header).encode()
    path.write_bytes(len(raw).to_bytes(8, "little") + raw + b"".join(values.tobytes() for values in named.values()))


def folder(
    path: Path,
    family: str = "bert",
    *,
    head: str = "",
    pooling=("mean",),
    normalise=False,
    dense=0,
    prompts=None,
    kind="F32",
    settings=None,
) -> Path:
    """Write a model folder; with ``head`` a plain transformers one, otherwise with the sentence-transformers layout."""
    path.mkdir(parents=True, exist_ok=True)
    made = tokenizer(family)
    made.save(str(path / "tokenizer.json"))
    size = made.get_vocab_size(with_added_tokens=True)
    pad = made.token_to_id("[PAD]" if family in LIKE_BERT else "<pad>")
    stem = {
        "bert": "Bert", "roberta": "Roberta", "camembert": "Camembert", "xlm-roberta": "XLMRoberta", "mpnet": "MPNet",
        "electra": "Electra", "deberta-v2": "DebertaV2",
    }[family]  # fmt: skip
    architecture = stem + {"": "Model", "mlm": "ForMaskedLM", "classes": "ForSequenceClassification"}[head]
    config = {
        "architectures": [architecture], "model_type": family, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "intermediate_size": INNER, "vocab_size": size, "max_position_embeddings": POSITIONS,
        "type_vocab_size": TYPES.get(family, 1), "pad_token_id": pad, "hidden_act": "gelu", "layer_norm_eps": 1e-5,
        "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "relative_attention_num_buckets": 32,
        "bos_token_id": 0, "eos_token_id": 2, "id2label": {str(number): str(number) for number in range(LABELS)},
    }  # fmt: skip
    if family == "electra":
        config["embedding_size"] = EMBEDDING
    if family == "deberta-v2":
        config |= DEBERTA | (settings or {})
    _json(path / "config.json", config)
    names = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]"}
    if family not in LIKE_BERT:
        names = {
            "pad_token": "<pad>",
            "cls_token": "<s>",
            "sep_token": "</s>",
            "unk_token": "[UNK]" if family == "mpnet" else "<unk>",
        }
    _json(path / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 128} | names)
    safetensors(path / "model.safetensors", tensors(family, size, head, settings), kind)
    if not head:
        _steps(path, pooling, normalise, dense, prompts or {})
    return path


def cross_encoder(path: Path) -> Path:
    """Write a BERT folder whose head gives one score."""
    folder(path, head="classes")
    named = tensors("bert", json.loads((path / "config.json").read_text())["vocab_size"], "classes")
    named |= {f"classifier.{kind}": named[f"classifier.{kind}"][:1] for kind in ("weight", "bias")}
    safetensors(path / "model.safetensors", named)
    return path


def _steps(path: Path, pooling, normalise: bool, dense: int, prompts: dict) -> None:
    steps = [("", "Transformer"), ("1_Pooling", "Pooling")]
    width = HIDDEN * len(pooling)
    flags = {"cls": "cls_token", "max": "max_tokens", "mean": "mean_tokens", "weightedmean": "weightedmean_tokens"}
    modes = {f"pooling_mode_{flags.get(mode, mode)}": mode in pooling for mode in POOLINGS}
    modes["pooling_mode_mean_sqrt_len_tokens"] = modes.pop("pooling_mode_mean_sqrt_len_tokens", False)
    _json(path / "1_Pooling" / "config.json", {"word_embedding_dimension": HIDDEN} | modes)
    if dense:
        steps.append(("2_Dense", "Dense"))
        values = {
            "in_features": width,
            "out_features": dense,
            "bias": True,
            "activation_function": "torch.nn.modules.activation.Tanh",
        }
        _json(path / "2_Dense" / "config.json", values)
        layer = {"linear.weight": _drawn("dense", "w", (dense, width)), "linear.bias": _drawn("dense", "b", (dense,))}
        safetensors(path / "2_Dense" / "model.safetensors", layer)
    if normalise:
        steps.append((f"{len(steps)}_Normalize", "Normalize"))
    listed = [
        {"idx": number, "name": str(number), "path": place, "type": f"sentence_transformers.models.{kind}"}
        for number, (place, kind) in enumerate(steps)
    ]
    _json(path / "modules.json", listed)
    _json(path / "sentence_bert_config.json", {"max_seq_length": 128, "do_lower_case": False})
    _json(path / "config_sentence_transformers.json", {"prompts": prompts, "default_prompt_name": None})


def _json(path: Path, values) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values, indent=1))
