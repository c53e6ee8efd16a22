"""Members whose parameters for scoring take time to compute: made once, of read-only arrays.

An attribute that was replaced is not what the parameters were made of, and then they are made anew
at each call. No pickle holds them, so that they cannot disagree with the attributes in it.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..estimate.diagonal import WhitenedParams
from .base import GaussianClassifier

__all__ = ["PreparedClassifier"]


class _Prepared:
    """Parameters for scoring, None before they are needed, and the attributes that they are of."""

    def __init__(self, params: WhitenedParams | None, *of: Any) -> None:
        self.params, self.of = params, of

    def is_of(self, *attributes: Any) -> bool:
        """Whether these are the very objects."""
        return all(a is b for a, b in zip(self.of, attributes, strict=True))


class PreparedClassifier(GaussianClassifier):
    """A member that names the attributes that decide, and defines `_prepare`, which takes them to
    parameters and raises ValueError for edited ones that make no model."""

    _decisive: ClassVar[tuple[str, ...]]

    def _prepare(self, k: int, d: int) -> WhitenedParams:
        raise NotImplementedError

    def _freeze(self, params: WhitenedParams | None) -> None:
        """Make read-only what parameters are computed of, and keep these, or None for later."""
        for name in self._decisive:
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
                setattr(self, name, value.view())  # a view of such an array stays read-only
        self._prepared = _Prepared(params, *self._attributes())

    def _attributes(self) -> tuple[Any, ...]:
        return (self.stats_, *[getattr(self, name) for name in self._decisive])

    def _params(self, n_features: int) -> WhitenedParams:
        k, kept = len(self._labels()), self.__dict__.get("_prepared")
        if not (isinstance(kept, _Prepared) and kept.is_of(*self._attributes())):
            return self._prepare(k, n_features)
        if kept.params is None:
            kept.params = self._prepare(k, n_features)
        return kept.params

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_prepared", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        kept = {name: value for name, value in state.items() if name != "_rotated"}  # by 0.1.0
        super().__setstate__(kept)
        if all(hasattr(self, name) for name in ("stats_", *self._decisive)):
            self._freeze(None)
