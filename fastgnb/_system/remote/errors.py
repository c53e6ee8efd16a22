"""What a remote file system says, as an OSError that names the path and says what to do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

__all__ = [
    "RemoteChangedError",
    "RemoteError",
    "RemoteNotFoundError",
    "RemotePermissionError",
    "is_lasting",
    "located",
    "reason_of",
]


class RemoteError(OSError):
    """A path with a scheme cannot be read or written. The message begins with the path."""


class RemoteNotFoundError(RemoteError, FileNotFoundError):
    """There is no such object, folder or bucket."""


class RemotePermissionError(RemoteError, PermissionError):
    """Credentials are missing, or not allowed to do this."""


class RemoteChangedError(RemoteError):
    """The object is no longer the one that was opened."""


# Errors of the libraries below fsspec, by name: they are not imported to look at one.
_NO_CREDENTIALS = {
    "NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError",
    "TokenRetrievalError", "SSOTokenLoadError", "ProfileNotFound", "DefaultCredentialsError",
    "RefreshError", "ClientAuthenticationError",
}  # fmt: skip

_EXPIRED = "FileExpired"

# Where the credentials of a store are looked for, by its scheme.
_CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; "
    "FSSPEC_S3='{\"anon\": true}' reads public buckets",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "abfs": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
_SAME = {"s3a": "s3", "gcs": "gs", "abfss": "abfs", "az": "abfs", "adl": "abfs"}


@contextlib.contextmanager
def located(url: str) -> Iterator[None]:
    """Raise what a file system raises as a RemoteError of `url`, with the cause kept."""
    try:
        yield
    except (RemoteError, MemoryError, ImportError):
        raise
    except Exception as error:
        raise _translated(url, error) from error


def _translated(url: str, error: Exception) -> RemoteError:
    names = {type(each).__name__ for each in _chain(error)}
    if names & _NO_CREDENTIALS:
        return RemotePermissionError(f"{url}: no credentials ({reason_of(error)}){_advice(url)}")
    if _EXPIRED in names:
        return RemoteChangedError(
            f"{url}: changed while it was in use, so its rows cannot be trusted"
        )
    if isinstance(error, FileNotFoundError):
        return RemoteNotFoundError(f"{url}: {_missing(error)}")
    if isinstance(error, PermissionError):
        return RemotePermissionError(f"{url}: access denied ({reason_of(error)}){_advice(url)}")
    if isinstance(error, IsADirectoryError):
        return RemoteError(f"{url}: it is a folder, expected a file name")
    return RemoteError(f"{url}: {reason_of(error)}")


def _advice(url: str) -> str:
    scheme = url.partition("://")[0].rpartition(" ")[2].lower()
    names = _CREDENTIALS.get(_SAME.get(scheme, scheme))
    return f"; credentials are taken from {names}" if names else ""


def _missing(error: FileNotFoundError) -> str:
    for word in ("bucket", "container"):
        if any(word in str(each).lower() for each in _chain(error)):
            return f"no such {word}"
    return "no such file or folder"


def is_lasting(error: Exception) -> bool:
    """Whether the same request would fail again, so that it is not repeated."""
    kinds = (
        FileNotFoundError, PermissionError, IsADirectoryError, NotImplementedError, TypeError,
        ValueError, ImportError, MemoryError, RemoteChangedError,
    )  # fmt: skip
    return isinstance(error, kinds) or type(error).__name__ in {_EXPIRED, *_NO_CREDENTIALS}


def reason_of(error: BaseException) -> str:
    """One line of at most 300 characters."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    line = " ".join(str(text).split())
    return line if len(line) <= 300 else line[:297] + "..."


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes."""
    here: BaseException | None = error
    for _ in range(10):
        if here is None:
            return
        yield here
        here = here.__cause__
