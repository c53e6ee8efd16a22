"""Compiled code on disk: one file an entry, used only if it is exactly what was written.

Numba keeps an index beside its data files, and no checksum of either. It runs machine code in which
a bit has flipped, and processes that write at the same time leave an index that names another
entry's data. Here the name of a file says what its code is for, and the file begins with a digest
of its content and of everything that its content was made from. A file that is damaged, cut short,
renamed or stale counts as missing: its code is compiled again and replaces it.

The digest guards against accidents only. Whoever may write into the folder may run code in this
process, as with every cache of Python's.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from .._system.atomic import atomic_write

__all__ = ["Entries", "Key"]

_SIZE = hashlib.sha256().digest_size


class Key(NamedTuple):
    """What code is for (types, processor), and what else decides its bits (source, versions).

    Entries of one `place` and another `origin` replace each other, so that no old ones pile up.
    """

    place: str
    origin: str


class Entries:
    """The entries of one function, with the methods by which Numba uses its own.

    Files are `name`.<what the code is for>.nbc in `folder`; `dump` turns an entry into bytes that
    pickle reads. Cost of the digest: 0.6 ms a megabyte, and all kernels together have 2.4.
    """

    def __init__(self, folder: Path, name: str, dump: Callable[[Any], bytes]) -> None:
        self._folder, self._name, self._dump = folder, name, dump

    def load(self, key: Key) -> Any:
        """The entry of `key`, or None if there is none or it is damaged."""
        try:
            whole = self._path(key).read_bytes()
        except OSError:
            return None
        content = memoryview(whole)[_SIZE:]
        return pickle.loads(content) if whole[:_SIZE] == _digest(key, content) else None

    def holds(self, key: Key) -> bool:
        """Whether there is a file of `key`, of whatever origin and content."""
        return self._path(key).is_file()

    def save(self, key: Key, entry: Any) -> None:
        """Write an entry, whole or not at all. Raises OSError where that fails."""
        content = self._dump(entry)
        with atomic_write(self._path(key)) as temporary:
            temporary.write_bytes(_digest(key, content) + content)

    def flush(self) -> None:
        """Forget all entries of this function. Raises OSError where that fails."""
        for path in self._folder.glob(f"{self._name}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: Key) -> Path:
        place = hashlib.sha256(key.place.encode()).hexdigest()[:16]
        return self._folder / f"{self._name}.{place}.nbc"


def _digest(key: Key, content: bytes | memoryview) -> bytes:
    digest = hashlib.sha256(repr(tuple(key)).encode())
    digest.update(content)
    return digest.digest()
