"""What `lexfuse info` tells of a folder while others write to it."""

from pathlib import Path

from lexfuse.cli.output import summaries


def test_files_that_vanish_while_they_are_counted_are_left_out(tmp_path, monkeypatch):
    (tmp_path / "catalog.sqlite").write_bytes(b"123")
    log = tmp_path / "catalog.sqlite-wal"
    log.write_bytes(b"12345")
    listed = list(tmp_path.rglob("*"))
    log.unlink()
    monkeypatch.setattr(Path, "rglob", lambda *_: iter(listed))
    assert dict(summaries._sizes(tmp_path)) == {tmp_path / "catalog.sqlite": 3}
