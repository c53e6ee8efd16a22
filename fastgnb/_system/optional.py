"""Where pyarrow and tqdm enter, so that a missing extra is named in one place."""

from __future__ import annotations

import importlib
import types

__all__ = ["MissingExtraError", "csv", "ipc", "pa", "pc", "pq", "require"]


class MissingExtraError(ImportError):
    """An optional package is missing; the message names the extra that brings it."""


def require(module: str) -> types.ModuleType:
    """Import an optional `module`, or raise MissingExtraError with the command to type."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"reading and writing files needs {package}, which is not installed: "
            "pip install 'fastgnb[cli]'"
        ) from error


require("pyarrow")

import pyarrow as pa  # noqa: E402
import pyarrow.compute as pc  # noqa: E402
import pyarrow.csv as csv  # noqa: E402
import pyarrow.ipc as ipc  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
