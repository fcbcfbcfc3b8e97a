"""The public names of the package: what a program imports, completes and reads help on."""

import ast
import pydoc
import subprocess
import sys
from pathlib import Path

import lexfuse

SOURCE = Path(lexfuse.__file__)


def names_for_type_checkers():
    """The names that the block for type checkers imports, with their homes."""
    block = next(node for node in ast.parse(SOURCE.read_text("utf-8")).body if isinstance(node, ast.If))
    return {alias.asname: f"{node.module}.{alias.name}" for node in block.body for alias in node.names}


def test_type_checkers_and_the_interpreter_see_the_same_names():
    typed = names_for_type_checkers()
    assert sorted(typed) == sorted(lexfuse.__all__) == dir(lexfuse)
    for name, home in typed.items():
        value = getattr(lexfuse, name)
        assert f"{value.__module__}.{value.__name__}" == home


def test_every_public_name_has_a_docstring():
    assert [name for name in lexfuse.__all__ if not getattr(lexfuse, name).__doc__] == []


def test_help_shows_the_program():
    shown = pydoc.render_doc(lexfuse, renderer=pydoc.plaintext)
    assert "lf.Index.build" in shown


def test_an_unknown_name_is_an_attribute_error():
    done = subprocess.run([sys.executable, "-c", "import lexfuse; lexfuse.Indx"], capture_output=True, text=True, check=False)
    assert "module 'lexfuse' has no attribute 'Indx'" in done.stderr


def test_the_package_is_typed():
    assert SOURCE.with_name("py.typed").is_file()
