"""A law as Markdown of the Legalize project: front matter, headings, and one heading per article.

Snapshots have two forms. In the later one articles and headings begin with ``#``. In the earlier one they are plain lines, so
headings that follow an article are recognised by their first word, or by the headings of later snapshots.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

_ARTICLE = re.compile(r"(?m)Article[ \u00a0]+(\S[^\n]{0,80}?)[ \t]*$")  # begins with a literal, for which `re` searches fast
_ARTICLE_MARK = re.compile(r"(?:#{1,6} +)?")  # the rest of the line before it
_HEADING = re.compile(r"(?m)^#{1,6} +(?!Article[ \u00a0])(\S(?:.*\S)?)[^\S\n]*$")
_FACT = re.compile(r'(?m)^(\w+): "?(.*?)"?[ \t]*$')
_RANKS = ("partie", "livre", "titre", "sous-titre", "chapitre", "section", "sous-section", "paragraphe", "sous-paragraphe")
_NUMBERED = r"(?:Ier|Ire|[IVXLC]++|\d++|premi[eè]re?|pr[ée]liminaire|unique|[A-Z]\b)"
_PLAIN = re.compile(rf"(?i:(?:{'|'.join(_RANKS)}))\s+{_NUMBERED}.*|(?i:partie) (?:législative|réglementaire).*|(?i:annexes?)\b.*")
_LONGEST = 300  # characters of a heading
_MARKUP = re.compile(r"[*_`\\|>#]+")


class LawArticle(NamedTuple):
    """An article of a snapshot: its number, the chunk of Markdown that it is, and the headings above it."""

    number: str
    markdown: str
    headings: tuple[str, ...]


def law_facts(markdown: str) -> dict[str, str]:
    r"""The facts of the front matter: title, identifier, country.

    >>> law_facts('---\ntitle: "Code civil"\n---\n# Code civil')
    {'title': 'Code civil'}
    """
    _, mark, rest = markdown.partition("---\n")
    return dict(_FACT.findall(rest.partition("\n---")[0])) if mark else {}


def law_headings(markdown: str) -> set[str]:
    r"""The headings of a snapshot in the later form.

    >>> law_headings("# Code\n\n## Livre Ier : Des personnes\n\n##### Article 7\n")
    {'Livre Ier : Des personnes'}
    """
    return set(_HEADING.findall(markdown)[1:])


def law_articles(
    markdown: str, known: Collection[str] = (), divided: dict[str, tuple[str, list[str]]] | None = None
) -> list[LawArticle]:
    r"""The articles of a snapshot in their order; `known` are headings that plain lines may be.

    Snapshots of a law have nearly all their articles in common: `divided` remembers them from one to the next.

    >>> later = law_articles("# Code\n\n## Livre Ier\n\n##### Article 7\n\nNul.\n\n### Titre Ier\n\n##### Article 8\n\nTout.\n")
    >>> earlier = law_articles("# Code\n\nLivre Ier\n\nArticle 7\n\nNul.\n\nTitre Ier\n\nArticle 8\n\nTout.\n")
    >>> [(one.number, article_text(one.markdown), one.headings) for one in later]
    [('7', 'Nul.', ('Livre Ier',)), ('8', 'Tout.', ('Livre Ier', 'Titre Ier'))]
    >>> [article_text(one.markdown) for one in earlier] == [article_text(one.markdown) for one in later]
    True
    """
    preface, pieces = _article_pieces(markdown)
    seen = {} if divided is None else divided
    path: list[tuple[int, str]] = []
    above: tuple[str, ...] = ()
    _, headings = _divided(preface.rpartition("\n# ")[2].partition("\n")[2], known)
    articles = []
    for number, piece in pieces:
        if headings:
            for heading in headings:
                _descend(path, heading)
            above = tuple(heading for _, heading in path)
        if piece not in seen:
            seen[piece] = _divided(piece, known)
        text, headings = seen[piece]
        articles.append(LawArticle(number, text, above))
    return articles


def article_text(markdown: str) -> str:
    r"""The text of an article, a paragraph per line.

    >>> article_text("\n\nUn.\n\n\n   Deux,\ntrois.\n")
    'Un.\nDeux, trois.'
    """
    return "\n".join(" ".join(part.split()) for part in re.split(r"\n[ \t]*\n", markdown) if part.strip())


def same_text_key(text: str) -> str:
    r"""What two forms of one text have in common: no markup, one kind of space and apostrophe.

    >>> same_text_key("**I.** –  L’homme") == same_text_key("I. – L'homme")
    True
    """
    plain = _MARKUP.sub("", text.replace("’", "'").replace("œ", "oe"))
    return "".join(plain.split())


def _article_pieces(markdown: str) -> tuple[str, list[tuple[str, str]]]:
    """What is before the first article, and the number of each article with what follows up to the next."""
    marks = []
    for mark in _ARTICLE.finditer(markdown):
        start = markdown.rfind("\n", 0, mark.start()) + 1
        if start == mark.start() or _ARTICLE_MARK.fullmatch(markdown, start, mark.start()):
            marks.append((start, mark.end(), mark[1].strip()))
    starts = [*(start for start, _, _ in marks), len(markdown)]
    pieces = [(number, markdown[after:end]) for (_, after, number), end in zip(marks, starts[1:], strict=True)]
    return markdown[: starts[0]], pieces


def _divided(piece: str, known: Collection[str]) -> tuple[str, list[str]]:
    """The text of a piece, and the headings at its end."""
    if first := _HEADING.search(piece):  # in the later form nothing else begins with #
        return piece[: first.start()], _HEADING.findall(piece[first.start() :])
    kept = piece.rstrip()
    headings: list[str] = []
    while kept:
        before, _, last = kept.rpartition("\n")
        line = last.strip()
        if len(line) > _LONGEST or before.rstrip(" \t")[-1:] not in ("", "\n") or not (line in known or _PLAIN.fullmatch(line)):
            break
        headings.append(line)
        kept = before.rstrip()
    return kept, headings[::-1]


def _descend(path: list[tuple[int, str]], heading: str) -> None:
    """Replace the headings of the same rank and below by a new one."""
    word = heading.split(maxsplit=1)[0].casefold()
    rank = _RANKS.index(word) if word in _RANKS else len(_RANKS)
    while path and path[-1][0] >= rank:
        path.pop()
    path.append((rank, heading))
