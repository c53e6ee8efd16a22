"""What all kinds of vectors in registers share: their types, operators, and how they are emitted.

A kind is one `VectorType`: `vectors` has eight float64, `singles` sixteen float32, and `words`
sixteen int32. Functions here that take a builder emit LLVM's instructions.

Internals of Numba: `models.PrimitiveModel`, `type_callable`, `lower_builtin`. Internals of
llvmlite: typed pointers (`as_pointer`, `bitcast`), `align` of loads and stores, flags of
arithmetic. Tried on Numba 0.61.0 with llvmlite 0.44.0, and on Numba 0.68.1 with llvmlite 0.50.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

__all__ = [
    "VectorType",
    "broadcast",
    "define_operator",
    "emitted_by",
    "exchanged",
    "read",
    "repeated",
    "write",
]

_INDEX = ir.IntType(32)
# A product and the sum it goes into may become one fused multiply-add.
_FLAGS = ("contract",)


class VectorType(types.Type):  # type: ignore[misc]
    """Numba's type of a vector; `vector` is LLVM's."""

    def __init__(self, name: str, vector: Any) -> None:
        super().__init__(name)
        self.vector = vector


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, of: Any) -> None:
        super().__init__(manager, of, of.vector)


def define_operator(kind: VectorType, operation: Callable[..., Any], instruction: str) -> None:
    """Let an operator of two vectors of floats emit an instruction."""

    def typed(context: Any) -> Callable[..., Any]:
        return lambda a, b: kind if a is kind and b is kind else None

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args, flags=_FLAGS)

    type_callable(operation)(typed)
    lower_builtin(operation, kind, kind)(emit)


def emitted_by(typed: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function as what `typed` emits, unless compilation is switched off."""

    def choose(plain: Callable[..., Any]) -> Callable[..., Any]:
        chosen: Callable[..., Any] = plain if config.DISABLE_JIT else intrinsic(typed)
        return chosen

    return choose


def repeated(vector: Any, value: Any) -> Any:
    """The constant of a vector that has the same value in all lanes."""
    return ir.Constant(vector, [value] * vector.count)


def broadcast(builder: Any, vector: Any, value: Any) -> Any:
    """Emit a vector that has the same value in all lanes."""
    none = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(none, value, _INDEX(0))
    return builder.shuffle_vector(one, none, repeated(ir.VectorType(_INDEX, vector.count), 0))


def read(builder: Any, vector: Any, address: Any, size: int) -> Any:
    """Emit a load of a vector of elements of so many bytes, at any address of an element."""
    return builder.load(builder.bitcast(address, vector.as_pointer()), align=size)


def write(builder: Any, value: Any, address: Any, size: int) -> None:
    """Emit a store of a vector, as `read`."""
    builder.store(value, builder.bitcast(address, value.type.as_pointer()), align=size)


def exchanged(builder: Any, vectors: list[Any], reach: int) -> list[Any]:
    """Emit exchanges of parts of `reach` lanes between vectors that are as far apart.

    Eight vectors of eight lanes are transposed by reaches of 4, 2 and 1; of sixteen lanes, both
    halves are, each by itself.
    """
    out, lanes = list(vectors), vectors[0].type.count
    # Positions in the first of a pair of vectors, and after its lanes in the second.
    low = [j if j % (2 * reach) < reach else lanes + j - reach for j in range(lanes)]
    for i in range(len(vectors)):
        if i % (2 * reach) < reach:
            for row, shift in ((i, 0), (i + reach, reach)):
                mask = ir.Constant(ir.VectorType(_INDEX, lanes), [j + shift for j in low])
                out[row] = builder.shuffle_vector(vectors[i], vectors[i + reach], mask)
    return out
