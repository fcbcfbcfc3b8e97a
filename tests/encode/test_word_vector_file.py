"""Files of word vectors: every kind read alike, and every damage named."""

import gzip
import struct

import numpy as np
import pytest

from lexfuse.data.read_report import ReadReport
from lexfuse.encode.word_vector_file import read_word_vectors
from lexfuse.errors import DataError, NotFoundError

WORDS = ["loi", "congé", "préavis"]
ROWS = np.array([[1.0, 0.5], [-2.0, 0.25], [3e-5, 7.0]], dtype=np.float32)


def as_text(words=WORDS, rows=ROWS, header=None, end=""):
    lines = [header or f"{len(words)} {rows.shape[1]}"]
    lines += [f"{word} {' '.join(map(str, row.tolist()))}{end}" for word, row in zip(words, rows, strict=True)]
    return "".join(f"{line}\n" for line in lines).encode()


def as_binary(end=b"\n", header=b"3 2\n"):
    return header + b"".join(word.encode() + b" " + row.tobytes() + end for word, row in zip(WORDS, ROWS, strict=True))


def fnv(ngram):
    """fastText's hash, with the arithmetic of C: 32 bits, bytes signed."""
    value = np.uint32(2166136261)
    with np.errstate(over="ignore"):
        for byte in ngram.encode():
            value = (value ^ np.uint32(np.int8(np.uint8(byte)).astype(np.int32).view(np.uint32))) * np.uint32(16777619)
    return int(value)


def ngrams_of(word, shortest, longest):
    letters = f"<{word}>"
    pieces = [letters[a:b] for a in range(len(letters)) for b in range(a + 1, len(letters) + 1) if shortest <= b - a <= longest]
    return [piece for piece in pieces if len(piece) > 1 or piece not in "<>"]


def as_fasttext(words=WORDS, *, buckets=50, quantised=False, version=12, labels=(), shortest=3, longest=4, pruned=-1):
    matrix = np.random.default_rng(1).standard_normal((len(words) + buckets, 2)).astype(np.float32)
    raw = struct.pack("<2i", 793712314, version) + struct.pack(
        "<12id", 2, 5, 5, 1, 5, 1, 2, 2, buckets, shortest, longest, 100, 1e-4
    )
    raw += struct.pack("<3i2q", len(words) + len(labels), len(words), len(labels), 100, pruned)
    for word in words:
        raw += (word if isinstance(word, bytes) else word.encode()) + b"\0" + struct.pack("<qb", 3, 0)
    for label in labels:
        raw += label.encode() + b"\0" + struct.pack("<qb", 3, 1)
    return raw + struct.pack("<?2q", quantised, *matrix.shape) + matrix.tobytes() + b"\0output", matrix


@pytest.mark.parametrize(
    "content",
    [as_text(), as_text(end=" "), as_text().replace(b"\n", b"\r\n"), gzip.compress(as_text(), mtime=0),
     as_binary(), as_binary(b""), gzip.compress(as_binary(), mtime=0)],
    ids=["text", "spaces at ends", "windows ends", "text.gz", "binary", "binary without ends", "binary.gz"],
)  # fmt: skip
def test_every_kind_gives_the_same(tmp_path, content):
    (tmp_path / "v").write_bytes(content)
    vectors = read_word_vectors(tmp_path / "v")
    assert list(vectors.words) == WORDS
    assert vectors.dimension == 2
    np.testing.assert_array_equal(vectors.matrix, ROWS)
    assert vectors.of("congé").tolist() == [-2.0, 0.25]
    assert vectors.of("bail") is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not a file of word vectors"),
        (b"<html>", "not a file of word vectors"),
        (b"PK\x03\x04 zip\n", "not a file of word vectors"),
        (b"3 0\n", "impossible dimension 0"),
        (b"3 99999999\n", "impossible dimension 99,999,999"),
        (as_text(header="4 2"), "declares 4 words of dimension 2, the file has 3; it is truncated"),
        (as_text(header="2 2"), "declares 2 words of dimension 2, the file has 3"),
        (as_text(header="3 3"), "line 2: the word 'loi' has 2 numbers, expected 3"),
        (as_text() + b"bail 1\n", "line 5: the word 'bail' has 1 numbers, expected 2"),
        (as_text().replace(b"0.25", b"0,25"), "line 3: could not convert"),
        (as_text().replace(b"0.25", b"nan"), "line 3: the vector of 'congé' has nan"),
        (as_text().replace("congé".encode(), b"cong\xe9"), "line 3: byte 0xe9 at position 4 is not UTF-8"),
        (as_text() + b" 1 2\n", "line 5: the word '' has 2 numbers"),
        (as_binary()[:-4], "declares 3 words of dimension 2, the file has 2; it is truncated"),
        (as_binary(header=b"2 2\n"), "14 bytes follow|bytes follow the 2 words"),
        (as_binary().replace("congé".encode(), b"cong\xe9"), "byte 0xe9"),
        (gzip.compress(as_text(), mtime=0)[:-12], "truncated or damaged"),
    ],
)
def test_damage_is_named(tmp_path, content, said):
    (tmp_path / "v.vec").write_bytes(content)
    with pytest.raises(DataError, match=said):
        read_word_vectors(tmp_path / "v.vec")


def test_no_file(tmp_path):
    with pytest.raises(NotFoundError):
        read_word_vectors(tmp_path / "v.vec")


def test_bad_words_can_be_skipped_and_repeats_are_noted(tmp_path):
    content = as_text([*WORDS, "loi"], np.concatenate([ROWS, ROWS[2:]])).replace("congé".encode(), b"cong\xe9")
    (tmp_path / "v").write_bytes(content)
    report = ReadReport(skip_bad=True)
    vectors = read_word_vectors(tmp_path / "v", report)
    assert list(vectors.words) == ["loi", "préavis"]
    assert vectors.of("loi").tolist() == [1.0, 0.5]
    assert report.skipped == 1
    assert any("repeated word" in line for line in report.lines())


def test_fasttext_words_and_words_it_does_not_know(tmp_path):
    raw, matrix = as_fasttext(labels=["__label__a"])
    (tmp_path / "v.bin").write_bytes(raw)
    vectors = read_word_vectors(tmp_path / "v.bin")
    assert list(vectors.words) == WORDS
    for word in [*WORDS, "bail", "é"]:
        rows = [3 + fnv(piece) % 50 for piece in ngrams_of(word, 3, 4)]
        own = [WORDS.index(word)] if word in WORDS else []
        np.testing.assert_allclose(vectors.of(word), matrix[own + rows].mean(axis=0), rtol=1e-5)


def test_fasttext_without_ngrams(tmp_path):
    raw, matrix = as_fasttext(buckets=0, shortest=0, longest=0)
    (tmp_path / "v.bin").write_bytes(raw)
    vectors = read_word_vectors(tmp_path / "v.bin")
    np.testing.assert_array_equal(vectors.of("loi"), matrix[0])
    assert vectors.of("bail") is None


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (as_fasttext()[0][:300], "the file is cut short"),
        (as_fasttext()[0][:70], "the file is cut short"),
        (as_fasttext(quantised=True)[0], "the model is quantised"),
        (as_fasttext(version=11)[0], "fastText format 11, only 12"),
        (as_fasttext(pruned=2)[0], "the model is pruned"),
        (as_fasttext(["loi", "loi"])[0], "do not fit the sizes of the dictionary"),
        (as_fasttext(["loi", b"cong\xe9"])[0], "is not UTF-8"),
    ],
)
def test_damaged_fasttext_is_named(tmp_path, raw, said):
    (tmp_path / "v.bin").write_bytes(raw)
    with pytest.raises(DataError, match=said):
        read_word_vectors(tmp_path / "v.bin")
