"""The reference of the API: docs/http-api.md is up to date, and the page /docs shows all of it."""

import re
from pathlib import Path

import pytest

from lexfuse.errors import LexFuseError, error_classes
from lexfuse.service.api_reference import ApiReference
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.openapi import operations
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.settings import ServiceSettings

PAGE = Path(__file__).parents[2] / "docs" / "http-api.md"


def document_of(**settings):
    service = ServiceContext(IndexRegistry([]), ServiceSettings(**settings))
    try:
        return create_app(service).openapi()
    finally:
        service.close()


@pytest.fixture(scope="module")
def document():
    return document_of()


def test_the_page_in_docs_is_the_one_that_is_generated(document):
    assert PAGE.read_text("utf-8") == ApiReference.of(document).markdown(), "run python -m lexfuse.service.api_reference"


def test_operations_have_unique_ids_tags_summaries_and_descriptions(document):
    every = [operation for _, _, operation in operations(document)]
    ids = [operation["operationId"] for operation in every]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[a-z_]+", id) for id in ids)
    tags = {tag["name"] for tag in document["tags"]}
    for operation in every:
        assert set(operation["tags"]) <= tags
        assert operation["summary"]
        assert operation["description"]


def test_every_error_response_is_a_shared_problem(document):
    for path, method, operation in operations(document):
        errors = {status: response for status, response in operation["responses"].items() if status >= "4"}
        assert {"4XX", "5XX"} <= set(errors), (path, method)
        for status, response in errors.items():
            assert response == {"$ref": f"#/components/responses/Problem{status}"}
            shared = document["components"]["responses"][f"Problem{status}"]
            assert shared["content"] == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}


def test_security_follows_the_settings():
    def needed(document, path, method="get"):
        security = document["paths"][path][method]["security"]
        return bool(security) and {} not in security

    usual, closed, judging = document_of(), document_of(anonymous_read=False), document_of(anonymous_judging=True)
    assert set(usual["components"]["securitySchemes"]) == {"bearer", "header", "basic"}
    assert [needed(each, "/v1/search") for each in (usual, closed, judging)] == [False, True, False]
    assert [needed(each, "/v1/documents/{document_id}", "put") for each in (usual, closed, judging)] == [True, True, True]
    assert [needed(each, "/v1/feedback") for each in (usual, closed, judging)] == [True, True, False]
    assert [needed(each, "/healthz") for each in (usual, closed, judging)] == [False, False, False]


def test_every_code_of_the_tree_is_described(document):
    described = {code for _, code, _ in ApiReference.of(document).errors}
    assert {kind.code for kind in error_classes(LexFuseError)} <= described


def test_parameters_and_fields_of_requests_are_described(document):
    for endpoint in ApiReference.of(document).endpoints:
        assert all(row.description or endpoint.id == "write_document" for row in endpoint.fields), endpoint.id
