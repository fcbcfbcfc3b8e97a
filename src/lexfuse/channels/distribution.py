"""The distribution of a channel's scores, estimated once from the index and frozen with it (FUSE, section 3 and Fig. 2).

Every query scores every document, as in the paper; in an index so large that this would make more than `MOST` scores, every
query scores the same sample of documents. What a channel of words does not list shares no word with the query and scores 0;
what a channel of vectors does not list it does not hold, and that does not count.

A distribution stays as it is when documents are added or deleted, so that scores of the same pair stay the same; estimate it
again when the index has changed much. It belongs to one channel with its parameters (k1 and b, cosine).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import orjson

from lexfuse.channels.channel_retriever import ChannelRetriever, Parameter
from lexfuse.channels.retriever import Mask, Retriever
from lexfuse.data.arrays import F32, F64, I64
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.snapshot import Snapshot

MOST = 10_000_000  # scores that a distribution is estimated from; FUSE took 5.6 million
DRAWN = 200  # queries where none are given; FUSE took 201
WORDS = 15  # of each, the mean length of a query in FUSE
_AT_ONCE = 16  # queries
# A thousand equal steps, the last of which, where the best documents of a query lie, is cut into a thousand again.
SHARES: F64 = np.concatenate([np.arange(999) / 1000, 0.999 + np.arange(1001) / 1_000_000])


@dataclass(frozen=True, eq=False)
class ScoreLevels:
    """Scores in rising order, each with a share of all scores of which none is higher than it.

    >>> ScoreLevels.of(np.array([5, 0, 0, 3], np.float32)).below(np.array([-1.0, 0.0, 3.0, 5.0, 9.0])).tolist()
    [0.0, 0.0, 0.5, 0.75, 1.0]
    """

    scores: F64
    shares: F64

    def __post_init__(self) -> None:
        """Refuse what is no distribution."""
        rising = all(np.isfinite(row).all() and (np.diff(row) >= 0).all() for row in (self.scores, self.shares))
        if len(self.scores) < 2 or len(self.scores) != len(self.shares) or not rising:
            raise DataError("a distribution needs at least two finite quantiles in rising order; estimate it again")

    @classmethod
    def of(cls, scores: F32 | F64) -> ScoreLevels:
        """The quantiles of scores, at `SHARES`; each is one of the scores. Without any score everything is above."""
        if not len(scores):
            return cls(np.zeros(len(SHARES)), SHARES)
        places = np.floor(np.round(SHARES * len(scores), 6)).astype(np.int64)
        return cls(np.sort(scores)[np.minimum(places, len(scores) - 1)].astype(np.float64), SHARES)

    def below(self, scores: F64) -> F64:
        """The share of scores that are lower; in a straight line between the quantiles.

        What many documents share, such as 0 where no word matches, is above lower scores only. A score above all
        that were seen gives 1.
        """
        # Read from the highest down: of equal quantiles `interp` takes the last, which is then that of the lowest share.
        return np.interp(-scores, -self.scores[::-1], self.shares[::-1], left=1.0, right=0.0)


class SampleOrigin(StrEnum):
    """Whose queries a distribution was estimated with."""

    DOCUMENTS = "documents"  # the first words of documents of the index
    GIVEN = "given"  # a file of queries


@dataclass(frozen=True, slots=True)
class ChannelDistribution:
    """Quantiles of the scores of one channel, and what they were estimated from.

    >>> ChannelDistribution("bm25", {"k1": 1.2}, (0.0,) * len(SHARES), 100, 2, 50, SampleOrigin.GIVEN).key
    'bm25:{"k1":1.2}'
    """

    channel: str
    parameters: Mapping[str, Parameter]
    levels: tuple[float, ...]  # at `SHARES`
    scores: int
    queries: int
    documents: int  # that the index had
    origin: SampleOrigin

    @property
    def key(self) -> str:
        """What it is kept under."""
        return _key(self.channel, self.parameters)

    def as_levels(self) -> ScoreLevels:
        """What percentiles are read from.

        >>> ChannelDistribution("tfidf", {}, (0.0,) * len(SHARES), 100, 2, 50,
        ...     SampleOrigin.GIVEN).as_levels().below(np.array([0.5])).tolist()
        [1.0]
        """
        return ScoreLevels(np.array(self.levels), SHARES)

    def as_json(self) -> dict[str, Any]:
        """Plain values.

        >>> distribution = ChannelDistribution("tfidf", {}, (0.0,) * len(SHARES), 100, 2, 50, SampleOrigin.DOCUMENTS)
        >>> ChannelDistribution.from_json(distribution.as_json()) == distribution
        True
        """
        return asdict(self) | {"levels": list(self.levels), "origin": self.origin.value}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> ChannelDistribution:
        """A distribution from plain values; a `DataError` if they are damaged.

        >>> ChannelDistribution.from_json({"levels": []})
        Traceback (most recent call last):
        ...
        lexfuse.errors.DataError: a distribution in the catalog is damaged; estimate it again with ...
        """
        try:
            found = cls(**values | {"levels": tuple(map(float, values["levels"])), "origin": SampleOrigin(values["origin"])})
            found.as_levels()
        except (KeyError, TypeError, ValueError, DataError):
            again = "estimate it again with lexfuse index INDEX --distributions"
            raise DataError(f"a distribution in the catalog is damaged; {again}") from None
        return found


def estimate(
    retriever: Retriever, queries: Queries, origin: SampleOrigin = SampleOrigin.GIVEN, *, most: int = MOST
) -> ChannelDistribution:
    """The distribution of a channel's scores of all documents for these queries.

    >>> from lexfuse.channels.registry import open_retriever
    >>> found = estimate(open_retriever(snapshot, "bm25"), Queries.of([Query("q", "loi", "fr")]))
    >>> found.scores == len(snapshot), found.levels[0]
    (True, 0.0)
    """
    named = _channel_of(retriever)
    if named is None or not isinstance(retriever, ChannelRetriever):
        raise ConfigError(f"{retriever.name!r} is not a channel of an index; only channels have a distribution of scores")
    if not len(queries) or not len(retriever.snapshot):
        raise DataError("a distribution needs documents in the index and at least one query; there is nothing to estimate from")
    retriever = retriever.exhaustive
    within = _sample(retriever.snapshot, most // len(queries))
    unlisted = retriever.unlisted(within)
    found = []
    for first in range(0, len(queries), _AT_ONCE):
        some = queries.select(range(first, min(first + _AT_ONCE, len(queries))))
        run = retriever.retrieve(some, len(retriever.snapshot), within=within)
        found += [run.score, np.zeros(max(0, unlisted * len(some) - len(run)), dtype=np.float32)]
    scores = np.concatenate(found)
    levels = tuple(ScoreLevels.of(scores).scores.tolist())
    return ChannelDistribution(*named, levels, len(scores), len(queries), len(retriever.snapshot), origin)


def drawn_queries(snapshot: Snapshot, count: int = DRAWN) -> Queries:
    """The first words of some documents, drawn at random but always the same ones: queries for an index that has none.

    >>> len(drawn_queries(snapshot, 2))
    2
    """
    found = snapshot.documents([snapshot.ids[at] for at in _drawn(snapshot, count).tolist()])
    first = [(document, " ".join((document.text or document.title).split()[:WORDS])) for document in found]
    return Queries.of(Query(document.id, words, document.language) for document, words in first if words)


def levels_of(retriever: Retriever) -> Callable[[], ScoreLevels]:
    """The frozen levels of a retriever, as a function; `ConfigError` if none were estimated.

    >>> from lexfuse.channels.registry import open_retriever
    >>> levels_of(open_retriever(snapshot, "bm25", k1=0.9))()
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: the index has no distribution of the scores of 'bm25' with k1=0.9, b=0.75; estimate it with ...
    """
    named = _channel_of(retriever)
    stored = retriever.snapshot.distributions.get(_key(*named)) if named else None
    if stored is not None:
        levels = ChannelDistribution.from_json(stored).as_levels()
        return lambda: levels
    command = retriever.snapshot.change_command if named else ""
    return lambda: _refused(retriever.name, named, command)


def _refused(name: str, named: tuple[str, Mapping[str, Parameter]] | None, command: str) -> ScoreLevels:
    if named is None:
        raise ConfigError(
            f"{name!r} is not a channel of an index and has no distribution of scores; use min-max or z-score for it"
        )
    channel, parameters = named
    flags = {option: value for option, value in parameters.items() if value is not False and not isinstance(value, str)}
    options = "".join(f" --{option}" if value is True else f" --{option} {value:g}" for option, value in flags.items())
    what = f"{channel!r}{' with ' if parameters else ''}{described(parameters)}"
    advice = f"estimate it with {command} --distributions{options}"
    raise ConfigError(f"the index has no distribution of the scores of {what}; {advice}")


def described(parameters: Mapping[str, Parameter]) -> str:
    """Parameters in words.

    >>> described({"k1": 1.2, "cosine": False})
    'k1=1.2, cosine=False'
    """
    return ", ".join(f"{name}={value:g}" if type(value) is float else f"{name}={value}" for name, value in parameters.items())


def _key(channel: str, parameters: Mapping[str, Parameter]) -> str:
    return f"{channel}:{orjson.dumps(dict(parameters), option=orjson.OPT_SORT_KEYS).decode()}"


def _channel_of(retriever: Retriever) -> tuple[str, Mapping[str, Parameter]] | None:
    """The channel that a retriever searches, and the parameters of its scores; None where no distribution is kept."""
    if not isinstance(retriever, ChannelRetriever) or retriever.score_parameters is None:
        return None
    return retriever.channel, retriever.score_parameters


def _sample(snapshot: Snapshot, most: int) -> Mask | None:
    """A mask of at most this many documents, drawn at random but always the same ones; None for all."""
    if len(snapshot) <= most:
        return None
    within = np.zeros(len(snapshot), dtype=np.bool_)
    within[_drawn(snapshot, max(most, 1))] = True
    return within


def _drawn(snapshot: Snapshot, count: int) -> I64:
    """Numbers of documents that are drawn by their ids, so that neither their order nor shards change the draw."""
    by_id = np.argsort(snapshot.ids.order)
    drawn: I64 = by_id[np.random.default_rng(0).permutation(len(by_id))[:count]]
    return drawn
