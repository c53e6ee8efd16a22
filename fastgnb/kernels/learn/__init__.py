"""Rows to sums: weight, mean and scatter of each class, in one read of the rows.

In: rows X (n, d), codes of their classes (n,), weights (n,) or None. Out: arrays of count, mean,
the low word of the mean, and scatter, (k, d) or (k, d, d), from which `stats` makes its objects.

Each block of rows gives sums of its own, around a shift near its mean, so that nothing cancels; one
implementation of the update of Chan, Golub and LeVeque merges them in the order of the blocks.

Where to start
    diagonal.py      scatter of each feature
    full.py          scatter of pairs of features
    merge.py         Chan's merge, and sums with twice the digits of float64
    encode.py        labels to codes 0..k-1 by hashing

May import: `_numba`, and the files of `kernels` beside this folder.
"""
