"""The engine on PostgreSQL: search, filters, days, fusion, explanations, runs, advice, and what is refused."""

import pytest

import lexfuse
from lexfuse import Queries, Query
from lexfuse.errors import ConfigError, LexFuseError, UnknownDocumentError
from lexfuse.text.kli import TermChoice

QUESTIONS = Queries.of([Query(f"q{number}", text, "fr") for number, text in enumerate(
    ("préavis de démission", "durée du travail", "contrat d'apprentissage", "congés payés", "salaire minimum"))])  # fmt: skip


def hits(index, question="combien dure le préavis de démission ?", k=10, **options):
    return [(hit.id, round(hit.score, 4)) for hit in index.search(question, k, **options)]


@pytest.mark.parametrize("channels", [["dense"], ["splade"], ["dense", "splade"], ["citation", "dense"]])
@pytest.mark.parametrize("filters", [[], ["code=Code d'essai; DROP TABLE documents"], ["headings^=Partie législative > Livre 2"]])
@pytest.mark.parametrize("as_of", [None, "2015-06-01"])
def test_answers_are_those_of_the_folder(law, exported, channels, filters, as_of):
    options = {"channels": channels, "filters": filters, "as_of": as_of}
    assert hits(exported, **options) == hits(law, **options)


def test_documents_that_a_question_cites_come_first(law, exported):
    question = "que dit l'article L. 12 sur le préavis ?"
    assert next(hit.id for hit in exported.search(question, 3)) == "art-012"
    assert hits(exported, question, channels=["citation"]) == hits(law, question, channels=["citation"])


def test_profiles_snippets_and_facets(law, exported):
    assert list(exported.specs) == list(law.specs)
    found = exported.search("le préavis de démission", 5, facets=True)
    assert found[0].snippet.matches
    assert {facet.field for facet in found.facets} == {
        facet.field for facet in law.search("le préavis de démission", 5, facets=True).facets
    }


def test_pages_continue(exported):
    every = [hit.id for hit in exported.search("préavis", 6)]
    assert [hit.id for hit in exported.search("préavis", 3, after=3)] == every[3:]


@pytest.mark.parametrize("fusion", ["rrf", "tm2c2"])
def test_fusion_scores_what_only_one_channel_found(exported, fusion):
    found = exported.search("préavis de démission", 5, channels=["bm25", "dense", "splade"], fusion=fusion, depth=5)
    why = found[0].explain()
    assert [part.source for part in why.parts] == ["bm25", "dense", "splade"]
    assert not any(part.imputed for part in why.parts)
    assert sum(part.contribution for part in why.parts) == pytest.approx(why.score, rel=1e-5)


def test_runs_of_many_queries(law, exported):
    ours, theirs = (index.run(QUESTIONS, depth=20, channels=["dense", "splade"]) for index in (law, exported))
    assert {query: [hit.doc for hit in theirs.hits(query)] for query in theirs.queries} == {
        query: [hit.doc for hit in ours.hits(query)] for query in ours.queries
    }


def test_similar_documents_by_a_profile(law, exported):
    ours, theirs = ([hit.score for hit in index.similar(document="art-012", k=5, profile="dense")] for index in (law, exported))
    assert theirs == pytest.approx(ours, rel=1e-5)


def test_similar_documents_by_their_terms_and_sentences(law, exported):
    found = [index.similar(document="art-012", k=10) for index in (law, exported)]
    assert found[1].eligible.own == ("art-012",)
    ours, theirs = ({term.word for term in one.terms.terms} for one in found)
    assert len(ours & theirs) >= 0.6 * len(ours)
    assert len({hit.id for hit in found[0]} & {hit.id for hit in found[1]}) >= 8
    assert found[1].alignments.keys() == {hit.id for hit in found[1]}
    text = exported.document("art-012").text
    assert exported.similar(text, terms=TermChoice(3), terms_only=True).eligible.own == ("art-012",)


def test_advice(exported):
    judged = lexfuse.Qrels.of([(query, f"art-{10 + number:03}", 1) for number, query in enumerate(QUESTIONS.ids)])
    advice = lexfuse.advise(exported, QUESTIONS, judged, folds=2, depth=20)
    assert advice.spec.channels
    assert {cost.name for cost in advice.facts.costs} >= {"bm25", "dense", "splade"} if hasattr(advice, "facts") else True


def test_it_is_only_read(exported):
    for change in (
        lambda: exported.add([lexfuse.Document("new", text="loi")]),
        lambda: exported.delete(["art-001"]),
        exported.merge,
        exported.verify,
        lambda: exported.add_channels("dense"),
    ):
        with pytest.raises(ConfigError, match=r"an index in PostgreSQL is only read .*export it again"):
            change()


@pytest.mark.parametrize("id", ["nowhere", "'; DROP TABLE documents; --", "nul\0", '"'])
def test_ids_are_never_sql(exported, id):
    assert id not in exported
    with pytest.raises(UnknownDocumentError):
        exported.document(id)


@pytest.mark.parametrize("text", ["id); DROP TABLE documents; --=x", "documents=x", "ordinal=1", 'a"b=c', "words=loi"])
def test_names_of_fields_are_never_sql(exported, text):
    with pytest.raises(LexFuseError):
        exported.search("préavis", filters=[text])


@pytest.mark.parametrize(
    "name", ["dense'; DROP SCHEMA law CASCADE; --", 'dense" WHERE 1=1', "dense-%s", "vectors of dense", "\0"]
)
def test_names_of_channels_are_never_sql(exported, name):
    with pytest.raises(LexFuseError):
        exported.search("préavis", channels=[name])
    assert len(exported.search("préavis", 5, channels=["dense"])) == 5


@pytest.mark.parametrize("value", ["' OR 1=1 --", "$1", "%s", '"; DROP TABLE documents', "\0"])
def test_values_of_filters_are_never_sql(exported, value):
    assert not exported.search("préavis", filters=[f"code={value}"])
    assert len(exported.search("préavis", 5)) == 5


def test_it_closes_its_connections(law_address):
    index = lexfuse.Index.open(law_address)
    index.search("préavis")
    database = index.snapshot.database
    index.close()
    assert database._idle.empty()


def test_everyday_words_are_not_expanded_and_that_is_said(exported):
    found = exported.search("mon patron et le préavis", 3)
    assert found.expansions == ()
    assert any("'patron' is searched as it is written" in note for note in found.notes)
    assert found.correction is None
    assert exported.suggest("L. 12")[0].document == "art-012"
