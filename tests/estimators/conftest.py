"""Fixtures that several test files of estimators/ share."""

from __future__ import annotations

import pytest
from mixed_cases import CATEGORICAL, mixed_data

from fastgnb import MixedNB


@pytest.fixture(scope="module")
def data():
    return mixed_data()


@pytest.fixture(scope="module")
def model(data):
    return MixedNB(categorical_features=CATEGORICAL).fit(*data)
