"""A very small model with random weights, created in a moment, for trying a training and for examples."""

from __future__ import annotations

import string
from pathlib import Path

import torch

from lexfuse.train.models.base_model import StartingModel, quiet

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LETTERS = f"{string.ascii_lowercase}{string.digits}.,;:?!'-"
WIDTH = 16  # of its vectors
WINDOW = 64  # tokens


def tiny_base(folder: str | Path) -> StartingModel:
    """Write a BERT of one layer with its masked-language head that spells texts letter by letter; weights are constant.

    >>> base = tiny_base(folder)
    >>> base.tokens.window, base.folder.sizes.layers
    (64, 1)
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertForMaskedLM

    pieces = (*SPECIALS, *LETTERS, *(f"##{letter}" for letter in LETTERS))
    tokenizer = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token=SPECIALS[1]))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", pieces.index("[SEP]")), ("[CLS]", pieces.index("[CLS]")))
    tokenizer.add_special_tokens(list(SPECIALS))
    sizes = {"hidden_size": WIDTH, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 2 * WIDTH}
    with torch.random.fork_rng(devices=[]), quiet():
        torch.manual_seed(1)
        model = BertForMaskedLM(BertConfig(vocab_size=len(pieces), max_position_embeddings=WINDOW, **sizes))
        model.save_pretrained(str(folder))
    tokenizer.save(str(Path(folder) / "tokenizer.json"))
    return StartingModel.read(folder)
