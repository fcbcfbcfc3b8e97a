"""Runs the Python blocks of a page in order, in the current folder: lines of JSON on standard input, [text, place].

The blocks of a page share their names. An expression that is followed by its value as a comment, on the same line or the next,
must have this value. After each block comes a line of JSON on standard output: what is wrong, or an empty text.
"""

import ast
import json
import os
import sys
import traceback


def run_python(text: str, place: str, names: dict) -> None:
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
            raise AssertionError(f"{source}\nis {value!r}, the page says {comment}")


def serve() -> None:
    """Run blocks as they come, and say of each what is wrong, or nothing."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the page prints does not come between
    names: dict = {"__name__": "__page__"}
    for line in sys.stdin:
        problem = ""
        try:
            run_python(*json.loads(line), names)
        except Exception:
            problem = traceback.format_exc()
        answers.write(json.dumps(problem) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
