"""`diagnose`: whether the rows of files are as a model assumes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._system import thread_limits
from ..diagnosis.diagnosis import Diagnosis
from .arguments import Path, as_paths, check_count, check_one_of, check_target, file_options, opened
from .jobs.diagnose_files import diagnose_files
from .jobs.messages import collect_messages
from .jobs.options import ReadOptions
from .jobs.progress import Progress
from .tables.csv_dialect import CsvDialect

__all__ = ["diagnose"]


def diagnose(
    model: Any,
    paths: Path | Iterable[Path],
    *,
    target: str | None = None, target_npy: Path | None = None, weight: str | None = None,
    drop_null_target: bool = False, on_error: str = "fail", where: str | None = None,
    file_format: str | None = None, csv: CsvDialect | dict[str, Any] | None = None,
    batch_rows: int | None = None,
    threads: int | None = None, progress: Progress = False,
) -> Diagnosis:  # fmt: skip
    """Check whether the rows of files are as a model assumes.

    Parameters
    ----------
    model : estimator or path
        A fitted estimator, or a model file.
    paths : path or iterable of path
        Files and folders of rows; see `fit`.
    target : str, default=None
        Column of the labels. By default that which the model file learned from.
    target_npy : path, default=None
        File of the labels, of shape (n_samples,), for .npy data.
    weight : str, default=None
        Column of row weights. By default each row counts once.
    drop_null_target : bool, default=False
        Leave out rows without a label. They are an error otherwise.
    on_error : {"fail", "skip"}, default="fail"
        What happens to rows with values that the model cannot take.
    where, file_format, csv : str, str and CsvDialect, default=None
        Which rows are read, and how files are written; see `fit`.
    batch_rows, threads : int, default=None
        Most rows in memory, and most threads; see `fit`.
    progress : bool or callable, default=False
        Whether to show a bar, or what to call after each batch; see `fit`.

    Returns
    -------
    Diagnosis
        Normality, dependence within classes, other models of the same statistics, a suggestion.

    Raises
    ------
    SourceError
        If the files cannot be used, or the model knows none of their labels.
    ModelFileError
        If the model file is not valid.
    ValueError
        If distributions of so many classes and features take more than 128 MB.

    Warns
    -----
    UserWarning
        For rows with labels that the model does not know, which are left out.

    See Also
    --------
    fastgnb.diagnose : Diagnose a model on arrays.

    Notes
    -----
    The files are read twice: once for all that adds up, and once to score rows with models that
    have not learned them. Memory does not grow with the number of rows.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fastgnb import files
    >>> _ = Path("rows.csv").write_text("x,y\\n1,a\\n2,a\\n4,a\\n5,b\\n6,b\\n8,b\\n")
    >>> model = files.fit("rows.csv", target="y")
    >>> files.diagnose(model, "rows.csv", target="y").skewness.round(2)
    array([[0.38],
           [0.38]])
    """
    check_one_of(on_error, ("fail", "skip"), "on_error")
    check_target(target, target_npy)
    check_count(batch_rows, "batch_rows")
    check_count(threads, "threads")
    options = ReadOptions(
        paths=as_paths(paths), target=target, target_npy=target_npy, weight=weight,
        on_error=on_error, drop_null_target=drop_null_target, batch_rows=batch_rows,
        progress=progress, files=file_options(file_format, csv, where),
    )  # fmt: skip
    with thread_limits.threads(threads), collect_messages() as tell:
        return diagnose_files(opened(model), options, tell).diagnosis
