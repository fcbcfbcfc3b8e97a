"""Late interaction against its definition in numpy: MaxSim over stored token vectors, explanations, parts and changes."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.late.late_search import LateMode
from lexfuse.channels.late.retriever import LateRetriever
from lexfuse.channels.late.stored_part import TokenPart
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.encode.encoder import Side
from lexfuse.encode.late_encoder import LateEncoder
from lexfuse.encode.passage_plan import whole_text
from lexfuse.errors import ConfigError, DataError
from lexfuse.search.results import ResultBuilder, find_documents
from lexfuse.storage.index_folder import IndexFolder

REFERENCES = Path(__file__).parents[2] / "references"


def hits_of(retriever, query, k):
    return ResultBuilder([retriever], query).answers(find_documents(retriever, query, k))


def reference(name):
    specification = importlib.util.spec_from_file_location(name, REFERENCES / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


tiny, late = reference("tiny"), reference("late")
WORDS = [word for word in tiny.WORDS if not word.startswith("#")]
QUERIES = Queries.of(
    Query(f"q{number}", text)
    for number, text in enumerate(["rompre le contrat de travail", "the lease ended", "congé", "", "東京 zzz"])
)
FAR = {1: 0.2, 2: 0.1, 4: 0.03, 8: 0.005}  # by the bits of residuals: how far a similarity of random vectors may be off


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Makes model folders, each once; their graphs are kept for all tests."""
    root, made = tmp_path_factory.mktemp("models"), {}

    def folder(name="plain"):
        if name not in made:
            made[name] = tiny.folder(root / name) if name == "plain" else late.LAYOUTS[name](tiny, root / name)
        return made[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXFUSE_CACHE", str(root / "cache"))
        yield folder


def library(count=24):
    """Documents of random words: one is empty, one exceeds the window of the model several times, two say the same."""
    chance = np.random.default_rng(0)
    texts = [" ".join(chance.choice(WORDS, size=chance.integers(3, 50))) + "." for _ in range(count)]
    texts[5], texts[7], texts[9] = "", " ".join(chance.choice(WORDS, size=400)), texts[4]
    return [Document(f"d{number:02}", text=text, headings=("livre un",)) for number, text in enumerate(texts)]


def made(folder, documents, model, **choices):
    index = IndexFolder.create(folder, documents=documents)
    index.channels.make("colbert", plan_channel("colbert", ChannelPlan(str(model), **choices), threads=1))
    if documents:
        fill_channel(index, "colbert", threads=1)
    return index


def opened(index, mode=LateMode.PLAID):
    retriever = open_retriever(index.snapshot(), "colbert", threads=1)
    return LateRetriever(retriever.snapshot, retriever.encoder, mode=mode)


def maxsim(query, tokens):
    """FUSE eq. 11."""
    return (query.astype(np.float64) @ tokens.astype(np.float64).T).max(axis=1).sum()


def by_definition(colbert, query):
    """Document to score, by the vectors that the channel holds."""
    table, numbering = colbert.encoder.encode([query], Side.QUERY)[0], colbert.numbering
    found = {}
    for number, part in enumerate(colbert.snapshot.channel("colbert").parts):
        for at in range(len(part.content)):
            place = int(numbering.places[int(numbering.bases[number]) + at])
            if place >= 0:
                found[colbert.snapshot.ids[place]] = maxsim(table, part.content.vectors(at))
    return found


def check(run, expected):
    for query, scores in expected.items():
        hits = run.hits(query)
        assert {hit.doc for hit in hits} == scores.keys()
        assert [hit.doc for hit in hits] == [hit.doc for hit in sorted(hits, key=lambda hit: (-hit.score, hit.doc))]
        np.testing.assert_allclose([hit.score for hit in hits], [scores[hit.doc] for hit in hits], rtol=1e-5)


@pytest.mark.parametrize("layout", ["plain", *late.LAYOUTS])
def test_every_layout_follows_the_definition(tmp_path, models, layout):
    documents = library(12)
    with made(tmp_path / "i", documents, models(layout), bits=8) as index:
        colbert = opened(index)
        run = colbert.retrieve(QUERIES, 100)
        check(run, {one.id: by_definition(colbert, one.text) for one in QUERIES})
        assert len(run) == 12 * len(QUERIES)
        brute = opened(index, LateMode.BRUTE_FORCE).retrieve(QUERIES, 100)
        assert brute.as_dict() == run.as_dict()


@pytest.mark.parametrize("bits", FAR)
def test_scores_are_near_those_of_the_vectors_before_they_are_stored(tmp_path, models, bits):
    documents = library()
    with made(tmp_path / "i", documents, models(), bits=bits) as index:
        colbert, encoder = opened(index), LateEncoder.load(models(), threads=1)
        for query in QUERIES:
            [table] = encoder.encode([query.text], Side.QUERY)
            ours = colbert.retrieve(QUERIES, 100).as_dict()[query.id]
            for document in documents:
                exact = maxsim(table, encoder.encode([whole_text(document)], Side.PASSAGE)[0])
                assert abs(ours[document.id] - exact) / len(table) < FAR[bits]


def test_score_has_the_bits_of_retrieve_and_ten_are_the_first_of_a_hundred(tmp_path, models):
    with made(tmp_path / "i", library(120), models()) as index:
        colbert = opened(index)
        hundred, ten = colbert.retrieve(QUERIES, 100), colbert.retrieve(QUERIES, 10)
        assert colbert.score(QUERIES, hundred).tobytes() == hundred.score.tobytes()
        for query in QUERIES.ids:
            assert ten.hits(query) == hundred.hits(query)[:10]
        pairs = Run.of("other", {"q2": {"d50": 1.0, "d03": 2.0}, "q0": {"d50": 3.0}})
        known = colbert.retrieve(QUERIES, 5000).as_dict()  # more than there are candidates
        assert colbert.score(QUERIES, pairs).tolist() == [known["q2"]["d03"], known["q2"]["d50"], known["q0"]["d50"]]


def test_equal_scores_are_ranked_by_id(tmp_path, models):
    documents = [Document(id, text="la loi") for id in ("d", "b", "e", "a", "c")]
    with made(tmp_path / "i", documents, models()) as index:
        found = opened(index).retrieve(Queries.of([Query("q", "la loi")]), 4).hits("q")
        assert [hit.doc for hit in found] == ["a", "b", "c", "d"]
        assert len({hit.score for hit in found}) == 1


def test_filters(tmp_path, models):
    with made(tmp_path / "i", library(), models()) as index:
        index.delete(["d02"])
        colbert = opened(index)
        everything = colbert.retrieve(QUERIES, 100)
        assert len(everything.hits("q0")) == 23
        within = np.array([int(id[1:]) % 3 == 0 for id in colbert.snapshot.ids])
        kept = colbert.retrieve(QUERIES, 4, within=within)
        for query in QUERIES.ids:
            expected = [(hit.doc, hit.score) for hit in everything.hits(query) if int(hit.doc[1:]) % 3 == 0]
            assert [(hit.doc, hit.score) for hit in kept.hits(query)] == expected[:4]
        assert len(colbert.retrieve(QUERIES, 5, within=np.zeros(23, dtype=bool))) == 0
        with pytest.raises(ConfigError, match="one flag for each of the 23 documents"):
            colbert.retrieve(QUERIES, 5, within=np.ones(2, dtype=bool))
        with pytest.raises(ConfigError, match="k must be at least 1, got 0"):
            colbert.retrieve(QUERIES, 0)


def test_documents_that_are_not_encoded_yet(tmp_path, models):
    with made(tmp_path / "i", library()[:8], models()) as index:
        index.add([Document("new", text="la loi"), Document("d03", text="une autre loi")], update=True)
        colbert = opened(index)
        pairs = Run.of("pairs", {"q0": {"new": 4.0, "d01": 3.0, "d03": 2.0, "d05": 1.0}})
        assert np.isnan(colbert.score(QUERIES, pairs)).tolist() == [True, False, True, False]
        assert {hit.doc for hit in colbert.retrieve(QUERIES, 100).hits("q0")} == {f"d0{n}" for n in range(8)} - {"d03"}
        assert [colbert.holds(id) for id in ("new", "d01", "d03")] == [False, True, False]
        assert colbert.evidence(QUERIES.query("q0"), ["new"])[0].tokens == ()
        assert {one.document.id for one in hits_of(colbert, QUERIES.query("q0"), 20)} == {f"d0{n}" for n in range(8)} - {"d03"}
        fill_channel(index, "colbert", threads=1)
        assert not np.isnan(opened(index).score(QUERIES, pairs)).any()


def test_changes_keep_the_codec_and_end_where_an_index_built_at_once_would_be(tmp_path, models):
    documents = library()
    before = [Document(one.id, text="an older text of " + one.id) for one in documents[8:12]] + [Document("x", text="la loi")]
    with made(tmp_path / "i", [*documents[:8], *before], models()) as index:
        codec = index.channels.parts("colbert")[0].content.codec
        index.delete(["x", "d03"])
        index.add(documents[12:16])
        fill_channel(index, "colbert", threads=1)
        index.add([documents[3], *documents[8:12]], update=True)
        index.add(documents[16:])
        assert fill_channel(index, "colbert", threads=1) == 13
        several = opened(index)
        parts = several.snapshot.channel("colbert").parts
        assert len(parts) == 3
        assert all(part.content.codec.same(codec) for part in parts)
        run = several.retrieve(QUERIES, 100)
        # All of them at once by the same codec.
        whole = TokenPart.of(several.encoder.encode([whole_text(one) for one in documents], Side.PASSAGE), codec)
        for query, table in zip(QUERIES, several.read(QUERIES), strict=True):
            expected = {one.id: maxsim(table, whole.vectors(at)) for at, one in enumerate(documents)}
            ours = run.as_dict()[query.id]
            assert ours.keys() == expected.keys()
            # A residual just between two levels may be rounded the other way when its text is encoded in other company.
            np.testing.assert_allclose([ours[id] for id in expected], list(expected.values()), rtol=1e-3)
        index.merge()
        merged = opened(index)
        assert len(merged.snapshot.channel("colbert").parts) == 1
        assert merged.retrieve(QUERIES, 100).as_dict() == run.as_dict()  # merging changes no bit
        assert merged.score(QUERIES, run).tobytes() == run.score.tobytes()


@pytest.mark.parametrize("layout", ["plain", *late.LAYOUTS])
def test_an_explanation_shows_which_tokens_met_and_adds_up(tmp_path, models, layout):
    with made(tmp_path / "i", library(), models(layout)) as index:
        index.delete(["d00"])
        colbert = opened(index)
        run = colbert.retrieve(QUERIES, 100)
        texts = {id: whole_text(colbert.snapshot.document(id)) for id in colbert.snapshot.ids}
        for query in QUERIES:
            asked = colbert.encoder.words(query.text, Side.QUERY)
            for hit in [*run.hits(query.id)[:3], *(hit for hit in run.hits(query.id) if hit.doc in ("d05", "d07"))]:
                matches = colbert.evidence(query, [hit.doc])[0].tokens
                assert sum(match.similarity for match in matches) == pytest.approx(hit.score, rel=1e-5)
                assert sorted(match.in_query for match in matches) == sorted(asked)
                assert {match.in_document for match in matches} <= set(colbert.encoder.words(texts[hit.doc], Side.PASSAGE))
                assert [match.similarity for match in matches] == sorted((match.similarity for match in matches), reverse=True)
        [best, *_] = hits_of(colbert, QUERIES.query("q0"), 3)
        assert best.found == "colbert"
        assert sum(match.similarity for match in best.matches) == pytest.approx(best.score, rel=1e-5)


def test_a_word_meets_itself(tmp_path, models):
    with made(tmp_path / "i", [Document("a", text="congé"), Document("b", text="the court")], models(), bits=8) as index:
        colbert = opened(index)
        met = {match.in_query: match.in_document for match in colbert.evidence(Query("q", "congé"), ["a"])[0].tokens}
        assert met["congé"] == "congé"
        assert colbert.retrieve(Queries.of([Query("q", "congé")]), 2).hits("q")[0].doc == "a"


def test_a_model_of_another_dimension_is_refused(tmp_path, models):
    with made(tmp_path / "i", library(10), models()) as index, index.snapshot() as snapshot:
        colbert = LateRetriever(snapshot, LateEncoder.load(models("authors"), threads=1))
        with pytest.raises(ConfigError, match="has vectors of 32 numbers, the encoder gives 12; open the channel with the model"):
            colbert.retrieve(QUERIES, 10)


def test_a_model_that_was_changed_after_indexing_is_refused(tmp_path, models):
    model = late.authors(tiny, tmp_path / "m")
    with made(tmp_path / "i", library(10), model) as index:
        settings = (model / "artifact.metadata").read_text()
        (model / "artifact.metadata").write_text(settings.replace('"query_maxlen": 40', '"query_maxlen": 41'))
        with pytest.raises(DataError, match="made by another version of the model"):
            opened(index)


def test_an_empty_index_and_one_with_nothing_but_deleted_documents(tmp_path, models):
    with made(tmp_path / "i", [], models()) as index:
        assert fill_channel(index, "colbert", threads=1) == 0
        assert len(opened(index).retrieve(QUERIES, 10)) == 0
        index.add([Document("a", text="la loi"), Document("b")])
        assert np.isnan(opened(index).score(QUERIES, Run.of("x", {"q0": {"a": 1.0}}))).all()
        fill_channel(index, "colbert", threads=1)
        assert len(opened(index).retrieve(QUERIES, 10)) == 2 * len(QUERIES)
        assert len(opened(index).retrieve(Queries.of([]), 10)) == 0
        index.delete(["a", "b"])
        assert len(opened(index).retrieve(QUERIES, 10)) == 0
        index.merge()
        assert len(opened(index).retrieve(QUERIES, 10)) == 0
        assert fill_channel(index, "colbert", threads=1) == 0


def test_a_text_of_a_hundred_thousand_words(tmp_path, models):
    long = Document("long", text="loi congé " * 49_997 + "the court held that the lease ended.")
    with made(tmp_path / "i", [long, Document("b", text="judgment")], models("authors")) as index:
        colbert = opened(index)
        assert index.channels.parts("colbert")[0].content.tokens > 100_000
        question = Query("q", "the court held that the lease ended")
        run = colbert.retrieve(Queries.of([question]), 2)
        check(run, {"q": by_definition(colbert, question.text)})
        matches = colbert.evidence(question, ["long"])[0].tokens
        assert sum(match.similarity for match in matches) == pytest.approx(run.as_dict()["q"]["long"], rel=1e-5)
