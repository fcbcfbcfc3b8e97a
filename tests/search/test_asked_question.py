"""Operators in a search: they filter in every channel and fusion; facets, explanations and notes take account of them."""

import pytest

from lexfuse import Document, Index, Queries, Query
from lexfuse.channels.lexical import expression_match
from lexfuse.errors import ConfigError, EmptyQuestionError
from lexfuse.storage.segments.segment import Segment

TEXTS = {
    "a": "L'abus de confiance est puni. Le vol aussi.",
    "b": "Confiance et abus : la confiance est due.",
    "c": "L’ABUS DE CONFIANCE du salarié. Le salarié est licencié.",
    "d": "Le licenciement du salarié.\n\nL'abus est rare.",
    "e": "Les licenciements économiques.",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    documents = [
        Document(
            id,
            f"Titre {id}",
            text,
            "fr",
            code="Code pénal" if id in "ab" else "Code du travail",
            extra={"judge": "Mme Durand", "fee": 12} if id == "b" else {},
        )
        for id, text in TEXTS.items()
    ]
    with Index.build(tmp_path_factory.mktemp("asked") / "index", documents) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ('"abus de confiance"', "ac"),
        ('"abus de" confiance', "ac"),
        ("confiance abus", "abcd"),
        ("abus AND confiance", "abc"),
        ("abus -confiance", "d"),
        ('abus -"abus de confiance"', "bd"),
        ("licenci*", "cde"),
        ("licenciement AND NOT économique", "d"),
        ("salarié /s licencié", "c"),
        ("salarié /p abus", "c"),
        ("salarié /2 licenciement", "d"),
        ("abus code:pénal", "ab"),
        ('abus code:"code du travail"', "cd"),
        ("abus title:c", "c"),
        ("abus id:d", "d"),
        ("abus judge:durand fee:12", "b"),
        ("abus -judge:dur*", "acd"),
        ("abus nothing:durand", "abcd"),
        ("de AND abus", "ac"),
    ],
)
@pytest.mark.parametrize("search", [{"channels": ["bm25"]}, {"channels": ["bm25", "tfidf", "tfidf-2gram"], "fusion": "rrf"}])
def test_results_satisfy_the_question(index, question, found, search):
    assert sorted(hit.id for hit in index.search(question, 10, **search)) == sorted(found)


def test_the_ranking_is_that_of_the_words(index):
    plain = {hit.id: hit.score for hit in index.search("abus confiance", 10)}
    assert {hit.id: hit.score for hit in index.search("abus AND confiance", 10)} == {id: plain[id] for id in "abc"}


def test_facets_count_what_satisfies_the_question(index):
    facets = index.search("abus -confiance", 10, facets=True, filters=["code=Code du travail"]).facets
    assert [(value.value, value.count) for facet in facets for value in facet.values] == [("Code du travail", 1)]


def test_explanations_say_which_parts_hold(index):
    [hit] = index.search('abus "abus de confiance" AND (vol OR salarié /s licencié)', 1, filters=["code=Code pénal"])
    held = {one.condition: one.holds for one in hit.explain().conditions}
    assert held == {'"abus de confiance"': True, "vol": True, "salarié /s licencié": False}
    why = index.explain("abus -confiance", "a")
    assert [(one.condition, one.holds) for one in why.conditions] == [("confiance", True)]
    assert not why.listed
    assert why.as_json()["conditions"] == [{"condition": "confiance", "holds": True}]
    assert "conditions" not in index.explain("abus", "a").as_json()


def test_notes_say_how_a_question_was_read(index):
    assert index.search("abus -confiance").notes == ("every result satisfies: NOT confiance",)
    assert index.search("abus AND (").notes == ("read as plain text: the parenthesis at character 10 is not closed",)
    assert index.search("l'« abus » -dit- de confiance").notes == ()


def test_operators_are_words_on_demand(index):
    plain = index.search('"abus" -confiance', 10, operators=False)
    assert [(hit.id, hit.score) for hit in plain] == [(hit.id, hit.score) for hit in index.search("abus confiance", 10)]
    assert plain.notes == ()


def test_runs_read_operators_on_demand(index):
    queries = Queries.of([Query("q", '"abus de confiance"'), Query("p", "abus"), Query("r", "abus -confiance")])
    run = index.run(queries, operators=True).as_dict()
    assert (sorted(run["q"]), sorted(run["p"]), sorted(run["r"])) == (["a", "c"], ["a", "b", "c", "d"], ["d"])
    assert sorted(index.run(queries).as_dict()["q"]) == ["a", "b", "c", "d"]


def test_what_cannot_be_answered_is_refused(index, monkeypatch):
    with pytest.raises(ConfigError, match="the question only filters \\(NOT abus\\); add a word"):
        index.search("-abus")
    with pytest.raises(ConfigError, match="add a word that the results are ranked by"):
        index.search('code:"Code pénal"')
    monkeypatch.setattr(expression_match, "MAX_PREFIX_WORDS", 2)
    with pytest.raises(ConfigError, match="words begin with 'lic', 2 are allowed; write more letters"):
        index.search("lic*")


@pytest.mark.parametrize("question", ["", " \n", "?!.,;", "« … »", "§ 🙂"])
def test_a_question_without_a_word_is_empty(index, question):
    with pytest.raises(EmptyQuestionError, match="ask with at least one word"):
        index.search(question)


def test_a_segment_without_positions_gives_the_same_answers(tmp_path):
    with Index.build(tmp_path / "index", [Document(id, "", text, "fr") for id, text in TEXTS.items()]) as index:
        questions = ['"abus de confiance"', "licenci* salarié", "salarié /s licencié", "abus -confiance", "text:abus -title:abus"]
        new = [[(hit.id, hit.score) for hit in index.search(question, 10)] for question in questions]
        index.refresh()
        snapshot = index.version.snapshot
        snapshot.segments[:] = [Segment(one.ids, one.channels) for one in snapshot.segments]
        assert [[(hit.id, hit.score) for hit in index.search(question, 10)] for question in questions] == new


def test_rebuilding_adds_positions(tmp_path):
    with Index.build(tmp_path / "index", [Document("a", text="la loi")]) as index:
        index.rebuild()
        assert index.snapshot.segments[0].positions is not None
        assert index.verify() == []
