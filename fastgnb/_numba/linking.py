"""Functions that only kernels call, compiled once: with the kernel that they become a part of.

Numba compiles each function that another one calls as if Python called it too: it optimises the
function with all that it calls, makes machine code of it, and wraps it for Python. Then it links
the function into its caller, and does all of that again. Kernels are made of many short functions,
so that most of the time went into code that never ran. Here such a function is only translated to
LLVM's language. The kernel links all of them, each once, and is optimised as a whole.

Internals of Numba: the option `pipeline_class` of `njit`; passes with a `state` that has `library`;
of `JITCodeLibrary` the methods overridden below, and `_linking_libraries`; `set_env`;
`compile_extra` of a pipeline. Tried on Numba 0.61.0 and 0.68.1.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.typed_passes import NoPythonSupportedFeatureValidation

__all__ = ["CalledPipeline", "HelperPipeline", "KernelPipeline"]


class _KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel, with that of every helper that it calls, or that those call."""

    def add_linking_library(self, library: Any) -> None:
        super().add_linking_library(library)
        if isinstance(library, _HelperLibrary):
            for each in library.called():
                super().add_linking_library(each)


class _NoEnvironment:
    """In place of the code generator of a helper, whose environment is the kernel's to set."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Do nothing: there is no machine code to tell."""


# Python's entry gets a closure and arguments, and calls that: "object is not callable".
_REFUSAL: int = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value or 0


class _HelperLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a helper, simplified, but not linked with what it calls."""

    @property
    def codegen(self) -> Any:
        return _NoEnvironment

    def called(self) -> dict[Any, None]:
        """Every library that this one calls, directly or not."""
        all_called: dict[Any, None] = {}
        for library in self._linking_libraries:
            all_called[library] = None
            if isinstance(library, _HelperLibrary):
                all_called.update(library.called())
        return all_called

    def finalize(self) -> None:
        """Close the library, as it is."""
        self._raise_if_finalized()
        for library in self._linking_libraries:
            if hasattr(library, "_reload_init"):  # not in Numba 0.61
                self._reload_init.update(library._reload_init)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """The address of what refuses calls from Python, as there is no machine code."""
        self._ensure_finalized()
        return _REFUSAL


class _CalledLibrary(_HelperLibrary):
    """As `_HelperLibrary`, of a function that is never put in line."""

    def add_ir_module(self, module: Any) -> None:
        for function in module.functions:
            if not (function.is_declaration or "alwaysinline" in function.attributes):
                function.attributes.add("noinline")
        super().add_ir_module(module)


@register_pass(mutates_CFG=False, analysis_only=False)
class _UseKernelLibrary(FunctionPass):  # type: ignore[misc]
    _name = "fastgnb_kernel_library"
    library = _KernelLibrary

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class _UseHelperLibrary(_UseKernelLibrary):
    _name = "fastgnb_helper_library"
    library = _HelperLibrary


@register_pass(mutates_CFG=False, analysis_only=False)
class _UseCalledLibrary(_UseKernelLibrary):
    _name = "fastgnb_called_library"
    library = _CalledLibrary


@contextmanager
def _no_collections() -> Iterator[None]:
    """Collect no garbage meanwhile: a tenth of the time goes into looking through live objects."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class KernelPipeline(CompilerBase):  # type: ignore[misc]
    """Compiles a kernel; see the module."""

    library: Any = _UseKernelLibrary

    def compile_extra(self, func: Any) -> Any:
        with _no_collections():
            return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.add_pass_after(self.library, NoPythonSupportedFeatureValidation)
        pipeline.finalize()
        return [pipeline]


class HelperPipeline(KernelPipeline):
    """Compiles a function that kernels call."""

    library = _UseHelperLibrary


class CalledPipeline(KernelPipeline):
    """Compiles a function that kernels call, which stays a function of its own."""

    library = _UseCalledLibrary
