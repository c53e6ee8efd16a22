"""`write_report`: a model, assessed on the rows of files, as one page."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any

from .._system import thread_limits
from .._system.atomic import atomic_write
from .._system.optional import require
from ..files.arguments import (
    Path,
    as_paths,
    check_count,
    check_one_of,
    check_target,
    file_options,
    opened,
)
from ..files.jobs.assess_files import Assessed, assess_files
from ..files.jobs.bad_rows import RowCounts
from ..files.jobs.messages import Messages, collect_messages
from ..files.jobs.options import ReadOptions
from ..files.jobs.progress import Progress
from ..files.models.model_file import ModelFile
from ..files.outputs import check_output
from ..files.tables.csv_dialect import CsvDialect
from .sections import report_page

__all__ = ["report_files", "write_report"]


def write_report(
    model: Any,
    paths: Path | Iterable[Path],
    output: Path,
    *,
    target: str | None = None, target_npy: Path | None = None, weight: str | None = None,
    drop_null_target: bool = False, on_error: str = "fail", where: str | None = None,
    file_format: str | None = None, csv: CsvDialect | dict[str, Any] | None = None,
    batch_rows: int | None = None,
    threads: int | None = None, progress: Progress = False, title: str | None = None,
    date: datetime.datetime | None = None,
) -> RowCounts:  # fmt: skip
    """Write a page on how good a model is, and on whether its assumptions hold.

    The page is one HTML file of at most 2 MB, whatever the number of rows, features and classes. It
    holds its style, script and plots, and fetches nothing.

    Parameters
    ----------
    model : estimator or path
        A fitted estimator, or a model file.
    paths : path or iterable of path
        Files and folders of rows; see `fastgnb.files.fit`.
    output : path
        The page to write. It appears whole or not at all, and replaces no input.
    target : str, default=None
        Column of the true labels. By default that which the model file learned from.
    target_npy : path, default=None
        File of the true labels, of shape (n_samples,), for .npy data.
    weight : str, default=None
        Column of weights of the rows. By default each counts once.
    drop_null_target : bool, default=False
        Leave out rows without a label. They are an error otherwise.
    on_error : {"fail", "skip"}, default="fail"
        What happens to rows with values that the model cannot take.
    where, file_format, csv : str, str and CsvDialect, default=None
        Which rows are read, and how files are written; see `fastgnb.files.fit`.
    batch_rows, threads : int, default=None
        Most rows in memory, and most threads; see `fastgnb.files.fit`.
    progress : bool or callable, default=False
        Whether to show a bar, or what to call after each batch; see `fastgnb.files.fit`.
    title : str, default=None
        Heading of the page. By default it names the model and the target.
    date : datetime.datetime, default=None
        Date that the page bears. By default the present one. The rest of the page depends on the
        model, the files and the versions of the libraries only.

    Returns
    -------
    RowCounts
        How many rows were compared, and how many were left out.

    Raises
    ------
    SourceError
        If the files cannot be used, have no rows, or the model knows none of their labels.
    ModelFileError
        If the model file is not valid.
    ImportError
        If matplotlib or pandas is missing: they come with ``pip install 'fastgnb[plot]'``.
    OSError, ValueError
        If the page cannot be written, or would replace an input.

    See Also
    --------
    fastgnb.files.evaluate : The numbers alone.

    Notes
    -----
    Cost: two passes over the rows, in memory that does not grow with their number, and a few
    seconds for the plots.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fastgnb import files
    >>> from fastgnb.report import write_report
    >>> _ = Path("rows.csv").write_text("x,y\\n1,a\\n2,a\\n5,b\\n6,b\\n")
    >>> model = files.fit("rows.csv", target="y")
    >>> write_report(model, "rows.csv", "report.html", target="y").n_rows
    4
    >>> Path("report.html").read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
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
        done = report_files(opened(model), output, options, tell, title=title, date=date)
    return done.counts


def report_files(
    model: ModelFile | Path,
    output: Path,
    options: ReadOptions,
    tell: Messages,
    *,
    title: str | None = None,
    date: datetime.datetime | None = None,
) -> Assessed:
    """As `write_report`, with checked arguments. Returns what the page shows."""
    for package in ("matplotlib", "pandas"):
        require(package)
    path = None if isinstance(model, ModelFile) else model
    check_output(output, [path, options.target_npy], options.paths, options.files.format)
    assessed = assess_files(model, options, tell)
    when = datetime.datetime.now().astimezone() if date is None else date
    content = report_page(assessed, title=title, date=when)
    with atomic_write(output, final=True) as temporary:
        temporary.write_bytes(content)
    return assessed
