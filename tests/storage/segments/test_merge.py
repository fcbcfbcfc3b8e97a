"""Merging: the same bytes as building anew, whatever the block size, and few segments after many additions."""

import numpy as np
import pytest

from lexfuse.data.document import Document
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.segments import merge, position_merge
from lexfuse.storage.segments.merge import merge_segments, segments_to_merge
from lexfuse.storage.segments.position_file import _ARRAYS
from lexfuse.storage.segments.segment import Segment, build_segment

WORDS = ["contract", "notice", "court", "damages", "lease", "tenant", "appeal"]


def document(number):
    """Some are empty, some French, with articles, sentences, paragraphs and headings."""
    if number == 6:
        return Document("d6")
    chosen = np.random.default_rng(number).choice(WORDS, 6).tolist()
    text = f"{' '.join(chosen[:3])}. Le {' '.join(chosen[3:])} de l'art. L. 12{number}4-5.\n\nSecond paragraph"
    headings = ("Book I", f"Title {number}")[: number % 3]
    return Document(f"d{number}", title=chosen[0], text=text, headings=headings, language="fr" if number % 2 else "en")


def arrays_of(segment):
    file, positions = segment.channels["bm25"], segment.positions
    arrays = (
        *(getattr(file, name) for name in ("offsets", "docs", "weights", "lengths")),
        *(getattr(positions, name) for name in _ARRAYS),
    )
    return list(segment.ids), list(file.terms), list(positions.words), *((array.tolist(), array.dtype) for array in arrays)


@pytest.mark.parametrize("block", [1, 3, 1 << 22])
def test_merged_is_built_anew(monkeypatch, block):
    monkeypatch.setattr(merge, "BLOCK", block)
    monkeypatch.setattr(position_merge, "BLOCK", block)
    groups = [[1, 5, 9], [2, 3], [0, 4, 6, 7, 8]]
    segments = [build_segment([document(number) for number in group], IndexSettings()) for group in groups]
    dead = {5, 2, 8}
    alive = [np.array([number not in dead for number in group]) for group in groups]
    survivors = [document(number) for number in range(10) if number not in dead]
    assert arrays_of(merge_segments(segments, alive)) == arrays_of(build_segment(survivors, IndexSettings()))


def test_nothing_alive():
    segment = build_segment([document(1)], IndexSettings())
    assert arrays_of(merge_segments([segment], [np.array([False])])) == arrays_of(build_segment([], IndexSettings()))


def test_terms_of_the_dead_are_gone():
    segment = build_segment([Document("a", text="lease"), Document("b", text="court")], IndexSettings())
    assert list(merge_segments([segment], [np.array([False, True])]).channels["bm25"].terms) == ["court"]


def test_a_segment_without_positions_makes_a_merged_one_without():
    new, old = build_segment([document(1)], IndexSettings()), build_segment([document(2)], IndexSettings())
    old = Segment(old.ids, old.channels)
    assert merge_segments([new, old], [np.array([True])] * 2).positions is None


def test_few_segments_stay_after_many_additions():
    sizes, work = [], 0
    for _ in range(5000):
        sizes.append(1)
        while group := segments_to_merge(sizes):
            total = sum(sizes[at] for at in group)
            work += total
            sizes = [size for at, size in enumerate(sizes) if at not in group] + [total]
    assert sum(sizes) == 5000
    assert len(sizes) <= 7 * 5
    assert work <= 5000 * 5  # each document is written again at most once a tier


def test_large_and_small_segments_stay_apart():
    assert segments_to_merge([]) == segments_to_merge([1, 10, 100, 1000] * 7) == []
    assert segments_to_merge([1000, 1, 1001] + [2] * 7) == [1, *range(3, 10)]
