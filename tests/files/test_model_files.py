"""Model files from strangers, from the past, from killed runs; pickles, and labels of all kinds."""

from __future__ import annotations

import copy
import errno
import functools
import gc
import json
import os
import pathlib
import pickle
import re
import stat
import struct
import sys
import tempfile
import tracemalloc
from dataclasses import replace

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_files import file_of
from oracles import class_stats, exact
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from fastgnb import (
    ClassStats,
    GaussianBayes,
    GaussianNB,
    MixedNB,
    MixedStats,
    ModelFileError,
    PCAGaussianNB,
    load,
    save,
)
from fastgnb.files.models import container as _model_file
from fastgnb.files.models import model_file as persist
from fastgnb.files.models import schemas
from fastgnb.files.models.model_file import ModelFile
from fastgnb.files.models.tensors import tensors_of
from fastgnb.input.categorical import MixedRows
from fastgnb.input.category_codes import CategoricalColumn

DATA = pathlib.Path(__file__).parents[1] / "data"
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files, signals and modes")
EXAMPLES = pytest.mark.parametrize(
    "examples", [1000, pytest.param(4500, marks=pytest.mark.slow)], ids=["some", "many"]
)


def of_rows(
    X, y, sample_weight=None, *, names=None, classes=None, missing="error", scatter="diag",
    **keywords,
):  # fmt: skip
    stats = ClassStats.from_rows(
        X, y, sample_weight, feature_names=names, classes=classes, missing=missing, scatter=scatter
    )
    return file_of(stats, missing=missing, **keywords)


NAMES = [
    "whole numbers", "bytes", "booleans", "floats", "text", "objects", "missing", "subtracted",
    "edited", "extreme", "many", "tied", "rich", "full", "shared", "axes", "own axes", "less",
    "spherical", "scaled axes",
    "mixed", "mixed gaps", "categories", "mixed less",
]  # fmt: skip


@functools.cache
def models():
    """Small models that differ in everything a file can hold."""
    X, y = np.array([[0.5, -4.0], [1.5, 8.0], [3.25, 0.0], [-2.75, 1e3]]), np.array([0, 0, 7, 7])
    gaps = np.where(X == 1.5, np.nan, X)
    words = np.array(["no", "yé\n"])[(y > 0).astype(int)]
    taken = ClassStats.from_rows(X, y) - ClassStats.from_rows(X[:1], y[:1])
    edited = of_rows(X, y)
    edited.model.attributes["theta_"][0, 0] = 3.0
    many = np.arange(40)
    return {
        "whole numbers": of_rows(X, y),
        "bytes": of_rows(X, y.astype(np.int8), classes=np.array([0, 5, 7], np.int8)),
        "booleans": of_rows(X, y > 0, priors=[0.25, 0.75]),
        "floats": of_rows(X, y.astype(np.float32), np.array([1.0, 0.5, 2.0, 1e-300])),
        "text": of_rows(X, words, names=["a, b", "ü"], target="y", weight="w"),
        "objects": of_rows(X, words.astype(object), missing="skip", var_smoothing=0.0),
        "missing": of_rows(gaps, y, missing="skip"),
        "subtracted": file_of(taken),
        "edited": edited,
        "extreme": of_rows(np.array([[1e150], [-1e150], [1e-300]]), [1, 2**62, -(2**63)]),
        "many": of_rows(np.sin(many)[:, None], many),
        "tied": of_rows(X, y, tied=True, ddof=1, covariance_type="spherical"),
        "rich": of_rows(X, y, scatter="full"),
        "full": of_rows(X, y, scatter="full", model="GaussianBayes", shrinkage="oas"),
        "shared": of_rows(
            X, words, names=["a", "b"], scatter="full", model="GaussianBayes", tied=True,
            reg_param=0.25, shrinkage=0.5, priors=[0.25, 0.75],
        ),
        "axes": of_rows(X, y, scatter="full", model="PCAGaussianNB", n_components=1, target="y"),
        "own axes": of_rows(
            X, y, scatter="full", model="PCAGaussianNB", n_components=0.5, rotation="class"
        ),
        "spherical": of_rows(
            X, y, scatter="full", model="GaussianBayes", shrinkage=0.5,
            shrinkage_target="spherical",
        ),
        "scaled axes": of_rows(
            X, y, scatter="full", model="PCAGaussianNB", n_components=1, standardize=True
        ),
        "less": file_of(
            ClassStats.from_rows(X, y, scatter="full")
            - ClassStats.from_rows(X[:1], y[:1], scatter="full"), model="GaussianBayes",
        ),
        **mixed_models(X, y, words),
    }  # fmt: skip


def objects(*columns):
    """Columns of several kinds side by side."""
    return np.column_stack([np.asarray(column).astype(object) for column in columns])


def mixed_models(X, y, words):
    table = objects(X[:, 0], words, X[:, 1], y > 0, y * 10)
    gaps = table.copy()
    gaps[0, 1], gaps[3, 4] = None, np.nan
    marks = {"categorical_features": [1, 3, 4]}
    of_table = functools.partial(MixedStats.from_rows, **marks)
    names = ("a, b", "ü", "c", "d", "e")
    return {
        "mixed": file_of(
            of_table(table, words, feature_names=names), model="MixedNB", alpha=0.5,
            categorical_features=["ü", "d", "e"], target="y",
        ),
        "mixed gaps": file_of(
            of_table(gaps, y, missing="skip"), model="MixedNB", missing="skip", alpha=0.0,
            min_categories=[2, 2, 9],
        ),
        "categories": file_of(
            MixedStats.from_rows(table[:, [1, 3]], y, categorical_features=[0, 1]),
            model="MixedNB", min_categories=3, priors=[0.25, 0.75],
        ),
        "mixed less": file_of(
            of_table(table, y) - of_table(table[:1], y[:1]), model="MixedNB"
        ),
    }  # fmt: skip


@functools.cache
def contents():
    with tempfile.TemporaryDirectory() as folder:
        for name, model in models().items():
            model.write(pathlib.Path(folder, name))
        return {name: pathlib.Path(folder, name).read_bytes() for name in models()}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("models") / "model.fgnb"


def state(saved):
    """All of a model, to the bit."""
    return saved.document(), {
        name: (tensor.shape, tensor.tobytes()) for name, tensor in tensors_of(saved.model).items()
    }


def fuzzed(test, examples, **strategies):
    """Run test(**drawn) on as many examples, the same ones every time."""
    options = settings(max_examples=examples, derandomize=True, deadline=None, database=None)
    options(given(**strategies)(test))()


# Bytes that were altered by chance


ALTERATIONS = st.tuples(
    st.sampled_from(["flip", "set", "cut", "insert", "delete", "double", "swap", "length"]),
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 2**64 - 1),
)


def altered(data, kind, share, value):
    """The bytes with one thing changed at a share of their length."""
    at, size = int(share * len(data)), 1 + value % 40
    if kind == "length":
        value = value if value % 3 else struct.unpack("<Q", data[:8].ljust(8))[0] + value % 64 - 32
        return struct.pack("<Q", value % 2**64) + data[8:]
    middle = {
        "flip": bytes([data[at] ^ (1 << value % 8)]) if data else b"",
        "set": struct.pack("<Q", value)[: 1 + value % 8],
        "cut": None,
        "insert": struct.pack("<Q", value) * (value % 3 + 1),
        "delete": b"",
        "double": data[at : at + size] * 2,
        "swap": data[at : at + size][::-1],
    }[kind]
    if middle is None:
        return data[:at]
    taken = {"insert": 0, "delete": size, "double": size, "swap": size}.get(kind, len(middle))
    return data[:at] + middle + data[at + taken :]


def read_or_refuse(path):
    """The model, or None and what the loader says."""
    try:
        return persist.read(path), ""
    except ModelFileError as error:
        return None, str(error)


def must_be_refused_or_the_same(path, data, original):
    """Some bytes carry nothing, as white space in the header does; all others are noticed."""
    path.write_bytes(data)
    again, _ = read_or_refuse(path)
    assert again is None or state(again) == state(original)


@pytest.mark.promise("model files")
@EXAMPLES
def test_altered_bytes_are_refused_or_carry_nothing(path, examples):
    def one(name, alterations):
        data = contents()[name]
        for alteration in alterations:
            data = altered(data, *alteration) or b"\0"
        must_be_refused_or_the_same(path, data, models()[name])

    fuzzed(
        one,
        examples,
        name=st.sampled_from(NAMES),
        alterations=st.lists(ALTERATIONS, min_size=1, max_size=3),
    )


@pytest.mark.parametrize(
    ("name", "bits"),
    [("text", 1), pytest.param("missing", 8, marks=pytest.mark.slow)],
)
def test_flipped_bits_and_cuts_everywhere(path, name, bits):
    data = contents()[name]
    for at in range(len(data)):
        for bit in range(at, at + bits):
            flipped = bytearray(data)
            flipped[at] ^= 1 << bit % 8
            must_be_refused_or_the_same(path, flipped, models()[name])
        path.write_bytes(data[:at])
        with pytest.raises(ModelFileError, match="not a whole fastgnb model file"):
            persist.read(path)


# Content whose digest is right: a digest is no secret

JUNK = [
    None, True, False, 0, -1, 1, 2, 2**63, -(2**64), 10**400, 0.0, -0.0, 0.5, -1.5, 1e308, 5e-324,
    float("nan"), float("inf"), -float("inf"), "", "a", "\0", "ab", "\ud800", "x" * 500, "error",
    "skip", "object", "O", "V8", "M8[ns]", "<U1", "<U0", "U", "<U99999999999", "<U999999999",
    "f2,(1000000000,)f8", "(1000000000,)f8", "(1,", "i4,i4", "S3", "c16", "<f16", ">i8", "|b1",
    "|i1", "<u8", "<f2", "<f8", "<i8", "{'names': ['a'], 'formats': ['f8']}", "datetime64", "T",
    [], [None], [[]], [0], [0.0], [1.0], ["a"], ["a", "b"], ["b", "a"], ["a", "a"], [True, False],
    [False, True], [0, 1], [1, 0], [0, 0], [0, True], [0, 0.5], [0.5, 1.5], [0.0, 1.0],
    [1.0, 0.0], [-1.0, 2.0], [float("nan"), 1.0], [0.0, float("nan")], [float("nan")] * 2,
    [0, 2**64], [10**400, 1], [1e300, 1e308], [0, "a"], ["a", None], ["a\0", "b"], ["", "a"],
    [{}, {}], [[0], [1]], {}, {"a": 1}, {"dtype": "<i8", "values": [0, 7]},
]  # fmt: skip
PLACES = [
    *((field,) for field in sorted(schemas.FIELDS)), ("options",),
    *(("options", name) for name in ("tied", "ddof", "covariance_type", "reg_param", "shrinkage")),
    ("options", "n_components"), ("options", "rotation"), ("options", "alpha"),
    ("options", "min_categories"), ("options", "categorical_features"), ("categorical",),
    *(("categorical", j, field) for j in (0, 1) for field in ("position", "dtype", "values")),
    ("categorical", 0), ("categorical", 1, "more"),
    ("classes", "dtype"), ("classes", "values"), ("columns", "target"), ("columns", "weight"),
    ("versions", "fastgnb"), ("classes", "more"), ("more",), (),
]  # fmt: skip
NUMBERS = [0.0, -0.0, -1.0, 5e-324, -5e-324, 1e-300, 0.5, 1e300, 1.7e308, -1.7e308,
           float("nan"), float("inf"), -float("inf")]  # fmt: skip
DOCUMENTS = st.tuples(
    st.just("document"), st.sampled_from(PLACES), st.sampled_from(["set", "set", "drop"]),
    st.sampled_from(JUNK),
)  # fmt: skip
TENSORS = st.tuples(
    st.just("tensor"),
    st.sampled_from(
        sorted(
            schemas.OF_CLASSES
            | schemas.OF_FEATURES
            | schemas.OPTIONAL
            | {"covariance", "category_count"}
        )
    ),
    st.sampled_from(["one", "one", "all", "drop", "dtype", "shape", "double", "rename", "copy"]),
    st.tuples(st.sampled_from(NUMBERS), st.integers(0, 2**16)),
)


def at(document, field):
    """What stands there in an object or a list, or None."""
    if type(document) is list:
        return document[field] if type(field) is int and field < len(document) else None
    return document.get(field)


def change_document(document, place, how, value):
    *outer, last = place or ("schema",)
    for field in outer:
        document = at(document, field)
        if type(document) not in (dict, list):
            return
    if at(document, last) is None and type(document) is list:
        return
    if how == "drop" and type(document) is list:
        del document[last]
    elif how == "drop":
        document.pop(last, None)
    else:
        document[last] = copy.deepcopy(value)  # else a value set twice could hold itself


def change_tensors(tensors, name, how, value):
    number, draw = value
    tensor = tensors.pop(name, np.zeros_like(next(iter(tensors.values()))))
    if how == "one" and tensor.size:
        tensor = tensor.astype(np.float64)
        tensor.flat[draw % tensor.size] = number
    elif how == "all":
        tensor = np.full_like(tensor, number, np.float64)
    elif how == "dtype":
        kinds = ["f4", "f2", "i8", "u1", "bool", "i2"]
        with np.errstate(all="ignore"):
            tensor = np.nan_to_num(tensor).astype(kinds[draw % len(kinds)])
    elif how == "shape":
        n = tensor.size
        shapes = [(n,), (1, n), (n, 1), (), (0,), (0, 3), (n, 1, 1), (2, n)]
        tensor = np.resize(tensor, shapes[draw % len(shapes)])
    elif how == "double":
        tensor = np.concatenate([tensor, tensor])
    if how == "copy":
        tensors["more"] = tensor
    if how != "drop":
        tensors[f"{name}_" if how == "rename" else name] = np.ascontiguousarray(tensor)


def forged(name, changes):
    """The bytes of a changed model whose digest is right."""
    document, tensors = models()[name].document(), tensors_of(models()[name].model)
    whole = {"": json.loads(json.dumps(document))}
    for what, *change in changes:
        if what == "tensor":
            change_tensors(tensors, *change)
        elif change[0]:
            change_document(whole[""], *change)
    return _model_file.pack(json.dumps(whole[""]), tensors)


DOORS = "needs one above 0 and finite|with at least one prior above 0 among classes that have rows"


def must_be_a_model(saved):
    """All that scoring and learning rely on; and then both of them work."""
    saved = saved.model
    stats = getattr(saved.stats, "gaussian", saved.stats)
    k, d = stats.mean.shape
    values = saved.classes.tolist()
    assert values == sorted(set(values))
    assert saved.classes.dtype.kind in "biufUO"
    for name, tensor in tensors_of(saved).items():
        shape = (k * d, d) if name == "covariance" else (k, d)
        if name == "category_count":
            must_have_categories(saved.stats)
            shape = k, sum(map(len, saved.stats.categories))
        assert tensor.shape == ((k,) if name in schemas.OF_CLASSES else shape)
        assert np.isfinite(tensor).all() or (name == "peak" and not np.isnan(tensor).any())
        assert (tensor >= 0).all() or name in ("mean", "mean_low", "theta", "covariance")
    assert (abs(stats.mean_lo) <= np.spacing(abs(stats.mean)) * 4).all()
    assert saved.options["priors"] is None or np.isclose(sum(saved.options["priors"]), 1)
    assert 0 <= saved.moments.epsilon < np.inf
    assert 0 <= saved.options["var_smoothing"] < np.inf
    assert saved.missing in ("error", "skip")
    assert saved.feature_names is None or set(map(type, saved.feature_names)) == {str}
    must_score(saved)
    must_learn(saved)


def must_have_categories(stats):
    assert stats.is_categorical.sum() == len(stats.categories) == len(stats.counts)
    for labels, counts in zip(stats.categories, stats.counts, strict=True):
        values = labels.tolist()
        assert values == sorted(set(values))
        assert counts.shape == (len(stats.classes), len(values))
        assert counts.any(axis=0).all()


def rows_for(saved, numbers):
    """Rows with these continuous features (n, c), and a known and a strange category each."""
    if not saved.has_categories:
        return numbers
    columns, row = [], np.arange(len(numbers), dtype=np.int32)
    for labels in saved.stats.categories:
        some = [*labels.tolist()[:1], "strange"]
        columns.append(CategoricalColumn(np.array(some, object), row % len(some)))
    return MixedRows(numbers, tuple(columns), saved.stats.is_categorical)


def must_score(saved):
    can_win = (saved.moments.class_prior > 0) & (saved.stats.count > 0)
    is_whole = "covariance_" in saved.attributes or (
        can_win.any() and (saved.moments.var[can_win] > 0).all()
    )
    means = saved.stats.mean if saved.member.needs_full_scatter else saved.moments.theta
    X = rows_for(saved, np.vstack([means, np.zeros_like(means[:1]), means[:1] + 1.0]))
    if not is_whole:
        with pytest.raises(ValueError, match=DOORS):
            saved.score(X)
        return
    scores = saved.score(X, table="proba")
    assert scores.bad == -1
    assert can_win[scores.codes].all()
    np.testing.assert_allclose(scores.table.sum(axis=1), 1, rtol=1e-12)


def must_learn(saved):
    """A finite model, or a ValueError where the numbers do not fit together."""
    try:
        if saved.member.takes_categories:
            must_learn_categories(saved)
            return
        scatter = "diag" if saved.stats.covariance is None else "full"
        row = np.ones((1, saved.n_features))
        more = ClassStats.from_rows(row, saved.classes[:1], scatter=scatter)
        more = replace(more, feature_names=saved.feature_names)
        after = saved.with_stats(saved.stats + more)
    except ValueError:
        return
    assert all(np.isfinite(part).all() for part in after.moments[:3])


def must_learn_categories(saved):
    mask = saved.stats.is_categorical
    row = np.ones((1, len(mask)), object)
    for j, labels in zip(np.flatnonzero(mask), saved.stats.categories, strict=True):
        row[0, j] = labels[0] if len(labels) else "new"
    more = MixedStats.from_rows(row, saved.classes[:1], categorical_features=mask)
    after = saved.with_stats(saved.stats + more)
    assert all(np.isfinite(part).all() for part in after.moments[:3])
    assert all((each <= 0).all() for each in after.attributes["feature_log_prob_"])


@pytest.mark.promise("model files")
@EXAMPLES
def test_what_loads_is_a_model_though_its_digest_is_right(path, examples):
    loaded = 0

    def one(name, changes):
        nonlocal loaded
        path.write_bytes(forged(name, changes))
        saved, said = read_or_refuse(path)
        if saved is None:
            assert said.startswith(str(path))
            assert len(said) < 300 + len(str(path))
        else:
            loaded += 1
            must_be_a_model(saved)

    fuzzed(
        one,
        examples,
        name=st.sampled_from(NAMES),
        changes=st.lists(st.one_of(DOCUMENTS, TENSORS), min_size=1, max_size=3),
    )
    assert loaded > examples / 20  # edits are legal, and must have been among them


@pytest.mark.parametrize("name", ["tied", "full", "shared", "mixed", "mixed less"])
@pytest.mark.parametrize("weight", [5e-324, 1e300, 1.7e308])
@pytest.mark.parametrize("j", [0, 1])
def test_a_class_of_any_weight_is_a_model_or_refused(path, name, weight, j):
    path.write_bytes(forged(name, [("tensor", "count", "one", (weight, j))]))
    saved, said = read_or_refuse(path)
    if saved is None:
        assert said.startswith(str(path))
    else:
        must_be_a_model(saved)


@pytest.mark.parametrize("name", NAMES)
def test_the_files_that_are_mutated_are_sound(path, name):
    path.write_bytes(contents()[name])
    assert state(persist.read(path)) == state(models()[name])
    must_be_a_model(persist.read(path))


# Files whose header, not the model, is made up


def container(header, body=b"", length=None):
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw + body


def entry(shape=(1,), offsets=(0, 8), dtype="F64"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def meta(text=None):
    text = json.dumps({"schema": 1}) if text is None else text
    return {"fastgnb": text, "sha256": "0" * 64}


def with_tensors(**entries):
    return {"__metadata__": meta(), **entries}


HEADERS = {
    "longer than the file": container(b"{}", length=2**63),
    "as long as a number can say": container(b"{}", length=2**64 - 1),
    "a byte longer than the file": container(b"{}", length=3),
    "not JSON": container(b"{" * 50),
    "not UTF-8": container('{"ü": 1}'.encode("latin-1")),
    "UTF-16": container('{"__metadata__": {}}'.encode("utf-16")),
    "a list": container([]),
    "a number": container(b"1e999"),
    "nested lists": container(b"[" * 200_000),
    "nested objects": container(b'{"a":' * 200_000),
    "a number of many digits": container(b'{"a": ' + b"9" * 100_000 + b"}"),
    "no metadata": container({}),
    "metadata is null": container({"__metadata__": None}),
    "metadata is a text": container({"__metadata__": "fastgnb sha256"}),
    "metadata is a list": container({"__metadata__": ["fastgnb", "sha256"]}),
    "text is a number": container({"__metadata__": {"fastgnb": 1, "sha256": ""}}),
    "text is a list": container({"__metadata__": meta("[]")}),
    "text is null": container({"__metadata__": meta("null")}),
    "text is nested": container({"__metadata__": meta("[" * 200_000)}),
    "text nested in an object": container({"__metadata__": meta('{"schema":' * 200_000)}),
    "text of many digits": container({"__metadata__": meta('{"schema": ' + "9" * 100_000 + "}")}),
    "text with a surrogate": container({"__metadata__": meta('{"schema": 1, "a": "\ud800"}')}),
    "schema of many digits": container({"__metadata__": meta('{"schema": ' + "9" * 4000 + "}")}),
    "schema is true": container({"__metadata__": meta('{"schema": true}')}),
    "schema is 1.0": container({"__metadata__": meta('{"schema": 1.0}')}),
    "schema is NaN": container({"__metadata__": meta('{"schema": NaN}')}),
    "schema is a long text": container({"__metadata__": meta(json.dumps({"schema": "x" * 9999}))}),
    "entry is null": container(with_tensors(mean=None)),
    "entry without a shape": container(with_tensors(mean={"dtype": "F64"})),
    "shape of floats": container(with_tensors(mean=entry([1.0])), bytes(8)),
    "shape of booleans": container(with_tensors(mean=entry([True])), bytes(8)),
    "shape of texts": container(with_tensors(mean=entry(["aaaa", 10**9])), bytes(8)),
    "shape of lists": container(with_tensors(mean=entry([[1], 10**9])), bytes(8)),
    "shape is huge": container(with_tensors(mean=entry([2**40], [0, 2**43])), bytes(8)),
    "shape overflows": container(with_tensors(mean=entry([2**62, 2**62])), bytes(8)),
    "shape is huge and empty": container(with_tensors(mean=entry([0, 2**47], [0, 0]))),
    "shape is negative": container(with_tensors(mean=entry([-1, -1])), bytes(8)),
    "shape of many axes": container(with_tensors(mean=entry([1] * 1000)), bytes(8)),
    "shape of no axes": container(with_tensors(mean=entry([])), bytes(8)),
    "offsets overlap": container(with_tensors(a=entry(), b=entry()), bytes(8)),
    "offsets leave a gap": container(with_tensors(a=entry(offsets=[8, 16])), bytes(16)),
    "offsets run backwards": container(with_tensors(a=entry(offsets=[8, 0])), bytes(8)),
    "offsets are negative": container(with_tensors(a=entry(offsets=[-8, 0])), bytes(8)),
    "offsets lie behind the end": container(with_tensors(a=entry(offsets=[0, 8])), bytes(7)),
    "offsets are of mixed types": container(
        with_tensors(a=entry(), b=entry(offsets=["0", None])), bytes(8)
    ),
    "bytes that no tensor takes": container(with_tensors(a=entry()), bytes(9)),
    "type is unknown": container(with_tensors(a=entry(dtype="F7")), bytes(8)),
    "type is a list": container(with_tensors(a=entry(dtype=["F64"] * 10_000)), bytes(8)),
    "type is smaller": container(with_tensors(a=entry([4], dtype="BF16")), bytes(8)),
    "name is odd": container(with_tensors(**{"\0" * 50: entry()}), bytes(8)),
    "name is a lone surrogate": container(
        b'{"__metadata__":{"fastgnb":"{\\"schema\\":1}","sha256":""},'
        b'"\\ud800":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}', bytes(8)
    ),
    "many small lists": container(b'{"a":[' + b"[]," * 100_000 + b"[]]}"),
    "many zeros": bytes(100_000),
    "a PNG": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "a pickle": pickle.dumps({"a": [1, 2, 3]}),
    "a zip": b"PK\3\4" + bytes(100),
    "a text": b"hello, world\n",
    "nothing": b"",
}  # fmt: skip


@pytest.mark.promise("model files")
@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_made_up_headers_are_refused_in_little_memory(path, header):
    path.write_bytes(header)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError) as caught:
            persist.read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(str(caught.value)) < 300 + len(str(path))
    assert peak < 32 * len(header) + 500_000


TYPES = [
    "<U99999999999", "<U999999999", "<U99999999", "f2,(1000000000,)f8", "(1000000000,)f8",
    "V999999999", "S999999999", "(1,", "O", "object", "object ", "f8\n",
]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
def test_a_type_of_labels_takes_no_memory_that_the_labels_do_not(path, dtype):
    def widen(document):
        document["classes"]["dtype"] = dtype
        return document

    saved = models()["text"]
    text = json.dumps(widen(saved.document()))
    path.write_bytes(_model_file.pack(text, tensors_of(saved.model)))
    tracemalloc.start()
    again, _ = read_or_refuse(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (again is not None) == (dtype in ("object", "<U99999999"))
    assert again is None or again.model.classes.tolist() == saved.model.classes.tolist()
    assert peak < 3_000_000


def test_one_long_label_among_many_takes_no_memory_for_each(path):
    labels = np.array([f"{i:04}" for i in range(999)] + ["long" * 5000], object)
    of_rows(np.zeros((1000, 1)), labels).write(path)
    document, tensors, _ = _model_file.unpack(path)
    document["classes"]["dtype"] = "<U20000"
    path.write_bytes(_model_file.pack(json.dumps(document), tensors))
    tracemalloc.start()
    again = persist.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert again.model.classes.tolist() == sorted(labels)
    assert peak < 20 * path.stat().st_size + 2_000_000  # 80 MB as an array of text


@pytest.mark.parametrize("name", NAMES)
def test_any_reader_of_safetensors_reads_a_model(path, name):
    from safetensors.numpy import load_file

    path.write_bytes(contents()[name])
    for key, tensor in tensors_of(models()[name].model).items():
        assert load_file(path)[key].tobytes() == tensor.tobytes()


def test_a_header_that_no_reader_of_safetensors_takes_is_not_written(path):
    models()["whole numbers"].write(path)
    before = path.read_bytes()
    longest = "n" * 99_999_000
    with pytest.raises(ValueError, match=r"a header of 10\d{7} bytes, .* at most 100000000"):
        of_rows(np.zeros((1, 1)), [0], names=[longest]).write(path)
    assert path.read_bytes() == before
    of_rows(np.zeros((1, 1)), [0], names=[longest[3000:]]).write(path)
    assert persist.read(path).model.feature_names == (longest[3000:],)


# What is no file, or changes meanwhile

SPECIAL = """
import os, resource, sys
from fastgnb import load
from fastgnb.files.models import model_file as persist
from fastgnb.files.models import schemas
from fastgnb.files.models.model_file import ModelFile
from fastgnb.files.models.tensors import tensors_of
limit = 2**30 + int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for path in sys.argv[1:]:
    for read in (load, persist.read):
        try:
            read(path)
        except Exception as error:
            print(type(error).__name__, error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_is_no_file_is_refused_at_once(python, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "empty").touch()
    for name, start in {
        "zeros": b"",
        "long header": struct.pack("<Q", 2**39),
        "model": contents()["text"],
    }.items():
        (tmp_path / name).write_bytes(start)
        os.truncate(tmp_path / name, 2**40)  # takes no room on the disk
    names = ["pipe", "link", "empty", "zeros", "long header", "model", "."]
    paths = [*(str(tmp_path / name) for name in names), "/dev/zero", "/dev/null"]
    lines = python(SPECIAL, *paths).splitlines()
    assert len(lines) == 2 * len(paths)
    for path, said in zip(paths, lines[::2], strict=True):
        if path == str(tmp_path):
            assert said.startswith("IsADirectoryError")
            continue
        assert said.startswith(f"ModelFileError {path}: not a ")
        is_special = "/dev" in path or path.endswith(("pipe", "link"))
        assert is_special == ("not a regular file" in said)


def test_a_file_that_is_cut_while_it_is_read(path, monkeypatch):
    """A mapped file would end the process with SIGBUS."""
    of_rows(np.zeros((2, 20_000)), [0, 1]).write(path)
    sizes = _model_file._sizes

    def cut_first(values):
        os.truncate(path, 100_000)
        return sizes(values)

    monkeypatch.setattr(_model_file, "_sizes", cut_first)
    with pytest.raises(ModelFileError, match=r"not a whole fastgnb model file \(it ends within"):
        load(path)


@POSIX
def test_a_file_that_is_replaced_while_it_is_read_is_the_old_one(tmp_path, monkeypatch):
    old, new = (of_rows(np.full((2, 20_000), v), [0, 1]) for v in (1.0, 2.0))
    path = tmp_path / "model"
    old.write(path)
    monkeypatch.setattr(_model_file, "_check_schema", lambda _: new.write(path))
    assert state(persist.read(path)) == state(old)
    assert state(persist.read(path)) == state(new)


def test_a_failing_disk_is_not_called_a_bad_file(path, monkeypatch):
    path.write_bytes(contents()["text"])
    for error in (OSError(errno.EIO, "Input/output error"), MemoryError("no room")):

        def fail(*_, error=error):
            raise error

        monkeypatch.setattr(_model_file, "_header", fail)
        with pytest.raises(type(error), match=str(error)[-8:]):
            persist.read(path)


def test_links_paths_of_all_kinds_and_relative_names(tmp_path, monkeypatch):
    path = tmp_path / "model with ü.fgnb"
    path.write_bytes(contents()["text"])
    monkeypatch.chdir(tmp_path)
    for name in (path, str(path), os.fsencode(path), path.name):
        assert load(name).classes_.tolist() == ["no", "yé\n"]
    if sys.platform != "win32":
        (tmp_path / "link").symlink_to(path.name)
        assert load("link").classes_.tolist() == ["no", "yé\n"]


# Files of the past

ROWS = np.array(
    [[0.5, -4.0], [1.5, 8.0], [3.25, 0.0], [-2.75, 1024.0],
     [0.25, 0.125], [6.0, -1.0], [7.0, 2.0], [8.0, 0.5]]
)  # fmt: skip
GAPS = np.where((np.indices(ROWS.shape) == [[[1]], [[0]]]).all(axis=0), np.nan, ROWS)
GAPS[6, 1] = np.nan
SEVENS = np.repeat([0, 7], 4)
TEXT = np.repeat(["no", "yes — “ü”"], 4)
WEIGHT = np.array([1, 2, 4, 0.5, 1, 1, 2, 4])
NAMED = ("a, b", "größe\n")

# What each file of tests/data was made of: rows, labels, weights, and what is particular about it.
PAST = {
    "schema1_plain": (ROWS, SEVENS, None, {}),
    "schema1_names_text": (ROWS, TEXT, None, {"feature_names": NAMED, "var_smoothing": 2.0**-20}),
    "schema1_skip": (GAPS, SEVENS.astype(np.int8), None, {"missing": "skip"}),
    "schema1_priors": (ROWS, SEVENS == 7, None, {"priors": [0.25, 0.75], "var_smoothing": 0.0}),
    "schema1_edited": (ROWS, TEXT.astype(object), None, {"theta": 0.125, "class_prior": [0.5] * 2}),
    "schema1_columns": (
        ROWS, SEVENS * 1.0, WEIGHT,
        {"feature_names": ("u", "v"), "target": "label", "weight": "w"},
    ),
    "schema1_peak": (ROWS, SEVENS, None, {"peak": True}),
}  # fmt: skip


def floats(values):
    return np.array([[float(value) for value in row] for row in values])


@pytest.mark.promise("model files")
@pytest.mark.parametrize("name", PAST)
def test_files_of_the_past_hold_what_they_held(name):
    X, y, weight, odd = PAST[name]
    saved, truth = persist.read(DATA / f"{name}.fgnb"), class_stats(X, y, weight)
    model = saved.model
    stats, moments = model.stats, model.moments
    assert model.classes.tolist() == truth.classes
    assert model.classes.dtype == y.dtype
    assert stats.count.tolist() == truth.count
    assert (stats.weight == floats(truth.weight)).all()
    for got, low, want in zip(
        stats.mean.ravel(), stats.mean_lo.ravel(), np.ravel(truth.mean), strict=True
    ):
        assert abs(exact(got) + exact(low) - want) <= abs(want) * 1e-15
    want = floats(truth.scatter) / floats(truth.weight)
    np.testing.assert_allclose(stats.variance, want, rtol=1e-14)
    assert model.feature_names == odd.get("feature_names")
    assert model.options["priors"] == odd.get("priors")
    assert model.options["var_smoothing"] == odd.get("var_smoothing", 1e-9)
    assert model.missing == odd.get("missing", "error")
    assert (saved.target, saved.weight) == (odd.get("target"), odd.get("weight"))
    assert (stats.max_scatter is not None) == odd.get("peak", False)
    share = stats.count / stats.count.sum()
    assert moments.class_prior.tolist() == odd.get("class_prior", odd.get("priors", share.tolist()))
    theta = stats.mean.copy()
    theta[0, 1] = odd.get("theta", theta[0, 1])
    assert (moments.theta == theta).all()
    assert (moments.var == stats.variance + moments.epsilon).all()


@pytest.mark.parametrize("name", PAST)
def test_files_of_the_past_predict_and_learn_on(name):
    X, y, weight, odd = PAST[name]
    model = load(DATA / f"{name}.fgnb")
    far = pytest.importorskip("pandas").DataFrame(X, columns=odd["feature_names"]) if (
        "feature_names" in odd
    ) else X  # fmt: skip
    joint = model.predict_joint_log_proba(far)
    for row, got in zip(X, joint, strict=True):
        want = oracles.joint(row, model.class_prior_, model.theta_, model.var_)
        np.testing.assert_allclose(got, [float(v) for v in want], rtol=1e-12)
    assert model.predict(far).tolist() == model.classes_[joint.argmax(axis=1)].tolist()
    model.partial_fit(far, y, sample_weight=weight)
    both = np.ones(len(y)) if weight is None else weight
    truth = class_stats(X, y, 2 * both)
    assert model.class_count_.tolist() == truth.count
    np.testing.assert_allclose(model.stats_.mean, floats(truth.mean), rtol=1e-14)
    np.testing.assert_allclose(model.stats_.scatter, floats(truth.scatter), rtol=1e-14)


# The same of other members: rows, labels, the estimator.
PAST_MEMBERS = {
    "schema2_tied": (ROWS, SEVENS, GaussianNB(tied=True, covariance_type="spherical", ddof=1)),
    "schema2_full": (
        ROWS,
        TEXT,
        GaussianBayes(reg_param=0.125, shrinkage="oas", shrinkage_target="spherical"),
    ),
    "schema2_shared": (
        ROWS,
        SEVENS,
        GaussianBayes(tied=True, ddof=1, priors=[0.25, 0.75], shrinkage_target="spherical"),
    ),
    "schema2_axes": (ROWS, SEVENS, PCAGaussianNB(n_components=1, rotation="within")),
    "schema2_own_axes": (ROWS, SEVENS, PCAGaussianNB(n_components=0.875, rotation="class")),
    "schema3_shrunk": (ROWS, TEXT, GaussianBayes(reg_param=0.125, shrinkage="oas")),
    "schema3_scaled": (ROWS, SEVENS, PCAGaussianNB(n_components=1, standardize=True)),
    "schema2_mixed": (
        objects(GAPS[:, 0], [None, *TEXT[1:]], SEVENS == 7, np.arange(8) // 3),
        TEXT,
        MixedNB(
            categorical_features=[1, 2, 3],
            alpha=0.25,
            min_categories=[2, 2, 9],
            max_categories=None,
            missing="skip",
        ),
    ),
    "schema3_mixed": (
        objects(ROWS[:, 0], TEXT, np.arange(8) // 3),
        SEVENS,
        MixedNB(categorical_features=[1, 2], max_categories=99),
    ),
}


@pytest.mark.promise("model files")
@pytest.mark.parametrize("name", PAST_MEMBERS)
def test_members_of_the_past_predict_and_learn_on(name):
    X, y, estimator = PAST_MEMBERS[name]
    model, truth = load(DATA / f"{name}.fgnb"), clone(estimator).fit(X, y)
    assert repr(model) == repr(estimator)
    np.testing.assert_allclose(
        model.predict_joint_log_proba(X), truth.predict_joint_log_proba(X), rtol=1e-9
    )
    more = X[::-1] if X.dtype == object else X + 1
    model.partial_fit(more, y)
    truth.partial_fit(more, y)
    np.testing.assert_allclose(
        model.predict_joint_log_proba(X), truth.predict_joint_log_proba(X), rtol=1e-9
    )


def test_a_schema_has_its_files():
    """Whoever raises SCHEMA adds files of the new number to tests/data, and to what is above."""
    past = [*PAST, *PAST_MEMBERS]
    numbers = {int(re.match(r"schema(\d+)_", name)[1]) for name in past}
    assert numbers == set(range(1, _model_file.SCHEMA + 1))
    assert {path.stem for path in DATA.glob("*.fgnb")} == set(past)
    for name in past:
        document, _, _ = _model_file.unpack(DATA / f"{name}.fgnb")
        assert name.startswith(f"schema{document['schema']}_")


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (_model_file.SCHEMA + 1, r"has schema 4, and this version of fastgnb reads 3\. Update"),
        (0, "has schema 0, expected a number from 1 to 3"),
        (-1, "has schema -1, expected a number"),
        (True, "has schema True, expected a number"),
        (1.0, "has schema 1.0, expected a number"),
        ("1", "has schema '1', expected a number"),
        (None, "has schema None, expected a number"),
    ],
)
def test_other_schemas(path, schema, message):
    """A file of the future need not be laid out as ours, so its number is looked at first."""
    text = json.dumps({"schema": schema, "what": "knows who?"})
    path.write_bytes(_model_file.pack(text, {"new": np.zeros(3, np.float32)}))
    with pytest.raises(ModelFileError, match=message):
        load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, d: t.update(mean=t["mean"][0]), r"mean is float64 \(2,\), expected \(2, featur"),
        (lambda t, d: t.update(mean=t["mean"][:, :0]), r"mean is float64 \(2, 0\), expected \(2,"),
        (lambda t, d: t.update(more=t["mean"]), "not valid: 'more' is unknown"),
        (lambda t, d: t.update(count=np.full(2, 1e308)), "count overflows in sum"),
        (lambda t, d: t.update(mean_low=t["mean"]), "mean_low is more than the rounding error"),
        (lambda t, d: t.update(feature_count=t["mean"] + 9), "feature_count is more than count"),
        (lambda t, d: t.update(peak=t["mean"] * np.nan), "peak is not finite"),
        (lambda t, d: t.update(peak=t["mean"] - 99), "peak is negative"),
        (lambda t, d: t.update(var=t["var"].astype("f4")), "var is F32, expected F64"),
        (lambda t, d: d.update(more=1), "not valid: 'more' is unknown"),
        (lambda t, d: d.pop("epsilon"), "not valid: 'epsilon' is missing"),
        (
            lambda t, d: d.update(model="Other"),
            r"model is 'Other', expected one of \['GaussianNB'\]",
        ),
        (lambda t, d: d.update(epsilon=np.nan), "epsilon must be a number from 0 up, got nan"),
        (lambda t, d: d.update(epsilon=-1.0), "epsilon must be a number from 0 up, got -1.0"),
        (lambda t, d: d.update(var_smoothing=True), "var_smoothing must be a number .* got True"),
        (lambda t, d: d.update(feature_names="ab"), "feature_names are not a list of str"),
        (lambda t, d: d.update(feature_names=[1, 2]), "feature_names are not a list of str"),
        (lambda t, d: d.update(priors=[0.5, 0.6]), "The sum of the priors should be 1"),
        (lambda t, d: d.update(priors=[-1.0, 2.0]), "Priors must be non-negative"),
        (lambda t, d: d.update(priors=[np.nan, 1.0]), "The sum of the priors should be 1"),
        (lambda t, d: d.update(priors=["0.5", "0.5"]), "priors are not a list of float"),
        (lambda t, d: d.update(priors=1.0), "priors are not a list of float"),
        (lambda t, d: d.update(versions=["1"]), "versions are not an object"),
        (lambda t, d: d.update(versions={"a": 1}), "versions are not a list of str"),
        (lambda t, d: d.update(columns={}), "'target' is missing"),
        (lambda t, d: d.update(columns=[]), "columns is a list, expected dict"),
        (lambda t, d: d["columns"].update(target=1), "target is a int, expected str"),
        (lambda t, d: d["classes"].update(dtype=1), "dtype is a int, expected str"),
        (lambda t, d: d["classes"].update(dtype="(1,"), r"labels of dtype '\(1,'"),
        (lambda t, d: d["classes"].update(dtype="|i1", values=[0, 300]), "do not fit dtype .i1"),
        (lambda t, d: d["classes"].update(values=[0.5, 1.5]), "classes are not a list of int"),
        (lambda t, d: d["classes"].update(values=[False, 7]), "classes are not a list of int"),
        (lambda t, d: d["classes"].update(values=[7]), r"expected \(1,\)"),
        (lambda t, d: d["classes"].update(dtype="<f8", values=[0.0, np.nan]), "not whole numbers"),
        (lambda t, d: d["classes"].update(dtype="<f8", values=[0.0, 0.5]), "not whole numbers"),
        (lambda t, d: d["classes"].update(dtype="<f2", values=[0.0, 1e9]), "do not fit dtype <f2"),
        (lambda t, d: d["classes"].update(dtype="<U1", values=["a", "bc"]), "do not fit dtype <U1"),
        (lambda t, d: d["classes"].update(dtype="<U1", values=["b", "a"]), "sorted and distinct"),
    ],
)
def test_what_makes_no_model_is_named(path, change, message):
    document = json.loads(json.dumps(models()["whole numbers"].document()))
    tensors = tensors_of(models()["whole numbers"].model)
    change(tensors, document)
    path.write_bytes(
        _model_file.pack(
            json.dumps(document), {n: np.ascontiguousarray(t) for n, t in tensors.items()}
        )
    )
    with pytest.raises(ModelFileError, match=message):
        load(path)


# What was subtracted


def test_a_saved_model_unlearns_on_as_it_would_have(path):
    """What is left after subtracting has the rounding error of what there was: `peak` tells."""
    X = np.array([[1e8], [0.3], [0.8], [0.3], [-1.3]])
    kept = ClassStats.from_rows(X, [0] * 5)
    loaded = kept
    for i in range(4):
        one = ClassStats.from_rows(X[i : i + 1], [0])
        file_of(loaded).write(path)
        loaded = persist.read(path).model.stats - one
        kept = kept - one
    assert state(file_of(loaded)) == state(file_of(kept))
    assert loaded.max_scatter.tobytes() == kept.max_scatter.tobytes()


def test_a_model_that_subtracted_nothing_stores_no_peak(path):
    models()["text"].write(path)
    assert "peak" not in _model_file.unpack(path)[1]
    assert persist.read(path).model.stats.max_scatter is None


# Pickle, joblib, copies, skops

FRAME = {"a, b": ROWS[:, 0], "größe\n": ROWS[:, 1]}


def learners():
    """Fitted and unfitted things that people pickle."""
    pandas = pytest.importorskip("pandas")
    half, rest = slice(0, 6), slice(6, 8)
    names = GaussianNB(priors=[0.25, 0.75]).fit(pandas.DataFrame(FRAME)[half], TEXT[half])
    return {
        "unfitted": (GaussianNB(var_smoothing=1e-3), ROWS[rest], SEVENS[rest]),
        "plain": (GaussianNB().fit(ROWS[half], SEVENS[half]), ROWS[rest], SEVENS[rest]),
        "named": (names, pandas.DataFrame(FRAME)[rest], TEXT[rest]),
        "skip": (GaussianNB(missing="skip").fit(GAPS, SEVENS), GAPS[rest], SEVENS[rest]),
        "objects": (GaussianNB().fit(ROWS, TEXT.astype(object)), ROWS[rest], TEXT[rest]),
    }


def pickled(thing, _):
    return pickle.loads(pickle.dumps(thing))


def oldest_protocol(thing, _):
    return pickle.loads(pickle.dumps(thing, 0))


def joblibbed(thing, path, compress=0, mmap_mode=None):
    joblib = pytest.importorskip("joblib")
    joblib.dump(thing, path, compress=compress)
    return joblib.load(path, mmap_mode=mmap_mode)


WAYS = {
    "pickle": pickled,
    "oldest protocol": oldest_protocol,
    "copy": lambda thing, _: copy.copy(thing),
    "deepcopy": lambda thing, _: copy.deepcopy(thing),
    "joblib": joblibbed,
    "joblib compressed": functools.partial(joblibbed, compress=3),
    "joblib mapped read-only": functools.partial(joblibbed, mmap_mode="r"),
    "joblib mapped copy-on-write": functools.partial(joblibbed, mmap_mode="c"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["unfitted", "plain", "named", "skip", "objects"])
def test_copies_of_all_kinds_predict_and_learn_on_alike(tmp_path, name, way):
    model, X, y = learners()[name]
    again = WAYS[way](model, tmp_path / "model.joblib")
    assert again.get_params() == model.get_params()
    if name == "unfitted":
        with pytest.raises(NotFittedError):
            again.predict(X)
        model.fit(ROWS, SEVENS)
        again.fit(ROWS, SEVENS)
    before = model.predict_joint_log_proba(X).tobytes()
    assert again.predict_joint_log_proba(X).tobytes() == before
    assert again.predict(X).tolist() == model.predict(X).tolist()
    model_after = copy.deepcopy(model).partial_fit(X, y)
    again.partial_fit(X, y)
    assert again.predict_joint_log_proba(X).tobytes() != before
    assert (
        again.predict_joint_log_proba(X).tobytes()
        == model_after.predict_joint_log_proba(X).tobytes()
    )
    assert model.predict_joint_log_proba(X).tobytes() == before  # nothing is shared
    save(again, tmp_path / "model.fgnb")
    assert load(tmp_path / "model.fgnb").var_.tobytes() == model_after.var_.tobytes()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["subtracted", "missing", "text"])
def test_statistics_and_saved_models_are_copied_whole(tmp_path, name, way):
    saved = models()[name]
    again = WAYS[way](saved, tmp_path / "saved.joblib")
    assert state(again) == state(saved)
    stats = WAYS[way](saved.stats, tmp_path / "stats.joblib")
    twice = file_of(stats + stats)
    assert state(twice) == state(file_of(saved.stats + saved.stats))
    with pytest.raises(AttributeError, match="cannot assign to field"):
        stats.count = None


ELSEWHERE = """
import pickle, sys
import numpy as np
with open(sys.argv[1], "rb") as file:
    model, X, y, answers, after = pickle.load(file)
assert model.predict_joint_log_proba(X).tobytes() == answers
assert model.partial_fit(X, y).predict_joint_log_proba(X).tobytes() == after
print(model.predict(X).tolist())
"""


def test_another_process_unpickles_predicts_and_learns_the_same_bits(python, tmp_path):
    model = GaussianNB().fit(ROWS, TEXT)
    answers = model.predict_joint_log_proba(ROWS).tobytes()
    after = copy.deepcopy(model).partial_fit(ROWS, TEXT).predict_joint_log_proba(ROWS).tobytes()
    (tmp_path / "p").write_bytes(pickle.dumps((model, ROWS, TEXT, answers, after)))
    labels = [model.predict(ROWS).tolist()]
    assert python(ELSEWHERE, str(tmp_path / "p"), PYTHONUTF8="1").strip() == str(labels[0])


@pytest.mark.parametrize("name", ["unfitted", "plain", "named", "skip"])
def test_skops_needs_to_trust_two_names(name):
    """Loading with these runs nothing of the file's: they are classes of plain arrays."""
    io = pytest.importorskip("skops.io")
    model, X, y = learners()[name]
    data = io.dumps(model)
    trusted = ["fastgnb.estimators.naive_bayes.GaussianNB", "fastgnb.stats.class_stats.ClassStats"]
    assert set(io.get_untrusted_types(data=data)) <= set(trusted)
    again = io.loads(data, trusted=trusted)
    assert again.get_params() == model.get_params()
    if name != "unfitted":
        answers = model.predict_joint_log_proba(X).tobytes()
        assert again.predict_joint_log_proba(X).tobytes() == answers
        assert (again.partial_fit(X, y).var_ == model.partial_fit(X, y).var_).all()


# Saving


def test_the_order_that_makes_a_save_last(path, monkeypatch):
    """Content to the disk, then the name, then the folder that holds the name."""
    events, flush, rename = [], os.fsync, os.replace
    models()["whole numbers"].write(path)
    size = len(contents()["many"])

    def fsync(descriptor):
        found = os.fstat(descriptor)
        is_folder = stat.S_ISDIR(found.st_mode)
        events.append("flush folder" if is_folder else f"flush {found.st_size}")
        flush(descriptor)

    def replace_file(source, target):
        events.append("rename")
        rename(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace_file)
    models()["many"].write(path)
    folder = [] if sys.platform == "win32" else ["flush folder"]
    assert events == [f"flush {size}", "rename", *folder]


def full_disk(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def half_a_write(path, data):
    with open(path, "wb") as file:
        file.write(data[: len(data) // 2])
    full_disk()


@pytest.mark.parametrize(
    ("owner", "name", "fault"),
    [
        (pathlib.Path, "write_bytes", full_disk),
        (pathlib.Path, "write_bytes", half_a_write),
        (os, "fsync", full_disk),
        (os, "replace", full_disk),
    ],
)
@pytest.mark.parametrize("is_old", [True, False])
def test_a_full_disk_leaves_the_old_file_and_no_other(
    tmp_path, monkeypatch, owner, name, fault, is_old
):
    path = tmp_path / "model"
    if is_old:
        path.write_bytes(contents()["text"])
    monkeypatch.setattr(owner, name, fault)
    with pytest.raises(OSError, match="No space left on device"):
        models()["many"].write(path)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == (["model"] if is_old else [])
    assert not is_old or state(persist.read(path)) == state(models()["text"])


def test_a_folder_that_cannot_be_flushed_is_no_error(tmp_path, monkeypatch):
    """Some network file systems refuse; the file is there, and whole, by then."""
    flush = os.fsync

    def fsync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    models()["many"].write(tmp_path / "model")
    assert state(persist.read(tmp_path / "model")) == state(models()["many"])


LIMITED = """
import resource, sys
from fastgnb.files.models import model_file as persist
from fastgnb.files.models import schemas
from fastgnb.files.models.model_file import ModelFile
from fastgnb.files.models.tensors import tensors_of
old, new = (persist.read(path) for path in sys.argv[1:3])
old.write(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    new.write(sys.argv[3])
except OSError as error:
    print(error)
"""


@POSIX
def test_a_file_size_limit_is_an_error_that_leaves_the_old_file(python, tmp_path):
    target = tmp_path / "out" / "model"
    target.parent.mkdir()
    for name in ("text", "many"):
        (tmp_path / name).write_bytes(contents()[name])
    said = python(LIMITED, str(tmp_path / "text"), str(tmp_path / "many"), str(target))
    assert "File too large" in said
    assert os.listdir(target.parent) == ["model"]
    assert state(persist.read(target)) == state(models()["text"])


POWERLESS = """
import os, sys
from fastgnb import load
from fastgnb.files.models import model_file as persist
from fastgnb.files.models import schemas
from fastgnb.files.models.model_file import ModelFile
from fastgnb.files.models.tensors import tensors_of
folder = sys.argv[1]
model = persist.read(f"{folder}/model")
load(f"{folder}/model")
model.write(f"{folder}/open/first")  # all that is imported late is imported
if os.geteuid() == 0:
    for name in ("open", "open/model"):
        os.chown(f"{folder}/{name}", 65534, 65534)
    os.setgid(65534)
    os.setuid(65534)
print(load(f"{folder}/model").classes_)
for name in ("new", "model"):
    try:
        model.write(f"{folder}/{name}")
    except PermissionError as error:
        print(error)
model.write(f"{folder}/open/model")
"""


@POSIX
def test_a_user_without_rights(python):
    """Loading needs no right to write; a read-only folder is named; a read-only file stays so."""
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others
        folder = pathlib.Path(name)
        (folder / "open").mkdir()
        for path in (folder / "model", folder / "open" / "model"):
            path.write_bytes(contents()["booleans"])
            path.chmod(0o444)
        (folder / "open").chmod(0o755)
        folder.chmod(0o555)
        try:
            lines = python(POWERLESS, str(folder)).splitlines()
        finally:
            folder.chmod(0o755)
        assert lines[0] == "[False  True]"
        for line, path in zip(lines[1:], ("new", "model"), strict=True):
            at = folder.resolve()
            assert line == f"cannot write {folder / path}: the folder {at} is not writable"
        assert stat.S_IMODE((folder / "open" / "model").stat().st_mode) == 0o444
        assert sorted(os.listdir(folder / "open")) == ["first", "model"]
        assert sorted(os.listdir(folder)) == ["model", "open"]


def is_of_saving(code):
    place = pathlib.PurePath(code.co_filename)
    ours = place.name == "_atomic.py" or code is ModelFile.write.__code__
    return ours or place.name == "contextlib.py" or "pathlib" in str(place)


def interrupted(write, at):
    """write() with KeyboardInterrupt at the line numbered `at` of those that saving runs."""
    lines = 0

    def trace(frame, event, _):
        nonlocal lines
        if not is_of_saving(frame.f_code):
            return None
        if event == "line":
            lines += 1
            if lines == at:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        write()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # between open and `with`
def test_an_interrupt_at_any_line_leaves_a_whole_file_and_no_other(tmp_path):
    path, at = tmp_path / "model", 0
    old, new = models()["text"], models()["booleans"]
    olds = 0
    while True:
        at += 1
        path.write_bytes(contents()["text"])
        if not interrupted(lambda: new.write(path), at):
            break
        if len(os.listdir(tmp_path)) > 1:
            gc.collect()  # a context that was not entered yet ends when it is collected
        assert os.listdir(tmp_path) == ["model"], f"line {at}"
        found = state(persist.read(path))
        assert found in (state(old), state(new))
        olds += found == state(old)
    assert state(persist.read(path)) == state(new)
    assert at > 100  # not a save that was never interrupted
    assert 50 < olds < at - 3  # before the rename, and after it


KILLED = """
import os, random, select, sys, time
from fastgnb.files.models import model_file as persist
from fastgnb.files.models import schemas
from fastgnb.files.models.model_file import ModelFile
from fastgnb.files.models.tensors import tensors_of
one, two, path = sys.argv[1:4]
models = [persist.read(one), persist.read(two)]
models[0].write(path)  # all that is imported late is imported
draw = random.Random(5)
saved, tell = os.pipe()
for _ in range(int(sys.argv[4])):
    child = os.fork()
    if child == 0:
        while True:
            for model in models:
                model.write(path)
                os.write(tell, b".")
    start, saves = time.perf_counter(), draw.randint(1, 3)
    for _ in range(saves):
        os.read(saved, 1)
    time.sleep(draw.random() * (time.perf_counter() - start) / saves)  # within the next one
    os.kill(child, 9)
    os.waitpid(child, 0)
    while select.select([saved], [], [], 0)[0]:
        os.read(saved, 1)
    print(len(persist.read(path).model.classes))
"""


@POSIX
@pytest.mark.parametrize("kills", [30, pytest.param(100, marks=pytest.mark.slow)])
def test_a_killed_save_leaves_one_of_two_files(python, tmp_path, kills):
    large = of_rows(np.ones((3, 3000)) * [[1], [2], [3]], [0, 1, 2])
    small = of_rows(np.ones((2, 5)), [0, 1])
    folder = tmp_path / "out"
    folder.mkdir()
    large.write(tmp_path / "large")
    small.write(tmp_path / "small")
    said = python(
        KILLED, str(tmp_path / "large"), str(tmp_path / "small"), str(folder / "model.fgnb"),
        str(kills), PYTHONWARNINGS="ignore::DeprecationWarning",
    ).split()  # fmt: skip
    assert len(said) == kills
    assert set(said) == {"2", "3"}
    # What the killed ones left is hidden, in no one's way, and no half of it loads.
    left = [name for name in os.listdir(folder) if name != "model.fgnb"]
    ours = re.compile(r"\.model\.fgnb\.[0-9a-f]{8}-\d+\.[0-9a-f]{8}\.tmp")
    assert all(ours.fullmatch(name) for name in left)
    assert not list(folder.glob("*.fgnb"))[1:]
    for name in left:
        again, _ = read_or_refuse(folder / name)
        assert again is None or state(again) in (state(large), state(small))
    large.write(folder / "model.fgnb")
    assert state(persist.read(folder / "model.fgnb")) == state(large)


# Labels and names

ALL_KINDS = {
    "int64": np.array([-(2**63), -1, 0, 2**63 - 1]),
    "uint64": np.array([0, 1, 2**64 - 1], np.uint64),
    "int8": np.array([-128, 127], np.int8),
    "uint8": np.array([0, 255], np.uint8),
    "int32": np.array([-(2**31), 2**31 - 1], np.int32),
    "bool": np.array([False, True]),
    "one class": np.array([5]),
    "float64": np.array([-1.7e308, -(2.0**53), 0.0, 1.7e308]),
    "float32": np.array([-(2.0**24), 3.0], np.float32),
    "float16": np.array([-2048.0, 65504.0], np.float16),
    "other byte order": np.array([1, 2, 300], ">i4"),
    "text": np.array(["", " ", "\n", "\t\r", "\x00a", '"', "\\", "ü", "\u2028", "𝕏", "\U0010ffff"]),
    "surrogates": np.array(["\ud800", "\ud800a", "\udfff"]),
    "wide text": np.array(["a", "b"], "U1000"),
    "objects": np.array(["", "a", "a\x00", "a\x00b", "n" * 10_000, "\udc80"], object),
    "subclass": np.array([np.str_("a"), np.str_("b")], object),
    "long text": np.array(["m" * 10_000, "n" * 10_000]),
    "words of JSON": np.array(["NaN", "null", "true", "{}", "1"]),
    "alike": np.array(["e\u0301", "\u00e9", "É"]),
    "many": np.arange(5000),
}


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_labels_of_all_kinds_come_back(tmp_path, kind):
    labels = ALL_KINDS[kind]
    X = np.arange(2.0 * len(labels))[:, None] ** 2
    y = np.concatenate([labels, labels])
    model = GaussianNB().fit(X, y)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.model.classes_.dtype == model.classes_.dtype
    assert again.model.classes_.tolist() == model.classes_.tolist() == sorted(set(labels.tolist()))
    assert {type(label) for label in again.model.classes_.tolist()} <= {bool, int, float, str}
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.predict(X).dtype == model.predict(X).dtype
    assert again.partial_fit(X, y).class_count_.tolist() == [4.0] * len(model.classes_)


@pytest.mark.parametrize(
    "names",
    [
        ["", "\x00", "a\x00", "\n", "\ud800", "𝕏", "n" * 10_000, '"', "\\", "same", "same "],
        [f"feature {j}" for j in range(5000)],
    ],
    ids=["odd", "many"],
)
def test_names_of_all_kinds_come_back(path, names):
    saved = of_rows(np.arange(2.0 * len(names)).reshape(2, -1), [0, 1], names=names)
    replace(saved, target=names[0], weight=names[1]).write(path)
    again = persist.read(path)
    assert again.feature_names == tuple(names)
    assert (again.target, again.weight) == tuple(names[:2])


def test_labels_that_no_file_holds_are_refused_before_it_is_written(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    halves = np.array(["\ud835\udd4f", "a"], object)  # JSON makes one character of the two
    with pytest.raises(ValueError, match="two surrogates that JSON reads as one character"):
        of_rows([[0.0], [1.0]], halves).write(path)
    with pytest.raises(ValueError, match="two surrogates"):
        of_rows([[0.0], [1.0]], [0, 1], names=["\ud835\udd4f"]).write(path)
    stats = models()["whole numbers"].stats
    for classes in (np.array([b"a", b"b"]), np.array([1, 2], "M8[s]"), np.array([1, 2j])):
        odd = replace(models()["whole numbers"], stats=replace(stats, classes=classes))
        with pytest.raises(ValueError, match=r"Labels of dtype .* cannot be saved"):
            odd.write(path)
    odd = replace(models()["whole numbers"].stats, feature_names=(1, 2, 3))
    with pytest.raises(ValueError, match="feature_names are not a list of str"):
        replace(models()["whole numbers"], stats=odd).write(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["m"]


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 2's text")
def test_text_of_any_length_comes_back_as_objects(path):
    labels = np.array(["b", "a", "longer than most"], np.dtypes.StringDType())
    of_rows([[0.0], [1.0], [2.0]], labels).write(path)
    assert persist.read(path).model.classes.tolist() == ["a", "b", "longer than most"]


def test_what_was_edited_is_saved_or_refused(path):
    model = GaussianNB().fit(ROWS, SEVENS)
    model.classes_ = np.array([7, 0])  # obeyed by predict, and no file could say so
    with pytest.raises(ValueError, match="classes_ was edited"):
        save(model, path)
    model.classes_ = np.array(["a", "b"])
    with pytest.raises(ValueError, match="classes_ was edited"):
        save(model, path)
    model.classes_ = model.stats_.classes.copy()
    model.feature_names_in_ = np.array(["u", "v"], object)
    save(model, path)
    assert load(path).feature_names_in_.tolist() == ["u", "v"]
    model.set_params(priors=[0.5, 0.6])
    with pytest.raises(ValueError, match="The sum of the priors should be 1"):
        save(model, path)
    assert load(path).priors is None
