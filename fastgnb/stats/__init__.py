"""Statistics: numbers that add.

In: rows, labels and weights that `input` has checked, or statistics. Out: `ClassStats` (count, mean
and scatter of each class) and `MixedStats` (those, and counts of categories), which are immutable.

``a + b`` are the statistics of the rows of both, and ``total - a`` those without the rows of a.
Batches, threads, files, workers and folds are all combined by these two. Statistics know nothing of
priors, smoothing or estimators: models that differ only in these share the same statistics.

Where to start
    class_stats.py      `ClassStats`: from rows, +, -, decay
    mixed_stats.py      `MixedStats`
    chunks.py           chunks of rows into statistics, with little work around the kernel
    mixed_chunks.py     the same of continuous and categorical features
    mixed_sums.py       checked rows of both kinds of features to statistics and counts
    accumulation.py     checked rows to sums, in units that keep digits
    merging.py          +, decay, and all classes as one
    tree.py             `merge`: the order in which parts are added, and how rows are cut
    subtraction.py      what is left without some rows, and whether they can have been among them
    alignment.py        two statistics over the same classes and features
    feature_order.py    the same features in another order, by name
    rotation.py         statistics in another basis, without another read of the rows
    category_counts.py  counts of categories
    pooling.py          means over classes, weighted by shares of weight, without overflow
    checks.py           shapes, memory, and numbers beyond float64

May import: `input`, `kernels`, `_numba`, `_system`.
"""
