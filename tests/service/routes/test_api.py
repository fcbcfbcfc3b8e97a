"""The addresses of the API: what they answer, what they refuse, and that strings stay strings."""

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lexfuse.service.api_keys import KeyScope, add_key
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.operations.documents import document
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.schemas.document import DocumentAnswer, DocumentWritten, ResolvedCitations
from lexfuse.service.schemas.explanation import ExplainResponse
from lexfuse.service.schemas.search import IndexList, ProfileComparison, SearchPage
from lexfuse.service.schemas.similar import SimilarPage
from lexfuse.service.settings import ServiceSettings

PROBLEM = "application/problem+json"


def client_of(folder: Path, keys: Path | None = None, **settings):
    given = {"keys": keys, "requests_per_minute": 0, "reload_seconds": 0.0} | settings
    return TestClient(create_app(ServiceContext(IndexRegistry.open([IndexPlace.of(folder)]), ServiceSettings(**given))))


@pytest.fixture(scope="module")
def api(law_folder):
    with client_of(law_folder, max_query_characters=5000) as client:
        yield client


@pytest.fixture
def writer(shelf_folder, tmp_path):
    token = add_key(tmp_path / "keys.toml", "writer", KeyScope.WRITE)
    with client_of(shelf_folder, tmp_path / "keys.toml") as client:
        client.headers["Authorization"] = f"Bearer {token}"
        yield client


def valid(response, kind, status=200):
    assert (response.status_code, response.headers["content-type"]) == (status, "application/json"), response.text
    return kind.model_validate_json(response.content)


def refused(response, status):
    assert (response.status_code, response.headers["content-type"]) == (status, PROBLEM), response.text
    problem = response.json()
    assert problem["status"] == status
    return problem.get("detail", "")


def test_search_by_address_and_by_body_is_the_same(api):
    values = {"k": 2, "profile": "bm25", "language": "fr", "facets": True}
    got = valid(api.get("/v1/search", params={"query": "loyer du bail", "filters": ["kind=decision"], **values}), SearchPage)
    posted = valid(api.post("/v1/search", json={"query": "loyer du bail", "filters": ["kind=decision"], **values}), SearchPage)
    assert (got.results, got.facets, got.next_cursor) == (posted.results, posted.facets, posted.next_cursor)
    assert len(got.results) == 2
    following = api.get(
        "/v1/search", params={"query": "loyer du bail", "filters": ["kind=decision"], "cursor": got.next_cursor, **values}
    )
    assert valid(following, SearchPage).results[0].rank == 3


def test_a_spec_in_the_body_is_a_search_as_data(api):
    ask = {"query": "loyer du bail", "k": 3, "language": "fr"}
    profile = valid(api.post("/v1/search", json=ask | {"profile": "bm25"}), SearchPage)
    same = valid(api.post("/v1/search", json=ask | {"spec": {"channel": [{"name": "bm25"}]}}), SearchPage)
    assert same.results == profile.results
    fused = {"channel": [{"name": "bm25", "k1": 0.9}, {"name": "tfidf"}], "fusion": {"method": "rrf"}, "depth": 100}
    page = valid(api.post("/v1/search", json=ask | {"spec": fused}), SearchPage)
    assert set(page.results[0].sources) == {"bm25", "tfidf"}
    following = valid(api.post("/v1/search", json=ask | {"spec": fused, "cursor": page.next_cursor}), SearchPage)
    assert following.results[0].rank == 4
    refused(api.post("/v1/search", json=ask | {"spec": {"channel": [{"name": "tfidf"}]}, "cursor": page.next_cursor}), 400)


@pytest.mark.parametrize(
    ("spec", "status", "words"),
    [
        ({"channel": [{"name": "bm25"}], "rerank": [{"method": "cross-encoder", "model": "/etc"}]}, 400, "no rerankers"),
        (
            {"channel": [{"name": "bm25"}, {"method": "cross-encoder", "model": "/etc", "over": "bm25"}]},
            400,
            "channels of the index only",
        ),
        ({"channel": [{"name": "bm25", "model": "/etc"}]}, 400, "there is no 'model'"),
        ({"channel": [{"name": "nowhere"}]}, 404, "no channel 'nowhere'"),
        ({"channel": [{"name": "bm25", "k1": "high"}]}, 400, "k1"),
        ({"channel": [{"name": "bm25"}], "fusion": {"method": "mean"}}, 400, "rrf"),
        ({"channel": [{"name": "bm25"}], "depth": 100_000}, 400, "depth 1,000"),
        ({"channel": [{"name": "bm25"}], "colour": 1}, 422, "no parameter 'colour'; there are version, channel, fusion, depth"),
        ({}, 400, "channel"),
        ([], 422, "spec"),
    ],
)
def test_a_spec_names_nothing_of_the_server(api, spec, status, words):
    assert words in refused(api.post("/v1/search", json={"query": "loyer", "spec": spec}), status)


def test_a_spec_takes_the_place_of_a_profile(api):
    both = {"query": "loyer", "profile": "bm25", "spec": {"channel": [{"name": "bm25"}]}}
    assert "either a profile or a spec" in refused(api.post("/v1/search", json=both), 400)
    assert "spec" in refused(api.get("/v1/search", params={"query": "loyer", "spec": "{}"}), 422)


def test_as_of_is_a_day(api):
    def found(day):
        page = valid(
            api.get("/v1/search", params={"query": "rupture", "profile": "bm25", "language": "fr", "as_of": day}), SearchPage
        )
        return [result.id for result in page.results]

    assert (found("2005-01-01"), found("2015-01-01")) == (["old-L3"], ["new-L3"])
    refused(api.get("/v1/search", params={"query": "rupture", "as_of": "soon"}), 422)


def test_similar_by_json_and_by_file(api):
    text = "Le locataire doit le loyer après la fin du bail."
    by_text = valid(api.post("/v1/similar", json={"text": text, "amount": 1.0, "k": 3}), SimilarPage)
    page = f"<!doctype html><html><body><p>{text}</p></body></html>".encode()
    for name, raw in (("a.txt", text.encode()), ("a.html", page)):
        form = {"amount": "1.0", "k": "3", "before": "", "language": ""}
        by_file = valid(api.post("/v1/similar", files={"file": (name, raw)}, data=form), SimilarPage)
        assert by_file.results == by_text.results
    by_id = valid(api.post("/v1/similar", json={"document": "dec-1", "filters": ["kind=decision"]}), SimilarPage)
    assert {"dec-2", "dec-3"} <= {result.id for result in by_id.results}


def test_terms_alone_and_edited(api):
    text = "Le locataire doit le loyer."
    alone = valid(api.post("/v1/similar", json={"text": text, "amount": 1.0, "terms_only": True}), SimilarPage)
    assert (alone.results, {"loyer", "locataire"} <= {term.word for term in alone.terms}) == ([], True)
    form = {"terms": ["préavis=2", "démission"], "terms_only": "true"}
    edited = valid(api.post("/v1/similar", files={"file": ("a.txt", text.encode())}, data=form), SimilarPage)
    assert sorted(term.weight for term in edited.terms) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [
        ({"json": {}}, 400, "either a text or the id"),
        ({"json": {"text": "a", "document": "b"}}, 400, "either a text or the id"),
        ({"json": {"text": "a", "k": 0}}, 422, "k"),
        ({"json": {"text": "a", "nonsense": 1}}, 422, "nonsense"),
        ({"json": ["a"]}, 422, ""),
        ({"content": b"{", "headers": {"content-type": "application/json"}}, 422, "Invalid JSON"),
        ({"content": b"[" * 90_000, "headers": {"content-type": "application/json"}}, 422, "Invalid JSON"),
        ({"content": b"[" * 200_000, "headers": {"content-type": "application/json"}}, 413, "more than 100,000 fields or lists"),
        ({"content": b"\xff\xfe", "headers": {"content-type": "application/json"}}, 422, "Invalid JSON"),
        ({"content": b"a=b", "headers": {"content-type": "text/plain"}}, 415, "multipart/form-data"),
        ({"content": b"x", "headers": {"content-type": "multipart/form-data"}}, 400, ""),
        ({"files": {"file": ("a.pdf", b"%PDF-1.7 damaged")}}, 422, "damaged"),
        ({"files": {"file": ("a.doc", b"\xd0\xcf\x11\xe0...")}}, 422, "Word"),
        ({"files": {"file": ("../../etc/passwd", b"\x00\x01")}}, 422, "passwd: "),
        ({"files": {"file": ("a.txt", b" ")}}, 422, "empty"),
        ({"files": {"file": ("a.txt", b"loyer")}, "data": {"text": "bail"}}, 400, "either a text or a file"),
        ({"files": {"file": ("a.txt", b"loyer")}, "data": {"k": "many"}}, 422, "k"),
        ({"files": [("file", ("a.txt", b"a")), ("file", ("b.txt", b"b"))]}, 400, "Too many files"),
        ({"json": {"text": "a", "profile": "../x"}}, 404, "no profile"),
    ],
)
def test_similar_refuses_what_is_no_document(api, sent, status, words):
    assert words in refused(api.post("/v1/similar", **sent), status)


def test_explain_by_id_with_a_slash_and_by_citation(api):
    by_id = valid(api.get("/v1/explain/C-60%2F22%2312", params={"query": "clause abusive"}), ExplainResponse)
    assert (by_id.why.document.id, by_id.why.listed) == ("C-60/22#12", True)
    by_citation = valid(api.get("/v1/explain/article L. 1 du code civil", params={"query": "préavis"}), ExplainResponse)
    assert by_citation.why.document.id == "civil-L1"
    assert "none that it cites" in refused(api.get("/v1/explain/nowhere", params={"query": "loi"}), 404)
    refused(api.get("/v1/explain/dec-1"), 422)


def test_compare_takes_two_or_three(api):
    ask = {"query": "loyer", "profiles": ["bm25", "dense"], "k": 3}
    assert len(valid(api.get("/v1/compare", params=ask), ProfileComparison).rankings) == 2
    for profiles in ("bm25", ["bm25"] * 4, []):
        refused(api.get("/v1/compare", params=ask | {"profiles": profiles}), 422)
    assert "different" in refused(api.get("/v1/compare", params=ask | {"profiles": ["bm25", "bm25"]}), 400)


def test_cite_by_address_and_by_body(api):
    text = "article L. 1 du code civil"
    got = valid(api.get("/v1/cite", params={"text": text}), ResolvedCitations)
    assert got == valid(api.post("/v1/cite", json={"text": text}), ResolvedCitations)
    assert got.citations[0].documents[0].id == "civil-L1"
    assert len(valid(api.post("/v1/cite", json={"text": "L. 1 " * 3000}), ResolvedCitations).citations) == 3000


def test_profiles(api):
    [index] = valid(api.get("/v1/profiles"), IndexList).indexes
    assert (index.name, index.documents, index.languages) == ("law", 13, {"fr": 13})
    assert {"bm25", "hybrid", "dense"} <= {profile.name for profile in index.profiles}


def test_a_document_with_its_etag(api):
    response = api.get("/v1/documents/C-60%2F22%2312")
    found = valid(response, DocumentAnswer).document
    assert (found.id, response.headers["etag"]) == ("C-60/22#12", f'"{found.etag}"')


def test_documents_are_written_read_and_deleted(writer):
    body = {
        "title": "Article L77",
        "text": "La clause de mobilité.",
        "kind": "statute",
        "valid_from": "2020-01-01",
        "extra": {"a": [1]},
    }
    made = writer.put("/v1/documents/new/77", json=body)
    etag = made.headers["etag"]
    assert valid(made, DocumentWritten, 201).change == "created"
    read = valid(writer.get("/v1/documents/new/77"), DocumentAnswer).document
    assert (read.title, str(read.valid_from), read.extra, f'"{read.etag}"') == ("Article L77", "2020-01-01", {"a": [1]}, etag)
    assert writer.get("/v1/search", params={"query": "mobilité"}).json()["results"][0]["id"] == "new/77"
    assert "has changed" in refused(writer.put("/v1/documents/new/77", json=body, headers={"If-Match": '"old"'}), 412)
    assert "already exists" in refused(writer.put("/v1/documents/new/77", json=body, headers={"If-None-Match": "*"}), 412)
    changed = writer.put("/v1/documents/new/77", json=body | {"text": "Autre."}, headers={"If-Match": etag})
    assert valid(changed, DocumentWritten).change == "replaced"
    refused(writer.delete("/v1/documents/new/77", headers={"If-Match": etag}), 412)
    gone = writer.delete("/v1/documents/new/77", headers={"If-Match": changed.headers["etag"]})
    assert valid(gone, DocumentWritten).change == "deleted"
    refused(writer.get("/v1/documents/new/77"), 404)
    refused(writer.delete("/v1/documents/new/77"), 404)


@pytest.mark.parametrize(
    "content",
    [
        b"{", b"[]", b'{"text": 1}', b'{"kind": "law"}', b'{"unknown": 1}', b'{"text": "\\ud800"}', b'{"extra": {"a": NaN}}',
        b'{"date": "never"}', b'{"headings": "A"}', b'{"title": "' + b"x" * 3000 + b'"}', b'{"language": "French"}',
        b'{"extra": ' + b'{"a":' * 500 + b"1" + b"}" * 501, b'{"extra": {"a": "\\udfff"}}', b'{"identifiers": ["\\ud800"]}',
    ],
)  # fmt: skip
def test_what_is_no_document_is_refused_and_nothing_is_written(writer, content):
    response = writer.put("/v1/documents/x", content=content, headers={"content-type": "application/json"})
    assert response.status_code in (400, 422)
    assert response.headers["content-type"] == PROBLEM
    refused(writer.get("/v1/documents/x"), 404)


def test_nobody_writes_or_reads_judgements_without_a_key_for_it(shelf_folder, tmp_path):
    token = add_key(tmp_path / "keys.toml", "reader", KeyScope.READ)
    judgement = {"query": "q", "document": "travail-L1", "grade": 1}
    with client_of(shelf_folder, tmp_path / "keys.toml") as client:
        for headers, status in (({}, 401), ({"Authorization": f"Bearer {token}"}, 403), ({"X-API-Key": "lf_guess"}, 401)):
            refused(client.put("/v1/documents/x", json={}, headers=headers), status)
            refused(client.delete("/v1/documents/travail-L1", headers=headers), status)
            refused(client.post("/v1/feedback", json=judgement, headers=headers), status)
            refused(client.get("/v1/feedback", headers=headers), status)
        assert client.get("/v1/documents/travail-L1").status_code == 200
        library = client.app.state.service.registry
        assert document(library, "travail-L1").generation == 1


def test_feedback_is_kept_and_handed_out(writer):
    judgement = {"query": "préavis", "document": "travail-L1", "grade": 2, "rank": 1, "profile": "bm25"}
    made = writer.post("/v1/feedback", json=judgement)
    assert made.status_code == 201
    assert writer.get("/v1/feedback").json()["judgements"] == [made.json()]
    qrels = writer.get("/v1/feedback", params={"format": "qrels"})
    assert qrels.text == f"{made.json()['query_id']} 0 travail-L1 2\n"
    assert qrels.headers["content-disposition"] == 'attachment; filename="judgements.qrels"'
    refused(writer.post("/v1/feedback", json=judgement | {"document": "nowhere"}), 404)
    refused(writer.post("/v1/feedback", json=judgement | {"grade": "high"}), 422)


HOSTILE = [
    "<script>alert(1)</script>", "' OR 1=1; --", "../../../etc/passwd", "\x00\x01\x1b[31m", "\u202e\ufeff\uffff", "%00%ff",
    "{{7*7}}",
    "a" * 4000, "🙂" * 100, "(" * 2000, "article L. " * 300, "\r\nSet-Cookie: a=b", "=cmd|' /C calc'!A0", "NaN", "-1", "*",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_strings_are_answered_as_strings(api, text):
    addresses = [
        ("/v1/search", {"query": text}),
        ("/v1/search", {"query": "loi", "filters": text}),
        ("/v1/search", {"query": "loi", "filters": f"code={text}"}),
        ("/v1/search", {"query": "loi", "index": text}),
        ("/v1/search", {"query": "loi", "profile": text}),
        ("/v1/search", {"query": "loi", "cursor": text}),
        ("/v1/search", {"query": "loi", "language": text}),
        ("/v1/cite", {"text": text, "code": text[:500]}),
        ("/v1/compare", {"query": text, "profiles": ["bm25", "dense"]}),
        ("/v1/explain/dec-1", {"query": text}),
    ]
    for path, params in addresses:
        response = api.get(path, params=params)
        assert response.status_code in (200, 400, 404, 422), (path, params, response.text)
        assert response.headers["content-type"] in ("application/json", PROBLEM)
        json.loads(response.content)
        assert "set-cookie" not in response.headers
    for path, params in (("/v1/documents/", {}), ("/v1/explain/", {"query": "loi"})):
        response = api.get(path + "".join(f"%{byte:02X}" for byte in text.encode()), params=params)
        assert response.status_code in (404, 422) or "article" in text, response.text
    assert api.post("/v1/similar", json={"text": text, "dropped": [text[:200]]}).status_code in (200, 422)


def test_a_question_too_long_is_sent_elsewhere(api):
    assert "/v1/similar" in refused(api.get("/v1/search", params={"query": "a" * 5001}), 413)
    assert "/v1/similar" in refused(api.post("/v1/search", json={"query": "a" * 5001}), 413)
    assert api.post("/v1/similar", json={"text": "loyer " * 5001}).status_code == 200


def test_every_parameter_of_the_description_is_described(api):
    description = api.get("/openapi.json").json()
    assert description["openapi"].startswith("3.1")
    seen = 0
    for path, methods in description["paths"].items():
        if not path.startswith("/v1/"):
            continue
        for method, operation in methods.items():
            assert operation["summary"], (path, method)
            assert "4XX" in operation["responses"], (path, method)
            for parameter in operation.get("parameters", []):
                assert parameter.get("description") or parameter["schema"].get("description"), (path, method, parameter["name"])
                seen += 1
            success = next(code for code in operation["responses"] if code.startswith("2"))
            assert operation["responses"][success]["content"]["application/json"]["schema"], (path, method)
    assert seen > 30
    assert set(description["paths"]["/v1/similar"]["post"]["requestBody"]["content"]) == {
        "application/json",
        "multipart/form-data",
    }
