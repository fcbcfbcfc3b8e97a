"""The facet of headings: how the candidates of a question spread over the sections of one code, one level at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lexfuse.data.arrays import I32
from lexfuse.search.index_version import IndexVersion
from lexfuse.storage.document_rows import texts_of
from lexfuse.storage.filters import Condition, Operator

HEADINGS = "headings"
SHOWN = 8  # sections


def chosen_headings(filters: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The filter that chooses a section, and the path of the section; empty if there is none.

    >>> chosen_headings(["code=Code du travail", "headings^=Partie législative > Livre II >"])[1]
    ('Partie législative', 'Livre II')
    """
    for text in filters:
        condition = Condition.parse(text)
        if condition.field == HEADINGS and condition.operator is Operator.BEGINS:
            return text, tuple(part.strip() for part in condition.values[0].split(">") if part.strip())
    return "", ()


def heading_filter(path: Sequence[str]) -> str:
    """The filter of everything in a section.

    >>> heading_filter(["Partie législative", "Livre II"])
    'headings^=Partie législative > Livre II >'
    """
    return f"{HEADINGS}^={' > '.join(path)} >"


def heading_counts(version: IndexVersion, ordinals: I32, chosen: tuple[str, ...]) -> list[tuple[tuple[str, ...], int]]:
    """The sections below the chosen one that divide the candidates, most frequent first.

    Levels that all candidates share are skipped. Nothing is returned for candidates of several codes: the same heading means
    another section in each.

    >>> heading_counts(IndexVersion(snapshot), np.arange(6, dtype=np.int32), ())
    [(('Partie législative',), 4), (('Partie réglementaire',), 2)]
    """
    codes, _ = version.snapshot.coded("code")
    if len(set(codes[ordinals].tolist())) > 1:
        return []
    numbers, values = version.snapshot.coded(HEADINGS)
    counted = Counter(numbers[ordinals].tolist())
    paths = [(tuple(part.strip() for part in texts_of(values[number])), count) for number, count in counted.items()]
    inside = [(path, count) for path, count in paths if path[: len(chosen)] == chosen and not any(">" in part for part in path)]
    level = len(chosen)
    while inside and len({path[: level + 1] for path, _ in inside}) == 1 and len(inside[0][0]) > level + 1:
        level += 1
    sections = Counter[tuple[str, ...]]()
    for path, count in inside:
        if len(path) > level:
            sections[path[: level + 1]] += count
    return sorted(sections.items(), key=lambda pair: (-pair[1], pair[0]))
