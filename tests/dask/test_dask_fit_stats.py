"""`fastgnb.dask.fit_stats`: what may come, how it is aligned, and errors that name partitions."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from dask_cases import expected, frame_of, labelled_rows, lazy_array, lazy_frame, parts_of
from engines import engine_module
from members import CASES
from same_bits import assert_same_bits

from fastgnb import ClassStats, MixedStats, merge
from fastgnb.dask import PartitionError, fit_stats
from fastgnb.dask.errors import naming_partition
from fastgnb.input.rows import NotFiniteError

dask = engine_module("dask")
da = engine_module("dask.array")
dd = engine_module("dask.dataframe")

pytestmark = pytest.mark.engine

SIZES = (300, 0, 250, 350)
X, Y, W = labelled_rows()
PLAIN = CASES["GaussianNB"]


def unread(part):
    raise AssertionError("a partition was read")


def wanted(**options):
    return expected(PLAIN, X, Y, W, SIZES, **options)


def rows_of(values=X, **options):
    return lazy_array(values, SIZES, **options)


# ------------------------------------------------------------------------------------- alignment


def test_several_chunks_of_columns_are_made_one():
    rows = da.from_array(X, chunks=(SIZES, (1, 3, 2)))
    assert_same_bits(fit_stats(rows, rows_of(Y), rows_of(W)), wanted())


def test_sizes_of_chunks_may_be_unknown():
    found = fit_stats(*(rows_of(v, unknown=True) for v in (X, Y, W)))
    assert_same_bits(found, wanted())
    rows = da.from_array(X, chunks=(SIZES, (1, 3, 2)))
    rows._chunks = ((np.nan,) * len(SIZES), rows.chunks[1])
    assert_same_bits(fit_stats(rows, rows_of(Y), rows_of(W)), wanted())


def test_labels_and_weights_are_cut_as_the_rows():
    found = fit_stats(rows_of(), da.from_array(Y, chunks=100), da.from_array(W, chunks=900))
    assert_same_bits(found, wanted())


def test_filtered_rows_have_unknown_sizes():
    mask = rows_of(X[:, 0]) > np.median(X[:, 0])
    found = fit_stats(rows_of()[mask], rows_of(Y)[mask], rows_of(W)[mask])
    keep = X[:, 0] > np.median(X[:, 0])
    sizes = tuple(int(part.sum()) for part in parts_of(keep, SIZES))
    assert_same_bits(found, expected(PLAIN, X[keep], Y[keep], W[keep], sizes))


def test_unknown_sizes_in_other_numbers_are_refused():
    labels = da.from_array(Y, chunks=100)
    message = r"X of shape \(nan, 6\) in 4 chunks of rows and y of shape \(900,\) in 9 chunks"
    with pytest.raises(ValueError, match=message):
        fit_stats(rows_of(unknown=True), labels)


def test_other_numbers_of_rows_are_refused():
    message = r"inconsistent numbers of samples: X has shape \(900, 6\), and y has shape \(800,\)"
    with pytest.raises(ValueError, match=message):
        fit_stats(rows_of(), da.from_array(Y[:800], chunks=100))
    labels = lazy_array(Y[:800], (200, 0, 250, 350), unknown=True)
    with pytest.raises(PartitionError, match=r"^partition 0: .*samples: 300 rows of X, 200 of y"):
        fit_stats(rows_of(unknown=True), labels)


def test_one_number_is_the_weight_of_all_rows():
    weight = np.full(len(X), 2.5)
    assert_same_bits(fit_stats(rows_of(), rows_of(Y), 2.5), expected(PLAIN, X, Y, weight, SIZES))


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((X, Y), TypeError, r"Expected a dask array or dataframe, got numpy\.ndarray\."),
        ((rows_of(), Y), TypeError, r"Expected y as a dask array, as X is one, got numpy"),
        ((rows_of(), rows_of(Y), W), TypeError, r"Expected sample_weight as a dask array"),
        ((rows_of(), None), TypeError, r"Expected y or target, got neither"),
        ((rows_of(Y), rows_of(Y)), ValueError, r"Expected 2D array, got 1D array instead"),
        ((rows_of(), rows_of(X)), ValueError, r"y should be a 1d array, got .*\(900, 6\)"),
        ((rows_of(X[:, :0]), rows_of(Y)), ValueError, r"1 or more features.*shape \(900, 0\)"),
    ],
)
def test_other_arrays_are_refused(arguments, error, match):
    with pytest.raises(error, match=match):
        fit_stats(*arguments)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"split_every": 6}, ValueError, r"split_every must be a power of two.*got 6"),
        ({"split_every": 1}, ValueError, r"split_every must be a power of two.*got 1"),
        ({"split_every": True}, ValueError, r"split_every must be a power of two.*got True"),
        ({"missing": "drop"}, ValueError, r"missing must be 'error' or 'skip'"),
        ({"scatter": "half"}, ValueError, r"scatter must be"),
        ({"scatter": "full", "categorical": [2]}, ValueError, r"scatter='full' is for continuous"),
        ({"categorical": [9]}, ValueError, r"must be in \[0, n_features - 1\]"),
        ({"classes": [0.5]}, ValueError, r"Unknown label type: continuous"),
        ({"target": "label"}, TypeError, r"Expected y or target, got both"),
    ],
)
def test_options_are_checked_before_a_partition_is_read(options, error, match):
    rows = rows_of().map_blocks(unread, dtype=X.dtype, meta=X[:0])
    with pytest.raises(error, match=match):
        fit_stats(rows, rows_of(Y), **options)


def test_arrays_with_query_planning_are_refused(python):
    code = (
        "import dask.array as da\n"
        "from fastgnb.dask import fit_stats\n"
        "try:\n"
        "    fit_stats(da.zeros((4, 2)), da.zeros(4))\n"
        "except TypeError as error:\n"
        "    print(error)"
    )
    assert "unset 'array.query-planning'" in python(code, DASK_ARRAY__QUERY_PLANNING="True")


# ------------------------------------------------------------------------------------ dataframes


def test_columns_of_a_frame_by_name():
    frame = lazy_frame(frame_of(X, Y, W), SIZES)
    named = wanted(feature_names=list("abcdef"))
    assert_same_bits(fit_stats(frame, target="label", weight="weight"), named)
    assert_same_bits(fit_stats(frame, "label", "weight"), named)
    found = fit_stats(frame[list("abcdef")], frame["label"], frame["weight"])
    assert_same_bits(found, named)


def test_a_frame_is_read_once(tmp_path):
    """Rows and labels of one frame come from one read of each partition."""
    whole = frame_of(X, Y)

    def load(part, number):
        with open(tmp_path / f"{number}", "a") as file:
            file.write("read\n")
        return part

    parts = parts_of(whole, SIZES)
    frame = dd.from_map(load, parts, range(len(parts)), meta=whole.iloc[:0])
    fit_stats(frame, target="label")
    fit_stats(frame[list("abcdef")], frame["label"])
    assert [(tmp_path / f"{i}").read_text() for i in range(4)] == ["read\nread\n"] * 4


def test_frames_that_cannot_be_aligned_are_refused():
    whole = frame_of(X, Y)
    frame = lazy_frame(whole, SIZES)
    other = lazy_frame(whole, (450, 450))
    message = r"X of 6 columns in 4 partitions with unknown divisions and y of 2 partitions"
    with pytest.raises(ValueError, match=message):
        fit_stats(frame[list("abcdef")], other["label"])
    known = dd.from_pandas(whole, npartitions=2)
    moved = dd.from_pandas(whole.set_index(whole.index + 1), npartitions=2)
    with pytest.raises(ValueError, match=r"divisions \(100, .*\) cannot be aligned"):
        fit_stats(known[list("abcdef")], moved["label"])
    with pytest.raises(TypeError, match="Expected y as a dask Series or the name of a column"):
        fit_stats(frame[list("abcdef")], rows_of(Y))
    with pytest.raises(ValueError, match=r"Expected a column 'missing' of labels"):
        fit_stats(frame, target="missing")
    with pytest.raises(ValueError, match="Found no features"):
        fit_stats(frame[["label"]], target="label")


def test_frames_with_columns_that_are_no_text():
    whole = pd.DataFrame(X).assign(label=Y, weight=W)
    found = fit_stats(lazy_frame(whole, SIZES), target="label", weight="weight")
    assert found.feature_names is None
    assert_same_bits(found, wanted())


def test_a_partition_with_other_columns_is_named():
    whole = frame_of(X, Y)
    frame = lazy_frame(whole, SIZES)
    renamed = frame.map_partitions(
        lambda part: part.rename(columns={"c": "z"}) if len(part) == 250 else part,
        meta=whole.iloc[:0], enforce_metadata=False,
    )  # fmt: skip
    with pytest.raises(PartitionError, match=r"^partition 2: Expected the columns .*got .*'z'"):
        fit_stats(renamed, target="label")


# --------------------------------------------------------------------------- what partitions hold


def test_classes_that_some_partitions_lack():
    labels = np.repeat([2, 9, 4, 4], [300, 0, 250, 350])
    found = fit_stats(rows_of(), rows_of(labels), rows_of(W))
    assert found.classes.tolist() == [2, 4]
    assert_same_bits(found, expected(PLAIN, X, labels, W, SIZES))
    declared = fit_stats(rows_of(), rows_of(labels), rows_of(W), classes=[9, 4, 2])
    assert declared.classes.tolist() == [2, 4, 9]
    assert_same_bits(declared, expected(PLAIN, X, labels, W, SIZES, classes=[2, 4, 9]))


def test_a_label_that_is_no_class_names_its_partition():
    labels = Y.copy()
    labels[300] = 8
    with pytest.raises(PartitionError, match=r"^partition 2: The target label\(s\) \[8\] in y"):
        fit_stats(rows_of(), rows_of(labels), classes=[3, 5, 7, 11])


def test_labels_of_one_kind_and_several_types_are_united():
    labels = [
        part.astype(t) for part, t in zip(parts_of(Y, SIZES), ["u8", "u1", "i8", "f4"], strict=True)
    ]
    lazy = da.concatenate([da.from_array(part, chunks=-1) for part in labels if len(part)])
    lazy = lazy.map_blocks(lambda part, block_id: labels[(0, 2, 3)[block_id[0]]], dtype=float)
    rows = lazy_array(X, (300, 250, 350))
    found = fit_stats(rows, lazy)
    assert found.classes.dtype == np.uint64
    assert found.classes.tolist() == [3, 5, 7, 11]


def typed_labels():
    labels = Y.astype(object)
    labels[550:] = [f"{label}" for label in Y[550:]]
    return labels


@pytest.mark.parametrize("split_every", [2, 8])
def test_labels_of_two_kinds_name_the_partitions(split_every):
    message = (
        r"^partition 3 differs from partition 2: Labels of types int64 and object cannot be "
        r"combined: numbers such as 3 and text such as '11' are never equal"
    )
    with pytest.raises(PartitionError, match=message) as caught:
        fit_stats(rows_of(), rows_of(typed_labels()), split_every=split_every)
    assert isinstance(caught.value.__cause__, TypeError)


def test_null_labels_name_the_partition():
    labels = Y.astype(float)
    labels[400] = np.nan
    with pytest.raises(PartitionError, match=r"^partition 2: Input y contains NaN"):
        fit_stats(rows_of(), rows_of(labels))


def test_text_where_a_number_was_names_the_partition():
    rows = X.astype(object)
    rows[320, 4] = "high"
    message = r"^partition 2: Expected numeric rows, got text: 'high'"
    with pytest.raises(PartitionError, match=message):
        fit_stats(rows_of(rows), rows_of(Y))


def test_columns_of_dates_and_text_are_refused_before_a_partition_is_read():
    whole = frame_of(X, Y).assign(day=pd.Timestamp("2026-01-01"))
    frame = lazy_frame(whole, SIZES).map_partitions(unread, meta=whole.iloc[:0])
    with pytest.raises(ValueError, match=r"got datetime64\[\w+\] in feature 'day'\. Convert it"):
        fit_stats(frame, target="label")
    with pytest.raises(ValueError, match=r"got datetime64\[\w+\] in feature 'day'\. Convert it"):
        fit_stats(frame, target="label", categorical=["c"])
    whole = frame_of(X, Y).assign(plan=pd.Categorical(["a"] * len(X)))
    frame = lazy_frame(whole, SIZES).map_partitions(unread, meta=whole.iloc[:0])
    with pytest.raises(ValueError, match=r"in feature 'plan'\. .*fastgnb\.MixedNB learns columns"):
        fit_stats(frame, target="label")


def test_a_column_of_text_names_its_partition():
    whole = frame_of(X, Y).assign(plan=pd.array(["a"] * len(X), dtype="string"))
    with pytest.raises(PartitionError, match=r"^partition \d: .*'a'"):
        fit_stats(lazy_frame(whole, SIZES), target="label")


def test_sparse_chunks_name_their_partition():
    sparse = pytest.importorskip("scipy.sparse")
    rows = rows_of().map_blocks(sparse.csr_matrix, dtype=X.dtype, meta=X[:0])
    with pytest.raises(PartitionError, match=r"^partition \d: Sparse data was passed for X, but"):
        fit_stats(rows, rows_of(Y))


def test_masked_values_are_missing():
    found = fit_stats(
        da.ma.masked_greater(rows_of(), 1050.0), rows_of(Y), rows_of(W), missing="skip"
    )
    rows = np.where(X > 1050.0, np.nan, X)
    assert_same_bits(found, expected(CASES["GaussianNB, skip"], rows, Y, W, SIZES))


def test_an_error_of_another_process_keeps_its_cause():
    rows = X.copy()
    rows[700, 2] = np.nan
    with (
        dask.config.set(scheduler="processes", num_workers=1),
        pytest.raises(PartitionError, match=r"^partition 3: .* row 150, column 2 is") as caught,
    ):
        fit_stats(rows_of(rows), rows_of(Y))
    assert isinstance(caught.value.__cause__, NotFiniteError)
    assert (caught.value.__cause__.row, caught.value.__cause__.column) == (150, 2)


def test_causes_that_cannot_be_pickled_are_kept_in_words():
    class Odd(Exception):
        """Of no module."""

    def fail(error):
        raise error

    with pytest.raises(PartitionError, match=r"^partition 3: odd$") as caught:
        naming_partition(3, lambda: fail(Odd("odd")))
    copy = pickle.loads(pickle.dumps(caught.value))
    for error in (caught.value, copy):
        assert str(error) == "partition 3: odd"
        assert repr(error.__cause__) == "ValueError('Odd: odd')"
    assert pickle.loads(pickle.dumps(PartitionError("alone"))).__cause__ is None
    with pytest.raises(MemoryError):
        naming_partition(3, lambda: fail(MemoryError()))


def test_a_chunk_of_another_width_names_the_partition():
    rows = rows_of().map_blocks(
        lambda part: part[:, :5] if len(part) == 350 else part, dtype=X.dtype, meta=X[:0]
    )
    with pytest.raises(PartitionError, match=r"^partition 3: Expected 6 columns, got shape \(350"):
        fit_stats(rows, rows_of(Y))


def test_a_value_that_is_not_finite_is_located_in_its_partition():
    rows = X.copy()
    rows[560, 1] = np.inf
    message = r"^partition 3: Input X contains infinity: the value in row 10, column 1 is not"
    with pytest.raises(PartitionError, match=message) as caught:
        fit_stats(rows_of(rows), rows_of(Y), missing="skip")
    assert type(caught.value.__cause__).__name__ == "NotFiniteError"


def test_rows_of_later_batches_are_located():
    rows = np.zeros((600, 5000), np.float32)
    rows[400, 7] = np.nan
    lazy = da.from_array(rows, chunks=(-1, -1))
    message = r"row 400, column 7 is not finite\. missing='skip' leaves missing values out"
    with pytest.raises(PartitionError, match=message):
        fit_stats(lazy, da.zeros(600, chunks=-1, dtype=int))
    with pytest.raises(PartitionError, match=r"column 7 is not finite\. Fill missing values in"):
        fit_stats(lazy[:, :9], da.zeros(600, chunks=-1, dtype=int), scatter="full")


def test_partitions_without_rows_are_refused_where_all_are():
    with pytest.raises(ValueError, match="Expected rows, found none: 3 partitions are empty"):
        fit_stats(lazy_array(X[:0], (0, 0, 0)), lazy_array(Y[:0], (0, 0, 0)))


def test_a_column_of_nulls_in_one_partition():
    rows = X.copy()
    rows[:300, 1] = np.nan
    found = fit_stats(rows_of(rows), rows_of(Y), rows_of(W), missing="skip")
    skipping = CASES["GaussianNB, skip"]
    assert_same_bits(found, expected(skipping, rows, Y, W, SIZES))
    assert (found.feature_count[:, 1] < found.count).all()


# ------------------------------------------------------------------------------------ categories


def mixed_frame():
    """A column of text with a category that one partition has alone, and one of nulls in another.

    The index of each row is its position.
    """
    colours = np.array(["red", "blue", "green"])[np.arange(len(X)) % 3].astype(object)
    colours[310] = "grey"
    codes = pd.array(np.arange(len(X)) % 4, dtype="Int64")
    codes[:300] = pd.NA
    frame = pd.DataFrame({"x": X[:, 0], "colour": colours, "code": codes, "label": Y})
    return frame.astype({"colour": "string"})


@pytest.mark.parametrize("spec", [["colour", "code"], [1, 2], [False, True, True]])
def test_categories_that_one_partition_has_alone(spec):
    whole = mixed_frame()
    found = fit_stats(lazy_frame(whole, SIZES), target="label", categorical=spec, missing="skip")
    parts = [part for part in parts_of(whole, SIZES) if len(part)]
    one, two, three = (
        MixedStats.from_rows(
            part.drop(columns="label"), part["label"], categorical_features=spec, missing="skip"
        )
        for part in parts
    )
    assert_same_bits(found, merge([one, None, two, three]))
    assert found.categories[0].tolist() == ["blue", "green", "grey", "red"]
    assert found.counts[0][:, 2].sum() == 1.0
    assert found.categories[1].tolist() == [0, 1, 2, 3]


def test_auto_takes_the_types_of_columns():
    whole = mixed_frame().astype({"code": "category"})
    frame = lazy_frame(whole, SIZES)
    found = fit_stats(frame, target="label", categorical="auto", missing="skip")
    assert found.is_categorical.tolist() == [False, True, True]
    with dask.config.set({"dataframe.convert-string": False}):
        objects = lazy_frame(whole.astype({"colour": object}), SIZES)
    with pytest.raises(ValueError, match=r"known types for 'auto', got Python objects in \['col"):
        fit_stats(objects, target="label", categorical="auto", missing="skip")


def test_a_column_of_nulls_has_categories_elsewhere():
    whole = mixed_frame()
    whole.loc[:299, "colour"] = pd.NA
    found = fit_stats(
        lazy_frame(whole, SIZES), target="label", categorical=["colour"], missing="skip"
    )
    assert found.counts[0].sum() == 600.0


def test_categories_of_two_kinds_name_the_partitions():
    rows = np.column_stack([X[:, 0], np.arange(len(X)) % 3]).astype(object)
    rows[550:, 1] = "two"
    message = (
        r"partition 3 differs from partition 2: Categories of feature 1 of types int64 and obj"
    )
    with pytest.raises(PartitionError, match=message):
        fit_stats(rows_of(rows), rows_of(Y), categorical=[1])


def test_statistics_of_no_categories_are_mixed_where_asked():
    found = fit_stats(rows_of(), rows_of(Y), rows_of(W), categorical=[])
    assert isinstance(found, MixedStats)
    assert_same_bits(found.gaussian, wanted())
    assert isinstance(fit_stats(rows_of(), rows_of(Y)), ClassStats)
