"""Fixtures that several test files of input/ share."""

from __future__ import annotations

import numpy as np
import pytest
from bad_input import LARGE


@pytest.fixture(scope="module")
def crowd():
    draw = np.random.default_rng(5)
    return {n: (draw.normal(size=(n, 5)), np.arange(n) % 3) for n in (1, 2, 7, 400, LARGE)}
