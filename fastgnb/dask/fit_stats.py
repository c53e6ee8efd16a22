"""`fit_stats`: Dask collections to statistics."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..input.labels import classes_of
from ..input.rows import check_missing
from ..stats.checks import check_scatter
from ..stats.class_stats import ClassStats
from ..stats.mixed_stats import MixedStats
from .collections import collected
from .learning import Learning, learned
from .tree import check_split_every

__all__ = ["fit_stats"]


def fit_stats(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    target: str | None = None,
    weight: str | None = None,
    classes: ArrayLike | None = None,
    missing: str = "error",
    scatter: str = "diag",
    categorical: Any = None,
    split_every: int = 8,
) -> ClassStats | MixedStats:
    """Make statistics of the rows of a Dask array or dataframe, in one read of them.

    Parameters
    ----------
    X : dask.array.Array of shape (n_samples, n_features) or dask.dataframe.DataFrame
        Rows. Sizes of chunks may be unknown. Several chunks of columns are made one.
    y : dask.array.Array of shape (n_samples,), dask.dataframe.Series or str, default=None
        Labels: whole numbers, booleans or text. Text is the name of a column of X.
    sample_weight : dask.array.Array of shape (n_samples,), dask.dataframe.Series, float or str
        Weights of 0 or more, a number for equal weights, or the name of a column. None: 1 each.
    target, weight : str, default=None
        Columns of a dataframe with labels and weights, in the place of `y` and `sample_weight`. All
        other columns are features.
    classes : array-like of shape (n_classes,), default=None
        Labels that may occur. None: those of all partitions, united.
    missing : {"error", "skip"}, default="error"
        What to do with missing values: raise, or leave each out of its feature's sums.
    scatter : {"diag", "full"}, default="diag"
        Keep one number a feature, or one a pair of features.
    categorical : "auto", array-like of {bool, int, str} or None, default=None
        Categorical features: a mask, positions or names; "auto" for columns of a dataframe whose
        type is for categories, text or booleans. None: `ClassStats`, without any.
    split_every : int, default=8
        How many results one task merges: a power of two, which changes no bit of the result.

    Returns
    -------
    ClassStats or MixedStats
        Statistics of all rows.

    Raises
    ------
    PartitionError
        If the rows of a partition are invalid, or differ in kind from those of others. The message
        names the partition.
    ValueError
        If collections cannot be aligned, arguments are invalid, or there are no rows.
    TypeError
        If X is not a Dask collection, or labels and weights are not of its kind; if there are no
        labels.

    See Also
    --------
    Distributed : An estimator of Dask collections.
    fastgnb.files.fit : A model of files.

    Notes
    -----
    Bits: a partition's rows are cut in batches by their number of features, and `fastgnb.merge`
    adds up batches, and then partitions, in their order. The same partitions give the same bits
    with any scheduler, number of workers and `split_every`, and in files.

    Cost: one task for each partition, and one for each `split_every` results. Tasks exchange
    statistics of k (d + 1) or k d^2 numbers, for k classes and d features, and no rows.

    Examples
    --------
    >>> import dask.array as da
    >>> from fastgnb.dask import fit_stats
    >>> X = da.from_array([[1.0], [3.0], [8.0], [9.0]], chunks=(2, 1))
    >>> fit_stats(X, da.from_array([0, 0, 1, 1], chunks=2)).mean.ravel()
    array([2. , 8.5])
    """
    split_every = check_split_every(split_every)
    check_missing(missing)
    is_full = check_scatter(scatter)
    if categorical is not None and is_full:
        raise ValueError("scatter='full' is for continuous features only: leave categorical out.")
    labels = _one_of(y, target, "y", "target")
    if labels is None:
        raise TypeError("Expected y or target, got neither.")
    weights = _one_of(sample_weight, weight, "sample_weight", "weight")
    rows = collected(X, labels, weights)
    declared = None if classes is None else classes_of(classes)
    how = Learning(categorical is not None, categorical, missing, scatter, declared)
    found: ClassStats | MixedStats = learned(rows, how, split_every)
    return found


def _one_of(values: Any, name: str | None, argument: str, other: str) -> Any:
    """What came by either of two arguments. Raises TypeError for both."""
    if values is not None and name is not None:
        raise TypeError(f"Expected {argument} or {other}, got both.")
    return values if name is None else name
