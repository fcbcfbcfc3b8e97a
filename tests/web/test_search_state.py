from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from lexfuse.web.search_state import SearchState

words = st.text(st.characters(codec="utf-8"), max_size=20)
filters = st.lists(words.filter(str.strip), max_size=3, unique=True).map(tuple)


@given(words, words, words, filters, words.map(str.strip), words, words)
def test_the_address_holds_the_whole_state(query, index, profile, conditions, as_of, sort, cursor):
    state = SearchState(query, index, profile, conditions, as_of, sort, cursor)
    assert SearchState.of(QueryParams(state.url().partition("?")[2])) == state


def test_a_change_leads_to_the_first_page():
    assert SearchState("loi", cursor="abc").but(sort="newest").cursor == ""


def test_an_id_cannot_leave_its_place_in_the_address():
    assert SearchState("loi").page_of("/why", "../x?y#z") == "/why/..%2Fx%3Fy%23z?q=loi"


def test_filters_are_there_once_and_not_empty():
    assert SearchState.of(QueryParams("filter=a%3Db&filter=a%3Db&filter=+")).filters == ("a=b",)
