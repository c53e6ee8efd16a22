"""Loads whose numbers nobody needs: they bring cache lines, where a prefetch may be dropped.

Internals of llvmlite: inline assembly by `asm` of a builder. Tried on llvmlite 0.44.0 and 0.50.0.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from .vector_types import emitted_by

__all__ = ["touch"]


def _touch(context: Any, p: Any, at: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.IntType(p.dtype.bitwidth)
        address = builder.bitcast(builder.gep(args[0], [args[1]]), kind.as_pointer())
        # Empty code that takes the number keeps the load.
        use = ir.FunctionType(ir.VoidType(), [kind])
        builder.asm(use, "", "r", [builder.load(address)], side_effect=True)
        return context.get_dummy_value()

    return types.none(p, types.intp), emit


@emitted_by(_touch)
def touch(p: Any, at: int) -> None:
    """Read element `at`, so that its cache line comes however many others are on their way."""
