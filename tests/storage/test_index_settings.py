"""Settings: checked once, the same text reading has the same fingerprint, damage is told."""

import pytest

from lexfuse.data.document import Document
from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.text.analysis.analyser import Folding


@pytest.mark.parametrize(
    "fields", [{}, {"body": 1.0}, {"text": 0.0}, {"text": -1.0}, {"text": float("nan")}, {"text": float("inf")}]
)
def test_fields_that_cannot_be_are_refused(fields):
    with pytest.raises(ConfigError, match=r"fields to index|weights of fields"):
        IndexSettings(fields=fields)


def test_texts_and_weights():
    document = Document("a", title="T", headings=("H1", "H2"), text="X", code="C")
    assert IndexSettings().texts(document) == [("T", 1.0), ("H1 \nH2", 1.0), ("X", 1.0)]
    assert IndexSettings(fields={"code": 2.0, "court": 1.0}).texts(document) == [("C", 2.0)]


def test_round_trip_and_fingerprints():
    every = [
        IndexSettings(),
        IndexSettings(fields={"text": 1.0}),
        IndexSettings(fields={"text": 2.0}),
        IndexSettings(stems=False),
        IndexSettings(stop_words=False),
        IndexSettings(citations=False),
        IndexSettings(folding=Folding.KEEP),
    ]
    assert [IndexSettings.from_json(one.as_json()) for one in every] == every
    assert len({one.fingerprint for one in every}) == len(every)
    assert (
        IndexSettings(fields={"text": 1.0, "title": 2.0}).fingerprint
        == IndexSettings(fields={"title": 2.0, "text": 1.0}).fingerprint
    )


def test_settings_from_before_versions_of_the_analysis():
    values = {"stems": True, "stop_words": True, "citations": True, "fields": {"title": 1.0, "headings": 1.0, "text": 1.0}}
    old = IndexSettings.from_json(values | {"folding": "fold"})
    assert old.fingerprint == "2c57a0d41a411f18"  # as it was written then
    assert old.analyser("de").terms("Gesetze") == ["gesetze"]
    assert IndexSettings().analyser("de").terms("Gesetze") == ["gesetz"]


def test_texts_of_unknown_language_are_read_as_english():
    assert IndexSettings().analyser("").language == "en"


@pytest.mark.parametrize("change", [{"folding": "x"}, {"fields": None}, {"fields": {"text": "1"}}, {"newer": 1}, {"analysis": 3}])
def test_damaged_settings_are_told(change):
    with pytest.raises(DataError, match="settings of the index are damaged"):
        IndexSettings.from_json(IndexSettings().as_json() | change)
