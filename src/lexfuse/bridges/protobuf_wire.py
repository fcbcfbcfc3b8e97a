"""The wire format of Protocol Buffers, as much of it as CIFF needs: varints, doubles and texts.

A field that has its zero value is not written, as protobuf does; one of an unknown number is skipped, as protobuf does.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO

from lexfuse.errors import DataError

VARINT, DOUBLE, BYTES, FLOAT = 0, 1, 2, 5
_LONGEST_MESSAGE = 1 << 31  # bytes; protobuf allows no longer ones


def varint(value: int) -> bytes:
    r"""A number that is not negative, seven bits in each byte, the lowest first.

    >>> varint(1), varint(300)
    (b'\x01', b'\xac\x02')
    """
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def number_field(number: int, value: int) -> bytes:
    r"""A field with an integer; nothing for 0.

    >>> number_field(1, 150), number_field(1, 0)
    (b'\x08\x96\x01', b'')
    """
    return varint(number << 3 | VARINT) + varint(value) if value else b""


def double_field(number: int, value: float) -> bytes:
    """A field with a double; nothing for 0."""
    return varint(number << 3 | DOUBLE) + struct.pack("<d", value) if value else b""


def bytes_field(number: int, value: bytes) -> bytes:
    r"""A field with bytes: a text, or a message inside another.

    >>> bytes_field(2, b"loi")
    b'\x12\x03loi'
    """
    return varint(number << 3 | BYTES) + varint(len(value)) + value


def read_varint(raw: bytes, at: int) -> tuple[int, int]:
    r"""The number at a place, and the place after it.

    >>> read_varint(b"\xac\x02", 0)
    (300, 2)
    """
    value = shift = 0
    while shift < 64:
        if at >= len(raw):
            raise DataError("a number is cut off; the file is damaged or no CIFF file")
        byte = raw[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
    raise DataError("a number has more than 64 bits; the file is damaged or no CIFF file")


def fields(raw: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    r"""The number and value of every field of a message.

    >>> list(fields(b"\x12\x03loi\x18\x05"))
    [(2, b'loi'), (3, 5)]
    """
    at, value = 0, b""
    while at < len(raw):
        key, at = read_varint(raw, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            whole, at = read_varint(raw, at)
            yield number, whole
            continue
        if kind not in (DOUBLE, BYTES, FLOAT):
            raise DataError(f"a field has the unknown wire type {kind}; the file is damaged or no CIFF file")
        size, at = read_varint(raw, at) if kind == BYTES else (8 if kind == DOUBLE else 4, at)
        value, at = raw[at : at + size], at + size
        if len(value) < size:
            raise DataError("a field is cut off; the file is damaged or no CIFF file")
        yield number, value if kind == BYTES else struct.unpack("<d" if kind == DOUBLE else "<f", value)[0]


def delimited(message: bytes) -> bytes:
    """A message with its length before it, as a part of a stream."""
    return varint(len(message)) + message


def read_delimited(stream: IO[bytes]) -> bytes:
    r"""The next message of a stream.

    >>> import io
    >>> read_delimited(io.BytesIO(b"\x02hi"))
    b'hi'
    """
    size = shift = 0
    while True:
        byte = stream.read(1)
        if not byte or shift > 63:
            raise DataError("a message is missing; the file is cut off or no CIFF file")
        size |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            break
        shift += 7
    message = stream.read(size) if size < _LONGEST_MESSAGE else b""
    if len(message) < size:
        raise DataError("a message is cut off; the file is damaged or no CIFF file")
    return message
