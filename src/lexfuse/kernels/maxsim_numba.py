"""The loops of late interaction, compiled by numba and cached on disk; `lexfuse.kernels.maxsim` describes them.

All of them use one piece of machine code, written out below because no compiler makes it from a plain loop: the products of six
rows with sixteen query vectors stay in registers over all dimensions, while the next six rows are prefetched into the cache. It
multiplies, rounds, adds and rounds, one dimension after the other, so that numpy can give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, I32, I64, Bools
from lexfuse.kernels.compilation import njit

LANES = 16  # query vectors at once
ROWS = 6  # rows at once: with 16 lanes they fill the processor's registers
_WIDTH = 8  # lanes of a register
_FLOAT, _LONG, _INT = ir.FloatType(), ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(_FLOAT, _WIDTH)
_FLOATS, _VECTORS = _FLOAT.as_pointer(), _VECTOR.as_pointer()
_NOTHING = np.float32(-np.inf)


def _vector_at(builder: ir.IRBuilder, start: ir.Value, number: int) -> ir.Value:
    return builder.bitcast(builder.gep(start, [_LONG(number * _WIDTH)]), _VECTORS)


def _spread(builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
    """Broadcast one number to all lanes of a register."""
    none = ir.Constant(_VECTOR, ir.Undefined)
    lanes = ir.Constant(ir.VectorType(_INT, _WIDTH), [0] * _WIDTH)
    return builder.shuffle_vector(builder.insert_element(none, number, _INT(0)), none, lanes)


def _fetch(builder: ir.IRBuilder, place: ir.Value) -> None:
    """Prefetch memory that will be read soon; the address need not exist."""
    name, pointer = "llvm.prefetch.p0", ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, _INT, _INT, _INT])
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    builder.call(function, [builder.bitcast(place, pointer), _INT(0), _INT(3), _INT(1)])


def _written(builder: ir.IRBuilder, rows: int, args: tuple[ir.Value, ...]) -> None:
    """The code: a loop over dimensions with one sum per row and register."""
    (source, query, out), dimensions = [builder.inttoptr(place, _FLOATS) for place in args[:3]], args[3]
    starts = [builder.gep(source, [builder.mul(dimensions, _LONG(row))]) for row in range(rows)]
    registers = LANES // _WIDTH
    before, loop, after = builder.block, builder.append_basic_block("dimensions"), builder.append_basic_block("after")
    builder.branch(loop)
    builder.position_at_end(loop)
    at = builder.phi(_LONG)
    sums = [builder.phi(_VECTOR) for _ in range(rows * registers)]
    _fetch(builder, builder.gep(source, [builder.mul(builder.add(dimensions, at), _LONG(rows))]))
    start = builder.gep(query, [builder.mul(at, _LONG(LANES))])
    asked = [builder.load(_vector_at(builder, start, number), align=4) for number in range(registers)]
    added: list[Any] = []
    for row in range(rows):
        number = _spread(builder, builder.load(builder.gep(starts[row], [at])))
        added += [builder.fadd(sums[len(added) + place], builder.fmul(number, one)) for place, one in enumerate(asked)]
    following = builder.add(at, _LONG(1))
    at.add_incoming(_LONG(0), before)
    at.add_incoming(following, loop)
    for old, new in zip(sums, added, strict=True):
        old.add_incoming(ir.Constant(_VECTOR, [0.0] * _WIDTH), before)
        old.add_incoming(new, loop)
    builder.cbranch(builder.icmp_signed("<", following, dimensions), loop, after)
    builder.position_at_end(after)
    for place, new in enumerate(added):
        builder.store(new, _vector_at(builder, out, place), align=4)


def _products_of(rows: int) -> Any:
    """A function (address of rows, of a group of lanes, of the result, dimensions): rows x LANES products."""

    def products(typing: Any, source: Any, query: Any, out: Any, dimensions: Any) -> tuple[Any, Callable[..., Any]]:
        def code(context: Any, builder: ir.IRBuilder, _: Any, args: tuple[ir.Value, ...]) -> Any:
            _written(builder, rows, args)
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp, types.intp), code

    return intrinsic(products)


_six = _products_of(ROWS)
_one = _products_of(1)


@njit(cache=True, nogil=True, inline="always")
def _multiply(source: int, query: int, out: int, dimensions: int, taken: int) -> None:
    """The products of six rows, or of one, with a group of lanes; all are given by their addresses."""
    if taken == ROWS:
        _six(source, query, out, dimensions)
    else:
        _one(source, query, out, dimensions)


@njit(cache=True, nogil=True)
def products(rows: F32, lanes: F32, out: F32) -> None:
    """Products of rows with every lane: ``out`` has one row for each row."""
    groups, dimensions = lanes.shape[0], lanes.shape[1]
    some = np.empty(ROWS * LANES, dtype=np.float32)
    at = 0
    while at < len(rows):
        taken = ROWS if at + ROWS <= len(rows) else 1
        for group in range(groups):
            source, query = rows.ctypes.data + 4 * at * dimensions, lanes.ctypes.data + 4 * group * dimensions * LANES
            _multiply(source, query, some.ctypes.data, dimensions, taken)
            for row in range(taken):
                for lane in range(LANES):
                    out[at + row, group * LANES + lane] = some[row * LANES + lane]
        at += taken


@njit(cache=True, nogil=True)
def nearest(vectors: F32, rows: F32, halves: F32, found: I32) -> None:
    """For every vector the row with the highest product minus half of that row; the first of equals."""
    dimensions = rows.shape[1]
    lanes = np.zeros((dimensions, LANES), dtype=np.float32)
    best = np.empty(LANES, dtype=np.float32)
    which = np.empty(LANES, dtype=np.int32)
    some = np.empty(ROWS * LANES, dtype=np.float32)
    for first in range(0, len(vectors), LANES):
        count = min(LANES, len(vectors) - first)
        for lane in range(count):
            for at in range(dimensions):
                lanes[at, lane] = vectors[first + lane, at]
        best[:] = _NOTHING
        which[:] = 0
        row = 0
        while row < len(rows):
            taken = ROWS if row + ROWS <= len(rows) else 1
            _multiply(rows.ctypes.data + 4 * row * dimensions, lanes.ctypes.data, some.ctypes.data, dimensions, taken)
            for number in range(taken):
                half, name = halves[row + number], np.int32(row + number)
                for lane in range(LANES):
                    value = some[number * LANES + lane] - half
                    better = value > best[lane]
                    best[lane] = value if better else best[lane]
                    which[lane] = name if better else which[lane]
            row += taken
        found[first : first + count] = which[:count]


@njit(cache=True, nogil=True)
def maxsim(rows: F32, starts: I64, lanes: F32, count: int, out: F32) -> None:
    """Eq. 11 of FUSE for every document; ``count`` lanes are query vectors."""
    groups, dimensions = lanes.shape[0], lanes.shape[1]
    best = np.empty(groups * LANES, dtype=np.float32)
    some = np.empty(ROWS * LANES, dtype=np.float32)
    for doc in range(len(starts) - 1):
        best[:] = _NOTHING
        at, end = starts[doc], starts[doc + 1]
        while at < end:
            taken = ROWS if at + ROWS <= end else 1
            for group in range(groups):
                source, query = rows.ctypes.data + 4 * at * dimensions, lanes.ctypes.data + 4 * group * dimensions * LANES
                _multiply(source, query, some.ctypes.data, dimensions, taken)
                _raise(best[group * LANES : (group + 1) * LANES], some, taken)
            at += taken
        out[doc] = _sum(best, count) if end > starts[doc] else np.float32(np.nan)


@njit(cache=True, nogil=True, inline="always")
def _raise(best: F32, some: F32, taken: int) -> None:
    """Update the highest product of every lane."""
    for row in range(taken):
        for lane in range(LANES):
            value = some[row * LANES + lane]
            best[lane] = value if value > best[lane] else best[lane]


@njit(cache=True, nogil=True, inline="always")
def _sum(best: F32, count: int) -> np.float32:
    total = 0.0
    for lane in range(count):
        total += best[lane]
    return np.float32(total)


@njit(cache=True, nogil=True)
def stored(
    docs: I32,
    starts: I64,
    codes: I32,
    scales: F32,
    residuals: NDArray[np.uint8],
    places: I64,
    values: F32,
    near: F32,
    lanes: F32,
    count: int,
    out: F32,
) -> None:
    """Eq. 11 of FUSE on stored vectors: ``near`` has the products of every centroid, ``lanes`` the query for the residuals."""
    groups, dimensions = lanes.shape[0], lanes.shape[1]
    best = np.empty(groups * LANES, dtype=np.float32)
    some = np.empty(ROWS * LANES, dtype=np.float32)
    rows = np.zeros(2 * ROWS * dimensions, dtype=np.float32)  # half of it is only prefetched
    for place in range(len(docs)):
        best[:] = _NOTHING
        at, end = starts[docs[place]], starts[docs[place] + 1]
        while at < end:
            taken = ROWS if at + ROWS <= end else 1
            for row in range(taken):
                for axis in range(dimensions):
                    both = np.int64(residuals[at + row, places[0, axis]]) << 8 | residuals[at + row, places[1, axis]]
                    rows[row * dimensions + axis] = values[(both >> places[2, axis]) & 255]
            for group in range(groups):
                query = lanes.ctypes.data + 4 * group * dimensions * LANES
                _multiply(rows.ctypes.data, query, some.ctypes.data, dimensions, taken)
                for row in range(taken):
                    scale, code = scales[at + row], codes[at + row]
                    for lane in range(LANES):
                        value = (near[code, group * LANES + lane] + some[row * LANES + lane]) * scale
                        to = group * LANES + lane
                        best[to] = value if value > best[to] else best[to]
            at += taken
        out[place] = _sum(best, count) if end > starts[docs[place]] else np.float32(np.nan)


@njit(cache=True, nogil=True)
def probed(near: F32, count: int, probes: int, chosen: Bools) -> None:
    """Mark the centroids that are among the nearest of some query vector."""
    best = np.empty(probes, dtype=np.float32)
    which = np.empty(probes, dtype=np.int64)
    for lane in range(count):
        size = 0
        for centroid in range(len(near)):
            value = near[centroid, lane]
            if size == probes and value <= best[size - 1]:
                continue
            at = size if size < probes else probes - 1
            while at > 0 and best[at - 1] < value:
                best[at], which[at] = best[at - 1], which[at - 1]
                at -= 1
            best[at], which[at] = value, centroid
            size = min(size + 1, probes)
        for at in range(size):
            chosen[which[at]] = True


@njit(cache=True, nogil=True)
def gathered(chosen: Bools, lists: I64, members: I32, allowed: Bools, found: Bools) -> None:
    """Mark the allowed documents of the chosen centroids."""
    for centroid in range(len(chosen)):
        if chosen[centroid]:
            for at in range(lists[centroid], lists[centroid + 1]):
                found[members[at]] |= allowed[members[at]]


@njit(cache=True, nogil=True)
def by_centroids(docs: I32, starts: I64, codes: I32, near: F32, count: int, out: F32) -> None:
    """MaxSim of documents with every token replaced by its centroid."""
    lanes = near.shape[1]
    best = np.empty(lanes, dtype=np.float32)
    for place in range(len(docs)):
        best[:] = _NOTHING
        for at in range(starts[docs[place]], starts[docs[place] + 1]):
            code = codes[at]
            for lane in range(lanes):
                value = near[code, lane]
                best[lane] = value if value > best[lane] else best[lane]
        out[place] = _sum(best, count)
