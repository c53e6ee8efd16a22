"""The manifest of a folder of predictions: which file was made of which, by which model.

It is a JSON file in the folder, `_manifest.json`: readers of folders of data pass over such names.
A run that finds it skips what is done. It is written once a second at most, so that a run that is
killed repeats about a second's files.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from ..._system.atomic import atomic_write
from ..._system.remote.paths import AnyPath
from ..._version import __version__
from ..errors import SourceError

__all__ = ["MANIFEST", "Manifest"]

MANIFEST = "_manifest.json"

_SCHEMA = 1

_EVERY = 1.0
"""Seconds between two writes, since each writes all entries."""

_INPUT = ("input", "size", "changed", "sha256", "plan")
"""What of an entry says what its output was made from."""


class Manifest:
    """Entries of the files that are done, by the names of their outputs.

    model : digest of the model. options : those that decide what is written. Entries of another
    model or of other options do not count: `others` are their outputs. Raises SourceError for a
    file that is no manifest.
    """

    def __init__(self, folder: AnyPath, model: str, options: Mapping[str, Any]) -> None:
        self._folder, self.path = folder, folder / MANIFEST
        self._head = {
            "manifest": _SCHEMA, "fastgnb": __version__, "model": model, "options": options,
        }  # fmt: skip
        self._head = json.loads(json.dumps(self._head))  # as it is when it is read
        head, entries = self._read()
        self.others = [] if head == self._head else sorted(entries)
        self._entries = entries if head == self._head else {}
        self._written, self._is_changed = time.monotonic(), False

    def __contains__(self, output: str) -> bool:
        return output in self._entries

    def done(self, made_from: Mapping[str, Any], output: str) -> dict[str, Any] | None:
        """The entry of an output that is there, made from the same; else None."""
        entry = self._entries.get(output)
        if entry is None or any(entry[name] != made_from[name] for name in _INPUT):
            return None
        path = self._folder / output
        is_there = path.is_file() and path.stat().st_size == entry["bytes"]
        return entry if is_there else None

    def add(self, entry: dict[str, Any]) -> None:
        """Add the entry of a file that is done."""
        self._entries[entry["output"]] = entry
        self._is_changed = True
        if time.monotonic() - self._written >= _EVERY:
            self.write()

    def write(self, *, final: bool = False) -> None:
        """Write all entries, if there are new ones. Raises OSError. `final`: see `atomic_write`."""
        if not (self._is_changed or final):
            return
        files = [self._entries[name] for name in sorted(self._entries)]
        text = json.dumps({**self._head, "files": files}, indent=1)
        with atomic_write(self.path, final=final) as temporary:
            temporary.write_bytes(text.encode())
        self._written, self._is_changed = time.monotonic(), False

    def _read(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return {}, {}
        try:
            found = json.loads(data)
            head = {name: found[name] for name in self._head}
            return head, {entry["output"]: _checked(entry) for entry in found["files"]}
        except (KeyError, TypeError, ValueError) as error:
            raise SourceError(
                f"{self.path}: is no manifest of predictions, or was altered ({error!r}); name "
                "another folder, or delete it to score all files again"
            ) from error


def _checked(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry that has what is asked of it. Raises ValueError for others."""
    kinds: dict[str, type | tuple[type, ...]] = {
        "input": str, "size": int, "changed": (int, str), "sha256": str, "plan": str,
        "output": str, "rows": int, "bad_rows": int, "filtered_rows": int,
        "bytes": int,
    }  # fmt: skip
    for name, kind in kinds.items():
        if not isinstance(entry[name], kind):
            raise ValueError(f"{name} is {entry[name]!r}")
    return entry
