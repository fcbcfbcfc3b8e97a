import json

import numpy as np
import pytest

from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.tokenizer import ModelTokenizer
from lexfuse.errors import DataError
from lexfuse.text.passages import passages


@pytest.fixture
def tokens(tmp_path, tiny):
    return ModelTokenizer(ModelFolder.read(tiny.folder(tmp_path / "m")))


def test_special_tokens_are_around_and_nothing_is_cut(tokens):
    short, long = tokens.ids(["the court", "the " * 1000])
    assert short[0] == tokens.before[0]
    assert short[-1] == tokens.after[0]
    assert len(long) == 1002
    assert tokens.count("the court") == 2
    assert [tokens.word(number) for number in tokens.inner_ids("the court")] == ["the", "court"]


@pytest.mark.parametrize("family", ["bert", "roberta", "camembert", "xlm-roberta", "mpnet"])
def test_specials_of_every_family(tmp_path, tiny, family):
    tokens = ModelTokenizer(ModelFolder.read(tiny.folder(tmp_path / "m", family)))
    (empty,) = tokens.ids([""])
    assert empty.tolist() == [*tokens.before, *tokens.after]
    assert len(tokens.before) == len(tokens.after) == 1
    (row,) = tokens.ids(["le contrat"])
    assert row.tolist() == tokens.wrapped(tokens.inner_ids("le contrat")).tolist()


def test_a_long_row_becomes_windows_of_equal_length(tokens):
    (row,) = tokens.ids(["the court held that " * 100])
    windows = tokens.windows(row)
    assert max(map(len, windows)) <= tokens.window
    assert max(map(len, windows)) - min(map(len, windows)) <= 1
    assert np.concatenate([window[1:-1] for window in windows]).tolist() == row[1:-1].tolist()


def test_a_prompt_is_in_every_window(tokens):
    (row,) = tokens.ids(["loi : " + "the court held that " * 100])
    windows = tokens.windows(row, kept=2)
    assert len(windows) > 2
    assert all(window[1:3].tolist() == row[1:3].tolist() for window in windows)


def test_batches_are_sorted_and_bounded_and_hold_every_row(tokens):
    rows = tokens.ids(["the " * length for length in (3, 90, 1, 0, 40, 90, 7)])
    seen = []
    for chosen, ids, mask in tokens.batches(rows, 128):
        assert ids.size <= 128 or len(ids) == 1
        for place, row in enumerate(chosen):
            assert ids[place][mask[place] == 1].tolist() == rows[row].tolist()
            assert (ids[place][mask[place] == 0] == tokens.pad).all()
        seen += chosen.tolist()
    assert sorted(seen) == list(range(len(rows)))
    assert [len(rows[place]) for place in seen] == sorted(map(len, rows), reverse=True)


def test_a_batch_of_questions_is_hardly_padded(tokens):
    rows = tokens.ids(["the " * length for length in (10, 30, 11, 29, 12, 10)])
    batches = list(tokens.batches(rows))
    assert len(batches) == 2
    assert all(mask.mean() > 0.85 for _, _, mask in batches)


def test_offsets_serve_as_a_unit_of_passages(tokens):
    text = "Le salarié ne peut pas rompre le contrat. " * 5
    found = passages(text, size=7, overlap=2, unit=tokens.offsets)
    assert len(found) > 3
    assert all(tokens.count(passage.of(text)) <= 7 for passage in found)


def test_lowercase_of_the_configuration(tmp_path, tiny):
    path = tiny.folder(tmp_path / "m", "camembert")
    before = ModelTokenizer(ModelFolder.read(path)).inner_ids("LE CONTRAT").tolist()
    (path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 64, "do_lower_case": True}))
    tokens = ModelTokenizer(ModelFolder.read(path))
    assert tokens.inner_ids("LE CONTRAT").tolist() == tokens.inner_ids("le contrat").tolist() != before


def test_a_missing_or_damaged_tokenizer(tmp_path, tiny):
    path = tiny.folder(tmp_path / "m")
    (path / "tokenizer.json").write_text("{}")
    with pytest.raises(DataError, match=r"tokenizer\.json: not a tokenizer file, or a damaged one"):
        ModelTokenizer(ModelFolder.read(path))
    (path / "tokenizer.json").unlink()
    with pytest.raises(DataError, match=r"the folder has no tokenizer\.json; save the model's tokenizer in its fast form"):
        ModelTokenizer(ModelFolder.read(path))


def test_a_window_without_room(tmp_path, tiny):
    path = tiny.folder(tmp_path / "m")
    (path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 2}))
    with pytest.raises(DataError, match="a window of 2 tokens leaves no room"):
        ModelTokenizer(ModelFolder.read(path))
