"""Runs the blocks of a page in order, in the current folder: JSON on standard input, a list of [language, text, line].

Console blocks run `lexfuse` and shell built-ins line by line. Python blocks of a page share their names. An expression that is
followed by its value as a comment, on the same line or the next, must have this value.
"""

import ast
import json
import shlex
import subprocess
import sys
from pathlib import Path


def run_console(text: str) -> None:
    for command in commands(text):
        words = shlex.split(command, comments=True)
        if words[0] != "lexfuse":
            raise SystemExit(f"not a lexfuse command; mark the block as no-run: {command}")
        done = subprocess.run([Path(sys.executable).parent / "lexfuse", *words[1:]], capture_output=True, text=True, check=False)
        if done.returncode or not done.stdout.strip():
            raise SystemExit(f"{command}\nended with {done.returncode}\n{done.stdout}{done.stderr}")


def commands(text: str) -> list[str]:
    return [line.strip() for line in text.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]


def run_python(text: str, names: dict, place: str) -> None:
    lines = text.splitlines()
    for node in ast.parse(text, place).body:
        if isinstance(node, ast.Expr):
            value = eval(compile(ast.Expression(node.value), place, "eval"), names)  # noqa: S307  (our own pages)
            check_value(value, comments_of(lines, node.end_lineno), ast.unparse(node))
        else:
            exec(compile(ast.Module([node], []), place, "exec"), names)  # noqa: S102


def comments_of(lines: list[str], end: int) -> list[str]:
    """The comment on the last line of an expression, or on the line after it."""
    following = lines[end] if end < len(lines) else ""
    found = [lines[end - 1].rpartition("  # ")[2]] if "  # " in lines[end - 1] else []
    return found or ([following.removeprefix("# ")] if following.startswith("# ") else [])


def check_value(value: object, comments: list[str], source: str) -> None:
    for comment in comments:
        try:
            expected = ast.literal_eval(comment)
        except (SyntaxError, ValueError):
            continue  # a comment in words
        if value != expected:
            raise SystemExit(f"{source}\nis {value!r}, the page says {comment}")


if __name__ == "__main__":
    names: dict = {"__name__": "__page__"}
    for language, text, line in json.load(sys.stdin):
        try:
            run_console(text) if language == "console" else run_python(text, names, f"<page, line {line}>")
        except SystemExit as failure:
            sys.exit(f"line {line}: {failure}")
