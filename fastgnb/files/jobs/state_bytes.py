"""The bytes of a state: a line with a digest, a line of JSON, and statistics as model files hold
them. Nothing is executed when they are read."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ...model.findings import KeyWatch
from ..models.as_bytes import from_bytes, to_bytes
from .file_state import FileState

__all__ = ["pack_state", "unpack_state"]

_TITLE = b"fastgnb state"


def pack_state(state: FileState, made_from: str) -> bytes:
    """The bytes of a state, and of what it was made from. Equal states give equal bytes."""
    document = {
        "made_from": made_from,
        "rows": [state.n_rows, state.n_dropped, state.n_bad, state.n_filtered],
        "watch": state.watch.to_json(),
        "left_out": list(state.left_out),
        "values": dict(state.values),
    }
    stats = b"" if state.stats is None else to_bytes(state.stats)
    body = json.dumps(document, sort_keys=True).encode() + b"\n" + stats
    return _TITLE + b" " + _digest(body) + b"\n" + body


def unpack_state(data: bytes) -> tuple[FileState, str]:
    """A state and what it was made from. Raises ValueError unless the bytes are as they were."""
    title, _, body = data.partition(b"\n")
    if title != _TITLE + b" " + _digest(body):
        raise ValueError("its digest does not match")
    text, _, stats = body.partition(b"\n")
    try:
        document: dict[str, Any] = json.loads(text)
        n_rows, n_dropped, n_bad, n_filtered = map(int, document["rows"])
        state = FileState(
            from_bytes(stats) if stats else None, n_rows, n_dropped, n_bad, n_filtered,
            KeyWatch.from_json(document["watch"]), tuple(document["left_out"]),
            {name: int(n) for name, n in document["values"].items()},
        )  # fmt: skip
        return state, document["made_from"]
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"it holds no state ({error})") from error


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()
