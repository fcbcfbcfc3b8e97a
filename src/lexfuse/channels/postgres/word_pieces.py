"""Texts in pieces that PostgreSQL's text search counts exactly.

A tsvector has at most 255 places of a lexeme, and no place above 16,383. So the words of a long text are counted in pieces.
"""

from __future__ import annotations

import re

_LONGEST = 500  # characters: too few for 256 words
_PIECE = re.compile(rf"\S(?:.{{0,{_LONGEST - 1}}}(?!\S)|\S*)", re.DOTALL)


def word_pieces(text: str) -> list[str]:
    """A text cut at white space into pieces of up to 500 characters; a longer word is one piece.

    >>> word_pieces("un deux"), [len(piece) for piece in word_pieces("mot " * 300)]
    (['un deux'], [499, 499, 200])
    """
    return _PIECE.findall(text)
