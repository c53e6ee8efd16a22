"""Rows to sums: weight, mean and scatter of each class, in one read of the rows.

In: rows X (n, d), codes of their classes (n,), weights (n,) or None. Out: arrays of count, mean,
the low word of the mean, and scatter, (k, d) or (k, d, d), from which `stats` makes its objects.

Each block of rows gives sums of its own, of deviations from a shift near the mean of each class, so
that nothing cancels. One implementation of Chan's update merges the sums in the order of the
blocks.

Where to start
    diagonal.py        the kernel for the scatter of each feature
    full.py            the kernel for the scatter of pairs of features
    shifted_sums.py    the sums of one block
    add_rows.py        rows of a tile into the sums of a block
    class_products.py  rows of a tile into scatters, as matrix products
    tiles.py           the rows that a kernel takes at a time
    merge.py           Chan's merge
    double_double.py   sums with twice the digits of float64
    encode.py          labels to codes 0..k-1; codes.py: how kernels read codes

May import: `_numba`, `_system`, and the files of `kernels` beside this folder.
"""
