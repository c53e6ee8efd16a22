"""The comparison of certified labels with float64's, on few rows."""

from __future__ import annotations

import certified_cases as cases
import numpy as np

from bench import certified


def test_rows_are_compared_and_counted():
    """Of ties of equal classes, float32 leaves every one open."""
    for kind, share in (("plain", 0.0), ("equal", 1.0)):
        model = cases.terms(kind, 4, 6)
        n, differ, words, singles = certified.compare(model, 512, np.float64, "C", seed=1)
        assert n >= 512
        assert differ == 0
        assert words == 0
        assert singles >= share * n
        assert singles < n or share == 1.0


def test_a_label_that_differs_is_counted(monkeypatch):
    model = cases.terms("plain", 4, 6)
    score, calls = certified.score, []

    def wrong_every_other_time(*arguments):
        calls.append(None)
        codes = score(*arguments).codes
        return score(*arguments)._replace(codes=codes + len(calls) % 2)

    monkeypatch.setattr(certified, "score", wrong_every_other_time)
    n, differ, _, _ = certified.compare(model, 256, np.float64, "C", seed=1)
    assert n == differ
