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
    plain.py           plain rows into the sums of a block, in one of three ways:
    few_classes.py     few classes and features: each row is added to all classes
    in_order.py        more of them: row by row
    by_class.py        many: class by class
    add_rows.py        rows with weights or missing values
    class_products.py  rows of a tile into scatters, as matrix products
    tiles.py           the rows that a kernel takes at a time
    merge.py           Chan's merge
    chunk.py           a chunk of rows into statistics, in one call
    double_double.py   sums with twice the digits of float64
    encode.py          labels to codes 0..k-1; codes.py: how kernels read codes
    categories.py      categorical columns of a table: ranges, and weights by class
    mixed_chunk.py     a chunk of such rows into statistics
    mixed.py           continuous and categorical features to sums and counts, in one read
    standardized.py    the distribution of each feature within each class: counts and moments

May import: `_numba`, `_system`, and the files of `kernels` beside this folder.
"""
