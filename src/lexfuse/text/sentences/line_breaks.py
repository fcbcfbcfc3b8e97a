"""Decide whether a sentence ends at a line break: it does after headings and list items, not in wrapped lines.

A blank line always ends a sentence. For a single line break, the line before it decides:

- It ends with ``;`` or ``:``, or with ``; or`` before a list item: the item ends there.
- It ends with closing punctuation: as in running text (`lexfuse.text.sentences.boundaries`), except that a list item may begin in
  lower case, and that a deliberate break after an abbreviation ends the sentence if the line is short ("ROY, J.").
- Otherwise a heading or label ends there, if the next line does not begin in lower case and the break is deliberate: the next
  word would have fitted. Wrapping breaks only before a word that would exceed the width, so in a block of wrapped lines (between
  blank lines) no line can take the next word without exceeding the longest line. A line in capitals, or one that begins with a
  structural word and number ("Section 2"), is always a heading.
"""

from __future__ import annotations

import re

_LIST_ITEM = re.compile(
    r"""(?:[-–—―•·*]\s              # dashes and bullets
    | \#{1,6}\s | §\s?\d           # a heading in Markdown, a numbered paragraph
    | \d{1,3}\s?[°º]               # 1°
    | \(?\d{1,3}(?:\\?\.|\))\s     # 1. 1) 1\. (1)
    | \([^\W_]{1,4}\)              # (a) (iv)
    | [^\W\d_]\)\s                 # a)
    | (?:I|[IVX]{2,5})\.\s         # II. but not the initial in "C. Roy"
    )""",
    re.VERBOSE,
)
_HEADING = re.compile(
    r"\W*(?:partie|livre|titre|chapitre|section|sous-section|paragraphe|annexe|article|part|book|title|chapter|annex|schedule)"
    r"\s+(?:\d+|[IVXLC]+(?:er)?|première?|unique)\b",
    re.IGNORECASE,
)
_CONJUNCTION = re.compile(r"[;,]\s+(?:or|and|ou|et)\Z")
_OPENING = "«“\"'‘([{*_ \t\u00a0"


def begins_item(text: str, start: int) -> bool:
    """Whether a list item begins here.

    >>> begins_item("1° Les mineurs", 0), begins_item("(iv) any person", 0), begins_item("M. Roy", 0)
    (True, True, False)
    """
    return _LIST_ITEM.match(text, start) is not None


def is_deliberate(line: str, next_word: str, width: int) -> bool:
    """Whether a line break is deliberate: the next word would have fitted into the width.

    >>> is_deliberate("JUDGMENT", "The", width=60), is_deliberate("x" * 58, "The", width=60)
    (True, False)
    """
    return len(line) + 1 + len(next_word) <= width


def ends_line(line: str, text: str, following: int, width: int) -> bool:
    r"""Whether a line without closing punctuation ends its sentence; the next line starts at ``following``.

    >>> text = "Sur le premier moyen\nAttendu que le contrat est nul"
    >>> ends_line("Sur le premier moyen", text, 21, width=30)
    True
    """
    if line.endswith((";", ":")):
        return True
    item = begins_item(text, following)
    if item and _CONJUNCTION.search(line):
        return True
    ahead = text[following : following + 100]
    first = ahead.lstrip(_OPENING)[:1]
    if first.islower() and not item:
        return False
    if is_deliberate(line, ahead.split(None, 1)[0], width):
        return True
    upper_heading = line.isupper() and sum(map(str.isalpha, line)) > 3 and not ahead.partition("\n")[0].isupper()
    return upper_heading or _HEADING.match(line) is not None
