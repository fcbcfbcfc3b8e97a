"""Commands are imported when they are used, and their lines in ``lexfuse --help`` are those of their docstrings."""

import ast
import inspect
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import lexfuse.cli
from lexfuse.cli.app import COMMANDS, LazyCommand

SOURCE = Path(lexfuse.cli.__file__).parent
FIRST = {"app", "process", "output", "options"}  # what every command needs
# Imports inside functions: the packages of the service are optional, and Ctrl-C must work before anything is imported.
INSIDE_FUNCTIONS = {"__init__.py", "demo.py"}


def leaves(commands):
    for command in commands:
        if isinstance(command, LazyCommand):
            yield command
        else:
            yield from leaves(command.commands.values())


def loaded_by(*arguments, **environment):
    """The modules of commands that a call of lexfuse imports."""
    program = "import sys\nfrom lexfuse.cli import main\ntry:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, env=os.environ | environment
    )
    modules = {name.split(".")[2] for name in done.stderr.split() if name.startswith("lexfuse.cli.")}
    return modules - FIRST, done.stdout


@pytest.mark.parametrize("command", list(leaves(COMMANDS)), ids=lambda command: command.target)
def test_the_line_of_a_command_is_the_first_of_its_docstring(command):
    module, _, function = command.target.partition(":")
    documented = inspect.getdoc(getattr(import_module(f"lexfuse.cli.{module}"), function))
    assert command.help == documented.partition("\n")[0]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["train", "--help"], ["nonsense"]])
def test_no_command_is_imported_before_one_is_chosen(arguments):
    assert loaded_by(*arguments)[0] == set()


def test_the_help_of_a_command_imports_that_command_alone():
    loaded, shown = loaded_by("keys", "add", "--help")
    assert loaded == {"keys"}
    assert "--scope" in shown


def test_names_and_options_are_completed():
    completing = {"_LEXFUSE_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
    loaded, shown = loaded_by(**completing, COMP_WORDS="lexfuse ev")
    assert (loaded, shown.split()) == (set(), ["evaluate"])
    loaded, shown = loaded_by(**completing | {"COMP_CWORD": "3"}, COMP_WORDS="lexfuse keys add --sc")
    assert (loaded, shown.split()) == ({"keys"}, ["--scope"])


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_modules_import_at_the_top(path):
    functions = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)]
    inside = [node for function in functions for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert inside == [] or path.name in INSIDE_FUNCTIONS
