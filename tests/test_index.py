"""The engine: an index that is built, searched, explained, run, changed and checked from Python."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import lexfuse
from lexfuse.data.document import Document
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.errors import ConfigError, DataError, NotFoundError

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def corpus():
    return lexfuse.read_corpus(EXAMPLES / "articles.csv")


@pytest.fixture
def index(tmp_path, corpus):
    with lexfuse.Index.build(tmp_path / "law.index", corpus) as built:
        yield built


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory, corpus):
    with lexfuse.Index.build(tmp_path_factory.mktemp("hybrid") / "law.index", corpus, channels=["dense"]) as built:
        yield built


def test_one_language_for_every_document(tmp_path):
    documents = [Document("a", text="Kündigungen", language="fr"), Document("b", text="Fristen")]
    with lexfuse.Index.build(tmp_path / "law.index", documents, language="de") as built:
        assert built.languages == {"de": 2}
        built.add([Document("c", text="Klagen")], language="de")
        assert [hit.id for hit in built.search("klage")] == ["c"]
        with pytest.raises(ConfigError, match="unknown language 'xx'; known are ar, ca"):
            built.search("klage", language="xx")
        with pytest.raises(ConfigError, match="unknown language 'xx'; known are ar, ca"):
            built.add([Document("d")], language="xx")


def files_of(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file() and "catalog" not in path.name
    }


def test_the_command_and_the_library_build_the_same_bytes(tmp_path):
    corpus = lexfuse.read_corpus(EXAMPLES / "articles.csv")
    bare = lexfuse.Corpus.of([replace(document, language="") for document in corpus])
    with lexfuse.Index.build(tmp_path / "library.index", bare) as index:
        assert index.languages == {"fr": len(corpus)}
    command = [Path(sys.executable).parent / "lexfuse", "index", str(EXAMPLES / "articles.csv"), str(tmp_path / "command.index")]
    subprocess.run(command, check=True, capture_output=True)
    built, commanded = files_of(tmp_path / "library.index"), files_of(tmp_path / "command.index")
    assert {path.name for path in built} == {path.name for path in commanded}
    assert sorted(built.values()) == sorted(commanded.values())


def test_languages_are_detected_when_documents_are_added(index):
    index.add([Document("new", text="The tenant shall return the keys at the end of the lease.")])
    assert index.document("new").language == "en"


def test_a_hit_has_what_people_print(index):
    hit = index.search("retard de prêt", k=1)[0]
    assert (hit.rank, hit.id, hit.title) == (1, "lib-4", "Code des bibliothèques, art. L. 4")
    assert "retard" in str(hit.snippet)
    assert hit.explain().rank == 1


def test_the_default_profile_fuses_words_with_vectors(hybrid):
    assert list(hybrid.specs) == ["hybrid", "words", "bm25", "dense"]
    assert hybrid.search("rendre un livre").profile == "hybrid"
    assert hybrid.search("rendre un livre", profile="bm25").profile == "bm25"


@pytest.mark.parametrize("other", ["dense", "colbert"])
def test_the_default_profile_takes_the_best_vectors_there_are(tmp_path, corpus, tiny, other):
    late = tiny.folder(tmp_path / "colbert") if other == "colbert" else None
    with lexfuse.Index.build(tmp_path / "law.index", corpus, channels={"splade": "", other: str(late or "")}) as index:
        fused = ["bm25", "splade"] if late else ["bm25", "dense", "splade"]
        assert [channel.name for channel in index.specs["hybrid"].channels] == fused
        assert index.search("rendre un livre", k=1)[0].id in corpus.ids


def test_options_say_how_to_search(hybrid):
    fused = hybrid.search("rendre un livre", channels=["bm25", "dense"], fusion=lexfuse.RRF(60))
    assert fused.profile == "bm25+dense"
    assert {part.source for part in fused[0].explain().parts} == {"bm25", "dense"}


def test_a_profile_and_options_exclude_each_other(hybrid):
    with pytest.raises(ConfigError, match="channels"):
        hybrid.search("rendre un livre", profile="bm25", channels=["dense"])


def test_an_unknown_profile_lists_those_there_are(index):
    with pytest.raises(NotFoundError, match="there are words, bm25"):
        index.search("livre", profile="hybrd")


def test_an_unknown_option_is_refused(index):
    with pytest.raises((ConfigError, TypeError), match="chanels"):
        index.search("livre", chanels=["bm25"])


@pytest.mark.parametrize("question", ["", " \n"])
def test_an_empty_question_is_refused(index, question):
    with pytest.raises(ConfigError, match="empty"):
        index.search(question)


def test_filters_and_days_limit_a_search(index):
    assert {hit.document.number for hit in index.search("bibliothèque", filters=["number=L1,L2"])} <= {"L1", "L2"}
    everything = index.search("bibliothèque", k=100)
    assert len(index.search("bibliothèque", k=100, as_of="1900-01-01")) < len(everything)


def test_a_document_that_was_not_found_is_explained(index):
    why = index.explain("retard de prêt", "article L. 1")
    assert (why.doc, why.listed) == ("lib-1", False)
    with pytest.raises(NotFoundError, match="lib-99"):
        index.explain("retard", "lib-99")


def test_a_run_ranks_like_a_search(hybrid):
    queries = lexfuse.read_queries(EXAMPLES / "questions.csv")
    run = hybrid.run(queries, profile="hybrid", depth=6, name="mine")
    assert run.name == "mine"
    for query in queries:
        hits = [hit for hit in hybrid.search(query.text, profile="hybrid", k=6) if hit.found != "citation"]
        ranked = {hit.doc: hit.score for hit in run.hits(query.id)}
        assert {hit.id: hit.score for hit in hits}.items() <= ranked.items()


def test_documents_like_one_leave_it_out(index):
    found = index.similar(document="lib-4", k=3)
    assert "lib-4" not in [hit.id for hit in found]
    assert (len(found), found[0].rank) == (3, 1)
    assert found.eligible.own == ("lib-4",)
    with pytest.raises(ConfigError, match="either a text or"):
        index.similar()


def test_an_index_sees_its_own_changes_and_those_of_others_after_a_refresh(index):
    with lexfuse.Index.open(index.folder) as other:
        assert len(other) == 6
        assert index.delete(["lib-1", "lib-99"]).missing == ("lib-99",)
        assert len(index) == 5
        assert len(other) == 6
        other.refresh()
        assert len(other) == 5


def test_adding_and_deleting_leaves_the_same_ranking(index):
    before = [(hit.id, hit.score) for hit in index.search("prêt de livres")]
    index.add([Document("guest", text="Le prêt de livres est gratuit.", language="fr")])
    assert "guest" in [hit.id for hit in index.search("prêt de livres")]
    index.delete(["guest"])
    assert [(hit.id, hit.score) for hit in index.search("prêt de livres")] == before
    index.merge()
    assert [(hit.id, hit.score) for hit in index.search("prêt de livres")] == before
    assert index.verify() == []


def test_a_document_is_added_once_and_updated_by_name(index, corpus):
    with pytest.raises(DataError, match="already"):
        index.add([corpus[0]])
    index.update([replace(corpus[0], text="Le bâtiment ferme à midi.")])
    assert index.document(corpus[0].id).text == "Le bâtiment ferme à midi."


def test_channels_are_filled_dropped_and_resumed(index):
    filled = index.add_channels(["dense"])
    assert (filled["dense"].encoded, index.channels) == (6, ("dense",))
    index.add([Document("new", text="Le prêt est gratuit.", language="fr")])
    assert index.add_channels()["dense"].encoded == 1
    index.drop_channels(["dense"])
    assert index.channels == ()


def test_a_model_is_loaded_once_to_make_a_channel_and_fill_it(index, monkeypatch):
    loaded, load = [], DenseEncoder.load.__func__
    monkeypatch.setattr(
        DenseEncoder, "load", classmethod(lambda cls, *name, **how: loaded.append(name) or load(cls, *name, **how))
    )
    assert index.add_channels("dense")["dense"].encoded == 6
    assert len(loaded) == 1


def test_an_unknown_kind_of_channel_lists_those_there_are(index):
    with pytest.raises(ConfigError, match="dense, static"):
        index.add_channels(["fast"])


def test_a_build_with_an_unknown_channel_builds_nothing(tmp_path, corpus):
    with pytest.raises(ConfigError, match="no kind of channel 'dnse'"):
        lexfuse.Index.build(tmp_path / "law.index", corpus, channels="dnse")
    assert not (tmp_path / "law.index").exists()


def test_channels_are_names_with_commas_too(index):
    assert set(index.add_channels("bm25, dense, splade")) == {"dense", "splade"}


def test_a_closed_index_says_so(index):
    index.close()
    with pytest.raises(ConfigError, match="is closed"):
        index.search("livre")


def test_what_is_no_index_is_refused(tmp_path):
    with pytest.raises(NotFoundError):
        lexfuse.Index.open(tmp_path / "nowhere")


def test_a_damaged_index_is_verified_and_rebuilt(index):
    [postings, *_] = sorted((index.folder / "segments").rglob("*.npy"))
    raw = bytearray(postings.read_bytes())
    raw[-1] ^= 0xFF
    postings.write_bytes(raw)
    with lexfuse.Index.open(index.folder) as opened:
        assert opened.verify()
        opened.rebuild()
        assert opened.verify() == []


def test_filters_of_a_profile_hold_for_search_facets_run_and_similar(tmp_path, corpus):
    some = lexfuse.SearchSpec.of("bm25", filters=["number=L4,L3"], name="some")
    lexfuse.Index.build(tmp_path / "law.index", corpus).close()
    with lexfuse.Index.open(tmp_path / "law.index", profiles={"some": some}) as index:
        assert {hit.id for hit in index.search("livre prêt retard", profile="some", facets=True)} <= {"lib-3", "lib-4"}
        assert [hit.id for hit in index.search("retard de prêt", profile=some, filters=["number=L4"])] == ["lib-4"]
        assert {hit.id for hit in index.similar(document="lib-1", profile="some").hits} <= {"lib-3", "lib-4"}
