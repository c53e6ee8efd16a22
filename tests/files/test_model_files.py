"""Model files from strangers, from the past, from killed runs; pickles, and labels of all kinds."""

from __future__ import annotations

import copy
import json
import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_file_cases import NAMES, at, contents, models, read_or_refuse, state

from fastgnb import (
    ClassStats,
    MixedStats,
    ModelFileError,
)
from fastgnb.files.models import container as _model_file
from fastgnb.files.models import model_file as persist
from fastgnb.files.models import schemas
from fastgnb.files.models.tensors import tensors_of
from fastgnb.input.categorical import MixedRows
from fastgnb.input.category_codes import CategoricalColumn

EXAMPLES = pytest.mark.parametrize(
    "examples", [1000, pytest.param(2500, marks=pytest.mark.slow)], ids=["some", "many"]
)


def fuzzed(test, examples, **strategies):
    """Run test(**drawn) on as many examples, the same ones every time."""
    options = settings(max_examples=examples)
    options(given(**strategies)(test))()


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
    for place in range(len(data)):
        for bit in range(place, place + bits):
            flipped = bytearray(data)
            flipped[place] ^= 1 << bit % 8
            must_be_refused_or_the_same(path, flipped, models()[name])
        path.write_bytes(data[:place])
        with pytest.raises(ModelFileError, match="not a whole fastgnb model file"):
            persist.read(path)


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
