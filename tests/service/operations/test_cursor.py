"""Cursors: they come back as they were handed out, and nothing else is taken for one."""

import base64

import orjson
import pytest

from lexfuse.errors import ConfigError
from lexfuse.search.hits import SortOrder
from lexfuse.service.operations.cursor import Cursor, digest
from lexfuse.service.operations.search import SearchQuery

ASK = SearchQuery(
    query="préavis",
    index="law",
    profile="bm25",
    k=5,
    filters=["code=Code civil"],
    as_of="2020-01-01",
    language="fr",
    sort="newest",
)


def written(*values):
    return base64.urlsafe_b64encode(orjson.dumps(values)).decode().rstrip("=")


@pytest.mark.parametrize("after", [0, 1, 10, 999])
@pytest.mark.parametrize("generation", [0, 7, 2**40])
def test_it_comes_back_and_says_nothing_of_the_question(after, generation):
    cursor = Cursor(after, generation, ASK.digest())
    assert Cursor.parse(cursor.text(), ASK.digest()) == cursor
    assert "préavis" not in base64.urlsafe_b64decode(cursor.text() + "===").decode()
    assert cursor.text().replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize(
    "text",
    [
        *("x", "é", "====", "W10", "\x00", " ", "A" * 201, "W" * 100_000),
        *(written(1), written(1, 2), written("1", 2, "d"), written(1, "2", "d"), written(1, 2, 3)),
        *(written(-1, 2, "d"), written(1, 2, "d", 4), written(1.5, 2, "d")),
    ],
)
def test_what_is_no_cursor_is_refused(text):
    with pytest.raises(ConfigError, match="not a cursor"):
        Cursor.parse(text, "d")


@pytest.mark.parametrize(
    "other",
    [
        {"query": "préavis "},
        {"index": ""},
        {"profile": ""},
        {"k": 6},
        {"filters": []},
        {"filters": ["code=Code civil", "kind=statute"]},
        {"as_of": None},
        {"language": ""},
        {"sort": SortOrder.OLDEST},
    ],
)
def test_it_belongs_to_everything_that_was_asked(other):
    text = Cursor(5, 1, ASK.digest()).text()
    with pytest.raises(ConfigError, match="another question"):
        Cursor.parse(text, ASK.model_copy(update=other).digest())


def test_facets_and_the_cursor_itself_are_not_part_of_the_ranking():
    assert ASK.model_copy(update={"facets": True, "cursor": "x"}).digest() == ASK.digest()
    assert digest("a", "b") != digest("ab")
