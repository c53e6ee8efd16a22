"""`open_rows`: the rows of files as a stream of batches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .arguments import Path, as_names, as_paths, check_count, check_target, file_options
from .tables.batch import RowSource
from .tables.columns import ColumnRoles
from .tables.csv_dialect import CsvDialect
from .tables.sources import open_source

__all__ = ["open_rows"]


def open_rows(
    paths: Path | Iterable[Path],
    *,
    target: str | None = None,
    target_npy: Path | None = None,
    weight: str | None = None,
    features: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] = (),
    categorical: str | Iterable[str] = (),
    keep: str | Iterable[str] = (),
    drop_null_target: bool = False,
    where: str | None = None,
    file_format: str | None = None,
    csv: CsvDialect | dict[str, Any] | None = None,
    batch_rows: int | None = None,
) -> RowSource:
    """Open files as a stream of batches of rows, in bounded memory.

    Every file is looked at first, so that a missing column in the last of a hundred files is an
    error now. No file stays open.

    Parameters
    ----------
    paths : path or iterable of path
        Parquet, CSV, Arrow IPC or .npy files, by ending. A folder stands for the files in it.
    target : str, default=None
        Column of labels.
    target_npy : path, default=None
        File of labels of shape (n_samples,), for .npy data.
    weight : str, default=None
        Column of row weights.
    features : str or iterable of str, default=None
        Columns that are features. By default every numeric or boolean column that has no other
        use, and the categorical ones.
    exclude : str or iterable of str, default=()
        Columns that are no features.
    categorical : str or iterable of str, default=()
        Columns that hold categories, or "auto": every column of text, booleans or a dictionary
        type.
    keep : str or iterable of str, default=()
        Columns to pass on as they are, those of CSV as text.
    drop_null_target : bool, default=False
        Leave out rows without a label. They are an error otherwise.
    where, file_format, csv : str, str and CsvDialect, default=None
        Which rows are read, and how files are written; see `fit`.
    batch_rows : int, default=None
        Most rows in a batch. By default what 8 MB of features hold.

    Returns
    -------
    RowSource
        Iterate over it for the batches, as often as needed. It knows names, types and numbers.

    Raises
    ------
    SourceError
        If a file is missing or not readable, or a column is missing or has a type that cannot play
        its part. While iterating, if a value cannot be converted or a file has changed.

    See Also
    --------
    fit : Fit an estimator to files.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fastgnb import GaussianNB, files
    >>> _ = Path("rows.csv").write_text("x,y\\n1,a\\n2,a\\n5,b\\n6,b\\n")
    >>> rows, model = files.open_rows("rows.csv", target="y", batch_rows=3), GaussianNB()
    >>> for batch in rows:
    ...     model = model.partial_fit(batch.X, batch.y, ["a", "b"])
    >>> model.class_count_
    array([2., 2.])
    """
    check_target(target, target_npy)
    check_count(batch_rows, "batch_rows")
    columns = ColumnRoles(
        target, weight, None if features is None else as_names(features, "features"),
        as_names(exclude, "exclude"), as_names(keep, "keep"),
        categorical if categorical == "auto" else as_names(categorical, "categorical"),
        drop_null_target=drop_null_target,
    )  # fmt: skip
    return open_source(
        as_paths(paths), columns, target_npy=target_npy, batch_rows=batch_rows,
        options=file_options(file_format, csv, where),
    )  # fmt: skip
