"""`to_bytes` and `from_bytes`: statistics and models to the bit, in bytes that stay the same."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_file_cases import NAMES, contents, models, objects, state
from same_bits import assert_same_bits
from sklearn.exceptions import NotFittedError

import fastgnb
from fastgnb import (
    ClassStats,
    GaussianNB,
    MixedStats,
    ModelFileError,
    from_bytes,
    load,
    merge,
    save,
    to_bytes,
)
from fastgnb.files.models import container as _container
from fastgnb.files.models.model_file import model_file_of, to_estimator
from fastgnb.files.models.statistics import document_of_stats
from fastgnb.files.models.tensors import tensors_of_stats

X = np.array([[0.5, -4.0], [1.5, 8.0], [3.25, 0.0], [-2.75, 1e3]])
Y = np.array([0, 0, 7, 7])
GAPS = np.where(X == 1.5, np.nan, X)
WORDS = np.array(["no", "yé\n"])[(Y > 0).astype(int)]
NO_ROWS = np.empty((0, 2))
TABLE = objects(X[:, 0], WORDS, X[:, 1], Y > 0, Y * 10)


def table_gaps():
    gaps = TABLE.copy()
    gaps[0, 1], gaps[3, 4] = None, np.nan
    return gaps


@functools.cache
def cases():
    """Statistics that differ in everything that bytes can hold."""
    of, full = ClassStats.from_rows, functools.partial(ClassStats.from_rows, scatter="full")
    mixed = functools.partial(MixedStats.from_rows, categorical_features=[1, 3, 4])
    none = np.empty(0, np.int64)
    return {
        "whole numbers": of(X, Y),
        "one byte": of(X, Y.astype(np.int8)),
        "booleans": of(X, Y > 0),
        "floats": of(X, Y.astype(np.float32), [1.0, 0.5, 2.0, 1e-300]),
        "text": of(X, WORDS, feature_names=["a, b", "ü\ud800"]),
        "objects": of(X, WORDS.astype(object)),
        "missing": of(GAPS, Y, missing="skip"),
        "all missing": of(X * np.nan, Y, missing="skip"),
        "full": full(X, Y),
        "subtracted": of(X, Y) - of(X[:1], Y[:1]),
        "full subtracted": full(X, Y) - full(X[:1], Y[:1]),
        "emptied": of(X, Y) - of(X[2:], Y[2:]),
        "light": of(X, Y).decay(1e-300).decay(1e-10),
        "scatter overflows": of(X * 1e150, Y, 1e200) - of(X[:1] * 1e150, Y[:1], 1e200),
        "classes without rows": of(X, Y, classes=[-1, 0, 7, 9]),
        "no rows": of(NO_ROWS, none, classes=[0, 7]),
        "no classes": of(NO_ROWS, none),
        "no classes, text": of(NO_ROWS, np.empty(0, "U3")),
        "no classes, objects": of(NO_ROWS, np.empty(0, object)),
        "no classes, full": full(NO_ROWS, none),
        "no classes, missing": of(NO_ROWS, none, missing="skip"),
        "no features": ClassStats(none, np.empty(0), *[np.empty((0, 0))] * 3),
        "mixed": mixed(TABLE, WORDS, feature_names=["a, b", "ü", "c", "d", "e"]),
        "mixed gaps": mixed(table_gaps(), Y, missing="skip"),
        "mixed subtracted": mixed(TABLE, Y) - mixed(TABLE[:1], Y[:1]),
        "mixed, no categories": MixedStats.from_rows(X, Y),
        "categories": MixedStats.from_rows(TABLE[:, [1, 3]], Y, categorical_features=[0, 1]),
        "mixed, no rows": mixed(TABLE[:0], none, classes=[0, 7]),
        "mixed, no classes": mixed(TABLE[:0], none),
        "mixed, no classes, missing": mixed(TABLE[:0], none, missing="skip"),
    }  # fmt: skip


CASES = list(cases())

# SHA-256 of the bytes of some: they are the same on every machine and in every version to come.
DIGESTS = {
    "whole numbers": "32222d6d1d44a3280f906c21a6524d8958465b8715d2d988c503d17d62f75851",
    "full": "d75836ab67bae89189068c34402726e6e7dd5a573cd39652d6cd3b875d109bd1",
    "mixed gaps": "19b001fcda7543849df0194984f323da53ff3f75da36a902afc49d004b122163",
    "no classes": "68743ecee8c5334fb9b4e838b312c96e14e4d2c2517b37f03057a56ca1d04809",
}


# ------------------------------------------------------------------ there and back


@pytest.mark.promise("model files")
@pytest.mark.parametrize("name", CASES)
def test_statistics_come_back_to_the_bit(name):
    stats = cases()[name]
    data = to_bytes(stats)
    assert type(data) is bytes
    for given_as in (data, bytearray(data), memoryview(data)):
        assert_same_bits(from_bytes(given_as), stats)


@pytest.mark.parametrize("name", CASES)
def test_what_came_back_is_of_its_own_memory_and_adds(name):
    stats = cases()[name]
    data = bytearray(to_bytes(stats))
    again = from_bytes(data)
    data[-8:] = b"\xff" * 8
    assert_same_bits(again, stats)
    assert_same_bits(merge([again, stats]), merge([stats, stats]))


@settings(max_examples=60)
@given(st.data())
def test_any_statistics_can_be_written(data):
    """Of rows of any scale and weight, merged, subtracted from and decayed."""
    n, d = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 3))
    number = st.floats(-1e6, 1e6).map(lambda x: x if abs(x) > 1e-6 else 0.0)
    scale = st.sampled_from([1.0, 1e-300, 1e-160, 1e-100, 1e100, 1e150])
    rows = np.array(data.draw(st.lists(number, min_size=n * d, max_size=n * d))).reshape(n, d)
    rows *= [data.draw(scale) / 1e6 for _ in range(d)]
    y = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    weight = data.draw(st.sampled_from([None, 1e-320, 0.3, 1e200]))
    options = data.draw(st.sampled_from([{}, {"scatter": "full"}, {"missing": "skip"}]))
    stats = ClassStats.from_rows(rows, y, weight, **options)
    half = ClassStats.from_rows(rows[::2], y[::2], weight, **options)
    for one in (stats, stats + half, stats - half, stats.decay(0.1)):
        assert_same_bits(from_bytes(to_bytes(one)), one)


@pytest.mark.parametrize("name", NAMES)
def test_models_come_back_to_the_bit(name, tmp_path):
    """And their bytes are those of a model file of the same parts."""
    saved = models()[name]
    estimator = to_estimator(saved.model)
    data = to_bytes(estimator)
    save(estimator, tmp_path / "m")
    assert data == (tmp_path / "m").read_bytes()
    again = model_file_of(_container.unpack_bytes(data))
    wanted = dataclasses.replace(saved, target=None, weight=None)
    assert state(again) == state(wanted)
    assert type(from_bytes(data)) is type(estimator)
    assert to_bytes(from_bytes(data)) == data
    from_file = from_bytes(contents()[name])  # those of a command, with columns
    assert to_bytes(from_file) == data


# ------------------------------------------------------------------ the same bytes, always


@pytest.mark.promise("same bytes")
@pytest.mark.parametrize("name", DIGESTS)
def test_bytes_are_those_of_the_past(name):
    assert hashlib.sha256(to_bytes(cases()[name])).hexdigest() == DIGESTS[name]


OTHER = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
import test_as_bytes as t
for name, stats in t.cases().items():
    print(hashlib.sha256(t.to_bytes(stats)).hexdigest())
from fastgnb import GaussianNB
print(hashlib.sha256(t.to_bytes(GaussianNB().fit(t.X, t.WORDS))).hexdigest())
"""


@pytest.mark.promise("same bytes")
def test_equal_content_gives_equal_bytes_in_every_process(python):
    here = [hashlib.sha256(to_bytes(stats)).hexdigest() for stats in cases().values()]
    here.append(hashlib.sha256(to_bytes(GaussianNB().fit(X, WORDS))).hexdigest())
    folder = str(pathlib.Path(__file__).parent)
    for seed in ("1", "2"):
        assert python(OTHER, folder, PYTHONHASHSEED=seed).split() == here


@pytest.mark.promise("same bytes")
def test_save_gives_equal_bytes_each_time(tmp_path):
    """The order of the metadata's keys depended on the process, and on the call."""
    model = models()["mixed"]
    found = set()
    for i in range(8):
        model.write(tmp_path / f"{i}")
        found.add((tmp_path / f"{i}").read_bytes())
    assert len(found) == 1


def test_bytes_do_not_depend_on_layout_or_threads(rng):
    rows, y = rng.normal(size=(5000, 4)), rng.integers(0, 3, 5000)
    wanted = to_bytes(ClassStats.from_rows(rows, y))
    with fastgnb.threads(1):
        assert to_bytes(ClassStats.from_rows(np.asfortranarray(rows), y)) == wanted
    stats = from_bytes(wanted)
    turned = dataclasses.replace(stats, mean=np.asfortranarray(stats.mean))
    assert to_bytes(turned) == wanted


def test_any_reader_of_safetensors_reads_statistics(tmp_path):
    from safetensors.numpy import load_file

    for name, stats in cases().items():
        (tmp_path / "m").write_bytes(to_bytes(stats))
        tensors = load_file(tmp_path / "m")
        for key, tensor in tensors_of_stats(stats).items():
            assert tensors[key].tobytes() == tensor.tobytes(), (name, key)


# ------------------------------------------------------------------ bad input


@pytest.mark.promise("model files")
@pytest.mark.parametrize("name", ["whole numbers", "full", "mixed gaps", "no classes"])
def test_altered_bytes_are_refused(name):
    """Or, where white space changed, they hold what they held."""
    stats = cases()[name]
    data = to_bytes(stats)
    for i in range(len(data)):
        altered = bytearray(data)
        altered[i] ^= 1 << i % 8
        try:
            again = from_bytes(altered)
        except ModelFileError:
            continue
        assert_same_bits(again, stats)
    for n in range(0, len(data), 7):
        with pytest.raises(ModelFileError):
            from_bytes(data[:n])
    with pytest.raises(ModelFileError, match="not a whole fastgnb model file"):
        from_bytes(data + b"\0")


def altered(name, change):
    """Bytes with a valid digest of what no statistics are."""
    stats = cases()[name]
    document, tensors = document_of_stats(stats), tensors_of_stats(stats)
    change(document, tensors)
    return _container.pack(json.dumps(document), tensors)


CHANGES = {
    "schema": (lambda d, t: d.update(schema=5), r"has schema 5, .* reads 4\. Update fastgnb"),
    "early": (lambda d, t: d.update(schema=3), "statistics of schema 3"),
    "kind": (lambda d, t: d.update(statistics="Sums"), "statistics are 'Sums', expected one of"),
    "other kind": (lambda d, t: d.update(statistics="MixedStats"), "'categorical' is missing"),
    "kind is a list": (lambda d, t: d.update(statistics=[1]), r"statistics are \[1\]"),
    "more": (lambda d, t: d.update(more=1), "'more' is unknown"),
    "model too": (lambda d, t: d.update(model="GaussianNB"), "'model' is unknown"),
    "less": (lambda d, t: d.pop("classes"), "'classes' is missing"),
    "order": (lambda d, t: d["classes"]["values"].reverse(), "classes are not sorted"),
    "names": (lambda d, t: d.update(feature_names=["a"]), "1 feature names for 2 features"),
    "more tensors": (lambda d, t: t.update(theta=t["mean"]), "'theta' is unknown"),
    "fewer tensors": (lambda d, t: t.pop("mean_low"), "'mean_low' is missing"),
    "shape": (lambda d, t: t.update(mean=t["mean"][:1]), r"mean is float64 \(1, 2\), expected"),
    "vector": (lambda d, t: t.update(mean=t["mean"][0]), r"mean is float64 \(2,\), expected"),
    "nan": (lambda d, t: t.update(mean=t["mean"] * np.nan), "mean is not finite"),
    "negative": (lambda d, t: t.update(variance=t["variance"] - 1e9), "variance is negative"),
    "overflow": (lambda d, t: t.update(count=np.full(2, 1e308)), "count overflows in sum"),
    "low": (lambda d, t: t.update(mean_low=t["mean"]), "mean_low is more than the rounding error"),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGES)
def test_made_up_statistics_are_refused(case):
    change, message = CHANGES[case]
    with pytest.raises(ModelFileError, match=message):
        from_bytes(altered("whole numbers", change))


def test_a_file_of_statistics_is_no_model(tmp_path):
    (tmp_path / "m.fgnb").write_bytes(to_bytes(cases()["full"]))
    with pytest.raises(ModelFileError, match=r"m\.fgnb: .* statistics, which fastgnb\.from_bytes"):
        load(tmp_path / "m.fgnb")


def test_what_is_no_bytes_or_no_statistics():
    for value in ("text", 1, None, pathlib.Path("m.fgnb")):
        with pytest.raises(TypeError, match="Expected bytes, got"):
            from_bytes(value)
    with pytest.raises(ModelFileError, match="not a whole fastgnb model file"):
        from_bytes(b"hello, world\n")
    with pytest.raises(TypeError, match="Expected a model of fastgnb's, got list"):
        to_bytes([cases()["full"]])
    with pytest.raises(NotFittedError):
        to_bytes(GaussianNB())
    dated = dataclasses.replace(cases()["full"], classes=np.array([1, 2], "M8[D]"))
    with pytest.raises(ValueError, match="cannot be saved: use text, whole numbers or booleans"):
        to_bytes(dated)
    broken = dataclasses.replace(cases()["full"], count=np.array([np.nan, 1.0]))
    with pytest.raises(ValueError, match="count is not finite"):
        to_bytes(broken)
