"""FUSE's four kinds of models on French labour law with five seeds each, with and without a first training on pairs, on one GPU.

    python recipes/french_citizen.py backbone material citizen work
    python recipes/french_seeds.py material work [--kinds dense splade]

``material`` is what ``french_material.py`` wrote. All kinds start from the backbone in ``work``: six layers that have read the
law. The first training, on pairs from the structure of the law (``work/pairs/KIND``), has seen no judgement of a question. Every
seed then learns the train questions of fr-labour, other wordings of them, other sections of the sheets with what they or their
sheet cite, and sentences that cite articles, with hard negatives from BM25 and the dense model of pairs. For the dense model,
articles near to the section that a question heads are no negatives. It learns them after the pairs and, for longer, from the
backbone (FUSE, table 5): ``work/seeds/KIND-SEED`` and ``work/seeds/KIND-direct-SEED``. SPLADE is compared by dot product and, as
``splade-cosine``, by cosine with a temperature of .05 (FUSE, table 8).

The test questions are not in ``material``. What the models say of the questions, for FUSE's tables: ``french_scores.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from french_citizen import CROSS_PAIRED, LATE_PAIRS, PAIRS, SPARSE_PAIRS, with_mined
from french_material import Asked, Material
from stages import learner_of, scored, staged

from lexfuse.train.examples.examples import Examples
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind
from lexfuse.train.models.colbert import ColbertLearner
from lexfuse.train.models.cross_encoder import CrossEncoderLearner
from lexfuse.train.models.dense import DenseLearner
from lexfuse.train.models.learner import EncodingLearner
from lexfuse.train.models.splade import SpladeLearner

WINDOW = 256
OWN, LEXICAL = 30, 30  # hard negatives of a question by the model and by BM25
NEAR = 15  # articles that are nearest to the section below a question: nobody judged them, but they may answer it
SEEDS = (1, 2, 3, 4, 5)
FOLDER, FIRST = "seeds", "pairs"  # of the models of seeds and of those of pairs alone, in the folder of work
BACKBONE, DENSE, CROSS = "backbone", "dense", "cross"
SHEETS_SHARE = 0.03  # of the pairs: titles of sheets with their texts

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
SPARSE_TUNED = Hyperparameters.usual(
    ModelKind.SPLADE, similarity="dot", temperature=1.0,
    steps=160, batch=48, learning_rate=3e-5, decay="linear", warm_up=0.1, negatives=8, turn="query", query_length=64,
    passage_length=192, flops_queries=1e-4, flops_passages=5e-5, flops_warm_up=0.0, evaluate_every=40, patience=0,
    shares={"questions": 0.3, "variants": 0.15, "labelled": 0.15, "weak": 0.4},
)  # fmt: skip
SPARSE_COSINE = SPARSE_TUNED.replace(similarity="cosine", temperature=0.05)
LATE_TUNED = Hyperparameters.usual(
    ModelKind.COLBERT, steps=120, batch=32, learning_rate=3e-5, decay="linear", warm_up=0.1, negatives=6, turn="query",
    query_length=48, passage_length=160, evaluate_every=60, patience=0, shares=TUNED.shares,
)  # fmt: skip
CROSS_TUNED = Hyperparameters.usual(
    ModelKind.CROSS, steps=200, batch=32, learning_rate=3e-5, decay="linear", warm_up=0.1, negatives=8, turn="query",
    query_length=64, passage_length=WINDOW, evaluate_every=50, patience=0, shares=TUNED.shares,
)  # fmt: skip
DIRECT: Mapping[str, Any] = {"learning_rate": 1e-4, "flops_warm_up": 0.33}  # of questions without pairs before them
DIRECT_STEPS = 2  # times as many as after the pairs


STARTS = {"pairs": "", "backbone": "-direct"}  # a seed starts after the pairs or without them; how the name of its model says so


def model_name(kind: str, start: str, seed: int) -> str:
    """The folder of a seed's model, in the folder of work."""
    return f"{FOLDER}/{kind}{STARTS[start]}-{seed}"


class Kind(NamedTuple):
    """A kind of model, the folder of what has learned from pairs alone, how it learns them, and how it learns the questions."""

    learner: Any
    paired: str
    first: Hyperparameters
    tuned: Hyperparameters


def kinds() -> dict[str, Kind]:
    """The four kinds of FUSE, and SPLADE by cosine."""
    sparse_pairs = SPARSE_PAIRS.replace(steps=SPARSE_PAIRS.steps // 2)
    return {
        DENSE: Kind(DenseLearner, f"{FIRST}/dense", PAIRS, TUNED),
        "splade": Kind(SpladeLearner, f"{FIRST}/splade", sparse_pairs, SPARSE_TUNED),
        "colbert": Kind(ColbertLearner, f"{FIRST}/colbert", LATE_PAIRS, LATE_TUNED),
        CROSS: Kind(CrossEncoderLearner, f"{FIRST}/cross", CROSS_PAIRED, CROSS_TUNED),
        "splade-cosine": Kind(SpladeLearner, f"{FIRST}/splade", sparse_pairs, SPARSE_COSINE),
    }


class Seeds:
    """The questions over one material and one folder of work."""

    def __init__(self, material: Material, work: Path) -> None:
        """Read the one, write to the other."""
        self.material, self.work = material, work
        self.articles = material.articles
        self.place = {id: at for at, id in enumerate(material.ids)}

    def train(self, names: Sequence[str]) -> None:
        """Every seed of some kinds."""
        for name in names:
            for _ in self.trained(name):
                pass

    def trained(self, name: str) -> Iterator[tuple[str, int]]:
        """Train a kind with each seed, after the pairs and without them; yield the start and the seed of each model."""
        if not (self.work / BACKBONE).exists():
            raise SystemExit(f"there is no model {str(self.work / BACKBONE)!r}; recipes/french_citizen.py makes it")
        kind, after = kinds()[name], self.first(name)
        examples = self.asked(name)
        direct = kind.tuned.replace(steps=DIRECT_STEPS * kind.tuned.steps, **DIRECT)
        settings = {"pairs": (after, kind.tuned), "backbone": (self.work / BACKBONE, direct)}
        for seed in SEEDS:
            for start, (folder, training) in settings.items():
                staged(self.work, model_name(name, start, seed), kind.learner, folder, examples, training.replace(seed=seed))
                yield start, seed

    def first(self, name: str) -> Path:
        """A kind after the first training, on pairs; a cross-encoder's have negatives by the dense model."""
        kind, examples = kinds()[name], Examples.of_pairs(self.material.pairs)
        (self.work / FIRST).mkdir(exist_ok=True)
        law = {source: len(some) for source, some in self.material.pairs.items() if source != "sheets"}
        shares = {source: (1 - SHEETS_SHARE) * amount / sum(law.values()) for source, amount in law.items()}
        shares |= {"sheets": SHEETS_SHARE} if self.material.pairs.get("sheets") else {}
        if name == CROSS:
            examples, shares = with_mined(self.work / FIRST / "cross.mined.npy", self.first(DENSE), examples), {}
        return staged(self.work, kind.paired, kind.learner, self.work / BACKBONE, examples, kind.first.replace(shares=shares))

    def asked(self, name: str) -> Examples:
        """What a kind learns from the questions; the dense model of pairs finds their negatives."""
        paired = self.first(DENSE)
        near = self.near(paired, self.material) if name == DENSE else {}
        return self.questions(learner_of(DenseLearner, paired, TUNED), self.material, near)

    def near(self, folder: Path, material: Material) -> dict[str, list[str]]:
        """The articles that BM25 and a model together rank first for the text of each section, by its title."""
        model = learner_of(DenseLearner, folder, TUNED.replace(query_length=WINDOW))
        below = dict(material.pairs["sheets"])
        scores = scored(model, model.texts([f"{title} {below[title]}" for title in material.sections], self.articles))
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
        scores = scored(model, model.texts([one.text for _, one in asked], self.articles))
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


def main() -> None:
    """Train the seeds."""
    parser = argparse.ArgumentParser(description="FUSE's kinds of models on French labour law, with several seeds")
    parser.add_argument("material", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--kinds", nargs="+", choices=[*kinds()], default=[*kinds()])
    options = parser.parse_args()
    if not options.material.is_dir():
        parser.error(f"there is no folder {str(options.material)!r}; recipes/french_material.py makes it")
    (options.work / FOLDER).mkdir(parents=True, exist_ok=True)
    Seeds(Material.read(options.material), options.work).train(options.kinds)


if __name__ == "__main__":
    main()
