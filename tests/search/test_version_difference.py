"""The versions of a document and what changed between two days: in the library, on the command line, in the API and as tools."""

import datetime
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from typer.testing import CliRunner

from lexfuse.cli.app import app
from lexfuse.data.document import Document
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.index import Index
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.mcp.tools import TOOLS
from lexfuse.service.parameters import validated
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.settings import ServiceSettings
from lexfuse.text.difference import ChangeKind, word_changes

DAY = datetime.date
OLD, NEW = "Le bail dure trois ans.", "Le bail dure six ans."


@pytest.fixture
def law(tmp_path):
    facts = {"code": "Code civil", "number": "1737", "language": "fr"}
    every = [
        Document("a", text=OLD, valid_from=DAY(1990, 1, 1), **facts),
        Document("a", text=NEW, valid_from=DAY(2000, 1, 1), valid_to=DAY(2010, 1, 1), **facts),
        Document("b", text="Le dépôt est gratuit.", valid_from=DAY(1990, 1, 1), code="Code civil", number="1917", language="fr"),
    ]
    Index.build(tmp_path / "law.index", every).close()
    return tmp_path / "law.index"


@given(st.text("ab \n.é", max_size=40), st.text("ab \n.é", max_size=40))
def test_the_parts_of_a_difference_are_both_texts(before, after):
    changes = word_changes(before, after)
    assert "".join(change.text for change in changes if change.kind is not ChangeKind.ADDED) == before
    assert "".join(change.text for change in changes if change.kind is not ChangeKind.REMOVED) == after
    assert all(change.text for change in changes)
    assert (before == after) == all(change.kind is ChangeKind.SAME for change in changes)


def test_the_library_compares_two_days(law):
    with Index.open(law) as index:
        found = index.diff("a", "1995-01-01", "2005-01-01")
        assert [(change.kind.value, change.text) for change in found.changes] == [
            ("same", "Le bail dure "), ("removed", "trois"), ("added", "six"), ("same", " ans."),
        ]  # fmt: skip
        assert (found.before.text, found.after.text, found.changed) == (OLD, NEW, True)
        assert index.diff("a", "2005-01-01", "2015-01-01").after is None
        assert not index.diff("b", "2005-01-01", "2015-01-01").changed
        assert not index.diff("a", "1980-01-01", "2015-01-01").changed
        assert index.document("a").text == NEW  # it has ended, and its newest version can be read
        with pytest.raises(NotFoundError):
            index.diff("nowhere", "2005-01-01", "2015-01-01")
        with pytest.raises(ConfigError, match="two days were expected"):
            index.diff("a", "", "2015-01-01")


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "120"})


def test_the_command_line_shows_versions_and_differences(law):
    shown = run("diff", law, "a", "1995-01-01", "2005-01-01")
    assert shown.exit_code == 0, shown.output
    assert "Le bail dure [-trois-]{+six+} ans." in shown.output
    assert "a on 1995-01-01: from 1990-01-01 until 2000-01-01" in shown.output
    assert "in force on neither day" in run("diff", law, "a", "1980-01-01", "2015-01-01").output
    found = json.loads(run("diff", law, "a", "2005-01-01", "2015-01-01", "--json").stdout)
    assert found["versions"][1] == {"day": "2015-01-01", "in_force": False, "valid_from": None, "valid_to": None, "known": True}
    assert found["changes"] == [{"kind": "removed", "text": NEW}]
    listed = " ".join(run("info", law, "--document", "a", "--history").output.split())
    assert "a: 2 versions" in listed
    assert f"1990-01-01 2000-01-01 {OLD}" in listed.replace("│ ", "")
    versions = json.loads(run("info", law, "--document", "a", "--history", "--json").stdout)["versions"]
    assert [one["text"] for one in versions] == [OLD, NEW]
    assert NEW in run("info", law, "--document", "a").output
    assert json.loads(run("info", law, "--document", "article 1917 du code civil", "--json").stdout)["id"] == "b"


def test_a_day_before_the_first_version_is_unknown_unless_the_document_was_absent(law, tmp_path):
    assert (
        "a on 1980-01-01: unknown, the first version begins on 1990-01-01"
        in run("diff", law, "a", "1980-01-01", "1995-01-01").output
    )
    absent = Document("c", valid_from=DAY(1970, 1, 1))
    with Index.build(tmp_path / "absent.index", [absent, Document("c", text=NEW, valid_from=DAY(2000, 1, 1))]) as index:
        assert index.diff("c", "1980-01-01", "2005-01-01").unknown_days == ()
        assert index.diff("c", "1960-01-01", "2005-01-01").unknown_days == (DAY(1960, 1, 1),)


def test_wrong_requests_are_refused(law, tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "la loi"}\n')
    for asked, said in (
        (("info", law, "--history"), "name it with --document"),
        (("info", tmp_path / "corpus.jsonl", "--document", "a", "--history"), "--history is for an index"),
        (("diff", law, "a", "yesterday", "2005-01-01"), "the first day: 'yesterday' is not a date"),
    ):
        with pytest.raises(ConfigError, match=said):
            raise run(*asked).exception


def test_the_service_and_the_tools_have_both(law):
    registry = IndexRegistry.open([IndexPlace.of(law)])
    service = create_app(ServiceContext(registry, ServiceSettings(requests_per_minute=0, reload_seconds=0)))
    with TestClient(service) as client:
        listed = client.get("/v1/history/a").json()
        assert [(one["valid_from"], one["text"]) for one in listed["versions"]] == [("1990-01-01", OLD), ("2000-01-01", NEW)]
        found = client.get("/v1/diff/a", params={"before": "1995-01-01", "after": "2015-01-01"}).json()
        assert (found["changed"], found["after"], found["changes"]) == (True, None, [{"kind": "removed", "text": OLD}])
        assert client.get("/v1/documents/a", params={"as_of": "1995-01-01"}).json()["document"]["text"] == OLD
        assert client.get("/v1/documents/a").json()["document"]["text"] == NEW  # ended: shown among the law of its time
        assert client.get("/v1/documents/a", params={"as_of": "2015-01-01"}).status_code == 404
        assert client.get("/v1/history/nowhere").status_code == 404
        assert client.get("/v1/diff/a", params={"before": "1995"}).status_code == 422
        early = client.get("/v1/diff/a", params={"before": "1980-01-01", "after": "1995-01-01"}).json()
        assert (early["before"], early["unknown_days"], found["unknown_days"]) == (None, ["1980-01-01"], [])
        tools = {tool.name: tool for tool in TOOLS}

        def said(name, **arguments):
            return tools[name].call(registry, validated(tools[name].parameters, arguments)).text

        assert said("history", document="a").startswith('2 versions of "a"')
        assert "Le bail dure [-trois-]{+six+} ans." in said("diff", document="a", before="1995-01-01", after="2005-01-01")
        early = said("diff", document="a", before="1980-01-01", after="1995-01-01")
        assert "1980-01-01 is before the first version: the text of that day is not known." in early
        assert OLD in said("fetch", document="a", as_of="1995-01-01")
