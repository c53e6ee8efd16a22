"""Statistics: numbers that add.

In: rows, labels and weights that `input` has checked, or statistics. Out: `ClassStats` (count, mean
and scatter of each class) and `MixedStats` (those, and counts of categories), which are immutable.

``a + b`` are the statistics of the rows of both, and ``total - a`` those without the rows of a.
Batches, threads, files, workers and folds are all combined by these two. Statistics know nothing of
priors, smoothing or estimators: two models that differ in these only have the same statistics.

Where to start
    class_stats.py       `ClassStats`: from rows, +, -, decay, one class of all
    accumulation.py      checked rows to sums, in units that keep digits
    merging.py           statistics added, over rows and over classes
    subtraction.py       what is left without rows, and whether these can have been among them
    alignment.py         two statistics over the same classes and features, before + and -
    mixed_stats.py       `MixedStats`; category_counts.py: its tables of counts
    feature_order.py     the same features in another order, by name
    rotation.py          the statistics of rows in another basis
    pooling.py           means over classes, weighted by shares of weight, without overflow
    checks.py            checks of shapes, memory and overflow

May import: `input`, `kernels`, `_numba`, `_system`.
"""
