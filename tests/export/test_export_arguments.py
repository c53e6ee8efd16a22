"""Arguments of to_sql and to_onnx that cannot be used, and packages that are missing."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from fastgnb import GaussianNB

X = np.array([[1.0, 2.0], [2.0, 1.0], [5.0, 6.0], [6.0, 5.0]])
MODEL = GaussianNB().fit(X, ["a", "a", "b", "b"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dialect": "oracle"}, r"dialect of \['duckdb', 'postgres', 'sqlite'\], got 'oracle'"),
        ({"columns": ["a"]}, r"Expected columns for 2 features, got \['a'\]"),
        ({"columns": "ab"}, "Expected columns for 2 features, got 'ab'"),
        ({"columns": {"x7": "a"}}, "columns has 'x7', which is no feature.*'x0', 'x1'"),
        ({"columns": ["a", "a"]}, "Columns must be distinct.*'a' and 'a'"),
        ({"columns": ["a", "A"]}, "Columns must be distinct, and DuckDB takes 'a' and 'A' for one"),
        ({"columns": ["a", ""]}, "takes names of 1 bytes"),
        ({"columns": ["a", "b\0"]}, "A name holds a NUL"),
        ({"columns": ["a", "\ud800"]}, "A name holds a lone surrogate"),
        ({"dialect": "postgres", "columns": ["a", "ä" * 32]}, "names of 1 to 63 bytes, got 64"),
        ({"proba": True}, "columns of a SELECT: give table too"),
        ({"keep": ["id"]}, "columns of a SELECT: give table too"),
        ({"table": "t", "keep": ["prediction"]}, "Columns of the result must be distinct"),
        ({"table": ""}, "takes names of 1 bytes"),
    ],
    ids=str,
)
def test_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        MODEL.to_sql(**arguments)


@pytest.mark.parametrize("columns", [[1, 2], [None, "a"]])
def test_names_are_text(columns):
    with pytest.raises(TypeError, match="Expected names that are text, got"):
        MODEL.to_sql(columns=columns)


def test_case_matters_in_postgres():
    assert '"A"' in MODEL.to_sql("postgres", columns=["a", "A"])


@pytest.mark.parametrize("label", ["a\0b", "\udfff"])
def test_labels_that_no_sql_holds(label):
    model = GaussianNB().fit(X, np.array(["a", "a", label, label], object))
    with pytest.raises(ValueError, match="A label or category holds a"):
        model.to_sql()


def test_columns_by_name():
    named = MODEL.to_sql("sqlite", columns={"x1": "height"})
    assert named == MODEL.to_sql("sqlite", columns=["x0", "height"])


@pytest.mark.parametrize("method", ["to_sql", "to_onnx"])
def test_models_that_are_not_fitted(method):
    with pytest.raises(NotFittedError):
        getattr(GaussianNB(), method)()


def test_onnx_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"to_onnx needs onnx.*pip install 'fastgnb\[onnx\]'"):
        MODEL.to_onnx()


def test_an_expression_has_one_value_and_no_semicolon():
    for dialect in ("duckdb", "sqlite", "postgres"):
        for text in (MODEL.to_sql(dialect), MODEL.to_sql(dialect, table=("main", "t"))):
            assert ";" not in text
    assert 'FROM "main"."t"' in MODEL.to_sql("postgres", table=("main", "t"))
