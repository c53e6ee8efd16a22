"""The model of an estimator, kept for as long as the fitted attributes are those of the model.

Whether they are is checked without deriving anything: a replaced array is another object, and
writable arrays are compared with a copy. No pickle holds a `Held`, so that it cannot disagree with
the attributes in the pickle.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from operator import is_
from typing import Any

import numpy as np

from ..model.model import Model

__all__ = ["Held"]


class Held:
    """A model, and the attributes of an estimator that were set from it."""

    def __init__(self, model: Model, state: Mapping[str, Any]) -> None:
        self.model = model
        self._names = model.member.likelihood.decisive
        self._parts = _parts(state, self._names)
        kept = _parts({"stats_": model.stats, **model.attributes}, self._names)
        self._writable = [
            (given, own)
            for given, own in zip(self._parts, kept, strict=True)
            if isinstance(given, np.ndarray) and given.flags.writeable
        ]

    @classmethod
    def given(cls, model: Model, state: MutableMapping[str, Any]) -> Held:
        """Set the attributes of a model in the state of an estimator.

        They are read-only arrays if the member asks for that, else copies.
        """
        names = model.member.likelihood.decisive
        for name, value in model.attributes.items():
            state[name] = _copied(value) if name in names else value
        state["stats_"] = model.stats
        if model.member.likelihood.read_only:
            _freeze(state, names, model)
        return cls(model, state)

    @classmethod
    def found(cls, model: Model, state: MutableMapping[str, Any]) -> Held | None:
        """Hold a model whose attributes are set already, as in a pickle.

        Returns None if some of them are no arrays, whose changes would not be noticed.
        """
        names = model.member.likelihood.decisive
        if not all(_is_arrays(state[name]) for name in names):
            return None
        if model.member.likelihood.read_only:
            _freeze(state, names, model)
            return cls(model, state)
        own = {name: _copied(state[name]) for name in names}
        return cls(model.edited(model.stats, own), state)

    def is_of(self, state: Mapping[str, Any]) -> bool:
        """Whether the attributes of an estimator are still those of the model."""
        parts = _parts(state, self._names)
        if len(parts) != len(self._parts) or not all(map(is_, parts, self._parts)):
            return False
        for now, own in self._writable:
            if now.shape != own.shape or now.dtype != own.dtype or now.tobytes() != own.tobytes():
                return False
        return True


def _parts(state: Mapping[str, Any], names: tuple[str, ...]) -> list[Any]:
    parts = [state.get("stats_")]
    for name in names:
        value = state.get(name)
        parts.append(value)
        if type(value) is list:
            parts += value
    return parts


def _copied(value: Any) -> Any:
    """Copy an array, or each array of a list."""
    return [each.copy() for each in value] if isinstance(value, list) else value.copy()


def _is_arrays(value: Any) -> bool:
    if type(value) is list:
        return all(type(each) is np.ndarray for each in value)
    return isinstance(value, np.ndarray)


def _freeze(state: MutableMapping[str, Any], names: tuple[str, ...], model: Model) -> None:
    """Make arrays of the state read-only for good: views of read-only arrays stay so."""
    for name in names:
        value = state[name]
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
            state[name] = value.view()
