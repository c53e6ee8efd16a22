"""Grid search against scikit-learn's, which fits each candidate anew on each split."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from .family import OURS, SHAPES, THEIRS
from .problems import Problem
from .timing import EFFORTS, Call, Row, interleave, row

FOLDS, CANDIDATES = 5, 10
GRIDS: dict[str, dict[str, Any]] = {
    "GaussianNB": {"var_smoothing": np.logspace(-9, 0, CANDIDATES).tolist()},
    "GaussianBayes": {"reg_param": np.linspace(0, 0.9, CANDIDATES).tolist()},
}


def selection(size: str) -> Iterator[Row]:
    """Five folds and ten candidates: StatsGridSearchCV, and GridSearchCV of the same estimator."""
    problem = problem_of(size)
    for name in GRIDS:
        timings = interleave(search_calls(name, problem), EFFORTS[size])
        check_scores(timings[OURS].result, timings[THEIRS].result)
        for program, timing in timings.items():
            yield row(f"selection {name}", "cross-validation", problem, program, timing)


def problem_of(size: str) -> Problem:
    """The problem that searches are timed on."""
    return SHAPES[size][0]


def search_calls(name: str, problem: Problem) -> dict[str, Call]:
    """What to time, for an estimator of `GRIDS`."""
    from sklearn.model_selection import GridSearchCV

    import fastgnb
    from fastgnb.select import StatsGridSearchCV

    data = (getattr(fastgnb, name)(), GRIDS[name], *problem.data())
    return {
        OURS: functools.partial(_scores, StatsGridSearchCV, *data),
        THEIRS: functools.partial(_scores, GridSearchCV, *data),
    }


def check_scores(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Assert that mean scores are scikit-learn's."""
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def _scores(
    search: Any, model: Any, grid: dict[str, Any], X: np.ndarray, y: np.ndarray
) -> np.ndarray:
    result = search(model, grid, cv=FOLDS, refit=False).fit(X, y)
    return np.asarray(result.cv_results_["mean_test_score"])
