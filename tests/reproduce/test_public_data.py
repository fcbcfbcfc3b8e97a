"""Public collections for tables: which are made, and what happens where that fails."""

from lexfuse.data import downloads
from reproduce.datasets import DataFolders
from reproduce.public_data import collect_missing, needed_by


def test_what_is_at_hand_is_not_made_again(tmp_path):
    folders = DataFolders((tmp_path,))
    assert needed_by(["scifact", "bsard", "coliee2021", "scifact"], folders) == ["scifact", "french-labour-law"]
    (tmp_path / "fr-labour").mkdir()
    assert needed_by(["scifact", "bsard"], folders) == ["scifact"]
    (tmp_path / "scifact").mkdir()
    assert needed_by(["scifact", "bsard"], folders) == []


def test_a_collection_that_cannot_be_fetched_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")  # no git
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    said = []
    collect_missing(["scifact"], tmp_path / "data", said.append)
    assert said[0] == "collecting scifact"
    assert downloads.SCIFACT.name in said[1]
    assert not (tmp_path / "data" / "scifact").exists()
