"""The API keeps to its OpenAPI document: whatever is sent, no failure, and every answer as it was promised.

Schemathesis makes the requests from the document: its examples, values at the bounds of every rule and beyond, and drawn ones,
the same at every run.
"""

import json
import shutil
from collections import Counter

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema
from starlette.testclient import TestClient

from lexfuse.service.api_keys import KeyScope, add_key
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.settings import ServiceSettings

OPERATIONS = {
    "GET /v1/search", "POST /v1/search", "POST /v1/similar", "GET /v1/explain/{document}", "GET /v1/compare", "GET /v1/cite",
    "POST /v1/cite", "GET /v1/documents/{document_id}", "PUT /v1/documents/{document_id}", "DELETE /v1/documents/{document_id}",
    "GET /v1/changes/{change}", "GET /v1/feedback", "POST /v1/feedback", "GET /v1/profiles", "GET /healthz", "GET /readyz",
    "GET /metrics", "GET /v1/history/{document}", "GET /v1/diff/{document}", "GET /v1/contents", "GET /v1/suggest",
    "GET /v1/feedback/summary",
}  # fmt: skip
DRAWN = 5  # requests of each kind to each address, besides those at the bounds


@pytest.fixture
def app(law_folder, tmp_path):
    key = add_key(tmp_path / "keys.toml", "tester", KeyScope.WRITE)
    library = IndexRegistry.open([IndexPlace.of(shutil.copytree(law_folder, tmp_path / "law.index"))])
    settings = ServiceSettings(keys=tmp_path / "keys.toml", requests_per_minute=0, reload_seconds=0.0, timeout_seconds=600.0)
    made = create_app(ServiceContext(library, settings))
    made.state.ready, made.state.key = True, key
    return made


def config_of(key):
    return SchemathesisConfig.from_dict(
        {
            "seed": 7,
            "continue-on-failure": True,
            "headers": {"Authorization": f"Bearer {key}"},
            "generation": {"max-examples": DRAWN, "deterministic": True, "no-shrink": True, "database": "none"},
            "phases": {"stateful": {"enabled": False}},
            "checks": {
                # The document cannot say everything: which fields filters know, which cursors there are, which profiles.
                "positive_data_acceptance": {"enabled": False},
                # Lists of more than 10,000 citations are above the limit of bodies, which is told first.
                "negative_data_rejection": {"expected-statuses": ["400", "404", "405", "412", "413", "415", "422"]},
            },
        }
    )


def meaningful(context, case):
    """Names what there is in requests that keep to the document: drawn names of indexes and profiles would only be refused."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return case
    for values in (case.query, case.body):
        if isinstance(values, dict):
            values.pop("cursor", None)
            known = {"index": "law", "profile": "bm25", "filters": ["kind=decision"]}
            values |= {name: value for name, value in known.items() if name in values and case.path != "/v1/compare"}
            if "document" in values:
                values["document"] = "dec-2" if case.path == "/v1/feedback" else ""
    if case.path == "/v1/compare":
        case.query |= {"profiles": ["bm25", "hybrid"], "index": "law"}
        case.query.pop("filters", None)
    for name in ("document", "document_id"):
        if name in case.path_parameters and case.method != "PUT":
            case.path_parameters[name] = "dec-3"
    case.headers.pop("if-match", None)
    case.headers.pop("if-none-match", None)
    return case


def failures_of(finished):
    """What was wrong in one scenario, with the request that shows it."""
    for case, checks in finished.recorder.checks.items():
        for check in checks:
            if check.status is not Status.SUCCESS:
                request = finished.recorder.cases[case].value.as_curl_command()
                yield f"{check.name} {request[:2000]}\n{check.failure_info.failure if check.failure_info else ''}"


def test_every_answer_is_as_the_document_says(app):
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, config=config_of(app.state.key))
    schema.hook("map_case")(meaningful)
    failures, tried, statuses = [], Counter(), Counter()
    for event in from_schema(schema).execute():
        if isinstance(event, events.NonFatalError | events.FatalError):
            failures.append(str(getattr(event, "value", event)))
        if isinstance(event, events.ScenarioFinished):
            failures += failures_of(event)
            tried[event.recorder.label] += len(event.recorder.interactions)
            answers = [one.response for one in event.recorder.interactions.values()]
            statuses.update(answer.status_code for answer in answers if answer is not None)
    assert not failures, "\n\n".join(dict.fromkeys(failures))
    assert set(tried) == OPERATIONS  # a new address is tried too
    assert all(count >= DRAWN for count in tried.values()), tried
    assert statuses[200] > 100  # not everything was refused
    assert statuses[201] > 10, statuses  # and something was written
    assert not [status for status in statuses if status >= 500]
    assert 403 not in statuses  # the key was good
    assert statuses[401] < 50  # the answers to requests without it, which are tried too


@pytest.fixture
def client(app):
    with TestClient(app, headers={"Authorization": f"Bearer {app.state.key}"}) as client:
        yield client


def test_a_flag_is_true_or_false_in_json_and_a_word_in_a_form(client):
    assert client.post("/v1/search", json={"query": "loi", "facets": 0}).status_code == 422
    assert client.post("/v1/similar", json={"text": "loi", "mask": "true"}).status_code == 422
    for word, status in (("true", 200), ("ON", 200), ("0", 200), ("perhaps", 422), ("", 200)):
        form = {"mask": (None, word), "text": (None, "Le locataire doit le loyer.")}
        assert client.post("/v1/similar", files=form).status_code == status, word


def test_descriptions_are_for_those_who_call(app):
    assert ">>>" not in json.dumps(app.openapi())
    assert app.openapi()["components"]["schemas"]["DocumentCard"]["description"].startswith("A document without its text")


DAYS = ["0", 0, "1700000000", "2024-01-01T00:00:00", "20240101", "2024-1-1", "٢٠٢٤-٠١-٠١", "2024-02-30"]


def test_a_number_is_no_day(client):
    for day in DAYS:
        assert client.post("/v1/search", json={"query": "loi", "as_of": day}).status_code == 422, day
        assert client.get("/v1/search", params={"query": "loi", "as_of": day}).status_code == 422, day
        assert client.post("/v1/similar", json={"text": "loi", "before": day}).status_code == 422, day
        assert client.put("/v1/documents/x", json={"text": "loi", "date": day}).status_code == 422, day


@pytest.mark.parametrize(
    ("path", "methods"),
    [("/v1/search", "GET, POST"), ("/v1/documents/a/b", "GET, PUT, DELETE"), ("/v1/profiles", "GET"), ("/v1/similar", "POST")],
)
def test_a_wrong_method_is_told_all_right_ones(client, path, methods):
    answer = client.request("PATCH", path)
    assert (answer.status_code, answer.headers["allow"]) == (405, methods)
    assert answer.headers["content-type"] == "application/problem+json"
