"""Late interaction: brute force against numpy, the same bits by every way, true filters, ties, stable prefixes."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexfuse.channels.late.codec import TokenCodec
from lexfuse.channels.late.late_search import LateEstimates, LateMode, LateSearch
from lexfuse.channels.late.stored_part import TokenPart
from lexfuse.errors import ConfigError, DataError
from lexfuse.kernels import compilation


def unit(generator, rows, dimension=24):
    vectors = generator.normal(size=(rows, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def documents_of(seed, count, dimension=24, most=9):
    generator = np.random.default_rng(seed)
    return [unit(generator, int(length), dimension) for length in generator.integers(1, most, count)]


def search_of(documents, bits=2, order=None, cuts=(), **settings):
    codec = TokenCodec.trained(np.concatenate(documents), bits)
    ends = [0, *cuts, len(documents)]
    parts = [TokenPart.of(documents[first:last], codec) for first, last in pairwise(ends)]
    order = np.arange(len(documents), dtype=np.int32) if order is None else np.array(order, dtype=np.int32)
    return LateSearch(parts, order, **settings), parts


def defined(query, parts):
    """MaxSim as FUSE defines it, on the stored vectors."""
    stored = [part.vectors(at).astype(np.float64) for part in parts for at in range(len(part))]
    return np.array([(query.astype(np.float64) @ vectors.T).max(axis=1).sum() if len(vectors) else np.nan for vectors in stored])


@pytest.fixture(params=["plain", "compiled"])
def way(request, monkeypatch):
    monkeypatch.setattr(compilation._Waiting, "steps", 0)
    monkeypatch.setattr(compilation, "PATIENCE", 10**15 if request.param == "plain" else 0)


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@pytest.mark.usefixtures("way")
def test_brute_force_is_the_definition(bits):
    search, parts = search_of(documents_of(0, 40), bits, cuts=(7, 20))
    queries = [unit(np.random.default_rng(seed), length) for seed, length in enumerate((1, 5, 16, 17, 33))]
    offsets, docs, scores = search.best(queries, 40, mode=LateMode.BRUTE_FORCE)
    assert offsets.tolist() == [0, 40, 80, 120, 160, 200]
    for at, query in enumerate(queries):
        truth = defined(query, parts)
        found = slice(offsets[at], offsets[at + 1])
        assert sorted(docs[found].tolist()) == list(range(40))
        np.testing.assert_allclose(scores[found], truth[docs[found]], atol=1e-4)
        assert (np.diff(scores[found]) <= 0).all()


def test_numpy_and_compiled_loops_give_the_same_bits(monkeypatch):
    documents = documents_of(1, 60, dimension=30)  # 30 dimensions do not fill the bytes
    queries = [unit(np.random.default_rng(3), 19, 30)]
    answers = []
    for patience in (10**15, 0):
        monkeypatch.setattr(compilation._Waiting, "steps", 0)
        monkeypatch.setattr(compilation, "PATIENCE", patience)
        search, _ = search_of(documents)
        answers.append([array.tobytes() for array in search.best(queries, 60)])
    assert answers[0] == answers[1]


@pytest.mark.parametrize("mode", LateMode)
def test_scores_do_not_depend_on_batch_parts_k_or_way(mode):
    documents = documents_of(2, 120)
    queries = [unit(np.random.default_rng(seed), 8) for seed in range(4)]
    whole, _ = search_of(documents, candidates={30: 60})
    split, _ = search_of(documents, candidates={30: 60}, cuts=(1, 50, 119))
    offsets, docs, scores = whole.best(queries, 30, mode=mode)
    for at, query in enumerate(queries):
        alone = split.best([query], 7, mode=mode)
        first = slice(offsets[at], offsets[at] + 7)
        assert docs[first].tolist() == alone[1].tolist()
        assert scores[first].tobytes() == alone[2].tobytes()
    owner = np.repeat(np.arange(4, dtype=np.int32), np.diff(offsets))
    shuffled = np.random.default_rng(0).permutation(len(docs))
    again = split.pair_scores(queries, owner[shuffled], docs[shuffled])
    assert again.tobytes() == scores[shuffled].tobytes()


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 60))
def test_a_longer_list_starts_like_a_shorter_one(seed, short, long):
    search, _ = SHARED
    short, long = min(short, long), max(short, long)
    query = unit(np.random.default_rng(seed), 6)
    some, more = search.best([query], short), search.best([query], long)
    assert some[1].tolist() == more[1][: len(some[1])].tolist()
    assert some[2].tobytes() == more[2][: len(some[2])].tobytes()


SHARED = search_of(documents_of(5, 200), candidates={60: 100}, probes=2)


@given(st.integers(0, 10**6), st.floats(0, 1))
def test_a_mask_is_a_true_filter(seed, share):
    search, parts = SHARED
    generator = np.random.default_rng(seed)
    mask = generator.random(200) < share
    query = unit(generator, 6)
    offsets, docs, scores = search.best([query], 60, mask=mask)
    assert mask[docs].all()
    assert len(docs) == offsets[-1] == min(60, mask.sum())
    exact = search.best([query], 60, mode=LateMode.BRUTE_FORCE, mask=mask)
    if mask.sum() <= 60:  # few enough to be searched exactly
        assert docs.tolist() == exact[1].tolist()
    truth = defined(query, parts)
    np.testing.assert_allclose(exact[2], -np.sort(-truth[mask])[:60], atol=1e-4)
    np.testing.assert_allclose(scores, truth[docs], atol=1e-4)


def test_plaid_finds_what_brute_force_finds():
    generator = np.random.default_rng(7)
    topics = unit(generator, 60, 32)
    documents = [
        np.concatenate([topics[[number % 60]], unit(generator, 3, 32)]) + np.float32(0.02) * generator.normal(size=(4, 32))
        for number in range(600)
    ]
    search, _ = search_of([document.astype(np.float32) for document in documents], bits=4, candidates={50: 100}, probes=4)
    queries = [topics[[number]] for number in range(20)]
    exact, plaid = search.best(queries, 10, mode=LateMode.BRUTE_FORCE), search.best(queries, 10)
    assert plaid[1].tolist() == exact[1].tolist()
    assert plaid[2].tobytes() == exact[2].tobytes()


def test_more_results_need_more_candidates():
    documents = documents_of(5, 200)
    search, _ = search_of(documents, candidates={90: 120, 30: 40}, probes=1)
    few, _ = search_of(documents, candidates={30: 40}, probes=1)
    many, _ = search_of(documents, candidates={90: 120}, probes=1)
    query = unit(np.random.default_rng(4), 6)
    exact = search.best([query], 200, mode=LateMode.BRUTE_FORCE)
    for k, same in ((1, few), (30, few), (31, many), (90, many), (91, None), (200, None)):
        docs = search.best([query], k)[1]
        assert docs.tolist() == (exact[1][:k] if same is None else same.best([query], k)[1]).tolist()
    assert few.best([query], 30)[1].tolist() != exact[1][:30].tolist()  # else nothing was left out


def test_estimates_are_those_of_centroids_with_the_next_one_for_documents_not_met():
    documents, probes = documents_of(11, 80), 3
    search, (part,) = search_of(documents, candidates={20: 20}, probes=probes)  # a better estimate changes nothing
    query = unit(np.random.default_rng(12), 7)
    near = query.astype(np.float64) @ part.codec.centroids.T.astype(np.float64)
    estimates = np.zeros(80)
    for row in near:
        order = np.argsort(-row)
        for doc in range(80):
            held = set(part.codes[part.starts[doc] : part.starts[doc + 1]].tolist())
            estimates[doc] += max([row[one] for one in order[:probes] if one in held], default=row[order[probes]])
    chosen = set(np.argsort(-estimates, kind="stable")[:20].tolist())
    exact = search.best([query], 80, mode=LateMode.BRUTE_FORCE)[1].tolist()
    assert search.best([query], 20)[1].tolist() == [doc for doc in exact if doc in chosen]


def test_long_documents_have_the_same_bits_by_either_way(monkeypatch):
    documents = [unit(np.random.default_rng(length), length) for length in (700, 3, 240, 241, 1)]
    query, answers = unit(np.random.default_rng(1), 21), []
    for patience in (10**15, 0):
        monkeypatch.setattr(compilation._Waiting, "steps", 0)
        monkeypatch.setattr(compilation, "PATIENCE", patience)
        answers.append([array.tobytes() for array in search_of(documents, bits=8)[0].best([query], 5)])
    assert answers[0] == answers[1]


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_a_better_estimate_meets_the_token_with_the_nearest_centroid(bits):
    documents = documents_of(14, 50, most=300)
    search, (part,) = search_of(documents, bits, candidates={10: 50})
    query = unit(np.random.default_rng(15), 18)
    found = search.estimates(query, 10)
    near, stored = query @ part.codec.centroids.T, [part.vectors(doc) for doc in range(50)]
    for doc, fine in zip(found.docs.tolist(), found.fine.tolist(), strict=True):
        tokens = np.arange(part.starts[doc], part.starts[doc + 1])
        met = (near[:, part.codes[tokens]] * part.scales[tokens]).argmax(axis=1)
        assert fine == pytest.approx((query * stored[doc][met]).sum(), abs=0.02 * len(query))


def test_there_are_twice_as_many_candidates_as_results():
    order = np.arange(9, dtype=np.int32)
    estimates = LateEstimates(9, order, order.astype(np.float32), -order.astype(np.float32))
    assert estimates.candidates(2, order).tolist() == [0, 1, 2, 3]
    assert estimates.candidates(5, order).tolist() == order.tolist()


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 8])
def test_better_estimates_leave_out_less(bits):
    documents = documents_of(13, 300, most=20)
    queries = [unit(np.random.default_rng(seed), 12) for seed in range(20)]
    found = {}
    for many in (40, 300):
        search, _ = search_of(documents, bits, candidates={40: many}, probes=1)
        both = (search.best(queries, 10, mode=mode)[1].reshape(20, 10).tolist() for mode in LateMode)
        found[many] = np.mean([len(set(some) & set(exact)) for some, exact in zip(*both, strict=True)])
    assert found[40] + 0.5 < found[300]


def test_equal_scores_are_ordered_by_the_given_order():
    one = unit(np.random.default_rng(0), 3)
    search, _ = search_of([one] * 4, order=[2, 0, 3, 1])
    assert search.best([one], 4)[1].tolist() == [1, 3, 0, 2]
    assert search.best([one], 2)[1].tolist() == [1, 3]


def test_matches_name_the_tokens_and_add_up_to_the_score():
    documents = documents_of(8, 10)
    search, parts = search_of(documents, cuts=(4,))
    query = unit(np.random.default_rng(9), 5)
    for doc in (0, 3, 4, 9):
        met = search.matches(query, doc)
        score = search.pair_scores([query], np.zeros(1, np.int32), np.array([doc], np.int32))[0]
        assert np.float32(sum(match.similarity for match in met)) == score
        vectors = parts[doc // 4 > 0].vectors(doc if doc < 4 else doc - 4)
        assert [match.token for match in met] == (query @ vectors.T).argmax(axis=1).tolist()


def test_documents_without_tokens_are_not_found_and_have_no_score():
    documents = documents_of(0, 3)
    documents.insert(1, np.empty((0, 24), np.float32))
    search, _ = search_of(documents)
    query = unit(np.random.default_rng(0), 2)
    assert sorted(search.best([query], 4)[1].tolist()) == [0, 2, 3]
    scores = search.pair_scores([query], np.zeros(2, np.int32), np.array([1, 0], np.int32))
    assert np.isnan(scores).tolist() == [True, False]
    assert search.matches(query, 1) == []


def test_nothing_to_search():
    search = LateSearch([], np.empty(0, np.int32))
    assert [array.tolist() for array in search.best([np.ones((1, 3), np.float32)], 5)] == [[0, 0], [], []]
    search, _ = SHARED
    assert search.best([], 5)[0].tolist() == [0]
    assert search.best([np.ones((1, 24), np.float32)], 5, mask=np.zeros(200, np.bool_))[0].tolist() == [0, 0]


def test_what_cannot_be_asked_is_refused():
    search, parts = SHARED
    query = np.ones((1, 24), np.float32)
    with pytest.raises(ConfigError, match="k must be at least 1"):
        search.best([query], 0)
    with pytest.raises(ConfigError, match=r"24 dimensions.*got 3"):
        search.best([np.ones((1, 3), np.float32)], 5)
    with pytest.raises(DataError, match="nan"):
        search.best([query * np.float32(np.nan)], 5)
    with pytest.raises(ConfigError, match="mask"):
        search.best([query], 5, mask=np.ones(3, np.bool_))
    with pytest.raises(ConfigError, match="order"):
        LateSearch(parts, np.zeros(3, np.int32))
    for settings in ({"probes": 0}, {"candidates": {}}, {"candidates": {0: 5}}, {"candidates": {5: 4}}):
        with pytest.raises(ConfigError, match="probes and candidates"):
            LateSearch(parts, np.zeros(200, np.int32), **settings)
    other = TokenPart.of(documents_of(6, 2), TokenCodec.trained(np.concatenate(documents_of(6, 2)), 2))
    with pytest.raises(ConfigError, match="different ways"):
        LateSearch([*parts, other], np.zeros(202, np.int32))
