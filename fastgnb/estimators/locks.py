"""Turns of threads that learn into one model.

The locks are kept beside the models, not in them: a lock in a model would be in its pickles, its
copies and what `joblib.hash` sees.
"""

from __future__ import annotations

import os
import threading
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["TURNS", "Turns"]


class Turns:
    """A lock for each object, for as long as that lives.

    A pickle holds none of them, and a forked child starts without: the thread that has a lock is
    not there to release it.
    """

    def __init__(self) -> None:
        self._locks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self._shared = threading.RLock()

    def of(self, owner: Any) -> Any:
        """The lock of an object, to be entered by `with`, which an interrupt leaves released."""
        try:
            return self._locks.setdefault(owner, threading.RLock())
        except TypeError:  # a subclass that compares by value has no hash
            return self._shared

    def __reduce__(self) -> tuple[type[Turns], tuple[()]]:
        return Turns, ()


TURNS = Turns()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TURNS.__init__)  # type: ignore[misc]
