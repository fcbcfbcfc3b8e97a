"""Steps of MaxSim on sixteen query vectors at once, as machine code: nearest tokens, bounds of products, single products.

Written out for the same reason as `lexfuse.kernels.register_products`: a compiler does not keep short loops over lanes in
registers. All arrays are given by their addresses. Each step is one operation on 32-bit floats for each lane.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from lexfuse.kernels.register_products import INTS, LANES, WIDTH, added_levels, spread

BLOCK = 4 * WIDTH  # levels that `level_product` multiplies at once
_FLOAT, _LONG, _INT = ir.FloatType(), ir.IntType(64), ir.IntType(32)
_FLOATS, _TOKENS = ir.VectorType(_FLOAT, LANES), ir.VectorType(_INT, LANES)
Written = Callable[[ir.IRBuilder, tuple[ir.Value, ...]], ir.Value | None]


def _typed(write: Written, result: Any, *arguments: Any) -> tuple[Any, Callable[..., Any]]:
    """The signature of a function for compiled loops, and what writes its code."""

    def code(context: Any, builder: ir.IRBuilder, _: Any, args: tuple[ir.Value, ...]) -> Any:
        found = write(builder, args)
        return context.get_dummy_value() if found is None else found

    return result(*arguments), code


def _load(builder: ir.IRBuilder, place: ir.Value, kind: ir.Type) -> ir.Value:
    return builder.load(builder.inttoptr(place, kind.as_pointer()), align=4)


def _store(builder: ir.IRBuilder, value: ir.Value, place: ir.Value) -> None:
    builder.store(value, builder.inttoptr(place, value.type.as_pointer()), align=4)


def _at(builder: ir.IRBuilder, place: ir.Value, number: ir.Value | int, size: int) -> ir.Value:
    """The address of an element."""
    return builder.add(place, builder.mul(_LONG(number) if isinstance(number, int) else number, _LONG(size)))


def _write_nearest(builder: ir.IRBuilder, args: tuple[ir.Value, ...]) -> None:
    near, stride, codes, scales, count, best_at, which_at = args
    before, loop, after = builder.block, builder.append_basic_block("tokens"), builder.append_basic_block("after")
    builder.branch(loop)
    builder.position_at_end(loop)
    at, best, which = builder.phi(_LONG), builder.phi(_FLOATS), builder.phi(_TOKENS)
    code = builder.sext(_load(builder, _at(builder, codes, at, 4), _INT), _LONG)
    close = _load(builder, builder.add(near, builder.mul(code, stride)), _FLOATS)
    value = builder.fmul(close, spread(builder, _load(builder, _at(builder, scales, at, 4), _FLOAT), _FLOATS))
    better = builder.fcmp_ordered(">", value, best)
    higher = builder.select(better, value, best)
    token = builder.select(better, spread(builder, builder.trunc(at, _INT), _TOKENS), which)
    following = builder.add(at, _LONG(1))
    lowest = ir.Constant(_FLOATS, [float("-inf")] * LANES)
    for phi, first, then in (
        (at, _LONG(0), following),
        (best, lowest, higher),
        (which, ir.Constant(_TOKENS, [0] * LANES), token),
    ):
        phi.add_incoming(first, before)
        phi.add_incoming(then, loop)
    builder.cbranch(builder.icmp_signed("<", following, count), loop, after)
    builder.position_at_end(after)
    _store(builder, higher, best_at)
    _store(builder, token, which_at)


def _write_bounds(builder: ir.IRBuilder, args: tuple[ir.Value, ...]) -> None:
    high, close, constants, scale, most, low_at = args
    step, outer, error = (_load(builder, _at(builder, constants, row * LANES, 4), _FLOATS) for row in range(3))
    whole = builder.sitofp(_load(builder, high, _TOKENS), _FLOATS)
    value = builder.fadd(_load(builder, close, _FLOATS), builder.fsub(builder.fmul(step, whole), outer))
    every, low = spread(builder, scale, _FLOATS), _load(builder, low_at, _FLOATS)
    _store(builder, builder.fmul(builder.fadd(value, error), every), most)
    least = builder.fmul(builder.fsub(value, error), every)
    _store(builder, builder.select(builder.fcmp_ordered(">", least, low), least, low), low_at)


def _write_reached(builder: ir.IRBuilder, args: tuple[ir.Value, ...]) -> ir.Value:
    most, low = (_load(builder, place, _FLOATS) for place in args)
    return builder.zext(builder.bitcast(builder.fcmp_ordered(">=", most, low), ir.IntType(LANES)), _LONG)


def _write_product(builder: ir.IRBuilder, args: tuple[ir.Value, ...]) -> ir.Value:
    levels, query, blocks = args
    before, loop, after = builder.block, builder.append_basic_block("levels"), builder.append_basic_block("after")
    builder.branch(loop)
    builder.position_at_end(loop)
    at, total = builder.phi(_LONG), builder.phi(INTS)
    row, asked = (_load(builder, _at(builder, place, at, BLOCK), INTS) for place in (levels, query))
    more, following = added_levels(builder, total, row, asked), builder.add(at, _LONG(1))
    for phi, first, then in ((at, _LONG(0), following), (total, ir.Constant(INTS, [0] * WIDTH), more)):
        phi.add_incoming(first, before)
        phi.add_incoming(then, loop)
    builder.cbranch(builder.icmp_signed("<", following, blocks), loop, after)
    builder.position_at_end(after)
    size = WIDTH
    while size > 1:
        size //= 2
        halves = (ir.Constant(ir.VectorType(_INT, size), list(range(first, first + size))) for first in (0, size))
        low, high = (builder.shuffle_vector(more, ir.Constant(more.type, ir.Undefined), half) for half in halves)
        more = builder.add(low, high)
    return builder.extract_element(more, _INT(0))


_PLACE = types.intp


def _typed_nearest_tokens(
    typing: Any, near: Any, stride: Any, codes: Any, scales: Any, count: Any, best: Any, which: Any
) -> tuple[Any, Callable[..., Any]]:
    """The highest product with the centroid of a token for each lane, times the scale of the token, and the token."""
    return _typed(_write_nearest, types.void, *[_PLACE] * 7)


def _typed_product_bounds(
    typing: Any, high: Any, close: Any, constants: Any, scale: Any, most: Any, least: Any
) -> tuple[Any, Callable[..., Any]]:
    """What the product of each lane with a token is at most; also updates what the best product of each lane is at least."""
    return _typed(_write_bounds, types.void, _PLACE, _PLACE, _PLACE, types.float32, _PLACE, _PLACE)


def _typed_reached(typing: Any, most: Any, least: Any) -> tuple[Any, Callable[..., Any]]:
    """One bit for each lane whose product can be the best one."""
    return _typed(_write_reached, types.int64, _PLACE, _PLACE)


def _typed_level_product(typing: Any, levels: Any, query: Any, blocks: Any) -> tuple[Any, Callable[..., Any]]:
    """The product of levels with a query vector of 8 bits, in whole blocks."""
    return _typed(_write_product, types.int32, _PLACE, _PLACE, _PLACE)


nearest_tokens: Any = intrinsic(_typed_nearest_tokens)
product_bounds: Any = intrinsic(_typed_product_bounds)
reached: Any = intrinsic(_typed_reached)
level_product: Any = intrinsic(_typed_level_product)
