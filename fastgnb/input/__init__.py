"""Friendly input to plain arrays, and every check of rows, labels and weights.

In: arrays, lists, data frames (pandas, polars, pyarrow) and memory maps, with labels and weights.
Out: a float32 or float64 array of rows; labels as sorted classes and codes 0..k-1; weights as
float64; categories as small integers. Mistakes in the input are found here, and
this package words the error: what was expected, what came, and what to do.

Nothing here knows statistics, models or files. Rows are not searched for NaN or infinity in
advance, since that would be a second read of them: a kernel reports the first row that is not
finite, and `check_finite` then finds the value and names its place.

Where to start
    rows.py            rows: shape, type, and values that are not finite
    plain.py           what makes rows and labels plain, which need no check in advance
    labels.py          labels to classes and codes, and the errors about labels
    weights.py         sample weights
    known_labels.py    labels of classes that are known before
    targets.py         labels and weights beside rows: lengths, declared classes
    label_types.py     one type for labels of several types: what Python calls equal is one label
    frames.py          data frames: which they are, their columns, dates and text among numbers
    categorical.py     categorical features: which they are, and their columns apart from the others
    category_codes.py  values of a categorical feature to codes
    out.py             arrays that a caller gives for results
    arrow.py           dictionaries and runs of pyarrow
    type_names.py      what a type is called in error messages

May import: `kernels` (labels are encoded by a compiled loop), `_numba`, `_system`.
"""
