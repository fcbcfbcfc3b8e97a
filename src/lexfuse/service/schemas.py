"""Schemas of our values for those who call: what a class is, without the example that its docstring has for programmers."""

from __future__ import annotations

from typing import Any

_EXAMPLE = ">>>"


def without_examples(schema: Any) -> Any:
    r"""A JSON schema, or a whole OpenAPI document, whose descriptions end before the examples of our docstrings.

    >>> without_examples({"$defs": {"A": {"description": "A card.\n\n>>> Card()\n"}}})
    {'$defs': {'A': {'description': 'A card.'}}}
    """
    if isinstance(schema, dict):
        return {name: _text(value) if name == "description" else without_examples(value) for name, value in schema.items()}
    return [without_examples(one) for one in schema] if isinstance(schema, list) else schema


def _text(value: Any) -> Any:
    """A description; what has that name and is no text is a property that is called so."""
    return value.partition(_EXAMPLE)[0].rstrip() if isinstance(value, str) else without_examples(value)
