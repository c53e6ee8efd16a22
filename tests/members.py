"""The members of the family, and choices of their options: one table for tests of all of them.

A test in tests/model/test_members.py holds it against the registry, so that a new member, or a new
option, is in all of these tests or fails that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import fastgnb
from fastgnb.model.family import MEMBERS

CATEGORICAL = 2  # the column of whole numbers in the rows of `with_categories`


class Case(NamedTuple):
    """A member, and options that differ from its defaults."""

    member: str
    options: Mapping[str, Any]

    @property
    def has_categories(self) -> bool:
        return bool(self.options.get("categorical_features"))

    def make(self, **more: Any) -> Any:
        """A new estimator; `more` are options that come before those of the case."""
        return getattr(fastgnb, self.member)(**{**self.options, **more})

    def words(self) -> list[str]:
        """The same choice on the command line, for columns x0, x1, ..."""
        words = ["--model-type", self.member]
        for name, value in self.options.items():
            words.append(MEMBERS[self.member].option(name).option_string)
            if name == "categorical_features":
                words.append(",".join(f"x{column}" for column in value))
            elif value is not True:
                words.append(str(value))
        return words


CASES = {
    "GaussianNB": Case("GaussianNB", {}),
    "GaussianNB, tied": Case("GaussianNB", {"tied": True, "ddof": 1, "var_smoothing": 1e-3}),
    "GaussianNB, spherical": Case("GaussianNB", {"covariance_type": "spherical"}),
    "GaussianNB, skip": Case("GaussianNB", {"missing": "skip"}),
    "GaussianBayes": Case("GaussianBayes", {"reg_param": 0.1}),
    "GaussianBayes, tied": Case("GaussianBayes", {"tied": True, "ddof": 1, "reg_param": 0.1}),
    "GaussianBayes, diagonal": Case("GaussianBayes", {"covariance_type": "diag"}),
    "GaussianBayes, shrunk": Case(
        "GaussianBayes",
        {"shrinkage": "oas", "shrinkage_target": "spherical", "var_smoothing": 1e-3},
    ),
    "PCAGaussianNB": Case("PCAGaussianNB", {}),
    "PCAGaussianNB, within": Case("PCAGaussianNB", {"n_components": 2, "rotation": "within"}),
    "PCAGaussianNB, by class": Case("PCAGaussianNB", {"n_components": 2, "rotation": "class"}),
    "PCAGaussianNB, standardized": Case(
        "PCAGaussianNB",
        {"standardize": True, "covariance_type": "spherical", "tied": True, "ddof": 1,
         "var_smoothing": 1e-3},
    ),
    "MixedNB": Case("MixedNB", {"categorical_features": [CATEGORICAL]}),
    "MixedNB, bounded": Case(
        "MixedNB",
        {"categorical_features": [CATEGORICAL], "alpha": 0.5, "min_categories": 9,
         "max_categories": 99, "var_smoothing": 1e-3, "missing": "skip"},
    ),
    "MixedNB, no categories": Case("MixedNB", {}),
}  # fmt: skip

# One case for each shape that fitted attributes have, for tests that take long.
SHAPES = {
    name: CASES[name]
    for name in (
        "GaussianNB", "GaussianNB, skip", "GaussianBayes", "GaussianBayes, tied", "PCAGaussianNB",
        "PCAGaussianNB, by class", "MixedNB", "MixedNB, no categories",
    )
}  # fmt: skip

# What a search varies: options of the estimator, and the grid.
GRIDS: dict[str, tuple[dict[str, Any], Any]] = {
    "GaussianNB": ({}, {"var_smoothing": [1e-9, 1e-3, 0.1], "tied": [False, True]}),
    "GaussianBayes": (
        {"reg_param": 0.01},
        [{"tied": [True], "ddof": [0, 1]}, {"shrinkage": [None, 0.5, "oas"]}],
    ),
    "PCAGaussianNB": ({}, {"n_components": [1, 3, 0.9], "rotation": ["total", "class"]}),
    "MixedNB": ({"categorical_features": [0, 2]}, {"alpha": [0.1, 1.0, 10.0]}),
}


def with_categories(X: np.ndarray) -> np.ndarray:
    """The rows with whole numbers in one column, which members without categories take as well."""
    X = X.copy()
    X[:, CATEGORICAL] = np.floor(X[:, CATEGORICAL])
    return X
