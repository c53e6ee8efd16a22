"""The text of CSV cut between rows, so that several threads can parse it.

Arrow's reader of streams parses one block after the other, in one thread. Here the text is cut
where a row ends, and each piece is a small CSV file of its own. Line breaks within quotes end no
row, so quotes are counted: that tells which breaks are within them as long as quotes are where
writers put them, around a field or doubled within one. Text that has others is not cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

__all__ = ["cut_text", "row_end"]

Read = Callable[[int], bytes]
"""Reads so many bytes or fewer; none at the end of the text."""

_MARK = b"\xef\xbb\xbf"
_BREAKS = b"\r\n"


def cut_text(
    read: Read, size: int, sep: bytes, quote: bytes | None
) -> Iterator[tuple[bytes, bool]]:
    """Yield the text in pieces of at most `size` bytes, each of which ends where a row does.

    The flag says so. Where it is False no end of a row was found, and what is left to read follows
    that text: it is the last that is yielded. A mark of the byte order is left out.
    """
    rest, is_first = b"", True
    while True:
        more = _filled(read, size - len(rest))
        is_last = len(more) < size - len(rest)
        text = rest + more
        if is_first:
            text, is_first = text.removeprefix(_MARK), False
        if is_last and not text:
            return
        end = row_end(text, sep, quote, is_last=is_last)
        if end == 0:
            yield text, False
            return
        yield text[:end], True
        if is_last:
            return
        rest = text[end:]


def _filled(read: Read, size: int) -> bytes:
    """The next `size` bytes, fewer only at the end of the text."""
    parts = [read(size)]
    lacking = size - len(parts[0])
    while lacking > 0 and parts[-1]:
        parts.append(read(lacking))
        lacking -= len(parts[-1])
    return parts[0] if len(parts) == 1 else b"".join(parts)


def row_end(text: bytes, sep: bytes, quote: bytes | None, *, is_last: bool = False) -> int:
    """Where the last row ends that is complete, 0 where none does or where quotes do not tell.

    `text` begins where a row does. With `is_last` it ends where one does.
    """
    end = len(text) if is_last else text.rfind(b"\n") + 1
    if quote is None or quote not in text:
        return end
    at = _quotes(text, quote)
    while end > 0:
        n_before = int(np.searchsorted(at, end))
        if n_before % 2 == 0:
            return end if _is_usual(text, at[:n_before], sep) else 0
        if is_last:
            return 0
        end = text.rfind(b"\n", 0, int(at[n_before - 1])) + 1
    return 0


def _quotes(text: bytes, quote: bytes) -> np.ndarray:
    return np.flatnonzero(np.frombuffer(text, np.uint8) == quote[0])


def _is_usual(text: bytes, at: np.ndarray, sep: bytes) -> bool:
    """Whether pairs of quotes begin at the start of a field and end at its end, or are doubled."""
    if not at.size:
        return True
    bytes_ = np.frombuffer(text, np.uint8)
    edges = np.zeros(256, np.bool_)
    edges[list(sep + _BREAKS)] = True
    opening, closing = at[::2], at[1::2]
    starts = edges[bytes_[opening - 1]] | (opening == 0)
    starts[1:] |= opening[1:] == closing[:-1] + 1
    ends = closing + 1
    stops = edges[bytes_[np.minimum(ends, len(text) - 1)]] | (ends == len(text))
    stops[:-1] |= opening[1:] == ends[:-1]
    return bool(starts.all() and stops.all())
