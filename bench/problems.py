"""The table of problems: shapes, layouts and label types, with seeded data for each.

Targets are stated for the full size of `grid`. Each shape also has a quick size, for a run of three
minutes, whose rows of few classes are still larger than the caches, and a toy size for tests.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

SIZES = ("toy", "quick", "full")


class Problem(NamedTuple):
    """Rows to learn and score: n rows, d features, k classes.

    `order` is "C" or "F". `labels` is "int", "U" (fixed-width text) or "object" (Python text).
    `structure` is "classes", or "noise" where features do not depend on the label.
    """

    n: int
    d: int
    k: int
    dtype: str = "float64"
    order: str = "C"
    labels: str = "int"
    structure: str = "classes"

    @property
    def name(self) -> str:
        """The shape and what is not the default, such as "1M x 20 x 10 float32"."""
        defaults = Problem._field_defaults
        options = [(getattr(self, field), default) for field, default in defaults.items()]
        extra = [value for value, default in options if value != default]
        return " ".join([f"{_short(self.n)} x {self.d} x {self.k}", *extra])

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows X (n, d) and labels y (n,), which the caller must not change."""
        return _data(self)


# n at full, quick and toy size; d; k.
_SHAPES = [
    (4_000_000, 1_000_000, 2_000, 4, 3),
    (4_000_000, 1_000_000, 2_000, 8, 2),
    (1_000_000, 400_000, 2_000, 20, 2),
    (1_000_000, 400_000, 2_000, 20, 10),
    (500_000, 100_000, 2_000, 100, 10),
    (200_000, 20_000, 2_000, 50, 100),
    (100_000, 10_000, 2_000, 50, 1000),
]


def grid(size: str, dtype: str = "float64") -> list[Problem]:
    """One problem per shape."""
    which = {"full": 0, "quick": 1, "toy": 2}[size]
    return [Problem(shape[which], *shape[3:], dtype=dtype) for shape in _SHAPES]


def standard(size: str) -> Problem:
    """The shape of single comparisons: 20 features, 10 classes."""
    return next(p for p in grid(size) if (p.d, p.k) == (20, 10))


def variants(size: str) -> list[Problem]:
    """The standard problem in another layout or with other labels."""
    problem = standard(size)
    return [
        problem._replace(order="F"),
        problem._replace(labels="U"),
        problem._replace(labels="object"),
    ]


def many_classes(size: str) -> list[Problem]:
    """Problems of many classes, which can be ruled out early in data with structure only."""
    shapes = [p for p in grid(size) if p.k >= 100]
    return [p._replace(structure=kind) for p in shapes for kind in ("classes", "noise")]


@functools.lru_cache(maxsize=4)
def _data(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    X, codes = _base(problem.n, problem.d, problem.k, problem.structure)
    X = np.asarray(X, dtype=problem.dtype, order=problem.order)  # type: ignore[call-overload]
    return X, _as_labels(codes, problem.labels)


@functools.lru_cache(maxsize=1)
def _base(n: int, d: int, k: int, structure: str) -> tuple[np.ndarray, np.ndarray]:
    """float64 rows and int64 codes, from make_classification where it can make k classes."""
    n_informative = max(d // 2, min(d, int(np.ceil(np.log2(max(k, 2)))) + 1))
    if structure == "classes" and k <= 2**n_informative:
        from sklearn.datasets import make_classification

        X, y = make_classification(
            n, d, n_informative=n_informative, n_redundant=0, n_classes=k,
            n_clusters_per_class=1, class_sep=1.5, random_state=0,
        )  # fmt: skip
        return X, y.astype(np.int64)
    return _normals(n, d, k, 0.0 if structure == "noise" else 1.5)


def _normals(n: int, d: int, k: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Normal rows around the centres of k classes, which are `spread` standard deviations apart."""
    rng = np.random.default_rng([n, d, k])
    y = rng.integers(0, k, n)
    y[:k] = np.arange(k)
    X = rng.normal(size=(n, d))
    centres = spread * rng.normal(size=(k, d))
    for start in range(0, n, 10_000):
        X[start : start + 10_000] += centres[y[start : start + 10_000]]
    return X, y


def _as_labels(codes: np.ndarray, labels: str) -> np.ndarray:
    if labels == "int":
        return codes
    names = np.array([f"class {code:04d}" for code in range(codes.max() + 1)])
    return names[codes].astype(object) if labels == "object" else names[codes]


def _short(n: int) -> str:
    if n % 1_000_000 == 0:
        return f"{n // 1_000_000}M"
    return f"{n // 1000}k" if n % 1000 == 0 else str(n)
