"""The tree of errors: its table is true, codes are unique, and no code reads a message."""

import ast
import re
from pathlib import Path

import pytest

import lexfuse
from lexfuse import errors
from lexfuse.errors import LexFuseError, error_classes

SOURCE = Path(lexfuse.__file__).parent
ROW = re.compile(r"[│├└─ ]*\b(\w+Error) +(\d+) +(\d+)  (\S+)")
MESSAGES = {"args", "reason", "detail", "msg", "message", "strerror"}  # attributes of errors that hold words
WORDS = {"str", "message_of", "repr"}  # functions that turn an error into words
TESTS = {"startswith", "endswith", "find", "index", "partition", "rpartition", "search", "match", "fullmatch", "findall", "count"}


def test_the_table_lists_every_class():
    listed = [(name, int(exit_code), int(status), code) for name, exit_code, status, code in ROW.findall(errors.__doc__)]
    classes = list(error_classes(LexFuseError))[1:]
    assert listed == [(kind.__name__, kind.exit_code, kind.status, kind.code) for kind in classes]


def test_codes_are_unique_words_with_hyphens():
    codes = [kind.code for kind in error_classes(LexFuseError)]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in codes)


def words_of_errors(function, caught):
    """Names in a function that hold the words of an error: assigned from `str(error)` and the like."""
    names = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value and says(node.value, caught, names):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def says(node, caught, names=frozenset()):
    """Whether an expression is, or begins with, the words of an error."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Attribute):
        return node.attr in MESSAGES and isinstance(node.value, ast.Name) and node.value.id in caught
    if isinstance(node, ast.Subscript):
        return says(node.value, caught, names)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in WORDS:
            return any(isinstance(one, ast.Name) and one.id in caught for one in node.args)
        return isinstance(node.func, ast.Attribute) and says(node.func.value, caught, names)
    return False


def readings(tree):
    """Lines on which the words of a caught error decide something."""
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
        caught = {node.name for node in ast.walk(function) if isinstance(node, ast.ExceptHandler) and node.name}
        given = [*function.args.args, *function.args.kwonlyargs]
        caught |= {one.arg for one in given if one.annotation and re.search(r"(Error|Exception)\b", ast.unparse(one.annotation))}
        names = words_of_errors(function, caught)
        for node in ast.walk(function):
            if isinstance(node, ast.Compare) and any(says(one, caught, names) for one in (node.left, *node.comparators)):
                yield node.lineno
            tests = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TESTS
            if tests and any(says(one, caught, names) for one in (node.func.value, *node.args)):
                yield node.lineno


@pytest.mark.parametrize("folder", sorted(path.name for path in SOURCE.iterdir() if path.is_dir()))
def test_no_code_reads_the_message_of_an_error(folder):
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in sorted((SOURCE / folder).rglob("*.py"))
        for line in readings(ast.parse(path.read_text("utf-8")))
    ]
    assert found == []


def test_the_check_of_messages_can_fail():
    text = """
def a():
    try:
        pass
    except OSError as error:
        if "denied" in str(error) or error.args[0] == "x":
            pass
def b(error: LexFuseError):
    said = message_of(error)[:500]
    for reason in said.splitlines():
        if reason in said:
            return 1
    return said.startswith("x")
"""
    assert sorted(readings(ast.parse(text))) == [6, 6, 11, 13]
