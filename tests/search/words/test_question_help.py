"""Everyday words, corrections and suggestions through the engine, on a small index of labour law."""

import json

import pytest

from lexfuse import Document, Index, Queries, Query, SearchSpec
from lexfuse.errors import ConfigError
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.words.correction import correct, words_of
from lexfuse.search.words.suggestion import suggester_of
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.stored_channel import ChannelSettings

TEXTS = {
    "L1": ("Durée du travail", "Les heures supplémentaires ouvrent droit à une majoration de salaire."),
    "L2": ("Rupture", "L'employeur notifie le licenciement économique au salarié par lettre recommandée."),
    "L3": ("Congés", "Le congé de paternité est accordé au salarié. Voir l'article L. 1."),
    "L4": ("Matériaux", "Les heures de fusion des alliages sup de cobalt sont soumis à déclaration par le patron pêcheur."),
    "L5": ("Rupture", "Le préavis de licenciement est d'un mois pour le salarié."),
}


def documents():
    for number, (heading, text) in TEXTS.items():
        yield Document(
            number, f"Code du travail, art. {number}", text, "fr", number=number, headings=("Livre I", f"Titre II : {heading}")
        )


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words") / "law.index"
    with Index.build(folder, documents()) as built:
        yield built


def ranking(hits):
    return [(hit.id, hit.score) for hit in hits]


def test_everyday_words_are_also_searched_as_the_law_writes_them(index):
    plain = index.search("heures sup", everyday=False)
    hits = index.search("heures sup")
    assert (plain[0].id, hits[0].id) == ("L4", "L1")
    [expansion] = hits.expansions
    assert (expansion.words, expansion.law, expansion.terms) == ("heures sup", ("heures supplémentaires",), ("supplementair",))
    added = next(part for part in hits[0].parts if part.term == "supplementair")
    assert 0 < added.in_query < 1
    assert any(match.of(hits[0].document.text) == "supplémentaires" for match in hits[0].snippet.matches)


def test_an_everyday_word_that_the_law_has_too_keeps_its_weight(index, tmp_path):
    lexicon = tmp_path / "lexicon.toml"
    lexicon.write_text('fr = [{ words = ["alliage"], law = ["alliages de cobalt"] }]', "utf-8")
    weights = {
        part.term: part.in_query
        for hit in index.search("alliage", lexicon={"everyday": False, "file": str(lexicon)}, channels=["bm25"])
        for part in hit.parts
    }
    assert weights == {"alliag": 1.0, "cobalt": pytest.approx(0.7)}


@pytest.mark.parametrize("question", ["préavis de licenciement", "article L. 1", '"congé de paternité"', "alliages"])
def test_questions_without_everyday_words_keep_their_rankings_to_the_byte(index, question):
    assert ranking(index.search(question)) == ranking(index.search(question, everyday=False, spelling="off"))


def test_a_run_has_a_lexicon_only_if_its_search_says_so(index):
    queries = Queries.of([Query("q", "heures sup", "fr")])
    without, with_one = index.run(queries, channels="bm25"), index.run(queries, channels="bm25", lexicon={})
    assert (without.hits("q")[0].doc, with_one.hits("q")[0].doc) == ("L4", "L1")
    spec = SearchSpec.of("bm25", lexicon={"weight": 0.0})
    assert ranking(index.search("heures sup", profile=spec)) == ranking(index.search("heures sup", everyday=False))
    assert SearchSpec.parse(SearchSpec.of("bm25", lexicon={"weight": 0.3, "file": "x.toml"}).text()).lexicon.weight == 0.3


def test_the_lexicon_of_the_index_folder_extends_the_usual_one(tmp_path):
    with Index.build(tmp_path / "law.index", documents()) as built:
        (built.folder / "lexicon.toml").write_text('fr = [{ words = ["paperasse"], law = ["lettre recommandée"] }]', "utf-8")
        built.refresh()
        assert built.search("la paperasse", k=1)[0].id == "L2"
        (built.folder / "lexicon.toml").write_text("fr = 3", "utf-8")
        built.refresh()
        with pytest.raises(ConfigError, match=r"lexicon\.toml"):
            built.search("la paperasse")


def test_a_question_of_unknown_words_is_corrected_with_a_way_back(index):
    hits = index.search("licensiement ekonomique")
    assert hits.correction.applied
    assert hits.correction.question == "licenciement économique"
    assert hits[0].id == "L2"
    assert index.explain("licensiement ekonomique", "L2").rank == 1
    assert list(index.search("licensiement ekonomique", spelling="off")) == []


def test_an_unclear_correction_is_offered_and_searched_only_if_wanted(index):
    hits = index.search("préavis de licensiement")  # a word of five documents is not frequent enough to be clear
    assert (hits.correction.question, hits.correction.applied) == ("préavis de licenciement", False)
    assert ranking(hits) == ranking(index.search("préavis de licensiement", spelling="off"))
    applied = index.search("préavis de licensiement", spelling="apply")
    assert ranking(applied) == ranking(index.search("préavis de licenciement"))


def test_vectors_answer_a_question_of_words_that_no_document_has(tiny, tmp_path):
    tiny.folder(tmp_path / "model", normalise=True)
    with Index.build(tmp_path / "law.index", documents(), channels={"dense": str(tmp_path / "model")}) as built:
        for channels in (["dense"], ["bm25", "dense"]):
            hits = built.search("licensiement ekonomique", channels=channels)
            assert (hits.correction.question, hits.correction.applied) == ("licenciement économique", False)
            assert ranking(hits) == ranking(built.search("licensiement ekonomique", channels=channels, spelling="off"))
        assert built.search("licensiement ekonomique", channels=["bm25"]).correction.applied


@pytest.mark.parametrize("question", ["mon patron", "préavis pour Licensy", "L. 1237-99", "xyzzy", "ou", '"licensiement"'])
def test_words_of_the_lexicon_names_citations_and_phrases_stay(index, question):
    assert index.did_you_mean(question) is None


def test_a_question_in_another_language_is_not_misspelt(index):
    assert index.did_you_mean("the notise of a licence and its saleries") is None
    assert index.did_you_mean("le préavis de licenciment").question == "le préavis de licenciement"


def test_a_deleted_word_is_not_offered(tmp_path):
    with Index.build(tmp_path / "law.index", documents()) as built:
        assert built.did_you_mean("patternité").question == "paternité"
        built.delete(["L3"])
        assert built.did_you_mean("patternité") is None


def test_suggestions_come_from_numbers_headings_questions_and_words(index):
    (index.folder / "questions.txt").write_text("Quelle est la durée du préavis ?\n", "utf-8")
    index.refresh()
    kinds = {(one.kind.value, one.text) for text in ("L. 2", "rup", "durée", "licenc") for one in index.suggest(text)}
    assert kinds >= {
        ("article", "Code du travail, art. L2"),
        ("heading", "Rupture"),
        ("question", "Quelle est la durée du préavis ?"),
        ("heading", "Durée du travail"),
        ("words", "licenciement"),
    }
    assert index.suggest("") == index.suggest("x" * 500) == []
    with pytest.raises(ConfigError, match="k must be between 1 and 50"):
        index.suggest("loi", 0)


def test_unknown_values_are_refused(index):
    with pytest.raises(ConfigError, match="spelling must be one of auto, apply, off; got 'maybe'"):
        index.search("loi", spelling="maybe")
    with pytest.raises(ConfigError, match="lexicon: weight must be at most 1"):
        SearchSpec.from_json({"channel": [{"name": "bm25"}], "lexicon": {"weight": 7}})


def test_the_same_question_gives_the_same_bytes(index):
    asked = [(text, [str(one) for one in index.suggest(text)]) for text in ("rup", "l", "congé")]
    assert json.dumps(asked) == json.dumps([(text, [str(one) for one in index.suggest(text)]) for text, _ in asked])


def test_help_outlives_the_version_that_made_its_tables(tmp_path):
    folder = tmp_path / "law.index"
    Index.build(folder, documents()).close()
    former = open_snapshot(folder)
    before = [one.text for one in suggester_of(IndexVersion(former)).suggest("licen")]
    with IndexFolder(folder) as index:
        index.channels.make("dense", ChannelSettings("dense", "model", "fingerprint"))
    with open_snapshot(folder, former) as newer:
        former.close()
        version = IndexVersion(newer)
        assert [one.text for one in suggester_of(version).suggest("licen")] == before
        assert correct(version, Query("q", "licensiement", "fr")).question == "licenciement"
        assert version.citations.named("article L. 2") == {newer.ids.ordinal("L2"): 1.0}
        assert words_of(version).count("alliages") == 1
