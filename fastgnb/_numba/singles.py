"""Vectors of sixteen float32, for kernels that bound the error of what they compute.

They have `+`, `-` and `*`, as those of `vectors` have, and lie in one register of 512 bits, two of
256 or four of 128. Memory is read and written through pointers to contiguous float32. A product
and the sum that it goes into may be fused, or not: bounds have to hold either way.

With NUMBA_DISABLE_JIT=1 the same functions are plain NumPy in float32.

Internals of Numba and llvmlite: as in `vector_types` and `vectors`.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from .vector_types import (
    VectorType,
    broadcast,
    define_operator,
    emitted_by,
    exchanged,
    read,
    write,
)
from .vectors import read_lanes

__all__ = [
    "SINGLES",
    "any_greater",
    "as_singles",
    "centred",
    "centred_columns",
    "greater_mask",
    "load_singles",
    "splat_single",
    "store_singles",
    "where_single_greater",
]

SINGLES = 16

_FLOAT, _BITS = ir.FloatType(), ir.IntType(SINGLES)
_VECTOR = ir.VectorType(_FLOAT, SINGLES)

SINGLES_TYPE = VectorType("Singles", _VECTOR)

define_operator(SINGLES_TYPE, operator.add, "fadd")
define_operator(SINGLES_TYPE, operator.sub, "fsub")
define_operator(SINGLES_TYPE, operator.mul, "fmul")


def _as_singles(context: Any, p: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], _FLOAT.as_pointer())

    return types.CPointer(types.float32)(p), emit


@emitted_by(_as_singles)
def as_singles(p: Any) -> Any:
    """The pointer to the same memory as float32, two for each float64."""
    return p.view(np.float32)


_HALF = ir.VectorType(_FLOAT, SINGLES // 2)


def _join(builder: Any, low: Any, high: Any) -> Any:
    mask = ir.Constant(ir.VectorType(ir.IntType(32), SINGLES), list(range(SINGLES)))
    return builder.shuffle_vector(low, high, mask)


def _less(builder: Any, kind: Any, low: Any, high: Any, centre: Any) -> Any:
    """Emit two vectors of eight numbers, by their addresses, less eight of `centre`, as float32.

    Differences are computed in the type of the numbers.
    """
    if kind.dtype.bitwidth == 32:
        middle, size = builder.fptrunc(centre, _HALF), 4
        pair = [read(builder, _HALF, address, size) for address in (low, high)]
        return builder.fsub(_join(builder, *pair), _join(builder, middle, middle))
    pair = [builder.fsub(read_lanes(builder, kind, each), centre) for each in (low, high)]
    return _join(builder, *(builder.fptrunc(each, _HALF) for each in pair))


def _centred(context: Any, p: Any, at: Any, centre: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        low = builder.gep(args[0], [args[1]])
        high = builder.gep(low, [ir.IntType(64)(SINGLES // 2)])
        return _less(builder, p, low, high, args[2])

    return SINGLES_TYPE(p, types.intp, centre), emit


@emitted_by(_centred)
def centred(p: Any, at: int, centre: Any) -> Any:
    """Elements at to at + 16 less `centre`, eight equal numbers, as `centred_columns`."""
    with np.errstate(over="ignore", invalid="ignore"):
        return (p[at : at + SINGLES] - centre[:1].astype(p.dtype)).astype(np.float32)


def _centred_columns(context: Any, p: Any, at: Any, step: Any, centre: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address, at, step, centre = args
        rows, half = [builder.gep(address, [at])], SINGLES // 2
        for _ in range(SINGLES - 1):
            rows.append(builder.gep(rows[-1], [step]))
        vectors = [_less(builder, p, rows[i], rows[half + i], centre) for i in range(half)]
        for reach in (4, 2, 1):
            vectors = exchanged(builder, vectors, reach)
        return context.make_tuple(builder, signature.return_type, vectors)

    kind = types.UniTuple(SINGLES_TYPE, SINGLES // 2)
    return kind(p, types.intp, types.intp, centre), emit


@emitted_by(_centred_columns)
def centred_columns(p: Any, at: int, step: int, centre: Any) -> Any:
    """Eight vectors: lane i of the j-th is p[at + i step + j] - centre[j], rounded to float32.

    Of float32 the difference is one of float32, too, in which `centre` has to be exact.
    """
    i, j = np.arange(SINGLES)[:, None], np.arange(SINGLES // 2)
    with np.errstate(over="ignore", invalid="ignore"):
        rows = p[at + i * step + j] - centre.astype(p.dtype)
        return tuple(rows.T.astype(np.float32))


def _splat_single(context: Any, x: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = args[0]
        if x.bitwidth == 64:
            value = builder.fptrunc(value, _FLOAT)
        return broadcast(builder, _VECTOR, value)

    return SINGLES_TYPE(x), emit


@emitted_by(_splat_single)
def splat_single(x: float) -> Any:
    """The same number, rounded to float32, in all lanes."""
    return np.full(SINGLES, x, np.float32)


def _load_singles(context: Any, p: Any, at: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return read(builder, _VECTOR, builder.gep(args[0], [args[1]]), 4)

    return SINGLES_TYPE(p, types.intp), emit


@emitted_by(_load_singles)
def load_singles(p: Any, at: int) -> Any:
    """Elements at to at + 16."""
    return p[at : at + SINGLES].copy()


def _store_singles(context: Any, p: Any, at: Any, v: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write(builder, args[2], builder.gep(args[0], [args[1]]), 4)
        return context.get_dummy_value()

    return types.none(p, types.intp, v), emit


@emitted_by(_store_singles)
def store_singles(p: Any, at: int, v: Any) -> None:
    """Set elements at to at + 16."""
    p[at : at + SINGLES] = v


def _where_single_greater(context: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, b, x, y = args
        return builder.select(builder.fcmp_ordered(">", a, b), x, y)

    return x(a, b, x, y), emit


@emitted_by(_where_single_greater)
def where_single_greater(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x in the lanes where a > b, else y: both singles, or both words."""
    return np.where(a > b, x, y)


def _greater_mask(context: Any, a: Any, b: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        mask = builder.bitcast(builder.fcmp_ordered(">", *args), _BITS)
        return builder.zext(mask, ir.IntType(64))

    return types.int64(a, b), emit


@emitted_by(_greater_mask)
def greater_mask(a: Any, b: Any) -> int:
    """A bit for each lane, the first the lowest, that is set where a > b."""
    return int(np.sum((a > b).astype(np.int64) << np.arange(SINGLES)))


def _any_greater(context: Any, a: Any, b: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        mask = builder.bitcast(builder.fcmp_ordered(">", *args), _BITS)
        return builder.icmp_unsigned("!=", mask, _BITS(0))

    return types.boolean(a, b), emit


@emitted_by(_any_greater)
def any_greater(a: Any, b: Any) -> bool:
    """Whether a > b in any lane."""
    return bool(np.any(a > b))
