"""Vectors of sixteen int32, the words, and sums of products of the halves of words.

A word holds two int16, the low and the high half. The sum of the products of both halves of two
words is one instruction on processors with VNNI, and two on others with AVX2. Sums wrap around, so
that what matters is that the last one fits. Memory is read and written through pointers to int32.

With NUMBA_DISABLE_JIT=1 the same functions are plain NumPy.

Internals of Numba and llvmlite: as in `vector_types` and `vectors`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from .singles import SINGLES, SINGLES_TYPE
from .vector_types import VectorType, broadcast, emitted_by, read, repeated, write
from .vectors import FLOATS, LANES_TYPE

__all__ = [
    "add_products",
    "as_words",
    "counted",
    "distance",
    "load_words",
    "paired",
    "splat_word",
    "store_words",
    "where_word_greater",
]

_HALVES = 2 * SINGLES
_WORD, _SHORT, _FLOAT = ir.IntType(32), ir.IntType(16), ir.FloatType()
_VECTOR = ir.VectorType(_WORD, SINGLES)
_SHORTS, _PRODUCTS = ir.VectorType(_SHORT, _HALVES), ir.VectorType(_WORD, _HALVES)
# Added to a number below 2^22, this leaves its nearest whole number in the low bits.
_ROUNDER = 1.5 * 2.0**23
_LOWEST = -(1 << 15)


WORDS_TYPE = VectorType("Words", _VECTOR)


def _as_words(context: Any, p: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], _WORD.as_pointer())

    return types.CPointer(types.int32)(p), emit


@emitted_by(_as_words)
def as_words(p: Any) -> Any:
    """The pointer to the same memory as int32, two for each float64."""
    return p.view(np.int32)


def _splat_word(context: Any, x: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = args[0]
        if x.bitwidth > _WORD.width:
            value = builder.trunc(value, _WORD)
        return broadcast(builder, _VECTOR, value)

    return WORDS_TYPE(x), emit


@emitted_by(_splat_word)
def splat_word(x: int) -> Any:
    """The same word in all lanes."""
    return np.full(SINGLES, x, np.int32)


def _load_words(context: Any, p: Any, at: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return read(builder, _VECTOR, builder.gep(args[0], [args[1]]), 4)

    return WORDS_TYPE(p, types.intp), emit


@emitted_by(_load_words)
def load_words(p: Any, at: int) -> Any:
    """Elements at to at + 16."""
    return p[at : at + SINGLES].copy()


def _store_words(context: Any, p: Any, at: Any, v: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write(builder, args[2], builder.gep(args[0], [args[1]]), 4)
        return context.get_dummy_value()

    return types.none(p, types.intp, v), emit


@emitted_by(_store_words)
def store_words(p: Any, at: int, v: Any) -> None:
    """Set elements at to at + 16."""
    p[at : at + SINGLES] = v


def _paired(context: Any, x: Any, y: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.VectorType(_FLOAT, SINGLES)
        x = builder.fadd(args[0], repeated(kind, _ROUNDER))
        y = builder.fadd(args[1], repeated(kind, _ROUNDER + _LOWEST))
        low = builder.and_(builder.bitcast(x, _VECTOR), repeated(_VECTOR, 0xFFFF))
        high = builder.shl(builder.bitcast(y, _VECTOR), repeated(_VECTOR, 16))
        return builder.or_(low, high)

    return WORDS_TYPE(x, y), emit


@emitted_by(_paired)
def paired(x: Any, y: Any) -> Any:
    """Words of x and y - 2^15, rounded to int16; beyond its range they mean nothing."""
    with np.errstate(all="ignore"):
        low = (x + np.float32(_ROUNDER)).view(np.int32)
        high = (y + np.float32(_ROUNDER + _LOWEST)).view(np.int32)
    return low & np.int32(0xFFFF) | high << np.int32(16)


def _add_products(context: Any, total: Any, a: Any, b: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total, a, b = args
        wide = [builder.sext(builder.bitcast(v, _SHORTS), _PRODUCTS) for v in (a, b)]
        products = builder.mul(*wide)
        none = ir.Constant(_PRODUCTS, ir.Undefined)
        low, high = (
            builder.shuffle_vector(
                products, none, ir.Constant(_VECTOR, list(range(half, _HALVES, 2)))
            )
            for half in (0, 1)
        )
        return builder.add(total, builder.add(low, high))

    return WORDS_TYPE(total, a, b), emit


@emitted_by(_add_products)
def add_products(total: Any, a: Any, b: Any) -> Any:
    """The total plus the products of both halves of a and b, modulo 2^32."""
    products = a.view(np.int16).astype(np.int64) * b.view(np.int16)
    return (total + products[::2] + products[1::2]).astype(np.int32)


def _where_word_greater(context: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, b, x, y = args
        return builder.select(builder.icmp_signed(">", a, b), x, y)

    return WORDS_TYPE(a, b, x, y), emit


@emitted_by(_where_word_greater)
def where_word_greater(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x in the lanes where a > b, else y."""
    return np.where(a > b, x, y)


def _distance(context: Any, a: Any, b: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sitofp(builder.sub(*args), ir.VectorType(_FLOAT, SINGLES))

    return SINGLES_TYPE(a, b), emit


@emitted_by(_distance)
def distance(a: Any, b: Any) -> Any:
    """a - b modulo 2^32, as float32."""
    return (a.astype(np.int64) - b).astype(np.int32).astype(np.float32)


def _counted(context: Any, first: Any, v: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        count, v = args
        half = SINGLES // 2
        whole = ir.VectorType(ir.IntType(64), half)
        start = broadcast(builder, whole, count)
        parts = []
        for low in (0, half):
            mask = ir.Constant(ir.VectorType(_WORD, half), list(range(low, low + half)))
            part = builder.sext(builder.shuffle_vector(v, v, mask), whole)
            parts.append(builder.bitcast(builder.add(part, start), FLOATS))
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(LANES_TYPE, 2)(types.int64, v), emit


@emitted_by(_counted)
def counted(first: int, v: Any) -> Any:
    """first + v as int64, the bits of two vectors of eight float64."""
    whole = (first + v.astype(np.int64)).view(np.float64)
    return whole[: SINGLES // 2], whole[SINGLES // 2 :]
