"""Locks that let threads learn into one model by turns.

The locks are kept beside the models: a lock in a model would be in its pickles, in its copies, and
in what `joblib.hash` sees.
"""

from __future__ import annotations

import os
import threading
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["TURNS", "Turns"]


class Turns:
    """A lock for each object, for as long as the object lives.

    Pickles hold no lock. A forked child starts without any: the thread that holds one does not
    exist there, and would never release it.
    """

    def __init__(self) -> None:
        self._locks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self._shared = threading.RLock()

    def of(self, owner: Any) -> Any:
        """Return the lock of an object. Use it in `with`, so that an interrupt releases it."""
        try:
            return self._locks.get(owner) or self._locks.setdefault(owner, threading.RLock())
        except TypeError:  # a subclass that compares by value has no hash
            return self._shared

    def __reduce__(self) -> tuple[type[Turns], tuple[()]]:
        return Turns, ()


TURNS = Turns()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TURNS.__init__)  # type: ignore[misc]
