"""What a model is adapted on: sentences drawn by chance, pairs of paragraphs, pairs of structure; none of it needs torch."""

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError, DataError, MissingDependencyError, StorageError
from lexfuse.train.adaptation.adapt import prepare, refuse_other_folder, start_from
from lexfuse.train.adaptation.adaptation_settings import (
    Adaptation,
    MlmSettings,
    SdrSettings,
    StructureSettings,
    TsdaeSettings,
    default_settings,
    plain,
)
from lexfuse.train.adaptation.corpus_sentences import all_sentences, lone_sentences, paragraph_sentences, split_off
from lexfuse.train.structure.structure_pairs import StructureKind

TEXTS = {
    "bail": "Le bail dure trois ans. Il est conclu par écrit.\n\nLe bailleur remet les clés. Le preneur paie le loyer.",
    "congé": "Le salarié a droit à un congé. Il en avise l'employeur. L'employeur répond sans délai.",
    "essai": "La période d'essai dure deux mois.\n\nElle peut être renouvelée une fois.",
    "seul": "Le présent article ne s'applique pas.",
    "court": "Abrogé.",
}


def corpus_of(texts=TEXTS):
    return Corpus.of([Document(name, text=text, language="fr") for name, text in texts.items()])


def pairs_of(examples):
    return {
        (examples.queries[query], examples.passages[positive])
        for query, positive in zip(examples.query, examples.positive, strict=True)
    }


def test_sentences_know_their_document_and_paragraph():
    found = list(all_sentences(corpus_of()))
    assert [(sentence.document, sentence.paragraph) for sentence in found] == [
        (0, 0), (0, 0), (0, 1), (0, 1), (1, 0), (1, 0), (1, 0), (2, 0), (2, 1), (3, 0),
    ]  # fmt: skip


def test_short_sentences_are_left_out_and_counted():
    report = ReadReport()
    assert "Abrogé." not in {sentence.text for sentence in all_sentences(corpus_of(), report)}
    assert report.lines() == ["1 noted: 1 sentences of fewer than 3 words are not used"]


def test_line_breaks_inside_a_sentence_make_no_other_sentence():
    corpus = corpus_of({"a": "Le bail dure\ntrois ans.", "b": "Le bail dure trois ans. Il cesse de droit."})
    assert len(lone_sentences(corpus, 5, held_out=0).train) == 2


def test_the_same_seed_draws_the_same_sentences_whatever_the_order_of_the_documents():
    forth = lone_sentences(corpus_of(), 6, seed=3)
    back = lone_sentences(corpus_of(dict(reversed(TEXTS.items()))), 6, seed=3)
    assert forth.train.queries == back.train.queries
    assert forth.dev.queries == back.dev.queries
    assert set(forth.train.queries) != set(lone_sentences(corpus_of(), 6, seed=4).train.queries)


def test_more_documents_take_no_sentence_before_another():
    small = lone_sentences(corpus_of({"bail": TEXTS["bail"]}), 10, held_out=0).train.queries
    large = [text for text in lone_sentences(corpus_of(), 10, held_out=0).train.queries if text in small]
    assert tuple(large) == small


def test_every_sentence_is_its_own_pair_and_held_out_ones_are_not_learned():
    split = lone_sentences(corpus_of(), 10, held_out=0.2)
    assert all(first == second for first, second in pairs_of(split.train))
    assert len(split.train) == 8
    assert len(split.dev) == 2
    assert not set(split.train.queries) & set(split.dev.queries)


def test_fewer_sentences_than_asked_for_are_said():
    report = ReadReport()
    assert len(lone_sentences(corpus_of(), 500, held_out=0, report=report).train) == 10
    assert any("500 sentences were asked for, the corpus has 10" in line for line in report.lines())


def test_nothing_held_out_gives_no_dev():
    assert lone_sentences(corpus_of(), 10, held_out=0).dev is None


def test_no_sentence_is_a_data_error():
    with pytest.raises(DataError, match="no sentence of 3 words"):
        lone_sentences(corpus_of({"a": "Abrogé."}), 10)


@pytest.mark.parametrize(("amount", "share"), [(1, 0.1), (10, 1.0), (10, -0.1)])
def test_amounts_and_shares_that_cannot_be(amount, share):
    with pytest.raises(ConfigError):
        lone_sentences(corpus_of(), amount, held_out=share)


def test_pairs_are_of_one_paragraph():
    paragraphs = [part for name in ("bail", "congé") for part in TEXTS[name].split("\n\n")] + [TEXTS["essai"]]
    split = paragraph_sentences(corpus_of(), 100, held_out=0)
    assert len(split.train) == 9
    for first, second in pairs_of(split.train):
        assert first != second
        assert any(first in part and second in part for part in paragraphs)


def test_a_document_of_single_sentences_counts_as_one_paragraph():
    pairs = pairs_of(paragraph_sentences(corpus_of(), 100, held_out=0).train)
    assert ("La période d'essai dure deux mois.", "Elle peut être renouvelée une fois.") in pairs


def test_sentences_of_the_same_document_are_known_not_to_be_negatives():
    train = paragraph_sentences(corpus_of(), 100, held_out=0).train
    place = train.queries.index("Le bail dure trois ans.")
    seconds = {train.passages[passage] for passage in train.answering(place)}
    assert all(second in TEXTS["bail"] for second in seconds)
    assert {second for first, second in pairs_of(train) if first in TEXTS["bail"]} == seconds


def test_whole_documents_are_held_out():
    split = paragraph_sentences(corpus_of(), 100, held_out=0.2)
    homes = [{name for name, text in TEXTS.items() if query in text} for query in split.dev.queries]
    assert not any(query in TEXTS[name] for home in homes for name in home for query in split.train.queries)
    assert len(split.train) + len(split.dev) == 9


def test_sentences_of_several_documents_are_not_used():
    shared = "La loi est la même pour tous."
    report = ReadReport()
    texts = {"a": f"{shared} Le bail dure trois ans. Il cesse de droit.", "b": f"{shared} Le salarié a un congé. Il le demande."}
    pairs = pairs_of(paragraph_sentences(corpus_of(texts), 10, held_out=0, report=report).train)
    assert not any(shared in pair for pair in pairs)
    assert "1 noted: 1 sentences that several documents have are not used" in report.lines()


def test_one_document_is_not_enough_for_pairs():
    with pytest.raises(DataError, match="fewer than two documents"):
        paragraph_sentences(corpus_of({"bail": TEXTS["bail"]}), 10)


def test_too_little_to_hold_out():
    with pytest.raises(DataError, match="too few to hold any out"):
        split_off(["a", "b"], [1, 1], 0.1)


def test_epochs_become_steps():
    assert default_settings(Adaptation.TSDAE, 9_500).steps == 1188  # 9,500 sentences in batches of 8
    assert default_settings(Adaptation.MLM, 100, epochs=2, batch=30).steps == 7
    assert default_settings(Adaptation.SDR, 5, epochs=2, batch=30).steps == 2  # batches hold all there is
    assert default_settings(Adaptation.SDR, 5, steps=40).evaluate_every == 4


def test_steps_and_epochs_together_are_refused():
    with pytest.raises(ConfigError, match="not in both"):
        default_settings(Adaptation.TSDAE, 10, steps=3, epochs=1)
    with pytest.raises(ConfigError, match="above 0"):
        default_settings(Adaptation.TSDAE, 10, epochs=0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: MlmSettings(masked=0),
        lambda: TsdaeSettings(deleted=1),
        lambda: SdrSettings(masked=2),
        lambda: SdrSettings(margin=1),
    ],
)
def test_numbers_that_cannot_be(wrong):
    with pytest.raises(ConfigError):
        wrong()


def test_methods_as_json():
    assert plain(StructureSettings(structures=(StructureKind.TITLE,))) == {"adaptation": "structure", "structures": ["title"]}


def test_structure_holds_out_whole_passages():
    documents = [
        Document(str(at), text=f"Le preneur {at} paie le loyer convenu.", language="fr", headings=(f"Le bail de type {at}",))
        for at in range(20)
    ]
    found = prepare(StructureSettings(structures=(StructureKind.HEADINGS,)), Corpus.of(documents), held_out=0.25, name="baux")
    assert len(found.split.dev) == 5
    assert not set(found.split.train.passages) & set(found.split.dev.passages)
    assert found.facts["learned from"] == "15 headings"
    assert found.training.batch == 64
    assert found.training.temperature == 0.05


def test_other_vectors_are_for_structure_alone():
    assert default_settings(Adaptation.STRUCTURE, 10, pooling="cls").pooling == "cls"
    with pytest.raises(ConfigError, match="pooling is not a setting of tsdae"):
        default_settings(Adaptation.TSDAE, 10, pooling="cls")


def test_a_corpus_without_structure():
    with pytest.raises(DataError, match="gives no pair of the kinds headings"):
        prepare(StructureSettings(structures=(StructureKind.HEADINGS,)), corpus_of())


def test_without_torch_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr("lexfuse.dependencies.find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r'pip install "lexfuse\[train\]"'):
        start_from(TsdaeSettings(), "fr-legal-mlm")


def test_only_a_trained_model_may_be_replaced(tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(StorageError, match="already exists"):
        refuse_other_folder(tmp_path, replace=False)
    with pytest.raises(StorageError, match="holds other files"):
        refuse_other_folder(tmp_path, replace=True)
    (tmp_path / "training.json").write_text("{}")
    refuse_other_folder(tmp_path, replace=True)
