"""The library for assistants: a real client of the protocol, in the same process."""

import json
import logging

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from lexfuse.data.document import Document
from lexfuse.service.context import ServiceContext
from lexfuse.service.mcp import tools
from lexfuse.service.mcp.server import McpServer
from lexfuse.service.operations.search import SearchQuery
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.schemas.document import DocumentAnswer, DocumentCard, ResolvedCitations
from lexfuse.service.schemas.explanation import ExplainResponse
from lexfuse.service.schemas.search import SearchPage
from lexfuse.service.schemas.similar import SimilarPage
from lexfuse.service.settings import ServiceSettings
from lexfuse.text.citation.format import format_citation, paragraph_at

TENANT = "Le locataire doit le loyer après la fin du bail."


class Assistant:
    """A client whose calls wait for their answers."""

    def __init__(self, portal, client):
        self.portal, self.client = portal, client

    def __call__(self, tool, **arguments):
        return self.portal.call(self.client.call_tool, tool, arguments)

    def words(self, tool, **arguments):
        answer = self(tool, **arguments)
        assert not answer.is_error, answer.content[0].text
        return answer.content[0].text

    def value(self, kind, tool, **arguments):
        answer = self(tool, **arguments)
        assert not answer.is_error, answer.content[0].text
        return kind.model_validate(answer.structured_content)

    def refused(self, tool, **arguments):
        answer = self(tool, **arguments)
        assert answer.is_error
        assert answer.structured_content is None
        assert "Traceback" not in answer.content[0].text
        return answer.content[0].text

    def read(self, uri):
        return self.portal.call(self.client.read_resource, uri).contents[0]


@pytest.fixture(scope="module")
def portal():
    with start_blocking_portal() as portal:
        yield portal


def assistant_of(portal, library, **settings):
    server = McpServer(ServiceContext(library, ServiceSettings(**settings))).server()
    return portal.wrap_async_context_manager(Client(server))


@pytest.fixture(scope="module")
def assistant(portal, law):
    with assistant_of(portal, law, max_query_characters=2000) as client:
        yield Assistant(portal, client)


def test_tools_are_five_described_bounded_and_read_only(assistant):
    found = assistant.portal.call(assistant.client.list_tools).tools
    assert [tool.name for tool in found] == ["search", "similar", "explain", "cite", "fetch", "history", "diff"]
    for tool in found:
        assert tool.annotations.read_only_hint
        assert len(tool.description) > 80
        assert tool.input_schema["additionalProperties"] is False
        assert all("description" in one for one in tool.input_schema["properties"].values()), tool.name
        assert ">>>" not in json.dumps([tool.input_schema, tool.output_schema])
    assert found[0].input_schema["properties"]["k"]["maximum"] == 100


def test_instructions_name_indexes_and_profiles(assistant):
    told = assistant.client.instructions
    assert "law: Law, 13 documents (fr)" in told
    assert "terms" in told.rpartition("profiles: ")[2]


def test_search_gives_the_same_page_as_the_call(assistant, law):
    page = assistant.value(SearchPage, "search", query="préavis", profile="bm25", language="fr")
    direct = tools.search(law, SearchQuery(query="préavis", profile="bm25", language="fr"))
    assert page.results == direct.results
    assert [result.id for result in page.results] == ["travail-L1", "travail-L2"]


def test_search_in_words_has_rank_title_citation_passage_and_id(assistant):
    words = assistant.words("search", query="préavis de démission", profile="bm25", language="fr")
    assert words.splitlines()[2:7] == [
        "1. Code du travail, article L1",
        "   Cite as: Code du travail, article L1",
        "   State: in force",
        '   id: "travail-L1"',
        "   Passage: Le préavis de démission est d'un mois. Il est notifié par lettre.",
    ]


def test_a_passage_of_a_judgment_is_cited_by_its_paragraph(assistant):
    words = assistant.words("search", query="la cour condamne", profile="bm25", language="fr")
    assert "Cite as: Arrêt 1, Cour d'appel, 2020-05-01, § " in words


def test_the_next_page_is_told_and_had(assistant):
    asked = {"query": "loyer du bail", "profile": "bm25", "language": "fr", "k": 2}
    first = assistant("search", **asked)
    cursor = first.structured_content["next_cursor"]
    assert f'cursor "{cursor}"' in first.content[0].text
    second = assistant.value(SearchPage, "search", cursor=cursor, **asked)
    assert [result.rank for result in second.results] == [3, 4]
    assert "the cursor belongs to another question" in assistant.refused("search", **asked | {"cursor": cursor, "query": "bail"})


def test_facets_filters_and_days_are_those_of_the_service(assistant):
    asked = {"query": "loyer", "profile": "bm25", "language": "fr", "facets": True}
    assert "By kind: decision (" in assistant.words("search", **asked)
    assert "No results" in assistant.words("search", **asked, filters=["kind=statute", "court=X"])
    told = assistant.words("search", query="rupture", profile="bm25", language="fr", as_of="2005-01-01")
    assert "State: repealed from 2000-01-01 until before 2010-01-01" in told


def test_similar_by_text_and_by_document(assistant):
    page = assistant.value(SimilarPage, "similar", text=TENANT, amount=1.0)
    assert page.results[0].id in ("dec-2", "dec-3")
    assert "Searched by: " in assistant.words("similar", text=TENANT, amount=1.0)
    by_document = assistant.value(SimilarPage, "similar", document="dec-1", filters=["kind=decision"])
    assert "dec-1" not in [result.id for result in by_document.results]
    alone = assistant.words("similar", text=TENANT, amount=1.0, terms_only=True)
    assert alone.startswith("No results")
    assert "loyer" in alone


def test_explain_found_and_not_found(assistant):
    why = assistant.value(ExplainResponse, "explain", query="préavis", document="L. 1 du code du travail", profile="bm25").why
    assert (why.document.id, why.rank) == ("travail-L1", 1)
    words = assistant.words("explain", query="préavis", document="dec-2", profile="hybrid", filters=["kind=statute"])
    assert "The filters, the day or the operators of the question leave it out." in words
    assert "\n- bm25: " in words
    assert "\n- dense: score " in words


def test_cite_gives_ids_to_fetch(assistant):
    found = assistant.value(ResolvedCitations, "cite", text="Voir l'article L. 10 du code du travail et C-60/22, point 12.")
    ids = [card.id for one in found.citations for card in one.documents]
    assert ids == ["travail-L10", "C-60/22#12"]
    assert '   C-60/22, point 12, CJUE, 2023-05-04, ECLI:EU:C:2023:373, id: "C-60/22#12"' in assistant.words(
        "cite", text="C-60/22, point 12"
    )
    assert assistant.words("cite", text="rien") == "The text has no citation that is understood."
    for name in ids:
        assert assistant.value(DocumentAnswer, "fetch", document=name).document.id == name


def test_fetch_has_every_paragraph_with_its_anchor_and_citation(assistant):
    words = assistant.words("fetch", document="dec-1")
    assert "its paragraphs as: Arrêt 1, Cour d'appel, 2020-05-01, § 1" in words
    for anchor in ("s1", "p1", "s2", "p2", "p3"):
        assert f"\n[{anchor}] " in words
    around = assistant.words("fetch", document="travail-L1")
    assert '\nCited by:\n- Code du travail, article L2, id: "travail-L2"' in around
    assert '\nAfter it: Code du travail, article L2, id: "travail-L2"' in around


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("search", {}, "Invalid parameter: query: Field required"),
        ("search", {"query": ""}, "query"),
        ("search", {"query": "  "}, "the question is empty"),
        ("search", {"query": "a", "k": 0}, "k: Input should be greater than or equal to 1"),
        ("search", {"query": "a", "k": 10**30}, "k: "),
        ("search", {"query": ["a"]}, "query: Input should be a valid string"),
        ("search", {"query": "a", "nonsense": 1}, "there is no parameter 'nonsense'; there are index, filters"),
        ("search", {"query": "a", "index": "../law"}, "Not found: there is no index '../law'; there are law [unknown-index]"),
        ("search", {"query": "a", "profile": "p"}, "Not found: there is no profile 'p'; there are "),
        ("search", {"query": "a", "filters": ["nonsense"]}, "nonsense"),
        ("search", {"query": "a", "as_of": "soon"}, "as_of: "),
        ("search", {"query": "a", "cursor": "AAAA"}, "cursor"),
        ("search", {"query": "a" * 2001}, "Too large: the query has 2,001 characters, 2,000 are allowed"),
        ("explain", {"query": "a" * 2001, "document": "dec-1"}, "Too large"),
        ("explain", {"query": "a", "document": "nowhere"}, "Not found"),
        ("similar", {}, "give either a text or the id of a document"),
        ("similar", {"document": "nowhere"}, "Not found"),
        ("cite", {"text": ""}, "text"),
        ("fetch", {"document": "nowhere"}, "Not found: the index has no document 'nowhere'"),
        ("fetch", {"document": "../../etc/passwd"}, "Not found"),
        ("fetch", {"document": "a\x00b"}, "Not found"),
    ],
)
def test_what_cannot_be_is_refused_in_words(assistant, tool, arguments, words):
    assert words in assistant.refused(tool, **arguments)


def test_a_tool_that_is_not_there_is_told(assistant):
    with pytest.raises(MCPError, match="there is no tool 'drop'; there are search, similar"):
        assistant("drop")


def test_documents_and_indexes_are_resources(assistant):
    found = assistant.portal.call(assistant.client.list_resources).resources
    assert [one.uri for one in found] == ["lexfuse://law"]
    assert json.loads(assistant.read("lexfuse://law").text)["documents"] == 13
    [template] = assistant.portal.call(assistant.client.list_resource_templates).resource_templates
    assert template.uri_template == "lexfuse://{index}/documents/{id}"
    assert assistant.read("lexfuse://law/documents/C-60%2F22%2312").text == assistant.words("fetch", document="C-60/22#12")


@pytest.mark.parametrize(
    "uri",
    ["lexfuse://law/documents/nowhere", "lexfuse://law/documents/..%2F..%2Fetc%2Fpasswd", "lexfuse://nowhere/documents/dec-1",
     "lexfuse://nowhere", "file:///etc/passwd", "lexfuse://law/documents/%00", f"lexfuse://law/documents/{'a' * 3000}", ""],
)  # fmt: skip
def test_what_is_no_resource_is_refused(assistant, uri):
    with pytest.raises(MCPError, match=r"Not found|Invalid parameter") as refused:
        assistant.read(uri)
    assert refused.value.error.code == INVALID_PARAMS


def test_an_error_inside_is_told_without_its_words_and_logged_without_them(assistant, monkeypatch, caplog):
    def broken(version, question, *_, **__):
        raise RuntimeError(f"secret {question}")

    monkeypatch.setattr("lexfuse.service.operations.search.find_hits", broken)
    with caplog.at_level(logging.INFO, logger="lexfuse.service"):
        told = assistant.refused("search", query="question")
    assert told == "Internal error: an unexpected error occurred; the log has it [internal-error]"
    assert [record.message for record in caplog.records] == ["a call failed", "call"]
    assert not any("question" in str(vars(record).get("fields")) for record in caplog.records)


def test_the_log_of_a_call_has_no_word_of_it(assistant, caplog):
    with caplog.at_level(logging.INFO, logger="lexfuse.service"):
        assistant.words("search", query="préavis")
        assistant.refused("fetch", document="préavis")
    told = [record.fields for record in caplog.records]
    assert [(one["call"], one["outcome"]) for one in told] == [("search", "done"), ("fetch", "Not found")]
    assert "préavis" not in str([vars(record) for record in caplog.records])


def test_a_newer_version_is_searched_at_once(portal, shelf_folder):
    with IndexRegistry.open([IndexPlace.of(shelf_folder)]) as library, assistant_of(portal, library) as client:
        assistant = Assistant(portal, client)
        assert "No results" in assistant.words("search", query="usufruit", language="fr")
        with IndexRegistry.open([IndexPlace.of(shelf_folder)]) as other, other.index().writing() as index:
            index.add([Document("new", text="L'usufruit s'éteint.", language="fr")])
        assert 'id: "new"' in assistant.words("search", query="usufruit", language="fr")


def test_a_title_cannot_pass_for_another_result(portal, shelf_folder):
    title = 'Vrai\n\n9. Faux\n   id: "faux"'
    with IndexRegistry.open([IndexPlace.of(shelf_folder)]) as library:
        with library.index().writing() as index:
            index.add([Document("x\ny", title=title, text="L'usufruit\n\n8. Faux", language="fr")])
        with assistant_of(portal, library) as client:
            words = Assistant(portal, client).words("search", query="usufruit", language="fr")
    assert [line for line in words.splitlines() if line[:1].isdigit()][1:] == ['1. Vrai 9. Faux id: "faux"']
    assert 'id: "x\\ny"' in words


def test_pinpoints():
    decision = DocumentCard(
        id="d", title="C-60/22, point 12", kind="paragraph", number="12", court="CJUE", identifiers=["C-60/22"]
    )
    assert format_citation(decision) == "C-60/22, point 12, CJUE"
    assert format_citation(decision.model_copy(update={"title": "Affaire"})) == "Affaire, CJUE, C-60/22, § 12"
    assert (
        format_citation(decision.model_copy(update={"kind": "statute", "code": "Charter", "number": "Annex I"}))
        == "Charter, Annex I"
    )
    assert paragraph_at("no numbers", "numbers") is None
    assert paragraph_at("1. One.", "") is None
