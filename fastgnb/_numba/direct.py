"""Calls of compiled functions that skip what Numba does around a call.

A call from Python costs more than a short kernel: Numba looks at the type of each argument, and
takes structs apart. `entry_point` returns the compiled variant itself. `call_kernel` lets one
compiled function run the blocks of a kernel that is compiled apart, by its address, so that it is
not compiled again as a part of its caller.

Internals of Numba: `overloads` of what `njit` returns and `entry_point` of a compiled variant, and
its `fndesc.llvm_func_name` and `library.get_pointer_to_function`; `call_conv` and
`get_constant_null` of a target context. Tried on Numba 0.61.0 and 0.68.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import config, typeof, types
from numba.extending import intrinsic

from .threads import Kernel

__all__ = ["BEGINNING", "address_of", "call_kernel", "entry_point", "kernel_address"]

# Of a kernel's loop, see `threads`: first and last block, blocks a fetch, and the counter.
BEGINNING = types.int64, types.int64, types.int64, types.int64[::1]


def entry_point(compiled: Any, *example: Any) -> Callable[..., Any]:
    """The variant of a compiled function for arguments like these, which takes them unchecked.

    Arrays must have the dtypes and dimensions of the example's. Of their layout only the address,
    the shape and the strides come through, so that a column-major array, or a read-only one, may
    stand for a row-major and writable one.
    """
    if config.DISABLE_JIT:
        plain: Callable[..., Any] = compiled
        return plain
    types_of = tuple(typeof(value) for value in example)
    compiled.compile(types_of)
    entry: Callable[..., Any] = compiled.overloads[types_of].entry_point
    return entry


def kernel_address(kernel: Kernel, *example: Any) -> Any:
    """What `call_kernel` takes: the address of a kernel's variant for arguments like these."""
    if config.DISABLE_JIT:
        return kernel.loop
    types_of = (*BEGINNING, *[typeof(value) for value in example])
    kernel.loop.compile(types_of)
    return address_of(kernel.loop.overloads[types_of])


def address_of(compiled: Any) -> int:
    """The address of the machine code of one compiled variant, as Numba's own callers use it."""
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


@intrinsic  # type: ignore[untyped-decorator]
def _call_address(context: Any, address: Any, first: Any, last: Any, args: Any) -> Any:
    """Call a kernel's body for blocks first to last; whether it failed."""
    types_of = [*BEGINNING, *args]

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address, first, last, packed = values
        convention = context.call_conv
        kind = convention.get_function_type(types.none, types_of).as_pointer()
        unpacked = [builder.extract_value(packed, i) for i in range(len(args))]
        entry = builder.inttoptr(address, kind)
        nothing = [context.get_constant_null(each) for each in BEGINNING[2:]]
        status, _ = convention.call_function(
            builder, entry, types.none, types_of, [first, last, *nothing, *unpacked]
        )
        return status.is_error

    return types.boolean(types.int64, types.int64, types.int64, args), emit


def _call_plain(address: Callable[..., None], first: int, last: int, args: Any) -> bool:
    address(first, last, 0, None, *args)
    return False


call_kernel = _call_plain if config.DISABLE_JIT else _call_address
