"""The seventh generation of the French models, which read English too, on one GPU.

    python recipes/french_material.py FR-LABOUR KALI.tgz SHEETS.tgz material
    python recipes/citizen_material.py FR-CITIZEN FR-PUBLIC FR-LABOUR CA-PARALLEL citizen
    python recipes/folded_start.py material citizen work/start
    python recipes/french_citizen.py pairs material citizen work            this and the next need a GPU
    for stage in teacher dense splade ship colbert cross transfer; do
      python recipes/french_citizen.py $stage material citizen work
    done

``work/dense-start`` and ``work/splade-start`` are the models of the fifth generation (src/lexfuse/models at commit a7f42ee).

Each stage reads what the one before left in ``work`` and resumes an interrupted run.

1. ``pairs``: the twelve layers of multilingual-e5-small learn the structure of French law by contrast (headings, titles,
   citations, sentences to their article; agreements, sheets), and marginal notes to sections within and across the languages.
2. ``teacher``: questions of the three collections, in batches of one collection, with other wordings, typing errors and everyday
   words; eight hard negatives each from what BM25 and a model rank high: that of stage 1, then the one so trained. The teacher is
   the mean of both. A candidate with more than .95 of the score of the best known answer is no negative. Some batches are
   parallel notes, so that the languages stay together.
3. ``dense``: the small model of the fifth generation learns the vectors that the teacher gives to articles, headings, questions
   and parallel text, turned into its own space; questions also with typing errors, English by the vector of the French side.
   Then the questions of stage 2 again, with negatives by the teacher. Of this model and its means with the two before it, the one
   with the highest mean of R@100 over the dev questions of the three collections remains.
4. ``splade``: the SPLADE model of the fifth generation learns the questions again, and headings, each with the teacher's scores
   of what the teacher ranks high. ``colbert`` and ``cross``: late interaction and a cross-encoder with twelve layers from the
   model of stage 1, by pairs, then by the questions and what the teacher ranks high.
5. ``transfer``: stage 2 without any question about one code; measured on the dev questions about that code.
6. ``backbone``: masked-language training of every second layer of the start on the law of both languages: what the seeds of
   ``french_seeds.py`` start from. ``splade-pairs``: pairs from there, and ``splade-table``, SPLADE that reads questions without a
   model.

Dev figures are R@10, R@100, R@500 and RR@100 on the dev questions of each collection, by the first 256 tokens of an article. The
tests are not in the material.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from citizen_material import CitizenMaterial, ParallelText
from french_material import Material
from stages import DEV, averaged, learner_of, say, scored, ship, shown, staged, with_layers
from stages import mined as mined_once
from wordings import everyday, misspelt

from lexfuse.data.arrays import F32
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.encode.encoder import Side
from lexfuse.encode.tokenizer import Row
from lexfuse.train.adaptation.masked_language import MaskedLanguageLearner
from lexfuse.train.examples.dev_evaluation import DevQueries
from lexfuse.train.examples.examples import NOTHING, Examples
from lexfuse.train.examples.training_pair import TrainingPair
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind
from lexfuse.train.loop.model_negatives import mine_with_model
from lexfuse.train.models.base_model import chunks
from lexfuse.train.models.colbert import ColbertLearner
from lexfuse.train.models.cross_encoder import CrossEncoderLearner
from lexfuse.train.models.dense import DenseLearner
from lexfuse.train.models.learner import TOKENS, TokenisedTexts
from lexfuse.train.models.splade import SpladeLearner
from lexfuse.train.models.student import StudentLearner

WINDOW = 256
PIECE_WORDS = 170  # of a text that the backbone reads at once: about 250 tokens
MASKED = 0.25  # of the tokens that the backbone predicts
HEADINGS = 60_000  # of the pairs, whose vectors the small model learns
CROSS_PAIRS = 40_000  # that the cross-encoder learns from, a sample of all pairs
OWN, LEXICAL = 40, 25  # hard negatives of a question by the model and by BM25
RANKED = 200  # articles of the model that negatives are taken from
GUARD = 0.95  # of the score of the best known answer: what has more is no negative
TURNED_BY = 20_000  # texts that the spaces of two models are compared by
STAGES = (
    "pairs", "teacher", "dense", "splade", "colbert", "cross", "transfer", "backbone", "splade-pairs", "splade-table", "ship",
)  # fmt: skip
EVERY_SECOND = (0, 2, 4, 7, 9, 11)  # of the twelve layers of the start, with the first and the last
TRANSFER = "Code de la route"
MEASURES = "R@10 R@100 R@500 RR@100"

BACKBONE = Hyperparameters.usual(
    ModelKind.DENSE, steps=1200, batch=512, learning_rate=5e-4, decay="linear", warm_up=0.05, negatives=0, query_length=WINDOW,
    passage_length=WINDOW, evaluate_every=600, patience=0,
    shares={"law": 0.66, "agreements": 0.12, "sheets": 0.02, "canada": 0.1, "english": 0.1},
)  # fmt: skip
TAUGHT = Hyperparameters.usual(
    ModelKind.DENSE, steps=1000, batch=512, learning_rate=2e-4, decay="linear", warm_up=0.05, negatives=0, query_length=WINDOW,
    passage_length=WINDOW, evaluate_every=1000, patience=0,
    shares={"articles": 0.3, "headings": 0.2, "questions": 0.15, "sections": 0.15, "notes": 0.2},
)  # fmt: skip
PAIRS = Hyperparameters.usual(
    ModelKind.DENSE, steps=300, batch=1024, learning_rate=1e-4, decay="linear", warm_up=0.06, negatives=0, query_length=64,
    passage_length=WINDOW, evaluate_every=300, patience=0,
)  # fmt: skip
ASKED = Hyperparameters.usual(
    ModelKind.DENSE, steps=500, batch=64, learning_rate=5e-5, decay="linear", warm_up=0.1, negatives=8, turn="query",
    query_length=64, passage_length=WINDOW, evaluate_every=500, patience=0,
)  # fmt: skip
SPARSE_PAIRS = Hyperparameters.usual(
    ModelKind.SPLADE, similarity="dot", temperature=1.0, steps=800, batch=256, learning_rate=1.5e-4, decay="linear",
    warm_up=0.06, negatives=0, query_length=64, passage_length=192, flops_queries=1e-4, flops_passages=5e-5, start_active=2000,
    evaluate_every=1000, patience=0,
)  # fmt: skip
SPARSE_ASKED = Hyperparameters.usual(
    ModelKind.SPLADE, similarity="dot", temperature=1.0, steps=200, batch=48, learning_rate=3e-5, decay="linear", warm_up=0.1,
    negatives=8, turn="query", query_length=64, passage_length=192, flops_queries=1e-4, flops_passages=5e-5, flops_warm_up=0.0,
    start_active=0, evaluate_every=200, patience=0, distillation=0.5,
)  # fmt: skip
SPARSE_TABLE = SPARSE_ASKED.replace(steps=800, evaluate_every=800, query_table=True, distillation=0.0)
LATE_PAIRS = Hyperparameters.usual(
    ModelKind.COLBERT, steps=300, batch=192, learning_rate=1e-4, decay="linear", warm_up=0.06, negatives=0, query_length=48,
    passage_length=160, evaluate_every=300, patience=0,
)  # fmt: skip
LATE_ASKED = Hyperparameters.usual(
    ModelKind.COLBERT, steps=300, batch=32, learning_rate=3e-5, decay="linear", warm_up=0.1, negatives=6, turn="query",
    query_length=48, passage_length=160, evaluate_every=300, patience=0,
)  # fmt: skip
CROSS_PAIRED = Hyperparameters.usual(
    ModelKind.CROSS, steps=300, batch=96, learning_rate=1e-4, decay="linear", warm_up=0.06, negatives=3, query_length=64,
    passage_length=WINDOW, evaluate_every=300, patience=0,
)  # fmt: skip
CROSS_ASKED = Hyperparameters.usual(
    ModelKind.CROSS, steps=900, batch=32, learning_rate=5e-5, decay="linear", warm_up=0.1, negatives=8, turn="query",
    query_length=64, passage_length=WINDOW, evaluate_every=900, patience=0, ranking_loss="pairwise",
)  # fmt: skip
CANDIDATES = 50  # of the dense model, that the cross-encoder orders on dev
SMALL_STEPS = 300  # of questions after the teacher's vectors
MIXES = {
    "last": ("dense-last",), "mean": ("taught", "dense-last"), "late": ("taught", "dense-last", "dense-last"),
    "three": ("dense-start", "taught", "dense-last"), "two": ("dense-start", "dense-last"),
}  # of weights, one of which becomes the small model  # fmt: skip
SHARES = {
    "labour": 0.18, "labour variants": 0.05, "labelled": 0.05, "weak": 0.10, "explained": 0.06, "public": 0.18, "citizen": 0.38,
}  # of the batches of questions  # fmt: skip
PARALLEL = 0.15  # of the batches: notes across the languages
DISTILLED, DISTILLED_SHARE = 30_000, 0.35  # headings with the teacher's scores, and their share of the batches
TEACHER_TEMPERATURE = 0.05  # of the cosines that are taught


class Question(NamedTuple):
    """A wording, its source, the collection that it searches, and the articles that answer it or may well do."""

    text: str
    source: str
    collection: str
    answers: tuple[str, ...]
    spared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Searched:
    """The articles of a collection."""

    ids: list[str]
    articles: list[str]
    place: dict[str, int]

    @classmethod
    def of(cls, ids: Sequence[str], articles: Sequence[str]) -> Searched:
        """With the place of each article."""
        return cls(list(ids), list(articles), {id: at for at, id in enumerate(ids)})


class Recipe:
    """The stages over two materials and one folder of work."""

    def __init__(self, labour: Material, citizen: CitizenMaterial, work: Path) -> None:
        """Read the ones, write to the other."""
        self.labour, self.citizen, self.work = labour, citizen, work
        first, second = Searched.of(labour.ids, labour.articles), Searched.of(citizen.ids, citizen.articles)
        self.searched = {"labour": first, "public": first, "citizen": second}
        self._rows: dict[tuple[int, int, int], list[Row]] = {}
        self._vectors: dict[tuple[Path, int], torch.Tensor] = {}

    def pairs(self) -> None:
        """Structure of French law, notes of Canadian law."""
        examples, shares = self.structure(languages=True)
        staged(self.work, "paired", DenseLearner, self.work / "start", examples, PAIRS.replace(shares=shares))
        self.report(self.work / "paired")

    def teacher(self) -> None:
        """The questions, twice."""
        questions = self.questions()
        first = self.asked("teacher-first", questions, self.work / "paired")
        self.report(first)
        second = self.asked("teacher-second", questions, first, seed=2)
        self.report(second)
        self.report(averaged(self.work / "teacher", DenseLearner, [first, second], ASKED))

    def dense(self) -> None:
        """The small model: the teacher's vectors, then the questions."""
        work, start = self.work, self.work / "dense-start"
        examples = self.texts_to_teach()
        aims = self.aims(examples.queries, start)
        taught = staged(work, "taught", lambda base, training: StudentLearner(base, training, aims), start, examples, TAUGHT)
        self.report(taught)
        asked = self.with_notes(self.hard_questions())
        training = ASKED.replace(shares=shares_of(asked), steps=SMALL_STEPS)
        staged(work, "dense-last", DenseLearner, taught, asked, training)
        mixes = {
            name: averaged(work / f"dense-mix-{name}", DenseLearner, [work / one for one in folders], ASKED)
            for name, folders in MIXES.items()
        }
        for mix in mixes.values():
            self.report(mix)
        best = max(mixes, key=lambda name: self.recall(mixes[name]))
        say(f"dense: {best}, mean R@100 {self.recall(mixes[best]):.4f}")
        self.report(averaged(work / "dense", DenseLearner, [work / one for one in MIXES[best]], ASKED))

    def recall(self, folder: Path) -> float:
        """The mean over the collections of a model's R@100 on dev, which was measured."""
        found = json.loads((folder / DEV).read_text("utf-8"))
        return float(np.mean([found[name]["R@100"] for name in self.judged]))

    def aims(self, texts: Sequence[str], start: Path) -> F32:
        """The teacher's vectors of texts, turned to be as near as possible to those of a model, which keep their distances."""
        teacher, own = (learner_of(DenseLearner, folder, TAUGHT) for folder in (self.work / "teacher", start))
        vectors = encoded(teacher, teacher.texts(texts, []).queries)
        some = random.Random(13).sample(range(len(texts)), min(TURNED_BY, len(texts)))  # noqa: S311
        return vectors @ rotation(vectors[some], encoded(own, own.texts([texts[at] for at in some], []).queries))

    def texts_to_teach(self) -> Examples:
        """Texts in the order of a pair: one whose vector the teacher gives, and one that shall have the same vector."""
        draw = random.Random(7)  # noqa: S311
        headings = list(self.structure(languages=False)[0].queries)
        asked = dict.fromkeys(one.text for one in self.questions())
        texts = {
            "articles": [TrainingPair(text, text) for text in dict.fromkeys([*self.labour.articles, *self.citizen.articles])],
            "headings": [TrainingPair(text, text) for text in draw.sample(headings, min(HEADINGS, len(headings)))],
            "questions": [TrainingPair(text, misspelt(text, draw)) for text in asked],
            "sections": [TrainingPair(one.french, one.english) for one in self.citizen.parallel],
            "notes": [TrainingPair(one.french_note, one.english_note) for one in self.noted],
        }
        return Examples.of_pairs({name: list(dict.fromkeys(some)) for name, some in texts.items()})

    def backbone(self) -> None:
        """Masked-language training on law in both languages."""
        parallel = self.citizen.parallel
        read = {
            "law": [*self.labour.articles, *self.citizen.articles],
            "agreements": self.labour.documents[len(set(self.labour.article.tolist())) :],
            "sheets": [pair.passage for pair in self.labour.pairs["sheets"]],
            "canada": [one.french for one in parallel],
            "english": [one.english for one in parallel],
        }
        pieces = {name: dict.fromkeys(piece for text in texts for piece in divided(text)) for name, texts in read.items()}
        texts = Examples.of_pairs({name: [TrainingPair(piece, piece) for piece in some] for name, some in pieces.items() if some})
        training = BACKBONE.replace(shares={name: share for name, share in BACKBONE.shares.items() if pieces[name]})
        staged(
            self.work,
            "backbone",
            lambda base, settings: MaskedLanguageLearner(base, settings, masked=MASKED, new_head=True),
            with_layers(self.work / "start", self.work / "small-start", EVERY_SECOND),
            texts,
            training,
        )

    def splade(self) -> None:
        """Questions and headings with the scores of the teacher."""
        teacher = learner_of(DenseLearner, self.work / "teacher", ASKED)
        examples = self.with_scores(teacher, Examples.joined([self.hard_questions(), self.hard_headings(teacher)]))
        shares = shares_of(examples)
        shares["headings"] = DISTILLED_SHARE / (1 - DISTILLED_SHARE) * sum(shares.values())
        training = SPARSE_ASKED.replace(shares=shares)
        trained = staged(self.work, "splade", SpladeLearner, self.work / "splade-start", examples, training)
        self.report(trained, SpladeLearner, SPARSE_ASKED)

    def hard_headings(self, teacher: DenseLearner) -> Examples:
        """Headings with their articles, and what the teacher ranks high for them."""
        draw, questions = random.Random(11), list[Question]()  # noqa: S311
        asked = {one.text for one in self.questions()}  # a section that people also ask for has more answers than its articles
        for collection, pairs in (("labour", self.labour.pairs), ("citizen", self.citizen.pairs)):
            places: dict[str, list[str]] = {}
            searched = self.searched[collection]
            number = {text: id for id, text in zip(searched.ids, searched.articles, strict=True)}
            for pair in pairs.get("headings", ()):
                if pair.passage in number and pair.query not in asked:
                    places.setdefault(pair.query, []).append(number[pair.passage])
            some = draw.sample(sorted(places), min(DISTILLED // 2, len(places)))
            questions += [Question(text, "headings", collection, tuple(places[text])) for text in some]
        return self.mined(teacher, questions)

    def with_scores(self, teacher: DenseLearner, examples: Examples) -> Examples:
        """The examples with the teacher's scores of their positives and negatives."""
        texts = teacher.texts(examples.queries, examples.passages)
        queries, passages = (encoded(teacher, rows) for rows in (texts.queries, texts.passages))
        places = np.column_stack([examples.positive, examples.negatives])
        cosines = np.einsum("nd,nkd->nk", queries[examples.query], passages[places])
        scores = np.where(places == NOTHING, np.nan, cosines / TEACHER_TEMPERATURE).astype(np.float32)
        return examples.with_negatives(examples.negatives, scores)

    def splade_pairs(self) -> None:
        """The backbone, then pairs."""
        self.backbone()
        examples, shares = self.structure(languages=False)
        training = SPARSE_PAIRS.replace(shares=shares)
        paired = staged(self.work, "splade-paired", SpladeLearner, self.work / "backbone", examples, training)
        self.report(paired, SpladeLearner, SPARSE_PAIRS)

    def splade_table(self) -> None:
        """SPLADE without a model for questions: their weights are a table. Measured on the dev questions of fr-labour."""
        asked, dev = self.hard_questions(), dev_queries(self.judged["labour"], self.searched["labour"])
        training = SPARSE_TABLE.replace(shares=shares_of(asked))
        staged(self.work, "splade-table", SpladeLearner, self.work / "splade-paired", asked, training, dev)

    def ship(self) -> None:
        """The two models in 8 bits."""
        ship(self.work)

    def colbert(self) -> None:
        """Pairs from the model of pairs, then questions with the negatives of the teacher."""
        examples, shares = self.structure(languages=False)
        training = LATE_PAIRS.replace(shares=shares)
        paired = staged(self.work, "colbert-paired", ColbertLearner, self.work / "paired", examples, training)
        asked = self.hard_questions()
        training = LATE_ASKED.replace(shares=shares_of(asked))
        self.report(staged(self.work, "colbert", ColbertLearner, paired, asked, training), ColbertLearner, LATE_ASKED)

    def cross(self) -> None:
        """Pairs, then questions, each with what a dense model ranks high; measured on the teacher's first candidates."""
        paired = self.cross_pairs()
        asked = self.hard_questions()
        training = CROSS_ASKED.replace(shares=shares_of(asked))
        folder = staged(self.work, "cross", CrossEncoderLearner, paired, asked, training)
        model, found = learner_of(CrossEncoderLearner, folder, CROSS_ASKED), {}
        ranker = learner_of(DenseLearner, self.work / "teacher", ASKED)
        for name, questions in self.judged.items():
            searched = self.searched[name]
            dev = dev_queries(questions, searched)
            places, scores, _ = best_places(ranker, dev.questions, self.vectors(ranker, name), CANDIDATES)
            before = np.full((len(dev.questions), len(searched.ids)), -np.inf, np.float32)
            np.put_along_axis(before, places, scores, axis=1)
            after = scored(model, model.texts(dev.questions, dev.passages), places.astype(np.int32))
            found[name] = {
                f"{measure} {when}": value
                for when, matrix in (("before", before), ("after", after))
                for measure, value in dev.measured(matrix, "nDCG@10 R@10 RR@100").items()
            }
            say(f"cross, {name}: {shown(found[name])}")
        (folder / DEV).write_text(json.dumps(found, indent=1) + "\n", "utf-8")

    def cross_pairs(self) -> Path:
        """A sample of the pairs, with what the dense model of pairs takes for their answer."""
        model = self.work / "paired"
        examples = with_mined(self.work / "cross-paired.mined.npy", model, self.structure(languages=False)[0])
        return staged(self.work, "cross-paired", CrossEncoderLearner, model, examples, CROSS_PAIRED)

    def hard_questions(self) -> Examples:
        """The questions with the negatives of the teacher."""
        return self.mined(learner_of(DenseLearner, self.work / "teacher", ASKED), self.questions())

    def transfer(self) -> None:
        """The questions without those about one code, and how well that code is found."""
        held = {id for id, code in zip(self.citizen.ids, self.citizen.codes, strict=True) if code == TRANSFER}
        questions = [one for one in self.questions() if not held & {*one.answers}]
        model = self.asked("transfer", questions, self.work / "paired")
        for folder in (self.work / "paired", model, self.work / "teacher"):
            about = {
                id: (wordings, some)
                for id, (wordings, grades) in self.citizen.dev["citizen"].items()
                if (some := {doc: grade for doc, grade in grades.items() if doc in held})
            }
            found = self.measured(learner_of(DenseLearner, folder, ASKED), {"citizen": about})
            say(f"{folder.name}, {len(about)} dev questions about the {TRANSFER}: {shown(found['citizen'])}")

    def asked(self, name: str, questions: Sequence[Question], miner: Path, seed: int = 1) -> Path:
        """The model of pairs after questions, with the negatives of a model."""
        examples = self.with_notes(self.mined(learner_of(DenseLearner, miner, ASKED), questions))
        training = ASKED.replace(shares=shares_of(examples), seed=seed)
        return staged(self.work, name, DenseLearner, self.work / "paired", examples, training)

    def structure(self, *, languages: bool) -> tuple[Examples, dict[str, float]]:
        """Pairs of both materials, and notes; half of the batches of law are of fr-citizen's codes."""
        groups = {
            "labour": (0.4, {name: some for name, some in self.labour.pairs.items() if name != "sheets"}),
            "citizen": (0.4, {f"citizen-{name}": some for name, some in self.citizen.pairs.items()}),
            "sheets": (0.03, {"sheets": self.labour.pairs["sheets"]}),
            "notes": (0.17, self.notes(across=languages)),
        }
        pairs = {name: some for _, group in groups.values() for name, some in group.items()}
        shares = {}
        for share, group in groups.values():
            total = sum(map(len, group.values()))
            shares |= {name: share * len(some) / total for name, some in group.items()}
        return Examples.of_pairs(pairs), shares

    @cached_property
    def noted(self) -> list[ParallelText]:
        """The parallel sections with marginal notes in both languages."""
        return [one for one in self.citizen.parallel if one.english_note and one.french_note]

    def notes(self, *, across: bool) -> dict[str, list[TrainingPair]]:
        """Marginal notes and their sections, in one language or across both."""
        found = {"note-fr": [TrainingPair(one.french_note, one.french) for one in self.noted]}
        if across:
            found |= {
                "note-en": [TrainingPair(one.english_note, one.english) for one in self.noted],
                "note-en-fr": [TrainingPair(one.english_note, one.french) for one in self.noted],
                "note-fr-en": [TrainingPair(one.french_note, one.english) for one in self.noted],
            }
        return found

    def questions(self) -> list[Question]:
        """Everything that asks for articles, with typing errors and everyday words in half of the additional wordings."""
        return list(dict.fromkeys(self._questions()))

    def _questions(self) -> Iterator[Question]:
        draw = random.Random(5)  # noqa: S311
        for text, grades in self.labour.train.values():
            yield from _with_wordings(Question(text, "labour", "labour", tuple(grades)), draw)
        for id, text in self.labour.variants:
            yield Question(text, "labour variants", "labour", tuple(self.labour.train[id][1]))
        for source, some in self.labour.more.items():
            for one in some:
                yield Question(one.text, source, "labour", tuple(one.articles), tuple(one.spared))
        for collection, judged in self.citizen.train.items():
            for wordings, grades in judged.values():
                for text in wordings:
                    yield from _with_wordings(Question(text, collection, collection, tuple(grades)), draw)

    def mined(self, model: DenseLearner, questions: Sequence[Question]) -> Examples:
        """The questions with what the model and BM25 rank high and nobody judged relevant, without what the guard holds back."""
        rows: list[tuple[str, str, list[str], str]] = []
        answers: dict[str, set[str]] = {}  # of a wording in all collections, which share articles
        for one in questions:
            searched = self.searched[one.collection]
            texts = {searched.articles[searched.place[id]] for id in (*one.answers, *one.spared)}
            answers.setdefault(one.text, set()).update(texts)
        for collection in dict.fromkeys(one.collection for one in questions):
            some, searched = [one for one in questions if one.collection == collection], self.searched[collection]
            ranked = best_places(model, [one.text for one in some], self.vectors(model, collection), RANKED)
            for one, (places, scores, known) in zip(some, ranked_with(ranked, some, searched), strict=True):
                texts = answers[one.text]
                limit = GUARD * known if known > 0 else np.inf
                own = [searched.articles[at] for at, score in zip(places, scores, strict=True) if score <= limit]
                high = {searched.articles[at] for at, score in zip(places, scores, strict=True) if score > limit}
                lexical = [searched.articles[at] for at in self.lexical(one)]
                hard = [text for text in own if text not in texts][:OWN]
                hard += [text for text in lexical if text not in texts and text not in high][:LEXICAL]
                negatives = list(dict.fromkeys(hard))
                rows += [(one.text, searched.articles[searched.place[id]], negatives, one.source) for id in one.answers]
        return Examples.of(rows, answers)

    def lexical(self, one: Question) -> list[int]:
        """What BM25 ranks for a wording; nothing for a wording that was made here."""
        rankings = self.labour.rankings if one.collection == "labour" else self.citizen.rankings[one.collection]
        return rankings.get(one.text, [])

    def with_notes(self, examples: Examples) -> Examples:
        """The examples, and notes across the languages."""
        across = {name: some for name, some in self.notes(across=True).items() if name in ("note-en-fr", "note-fr-en")}
        return Examples.joined([examples, Examples.of_pairs(across)])

    def vectors(self, model: DenseLearner, collection: str) -> torch.Tensor:
        """Those of all articles of a collection, on the device; made once for each model."""
        searched = self.searched[collection]
        key = (model.base.path, id(searched))
        if key not in self._vectors:
            self._vectors[key] = torch.from_numpy(encoded(model, self.rows(model, searched))).to(model.device)
        return self._vectors[key]

    @cached_property
    def judged(self) -> dict[str, dict[str, tuple[list[str], dict[str, int]]]]:
        """The dev questions of each collection."""
        labour = {id: ([text], dict(grades)) for id, (text, grades) in self.labour.dev.items()}
        return {"labour": labour, **self.citizen.dev}

    def report(self, folder: Path, kind: Any = DenseLearner, training: Hyperparameters = ASKED) -> None:
        """Write and print the dev figures of a model, once."""
        out = folder / DEV
        if out.exists():
            return
        model = learner_of(kind, folder, training)
        found = self.measured(model, self.judged)
        if kind is DenseLearner:
            found |= self.across(model)
        out.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        for name, measures in found.items():
            say(f"{folder.name}, {name}: {shown(measures)}")

    def measured(self, model: Any, judged: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, float]]:
        """The measures of each collection's questions; articles that two collections share are read once."""
        found = {}
        for searched in {id(one): one for one in self.searched.values()}.values():
            names = [name for name in judged if self.searched[name] is searched]
            asked = {name: dev_queries(judged[name], searched) for name in names}
            texts = [text for dev in asked.values() for text in dev.questions]
            scores = self.scores(model, texts, searched, names[0]) if asked else np.empty((0, 0), np.float32)
            start = 0
            for name, dev in asked.items():
                found[name] = dev.measured(scores[start : start + len(dev.questions)], MEASURES)
                start += len(dev.questions)
        return found

    def scores(self, model: Any, texts: Sequence[str], searched: Searched, collection: str) -> F32:
        """The scores of all articles of a collection for some questions."""
        queries = model.texts(texts, []).queries
        if isinstance(model, DenseLearner):
            return (torch.from_numpy(encoded(model, queries)).to(model.device) @ self.vectors(model, collection).T).cpu().numpy()
        return scored(model, TokenisedTexts(queries, self.rows(model, searched)))

    def rows(self, model: Any, searched: Searched) -> list[Row]:
        """The tokens of all articles, as a model reads them; read once for models with one vocabulary and length."""
        key = (model.base.tokens.vocabulary_size, model.training_settings.passage_length, id(searched))
        if key not in self._rows:
            self._rows[key] = model.texts([], searched.articles).passages
        return self._rows[key]

    def across(self, model: DenseLearner) -> dict[str, dict[str, float]]:
        """How often the note of a kept act finds its section in the other language among the first 10, and the first."""
        found = {}
        for name, asked, searched in (("en-fr", "english_note", "french"), ("fr-en", "french_note", "english")):
            noted = [(at, note) for at, one in enumerate(self.citizen.kept) if (note := getattr(one, asked))]
            times = {note: sum(other == note for _, other in noted) for _, note in noted}
            rows = model.texts([], [getattr(one, searched) for one in self.citizen.kept]).passages
            passages = torch.from_numpy(encoded(model, rows)).to(model.device)
            order = best_places(model, [note for _, note in noted], passages, 10)[0]
            hits = np.array([at in row for (at, _), row in zip(noted, order.tolist(), strict=True)])
            once = np.array([times[note] == 1 for _, note in noted])
            first = np.array([at == row[0] for (at, _), row in zip(noted, order.tolist(), strict=True)])
            found[name] = {
                "R@10": float(hits.mean()), "R@1": float(first.mean()), "R@10 of notes of one section": float(hits[once].mean()),
                "R@1 of notes of one section": float(first[once].mean()), "notes": len(noted), "of one section": int(once.sum()),
                "sections": len(passages),
            }  # fmt: skip
        return found


def with_mined(path: Path, model: Path, examples: Examples) -> Examples:
    """A sample of pairs for a cross-encoder, with what a dense model takes for their answer, mined once into a file."""
    rows = list(examples.rows())
    some = Examples.of(random.Random(6).sample(rows, min(CROSS_PAIRS, len(rows))))  # noqa: S311
    learner = partial(learner_of, DenseLearner, model, PAIRS)
    negatives = mined_once(path, lambda: mine_with_model(learner(), some, amount=4, skip=2, depth=60).negatives)
    return some.with_negatives(negatives)


def divided(text: str) -> list[str]:
    """A text in pieces of about as many words as the backbone reads at once."""
    words = text.split()
    amount = max(1, round(len(words) / PIECE_WORDS))
    return [" ".join(piece) for piece in np.array_split(np.array(words, dtype=object), amount)]


def _with_wordings(question: Question, draw: random.Random) -> Iterator[Question]:
    """The question, and the same with a typing error and with everyday words."""
    yield question
    yield question._replace(text=misspelt(question.text, draw))
    if (other := everyday(question.text, draw)) != question.text:
        yield question._replace(text=other)


def shares_of(examples: Examples) -> dict[str, float]:
    """The shares of the sources that there are."""
    across = {name: PARALLEL / 2 for name in ("note-en-fr", "note-fr-en")}
    return {name: share for name, share in (SHARES | across).items() if name in examples.sources}


def half(model: Any) -> torch.autocast:
    """Computation in 16 bits on a GPU."""
    return torch.autocast(model.device.type, torch.bfloat16, enabled=model.device.type == "cuda")


def dev_queries(questions: Mapping[str, tuple[Sequence[str], Mapping[str, int]]], searched: Searched) -> DevQueries:
    """Questions by their first wording, over all articles of a collection."""
    qrels = Qrels.of((id, doc, grade) for id, (_, grades) in questions.items() for doc, grade in grades.items())
    owner = np.arange(len(searched.ids), dtype=np.int32)
    texts = tuple(wordings[0] for wordings, _ in questions.values())
    return DevQueries(Ids(questions), texts, Ids(searched.ids), tuple(searched.articles), owner, qrels)


@torch.no_grad()
def encoded(model: DenseLearner, rows: Sequence[Row]) -> F32:
    """The vectors of tokenised texts, in 32 bits."""
    found = torch.empty(len(rows), model.model.config.hidden_size)
    with half(model):
        for places in chunks(rows, TOKENS):
            found[torch.from_numpy(places)] = model.vectors([rows[at] for at in places], Side.PASSAGE).float().cpu()
    return found.numpy()


def rotation(given: F32, wanted: F32) -> F32:
    """The orthogonal matrix that brings some vectors nearest to others (the orthogonal Procrustes problem)."""
    left, _, right = np.linalg.svd(given.T.astype(np.float64) @ wanted.astype(np.float64))
    return (left @ right).astype(np.float32)


def best_places(model: DenseLearner, texts: Sequence[str], passages: torch.Tensor, depth: int) -> tuple[Any, Any, Any]:
    """The places of the best passages of each text, their scores, and the vectors' products with all passages on demand."""
    queries = torch.from_numpy(encoded(model, model.texts(texts, []).queries)).to(passages.device)
    places, scores = [], []
    for start in range(0, len(queries), 1024):
        top = (queries[start : start + 1024] @ passages.T).topk(min(depth, len(passages)), dim=1)
        places.append(top.indices.cpu().numpy())
        scores.append(top.values.cpu().numpy())
    return np.concatenate(places), np.concatenate(scores), (queries, passages)


def ranked_with(
    ranked: tuple[Any, Any, Any], questions: Sequence[Question], searched: Searched
) -> Iterable[tuple[Any, Any, float]]:
    """For each question the best places, their scores, and the best score of a known answer."""
    places, scores, (queries, passages) = ranked
    for at, one in enumerate(questions):
        known = torch.tensor([searched.place[id] for id in one.answers], device=passages.device)
        yield places[at], scores[at], float((passages[known] @ queries[at]).max())


def main() -> None:
    """Run a stage."""
    parser = argparse.ArgumentParser(description="The seventh generation of the French models")
    parser.add_argument("stage", choices=STAGES)
    for name in ("material", "citizen", "work"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    recipe = Recipe(Material.read(options.material), CitizenMaterial.read(options.citizen), options.work)
    getattr(recipe, options.stage.replace("-", "_"))()


if __name__ == "__main__":
    main()
