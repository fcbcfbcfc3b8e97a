"""Keys: what the file holds, who is recognised, and what happens when the file changes."""

import logging
import stat
import threading

import pytest

from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.service.api_keys import KeyRing, KeyScope, add_key, read_keys, revoke_key


@pytest.fixture
def path(tmp_path):
    return tmp_path / "keys.toml"


def test_the_file_is_for_its_owner_alone_and_holds_no_token(path):
    token = add_key(path, "library", KeyScope.READ)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert token not in path.read_text("utf-8")
    assert token[3:] not in path.read_text("utf-8")
    assert len(token) == 3 + 43  # 32 bytes in base 64
    (key,) = read_keys(path)
    assert (key.name, key.scopes) == ("library", (KeyScope.READ,))
    assert key.created.endswith("+00:00")


def test_two_keys_differ_in_token_salt_and_hash(path):
    tokens = {add_key(path, name, KeyScope.READ) for name in ("a", "b")}
    first, second = read_keys(path)
    assert len(tokens) == 2
    assert first.salt != second.salt
    assert first.hash != second.hash


def test_a_key_is_found_by_its_token_alone(path):
    tokens = {name: add_key(path, name, KeyScope.READ) for name in ("a", "b")}
    ring = KeyRing(path)
    assert {name: ring.find(token).name for name, token in tokens.items()} == {"a": "a", "b": "b"}
    for wrong in ("", "lf_", tokens["a"][:-1], tokens["a"] + "x", tokens["a"].upper(), "\ud800", "é" * 50, "x" * 100_000):
        assert ring.find(wrong) is None


def test_who_may_write_may_read_but_not_the_reverse(path):
    add_key(path, "w", KeyScope.WRITE)
    add_key(path, "r", KeyScope.READ)
    writer, reader = read_keys(path)
    assert (writer.allows(KeyScope.READ), writer.allows(KeyScope.WRITE)) == (True, True)
    assert (reader.allows(KeyScope.READ), reader.allows(KeyScope.WRITE)) == (True, False)


def test_names_are_unique_and_sane(path):
    add_key(path, "a", KeyScope.READ)
    with pytest.raises(ConfigError, match="there is a key 'a' already"):
        add_key(path, "a", KeyScope.WRITE)
    for name in ("", "x" * 65, "a\nb"):
        with pytest.raises(ConfigError, match="printable"):
            add_key(path, name, KeyScope.READ)
    assert [key.name for key in read_keys(path)] == ["a"]


def test_a_revoked_key_is_refused_by_a_running_service(path):
    kept, gone = add_key(path, "kept", KeyScope.READ), add_key(path, "gone", KeyScope.WRITE)
    ring = KeyRing(path)
    assert ring.find(gone)
    revoke_key(path, "gone")
    assert ring.find(gone) is None
    assert ring.find(kept)
    new = add_key(path, "new", KeyScope.READ)
    assert ring.find(new).name == "new"
    with pytest.raises(NotFoundError, match="no key 'gone'; there are kept, new"):
        revoke_key(path, "gone")


def test_a_file_that_became_unreadable_knows_nobody_until_it_is_right_again(path, caplog):
    token = add_key(path, "a", KeyScope.READ)
    good = path.read_bytes()
    ring = KeyRing(path)
    path.write_bytes(b"key = = 1")
    with caplog.at_level(logging.ERROR):
        assert ring.find(token) is None
        assert ring.find(token) is None
    assert len(caplog.records) == 1
    path.write_bytes(good)
    assert ring.find(token)
    path.unlink()
    assert ring.find(token) is None


@pytest.mark.parametrize(
    "content",
    [
        "key = 1",
        "key = [1]",
        "[[key]]\nname = 'a'",
        "[[key]]\nname = 1\nscopes = []\ncreated = ''\nsalt = ''\nhash = ''",
        "[[key]]\nname = 'a'\nscopes = ['all']\ncreated = ''\nsalt = ''\nhash = ''",
        "[[key]]\nname = 'a'\nscopes = []\ncreated = ''\nsalt = ''\nhash = ''\n" * 2,
        "not toml",
    ],
)
def test_files_that_hold_no_keys_are_refused(path, content):
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(DataError, match=r"keys\.toml"):
        KeyRing(path)


def test_a_file_that_others_may_write_to_is_refused(path):
    add_key(path, "a", KeyScope.READ)
    path.chmod(0o664)
    with pytest.raises(ConfigError, match=r"others may write to the keys \(mode 664\); chmod 600 it"):
        KeyRing(path)


def test_a_missing_file_is_told_at_once(path):
    with pytest.raises(NotFoundError, match=r"keys\.toml"):
        KeyRing(path)


def test_keys_added_at_the_same_time_are_all_kept(path):
    threads = [threading.Thread(target=add_key, args=(path, f"key {number}", KeyScope.READ)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(key.name for key in read_keys(path)) == [f"key {number}" for number in range(8)]


def test_a_link_to_the_file_stays_a_link(path, tmp_path):
    add_key(path, "a", KeyScope.READ)
    link = tmp_path / "link.toml"
    link.symlink_to(path)
    add_key(link, "b", KeyScope.READ)
    assert link.is_symlink()
    assert len(read_keys(path)) == 2


def test_the_last_key_can_be_revoked(path):
    add_key(path, "a", KeyScope.READ)
    revoke_key(path, "a")
    assert read_keys(path) == ()
