"""The folder of compiled kernels, and what they depend on, however the package is installed.

Numba looks for the source file of a function, and caches nothing where there is none: in a zip
archive, in an install that has only .pyc files, in a frozen application. So the folder is chosen
here, the first of these in which files can be made:

1. the folder that NUMBA_CACHE_DIR names,
2. `__pycache__` beside the module, where that is a file on disk,
3. the user's own cache folder, which Numba uses too.

The kernels of an install that consists of files have a folder of their own, named after its place.
Archives and frozen applications are often unpacked or copied to a new place for each run, so that
theirs is named after their content. The files in the folder are described in `disk_cache`.

Internals of Numba: the attribute `_cache` of what `njit` returns; `FunctionCache` with its
`_index_key`, `CompileResultCacheImpl` and `NullCache`; `dumps`; the folder that `AppDirs` names.
Tried on Numba 0.61.0 and 0.68.1.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from .disk_cache import Entries, Key
from .loading import from_entry, skip_preparation, to_entry
from .notice import note_kernel
from .sources import digest_of_all, digest_of_kernel

__all__ = ["attach_cache", "cache_folder", "is_cached", "is_working"]

# Settings of Numba's that change machine code, which its own cache does not look at.
_CODE_OPTIONS = (
    "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT",
)  # fmt: skip

_is_warned = False


def attach_cache(dispatcher: Any, body: Callable[..., Any]) -> None:
    """Cache the code of a function on disk, or warn once where that fails.

    No error reaches the user, since compiling again is always right. An entry that cannot be loaded
    counts as missing; one that cannot be saved is worth a warning.
    """
    skip_preparation(dispatcher)
    try:
        dispatcher._cache = _KernelCache(body)
    except Exception as error:
        dispatcher._cache = _NoCache()
        _warn_of_cache(error)


def cache_folder(module: str) -> str:
    """The folder for the kernels of a module. Raises RuntimeError where none can be written."""
    file = getattr(sys.modules[module], "__file__", None) or module
    return _first_writable(os.path.abspath(file), str(config.CACHE_DIR or ""))


def is_cached(dispatcher: Any, types_of: tuple[Any, ...]) -> bool:
    """Whether the folder holds code of a function for arguments of these types."""
    cache = getattr(dispatcher, "_cache", None)
    return isinstance(cache, _KernelCache) and cache.holds(types_of, dispatcher.targetctx)


def is_working() -> bool:
    """Whether code has been kept so far wherever that was tried."""
    return not (_is_warned or config.DISABLE_JIT)


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, with our folder, entries and key."""

    def __init__(self, body: Callable[..., Any]) -> None:
        # Not Numba's own, which raises where it finds no source file.
        self._name, self._py_func = repr(body), body
        self._cache_path = cache_folder(body.__module__)
        self._impl = _Impl(body, self._cache_path)
        python = f"{sys.implementation.cache_tag}.opt-{sys.flags.optimize}"
        name = f"{body.__module__}.{body.__name__}.{python}"
        self._cache_file = Entries(Path(self._cache_path), name, dumps)
        self._origin = _origin(body.__module__)
        self.enable()

    def _index_key(self, sig: Any, codegen: Any) -> Key:
        types_of, processor, code = super()._index_key(sig, codegen)
        options = [str(getattr(config, name, None)) for name in _CODE_OPTIONS]
        return Key(repr((types_of, processor)), repr((self._origin, code, options)))

    def holds(self, sig: Any, target_context: Any) -> bool:
        """Whether there is an entry, which may be damaged."""
        return bool(self._cache_file.holds(self._index_key(sig, target_context.codegen())))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            # Not Numba's own, which prepares the compiler first, see `loading`.
            loaded = self._load_overload(sig, target_context)
        except Exception:
            loaded = None
        note_kernel(compiling=loaded is None, folder=self._cache_path)
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:
            _warn_of_cache(error)


class _Impl(CompileResultCacheImpl):  # type: ignore[misc]
    """How compiled code is turned into bytes; the folder stands for Numba's locator of files."""

    def __init__(self, body: Callable[..., Any], folder: str) -> None:
        self._locator, self._lineno = self, body.__code__.co_firstlineno
        self._py_file, self._folder = body.__code__.co_filename, folder

    def reduce(self, cres: Any) -> Any:
        return to_entry(cres)

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        return from_entry(target_context, payload)

    def ensure_cache_path(self) -> None:
        os.makedirs(self._folder, exist_ok=True)


class _NoCache(NullCache):  # type: ignore[misc]
    """For a function whose code cannot be kept."""

    def load_overload(self, sig: Any, target_context: Any) -> None:
        note_kernel(compiling=True, folder=None)


# ------------------------------------------------------------------ the folder


@functools.cache
def _first_writable(file: str, given: str) -> str:
    for folder in _candidates(file, given):
        try:
            os.makedirs(folder, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return folder
    raise RuntimeError("no folder for it can be written")


def _candidates(file: str, given: str) -> Iterator[str]:
    is_on_disk = os.path.isfile(file) and not getattr(sys, "frozen", False)
    if is_on_disk:
        parent = os.path.dirname(file)
        # The names of Numba's own folders.
        name = f"{os.path.basename(parent)}_{hashlib.sha1(parent.encode()).hexdigest()}"
    else:
        name = f"fastgnb_{digest_of_all()[:40]}"
    if given:
        yield os.path.join(os.path.abspath(given), name)
    if is_on_disk:
        yield os.path.join(os.path.dirname(file), "__pycache__")
    if _has_home():
        yield os.path.join(AppDirs(appname="numba", appauthor=False).user_cache_dir, name)


def _has_home() -> bool:
    """Whether a user's folder is known; else it would be one named `~` in the current folder."""
    return os.path.isabs(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~"))


# ------------------------------------------------------------------ what code depends on


@functools.cache
def _origin(module: str) -> tuple[str, ...]:
    """All that compiled code is made from, besides the kernel's own bytecode and types."""
    return sys.version, numba.__version__, np.__version__, digest_of_kernel(module)


def _warn_of_cache(error: Exception) -> None:
    global _is_warned
    if not _is_warned:
        _is_warned = True
        # Where the importer is at fault another folder would not help.
        remedy = " Set NUMBA_CACHE_DIR to a writable folder to keep them."
        warnings.warn(
            "fastgnb compiles its kernels in each process, because Numba's cache cannot be used: "
            f"{error}.{'' if isinstance(error, ImportError) else remedy}",
            RuntimeWarning,
            stacklevel=2,
        )
