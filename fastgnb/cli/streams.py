"""Text to standard output and standard error, whatever these are."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

__all__ = ["prefix_stdout", "print_stderr", "print_stdout"]


def print_stdout(text: str) -> None:
    """Print it; a label that the terminal's encoding lacks must not lose the whole result."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    with prefix_stdout():
        print(text.encode(encoding, "backslashreplace").decode(encoding))


@contextlib.contextmanager
def prefix_stdout() -> Iterator[None]:
    """Say of a failing write that it was to standard output, as a full disk does not."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from error


def print_stderr(text: str) -> None:
    """A line on standard error, if anybody listens: it is None where the shell closed it."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(f"fastgnb: {text}", file=sys.stderr)
