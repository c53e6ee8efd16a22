"""Leave-one-out: all rows in one pass, against `predict`, and against fits without a row."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from .problems import Problem
from .timing import EFFORTS, Row, interleave, row

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "GaussianNB": ("GaussianNB", {}),
    "GaussianNB, tied": ("GaussianNB", {"tied": True}),
    "GaussianNB, spherical": ("GaussianNB", {"covariance_type": "spherical"}),
    "GaussianBayes": ("GaussianBayes", {}),
    "GaussianBayes, tied": ("GaussianBayes", {"tied": True}),
}
SHAPES = {
    "full": [Problem(1_000_000, 20, 10), Problem(200_000, 50, 100), Problem(4_000_000, 8, 2)],
    "quick": [Problem(200_000, 20, 10)],
    "toy": [Problem(2_000, 20, 3)],
}
REFITS = 20
PASS, ALL, REFIT = "pass", "fit and pass", "refits"


def leave_one_out(size: str) -> Iterator[Row]:
    """The pass alone and with the fit before it, `predict`, and refits of a few rows."""
    from sklearn.model_selection import LeaveOneOut

    import fastgnb
    from fastgnb.model.left_out import LearnedRows
    from fastgnb.select import cross_val_predict

    for problem in SHAPES[size]:
        X, y = problem.data()
        for name, (kind, params) in MODELS.items():
            if kind == "GaussianBayes" and problem.k > 10:
                continue
            model = getattr(fastgnb, kind)(**params).fit(X, y)
            rows = LearnedRows(X, y.astype(np.int32), None)
            found = model.to_model()
            splitter = LeaveOneOut()
            calls = {
                f"fastgnb {PASS}": functools.partial(found.leave_one_out, rows),
                f"fastgnb {ALL}": functools.partial(cross_val_predict, model, X, y, cv=splitter),
                "fastgnb scoring": functools.partial(model.predict, X),
                f"fastgnb {REFIT}": functools.partial(_refits, model, X, y),
            }
            for call in (*calls.values(),)[:3]:
                call()
            timings = interleave(calls, EFFORTS[size])
            labels, wanted = timings[f"fastgnb {ALL}"].result, timings[f"fastgnb {REFIT}"].result
            np.testing.assert_array_equal(labels[:: len(X) // REFITS][:REFITS], wanted)
            for program, timing in timings.items():
                n = REFITS if program.endswith(REFIT) else problem.n
                yield row(f"leave-one-out {name}", "rows", problem, program, timing, scored=n)


def _refits(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Labels of a few rows, each by a model of all others."""
    from sklearn.base import clone

    out = []
    for i in range(0, len(X), len(X) // REFITS)[:REFITS]:
        others = np.r_[:i, i + 1 : len(X)]
        out.append(clone(model).fit(X[others], y[others]).predict(X[i : i + 1])[0])
    return np.array(out)
