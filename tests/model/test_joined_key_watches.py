"""Columns that number the rows, looked at file by file: joined, it is what one look gives."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fastgnb.model.findings import KeyWatch

N = 400
ORDER = np.random.default_rng(0).permutation(N).astype(float)
LARGE = 2.0**53  # from here on float64 does not hold every whole number
COLUMNS = {
    "increasing": np.arange(N) * 60.0,
    "decreasing": -np.arange(N) - 7.0,
    "distinct": ORDER * 3,
    "once again": np.where(np.arange(N) == N - 1, ORDER[0], ORDER),
    "a step back": np.where(np.arange(N) == 200, 100.5 * 2, np.arange(N) * 1.0),
    "few values": np.arange(N) % 7 * 1.0,
    "fractions": np.arange(N) + 0.5,
    "late fraction": np.where(np.arange(N) == 399, 0.5, np.arange(N)),
    "missing": np.where(np.arange(N) % 3 == 0, np.nan, np.arange(N)),
    "missing at first": np.where(np.arange(N) < 150, np.nan, ORDER),
    "nothing": np.full(N, np.nan),
    "constant": np.full(N, 3.0),
    "large and rounded": LARGE + np.arange(N) // 2 * 2,
    "large and falling": LARGE - np.arange(N) + N,
}
X = np.column_stack(list(COLUMNS.values()))


def watch_of(rows, pieces=1):
    watch = KeyWatch()
    for part in np.array_split(rows, pieces):
        watch.update(part)
    return watch


def again(watch):
    """As it is after it was stored."""
    return KeyWatch.from_json(json.loads(json.dumps(watch.to_json(), allow_nan=False)))


CUTS = [[], [0], [N], [1], [200], [130, 260], [0, 0, 65, 66, 399], [*range(40, N, 40)]]


@pytest.mark.parametrize("cuts", CUTS, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_joined_watches_find_what_one_finds(cuts, dtype):
    rows = X.astype(dtype)
    expected = watch_of(rows, 3).found()
    joined, stored = KeyWatch(), KeyWatch()
    for part in np.split(rows, cuts):
        watch = watch_of(part, 2) if len(part) else KeyWatch()
        stored.extend(again(watch))
        joined.extend(watch)
        stored = again(stored)
    assert joined.found() == stored.found() == expected
    if dtype == np.float64:
        names = list(COLUMNS)
        assert {names[each.feature]: each.how for each in expected} == {
            "increasing": "increasing", "decreasing": "decreasing", "distinct": "distinct",
            "missing": "increasing", "missing at first": "distinct",
            "large and rounded": "increasing", "large and falling": "decreasing",
        }  # fmt: skip


def test_a_value_of_two_files_is_no_key():
    first, second = (watch_of(column[:, None]) for column in (ORDER[:200], ORDER[100:]))
    assert [each.how for each in first.found()] == ["distinct"]
    assert [each.how for each in second.found()] == ["distinct"]
    first.extend(second)
    assert first.found() == []


def test_many_rows_are_sampled_in_bounded_memory():
    n = 200_000
    order = np.random.default_rng(1).permutation(n).astype(float)
    joined = KeyWatch()
    for part in np.array_split(np.column_stack([order, order // 2]), 7):
        joined.extend(again(watch_of(part, 2)))
    assert [(each.feature, each.how) for each in joined.found()] == [(0, "distinct")]
    assert len(json.dumps(joined.to_json())) < 200_000


@pytest.mark.parametrize("value", [[], {"0": 1}, {"x": {}}, {"0": {"n": 1}}, 3])
def test_other_values_are_refused(value):
    with pytest.raises((AttributeError, KeyError, TypeError, ValueError)):
        KeyWatch.from_json(value)
