"""Model files: safetensors with a schema number, JSON metadata and the statistics.

Loading executes nothing, takes memory in proportion to the file, and believes nothing: types,
shapes, ranges and the order of classes are checked. A digest over all that is read makes an
altered file an error. It is no signature: who forges a file can forge its digest, and parameters
that differ from the statistics' own are legal, since edited models are.

What a file holds stands in `schemas`, its bytes in `container`, and its text in `document`. Beside
the model it may name the files that were learned by commands, see `learned`: earlier versions of
this package pass over them. They are lost where a model is loaded into an estimator.

Pickle and joblib files of models work too, but loading one runs whatever code its writer chose:
exchange model files, not pickles.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._system.atomic import atomic_write
from ...input.type_names import model_remedy, type_name
from ...model.family import MEMBERS
from ...model.model import Model
from . import learned as _learned
from .container import Content, ModelFileError, pack, unpack
from .document import current_versions, document_of, restore_columns, restore_model
from .edits import storable
from .learned import LearnedFile
from .tensors import tensors_of

if TYPE_CHECKING:
    from ...estimators.base import GaussianClassifier

__all__ = [
    "ModelFile", "invalid_is_refused", "load", "model_file_of", "packed", "read", "save",
    "skops_types", "to_estimator", "to_model",
]  # fmt: skip

_LONGEST_REASON = 240


@dataclass(frozen=True, eq=False)
class ModelFile:
    """A model, and what else its file says.

    Parameters
    ----------
    model : Model
    target, weight : str, default=None
        The columns of labels and weights in the files that it learned from.
    learned : tuple of LearnedFile, default=()
        Fingerprints of these files.
    versions : dict of str to str
        What wrote the file.
    """

    model: Model
    target: str | None = None
    weight: str | None = None
    learned: tuple[LearnedFile, ...] = ()
    versions: Mapping[str, str] = field(default_factory=current_versions)

    def document(self) -> dict[str, Any]:
        """What JSON holds of it."""
        return document_of(self.model, self.target, self.weight, self.versions)

    def to_bytes(self) -> bytes:
        """The content of its file. Raises ValueError for what makes no model."""
        tensors, document = tensors_of(self.model), self.document()
        return packed(document, tensors, restore_model, self.learned)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file; it appears whole or not at all. Raises as `to_bytes`, and OSError."""
        data = self.to_bytes()
        with atomic_write(path, final=True) as temporary:
            temporary.write_bytes(data)


def packed(
    document: dict[str, Any],
    tensors: Mapping[str, NDArray[np.float64]],
    restore: Callable[[dict[str, Any], Mapping[str, NDArray[Any]]], Any],
    learned: Sequence[LearnedFile] = (),
) -> bytes:
    """The content of a file. Raises ValueError for what `restore` could not read again."""
    text = json.dumps(document, sort_keys=True)
    again = json.loads(text)
    restore(again, tensors)
    if again != document:
        raise ValueError(
            "A label or name holds two surrogates that JSON reads as one character. Write that "
            "character itself."
        )
    return pack(text, tensors, json.dumps(learned) if learned else None)


def read(path: str | os.PathLike[str]) -> ModelFile:
    """Read a model file. Raises ModelFileError, and OSError where it cannot be read at all."""
    content = unpack(path)
    with invalid_is_refused(f"{os.fspath(path)}: "):
        return model_file_of(content)


def model_file_of(content: Content) -> ModelFile:
    """The model of what a container holds. Raises ValueError and others for what is none."""
    document, tensors, learned = content
    model = restore_model(document, tensors)
    files = () if learned is None else _learned.restore(learned)
    columns = restore_columns(document)
    return ModelFile(model, **columns, learned=files, versions=document["versions"])


@contextlib.contextmanager
def invalid_is_refused(prefix: str, what: str = "model") -> Iterator[None]:
    """Within it, errors that tell of invalid content are ModelFileErrors."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        reason = str(error)
        if len(reason) > _LONGEST_REASON:  # of values that a file may hold at any length
            reason = f"{reason[: _LONGEST_REASON - 4]} ..."
        raise ModelFileError(f"{prefix}the {what} in it is not valid: {reason}") from error


def save(model: GaussianClassifier, path: str | os.PathLike[str]) -> None:
    """Save a fitted estimator to a model file. The file appears whole or not at all.

    Loading it executes nothing, whereas a pickle or joblib file runs code of its writer.

    Parameters
    ----------
    model : GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
        A fitted estimator.
    path : str or os.PathLike
        Where the file goes; an existing one is replaced. It may have a scheme, such as
        s3://bucket/key.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If it is of another kind.
    ValueError
        If a model file cannot hold it, such as edited fitted attributes of members other than
        `GaussianNB`.
    OSError
        If the file cannot be written.

    See Also
    --------
    load : Load a model file.
    to_bytes : The same content as bytes.

    Notes
    -----
    Equal statistics and options give equal bytes, with the same versions of Python, NumPy and
    fastgnb, which the file names.

    Examples
    --------
    >>> from fastgnb import GaussianNB, load, save
    >>> save(GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b"]), "model.fgnb")
    >>> load("model.fgnb").predict([[1.5], [5.5]]).tolist()
    ['a', 'b']
    """
    ModelFile(storable(to_model(model))).write(path)


def to_model(model: Any) -> Model:
    """The model of a fitted estimator. Raises TypeError for what is none of this package's."""
    from ...estimators.base import GaussianClassifier

    if not isinstance(model, GaussianClassifier):
        raise TypeError(
            f"Expected a model of fastgnb's, got {type_name(model)}.{model_remedy(model)}"
        )
    return model.to_model()


def load(path: str | os.PathLike[str]) -> Any:
    """Load a fitted estimator from a model file. Nothing in the file is executed.

    The estimator predicts as the saved one did, learns on, and merges. Files of strangers are safe
    to load, as pickle or joblib files are not.

    Parameters
    ----------
    path : str or os.PathLike
        A model file, written by `save` or by the command, in this version or an earlier one. It
        may have a scheme, such as s3://bucket/key.

    Returns
    -------
    GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
        The estimator that was saved.

    Raises
    ------
    ModelFileError
        If the file is truncated, altered, of a later version, or no model file.
    OSError
        If the file cannot be read.

    See Also
    --------
    save : Save a model file.
    from_bytes : Load a model, or statistics, from bytes.

    Examples
    --------
    >>> from fastgnb import GaussianNB, load, save
    >>> save(GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], [0, 0, 1, 1]), "model.fgnb")
    >>> load("model.fgnb").partial_fit([[7.0]], [1]).class_count_
    array([2., 3.])
    """
    return to_estimator(read(path).model)


def to_estimator(model: Model) -> Any:
    """The fitted estimator of a model."""
    from ...estimators.member_classes import estimator_of

    return estimator_of(model.member).from_model(model)


def skops_types() -> list[str]:
    """Return the types to trust in a skops file of any estimator of this package.

    ``skops.io.load(path, trusted=fastgnb.skops_types())`` loads a model that skops wrote. Loading
    these types runs no code that a file brings. What the file says of a model is checked when it
    scores. Types of scikit-learn and NumPy are trusted by skops itself.

    Returns
    -------
    list of str
        Dotted names of types.

    See Also
    --------
    load : Load a model file, which needs no list of types.

    Examples
    --------
    >>> import fastgnb
    >>> sorted(name.split(".")[-1] for name in fastgnb.skops_types())
    ['ClassStats', 'GaussianBayes', 'GaussianNB', 'MixedNB', 'MixedStats', 'PCAGaussianNB']
    """
    from ...estimators.member_classes import estimator_of

    types = {estimator_of(member) for member in MEMBERS.values()}
    types |= {member.likelihood.stats_class for member in MEMBERS.values()}
    return sorted(f"{each.__module__}.{each.__qualname__}" for each in types)
