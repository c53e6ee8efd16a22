"""Vectors of eight float64, the lanes, with which kernels compute.

Inside a kernel a vector lives in registers: one of 512 bits, two of 256 or four of 128, as the
machine has them. It has `+`, `-`, `*` and `/`; the functions below do the rest. Memory is read and
written through pointers to contiguous float32 or float64, without bounds checks; float32 is widened
when it is loaded and rounded when it is stored. A pointer `p` also has `p[i]`. It does not keep
alive an array that the function made: see `keep`.

Numba itself leaves vectors to LLVM's loop vectoriser, which tests at each short inner loop whether
arrays overlap, and keeps sums in memory. It also counts references to arrays inside such loops.
With NUMBA_DISABLE_JIT=1 the same functions are plain NumPy on flat arrays, eight numbers at a time.

Internals of Numba and llvmlite: as in `vector_types`, and `make_array` and `get_dummy_value` of a
target context, `cgutils.get_or_insert_function`. Tried on Numba 0.61.0 and 0.68.1.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from .vector_types import (
    VectorType,
    broadcast,
    define_operator,
    emitted_by,
    read,
    repeated,
    write,
)

__all__ = [
    "LANES",
    "aligned",
    "all_greater",
    "first",
    "keep",
    "load",
    "per_line",
    "pointer",
    "power_of_two",
    "prefetch",
    "prefetch_near",
    "rounded",
    "shifted",
    "splat",
    "store",
    "where_equal",
    "where_greater",
    "where_number",
]

LANES = 8

_DOUBLE, _INT, _BYTE = ir.DoubleType(), ir.IntType(64), ir.IntType(8)
FLOATS, _INTS = ir.VectorType(_DOUBLE, LANES), ir.VectorType(_INT, LANES)
_LINE_BITS = 512

LANES_TYPE = VectorType("Lanes", FLOATS)

define_operator(LANES_TYPE, operator.add, "fadd")
define_operator(LANES_TYPE, operator.sub, "fsub")
define_operator(LANES_TYPE, operator.mul, "fmul")
define_operator(LANES_TYPE, operator.truediv, "fdiv")


def read_lanes(builder: Any, kind: Any, address: Any) -> Any:
    """Emit a load of eight numbers, as float64, from a pointer of type `kind`."""
    is_wide = kind.dtype.bitwidth == 64
    vector = ir.VectorType(_DOUBLE if is_wide else ir.FloatType(), LANES)
    loaded = read(builder, vector, address, kind.dtype.bitwidth // 8)
    return loaded if is_wide else builder.fpext(loaded, FLOATS)


def write_lanes(builder: Any, kind: Any, address: Any, value: Any) -> None:
    """Emit a store of eight float64, which are rounded to what `kind` points to."""
    if kind.dtype.bitwidth == 32:
        value = builder.fptrunc(value, ir.VectorType(ir.FloatType(), LANES))
    write(builder, value, address, kind.dtype.bitwidth // 8)


def _pointer(context: Any, a: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.make_array(a)(context, builder, value=args[0]).data

    return types.CPointer(a.dtype)(a), emit


@emitted_by(_pointer)
def pointer(a: Any) -> Any:
    """The address of the first element of a contiguous array."""
    return a.reshape(-1)


def _keep(context: Any, a: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_dummy_value()

    return types.none(a), emit


@emitted_by(_keep)
def keep(a: Any) -> None:
    """Keep an array alive until here, because pointers to it are used above."""


def _aligned(context: Any, p: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        line = _LINE_BITS // 8
        end = builder.add(builder.ptrtoint(args[0], _INT), _INT(line - 1))
        return builder.inttoptr(builder.and_(end, _INT(-line)), args[0].type)

    return p(p), emit


@emitted_by(_aligned)
def aligned(p: Any) -> Any:
    """The pointer to the next start of a cache line, at most 7 float64 further on."""
    return p


def _shifted(context: Any, p: Any, n: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.gep(args[0], [args[1]])

    return p(p, types.intp), emit


@emitted_by(_shifted)
def shifted(p: Any, n: int) -> Any:
    """The pointer n elements further on."""
    return p[n:]


def _rounded(context: Any, p: Any, x: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if p.dtype.bitwidth == 64:
            return args[1]
        return builder.fpext(builder.fptrunc(args[1], ir.FloatType()), _DOUBLE)

    return types.float64(p, types.float64), emit


@emitted_by(_rounded)
def rounded(p: Any, x: float) -> float:
    """x as p would hold it."""
    return float(p.dtype.type(x))


def _splat(context: Any, x: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return broadcast(builder, FLOATS, args[0])

    return LANES_TYPE(types.float64), emit


@emitted_by(_splat)
def splat(x: float) -> Any:
    """The same number in all lanes."""
    return np.full(LANES, x)


def _load(context: Any, p: Any, at: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return read_lanes(builder, p, builder.gep(args[0], [args[1]]))

    return LANES_TYPE(p, types.intp), emit


@emitted_by(_load)
def load(p: Any, at: int) -> Any:
    """Elements at to at + 8."""
    return p[at : at + LANES].astype(np.float64)


def _store(context: Any, p: Any, at: Any, v: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write_lanes(builder, p, builder.gep(args[0], [args[1]]), args[2])
        return context.get_dummy_value()

    return types.none(p, types.intp, v), emit


@emitted_by(_store)
def store(p: Any, at: int, v: Any) -> None:
    """Set elements at to at + 8."""
    p[at : at + LANES] = v


def _per_line(context: Any, p: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _INT(_LINE_BITS // p.dtype.bitwidth)

    return types.int64(p), emit


@emitted_by(_per_line)
def per_line(p: Any) -> int:
    """Elements in a cache line, a constant of the pointer's type."""
    return _LINE_BITS // (8 * int(p.itemsize))


def _prefetched(level: int) -> Callable[..., Any]:
    def typed(context: Any, p: Any, at: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = _BYTE.as_pointer()
            flag = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
            fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
            address = builder.bitcast(builder.gep(args[0], [args[1]]), pointer)
            # A read, by how long it is worth keeping (3 to 0), of data.
            builder.call(fetch, [address, flag(0), flag(4 - level), flag(1)])
            return context.get_dummy_value()

        return types.none(p, types.intp), emit

    return typed


@emitted_by(_prefetched(2))
def prefetch(p: Any, at: int) -> None:
    """Ask for the cache line of element `at`, which may lie past the end, into the second level."""


@emitted_by(_prefetched(1))
def prefetch_near(p: Any, at: int) -> None:
    """As `prefetch`, into the first level."""


def _first(context: Any, m: Any, v: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        index = ir.Constant(_INTS, list(range(LANES)))
        mask = builder.icmp_signed("<", index, broadcast(builder, _INTS, args[0]))
        return builder.select(mask, args[1], repeated(FLOATS, 0.0))

    return LANES_TYPE(types.int64, v), emit


@emitted_by(_first)
def first(m: int, v: Any) -> Any:
    """The first m lanes of v, and 0 in the rest."""
    return np.where(np.arange(LANES) < m, v, 0.0)


def _where(relation: str) -> Callable[..., Any]:
    def typed(context: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.select(builder.fcmp_ordered(relation, *args[:2]), *args[2:])

        return LANES_TYPE(a, b, x, y), emit

    return typed


@emitted_by(_where(">"))
def where_greater(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x in the lanes where a > b, else y."""
    return np.where(a > b, x, y)


@emitted_by(_where("=="))
def where_equal(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x in the lanes where a = b, else y."""
    return np.where(a == b, x, y)


def _all_greater(context: Any, a: Any, b: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        mask = builder.bitcast(builder.fcmp_ordered(">", *args), _BYTE)
        return builder.icmp_unsigned("==", mask, _BYTE(255))

    return types.boolean(a, b), emit


@emitted_by(_all_greater)
def all_greater(a: Any, b: Any) -> bool:
    """Whether a > b in all lanes."""
    return bool(np.all(a > b))


def _where_number(context: Any, a: Any, x: Any, y: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("ord", args[0], args[0]), *args[1:])

    return LANES_TYPE(a, x, y), emit


@emitted_by(_where_number)
def where_number(a: Any, x: Any, y: Any) -> Any:
    """x in the lanes where a is not NaN, else y."""
    return np.where(np.isnan(a), y, x)


def _power_of_two(context: Any, v: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        exponent = builder.fptosi(args[0], _INTS)
        biased = builder.add(exponent, repeated(_INTS, 1023))
        return builder.bitcast(builder.shl(biased, repeated(_INTS, 52)), FLOATS)

    return LANES_TYPE(v), emit


@emitted_by(_power_of_two)
def power_of_two(v: Any) -> Any:
    """2 to the power of v, whole numbers from -1022 to 1023."""
    return np.ldexp(1.0, v.astype(np.int64))
