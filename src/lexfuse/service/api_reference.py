"""The reference of the HTTP API, from the OpenAPI document: the page ``/docs`` and docs/http-api.md show the same rows.

python -m lexfuse.service.api_reference > docs/http-api.md
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lexfuse.service.openapi import error_table, operations

_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "maxLength": "up to {} characters",
    "minItems": "at least {} values",
    "maxItems": "at most {} values",
}
_INTRODUCTION = """# HTTP API

Search with one request:

```console
lexfuse serve library.index
curl "http://127.0.0.1:8080/v1/search?query=dur%C3%A9e+du+pr%C3%AAt&k=3"
curl http://127.0.0.1:8080/v1/search --json '{"query": "durée du prêt", "filters": ["number=L3"]}'
```

A parameter has the same name in a query string, in a JSON body and in the tools of [`lexfuse mcp`](assistants.md). Unknown
parameters are refused with 422, and a single value that is given twice with 400. Keys, limits and settings are described in
[Running the service](service.md). A running service shows this page at `/docs`, and its OpenAPI document at `/openapi.json`.

The pages for readers are not part of the API. Their addresses have short names, `q` for the question and `filter` for each
filter. Unknown parameters are refused there too, except those that other sites append to links (`utm_…`, `fbclid`, `gclid`,
`msclkid`).

This file is written by `python -m lexfuse.service.api_reference`."""


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A parameter of an endpoint, or a field of a schema."""

    name: str
    place: str  # path, query, header or body; empty for a field of a schema
    type: str
    required: bool
    default: str
    description: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A method of a path."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    access: str
    fields: tuple[FieldRow, ...]
    responses: tuple[tuple[str, str], ...]  # status, and the name of its schema or its description


@dataclass(frozen=True, slots=True)
class SchemaTable:
    """The fields of a response or of a part of it."""

    name: str
    description: str
    fields: tuple[FieldRow, ...]
    values: str = ""  # of an enumeration


@dataclass(frozen=True, slots=True)
class ApiReference:
    """Everything that the reference shows.

    >>> document = {"info": {"title": "Law", "description": ""}, "paths": {}, "components": {"schemas": {}}}
    >>> ApiReference.of(document).title
    'Law'
    """

    title: str
    description: str
    endpoints: tuple[Endpoint, ...]
    schemas: tuple[SchemaTable, ...]
    errors: tuple[tuple[int, str, str], ...]  # status, code, meaning

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> ApiReference:
        """The reference of an OpenAPI document."""
        schemas: dict[str, Any] = document["components"]["schemas"]
        endpoints = [_endpoint(schemas, path, method, operation) for path, method, operation in operations(document)]
        tables = [_table(name, schema) for name, schema in schemas.items()]
        info = document["info"]
        return cls(info["title"], info["description"], tuple(endpoints), tuple(tables), tuple(error_table()))

    def markdown(self) -> str:
        """The reference as a page of docs/."""
        return "\n".join(_markdown(self)) + "\n"


def type_text(schema: Mapping[str, Any]) -> str:
    """The type of a value in words.

    >>> type_text({"type": "array", "items": {"type": "string"}, "maxItems": 50})
    'list of string, at most 50 values'
    >>> type_text({"anyOf": [{"$ref": "#/components/schemas/Facet"}, {"type": "null"}]})
    'Facet or null'
    """
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(map(type_text, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(json.dumps(value) for value in schema["enum"])
    bounds = [words.format(f"{schema[name]:,.15g}") for name, words in _BOUNDS.items() if name in schema]
    return ", ".join([_plain_type(schema), *bounds])


def _plain_type(schema: Mapping[str, Any]) -> str:
    name = str(schema.get("format") or schema.get("type", "any value"))
    if "prefixItems" in schema:
        return f"[{', '.join(type_text(one) for one in schema['prefixItems'])}]"
    if name == "array":
        return f"list of {type_text(schema['items'])}"
    if name == "object" and isinstance(values := schema.get("additionalProperties"), Mapping):
        return f"object of {type_text(values)}"
    return {"binary": "file", "date-time": "time"}.get(name, name)


def _table(name: str, schema: Mapping[str, Any]) -> SchemaTable:
    values = type_text(schema) if "enum" in schema else ""
    return SchemaTable(name, schema.get("description", ""), tuple(_fields(schema)), values)


def _endpoint(schemas: Mapping[str, Any], path: str, method: str, operation: Mapping[str, Any]) -> Endpoint:
    parameters = [
        _row(one["name"], one["in"], one["schema"], one.get("required", False)) for one in operation.get("parameters", ())
    ]
    body = operation.get("requestBody", {}).get("content", {})
    form = body.get("multipart/form-data") or body.get("application/json")  # a form has every field of JSON, and a file
    if form:
        schema = form["schema"]
        parameters += _fields(schemas[type_text(schema)] if "$ref" in schema else schema, "body")
    fields = sorted(parameters, key=lambda row: not row.required)
    return Endpoint(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=operation["description"],
        access=_access(operation["security"]),
        fields=tuple(fields),
        responses=tuple(_responses(operation["responses"])),
    )


def _access(security: list[dict[str, Any]]) -> str:
    if not security:
        return "no key"
    return "a key is optional" if {} in security else "a key is required"


def _responses(stated: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for status, response in sorted(stated.items()):
        if status < "3":
            content = response.get("content", {})
            names = [type_text(one["schema"]) if "$ref" in one.get("schema", {}) else kind for kind, one in content.items()]
            yield status, " or ".join(names)
    if refused := [status for status in sorted(stated) if status >= "4" and not status.endswith("XX")]:
        yield ", ".join(refused), "Problem"


def _fields(schema: Mapping[str, Any], place: str = "") -> list[FieldRow]:
    required = schema.get("required", ())
    return [_row(name, place, one, name in required) for name, one in schema.get("properties", {}).items()]


def _row(name: str, place: str, schema: Mapping[str, Any], required: bool) -> FieldRow:
    default = "" if schema.get("default") in (None, "", [], {}) else json.dumps(schema["default"], ensure_ascii=False)
    return FieldRow(name, place, type_text(schema), required, default, schema.get("description", ""))


def _markdown(reference: ApiReference) -> Iterator[str]:
    yield _INTRODUCTION
    for endpoint in reference.endpoints:
        yield f"\n## `{endpoint.method} {endpoint.path}`\n"
        yield f"**{endpoint.summary}** ({endpoint.access}). {_line(endpoint.description)}"
        if endpoint.fields:
            yield "\n| parameter | in | type | default | meaning |\n|---|---|---|---|---|"
        for row in endpoint.fields:
            default = "required" if row.required else f"`{row.default}`" if row.default else ""
            yield f"| `{row.name}` | {row.place} | {_cell(row.type)} | {default} | {_cell(row.description)} |"
        yield "\n| status | response |\n|---|---|"
        yield from (f"| {status} | {name} |" for status, name in endpoint.responses)
    yield "\n## Errors\n\nAn error is a `Problem`. Compare its `code`; the words of its `detail` may change.\n"
    yield "| status | code | meaning |\n|---|---|---|"
    yield from (f"| {status} | `{code}` | {meaning} |" for status, code, meaning in reference.errors)
    yield "\n## Schemas"
    for table in reference.schemas:
        yield f"\n### {table.name}\n\n{_line(table.description)}{f' One of {table.values}.' if table.values else ''}"
        if table.fields:
            yield "\n| field | type | meaning |\n|---|---|---|"
        yield from (f"| `{row.name}` | {_cell(row.type)} | {_cell(row.description)} |" for row in table.fields)


def _line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|").replace("^", "\\^")


def main() -> None:
    """Print docs/http-api.md."""
    from lexfuse.service.app import create_app
    from lexfuse.service.context import ServiceContext
    from lexfuse.service.registry import IndexRegistry
    from lexfuse.service.settings import ServiceSettings

    service = ServiceContext(IndexRegistry([]), ServiceSettings())
    sys.stdout.write(ApiReference.of(create_app(service).openapi()).markdown())
    service.close()


if __name__ == "__main__":
    main()
