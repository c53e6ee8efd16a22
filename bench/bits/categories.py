"""Cases of MixedNB with categories of numbers, text and booleans, in arrays and frames."""

# ruff: noqa: B023  (what loops define is called before the loop goes on)
from __future__ import annotations

from typing import Any

import numpy as np

from fastgnb import MixedNB, MixedStats

from .digest import Record
from .models import fit, look, make, score
from .updates import algebra

OPTIONS: tuple[dict[str, Any], ...] = (
    {}, {"alpha": 0.0}, {"alpha": 0.3, "min_categories": 9}, {"missing": "skip"},
    {"max_categories": 2}, {"var_smoothing": 0.1},
)  # fmt: skip


def categories(record: Record) -> None:
    """Every table with every option, in one fit, in a stream, and as statistics."""
    for n, k in ((9, 2), (257, 3), (2049, 5)):
        y = np.arange(n) % k
        weight = np.random.default_rng(n).uniform(0.5, 2.0, n)
        for kind, (X, spec) in mixed_tables(n, k).items():
            for params in OPTIONS:
                name = f"categories/{n}x{k}/{kind}/{params}"
                model = MixedNB(categorical_features=spec, **params)
                model = fit(record, name, model, X, y, weight)
                score(record, name, model, X)
                if model is not None:
                    record(f"{name}/sample", lambda: model.sample(30, 0))
                    changed = model.reestimate(alpha=2.0)
                    record(f"{name}/alpha", lambda: changed.predict_proba(X))
            _pieces(record, f"categories/{n}x{k}/{kind}", X, y, spec)


def _pieces(record: Record, name: str, X: Any, y: np.ndarray, spec: Any) -> None:
    """Statistics of slices, and a stream of chunks."""
    n = len(y)

    def from_slice(start: int, stop: int) -> MixedStats:
        at = slice(start, stop)
        return MixedStats.from_rows(X[at], y[at], categorical_features=spec, missing="skip")

    if make(record, f"{name}/stats", lambda: from_slice(0, n)) is not None:
        algebra(record, f"{name}/stats", from_slice, n)
    model = MixedNB(categorical_features=spec, missing="skip")
    size = max(1, n // 5)
    for start in range(0, n, size):
        at = slice(start, start + size)
        chunk = X[at], y[at], np.unique(y)
        make(record, f"{name}/stream/{start}", lambda: model.partial_fit(*chunk))
    if hasattr(model, "stats_"):
        look(record, f"{name}/stream", model)
        score(record, f"{name}/stream", model, X)


def mixed_tables(n: int, k: int) -> dict[str, tuple[Any, Any]]:
    """Tables of continuous and categorical columns, and their `categorical_features`."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    rng = np.random.default_rng([n, k])
    codes = np.arange(n) % k
    u, v = rng.normal(size=n) + codes, rng.normal(size=n) * 50
    number = rng.integers(0, 4, n) + codes
    word = np.array(["red", "green", "blue", "grün"])[rng.integers(0, 4, n)]
    flag = rng.random(n) < 0.4
    big = (rng.integers(0, 3, n) + 2**60).astype(np.int64)
    holes = np.where(rng.random(n) < 0.2, np.nan, number)
    words = np.where(rng.random(n) < 0.2, None, word.astype(object))
    columns = {"u": u, "word": word, "v": v, "flag": flag, "number": number}
    frame = pd.DataFrame(columns)
    return {
        "array": (np.column_stack([u, number, v]), [1]),
        "array mask": (np.column_stack([number, u, holes]), [True, False, True]),
        "only": (np.column_stack([number, flag]).astype("i8"), [0, 1]),
        "single": (np.column_stack([u, number]).astype("f4"), [1]),
        "fortran": (np.asfortranarray(np.column_stack([u, v, number, holes])), [2, 3]),
        "objects": (np.column_stack([u.astype(object), words, number.astype(object)]), [1, 2]),
        "big": (np.column_stack([big, number]), [0]),
        "pandas": (frame, ["word", "flag", "number"]),
        "pandas auto": (frame.assign(words=words), "auto"),
        "pandas kind": (frame.assign(word=frame["word"].astype("category")), "auto"),
        "polars": (pl.DataFrame(columns), ["word", "flag"]),
        "arrow": (pa.table(columns), ["word", "number"]),
        "arrow auto": (pa.table({**columns, "words": words}), "auto"),
    }


GROUPS = (categories,)
