"""Settings of an index: fields, their weights, and their analysis. Part of its fingerprint."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

import orjson

from lexfuse.data.document import Document
from lexfuse.errors import ConfigError, DataError
from lexfuse.text.analysis.analyser import Analyser, Folding
from lexfuse.text.analysis.language_table import CURRENT_VERSION

FIELDS = ("title", "headings", "text", "code", "number", "court")
DEFAULT_FIELDS: Mapping[str, float] = {"title": 1.0, "headings": 1.0, "text": 1.0}
FALLBACK_LANGUAGE = "en"
_SEPARATOR = " \n"  # between the texts of a list


class FieldText(NamedTuple):
    """The text of a field, the weight of its terms, and where the second and further texts of a list begin."""

    name: str
    text: str
    weight: float
    breaks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Settings that documents and queries share; they never change during the life of an index.

    >>> IndexSettings().fingerprint == IndexSettings(citations=False).fingerprint
    False
    """

    fields: Mapping[str, float] = field(default_factory=lambda: dict(DEFAULT_FIELDS))
    stems: bool = True
    stop_words: bool = True
    citations: bool = True
    folding: Folding = Folding.FOLD
    analysis: int = CURRENT_VERSION  # version of the analysis; indexes from before versions have 1

    def __post_init__(self) -> None:
        """Refuse unknown fields and invalid weights."""
        unknown = [name for name in self.fields if name not in FIELDS]
        if unknown or not self.fields:
            raise ConfigError(f"fields to index must be some of {', '.join(FIELDS)}; got {', '.join(self.fields) or 'none'}")
        if not all(0 < weight < math.inf for weight in self.fields.values()):
            raise ConfigError(
                f"weights of fields must be positive numbers, got {dict(self.fields)}; leave a field out instead of 0"
            )
        if not 1 <= self.analysis <= CURRENT_VERSION:
            raise ConfigError(f"analysis {self.analysis} is unknown; 1 to {CURRENT_VERSION} are known, so update LexFuse")

    def analyser(self, language: str) -> Analyser:
        """The analyser of a language; text of unknown language is read as English."""
        return Analyser(
            language or FALLBACK_LANGUAGE,
            stems=self.stems,
            stop_words=self.stop_words,
            citations=self.citations,
            folding=self.folding,
            version=self.analysis,
        )

    def texts(self, document: Document) -> list[tuple[str, float]]:
        """The indexed texts of a document, with the weight of their terms.

        >>> IndexSettings(fields={"title": 2.0}).texts(Document("a", title="Loi", text="…"))
        [('Loi', 2.0)]
        """
        return [(one.text, one.weight) for one in self.field_texts(document)]

    def field_texts(self, document: Document) -> list[FieldText]:
        """The indexed fields of a document that are not empty.

        >>> IndexSettings().field_texts(Document("a", headings=("Livre I", "Titre II")))[0].breaks
        (9,)
        """
        texts = []
        for name, weight in self.fields.items():
            value = getattr(document, name)
            parts = value if isinstance(value, tuple) else (value,)
            if text := _SEPARATOR.join(parts):
                ends = accumulate(len(part) + len(_SEPARATOR) for part in parts[:-1])
                texts.append(FieldText(name, text, weight, tuple(ends)))
        return texts

    @property
    def fingerprint(self) -> str:
        """Equal for two indexes if and only if they analyse text the same way."""
        return hashlib.sha256(orjson.dumps(self.as_json(), option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]

    def as_json(self) -> dict[str, Any]:
        """Plain values; without the version of the analysis if it is the first, as in indexes from before versions."""
        values = {name: getattr(self, name) for name in ("stems", "stop_words", "citations")} | {
            "fields": dict(self.fields),
            "folding": self.folding.value,
        }
        return values if self.analysis == 1 else values | {"analysis": self.analysis}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> IndexSettings:
        """Settings from plain values; invalid values are a `DataError`.

        >>> IndexSettings.from_json({"stems": True})
        Traceback (most recent call last):
        ...
        lexfuse.errors.DataError: the settings of the index are damaged ('folding'); restore it or build the index again
        """
        try:
            return cls(**{"analysis": 1} | values | {"folding": Folding(values["folding"])})
        except (KeyError, TypeError, ValueError, AttributeError, ConfigError) as error:
            raise DataError(f"the settings of the index are damaged ({error}); restore it or build the index again") from None
