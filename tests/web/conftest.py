"""The site over a small index, without a browser."""

from contextlib import ExitStack
from dataclasses import replace

import pytest


@pytest.fixture
def site(tmp_path):
    """Opens a client of the pages over some documents, with some settings."""
    from starlette.testclient import TestClient

    from lexfuse.service.app import create_app
    from lexfuse.service.context import ServiceContext
    from lexfuse.service.registry import IndexPlace, IndexRegistry
    from lexfuse.service.settings import ServiceSettings
    from lexfuse.storage.index_folder import IndexFolder
    from lexfuse.web.routes import add_pages

    with ExitStack() as open_ones:

        def opened(documents, *, address="http://127.0.0.1:8080", profiles=(), language="en", examples=(), **settings):
            folder = tmp_path / "law.index"
            IndexFolder.create(folder, documents=documents, replace=True).close()
            library = IndexRegistry.open([replace(IndexPlace.of(folder), examples=examples)], profiles)
            usual = {"requests_per_minute": 0, "reload_seconds": 0, "timeout_seconds": 300}  # however busy the machine is
            app = create_app(ServiceContext(library, ServiceSettings(**usual | settings)))
            add_pages(app)
            headers = {"accept": "text/html", "accept-language": language}
            client = TestClient(app, address, headers=headers, raise_server_exceptions=False, follow_redirects=False)
            client.cookies.set("lexfuse_expert", "1")  # the tools of experts are shown too
            return open_ones.enter_context(client)

        yield opened
