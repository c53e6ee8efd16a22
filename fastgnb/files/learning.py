"""`fit`, `update` and `merge`: files and models to one estimator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._system import thread_limits
from ..model.family import MEMBERS
from .arguments import (
    Path,
    as_names,
    as_paths,
    check_count,
    check_one_of,
    check_shard,
    check_target,
    choice_of,
    file_options,
    name_of_categorical,
    opened,
)
from .jobs.learn_files import fit_files, fit_shard, update_files
from .jobs.merge_models import merge_models
from .jobs.messages import collect_messages
from .jobs.options import LearnOptions
from .jobs.progress import Progress
from .models.model_file import to_estimator
from .tables.columns import ColumnRoles
from .tables.csv_dialect import CsvDialect

__all__ = ["fit", "merge", "update"]


def fit(
    paths: Path | Iterable[Path],
    *,
    target: str | None = None,
    target_npy: Path | None = None,
    weight: str | None = None,
    model: Any = None,
    features: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] = (),
    categorical: str | Iterable[str] | None = None,
    drop_null_target: bool = False,
    on_error: str = "fail",
    max_classes: int = 10_000,
    again: bool = False,
    output: Path | None = None,
    checkpoint: Path | None = None,
    shard: tuple[int, int] | None = None,
    workers: int | None = None,
    where: str | None = None,
    file_format: str | None = None,
    csv: CsvDialect | dict[str, Any] | None = None,
    batch_rows: int | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Any:
    """Fit an estimator to the rows of files, which need not fit in memory.

    Parameters
    ----------
    paths : path or iterable of path
        Parquet, CSV, Arrow IPC or .npy files, by ending. A folder stands for the files in it. Paths
        may have a scheme, such as s3://bucket/key, and so may all other paths.
    target : str, default=None
        Column of labels. Either this or `target_npy` is required.
    target_npy : path, default=None
        File of labels of shape (n_samples,), for .npy data.
    weight : str, default=None
        Column of row weights.
    model : estimator, default=None
        Its parameters are taken; it stays as it is. By default a `GaussianNB`, or a `MixedNB` if
        `categorical` names columns.
    features : str or iterable of str, default=None
        Columns that are features. By default every numeric or boolean column that has no other
        use, and the categorical ones.
    exclude : str or iterable of str, default=()
        Columns that are no features, such as identifiers.
    categorical : str or iterable of str, default=None
        Columns that hold categories, for a `MixedNB`, or "auto": every column of text, booleans or
        a dictionary type, except those that identify rows. By default what `model` says.
    drop_null_target : bool, default=False
        Leave out rows without a label. They are an error otherwise.
    on_error : {"fail", "skip"}, default="fail"
        What happens to rows with values that the model cannot take: infinities and, unless the
        model skips these, missing values.
    max_classes : int, default=10000
        Most distinct labels.
    again : bool, default=False
        Allow a file that is given twice, whose rows count twice.
    output : path, default=None
        Model file to write, too. It also records the names of the columns and which files were
        learned, which the estimator does not.
    checkpoint : path, default=None
        Folder that keeps what was learned of each file. A later call with the same options reads
        only files that are not there, or have changed since, and gives the same bits.
    shard : tuple of (int, int), default=None
        (i, n): learn the i-th of each n files, from 1, for the checkpoint only. Jobs of a batch
        system learn a shard each, and a call without `shard` then gives the model.
    workers : int, default=None
        Processes that learn files for the checkpoint, each with its share of the cores. A script
        that is run has to call `fit` under ``if __name__ == "__main__"``.
    where : str, default=None
        Rows to read, as a condition on columns such as ``"year >= 2026 and month in (11, 12)"``.
        Files and row groups that hold none are skipped; see the page of files in the documentation.
    file_format : {"csv", "parquet", "arrow", "npy"}, default=None
        Format of the files, where the endings of their names do not tell.
    csv : CsvDialect or dict, default=None
        How CSV is written: separators, decimal points, missing values, encoding.
    batch_rows : int, default=None
        Most rows in memory. By default what 8 MB of features hold. Rows of a file are added up in
        batches of so many, so that another number changes the last bits of the model.
    threads : int, default=None
        Most threads. By default one for each core.
    progress : bool or callable, default=False
        True shows a bar on standard error. A function is called after each batch with the number
        of rows read, and the number of all rows or None if that is not known yet.

    Returns
    -------
    GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
        A fitted estimator; None with `shard`.

    Raises
    ------
    SourceError
        If the files cannot be used, or a state in `checkpoint` was altered. The message names file,
        column and row.
    ValueError
        If an argument is wrong or the model cannot have these parameters.
    OSError
        If a file cannot be read or written, or a worker was killed.

    Warns
    -----
    UserWarning
        For what may well be wrong: a column that identifies rows, say, or features that smoothing
        drowns. Other decisions are logged by the logger ``fastgnb.files``.

    See Also
    --------
    update : Learn more files.
    fastgnb.save : Save an estimator to a model file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fastgnb import GaussianNB, files
    >>> _ = Path("rows.csv").write_text("x,y\\n1,a\\n2,a\\n5,b\\n6,b\\n")
    >>> model = files.fit("rows.csv", target="y", model=GaussianNB(var_smoothing=0.0))
    >>> model.theta_.tolist()
    [[1.5], [5.5]]
    """
    check_target(target, target_npy, required=True)
    if features is not None and exclude:
        raise ValueError("features and exclude exclude each other.")
    marked = name_of_categorical(model, categorical)
    choice = choice_of(model, marked)
    columns = ColumnRoles(
        target, weight, None if features is None else as_names(features, "features"),
        as_names(exclude, "exclude"), categorical=marked, drop_null_target=drop_null_target,
    )  # fmt: skip
    options = _options(
        paths, target=target, target_npy=target_npy, weight=weight, on_error=on_error,
        drop_null_target=drop_null_target, max_classes=max_classes, again=again,
        batch_rows=batch_rows, progress=progress, files=file_options(file_format, csv, where),
        checkpoint=checkpoint, shard=check_shard(shard), workers=workers,
    )  # fmt: skip
    check_count(threads, "threads")
    check_count(workers, "workers")
    with thread_limits.threads(threads), collect_messages() as tell:
        if shard is not None:
            fit_shard(columns, choice, options, tell)
            return None
        learned = fit_files(columns, choice, options, output, tell)
    return to_estimator(learned.saved.model)


def update(
    model: Any,
    paths: Path | Iterable[Path],
    *,
    target: str | None = None,
    target_npy: Path | None = None,
    weight: str | None = None,
    drop_null_target: bool = False,
    on_error: str = "fail",
    max_classes: int = 10_000,
    again: bool = False,
    output: Path | None = None,
    where: str | None = None,
    file_format: str | None = None,
    csv: CsvDialect | dict[str, Any] | None = None,
    batch_rows: int | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Any:
    """Learn the rows of more files into a fitted model.

    The result is that of a fit to all rows at once, to rounding. The model that is given, whether
    an estimator or a file, stays as it is unless `output` names that file.

    Parameters
    ----------
    model : estimator or path
        A fitted estimator, or a model file.
    paths : path or iterable of path
        Files and folders of rows; see `fit`.
    target : str, default=None
        Column of labels. By default that which the model file learned from.
    target_npy : path, default=None
        File of labels of shape (n_samples,), for .npy data.
    weight : str, default=None
        Column of row weights. By default that which the model file learned from, if any.
    drop_null_target : bool, default=False
        Leave out rows without a label. They are an error otherwise.
    on_error : {"fail", "skip"}, default="fail"
        What happens to rows with values that the model cannot take.
    max_classes : int, default=10000
        Most distinct labels, those of the model included.
    again : bool, default=False
        Allow files that the model file has learned before, whose rows count twice.
    output : path, default=None
        Model file to write, too; it may be the one that is given.
    where, file_format, csv : str, str and CsvDialect, default=None
        Which rows are read, and how files are written; see `fit`.
    batch_rows, threads : int, default=None
        Most rows in memory, and most threads; see `fit`.
    progress : bool or callable, default=False
        Whether to show a bar, or what to call after each batch; see `fit`.

    Returns
    -------
    GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
        A new fitted estimator.

    Raises
    ------
    SourceError
        If the files cannot be used. The message names file, column and row.
    ModelFileError
        If the model file is not valid.
    ValueError
        If an argument is wrong, or a file was learned before.

    See Also
    --------
    fit : Fit an estimator to files.
    merge : Merge models that were fitted apart.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fastgnb import files
    >>> _ = Path("first.csv").write_text("x,y\\n1,a\\n2,a\\n5,b\\n6,b\\n")
    >>> _ = Path("second.csv").write_text("x,y\\n3,a\\n7,b\\n")
    >>> model = files.fit("first.csv", target="y", output="model.fgnb")
    >>> files.update("model.fgnb", "second.csv", output="model.fgnb").class_count_
    array([3., 3.])
    """
    options = _options(
        paths, target=target, target_npy=target_npy, weight=weight, on_error=on_error,
        drop_null_target=drop_null_target, max_classes=max_classes, again=again,
        batch_rows=batch_rows, progress=progress, files=file_options(file_format, csv, where),
    )  # fmt: skip
    check_target(target, target_npy)
    check_count(threads, "threads")
    with thread_limits.threads(threads), collect_messages() as tell:
        learned = update_files(opened(model), options, output, tell)
    return to_estimator(learned.saved.model)


def _options(paths: Path | Iterable[Path], **given: Any) -> LearnOptions:
    """What a job takes. Raises ValueError for wrong arguments."""
    check_one_of(given["on_error"], ("fail", "skip"), "on_error")
    check_count(given["batch_rows"], "batch_rows")
    check_count(given["max_classes"], "max_classes")
    return LearnOptions(paths=as_paths(paths), **given)


def merge(
    models: Iterable[Any],
    *,
    model_type: str | None = None,
    again: bool = False,
    output: Path | None = None,
    **parameters: Any,
) -> Any:
    """Merge models that were fitted apart, exactly.

    Features and classes are matched by name. Parameters are those of the models.

    Parameters
    ----------
    models : iterable of estimator or path
        Fitted estimators and model files.
    model_type : str, default=None
        Another member of the family to estimate, such as "GaussianBayes".
    again : bool, default=False
        Merge model files that have learned the same files, whose rows count twice.
    output : path, default=None
        Model file to write, too.
    **parameters : dict
        Parameters of the merged model, such as ``var_smoothing``. Where the models differ in one,
        it is required.

    Returns
    -------
    GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
        A new fitted estimator of the rows of all models.

    Raises
    ------
    ValueError
        If the models have other features, differ in a parameter that is not given, or have
        learned the same files.
    ModelFileError
        If a model file is not valid.

    See Also
    --------
    update : Learn more files into a model.

    Examples
    --------
    >>> from fastgnb import GaussianNB, files
    >>> a = GaussianNB().fit([[1.0], [2.0]], ["a", "b"])
    >>> b = GaussianNB().fit([[3.0], [4.0]], ["a", "b"])
    >>> files.merge([a, b]).theta_.tolist()
    [[2.0], [3.0]]
    """
    given = [opened(model) for model in models]
    if not given:
        raise ValueError("models is empty, expected at least one.")
    if model_type is not None:
        check_one_of(model_type, sorted(MEMBERS), "model_type")
    with collect_messages() as tell:
        merged = merge_models(given, parameters, model_type, output, tell, again=again)
    return to_estimator(merged.model)
