"""Sets of files, some of them without rows, and the statistics that they must give, to the bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
from members import CATEGORICAL
from table_files import write

from fastgnb import ClassStats, MixedStats

BATCH_ROWS = 16
"""Few, so that small files have several batches."""


def frames(n, *, missing=False, seed=0):
    """Rows of n files: every third of several is empty, and classes and categories come late."""
    rng = np.random.default_rng(seed)
    out = []
    for i in range(n):
        m = 0 if n > 1 and i % 3 == 1 else 30 + i
        y = np.array(["a", "b", "c"], object)[rng.integers(0, 2 + (i % 2 == 0), m)]
        codes = np.searchsorted(["a", "b", "c"], y.astype(str))
        x = rng.normal(codes[:, None], 1.0, (m, 2))
        if missing:
            x[rng.random((m, 2)) < 0.1] = np.nan
        x2 = rng.integers(0, 3 + i % 5, m)
        out.append(pd.DataFrame({"x0": x[:, 0], "x1": 1e3 + x[:, 1], "x2": x2, "y": y}))
    return out


def write_frames(tables, folder, ending="parquet"):
    """Write each table to a file of its own, and return the paths in their order."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"part-{i:02}.{ending}" for i in range(len(tables))]
    return [
        write(pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(), path)
        for table, path in zip(tables, paths, strict=True)
    ]


def naive_tree(parts):
    """The sum of parts level by level, None being a part without rows."""
    level = list(parts)
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [_sum(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0] if level else None


def _sum(a, b):
    return (b if a is None else a) if a is None or b is None else a + b


def expected_stats(tables, case, batch_rows=BATCH_ROWS):
    """What all the tables must give: batches of each added by the tree, then the tables."""
    return naive_tree([naive_tree(_batches(table, case, batch_rows)) for table in tables])


def _batches(table, case, rows):
    for start in range(0, len(table), rows):
        part = table.iloc[start : start + rows]
        X, y = part[["x0", "x1", "x2"]], part["y"].to_numpy()
        missing = case.options.get("missing", "error")
        if case.member == "MixedNB":
            marked = ["x2"] if case.has_categories else []
            yield MixedStats.from_rows(X, y, categorical_features=marked, missing=missing)
        else:
            scatter = "full" if case.make()._member.needs_full_scatter else "diag"
            yield ClassStats.from_rows(X, y, missing=missing, scatter=scatter)


def estimator(case, **more):
    """The estimator of a case, for files, whose columns have names."""
    named = {"categorical_features": [f"x{CATEGORICAL}"]} if case.has_categories else {}
    return case.make(**named, **more)
