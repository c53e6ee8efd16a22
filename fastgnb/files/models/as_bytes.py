"""Statistics and models as bytes: what one machine sends to another."""

from __future__ import annotations

from typing import Any

from ...input.type_names import type_name
from ...stats.class_stats import ClassStats
from ...stats.mixed_stats import MixedStats
from .container import unpack_bytes
from .edits import storable
from .model_file import (
    ModelFile,
    invalid_is_refused,
    model_file_of,
    packed,
    to_estimator,
    to_model,
)
from .statistics import document_of_stats, restore_statistics
from .tensors import tensors_of_stats

__all__ = ["from_bytes", "to_bytes"]


def to_bytes(obj: Any) -> bytes:
    """Write statistics, or a fitted estimator, as bytes.

    Reading them executes nothing, whereas a pickle runs code of its writer.

    Parameters
    ----------
    obj : ClassStats, MixedStats, or a fitted estimator of this package
        What to write. Statistics may have no rows, and no classes.

    Returns
    -------
    bytes
        In the layout of a model file. Those of an estimator are what `save` writes.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If an estimator is not fitted.
    TypeError
        If it is of another kind.
    ValueError
        If a model file cannot hold it: labels of a type such as dates, or edited fitted attributes
        of members other than `GaussianNB`.

    See Also
    --------
    from_bytes : Read them.
    save : Save an estimator to a file.
    merge : Add statistics of many parts.

    Notes
    -----
    Equal statistics give equal bytes, on every machine and in every process; equal models do with
    the same versions of Python, NumPy and fastgnb, which their bytes name. The size is that of the
    float64 numbers of the statistics, and less than 1 kB besides labels and names.

    Examples
    --------
    >>> from fastgnb import ClassStats, from_bytes, to_bytes
    >>> stats = ClassStats.from_rows([[1.0], [3.0], [8.0]], [0, 0, 1])
    >>> data = to_bytes(stats)
    >>> (from_bytes(data) + stats).count
    array([4., 2.])
    """
    if isinstance(obj, (ClassStats, MixedStats)):
        return packed(document_of_stats(obj), tensors_of_stats(obj), restore_statistics)
    return ModelFile(storable(to_model(obj))).to_bytes()


def from_bytes(data: bytes | bytearray | memoryview) -> Any:
    """Read statistics, or a fitted estimator, from bytes. Nothing in them is executed.

    Parameters
    ----------
    data : bytes-like
        What `to_bytes` wrote, in this version or an earlier one, or the content of a model file.

    Returns
    -------
    ClassStats, MixedStats, or a fitted estimator of this package
        What was written, to the bit.

    Raises
    ------
    ModelFileError
        If the bytes are truncated, altered, of a later version, or hold neither.
    TypeError
        If it is not bytes.

    See Also
    --------
    to_bytes : Write them.
    load : Load an estimator from a file.

    Examples
    --------
    >>> from fastgnb import GaussianNB, from_bytes, to_bytes
    >>> model = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b"])
    >>> from_bytes(to_bytes(model)).predict([[1.5], [5.5]]).tolist()
    ['a', 'b']
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"Expected bytes, got {type_name(data)}.")
    content = unpack_bytes(data)
    document, tensors, _ = content
    if "statistics" in document:
        with invalid_is_refused("", "content"):
            return restore_statistics(document, tensors)
    with invalid_is_refused(""):
        model = model_file_of(content).model
    return to_estimator(model)
