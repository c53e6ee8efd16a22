"""The container of a model: a safetensors file of a JSON text, its digest and float64 tensors.

Which files the model learned is in a text of its own, with its digest, so that readers that do not
know of it can read the rest. All is read here, in one pass over one open file, and not mapped: who
cuts a mapped file short ends the process that reads it. All is written here too, with sorted names,
so that equal content gives equal bytes; the package safetensors writes them in any order.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import stat
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..._system.remote.paths import AnyPath, RemotePath, as_path

__all__ = [
    "SCHEMA", "ModelFileError", "check_no_table", "digest", "pack", "unpack", "unpack_bytes",
]  # fmt: skip

# How files of rows begin, by their ending; text begins in any way.
_TABLES = {
    ".parquet": b"PAR1", ".arrow": b"ARROW1", ".feather": b"ARROW1", ".ipc": b"ARROW1",
    ".npy": b"\x93NUMPY", ".csv": b"",
}  # fmt: skip

SCHEMA = 4
Floats = NDArray[np.float64]
Content = tuple[dict[str, Any], dict[str, Floats], Any]

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
    meta = {"fastgnb": text, "sha256": digest(text, tensors)}
    if learned is not None:
        meta |= {"learned": learned, "learned_sha256": _learned_digest(learned, meta["sha256"])}
    entries, at = {}, 0
    for name, tensor in sorted(tensors.items()):
        kind = f"F{8 * tensor.itemsize}"
        offsets = [at, at + tensor.nbytes]
        entries[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": offsets}
        at = offsets[1]
    header = json.dumps({"__metadata__": meta, **entries}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)  # so that tensors are aligned
    if len(header) > _LONGEST_HEADER:
        raise ValueError(
            f"Labels and feature names make a header of {len(header)} bytes, and a model file "
            f"holds at most {_LONGEST_HEADER}. Shorten them."
        )
    numbers = (tensors[name].tobytes() for name in entries)
    return b"".join([len(header).to_bytes(8, "little"), header, *numbers])


def check_no_table(path: str | os.PathLike[str]) -> None:
    """Raise ValueError where a file of rows stands at `path`, which a model would replace."""
    starts = _TABLES.get(os.path.splitext(path)[1].lower())
    place = as_path(path)
    if starts is None or not place.is_file():
        return
    with place.open("rb") as file:
        head = file.read(9)
    is_model = head[8:9] == b"{"  # after the length of the header
    if head and not is_model and head.startswith(starts):
        raise ValueError(
            f"{os.fspath(path)}: holds rows, which a model would replace; name another file, such "
            "as model.fgnb"
        )


def unpack(path: str | os.PathLike[str]) -> Content:
    """The JSON object and the tensors of a file, as they were written but not looked into, and
    what JSON says of the files that it learned, or None.

    Raises ModelFileError, and OSError where the file cannot be read at all. Takes memory in
    proportion to the file, whatever it holds.
    """
    with _open(as_path(path)) as file:
        return _unpacked(file, f"{os.fspath(path)}: ")


def unpack_bytes(data: bytes | bytearray | memoryview) -> Content:
    """What `unpack` gives of a file with this content. Raises ModelFileError."""
    return _unpacked(io.BytesIO(data), "")


def _unpacked(file: BinaryIO, prefix: str) -> Content:
    try:
        return _read(file)
    except (OSError, MemoryError):  # not the file's fault
        raise
    except ModelFileError as error:
        raise ModelFileError(f"{prefix}{error}") from None
    except Exception as error:
        raise ModelFileError(f"{prefix}not a whole fastgnb model file ({error}).") from error


def digest(text: str, tensors: Mapping[str, NDArray[Any]]) -> str:
    """SHA-256 over the text and each tensor's name, shape, type and numbers."""
    sha = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        sha.update(f"{name} {tensors[name].shape} {tensors[name].dtype.str}".encode())
        sha.update(tensors[name].reshape(-1).data)
    return sha.hexdigest()


def _open(path: AnyPath) -> BinaryIO:
    """The content of a file; of a remote one all of it, read in one request."""
    if isinstance(path, RemotePath):
        return io.BytesIO(path.read_bytes())
    return open(path, "rb", opener=_open_at_once)


def _open_at_once(name: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _read(file: BinaryIO) -> Content:
    size = _size_of(file)
    header = _header(file, size)
    meta = header.pop("__metadata__", None) or {}
    if "fastgnb" not in meta or "sha256" not in meta:
        raise ModelFileError("a safetensors file, but not a fastgnb model.")
    document = json.loads(meta["fastgnb"])
    if type(document) is not dict:
        raise ValueError("its description is not a JSON object")
    _check_schema(document.get("schema"))
    tensors = _read_tensors(file, header, size)
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


def _size_of(file: BinaryIO) -> int:
    """Bytes of a file. Raises ModelFileError for what is none, such as a pipe."""
    if isinstance(file, io.BytesIO):
        return len(file.getbuffer())
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise ModelFileError("not a regular file. Copy what it gives to a file, and load that.")
    return status.st_size


def _header(file: BinaryIO, size: int) -> dict[str, Any]:
    """The JSON object that a safetensors file begins with. Reads no more than that."""
    length = int.from_bytes(file.read(8), "little")
    if not 0 < length <= min(size - 8, _LONGEST_HEADER):
        raise ValueError(f"a header of {length} bytes in a file of {size}")
    header = json.loads(file.read(length).decode())
    if type(header) is not dict:
        raise ValueError("its header is not a JSON object")
    return header


def _read_tensors(file: BinaryIO, header: dict[str, Any], size: int) -> dict[str, Floats]:
    """The tensors behind the header, which fill the file without gaps or overlaps."""
    left = size - file.tell()
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
