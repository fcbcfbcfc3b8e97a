"""A day that the corpus cannot answer is said: in the library, on the command line, in the service and on the page."""

import datetime
import json

import pytest
from typer.testing import CliRunner

from lexfuse.cli.app import app
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError
from lexfuse.index import Index
from lexfuse.service.mcp.text import search_text, similar_text
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.operations.similar import SimilarParameters, similar
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.storage.history.day_coverage import DayCoverage

DAY = datetime.date
NOTE = "1 of 4 documents was not searched: the index has no version for 2010-06-01, only later ones"


@pytest.fixture
def law(tmp_path):
    documents = [
        Document("always", text="le bail rural", valid_from=DAY(1990, 1, 1)),
        Document("ended", text="le bail ancien", valid_from=DAY(1990, 1, 1), valid_to=DAY(2000, 1, 1)),
        Document("later", text="le bail nouveau", valid_from=DAY(2020, 1, 1)),
        Document("judgment", text="le bail jugé", kind=DocumentKind.DECISION),
    ]
    Index.build(tmp_path / "law.index", documents).close()
    return tmp_path / "law.index"


def test_the_answer_counts_documents_that_are_unknown_on_the_day(law):
    with Index.open(law) as index:
        found = index.search("bail", as_of="2010-06-01")
        assert sorted(hit.id for hit in found) == ["always", "judgment"]
        assert found.coverage == DayCoverage(DAY(2010, 6, 1), documents=4, in_force=2, unknown=1) == index.coverage("2010-06-01")
        assert found.coverage.note == NOTE
        assert index.search("bail", as_of="2021-01-01").coverage.note == ""
        assert index.search("bail").coverage is None
        assert index.similar("le bail", as_of="2010-06-01").coverage == found.coverage
        assert index.similar("le bail", channels=["bm25"], as_of="2010-06-01").coverage == found.coverage
        with pytest.raises(ConfigError, match="a day was expected"):
            index.coverage("")


@pytest.mark.parametrize("command", [["search"], ["similar", "--channels", "bm25"]])
def test_commands_note_unknown_documents(law, tmp_path, command):
    text = tmp_path / "text.txt"
    text.write_text("le bail")
    name, *flags = command
    asked = [name, str(law), "le bail" if name == "search" else str(text), *flags, "--as-of", "2010-06-01"]
    shown = CliRunner().invoke(app, asked, env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    assert NOTE in " ".join(shown.output.split())
    found = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    assert found["coverage"] == {"day": "2010-06-01", "documents": 4, "in_force": 2, "unknown": 1}


def test_a_run_notes_unknown_documents(law, tmp_path):
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "bail"}\n')
    asked = ["run", str(law), str(tmp_path / "queries.jsonl"), "-o", str(tmp_path / "out.trec"), "--as-of", "2010-06-01"]
    shown = CliRunner().invoke(app, asked, env={"COLUMNS": "200"})
    assert NOTE in " ".join(shown.output.split())
    with Index.open(law) as index:
        run = index.run(Queries.of([Query("q", "bail")]), as_of="2010-06-01")
    assert len((tmp_path / "out.trec").read_text().splitlines()) == len(run) == 2


def test_the_service_has_a_field_and_the_tools_have_a_line(law):
    registry = IndexRegistry.open([IndexPlace.of(law)])
    with registry:
        page = search(registry, SearchQuery(query="bail", as_of=DAY(2010, 6, 1)))
        assert page.coverage.model_dump() == {"day": DAY(2010, 6, 1), "documents": 4, "in_force": 2, "unknown": 1}
        assert search_text(page, {}).endswith(f"Note: {NOTE}")
        like = similar(registry, SimilarParameters(text="le bail", as_of=DAY(2010, 6, 1)))
        assert similar_text(like, {}).endswith(f"Note: {NOTE}")
        known = search(registry, SearchQuery(query="bail"))
        assert known.coverage is None
        assert "not searched" not in search_text(known, {})
