"""A model as the terms of its scores: what SQL and ONNX write down, whatever the member is.

The score of class c is const_c less the squares of continuous features, plus the logarithms of the
probabilities of categories. It is the joint log likelihood; the class with the highest one wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimate.parameters import MixedParams, WhitenedParams, check_possible
from ..input.label_types import kind_of
from ..kernels.score.diagonal import DiagonalTerms
from ..kernels.score.whitened import WhitenedTerms
from ..model.model import Model
from ..model.scoring import diagonal_terms, whitened_terms

__all__ = ["CategoryTerms", "Terms", "terms_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CategoryTerms:
    """One categorical feature, with m known categories.

    feature : its position among all features.
    categories : (m,), sorted: int64, uint64, bool or text.
    table : (k, m + 1), log probabilities; the last column is for any other category.
    limit : (k, m + 1), the same, where -inf is replaced by what stays finite of it as smoothing
        tends to 0.
    """

    feature: int
    categories: NDArray[Any]
    table: Floats
    limit: Floats

    @property
    def is_text(self) -> bool:
        """Whether its categories are text."""
        return kind_of(self.categories) == "text"


@dataclass(frozen=True, eq=False)
class Terms:
    """The scores of k classes.

    classes : (k,), labels.
    names : d names of features, those of the model, or x0, x1, and so on.
    const : (k,), -inf for a class that never wins.
    continuous : (c,), positions of continuous features.
    gaussian : their terms, along the features or along axes.
    categorical : terms of the other features.
    skip : whether the term of a missing value is left out; otherwise it is an error.
    """

    classes: NDArray[Any]
    names: tuple[str, ...]
    const: Floats
    continuous: NDArray[np.intp]
    gaussian: DiagonalTerms | WhitenedTerms
    categorical: tuple[CategoryTerms, ...]
    skip: bool

    @property
    def possible(self) -> NDArray[np.intp]:
        """Positions of the classes that can win: there is one."""
        return np.flatnonzero(self.const > -np.inf)

    @property
    def has_zeros(self) -> bool:
        """Whether a class that can win gives some category the probability 0."""
        return any((each.table[self.possible] == -np.inf).any() for each in self.categorical)


def terms_of(model: Model) -> Terms:
    """Return the terms of a model.

    Raises ValueError for attributes that make no density, and where no class can win.
    """
    skip, params = model.missing == "skip", model.params
    categorical: tuple[CategoryTerms, ...] = ()
    if isinstance(params, MixedParams):
        categorical = _categorical(model, params)
        params = params.gaussian
    check_possible(params.log_prior > -np.inf)
    gaussian: DiagonalTerms | WhitenedTerms
    if isinstance(params, WhitenedParams):
        gaussian = whitened_terms(params)
    else:
        gaussian = diagonal_terms(params, skip=skip)
    names = model.feature_names or tuple(f"x{j}" for j in range(model.n_features))
    continuous = np.flatnonzero(model.is_continuous)
    return Terms(model.classes, names, gaussian.const, continuous, gaussian, categorical, skip)


def _categorical(model: Model, params: MixedParams) -> tuple[CategoryTerms, ...]:
    """The table of each categorical feature, without the place of a missing value."""
    out, start = [], 0
    features = np.flatnonzero(~model.is_continuous)
    for j, given in zip(features.tolist(), model.attributes["categories_"], strict=True):
        categories = np.asarray(given)
        at = slice(start, start + len(categories) + 1)
        out.append(CategoryTerms(j, categories, params.table[:, at], params.limit[:, at]))
        start = at.stop + 1
    return tuple(out)
