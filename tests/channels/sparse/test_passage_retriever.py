"""A sparse vector for each passage, of which the best counts: its definition, changes, filters and explanations."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.channels.sparse.passage_retriever import PassageSparseRetriever
from lexfuse.channels.sparse.stored_part import SparsePart
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.encode.encoder import Side
from lexfuse.encode.passage_plan import PassagePlan, PassageScheme
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.analysis.vocabulary import Vocabulary

_FILE = Path(__file__).parents[2] / "references" / "tiny.py"
specification = importlib.util.spec_from_file_location("tiny", _FILE)
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

WORDS = [word for word in tiny.WORDS if not word.startswith("#")]
QUERIES = Queries.of(Query(f"q{at}", text) for at, text in enumerate(["rompre le contrat", "the lease ended", "congé", ""]))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    root = tmp_path_factory.mktemp("model")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXFUSE_CACHE", str(root / "cache"))
        yield tiny.folder(root / "bert", "bert", head="mlm")


def library(count=30):
    """Documents of one to many windows, one without text, two alike."""
    chance = np.random.default_rng(0)
    texts = [" ".join(chance.choice(WORDS, size=chance.choice([5, 40, 300]))) for _ in range(count)]
    texts[5], texts[9] = "", texts[4]
    return [Document(f"d{number:02}", text=text) for number, text in enumerate(texts)]


def made(folder, documents, model, **options):
    index = IndexFolder.create(folder, documents=documents)
    plan = ChannelPlan(str(model), **{"passages": PassageScheme.WINDOWS, "size": 24, "overlap": 4, **options})
    index.channels.make("splade", plan_channel("splade", plan, threads=1))
    fill_channel(index, "splade", threads=1)
    return index


def by_definition(model, documents, query, cosine=False):
    """The best dot product (or cosine) over the passages of each document, as stored."""
    encoder, plan = SparseEncoder.load(model, threads=1), PassagePlan(PassageScheme.WINDOWS, 24, 4)
    terms, weights = encoder.encode([query], Side.QUERY)[0]
    asked = np.zeros(len(encoder.terms))
    asked[terms] = weights
    found = {}
    for document in documents:
        scores = []
        for own, values in encoder.encode([text for text, _ in plan.of(document, encoder.tokens)], Side.PASSAGE):
            row, step = np.zeros(len(asked)), float(np.float32(values.max() / 255))
            row[own] = np.clip(np.rint(values.astype(np.float64) / step), 1, 255) * step
            scores.append(row @ asked / (np.linalg.norm(row) * np.linalg.norm(asked) if cosine else 1.0))
        found[document.id] = max(scores)
    return found


@pytest.mark.parametrize("cosine", [False, True])
def test_the_best_passage_counts(tmp_path, model, cosine):
    documents = library()
    with made(tmp_path / "i", documents, model) as index, index.snapshot() as snapshot:
        splade = open_retriever(snapshot, "splade", cosine=cosine, threads=1)
        assert isinstance(splade, PassageSparseRetriever)
        assert len(splade.numbering) > 2 * len(documents)
        run = splade.retrieve(QUERIES, 100)
        for query in QUERIES:
            expected = by_definition(model, documents, query.text, cosine)
            hits = run.hits(query.id)
            assert {hit.doc for hit in hits} == expected.keys()
            np.testing.assert_allclose([hit.score for hit in hits], [expected[hit.doc] for hit in hits], rtol=2e-3)
            assert [hit.doc for hit in hits] == [hit.doc for hit in sorted(hits, key=lambda hit: (-hit.score, hit.doc))]
        assert splade.score(QUERIES, run).tobytes() == run.score.tobytes()
        for k in (1, 3, 10):
            assert all(splade.retrieve(QUERIES, k).hits(one) == run.hits(one)[:k] for one in QUERIES.ids)


def test_filters_changes_and_merging(tmp_path, model):
    documents = library()
    with made(tmp_path / "once", documents, model) as once, once.snapshot() as snapshot:
        expected = open_retriever(snapshot, "splade", threads=1).retrieve(QUERIES, 100).as_dict()
    with made(tmp_path / "i", [*documents[:12], Document("x", text="la loi " * 90)], model) as index:
        index.delete(["x", "d03"])
        index.add([documents[3], *documents[12:]])
        pairs = Run.of("pairs", {"q0": {"d01": 2.0, "d20": 1.0}})
        with index.snapshot() as snapshot:
            assert np.isnan(open_retriever(snapshot, "splade", threads=1).score(QUERIES, pairs)).tolist() == [False, True]
        fill_channel(index, "splade", threads=1)
        with index.snapshot() as snapshot:
            splade = open_retriever(snapshot, "splade", threads=1)
            several = splade.retrieve(QUERIES, 100).as_dict()
            within = np.array([int(id[1:]) % 3 == 0 for id in snapshot.ids])
            kept = splade.retrieve(QUERIES, 4, within=within)
            for query in QUERIES.ids:
                allowed = [doc for doc in several[query] if int(doc[1:]) % 3 == 0]
                assert [hit.doc for hit in kept.hits(query)] == allowed[:4]
        index.merge()
        with index.snapshot() as snapshot:
            assert len(snapshot.channel("splade").parts) == 1
            assert open_retriever(snapshot, "splade", threads=1).retrieve(QUERIES, 100).as_dict() == several
    for query, ranking in expected.items():
        assert several[query].keys() == ranking.keys()
        np.testing.assert_allclose([several[query][doc] for doc in ranking], list(ranking.values()), rtol=1e-3)


def test_an_explanation_adds_up_to_the_best_passage(tmp_path, model):
    documents = library()
    with made(tmp_path / "i", documents, model) as index, index.snapshot() as snapshot:
        splade = open_retriever(snapshot, "splade", threads=1)
        run = splade.retrieve(QUERIES, 6)
        for query in QUERIES:
            hits = run.hits(query.id)
            for hit, evidence in zip(hits, splade.evidence(query, [hit.doc for hit in hits]), strict=True):
                assert sum(part.contribution for part in evidence.terms) == pytest.approx(hit.score, rel=1e-5)


def test_settings_name_the_passages_and_older_channels_have_none(tmp_path, model):
    with made(tmp_path / "i", library(12), model) as index:
        stored = dict(index.channels.named("splade").settings.options)
        assert (stored["scheme"], stored["size"], stored["overlap"]) == ("windows", 24, 4)
        assert index.channels.named("splade").passages > 12
    with made(tmp_path / "j", library(12), model, passages=None, size=None, overlap=None) as index:
        assert dict(index.channels.named("splade").settings.options) == {"int8": False, "headings": True, "terms": 0}
        with index.snapshot() as snapshot:
            assert not isinstance(open_retriever(snapshot, "splade", threads=1), PassageSparseRetriever)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"size": 30}, "say which: --passages windows"), ({"passages": "windows", "approximate": True}, "is searched exactly")],
)
def test_options_that_do_not_fit_together(options, said):
    with pytest.raises(ConfigError, match=said):
        plan_channel("splade", ChannelPlan("fr-legal-splade", **options), threads=1)


def test_parts_keep_their_passages_and_refuse_damaged_ones(tmp_path):
    terms, row = Vocabulary(["droit", "loi"]), (np.array([0, 1], np.int32), np.array([1.0, 0.5], np.float32))
    part = SparsePart.of([row] * 4, terms, np.array([0, 1, 1, 4]))
    assert (len(part), part.posting_rows.tolist()) == (3, [1, 0, 3])
    merged = SparsePart.merged([part, SparsePart.of([row], terms)], [np.array([True, True, False]), np.array([True])])
    assert (len(merged), merged.starts.tolist(), len(merged.steps)) == (3, [0, 1, 1, 2], 2)
    list(merged.save(tmp_path))
    assert SparsePart.load(tmp_path).starts.tolist() == [0, 1, 1, 2]
    np.save(tmp_path / "starts.npy", np.array([0, 1, 1, 9]))
    with pytest.raises(DataError):
        SparsePart.load(tmp_path)


def test_the_command_builds_and_searches_passages(tmp_path, model, monkeypatch, capsys):
    import sys

    from lexfuse.cli import main

    (tmp_path / "corpus.jsonl").write_text(
        "".join(json.dumps({"_id": one.id, "text": one.text or "loi"}) + "\n" for one in library(12)), "utf-8"
    )
    for arguments in (
        ["index", tmp_path / "corpus.jsonl", tmp_path / "i", "--channels", "splade", "--model", model, "--passages", "whole"],
        ["search", tmp_path / "i", "le contrat", "--channels", "splade", "--json"],
    ):
        monkeypatch.setattr(sys, "argv", ["lexfuse", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert not ended.value.code, said.err
    assert '"splade"' in said.out
