"""Transposes of eight rows of eight numbers, in vector registers.

Internals of Numba: as in `vectors`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from .vectors import LANES, LANES_TYPE, emitted_by, read_lanes, write_lanes

__all__ = ["columns", "transpose"]

_INT = ir.IntType(64)


def _transpose(context: Any, p: Any, at: Any, step: Any, q: Any, to: Any, stride: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source, at, step, target, to, stride = args
        target = builder.gep(target, [to])
        rows = _rows(builder, p, builder.gep(source, [at]), step)
        for i, column in enumerate(_transposed(builder, rows)):
            write_lanes(builder, q, builder.gep(target, [builder.mul(stride, _INT(i))]), column)
        return context.get_dummy_value()

    return types.none(p, types.intp, types.intp, q, types.intp, types.intp), emit


def _rows(builder: Any, kind: Any, address: Any, step: Any) -> list[Any]:
    starts = [builder.gep(address, [builder.mul(step, _INT(i))]) for i in range(LANES)]
    return [read_lanes(builder, kind, start) for start in starts]


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """An 8 x 8 matrix of registers by three rounds of exchanges of halves of ever smaller parts."""
    for reach in (4, 2, 1):
        exchanged = list(rows)
        for i in range(LANES):
            if i % (2 * reach) < reach:
                # Positions in the first row of a pair, and after its eight in the second.
                low = [j if j % (2 * reach) < reach else LANES + j - reach for j in range(LANES)]
                for row, shift in ((i, 0), (i + reach, reach)):
                    mask = ir.Constant(
                        ir.VectorType(ir.IntType(32), LANES), [j + shift for j in low]
                    )
                    exchanged[row] = builder.shuffle_vector(rows[i], rows[i + reach], mask)
        rows = exchanged
    return rows


@emitted_by(_transpose)
def transpose(p: Any, at: int, step: int, q: Any, to: int, stride: int) -> None:
    """Set q[to + j stride + i] = p[at + i step + j] for i and j in 0..7, j by j."""
    for j in range(LANES):
        q[to + j * stride :][:LANES] = p[at + j + step * np.arange(LANES)]


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
