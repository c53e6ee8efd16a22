"""How kernels are compiled and run: options, threads, the cache.

A kernel is written once as a loop over a range of independent blocks, and compiled once per
argument types. Small work runs as that loop; for larger work one parallel loop, which is the same
for all kernels, calls the compiled kernel by its address for one block at a time. Both give the
same bits, because blocks are cut by the shape of the data and merged in block order.

The address, and not a call that Numba links, is what makes compiling fast: LLVM would optimise
all that a parallel function is linked with again, three times over.

Whatever comes in, kernels see C order, native and read-only, float32 or float64 rows, float64
weights and statistics, int64 labels or their words. So there are 16 variants in all, which
`compile_examples` compiles: of eight kernels one each, of those that read rows (`_sum_blocks`,
`_score`) a second one for float32, and six of the parallel loop, one for each variant that it runs.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numba
import numpy as np
from numba import config, njit, prange, typeof, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ._cache import Entries, Key, digest_of_files

__all__ = [
    "Kernel",
    "compile_examples",
    "example",
    "frozen",
    "helper",
    "inlined",
    "kernel",
    "n_compiled",
    "n_threads",
    "serial_kernel",
    "spliced",
]

# FMA contraction only: it keeps NaN and infinity, and unlike reassociation it does not delete the
# low-order terms of two-sum. Loops that matter are written in vectors, see `_lanes`.
_OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}

# Settings of Numba's that change machine code, which its own cache does not look at.
_CODE_OPTIONS = (
    "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT",
)  # fmt: skip

# Elementary operations below which starting threads costs more than it saves.
PARALLEL_WORK = 200_000

_KERNELS: list[Kernel] = []
_SERIAL: list[Any] = []
_EXAMPLES: list[Callable[[], None]] = []
_parallel_slot = threading.Lock()
_is_forked = False
_is_warned = False
_is_warming = False


def _note_fork() -> None:
    # OpenMP's threads do not survive a fork: a child that enters a parallel kernel is killed.
    global _is_forked, _parallel_slot
    _is_forked = True
    _parallel_slot = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def helper(body: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that only kernels call; it lives in their cache entries."""
    compiled: Callable[..., Any] = njit(**_OPTIONS)(body)
    return compiled


def inlined(body: Callable[..., Any]) -> Callable[..., Any]:
    """As `helper`, and part of its caller: for short steps that must stay in registers."""
    compiled: Callable[..., Any] = njit(**_OPTIONS, forceinline=True)(body)
    return compiled


def spliced(body: Callable[..., Any]) -> Callable[..., Any]:
    """As `helper`, and part of its caller before it is compiled: for a step that has one caller.

    LLVM optimises each function of its own again at every level that it is linked into.
    """
    compiled: Callable[..., Any] = njit(**_OPTIONS, inline="always")(body)
    return compiled


def kernel(body: Callable[..., None]) -> Kernel:
    """Make a `Kernel` of `body(first, last, *args)`, which works on blocks first to last."""
    return Kernel(body)


def serial_kernel(body: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that is serial by nature, and that Python calls."""
    compiled: Callable[..., Any] = _compile(body, parallel=False)
    _SERIAL.append(compiled)
    return compiled


class Kernel:
    """A loop over blocks, compiled lazily per argument types, that threads may share.

    Calling it takes the number of blocks, the body's arguments and the keyword `work`, the number
    of elementary operations, which decides whether threads are started. They also need more than
    one thread, a process that was not forked from one with threads, and that no other Python thread
    is inside one of our parallel loops: Numba's `workqueue` layer aborts the process when two
    enter at once, and with the other layers they would compete for the same cores.
    """

    def __init__(self, body: Callable[..., None]) -> None:
        self.name = body.__name__
        self.body = _compile(body, parallel=False)
        self._addresses: dict[tuple[Any, ...], int] = {}
        _KERNELS.append(self)

    def __call__(self, n_blocks: int, *args: Any, work: int) -> None:
        small = work < PARALLEL_WORK or n_blocks < 2 or n_threads() < 2
        if config.DISABLE_JIT or _is_forked or (small and not _is_warming):
            self.body(0, n_blocks, *args)
            return
        if _is_warming:
            self.body(0, n_blocks, *args)
        slot = _parallel_slot
        if not slot.acquire(blocking=False):
            self.body(0, n_blocks, *args)
            return
        try:
            self._run_parallel(n_blocks, args)
        finally:
            slot.release()

    def _run_parallel(self, n_blocks: int, args: tuple[Any, ...]) -> None:
        failed = np.zeros(1, np.int64)
        _drive(self._address(args), n_blocks, args, failed)
        if failed[0]:
            raise MemoryError(f"The kernel {self.name} found no memory for its scratch.")

    def _address(self, args: tuple[Any, ...]) -> int:
        """Where the body's machine code for these arguments lies; compiles or loads it at first.

        Arrays at one place in a kernel's arguments differ in nothing but their dtype.
        """
        key = tuple([getattr(value, "dtype", None) for value in args])
        if key not in self._addresses:
            types_of = tuple(typeof(value) for value in (0, 0, *args))
            self.body.compile(types_of)
            compiled = self.body.overloads[types_of]
            entry = compiled.fndesc.llvm_func_name
            self._addresses[key] = compiled.library.get_pointer_to_function(entry)
        return self._addresses[key]


@intrinsic  # type: ignore[untyped-decorator]
def _call(context: Any, address: Any, block: Any, args: Any) -> Any:
    """Call a kernel's body, compiled for these types, for one block; whether it failed."""
    types_of = [types.int64, types.int64, *args]

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address, block, packed = values
        convention = context.call_conv
        kind = convention.get_function_type(types.none, types_of).as_pointer()
        following = builder.add(block, block.type(1))
        unpacked = [builder.extract_value(packed, i) for i in range(len(args))]
        entry = builder.inttoptr(address, kind)
        status, _ = convention.call_function(
            builder, entry, types.none, types_of, [block, following, *unpacked]
        )
        return status.is_error

    return types.boolean(types.int64, types.int64, args), emit


def _drive_blocks(address, n_blocks, args, failed):  # type: ignore[no-untyped-def]
    for block in prange(n_blocks):
        if _call(address, block, args):
            failed[0] = 1


def n_threads() -> int:
    """Threads that a parallel kernel called now from this Python thread may use.

    0 where Numba finds no threading layer, or not the one that its settings ask for.
    """
    try:
        return int(numba.get_num_threads())
    except (ValueError, ImportError) as error:
        _warn_once(
            "fastgnb runs on one thread, because Numba cannot start more: "
            f"{' '.join(str(error).split())}"
        )
        return 0


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: writable and read-only input are then one type, compiled once."""
    view = array.view()
    view.flags.writeable = False
    return view


def example(call: Callable[[], None]) -> Callable[[], None]:
    """Register a call that compiles variants of kernels, for warming up."""
    _EXAMPLES.append(call)
    return call


def compile_examples() -> int:
    """Run all examples of the kernels imported so far, also in parallel; count variants."""
    global _is_warming
    _is_warming = not config.DISABLE_JIT and n_threads() > 0
    try:
        for call in _EXAMPLES:
            call()
    finally:
        _is_warming = False
    return n_compiled()


def n_compiled() -> int:
    """Variants compiled in, or loaded into, this process so far."""
    compiled = [each.body for each in _KERNELS] + _SERIAL + [_drive]
    return sum(len(getattr(one, "overloads", ())) for one in compiled)


def _compile(body: Callable[..., Any], *, parallel: bool) -> Any:
    compiled = njit(**_OPTIONS, parallel=parallel)(body)
    if not config.DISABLE_JIT:
        _attach_cache(compiled, body)
    return compiled


def _attach_cache(dispatcher: Any, body: Callable[..., Any]) -> None:
    """Cache on disk where that works; a cache that fails never reaches the user.

    Numba finds the folder, and raises at decoration where none is writable. What lies there is
    ours, see `_cache`. Compiling again is always a right answer, so that an entry that cannot be
    loaded is no more than one that is not there; one that cannot be saved is worth a warning.
    """
    from numba.core.caching import CompileResultCacheImpl, FunctionCache
    from numba.core.serialize import dumps

    class Finder(CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes: ClassVar[list[Any]] = [
            each
            for each in CompileResultCacheImpl._locator_classes
            if _has_home() or not each.__name__.endswith("UserWideCacheLocator")
        ]

    class GuardedCache(FunctionCache):  # type: ignore[misc]
        _impl_class = Finder

        def __init__(self, body: Callable[..., Any]) -> None:
            super().__init__(body)
            python = f"{sys.implementation.cache_tag}.opt-{sys.flags.optimize}"
            name = f"{body.__module__}.{body.__name__}.{python}"
            self._cache_file = Entries(Path(self.cache_path), name, dumps)
            self._origin = _origin()

        def _index_key(self, sig: Any, codegen: Any) -> Key:
            types_of, processor, code = super()._index_key(sig, codegen)
            options = [str(getattr(config, name, None)) for name in _CODE_OPTIONS]
            return Key(repr((types_of, processor)), repr((self._origin, code, options)))

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)
            except Exception:
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                super().save_overload(sig, data)
            except Exception as error:
                _warn_of_cache(error)

    try:
        dispatcher._cache = GuardedCache(body)
    except (RuntimeError, OSError) as error:
        _warn_of_cache(error)


def _has_home() -> bool:
    """Whether a user's folder is known; else Numba makes one named `~` in the current folder."""
    return os.path.isabs(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~"))


@functools.cache
def _origin() -> tuple[str, ...]:
    """All that compiled code is made from, besides the kernel's own bytecode and types.

    Numba looks at the kernel's own file only, and its helpers stand in others too.
    """
    here = Path(__file__).parent
    files = [Path(__file__), here / "_lanes.py", *sorted((here / "kernels").glob("*.py"))]
    return sys.version, numba.__version__, np.__version__, digest_of_files(files)


def _warn_of_cache(error: Exception) -> None:
    _warn_once(
        f"fastgnb compiles its kernels in each process, because Numba's cache cannot be used: "
        f"{error}. Set NUMBA_CACHE_DIR to a writable folder to keep them."
    )


def _warn_once(text: str) -> None:
    global _is_warned
    if not _is_warned:
        _is_warned = True
        warnings.warn(text, RuntimeWarning, stacklevel=2)


_drive = _compile(_drive_blocks, parallel=True)
