"""Bodies with more fields than there are: one error for all of them."""

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
        assert many.status_code == 422
        [told] = many.json()["errors"]
        assert "101 fields" in told
        few = client.request(method, path, content=json.dumps({f"field{number}": 1 for number in range(3)}))
        assert [one for one in few.json()["errors"] if "field2" in one]
