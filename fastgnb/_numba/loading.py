"""Compiled code to bytes and back, without what Numba imports before it compiles.

Numba prepares its compiler before it loads code from a cache: it imports its implementations of all
functions of NumPy, with SciPy's linear algebra, and whatever other packages register. That takes
longer than all else before a first answer. Machine code needs none of it, only the addresses of the
functions of C that it calls. An entry holds their names, and where one is not known, Numba prepares
its compiler after all.

An entry has no bitcode either, by which functions are linked into others: nothing calls a kernel
but by its address.

Internals of Numba: the fields of `CompileResult`, its `_find_referenced_environments` and what its
`_rebuild` takes and uses; `create_library`, `_engine` and its `_defined_symbols` of a code
generator; of `JITCodeLibrary` the methods used below; `c_helpers` of the runtime; `refresh` of a
target context; `_compilation_chain_init_hook` of what `njit` returns. Tried on Numba 0.61.0 and
0.68.1.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from llvmlite import binding
from numba.core.compiler import CompileResult
from numba.core.runtime import _nrt_python

__all__ = ["from_entry", "skip_preparation", "to_entry"]


def to_entry(compiled: Any) -> tuple[Any, ...]:
    """What pickle writes of one compiled variant, and `from_entry` takes."""
    library, description = compiled.library, compiled.fndesc
    description.typemap = description.calltypes = None
    called: list[str] = []
    defined: list[str] = []
    for function in library._final_module.functions:
        (called if function.is_declaration else defined).append(function.name)
    # Those of Numba's own functions lead to the modules of these, and hold nothing.
    environments = tuple(e for e in compiled._find_referenced_environments() if e.consts)
    others = (
        description, compiled.environment, compiled.signature, compiled.objectmode,
        compiled.lifted, "", compiled.reload_init, environments,
    )  # fmt: skip
    return library.name, library._get_compiled_object(), called, defined, others


def from_entry(context: Any, entry: tuple[Any, ...]) -> Any:
    """The compiled variant of an entry, ready to be called."""
    name, code, called, defined, others = entry
    _declare_runtime()
    if not _are_known(called):
        context.refresh()
    codegen = context.codegen()
    library = codegen.create_library(name)
    library.enable_object_caching()
    library._set_compiled_object(code)
    library._finalize_final_module()
    codegen._engine._defined_symbols.update(defined)
    result = CompileResult._rebuild(_WithLibrary(context, library), None, *others)
    return result._replace(target_context=context)


class _WithLibrary:
    """A target context, as far as `_rebuild` uses it, with a library that is there already."""

    def __init__(self, context: Any, library: Any) -> None:
        self.typing_context = context.typing_context
        self.get_executable = context.get_executable
        self._library = library

    def codegen(self) -> Any:
        """Return this object, for its one method."""
        return self

    def unserialize_library(self, _: None) -> Any:
        """Return the library."""
        return self._library


def skip_preparation(dispatcher: Any) -> None:
    """Let a function load code without importing what other packages register with Numba.

    Arguments of our functions are of Numba's own types. Compiling imports all of it anyway.
    """
    dispatcher._compilation_chain_init_hook = _nothing


def _nothing() -> None:
    """Do nothing."""


@functools.cache
def _declare_runtime() -> None:
    """Tell LLVM where the functions of Numba's runtime are."""
    for name, address in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


def _are_known(names: Iterable[str]) -> bool:
    """Whether LLVM finds all functions, of which `llvm.` are its own."""
    return all(name.startswith("llvm.") or binding.address_of_symbol(name) for name in names)
