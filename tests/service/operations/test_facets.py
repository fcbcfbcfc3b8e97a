"""Facets: what they count, what their own filters do, and filters that choose a value or let it go."""

from collections import Counter

import pytest

from lexfuse.data.document import Document, DocumentKind
from lexfuse.search import facets as facets_module
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.storage.index_folder import IndexFolder

QUESTION = "le loyer, le bail, le préavis et la rupture"


def facets(library, *filters, query=QUESTION, **asked):
    page = search(library, SearchQuery(query=query, profile="bm25", language="fr", facets=True, filters=filters, **asked))
    return page, {facet.field: facet for facet in page.facets}


def counts(facet):
    return {value.value: value.count for value in facet.values}


def test_they_count_all_candidates_not_the_page(law):
    page, found = facets(law, k=1)
    every = search(law, SearchQuery(query=QUESTION, profile="bm25", language="fr", k=100)).results
    assert page.candidates == len(every) > 1
    assert counts(found["kind"]) == Counter(result.kind for result in every)
    assert counts(found["code"]) == Counter(result.code for result in every if result.code)
    assert counts(found["year"]) == Counter(str(result.date.year) for result in every if result.date)
    assert "language" not in found  # they all have one


def test_without_facets_nothing_is_counted(law):
    page = search(law, SearchQuery(query=QUESTION, profile="bm25", language="fr"))
    assert (page.facets, page.candidates) == ([], None)


def test_its_own_filter_leaves_the_other_values_of_a_facet_and_narrows_the_others(law):
    _, free = facets(law)
    page, found = facets(law, "code=Code civil")
    assert {result.code for result in page.results} == {"Code civil"}
    assert counts(found["code"]) == counts(free["code"])
    assert [value.value for value in found["code"].values if value.chosen] == ["Code civil"]
    assert "year" not in found  # statutes have no dates
    assert "kind" not in found


def test_the_filters_of_a_value_choose_it_or_let_it_go(law):
    _, found = facets(law, "kind=statute", "code=Code civil")
    filters = {value.value: value.filters for value in found["code"].values}
    assert filters == {"Code du travail": ["kind=statute", "code=Code civil,Code du travail"], "Code civil": ["kind=statute"]}
    for value in found["code"].values:
        page, _ = facets(law, *value.filters)
        assert page.candidates == sum(counts(found["code"]).values())  # both codes chosen, or neither


def test_a_year_takes_the_place_of_another(law):
    _, found = facets(law, "date^=2020")
    years = found["year"].values
    assert [value.value for value in years] == ["2022", "2020", "2018"]  # newest first
    assert {value.value: value.filters for value in years} == {"2022": ["date^=2022"], "2020": [], "2018": ["date^=2018"]}
    page, _ = facets(law, "date^=2018")
    assert [result.date.year for result in page.results] == [2018]


@pytest.mark.parametrize("text", ["date>=2020-01-01", "date^=2020-05", "code!=Code civil", "code^=Code"])
def test_a_filter_that_chooses_no_value_narrows_all_facets(law, text):
    page, found = facets(law, text)
    assert not any(value.chosen for facet in found.values() for value in facet.values)
    for name in ("kind", "code"):
        if name in found:
            assert sum(counts(found[name]).values()) <= page.candidates
    assert all(text in value.filters for facet in found.values() for value in facet.values)


def test_a_chosen_value_that_nothing_has_any_more_can_be_let_go(law):
    _, found = facets(law, "code=Code civil", "kind=decision")
    chosen = [value for value in found["code"].values if value.chosen]
    assert [(value.value, value.count, value.filters) for value in chosen] == [("Code civil", 0, ["kind=decision"])]


def test_a_value_with_a_comma_is_chosen_as_it_is(tmp_path):
    documents = [
        Document(f"d{at}", text="la loi", language="fr", kind=DocumentKind.DECISION, court=court)
        for at, court in enumerate(["Cour, 1re chambre", "Cour"])
    ]
    IndexFolder.create(tmp_path / "i", documents=documents).close()
    with IndexRegistry.open([IndexPlace.of(tmp_path / "i")]) as library:
        _, found = facets(library, query="loi")
        [filters] = [value.filters for value in found["court"].values if "," in value.value]
        page, chosen = facets(library, *filters, query="loi")
        assert [result.id for result in page.results] == ["d0"]
        both = next(value.filters for value in chosen["court"].values if value.value == "Cour")
        assert facets(library, *both, query="loi")[0].candidates == 2


def test_the_most_frequent_values_are_shown_and_the_chosen_one(tmp_path, monkeypatch):
    monkeypatch.setattr(facets_module, "SHOWN", 2)
    codes = ["A", "B", "B", "C", "C", "C", "D"]
    documents = [Document(f"d{at}", text="la loi", language="fr", code=code) for at, code in enumerate(codes)]
    IndexFolder.create(tmp_path / "i", documents=documents).close()
    with IndexRegistry.open([IndexPlace.of(tmp_path / "i")]) as library:
        _, found = facets(library, query="loi")
        assert (list(counts(found["code"]).items()), found["code"].more) == ([("C", 3), ("B", 2)], 2)
        _, found = facets(library, "code=D", query="loi")
        assert (list(counts(found["code"]).items()), found["code"].more) == ([("C", 3), ("B", 2), ("D", 1)], 1)


def test_they_follow_the_day(law):
    _, found = facets(law, query="rupture", as_of="2005-01-01")
    assert found == {}  # one document
    page, _ = facets(law, query="rupture", as_of="2005-01-01")
    assert page.candidates == 1
