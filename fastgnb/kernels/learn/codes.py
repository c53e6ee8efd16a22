"""Codes of rows as kernels read them: stored, or looked up as each tile comes.

Flags: FMA contraction only; there is no arithmetic here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._numba.decorators import llvm_inlined
from ..._numba.vectors import per_line, pointer, prefetch, shifted


class Codes(NamedTuple):
    """Pointers to what `EncodedLabels` holds, and scratch for the codes of a tile."""

    has_lookup: bool
    values: Any
    offset: int
    lookup: Any
    stored: Any
    scratch: Any


@llvm_inlined
def codes_of(labels, scratch):
    """The codes of `EncodedLabels`, with scratch for those of the longest tile."""
    return Codes(
        len(labels.values) > 0, pointer(labels.values), labels.offset, pointer(labels.lookup),
        pointer(labels.stored), pointer(scratch),
    )  # fmt: skip


@llvm_inlined
def code(codes, i):
    """The code of row i."""
    if codes.has_lookup:
        return codes.lookup[codes.values[i] - codes.offset]
    return codes.stored[i]


@llvm_inlined
def codes_of_tile(codes, at, m):
    """A pointer to the codes of rows at to at + m."""
    if codes.has_lookup:
        for i in range(m):
            codes.scratch[i] = codes.lookup[codes.values[at + i] - codes.offset]
        return codes.scratch
    return shifted(codes.stored, at)


@llvm_inlined
def fetch_codes(codes, at, m):
    """Fetch the codes of rows at to at + m, which may be past the end, from memory."""
    if codes.has_lookup:
        for i in range(at, at + m, per_line(codes.values)):
            prefetch(codes.values, i)
    else:
        for i in range(at, at + m, 16):
            prefetch(codes.stored, i)
