"""Where optional packages enter, so that a missing extra is named in one place.

``from .._system.optional import pa`` imports pyarrow, or says which extra brings it.
"""

from __future__ import annotations

import importlib
import types
from typing import TYPE_CHECKING, Any

__all__ = ["MissingExtraError", "csv", "da", "dd", "ipc", "pa", "pc", "pd", "plt", "pq", "require"]

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as csv
    import pyarrow.ipc as ipc
    import pyarrow.parquet as pq

    da: Any  # imported by the room `dask` only
    dd: Any
    pd: Any
    plt: Any

_MODULES = {
    "csv": "pyarrow.csv",
    "da": "dask.array",
    "dd": "dask.dataframe",
    "ipc": "pyarrow.ipc",
    "pa": "pyarrow",
    "pc": "pyarrow.compute",
    "pd": "pandas",
    "plt": "matplotlib.pyplot",
    "pq": "pyarrow.parquet",
}

_EXTRAS = {
    "dask": "dask",
    "fsspec": "s3",
    "matplotlib": "plot",
    "mlflow": "mlflow",
    "onnx": "onnx",
    "pandas": "plot",
    "polars": "polars",
    "pyspark": "spark",
    "vl_convert": "dashboard",
}  # others: `cli`

_PURPOSES = {
    "cli": "reading and writing files",
    "dashboard": "a page of benchmarks",
    "dask": "fastgnb.dask",
    "mlflow": "fastgnb.mlflow",
    "onnx": "to_onnx",
    "plot": "fastgnb.plot",
    "polars": "polars_expr",
    "spark": "fastgnb.spark",
    "s3": "a path with a scheme, such as s3://,",
}


class MissingExtraError(ImportError):
    """An optional package is missing; the message names the extra that brings it."""


def require(module: str) -> types.ModuleType:
    """Import an optional `module`, or raise MissingExtraError with the command to type."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        extra = _EXTRAS.get(package, "cli")
        raise MissingExtraError(
            f"{_PURPOSES[extra]} needs {package}, which is not installed: "
            f"pip install 'fastgnb[{extra}]'"
        ) from error


def __getattr__(name: str) -> Any:
    """Import a module under its short name (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = globals()[name] = require(_MODULES[name])
    return module
