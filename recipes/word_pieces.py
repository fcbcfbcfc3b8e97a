"""The vocabulary of the French models: WordPiece in small letters and without accents, learned from the law itself."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def learn_word_pieces(texts: Iterable[str], size: int) -> Tokenizer:
    """A vocabulary of texts; digits are single, so that numbers of articles are few entries."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    one_spelling = [normalizers.Replace(given, wanted) for given, wanted in (("’", "'"), ("œ", "oe"))]
    tokenizer.normalizer = normalizers.Sequence([*one_spelling, normalizers.BertNormalizer(lowercase=True, strip_accents=True)])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Digits()])
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=SPECIAL, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    ends = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ends)
    return tokenizer


def write_tokenizer(folder: Path, tokenizer: Tokenizer, window: int) -> None:
    """The files of a tokenizer in a model folder."""
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": window,
        "mask_token": "[MASK]",
        "pad_token": "[PAD]",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1) + "\n", "utf-8")
