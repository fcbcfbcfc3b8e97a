"""One page of results: pages, orders, citations, days, and what is refused."""

import datetime

import pytest

from lexfuse.data.document import Document, DocumentKind
from lexfuse.deadline import Deadline, limited
from lexfuse.errors import ConfigError, GoneError, NotFoundError, OverloadError
from lexfuse.search import hits as hits_module
from lexfuse.search.hits import SortOrder
from lexfuse.search.results import FoundDocument
from lexfuse.search.similar import known_day
from lexfuse.search.stage_clock import StageClock
from lexfuse.service.operations.document_writes import DocumentBody, delete_document, put_document
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.parameters import page_parameters
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.storage.index_folder import IndexFolder


def ids(page):
    return [result.id for result in page.results]


def all_pages(library, **asked):
    pages = [search(library, SearchQuery(**asked))]
    while pages[-1].next_cursor:
        pages.append(search(library, SearchQuery(**asked, cursor=pages[-1].next_cursor)))
    return pages


@pytest.mark.parametrize("profile", ["bm25", "dense", "hybrid", "terms", ""])
@pytest.mark.parametrize("sort", list(SortOrder))
@pytest.mark.parametrize("k", [1, 2, 5])
def test_pages_together_are_the_one_large_page(law, profile, sort, k):
    asked = {"query": "le loyer du bail, article L. 1 du code civil", "profile": profile, "language": "fr", "sort": sort}
    pages = all_pages(law, **asked, k=k)
    large = search(law, SearchQuery(**asked, k=100))
    assert [result for page in pages for result in page.results] == large.results
    assert large.next_cursor is None
    assert [len(page.results) for page in pages[:-1]] == [k] * (len(pages) - 1)
    assert 1 <= len(pages[-1].results) <= k
    assert len(pages) > 1
    assert {page.generation for page in pages} == {large.generation}
    assert [result.rank for page in pages for result in page.results] == list(range(1, len(large.results) + 1))


def test_no_more_than_the_depth_is_paged_through(law, monkeypatch):
    monkeypatch.setattr(hits_module, "DEPTH", 3)
    pages = all_pages(law, query="loyer du bail", k=2, language="fr")
    assert [len(page.results) for page in pages] == [2, 1]


def test_a_cursor_of_another_question_is_refused(law):
    cursor = search(law, SearchQuery(query="loyer du bail", k=1, language="fr")).next_cursor
    for other in ({"query": "bail"}, {"k": 2}, {"profile": "bm25"}, {"filters": ("kind=decision",)}, {"sort": SortOrder.NEWEST}):
        with pytest.raises(ConfigError, match="another question"):
            search(law, SearchQuery(**{"query": "loyer du bail", "k": 1, "language": "fr", "cursor": cursor} | other))
    with pytest.raises(ConfigError, match="not a cursor"):
        search(law, SearchQuery(query="loyer du bail", k=1, language="fr", cursor="nonsense"))


def test_pages_after_a_change_are_those_of_the_first_page(small):
    before = all_pages(small, query="préavis salarié articles", k=1, language="fr")
    cursor = before[0].next_cursor
    delete_document(small, before[1].results[0].id)
    put_document(small, "new", DocumentBody(text="Le préavis, le préavis du salarié.", language="fr"))
    second = search(small, SearchQuery(query="préavis salarié articles", k=1, language="fr", cursor=cursor))
    assert second.results == before[1].results
    assert second.generation == before[0].generation
    now = search(small, SearchQuery(query="préavis salarié articles", k=100, language="fr"))
    assert now.generation > second.generation
    assert "new" in ids(now)
    assert before[1].results[0].id not in ids(now)


def test_a_version_that_is_not_kept_is_gone(shelf_folder):
    with IndexRegistry.open([IndexPlace.of(shelf_folder)], kept=2) as library:
        cursor = search(library, SearchQuery(query="préavis", k=1, language="fr")).next_cursor
        put_document(library, "one", DocumentBody(text="un", language="fr"))
        assert search(library, SearchQuery(query="préavis", k=1, language="fr", cursor=cursor)).results
        put_document(library, "two", DocumentBody(text="deux", language="fr"))
        with pytest.raises(GoneError, match="search again from the first page"):
            search(library, SearchQuery(query="préavis", k=1, language="fr", cursor=cursor))


def test_what_the_question_cites_comes_first(law):
    page = search(law, SearchQuery(query="loyer, article L. 2 du code du travail", profile="hybrid", language="fr"))
    assert (page.results[0].id, page.results[0].found) == ("travail-L2", "citation")
    assert {result.found for result in page.results[1:]} == {"hybrid"}
    assert len(set(ids(page))) == len(page.results)
    assert page.results[0].sources == {}
    assert set(page.results[1].sources) == {"bm25", "dense"}


def test_a_source_that_has_no_score_says_so(law, monkeypatch):
    def without(retriever, question, k, **asked):
        hits = found_by(retriever, question, k, **asked)
        return [
            FoundDocument(one.by, type(one.hit)(one.hit.doc, one.hit.rank, one.hit.score, {"dense": float("nan")}))
            for one in hits
        ]

    found_by = hits_module.find_documents
    monkeypatch.setattr(hits_module, "find_documents", without)
    page = search(law, SearchQuery(query="loyer", profile="hybrid", language="fr"))
    assert page.results[0].sources == {"dense": None}
    assert "NaN" not in page.model_dump_json()


@pytest.mark.parametrize(
    ("day", "found"),
    [("2005-06-01", {"old-L3"}), ("2010-01-01", {"new-L3"}), ("2024-01-01", {"new-L3"}), ("", {"old-L3", "new-L3"})],
)
def test_only_what_was_in_force_on_the_day(law, day, found):
    page = search(law, SearchQuery(query="rupture", profile="bm25", language="fr", as_of=day or None))
    assert {id for id in ids(page) if id.endswith("-L3")} == found
    cited = search(law, SearchQuery(query="article L. 3 du code du travail", profile="bm25", language="fr", as_of=day or None))
    assert {result.id for result in cited.results if result.found == "citation"} == found


@pytest.mark.parametrize("day", ["2024-02-30", "hier", "2024"])
def test_what_is_no_day_is_refused(day):
    with pytest.raises(ConfigError, match="as_of"):
        page_parameters(SearchQuery, {"query": "loi", "as_of": day})


def test_an_open_end_is_no_day():
    assert known_day("", "as_of") is None
    assert known_day("2024-01-31", "as_of") == datetime.date(2024, 1, 31)


def test_by_date_newest_or_oldest_first_and_the_undated_last(law):
    pages = {
        sort: search(law, SearchQuery(query="bail loyer locataire", profile="bm25", language="fr", sort=sort))
        for sort in SortOrder
    }
    for sort, newest in ((SortOrder.NEWEST, True), (SortOrder.OLDEST, False)):
        days = [result.date or result.valid_from for result in pages[sort].results]
        known = [day for day in days if day]
        assert known == sorted(known, reverse=newest)
        assert len(set(known)) > 2
        assert days[: len(known)] == known
        assert None in days
    assert set(ids(pages[SortOrder.NEWEST])) == set(ids(pages[SortOrder.RELEVANCE])) == set(ids(pages[SortOrder.OLDEST]))
    undated = [id for id in ids(pages[SortOrder.RELEVANCE]) if id in ("dec-4", "civil-L1")]
    assert ids(pages[SortOrder.NEWEST])[-2:] == ids(pages[SortOrder.OLDEST])[-2:] == undated  # equals stay in their order


def test_a_law_is_dated_by_the_day_it_came_into_force(law):
    page = search(law, SearchQuery(query="rupture", profile="bm25", language="fr", sort=SortOrder.NEWEST))
    assert ids(page) == ["new-L3", "old-L3"]


def test_only_the_best_are_put_in_order_of_dates(law, monkeypatch):
    monkeypatch.setattr(hits_module, "SORTED", 2)
    best = ids(search(law, SearchQuery(query="bail loyer locataire", profile="bm25", language="fr")))[:2]
    pages = all_pages(law, query="bail loyer locataire", profile="bm25", language="fr", sort=SortOrder.NEWEST, k=1)
    assert sorted(id for page in pages for id in ids(page)) == sorted(best)


def test_filters_hold_before_the_cut(law):
    page = search(law, SearchQuery(query="le salarié", profile="dense", language="fr", k=3, filters=("kind=decision",)))
    assert len(page.results) == 3
    assert {result.kind for result in page.results} == {"decision"}
    assert search(law, SearchQuery(query="loyer", language="fr", filters=("code=Code pénal",))).results == []


@pytest.mark.parametrize("profile", ["bm25", "dense", "hybrid"])
def test_snippets_mark_the_words_and_the_best_sentence(law, profile):
    page = search(law, SearchQuery(query="le locataire paie le loyer au bailleur", profile=profile, language="fr"))
    marked = next(result.snippet for result in page.results if result.id == "civil-L1")
    assert {marked.text[start:end] for start, end in marked.matches} == {"loyer", "bailleur"}
    assert marked.text[slice(*marked.best)] == "Le loyer est dû au bailleur."
    assert not marked.cut_before
    assert not marked.cut_after


def test_a_long_text_is_cut_and_says_so(shelf_folder):
    words = "rien à voir ici. " * 60
    with IndexFolder(shelf_folder) as index:
        index.add([Document("long", text=f"{words}Le zorglub est dû. {words}", language="fr", kind=DocumentKind.OTHER)])
    with IndexRegistry.open([IndexPlace.of(shelf_folder)]) as library:
        [result] = search(library, SearchQuery(query="zorglub", language="fr")).results
    assert result.snippet.cut_before
    assert result.snippet.cut_after
    assert [result.snippet.text[start:end] for start, end in result.snippet.matches] == ["zorglub"]


def test_names_that_are_not_there_are_told_with_those_that_are(law):
    with pytest.raises(NotFoundError, match="there is no index 'x'; there are law"):
        search(law, SearchQuery(query="loi", index="x"))
    with pytest.raises(NotFoundError, match="there is no profile 'x'; there are terms, hybrid, bm25, dense"):
        search(law, SearchQuery(query="loi", profile="x"))
    assert search(law, SearchQuery(query="loi", index="law")).index == "law"


@pytest.mark.parametrize("asked", [{"query": " \n"}, {"query": ""}, {"query": "loi", "k": 0}, {"query": "loi", "k": 101}])
def test_a_question_that_cannot_be_is_refused(law, asked):
    with pytest.raises(ConfigError):
        search(law, page_parameters(SearchQuery, asked))


def test_words_that_nothing_holds_find_nothing_and_an_empty_index_neither(law, tmp_path):
    assert search(law, SearchQuery(query="zanzibar", profile="bm25")).results == []
    IndexFolder.create(tmp_path / "empty").close()
    with IndexRegistry.open([IndexPlace.of(tmp_path / "empty")]) as library:
        page = search(library, SearchQuery(query="loi", facets=True))
    assert (page.results, page.facets, page.candidates, page.next_cursor) == ([], [], 0, None)


def test_the_clock_adds_up_stages_also_where_they_fail():
    clock = StageClock()
    with pytest.raises(ValueError), clock.stage("a"):  # noqa: PT011
        raise ValueError
    with clock.stage("a"):
        pass
    timing = clock.timing()
    assert list(timing.stages) == ["a"]
    assert timing.total >= timing.stages["a"] >= 0


@pytest.mark.parametrize("profile", ["hybrid", "bm25", "dense"])
def test_every_search_stops_at_its_deadline(law, profile):
    ask = SearchQuery(query="le loyer du bail", profile=profile, language="fr", facets=True)
    with limited(deadline := Deadline(600)):
        assert search(law, ask).results
        deadline.revoke()
        with pytest.raises(OverloadError, match="not done within 600 seconds"):
            search(law, ask)
