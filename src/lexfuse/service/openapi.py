"""The OpenAPI document: what FastAPI derives from the routes, with security schemes and shared problem responses.

A route states what FastAPI does not know: the scope it needs as the extension `SCOPE`, and statuses of errors beyond the usual
ones as empty `responses`. Both are replaced here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from fastapi import Request

from lexfuse.errors import ConfigError, LexFuseError, error_classes
from lexfuse.service.api_keys import KeyScope
from lexfuse.service.parameters import refuse_unknown
from lexfuse.service.problems import MEDIA_TYPE, Problem
from lexfuse.service.settings import ServiceSettings

SCOPE = "x-scope"  # of an operation: a `KeyScope`, `JUDGE` or `NO_KEY`
JUDGE = "judge"  # the scope write, unless anonymous judging is allowed
NO_KEY = "none"
DESCRIPTION = """Search statutes and case law by words, vectors and citations, with every score explained.

Errors are RFC 9457 problems (`application/problem+json`) with a stable `code`. Unknown parameters are refused. A cursor belongs
to one version of an index and one question."""
TAGS = [
    {"name": "search", "description": "Search, find similar documents, explain and compare rankings."},
    {"name": "citations", "description": "Find and resolve citations."},
    {"name": "documents", "description": "Read and write documents."},
    {"name": "feedback", "description": "Judgements of results."},
    {"name": "health", "description": "Liveness, readiness and metrics."},
]
# Replaced by references to shared responses; without them FastAPI would add its own response 422.
RESPONSES: dict[int | str, dict[str, Any]] = {"4XX": {}, "5XX": {}}
_USUAL = ("400", "401", "403", "404", "413", "422", "429", "500", "503")  # that every endpoint below /v1 may return
_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "A key of `lexfuse keys`, `lf_…`."},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same key in its own header."},
    "basic": {"type": "http", "scheme": "basic", "description": "The same key as password, for browsers."},
}


def complete(document: dict[str, Any], settings: ServiceSettings) -> dict[str, Any]:
    """FastAPI's document with the security schemes, shared problem responses and tags."""
    document["tags"] = TAGS
    components = document.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
    components["securitySchemes"] = _SCHEMES
    components["responses"] = dict(_problem_responses())
    for path, _, operation in operations(document):
        operation["security"] = _security(operation.pop(SCOPE, KeyScope.READ), settings)
        stated = {status for status in operation["responses"] if status >= "4"}
        for status in sorted(stated | (set(_USUAL) if path.startswith("/v1/") else set())):
            operation["responses"][status] = {"$ref": f"#/components/responses/Problem{status}"}
    return document


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Path, method and operation, in the order of the document."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def query_parameters(document: Mapping[str, Any], path: str, method: str) -> dict[str, bool]:
    """The query parameters of an operation, and whether each is a list."""
    stated = document["paths"].get(path, {}).get(method.lower(), {}).get("parameters", [])
    return {one["name"]: one["schema"].get("type") == "array" for one in stated if one["in"] == "query"}


async def check_query_string(request: Request) -> dict[str, bool]:
    """Refuse query strings with parameters that the OpenAPI document does not list, or with repeated single values.

    Returns the `query_parameters` of the operation.
    """
    known = query_parameters(request.app.openapi(), request.scope["route"].path_format, request.method)
    refuse_unknown(request.query_params, known)
    for name, is_list in known.items():
        if not is_list and (count := len(request.query_params.getlist(name))) > 1:
            raise ConfigError(f"{name} is given {count} times; give it once")
    return known


def _security(scope: str, settings: ServiceSettings) -> list[dict[str, list[str]]]:
    """The requirement of a scope: any of the schemes, and the empty one if no key is needed."""
    if scope == NO_KEY:
        return []
    anonymous = settings.anonymous_read if scope == KeyScope.READ else scope == JUDGE and settings.anonymous_judging
    keys: list[dict[str, list[str]]] = [{name: []} for name in _SCHEMES]
    return [{}, *keys] if anonymous else keys


@cache
def error_table() -> list[tuple[int, str, str]]:
    """Status, code and meaning of every error that a response can have.

    >>> error_table()[0]
    (400, 'invalid-parameter', 'A parameter, flag or setting has an invalid value.')
    """
    stated = [(kind.status, kind.code, (kind.__doc__ or "").partition("\n")[0]) for kind in error_classes(LexFuseError)]
    stated[0] = (LexFuseError.status, LexFuseError.code, "An unexpected error; the log has it under the id of the request.")
    framework = [
        (405, "method-not-allowed", "The endpoint does not accept this method; the header Allow lists those it does."),
        (415, "unsupported-media-type", "The endpoint does not accept this media type."),
    ]
    return sorted([*stated, *framework], key=lambda row: row[0])


def _problem_responses() -> Iterator[tuple[str, dict[str, Any]]]:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    codes: dict[str, list[str]] = {}
    for status, code, _ in error_table():
        codes.setdefault(str(status), []).append(code)
    for name, stated in codes.items():
        yield f"Problem{name}", {"description": f"Problem with the code {' or '.join(stated)}.", "content": content}
    yield "Problem4XX", {"description": "The request is refused.", "content": content}
    yield "Problem5XX", {"description": "The service failed, or is overloaded.", "content": content}
