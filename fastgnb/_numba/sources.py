"""The sources that the code of a kernel is made from: its own module, and what that imports.

Modules count that belong to `kernels` or to this room, since a kernel may call a function of any
that its module imports, or that those import. Where the sources are missing, as in an install of
.pyc files, all of them count, by their bytecode.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any

__all__ = ["digest_of_all", "digest_of_kernel", "modules_of_kernel"]

_PACKAGE = str(__package__).rpartition(".")[0]

# Also within functions, and in comments, which does no harm.
_IMPORT = re.compile(
    r"^[ \t]*from[ \t]+(\.+)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|.*)", re.MULTILINE
)


def digest_of_kernel(module: str) -> str:
    """A digest of the sources of a kernel that is in `module`.

    Raises ImportError where the modules, or what is in them, cannot be found.
    """
    return _digest(modules_of_kernel(module))


@functools.cache
def digest_of_all() -> str:
    """A digest of all modules that may be sources of kernels. Raises ImportError as above."""
    return _digest(_modules())


def modules_of_kernel(module: str) -> tuple[str, ...]:
    """Names of the modules that a kernel in `module` is made from."""
    if module not in _modules() or _source(module) is None:
        return _modules()
    reached, waiting = {module}, [module]
    while waiting:
        new = set(_imports(waiting.pop())) - reached
        reached |= new
        waiting += new
    return tuple(sorted(reached))


@functools.cache
def _imports(module: str) -> list[str]:
    """Modules that one module imports, of those that count."""
    names = []
    for dots, base, imported in _IMPORT.findall(_source(module) or ""):
        parent = ".".join(filter(None, [*module.split(".")[: -len(dots)], base]))
        names += [parent, *(f"{parent}.{word}" for word in re.findall(r"\w+", imported))]
    return sorted(set(names).intersection(_modules()))


def _digest(modules: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for name in modules:
        content = _content(name)
        digest.update(f"{name.removeprefix(_PACKAGE)} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()


@functools.cache
def _modules() -> tuple[str, ...]:
    """Names of all modules that may be sources of kernels."""
    return *_modules_below(str(__package__)), *_modules_below(f"{_PACKAGE}.kernels")


def _modules_below(package: str) -> Iterator[str]:
    """Names of all modules of a package, of those in its folders too."""
    path = importlib.import_module(package).__path__
    modules = sorted((module.name, module.ispkg) for module in pkgutil.iter_modules(path))
    if not modules:
        raise ImportError("the importer of this package does not list its modules")
    for name, is_package in modules:
        yield from _modules_below(f"{package}.{name}") if is_package else [f"{package}.{name}"]


@functools.cache
def _source(module: str) -> str | None:
    source: str | None = _loader(module).get_source(module)
    return source


def _content(module: str) -> bytes:
    """The source of a module, or a description of its bytecode where there is no source."""
    source = _source(module)
    return repr(_described(_loader(module).get_code(module)) if source is None else source).encode()


def _loader(module: str) -> Any:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.loader is None:
        raise ImportError(f"the module {module} has no loader")
    return spec.loader


def _described(value: Any) -> Any:
    """Code as tuples, the same in each process: `marshal` writes it differently at times."""
    if isinstance(value, CodeType):
        return (
            value.co_name, value.co_code, value.co_names, value.co_varnames, value.co_freevars,
            value.co_cellvars, value.co_flags, value.co_argcount, value.co_kwonlyargcount,
            [_described(const) for const in value.co_consts],
        )  # fmt: skip
    if isinstance(value, tuple):
        return tuple(map(_described, value))
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    return value
