"""The members of the family, each with its counterpart in scikit-learn, and full scatter.

`MEMBERS` is the table that all benchmarks of the family go through. Every result is checked against
the counterpart's. The ceiling of full covariances is the machine's own matrix product, timed in the
same rounds and scaled to the multiply-adds that the task needs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .problems import Problem
from .timing import EFFORTS, Call, Row, interleave, row

SHAPES = {
    "full": [Problem(1_000_000, 20, 10), Problem(200_000, 64, 10), Problem(50_000, 256, 4)],
    "quick": [Problem(200_000, 20, 10), Problem(50_000, 64, 10)],
    "toy": [Problem(2_000, 20, 3)],
}
SIDE = {"full": 2000, "quick": 1000, "toy": 200}  # of the square matrices of the product
OURS, THEIRS, PRODUCT = "fastgnb", "scikit-learn", "product"


class Member(NamedTuple):
    """A member of the family at some parameters, and its counterpart in scikit-learn.

    Attributes
    ----------
    name : what tables call it.
    estimator : its class in `fastgnb`.
    params : its parameters for d features and k classes.
    counterpart : what tables call scikit-learn's estimator.
    make_counterpart : an unfitted one, for d features.
    agreement : least share of predicted labels that equal the counterpart's.
    prepare : rows of the member's kind, from rows (n, d) of continuous features.
    predict_cost : multiply-adds of scoring a row, of d and k, or None where no product is timed.
    """

    name: str
    estimator: str
    params: Callable[[int, int], dict[str, Any]]
    counterpart: str
    make_counterpart: Callable[[int], Any]
    agreement: float = 0.9999
    prepare: Callable[[np.ndarray], np.ndarray] = np.asarray
    predict_cost: Callable[[int, int], float] | None = None


def _qda(d: int) -> Any:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    return QuadraticDiscriminantAnalysis()


def _lda(d: int) -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis()


def _nearest(d: int) -> Any:
    from sklearn.neighbors import NearestCentroid

    return NearestCentroid()


def _pipeline(d: int) -> Any:
    from sklearn.decomposition import PCA
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline

    return make_pipeline(PCA(4), GaussianNB())


class _GaussianAndCategorical:
    """scikit-learn's GaussianNB and CategoricalNB, whose joint log likelihoods are added."""

    def __init__(self, d: int) -> None:
        self.split = d // 2

    def fit(self, X: np.ndarray, y: np.ndarray) -> _GaussianAndCategorical:
        from sklearn.naive_bayes import CategoricalNB, GaussianNB

        self.gaussian = GaussianNB().fit(X[:, : self.split], y)
        self.categorical = CategoricalNB().fit(X[:, self.split :], y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        joint = self.gaussian.predict_joint_log_proba(X[:, : self.split])
        joint += self.categorical.predict_joint_log_proba(X[:, self.split :])
        joint -= self.categorical.class_log_prior_
        return np.asarray(self.gaussian.classes_[joint.argmax(axis=1)])


def _half_categorical(X: np.ndarray) -> np.ndarray:
    """The rows with the second half of the features cut into eight categories of equal size."""
    X = X.copy()
    for j in range(X.shape[1] // 2, X.shape[1]):
        X[:, j] = np.searchsorted(np.quantile(X[:, j], np.arange(1, 8) / 8), X[:, j])
    return X


def _pairs(d: int) -> float:
    """Multiply-adds of the products of d features with each other, each pair once."""
    return d * (d + 1) / 2


MEMBERS = [
    Member(
        "GaussianNB, tied, spherical", "GaussianNB",
        lambda d, k: {"tied": True, "covariance_type": "spherical", "priors": np.full(k, 1 / k)},
        "NearestCentroid", _nearest,
    ),
    Member(
        "GaussianBayes", "GaussianBayes", lambda d, k: {},
        "QuadraticDiscriminantAnalysis", _qda,
        agreement=0.999,  # scikit-learn's releases differ in ddof
        predict_cost=lambda d, k: k * _pairs(d),
    ),
    Member(
        "GaussianBayes, tied", "GaussianBayes", lambda d, k: {"tied": True},
        "LinearDiscriminantAnalysis", _lda,
    ),
    Member(
        "PCAGaussianNB, 4 axes", "PCAGaussianNB", lambda d, k: {"n_components": 4},
        "PCA and GaussianNB", _pipeline,
    ),
    Member(
        "MixedNB", "MixedNB", lambda d, k: {"categorical_features": [*range(d // 2, d)]},
        "GaussianNB and CategoricalNB", _GaussianAndCategorical, prepare=_half_categorical,
    ),
]  # fmt: skip


def members(size: str) -> Iterator[Row]:
    """fit and predict of every member and its counterpart."""
    for problem in SHAPES[size]:
        for member in MEMBERS:
            group = f"family {member.name}"
            for work, pair in calls_of(member, problem).items():
                cost = member.predict_cost if work == "predict" else None
                timings = interleave(pair | (_product(size) if cost else {}), EFFORTS[size])
                if work == "predict":
                    check(member, timings[OURS].result, timings[THEIRS].result)
                for program in pair:
                    yield row(group, work, problem, program, timings[program])
                if cost:
                    share = problem.n * cost(problem.d, problem.k) / SIDE[size] ** 3
                    yield row(group, work, problem, PRODUCT, timings[PRODUCT], share=share)


def calls_of(member: Member, problem: Problem) -> dict[str, dict[str, Call]]:
    """What to time, by work and program, after calls that compile."""
    import fastgnb

    X, y = problem.data()
    X = member.prepare(X)
    params = member.params(problem.d, problem.k)
    ours = getattr(fastgnb, member.estimator)(**params).fit(X, y)
    ours.predict(X)
    programs = {OURS: ours, THEIRS: member.make_counterpart(problem.d).fit(X, y)}
    return {
        "fit": {name: functools.partial(model.fit, X, y) for name, model in programs.items()},
        "predict": {name: functools.partial(model.predict, X) for name, model in programs.items()},
    }


def check(member: Member, ours: np.ndarray, theirs: np.ndarray) -> None:
    """Assert that enough labels equal the counterpart's."""
    agreement = float(np.mean(ours == theirs))
    assert agreement >= member.agreement, (
        f"{member.name}: {agreement:.6f} of the labels are those of {member.counterpart}"
    )


def _product(size: str) -> dict[str, Call]:
    """The machine's own matrix product, of square matrices."""
    A = np.random.default_rng(0).normal(size=(SIDE[size], SIDE[size]))
    return {PRODUCT: lambda: A @ A}


def scatter(size: str) -> Iterator[Row]:
    """Full scatter of every class, and scikit-learn's covariances class by class."""
    for problem in SHAPES[size]:
        timings = interleave(scatter_calls(problem) | _product(size), EFFORTS[size])
        check_scatter(timings[OURS].result, timings[THEIRS].result)
        share = problem.n * _pairs(problem.d) / SIDE[size] ** 3
        for program, timing in timings.items():
            yield row("scatter", "statistics", problem, program, timing, share=share)


def scatter_calls(problem: Problem) -> dict[str, Call]:
    """What to time, after a call that compiles."""
    from fastgnb import ClassStats

    X, y = problem.data()
    ours = functools.partial(ClassStats.from_rows, X, y, scatter="full")
    ours()
    return {OURS: ours, THEIRS: functools.partial(_covariances, X, y)}


def _covariances(X: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    from sklearn.covariance import empirical_covariance

    return [empirical_covariance(X[y == c]) for c in np.unique(y)]


def check_scatter(ours: Any, theirs: Any) -> None:
    """Assert that covariances are scikit-learn's."""
    np.testing.assert_allclose(ours.covariance, theirs, rtol=1e-7, atol=1e-7)
