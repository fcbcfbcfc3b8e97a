"""Metadata of results: the same typed values in Python, on the command line, in the API, in MCP and in exports."""

import csv
import io
import json

import pytest
from typer.testing import CliRunner

from lexfuse.cli.app import app
from lexfuse.data.document import Document
from lexfuse.index import Index
from lexfuse.service.mcp.text import search_text
from lexfuse.service.operations.export import ResultFormat, export_results
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.operations.similar import SimilarParameters, similar
from lexfuse.service.registry import IndexPlace, IndexRegistry

EXTRA = {
    "fee": 2.5,
    "heard": "2020-06-14",
    "judges": ["Adler", "Brandt"],
    "rank": "=1+1",
    "open": True,
    "note": "",
    "by": {"a": 1},
}
SHOWN = {"fee": 2.5, "heard": "2020-06-14", "judges": ["Adler", "Brandt"], "rank": "=1+1", "open": True}


@pytest.fixture
def folder(tmp_path):
    case = Document("a", title="Order 1", text="The reader pays for the delay.", language="en", extra=EXTRA)
    Index.build(tmp_path / "cases.index", [case, Document("b", text="A book is lost by its reader.", language="en")]).close()
    return tmp_path / "cases.index"


def test_metadata_of_hits(folder):
    with Index.open(folder) as index:
        assert [hit.metadata for hit in index.search("reader delay")] == [SHOWN, {}]


def test_metadata_on_the_command_line(folder):
    run = CliRunner()
    asked = [str(folder), "reader delay", "--filter", "fee>=2"]
    [found] = json.loads(run.invoke(app, ["search", *asked, "--json"]).stdout)["results"]
    assert found["metadata"] == SHOWN
    assert "judges" not in run.invoke(app, ["search", *asked]).stdout
    shown = run.invoke(app, ["search", *asked, "--metadata"]).stdout
    assert "     fee: 2.5\n     heard: 2020-06-14\n     judges: Adler, Brandt\n" in shown


def test_metadata_in_answers_of_the_service_and_their_files(folder):
    with IndexRegistry.open([IndexPlace.of(folder)]) as registry:
        page = search(registry, SearchQuery(query="reader delay"))
        alike = similar(registry, SimilarParameters(text="The reader pays for the delay of a book."))
    assert [result.metadata for result in page.results] == [SHOWN, {}]
    assert {result.id: result.metadata for result in alike.results}["a"] == SHOWN
    assert "   Metadata: fee: 2.5; heard: 2020-06-14; judges: Adler, Brandt; rank: =1+1; open: True\n" in search_text(page, {})
    table = export_results(page, ResultFormat.CSV).text.removeprefix("\ufeff")
    first, second = csv.DictReader(io.StringIO(table, newline=""))
    assert (first["fee"], first["judges"], first["rank"], first["metadata.rank"]) == ("2.5", "Adler; Brandt", "1", "'=1+1")
    assert second["fee"] == ""
    assert json.loads(export_results(page, ResultFormat.JSON).text)["results"][0]["metadata"] == SHOWN
