"""Any search is read back from its TOML text and from its JSON values as the same search."""

import datetime
import json

from hypothesis import given
from hypothesis import strategies as st

from lexfuse.encode.pair_encoder import WindowAggregate
from lexfuse.fusion.borda import Borda
from lexfuse.fusion.comb import CombMax, CombMNZ
from lexfuse.fusion.convex import TM2C2, Convex
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.registry import NORMALISERS
from lexfuse.fusion.union import Missing
from lexfuse.search.spec.channel_spec import ChannelSpec
from lexfuse.search.spec.reranker_specs import BirchSpec, CrossEncoderSpec, RescoreSpec, RprsSpec, SdrSpec
from lexfuse.search.spec.spec import ClassSpec, SearchSpec
from lexfuse.text.kli import TermChoice, TermWeight, WeightedWord
from lexfuse.text.query_class import QueryClass

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAME = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True)
NUMBER = st.floats(0.001, 1000.0)
SHARE = st.floats(0.0, 1.0)
MISSING = st.sampled_from(Missing)
WORD = st.builds(WeightedWord, st.from_regex(r"[a-zé]{1,6}", fullmatch=True), st.none() | NUMBER)
WORDS = st.lists(WORD, max_size=2).map(tuple)
TERMS = st.builds(
    TermChoice,
    st.none() | st.sampled_from([0.1, 1.0, 50.0]),
    st.sampled_from(TermWeight),
    WORDS,
    WORDS,
    st.lists(NAME, max_size=2).map(tuple),
)
BM25 = st.fixed_dictionaries({}, optional={"k1": NUMBER, "b": SHARE, "terms": TERMS}).map(
    lambda some: ChannelSpec.of("bm25", **some)
)
DENSE = st.fixed_dictionaries({}, optional={"exact": st.booleans(), "pool": st.sampled_from([1, 3, "all"])}).map(
    lambda some: ChannelSpec.of("dense", **some)
)
SPLADE = st.fixed_dictionaries({}, optional={"cosine": st.none() | st.booleans()}).map(
    lambda some: ChannelSpec.of("splade-mine", **{key: value for key, value in some.items() if value is not None})
)
CHANNELS = (
    st.tuples(BM25, DENSE, SPLADE).flatmap(st.permutations).flatmap(lambda every: st.sampled_from([every[:1], every[:2], every]))
)
RERANK = st.lists(
    st.one_of(
        st.builds(RescoreSpec, channel=NAME, depth=st.integers(1, 200)),
        st.builds(CrossEncoderSpec, model=NAME, aggregate=st.sampled_from(WindowAggregate), headings=st.booleans()),
        st.builds(RprsSpec, n=st.integers(1, 9), k1=SHARE, frequency=st.booleans()),
        st.builds(SdrSpec, channel=NAME),
        st.builds(BirchSpec, a=SHARE, weights=st.lists(NUMBER, min_size=1, max_size=3).map(tuple)),
    ),
    max_size=2,
).map(tuple)


def fusions(sources):
    """Fusions of so many sources, with one number for all or one each."""
    each = st.lists(NUMBER, min_size=sources, max_size=sources).map(tuple)
    shares = each.map(lambda some: tuple(one / sum(some) for one in some))
    names = st.sampled_from(list(NORMALISERS.values()))
    normalisers = names | st.lists(names, min_size=sources, max_size=sources).map(tuple)
    return st.one_of(
        st.builds(TM2C2, SHARE, missing=MISSING),
        st.builds(Convex, st.none() | shares, normalisers, MISSING),
        st.builds(ReciprocalRank, NUMBER | each, NUMBER | each, MISSING),
        st.builds(SmoothReciprocalRank, NUMBER | each, NUMBER, NUMBER | each, MISSING),
        st.builds(Borda, MISSING),
        st.builds(CombMNZ, normalisers, MISSING),
        st.builds(CombMax, normalisers, MISSING),
    )


@st.composite
def pipelines(draw):
    channels = draw(CHANNELS)
    fusion = draw(st.none() | fusions(len(channels))) if len(channels) > 1 else None
    return {"channels": channels} | ({} if fusion is None else {"fusion": fusion})


@st.composite
def specs(draw):
    classes = draw(st.lists(st.sampled_from(QueryClass), max_size=2, unique=True))
    return SearchSpec(
        **draw(pipelines()),
        name=draw(TEXT),
        description=draw(TEXT),
        depth=draw(st.integers(1, 5000)),
        rerank=draw(RERANK),
        filters=draw(st.lists(st.sampled_from(["code=Code civil", "date>=2020-01-01", "kind=statute,decision"]), max_size=2)),
        **draw(st.fixed_dictionaries({}, optional={"as_of": st.dates(datetime.date(1800, 1, 1), datetime.date(2199, 12, 31))})),
        classes={
            one: ClassSpec(**draw(pipelines()), **draw(st.fixed_dictionaries({}, optional={"rerank": RERANK}))) for one in classes
        },
        evidence=draw(st.dictionaries(TEXT, TEXT | st.integers(-999, 999) | st.booleans() | SHARE, max_size=2)),
    )


@given(specs())
def test_a_search_is_read_back_from_its_text_and_its_values(spec):
    found = SearchSpec.parse(spec.text())
    assert found == spec
    assert found.text() == spec.text()
    assert SearchSpec.from_json(json.loads(json.dumps(spec.as_json()))) == spec
