"""No answer says where on the server something is, whatever goes wrong there."""

import resource
import shutil

import pytest
from starlette.testclient import TestClient

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import fill_channel, plan_channel
from lexfuse.data.document import Document
from lexfuse.encode.model_folder.locator import locate_model
from lexfuse.errors import BusyError, ConfigError, DataError, NotFoundError, StorageError
from lexfuse.service.api_keys import KeyScope, add_key
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.problems import problem_of, without_paths
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.settings import ServiceSettings
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.web.routes import add_pages

ROOT = "/usr/our own laws/x"


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (DataError("it is damaged", path=f"{ROOT}/law.index/terms.bin", line=3), "terms.bin, line 3: it is damaged"),
        (StorageError(f"cannot write '{ROOT}/law.index': No space left"), "cannot write 'law.index': No space left"),
        (BusyError(f'cannot use "{ROOT}/law.index": locked'), 'cannot use "law.index": locked'),
        (NotFoundError(f"no index in {ROOT}/law.index; build one"), "no index in law.index; build one"),
        (ConfigError("the model is at /usr/model (/usr/share/model.onnx)"), "the model is at model (model.onnx)"),
        (ConfigError("post it to /v1/similar, and/or see http://a.example/usr/a"),
         "post it to /v1/similar, and/or see http://a.example/usr/a"),
        (NotFoundError("there is no document '/eli/loi/2016/8/8'"), "there is no document '/eli/loi/2016/8/8'"),
    ],
)  # fmt: skip
def test_files_are_named_without_their_folders(error, detail):
    assert problem_of(error).detail == detail


def test_a_long_message_costs_no_more_than_a_short_one():
    assert len(without_paths("/usr/a " * 1_000_000)) <= 5000
    assert "/usr" not in without_paths("/usr/" + "a/" * 1_000_000)


@pytest.fixture
def broken(tmp_path):
    """A client of a service whose index has a channel without its model."""
    root = tmp_path / "kept where nobody may know"
    folder = root / "law.index"
    articles = [Document(f"a{n}", title=f"Article {n}", text=f"Le loyer du bail {n}.", language="fr") for n in range(3)]
    with IndexFolder.create(folder, documents=articles) as index:
        shutil.copytree(locate_model("fr-legal-dense"), root / "model")
        index.channels.make("dense", plan_channel("dense", ChannelPlan(str(root / "model"))))
        fill_channel(index, "dense")
    shutil.rmtree(root / "model")
    key = add_key(root / "keys.toml", "tester", KeyScope.WRITE)
    settings = ServiceSettings(keys=root / "keys.toml", requests_per_minute=0, reload_seconds=0)
    app = create_app(ServiceContext(IndexRegistry.open([IndexPlace.of(folder)]), settings))
    add_pages(app)
    with TestClient(app, headers={"authorization": f"Bearer {key}"}, raise_server_exceptions=False) as client:
        yield client, folder


def test_a_full_disk_is_told_without_its_place(broken):
    client, _ = broken
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # bytes that a file may have
    try:
        answer = client.put("/v1/documents/b", json={"text": "le bail " * 1000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert answer.status_code == 507, answer.text
    assert "cannot" in answer.json()["detail"]
    assert "nobody may know" not in answer.text


def test_no_answer_tells_where_the_index_is(broken):
    client, folder = broken
    requests = [
        ("GET", "/v1/profiles", {}), ("GET", "/v1/search", {"params": {"query": "loyer", "profile": "dense"}}),
        ("GET", "/v1/compare", {"params": {"query": "loyer", "profiles": ["bm25", "dense"]}}),
        ("GET", "/v1/explain/a1", {"params": {"query": "loyer", "profile": "dense"}}),
        ("POST", "/v1/similar", {"json": {"text": "loyer", "profile": "dense"}}), ("GET", "/v1/documents/a1", {}),
        ("DELETE", "/v1/documents/a1", {}),
        ("POST", "/v1/feedback", {"json": {"query": "loyer", "document": "a1", "grade": 1}}), ("GET", "/v1/feedback", {}),
        ("GET", "/v1/cite", {"params": {"text": "article 1"}}), ("GET", "/openapi.json", {}), ("GET", "/metrics", {}),
        ("GET", "/readyz", {}), ("GET", "/", {"params": {"q": "loyer", "profile": "dense"}}), ("GET", "/documents/a1", {}),
        ("GET", "/compare", {"params": {"q": "loyer", "profile": ["bm25", "dense"]}}), ("GET", "/experiments", {}),
        ("GET", "/similar", {"params": {"document": "a1"}}), ("GET", "/why/a1", {"params": {"q": "loyer", "profile": "dense"}}),
        ("POST", "/similar", {"files": {"text": (None, "loyer"), "profile": (None, "dense")}}),
        ("POST", "/judge", {"data": {"q": "loyer", "document": "a1", "grade": "1"}}), ("GET", "/judgements", {}),
        ("GET", "/export", {"params": {"q": "loyer", "profile": "dense"}}),
    ]  # fmt: skip
    statuses = set()
    for stage, damaged in enumerate((None, folder / "segments", folder)):
        if damaged:
            shutil.rmtree(damaged)
            damaged.write_bytes(b"")  # a file where a folder was: nothing can be written there
        for method, path, values in (*requests, ("PUT", f"/v1/documents/b{stage}", {"json": {"text": "le bail"}})):
            for accept in ("text/html", "application/json"):
                answer = client.request(method, path, headers={"accept": accept}, **values)
                statuses.add(answer.status_code)
                for part in (str(folder), "nobody may know", str(folder.parent.parent)):
                    assert part not in answer.text, (method, path, answer.text)
                    assert part not in str(answer.headers), (method, path)
    assert {200, 422, 404} <= statuses  # what was damaged has been met
