"""Cases of one fit: shapes, options, layouts, types, weights, missing values, labels."""

# ruff: noqa: B023  (what loops define is called before the loop goes on)
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from fastgnb import ClassStats, GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB

from . import models
from .digest import Record
from .models import fit, make, score, stats_of
from .rows import (
    DTYPES,
    LARGE,
    SMALL,
    Shape,
    as_dtype,
    grid,
    labels,
    layouts,
    rows,
    weights,
    with_missing,
)


def shapes(record: Record) -> None:
    """GaussianNB, and in turn the members of full scatter, over every shape."""
    for i, shape in enumerate(grid()):
        data = rows(shape, m=max(1, shape.n % 200))
        name = f"shapes/{shape}/GaussianNB"
        weight = data.weight if i % 2 else None
        score(record, name, fit(record, name, GaussianNB(), data.X, data.y, weight), data.more)
        if i % 3:
            model = GaussianBayes(tied=i % 3 == 1)
        else:
            model = PCAGaussianNB(rotation=("total", "within", "class")[i // 3 % 3])
        name = f"shapes/{shape}/full"
        model = fit(record, name, model, data.X, data.y, data.weight)
        record(f"{name}/joint", lambda: model.predict_joint_log_proba(data.more))


def options(record: Record) -> None:
    """Every option of every member."""
    for shape in SMALL:
        data = rows(shape)
        for text, cls, params in models.NAIVE + models.FULL + models.AXES + models.MIXED:
            name = f"options/{shape}/{text}"
            score(record, name, fit(record, name, cls(**params), data.X, data.y), data.more)


def priors(record: Record) -> None:
    """Priors, right and wrong, of 0 too."""
    for shape in (Shape(65, 9, 4), Shape(500, 17, 3)):
        data, k = rows(shape), shape.k
        uneven = np.arange(k) / sum(range(k))
        kinds = {
            "even": np.full(k, 1 / k), "one of 0": uneven, "list": [*uneven], "short": [1.0],
            "sum 2": 2 * uneven,
        }  # fmt: skip
        for kind, prior in kinds.items():
            for text, cls, params in models.FEW:
                name = f"priors/{shape}/{kind}/{text}"
                model = fit(record, name, cls(priors=prior, **params), data.X, data.y)
                score(record, name, model, data.more)


def large(record: Record) -> None:
    """Shapes that are worked on in threads, with one thread and with two."""
    for shape in LARGE:
        data = rows(shape, m=20_000)
        for text, cls, params in models.FEW:
            if cls is not GaussianNB and shape.d > 40 and shape.k > 100:
                continue
            for n_threads in (1, 2):
                with _threads(n_threads):
                    name = f"large/{shape}/threads={n_threads}/{text}"
                    model = fit(record, name, cls(**params), data.X, data.y, data.weight)
                    score(record, name, model, data.more)


@contextmanager
def _threads(n: int) -> Iterator[None]:
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(min(n, before))
    try:
        yield
    finally:
        numba.set_num_threads(before)


def memory(record: Record) -> None:
    """Layouts and containers, in learning and in scoring."""
    for shape in (Shape(257, 9, 3), Shape(2049, 5, 2), Shape(130, 33, 5), Shape(12, 1, 3)):
        data = rows(shape)
        for text, cls, params in models.FEW:
            plain = cls(**params).fit(data.X, data.y)
            for (kind, X), (_, more) in zip(layouts(data.X), layouts(data.more), strict=True):
                name = f"memory/{shape}/{kind}/{text}"
                score(record, name, fit(record, name, cls(**params), X, data.y), more)
                if kind in ("F", "strided columns", "pandas"):
                    record(f"{name}/other", lambda: plain.predict_joint_log_proba(more))


def types(record: Record) -> None:
    """Types of numbers, the same ones and others in learning and in scoring."""
    for shape in (Shape(257, 9, 3), Shape(2049, 5, 2)):
        data = rows(shape)
        for text, cls, params in models.FEW:
            plain = cls(**params).fit(data.X, data.y)
            for dtype in DTYPES:
                with np.errstate(over="ignore"):
                    X, more = as_dtype(data.X, dtype), as_dtype(data.more, dtype)
                name = f"types/{shape}/{dtype}/{text}"
                score(record, name, fit(record, name, cls(**params), X, data.y), more)
                record(f"{name}/other", lambda: plain.predict_proba(more))
                record(f"{name}/F", lambda: plain.predict_proba(np.asfortranarray(more)))


def weighted(record: Record) -> None:
    """Weights of any kind and scale."""
    members = models.FEW + models.AXES[-2:] + models.NAIVE[3:4]
    for shape in (Shape(65, 9, 4), Shape(1000, 5, 3), Shape(2049, 17, 2)):
        data = rows(shape)
        plain = GaussianNB().fit(data.X, data.y)
        for kind, weight in weights(shape.n):
            for text, cls, params in members:
                name = f"weights/{shape}/{kind}/{text}"
                model = fit(record, name, cls(**params), data.X, data.y, weight)
                score(record, name, model, data.more)
            record(f"weights/{shape}/{kind}/score", lambda: plain.score(data.X, data.y, weight))


def missing(record: Record) -> None:
    """Missing values, skipped and refused."""
    for shape in (Shape(65, 9, 4), Shape(500, 3, 3), Shape(2049, 17, 2), Shape(9, 1, 2)):
        data = rows(shape)
        tables = zip(with_missing(data.X), with_missing(data.more, 1), strict=True)
        for (kind, X), (_, more) in tables:
            for cls in (GaussianNB, MixedNB):
                for dtype in ("f8", "f4"):
                    name = f"missing/{shape}/{kind}/{dtype}/{cls.__name__}"
                    model = cls(missing="skip")
                    model = fit(record, name, model, X.astype(dtype), data.y, data.weight)
                    score(record, name, model, np.asfortranarray(more, dtype))
            for text, cls, params in models.FEW:
                name = f"missing/{shape}/{kind}/refused/{text}"
                fit(record, name, cls(**params), X, data.y)
                plain = cls(**params).fit(data.X, data.y)
                record(f"{name}/predict", lambda: plain.predict(more))


def extreme(record: Record) -> None:
    """Rows whose log likelihoods overflow, classes that are far apart, and constant features."""
    members = models.FEW + models.AXES[8:9] + models.FULL[12:14]
    for shape in (Shape(65, 9, 4), Shape(500, 3, 2), Shape(2049, 17, 3)):
        data = rows(shape)
        more = _with_extremes(data.more)
        for kind, X in _extreme_tables(data.X, data.y).items():
            for text, cls, params in members:
                name = f"extreme/{shape}/{kind}/{text}"
                model = fit(record, name, cls(**params), X, data.y)
                score(record, name, model, more)
                score(record, f"{name}/single", model, np.clip(more, -3e38, 3e38).astype("f4"))
        model = GaussianNB().fit(data.X, data.y)
        for value in (np.nan, np.inf, -np.inf):
            more[5, 0] = value
            record(f"extreme/{shape}/{value}", lambda: model.predict(more))


def _with_extremes(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    for i, value in enumerate((1e150, -1e154, 1e200, -1e300, 1.7e308, 1e-320, -0.0)):
        X[i * 9, i % X.shape[1]] = value
        X[i * 9 + 4] = value
    return X


def _extreme_tables(X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    d = X.shape[1]
    return {
        "usual": X,
        "far class": X + np.where(y == 0, 1e9, 0.0)[:, None],
        "1e150": X * 1e150,
        "1e300": X * 1e300,
        "1e-160": X * 1e-160,
        "offset 1e8": X + 1e8,
        "constant": np.full_like(X, 3.0),
        "constant column": np.where(np.arange(d) == 0, 7.0, X),
        "equal columns": np.repeat(X[:, :1], d, axis=1),
        "infinite": np.where(X[0, 0] == X, np.inf, X),
    }


def label_types(record: Record) -> None:
    """Labels of any type."""
    data = rows(Shape(257, 4, 5))
    for kind, y in labels(data.y):
        for text, cls, params in models.FEW:
            name = f"labels/{kind}/{text}"
            model = fit(record, name, cls(**params), data.X, y, data.weight)
            score(record, name, model, data.more)
            if model is not None:
                record(f"{name}/score", lambda: model.score(data.X, y))
        name = f"labels/{kind}/declared"
        stats = make(record, name, lambda: ClassStats.from_rows(data.X, y, classes=y))
        if stats is not None:
            record(f"{name}/stats", lambda: stats_of(stats))


GROUPS = (
    shapes, options, priors, large, memory, types, weighted, missing, extreme, label_types,
)  # fmt: skip
