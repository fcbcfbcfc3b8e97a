"""BM25F: fields with weights and length normalisation of their own, inside the saturation.

Robertson, Zaragoza and Taylor (CIKM 2004), in the form of Robertson and Zaragoza (2009), section 3.6: the frequency of a term is
the weighted sum over fields, tf' = sum of w * tf / (1 - b + b * length / mean length) with the w, b and lengths of each field. A
score is the sum over query terms of idf * tf' / (k1 + tf'). With one field of weight 1 it is BM25.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple, Self

import numpy as np

from lexfuse.channels.channel_retriever import Parameter
from lexfuse.channels.lexical.bm25 import BM25, B, IdfForm, check_parameters
from lexfuse.channels.lexical.field_frequencies import FieldFrequencies
from lexfuse.channels.term_retriever import kept
from lexfuse.data.arrays import F32
from lexfuse.errors import ConfigError, UnknownFieldError
from lexfuse.storage.index_settings import FIELDS
from lexfuse.storage.segments.channel_postings import Stretch


class FieldWeight(NamedTuple):
    """The weight of a field and its b, written ``title=2:0.5``, or ``title=2`` with the usual b.

    >>> FieldWeight.parse("title=2:0.5"), str(FieldWeight("text"))
    (FieldWeight(field='title', weight=2.0, b=0.5), 'text=1:0.75')
    """

    field: str
    weight: float = 1.0
    b: float = B

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a field as it is written; what cannot be read is a `ConfigError`."""
        name, _, numbers = text.strip().partition("=")
        weight, _, b = numbers.partition(":")
        try:
            found = cls(name.strip(), float(weight or 1.0), float(b or B))
        except ValueError:
            raise ConfigError(f"a field of BM25F is written title=2:0.5, its weight and its b; got {text!r}") from None
        if found.field not in FIELDS:
            raise UnknownFieldError(f"there is no field {found.field!r} with words; there are {', '.join(FIELDS)}")
        check_parameters(1.0, found.b)
        if not 0 < found.weight < math.inf:
            raise ConfigError(
                f"the weight of field {name!r} must be a positive number, got {weight}; leave a field out instead of 0"
            )
        return found

    def __str__(self) -> str:
        """As it is written."""
        return f"{self.field}={self.weight:g}:{self.b:g}"


def field_weights(texts: Iterable[str]) -> tuple[FieldWeight, ...]:
    """Fields as they are written, each once.

    >>> [one.field for one in field_weights(["title=2:0.5", "text"])]
    ['title', 'text']
    >>> field_weights(["text", "text=2"])
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: BM25F has the field 'text' twice; keep one
    """
    found = tuple(map(FieldWeight.parse, texts))
    names = [one.field for one in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"BM25F has the field {twice[0]!r} twice; keep one")
    return found


@dataclass(frozen=True)
class BM25F(BM25):
    """BM25F over fields of the lexical channel; `b` is that of each field, and the weights of the index play no part.

    >>> bm25f = BM25F(snapshot, fields=(FieldWeight("title", 2.0, 0.5), FieldWeight("text")))
    >>> [hit.doc for hit in bm25f.retrieve(Queries.of([Query("q", "retard de prêt", "fr")]), 10).hits("q")]
    ['lib-4', 'lib-3']
    """

    fields: tuple[FieldWeight, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        """Refuse parameters outside their range, and fields that the index has no words of."""
        super().__post_init__()
        if not self.fields:
            raise ConfigError("BM25F needs at least one field, such as title=2:0.5")
        known = self.snapshot.settings.fields
        for one in self.fields:
            if one.field not in known:
                raise UnknownFieldError(f"the index has no words of the field {one.field!r}; it has {', '.join(known)}")

    @property
    def impacts(self) -> F32:
        """One number per posting, kept for the parameters used last."""
        return kept(self.postings, "bm25f", (self.k1, self.fields, self.idf), self._impacts)

    def _impacts(self) -> F32:
        counts, postings = self._counts, self.postings
        frequency = np.zeros(len(postings.docs), dtype=np.float32)
        for name, weight, b in self.fields:
            mean = counts.mean_length(name) or 1.0
            norm = (weight / (1 - b + b * counts.lengths(name).astype(np.float64) / mean + _TINY)).astype(np.float32)
            own = counts.frequencies(name)
            frequency += postings.spread(partial(_normalised, own, norm))
        scale = 1.0 if self.idf is IdfForm.LUCENE else self.k1 + 1.0
        idf = (self.term_idf * scale).astype(np.float32)
        k1 = np.float32(self.k1)
        return postings.spread(
            lambda some: (
                np.where(frequency[some.place] > 0, frequency[some.place] / (frequency[some.place] + k1), np.float32(0))
                * idf[some.terms]
            )
        )

    @cached_property
    def _counts(self) -> FieldFrequencies:
        return FieldFrequencies(self.snapshot)

    @property
    def score_parameters(self) -> Mapping[str, Parameter]:
        """k1, the fields, and the form of the idf where it is not Lucene's."""
        own = {name: value for name, value in super().score_parameters.items() if name != "b"}
        return {**own, "fields": ",".join(map(str, self.fields))}


_TINY = 1e-12  # with b = 1 an empty field has no length; nothing occurs in it either


def _normalised(frequency: F32, norm: F32, some: Stretch) -> F32:
    """Frequencies in a field with the norms of their documents; postings between stretches are of other documents."""
    return frequency[some.place] * norm[some.docs]
