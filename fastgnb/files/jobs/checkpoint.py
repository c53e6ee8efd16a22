"""A folder of states: what was learned of each file, for a run that goes on after a crash.

A state is named by what it was made from: the file with its size and time of change, how it is
read, and what is learned of it. Other options, or a file that has changed, have states of their
own, and a name that is there need not be learned again. States appear whole or not at all, so that
several processes may share a folder: two that learn the same file write the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from typing import Any

from ..._system.atomic import atomic_write
from ..._system.remote.paths import AnyPath, identity_of
from ..._version import __version__
from ..errors import SourceError
from ..outputs import make_folder
from ..tables.batch import stamp_of
from .file_state import FileLearner, FileState
from .options import LearnOptions, plain_options
from .state_bytes import pack_state, unpack_state

__all__ = ["Checkpoint"]

_SCHEMA = 1
"""Of states: another number stands for another layout, or for other rules of what is learned."""

_APART = {
    "paths",
    "progress",
    "again",
    "max_classes",
    "target_npy",
    "checkpoint",
    "shard",
    "workers",
}
"""Options that do not change what is learned of a file, or stand in its plan."""


class Checkpoint:
    """States of the files that a learner learns, in a folder, which is made where there is none.

    Raises OSError where states cannot be written there.
    """

    def __init__(
        self, folder: str | os.PathLike[str], learner: FileLearner, options: LearnOptions
    ) -> None:
        self.folder, self.learner = make_folder(folder), learner
        self._pending: dict[int, str] = {}  # what states are made from, until these are there
        kind, source = learner.kind, learner.source
        known = None if kind.known is None else kind.known.tolist()
        self._common = {
            "schema": [_SCHEMA, __version__],
            "kind": kind._replace(known=known)._asdict(),
            "options": plain_options(options, _APART),
            "features": source.features,
            "max_categories": learner.max_categories,
            "automatic": learner.automatic,
        }

    def load(self, at: int) -> FileState | None:
        """The state of a file from an earlier run, or None. Raises SourceError for a bad one."""
        made_from = self._made_from(at)
        path = self._path(at, made_from)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            state, stored = unpack_state(data)
        except ValueError as error:
            raise _refused(path, f"is no state of a checkpoint, or was altered: {error}") from error
        if stored != made_from:
            raise _refused(path, "holds another state than its name says")
        self._pending.pop(at, None)
        return state

    def save(self, at: int, state: FileState) -> None:
        """Write the state of a file. Raises OSError; what was written before stays."""
        made_from = self._made_from(at)
        path = self._path(at, made_from)
        data = pack_state(state, made_from)
        try:
            with atomic_write(path) as temporary:
                temporary.write_bytes(data)
        except OSError as error:
            if not error.errno:
                raise
            reason = f"{error.strerror}; states that are there are kept, so run again"
            raise OSError(error.errno, reason, os.fspath(path)) from error
        self._pending.pop(at, None)

    def is_done(self, at: int) -> bool:
        """Whether the state of a file is there."""
        return self._path(at, self._made_from(at)).exists()

    def _made_from(self, at: int) -> str:
        """What the state of a file is made from: the file as it is when this is first asked."""
        if at not in self._pending:
            path = self.learner.source.paths[at]
            size, changed = stamp_of(path)[:2]
            self._pending[at] = _as_json(
                {
                    **self._common,
                    "file": [identity_of(path), size, changed],
                    "plan": self.learner.source.plan_of(at),
                }
            )
        return self._pending[at]

    def _path(self, at: int, made_from: str) -> AnyPath:
        """The name begins with that of the file, for people; the digest tells what it is of."""
        digest = hashlib.sha256(made_from.encode()).hexdigest()[:32]
        start = re.sub(r"[^A-Za-z0-9]+", "-", self.learner.source.paths[at].name).strip("-")[:40]
        return self.folder / f"{start or 'file'}.{digest}.state"


def _as_json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, default=os.fspath)


def _refused(path: AnyPath, reason: str) -> SourceError:
    return SourceError(f"{path}: {reason}; delete it, and run again to learn its file once more")
