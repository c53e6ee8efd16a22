"""The container of a model: a safetensors file of a JSON text, its digest and float64 tensors.

Which files the model learned is in a text of its own, with its digest, so that readers that do not
know of it can read the rest. All is read here, in one pass over one open file, and not mapped: who
cuts a mapped file short ends the process that reads it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

__all__ = ["SCHEMA", "ModelFileError", "check_no_table", "digest", "pack", "unpack"]

# How files of rows begin, by their ending; text begins in any way.
_TABLES = {
    ".parquet": b"PAR1", ".arrow": b"ARROW1", ".feather": b"ARROW1", ".ipc": b"ARROW1",
    ".npy": b"\x93NUMPY", ".csv": b"",
}  # fmt: skip

SCHEMA = 3
Floats = NDArray[np.float64]

# What every reader of safetensors takes.
_LONGEST_HEADER = 100_000_000


class ModelFileError(ValueError):
    """The error for a file that is not a whole, unaltered model file of a known schema.

    See Also
    --------
    load : Load a model file.
    """


def pack(text: str, tensors: Mapping[str, Floats], learned: str | None = None) -> bytes:
    """The content of a file. Raises ValueError for a text that is too long for the format."""
    from safetensors.numpy import save as dump

    # The text within the header, and some room for what is the same in every model.
    length = len(json.dumps(text)) + len(json.dumps(learned)) + 2000
    if length > _LONGEST_HEADER:
        raise ValueError(
            f"Labels and feature names make a header of {length} bytes, and a model file holds at "
            f"most {_LONGEST_HEADER}. Shorten them."
        )
    meta = {"fastgnb": text, "sha256": digest(text, tensors)}
    if learned is not None:
        meta |= {"learned": learned, "learned_sha256": _learned_digest(learned, meta["sha256"])}
    return bytes(dump(dict(tensors), metadata=meta))


def check_no_table(path: str | os.PathLike[str]) -> None:
    """Raise ValueError where a file of rows stands at `path`, which a model would replace."""
    starts = _TABLES.get(os.path.splitext(path)[1].lower())
    if starts is None or not os.path.isfile(path):
        return
    with open(path, "rb") as file:
        head = file.read(9)
    is_model = head[8:9] == b"{"  # after the length of the header
    if head and not is_model and head.startswith(starts):
        raise ValueError(
            f"{os.fspath(path)}: holds rows, which a model would replace; name another file, such "
            "as model.fgnb"
        )


def unpack(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Floats], Any]:
    """The JSON object and the tensors of a file, as they were written but not looked into, and
    what JSON says of the files that it learned, or None.

    Raises ModelFileError, and OSError where the file cannot be read at all. Takes memory in
    proportion to the file, whatever it holds.
    """
    name = os.fspath(path)
    with open(name, "rb", opener=_open_at_once) as file:
        try:
            return _read(file)
        except (OSError, MemoryError):  # not the file's fault
            raise
        except ModelFileError as error:
            raise ModelFileError(f"{name}: {error}") from None
        except Exception as error:
            raise ModelFileError(f"{name}: not a whole fastgnb model file ({error}).") from error


def digest(text: str, tensors: Mapping[str, NDArray[Any]]) -> str:
    """SHA-256 over the text and each tensor's name, shape, type and numbers."""
    sha = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        sha.update(f"{name} {tensors[name].shape} {tensors[name].dtype.str}".encode())
        sha.update(tensors[name].reshape(-1).data)
    return sha.hexdigest()


def _open_at_once(name: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _read(file: BinaryIO) -> tuple[dict[str, Any], dict[str, Floats], Any]:
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        raise ModelFileError("not a regular file. Copy what it gives to a file, and load that.")
    header = _header(file)
    meta = header.pop("__metadata__", None) or {}
    if "fastgnb" not in meta or "sha256" not in meta:
        raise ModelFileError("a safetensors file, but not a fastgnb model.")
    document = json.loads(meta["fastgnb"])
    if type(document) is not dict:
        raise ValueError("its description is not a JSON object")
    _check_schema(document.get("schema"))
    tensors = _read_tensors(file, header)
    if digest(meta["fastgnb"], tensors) != meta["sha256"]:
        raise ModelFileError("altered after it was written: its digest does not match.")
    return document, tensors, _learned(meta)


def _learned(meta: Mapping[str, str]) -> Any:
    """What the metadata say of the files that were learned, or None."""
    strange = sorted(meta.keys() - {"fastgnb", "sha256", "learned", "learned_sha256"})
    if strange:
        raise ModelFileError(f"altered after it was written: {strange[0]!r:.40} is unknown.")
    if "learned" not in meta and "learned_sha256" not in meta:
        return None
    text = meta["learned"]
    if _learned_digest(text, meta["sha256"]) != meta["learned_sha256"]:
        raise ModelFileError("altered after it was written: its digest does not match.")
    return json.loads(text)


def _learned_digest(text: str, sha: str) -> str:
    """Of the text and of the model that it is about, by its digest."""
    return hashlib.sha256(f"{sha} {text}".encode()).hexdigest()


def _header(file: BinaryIO) -> dict[str, Any]:
    """The JSON object that a safetensors file begins with. Reads no more than that."""
    size, length = os.fstat(file.fileno()).st_size, int.from_bytes(file.read(8), "little")
    if not 0 < length <= min(size - 8, _LONGEST_HEADER):
        raise ValueError(f"a header of {length} bytes in a file of {size}")
    header = json.loads(file.read(length).decode())
    if type(header) is not dict:
        raise ValueError("its header is not a JSON object")
    return header


def _read_tensors(file: BinaryIO, header: dict[str, Any]) -> dict[str, Floats]:
    """The tensors behind the header, which fill the file without gaps or overlaps."""
    left = os.fstat(file.fileno()).st_size - file.tell()
    tensors, at = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        shape, offsets = _sizes(entry["shape"]), _sizes(entry["data_offsets"])
        if entry["dtype"] != "F64":
            raise ModelFileError(f"{name} is {entry['dtype']!s:.9}, expected F64")
        end = at + 8 * math.prod(shape)
        if offsets != [at, end] or end > left:
            raise ValueError(f"{name} is not where it should be")
        tensors[name] = np.empty(shape, "<f8")
        if file.readinto(tensors[name].reshape(-1).view(np.uint8)) != end - at:  # type: ignore[attr-defined]
            raise ValueError(f"it ends within {name}")
        at = end
    if at != left:
        raise ValueError(f"{left} bytes of numbers, expected {at}")
    return tensors


def _sizes(values: Any) -> list[int]:
    """One or two whole numbers from 0 up. Anything else is a ValueError."""
    if type(values) is not list or not 1 <= len(values) <= 2:
        raise ValueError("invalid shape or data offsets")
    if not all(type(value) is int and 0 <= value < 1 << 48 for value in values):
        raise ValueError("a shape or a place out of range")
    return values


def _check_schema(schema: object) -> None:
    if type(schema) is not int or schema < 1:
        raise ModelFileError(f"has schema {schema!r:.40}, expected a number from 1 to {SCHEMA}.")
    if schema > SCHEMA:
        raise ModelFileError(
            f"has schema {schema!r:.40}, and this version of fastgnb reads {SCHEMA}. "
            "Update fastgnb."
        )
