"""The table of libraries that fit and apply Gaussian naive Bayes, fastgnb first.

A rival turns rows and labels into a model with `predict` and `predict_proba`. Each library is used
as its documentation shows, on arrays that it accepts without a copy.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .engines import E1071, H2O, SparkML, lacks_e1071, lacks_program


class Rival(NamedTuple):
    """A library: how it fits, and how accurate its results have to be.

    Attributes
    ----------
    agreement : least share of labels that are the exact ones, near-ties aside. It is below 1 for
        libraries with other definitions of variances or priors.
    max_rows : most rows that it is given; it is compared by rows per second.
    packages : what must be importable.
    lacks : returns what else is missing, such as programs.
    text_labels : whether it takes labels of text.
    """

    name: str
    fit: Callable[[np.ndarray, np.ndarray], Any]
    agreement: float = 1.0
    max_rows: int | None = None
    packages: tuple[str, ...] = ()
    text_labels: bool = True
    lacks: Callable[[], Sequence[str]] = tuple

    @property
    def missing(self) -> list[str]:
        """Packages and programs that are not installed."""
        packages = [name for name in self.packages if importlib.util.find_spec(name) is None]
        return packages or list(self.lacks())

    def head(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """The first rows of each array, as many as this library is given.

        Where that is all of them, these are the arrays themselves and no views: mlpack's binding
        copies what does not own its memory, and took twenty times as long to fit a view.
        """
        if self.max_rows is None:
            return arrays
        return tuple(array[: self.max_rows].copy() for array in arrays)


def _fastgnb(X: np.ndarray, y: np.ndarray) -> Any:
    from fastgnb import GaussianNB

    return GaussianNB().fit(X, y)


def _sklearn(X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB().fit(X, y)


class Matrix:
    """NumPy alone: fit by one-hot matrix products, score by two matrix products.

    This is the usual fast formulation. It squares values before it subtracts, so that its error
    grows with mean/sd. `fit` subtracts the overall mean first, which helps where classes are close.
    """

    def fit(self, X: np.ndarray, y: np.ndarray) -> Matrix:
        self.classes_, codes = np.unique(y, return_inverse=True)
        k = len(self.classes_)
        count = np.bincount(codes, minlength=k)
        self.centre = X.mean(axis=0, dtype=np.float64)
        sums, squares = np.zeros((2, k, X.shape[1]))
        for start in range(0, len(X), 8192):
            chunk = X[start : start + 8192] - self.centre
            one_hot = (codes[start : start + 8192] == np.arange(k)[:, None]).astype(np.float64)
            sums += one_hot @ chunk
            squares += one_hot @ (chunk * chunk)
        mean = sums / count[:, None]
        var = squares / count[:, None] - mean**2
        total = squares.sum(0) / len(X)
        self.theta_, self.var_ = mean + self.centre, var + 1e-9 * total.max()
        self.class_prior_ = count / len(X)
        return self._prepare(mean)

    def _prepare(self, mean: np.ndarray) -> Matrix:
        precision = 1.0 / self.var_
        self.linear = np.ascontiguousarray((mean * precision).T)
        self.quadratic = np.ascontiguousarray((-0.5 * precision).T)
        self.const = np.log(self.class_prior_) - 0.5 * (
            np.log(2 * np.pi * self.var_).sum(1) + (mean**2 * precision).sum(1)
        )
        return self

    def joint(self, X: np.ndarray) -> np.ndarray:
        Z = X - self.centre
        return Z @ self.linear + (Z * Z) @ self.quadratic + self.const

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[self.joint(X).argmax(axis=1)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        joint = self.joint(X)
        joint -= joint.max(axis=1, keepdims=True)
        np.exp(joint, out=joint)
        joint /= joint.sum(axis=1, keepdims=True)
        return joint


class Mlpack:
    """mlpack's `nbc`, through its Python binding; integer labels from 0."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Mlpack:
        self.nbc = importlib.import_module("mlpack").nbc
        self.model = self.nbc(training=X, labels=y)["output_model"]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.ravel(self.nbc(input_model=self.model, test=X)["predictions"])

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.nbc(input_model=self.model, test=X)["probabilities"])


class DaskML:
    """dask-ml on threads, in chunks of 100,000 rows; it ignores priors."""

    chunk = 100_000

    def fit(self, X: np.ndarray, y: np.ndarray) -> DaskML:
        GaussianNB = importlib.import_module("dask_ml.naive_bayes").GaussianNB
        dask = importlib.import_module("dask")
        model = GaussianNB(classes=np.unique(y)).fit(self._chunks(X), self._chunks(y))
        lazy = {name: getattr(model, name) for name in ("theta_", "sigma_", "class_prior_")}
        vars(model).update(dask.compute(lazy)[0])
        self.model = model
        return self

    def _chunks(self, array: np.ndarray) -> Any:
        da = importlib.import_module("dask.array")
        return da.from_array(array, chunks=(self.chunk, *array.shape[1:]), name=False)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.model.predict(self._chunks(X)).compute())

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.model.predict_proba(self._chunks(X)).compute())


class River:
    """river: one row at a time, as dictionaries, whose construction is part of the time."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> River:
        self.classes_ = np.unique(y)
        self.model = importlib.import_module("river.naive_bayes").GaussianNB()
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            self.model.learn_one(dict(enumerate(row)), label)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.array([self.model.predict_one(dict(enumerate(row))) for row in X.tolist()])

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        rows = [self.model.predict_proba_one(dict(enumerate(row))) for row in X.tolist()]
        return np.array([[row.get(c, 0.0) for c in self.classes_.tolist()] for row in rows])


OURS = Rival("fastgnb", _fastgnb)
SKLEARN = Rival("scikit-learn", _sklearn, packages=("sklearn",))
MATRIX = Rival("numpy matrix", lambda X, y: Matrix().fit(X, y))
RIVALS = [
    OURS,
    SKLEARN,
    MATRIX,
    Rival("mlpack", lambda X, y: Mlpack().fit(X, y), 0.99, None, ("mlpack",), False),
    Rival("dask-ml", lambda X, y: DaskML().fit(X, y), 0.99, None, ("dask_ml",), False),
    Rival("river", lambda X, y: River().fit(X, y), 0.98, 1_000, ("river",)),
    Rival(
        "Spark ML",
        lambda X, y: SparkML().fit(X, y),
        0.98,
        None,
        ("pyspark", "pyarrow", "pandas"),
        False,
        lambda: lacks_program("java"),
    ),
    Rival(
        "H2O",
        lambda X, y: H2O().fit(X, y),
        0.98,
        100_000,
        ("h2o",),
        False,
        lambda: lacks_program("java"),
    ),
    Rival(
        "R e1071",
        lambda X, y: E1071().fit(X, y),
        0.98,
        1_000,
        (),
        False,
        lacks_e1071,
    ),
]
# Those that run in this process.
OPTIONAL = RIVALS[3:6]


def named(name: str) -> Rival:
    """The library of that name."""
    return next(rival for rival in RIVALS if rival.name == name)
