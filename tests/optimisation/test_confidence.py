"""The calibration of a confidence: it separates, is calibrated, survives a profile file, and says nothing where it cannot."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lexfuse.cli
from lexfuse import Document, Index, Qrels, Queries, Query, SearchSpec
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import plan_channel
from lexfuse.errors import ConfigError
from lexfuse.optimisation.confidence import cross_validated, fit_confidence, quality, tune_confidence
from lexfuse.optimisation.confidence_examples import ConfidenceExamples
from lexfuse.optimisation.confidence_quality import calibration_error

LAW = ("bail", "loyer", "préavis", "congé", "licenciement", "salaire", "grève", "prime", "pause", "retraite", "stage", "apprenti")
LIFE = ("crêpe", "guitare", "tomate", "dragon", "chaton", "vélo", "pizza", "plage", "fusée", "bougie", "ballon", "piano")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("confidence") / "law.index"
    texts = [f"Le {one} suit les règles du {other} et de la demande." for one in LAW for other in LAW if one != other]
    with Index.build(folder, [Document(f"d{at}", text=text, language="fr") for at, text in enumerate(texts)]) as built:
        yield built


def questions(words):
    return Queries.of(Query(f"{one} {other}", f"règles du {one} et du {other} ?", "fr") for one in words for other in words[:2])


def judged(index, queries):
    return Qrels.of((query.id, index.search(query, 1)[0].id, 1) for query in list(queries)[::2]) if len(queries) else Qrels.of([])


def test_it_recognises_what_the_corpus_does_not_answer_and_travels_in_the_profile(index, tmp_path):
    real, off = questions(LAW), questions(LIFE)
    qrels = Qrels.of((query.id, index.search(query, 1)[0].id, 1) for query in real)
    tuned = tune_confidence(index.version, "bm25", (real, qrels), off, held_out=(real, qrels, off))
    assert tuned.calibration.recognised >= 0.9
    assert tuned.calibration.refused <= 0.05
    assert tuned.held_out == tuned.calibration
    with pytest.raises(
        ConfigError, match="a test of it needs at least 1 judged and 1 off-topic questions with results, got 24 and 0"
    ):
        tune_confidence(index.version, "bm25", (real, qrels), off, held_out=(real, qrels, Queries.of([Query("x", "zzz", "fr")])))
    tuned.spec.save(tmp_path / "bm25.toml")
    spec = SearchSpec.read(tmp_path / "bm25.toml")
    assert spec == tuned.spec
    assert spec.evidence["confidence questions"] == len(real)
    known, unknown = (
        index.search(text, profile=spec).confidence for text in ("règles du bail et du loyer ?", "la crêpe et le dragon")
    )
    assert known.answers
    assert known.answer > 0.5
    assert unknown is None or not unknown.answers
    short, long = (index.search("règles du bail", k, profile=spec).confidence for k in (1, 50))
    assert short == long  # it does not depend on the page
    (index.folder / "profiles").mkdir()
    (index.folder / "profiles" / "bm25.toml").write_text(spec.text(), "utf-8")
    index.refresh()
    assert index.search("règles du bail").confidence == short
    assert index.search("règles du bail", channels="bm25").confidence is None


def test_the_vector_of_a_question_tells_what_words_do_not(index, tiny, tmp_path):
    tiny.folder(tmp_path / "model", normalise=True)
    documents = [Document(f"d{at}", text=f"Le {one} suit les règles.", language="fr") for at, one in enumerate(LAW)]
    real, off = questions(LAW), questions(LIFE)
    with Index.build(tmp_path / "law.index", documents, channels={"dense": str(tmp_path / "model")}) as built:
        qrels = Qrels.of((query.id, "d0", 1) for query in real)
        tuned = tune_confidence(built.version, "hybrid", (real, qrels), off)
        spec = tuned.spec.confidence
        assert "question" in spec.features
        assert spec.model == built.snapshot.channel("dense").named.settings.fingerprint
        assert built.search("règles du bail", profile=SearchSpec.parse(tuned.spec.text())).confidence is not None
        other = tuned.spec.replace(confidence=spec.replace(model="0" * 32))
        with pytest.raises(ConfigError, match="not those of the calibration; calibrate the confidence again"):
            built.search("règles du bail", profile=other)


def test_a_direction_of_noise_is_found_out_by_cross_validation():
    """Many dimensions separate any questions; the figures of the calibration show that, those of other folds do not."""
    draw = np.random.default_rng(3)
    kinds = np.repeat([1.0, 0.0], [100, 50])
    features = tuple({"score": float(value)} for value in draw.normal(size=150))
    noise = draw.normal(size=(150, 300))
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    examples = ConfidenceExamples(features, kinds, kinds, vectors=noise, model="m")
    assert cross_validated(examples).recognised < 0.3
    told = noise.copy()
    told[:, 0] += kinds
    assert cross_validated(replace(examples, vectors=told)).recognised > 0.9


def test_judgements_of_others_teach_the_weights_and_not_the_level(index):
    """Others find twice as many best results relevant; their questions must not raise the probabilities of ours."""
    draw = np.random.default_rng(5)
    kinds = np.repeat([2, 1, 0], 300)
    values = draw.normal(0.0, 1.0, 900) - 9.0 * (kinds == 0)
    rates = (1 / (1 + np.exp(-(values - 1.0 + 2.0 * (kinds == 1))))) * (kinds > 0)
    features = tuple({"score": float(value)} for value in values)
    relevant, on_topic = (draw.uniform(size=900) < rates).astype(float), (kinds > 0).astype(float)
    pooled = ConfidenceExamples(features, relevant, on_topic)
    own = replace(pooled, further=(kinds == 1).astype(float))

    def mean(examples):
        spec = fit_confidence(examples)
        return np.mean([spec.judge(one).answer for one in features[:300]])

    assert abs(mean(own) - relevant[:300].mean()) < 0.01
    assert mean(pooled) > relevant[:300].mean() + 0.1
    assert cross_validated(own).questions == 300
    assert cross_validated(own).calibration_error < cross_validated(own).chance_limit
    assert own.some(own.own).kinds.tolist() == [2] * 300 + [0] * 300
    real, off = questions(LAW), questions(LIFE)
    qrels = judged(index, real)
    with pytest.raises(ConfigError, match="has judgements and further judgements"):
        tune_confidence(index.version, "bm25", (real, qrels), off, further=qrels)


def test_the_profiles_of_the_demo_belong_to_the_model_that_it_encodes_by():
    folder = Path(lexfuse.cli.__file__).parent / "demo_profiles" / "french-labour-law"
    made = plan_channel("dense", ChannelPlan("fr-legal-dense", int8=True)).fingerprint  # as the demo encodes
    assert SearchSpec.read(folder / "hybrid.toml").confidence.model == made
    assert not SearchSpec.read(folder / "words.toml").confidence.model


def test_too_few_questions_are_refused(index):
    few = questions(LAW[:2])
    with pytest.raises(ConfigError, match="at least 20 judged and 20 off-topic"):
        tune_confidence(index.version, "bm25", (few, judged(index, few)), few)
    with pytest.raises(ConfigError, match="there is no profile 'nowhere'; there are bm25"):
        tune_confidence(index.version, "nowhere", (few, judged(index, few)), few)


def test_probabilities_of_drawn_answers_are_calibrated():
    draw = np.random.default_rng(7)
    values = draw.uniform(-2, 2, 4000)
    right = (draw.uniform(size=4000) < 1 / (1 + np.exp(-2 * values))).astype(float)
    examples = ConfidenceExamples(tuple({"score": float(value)} for value in values), right, np.ones(4000))
    assert quality(fit_confidence(examples), examples).calibration_error < 0.03
    assert calibration_error(np.full(10, 0.9), np.zeros(10), np.ones(10)) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scale": [0.0]}, "a scale above 0"),
        ({"answer": [1.0]}, "answer has 1 numbers for 1 features; 2 are expected"),
        ({"threshold": 2.0}, "threshold must be at most 1"),
        ({"centre": [float("nan")]}, "a list of finite numbers"),
        ({"question": [0.0, 1.0]}, "belong together; give all of them or none"),
        ({"model": "m"}, "belong together; give all of them or none"),
    ],
)
def test_a_calibration_that_cannot_be_is_refused(change, words):
    values = {"features": ["score"], "centre": [0.0], "scale": [1.0], "answer": [0.0, 1.0], "topic": [0.0, 1.0], "threshold": 0.5}
    with pytest.raises(ConfigError, match=words):
        SearchSpec.from_json({"channel": [{"name": "bm25"}], "confidence": values | change})
