"""Versions and differences as plain text for LLM clients."""

from __future__ import annotations

from lexfuse.service.schemas.history import DocumentDifference, DocumentHistory, DocumentVersion

_MARKS = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}


def history_text(answer: DocumentHistory) -> str:
    """The versions of a document, the oldest first.

    >>> version = DocumentVersion(valid_from="2016-10-01", valid_to=None, text="Tout fait de l'homme…")
    >>> print(history_text(DocumentHistory(index="i", generation=1, id="a", versions=[version])))
    1 version of "a", the oldest first.
    <BLANKLINE>
    In force from 2016-10-01:
    Tout fait de l'homme…
    """
    many = f'{len(answer.versions)} version{"s" if len(answer.versions) > 1 else ""} of "{answer.id}", the oldest first.'
    return "\n".join([many, *(f"\n{_period(one)}:\n{one.text}" for one in answer.versions)])


def difference_text(answer: DocumentDifference) -> str:
    """Both texts in one, with marks.

    >>> from lexfuse.service.schemas.history import ChangedText
    >>> changes = [ChangedText(kind="removed", text="trois"), ChangedText(kind="added", text="six")]
    >>> version = DocumentVersion(valid_from=None, valid_to=None, text="")
    >>> found = DocumentDifference(index="i", generation=1, id="a", changed=True, before=version, after=None, changes=changes)
    >>> print(difference_text(found))
    "a" before: In force, dates unknown.
    "a" after: Not in force.
    <BLANKLINE>
    [-trois-]{+six+}
    """
    sides = [f'"{answer.id}" {name}: {_period(side)}.' for name, side in (("before", answer.before), ("after", answer.after))]
    sides += [f"{day} is before the first version: the text of that day is not known." for day in answer.unknown_days]
    if not answer.changed:
        sides.append("Nothing changed.")
    return "\n".join([*sides, "", "".join(_marked(change.kind, change.text) for change in answer.changes)])


def _marked(kind: str, text: str) -> str:
    opening, closing = _MARKS[kind]
    return f"{opening}{text}{closing}"


def _period(version: DocumentVersion | None) -> str:
    if version is None:
        return "Not in force"
    if version.valid_from is None and version.valid_to is None:
        return "In force, dates unknown"
    start = f" from {version.valid_from}" if version.valid_from else ""
    return f"In force{start}{f' until before {version.valid_to}' if version.valid_to else ''}"
