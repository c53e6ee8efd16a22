"""Values that belong to a context, see `contextvars`, and that pickles leave out.

cloudpickle can be told to pickle this package by value, with the globals of its modules, and a
ContextVar cannot be pickled.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Generic, TypeVar

__all__ = ["ContextValue"]

T = TypeVar("T")


class ContextValue(Generic[T]):
    """A ContextVar, of which a pickle holds the name and the default."""

    def __init__(self, name: str, default: T) -> None:
        self._name, self._default = name, default
        self._variable: ContextVar[T] = ContextVar(name, default=default)
        self.get, self.set, self.reset = (
            self._variable.get, self._variable.set, self._variable.reset,
        )  # fmt: skip

    def __reduce__(self) -> tuple[type[ContextValue[T]], tuple[str, T]]:
        return ContextValue, (self._name, self._default)
