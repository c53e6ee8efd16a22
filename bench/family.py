"""The family beside its twins in scikit-learn, and cross-validation beside scikit-learn's own.

Each answer is checked against the twin's. A member's share of the ceiling is that of the machine's
own matrix product, timed in the same rounds, for the multiply-adds that the task needs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .measure import Row, row
from .problems import Problem
from .timing import EFFORTS, Call, interleave

SHAPES = {
    "full": [Problem(1_000_000, 20, 10), Problem(200_000, 64, 10), Problem(50_000, 256, 4)],
    "quick": [Problem(200_000, 20, 10), Problem(50_000, 64, 10)],
    "toy": [Problem(2_000, 20, 3)],
}
SIDE = {"full": 2000, "quick": 1000, "toy": 200}  # of the square matrices of the ceiling
FOLDS, CANDIDATES = 5, 10


class Member(NamedTuple):
    """A member, its twin, and the multiply-adds of a row for fit and predict, of d and k.

    agreement : least share of labels that are the twin's.
    """

    name: str
    ours: Callable[[], Any]
    twin: str
    theirs: Callable[[], Any]
    fit: Callable[[int, int], float]
    predict: Callable[[int, int], float]
    agreement: float = 0.9999


def _ours(name: str, **params: Any) -> Any:
    import fastgnb

    return getattr(fastgnb, name)(**params)


def _qda() -> Any:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    return QuadraticDiscriminantAnalysis()


def _lda() -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis()


def _nearest() -> Any:
    from sklearn.neighbors import NearestCentroid

    return NearestCentroid()


def _pipeline() -> Any:
    from sklearn.decomposition import PCA
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline

    return make_pipeline(PCA(4), GaussianNB())


def _pairs(d: int, k: int) -> float:
    return d * (d + 1) / 2


MEMBERS = [
    Member(
        "GaussianBayes", functools.partial(_ours, "GaussianBayes"),
        "QuadraticDiscriminantAnalysis", _qda, _pairs, lambda d, k: k * d * (d + 1) / 2,
        agreement=0.999,  # scikit-learn's releases differ in ddof
    ),
    Member(
        "GaussianBayes, tied", functools.partial(_ours, "GaussianBayes", tied=True),
        "LinearDiscriminantAnalysis", _lda, _pairs, lambda d, k: d * (d + 1) / 2 + k * d,
    ),
    Member(
        "PCAGaussianNB, 4 axes", functools.partial(_ours, "PCAGaussianNB", n_components=4),
        "PCA, GaussianNB", _pipeline, _pairs, lambda d, k: 4 * d + 8 * k,
    ),
    Member(
        "GaussianNB, tied, spherical",
        functools.partial(
            _ours, "GaussianNB", tied=True, covariance_type="spherical", priors="equal"
        ),
        "NearestCentroid", _nearest, lambda d, k: 1.5 * d, lambda d, k: 1.5 * k * d,
    ),
]  # fmt: skip


MIXED = Member(
    "MixedNB", functools.partial(_ours, "MixedNB"), "GaussianNB and CategoricalNB",
    functools.partial(_ours, "MixedNB"), _pairs, _pairs,
)  # fmt: skip


def family(size: str) -> Iterator[Row]:
    """fit and predict of every member and its twin, with the time of a product as a ceiling."""
    side = SIDE[size]
    A = np.random.default_rng(0).normal(size=(side, side))
    for problem in SHAPES[size]:
        X, y = problem.data()
        for member in MEMBERS:
            calls = calls_of(member, X, y)
            for work, pair in calls.items():
                timings = interleave(pair | {"product": lambda: A @ A}, EFFORTS[size])
                if work == "predict":
                    check(member, timings["fastgnb"].answer, timings["twin"].answer)
                group = f"family {member.name}"
                need = problem.n * getattr(member, work)(problem.d, problem.k)
                for program in pair:
                    yield row(group, work, problem, program, timings[program])
                yield row(group, work, problem, "product", timings["product"], share=need / side**3)


def statistics(size: str) -> Iterator[Row]:
    """Full scatter of every class, beside scikit-learn's covariances, class by class."""
    side = SIDE[size]
    A = np.random.default_rng(0).normal(size=(side, side))
    for problem, calls in scatter_calls(size):
        timings = interleave(calls | {"product": lambda: A @ A}, EFFORTS[size])
        check_scatter(timings["fastgnb"].answer, timings["twin"].answer)
        share = problem.n * _pairs(problem.d, problem.k) / side**3
        for program, timing in timings.items():
            yield row("scatter", "statistics", problem, program, timing, share=share)


def scatter_calls(size: str) -> Iterator[tuple[Problem, dict[str, Call]]]:
    """What to time at each shape, after a call that compiles."""
    from fastgnb import ClassStats

    for problem in SHAPES[size]:
        X, y = problem.data()
        ours = functools.partial(ClassStats.from_rows, X, y, scatter="full")
        ours()
        yield problem, {"fastgnb": ours, "twin": functools.partial(_covariances, X, y)}


def _covariances(X: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    from sklearn.covariance import empirical_covariance

    return [empirical_covariance(X[y == c]) for c in np.unique(y)]


def check_scatter(ours: Any, theirs: Any) -> None:
    """Assert that covariances are the twin's."""
    np.testing.assert_allclose(ours.covariance, theirs, rtol=1e-7, atol=1e-7)


def calls_of(member: Member, X: np.ndarray, y: np.ndarray) -> dict[str, dict[str, Call]]:
    """What to time, by work and program, after calls that compile."""
    k = len(np.unique(y))
    ours = member.ours()
    if getattr(ours, "priors", None) == "equal":
        ours.set_params(priors=np.full(k, 1 / k))
    ours.fit(X, y).predict(X)
    theirs = member.theirs().fit(X, y)
    return {
        "fit": {
            "fastgnb": functools.partial(ours.fit, X, y),
            "twin": functools.partial(theirs.fit, X, y),
        },
        "predict": {
            "fastgnb": functools.partial(ours.predict, X),
            "twin": functools.partial(theirs.predict, X),
        },
    }


def check(member: Member, ours: np.ndarray, theirs: np.ndarray) -> None:
    agreement = float(np.mean(ours == theirs))
    assert agreement >= member.agreement, f"{member.name} agrees with its twin in {agreement:.6f}"


class _Pair:
    """scikit-learn's GaussianNB and CategoricalNB side by side, whose joint log likelihoods add."""

    def __init__(self, split: int) -> None:
        self.split = split

    def fit(self, X: np.ndarray, y: np.ndarray) -> _Pair:
        from sklearn.naive_bayes import CategoricalNB, GaussianNB

        self.gaussian = GaussianNB().fit(X[:, : self.split], y)
        self.categorical = CategoricalNB().fit(X[:, self.split :], y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        joint = self.gaussian.predict_joint_log_proba(X[:, : self.split])
        joint += self.categorical.predict_joint_log_proba(X[:, self.split :])
        joint -= self.categorical.class_log_prior_
        return np.asarray(self.gaussian.classes_[joint.argmax(axis=1)])


def mixed(size: str) -> Iterator[Row]:
    """Half of the columns continuous and half of them categorical, beside two estimators."""
    for problem, calls in mixed_calls(size):
        for work, pair in calls.items():
            timings = interleave(pair, EFFORTS[size])
            if work == "predict":
                check(MIXED, timings["fastgnb"].answer, timings["twin"].answer)
            for program in pair:
                yield row(f"family {MIXED.name}", work, problem, program, timings[program])


def mixed_calls(size: str) -> Iterator[tuple[Problem, dict[str, dict[str, Call]]]]:
    """What to time, by work and program, after calls that compile."""
    problem = SHAPES[size][0]
    X, y = problem.data()
    half = problem.d // 2
    X = X.copy()
    for j in range(half, problem.d):  # eight categories of equal size
        X[:, j] = np.searchsorted(np.quantile(X[:, j], np.arange(1, 8) / 8), X[:, j])
    columns = list(range(half, problem.d))
    ours = _ours("MixedNB", categorical_features=columns).fit(X, y)
    ours.predict(X)
    theirs = _Pair(half).fit(X, y)
    sides = {"fastgnb": ours, "twin": theirs}
    yield (
        problem,
        {
            "fit": {name: functools.partial(one.fit, X, y) for name, one in sides.items()},
            "predict": {name: functools.partial(one.predict, X) for name, one in sides.items()},
        },
    )


def selection(size: str) -> Iterator[Row]:
    """Five folds and ten candidates, beside GridSearchCV of the same estimator, which fits anew."""
    for name, (problem, calls) in selection_calls(size).items():
        timings = interleave(calls, EFFORTS[size])
        check_scores(timings["fastgnb"].answer, timings["twin"].answer)
        for program in calls:
            yield row(f"selection {name}", "cross-validation", problem, program, timings[program])


def selection_calls(size: str) -> dict[str, tuple[Problem, dict[str, Call]]]:
    """What to time, by estimator."""
    from sklearn.model_selection import GridSearchCV

    from fastgnb import GaussianBayes, GaussianNB
    from fastgnb.estimators.selection import StatsGridSearchCV

    problem = SHAPES[size][0]
    X, y = problem.data()
    grids: dict[str, tuple[Any, dict[str, Any]]] = {
        "GaussianNB": (GaussianNB(), {"var_smoothing": np.logspace(-9, 0, CANDIDATES).tolist()}),
        "GaussianBayes": (GaussianBayes(), {"reg_param": np.linspace(0, 0.9, CANDIDATES).tolist()}),
    }
    return {
        name: (
            problem,
            {
                "fastgnb": functools.partial(_scores, StatsGridSearchCV, model, grid, X, y),
                "twin": functools.partial(_scores, GridSearchCV, model, grid, X, y),
            },
        )
        for name, (model, grid) in grids.items()
    }


def check_scores(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Assert that mean scores are the twin's."""
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def _scores(
    search: Any, model: Any, grid: dict[str, Any], X: np.ndarray, y: np.ndarray
) -> np.ndarray:
    found = search(model, grid, cv=FOLDS, refit=False).fit(X, y)
    return np.asarray(found.cv_results_["mean_test_score"])
