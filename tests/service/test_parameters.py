"""Unknown parameters are refused, in query strings, bodies, forms and tools, by one error that names them."""

import json

import pytest
from fastapi.testclient import TestClient

from lexfuse.service.api_keys import KeyScope, add_key
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.settings import ServiceSettings


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/search"), ("POST", "/v1/similar"), ("POST", "/v1/cite"), ("POST", "/v1/feedback"), ("PUT", "/v1/documents/a")],
)
def test_many_unknown_fields_are_one_error(small, tmp_path, method, path):
    key = add_key(tmp_path / "keys.toml", "tester", KeyScope.WRITE)
    app = create_app(ServiceContext(small, ServiceSettings(keys=tmp_path / "keys.toml", reload_seconds=0)))
    with TestClient(app, headers={"authorization": f"Bearer {key}", "content-type": "application/json"}) as client:
        many = client.request(method, path, content=json.dumps({f"field{number}": 1 for number in range(101)}))
        assert (many.status_code, many.json()["code"]) == (422, "unknown-parameter")
        assert "'field0', 'field1', 'field2', 'field3', 'field4' (and 96 others); there are " in many.json()["detail"]
        few = client.request(method, path, content=json.dumps({f"field{number}": 1 for number in range(3)}))
        assert "'field2'; there are " in few.json()["detail"]


@pytest.fixture
def client(small):
    with TestClient(create_app(ServiceContext(small, ServiceSettings(reload_seconds=0)))) as client:
        client.app.state.ready = True
        yield client


PATHS = ["/v1/search", "/v1/compare", "/v1/explain/a", "/v1/cite", "/v1/documents/a", "/v1/profiles", "/healthz", "/metrics"]


@pytest.mark.parametrize("path", PATHS)
def test_an_unknown_name_in_a_query_string_is_refused(client, path):
    answer = client.get(path, params={"colour": "red"})
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown-parameter")
    assert "no parameter 'colour'; there are " in answer.json()["detail"]
    assert client.post("/v1/search?k=3", json={"query": "loi"}).json()["code"] == "unknown-parameter"


def test_former_names_are_refused_with_the_present_ones(client):
    detail = client.get("/v1/search", params={"q": "loi", "filter": "kind=statute"}).json()["detail"]
    assert "'q', 'filter'; there are index, filters, as_of, language, profile, query, k, cursor, sort, facets" in detail


def test_a_single_value_is_given_once(client):
    answer = client.get("/v1/search?query=loi&k=1&k=2")
    assert (answer.status_code, answer.json()["detail"]) == (400, "k is given 2 times; give it once")
    assert client.get("/v1/search?query=loi&filters=kind%3Dstatute&filters=kind%3Dother").status_code == 200
    twice = [("k", (None, "1")), ("k", (None, "2")), ("text", (None, "loi"))]
    assert "given 2 times" in client.post("/v1/similar", files=twice).json()["detail"]


def test_an_unknown_field_of_a_form_is_refused(client):
    answer = client.post("/v1/similar", files={"text": (None, "loi"), "colour": (None, "red")})
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown-parameter")
    assert "there are file, " in answer.json()["detail"]
