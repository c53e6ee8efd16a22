"""Statistics: numbers that add.

In: rows, labels and weights that `input` has checked, or statistics. Out: `ClassStats` (count, mean
and scatter of each class) and `MixedStats` (those, and counts of categories), which are immutable.

``a + b`` are the statistics of the rows of both, and ``total - a`` those without the rows of a.
Batches, threads, files, workers and folds are all combined by these two. Statistics know nothing of
priors, smoothing or estimators: two models that differ in these only have the same statistics.

Where to start
    class_stats.py   `ClassStats`: from rows, +, -, decay, one class of all
    mixed_stats.py   `MixedStats`
    subtraction.py   what is left without some rows, and whether these can have been among them
    pooling.py       means over classes, weighted by shares of weight, without overflow
    alignment.py     the same features in another order, by name

May import: `input`, `kernels`, `_numba`, `_system`.
"""
