"""`ConfusionMatrixDisplay`: true labels against predicted ones."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import ConfusionMatrixDisplay as _Filled

from ..evaluation.evaluation import Evaluation
from ..evaluation.rates import ratio
from .arguments import top
from .display import pandas, set_title
from .evaluated import EvaluationDisplay
from .names import TOP, class_texts, is_crowded, selection_note
from .palette import SEQUENTIAL

__all__ = ["ConfusionMatrixDisplay"]

CROWDED = 8
"""Most labels whose numbers are of the usual size."""

_SHARES = {None: "rows", "true": "shares of true labels", "pred": "shares of predicted labels",
           "all": "shares of all rows"}  # fmt: skip


class ConfusionMatrixDisplay(EvaluationDisplay, _Filled):  # type: ignore[misc]
    """Confusion matrix: true labels down, predicted labels across.

    It is scikit-learn's display, filled from an evaluation, and readable with many classes.

    Parameters
    ----------
    confusion_matrix : ndarray of shape (n_labels, n_labels)
        Rows, or shares of them.
    display_labels : list, default=None
        The labels. None: 0, 1 and so on.
    normalize : {"true", "pred", "all"} or None, default=None
        What the numbers are shares of. None: numbers of rows.
    note : str, default=""
        What is left out of the picture.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the matrix was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    im_ : matplotlib AxesImage
        The colors.
    text_ : ndarray of shape (n_labels, n_labels) or None
        The numbers.

    See Also
    --------
    fastgnb.files.Evaluation : Holds the whole matrix, as ``confusion``.

    Notes
    -----
    Of more than 30 labels those of most rows are drawn, and the title says so.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import GaussianNB
    >>> from fastgnb.plot import ConfusionMatrixDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianNB().fit(X, y)
    >>> shown = ConfusionMatrixDisplay.from_estimator(model, X, y, normalize=None)
    >>> shown.confusion_matrix.tolist()
    [[50, 0, 0], [0, 47, 3], [0, 3, 47]]
    """

    def __init__(
        self,
        confusion_matrix: NDArray[Any],
        *,
        display_labels: Any = None,
        normalize: str | None = None,
        note: str = "",
    ) -> None:
        self.confusion_matrix, self.display_labels = confusion_matrix, display_labels
        self.normalize, self.note = normalize, note

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        normalize: str | None = "true",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the confusion matrix of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
            What ``fastgnb.evaluate`` or ``fastgnb.files.evaluate`` returned.
        normalize : {"true", "pred", "all"} or None, default="true"
            Shares of each true label, of each predicted label, of all rows, or numbers of rows.
        ax : matplotlib Axes, default=None
            Where to draw. None: on a new figure.
        **options : dict
            Further arguments of `plot`.

        Returns
        -------
        Self
            The display, drawn.

        Raises
        ------
        ValueError
            For another `normalize`, and if the model has so many classes that none were counted.
        """
        if normalize not in _SHARES:
            raise ValueError(f"normalize must be one of {list(_SHARES)}, got {normalize!r}.")
        if evaluation.confusion is None:
            raise ValueError(f"No matrix was counted for {len(evaluation.labels)} labels.")
        used = np.sort(top(evaluation.support, TOP))
        numbers = _normalized(evaluation, normalize)[np.ix_(used, used)]
        note = selection_note(len(used), len(evaluation.labels), "labels", which="largest ")
        labels = evaluation.labels[used]
        shown = cls(numbers, display_labels=labels, normalize=normalize, note=note)
        return shown.plot(ax=ax, **options)

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: on a new figure, whose size grows with the labels.
        **options : dict
            Further arguments of ``sklearn.metrics.ConfusionMatrixDisplay.plot``.

        Returns
        -------
        Self
            The display.
        """
        n = len(self.confusion_matrix)
        ax = self._start(ax, size=self._size())
        labels = self.display_labels
        texts = class_texts(np.arange(n) if labels is None else labels)
        settings = {
            "cmap": SEQUENTIAL, "colorbar": False, "values_format": self._format(),
            "xticks_rotation": "vertical" if n > CROWDED or is_crowded(texts) else "horizontal",
            "text_kw": {"fontsize": "x-small" if n > CROWDED else "medium"},
        } | options  # fmt: skip
        self.display_labels = texts
        try:
            _Filled.plot(self, ax=ax, **settings)
        finally:
            self.display_labels = labels  # as they were given, for the table
        if self.text_ is not None:
            for text in self.text_[self.confusion_matrix == 0]:
                text.set_text("0")
        ax.grid(visible=False, which="both")
        ax.set(xlabel="predicted label", ylabel="true label")
        set_title(ax, f"Confusion matrix, {_SHARES[self.normalize]}", self.note)
        return self

    def _format(self) -> str:
        if self.confusion_matrix.dtype.kind in "iu":
            return "d"
        return ".4g" if self.normalize is None else ".2f"

    def _size(self) -> tuple[float, float]:
        """Inches of a new figure, in which the longest number fits into its cell."""
        n, form = len(self.confusion_matrix), self._format()
        widest = max(len(format(value, form)) for value in self.confusion_matrix.ravel().tolist())
        cell = max(0.42, 0.1 + 0.075 * widest)
        return max(6.4, 2.4 + cell * n), max(4.8, 1.6 + cell * n)

    def frame(self) -> Any:
        """Return the matrix as a table.

        Returns
        -------
        pandas.DataFrame
            True labels down, predicted labels across.
        """
        n, given = len(self.confusion_matrix), self.display_labels
        labels = list(range(n)) if given is None else given
        pd = pandas()
        return pd.DataFrame(
            self.confusion_matrix, pd.Index(labels, name="true"), pd.Index(labels, name="predicted")
        )


def _normalized(evaluation: Evaluation, normalize: str | None) -> NDArray[Any]:
    """Numbers of rows, or shares."""
    counts = np.asarray(evaluation.confusion)
    if normalize is None:
        return counts
    total = {"true": evaluation.support[:, None], "pred": evaluation.predicted[None, :],
             "all": evaluation.weight}[normalize]  # fmt: skip
    return np.asarray(ratio(counts, total))
