"""Models of all kinds and their files, for tests of model files."""

from __future__ import annotations

import functools
import pathlib
import sys
import tempfile

import numpy as np
import pytest
from model_files import file_of

from fastgnb import (
    ClassStats,
    MixedStats,
    ModelFileError,
)
from fastgnb.files.models import model_file as persist
from fastgnb.files.models.tensors import tensors_of

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files, signals and modes")


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


def state(saved):
    """All of a model, to the bit."""
    return saved.document(), {
        name: (tensor.shape, tensor.tobytes()) for name, tensor in tensors_of(saved.model).items()
    }


def read_or_refuse(path):
    """The model, or None and what the loader says."""
    try:
        return persist.read(path), ""
    except ModelFileError as error:
        return None, str(error)


def at(document, field):
    """What stands there in an object or a list, or None."""
    if type(document) is list:
        return document[field] if type(field) is int and field < len(document) else None
    return document.get(field)


ROWS = np.array(
    [[0.5, -4.0], [1.5, 8.0], [3.25, 0.0], [-2.75, 1024.0],
     [0.25, 0.125], [6.0, -1.0], [7.0, 2.0], [8.0, 0.5]]
)  # fmt: skip
GAPS = ROWS.copy()
GAPS[1, 0] = GAPS[6, 1] = np.nan
SEVENS = np.repeat([0, 7], 4)
TEXT = np.repeat(["no", "yes — “ü”"], 4)
