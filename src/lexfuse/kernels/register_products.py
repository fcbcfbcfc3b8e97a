"""Products that stay in registers, as machine code: several rows with sixteen query vectors.

The code is written out because no compiler makes it from a plain loop. Floats are multiplied, rounded, added and rounded, one
dimension after the other, so that numpy can give the same bits, while the next six rows are prefetched into the cache. Levels of
0 to 255 are multiplied by whole numbers of -128 to 127, four at a time, which is exact: by one instruction where the processor
has it (VNNI), otherwise by shifts and multiplications. Code in numba's cache belongs to one kind of processor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

LANES = 16  # query vectors at once
_FEATURES = frozenset(cpu_target.target_context.codegen().magic_tuple()[2].split(","))  # of the processor numba compiles for
WIDTH = 16 if "+avx512f" in _FEATURES else 8  # lanes of a register
ROWS = 6  # rows of floats at once: with 16 lanes they keep all units of the processor busy
LEVEL_ROWS = 10 if WIDTH == 16 else 6  # rows of levels at once: more would need more registers for addresses
_FLOAT, _LONG, _INT = ir.FloatType(), ir.IntType(64), ir.IntType(32)
INTS = ir.VectorType(_INT, WIDTH)


class _Arithmetic(NamedTuple):
    """What is in a lane, how a product is added to a sum, and whether the next rows are prefetched."""

    element: ir.Type
    zero: float
    added: Callable[[ir.IRBuilder, ir.Value, ir.Value, ir.Value], ir.Value]
    prefetches: bool


def float_products(rows: int) -> Any:
    """A function (address of rows, of a group of lanes, of the result, dimensions): rows x LANES products of floats."""
    return _products_of(
        rows, _Arithmetic(_FLOAT, 0.0, lambda code, total, row, query: code.fadd(total, code.fmul(row, query)), True)
    )


def level_products(rows: int) -> Any:
    """A function (address of rows, of a group of lanes, of the result, fours of levels): rows x LANES products of levels."""
    return _products_of(rows, _Arithmetic(_INT, 0, added_levels, False))


def added_levels(builder: ir.IRBuilder, total: ir.Value, levels: ir.Value, query: ir.Value) -> ir.Value:
    """The sums of a register and the products of four levels each; by VNNI if the processor has it on registers of this width."""
    has_vnni = "+avx512vnni" in _FEATURES if WIDTH == 16 else "+avxvnni" in _FEATURES
    return (_added_by_vnni if has_vnni else _added_by_shifts)(builder, total, levels, query)


def _added_by_vnni(builder: ir.IRBuilder, total: ir.Value, levels: ir.Value, query: ir.Value) -> ir.Value:
    name, kind = f"llvm.x86.avx512.vpdpbusd.{32 * WIDTH}", ir.FunctionType(INTS, [INTS] * 3)
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    return builder.call(function, [total, levels, query])


def _added_by_shifts(builder: ir.IRBuilder, total: ir.Value, levels: ir.Value, query: ir.Value) -> ir.Value:
    def every(number: int) -> ir.Constant:
        return ir.Constant(INTS, [number] * WIDTH)

    for shift in (0, 8, 16, 24):
        level = builder.and_(builder.lshr(levels, every(shift)), every(255))
        number = builder.ashr(builder.shl(query, every(24 - shift)), every(24))
        total = builder.add(total, builder.mul(level, number))
    return total


def _products_of(rows: int, arithmetic: _Arithmetic) -> Any:
    def products(typing: Any, source: Any, query: Any, out: Any, steps: Any) -> tuple[Any, Callable[..., Any]]:
        def code(context: Any, builder: ir.IRBuilder, _: Any, args: tuple[ir.Value, ...]) -> Any:
            _write(builder, rows, args, arithmetic)
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp, types.intp), code

    return intrinsic(products)


def _write(builder: ir.IRBuilder, rows: int, args: tuple[ir.Value, ...], arithmetic: _Arithmetic) -> None:
    """The code: a loop over the numbers of a row with one sum per row and register."""
    vector, registers = ir.VectorType(arithmetic.element, WIDTH), LANES // WIDTH
    (source, query, out), steps = [builder.inttoptr(place, arithmetic.element.as_pointer()) for place in args[:3]], args[3]
    starts = [builder.gep(source, [builder.mul(steps, _LONG(row))]) for row in range(rows)]
    before, loop, after = builder.block, builder.append_basic_block("numbers"), builder.append_basic_block("after")
    builder.branch(loop)
    builder.position_at_end(loop)
    at = builder.phi(_LONG)
    sums = [builder.phi(vector) for _ in range(rows * registers)]
    if arithmetic.prefetches:
        _prefetch(builder, builder.gep(source, [builder.mul(builder.add(steps, at), _LONG(rows))]))
    start = builder.gep(query, [builder.mul(at, _LONG(LANES))])
    asked = [builder.load(_vector_at(builder, start, number, vector), align=4) for number in range(registers)]
    added: list[Any] = []
    for row in range(rows):
        number = spread(builder, builder.load(builder.gep(starts[row], [at]), align=4), vector)
        added += [arithmetic.added(builder, sums[len(added) + place], number, one) for place, one in enumerate(asked)]
    following = builder.add(at, _LONG(1))
    at.add_incoming(_LONG(0), before)
    at.add_incoming(following, loop)
    for old, new in zip(sums, added, strict=True):
        old.add_incoming(ir.Constant(vector, [arithmetic.zero] * WIDTH), before)
        old.add_incoming(new, loop)
    builder.cbranch(builder.icmp_signed("<", following, steps), loop, after)
    builder.position_at_end(after)
    for place, new in enumerate(added):
        builder.store(new, _vector_at(builder, out, place, vector), align=4)


def _vector_at(builder: ir.IRBuilder, start: ir.Value, number: int, vector: ir.Type) -> ir.Value:
    return builder.bitcast(builder.gep(start, [_LONG(number * WIDTH)]), vector.as_pointer())


def spread(builder: ir.IRBuilder, number: ir.Value, vector: ir.Type) -> ir.Value:
    """Broadcast one number to all lanes of a register."""
    none = ir.Constant(vector, ir.Undefined)
    lanes = ir.Constant(ir.VectorType(_INT, vector.count), [0] * vector.count)
    return builder.shuffle_vector(builder.insert_element(none, number, _INT(0)), none, lanes)


def _prefetch(builder: ir.IRBuilder, place: ir.Value) -> None:
    """Prefetch memory that will be read soon; the address need not exist."""
    name, pointer = "llvm.prefetch.p0", ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, _INT, _INT, _INT])
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    builder.call(function, [builder.bitcast(place, pointer), _INT(0), _INT(3), _INT(1)])
