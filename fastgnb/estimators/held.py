"""What an estimator learned, and the fitted attributes that are made of it.

Attributes are made when one of them is read: see `Fitted`. Whether they are still those of the
model is checked without deriving anything: an assigned attribute is in the `__dict__` of the
estimator, and writable arrays are compared with a copy. No pickle holds a `Held`, so that it cannot
disagree with the attributes in the pickle.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from operator import is_
from typing import Any

import numpy as np

from ..model.estimates import Estimates
from ..model.model import IMMUTABLE, Model

__all__ = ["LEARNED", "Fitted", "Held", "unchanging"]

LEARNED = "classes_", "class_count_", "stats_"
"""Fitted attributes that are not estimated."""


class Fitted:
    """A fitted attribute that is made when it is read, by the `Held` of the estimator.

    It is not put in the `__dict__` of the estimator, where Python looks first and finds what was
    assigned.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, estimator: Any, owner: type) -> Any:
        if estimator is None:
            return self
        held = estimator.__dict__.get("_held")
        if type(held) is Held and held.has(self.name):
            return held.made[self.name]
        raise AttributeError(f"{owner.__name__!r} object has no attribute {self.name!r}")


class Held:
    """Statistics and options that an estimator learned, and what was made of them so far.

    made : fitted attributes by name.
    names, parameters : of the constructor and ``n_features_in_``, with their values when the
        options were checked, if further rows cannot make them invalid as long as they are the same
        objects; else None.
    copies : of those parameters that may change in place, by name.
    assignable : fitted attributes that learning removes from the ``__dict__``.
    """

    def __init__(self, model: Model) -> None:
        self.member, self.options = model.member, model.options
        self.names = *model.options, "n_features_in_"
        self.parameters: tuple[Any, ...] | None = None
        self.copies: dict[str, Any] = {}
        self.assignable = {*LEARNED, *self.member.estimated, *self.member.likelihood.decisive}
        self.made: dict[str, Any] = {"stats_": model.stats}
        self._model: Model | None = model
        self._running: Any = None
        self._is_given = False

    def note(self, state: Mapping[str, Any]) -> None:
        """Note the parameters of an estimator as they are."""
        values = tuple(state.get(name) for name in self.names)
        copies = {name: unchanging(state.get(name)) for name in self.names}
        if all(copies[name] is not None or state.get(name) is None for name in self.names):
            self.parameters = values
            self.copies = {
                each: copies[each] for each in copies if copies[each] is not state.get(each)
            }

    def has_same_parameters(self, state: Mapping[str, Any]) -> bool:
        """Whether the parameters of an estimator are those that were noted."""
        now = self.parameters
        if now is None or not all(map(is_, map(state.get, self.names), now)):
            return False
        if not self.copies:
            return True
        return all(unchanging(state[name]) == copy for name, copy in self.copies.items())

    def after(self, running: Any) -> Held:
        """What is held once a chunk is in the statistics."""
        new = object.__new__(Held)
        new.__dict__.update(self.__dict__, made={}, _model=None, _running=running, _is_given=False)
        return new

    @classmethod
    def found(cls, model: Model, state: MutableMapping[str, Any]) -> Held | None:
        """Hold a model whose attributes are set already, as in a pickle.

        Returns None if some of them are no arrays, whose changes would not be noticed.
        """
        names = model.member.likelihood.decisive
        if not all(_is_arrays(state[name]) for name in names):
            return None
        if model.member.likelihood.read_only:
            _freeze(state, names)
        else:
            own = {name: _copied(state[name]) for name in names}
            model = model.edited(model.stats, own)
        held = cls(model)
        held._give({name: state[name] for name in names})
        return held

    def running(self) -> Any:
        """The statistics as they take chunks; None where they do not."""
        if self._running is None:
            running = self.member.likelihood.running(self.stats)
            # Whether missing values are left out is for the options to say.
            if running is None or (running.skips and self.options.get("missing") != "skip"):
                return None
            self._running = running
        return self._running

    @property
    def stats(self) -> Any:
        """The statistics."""
        made = self.made.get("stats_")
        if made is None:
            assert self._running is not None
            made = self.made.setdefault("stats_", self._running.stats())
        return made

    @property
    def model(self) -> Model:
        """The model."""
        if self._model is None:
            attributes = Estimates(self.member.likelihood, self.stats, self.options)
            self._model = Model(self.member, self.options, self.stats, attributes)
        return self._model

    def has(self, name: str) -> bool:
        """Whether there is a fitted attribute of this name, which is made if need be."""
        made = self.made
        if name not in made:
            if name == "stats_":
                made.setdefault(name, self.stats)
            elif name == "classes_":
                made.setdefault(name, self.stats.classes.copy())
            elif name == "class_count_":
                made.setdefault(name, self.stats.count.copy())
            elif not self._is_given:
                self._give(self._copies())
        return name in made

    def is_of(self, state: Mapping[str, Any]) -> bool:
        """Whether the attributes of an estimator are still those of the model."""
        if state.get("stats_", self.stats) is not self.stats:
            return False
        names = self.member.likelihood.decisive
        if not self._is_given:
            return not any(name in state for name in names)
        for name, items in self._items:
            now = state.get(name, self.made[name])
            if now is not self.made[name] or (items and not _same_items(now, items)):
                return False
        for given, own in self._writable:
            is_same = given.shape == own.shape and given.dtype == own.dtype
            if not (is_same and given.tobytes() == own.tobytes()):
                return False
        return True

    def _copies(self) -> dict[str, Any]:
        """The attributes of the model as an estimator is given them: read-only arrays if the member
        asks for that, else copies."""
        likelihood = self.member.likelihood
        names = likelihood.decisive
        given = {
            name: _copied(value) if name in names else value
            for name, value in self.model.attributes.items()
        }
        if likelihood.read_only:
            _freeze(given, names)
        return given

    def _give(self, attributes: Mapping[str, Any]) -> None:
        """Note what an estimator is given; of two threads the first one's attributes stay."""
        for name, value in attributes.items():
            self.made.setdefault(name, value)
        names, own = self.member.likelihood.decisive, self.model.attributes
        self._items = [(name, _items_of(self.made[name])) for name in names]
        pairs = [
            pair
            for name, items in self._items
            for pair in zip(
                items or [self.made[name]], _items_of(own[name]) or [own[name]], strict=True
            )
        ]
        self._writable = [
            (value, kept)
            for value, kept in pairs
            if isinstance(value, np.ndarray) and value.flags.writeable
        ]
        self._is_given = True  # last, since it says that the rest is there


def unchanging(value: Any) -> Any:
    """What a parameter is equal to as long as it does not change in place.

    Itself where it cannot, a copy of the numbers of a list or an array, and None of anything else.
    """
    if type(value) is list and IMMUTABLE.issuperset(map(type, value)):
        return tuple(map(type, value)), tuple(value)
    if type(value) is np.ndarray and value.dtype.kind in "iuf":
        return value.dtype, value.shape, value.tobytes()
    return value if type(value) in IMMUTABLE else None


def _items_of(value: Any) -> list[Any]:
    """The arrays of a list; no other value has any."""
    return list(value) if type(value) is list else []


def _same_items(now: Any, items: list[Any]) -> bool:
    return len(now) == len(items) and all(map(is_, now, items))


def _copied(value: Any) -> Any:
    """Copy an array, or each array of a list."""
    return [each.copy() for each in value] if isinstance(value, list) else value.copy()


def _is_arrays(value: Any) -> bool:
    if type(value) is list:
        return all(type(each) is np.ndarray for each in value)
    return isinstance(value, np.ndarray)


def _freeze(state: MutableMapping[str, Any], names: tuple[str, ...]) -> None:
    """Make arrays of the state read-only for good: views of read-only arrays stay so."""
    for name in names:
        value = state[name]
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
            state[name] = value.view()
