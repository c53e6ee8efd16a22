"""Labels of every container and type; encoding without sorting rows."""

from __future__ import annotations

import numpy as np
import pytest

from fastgnb.input.labels import as_labels, encode_labels, locate_labels
from fastgnb.kernels.learn import encode as kernel


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 1, 2, 1, 3]),
        np.array([3, -1, 2, -1], np.int8),
        np.array([200, 0, 255, 0], np.uint8),
        np.array([2**40, -(2**40), 0, 2**40]),
        np.array([2**63 + 5, 1, 2**64 - 1, 1], np.uint64),
        np.array([True, False, True]),
        np.array([True, True]),
        np.array([1.0, -2.0, 0.0, -0.0, 1e300]),
        np.array([1.0, 2.0], np.float32),
        np.array(["b", "a", "a longer one", "", "b", "ä"]),
        np.array(["b", "a", "a longer one", "", "b", "ä"], ">U12"),
        np.array(["b", "a", "a longer one", "", "b", "ä"], object),
        np.array([300, -2, 300], ">i4"),
        np.array([2, 1, 2], object),
        np.array([7]),
    ],
    ids=lambda labels: f"{labels.dtype} {len(labels)}",
)
def test_encode_equals_unique(labels):
    found = encode_labels(labels)
    classes, codes = found.classes, found.codes
    want, inverse = np.unique(labels, return_inverse=True)
    assert classes.tolist() == want.tolist()
    assert codes.tolist() == inverse.tolist()
    assert codes.dtype == np.int32
    assert classes.dtype.kind == labels.dtype.kind or labels.dtype.kind == "O"


def test_many_distinct_values_grow_the_hash_table(rng):
    labels = rng.permutation(np.repeat(np.arange(30_000) * 1_000_003.0, 2))
    classes, coded = kernel.encode_fixed(labels)
    want, inverse = np.unique(labels, return_inverse=True)
    assert (classes == want).all()
    assert (coded.codes() == inverse).all()


def test_wide_integers_are_not_looked_up_in_a_table():
    assert kernel.encode_integers(np.array([0, 2**16])) is None
    assert kernel.encode_integers(np.array([5, 5 + 2**16 - 1]))[0].tolist() == [5, 65540]


def test_locate_in_declared_classes():
    found = encode_labels(np.array(["b", "a", "b"]))
    declared = np.array(["a", "aa", "b"])
    assert locate_labels(found, declared).codes.tolist() == [2, 0, 2]
    with pytest.raises(ValueError, match=r"label\(s\) \['b'\] in y do not exist in the initial"):
        locate_labels(found, np.array(["a", "c"]))


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (np.array([0.5, 1.0]), ValueError, "Unknown label type: continuous"),
        (np.array([0.0, np.nan]), ValueError, "Input y contains NaN"),
        (np.array([0.0, np.inf]), ValueError, "Input y contains infinity"),
        (np.array([1j]), ValueError, "Unknown label type: complex128"),
        (np.array(["2020-01-01"], "M8[D]"), ValueError, "Unknown label type: datetime64"),
        (np.array(["a", None], object), ValueError, "Input y contains NaN or None: None"),
        (np.array(["a", np.nan], object), ValueError, "Input y contains NaN or None: nan"),
        (np.array(["a", 1], object), TypeError, r"uniformly text or numbers, got \['int', 'str'\]"),
        (np.array([(1, 2), (3,)], object), ValueError, "Unknown label type: tuple"),
        (np.array([b"b", b"a"]), TypeError, "labels represented as bytes is not supported"),
        (np.array([2**70, 1], object), ValueError, "cannot be held exactly by one numeric type"),
        (np.array([2**63 + 1, 2**63 + 3, -1], object), ValueError, "cannot be held exactly"),
    ],
)
def test_labels_of_no_class(labels, error, message):
    with pytest.raises(error, match=message):
        encode_labels(labels)


def test_missing_pandas_labels():
    import pandas as pd

    with pytest.raises(ValueError, match="Input y contains NaN"):
        as_labels(pd.Series([1, None], dtype="Int64"))
    with pytest.raises(ValueError, match="NaN or None: <NA>"):
        encode_labels(np.array(["a", pd.NA], object))
    assert as_labels(pd.Series([1, 2], dtype="Int8")).dtype == np.int8


def test_label_containers_agree():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    y = ["b", "a", "b"]
    containers = [
        y, tuple(y), np.array(y), pd.Series(y), pd.Series(y, dtype="category"),
        pd.Series(y, dtype="string"), pd.Categorical(y, categories=["b", "x", "a"], ordered=True),
        pl.Series(y), pa.array(y), pa.chunked_array([y]), pa.array(y).dictionary_encode(),
    ]  # fmt: skip
    for container in containers:
        found = encode_labels(as_labels(container))
        classes, codes = found.classes, found.codes
        assert classes.tolist() == ["a", "b"]
        assert codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "labels",
    [
        [0, 60_000, 5],
        [70_000, 10, 70_000],
        [-(2**63), 2**63 - 1, 0],
        [2**63 - 1, 2**63 - 2],
        [-(2**63), -(2**63) + 1, -(2**63)],
        [10**6, 10**6 + 2047, 10**6 - 2048, 10**6 + 2048],
    ],
)
def test_whole_numbers_near_and_far(labels):
    y = np.array(labels, np.int64)
    found = encode_labels(y)
    want, inverse = np.unique(y, return_inverse=True)
    assert (found.classes == want).all()
    assert (found.codes == inverse).all()
    assert found.classes.dtype == y.dtype
