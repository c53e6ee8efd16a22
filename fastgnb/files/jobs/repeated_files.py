"""Files whose rows would count twice: an error before they are learned, or a warning afterwards."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from ..._system.remote.paths import AnyPath, RemotePath
from ..models.learned import LearnedFile, check_new, check_once, fingerprint, joined
from ..models.model_file import ModelFile
from ..tables.batch import RowSource, Stamp, check_unchanged, stamp_of
from .class_limit import ClassLimit
from .messages import Messages
from .options import LearnOptions

__all__ = ["first_files", "new_files", "warn_of_changes", "warn_of_copies", "with_rows"]

Fingerprints = dict[AnyPath, LearnedFile]


def new_files(
    options: LearnOptions, source: RowSource, saved: ModelFile, name: str
) -> Fingerprints:
    """Fingerprints of the files to learn. Raises ValueError where some would count twice."""
    files = {path: fingerprint(path, options.target_npy) for path in source.paths}
    if not options.again:
        check_once(source.paths)
        check_new(saved.learned, list(files.values()), name)
    return files


@contextlib.contextmanager
def first_files(options: LearnOptions, source: RowSource) -> Iterator[Callable[[], Fingerprints]]:
    """Fingerprints of the first files that a model learns, which a thread makes meanwhile.

    What reading them raises comes when they are asked for: SourceError for a file that has changed.
    When the context ends by an error, no more of them are read.
    """
    stamps: dict[AnyPath, Stamp] = {
        path: stamp_of(path) for path in source.paths if not isinstance(path, RemotePath)
    }
    is_ended = threading.Event()

    def read() -> Fingerprints:
        files: Fingerprints = {}
        for path in source.paths:
            if is_ended.is_set():
                break
            files[path] = fingerprint(path, options.target_npy)
            if path in stamps:
                check_unchanged(path, stamps[path])
        return files

    with ThreadPoolExecutor(1, "fastgnb-fingerprints") as pool:
        coming = pool.submit(read)
        try:
            yield coming.result
        finally:
            is_ended.set()


def with_rows(files: Fingerprints, limit: ClassLimit) -> tuple[LearnedFile, ...]:
    """Fingerprints of those files of which rows were learned: of the others the next may be new."""
    return joined((), sorted(file for path, file in files.items() if path in limit.paths))


def warn_of_changes(
    learned: Iterable[LearnedFile], files: Fingerprints, limit: ClassLimit, tell: Messages
) -> None:
    """Say which files have names that were learned with other contents, perhaps grown since."""
    names = {file.name for file in learned}
    for path, file in files.items():
        if path in limit.paths and file.name in names:
            tell.warning(
                f"{path}: a file of this name was learned before, with other contents; "
                "rows that stand in both count twice"
            )


def warn_of_copies(files: Fingerprints, limit: ClassLimit, tell: Messages) -> None:
    """Say which of the files hold the same, so that their rows count twice."""
    first: dict[str, AnyPath] = {}
    for path, file in files.items():
        if path in limit.paths and first.setdefault(file.digest, path) != path:
            tell.warning(f"{path}: holds the same as {first[file.digest]}; its rows count twice")
