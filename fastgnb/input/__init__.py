"""Friendly input to plain arrays, and every check of rows, labels and weights.

In: arrays, lists, frames (pandas, polars, pyarrow), memory maps, with labels and weights beside
them. Out: a float32 or float64 array of rows; labels as sorted classes and codes 0..k-1; weights as
float64; categories as small integers. A mistake in the input is found here and nowhere else, and
this room words the error: what was expected, what came, and what to do.

Nothing here knows statistics, models or files. Values are not looked at for NaN or infinity in
advance, since that would be a second read of the rows: a kernel reports the first row that is not
finite, and `check_finite` then finds the value and names its place.

Where to start
    rows.py          rows: shape, type, layout, values that are not finite
    labels.py        labels and classes to codes, and the errors about labels
    weights.py       sample weights
    label_types.py   one type for labels of several: what Python calls equal is one label
    frames.py        columns of frames, their names, dates and text among numbers
    categorical.py   which columns are categorical, and rows taken apart by kind
    category_codes.py  values of a categorical column to labels and codes
    targets.py       labels and weights of rows together
    arrow.py         arrow-backed values; type_names.py: how a type is called in a message

May import: `kernels` (labels are encoded by a compiled loop), `_numba`, `_system`.
"""
