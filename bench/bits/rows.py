"""Rows, labels and weights of the cases, the same on every run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np

SIZES = (
    1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129, 255, 256, 257, 500,
    1000, 1023, 1025, 2047, 2048, 2049, 4095, 4097, 5000,
)  # fmt: skip
FEATURES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 24, 25, 31, 32, 33, 40)
CLASSES = (1, 2, 3, 4, 5, 7, 8, 9, 10, 12)


class Shape(NamedTuple):
    """n rows, d features, k classes."""

    n: int
    d: int
    k: int

    def __str__(self) -> str:
        return f"{self.n}x{self.d}x{self.k}"


def grid() -> Iterator[Shape]:
    """Every size with every number of features, and numbers of classes in turn."""
    classes = cycle(CLASSES)
    for n in SIZES:
        for d in FEATURES:
            yield Shape(n, d, next(classes))
        next(classes)


SMALL = (
    Shape(1, 3, 1), Shape(2, 1, 2), Shape(6, 2, 2), Shape(9, 4, 3), Shape(33, 5, 3),
    Shape(64, 8, 2), Shape(65, 9, 4), Shape(129, 3, 5), Shape(257, 16, 7), Shape(500, 17, 3),
    Shape(1000, 12, 10), Shape(2049, 33, 4), Shape(5000, 7, 12), Shape(700, 40, 9),
)  # fmt: skip
"""Shapes that every option of every member meets."""

LARGE = (
    Shape(70_000, 1, 2), Shape(60_000, 4, 3), Shape(40_000, 20, 10), Shape(9_000, 9, 100),
    Shape(6_000, 50, 300), Shape(3_000, 130, 4),
)  # fmt: skip
"""Shapes that work in threads, and shapes of many classes or features."""


class Rows(NamedTuple):
    """Rows X (n, d), labels y (n,), weights (n,), and rows (m, d) to score."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    more: np.ndarray


def rows(shape: Shape, seed: int = 0, m: int = 71) -> Rows:
    """Rows whose features have scales and means of their own, and correlate."""
    n, d, k = shape
    rng = np.random.default_rng([seed, n, d, k])
    y = np.arange(n) % k
    scale = 10.0 ** rng.uniform(-2, 2, d)
    mean = rng.normal(size=(k, d)) * 2

    def of_classes(codes: np.ndarray) -> np.ndarray:
        base = rng.normal(size=(len(codes), d))
        base[:, 1:] += 0.5 * base[:, :-1]
        return (base + mean[codes] + 3.0) * scale

    X = of_classes(y)
    more = of_classes(np.arange(m) % k)
    weight = rng.uniform(0.1, 3.0, n)
    order = rng.permutation(n)
    return Rows(X[order], y[order], weight, more)


def layouts(X: np.ndarray) -> Iterator[tuple[str, Any]]:
    """The same rows (n, d) in other layouts and containers."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    n, d = X.shape
    wide = np.zeros((2 * n, d + 3), X.dtype)
    wide[::2, 1 : d + 1] = X
    columns = np.zeros((n, 2 * d), X.dtype)
    columns[:, ::2] = X
    misaligned = np.zeros(X.nbytes + 1, np.uint8)[1:].view(X.dtype).reshape(n, d)
    misaligned[:] = X
    readonly = X.copy()
    readonly.setflags(write=False)
    names = [f"c{j}" for j in range(d)]
    yield "C", np.ascontiguousarray(X)
    yield "F", np.asfortranarray(X)
    yield "strided rows", wide[::2, 1 : d + 1]
    yield "strided columns", columns[:, ::2]
    yield "reversed rows", X[::-1].copy()[::-1]
    yield "reversed columns", X[:, ::-1].copy()[:, ::-1]
    yield "F reversed", np.asfortranarray(X[::-1])[::-1]
    yield "misaligned", misaligned
    yield "read-only", readonly
    yield "list", X.tolist()
    yield "masked", np.ma.masked_array(X)
    yield "pandas", pd.DataFrame(X, columns=names)
    yield "pandas by columns", pd.DataFrame({name: X[:, j] for j, name in enumerate(names)})
    yield "polars", pl.DataFrame({name: X[:, j] for j, name in enumerate(names)})
    yield "arrow", pa.table({name: X[:, j] for j, name in enumerate(names)})


DTYPES = (
    "f8", "f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", ">f8", ">f4", ">f2",
    ">i2", ">i4", ">u8", "O", "g",
)  # fmt: skip


def as_dtype(X: np.ndarray, dtype: str) -> np.ndarray:
    """Rows of another type, clipped and rounded for integers."""
    if np.dtype(dtype).kind in "iub":
        limit = 1 if dtype == "?" else 100
        X = np.clip(np.abs(X) if np.dtype(dtype).kind in "ub" else X, -limit, limit).round()
    return X.astype(dtype)


def weights(n: int) -> Iterator[tuple[str, Any]]:
    """Kinds of weights of n rows."""
    rng = np.random.default_rng(n)
    uniform = rng.uniform(0.1, 3.0, n)
    yield "none", None
    yield "number", 2.5
    yield "uniform", uniform
    yield "whole", rng.integers(0, 5, n)
    yield "zeros", uniform * (rng.random(n) < 0.7)
    yield "single", uniform.astype("f4")
    yield "tiny", uniform * 1e-300
    yield "huge", uniform * 1e300
    yield "any scale", 10.0 ** rng.uniform(-300, 300, n)
    yield "subnormal", np.full(n, 5e-324)
    yield "strided", np.repeat(uniform, 2)[::2]
    yield "all zero", np.zeros(n)
    yield "negative", -uniform


def with_missing(X: np.ndarray, seed: int = 0) -> Iterator[tuple[str, np.ndarray]]:
    """The rows with missing values in different places."""
    mask = np.random.default_rng([seed, *X.shape]).random(X.shape) < 0.2
    yield "some", np.where(mask, np.nan, X)
    column = X.copy()
    column[:, 0] = np.nan
    yield "a column", column
    row = X.copy()
    row[len(X) // 2] = np.nan
    yield "a row", row
    ends = X.copy()
    ends[0, -1] = ends[-1, 0] = np.nan
    yield "ends", ends
    yield "none", X.copy()


def labels(codes: np.ndarray) -> Iterator[tuple[str, Any]]:
    """Labels of codes, of every type."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    words = np.array([f"class {c}" for c in range(12)])
    yield "i8", codes
    yield "i4 big-endian", codes.astype(">i4")
    yield "u1", codes.astype("u1")
    yield "i2 negative", -codes.astype("i2")
    yield "large", codes + 2**53
    yield "u8 large", codes.astype("u8") + np.uint64(2**63)
    yield "far apart", codes * 10_000_019
    yield "bool", codes % 2 == 0
    yield "whole floats", codes * 2.0
    yield "single floats", codes.astype("f4")
    yield "fractions", codes + 0.5
    yield "text", words[codes]
    yield "text objects", words[codes].astype(object)
    yield "list of text", words[codes].tolist()
    yield "list", codes.tolist()
    yield "column", codes[:, None]
    yield "pandas", pd.Series(words[codes])
    yield "pandas categories", pd.Series(words[codes]).astype("category")
    yield "pandas whole", pd.Series(codes).astype("Int64")
    yield "polars", pl.Series(words[codes])
    yield "arrow", pa.array(words[codes])
    yield "arrow dictionary", pa.array(words[codes]).dictionary_encode()
    yield "mixed", [int(c) if c else "a" for c in codes]
