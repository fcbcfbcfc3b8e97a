"""The kinds of channels that every index has for its words: BM25, TF-IDF, and TF-IDF of n-grams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, InstanceOf, PlainSerializer

from lexfuse.channels.channel_kind import ChannelKind, SearchOptions
from lexfuse.channels.lexical.bm25 import BM25, K1, B, IdfForm, check_parameters
from lexfuse.channels.lexical.bm25_kli import BM25Kli
from lexfuse.channels.lexical.bm25f import BM25F, field_weights
from lexfuse.channels.lexical.ngram_tfidf import NGRAM_CHANNELS, NgramTfIdf
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.data.validation import Model, Texts, refusing
from lexfuse.errors import ConfigError
from lexfuse.storage.segments.segment import LEXICAL
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.kli import TermChoice, TermWeight, WeightedWord


class TermTable(Model):
    """A `TermChoice` as plain values; words are written ``word`` or ``word=weight``."""

    amount: float | None = None
    weight: Annotated[TermWeight, Field(strict=False)] = TermWeight.ONCE
    only: Texts = ()
    added: Texts = ()
    dropped: Texts = ()


def _term_choice(given: Any) -> Any:
    return TermChoice.of(**dict(TermTable(**given))) if isinstance(given, Mapping) else given


def _term_values(choice: TermChoice) -> dict[str, Any]:
    def written(words: tuple[WeightedWord, ...]) -> tuple[str, ...]:
        return tuple(one.word if one.weight is None else f"{one.word}={one.weight}" for one in words)

    table = TermTable(
        amount=choice.amount,
        weight=choice.weight,
        only=written(choice.only),
        added=written(choice.added),
        dropped=choice.dropped,
    )
    return table.model_dump(mode="json", exclude_defaults=True)


class BM25Options(SearchOptions):
    """Parameters of BM25, and which terms of a query it searches by.

    >>> BM25Options.of("bm25", {"b": 2})
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: b must lie between 0 and 1, got 2.0; 0.75 is usual
    """

    k1: float = K1
    b: float = B
    idf: Annotated[IdfForm, Field(strict=False)] = IdfForm.LUCENE
    kli: float | None = None  # how many of a query's terms, most informative first: a share, or above 1 a number
    fields: Texts = ()  # BM25F: title=2:0.5,text=1:0.75, the weight and the b of each field; without, all words count alike
    terms: Annotated[InstanceOf[TermChoice], PlainSerializer(_term_values), BeforeValidator(refusing(_term_choice))] | None = None

    def check(self) -> None:
        """Refuse parameters outside their range, and two choices of terms."""
        check_parameters(self.k1, self.b)
        if self.kli is not None and self.terms is not None:
            raise ConfigError("kli and terms both choose the terms of a query; give one of them")
        if field_weights(self.fields) and (self.choice is not None or self.b != B):
            raise ConfigError("fields (BM25F) have a b each and take all terms of a query; leave out b, kli and terms")
        _ = self.choice

    @property
    def choice(self) -> TermChoice | None:
        """The choice of terms; None asks for all."""
        return self.terms if self.kli is None else TermChoice(self.kli)


class BM25Kind(ChannelKind):
    """BM25 over the words of an index, on all terms of a query or on the most informative ones."""

    name = LEXICAL
    channels = (LEXICAL,)
    search_options = BM25Options
    lexical = True

    def open(self, snapshot: Snapshot, channel: str, options: BM25Options, *, name: str, threads: int | None = None) -> BM25:
        """BM25, or with fields BM25F, with these parameters."""
        if options.fields:
            return BM25F(snapshot, options.k1, idf=options.idf, fields=field_weights(options.fields), name=name)
        if options.choice is not None:
            return BM25Kli(snapshot, options.k1, options.b, options.idf, choice=options.choice, name=name)
        return BM25(snapshot, options.k1, options.b, options.idf, name=name)


class TfIdfKind(ChannelKind):
    """TF-IDF over the words of an index."""

    name = "tfidf"
    channels = ("tfidf",)
    lexical = True

    def open(self, snapshot: Snapshot, channel: str, options: SearchOptions, *, name: str, threads: int | None = None) -> TfIdf:
        """TF-IDF; it has no parameters."""
        return TfIdf(snapshot, name=name)


class NgramKind(ChannelKind):
    """TF-IDF of n-grams, made from the documents whenever it is opened."""

    name = "ngrams"
    channels = tuple(NGRAM_CHANNELS)
    on_demand = True
    lexical = True

    def open(
        self, snapshot: Snapshot, channel: str, options: SearchOptions, *, name: str, threads: int | None = None
    ) -> NgramTfIdf:
        """Read the documents and keep the n-grams of the channel."""
        return NgramTfIdf.fit(snapshot, NGRAM_CHANNELS[channel], name=name)
