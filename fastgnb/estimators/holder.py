"""How an estimator holds its `Model`: fitted attributes to a model, and back."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.validation import check_is_fitted

from ..input.label_types import same_labels
from ..model.family import Member
from ..model.model import Model, plain_options
from ..stats.feature_order import rename_features
from .checks import CheckedRows
from .held import LEARNED, Fitted, Held
from .member_classes import constraints_of, register_estimator


class ModelHolder(CheckedRows):
    """Base of estimators: parameters and fitted attributes from and to a `Model`."""

    _member: ClassVar[Member]

    classes_: NDArray[Any]
    class_count_: NDArray[np.float64]
    stats_: Any

    def __init_subclass__(cls, *, member: str | None = None, **keywords: Any) -> None:
        if member is not None:
            cls._member = register_estimator(member, cls)
            cls._parameter_constraints = constraints_of(cls._member)
            for name in (*LEARNED, *cls._member.estimated):
                setattr(cls, name, Fitted(name))
        super().__init_subclass__(**keywords)

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Return an estimator with the options and fitted attributes of a model.

        Parameters
        ----------
        model : Model
            A model of the same member of the family. See ``fastgnb.model.model``.

        Returns
        -------
        Self
            The fitted estimator.

        Raises
        ------
        TypeError
            If the model is of another member.
        """
        if model.member.name != cls._member.name:
            raise TypeError(f"Expected a model of {cls._member.name}, got {model.member.name}.")
        new = cls(**model.options)
        new._adopt(model)
        new._keep_names(model.stats)
        return new

    def to_model(self) -> Model:
        """Return a model with the parameters and fitted attributes as they are, edited or not.

        Returns
        -------
        Model
            The model. See ``fastgnb.model.model``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If parameters are invalid, or if ``classes_`` or ``n_features_in_`` were edited.
        """
        now = self._fitted()
        if not same_labels(np.asarray(now.classes_), now.stats_.classes):
            raise ValueError(
                "classes_ was edited, and a model file holds those of stats_, which are sorted. "
                "Set classes_ back, save, and edit it again after loading."
            )
        now._check_n_features()
        names = getattr(now, "feature_names_in_", None)
        stats = rename_features(now.stats_, None if names is None else tuple(names))
        options = plain_options(self._member, now._options())
        names = (*self._member.likelihood.decisive, "epsilon_")
        attributes = {name: getattr(now, name) for name in names}
        return Model(self._member, options, stats, attributes, is_edited=True)

    def _stats_class(self) -> type[Any]:
        return self._member.likelihood.stats_class

    def _options(self) -> dict[str, Any]:
        """The parameters of the constructor."""
        return {option.name: getattr(self, option.name) for option in self._member.options}

    def learned_options(self) -> dict[str, Any]:
        """Return the parameters that decide which statistics are learned.

        Returns
        -------
        dict of str to object
            Constructor parameters by name, such as ``missing`` and ``categorical_features``.
        """
        options = self._member.options
        return {each.name: getattr(self, each.name) for each in options if each.is_learned}

    def _checked_options(self) -> dict[str, Any]:
        """The parameters of the constructor, as Python's own types. Raises ValueError or TypeError
        where they are wrong."""
        try:
            return plain_options(self._member, self._options())
        except (ValueError, TypeError):
            try:
                self._validate_params()  # scikit-learn's error and text, where it has one
            except InvalidParameterError:
                raise
            except (TypeError, OverflowError):
                pass
            raise

    def _adopt(self, model: Model) -> None:
        """Hold a model, of which fitted attributes are made when they are read."""
        state, held = self.__dict__, Held(model)
        for name in held.assignable:
            state.pop(name, None)
        if not self._member.estimated and held.has("class_prior_"):  # which no `Fitted` reads
            state.update(held.made)
        if self._member.likelihood.suits_further_rows(model.options):
            held.note(state)
        state["_held"] = held

    def _current(self) -> Model:
        """Return the model of the attributes as they are."""
        held = self.__dict__.get("_held")
        if isinstance(held, Held) and held.is_of(self.__dict__):
            return held.model
        names = self._member.likelihood.decisive
        attributes = {name: getattr(self, name) for name in names}
        return Model(self._member, {}, self.stats_, attributes, is_edited=True)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        held = state.pop("_held", None)
        # In one order, whether attributes were read or assigned or not, and all of one moment.
        named = {}
        for name in (*LEARNED, *self._member.estimated):
            if name in state:
                named[name] = state.pop(name)
            elif type(held) is Held and held.has(name):
                named[name] = held.made[name]
        return state | named

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        names = self._member.likelihood.decisive
        if all(name in self.__dict__ for name in ("stats_", *names)):
            attributes = {name: self.__dict__[name] for name in names}
            model = Model(self._member, {}, self.stats_, attributes, is_edited=True)
            self._held = Held.found(model, self.__dict__)

    def _check_n_features(self) -> None:
        """Raise ValueError if ``n_features_in_`` is not that of the statistics."""
        d = self.stats_.n_features
        if not np.array_equal(self.n_features_in_, d):
            raise ValueError(
                f"Expected n_features_in_ of stats_, {d}, got {self.n_features_in_!r}."
            )

    def _labels(self) -> NDArray[Any]:
        """Return the classes (k,), edited or not. Raises ValueError for a wrong number."""
        stats = self.stats_
        if not isinstance(stats, self._stats_class()):
            wanted = self._stats_class().__name__
            raise TypeError(f"Expected stats_ of {wanted}, got {type(stats).__name__}.")
        classes = np.asarray(self.classes_)
        count = stats.count
        k = count.shape if type(count) is np.ndarray else np.shape(count)
        if classes.shape != k or len(k) != 1:
            raise ValueError(f"Expected classes_ of shape {k}, got {classes.shape}.")
        return classes

    def _now(self) -> Self:
        """Return a copy of the model as it is now, which no other thread changes."""
        now = object.__new__(type(self))
        now.__dict__ = self.__dict__.copy()
        return now

    def _fitted(self) -> Self:
        """As `_now`. Raises NotFittedError if it has learned nothing."""
        now = self._now()
        if not hasattr(now, "stats_"):  # quicker than scikit-learn's check, whose error it is
            check_is_fitted(self, "stats_")
        return now

    def _keep_names(self, stats: Any) -> None:
        self.n_features_in_ = stats.n_features
        if stats.feature_names is not None:
            self.feature_names_in_ = np.array(stats.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
