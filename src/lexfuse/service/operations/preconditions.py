"""What must hold for a change to be made: a document is still the one that was read, or is not there yet (RFC 9110, 13.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lexfuse.errors import ConfigError, ConflictError

_ANY = "*"
_TAGS = re.compile(r'\s*(?:(?:W/)?"[^"]*"\s*(?:,\s*|$))+')
_TAG = re.compile(r'(W/)?"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Precondition:
    """Etags that a document must have, or must not have; None where nothing is said, ``*`` for any document at all.

    >>> Precondition(match=("a1",)).check("b2")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConflictError: the document has changed since it was read (its etag is "b2" now); read it again, and ...
    """

    match: tuple[str, ...] | None = None
    none_match: tuple[str, ...] | None = None

    @classmethod
    def parse(cls, if_match: str | None, if_none_match: str | None) -> Precondition:
        """The precondition of two headers as they are sent.

        >>> Precondition.parse('"a1", "b2"', None).match
        ('a1', 'b2')
        >>> Precondition.parse(None, "*").none_match
        ('*',)
        """
        # A weak etag is never the same as a strong one, and ours are strong.
        return cls(_tags(if_match, "If-Match", weak=False), _tags(if_none_match, "If-None-Match", weak=True))

    def check(self, etag: str | None) -> None:
        """Refuse a change to a document that has this etag now, or that is not there (None)."""
        if self.match is not None and (etag is None or not {etag, _ANY}.intersection(self.match)):
            now = "it is not there any more" if etag is None else f'its etag is "{etag}" now'
            raise ConflictError(f"the document has changed since it was read ({now}); read it again, and then change it")
        if self.none_match is not None and etag is not None and {etag, _ANY}.intersection(self.none_match):
            raise ConflictError(f'the document is there already (its etag is "{etag}"); send If-Match to replace it')


def _tags(header: str | None, name: str, *, weak: bool) -> tuple[str, ...] | None:
    if header is None:
        return None
    if header.strip() == _ANY:
        return (_ANY,)
    if not _TAGS.fullmatch(header):
        raise ConfigError(f'{name} takes * or etags in quotation marks, "a1b2"; got {header[:100]!r}')
    return tuple(tag for mark, tag in _TAG.findall(header) if weak or not mark)
