"""Judgements are kept with the index, come back as qrels, and make no new version."""

import pytest
from pydantic import ValidationError

from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.errors import DataError, NotFoundError
from lexfuse.service.operations.export import JudgementFormat, exported_judgements
from lexfuse.service.operations.feedback import JudgementBody, add_feedback, judgements


def given(**values):
    return JudgementBody(**{"query": "durée du préavis", "document": "travail-L1", "grade": 1} | values)


def test_what_was_said_is_kept_in_order_and_changes_no_version(small):
    generation = small.index().generation
    kept = add_feedback(small, given(rank=3, profile="bm25"))
    add_feedback(small, given(document="travail-L2", grade=0, generation=0))
    small.refresh()
    found = judgements(small).judgements
    assert found[0] == kept
    assert [(one.document, one.grade, one.rank, one.profile, one.generation) for one in found] == [
        ("travail-L1", 1, 3, "bm25", generation),
        ("travail-L2", 0, None, "", 0),
    ]
    assert small.index().generation == generation


def test_qrels_hold_the_last_word(small, tmp_path):
    for grade in (1, 0, 2):
        add_feedback(small, given(grade=grade))
    add_feedback(small, given(document="travail-L2", grade=0))
    add_feedback(small, given(query="autre question"))
    file = exported_judgements(judgements(small), JudgementFormat.QRELS)
    (tmp_path / file.name).write_text(file.text, "utf-8")
    read = read_qrels(tmp_path / file.name).as_dict()
    assert sorted(map(sorted, (ranking.items() for ranking in read.values()))) == [
        [("travail-L1", 1)],
        [("travail-L1", 2), ("travail-L2", 0)],
    ]
    assert '"query": "autre question"' in exported_judgements(judgements(small), JudgementFormat.JSON).text


def test_what_cannot_be_judged(small):
    with pytest.raises(NotFoundError, match="no document 'nowhere'"):
        add_feedback(small, given(document="nowhere"))
    with pytest.raises(DataError, match="query must be a text that says something"):
        add_feedback(small, given(query=" "))
    for values in (
        {"grade": 11},
        {"grade": -1},
        {"rank": 0},
        {"query": ""},
        {"generation": -1},
        {"grade": 0.5},
        {"query": "\ud800"},
    ):
        with pytest.raises(ValidationError):
            given(**values)
    assert judgements(small).judgements == []
