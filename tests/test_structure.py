"""The tree keeps its promises: imports go downward, light commands stay light, long files are seen."""

import ast
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import lexfuse

SOURCE = Path(lexfuse.__file__).parent

# Every part may import itself and what precedes it; docs/ARCHITECTURE.md has the same order.
ORDER = ["errors", "dependencies", "lazy", "deadline", "data", "text", "kernels", "storage", "encode", "channels", "fusion",
         "rerank", "search", "index", "cluster", "public_collection", "evaluation", "optimisation", "advice", "train", "service",
         "web", "deployment", "bridges", "cli"]  # fmt: skip


@cache
def tree_of(path: Path) -> ast.Module:
    """A file as its syntax; several tests look at every file."""
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of the syntax of a file that import, and those for the type checker alone."""
    return tuple(node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Import | ast.ImportFrom | ast.If))


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def imports_of(path: Path) -> list[str]:
    """Every absolute import of a file, also those inside functions, but not those for the type checker alone."""
    names = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
    return names


def python_files() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def upward_imports(path: Path, root: Path = SOURCE) -> list[str]:
    """Imports of a part that comes later in the order; the root package names what is below it and loads none of it."""
    own = path.relative_to(root).parts[0].removesuffix(".py")
    later = ORDER[ORDER.index(own) + 1 :] if own != "__init__" else []
    return [
        f"{path.relative_to(root)} imports {module}"
        for module in imports_of(path)
        if module.startswith("lexfuse.") and part_of(module) in later
    ]


def test_imports_go_downward():
    assert [offence for path in python_files() for offence in upward_imports(path)] == []


def test_every_part_has_a_place_in_the_order():
    parts = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in python_files()} - {"__init__"}
    assert parts <= set(ORDER)


def test_the_check_of_imports_can_fail(tmp_path):
    file = tmp_path / "data.py"
    file.write_text("def f():\n    from lexfuse.cli import main\n    from lexfuse.errors import DataError\n")
    assert upward_imports(file, tmp_path) == ["data.py imports lexfuse.cli"]


HEAVY = {"numpy", "pyarrow", "scipy", "nupunkt", "Stemmer", "selectolax", "torch", "pandas", "pypdf"}


def loaded_by(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in done.stdout.split()}


def test_import_budget_of_the_package():
    assert not loaded_by("import lexfuse") & (HEAVY | {"rich", "typer"})


def test_import_budget_of_help():
    show_help = "import sys\nsys.argv = ['lexfuse', '--help']\nfrom lexfuse.cli import main\n"
    loaded = loaded_by(f"{show_help}try:\n    main()\nexcept SystemExit:\n    pass")
    assert "typer" in loaded
    assert not loaded & HEAVY


def test_only_training_may_import_torch():
    offenders = [path for path in python_files() if "torch" in imports_of(path) and path.relative_to(SOURCE).parts[0] != "train"]
    assert offenders == []


def test_onnx_runtime_is_imported_where_its_telemetry_is_switched_off():
    """In one file of the package; what the type checker alone imports does not count."""
    offenders = [path for path in python_files() if imports_at_run_time(path, "onnxruntime")]
    assert offenders == [SOURCE / "encode" / "onnx_runtime.py"]


def imports_at_run_time(path: Path, package: str) -> bool:
    unseen = for_the_type_checker(path)
    nodes = [node for node in nodes_of(path) if node not in unseen]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return any(name.split(".")[0] == package for name in names)


@cache
def for_the_type_checker(path: Path) -> frozenset[ast.AST]:
    """The nodes that no program runs."""
    typed = [node for node in nodes_of(path) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return frozenset(inner for node in typed for inner in ast.walk(node))


def modules() -> dict[str, Path]:
    """Every module by its dotted name."""
    names = {path: ".".join(("lexfuse", *path.relative_to(SOURCE).with_suffix("").parts)) for path in python_files()}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def crowded_folders(paths: list[Path]) -> dict[str, int]:
    counts = Counter(path.parent.relative_to(SOURCE).as_posix() for path in paths if path.name != "__init__.py")
    return {folder: count for folder, count in counts.items() if count > 20}


def repeated_classes(paths: list[Path]) -> dict[str, int]:
    classes = [node.name for path in paths for node in tree_of(path).body if isinstance(node, ast.ClassDef)]
    return {name: count for name, count in Counter(classes).items() if count > 1}


def import_cycles(imported: dict[str, set[str]]) -> list[str]:
    """Modules that import themselves through others, also by imports inside functions."""
    reached = {module: set(found) for module, found in imported.items()}
    changed = True
    while changed:
        changed = False
        for found in reached.values():
            more = set().union(*(reached.get(module, set()) for module in found)) - found
            changed |= bool(more)
            found |= more
    return sorted(module for module, found in reached.items() if module in found)


def imported_modules() -> dict[str, set[str]]:
    """What every module imports at run time: of ``from package import name`` the module, where the name is one."""
    every, found = modules(), {}
    for name, path in every.items():
        unseen = for_the_type_checker(path)
        imports = [node for node in nodes_of(path) if isinstance(node, ast.ImportFrom) and node.module and node not in unseen]
        targets = {f"{node.module}.{alias.name}" for node in imports for alias in node.names} | {one.module for one in imports}
        found[name] = {target for target in targets if target in every} - {name, "lexfuse"}
    return found


def test_no_folder_is_crowded():
    assert crowded_folders(python_files()) == {}


def test_no_class_name_is_used_twice():
    assert repeated_classes(python_files()) == {}


def test_no_module_is_called_after_an_activity():
    assert [name for name in modules() if name.endswith("ing")] == []


def test_no_module_imports_itself_through_others():
    assert import_cycles({name: found - packages_of(name) for name, found in imported_modules().items()}) == []


def packages_of(module: str) -> set[str]:
    """The packages that a module is in: importing it imports them first."""
    parts = module.split(".")
    return {".".join(parts[:end]) for end in range(1, len(parts))}


def test_the_check_of_cycles_can_fail():
    assert import_cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c"]
