"""The wheels and the source distribution: built, checked, and installed where nothing else is but what they declare."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path, PurePosixPath

import pytest
from licences import licence_of
from locked_requirements import locked, needed
from packaging.metadata import Metadata
from packaging.requirements import Requirement

import lexfuse
from lexfuse.encode.model_folder.shipped_models import CLONE, WHEELS
from lexfuse.errors import MissingDependencyError

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "packages" / "lexfuse-models-fr"
MOST_BYTES = {"lexfuse": 5_000_000, "lexfuse_models_fr": 70_000_000}  # PyPI takes no file above 100 MB


def run(*command, cwd=ROOT, status=0):
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, env=environment(cwd), check=False)
    assert done.returncode == status, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def environment(folder):
    """The environment without what makes another LexFuse importable."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH" and not name.startswith("LEXFUSE_")}
    return kept | {"LEXFUSE_CACHE": str(Path(folder) / "cache"), "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def build(project, out, *targets):
    """What hatchling makes of a project, as `make wheels` calls it."""
    chosen = [word for target in targets for word in ("-t", target)]
    run(sys.executable, "-m", "hatchling", "build", *chosen, "-d", out, cwd=project)


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The two wheels and the source distribution."""
    out = tmp_path_factory.mktemp("dist")
    build(ROOT, out, "wheel", "sdist")
    build(MODELS, out, "wheel")
    return out


@pytest.fixture(scope="module")
def wheels(dist):
    """The wheels by the name of their package."""
    return {path.name.split("-")[0]: path for path in dist.glob("*.whl")}


def test_what_was_built_is_fit_for_an_index(dist, wheels):
    assert sorted(wheels) == sorted(MOST_BYTES)
    assert {name: size for name, path in wheels.items() if (size := path.stat().st_size) > MOST_BYTES[name]} == {}
    files = sorted(dist.iterdir())
    assert len(files) == 3
    report = run(sys.executable, "-m", "twine", "--no-color", "check", "--strict", *files)
    assert report.count("PASSED") == 3


@pytest.mark.parametrize(
    ("page", "engine", "models"),
    [
        ("README.md", r"a wheel of ([\d.]+) MB", r"French legal models, ([\d.]+) MB"),
        ("docs/installation.md", r"\| wheel of the engine \|.*\| ([\d.]+) MB", r"\| wheel of the models \|.*\| ([\d.]+) MB"),
    ],
)
def test_the_docs_say_how_large_the_wheels_are(wheels, page, engine, models):
    text = (ROOT / page).read_text("utf-8")
    for name, said in (("lexfuse", engine), ("lexfuse_models_fr", models)):
        assert 1_000_000 * float(re.search(said, text)[1]) == pytest.approx(wheels[name].stat().st_size, rel=0.05)


def sources(folder):
    """The files of a folder that belong to the project, below it."""
    return run("git", "ls-files", "--cached", "--others", "--exclude-standard", ".", cwd=folder).split()


def test_the_wheel_of_the_engine_has_the_package_without_the_models(wheels):
    names = zipfile.ZipFile(wheels["lexfuse"]).namelist()
    expected = {f"lexfuse/{name}" for name in sources(CLONE.parent) if not name.startswith("models/")}
    assert {name for name in names if ".dist-info/" not in name} == expected
    assert {PurePosixPath(name).name for name in names if ".dist-info/" in name} == {
        "METADATA", "WHEEL", "RECORD", "entry_points.txt", "LICENSE"
    }  # fmt: skip


def test_the_wheel_of_the_models_has_every_file_of_theirs(wheels):
    archive = zipfile.ZipFile(wheels["lexfuse_models_fr"])
    models = {name for name, wheel in WHEELS.items() if wheel == MODELS.name}
    expected = {f"lexfuse_models_fr/{name}" for name in sources(CLONE) if name.split("/")[0] in models}
    assert {name for name in archive.namelist() if ".dist-info/" not in name} == expected | {"lexfuse_models_fr/__init__.py"}
    assert archive.read("lexfuse_models_fr/fr-legal-dense/model.onnx") == (CLONE / "fr-legal-dense" / "model.onnx").read_bytes()


def test_the_source_distribution_makes_the_same_wheel(dist, wheels, tmp_path):
    [source] = dist.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    build(tmp_path / source.name.removesuffix(".tar.gz"), tmp_path / "again", "wheel")
    assert (tmp_path / "again" / wheels["lexfuse"].name).read_bytes() == wheels["lexfuse"].read_bytes()


def test_the_metadata_are_those_of_the_project(wheels):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    metadata = metadata_of(wheels["lexfuse"])
    assert (str(metadata.version), metadata.license_expression) == (project["version"], "Apache-2.0")
    assert project["version"] == lexfuse.__version__
    assert f"\n## {project['version']}" in (ROOT / "CHANGELOG.md").read_text("utf-8")  # every version has release notes


def metadata_of(wheel):
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return Metadata.from_email(archive.read(name))


def lend(distributions, folder):
    """A folder that has these distributions and no others, as links."""
    folder.mkdir()
    for one in distributions:
        for top in {file.parts[0] for file in one.files if file.parts[0] not in ("..", "__pycache__")}:
            (folder / top).symlink_to(one.locate_file(top))


def test_an_installation_is_a_part_of_the_lock_file():
    core, served = needed(), needed(["mcp"])  # which asks for lexfuse[serve]
    assert {"numpy", "llvmlite", "markupsafe"} <= set(core)
    assert "uvicorn" not in core
    assert {"uvicorn", "mcp", *core} <= set(served)
    blocks = locked(core).splitlines()
    pinned = [Requirement(line.removesuffix("\\")) for line in blocks if not line.startswith(" ")]
    assert [one.name for one in pinned if not one.marker or one.marker.evaluate()] == list(core)
    assert all(line.startswith("    --hash=sha256:") for line in blocks if line.startswith(" "))
    with pytest.raises(SystemExit, match="no extra wine; it has serve, pdf"):
        needed(["wine"])
    with pytest.raises(SystemExit, match=r"not in requirements\.lock: wine"):
        locked(["wine"])


def test_every_package_of_the_default_install_states_its_licence():
    assert [name for name, one in needed().items() if not licence_of(one)] == []


def test_the_wheels_work_in_a_clean_environment(wheels, tmp_path):
    """The engine alone searches by words and names the missing wheel; with the models it searches by meaning."""
    clean = tmp_path / "clean"
    venv.create(clean)
    lend(needed().values(), tmp_path / "lent")
    [packages] = clean.glob("lib/python*/site-packages")
    (packages / "lent.pth").write_text(str(tmp_path / "lent"))
    pip = [sys.executable, "-m", "pip", "--python", clean / "bin" / "python"]
    command = clean / "bin" / "lexfuse"

    def lexfuse(*words, status=0):
        return run(command, *words, cwd=tmp_path, status=status)

    run(*pip, "install", "--quiet", "--no-deps", "--no-compile", wheels["lexfuse"])
    run(*pip, "check")
    place = run(clean / "bin" / "python", "-c", "import lexfuse; print(lexfuse.__file__)", cwd=tmp_path)
    assert Path(place.strip()).is_relative_to(clean)
    lexfuse("index", ROOT / "examples" / "articles.csv", "library.index")
    assert "lib-4" in lexfuse("search", "library.index", "retard de prêt")
    problem = lexfuse("index", "library.index", "--channels", "dense", status=MissingDependencyError.exit_code)
    assert "pip install lexfuse-models-fr" in " ".join(problem.split())
    run(*pip, "install", "--quiet", "--no-deps", "--no-compile", wheels["lexfuse_models_fr"])
    lexfuse("index", "library.index", "--channels", "dense")
    assert "lib-4" in lexfuse("search", "library.index", "rendre un livre trop tard", "--channels", "dense")
