"""Transposes of eight rows of eight or four numbers, in vector registers.

Internals of Numba: as in `vector_types` and `vectors`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from .vector_types import emitted_by, exchanged, read
from .vectors import FLOATS, LANES, LANES_TYPE, read_lanes, write_lanes

__all__ = ["columns", "four_columns", "transpose", "transpose_some"]

_INT = ir.IntType(64)


def _transpose(context: Any, p: Any, at: Any, step: Any, q: Any, to: Any, stride: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source, at, step, target, to, stride = args
        rows = _rows(builder, p, builder.gep(source, [at]), step)
        _write(builder, q, builder.gep(target, [to]), stride, _transposed(builder, rows))
        return context.get_dummy_value()

    return types.none(p, types.intp, types.intp, q, types.intp, types.intp), emit


def _transpose_some(
    context: Any, p: Any, at: Any, step: Any, n: Any, q: Any, to: Any, stride: Any
) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source, at, step, n, target, to, stride = args
        rows = _rows(builder, p, builder.gep(source, [at]), step, n)
        _write(builder, q, builder.gep(target, [to]), stride, _transposed(builder, rows))
        return context.get_dummy_value()

    return types.none(p, types.intp, types.intp, types.intp, q, types.intp, types.intp), emit


def _rows(builder: Any, kind: Any, address: Any, step: Any, n: Any = None) -> list[Any]:
    """Eight rows; in place of those from n on, the one before."""
    rows = []
    for i in range(LANES):
        number = _INT(i)
        if n is not None:
            last = builder.sub(n, _INT(1))
            number = builder.select(builder.icmp_signed("<", number, n), number, last)
        rows.append(read_lanes(builder, kind, builder.gep(address, [builder.mul(step, number)])))
    return rows


def _write(builder: Any, kind: Any, target: Any, stride: Any, rows: list[Any]) -> None:
    for i, row in enumerate(rows):
        write_lanes(builder, kind, builder.gep(target, [builder.mul(stride, _INT(i))]), row)


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """An 8 x 8 matrix of registers by three rounds of exchanges of halves of ever smaller parts."""
    for reach in (4, 2, 1):
        rows = exchanged(builder, rows, reach)
    return rows


@emitted_by(_transpose)
def transpose(p: Any, at: int, step: int, q: Any, to: int, stride: int) -> None:
    """Set q[to + j stride + i] = p[at + i step + j] for i and j in 0..7, j by j."""
    for j in range(LANES):
        q[to + j * stride :][:LANES] = p[at + j + step * np.arange(LANES)]


@emitted_by(_transpose_some)
def transpose_some(p: Any, at: int, step: int, n: int, q: Any, to: int, stride: int) -> None:
    """As `transpose` of rows i < n; the last of them stands in for those from n on."""
    for j in range(LANES):
        rows = np.minimum(np.arange(LANES), n - 1)
        q[to + j * stride :][:LANES] = p[at + j + step * rows]


def _columns(context: Any, p: Any, at: Any, step: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address, at, step = args
        rows = _rows(builder, p, builder.gep(address, [at]), step)
        return context.make_tuple(builder, signature.return_type, _transposed(builder, rows))

    return types.UniTuple(LANES_TYPE, LANES)(p, types.intp, types.intp), emit


@emitted_by(_columns)
def columns(p: Any, at: int, step: int) -> Any:
    """Eight lanes: lane i of the j-th is p[at + i step + j]."""
    i, j = np.arange(LANES)[:, None], np.arange(LANES)
    return tuple(p[at + i * step + j].T.astype(np.float64))


def _four_columns(context: Any, p: Any, at: Any, step: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address, at, step = args
        rows = _half_rows(builder, p, builder.gep(address, [at]), step)
        gather = _four_of_doubles if p.dtype.bitwidth == 64 else _four_of_singles
        return context.make_tuple(builder, signature.return_type, gather(builder, rows))

    return types.UniTuple(LANES_TYPE, 4)(p, types.intp, types.intp), emit


def _half_rows(builder: Any, kind: Any, address: Any, step: Any) -> list[Any]:
    """Emit loads of four numbers, not widened, of each of eight rows."""
    size = kind.dtype.bitwidth // 8
    vector = ir.VectorType(ir.DoubleType() if size == 8 else ir.FloatType(), 4)
    starts = [builder.gep(address, [builder.mul(step, _INT(i))]) for i in range(LANES)]
    return [read(builder, vector, start, size) for start in starts]


def _shuffled(builder: Any, a: Any, b: Any, mask: Any) -> Any:
    places = list(mask)
    return builder.shuffle_vector(
        a, b, ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)
    )


def _four_of_doubles(builder: Any, rows: list[Any]) -> list[Any]:
    """Rows are joined while they are loaded, in the order in which two rounds of exchanges within
    and of quarters of a register leave lanes sorted: eight shuffles, where `_transposed` takes
    twelve for four columns."""
    joined = [
        _shuffled(builder, rows[i], rows[j], range(8)) for i, j in ((0, 2), (1, 3), (4, 6), (5, 7))
    ]
    columns = []
    for parity in (0, 1):
        mask = [8 * (i % 2) + i // 2 * 2 + parity for i in range(8)]
        low, high = (_shuffled(builder, joined[i], joined[i + 1], mask) for i in (0, 2))
        for quarter in (0, 2):
            mask = [4 * i + quarter + j for i in range(4) for j in range(2)]
            columns.append(_shuffled(builder, low, high, mask))
    return [columns[i] for i in (0, 2, 1, 3)]


def _four_of_singles(builder: Any, rows: list[Any]) -> list[Any]:
    """Two rounds of exchanges within halves of registers that hold two rows, then four
    conversions, where a row at a time takes eight."""
    joined = [_shuffled(builder, rows[i], rows[i + 4], range(8)) for i in range(4)]
    columns = []
    for start in (0, 2):
        mask = [4 * half + start + 8 * row + j for half in (0, 1) for j in (0, 1) for row in (0, 1)]
        low, high = (_shuffled(builder, joined[i], joined[i + 1], mask) for i in (0, 2))
        for pair in (0, 2):
            mask = [
                4 * half + pair + 8 * row + j for half in (0, 1) for row in (0, 1) for j in (0, 1)
            ]
            columns.append(builder.fpext(_shuffled(builder, low, high, mask), FLOATS))
    return columns


@emitted_by(_four_columns)
def four_columns(p: Any, at: int, step: int) -> Any:
    """Four lanes: lane i of the j-th is p[at + i step + j]."""
    i, j = np.arange(LANES)[:, None], np.arange(4)
    return tuple(p[at + i * step + j].T.astype(np.float64))
