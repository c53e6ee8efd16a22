"""The public names of the package: what public modules list in `__all__`, and their methods."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Iterator
from typing import Any

MODULES = [
    "fastgnb",
    "fastgnb.select",
    "fastgnb.files",
    "fastgnb.dask",
    "fastgnb.mlflow",
    "fastgnb.plot",
    "fastgnb.report",
]

if importlib.util.find_spec("pyspark"):  # whose classes those of fastgnb.spark derive from
    MODULES.append("fastgnb.spark")

ENGINES = {"fastgnb.dask": "dask.array", "fastgnb.spark": "pyspark"}
"""Modules whose examples need an engine, and the module of that."""


def public_objects() -> dict[str, Any]:
    """Classes and functions by dotted name, as users import them."""
    objects = {}
    for module in MODULES:
        namespace = importlib.import_module(module)
        for name in getattr(namespace, "__all__", []):
            value = getattr(namespace, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                objects.setdefault(f"{module}.{name}", value)
    return objects


def public_methods() -> dict[str, Any]:
    """Public methods and properties that this package defines, under the first class of theirs."""
    methods = {}
    seen = set()
    for name, value in public_objects().items():
        if not inspect.isclass(value):
            continue
        for attribute, member in _members(value):
            if id(member) not in seen:
                seen.add(id(member))
                methods[f"{name}.{attribute}"] = member
    return methods


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    for name in sorted(dir(cls)):
        if name.startswith("_"):
            continue
        static = inspect.getattr_static(cls, name)
        member = static if isinstance(static, property) else getattr(cls, name)
        function = member.fget if isinstance(member, property) else member
        function = inspect.unwrap(getattr(function, "__func__", function))
        if inspect.isfunction(function) and function.__module__.startswith("fastgnb"):
            yield name, member if isinstance(member, property) else function
